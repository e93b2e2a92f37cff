//! Keeping outcomes: appending beside a raw loop of the same bytes, and reading a million back.

use anyhow::Context;
use serde::Deserialize;

use super::measure::{self, Peer, Timed, Whole, median};
use super::page::Section;
use crate::command;
use crate::repo::{Profile, Repo};

/// Outcomes of one measurement.
const OUTCOMES: &str = "1000000";
/// The share of a raw loop's rate that appending must reach.
const APPEND_SHARE_MIN: f64 = 0.70;
/// Bytes of an outcome beyond its output.
const BYTES_BEYOND_MAX: f64 = 200.0;

/// What the ledger's example prints: the time of its one mode, and what an outcome takes on disk.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Answer {
    #[serde(flatten)]
    timed: Timed,
    /// Bytes of an outcome beyond its output.
    bytes_beyond_output: f64,
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
    let folder = folder.to_string_lossy();
    let peer = |name, mode: &str| Peer::new(name, &program, &[mode, &folder, OUTCOMES]);
    let programs = [
        peer("ledger, append and commit", "append"),
        peer("raw write and fdatasync of the same bytes", "raw"),
        peer("ledger, read back", "read"),
    ];
    let measured = measure::rounds(repo, &programs)?;
    let mut section = Section::new(
        "Keeping a million outcomes",
        "One part on a local disk; both writers sync at the same bytes. What an outcome takes is counted without its \
         output.",
        &["what", "outcomes/s", "wall s", "processor s"],
    );
    let mut rates = Vec::new();
    let mut beyond = 0.0_f64;
    for (peer, rounds) in programs.iter().zip(&measured) {
        let answers = rounds.iter().map(Whole::answer).collect::<anyhow::Result<Vec<Answer>>>()?;
        let middle =
            |value: fn(&Answer) -> f64| median(answers.iter().map(value)).context("nothing was measured");
        let rate = middle(|answer| answer.timed.rate())?;
        section.row(&[
            peer.name.to_owned(),
            format!("{rate:.0}"),
            format!("{:.2}", middle(|answer| answer.timed.seconds)?),
            format!("{:.2}", middle(|answer| answer.timed.processor_seconds)?),
        ]);
        rates.push(rate);
        beyond = beyond.max(middle(|answer| answer.bytes_beyond_output)?);
    }
    let share = rates[0] / rates[1];
    section.claim(
        format!("appending at {APPEND_SHARE_MIN:.2} of the raw loop's rate or more (it is {share:.2})"),
        share >= APPEND_SHARE_MIN,
    );
    section.claim(
        format!("under {BYTES_BEYOND_MAX:.0} bytes for an outcome beyond its output (it is {beyond:.0})"),
        beyond < BYTES_BEYOND_MAX,
    );
    Ok(section)
}
