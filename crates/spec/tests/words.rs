//! Digests, reasons, records and the tally: the words that every crate meets on.

use std::io::Write as _;

use pilote_spec::{
    CriterionCode, Digest, FaultCode, Hasher, ItemFault, Location, ModelRef, Position, Reason, Refusal,
    Tally, Verdict, WorkReason,
};
use proptest::prelude::*;

/// `printf abc | sha256sum`, as the standard itself gives it.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn a_digest_is_the_one_that_sha256sum_shows() {
    assert_eq!(Digest::of(b"abc").to_string(), ABC);
    assert_eq!(Digest::of(b"abc").short(), "ba7816bf8f01");
    assert_eq!(format!("{:?}", Digest::of(b"abc")), format!("sha256:{ABC}"));
    let mut hasher = Hasher::new();
    hasher.update(b"a");
    hasher.write_all(b"bc").unwrap();
    assert_eq!(hasher.finish(), Digest::of(b"abc"));
}

#[test]
fn a_digest_is_read_in_either_case_and_written_in_small_letters() {
    let digest: Digest = ABC.to_uppercase().parse().unwrap();
    assert_eq!(digest, Digest::of(b"abc"));
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{ABC}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{ABC}\"")).unwrap(), digest);
}

#[test]
fn what_is_no_digest_says_so() {
    for text in
        ["", &ABC[1..], &format!("{ABC}0"), &ABC.replace('b', "g"), &format!("{}é", &ABC[2..]), "sha256:"]
    {
        let error = text.parse::<Digest>().unwrap_err().to_string();
        assert_eq!(error, format!("`{text}` is no sha256 digest: 64 hexadecimal digits are expected"));
    }
    let long = "x".repeat(1_000).parse::<Digest>().unwrap_err().to_string();
    assert!(long.len() < 200, "{long}");
}

#[test]
fn every_reason_is_written_and_read_as_its_code() {
    for reason in Reason::all() {
        let json = serde_json::to_value(reason).unwrap();
        assert_eq!(json, reason.code());
        assert_eq!(serde_json::from_value::<Reason>(json).unwrap(), reason);
        assert_eq!(reason.to_string().parse::<Reason>().unwrap(), reason);
    }
    for code in CriterionCode::ALL {
        assert_eq!(serde_json::to_value(code).unwrap(), code.code());
    }
    for verdict in Verdict::ALL {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.code());
    }
}

#[test]
fn the_lists_of_reasons_and_criteria_leave_none_out() {
    // Variants are numbered from 0 without gaps, so a list in order that ends with the last one is complete.
    assert!(FaultCode::ALL.iter().enumerate().all(|(at, code)| *code as usize == at));
    assert!(WorkReason::ALL.iter().enumerate().all(|(at, reason)| *reason as usize == at));
    assert!(CriterionCode::ALL.iter().enumerate().all(|(at, code)| *code as usize == at));
    assert_eq!(FaultCode::ALL.last(), Some(&FaultCode::DuplicateId));
    assert_eq!(WorkReason::ALL.last(), Some(&WorkReason::NoAnswer));
    assert_eq!(CriterionCode::ALL.last(), Some(&CriterionCode::CopyWhole));
}

#[test]
fn an_unknown_reason_names_the_known_ones() {
    let error = "boring\u{1b}".parse::<Reason>().unwrap_err().to_string();
    assert!(
        error.starts_with("`boring\\u{1b}` is no reason of refusal; the reasons are empty, too-large,"),
        "{error}"
    );
}

#[test]
fn a_record_with_an_unknown_reason_says_which() {
    let error = serde_json::from_str::<Refusal>(r#"{ "reason": "boring" }"#).unwrap_err().to_string();
    assert!(error.starts_with("`boring` is no reason of refusal"), "{error}");
}

#[test]
fn a_fault_of_the_index_refuses_with_its_code_and_its_detail() {
    let fault = ItemFault { code: FaultCode::UnsupportedKind, detail: "PDF".to_owned() };
    let refusal = Refusal::from(&fault);
    assert_eq!(refusal, Refusal::new(Reason::Input(FaultCode::UnsupportedKind)).with("detail", "PDF"));
    let bare = Refusal::from(&ItemFault { code: FaultCode::Empty, detail: String::new() });
    assert!(bare.facts.is_empty());
}

#[test]
fn a_location_is_read_back_as_what_it_was() {
    for location in [
        Location::File { path: "a/b.txt".to_owned(), raw: false },
        Location::File { path: "a%ff".to_owned(), raw: true },
        Location::Line { line: 3, offset: 17, bytes: 0, path: None },
        Location::Line { line: 3, offset: 17, bytes: 9, path: Some("a/b.csv".to_owned()) },
        Location::Row { row: 1, path: None },
        Location::Row { row: 8, path: Some("a/b.parquet".to_owned()) },
        Location::Number { number: -7 },
    ] {
        let json = serde_json::to_string(&location).unwrap();
        assert_eq!(serde_json::from_str::<Location>(&json).unwrap(), location, "{json}");
    }
}

#[test]
fn a_reference_to_a_model_is_written_as_it_was_read() {
    for text in ["hub:org/name@rev", "path:../m", "package:pip/a-b==1.0/x/y"] {
        assert_eq!(text.parse::<ModelRef>().unwrap().to_string(), text);
    }
}

#[test]
fn a_tally_counts_a_second_record_and_one_beyond_the_index_and_nothing_else() {
    let mut tally = Tally::new(65);
    tally.record(Position(64), true);
    tally.record(Position(64), false);
    tally.record(Position(65), true);
    tally.record(Position(u64::MAX), true);
    tally.record(Position(0), false);
    assert!(tally.is_done(Position(64)) && tally.is_done(Position(0)));
    assert!(
        !tally.is_done(Position(1)) && !tally.is_done(Position(65)) && !tally.is_done(Position(u64::MAX))
    );
    let balance = tally.balance(70);
    assert_eq!((balance.declared, balance.accepted, balance.refused, balance.pending), (65, 1, 1, 63));
    assert_eq!((balance.missing, balance.duplicated, balance.invented), (5, 1, 2));
    assert!(!balance.adds_up() && !balance.holds);
    tally.invented(2);
    tally.duplicated(3);
    let balance = tally.balance(60);
    assert_eq!((balance.missing, balance.duplicated, balance.invented), (0, 4, 4));
}

#[test]
fn a_tally_over_nothing_adds_up() {
    let mut tally = Tally::new(0);
    assert!(tally.balance(0).adds_up());
    tally.record(Position(0), true);
    assert_eq!(tally.balance(0).invented, 1);
}

proptest! {
    #[test]
    fn every_digest_is_read_back_from_its_text(bytes in any::<Vec<u8>>()) {
        let digest = Digest::of(&bytes);
        prop_assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
    }

    #[test]
    fn a_tally_is_the_same_in_any_order_of_distinct_records(
        mut records in prop::collection::hash_map(0_u64..200, any::<bool>(), 0..100).prop_map(|map| map.into_iter().collect::<Vec<_>>())
    ) {
        let count = |records: &[(u64, bool)]| {
            let mut tally = Tally::new(150);
            records.iter().for_each(|(position, accepted)| tally.record(Position(*position), *accepted));
            tally.balance(150)
        };
        let before = count(&records);
        prop_assert_eq!(before.accepted + before.refused + before.pending, before.declared);
        records.reverse();
        prop_assert_eq!(count(&records), before);
    }
}
