//! A store in memory with the semantics of an object store: whole keys, created once, never appended to.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::{Creation, Listed, Store, StoreError, check_key};

/// Keys and bytes in memory. Every commit to it is an entry of its own.
#[derive(Debug, Default)]
pub struct MemoryStore {
    keys: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `bytes` under `key` whatever was there: the way in which tests damage what is stored.
    pub fn overwrite(&self, key: &str, bytes: Vec<u8>) {
        self.keys().insert(key.to_owned(), bytes);
    }

    /// Removes `key`: the way in which tests lose what was stored.
    pub fn remove(&self, key: &str) {
        self.keys().remove(key);
    }

    fn keys(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        // A thread that panicked while holding the lock leaves a whole map behind: each call changes it once.
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        check_key(key)?;
        let mut keys = self.keys();
        if keys.contains_key(key) {
            return Ok(Creation::Exists);
        }
        keys.insert(key.to_owned(), bytes.to_vec());
        Ok(Creation::Created)
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.keys().get(key).cloned())
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.keys().get(key).map(|bytes| {
            let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            bytes[from..from.saturating_add(length).min(bytes.len())].to_vec()
        }))
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.keys().contains_key(key))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        let keys = self.keys();
        let under = keys.range(prefix.to_owned()..).take_while(|(key, _)| key.starts_with(prefix));
        Ok(under.map(|(key, bytes)| Listed { key: key.clone(), bytes: bytes.len() as u64 }).collect())
    }
}
