//! What a decision lacks, each with what to do.

use crate::error::ProofError;

/// Why a decision is not kept.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// Words that are asked for say nothing.
    #[error("--{what} says nothing; {}", asked(what))]
    NothingSaid {
        /// The option.
        what: &'static str,
    },
    /// A launch on something that is no pilot.
    #[error("{trial} is no pilot; a launch rests on a pilot that held: `pilote run` makes one")]
    NoPilot {
        /// The trial.
        trial: String,
    },
    /// A launch on something that never computed anything.
    #[error("{trial} never launched: nothing was computed; mend what kept it, then `pilote run`")]
    NothingRan {
        /// The directory's name.
        trial: String,
    },
    /// A launch on a pilot that does not hold.
    #[error("the pilot does not hold, so that nothing can be launched on it: {}; decide to mend or replan instead", failing.join(", "))]
    DoesNotHold {
        /// What does not hold.
        failing: Vec<String>,
    },
    /// The declared bar is not met.
    #[error("the pilot loses quality against the declared reference: {}", lines.join("; "))]
    QualityLost {
        /// The measures, each with its figure.
        lines: Vec<String>,
    },
    /// Too few results were looked at.
    #[error(
        "{examined} of {needed} results were looked at; read some beside their inputs and say of each whether it is right, for example{}",
        proposed(propose)
    )]
    TooFewSamples {
        /// Results that were looked at.
        examined: usize,
        /// How many are needed.
        needed: usize,
        /// Identifiers to look at.
        propose: Vec<pilote_spec::ItemId>,
    },
    /// A sample in another form.
    #[error("`{text}` is no verdict on a sample; write --sample ID=right, or --sample ID=wrong:why")]
    BadSample {
        /// What was written.
        text: String,
    },
    /// A sample that the trial does not know.
    #[error("the trial has no item `{id}`; identifiers are exact: mind case, accents and folders")]
    UnknownSample {
        /// The identifier.
        id: String,
    },
    /// A sample without an outcome.
    #[error(
        "`{id}` is pending: there is no outcome to look at; take the trial up with `pilote run --resume`"
    )]
    PendingSample {
        /// The identifier.
        id: String,
    },
    /// A sample with two verdicts.
    #[error("`{id}` has two verdicts; keep the right one")]
    SampleTwice {
        /// The identifier.
        id: String,
    },
    /// A launch with something that failed.
    #[error("a launch names nothing that failed; leave --failed out, or decide to mend")]
    ConditionAtLaunch,
    /// No condition, and not exactly one thing that failed.
    #[error(
        "say what failed, so that the next trial can tell whether it is resolved: --failed WHAT{}",
        of(failing)
    )]
    NoCondition {
        /// What failed.
        failing: Vec<String>,
    },
    /// A condition that is none.
    #[error("`{text}` is no condition; write criterion:CODE, step:NAME, rung:NAME or quality:MEASURE")]
    UnknownCondition {
        /// What was written.
        text: String,
    },
    /// A condition that did not fail.
    #[error("{condition} did not fail in this trial{}", of(failing))]
    DidNotFail {
        /// The condition.
        condition: String,
        /// What failed.
        failing: Vec<String>,
    },
    /// The trial cannot be read.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

fn asked(what: &str) -> &'static str {
    match what {
        "because" => "write the reason of the decision in a sentence",
        "accepted" => "write what is accepted although it is not perfect, or that nothing is",
        _ => "write what is left to fix, or that nothing is",
    }
}

fn of(failing: &[String]) -> String {
    if failing.is_empty() {
        "; nothing that it recorded failed: name a rung of the ladder with rung:NAME".to_owned()
    } else {
        format!("; what failed: {}", failing.join(", "))
    }
}

fn proposed(ids: &[pilote_spec::ItemId]) -> String {
    ids.iter().map(|id| format!(" --sample '{id}=right'")).collect()
}

impl DecideError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingSaid { .. } => "nothing-said",
            Self::NoPilot { .. } => "no-pilot",
            Self::NothingRan { .. } => "nothing-ran",
            Self::DoesNotHold { .. } => "does-not-hold",
            Self::QualityLost { .. } => "quality-lost",
            Self::TooFewSamples { .. } => "too-few-samples",
            Self::BadSample { .. } => "bad-sample",
            Self::UnknownSample { .. } => "no-such-id",
            Self::PendingSample { .. } => "pending-sample",
            Self::SampleTwice { .. } => "sample-twice",
            Self::ConditionAtLaunch => "condition-at-launch",
            Self::NoCondition { .. } => "no-condition",
            Self::UnknownCondition { .. } => "unknown-condition",
            Self::DidNotFail { .. } => "did-not-fail",
            Self::Proof(error) => error.code(),
        }
    }
}
