//! Reading a part back: streaming, in constant memory, and proving itself on the way.

use pilote_spec::{Digest, Hasher, Outcome, Position};

use crate::chain::{Chain, End, Fixed, Link};
use crate::entry::{EntryKind, EntryReader, Scanned, Stretch, not_a_record};
use crate::error::LedgerError;
use crate::finding::Finding;
use crate::line;
use crate::owner::Owner;
use crate::payload::Extents;
use crate::positions::Positions;
use crate::record::{Adoption, Record};
use crate::seal::Seal;
use crate::store::Store;

/// What is known of an entry after it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryFacts {
    /// Its number.
    pub entry: u64,
    /// What it is, where its header can be read.
    pub kind: Option<EntryKind>,
    /// Who created it, where its header can be read.
    pub owner: Option<Owner>,
    /// Its first bytes that count.
    pub bytes: u64,
    /// Digest of its whole lines.
    pub sha256: Digest,
    /// Records that count.
    pub records: u64,
    /// Bytes after those that count, not yet fixed by anyone (0 where its length is fixed).
    pub tail_bytes: u64,
    /// Bytes of a torn tail that a taker cut.
    pub torn_bytes: u64,
    /// Whether its creator may still append, as far as its successors tell.
    pub open: bool,
}

/// Gives the records of a part one after the other. Findings, facts and counts are complete at the end.
pub struct PartReader<'s> {
    store: &'s dyn Store,
    part: u32,
    links: std::vec::IntoIter<Link>,
    current: Option<Current<'s>>,
    seal: Option<Seal>,
    findings: Vec<Finding>,
    entries: Vec<EntryFacts>,
    seen: Positions,
    accepted: u64,
    refused: u64,
    finished: bool,
}

struct Current<'s> {
    link: Link,
    reader: EntryReader<'s>,
    hasher: Hasher,
    end: u64,
    lines: u64,
    records: u64,
    tail_bytes: u64,
    damaged: bool,
}

impl<'s> PartReader<'s> {
    /// Begins to read `part`; a part without entries has no records.
    ///
    /// # Errors
    /// When the store cannot be read, or another format wrote the part.
    pub fn new(store: &'s dyn Store, part: u32) -> Result<Self, LedgerError> {
        let Chain { links, seal, findings } = Chain::load(store, part)?;
        Ok(Self {
            store,
            part,
            links: links.into_iter(),
            current: None,
            seal,
            findings,
            entries: Vec::new(),
            seen: Positions::default(),
            accepted: 0,
            refused: 0,
            finished: false,
        })
    }

    /// What was noticed so far; complete once the last record was given.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The seal, where the part has one.
    #[must_use]
    pub fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    /// The entries that were read to their end so far, the seal not among them.
    #[must_use]
    pub fn entries(&self) -> &[EntryFacts] {
        &self.entries
    }

    /// The positions that have an outcome so far.
    #[must_use]
    pub fn seen(&self) -> &Positions {
        &self.seen
    }

    /// Accepted and refused outcomes so far.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.accepted, self.refused)
    }

    /// Consumes the reader for what it learnt.
    pub(crate) fn into_parts(self) -> (Vec<EntryFacts>, Vec<Finding>, Option<Seal>, Positions) {
        (self.entries, self.findings, self.seal, self.seen)
    }

    fn advance(&mut self) -> Result<Option<Record>, LedgerError> {
        while !self.finished {
            let Some(current) = &mut self.current else {
                self.begin_entry();
                continue;
            };
            match current.reader.next()? {
                Some(Scanned::Line { offset, bytes }) => {
                    if let Some(record) = self.take_line(offset, &bytes) {
                        return Ok(Some(record));
                    }
                }
                Some(Scanned::Damage(stretch)) => {
                    current.damaged = true;
                    self.findings.push(stretch.damage(current.link.entry));
                }
                Some(Scanned::Tail(stretch)) => self.take_tail(stretch),
                None => self.end_entry()?,
            }
        }
        Ok(None)
    }

    fn begin_entry(&mut self) {
        let Some(link) = self.links.next() else {
            self.finished = true;
            self.compare_with_seal();
            return;
        };
        if link.is_seal() {
            if self.seal.is_none() {
                // A seal whose one line is not whole says nothing of the part, and yet nothing may follow it.
                let (entry, lost) = (link.entry, Vec::new());
                self.findings.push(Finding::Damage { entry, offset: 0, bytes: 0, lost });
            }
            return;
        }
        let length = match link.end {
            End::Fixed(fixed) => fixed.bytes,
            End::Open | End::Whole(_) => u64::MAX,
        };
        self.current = Some(Current {
            reader: EntryReader::new(self.store, link.key.clone(), length),
            link,
            hasher: Hasher::new(),
            end: 0,
            lines: 0,
            records: 0,
            tail_bytes: 0,
            damaged: false,
        });
    }

    fn take_line(&mut self, offset: u64, bytes: &[u8]) -> Option<Record> {
        let current = self.current.as_mut()?;
        let entry = current.link.entry;
        current.hasher.update(bytes);
        current.end = offset + bytes.len() as u64;
        current.lines += 1;
        let json = line::json(bytes);
        if (offset == 0 && current.link.header.is_some()) || Adoption::is_in(json) {
            return None;
        }
        let Ok(record) = serde_json::from_slice::<Record>(json) else {
            current.damaged = true;
            self.findings.push(not_a_record(entry, offset, bytes));
            return None;
        };
        if !self.seen.insert(record.position) {
            self.findings.push(Finding::Duplicated { entry, offset, position: record.position });
            return None;
        }
        current.records += 1;
        match record.outcome {
            Outcome::Accepted(_) => self.accepted += 1,
            Outcome::Refused(_) => self.refused += 1,
        }
        Some(record)
    }

    fn take_tail(&mut self, stretch: Stretch) {
        let Some(current) = &mut self.current else { return };
        let entry = current.link.entry;
        // An entry begins to exist with a whole header, so one without it was changed afterwards.
        if current.link.end == End::Open && current.link.header.is_some() {
            current.tail_bytes = stretch.bytes;
            let Stretch { offset, bytes, .. } = stretch;
            self.findings.push(Finding::Tail { entry, offset, bytes });
        } else {
            current.damaged = true;
            self.findings.push(stretch.damage(entry));
        }
    }

    fn end_entry(&mut self) -> Result<(), LedgerError> {
        let Some(mut current) = self.current.take() else { return Ok(()) };
        let entry = current.link.entry;
        let sha256 = std::mem::take(&mut current.hasher).finish();
        let short = Finding::Damage { entry, offset: current.end, bytes: 0, lost: Vec::new() };
        let mut torn_bytes = 0;
        match current.link.end {
            End::Whole(lines) if !current.damaged && current.lines != lines.saturating_add(1) => {
                self.findings.push(short);
            }
            End::Fixed(fixed) => {
                torn_bytes = fixed.torn_bytes;
                if !current.damaged && current.end < fixed.bytes {
                    self.findings.push(short);
                } else if !current.damaged && sha256 != fixed.sha256 {
                    let expected = fixed.sha256;
                    self.findings.push(Finding::EntryChanged { entry, expected, seen: sha256 });
                }
                self.count_after(&current.link, fixed)?;
            }
            End::Whole(_) => {}
            End::Open if current.link.header.is_none() && !current.damaged => self.findings.push(short),
            End::Open => {}
        }
        let (kind, owner) = current.link.header.map(|header| (header.kind, header.owner)).unzip();
        self.entries.push(EntryFacts {
            entry,
            kind,
            owner,
            bytes: current.end,
            sha256,
            records: current.records,
            tail_bytes: current.tail_bytes,
            torn_bytes,
            open: current.link.end == End::Open,
        });
        Ok(())
    }

    /// Counts what stands after a fixed length: the torn tail that the taker saw, then what came late.
    fn count_after(&mut self, link: &Link, fixed: Fixed) -> Result<(), LedgerError> {
        let (entry, offset) = (link.entry, fixed.bytes);
        if fixed.torn_bytes > 0 {
            self.findings.push(Finding::Torn { entry, offset, bytes: fixed.torn_bytes });
        }
        let offset = fixed.bytes.saturating_add(fixed.torn_bytes);
        let mut reader = EntryReader::from_offset(self.store, link.key.clone(), offset, u64::MAX);
        let (mut bytes, mut records) = (0, 0);
        while let Some(scanned) = reader.next()? {
            match scanned {
                Scanned::Line { bytes: line, .. } => {
                    bytes += line.len() as u64;
                    records += 1;
                }
                Scanned::Damage(stretch) | Scanned::Tail(stretch) => bytes += stretch.bytes,
            }
        }
        if bytes > 0 {
            self.findings.push(Finding::Late { entry, offset, bytes, records });
        }
        Ok(())
    }

    fn compare_with_seal(&mut self) {
        let Some(seal) = &self.seal else { return };
        for sealed in &seal.entries {
            if self.entries.binary_search_by_key(&sealed.entry, |facts| facts.entry).is_err() {
                self.findings.push(Finding::MissingEntries { first: sealed.entry, last: sealed.entry });
            }
        }
        let (sealed, seen) = ((seal.accepted, seal.refused), (self.accepted, self.refused));
        if sealed != seen {
            self.findings.push(Finding::SealDisagrees { sealed, seen });
        }
    }
}

impl Iterator for PartReader<'_> {
    type Item = Result<Record, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        // After an error the rest cannot be trusted to be complete, so nothing follows it.
        self.finished |= next.is_err();
        next.transpose()
    }
}

impl std::fmt::Debug for PartReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartReader").field("part", &self.part).finish_non_exhaustive()
    }
}

/// A part read whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartReading {
    /// Its records in the order in which they were committed.
    pub records: Vec<Record>,
    /// Its entries, the seal not among them.
    pub entries: Vec<EntryFacts>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// The seal, where the part has one.
    pub seal: Option<Seal>,
}

/// Reads all of `part` into memory. For volume, iterate over a [`PartReader`].
///
/// # Errors
/// When the store cannot be read, or another format wrote the part.
pub fn read_part(store: &dyn Store, part: u32) -> Result<PartReading, LedgerError> {
    let mut reader = PartReader::new(store, part)?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    let (entries, findings, seal, _) = reader.into_parts();
    Ok(PartReading { records, entries, findings, seal })
}

/// The outcome at `position`, reading `part` up to it; none where it is pending.
///
/// # Errors
/// When the store cannot be read, or another format wrote the part.
pub fn find_in_part(store: &dyn Store, part: u32, position: Position) -> Result<Option<Record>, LedgerError> {
    PartReader::new(store, part)?
        .find(|record| record.as_ref().map_or(true, |record| record.position == position))
        .transpose()
}

/// What verifying a part came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verification {
    /// Accepted outcomes as read.
    pub accepted: u64,
    /// Refused outcomes as read.
    pub refused: u64,
    /// Whether the part is sealed.
    pub sealed: bool,
    /// What was noticed; verified where none is damage.
    pub findings: Vec<Finding>,
}

/// Reads all of `part` with every payload that its records name, and compares it with its own digests.
///
/// # Errors
/// When the store cannot be read, or another format wrote the part.
pub fn verify_part(store: &dyn Store, part: u32) -> Result<Verification, LedgerError> {
    let mut reader = PartReader::new(store, part)?;
    let mut extents = Extents::default();
    for record in reader.by_ref() {
        extents.add(&record?);
    }
    let (accepted, refused) = reader.counts();
    let (_, mut findings, seal, _) = reader.into_parts();
    let payloads = extents.read(store, part, &mut findings)?;
    for sealed in seal.iter().flat_map(|seal| &seal.payloads) {
        // One that is absent was found by its record already.
        let seen = payloads.binary_search_by(|payload| payload.name.cmp(&sealed.name));
        if seen.is_ok_and(|at| payloads[at] != *sealed) {
            findings.push(Finding::PayloadChanged { payload: sealed.name.clone() });
        }
    }
    Ok(Verification { accepted, refused, sealed: seal.is_some(), findings })
}
