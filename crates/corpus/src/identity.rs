//! Which identifiers a scan has seen, without keeping their texts.
//!
//! Kept per identifier: the first half of the SHA-256 of its folded form and where its line stands, 40 bytes. A hash
//! that was seen leads to the earlier line, whose identifier is read again and compared as text, so equal means
//! equal.

use std::collections::HashMap;

use pilote_spec::{Digest, ItemId};

use crate::confusable::folded;

/// Where an identifier stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What is known of an identifier when it arrives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sighting {
    /// Never seen, nor anything like it.
    New,
    /// Never seen; it looks like this one.
    Confusable(ItemId),
    /// Seen before, there.
    Again(Place),
}

/// Half of a SHA-256. As bytes, since a 128-bit number would be padded to 48 bytes beside its place.
type Half = [u8; 16];

/// The identifiers seen so far.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    /// The first identifier of each folded form.
    first: HashMap<Half, Place>,
    /// The others, by their exact text.
    others: HashMap<Half, Place>,
}

impl Identities {
    /// Takes in an identifier; `again` reads the identifier at an earlier place.
    pub(crate) fn see<E>(
        &mut self,
        id: &ItemId,
        place: Place,
        mut again: impl FnMut(Place) -> Result<Option<ItemId>, E>,
    ) -> Result<Sighting, E> {
        let form = hash(&folded(id.as_str()));
        let Some(first) = self.first.get(&form).copied() else {
            self.first.insert(form, place);
            return Ok(Sighting::New);
        };
        let earlier = again(first)?;
        if earlier.as_ref() == Some(id) {
            return Ok(Sighting::Again(first));
        }
        let exact = hash(id.as_str());
        if let Some(other) = self.others.get(&exact).copied()
            && again(other)?.as_ref() == Some(id)
        {
            return Ok(Sighting::Again(other));
        }
        self.others.insert(exact, place);
        Ok(earlier.map_or(Sighting::New, Sighting::Confusable))
    }
}

fn hash(text: &str) -> Half {
    let digest = Digest::of(text.as_bytes());
    let mut half = Half::default();
    half.copy_from_slice(&digest.as_bytes()[..16]);
    half
}

#[cfg(test)]
mod tests;
