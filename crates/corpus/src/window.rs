//! The stored bytes of rows, read again.
//!
//! A file that is not compressed is read where a row stands. A compressed one can only be read forward from its start
//! or from one of its members, and a batch takes rows by length and not in their order. So a part of the index is
//! prepared as a whole: the stretch of the file that holds its rows is decompressed once into a scratch file without
//! a name, in which every row of the part can be read. Parts come in order, so decompression goes on where the last
//! part ended; a process that begins deep in a file passes over what is before once. What is not prepared is reached
//! in the same way, from the nearest member before it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;

use crate::opened::{self, Parser};
use crate::paths::RowFile;
use crate::records::Fields;
use crate::source::CorpusError;
use crate::stream::{Compression, Restart, Stream};
use crate::table::Table;

/// A stretch up to this size is kept in memory.
const IN_MEMORY: u64 = 8 * 1024 * 1024;

/// A file of rows at hand.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) file: RowFile,
    pub(crate) compression: Compression,
    pub(crate) parser: Parser,
    /// Of a file that is not compressed.
    plain: Option<File>,
    /// Where decompression went on to.
    stream: Option<Stream>,
    restarts: Vec<Restart>,
    window: Option<Window>,
    /// Of a table: where reading went on to, and the rows that are ready.
    table: Option<Table>,
    rows: Option<Rows>,
}

/// Rows of a table that are ready: the number of the first, and where each ends in what is held.
#[derive(Debug)]
struct Rows {
    first: u64,
    ends: Vec<u64>,
    held: Held,
}

/// A stretch of decompressed bytes.
#[derive(Debug)]
struct Window {
    bytes: Range<u64>,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Memory(Vec<u8>),
    Scratch(File),
}

impl Held {
    /// Adds bytes at the end; beyond a size they go on in a scratch file.
    fn add(&mut self, bytes: &[u8], scratch: &Path) -> io::Result<()> {
        match self {
            Self::Memory(kept) if (kept.len() + bytes.len()) as u64 <= IN_MEMORY => {
                kept.extend_from_slice(bytes);
            }
            Self::Memory(kept) => {
                let mut file = tempfile::tempfile_in(scratch)?;
                file.write_all(kept)?;
                file.write_all(bytes)?;
                *self = Self::Scratch(file);
            }
            Self::Scratch(file) => {
                file.seek(SeekFrom::End(0))?;
                file.write_all(bytes)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(kept) => {
                let from = usize::try_from(from).map_err(io::Error::other)?;
                let to = from + usize::try_from(bytes).map_err(io::Error::other)?;
                Ok(kept.get(from..to).unwrap_or_default().to_vec())
            }
            Self::Scratch(file) => {
                let mut read = Vec::new();
                file.seek(SeekFrom::Start(from))?;
                io::Read::take(&mut *file, bytes).read_to_end(&mut read)?;
                Ok(read)
            }
        }
    }
}

impl Handle {
    pub(crate) fn new(file: RowFile, compression: Compression, parser: Parser) -> Self {
        let restarts = vec![Restart::START];
        Self {
            file,
            compression,
            parser,
            plain: None,
            stream: None,
            restarts,
            window: None,
            table: None,
            rows: None,
        }
    }

    /// Makes the bytes of a stretch ready, so that rows in it are read in any order.
    pub(crate) fn prepare(&mut self, bytes: Range<u64>, scratch: &Path) -> io::Result<()> {
        let ready = |window: &Window| window.bytes.start <= bytes.start && bytes.end <= window.bytes.end;
        if self.compression == Compression::None || self.window.as_ref().is_some_and(ready) {
            return Ok(());
        }
        self.window = None;
        let mut stream = self.stream_before(bytes.start)?;
        stream.skip_to(bytes.start)?;
        let length = bytes.end.saturating_sub(bytes.start);
        let mut from = stream.by_ref().take(length);
        let mut held = if length <= IN_MEMORY {
            Held::Memory(Vec::new())
        } else {
            Held::Scratch(tempfile::tempfile_in(scratch)?)
        };
        let copied = match &mut held {
            Held::Memory(kept) => io::copy(&mut from, kept)?,
            Held::Scratch(file) => {
                let copied = io::copy(&mut from, file)?;
                file.flush()?;
                copied
            }
        };
        self.window = Some(Window { bytes: bytes.start..bytes.start + copied, held });
        self.keep(stream);
        Ok(())
    }

    /// Bytes from `offset` on; fewer than asked for where the file ends before.
    pub(crate) fn read(&mut self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let mut row = Vec::with_capacity(usize::try_from(bytes.min(1 << 20)).unwrap_or(0));
        if self.compression == Compression::None {
            let file = match &mut self.plain {
                Some(file) => file,
                none => none.insert(File::open(&self.file.full)?),
            };
            file.seek(SeekFrom::Start(offset))?;
            io::Read::take(&mut *file, bytes).read_to_end(&mut row)?;
            return Ok(row);
        }
        if let Some(Window { bytes: held, held: window }) = &mut self.window
            && held.start <= offset
            && offset + bytes <= held.end
        {
            let from = offset - held.start;
            return window.read(from, bytes);
        }
        let mut stream = self.stream_before(offset)?;
        stream.skip_to(offset)?;
        stream.by_ref().take(bytes).read_to_end(&mut row)?;
        self.keep(stream);
        Ok(row)
    }

    /// Makes the rows of a stretch of a table ready, numbers from 0.
    pub(crate) fn prepare_rows(
        &mut self,
        rows: Range<u64>,
        fields: &Fields,
        scratch: &Path,
    ) -> Result<(), CorpusError> {
        let ready = |held: &Rows| held.first <= rows.start && rows.end <= held.first + held.ends.len() as u64;
        if self.rows.as_ref().is_some_and(ready) {
            return Ok(());
        }
        let io = |source| CorpusError::Io { path: self.file.path.clone(), source };
        let table = match &mut self.table {
            Some(table) => table,
            none => none.insert(Table::open(&self.file, fields)?),
        };
        table.go_to(rows.start)?;
        let mut held = Rows { first: rows.start, ends: Vec::new(), held: Held::Memory(Vec::new()) };
        let mut end = 0;
        while held.first + (held.ends.len() as u64) < rows.end
            && let Some((_, object)) = table.next()?
        {
            held.held.add(object.as_bytes(), scratch).map_err(io)?;
            end += object.len() as u64;
            held.ends.push(end);
        }
        self.rows = Some(held);
        Ok(())
    }

    /// The JSON object of a row of a table, its number from 0; nothing where the table ends before.
    pub(crate) fn read_row(
        &mut self,
        row: u64,
        fields: &Fields,
        scratch: &Path,
    ) -> Result<Vec<u8>, CorpusError> {
        self.prepare_rows(row..row + 1, fields, scratch)?;
        let io = |source| CorpusError::Io { path: self.file.path.clone(), source };
        let Some(rows) = &mut self.rows else { return Ok(Vec::new()) };
        let at = row.checked_sub(rows.first).and_then(|at| usize::try_from(at).ok());
        let Some(at) = at.filter(|at| *at < rows.ends.len()) else { return Ok(Vec::new()) };
        let from = if at == 0 { 0 } else { rows.ends[at - 1] };
        rows.held.read(from, rows.ends[at] - from).map_err(io)
    }

    /// A stream that stands at `offset` or before it, as near as can be had.
    fn stream_before(&mut self, offset: u64) -> io::Result<Stream> {
        let passed = self.restarts.partition_point(|restart| restart.decompressed <= offset);
        let nearest = self.restarts[..passed].last().copied().unwrap_or(Restart::START);
        match self.stream.take() {
            Some(stream) if (nearest.decompressed..=offset).contains(&stream.at()) => Ok(stream),
            _ => opened::stream(&self.file, self.compression, nearest),
        }
    }

    fn keep(&mut self, stream: Stream) {
        let known = self.restarts.last().copied().unwrap_or(Restart::START);
        self.restarts.extend(stream.restarts().iter().filter(|restart| **restart > known));
        self.stream = Some(stream);
    }
}
