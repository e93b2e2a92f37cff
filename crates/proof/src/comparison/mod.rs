//! Two trials compared: which recorded factors differ, what differs in the results, and what that allows to be said.
//!
//! Nothing is blamed on a card before everything else that was recorded is shown to be the same. Both trials are read
//! side by side, so that memory does not grow with them; a copy is compared as a trial is.

mod factors;
mod join;
mod labels;

use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

use pilote_spec::{
    Item, Likeness, Outcome, OutcomeChange, QualityBar, QualityFigures, QualityLine, Stamp, Trial, TrialKind,
    judge_quality, quality_holds,
};
use serde::Serialize;

use crate::account::name;
use crate::error::ProofError;
use crate::excerpt::{Excerpt, Excerpts};
use crate::trial_dir::TrialDir;

pub use factors::{Factor, FactorCode, FactorState, FieldChange, factors};
use join::{Entries, Joined, join};
pub use labels::{LabelError, Labels};

/// The changed items that are shown, the greatest changes first.
const SHOWN_MAX: usize = 20;

/// Names of items that are shown of those that only one trial has.
const NAMES_MAX: usize = 20;

/// What a comparison is asked to look at beside the two trials.
#[derive(Debug)]
pub struct Question<'q> {
    /// The project's directory, where the beginnings of inputs are read.
    pub project: Option<&'q Path>,
    /// A directory for temporary files, written to only when the two list their items in different orders.
    pub scratch: &'q Path,
    /// What B must keep to against A.
    pub bar: QualityBar,
    /// What some items must come to.
    pub labels: Option<&'q Labels>,
}

/// One of the two trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Its name.
    pub trial: String,
    /// The directory that was read.
    pub directory: String,
    /// Over which inputs it ran.
    pub kind: TrialKind,
    /// When it was launched.
    pub started: Stamp,
    /// Only the first items, where it was limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Items of its index.
    pub items: u64,
    /// Accepted outputs that could not be read again.
    pub lost: u64,
}

/// How the items of the two relate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ItemsCompared {
    /// Items of both, by identifier.
    pub both: u64,
    /// Those of them whose content differs.
    pub changed: u64,
    /// Those of them that stand at another position.
    pub moved: u64,
    /// Items of A alone, beyond what a limited B never looked at.
    pub only_a: u64,
    /// Items of B alone, likewise.
    pub only_b: u64,
    /// Items beyond the limit of the other trial: nothing can be said of them.
    pub beyond_limit: u64,
    /// The first names of those that changed, or that one alone has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// How the results of the items of both relate.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ResultsCompared {
    /// Items by what changed of their outcome, `same` included.
    pub changes: BTreeMap<&'static str, u64>,
    /// Changes of label as (in A, in B), the most frequent ones, with their counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String, u64)>,
    /// The greatest difference of the scores of one and the same category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_difference_max: Option<f64>,
    /// Figures of quality, A being the reference.
    pub figures: QualityFigures,
    /// Mean cosine of vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine_mean: Option<f64>,
}

impl ResultsCompared {
    /// Items of both whose outcome differs.
    #[must_use]
    pub fn differing(&self) -> u64 {
        self.changes
            .iter()
            .filter(|(code, _)| **code != OutcomeChange::Same.code())
            .map(|(_, count)| count)
            .sum()
    }
}

/// What can be said of the cause of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Nothing recorded differs and the results are the same.
    NothingDiffers,
    /// One factor differs: a difference of the results is due to it, or to something that was not recorded.
    OneFactor,
    /// Several differ, so that the cause of a difference is unknown.
    SeveralFactors,
    /// Nothing recorded differs and the results do: chance within the engine, or something that drifts.
    Unexplained,
}

impl Cause {
    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NothingDiffers => "nothing-differs",
            Self::OneFactor => "one-factor",
            Self::SeveralFactors => "several-factors",
            Self::Unexplained => "unexplained",
        }
    }
}

/// An item whose outcome changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedItem {
    /// What people call it.
    pub name: String,
    /// What changed.
    pub change: OutcomeChange,
    /// How much; see [`Likeness::distance`].
    pub distance: f64,
    /// Cosine of two vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// Its outcome in A.
    pub a: Option<Outcome>,
    /// Its outcome in B.
    pub b: Option<Outcome>,
    /// The start of its input, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// Two trials compared, format `pilote.compare/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Always `pilote.compare/1`.
    pub format: &'static str,
    /// The first trial: the reference.
    pub a: Side,
    /// The second trial: the candidate.
    pub b: Side,
    /// Every factor, in reading order.
    pub factors: Vec<Factor>,
    /// What can be said of the cause.
    pub cause: Cause,
    /// How the items relate.
    pub items: ItemsCompared,
    /// How the results relate.
    pub results: ResultsCompared,
    /// The items that changed most, at most twenty.
    pub changed_most: Vec<ChangedItem>,
    /// The judgement by the bar; empty where none was given.
    pub quality: Vec<QualityLine>,
    /// Whether B keeps to the bar; none where none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality_holds: Option<bool>,
}

impl Comparison {
    /// The factors that differ.
    pub fn differing(&self) -> impl Iterator<Item = &Factor> {
        self.factors.iter().filter(|factor| factor.state == FactorState::Differs)
    }

    /// The factors that were not recorded, in whole.
    pub fn not_recorded(&self) -> impl Iterator<Item = &Factor> {
        self.factors.iter().filter(|factor| factor.state == FactorState::NotRecorded)
    }
}

/// Compares the trials or copies in `a` and `b`; A is the reference.
///
/// # Errors
/// When one of them is no trial, its index cannot be read, or the system refuses to read. What is damaged beyond that
/// is an item without an outcome: a verification says what is wrong.
pub fn compare(a: &Path, b: &Path, question: &Question<'_>) -> Result<Comparison, ProofError> {
    let (of_a, of_b) = (TrialDir::open(a)?, TrialDir::open(b)?);
    let (mut left, mut right) = (Entries::new(&of_a)?, Entries::new(&of_b)?);
    let mut counting = Counting {
        limits: (of_a.trial.limit, of_b.trial.limit),
        labels: question.labels,
        items: ItemsCompared::default(),
        results: ResultsCompared::default(),
        confusions: BTreeMap::new(),
        most: BinaryHeap::new(),
    };
    join(&mut left, &mut right, question.scratch, &mut |joined| {
        counting.take(joined);
        Ok(())
    })?;
    let mut factors = factors(&of_a.trial, &of_b.trial);
    inputs_by_content(&mut factors, &counting.items);
    let mut results = counting.results;
    results.cosine_mean = results.figures.cosine_mean();
    results.labels = most_frequent(counting.confusions);
    let cause = cause(&factors, &counting.items, &results);
    let quality = judge_quality(&question.bar, &results.figures);
    let excerpts = Excerpts::new(question.project, &of_b.trial);
    let mut most = counting.most.into_sorted_vec();
    most.truncate(SHOWN_MAX);
    Ok(Comparison {
        format: "pilote.compare/1",
        a: side(a, &of_a.trial, &left),
        b: side(b, &of_b.trial, &right),
        factors,
        cause,
        items: counting.items,
        results,
        changed_most: most.into_iter().map(|changed| changed.shown(&excerpts)).collect(),
        quality_holds: (!question.bar.is_empty()).then(|| quality_holds(&quality)),
        quality,
    })
}

fn side(directory: &Path, trial: &Trial, entries: &Entries<'_>) -> Side {
    Side {
        trial: trial.name.clone(),
        directory: directory.display().to_string(),
        kind: trial.kind,
        started: trial.started,
        limit: trial.limit,
        items: entries.declared(),
        lost: entries.lost,
    }
}

/// Adds to the factor of inputs what was seen of the items themselves.
fn inputs_by_content(factors: &mut [Factor], items: &ItemsCompared) {
    let Some(inputs) = factors.iter_mut().find(|factor| factor.factor == FactorCode::Inputs) else { return };
    let figures = [
        ("items changed", items.changed),
        ("items of A alone", items.only_a),
        ("items of B alone", items.only_b),
    ];
    for (field, count) in figures.into_iter().filter(|(_, count)| *count > 0) {
        inputs.changes.push(FieldChange { field: field.to_owned(), a: None, b: Some(count.to_string()) });
        inputs.state = FactorState::Differs;
    }
}

fn cause(factors: &[Factor], items: &ItemsCompared, results: &ResultsCompared) -> Cause {
    let differing = factors.iter().filter(|factor| factor.state == FactorState::Differs).count();
    match differing {
        0 if results.differing() == 0 && items.only_a + items.only_b == 0 => Cause::NothingDiffers,
        0 => Cause::Unexplained,
        1 => Cause::OneFactor,
        _ => Cause::SeveralFactors,
    }
}

/// The most frequent changes of label, at most as many as items are shown.
fn most_frequent(confusions: BTreeMap<(String, String), u64>) -> Vec<(String, String, u64)> {
    let mut all: Vec<_> = confusions.into_iter().map(|((a, b), count)| (a, b, count)).collect();
    all.sort_by(|one, other| other.2.cmp(&one.2).then_with(|| one.cmp(other)));
    all.truncate(SHOWN_MAX);
    all
}

/// The count as it goes through the items.
struct Counting<'q> {
    limits: (Option<u64>, Option<u64>),
    labels: Option<&'q Labels>,
    items: ItemsCompared,
    results: ResultsCompared,
    /// Changes of label. Categories are declared, so there are few pairs of them.
    confusions: BTreeMap<(String, String), u64>,
    /// The greatest changes so far; the least of them on top.
    most: BinaryHeap<Changed>,
}

impl Counting<'_> {
    fn take(&mut self, joined: Joined) {
        match joined {
            Joined::Both(a, b) => {
                self.items.both += 1;
                self.items.moved += u64::from(a.item.position != b.item.position);
                if a.item.digest != b.item.digest {
                    self.items.changed += 1;
                    self.name(&b.item);
                }
                self.outcomes(b.item, a.outcome, b.outcome);
            }
            Joined::OnlyA(a) if self.limits.1.is_some_and(|limit| a.item.position.0 >= limit) => {
                self.items.beyond_limit += 1;
            }
            Joined::OnlyB(b) if self.limits.0.is_some_and(|limit| b.item.position.0 >= limit) => {
                self.items.beyond_limit += 1;
            }
            Joined::OnlyA(a) => {
                self.items.only_a += 1;
                self.name(&a.item);
            }
            Joined::OnlyB(b) => {
                self.items.only_b += 1;
                self.name(&b.item);
            }
        }
    }

    fn name(&mut self, item: &Item) {
        if self.items.names.len() < NAMES_MAX {
            self.items.names.push(name(item));
        }
    }

    fn outcomes(&mut self, item: Item, a: Option<Outcome>, b: Option<Outcome>) {
        let likeness = Likeness::of(a.as_ref(), b.as_ref());
        *self.results.changes.entry(likeness.change.code()).or_default() += 1;
        self.results.figures.add(a.as_ref(), b.as_ref(), &likeness);
        if let Some(score) = likeness.score {
            let most = self.results.score_difference_max.unwrap_or(0.0);
            self.results.score_difference_max = Some(most.max(score));
        }
        let label = item.id.as_ref().and_then(|id| self.labels?.of(id.as_str()));
        if let Some(label) = label {
            self.results.figures.label(label, a.as_ref(), b.as_ref());
        }
        if let Some(pair) = categories(a.as_ref(), b.as_ref()) {
            *self.confusions.entry(pair).or_default() += 1;
        }
        if likeness.change == OutcomeChange::Same {
            return;
        }
        self.most.push(Changed { likeness, item, a, b });
        if self.most.len() > SHOWN_MAX {
            self.most.pop();
        }
    }
}

/// The two categories of an item whose label changed.
fn categories(a: Option<&Outcome>, b: Option<&Outcome>) -> Option<(String, String)> {
    use pilote_spec::Output::Category;
    match (a?, b?) {
        (
            Outcome::Accepted(Category { category: a, .. }),
            Outcome::Accepted(Category { category: b, .. }),
        ) if a != b => Some((a.clone(), b.clone())),
        _ => None,
    }
}

/// An item that changed, ordered so that the greatest change comes first, and of two alike the earlier item.
struct Changed {
    likeness: Likeness,
    item: Item,
    a: Option<Outcome>,
    b: Option<Outcome>,
}

impl Changed {
    fn shown(self, excerpts: &Excerpts) -> ChangedItem {
        let input = match excerpts.of(&self.item) {
            Excerpt::Text(text) => Some(text),
            Excerpt::Absent | Excerpt::Changed | Excerpt::Unreadable => None,
        };
        ChangedItem {
            name: name(&self.item),
            change: self.likeness.change,
            distance: self.likeness.distance,
            cosine: self.likeness.cosine,
            a: self.a,
            b: self.b,
            input,
        }
    }
}

impl Ord for Changed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let distance = other.likeness.distance.total_cmp(&self.likeness.distance);
        distance.then_with(|| self.item.position.cmp(&other.item.position))
    }
}

impl PartialOrd for Changed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Changed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Changed {}
