//! The declared inputs of a project, and what makes them unusable as a whole.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pilote_spec::{Digest, Duplicates, Encoding, FaultCode, Hasher, Inputs, ItemFault, ItemId, Limits};

use crate::range::Needs;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Where items come from, resolved against the project's directory.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) inputs: Inputs,
    pub(crate) limits: Limits,
    pub(crate) duplicates: Duplicates,
    pub(crate) base: PathBuf,
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
        "the identifier `{id}` stands twice in `{path}`: on line {first} and on line {second}; give each row its \
         own identifier, or declare \"duplicates\": \"refuse\" to refuse the later ones"
    )]
    DuplicateId {
        /// The identifier.
        id: ItemId,
        /// The declared file.
        path: String,
        /// Line that bears it first.
        first: u64,
        /// Line that bears it again.
        second: u64,
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
            Self::Io { .. } => "inputs-unreadable",
        }
    }
}

impl Source {
    /// The inputs of the project at `root`. Nothing is opened yet.
    #[must_use]
    pub fn new(root: &Path, inputs: &Inputs, limits: &Limits, duplicates: Duplicates) -> Self {
        let base = root.join(declared_path(inputs));
        let needs = Arc::default();
        Self { inputs: inputs.clone(), limits: limits.clone(), duplicates, base, needs }
    }

    /// The path as the configuration writes it.
    #[must_use]
    pub fn declared(&self) -> &str {
        declared_path(&self.inputs)
    }

    /// The declared encoding.
    pub(crate) fn encoding(&self) -> Encoding {
        match &self.inputs {
            Inputs::Directory { encoding, .. } | Inputs::Jsonl { encoding, .. } => *encoding,
            Inputs::Files { .. } | Inputs::Range { .. } => Encoding::Utf8,
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

fn declared_path(inputs: &Inputs) -> &str {
    match inputs {
        Inputs::Directory { directory, .. } => directory,
        Inputs::Jsonl { jsonl, .. } => jsonl,
        Inputs::Files { files } => files,
        // Numbers lie in the project itself; each path that they need is declared relative to it.
        Inputs::Range { .. } => ".",
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
