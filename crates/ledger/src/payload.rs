//! Outputs that do not fit a record: vectors and files, kept beside the entries and durable before their record.

use std::collections::BTreeMap;

use pilote_spec::{Digest, Hasher, Output};

use crate::error::LedgerError;
use crate::finding::Finding;
use crate::keys::payload_key;
use crate::record::Record;
use crate::seal::SealedPayload;
use crate::store::{Store, StoreError};

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// A payload that is durable, as a record names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPayload {
    /// Its name: the writer's own prefix and the name that was asked for.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Digest,
}

/// How much of each payload records name, and the digest that they give, where they do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extents(BTreeMap<String, (u64, Option<Digest>)>);

impl Extents {
    /// Adds what `record` names.
    pub(crate) fn add(&mut self, record: &Record) {
        let pilote_spec::Outcome::Accepted(output) = &record.outcome else { return };
        let (name, bytes, digest) = match output {
            Output::VectorAt { payload, offset, width, .. } => {
                (payload, offset.saturating_add(u64::from(*width) * 4), None)
            }
            Output::File { payload, digest, bytes } => (payload, *bytes, Some(*digest)),
            _ => return,
        };
        if let Some((end, _)) = self.0.get_mut(name) {
            *end = bytes.max(*end);
        } else {
            self.0.insert(name.clone(), (bytes, digest));
        }
    }

    /// Reads every payload and gives length and digest of what counts; what is not as recorded is a finding.
    pub(crate) fn read(
        &self,
        store: &dyn Store,
        part: u32,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<SealedPayload>, StoreError> {
        let mut sealed = Vec::with_capacity(self.0.len());
        for (name, (bytes, expected)) in &self.0 {
            match digest_of(store, &payload_key(part, name), *bytes)? {
                None => findings.push(Finding::PayloadMissing { payload: name.clone(), bytes: *bytes }),
                Some(seen) if expected.is_some_and(|expected| expected != seen) => {
                    findings.push(Finding::PayloadChanged { payload: name.clone() });
                }
                Some(sha256) => sealed.push(SealedPayload { name: name.clone(), bytes: *bytes, sha256 }),
            }
        }
        Ok(sealed)
    }
}

/// The digest of the first `bytes` of `key`; none where they are not all there.
pub(crate) fn digest_of(store: &dyn Store, key: &str, bytes: u64) -> Result<Option<Digest>, StoreError> {
    let mut hasher = Hasher::new();
    let mut at = 0;
    while at < bytes {
        let wanted = usize::try_from(bytes - at).unwrap_or(usize::MAX).min(CHUNK);
        let Some(read) = store.read_range(key, at, wanted)?.filter(|read| !read.is_empty()) else {
            return Ok(None);
        };
        hasher.update(&read);
        at += read.len() as u64;
    }
    // Of an empty payload it still matters whether it is there.
    Ok((bytes > 0 || store.exists(key)?).then(|| hasher.finish()))
}

/// The little-endian bytes of a vector, added to `out`; their CRC-32.
pub(crate) fn push_vector(out: &mut Vec<u8>, values: &[f32]) -> u32 {
    let start = out.len();
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    crc32fast::hash(&out[start..])
}

/// The vector that `output` names; none for an output of another kind.
///
/// # Errors
/// When the payload cannot be read, or its bytes are not those that were recorded.
pub fn read_vector(store: &dyn Store, part: u32, output: &Output) -> Result<Option<Vec<f32>>, LedgerError> {
    let Output::VectorAt { payload, offset, width, crc, .. } = output else { return Ok(None) };
    let length = *width as usize * 4;
    let bytes = store.read_range(&payload_key(part, payload), *offset, length)?.unwrap_or_default();
    if bytes.len() != length || crc32fast::hash(&bytes) != *crc {
        return Err(LedgerError::PayloadLost { part, payload: payload.clone() });
    }
    let (values, _) = bytes.as_chunks::<4>();
    Ok(Some(values.iter().map(|value| f32::from_le_bytes(*value)).collect()))
}
