//! The estimate of a batch's memory beside what a transformers process and the built-in engine really held.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::page::{Section, mebibytes};
use super::peers;
use crate::command;
use crate::repo::{Profile, Repo};
use crate::setup;

/// Texts of a batch and tokens of each.
const CELLS: [(u64, u64); 5] = [(8, 128), (8, 512), (32, 256), (64, 256), (64, 512)];
/// The same for the built-in engine, whose batches are pieces of so many tokens as it is told.
const OWN_CELLS: [(u64, u64); 4] = [(8, 128), (32, 128), (16, 256), (32, 256)];
const THREADS: &str = "2";
/// The error that is aimed at, in per cent of what was measured above the floor.
const ERROR_MAX: f64 = 10.0;

/// What an engine held above its floor, and its estimate, in bytes.
struct Cell {
    engine: &'static str,
    shape: String,
    /// As the first batch of a process, and after others.
    measured: [f64; 2],
    low: f64,
    high: f64,
}

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    let pilote = repo.built(Profile::Release, "pilote")?;
    let model = setup::model(repo, Profile::Release)?.model;
    let mut section = Section::new(
        "Memory of a batch, estimated and measured",
        "all-MiniLM-L6-v2 on the processor, one process for each cell. Measured is the peak above what the process holds \
         with its libraries loaded and no model; what it holds depends on what was computed before, so it is measured \
         as the first batch and after others. The error is that of the estimate's middle, without the runtime, against \
         the middle of both.",
        &["engine", "texts x tokens", "first MiB", "later MiB", "estimated MiB", "error %"],
    );
    let mut cells = transformers(repo, &pilote, &model)?;
    cells.extend(built_in(repo, &pilote)?);
    let (mut worst, mut outside): (f64, usize) = (0.0, 0);
    for cell in &cells {
        let measured = f64::midpoint(cell.measured[0], cell.measured[1]);
        let estimated = f64::midpoint(cell.low, cell.high);
        let error = (estimated - measured) / measured * 100.0;
        worst = worst.max(error.abs());
        outside += cell.measured.iter().filter(|one| **one < cell.low || **one > cell.high).count();
        let [first, later] = cell.measured.map(mebibytes);
        section.row(&[
            cell.engine.to_owned(),
            cell.shape.clone(),
            first,
            later,
            format!("{} ({} to {})", mebibytes(estimated), mebibytes(cell.low), mebibytes(cell.high)),
            format!("{error:+.1}"),
        ]);
    }
    section.claim(
        format!(
            "every estimate within {ERROR_MAX:.0} % of the peak above the floor (the worst is {worst:.1} %)"
        ),
        worst <= ERROR_MAX,
    );
    section.claim(format!("every peak inside of its estimate's range ({outside} are not)"), outside == 0);
    Ok(section)
}

fn transformers(repo: &Repo, pilote: &Path, model: &Path) -> anyhow::Result<Vec<Cell>> {
    let python = peers::environment(repo, peers::MODELS)?;
    let script = repo.root().join("xtask/bench/memory_transformers.py");
    let mut cells = Vec::new();
    for (batch, tokens) in CELLS {
        let (batch, tokens) = (batch.to_string(), tokens.to_string());
        let mut measured = [0.0; 2];
        for (measured, history) in measured.iter_mut().zip(["first", "later"]) {
            let text = command::capture(
                repo.command(&python.to_string_lossy())
                    .arg(&script)
                    .arg(model)
                    .args([&batch, &tokens])
                    .args([THREADS, history]),
            )?;
            let held: Value = serde_json::from_str(text.lines().last().unwrap_or_default())?;
            let reading = |name: &str| held[name].as_f64().context("a reading is missing");
            *measured = reading("peak_bytes")? - reading("floor_bytes")?;
        }
        let words = ["--engine", "transformers", "--backend", "cpu", "--batch", &batch, "--tokens", &tokens];
        let text = command::capture(
            repo.command(&pilote.to_string_lossy())
                .args(["size", "--work", "encode", "--json"])
                .args(words)
                .arg(model),
        )?;
        let (low, high) = estimate(&serde_json::from_str(&text)?)?;
        cells.push(Cell {
            engine: "transformers",
            shape: format!("{batch} x {tokens}"),
            measured,
            low,
            high,
        });
    }
    Ok(cells)
}

/// Trials of texts of one length, sized by `pilote size --from`. The engine's batches are alike, so its first and its
/// later ones are of one trial: the peak of all.
fn built_in(repo: &Repo, pilote: &Path) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for (batch, tokens) in OWN_CELLS {
        let root = repo.cache(&format!("bench/memory/{batch}-{tokens}"));
        lay_out(repo, &root, batch, tokens)?;
        let run = |words: &[&str]| {
            let text =
                command::capture(repo.command(&pilote.to_string_lossy()).current_dir(&root).args(words))?;
            serde_json::from_str::<Value>(&text).context("pilote printed no JSON")
        };
        let models = repo.cache("models");
        run(&["run", "--json", "--cache", &models.to_string_lossy()])?;
        let sizing = run(&["size", "--from", "latest", "--json"])?;
        let lines = sizing["comparison"]["lines"].as_array().context("nothing stands beside the estimate")?;
        let bytes = |part: &Value| {
            let line = lines.iter().find(|line| line["part"] == *part).context("a part was not measured")?;
            line["measured"].as_f64().context("a peak is missing")
        };
        let measured = bytes(&Value::Null)? - bytes(&json!("runtime"))?;
        let (low, high) = estimate(&sizing)?;
        let shape = format!("{batch} x {tokens}");
        cells.push(Cell { engine: "built-in", shape, measured: [measured; 2], low, high });
    }
    Ok(cells)
}

/// A project of four batches of texts that are all cut at the same number of tokens.
fn lay_out(repo: &Repo, root: &Path, batch: u64, tokens: u64) -> anyhow::Result<()> {
    let example = repo.root().join("examples/embeddings/config/pilote.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(example)?)?;
    let items = batch * 4;
    config["pilot"] = json!({
        "inputs": {"jsonl": "data/pilote/items.jsonl", "id": "id", "text": "text"},
        "count": items,
    });
    config["limits"]["tokens"] = tokens.into();
    config["engine"]["batch_items"] = batch.into();
    config["engine"]["batch_tokens"] = (batch * tokens).into();
    config["engine"]["threads"] = THREADS.parse::<u64>()?.into();
    for key in ["destination", "needs"] {
        config.as_object_mut().context("the example is no object")?.remove(key);
    }
    ensure!(config["engine"]["kind"] == "builtin", "the example has another engine");
    std::fs::create_dir_all(root.join("config"))?;
    std::fs::create_dir_all(root.join("data/pilote"))?;
    std::fs::write(root.join("config/pilote.json"), config.to_string())?;
    let mut lines = String::new();
    for number in 0..items {
        // Different words, so that no two texts are one; more of them than the limit, so that each is cut at it.
        let words: Vec<String> = (0..tokens).map(|word| format!("word{}", number * 7 + word * 13)).collect();
        writeln!(lines, "{}", json!({"id": format!("t{number:04}"), "text": words.join(" ")}))?;
    }
    Ok(std::fs::write(root.join("data/pilote/items.jsonl"), lines)?)
}

/// The ends of what `pilote size` estimates, in bytes, without the runtime.
fn estimate(sizing: &Value) -> anyhow::Result<(f64, f64)> {
    let parts = sizing["estimate"]["shares"][0]["parts"].as_array().context("the estimate has no parts")?;
    let of_the_model = || parts.iter().filter(|part| part["part"] != "runtime");
    let sum = |end: &str| {
        of_the_model()
            .map(|part| part["amount"][end].as_f64().with_context(|| format!("{} is unknown", part["part"])))
            .sum::<anyhow::Result<f64>>()
    };
    Ok((sum("low")?, sum("high")?))
}
