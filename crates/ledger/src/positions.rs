//! A set of positions, small where they are neighbours.

use std::collections::BTreeMap;

use pilote_spec::Position;

/// Positions that share a block, one bit each.
const BLOCK: u64 = 4096;
type Block = [u64; (BLOCK / 64) as usize];

/// Positions, one bit each, in blocks of neighbours: a block for each 4,096 of a part keeps the map small enough that
/// looking one up costs next to nothing, and a stray position far away costs one block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions {
    /// No block is without a bit.
    blocks: BTreeMap<u64, Box<Block>>,
    count: u64,
}

/// Block, word within it and bit within that of a position.
fn place(position: Position) -> (u64, usize, u64) {
    let within = position.0 % BLOCK;
    (position.0 / BLOCK, usize::try_from(within / 64).unwrap_or(0), 1 << (within % 64))
}

impl Positions {
    /// Adds `position`; false where it was there.
    pub fn insert(&mut self, position: Position) -> bool {
        let (block, word, bit) = place(position);
        let block = self.blocks.entry(block).or_insert_with(|| Box::new([0; (BLOCK / 64) as usize]));
        let new = block[word] & bit == 0;
        block[word] |= bit;
        self.count += u64::from(new);
        new
    }

    /// Takes `position` out; false where it was not there.
    pub fn remove(&mut self, position: Position) -> bool {
        let (at, word, bit) = place(position);
        let Some(block) = self.blocks.get_mut(&at).filter(|block| block[word] & bit != 0) else {
            return false;
        };
        block[word] &= !bit;
        if block.iter().all(|word| *word == 0) {
            self.blocks.remove(&at);
        }
        self.count -= 1;
        true
    }

    /// Whether `position` is in the set.
    #[must_use]
    pub fn contains(&self, position: Position) -> bool {
        let (block, word, bit) = place(position);
        self.blocks.get(&block).is_some_and(|block| block[word] & bit != 0)
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
        self.blocks.iter().flat_map(|(at, block)| {
            (0..BLOCK).map(move |within| Position(at * BLOCK + within)).filter(move |position| {
                let (_, word, bit) = place(*position);
                block[word] & bit != 0
            })
        })
    }
}
