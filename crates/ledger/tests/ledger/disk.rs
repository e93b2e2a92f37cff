//! What only a store on disk can do wrong.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};

use pilote_ledger::*;

use crate::support::*;

fn hidden(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn leftovers_of_dead_writers_are_ignored_and_cleared_away() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("parts/000001")).unwrap();
    fs::write(dir.path().join("parts/000001/.new-77-0"), "half a hea").unwrap();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    assert_eq!(store.list("parts/").unwrap(), []);
    drop(writer(&store, 1));
    assert_eq!(hidden(&dir.path().join("parts/000001")), [""; 0]);
}

#[test]
fn the_temporary_file_of_a_living_writer_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("parts/000001")).unwrap();
    let theirs = File::create(dir.path().join("parts/000001/.new-77-0")).unwrap();
    theirs.lock().unwrap();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir.path()).unwrap());
    drop(writer(&store, 1));
    assert_eq!(hidden(&dir.path().join("parts/000001")), [".new-77-0"]);
}

#[test]
fn no_temporary_name_stays_behind_a_creation_that_won_or_lost() {
    for (name, Place { store, dir }) in places() {
        let Some(dir) = dir else { continue };
        store.create("k", b"1").unwrap();
        store.create("k", b"2").unwrap();
        assert_eq!(hidden(dir.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_full_disk_is_named_and_the_appender_is_spent_by_it() {
    let dir = tempfile::tempdir().unwrap();
    symlink("/dev/full", dir.path().join("k")).unwrap();
    let store = DirStore::open(dir.path()).unwrap();
    let mut appender = store.appender("k").unwrap().unwrap();
    let error = appender.append(b"x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no space left while writing `k`; free some space, then take the trial up again with --resume"
    );
    assert!(matches!(appender.append(b"x"), Err(StoreError::Spent { .. })));
}

#[test]
fn a_failed_synchronisation_is_never_repeated() {
    let dir = tempfile::tempdir().unwrap();
    // The kernel refuses to synchronise this device, which stands for any disk that fails to.
    symlink("/dev/null", dir.path().join("k")).unwrap();
    let store = DirStore::open(dir.path()).unwrap();
    let mut appender = store.appender("k").unwrap().unwrap();
    appender.append(b"x").unwrap();
    assert!(matches!(appender.sync(), Err(StoreError::Io { doing: "make durable", .. })));
    let again = appender.sync().unwrap_err();
    assert!(again.to_string().contains("an earlier write to it failed"), "{again}");
}

#[test]
fn a_store_needs_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for name in ["absent", "file"] {
        let error = DirStore::open(&dir.path().join(name)).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_file_system_that_others_write_to_is_known_by_its_number() {
    for (magic, name, network) in [
        (0x6969, "nfs", true),
        (0xff53_4d42, "cifs", true),
        (0x0bd0_0bd0, "lustre", true),
        (0xef53, "ext4", false),
        (0x0102_1994, "tmpfs", false),
    ] {
        let file_system = FileSystem::of_magic(magic);
        assert_eq!((file_system.name(), file_system.is_network()), (name, network));
    }
    assert_eq!(FileSystem::of_magic(0x1234).to_string(), "a file system unknown here (0x1234)");
    assert!(!FileSystem::of(Path::new("/proc")).is_network());
}

#[test]
fn where_two_writers_cannot_be_kept_apart_the_message_names_the_file_system_and_a_way_out() {
    let error = StoreError::NoCreateIfAbsent { root: "/mnt/usb".into(), file_system: "exfat".to_owned() };
    assert_eq!(
        error.to_string(),
        "`/mnt/usb` is on exfat, which can neither make hard links nor rename without replacing, so two writers \
         could not be kept apart; put the trial on a local disk (ext4, xfs, btrfs) or on NFS, and copy it here \
         afterwards with `pilote export`"
    );
}

#[test]
fn opening_a_store_to_read_it_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = DirStore::open(dir.path()).unwrap();
    read_part(&store, 1).unwrap();
    verify_part(&store, 1).unwrap();
    parts(&store).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Notes every window that is reached.
#[derive(Default)]
struct Noted(Mutex<Vec<Window>>);

impl Failpoint for Noted {
    fn reached(&self, window: Window) {
        self.0.lock().unwrap().push(window);
    }
}

#[test]
fn a_commit_reaches_its_windows_in_the_order_that_the_protocol_needs() {
    let dir = tempfile::tempdir().unwrap();
    let noted = Arc::new(Noted::default());
    let failpoint: Arc<dyn Failpoint> = noted.clone();
    let store = DirStore::open(dir.path()).unwrap().with_failpoint(Arc::clone(&failpoint));
    let ledger = ledger(&(Arc::new(store) as Arc<dyn Store>), 1).with_failpoint(failpoint);
    let mut writer = opened(ledger.open_part(1).unwrap());
    writer.append(&[scripted(0), scripted(1)]).unwrap();
    writer.commit().unwrap();
    noted.0.lock().unwrap().clear();
    writer.append(&[scripted(3), scripted(4)]).unwrap();
    writer.commit().unwrap();
    writer.seal().unwrap();
    let expected = [
        Window::PayloadWritten,
        Window::PayloadSynced,
        Window::RecordsWritten,
        Window::RecordsSynced,
        Window::CommitDecided,
        Window::SealPrepared,
        Window::TemporaryWritten,
        Window::TemporarySynced,
        Window::Named,
        Window::DirectorySynced,
        Window::SealCreated,
    ];
    assert_eq!(*noted.0.lock().unwrap(), expected);
}
