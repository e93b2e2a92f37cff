//! One pass over the declared inputs: every file or row becomes an item, in a stable order.

use pilote_spec::{Inputs, Item, Position};

use crate::files::Files;
use crate::notes::Notes;
use crate::range::Numbers;
use crate::rows::Rows;
use crate::shape::Shape;
use crate::source::{CorpusError, Source};

/// Opens the declared inputs.
///
/// # Errors
/// When they are not there, are of another kind than declared, or cannot be listed at all.
pub fn scan(source: &Source) -> Result<Scan, CorpusError> {
    let mut notes = Notes::default();
    let walk = match (Shape::of(&source.inputs), &source.inputs) {
        (None, Inputs::Range { range, .. }) => Walk::Numbers(Numbers::open(source, *range)?),
        (None, _) => Walk::Files(Box::new(Files::open(source, &mut notes)?)),
        (Some(shape), _) => Walk::Rows(Box::new(Rows::open(source, shape, &mut notes)?)),
    };
    Ok(Scan { walk, notes, next: 0, ended: false })
}

/// The items of the declared inputs, one after the other. Memory per item is bounded by the declared limit; what
/// stays is nothing for a directory or a range, and for rows their identifiers up to a number, and a bounded share of them in
/// scratch files beyond it. After an error it ends.
#[derive(Debug)]
pub struct Scan {
    walk: Walk,
    notes: Notes,
    next: u64,
    ended: bool,
}

#[derive(Debug)]
enum Walk {
    Files(Box<Files>),
    Numbers(Numbers),
    Rows(Box<Rows>),
}

impl Scan {
    /// What was noticed so far; complete once the iteration has ended.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }
}

impl Iterator for Scan {
    type Item = Result<Item, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let position = Position(self.next);
        let item = match &mut self.walk {
            Walk::Files(files) => files.next(position, &mut self.notes).map(Ok),
            Walk::Numbers(numbers) => numbers.next(position).map(Ok),
            Walk::Rows(rows) => rows.next(position, &mut self.notes).transpose(),
        };
        self.next += 1;
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}
