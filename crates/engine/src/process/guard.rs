//! The guard's own program, run as `pilote __guard run -- ARGV...`.
//!
//! Its standard input and output are the channel between the parent and the child: they are handed on under the
//! descriptors named in `PILOTE_READ_FD` and `PILOTE_WRITE_FD`, so that the child's own standard input is empty
//! and a stray print of it lands in the log, which is the guard's standard error. The guard never reads the
//! channel: it only watches for its other end to close.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, set_child_subreaper};

/// Environment variable that names the descriptor the child reads from.
pub const READ_FD: &str = "PILOTE_READ_FD";
/// Environment variable that names the descriptor the child writes to.
pub const WRITE_FD: &str = "PILOTE_WRITE_FD";

/// How long a child may go on after its channel closed, in milliseconds, before it is killed.
const GRACE_MS: u64 = 2_000;
/// How often the guard looks when nothing wakes it, in milliseconds.
const LOOK_MS: u64 = 100;
/// Rounds of killing descendants; each one reaps those of the round before.
const KILL_ROUNDS_MAX: u32 = 200;

/// Runs `argv` below this process until it ends or the parent is gone; gives the status to exit with: the child's
/// own, 128 + signal where one ended it, 127 where it could not be started.
///
/// # Errors
/// When the machine refuses what a guard needs: descriptors, signals, adopting orphans.
pub fn run(argv: &[OsString]) -> io::Result<u8> {
    let [program, arguments @ ..] = argv else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the guard was given no program to run"));
    };
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let told_to_end = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&told_to_end))?;
    }
    let (read, write) = (inheritable(io::stdin().as_fd())?, inheritable(io::stdout().as_fd())?);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(READ_FD, read.as_raw_fd().to_string())
        .env(WRITE_FD, write.as_raw_fd().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            report(&format!("{}: {error}", Path::new(program).display()));
            return Ok(127);
        }
    };
    // The child alone holds the channel now; a copy kept here would hide its end from the parent.
    drop((read, write));
    close_own_output();
    let status = watch(&mut child, &told_to_end);
    end_descendants();
    Ok(status.map_or(137, |status| exit_code(&status)))
}

/// Waits for the child's end, for the parent's, or for the signal to end at once. `None` when the child is to be
/// killed.
fn watch(child: &mut Child, told_to_end: &AtomicBool) -> Option<ExitStatus> {
    let pidfd = pidfd(child);
    let mut waited_ms = 0;
    while waited_ms < GRACE_MS {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if told_to_end.load(Ordering::SeqCst) {
            return None;
        }
        let parent_gone = look(pidfd.as_ref(), waited_ms > 0);
        if parent_gone {
            waited_ms += if waited_ms == 0 { 1 } else { LOOK_MS };
        }
    }
    None
}

/// One look at the channel's other end and at the child. After the parent is gone only the child is watched, since
/// a closed pipe would wake the guard without end.
fn look(pidfd: Option<&OwnedFd>, parent_gone: bool) -> bool {
    let stdin = io::stdin();
    let mut watched = Vec::with_capacity(2);
    if let Some(pidfd) = pidfd {
        watched.push(PollFd::new(pidfd, PollFlags::IN));
    }
    if !parent_gone {
        // No event is asked for: a hang-up is reported all the same, and data that the child has to read is not.
        watched.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty()));
    }
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::try_from(LOOK_MS * 1_000_000).unwrap_or(100_000_000) };
    let _ = poll(&mut watched, Some(&timeout));
    parent_gone
        || watched.last().is_some_and(|channel| {
            channel.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
        })
}

/// A descriptor of the child's end, where the kernel has them (Linux 5.3).
fn pidfd(child: &Child) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(child.id()).ok()?)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// Kills every descendant, orphans that this process adopted included, and reaps them.
pub(super) fn end_descendants() {
    for _ in 0..KILL_ROUNDS_MAX {
        let descendants = descendants_of(rustix::process::getpid());
        if descendants.is_empty() {
            return;
        }
        for pid in descendants {
            let _ = kill_process(pid, Signal::KILL);
        }
        // Blocks for one child at the most; each was just killed, so one is always coming.
        let _ = rustix::process::wait(rustix::process::WaitOptions::empty());
        while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
    }
}

/// The living processes below `root`, from `/proc`.
fn descendants_of(root: Pid) -> Vec<Pid> {
    let Ok(entries) = fs_err::read_dir("/proc") else { return Vec::new() };
    let parents: Vec<(i32, i32)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs_err::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may hold anything; what follows the last one is regular.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            (fields.next()? != "Z").then_some(())?;
            Some((pid, fields.next()?.parse().ok()?))
        })
        .collect();
    let mut found = vec![root.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// A copy of a descriptor that a child inherits.
fn inheritable(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let copy = fd.try_clone_to_owned()?;
    rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty())?;
    Ok(copy)
}

/// Points this process's standard output at its standard error, so that the parent sees the channel end with the
/// child.
fn close_own_output() {
    let _ = rustix::stdio::dup2_stdout(io::stderr().as_fd());
}

fn exit_code(status: &ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(255);
    u8::try_from(code).unwrap_or(255)
}

/// A line for the log that the parent keeps.
fn report(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(io::stderr(), "pilote guard: {text}");
}
