//! A number of bytes that cannot be shown under the wrong unit.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// Bytes. GB are 10^9 of them, GiB 2^30; a figure is shown as both, so that neither is taken for the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const GIB: u64 = 1 << 30;
const GB: u64 = 1_000_000_000;

impl Bytes {
    /// So many MiB (2^20 bytes).
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 20))
    }

    /// So many GiB (2^30 bytes).
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count.saturating_mul(GIB))
    }

    /// The figure in GB (10^9 bytes), with its unit: `16.06 GB`.
    #[must_use]
    pub fn in_gb(self) -> String {
        format!("{} GB", hundredths(self.0, GB))
    }

    /// The figure in GiB (2^30 bytes), with its unit: `14.96 GiB`.
    #[must_use]
    pub fn in_gib(self) -> String {
        format!("{} GiB", hundredths(self.0, GIB))
    }

    /// The figure in MiB (2^20 bytes), with its unit: `2734.00 MiB`.
    #[must_use]
    pub fn in_mib(self) -> String {
        format!("{} MiB", hundredths(self.0, 1 << 20))
    }

    /// The share of these bytes that is left after `share` per cent more were added, rounded up.
    #[must_use]
    pub fn with_percent_more(self, percent: u32) -> Self {
        let more = (u128::from(self.0) * u128::from(percent)).div_ceil(100);
        Self(self.0.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)))
    }

    /// So many thousandths of these bytes, rounded down.
    #[must_use]
    pub fn per_mille(self, thousandths: u32) -> Self {
        let share = u128::from(self.0) * u128::from(thousandths) / 1000;
        Self(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// What is left after `other`, none below zero.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// `value / unit` to two decimals in whole numbers throughout; a tie goes to the even digit, as C prints it.
fn hundredths(value: u64, unit: u64) -> String {
    let (value, unit) = (u128::from(value) * 100, u128::from(unit));
    let (whole, rest) = (value / unit, value % unit * 2);
    let up = rest > unit || (rest == unit && whole % 2 == 1);
    let rounded = whole + u128::from(up);
    format!("{}.{:02}", rounded / 100, rounded % 100)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.in_gib(), self.in_gb())
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self(0), Add::add)
    }
}
