//! How long people wait for the commands that they type most.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};

use super::measure::{ROUNDS, median};
use super::page::Section;
use crate::command;
use crate::repo::{Profile, Repo};

/// Starts of each command in each round.
const STARTS: usize = 20;

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    let pilote = repo.built(Profile::Release, "pilote")?;
    let trial = demo_trial(repo, &pilote)?;
    let project = trial.ancestors().nth(2).context("a trial lies in a project")?.to_owned();
    let climb = ["check", "--to", "preprocessing", "--project"].map(PathBuf::from);
    let starts = [
        Start { name: "pilote --help", words: vec![pilote.clone(), "--help".into()], limit_ms: Some(15.0) },
        Start {
            name: "pilote verify of the demonstration",
            words: vec![pilote.clone(), "verify".into(), trial],
            limit_ms: Some(100.0),
        },
        Start {
            name: "pilote check, every rung before the model's and the engine's",
            words: [pilote].into_iter().chain(climb).chain([project]).collect(),
            limit_ms: Some(2000.0),
        },
        Start { name: "true (what a start costs here)", words: vec!["true".into()], limit_ms: None },
    ];
    let mut times = vec![Vec::new(); starts.len()];
    for _ in 0..ROUNDS {
        for (times, start) in times.iter_mut().zip(&starts) {
            for _ in 0..STARTS {
                times.push(
                    milliseconds(&start.words).with_context(|| format!("{} was measured", start.name))?,
                );
            }
        }
    }
    let about = format!("Median and slowest of {} starts in {ROUNDS} interleaved rounds.", STARTS * ROUNDS);
    let mut section = Section::new("Waiting", &about, &["command", "median ms", "slowest ms"]);
    for (times, start) in times.into_iter().zip(starts) {
        let slowest = times.iter().copied().fold(0.0, f64::max);
        let median = median(times).context("nothing was measured")?;
        section.row(&[start.name.to_owned(), format!("{median:.1}"), format!("{slowest:.1}")]);
        if let Some(limit_ms) = start.limit_ms {
            section.claim(format!("{} in under {limit_ms:.0} ms", start.name), median < limit_ms);
        }
    }
    Ok(section)
}

/// A command whose start is measured.
struct Start {
    name: &'static str,
    /// Program and arguments.
    words: Vec<PathBuf>,
    /// What its median must stay under.
    limit_ms: Option<f64>,
}

/// Wall milliseconds of one command, from its start to its end.
#[expect(clippy::disallowed_methods, reason = "measuring what a start takes is what this is for")]
pub(super) fn milliseconds(words: &[PathBuf]) -> anyhow::Result<f64> {
    let (program, arguments) = words.split_first().context("a command has a first word")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let taken = start.elapsed();
    ensure!(status.success(), "it ended with {status}");
    Ok(taken.as_secs_f64() * 1000.0)
}

/// The newest trial of a demonstration below `cache/`, which is run where there is none.
pub(super) fn demo_trial(repo: &Repo, pilote: &Path) -> anyhow::Result<PathBuf> {
    let folder = repo.cache("bench/demo");
    if newest_trial(&folder).is_none() {
        let mut demo = repo.command(&pilote.to_string_lossy());
        command::run(demo.arg("demo").arg("--dir").arg(&folder).arg("--cache").arg(repo.cache("models")))?;
    }
    newest_trial(&folder).context("the demonstration left no trial")
}

/// The newest folder below any `runs/` of a demonstration, by its name, which begins with the time.
fn newest_trial(folder: &Path) -> Option<PathBuf> {
    let mut newest: Option<PathBuf> = None;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).ok()?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()) {
            if !folder.ends_with("runs") {
                folders.push(path);
            } else if newest.as_ref().is_none_or(|newest| newest.file_name() < path.file_name()) {
                newest = Some(path);
            }
        }
    }
    newest
}
