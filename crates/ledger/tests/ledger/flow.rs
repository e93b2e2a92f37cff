//! Writing, taking over, sealing and reading back, on every kind of store.

use std::sync::Arc;

use crate::support::*;
use pilote_ledger::*;
use pilote_spec::*;

#[test]
fn what_is_committed_is_read_back_in_order_on_every_store() {
    for (name, place) in places() {
        let mut writer = writer(&place.store, 1);
        writer.append(&records(0..5)).unwrap();
        assert_eq!(writer.commit().unwrap(), 5, "{name}");
        writer.append(&records(5..7)).unwrap();
        assert_eq!(writer.commit().unwrap(), 2, "{name}");
        assert_eq!(writer.commit().unwrap(), 0, "{name}");
        let reading = read_part(&*place.store, 1).unwrap();
        assert_eq!(reading.records, records(0..7), "{name}");
        assert_eq!(reading.findings, [], "{name}");
        let seal = writer.seal().unwrap();
        assert_eq!((seal.accepted, seal.refused), (7, 0), "{name}");
        assert_eq!(read_part(&*place.store, 1).unwrap().seal, Some(seal), "{name}");
    }
}

#[test]
fn what_is_not_committed_is_not_there() {
    for (name, place) in places() {
        let mut writer = writer(&place.store, 1);
        writer.append(&records(0..5)).unwrap();
        drop(writer);
        assert_eq!(positions(&*place.store), [0_u64; 0], "{name}");
    }
}

#[test]
fn a_dead_owners_part_is_taken_over_and_carried_on() {
    for (name, place) in places() {
        let mut first = writer(&place.store, 1);
        first.append(&records(0..3)).unwrap();
        first.commit().unwrap();
        let mut second = writer(&place.store, 2);
        let taken = second.taken_over().unwrap().clone();
        assert_eq!((taken.from.pid, taken.records, taken.torn_bytes()), (1, 3, 0), "{name}");
        assert_eq!(second.recorded().iter().map(|p| p.0).collect::<Vec<_>>(), [0, 1, 2], "{name}");
        second.append(&records(3..6)).unwrap();
        second.commit().unwrap();
        let seal = second.seal().unwrap();
        assert_eq!(seal.accepted + seal.refused, 6, "{name}");
        assert_eq!(positions(&*place.store), [0, 1, 2, 3, 4, 5], "{name}");
        assert_eq!(verify_part(&*place.store, 1).unwrap().findings, [], "{name}");
    }
}

#[test]
fn a_fenced_owner_learns_it_and_its_late_records_do_not_count() {
    for (name, place) in places() {
        let mut old = writer(&place.store, 1);
        old.append(&records(0..3)).unwrap();
        old.commit().unwrap();
        old.append(&records(3..6)).unwrap();
        let mut new = writer(&place.store, 2);
        let error = old.commit().unwrap_err();
        assert!(
            matches!(&error, LedgerError::Fenced { by: Some(by), .. } if by.pid == 2),
            "{name}: {error:?}"
        );
        assert!(matches!(old.commit(), Err(LedgerError::Spent { .. })), "{name}");
        new.append(&records(3..7)).unwrap();
        new.commit().unwrap();
        new.seal().unwrap();
        let reading = read_part(&*place.store, 1).unwrap();
        assert_eq!(reading.records, records(0..7), "{name}");
        let late = reading.findings.iter().filter(|f| matches!(f, Finding::Late { records: 3, .. })).count();
        assert_eq!(late, usize::from(place.store.appends()), "{name}: {:?}", reading.findings);
        assert!(
            reading.findings.iter().all(|finding| !finding.is_damage()),
            "{name}: {:?}",
            reading.findings
        );
    }
}

#[test]
fn a_sealed_part_is_opened_as_sealed_and_takes_nothing_more() {
    for (name, place) in places() {
        let mut writer = writer(&place.store, 1);
        writer.append(&records(0..3)).unwrap();
        writer.commit().unwrap();
        let seal = writer.seal().unwrap();
        match ledger(&place.store, 2).open_part(1).unwrap() {
            Opened::Sealed(found) => assert_eq!(found, seal, "{name}"),
            Opened::Writer(_) => panic!("{name}: opened for writing"),
        }
    }
}

#[test]
fn vectors_go_to_payloads_and_come_back_bit_by_bit() {
    for (name, place) in places() {
        let mut first = writer(&place.store, 1);
        first.append(&[vector(0, &[1.0, -0.0, 3.5e-40]), accepted(1)]).unwrap();
        first.commit().unwrap();
        first.append(&[vector(2, &[4.0])]).unwrap();
        first.commit().unwrap();
        let mut second = writer(&place.store, 2);
        second.append(&[vector(3, &[5.0, 6.0])]).unwrap();
        second.commit().unwrap();
        let seal = second.seal().unwrap();
        let read: Vec<Vec<u32>> = read_part(&*place.store, 1)
            .unwrap()
            .records
            .iter()
            .filter_map(|record| match &record.outcome {
                Outcome::Accepted(output) => read_vector(&*place.store, 1, output).unwrap(),
                Outcome::Refused(_) => None,
            })
            .map(|values| values.iter().map(|value| value.to_bits()).collect())
            .collect();
        let expected = [vec![1.0_f32, -0.0, 3.5e-40], vec![4.0], vec![5.0, 6.0]];
        let bits = |values: &Vec<f32>| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(read, expected.iter().map(bits).collect::<Vec<_>>(), "{name}");
        let bytes: u64 = seal.payloads.iter().map(|payload| payload.bytes).sum();
        assert_eq!(bytes, 24, "{name}");
        assert_eq!(verify_part(&*place.store, 1).unwrap().findings, [], "{name}");
    }
}

#[test]
fn one_outcome_is_found_by_its_position() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut writer = writer(&store, 1);
    writer.append(&records(0..30)).unwrap();
    writer.commit().unwrap();
    assert_eq!(find_in_part(&*store, 1, Position(23)).unwrap(), Some(refused(23)));
    assert_eq!(find_in_part(&*store, 1, Position(30)).unwrap(), None);
}
