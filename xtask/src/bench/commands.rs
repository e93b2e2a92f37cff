//! A program for each item: ten thousand that do nothing, beside what people start many programs with.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::measure::{self, Peer, ROUNDS, Whole, median};
use super::page::Section;
use crate::command;
use crate::repo::{Profile, Repo};

/// Programs that are started in one measurement.
const PROGRAMS: u64 = 10_000;
/// Programs at once.
const SLOTS: u64 = 2;
/// How many times as long as `xargs` it may take.
const XARGS_TIMES_MAX: f64 = 1.3;
/// How many times as long GNU parallel must take.
const PARALLEL_TIMES_MIN: f64 = 4.0;

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    ensure!(
        command::succeeds(Command::new("parallel").args(["--will-cite", "true", ":::", "1"])),
        "GNU parallel is needed and was not found (Debian: apt install parallel)"
    );
    let pilote = repo.built(Profile::Release, "pilote")?;
    let project = repo.cache("bench/commands");
    lay_out(&project)?;
    let ours = format!("{} run --json --project {}; test $? -eq 1", pilote.display(), project.display());
    let each = format!("seq 1 {PROGRAMS} | xargs -n1 -P{SLOTS} true");
    let parallel = format!("seq 1 {PROGRAMS} | parallel --will-cite -j{SLOTS} true");
    let shell = |name, line: &str| Peer::new(name, Path::new("sh"), &["-c", line]);
    let peers = [shell("pilote run", &ours), shell("xargs", &each), shell("GNU parallel", &parallel)];
    let measured = measure::rounds(repo, &peers)?;
    for whole in &measured[0] {
        let answer: Value = whole.answer()?;
        let refused = answer["balance"]["refused"].as_u64();
        ensure!(refused == Some(PROGRAMS), "a trial came to something else: {answer}");
    }
    section(&peers, &measured)
}

/// A project whose items are numbers and whose program makes no file, so that each outcome is a refusal.
fn lay_out(project: &Path) -> anyhow::Result<()> {
    if project.exists() {
        std::fs::remove_dir_all(project)?;
    }
    std::fs::create_dir_all(project.join("config"))?;
    let config = json!({
        "format": "pilote.project/1",
        "name": "a program for each item",
        "pilot": { "inputs": { "range": { "first": 1, "last": PROGRAMS } }, "count": PROGRAMS },
        "output": { "kind": "file", "extension": "txt" },
        "engine": { "kind": "command", "command": ["true", "{output}"], "slots": SLOTS },
    });
    std::fs::write(project.join("config/pilote.json"), config.to_string())?;
    Ok(())
}

fn section(peers: &[Peer], measured: &[Vec<Whole>]) -> anyhow::Result<Section> {
    let about = format!(
        "{PROGRAMS} times `true`, {SLOTS} at once. Pilote's trial is a whole one: index, guard, ledger with every outcome \
         durable (a refusal, since `true` makes no file), collection and report."
    );
    let mut section =
        Section::new("A program for each item", &about, &["program", "items/s", "wall s", "processor s"]);
    let mut walls = Vec::new();
    for (peer, wholes) in peers.iter().zip(measured) {
        let wall = median(wholes.iter().map(|whole| whole.seconds)).context("nothing was measured")?;
        let processor = median(wholes.iter().map(|whole| whole.processor_seconds)).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
        let rate = PROGRAMS as f64 / wall;
        let cells = [format!("{rate:.0}"), format!("{wall:.2}"), format!("{processor:.2}")];
        section.row(&[&[peer.name.to_owned()], &cells[..]].concat());
        walls.push(wall);
    }
    let [pilote, xargs, parallel] = walls[..] else { anyhow::bail!("{ROUNDS} rounds gave no three medians") };
    let times = pilote / xargs;
    section.claim(
        format!("at most {XARGS_TIMES_MAX:.1} times as long as xargs (it is {times:.2})"),
        times <= XARGS_TIMES_MAX,
    );
    let times = parallel / pilote;
    section.claim(
        format!("GNU parallel takes {PARALLEL_TIMES_MIN:.0} times as long or more (it is {times:.1})"),
        times >= PARALLEL_TIMES_MIN,
    );
    Ok(section)
}
