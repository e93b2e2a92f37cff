//! Bars beside their figures: a table first, a picture second, readable without colour and on a narrow screen.

/// Bars of one chart at most; what is more is grouped.
pub(super) const BARS_MAX: usize = 24;

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chart {
    /// What is shown.
    pub(super) caption: String,
    /// Its bars.
    pub(super) rows: Vec<Row>,
}

/// A bar with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// What it is of.
    pub(super) label: String,
    /// `bar`, or `off` for one drawn with a dashed outline.
    pub(super) class: &'static str,
    /// Its length, from 0 to 100, with two decimals.
    pub(super) width: String,
    /// Its figure.
    pub(super) value: String,
}

/// `part` of `whole` in hundredths of a per cent, computed in integers so that every machine draws the same.
pub(super) fn share(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Groups of lengths by powers of two: the first length of each group that is not empty and its count, with the
/// empty groups between them. More groups than there is room for are merged from the bottom.
pub(super) fn groups(lengths: &[u64]) -> Vec<(u64, u64, u64)> {
    let exponent = |length: u64| length.max(1).ilog2();
    let (Some(low), Some(high)) = (lengths.iter().min(), lengths.iter().max()) else { return Vec::new() };
    let first = exponent(*low).max((exponent(*high) + 1).saturating_sub(16));
    (first..=exponent(*high))
        .map(|group| {
            let from = if group == first { *low } else { 1 << group };
            let to = (1_u64 << group).saturating_mul(2) - 1;
            let count = lengths.iter().filter(|length| exponent(**length).max(first) == group).count();
            (from, to.min(*high), count as u64)
        })
        .collect()
}

/// The largest of each of at most [`BARS_MAX`] runs of consecutive values, with the number of its first and last
/// value from 1. The slowest is shown, never a mean that would hide it.
pub(super) fn runs(values: &[u64]) -> Vec<(usize, usize, u64)> {
    let size = values.len().div_ceil(BARS_MAX).max(1);
    (0..)
        .zip(values.chunks(size))
        .map(|(run, chunk)| {
            let first = run * size + 1;
            (first, first + chunk.len() - 1, chunk.iter().copied().max().unwrap_or(0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_in_one_group() {
        let lengths: Vec<u64> = (0..5_000).map(|n| n * n % 7_919).collect();
        let groups = groups(&lengths);
        assert_eq!(groups.iter().map(|(_, _, count)| count).sum::<u64>(), 5_000);
        assert!(groups.windows(2).all(|two| two[0].1 < two[1].0));
    }

    #[test]
    fn a_chart_of_many_batches_keeps_the_slowest() {
        let mut values = vec![10; 1_000];
        values[777] = 99;
        let runs = runs(&values);
        assert!(runs.len() <= BARS_MAX);
        assert_eq!((runs[0].0, runs.last().unwrap().1), (1, 1_000));
        assert!(runs.iter().any(|(first, last, slowest)| (*first..=*last).contains(&778) && *slowest == 99));
    }

    #[test]
    fn a_share_never_divides_by_nothing() {
        assert_eq!((share(1, 3), share(0, 0), share(7, 7)), ("33.33".into(), "0.00".into(), "100.00".into()));
    }
}
