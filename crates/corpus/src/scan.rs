//! One pass over the declared inputs: every file or row becomes an item, in a stable order.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};

use pilote_spec::{
    Columns, Digest, Duplicates, FaultCode, Hasher, Inputs, Item, ItemFault, ItemId, Location, Position,
};

use crate::content;
use crate::files::Files;
use crate::identity::{Identities, Place, Sighting};
use crate::kind::{Kind, kind};
use crate::lines::{Line, Lines};
use crate::notes::Notes;
use crate::range::Numbers;
use crate::records::{Fields, Record};
use crate::source::{CorpusError, Source, description, fault, too_large};

/// Bytes in which a signature of another kind of file is looked for.
const SIGNATURE: u64 = 4096;

const LINES_EXPECTED: &str = "a file with one JSON object a line";

/// Opens the declared inputs.
///
/// # Errors
/// When they are not there, are of another kind than declared, or cannot be listed at all.
pub fn scan(source: &Source) -> Result<Scan, CorpusError> {
    let mut notes = Notes::default();
    let walk = match &source.inputs {
        Inputs::Directory { .. } | Inputs::Files { .. } => Walk::Files(Files::open(source, &mut notes)?),
        Inputs::Range { range, .. } => Walk::Numbers(Numbers::open(source, *range)?),
        Inputs::Jsonl { id, text, columns, .. } => {
            let fields = Fields {
                id: id.clone(),
                text: text.clone(),
                columns: columns.clone(),
                charset: crate::decoding::charset(source.encoding()),
            };
            Walk::Rows(Box::new(open_rows(source, fields, &mut notes)?))
        }
    };
    Ok(Scan { walk, notes, next: 0, ended: false })
}

fn open_rows(source: &Source, fields: Fields, notes: &mut Notes) -> Result<Rows<File>, CorpusError> {
    let metadata = fs::metadata(&source.base).map_err(|error| source.error(error))?;
    if !metadata.is_file() {
        let found = description(&metadata).to_owned();
        let path = source.declared().to_owned();
        return Err(CorpusError::WrongKind { path, found, expected: LINES_EXPECTED });
    }
    let open = || File::open(&source.base).map_err(|error| source.error(error));
    let mut head = Vec::new();
    open()?.take(SIGNATURE).read_to_end(&mut head).map_err(|error| source.error(error))?;
    // Taken for lines, a compressed file would give thousands of faults and no hint at what is wrong.
    if let Kind::Unsupported(kind) = kind("", &head) {
        let found = format!("a file of the kind `{kind}`");
        let path = source.declared().to_owned();
        return Err(CorpusError::WrongKind { path, found, expected: LINES_EXPECTED });
    }
    Rows::new(open()?, open()?, source, fields, notes).map_err(|error| source.error(error))
}

/// The items of the declared inputs, one after the other. Memory per item is bounded by the declared limit; what
/// stays is 40 bytes an identifier of a JSONL file, and nothing for a directory. After an error it ends.
#[derive(Debug)]
pub struct Scan {
    walk: Walk,
    notes: Notes,
    next: u64,
    ended: bool,
}

#[derive(Debug)]
enum Walk {
    Files(Files),
    Numbers(Numbers),
    Rows(Box<Rows<File>>),
}

impl Scan {
    /// What was noticed so far; complete once the iteration has ended.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }
}

impl Iterator for Scan {
    type Item = Result<Item, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let position = Position(self.next);
        let item = match &mut self.walk {
            Walk::Files(files) => files.next(position, &mut self.notes).map(Ok),
            Walk::Numbers(numbers) => numbers.next(position).map(Ok),
            Walk::Rows(rows) => rows.next(position, &mut self.notes).transpose(),
        };
        self.next += 1;
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// The rows of a JSONL file.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    lines: Lines<R>,
    /// A second reader of the same file, for identifiers that may stand twice and for lines beyond the limit.
    again: R,
    fields: Fields,
    identities: Identities,
    limit: u64,
    duplicates: Duplicates,
    path: String,
}

impl<R: Read + Seek> Rows<R> {
    pub(crate) fn new(
        reader: R,
        again: R,
        source: &Source,
        fields: Fields,
        notes: &mut Notes,
    ) -> io::Result<Self> {
        let limit = source.limits.bytes;
        let lines = Lines::new(reader, limit)?;
        notes.bom_removed += u64::from(lines.head().mark > 0);
        let fields = fields.beginning_with(lines.head());
        let path = source.declared().to_owned();
        let duplicates = source.duplicates;
        Ok(Self { lines, again, fields, identities: Identities::default(), limit, duplicates, path })
    }

    pub(crate) fn next(
        &mut self,
        position: Position,
        notes: &mut Notes,
    ) -> Result<Option<Item>, CorpusError> {
        loop {
            let Some(line) = self.lines.next().map_err(|error| self.io(error))? else { return Ok(None) };
            let (digest, record) = self.record(&line).map_err(|error| self.io(error))?;
            match record {
                Record::Blank => notes.blank_lines += 1,
                Record::Item { id, text, columns } => {
                    let chars = text.as_deref().map_or(0, content::chars);
                    let twice = match &id {
                        Some(id) => self.duplicate(id, &line, notes)?,
                        None => None,
                    };
                    return Ok(Some(Item {
                        position,
                        id,
                        digest: Some(digest),
                        bytes: line.bytes,
                        chars: if twice.is_some() { 0 } else { chars },
                        location: Location::Line {
                            line: line.number,
                            offset: line.offset,
                            bytes: line.bytes,
                        },
                        columns,
                        fault: twice.or(text.err()),
                    }));
                }
            }
        }
    }

    fn io(&self, source: io::Error) -> CorpusError {
        CorpusError::Io { path: self.path.clone(), source }
    }

    fn record(&mut self, line: &Line) -> io::Result<(Digest, Record)> {
        if let Some(kept) = &line.kept {
            return Ok((Digest::of(kept), self.fields.record(kept)));
        }
        // The line passed by without being kept; only its digest is made in a second reading.
        self.again.seek(SeekFrom::Start(line.offset))?;
        let mut hasher = Hasher::new();
        io::copy(&mut (&mut self.again).take(line.bytes), &mut hasher)?;
        let fault = too_large(line.bytes, self.limit);
        Ok((hasher.finish(), Record::Item { id: None, text: Err(fault), columns: Columns::new() }))
    }

    /// Takes note of an identifier; the fault of the item where an earlier one bears it.
    fn duplicate(
        &mut self,
        id: &ItemId,
        line: &Line,
        notes: &mut Notes,
    ) -> Result<Option<ItemFault>, CorpusError> {
        let place = Place { line: line.number, offset: line.offset, bytes: line.bytes };
        let (again, fields) = (&mut self.again, &self.fields);
        let sighting = self.identities.see(id, place, |earlier| identifier_at(again, fields, earlier));
        match sighting.map_err(|error| self.io(error))? {
            Sighting::New => Ok(None),
            Sighting::Confusable(earlier) => {
                notes.confusable(earlier.as_str(), id.as_str());
                Ok(None)
            }
            Sighting::Again(first) if self.duplicates == Duplicates::Refuse => {
                Ok(Some(fault(FaultCode::DuplicateId, format!("first on line {}", first.line))))
            }
            Sighting::Again(first) => Err(CorpusError::DuplicateId {
                id: id.clone(),
                path: self.path.clone(),
                first: first.line,
                second: line.number,
            }),
        }
    }
}

/// The identifier on an earlier line, read again.
fn identifier_at<R: Read + Seek>(
    reader: &mut R,
    fields: &Fields,
    place: Place,
) -> io::Result<Option<ItemId>> {
    reader.seek(SeekFrom::Start(place.offset))?;
    let mut line = Vec::new();
    reader.take(place.bytes).read_to_end(&mut line)?;
    Ok(match fields.record(&line) {
        Record::Item { id, .. } => id,
        Record::Blank => None,
    })
}
