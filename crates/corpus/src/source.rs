//! The declared inputs of a project, and what makes them unusable as a whole.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pilote_spec::{Digest, Duplicates, Encoding, FaultCode, Hasher, Inputs, ItemFault, ItemId, Limits};

use crate::notes::Notes;
use crate::paths::row_files;
use crate::range::Needs;
use crate::reading::Handles;
use crate::shape::Shape;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Identifiers that are kept in memory, some 100 bytes each.
const IDENTIFIERS_IN_MEMORY: usize = 1_000_000;

/// Where items come from, resolved against the project's directory.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) inputs: Inputs,
    pub(crate) limits: Limits,
    pub(crate) duplicates: Duplicates,
    pub(crate) root: PathBuf,
    pub(crate) base: PathBuf,
    pub(crate) identifiers_in_memory: usize,
    /// Files that were opened to read their items again, shared by all copies of this source.
    pub(crate) handles: Arc<Handles>,
    /// What a range depends on, as it was read last.
    pub(crate) needs: Arc<Mutex<Option<Needs>>>,
}

/// What makes the declared inputs unusable as a whole. A fault of one item is never such an error.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The declared directory or file does not exist.
    #[error(
        "the inputs `{path}` are not there; create them, or correct `inputs` in config/pilote.json \
         (the path is relative to the project)"
    )]
    Missing {
        /// The declared path.
        path: String,
    },
    /// The declared path is something else than the declaration says.
    #[error(
        "the inputs `{path}` are {found}, and {expected} was declared; correct `inputs` in config/pilote.json"
    )]
    WrongKind {
        /// The declared path.
        path: String,
        /// What stands there.
        found: String,
        /// What was declared.
        expected: &'static str,
    },
    /// Two rows bear one identifier, and `duplicates` is `stop`.
    #[error(
        "the identifier `{id}` stands twice{}; give each row its own identifier, or declare \
         \"duplicates\": \"refuse\" to refuse the later ones",
        places(first, second)
    )]
    DuplicateId {
        /// The identifier.
        id: ItemId,
        /// File and line (or row) that bears it first.
        first: (String, u64),
        /// File and line (or row) that bears it again.
        second: (String, u64),
    },
    /// A directory or pattern holds no file of the declared format.
    #[error(
        "the inputs `{path}` hold no file that ends in {expected} (or in that and .gz or .zst); correct `inputs` in \
         config/pilote.json"
    )]
    NoFiles {
        /// The declared directory or pattern.
        path: String,
        /// The extensions that are looked for.
        expected: String,
    },
    /// One file is reached by two of the declared paths.
    #[error("`{path}` is named twice by `inputs` in config/pilote.json; take one of the paths out")]
    NamedTwice {
        /// The file.
        path: String,
    },
    /// A compressed file ends before its data does.
    #[error(
        "`{path}` is cut short: its compressed data ends after {at} decompressed bytes, in the middle; copy the file \
         again from where it came"
    )]
    CutShort {
        /// The file.
        path: String,
        /// Decompressed bytes up to there, as far as rows were read.
        at: u64,
    },
    /// A compressed file cannot be decompressed.
    #[error(
        "`{path}` is damaged: after {at} decompressed bytes it cannot be read on ({what}); copy the file again from \
         where it came"
    )]
    Damaged {
        /// The file.
        path: String,
        /// Decompressed bytes up to there, as far as rows were read.
        at: u64,
        /// The decompressor's own words.
        what: String,
    },
    /// A table cannot be read on.
    #[error("`{path}` cannot be read as Parquet at row {row}: {what}; write the file anew, or copy it again")]
    TableDamaged {
        /// The file.
        path: String,
        /// The row from 1 that could not be read.
        row: u64,
        /// The reader's own words.
        what: String,
    },
    /// The header of a table is not what the declaration needs.
    #[error(
        "the header of `{path}` cannot be used: {what}; correct the file, or `inputs` in config/pilote.json"
    )]
    Header {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// A quote that is opened in a file of comma-separated values is never closed.
    #[error(
        "`{path}`: a quote that is opened in the row on line {line} is not closed at the end of the file, so every row \
         behind it is in doubt; correct the row"
    )]
    QuoteOpen {
        /// The file.
        path: String,
        /// Line on which the row begins.
        line: u64,
    },
    /// The identifiers of a large corpus could not be put aside.
    #[error(
        "the identifiers could not be put aside in `{}` to find those that stand twice: {source}; make room there, \
         some 60 bytes an item",
        dir.display()
    )]
    Scratch {
        /// Where.
        dir: PathBuf,
        /// The system's own words.
        source: io::Error,
    },
    /// The operating system refused to list or read the inputs.
    #[error(
        "the inputs `{path}` cannot be read: {source}; give the user that runs pilote the right to read them"
    )]
    Io {
        /// The declared path, or the path below it.
        path: String,
        /// The system's own words.
        source: io::Error,
    },
}

impl CorpusError {
    /// A stable code for machine-readable output.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "inputs-missing",
            Self::WrongKind { .. } => "inputs-wrong-kind",
            Self::DuplicateId { .. } => "duplicate-id",
            Self::NoFiles { .. } => "inputs-no-files",
            Self::NamedTwice { .. } => "inputs-named-twice",
            Self::CutShort { .. } => "inputs-cut-short",
            Self::Damaged { .. } | Self::TableDamaged { .. } => "inputs-damaged",
            Self::Header { .. } => "inputs-header",
            Self::QuoteOpen { .. } => "inputs-quote-open",
            Self::Scratch { .. } => "scratch-full",
            Self::Io { .. } => "inputs-unreadable",
        }
    }
}

impl Source {
    /// The inputs of the project at `root`. Nothing is opened yet.
    #[must_use]
    pub fn new(root: &Path, inputs: &Inputs, limits: &Limits, duplicates: Duplicates) -> Self {
        Self {
            inputs: inputs.clone(),
            limits: limits.clone(),
            duplicates,
            root: root.to_owned(),
            base: root.join(inputs.declared()),
            identifiers_in_memory: IDENTIFIERS_IN_MEMORY,
            handles: Arc::default(),
            needs: Arc::default(),
        }
    }

    /// The same with another number of identifiers that are kept in memory; beyond it they are put aside in scratch
    /// files.
    #[must_use]
    pub fn with_identifiers_in_memory(self, identifiers_in_memory: usize) -> Self {
        Self { identifiers_in_memory, ..self }
    }

    /// Where scratch files are made: beside the trials, where their results must have room as well, else where the
    /// system keeps temporary files.
    pub(crate) fn scratch(&self) -> PathBuf {
        let runs = self.root.join("runs");
        if runs.is_dir() { runs } else { std::env::temp_dir() }
    }

    pub(crate) fn scratch_error(&self, source: io::Error) -> CorpusError {
        CorpusError::Scratch { dir: self.scratch(), source }
    }

    /// The files of rows that the declaration names now, relative to the project, in the order of their rows; none
    /// of inputs that are no rows.
    ///
    /// # Errors
    /// When a declared path finds nothing, or a file is named twice.
    pub fn files_of_rows(&self) -> Result<Vec<String>, CorpusError> {
        let Some(shape) = Shape::of(&self.inputs) else { return Ok(Vec::new()) };
        let files = row_files(&self.root, &shape.paths, shape.format, &mut Notes::default())?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    /// The path as the configuration writes it.
    #[must_use]
    pub fn declared(&self) -> &str {
        self.inputs.declared()
    }

    /// The declared encoding.
    pub(crate) fn encoding(&self) -> Encoding {
        match &self.inputs {
            Inputs::Directory { encoding, .. }
            | Inputs::Jsonl { encoding, .. }
            | Inputs::Csv { encoding, .. } => *encoding,
            Inputs::Parquet { .. }
            | Inputs::OpenAiBatch { .. }
            | Inputs::Files { .. }
            | Inputs::Range { .. } => Encoding::Utf8,
        }
    }

    pub(crate) fn error(&self, error: io::Error) -> CorpusError {
        let path = self.declared().to_owned();
        if error.kind() == io::ErrorKind::NotFound {
            CorpusError::Missing { path }
        } else {
            CorpusError::Io { path, source: error }
        }
    }
}

/// Two places in words, the file once where it is one.
fn places((path, line): &(String, u64), (other, second): &(String, u64)) -> String {
    if path == other {
        format!(" in `{path}`: on line {line} and on line {second}")
    } else {
        format!(": on line {line} of `{path}` and on line {second} of `{other}`")
    }
}

/// A fault with what was seen.
pub(crate) fn fault(code: FaultCode, detail: impl Into<String>) -> ItemFault {
    ItemFault { code, detail: detail.into() }
}

/// What stands at a path, in words, where it is no regular file.
pub(crate) fn description(metadata: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    if metadata.is_dir() {
        "a directory"
    } else if metadata.is_file() {
        "a file"
    } else {
        "no regular file"
    }
}

/// The bytes of a file, kept where they are within the limit, and their digest in every case.
pub(crate) struct Stored {
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    /// None beyond the limit: such content passes through a small buffer only.
    pub(crate) kept: Option<Vec<u8>>,
}

/// Reads a whole file. Its announced length decides whether anything is kept at all; a file that grows beyond the
/// limit meanwhile is let go of as well.
pub(crate) fn stored(file: &mut File, limit: u64) -> io::Result<Stored> {
    let announced = file.metadata()?.len();
    let mut kept = (announced <= limit).then(|| Vec::with_capacity(usize::try_from(announced).unwrap_or(0)));
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; CHUNK];
    let mut bytes = 0;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(Stored { digest: hasher.finish(), bytes, kept }),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        if bytes > limit {
            kept = None;
        } else if let Some(kept) = &mut kept {
            kept.extend_from_slice(&buffer[..read]);
        }
    }
}

/// The fault of content beyond the limit.
pub(crate) fn too_large(bytes: u64, limit: u64) -> ItemFault {
    fault(FaultCode::TooLarge, format!("{bytes} bytes, limit {limit}"))
}

/// An error of the operating system in few words, without a path.
pub(crate) fn in_words(error: &io::Error) -> String {
    error.kind().to_string()
}

#[cfg(test)]
mod tests;
