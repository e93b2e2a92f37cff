//! What the tests of the ledger share: owners, records and stores that fail on demand.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use pilote_ledger::*;
use pilote_spec::*;

/// An owner of the simulated world: process `pid` on one machine.
pub(crate) fn owner(pid: u32) -> Owner {
    Owner {
        nonce: Nonce(u128::from(pid) * 0x1_0000_0001),
        host: "box@0123456789ab".to_owned(),
        boot: "6d1f0a3e-6f3c-4c8a-9d55-0f5d4c1f7a11".to_owned(),
        pid,
        started: u64::from(pid) * 100,
        pid_namespace: 4_026_531_836,
    }
}

/// Liveness as a test declares it: everybody is dead but those named here.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) alive: Mutex<HashSet<u32>>,
    pub(crate) unknown: Mutex<HashSet<u32>>,
}

impl Liveness for Declared {
    fn standing(&self, owner: &Owner) -> Standing {
        if self.alive.lock().unwrap().contains(&owner.pid) {
            Standing::Alive
        } else if self.unknown.lock().unwrap().contains(&owner.pid) {
            Standing::Unknown("it is declared so".to_owned())
        } else {
            Standing::Dead("it is declared so".to_owned())
        }
    }
}

pub(crate) fn ledger(store: &Arc<dyn Store>, pid: u32) -> Ledger {
    Ledger::new(Arc::clone(store), owner(pid), Arc::new(Declared::default()))
}

/// Opens part 1 for writing, as an owner to whom every other one is dead.
pub(crate) fn writer(store: &Arc<dyn Store>, pid: u32) -> PartWriter {
    opened(ledger(store, pid).open_part(1).unwrap())
}

pub(crate) fn opened(opened: Opened) -> PartWriter {
    match opened {
        Opened::Writer(writer) => *writer,
        Opened::Sealed(seal) => panic!("sealed: {seal:?}"),
    }
}

/// A realistic record: a category with its score, the second best, identifier and digest.
pub(crate) fn accepted(position: u64) -> Record {
    Record {
        position: Position(position),
        id: Some(ItemId(format!("reports/2026/document-{position:06}.txt"))),
        sha256: Some(Digest::of(&position.to_le_bytes())),
        attempt: 1,
        outcome: Outcome::Accepted(Output::Category {
            category: "invoice".to_owned(),
            score: Some(0.5),
            others: vec![("letter".to_owned(), 0.25)],
            cut_at_tokens: None,
        }),
    }
}

pub(crate) fn refused(position: u64) -> Record {
    let refusal = Refusal::new(Reason::Work(WorkReason::Ambiguous)).with("first", "invoice");
    Record { outcome: Outcome::Refused(refusal), ..accepted(position) }
}

pub(crate) fn vector(position: u64, values: &[f32]) -> Record {
    let output = Output::Vector { values: values.to_vec(), cut_at_tokens: None };
    Record { outcome: Outcome::Accepted(output), ..accepted(position) }
}

pub(crate) fn records(positions: std::ops::Range<u64>) -> Vec<Record> {
    positions
        .map(|position| if position % 12 == 11 { refused(position) } else { accepted(position) })
        .collect()
}

pub(crate) fn positions(store: &dyn Store) -> Vec<u64> {
    read_part(store, 1).unwrap().records.iter().map(|record| record.position.0).collect()
}

/// A store under test, with whatever must outlive it.
pub(crate) struct Place {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dir: Option<tempfile::TempDir>,
}

/// A directory of its own, in memory where the machine has such a place: synchronising costs little there.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Every kind of store, by name.
pub(crate) fn places() -> Vec<(&'static str, Place)> {
    let on_disk = |change: fn(DirStore) -> DirStore| {
        let dir = scratch();
        let store = Arc::new(change(DirStore::open(dir.path()).unwrap()));
        Place { store, dir: Some(dir) }
    };
    vec![
        ("memory", Place { store: Arc::new(MemoryStore::new()), dir: None }),
        ("disk", on_disk(|store| store)),
        ("disk without appending", on_disk(DirStore::without_appending)),
        ("disk without links", on_disk(DirStore::without_links)),
    ]
}

/// Recounts everything: nothing is damaged, no position has two outcomes, each outcome is the one that belongs to
/// its position, and whatever was reported as committed is there. Gives the positions that are there.
pub(crate) fn audit(
    store: &dyn Store,
    reported: &std::collections::BTreeSet<u64>,
    context: &str,
) -> Vec<u64> {
    let reading = read_part(store, 1).unwrap();
    let damage: Vec<_> = reading.findings.iter().filter(|finding| finding.is_damage()).collect();
    assert!(damage.is_empty(), "{context}: {damage:?}");
    let mut there = Vec::new();
    for record in &reading.records {
        let position = record.position.0;
        assert_eq!(record.id, accepted(position).id, "{context}");
        if let Outcome::Accepted(output) = &record.outcome
            && let Some(values) = read_vector(store, 1, output).unwrap()
        {
            assert_eq!(values, components(position), "{context}");
        }
        there.push(position);
    }
    let lost: Vec<_> = reported.iter().filter(|position| !there.contains(position)).collect();
    assert!(lost.is_empty(), "{context}: reported as committed and not there: {lost:?}");
    let mut once = there.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), there.len(), "{context}: a position has two outcomes");
    assert_eq!(verify_part(store, 1).unwrap().findings, reading.findings, "{context}");
    once
}

/// The vector that belongs to a position.
pub(crate) fn components(position: u64) -> Vec<f32> {
    vec![position as f32, 0.5, -1.0]
}

/// What the scripted writers record at a position: every third a vector, every fifth a refusal.
pub(crate) fn scripted(position: u64) -> Record {
    if position.is_multiple_of(3) {
        vector(position, &components(position))
    } else if position.is_multiple_of(5) {
        refused(position)
    } else {
        accepted(position)
    }
}

/// Random numbers that a seed decides (splitmix64).
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
