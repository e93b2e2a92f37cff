//! What was changed, lost or moved afterwards is found, on sealed and unsealed parts.

use std::sync::Arc;

use pilote_ledger::*;
use pilote_spec::*;

use crate::support::*;

/// A part with two owners, vectors, a file and a seal, in memory.
fn sealed() -> Arc<MemoryStore> {
    let memory = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = memory.clone();
    let mut first = writer(&store, 1);
    first.append(&(0..5).map(scripted).collect::<Vec<_>>()).unwrap();
    first.commit().unwrap();
    let mut second = writer(&store, 2);
    let payload = second.put_payload("frame.png", &mut &b"pixels"[..]).unwrap();
    let output = Output::File { payload: payload.name, digest: payload.sha256, bytes: payload.bytes };
    second.append(&[Record { outcome: Outcome::Accepted(output), ..accepted(5) }]).unwrap();
    second.commit().unwrap();
    second.seal().unwrap();
    memory
}

fn damage(store: &MemoryStore) -> Vec<Finding> {
    verify_part(store, 1).unwrap().findings.into_iter().filter(Finding::is_damage).collect()
}

#[test]
fn an_untouched_part_verifies() {
    let store = sealed();
    let verified = verify_part(&*store, 1).unwrap();
    let expected = Verification { accepted: 6, refused: 0, sealed: true, findings: Vec::new() };
    assert_eq!(verified, expected);
}

#[test]
fn no_flipped_bit_passes_and_none_invents_an_outcome() {
    let store = sealed();
    let originals = read_part(&*store, 1).unwrap().records;
    for Listed { key, bytes } in store.list("parts/").unwrap() {
        let whole = store.read(&key).unwrap().unwrap();
        for at in (0..bytes as usize).step_by(3) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            store.overwrite(&key, flipped);
            match verify_part(&*store, 1) {
                Ok(verified) => {
                    assert!(verified.findings.iter().any(Finding::is_damage), "{key} byte {at} passed");
                    let records = read_part(&*store, 1).unwrap().records;
                    assert!(records.iter().all(|record| originals.contains(record)), "{key} byte {at}");
                }
                Err(error) => panic!("{key} byte {at}: {error}"),
            }
        }
        store.overwrite(&key, whole);
    }
    assert_eq!(damage(&store), []);
}

#[test]
fn no_entry_cut_short_passes() {
    let store = sealed();
    for Listed { key, bytes } in store.list("parts/").unwrap() {
        let whole = store.read(&key).unwrap().unwrap();
        for length in (0..bytes as usize).step_by(3) {
            store.overwrite(&key, whole[..length].to_vec());
            assert_ne!(damage(&store), [], "{key} cut at {length} passed");
        }
        store.overwrite(&key, whole);
    }
}

#[test]
fn a_lost_entry_is_missed() {
    for (lost, name) in [(1, "000001"), (2, "000002"), (3, "000003"), (4, "000004")] {
        let store = sealed();
        store.remove(&format!("parts/000001/{name}"));
        let findings = damage(&store);
        assert!(
            findings.contains(&Finding::MissingEntries { first: lost, last: lost }),
            "{lost}: {findings:?}"
        );
    }
}

#[test]
fn a_part_with_a_lost_entry_is_not_written_to() {
    let memory = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = memory.clone();
    let mut first = writer(&store, 1);
    for at in 0..3 {
        first.append(&records(at..at + 1)).unwrap();
        first.commit().unwrap();
    }
    memory.remove("parts/000001/000002");
    let error = ledger(&store, 2).open_part(1).unwrap_err();
    assert!(error.to_string().contains("entry 2 is missing"), "{error}");
}

#[test]
fn an_entry_moved_to_another_place_is_noticed() {
    let store = sealed();
    let entry = store.read("parts/000001/000002").unwrap().unwrap();
    store.overwrite("parts/000007/000001", entry);
    let findings = read_part(&*store, 7).unwrap().findings;
    assert_eq!(findings, [Finding::Misplaced { entry: 1, says_part: 1, says_entry: 2 }]);
}

#[test]
fn an_entry_after_the_seal_is_no_part_of_it() {
    let store = sealed();
    let before = read_part(&*store, 1).unwrap();
    let last = store.list("parts/").unwrap().len() as u64;
    store.overwrite(&format!("parts/000001/{:06}", last + 1), b"anything".to_vec());
    let after = read_part(&*store, 1).unwrap();
    assert_eq!(after.records, before.records);
    assert_eq!(after.findings, [Finding::AfterSeal { entry: last + 1 }]);
}

#[test]
fn a_lost_or_changed_payload_is_named() {
    for (name, length) in [("000001-000001.f32", 24), ("000003-frame.png", 6)] {
        let store = sealed();
        let key = payload_key(1, name);
        let whole = store.read(&key).unwrap().unwrap();
        let mut changed = whole.clone();
        changed[length - 1] ^= 1;
        store.overwrite(&key, changed);
        assert_eq!(damage(&store), [Finding::PayloadChanged { payload: name.to_owned() }]);
        store.overwrite(&key, whole[..length - 1].to_vec());
        let missing = Finding::PayloadMissing { payload: name.to_owned(), bytes: length as u64 };
        assert_eq!(damage(&store), std::slice::from_ref(&missing));
        store.remove(&key);
        assert_eq!(damage(&store), [missing]);
    }
}

#[test]
fn a_changed_vector_is_not_given_out() {
    let store = sealed();
    let key = payload_key(1, "000001-000001.f32");
    let mut changed = store.read(&key).unwrap().unwrap();
    changed[0] ^= 1;
    store.overwrite(&key, changed);
    let first = find_in_part(&*store, 1, Position(0)).unwrap().unwrap();
    let Outcome::Accepted(output) = first.outcome else { panic!("refused") };
    let error = read_vector(&*store, 1, &output).unwrap_err();
    assert!(
        error.to_string().contains("`000001-000001.f32` of part 1 is missing or no longer as recorded"),
        "{error}"
    );
}

#[test]
fn a_part_of_a_later_format_is_refused_with_both_formats() {
    let store = sealed();
    let json = br#"{"format":"pilote.ledger/2","anything":1}"#;
    let mut line = format!("{:08x} ", crc32fast::hash(json)).into_bytes();
    line.extend_from_slice(json);
    line.push(b'\n');
    store.overwrite("parts/000001/000001", line);
    let error = read_part(&*store, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`parts/000001/000001` is written in format `pilote.ledger/2`, and this program reads `pilote.ledger/1`; \
         use the version of pilote that wrote it, or a later one"
    );
}

#[test]
fn a_part_whose_payload_is_lost_is_not_sealed() {
    let memory = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = memory.clone();
    let mut writer = writer(&store, 1);
    writer.append(&[scripted(0)]).unwrap();
    writer.commit().unwrap();
    memory.remove(&payload_key(1, "000001-000001.f32"));
    let error = writer.seal().unwrap_err();
    assert!(error.to_string().contains("payload `000001-000001.f32` of 12 bytes is missing"), "{error}");
}
