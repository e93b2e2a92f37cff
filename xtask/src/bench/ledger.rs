//! Keeping outcomes: appending beside a raw loop of the same bytes, and reading a million back.

use serde::Deserialize;

use super::measure::{self, Peer, ROUNDS, Timed};
use super::page::Section;
use crate::command;
use crate::repo::{Profile, Repo};

/// Outcomes of one measurement.
const OUTCOMES: u64 = 1_000_000;
/// Outcomes of one commit: what a model on a processor gives in a second, and what a trial commits at most.
const EACH_COMMIT: [u64; 2] = [512, 4096];
/// The share of a raw loop's rate that appending must reach.
const APPEND_SHARE_MIN: f64 = 0.70;
/// Bytes of an outcome beyond its output.
const BYTES_BEYOND_MAX: f64 = 200.0;

/// What the ledger's example prints; it interleaves its rounds by itself.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Answer {
    records: u64,
    records_each_commit: u64,
    bytes: u64,
    output_bytes: u64,
    append: Took,
    raw: Took,
    read_back: Took,
}

/// Medians of one kind of work.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Took {
    seconds: f64,
    processor_seconds: f64,
}

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    command::run(repo.cargo("build").args([
        "--release",
        "--package",
        "pilote-ledger",
        "--example",
        "append_bench",
    ]))?;
    let program = repo.built(Profile::Release, "examples/append_bench")?;
    let folder = repo.cache("bench/ledger");
    std::fs::create_dir_all(&folder)?;
    let (outcomes, rounds) = (OUTCOMES.to_string(), ROUNDS.to_string());
    let answers = EACH_COMMIT.map(|each| {
        let arguments =
            [folder.to_string_lossy().into_owned(), outcomes.clone(), rounds.clone(), each.to_string()];
        measure::whole(repo, &Peer::new("append_bench", &program, &arguments))?.answer()
    });
    let answers: Vec<Answer> = answers.into_iter().collect::<anyhow::Result<_>>()?;
    let mut section = Section::new(
        "Keeping a million outcomes",
        "A million outcomes of one part on a local disk; the ledger and the raw loop write and sync the same bytes at \
         the same places.",
        &["what", "outcomes a commit", "outcomes/s", "wall s", "processor s"],
    );
    for answer in &answers {
        add(&mut section, answer);
    }
    Ok(section)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
fn add(section: &mut Section, answer: &Answer) {
    let rate = |took: Took| {
        Timed { items: answer.records, seconds: took.seconds, processor_seconds: took.processor_seconds }
            .rate()
    };
    for (what, took) in [
        ("ledger, append and commit", answer.append),
        ("raw loop of write and fdatasync", answer.raw),
        ("ledger, read back and check", answer.read_back),
    ] {
        section.row(&[
            what.to_owned(),
            answer.records_each_commit.to_string(),
            format!("{:.0}", rate(took)),
            format!("{:.2}", took.seconds),
            format!("{:.2}", took.processor_seconds),
        ]);
    }
    let share = rate(answer.append) / rate(answer.raw);
    section.claim(
        format!(
            "appending at {APPEND_SHARE_MIN:.2} of the raw loop's rate or more, {} a commit (it is {share:.2})",
            answer.records_each_commit
        ),
        share >= APPEND_SHARE_MIN,
    );
    let beyond = answer.bytes.saturating_sub(answer.output_bytes) as f64 / answer.records as f64;
    section.claim(
        format!("under {BYTES_BEYOND_MAX:.0} bytes for an outcome beyond its output (it is {beyond:.0})"),
        beyond < BYTES_BEYOND_MAX,
    );
}
