//! What can be wrong with a model or with the way to it.

use std::fmt::Write as _;

use pilote_spec::Digest;

/// No model could be had.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The list of references is empty.
    #[error(
        "no model is named: `engine.model` needs at least one of `hub:ORG/NAME@REV`, `path:DIR`, `package:pip/NAME==VERSION/SUBDIR`"
    )]
    NothingNamed,
    /// Every reference failed; all of them are listed in the order in which they were tried.
    #[error("no usable model; tried in order:{}\n{}", listed(attempts), advice(attempts))]
    Unavailable {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
}

/// One reference that did not lead to a model.
#[derive(Debug)]
pub struct Attempt {
    /// The reference as declared.
    pub reference: String,
    /// Why it was passed over.
    pub error: SourceError,
}

fn listed(attempts: &[Attempt]) -> String {
    attempts.iter().enumerate().fold(String::new(), |mut text, (number, attempt)| {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {}. {}: {}", number + 1, attempt.reference, attempt.error);
        text
    })
}

fn advice(attempts: &[Attempt]) -> String {
    let digests = attempts.iter().any(|attempt| matches!(attempt.error, SourceError::WrongDigest { .. }));
    let network = attempts.iter().any(|attempt| attempt.error.is_about_reaching());
    match (network, digests) {
        (true, _) => {
            "run `pilote model pull` on a machine with a network and bring its model cache here, or name a \
                      directory that holds the model with `path:DIR`"
                .to_owned()
        }
        (false, true) => "fetch the model again from a source you trust, or correct `engine.sha256` in \
                          config/pilote.json if the change is meant"
            .to_owned(),
        (false, false) => {
            "correct `engine.model` in config/pilote.json, or name a directory with `path:DIR`".to_owned()
        }
    }
}

/// Why one reference did not lead to a model.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The reference itself cannot be read.
    #[error("this is no model reference: {why}")]
    BadReference {
        /// What is expected instead.
        why: String,
    },
    /// Nothing is there and fetching is not allowed.
    #[error("not in the model cache, and HF_HUB_OFFLINE forbids to fetch it")]
    Offline,
    /// A directory that was named is not there.
    #[error("there is no directory {path}")]
    NoDirectory {
        /// The directory.
        path: String,
    },
    /// A file that every model needs, or that a digest was given for, is not there.
    #[error("the file {file} is missing")]
    MissingFile {
        /// The file's name within the model.
        file: String,
    },
    /// The weights are spread over several files.
    #[error(
        "the weights are sharded (model.safetensors.index.json); only a single model.safetensors is supported"
    )]
    Sharded,
    /// A file's digest is not the expected one. The file is not used.
    #[error(
        "{file} differs from its {origin} digest: expected sha256 {expected}, found {seen}; it is not used"
    )]
    WrongDigest {
        /// The file's name within the model.
        file: String,
        /// Whose digest: `pinned` (the project's), `announced` (the server's) or `recorded` (the cache's).
        origin: &'static str,
        /// The digest it should have.
        expected: Digest,
        /// The digest it has.
        seen: Digest,
    },
    /// A weights file whose length is not what its own header says.
    #[error("{file} is cut short or damaged: its header announces {announced} bytes, the file has {seen}")]
    CutShort {
        /// The file's name within the model.
        file: String,
        /// Bytes according to the header.
        announced: u64,
        /// Bytes on disk.
        seen: u64,
    },
    /// A file that cannot be understood.
    #[error("{file} cannot be read: {detail}")]
    BadFile {
        /// The file's name within the model.
        file: String,
        /// What is wrong in it.
        detail: String,
    },
    /// The hub has no such repository, revision or file.
    #[error("{url} is not there (404): check the repository and the revision")]
    NotFound {
        /// What was asked for.
        url: String,
    },
    /// The hub does not let us in.
    #[error(
        "{url} is refused ({status}): the repository is private, gated or misspelt; set HF_TOKEN if you have access"
    )]
    Denied {
        /// What was asked for.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The hub answered with an error to each try.
    #[error("{url} answered with status {status} ({tries} tries)")]
    Status {
        /// What was asked for.
        url: String,
        /// The last HTTP status.
        status: u16,
        /// How often it was tried without getting further.
        tries: u32,
    },
    /// The hub could not be reached, or the connection broke each time.
    #[error("{url} could not be fetched ({tries} tries): {detail}")]
    Network {
        /// What was asked for.
        url: String,
        /// The last error.
        detail: String,
        /// How often it was tried without getting further.
        tries: u32,
    },
    /// `pip download` failed.
    #[error("`{command}` failed: {detail}")]
    Pip {
        /// The command in words.
        command: String,
        /// The last lines that it said.
        detail: String,
    },
    /// The wheel is not what it should be.
    #[error("the wheel {wheel} is not used: {detail}")]
    Wheel {
        /// The wheel's file name.
        wheel: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The disk failed; the message names the file.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl SourceError {
    /// Whether another network, or none needed, would have helped.
    fn is_about_reaching(&self) -> bool {
        matches!(self, Self::Offline | Self::Network { .. } | Self::Status { .. } | Self::Pip { .. })
    }
}
