//! `pilote report`: the report of a trial written anew, in any of the languages.

use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct ReportJson {
    format: &'static str,
    trial: String,
    report: String,
}

/// Writes the report.
///
/// # Errors
/// When the trial cannot be read or the report cannot be written.
pub(crate) fn report(
    args: &args::Report,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    let project = place::project_of(&trial);
    let output =
        args.output.as_ref().map_or_else(|| trial.join("report.html"), |path| surroundings.folder.join(path));
    let html = pilote_proof::report(&trial, project.as_deref(), &printer.texts)?;
    pilote_proof::write_report(&output, &html)?;
    printer.line(&output.display().to_string());
    printer.object(&ReportJson {
        format: "pilote.report/1",
        trial: trial.display().to_string(),
        report: output.display().to_string(),
    });
    Ok(Exit::Holds)
}
