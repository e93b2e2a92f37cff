//! `pilote run` and `pilote retry`: a trial from its launch to its balance, its copy and its report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_conduct::{Conductor, EndReason, Launch, News, Preview, Progress, RunEnd, Settings};
use pilote_engine::EngineFault;
use pilote_ledger::{NoFailpoint, ProcessLiveness};
use pilote_machine::causes::recognise;
use pilote_proof::Exported;
use pilote_spec::{
    Balance, Clock, Criterion, Item, ItemId, MachineFacts, ProgramFacts, ResultLine, Since, TrialKind,
};
use pilote_text::Texts;
use serde::Serialize;

use super::detach::{self, Announcement};
use super::unlock::owner;
use super::{check, deadline, engine, export, gate, log, show};
use crate::args;
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::progress::{Meter, Pace};
use crate::surroundings::{self, Surroundings};

/// Identifiers of a list that are shown.
const NAMES_SHOWN: usize = 5;

#[derive(Serialize)]
struct RunJson<'a> {
    format: &'static str,
    trial: String,
    ended: &'static str,
    balance: Option<&'a Balance>,
    criteria: &'a [Criterion],
    holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<&'a EngineFault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

#[derive(Serialize)]
struct DryJson<'a> {
    format: &'static str,
    project: String,
    items: u64,
    batches: u64,
    faults: &'a [FaultJson],
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<pilote_proof::Gate>,
}

#[derive(Serialize)]
struct GateJson {
    format: &'static str,
    gate: Option<pilote_proof::Gate>,
}

#[derive(Serialize)]
struct FaultJson {
    position: u64,
    code: pilote_spec::FaultCode,
}

/// A trial to work on: a new one, one to take up, or one whose refusals are asked again.
pub(crate) enum Task<'a> {
    /// A new pilot.
    New { limit: Option<u64>, since: Option<&'a Path> },
    /// A campaign, which rests on this pilot.
    Campaign { limit: Option<u64>, since: Option<&'a Path>, pilot: &'a pilote_spec::Trial },
    /// The trial in this directory is taken up.
    Resume(&'a Path),
    /// What the trial in this directory refused for a reason is asked again.
    Retry(&'a Path, pilote_spec::Reason),
}

/// How a trial is worked on.
#[derive(Default)]
pub(crate) struct Manner<'a> {
    /// Where models are kept, where the command line says so.
    pub(crate) cache: Option<&'a Path>,
    /// Tells the process that started this one where the trial is.
    pub(crate) announcement: Option<Announcement>,
}

/// What a trial came to, from its directory and, where one was made, from its copy.
pub(crate) struct Came {
    /// How the conductor ended.
    pub(crate) end: RunEnd,
    /// The account over all items.
    pub(crate) balance: Option<Balance>,
    /// What it rests on.
    pub(crate) criteria: Vec<Criterion>,
    /// The copy that was read again.
    pub(crate) copy: Option<Exported>,
    /// The report.
    pub(crate) report: Option<PathBuf>,
}

impl Came {
    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        match self.end.exit() {
            0 => Exit::of_verdict(self.holds()),
            3 => Exit::Machine,
            _ => Exit::Stopped,
        }
    }

    fn holds(&self) -> bool {
        let copy_holds = self.copy.as_ref().is_none_or(|copy| copy.verification.holds);
        copy_holds && self.balance.as_ref().is_some_and(|balance| balance.holds)
    }
}

/// Runs the pilot of a project.
///
/// # Errors
/// When the project or the request is wrong, or the machine fails before the first batch.
pub(crate) fn run(args: &args::Run, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    if args.detach {
        let root = match &args.resume {
            Some(resume) => project_root(args, &place::trial(surroundings, resume)?, surroundings)?,
            None => Place::find(surroundings, args.project.as_deref())?.root,
        };
        return detach::detach(&root, surroundings, printer);
    }
    let announcement = args.detached_log.as_deref().map(Announcement::begin).transpose()?;
    let manner = Manner { cache: args.cache.as_deref(), announcement };
    if let Some(until) = &args.until {
        let at = deadline::parse(until, surroundings.clock.wall())?;
        deadline::watch(at, surroundings.clock.clone(), Arc::clone(&surroundings.interrupt));
    }
    if let Some(resume) = &args.resume {
        let trial = place::trial(surroundings, resume)?;
        let place = Place::find(surroundings, Some(&project_root(args, &trial, surroundings)?))?;
        return finish(&place, &Task::Resume(&trial), &manner, surroundings, printer);
    }
    let place = Place::find(surroundings, args.project.as_deref())?;
    if args.dry_run {
        return dry_run(&place, args, surroundings, printer);
    }
    let since = args.since.as_deref().map(|run| place::trial(surroundings, run)).transpose()?;
    let since = since.as_deref();
    if args.campaign {
        let pilot = gate::pass(&place, surroundings, printer)?;
        let task = Task::Campaign { limit: args.limit, since, pilot: &pilot };
        return finish(&place, &task, &manner, surroundings, printer);
    }
    finish(&place, &Task::New { limit: args.limit, since }, &manner, surroundings, printer)
}

/// Asks again what a trial refused for one reason, in a new trial.
///
/// # Errors
/// As [`run`]; also when there is nothing to retry.
pub(crate) fn retry(
    args: &args::Retry,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    let root = place::project_of(&trial).ok_or_else(|| not_in_a_project(&trial))?;
    let place = Place::find(surroundings, Some(&root))?;
    let reason = args.refused.parse().map_err(|_| {
        Failure::request("no-such-reason", anyhow::anyhow!("`{}` is no reason of refusal", args.refused))
            .hint("refused.jsonl of the trial names the reasons")
    })?;
    let manner = Manner { cache: args.cache.as_deref(), ..Manner::default() };
    finish(&place, &Task::Retry(&trial, reason), &manner, surroundings, printer)
}

/// The project of a trial that is taken up.
fn project_root(args: &args::Run, trial: &Path, surroundings: &Surroundings) -> Result<PathBuf, Failure> {
    let root = args.project.as_ref().map(|project| surroundings.folder.join(project));
    root.or_else(|| place::project_of(trial)).ok_or_else(|| not_in_a_project(trial))
}

fn not_in_a_project(trial: &Path) -> Failure {
    let error = anyhow::anyhow!("{} lies in no project's runs/", trial.display());
    Failure::request("no-project", error)
        .hint("only a trial in its project can be taken up; a copy can be verified")
}

/// Works, then shows what came out.
fn finish(
    place: &Place,
    task: &Task<'_>,
    manner: &Manner<'_>,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let came = work(place, task, manner, surroundings, printer)?;
    show_end(place, task, &came, printer)?;
    printer.object(&RunJson {
        format: "pilote.run/1",
        trial: came.end.trial.display().to_string(),
        ended: came.end.why.as_str(),
        balance: came.balance.as_ref(),
        criteria: &came.criteria,
        holds: came.holds(),
        first_error: came.end.first_fault.as_ref(),
        cause: came.end.first_fault.as_ref().and_then(|fault| recognise(&fault.first_error)),
        copy: came.copy.as_ref().map(|copy| copy.copy.display().to_string()),
        report: came.report.as_ref().map(|report| report.display().to_string()),
    });
    Ok(came.exit())
}

/// Conducts the trial; one that is done is collected, copied where the project says so, and reported.
///
/// # Errors
/// As [`run`].
pub(crate) fn work(
    place: &Place,
    task: &Task<'_>,
    manner: &Manner<'_>,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Came, Failure> {
    let end = conduct(place, task, manner, surroundings, printer)?;
    let trial = end.trial.clone();
    if end.why != EndReason::Done {
        // A trial that never came to its first batch has nothing to count.
        let account = pilote_proof::account(&trial).ok();
        let (balance, criteria) = account.map(|account| (account.balance, account.criteria)).unzip();
        return Ok(Came { end, balance, criteria: criteria.unwrap_or_default(), copy: None, report: None });
    }
    pilote_proof::keep_pins(&place.root, &trial)?;
    let collected = pilote_proof::collect(&trial)?.balance;
    let (mut balance, mut criteria) = (collected.balance, collected.criteria);
    let report = trial.join("report.html");
    let write_report = || {
        let ladder = check::page::before(&place.root, &trial, &printer.texts);
        let html = pilote_proof::report(&trial, Some(&place.root), ladder.as_ref(), &printer.texts)?;
        pilote_proof::write_report(&report, &html)
    };
    let copy = match &place.parsed.project.destination {
        Some(destination) => {
            // The copy carries the report; the trial's own is written again, since it speaks of the copy.
            write_report()?;
            let destination = place::destination(surroundings, &place.root, Path::new(destination))?;
            Some(export::copy(&trial, &destination, export::Wish::default(), surroundings, printer)?)
        }
        None => None,
    };
    if let Some(copy) = &copy
        && let Some(read_again) = &copy.verification.balance
    {
        (balance, criteria) = (read_again.clone(), copy.verification.criteria.clone());
    }
    write_report()?;
    Ok(Came { end, balance: Some(balance), criteria, copy, report: Some(report) })
}

fn conduct(
    place: &Place,
    task: &Task<'_>,
    manner: &Manner<'_>,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<RunEnd, Failure> {
    let cache = surroundings.model_cache(manner.cache)?;
    let machine: MachineFacts = pilote_machine::facts(Path::new("/"));
    let program: ProgramFacts = surroundings::program();
    let environment = environment::facts(&place.root, surroundings);
    let launch = Launch {
        root: &place.root,
        project: &place.parsed.project,
        config: place.parsed.digest,
        program: &program,
        machine: &machine,
        environment: Some(&environment),
    };
    let owner = owner(surroundings)?;
    for name in engine::secrets(&place.parsed.project) {
        if surroundings.variable(&name).is_none() {
            printer.say(&printer.texts.get("run-secret-unset", &[("name", &name)]));
        }
    }
    surroundings.heed_interrupts()?;
    let meter = Meter::new(printer, surroundings.clock.clone());
    let pace = Pace::from(0, surroundings.clock.monotonic());
    let announcement = manner.announcement.as_ref();
    let trial = if let Task::Resume(trial) = task { Some(trial.to_path_buf()) } else { None };
    let clock = &*surroundings.clock;
    let mut progress = Shown { meter, printer, project: &place.root, clock, pace, announcement, trial };
    let mut engine = || {
        let engine = engine::start(place, &cache, surroundings, printer)?;
        match task {
            Task::Campaign { pilot, .. } => gate::same_engine(pilot, engine),
            _ => Ok(engine),
        }
    };
    let mut conductor = Conductor {
        clock: &*surroundings.clock,
        liveness: Arc::new(ProcessLiveness::new(owner.clone())),
        owner,
        interrupt: &surroundings.interrupt,
        progress: &mut progress,
        engine: &mut engine,
        settings: Settings::default(),
        on_step: &pilote_conduct::no_step,
        failpoint: Arc::new(NoFailpoint),
    };
    let mut begin = |kind, limit, since: Option<&Path>| match since {
        Some(earlier) => conductor.since(&launch, kind, limit, earlier),
        None => conductor.run(&launch, kind, limit),
    };
    Ok(match task {
        Task::New { limit, since } => begin(TrialKind::Pilot, *limit, *since),
        Task::Campaign { limit, since, .. } => begin(TrialKind::Campaign, *limit, *since),
        Task::Resume(trial) => conductor.resume(&launch, trial),
        Task::Retry(trial, reason) => conductor.retry(&launch, trial, *reason),
    }?)
}

/// What a launch would begin with, without writing anything.
fn dry_run(
    place: &Place,
    args: &args::Run,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let gate = args.campaign.then(|| gate::judge(place, surroundings)).transpose()?;
    for line in gate.iter().flat_map(|gate| gate::lines(gate, printer)) {
        printer.line(&line);
    }
    let open = gate.as_ref().is_none_or(|gate| gate.open);
    if let Some(command) = gate.as_ref().and_then(|gate| gate.lacking()?.command.clone()) {
        printer.line(&printer.texts.get("gate-next", &[("command", &command)]));
    }
    // Where no campaign is declared there is nothing to index.
    let declared = !args.campaign || place.parsed.project.campaign.is_some();
    if !declared {
        printer.object(&GateJson { format: "pilote.gate/1", gate });
        return Ok(Exit::Fails);
    }
    let kind = if args.campaign { TrialKind::Campaign } else { TrialKind::Pilot };
    let (program, machine) = (surroundings::program(), MachineFacts::default());
    let launch = Launch {
        root: &place.root,
        project: &place.parsed.project,
        config: place.parsed.digest,
        program: &program,
        machine: &machine,
        environment: None,
    };
    let settings = Settings::default();
    let preview = pilote_conduct::preview(&launch, kind, args.limit, &settings, &mut pilote_conduct::Silent)?;
    let Preview { items, faults, batches, .. } = preview;
    let parts = items.div_ceil(settings.part_items);
    let [all, refused, groups, slices] = [items, faults.len() as u64, batches, parts].map(|n| n.to_string());
    let figures = [("items", &*all), ("faults", &*refused), ("batches", &*groups), ("parts", &*slices)];
    printer.line(&printer.texts.get("run-dry-plan", &figures));
    let faults: Vec<FaultJson> =
        faults.into_iter().map(|(position, code)| FaultJson { position: position.0, code }).collect();
    let project = place.root.display().to_string();
    printer.object(&DryJson { format: "pilote.dry-run/1", project, items, batches, faults: &faults, gate });
    Ok(Exit::of_verdict(open))
}

/// Prints what a trial came to.
///
/// # Errors
/// When its results cannot be read.
pub(crate) fn show_end(
    place: &Place,
    task: &Task<'_>,
    came: &Came,
    printer: &Printer,
) -> Result<(), Failure> {
    let trial = came.end.trial.display().to_string();
    let texts = &printer.texts;
    printer.line(&texts.get("run-trial", &[("trial", &trial)]));
    printer.line("");
    if let Some(balance) = &came.balance {
        show::balance(printer, balance, &came.criteria);
    }
    if let Some(report) = &came.report {
        show::refusals(printer, &came.end.trial)?;
        let kind = pilote_proof::summary(&came.end.trial).kind;
        show::results(printer, &came.end.trial, |line| start_of(place, kind, line))?;
        match &came.copy {
            Some(copy) => export::say(copy, printer),
            None => printer.line(&format!("\n{}", texts.get("run-no-copy", &[("trial", &trial)]))),
        }
        printer.line(&texts.get("run-report", &[("report", &report.display().to_string())]));
    }
    if let Some(resolution) = pilote_proof::resolution_of(&place.root, &came.end.trial)? {
        printer.line(&log::sentence(&resolution, printer));
    }
    if let Task::New { limit: Some(limit), .. } | Task::Campaign { limit: Some(limit), .. } = task {
        printer.line(&texts.get("run-limited", &[("limit", &limit.to_string())]));
    }
    let error = came.end.error.as_ref().map(ToString::to_string);
    let error = error.or_else(|| came.end.first_fault.as_ref().map(ToString::to_string)).unwrap_or_default();
    let said = match came.end.why {
        EndReason::Done => return Ok(()),
        EndReason::Interrupted => "run-stopped-interrupted",
        EndReason::Breaker => "run-stopped-breaker",
        EndReason::RefusedMax => "run-stopped-refused-max",
        EndReason::Guard => "run-stopped-guard",
        EndReason::EngineStart => "run-engine-start",
        EndReason::Fault | EndReason::WriteError => "run-stopped-fault",
    };
    printer.line(&texts.get(said, &[("trial", &trial), ("error", &error)]));
    let Some(fault) = &came.end.first_fault else { return Ok(()) };
    for line in check::show::cause_lines(recognise(&fault.first_error), texts) {
        printer.line(&line);
    }
    if let Some(advice) = &fault.advice {
        printer.line(&format!("hint: {advice}"));
    }
    // What stopped a trial on purpose is no failure of the machine, and no rung looks at it.
    if came.end.why == EndReason::EngineStart || came.end.why == EndReason::Breaker {
        let name = came.end.trial.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        printer.line(&texts.get("run-after", &[("trial", &name)]));
    }
    Ok(())
}

/// The text of an input, to stand beside its result.
fn start_of(place: &Place, kind: Option<TrialKind>, line: &ResultLine) -> Option<String> {
    let project = &place.parsed.project;
    let inputs = match kind? {
        TrialKind::Pilot => &project.pilot.inputs,
        TrialKind::Campaign => &project.campaign.as_ref()?.inputs,
    };
    let source = pilote_corpus::Source::new(&place.root, inputs, &project.limits, project.duplicates);
    let pilote_spec::Inputs::Directory { .. } = inputs else { return None };
    let item = Item {
        position: line.position,
        id: Some(line.id.clone()),
        digest: Some(line.sha256),
        bytes: 0,
        chars: 0,
        location: pilote_spec::Location::File { path: line.id.0.clone(), raw: false },
        columns: pilote_spec::Columns::new(),
        fault: None,
    };
    pilote_corpus::read(&source, &item).ok()
}

/// What is taken over from an earlier trial, in words.
fn since_lines(texts: &Texts, since: &Since) -> Vec<String> {
    let (same, asked) = (texts.number(since.taken_over), texts.number(since.asked));
    let figures = [("trial", &*since.trial), ("same", &*same), ("asked", &*asked)];
    let mut lines = vec![texts.get("run-since", &figures)];
    for (key, names) in [("run-since-changed", &since.changed), ("run-since-removed", &since.removed)] {
        if names.count > 0 {
            let shown: Vec<&str> = names.names.iter().take(NAMES_SHOWN).map(ItemId::as_str).collect();
            let count = texts.number(names.count);
            let more = if names.count as usize > shown.len() { ", ..." } else { "" };
            let names = format!("{}{more}", shown.join(", "));
            lines.push(texts.get(key, &[("count", &count), ("names", &names)]));
        }
    }
    lines
}

/// Shows what the conductor tells.
struct Shown<'p> {
    meter: Meter,
    printer: &'p Printer,
    project: &'p Path,
    clock: &'p dyn Clock,
    pace: Pace,
    announcement: Option<&'p Announcement>,
    /// The trial's directory, once it is known.
    trial: Option<PathBuf>,
}

impl Progress for Shown<'_> {
    fn report(&mut self, news: News<'_>) {
        let texts = &self.printer.texts;
        match news {
            News::Durable { accepted, refused, declared } => {
                self.pace.add(self.clock.monotonic(), accepted + refused);
                let what = texts.get("run-progress", &[]);
                let figures = self.pace.figures(texts, declared, refused);
                self.meter.show(&what, accepted + refused, declared, &figures);
            }
            News::TakenUp { accepted, refused, pending } => {
                self.pace = Pace::from(accepted + refused, self.clock.monotonic());
                let (done, pending) = ((accepted + refused).to_string(), pending.to_string());
                self.printer.say(&texts.get("run-carried", &[("done", &done), ("pending", &pending)]));
            }
            News::Since { since } => {
                for line in since_lines(texts, since) {
                    self.printer.say(&line);
                }
            }
            News::Launched { trial } => {
                // Before anything is computed, so that what the project declares later changes nothing. Should it
                // fail, it is tried and told again at the end.
                let _ = pilote_proof::keep_pins(self.project, trial);
            }
            News::DeviceHeld { holder } => {
                let (pid, devices) = (holder.pid.to_string(), holder.devices.join(", "));
                let args = [("pid", &*pid), ("name", &*holder.name), ("devices", &*devices)];
                self.printer.say(&texts.get("run-device-held", &args));
            }
            News::EngineFailed { fault, .. } => self.printer.say(&format!("engine: {fault}")),
            News::Opened { trial } => self.trial = Some(trial.to_owned()),
            News::EngineStarting => {
                if let (Some(announcement), Some(trial)) = (self.announcement, &self.trial) {
                    announcement.say(trial);
                }
            }
            News::Indexing { .. }
            | News::EngineReady { .. }
            | News::Sealed { .. }
            | News::EngineAgain { .. }
            | News::Interrupted => {}
        }
    }
}
