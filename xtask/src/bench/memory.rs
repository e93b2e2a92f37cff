//! The estimate of a batch's memory beside what a transformers process and the built-in engine really held.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::page::{Section, mebibytes};
use super::peers;
use crate::command;
use crate::repo::{Profile, Repo};
use crate::setup;

/// Texts of a batch and tokens of each.
const CELLS: [(u64, u64); 4] = [(8, 128), (8, 512), (32, 256), (64, 256)];
const THREADS: &str = "2";
/// The error that is aimed at, in per cent of what was measured above the floor.
const ERROR_MAX: f64 = 10.0;

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    let pilote = repo.built(Profile::Release, "pilote")?;
    let model = setup::model(repo, Profile::Release)?.model;
    let python = peers::environment(repo, peers::MODELS)?;
    let script = repo.root().join("xtask/bench/memory_transformers.py");
    let mut section = Section::new(
        "Memory of a batch, estimated and measured",
        "all-MiniLM-L6-v2 in transformers on the processor, one process for each cell. Measured is the peak above what \
         the interpreter holds with its libraries loaded; the estimate is the middle of its range, without the runtime.",
        &["texts x tokens", "measured MiB", "estimated MiB", "error %"],
    );
    let mut worst: f64 = 0.0;
    for (batch, tokens) in CELLS {
        let (batch, tokens) = (batch.to_string(), tokens.to_string());
        let text = command::capture(
            repo.command(&python.to_string_lossy())
                .arg(&script)
                .arg(&model)
                .args([&batch, &tokens])
                .arg(THREADS),
        )?;
        let held: Value = serde_json::from_str(text.lines().last().unwrap_or_default())?;
        let reading = |name: &str| held[name].as_f64().context("a reading is missing");
        let measured = reading("peak_bytes")? - reading("floor_bytes")?;
        let estimated = estimate(repo, &pilote, &model, &batch, &tokens)?;
        let error = (estimated - measured) / measured * 100.0;
        worst = worst.max(error.abs());
        section.row(&[
            format!("{batch} x {tokens}"),
            mebibytes(measured),
            mebibytes(estimated),
            format!("{error:+.1}"),
        ]);
    }
    section.claim(
        format!(
            "every estimate within {ERROR_MAX:.0} % of the peak above the floor (the worst is {worst:.1} %)"
        ),
        worst <= ERROR_MAX,
    );
    Ok(section)
}

/// What `pilote size` estimates for a batch, in bytes, without the runtime.
fn estimate(repo: &Repo, pilote: &Path, model: &Path, batch: &str, tokens: &str) -> anyhow::Result<f64> {
    let text = command::capture(
        repo.command(&pilote.to_string_lossy())
            .args(["size", "--work", "encode", "--engine", "transformers", "--backend", "cpu", "--json"])
            .args(["--batch", batch, "--tokens", tokens])
            .arg(model),
    )?;
    let sizing: Value = serde_json::from_str(&text)?;
    let parts = sizing["estimate"]["shares"][0]["parts"].as_array().context("the estimate has no parts")?;
    let middle =
        |part: &Value| Some(f64::midpoint(part["amount"]["low"].as_f64()?, part["amount"]["high"].as_f64()?));
    let of_the_model = parts.iter().filter(|part| part["part"] != "runtime");
    of_the_model.map(|part| middle(part).with_context(|| format!("{} is unknown", part["part"]))).sum()
}
