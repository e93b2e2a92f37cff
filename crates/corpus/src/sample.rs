//! A sample of a corpus by length: short, usual and long items, the same for the same seed wherever it is drawn.
//!
//! One pass. Items are filed by length, eight classes to a doubling; of each class those with the least hash of seed,
//! position and digest are kept, as many as the whole sample may take. A group of length is a run of classes, and the
//! least hashes of a run are a uniform sample of it, so that the groups can be cut once all lengths are known.
//! Memory: the classes that occur, times the size of the sample.

use std::collections::BTreeMap;

use pilote_spec::{Digest, Item};
use serde::Serialize;

use crate::scan;
use crate::source::{CorpusError, Source};

/// Classes of length to a doubling, as a power of two.
const CLASSES_LOG: u32 = 3;

/// The share of all items that counts as short, and the one that counts as long, in percent.
const SHORT_PERCENT: u64 = 25;
const LONG_PERCENT: u64 = 5;

/// A group of length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LengthGroup {
    /// About the shortest quarter.
    Short,
    /// Between the others.
    Usual,
    /// About the longest twentieth.
    NearLimit,
}

/// A group of length in corpus and sample, side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Which group.
    pub group: LengthGroup,
    /// The shortest length that falls into it, in characters.
    pub from: u64,
    /// The longest length that falls into it, in characters.
    pub to: u64,
    /// Items of the corpus in it.
    pub corpus: u64,
    /// Items of the sample in it.
    pub sample: u64,
}

/// What was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The items, in input order.
    pub items: Vec<Item>,
    /// The groups that the corpus has, shortest first.
    pub shares: Vec<Share>,
    /// Items of the corpus that are no work, and so never drawn.
    pub faulty: u64,
}

/// The items of one class that may be drawn, by hash, and how many there are.
#[derive(Debug, Default)]
struct Class {
    items: u64,
    shortest: u64,
    longest: u64,
    kept: BTreeMap<[u8; 16], Item>,
}

/// Draws `count` items of `source`: as many of each group as of the others while it has them.
///
/// # Errors
/// What makes the inputs unusable as a whole.
pub fn sample(source: &Source, count: usize, seed: u64) -> Result<Sample, CorpusError> {
    let mut classes: BTreeMap<u32, Class> = BTreeMap::new();
    let mut faulty = 0;
    for item in scan(source)? {
        let item = item?;
        if item.fault.is_some() {
            faulty += 1;
            continue;
        }
        let class = classes.entry(class_of(item.chars)).or_default();
        class.shortest = if class.items == 0 { item.chars } else { class.shortest.min(item.chars) };
        class.longest = class.longest.max(item.chars);
        class.items += 1;
        class.kept.insert(key(seed, &item), item);
        if class.kept.len() > count {
            class.kept.pop_last();
        }
    }
    let mut groups = grouped(classes);
    let wanted = quotas(&groups.iter().map(|(_, class)| class.items).collect::<Vec<_>>(), count as u64);
    let (mut items, mut shares) = (Vec::new(), Vec::new());
    for ((group, class), quota) in groups.iter_mut().zip(wanted) {
        let drawn = std::mem::take(&mut class.kept).into_values().take(usize::try_from(quota).unwrap_or(0));
        let before = items.len();
        items.extend(drawn);
        let sample = (items.len() - before) as u64;
        let (from, to, corpus) = (class.shortest, class.longest, class.items);
        shares.push(Share { group: *group, from, to, corpus, sample });
    }
    items.sort_by_key(|item| item.position);
    Ok(Sample { items, shares, faulty })
}

/// The class of a length: the place of its highest bit, and the next bits below it.
fn class_of(chars: u64) -> u32 {
    let Some(doubling) = chars.checked_ilog2() else { return 0 };
    let below = if doubling >= CLASSES_LOG {
        chars >> (doubling - CLASSES_LOG)
    } else {
        chars << (CLASSES_LOG - doubling)
    };
    let below = u32::try_from(below & ((1 << CLASSES_LOG) - 1)).unwrap_or(0);
    (doubling << CLASSES_LOG) + below + 1
}

fn key(seed: u64, item: &Item) -> [u8; 16] {
    let digest = item.digest.map(|digest| digest.to_string()).unwrap_or_default();
    let hash = Digest::of(format!("{seed} {} {digest}", item.position).as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hash.as_bytes()[..16]);
    key
}

/// Cuts the classes into groups where the shares of the corpus say so; a group without items is left out.
fn grouped(classes: BTreeMap<u32, Class>) -> Vec<(LengthGroup, Class)> {
    let all: u64 = classes.values().map(|class| class.items).sum();
    let mut groups: BTreeMap<LengthGroup, Class> = BTreeMap::new();
    let mut before = 0;
    for class in classes.into_values() {
        let after = before + class.items;
        // A class belongs where its middle lies, so that a corpus of one length is usual.
        let middle = (before + after) / 2;
        let group = if middle * 100 < all * SHORT_PERCENT {
            LengthGroup::Short
        } else if middle * 100 >= all * (100 - LONG_PERCENT) {
            LengthGroup::NearLimit
        } else {
            LengthGroup::Usual
        };
        let into = groups.entry(group).or_default();
        into.shortest = if into.items == 0 { class.shortest } else { into.shortest.min(class.shortest) };
        into.longest = into.longest.max(class.longest);
        into.items += class.items;
        into.kept.extend(class.kept);
        before = after;
    }
    groups.into_iter().collect()
}

/// How many of each group: equal shares, what a group does not have going to the others, the largest first.
fn quotas(items: &[u64], count: u64) -> Vec<u64> {
    let mut quotas = vec![0; items.len()];
    let mut left = count.min(items.iter().sum());
    while left > 0 {
        let open: Vec<usize> = (0..items.len()).filter(|at| quotas[*at] < items[*at]).collect();
        let each = (left / open.len().max(1) as u64).max(1);
        let mut by_size = open;
        by_size.sort_by_key(|at| std::cmp::Reverse(items[*at]));
        for at in by_size {
            let more = each.min(items[at] - quotas[at]).min(left);
            quotas[at] += more;
            left -= more;
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_with_length() {
        let classes: Vec<u32> = (0..5000).map(class_of).collect();
        assert!(classes.is_sorted());
        assert_eq!((class_of(0), class_of(1), class_of(1024)), (0, 1, 81));
    }

    #[test]
    fn quotas_are_equal_until_a_group_runs_out() {
        assert_eq!(quotas(&[100, 300, 20], 12), [4, 4, 4]);
        assert_eq!(quotas(&[100, 300, 2], 12), [5, 5, 2]);
        assert_eq!(quotas(&[100, 300, 20], 13), [4, 5, 4]);
        assert_eq!(quotas(&[1, 2], 12), [1, 2]);
        assert_eq!(quotas(&[], 12), [0; 0]);
    }
}
