//! The time of a whole campaign, from batches that a trial measured and from nothing else.
//!
//! Batches hold items of like length and are what an engine is timed by, so they are what is sampled: in each group of
//! length the ratio of time to items is estimated from its batches (Cochran, Sampling Techniques, 3rd edition, chapter 6),
//! the groups' totals add up, and so do their variances. The interval is Student's at 95 %, with the degrees of freedom
//! of Satterthwaite.

use serde::{Deserialize, Serialize};

/// Measured batches that a group of length needs: with fewer, nothing is known of how they differ.
pub const BATCHES_MIN: usize = 5;

/// One batch as a trial measured it, warm-up excluded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredBatch {
    /// Its items.
    pub items: u64,
    /// Seconds from handing over to the last answer.
    pub seconds: f64,
}

/// Batches of items of like length, and how many such items the corpus has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthGroup {
    /// The longest item of the group, in characters.
    pub longest: u64,
    /// What was measured.
    pub batches: Vec<MeasuredBatch>,
    /// Items of the corpus in the group.
    pub corpus_items: u64,
}

/// Times beside computing, as the project declares or a trial measured them; what is absent is not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Besides {
    /// Seconds of installation.
    pub installation: Option<f64>,
    /// Seconds of the checks before the start.
    pub checks: Option<f64>,
    /// Seconds of copying the results and reading the copy again.
    pub export: Option<f64>,
}

/// How long a campaign takes, with what that rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignTime {
    /// Seconds of computing, low end of the interval.
    pub low: f64,
    /// Seconds of computing, expected.
    pub expected: f64,
    /// Seconds of computing, high end.
    pub high: f64,
    /// Measured batches.
    pub batches: u64,
    /// Items in them.
    pub measured_items: u64,
    /// Items of the corpus.
    pub corpus_items: u64,
    /// Seconds beside computing, as far as they are known.
    pub besides: Besides,
}

impl CampaignTime {
    /// The interval with everything beside computing that is known.
    #[must_use]
    pub fn with_besides(&self) -> (f64, f64) {
        let Besides { installation, checks, export } = self.besides;
        let more: f64 = [installation, checks, export].into_iter().flatten().sum();
        (self.low + more, self.high + more)
    }
}

/// Why there is no projection.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotProjected {
    /// A group of the corpus was measured in too few batches.
    #[error(
        "items of up to {longest} characters were measured in {measured} batches and {needed} are needed; run a sample \
         with more items of that length (`pilote sample`)"
    )]
    TooFew {
        /// The longest item of the group, in characters.
        longest: u64,
        /// Batches that were measured.
        measured: usize,
        /// Batches that are needed.
        needed: usize,
    },
    /// Nothing is to be computed.
    #[error("the corpus has no items to compute, so there is no time to project")]
    NoItems,
    /// A batch without items, or a time that is none.
    #[error(
        "a measured batch of {items} items took {seconds} s, which is no measurement; measure the sample anew"
    )]
    BadBatch {
        /// Its items.
        items: u64,
        /// Its seconds.
        seconds: f64,
    },
}

/// Projects the time of computing a corpus on what was measured of a sample of it.
///
/// # Errors
/// When a group of the corpus has fewer than [`BATCHES_MIN`] measured batches, or a measurement is none.
pub fn campaign_time(groups: &[LengthGroup], besides: Besides) -> Result<CampaignTime, NotProjected> {
    let wanted: Vec<&LengthGroup> = groups.iter().filter(|group| group.corpus_items > 0).collect();
    if wanted.is_empty() {
        return Err(NotProjected::NoItems);
    }
    let (mut expected, mut variance, mut per_degree) = (0.0, 0.0, 0.0);
    let (mut batches, mut measured_items, mut corpus_items) = (0, 0, 0);
    for group in wanted {
        let measured = group.batches.len();
        if measured < BATCHES_MIN {
            let longest = group.longest;
            return Err(NotProjected::TooFew { longest, measured, needed: BATCHES_MIN });
        }
        let (total, of_total) = total(group)?;
        expected += total;
        variance += of_total;
        per_degree += of_total * of_total / (count(measured as u64) - 1.0);
        batches += measured as u64;
        measured_items += group.batches.iter().map(|batch| batch.items).sum::<u64>();
        corpus_items += group.corpus_items;
    }
    let degrees = if per_degree > 0.0 { variance * variance / per_degree } else { f64::INFINITY };
    let margin = student(degrees) * variance.sqrt();
    Ok(CampaignTime {
        low: (expected - margin).max(0.0),
        expected,
        high: expected + margin,
        batches,
        measured_items,
        corpus_items,
        besides,
    })
}

/// A group's total time and the variance of that estimate.
fn total(group: &LengthGroup) -> Result<(f64, f64), NotProjected> {
    for MeasuredBatch { items, seconds } in &group.batches {
        if *items == 0 || !seconds.is_finite() || *seconds < 0.0 {
            return Err(NotProjected::BadBatch { items: *items, seconds: *seconds });
        }
    }
    let measured = count(group.batches.len() as u64);
    let items: f64 = group.batches.iter().map(|batch| count(batch.items)).sum();
    let each = group.batches.iter().map(|batch| batch.seconds).sum::<f64>() / items;
    let squares: f64 =
        group.batches.iter().map(|batch| (batch.seconds - each * count(batch.items)).powi(2)).sum();
    let per_batch = items / measured;
    // The campaign's own batches differ among each other as the measured ones do, so theirs is added to the error.
    let ahead = count(group.corpus_items) / per_batch;
    let spread = squares / (measured - 1.0);
    Ok((count(group.corpus_items) * each, spread * ahead * ahead / measured + spread * ahead))
}

/// The two-sided 95 % quantile of Student's distribution (Abramowitz and Stegun, 26.7.5), exact to 1 % from 3 degrees on.
fn student(degrees: f64) -> f64 {
    const NORMAL: f64 = 1.959_963_985;
    let n = degrees.max(1.0);
    let z = NORMAL;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / (n * n) + third / n.powi(3)
}

#[expect(clippy::cast_precision_loss, reason = "counts of items stay far below 2^53")]
fn count(items: u64) -> f64 {
    items as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator with a fixed sequence (xorshift64*).
    struct Sequence(u64);

    impl Sequence {
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            count(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) / count(1 << 53)
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }

        /// Seconds of a batch in simulated time: so much for each item, and a machine that is now slower, now faster,
        /// and at times much slower.
        fn batch(&mut self, items: u64, each: f64) -> MeasuredBatch {
            let hiccup = if self.uniform() < 0.05 { 2.0 } else { 1.0 };
            let seconds = count(items) * each * (0.15 * self.normal()).exp() * hiccup;
            MeasuredBatch { items, seconds }
        }
    }

    /// Groups of short, usual and long items: how many the corpus has, and seconds of each.
    const GROUPS: [(u64, u64, f64); 3] = [(400, 40_000, 0.01), (4_000, 50_000, 0.05), (16_000, 6_400, 0.4)];

    #[test]
    fn the_interval_covers_the_campaign_in_88_to_100_of_100_seeds() {
        let mut covered = 0;
        for seed in 1..=100 {
            let mut sequence = Sequence(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
            let groups: Vec<LengthGroup> = GROUPS
                .iter()
                .map(|(longest, corpus_items, each)| LengthGroup {
                    longest: *longest,
                    batches: (0..12).map(|_| sequence.batch(32, *each)).collect(),
                    corpus_items: *corpus_items,
                })
                .collect();
            let projected = campaign_time(&groups, Besides::default()).unwrap();
            let took: f64 = GROUPS
                .iter()
                .flat_map(|(_, items, each)| {
                    (0..items / 32).map(|_| sequence.batch(32, *each).seconds).collect::<Vec<_>>()
                })
                .sum();
            covered += u32::from((projected.low..=projected.high).contains(&took));
        }
        assert!((88..=100).contains(&covered), "{covered} of 100");
    }

    #[test]
    fn too_few_batches_of_a_length_are_told_with_the_number_needed() {
        let batches = vec![MeasuredBatch { items: 4, seconds: 1.0 }; 3];
        let group = LengthGroup { longest: 900, batches, corpus_items: 100 };
        let error = campaign_time(&[group], Besides::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "items of up to 900 characters were measured in 3 batches and 5 are needed; run a sample with more items of \
             that length (`pilote sample`)"
        );
    }

    #[test]
    fn a_group_without_items_in_the_corpus_needs_no_measurement_and_what_is_no_time_is_refused() {
        let none = LengthGroup { longest: 9, batches: Vec::new(), corpus_items: 0 };
        assert_eq!(
            campaign_time(std::slice::from_ref(&none), Besides::default()),
            Err(NotProjected::NoItems)
        );
        let mut batches = vec![MeasuredBatch { items: 2, seconds: 3.0 }; 6];
        let group = LengthGroup { longest: 90, batches: batches.clone(), corpus_items: 100 };
        let besides = Besides { installation: Some(60.0), export: Some(5.0), ..Besides::default() };
        let time = campaign_time(&[none, group], besides).unwrap();
        assert!((time.low - 150.0).abs() < 1e-9 && (time.high - 150.0).abs() < 1e-9, "{time:?}");
        assert!((time.with_besides().1 - 215.0).abs() < 1e-9);
        batches[3].seconds = f64::NAN;
        let group = LengthGroup { longest: 90, batches, corpus_items: 100 };
        let error = campaign_time(&[group], besides).unwrap_err();
        assert!(error.to_string().starts_with("a measured batch of 2 items took NaN s"), "{error}");
    }

    #[test]
    fn the_quantile_is_that_of_the_tables() {
        for (degrees, table) in [(4.0, 2.776), (10.0, 2.228), (30.0, 2.042), (1e9, 1.960)] {
            assert!((student(degrees) / table - 1.0).abs() < 0.01, "{degrees}: {}", student(degrees));
        }
    }
}
