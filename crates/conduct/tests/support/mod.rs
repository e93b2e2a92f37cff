//! A small project, a deterministic engine and a clock that moves only when it is asked.
#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part of this"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pilote_conduct::{ConductError, Conductor, Launch, News, Progress, RunEnd, Settings, Step};
use pilote_engine::{Answer, Batch, Content, Engine, EngineFault, Event, Stop, WireId};
use pilote_ledger::{Failpoint, NoFailpoint, Nonce, Owner, ProcessLiveness, Store, read_part, read_vector};
use pilote_spec::{
    BatchMeasures, Clock, Digest, EngineFacts, EventLine, MachineFacts, MeasureLine, Outcome, Output,
    Position, ProgramFacts, Project, Reason, Refusal, Stamp, Trial, TrialEvent, TrialKind, WorkReason,
};

/// Moves by ten microseconds whenever it is read, and by whatever is waited.
pub struct FakeClock(AtomicU64);

impl FakeClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(0)))
    }
}

impl Clock for FakeClock {
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.fetch_add(10, Ordering::Relaxed))
    }

    fn wall(&self) -> Stamp {
        Stamp(1_796_062_502_000)
    }

    fn wait(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_micros()).unwrap(), Ordering::Relaxed);
    }
}

/// What an echo engine does that an orderly one does not.
#[derive(Debug, Clone, Default)]
pub struct Manners {
    /// Gives vectors of this width instead of categories.
    pub width: Option<usize>,
    /// Answers in reverse order.
    pub reverse: bool,
    /// Answers everything twice.
    pub twice: bool,
    /// Sends an answer to a question nobody asked with each batch.
    pub invents: bool,
    /// Fails every batch.
    pub broken: bool,
    /// Says nothing from this batch on (from 1), and is alive.
    pub hangs_at: Option<u64>,
    /// Reports itself as this device.
    pub device: Option<&'static str>,
    pub in_flight_max: usize,
}

/// Answers each text by a function of the text alone. Texts with POISON end it, texts with SILENT get no answer,
/// texts with NAN a score that is not finite, texts with LONG a refusal.
pub struct Echo {
    facts: EngineFacts,
    manners: Manners,
    clock: Arc<FakeClock>,
    batches: Vec<Batch>,
    taken: u64,
}

pub fn echo_facts() -> EngineFacts {
    EngineFacts {
        kind: "echo".into(),
        name: "echo".into(),
        version: "1".into(),
        device: "cpu".into(),
        precision: "f32".into(),
        model: None,
        longest_tokens: None,
        parameters: BTreeMap::new(),
    }
}

impl Echo {
    pub fn new(clock: &Arc<FakeClock>, manners: Manners) -> Self {
        let mut facts = echo_facts();
        if let Some(device) = manners.device {
            facts.device = device.into();
        }
        Self { facts, manners, clock: Arc::clone(clock), batches: Vec::new(), taken: 0 }
    }

    fn answer(&self, text: &str) -> Option<Answer> {
        if text.contains("SILENT") {
            return None;
        }
        if text.contains("LONG") {
            return Some(Answer::Refused(Refusal::new(Reason::Work(WorkReason::TooLong)).with("limit", 5)));
        }
        Some(Answer::Output(echo(text, self.manners.width)))
    }
}

/// What the echo engine gives for a text.
pub fn echo(text: &str, width: Option<usize>) -> Output {
    let digest = Digest::of(text.as_bytes());
    let bytes = digest.as_bytes();
    if let Some(width) = width {
        let values = (0..width).map(|at| f32::from(bytes[at % 32]) / 8.0 + 1.0).collect();
        return Output::Vector { values, cut_at_tokens: None };
    }
    let category = ["red", "green", "blue"][usize::from(bytes[0] % 3)].to_owned();
    let score = Some(if text.contains("NAN") { f32::NAN } else { f32::from(bytes[1]) / 255.0 });
    Output::Category { category, score, others: Vec::new(), cut_at_tokens: None }
}

impl Engine for Echo {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        self.manners.in_flight_max.max(1)
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        assert!(self.batches.len() < self.in_flight_max(), "more batches than the engine takes");
        self.batches.push(batch);
        self.taken += 1;
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        if self.batches.is_empty() || self.manners.hangs_at.is_some_and(|at| self.taken >= at) {
            self.clock.wait(wait);
            return Ok(Vec::new());
        }
        let batch = self.batches.remove(0);
        let texts = batch.requests.iter().map(|request| match &request.content {
            Content::Text(text) => (request.wire, text.as_str()),
            Content::File(_) => panic!("only texts are asked here"),
        });
        if texts.clone().any(|(_, text)| text.contains("POISON")) {
            return Err(fault("compute", "killed by signal 9", true));
        }
        self.clock.wait(Duration::from_millis(30));
        if self.manners.broken {
            return Ok(vec![Event::Failed {
                batch: batch.id,
                fault: fault("compute", "no kernel image", false),
            }]);
        }
        let mut events: Vec<Event> = texts
            .filter_map(|(wire, text)| Some(Event::Answer { wire, answer: self.answer(text)? }))
            .collect();
        if self.manners.reverse {
            events.reverse();
        }
        if self.manners.twice {
            events.extend(events.clone());
        }
        if self.manners.invents {
            events.push(Event::Answer { wire: WireId(3), answer: Answer::Output(echo("x", None)) });
        }
        let measures = BatchMeasures { tokens: Some(events.len() as u64), ..BatchMeasures::default() };
        events.push(Event::Finished { batch: batch.id, measures });
        Ok(events)
    }

    fn stop(&mut self, _how: Stop) -> Result<(), EngineFault> {
        self.batches.clear();
        Ok(())
    }
}

pub fn fault(step: &str, first_error: &str, ended: bool) -> EngineFault {
    EngineFault { step: step.into(), first_error: first_error.into(), advice: None, ended }
}

/// Keeps what was told.
#[derive(Default)]
pub struct Told(pub Vec<String>);

impl Progress for Told {
    fn report(&mut self, news: News<'_>) {
        self.0.push(format!("{news:?}"));
    }
}

/// A project in a directory of its own.
pub struct Place {
    root: PathBuf,
    /// Removed when dropped; none where the project is somebody else's.
    _dir: Option<tempfile::TempDir>,
    pub project: Project,
}

impl Place {
    /// With these texts as `data/pilote/NAME`, and the same as corpus of a campaign that bears a tenth of refusals.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |_| {})
    }

    pub fn with(files: &[(&str, &str)], change: impl FnOnce(&mut serde_json::Value)) -> Self {
        let dir = memory_dir();
        let data = dir.path().join("data/pilote");
        std::fs::create_dir_all(&data).unwrap();
        for (name, text) in files {
            std::fs::write(data.join(name), text).unwrap();
        }
        let mut value = serde_json::json!({
            "format": "pilote.project/1", "name": "test",
            "pilot": {"inputs": {"directory": "data/pilote"}, "count": files.len()},
            "campaign": {"inputs": {"directory": "data/pilote"}, "count": files.len(), "refused_max": 0.1},
            "output": {"kind": "category", "categories": [{"name": "red"}, {"name": "green"}, {"name": "blue"}]},
            "engine": {"kind": "builtin", "task": "classify", "model": ["path:none"], "batch_items": 4}
        });
        change(&mut value);
        let root = dir.path().to_owned();
        Self { root, _dir: Some(dir), project: serde_json::from_value(value).unwrap() }
    }

    /// A project that is there already.
    pub fn at(root: &Path, project: Project) -> Self {
        Self { root: root.to_owned(), _dir: None, project }
    }

    /// Sixteen texts of different lengths.
    pub fn sixteen() -> Self {
        let files = sixteen_files();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        Self::new(&files)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root().join("data/pilote").join(name), text).unwrap();
    }

    pub fn trials(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.root().join("runs")) else { return Vec::new() };
        let mut trials: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        trials.sort();
        trials
    }
}

/// A directory in memory where there is such a thing: what is killed here is the process, never the machine, so that
/// nothing is gained by waiting for a disk.
pub fn memory_dir() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

pub fn sixteen_files() -> Vec<(String, String)> {
    (0..16).map(|at| (format!("{at:02}.txt"), format!("text {at} {}", "word ".repeat(at * 7 % 11)))).collect()
}

/// Everything around a trial; fields may be changed before it is used.
pub struct Bench<'p> {
    pub place: &'p Place,
    pub clock: Arc<FakeClock>,
    pub manners: Manners,
    pub settings: Settings,
    pub interrupt: Arc<AtomicBool>,
    pub told: Told,
    pub starts: usize,
    pub start_faults: Vec<EngineFault>,
    pub nonce: u128,
    pub failpoint: Arc<dyn Failpoint>,
}

impl<'p> Bench<'p> {
    pub fn new(place: &'p Place) -> Self {
        static NONCE: AtomicU64 = AtomicU64::new(1);
        let settings = Settings { part_items: 6, ..Settings::default() };
        Self {
            place,
            clock: FakeClock::new(),
            manners: Manners::default(),
            settings,
            interrupt: Arc::default(),
            told: Told::default(),
            starts: 0,
            start_faults: Vec::new(),
            nonce: u128::from(NONCE.fetch_add(1, Ordering::Relaxed)) << 64 | u128::from(std::process::id()),
            failpoint: Arc::new(NoFailpoint),
        }
    }

    /// Calls `act` with a conductor and the project as launched.
    pub fn conduct<T>(
        &mut self,
        on_step: &dyn Fn(Step),
        act: impl FnOnce(&mut Conductor<'_>, &Launch<'_>) -> T,
    ) -> T {
        let owner = Owner::of_this_process(Nonce(self.nonce)).unwrap();
        let (clock, manners) = (Arc::clone(&self.clock), self.manners.clone());
        let (starts, start_faults) = (&mut self.starts, &mut self.start_faults);
        let mut engine = move || -> Result<Box<dyn Engine>, EngineFault> {
            *starts += 1;
            match start_faults.pop() {
                Some(fault) => Err(fault),
                None => Ok(Box::new(Echo::new(&clock, manners.clone()))),
            }
        };
        let mut conductor = Conductor {
            clock: &*self.clock,
            devices: Vec::new(),
            liveness: Arc::new(ProcessLiveness::new(owner.clone())),
            owner,
            interrupt: &self.interrupt,
            progress: &mut self.told,
            engine: &mut engine,
            settings: self.settings,
            on_step,
            failpoint: Arc::clone(&self.failpoint),
        };
        let program = ProgramFacts { version: "0.1.0".into(), digest: None };
        let launch = Launch {
            root: self.place.root(),
            project: &self.place.project,
            config: Digest::of(b"config"),
            program: &program,
            machine: &MachineFacts::default(),
            environment: None,
        };
        act(&mut conductor, &launch)
    }

    pub fn run(&mut self) -> Result<RunEnd, ConductError> {
        self.conduct(&|_| {}, |conductor, launch| conductor.run(launch, TrialKind::Pilot, None))
    }

    pub fn campaign(&mut self) -> Result<RunEnd, ConductError> {
        self.conduct(&|_| {}, |conductor, launch| conductor.run(launch, TrialKind::Campaign, None))
    }

    pub fn resume(&mut self, trial: &Path) -> Result<RunEnd, ConductError> {
        self.conduct(&|_| {}, |conductor, launch| conductor.resume(launch, trial))
    }
}

/// What a trial says of itself.
pub fn trial(dir: &Path) -> Trial {
    serde_json::from_slice(&std::fs::read(dir.join("trial.json")).unwrap()).unwrap()
}

/// Every outcome of a trial by position, with identifier and digest, as text. Vectors are read from their payloads.
/// Fails where a position has two records or anything is damaged.
pub fn outcomes(dir: &Path) -> BTreeMap<Position, String> {
    let store = pilote_ledger::DirStore::open(dir).unwrap();
    let mut outcomes = BTreeMap::new();
    for part in pilote_ledger::parts(&store).unwrap() {
        let reading = read_part(&store, part).unwrap();
        assert!(!reading.findings.iter().any(pilote_ledger::Finding::is_damage), "{:?}", reading.findings);
        for record in reading.records {
            let mut outcome = record.outcome;
            if let Outcome::Accepted(output) = &outcome
                && let Some(values) = read_vector(&store, part, output).unwrap()
            {
                outcome = Outcome::Accepted(Output::Vector { values, cut_at_tokens: None });
            }
            let text = serde_json::to_string(&(record.id, record.sha256, outcome)).unwrap();
            assert!(outcomes.insert(record.position, text).is_none(), "{} has two outcomes", record.position);
        }
    }
    outcomes
}

/// The refusal reason of each refused item, by identifier.
pub fn refusals(dir: &Path) -> BTreeMap<String, String> {
    let store = pilote_ledger::DirStore::open(dir).unwrap();
    let parts = pilote_ledger::parts(&store).unwrap();
    let records = parts.into_iter().flat_map(|part| read_part(&store, part).unwrap().records);
    records
        .filter_map(|record| match record.outcome {
            Outcome::Refused(refusal) => Some((record.id.unwrap().0, refusal.reason.to_string())),
            Outcome::Accepted(_) => None,
        })
        .collect()
}

/// The events of all writers of a trial.
pub fn events(dir: &Path) -> Vec<TrialEvent> {
    lines::<EventLine>(&dir.join("events")).into_iter().map(|line| line.event).collect()
}

pub fn measures(dir: &Path) -> Vec<MeasureLine> {
    lines(&dir.join("measures"))
}

fn lines<L: serde::de::DeserializeOwned>(dir: &Path) -> Vec<L> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether every part of the index is sealed.
pub fn is_sealed(dir: &Path) -> bool {
    let store = pilote_ledger::DirStore::open(dir).unwrap();
    let parts = pilote_ledger::parts(&store).unwrap();
    let indexed = store.list("index/").unwrap().len() - 1;
    parts.len() == indexed && parts.into_iter().all(|part| read_part(&store, part).unwrap().seal.is_some())
}
