//! Ranges of numbers, and files that are handed over as they are.

use std::fs;

use pilote_corpus::{CorpusError, Given, ReadError, Source, digests, give, read};
use pilote_spec::{Digest, Duplicates, FaultCode, Inputs, Limits, Location, NumberRange};

use crate::folder::{Folder, error, id, items};

fn range(folder: &Folder, needs: &[&str]) -> Source {
    let range = NumberRange { first: 8, last: 12, step: 2, digits: 3 };
    let inputs = Inputs::Range { range, needs: needs.iter().map(|path| (*path).to_owned()).collect() };
    Source::new(folder.root(), &inputs, &Limits::default(), Duplicates::Stop)
}

fn files(folder: &Folder) -> Source {
    let inputs = Inputs::Files { files: "data".to_owned() };
    Source::new(folder.root(), &inputs, &folder.limits, Duplicates::Stop)
}

#[test]
fn the_numbers_of_a_range_are_items_without_a_text() {
    let folder = Folder::with(&[]);
    let source = range(&folder, &[]);
    let items = items(&source);
    assert_eq!(items.iter().map(id).collect::<Vec<_>>(), ["008", "010", "012"]);
    assert_eq!(items[1].location, Location::Number { number: 10 });
    assert_eq!((items[1].chars, &items[1].fault), (0, &None));
    assert_eq!(give(&source, &items[1]).unwrap(), Given::Text("10".to_owned()));
    assert_ne!(items[0].digest, items[1].digest);
}

#[test]
fn a_scene_that_changed_makes_every_number_another_item() {
    let folder = Folder::with(&[("box.blend", b"scene"), ("textures/deep/wood.png", b"wood")]);
    let source = range(&folder, &["data/box.blend", "data/textures/"]);
    let before = items(&source);
    assert_eq!(read(&source, &before[0]).unwrap(), "8");
    assert_eq!(
        digests(&source).unwrap().files,
        [("data/box.blend", "scene"), ("data/textures/deep/wood.png", "wood")]
            .map(|(path, bytes)| (path.to_owned(), Digest::of(bytes.as_bytes())))
            .into()
    );
    folder.write("textures/deep/wood.png", b"walnut");
    assert!(matches!(read(&source, &before[0]), Err(ReadError::Changed { seen: Some(_), .. })));
    assert_ne!(items(&source)[0].digest, before[0].digest);
    fs::remove_file(folder.path("box.blend")).unwrap();
    assert!(matches!(read(&source, &before[0]), Err(ReadError::Changed { seen: None, .. })));
}

#[test]
fn what_a_range_needs_must_be_there_before_the_first_number() {
    let folder = Folder::with(&[]);
    let error = error(&range(&folder, &["data/box.blend"]));
    assert!(matches!(&error, CorpusError::Missing { path } if path == "data/box.blend"), "{error}");
}

#[test]
fn files_that_are_no_text_are_handed_over_as_they_are() {
    let mut folder =
        Folder::with(&[("a/b.png", b"\x89PNG\r\n\x1a\n..."), ("empty.png", b""), ("z", &[0; 100])]);
    folder.limits.bytes = 50;
    let source = files(&folder);
    let items = items(&source);
    let faults: Vec<_> = items.iter().map(|item| item.fault.as_ref().map(|fault| fault.code)).collect();
    assert_eq!(faults, [None, Some(FaultCode::Empty), Some(FaultCode::TooLarge)]);
    assert_eq!((id(&items[0]), items[0].bytes, items[0].chars), ("a/b.png", 11, 0));
    assert_eq!(give(&source, &items[0]).unwrap(), Given::File(folder.path("a/b.png")));
    assert!(
        matches!(read(&source, &items[0]), Err(ReadError::Fault(fault)) if fault.code == FaultCode::UnsupportedKind)
    );
    folder.write("a/b.png", b"another");
    assert!(matches!(give(&source, &items[0]), Err(ReadError::Changed { seen: Some(_), .. })));
}
