//! The worker over a store that fails at any write, with or without having written. After every end an auditor reads
//! the store again, and the last outcomes are those of an undisturbed run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pilote_corpus::index::CLOSED_KEY;
use pilote_engine::Answer;
use pilote_ledger::{
    Creation, Finding, Listed, Liveness, MemoryStore, NoFailpoint, Nonce, Owner, Standing as OwnerStanding,
    StoreError, read_part, read_vector,
};
use pilote_spec::{
    Clock, Digest, EngineFacts, FaultCode, ItemFault, ItemId, Location, Output, OutputSpec, Project, Stamp,
    TRIAL_FORMAT, TrialKind,
};

use super::*;
use crate::indexing::IndexWriter;
use crate::news::Silent;
use crate::reducer::Rules;
use crate::settings::Settings;
use crate::standing::Standing;

const ITEMS: u64 = 23;
const PART_ITEMS: usize = 9;
const BATCH_ITEMS: u64 = 4;
const SYNC_ITEMS: u64 = 3;
const WIDTH: u32 = 3;

/// Fails at the write after `left` others, and at everything from then on: the process is as good as gone.
struct Failing {
    inner: Arc<MemoryStore>,
    left: AtomicU64,
    /// Whether the write that fails is done nevertheless, its reply being lost.
    done: bool,
    dead: AtomicBool,
}

impl Failing {
    fn alive(&self, key: &str) -> Result<(), StoreError> {
        let error =
            || StoreError::io("reach", key, std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        if self.dead.load(Ordering::Relaxed) { Err(error()) } else { Ok(()) }
    }
}

impl Store for Failing {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        self.alive(key)?;
        if self.left.load(Ordering::Relaxed) > 0 {
            self.left.fetch_sub(1, Ordering::Relaxed);
            return self.inner.create(key, bytes);
        }
        self.dead.store(true, Ordering::Relaxed);
        if self.done {
            self.inner.create(key, bytes)?;
        }
        Err(StoreError::io("create", key, std::io::Error::from(std::io::ErrorKind::StorageFull)))
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.alive(key)?;
        self.inner.read(key)
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.alive(key)?;
        self.inner.read_range(key, offset, length)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.alive(key)?;
        self.inner.exists(key)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        self.alive(prefix)?;
        self.inner.list(prefix)
    }
}

struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.fetch_add(100, Ordering::Relaxed))
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    fn wait(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_micros()).unwrap(), Ordering::Relaxed);
    }
}

struct AllGone;

impl Liveness for AllGone {
    fn standing(&self, _owner: &Owner) -> OwnerStanding {
        OwnerStanding::Dead("the simulation ended it".into())
    }
}

struct Texts;

impl Contents for Texts {
    fn content(&self, item: &Item) -> Result<Content, ReadError> {
        Ok(Content::Text(item.position.to_string()))
    }
}

/// Gives a vector made of the text, answers in an order of its own, and half of each batch in a poll of its own.
struct Vectors {
    facts: EngineFacts,
    events: VecDeque<EngineEvent>,
    turn: u64,
}

impl Engine for Vectors {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        2
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        self.turn += 1;
        let mut answers: Vec<EngineEvent> = batch
            .requests
            .into_iter()
            .map(|request| {
                let Content::Text(text) = request.content else { panic!("texts only") };
                let output = Output::Vector { values: vector(text.parse().unwrap()), cut_at_tokens: None };
                EngineEvent::Answer { wire: request.wire, answer: Answer::Output(output) }
            })
            .collect();
        if self.turn.is_multiple_of(2) {
            answers.reverse();
        }
        self.events.extend(answers);
        self.events.push_back(EngineEvent::Finished { batch: batch.id, measures: BatchMeasures::default() });
        Ok(())
    }

    fn poll(&mut self, _wait: Duration) -> Result<Vec<EngineEvent>, EngineFault> {
        let some = 3.min(self.events.len());
        Ok(self.events.drain(..some).collect())
    }

    fn stop(&mut self, _how: Stop) -> Result<(), EngineFault> {
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "positions of a small test")]
fn vector(position: u64) -> Vec<f32> {
    // Position 7 is not finite and must be refused.
    let first = if position == 7 { f32::NAN } else { position as f32 + 0.5 };
    vec![first, 1.0, 2.0]
}

fn facts() -> EngineFacts {
    EngineFacts {
        kind: "simulated".into(),
        name: "vectors".into(),
        version: "1".into(),
        device: "cpu".into(),
        precision: "f32".into(),
        model: None,
        longest_tokens: None,
        parameters: BTreeMap::new(),
    }
}

fn a_trial() -> Trial {
    let project: Project = serde_json::from_value(serde_json::json!({
        "format": "pilote.project/1", "name": "n",
        "pilot": {"inputs": {"directory": "d"}, "count": ITEMS},
        "output": {"kind": "vector", "width": WIDTH},
        "engine": {"kind": "builtin", "task": "embed", "model": ["path:m"]}
    }))
    .unwrap();
    Trial {
        format: TRIAL_FORMAT.into(),
        name: "t".into(),
        kind: TrialKind::Pilot,
        started: Stamp(0),
        project,
        config: Digest::of(b""),
        limit: None,
        part_items: PART_ITEMS as u64,
        batch_items: BATCH_ITEMS,
        engine: facts(),
        machine: Default::default(),
        program: pilote_spec::ProgramFacts { version: "0".into(), digest: None },
        environment: None,
        retries: None,
        since: None,
    }
}

/// A store with the closed index of the simulated corpus; items 3 and 12 are faulty.
fn indexed() -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let items: Vec<Item> = (0..ITEMS)
        .map(|at| Item {
            position: Position(at),
            id: Some(ItemId(format!("item {at}"))),
            digest: Some(Digest::of(at.to_string().as_bytes())),
            bytes: at,
            chars: at * 5 % 13,
            location: Location::File { path: at.to_string(), raw: false },
            columns: Default::default(),
            fault: (at == 3 || at == 12).then(|| ItemFault { code: FaultCode::Nul, detail: "at 0".into() }),
        })
        .collect();
    let mut writer = IndexWriter::new(Arc::clone(&store) as Arc<dyn Store>);
    for part in items.chunks(PART_ITEMS) {
        writer.part(part).unwrap();
    }
    writer.close(Default::default()).unwrap();
    store
}

/// One start of the trial over a store that fails after `left` writes. Gives how it ended and what was asked.
fn start(memory: &Arc<MemoryStore>, nonce: u128, left: u64, done: bool) -> Option<(WorkEnd, u64)> {
    let dead = AtomicBool::new(false);
    let failing = Failing { inner: Arc::clone(memory), left: AtomicU64::new(left), done, dead };
    let store: Arc<dyn Store> = Arc::new(failing);
    let owner = Owner {
        nonce: Nonce(nonce),
        host: "h".into(),
        boot: "b".into(),
        pid: 1,
        started: 1,
        pid_namespace: 1,
    };
    let (clock, interrupt, trial) = (Ticking(AtomicU64::new(0)), AtomicBool::new(false), a_trial());
    let closing = Closing::decode(&memory.read(CLOSED_KEY).unwrap().unwrap()).unwrap();
    let mut no_engine = || -> Result<Box<dyn Engine>, EngineFault> { panic!("the engine never ends here") };
    let standing = Standing::of(&*store, &closing).ok()?;
    let mut conductor = Conductor {
        clock: &clock,
        devices: Vec::new(),
        owner: owner.clone(),
        liveness: Arc::new(AllGone),
        interrupt: &interrupt,
        progress: &mut Silent,
        engine: &mut no_engine,
        settings: Settings { sync_items: SYNC_ITEMS, ..Settings::default() },
        on_step: &|_| {},
        failpoint: Arc::new(NoFailpoint),
    };
    let ledger = Ledger::new(Arc::clone(&store), owner.clone(), Arc::new(AllGone));
    let mut journal = Journal::new(&store, owner.nonce, Duration::ZERO);
    let mut reducer = Reducer::new(Rules {
        output: OutputSpec::Vector { width: WIDTH },
        beyond: pilote_spec::Beyond::Refuse,
        declared: ITEMS,
        campaign: None,
        failures_max: 6,
        deaths_max: 3,
        stall: None,
        in_flight_max: 2,
        first_wire: u64::try_from(nonce).unwrap() << 32,
    });
    let engine = Vectors { facts: facts(), events: VecDeque::new(), turn: 0 };
    let job = Job {
        store,
        ledger: &ledger,
        contents: &Texts,
        trial: &trial,
        closing: &closing,
        origin: None,
        journal: &mut journal,
        reducer: &mut reducer,
        tally: Arc::default(),
        engine: Some(Box::new(engine)),
        claimed: None,
        witness: standing.witness,
        durable: Outcomes { accepted: standing.accepted, refused: standing.refused },
    };
    let end = Worker::new(&mut conductor, job).work();
    Some((end, reducer.counts().asked))
}

/// Every outcome that is there, as text, vectors written out. Fails on a second outcome or on damage.
fn audit(memory: &MemoryStore) -> BTreeMap<Position, String> {
    let mut outcomes = BTreeMap::new();
    for part in pilote_ledger::parts(memory).unwrap() {
        let reading = read_part(memory, part).unwrap();
        assert!(!reading.findings.iter().any(Finding::is_damage), "{:?}", reading.findings);
        for record in reading.records {
            assert!(record.position.0 < ITEMS);
            let vector = match &record.outcome {
                Outcome::Accepted(output) => read_vector(memory, part, output).unwrap(),
                Outcome::Refused(_) => None,
            };
            let refusal = match record.outcome {
                Outcome::Refused(refusal) => Some(refusal),
                Outcome::Accepted(_) => None,
            };
            let text = format!("{:?} {:?} {vector:?} {refusal:?}", record.id, record.sha256);
            assert!(outcomes.insert(record.position, text).is_none(), "{} has two outcomes", record.position);
        }
    }
    outcomes
}

#[test]
fn a_trial_whose_store_fails_at_any_write_ends_with_the_outcomes_of_an_undisturbed_one() {
    let memory = indexed();
    let (end, asked) = start(&memory, 1, u64::MAX, false).unwrap();
    assert_eq!((end.why, asked), (EndReason::Done, ITEMS - 2));
    assert_eq!(end.durable, Outcomes { accepted: 20, refused: 3 });
    let expected = audit(&memory);
    assert_eq!(expected.len() as u64, ITEMS);
    assert!(expected[&Position(7)].contains("NotFinite"));
    // The undisturbed trial makes fewer than sixty writes; every one of them fails once, lost or done.
    for first in 0..60 {
        for done in [false, true] {
            let memory = indexed();
            let (mut starts, mut asked_in_all, mut left) = (0, 0, first);
            let mut before = BTreeMap::new();
            loop {
                starts += 1;
                assert!(starts < 200, "no progress after {first} writes");
                let Some((end, asked)) = start(&memory, starts, left, done) else { panic!("reading failed") };
                asked_in_all += asked;
                let now = audit(&memory);
                let durable = end.durable.accepted + end.durable.refused;
                assert!(now.len() as u64 >= durable, "{durable} were reported and {} are there", now.len());
                assert!(
                    before.iter().all(|(at, outcome)| now.get(at) == Some(outcome)),
                    "an outcome was lost"
                );
                before = now;
                if end.why == EndReason::Done {
                    break;
                }
                assert_eq!(end.why, EndReason::WriteError);
                assert!(end.error.is_some());
                // The later starts get further, so that the trial comes to an end.
                left = 2 + u64::try_from(starts).unwrap() * 3 % 17 + u64::from(starts > 20) * 100;
            }
            assert_eq!(before, expected, "first failure after {first} writes, done {done}");
            let window = 2 * BATCH_ITEMS + SYNC_ITEMS;
            let bound = ITEMS + u64::try_from(starts - 1).unwrap() * window;
            assert!(asked_in_all <= bound, "{asked_in_all} asked in {starts} starts");
        }
    }
}
