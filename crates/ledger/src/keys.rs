//! Where everything of a part is kept.

use crate::store::{Store, StoreError};

/// The prefix of a part's entries, `parts/000001/`.
#[must_use]
pub fn part_prefix(part: u32) -> String {
    format!("parts/{part:06}/")
}

/// The key of an entry, `parts/000001/000001`. Entries are numbered from 1.
pub(crate) fn entry_key(part: u32, entry: u64) -> String {
    format!("parts/{part:06}/{entry:06}")
}

/// The number of the entry that a key names; none for anything that is no entry of that part.
pub(crate) fn entry_number(part: u32, key: &str) -> Option<u64> {
    let number: u64 = key.strip_prefix(&part_prefix(part))?.parse().ok()?;
    // The one canonical spelling only, so that no two keys are the same entry.
    (number > 0 && entry_key(part, number) == key).then_some(number)
}

/// The key of a payload by its name in a record, `payloads/000001/NAME`.
#[must_use]
pub fn payload_key(part: u32, name: &str) -> String {
    format!("payloads/{part:06}/{name}")
}

/// The prefix of what was cut from a part's entries and kept aside, `aside/000001/`.
#[must_use]
pub fn aside_prefix(part: u32) -> String {
    format!("aside/{part:06}/")
}

/// Where the taker with entry `taker` keeps what it cut from `entry` at `offset`.
pub(crate) fn aside_key(part: u32, taker: u64, entry: u64, offset: u64) -> String {
    format!("aside/{part:06}/{taker:06}-{entry:06}-{offset}")
}

/// The parts that have at least one entry, ascending.
///
/// # Errors
/// When the store cannot be listed.
pub fn parts(store: &dyn Store) -> Result<Vec<u32>, StoreError> {
    let mut parts: Vec<u32> = store
        .list("parts/")?
        .iter()
        .filter_map(|listed| listed.key.split('/').nth(1)?.parse().ok())
        .filter(|part| *part > 0)
        .collect();
    parts.sort_unstable();
    parts.dedup();
    Ok(parts)
}
