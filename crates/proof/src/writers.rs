//! Who writes or wrote a trial, and how far each said it is: what another terminal follows.

use std::path::Path;
use std::time::Duration;

use pilote_spec::{EventLine, Stamp, TrialEvent, WriterProcess};
use serde::Serialize;

use crate::error::ProofError;
use crate::journal::{Journal, Writer};
use crate::trial_dir::TrialDir;

/// What one writer said of itself so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterNews {
    /// Wall clock at its start.
    pub began: Stamp,
    /// Its process, where it was written down.
    pub process: Option<WriterProcess>,
    /// Items that had an outcome when it began.
    pub carried_over: u64,
    /// The refused ones among them.
    pub carried_refused: u64,
    /// Outcomes that were durable at times since its start, the oldest first.
    pub progress: Vec<(Duration, u64)>,
    /// Refused items among the last of them.
    pub refused: u64,
    /// Parts that it sealed, and the items of them.
    pub sealed: Sealed,
    /// Its first failure, in its own words.
    pub first_error: Option<String>,
    /// How it ended, in its own word; none while it works, and for one that was killed.
    pub ended: Option<String>,
}

/// Parts that a writer finished; of one that was taken over, all its items count for who finished it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sealed {
    /// How many.
    pub parts: u64,
    /// Their items.
    pub items: u64,
}

impl WriterNews {
    /// Outcomes that it said it made durable itself.
    #[must_use]
    pub fn own(&self) -> u64 {
        self.progress.last().map_or(0, |(_, done)| done.saturating_sub(self.carried_over))
    }

    fn own_refused(&self) -> u64 {
        self.refused.saturating_sub(self.carried_refused)
    }
}

/// How far all writers of a trial came together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Together {
    /// Items that had an outcome when the first of them began.
    pub carried_over: u64,
    /// Items that have an outcome.
    pub done: u64,
    /// The refused ones among them.
    pub refused: u64,
    /// Outcomes that were durable at times since the first of them began, the oldest first.
    pub progress: Vec<(Duration, u64)>,
}

/// Puts together what writers said, the one that began last at the end. A writer that was killed said less than it
/// did; whoever began after it counted what is really there, so that the count that reaches farthest is the right one.
#[must_use]
pub fn together(writers: &[WriterNews]) -> Together {
    let since = |first: usize| {
        let crew = &writers[first..];
        writers[first].carried_over + crew.iter().map(WriterNews::own).sum::<u64>()
    };
    let Some(first) = (0..writers.len()).max_by_key(|first| since(*first)) else {
        return Together::default();
    };
    let (base, crew) = (&writers[first], &writers[first..]);
    let mut steps: Vec<(Duration, u64)> = Vec::new();
    for writer in crew {
        let offset = Duration::from_millis(writer.began.0.saturating_sub(base.began.0));
        let mut before = writer.carried_over;
        for (at, done) in &writer.progress {
            steps.push((offset + *at, done.saturating_sub(before)));
            before = *done;
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    let mut done = base.carried_over;
    let progress = steps.into_iter().map(|(at, more)| {
        done += more;
        (at, done)
    });
    let progress = progress.collect();
    let refused = base.carried_refused + crew.iter().map(WriterNews::own_refused).sum::<u64>();
    Together { carried_over: base.carried_over, done: since(first), refused, progress }
}

/// The writers of the trial in `dir`, the one that began last at the end. Reads events alone, and works for a trial
/// whose launch is not written down yet.
///
/// # Errors
/// When the events cannot be read.
pub fn writers(dir: &Path) -> Result<Vec<WriterNews>, ProofError> {
    let mut writers: Vec<WriterNews> = Journal::read(dir)?.events.iter().filter_map(news).collect();
    writers.sort_by_key(|writer| writer.began);
    Ok(writers)
}

/// Number of items of the trial in `dir`, from its closed index.
///
/// # Errors
/// When the trial or its index cannot be read.
pub fn declared(dir: &Path) -> Result<u64, ProofError> {
    Ok(TrialDir::open(dir)?.closing()?.items)
}

/// How many of a trial's parts are finished.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// All of them.
    pub all: u64,
    /// Those with a seal.
    pub sealed: u64,
}

/// The parts of the trial in `dir`; of each the list of its entries is read.
///
/// # Errors
/// When the trial, its index or a seal cannot be read.
pub fn parts(dir: &Path) -> Result<Parts, ProofError> {
    let trial = TrialDir::open(dir)?;
    let mut parts = Parts::default();
    for entry in &trial.closing()?.parts {
        parts.all += 1;
        parts.sealed += u64::from(trial.is_sealed(entry.part)?);
    }
    Ok(parts)
}

fn news(writer: &Writer<EventLine>) -> Option<WriterNews> {
    let mut news: Option<WriterNews> = None;
    for line in &writer.lines {
        match (&line.event, &mut news) {
            (TrialEvent::Started { wall, carried_over, carried_refused, process, .. }, None) => {
                news = Some(WriterNews {
                    began: *wall,
                    process: process.clone(),
                    carried_over: *carried_over,
                    carried_refused: *carried_refused,
                    progress: Vec::new(),
                    refused: *carried_refused,
                    sealed: Sealed::default(),
                    first_error: None,
                    ended: None,
                });
            }
            (TrialEvent::Progress { accepted, refused }, Some(news)) => {
                news.progress.push((Duration::from_micros(line.at_us), accepted + refused));
                news.refused = *refused;
            }
            (TrialEvent::Sealed { accepted, refused, .. }, Some(news)) => {
                news.sealed.parts += 1;
                news.sealed.items += accepted + refused;
            }
            (TrialEvent::Failed { first_error, .. }, Some(news)) => {
                news.first_error.get_or_insert_with(|| first_error.clone());
            }
            (TrialEvent::Ended { why, .. }, Some(news)) => news.ended = Some(why.clone()),
            _ => {}
        }
    }
    news
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FIRST: &str = r#"{"at_us":0,"event":"started","wall":5,"resumed":false,"carried_over":0}
{"at_us":5000000,"event":"progress","accepted":7,"refused":1}
{"at_us":6000000,"event":"failed","step":"compute","first_error":"out of memory"}
{"at_us":7000000,"event":"ended","why":"breaker","stray_answers":0}
"#;
    const SECOND: &str = r#"{"at_us":0,"event":"started","wall":9,"resumed":true,"carried_over":8,"process":{"host":"h","boot":"b","pid":7,"started":70,"pid_namespace":1}}
{"at_us":5000000,"event":"progress","accepted":9,"refused":2}
{"at_us":1"#;

    #[test]
    fn the_writer_that_began_last_comes_last_with_what_it_said_so_far() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("events")).unwrap();
        fs::write(dir.path().join("events/b.jsonl"), FIRST).unwrap();
        fs::write(dir.path().join("events/a.jsonl"), SECOND).unwrap();
        let writers = writers(dir.path()).unwrap();
        let [first, second] = writers.as_slice() else { panic!("{writers:?}") };
        assert_eq!(
            (first.ended.as_deref(), first.first_error.as_deref()),
            (Some("breaker"), Some("out of memory"))
        );
        assert_eq!((second.ended.as_deref(), second.carried_over, second.refused), (None, 8, 2));
        assert_eq!(second.progress, [(Duration::from_secs(5), 11)]);
        assert_eq!(second.process.as_ref().unwrap().pid, 7);
    }

    #[test]
    fn what_several_writers_did_at_once_adds_up_and_what_a_killed_one_did_not_say_is_not_lost() {
        let writer = |began, carried_over, progress: &[(u64, u64)]| WriterNews {
            began: Stamp(began),
            process: None,
            carried_over,
            carried_refused: 1,
            progress: progress.iter().map(|(at, done)| (Duration::from_secs(*at), *done)).collect(),
            refused: 2,
            sealed: Sealed::default(),
            first_error: None,
            ended: None,
        };
        // The first was killed after twelve outcomes, of which it had said ten.
        let writers = [
            writer(0, 0, &[(5, 10)]),
            writer(60_000, 12, &[(5, 20), (10, 30)]),
            writer(61_000, 14, &[(5, 24)]),
        ];
        let together = together(&writers);
        assert_eq!((together.carried_over, together.done, together.refused), (12, 12 + 18 + 10, 3));
        let seconds = |at| Duration::from_secs(at);
        assert_eq!(together.progress, [(seconds(5), 20), (seconds(6), 30), (seconds(10), 40)]);
        assert_eq!(super::together(&[]), Together::default());
    }

    #[test]
    fn a_trial_that_has_no_events_has_no_writers() {
        assert_eq!(writers(tempfile::tempdir().unwrap().path()).unwrap(), []);
    }
}
