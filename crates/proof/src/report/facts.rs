//! What a report says, gathered from the trial before any word is chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pilote_corpus::index::Closing;
use pilote_spec::{Item, Outcome, Output, Position, Reason, Refusal, Trial, Verdict};

use crate::collection::{BalanceFile, read_balance};
use crate::error::ProofError;
use crate::excerpt::{Excerpt, Excerpts};
use crate::export::{CopyNote, last_copy};
use crate::finding::Findings;
use crate::history::{HistoryEntry, history};
use crate::journal::Journal;
use crate::outputs;
use crate::trial_dir::TrialDir;
use crate::verification::{Subject, Verification, verify};

/// Up to so many items, each one is shown; of more, a sample.
const ALL_MAX: u64 = 40;

/// Results of a sample.
const SAMPLE: usize = 24;

/// Trials of the history that are shown.
const HISTORY_MAX: usize = 20;

/// Refusals that are shown one by one; the others are counted by reason.
const REFUSALS_MAX: usize = 100;

/// Everything that a report says.
pub(super) struct Facts {
    /// What was launched.
    pub(super) trial: Trial,
    /// The name of the directory that was read.
    pub(super) directory: String,
    /// What reading it came to; the criterion about a copy is judged by `copy` where a trial was read in place.
    pub(super) verification: Verification,
    /// The last copy that the trial knows of.
    pub(super) copy: Option<CopyNote>,
    /// The balance that was written down.
    pub(super) written: Option<BalanceFile>,
    /// The first refusals.
    pub(super) refusals: Vec<(Item, Refusal)>,
    /// The refusals beyond the first ones, by reason.
    pub(super) more_refusals: BTreeMap<Reason, u64>,
    /// All refusals by reason.
    pub(super) reasons: BTreeMap<Reason, u64>,
    /// The trials of the project up to this one, the last ones; empty for a copy, or without a project.
    pub(super) history: Vec<HistoryEntry>,
    /// Items that have a text: characters, position, whether refused; shortest first.
    pub(super) lengths: Vec<(u64, Position, bool)>,
    /// Names of the items by position, where there are few.
    pub(super) names: BTreeMap<Position, String>,
    /// Accepted items that are shown: all in input order, or a sample, shortest first.
    pub(super) samples: Vec<Sample>,
    /// All accepted items.
    pub(super) accepted: u64,
    /// Events and measures.
    pub(super) journal: Journal,
}

/// An accepted item beside its input.
pub(super) struct Sample {
    /// The item.
    pub(super) item: Item,
    /// Its output, vectors in full; none where a payload is lost.
    pub(super) output: Option<Output>,
    /// The start of its input.
    pub(super) excerpt: Excerpt,
}

impl Facts {
    /// Reads the trial or copy in `dir`, and the beginnings of inputs in `project`.
    pub(super) fn gather(dir: &Path, project: Option<&Path>) -> Result<Self, ProofError> {
        let verification = verify(dir)?;
        let trial = TrialDir::open(dir)?;
        let closing = trial.closing()?;
        let mut facts = Self {
            directory: dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            copy: if verification.subject == Subject::Trial { last_copy(dir) } else { None },
            // A balance that cannot be read is among the findings of the verification.
            written: read_balance(dir).ok().flatten(),
            verification,
            refusals: Vec::new(),
            more_refusals: BTreeMap::new(),
            reasons: BTreeMap::new(),
            history: project.map(|project| up_to(project, dir)).unwrap_or_default(),
            lengths: Vec::new(),
            names: BTreeMap::new(),
            samples: Vec::new(),
            accepted: 0,
            journal: Journal::read(dir)?,
            trial: trial.trial.clone(),
        };
        facts.copy_verdict();
        let accepted = facts.survey(&trial, &closing)?;
        facts.accepted = accepted.len() as u64;
        let chosen = choose(accepted);
        facts.sample(&trial, &closing, &chosen, &Excerpts::new(project, &trial.trial))?;
        if (facts.samples.len() as u64) < facts.accepted {
            facts.samples.sort_by_key(|sample| (sample.item.chars, sample.item.position));
        }
        Ok(facts)
    }

    /// Judges the criterion about a copy by the trial's own note of it, where the trial was read in place.
    fn copy_verdict(&mut self) {
        use pilote_spec::{Criterion, CriterionCode};
        if self.verification.subject == Subject::Copy {
            return;
        }
        let mut criterion = Criterion {
            code: CriterionCode::CopyWhole,
            verdict: Verdict::Unknown,
            facts: BTreeMap::new(),
            concerned: Vec::new(),
        };
        if let Some(copy) = &self.copy {
            criterion.verdict = if copy.whole { Verdict::Holds } else { Verdict::Fails };
            criterion = criterion.with("seen", copy.files);
        }
        self.verification.criteria.push(criterion);
    }

    /// Goes through the parts once, for everything but the results; gives length and position of accepted items.
    fn survey(&mut self, trial: &TrialDir, closing: &Closing) -> Result<Vec<(u64, Position)>, ProofError> {
        let mut accepted = Vec::new();
        // The verification has found everything already.
        let mut findings = Findings::default();
        for entry in &closing.parts {
            let part = trial.part(entry, &mut findings)?;
            for item in part.items {
                let outcome = part.records.get(&item.position).map(|record| &record.outcome);
                if item.chars > 0 {
                    let refused = matches!(outcome, Some(Outcome::Refused(_)));
                    self.lengths.push((item.chars, item.position, refused));
                }
                if closing.items <= ALL_MAX {
                    self.names.insert(item.position, crate::account::name(&item));
                }
                match outcome {
                    Some(Outcome::Accepted(_)) => accepted.push((item.chars, item.position)),
                    Some(Outcome::Refused(refusal)) => self.refused(&item, refusal),
                    None => {}
                }
            }
        }
        self.lengths.sort_unstable();
        Ok(accepted)
    }

    fn refused(&mut self, item: &Item, refusal: &Refusal) {
        *self.reasons.entry(refusal.reason).or_default() += 1;
        if self.refusals.len() < REFUSALS_MAX {
            self.refusals.push((item.clone(), refusal.clone()));
        } else {
            *self.more_refusals.entry(refusal.reason).or_default() += 1;
        }
    }

    /// Reads the chosen items again, with their outputs and the beginnings of their inputs.
    fn sample(
        &mut self,
        trial: &TrialDir,
        closing: &Closing,
        chosen: &BTreeSet<Position>,
        excerpts: &Excerpts,
    ) -> Result<(), ProofError> {
        let mut findings = Findings::default();
        for entry in &closing.parts {
            let range = entry.first..Position(entry.first.0.saturating_add(entry.items));
            if chosen.range(range).next().is_none() {
                continue;
            }
            let part = trial.part(entry, &mut findings)?;
            for item in part.items.into_iter().filter(|item| chosen.contains(&item.position)) {
                let Some(Outcome::Accepted(output)) = part.records.get(&item.position).map(|r| &r.outcome)
                else {
                    continue;
                };
                let output = outputs::read(&trial.store, part.number, output)?.ok();
                self.samples.push(Sample { excerpt: excerpts.of(&item), item, output });
            }
        }
        Ok(())
    }
}

/// The last trials of a project up to the one in `dir`; none where that is not one of them, or they cannot be read: a
/// report is of one trial, and does without the others.
fn up_to(project: &Path, dir: &Path) -> Vec<HistoryEntry> {
    let same = |entry: &HistoryEntry| {
        fs_err::canonicalize(&entry.trial.path)
            .ok()
            .zip(fs_err::canonicalize(dir).ok())
            .is_some_and(|(a, b)| a == b)
    };
    let mut entries = history(project).unwrap_or_default();
    let Some(at) = entries.iter().position(same) else { return Vec::new() };
    entries.truncate(at + 1);
    entries.split_off((at + 1).saturating_sub(HISTORY_MAX))
}

/// The items that are shown: all where they are few, else evenly by length, the shortest and the longest included.
fn choose(mut accepted: Vec<(u64, Position)>) -> BTreeSet<Position> {
    accepted.sort_unstable();
    let last = accepted.len().saturating_sub(1);
    if accepted.len() as u64 <= ALL_MAX {
        return accepted.into_iter().map(|(_, position)| position).collect();
    }
    (0..SAMPLE).map(|at| accepted[at * last / (SAMPLE - 1)].1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pilot_is_shown_whole_and_a_campaign_by_length_with_both_ends() {
        let items = |count: u64| (0..count).map(|n| (n * 37 % count, Position(n))).collect::<Vec<_>>();
        assert_eq!(choose(items(12)).len(), 12);
        let many = items(10_000);
        let chosen = choose(many.clone());
        assert_eq!(chosen.len(), SAMPLE);
        for end in [many.iter().min(), many.iter().max()] {
            assert!(chosen.contains(&end.unwrap().1));
        }
    }

    #[test]
    fn a_trial_without_an_accepted_item_shows_none() {
        assert!(choose(Vec::new()).is_empty());
    }
}
