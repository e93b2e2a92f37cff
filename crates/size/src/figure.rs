//! A figure and where it comes from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// A sentence by its stable code and the values that stand in it, so that it can be said in any language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phrase {
    /// The code.
    pub code: String,
    /// The values by name: numbers in plain digits, names as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

/// A sentence in English with the phrase that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// In English.
    pub text: String,
    /// The same as a phrase; none for a text that comes from elsewhere.
    pub phrase: Option<Phrase>,
}

impl Said {
    /// A sentence with its phrase.
    #[must_use]
    pub fn new<const N: usize>(code: &str, text: String, values: [(&str, String); N]) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { text, phrase: Some(Phrase { code: code.to_owned(), values }) }
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A [`Said`]: its code, its English with the values in braces, and the values.
macro_rules! said {
    ($code:literal, $english:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::figure::Said::new($code, format!($english, $($name = $value),*), [$((stringify!($name), $value.to_string())),*])
    };
}
pub(crate) use said;

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
    /// The formula with its numbers, or what was read; for an unknown figure, what is missing. In English.
    pub basis: String,
    /// The same as a phrase, for other languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phrase: Option<Phrase>,
}

impl Figure {
    fn new(amount: Option<Amount>, origin: Origin, said: Said) -> Self {
        Self { amount, origin, basis: said.text, phrase: said.phrase }
    }

    /// A figure that was read.
    #[must_use]
    pub fn read(bytes: u64, basis: Said) -> Self {
        Self::new(Some(Amount::exactly(bytes)), Origin::Read, basis)
    }

    /// A figure that an exact formula gives.
    #[must_use]
    pub fn computed(bytes: u64, basis: Said) -> Self {
        Self::new(Some(Amount::exactly(bytes)), Origin::Computed, basis)
    }

    /// A figure that a model of the program gives.
    #[must_use]
    pub fn estimated(amount: Amount, basis: Said) -> Self {
        Self::new(Some(amount), Origin::Estimated, basis)
    }

    /// A figure that nobody knows yet; `missing` says what would tell.
    #[must_use]
    pub fn unknown(missing: Said) -> Self {
        Self::new(None, Origin::Unknown, missing)
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
