use super::*;

fn place(line: u64) -> Place {
    Place { file: 0, line }
}

fn id(text: &str) -> ItemId {
    ItemId(text.to_owned())
}

/// Shows texts one after the other, each on a line of its own.
fn sightings(texts: &[&str]) -> Vec<Sighting> {
    let mut identities = Identities::default();
    (0..).zip(texts).map(|(at, text)| identities.see(&id(text), Position(at), place(at))).collect()
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
fn one_hash_with_another_text_is_no_duplicate() {
    let mut identities = Identities::default();
    let entry = |position, text| Entry { position: Position(position), place: place(position), text };
    assert_eq!(identities.see_as([7; 16], &entry(0, "a")), Sighting::New);
    assert_eq!(identities.see_as([7; 16], &entry(1, "b")), Sighting::Confusable(id("a")));
    assert_eq!(identities.see_as([7; 16], &entry(2, "b")), Sighting::Again(place(1)));
}

#[test]
fn what_is_put_aside_is_told_as_it_would_have_been_told_at_once() {
    let texts: Vec<String> = (0..20_000).map(|n| format!("document {}", n % 15_000)).collect();
    let scratch = tempfile::tempdir().unwrap();
    let mut kept = Identities::default();
    let buckets = Buckets::new(scratch.path(), BUCKETS, 500).unwrap();
    let mut aside = Aside { buckets, entry: Vec::new() };
    for (at, text) in (0..).zip(&texts) {
        if at < 100 {
            kept.see(&id(text), Position(at), place(at));
        } else {
            if at == 100 {
                aside.take(&std::mem::take(&mut kept)).unwrap();
            }
            aside.add(&id(text), Position(at), place(at)).unwrap();
        }
    }
    assert!(aside.buckets.written() > 100_000, "most of it lies in the scratch file");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "which nobody sees");
    let mut told = Told::new(scratch.path(), 20_000).unwrap();
    let mut found = Vec::new();
    aside
        .look_through(&mut Notes::default(), |duplicate| {
            told.add(duplicate.position, duplicate.first)?;
            found.push((duplicate.second.line, duplicate.first.line));
            Ok(())
        })
        .unwrap();
    found.sort_unstable();
    assert_eq!(found, (15_000..20_000).map(|line| (line, line - 15_000)).collect::<Vec<_>>());
    for position in 0..20_000 {
        let first = told.first(Position(position)).unwrap();
        assert_eq!(first, (position >= 15_000).then(|| place(position - 15_000)));
    }
}

#[test]
fn pairs_that_look_alike_are_counted_and_the_first_of_them_named() {
    let scratch = tempfile::tempdir().unwrap();
    let mut aside = Aside::new(scratch.path()).unwrap();
    for (at, text) in (0..).zip(["b", "a", "B", "A", "c"]) {
        aside.add(&id(text), Position(at), place(at)).unwrap();
    }
    let mut notes = Notes::default();
    aside.look_through(&mut notes, |_| Ok(())).unwrap();
    assert_eq!(notes.events(), [("confusable-ids", "2: \"b\" and \"B\"; \"a\" and \"A\"".to_owned())]);
}
