//! `pilote run` and `pilote retry`: a trial from its launch to its balance, its copy and its report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_conduct::{EndReason, Launch, Preview, RunEnd};
use pilote_engine::EngineFault;
use pilote_machine::causes::recognise;
use pilote_proof::{Exported, TrialState};
use pilote_spec::{Balance, Clock, Criterion, Item, MachineFacts, ResultLine, TrialKind};
use serde::Serialize;

use super::conduct::{self, conduct};
use super::crew::{self, Share};
use super::detach::{self, Announcement};
use super::{check, deadline, export, gate, log, show};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::surroundings::{self, Surroundings};

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
struct WorkJson<'a> {
    format: &'static str,
    trial: String,
    ended: &'static str,
    /// Items that got their outcome here.
    items: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<&'a EngineFault>,
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
    /// The trial in this directory is worked on beside others.
    Join(&'a Path),
    /// What the trial in this directory refused for a reason is asked again.
    Retry(&'a Path, pilote_spec::Reason),
}

/// How a trial is worked on.
#[derive(Default)]
pub(crate) struct Manner<'a> {
    /// What each worker has to itself, this process's share first; none is one worker that has everything.
    pub(crate) shares: Vec<Share>,
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
        exit_of(&self.end, self.holds())
    }

    fn holds(&self) -> bool {
        let copy_holds = self.copy.as_ref().is_none_or(|copy| copy.verification.holds);
        copy_holds && self.balance.as_ref().is_some_and(|balance| balance.holds)
    }
}

fn exit_of(end: &RunEnd, holds: bool) -> Exit {
    match end.exit() {
        0 => Exit::of_verdict(holds),
        3 => Exit::Machine,
        _ => Exit::Stopped,
    }
}

/// Runs the pilot of a project.
///
/// # Errors
/// When the project or the request is wrong, or the machine fails before the first batch.
pub(crate) fn run(args: &args::Run, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    crew::shares(&args.crew)?;
    if args.detach {
        let root = match &args.resume {
            Some(resume) => {
                project_root(args.project.as_deref(), &place::trial(surroundings, resume)?, surroundings)?
            }
            None => Place::find(surroundings, args.project.as_deref())?.root,
        };
        return detach::detach(&root, surroundings, printer);
    }
    let announcement = args.detached_log.as_deref().map(Announcement::begin).transpose()?;
    let manner = Manner { shares: crew::shares(&args.crew)?, cache: args.cache.as_deref(), announcement };
    if let Some(until) = &args.until {
        let at = deadline::parse(until, surroundings.clock.wall())?;
        deadline::watch(at, surroundings.clock.clone(), Arc::clone(&surroundings.interrupt));
    }
    if let Some(resume) = &args.resume {
        let trial = place::trial(surroundings, resume)?;
        let place =
            Place::find(surroundings, Some(&project_root(args.project.as_deref(), &trial, surroundings)?))?;
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

/// Works on a trial beside others, and gathers nothing: whoever launched it does.
///
/// # Errors
/// When the request is wrong, the trial cannot be worked on as it was launched, or the machine fails before the first
/// batch.
pub(crate) fn join(
    args: &args::Work,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    // A trial that is finished stays as it is, to the byte: decisions and receipts rest on it.
    if matches!(pilote_proof::summary(&trial).state, TrialState::Sealed | TrialState::Collected) {
        show_work(&trial, EndReason::Done, 0, None, printer);
        return Ok(Exit::Holds);
    }
    let root = project_root(args.project.as_deref(), &trial, surroundings)?;
    let place = Place::find(surroundings, Some(&root))?;
    let shares = match args.one_of {
        Some(workers) => {
            crew::heed_leader(Arc::clone(&surroundings.interrupt));
            vec![Share::one_of(workers, args.crew.devices.as_deref())?]
        }
        None => crew::shares(&args.crew)?,
    };
    let manner = Manner { shares, cache: args.cache.as_deref(), announcement: None };
    let end = conduct(&place, &Task::Join(&trial), &manner, surroundings, printer)?;
    say_why(&end, printer);
    let done = end.counts.accepted + end.counts.refused - end.counts.carried_over;
    show_work(&end.trial, end.why, done, end.first_fault.as_ref(), printer);
    Ok(exit_of(&end, true))
}

/// Prints what was done beside others.
fn show_work(trial: &Path, why: EndReason, items: u64, first_error: Option<&EngineFault>, printer: &Printer) {
    let trial = trial.display().to_string();
    if why == EndReason::Done {
        let args = [("trial", &*trial), ("items", &*items.to_string())];
        printer.line(&printer.texts.get("work-done", &args));
    }
    printer.object(&WorkJson { format: "pilote.work/1", trial, ended: why.as_str(), items, first_error });
}

/// The project of a trial that is taken up.
fn project_root(
    project: Option<&Path>,
    trial: &Path,
    surroundings: &Surroundings,
) -> Result<PathBuf, Failure> {
    let root = project.map(|project| surroundings.folder.join(project));
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
    let settings = conduct::settings(&place.parsed.project, kind);
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
    say_why(&came.end, printer);
    Ok(())
}

/// Prints why a trial ended before everything was done.
fn say_why(end: &RunEnd, printer: &Printer) {
    let (trial, texts) = (end.trial.display().to_string(), &printer.texts);
    let error = end.error.as_ref().map(ToString::to_string);
    let error = error.or_else(|| end.first_fault.as_ref().map(ToString::to_string)).unwrap_or_default();
    let said = match end.why {
        EndReason::Done => return,
        EndReason::Interrupted => "run-stopped-interrupted",
        EndReason::Breaker => "run-stopped-breaker",
        EndReason::RefusedMax => "run-stopped-refused-max",
        EndReason::Guard => "run-stopped-guard",
        EndReason::EngineStart => "run-engine-start",
        EndReason::Fault | EndReason::WriteError => "run-stopped-fault",
    };
    printer.line(&texts.get(said, &[("trial", &trial), ("error", &error)]));
    let Some(fault) = &end.first_fault else { return };
    for line in check::show::cause_lines(recognise(&fault.first_error), texts) {
        printer.line(&line);
    }
    if let Some(advice) = &fault.advice {
        printer.line(&format!("hint: {advice}"));
    }
    // What stopped a trial on purpose is no failure of the machine, and no rung looks at it.
    if end.why == EndReason::EngineStart || end.why == EndReason::Breaker {
        let name = end.trial.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        printer.line(&texts.get("run-after", &[("trial", &name)]));
    }
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
