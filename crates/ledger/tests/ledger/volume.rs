//! What an outcome costs, and that reading needs no memory that grows with the part.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilote_ledger::*;

use crate::support::*;

#[test]
fn an_outcome_costs_less_than_two_hundred_bytes_beyond_its_output() {
    let dir = scratch();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let mut writer = writer(&store, 1);
    let items = 4096;
    // Positions of a corpus of a million, with identifiers of 33 bytes.
    let records: Vec<Record> = (900_000..900_000 + items).map(accepted).collect();
    let outputs: usize = records.iter().map(|r| serde_json::to_vec(&r.outcome).unwrap().len()).sum();
    writer.append(&records).unwrap();
    writer.commit().unwrap();
    writer.seal().unwrap();
    let all: u64 = store.list("parts/").unwrap().iter().map(|listed| listed.bytes).sum();
    let each = (all - outputs as u64) as f64 / items as f64;
    assert!(each < 200.0, "{each} bytes for each outcome");
}

#[test]
fn a_vector_costs_its_components_and_one_record() {
    let dir = scratch();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let mut writer = writer(&store, 1);
    let records: Vec<Record> = (0..500).map(|at| vector(at, &[0.25; 384])).collect();
    for batch in records.chunks(100) {
        writer.append(batch).unwrap();
        writer.commit().unwrap();
    }
    let payloads = store.list("payloads/").unwrap();
    assert_eq!(payloads.len(), 1, "one payload for all commits of a writer");
    assert_eq!(payloads[0].bytes, 500 * 384 * 4);
}

/// Notes the largest range that was asked for.
struct Measured {
    inner: DirStore,
    largest: AtomicUsize,
}

impl Store for Measured {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        self.inner.create(key, bytes)
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let read = self.inner.read(key)?;
        self.largest.fetch_max(read.as_ref().map_or(0, Vec::len), Ordering::Relaxed);
        Ok(read)
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.largest.fetch_max(length, Ordering::Relaxed);
        self.inner.read_range(key, offset, length)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.inner.exists(key)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        self.inner.list(prefix)
    }
}

#[test]
fn a_part_is_read_in_ranges_of_a_bounded_length() {
    let dir = scratch();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    let mut writer = writer(&store, 1);
    writer.append(&records(0..20_000)).unwrap();
    writer.commit().unwrap();
    let measured = Measured { inner: DirStore::open(dir.path()).unwrap(), largest: AtomicUsize::new(0) };
    let mut reader = PartReader::new(&measured, 1).unwrap();
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 20_000);
    assert_eq!(reader.counts(), (18_334, 1_666));
    assert!(measured.largest.load(Ordering::Relaxed) <= 256 << 10);
}
