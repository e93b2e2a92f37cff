//! `pilote report`: the report of a trial written anew, in any of the languages.

use serde::Serialize;

use super::check::page;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<pilote_proof::ReportData>,
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
    let (name, start) = if args.markdown { ("report.md", "# ") } else { ("report.html", "<!doctype") };
    let output = args.output.as_ref().map_or_else(|| trial.join(name), |path| surroundings.folder.join(path));
    if args.output.is_some() && !may_write(&output, start) {
        let error =
            anyhow::anyhow!("{} is there and is no report; nothing is written over it", output.display());
        return Err(Failure::request("not-a-report", error).hint("name a file that does not exist yet"));
    }
    let text = if args.markdown {
        pilote_proof::report_markdown(&trial, project.as_deref(), &printer.texts)?
    } else {
        let ladder = project.as_ref().and_then(|root| page::before(root, &trial, &printer.texts));
        pilote_proof::report(&trial, project.as_deref(), ladder.as_ref(), &printer.texts)?
    };
    pilote_proof::write_report(&output, &text)?;
    let facts =
        printer.wants_object().then(|| pilote_proof::report_data(&trial, project.as_deref())).transpose()?;
    printer.line(&output.display().to_string());
    printer.object(&ReportJson {
        format: "pilote.report/1",
        trial: trial.display().to_string(),
        report: output.display().to_string(),
        facts,
    });
    Ok(Exit::Holds)
}

/// Whether a report may take this place: nothing is there, or an earlier report of this form.
fn may_write(output: &std::path::Path, start: &str) -> bool {
    if fs_err::symlink_metadata(output).is_err() {
        return true;
    }
    let form = if start == "# " { "md" } else { "html" };
    let is_report = output.extension().is_some_and(|extension| extension == form);
    let there = fs_err::read(output).unwrap_or_default();
    is_report && there.len() >= start.len() && there[..start.len()].eq_ignore_ascii_case(start.as_bytes())
}
