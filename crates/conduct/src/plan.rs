//! Which items are asked together. A batch is a function of the index and the parameters alone: neither the number
//! of workers nor what is already done changes it, so what is computed after a crash is computed under the same
//! neighbours as before.

use std::collections::BTreeMap;

use pilote_spec::{Item, Outcome, Position, Reason, Refusal, WorkReason};

/// One part as it stands when it is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct PartWork {
    /// The part's number, from 1.
    pub part: u32,
    /// Every batch of the part, whether it is done or not.
    pub batches: Vec<Vec<Position>>,
    /// Outcomes that need no engine: faults that the index found, and outcomes carried over from another trial.
    pub known: Vec<(Position, Outcome)>,
    /// What is durable already.
    pub recorded: BTreeMap<Position, Recorded>,
}

/// What a durable record says of its position, as far as the work that is left depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Accepted.
    Accepted,
    /// Refused.
    Refused,
    /// Refused because the item ends the engine: it is never asked again, not even beside others.
    Poison,
}

impl From<&Outcome> for Recorded {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Accepted(_) => Self::Accepted,
            Outcome::Refused(Refusal { reason: Reason::Work(WorkReason::Poison), .. }) => Self::Poison,
            Outcome::Refused(_) => Self::Refused,
        }
    }
}

/// Cuts the items of one part into batches of `batch_items`, shortest items first so that a batch holds items of
/// like length. Items with a fault, and those that `asked` leaves out, are in no batch.
///
/// The order is by characters, then by position; records are keyed by position, so it never shows in results.
#[must_use]
pub fn batches(items: &[Item], batch_items: u64, asked: impl Fn(&Item) -> bool) -> Vec<Vec<Position>> {
    let mut order: Vec<(u64, Position)> = items
        .iter()
        .filter(|item| item.fault.is_none() && asked(item))
        .map(|item| (item.chars, item.position))
        .collect();
    order.sort_unstable();
    let size = usize::try_from(batch_items).unwrap_or(usize::MAX).max(1);
    order.chunks(size).map(|batch| batch.iter().map(|(_, position)| *position).collect()).collect()
}

/// The refusals that the index itself decides.
pub fn refusals(items: &[Item]) -> impl Iterator<Item = (Position, Outcome)> + '_ {
    items.iter().filter_map(|item| {
        item.fault.as_ref().map(|fault| (item.position, Outcome::Refused(Refusal::from(fault))))
    })
}
