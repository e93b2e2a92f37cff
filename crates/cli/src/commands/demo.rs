//! `pilote demo`: the whole path in one command, on a project that the program carries.

use serde::Serialize;

use super::run::{self, Task};
use crate::args::{self, Template};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;
use crate::templates;

/// The folder of the example project below the demonstration's own, beside which its copies go.
const PROJECT: &str = "twelve-documents";

#[derive(Serialize)]
struct DemoJson<'a> {
    format: &'static str,
    project: String,
    trial: String,
    copy: Option<String>,
    report: Option<String>,
    balance: Option<&'a pilote_spec::Balance>,
    criteria: &'a [pilote_spec::Criterion],
    holds: bool,
}

/// Makes the example project where it is not there yet, runs its pilot, copies, verifies and reports.
///
/// # Errors
/// As the commands that it stands for.
pub(crate) fn demo(
    args: &args::Demo,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let root = surroundings.folder.join(&args.dir).join(PROJECT);
    if !root.join(crate::place::CONFIG).is_file() {
        templates::lay_out(Template::Documents, &root)
            .map_err(|error| Failure::request("demo", error).hint("name another folder with --dir DIR"))?;
    }
    let place = Place::find(surroundings, Some(&root))?;
    printer.line(&printer.texts.get("demo-project", &[("dir", &root.display().to_string())]));
    let task = Task::New { limit: None, since: None };
    let manner = run::Manner { cache: args.cache.as_deref(), ..run::Manner::default() };
    let came = run::work(&place, &task, &manner, surroundings, printer)?;
    run::show_end(&place, &task, &came, printer)?;
    let exit = came.exit();
    if exit == Exit::Holds {
        printer.line("");
        printer.line(&printer.texts.get("demo-next", &[]));
    }
    printer.object(&DemoJson {
        format: "pilote.demo/1",
        project: root.display().to_string(),
        trial: came.end.trial.display().to_string(),
        copy: came.copy.as_ref().map(|copy| copy.copy.display().to_string()),
        report: came.report.as_ref().map(|report| report.display().to_string()),
        balance: came.balance.as_ref(),
        criteria: &came.criteria,
        holds: exit == Exit::Holds,
    });
    Ok(exit)
}
