//! The narrow trait under the ledger: create only if absent, read, list, and on a local disk append.

use std::io::{self, Read};
use std::path::PathBuf;

/// What a creation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// This call made the key, whole and durable.
    Created,
    /// The key was there before; nothing was changed. It may still be this caller's own, where an earlier
    /// reply was lost: whoever needs to know compares what is stored.
    Exists,
}

/// A key that a listing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The key, relative to the store's root.
    pub key: String,
    /// Its length in bytes when listed.
    pub bytes: u64,
}

/// Where bytes are kept under keys. A key is relative, its components separated by `/` and made of ASCII letters,
/// digits, `.`, `_` and `-`, none beginning with a dot.
///
/// An error of a method that writes leaves open whether the write happened: the caller stops writing and reads
/// again later. A store behind a network repeats its own requests; a repetition that meets its first try
/// answers [`Creation::Exists`].
pub trait Store: Send + Sync {
    /// Makes `key` with exactly `bytes`, unless it is there. Whole, durable and visible to every other reader
    /// when this returns; never visible in part.
    ///
    /// # Errors
    /// When the bytes could not be made durable under that key.
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError>;

    /// Makes `key` of everything that `from` gives, as [`Store::create`] does. `from` is read to its end, whatever the
    /// outcome; a store that can keeps little of it in memory.
    ///
    /// # Errors
    /// As [`Store::create`]; also when `from` fails.
    fn create_from(&self, key: &str, from: &mut dyn Read) -> Result<Creation, StoreError> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(|source| StoreError::io("write", key, source))?;
        self.create(key, &bytes)
    }

    /// All bytes of `key`; none where it is absent.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Up to `length` bytes of `key` from `offset`, fewer only at its end; none where it is absent.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError>;

    /// Whether `key` is there, as every other process sees it at this instant.
    ///
    /// # Errors
    /// When that cannot be told.
    fn exists(&self, key: &str) -> Result<bool, StoreError>;

    /// The keys under `prefix` (which ends in `/`), at any depth, in the order of their bytes.
    ///
    /// # Errors
    /// When the listing is incomplete.
    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError>;

    /// Whether [`Store::appender`] gives something. Where it does not, every commit is an entry of its own.
    fn appends(&self) -> bool {
        false
    }

    /// A way to append to `key`, which this owner created; none where the store cannot append.
    ///
    /// # Errors
    /// When the key is absent or cannot be written.
    fn appender(&self, key: &str) -> Result<Option<Box<dyn Append>>, StoreError> {
        let _ = key;
        Ok(None)
    }

    /// Makes the first `bytes` of `key` durable, whoever wrote them and whatever became of that writer's own
    /// synchronisation. Nothing to do where a created key is durable by nature.
    ///
    /// # Errors
    /// When those bytes are not all there, or cannot be made durable.
    fn secure(&self, key: &str, bytes: u64) -> Result<(), StoreError> {
        let _ = (key, bytes);
        Ok(())
    }
}

/// Appends to one key. After an error it is spent: every later call fails, since what an earlier failed
/// synchronisation left behind cannot be told from what is durable.
pub trait Append: Send {
    /// Adds `bytes` at the end. They are visible to readers at once and durable only after [`Append::sync`].
    ///
    /// # Errors
    /// When not all bytes were written; some may have been.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Makes everything appended durable.
    ///
    /// # Errors
    /// When that is not certain.
    fn sync(&mut self) -> Result<(), StoreError>;
}

/// What went wrong in a store. All of these stop a trial in a way that can be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The medium is full.
    #[error("no space left while writing `{key}`; free some space, then {}", next_step(key))]
    Full {
        /// The key.
        key: String,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the system.
    #[error("could not {doing} `{key}`")]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The key.
        key: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file system can neither link nor rename without replacing, so two writers could not be kept apart.
    #[error(
        "`{root}` is on {file_system}, which can neither make hard links nor rename without replacing, so two \
         writers could not be kept apart; put the trial on a local disk (ext4, xfs, btrfs) or on NFS, and copy \
         it here afterwards with `pilote export`"
    )]
    NoCreateIfAbsent {
        /// The directory of the store.
        root: PathBuf,
        /// Name of the file system.
        file_system: String,
    },
    /// An earlier write or synchronisation of the same key failed.
    #[error(
        "`{key}` is no longer written to, because an earlier write to it failed; take the trial up again with \
         --resume"
    )]
    Spent {
        /// The key.
        key: String,
    },
    /// A key that no store takes.
    #[error(
        "`{key}` is no key of a store: components of ASCII letters, digits, `.`, `_` and `-`, not beginning with \
         a dot, separated by `/` are expected"
    )]
    BadKey {
        /// The key.
        key: String,
    },
    /// A key that should be there is not, or is shorter than it should be.
    #[error(
        "`{key}` should hold {bytes} bytes and does not; it was changed by something else than this program"
    )]
    Gone {
        /// The key.
        key: String,
        /// The bytes that should be there.
        bytes: u64,
    },
}

/// What can be done once there is space: a trial can be taken up from its first batch on, and not before.
fn next_step(key: &str) -> &'static str {
    if key == "trial.json" || key.starts_with("index/") {
        "launch it anew: nothing was computed yet"
    } else {
        "take the trial up again with --resume"
    }
}

impl StoreError {
    /// Sorts a failure of the system: a full medium is a case of its own, since people can do something about it.
    #[must_use]
    pub fn io(doing: &'static str, key: &str, source: io::Error) -> Self {
        let key = key.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { key, source },
            _ => Self::Io { doing, key, source },
        }
    }
}

/// Whether `key` is one that every store can keep, on every system.
pub(crate) fn check_key(key: &str) -> Result<(), StoreError> {
    let component = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    if key.split('/').all(component) { Ok(()) } else { Err(StoreError::BadKey { key: key.to_owned() }) }
}
