//! What the deliverable accepts of an engine's output. The conductor asks before it records, the proof asks
//! again after reading back, and both get the same answer.

use crate::{Output, OutputSpec, Reason, Refusal, WorkReason};

/// Names seen in an answer go into a record only up to this many characters.
const SEEN_CHARS_MAX: usize = 80;

/// The output itself where the deliverable accepts it, else the refusal to record for the item.
///
/// A vector that lies in a payload ([`Output::VectorAt`]) is judged by its width alone: whoever has its bytes
/// judges them as [`Output::Vector`].
///
/// # Errors
/// The refusal: another kind of output than declared, a category that was not declared, a wrong width, a
/// component or score that is not finite, a vector of zeros, or nothing at all.
pub fn accept(spec: &OutputSpec, output: Output) -> Result<Output, Refusal> {
    match (spec, &output) {
        (OutputSpec::Category { categories }, Output::Category { category, score, others, .. }) => {
            if category.is_empty() {
                return Err(refusal(WorkReason::EmptyOutput));
            }
            if !categories.iter().any(|declared| declared.name == *category) {
                let seen: String = category.chars().take(SEEN_CHARS_MAX).collect();
                return Err(refusal(WorkReason::OutsideCategories).with("seen", seen));
            }
            let scores = std::iter::once(*score).chain(others.iter().map(|(_, score)| *score));
            finite(scores)?;
        }
        (OutputSpec::Vector { width }, Output::Vector { values, .. }) => {
            if values.is_empty() {
                return Err(refusal(WorkReason::EmptyOutput));
            }
            same_width(*width, values.len() as u64)?;
            finite(values.iter().copied())?;
            if values.iter().all(|value| value.to_bits() << 1 == 0) {
                return Err(refusal(WorkReason::NotFinite).with("detail", "all zero"));
            }
        }
        (OutputSpec::Vector { width }, Output::VectorAt { width: seen, .. }) => {
            same_width(*width, u64::from(*seen))?;
        }
        (spec, other) => {
            return Err(refusal(WorkReason::InvalidOutput)
                .with("expected", spec.kind())
                .with("seen", other.kind()));
        }
    }
    Ok(output)
}

fn same_width(expected: u32, seen: u64) -> Result<(), Refusal> {
    if seen == u64::from(expected) {
        return Ok(());
    }
    Err(refusal(WorkReason::WrongWidth).with("expected", expected).with("seen", seen))
}

/// Refuses the first value that is NaN or infinite, saying which and where (from 0).
fn finite(mut values: impl Iterator<Item = f32>) -> Result<(), Refusal> {
    match values.by_ref().enumerate().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some((at, value)) => Err(refusal(WorkReason::NotFinite).with("seen", value).with("at", at)),
    }
}

fn refusal(reason: WorkReason) -> Refusal {
    Refusal::new(Reason::Work(reason))
}

impl OutputSpec {
    /// The kind of output in one stable word, as in the configuration.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Category { .. } => "category",
            Self::Vector { .. } => "vector",
        }
    }
}

impl Output {
    /// The kind of output in one stable word. A vector is one wherever its components lie.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Category { .. } => "category",
            Self::Vector { .. } | Self::VectorAt { .. } => "vector",
            Self::Text { .. } => "text",
            Self::Json { .. } => "json",
            Self::File { .. } => "file",
        }
    }
}
