//! From the declared inputs to the index: counted, compared with what was declared and fixed, and written.

use std::path::Path;
use std::sync::Arc;

use pilote_corpus::index::{CLOSED_KEY, Closing, PartEntry, encode_part, part_key};
use pilote_corpus::{Notes, Pins, Source};
use pilote_ledger::{Creation, Store, StoreError};
use pilote_spec::{FaultCode, Inputs, Item, Position, Project, TrialKind};

use crate::error::ConductError;
use crate::news::{News, Progress};

/// Items between two pieces of news.
const NEWS_EVERY: u64 = 1_000;

/// What a launch would begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Items that the trial would hold.
    pub items: u64,
    /// Items that the index refuses, by their fault, in input order.
    pub faults: Vec<(Position, FaultCode)>,
    /// Batches that the engine would be asked.
    pub batches: u64,
    /// What was noticed.
    pub notes: Notes,
}

/// The declared inputs of one kind of trial.
pub(crate) struct Declared<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) count: u64,
    field: &'static str,
    digests: Option<&'a str>,
}

impl<'a> Declared<'a> {
    /// What `project` declares for `kind`.
    pub(crate) fn of(project: &'a Project, kind: TrialKind) -> Result<Self, ConductError> {
        match (kind, &project.campaign) {
            (TrialKind::Pilot, _) => Ok(Self {
                inputs: &project.pilot.inputs,
                count: project.pilot.count,
                field: "pilot.count",
                digests: project.pilot.digests.as_deref(),
            }),
            (TrialKind::Campaign, Some(campaign)) => Ok(Self {
                inputs: &campaign.inputs,
                count: campaign.count,
                field: "campaign.count",
                digests: None,
            }),
            (TrialKind::Campaign, None) => Err(ConductError::NoCampaign),
        }
    }

    /// The inputs, resolved below `root`.
    pub(crate) fn source(&self, root: &Path, project: &Project) -> Source {
        Source::new(root, self.inputs, &project.limits, project.duplicates)
    }

    /// Compares the inputs with the digests that were fixed, where any were.
    pub(crate) fn check_digests(&self, root: &Path, source: &Source) -> Result<(), ConductError> {
        let Some(path) = self.digests else { return Ok(()) };
        let path = || path.to_owned();
        let text = fs_err::read_to_string(root.join(path()))
            .map_err(|source| ConductError::PinsUnread { path: path(), source })?;
        let fixed = Pins::parse(&text).map_err(|source| ConductError::Pins { path: path(), source })?;
        let differences = fixed.differences(&pilote_corpus::digests(source)?);
        if differences.is_empty() {
            Ok(())
        } else {
            Err(ConductError::PinsDiffer { path: path(), differences })
        }
    }

    fn check_count(&self, source: &Source, found: u64) -> Result<(), ConductError> {
        if found == self.count {
            return Ok(());
        }
        let inputs = source.declared().to_owned();
        Err(ConductError::Count { inputs, found, declared: self.count, field: self.field })
    }
}

/// Goes through the inputs once and hands over parts of `part_items` items, in order. A corpus of another size than
/// declared is an error, at the latest before the last part is handed over; with a limit only the first items are
/// taken, and a larger corpus is not looked at to its end.
pub(crate) fn walk(
    declared: &Declared<'_>,
    source: &Source,
    limit: Option<u64>,
    part_items: u64,
    progress: &mut dyn Progress,
    mut part: impl FnMut(Vec<Item>) -> Result<(), ConductError>,
) -> Result<(u64, Notes), ConductError> {
    let mut scan = pilote_corpus::scan(source)?;
    let expected = limit.map_or(declared.count, |limit| limit.min(declared.count));
    let mut items = Vec::new();
    let mut found = 0;
    while limit.is_none_or(|limit| found < limit) {
        let Some(item) = scan.next() else { break };
        let item = item?;
        if items.len() as u64 == part_items {
            part(std::mem::take(&mut items))?;
        }
        items.push(item);
        found += 1;
        if found % NEWS_EVERY == 0 {
            progress.report(News::Indexing { items: found });
        }
    }
    progress.report(News::Indexing { items: found });
    if found != expected {
        declared.check_count(source, found)?;
    }
    if !items.is_empty() {
        part(items)?;
    }
    Ok((found, scan.notes().clone()))
}

/// Writes parts of an index as they come, then closes it.
pub(crate) struct IndexWriter {
    store: Arc<dyn Store>,
    closing: Closing,
}

impl IndexWriter {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, closing: Closing::default() }
    }

    pub(crate) fn part(&mut self, items: &[Item]) -> Result<(), ConductError> {
        let number = u32::try_from(self.closing.parts.len() + 1).unwrap_or(u32::MAX);
        let first = items.first().map_or(Position(self.closing.items), |item| item.position);
        let bytes = encode_part(items);
        create_new(&*self.store, &part_key(number), &bytes)?;
        self.closing.parts.push(PartEntry::of(number, first, items.len() as u64, &bytes));
        self.closing.items += items.len() as u64;
        Ok(())
    }

    pub(crate) fn close(mut self, notes: Notes) -> Result<Closing, ConductError> {
        self.closing.notes = notes;
        create_new(&*self.store, CLOSED_KEY, &self.closing.encode())?;
        Ok(self.closing)
    }
}

/// Creates a key in a directory that is this trial's own.
pub(crate) fn create_new(store: &dyn Store, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
    match store.create(key, bytes)? {
        Creation::Created => Ok(()),
        // A store behind a network may have lost the reply to its own first try.
        Creation::Exists if store.read(key)?.as_deref() == Some(bytes) => Ok(()),
        Creation::Exists => {
            Err(StoreError::io("create", key, std::io::Error::from(std::io::ErrorKind::AlreadyExists)))
        }
    }
}

/// The closing entry of a trial's index.
pub(crate) fn read_closing(store: &dyn Store) -> Result<Option<Closing>, ConductError> {
    Ok(store.read(CLOSED_KEY)?.map(|bytes| Closing::decode(&bytes)).transpose()?)
}

/// The items of one part of a trial's index, proved to be those that were closed.
pub(crate) fn read_part(store: &dyn Store, entry: &PartEntry) -> Result<Vec<Item>, ConductError> {
    let key = part_key(entry.part);
    let bytes = store.read(&key)?.ok_or(ConductError::IndexMissing { key })?;
    Ok(entry.decode(&bytes)?)
}
