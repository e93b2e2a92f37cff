//! Items of two trials brought together by identifier, in memory that does not grow with them.
//!
//! Two trials over one corpus list it in one order, so that both are read side by side. What has no partner in sight
//! waits in memory; when too much waits, both sides are spilled to temporary files by a key of the identifier, and
//! what lies in one pair of files is brought together at the end.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use pilote_corpus::index::Closing;
use pilote_ledger::Record;
use pilote_spec::{Digest, FaultCode, Item, Outcome, Position};
use serde::{Deserialize, Serialize};

use crate::error::{ProofError, io};
use crate::finding::Findings;
use crate::outputs;
use crate::trial_dir::TrialDir;

/// Items of a side that wait for their partner before both sides are spilled.
const WAITING_MAX: usize = 2_048;

/// Pairs of temporary files: of ten million items with vectors, one pair holds some 40,000.
const SPILLS: usize = 256;

/// An item with its outcome, vectors in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The item.
    pub item: Item,
    /// Its outcome; none while it is pending, or where its output is lost.
    pub outcome: Option<Outcome>,
}

impl Entry {
    /// What the item is known by: its identifier, or its place where it has none of its own.
    fn key(&self) -> String {
        let doubled = self.item.fault.as_ref().is_some_and(|fault| fault.code == FaultCode::DuplicateId);
        match &self.item.id {
            Some(id) if !doubled => format!("i{id}"),
            _ => format!("p{}", serde_json::to_string(&self.item.location).unwrap_or_default()),
        }
    }
}

/// What came together.
pub(crate) enum Joined {
    /// An item of both.
    Both(Box<Entry>, Box<Entry>),
    /// An item of A alone.
    OnlyA(Box<Entry>),
    /// An item of B alone.
    OnlyB(Box<Entry>),
}

/// The items of a trial in order, a part in memory at a time.
pub(crate) struct Entries<'t> {
    trial: &'t TrialDir,
    closing: Closing,
    next: usize,
    part: u32,
    items: std::vec::IntoIter<Item>,
    records: std::collections::BTreeMap<Position, Record>,
    /// Outputs that could not be read again.
    pub lost: u64,
}

impl<'t> Entries<'t> {
    /// Of the trial, from its first item.
    pub(crate) fn new(trial: &'t TrialDir) -> Result<Self, ProofError> {
        Ok(Self {
            trial,
            closing: trial.closing()?,
            next: 0,
            part: 0,
            items: Vec::new().into_iter(),
            records: std::collections::BTreeMap::new(),
            lost: 0,
        })
    }

    /// Items that the index holds.
    pub(crate) fn declared(&self) -> u64 {
        self.closing.items
    }

    /// The next item; none after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>, ProofError> {
        loop {
            if let Some(item) = self.items.next() {
                let outcome = self.records.remove(&item.position).map(|record| record.outcome);
                let outcome = match outcome {
                    Some(Outcome::Accepted(output)) => {
                        let read = outputs::read(&self.trial.store, self.part, &output)?;
                        self.lost += u64::from(read.is_err());
                        read.ok().map(Outcome::Accepted)
                    }
                    other => other,
                };
                return Ok(Some(Entry { item, outcome }));
            }
            let Some(entry) = self.closing.parts.get(self.next) else { return Ok(None) };
            self.next += 1;
            // What is damaged is for a verification to say; here such an item has no outcome.
            let part = self.trial.part(entry, &mut Findings::default())?;
            (self.part, self.records) = (part.number, part.records);
            self.items = part.items.into_iter();
        }
    }
}

/// Brings the items of `a` and `b` together; `scratch` is a directory for temporary files, used only when the two
/// are listed in very different orders.
pub(crate) fn join(
    a: &mut Entries<'_>,
    b: &mut Entries<'_>,
    scratch: &Path,
    take: &mut dyn FnMut(Joined) -> Result<(), ProofError>,
) -> Result<(), ProofError> {
    let (mut of_a, mut of_b) = (Waiting::default(), Waiting::default());
    loop {
        let (left, right) = (a.next()?, b.next()?);
        if left.is_none() && right.is_none() {
            break;
        }
        let (left, right) = (left.map(keyed), right.map(keyed));
        match (left, right) {
            (Some((key, left)), Some((other, right))) if key == other => {
                take(Joined::Both(Box::new(left), Box::new(right)))?;
            }
            (left, right) => {
                if let Some((key, left)) = left {
                    match of_b.entries.remove(&key) {
                        Some(right) => take(Joined::Both(Box::new(left), Box::new(right)))?,
                        None => of_a.wait(key, left),
                    }
                }
                if let Some((key, right)) = right {
                    match of_a.entries.remove(&key) {
                        Some(left) => take(Joined::Both(Box::new(left), Box::new(right)))?,
                        None => of_b.wait(key, right),
                    }
                }
            }
        }
        // Who waits on one side may have a partner that was spilled on the other, so both are spilled together.
        if of_a.entries.len() > WAITING_MAX || of_b.entries.len() > WAITING_MAX {
            of_a.spill(scratch)?;
            of_b.spill(scratch)?;
        }
    }
    if of_a.spills.is_empty() && of_b.spills.is_empty() {
        return rest(of_a.entries, of_b.entries, take);
    }
    of_a.spill(scratch)?;
    of_b.spill(scratch)?;
    for number in 0..SPILLS {
        rest(of_a.read(number, scratch)?, of_b.read(number, scratch)?, take)?;
    }
    Ok(())
}

fn keyed(entry: Entry) -> (String, Entry) {
    (entry.key(), entry)
}

/// Brings together what is in memory of both sides.
fn rest(
    a: HashMap<String, Entry>,
    mut b: HashMap<String, Entry>,
    take: &mut dyn FnMut(Joined) -> Result<(), ProofError>,
) -> Result<(), ProofError> {
    let mut a: Vec<(String, Entry)> = a.into_iter().collect();
    a.sort_by_key(|(_, entry)| entry.item.position);
    for (key, left) in a {
        match b.remove(&key) {
            Some(right) => take(Joined::Both(Box::new(left), Box::new(right)))?,
            None => take(Joined::OnlyA(Box::new(left)))?,
        }
    }
    let mut b: Vec<Entry> = b.into_values().collect();
    b.sort_by_key(|entry| entry.item.position);
    b.into_iter().try_for_each(|right| take(Joined::OnlyB(Box::new(right))))
}

/// The items of a side without a partner so far.
#[derive(Default)]
struct Waiting {
    entries: HashMap<String, Entry>,
    spills: HashMap<usize, BufWriter<std::fs::File>>,
}

impl Waiting {
    fn wait(&mut self, key: String, entry: Entry) {
        // Two items under one key are damage, which is counted and never passed over.
        if let Some(first) = self.entries.insert(key, entry) {
            let key = format!("d{}", first.item.position);
            self.entries.insert(key, first);
        }
    }

    /// Moves everything that waits to the temporary files.
    fn spill(&mut self, scratch: &Path) -> Result<(), ProofError> {
        for (key, entry) in self.entries.drain() {
            let number = usize::from(Digest::of(key.as_bytes()).as_bytes()[0]);
            let file = match self.spills.entry(number) {
                std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
                std::collections::hash_map::Entry::Vacant(none) => {
                    let file =
                        tempfile::tempfile_in(scratch).map_err(|error| io("write in", scratch, error))?;
                    none.insert(BufWriter::new(file))
                }
            };
            let line = serde_json::to_string(&(key, entry)).unwrap_or_default();
            writeln!(file, "{line}").map_err(|error| io("write in", scratch, error))?;
        }
        Ok(())
    }

    /// What was spilled to one of the files.
    fn read(&mut self, number: usize, scratch: &Path) -> Result<HashMap<String, Entry>, ProofError> {
        let Some(file) = self.spills.remove(&number) else { return Ok(HashMap::new()) };
        let broken = |error: std::io::Error| io("read back from", scratch, error);
        let mut file = file.into_inner().map_err(|error| broken(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(broken)?;
        BufReader::new(file)
            .lines()
            .map(|line| serde_json::from_str(&line.map_err(broken)?).map_err(|error| broken(error.into())))
            .collect()
    }
}
