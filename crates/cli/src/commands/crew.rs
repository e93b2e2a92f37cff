//! Several workers on one trial: the process that launches it is the first, the others run `pilote work`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pilote_spec::Clock;

use crate::args;
use crate::failure::Failure;
use crate::printer::Printer;

/// Workers of one trial on one machine; a bound against a slip of the finger.
const WORKERS_MAX: u32 = 256;
/// How often it is looked whether the others ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What of the machine one worker has to itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// Workers that the machine's processors are shared among; 0 and 1 are one.
    pub(crate) workers: u32,
    /// The devices that this worker alone is shown; empty leaves it what the project declares.
    pub(crate) devices: Vec<String>,
}

impl Share {
    /// The share of a worker that another one started.
    ///
    /// # Errors
    /// When the devices are more than one group.
    pub(crate) fn one_of(workers: u32, devices: Option<&str>) -> Result<Self, Failure> {
        let groups = devices.map(groups).transpose()?.unwrap_or_default();
        let devices = groups.into_iter().next().unwrap_or_default();
        Ok(Self { workers, devices })
    }
}

/// The shares of all workers, the first one's first.
///
/// # Errors
/// When the devices are no list of groups, or the workers are none or too many.
pub(crate) fn shares(crew: &args::Crew) -> Result<Vec<Share>, Failure> {
    let groups = crew.devices.as_deref().map(groups).transpose()?.unwrap_or_default();
    let workers = crew.workers.unwrap_or_else(|| u32::try_from(groups.len()).unwrap_or(u32::MAX).max(1));
    if !(1..=WORKERS_MAX).contains(&workers) {
        let error = anyhow::anyhow!("--workers {workers}: from 1 to {WORKERS_MAX} can work on one machine");
        return Err(Failure::request("workers", error));
    }
    if groups.len() > workers as usize {
        let error = anyhow::anyhow!(
            "--devices names {} groups for {workers} workers: some would be idle",
            groups.len()
        );
        return Err(Failure::request("workers", error).hint("name as many groups as there are workers"));
    }
    let share = |worker: usize| Share {
        workers,
        devices: if groups.is_empty() { Vec::new() } else { groups[worker % groups.len()].clone() },
    };
    Ok((0..workers as usize).map(share).collect())
}

/// `0,1;2,3` as two groups of two devices.
fn groups(text: &str) -> Result<Vec<Vec<String>>, Failure> {
    let group = |group: &str| group.split(',').map(|device| device.trim().to_owned()).collect::<Vec<_>>();
    let groups: Vec<Vec<String>> = text.split(';').map(group).collect();
    if groups.iter().flatten().any(String::is_empty) {
        let error = anyhow::anyhow!("--devices {text}: a device without a name");
        return Err(Failure::request("devices", error).hint(
            "write the devices of a worker with commas, and the workers with semicolons: \"0,1;2,3\"",
        ));
    }
    Ok(groups)
}

/// Items of a part, so that a trial of so many has some parts for each of many workers, each of enough batches that
/// items of like length come together. A function of the declared number and of the batch alone, never of the number
/// of workers.
pub(crate) fn part_items(count: u64, batch_items: u64) -> u64 {
    const PARTS: u64 = 64;
    const BATCHES_MIN: u64 = 16;
    const ITEMS_MAX: u64 = 16_384;
    let batch = batch_items.max(1);
    let wished = count.div_ceil(PARTS).next_multiple_of(batch);
    wished.clamp((batch * BATCHES_MIN).min(ITEMS_MAX), ITEMS_MAX)
}

/// The workers beside the first. They stop in order when they are told to, and when the first is gone.
pub(crate) struct Crew {
    members: Vec<Member>,
}

struct Member {
    number: usize,
    child: Child,
    log: PathBuf,
}

impl Crew {
    /// Starts `pilote work` on the trial for each of `shares`, which are those beside the first. A failure where a
    /// process or its log cannot be made: the others are there all the same.
    pub(crate) fn start(
        trial: &Path,
        project: &Path,
        cache: &Path,
        shares: &[Share],
    ) -> (Self, Option<Failure>) {
        let mut crew = Self { members: Vec::new() };
        for (number, share) in (2..).zip(shares) {
            let log = log_of(trial, number);
            match member(trial, project, cache, share, &log) {
                Ok(child) => crew.members.push(Member { number, child, log }),
                Err(error) => {
                    let error =
                        anyhow::Error::new(error).context(format!("worker {number} cannot be started"));
                    return (crew, Some(Failure::machine("worker", error)));
                }
            }
        }
        (crew, None)
    }

    /// How many of them did not end yet.
    pub(crate) fn at_work(&mut self) -> usize {
        let at_work = |member: &mut Member| matches!(member.child.try_wait(), Ok(None));
        self.members.iter_mut().map(at_work).filter(|at_work| *at_work).count()
    }

    /// Asks all of them to stop in order, by closing their standard input.
    pub(crate) fn stop(&mut self) {
        for member in &mut self.members {
            drop(member.child.stdin.take());
        }
    }

    /// Waits for all of them, and says which did not end as they should. An interrupt asks them to stop.
    pub(crate) fn finish(mut self, clock: &dyn Clock, interrupt: &AtomicBool, printer: &Printer) {
        while self.at_work() > 0 {
            if interrupt.load(Ordering::Relaxed) {
                self.stop();
            }
            clock.wait(LOOK_EVERY);
        }
        for Member { number, mut child, log } in self.members {
            let status = child.wait().ok().and_then(|status| status.code());
            if status == Some(0) {
                // A log with nothing in it says nothing.
                if fs_err::metadata(&log).is_ok_and(|facts| facts.len() == 0) {
                    let _ = fs_err::remove_file(&log);
                }
                continue;
            }
            let status = status.map_or_else(|| "?".to_owned(), |status| status.to_string());
            let (number, log) = (number.to_string(), log.display().to_string());
            let args = [("number", &*number), ("status", &*status), ("log", &*log)];
            printer.say(&printer.texts.get("crew-ended-early", &args));
        }
    }
}

/// Sets `interrupt` once standard input is closed: whoever leads asks for a stop, or is gone.
pub(crate) fn heed_leader(interrupt: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        // Nothing is ever sent; only the end counts.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        interrupt.store(true, Ordering::Relaxed);
    });
}

/// The log of worker `number`, beside the trial.
fn log_of(trial: &Path, number: usize) -> PathBuf {
    let mut name = trial.as_os_str().to_owned();
    name.push(format!(".worker-{number}.log"));
    PathBuf::from(name)
}

fn member(trial: &Path, project: &Path, cache: &Path, share: &Share, log: &Path) -> std::io::Result<Child> {
    let log = fs_err::OpenOptions::new().create(true).append(true).open(log)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("work").arg(trial).arg("--project").arg(project).arg("--cache").arg(cache);
    command.args(["--one-of", &share.workers.to_string()]);
    if !share.devices.is_empty() {
        command.args(["--devices", &share.devices.join(",")]);
    }
    // An interrupt from the keyboard is for the worker that leads alone.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log.into_parts().0).spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(workers: Option<u32>, devices: Option<&str>) -> Result<Vec<Share>, Failure> {
        shares(&args::Crew { workers, devices: devices.map(str::to_owned) })
    }

    #[test]
    fn each_worker_gets_a_group_of_devices_of_its_own() {
        let share = |devices: &[&str]| Share {
            workers: 2,
            devices: devices.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert_eq!(shared(None, Some("0,1; 2,3")).unwrap(), [share(&["0", "1"]), share(&["2", "3"])]);
        assert_eq!(shared(Some(2), None).unwrap(), [share(&[]), share(&[])]);
        assert_eq!(shared(None, None).unwrap().len(), 1);
        assert_eq!(shared(Some(2), Some("GPU-8f")).unwrap(), [share(&["GPU-8f"]), share(&["GPU-8f"])]);
    }

    #[test]
    fn impossible_crews_are_refused_with_what_is_wrong() {
        let said = |workers, devices| shared(workers, devices).unwrap_err().for_people();
        assert!(said(Some(0), None).contains("--workers 0: from 1 to 256"));
        assert!(said(None, Some("0,;1")).contains("--devices 0,;1: a device without a name"));
        assert!(said(Some(2), Some("0;1;2")).contains("names 3 groups for 2 workers"));
    }

    #[test]
    fn parts_are_cut_by_the_number_of_items_and_the_batch() {
        assert_eq!(part_items(12, 4), 64, "a pilot is one part");
        assert_eq!(part_items(500, 32), 512);
        assert_eq!(part_items(500, 1), 16);
        assert_eq!(part_items(12_000, 8), 192);
        assert_eq!(part_items(1_000_000, 256), 15_872);
        assert_eq!(part_items(10_000_000, 64), 16_384);
        assert_eq!(part_items(0, 0), 16);
        assert_eq!(part_items(7, 100_000), 16_384);
    }
}
