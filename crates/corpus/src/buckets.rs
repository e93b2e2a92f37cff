//! Records put aside by bucket: a scratch file without a name, of which one bucket is read at a time.
//!
//! Every bucket gathers a chunk in memory and appends it to the one file, so that hundreds of buckets need one open
//! file, and memory is the chunks under way and 16 bytes for each chunk that was written.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Records by bucket.
#[derive(Debug)]
pub(crate) struct Buckets {
    file: File,
    end: u64,
    buckets: Vec<Bucket>,
    /// Bytes of a chunk before it is written.
    chunk: usize,
}

#[derive(Debug, Default, Clone)]
struct Bucket {
    gathered: Vec<u8>,
    /// Offset and length of each chunk in the file.
    written: Vec<(u64, u32)>,
}

impl Buckets {
    /// `count` empty buckets over a file in `scratch` that nobody else sees and that ends with the process; a bucket is
    /// written once it has gathered `chunk` bytes.
    pub(crate) fn new(scratch: &Path, count: usize, chunk: usize) -> io::Result<Self> {
        let file = tempfile::tempfile_in(scratch)?;
        Ok(Self { file, end: 0, buckets: vec![Bucket::default(); count.max(1)], chunk })
    }

    /// How many buckets there are.
    pub(crate) fn count(&self) -> usize {
        self.buckets.len()
    }

    /// Adds a record; what is read again are records one after the other in this order.
    pub(crate) fn add(&mut self, bucket: usize, record: &[u8]) -> io::Result<()> {
        let last = self.buckets.len() - 1;
        let bucket = &mut self.buckets[bucket.min(last)];
        bucket.gathered.extend_from_slice(record);
        if bucket.gathered.len() < self.chunk {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&bucket.gathered)?;
        let length = u32::try_from(bucket.gathered.len()).map_err(io::Error::other)?;
        bucket.written.push((self.end, length));
        self.end += u64::from(length);
        bucket.gathered.clear();
        Ok(())
    }

    /// Bytes in the scratch file.
    #[cfg(test)]
    pub(crate) fn written(&self) -> u64 {
        self.end
    }

    /// Gives the chunks of a bucket in order; each holds whole records.
    pub(crate) fn read(
        &mut self,
        bucket: usize,
        mut chunk: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(bucket) = self.buckets.get(bucket) else { return Ok(()) };
        let mut bytes = Vec::new();
        for (offset, length) in &bucket.written {
            bytes.resize(usize::try_from(*length).map_err(io::Error::other)?, 0);
            self.file.seek(SeekFrom::Start(*offset))?;
            self.file.read_exact(&mut bytes)?;
            chunk(&bytes)?;
        }
        chunk(&bucket.gathered)
    }
}
