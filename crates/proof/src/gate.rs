//! The gate before a campaign: everything that a pilot must have shown here before the full volume is computed.
//!
//! There is no way around it: a pilot is a dozen items. Each requirement is judged from the files of the trials, and
//! each that is not met names one command to do next.

use std::path::Path;

use pilote_spec::{EngineFacts, EnvironmentFacts, MachineFacts, ProgramFacts, Project, Trial, TrialKind};
use serde::Serialize;

use crate::comparison::{Factor, FactorCode, FactorState, FieldChange, factors};
use crate::decision::{Choice, decisions};
use crate::error::ProofError;
use crate::history::{HistoryEntry, history, last_decision, launches};
use crate::receipt::last_receipt;
use crate::trial_dir::TrialDir;
use crate::verification::verify;

/// What is about to compute, as the project, the program and the machine are now.
#[derive(Debug, Clone, Copy)]
pub struct Here<'h> {
    /// The project.
    pub project: &'h Project,
    /// The program.
    pub program: &'h ProgramFacts,
    /// The machine.
    pub machine: &'h MachineFacts,
    /// What surrounds it.
    pub environment: &'h EnvironmentFacts,
    /// What the ladder of checks lacks on this machine, in a stable word (`never`, `elsewhere`, the rung that failed);
    /// none where it was climbed whole and passed.
    pub ladder: Option<&'h str>,
}

/// What must be met before a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementCode {
    /// The project declares a campaign.
    Declared,
    /// The ladder of checks was climbed on this machine and passed.
    Ladder,
    /// The last pilot was read again, is whole, and holds.
    PilotHolds,
    /// It ran with this deliverable, model, program and parameters, on this machine and card.
    SameAsPilot,
    /// Another machine has verified a copy of it.
    CopyElsewhere,
    /// The last decision is to launch on it, and it is unchanged since.
    Decided,
}

impl RequirementCode {
    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Ladder => "ladder",
            Self::PilotHolds => "pilot-holds",
            Self::SameAsPilot => "same-as-pilot",
            Self::CopyElsewhere => "copy-elsewhere",
            Self::Decided => "decided",
        }
    }
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// Which one.
    pub code: RequirementCode,
    /// Whether it is met.
    pub met: bool,
    /// What lacks, in stable words: differing fields, failing criteria, the last decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The one command to do next; none where it is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The gate as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// Whether a campaign may start.
    pub open: bool,
    /// The pilot that it rests on: the last one that was not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pilot: Option<String>,
    /// Every requirement, in the order in which they are met.
    pub requirements: Vec<Requirement>,
}

impl Gate {
    /// The first requirement that is not met.
    #[must_use]
    pub fn lacking(&self) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| !requirement.met)
    }
}

/// Judges the gate of the project at `root`.
///
/// # Errors
/// When the trials cannot be listed, or the system refuses to read.
pub fn gate(root: &Path, here: Here<'_>) -> Result<Gate, ProofError> {
    let entries = history(root)?;
    let pilot = entries.iter().rev().find_map(|entry| {
        let trial = TrialDir::open(&entry.trial.path).ok()?.trial;
        (trial.kind == TrialKind::Pilot && trial.limit.is_none()).then_some((entry, trial))
    });
    let mut requirements = vec![declared(here.project), ladder(here.ladder)];
    match &pilot {
        None => requirements.extend(nothing_yet()),
        Some((entry, trial)) => requirements.extend([
            holds(entry)?,
            same(trial, here),
            elsewhere(entry),
            decided(entry, &entries)?,
        ]),
    }
    Ok(Gate {
        open: requirements.iter().all(|requirement| requirement.met),
        pilot: pilot.map(|(entry, _)| entry.trial.name.clone()),
        requirements,
    })
}

/// Fields in which an engine that was started is not the one of the pilot, told after its start and before anything is
/// computed.
#[must_use]
pub fn engine_differences(pilot: &Trial, engine: &EngineFacts) -> Vec<FieldChange> {
    let now = Trial { engine: engine.clone(), ..pilot.clone() };
    differences(pilot, &now)
}

/// What was launched as the pilot of that name below the project at `root`.
///
/// # Errors
/// When it cannot be read.
pub fn pilot(root: &Path, name: &str) -> Result<Trial, ProofError> {
    Ok(TrialDir::open(&root.join("runs").join(name))?.trial)
}

fn met(code: RequirementCode) -> Requirement {
    Requirement { code, met: true, lacks: Vec::new(), command: None }
}

fn lacking(code: RequirementCode, lacks: Vec<String>, command: impl Into<String>) -> Requirement {
    Requirement { code, met: false, lacks, command: Some(command.into()) }
}

fn declared(project: &Project) -> Requirement {
    match &project.campaign {
        Some(_) => met(RequirementCode::Declared),
        None => {
            lacking(RequirementCode::Declared, vec!["campaign".to_owned()], "pilote run --campaign --dry-run")
        }
    }
}

fn ladder(lacks: Option<&str>) -> Requirement {
    match lacks {
        None => met(RequirementCode::Ladder),
        Some(word) => lacking(RequirementCode::Ladder, vec![word.to_owned()], "pilote check"),
    }
}

/// Without a pilot nothing else can be met.
fn nothing_yet() -> Vec<Requirement> {
    use RequirementCode as R;
    let after = [R::SameAsPilot, R::CopyElsewhere, R::Decided];
    let mut all = vec![lacking(R::PilotHolds, Vec::new(), "pilote run")];
    all.extend(after.map(|code| lacking(code, Vec::new(), "pilote run")));
    all
}

fn holds(entry: &HistoryEntry) -> Result<Requirement, ProofError> {
    let code = RequirementCode::PilotHolds;
    let read = verify(&entry.trial.path)?;
    if read.holds {
        return Ok(met(code));
    }
    let name = &entry.trial.name;
    if read.balance.as_ref().is_some_and(|balance| balance.pending > 0) {
        return Ok(lacking(code, vec!["nothing-pending".to_owned()], format!("pilote run --resume {name}")));
    }
    let failing = read.criteria.iter().filter(|criterion| criterion.verdict != pilote_spec::Verdict::Holds);
    let mut lacks: Vec<String> = failing.map(|criterion| criterion.code.code().to_owned()).collect();
    // What is damaged is not mended by a decision: a new pilot is a dozen items.
    let damaged = lacks.is_empty() || read.errors > 0;
    lacks.extend(read.findings.iter().take(20).map(|finding| finding.code.code().to_owned()));
    let mend = format!("pilote decide {name} mend --because \"...\"");
    Ok(lacking(code, lacks, if damaged { "pilote run".to_owned() } else { mend }))
}

fn same(pilot: &Trial, here: Here<'_>) -> Requirement {
    let now = Trial {
        project: here.project.clone(),
        program: here.program.clone(),
        machine: here.machine.clone(),
        environment: Some(here.environment.clone()),
        ..pilot.clone()
    };
    let code = RequirementCode::SameAsPilot;
    let mut lacks: Vec<String> = differences(pilot, &now).iter().map(ToString::to_string).collect();
    if pilot.environment.is_none() {
        lacks.push("environment: not recorded by the pilot".to_owned());
    }
    if lacks.is_empty() { met(code) } else { lacking(code, lacks, "pilote run") }
}

/// Fields that may differ between a pilot and its campaign: how much memory a system leaves itself, how many
/// processors a quota leaves, and the language that people read.
const MAY_DIFFER: [&str; 6] = [
    "machine.memory_bytes",
    "machine.processors",
    "environment.variables.LANG",
    "environment.variables.LC_ALL",
    "environment.variables.TZ",
    "part_items",
];

fn differences(pilot: &Trial, now: &Trial) -> Vec<FieldChange> {
    let differ = |factor: &Factor| factor.state == FactorState::Differs;
    let fields = factors(pilot, now).into_iter().filter(differ).flat_map(|factor| {
        // Expected refusals and the count are the pilot's own; its inputs are those that were looked at.
        let own = factor.factor == FactorCode::Inputs;
        factor.changes.into_iter().filter(move |_| !own)
    });
    fields.filter(|change| !MAY_DIFFER.contains(&change.field.as_str())).collect()
}

fn elsewhere(entry: &HistoryEntry) -> Requirement {
    let code = RequirementCode::CopyElsewhere;
    if last_receipt(&entry.trial.path).is_some() {
        return met(code);
    }
    let name = &entry.trial.name;
    match crate::export::last_copy(&entry.trial.path) {
        Some(copy) if copy.whole => lacking(
            code,
            vec!["receipt".to_owned()],
            format!(
                "pilote verify COPY --receipt receipt.json   (elsewhere; then here: pilote receipt {name} receipt.json)"
            ),
        ),
        _ => lacking(code, vec!["copy".to_owned()], format!("pilote export {name} DIR")),
    }
}

fn decided(entry: &HistoryEntry, entries: &[HistoryEntry]) -> Result<Requirement, ProofError> {
    let code = RequirementCode::Decided;
    let name = &entry.trial.name;
    let command = format!("pilote decide {name} launch --because \"...\" --accepted \"...\" --left \"...\"");
    // Here the files are read whole, however long they are.
    let kept = decisions(&entry.trial.path, false)?;
    let last = last_decision(entries).and_then(|(_, kept)| kept.decision.as_ref());
    if let Some(last) = last.filter(|last| last.choice != Choice::Launch) {
        let word = format!("{}: {}", last.choice.code(), last.trial);
        return Ok(lacking(code, vec![word], command));
    }
    match kept.last() {
        Some(kept) if launches(kept) => Ok(met(code)),
        Some(kept) if !kept.tie.holds() => Ok(lacking(code, vec!["trial-changed".to_owned()], command)),
        _ => Ok(lacking(code, Vec::new(), command)),
    }
}
