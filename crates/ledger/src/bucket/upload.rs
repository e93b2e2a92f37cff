//! An object that is written piece by piece and is there whole or not at all.

use std::io::{self, Write};
use std::sync::Arc;

use object_store::ObjectStoreExt as _;
use object_store::aws::AmazonS3;
use object_store::multipart::{MultipartStore as _, PartId};
use object_store::path::Path;

use super::{PIECE_BYTES, failed, wait};

/// Pieces of one object; stores take ten thousand.
const PIECES_MAX: u64 = 9_000;

/// An object being written. What is dropped before [`Upload::finish`] leaves no object.
pub struct Upload {
    client: Arc<AmazonS3>,
    path: Path,
    /// Bytes of a piece.
    piece: usize,
    /// What was written and not yet sent.
    held: Vec<u8>,
    /// The pieces that were sent, where there is more than one.
    sent: Option<(String, Vec<PartId>)>,
}

impl Upload {
    pub(super) fn new(client: Arc<AmazonS3>, path: Path, bytes: u64) -> Self {
        let piece = usize::try_from(bytes / PIECES_MAX + 1).unwrap_or(usize::MAX).max(PIECE_BYTES);
        Self { client, path, piece, held: Vec::new(), sent: None }
    }

    /// Makes the object of everything that was written.
    ///
    /// # Errors
    /// When it is not certain that it is there.
    pub fn finish(mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let Some((id, mut parts)) = self.sent.take() else {
            return wait(self.client.put(&self.path, held.into()))?.map(|_| ()).map_err(failed);
        };
        // Kept until it is whole, so that a failure is cleared away when this is dropped.
        self.sent = Some((id.clone(), Vec::new()));
        if !held.is_empty() {
            let part = self.client.put_part(&self.path, &id, parts.len(), held.into());
            parts.push(wait(part)?.map_err(failed)?);
        }
        wait(self.client.complete_multipart(&self.path, &id, parts))?.map_err(failed)?;
        self.sent = None;
        Ok(())
    }

    fn send(&mut self) -> io::Result<()> {
        if self.sent.is_none() {
            let id = wait(self.client.create_multipart(&self.path))?.map_err(failed)?;
            self.sent = Some((id, Vec::new()));
        }
        let Some((id, parts)) = &mut self.sent else { return Ok(()) };
        let piece = std::mem::take(&mut self.held);
        let part = self.client.put_part(&self.path, id, parts.len(), piece.into());
        parts.push(wait(part)?.map_err(failed)?);
        Ok(())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.len() == self.piece {
            self.send()?;
        }
        let length = bytes.len().min(self.piece - self.held.len());
        self.held.extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some((id, _)) = self.sent.take() {
            // Pieces of nothing cost money; where they cannot be cleared away now, the store's own rules do it.
            let _ = wait(self.client.abort_multipart(&self.path, &id));
        }
    }
}
