//! The quality of a trial against a reference: figures as they add up, a declared bar, and the judgement.
//!
//! [`judge_quality`] is a pure function of figures and bar, so that a comparison, a decision and a sweep reach the
//! same verdict. What was not measured is unknown, and never passes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::likeness::ratio;
use crate::{Likeness, Outcome, OutcomeChange, Output, Verdict};

/// What a change must keep to. A measure that is not named is not judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct QualityBar {
    /// The least share of items whose outcome is that of the reference. Vectors are judged by `cosine_min`: here they
    /// only need to be accepted on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement_min: Option<f64>,
    /// The least cosine of any vector with that of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine_min: Option<f64>,
    /// The least share of labelled items whose category or text is the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy_min: Option<f64>,
    /// The least share of JSON leaves that equal those of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields_min: Option<f64>,
}

/// `quality` of a configuration: the bar, and what it is measured against.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// The trial that sets the standard, by its name below `runs/`; none is named on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// A file with one JSON object a line, `id` and `label`: what some items must come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// The least share of items whose outcome is that of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub agreement_min: Option<f64>,
    /// The least cosine of any vector with that of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1))]
    pub cosine_min: Option<f64>,
    /// The least share of labelled items whose category or text is the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub accuracy_min: Option<f64>,
    /// The least share of JSON leaves that equal those of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub fields_min: Option<f64>,
}

impl Quality {
    /// The bar alone.
    #[must_use]
    pub fn bar(&self) -> QualityBar {
        QualityBar {
            agreement_min: self.agreement_min,
            cosine_min: self.cosine_min,
            accuracy_min: self.accuracy_min,
            fields_min: self.fields_min,
        }
    }
}

/// What a bar can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QualityMeasure {
    /// Share of items with the outcome of the reference.
    Agreement,
    /// The lowest cosine of any vector.
    Cosine,
    /// Share of labelled items that came to their label.
    Accuracy,
    /// Share of JSON leaves that are equal.
    Fields,
}

impl QualityMeasure {
    /// Every measure.
    pub const ALL: [Self; 4] = [Self::Agreement, Self::Cosine, Self::Accuracy, Self::Fields];

    /// The stable code, as a bar and JSON write it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::Cosine => "cosine",
            Self::Accuracy => "accuracy",
            Self::Fields => "fields",
        }
    }
}

impl QualityBar {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        QualityMeasure::ALL.into_iter().all(|measure| self.minimum(measure).is_none())
    }

    /// What is asked of a measure.
    #[must_use]
    pub fn minimum(&self, measure: QualityMeasure) -> Option<f64> {
        match measure {
            QualityMeasure::Agreement => self.agreement_min,
            QualityMeasure::Cosine => self.cosine_min,
            QualityMeasure::Accuracy => self.accuracy_min,
            QualityMeasure::Fields => self.fields_min,
        }
    }

    fn place(&mut self, measure: QualityMeasure) -> &mut Option<f64> {
        match measure {
            QualityMeasure::Agreement => &mut self.agreement_min,
            QualityMeasure::Cosine => &mut self.cosine_min,
            QualityMeasure::Accuracy => &mut self.accuracy_min,
            QualityMeasure::Fields => &mut self.fields_min,
        }
    }
}

/// A text that is no bar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BarError {
    /// A piece that is not `MEASURE=NUMBER`.
    #[error("`{piece}` is not MEASURE=NUMBER; write for example agreement=0.99,cosine=0.999")]
    Piece {
        /// The piece.
        piece: String,
    },
    /// An unknown measure.
    #[error("`{measure}` is no measure of quality; the measures are agreement, cosine, accuracy and fields")]
    Measure {
        /// What was written.
        measure: String,
    },
    /// A number out of bounds.
    #[error("`{number}` is no {measure} to ask for: write a number from {least} to 1")]
    Number {
        /// What was written.
        number: String,
        /// The measure.
        measure: &'static str,
        /// The least that makes sense.
        least: i8,
    },
    /// A measure that was named before.
    #[error("`{measure}` is asked for twice; take one of them out")]
    Twice {
        /// The measure.
        measure: &'static str,
    },
}

impl FromStr for QualityBar {
    type Err = BarError;

    /// Reads `agreement=0.99,cosine=0.999`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shown = |text: &str| text.escape_debug().to_string().chars().take(60).collect::<String>();
        let mut bar = Self::default();
        for piece in text.split(',').map(str::trim) {
            let (name, number) =
                piece.split_once('=').ok_or_else(|| BarError::Piece { piece: shown(piece) })?;
            let measure = QualityMeasure::ALL
                .into_iter()
                .find(|measure| measure.code() == name.trim())
                .ok_or_else(|| BarError::Measure { measure: shown(name) })?;
            let least: i8 = if measure == QualityMeasure::Cosine { -1 } else { 0 };
            let value = number
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|value| (f64::from(least)..=1.0).contains(value))
                .ok_or_else(|| BarError::Number { number: shown(number), measure: measure.code(), least })?;
            if bar.place(measure).replace(value).is_some() {
                return Err(BarError::Twice { measure: measure.code() });
            }
        }
        Ok(bar)
    }
}

/// Figures of a candidate against its reference, item by item as they come, in any order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QualityFigures {
    /// Items that were compared.
    pub items: u64,
    /// Those whose outcome is that of the reference; a vector only needs to be accepted on both sides.
    pub agreeing: u64,
    /// Pairs of vectors of one width.
    pub vectors: u64,
    /// Their lowest cosine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine_min: Option<f64>,
    /// Sum of their cosines, for the mean.
    #[serde(skip)]
    cosine_sum: f64,
    /// Pairs of vectors of which one has no direction, or of different widths: they fail any bar on the cosine.
    pub without_cosine: u64,
    /// Leaves of the JSON values of both.
    pub leaves: u64,
    /// Those of them that are equal.
    pub leaves_equal: u64,
    /// Items with a label.
    pub labelled: u64,
    /// Those of them that the candidate got right.
    pub correct: u64,
    /// Those of them that the reference got right.
    pub correct_in_reference: u64,
}

impl QualityFigures {
    /// Adds an item of both.
    pub fn add(&mut self, reference: Option<&Outcome>, candidate: Option<&Outcome>, likeness: &Likeness) {
        self.items += 1;
        self.agreeing += u64::from(matches!(likeness.change, OutcomeChange::Same | OutcomeChange::Vector));
        let is_vector = |outcome: Option<&Outcome>| {
            matches!(outcome, Some(Outcome::Accepted(Output::Vector { .. } | Output::VectorAt { .. })))
        };
        if is_vector(reference) && is_vector(candidate) {
            match likeness.cosine {
                Some(cosine) => {
                    self.vectors += 1;
                    self.cosine_sum += cosine;
                    self.cosine_min = Some(self.cosine_min.map_or(cosine, |least| least.min(cosine)));
                }
                None => self.without_cosine += 1,
            }
        }
        if let Some((equal, all)) = likeness.leaves {
            self.leaves += all;
            self.leaves_equal += equal;
        }
    }

    /// Adds what a labelled item came to on either side.
    pub fn label(&mut self, label: &str, reference: Option<&Outcome>, candidate: Option<&Outcome>) {
        self.labelled += 1;
        self.correct += u64::from(is_label(candidate, label));
        self.correct_in_reference += u64::from(is_label(reference, label));
    }

    /// The mean cosine; none without a pair of vectors.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean over counts that are no corpus beyond 2^53")]
    pub fn cosine_mean(&self) -> Option<f64> {
        (self.vectors > 0).then(|| self.cosine_sum / self.vectors as f64)
    }

    /// A measure with the number of things that it rests on; none where it was not measured.
    #[must_use]
    pub fn measured(&self, measure: QualityMeasure) -> (Option<f64>, u64) {
        match measure {
            QualityMeasure::Agreement => (ratio(self.agreeing, self.items), self.items),
            QualityMeasure::Cosine => (self.cosine_min, self.vectors + self.without_cosine),
            QualityMeasure::Accuracy => (ratio(self.correct, self.labelled), self.labelled),
            QualityMeasure::Fields => (ratio(self.leaves_equal, self.leaves), self.leaves),
        }
    }
}

/// Whether an outcome is what a label says: the category, or the text without white space around it.
fn is_label(outcome: Option<&Outcome>, label: &str) -> bool {
    match outcome {
        Some(Outcome::Accepted(Output::Category { category, .. })) => category == label,
        Some(Outcome::Accepted(Output::Text { text, .. })) => text.trim() == label.trim(),
        _ => false,
    }
}

/// One measure that the bar asks for, with its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QualityLine {
    /// The measure.
    pub measure: QualityMeasure,
    /// Whether it keeps to the bar; unknown where nothing was measured, which never passes.
    pub verdict: Verdict,
    /// What is asked for.
    pub minimum: f64,
    /// What was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<f64>,
    /// Items, pairs, labels or leaves that it rests on.
    pub of: u64,
}

impl fmt::Display for QualityLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.seen.map_or_else(|| "unknown".to_owned(), |seen| format!("{seen:.6}"));
        write!(f, "{} is {seen} over {}, {} is asked for", self.measure.code(), self.of, self.minimum)
    }
}

/// Judges figures by a bar: one line for each measure that it names.
#[must_use]
pub fn judge_quality(bar: &QualityBar, figures: &QualityFigures) -> Vec<QualityLine> {
    QualityMeasure::ALL
        .into_iter()
        .filter_map(|measure| {
            let minimum = bar.minimum(measure)?;
            let (seen, of) = figures.measured(measure);
            let lost = measure == QualityMeasure::Cosine && figures.without_cosine > 0;
            let verdict = match seen {
                _ if lost => Verdict::Fails,
                None => Verdict::Unknown,
                Some(seen) if seen >= minimum => Verdict::Holds,
                Some(_) => Verdict::Fails,
            };
            Some(QualityLine { measure, verdict, minimum, seen, of })
        })
        .collect()
}

/// Whether a judgement passes: every line holds, and there is one at least.
#[must_use]
pub fn quality_holds(lines: &[QualityLine]) -> bool {
    !lines.is_empty() && lines.iter().all(|line| line.verdict == Verdict::Holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(category: &str) -> Outcome {
        let category = category.to_owned();
        Outcome::Accepted(Output::Category { category, score: None, others: Vec::new(), cut_at_tokens: None })
    }

    fn vector(values: &[f32]) -> Outcome {
        Outcome::Accepted(Output::Vector { values: values.to_vec(), cut_at_tokens: None })
    }

    fn figures(pairs: &[(Outcome, Outcome)]) -> QualityFigures {
        let mut figures = QualityFigures::default();
        for (a, b) in pairs {
            figures.add(Some(a), Some(b), &Likeness::of(Some(a), Some(b)));
        }
        figures
    }

    fn verdicts(bar: &str, figures: &QualityFigures) -> Vec<Verdict> {
        judge_quality(&bar.parse().unwrap(), figures).iter().map(|line| line.verdict).collect()
    }

    #[test]
    fn a_bar_that_is_met_exactly_holds() {
        let mut pairs = vec![(label("a"), label("a")); 99];
        pairs.push((label("a"), label("b")));
        let figures = figures(&pairs);
        assert_eq!(verdicts("agreement=0.99", &figures), [Verdict::Holds]);
        assert_eq!(verdicts("agreement=0.991", &figures), [Verdict::Fails]);
    }

    #[test]
    fn what_was_not_measured_is_unknown_and_never_passes() {
        let figures = figures(&[(label("a"), label("a"))]);
        let lines = judge_quality(&"cosine=0.9,accuracy=0,fields=0".parse().unwrap(), &figures);
        assert!(lines.iter().all(|line| line.verdict == Verdict::Unknown && line.seen.is_none()));
        assert!(!quality_holds(&lines) && !quality_holds(&[]));
    }

    #[test]
    fn the_lowest_cosine_decides_and_a_vector_without_one_fails_any_bar() {
        let near = (vector(&[1.0, 0.0]), vector(&[1.0, 0.01]));
        let far = (vector(&[1.0, 0.0]), vector(&[1.0, 1.0]));
        let both = figures(&[near.clone(), far]);
        assert_eq!(both.agreeing, 2);
        assert!(both.cosine_mean() > both.cosine_min);
        assert_eq!(verdicts("cosine=0.8", &both), [Verdict::Fails]);
        let lost = figures(&[near, (vector(&[1.0, 0.0]), vector(&[1.0]))]);
        assert_eq!(verdicts("cosine=-1", &lost), [Verdict::Fails]);
    }

    #[test]
    fn accuracy_counts_a_refusal_as_wrong() {
        let mut figures = QualityFigures::default();
        figures.label("a", Some(&label("a")), Some(&label("a")));
        figures.label("a", Some(&label("a")), None);
        assert_eq!((figures.labelled, figures.correct, figures.correct_in_reference), (2, 1, 2));
        assert_eq!(verdicts("accuracy=0.5", &figures), [Verdict::Holds]);
    }

    #[test]
    fn a_bar_that_cannot_be_read_says_what_to_write() {
        let message = |text: &str| text.parse::<QualityBar>().unwrap_err().to_string();
        assert_eq!(
            message("0.99"),
            "`0.99` is not MEASURE=NUMBER; write for example agreement=0.99,cosine=0.999"
        );
        assert_eq!(
            message("recall=1"),
            "`recall` is no measure of quality; the measures are agreement, cosine, accuracy and fields"
        );
        assert_eq!(message("agreement=99"), "`99` is no agreement to ask for: write a number from 0 to 1");
        assert_eq!(message("cosine=NaN"), "`NaN` is no cosine to ask for: write a number from -1 to 1");
        assert_eq!(message("cosine=1,cosine=0"), "`cosine` is asked for twice; take one of them out");
        assert!(message("").contains("is not MEASURE=NUMBER"));
    }
}
