//! What stops a ledger.

use pilote_spec::Position;

use crate::finding::Finding;
use crate::owner::Owner;
use crate::store::StoreError;

/// Why a part could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The store failed. Nothing that was not reported as committed is lost; the trial can be taken up again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another process works on the part.
    #[error(
        "part {part} is being worked on by {owner}; wait until that process ends, or stop it (if it is frozen \
         for good, `pilote unlock` lets another one take over)"
    )]
    HeldBy {
        /// The part.
        part: u32,
        /// Who holds it.
        owner: Box<Owner>,
    },
    /// Another process worked on the part, and from here it cannot be told whether it still does.
    #[error(
        "part {part} was last worked on by {owner}, and whether that process still runs cannot be told here: \
         {why}; make sure that it has ended, then run `pilote unlock` and take the trial up again"
    )]
    OwnerUnknown {
        /// The part.
        part: u32,
        /// Who held it last.
        owner: Box<Owner>,
        /// Why its standing is unknown.
        why: String,
    },
    /// This process already has the part open.
    #[error("part {part} is already open in this process")]
    AlreadyOpen {
        /// The part.
        part: u32,
    },
    /// Somebody else took the part over. What was not committed before does not count.
    #[error(
        "part {part} was taken over by {}, so what this process has not committed does not count", taker(by.as_deref())
    )]
    Fenced {
        /// The part.
        part: u32,
        /// The entry with which it was taken over, or sealed.
        entry: u64,
        /// Who took over, where that entry can be read.
        by: Option<Box<Owner>>,
    },
    /// Others created entry after entry first.
    #[error("part {part}: {tries} attempts to take it over lost against other processes; try again later")]
    Contended {
        /// The part.
        part: u32,
        /// How many attempts.
        tries: u32,
    },
    /// Something that was written is lost or changed; writing on would pass over it.
    #[error(
        "part {part} is damaged and is not written to: {}; `pilote verify` lists everything. Put the files back \
         from a copy, or start a new trial",
        list(findings)
    )]
    Damaged {
        /// The part.
        part: u32,
        /// What was found, one or more.
        findings: Vec<Finding>,
    },
    /// Written by a program with another format.
    #[error(
        "`{key}` is written in format `{found}`, and this program reads `{}`; use the version of pilote that \
             wrote it, or a later one",
        crate::FORMAT
    )]
    Format {
        /// The entry.
        key: String,
        /// The format that its header names.
        found: String,
    },
    /// The position has its outcome already, and there is never a second one.
    #[error("position {position} of part {part} has an outcome already")]
    AlreadyRecorded {
        /// The part.
        part: u32,
        /// The position.
        position: Position,
    },
    /// A record that could not be read back as it is.
    #[error("the outcome of position {position} cannot be recorded: {why}")]
    Unwritable {
        /// The position.
        position: Position,
        /// What about it.
        why: String,
    },
    /// A payload of that name with other bytes is there.
    #[error(
        "payload `{payload}` of part {part} is there with other bytes; give each payload of a part a name of its own"
    )]
    PayloadExists {
        /// The part.
        part: u32,
        /// The name.
        payload: String,
    },
    /// A payload that a record names cannot be used.
    #[error(
        "payload `{payload}` of part {part} is missing or no longer as recorded; put it back from a copy"
    )]
    PayloadLost {
        /// The part.
        part: u32,
        /// The name.
        payload: String,
    },
    /// An earlier error of this writer left open what is durable.
    #[error(
        "part {part} is no longer written to after an earlier error; take the trial up again with --resume"
    )]
    Spent {
        /// The part.
        part: u32,
    },
    /// What is there is not what this writer committed.
    #[error(
        "part {part}: {written} outcomes were committed and {seen} are there; something else than this program \
         changed its files, and the part is not sealed"
    )]
    NotAsWritten {
        /// The part.
        part: u32,
        /// Outcomes as committed or carried over.
        written: u64,
        /// Outcomes as read back.
        seen: u64,
    },
    /// Records were appended and not committed.
    #[error("part {part} has {records} records that are not committed")]
    Uncommitted {
        /// The part.
        part: u32,
        /// How many.
        records: u64,
    },
    /// There is nothing that could be unlocked.
    #[error("part {part} is {state}, so there is nothing to unlock")]
    NothingHeld {
        /// The part.
        part: u32,
        /// `not begun` or `sealed`.
        state: &'static str,
    },
}

fn taker(by: Option<&Owner>) -> String {
    by.map_or_else(|| "another process".to_owned(), ToString::to_string)
}

/// The first three findings, and how many more there are.
fn list(findings: &[Finding]) -> String {
    let mut text: Vec<String> = findings.iter().take(3).map(ToString::to_string).collect();
    if findings.len() > 3 {
        text.push(format!("and {} more", findings.len() - 3));
    }
    text.join("; ")
}
