//! The bytes of an input file, decompressed where its first bytes say that it is compressed.
//!
//! gzip files may have several members and zstd files several frames; decompression can begin anew at each of them
//! and nowhere else. A [`Restart`] is such a place: a compressed offset with the decompressed one. Those that are met
//! are kept, a megabyte apart, so that a byte deep in a file of many members is reached from the member before it,
//! and in a file of one member from its start. Reading goes forward from item to item, so each byte is decompressed
//! once (see [`crate::window`]).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// Compressed bytes that are read at once.
const BUFFER: usize = 64 * 1024;

/// Decompressed bytes between two restarts that are kept.
const RESTARTS_APART: u64 = 1024 * 1024;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// Skippable frames of zstd begin with 0x184d2a5?, little-endian.
const ZSTD_SKIPPABLE: &[u8] = b"\x2a\x4d\x18";

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// By the first bytes; the name may say anything.
    pub(crate) fn of(head: &[u8]) -> Self {
        if head.starts_with(GZIP) {
            Self::Gzip
        } else if is_zstd(head) {
            Self::Zstd
        } else {
            Self::None
        }
    }
}

fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(ZSTD)
        || (head.first().is_some_and(|byte| byte & 0xf0 == 0x50) && head.get(1..4) == Some(ZSTD_SKIPPABLE))
}

/// A place where decompression can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Restart {
    /// Offset of what is decompressed.
    pub(crate) decompressed: u64,
    /// Offset in the file.
    pub(crate) stored: u64,
}

impl Restart {
    /// The start of a file.
    pub(crate) const START: Self = Self { decompressed: 0, stored: 0 };
}

/// The decompressed bytes of a file, one after the other.
pub(crate) struct Stream {
    state: State,
    /// Offset of the next byte that is given.
    at: u64,
    /// Places passed by where decompression can begin, ascending.
    passed: Vec<Restart>,
}

enum State {
    Plain(Stored),
    Gzip(Box<GzDecoder<Stored>>),
    Zstd(Box<ZstdDecoder<'static, Stored>>),
    End,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Stream {
    /// Begins at the start of a file, or at a place where a member or frame begins.
    pub(crate) fn open(mut file: File, compression: Compression, from: Restart) -> io::Result<Self> {
        let at = from.decompressed;
        file.seek(SeekFrom::Start(from.stored))?;
        let stored = Stored { reader: BufReader::with_capacity(BUFFER, file), at: from.stored };
        let mut stream = Self { state: State::End, at, passed: vec![from] };
        stream.state = match compression {
            Compression::None => State::Plain(stored),
            _ => stream.member(stored)?,
        };
        Ok(stream)
    }

    /// Offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Where decompression can begin, as far as it was passed by.
    pub(crate) fn restarts(&self) -> &[Restart] {
        &self.passed
    }

    /// Passes over everything before `offset`.
    pub(crate) fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        let ahead = offset.saturating_sub(self.at);
        if let State::Plain(stored) = &mut self.state {
            let ahead = i64::try_from(ahead).map_err(io::Error::other)?;
            stored.reader.seek_relative(ahead)?;
            self.at = offset.max(self.at);
            return Ok(());
        }
        io::copy(&mut self.by_ref().take(ahead), &mut io::sink()).map(|_| ())
    }

    /// The member or frame that begins here; the end where nothing more stands there.
    fn member(&mut self, mut stored: Stored) -> io::Result<State> {
        let restart = Restart { decompressed: self.at, stored: stored.at };
        if self.passed.last().is_some_and(|last| self.at >= last.decompressed + RESTARTS_APART) {
            self.passed.push(restart);
        }
        let head = stored.peek(4)?;
        if head.is_empty() {
            return Ok(State::End);
        }
        if head.starts_with(GZIP) {
            return Ok(State::Gzip(Box::new(GzDecoder::new(stored))));
        }
        if is_zstd(&head) {
            return Ok(State::Zstd(Box::new(ZstdDecoder::with_buffer(stored)?.single_frame())));
        }
        // Tapes and some tools fill a file up with zeros.
        if stored.only_zeros()? {
            return Ok(State::End);
        }
        let what =
            format!("something else follows the compressed data at byte {} of the file", restart.stored);
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.state {
                State::Plain(stored) => stored.read(buffer)?,
                State::Gzip(decoder) => decoder.read(buffer)?,
                State::Zstd(decoder) => decoder.read(buffer)?,
                State::End => return Ok(0),
            };
            self.at += read as u64;
            if read > 0 {
                return Ok(read);
            }
            self.state = match std::mem::replace(&mut self.state, State::End) {
                State::Gzip(decoder) => self.member(decoder.into_inner())?,
                State::Zstd(decoder) => self.member(decoder.finish())?,
                State::Plain(_) | State::End => return Ok(0),
            };
        }
    }
}

/// A file as it is stored, that knows where it is.
struct Stored {
    reader: BufReader<File>,
    at: u64,
}

impl Stored {
    /// The next bytes without taking them, `count` of them unless the file ends before.
    fn peek(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let buffered = self.reader.fill_buf()?;
        if buffered.len() >= count {
            return Ok(buffered[..count].to_vec());
        }
        // At the edge of the buffer the file is asked for them, and then put back to where it was.
        let mut head = Vec::with_capacity(count);
        (&mut self.reader).take(count as u64).read_to_end(&mut head)?;
        self.reader.seek(SeekFrom::Start(self.at))?;
        Ok(head)
    }

    fn only_zeros(&mut self) -> io::Result<bool> {
        loop {
            let buffered = self.fill_buf()?;
            if buffered.is_empty() {
                return Ok(true);
            }
            if buffered.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            let length = buffered.len();
            self.consume(length);
        }
    }
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl BufRead for Stored {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.at += count as u64;
        self.reader.consume(count);
    }
}
