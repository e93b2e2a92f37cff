//! What each worker of a trial did of it, for `pilote status`.

use std::path::Path;

use pilote_ledger::Standing;
use pilote_proof::{Sealed, WriterNews};
use pilote_spec::WriterProcess;
use pilote_text::Texts;
use serde::Serialize;

use super::writer::{self, Found};
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// What one worker did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct WorkerShare {
    /// Its process, where it was written down.
    process: Option<WriterProcess>,
    /// How its process stands.
    standing: WorkerStanding,
    /// Parts that it finished, with all their items.
    #[serde(flatten)]
    sealed: Sealed,
    /// Outcomes that it wrote itself, as far as it said.
    outcomes: u64,
    /// Outcomes in a second, from its start to the last that it told of; none where it told of none.
    rate: Option<f64>,
    /// Whether it is at work at less than half of the rate that is usual among those at work.
    slow: bool,
}

/// How the process of a worker stands, as it can be seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum WorkerStanding {
    AtWork,
    Gone,
    Unseen,
}

/// The workers of the trial in `dir`, in the order in which they began.
///
/// # Errors
/// When the events or `/proc` cannot be read.
pub(crate) fn of(dir: &Path, surroundings: &Surroundings) -> Result<Vec<WorkerShare>, Failure> {
    let mut shares: Vec<WorkerShare> = writer::all(dir, surroundings)?.into_iter().map(share).collect();
    mark_slow(&mut shares);
    Ok(shares)
}

fn share(found: Found) -> WorkerShare {
    let Found { news, standing } = found;
    let standing = match standing {
        Standing::Alive => WorkerStanding::AtWork,
        Standing::Dead(_) => WorkerStanding::Gone,
        Standing::Unknown(_) => WorkerStanding::Unseen,
    };
    let (outcomes, rate) = (news.own(), rate(&news));
    WorkerShare { process: news.process, standing, sealed: news.sealed, outcomes, rate, slow: false }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people, of counts far below 2^52")]
fn rate(news: &WriterNews) -> Option<f64> {
    let (last, _) = news.progress.last()?;
    Some(news.own() as f64 / last.as_secs_f64()).filter(|rate| rate.is_finite())
}

/// A worker that is far behind the middle one of at least three is marked, so that nobody waits for it unknowingly.
fn mark_slow(shares: &mut [WorkerShare]) {
    let at_work = |share: &&WorkerShare| share.standing == WorkerStanding::AtWork;
    let mut rates: Vec<f64> = shares.iter().filter(at_work).filter_map(|share| share.rate).collect();
    rates.sort_by(f64::total_cmp);
    let Some(usual) = rates.get(rates.len() / 2).copied().filter(|_| rates.len() > 2) else { return };
    for share in shares {
        let slow = share.rate.is_some_and(|rate| rate < usual / 2.0);
        share.slow = slow && share.standing == WorkerStanding::AtWork;
    }
}

/// A line for each worker, where there was more than one.
pub(crate) fn lines(shares: &[WorkerShare], texts: &Texts) -> Vec<String> {
    if shares.len() < 2 {
        return Vec::new();
    }
    shares.iter().map(|share| line(share, texts)).collect()
}

fn line(share: &WorkerShare, texts: &Texts) -> String {
    let who = match &share.process {
        Some(process) => {
            let args = [("pid", &*process.pid.to_string()), ("host", &*process.host)];
            texts.get("share-worker", &args)
        }
        None => texts.get("share-worker-unknown", &[]),
    };
    let devices = share.process.iter().flat_map(|process| &process.devices).map(String::as_str);
    let devices: Vec<&str> = devices.collect();
    let who = if devices.is_empty() {
        who
    } else {
        texts.get("share-devices", &[("who", &*who), ("devices", &*texts.list(devices))])
    };
    let (parts, items) = (texts.number(share.sealed.parts), texts.number(share.sealed.items));
    let mut said = vec![
        texts.get("share-done", &[("who", &who), ("parts", &parts), ("items", &items)]),
        texts.get(
            match share.standing {
                WorkerStanding::AtWork => "share-at-work",
                WorkerStanding::Gone => "share-gone",
                WorkerStanding::Unseen => "share-unseen",
            },
            &[],
        ),
    ];
    if share.standing == WorkerStanding::AtWork
        && let Some(rate) = share.rate
    {
        said.push(texts.get("share-rate", &[("rate", &texts.decimal(rate, usize::from(rate < 100.0)))]));
    }
    if share.slow {
        said.push(texts.get("share-slow", &[]));
    }
    said.join(" · ")
}

#[cfg(test)]
mod tests {
    use pilote_text::Lang;

    use super::*;

    fn worker(pid: u32, devices: &[&str], standing: WorkerStanding, rate: Option<f64>) -> WorkerShare {
        let process = WriterProcess {
            host: "node-1".to_owned(),
            boot: "b".to_owned(),
            pid,
            started: 1,
            pid_namespace: 1,
            devices: devices.iter().map(|it| (*it).to_owned()).collect(),
        };
        let sealed = Sealed { parts: 3, items: 1_536 };
        WorkerShare { process: Some(process), standing, sealed, outcomes: 1_600, rate, slow: false }
    }

    #[test]
    fn a_worker_at_less_than_half_of_the_usual_rate_is_named_as_slow() {
        use WorkerStanding::{AtWork, Gone};
        let mut shares = [
            worker(1, &["0"], AtWork, Some(100.0)),
            worker(2, &["1"], AtWork, Some(49.0)),
            worker(3, &[], AtWork, Some(104.5)),
            worker(4, &[], Gone, Some(1.0)),
        ];
        mark_slow(&mut shares);
        assert_eq!(shares.each_ref().map(|share| share.slow), [false, true, false, false]);
        let lines = lines(&shares, &Texts::new(Lang::En));
        assert_eq!(
            lines[1],
            "process 2 on node-1 (devices 1): 3 parts with 1,536 items · at work · 49.0/s · less than half as fast as the others"
        );
        assert_eq!(lines[3], "process 4 on node-1: 3 parts with 1,536 items · gone");
    }

    #[test]
    fn one_worker_needs_no_lines() {
        let shares = [worker(1, &[], WorkerStanding::AtWork, None)];
        assert!(lines(&shares, &Texts::new(Lang::En)).is_empty());
    }
}
