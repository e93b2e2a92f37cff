//! A model over several cards: what divides, what every card holds whole, and what travels between them.

use serde::{Deserialize, Serialize};

use super::task::Spread;
use crate::SizeError;
use crate::model::{Architecture, Mixer, Tensor};

/// What travels between cards, and what that asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// `all-reduce` inside a layer or `hand-over` between layers.
    pub pattern: String,
    /// Bytes that one card sends for one token.
    pub bytes_per_token: u64,
    /// The formula.
    pub basis: String,
    /// Whether a direct link (NVLink, Infinity Fabric) is asked for; else PCIe does.
    pub direct: bool,
}

/// Parts of names whose tensors divide over the cards of a tensor-parallel group.
const DIVIDED: &[&str] = &[
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "qkv_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
    "gate_up_proj",
    "q_b_proj",
    "kv_b_proj",
    "w1",
    "w2",
    "w3",
    "embed_tokens",
    "lm_head",
    "wte",
    "c_attn",
    "c_fc",
    "c_proj",
    "query_key_value",
    "dense_h_to_4h",
    "dense_4h_to_h",
    "fc1",
    "fc2",
    "out_proj",
    "experts",
    "in_proj",
];

/// Whether every card has its part of a tensor.
fn divides(tensor: &Tensor) -> bool {
    let bias_after_sum = tensor.name.ends_with(".bias")
        && ["o_proj", "down_proj", "c_proj", "fc2", "out_proj"].iter().any(|name| tensor.name.contains(name));
    let whole = tensor.name.ends_with("g_idx") || tensor.name.contains("norm") || bias_after_sum;
    !whole && tensor.name.split('.').any(|part| DIVIDED.contains(&part))
}

/// Bytes of a tensor on one card of a tensor-parallel group.
#[must_use]
pub fn bytes_on_card(tensor: &Tensor, built: &Architecture, cards: u32) -> u64 {
    let cards = u64::from(cards);
    if cards == 1 || !divides(tensor) {
        return tensor.bytes;
    }
    let holds_keys = tensor.name.split('.').any(|part| part == "k_proj" || part == "v_proj");
    match built.kv_heads {
        // Where heads are fewer than cards, each card holds one whole head.
        Some(heads) if holds_keys && heads < cards && heads > 0 => tensor.bytes.div_ceil(heads),
        _ => tensor.bytes.div_ceil(cards),
    }
}

/// Checks that heads, experts' width and feed-forward width divide over the group, and layers over the stages.
///
/// # Errors
/// Naming what does not divide.
pub(super) fn check(built: &Architecture, spread: Spread) -> Result<(), SizeError> {
    let cards = u64::from(spread.tensor);
    let counts = [("number of heads", built.heads), ("feed-forward width", built.intermediate)];
    for (what, count) in counts {
        if let Some(count) = count.filter(|count| count % cards != 0) {
            return Err(SizeError::DoesNotDivide { what, count, cards: spread.tensor });
        }
    }
    let uneven = |heads: &u64| *heads > 0 && !heads.is_multiple_of(cards) && !cards.is_multiple_of(*heads);
    if let Some(count) = built.kv_heads.filter(uneven) {
        let what = "number of key and value heads";
        return Err(SizeError::DoesNotDivide { what, count, cards: spread.tensor });
    }
    if let Some(layers) = built.layers.filter(|layers| *layers < u64::from(spread.pipeline)) {
        return Err(SizeError::DoesNotDivide {
            what: "number of layers",
            count: layers,
            cards: spread.pipeline,
        });
    }
    Ok(())
}

/// The layers of each stage, as first and one past the last. What does not divide goes to the last stages but one,
/// since the last also holds the head.
#[must_use]
pub fn stages(layers: u64, pipeline: u32) -> Vec<(u64, u64)> {
    let stages = u64::from(pipeline.max(1));
    let (each, rest) = (layers / stages, layers % stages);
    let mut first = 0;
    (0..stages)
        .map(|stage| {
            let gets_more = stages > 1 && stage + 1 < stages && stage + 1 + rest >= stages;
            let count = each + u64::from(gets_more);
            let range = (first, first + count);
            first += count;
            range
        })
        .collect()
}

/// The layer that a tensor belongs to, from its name (`model.layers.17.`, `blk.17.`, `transformer.h.17.`).
#[must_use]
pub fn layer_of(name: &str) -> Option<u64> {
    let mut parts = name.split('.');
    while let Some(part) = parts.next() {
        if matches!(part, "layers" | "blk" | "h" | "layer" | "block" | "blocks") {
            return parts.next()?.parse().ok();
        }
    }
    None
}

/// What one card of a group keeps of a layer: heads divide, a latent vector is whole on every card.
#[must_use]
pub fn mixer_on_card(mixer: &Mixer, cards: u32) -> Mixer {
    let cards = u64::from(cards);
    let part = |count: u64| count.div_ceil(cards).max(1);
    match mixer.clone() {
        Mixer::Attention { kv_heads, key_width, value_width, window } => {
            Mixer::Attention { kv_heads: part(kv_heads), key_width, value_width, window }
        }
        Mixer::Latent { rank, rope, heads, key_width, value_width } => {
            Mixer::Latent { rank, rope, heads: part(heads), key_width, value_width }
        }
        Mixer::State { convolution, recurrent } => {
            Mixer::State { convolution: part(convolution), recurrent: part(recurrent) }
        }
        Mixer::Nothing => Mixer::Nothing,
    }
}

/// What the cards send each other for one token; none for one card.
#[must_use]
pub(super) fn link(built: &Architecture, spread: Spread) -> Option<Link> {
    let (hidden, layers) = (built.hidden?, built.layers?);
    let cards = u64::from(spread.tensor);
    if cards > 1 {
        // A ring all-reduce sends 2 (n - 1) / n of the vector, twice a layer.
        let bytes =
            hidden.saturating_mul(2).saturating_mul(2 * layers).saturating_mul(2 * (cards - 1)) / cards;
        let basis =
            format!("2 all-reduces x {layers} layers x {hidden} values x 2 bytes x 2({cards}-1)/{cards}");
        return Some(Link { pattern: "all-reduce".into(), bytes_per_token: bytes, basis, direct: true });
    }
    (spread.pipeline > 1).then(|| Link {
        pattern: "hand-over".into(),
        bytes_per_token: hidden.saturating_mul(2),
        basis: format!("{hidden} values x 2 bytes from one stage to the next"),
        direct: false,
    })
}
