//! `pilote check`: the ladder of checks on this machine, or by facts that were collected on another.

pub(crate) mod demanded;
mod engines;
mod folder;
mod ground;
mod index;
pub(crate) mod page;
pub(crate) mod programs;
pub(crate) mod show;
pub(crate) mod trial;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::anyhow;
use pilote_machine::ladder::{Climb, Judgement, Rung, climb, passes};
use pilote_machine::record::{CHECK_FORMAT, Check, Identity};
use pilote_machine::verdict::{RungCode, RungReport};
use pilote_machine::{Facts, probe};
use pilote_spec::{Clock as _, Digest, Parsed, Project, Stamp};
use serde::Serialize;

use crate::args::{self, CheckOnly};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, CONFIG, Place};
use crate::printer::Printer;
use crate::surroundings::{self, Surroundings};
use ground::{FactRung, Ground, Here, Source};
use programs::Guarded;

/// What `--json` prints: the climb, where it was kept, and what came before it.
#[derive(Serialize)]
struct CheckJson<'a> {
    #[serde(flatten)]
    check: &'a Check,
    project: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a trial::FirstError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<&'a Facts>,
}

#[derive(Serialize)]
struct EmitJson {
    format: &'static str,
    path: String,
    bytes: usize,
    sha256: Digest,
}

/// Climbs.
///
/// # Errors
/// When there is no project, or a file that was named is not what it should be.
pub(crate) fn check(
    args: &args::Check,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if let Some(path) = &args.emit {
        return emit(&surroundings.folder.join(path), printer);
    }
    let to = args.to.as_deref().map(rung).transpose()?;
    let root = place::root(surroundings, args.project.as_deref())?;
    let (parsed, faults) = configuration(&root)?;
    if args.only == Some(CheckOnly::Project) || parsed.is_none() {
        return project_alone(args, &root, parsed.as_ref(), &faults, surroundings, printer);
    }
    let Some(parsed) = parsed else { return Ok(Exit::Request) };
    let place = Place { root, parsed };
    let after = match &args.after {
        Some(run) => Some(trial::first_error(&trial::named(&place.root, &surroundings.folder, run)?)?),
        None => None,
    };
    if let Some(after) = &after {
        show::after(after, printer);
    }
    ladder(args, &place, to, after.as_ref(), surroundings, printer)
}

/// The rung of a code.
fn rung(code: &str) -> Result<RungCode, Failure> {
    trial::of_code(code).ok_or_else(|| {
        let known: Vec<&str> = RungCode::ALL.iter().map(|rung| rung.code()).collect();
        Failure::request("no-such-rung", anyhow!("there is no rung `{code}`"))
            .hint(format!("the rungs are {}", known.join(", ")))
    })
}

/// The configuration, or its faults a line each.
fn configuration(root: &Path) -> Result<(Option<Parsed>, Vec<String>), Failure> {
    let bytes = fs_err::read(root.join(CONFIG)).map_err(|error| Failure::request("no-config", error))?;
    Ok(match Project::parse(&bytes, CONFIG) {
        Ok(parsed) => (Some(parsed), Vec::new()),
        Err(errors) => (None, errors.to_string().lines().map(str::to_owned).collect()),
    })
}

/// Writes the probe.
fn emit(path: &Path, printer: &Printer) -> Result<Exit, Failure> {
    fs_err::write(path, probe::PROBE).map_err(|error| Failure::request("emit", error))?;
    let sha256 = Digest::of(probe::PROBE.as_bytes());
    let (shown, bytes) = (path.display().to_string(), probe::PROBE.len());
    let args = [("path", shown.as_str()), ("bytes", &bytes.to_string()), ("sha256", &sha256.to_string())];
    printer.line(&printer.texts.get("check-emitted", &args));
    printer.object(&EmitJson { format: "pilote.emitted/1", path: shown, bytes, sha256 });
    Ok(Exit::Holds)
}

/// The rung of the project's folder alone; a configuration that is wrong leaves no other.
fn project_alone(
    args: &args::Check,
    root: &Path,
    parsed: Option<&Parsed>,
    faults: &[String],
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let project = parsed.map(|parsed| &parsed.project);
    let programs = guarded(project, root, surroundings)?;
    let mut rungs: Vec<Box<dyn Rung + '_>> =
        vec![Box::new(folder::FolderRung { root, project, faults, programs: &programs })];
    let how = Climb { all: args.all, ..Climb::default() };
    let reports = climb(&mut rungs, how, &*surroundings.clock, &mut |report| show::rung(report, printer));
    let check = Check {
        format: CHECK_FORMAT.to_owned(),
        checked: surroundings.clock.wall(),
        identity: None,
        program: surroundings::program(),
        config: config_digest(root)?,
        from: None,
        to: Some(RungCode::Project),
        passed: passes(&reports),
        rungs: reports,
    };
    let exit = if parsed.is_none() { Exit::Request } else { Exit::of_verdict(check.passed) };
    end(args, &check, None, None, None, root, surroundings, printer)?;
    Ok(exit)
}

fn config_digest(root: &Path) -> Result<Digest, Failure> {
    let bytes = fs_err::read(root.join(CONFIG)).map_err(|error| Failure::request("no-config", error))?;
    Ok(Digest::of(&bytes))
}

fn guarded(project: Option<&Project>, root: &Path, surroundings: &Surroundings) -> Result<Guarded, Failure> {
    Guarded::of(project, root, surroundings).map_err(|error| Failure::machine("guard", error))
}

/// The whole ladder, as far as it was asked for.
fn ladder(
    args: &args::Check,
    place: &Place,
    to: Option<RungCode>,
    after: Option<&trial::FirstError>,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let programs = guarded(Some(&place.parsed.project), &place.root, surroundings)?;
    let cache = surroundings.model_cache(args.cache.as_deref())?;
    let order =
        args.order.as_ref().map(|path| demanded::order(&surroundings.folder.join(path))).transpose()?;
    let now = surroundings.clock.wall();
    let demands = demanded::demands(&place.parsed.project, &place.root, &programs, order, now);
    let ground = Rc::new(RefCell::new(Ground {
        facts: Facts::new(format!("pilote {}", env!("CARGO_PKG_VERSION"))),
        demands,
        source: source(args, place, &cache, &programs, surroundings)?,
    }));
    if let Some(path) = &args.facts {
        ground.borrow_mut().facts = read_facts(&surroundings.folder.join(path))?;
    }
    show::title(&ground.borrow().facts, args.facts.is_some(), printer);
    let mut rungs = rungs(args, place, &programs, &cache, &ground, surroundings, printer);
    let from = after.and_then(|after| after.rung);
    if let (Some(from), Some(to)) = (from, to)
        && to < from
    {
        let (from, to) = (from.code(), to.code());
        let error = anyhow!("the trial failed at the rung `{from}`, which stands after `{to}`");
        return Err(Failure::request("after-beyond-to", error).hint("leave out --to, or --after"));
    }
    let how = Climb { from, to, all: args.all };
    let reports = climb(&mut rungs, how, &*surroundings.clock, &mut |report| show::rung(report, printer));
    drop(rungs);
    let mut ground = ground.borrow_mut();
    let check = climbed(args, place, how, reports, now, &mut ground);
    let record = if args.facts.is_none() { Some(keep(&place.root, &check)?) } else { None };
    if let Some(path) = &args.keep_facts {
        keep_facts(&surroundings.folder.join(path), &ground.facts)?;
    }
    end(args, &check, record, after, Some(&ground.facts), &place.root, surroundings, printer)?;
    Ok(Exit::of_verdict(check.passed))
}

fn climbed(
    args: &args::Check,
    place: &Place,
    how: Climb,
    rungs: Vec<RungReport>,
    checked: Stamp,
    ground: &mut Ground<'_>,
) -> Check {
    let identity = args.facts.is_none().then(|| {
        ground.identify();
        Identity::of(&ground.facts)
    });
    Check {
        format: CHECK_FORMAT.to_owned(),
        checked,
        identity,
        program: surroundings::program(),
        config: place.parsed.digest,
        from: how.from,
        to: how.to,
        passed: passes(&rungs),
        rungs,
    }
}

fn source<'a>(
    args: &args::Check,
    place: &'a Place,
    cache: &'a Path,
    programs: &'a Guarded,
    surroundings: &'a Surroundings,
) -> Result<Source<'a>, Failure> {
    if args.facts.is_some() {
        return Ok(Source::File);
    }
    Ok(Source::Here(Box::new(here(&place.root, cache, programs, surroundings)?)))
}

fn here<'a>(
    root: &'a Path,
    cache: &'a Path,
    programs: &'a Guarded,
    surroundings: &'a Surroundings,
) -> Result<Here<'a>, Failure> {
    Ok(Here {
        // Tests put the files of another machine below a folder of their own.
        machine: PathBuf::from(surroundings.variable("PILOTE_MACHINE_ROOT").unwrap_or("/")),
        look: probe::look().map_err(|error| Failure::machine("probe", error))?,
        programs,
        clock: &*surroundings.clock,
        root,
        cache,
    })
}

/// Which machine this is, with its cards, as [`pilote_machine::record::standing`] compares it.
///
/// # Errors
/// When no program can be started.
pub(crate) fn identity(place: &Place, surroundings: &Surroundings) -> Result<Identity, Failure> {
    let programs = guarded(Some(&place.parsed.project), &place.root, surroundings)?;
    let cache = surroundings.model_cache(None)?;
    let demands =
        demanded::demands(&place.parsed.project, &place.root, &programs, None, surroundings.clock.wall());
    let source = Source::Here(Box::new(here(&place.root, &cache, &programs, surroundings)?));
    let mut ground = Ground { facts: Facts::new(String::new()), demands, source };
    ground.identify();
    Ok(Identity::of(&ground.facts))
}

/// Every rung in order: by facts, and with the engine.
fn rungs<'a>(
    args: &args::Check,
    place: &'a Place,
    programs: &'a Guarded,
    cache: &'a Path,
    ground: &Rc<RefCell<Ground<'a>>>,
    surroundings: &'a Surroundings,
    printer: &'a Printer,
) -> Vec<Box<dyn Rung + 'a>> {
    let engine = Rc::new(engines::Bench::new(place, cache, surroundings, printer));
    let alone = args.facts.is_some();
    RungCode::ALL
        .iter()
        .map(|code| -> Box<dyn Rung + 'a> {
            match code {
                RungCode::Project | RungCode::Model | RungCode::Engine | RungCode::Items if alone => {
                    Box::new(Alone(*code))
                }
                RungCode::Project => {
                    let project = Some(&place.parsed.project);
                    Box::new(folder::FolderRung { root: &place.root, project, faults: &[], programs })
                }
                RungCode::Model | RungCode::Engine | RungCode::Items => {
                    Box::new(engines::EngineRung { code: *code, bench: Rc::clone(&engine) })
                }
                code => Box::new(FactRung { code: *code, ground: Rc::clone(ground) }),
            }
        })
        .collect()
}

/// A rung that facts of a file say nothing of.
struct Alone(RungCode);

impl Rung for Alone {
    fn code(&self) -> RungCode {
        self.0
    }

    fn judge(&mut self) -> Judgement {
        Judgement::NotSeen
    }
}

fn read_facts(path: &Path) -> Result<Facts, Failure> {
    let text = fs_err::read_to_string(path).map_err(|error| Failure::request("facts", error))?;
    Facts::parse(&text, &path.display().to_string()).map_err(|error| Failure::request("facts", error))
}

fn keep_facts(path: &Path, facts: &Facts) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(facts).map_err(|error| Failure::machine("facts", error))?;
    fs_err::write(path, text + "\n").map_err(|error| Failure::request("facts", error))
}

/// Keeps the climb in the project.
fn keep(root: &Path, check: &Check) -> Result<PathBuf, Failure> {
    let name = format!("{:013}", check.checked.0);
    pilote_machine::record::keep(root, &name, check).map_err(|error| Failure::machine("ladder-record", error))
}

/// Says what the climb came to, writes the page, prints the object.
#[expect(clippy::too_many_arguments, reason = "everything that a climb came to")]
fn end(
    args: &args::Check,
    check: &Check,
    record: Option<PathBuf>,
    after: Option<&trial::FirstError>,
    facts: Option<&Facts>,
    root: &Path,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<(), Failure> {
    show::end(check, record.as_deref(), printer);
    if let Some(path) = &args.page {
        let path = surroundings.folder.join(path);
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        fs_err::write(&path, page::page(&name, check, printer))
            .map_err(|error| Failure::request("page", error))?;
        printer.line(&printer.texts.get("check-page-written", &[("path", &path.display().to_string())]));
    }
    printer.object(&CheckJson {
        check,
        project: root.display().to_string(),
        record: record.map(|path| path.display().to_string()),
        after,
        facts,
    });
    Ok(())
}
