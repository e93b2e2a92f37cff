//! Reading an indexed item again.

use std::fs;

use pilote_corpus::{ReadError, read};
use pilote_spec::{Digest, Duplicates, Encoding, FaultCode, Inputs, Limits, Location};

use crate::folder::{Folder, items};

#[test]
fn an_input_that_changed_since_the_index_is_told_with_both_digests() {
    let folder = Folder::with(&[("a.txt", b"before")]);
    let items = items(&folder.directory());
    folder.write("a.txt", b"after!");
    let error = read(&folder.directory(), &items[0]).unwrap_err();
    let (before, after) = (Digest::of(b"before"), Digest::of(b"after!"));
    assert!(
        matches!(error, ReadError::Changed { expected, seen } if expected == before && seen == Some(after))
    );
    assert_eq!(
        error.to_string(),
        format!(
            "the input changed since it was indexed: its digest was {before} and is {after}; put the indexed \
             content back, or start a new trial"
        )
    );
}

#[test]
fn an_input_that_is_gone_is_a_changed_input() {
    let folder = Folder::with(&[("a.txt", b"before")]);
    let items = items(&folder.directory());
    fs::remove_file(folder.path("a.txt")).unwrap();
    let error = read(&folder.directory(), &items[0]).unwrap_err();
    assert!(matches!(error, ReadError::Changed { seen: None, .. }));
    assert!(error.to_string().contains("and is gone with the file"), "{error}");
}

#[test]
fn an_input_that_grew_beyond_the_limit_is_told_as_changed() {
    let mut folder = Folder::with(&[("a.txt", b"before")]);
    folder.limits.bytes = 10;
    let items = items(&folder.directory());
    folder.write("a.txt", b"much longer than before");
    assert!(matches!(read(&folder.directory(), &items[0]), Err(ReadError::Changed { .. })));
}

// Fault row: a file of rows that was cut between index and run is noticed, since its rows have other digests.
#[test]
fn rows_that_were_edited_or_cut_off_are_told_as_changed() {
    let folder = Folder::rows("{\"id\":1,\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\n");
    let items = items(&folder.jsonl());
    folder.write("rows.jsonl", b"{\"id\":1,\"text\":\"One\"}\n");
    for item in &items {
        assert!(matches!(read(&folder.jsonl(), item), Err(ReadError::Changed { .. })));
    }
    let appended =
        b"{\"id\":1,\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\n{\"id\":3,\"text\":\"three\"}\n";
    folder.write("rows.jsonl", appended);
    assert_eq!(read(&folder.jsonl(), &items[1]).unwrap(), "two", "what was indexed is still there");
}

#[test]
fn an_item_with_a_fault_is_not_opened() {
    let folder = Folder::with(&[("a.txt", b"")]);
    let items = items(&folder.directory());
    folder.write("a.txt", b"words");
    let error = read(&folder.directory(), &items[0]).unwrap_err();
    assert!(matches!(&error, ReadError::Fault(fault) if fault.code == FaultCode::Empty));
    assert_eq!(error.to_string(), "the input is no work: Empty 0 bytes");
}

#[test]
fn a_text_that_is_none_under_another_declaration_is_a_fault_and_no_text() {
    let mut folder = Folder::with(&[("a.txt", b"caf\xe9")]);
    folder.encoding = Encoding::Windows1252;
    let items = items(&folder.directory());
    assert_eq!(read(&folder.directory(), &items[0]).unwrap(), "café");
    folder.encoding = Encoding::Utf8;
    let error = read(&folder.directory(), &items[0]).unwrap_err();
    assert!(matches!(error, ReadError::Fault(fault) if fault.code == FaultCode::Encoding));
}

#[test]
fn a_path_out_of_the_inputs_is_never_opened() {
    let folder = Folder::with(&[("a.txt", b"words")]);
    fs::write(folder.root().join("secret"), "words").unwrap();
    let mut item = items(&folder.directory()).remove(0);
    for path in ["../secret", "/etc/hostname", "x/../../secret", "."] {
        item.location = Location::File { path: path.to_owned(), raw: false };
        let error = read(&folder.directory(), &item).unwrap_err();
        assert!(error.to_string().ends_with("cannot be read: the path leads out of the inputs"), "{error}");
    }
}

#[test]
fn an_index_of_inputs_of_another_kind_is_refused() {
    let folder = Folder::rows("{\"id\":1,\"text\":\"one\"}\n");
    let rows = items(&folder.jsonl());
    let error = read(&folder.directory(), &rows[0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`data` cannot be read: the index was made of inputs of another kind than are declared now"
    );
}

#[test]
fn a_row_under_another_identifier_field_is_no_text() {
    let folder = Folder::rows("{\"id\":1,\"name\":\"x\",\"text\":\"one\"}\n");
    let rows = items(&folder.jsonl());
    let inputs = Inputs::Jsonl {
        jsonl: "data/rows.jsonl".into(),
        id: "name".to_owned(),
        text: "text".to_owned(),
        columns: Default::default(),
        encoding: Encoding::Utf8,
    };
    let other = pilote_corpus::Source::new(folder.root(), &inputs, &Limits::default(), Duplicates::Stop);
    let error = read(&other, &rows[0]).unwrap_err();
    assert_eq!(error.to_string(), "the input is no work: BadId another field names the identifier now");
}
