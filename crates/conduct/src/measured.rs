//! What a trial measured of its batches, with the lengths of their items: the basis of a projection.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pilote_corpus::index::PartEntry;
use pilote_ledger::{DirStore, PartReader, Store};
use pilote_spec::{Item, MeasureLine};

use crate::conductor::{origin_of, read_index, read_trial};
use crate::error::ConductError;
use crate::origin::Origin;
use crate::{indexing, plan, standing};

/// A batch as a trial measured it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchMeasured {
    /// Its items.
    pub items: u64,
    /// Its longest item, in characters.
    pub longest: u64,
    /// Seconds from the end of the batch before it to its own, so that batches under way at once are counted once.
    pub seconds: f64,
}

/// Parts of which the lengths are read, spread evenly over a larger trial: to answer while somebody waits.
const PARTS_MAX: usize = 64;

/// What a trial measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Items of a batch, as it was launched.
    pub batch_items: u64,
    /// Its batches.
    pub batches: Vec<BatchMeasured>,
}

/// The whole batches that the trial in `dir` measured, part by part. The first batch of each start is the warm-up and is
/// left out, as is what was asked again alone.
///
/// # Errors
/// When the trial or its index cannot be read. A line of measures that is cut off by a crash is passed over.
pub fn measured(dir: &Path) -> Result<Measured, ConductError> {
    let trial = read_trial(dir)?;
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir)?);
    let closing = read_index(&*store)?;
    let origin = origin_of(dir, &trial)?;
    let mut by_part: BTreeMap<u32, Vec<(MeasureLine, f64)>> = BTreeMap::new();
    for file in store.list("measures/")? {
        let bytes = store.read(&file.key)?.unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut before = None;
        for line in lines.filter_map(|line| serde_json::from_slice::<MeasureLine>(line).ok()) {
            let at = std::time::Duration::from_micros(line.at_us);
            if let Some(before) = before.replace(at) {
                let seconds = at.saturating_sub(before).as_secs_f64();
                by_part.entry(line.part).or_default().push((line, seconds));
            }
        }
    }
    let mut measured = Vec::new();
    let step = by_part.len().div_ceil(PARTS_MAX).max(1);
    for (part, lines) in by_part.into_iter().step_by(step) {
        let Some(entry) = closing.parts.iter().find(|entry| entry.part == part) else { continue };
        let longest = longest(&*store, entry, origin.as_ref(), trial.batch_items)?;
        measured.extend(lines.into_iter().filter_map(|(line, seconds)| {
            let (items, longest) = *longest.get(usize::try_from(line.batch).ok()?)?;
            (items == line.items).then_some(BatchMeasured { items, longest, seconds })
        }));
    }
    Ok(Measured { batch_items: trial.batch_items, batches: measured })
}

/// About how many items of each length in characters the trial in `dir` has still to ask, shortest first. Of a trial with
/// many open parts some are read, and their lengths stand for all.
///
/// # Errors
/// When the trial, its index or its records cannot be read.
pub fn pending(dir: &Path) -> Result<BTreeMap<u64, u64>, ConductError> {
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir)?);
    let closing = read_index(&*store)?;
    let mut open = Vec::new();
    for entry in &closing.parts {
        if PartReader::new(&*store, entry.part)?.seal().is_none() {
            open.push(entry);
        }
    }
    let all: u64 = open.iter().map(|entry| entry.items).sum();
    let step = open.len().div_ceil(PARTS_MAX).max(1);
    let (mut lengths, mut read) = (BTreeMap::new(), 0);
    for entry in open.into_iter().step_by(step) {
        let recorded = standing::recorded(&*store, entry.part)?;
        read += entry.items;
        for item in indexing::read_part(&*store, entry)? {
            if item.fault.is_none() && !recorded.contains_key(&item.position) {
                *lengths.entry(item.chars).or_insert(0) += 1;
            }
        }
    }
    if read < all {
        for count in lengths.values_mut() {
            *count = (*count * all).div_ceil(read);
        }
    }
    Ok(lengths)
}

/// Items and longest item of each batch of a part, as the plan cuts them.
fn longest(
    store: &dyn Store,
    entry: &PartEntry,
    origin: Option<&Origin>,
    batch_items: u64,
) -> Result<Vec<(u64, u64)>, ConductError> {
    let items = indexing::read_part(store, entry)?;
    let carried = origin.map(|origin| origin.carried(entry.part, &items)).transpose()?.unwrap_or_default();
    let not_asked: std::collections::BTreeSet<_> = carried.iter().map(|(position, _)| *position).collect();
    let chars: BTreeMap<_, u64> = items.iter().map(|item| (item.position, item.chars)).collect();
    let asked = |item: &Item| !not_asked.contains(&item.position);
    let batches = plan::batches(&items, batch_items, asked);
    Ok(batches
        .iter()
        .map(|batch| {
            let longest = batch.iter().filter_map(|position| chars.get(position)).max();
            (batch.len() as u64, longest.copied().unwrap_or(0))
        })
        .collect())
}
