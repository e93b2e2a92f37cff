//! Copies in an object store: made, read again, interrupted, cut short, damaged.

use std::collections::BTreeMap;

use pilote_proof::{
    Destination, Export, Exported, Grade, ProofError, Thoroughness, Verification, close, collect, export,
    export_as, verify, verify_bucket, write_receipt,
};
use pilote_spec::{Project, Stamp};

use crate::archive::small;
use crate::decision::reader;
use crate::s3::{Mishap, S3};
use crate::support::{Fixture, NAME, contents, pilot};

const AT: Stamp = Stamp(1_796_062_600_000);

fn collected() -> Fixture {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    fixture
}

fn to(fixture: &Fixture, s3: &S3) -> Result<Exported, ProofError> {
    let place = Destination::Bucket(s3.place("trials"));
    export_as(&Export { threads: 1, ..Export::new(&fixture.trial, place, AT) }, &mut |_, _| {})
}

fn archived(fixture: &Fixture, s3: &S3) -> Exported {
    let place = Destination::Bucket(s3.place("trials"));
    let export = Export { archive: true, ..Export::new(&fixture.trial, place, AT) };
    export_as(&export, &mut |_, _| {}).unwrap()
}

fn read(s3: &S3, name: &str) -> Verification {
    let place = s3.place(&format!("trials/{name}"));
    verify_bucket(&place, &Thoroughness::default()).unwrap()
}

fn errors(verification: &Verification) -> Vec<(&'static str, String)> {
    let errors = verification.findings.iter().filter(|finding| finding.grade == Grade::Error);
    errors.map(|finding| (finding.code.code(), finding.place.clone())).collect()
}

#[test]
fn a_copy_in_an_object_store_has_the_same_payload_and_gets_its_verdict_last() {
    let (fixture, s3) = (collected(), S3::start());
    let exported = to(&fixture, &s3).unwrap();
    assert!(exported.verification.holds, "{:#?}", exported.verification.findings);
    assert_eq!(exported.copy.to_str().unwrap(), s3.address(&format!("trials/{NAME}")));
    assert_eq!((exported.same_file_system, exported.is_backup()), (None, false));
    let puts: Vec<String> = s3.requests().into_iter().filter(|one| one.starts_with("PUT")).collect();
    assert_eq!(puts.first().unwrap(), &format!("PUT trials/{NAME}/bagit.txt"));
    assert_eq!(puts.last().unwrap(), &format!("PUT trials/{NAME}/verification.json"));
    let folder = export(&fixture.trial, &fixture.elsewhere(), AT, &mut |_, _| {}).unwrap().copy;
    let prefix = format!("trials/{NAME}/");
    let kept: BTreeMap<String, Vec<u8>> = s3
        .objects()
        .into_iter()
        .map(|(key, bytes)| (key.strip_prefix(&prefix).unwrap().to_owned(), bytes))
        .collect();
    assert_eq!(kept, contents(&folder));
    let verification = read(&s3, NAME);
    assert!(verification.whole && verification.holds, "{:#?}", verification.findings);
    assert_eq!(verification.balance.unwrap().accepted, 11);
    for (key, bytes) in s3.objects() {
        let secret = bytes.windows(7).any(|window| window == b"made-up");
        assert!(!secret, "the key to the store is in {key}");
    }
}

#[test]
fn exporting_again_to_an_object_store_reads_the_copy_again_and_puts_no_file() {
    let (fixture, s3) = (collected(), S3::start());
    to(&fixture, &s3).unwrap();
    s3.requests();
    assert!(to(&fixture, &s3).unwrap().already);
    let puts: Vec<String> = s3.requests().into_iter().filter(|one| one.starts_with("PUT")).collect();
    assert_eq!(puts, [format!("PUT trials/{NAME}/verification.json")]);
    s3.keep(&format!("trials/{NAME}/data/results.jsonl"), b"other".to_vec());
    let again = to(&fixture, &s3).unwrap();
    assert!(again.already && !again.verification.whole);
}

#[test]
fn an_export_to_an_object_store_that_stops_at_any_request_never_looks_finished_and_is_gone_on_with() {
    let fixture = collected();
    let all = {
        let s3 = S3::start();
        to(&fixture, &s3).unwrap();
        s3.requests().len()
    };
    for stop in (1..all).step_by(7) {
        let s3 = S3::start();
        let mut left = stop;
        s3.misbehave(move |_, _| {
            left = left.saturating_sub(1);
            if left == 0 { Mishap::Refuse(403) } else { Mishap::None }
        });
        match to(&fixture, &s3) {
            Ok(exported) => assert!(!exported.verification.whole, "stopped at {stop} of {all}"),
            Err(error) => {
                let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |one| one.source());
                let said: Vec<String> = chain.map(ToString::to_string).collect();
                assert!(said.iter().any(|line| line.contains("http://127.0.0.1:")), "{said:?}");
            }
        }
        s3.behave();
        let there = s3.objects();
        let verdict = format!("trials/{NAME}/verification.json");
        assert!(!there.contains_key(&verdict), "stopped at {stop} of {all}");
        if !there.is_empty() {
            assert!(!read(&s3, NAME).whole, "stopped at {stop} of {all}");
        }
        let exported = to(&fixture, &s3).unwrap();
        assert!(exported.verification.holds && !exported.already, "stopped at {stop} of {all}");
        let payload = there.keys().filter(|key| key.contains("/data/")).count() as u64;
        assert_eq!(exported.kept, payload, "stopped at {stop} of {all}");
    }
}

#[test]
fn an_unfinished_copy_in_an_object_store_says_to_run_the_export_again() {
    let (fixture, s3) = (collected(), S3::start());
    s3.misbehave(|method, key| {
        if method == "PUT" && key.ends_with("trial.json") { Mishap::Refuse(403) } else { Mishap::None }
    });
    to(&fixture, &s3).unwrap_err();
    s3.behave();
    let verification = read(&s3, NAME);
    let unfinished = verification.findings.iter().find(|one| one.code.code() == "unfinished-copy").unwrap();
    assert!(unfinished.detail.contains("run the export again"), "{unfinished:?}");
}

#[test]
fn connections_that_drop_now_and_then_change_nothing() {
    let (fixture, s3) = (collected(), S3::start());
    let mut number = 0;
    s3.misbehave(move |method, _| {
        number += 1;
        match number % 17 {
            3 => Mishap::DropBefore,
            8 if method != "POST" => Mishap::DropAfter,
            13 => Mishap::DropWithin,
            _ => Mishap::None,
        }
    });
    let exported = to(&fixture, &s3).unwrap();
    assert!(exported.verification.holds, "{:#?}", exported.verification.findings);
    assert!(read(&s3, NAME).holds);
}

#[test]
fn an_object_that_the_store_cut_short_is_found_gets_no_verdict_and_is_put_anew() {
    let (fixture, s3) = (collected(), S3::start());
    s3.misbehave(|method, key| {
        let cut = method == "PUT" && key.ends_with("data/results.jsonl");
        if cut { Mishap::KeepHalf } else { Mishap::None }
    });
    let exported = to(&fixture, &s3).unwrap();
    assert!(!exported.verification.whole);
    let found = errors(&exported.verification);
    assert!(found.contains(&("file-differs", "data/results.jsonl".to_owned())), "{found:?}");
    assert!(!s3.objects().contains_key(&format!("trials/{NAME}/verification.json")));
    s3.behave();
    let mended = to(&fixture, &s3).unwrap();
    assert!(mended.verification.holds && mended.kept > 10, "{}", mended.kept);
}

#[test]
fn every_object_that_is_changed_lost_or_added_is_found() {
    let (fixture, s3) = (small(), S3::start());
    to(&fixture, &s3).unwrap();
    assert!(read(&s3, NAME).whole);
    for (key, bytes) in s3.objects() {
        let mut changed = bytes.clone();
        let at = changed.len() / 3;
        match changed.get_mut(at) {
            Some(byte) => *byte ^= 1,
            None => changed.push(b'x'),
        }
        s3.keep(&key, changed);
        assert!(!read(&s3, NAME).whole, "{key} changed");
        s3.lose(&key);
        assert!(!read(&s3, NAME).whole, "{key} lost");
        s3.keep(&key, bytes);
        let added = format!("{key}~");
        s3.keep(&added, b"x".to_vec());
        assert!(!read(&s3, NAME).whole, "{added} added");
        s3.lose(&added);
    }
    assert!(read(&s3, NAME).whole);
}

#[test]
fn an_archive_in_an_object_store_is_verified_without_being_fetched_whole_to_a_disk() {
    let (fixture, s3) = (small(), S3::start());
    let exported = archived(&fixture, &s3);
    assert!(exported.verification.whole, "{:#?}", exported.verification.findings);
    let (name, key) = (format!("{NAME}.tar.zst"), format!("trials/{NAME}.tar.zst"));
    let keys: Vec<String> = s3.objects().into_keys().collect();
    assert_eq!(keys, [key.clone(), format!("{key}.verification.json")]);
    assert!(read(&s3, &name).whole && archived(&fixture, &s3).already);
    let whole = s3.objects()[&key].clone();
    for at in (0..whole.len()).step_by(97) {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        s3.keep(&key, changed);
        assert!(!read(&s3, &name).whole, "byte {at}");
    }
    s3.keep(&key, whole[..whole.len() / 2].to_vec());
    assert!(!read(&s3, &name).whole);
}

#[test]
fn a_file_that_changes_while_it_is_put_is_named_and_no_object_is_made_of_it() {
    let (fixture, s3) = (collected(), S3::start());
    let place = Destination::Bucket(s3.place("trials"));
    let log = fixture.path("results.jsonl");
    let export = Export { threads: 1, ..Export::new(&fixture.trial, place, AT) };
    let mut changed = false;
    let error = export_as(&export, &mut |_, _| {
        if !changed {
            changed = true;
            let mut bytes = std::fs::read(&log).unwrap();
            bytes.extend_from_slice(b"{}\n");
            std::fs::write(&log, bytes).unwrap();
        }
    })
    .unwrap_err();
    assert!(error.code() == "source-changed" && error.to_string().contains("results.jsonl"), "{error}");
    assert!(!s3.objects().contains_key(&format!("trials/{NAME}/data/results.jsonl")));
}

#[test]
fn what_is_there_already_and_is_not_ours_is_left_alone() {
    let (fixture, s3) = (collected(), S3::start());
    let foreign = format!("trials/{NAME}/holiday.jpg");
    s3.keep(&foreign, b"x".to_vec());
    let error = to(&fixture, &s3).unwrap_err();
    assert!(error.code() == "destination-taken" && error.to_string().contains("holiday.jpg"), "{error}");
    assert_eq!(s3.objects().into_keys().collect::<Vec<_>>(), [foreign]);
}

#[test]
fn nothing_at_an_address_is_no_trial() {
    let s3 = S3::start();
    for folder in ["trials/nothing", ""] {
        let error = verify_bucket(&s3.place(folder), &Thoroughness::default()).unwrap_err();
        assert_eq!(error.code(), "no-trial");
    }
}

#[test]
fn a_receipt_is_given_for_an_archive_and_for_a_copy_in_an_object_store() {
    let (fixture, s3) = (small(), S3::start());
    let object = to(&fixture, &s3).unwrap();
    let archive = Export { archive: true, ..Export::new(&fixture.trial, &fixture.elsewhere(), AT) };
    let archive = export_as(&archive, &mut |_, _| {}).unwrap();
    let folder = export(&fixture.trial, &fixture.elsewhere(), AT, &mut |_, _| {}).unwrap();
    let file = fixture.project.join("receipt.json");
    let digests = [
        (&folder, verify(&folder.copy).unwrap()),
        (&archive, verify(&archive.copy).unwrap()),
        (&object, read(&s3, NAME)),
    ]
    .map(|(exported, verification)| {
        let receipt = write_receipt(&exported.copy, &verification, reader(b"elsewhere"), &file).unwrap();
        assert_eq!((receipt.trial.as_str(), receipt.copy), (NAME, exported.copy.display().to_string()));
        pilote_proof::take_receipt(&fixture.trial, &file).unwrap();
        receipt.balance
    });
    assert!(digests.iter().all(|digest| *digest == digests[0]));
}

#[test]
fn what_must_leave_a_machine_is_gathered_in_an_object_store() {
    let (fixture, s3) = (collected(), S3::start());
    let config = std::fs::read(fixture.project.join("config/pilote.json")).unwrap();
    let project = Project::parse(&config, "config/pilote.json").unwrap().project;
    let place = Destination::Bucket(s3.place("out"));
    let (closing, bundle) = close(&fixture.project, &project, &place, AT, &mut |_, _, _| {}).unwrap();
    let prefix = format!("{}/", bundle.to_str().unwrap().strip_prefix(&s3.address("")).unwrap());
    for name in closing.files.keys().map(String::as_str).chain(["closing.json", "manifest-sha256.txt"]) {
        assert!(s3.objects().contains_key(&format!("{prefix}{name}")), "{name}");
    }
    assert!(closing.trials.iter().all(|trial| trial.whole));
    s3.requests();
    close(&fixture.project, &project, &place, AT, &mut |_, _, _| {}).unwrap();
    let put = s3.requests().into_iter().filter(|one| one.starts_with("PUT")).count();
    assert_eq!(put, 3, "the verdict, the list and the account of the closing");
}
