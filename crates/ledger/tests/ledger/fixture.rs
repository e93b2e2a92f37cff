//! A part of version 1, kept as files, is read by every later program as it was.

use std::path::PathBuf;
use std::sync::Arc;

use pilote_ledger::*;

use crate::support::*;

fn fixture() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1")
}

/// The story of the fixture: a first owner dies with a torn record, a second one takes over and seals.
fn tell(store: &Arc<dyn Store>, tear: impl FnOnce()) {
    let mut first = writer(store, 1);
    first.append(&(0..5).map(scripted).collect::<Vec<_>>()).unwrap();
    first.commit().unwrap();
    drop(first);
    tear();
    let mut second = writer(store, 2);
    second.append(&(5..9).map(scripted).collect::<Vec<_>>()).unwrap();
    second.commit().unwrap();
    second.seal().unwrap();
}

#[test]
fn the_fixture_of_version_1_is_read_as_it_was_written() {
    let store = DirStore::open(&fixture()).unwrap();
    let verified = verify_part(&store, 1).unwrap();
    assert_eq!((verified.accepted, verified.refused, verified.sealed), (8, 1, true));
    assert!(
        matches!(verified.findings[..], [Finding::Torn { entry: 1, bytes: 25, .. }]),
        "{:?}",
        verified.findings
    );
    assert_eq!(audit(&store, &(0..9).collect(), "fixture"), (0..9).collect::<Vec<_>>());
}

#[test]
fn version_1_is_still_written_to_the_byte() {
    let dir = scratch();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    tell(&store, || {
        let path = dir.path().join("parts/000001/000001");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"00c0ffee {\"position\":5,\"i");
        std::fs::write(path, bytes).unwrap();
    });
    let kept = DirStore::open(&fixture()).unwrap();
    for prefix in ["parts/", "payloads/", "aside/"] {
        let listed = store.list(prefix).unwrap();
        assert_eq!(listed, kept.list(prefix).unwrap());
        for Listed { key, .. } in listed {
            assert_eq!(store.read(&key).unwrap(), kept.read(&key).unwrap(), "{key}");
        }
    }
}
