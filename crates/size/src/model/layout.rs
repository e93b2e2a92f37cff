//! The tensors that a family has by construction, and the bytes of the common quantised layouts.
//!
//! Used where the weights themselves are not there (a `config.json` alone), for the adapters that training adds,
//! and to count parameters behind packed formats. Where the files hold the weights, the files are read instead.

use super::architecture::{Architecture, Mixer};

/// A tensor that a family has by construction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The name in transformers.
    pub name: String,
    /// The shape, outermost dimension first.
    pub shape: Vec<u64>,
}

impl Expected {
    /// Weights of the tensor.
    #[must_use]
    pub fn weights(&self) -> u64 {
        super::tensor::product(&self.shape).unwrap_or(u64::MAX)
    }

    /// Whether it is a matrix of a layer that quantisation packs and adapters attach to; embeddings, the head,
    /// routers and norms are not.
    #[must_use]
    pub fn is_layer_matrix(&self) -> bool {
        self.shape.len() == 2 && self.name.contains(".layers.") && !self.name.contains("gate.weight")
    }
}

/// Families whose tensors are known by construction.
const KNOWN: &[&str] = &[
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen3",
    "gemma",
    "gemma2",
    "gemma3_text",
    "phi3",
    "olmoe",
    "qwen3_moe",
];

/// All tensors of a model, in transformers' names; none where the family or a dimension is not known.
#[must_use]
pub fn tensors(built: &Architecture) -> Option<Vec<Expected>> {
    let family = built.family.as_str();
    if !KNOWN.contains(&family) {
        return None;
    }
    let (layers, hidden) = (built.layers?, built.hidden?);
    let (vocabulary, tied) = (built.vocabulary?, built.tied?);
    let mut all =
        vec![Expected { name: "model.embed_tokens.weight".into(), shape: vec![vocabulary, hidden] }];
    for layer in 0..layers {
        layer_tensors(built, layer, &mut all)?;
    }
    all.push(Expected { name: "model.norm.weight".into(), shape: vec![hidden] });
    if !tied {
        all.push(Expected { name: "lm_head.weight".into(), shape: vec![vocabulary, hidden] });
    }
    Some(all)
}

fn layer_tensors(built: &Architecture, layer: u64, all: &mut Vec<Expected>) -> Option<()> {
    let family = built.family.as_str();
    let hidden = built.hidden?;
    let queries = built.heads?.checked_mul(built.head_width?)?;
    let keys = built.kv_heads?.checked_mul(built.head_width?)?;
    let mut add = |name: &str, shape: Vec<u64>| {
        all.push(Expected { name: format!("model.layers.{layer}.{name}"), shape });
    };
    if family == "phi3" {
        add("self_attn.qkv_proj.weight", vec![queries + 2 * keys, hidden]);
    } else {
        add("self_attn.q_proj.weight", vec![queries, hidden]);
        add("self_attn.k_proj.weight", vec![keys, hidden]);
        add("self_attn.v_proj.weight", vec![keys, hidden]);
    }
    add("self_attn.o_proj.weight", vec![hidden, queries]);
    if family == "qwen2" {
        add("self_attn.q_proj.bias", vec![queries]);
        add("self_attn.k_proj.bias", vec![keys]);
        add("self_attn.v_proj.bias", vec![keys]);
    }
    match family {
        "qwen3" | "qwen3_moe" | "gemma3_text" => {
            add("self_attn.q_norm.weight", vec![built.head_width?]);
            add("self_attn.k_norm.weight", vec![built.head_width?]);
        }
        "olmoe" => {
            add("self_attn.q_norm.weight", vec![queries]);
            add("self_attn.k_norm.weight", vec![keys]);
        }
        _ => {}
    }
    if let Some(experts) = built.experts {
        let [gate, first, second, third] = if family == "mixtral" {
            ["block_sparse_moe.gate.weight", "w1", "w3", "w2"]
        } else {
            ["mlp.gate.weight", "gate_proj", "up_proj", "down_proj"]
        };
        let stem = if family == "mixtral" { "block_sparse_moe.experts" } else { "mlp.experts" };
        add(gate, vec![experts.count, hidden]);
        for expert in 0..experts.count.min(4096) {
            add(&format!("{stem}.{expert}.{first}.weight"), vec![experts.intermediate, hidden]);
            add(&format!("{stem}.{expert}.{second}.weight"), vec![experts.intermediate, hidden]);
            add(&format!("{stem}.{expert}.{third}.weight"), vec![hidden, experts.intermediate]);
        }
    } else if family == "phi3" {
        add("mlp.gate_up_proj.weight", vec![2 * built.intermediate?, hidden]);
        add("mlp.down_proj.weight", vec![hidden, built.intermediate?]);
    } else {
        add("mlp.gate_proj.weight", vec![built.intermediate?, hidden]);
        add("mlp.up_proj.weight", vec![built.intermediate?, hidden]);
        add("mlp.down_proj.weight", vec![hidden, built.intermediate?]);
    }
    add("input_layernorm.weight", vec![hidden]);
    add("post_attention_layernorm.weight", vec![hidden]);
    if matches!(family, "gemma2" | "gemma3_text") {
        add("pre_feedforward_layernorm.weight", vec![hidden]);
        add("post_feedforward_layernorm.weight", vec![hidden]);
    }
    Some(())
}

/// The number of parameters by construction: the sum over [`tensors`], every expert counted.
#[must_use]
pub fn parameters(built: &Architecture) -> Option<u64> {
    Some(tensors(built)?.iter().map(Expected::weights).fold(0, u64::saturating_add))
}

/// The parameters that one token uses in a mixture of experts. They say something of time and nothing of memory.
#[must_use]
pub fn active_parameters(built: &Architecture) -> Option<u64> {
    let experts = built.experts?;
    let expert = experts.intermediate.checked_mul(built.hidden?)?.checked_mul(3)?;
    let idle = expert.checked_mul(experts.count.checked_sub(experts.active)?)?.checked_mul(built.layers?)?;
    parameters(built)?.checked_sub(idle)
}

/// The parameters of a LoRA adapter: rank x (inputs + outputs) of each matrix whose name ends in one of `modules`
/// (`q_proj` ...).
#[must_use]
pub fn lora_parameters(built: &Architecture, rank: u64, modules: &[String]) -> Option<u64> {
    let attached = |tensor: &&Expected| {
        let module = tensor.name.strip_suffix(".weight").and_then(|name| name.rsplit('.').next());
        tensor.is_layer_matrix() && module.is_some_and(|module| modules.iter().any(|wanted| wanted == module))
    };
    let sides =
        tensors(built)?.iter().filter(attached).map(|tensor| tensor.shape[0] + tensor.shape[1]).sum::<u64>();
    (sides > 0).then(|| sides.saturating_mul(rank))
}

/// A layout of reduced weights, for one matrix of `rows` outputs and `columns` inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduced {
    /// GPTQ: packed weights, packed zero points and 16-bit scales per group, 4 bytes a column for the order.
    Gptq {
        /// Bits of a weight: 2, 3, 4 or 8.
        bits: u64,
        /// Weights of a group.
        group: u64,
    },
    /// AWQ: as GPTQ without the order.
    Awq {
        /// Bits of a weight.
        bits: u64,
        /// Weights of a group.
        group: u64,
    },
    /// bitsandbytes in 4 bits: packed weights and a scale per 64, that scale in 8 bits again where doubled.
    Nf4 {
        /// Whether the scales are quantised too.
        double: bool,
    },
    /// bitsandbytes in 8 bits: bytes and a 4-byte scale a row.
    Int8,
    /// 8-bit floats with one 4-byte scale per square block of so many rows and columns (128), or per tensor (0).
    Fp8 {
        /// Rows and columns of a block.
        block: u64,
    },
    /// Microscaling 4-bit floats: 32 of them share one byte of exponent.
    Mxfp4,
}

impl Reduced {
    /// Bytes of a matrix in this layout.
    #[must_use]
    pub fn bytes(self, rows: u64, columns: u64) -> u64 {
        let weights = rows.saturating_mul(columns);
        match self {
            Self::Gptq { bits, group } | Self::Awq { bits, group } => {
                let groups = columns.div_ceil(if group == 0 { columns.max(1) } else { group });
                let packed = weights.saturating_mul(bits).div_ceil(8);
                let zeros = groups.saturating_mul(rows).saturating_mul(bits).div_ceil(8);
                let order = if matches!(self, Self::Gptq { .. }) { columns.saturating_mul(4) } else { 0 };
                let scales = groups.saturating_mul(rows).saturating_mul(2);
                [packed, zeros, scales, order].into_iter().fold(0, u64::saturating_add)
            }
            Self::Nf4 { double } => {
                let blocks = weights.div_ceil(64);
                let scales =
                    if double { blocks.saturating_add(blocks.div_ceil(256) * 4) } else { blocks * 4 };
                weights.div_ceil(2).saturating_add(scales)
            }
            Self::Int8 => weights.saturating_add(rows.saturating_mul(4)),
            Self::Fp8 { block: 0 } => weights.saturating_add(4),
            Self::Fp8 { block } => weights.saturating_add(
                rows.div_ceil(block).saturating_mul(columns.div_ceil(block)).saturating_mul(4),
            ),
            Self::Mxfp4 => weights.div_ceil(2).saturating_add(weights.div_ceil(32)),
        }
    }
}

/// Bytes of all weights when the matrices of the layers are reduced and the rest stays in 16 bits.
#[must_use]
pub fn reduced_bytes(built: &Architecture, reduced: Reduced) -> Option<u64> {
    let bytes = |tensor: &Expected| {
        if tensor.is_layer_matrix() {
            reduced.bytes(tensor.shape[0], tensor.shape[1])
        } else {
            tensor.weights().saturating_mul(2)
        }
    };
    Some(tensors(built)?.iter().map(bytes).fold(0, u64::saturating_add))
}

/// Whether a model mixes kinds of layers that keep something: attention beside a state of fixed size.
#[must_use]
pub fn is_hybrid(mixers: &[Mixer]) -> bool {
    let state = mixers.iter().any(|mixer| matches!(mixer, Mixer::State { .. }));
    let attends = mixers.iter().any(|mixer| matches!(mixer, Mixer::Attention { .. } | Mixer::Latent { .. }));
    state && attends
}
