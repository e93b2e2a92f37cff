//! A copy as one file: a tar archive compressed with Zstandard, written once and read without being unpacked.
//!
//! It is written in frames of a few megabytes, which any `zstd` program reads as one stream; reading finds its way by
//! them, so that a file in the middle costs one frame. What an archive may expand to is bounded before it is read.

mod reader;
mod writer;

pub(crate) use reader::{Archive, Medium};
pub(crate) use writer::Writer;

/// What the name of such an archive ends in.
pub const ARCHIVE: &str = ".tar.zst";

/// Bytes of a frame before compression, as they are written.
const FRAME_BYTES: u64 = 4 << 20;
