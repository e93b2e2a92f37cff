//! A store whose nth write fails, in one of the ways in which stores fail.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pilote_ledger::*;

/// How a write fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing happens, and an error is answered.
    Before,
    /// It happens, and an error is answered: the reply is lost.
    After,
    /// The medium is full after half of the bytes.
    Full,
    /// Only synchronising fails; the bytes are there to be read and may not last.
    Sync,
}

impl Fault {
    pub(crate) const ALL: [Self; 4] = [Self::Before, Self::After, Self::Full, Self::Sync];
}

/// Fails the write number `at`, counted over creations, appends and synchronisations, and none after it.
pub(crate) struct Faulty {
    inner: Arc<dyn Store>,
    plan: Arc<Plan>,
}

struct Plan {
    fault: Fault,
    at: u64,
    writes: AtomicU64,
}

impl Plan {
    /// The fault of this write, if it is the one to fail.
    fn next(&self) -> Option<Fault> {
        (self.writes.fetch_add(1, Ordering::Relaxed) == self.at).then_some(self.fault)
    }
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Store>, fault: Fault, at: u64) -> Self {
        Self { inner, plan: Arc::new(Plan { fault, at, writes: AtomicU64::new(0) }) }
    }

    /// Whether the write that was to fail was reached.
    pub(crate) fn struck(&self) -> bool {
        self.plan.writes.load(Ordering::Relaxed) > self.plan.at
    }
}

fn broken(key: &str) -> StoreError {
    StoreError::io("write", key, io::Error::other("injected"))
}

fn full(key: &str) -> StoreError {
    StoreError::io("write", key, io::Error::from(io::ErrorKind::StorageFull))
}

impl Store for Faulty {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        match self.plan.next() {
            None => self.inner.create(key, bytes),
            // A creation is whole or not at all, so that a full medium leaves nothing.
            Some(Fault::Full) => Err(full(key)),
            Some(Fault::Before) => Err(broken(key)),
            Some(Fault::After | Fault::Sync) => self.inner.create(key, bytes).and(Err(broken(key))),
        }
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read(key)
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read_range(key, offset, length)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.inner.exists(key)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        self.inner.list(prefix)
    }

    fn appends(&self) -> bool {
        self.inner.appends()
    }

    fn appender(&self, key: &str) -> Result<Option<Box<dyn Append>>, StoreError> {
        Ok(self.inner.appender(key)?.map(|inner| {
            let (key, plan) = (key.to_owned(), Arc::clone(&self.plan));
            Box::new(FaultyAppend { inner, key, plan }) as Box<dyn Append>
        }))
    }

    fn secure(&self, key: &str, bytes: u64) -> Result<(), StoreError> {
        match self.plan.next() {
            None => self.inner.secure(key, bytes),
            Some(_) => Err(broken(key)),
        }
    }
}

struct FaultyAppend {
    inner: Box<dyn Append>,
    key: String,
    plan: Arc<Plan>,
}

impl Append for FaultyAppend {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        match self.plan.next() {
            None => self.inner.append(bytes),
            Some(Fault::Before) => Err(broken(&self.key)),
            Some(Fault::Full) => self.inner.append(&bytes[..bytes.len() / 2]).and(Err(full(&self.key))),
            Some(Fault::After | Fault::Sync) => self.inner.append(bytes).and(Err(broken(&self.key))),
        }
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        match self.plan.next() {
            None => self.inner.sync(),
            Some(Fault::After) => self.inner.sync().and(Err(broken(&self.key))),
            Some(_) => Err(broken(&self.key)),
        }
    }
}

/// A store that repeats a request whose reply was lost, as a client of an object store does: every creation takes
/// effect and then meets itself.
pub(crate) struct Repeating(pub(crate) MemoryStore);

impl Store for Repeating {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        self.0.create(key, bytes)?;
        self.0.create(key, bytes)
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read(key)
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read_range(key, offset, length)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.0.exists(key)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        self.0.list(prefix)
    }
}
