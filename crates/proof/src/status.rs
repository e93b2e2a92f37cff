//! What became of one identifier, of a trial, of all trials of a project: answers that need not read everything.

use std::path::{Path, PathBuf};

use pilote_corpus::index::{Closing, PartEntry};
use pilote_spec::{Balance, EventLine, Item, ItemId, Outcome, Stamp, TrialEvent, TrialKind};
use serde::Serialize;

use crate::collection::read_balance;
use crate::error::{ProofError, io};
use crate::files;
use crate::lookup::{self, LOOKUP};
use crate::outputs;
use crate::trial_dir::{TRIAL, TrialDir};

/// What became of one identifier, format `pilote.status/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The item, as the index has it.
    pub item: Item,
    /// The part that it belongs to.
    pub part: u32,
    /// Its outcome, vectors in full; none while it is pending.
    pub outcome: Option<Outcome>,
}

/// Where the items of an identifier stand and what became of each: usually one, none when the trial does not know
/// it, several where duplicates are refused.
///
/// With `lookup.bin` this reads a few entries of it, one part of the index and that part's log; before collection,
/// the index as far as needed, and no other log.
///
/// # Errors
/// When the trial or its index cannot be read.
pub fn find(dir: &Path, id: &ItemId) -> Result<Vec<Found>, ProofError> {
    let trial = TrialDir::open(dir)?;
    let closing = trial.closing()?;
    let mut found = Vec::new();
    for position in looked_up(&trial.root, id)? {
        // A lookup that was damaged may name any position; only the index says whose it is.
        let Some(entry) = part_of(&closing, position) else { continue };
        let items = trial.items(entry)?;
        found.extend(items.into_iter().find(|item| item.position == position).map(|item| (entry, item)));
    }
    found.retain(|(_, item)| item.id.as_ref() == Some(id));
    // The absence of an identifier is only certain when the index was read.
    if found.is_empty() {
        for entry in &closing.parts {
            let items = trial.items(entry)?;
            found.extend(
                items.into_iter().filter(|item| item.id.as_ref() == Some(id)).map(|item| (entry, item)),
            );
        }
    }
    found.into_iter().map(|(entry, item)| with_outcome(&trial, entry.part, item)).collect()
}

fn looked_up(dir: &Path, id: &ItemId) -> Result<Vec<pilote_spec::Position>, ProofError> {
    let path = dir.join(LOOKUP);
    let failed = |error| io("read", &path, error);
    match files::absent_is_none(files::open_plain(&path)).map_err(failed)? {
        Some(mut file) => lookup::find(&mut file, id).map_err(failed),
        None => Ok(Vec::new()),
    }
}

fn part_of(closing: &Closing, position: pilote_spec::Position) -> Option<&PartEntry> {
    let after = closing.parts.partition_point(|entry| entry.first <= position);
    closing.parts.get(after.checked_sub(1)?)
}

fn with_outcome(trial: &TrialDir, part: u32, item: Item) -> Result<Found, ProofError> {
    let record = pilote_ledger::find_in_part(&trial.store, part, item.position)
        .map_err(|error| ProofError::Ledger(Box::new(error)))?;
    let outcome = match record.map(|record| record.outcome) {
        Some(Outcome::Accepted(output)) => match outputs::read(&trial.store, part, &output)? {
            Ok(output) => Some(Outcome::Accepted(output)),
            Err(why) => return Err(ProofError::Damaged { path: trial.root.clone(), why }),
        },
        other => other,
    };
    Ok(Found { item, part, outcome })
}

/// A trial of a project, in a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialSummary {
    /// The name of its directory.
    pub name: String,
    /// Its directory.
    pub path: PathBuf,
    /// How far it came.
    pub state: TrialState,
    /// Over which inputs; none where what was launched cannot be read.
    pub kind: Option<TrialKind>,
    /// When it was launched.
    pub started: Option<Stamp>,
    /// The balance that was written down; none until the trial is collected.
    pub balance: Option<Balance>,
    /// Where one that has no balance failed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<FirstError>,
}

/// Where a trial failed first, as its writer kept it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstError {
    /// The step that was reached.
    pub step: String,
    /// The error in the engine's own words.
    pub first_error: String,
    /// The rung of the ladder of checks that looks at it, by its code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
    /// The code of the recognised cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The engine's own advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The first error among the events of the trial in `dir`, which need not have begun to compute. Among several writers
/// the first by the wall clock counts; lines that cannot be read count for nothing.
#[must_use]
pub fn first_error(dir: &Path) -> Option<FirstError> {
    let mut first: Option<(u64, FirstError)> = None;
    let entries = fs_err::read_dir(dir.join("events")).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let Ok(text) = fs_err::read_to_string(entry.path()) else { continue };
        let mut wall_ms = 0;
        for line in text.lines().filter_map(|line| serde_json::from_str::<EventLine>(line).ok()) {
            match line.event {
                TrialEvent::Started { wall, .. } => wall_ms = wall.0.saturating_sub(line.at_us / 1000),
                TrialEvent::Failed { step, first_error, rung, cause, advice } => {
                    let at = wall_ms + line.at_us / 1000;
                    if first.as_ref().is_none_or(|(known, _)| at < *known) {
                        first = Some((at, FirstError { step, first_error, rung, cause, advice }));
                    }
                }
                _ => {}
            }
        }
    }
    first.map(|(_, error)| error)
}

/// How far a trial came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// It has an index and never came to its first batch: launch a new one.
    Begun,
    /// Some part is not finished: it runs, or it was stopped and can be taken up.
    Unfinished,
    /// Every part is sealed, and the results were not collected.
    Sealed,
    /// It has its balance.
    Collected,
    /// Something that every trial has cannot be read; `pilote verify` says what.
    Damaged,
    /// A directory below `runs/` that no launch of a trial leaves.
    Stray,
}

/// The directories below `runs/` of the project at `project`, the oldest trial first; what is no trial comes at the
/// end. Reads of each what was launched, the balance, and for one without a balance the seals: never the outcomes.
///
/// # Errors
/// When `runs/` is there and cannot be listed.
pub fn runs(project: &Path) -> Result<Vec<TrialSummary>, ProofError> {
    let dir = project.join("runs");
    let failed = |error| io("list", &dir, error);
    let Some(entries) = files::absent_is_none(fs_err::read_dir(&dir)).map_err(failed)? else {
        return Ok(Vec::new());
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // Hidden folders are no trials: the records of the ladder lie in one.
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.file_type().map_err(failed)?.is_dir() {
            runs.push(summary(&entry.path()));
        }
    }
    runs.sort_by_cached_key(|run| {
        let order = launch_order(&run.name);
        (order.is_none(), order, run.name.clone())
    });
    Ok(runs)
}

/// The trial of the project at `project` that was launched last, by name; none where there is none.
///
/// # Errors
/// When `runs/` is there and cannot be listed.
pub fn latest(project: &Path) -> Result<Option<PathBuf>, ProofError> {
    let dir = project.join("runs");
    let failed = |error| io("list", &dir, error);
    let Some(entries) = files::absent_is_none(fs_err::read_dir(&dir)).map_err(failed)? else {
        return Ok(None);
    };
    let mut last: Option<((String, u32, String), PathBuf)> = None;
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let order = entry.file_name().to_str().and_then(launch_order);
        let there = fs_err::symlink_metadata(entry.path().join(TRIAL)).is_ok();
        last = last.max(order.filter(|_| there).map(|order| (order, entry.path())));
    }
    Ok(last.map(|(_, path)| path))
}

/// Time, number within the second and kind of a launch, out of the name `2026-11-30T181502Z-pilot-2` of its
/// directory; none for a name that no launch gives.
fn launch_order(name: &str) -> Option<(String, u32, String)> {
    let (time, rest) = name.split_at_checked("2026-11-30T181502Z".len())?;
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    if !time.bytes().zip(*b"0000-00-00T000000Z").all(fits) {
        return None;
    }
    let rest = rest.strip_prefix('-')?;
    let (kind, number) = match rest.split_once('-') {
        Some((kind, number)) => (kind, number.parse().ok()?),
        None => (rest, 1),
    };
    matches!(kind, "pilot" | "campaign").then(|| (time.to_owned(), number, kind.to_owned()))
}

/// The trial in `dir`, in a line.
#[must_use]
pub fn summary(dir: &Path) -> TrialSummary {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut summary = TrialSummary {
        name,
        path: dir.to_owned(),
        state: TrialState::Damaged,
        kind: None,
        started: None,
        balance: None,
        first_error: None,
    };
    let trial = match TrialDir::open(dir) {
        Ok(trial) => trial,
        Err(ProofError::NoTrial { .. }) => {
            let begun = ["index", "events"].iter().any(|part| dir.join(part).is_dir());
            summary.state = if begun { TrialState::Begun } else { TrialState::Stray };
            summary.first_error = first_error(dir);
            return summary;
        }
        Err(_) => return summary,
    };
    (summary.kind, summary.started) = (Some(trial.trial.kind), Some(trial.trial.started));
    let balance = read_balance(dir);
    summary.state = match (&balance, trial.closing()) {
        (Err(_), _) => TrialState::Damaged,
        (Ok(Some(_)), _) => TrialState::Collected,
        (Ok(None), Err(ProofError::Missing { .. })) => TrialState::Begun,
        (Ok(None), Err(_)) => TrialState::Damaged,
        (Ok(None), Ok(closing)) => sealed(&trial, &closing),
    };
    summary.balance = balance.ok().flatten().map(|written| written.balance);
    if summary.balance.is_none() {
        summary.first_error = first_error(dir);
    }
    summary
}

fn sealed(trial: &TrialDir, closing: &Closing) -> TrialState {
    for entry in &closing.parts {
        match trial.is_sealed(entry.part) {
            Ok(true) => {}
            Ok(false) => return TrialState::Unfinished,
            Err(_) => return TrialState::Damaged,
        }
    }
    TrialState::Sealed
}
