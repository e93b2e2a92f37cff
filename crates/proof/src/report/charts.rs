//! The charts and the history of a report: each a table with its figures first, so that a picture is never needed.

use std::time::Duration;

use crate::decision::{Decision, Tie};
use crate::history::HistoryEntry;
use crate::report::calendar;
use crate::report::chart::{self, BARS_MAX, Chart, Row};
use crate::report::page::{Past, Writer, shown};

impl Writer<'_> {
    /// Every chart whose data are there.
    pub(super) fn charts(&self) -> Vec<Chart> {
        [self.lengths(), self.reasons(), self.batches(), self.memory()].into_iter().flatten().collect()
    }

    fn lengths(&self) -> Option<Chart> {
        let lengths = &self.facts.lengths;
        let longest = lengths.last()?.0;
        if lengths.len() < 2 {
            return None;
        }
        if !self.facts.names.is_empty() {
            let rows = lengths.iter().map(|(chars, position, refused)| Row {
                label: self.facts.names.get(position).map(|name| shown(name)).unwrap_or_default(),
                class: if *refused { "off" } else { "bar" },
                width: chart::share(*chars, longest),
                value: self.texts.number(*chars),
            });
            let any_refused = lengths.iter().any(|(.., refused)| *refused);
            let caption = self.word(if any_refused { "lengths-refused" } else { "lengths" });
            return Some(Chart { caption, rows: rows.collect() });
        }
        let groups = chart::groups(&lengths.iter().map(|(chars, ..)| *chars).collect::<Vec<_>>());
        let most = groups.iter().map(|(.., count)| *count).max()?;
        let rows = groups.iter().map(|(from, to, count)| Row {
            label: format!("{}–{}", self.texts.number(*from), self.texts.number(*to)),
            class: "bar",
            width: chart::share(*count, most),
            value: self.texts.number(*count),
        });
        Some(Chart { caption: self.word("lengths-grouped"), rows: rows.collect() })
    }

    fn batches(&self) -> Option<Chart> {
        let lines = self.facts.journal.measures.iter().flat_map(|writer| &writer.lines);
        let took: Vec<u64> = lines.map(|line| line.took_us).collect();
        if took.len() < 2 {
            return None;
        }
        let runs = chart::runs(&took);
        let slowest = runs.iter().map(|(.., slowest)| *slowest).max()?;
        let rows = runs.iter().map(|(first, last, slowest_of_run)| Row {
            label: if first == last { first.to_string() } else { format!("{first}–{last}") },
            class: "bar",
            width: chart::share(*slowest_of_run, slowest),
            value: self.texts.duration(Duration::from_micros(*slowest_of_run)),
        });
        let caption = if took.len() > BARS_MAX {
            self.say("batches-grouped", &[("groups", &runs.len().to_string())])
        } else {
            self.word("batches")
        };
        Some(Chart { caption, rows: rows.collect() })
    }

    /// Refusals by reason, where there are several reasons or too many to be told one by one.
    fn reasons(&self) -> Option<Chart> {
        let reasons = &self.facts.reasons;
        let most = *reasons.values().max()?;
        if reasons.values().sum::<u64>() < 2 {
            return None;
        }
        let mut rows: Vec<(u64, &str)> =
            reasons.iter().map(|(reason, count)| (*count, reason.code())).collect();
        rows.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        let rows = rows.into_iter().map(|(count, reason)| Row {
            label: reason.to_owned(),
            class: "off",
            width: chart::share(count, most),
            value: self.texts.number(count),
        });
        Some(Chart { caption: self.word("reasons"), rows: rows.collect() })
    }

    /// Peak memory of the engine as the work went on, against the memory of its card, or of the machine.
    fn memory(&self) -> Option<Chart> {
        let lines = self.facts.journal.measures.iter().flat_map(|writer| &writer.lines);
        let peaks: Vec<u64> = lines.filter_map(|line| line.measures.peak_bytes).collect();
        let machine = &self.facts.trial.machine;
        let on_card = self.facts.trial.engine.device != "cpu";
        let card = machine.cards.first().filter(|_| on_card).and_then(|card| card.memory_bytes);
        let (all, whose) = match card {
            Some(bytes) => (bytes, "memory-of-card"),
            None => (machine.memory_bytes?, "memory-of-machine"),
        };
        if peaks.is_empty() || all == 0 {
            return None;
        }
        let rows = chart::runs(&peaks).into_iter().map(|(first, last, peak)| Row {
            label: if first == last { first.to_string() } else { format!("{first}–{last}") },
            class: "bar",
            width: chart::share(peak.min(all), all),
            value: self.texts.memory(peak),
        });
        let whole = Row {
            label: self.word(whose),
            class: "off",
            width: chart::share(all, all),
            value: self.texts.memory(all),
        };
        Some(Chart { caption: self.word("memory-chart"), rows: rows.chain([whole]).collect() })
    }

    /// The trials of the project up to this one, with what was decided on them.
    pub(super) fn history(&self) -> Vec<Past> {
        let entries = &self.facts.history;
        // One trial without a decision is the report itself.
        if entries.len() < 2 && entries.iter().all(|entry| entry.decisions.is_empty()) {
            return Vec::new();
        }
        entries.iter().map(|entry| self.past(entry)).collect()
    }

    fn past(&self, entry: &HistoryEntry) -> Past {
        let balance = entry.trial.balance.as_ref().map(|balance| {
            let key = if balance.holds { "runs-holds" } else { "runs-fails" };
            let counts =
                [balance.accepted, balance.refused, balance.pending].map(|count| self.texts.number(count));
            let [accepted, refused, pending] = &counts;
            self.texts.get(key, &[("accepted", accepted), ("refused", refused), ("pending", pending)])
        });
        let mut lines = Vec::new();
        if let (Some(since), false) = (&entry.since, entry.changed.is_empty()) {
            let name = |factor: &crate::FactorCode| {
                self.texts.get(&format!("compare-factor-{}", factor.code()), &[])
            };
            let names: Vec<String> = entry.changed.iter().map(name).collect();
            let factors = self.texts.list(names.iter().map(String::as_str));
            lines.push(self.texts.get("log-changed", &[("since", since), ("factors", &factors)]));
        }
        if entry.verified_elsewhere {
            lines.push(self.texts.get("log-elsewhere", &[]));
        }
        if let Some(resolution) = &entry.resolution {
            let key = format!("log-resolution-{}", resolution.state.code());
            let condition = resolution.condition.to_string();
            lines.push(self.texts.get(&key, &[("condition", &condition), ("of", &resolution.of)]));
        }
        for kept in &entry.decisions {
            lines.extend(kept.decision.iter().flat_map(|decision| self.decision(kept.number, decision)));
            lines.extend(self.tie(kept.number, &kept.tie));
        }
        Past { name: shown(&entry.trial.name), value: balance.unwrap_or_default(), lines }
    }

    fn decision(&self, number: u32, decision: &Decision) -> Vec<String> {
        let choice = self.texts.get(&format!("decision-{}", decision.choice.code()), &[]);
        let at = calendar(decision.at);
        let args = [("number", &*number.to_string()), ("at", &*at), ("choice", &*choice)];
        let words = |key: &str, words: &str| self.texts.get(key, &[("words", words)]);
        let mut lines = vec![self.texts.get("log-decision", &args), words("log-because", &decision.because)];
        lines.extend(decision.accepted.iter().map(|accepted| words("log-accepted", accepted)));
        lines.extend(decision.left.iter().map(|left| words("log-left", left)));
        lines.extend(
            decision
                .condition
                .iter()
                .map(|condition| self.texts.get("log-condition", &[("condition", &condition.to_string())])),
        );
        if !decision.samples.is_empty() {
            let wrong = decision.samples.iter().filter(|sample| !sample.right).count().to_string();
            let args = [("count", &*decision.samples.len().to_string()), ("wrong", &*wrong)];
            lines.push(self.texts.get("log-samples", &args));
        }
        lines
    }

    /// What is to be said where a decision rests on a trial that is not proved to be as it was.
    fn tie(&self, number: u32, tie: &Tie) -> Option<String> {
        let files = |key: &str, files: &[String]| {
            self.texts.get(key, &[("files", &self.texts.list(files.iter().map(String::as_str)))])
        };
        match tie {
            Tie::Holds => None,
            Tie::ByLength { files: long } => Some(files("log-by-length", long)),
            Tie::Broken { files: changed } => Some(files("log-broken", changed)),
            Tie::Unreadable { why } => {
                Some(self.texts.get("log-unreadable", &[("number", &number.to_string()), ("why", why)]))
            }
        }
    }
}
