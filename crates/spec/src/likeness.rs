//! How two outcomes of one item relate: the one measure by which trials are compared and qualities are judged.
//!
//! Pure and symmetric but for the words `reference` and `candidate`; nothing here knows where an outcome was read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Outcome, Output};

/// Components that differ by no more are the same: the tolerance within which a trial that was interrupted must
/// equal one that was not.
pub const COMPONENT_TOLERANCE: f32 = 1e-5;

/// Characters of a text that its likeness looks at: enough to rank changes, and bounded for any text.
const TEXT_CHARS_MAX: usize = 8_192;

/// What changed of an item's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeChange {
    /// Nothing: the same refusal, or an output that is the same within tolerance.
    Same,
    /// Another category.
    Label,
    /// Another vector of the same width.
    Vector,
    /// Another text.
    Text,
    /// Another JSON value.
    Json,
    /// Another file.
    File,
    /// Another kind of output, or a vector of another width: nothing of the two can be measured together.
    Kind,
    /// Accepted in the reference, refused in the candidate.
    NowRefused,
    /// Refused in the reference, accepted in the candidate.
    NowAccepted,
    /// Refused in both, for another reason.
    Reason,
    /// Pending in one of the two only.
    Pending,
}

impl OutcomeChange {
    /// Every change, [`OutcomeChange::Same`] first.
    pub const ALL: [Self; 11] = [
        Self::Same,
        Self::Label,
        Self::Vector,
        Self::Text,
        Self::Json,
        Self::File,
        Self::Kind,
        Self::NowRefused,
        Self::NowAccepted,
        Self::Reason,
        Self::Pending,
    ];

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Label => "label",
            Self::Vector => "vector",
            Self::Text => "text",
            Self::Json => "json",
            Self::File => "file",
            Self::Kind => "kind",
            Self::NowRefused => "now-refused",
            Self::NowAccepted => "now-accepted",
            Self::Reason => "reason",
            Self::Pending => "pending",
        }
    }
}

/// How alike two outcomes are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// What changed.
    pub change: OutcomeChange,
    /// How much, to put the greatest changes first: 0 where nothing changed, up to 1 within outputs of one kind
    /// (`1 - cosine` reaches 2), 3 where an item is accepted on one side only.
    pub distance: f64,
    /// Cosine of two vectors of one width.
    pub cosine: Option<f64>,
    /// Leaves of two JSON values: those that are equal, and all of both.
    pub leaves: Option<(u64, u64)>,
    /// By how much the scores of one and the same category differ.
    pub score: Option<f64>,
}

impl Likeness {
    /// Compares two outcomes of one item; none is pending.
    #[must_use]
    pub fn of(reference: Option<&Outcome>, candidate: Option<&Outcome>) -> Self {
        match (reference, candidate) {
            (None, None) => Self::plain(OutcomeChange::Same, 0.0),
            (None, Some(_)) | (Some(_), None) => Self::plain(OutcomeChange::Pending, 3.0),
            (Some(Outcome::Accepted(a)), Some(Outcome::Accepted(b))) => outputs(a, b),
            (Some(Outcome::Refused(a)), Some(Outcome::Refused(b))) if a.reason == b.reason => {
                Self::plain(OutcomeChange::Same, 0.0)
            }
            (Some(Outcome::Refused(_)), Some(Outcome::Refused(_))) => Self::plain(OutcomeChange::Reason, 2.5),
            (Some(Outcome::Accepted(_)), Some(Outcome::Refused(_))) => {
                Self::plain(OutcomeChange::NowRefused, 3.0)
            }
            (Some(Outcome::Refused(_)), Some(Outcome::Accepted(_))) => {
                Self::plain(OutcomeChange::NowAccepted, 3.0)
            }
        }
    }

    fn plain(change: OutcomeChange, distance: f64) -> Self {
        Self { change, distance, cosine: None, leaves: None, score: None }
    }
}

fn outputs(a: &Output, b: &Output) -> Likeness {
    match (a, b) {
        (
            Output::Category { category: a, score: of_a, .. },
            Output::Category { category: b, score: of_b, .. },
        ) => {
            if a != b {
                return Likeness::plain(OutcomeChange::Label, 1.0);
            }
            let score = of_a.zip(*of_b).map(|(a, b)| f64::from((a - b).abs()));
            Likeness { score, ..Likeness::plain(OutcomeChange::Same, 0.0) }
        }
        (Output::Vector { values: a, .. }, Output::Vector { values: b, .. }) if a.len() == b.len() => {
            vectors(a, b)
        }
        (Output::Text { text: a, .. }, Output::Text { text: b, .. }) if a == b => {
            Likeness::plain(OutcomeChange::Same, 0.0)
        }
        (Output::Text { text: a, .. }, Output::Text { text: b, .. }) => {
            // Two different texts may share every pair of characters; they still differ.
            Likeness::plain(OutcomeChange::Text, (1.0 - shared_pairs(a, b)).max(f64::EPSILON))
        }
        (Output::Json { value: a, .. }, Output::Json { value: b, .. }) => values(&a.value(), &b.value()),
        (Output::File { digest: a, .. }, Output::File { digest: b, .. }) if a == b => {
            Likeness::plain(OutcomeChange::Same, 0.0)
        }
        (Output::File { .. }, Output::File { .. }) => Likeness::plain(OutcomeChange::File, 1.0),
        _ => Likeness::plain(OutcomeChange::Kind, 2.0),
    }
}

fn vectors(a: &[f32], b: &[f32]) -> Likeness {
    let same = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= COMPONENT_TOLERANCE);
    let change = if same { OutcomeChange::Same } else { OutcomeChange::Vector };
    let cosine = cosine(a, b);
    // Of a vector without a direction nothing can be said, so it counts as the opposite.
    let distance = if same { 0.0 } else { 1.0 - cosine.unwrap_or(-1.0) };
    Likeness { cosine, ..Likeness::plain(change, distance) }
}

/// The cosine of the angle between two vectors, computed in double precision; none for a vector of zeros.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    let (mut dot, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (f64::from(*a), f64::from(*b));
        dot += a * b;
        of_a += a * a;
        of_b += b * b;
    }
    let norm = of_a.sqrt() * of_b.sqrt();
    (norm > 0.0 && norm.is_finite()).then(|| (dot / norm).clamp(-1.0, 1.0))
}

fn values(a: &Value, b: &Value) -> Likeness {
    let (mut of_a, mut of_b) = (BTreeMap::new(), BTreeMap::new());
    leaves("", a, &mut of_a);
    leaves("", b, &mut of_b);
    let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let equal = names.iter().filter(|name| of_a.get(**name) == of_b.get(**name)).count() as u64;
    let all = names.len() as u64;
    let change = if a == b { OutcomeChange::Same } else { OutcomeChange::Json };
    let distance = if a == b { 0.0 } else { 1.0 - ratio(equal, all).unwrap_or(0.0) };
    Likeness { leaves: Some((equal, all)), ..Likeness::plain(change, distance) }
}

/// The leaves of a JSON value by their JSON pointers; an empty list or object is a leaf of its own.
fn leaves<'v>(pointer: &str, value: &'v Value, into: &mut BTreeMap<String, &'v Value>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                leaves(&format!("{pointer}/{name}"), value, into);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for (at, value) in values.iter().enumerate() {
                leaves(&format!("{pointer}/{at}"), value, into);
            }
        }
        leaf => {
            into.insert(pointer.to_owned(), leaf);
        }
    }
}

/// Dice's coefficient over pairs of neighbouring characters, counted with repetition: it needs no words, so that it
/// works in any script. From 0, nothing shared, to 1.
fn shared_pairs(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| {
        let mut pairs: BTreeMap<(char, char), u64> = BTreeMap::new();
        let characters = || text.chars().take(TEXT_CHARS_MAX);
        for pair in characters().zip(characters().skip(1)) {
            *pairs.entry(pair).or_default() += 1;
        }
        pairs
    };
    let (of_a, of_b) = (pairs(a), pairs(b));
    let shared: u64 = of_a.iter().map(|(pair, count)| count.min(of_b.get(pair).unwrap_or(&0))).sum();
    let all: u64 = of_a.values().chain(of_b.values()).sum();
    ratio(2 * shared, all).unwrap_or(0.0)
}

/// `part / whole`; none of nothing.
#[expect(clippy::cast_precision_loss, reason = "a share of counts; counts beyond 2^53 are no corpus")]
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FaultCode, Reason, Refusal};

    fn label(category: &str, score: f32) -> Outcome {
        let category = category.to_owned();
        Outcome::Accepted(Output::Category {
            category,
            score: Some(score),
            others: Vec::new(),
            cut_at_tokens: None,
        })
    }

    fn vector(values: &[f32]) -> Outcome {
        Outcome::Accepted(Output::Vector { values: values.to_vec(), cut_at_tokens: None })
    }

    fn text(text: &str) -> Outcome {
        Outcome::Accepted(Output::Text { text: text.to_owned(), made_with: BTreeMap::new() })
    }

    fn json(value: Value) -> Outcome {
        Outcome::Accepted(Output::Json { value: value.into(), made_with: BTreeMap::new() })
    }

    fn refused(code: FaultCode) -> Outcome {
        Outcome::Refused(Refusal::new(Reason::Input(code)))
    }

    fn alike(a: &Outcome, b: &Outcome) -> Likeness {
        Likeness::of(Some(a), Some(b))
    }

    #[test]
    fn a_label_is_the_same_whatever_its_score_and_the_scores_are_measured() {
        let same = alike(&label("a", 0.5), &label("a", 0.25));
        assert_eq!((same.change, same.score), (OutcomeChange::Same, Some(0.25)));
        assert_eq!(alike(&label("a", 0.5), &label("b", 0.5)).change, OutcomeChange::Label);
    }

    #[test]
    fn a_vector_within_the_tolerance_is_the_same_and_beyond_it_has_its_cosine() {
        assert_eq!(alike(&vector(&[1.0, 0.0]), &vector(&[1.0, 0.000_009])).change, OutcomeChange::Same);
        let turned = alike(&vector(&[1.0, 0.0]), &vector(&[0.0, 2.0]));
        assert_eq!((turned.change, turned.cosine, turned.distance), (OutcomeChange::Vector, Some(0.0), 1.0));
        assert_eq!(alike(&vector(&[1.0]), &vector(&[1.0, 0.0])).change, OutcomeChange::Kind);
    }

    #[test]
    fn a_vector_without_a_direction_has_no_cosine_and_is_as_far_as_can_be() {
        let lost = alike(&vector(&[1.0, 0.0]), &vector(&[0.0, 0.0]));
        assert_eq!((lost.cosine, lost.distance), (None, 2.0));
    }

    #[test]
    fn leaves_of_json_are_counted_over_both_values() {
        let likeness = alike(
            &json(serde_json::json!({ "total": 12, "lines": [1, 2], "tax": {} })),
            &json(serde_json::json!({ "total": 12, "lines": [1, 3, 4] })),
        );
        assert_eq!((likeness.change, likeness.leaves), (OutcomeChange::Json, Some((2, 5))));
    }

    #[test]
    fn texts_are_ranked_by_what_they_share_in_any_script() {
        let near = alike(&text("請求書の合計は百円です"), &text("請求書の合計は二百円です"));
        let far = alike(&text("請求書の合計は百円です"), &text("nothing alike"));
        assert!(near.distance < far.distance && far.distance <= 1.0, "{near:?} {far:?}");
        let swapped = alike(&text("aba bab"), &text("bab aba"));
        assert!(swapped.change == OutcomeChange::Text && swapped.distance > 0.0);
    }

    #[test]
    fn refusals_are_compared_by_reason_and_acceptance_outweighs_everything() {
        let (empty, nul) = (refused(FaultCode::Empty), refused(FaultCode::Nul));
        assert_eq!(alike(&empty, &empty).change, OutcomeChange::Same);
        assert_eq!(alike(&empty, &nul).change, OutcomeChange::Reason);
        assert_eq!(alike(&label("a", 0.5), &empty).change, OutcomeChange::NowRefused);
        assert_eq!(alike(&empty, &label("a", 0.5)).change, OutcomeChange::NowAccepted);
        assert_eq!(Likeness::of(Some(&empty), None).change, OutcomeChange::Pending);
        assert_eq!(Likeness::of(None, None).change, OutcomeChange::Same);
    }
}
