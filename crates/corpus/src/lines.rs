//! Lines of a file of any length, split at the line feed and nowhere else; of CSV, at a line feed outside of quotes.
//!
//! A line beyond the limit is counted, digested and let go of, so that memory stays flat whatever the file holds.

use std::io::{self, BufRead, BufReader, Read};

use pilote_spec::{Digest, Hasher};

use crate::csv::Scanner;

const LF: u8 = b'\n';
const CR: u8 = b'\r';
/// The most bytes of a line end: two UTF-16 units.
const LINE_END: usize = 4;

/// The unit in which a line feed is looked for. The declared encodings other than UTF-16 never hold the byte of a
/// line feed inside a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte,
    Utf16Le,
    Utf16Be,
}

impl Unit {
    fn is(self, pair: [u8; 2], byte: u8) -> bool {
        match self {
            Self::Byte => pair[1] == byte,
            Self::Utf16Le => pair == [byte, 0],
            Self::Utf16Be => pair == [0, byte],
        }
    }

    /// The character of one byte that a unit is, where it is one.
    fn character(self, pair: [u8; 2]) -> Option<u8> {
        match self {
            Self::Byte => Some(pair[1]),
            Self::Utf16Le => (pair[1] == 0).then_some(pair[0]),
            Self::Utf16Be => (pair[0] == 0).then_some(pair[1]),
        }
    }

    fn width(self) -> usize {
        if self == Self::Byte { 1 } else { 2 }
    }
}

/// How a file of lines begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) unit: Unit,
    /// Bytes of the byte order mark; 0 where there is none.
    pub(crate) mark: usize,
}

impl Head {
    /// From the first bytes of a file; three are enough.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let (charset, mark) = encoding_rs::Encoding::for_bom(bytes).unwrap_or((encoding_rs::UTF_8, 0));
        let unit = if charset == encoding_rs::UTF_16LE {
            Unit::Utf16Le
        } else if charset == encoding_rs::UTF_16BE {
            Unit::Utf16Be
        } else {
            Unit::Byte
        };
        Self { unit, mark }
    }
}

/// A line without its line end and without the file's byte order mark.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// From 1; of a record of several lines, its first.
    pub(crate) number: u64,
    /// Of the first byte, in the (decompressed) file.
    pub(crate) offset: u64,
    /// Without the line end.
    pub(crate) bytes: u64,
    pub(crate) content: LineContent,
    /// The file ends inside of quotes that this record opened.
    pub(crate) open: bool,
}

/// What a line holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineContent {
    /// Its bytes, within the limit.
    Kept(Vec<u8>),
    /// Beyond the limit: the digest of its bytes.
    Passed(Digest),
}

/// Reads line after line.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>,
    head: Head,
    offset: u64,
    number: u64,
    limit: u64,
    /// Where a record may hold line feeds in quotes: the byte that parts its fields.
    delimiter: Option<u8>,
}

impl<R: Read> Lines<R> {
    /// Starts at the beginning of a file and takes note of its byte order mark.
    pub(crate) fn new(mut reader: R, limit: u64, delimiter: Option<u8>) -> io::Result<Self> {
        let mut first = Vec::with_capacity(3);
        reader.by_ref().take(3).read_to_end(&mut first)?;
        let head = Head::of(&first);
        let mut reader = BufReader::with_capacity(64 * 1024, io::Cursor::new(first).chain(reader));
        reader.fill_buf()?;
        reader.consume(head.mark);
        Ok(Self { reader, head, offset: head.mark as u64, number: 0, limit, delimiter })
    }

    /// How the file begins.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// Offset of the next line.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next line; none at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Growing::new(self.limit);
        let mut end = LineEnd::new(self.head.unit, self.delimiter);
        let mut found = false;
        while !found {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let feed = end.find(buffer);
            found = feed.is_some();
            let taken = feed.unwrap_or(buffer.len());
            line.grow(&buffer[..taken]);
            self.reader.consume(taken);
        }
        if line.total == 0 {
            return Ok(None);
        }
        let (number, offset) = (self.number + 1, self.offset);
        self.number += 1 + end.inside;
        self.offset += line.total;
        let open = end.scanner.is_some_and(|scanner| scanner.is_open());
        let line_end = line.line_end(self.head.unit, found);
        let bytes = line.total - line_end;
        Ok(Some(Line { number, offset, bytes, content: line.finish(line_end), open }))
    }
}

/// Looks for the line feed that ends a line, from buffer to buffer.
struct LineEnd {
    unit: Unit,
    /// The first byte of a UTF-16 unit whose second is in the next buffer.
    half: Option<u8>,
    scanner: Option<Scanner>,
    /// Line feeds inside of quotes.
    inside: u64,
}

impl LineEnd {
    fn new(unit: Unit, delimiter: Option<u8>) -> Self {
        Self { unit, half: None, scanner: delimiter.map(Scanner::new), inside: 0 }
    }

    /// The offset after the line feed that ends the line.
    fn find(&mut self, buffer: &[u8]) -> Option<usize> {
        if self.unit == Unit::Byte && self.scanner.is_none() {
            return memchr::memchr(LF, buffer).map(|at| at + 1);
        }
        for (at, byte) in buffer.iter().enumerate() {
            let pair = match (self.unit, self.half.take()) {
                (Unit::Byte, _) => [0, *byte],
                (_, Some(first)) => [first, *byte],
                (_, None) => {
                    self.half = Some(*byte);
                    continue;
                }
            };
            if self.ends(self.unit.character(pair)) {
                return Some(at + 1);
            }
        }
        None
    }

    fn ends(&mut self, character: Option<u8>) -> bool {
        let is_feed = character == Some(LF);
        let Some(scanner) = &mut self.scanner else { return is_feed };
        let ends = match character {
            Some(byte) => scanner.ends(byte),
            None => {
                scanner.passes();
                false
            }
        };
        self.inside += u64::from(is_feed && !ends);
        ends
    }
}

/// A line while it is read: all of it while it is short, then its digest; its length and last bytes in every case.
struct Growing {
    kept: Vec<u8>,
    /// Of everything but the last bytes, which may be a line end.
    passed: Option<Hasher>,
    total: u64,
    limit: u64,
}

impl Growing {
    fn new(limit: u64) -> Self {
        Self { kept: Vec::new(), passed: None, total: 0, limit }
    }

    fn grow(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.kept.extend_from_slice(bytes);
        if self.total > self.limit.saturating_add(LINE_END as u64) {
            let passed = self.passed.get_or_insert_with(Hasher::new);
            let known = self.kept.len().saturating_sub(LINE_END);
            passed.update(&self.kept[..known]);
            self.kept.drain(..known);
        }
    }

    /// Bytes of the line end: the feed, and a carriage return before it.
    fn line_end(&self, unit: Unit, found: bool) -> u64 {
        if !found {
            return 0;
        }
        let width = unit.width();
        let before = &self.kept[..self.kept.len() - width];
        let is_return = match unit {
            Unit::Byte => before.last() == Some(&CR),
            _ => before.last_chunk().is_some_and(|pair| unit.is(*pair, CR)),
        };
        (width + if is_return { width } else { 0 }) as u64
    }

    fn finish(mut self, line_end: u64) -> LineContent {
        let end = self.kept.len() - usize::try_from(line_end).unwrap_or(0);
        self.kept.truncate(end);
        match self.passed {
            Some(mut passed) => {
                passed.update(&self.kept);
                LineContent::Passed(passed.finish())
            }
            None if self.total - line_end > self.limit => LineContent::Passed(Digest::of(&self.kept)),
            None => LineContent::Kept(self.kept),
        }
    }
}

#[cfg(test)]
mod tests;
