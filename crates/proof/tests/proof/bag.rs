//! Bags of others: the conformance suite of the Library of Congress, and what an export makes of names.

use std::path::{Path, PathBuf};

use pilote_proof::{Grade, Subject, Verification, verify};

/// The suite, unpacked for the life of the value.
fn suite() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bagit/conformance.tar.zst");
    let file = zstd::stream::read::Decoder::new(std::fs::File::open(path).unwrap()).unwrap();
    tar::Archive::new(file).unpack(dir.path()).unwrap();
    dir
}

/// The bags of a category, in all versions.
fn bags(suite: &Path, category: &str) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(suite).unwrap().map(|entry| entry.unwrap().path());
    let mut bags: Vec<PathBuf> = versions
        .filter(|version| version.join(category).is_dir())
        .flat_map(|version| std::fs::read_dir(version.join(category)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    bags.sort();
    bags
}

fn said(bag: &Path, verification: &Verification) -> String {
    format!("{}: {:#?}", bag.display(), verification.findings)
}

#[test]
fn every_bag_of_the_conformance_suite_is_judged_as_the_suite_says() {
    let suite = suite();
    let mut judged = 0;
    for (category, whole) in [
        ("valid", true),
        ("invalid", false),
        ("warning", true),
        ("linux-only", false),
        ("windows-only", false),
    ] {
        for bag in bags(suite.path(), category) {
            let verification = verify(&bag).unwrap();
            assert_eq!(verification.whole, whole, "{}", said(&bag, &verification));
            assert_eq!((verification.subject, verification.holds), (Subject::Bag, whole), "{category}");
            let warned = verification.findings.iter().any(|finding| finding.grade == Grade::Warning);
            assert!(category != "warning" || warned, "{}", said(&bag, &verification));
            judged += 1;
        }
    }
    // 54 on Linux, and six whose paths only Windows would follow.
    assert_eq!(judged, 60);
}

/// A small bag with these payload files.
fn bag(version: &str, files: &[(&str, &str)], listed: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("bagit.txt", &format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n"));
    files.iter().for_each(|(path, text)| write(&format!("data/{path}"), text));
    let line =
        |(path, text): &(&str, &str)| format!("{}  data/{path}\n", pilote_spec::Digest::of(text.as_bytes()));
    write("manifest-sha256.txt", &listed.iter().map(line).collect::<String>());
    dir
}

fn codes(dir: &tempfile::TempDir) -> Vec<&'static str> {
    verify(dir.path()).unwrap().findings.iter().map(|finding| finding.code.code()).collect()
}

#[test]
fn a_name_in_another_unicode_form_is_a_normalisation_and_neither_a_loss_nor_an_addition() {
    let (composed, decomposed) = ("cer\u{e1}mica.txt", "cera\u{301}mica.txt");
    let dir = bag("1.0", &[(decomposed, "x")], &[(composed, "x")]);
    assert_eq!(codes(&dir), ["name-normalised"]);
    assert!(verify(dir.path()).unwrap().whole);
    // Its bytes are compared all the same.
    let dir = bag("1.0", &[(decomposed, "y")], &[(composed, "x")]);
    assert_eq!(codes(&dir), ["name-normalised", "file-differs"]);
}

#[cfg(unix)]
#[test]
fn names_with_line_ends_and_percent_signs_are_read_as_the_rfc_encodes_them() {
    let files = [("a\nb", "1"), ("c\rd", "2"), ("100%", "3"), ("%0A", "4")];
    let listed = [("a%0Ab", "1"), ("c%0Dd", "2"), ("100%25", "3"), ("%250A", "4")];
    assert_eq!(codes(&bag("1.0", &files, &listed)), [""; 0]);
    // Drafts before the RFC left the percent sign alone.
    assert_eq!(
        codes(&bag("0.97", &[("100%25", "3"), ("5%", "1")], &[("100%25", "3"), ("5%", "1")])),
        [""; 0]
    );
}

#[test]
fn a_listed_file_that_is_absent_and_one_that_nobody_listed_are_both_said() {
    let dir = bag("1.0", &[("here", "1"), ("extra", "2")], &[("here", "1"), ("gone", "3")]);
    let mut found = codes(&dir);
    found.sort_unstable();
    assert_eq!(found, ["file-absent", "file-extra"]);
}

#[test]
fn every_wrong_declaration_is_told_what_is_wrong_with_it() {
    for (text, why) in [
        ("BagIt-Version: 1.0\n", "second line"),
        ("BagIt-Version: one\nTag-File-Character-Encoding: UTF-8\n", "version is not"),
        ("BagIt-Version: 1.0\nTag-File-Character-Encoding: nonsense\n", "encoding nonsense is not known"),
        ("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\nMore: x\n", "more than two lines"),
        ("Tag-File-Character-Encoding: UTF-8\nBagIt-Version: 1.0\n", "first line"),
    ] {
        let dir = bag("1.0", &[("a", "1")], &[("a", "1")]);
        std::fs::write(dir.path().join("bagit.txt"), text).unwrap();
        let verification = verify(dir.path()).unwrap();
        assert!(verification.findings[0].detail.contains(why), "{text}: {:?}", verification.findings);
    }
}

#[test]
fn a_file_that_is_to_be_fetched_is_never_asked_for_and_is_said_to_be_absent() {
    let dir = bag("1.0", &[("here", "1")], &[("here", "1"), ("far", "2")]);
    std::fs::write(dir.path().join("fetch.txt"), "http://example.org/far 1 data/far\n").unwrap();
    let mut found = codes(&dir);
    found.sort_unstable();
    assert_eq!(found, ["file-absent", "not-fetched"]);
}

#[test]
fn a_list_by_an_unknown_algorithm_is_said_and_is_no_list_by_itself() {
    let dir = bag("1.0", &[("a", "1")], &[("a", "1")]);
    std::fs::copy(dir.path().join("manifest-sha256.txt"), dir.path().join("manifest-blake9.txt")).unwrap();
    std::fs::remove_file(dir.path().join("manifest-sha256.txt")).unwrap();
    let found = codes(&dir);
    assert!(found.contains(&"list-note") && found.contains(&"manifest-unreadable"), "{found:?}");
}
