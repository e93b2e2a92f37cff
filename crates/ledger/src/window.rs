//! Names for the windows between two durable steps, so that tests can stop a writer in each of them.

/// A window: the step that it is named after is done, the next one is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    /// A new key's bytes are in its temporary file, not synchronised.
    TemporaryWritten,
    /// The temporary file is synchronised and has no final name.
    TemporarySynced,
    /// The final name is there; the directory is not synchronised.
    Named,
    /// The directory is synchronised; the temporary name is still there.
    DirectorySynced,
    /// The entry that opens a part exists; nothing was recorded.
    PartOpened,
    /// The taker's entry exists; nothing before it was adopted.
    TakeoverCreated,
    /// The adopted bytes are durable; a torn tail is not yet kept aside.
    AdoptedSecured,
    /// A torn tail is kept aside; the adoption is not recorded.
    TailKept,
    /// The line that records the adoption is written, not synchronised.
    AdoptionWritten,
    /// The adoption is durable; whether somebody else took over meanwhile is not known.
    AdoptionSynced,
    /// Vectors are written, not synchronised; their records are not written.
    PayloadWritten,
    /// Payloads are durable; the records that name them are not written.
    PayloadSynced,
    /// Records are written, not synchronised.
    RecordsWritten,
    /// Records are durable; whether somebody else took over meanwhile is not known.
    RecordsSynced,
    /// The commit is decided and not yet reported to the caller.
    CommitDecided,
    /// Everything that the seal says is known; it is not created.
    SealPrepared,
    /// The seal exists and is not yet reported to the caller.
    SealCreated,
}

impl Window {
    /// Every window.
    pub const ALL: [Self; 17] = [
        Self::TemporaryWritten,
        Self::TemporarySynced,
        Self::Named,
        Self::DirectorySynced,
        Self::PartOpened,
        Self::TakeoverCreated,
        Self::AdoptedSecured,
        Self::TailKept,
        Self::AdoptionWritten,
        Self::AdoptionSynced,
        Self::PayloadWritten,
        Self::PayloadSynced,
        Self::RecordsWritten,
        Self::RecordsSynced,
        Self::CommitDecided,
        Self::SealPrepared,
        Self::SealCreated,
    ];

    /// The window's name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TemporaryWritten => "temporary-written",
            Self::TemporarySynced => "temporary-synced",
            Self::Named => "named",
            Self::DirectorySynced => "directory-synced",
            Self::PartOpened => "part-opened",
            Self::TakeoverCreated => "takeover-created",
            Self::AdoptedSecured => "adopted-secured",
            Self::TailKept => "tail-kept",
            Self::AdoptionWritten => "adoption-written",
            Self::AdoptionSynced => "adoption-synced",
            Self::PayloadWritten => "payload-written",
            Self::PayloadSynced => "payload-synced",
            Self::RecordsWritten => "records-written",
            Self::RecordsSynced => "records-synced",
            Self::CommitDecided => "commit-decided",
            Self::SealPrepared => "seal-prepared",
            Self::SealCreated => "seal-created",
        }
    }

    /// The window of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.name() == name)
    }
}

/// Told of each window as it is reached. A test ends or halts the process there; the program itself does nothing.
pub trait Failpoint: Send + Sync {
    /// Called between two durable steps.
    fn reached(&self, window: Window);
}

/// Lets every window pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFailpoint;

impl Failpoint for NoFailpoint {
    fn reached(&self, _window: Window) {}
}
