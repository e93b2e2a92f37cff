//! What the writers of a trial noted beside the outcomes: `events/` and `measures/`, one file a writer.
//!
//! These lines are no outcomes: a torn last line is what a crash leaves, and is passed over; a broken line
//! before the last is damage and is reported.

use std::path::Path;

use pilote_spec::{EventLine, MeasureLine, Stamp, TrialEvent};
use serde::de::DeserializeOwned;

use crate::error::ProofError;
use crate::shelf::Shelf;
use crate::trial_dir::root_of;

/// Events and measures of all writers.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// Events by writer, in the order of the writers' names; each writer's own in the order of its file.
    pub events: Vec<Writer<EventLine>>,
    /// Measures by writer.
    pub measures: Vec<Writer<MeasureLine>>,
}

/// The lines of one writer's file.
#[derive(Debug)]
pub(crate) struct Writer<L> {
    /// The file, relative to the trial.
    pub file: String,
    /// Its whole lines.
    pub lines: Vec<L>,
    /// Numbers, from 1, of lines before the last that cannot be read.
    pub broken: Vec<u64>,
    /// Whether the last line is torn.
    pub torn: bool,
}

impl Journal {
    /// Reads both directories of a trial; an absent one holds nothing.
    pub(crate) fn read(root: &Path) -> Result<Self, ProofError> {
        Self::of(&Shelf::folder(&root_of(root)))
    }

    /// The same of files that may lie elsewhere than in a folder.
    pub(crate) fn of(shelf: &Shelf) -> Result<Self, ProofError> {
        Ok(Self { events: read_dir(shelf, "events")?, measures: read_dir(shelf, "measures")? })
    }

    /// Answers that could not be used. A writer that was killed left no count at its end, so its own lines count.
    pub(crate) fn stray_answers(&self) -> u64 {
        self.events
            .iter()
            .map(|writer| {
                let noted =
                    writer.lines.iter().filter(|line| matches!(line.event, TrialEvent::StrayAnswer { .. }));
                let counted = writer.lines.iter().map(|line| match &line.event {
                    TrialEvent::Ended { stray_answers, .. } => *stray_answers,
                    _ => 0,
                });
                (noted.count() as u64).max(counted.sum())
            })
            .sum()
    }

    /// How the writer that began last ended, in its own word. Of one that was killed while others worked beside it, the
    /// word of the one among them that ended last; none where nobody ended after it began.
    pub(crate) fn last_word(&self) -> Option<String> {
        let last = self.events.iter().max_by_key(|writer| (writer.began(), &writer.file))?;
        if let Some((_, why)) = last.ended() {
            return Some(why.to_owned());
        }
        let since = last.began()?.0.saturating_mul(1_000);
        let beside = self.events.iter().filter_map(Writer::ended).filter(|(at_us, _)| *at_us > since);
        beside.max_by_key(|(at_us, _)| *at_us).map(|(_, why)| why.to_owned())
    }

    /// Lines before the last that cannot be read, as (file, line number).
    pub(crate) fn broken(&self) -> impl Iterator<Item = (&str, u64)> {
        let events = self.events.iter().flat_map(|w| w.broken.iter().map(|line| (w.file.as_str(), *line)));
        events.chain(self.measures.iter().flat_map(|w| w.broken.iter().map(|line| (w.file.as_str(), *line))))
    }
}

impl Writer<EventLine> {
    /// Wall clock at the writer's start.
    fn began(&self) -> Option<Stamp> {
        self.lines.iter().find_map(|line| match line.event {
            TrialEvent::Started { wall, .. } => Some(wall),
            _ => None,
        })
    }

    /// When it ended, in microseconds of the calendar, and its word for why.
    fn ended(&self) -> Option<(u64, &str)> {
        let began_us = self.began()?.0.saturating_mul(1_000);
        self.lines.iter().rev().find_map(|line| match &line.event {
            TrialEvent::Ended { why, .. } => Some((began_us.saturating_add(line.at_us), why.as_str())),
            _ => None,
        })
    }
}

fn read_dir<L: DeserializeOwned>(shelf: &Shelf, name: &str) -> Result<Vec<Writer<L>>, ProofError> {
    shelf
        .below(name)?
        .into_iter()
        .map(|file| file.key)
        .filter(|file| file.ends_with(".jsonl"))
        .map(|file| {
            let bytes = shelf.bytes(&file)?.unwrap_or_default();
            Ok(parse(file, &bytes))
        })
        .collect()
}

fn parse<L: DeserializeOwned>(file: String, bytes: &[u8]) -> Writer<L> {
    let mut writer = Writer { file, lines: Vec::new(), broken: Vec::new(), torn: false };
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        match serde_json::from_slice(line) {
            Ok(parsed) => writer.lines.push(parsed),
            Err(_) if !line.ends_with(b"\n") => writer.torn = true,
            Err(_) => writer.broken.push(number),
        }
    }
    writer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_passed_over_and_a_broken_one_before_it_is_reported() {
        let text =
            b"{\"at_us\":1,\"event\":\"ended\",\"why\":\"done\",\"stray_answers\":2}\nxx\n{\"at_us\":3";
        let writer: Writer<EventLine> = parse("events/1.jsonl".into(), text);
        assert_eq!((writer.lines.len(), writer.broken.as_slice(), writer.torn), (1, &[2][..], true));
    }

    #[test]
    fn stray_answers_of_a_killed_writer_are_counted_by_its_lines() {
        let stray = b"{\"at_us\":1,\"event\":\"stray-answer\",\"what\":\"unknown\",\"wire\":\"w9\"}\n";
        let ended = b"{\"at_us\":0,\"event\":\"started\",\"wall\":5,\"resumed\":true,\"carried_over\":0}\n\
            {\"at_us\":9,\"event\":\"ended\",\"why\":\"done\",\"stray_answers\":3}\n";
        let journal = Journal {
            events: vec![parse("events/1.jsonl".into(), stray), parse("events/0.jsonl".into(), ended)],
            measures: Vec::new(),
        };
        assert_eq!(journal.stray_answers(), 4);
        assert_eq!(journal.last_word().as_deref(), Some("done"));
    }
}
