//! JSONL: lines, identifiers, fields, duplicates.

use std::fs;

use pilote_spec::{Digest, Duplicates, Encoding, FaultCode, Location};

use crate::folder::{Folder, all, error, fault, id, ids, items};

/// The faults of rows, `-` where there is none.
fn faults(folder: &Folder) -> Vec<(u64, String)> {
    items(&folder.jsonl())
        .iter()
        .map(|item| {
            let Location::Line { line, .. } = item.location else { panic!("a row is a line") };
            let fault = item.fault.as_ref();
            (line, fault.map_or("-".to_owned(), |fault| format!("{:?}: {}", fault.code, fault.detail)))
        })
        .collect()
}

fn fault_of(row: &str) -> String {
    faults(&Folder::rows(row)).remove(0).1
}

#[test]
fn a_row_has_its_line_offset_bytes_and_digest() {
    let folder =
        Folder::rows("{\"id\":\"a\",\"text\":\"é\"}\n{\"text\": \"deux\", \"x\": [1], \"id\": \"b\"}");
    let items = items(&folder.jsonl());
    assert_eq!(ids(&items), ["a", "b"]);
    assert_eq!(items[1].location, Location::Line { line: 2, offset: 23, bytes: 37, path: None });
    assert_eq!(items[1].digest, Some(Digest::of(b"{\"text\": \"deux\", \"x\": [1], \"id\": \"b\"}")));
    assert_eq!((items[0].chars, items[1].chars), (1, 4));
    assert_eq!(pilote_corpus::read(&folder.jsonl(), &items[1]).unwrap(), "deux");
}

// Fault row: ids a, b, a must end the check before any engine starts, naming both lines and the identifier.
#[test]
fn two_rows_under_one_identifier_stop_the_launch_and_name_both_lines() {
    let folder = Folder::rows(
        "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n{\"id\":\"a\",\"text\":\"3\"}\n",
    );
    let error = error(&folder.jsonl());
    assert_eq!(error.code(), "duplicate-id");
    assert_eq!(
        error.to_string(),
        "the identifier `a` stands twice in `data/rows.jsonl`: on line 1 and on line 3; give each row its own \
         identifier, or declare \"duplicates\": \"refuse\" to refuse the later ones"
    );
}

#[test]
fn a_scan_ends_at_the_duplicate() {
    let folder = Folder::rows(
        "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"a\",\"text\":\"2\"}\n{\"id\":\"c\",\"text\":\"3\"}\n",
    );
    let outcomes: Vec<_> = pilote_corpus::scan(&folder.jsonl()).unwrap().map(|item| item.is_ok()).collect();
    assert_eq!(outcomes, [true, false]);
}

#[test]
fn a_later_duplicate_is_refused_where_that_is_declared() {
    let row = |id: &str| format!("{{\"id\":{id},\"text\":\"words\"}}\n");
    let mut folder =
        Folder::rows([row("\"7\""), row("\"b\""), row("7"), row("\"B\""), row("\"B\"")].concat());
    folder.duplicates = Duplicates::Refuse;
    let (items, notes) = all(&folder.jsonl());
    assert_eq!(ids(&items), ["7", "b", "7", "B", "B"]);
    assert_eq!(fault(&items[2]), (FaultCode::DuplicateId, "first on line 1"), "7 and \"7\" are one text");
    assert_eq!(items[2].chars, 0);
    assert_eq!(items[3].fault, None, "another case is another identifier");
    assert_eq!(fault(&items[4]), (FaultCode::DuplicateId, "first on line 4"));
    assert_eq!(notes.confusable, 1);
}

#[test]
fn an_identifier_that_is_written_otherwise_is_the_same_identifier() {
    let folder = Folder::rows("{\"id\":\"\\u0061\",\"text\":\"1\"}\n{\"id\":\"a\",\"text\":\"2\"}\n");
    assert!(error(&folder.jsonl()).to_string().contains("on line 1 and on line 2"));
}

// Fault row: ids 'x', '', 'x', null and absent are told apart, each with its line, and nothing is computed.
#[test]
fn empty_null_absent_and_repeated_identifiers_are_each_refused_on_their_line() {
    let rows = "{\"id\":\"x\",\"text\":\"t\"}\n{\"id\":\"\",\"text\":\"t\"}\n{\"id\":\"x\",\"text\":\"t\"}\n\
                {\"id\":null,\"text\":\"t\"}\n{\"text\":\"t\"}\n";
    let mut folder = Folder::rows(rows);
    folder.duplicates = Duplicates::Refuse;
    assert_eq!(
        faults(&folder),
        [
            (1, "-".to_owned()),
            (2, "BadId: `id` is an empty string".to_owned()),
            (3, "DuplicateId: first on line 1".to_owned()),
            (4, "BadId: `id` is null, neither a string nor a whole number".to_owned()),
            (5, "BadId: no field `id`".to_owned()),
        ]
    );
    folder.duplicates = Duplicates::Stop;
    assert!(error(&folder.jsonl()).to_string().contains("`x` stands twice"));
}

// Fault row: neighbours beyond 2^53 stay distinct, and a floating point identifier is refused.
#[test]
fn whole_numbers_of_any_size_are_exact_identifiers_and_fractions_are_none() {
    let numbers = ["9007199254740992", "9007199254740993", "-3", "123456789012345678901234567890", "0"];
    let rows: String = numbers.iter().map(|n| format!("{{\"id\":{n},\"text\":\"t\"}}\n")).collect();
    assert_eq!(ids(&items(&Folder::rows(rows).jsonl())), numbers);
    for id in ["1.0", "1e3", "9007199254740993.0", "-0.5"] {
        assert_eq!(
            fault_of(&format!("{{\"id\":{id},\"text\":\"t\"}}")),
            "BadId: `id` is a number with a fraction or an exponent, and only whole numbers keep their digits"
        );
    }
}

#[test]
fn other_types_of_identifiers_are_refused() {
    let of = |id: &str| fault_of(&format!("{{\"id\":{id},\"text\":\"t\"}}"));
    assert_eq!(of("true"), "BadId: `id` is a boolean, neither a string nor a whole number");
    assert_eq!(of("[1]"), "BadId: `id` is an array, neither a string nor a whole number");
    assert_eq!(of("{\"a\":1}"), "BadId: `id` is an object, neither a string nor a whole number");
    assert_eq!(of("\"\\ud800\""), "BadId: `id` holds half of a surrogate pair");
    assert_eq!(
        of(&format!("{:?}", "x".repeat(4097))),
        "BadId: `id` has 4097 bytes, 4096 at most are allowed"
    );
    assert_eq!(of(&format!("{:?}", "x".repeat(4096))), "-");
}

// Fault rows: a row with a null text or a text of another type is refused alone.
#[test]
fn a_row_without_a_text_is_refused_alone_and_keeps_its_identifier() {
    let rows = "{\"id\":\"a\",\"text\":null}\n{\"id\":\"b\",\"text\":7}\n{\"id\":\"c\"}\n{\"id\":\"d\",\"text\":\"\"}\n\
                {\"id\":\"e\",\"text\":\" \\n\"}\n{\"id\":\"f\",\"text\":\"\\udc00\"}\n{\"id\":\"g\",\"text\":\"fine\"}\n";
    let folder = Folder::rows(rows);
    assert_eq!(ids(&items(&folder.jsonl())), ["a", "b", "c", "d", "e", "f", "g"]);
    let details: Vec<_> = faults(&folder).into_iter().map(|(_, fault)| fault).collect();
    assert_eq!(
        details,
        [
            "BadRecord: `text` is null, not a string",
            "BadRecord: `text` is a number, not a string",
            "BadRecord: no field `text`",
            "Empty: nothing but white space",
            "Empty: nothing but white space",
            "BadRecord: `text` holds half of a surrogate pair",
            "-",
        ]
    );
}

// Fault row: an object, a stray byte, an array, a number, a string and null give one item and five refusals.
#[test]
fn lines_that_are_no_objects_are_refused_on_their_line() {
    let folder = Folder::rows(b"{\"id\":\"a\",\"text\":\"t\"}\n\xff\n[]\n42\n\"s\"\nnull\n");
    assert_eq!(
        faults(&folder),
        [
            (1, "-".to_owned()),
            (2, "Encoding: no UTF-8 at byte 0".to_owned()),
            (3, "BadRecord: an array, not a JSON object".to_owned()),
            (4, "BadRecord: a number, not a JSON object".to_owned()),
            (5, "BadRecord: a string, not a JSON object".to_owned()),
            (6, "BadRecord: null, not a JSON object".to_owned()),
        ]
    );
}

#[test]
fn lines_that_are_no_json_are_refused_with_the_column() {
    assert_eq!(fault_of("{\"id\":\"a\",\"text\":\"t\""), "BadRecord: EOF while parsing an object, column 20");
    assert_eq!(fault_of("{\"id\":\"a\" \"text\":\"t\"}"), "BadRecord: expected `,` or `}`, column 11");
    assert_eq!(fault_of("{\"id\":\"a\",\"text\":\"t\"} x"), "BadRecord: trailing characters, column 23");
    assert_eq!(fault_of("plain words"), "BadRecord: expected value, column 1");
    let control = "BadRecord: control character (\\u0000-\\u001F) found while parsing a string, column 18";
    assert_eq!(fault_of("{\"id\":\"a\",\"text\":\"\0t\"}"), control);
    let deep =
        format!("{{\"id\":\"a\",\"text\":\"t\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(fault_of(&deep), "-", "depth costs nothing where the field is not read");
}

#[test]
fn a_field_that_stands_twice_is_refused() {
    for row in
        ["{\"id\":\"a\",\"id\":\"b\",\"text\":\"t\"}", "{\"id\":\"a\",\"text\":\"t\",\"\\u0069d\":\"b\"}"]
    {
        assert!(
            fault_of(row).starts_with("BadRecord: the field `id` stands twice, column "),
            "{}",
            fault_of(row)
        );
    }
    assert_eq!(fault_of("{\"id\":\"a\",\"text\":\"t\",\"x\":1,\"x\":2}"), "-");
}

// Fault row: a byte order mark and four lines are four items, and the mark is noted.
#[test]
fn a_byte_order_mark_is_removed_and_noted() {
    let rows: String = (1..=4).map(|n| format!("{{\"id\":{n},\"text\":\"t\"}}\n")).collect();
    let folder = Folder::rows(format!("\u{feff}{rows}"));
    let (items, notes) = all(&folder.jsonl());
    assert_eq!(ids(&items), ["1", "2", "3", "4"]);
    assert!(items.iter().all(|item| item.fault.is_none()));
    assert_eq!(notes.events(), [("bom-removed", "1".to_owned())]);
    assert_eq!(items[0].location, Location::Line { line: 1, offset: 3, bytes: 19, path: None });
    assert_eq!(pilote_corpus::read(&folder.jsonl(), &items[0]).unwrap(), "t");
}

// Fault row: an object, an empty line, a line of spaces and an object are two items, and two blank lines are counted.
#[test]
fn blank_lines_are_counted_and_no_items() {
    let folder = Folder::rows("{\"id\":1,\"text\":\"t\"}\n\n   \t\r\n{\"id\":2,\"text\":\"t\"}\n");
    let (items, notes) = all(&folder.jsonl());
    assert_eq!(ids(&items), ["1", "2"]);
    assert!(matches!(items[1].location, Location::Line { line: 4, .. }), "blank lines have a number");
    assert_eq!(notes.events(), [("blank-lines", "2".to_owned())]);
}

#[test]
fn crlf_is_a_line_end_and_other_separators_are_not() {
    let folder = Folder::rows("{\"id\":1,\"text\":\"a\u{2028}b\u{85}c\"}\r\n{\"id\":2,\"text\":\"t\"}\r\n");
    let items = items(&folder.jsonl());
    assert_eq!(ids(&items), ["1", "2"]);
    assert_eq!(pilote_corpus::read(&folder.jsonl(), &items[0]).unwrap(), "a\u{2028}b\u{85}c");
    let lf = Folder::rows("{\"id\":2,\"text\":\"t\"}\n");
    assert_eq!(
        items[1].digest,
        self::items(&lf.jsonl())[0].digest,
        "the version is that of the record alone"
    );
}

// Fault row: of twenty items the fifth holds a NUL character; it alone is refused.
#[test]
fn a_nul_in_one_text_refuses_that_item_alone() {
    let text = |n| if n == 5 { "a\\u0000b" } else { "ab" };
    let rows: String = (1..=20).map(|n| format!("{{\"id\":{n},\"text\":\"{}\"}}\n", text(n))).collect();
    let items = items(&Folder::rows(rows).jsonl());
    assert_eq!(items.len(), 20);
    let refused: Vec<_> = items.iter().filter(|item| item.fault.is_some()).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!((id(refused[0]), fault(refused[0])), ("5", (FaultCode::Nul, "character 1 of the text")));
}

// Fault row: identifiers that differ only by composition are kept apart and the pair is named.
#[test]
fn confusable_identifiers_are_kept_apart_and_named() {
    let names = ["e\u{301}.png", "other", "\u{e9}.png", "É.png"];
    let rows: String = names.iter().map(|id| format!("{{\"id\":\"{id}\",\"text\":\"t\"}}\n")).collect();
    let (items, notes) = all(&Folder::rows(rows).jsonl());
    assert_eq!(ids(&items), names);
    assert!(items.iter().all(|item| item.fault.is_none()));
    let expected = "2: \"e\\u{301}.png\" and \"\u{e9}.png\"; \"e\\u{301}.png\" and \"É.png\"";
    assert_eq!(notes.events(), [("confusable-ids", expected.to_owned())]);
}

#[test]
fn a_line_beyond_the_limit_is_refused_with_its_version_and_the_next_line_is_read() {
    let long = format!("{{\"id\":\"long\",\"text\":\"{}\"}}", "x".repeat(200_000));
    let mut folder =
        Folder::rows(format!("{{\"id\":1,\"text\":\"t\"}}\n{long}\r\n{{\"id\":2,\"text\":\"t\"}}\n"));
    folder.limits.bytes = 1000;
    let items = items(&folder.jsonl());
    assert_eq!(ids(&items), ["1", "-", "2"]);
    assert_eq!(fault(&items[1]), (FaultCode::TooLarge, "200023 bytes, limit 1000"));
    assert_eq!(items[1].digest, Some(Digest::of(long.as_bytes())));
    assert_eq!(items[2].fault, None);
}

#[test]
fn a_line_at_the_limit_is_read_whatever_its_line_end() {
    for end in ["\n", "\r\n", ""] {
        let mut folder = Folder::rows(format!("{{\"id\":1,\"text\":\"t\"}}{end}"));
        folder.limits.bytes = 19;
        assert_eq!(items(&folder.jsonl())[0].fault, None);
        folder.limits.bytes = 18;
        assert_eq!(fault(&items(&folder.jsonl())[0]), (FaultCode::TooLarge, "19 bytes, limit 18"));
    }
}

#[test]
fn rows_are_read_in_every_encoding() {
    let row = "{\"id\":\"表\",\"text\":\"日本語ソ\"}";
    // The second byte of 表 and of ソ in Shift_JIS is a backslash: only decoded text may be taken for JSON.
    let stored = encoding_rs::SHIFT_JIS.encode(row).0;
    assert!(stored.contains(&b'\\'));
    let mut folder = Folder::rows(&stored);
    folder.encoding = Encoding::ShiftJis;
    let read = items(&folder.jsonl());
    assert_eq!(ids(&read), ["表"]);
    assert_eq!(pilote_corpus::read(&folder.jsonl(), &read[0]).unwrap(), "日本語ソ");

    // U+0A0D and U+0D0A hold the bytes of line ends in UTF-16 and are none.
    let rows = "{\"id\":\"1\",\"text\":\"\u{a0d}\u{d0a}\"}\r\n\r\n{\"id\":\"2\",\"text\":\"deux\"}\n";
    for (mark, little) in [([0xff, 0xfe], true), ([0xfe, 0xff], false)] {
        let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        let bytes: Vec<u8> = mark.into_iter().chain(rows.encode_utf16().flat_map(unit)).collect();
        let folder = Folder::rows(bytes);
        let (read, notes) = all(&folder.jsonl());
        assert_eq!(ids(&read), ["1", "2"]);
        assert_eq!((notes.bom_removed, notes.blank_lines), (1, 1));
        assert_eq!(pilote_corpus::read(&folder.jsonl(), &read[0]).unwrap(), "\u{a0d}\u{d0a}");
        assert_eq!(pilote_corpus::read(&folder.jsonl(), &read[1]).unwrap(), "deux");
    }
}

#[test]
fn a_file_of_rows_that_is_missing_an_empty_directory_or_an_archive_stops_the_launch() {
    let folder = Folder::with(&[]);
    assert!(error(&folder.jsonl()).to_string().starts_with("the inputs `data/rows.jsonl` are not there"));
    fs::create_dir(folder.path("rows.jsonl")).unwrap();
    let declared =
        "and a file with one JSON object a line was declared; correct `inputs` in config/pilote.json";
    assert_eq!(
        error(&folder.jsonl()).to_string(),
        "the inputs `data/rows.jsonl` hold no file that ends in jsonl, ndjson (or in that and .gz or .zst); correct \
         `inputs` in config/pilote.json"
    );
    let folder = Folder::rows(b"PK\x03\x04\0\0\0\0");
    assert_eq!(
        error(&folder.jsonl()).to_string(),
        format!("the inputs `data/rows.jsonl` are a file of the kind `archive`, {declared}")
    );
}

#[test]
fn an_empty_file_of_rows_has_no_items() {
    assert_eq!(items(&Folder::rows("").jsonl()), []);
    let (items, notes) = all(&Folder::rows("\n\n").jsonl());
    assert_eq!((items.len(), notes.blank_lines), (0, 2));
}

fn with_columns(rows: &str, columns: &[(&str, &str)]) -> Folder {
    let mut folder = Folder::rows(rows);
    folder.columns = columns.iter().map(|(name, field)| ((*name).to_owned(), (*field).to_owned())).collect();
    folder
}

// Fault row: whole numbers beyond 2^53 stay what they were, in columns as in identifiers.
#[test]
fn columns_are_passed_through_as_the_exact_json_that_they_were() {
    let row = r#"{"id":1,"text":"t","n":9007199254740993,"f":1.50,"m":{"a":[ 1,null]},"s":"\u00e9"}"#;
    let columns = [("number", "n"), ("f", "f"), ("more", "m"), ("s", "s"), ("self", "id"), ("absent", "x")];
    let items = items(&with_columns(row, &columns).jsonl());
    let seen: Vec<_> = items[0].columns.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("f", "1.50"),
            ("more", r#"{"a":[ 1,null]}"#),
            ("number", "9007199254740993"),
            ("s", r#""\u00e9""#),
            ("self", "1"),
        ]
    );
}

#[test]
fn a_column_that_stands_twice_or_is_too_long_refuses_its_row() {
    let fault = |row: &str| {
        let items = items(&with_columns(row, &[("x", "x")]).jsonl());
        let fault = items[0].fault.as_ref().unwrap();
        (fault.code, fault.detail.clone(), items[0].columns.len())
    };
    let (code, detail, columns) = fault(r#"{"id":"a","text":"t","x":1,"x":2}"#);
    assert_eq!((code, columns), (FaultCode::BadRecord, 0));
    assert!(detail.starts_with("the field `x` stands twice, column "), "{detail}");
    let long = fault(&format!(r#"{{"id":"a","text":"t","x":"{}"}}"#, "y".repeat(16 * 1024)));
    assert_eq!(long, (FaultCode::TooLarge, "columns beyond 16384 bytes at `x`".to_owned(), 0));
}
