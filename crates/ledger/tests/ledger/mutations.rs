//! Whatever the bytes of an entry are, reading ends, invents nothing and accounts for every byte.

use std::sync::Arc;

use pilote_ledger::*;
use pilote_spec::*;
use proptest::prelude::*;

use crate::support::*;

/// The bytes of a growing entry with twenty records.
fn entry() -> Vec<u8> {
    let dir = scratch();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let mut writer = writer(&store, 1);
    writer.append(&records(0..20)).unwrap();
    writer.commit().unwrap();
    store.read("parts/000001/000001").unwrap().unwrap()
}

/// One way of changing bytes.
#[derive(Debug, Clone)]
enum Mutation {
    Flip(prop::sample::Index, u8),
    Zero(prop::sample::Index, usize),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let range = |at: usize, length: usize, end: usize| at..(at + length).min(end);
        match self {
            Self::Flip(at, mask) => {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
            }
            Self::Zero(at, length) => {
                let range = range(at.index(bytes.len()), *length, bytes.len());
                bytes[range].fill(0);
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Self::Remove(at, length) => drop(bytes.drain(range(at.index(bytes.len()), *length, bytes.len()))),
            Self::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Self::Repeat(at, length) => {
                let range = range(at.index(bytes.len()), *length, bytes.len());
                let again = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, again);
            }
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), 1_u8..).prop_map(|(at, mask)| Mutation::Flip(at, mask)),
        (index(), 1_usize..3000).prop_map(|(at, length)| Mutation::Zero(at, length)),
        index().prop_map(Mutation::Cut),
        (index(), 1_usize..500).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (index(), prop::collection::vec(any::<u8>(), 1..40))
            .prop_map(|(at, more)| Mutation::Insert(at, more)),
        (index(), 1_usize..800).prop_map(|(at, length)| Mutation::Repeat(at, length)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_entry_gives_only_records_that_were_written(changes in prop::collection::vec(mutation(), 1..4)) {
        let whole = entry_once();
        let mut bytes = whole.clone();
        for change in &changes {
            change.apply(&mut bytes);
        }
        let reading = read_entry(&bytes);
        let originals = records(0..20);
        prop_assert!(reading.records.iter().all(|record| originals.contains(record)));
        if bytes == *whole {
            prop_assert!(reading.findings.is_empty());
        } else if reading.records.len() < 20 && reading.header.is_some() {
            // What is gone is either noticed, or was cut off or taken out exactly between two records.
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            prop_assert!(!reading.findings.is_empty() || lines == reading.records.len() + 1);
        }
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let reading = read_entry(&bytes);
        let found: u64 = reading
            .findings
            .iter()
            .map(|finding| match finding {
                Finding::Damage { bytes, .. } | Finding::Tail { bytes, .. } => *bytes,
                _ => 0,
            })
            .sum();
        prop_assert_eq!(found, bytes.len() as u64);
        prop_assert!(reading.records.is_empty());
    }
}

fn entry_once() -> &'static Vec<u8> {
    static ENTRY: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    ENTRY.get_or_init(entry)
}

#[test]
fn many_false_beginnings_cost_no_more_than_a_few_passes() {
    // A line made of nothing but what looks like the beginning of one.
    let mut bytes = b"00000000 {".repeat(200_000);
    bytes.push(b'\n');
    let reading = read_entry(&bytes);
    let (offset, bytes) = (0, bytes.len() as u64);
    assert_eq!(reading.findings, [Finding::Tail { entry: 0, offset, bytes }]);
}

#[test]
fn a_record_after_a_stretch_too_long_for_any_line_is_found() {
    let mut bytes = entry_once().clone();
    let end = bytes.len();
    let last = bytes[..end - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let record = bytes[last..].to_vec();
    bytes.truncate(last);
    bytes.extend(std::iter::repeat_n(b'x', 3 * LINE_BYTES_MAX));
    bytes.extend(record);
    let reading = read_entry(&bytes);
    assert_eq!(reading.records, records(0..20));
    let length = 3 * LINE_BYTES_MAX as u64;
    let damage = Finding::Damage { entry: 0, offset: last as u64, bytes: length, lost: Vec::new() };
    assert_eq!(reading.findings, [damage]);
}

#[test]
fn a_record_longer_than_a_line_may_be_is_refused_when_it_is_appended() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut writer = writer(&store, 1);
    let output = Output::Text { text: "x".repeat(LINE_BYTES_MAX), made_with: Default::default() };
    let error = writer.append(&[Record { outcome: Outcome::Accepted(output), ..accepted(0) }]).unwrap_err();
    assert!(error.to_string().contains("bytes are more than a record may have (16777216)"), "{error}");
    assert_eq!(writer.commit().unwrap(), 0);
}
