//! How long a campaign may take, from a measured sample and from nothing else.

use serde::{Deserialize, Serialize};

/// The least items of a measured sample that a projection is made from.
pub const SAMPLE_MIN: u64 = 30;

/// The groups of length that a sample must cover.
pub const GROUPS_MIN: usize = 3;

/// Items of one group of length, as a trial measured them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The longest item of the group, in tokens or characters.
    pub longest: u64,
    /// Seconds of each measured item of the group.
    pub seconds: Vec<f64>,
    /// Items of the corpus in the group.
    pub corpus_items: u64,
}

/// A measured sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The trial that was measured.
    pub trial: String,
    /// Whether the trial was the pilot: twelve documents are no sample.
    pub pilot: bool,
    /// Its groups of length.
    pub groups: Vec<Group>,
    /// Seconds of installation and checks, measured.
    pub preparation_seconds: Option<f64>,
    /// Seconds of exporting and reading the copy again, for one item, measured.
    pub export_seconds_per_item: Option<f64>,
}

/// What a projection came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Projection {
    /// None, and why.
    None {
        /// The reason.
        reason: NoProjection,
    },
    /// An interval.
    Interval {
        /// The trial that was measured.
        trial: String,
        /// Measured items.
        measured: u64,
        /// Items of the corpus.
        items: u64,
        /// Seconds of computing, low end.
        computing_low: f64,
        /// Seconds of computing, high end.
        computing_high: f64,
        /// Seconds of installation and checks, where measured.
        preparation: Option<f64>,
        /// Seconds of exporting, where measured.
        export: Option<f64>,
    },
}

/// Why there is no projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoProjection {
    /// Nothing was measured.
    NoSample,
    /// Only the pilot was measured.
    OnlyPilot,
    /// Fewer items than [`SAMPLE_MIN`].
    TooFew,
    /// Fewer groups of length than [`GROUPS_MIN`], or a group of the corpus without a measured item.
    LengthsNotCovered,
    /// A time that is none.
    BadTimes,
}

/// Projects the time of a campaign on one card.
///
/// The interval is that of a stratified total at 95 %: for each group of length the mean of its measured times,
/// with two standard errors to either side, times its items in the corpus; the groups' errors add in quadrature. A
/// group with one measurement has no error of its own and takes the largest relative one of the others, at least 50 %.
#[must_use]
pub fn project(sample: Option<&Sample>) -> Projection {
    let none = |reason| Projection::None { reason };
    let Some(sample) = sample else { return none(NoProjection::NoSample) };
    if sample.pilot {
        return none(NoProjection::OnlyPilot);
    }
    let measured: u64 = sample.groups.iter().map(|group| group.seconds.len() as u64).sum();
    if measured < SAMPLE_MIN {
        return none(NoProjection::TooFew);
    }
    let uncovered = |group: &Group| group.corpus_items > 0 && group.seconds.is_empty();
    if sample.groups.len() < GROUPS_MIN || sample.groups.iter().any(uncovered) {
        return none(NoProjection::LengthsNotCovered);
    }
    if sample.groups.iter().flat_map(|group| &group.seconds).any(|time| !time.is_finite() || *time < 0.0) {
        return none(NoProjection::BadTimes);
    }
    let spread = sample.groups.iter().filter_map(relative_error).fold(0.5, f64::max);
    let (mut total, mut variance) = (0.0, 0.0);
    for group in sample.groups.iter().filter(|group| !group.seconds.is_empty()) {
        let time = mean(&group.seconds) * count(group.corpus_items);
        total += time;
        variance += (time * relative_error(group).unwrap_or(spread)).powi(2);
    }
    let error = 2.0 * variance.sqrt();
    let items = sample.groups.iter().map(|group| group.corpus_items).sum();
    Projection::Interval {
        trial: sample.trial.clone(),
        measured,
        items,
        computing_low: (total - error).max(0.0),
        computing_high: total + error,
        preparation: sample.preparation_seconds,
        export: sample.export_seconds_per_item.map(|each| each * count(items)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of items stay far below 2^53")]
fn count(items: u64) -> f64 {
    items as f64
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / count(times.len() as u64)
}

/// The standard error of a group's mean, relative to it; none for a single measurement.
fn relative_error(group: &Group) -> Option<f64> {
    let measured = group.seconds.len() as u64;
    let mean = mean(&group.seconds);
    if measured < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = group.seconds.iter().map(|time| (time - mean).powi(2)).sum();
    Some((squares / count(measured - 1) / count(measured)).sqrt() / mean)
}
