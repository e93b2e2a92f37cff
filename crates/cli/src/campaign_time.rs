//! The time of the campaign, projected on a trial that was measured: `pilote plan --measured RUN`.

use std::collections::BTreeMap;
use std::path::Path;

use pilote_conduct::{BatchMeasured, Measured};
use pilote_corpus::{LengthGroup as Group, Share, Source};
use pilote_size::plan::{NoProjection, Projection};
use pilote_size::projection::{
    Besides, CampaignTime, LengthGroup, MeasuredBatch, NotProjected, campaign_time,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::place::Place;

/// What a projection came to, and what it rests on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Projected {
    /// The trial that was measured.
    pub(crate) trial: String,
    /// The time; none where too little was measured.
    pub(crate) time: Option<CampaignTime>,
    /// Why there is none, with what is needed.
    pub(crate) why: Option<String>,
}

/// Projects the campaign that the project at `place` declares on the measures of the trial in `dir`.
///
/// # Errors
/// When no campaign is declared, or its inputs or the trial cannot be read. Too few measures are no error.
pub(crate) fn projected(place: &Place, dir: &Path) -> Result<Projected, Failure> {
    let project = &place.parsed.project;
    let campaign = project.campaign.as_ref().ok_or_else(|| {
        let error = anyhow::anyhow!("config/pilote.json declares no campaign whose time could be projected");
        Failure::request("no-campaign", error).hint("add `campaign` with its inputs, count and refused_max")
    })?;
    let source = Source::new(&place.root, &campaign.inputs, &project.limits, project.duplicates);
    let shares =
        pilote_corpus::sample(&source, 0, 0).map_err(|error| Failure::request(error.code(), error))?.shares;
    over(&shares, dir)
}

/// Projects the items of these groups on what the trial in `dir` measured.
fn over(shares: &[Share], dir: &Path) -> Result<Projected, Failure> {
    let Measured { batch_items, batches } = pilote_conduct::measured(dir)?;
    let trial = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(match campaign_time(&groups(shares, &batches), Besides::default()) {
        Ok(time) => Projected { trial, time: Some(time), why: None },
        Err(error) => Projected { trial, time: None, why: Some(in_words(&error, batch_items)) },
    })
}

/// Shares of items, in percent, up to which an item is short or usual.
const CUTS: [u64; 2] = [25, 95];

/// The time that the trial in `dir` still computes, from what it measured itself; none where nothing is pending.
///
/// # Errors
/// When the trial cannot be read. Too few measures are no error.
pub(crate) fn remaining(dir: &Path) -> Result<Option<Projected>, Failure> {
    let pending = pilote_conduct::pending(dir)?;
    if pending.is_empty() { Ok(None) } else { over(&cut(&pending), dir).map(Some) }
}

/// Groups of length over counts by length.
fn cut(lengths: &BTreeMap<u64, u64>) -> Vec<Share> {
    let all: u64 = lengths.values().sum();
    let mut shares: Vec<Share> = Vec::new();
    let mut before = 0;
    for (chars, count) in lengths {
        let group = match (before + count / 2) * 100 / all.max(1) {
            percent if percent < CUTS[0] => Group::Short,
            percent if percent < CUTS[1] => Group::Usual,
            _ => Group::NearLimit,
        };
        before += count;
        match shares.last_mut() {
            Some(share) if share.group == group => {
                (share.to, share.corpus) = (*chars, share.corpus + count);
            }
            _ => shares.push(Share { group, from: *chars, to: *chars, corpus: *count, sample: 0 }),
        }
    }
    shares
}

/// The groups of length that the corpus has, each with the batches whose longest item falls into it. A batch that is
/// longer than every item of the corpus stands with the longest ones.
fn groups(shares: &[Share], measured: &[BatchMeasured]) -> Vec<LengthGroup> {
    let group_of = |longest: u64| {
        shares.iter().position(|share| longest <= share.to).unwrap_or(shares.len().saturating_sub(1))
    };
    let mut groups: Vec<LengthGroup> = shares
        .iter()
        .map(|share| LengthGroup { longest: share.to, batches: Vec::new(), corpus_items: share.corpus })
        .collect();
    for batch in measured {
        if let Some(group) = groups.get_mut(group_of(batch.longest)) {
            group.batches.push(MeasuredBatch { items: batch.items, seconds: batch.seconds });
        }
    }
    groups
}

/// The refusal with the number of items that are needed: batches are what is timed, and items are what people draw.
fn in_words(error: &NotProjected, batch_items: u64) -> String {
    match error {
        NotProjected::TooFew { measured, needed, .. } => {
            let items = (needed - measured) as u64 * batch_items;
            format!(
                "{error}; {items} items more of that length are enough, beside the first batch, which warms up"
            )
        }
        _ => error.to_string(),
    }
}

impl Projected {
    /// The same as a plan shows it.
    pub(crate) fn projection(&self) -> Projection {
        match &self.time {
            Some(time) => Projection::Interval {
                trial: self.trial.clone(),
                measured: time.measured_items,
                items: time.corpus_items,
                computing_low: time.low,
                computing_high: time.high,
                preparation: time.besides.installation,
                export: time.besides.export,
            },
            None => Projection::None { reason: NoProjection::TooFew },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_lengths_are_cut_into_short_usual_and_long_ones() {
        let shares = cut(&(1..=100).map(|chars| (chars, 3)).collect());
        let found: Vec<(u64, u64, u64)> =
            shares.iter().map(|share| (share.from, share.to, share.corpus)).collect();
        assert_eq!(found, [(1, 25, 75), (26, 95, 210), (96, 100, 15)]);
        assert!(cut(&BTreeMap::new()).is_empty());
    }

    #[test]
    fn batches_stand_with_the_items_of_their_length_and_longer_ones_with_the_longest() {
        let share = |group, from, to, corpus| Share { group, from, to, corpus, sample: 0 };
        let shares = [share(Group::Short, 1, 10, 100), share(Group::Usual, 11, 90, 300)];
        let batch = |longest| BatchMeasured { items: 4, longest, seconds: 1.0 };
        let groups = groups(&shares, &[batch(3), batch(10), batch(11), batch(900)]);
        let found: Vec<(u64, usize, u64)> =
            groups.iter().map(|group| (group.longest, group.batches.len(), group.corpus_items)).collect();
        assert_eq!(found, [(10, 2, 100), (90, 2, 300)]);
    }
}
