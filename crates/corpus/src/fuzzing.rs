//! What must hold for any bytes at all. The fuzz targets and a deterministic test call the same functions.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use pilote_spec::{Duplicates, Encoding, Inputs, Limits, Location, Position};

use crate::content;
use crate::decoding::charset;
use crate::index::{Closing, decode_part, encode_part};
use crate::notes::Notes;
use crate::records::Fields;
use crate::scan::Rows;
use crate::source::{CorpusError, Source};

/// The encodings that can be declared.
const ENCODINGS: [Encoding; 4] = [Encoding::Utf8, Encoding::ShiftJis, Encoding::EucJp, Encoding::Windows1252];

/// Any bytes are an index that survives being written again, or an error.
///
/// # Panics
/// When that does not hold.
pub fn index(bytes: &[u8]) {
    if let Ok(items) = decode_part(bytes) {
        assert_eq!(decode_part(&encode_part(&items)), Ok(items), "written again, the items are others");
    }
    if let Ok(closing) = Closing::decode(bytes) {
        assert_eq!(
            Closing::decode(&closing.encode()),
            Ok(closing),
            "written again, the closing entry is another"
        );
    }
}

/// Any bytes are rows: lines in order that never overlap, each an item without a fault, with text, or with one.
///
/// # Panics
/// When that does not hold.
pub fn jsonl(bytes: &[u8]) {
    let encoding = ENCODINGS[usize::from(bytes.first().copied().unwrap_or(0)) % ENCODINGS.len()];
    let limits = Limits { bytes: 512, ..Limits::default() };
    let columns = BTreeMap::from([("also".to_owned(), "x".to_owned())]);
    let inputs = Inputs::Jsonl {
        jsonl: "rows".to_owned(),
        id: "id".to_owned(),
        text: "text".to_owned(),
        columns: columns.clone(),
        encoding,
    };
    let source = Source::new(Path::new(""), &inputs, &limits, Duplicates::Refuse);
    let fields = Fields { id: "id".to_owned(), text: "text".to_owned(), columns, charset: charset(encoding) };
    let mut notes = Notes::default();
    let reader = || Cursor::new(bytes);
    let Ok(mut rows) = Rows::new(reader(), reader(), &source, fields, &mut notes) else { return };
    let (mut end, mut position) = (0, 0);
    while let Some(item) = next(&mut rows, position, &mut notes) {
        let Location::Line { offset, bytes: length, .. } = item.location else {
            panic!("a row is a line");
        };
        assert!(offset >= end && offset + length <= bytes.len() as u64, "lines overlap or leave the file");
        assert!(
            item.fault.is_some() || (item.id.is_some() && item.chars > 0),
            "work without identifier or text"
        );
        assert!(length <= limits.bytes || item.fault.is_some(), "a line beyond the limit became work");
        end = offset + length;
        position += 1;
    }
    assert!(position + notes.blank_lines <= bytes.len() as u64 + 1, "more lines than bytes");
}

fn next<R: std::io::Read + std::io::Seek>(
    rows: &mut Rows<R>,
    position: u64,
    notes: &mut Notes,
) -> Option<pilote_spec::Item> {
    match rows.next(Position(position), notes) {
        Ok(item) => item,
        Err(CorpusError::DuplicateId { .. }) => panic!("duplicates are refused here"),
        Err(error) => panic!("reading memory failed: {error}"),
    }
}

/// Any bytes under any name are a text that an engine can be given, or a fault.
///
/// # Panics
/// When that does not hold.
pub fn document(bytes: &[u8]) {
    for name in ["a.txt", "a", "a.html", "a.eml"] {
        for encoding in ENCODINGS {
            if let Ok((text, _)) = content::text_of(name, bytes, encoding) {
                assert!(
                    !text.trim().is_empty() && !text.contains('\0'),
                    "a text that no engine can be given"
                );
            }
        }
    }
}
