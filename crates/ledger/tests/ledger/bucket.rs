//! An object store as the place of files, and what becomes of it when the network does not hold.

use std::io::{Read as _, Write as _};

use pilote_ledger::*;

use crate::s3::{Mishap, S3};

#[test]
fn an_object_of_several_pieces_is_there_whole_or_not_at_all() {
    let s3 = S3::start();
    let place = s3.place("copies");
    let bytes: Vec<u8> = (0..PIECE_BYTES * 2 + 7).map(|n| (n % 251) as u8).collect();
    let mut upload = place.upload("large", bytes.len() as u64).unwrap();
    upload.write_all(&bytes).unwrap();
    assert_eq!((place.length("large").unwrap(), s3.open_uploads()), (None, 1));
    upload.finish().unwrap();
    assert_eq!(place.length("large").unwrap(), Some(bytes.len() as u64));
    let mut back = Vec::new();
    place.reader("large", bytes.len() as u64).read_to_end(&mut back).unwrap();
    assert!(back == bytes);
    let mut given_up = place.upload("other", bytes.len() as u64).unwrap();
    given_up.write_all(&bytes).unwrap();
    drop(given_up);
    assert_eq!((place.length("other").unwrap(), s3.open_uploads()), (None, 0));
}

#[test]
fn a_listing_goes_over_all_pages_and_stays_in_its_folder() {
    let s3 = S3::start();
    let place = s3.place("copies");
    let names = ["a b & c.txt", "data/100 %.txt", "data/é.txt", "x/1", "x/2", "x/3", "x/4"];
    for name in names {
        place.put(name, name.as_bytes()).unwrap();
    }
    s3.keep("elsewhere/x", b"1".to_vec());
    let listed: Vec<String> = place.objects("").unwrap().into_iter().map(|one| one.key).collect();
    assert_eq!(listed, names);
    for name in names {
        assert_eq!(place.range(name, 0, 100).unwrap().as_deref(), Some(name.as_bytes()), "{name}");
    }
    assert_eq!(place.objects("x/").unwrap().len(), 4);
    place.remove("x/1").unwrap();
    assert_eq!(place.within("x").objects("").unwrap().len(), 3);
}

#[test]
fn a_connection_that_drops_is_tried_again() {
    let s3 = S3::start();
    let place = s3.place("copies");
    for mishap in [Mishap::DropBefore, Mishap::DropAfter, Mishap::DropWithin, Mishap::Refuse(503)] {
        let mut left = 1;
        s3.misbehave(move |_, _| {
            left -= 1;
            if left >= 0 { mishap } else { Mishap::None }
        });
        place.put("k", b"0123456789").unwrap();
        assert_eq!(place.range("k", 3, 4).unwrap().as_deref(), Some(&b"3456"[..]), "{mishap:?}");
        let mut left = 1;
        s3.misbehave(move |method, _| {
            left -= i32::from(method == "GET");
            if method == "GET" && left >= 0 { mishap } else { Mishap::None }
        });
        assert_eq!(place.range("k", 3, 4).unwrap().as_deref(), Some(&b"3456"[..]), "{mishap:?}");
    }
}

#[test]
fn a_creation_whose_answer_was_lost_is_told_as_one_that_exists() {
    let s3 = S3::start();
    let place = s3.place("trial");
    let mut left = 1;
    s3.misbehave(move |_, _| {
        left -= 1;
        if left >= 0 { Mishap::DropAfter } else { Mishap::None }
    });
    // Whoever needs to know whose it is compares what is stored, as the trait says.
    assert_eq!(place.create("parts/000001/000001", b"mine").unwrap(), Creation::Exists);
    assert_eq!(place.read("parts/000001/000001").unwrap().as_deref(), Some(&b"mine"[..]));
}

#[test]
fn a_refusal_says_so_and_shows_no_secret() {
    let s3 = S3::start();
    s3.misbehave(|_, _| Mishap::Refuse(403));
    let error = s3.place("copies").put("k", b"x").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    let whole = format!("{error} {error:?}");
    assert!(!whole.contains("made-up"), "{whole}");
}
