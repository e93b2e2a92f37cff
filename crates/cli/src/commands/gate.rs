//! The gate before a campaign: nothing of the full volume is computed before a pilot, a copy and a decision allow it.

use std::path::Path;

use pilote_engine::{Engine, EngineFault};
use pilote_machine::record;
use pilote_machine::verdict::RungVerdict;
use pilote_proof::{Gate, Here, Requirement};
use pilote_spec::Trial;

use super::check;
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::surroundings::{self, Surroundings};

/// Judges the gate of a project on this machine.
///
/// # Errors
/// When the trials cannot be read.
pub(crate) fn judge(place: &Place, surroundings: &Surroundings) -> Result<Gate, Failure> {
    let (program, machine) = (surroundings::program(), pilote_machine::facts(Path::new("/")));
    let environment = environment::facts(&place.root, surroundings);
    let ladder = ladder(place, surroundings)?;
    let here = Here {
        project: &place.parsed.project,
        program: &program,
        machine: &machine,
        environment: &environment,
        ladder: ladder.as_deref(),
    };
    Ok(pilote_proof::gate(&place.root, here)?)
}

/// What the ladder of checks lacks on this machine, in a word; none where it was climbed whole and passed.
///
/// # Errors
/// When the records of earlier climbs cannot be listed, or this machine cannot be told from others.
fn ladder(place: &Place, surroundings: &Surroundings) -> Result<Option<String>, Failure> {
    let standing = record::standing(&place.root, &check::identity(place, surroundings)?)
        .map_err(|error| Failure::machine("ladder", error))?;
    Ok(match standing {
        record::Standing::Passed { .. } => None,
        record::Standing::Never => Some("never".to_owned()),
        record::Standing::Elsewhere => Some("elsewhere".to_owned()),
        record::Standing::NotPassed { check, .. } => {
            let failed = check.rungs.iter().find(|rung| rung.verdict == RungVerdict::Failed);
            Some(failed.map_or_else(|| "unfinished".to_owned(), |rung| format!("rung:{}", rung.rung.code())))
        }
    })
}

/// The pilot that a campaign rests on.
///
/// # Errors
/// When something lacks: everything that does is named, with the one command to do next.
pub(crate) fn pass(place: &Place, surroundings: &Surroundings, printer: &Printer) -> Result<Trial, Failure> {
    let gate = judge(place, surroundings)?;
    match (gate.lacking(), &gate.pilot) {
        (None, Some(pilot)) => {
            printer.say(&printer.texts.get("gate-open", &[("pilot", pilot)]));
            Ok(pilote_proof::pilot(&place.root, pilot)?)
        }
        (lacking, _) => {
            let error = anyhow::anyhow!("{}", lines(&gate, printer).join("\n"));
            let failure = Failure { exit: Exit::Fails, ..Failure::request("gate", error) };
            let command = lacking.and_then(|requirement| requirement.command.clone());
            Err(match command {
                Some(command) => failure.hint(command),
                None => failure,
            })
        }
    }
}

/// The gate in words: a line for each requirement, those that are not met with what they lack.
pub(crate) fn lines(gate: &Gate, printer: &Printer) -> Vec<String> {
    let texts = &printer.texts;
    let head = match (&gate.pilot, gate.open) {
        (Some(pilot), true) => texts.get("gate-open", &[("pilot", pilot)]),
        _ => texts.get("gate-closed", &[]),
    };
    std::iter::once(head)
        .chain(gate.requirements.iter().map(|requirement| line(requirement, printer)))
        .collect()
}

fn line(requirement: &Requirement, printer: &Printer) -> String {
    let texts = &printer.texts;
    let said = texts.get(&format!("gate-{}", requirement.code.code()), &[]);
    let mark = if requirement.met { '✓' } else { '✗' };
    if requirement.lacks.is_empty() {
        return format!("  {mark} {said}");
    }
    let lacks = texts.list(requirement.lacks.iter().map(String::as_str));
    format!("  {mark} {said} ({})", texts.get("gate-lacks", &[("lacks", &lacks)]))
}

/// The engine, where it is the one of the pilot: its model, its precision and its device are known only once it is
/// started, and nothing was computed yet.
///
/// # Errors
/// A fault that names what differs.
pub(crate) fn same_engine(pilot: &Trial, engine: Box<dyn Engine>) -> Result<Box<dyn Engine>, EngineFault> {
    let differences = pilote_proof::engine_differences(pilot, engine.facts());
    if differences.is_empty() {
        return Ok(engine);
    }
    let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
    Err(EngineFault {
        step: "gate".to_owned(),
        first_error: format!(
            "the engine is not the one of the pilot {}: {}",
            pilot.name,
            differences.join("; ")
        ),
        advice: Some("pilote run".to_owned()),
        ended: true,
    })
}
