//! Exact money: whole hundredths of a currency's unit, never a float.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in hundredths of the unit (cents of a dollar).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cents(pub u64);

/// What makes a text no amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no amount: write digits with two decimals, such as 149.00")]
pub struct MoneyError(String);

impl Cents {
    /// So many times the amount; none beyond 64 bits.
    #[must_use]
    pub fn times(self, count: u32) -> Option<Self> {
        self.0.checked_mul(u64::from(count)).map(Self)
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

impl TryFrom<String> for Cents {
    type Error = MoneyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let error = || MoneyError(text.chars().take(40).collect());
        let (units, cents) = text.split_once('.').unwrap_or((&text, "00"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(units) || !digits(cents) || cents.len() != 2 {
            return Err(error());
        }
        let units: u64 = units.parse().map_err(|_| error())?;
        let cents: u64 = cents.parse().map_err(|_| error())?;
        units.checked_mul(100).and_then(|sum| sum.checked_add(cents)).map(Self).ok_or_else(error)
    }
}

impl From<Cents> for String {
    fn from(cents: Cents) -> Self {
        cents.to_string()
    }
}
