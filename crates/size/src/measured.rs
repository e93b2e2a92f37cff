//! Measured peaks beside the estimate, and the verdict on a card.

use pilote_spec::{EngineConfig, MeasureLine, Trial};
use serde::{Deserialize, Serialize};

use crate::memory::{Backend, Engine, Estimate, PartKind, Task};
use crate::{Amount, Bytes};

/// What a trial of this project measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// The trial's name.
    pub trial: String,
    /// Where it computed; a peak on the processor says nothing of a card.
    pub backend: Backend,
    /// The card on which it computed, as its driver names it, where the trial tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// The whole peak, and peaks of parts where the engine told them.
    pub peaks: Vec<Peak>,
    /// What the process held before the model was loaded, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Bytes>,
}

/// The largest work that a trial had in hand at once, as its batches tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// Tokens of its longest sequence, where its engine counted them.
    pub longest: Option<u64>,
    /// The most tokens that it computed at once, padding included, where its engine counted them.
    pub at_once: Option<u64>,
}

impl Shape {
    /// The shape of a trial's largest batch.
    #[must_use]
    pub fn of_trial(trial: &Trial, lines: &[MeasureLine]) -> Self {
        let longest = lines.iter().filter_map(|line| line.measures.longest_tokens).max();
        let padded = lines.iter().filter_map(|line| line.measures.padded_tokens).max();
        // The engine computes a batch in pieces of its own limit, so no more than that is alive at once; a single
        // sequence beyond the limit is a piece of its own.
        let limit = match &trial.project.engine {
            EngineConfig::Builtin(builtin) => Some(u64::from(builtin.batch_tokens)),
            _ => trial.engine.parameters.get("batch_tokens").and_then(|limit| limit.parse().ok()),
        };
        let at_once =
            padded.map(|tokens| limit.map_or(tokens, |limit| tokens.min(limit)).max(longest.unwrap_or(0)));
        Self { longest, at_once }
    }

    /// Sequences of the longest length that the tokens at once are as much as; none where either is not known.
    #[must_use]
    pub fn batch(&self) -> Option<u64> {
        Some(self.at_once?.div_ceil(self.longest?.max(1)).max(1))
    }
}

/// One measured peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// The part; none for the whole process or card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartKind>,
    /// The peak.
    pub bytes: Bytes,
    /// The most tokens, padding included, that were computed at once while it was measured, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_at_once: Option<u64>,
    /// Tokens of the longest sequence that was computed while it was measured, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_tokens: Option<u64>,
    /// Readings that it is the largest of.
    pub readings: u64,
}

impl Measured {
    /// The peaks of a trial, from its measures: the whole, and where the engine read its memory before and after it
    /// loaded its model, what those readings tell of the parts. None where no batch carries a reading: an absent
    /// reading is not zero.
    #[must_use]
    pub fn of_trial(trial: &Trial, lines: &[MeasureLine]) -> Option<Self> {
        let readings = || lines.iter().filter_map(|line| line.measures.peak_bytes);
        let bytes = readings().max()?;
        let count = readings().count() as u64;
        let device = trial.engine.device.as_str();
        let backend = match device.split(':').next() {
            Some("cuda") => Backend::Cuda,
            Some("rocm" | "hip") => Backend::Rocm,
            _ => Backend::Cpu,
        };
        let Shape { longest: longest_tokens, at_once: tokens_at_once } = Shape::of_trial(trial, lines);
        let floor = lines.iter().filter_map(|line| line.measures.floor_bytes).max();
        let loaded = lines.iter().filter_map(|line| line.measures.loaded_bytes).max();
        let readings = count;
        let of_part =
            |part, bytes| Peak { part, bytes: Bytes(bytes), tokens_at_once, longest_tokens, readings };
        let mut peaks = vec![of_part(None, bytes)];
        if let (Some(floor), Some(loaded)) = (floor, loaded) {
            peaks.push(of_part(Some(PartKind::Runtime), floor));
            peaks.push(of_part(Some(PartKind::Weights), loaded.saturating_sub(floor)));
            peaks.push(of_part(Some(PartKind::Temporaries), bytes.saturating_sub(loaded)));
        }
        let number = device.split(':').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0_usize);
        let card =
            trial.machine.cards.get(number).filter(|_| backend != Backend::Cpu).map(|card| card.name.clone());
        Some(Self { trial: trial.name.clone(), backend, card, peaks, floor: floor.map(Bytes) })
    }

    /// The whole peak, where it was measured on the task's backend with as many tokens at once and a longest sequence
    /// of as many tokens. What was not counted covers nothing. An engine that works in steps of a fixed number of
    /// tokens (vLLM, llama.cpp) and reserves its cache has no longest sequence to reach.
    #[must_use]
    pub fn peak_covering(&self, task: &Task) -> Option<&Peak> {
        let at_once = task.tokens_at_once()?;
        let in_steps = matches!(task.engine, Engine::Vllm { .. } | Engine::LlamaCpp { .. });
        let longest = if in_steps { 0 } else { task.longest() };
        let reached = |counted: Option<u64>, needed: u64| counted.is_some_and(|counted| counted >= needed);
        self.peaks.iter().find(|peak| {
            peak.part.is_none()
                && self.backend == task.backend
                && reached(peak.tokens_at_once, at_once)
                && (longest == 0 || reached(peak.longest_tokens, longest))
        })
    }

    /// What the trial computed beside what the task asks for; none where it measured no whole peak.
    #[must_use]
    pub fn coverage(&self, task: &Task) -> Option<Coverage> {
        let whole = self.peaks.iter().find(|peak| peak.part.is_none())?;
        Some(Coverage {
            trial: self.trial.clone(),
            covers: self.peak_covering(task).is_some(),
            longest: whole.longest_tokens,
            at_once: whole.tokens_at_once,
            longest_asked: task.longest(),
            at_once_asked: task.tokens_at_once(),
        })
    }
}

/// What a trial's measured peak says of a task: what was computed, and what is asked for, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// The trial that was measured.
    pub trial: String,
    /// Whether its peak covers the task.
    pub covers: bool,
    /// Its longest sequence, where its engine counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<u64>,
    /// The most tokens that it computed at once, padding included, where its engine counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u64>,
    /// The longest sequence of the task.
    pub longest_asked: u64,
    /// Tokens at once of the task, where the engine's setting that decides is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once_asked: Option<u64>,
}

/// One line of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The part; none for the whole.
    pub part: Option<PartKind>,
    /// The estimate; absent where it is unknown.
    pub estimated: Option<Amount>,
    /// The measured peak.
    pub measured: Bytes,
    /// By how many bytes the peak is above (or, negative, below) the estimate's nearest end; 0 inside it.
    pub difference: Option<i64>,
    /// The same against the measured peak above the floor, in per cent.
    pub difference_percent: Option<f64>,
}

/// Measured peaks beside the estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The trial that was measured.
    pub trial: String,
    /// The lines: the whole, then parts.
    pub lines: Vec<Beside>,
}

/// Puts measured peaks beside the estimate of the fullest card.
#[must_use]
pub fn compare(estimate: &Estimate, measured: &Measured) -> Comparison {
    let share = estimate.fullest();
    let lines = measured.peaks.iter().map(|peak| {
        let estimated = share.and_then(|share| match peak.part {
            // From outside a process, all that comes and goes with a batch is seen as one.
            Some(PartKind::Temporaries) => {
                let with_the_batch = [PartKind::Inputs, PartKind::Temporaries, PartKind::KeptOutputs];
                let parts = share.parts.iter().filter(|part| with_the_batch.contains(&part.part));
                parts
                    .map(|part| part.figure.amount)
                    .try_fold(Amount::default(), |sum, one| Some(sum.plus(one?)))
            }
            Some(part) => share.part(part)?.amount,
            None => share.unknown.is_empty().then_some(share.known),
        });
        let difference = estimated.map(|estimated| beyond(peak.bytes, estimated));
        let above_floor = peak.bytes.less(measured.floor.filter(|_| peak.part.is_none()).unwrap_or_default());
        let percent = difference.filter(|_| above_floor.0 > 0).map(|bytes| percent(bytes, above_floor));
        Beside { part: peak.part, estimated, measured: peak.bytes, difference, difference_percent: percent }
    });
    Comparison { trial: measured.trial.clone(), lines: lines.collect() }
}

/// How far a peak is outside of a range; 0 inside.
fn beyond(peak: Bytes, range: Amount) -> i64 {
    let signed = |bytes: Bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX);
    if peak > range.high {
        signed(peak) - signed(range.high)
    } else if peak < range.low {
        signed(peak) - signed(range.low)
    } else {
        0
    }
}

/// A share in per cent to one decimal.
#[expect(clippy::cast_precision_loss, reason = "a share to one decimal needs no more than 53 bits")]
fn percent(bytes: i64, whole: Bytes) -> f64 {
    (bytes as f64 / whole.0 as f64 * 1000.0).round() / 10.0
}

/// What holding a task against a card came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// A measured peak leaves the stated margin.
    Fits {
        /// The measured peak.
        peak: Bytes,
        /// What it leaves.
        headroom: Bytes,
        /// What had to be left.
        margin: Bytes,
        /// The trial that measured it.
        trial: String,
    },
    /// A measured peak leaves less than the stated margin.
    NoMargin {
        /// The measured peak.
        peak: Bytes,
        /// What it leaves.
        headroom: Bytes,
        /// What had to be left.
        margin: Bytes,
        /// The trial that measured it.
        trial: String,
    },
    /// Parts that are exact, or a measured peak, exceed the card: certain.
    DoesNotFit {
        /// What is certain.
        certain: Bytes,
        /// By how much that is too much.
        over: Bytes,
    },
    /// Neither is proved: a measured peak is missing.
    Open {
        /// The known parts together.
        known: Amount,
        /// The parts that are not in it.
        unknown: Vec<PartKind>,
        /// Whether the known parts at their low end are beyond the card already: likely too small, and not certain
        /// since estimates are among them.
        beyond: bool,
    },
}

impl Verdict {
    /// The verdict's stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Fits { .. } => "fits",
            Self::NoMargin { .. } => "no-margin",
            Self::DoesNotFit { .. } => "does-not-fit",
            Self::Open { .. } => "open",
        }
    }
}

/// Holds a task against the budget of one card. "Fits" needs a measured peak that covers the task and leaves the
/// margin; "does not fit" needs parts that are certain and exceed the budget by themselves.
#[must_use]
pub fn verdict(
    estimate: &Estimate,
    task: &Task,
    measured: Option<&Measured>,
    budget: Bytes,
    margin_percent: u32,
) -> Verdict {
    let margin = budget.per_mille(margin_percent.saturating_mul(10));
    let covering = measured.and_then(|measured| Some((measured.peak_covering(task)?, &measured.trial)));
    if let Some((peak, trial)) = covering {
        let (peak, trial) = (peak.bytes, trial.clone());
        if peak > budget {
            return Verdict::DoesNotFit { certain: peak, over: peak.less(budget) };
        }
        let headroom = budget.less(peak);
        return if headroom >= margin {
            Verdict::Fits { peak, headroom, margin, trial }
        } else {
            Verdict::NoMargin { peak, headroom, margin, trial }
        };
    }
    let certain = estimate.shares.iter().map(|share| share.certain).max().unwrap_or_default();
    if certain > budget {
        return Verdict::DoesNotFit { certain, over: certain.less(budget) };
    }
    let share = estimate.fullest();
    let known = share.map(|share| share.known).unwrap_or_default();
    Verdict::Open {
        known,
        beyond: known.low > budget,
        unknown: share.map(|share| share.unknown.clone()).unwrap_or_default(),
    }
}
