//! Writing an archive: entries one after the other, in frames that can be read alone.

use std::io::{self, Read, Write};

use super::FRAME_BYTES;
use crate::algorithm::{Algorithm, Digests, Hashers};

/// How hard Zstandard tries: its own default.
const LEVEL: i32 = 3;

/// Modification time of every entry: a copy's bytes depend on what is copied, and not on when.
const MODIFIED: u64 = 0;

/// An archive being written.
pub(crate) struct Writer<W: Write> {
    builder: tar::Builder<Frames<W>>,
    /// The folder that everything lies in.
    folder: String,
}

impl<W: Write> Writer<W> {
    /// Begins an archive whose entries lie in `folder`.
    pub(crate) fn new(to: W, folder: &str) -> Self {
        let mut builder = tar::Builder::new(Frames { to: Some(State::Between(to)), bytes: 0 });
        builder.mode(tar::HeaderMode::Deterministic);
        Self { builder, folder: folder.to_owned() }
    }

    /// Adds a file of exactly `bytes` bytes; gives its digests.
    ///
    /// # Errors
    /// When reading or writing fails, or the file ends early: the archive cannot be used then.
    pub(crate) fn add(
        &mut self,
        path: &str,
        from: &mut dyn Read,
        bytes: u64,
        algorithms: &[Algorithm],
    ) -> io::Result<(Digests, u64)> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o644);
        header.set_mtime(MODIFIED);
        header.set_entry_type(tar::EntryType::Regular);
        let mut tapped = Tapped { from: &mut from.take(bytes), hashers: Hashers::new(algorithms), bytes: 0 };
        self.builder.append_data(&mut header, format!("{}/{path}", self.folder), &mut tapped)?;
        Ok((tapped.hashers.finish(), tapped.bytes))
    }

    /// Ends the archive and gives back what it was written to.
    ///
    /// # Errors
    /// When writing fails.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.builder.into_inner()?.finish()
    }
}

/// A stream whose bytes are digested as they go by.
struct Tapped<'r> {
    from: &'r mut dyn Read,
    hashers: Hashers,
    bytes: u64,
}

impl Read for Tapped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hashers.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

enum State<W: Write> {
    /// No frame is open.
    Between(W),
    /// In the middle of a frame.
    Within(zstd::stream::write::Encoder<'static, W>),
}

/// Compressed frames of [`FRAME_BYTES`] each; together one stream.
struct Frames<W: Write> {
    /// None only while one state becomes the other, or after that failed.
    to: Option<State<W>>,
    /// Bytes of the open frame so far.
    bytes: u64,
}

impl<W: Write> Frames<W> {
    fn finish(mut self) -> io::Result<W> {
        match self.to.take() {
            Some(State::Between(to)) => Ok(to),
            Some(State::Within(encoder)) => encoder.finish(),
            None => Err(spent()),
        }
    }
}

fn spent() -> io::Error {
    io::Error::other("the archive cannot be written on after an error")
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut encoder = match self.to.take().ok_or_else(spent)? {
            State::Within(encoder) if self.bytes < FRAME_BYTES => encoder,
            State::Within(encoder) => begin(encoder.finish()?)?,
            State::Between(to) => begin(to)?,
        };
        if self.bytes >= FRAME_BYTES {
            self.bytes = 0;
        }
        let room = usize::try_from(FRAME_BYTES - self.bytes).unwrap_or(usize::MAX);
        let written = encoder.write(&bytes[..bytes.len().min(room)])?;
        self.bytes += written as u64;
        self.to = Some(State::Within(encoder));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Some(State::Within(encoder)) => encoder.flush(),
            _ => Ok(()),
        }
    }
}

fn begin<W: Write>(to: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(to, LEVEL)?;
    // Each frame bears a checksum of its own, so that damage is told where it is.
    encoder.include_checksum(true)?;
    Ok(encoder)
}
