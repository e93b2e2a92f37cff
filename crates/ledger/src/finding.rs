//! What reading a part notices besides its records.

use std::fmt;

use pilote_spec::{Digest, ItemId, Position};
use serde::{Deserialize, Serialize};

/// What can still be read of a record that is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Its position.
    pub position: Position,
    /// Its identifier, where that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ItemId>,
}

/// Something about a part that is not as a writer leaves it. `entry` is the number of the entry, `offset` the
/// place in it in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// Bytes after the last whole record of an entry whose length nobody fixed yet: being written, or torn by a
    /// crash. They do not count.
    Tail {
        /// The entry.
        entry: u64,
        /// Where they begin.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Bytes that a taker found torn and kept aside.
    Torn {
        /// The entry.
        entry: u64,
        /// Where they begin.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Bytes that an owner wrote after it was fenced. They are no outcomes.
    Late {
        /// The entry.
        entry: u64,
        /// Where they begin.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Whole records among them.
        records: u64,
    },
    /// Bytes that should be whole records and are not. Without any, the entry is cut short there.
    Damage {
        /// The entry.
        entry: u64,
        /// Where the damage begins.
        offset: u64,
        /// Its length.
        bytes: u64,
        /// The records whose place can still be read in the damaged bytes.
        lost: Vec<Lost>,
    },
    /// Entries that should be there, since a later one is.
    MissingEntries {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// An entry whose header speaks of another part or entry: the file was moved or copied.
    Misplaced {
        /// The entry where it stands.
        entry: u64,
        /// The part that its header names.
        says_part: u32,
        /// The entry that its header names.
        says_entry: u64,
    },
    /// An entry after the seal.
    AfterSeal {
        /// The entry.
        entry: u64,
    },
    /// A second record of a position; the first one counts.
    Duplicated {
        /// The entry of the second record.
        entry: u64,
        /// Where the second record begins.
        offset: u64,
        /// The position.
        position: Position,
    },
    /// An entry whose bytes are no longer those that a taker or the seal recorded.
    EntryChanged {
        /// The entry.
        entry: u64,
        /// The digest that was recorded.
        expected: Digest,
        /// The digest of what is there.
        seen: Digest,
    },
    /// The counts of the seal are not those of the records.
    SealDisagrees {
        /// Accepted and refused outcomes as the seal says.
        sealed: (u64, u64),
        /// Accepted and refused outcomes as read.
        seen: (u64, u64),
    },
    /// A payload that a record names is absent or too short.
    PayloadMissing {
        /// Its name.
        payload: String,
        /// The bytes that should be there.
        bytes: u64,
    },
    /// A payload whose bytes are no longer those that were recorded.
    PayloadChanged {
        /// Its name.
        payload: String,
    },
}

impl Finding {
    /// Whether something that was written is lost or changed. A part with such a finding is not written to, and
    /// its trial does not hold.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Tail { .. } | Self::Torn { .. } | Self::Late { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tail { entry, offset, bytes } => {
                write!(f, "entry {entry}: {bytes} bytes after the last whole record, at byte {offset}")
            }
            Self::Torn { entry, offset, bytes } => {
                write!(f, "entry {entry}: a torn tail of {bytes} bytes at byte {offset} was kept aside")
            }
            Self::Late { entry, offset, bytes, records } => write!(
                f,
                "entry {entry}: {bytes} bytes ({records} records) at byte {offset} came after the takeover and \
                 do not count"
            ),
            Self::Damage { entry, offset, bytes: 0, .. } => {
                write!(f, "entry {entry}: cut short at byte {offset}; which records followed cannot be read")
            }
            Self::Damage { entry, offset, bytes, lost } => {
                write!(f, "entry {entry}: {bytes} damaged bytes at byte {offset}; ")?;
                write_lost(f, lost)
            }
            Self::MissingEntries { first, last } if first == last => write!(f, "entry {first} is missing"),
            Self::MissingEntries { first, last } => write!(f, "entries {first} to {last} are missing"),
            Self::Misplaced { entry, says_part, says_entry } => {
                write!(f, "entry {entry} is entry {says_entry} of part {says_part} by its own header")
            }
            Self::AfterSeal { entry } => write!(f, "entry {entry} stands after the seal"),
            Self::Duplicated { entry, offset, position } => {
                write!(f, "entry {entry}: a second record of position {position} at byte {offset}")
            }
            Self::EntryChanged { entry, expected, seen } => {
                write!(f, "entry {entry} was recorded with sha256 {expected} and now has {seen}")
            }
            Self::SealDisagrees { sealed, seen } => write!(
                f,
                "the seal counts {} accepted and {} refused, the records are {} and {}",
                sealed.0, sealed.1, seen.0, seen.1
            ),
            Self::PayloadMissing { payload, bytes } => {
                write!(f, "payload `{payload}` of {bytes} bytes is missing or cut short")
            }
            Self::PayloadChanged { payload } => write!(f, "payload `{payload}` is no longer as recorded"),
        }
    }
}

/// Names at most five lost records and counts the rest.
fn write_lost(f: &mut fmt::Formatter<'_>, lost: &[Lost]) -> fmt::Result {
    if lost.is_empty() {
        return f.write_str("which records were there cannot be read from them");
    }
    f.write_str("lost with them: ")?;
    for (at, lost) in lost.iter().take(5).enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        match &lost.id {
            Some(id) => write!(f, "{comma}`{id}` (position {})", lost.position)?,
            None => write!(f, "{comma}position {}", lost.position)?,
        }
    }
    match lost.len().saturating_sub(5) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
