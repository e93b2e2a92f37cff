//! Which identifiers a scan has seen: 128-bit hashes lead, the exact text decides.
//!
//! Up to a number of identifiers ([`Source::with_identifiers_in_memory`](crate::Source)) all of them are at hand, and
//! a duplicate is told as it comes. Beyond it every identifier is put aside by the first bits of its hash, and the
//! buckets are looked through one after the other once all are known, so that memory is one bucket: some 40 MB for a
//! hundred million identifiers. Text and place are kept beside the hash, so nothing is read in the inputs again.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use pilote_spec::{Digest, ItemId, Position};

use crate::buckets::Buckets;
use crate::confusable::folded;
use crate::notes::{NAMED_PAIRS, Notes};

/// Buckets of identifiers that are put aside. The first byte of the hash chooses one.
const BUCKETS: usize = 256;

/// Bytes that a bucket gathers before they are written.
const CHUNK: usize = 32 * 1024;

/// Bytes of an entry before the text: position, file, line, length of the text.
const ENTRY: usize = 8 + 4 + 8 + 2;

/// Where an identifier stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the file among the inputs, from 0.
    pub(crate) file: u32,
    /// Line or row in it, from 1.
    pub(crate) line: u64,
}

/// What is known of an identifier when it arrives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sighting {
    /// Never seen, nor anything like it.
    New,
    /// Never seen; it looks like this one.
    Confusable(ItemId),
    /// Seen before, there.
    Again(Place),
}

/// Half of a SHA-256.
type Half = [u8; 16];

/// The identifiers seen so far, all in memory.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    /// The first identifier of each folded form: where its entry begins.
    first: HashMap<Half, u64>,
    /// The others, by their exact text.
    others: HashMap<Half, u64>,
    /// Entries one after the other.
    entries: Vec<u8>,
}

/// An identifier with its place, as it is kept.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'e> {
    position: Position,
    place: Place,
    text: &'e str,
}

impl Identities {
    /// Takes in an identifier.
    pub(crate) fn see(&mut self, id: &ItemId, position: Position, place: Place) -> Sighting {
        let entry = Entry { position, place, text: id.as_str() };
        self.see_as(hash(&folded(id.as_str())), &entry)
    }

    fn see_as(&mut self, form: Half, entry: &Entry<'_>) -> Sighting {
        let Some(first) = self.first.get(&form).copied() else {
            let at = self.keep(entry);
            self.first.insert(form, at);
            return Sighting::New;
        };
        let earlier = self.entry(first).map(|earlier| (ItemId(earlier.text.to_owned()), earlier.place));
        if let Some((id, place)) = &earlier
            && id.as_str() == entry.text
        {
            return Sighting::Again(*place);
        }
        let exact = hash(entry.text);
        if let Some(other) = self.others.get(&exact).and_then(|other| self.entry(*other))
            && other.text == entry.text
        {
            return Sighting::Again(other.place);
        }
        let at = self.keep(entry);
        self.others.insert(exact, at);
        earlier.map_or(Sighting::New, |(id, _)| Sighting::Confusable(id))
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.others.len()
    }

    fn keep(&mut self, entry: &Entry<'_>) -> u64 {
        let at = self.entries.len() as u64;
        entry.write(&mut self.entries);
        at
    }

    fn entry(&self, at: u64) -> Option<Entry<'_>> {
        Entry::read(self.entries.get(usize::try_from(at).ok()?..)?).map(|(entry, _)| entry)
    }
}

impl<'e> Entry<'e> {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.position.0.to_le_bytes());
        bytes.extend_from_slice(&self.place.file.to_le_bytes());
        bytes.extend_from_slice(&self.place.line.to_le_bytes());
        // An identifier has 4,096 bytes at most.
        bytes.extend_from_slice(&u16::try_from(self.text.len()).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend_from_slice(self.text.as_bytes());
    }

    /// The entry at the start of `bytes` and what follows it; none at the end.
    fn read(bytes: &'e [u8]) -> Option<(Self, &'e [u8])> {
        let (head, rest) = bytes.split_at_checked(ENTRY)?;
        let position = Position(u64::from_le_bytes(head[..8].try_into().ok()?));
        let file = u32::from_le_bytes(head[8..12].try_into().ok()?);
        let line = u64::from_le_bytes(head[12..20].try_into().ok()?);
        let length = usize::from(u16::from_le_bytes(head[20..].try_into().ok()?));
        let (text, rest) = rest.split_at_checked(length)?;
        let text = std::str::from_utf8(text).ok()?;
        Some((Self { position, place: Place { file, line }, text }, rest))
    }
}

fn hash(text: &str) -> Half {
    let digest = Digest::of(text.as_bytes());
    let mut half = Half::default();
    half.copy_from_slice(&digest.as_bytes()[..16]);
    half
}

/// Identifiers that are put aside until all are known.
#[derive(Debug)]
pub(crate) struct Aside {
    buckets: Buckets,
    entry: Vec<u8>,
}

/// A second item under an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub(crate) id: ItemId,
    pub(crate) first: Place,
    pub(crate) second: Place,
    /// Of the second.
    pub(crate) position: Position,
}

impl Aside {
    /// Nothing put aside yet, in `scratch`.
    pub(crate) fn new(scratch: &Path) -> io::Result<Self> {
        Ok(Self { buckets: Buckets::new(scratch, BUCKETS, CHUNK)?, entry: Vec::new() })
    }

    /// The same with everything that was kept in memory until now.
    pub(crate) fn take(&mut self, kept: &Identities) -> io::Result<()> {
        let mut rest = kept.entries.as_slice();
        while let Some((entry, after)) = Entry::read(rest) {
            self.put(&entry)?;
            rest = after;
        }
        Ok(())
    }

    /// Puts an identifier aside.
    pub(crate) fn add(&mut self, id: &ItemId, position: Position, place: Place) -> io::Result<()> {
        self.put(&Entry { position, place, text: id.as_str() })
    }

    fn put(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        let form = hash(&folded(entry.text));
        self.entry.clear();
        // The hash is kept as well: it costs more to make than to read.
        self.entry.extend_from_slice(&form);
        entry.write(&mut self.entry);
        self.buckets.add(usize::from(form[0]), &self.entry)
    }

    /// Looks through everything: each duplicate is handed over, pairs that look alike are noted.
    pub(crate) fn look_through(
        mut self,
        notes: &mut Notes,
        mut duplicate: impl FnMut(Duplicate) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut pairs: Vec<(Position, ItemId, ItemId)> = Vec::new();
        let mut alike = 0;
        for bucket in 0..self.buckets.count() {
            let mut identities = Identities::default();
            self.buckets.read(bucket, |chunk| {
                let mut rest = chunk;
                while let Some((form, after)) = rest.split_first_chunk::<16>() {
                    let (entry, after) = Entry::read(after).ok_or_else(torn)?;
                    rest = after;
                    let id = || ItemId(entry.text.to_owned());
                    match identities.see_as(*form, &entry) {
                        Sighting::New => {}
                        Sighting::Confusable(earlier) => {
                            alike += 1;
                            pairs.push((entry.position, earlier, id()));
                        }
                        Sighting::Again(first) => {
                            let (second, position) = (entry.place, entry.position);
                            duplicate(Duplicate { id: id(), first, second, position })?;
                        }
                    }
                }
                Ok(())
            })?;
            // Only the first few are named, in input order as if they had been told as they came.
            pairs.sort_by_key(|(position, ..)| *position);
            pairs.truncate(NAMED_PAIRS);
        }
        notes.alike(alike, pairs.iter().map(|(_, first, second)| (first.as_str(), second.as_str())));
        Ok(())
    }
}

fn torn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the scratch file does not hold what was written to it")
}

/// The duplicates of a large corpus by position, of which one bucket is at hand.
#[derive(Debug)]
pub(crate) struct Told {
    buckets: Buckets,
    /// Positions of one bucket.
    width: u64,
    /// The bucket at hand, and its duplicates by position.
    at_hand: Option<(u64, HashMap<u64, Place>)>,
}

impl Told {
    /// None yet, of a corpus with so many positions.
    pub(crate) fn new(scratch: &Path, positions: u64) -> io::Result<Self> {
        let width = positions.div_ceil(BUCKETS as u64).max(1);
        Ok(Self { buckets: Buckets::new(scratch, BUCKETS, CHUNK)?, width, at_hand: None })
    }

    /// Adds a duplicate.
    pub(crate) fn add(&mut self, position: Position, first: Place) -> io::Result<()> {
        let bucket = usize::try_from(position.0 / self.width).map_err(io::Error::other)?;
        let mut record = [0; 20];
        record[..8].copy_from_slice(&position.0.to_le_bytes());
        record[8..12].copy_from_slice(&first.file.to_le_bytes());
        record[12..].copy_from_slice(&first.line.to_le_bytes());
        self.buckets.add(bucket, &record)
    }

    /// Where the identifier of `position` stands first, if it is a duplicate. Asked in ascending order.
    pub(crate) fn first(&mut self, position: Position) -> io::Result<Option<Place>> {
        let bucket = position.0 / self.width;
        let known = match &mut self.at_hand {
            Some((at, known)) if *at == bucket => known,
            other => {
                let mut known = HashMap::new();
                self.buckets.read(usize::try_from(bucket).map_err(io::Error::other)?, |chunk| {
                    let (records, rest) = chunk.as_chunks::<20>();
                    for record in records {
                        let place = |_| torn();
                        let position = u64::from_le_bytes(record[..8].try_into().map_err(place)?);
                        let file = u32::from_le_bytes(record[8..12].try_into().map_err(place)?);
                        let line = u64::from_le_bytes(record[12..].try_into().map_err(place)?);
                        known.insert(position, Place { file, line });
                    }
                    if rest.is_empty() { Ok(()) } else { Err(torn()) }
                })?;
                &mut other.insert((bucket, known)).1
            }
        };
        Ok(known.get(&position.0).copied())
    }
}

#[cfg(test)]
mod tests;
