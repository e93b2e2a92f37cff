//! What an earlier trial has of a corpus that grew since: which items are the same, which changed, which are gone.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pilote_corpus::index::{Closing, PartEntry};
use pilote_ledger::Store;
use pilote_spec::{Item, ItemId, Names, Position};

use crate::error::ConductError;
use crate::indexing;

/// Names of a list that are kept; its count is exact beyond it.
const NAMES_MAX: usize = 1_000;

/// The identifiers of an earlier trial by hash, 16 bytes each, whatever their length.
#[derive(Debug)]
pub(crate) struct Known(Vec<(u64, Position)>);

/// A part of the earlier trial, and items of now with their places in the list that it may hold.
type Candidates<'e, 'i> = (&'e PartEntry, Vec<(&'i Item, usize)>);

/// How a corpus differs from the one of an earlier trial.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Items whose outcomes are taken over.
    pub(crate) same: u64,
    /// Items that are computed: new ones, and those of which the content changed.
    pub(crate) asked: u64,
    /// Identifiers whose content changed.
    pub(crate) changed: Names,
    /// Identifiers that are not there any more.
    pub(crate) removed: Names,
}

impl Known {
    /// Reads the index of the earlier trial once.
    pub(crate) fn of(store: &dyn Store, closing: &Closing) -> Result<Self, ConductError> {
        let mut known = Vec::with_capacity(usize::try_from(closing.items).unwrap_or(0));
        for entry in &closing.parts {
            let items = indexing::read_part(store, entry)?;
            known.extend(
                items
                    .iter()
                    .filter(|item| item.fault.is_none())
                    .filter_map(|item| Some((hash(item.id.as_ref()?), item.position))),
            );
        }
        known.sort_unstable();
        Ok(Self(known))
    }

    /// Places in the list that may be those of `id`.
    fn at(&self, id: &ItemId) -> impl Iterator<Item = usize> + '_ {
        let wanted = hash(id);
        let first = self.0.partition_point(|(hash, _)| *hash < wanted);
        (first..self.0.len()).take_while(move |at| self.0[*at].0 == wanted)
    }

    /// The items among `items` that the earlier trial knew, each with what it was then and its place in the list, by the
    /// earlier part that holds them: every such part is read once.
    pub(crate) fn counterparts<'i>(
        &self,
        store: &dyn Store,
        closing: &Closing,
        items: &'i [Item],
    ) -> Result<BTreeMap<u32, Vec<Counterpart<'i>>>, ConductError> {
        let mut by_part: BTreeMap<u32, Candidates<'_, 'i>> = BTreeMap::new();
        for item in items.iter().filter(|item| item.fault.is_none()) {
            for at in item.id.iter().flat_map(|id| self.at(id)) {
                let Some(entry) = part_of(closing, self.0[at].1) else { continue };
                by_part.entry(entry.part).or_insert((entry, Vec::new())).1.push((item, at));
            }
        }
        let mut found = BTreeMap::new();
        for (part, (entry, pairs)) in by_part {
            let mut then = indexing::read_part(store, entry)?.into_iter().map(Some).collect::<Vec<_>>();
            let mut counterparts = Vec::new();
            for (now, at) in pairs {
                let place = usize::try_from(self.0[at].1.0 - entry.first.0).unwrap_or(usize::MAX);
                // Two identifiers of one hash are told apart here; each item of then is the counterpart of one of now.
                let Some(slot) = then.get_mut(place) else { continue };
                if let Some(then) = slot.take_if(|then| then.id == now.id) {
                    counterparts.push(Counterpart { now, then, at });
                }
            }
            found.insert(part, counterparts);
        }
        Ok(found)
    }

    /// Compares the index of a new trial with what is known of the earlier one.
    pub(crate) fn differences(
        &self,
        (store, closing): (&dyn Store, &Closing),
        (earlier, before): (&dyn Store, &Closing),
    ) -> Result<Differences, ConductError> {
        let mut differences = Differences::default();
        let mut seen = vec![false; self.0.len()];
        for entry in &closing.parts {
            let items = indexing::read_part(store, entry)?;
            let mut asked = items.iter().filter(|item| item.fault.is_none()).count() as u64;
            for counterpart in self.counterparts(earlier, before, &items)?.into_values().flatten() {
                seen[counterpart.at] = true;
                if counterpart.is_same() {
                    differences.same += 1;
                    asked = asked.saturating_sub(1);
                } else {
                    add(&mut differences.changed, counterpart.now.id.as_ref());
                }
            }
            differences.asked += asked;
        }
        let mut gone: Vec<Position> =
            self.0.iter().zip(seen).filter(|(_, seen)| !seen).map(|((_, position), _)| *position).collect();
        gone.sort_unstable();
        differences.removed.count = gone.len() as u64;
        gone.truncate(NAMES_MAX);
        let mut gone = gone.into_iter().peekable();
        for entry in &before.parts {
            let end = entry.first.0 + entry.items;
            if gone.peek().is_none_or(|position| position.0 >= end) {
                continue;
            }
            let items = indexing::read_part(earlier, entry)?;
            while let Some(position) = gone.next_if(|position| position.0 < end) {
                let place = usize::try_from(position.0 - entry.first.0).unwrap_or(usize::MAX);
                differences.removed.names.extend(items.get(place).and_then(|item| item.id.clone()));
            }
        }
        Ok(differences)
    }
}

/// An item that both trials know.
#[derive(Debug)]
pub(crate) struct Counterpart<'i> {
    pub(crate) now: &'i Item,
    pub(crate) then: Item,
    at: usize,
}

impl Counterpart<'_> {
    /// Whether its outcome can be taken over: what the engine is handed of it is what it was. Digest and columns of a
    /// row with the same bytes differ in meaning where a header changed, so they are compared as well.
    pub(crate) fn is_same(&self) -> bool {
        self.now.digest.is_some()
            && self.now.digest == self.then.digest
            && self.now.chars == self.then.chars
            && self.now.columns == self.then.columns
    }
}

fn add(names: &mut Names, id: Option<&ItemId>) {
    names.count += 1;
    if names.names.len() < NAMES_MAX {
        names.names.extend(id.cloned());
    }
}

fn part_of(closing: &Closing, position: Position) -> Option<&PartEntry> {
    let after = closing.parts.partition_point(|entry| entry.first <= position);
    closing.parts.get(after.checked_sub(1)?)
}

/// For this process alone; nothing that is kept rests on it.
fn hash(id: &ItemId) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.0.hash(&mut hasher);
    hasher.finish()
}
