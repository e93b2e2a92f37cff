//! The index of a PyTorch checkpoint: the central directory of its zip archive. What is pickled in it is a
//! program and is never run; the lengths of the stored storages are all that is read.

use super::range::RangeReader;
use super::tensor::{Tensor, Tensors};
use crate::SizeError;

/// The longest directory that is read; a checkpoint of ten thousand tensors has one of a megabyte.
const DIRECTORY_BYTES_MAX: u64 = 64 << 20;

/// How far from the end the end record may stand: its own length and the longest comment.
const TAIL_BYTES: u64 = 22 + 65_535;

fn malformed(file: &str, problem: impl Into<String>) -> SizeError {
    SizeError::Malformed { file: file.to_owned(), format: "PyTorch checkpoint", problem: problem.into() }
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let piece = bytes.get(at..at.checked_add(width)?)?;
    Some(piece.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Where the directory stands, its length and its number of entries.
struct Directory {
    offset: u64,
    bytes: u64,
    entries: u64,
}

/// Sums the storages of one checkpoint. Their element types are in the pickle and stay unknown.
///
/// # Errors
/// A file that is no zip archive (checkpoints before PyTorch 1.6), one that ends early, a directory beyond it.
pub fn read_file(reader: &dyn RangeReader, name: &str) -> Result<Tensors, SizeError> {
    let length = reader
        .length(name)?
        .ok_or_else(|| SizeError::NoModel { place: reader.place(), looked_for: name.to_owned() })?;
    let tail_start = length.saturating_sub(TAIL_BYTES);
    let tail = reader.read(name, tail_start, length - tail_start)?;
    let end = tail.windows(4).rposition(|window| window == b"PK\x05\x06").ok_or_else(|| {
        let problem = "no zip directory is at its end: it is cut short, or older than PyTorch 1.6, and what is \
                       pickled is never run here; convert it to safetensors on a machine you trust";
        malformed(name, problem)
    })?;
    let directory = directory(reader, name, &tail, tail_start, end)?;
    let too_far = directory.offset.checked_add(directory.bytes).is_none_or(|stop| stop > length);
    if directory.bytes > DIRECTORY_BYTES_MAX || too_far || directory.entries > directory.bytes / 46 {
        return Err(malformed(name, "its directory lies outside of the file"));
    }
    // A short directory is usually part of the tail that was read already.
    let bytes = if directory.offset >= tail_start {
        let from = usize::try_from(directory.offset - tail_start).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(directory.bytes).unwrap_or(usize::MAX));
        tail.get(from..to).map(<[u8]>::to_vec).unwrap_or_default()
    } else {
        reader.read(name, directory.offset, directory.bytes)?
    };
    storages(name, &bytes, directory.entries)
}

fn directory(
    reader: &dyn RangeReader,
    name: &str,
    tail: &[u8],
    tail_start: u64,
    end: usize,
) -> Result<Directory, SizeError> {
    let broken = || malformed(name, "the end of its zip directory is cut short");
    let short = |at, width| number(tail, end + at, width).ok_or_else(broken);
    let (entries, bytes, offset) = (short(10, 2)?, short(12, 4)?, short(16, 4)?);
    if entries != 0xffff && bytes != 0xffff_ffff && offset != 0xffff_ffff {
        return Ok(Directory { offset, bytes, entries });
    }
    // Beyond 4 GiB the figures stand in a 64-bit record, which a locator before the end record points at.
    let locator =
        end.checked_sub(20).filter(|at| tail[*at..].starts_with(b"PK\x06\x07")).ok_or_else(broken)?;
    let place = number(tail, locator + 8, 8).ok_or_else(broken)?;
    let record = if let Some(at) = place.checked_sub(tail_start).and_then(|at| usize::try_from(at).ok()) {
        tail.get(at..).unwrap_or_default().to_vec()
    } else {
        reader.read(name, place, 56)?
    };
    if !record.starts_with(b"PK\x06\x06") {
        return Err(broken());
    }
    let long = |at| number(&record, at, 8).ok_or_else(broken);
    Ok(Directory { entries: long(32)?, bytes: long(40)?, offset: long(48)? })
}

fn storages(file: &str, directory: &[u8], entries: u64) -> Result<Tensors, SizeError> {
    let broken = || malformed(file, "an entry of its zip directory is cut short");
    let mut tensors = Tensors::default();
    let mut at = 0;
    for _ in 0..entries {
        let field = |offset, width| number(directory, at + offset, width).ok_or_else(broken);
        if !directory.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x01\x02")) {
            return Err(broken());
        }
        let (packed, plain) = (field(20, 4)?, field(24, 4)?);
        let [name_bytes, extra_bytes, comment_bytes] =
            [field(28, 2)?, field(30, 2)?, field(32, 2)?].map(|length| usize::try_from(length).unwrap_or(0));
        let name_start = at + 46;
        let raw = directory.get(name_start..name_start + name_bytes).ok_or_else(broken)?;
        let extra_start = name_start + name_bytes;
        let extra = directory.get(extra_start..extra_start + extra_bytes).ok_or_else(broken)?;
        let bytes = if plain == 0xffff_ffff { long_length(extra).ok_or_else(broken)? } else { plain };
        at = extra_start + extra_bytes + comment_bytes;
        let name = String::from_utf8_lossy(raw).into_owned();
        // `archive/data/17` is a storage; views of one storage share it and are counted once by this.
        let is_storage = name.rsplit('/').nth(1) == Some("data");
        if is_storage {
            if packed != plain && plain != 0xffff_ffff {
                tensors.notes.push(format!("{file}: {name} is compressed; its plain length is counted"));
            }
            tensors.all.push(Tensor { name, dtype: "pickled".into(), shape: vec![bytes], values: 0, bytes });
        }
    }
    if tensors.all.is_empty() {
        return Err(malformed(file, "its archive holds no storage of a tensor"));
    }
    Ok(tensors)
}

/// The plain length in a zip64 extra field (identifier 1), where it stands first.
fn long_length(extra: &[u8]) -> Option<u64> {
    let mut at = 0;
    loop {
        let (id, length) = (number(extra, at, 2)?, usize::try_from(number(extra, at + 2, 2)?).ok()?);
        if id == 1 {
            return number(extra, at + 4, 8);
        }
        at += 4 + length;
    }
}
