//! Outputs that lie in payloads, read again and proved.

use pilote_ledger::{LedgerError, Store, StoreError, payload_key, read_vector};
use pilote_spec::{Digest, Hasher, Output};

use crate::error::ProofError;

/// The output in full: a vector out of its payload, a file's bytes compared with its digest, anything else as it
/// stands in the record. The inner error says in words why it cannot be had.
///
/// # Errors
/// When the system refuses to read.
pub(crate) fn read(
    store: &dyn Store,
    part: u32,
    output: &Output,
) -> Result<Result<Output, String>, ProofError> {
    let ledger = |error: LedgerError| ProofError::Ledger(Box::new(error));
    match output {
        Output::VectorAt { cut_at_tokens, .. } => match read_vector(store, part, output) {
            Ok(values) => {
                Ok(Ok(Output::Vector { values: values.unwrap_or_default(), cut_at_tokens: *cut_at_tokens }))
            }
            Err(lost @ LedgerError::PayloadLost { .. }) => Ok(Err(lost.to_string())),
            Err(other) => Err(ledger(other)),
        },
        Output::File { payload, digest, .. } => {
            let key = payload_key(part, payload);
            let seen = digest_of(store, &key).map_err(|error| ledger(error.into()))?;
            Ok(match seen {
                Some(seen) if seen == *digest => Ok(output.clone()),
                Some(seen) => Err(format!("`{key}` has the digest {seen}, the record says {digest}")),
                None => Err(format!("`{key}` is missing")),
            })
        }
        Output::FileMade { .. } => Ok(Err("the record names a file that was never kept".to_owned())),
        other => Ok(Ok(other.clone())),
    }
}

/// Bytes of a file that are read at a time.
const CHUNK: usize = 1 << 20;

/// The digest of a file of any length; none where it is absent.
fn digest_of(store: &dyn Store, key: &str) -> Result<Option<Digest>, StoreError> {
    let (mut hasher, mut at) = (Hasher::new(), 0);
    while let Some(bytes) = store.read_range(key, at, CHUNK)? {
        if bytes.is_empty() {
            return Ok(Some(hasher.finish()));
        }
        hasher.update(&bytes);
        at += bytes.len() as u64;
    }
    Ok(None)
}
