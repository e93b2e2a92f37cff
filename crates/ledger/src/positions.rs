//! A set of positions, small where they are neighbours.

use std::collections::BTreeMap;

use pilote_spec::Position;

/// Positions, one bit each, in words of 64 neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions {
    words: BTreeMap<u64, u64>,
    count: u64,
}

impl Positions {
    /// Adds `position`; false where it was there.
    pub fn insert(&mut self, position: Position) -> bool {
        let word = self.words.entry(position.0 / 64).or_default();
        let bit = 1 << (position.0 % 64);
        let new = *word & bit == 0;
        *word |= bit;
        self.count += u64::from(new);
        new
    }

    /// Takes `position` out; false where it was not there.
    pub fn remove(&mut self, position: Position) -> bool {
        let bit = 1 << (position.0 % 64);
        let Some(word) = self.words.get_mut(&(position.0 / 64)).filter(|word| **word & bit != 0) else {
            return false;
        };
        *word &= !bit;
        if *word == 0 {
            self.words.remove(&(position.0 / 64));
        }
        self.count -= 1;
        true
    }

    /// Whether `position` is in the set.
    #[must_use]
    pub fn contains(&self, position: Position) -> bool {
        self.words.get(&(position.0 / 64)).is_some_and(|word| word & (1 << (position.0 % 64)) != 0)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The positions in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Position> {
        self.words.iter().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| Position(at * 64 + bit))
        })
    }
}
