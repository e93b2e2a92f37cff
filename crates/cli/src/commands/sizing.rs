//! `pilote size`, `pilote plan` and `pilote libraries`: memory by part, each figure with its origin, what a plan
//! costs, and which cards a project's libraries leave.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pilote_size::cards::Cards;
use pilote_size::libraries::{Index, Libraries, Platform};
use pilote_size::memory::Backend;
use pilote_spec::MachineFacts;
use serde::Serialize;

use super::interpreter::{self, Answer, Interpreter};
use super::model;
use crate::args;
use crate::campaign_time::{self, Projected};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::libraries_command;
use crate::open_points;
use crate::place::{self, Place};
use crate::plan_command::{self, PlanArgs};
use crate::plan_page;
use crate::printer::Printer;
use crate::size_command::{self, Setting, SizeArgs};
use crate::size_error;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct PlanJson<'a> {
    format: &'static str,
    plan: &'a pilote_size::plan::Plan,
    sizing: Option<&'a pilote_size::Sizing>,
    open_points: &'a [pilote_size::OpenPoint],
    /// The time of the campaign in full, where a measured trial was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_time: Option<&'a Projected>,
}

#[derive(Serialize)]
struct LibrariesJson<'a> {
    format: &'static str,
    project: String,
    libraries: &'a Libraries,
    python: Option<&'a Interpreter>,
    index: &'a Index,
}

/// Sizes a task.
///
/// # Errors
/// When the model cannot be read or the request is wrong.
pub(crate) fn size(args: &SizeArgs, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    let args = resolved(args, surroundings, printer)?;
    let machine = pilote_machine::facts(Path::new("/"));
    let endpoint = endpoint(surroundings);
    let sizing = size_command::size(&args, &setting(surroundings, &endpoint, &machine))
        .map_err(|error| size_error::failure(error, &printer.texts))?;
    to_people(printer, |out| size_command::print(&sizing, &printer.texts, out))?;
    if let Some(picture) = &args.picture {
        let path = surroundings.folder.join(picture);
        fs_err::write(&path, size_command::picture(&sizing, &printer.texts))
            .map_err(|error| Failure::request("picture", error))?;
        printer.line(&path.display().to_string());
    }
    if let Ok(root) = place::root(surroundings, None) {
        open_points::keep(&root, &sizing.open_points)?;
    }
    printer.object(&sizing);
    Ok(Exit::of_verdict(size_command::holds(&args, &sizing)))
}

/// Makes a plan.
///
/// # Errors
/// As [`size`]; also for lots, periods or prices that cannot be.
pub(crate) fn plan(args: &PlanArgs, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    let args = PlanArgs { task: resolved(&args.task, surroundings, printer)?, ..args.clone() };
    let machine = pilote_machine::facts(Path::new("/"));
    let endpoint = endpoint(surroundings);
    let setting = setting(surroundings, &endpoint, &machine);
    let (mut plan, sizing) = plan_command::planned(&args, forced_backend(surroundings), &setting)
        .map_err(|error| size_error::failure(error, &printer.texts))?;
    let projected = args.measured.as_ref().map(|run| projected(run, surroundings)).transpose()?;
    if let Some(projected) = &projected {
        plan.projection = projected.projection();
    }
    // Without a model of its own a plan rests on what the project was sized for last.
    let open_points = match &sizing {
        Some(sizing) => sizing.open_points.clone(),
        None => place::root(surroundings, None)
            .map_or_else(|_| Ok(Vec::new()), |root| open_points::kept(&root))?,
    };
    to_people(printer, |out| plan_command::print(&plan, &open_points, &args.lots, &printer.texts, out))?;
    if let Some(why) = projected.as_ref().and_then(|projected| projected.why.as_ref()) {
        printer.line(why);
    }
    if let Some(page) = &args.page {
        let path = surroundings.folder.join(page);
        let html = plan_page::page(&plan, sizing.as_ref(), &open_points, &args.lots, &printer.texts)
            .map_err(|error| Failure::machine("page", error))?;
        fs_err::write(&path, html).map_err(|error| Failure::request("page", error))?;
        printer.line(&path.display().to_string());
    }
    printer.object(&PlanJson {
        format: "pilote.plan-and-size/1",
        plan: &plan,
        sizing: sizing.as_ref(),
        open_points: &open_points,
        campaign_time: projected.as_ref(),
    });
    Ok(Exit::Holds)
}

/// The campaign of the project around, projected on one of its trials.
fn projected(run: &Path, surroundings: &Surroundings) -> Result<Projected, Failure> {
    let place = Place::find(surroundings, None)?;
    campaign_time::projected(&place, &place::trial(surroundings, run)?)
}

/// Says which cards a project's libraries leave, and the wheel index that fits this machine.
///
/// # Errors
/// When a dependency file is there and cannot be read.
pub(crate) fn libraries(
    args: &args::Libraries,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let root = place::root(surroundings, args.project.as_deref())?;
    let libraries = pilote_size::libraries::libraries(&root, None)
        .map_err(|error| size_error::failure(error, &printer.texts))?;
    let machine = pilote_machine::facts(Path::new("/"));
    let python = interpreter::found(&root, surroundings);
    let index = pilote_size::libraries::index(&platform(&machine, python.as_ref())?)?;
    to_people(printer, |out| {
        libraries_command::print(&libraries, python.as_ref(), &index, &printer.texts, out)
    })?;
    let project = root.display().to_string();
    let format = "pilote.project-libraries/1";
    printer.object(&LibrariesJson {
        format,
        project,
        libraries: &libraries,
        python: python.as_ref(),
        index: &index,
    });
    Ok(Exit::of_verdict(libraries.conflicts.is_empty()))
}

/// This machine as its interpreter and its driver describe it. A card that no table has is known by its maker's name.
fn platform(machine: &MachineFacts, python: Option<&Interpreter>) -> Result<Platform, Failure> {
    let table = Cards::built_in()?;
    let card = machine.cards.first();
    let known = card.and_then(|card| table.named(&card.name).ok());
    let backend = card.map_or(Backend::Cpu, |card| match known {
        Some(known) => known.backend,
        None if card.name.contains("AMD") || card.name.contains("Radeon") => Backend::Rocm,
        None => Backend::Cuda,
    });
    let said = python.map(|python| &python.said);
    Ok(Platform {
        system: said.map_or(std::env::consts::OS, Answer::system).to_owned(),
        architecture: said.map_or(std::env::consts::ARCH, |said| &said.architecture).to_owned(),
        python: said.and_then(Answer::minor_of_three),
        backend: Some(backend),
        driver: card.and_then(|card| card.driver.clone()),
        capability: known.and_then(|known| known.capability.clone()),
    })
}

fn endpoint(surroundings: &Surroundings) -> String {
    surroundings.variable("HF_ENDPOINT").unwrap_or("https://huggingface.co").trim_end_matches('/').to_owned()
}

fn setting<'a>(surroundings: &'a Surroundings, endpoint: &'a str, machine: &'a MachineFacts) -> Setting<'a> {
    Setting {
        folder: &surroundings.folder,
        endpoint,
        token: surroundings.variable("HF_TOKEN"),
        found: &machine.cards,
        machine_memory: machine.memory_bytes,
        processors: machine.processors,
    }
}

/// The same with the trial's name made a path, and a packaged model the folder that it was unpacked into.
fn resolved(args: &SizeArgs, surroundings: &Surroundings, printer: &Printer) -> Result<SizeArgs, Failure> {
    let from: Option<PathBuf> = args.from.as_ref().map(|run| place::trial(surroundings, run)).transpose()?;
    let mut model = args.model.clone();
    if let (None, Some(trial)) = (&model, &from) {
        model = size_command::model_of(trial)?;
    }
    if let Some(reference) = model.as_ref().filter(|model| model.starts_with("package:")) {
        let store =
            model::store(surroundings, printer, &surroundings.folder, &surroundings.model_cache(None)?);
        let found = store.resolve(std::slice::from_ref(reference), &BTreeMap::new());
        let found = found.map_err(|error| Failure::machine("model", error))?;
        model = Some(found.dir.display().to_string());
    }
    Ok(SizeArgs { from, model, ..args.clone() })
}

/// The only backend that the project's libraries leave; none outside of a project, or where they leave several.
fn forced_backend(surroundings: &Surroundings) -> Option<Backend> {
    let root = place::root(surroundings, None).ok()?;
    match pilote_size::libraries::libraries(&root, None).ok()?.possible.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Lets `print` write lines for people; nothing under `--json`. A reader that went away is no failure.
fn to_people(printer: &Printer, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut text = Vec::new();
    print(&mut text).map_err(|error| Failure::machine("print", error))?;
    printer.line(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}
