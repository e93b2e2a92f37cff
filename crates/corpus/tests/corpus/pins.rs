//! Fixed digests of the pilot's inputs.

use std::fs;
use std::process::Command;

use pilote_corpus::{Difference, DifferenceKind, Pins, digests};
use pilote_spec::Digest;

use crate::folder::Folder;

#[test]
fn changed_absent_and_extra_files_are_named() {
    let folder = Folder::with(&[("a.txt", b"a"), ("b.txt", b"b"), ("d/c.txt", b"c")]);
    let fixed = digests(&folder.directory()).unwrap();
    assert_eq!(fixed.differences(&digests(&folder.directory()).unwrap()), []);
    folder.write("a.txt", b"A");
    fs::remove_file(folder.path("b.txt")).unwrap();
    folder.write("e.pdf", b"%PDF-1.7");
    let differences = fixed.differences(&digests(&folder.directory()).unwrap());
    let words: Vec<_> = differences.iter().map(ToString::to_string).collect();
    let (before, after) = (Digest::of(b"a"), Digest::of(b"A"));
    assert_eq!(
        words,
        [
            format!("`data/a.txt` changed: its digest was fixed as {before} and is {after}"),
            "`data/b.txt` is fixed and is not there, or cannot be read".to_owned(),
            "`data/e.pdf` is there and no digest of it was fixed".to_owned(),
        ]
    );
}

#[test]
fn refused_inputs_are_fixed_as_well() {
    let folder = Folder::with(&[("a.pdf", b"%PDF-"), ("empty.txt", b"")]);
    let names: Vec<_> = digests(&folder.directory()).unwrap().files.into_keys().collect();
    assert_eq!(names, ["data/a.pdf", "data/empty.txt"]);
}

#[test]
fn a_file_of_rows_is_fixed_as_a_whole() {
    let folder = Folder::rows("{\"id\":1,\"text\":\"one\"}\n");
    let fixed = digests(&folder.jsonl()).unwrap();
    assert_eq!(
        fixed.to_string(),
        format!("{}  data/rows.jsonl\n", Digest::of(b"{\"id\":1,\"text\":\"one\"}\n"))
    );
    folder.write("rows.jsonl", b"{}\n");
    let differences = fixed.differences(&digests(&folder.jsonl()).unwrap());
    assert!(matches!(differences[..], [Difference { kind: DifferenceKind::Changed { .. }, .. }]));
}

#[cfg(target_os = "linux")]
#[test]
fn sha256sum_checks_what_is_written_and_its_own_lines_are_read() {
    let folder = Folder::with(&[("plain.txt", b"1"), ("new\nline\\.txt", b"2"), ("a b.txt", b"3")]);
    let pins = digests(&folder.directory()).unwrap();
    fs::write(folder.root().join("sums"), pins.to_string()).unwrap();
    let run = |arguments: &[&str]| {
        Command::new("sha256sum").args(arguments).current_dir(folder.root()).output().unwrap()
    };
    assert!(run(&["--check", "--strict", "--status", "sums"]).status.success());
    let theirs = run(&["data/plain.txt", "data/new\nline\\.txt", "./data//a b.txt"]).stdout;
    assert_eq!(Pins::parse(&String::from_utf8(theirs).unwrap()).unwrap(), pins);
}

#[test]
fn what_was_written_is_read_again_in_every_form() {
    let digest = Digest::of(b"x");
    for name in ["a", "a  b", "*a", "a\\nb", "a\nb\r", "é"] {
        let pins = Pins { files: [(name.to_owned(), digest)].into() };
        assert_eq!(Pins::parse(&pins.to_string()).unwrap(), pins, "{name:?}");
    }
    let pins = Pins::parse(&format!("\u{feff}{digest} *./a\r\n\r\n{digest}  b\r\n")).unwrap();
    assert_eq!(pins.files.into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn lines_of_another_form_are_told_with_their_number() {
    let digest = Digest::of(b"x");
    let form = "each line is a sha256 digest, two spaces and a path, as sha256sum writes them";
    for (text, line, what) in [
        ("words\n".to_owned(), 1, "no path"),
        (format!("{digest}  a\nabc  b\n"), 2, "no sha256 digest at the start"),
        (format!("{digest} a\n"), 1, "one space in place of two"),
        (format!("\\{digest}  a\\x\n"), 1, "a wrong escape"),
        (format!("{digest}  a\n\n{digest}  ./a\n"), 3, "`a` stands a second time"),
    ] {
        assert_eq!(Pins::parse(&text).unwrap_err().to_string(), format!("line {line}: {what}; {form}"));
    }
}
