//! `pilote export`: a copy at a place of the user's, read again from there.

use std::path::Path;

use pilote_proof::{Destination, Export, Exported};
use pilote_spec::Clock as _;
use serde::Serialize;

use super::check::page;
use super::show;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::progress::Meter;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct ExportJson<'a> {
    format: &'static str,
    trial: String,
    copy: String,
    files: u64,
    bytes: u64,
    kept: u64,
    same_file_system: Option<bool>,
    backup: bool,
    whole: bool,
    balance: Option<&'a pilote_spec::Balance>,
    criteria: &'a [pilote_spec::Criterion],
    holds: bool,
}

/// Copies a trial and reads the copy again.
///
/// # Errors
/// When no destination is known, or the copy cannot be made. A copy that is not whole is said, with status 1.
pub(crate) fn export(
    args: &args::Export,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    let destination = match &args.dir {
        Some(dir) => place::destination(surroundings, &surroundings.folder, dir)?,
        None => declared(&trial, surroundings)?,
    };
    let wish = Wish { with_inputs: args.with_inputs, sha512: args.sha512, archive: args.archive.is_some() };
    let exported = copy(&trial, &destination, wish, surroundings, printer)?;
    show::verification(printer, &exported.verification);
    say(&exported, printer);
    printer.object(&ExportJson {
        format: "pilote.export/1",
        trial: trial.display().to_string(),
        copy: exported.copy.display().to_string(),
        files: exported.files,
        bytes: exported.bytes,
        kept: exported.kept,
        same_file_system: exported.same_file_system,
        backup: exported.is_backup(),
        whole: exported.verification.whole,
        balance: exported.verification.balance.as_ref(),
        criteria: &exported.verification.criteria,
        holds: exported.verification.holds,
    });
    Ok(Exit::of_verdict(exported.verification.holds))
}

/// How a copy is to be.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wish {
    /// The inputs go along.
    with_inputs: bool,
    /// SHA-512 beside SHA-256.
    sha512: bool,
    /// One archive rather than a folder.
    archive: bool,
}

/// Copies and reads again, with progress.
///
/// # Errors
/// When the copy cannot be made.
pub(crate) fn copy(
    trial: &Path,
    destination: &Destination,
    wish: Wish,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exported, Failure> {
    let meter = Meter::new(printer, surroundings.clock.clone());
    let what = printer.texts.get("export-progress", &[]);
    let mut watch =
        |done: u64, total: u64| meter.show(&what, done.div_ceil(1_000_000), total.div_ceil(1_000_000), "MB");
    let report = report_of(trial, printer);
    let export = Export {
        with_inputs: wish.with_inputs,
        sha512: wish.sha512,
        archive: wish.archive,
        report: report.as_deref(),
        ..Export::new(trial, destination.clone(), surroundings.clock.wall())
    };
    Ok(pilote_proof::export_as(&export, &mut watch)?)
}

/// The report that goes along: the one that the trial has, else one that is made now. A trial of which none can be made
/// is copied all the same, and what is wrong is found in the copy.
fn report_of(trial: &Path, printer: &Printer) -> Option<String> {
    let path = trial.join("report.html");
    let plain = fs_err::symlink_metadata(&path).is_ok_and(|about| about.is_file());
    let there = plain.then(|| fs_err::read_to_string(&path).ok()).flatten();
    let project = place::project_of(trial);
    there.or_else(|| {
        let ladder = project.as_ref().and_then(|root| page::before(root, trial, &printer.texts));
        pilote_proof::report(trial, project.as_deref(), ladder.as_ref(), &printer.texts).ok()
    })
}

/// Says where the copy is and what it is worth.
pub(crate) fn say(exported: &Exported, printer: &Printer) {
    let copy = exported.copy.display().to_string();
    let files = exported.files.to_string();
    let size = printer.texts.storage(exported.bytes);
    let key = match (exported.verification.whole, exported.already) {
        (true, _) => "export-whole",
        (false, false) => "export-damaged",
        (false, true) => "export-damaged-since",
    };
    printer.line("");
    printer.line(&printer.texts.get(key, &[("copy", &copy), ("files", &files), ("size", &size)]));
    let worth =
        if exported.same_file_system == Some(true) { "export-same-disk" } else { "export-no-backup-yet" };
    printer.line(&printer.texts.get(worth, &[]));
}

/// The destination that the trial's project declares, relative to the project.
fn declared(trial: &Path, surroundings: &Surroundings) -> Result<Destination, Failure> {
    let none = || {
        let error =
            anyhow::anyhow!("no place for the copy is given, and the project declares no `destination`");
        Failure::request("no-destination", error).hint("pilote export RUN DIR")
    };
    let root = place::project_of(trial).ok_or_else(none)?;
    let place = Place::find(surroundings, Some(&root))?;
    let destination = place.parsed.project.destination.ok_or_else(none)?;
    place::destination(surroundings, &root, Path::new(&destination))
}
