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

use super::log::{Log, Secret, redacted};

/// How long a guard may take to end everything below it before its group is killed, in seconds.
const GUARD_SECONDS_MAX: i64 = 5;

/// The program to start as a guard: `pilote` itself, with its hidden command.
#[derive(Debug, Clone)]
pub struct GuardProgram {
    /// The executable.
    pub program: PathBuf,
    /// What makes it a guard; `run -- ARGV...` or `pool` follows.
    pub arguments: Vec<OsString>,
}

impl GuardProgram {
    /// What stands before a program and its arguments to run it below this guard.
    #[must_use]
    pub fn run(&self) -> Vec<OsString> {
        let mode = ["run", "--"].map(OsString::from);
        std::iter::once(self.program.clone().into_os_string())
            .chain(self.arguments.iter().cloned())
            .chain(mode)
            .collect()
    }
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
    secrets: Vec<Secret>,
    /// The ends of the channel of a child that does not use it.
    channel: Option<(ChildStdin, ChildStdout)>,
}

impl Guarded {
    /// Starts `launch`; gives the child, the end to write to and the end to read from.
    ///
    /// # Errors
    /// When the guard cannot be started. A program that the guard cannot start ends it with status 127, and its
    /// log says why.
    pub fn spawn(guard: &GuardProgram, launch: &Launch) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let arguments = ["run", "--"].into_iter().map(OsString::from).chain(launch.argv.iter().cloned());
        Self::start(guard, arguments.collect(), launch)
    }

    /// Starts the guard of many short children ([`super::pool`]); `launch` says their common environment and has no
    /// program of its own. It ends with all of them when the end to write to is closed.
    ///
    /// # Errors
    /// When the guard cannot be started.
    pub fn pool(guard: &GuardProgram, launch: &Launch) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        Self::start(guard, vec!["pool".into()], launch)
    }

    fn start(
        guard: &GuardProgram,
        arguments: Vec<OsString>,
        launch: &Launch,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let Launch { environment, folder, .. } = launch;
        let mut child = Command::new(&guard.program)
            .args(&guard.arguments)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .current_dir(folder)
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
            let (log, secrets) = (log.clone(), launch.secrets.clone());
            move || log.drain(printed, &secrets)
        })?;
        Ok((
            Self { guard: child, log, drain: Some(drain), secrets: launch.secrets.clone(), channel: None },
            to,
            from,
        ))
    }

    /// `line` without the values of this child's secrets.
    #[must_use]
    pub fn redacted(&self, line: &str) -> String {
        redacted(line, &self.secrets)
    }

    /// Keeps the channel open as long as this child is to live.
    pub fn hold_channel(&mut self, to: ChildStdin, from: ChildStdout) {
        self.channel = Some((to, from));
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
