//! The same behaviour while the store fails: every error surfaces, nothing that was reported is lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use pilote_ledger::*;
use pilote_spec::*;

use crate::faulty::{Fault, Faulty, Repeating};
use crate::support::*;

const ITEMS: u64 = 12;

/// Works on part 1 until it is sealed or an error stops it; puts what was reported as committed into `reported`.
fn work(store: &Arc<dyn Store>, pid: u32, reported: &mut BTreeSet<u64>) -> Result<(), LedgerError> {
    let mut writer = match ledger(store, pid).open_part(1)? {
        Opened::Writer(writer) => writer,
        Opened::Sealed(_) => return Ok(()),
    };
    let pending: Vec<u64> = (0..ITEMS).filter(|at| !writer.recorded().contains(Position(*at))).collect();
    for batch in pending.chunks(4) {
        let records: Vec<Record> = batch.iter().map(|at| scripted(*at)).collect();
        writer.append(&records)?;
        writer.commit()?;
        reported.extend(batch);
    }
    writer.seal().map(drop)
}

#[test]
fn a_write_that_fails_surfaces_and_whoever_takes_up_again_finishes() {
    let mut struck = 0;
    for (name, place) in places() {
        for fault in Fault::ALL {
            for at in 0.. {
                let dir = scratch();
                let inner: Arc<dyn Store> = match name {
                    "memory" => Arc::new(MemoryStore::new()),
                    "disk without appending" => {
                        Arc::new(DirStore::open(dir.path()).unwrap().without_appending())
                    }
                    _ => Arc::new(DirStore::open(dir.path()).unwrap()),
                };
                let context = format!("{name}, {fault:?} at write {at}");
                let faulty = Arc::new(Faulty::new(Arc::clone(&inner), fault, at));
                let store: Arc<dyn Store> = faulty.clone();
                let mut reported = BTreeSet::new();
                let result = work(&store, 1, &mut reported);
                if !faulty.struck() {
                    result.unwrap();
                    break;
                }
                struck += 1;
                assert!(matches!(result, Err(LedgerError::Store(_))), "{context}: {result:?}");
                audit(&*inner, &reported, &context);
                work(&inner, 2, &mut reported).unwrap();
                let there = audit(&*inner, &reported, &context);
                assert_eq!(there, (0..ITEMS).collect::<Vec<_>>(), "{context}");
            }
        }
        drop(place);
    }
    assert!(struck > 150, "only {struck} writes were made to fail");
}

#[test]
fn the_second_owner_may_meet_a_failing_store_as_well() {
    for fault in Fault::ALL {
        for at in 0..40 {
            let dir = scratch();
            let disk: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
            let mut reported = BTreeSet::new();
            let first: Arc<dyn Store> = Arc::new(Faulty::new(Arc::clone(&disk), Fault::Full, 7 + at % 5));
            let _ = work(&first, 1, &mut reported);
            let second: Arc<dyn Store> = Arc::new(Faulty::new(Arc::clone(&disk), fault, at));
            let _ = work(&second, 2, &mut reported);
            work(&disk, 3, &mut reported).unwrap();
            let there = audit(&*disk, &reported, &format!("{fault:?} at write {at}"));
            assert_eq!(there, (0..ITEMS).collect::<Vec<_>>());
        }
    }
}

#[test]
fn an_exists_that_bears_this_owners_nonce_is_its_own_creation() {
    let store: Arc<dyn Store> = Arc::new(Repeating(MemoryStore::new()));
    let mut reported = BTreeSet::new();
    let mut first = writer(&store, 1);
    first.append(&records(0..2)).unwrap();
    assert_eq!(first.commit().unwrap(), 2);
    drop(first);
    work(&store, 2, &mut reported).unwrap();
    assert_eq!(audit(&*store, &reported, "repeating"), (0..ITEMS).collect::<Vec<_>>());
}

#[test]
fn after_a_failed_synchronisation_the_writer_writes_nothing_more() {
    let dir = scratch();
    let disk: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    // Writes: the entry, and then for each commit an append and a synchronisation.
    let store: Arc<dyn Store> = Arc::new(Faulty::new(Arc::clone(&disk), Fault::Sync, 2));
    let mut first = writer(&store, 1);
    first.append(&records(0..2)).unwrap();
    assert!(matches!(first.commit(), Err(LedgerError::Store(_))));
    let length = disk.list("parts/").unwrap()[0].bytes;
    assert!(matches!(first.append(&records(2..4)), Err(LedgerError::Spent { part: 1 })));
    assert!(matches!(first.put_payload("x", &mut &b"x"[..]), Err(LedgerError::Spent { part: 1 })));
    let error = first.commit().unwrap_err();
    assert_eq!(
        error.to_string(),
        "part 1 is no longer written to after an earlier error; take the trial up again with --resume"
    );
    assert!(matches!(first.seal(), Err(LedgerError::Spent { part: 1 })));
    assert_eq!(disk.list("parts/").unwrap()[0].bytes, length);
}

#[test]
fn a_full_disk_says_so_and_what_was_committed_stays() {
    let dir = scratch();
    let disk: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let store: Arc<dyn Store> = Arc::new(Faulty::new(Arc::clone(&disk), Fault::Full, 3));
    let mut first = writer(&store, 1);
    first.append(&records(0..4)).unwrap();
    first.commit().unwrap();
    first.append(&records(4..7)).unwrap();
    let error = first.commit().unwrap_err();
    assert!(error.to_string().starts_with("no space left while writing `parts/000001/000001`"), "{error}");
    let second = writer(&disk, 2);
    assert!(second.recorded().len() >= 4);
    assert!(second.taken_over().unwrap().torn_bytes() > 0, "half a write is a torn tail");
}
