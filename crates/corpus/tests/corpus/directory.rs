//! Directories: order, places that are no files, kinds, sizes and names.

use std::fs::{self, File};

use pilote_spec::{Digest, Encoding, FaultCode, Location};

use crate::folder::{Folder, all, error, fault, ids, items, only};

#[test]
fn items_stand_in_the_byte_order_of_their_paths() {
    let folder =
        Folder::with(&[("b/z.txt", b"1"), ("b.txt", b"2"), ("b0", b"3"), ("B.txt", b"4"), ("a/a/a", b"5")]);
    let items = items(&folder.directory());
    assert_eq!(ids(&items), ["B.txt", "a/a/a", "b.txt", "b/z.txt", "b0"]);
    let mut sorted = ids(&items);
    sorted.sort_unstable();
    assert_eq!(ids(&items), sorted);
}

#[test]
fn an_item_has_digest_bytes_characters_and_location() {
    let item = only("é.txt", "écrit".as_bytes(), Encoding::Utf8);
    assert_eq!(item.digest, Some(Digest::of("écrit".as_bytes())));
    assert_eq!((item.bytes, item.chars), (6, 5));
    assert_eq!(item.location, Location::File { path: "é.txt".to_owned(), raw: false });
    assert_eq!(item.fault, None);
}

#[test]
fn inputs_that_are_not_there_stop_the_launch_and_say_what_to_do() {
    let folder = Folder::with(&[]);
    fs::remove_dir(folder.path("")).unwrap();
    let error = error(&folder.directory());
    assert_eq!(error.code(), "inputs-missing");
    assert_eq!(
        error.to_string(),
        "the inputs `data` are not there; create them, or correct `inputs` in config/pilote.json (the path is \
         relative to the project)"
    );
}

#[test]
fn a_file_in_place_of_the_directory_stops_the_launch() {
    let folder = Folder::with(&[]);
    fs::remove_dir(folder.path("")).unwrap();
    fs::write(folder.root().join("data"), "text").unwrap();
    let error = error(&folder.directory());
    assert_eq!(
        error.to_string(),
        "the inputs `data` are a file, and a directory was declared; correct `inputs` in config/pilote.json"
    );
}

#[test]
fn a_directory_without_files_has_no_items() {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.path("empty")).unwrap();
    assert_eq!(items(&folder.directory()), []);
}

#[test]
fn empty_files_are_refused_and_keep_their_version() {
    let item = only("a.txt", b"", Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Empty, "0 bytes"));
    assert_eq!(item.digest, Some(Digest::of(b"")));
    let item = only("a.txt", " \r\n\t\u{3000}\u{2028}".as_bytes(), Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Empty, "nothing but white space"));
    let item = only("a.txt", b"\xef\xbb\xbf", Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Empty, "nothing but white space"));
}

#[test]
fn a_nul_inside_a_text_is_refused_with_its_place() {
    let item = only("a.txt", "né\0e".as_bytes(), Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Nul, "character 2 of the text"));
}

#[test]
fn a_file_beyond_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let mut folder = Folder::with(&[("at.txt", b"12345"), ("over.txt", b"123456")]);
    folder.limits.bytes = 5;
    let items = items(&folder.directory());
    assert_eq!(items[0].fault, None);
    assert_eq!(fault(&items[1]), (FaultCode::TooLarge, "6 bytes, limit 5"));
    assert_eq!(items[1].digest, Some(Digest::of(b"123456")), "its version is known all the same");
    assert_eq!(items[1].chars, 0);
}

#[test]
fn fifty_megabytes_are_refused_with_figures() {
    let folder = Folder::with(&[("small.txt", b"small")]);
    File::create(folder.path("large.txt")).unwrap().set_len(50_000_000).unwrap();
    let items = items(&folder.directory());
    assert_eq!(fault(&items[0]), (FaultCode::TooLarge, "50000000 bytes, limit 16777216"));
    assert_eq!(items[0].bytes, 50_000_000);
    assert!(items[0].digest.is_some());
    assert_eq!(items[1].fault, None);
}

#[test]
fn kinds_that_are_no_text_are_refused_by_their_first_bytes_whatever_the_name() {
    let cases: [(&[u8], &str); 12] = [
        (b"%PDF-1.7\n...", "pdf"),
        (b"\x89PNG\r\n\x1a\n....", "image"),
        (b"\xff\xd8\xff\xe0....", "image"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image"),
        (b"PK\x03\x04......", "archive"),
        (b"\x1f\x8b\x08....", "archive"),
        (b"\x7fELF\x02\x01\x01\0", "program"),
        (b"MZ\x90\0\x03\0\0\0", "program"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1..", "old-office"),
        (b"{\\rtf1\\ansi text}", "rtf"),
        (b"SQLite format 3\0", "database"),
        (b"\0\0\0\x20ftypmp42\0\0", "audio-video"),
    ];
    for (bytes, kind) in cases {
        for name in ["a.txt", "a.md", "a", "a.dat"] {
            let item = only(name, bytes, Encoding::Utf8);
            assert_eq!(fault(&item), (FaultCode::UnsupportedKind, kind), "{name}");
            assert!(item.digest.is_some());
        }
    }
}

#[test]
fn office_documents_are_archives_that_are_named_by_their_extension() {
    let kinds = [("a.docx", "word"), ("a.XLSX", "spreadsheet"), ("a.pptx", "slides"), ("a.epub", "book")];
    for (name, kind) in kinds.into_iter().chain([("a.zip", "archive")]) {
        let item = only(name, b"PK\x03\x04rest", Encoding::Utf8);
        assert_eq!(fault(&item), (FaultCode::UnsupportedKind, kind));
    }
}

#[test]
fn a_name_that_says_another_kind_is_enough_to_refuse() {
    for (name, kind) in [("a.pdf", "pdf"), ("a.JPG", "image"), ("a.exe", "program"), ("a.parquet", "table")] {
        let item = only(name, b"plain words", Encoding::Utf8);
        assert_eq!(fault(&item), (FaultCode::UnsupportedKind, kind));
    }
}

#[test]
fn plain_text_is_read_whatever_its_extension() {
    let log = b"\x1b[1mbold\x1b[0m \x07 a\x08b\r\n\x1a";
    assert_eq!(only("old.log", log, Encoding::Utf8).fault, None);
    for name in ["a.log", "README", ".hidden", "a.csv", "a.md", "a.text", "MZ.b"] {
        assert_eq!(only(name, b"BM, MZ, ID3, RIFF, ftyp and BZh are words here", Encoding::Utf8).fault, None);
    }
    for words in
        ["BMW builds cars", "MZ was here", "RIFF raff", "ID3 tags", "OggS", "BZh", "the ftyp box", "PAR1"]
    {
        assert_eq!(only("a.txt", words.as_bytes(), Encoding::Utf8).fault, None, "{words}");
    }
}

#[test]
fn bytes_without_a_telling_name_that_are_plainly_no_text_are_binary() {
    for bytes in [&b"some\0thing"[..], b"\x01\x02\x03", b"ab\x7f"] {
        let item = only("blob", bytes, Encoding::Utf8);
        assert_eq!(fault(&item), (FaultCode::UnsupportedKind, "binary"));
    }
    let item = only("notes.log", b"caf\xe9", Encoding::Utf8);
    assert_eq!(
        fault(&item),
        (FaultCode::Encoding, "no UTF-8 at byte 3"),
        "a wrong encoding is not called binary"
    );
}

#[test]
fn files_that_systems_leave_behind_are_counted_and_no_items() {
    let folder =
        Folder::with(&[("a/.DS_Store", b"\0\0"), ("Thumbs.db", b"\0"), (".hidden", b"words"), ("a/x", b"x")]);
    let (items, notes) = all(&folder.directory());
    assert_eq!(ids(&items), [".hidden", "a/x"]);
    assert_eq!(notes.skipped_files, 2);
    assert_eq!(notes.events(), [("skipped-files", "2".to_owned())]);
}

// Fault row: two image names that differ only in how an accent is composed are both there; they stay apart and the
// pair is named.
#[test]
fn names_that_differ_by_normalisation_or_case_are_kept_apart_and_named() {
    let folder =
        Folder::with(&[("e\u{301}.png", b"1"), ("\u{e9}.png", b"2"), ("d/Straße", b"3"), ("d/STRAßE", b"4")]);
    let (items, notes) = all(&folder.directory());
    assert_eq!(ids(&items), ["d/STRAßE", "d/Straße", "e\u{301}.png", "\u{e9}.png"]);
    assert_eq!(notes.confusable, 2);
    let pairs: Vec<_> =
        notes.confusable_pairs.iter().map(|p| (p.first.as_str(), p.second.as_str())).collect();
    assert_eq!(pairs, [("e\u{301}.png", "\u{e9}.png"), ("d/STRAßE", "d/Straße")]);
    assert_eq!(
        notes.events(),
        [(
            "confusable-ids",
            "2: \"e\\u{301}.png\" and \"\u{e9}.png\"; \"d/STRAßE\" and \"d/Straße\"".to_owned()
        )]
    );
}

#[test]
fn folders_that_differ_by_case_are_named_once_for_all_that_is_in_them() {
    let folder = Folder::with(&[("Data/a", b"1"), ("data/a", b"2"), ("data/b", b"3")]);
    let (items, notes) = all(&folder.directory());
    assert_eq!(items.len(), 3);
    assert_eq!((notes.confusable, notes.confusable_pairs[0].second.as_str()), (1, "data"));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_link_to_a_file_inside_is_read() {
        let folder = Folder::with(&[("real.txt", b"words")]);
        symlink("real.txt", folder.path("link.txt")).unwrap();
        let items = items(&folder.directory());
        assert_eq!(ids(&items), ["link.txt", "real.txt"]);
        assert_eq!(items[0].fault, None);
        assert_eq!(items[0].digest, items[1].digest);
    }

    #[test]
    fn inputs_that_are_a_link_themselves_are_followed() {
        let folder = Folder::with(&[]);
        fs::rename(folder.path(""), folder.root().join("elsewhere")).unwrap();
        fs::write(folder.root().join("elsewhere/a.txt"), "words").unwrap();
        symlink("a.txt", folder.root().join("elsewhere/b.txt")).unwrap();
        symlink("elsewhere", folder.root().join("data")).unwrap();
        let items = items(&folder.directory());
        assert_eq!(ids(&items), ["a.txt", "b.txt"]);
        assert!(items.iter().all(|item| item.fault.is_none()));
    }

    #[test]
    fn links_and_other_things_in_place_of_a_file_are_refused_and_say_what_they_are() {
        let folder = Folder::with(&[("d/x.txt", b"words")]);
        fs::write(folder.root().join("secret"), "not declared").unwrap();
        symlink("nowhere", folder.path("1-dangling")).unwrap();
        symlink("d", folder.path("2-directory")).unwrap();
        symlink("..", folder.path("d/3-up")).unwrap();
        symlink("4-itself", folder.path("4-itself")).unwrap();
        symlink("../secret", folder.path("5-outside")).unwrap();
        symlink("/dev/null", folder.path("6-device")).unwrap();
        // Opening a named pipe would wait for a writer for ever; this test ends, so none is opened.
        assert!(Command::new("mkfifo").arg(folder.path("7-pipe")).status().unwrap().success());
        let _listener = UnixListener::bind(folder.path("8-socket")).unwrap();
        let items = items(&folder.directory());
        let faults: Vec<_> = items.iter().filter(|i| i.fault.is_some()).map(fault).collect();
        let details = [
            "a link to nothing",
            "a link to a directory",
            "a link that leads nowhere",
            "a link that leads out of the inputs",
            "a link to a device",
            "a named pipe",
            "a socket",
            "a link to a directory",
        ];
        assert_eq!(faults, details.map(|detail| (FaultCode::NotAFile, detail)));
        assert_eq!(items.last().unwrap().fault, None, "the file beside them is read");
        assert!(items.iter().filter(|item| item.fault.is_some()).all(|item| item.digest.is_none()));
    }

    #[test]
    fn a_name_that_is_not_utf_8_has_a_place_and_no_identifier() {
        let folder = Folder::with(&[("a.txt", b"words")]);
        fs::write(folder.path("").join(OsStr::from_bytes(b"caf\xe9 100%.txt")), "words").unwrap();
        fs::create_dir(folder.path("").join(OsStr::from_bytes(b"\xff"))).unwrap();
        fs::write(folder.path("").join(OsStr::from_bytes(b"\xff/x.txt")), "").unwrap();
        symlink("nowhere", folder.path("").join(OsStr::from_bytes(b"\xfe"))).unwrap();
        let items = items(&folder.directory());
        assert_eq!(ids(&items), ["a.txt", "-", "-", "-"]);
        let path = |at: usize| match &items[at].location {
            Location::File { path, raw: true } => path.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (path(1), path(2), path(3)),
            ("caf%E9%20100%25.txt".into(), "%FE".into(), "%FF/x.txt".into())
        );
        let encoded = "the name is percent-encoded in the location";
        assert_eq!(fault(&items[1]), (FaultCode::NameNotUtf8, encoded));
        assert_eq!(items[1].digest, Some(Digest::of(b"words")), "its version is known");
        assert_eq!(fault(&items[2]), (FaultCode::NameNotUtf8, "a link to nothing"));
        assert_eq!(fault(&items[3]), (FaultCode::NameNotUtf8, encoded));
    }

    #[test]
    fn names_with_line_ends_quotes_and_dollars_are_names_like_others() {
        let name = "a b/é'\"$(x)\n\\.txt";
        let folder = Folder::with(&[(name, b"words")]);
        let items = items(&folder.directory());
        assert_eq!(ids(&items), [name]);
        assert_eq!(pilote_corpus::read(&folder.directory(), &items[0]).unwrap(), "words");
    }

    #[test]
    fn inputs_are_not_changed_by_scanning_and_reading() {
        let folder = Folder::with(&[("a.txt", b"words")]);
        let before = fs::metadata(folder.path("a.txt")).unwrap().modified().unwrap();
        let items = items(&folder.directory());
        pilote_corpus::read(&folder.directory(), &items[0]).unwrap();
        assert_eq!(fs::metadata(folder.path("a.txt")).unwrap().modified().unwrap(), before);
        assert_eq!(fs::read(folder.path("a.txt")).unwrap(), b"words");
    }
}
