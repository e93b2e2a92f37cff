//! A file of rows that was opened: how it is compressed, how its rows are read.

use std::fs::{self, File};
use std::io::{self, Read as _};

use crate::csv::Table;
use crate::kind::{Kind, kind};
use crate::lines::{LineContent, Lines};
use crate::paths::RowFile;
use crate::records::{Fields, Record};
use crate::shape::{Format, Shape};
use crate::source::{CorpusError, description};
use crate::stream::{Compression, Restart, Stream};

/// Bytes in which a signature of another kind of file is looked for.
const SIGNATURE: u64 = 4096;

/// Takes the rows of one file apart.
#[derive(Debug, Clone)]
pub(crate) enum Parser {
    Json(Fields),
    Csv(Box<Table>),
}

impl Parser {
    /// Reads a row.
    pub(crate) fn record(&self, row: &[u8]) -> Record {
        match self {
            Self::Json(fields) => fields.record(row),
            Self::Csv(table) => table.record(row),
        }
    }
}

/// The compression of a file, once it is known to be one that can hold rows.
pub(crate) fn compression(file: &RowFile, format: Format) -> Result<Compression, CorpusError> {
    let io = |source| CorpusError::Io { path: file.path.clone(), source };
    let wrong = |found: String| CorpusError::WrongKind {
        path: file.path.clone(),
        found,
        expected: format.expected(),
    };
    // A named pipe would wait for ever when it is opened.
    let metadata = fs::metadata(&file.full).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CorpusError::Missing { path: file.path.clone() },
        _ => io(error),
    })?;
    if !metadata.is_file() {
        return Err(wrong(description(&metadata).to_owned()));
    }
    let mut head = Vec::new();
    File::open(&file.full).and_then(|file| file.take(4).read_to_end(&mut head)).map_err(io)?;
    if format == Format::Parquet {
        return match head.as_slice() {
            b"PAR1" => Ok(Compression::None),
            _ => Err(wrong("a file without the mark of Parquet".to_owned())),
        };
    }
    let compression = Compression::of(&head);
    let mut first = Vec::new();
    let read = stream(file, compression, Restart::START)
        .and_then(|stream| stream.take(SIGNATURE).read_to_end(&mut first));
    read.map_err(|error| broken(file, compression, first.len() as u64, error))?;
    // Taken for rows, a file of another kind would give thousands of faults and no hint at what is wrong.
    match kind("", &first) {
        Kind::Unsupported("table") => Err(wrong("a Parquet file".to_owned())),
        Kind::Unsupported(kind) => Err(wrong(format!("a file of the kind `{kind}`"))),
        _ => Ok(compression),
    }
}

/// The decompressed bytes of a file.
pub(crate) fn stream(file: &RowFile, compression: Compression, from: Restart) -> io::Result<Stream> {
    Stream::open(File::open(&file.full)?, compression, from)
}

/// The lines of a file from its first row, and what takes them apart; of CSV the header was read and looked at.
pub(crate) fn rows<R: io::Read>(
    reader: R,
    file: &RowFile,
    compression: Compression,
    shape: &Shape,
    limit: u64,
) -> Result<(Lines<R>, Parser), CorpusError> {
    let failed = |error| broken(file, compression, 0, error);
    let mut lines = Lines::new(reader, limit, shape.format.delimiter_byte()).map_err(failed)?;
    let fields = shape.fields.clone().beginning_with(lines.head());
    let Format::Csv(delimiter) = shape.format else { return Ok((lines, Parser::Json(fields))) };
    let wrong = |what: String| CorpusError::Header { path: file.path.clone(), what };
    let header = match lines.next().map_err(failed)?.map(|line| line.content) {
        Some(LineContent::Kept(header)) => header,
        Some(LineContent::Passed(_)) => {
            return Err(wrong("it is longer than the declared limit of an input".to_owned()));
        }
        None => return Err(wrong("the file is empty".to_owned())),
    };
    let table = Table::of(&header, &fields, delimiter).map_err(wrong)?;
    Ok((lines, Parser::Csv(Box::new(table))))
}

/// What an error of reading means: a compressed file that ends early or is damaged is told as such, with how far it
/// could be read.
pub(crate) fn broken(file: &RowFile, compression: Compression, at: u64, source: io::Error) -> CorpusError {
    let path = file.path.clone();
    match (compression, source.kind()) {
        (Compression::None, _) => CorpusError::Io { path, source },
        (_, io::ErrorKind::UnexpectedEof) => CorpusError::CutShort { path, at },
        (_, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other) => {
            CorpusError::Damaged { path, at, what: source.to_string() }
        }
        _ => CorpusError::Io { path, source },
    }
}
