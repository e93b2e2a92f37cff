//! Lines of a file of any length, split at the line feed and nowhere else.
//!
//! A line beyond the limit is counted and let go of, so that memory stays flat whatever the file holds.

use std::io::{self, BufRead, BufReader, Read};

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
    /// From 1.
    pub(crate) number: u64,
    /// Of the first byte, in the file.
    pub(crate) offset: u64,
    /// Without the line end.
    pub(crate) bytes: u64,
    /// None beyond the limit.
    pub(crate) kept: Option<Vec<u8>>,
}

/// Reads line after line.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    head: Head,
    offset: u64,
    number: u64,
    limit: u64,
}

impl<R: Read> Lines<R> {
    /// Starts at the beginning of a file and takes note of its byte order mark.
    pub(crate) fn new(reader: R, limit: u64) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(64 * 1024, reader);
        let head = Head::of(reader.fill_buf()?);
        reader.consume(head.mark);
        Ok(Self { reader, head, offset: head.mark as u64, number: 0, limit })
    }

    /// How the file begins.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// The next line; none at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Growing { kept: Some(Vec::new()), total: 0, tail: Vec::new(), limit: self.limit };
        let mut found = false;
        let mut half = None;
        while !found {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let end = find_feed(buffer, self.head.unit, &mut half);
            found = end.is_some();
            let taken = end.unwrap_or(buffer.len());
            line.grow(&buffer[..taken]);
            self.reader.consume(taken);
        }
        if line.total == 0 {
            return Ok(None);
        }
        self.number += 1;
        let offset = self.offset;
        self.offset += line.total;
        let bytes = line.total - line.line_end(self.head.unit, found);
        let kept = line.kept.filter(|_| bytes <= self.limit).map(|mut kept| {
            kept.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
            kept
        });
        Ok(Some(Line { number: self.number, offset, bytes, kept }))
    }
}

/// The offset after the first line feed. `half` carries the first byte of a UTF-16 unit from buffer to buffer.
fn find_feed(buffer: &[u8], unit: Unit, half: &mut Option<u8>) -> Option<usize> {
    if unit == Unit::Byte {
        return memchr::memchr(LF, buffer).map(|at| at + 1);
    }
    for (at, byte) in buffer.iter().enumerate() {
        match half.take() {
            None => *half = Some(*byte),
            Some(first) if unit.is([first, *byte], LF) => return Some(at + 1),
            Some(_) => {}
        }
    }
    None
}

/// A line while it is read: all of it while it is short, its length and last bytes in every case.
struct Growing {
    kept: Option<Vec<u8>>,
    total: u64,
    tail: Vec<u8>,
    limit: u64,
}

impl Growing {
    fn grow(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(LINE_END)..]);
        self.tail.drain(..self.tail.len().saturating_sub(LINE_END));
        if self.total > self.limit.saturating_add(LINE_END as u64) {
            self.kept = None;
        } else if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
    }

    /// Bytes of the line end: the feed, and a carriage return before it.
    fn line_end(&self, unit: Unit, found: bool) -> u64 {
        if !found {
            return 0;
        }
        let width = unit.width();
        let before = &self.tail[..self.tail.len() - width];
        let is_return = match unit {
            Unit::Byte => before.last() == Some(&CR),
            _ => before.last_chunk().is_some_and(|pair| unit.is(*pair, CR)),
        };
        (width + if is_return { width } else { 0 }) as u64
    }
}

#[cfg(test)]
mod tests;
