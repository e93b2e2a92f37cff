//! Who writes or wrote a trial, and how far each said it is: what another terminal follows.

use std::path::Path;
use std::time::Duration;

use pilote_spec::{EventLine, Stamp, TrialEvent, WriterProcess};

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
    /// Outcomes that were durable at times since its start, the oldest first.
    pub progress: Vec<(Duration, u64)>,
    /// Refused items among the last of them.
    pub refused: u64,
    /// Its first failure, in its own words.
    pub first_error: Option<String>,
    /// How it ended, in its own word; none while it works, and for one that was killed.
    pub ended: Option<String>,
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

fn news(writer: &Writer<EventLine>) -> Option<WriterNews> {
    let mut news: Option<WriterNews> = None;
    for line in &writer.lines {
        match (&line.event, &mut news) {
            (TrialEvent::Started { wall, carried_over, process, .. }, None) => {
                news = Some(WriterNews {
                    began: *wall,
                    process: process.clone(),
                    carried_over: *carried_over,
                    progress: Vec::new(),
                    refused: 0,
                    first_error: None,
                    ended: None,
                });
            }
            (TrialEvent::Progress { accepted, refused }, Some(news)) => {
                news.progress.push((Duration::from_micros(line.at_us), accepted + refused));
                news.refused = *refused;
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
    fn a_trial_that_has_no_events_has_no_writers() {
        assert_eq!(writers(tempfile::tempdir().unwrap().path()).unwrap(), []);
    }
}
