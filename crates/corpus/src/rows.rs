//! The rows of one or several files as the items of one corpus.

use std::path::Path;
use std::vec;

use pilote_spec::{Columns, Digest, Duplicates, FaultCode, Item, ItemFault, ItemId, Location, Position};

use crate::content;
use crate::identity::{Aside, Duplicate, Identities, Place, Sighting, Told};
use crate::lines::{Line, LineContent, Lines};
use crate::notes::Notes;
use crate::opened::{self, Parser};
use crate::paths::{RowFile, row_files};
use crate::records::Record;
use crate::shape::{Format, Shape};
use crate::source::{CorpusError, Source, fault, too_large};
use crate::stream::{Compression, Restart, Stream};
use crate::table::Table;

/// The rows of the declared files. Memory: one row within the declared limit, and what [`crate::identity`] keeps.
#[derive(Debug)]
pub(crate) struct Rows {
    source: Source,
    shape: Shape,
    files: vec::IntoIter<RowFile>,
    /// Paths of the files that were opened, for messages about earlier rows.
    opened: Vec<String>,
    /// Whether a location names its file: with one declared file it is plain which one is meant.
    located: bool,
    open: Option<Open>,
    known: Known,
}

/// What is known of the identifiers.
#[derive(Debug)]
enum Known {
    /// All of them.
    All(Identities),
    /// Nothing until all were put aside.
    Aside(Option<Aside>),
    /// Which are duplicates, from an earlier pass.
    Told(Told),
}

/// A file under way.
#[derive(Debug)]
struct Open {
    file: RowFile,
    compression: Compression,
    rows: From,
    parser: Parser,
}

/// What rows come from.
#[derive(Debug)]
enum From {
    Lines(Box<Lines<Stream>>),
    Table(Box<Table>),
}

/// What comes next in a file.
enum Next {
    Row(Row),
    Blank,
    End,
}

/// A row before its place among the items is known.
#[derive(Debug)]
pub(crate) struct Row {
    /// Line, or row of a table, from 1.
    pub(crate) number: u64,
    pub(crate) location: Location,
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    pub(crate) id: Option<ItemId>,
    pub(crate) text: Result<String, ItemFault>,
    pub(crate) columns: Columns,
}

impl Rows {
    pub(crate) fn open(source: &Source, shape: Shape, notes: &mut Notes) -> Result<Self, CorpusError> {
        let files = row_files(&source.root, &shape.paths, shape.format, notes)?;
        let located = !(files.len() == 1 && shape.paths.iter().eq([files[0].path.as_str()]));
        let mut rows = Self {
            source: source.clone(),
            shape,
            files: files.into_iter(),
            opened: Vec::new(),
            located,
            open: None,
            known: Known::All(Identities::default()),
        };
        // The first file is opened at once, so that what is wrong with the declaration is told before anything else.
        rows.next_file(notes)?;
        Ok(rows)
    }

    /// The next item; none at the end.
    pub(crate) fn next(
        &mut self,
        position: Position,
        notes: &mut Notes,
    ) -> Result<Option<Item>, CorpusError> {
        let Some(row) = self.row(notes)? else { return self.finish(notes).map(|()| None) };
        let twice = match &row.id {
            Some(id) => self.sighted(id, position, row.number, notes)?,
            None => None,
        };
        let chars = row.text.as_deref().map_or(0, content::chars);
        Ok(Some(Item {
            position,
            id: row.id,
            digest: Some(row.digest),
            bytes: row.bytes,
            chars: if twice.is_some() { 0 } else { chars },
            location: row.location,
            columns: row.columns,
            fault: twice.or(row.text.err()),
        }))
    }

    fn row(&mut self, notes: &mut Notes) -> Result<Option<Row>, CorpusError> {
        loop {
            let Some(open) = &mut self.open else { return Ok(None) };
            match open.next(self.located, self.source.limits.bytes)? {
                Next::Row(row) => return Ok(Some(row)),
                Next::Blank => notes.blank_lines += 1,
                Next::End => self.next_file(notes)?,
            }
        }
    }

    fn next_file(&mut self, notes: &mut Notes) -> Result<(), CorpusError> {
        self.open = None;
        let Some(file) = self.files.next() else { return Ok(()) };
        let compression = opened::compression(&file, self.shape.format)?;
        let (rows, parser) = if self.shape.format == Format::Parquet {
            let table = Table::open(&file, &self.shape.fields)?;
            (From::Table(Box::new(table)), Parser::Json(self.shape.fields.clone()))
        } else {
            let stream = opened::stream(&file, compression, Restart::START)
                .map_err(|error| opened::broken(&file, compression, 0, error))?;
            let (lines, parser) =
                opened::rows(stream, &file, compression, &self.shape, self.source.limits.bytes)?;
            notes.bom_removed += u64::from(lines.head().mark > 0);
            (From::Lines(Box::new(lines)), parser)
        };
        self.opened.push(file.path.clone());
        self.open = Some(Open { file, compression, rows, parser });
        Ok(())
    }

    /// Takes note of an identifier; the fault of the item where an earlier one bears it.
    fn sighted(
        &mut self,
        id: &ItemId,
        position: Position,
        line: u64,
        notes: &mut Notes,
    ) -> Result<Option<ItemFault>, CorpusError> {
        let file = u32::try_from(self.opened.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let place = Place { file, line };
        self.spill_if_many(notes)?;
        let first = match &mut self.known {
            Known::All(identities) => match identities.see(id, position, place) {
                Sighting::New => None,
                Sighting::Confusable(earlier) => {
                    notes.confusable(earlier.as_str(), id.as_str());
                    None
                }
                Sighting::Again(first) => Some(first),
            },
            Known::Aside(aside) => {
                let added = aside.as_mut().map_or(Ok(()), |aside| aside.add(id, position, place));
                added.map_err(|error| self.source.scratch_error(error))?;
                None
            }
            Known::Told(told) => told.first(position).map_err(|error| self.source.scratch_error(error))?,
        };
        match first {
            None => Ok(None),
            Some(first) if self.source.duplicates == Duplicates::Refuse => {
                Ok(Some(fault(FaultCode::DuplicateId, format!("first on {}", self.shown(first, place.file)))))
            }
            Some(first) => {
                Err(self.stands_twice(Duplicate { id: id.clone(), first, second: place, position }))
            }
        }
    }

    /// A place in words; the file is left out where it is the one that is spoken of.
    fn shown(&self, place: Place, spoken_of: u32) -> String {
        let what = if self.shape.format == Format::Parquet { "row" } else { "line" };
        match self.opened.get(place.file as usize) {
            Some(path) if place.file != spoken_of => format!("{what} {} of `{path}`", place.line),
            _ => format!("{what} {}", place.line),
        }
    }

    fn stands_twice(&self, Duplicate { id, first, second, .. }: Duplicate) -> CorpusError {
        let path = |place: Place| self.opened.get(place.file as usize).cloned().unwrap_or_default();
        CorpusError::DuplicateId { id, first: (path(first), first.line), second: (path(second), second.line) }
    }

    /// Beyond the number of identifiers that are kept in memory they are put aside: the launch stops at the end where
    /// one stands twice. Where later ones are refused, a pass over all rows tells which they are before the next item
    /// is given.
    fn spill_if_many(&mut self, notes: &mut Notes) -> Result<(), CorpusError> {
        let Known::All(identities) = &mut self.known else { return Ok(()) };
        if identities.len() < self.source.identifiers_in_memory {
            return Ok(());
        }
        let kept = std::mem::take(identities);
        let scratch = self.source.scratch();
        let failed = |error| self.source.scratch_error(error);
        let mut aside = Aside::new(&scratch).map_err(failed)?;
        if self.source.duplicates == Duplicates::Refuse {
            drop(kept);
            self.known = Known::Told(self.told(aside, &scratch, notes)?);
        } else {
            aside.take(&kept).map_err(failed)?;
            self.known = Known::Aside(Some(aside));
        }
        Ok(())
    }

    fn told(&self, aside: Aside, scratch: &Path, notes: &mut Notes) -> Result<Told, CorpusError> {
        let mut passing = Notes::default();
        let mut rows = Self::open(&self.source, self.shape.clone(), &mut passing)?;
        rows.known = Known::Aside(Some(aside));
        let mut position = 0;
        while let Some(row) = rows.row(&mut passing)? {
            if let Some(id) = &row.id {
                rows.sighted(id, Position(position), row.number, &mut passing)?;
            }
            position += 1;
        }
        let failed = |error| self.source.scratch_error(error);
        let mut told = Told::new(scratch, position).map_err(failed)?;
        if let Known::Aside(Some(aside)) = rows.known {
            aside
                .look_through(notes, |duplicate| told.add(duplicate.position, duplicate.first))
                .map_err(failed)?;
        }
        Ok(told)
    }

    /// Everything was read: what was put aside is looked through.
    fn finish(&mut self, notes: &mut Notes) -> Result<(), CorpusError> {
        let Known::Aside(aside) = &mut self.known else { return Ok(()) };
        let Some(aside) = aside.take() else { return Ok(()) };
        let mut earliest: Option<Duplicate> = None;
        aside
            .look_through(notes, |duplicate| {
                if earliest.as_ref().is_none_or(|earliest| duplicate.position < earliest.position) {
                    earliest = Some(duplicate);
                }
                Ok(())
            })
            .map_err(|error| self.source.scratch_error(error))?;
        earliest.map_or(Ok(()), |duplicate| Err(self.stands_twice(duplicate)))
    }
}

impl Open {
    fn next(&mut self, located: bool, limit: u64) -> Result<Next, CorpusError> {
        let path = located.then(|| self.file.path.clone());
        match &mut self.rows {
            From::Lines(lines) => {
                let broken = |at, error| opened::broken(&self.file, self.compression, at, error);
                let at = lines.offset();
                let Some(line) = lines.next().map_err(|error| broken(at, error))? else {
                    return Ok(Next::End);
                };
                if line.open {
                    return Err(CorpusError::QuoteOpen { path: self.file.path.clone(), line: line.number });
                }
                Ok(row_of(&line, &self.parser, path, limit).map_or(Next::Blank, Next::Row))
            }
            From::Table(table) => {
                let Some((number, object)) = table.next()? else { return Ok(Next::End) };
                let location = Location::Row { row: number + 1, path };
                let bytes = object.len() as u64;
                let digest = Digest::of(object.as_bytes());
                let record = if bytes > limit {
                    Record::faulty(None, too_large(bytes, limit))
                } else {
                    self.parser.record(object.as_bytes())
                };
                Ok(row(number + 1, location, (digest, bytes), record).map_or(Next::Blank, Next::Row))
            }
        }
    }
}

fn row(number: u64, location: Location, (digest, bytes): (Digest, u64), record: Record) -> Option<Row> {
    let Record::Item { id, text, columns } = record else { return None };
    Some(Row { number, location, digest, bytes, id, text, columns })
}

/// The row on a line; none where the line is blank.
pub(crate) fn row_of(line: &Line, parser: &Parser, path: Option<String>, limit: u64) -> Option<Row> {
    let (digest, record) = match &line.content {
        LineContent::Kept(kept) => (Digest::of(kept), parser.record(kept)),
        LineContent::Passed(digest) => (*digest, Record::faulty(None, too_large(line.bytes, limit))),
    };
    let location = Location::Line { line: line.number, offset: line.offset, bytes: line.bytes, path };
    row(line.number, location, (digest, line.bytes), record)
}
