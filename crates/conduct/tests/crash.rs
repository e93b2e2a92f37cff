//! Real processes that are killed in every window between two steps, halted, thawed, and starved of space. The child
//! is this very test binary, told by its environment what to do.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::cell::Cell;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilote_conduct::{ConductError, EndReason, Step};
use pilote_ledger::{Failpoint, Ledger, LedgerError, Nonce, Owner, ProcessLiveness, Window};
use pilote_spec::TrialKind;
use rustix::process::{Pid, Signal, WaitOptions};
use support::{Bench, Manners, Place, is_sealed, outcomes};

const ENTRY: &str = "child_of_the_crash_tests";
const WIDTH: usize = 8;

fn vector_place() -> Place {
    let files = support::sixteen_files();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let place =
        Place::with(&files, |value| value["output"] = serde_json::json!({"kind": "vector", "width": WIDTH}));
    place.write("05.txt", "LONG");
    place.write("11.txt", "");
    let text = serde_json::to_string(&place.project).unwrap();
    std::fs::write(place.root().join("project.json"), text).unwrap();
    place
}

fn vector_bench(place: &Place) -> Bench<'_> {
    let mut bench = Bench::new(place);
    bench.manners = Manners { width: Some(WIDTH), ..Manners::default() };
    // Every outcome is a commit of its own, so that every window is passed several times.
    bench.settings.sync_items = 2;
    bench
}

/// Sends itself a signal when a step or window of this name is reached for the n-th time.
struct Signaller {
    name: String,
    nth: usize,
    seen: AtomicUsize,
    signal: Signal,
}

impl Signaller {
    fn pass(&self, name: &str) {
        if name == self.name && self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.nth {
            rustix::process::kill_process(rustix::process::getpid(), self.signal).unwrap();
            // The signal may reach another thread of this process first; this one goes no further until its parent
            // closes the pipe.
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        }
    }
}

impl Failpoint for Signaller {
    fn reached(&self, window: Window) {
        self.pass(window.name());
    }
}

#[test]
#[ignore = "runs only as the child of the other tests"]
#[expect(clippy::disallowed_methods, reason = "the child is told by its environment what to do")]
#[expect(clippy::exit, reason = "the status of the child is what its parent looks at")]
fn child_of_the_crash_tests() {
    let Ok(root) = std::env::var("PILOTE_TEST_ROOT") else { return };
    let told = |name: &str| std::env::var(name).unwrap();
    let root = PathBuf::from(root);
    let project = serde_json::from_slice(&std::fs::read(root.join("project.json")).unwrap()).unwrap();
    let place = Place::at(&root, project);
    let signal = if told("PILOTE_TEST_SIGNAL") == "stop" { Signal::STOP } else { Signal::KILL };
    let (name, nth) = (told("PILOTE_TEST_POINT"), told("PILOTE_TEST_NTH").parse().unwrap());
    let signaller = Arc::new(Signaller { name, nth, seen: AtomicUsize::new(0), signal });
    let mut bench = vector_bench(&place);
    bench.failpoint = Arc::clone(&signaller) as Arc<dyn Failpoint>;
    let on_step = |step: Step| signaller.pass(step.name());
    let end = bench.conduct(&on_step, |conductor, launch| match std::env::var("PILOTE_TEST_RESUME") {
        Ok(trial) => conductor.resume(launch, Path::new(&trial)),
        Err(_) => conductor.run(launch, TrialKind::Pilot, None),
    });
    let status = match end {
        Ok(end) => end.exit(),
        Err(error) => error.exit(),
    };
    std::process::exit(i32::from(status));
}

fn spawn(place: &Place, resume: Option<&Path>, point: &str, nth: usize, signal: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", ENTRY, "--ignored", "--quiet"])
        .env("PILOTE_TEST_ROOT", place.root())
        .env("PILOTE_TEST_POINT", point)
        .env("PILOTE_TEST_NTH", nth.to_string())
        .env("PILOTE_TEST_SIGNAL", signal)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0);
    if let Some(trial) = resume {
        command.env("PILOTE_TEST_RESUME", trial);
    }
    command.spawn().unwrap()
}

fn until_end(place: &Place, resume: Option<&Path>, point: &str, nth: usize) -> ExitStatus {
    let mut child = spawn(place, resume, point, nth, "kill");
    // Kept open until the end, unlike by `Child::wait`: a child that is killed goes no further meanwhile.
    let pipe = child.stdin.take();
    let status = child.wait().unwrap();
    drop(pipe);
    status
}

/// The trial that was launched, if one was: a directory without `trial.json` was stopped before its first batch.
fn launched(place: &Place) -> Option<PathBuf> {
    place.trials().into_iter().find(|trial| trial.join("trial.json").exists())
}

#[test]
fn a_trial_killed_at_any_step_ends_with_the_outcomes_of_an_undisturbed_one() {
    let reference = vector_place();
    let expected = outcomes(&vector_bench(&reference).run().unwrap().trial);
    assert_eq!(expected.len(), 16);
    let points: Vec<&str> =
        Step::ALL.iter().map(|step| step.name()).chain(Window::ALL.iter().map(|it| it.name())).collect();
    let mut killed = 0;
    for (at, first) in points.iter().enumerate() {
        for nth in 1..=3 {
            let place = vector_place();
            let status = until_end(&place, None, first, nth);
            killed += usize::from(status.signal() == Some(9));
            assert!(status.signal() == Some(9) || status.code() == Some(0), "{first} {nth}: {status}");
            let mut recorded = launched(&place).map(|trial| outcomes(&trial)).unwrap_or_default();
            // Killed again while it is taken up, each time at another point, then left alone.
            for second in [points[(at * 5 + nth) % points.len()], points[(at * 3 + 7 * nth) % points.len()]] {
                let trial = launched(&place);
                let status = until_end(&place, trial.as_deref(), second, nth);
                killed += usize::from(status.signal() == Some(9));
                let now = launched(&place).map(|trial| outcomes(&trial)).unwrap_or_default();
                for (position, outcome) in &recorded {
                    assert_eq!(
                        now.get(position),
                        Some(outcome),
                        "{first} {nth}, then {second}: an outcome was lost"
                    );
                }
                recorded = now;
            }
            let trial = launched(&place);
            let status = until_end(&place, trial.as_deref(), "never", 1);
            assert_eq!(status.code(), Some(0), "{first} {nth}");
            let trial = launched(&place).unwrap();
            assert_eq!(outcomes(&trial), expected, "{first} {nth}");
            assert!(is_sealed(&trial), "{first} {nth}");
        }
    }
    assert!(killed > 100, "only {killed} processes were killed: the points are not reached");
}

#[test]
fn at_most_the_batch_in_hand_is_computed_again_after_a_kill() {
    for nth in 1..=4 {
        let place = vector_place();
        // The batch was handed over and nothing of it is durable.
        assert_eq!(until_end(&place, None, "submitted", nth).signal(), Some(9));
        let trial = launched(&place).unwrap();
        let done = outcomes(&trial).len() as u64;
        let mut bench = vector_bench(&place);
        let end = bench.resume(&trial).unwrap();
        // Fourteen items reach the engine at all: one is empty, and every batch holds four at most.
        assert!(end.counts.asked + done <= 16 + 4, "asked {} with {done} done", end.counts.asked);
        assert_eq!(outcomes(&trial).len(), 16);
    }
}

/// Waits until the child is halted.
fn wait_for_halt(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let (_, status) = rustix::process::waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "the child did not halt: {status:?}");
}

fn thaw(child: &mut Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::CONT).unwrap();
    child.stdin = None;
}

/// Lets anybody take over every part that somebody holds; there is one at least.
fn unlock(trial: &Path) {
    let owner = Owner::of_this_process(Nonce(2)).unwrap();
    let store = Arc::new(pilote_ledger::DirStore::open(trial).unwrap());
    let parts = pilote_ledger::parts(&*store).unwrap();
    let liveness = Arc::new(ProcessLiveness::new(owner.clone()));
    let ledger = Ledger::new(store, owner, liveness);
    let unlocked = parts.into_iter().filter(|part| ledger.unlock(*part).is_ok()).count();
    assert!(unlocked > 0, "no part was held");
}

#[test]
fn a_second_process_is_refused_with_process_and_host_of_the_first() {
    let place = vector_place();
    let mut child = spawn(&place, None, "committed", 1, "stop");
    wait_for_halt(&child);
    let trial = launched(&place).unwrap();
    let before = outcomes(&trial);
    let mut bench = vector_bench(&place);
    let error = bench.resume(&trial).unwrap_err();
    assert_eq!((error.code(), error.exit(), bench.starts), ("held-by-another", 2, 0));
    let host = Owner::of_this_process(Nonce(1)).unwrap().host;
    let message = error.to_string();
    assert!(message.contains(&format!("process {} on {host}", child.id())), "{message}");
    assert_eq!(outcomes(&trial), before);
    thaw(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(outcomes(&trial).len(), 16);
}

#[test]
fn a_frozen_owner_that_is_thawed_after_a_takeover_writes_no_outcome() {
    let place = vector_place();
    let reference = outcomes(&vector_bench(&vector_place()).run().unwrap().trial);
    let mut child = spawn(&place, None, "answered", 3, "stop");
    wait_for_halt(&child);
    let trial = launched(&place).unwrap();
    unlock(&trial);
    let end = vector_bench(&place).resume(&trial).unwrap();
    assert_eq!(end.why, EndReason::Done);
    assert_eq!(outcomes(&trial), reference);
    thaw(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(4), "the old owner is fenced and stops");
    assert_eq!(outcomes(&trial), reference);
}

/// A file system of this many kilobytes, unmounted when dropped; none where it cannot be mounted here.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(kilobytes: u32) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"])
            .arg(dir.path())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_stops_the_trial_and_loses_nothing_that_was_reported() {
    let place = vector_place();
    let Some(disk) = SmallDisk::mount(256) else {
        eprintln!("no tmpfs can be mounted here; the injected errors of the ledger's tests stand for it");
        return;
    };
    std::os::unix::fs::symlink(disk.0.path(), place.root().join("runs")).unwrap();
    let ballast = disk.0.path().join("ballast");
    let commits = Cell::new(0);
    let fill = |step| {
        if step == Step::Committed {
            commits.set(commits.get() + 1);
        }
        if step == Step::Committed && commits.get() == 2 {
            // Takes whatever is left.
            let _ = std::fs::write(&ballast, vec![1; 1 << 20]);
        }
    };
    let mut bench = vector_bench(&place);
    let end =
        bench.conduct(&fill, |conductor, launch| conductor.run(launch, TrialKind::Pilot, None)).unwrap();
    assert_eq!((end.why, end.exit()), (EndReason::WriteError, 4), "{:?}", end.error);
    let full = matches!(
        end.error.as_deref(),
        Some(ConductError::Ledger(LedgerError::Store(_)) | ConductError::Store(_))
    );
    assert!(full, "{:?}", end.error);
    let message = end.error.unwrap().to_string();
    assert!(message.contains("no space left"), "{message}");
    let kept = outcomes(&end.trial);
    assert!(kept.len() as u64 >= end.counts.accepted + end.counts.refused, "what was counted is there");
    assert!(!kept.is_empty() && kept.len() < 16);
    std::fs::remove_file(&ballast).unwrap();
    // Only because this very process, which still runs, holds the part.
    unlock(&end.trial);
    let done = vector_bench(&place).resume(&end.trial).unwrap();
    assert_eq!((done.why, outcomes(&end.trial).len()), (EndReason::Done, 16));
    assert!(kept.iter().all(|(position, outcome)| outcomes(&end.trial).get(position) == Some(outcome)));
    std::fs::remove_file(place.root().join("runs")).unwrap();
}
