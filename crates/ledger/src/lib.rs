//! What happened to each item: checksummed entries, takeover, seals, recovery.
//!
//! A part of a trial is a log of entries `parts/000001/000001`, `000002` ..., each created only if absent. On a
//! local disk the creator of an entry appends to it; elsewhere every commit is an entry of its own. Whoever takes
//! a part over creates the next entry first, reads the one before, and then records durably how much of it
//! counts. `docs/formats/ledger.md` describes the bytes, the states and why no position can ever have two outcomes.
//!
//! | module | what it holds |
//! |---|---|
//! | [`store`](Store) | the narrow trait under everything, the [`DirStore`] on disk, the [`Bucket`] of an object store and the [`MemoryStore`] |
//! | `owner` | who writes, and whether that process is still there |
//! | `line`, `entry` | one checksummed line; reading an entry back, damage included |
//! | `chain` | which bytes of which entry count |
//! | `ledger`, `writer` | opening, taking over, appending, committing, sealing |
//! | `reading` | reading back, streaming and verifying |

mod bucket;
mod chain;
mod disk;
mod entry;
mod error;
mod file_system;
mod finding;
mod keys;
mod ledger;
mod line;
mod memory;
mod owner;
mod payload;
mod positions;
mod reading;
mod record;
mod seal;
mod store;
mod window;
mod writer;

pub use bucket::{
    ACCESS_KEY, Access, Bucket, BucketError, ObjectReader, PIECE_BYTES, SECRET_KEY, Upload, is_bucket,
};
pub use disk::DirStore;
pub use entry::{EntryKind, EntryReading, FORMAT, Header, LINE_BYTES_MAX, read_entry};
pub use error::LedgerError;
pub use file_system::FileSystem;
pub use finding::{Finding, Lost};
pub use keys::{aside_prefix, part_prefix, parts, payload_key};
pub use ledger::{Ledger, Opened, TakenOver, Unlocked};
pub use memory::MemoryStore;
pub use owner::{Liveness, Nonce, Owner, ProcessLiveness, Standing};
pub use payload::{StoredPayload, read_vector};
pub use positions::Positions;
pub use reading::{EntryFacts, PartReader, PartReading, Verification, find_in_part, read_part, verify_part};
pub use record::{Adopted, Record};
pub use seal::{Seal, SealedEntry, SealedPayload};
pub use store::{Append, Creation, Listed, Store, StoreError};
pub use window::{Failpoint, NoFailpoint, Window};
pub use writer::PartWriter;
