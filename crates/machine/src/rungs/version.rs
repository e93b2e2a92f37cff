//! Versions as drivers and packages write them: numbers with dots.

use std::cmp::Ordering;

/// The numbers of a version up to the first part that is none: `570.86.10` is 570, 86, 10.
fn numbers(version: &str) -> Vec<u64> {
    version
        .split(['.', '-', '+'])
        .map_while(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .collect()
}

/// Compares two versions number by number; one that is longer is newer where they agree so far, unless the rest is
/// nothing but zeros.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (one, other) = (numbers(one), numbers(other));
    let at = |list: &[u64], index: usize| list.get(index).copied().unwrap_or(0);
    (0..one.len().max(other.len()))
        .map(|index| at(&one, index).cmp(&at(&other, index)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Whether a version is `least` or newer.
#[must_use]
pub fn is_at_least(version: &str, least: &str) -> bool {
    compare(version, least).is_ge()
}

/// The first number of a version.
pub(super) fn major(version: &str) -> Option<u64> {
    numbers(version).first().copied()
}

/// Whether a version begins with the numbers of another: `3.12.1` with `3.12`, and not with `3.1`.
pub(super) fn begins_with(version: &str, start: &str) -> bool {
    let (version, start) = (numbers(version), numbers(start));
    !start.is_empty() && version.len() >= start.len() && version[..start.len()] == start
}

/// A version without its local part: `2.8.0` of `2.8.0+cu128`.
#[must_use]
pub fn public_version(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

/// Whether an installed version is the pinned one. A pin without a local part is met by any; zeros at the end and
/// capitals do not count.
pub(super) fn meets(installed: &str, pinned: &str) -> bool {
    let (installed, pinned) = (installed.to_lowercase(), pinned.to_lowercase());
    if installed == pinned {
        return true;
    }
    let same_public = {
        let (one, other) = (public_version(&installed), public_version(&pinned));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        one == other || (plain(one) && plain(other) && compare(one, other).is_eq())
    };
    let local = |text: &str| text.split_once('+').map(|(_, local)| local.replace(['-', '_'], "."));
    same_public && (local(&pinned).is_none() || local(&pinned) == local(&installed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_at_least("570.86.10", "570.26"));
        assert!(is_at_least("570.26", "570.26.0"));
        assert!(!is_at_least("535.288.01", "570.26"));
        assert!(begins_with("3.12.1", "3.12") && !begins_with("3.12.1", "3.1"));
    }

    #[test]
    fn a_pin_with_a_local_part_asks_for_that_build() {
        assert!(meets("2.8.0+cu128", "2.8.0"));
        assert!(meets("2.8.0+cu128", "2.8.0+cu128"));
        assert!(!meets("2.8.0+cpu", "2.8.0+cu128"));
        assert!(!meets("2.8.0", "2.8.0+cu128"));
        assert!(meets("1.0", "1.0.0") && !meets("1.0rc1", "1.0"));
    }
}
