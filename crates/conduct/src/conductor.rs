//! Launching a trial, taking one up again, retrying refusals of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pilote_corpus::index::{CLOSED_KEY, Closing};
use pilote_corpus::{Notes, Source};
use pilote_engine::{Engine, EngineFault, Stop};
use pilote_ledger::{DirStore, Failpoint, Ledger, Liveness, Opened, Owner, PartWriter, Store};
use pilote_spec::{
    Clock, Digest, EnvironmentFacts, MachineFacts, ProgramFacts, Project, Reason, Retries, Stamp,
    TRIAL_FORMAT, Trial, TrialEvent, TrialKind, WriterProcess,
};

use crate::directory;
use crate::drift::{self, Drift};
use crate::error::ConductError;
use crate::guard::probe::{Around, INTERRUPTED, probe};
use crate::guard::{Tally, Watch};
use crate::indexing::{self, Declared, IndexWriter, Preview, create_new, read_closing};
use crate::journal::{Journal, failed};
use crate::news::{EndReason, News, Progress, RunEnd};
use crate::origin::{Means, Origin};
use crate::plan;
use crate::reducer::{Counts, Reducer, Rules};
use crate::room::Room;
use crate::settings::{Settings, Step};
use crate::standing::{self, Standing};
use crate::worker::{Job, Outcomes, WorkEnd, Worker};

/// The key of the file that says what was launched.
const TRIAL_KEY: &str = "trial.json";

/// The project as it is launched, and by what.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The project's directory.
    pub root: &'a Path,
    /// Its configuration, validated.
    pub project: &'a Project,
    /// Digest of the configuration's file as read.
    pub config: Digest,
    /// The program that launches.
    pub program: &'a ProgramFacts,
    /// The machine it runs on.
    pub machine: &'a MachineFacts,
    /// What else around it may change results, where that was read.
    pub environment: Option<&'a EnvironmentFacts>,
}

/// Everything that a trial needs of the world around it.
pub struct Conductor<'c> {
    /// The clock.
    pub clock: &'c dyn Clock,
    /// Who writes.
    pub owner: Owner,
    /// The devices that it was given for itself, where any were; told to who looks from elsewhere.
    pub devices: Vec<String>,
    /// Tells whether other owners are still there.
    pub liveness: Arc<dyn Liveness>,
    /// Set when an orderly stop is asked for.
    pub interrupt: &'c AtomicBool,
    /// Is told what happens.
    pub progress: &'c mut dyn Progress,
    /// Starts the engine; called again when it ended.
    pub engine: &'c mut dyn FnMut() -> Result<Box<dyn Engine>, EngineFault>,
    /// Sizes and patience.
    pub settings: Settings,
    /// Told of each step, so that a test can end the process there; [`no_step`] in the program.
    pub on_step: &'c dyn Fn(Step),
    /// Told of each window of the ledger.
    pub failpoint: Arc<dyn Failpoint>,
}

/// What a launch over the declared inputs would begin with: indexes them without writing anything, and fails as the
/// launch would when their number, identifiers or digests are not as declared.
///
/// # Errors
/// When the launch would not get as far as starting its engine.
pub fn preview(
    launch: &Launch<'_>,
    kind: TrialKind,
    limit: Option<u64>,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Preview, ConductError> {
    let declared = Declared::of(launch.project, kind)?;
    let source = declared.source(launch.root, launch.project);
    declared.check_digests(launch.root, &source)?;
    let (mut faults, mut batches) = (Vec::new(), 0);
    let (items, notes) = indexing::walk(&declared, &source, limit, settings.part_items, progress, |items| {
        faults.extend(items.iter().filter_map(|it| Some((it.position, it.fault.as_ref()?.code))));
        batches +=
            plan::batches(&items, u64::from(launch.project.engine.batch_items()), |_| true).len() as u64;
        Ok(())
    })?;
    Ok(Preview { items, faults, batches, notes })
}

/// A trial that was indexed and has its directory.
struct Indexed {
    dir: PathBuf,
    name: String,
    store: Arc<dyn Store>,
    source: Source,
    closing: Closing,
}

impl Conductor<'_> {
    /// Launches a trial of `kind`, over the first `limit` items where one is given, and works until it ends.
    ///
    /// # Errors
    /// When inputs or request are wrong, or the machine fails before the first batch. What stops a trial later is in
    /// [`RunEnd`].
    pub fn run(
        &mut self,
        launch: &Launch<'_>,
        kind: TrialKind,
        limit: Option<u64>,
    ) -> Result<RunEnd, ConductError> {
        self.launch(launch, kind, limit, None)
    }

    /// Launches a trial over the inputs of the finished trial in `dir`, with its outcomes except for the items that
    /// were refused for `reason` or whose content changed: those are asked again.
    ///
    /// # Errors
    /// As [`Conductor::run`]; also when that trial is not finished, has no such refusal, or had other parameters.
    pub fn retry(&mut self, launch: &Launch<'_>, dir: &Path, reason: Reason) -> Result<RunEnd, ConductError> {
        let origin = Origin::open(dir, reason)?;
        let changes = drift::project(&origin.trial.project, launch.project, origin.trial.kind);
        if !changes.is_empty() {
            return Err(ConductError::Drift { changes });
        }
        origin.check()?;
        let (kind, limit) = (origin.trial.kind, origin.trial.limit);
        // What is carried over is found part by part.
        self.settings.part_items = origin.trial.part_items;
        self.launch(launch, kind, limit, Some(&origin))
    }

    /// Launches a trial of `kind` over inputs of which the finished trial in `dir` knew a part: the outcomes of items that
    /// are the same, by identifier and content, are taken over, and the others are asked.
    ///
    /// # Errors
    /// As [`Conductor::run`]; also when that trial is not finished, is of another kind, or had other parameters.
    pub fn since(
        &mut self,
        launch: &Launch<'_>,
        kind: TrialKind,
        limit: Option<u64>,
        dir: &Path,
    ) -> Result<RunEnd, ConductError> {
        let trial = read_trial(dir)?;
        let mut changes = drift::project_beside_corpus(&trial.project, launch.project, kind);
        if trial.kind != kind {
            let said = |kind| format!("{kind:?}").to_lowercase();
            changes.push(Drift {
                field: "kind of trial".to_owned(),
                then: said(trial.kind),
                now: said(kind),
            });
        }
        if !changes.is_empty() {
            return Err(ConductError::Drift { changes });
        }
        let origin = Origin::since(dir)?;
        self.launch(launch, kind, limit, Some(&origin))
    }

    fn launch(
        &mut self,
        launch: &Launch<'_>,
        kind: TrialKind,
        limit: Option<u64>,
        origin: Option<&Origin>,
    ) -> Result<RunEnd, ConductError> {
        let started = (self.clock.monotonic(), self.clock.wall());
        let indexed = self.index(launch, kind, limit)?;
        Room::of(launch.project, indexed.closing.items).check(&indexed.dir)?;
        let mut journal = Journal::new(&indexed.store, self.owner.nonce, started.0);
        let begun = self.started(started.1, false, Outcomes::default());
        journal.event(started.0, begun)?;
        self.note_notes(&mut journal, &indexed.closing.notes)?;
        let tally = Arc::default();
        let engine = match self.start_engine(launch.project, &tally, &mut journal)? {
            Ok(engine) => engine,
            Err(fault) => return self.not_started(indexed.dir, indexed.closing.items, &mut journal, fault),
        };
        if let Some(origin) = origin {
            let changes = drift::engine(&origin.trial.engine, engine.facts());
            if !changes.is_empty() {
                return Err(ConductError::Drift { changes });
            }
        }
        let since = match origin {
            Some(origin) => origin.declared(&*indexed.store, &indexed.closing)?,
            None => None,
        };
        if let Some(since) = &since {
            self.progress.report(News::Since { since });
        }
        let trial = Trial {
            format: TRIAL_FORMAT.to_owned(),
            name: indexed.name,
            kind,
            started: started.1,
            project: launch.project.clone(),
            config: launch.config,
            limit,
            part_items: self.settings.part_items,
            batch_items: u64::from(launch.project.engine.batch_items()),
            engine: engine.facts().clone(),
            machine: launch.machine.clone(),
            program: launch.program.clone(),
            environment: launch.environment.cloned(),
            retries: match origin {
                Some(origin) => retries(origin, &*indexed.store, &indexed.closing)?,
                None => None,
            },
            since,
        };
        write_trial(&*indexed.store, &trial)?;
        (self.on_step)(Step::TrialWritten);
        self.progress.report(News::Launched { trial: &indexed.dir });
        let ledger = self.ledger(&indexed.store);
        let mut reducer = self.reducer(launch.project, &trial, &indexed.closing, engine.in_flight_max());
        let job = Job {
            store: indexed.store,
            ledger: &ledger,
            contents: &indexed.source,
            trial: &trial,
            closing: &indexed.closing,
            origin,
            journal: &mut journal,
            reducer: &mut reducer,
            tally,
            engine: Some(engine),
            claimed: None,
            witness: None,
            durable: Outcomes::default(),
        };
        let ended = Worker::new(self, job).work();
        Ok(end(indexed.dir, indexed.closing.items, &reducer, ended, 0))
    }

    /// Takes the trial in `dir` up again after any end: what is done is carried over, what is pending is done.
    ///
    /// # Errors
    /// When somebody else works on it, when something that changes results is not as it was, when it is damaged, or
    /// the machine fails before the first batch.
    pub fn resume(&mut self, launch: &Launch<'_>, dir: &Path) -> Result<RunEnd, ConductError> {
        self.take_up(launch, dir, true)
    }

    /// Works on the trial in `dir` beside others: parts that they hold are left to them, and taken over once they
    /// are gone. [`Settings::shared`] is to be set.
    ///
    /// # Errors
    /// As [`Conductor::resume`], except that others may work on it.
    pub fn join(&mut self, launch: &Launch<'_>, dir: &Path) -> Result<RunEnd, ConductError> {
        self.take_up(launch, dir, false)
    }

    fn take_up(&mut self, launch: &Launch<'_>, dir: &Path, alone: bool) -> Result<RunEnd, ConductError> {
        let started = (self.clock.monotonic(), self.clock.wall());
        let trial = read_trial(dir)?;
        let changes = drift::project(&trial.project, launch.project, trial.kind);
        if !changes.is_empty() {
            return Err(ConductError::Drift { changes });
        }
        let store = self.store(dir)?;
        let closing = read_index(&*store)?;
        let origin = origin_of(dir, &trial)?;
        let ledger = self.ledger(&store);
        // Claimed before anything else is done, so that a second process is refused before it starts an engine.
        let claimed = match standing::first_open(&*store, &closing)? {
            Some(part) if alone => claim(&ledger, part)?,
            _ => None,
        };
        let standing = Standing::of(&*store, &closing)?;
        let carried_over = standing.accepted + standing.refused;
        let pending = closing.items.saturating_sub(carried_over);
        let (accepted, refused) = (standing.accepted, standing.refused);
        self.progress.report(News::TakenUp { accepted, refused, pending });
        let mut journal = Journal::new(&store, self.owner.nonce, started.0);
        let (clock, mut in_flight_max, mut engine) = (self.clock, 1, None);
        let tally = Arc::default();
        journal.event(started.0, self.started(started.1, true, Outcomes { accepted, refused }))?;
        for (note, detail) in changes_around(&trial, launch) {
            let note = note.to_owned();
            journal.event(clock.monotonic(), TrialEvent::Noted { note, detail })?;
        }
        if pending > 0 {
            let ready = match self.start_engine(&trial.project, &tally, &mut journal)? {
                Ok(engine) => engine,
                Err(fault) => {
                    let mut end = self.not_started(dir.to_owned(), closing.items, &mut journal, fault)?;
                    end.counts = Counts { accepted, refused, carried_over, ..Counts::default() };
                    return Ok(end);
                }
            };
            let changes = drift::engine(&trial.engine, ready.facts());
            if !changes.is_empty() {
                return Err(ConductError::Drift { changes });
            }
            in_flight_max = ready.in_flight_max();
            engine = Some(ready);
        }
        let mut reducer = self.reducer(launch.project, &trial, &closing, in_flight_max);
        let source = Declared::of(&trial.project, trial.kind)?.source(launch.root, &trial.project);
        let job = Job {
            store,
            ledger: &ledger,
            contents: &source,
            trial: &trial,
            closing: &closing,
            origin: origin.as_ref(),
            journal: &mut journal,
            reducer: &mut reducer,
            tally,
            engine,
            claimed,
            witness: standing.witness,
            durable: Outcomes { accepted, refused },
        };
        let ended = Worker::new(self, job).work();
        Ok(end(dir.to_owned(), closing.items, &reducer, ended, carried_over))
    }

    /// Indexes the declared inputs into a new directory, which is made only when they are known to be as declared, or
    /// when they are too many to be kept in memory until then.
    fn index(
        &mut self,
        launch: &Launch<'_>,
        kind: TrialKind,
        limit: Option<u64>,
    ) -> Result<Indexed, ConductError> {
        let declared = Declared::of(launch.project, kind)?;
        let source = declared.source(launch.root, launch.project);
        declared.check_digests(launch.root, &source)?;
        let (wall, on_step, failpoint) = (self.clock.wall(), self.on_step, Arc::clone(&self.failpoint));
        let mut place: Option<(PathBuf, String, Arc<dyn Store>, IndexWriter)> = None;
        let make = || -> Result<_, ConductError> {
            let (dir, name) = directory::make(launch.root, wall, kind)?;
            let store: Arc<dyn Store> =
                Arc::new(DirStore::open(&dir)?.with_failpoint(Arc::clone(&failpoint)));
            on_step(Step::DirectoryMade);
            Ok((dir, name, Arc::clone(&store), IndexWriter::new(store)))
        };
        let part_items = self.settings.part_items;
        let (_, notes) = indexing::walk(&declared, &source, limit, part_items, self.progress, |items| {
            if place.is_none() {
                place = Some(make()?);
            }
            if let Some((.., writer)) = &mut place {
                writer.part(&items)?;
            }
            on_step(Step::IndexPartWritten);
            Ok(())
        })?;
        let (dir, name, store, writer) = place.map_or_else(make, Ok)?;
        let closing = writer.close(notes)?;
        on_step(Step::IndexClosed);
        self.progress.report(News::Opened { trial: &dir });
        Ok(Indexed { dir, name, store, source, closing })
    }

    /// The first event of a writer.
    fn started(&self, wall: Stamp, resumed: bool, carried: Outcomes) -> TrialEvent {
        let Owner { host, boot, pid, started, pid_namespace, .. } = self.owner.clone();
        let devices = self.devices.clone();
        let process = Some(WriterProcess { host, boot, pid, started, pid_namespace, devices });
        let (carried_over, carried_refused) = (carried.total(), carried.refused);
        TrialEvent::Started { wall, resumed, carried_over, carried_refused, process }
    }

    /// Starts the engine, under the guards that the project declares, and asks it what they ask first. Whoever holds
    /// a device at that moment is named before.
    pub(crate) fn start_engine(
        &mut self,
        project: &Project,
        tally: &Arc<Tally>,
        journal: &mut Journal,
    ) -> Result<Result<Box<dyn Engine>, EngineFault>, ConductError> {
        for holder in pilote_machine::device_holders(Path::new("/"), std::process::id()) {
            self.progress.report(News::DeviceHeld { holder: &holder });
            let (note, detail) = ("device-held".to_owned(), holder.to_string());
            journal.event(self.clock.monotonic(), TrialEvent::Noted { note, detail })?;
        }
        self.progress.report(News::EngineStarting);
        let mut engine = match (self.engine)() {
            Ok(engine) => engine,
            Err(fault) => return Ok(Err(fault)),
        };
        self.progress.report(News::EngineReady { facts: engine.facts() });
        let around = Around {
            project,
            tally,
            clock: self.clock,
            interrupt: self.interrupt,
            stall: self.settings.stall,
        };
        match probe(&mut *engine, &around) {
            Ok(seen) => {
                for detail in seen {
                    let note = "guards-asked".to_owned();
                    journal.event(self.clock.monotonic(), TrialEvent::Noted { note, detail })?;
                }
                Ok(Ok(Watch::over(engine, &project.guards, tally)))
            }
            Err(fault) => {
                let _ = engine.stop(Stop::Now);
                Ok(Err(fault))
            }
        }
    }

    /// Keeps the first error of an engine that did not start; nothing was computed.
    fn not_started(
        &mut self,
        trial: PathBuf,
        declared: u64,
        journal: &mut Journal,
        fault: EngineFault,
    ) -> Result<RunEnd, ConductError> {
        self.progress.report(News::EngineFailed { fault: &fault, in_a_row: 1 });
        let why = if fault.step == INTERRUPTED { EndReason::Interrupted } else { EndReason::EngineStart };
        journal.event(self.clock.monotonic(), failed(fault.clone()))?;
        let ended = TrialEvent::Ended { why: why.as_str().to_owned(), stray_answers: 0 };
        journal.event(self.clock.monotonic(), ended)?;
        let counts = Counts::default();
        Ok(RunEnd { trial, why, declared, counts, first_fault: Some(fault), error: None })
    }

    fn note_notes(&self, journal: &mut Journal, notes: &Notes) -> Result<(), ConductError> {
        for (note, detail) in notes.events() {
            let note = note.to_owned();
            journal.event(self.clock.monotonic(), TrialEvent::Noted { note, detail })?;
        }
        Ok(())
    }

    fn store(&self, dir: &Path) -> Result<Arc<dyn Store>, ConductError> {
        Ok(Arc::new(DirStore::open(dir)?.with_failpoint(Arc::clone(&self.failpoint))))
    }

    fn ledger(&self, store: &Arc<dyn Store>) -> Ledger {
        Ledger::new(Arc::clone(store), self.owner.clone(), Arc::clone(&self.liveness))
            .with_failpoint(Arc::clone(&self.failpoint))
    }

    fn reducer(&self, now: &Project, trial: &Trial, closing: &Closing, in_flight_max: usize) -> Reducer {
        // The share of refusals is the one of now: raising it is how a campaign that it stopped goes on.
        let campaign = match trial.kind {
            TrialKind::Pilot => None,
            TrialKind::Campaign => now.campaign.clone(),
        };
        Reducer::new(Rules {
            output: trial.project.output.clone(),
            beyond: trial.project.limits.beyond,
            declared: closing.items,
            campaign,
            failures_max: self.settings.failures_max,
            deaths_max: self.settings.deaths_max,
            stall: self.settings.stall,
            in_flight_max: in_flight_max.max(1),
            first_wire: first_wire(&self.owner),
        })
    }
}

/// Opens a part; none where somebody sealed it meanwhile, so that the worker finds it sealed.
fn claim(ledger: &Ledger, part: u32) -> Result<Option<Box<PartWriter>>, ConductError> {
    Ok(match ledger.open_part(part)? {
        Opened::Writer(writer) => Some(writer),
        Opened::Sealed(_) => None,
    })
}

/// The first wire identifier of `owner`: 31 random bits of its nonce, then 32 bits for counting, so that an answer
/// meant for an earlier process is not taken for one of this process.
fn first_wire(owner: &Owner) -> u64 {
    let random = u64::try_from(owner.nonce.0 & 0x7fff_ffff).unwrap_or(0);
    random << 32 | 1
}

/// The end, in what is durable by this writer and by those before it. What others did meanwhile is theirs to tell.
fn end(trial: PathBuf, declared: u64, reducer: &Reducer, ended: WorkEnd, carried_over: u64) -> RunEnd {
    let WorkEnd { why, error, durable: Outcomes { accepted, refused } } = ended;
    let counts = Counts { accepted, refused, carried_over, ..reducer.counts() };
    RunEnd { trial, why, declared, counts, first_fault: reducer.first_error().cloned(), error }
}

/// What changed around the project since the launch: noted, since it is no reason to refuse.
fn changes_around(trial: &Trial, launch: &Launch<'_>) -> Vec<(&'static str, String)> {
    let mut changes = Vec::new();
    if trial.program != *launch.program {
        changes.push((
            "program-changed",
            format!("{} before, {} now", trial.program.version, launch.program.version),
        ));
    }
    if trial.machine != *launch.machine {
        let name = |machine: &MachineFacts| machine.processor.clone().unwrap_or_else(|| "unknown".to_owned());
        changes.push((
            "machine-changed",
            format!("{} before, {} now", name(&trial.machine), name(launch.machine)),
        ));
    }
    changes
}

/// The items that a retry asks again; none of a trial that is no retry.
fn retries(origin: &Origin, store: &dyn Store, closing: &Closing) -> Result<Option<Retries>, ConductError> {
    let Means::Retry(reason) = origin.means else { return Ok(None) };
    let mut asked = Vec::new();
    for entry in &closing.parts {
        let items = indexing::read_part(store, entry)?;
        let carried = origin.carried(entry.part, &items)?;
        let mut carried = carried.iter().map(|(position, _)| *position).peekable();
        for item in items.into_iter().filter(|item| item.fault.is_none()) {
            if carried.next_if_eq(&item.position).is_none() {
                asked.extend(item.id);
            }
        }
    }
    Ok(Some(Retries { trial: origin.trial.name.clone(), reason, items: asked }))
}

/// The trial that `trial`, in `dir`, begins from: beside it in the same directory, and as it was.
pub(crate) fn origin_of(dir: &Path, trial: &Trial) -> Result<Option<Origin>, ConductError> {
    if let Some(since) = &trial.since {
        let origin = Origin::since(&dir.parent().unwrap_or(dir).join(&since.trial))?;
        origin.prove(since)?;
        return Ok(Some(origin));
    }
    let Some(retries) = &trial.retries else { return Ok(None) };
    let beside = dir.parent().unwrap_or(dir).join(&retries.trial);
    Origin::open(&beside, retries.reason).map(Some)
}

fn write_trial(store: &dyn Store, trial: &Trial) -> Result<(), ConductError> {
    let mut bytes = serde_json::to_vec_pretty(trial)
        .map_err(|error| pilote_ledger::StoreError::io("write", TRIAL_KEY, error.into()))?;
    bytes.push(b'\n');
    Ok(create_new(store, TRIAL_KEY, &bytes)?)
}

/// Reads what was launched in `dir`.
pub(crate) fn read_trial(dir: &Path) -> Result<Trial, ConductError> {
    let path = dir.join(TRIAL_KEY);
    let wrong = |what: String| ConductError::TrialFile { path: path.clone(), what };
    let text = match fs_err::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let path = dir.to_owned();
            let begun = dir.join("index").is_dir() || dir.join("events").is_dir();
            return Err(if begun {
                ConductError::NeverLaunched { path }
            } else {
                ConductError::NoTrial { path }
            });
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    // The format alone is read first: another version may have other fields.
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match value.get("format").and_then(serde_json::Value::as_str) {
        Some(TRIAL_FORMAT) => {}
        Some(other) => {
            return Err(wrong(format!(
                "format `{other}`, and this program reads `{TRIAL_FORMAT}`; use the pilote that wrote it or a newer one"
            )));
        }
        None => return Err(wrong("it names no format".to_owned())),
    }
    serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
}

/// Reads the closing entry of a launched trial.
pub(crate) fn read_index(store: &dyn Store) -> Result<Closing, ConductError> {
    read_closing(store)?.ok_or_else(|| ConductError::IndexMissing { key: CLOSED_KEY.to_owned() })
}

/// The hook that does nothing.
pub fn no_step(_step: Step) {}
