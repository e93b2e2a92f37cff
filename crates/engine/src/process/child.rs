//! Starting a program below a guard, and ending it with everything it started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use super::log::{Log, Secret};

/// How long a guard may take to end everything below it before its group is killed, in seconds.
const GUARD_SECONDS_MAX: i64 = 5;

/// The program to start as a guard: `pilote` itself, with its hidden command.
#[derive(Debug, Clone)]
pub struct GuardProgram {
    /// The executable.
    pub program: PathBuf,
    /// What makes it a guard; the child's own arguments follow.
    pub arguments: Vec<OsString>,
}

/// What to start, with everything it gets to see.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments; never a shell line.
    pub argv: Vec<OsString>,
    /// The whole environment of the child.
    pub environment: BTreeMap<String, String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Values in the environment that its log must not show.
    pub secrets: Vec<Secret>,
}

/// A running child below its guard. Dropped, it is ended with everything it started.
#[derive(Debug)]
pub struct Guarded {
    guard: Child,
    log: Log,
    drain: Option<JoinHandle<()>>,
}

impl Guarded {
    /// Starts `launch`; gives the child, the end to write to and the end to read from.
    ///
    /// # Errors
    /// When the guard cannot be started. A program that the guard cannot start ends it with status 127, and its
    /// log says why.
    pub fn spawn(guard: &GuardProgram, launch: Launch) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut child = Command::new(&guard.program)
            .args(&guard.arguments)
            .args(&launch.argv)
            .env_clear()
            .envs(&launch.environment)
            .current_dir(&launch.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (Some(to), Some(from), Some(printed)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("a pipe that was asked for is not there"));
        };
        let log = Log::default();
        let drain = std::thread::Builder::new().name("child log".to_owned()).spawn({
            let log = log.clone();
            move || log.drain(printed, &launch.secrets)
        })?;
        Ok((Self { guard: child, log, drain: Some(drain) }, to, from))
    }

    /// Process id of the guard, which is also the id of the process group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.guard.id()
    }

    /// What the child printed.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The child's status, once it and everything below it ended; at most `wait` seconds are waited for it.
    ///
    /// # Errors
    /// When the operating system cannot say.
    pub fn wait(&mut self, seconds_max: i64) -> io::Result<Option<ExitStatus>> {
        if let (None, Some(pid)) = (self.guard.try_wait()?, self.pid())
            && let Ok(fd) = pidfd_open(pid, PidfdFlags::empty())
        {
            let timeout = Timespec { tv_sec: seconds_max, tv_nsec: 0 };
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout));
        }
        let status = self.guard.try_wait()?;
        if status.is_some()
            && let Some(drain) = self.drain.take()
        {
            // The last words count; the pipe ends with the last process that held it.
            let _ = drain.join();
        }
        Ok(status)
    }

    /// Ends the child and everything below it, at once.
    pub fn end_now(&mut self) {
        let Some(pid) = self.pid() else { return };
        if self.wait(0).ok().flatten().is_some() {
            return;
        }
        let _ = kill_process(pid, Signal::TERM);
        if self.wait(GUARD_SECONDS_MAX).ok().flatten().is_none() {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = self.guard.wait();
        }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.guard.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end_now();
    }
}
