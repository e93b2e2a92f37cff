//! Damage to a copy, all of it in turn: every byte, every file, anything added.

use std::path::Path;

use pilote_proof::{Thoroughness, export, verify, verify_as};
use pilote_spec::Stamp;

use crate::archive::small;
use crate::support::{Fixture, contents};

/// A copy of the smallest trial.
fn copied() -> (Fixture, std::path::PathBuf) {
    let fixture = small();
    let copy = export(&fixture.trial, &fixture.elsewhere(), Stamp(1), &mut |_, _| {}).unwrap().copy;
    (fixture, copy)
}

fn is_whole(copy: &Path) -> bool {
    verify_as(copy, &Thoroughness { threads: 1, ..Thoroughness::default() }).unwrap().whole
}

#[test]
fn flipped_bytes_all_over_a_copy_are_found() {
    flip_each(11);
}

/// Flips every `step`-th byte of every file of a copy in turn; with 1 it is every byte, which `heavy` does.
pub(crate) fn flip_each(step: usize) {
    let (_fixture, copy) = copied();
    assert!(is_whole(&copy));
    for (name, bytes) in contents(&copy) {
        let path = copy.join(&name);
        for at in (0..bytes.len()).step_by(step) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            std::fs::write(&path, &changed).unwrap();
            // A digest says the same in capitals, where nothing else vouches for its letters.
            let capitals = ["tagmanifest-sha256.txt", "verification.json"].contains(&name.as_str())
                && changed.eq_ignore_ascii_case(&bytes);
            assert!(!is_whole(&copy) || capitals, "{name}: byte {at} of {}", bytes.len());
        }
        std::fs::write(&path, bytes).unwrap();
    }
    assert!(is_whole(&copy));
}

#[test]
fn every_file_of_a_copy_that_is_removed_cut_or_emptied_is_found() {
    let (_fixture, copy) = copied();
    for (name, bytes) in contents(&copy) {
        let path = copy.join(&name);
        std::fs::remove_file(&path).unwrap();
        assert!(!is_whole(&copy), "{name} removed");
        for length in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            std::fs::write(&path, &bytes[..length]).unwrap();
            // Without its last line end the list of the tag files says the same.
            let same = name == "tagmanifest-sha256.txt" && length + 1 == bytes.len();
            let spoilt = length < bytes.len() && !same;
            assert!(!spoilt || !is_whole(&copy), "{name} cut to {length}");
        }
        std::fs::write(&path, bytes).unwrap();
    }
    assert!(is_whole(&copy));
}

#[test]
fn every_file_that_is_added_to_a_copy_is_found() {
    let (_fixture, copy) = copied();
    let folders: std::collections::BTreeSet<String> = contents(&copy)
        .into_keys()
        .filter_map(|name| name.rsplit_once('/').map(|(folder, _)| folder.to_owned()))
        .chain([String::new(), "new".into(), "data/new".into(), ".new".into()])
        .collect();
    for folder in folders {
        for name in ["notes.txt", ".hidden", "000009", "results.jsonl~"] {
            let path = copy.join(&folder).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            let verification = verify(&copy).unwrap();
            let place = path.strip_prefix(&copy).unwrap().to_string_lossy().into_owned();
            assert!(!verification.whole, "{place}");
            assert!(verification.findings.iter().any(|finding| finding.place == place), "{place}");
            std::fs::remove_file(path).unwrap();
        }
    }
    assert!(is_whole(&copy));
}

#[test]
fn two_files_of_a_copy_that_changed_places_are_found() {
    let (_fixture, copy) = copied();
    let (one, other) = (copy.join("data/results.jsonl"), copy.join("data/refused.jsonl"));
    let (first, second) = (std::fs::read(&one).unwrap(), std::fs::read(&other).unwrap());
    std::fs::write(&one, &second).unwrap();
    std::fs::write(&other, &first).unwrap();
    assert!(!is_whole(&copy));
}
