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
            score: 0.5,
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

/// Every kind of store, by name.
pub(crate) fn places() -> Vec<(&'static str, Place)> {
    let on_disk = |change: fn(DirStore) -> DirStore| {
        let dir = tempfile::tempdir().unwrap();
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
