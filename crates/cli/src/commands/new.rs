//! `pilote new`: a project folder with a configuration that works.

use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::surroundings::Surroundings;
use crate::templates;

#[derive(Serialize)]
struct NewJson<'a> {
    format: &'static str,
    project: String,
    files: &'a [&'static str],
}

/// Lays out a project.
///
/// # Errors
/// When the folder holds something already, or cannot be written.
pub(crate) fn new(args: &args::New, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    let dir = surroundings.folder.join(&args.dir);
    let files = templates::lay_out(args.template, &dir).map_err(|error| {
        Failure::request("new", error).hint("name a folder that does not exist yet, or an empty one")
    })?;
    for file in &files {
        printer.line(&format!("  {}", args.dir.join(file).display()));
    }
    printer.object(&NewJson { format: "pilote.new/1", project: dir.display().to_string(), files: &files });
    let dir = args.dir.display().to_string();
    printer.say(&printer.texts.get("new-next", &[("dir", &dir)]));
    Ok(Exit::Holds)
}
