//! One representative task: what is computed at once, by which engine, how it is spread over cards.

use serde::{Deserialize, Serialize};

use crate::SizeError;
use crate::model::gguf;

/// A task to size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What is computed at once.
    pub work: Work,
    /// What computes it.
    pub engine: Engine,
    /// On what it computes.
    pub backend: Backend,
    /// The type in which it computes and holds plain weights; none keeps that of the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// The type of the cache.
    #[serde(default)]
    pub cache: CacheType,
    /// Over how many cards, and how.
    #[serde(default)]
    pub spread: Spread,
    /// Threads of the built-in engine, each of which has one sequence's attention in hand; none counts all sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// What is computed at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// A batch through an encoder.
    Encode {
        /// Texts of the batch.
        batch: u64,
        /// Tokens of the longest one; all are padded to it.
        tokens: u64,
        /// Vectors that stay on the card before they are fetched.
        #[serde(default)]
        kept: u64,
        /// Tokens that are computed at once, padding included, where that is not texts x longest: a batch of several
        /// lengths, or an engine that computes a batch in pieces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_once: Option<u64>,
    },
    /// Answers written token by token.
    Generate {
        /// Tokens of one sequence, question and answer together.
        tokens: u64,
        /// Sequences at once.
        concurrency: u64,
    },
    /// Training steps.
    Train {
        /// Sequences of one step on one card.
        batch: u64,
        /// Tokens of one sequence.
        tokens: u64,
        /// What is kept for a parameter that is trained.
        recipe: Recipe,
        /// Which parameters are trained.
        method: Method,
        /// How states are shared out over cards.
        #[serde(default)]
        sharding: Sharding,
        /// Which activations are computed again instead of kept.
        #[serde(default)]
        recompute: Recompute,
    },
}

/// What computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Engine {
    /// The engine that is built in.
    Builtin,
    /// transformers.
    Transformers {
        /// Whether attention is fused and keeps no scores (`sdpa`, `flash_attention_2`).
        fused: bool,
    },
    /// vLLM.
    Vllm {
        /// Tokens of one page of the cache.
        #[serde(default = "sixteen")]
        block: u64,
        /// Tokens of one step, over all sequences.
        batched_tokens: u64,
        /// Thousandths of the card's memory that it reserves.
        utilisation: u32,
    },
    /// llama.cpp.
    LlamaCpp {
        /// Tokens computed at once (`--ubatch-size`); without it no bound can be given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ubatch: Option<u64>,
        /// What it keeps of a latent cache.
        #[serde(default)]
        latent: LatentCache,
        /// Whether attention is fused (`--flash-attn`).
        #[serde(default)]
        fused: bool,
    },
}

fn sixteen() -> u64 {
    16
}

impl Engine {
    /// Whether it reserves a share of the card whatever the model needs.
    #[must_use]
    pub fn reserves(&self) -> bool {
        matches!(self, Self::Vllm { .. })
    }

    /// The name in data files and machine-readable output.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Transformers { .. } => "transformers",
            Self::Vllm { .. } => "vllm",
            Self::LlamaCpp { .. } => "llama.cpp",
        }
    }
}

/// What llama.cpp keeps for a model with latent attention; it changed over its versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatentCache {
    /// The latent vector alone (since its cache without values).
    #[default]
    Latent,
    /// The latent vector as key, and its compressed part once more as value.
    KeyAndValue,
    /// Keys and values of every head (files converted without the latent lengths).
    Decompressed,
}

/// On what it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// NVIDIA cards.
    Cuda,
    /// AMD cards.
    Rocm,
    /// The processor.
    Cpu,
}

impl Backend {
    /// The name in data files and machine-readable output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Cpu => "cpu",
        }
    }
}

/// The type of plain weights and of computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32-bit floats.
    F32,
    /// 16-bit floats of either kind.
    #[serde(alias = "bf16", alias = "f16")]
    Half,
    /// bitsandbytes, 4 bits, applied while loading.
    Nf4,
    /// bitsandbytes, 8 bits, applied while loading.
    Int8,
}

impl Precision {
    /// Bytes of a value that is computed with.
    #[must_use]
    pub fn compute_bytes(self) -> u64 {
        if self == Self::F32 { 4 } else { 2 }
    }
}

/// The type of the cache: values come in blocks of one or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheType {
    /// Values of a block.
    pub values: u64,
    /// Bytes of a block.
    pub bytes: u64,
}

impl Default for CacheType {
    fn default() -> Self {
        Self { values: 1, bytes: 2 }
    }
}

impl CacheType {
    /// The cache type of a name: `f32`, `f16`, `bf16`, `fp8`, or a block type such as `q8_0`.
    ///
    /// # Errors
    /// When there is no such type.
    pub fn named(name: &str) -> Result<Self, SizeError> {
        match name.to_ascii_lowercase().as_str() {
            "fp8" | "fp8_e4m3" | "fp8_e5m2" | "int8" => Ok(Self { values: 1, bytes: 1 }),
            "auto" | "half" => Ok(Self::default()),
            lower => {
                let block = gguf::block_type(lower).ok_or_else(|| SizeError::NotAllowed {
                    field: "cache type",
                    value: name.to_owned(),
                    allowed: "f32, f16, bf16, fp8, q8_0, q5_1, q5_0, q4_1 or q4_0".to_owned(),
                })?;
                Ok(Self { values: block.weights, bytes: block.bytes })
            }
        }
    }

    /// Bytes of so many values, whole blocks.
    #[must_use]
    pub fn bytes_of(self, values: u64) -> u64 {
        values.div_ceil(self.values.max(1)).saturating_mul(self.bytes)
    }
}

/// Over how many cards a model is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Cards that share every layer (tensor parallelism).
    pub tensor: u32,
    /// Groups of cards that each hold some layers (pipeline parallelism).
    pub pipeline: u32,
}

impl Default for Spread {
    fn default() -> Self {
        Self { tensor: 1, pipeline: 1 }
    }
}

/// What is kept for one trained parameter, in bytes: the names say types and optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipe {
    /// 16-bit weights and gradients, 32-bit master weights, Adam: 2 + 2 + 4 + 8.
    MixedAdam,
    /// Everything in bf16: 2 + 2 + 4.
    Bf16Adam,
    /// bf16 with both Adam states in 8 bits: 2 + 2 + 2.
    Bf16Adam8bit,
    /// Everything in 32 bits: 4 + 4 + 8.
    F32Adam,
    /// 32 bits with one momentum: 4 + 4 + 4.
    F32SgdMomentum,
    /// 32 bits without a state: 4 + 4.
    F32Sgd,
    /// bf16 with Adafactor: 2 + 2, and for a matrix one 32-bit value a row and a column.
    Bf16Adafactor,
}

/// Bytes of one trained parameter, by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerParameter {
    /// The weight that is computed with.
    pub weight: u64,
    /// Its gradient.
    pub gradient: u64,
    /// A 32-bit master copy.
    pub master: u64,
    /// The optimizer's states; none where they depend on the shapes (Adafactor).
    pub states: Option<u64>,
}

impl Recipe {
    /// The bytes by part.
    #[must_use]
    pub fn per_parameter(self) -> PerParameter {
        let (weight, gradient, master, states) = match self {
            Self::MixedAdam => (2, 2, 4, Some(8)),
            Self::Bf16Adam => (2, 2, 0, Some(4)),
            Self::Bf16Adam8bit => (2, 2, 0, Some(2)),
            Self::F32Adam => (4, 4, 0, Some(8)),
            Self::F32SgdMomentum => (4, 4, 0, Some(4)),
            Self::F32Sgd => (4, 4, 0, Some(0)),
            Self::Bf16Adafactor => (2, 2, 0, None),
        };
        PerParameter { weight, gradient, master, states }
    }
}

/// Which parameters are trained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Method {
    /// All of them.
    Full,
    /// Adapters of a rank on some modules, in 32 bits with Adam; the base is only read.
    Lora {
        /// The rank.
        rank: u64,
        /// The last names of the modules (`q_proj` ...).
        modules: Vec<String>,
    },
}

/// How training states are shared out over cards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sharding {
    /// Every card holds all of them.
    #[default]
    Whole,
    /// DeepSpeed ZeRO.
    Zero {
        /// 1, 2 or 3.
        stage: u8,
        /// Cards.
        cards: u32,
    },
    /// Fully sharded data parallelism of PyTorch.
    Fsdp {
        /// Cards.
        cards: u32,
    },
}

/// Which activations are computed again in the backward pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recompute {
    /// None.
    #[default]
    Nothing,
    /// The attention scores (what fused attention does by itself).
    Selective,
    /// Everything but the input of each layer.
    Full,
}

/// The most sequences, tokens or cards of one task.
const COUNT_MAX: u64 = 1 << 32;

impl Task {
    /// The tokens that are computed at once at most; none where the engine's setting that decides is not given.
    #[must_use]
    pub fn tokens_at_once(&self) -> Option<u64> {
        match (&self.work, &self.engine) {
            (Work::Encode { at_once: Some(at_once), .. }, _) => Some(*at_once),
            (Work::Encode { batch, tokens, .. } | Work::Train { batch, tokens, .. }, _) => {
                Some(batch.saturating_mul(*tokens))
            }
            (Work::Generate { tokens, concurrency }, Engine::Builtin | Engine::Transformers { .. }) => {
                Some(tokens.saturating_mul(*concurrency))
            }
            (Work::Generate { .. }, Engine::Vllm { batched_tokens, .. }) => Some(*batched_tokens),
            (Work::Generate { .. }, Engine::LlamaCpp { ubatch, .. }) => *ubatch,
        }
    }

    /// Tokens of the longest text or sequence.
    #[must_use]
    pub fn longest(&self) -> u64 {
        match self.work {
            Work::Encode { tokens, .. } | Work::Generate { tokens, .. } | Work::Train { tokens, .. } => {
                tokens
            }
        }
    }

    /// Checks that every count is possible.
    ///
    /// # Errors
    /// A count of zero or beyond 2^32, a ZeRO stage that does not exist, a utilisation outside of 1 to 1000.
    pub fn check(&self) -> Result<(), SizeError> {
        let mut counts: Vec<(&'static str, u64)> = vec![
            ("tensor parallelism", u64::from(self.spread.tensor)),
            ("pipeline parallelism", u64::from(self.spread.pipeline)),
        ];
        match &self.work {
            Work::Encode { batch, tokens, at_once, .. } => {
                counts.extend([("batch", *batch), ("tokens", *tokens)]);
                counts.extend(at_once.map(|at_once| ("tokens at once", at_once)));
            }
            Work::Generate { tokens, concurrency } => {
                counts.extend([("tokens", *tokens), ("concurrency", *concurrency)]);
            }
            Work::Train { batch, tokens, method, sharding, .. } => {
                counts.extend([("batch", *batch), ("tokens", *tokens)]);
                if let Method::Lora { rank, .. } = method {
                    counts.push(("rank", *rank));
                }
                match sharding {
                    Sharding::Whole => {}
                    Sharding::Fsdp { cards } => counts.push(("cards", u64::from(*cards))),
                    Sharding::Zero { stage, cards } => {
                        counts.push(("cards", u64::from(*cards)));
                        if !(1..=3).contains(stage) {
                            return Err(not_allowed("ZeRO stage", stage, "1, 2 or 3"));
                        }
                    }
                }
            }
        }
        match &self.engine {
            Engine::Vllm { block, batched_tokens, utilisation } => {
                counts.extend([("block", *block), ("batched tokens", *batched_tokens)]);
                if !(1..=1000).contains(utilisation) {
                    return Err(not_allowed("utilisation", utilisation, "0.001 to 1 of the card's memory"));
                }
            }
            Engine::LlamaCpp { ubatch: Some(ubatch), .. } => counts.push(("ubatch", *ubatch)),
            Engine::LlamaCpp { .. } | Engine::Builtin | Engine::Transformers { .. } => {}
        }
        match counts.into_iter().find(|(_, count)| !(1..=COUNT_MAX).contains(count)) {
            Some((field, count)) => Err(not_allowed(field, &count, "a whole number from 1 to 2^32")),
            None => Ok(()),
        }
    }
}

fn not_allowed(field: &'static str, value: &dyn ToString, allowed: &str) -> SizeError {
    SizeError::NotAllowed { field, value: value.to_string(), allowed: allowed.to_owned() }
}
