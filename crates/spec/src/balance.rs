//! The account over all items: accepted + refused + pending = declared, and what must be zero beside it.

use serde::{Deserialize, Serialize};

/// The account of a trial. Machine-readable as it stands; `holds` is the verdict over all criteria.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    /// Positions of the index.
    pub declared: u64,
    /// Positions whose outcome is accepted.
    pub accepted: u64,
    /// Positions whose outcome is refused.
    pub refused: u64,
    /// Positions without an outcome.
    pub pending: u64,
    /// Expected items that the index does not hold: the declared count less the index, where that is positive.
    pub missing: u64,
    /// Positions with more than one record, and identifiers that stand at more than one position.
    pub duplicated: u64,
    /// Records, or answers of an engine, for something that the index does not hold.
    pub invented: u64,
    /// True when every criterion holds.
    pub holds: bool,
}

impl Balance {
    /// Whether the sum is right and nothing was lost, doubled or invented; says nothing of expected refusals.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        self.accepted + self.refused + self.pending == self.declared
            && self.missing == 0
            && self.duplicated == 0
            && self.invented == 0
    }
}

/// Counts outcomes by position as they are read, in any order. One bit pair a position.
#[derive(Debug, Clone)]
pub struct Tally {
    seen: Vec<u64>,
    declared: u64,
    accepted: u64,
    refused: u64,
    duplicated: u64,
    invented: u64,
}

impl Tally {
    /// A tally over `declared` positions, all pending.
    #[must_use]
    pub fn new(declared: u64) -> Self {
        let words = usize::try_from(declared.div_ceil(64)).unwrap_or(usize::MAX);
        Self { seen: vec![0; words], declared, accepted: 0, refused: 0, duplicated: 0, invented: 0 }
    }

    /// Counts one record. A second record of a position is counted as duplicated and changes nothing else; one
    /// beyond the declared positions is counted as invented.
    pub fn record(&mut self, position: crate::Position, accepted: bool) {
        let Some(word) = usize::try_from(position.0 / 64).ok().filter(|_| position.0 < self.declared) else {
            self.invented += 1;
            return;
        };
        let bit = 1 << (position.0 % 64);
        if self.seen[word] & bit != 0 {
            self.duplicated += 1;
            return;
        }
        self.seen[word] |= bit;
        if accepted {
            self.accepted += 1;
        } else {
            self.refused += 1;
        }
    }

    /// Counts something that was answered or recorded for no declared item.
    pub fn invented(&mut self, count: u64) {
        self.invented += count;
    }

    /// Counts identifiers that stand at more than one position.
    pub fn duplicated(&mut self, count: u64) {
        self.duplicated += count;
    }

    /// Whether a position has an outcome.
    #[must_use]
    pub fn is_done(&self, position: crate::Position) -> bool {
        usize::try_from(position.0 / 64)
            .ok()
            .and_then(|word| self.seen.get(word))
            .is_some_and(|word| word & (1 << (position.0 % 64)) != 0)
    }

    /// The account, `expected` being the declared number of items. `holds` is left false: only criteria set it.
    #[must_use]
    pub fn balance(&self, expected: u64) -> Balance {
        Balance {
            declared: self.declared,
            accepted: self.accepted,
            refused: self.refused,
            pending: self.declared - self.accepted - self.refused,
            missing: expected.saturating_sub(self.declared),
            duplicated: self.duplicated,
            invented: self.invented,
            holds: false,
        }
    }
}
