//! `lookup.bin`: from an identifier to its position without reading the index.
//!
//! Layout: the line `pilote.lookup/1\n`, then one entry of 16 bytes for each identified item, sorted: the first
//! eight bytes of the SHA-256 of the identifier's text, and the position as a big-endian integer. A search reads
//! about log2(items) entries. A hit is always checked against the index, so a damaged file can only lose hits;
//! who finds nothing here must read the index before saying that an identifier is absent.

use std::io::{Read, Seek, SeekFrom, Write};

use pilote_corpus::index::Closing;
use pilote_spec::{Digest, ItemId, Position};

/// Name of the file inside a trial.
pub(crate) const LOOKUP: &str = "lookup.bin";

const HEAD: &[u8; 16] = b"pilote.lookup/1\n";
const ENTRY_BYTES: u64 = 16;

/// An identifier's key with its position; 16 bytes an item in memory as on disk.
pub(crate) type Entry = (u64, u64);

/// Room for an entry of every item at once: a list that grows holds itself twice at times. An index that claims more
/// than its parts can hold gets no more than this many.
pub(crate) fn room_for(closing: &Closing) -> Vec<Entry> {
    const ENTRIES_MAX: u64 = 1 << 27;
    Vec::with_capacity(usize::try_from(closing.items.min(ENTRIES_MAX)).unwrap_or(0))
}

/// The key under which an identifier is filed.
pub(crate) fn key(id: &ItemId) -> u64 {
    let digest = Digest::of(id.as_str().as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_be_bytes(first)
}

/// Writes `entries`, which are sorted.
pub(crate) fn write(entries: &[Entry], to: &mut dyn Write) -> std::io::Result<()> {
    to.write_all(HEAD)?;
    for (key, position) in entries {
        to.write_all(&key.to_be_bytes())?;
        to.write_all(&position.to_be_bytes())?;
    }
    Ok(())
}

/// Positions filed under the key of `id`: usually one, none when there is none or the file is damaged.
pub(crate) fn find<F: Read + Seek>(file: &mut F, id: &ItemId) -> std::io::Result<Vec<Position>> {
    let bytes = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(0))?;
    let mut head = [0; HEAD.len()];
    if bytes < HEAD.len() as u64 || file.read_exact(&mut head).is_err() || head != *HEAD {
        return Ok(Vec::new());
    }
    let entries = (bytes - HEAD.len() as u64) / ENTRY_BYTES;
    let wanted = key(id);
    let (mut low, mut high) = (0, entries);
    while low < high {
        let middle = low + (high - low) / 2;
        if entry(file, middle)?.0 < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut found = Vec::new();
    while low < entries {
        let (key, position) = entry(file, low)?;
        if key != wanted {
            break;
        }
        found.push(Position(position));
        low += 1;
    }
    Ok(found)
}

fn entry<F: Read + Seek>(file: &mut F, number: u64) -> std::io::Result<Entry> {
    file.seek(SeekFrom::Start(HEAD.len() as u64 + number * ENTRY_BYTES))?;
    let (mut key, mut position) = ([0; 8], [0; 8]);
    file.read_exact(&mut key)?;
    file.read_exact(&mut position)?;
    Ok((u64::from_be_bytes(key), u64::from_be_bytes(position)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(ids: &[String]) -> std::io::Cursor<Vec<u8>> {
        let mut entries: Vec<Entry> = (0..).zip(ids).map(|(at, id)| (key(&ItemId(id.clone())), at)).collect();
        entries.sort_unstable();
        let mut bytes = Vec::new();
        write(&entries, &mut bytes).unwrap();
        std::io::Cursor::new(bytes)
    }

    #[test]
    fn every_identifier_is_found_at_its_position() {
        let ids: Vec<String> = (0..257).map(|n| format!("document {n}.txt")).collect();
        let mut file = file(&ids);
        for (position, id) in (0..).zip(&ids) {
            assert_eq!(find(&mut file, &ItemId(id.clone())).unwrap(), [Position(position)]);
        }
        assert_eq!(find(&mut file, &ItemId("absent".into())).unwrap(), []);
    }

    #[test]
    fn an_identifier_at_two_positions_is_found_at_both() {
        let mut file = file(&["a".into(), "b".into(), "a".into()]);
        assert_eq!(find(&mut file, &ItemId("a".into())).unwrap(), [Position(0), Position(2)]);
    }

    #[test]
    fn a_file_that_is_no_lookup_finds_nothing() {
        let mut file = std::io::Cursor::new(b"something else".to_vec());
        assert_eq!(find(&mut file, &ItemId("a".into())).unwrap(), []);
    }
}
