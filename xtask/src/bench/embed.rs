//! Embedding 2,000 paragraphs with all-MiniLM-L6-v2: the built-in engine beside sentence-transformers and ONNX
//! Runtime.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::measure::{self, Peer, Timed, Whole, median};
use super::page::{Section, mebibytes};
use super::{brown, peers};
use crate::command;
use crate::repo::{Profile, Repo};
use crate::setup;

const THREADS: &str = "2";
const WIDTH: usize = 384;
/// The rate of candle's stock BERT beside sentence-transformers, which this version accepts.
const RATE_SHARE_MIN: f64 = 0.64;

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    command::run(repo.cargo("build").args([
        "--release",
        "--package",
        "pilote-engine",
        "--example",
        "embed_bench",
    ]))?;
    let model = setup::model(repo, Profile::Release)?.model;
    let texts = brown::paragraphs(repo)?;
    let python = peers::environment(repo, peers::MODELS)?;
    let onnx = onnx(repo, &python, &model)?;
    let folder = repo.cache("bench/embed");
    std::fs::create_dir_all(&folder)?;
    let vectors = ["ours.f32", "sentence-transformers.f32", "onnxruntime.f32"].map(|name| folder.join(name));
    let script = |name: &str| repo.root().join("xtask/bench").join(name);
    let threads = Path::new(THREADS);
    let programs = [
        Peer::new(
            "Pilote, built-in engine",
            &repo.built(Profile::Release, "examples/embed_bench")?,
            &[model.as_path(), &texts, threads, &vectors[0]],
        ),
        Peer::new(
            "sentence-transformers (torch)",
            &python,
            &[script("embed_sentence_transformers.py").as_path(), &model, &texts, threads, &vectors[1]],
        ),
        Peer::new(
            "ONNX Runtime from Python",
            &python,
            &[script("embed_onnxruntime.py").as_path(), &model, &onnx, &texts, threads, &vectors[2]],
        ),
    ];
    let measured = measure::rounds(repo, &programs)?;
    let reference = read_vectors(&vectors[1])?;
    let mut section = Section::new(
        "Embedding 2,000 paragraphs of the Brown corpus",
        "all-MiniLM-L6-v2, fp32, 2 threads. Loading and warming up are left out of the times and are in the memory. \
         Cosine is the least over all paragraphs, against sentence-transformers.",
        &["engine", "texts/s", "wall s", "processor s", "peak MiB", "least cosine"],
    );
    let mut figures = Vec::new();
    for ((peer, rounds), file) in programs.iter().zip(&measured).zip(&vectors) {
        let figure = Figure::of(rounds)?;
        let cosine = least_cosine(&read_vectors(file)?, &reference)?;
        section.row(&[
            peer.name.to_owned(),
            format!("{:.1}", figure.rate),
            format!("{:.1}", figure.seconds),
            format!("{:.1}", figure.processor_seconds),
            mebibytes(figure.peak_bytes),
            format!("{cosine:.6}"),
        ]);
        figures.push((figure, cosine));
    }
    let [(ours, cosine), (theirs, _), _] = figures.as_slice() else {
        unreachable!("three peers were measured")
    };
    let share = ours.rate / theirs.rate;
    section.claim(
        format!("at least {RATE_SHARE_MIN:.2} of sentence-transformers' rate (it is {share:.2})"),
        share >= RATE_SHARE_MIN,
    );
    let memory = ours.peak_bytes / theirs.peak_bytes;
    section
        .claim(format!("at most half of sentence-transformers' memory (it is {memory:.2})"), memory <= 0.5);
    section.claim("vectors equal to a cosine of 0.9999".to_owned(), *cosine >= 0.9999);
    Ok(section)
}

/// Medians of the rounds.
struct Figure {
    rate: f64,
    seconds: f64,
    processor_seconds: f64,
    peak_bytes: f64,
}

impl Figure {
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory are far below 2^52")]
    fn of(rounds: &[Whole]) -> anyhow::Result<Self> {
        let timed = rounds.iter().map(Whole::answer).collect::<anyhow::Result<Vec<Timed>>>()?;
        let figure = || {
            Some(Self {
                rate: median(timed.iter().map(|timed| timed.rate()))?,
                seconds: median(timed.iter().map(|timed| timed.seconds))?,
                processor_seconds: median(timed.iter().map(|timed| timed.processor_seconds))?,
                peak_bytes: median(rounds.iter().map(|whole| whole.peak_bytes as f64))?,
            })
        };
        figure().context("nothing was measured")
    }
}

/// The model as an ONNX graph, exported once.
fn onnx(repo: &Repo, python: &Path, model: &Path) -> anyhow::Result<PathBuf> {
    let file = repo.cache("bench/embed/model.onnx");
    if !file.is_file() {
        std::fs::create_dir_all(repo.cache("bench/embed"))?;
        let script = repo.root().join("xtask/bench/export_onnx.py");
        let partial = repo.cache("bench/embed/model.partial.onnx");
        command::run(repo.command(&python.to_string_lossy()).arg(script).arg(model).arg(&partial))?;
        std::fs::hard_link(&partial, &file)?;
    }
    Ok(file)
}

fn read_vectors(file: &Path) -> anyhow::Result<Vec<f32>> {
    let bytes = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    ensure!(rest.is_empty(), "{} is no whole number of components", file.display());
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// The least cosine of two lists of unit vectors, pair by pair.
fn least_cosine(one: &[f32], other: &[f32]) -> anyhow::Result<f64> {
    ensure!(
        one.len() == other.len() && !one.is_empty(),
        "there are {} and {} components",
        one.len(),
        other.len()
    );
    let cosine =
        |(a, b): (&[f32], &[f32])| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    Ok(one.chunks(WIDTH).zip(other.chunks(WIDTH)).map(cosine).fold(f64::INFINITY, f64::min))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_cosine_is_that_of_the_worst_pair() {
        let unit = |at: usize| (0..WIDTH).map(|n| if n == at { 1.0 } else { 0.0 }).collect::<Vec<f32>>();
        let one = [unit(0), unit(1)].concat();
        let other = [unit(0), unit(2)].concat();
        assert!((least_cosine(&one, &one).unwrap() - 1.0).abs() < 1e-9);
        assert!(least_cosine(&one, &other).unwrap().abs() < 1e-9);
        assert!(least_cosine(&one, &unit(0)).is_err());
    }
}
