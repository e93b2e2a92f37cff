//! What a conductor goes by beside the project: sizes and patience, none of which changes an outcome.

use std::time::Duration;

/// Sizes and patience. The defaults are those of the program; tests take smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Items of one part of a new trial. A trial that is taken up keeps its own.
    pub part_items: u64,
    /// Whether others work on the same trial: a part that somebody else holds is left to them, and taken over once
    /// they are gone.
    pub shared: bool,
    /// Outcomes are made durable at the latest after this time ...
    pub sync_every: Duration,
    /// ... or as soon as there are this many.
    pub sync_items: u64,
    /// How often an event says how many outcomes are durable, for who follows from elsewhere.
    pub note_every: Duration,
    /// How long a batch may go without any answer before the engine is ended and started anew; none waits for ever.
    pub stall: Option<Duration>,
    /// Engine failures in a row that stop the trial.
    pub failures_max: u32,
    /// Deaths of the engine on one item alone after which the item is refused as poison.
    pub deaths_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            part_items: 16_384,
            shared: false,
            sync_every: Duration::from_millis(100),
            sync_items: 4_096,
            note_every: Duration::from_secs(5),
            stall: None,
            failures_max: 6,
            deaths_max: 3,
        }
    }
}

/// Steps of a trial outside of the ledger's own windows; tests end the process after one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The trial's directory exists and is empty.
    DirectoryMade,
    /// A part of the index is durable; the index is not closed.
    IndexPartWritten,
    /// The index is closed; `trial.json` does not exist.
    IndexClosed,
    /// `trial.json` is durable; no part was opened.
    TrialWritten,
    /// A batch was handed to the engine.
    Submitted,
    /// An outcome is known and not durable.
    Answered,
    /// Outcomes were made durable.
    Committed,
    /// A part was sealed.
    Sealed,
}

impl Step {
    /// Every step.
    pub const ALL: [Self; 8] = [
        Self::DirectoryMade,
        Self::IndexPartWritten,
        Self::IndexClosed,
        Self::TrialWritten,
        Self::Submitted,
        Self::Answered,
        Self::Committed,
        Self::Sealed,
    ];

    /// The step's name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DirectoryMade => "directory-made",
            Self::IndexPartWritten => "index-part-written",
            Self::IndexClosed => "index-closed",
            Self::TrialWritten => "trial-written",
            Self::Submitted => "submitted",
            Self::Answered => "answered",
            Self::Committed => "committed",
            Self::Sealed => "sealed",
        }
    }
}
