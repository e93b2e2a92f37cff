//! The forward pass of the BERT family (Devlin et al. 2018; Liu et al. 2019; Sanh et al. 2019) on candle's tensors.
//!
//! Sequences are laid end to end without padding: the linear layers see one tall matrix of all tokens, and attention
//! is computed for each sequence by itself. So nothing is computed for padding, no mask is needed, and what a sequence
//! comes to does not depend on its neighbours. Query, key and value are one product. Each call stays on one thread;
//! the engine runs several at once, which wastes less than splitting products of this size.

use std::path::Path;

use candle_core::{CpuStorage, D, Device, InplaceOp1, InplaceOp2, Layout, Tensor};
use serde::Deserialize;

use super::encoder::{Encoded, Encoder, EncoderError};
use super::kernels::{self, Activation, Norm};
use super::sentence::{self, Sentence};
use super::weights::{Table, Weights};

/// The architectures that are built in, by `model_type`.
const SUPPORTED: &str = "bert, roberta, xlm-roberta, camembert, distilbert";

/// The parts of `config.json` that matter. DistilBERT has names of its own for the same things.
#[derive(Deserialize)]
struct Config {
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    #[serde(alias = "activation")]
    hidden_act: String,
    max_position_embeddings: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default)]
    pad_token_id: Option<usize>,
}

fn default_epsilon() -> f32 {
    1e-12
}

/// The names of a layer's tensors.
struct Names {
    layer: &'static str,
    /// Query, key and value.
    attention: [&'static str; 3],
    attention_out: &'static str,
    attention_norm: &'static str,
    widen: &'static str,
    narrow: &'static str,
    out_norm: &'static str,
}

const BERT: Names = Names {
    layer: "encoder.layer",
    attention: ["attention.self.query", "attention.self.key", "attention.self.value"],
    attention_out: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    widen: "intermediate.dense",
    narrow: "output.dense",
    out_norm: "output.LayerNorm",
};

const DISTILBERT: Names = Names {
    layer: "transformer.layer",
    attention: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    attention_out: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    widen: "ffn.lin1",
    narrow: "ffn.lin2",
    out_norm: "output_layer_norm",
};

/// A sentence encoder of the BERT family, f32 on the processor.
pub(super) struct Bert {
    weights: Weights,
    words: Table,
    positions: Table,
    /// The table of segments; all text is segment 0. DistilBERT has none.
    segments: Option<Table>,
    /// The first token's row in `positions`: RoBERTa counts from behind the padding token.
    first_position: usize,
    embedding_norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    hidden: usize,
    longest: usize,
    activation: Activation,
    sentence: Sentence,
}

struct Layer {
    query_key_value: Linear,
    attention_out: Linear,
    attention_norm: Norm,
    widen: Linear,
    narrow: Linear,
    out_norm: Norm,
}

/// A layer's matrix `[inputs, outputs]`; its bias is added by whatever comes next.
struct Linear {
    matrix: Tensor,
    bias: Vec<f32>,
}

impl Bert {
    /// Reads the model in `dir`.
    pub(super) fn open(dir: &Path, sentence: Sentence) -> Result<Self, EncoderError> {
        let bad = |detail: String| EncoderError::Settings { file: "config.json", detail };
        let raw: serde_json::Value = sentence::read(dir, "config.json", "config.json")?.unwrap_or_default();
        let kind = raw.get("model_type").and_then(serde_json::Value::as_str).unwrap_or("unnamed").to_owned();
        // The architecture first: of another one, every other name may be missing.
        let (names, offset, has_segments) = match kind.as_str() {
            "bert" => (&BERT, false, true),
            "roberta" | "xlm-roberta" | "camembert" => (&BERT, true, true),
            "distilbert" => (&DISTILBERT, false, false),
            _ => return Err(EncoderError::Architecture { found: kind, supported: SUPPORTED }),
        };
        let config: Config = serde_json::from_value(raw).map_err(|error| bad(error.to_string()))?;
        if let Some(kind) = config.position_embedding_type.as_deref().filter(|&kind| kind != "absolute") {
            return Err(bad(format!("positions of the kind `{kind}` are not supported, only `absolute`")));
        }
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        if hidden == 0 || heads == 0 || hidden % heads != 0 {
            return Err(bad(format!("{hidden} components cannot be shared among {heads} heads")));
        }
        let activation = match config.hidden_act.as_str() {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => return Err(bad(format!("the activation `{other}` is not supported"))),
        };
        let word_table = "embeddings.word_embeddings.weight";
        let weights = Weights::open(&dir.join("model.safetensors"), word_table)?;
        let layers = (0..config.num_hidden_layers).map(|at| Layer::read(&weights, &config, names, at));
        let layers = layers.collect::<Result<_, _>>()?;
        let first_position = if offset { config.pad_token_id.unwrap_or(1) + 1 } else { 0 };
        let room = config.max_position_embeddings.saturating_sub(first_position);
        weights.release();
        let segments = if has_segments {
            Some(weights.table("embeddings.token_type_embeddings.weight", hidden)?)
        } else {
            None
        };
        Ok(Self {
            words: weights.table(word_table, hidden)?,
            positions: weights.table("embeddings.position_embeddings.weight", hidden)?,
            segments,
            first_position,
            embedding_norm: read_norm(&weights, "embeddings.LayerNorm", &config)?,
            layers,
            heads,
            hidden,
            longest: sentence.longest.map_or(room, |longest| longest.min(room)),
            activation,
            sentence,
            weights,
        })
    }

    /// The sum of each token's word, position and segment, normalised.
    fn embed(&self, sequences: &[&[u32]], tokens: usize) -> Result<Tensor, EncoderError> {
        let mut rows = vec![0.0; tokens * self.hidden];
        let places = sequences.iter().flat_map(|sequence| sequence.iter().enumerate());
        for (row, (at, &token)) in rows.chunks_exact_mut(self.hidden).zip(places) {
            self.weights.add_row(&self.words, token as usize, row)?;
            self.weights.add_row(&self.positions, self.first_position + at, row)?;
            if let Some(segments) = &self.segments {
                self.weights.add_row(segments, 0, row)?;
            }
        }
        kernels::norm(&mut rows, &self.embedding_norm);
        Ok(Tensor::from_vec(rows, (tokens, self.hidden), &Device::Cpu)?)
    }

    fn layer(&self, layer: &Layer, x: &Tensor, sequences: &[&[u32]]) -> Result<Tensor, EncoderError> {
        let joined = x.matmul(&layer.query_key_value.matrix)?;
        joined.inplace_op1(&AddBias(&layer.query_key_value.bias))?;
        let attended = self.attend(&joined, sequences)?.matmul(&layer.attention_out.matrix)?;
        attended.inplace_op2(x, &AddNorm { bias: &layer.attention_out.bias, norm: &layer.attention_norm })?;
        let wide = attended.matmul(&layer.widen.matrix)?;
        wide.inplace_op1(&Activate { bias: &layer.widen.bias, activation: self.activation })?;
        let out = wide.matmul(&layer.narrow.matrix)?;
        out.inplace_op2(&attended, &AddNorm { bias: &layer.narrow.bias, norm: &layer.out_norm })?;
        Ok(out)
    }

    /// Attention of each sequence within itself: `softmax(Q Kᵀ / √d) V` for each head.
    fn attend(&self, joined: &Tensor, sequences: &[&[u32]]) -> Result<Tensor, EncoderError> {
        let depth = self.hidden / self.heads;
        let scale = 1.0 / (depth as f32).sqrt();
        let mut parts = Vec::with_capacity(sequences.len());
        let mut start = 0;
        for sequence in sequences {
            let length = sequence.len();
            let rows = joined.narrow(0, start, length)?.reshape((length, 3, self.heads, depth))?;
            start += length;
            // Views [heads, length, depth] into the same memory.
            let part = |at: usize| rows.narrow(1, at, 1)?.squeeze(1)?.transpose(0, 1);
            let scores = part(0)?.matmul(&part(1)?.transpose(D::Minus1, D::Minus2)?)?;
            scores.inplace_op1(&Softmax { width: length, scale })?;
            let context = scores.matmul(&part(2)?)?;
            parts.push(context.transpose(0, 1)?.reshape((length, self.hidden))?);
        }
        Ok(Tensor::cat(&parts, 0)?)
    }
}

impl Encoder for Bert {
    fn width(&self) -> usize {
        self.sentence.width(self.hidden)
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn encode(&self, sequences: &[&[u32]]) -> Result<Encoded, EncoderError> {
        if let Some(odd) = sequences.iter().find(|sequence| !(1..=self.longest).contains(&sequence.len())) {
            return Err(EncoderError::Length { tokens: odd.len(), longest: self.longest });
        }
        let tokens = sequences.iter().map(|sequence| sequence.len()).sum();
        if tokens == 0 {
            return Ok(Encoded { vectors: Vec::new(), computed_tokens: 0 });
        }
        let mut x = self.embed(sequences, tokens)?;
        for layer in &self.layers {
            x = self.layer(layer, &x, sequences)?;
        }
        let rows = x.flatten_all()?.to_vec1::<f32>()?;
        let mut rest = rows.as_slice();
        let vectors = sequences.iter().map(|sequence| {
            let (own, others) = rest.split_at(sequence.len() * self.hidden);
            rest = others;
            self.sentence.pool(own, self.hidden)
        });
        Ok(Encoded { vectors: vectors.collect(), computed_tokens: tokens as u64 })
    }
}

impl Layer {
    fn read(weights: &Weights, config: &Config, names: &Names, at: usize) -> Result<Self, EncoderError> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let full = |name: &str| format!("{}.{at}.{name}", names.layer);
        let linear = |parts: &[&str], outputs: usize, inputs: usize| {
            let matrices: Vec<String> = parts.iter().map(|name| full(&format!("{name}.weight"))).collect();
            let mut bias = Vec::new();
            for name in parts {
                bias.extend(weights.vector(&full(&format!("{name}.bias")), outputs)?);
            }
            Ok::<_, EncoderError>(Linear { matrix: weights.matrix(&matrices, outputs, inputs)?, bias })
        };
        Ok(Self {
            query_key_value: linear(&names.attention, hidden, hidden)?,
            attention_out: linear(&[names.attention_out], hidden, hidden)?,
            attention_norm: read_norm(weights, &full(names.attention_norm), config)?,
            widen: linear(&[names.widen], wide, hidden)?,
            narrow: linear(&[names.narrow], hidden, wide)?,
            out_norm: read_norm(weights, &full(names.out_norm), config)?,
        })
    }
}

fn read_norm(weights: &Weights, name: &str, config: &Config) -> Result<Norm, EncoderError> {
    Ok(Norm {
        scale: weights.vector(&format!("{name}.weight"), config.hidden_size)?,
        shift: weights.vector(&format!("{name}.bias"), config.hidden_size)?,
        epsilon: config.layer_norm_eps,
    })
}

/// The numbers of a tensor that owns its memory alone.
fn numbers<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> candle_core::Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&mut values[start..end]),
        _ => candle_core::bail!("a contiguous tensor of f32 is expected"),
    }
}

struct AddBias<'a>(&'a [f32]);

impl InplaceOp1 for AddBias<'_> {
    fn name(&self) -> &'static str {
        "add-bias"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        kernels::add_bias(numbers(storage, layout)?, self.0);
        Ok(())
    }
}

struct Activate<'a> {
    bias: &'a [f32],
    activation: Activation,
}

impl InplaceOp1 for Activate<'_> {
    fn name(&self) -> &'static str {
        "activate"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        kernels::activate(numbers(storage, layout)?, self.bias, self.activation);
        Ok(())
    }
}

struct Softmax {
    width: usize,
    scale: f32,
}

impl InplaceOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        kernels::softmax(numbers(storage, layout)?, self.width, self.scale);
        Ok(())
    }
}

struct AddNorm<'a> {
    bias: &'a [f32],
    norm: &'a Norm,
}

impl InplaceOp2 for AddNorm<'_> {
    fn name(&self) -> &'static str {
        "add-norm"
    }

    fn cpu_fwd(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        residual: &CpuStorage,
        residual_layout: &Layout,
    ) -> candle_core::Result<()> {
        let (CpuStorage::F32(residual), Some((start, end))) =
            (residual, residual_layout.contiguous_offsets())
        else {
            candle_core::bail!("a contiguous tensor of f32 is expected")
        };
        kernels::add_norm(numbers(storage, layout)?, &residual[start..end], self.bias, self.norm);
        Ok(())
    }
}
