//! What an engine may use of a card, and what it reserves whatever the model needs.

use serde::{Deserialize, Serialize};

use super::{CardShare, PartKind};
use crate::Bytes;

/// The bytes of a card that a program may use: so many thousandths of its memory, and never what others use already.
#[must_use]
pub fn budget(card: Bytes, used_by_others: Bytes, utilisation: u32) -> Bytes {
    card.per_mille(utilisation).min(card.less(used_by_others))
}

/// How an engine that reserves a share of the card divides it. The lines add up to the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// All that is reserved, whatever the model is: what a monitor shows.
    pub budget: Bytes,
    /// The weights.
    pub weights: Bytes,
    /// Inputs, temporaries, logits and outputs at their high end.
    pub working: Bytes,
    /// Graphs and the runtime at their high end.
    pub runtime: Bytes,
    /// What is left for the cache.
    pub cache: Bytes,
    /// What the task's sequences need of it; none where unknown.
    pub cache_needed: Option<Bytes>,
}

/// Divides a budget as vLLM does: what weights, working memory and runtime leave becomes the cache. None where a
/// part is unknown, or where the rest alone is beyond the budget.
#[must_use]
pub fn reserve(budget: Bytes, share: &CardShare) -> Option<Reserve> {
    let high = |kinds: &[PartKind]| -> Option<Bytes> {
        let parts = share.parts.iter().filter(|part| kinds.contains(&part.part));
        parts.map(|part| part.figure.amount.map(|amount| amount.high)).sum()
    };
    let weights = high(&[PartKind::Weights, PartKind::Adapter])?;
    let working = high(&[PartKind::Inputs, PartKind::Temporaries, PartKind::Logits, PartKind::KeptOutputs])?;
    let runtime = high(&[PartKind::Graphs, PartKind::Runtime])?;
    let taken = weights + working + runtime;
    (taken <= budget).then(|| Reserve {
        budget,
        weights,
        working,
        runtime,
        cache: budget.less(taken),
        cache_needed: high(&[PartKind::Cache]),
    })
}
