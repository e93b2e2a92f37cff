//! Why a proof could not be made or read. A finding of a verification is no error: see [`crate::Finding`].

use std::path::{Path, PathBuf};

use crate::document::DocumentError;

/// What kept the proof from doing its work.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The directory is no trial.
    #[error("`{}` is no trial: it has no trial.json; give the path of a directory under runs/, or of a copy", path.display())]
    NoTrial {
        /// The directory.
        path: PathBuf,
    },
    /// `trial.json` is of another format or damaged.
    #[error("`{}` cannot be read as `pilote.trial/1`: {why}", path.display())]
    BadTrial {
        /// The file.
        path: PathBuf,
        /// Where and why.
        why: String,
    },
    /// A file of the trial that must be there is not.
    #[error("`{}` is missing, so the trial is not whole; read it from another copy", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read as what it is.
    #[error("`{}` is damaged: {why}; read the trial from another copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and why.
        why: String,
    },
    /// Some part has no seal yet.
    #[error("{unsealed} of {parts} parts are not finished; take the trial up with `pilote run --resume`")]
    NotSealed {
        /// Parts without a seal.
        unsealed: u64,
        /// Parts of the index.
        parts: u64,
    },
    /// Every part is sealed, and the last writer did not say that it was done.
    #[error(
        "the last writer of the trial ended with `{word}`; take the trial up with `pilote run --resume`, which only closes it"
    )]
    NotEnded {
        /// Its last word.
        word: String,
    },
    /// An earlier collection left other bytes.
    #[error("`{}` is there with other content than the records give; keep it aside and collect again", path.display())]
    Differs {
        /// The file.
        path: PathBuf,
    },
    /// A source file changed while it was copied.
    #[error("`{}` changed while it was copied; wait until the trial has stopped, then export again", path.display())]
    SourceChanged {
        /// The file.
        path: PathBuf,
    },
    /// Something in the trial's directory cannot be part of a copy.
    #[error("`{}` is {what}; a copy holds plain files only: remove it from the trial's directory", path.display())]
    NotPlain {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Two names that some file systems take for one.
    #[error(
        "`{first}` and `{second}` differ by case or Unicode form only and cannot both be kept on every system; rename one \
         of them, or leave the inputs out"
    )]
    CaseTwins {
        /// The first, relative to the trial.
        first: String,
        /// The second.
        second: String,
    },
    /// A name that some system cannot keep.
    #[error(
        "the name `{path}` {why}, so it cannot be kept on every system; rename it, or leave the inputs out"
    )]
    NameUnsafe {
        /// The name, relative to what is copied.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The inputs were asked for, and the trial lies in no project.
    #[error("`{}` lies in no project's runs/, so its inputs are not to be found; leave --with-inputs out", path.display())]
    NoProject {
        /// The trial.
        path: PathBuf,
    },
    /// An input is not there any more.
    #[error("the input `{}` is gone; put it back as it was, or leave --with-inputs out", path.display())]
    InputGone {
        /// The file.
        path: PathBuf,
    },
    /// The outputs do not fit the format of a file of results.
    #[error(
        "the outputs are {what}, which {format} cannot hold; ask for csv or parquet, or copy the payloads"
    )]
    NoSuchTable {
        /// What the outputs are.
        what: &'static str,
        /// The format.
        format: &'static str,
    },
    /// The files of the inputs cannot be named.
    #[error("the files of the inputs cannot be listed: {source}; put them back, or leave --with-inputs out")]
    InputsUnlisted {
        /// What is wrong with them.
        source: pilote_corpus::CorpusError,
    },
    /// An input is not the one that the trial was run over.
    #[error(
        "the input `{}` was changed since the trial was launched; put it back as it was, or leave --with-inputs out",
        path.display()
    )]
    InputChanged {
        /// The file.
        path: PathBuf,
    },
    /// The destination is taken by something else.
    #[error("`{}` is there and is not the same copy ({first}); name another destination", path.display())]
    DestinationTaken {
        /// The directory.
        path: PathBuf,
        /// The first file that differs.
        first: String,
    },
    /// The destination lies inside of the trial.
    #[error("`{}` lies inside of the trial that is to be copied; name a destination elsewhere", path.display())]
    DestinationInside {
        /// The directory.
        path: PathBuf,
    },
    /// The destination, or what it would lie in, is no folder.
    #[error("`{}` is no folder; name a folder for the copy", path.display())]
    DestinationNoFolder {
        /// What is there.
        path: PathBuf,
    },
    /// A document with its own digest cannot be read.
    #[error("`{}` cannot be used", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: DocumentError,
    },
    /// The records of the trial could not be read at all.
    #[error("the records of the trial cannot be read")]
    Ledger(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The report could not be laid out.
    #[error("the report cannot be laid out: {why}")]
    Report {
        /// What the template says.
        why: String,
    },
    /// Reading or writing failed.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// `read`, `write`, `list`, `sync` ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's own word.
        #[source]
        source: std::io::Error,
    },
}

impl ProofError {
    /// The stable code of the error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTrial { .. } => "no-trial",
            Self::BadTrial { .. } => "bad-trial",
            Self::Missing { .. } => "missing-file",
            Self::Damaged { .. } => "damaged",
            Self::NotSealed { .. } => "not-sealed",
            Self::NotEnded { .. } => "not-ended",
            Self::Differs { .. } => "differs",
            Self::SourceChanged { .. } => "source-changed",
            Self::NotPlain { .. } => "not-plain",
            Self::CaseTwins { .. } => "case-twins",
            Self::NameUnsafe { .. } => "name-unsafe",
            Self::NoProject { .. } => "no-project",
            Self::InputGone { .. } => "input-gone",
            Self::InputsUnlisted { .. } => "inputs-unlisted",
            Self::NoSuchTable { .. } => "no-such-table",
            Self::InputChanged { .. } => "input-changed",
            Self::DestinationTaken { .. } => "destination-taken",
            Self::DestinationInside { .. } => "destination-inside",
            Self::DestinationNoFolder { .. } => "destination-no-folder",
            Self::Document { .. } => "document",
            Self::Ledger(_) => "ledger",
            Self::Report { .. } => "report",
            Self::Io { .. } => "io",
        }
    }
}

/// An error of reading or writing, with the file it is about.
pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> ProofError {
    ProofError::Io { action, path: path.to_owned(), source }
}
