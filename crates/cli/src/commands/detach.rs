//! `pilote run --detach`: the same command as a process of its own session, which no terminal ends.
//!
//! The parent starts it with a pipe as standard output and a log as standard error, and waits for one line that
//! names the trial. The child says that line once its engine is being started, gives the log the trial's name, and
//! writes there from then on. A launch that fails before says why to its parent, which says it on and ends likewise.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pilote_spec::Clock as _;
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::{Printer, write_data, write_line};
use crate::surroundings::Surroundings;

const FORMAT: &str = "pilote.detached/1";

/// What the child tells its parent, and the parent its caller.
#[derive(Serialize, Deserialize)]
struct Detached {
    format: String,
    trial: PathBuf,
    log: PathBuf,
    pid: u32,
}

/// Starts this very command again in a session of its own, and returns once it works or has failed.
///
/// # Errors
/// When the process or its log cannot be made.
pub(crate) fn detach(root: &Path, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    let failed = |what: &str, error: std::io::Error| {
        Failure::machine("detach", anyhow::Error::new(error).context(what.to_owned()))
    };
    let runs = root.join("runs");
    fs_err::create_dir_all(&runs)
        .map_err(|error| failed("the folder of the trials cannot be made", error))?;
    let log = runs.join(format!("launch-{}-{}.log", surroundings.clock.wall().0, std::process::id()));
    let file = fs_err::File::create_new(&log).map_err(|error| failed("the log cannot be made", error))?;
    let program = std::env::current_exe().map_err(|error| failed("the program cannot name itself", error))?;
    let words = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let mut child = Command::new(program)
        .args(words)
        .arg("--detached-log")
        .arg(&log)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(file.into_parts().0)
        .spawn()
        .map_err(|error| failed("the process cannot be started", error))?;
    let mut said =
        BufReader::new(child.stdout.take().ok_or_else(|| {
            Failure::machine("detach", anyhow::anyhow!("the process has no standard output"))
        })?);
    let mut first = String::new();
    // A child that dies says nothing; its log and its status tell why.
    let _ = said.read_line(&mut first);
    if let Ok(detached) = serde_json::from_str::<Detached>(&first)
        && detached.format == FORMAT
    {
        let [trial, log] = [&detached.trial, &detached.log].map(|path| path.display().to_string());
        let pid = detached.pid.to_string();
        let args = [("trial", &*trial), ("log", &*log), ("pid", &*pid)];
        printer.line(&printer.texts.get("run-detached", &args));
        printer.object(&detached);
        return Ok(Exit::Holds);
    }
    let mut rest = first.into_bytes();
    let _ = said.read_to_end(&mut rest);
    let status = child.wait().map_err(|error| failed("the process cannot be waited for", error))?;
    write_line(&mut std::io::stderr(), fs_err::read_to_string(&log).unwrap_or_default().trim_end());
    // Everything in it was just said.
    let _ = fs_err::remove_file(&log);
    let text = String::from_utf8_lossy(&rest);
    if !text.is_empty() {
        write_data(text.trim_end()).map_err(crate::printer::not_written)?;
    }
    Ok(status.code().and_then(Exit::of_code).unwrap_or(Exit::Machine))
}

/// The child's side: says once where its trial is.
pub(crate) struct Announcement {
    log: PathBuf,
    said: Cell<bool>,
}

impl Announcement {
    /// Leaves the terminal: from here on its hang-up is not for this process.
    ///
    /// # Errors
    /// When there can be no session of its own.
    pub(crate) fn begin(log: &Path) -> Result<Self, Failure> {
        #[cfg(unix)]
        rustix::process::setsid().map_err(|error| {
            Failure::machine("detach", anyhow::anyhow!("no session of its own can be begun: {error}"))
        })?;
        Ok(Self { log: log.to_owned(), said: Cell::new(false) })
    }

    /// Gives the log the trial's name, with a number where the trial was left before; it keeps its own where no
    /// such name can be had.
    fn named_after(&self, trial: &Path) -> PathBuf {
        let name = |suffix: String| {
            let mut name = trial.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let names =
            std::iter::once(name(".log".to_owned())).chain((2..100).map(|n| name(format!(".{n}.log"))));
        for log in names {
            if fs_err::hard_link(&self.log, &log).is_ok() {
                let _ = fs_err::remove_file(&self.log);
                return log;
            }
        }
        self.log.clone()
    }

    /// Tells the parent where the trial is, and writes to its log from now on. Only the first call does anything.
    pub(crate) fn say(&self, trial: &Path) {
        if self.said.replace(true) {
            return;
        }
        let log = self.named_after(trial);
        let detached =
            Detached { format: FORMAT.to_owned(), trial: trial.to_owned(), log, pid: std::process::id() };
        if let Ok(line) = serde_json::to_string(&detached) {
            // A parent that went away does not need to know.
            let _ = write_data(&line);
        }
        #[cfg(unix)]
        if let Ok(file) = fs_err::OpenOptions::new().append(true).open(&detached.log) {
            // Should it fail, the end of the trial is said to nobody, and stands in the trial all the same.
            let _ = rustix::stdio::dup2_stdout(file);
        }
    }
}
