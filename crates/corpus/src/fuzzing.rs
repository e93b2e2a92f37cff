//! What must hold for any bytes at all. The fuzz targets and a deterministic test call the same functions.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use pilote_spec::Encoding;

use crate::content;
use crate::decoding::charset;
use crate::index::{Closing, decode_part, encode_part};
use crate::opened;
use crate::paths::RowFile;
use crate::records::Fields;
use crate::rows::row_of;
use crate::shape::{Format, Shape};
use crate::stream::{Compression, Restart, Stream};

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
    rows(bytes, Format::Jsonl);
}

/// Any bytes are comma-separated values: records in order that never overlap, each as a row of JSONL is.
///
/// # Panics
/// When that does not hold.
pub fn csv(bytes: &[u8]) {
    rows(bytes, Format::Csv(if bytes.len().is_multiple_of(2) { ',' } else { '\t' }));
}

fn rows(bytes: &[u8], format: Format) {
    const LIMIT: u64 = 512;
    let encoding = ENCODINGS[usize::from(bytes.first().copied().unwrap_or(0)) % ENCODINGS.len()];
    let fields = Fields {
        id: "id".to_owned(),
        text: "text".to_owned(),
        columns: BTreeMap::from([("also".to_owned(), "x".to_owned())]),
        object: false,
        charset: charset(encoding),
    };
    let shape = Shape { format, fields, paths: "rows".into() };
    let file = RowFile { path: "rows".to_owned(), full: "rows".into() };
    let Ok((mut lines, parser)) = opened::rows(bytes, &file, Compression::None, &shape, LIMIT) else {
        return;
    };
    let (mut end, mut count) = (0, 0);
    while let Some(line) = lines.next().unwrap_or_else(|error| panic!("reading memory failed: {error}")) {
        assert!(
            line.offset >= end && line.offset + line.bytes <= bytes.len() as u64,
            "lines overlap or leave the file"
        );
        end = line.offset + line.bytes;
        count += 1;
        if let Some(row) = row_of(&line, &parser, None, LIMIT) {
            let is_work = row.id.is_some() && row.text.as_ref().is_ok_and(|text| !text.trim().is_empty());
            assert!(is_work || row.text.is_err(), "work without identifier or text");
            assert!(line.bytes <= LIMIT || row.text.is_err(), "a line beyond the limit became work");
        }
    }
    assert!(count <= bytes.len() as u64 + 1, "more lines than bytes");
}

/// Any bytes are a compressed file, whole or not, or none.
///
/// # Panics
/// When reading it does not end.
pub fn compressed(bytes: &[u8]) {
    let Ok(mut file) = tempfile::tempfile() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let Ok(mut stream) = Stream::open(file, Compression::of(bytes), Restart::START) else { return };
    let mut buffer = [0; 4096];
    // A few bytes may stand for very many; what is read of them here is bounded.
    for _ in 0..1024 {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
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
