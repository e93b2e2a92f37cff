//! Torn tails are cut, kept aside and counted; damage inside is reported and never passed over.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use pilote_ledger::*;
use pilote_spec::*;

use crate::support::*;

/// A part with ten committed records whose only entry was changed by `change` after its writer died.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> (tempfile::TempDir, Arc<dyn Store>, PathBuf) {
    let dir = scratch();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let mut first = writer(&store, 1);
    first.append(&records(0..10)).unwrap();
    first.commit().unwrap();
    let path = dir.path().join("parts/000001/000001");
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    (dir, store, path)
}

/// Takes the part up again, which must carry over `carried` outcomes, and finishes it.
fn taken_up(store: &Arc<dyn Store>, carried: u64) -> TakenOver {
    let mut second = writer(store, 2);
    let taken = second.taken_over().unwrap().clone();
    assert_eq!(taken.records, carried);
    second.append(&records(carried..10)).unwrap();
    second.commit().unwrap();
    second.seal().unwrap();
    assert_eq!(positions(&**store), (0..10).collect::<Vec<_>>());
    taken
}

fn starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

fn cut_last_record_in_half(bytes: &mut Vec<u8>) {
    let starts = starts(bytes);
    let half = usize::midpoint(starts[10], starts[11]);
    bytes.truncate(half);
}

#[test]
fn a_torn_tail_is_cut_back_to_the_last_whole_record_and_kept_aside() {
    let (_dir, store, path) = changed(cut_last_record_in_half);
    let torn = fs::read(&path).unwrap();
    let cut = starts(&torn)[10];
    let taken = taken_up(&store, 9);
    assert_eq!(taken.torn_bytes(), (torn.len() - cut) as u64);
    assert_eq!(taken.adopted[0].torn_sha256, Some(Digest::of(&torn[cut..])));
    let aside = store.list(&aside_prefix(1)).unwrap();
    assert_eq!(aside.len(), 1);
    assert_eq!(aside[0].key, format!("aside/000001/000002-000001-{cut}"));
    assert_eq!(store.read(&aside[0].key).unwrap().unwrap(), &torn[cut..]);
    let findings = read_part(&*store, 1).unwrap().findings;
    assert_eq!(findings, [Finding::Torn { entry: 1, offset: cut as u64, bytes: taken.torn_bytes() }]);
}

#[test]
fn a_torn_tail_with_a_line_end_recovers() {
    let (_dir, store, _) = changed(|bytes| {
        cut_last_record_in_half(bytes);
        bytes.push(b'\n');
    });
    taken_up(&store, 9);
}

#[test]
fn a_torn_tail_with_two_blank_lines_recovers() {
    let (_dir, store, _) = changed(|bytes| {
        cut_last_record_in_half(bytes);
        bytes.extend(b"\n\n\n");
    });
    taken_up(&store, 9);
}

#[test]
fn a_record_without_its_line_end_is_a_torn_tail() {
    let (_dir, store, _) = changed(|bytes| bytes.truncate(bytes.len() - 1));
    assert!(taken_up(&store, 9).torn_bytes() > 100);
}

#[test]
fn a_tail_of_zeros_recovers() {
    let (_dir, store, _) = changed(|bytes| bytes.extend([0; 5000]));
    assert_eq!(taken_up(&store, 10).torn_bytes(), 5000);
}

#[test]
fn a_tail_cut_anywhere_recovers_with_the_records_before_it() {
    let (_dir, _, path) = changed(|_| {});
    let whole = fs::read(path).unwrap();
    let starts = starts(&whole);
    for length in (starts[1]..whole.len()).step_by(7) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        store.create("parts/000001/000001", &whole[..length]).unwrap();
        let carried = starts.iter().filter(|start| **start <= length).count() as u64 - 2;
        taken_up(&store, carried);
    }
}

#[test]
fn damage_in_the_middle_is_refused_with_its_offset_and_the_identifiers_lost() {
    let mut at = 0;
    let (_dir, store, path) = changed(|bytes| {
        at = starts(bytes)[4];
        bytes[at + 130] ^= 0x20;
    });
    let before = fs::read(&path).unwrap();
    let error = ledger(&store, 2).open_part(1).unwrap_err();
    let bytes = starts(&before)[5] - at;
    let message = format!(
        "part 1 is damaged and is not written to: entry 1: {bytes} damaged bytes at byte {at}; lost with them: \
         `reports/2026/document-000003.txt` (position 3); `pilote verify` lists everything. Put the files back \
         from a copy, or start a new trial"
    );
    assert_eq!(error.to_string(), message);
    assert_eq!(store.list("parts/").unwrap().len(), 1, "refusing leaves the part as it was");
    assert_eq!(fs::read(&path).unwrap(), before);
    let kept = positions(&*store);
    assert_eq!(kept, [0, 1, 2, 4, 5, 6, 7, 8, 9], "all other records are kept");
}

#[test]
fn a_damaged_line_end_loses_one_record_and_not_its_neighbour() {
    let (_dir, store, _) = changed(|bytes| {
        let at = starts(bytes)[5] - 1;
        bytes[at] = b'x';
    });
    assert_eq!(positions(&*store), [0, 1, 2, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_damaged_header_is_found_and_the_records_are_kept() {
    let (_dir, store, _) = changed(|bytes| bytes[20] ^= 1);
    let reading = read_part(&*store, 1).unwrap();
    assert_eq!(reading.records, records(0..10));
    assert!(matches!(reading.findings[..], [Finding::Damage { entry: 1, offset: 0, .. }]));
    assert!(matches!(ledger(&store, 2).open_part(1), Err(LedgerError::Damaged { .. })));
}

#[test]
fn zeroed_bytes_inside_are_found_and_everything_else_is_kept() {
    let dir = scratch();
    let disk: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let mut first = writer(&disk, 1);
    first.append(&records(0..200)).unwrap();
    first.commit().unwrap();
    let whole = disk.read("parts/000001/000001").unwrap().unwrap();
    let starts = starts(&whole);
    // Once in the middle of records, once exactly from the beginning of one to the beginning of another.
    for (from, to) in [(starts[50] + 31, starts[50] + 31 + 8_561), (starts[50], starts[90])] {
        let mut zeroed = whole.clone();
        zeroed[from..to].fill(0);
        let (first, after) =
            (starts.partition_point(|s| *s <= from) - 2, starts.partition_point(|s| *s < to) - 1);
        let copy = MemoryStore::new();
        copy.create("parts/000001/000001", &zeroed).unwrap();
        let reading = read_part(&copy, 1).unwrap();
        let kept: Vec<u64> = reading.records.iter().map(|record| record.position.0).collect();
        let expected: Vec<u64> = (0..first as u64).chain(after as u64..200).collect();
        assert_eq!(kept, expected);
        assert!(
            matches!(reading.findings[..], [Finding::Damage { entry: 1, offset, .. }] if offset == starts[first + 1] as u64),
            "{:?}",
            reading.findings
        );
    }
}

#[test]
fn a_sparse_hole_inside_is_found_with_its_range() {
    let (_dir, store, path) = changed(|_| {});
    let end = fs::metadata(&path).unwrap().len();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(end + 40_000_000).unwrap();
    let mut late = Vec::new();
    let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut source = writer(&other, 1);
    source.append(&records(10..11)).unwrap();
    source.commit().unwrap();
    let entry = other.read("parts/000001/000002").unwrap().unwrap();
    late.extend_from_slice(&entry[starts(&entry)[1]..]);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&late).unwrap();
    let reading = read_part(&*store, 1).unwrap();
    assert_eq!(reading.records.len(), 11);
    let hole = Finding::Damage { entry: 1, offset: end, bytes: 40_000_000, lost: Vec::new() };
    assert_eq!(reading.findings, [hole]);
}

#[test]
fn a_score_that_json_cannot_hold_is_refused_before_it_is_written() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut writer = writer(&store, 1);
    let mut bad = accepted(1);
    if let Outcome::Accepted(Output::Category { score, .. }) = &mut bad.outcome {
        *score = Some(f32::NAN);
    }
    let error = writer.append(&[accepted(0), bad]).unwrap_err();
    let message =
        "the outcome of position 1 cannot be recorded: its score NaN is no number that JSON can hold";
    assert_eq!(error.to_string(), message);
    assert!(writer.recorded().is_empty(), "none of the records is taken");
    writer.append(&records(0..2)).unwrap();
    assert_eq!(writer.commit().unwrap(), 2);
    assert_eq!(read_part(&*store, 1).unwrap().records, records(0..2));
}

#[test]
fn a_value_nested_deeper_than_a_reader_of_values_follows_is_read_back_as_it_was_written() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut writer = writer(&store, 1);
    let nested = |depth| {
        let value =
            (0..depth).fold(serde_json::Value::Null, |value, _| serde_json::Value::Array(vec![value]));
        let output = Output::Json { value: value.into(), made_with: std::collections::BTreeMap::new() };
        Record { outcome: Outcome::Accepted(output), ..accepted(0) }
    };
    writer.append(&[nested(500)]).unwrap();
    writer.commit().unwrap();
    assert_eq!(read_part(&*store, 1).unwrap().records, [nested(500)]);
}

#[test]
fn a_second_outcome_of_a_position_is_refused() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut first = writer(&store, 1);
    first.append(&records(0..2)).unwrap();
    first.commit().unwrap();
    let mut second = writer(&store, 2);
    let error = second.append(&[refused(1)]).unwrap_err();
    assert_eq!(error.to_string(), "position 1 of part 1 has an outcome already");
}

#[test]
fn reading_counts_a_second_record_and_keeps_the_first() {
    let (_dir, store, _) = changed(|bytes| {
        let (from, to) = (starts(bytes)[3], starts(bytes)[4]);
        let again = bytes[from..to].to_vec();
        bytes.extend(again);
    });
    let reading = read_part(&*store, 1).unwrap();
    assert_eq!(reading.records, records(0..10));
    assert!(matches!(reading.findings[..], [Finding::Duplicated { position: Position(2), .. }]));
    assert!(matches!(ledger(&store, 2).open_part(1), Err(LedgerError::Damaged { .. })));
}
