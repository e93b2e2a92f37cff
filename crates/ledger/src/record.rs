//! What a line of an entry says: an outcome, or what a taker adopted.

use pilote_spec::{Digest, ItemId, Outcome, Position};
use serde::{Deserialize, Serialize};

/// The outcome of one item, tied to position, identifier and content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where the item stands; the key.
    pub position: Position,
    /// Its identifier, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ItemId>,
    /// Its version: the digest of the content that was worked on, where it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// Which attempt gave the outcome, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// What it ended as.
    pub outcome: Outcome,
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

/// How much of an earlier owner's entry counts, as a taker found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The entry.
    pub entry: u64,
    /// Its first bytes that count: up to and with the line end of the last whole record.
    pub bytes: u64,
    /// Digest of those bytes.
    pub sha256: Digest,
    /// Bytes of the torn tail that was there and does not count; kept aside.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn_bytes: u64,
    /// Digest of the torn tail, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn_sha256: Option<Digest>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The line that makes a takeover effective; always the first one after an entry's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adoption {
    /// What counts of each entry that was open.
    pub(crate) adopts: Vec<Adopted>,
}

impl Adoption {
    /// Whether a line's JSON is an adoption rather than a record.
    pub(crate) fn is_in(json: &[u8]) -> bool {
        json.starts_with(b"{\"adopts\":")
    }
}
