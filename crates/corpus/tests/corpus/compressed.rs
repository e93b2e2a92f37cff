//! gzip and zstd: read through, read again in any order, cut short, damaged.

use std::io::Write as _;

use pilote_spec::{Digest, Location};

use crate::folder::{Folder, all, error, ids, items, texts};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn rows(count: usize) -> String {
    (0..count).map(|n| format!("{{\"id\":{n},\"text\":\"text {n} {}\"}}\n", "x".repeat(n % 97))).collect()
}

fn compressed(bytes: &[u8]) -> Folder {
    Folder::rows(bytes)
}

#[test]
fn compressed_rows_are_the_rows_of_the_plain_file_whatever_its_name() {
    let plain = rows(3000);
    let expected = items(&compressed(plain.as_bytes()).jsonl());
    for bytes in [gzip(plain.as_bytes()), zstd(plain.as_bytes())] {
        let folder = compressed(&bytes);
        let source = folder.jsonl();
        let items = items(&source);
        assert_eq!(items, expected, "offsets are those in the decompressed file");
        assert_eq!(texts(&source, &items)[2999], format!("text 2999 {}", "x".repeat(2999 % 97)));
    }
}

#[test]
fn members_and_frames_are_one_file_and_a_row_may_go_across_them() {
    let plain = rows(30_000);
    for compress in [gzip, zstd] {
        let bytes: Vec<u8> = plain.as_bytes().chunks(70_001).flat_map(compress).collect();
        let folder = compressed(&bytes);
        let source = folder.jsonl();
        let items = items(&source);
        assert_eq!(items.len(), 30_000);
        // Parts in order, then one that lies before them again, then single items without preparation.
        for part in items.chunks(7000).chain(std::iter::once(&items[100..200])) {
            let first = texts(&source, part).remove(0);
            let number = part[0].position.0 % 97;
            assert!(first.ends_with(&"x".repeat(usize::try_from(number).unwrap())), "{first}");
        }
        for at in [29_999, 3, 15_000] {
            let text = pilote_corpus::read(&source, &items[at]).unwrap();
            assert!(text.starts_with(&format!("text {at} ")), "{text}");
        }
    }
}

#[test]
fn zeros_behind_a_compressed_file_are_passed_over_and_anything_else_is_not() {
    let mut bytes = gzip(rows(2).as_bytes());
    let length = bytes.len();
    bytes.extend([0; 512]);
    assert_eq!(ids(&items(&compressed(&bytes).jsonl())), ["0", "1"]);
    bytes.truncate(length);
    bytes.extend(b"{\"id\":3}");
    let error = error(&compressed(&bytes).jsonl());
    assert_eq!(error.code(), "inputs-damaged");
    let what = format!("something else follows the compressed data at byte {length} of the file");
    assert!(error.to_string().contains(&what), "{error}");
}

#[test]
fn a_compressed_file_that_is_cut_short_is_told_as_such() {
    let plain = rows(20_000);
    for bytes in [gzip(plain.as_bytes()), zstd(plain.as_bytes())] {
        for length in [bytes.len() / 2, bytes.len() - 1] {
            let error = error(&compressed(&bytes[..length]).jsonl());
            assert_eq!(error.code(), "inputs-cut-short", "{error}");
            let said = error.to_string();
            assert!(
                said.starts_with("`data/rows.jsonl` is cut short: its compressed data ends after "),
                "{said}"
            );
            assert!(said.ends_with("copy the file again from where it came"), "{said}");
        }
    }
}

#[test]
fn a_damaged_compressed_file_is_told_as_such() {
    let mut bytes = gzip(rows(20_000).as_bytes());
    let at = bytes.len() - 6;
    bytes[at] ^= 1;
    let error = error(&compressed(&bytes).jsonl());
    assert_eq!(error.code(), "inputs-damaged");
    assert!(error.to_string().starts_with("`data/rows.jsonl` is damaged: after "), "{error}");
}

#[test]
fn other_archives_are_told_and_not_read_as_rows() {
    let folder = compressed(&gzip(b"PK\x03\x04 and so on"));
    let said = error(&folder.jsonl()).to_string();
    assert!(said.contains("are a file of the kind `archive`"), "{said}");
}

#[test]
fn a_row_that_changed_in_a_compressed_file_is_told_as_changed() {
    let folder = compressed(&gzip(rows(10).as_bytes()));
    let items = items(&folder.jsonl());
    folder.write("rows.jsonl", &gzip(rows(10).replace("text 3", "tixt 3").as_bytes()));
    let source = folder.jsonl();
    pilote_corpus::prepare(&source, &items).unwrap();
    let error = pilote_corpus::read(&source, &items[3]).unwrap_err();
    assert!(matches!(error, pilote_corpus::ReadError::Changed { seen: Some(_), .. }), "{error}");
    assert!(pilote_corpus::read(&source, &items[4]).is_ok());
}

#[test]
fn a_line_beyond_the_limit_is_digested_and_let_go_of() {
    let long = format!("{{\"id\":1,\"text\":\"{}\"}}", "y".repeat(500_000));
    let mut folder = compressed(&zstd(format!("{long}\r\n{{\"id\":2,\"text\":\"t\"}}\n").as_bytes()));
    folder.limits.bytes = 1000;
    let (items, _) = all(&folder.jsonl());
    assert_eq!(items[0].digest, Some(Digest::of(long.as_bytes())));
    assert!(matches!(items[1].location, Location::Line { line: 2, offset: 500_020, .. }), "{:?}", items[1]);
}
