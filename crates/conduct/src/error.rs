//! What keeps a trial from being launched or taken up, or stops one.

use std::path::PathBuf;

use pilote_corpus::index::IndexError;
use pilote_corpus::{CorpusError, Difference, PinsError, ReadError};
use pilote_ledger::{LedgerError, StoreError};
use pilote_spec::{Position, Reason};

use crate::drift::Drift;

/// What keeps a trial from being launched or taken up, or stops one.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// The inputs as a whole cannot be used.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The corpus has another size than declared.
    #[error(
        "`{inputs}` holds {found} items and config/pilote.json declares {declared}; nothing was started. Complete the \
         inputs, or correct `{field}`"
    )]
    Count {
        /// The declared inputs.
        inputs: String,
        /// Items found.
        found: u64,
        /// Items declared.
        declared: u64,
        /// The field that declares them.
        field: &'static str,
    },
    /// A campaign was asked for and none is declared.
    #[error("config/pilote.json declares no campaign; add `campaign` with its inputs, count and refused_max")]
    NoCampaign,
    /// The file of fixed digests cannot be read.
    #[error("`{path}`, which fixes the pilot's inputs, cannot be read: {source}; make it with sha256sum")]
    PinsUnread {
        /// The file, relative to the project.
        path: String,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The file of fixed digests is not of its form.
    #[error("`{path}`: {source}")]
    Pins {
        /// The file, relative to the project.
        path: String,
        /// What is wrong with it.
        source: PinsError,
    },
    /// Pilot inputs are not as they were fixed.
    #[error(
        "the pilot's inputs are not those fixed in `{path}`: {}; nothing was started. Put them back, or fix the new \
         ones with sha256sum on purpose",
        list(differences)
    )]
    PinsDiffer {
        /// The file, relative to the project.
        path: String,
        /// Every difference, by path.
        differences: Vec<Difference>,
    },
    /// The directory of a trial cannot be made.
    #[error("the trial's directory `{}` cannot be made: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The disk has no room for what the trial will write.
    #[error(
        "`{}` lies where {:.1} GB are free and the trial needs some {:.1} GB (records {:.1}, outputs beside them {:.1}, \
         results {:.1}); nothing was computed. Make room, or put runs/ on a larger disk",
        dir.display(),
        gigabytes(*free),
        gigabytes(*needed),
        gigabytes(*records),
        gigabytes(*payloads),
        gigabytes(*results)
    )]
    NoRoom {
        /// The trial's directory.
        dir: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed, all together.
        needed: u64,
        /// Bytes of records.
        records: u64,
        /// Bytes of outputs that lie beside the records.
        payloads: u64,
        /// Bytes of the results files.
        results: u64,
    },
    /// There is no such trial.
    #[error("`{}` is no trial: it has no trial.json; `pilote runs` lists the trials of a project", path.display())]
    NoTrial {
        /// The directory.
        path: PathBuf,
    },
    /// The trial was stopped before it was launched.
    #[error(
        "the trial `{}` was stopped before its first batch, and nothing was computed in it; start a new one with \
         `pilote run`",
        path.display()
    )]
    NeverLaunched {
        /// The directory.
        path: PathBuf,
    },
    /// The file that says what was launched cannot be understood.
    #[error("`{}`: {what}", path.display())]
    TrialFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Something that changes results is not as it was when the trial was launched.
    #[error(
        "the trial cannot be taken up, since what changes results was changed: {}; put it back, or start a new trial",
        list(changes)
    )]
    Drift {
        /// What changed, by field.
        changes: Vec<Drift>,
    },
    /// The trial whose refusals are to be retried is not finished.
    #[error(
        "`{trial}` still has {pending} items pending; take it up with --resume first, then give this command again"
    )]
    Unfinished {
        /// The trial's name.
        trial: String,
        /// Items without an outcome.
        pending: u64,
    },
    /// Nothing would be retried.
    #[error("`{trial}` has no item refused as `{reason}`, so there is nothing to retry")]
    NothingToRetry {
        /// The trial's name.
        trial: String,
        /// The reason asked for.
        reason: Reason,
    },
    /// The index of a trial is damaged.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A file of the index is not there.
    #[error("`{key}` of the trial's index is missing; put it back from a copy, or start a new trial")]
    IndexMissing {
        /// The file.
        key: String,
    },
    /// An input could not be read, for no fault of its own.
    #[error("the item at position {position} cannot be read, so it stays pending: {source}")]
    Input {
        /// The item.
        position: Position,
        /// What the corpus says.
        source: ReadError,
    },
    /// A file that the engine made cannot be kept.
    #[error(
        "`{path}`, made for the item at position {position}, cannot be read, so it stays pending: {source}"
    )]
    Made {
        /// The item.
        position: Position,
        /// The file.
        path: String,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The engine that was started again is another one.
    #[error("the engine that was started again is another one: {}", list(changes))]
    EngineChanged {
        /// What changed, by field.
        changes: Vec<Drift>,
    },
    /// The ledger cannot be opened or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The trial's files cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ConductError {
    /// A stable code for machine-readable output.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Corpus(error) => error.code(),
            Self::Count { .. } => "inputs-count",
            Self::NoCampaign => "no-campaign",
            Self::PinsUnread { .. } | Self::Pins { .. } => "digests-unreadable",
            Self::PinsDiffer { .. } => "inputs-changed",
            Self::Directory { .. } => "trial-directory",
            Self::NoRoom { .. } => "no-room",
            Self::NoTrial { .. } => "no-trial",
            Self::NeverLaunched { .. } => "never-launched",
            Self::TrialFile { .. } => "trial-file",
            Self::Drift { .. } => "changed-since-launch",
            Self::Unfinished { .. } => "unfinished",
            Self::NothingToRetry { .. } => "nothing-to-retry",
            Self::Index(_) | Self::IndexMissing { .. } => "index-damaged",
            Self::Input { .. } => "input-unreadable",
            Self::Made { .. } => "output-unreadable",
            Self::EngineChanged { .. } => "engine-changed",
            Self::Ledger(LedgerError::HeldBy { .. }) => "held-by-another",
            Self::Ledger(LedgerError::OwnerUnknown { .. }) => "owner-unknown",
            Self::Ledger(LedgerError::Fenced { .. }) => "taken-over",
            Self::Ledger(LedgerError::Damaged { .. }) => "damaged",
            Self::Ledger(_) => "ledger",
            Self::Store(StoreError::Full { .. }) => "disk-full",
            Self::Store(_) => "store",
        }
    }

    /// Whether outcomes could not be made durable, so that nothing more can be written either.
    pub(crate) fn is_of_writing(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Ledger(error) => !matches!(
                error,
                LedgerError::HeldBy { .. }
                    | LedgerError::OwnerUnknown { .. }
                    | LedgerError::Damaged { .. }
                    | LedgerError::Format { .. }
            ),
            _ => false,
        }
    }

    /// The exit status where a command ends with this error: 2 for what the user can correct in project or request,
    /// 3 for the machine. What stops a running trial is in a [`crate::RunEnd`] instead, and exits with 4.
    #[must_use]
    pub fn exit(&self) -> u8 {
        match self {
            Self::Corpus(CorpusError::Io { .. })
            | Self::Directory { .. }
            | Self::NoRoom { .. }
            | Self::Store(_)
            | Self::Input { .. }
            | Self::Made { .. }
            | Self::EngineChanged { .. } => 3,
            Self::Ledger(LedgerError::HeldBy { .. } | LedgerError::OwnerUnknown { .. }) => 2,
            Self::Ledger(_) => 3,
            _ => 2,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

/// The first few of many, and how many more there are.
fn list(all: &[impl std::fmt::Display]) -> String {
    const NAMED: usize = 5;
    let mut text: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
    if all.len() > NAMED {
        text.push(format!("and {} more", all.len() - NAMED));
    }
    text.join("; ")
}
