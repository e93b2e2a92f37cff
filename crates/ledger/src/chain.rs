//! Which bytes of which entry count.
//!
//! The heads of all entries are enough to tell. From the last entry to the first: the length of an entry is fixed
//! by the seal, else by the latest adoption that itself counts, else by its own header where it was whole when
//! created. An entry that nothing fixes is open: all its whole records count, until a taker says how many.

use std::collections::BTreeMap;

use pilote_spec::Digest;

use crate::entry::{EntryKind, EntryReader, FORMAT, Header, Scanned};
use crate::error::LedgerError;
use crate::finding::Finding;
use crate::keys::{entry_key, entry_number, part_prefix};
use crate::line;
use crate::record::{Adopted, Adoption};
use crate::seal::Seal;
use crate::store::Store;

/// The entries of a part in order, with how much of each counts.
pub(crate) struct Chain {
    pub(crate) links: Vec<Link>,
    pub(crate) seal: Option<Seal>,
    pub(crate) findings: Vec<Finding>,
}

/// An entry in its chain.
pub(crate) struct Link {
    pub(crate) entry: u64,
    pub(crate) key: String,
    pub(crate) header: Option<Header>,
    pub(crate) end: End,
    /// What it adopts, and where that line ends.
    adoption: Option<(u64, Vec<Adopted>)>,
    seal: Option<Seal>,
}

/// Where an entry ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its creator may still append, as far as its successors tell.
    Open,
    /// It was whole when created, with so many lines after the header.
    Whole(u64),
    /// A taker or the seal fixed it.
    Fixed(Fixed),
}

/// A length that somebody fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) bytes: u64,
    pub(crate) sha256: Digest,
    /// Bytes after it that were there already when it was fixed.
    pub(crate) torn_bytes: u64,
}

impl Chain {
    /// Reads the heads of all entries of `part`.
    pub(crate) fn load(store: &dyn Store, part: u32) -> Result<Self, LedgerError> {
        let mut numbers: Vec<u64> = store
            .list(&part_prefix(part))?
            .iter()
            .filter_map(|listed| entry_number(part, &listed.key))
            .collect();
        numbers.sort_unstable();
        let mut chain = Self { links: Vec::with_capacity(numbers.len()), seal: None, findings: Vec::new() };
        let mut expected = 1;
        for entry in numbers {
            if entry > expected {
                chain.findings.push(Finding::MissingEntries { first: expected, last: entry - 1 });
            }
            expected = entry.saturating_add(1);
            if chain.seal.is_some() {
                chain.findings.push(Finding::AfterSeal { entry });
                continue;
            }
            let link = Link::load(store, part, entry, &mut chain.findings)?;
            chain.seal = link.seal.clone();
            chain.links.push(link);
        }
        chain.fix_ends();
        Ok(chain)
    }

    fn fix_ends(&mut self) {
        let mut fixed: BTreeMap<u64, Fixed> = BTreeMap::new();
        for sealed in self.seal.iter().flat_map(|seal| &seal.entries) {
            let end = Fixed { bytes: sealed.bytes, sha256: sealed.sha256, torn_bytes: sealed.torn_bytes };
            fixed.insert(sealed.entry, end);
        }
        for link in self.links.iter_mut().rev() {
            link.end = match (fixed.get(&link.entry), &link.header) {
                (Some(end), _) => End::Fixed(*end),
                (None, Some(Header { lines: Some(lines), .. })) => End::Whole(*lines),
                (None, _) => End::Open,
            };
            let Some((line_end, adopts)) = &link.adoption else { continue };
            // An adoption after the fixed length of its own entry came late: its taker was fenced before.
            if matches!(link.end, End::Fixed(end) if end.bytes < *line_end) {
                continue;
            }
            for adopted in adopts.iter().filter(|adopted| adopted.entry < link.entry) {
                let Adopted { entry, bytes, sha256, torn_bytes, .. } = *adopted;
                fixed.entry(entry).or_insert(Fixed { bytes, sha256, torn_bytes });
            }
        }
    }

    /// The entry that was created last.
    pub(crate) fn last(&self) -> Option<&Link> {
        self.links.last()
    }
}

impl Link {
    fn load(
        store: &dyn Store,
        part: u32,
        entry: u64,
        findings: &mut Vec<Finding>,
    ) -> Result<Self, LedgerError> {
        let key = entry_key(part, entry);
        let mut reader = EntryReader::new(store, key.clone(), u64::MAX);
        let mut link = Self { entry, key, header: None, end: End::Open, adoption: None, seal: None };
        let Some(Scanned::Line { offset: 0, bytes }) = reader.next()? else { return Ok(link) };
        link.header = read_header(&link.key, line::json(&bytes))?;
        let Some(header) = &link.header else { return Ok(link) };
        if (header.part, header.entry) != (part, entry) {
            let (says_part, says_entry) = (header.part, header.entry);
            findings.push(Finding::Misplaced { entry, says_part, says_entry });
        }
        if header.lines == Some(0) {
            return Ok(link);
        }
        if let Some(Scanned::Line { offset, bytes }) = reader.next()? {
            let json = line::json(&bytes);
            if header.kind == EntryKind::Seal {
                link.seal = serde_json::from_slice(json).ok();
            } else if Adoption::is_in(json)
                && let Ok(Adoption { adopts }) = serde_json::from_slice(json)
            {
                link.adoption = Some((offset + bytes.len() as u64, adopts));
            }
        }
        Ok(link)
    }

    /// Whether the entry is a seal, readable or not.
    pub(crate) fn is_seal(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.kind == EntryKind::Seal)
    }
}

/// The header in the JSON of a first line; none where it is something else, an error where another format wrote it.
fn read_header(key: &str, json: &[u8]) -> Result<Option<Header>, LedgerError> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: String,
    }
    match serde_json::from_slice::<Format>(json) {
        Ok(Format { format }) if format != FORMAT => {
            Err(LedgerError::Format { key: key.to_owned(), found: format })
        }
        Ok(_) => Ok(serde_json::from_slice(json).ok()),
        Err(_) => Ok(None),
    }
}
