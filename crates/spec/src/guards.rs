//! Guards against answers that belong to something else: items with known answers, and items that are asked twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::likeness::cosine;
use crate::{Output, OutputSpec};

/// What is asked beside the items, and how far apart two answers to one question may be. Nothing of it is an item:
/// it appears in no result and in no balance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Guards {
    /// Texts with known answers. All of them are asked when the engine starts, and one rides in every batch of two
    /// items or more: the answers of that batch count only once its canary was answered as expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub canaries: Vec<Canary>,
    /// Items that are asked a second time, alone: one of each of the first batches.
    pub sample: u32,
    /// How far apart two answers may be: the cosine distance of vectors (1 - cosine), the difference of scores.
    /// Categories, texts and JSON values are the same or not.
    #[schemars(range(min = 0, max = 2))]
    pub tolerance: f64,
}

impl Default for Guards {
    fn default() -> Self {
        Self { canaries: Vec::new(), sample: 0, tolerance: default_tolerance() }
    }
}

/// Vectors of one text under different neighbours are nearer than this in any precision that is of use.
pub(crate) fn default_tolerance() -> f64 {
    1e-3
}

/// A text whose answer is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Canary {
    /// The text.
    pub text: String,
    /// The answer, by the kind of output: the category's name, the components of the vector, the text, or the JSON
    /// value.
    pub expected: Value,
}

impl Guards {
    /// Whether nothing is asked beside the items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.canaries.is_empty() && self.sample == 0
    }

    /// Why `output` is not the expected answer of a canary; none where it is.
    #[must_use]
    pub fn contradicts(&self, expected: &Value, output: &Output) -> Option<String> {
        let same =
            |holds: bool| (!holds).then(|| format!("{expected} is expected, and {} came", said(output)));
        match output {
            Output::Category { category, .. } => same(expected.as_str() == Some(category)),
            Output::Text { text, .. } => same(expected.as_str() == Some(text)),
            Output::Json { value, .. } => same(value.value() == *expected),
            Output::Vector { values, .. } => match components(expected) {
                Some(known) => self.apart(&known, values),
                None => same(false),
            },
            Output::VectorAt { .. } | Output::FileMade { .. } | Output::File { .. } => same(false),
        }
    }

    /// Why two outputs for one question disagree; none where they do not. Files are never compared.
    #[must_use]
    pub fn disagreement(&self, one: &Output, other: &Output) -> Option<String> {
        let same = |holds: bool| (!holds).then(|| format!("{} and {}", said(one), said(other)));
        match (one, other) {
            (
                Output::Category { category, score, .. },
                Output::Category { category: again, score: score_again, .. },
            ) => {
                let apart = match (score, score_again) {
                    (Some(one), Some(other)) => f64::from((one - other).abs()),
                    _ => 0.0,
                };
                if category == again && apart.is_nan() {
                    same(false)
                } else {
                    same(category == again && apart <= self.tolerance)
                }
            }
            (Output::Vector { values, .. }, Output::Vector { values: again, .. }) => {
                self.apart(values, again)
            }
            (Output::Text { text, .. }, Output::Text { text: again, .. }) => same(text == again),
            (Output::Json { value, .. }, Output::Json { value: again, .. }) => {
                same(value.value() == again.value())
            }
            (Output::FileMade { .. }, Output::FileMade { .. }) => None,
            _ => same(false),
        }
    }

    /// Whether two vectors are further apart than declared, and how far.
    fn apart(&self, one: &[f32], other: &[f32]) -> Option<String> {
        if one.len() != other.len() {
            return Some(format!("the vectors have {} and {} components", one.len(), other.len()));
        }
        let Some(cosine) = cosine(one, other) else {
            return Some("one of the vectors has no direction".to_owned());
        };
        let distance = 1.0 - cosine;
        if distance <= self.tolerance {
            return None;
        }
        Some(format!("the vectors are {distance:.6} apart by cosine, and {} is declared", self.tolerance))
    }
}

fn components(expected: &Value) -> Option<Vec<f32>> {
    #[expect(clippy::cast_possible_truncation, reason = "components are kept in this precision")]
    expected.as_array()?.iter().map(|value| value.as_f64().map(|value| value as f32)).collect()
}

/// An output in a few words, as evidence.
fn said(output: &Output) -> String {
    const CHARS_MAX: usize = 80;
    let short = |text: &str| -> String { crate::json::visible(text).chars().take(CHARS_MAX).collect() };
    match output {
        Output::Category { category, score: Some(score), .. } => format!("`{}` ({score})", short(category)),
        Output::Category { category, .. } => format!("`{}`", short(category)),
        Output::Text { text, .. } => format!("`{}`", short(text)),
        Output::Json { value, .. } => short(value.as_str()),
        other => format!("an output of kind {}", other.kind()),
    }
}

impl OutputSpec {
    /// Why `expected` cannot be the answer of a canary; none where it can.
    pub(crate) fn never_gives(&self, expected: &Value) -> Option<String> {
        match self {
            Self::Category { categories } => {
                let known = categories.iter().any(|category| expected.as_str() == Some(&category.name));
                (!known).then(|| "no declared category has this name".to_owned())
            }
            Self::Vector { width } => {
                let fits =
                    components(expected).is_some_and(|values| values.len() as u64 == u64::from(*width));
                (!fits).then(|| format!("it is no list of {width} numbers"))
            }
            Self::Text {} => expected
                .is_null()
                .then(|| "null is no text".to_owned())
                .or_else(|| (!expected.is_string()).then(|| "it is no text".to_owned())),
            Self::Json { .. } => crate::accept(
                self,
                Output::Json { value: expected.clone().into(), made_with: Default::default() },
            )
            .err()
            .map(|_| "the declared schema does not accept it".to_owned()),
            Self::File { .. } => Some("of a file no answer can be declared".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(values: &[f32]) -> Output {
        Output::Vector { values: values.to_vec(), cut_at_tokens: None }
    }

    fn category(name: &str, score: f32) -> Output {
        Output::Category {
            category: name.into(),
            score: Some(score),
            others: Vec::new(),
            cut_at_tokens: None,
        }
    }

    #[test]
    fn vectors_agree_within_the_tolerance_and_not_beyond() {
        let guards = Guards { tolerance: 1e-3, ..Guards::default() };
        assert_eq!(guards.disagreement(&vector(&[1.0, 0.0]), &vector(&[2.0, 0.01])), None);
        let apart = guards.disagreement(&vector(&[1.0, 0.0]), &vector(&[1.0, 0.1])).unwrap();
        assert_eq!(apart, "the vectors are 0.004963 apart by cosine, and 0.001 is declared");
        for odd in [[f32::NAN, 1.0], [0.0, 0.0], [f32::INFINITY, 1.0]] {
            assert!(guards.disagreement(&vector(&[1.0, 0.0]), &vector(&odd)).is_some(), "{odd:?}");
        }
        assert!(guards.disagreement(&vector(&[1.0]), &vector(&[1.0, 1.0])).is_some());
    }

    #[test]
    fn categories_agree_by_name_and_by_score() {
        let guards = Guards::default();
        assert_eq!(guards.disagreement(&category("a", 0.5), &category("a", 0.5005)), None);
        assert!(guards.disagreement(&category("a", 0.5), &category("a", 0.6)).is_some());
        assert!(guards.disagreement(&category("a", 0.5), &category("a", f32::NAN)).is_some());
        let named = guards.disagreement(&category("a", 0.5), &category("b", 0.5)).unwrap();
        assert_eq!(named, "`a` (0.5) and `b` (0.5)");
    }

    #[test]
    fn a_canary_is_contradicted_by_anything_but_its_answer() {
        let guards = Guards::default();
        assert_eq!(guards.contradicts(&"a".into(), &category("a", 0.1)), None);
        assert!(guards.contradicts(&"b".into(), &category("a", 0.1)).is_some());
        let json = |text: &str| Output::Json {
            value: crate::ExactJson::read(text).unwrap(),
            made_with: Default::default(),
        };
        assert_eq!(
            guards.contradicts(&serde_json::json!({ "b": 1, "a": 2 }), &json(r#"{"a":2,"b":1}"#)),
            None
        );
        assert_eq!(guards.contradicts(&serde_json::json!([1.0, 0.0]), &vector(&[1.0, 0.001])), None);
        assert!(guards.contradicts(&serde_json::json!([0.0, 1.0]), &vector(&[1.0, 0.0])).is_some());
    }
}
