//! A range of numbers in place of files, and the files that all of its numbers depend on.
//!
//! The content of an item is its number together with everything it needs: a scene that changed makes every frame
//! another item, so that no trial mixes frames of two scenes.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::PoisonError;
use std::time::SystemTime;

use pilote_spec::{Columns, Digest, Inputs, Item, ItemId, Location, NumberRange, Position};

use crate::pins::Pins;
use crate::source::{CorpusError, Source, stored};

/// Folders in one another that are looked into.
const DEPTH_MAX: u32 = 64;

/// The numbers of a range, one after the other.
#[derive(Debug)]
pub(crate) struct Numbers {
    range: NumberRange,
    needs: Digest,
}

/// The files that a range depends on.
#[derive(Debug, Clone)]
pub(crate) struct Needs {
    /// Length and time of the last change of each file, by which a change is noticed without reading it.
    stamps: Vec<(String, u64, Option<SystemTime>)>,
    /// Their digests by path.
    pub(crate) pins: Pins,
}

impl Numbers {
    pub(crate) fn open(source: &Source, range: NumberRange) -> Result<Self, CorpusError> {
        Ok(Self { range, needs: needs(source)?.digest() })
    }

    pub(crate) fn next(&self, position: Position) -> Option<Item> {
        let number = self.range.number(position.0)?;
        Some(Item {
            position,
            id: Some(ItemId(self.range.id(number))),
            digest: Some(digest(number, self.needs)),
            bytes: 0,
            chars: 0,
            location: Location::Number { number },
            columns: Columns::new(),
            fault: None,
        })
    }
}

/// The digest of a number of a range: of its digits and the digest of what it needs, a line each.
pub(crate) fn digest(number: i64, needs: Digest) -> Digest {
    Digest::of(format!("{number}\n{needs}\n").as_bytes())
}

impl Needs {
    /// The digest of the list that `sha256sum` would write of them.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(self.pins.to_string().as_bytes())
    }
}

/// What the range of `source` needs as it is now; files are read again only where they look changed.
pub(crate) fn needs(source: &Source) -> Result<Needs, CorpusError> {
    let Inputs::Range { needs: declared, .. } = &source.inputs else {
        return Ok(Needs { stamps: Vec::new(), pins: Pins::default() });
    };
    let mut stamps = Vec::new();
    for path in declared {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => CorpusError::Missing { path: path.clone() },
            _ => CorpusError::Io { path: path.clone(), source: error },
        };
        stamp_below(&source.base, path.trim_end_matches('/'), DEPTH_MAX, &mut stamps).map_err(failed)?;
    }
    stamps.sort();
    stamps.dedup();
    let mut seen = source.needs.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seen) = seen.as_ref().filter(|seen| seen.stamps == stamps) {
        return Ok(seen.clone());
    }
    let mut pins = Pins::default();
    for (path, ..) in &stamps {
        let failed = |source| CorpusError::Io { path: path.clone(), source };
        let stored = File::open(source.base.join(path)).and_then(|mut file| stored(&mut file, 0));
        pins.files.insert(path.clone(), stored.map_err(failed)?.digest);
    }
    let needs = Needs { stamps, pins };
    *seen = Some(needs.clone());
    Ok(needs)
}

/// Adds the file at `path`, or every file below it. A link to a folder is not followed, since it may lead in a circle.
fn stamp_below(
    base: &Path,
    path: &str,
    depth: u32,
    stamps: &mut Vec<(String, u64, Option<SystemTime>)>,
) -> io::Result<()> {
    let full = base.join(path);
    let metadata = fs::metadata(&full)?;
    if metadata.is_file() {
        stamps.push((path.to_owned(), metadata.len(), metadata.modified().ok()));
        return Ok(());
    }
    if !metadata.is_dir() || depth == 0 {
        return Err(io::Error::other("it is neither a file nor a folder, or lies too deep"));
    }
    for entry in fs::read_dir(&full)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| io::Error::other("a name in it is no UTF-8"))?;
        if entry.file_type()?.is_symlink() && entry.path().is_dir() {
            continue;
        }
        stamp_below(base, &format!("{path}/{name}"), depth - 1, stamps)?;
    }
    Ok(())
}
