//! The report for programs: the same facts as the page, never translated, bounded like it.

use std::collections::BTreeMap;

use pilote_spec::{Balance, Criterion, Item, Output, Refusal, Trial};
use serde::Serialize;

use crate::excerpt::Excerpt;
use crate::finding::Finding;
use crate::history::HistoryEntry;
use crate::report::chart;
use crate::report::facts::{Facts, Sample};

/// The facts of a report, format `pilote.report-facts/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportData {
    /// Always `pilote.report-facts/1`.
    pub format: &'static str,
    /// What was launched, as recorded: deliverable, engine, model, machine, program.
    pub trial: Trial,
    /// Whether it is whole and every criterion holds.
    pub holds: bool,
    /// The account, counted anew; none where the index cannot be read.
    pub balance: Option<Balance>,
    /// The criteria, the one about a copy included.
    pub criteria: Vec<Criterion>,
    /// What was found wrong.
    pub findings: Vec<Finding>,
    /// Whether the last copy that the trial knows of was whole, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_whole: Option<bool>,
    /// Refusals by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// The first refusals one by one.
    pub refusals: Vec<RefusalData>,
    /// Accepted items beside their inputs: all where they are few, else a sample by length.
    pub samples: Vec<SampleData>,
    /// All accepted items.
    pub accepted: u64,
    /// Inputs by length: from and to, in characters, and their count.
    pub lengths: Vec<(u64, u64, u64)>,
    /// What was measured.
    pub measures: MeasuresData,
    /// The trials of the project up to this one with the decisions on them, the last ones; empty for a copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryEntry>,
}

/// A refused item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefusalData {
    /// The item, as the index has it.
    pub item: Item,
    /// Why.
    pub refusal: Refusal,
}

/// An accepted item beside its input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleData {
    /// The item, as the index has it.
    pub item: Item,
    /// The start of its input, where it can be read and is the one that was worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Its output; none where a payload is lost.
    pub output: Option<Output>,
}

/// What was measured over all batches. A reading that was not taken is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MeasuresData {
    /// Batches that were measured.
    pub batches: u64,
    /// Items of these batches.
    pub items: u64,
    /// Time of computing, of the engine's own clock where it has one, in microseconds.
    pub compute_us: u64,
    /// The slowest of each run of consecutive batches, numbered from 1, in microseconds.
    pub slowest_us: Vec<(usize, usize, u64)>,
    /// Peak memory of the engine in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

impl ReportData {
    /// The facts without any word chosen.
    pub(super) fn new(facts: Facts) -> Self {
        let measures = measures(&facts);
        let lengths: Vec<u64> = facts.lengths.iter().map(|(chars, ..)| *chars).collect();
        let sample = |sample: Sample| SampleData {
            item: sample.item,
            input: match sample.excerpt {
                Excerpt::Text(text) => Some(text),
                Excerpt::Absent | Excerpt::Changed | Excerpt::Unreadable => None,
            },
            output: sample.output,
        };
        Self {
            format: "pilote.report-facts/1",
            holds: facts.verification.holds,
            balance: facts.verification.balance.clone(),
            criteria: facts.verification.criteria.clone(),
            findings: facts.verification.findings.clone(),
            copy_whole: facts.copy.as_ref().map(|copy| copy.whole),
            refused: facts.reasons.iter().map(|(reason, count)| (reason.code(), *count)).collect(),
            refusals: facts
                .refusals
                .into_iter()
                .map(|(item, refusal)| RefusalData { item, refusal })
                .collect(),
            samples: facts.samples.into_iter().map(sample).collect(),
            accepted: facts.accepted,
            lengths: chart::groups(&lengths),
            measures,
            history: facts.history,
            trial: facts.trial,
        }
    }
}

fn measures(facts: &Facts) -> MeasuresData {
    let lines = || facts.journal.measures.iter().flat_map(|writer| &writer.lines);
    let took: Vec<u64> = lines().map(|line| line.took_us).collect();
    MeasuresData {
        batches: took.len() as u64,
        items: lines().map(|line| line.items).sum(),
        compute_us: lines().map(|line| line.measures.compute_us.unwrap_or(line.took_us)).sum(),
        slowest_us: chart::runs(&took),
        peak_bytes: lines().filter_map(|line| line.measures.peak_bytes).max(),
    }
}
