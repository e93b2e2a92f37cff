//! `pilote runs`: the trials of a project, a line each.

use pilote_proof::{FirstError, TrialSummary};
use pilote_text::{pad, printable, width};
use serde::Serialize;

use super::check;
use super::status::state_code;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::open_points;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct RunsJson<'a> {
    format: &'static str,
    project: String,
    trials: &'a [TrialSummary],
    open_points: &'a [pilote_size::OpenPoint],
}

/// Lists the trials.
///
/// # Errors
/// When there is no project, or its trials cannot be listed.
pub(crate) fn runs(
    args: &args::Runs,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let root = place::root(surroundings, args.project.as_deref())?;
    let trials = pilote_proof::runs(&root)?;
    let rows: Vec<[String; 3]> = trials.iter().map(|trial| row(printer, trial)).collect();
    let column = |index: usize| rows.iter().map(|row| width(&row[index])).max().unwrap_or(0);
    let (names, states) = (column(0), column(1));
    for [name, state, balance] in &rows {
        printer.line(format!("{}  {}  {balance}", pad(name, names), pad(state, states)).trim_end());
    }
    if trials.is_empty() {
        printer.say(&printer.texts.get("runs-none", &[]));
    }
    let open_points = open_points::kept(&root)?;
    for line in open_points::lines(&open_points, &printer.texts) {
        printer.line(&line);
    }
    printer.object(&RunsJson {
        format: "pilote.runs/1",
        project: root.display().to_string(),
        trials: &trials,
        open_points: &open_points,
    });
    Ok(Exit::Holds)
}

/// The cells of a trial's line: name, state, balance.
pub(crate) fn row(printer: &Printer, trial: &TrialSummary) -> [String; 3] {
    let texts = &printer.texts;
    let state = texts.get(&format!("state-{}", state_code(trial.state)), &[]);
    let balance = trial.balance.as_ref().map(|balance| {
        let holds = if balance.holds { "runs-holds" } else { "runs-fails" };
        let counts = [balance.accepted, balance.refused, balance.pending].map(|count| texts.number(count));
        let [accepted, refused, pending] = &counts;
        texts.get(holds, &[("accepted", accepted), ("refused", refused), ("pending", pending)])
    });
    let failed = trial.first_error.as_ref().map(|error| failed_at(error, printer));
    [printable(&trial.name).into_owned(), state, balance.or(failed).unwrap_or_default()]
}

/// Where a trial failed first: the rung that looks at it, or the step, and the first line of the engine's own words.
fn failed_at(error: &FirstError, printer: &Printer) -> String {
    let rung = error.rung.as_deref().and_then(check::trial::of_code);
    let place = rung.map_or_else(|| error.step.clone(), |rung| check::show::rung_name(rung, &printer.texts));
    let words = error.first_error.lines().next().unwrap_or_default();
    printer.texts.get("runs-failed-at", &[("rung", &place), ("error", &printable(words))])
}
