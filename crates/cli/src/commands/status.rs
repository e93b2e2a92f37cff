//! `pilote status`: how a trial stands, or what became of one identifier, without reading all of it.

use std::time::Duration;

use pilote_proof::{Found, Parts, TrialState, TrialSummary};
use pilote_spec::{ItemId, Outcome};
use serde::Serialize;

use super::shares::{self, WorkerShare};
use super::show;
use crate::args;
use crate::campaign_time::{self, Projected};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::open_points;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct StatusJson<'a> {
    format: &'static str,
    trial: String,
    state: TrialState,
    balance: pilote_spec::Balance,
    criteria: &'a [pilote_spec::Criterion],
    holds: bool,
    /// The time of what is still to be computed, where something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<&'a Projected>,
    /// Parts that are finished, among all.
    parts: Parts,
    /// What each worker did of it.
    workers: &'a [WorkerShare],
    /// What nobody measured yet, of the project that the trial lies in.
    open_points: &'a [pilote_size::OpenPoint],
}

#[derive(Serialize)]
struct ItemJson<'a> {
    format: &'static str,
    trial: String,
    id: &'a str,
    found: &'a [Found],
}

/// Says how a trial or an identifier stands.
///
/// # Errors
/// When the trial cannot be read, or does not know the identifier.
pub(crate) fn status(
    args: &args::Status,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let dir = place::trial(surroundings, &args.run)?;
    if let Some(id) = &args.id {
        return item(&dir, id, printer);
    }
    show(&dir, surroundings, printer)
}

/// Shows how far a trial came, and its balance so far.
///
/// # Errors
/// When the trial cannot be read.
pub(crate) fn show(
    dir: &std::path::Path,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let TrialSummary { state, .. } = pilote_proof::summary(dir);
    let account = pilote_proof::account(dir)?;
    let (parts, workers) = (pilote_proof::parts(dir)?, shares::of(dir, surroundings)?);
    printer.line(&printer.texts.get(&format!("state-{}", state_code(state)), &[]));
    if parts.sealed < parts.all {
        let (sealed, all) = (printer.texts.number(parts.sealed), printer.texts.number(parts.all));
        printer.line(&printer.texts.get("status-parts", &[("sealed", &sealed), ("all", &all)]));
    }
    for line in shares::lines(&workers, &printer.texts) {
        printer.line(&line);
    }
    show::balance(printer, &account.balance, &account.criteria);
    // A copy elsewhere has no project around it, and so no open points.
    let root = dir.parent().and_then(std::path::Path::parent);
    let open_points = root.map_or_else(|| Ok(Vec::new()), open_points::kept)?;
    for line in open_points::lines(&open_points, &printer.texts) {
        printer.line(&line);
    }
    let remaining = match state {
        TrialState::Unfinished => campaign_time::remaining(dir)?,
        _ => None,
    };
    if let Some(remaining) = &remaining {
        printer.line(&remaining_line(remaining, printer));
    }
    printer.object(&StatusJson {
        format: "pilote.status/1",
        trial: dir.display().to_string(),
        state,
        balance: account.balance.clone(),
        criteria: &account.criteria,
        holds: account.balance.holds,
        remaining: remaining.as_ref(),
        parts,
        workers: &workers,
        open_points: &open_points,
    });
    Ok(Exit::of_verdict(account.balance.holds))
}

/// The time of what is still to be computed, or why none is given.
fn remaining_line(remaining: &Projected, printer: &Printer) -> String {
    let Some(time) = &remaining.time else { return remaining.why.clone().unwrap_or_default() };
    let texts = &printer.texts;
    let duration =
        |seconds: f64| texts.duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let (items, measured) = (texts.number(time.corpus_items), texts.number(time.measured_items));
    let (low, high) = (duration(time.low), duration(time.high));
    texts.get(
        "status-remaining",
        &[("items", &items), ("low", &low), ("high", &high), ("measured", &measured)],
    )
}

fn item(dir: &std::path::Path, id: &str, printer: &Printer) -> Result<Exit, Failure> {
    let found = pilote_proof::find(dir, &ItemId(id.to_owned()))?;
    if found.is_empty() {
        let error = anyhow::anyhow!("the trial has no item `{id}`");
        return Err(Failure::request("no-such-id", error)
            .hint("identifiers are exact: mind case, accents and folders"));
    }
    for one in &found {
        let said = match &one.outcome {
            None => printer.texts.get("outcome-pending", &[]),
            Some(Outcome::Accepted(output)) => {
                printer.texts.get("outcome-accepted", &[("output", &show::output(printer, output))])
            }
            Some(Outcome::Refused(refusal)) => {
                printer.texts.get("outcome-refused", &[("reason", &printer.texts.refusal(refusal))])
            }
        };
        printer.line(&said);
    }
    printer.object(&ItemJson {
        format: "pilote.status-item/1",
        trial: dir.display().to_string(),
        id,
        found: &found,
    });
    Ok(Exit::Holds)
}

/// The state as messages and machine-readable output name it.
pub(crate) fn state_code(state: TrialState) -> String {
    serde_json::to_value(state).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
