//! Conducting a trial in this process: what the conductor needs of the machine, and what of its news is shown.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pilote_conduct::{Conductor, EndReason, Launch, News, Progress, RunEnd, Settings};
use pilote_ledger::{NoFailpoint, ProcessLiveness};
use pilote_proof::TrialState;
use pilote_spec::{Clock, ItemId, MachineFacts, ProgramFacts, Project, Since, TrialKind};
use pilote_text::Texts;

use super::crew::{self, Crew, Share};
use super::detach::Announcement;
use super::run::{Manner, Task};
use super::unlock::owner;
use super::{engine, gate};
use crate::environment;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::{Meter, Pace};
use crate::surroundings::{self, Surroundings};

/// Conducts one trial to its end in this process, with the workers beside it.
///
/// # Errors
/// As [`super::run::run`].
pub(crate) fn conduct(
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
    let mut shown = Shown::new(place, manner, task, &cache, surroundings, printer);
    let own = manner.shares.first().cloned().unwrap_or_default();
    let mut engine = || {
        let engine = engine::start(place, &own, &cache, surroundings, printer)?;
        match task {
            Task::Campaign { pilot, .. } => gate::same_engine(pilot, engine),
            _ => Ok(engine),
        }
    };
    // A trial that is taken up keeps its own sizes.
    let kind = if let Task::Campaign { .. } = task { TrialKind::Campaign } else { TrialKind::Pilot };
    let shared = manner.shares.len() > 1 || matches!(task, Task::Join(_));
    let mut conductor = Conductor {
        clock: &*surroundings.clock,
        liveness: Arc::new(ProcessLiveness::new(owner.clone())),
        owner,
        devices: own.devices.clone(),
        interrupt: &surroundings.interrupt,
        progress: &mut shown,
        engine: &mut engine,
        settings: Settings { shared, ..settings(&place.parsed.project, kind) },
        on_step: &pilote_conduct::no_step,
        failpoint: Arc::new(NoFailpoint),
    };
    let mut begin = |kind, limit, since: Option<&Path>| match since {
        Some(earlier) => conductor.since(&launch, kind, limit, earlier),
        None => conductor.run(&launch, kind, limit),
    };
    let ended = match task {
        Task::New { limit, since } => begin(TrialKind::Pilot, *limit, *since),
        Task::Campaign { limit, since, .. } => begin(TrialKind::Campaign, *limit, *since),
        Task::Resume(trial) => conductor.resume(&launch, trial),
        Task::Join(trial) => conductor.join(&launch, trial),
        Task::Retry(trial, reason) => conductor.retry(&launch, trial, *reason),
    };
    with_others(ended.map_err(Failure::from), shown.crew, surroundings, printer)
}

/// How the trial ended when the workers beside the first have ended as well. They are asked to stop where the first
/// one did; where only it failed, the others do what is left.
fn with_others(
    ended: Result<RunEnd, Failure>,
    crew: Option<Crew>,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<RunEnd, Failure> {
    let Some(mut crew) = crew else { return ended };
    let goes_on = |end: &RunEnd| matches!(end.why, EndReason::Done | EndReason::Breaker | EndReason::Fault);
    if !ended.as_ref().is_ok_and(goes_on) {
        crew.stop();
    }
    crew.finish(&*surroundings.clock, &surroundings.interrupt, printer);
    let mut end = ended?;
    let all_sealed = || pilote_proof::summary(&end.trial).state == TrialState::Sealed;
    if end.why != EndReason::Done && all_sealed() {
        end.why = EndReason::Done;
    }
    Ok(end)
}

/// Sizes of a new trial of this project.
pub(crate) fn settings(project: &Project, kind: TrialKind) -> Settings {
    let campaign = project.campaign.as_ref().filter(|_| kind == TrialKind::Campaign);
    let count = campaign.map_or(project.pilot.count, |campaign| campaign.count);
    let part_items = crew::part_items(count, u64::from(project.engine.batch_items()));
    Settings { part_items, ..Settings::default() }
}

/// Identifiers of a list that are shown.
const NAMES_SHOWN: usize = 5;

/// What is taken over from an earlier trial, in words.
fn since_lines(texts: &Texts, since: &Since) -> Vec<String> {
    let (same, asked) = (texts.number(since.taken_over), texts.number(since.asked));
    let figures = [("trial", &*since.trial), ("same", &*same), ("asked", &*asked)];
    let mut lines = vec![texts.get("run-since", &figures)];
    for (key, names) in [("run-since-changed", &since.changed), ("run-since-removed", &since.removed)] {
        if names.count > 0 {
            let shown: Vec<&str> = names.names.iter().take(NAMES_SHOWN).map(ItemId::as_str).collect();
            let count = texts.number(names.count);
            let more = if names.count > shown.len() as u64 { ", ..." } else { "" };
            let names = format!("{}{more}", shown.join(", "));
            lines.push(texts.get(key, &[("count", &count), ("names", &names)]));
        }
    }
    lines
}

/// How often it is looked how far the others are.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Shows what the conductor tells, and starts the workers beside this one once there is something to work on.
struct Shown<'p> {
    meter: Meter,
    printer: &'p Printer,
    project: &'p Path,
    cache: &'p Path,
    surroundings: &'p Surroundings,
    pace: Pace,
    announcement: Option<&'p Announcement>,
    /// The trial's directory, once it is known.
    trial: Option<PathBuf>,
    /// Whether others launched it.
    joins: bool,
    /// What the workers beside this one have to themselves.
    others: &'p [Share],
    /// They themselves, once they are started.
    crew: Option<Crew>,
    /// When it was last looked how far they are.
    looked: Duration,
}

impl<'p> Shown<'p> {
    fn new(
        place: &'p Place,
        manner: &'p Manner<'_>,
        task: &Task<'_>,
        cache: &'p Path,
        surroundings: &'p Surroundings,
        printer: &'p Printer,
    ) -> Self {
        let now = surroundings.clock.monotonic();
        let trial = match task {
            Task::Resume(trial) | Task::Join(trial) => Some(trial.to_path_buf()),
            _ => None,
        };
        Self {
            meter: Meter::new(printer, surroundings.clock.clone()),
            printer,
            project: &place.root,
            cache,
            surroundings,
            pace: Pace::from(0, now),
            announcement: manner.announcement.as_ref(),
            trial,
            joins: matches!(task, Task::Join(_)),
            others: manner.shares.get(1..).unwrap_or_default(),
            crew: None,
            looked: now,
        }
    }

    /// Starts the others. Where one cannot be started the trial goes on with less.
    fn start_crew(&mut self) {
        let Some(trial) = self.trial.clone().filter(|_| !self.others.is_empty() && self.crew.is_none())
        else {
            return;
        };
        let (crew, failure) = Crew::start(&trial, self.project, self.cache, self.others);
        self.crew = Some(crew);
        if let Some(failure) = failure {
            self.printer.say(&failure.for_people());
        }
    }

    fn durable(&mut self, done: u64, refused: u64, declared: u64) {
        let now = self.surroundings.clock.monotonic();
        let texts = &self.printer.texts;
        let (mut done, mut refused, mut beside) = (done, refused, String::new());
        if let Some(crew) = &mut self.crew {
            if now.saturating_sub(self.looked) < LOOK_EVERY {
                return;
            }
            self.looked = now;
            let writers = self.trial.as_deref().and_then(|trial| pilote_proof::writers(trial).ok());
            let writers = writers.unwrap_or_default();
            let together = pilote_proof::together(&writers);
            (done, refused) = (done.max(together.done), refused.max(together.refused));
            let workers = (1 + crew.at_work()).to_string();
            beside = format!("{} · ", texts.get("crew-workers", &[("workers", &workers)]));
            // A guard of one speaks for all: nothing more is to be computed.
            if writers.iter().any(|writer| writer.ended.as_deref().is_some_and(stops_all)) {
                self.surroundings.interrupt.store(true, Ordering::Relaxed);
            }
        }
        self.pace.add(now, done);
        let what = texts.get("run-progress", &[]);
        let figures = format!("{beside}{}", self.pace.figures(texts, declared, refused));
        self.meter.show(&what, done, declared, &figures);
    }
}

/// Whether the end of one worker for this reason ends the trial.
fn stops_all(why: &str) -> bool {
    [EndReason::Guard, EndReason::RefusedMax].iter().any(|reason| reason.as_str() == why)
}

impl Progress for Shown<'_> {
    fn report(&mut self, news: News<'_>) {
        let texts = &self.printer.texts;
        match news {
            News::Durable { accepted, refused, declared } => {
                self.durable(accepted + refused, refused, declared);
            }
            News::TakenUp { accepted, refused, pending } => {
                self.pace = Pace::from(accepted + refused, self.surroundings.clock.monotonic());
                // Beside others it says nothing of what was done: that is told where it was launched.
                if !self.joins {
                    let (done, left) = ((accepted + refused).to_string(), pending.to_string());
                    self.printer.say(&texts.get("run-carried", &[("done", &done), ("pending", &left)]));
                }
                if pending > 0 {
                    self.start_crew();
                }
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
                self.start_crew();
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
            News::Interrupted => {
                if let Some(crew) = &mut self.crew {
                    crew.stop();
                }
            }
            News::Indexing { .. }
            | News::EngineReady { .. }
            | News::Sealed { .. }
            | News::EngineAgain { .. } => {}
        }
    }
}
