//! Who writes a part, and whether that process is still there.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use pilote_spec::Digest;
use serde::{Deserialize, Serialize};

/// A random number that tells one owner from every other, even on the same process number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Nonce(pub u128);

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Nonce {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16)
            .map(Self)
            .map_err(|_| "a nonce of 32 hexadecimal digits is expected".to_owned())
    }
}

impl TryFrom<String> for Nonce {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Nonce> for String {
    fn from(nonce: Nonce) -> Self {
        nonce.to_string()
    }
}

/// A process that writes, told apart from every other one on this and other machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Drawn at random when the process began to write.
    pub nonce: Nonce,
    /// The machine: its name and, where it has an identity, `@` and the first digits of that identity's digest.
    pub host: String,
    /// The identity of this start of the kernel.
    pub boot: String,
    /// The process number, in its own namespace.
    pub pid: u32,
    /// Start of the process in clock ticks since the kernel started.
    pub started: u64,
    /// The inode of the process's namespace of process numbers.
    pub pid_namespace: u64,
}

impl Owner {
    /// This very process, as `/proc` shows it.
    ///
    /// # Errors
    /// When `/proc` cannot be read; on other systems than Linux always, since reading needs no owner there.
    pub fn of_this_process(nonce: Nonce) -> io::Result<Self> {
        Self::of_process(nonce, Path::new("/proc"), Path::new("/etc/machine-id"), std::process::id())
    }

    fn of_process(nonce: Nonce, proc: &Path, machine_id: &Path, pid: u32) -> io::Result<Self> {
        let text = |name: &str| fs::read_to_string(proc.join(name)).map(|text| text.trim().to_owned());
        let mut host = text("sys/kernel/hostname")?;
        if let Ok(identity) = fs::read_to_string(machine_id) {
            // The identity itself is not for others to see; a part of its digest tells machines apart as well.
            host = format!("{host}@{}", Digest::of(identity.trim().as_bytes()).short());
        }
        let started = start_time(&text("self/stat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/self/stat has no start time"))?;
        let pid_namespace = namespace(proc)?;
        Ok(Self { nonce, host, boot: text("sys/kernel/random/boot_id")?, pid, started, pid_namespace })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// The start time in the text of a `/proc/PID/stat`: the 22nd field, counted after the name, which may hold
/// blanks and brackets of its own (proc_pid_stat(5)).
fn start_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The inode of this process's namespace of process numbers: `pid:[4026531836]`.
fn namespace(proc: &Path) -> io::Result<u64> {
    let link = fs::read_link(proc.join("self/ns/pid"))?;
    let text = link.to_string_lossy();
    let inode = text.strip_prefix("pid:[").and_then(|rest| rest.strip_suffix(']'));
    inode
        .and_then(|inode| inode.parse().ok())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("`{text}` names no pid namespace")))
}

/// Whether an owner is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The process runs, or is stopped and may run again.
    Alive,
    /// The process is gone, and why that is certain.
    Dead(String),
    /// This process cannot tell, and why.
    Unknown(String),
}

/// Tells whether an owner is still there. Only a matter of politeness: a wrong answer costs the other owner its
/// uncommitted work and never an outcome, since takeover fences.
pub trait Liveness: Send + Sync {
    /// How `owner` stands now.
    fn standing(&self, owner: &Owner) -> Standing;
}

/// Liveness of processes on this machine, read from `/proc`.
#[derive(Debug, Clone)]
pub struct ProcessLiveness {
    observer: Owner,
    proc: std::path::PathBuf,
}

impl ProcessLiveness {
    /// As `observer`, this very process, sees it.
    #[must_use]
    pub fn new(observer: Owner) -> Self {
        Self { observer, proc: "/proc".into() }
    }

    fn on_this_boot(&self, owner: &Owner) -> Standing {
        if owner.pid_namespace != self.observer.pid_namespace {
            return Standing::Unknown(format!(
                "{owner} is in another container, whose processes are not seen from here"
            ));
        }
        match fs::read_to_string(self.proc.join(owner.pid.to_string()).join("stat")) {
            Ok(stat) => match start_time(&stat) {
                Some(started) if started == owner.started => match state(&stat) {
                    Some('Z' | 'X') => Standing::Dead(format!("process {} has ended", owner.pid)),
                    _ => Standing::Alive,
                },
                Some(_) => Standing::Dead(format!("process number {} is another process now", owner.pid)),
                None => Standing::Unknown(format!("/proc/{}/stat has no start time", owner.pid)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Standing::Dead(format!("process {} is gone", owner.pid))
            }
            Err(error) => Standing::Unknown(format!("/proc/{}/stat cannot be read: {error}", owner.pid)),
        }
    }
}

/// The state letter of a `/proc/PID/stat`.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

impl Liveness for ProcessLiveness {
    fn standing(&self, owner: &Owner) -> Standing {
        if owner.boot == self.observer.boot {
            return self.on_this_boot(owner);
        }
        if owner.host == self.observer.host {
            return Standing::Dead(format!("{} was started anew since", self.observer.host));
        }
        Standing::Unknown(format!("{owner} is not on this machine"))
    }
}

#[cfg(test)]
mod tests;
