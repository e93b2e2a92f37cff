//! The guard of many short children, run as `pilote __guard pool`: it starts a program for each line on its
//! standard input and reports each end on its standard output. It ends all of them when its input closes.
//!
//! A process that has little memory starts others much faster than one with a model mapped, so this costs nothing
//! against starting them directly.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use pilote_spec::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit, set_child_subreaper,
};
use serde::{Deserialize, Serialize};

use super::guard::end_descendants;

/// Bytes kept of what a child printed last.
const TAIL_BYTES: u64 = 4_096;
/// Bytes that a child may print before it is ended.
const PRINTED_BYTES_MAX: u64 = 64 << 20;
/// How often deadlines are looked at, in milliseconds.
const LOOK_MS: i64 = 100;

/// A program to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Start {
    /// The name of this start, for the report.
    pub id: u64,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Variables beside those of the guard.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Seconds until it is ended.
    pub seconds_max: u32,
    /// Bytes of address space that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes_max: Option<u64>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The name of the start.
    pub id: u64,
    /// How.
    pub how: How,
    /// What it printed last, on either stream.
    pub printed: String,
    /// From start to end, in microseconds.
    pub took_us: u64,
}

/// The ways to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// By us: its time was up.
    TimeUp,
    /// By us: it printed without end.
    PrintedTooMuch,
    /// It could not be started; `printed` says why.
    NotStarted,
}

struct Running {
    id: u64,
    child: Child,
    pidfd: OwnedFd,
    printed: File,
    started: Duration,
    seconds_max: u32,
    ended_by_us: Option<How>,
}

/// Serves starts until standard input closes.
///
/// # Errors
/// When the machine refuses what a guard needs.
pub fn serve(clock: &dyn Clock) -> io::Result<()> {
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let told_to_end = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&told_to_end))?;
    }
    let (waker, woken) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let (starts_out, starts) = channel();
    std::thread::Builder::new().name("starts".to_owned()).spawn(move || {
        for line in BufReader::new(io::stdin()).lines() {
            let Ok(Ok(start)) = line.map(|line| serde_json::from_str::<Start>(&line)) else { break };
            if starts_out.send(start).is_err() || rustix::io::write(&woken, b"s").is_err() {
                return;
            }
        }
        drop(starts_out);
        let _ = rustix::io::write(&woken, b"e");
    })?;
    let mut running = Vec::new();
    let served = serve_starts(clock, &starts, &waker, &told_to_end, &mut running);
    for one in &mut running {
        kill_group(&one.child);
    }
    end_descendants();
    served
}

fn serve_starts(
    clock: &dyn Clock,
    starts: &Receiver<Start>,
    waker: &OwnedFd,
    told_to_end: &AtomicBool,
    running: &mut Vec<Running>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    while !told_to_end.load(Ordering::SeqCst) {
        let mut ended = Vec::new();
        loop {
            match starts.try_recv() {
                Ok(start) => match begin(&start, clock.monotonic()) {
                    Ok(one) => running.push(one),
                    Err(error) => ended.push(Ended {
                        id: start.id,
                        how: How::NotStarted,
                        printed: format!("{}: {error}", start.argv.first().map_or("", String::as_str)),
                        took_us: 0,
                    }),
                },
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
        collect(running, clock.monotonic(), &mut ended)?;
        if !ended.is_empty() {
            for end in &ended {
                serde_json::to_writer(&mut out, end)?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
            continue;
        }
        wait(running, waker)?;
    }
    Ok(())
}

/// Sleeps until a start comes, a child ends or a deadline may have passed.
fn wait(running: &[Running], waker: &OwnedFd) -> io::Result<()> {
    let mut watched: Vec<_> = running.iter().map(|one| PollFd::new(&one.pidfd, PollFlags::IN)).collect();
    watched.push(PollFd::from_borrowed_fd(waker.as_fd(), PollFlags::IN));
    let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK_MS * 1_000_000 };
    let _ = poll(&mut watched, Some(&timeout));
    if watched.last().is_some_and(|waker| !waker.revents().is_empty()) {
        rustix::io::read(waker, &mut [0; 512])?;
    }
    Ok(())
}

fn begin(start: &Start, now: Duration) -> io::Result<Running> {
    let [program, arguments @ ..] = start.argv.as_slice() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program was given"));
    };
    let printed = File::from(memfd_create("printed", MemfdFlags::CLOEXEC)?);
    let child = Command::new(program)
        .args(arguments)
        .envs(&start.environment)
        .current_dir(&start.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::from(printed.try_clone()?))
        .stderr(Stdio::from(printed.try_clone()?))
        .process_group(0)
        .spawn()?;
    let pid = pid_of(&child).ok_or_else(|| io::Error::other("a child without a process id"))?;
    if let Some(bytes) = start.memory_bytes_max {
        prlimit(Some(pid), Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
    }
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let (id, seconds_max) = (start.id, start.seconds_max);
    Ok(Running { id, child, pidfd, printed, started: now, seconds_max, ended_by_us: None })
}

/// Takes the children that ended out of `running` and ends those that went beyond a limit.
fn collect(running: &mut Vec<Running>, now: Duration, ended: &mut Vec<Ended>) -> io::Result<()> {
    let mut index = 0;
    while let Some(one) = running.get_mut(index) {
        if let Some(status) = one.child.try_wait()? {
            let mut one = running.swap_remove(index);
            // What it left behind in its group goes with it.
            kill_group(&one.child);
            let took_us = u64::try_from(now.saturating_sub(one.started).as_micros()).unwrap_or(u64::MAX);
            let how = one.ended_by_us.unwrap_or_else(|| how(status));
            ended.push(Ended { id: one.id, how, printed: tail(&mut one.printed)?, took_us });
            continue;
        }
        let time_up = now.saturating_sub(one.started) > Duration::from_secs(u64::from(one.seconds_max));
        if one.ended_by_us.is_none() && time_up {
            one.ended_by_us = Some(How::TimeUp);
        } else if one.ended_by_us.is_none() && one.printed.metadata()?.len() > PRINTED_BYTES_MAX {
            one.ended_by_us = Some(How::PrintedTooMuch);
        }
        if one.ended_by_us.is_some() {
            kill_group(&one.child);
        }
        index += 1;
    }
    Ok(())
}

fn how(status: ExitStatus) -> How {
    status.code().map_or_else(|| How::Signal(status.signal().unwrap_or_default()), How::Status)
}

fn tail(printed: &mut File) -> io::Result<String> {
    let length = printed.metadata()?.len();
    printed.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    printed.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn kill_group(child: &Child) {
    if let Some(pid) = pid_of(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
