//! `pilote stop`: ends a trial that works in another terminal or in none, in order or at once.

use std::path::Path;
use std::time::Duration;

use pilote_ledger::{Liveness as _, Standing};
use pilote_spec::{Clock as _, WriterProcess};
use serde::Serialize;

use super::writer::{self, Found};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::surroundings::Surroundings;

/// How often it is looked whether the process is gone.
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct StopJson<'a> {
    format: &'static str,
    trial: String,
    /// The process that was stopped, which led the others where there were several; none where nothing worked.
    process: Option<&'a WriterProcess>,
    /// Every process that was stopped.
    processes: &'a [WriterProcess],
    /// Whether all of them are gone.
    gone: bool,
}

/// Asks the processes that work on a trial to stop, and waits until they are gone.
///
/// # Errors
/// When the trial or its processes cannot be found, or one may not be signalled.
pub(crate) fn stop(
    args: &args::Stop,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    surroundings.heed_interrupts()?;
    let mut stopped: Vec<WriterProcess> = Vec::new();
    let mut gone = true;
    // The first of several leads the others, which stop in order when it asks them to. Whoever is still there when it
    // is gone joined by itself.
    while let Some(process) = next_at_work(&trial, surroundings, stopped.is_empty())?.filter(|_| gone) {
        let pid = process.pid.to_string();
        if signal(&process, args.now, surroundings)? {
            let said = if args.now { "stop-killed" } else { "stop-asked" };
            printer.say(&printer.texts.get(said, &[("pid", &pid)]));
        }
        gone = wait(&process, surroundings, printer)?;
        let trial = trial.display().to_string();
        let said = if gone { "stop-gone" } else { "stop-still-there" };
        printer.line(&printer.texts.get(said, &[("pid", &pid), ("trial", &trial)]));
        stopped.push(process);
    }
    if stopped.is_empty() {
        printer.line(&printer.texts.get("stop-nothing", &[]));
    }
    let (process, processes) = (stopped.first(), &stopped);
    let trial = trial.display().to_string();
    printer.object(&StopJson { format: "pilote.stop/1", trial, process, processes, gone });
    Ok(if gone { Exit::Holds } else { Exit::Stopped })
}

/// The process at work that began first. Whoever asks for the `first` time is told when the last one cannot be seen.
fn next_at_work(
    trial: &Path,
    surroundings: &Surroundings,
    first: bool,
) -> Result<Option<WriterProcess>, Failure> {
    let mut found = writer::all(trial, surroundings)?;
    if let Some(at) = found.iter().position(|writer| writer.standing == Standing::Alive) {
        return Ok(found.swap_remove(at).news.process);
    }
    if first
        && let Some(Found { news, standing: Standing::Unknown(why) }) = found.pop()
        && let Some(process) = news.process
    {
        let error = anyhow::anyhow!(
            "whether process {} on {} works cannot be seen from here: {why}",
            process.pid,
            process.host
        );
        return Err(Failure::request("process-elsewhere", error)
            .hint("give the command on the machine, and in the container, where the trial runs"));
    }
    Ok(None)
}

/// Signals the process, and no other one: it is held by a descriptor before its start time is compared, so that a
/// number that was given to somebody else meanwhile is never hit. False where it was gone already.
#[cfg(target_os = "linux")]
fn signal(process: &WriterProcess, now: bool, surroundings: &Surroundings) -> Result<bool, Failure> {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let refused = |error: rustix::io::Errno| {
        let error = anyhow::anyhow!("process {} cannot be signalled: {error}", process.pid);
        Failure::request("no-signal", error).hint("give the command as the user who launched the trial")
    };
    let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        handle => handle.map_err(refused)?,
    };
    if writer::liveness(surroundings)?.standing(&writer::as_owner(process)) != Standing::Alive {
        return Ok(false);
    }
    let signal = if now { Signal::KILL } else { Signal::TERM };
    match pidfd_send_signal(&handle, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(false),
        sent => sent.map(|()| true).map_err(refused),
    }
}

#[cfg(not(target_os = "linux"))]
fn signal(process: &WriterProcess, _now: bool, _surroundings: &Surroundings) -> Result<bool, Failure> {
    let error = anyhow::anyhow!("process {} cannot be signalled on this system", process.pid);
    Err(Failure::request("no-signal", error).hint("trials run on Linux; give the command there"))
}

/// Waits until the process is gone; an interrupt ends the waiting alone.
fn wait(process: &WriterProcess, surroundings: &Surroundings, printer: &Printer) -> Result<bool, Failure> {
    let (liveness, owner) = (writer::liveness(surroundings)?, writer::as_owner(process));
    let meter = Meter::new(printer, surroundings.clock.clone());
    let what = printer.texts.get("stop-waiting", &[]);
    while liveness.standing(&owner) == Standing::Alive {
        if surroundings.interrupt.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(false);
        }
        meter.show(&what, 0, 0, "");
        surroundings.clock.wait(LOOK_EVERY);
    }
    Ok(true)
}
