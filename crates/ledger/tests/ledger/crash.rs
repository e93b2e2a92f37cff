//! Real processes, killed in every window between two durable steps and taken up again; and one that is frozen,
//! taken over from and thawed.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pilote_ledger::*;
use pilote_spec::*;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::support::*;

const ITEMS: u64 = 12;
const BATCH: usize = 4;

/// Where the child process is told its part.
const PART: &str = "PILOTE_LEDGER_CHILD";

/// Sends this very process a signal when a window is reached for the nth time.
struct Strike {
    window: Window,
    left: AtomicU32,
    signal: Signal,
}

impl Failpoint for Strike {
    fn reached(&self, window: Window) {
        if window == self.window && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            kill_process(getpid(), self.signal).unwrap();
            // A signal that stops reaches the threads one after the other, so this one waits to be told that it
            // was stopped and thawed.
            std::io::stdin().read_exact(&mut [0]).unwrap();
        }
    }
}

fn disk(dir: &Path, mode: &str) -> DirStore {
    let store = DirStore::open(&dir.join("trial")).unwrap();
    match mode {
        "appending" => store,
        "single" => store.without_appending(),
        "renaming" => store.without_links(),
        _ => panic!("`{mode}` is no mode"),
    }
}

fn note(dir: &Path, name: &str, positions: &[u64]) {
    let mut file = OpenOptions::new().append(true).create(true).open(dir.join(name)).unwrap();
    let lines: String = positions.iter().map(|position| format!("{position}\n")).collect();
    file.write_all(lines.as_bytes()).unwrap();
}

fn noted(dir: &Path, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(dir.join(name)).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// The script of a child: open the part, work through what is pending, seal. `part` is the directory, mode, window,
/// count, signal and nonce. Ends with the first error.
fn script(part: &str) -> Result<(), LedgerError> {
    let fields: Vec<&str> = part.split('\n').collect();
    let [dir, mode, window, count, signal, nonce] = fields[..] else { panic!("{part:?}") };
    let dir = Path::new(dir);
    let signal = if signal == "stop" { Signal::STOP } else { Signal::KILL };
    let left = AtomicU32::new(count.parse().unwrap());
    let strike: Arc<dyn Failpoint> =
        Arc::new(Strike { window: Window::named(window).unwrap(), left, signal });
    let owner = Owner::of_this_process(nonce.parse().unwrap()).unwrap();
    let liveness = Arc::new(ProcessLiveness::new(owner.clone()));
    let store = Arc::new(disk(dir, mode).with_failpoint(Arc::clone(&strike)));
    let ledger = Ledger::new(store, owner, liveness).with_failpoint(strike);
    let mut writer = match ledger.open_part(1)? {
        Opened::Writer(writer) => writer,
        Opened::Sealed(_) => return Ok(()),
    };
    let pending: Vec<u64> = (0..ITEMS).filter(|at| !writer.recorded().contains(Position(*at))).collect();
    for batch in pending.chunks(BATCH) {
        note(dir, "computed", batch);
        writer.append(&batch.iter().map(|at| scripted(*at)).collect::<Vec<_>>())?;
        writer.commit()?;
        note(dir, "reported", batch);
    }
    writer.seal().map(drop)
}

#[test]
#[ignore = "a child process of the tests below, which start it with its part in the environment"]
fn child() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's child process is told its part in the environment"
    )]
    let part = std::env::var(PART);
    if let Ok(part) = part {
        let result = script(&part);
        let dir = part.split('\n').next().unwrap();
        fs::write(Path::new(dir).join("ended"), format!("{result:?}")).unwrap();
    }
}

fn spawn(dir: &Path, mode: &str, (window, count, signal): (Window, u32, &str), nonce: u64) -> Child {
    let part = [&dir.to_string_lossy(), mode, window.name(), &count.to_string(), signal, &nonce.to_string()]
        .join("\n");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--quiet", "crash::child"]).env(PART, part);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

fn was_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(9)
}

/// A process that dies in the middle of a write leaves half a record; a window lies only between whole steps.
fn tear_last_entry(dir: &Path) {
    let parts = dir.join("trial/parts/000001");
    let names = fs::read_dir(parts).into_iter().flatten().map(|entry| entry.unwrap().path());
    let last = names.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.')).max();
    if let Some(path) = last {
        OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(b"1234abcd {\"position\":7,\"id\":\"ha")
            .unwrap();
    }
}

/// The windows that every first writer reaches at least twice, and those that it reaches only where it appends.
const FIRST: [Window; 10] = [
    Window::TemporaryWritten,
    Window::TemporarySynced,
    Window::Named,
    Window::DirectorySynced,
    Window::PayloadSynced,
    Window::RecordsSynced,
    Window::CommitDecided,
    Window::SealPrepared,
    Window::PayloadWritten,
    Window::RecordsWritten,
];

/// Where run `run` is to die: the first one certainly, those after it wherever they get to.
fn window_of(run: u64, mode: &str, seed: u64, seeded: &mut Seeded) -> (Window, u32) {
    let reached = if mode == "appending" { FIRST.len() } else { FIRST.len() - 2 };
    match run {
        0 => match FIRST[seed as usize % reached] {
            Window::SealPrepared => (Window::SealPrepared, 1),
            window => (window, 1 + seeded.below(2) as u32),
        },
        1 => (Window::ALL[seed as usize % Window::ALL.len()], 1),
        _ => (Window::ALL[seeded.next() as usize % Window::ALL.len()], 1 + seeded.below(2) as u32),
    }
}

/// Kills a writer in a window, perhaps the one after it as well, and lets a last one finish. Gives how many died.
fn repeat(mode: &str, seed: u64) -> u64 {
    let mut seeded = Seeded(seed);
    let dir = scratch();
    fs::create_dir(dir.path().join("trial")).unwrap();
    let mut deaths = 0;
    for run in 0..3 {
        let (window, count) = window_of(run, mode, seed, &mut seeded);
        let status = spawn(dir.path(), mode, (window, count, "kill"), seed * 10 + run + 1).wait().unwrap();
        if !was_killed(status) {
            assert!(status.success(), "seed {seed} run {run} {mode}");
            continue;
        }
        deaths += 1;
        let reported: BTreeSet<u64> = noted(dir.path(), "reported").into_iter().collect();
        let store = disk(dir.path(), mode);
        audit(&store, &reported, &format!("seed {seed} run {run} {mode} {window:?} x {count}"));
        let sealed = read_part(&store, 1).unwrap().seal.is_some();
        if mode == "appending" && !sealed && seeded.below(2) == 0 {
            tear_last_entry(dir.path());
        }
    }
    let context = format!("seed {seed} {mode}, at last");
    // The last one has no window to die in: it reaches none for the thousandth time.
    let status = spawn(dir.path(), mode, (Window::SealCreated, 1000, "kill"), seed * 10 + 9).wait().unwrap();
    let ended = fs::read_to_string(dir.path().join("ended")).unwrap();
    assert!(status.success() && ended == "Ok(())", "{context}: {ended}");
    let reported = noted(dir.path(), "reported");
    let once: BTreeSet<u64> = reported.iter().copied().collect();
    assert_eq!(once.len(), reported.len(), "{context}: an outcome was reported twice: {reported:?}");
    let store = disk(dir.path(), mode);
    assert_eq!(audit(&store, &once, &context), (0..ITEMS).collect::<Vec<_>>(), "{context}");
    assert!(read_part(&store, 1).unwrap().seal.is_some(), "{context}");
    let computed = noted(dir.path(), "computed").len() as u64;
    let bound = ITEMS + deaths * BATCH as u64;
    assert!(computed <= bound, "{context}: {computed} items were computed, {bound} at most");
    deaths
}

fn matrix(mode: &str, seeds: std::ops::Range<u64>) {
    let repeats = seeds.end - seeds.start;
    let deaths: u64 = seeds.map(|seed| repeat(mode, seed)).sum();
    assert!(deaths >= repeats, "only {deaths} processes died in {repeats} repeats");
}

#[test]
fn a_writer_killed_in_any_window_is_taken_up_again_when_entries_grow() {
    matrix("appending", 0..68);
}

#[test]
fn a_writer_killed_in_any_window_is_taken_up_again_when_entries_grow_with_other_seeds() {
    matrix("appending", 1000..1068);
}

#[test]
fn a_writer_killed_in_any_window_is_taken_up_again_when_each_commit_is_an_entry() {
    matrix("single", 0..51);
}

#[test]
fn a_writer_killed_in_any_window_is_taken_up_again_where_there_are_no_links() {
    matrix("renaming", 0..34);
}

/// The last test of the windows: each of them is really reached by some writer.
#[test]
fn every_window_is_reached_and_kills() {
    let mut never: Vec<Window> = Vec::new();
    for window in Window::ALL {
        let dir = scratch();
        fs::create_dir(dir.path().join("trial")).unwrap();
        let first = spawn(dir.path(), "appending", (window, 1, "kill"), 1).wait().unwrap();
        let mut struck = was_killed(first);
        if !struck {
            // Only a takeover reaches it: somebody must have died before, with a torn tail.
            fs::remove_dir_all(dir.path().join("trial")).unwrap();
            fs::create_dir(dir.path().join("trial")).unwrap();
            spawn(dir.path(), "appending", (Window::RecordsSynced, 1, "kill"), 2).wait().unwrap();
            tear_last_entry(dir.path());
            struck = was_killed(spawn(dir.path(), "appending", (window, 1, "kill"), 3).wait().unwrap());
        }
        if !struck {
            never.push(window);
        }
    }
    assert_eq!(never, []);
}

#[test]
fn a_frozen_owner_is_taken_over_from_and_once_thawed_writes_nothing_that_counts() {
    for (mode, window) in [("appending", Window::PayloadSynced), ("single", Window::PayloadSynced)] {
        let dir = scratch();
        fs::create_dir(dir.path().join("trial")).unwrap();
        let mut child = spawn(dir.path(), mode, (window, 2, "stop"), 1);
        let pid = Pid::from_child(&child);
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{mode}");

        let store: Arc<dyn Store> = Arc::new(disk(dir.path(), mode));
        let owner = Owner::of_this_process(Nonce(2)).unwrap();
        let liveness = Arc::new(ProcessLiveness::new(owner.clone()));
        let ledger = Ledger::new(Arc::clone(&store), owner, liveness);
        let held = ledger.open_part(1).unwrap_err();
        assert!(held.to_string().contains(&format!("process {} on ", child.id())), "{mode}: {held}");
        assert_eq!(ledger.unlock(1).unwrap().standing, Standing::Alive, "{mode}: a frozen process is alive");
        let mut writer = opened(ledger.open_part(1).unwrap());
        assert_eq!(writer.recorded().len(), BATCH as u64, "{mode}");
        let pending: Vec<_> = (BATCH as u64..ITEMS).map(scripted).collect();
        writer.append(&pending).unwrap();
        writer.commit().unwrap();

        kill_process(pid, Signal::CONT).unwrap();
        child.stdin.take().unwrap().write_all(b"x").unwrap();
        child.wait().unwrap();
        let ended = fs::read_to_string(dir.path().join("ended")).unwrap();
        assert!(ended.starts_with("Err(Fenced"), "{mode}: {ended}");
        assert_eq!(noted(dir.path(), "reported").len(), BATCH, "{mode}");
        writer.seal().unwrap();
        let there = audit(&*store, &(0..ITEMS).collect(), mode);
        assert_eq!(there, (0..ITEMS).collect::<Vec<_>>(), "{mode}");
        let findings = read_part(&*store, 1).unwrap().findings;
        let late = findings.iter().any(|f| matches!(f, Finding::Late { records: 4, entry: 1, .. }));
        assert_eq!(late, mode == "appending", "{mode}: {findings:?}");
    }
}
