//! One writer at a time: who is alive is left alone, who is gone is followed, who is unknown needs a word.

use std::sync::Arc;

use pilote_ledger::*;

use crate::support::*;

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn judging(store: &Arc<dyn Store>, pid: u32, liveness: &Arc<Declared>) -> Ledger {
    Ledger::new(Arc::clone(store), owner(pid), Arc::clone(liveness) as Arc<dyn Liveness>)
}

#[test]
fn a_living_owner_is_left_alone_and_named() {
    let (store, liveness) = (store(), Arc::new(Declared::default()));
    let _first = opened(judging(&store, 1, &liveness).open_part(1).unwrap());
    liveness.alive.lock().unwrap().insert(1);
    let error = judging(&store, 2, &liveness).open_part(1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "part 1 is being worked on by process 1 on box@0123456789ab; wait until that process ends, or stop it (if \
         it is frozen for good, `pilote unlock` lets another one take over)"
    );
    assert_eq!(store.list("parts/").unwrap().len(), 1);
}

#[test]
fn an_owner_whose_standing_is_unknown_is_followed_only_after_an_explicit_word() {
    let (store, liveness) = (store(), Arc::new(Declared::default()));
    let mut first = opened(judging(&store, 1, &liveness).open_part(1).unwrap());
    first.append(&records(0..3)).unwrap();
    first.commit().unwrap();
    first.append(&records(3..5)).unwrap();
    liveness.unknown.lock().unwrap().extend([1, 3]);
    let second = judging(&store, 2, &liveness);
    let error = second.open_part(1).unwrap_err();
    assert!(error.to_string().ends_with(
        "cannot be told here: it is declared so; make sure that it has ended, then run `pilote unlock` and take \
         the trial up again"
    ));
    // The word is given by a process that is gone, and of unknown standing itself, when it is followed.
    let unlocked = judging(&store, 3, &liveness).unlock(1).unwrap();
    assert_eq!(unlocked.from, owner(1));
    let writer = opened(second.open_part(1).unwrap());
    assert_eq!(writer.recorded().len(), 3);
    assert!(matches!(first.commit(), Err(LedgerError::Fenced { .. })), "the old owner is fenced");
}

#[test]
fn unlocking_twice_is_unlocking_once() {
    let store = store();
    drop(writer(&store, 1));
    ledger(&store, 2).unlock(1).unwrap();
    ledger(&store, 3).unlock(1).unwrap();
    assert_eq!(store.list("parts/").unwrap().len(), 2);
}

#[test]
fn there_is_nothing_to_unlock_where_nobody_holds_a_part() {
    let store = store();
    let error = ledger(&store, 1).unlock(1).unwrap_err();
    assert_eq!(error.to_string(), "part 1 is not begun, so there is nothing to unlock");
    writer(&store, 1).seal().unwrap();
    let error = ledger(&store, 2).unlock(1).unwrap_err();
    assert_eq!(error.to_string(), "part 1 is sealed, so there is nothing to unlock");
}

#[test]
fn a_part_given_up_in_order_is_anybodys() {
    for (name, Place { store, dir: _dir }) in places() {
        let liveness = Arc::new(Declared::default());
        let mut first = opened(judging(&store, 1, &liveness).open_part(1).unwrap());
        first.append(&records(0..3)).unwrap();
        first.commit().unwrap();
        first.release().unwrap();
        liveness.unknown.lock().unwrap().insert(1);
        let mut second = opened(judging(&store, 2, &liveness).open_part(1).unwrap());
        assert_eq!(second.recorded().len(), 3, "{name}");
        second.append(&records(3..5)).unwrap();
        second.commit().unwrap();
        second.seal().unwrap();
        assert_eq!(verify_part(&*store, 1).unwrap().findings, [], "{name}");
        assert_eq!(positions(&*store), [0, 1, 2, 3, 4], "{name}");
    }
}

#[test]
fn a_ledger_opens_a_part_once_and_again_when_its_writer_is_gone() {
    let store = store();
    let ledger = ledger(&store, 1);
    let mut first = opened(ledger.open_part(1).unwrap());
    assert!(matches!(ledger.clone().open_part(1), Err(LedgerError::AlreadyOpen { part: 1 })));
    first.append(&records(0..2)).unwrap();
    first.commit().unwrap();
    drop(first);
    let again = opened(ledger.open_part(1).unwrap());
    assert_eq!(again.recorded().len(), 2);
}

#[test]
fn a_refused_opening_leaves_the_part_free_for_the_next_one() {
    let (store, liveness) = (store(), Arc::new(Declared::default()));
    drop(opened(judging(&store, 1, &liveness).open_part(1).unwrap()));
    let second = judging(&store, 2, &liveness);
    liveness.alive.lock().unwrap().insert(1);
    assert!(matches!(second.open_part(1), Err(LedgerError::HeldBy { .. })));
    liveness.alive.lock().unwrap().clear();
    opened(second.open_part(1).unwrap());
}

#[test]
fn parts_have_owners_of_their_own() {
    let store = store();
    let (one, two) = (ledger(&store, 1), ledger(&store, 2));
    let mut first = opened(one.open_part(1).unwrap());
    let mut second = opened(two.open_part(2).unwrap());
    first.append(&records(0..2)).unwrap();
    second.append(&records(2..4)).unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    assert_eq!(parts(&*store).unwrap(), [1, 2]);
}

#[test]
fn sealing_and_giving_up_need_a_commit_first() {
    let store = store();
    for end in [|writer: PartWriter| writer.seal().map(drop), PartWriter::release] {
        let mut writer = writer(&store, 1);
        writer.append(&records(0..2)).unwrap();
        let error = end(writer).unwrap_err();
        assert_eq!(error.to_string(), "part 1 has 2 records that are not committed");
    }
}

#[test]
fn of_a_seal_and_a_takeover_only_one_wins() {
    for (name, Place { store, dir: _dir }) in places() {
        let mut first = writer(&store, 1);
        first.append(&records(0..3)).unwrap();
        first.commit().unwrap();
        let second = writer(&store, 2);
        let error = first.seal().unwrap_err();
        assert!(
            matches!(&error, LedgerError::Fenced { by: Some(by), .. } if by.pid == 2),
            "{name}: {error:?}"
        );
        second.seal().unwrap();
        assert_eq!(positions(&*store), [0, 1, 2], "{name}");
    }
}

#[test]
fn a_payload_left_by_another_owner_is_never_taken_for_ones_own() {
    for (name, Place { store, dir: _dir }) in places() {
        let mut first = writer(&store, 1);
        let old = first.put_payload("frame.png", &mut &b"old"[..]).unwrap();
        let mut second = writer(&store, 2);
        let new = second.put_payload("frame.png", &mut &b"new"[..]).unwrap();
        assert_ne!(old.name, new.name, "{name}");
        assert_eq!(
            second.put_payload("frame.png", &mut &b"new"[..]).unwrap(),
            new,
            "{name}: the same again is the same"
        );
        let error = second.put_payload("frame.png", &mut &b"other"[..]).unwrap_err();
        assert!(
            error.to_string().contains("give each payload of a part a name of its own"),
            "{name}: {error}"
        );
    }
}
