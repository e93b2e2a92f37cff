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

/// The criteria, in the order in which people read them: inputs, records, results, failures, end, copy.
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
    /// Every record was read again and none is damaged.
    RecordsWhole,
    /// accepted + refused + pending = declared, and none is duplicated or invented.
    BalanceAddsUp,
    /// No item is pending.
    NothingPending,
    /// As many items are accepted as the deliverable promises: the count less the expected refusals (pilot).
    ResultsCount,
    /// Every accepted output was read again and is acceptable; there is at least one.
    ResultsAcceptable,
    /// The results files hold every outcome once, in input order.
    ResultsComplete,
    /// The refusals are exactly the expected ones, with their reasons (pilot).
    RefusalsExpected,
    /// The share of refusals is within what is declared (campaign).
    RefusalsWithinShare,
    /// The trial ended in order and left all its seals.
    TrialEnded,
    /// The copy is whole: every file with its digest.
    CopyWhole,
}

impl CriterionCode {
    /// Every criterion, in reading order.
    pub const ALL: [Self; 15] = [
        Self::InputsCount,
        Self::InputsUnique,
        Self::InputsReadable,
        Self::InputsUnchanged,
        Self::InvalidCasePresent,
        Self::RecordsWhole,
        Self::BalanceAddsUp,
        Self::NothingPending,
        Self::ResultsCount,
        Self::ResultsAcceptable,
        Self::ResultsComplete,
        Self::RefusalsExpected,
        Self::RefusalsWithinShare,
        Self::TrialEnded,
        Self::CopyWhole,
    ];

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::InputsCount => "inputs-count",
            Self::InputsUnique => "inputs-unique",
            Self::InputsReadable => "inputs-readable",
            Self::InputsUnchanged => "inputs-unchanged",
            Self::InvalidCasePresent => "invalid-case-present",
            Self::RecordsWhole => "records-whole",
            Self::BalanceAddsUp => "balance-adds-up",
            Self::NothingPending => "nothing-pending",
            Self::ResultsCount => "results-count",
            Self::ResultsAcceptable => "results-acceptable",
            Self::ResultsComplete => "results-complete",
            Self::RefusalsExpected => "refusals-expected",
            Self::RefusalsWithinShare => "refusals-within-share",
            Self::TrialEnded => "trial-ended",
            Self::CopyWhole => "copy-whole",
        }
    }
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 3] = [Self::Holds, Self::Fails, Self::Unknown];

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Unknown => "unknown",
        }
    }
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
