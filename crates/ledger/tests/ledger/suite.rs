//! One suite of behaviour for every store.

use std::sync::Barrier;
use std::thread;

use pilote_ledger::*;

use crate::support::*;

#[test]
fn an_object_store_keeps_to_the_same_rules() {
    let s3 = crate::s3::S3::start();
    let store = s3.place("trial");
    assert_eq!(store.create("a/b/c", b"first").unwrap(), Creation::Created);
    assert_eq!(store.create("a/b/c", b"second").unwrap(), Creation::Exists);
    assert_eq!(store.read("a/b/c").unwrap().as_deref(), Some(&b"first"[..]));
    assert_eq!(store.read("a/b/d").unwrap(), None);
    assert!(store.exists("a/b/c").unwrap() && !store.exists("a/b").unwrap() && !store.appends());
    let range = |offset, length| store.read_range("a/b/c", offset, length).unwrap().unwrap();
    assert_eq!(
        (range(1, 2), range(3, 9), range(5, 1), range(9, 9)),
        ("ir".into(), "st".into(), vec![], vec![])
    );
    assert_eq!(store.read_range("nothing", 0, 5).unwrap(), None);
    for key in ["p/2/b", "p/1/a", "p/2/a", "p/3/c", "q/1"] {
        store.create(key, b"22").unwrap();
    }
    let listed: Vec<_> = store.list("p/").unwrap().into_iter().map(|one| one.key).collect();
    assert_eq!(listed, ["p/1/a", "p/2/a", "p/2/b", "p/3/c"]);
    assert!(matches!(store.create("a/../x", b"x"), Err(StoreError::BadKey { .. })));
}

#[test]
fn a_key_is_created_once_and_keeps_its_first_bytes() {
    for (name, Place { store, dir: _dir }) in places() {
        assert_eq!(store.create("a/b/c", b"first").unwrap(), Creation::Created, "{name}");
        assert_eq!(store.create("a/b/c", b"second").unwrap(), Creation::Exists, "{name}");
        assert_eq!(store.read("a/b/c").unwrap().as_deref(), Some(&b"first"[..]), "{name}");
        assert!(store.exists("a/b/c").unwrap() && !store.exists("a/b/d").unwrap(), "{name}");
    }
}

#[test]
fn of_many_creators_exactly_one_wins() {
    for (name, Place { store, dir: _dir }) in places() {
        for round in 0..20 {
            let barrier = Barrier::new(4);
            let key = format!("race/{round:03}");
            let wins: Vec<Vec<u8>> = thread::scope(|scope| {
                let creators: Vec<_> = (0..4_u8)
                    .map(|creator| {
                        let (store, barrier, key) = (&store, &barrier, &key);
                        scope.spawn(move || {
                            barrier.wait();
                            let bytes = vec![creator; 1000];
                            (store.create(key, &bytes).unwrap() == Creation::Created).then_some(bytes)
                        })
                    })
                    .collect();
                creators.into_iter().filter_map(|creator| creator.join().unwrap()).collect()
            });
            assert_eq!(wins.len(), 1, "{name}");
            assert_eq!(store.read(&key).unwrap().as_ref(), wins.first(), "{name}");
        }
    }
}

#[test]
fn an_absent_key_is_none_and_no_error() {
    for (name, Place { store, dir: _dir }) in places() {
        store.create("a/b", b"x").unwrap();
        for key in ["nothing", "a/nothing", "a/b/under-a-file"] {
            assert_eq!(store.read(key).unwrap(), None, "{name} {key}");
            assert_eq!(store.read_range(key, 0, 5).unwrap(), None, "{name} {key}");
            assert!(!store.exists(key).unwrap(), "{name} {key}");
        }
        assert_eq!(store.list("nothing/").unwrap(), [], "{name}");
    }
}

#[test]
fn a_range_is_cut_at_the_end() {
    for (name, Place { store, dir: _dir }) in places() {
        store.create("k", b"0123456789").unwrap();
        let range = |offset, length| store.read_range("k", offset, length).unwrap().unwrap();
        assert_eq!(range(2, 3), b"234", "{name}");
        assert_eq!(range(8, 5), b"89", "{name}");
        assert_eq!(range(10, 5), b"", "{name}");
        assert_eq!(range(99, 5), b"", "{name}");
    }
}

#[test]
fn a_listing_is_ordered_and_shows_lengths_at_any_depth() {
    for (name, Place { store, dir: _dir }) in places() {
        for (key, bytes) in [("p/2/b", "22"), ("p/1/a", "1"), ("p/2/a", ""), ("q/1", "other")] {
            store.create(key, bytes.as_bytes()).unwrap();
        }
        let listed: Vec<_> = store.list("p/").unwrap().into_iter().map(|l| (l.key, l.bytes)).collect();
        let expected = [("p/1/a", 1), ("p/2/a", 0), ("p/2/b", 2)].map(|(key, bytes)| (key.to_owned(), bytes));
        assert_eq!(listed, expected, "{name}");
    }
}

#[test]
fn a_key_that_could_leave_the_store_is_refused() {
    for (name, Place { store, dir: _dir }) in places() {
        for key in ["", "/etc/x", "../x", "a/../x", "a//b", "a/.hidden", "a b", "é", "a\\b", "a/"] {
            let error = store.create(key, b"x").unwrap_err();
            assert!(matches!(error, StoreError::BadKey { .. }), "{name} {key:?}: {error:?}");
        }
    }
}

#[test]
fn what_is_appended_is_visible_in_order_where_the_store_appends() {
    for (name, Place { store, dir: _dir }) in places() {
        store.create("k", b"head ").unwrap();
        assert_eq!(store.appender("k").unwrap().is_some(), store.appends(), "{name}");
        let Some(mut appender) = store.appender("k").unwrap() else { continue };
        appender.append(b"one ").unwrap();
        appender.append(b"two").unwrap();
        appender.sync().unwrap();
        store.secure("k", 12).unwrap();
        assert_eq!(store.read("k").unwrap().unwrap(), b"head one two", "{name}");
        assert!(matches!(store.secure("k", 13), Err(StoreError::Gone { bytes: 13, .. })), "{name}");
    }
}
