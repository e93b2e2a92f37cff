//! The text of an indexed item, read again and proved to be the indexed one.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};

use pilote_spec::{Digest, FaultCode, Inputs, Item, ItemFault, Location};

use crate::files::untouched;
use crate::lines::Head;
use crate::records::{Fields, Record};
use crate::source::{CorpusError, Source, fault, stored, too_large};
use crate::{content, range};

/// Why an indexed item has no text now.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The content is not the indexed one any more.
    #[error(
        "the input changed since it was indexed: its digest was {expected} and is {}; put the indexed content back, \
         or start a new trial", seen.map_or_else(|| "gone with the file".to_owned(), |seen| seen.to_string())
    )]
    Changed {
        /// The digest in the index.
        expected: Digest,
        /// The digest now; none where there is no file any more.
        seen: Option<Digest>,
    },
    /// The item was no work already when it was indexed, or is none under the declaration of now.
    #[error("the input is no work: {:?} {}", .0.code, .0.detail)]
    Fault(ItemFault),
    /// The operating system refused, or the location belongs to inputs of another kind.
    #[error("`{path}` cannot be read: {source}")]
    Io {
        /// The declared inputs and the place in them.
        path: String,
        /// The system's own words.
        source: io::Error,
    },
}

/// An item as it is handed to whoever works on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Its text; of a range, the number in plain digits.
    Text(String),
    /// The file itself, which is no text. Nobody may write to it.
    File(PathBuf),
}

/// An item of the index of `source`, its content proved to be the indexed one.
///
/// # Errors
/// [`ReadError::Changed`] when the bytes are not the indexed ones, [`ReadError::Fault`] when the item is no work,
/// [`ReadError::Io`] when the system refuses.
pub fn give(source: &Source, item: &Item) -> Result<Given, ReadError> {
    if let Some(fault) = &item.fault {
        return Err(ReadError::Fault(fault.clone()));
    }
    match (&item.location, &source.inputs) {
        (Location::File { path, raw: false }, Inputs::Directory { .. }) => {
            read_file(source, item, path).map(Given::Text)
        }
        (Location::File { path, raw: false }, Inputs::Files { .. }) => {
            prove_file(source, item, path).map(Given::File)
        }
        (Location::Number { number }, Inputs::Range { .. }) => {
            let needs = range::needs(source).map_err(|error| needed(item, error))?;
            prove(item, range::digest(*number, needs.digest()))?;
            Ok(Given::Text(number.to_string()))
        }
        (Location::Line { offset, bytes, .. }, Inputs::Jsonl { id, text, columns, .. }) => {
            let fields = Fields {
                id: id.clone(),
                text: text.clone(),
                columns: columns.clone(),
                charset: crate::decoding::charset(source.encoding()),
            };
            read_line(source, item, (*offset, *bytes), fields).map(Given::Text)
        }
        _ => {
            let kind = io::Error::other("the index was made of inputs of another kind than are declared now");
            Err(ReadError::Io { path: source.declared().to_owned(), source: kind })
        }
    }
}

/// The text of an item of the index of `source`; none of a file that is no text.
///
/// # Errors
/// As [`give`].
pub fn read(source: &Source, item: &Item) -> Result<String, ReadError> {
    match give(source, item)? {
        Given::Text(text) => Ok(text),
        Given::File(_) => Err(ReadError::Fault(fault(FaultCode::UnsupportedKind, "a file that is no text"))),
    }
}

/// A file that a range needs and that is not there any more is a changed input.
fn needed(item: &Item, error: CorpusError) -> ReadError {
    match error {
        CorpusError::Io { path, source } => failed(item, &path, source),
        other => failed(item, "", io::Error::new(io::ErrorKind::NotFound, other.to_string())),
    }
}

/// The opened file of an item below the inputs, and its path.
fn opened(source: &Source, item: &Item, path: &str) -> Result<(File, PathBuf), ReadError> {
    let failed = |error| failed(item, &format!("{}/{path}", source.declared()), error);
    // An index comes from a file: a path that climbs out of the inputs was not written by a scan.
    if !Path::new(path).components().all(|component| matches!(component, Component::Normal(_))) {
        return Err(failed(io::Error::other("the path leads out of the inputs")));
    }
    let full = source.base.join(path);
    if !fs::metadata(&full).map_err(failed)?.is_file() {
        return Err(ReadError::Fault(fault(FaultCode::NotAFile, "since it was indexed")));
    }
    Ok((File::open(&full).map_err(failed)?, full))
}

/// The path of a file whose bytes are the indexed ones.
fn prove_file(source: &Source, item: &Item, path: &str) -> Result<PathBuf, ReadError> {
    let (mut file, full) = opened(source, item, path)?;
    let stored = stored(&mut file, 0)
        .map_err(|error| failed(item, &format!("{}/{path}", source.declared()), error))?;
    prove(item, stored.digest)?;
    untouched(stored.bytes).map_err(ReadError::Fault)?;
    Ok(full)
}

fn read_file(source: &Source, item: &Item, path: &str) -> Result<String, ReadError> {
    let (mut file, _) = opened(source, item, path)?;
    let stored = stored(&mut file, source.limits.bytes)
        .map_err(|error| failed(item, &format!("{}/{path}", source.declared()), error))?;
    prove(item, stored.digest)?;
    let bytes = stored.kept.ok_or_else(|| ReadError::Fault(too_large(stored.bytes, source.limits.bytes)))?;
    content::text_of(path, &bytes, source.encoding()).map(|(text, _)| text).map_err(ReadError::Fault)
}

fn read_line(
    source: &Source,
    item: &Item,
    (offset, bytes): (u64, u64),
    fields: Fields,
) -> Result<String, ReadError> {
    let failed = |error| failed(item, source.declared(), error);
    if bytes > source.limits.bytes {
        return Err(ReadError::Fault(too_large(bytes, source.limits.bytes)));
    }
    if !fs::metadata(&source.base).map_err(failed)?.is_file() {
        return Err(ReadError::Fault(fault(FaultCode::NotAFile, "since it was indexed")));
    }
    let mut file = File::open(&source.base).map_err(failed)?;
    let mut head = Vec::new();
    (&mut file).take(3).read_to_end(&mut head).map_err(failed)?;
    let fields = fields.beginning_with(Head::of(&head));
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    file.take(bytes).read_to_end(&mut line).map_err(failed)?;
    prove(item, Digest::of(&line))?;
    match fields.record(&line) {
        Record::Item { id, text, .. } if id == item.id => text.map_err(ReadError::Fault),
        Record::Item { .. } => {
            Err(ReadError::Fault(fault(FaultCode::BadId, "another field names the identifier now")))
        }
        Record::Blank => Err(ReadError::Fault(fault(FaultCode::Empty, "nothing but white space"))),
    }
}

fn prove(item: &Item, seen: Digest) -> Result<(), ReadError> {
    match item.digest {
        Some(expected) if expected != seen => Err(ReadError::Changed { expected, seen: Some(seen) }),
        Some(_) => Ok(()),
        None => Err(failed(item, "the index", io::Error::other("an item without a fault has no digest"))),
    }
}

/// A file that is gone is a changed input; every other error is the system's.
fn failed(item: &Item, path: &str, error: io::Error) -> ReadError {
    match item.digest {
        Some(expected) if error.kind() == io::ErrorKind::NotFound => {
            ReadError::Changed { expected, seen: None }
        }
        _ => ReadError::Io { path: path.to_owned(), source: error },
    }
}
