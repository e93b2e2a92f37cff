//! The seal: what a finished part consists of. Never rewritten.

use pilote_spec::Digest;
use serde::{Deserialize, Serialize};

/// Says that a part is finished, and what it consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Its entries in order, the seal itself not among them.
    pub entries: Vec<SealedEntry>,
    /// The payloads that its records name, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub payloads: Vec<SealedPayload>,
    /// Accepted outcomes.
    pub accepted: u64,
    /// Refused outcomes.
    pub refused: u64,
}

/// How much of an entry counts, and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedEntry {
    /// The entry.
    pub entry: u64,
    /// Its first bytes that count.
    pub bytes: u64,
    /// Digest of those bytes.
    pub sha256: Digest,
    /// Records in them.
    pub records: u64,
    /// Bytes of a torn tail after them, which was kept aside.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn_bytes: u64,
}

/// How much of a payload is named by records, and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedPayload {
    /// Its name, as records give it.
    pub name: String,
    /// Its first bytes that count.
    pub bytes: u64,
    /// Digest of those bytes.
    pub sha256: Digest,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
