//! A figure and where it comes from.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Where a figure comes from. The order is that of trust, the most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Measured in a trial of this project.
    Measured,
    /// Read from the model's files.
    Read,
    /// An exact formula over what was read or declared; the figure names it.
    Computed,
    /// Declared by the user.
    Declared,
    /// A model of what a program does, with a stated spread.
    Estimated,
    /// Not known; never counted as nothing.
    Unknown,
}

impl Origin {
    /// Whether a figure of this origin may prove that something does not fit.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Measured | Self::Read | Self::Computed)
    }
}

/// From `low` to `high` bytes; equal where the figure is one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// The least.
    pub low: Bytes,
    /// The most.
    pub high: Bytes,
}

impl Amount {
    /// One number.
    #[must_use]
    pub fn exactly(bytes: u64) -> Self {
        Self { low: Bytes(bytes), high: Bytes(bytes) }
    }

    /// A number with so many per cent to either side.
    #[must_use]
    pub fn about(bytes: u64, percent: u32) -> Self {
        let low = Bytes(bytes).per_mille(1000_u32.saturating_sub(percent.saturating_mul(10)));
        Self { low, high: Bytes(bytes).with_percent_more(percent) }
    }

    /// Both ends added.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

/// A figure: an amount with its origin and the formula or the reason that stands behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// The amount in bytes; absent where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// Where it comes from.
    pub origin: Origin,
    /// The formula with its numbers, or what was read; for an unknown figure, what is missing.
    pub basis: String,
}

impl Figure {
    /// A figure that was read.
    #[must_use]
    pub fn read(bytes: u64, basis: impl Into<String>) -> Self {
        Self { amount: Some(Amount::exactly(bytes)), origin: Origin::Read, basis: basis.into() }
    }

    /// A figure that an exact formula gives.
    #[must_use]
    pub fn computed(bytes: u64, basis: impl Into<String>) -> Self {
        Self { amount: Some(Amount::exactly(bytes)), origin: Origin::Computed, basis: basis.into() }
    }

    /// A figure that a model of the program gives.
    #[must_use]
    pub fn estimated(amount: Amount, basis: impl Into<String>) -> Self {
        Self { amount: Some(amount), origin: Origin::Estimated, basis: basis.into() }
    }

    /// A figure that nobody knows yet; `missing` says what would tell.
    #[must_use]
    pub fn unknown(missing: impl Into<String>) -> Self {
        Self { amount: None, origin: Origin::Unknown, basis: missing.into() }
    }

    /// The least that this figure certainly is: its low end where the origin is exact, else nothing.
    #[must_use]
    pub fn certain(&self) -> Bytes {
        self.amount.filter(|_| self.origin.is_exact()).map_or(Bytes(0), |amount| amount.low)
    }

    /// The one number, where the figure is one.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.amount.filter(|amount| amount.low == amount.high).map(|amount| amount.low.0)
    }
}
