//! What only another process can show: another user's rights, and a limit on memory.
#![cfg(target_os = "linux")]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use pilote_corpus::{Source, read, scan};
use pilote_spec::{Digest, Duplicates, Encoding, FaultCode, Inputs, Item, Limits, Location};

use crate::folder::{Folder, fault, ids};

const NOBODY: u32 = 65534;

/// Not a test of its own: the tests below run it in another process, whose working directory is a project.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn report_of_the_working_directory() {
    let inputs = [
        Inputs::Directory { directory: "data".to_owned(), encoding: Encoding::Utf8 },
        Inputs::Jsonl {
            jsonl: "rows.jsonl".into(),
            id: "id".to_owned(),
            text: "text".to_owned(),
            columns: Default::default(),
            encoding: Encoding::Utf8,
        },
    ];
    for inputs in inputs {
        let source = Source::new(Path::new("."), &inputs, &Limits::default(), Duplicates::Stop);
        match scan(&source) {
            Ok(scan) => scan.for_each(|item| {
                let item = item.unwrap();
                println!("\nITEM {}", serde_json::to_string(&item).unwrap());
                // Asked for an item whose index says that it is fine, reading tells what the system says now.
                if item.bytes <= Limits::default().bytes {
                    let fine = Item { fault: None, digest: Some(Digest::of(b"")), ..item };
                    println!("READ {}", read(&source, &fine).unwrap_err());
                }
            }),
            Err(error) => println!("\nERROR {error}"),
        }
    }
}

struct Report {
    items: Vec<Item>,
    reads: Vec<String>,
    errors: Vec<String>,
}

/// Runs the report in `root`, as nobody where this process may do everything, with `kilobytes` of address space.
fn report(root: &Path, kilobytes: Option<u64>) -> Report {
    // The build directory may be closed to others, so the program is copied to where nobody can start it.
    let program = root.join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("sh");
    let limit = kilobytes.map_or("unlimited".to_owned(), |kilobytes| kilobytes.to_string());
    command.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &limit]).arg(&program);
    command.args(["--exact", "other_user::report_of_the_working_directory", "--ignored", "--nocapture"]);
    if fs::metadata(&program).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.current_dir(root).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let lines = |word: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
    };
    let items = lines("ITEM ").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    Report { items, reads: lines("READ "), errors: lines("ERROR ") }
}

fn close(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
}

#[test]
fn what_the_user_may_not_read_is_refused_and_the_rest_is_read() {
    let folder = Folder::with(&[
        ("a.txt", b"words"),
        ("closed.txt", b"words"),
        ("d/x.txt", b"1"),
        ("z.txt", b"words"),
    ]);
    fs::write(folder.root().join("rows.jsonl"), "{}").unwrap();
    symlink("d/x.txt", folder.path("link.txt")).unwrap();
    fs::set_permissions(folder.root(), Permissions::from_mode(0o755)).unwrap();
    for closed in [&folder.path("closed.txt"), &folder.path("d"), &folder.root().join("rows.jsonl")] {
        close(closed);
    }
    let report = report(folder.root(), None);
    // The directory is opened again so that it can be removed.
    fs::set_permissions(folder.path("d"), Permissions::from_mode(0o755)).unwrap();

    assert_eq!(ids(&report.items), ["a.txt", "closed.txt", "d", "link.txt", "z.txt"]);
    assert_eq!(report.items[0].fault, None);
    assert_eq!(fault(&report.items[1]), (FaultCode::Unreadable, "permission denied"));
    assert_eq!((report.items[1].bytes, report.items[1].digest), (5, None));
    let directory = "a directory that cannot be listed: permission denied";
    assert_eq!(fault(&report.items[2]), (FaultCode::Unreadable, directory));
    assert_eq!(fault(&report.items[3]), (FaultCode::Unreadable, "permission denied"));
    assert_eq!(report.items[4].fault, None);
    assert!(
        report.reads[1].starts_with("`data/closed.txt` cannot be read: Permission denied"),
        "{}",
        report.reads[1]
    );
    assert_eq!(
        report.errors,
        [
            "the inputs `rows.jsonl` cannot be read: Permission denied (os error 13); give the user that runs pilote \
             the right to read them"
        ]
    );
}

#[test]
fn inputs_larger_than_the_memory_pass_by_in_a_small_buffer() {
    const LARGE: u64 = 200_000_000;
    let folder = Folder::with(&[("small.txt", b"words")]);
    fs::set_permissions(folder.root(), Permissions::from_mode(0o755)).unwrap();
    File::create(folder.path("large.txt")).unwrap().set_len(LARGE).unwrap();
    // One line of zero bytes; the digest of the same bytes is the same digest.
    File::create(folder.root().join("rows.jsonl")).unwrap().set_len(LARGE).unwrap();
    let items = report(folder.root(), Some(160_000)).items;
    assert_eq!(items.len(), 3);
    for large in [&items[0], &items[2]] {
        assert_eq!(fault(large), (FaultCode::TooLarge, "200000000 bytes, limit 16777216"));
        assert_eq!(large.bytes, LARGE);
        assert_eq!(large.digest, items[0].digest);
    }
    assert!(matches!(items[2].location, Location::Line { line: 1, .. }));
}
