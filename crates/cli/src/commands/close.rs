//! `pilote close`: what must leave a rented machine is gathered, and what would be lost is said. Deletes nothing.

use pilote_proof::{Closing, Loss};
use pilote_spec::Clock as _;
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::progress::Meter;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct CloseJson<'a> {
    format: &'static str,
    project: String,
    bundle: String,
    closing: &'a Closing,
}

/// Gathers, reads again and says what would be lost. Status 1 where something would be.
///
/// # Errors
/// When no place is known, or reading or writing fails.
pub(crate) fn close(
    args: &args::Close,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let place = Place::find(surroundings, args.project.as_deref())?;
    let project = &place.parsed.project;
    let destination = match (&args.dir, &project.destination) {
        (Some(dir), _) => place::destination(surroundings, &surroundings.folder, dir)?,
        (None, Some(declared)) => {
            place::destination(surroundings, &place.root, std::path::Path::new(declared))?
        }
        (None, None) => {
            let error = anyhow::anyhow!("no place is given, and the project declares no `destination`");
            return Err(Failure::request("no-destination", error).hint("pilote close DIR"));
        }
    };
    let meter = Meter::new(printer, surroundings.clock.clone());
    let mut watch = |trial: &str, done: u64, all: u64| {
        meter.show(trial, done.div_ceil(1_000_000), all.div_ceil(1_000_000), "MB");
    };
    let at = surroundings.clock.wall();
    let (closing, bundle) = pilote_proof::close(&place.root, project, &destination, at, &mut watch)?;
    show(&closing, &bundle.display().to_string(), printer);
    printer.object(&CloseJson {
        format: "pilote.close/1",
        project: place.root.display().to_string(),
        bundle: bundle.display().to_string(),
        closing: &closing,
    });
    Ok(Exit::of_verdict(closing.safe))
}

fn show(closing: &Closing, bundle: &str, printer: &Printer) {
    let texts = &printer.texts;
    for trial in closing.trials.iter().filter(|trial| trial.whole) {
        let copy = trial.copy.clone().unwrap_or_default();
        let key = if trial.verified_elsewhere { "close-trial-elsewhere" } else { "close-trial" };
        printer.line(&texts.get(key, &[("trial", &trial.trial), ("copy", &copy)]));
    }
    let bytes: u64 = closing.files.values().map(|facts| facts.bytes).sum();
    let (files, size) = (closing.files.len().to_string(), texts.storage(bytes));
    printer.line(&texts.get("close-bundle", &[("bundle", bundle), ("files", &files), ("size", &size)]));
    if !closing.model.is_empty() {
        let model = texts.list(closing.model.iter().map(String::as_str));
        printer.line(&texts.get("close-model", &[("model", &model)]));
    }
    let (blocking, known): (Vec<&Loss>, Vec<&Loss>) =
        closing.lost.iter().partition(|loss| loss.code.blocks());
    for (head, losses) in [("close-lost", blocking), ("close-known", known)] {
        if losses.is_empty() {
            continue;
        }
        printer.line("");
        printer.line(&texts.get(head, &[]));
        for loss in losses {
            let key = format!("close-loss-{}", loss.code.code());
            printer.line(&format!("  - {}", texts.get(&key, &[("what", &loss.what)])));
        }
    }
    printer.line("");
    printer.line(&texts.get(if closing.safe { "close-safe" } else { "close-not-safe" }, &[]));
}
