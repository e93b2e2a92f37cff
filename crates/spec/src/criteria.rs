//! The criteria of a trial, one line and one verdict each.

use serde::{Deserialize, Serialize};

/// What a criterion came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// It could not be judged; never counted as holding.
    Unknown,
}

/// The criteria, in the order in which people read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionCode {
    /// The index holds as many items as declared.
    InputsCount,
    /// Every identifier is there once.
    InputsUnique,
    /// Every input is readable, or refused for what makes it unreadable.
    InputsReadable,
    /// The pilot's inputs have the digests that were fixed.
    InputsUnchanged,
    /// The inputs that must be refused are among the items.
    InvalidCasePresent,
    /// accepted + refused + pending = declared, and none is duplicated or invented.
    BalanceAddsUp,
    /// No item is pending.
    NothingPending,
    /// The refusals are exactly the expected ones, with their reasons (pilot).
    RefusalsExpected,
    /// The share of refusals is within what is declared (campaign).
    RefusalsWithinShare,
    /// Every accepted output was read again and is acceptable.
    ResultsAcceptable,
    /// The results files hold every outcome once, in input order.
    ResultsComplete,
    /// The trial ended in order and left all its seals.
    TrialEnded,
    /// The copy is whole: every file with its digest.
    CopyWhole,
}

/// A criterion with its verdict and the figures that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Which one.
    pub code: CriterionCode,
    /// What it came to.
    pub verdict: Verdict,
    /// Named figures for the sentence (`seen`, `expected` ...).
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub facts: std::collections::BTreeMap<String, String>,
    /// The first identifiers or files concerned, at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerned: Vec<String>,
}
