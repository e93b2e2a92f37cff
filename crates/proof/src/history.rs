//! The history of a project: its trials and the decisions on them, in the order of time.

use std::path::Path;

use pilote_spec::{Stamp, Trial, TrialKind, Verdict};
use serde::Serialize;

use crate::collection::read_balance;
use crate::comparison::{FactorCode, FactorState, factors};
use crate::decision::{Choice, Condition, Kept, decisions, failed_steps, verdict_of};
use crate::error::ProofError;
use crate::receipt::last_receipt;
use crate::status::{TrialSummary, runs};
use crate::trial_dir::TrialDir;

/// A trial with what was decided on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// The trial, in a line.
    #[serde(flatten)]
    pub trial: TrialSummary,
    /// The trial before it of the same kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Recorded factors that differ from that one; of the items themselves nothing is compared here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<FactorCode>,
    /// Whether another machine has verified a copy of it.
    pub verified_elsewhere: bool,
    /// The decisions on it, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Kept>,
    /// What the last decision before it wanted resolved, and whether it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// Whether a trial resolves what an earlier decision named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resolution {
    /// What failed.
    pub condition: Condition,
    /// In which trial.
    pub of: String,
    /// Whether it is resolved.
    pub state: ResolutionState,
}

/// Whether a condition is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResolutionState {
    /// It holds now.
    Resolved,
    /// It fails still.
    Standing,
    /// This trial cannot tell: it is not finished, or its files do not say.
    Unknown,
}

impl ResolutionState {
    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Standing => "standing",
            Self::Unknown => "unknown",
        }
    }
}

/// The trials of the project at `root` with the decisions on them, oldest first. Long files that a decision rests on
/// are compared by their length.
///
/// # Errors
/// When the trials cannot be listed or the system refuses to read.
pub fn history(root: &Path) -> Result<Vec<HistoryEntry>, ProofError> {
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let mut before: Vec<(TrialKind, Trial)> = Vec::new();
    let mut open: Option<(Condition, String, Stamp)> = None;
    for trial in runs(root)? {
        let launched = TrialDir::open(&trial.path).ok().map(|opened| opened.trial);
        let earlier = launched.as_ref().and_then(|now| {
            before.iter().rev().find(|(kind, _)| *kind == now.kind).map(|(_, earlier)| earlier)
        });
        let changed =
            launched.as_ref().zip(earlier).map(|(now, then)| differing(then, now)).unwrap_or_default();
        let since = earlier.map(|earlier| earlier.name.clone());
        let resolution = open.as_ref().map(|(condition, of, _)| Resolution {
            condition: condition.clone(),
            of: of.clone(),
            state: resolution(&trial.path, condition),
        });
        let kept = decisions(&trial.path, true)?;
        for decision in kept.iter().filter_map(|kept| kept.decision.as_ref()) {
            // Trials may run side by side, so that the last word counts and not the last trial.
            if open.as_ref().is_none_or(|(.., at)| *at <= decision.at) {
                open =
                    decision.condition.clone().map(|condition| (condition, trial.name.clone(), decision.at));
            }
        }
        let verified_elsewhere = last_receipt(&trial.path).is_some();
        before.extend(launched.map(|launched| (launched.kind, launched)));
        entries.push(HistoryEntry { trial, since, changed, verified_elsewhere, decisions: kept, resolution });
    }
    Ok(entries)
}

/// What the last decision before the trial in `dir` named, and whether this trial resolves it.
///
/// # Errors
/// As [`history`].
pub fn resolution_of(root: &Path, dir: &Path) -> Result<Option<Resolution>, ProofError> {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned());
    let entry = history(root)?.into_iter().find(|entry| Some(&entry.trial.name) == name.as_ref());
    Ok(entry.and_then(|entry| entry.resolution))
}

fn differing(then: &Trial, now: &Trial) -> Vec<FactorCode> {
    let factors = factors(then, now).into_iter();
    factors.filter(|factor| factor.state == FactorState::Differs).map(|factor| factor.factor).collect()
}

/// Whether the trial in `dir` resolves a condition, by what it wrote down.
fn resolution(dir: &Path, condition: &Condition) -> ResolutionState {
    let Ok(Some(balance)) = read_balance(dir) else {
        // A trial that failed at the very step again says so before it has a balance.
        let again = matches!(condition, Condition::Step { step } if failed_steps(dir).unwrap_or_default().contains(step));
        return if again { ResolutionState::Standing } else { ResolutionState::Unknown };
    };
    match condition {
        Condition::Criterion { criterion: pilote_spec::CriterionCode::CopyWhole } => {
            match crate::export::last_copy(dir) {
                Some(copy) if copy.whole => ResolutionState::Resolved,
                Some(_) => ResolutionState::Standing,
                None => ResolutionState::Unknown,
            }
        }
        Condition::Criterion { criterion } => match verdict_of(&balance.criteria, *criterion) {
            Some(Verdict::Holds) => ResolutionState::Resolved,
            Some(Verdict::Fails) => ResolutionState::Standing,
            Some(Verdict::Unknown) | None => ResolutionState::Unknown,
        },
        Condition::Step { step } => match failed_steps(dir) {
            Ok(steps) if steps.contains(step) => ResolutionState::Standing,
            Ok(_) => ResolutionState::Resolved,
            Err(_) => ResolutionState::Unknown,
        },
        // The ladder is run on the machine and the quality against a reference: this trial's files do not say.
        Condition::Rung { .. } | Condition::Quality { .. } => ResolutionState::Unknown,
    }
}

/// The last decision on any of `entries`, with the trial it is on.
pub(crate) fn last_decision(entries: &[HistoryEntry]) -> Option<(&HistoryEntry, &Kept)> {
    let kept = entries.iter().flat_map(|entry| entry.decisions.iter().map(move |kept| (entry, kept)));
    kept.max_by_key(|(_, kept)| kept.decision.as_ref().map(|decision| decision.at))
}

/// Whether a decision is to launch and stands.
pub(crate) fn launches(kept: &Kept) -> bool {
    kept.tie.holds() && kept.decision.as_ref().is_some_and(|decision| decision.choice == Choice::Launch)
}
