//! The text of an indexed item, read again and proved to be the indexed one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pilote_spec::{Digest, FaultCode, Inputs, Item, ItemFault, Location};

use crate::files::untouched;
use crate::opened::{self, Parser, rows};
use crate::paths::RowFile;
use crate::records::Record;
use crate::shape::{Format, Shape};
use crate::source::{CorpusError, Source, fault, stored, too_large};
use crate::stream::Restart;
use crate::window::Handle;
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

/// Files of rows that are open for reading again, by their paths.
#[derive(Debug, Default)]
pub(crate) struct Handles(Mutex<BTreeMap<String, Handle>>);

/// Files that are kept open; a part of the index seldom holds rows of more.
const HANDLES_MAX: usize = 16;

impl Handles {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Handle>> {
        // A handle holds nothing that a reader who failed could have left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the contents of `items`, a part of the index of `source`, ready to be read in any order. Only compressed
/// files and tables need it; without it each of their items is reached by reading up to it.
///
/// # Errors
/// When the system refuses, or a compressed file is damaged.
pub fn prepare(source: &Source, items: &[Item]) -> Result<(), ReadError> {
    let Some(shape) = Shape::of(&source.inputs) else { return Ok(()) };
    let mut stretches: BTreeMap<&str, Range<u64>> = BTreeMap::new();
    for item in items.iter().filter(|item| item.fault.is_none()) {
        let (path, first, length) = match &item.location {
            Location::Line { offset, bytes, path, .. } => (path, *offset, *bytes),
            Location::Row { row, path } => (path, row.saturating_sub(1), 1),
            Location::File { .. } | Location::Number { .. } => continue,
        };
        let path = path.as_deref().unwrap_or(source.declared());
        let end = first.saturating_add(length);
        stretches
            .entry(path)
            .and_modify(|stretch| *stretch = stretch.start.min(first)..stretch.end.max(end))
            .or_insert(first..end);
    }
    let mut handles = source.handles.all();
    for (path, stretch) in stretches {
        // A file that cannot be opened is told of each of its items, when they are read.
        let Ok(handle) = handle(source, &shape, &mut handles, path) else { continue };
        let scratch = source.scratch();
        if shape.format == Format::Parquet {
            handle.prepare_rows(stretch, &shape.fields, &scratch).map_err(|error| unusable(path, error))?;
        } else {
            handle
                .prepare(stretch, &scratch)
                .map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        }
    }
    Ok(())
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
    match (&item.location, &source.inputs, Shape::of(&source.inputs)) {
        (Location::File { path, raw: false }, Inputs::Directory { .. }, _) => {
            read_file(source, item, path).map(Given::Text)
        }
        (Location::File { path, raw: false }, Inputs::Files { .. }, _) => {
            prove_file(source, item, path).map(Given::File)
        }
        (Location::Number { number }, Inputs::Range { .. }, _) => {
            let needs = range::needs(source).map_err(|error| needed(item, error))?;
            prove(item, range::digest(*number, needs.digest()))?;
            Ok(Given::Text(number.to_string()))
        }
        (Location::Line { offset, bytes, path, .. }, _, Some(shape)) if shape.format != Format::Parquet => {
            let path = path.as_deref().unwrap_or(source.declared());
            read_row(source, item, &shape, path, Place::Bytes(*offset, *bytes)).map(Given::Text)
        }
        (Location::Row { row, path }, Inputs::Parquet { .. }, Some(shape)) => {
            let path = path.as_deref().unwrap_or(source.declared());
            read_row(source, item, &shape, path, Place::Row(row.saturating_sub(1))).map(Given::Text)
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
fn opened_file(source: &Source, item: &Item, path: &str) -> Result<(File, PathBuf), ReadError> {
    let failed = |error| failed(item, &format!("{}/{path}", source.declared()), error);
    if !is_inside(path) {
        return Err(failed(io::Error::other(LEADS_OUT)));
    }
    let full = source.base.join(path);
    if !fs::metadata(&full).map_err(failed)?.is_file() {
        return Err(ReadError::Fault(fault(FaultCode::NotAFile, "since it was indexed")));
    }
    Ok((File::open(&full).map_err(failed)?, full))
}

/// The path of a file whose bytes are the indexed ones.
fn prove_file(source: &Source, item: &Item, path: &str) -> Result<PathBuf, ReadError> {
    let (mut file, full) = opened_file(source, item, path)?;
    let stored = stored(&mut file, 0)
        .map_err(|error| failed(item, &format!("{}/{path}", source.declared()), error))?;
    prove(item, stored.digest)?;
    untouched(stored.bytes).map_err(ReadError::Fault)?;
    Ok(full)
}

fn read_file(source: &Source, item: &Item, path: &str) -> Result<String, ReadError> {
    let (mut file, _) = opened_file(source, item, path)?;
    let stored = stored(&mut file, source.limits.bytes)
        .map_err(|error| failed(item, &format!("{}/{path}", source.declared()), error))?;
    prove(item, stored.digest)?;
    let bytes = stored.kept.ok_or_else(|| ReadError::Fault(too_large(stored.bytes, source.limits.bytes)))?;
    content::text_of(path, &bytes, source.encoding()).map(|(text, _)| text).map_err(ReadError::Fault)
}

/// Where a row stands in its file.
#[derive(Clone, Copy)]
enum Place {
    /// Offset and length.
    Bytes(u64, u64),
    /// Number from 0.
    Row(u64),
}

fn read_row(
    source: &Source,
    item: &Item,
    shape: &Shape,
    path: &str,
    place: Place,
) -> Result<String, ReadError> {
    if item.bytes > source.limits.bytes {
        return Err(ReadError::Fault(too_large(item.bytes, source.limits.bytes)));
    }
    let mut handles = source.handles.all();
    let handle = match handle(source, shape, &mut handles, path) {
        Ok(handle) => handle,
        // A file that is gone is a changed input.
        Err(CorpusError::Missing { .. }) => {
            return Err(failed(item, path, io::Error::from(io::ErrorKind::NotFound)));
        }
        Err(CorpusError::WrongKind { .. }) => {
            return Err(ReadError::Fault(fault(FaultCode::NotAFile, "since it was indexed")));
        }
        Err(other) => return Err(unusable(path, other)),
    };
    let row = match place {
        Place::Bytes(offset, bytes) => handle.read(offset, bytes),
        Place::Row(row) => handle
            .read_row(row, &shape.fields, &source.scratch())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
    };
    let row = match row {
        Ok(row) => row,
        // Cut short since: whatever can still be had of it is not what was indexed.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Vec::new(),
        Err(error) => return Err(failed(item, path, error)),
    };
    prove(item, Digest::of(&row))?;
    match handle.parser.record(&row) {
        Record::Item { id, text, .. } if id == item.id => text.map_err(ReadError::Fault),
        Record::Item { .. } => {
            Err(ReadError::Fault(fault(FaultCode::BadId, "another field names the identifier now")))
        }
        Record::Blank => Err(ReadError::Fault(fault(FaultCode::Empty, "nothing but white space"))),
    }
}

/// The open file of rows at `path`, opened and looked at where it was not yet.
fn handle<'h>(
    source: &Source,
    shape: &Shape,
    handles: &'h mut BTreeMap<String, Handle>,
    path: &str,
) -> Result<&'h mut Handle, CorpusError> {
    let io = |source| CorpusError::Io { path: path.to_owned(), source };
    if !handles.contains_key(path) {
        if !is_inside(path) {
            return Err(io(io::Error::other(LEADS_OUT)));
        }
        if handles.len() >= HANDLES_MAX {
            handles.clear();
        }
        let file = RowFile { path: path.to_owned(), full: source.root.join(path) };
        let compression = opened::compression(&file, shape.format)?;
        if shape.format == Format::Parquet {
            let parser = Parser::Json(shape.fields.clone());
            handles.insert(path.to_owned(), Handle::new(file, compression, parser));
            return handles.get_mut(path).ok_or_else(|| io(io::ErrorKind::NotFound.into()));
        }
        let stream = opened::stream(&file, compression, Restart::START)
            .map_err(|error| opened::broken(&file, compression, 0, error))?;
        let (_, parser) = rows(stream, &file, compression, shape, source.limits.bytes)?;
        handles.insert(path.to_owned(), Handle::new(file, compression, parser));
    }
    handles.get_mut(path).ok_or_else(|| io(io::ErrorKind::NotFound.into()))
}

/// A file of rows that cannot be used as a whole any more.
fn unusable(path: &str, error: CorpusError) -> ReadError {
    let source = match error {
        CorpusError::Io { source, .. } => source,
        other => io::Error::other(other),
    };
    ReadError::Io { path: path.to_owned(), source }
}

const LEADS_OUT: &str = "the path leads out of the inputs";

/// An index comes from a file: a path that climbs out of the inputs was not written by a scan.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path).components().all(|component| matches!(component, Component::Normal(_)))
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
