//! The index format: round trips, a file of version 1, and every kind of damage.

use pilote_corpus::index::{Closing, IndexFault, PartEntry, decode_part, encode_part, part_key};
use pilote_corpus::{Notes, Pair};
use pilote_spec::{Columns, Digest, ExactJson, FaultCode, Item, ItemFault, ItemId, Location, Position};
use proptest::prelude::*;

const PART: &[u8] = include_bytes!("../fixtures/index-1/000001");
const CLOSED: &[u8] = include_bytes!("../fixtures/index-1/closed");

fn item(position: u64, id: Option<&str>, location: Location, fault: Option<ItemFault>) -> Item {
    Item {
        position: Position(position),
        id: id.map(|id| ItemId(id.to_owned())),
        digest: (position != 2).then(|| Digest::of(&position.to_le_bytes())),
        bytes: 100 + position,
        chars: if fault.is_some() { 0 } else { 90 + position },
        location,
        columns: Columns::new(),
        fault,
    }
}

/// The items of the fixture: one of each form.
fn items() -> Vec<Item> {
    let file = |path: &str, raw| Location::File { path: path.to_owned(), raw };
    let fault = |code, detail: &str| Some(ItemFault { code, detail: detail.to_owned() });
    vec![
        item(0, Some("lettres/été.txt"), file("lettres/été.txt", false), None),
        item(1, None, file("caf%E9.txt", true), fault(FaultCode::NameNotUtf8, "")),
        item(2, Some("pipe"), file("pipe", false), fault(FaultCode::NotAFile, "a named pipe")),
        item(
            3,
            Some("9007199254740993"),
            Location::Line { line: 4, offset: 57, bytes: 103, path: None },
            None,
        ),
    ]
}

fn closing() -> Closing {
    let confusable_pairs = vec![Pair { first: "a".to_owned(), second: "A".to_owned() }];
    Closing {
        parts: vec![PartEntry::of(1, Position(0), 4, PART)],
        items: 4,
        notes: Notes { bom_removed: 1, blank_lines: 2, confusable: 1, confusable_pairs, ..Notes::default() },
    }
}

#[test]
fn a_file_of_version_1_is_read_and_written_to_the_byte() {
    assert_eq!(decode_part(PART).unwrap(), items());
    assert_eq!(encode_part(&items()), PART);
    assert_eq!(Closing::decode(CLOSED).unwrap(), closing());
    assert_eq!(closing().encode(), CLOSED);
    assert_eq!(closing().parts[0].decode(PART).unwrap(), items());
}

#[test]
fn keys_sort_as_parts_do() {
    assert_eq!((part_key(1), part_key(12)), ("index/000001".to_owned(), "index/000012".to_owned()));
}

#[test]
fn every_changed_byte_is_found_with_its_line() {
    for at in 0..PART.len() {
        let mut bytes = PART.to_vec();
        bytes[at] ^= 1;
        let line = 1 + PART[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
        let error = decode_part(&bytes).expect_err("a changed byte");
        // A line end that is damaged joins two lines; the first of them is the one that is wrong.
        assert_eq!(error.line, line, "byte {at}: {error}");
    }
}

#[test]
fn every_cut_is_found_even_at_a_line_end() {
    for end in 0..PART.len() {
        assert!(decode_part(&PART[..end]).is_err(), "cut at {end}");
    }
    for end in 0..CLOSED.len() {
        assert!(Closing::decode(&CLOSED[..end]).is_err(), "cut at {end}");
    }
    let cut = PART.iter().rposition(|byte| *byte == b'\n').unwrap();
    let third = PART[..cut].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(
        decode_part(&PART[..third]).unwrap_err().in_file("index/000001").to_string(),
        format!("index/000001, line 5 (byte {third}): the file is cut short: item 4 of 4 expected")
    );
}

#[test]
fn messages_say_file_line_and_what_is_wrong() {
    let mut damaged = PART.to_vec();
    let second = PART.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    damaged[second + 20] ^= 4;
    assert_eq!(
        closing().parts[0].decode(&damaged).unwrap_err().to_string(),
        format!(
            "index/000001, line 2 (byte {second}): the checksum is wrong: the line was damaged or edited"
        )
    );
    let trailing = [PART, b"\n"].concat();
    assert_eq!(decode_part(&trailing).unwrap_err().fault, IndexFault::Trailing);
    let zeros = vec![0; 100];
    assert!(matches!(decode_part(&zeros).unwrap_err().fault, IndexFault::CutShort { .. }));
    assert!(matches!(decode_part(CLOSED).unwrap_err().fault, IndexFault::Content { .. }));
    assert!(matches!(Closing::decode(PART).unwrap_err().fault, IndexFault::Content { .. }));
}

/// A line with a right checksum.
fn line(json: &str) -> String {
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()))
}

#[test]
fn a_newer_version_is_named_and_not_guessed_at() {
    let newer = line("{\"format\":\"pilote.index/2\",\"holds\":\"something\"}");
    assert_eq!(
        decode_part(newer.as_bytes()).unwrap_err().to_string(),
        "line 1 (byte 0): format `pilote.index/2`, and this program reads `pilote.index/1`; read it with the pilote \
         that wrote it or a newer one"
    );
    let ledger = line("{\"format\":\"pilote.ledger/1\"}");
    assert!(matches!(Closing::decode(ledger.as_bytes()).unwrap_err().fault, IndexFault::Format { .. }));
}

#[test]
fn positions_with_a_gap_are_found() {
    let mut gap = items();
    gap.remove(1);
    let error = decode_part(&encode_part(&gap)).unwrap_err();
    assert_eq!(
        (error.line, error.fault.to_string().as_str()),
        (3, "not what belongs here: position 2 after 0")
    );
}

#[test]
fn a_part_that_was_exchanged_for_another_whole_one_is_found() {
    let other = encode_part(&items()[..3]);
    let error = closing().parts[0].decode(&other).unwrap_err();
    assert!(matches!(error.fault, IndexFault::NotClosedSo { what: "length", .. }), "{error}");
    let mut same_length = items();
    same_length[0].bytes = 999;
    let error = closing().parts[0].decode(&encode_part(&same_length)).unwrap_err();
    assert!(error.to_string().contains("the file's digest is "), "{error}");
}

#[test]
fn a_closing_entry_whose_parts_do_not_add_up_is_found() {
    let mut wrong = closing();
    wrong.items = 5;
    let error = Closing::decode(&wrong.encode()).unwrap_err();
    assert_eq!(error.fault.to_string(), "not what belongs here: parts of 4 items together, 5 announced");
    let mut gap = closing();
    gap.parts[0].first = Position(1);
    let error = Closing::decode(&gap.encode()).unwrap_err();
    assert_eq!(error.fault.to_string(), "not what belongs here: part 1 from position 1, not 1 from 0");
}

fn any_item() -> impl Strategy<Value = Item> {
    let location = prop_oneof![
        (".*", any::<bool>()).prop_map(|(path, raw)| Location::File { path, raw }),
        (any::<(u64, u64, u64)>(), prop::option::of(".*"))
            .prop_map(|((line, offset, bytes), path)| Location::Line { line, offset, bytes, path }),
        (any::<u64>(), prop::option::of(".*")).prop_map(|(row, path)| Location::Row { row, path }),
    ];
    let code = prop::sample::select(vec![
        FaultCode::Empty,
        FaultCode::TooLarge,
        FaultCode::Encoding,
        FaultCode::Nul,
        FaultCode::UnsupportedKind,
        FaultCode::Unreadable,
        FaultCode::NotAFile,
        FaultCode::NameNotUtf8,
        FaultCode::BadRecord,
        FaultCode::BadId,
        FaultCode::DuplicateId,
    ]);
    let fault = prop::option::of((code, ".*").prop_map(|(code, detail)| ItemFault { code, detail }));
    let id = prop::option::of(any::<String>().prop_map(ItemId));
    let digest = prop::option::of(any::<[u8; 8]>().prop_map(|bytes| Digest::of(&bytes)));
    let columns =
        prop::collection::btree_map(".*", any::<String>().prop_map(|text| ExactJson::of_text(&text)), 0..3);
    (id, digest, any::<(u64, u64)>(), location, columns, fault).prop_map(
        |(id, digest, (bytes, chars), location, columns, fault)| Item {
            position: Position(0),
            id,
            digest,
            bytes,
            chars,
            location,
            columns,
            fault,
        },
    )
}

fn any_notes() -> impl Strategy<Value = Notes> {
    let pair = any::<(String, String)>().prop_map(|(first, second)| Pair { first, second });
    (any::<[u64; 6]>(), prop::collection::vec(pair, 0..4)).prop_map(|(counts, confusable_pairs)| {
        let [bom_removed, blank_lines, skipped_files, attachments, page_charset, confusable] = counts;
        Notes {
            bom_removed,
            blank_lines,
            skipped_files,
            attachments,
            page_charset,
            confusable,
            confusable_pairs,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(
        items in prop::collection::vec(any_item(), 0..12),
        first in 0..u64::MAX / 2,
        notes in any_notes(),
    ) {
        let items: Vec<_> = items
            .into_iter()
            .zip(first..)
            .map(|(item, position)| Item { position: Position(position), ..item })
            .collect();
        let bytes = encode_part(&items);
        prop_assert_eq!(decode_part(&bytes).unwrap(), items.clone());
        let count = items.len() as u64;
        let parts = vec![
            PartEntry::of(1, Position(0), first, &bytes),
            PartEntry::of(2, Position(first), count, &bytes),
        ];
        prop_assert_eq!(parts[1].decode(&bytes).unwrap(), items);
        let closing = Closing { parts, items: first + count, notes };
        prop_assert_eq!(Closing::decode(&closing.encode()).unwrap(), closing);
    }
}
