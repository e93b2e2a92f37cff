use std::convert::Infallible;

use super::*;

fn place(line: u64) -> Place {
    Place { line, offset: line * 10, bytes: 9 }
}

fn id(text: &str) -> ItemId {
    ItemId(text.to_owned())
}

/// Shows texts one after the other, each on a line of its own.
fn sightings(texts: &[&str]) -> Vec<Sighting> {
    let mut identities = Identities::default();
    let sight = |(at, text): (usize, &&str)| {
        let again =
            |earlier: Place| Ok::<_, Infallible>(Some(id(texts[usize::try_from(earlier.line).unwrap()])));
        identities.see(&id(text), place(at as u64), again).unwrap()
    };
    texts.iter().enumerate().map(sight).collect()
}

#[test]
fn equal_is_equal_and_alike_is_told_apart() {
    let seen = sightings(&["a", "b", "A", "a", "A", "e\u{301}", "\u{c9}", "\u{c9}"]);
    let alike = |text| Sighting::Confusable(id(text));
    assert_eq!(
        seen,
        [
            Sighting::New,
            Sighting::New,
            alike("a"),
            Sighting::Again(place(0)),
            Sighting::Again(place(2)),
            Sighting::New,
            alike("e\u{301}"),
            Sighting::Again(place(6)),
        ]
    );
}

#[test]
fn a_hash_that_was_seen_without_its_text_is_no_duplicate() {
    let mut identities = Identities::default();
    let again = |_| Ok::<_, Infallible>(Some(id("another text with the same hash")));
    assert_eq!(identities.see(&id("a"), place(0), again), Ok(Sighting::New));
    let second = identities.see(&id("a"), place(1), again).unwrap();
    assert_eq!(second, Sighting::Confusable(id("another text with the same hash")));
}
