//! What the way to an engine costs: an echo worker beside Ray Data and datatrove, and sentence-transformers as a worker
//! beside the same model called directly.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};

use super::measure::{self, Peer, ROUNDS, Timed, Whole, median};
use super::page::Section;
use super::{brown, peers};
use crate::command;
use crate::repo::{Profile, Repo};
use crate::setup;

/// Items of the echo comparison; `PILOTE_BENCH_ITEMS` takes fewer, for a try.
const ITEMS: usize = 1_000_000;
/// Bytes of one item's text.
const ITEM_BYTES: usize = 200;
/// Items of one batch of the echo comparison.
const ECHO_BATCH: usize = 256;
/// Items of one batch of the Python worker.
const EMBED_BATCH: usize = 64;
/// Processor microseconds of one item beyond the engine's own.
const ITEM_US_MAX: f64 = 5.0;
/// How much faster than each peer.
const TIMES_FASTER_MIN: f64 = 2.0;
/// Processor seconds of the Python worker beside the direct call.
const WORKER_SHARE_MAX: f64 = 1.03;

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    command::run(repo.cargo("build").args([
        "--release",
        "--package",
        "pilote-engine",
        "--example",
        "echo_worker",
    ]))?;
    let items = items();
    let folder = repo.cache("bench/engines");
    let (took, rows) = (folder.join("took"), write_rows(&folder, items)?);
    let echo = repo.built(Profile::Release, "examples/echo_worker")?;
    let engine = json!({ "kind": "worker", "command": [echo], "batch_items": ECHO_BATCH,
        "parameters": { "took": took } });
    let project = project(&folder.join("echo"), &rows, items, &json!({ "kind": "text" }), &engine)?;
    let python = peers::environment(repo, peers::PIPELINES)?;
    let (ray, datatrove) = (folder.join("ray"), folder.join("datatrove"));
    let script = |name: &str| repo.root().join("xtask/bench").join(name);
    let batch = ECHO_BATCH.to_string();
    let pilote = repo.built(Profile::Release, "pilote")?;
    let programs = [
        Peer::new("Pilote, worker process", &pilote, &run(&project)),
        Peer::new(
            "Ray Data map_batches",
            &python,
            &[script("echo_ray.py").as_path(), &rows, Path::new(&batch), &ray],
        ),
        Peer::new("datatrove", &python, &[script("echo_datatrove.py").as_path(), parent(&rows)?, &datatrove]),
    ];
    let leftovers = [project.join("runs"), ray, datatrove];
    let mut measured: [Vec<Timed>; 3] = Default::default();
    for round in 0..ROUNDS {
        for step in 0..programs.len() {
            let at = (round + step) % programs.len();
            clear(&leftovers)?;
            let whole = measure::whole(repo, &programs[at])?;
            let mut timed = if at == 0 { of_trial(&whole, items) } else { whole.answer()? };
            if at == 0 {
                // What the echo itself took is the engine's own work.
                timed.processor_seconds -= std::fs::read_to_string(&took)?.trim().parse::<f64>()?;
            }
            anyhow::ensure!(timed.items == items as u64, "{} gave {} items", programs[at].name, timed.items);
            command::say(&format!("  round {}: {} {:.2} s", round + 1, programs[at].name, timed.seconds));
            measured[at].push(timed);
        }
    }
    clear(&leftovers)?;
    echo_section(items, &programs, &measured)
}

/// How many items are measured.
#[expect(clippy::disallowed_methods, reason = "a try of the benchmark is asked for by the environment")]
fn items() -> usize {
    std::env::var("PILOTE_BENCH_ITEMS").ok().and_then(|items| items.parse().ok()).unwrap_or(ITEMS)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
fn echo_section(items: usize, programs: &[Peer], measured: &[Vec<Timed>; 3]) -> anyhow::Result<Section> {
    let about = format!(
        "{items} items of {ITEM_BYTES} bytes, each given back as it is, in batches of {ECHO_BATCH}, from a file of rows to a \
         file of rows. Pilote's figures are those of the whole command: index, a worker in a process of its own, a \
         durable ledger, results, balance and report; processor time is without the worker's own. Ray's are without its \
         start and end."
    );
    let mut section = Section::new(
        "The way to an engine and back",
        &about,
        &["program", "items/s", "wall s", "processor µs/item"],
    );
    let mut rates = Vec::new();
    let mut cost = Vec::new();
    for (peer, rounds) in programs.iter().zip(measured) {
        let rate = median(rounds.iter().map(|timed| timed.rate())).context("nothing was measured")?;
        let seconds = median(rounds.iter().map(|timed| timed.seconds)).context("nothing was measured")?;
        let processor = rounds.iter().map(|timed| timed.processor_seconds * 1e6 / items as f64);
        let us = median(processor).context("nothing was measured")?;
        section.row(&[
            peer.name.to_owned(),
            format!("{rate:.0}"),
            format!("{seconds:.2}"),
            format!("{us:.2}"),
        ]);
        rates.push(rate);
        cost.push(us);
    }
    let us = cost.first().copied().unwrap_or(f64::INFINITY);
    section.claim(
        format!("at most {ITEM_US_MAX:.0} µs of processor time for an item (it is {us:.2})"),
        us <= ITEM_US_MAX,
    );
    for (peer, rate) in programs.iter().zip(&rates).skip(1) {
        let times = rates[0] / rate;
        section.claim(
            format!("at least {TIMES_FASTER_MIN:.0} times the items/s of {} (it is {times:.2})", peer.name),
            times >= TIMES_FASTER_MIN,
        );
    }
    Ok(section)
}

/// sentence-transformers as a worker of Pilote, beside the same batches in a program of its own.
pub(super) fn python(repo: &Repo) -> anyhow::Result<Section> {
    let model = setup::model(repo, Profile::Release)?.model;
    let texts = brown::paragraphs(repo)?;
    let python = peers::environment(repo, peers::MODELS)?;
    let folder = repo.cache("bench/worker");
    std::fs::create_dir_all(folder.join("rows"))?;
    let lines = std::fs::read_to_string(&texts)?;
    let (mut rows, mut items) = (String::new(), 0);
    for line in lines.lines() {
        let text: Value = serde_json::from_str(line)?;
        writeln!(rows, "{}", json!({ "id": format!("p{items}"), "text": text["text"] }))?;
        items += 1;
    }
    let file = folder.join("rows/rows.jsonl");
    std::fs::write(&file, rows)?;
    let engine = json!({ "kind": "worker", "batch_items": EMBED_BATCH,
        "command": [python, repo.root().join("python/examples/sentences.py")],
        "environment": { "PYTHONPATH": repo.root().join("python") }, "parameters": { "model": model } });
    let project =
        project(&folder.join("project"), &file, items, &json!({ "kind": "vector", "width": 384 }), &engine)?;
    let (script, size) = (repo.root().join("xtask/bench/embed_batches.py"), EMBED_BATCH.to_string());
    let programs = [
        Peer::new("Pilote, Python worker", &repo.built(Profile::Release, "pilote")?, &run(&project)),
        Peer::new(
            "the model called directly",
            &python,
            &[script.as_path(), &model, &file, Path::new(&size), &folder.join("vectors.f32")],
        ),
    ];
    let measured = measure::rounds(repo, &programs)?;
    clear(&[project.join("runs")])?;
    let about = format!(
        "all-MiniLM-L6-v2 by sentence-transformers over {items} paragraphs of the Brown corpus, shortest first in batches of \
         {EMBED_BATCH}: as a worker of Pilote (`python/examples/sentences.py`), and called directly on the same batches. Loading \
         is in all figures; Pilote's are those of the whole command, its children included."
    );
    let mut section = Section::new("A Python worker", &about, &["program", "wall s", "processor s"]);
    let mut processor = Vec::new();
    for (peer, rounds) in programs.iter().zip(&measured) {
        let of =
            |figure: fn(&Whole) -> f64| median(rounds.iter().map(figure)).context("nothing was measured");
        let (seconds, used) = (of(|whole| whole.seconds)?, of(|whole| whole.processor_seconds)?);
        section.row(&[peer.name.to_owned(), format!("{seconds:.1}"), format!("{used:.1}")]);
        processor.push(used);
    }
    let share = processor[0] / processor[1];
    section.claim(
        format!("processor seconds at most {WORKER_SHARE_MAX:.2} of the direct call's (it is {share:.3})"),
        share <= WORKER_SHARE_MAX,
    );
    Ok(section)
}

/// What a whole trial took, as the kernel counts it.
fn of_trial(whole: &Whole, items: usize) -> Timed {
    Timed { items: items as u64, seconds: whole.seconds, processor_seconds: whole.processor_seconds }
}

fn run(project: &Path) -> [PathBuf; 4] {
    ["run".into(), "--quiet".into(), "--project".into(), project.to_path_buf()]
}

fn parent(path: &Path) -> anyhow::Result<&Path> {
    path.parent().context("a file without a folder")
}

/// The rows, in a folder of their own: texts of words that no compressor makes much of.
fn write_rows(folder: &Path, items: usize) -> anyhow::Result<PathBuf> {
    let file = folder.join(format!("rows-{items}/rows.jsonl"));
    if file.is_file() {
        return Ok(file);
    }
    std::fs::create_dir_all(parent(&file)?)?;
    let mut rows = String::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for item in 0..items {
        let mut text = format!("item {item}");
        while text.len() < ITEM_BYTES {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(text, " {:x}", state >> 33)?;
        }
        text.truncate(ITEM_BYTES);
        writeln!(rows, "{}", json!({ "id": format!("i{item}"), "text": text }))?;
    }
    std::fs::write(&file, rows)?;
    Ok(file)
}

/// A project over one file of rows.
fn project(
    root: &Path,
    rows: &Path,
    items: usize,
    output: &Value,
    engine: &Value,
) -> anyhow::Result<PathBuf> {
    clear(&[root.to_path_buf()])?;
    std::fs::create_dir_all(root.join("config"))?;
    std::fs::create_dir_all(root.join("data/pilote"))?;
    std::fs::hard_link(rows, root.join("data/pilote/rows.jsonl"))?;
    let inputs = json!({ "jsonl": "data/pilote/rows.jsonl", "id": "id", "text": "text" });
    let config = json!({ "format": "pilote.project/1", "name": "bench", "output": output, "engine": engine,
        "pilot": { "inputs": inputs, "count": items } });
    std::fs::write(root.join("config/pilote.json"), config.to_string())?;
    Ok(root.to_path_buf())
}

fn clear(folders: &[PathBuf]) -> anyhow::Result<()> {
    for folder in folders.iter().filter(|folder| folder.exists()) {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
