//! How a model is built, from `config.json` of transformers or the metadata of a GGUF file.
//!
//! Nothing is guessed: a field that is absent leaves what depends on it unknown, and its name is kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::gguf;
use crate::{Said, SizeError, said};

/// What a layer keeps of earlier tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mixer {
    /// Keys and values of every token within reach.
    Attention {
        /// Heads that hold keys and values.
        kv_heads: u64,
        /// Width of a key.
        key_width: u64,
        /// Width of a value.
        value_width: u64,
        /// Tokens looked back at; none where all are.
        window: Option<u64>,
    },
    /// One latent vector a token instead of keys and values (MLA).
    Latent {
        /// Width of the compressed vector.
        rank: u64,
        /// Width of the part that carries the position.
        rope: u64,
        /// Heads, for engines that decompress.
        heads: u64,
        /// Width of a decompressed key.
        key_width: u64,
        /// Width of a decompressed value.
        value_width: u64,
    },
    /// A state of fixed size, whatever the length (state space, linear attention).
    State {
        /// Values of the convolution's state, kept in the model's type.
        convolution: u64,
        /// Values of the recurrent state, kept in 16 or 32 bits depending on the engine.
        recurrent: u64,
    },
    /// Nothing (a layer without mixing, or an encoder's).
    Nothing,
}

/// Whether a model reads, writes, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Reads the whole input at once and keeps nothing (BERT family).
    Encoder,
    /// Writes token by token and keeps a cache.
    Decoder,
    /// Both, with a cache over the input as well (T5 family).
    EncoderDecoder,
    /// Something else (diffusion, speech, vision ...): weights are read, the rest is unknown.
    Other,
}

/// How the weights were reduced, as `quantization_config` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantisation {
    /// The method as the file names it: `gptq`, `awq`, `bitsandbytes`, `fp8`, `mxfp4` ...
    pub method: String,
    /// Bits of a weight, where said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<u64>,
    /// Weights that share a scale, where said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
}

/// Experts of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experts {
    /// Experts in memory, all of them.
    pub count: u64,
    /// Experts that one token uses; of no weight in memory.
    pub active: u64,
    /// Inner width of one expert.
    pub intermediate: u64,
}

/// The build of a model, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// The family (`llama`, `bert` ...), as the files name it.
    pub family: String,
    /// Reads, writes, or both.
    pub kind: Kind,
    /// Layers.
    pub layers: Option<u64>,
    /// Width of a token's vector.
    pub hidden: Option<u64>,
    /// Heads that ask.
    pub heads: Option<u64>,
    /// Heads that hold keys and values, where all layers agree.
    pub kv_heads: Option<u64>,
    /// Width of a head.
    pub head_width: Option<u64>,
    /// Inner width of the feed-forward part.
    pub intermediate: Option<u64>,
    /// Words of the vocabulary.
    pub vocabulary: Option<u64>,
    /// Whether input and output share their embedding, where said or fixed by the family.
    pub tied: Option<bool>,
    /// Experts, where the model is a mixture.
    pub experts: Option<Experts>,
    /// The longest sequence that the model was made for.
    pub longest: Option<u64>,
    /// The type of the weights as declared (`bfloat16` ...).
    pub dtype: Option<String>,
    /// How the weights were reduced.
    pub quantisation: Option<Quantisation>,
    /// What each layer keeps; none where that could not be told.
    pub mixers: Option<Vec<Mixer>>,
    /// Whether code comes with the model (`auto_map`), which the engine must be allowed to run.
    pub own_code: bool,
    /// Fields that were missed, by name; what depends on them is unknown.
    pub missing: Vec<String>,
    /// The file that all this was read from.
    pub source: String,
}

fn too_many_layers() -> Said {
    said!("why-layers", "no model has more than 10000 layers")
}

/// Reads numbers of one object under several possible names, and notes which are absent.
struct Fields<'a> {
    file: &'a str,
    object: &'a Map<String, Value>,
    missing: Vec<String>,
}

/// The largest value that any dimension of a model can sensibly have.
const DIMENSION_MAX: u64 = 1 << 32;

impl Fields<'_> {
    /// A whole number under the first of `names` that is there.
    fn number(&self, names: &[&str]) -> Result<Option<u64>, SizeError> {
        for name in names {
            let value = match self.object.get(*name) {
                None | Some(Value::Null) => continue,
                Some(value) => value,
            };
            let impossible = |why: Said| SizeError::Impossible {
                file: self.file.to_owned(),
                field: (*name).to_owned(),
                value: value.to_string().chars().take(40).collect(),
                why: Box::new(why),
            };
            let whole = || impossible(said!("why-whole", "a whole number from 0 is expected"));
            let number = value.as_u64().ok_or_else(whole)?;
            if number > DIMENSION_MAX {
                return Err(impossible(said!("why-large", "no model is that large")));
            }
            return Ok(Some(number));
        }
        Ok(None)
    }

    /// A number that must be there and not be zero; its absence is noted.
    fn needed(&mut self, names: &[&str]) -> Result<Option<u64>, SizeError> {
        match self.number(names)? {
            Some(0) => Err(SizeError::Impossible {
                file: self.file.to_owned(),
                field: names[0].to_owned(),
                value: "0".to_owned(),
                why: Box::new(said!("why-one", "it must be 1 or more")),
            }),
            None => {
                self.missing.push(names[0].to_owned());
                Ok(None)
            }
            found => Ok(found),
        }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.object.get(name)?.as_bool()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.object.get(name)?.as_str()
    }
}

/// Families that read the whole input at once and keep nothing.
const ENCODERS: &[&str] = &[
    "bert",
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "distilbert",
    "mpnet",
    "deberta",
    "deberta-v2",
    "electra",
    "albert",
    "camembert",
    "nomic_bert",
    "modernbert",
    "eurobert",
    "new",
    "ernie",
    "nystromformer",
    "big_bird",
    "longformer",
    "layoutlm",
    "layoutlmv3",
    "clip",
    "siglip",
    "vit",
    "dinov2",
    "jina_bert",
    "luke",
];

/// Families with an encoder and a decoder.
const ENCODER_DECODERS: &[&str] =
    &["t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "m2m_100", "led", "blenderbot"];

/// Families that write token by token and whose cache the fields of `config.json` tell.
const DECODERS: &[&str] = &[
    "llama",
    "mistral",
    "mixtral",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "qwen3_next",
    "phi",
    "phi3",
    "phimoe",
    "gpt2",
    "gpt_neox",
    "gptj",
    "gpt_bigcode",
    "gpt_oss",
    "falcon",
    "bloom",
    "opt",
    "stablelm",
    "starcoder2",
    "cohere",
    "cohere2",
    "olmo",
    "olmo2",
    "olmo3",
    "olmoe",
    "granite",
    "granitemoe",
    "granitemoehybrid",
    "internlm2",
    "deepseek_v2",
    "deepseek_v3",
    "kimi_k2",
    "glm",
    "glm4",
    "glm4_moe",
    "smollm3",
    "exaone4",
    "ministral",
    "mistral3",
    "llama4_text",
    "minicpm",
    "jamba",
    "mamba",
    "mamba2",
    "falcon_mamba",
    "bamba",
    "nemotron",
    "baichuan",
    "seed_oss",
    "hunyuan_v1_dense",
    "ernie4_5",
];

/// Families whose input and output share an embedding where `config.json` leaves the field out, because that is
/// their default in transformers. For a family in neither list an absent field stays unknown.
const TIED: &[&str] = &["gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "bloom", "cohere", "cohere2"];

/// Families that transformers leaves untied when the field is absent.
const UNTIED: &[&str] = &[
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "phi",
    "phi3",
    "deepseek_v2",
    "deepseek_v3",
    "olmo",
    "olmo2",
    "gpt_neox",
    "gptj",
    "internlm2",
    "granitemoe",
    "glm4",
    "glm4_moe",
    "gpt_oss",
];

/// Reads `config.json`.
///
/// # Errors
/// When it is no JSON object, or a value is of the wrong kind or impossible. Absent fields are no error.
pub fn from_config(file: &str, bytes: &[u8]) -> Result<Architecture, SizeError> {
    let malformed = |problem: String| SizeError::Malformed { file: file.to_owned(), format: "JSON", problem };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    let outer = value.as_object().ok_or_else(|| malformed("an object is expected".to_owned()))?;
    // Models that also see or hear keep what writes in an inner object.
    let inner = ["text_config", "llm_config", "language_config"]
        .iter()
        .find_map(|name| outer.get(*name)?.as_object());
    let mut fields = Fields { file, object: inner.unwrap_or(outer), missing: Vec::new() };
    let family =
        fields.text("model_type").or_else(|| outer.get("model_type")?.as_str()).unwrap_or("").to_owned();
    if family.is_empty() {
        fields.missing.push("model_type".to_owned());
    }
    let kind = kind(&family, outer);
    let layers = fields.needed(&["num_hidden_layers", "n_layer", "num_layers", "n_layers"])?;
    if layers.is_some_and(|layers| layers > 10_000) {
        return Err(SizeError::Impossible {
            file: file.to_owned(),
            field: "num_hidden_layers".to_owned(),
            value: layers.unwrap_or(0).to_string(),
            why: Box::new(too_many_layers()),
        });
    }
    let hidden = fields.needed(&["hidden_size", "n_embd", "d_model", "dim"])?;
    let has_heads = !matches!(family.as_str(), "mamba" | "falcon_mamba");
    let heads = if has_heads {
        fields.needed(&["num_attention_heads", "n_head", "num_heads", "n_heads"])?
    } else {
        None
    };
    let kv_heads = kv_heads(&fields, &family, heads)?;
    let head_width = match fields.number(&["head_dim", "d_kv"])? {
        Some(width) if width > 0 => Some(width),
        _ => hidden.zip(heads).map(|(hidden, heads)| hidden / heads),
    };
    let intermediate =
        fields.number(&["intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"])?;
    let vocabulary = fields.number(&["vocab_size", "padded_vocab_size"])?;
    let tied = fields
        .flag("tie_word_embeddings")
        .or_else(|| outer.get("tie_word_embeddings")?.as_bool())
        .or_else(|| TIED.contains(&family.as_str()).then_some(true))
        .or_else(|| UNTIED.contains(&family.as_str()).then_some(false));
    let dtype = ["dtype", "torch_dtype"]
        .iter()
        .find_map(|name| fields.text(name).or_else(|| outer.get(*name)?.as_str()))
        .map(str::to_owned);
    let mut built = Architecture {
        family,
        kind,
        layers,
        hidden,
        heads,
        kv_heads,
        head_width,
        intermediate,
        vocabulary,
        tied,
        experts: experts(&fields)?,
        longest: fields.number(&["max_position_embeddings", "n_positions", "max_seq_len", "seq_length"])?,
        dtype,
        quantisation: quantisation(outer),
        mixers: None,
        own_code: outer.contains_key("auto_map"),
        missing: Vec::new(),
        source: file.to_owned(),
    };
    built.mixers = mixers(&mut fields, &built)?;
    built.missing = fields.missing;
    Ok(built)
}

fn kind(family: &str, outer: &Map<String, Value>) -> Kind {
    let says = |word: &str| {
        outer
            .get("architectures")
            .and_then(Value::as_array)
            .is_some_and(|all| all.iter().filter_map(Value::as_str).any(|name| name.contains(word)))
    };
    if ENCODERS.contains(&family) && !says("CausalLM") && !says("LMHeadModel") {
        Kind::Encoder
    } else if ENCODER_DECODERS.contains(&family) {
        Kind::EncoderDecoder
    } else if DECODERS.contains(&family) {
        Kind::Decoder
    } else {
        Kind::Other
    }
}

fn kv_heads(fields: &Fields<'_>, family: &str, heads: Option<u64>) -> Result<Option<u64>, SizeError> {
    if let Some(count) =
        fields.number(&["num_key_value_heads", "num_kv_heads", "n_head_kv", "num_query_groups"])?
    {
        // Falcon's first models name a number of heads and use one all the same.
        if family != "falcon" || fields.flag("new_decoder_architecture") == Some(true) {
            return Ok(Some(count));
        }
    }
    let one = fields.flag("multi_query").unwrap_or(family == "falcon");
    Ok(if one { Some(1) } else { heads })
}

fn experts(fields: &Fields<'_>) -> Result<Option<Experts>, SizeError> {
    let names = ["num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"];
    let Some(count) = fields.number(&names)?.filter(|count| *count > 1) else { return Ok(None) };
    let active =
        fields.number(&["num_experts_per_tok", "moe_topk", "num_experts_per_token"])?.unwrap_or(count);
    let intermediate = fields.number(&["moe_intermediate_size", "intermediate_size"])?.unwrap_or(0);
    Ok(Some(Experts { count, active, intermediate }))
}

fn quantisation(outer: &Map<String, Value>) -> Option<Quantisation> {
    let said = outer.get("quantization_config").or_else(|| outer.get("compression_config"))?.as_object()?;
    let number = |names: &[&str]| names.iter().find_map(|name| said.get(*name)?.as_u64());
    let load = |name: &str| said.get(name).and_then(Value::as_bool) == Some(true);
    let method = said.get("quant_method").and_then(Value::as_str).unwrap_or("unknown");
    let bits = number(&["bits", "w_bit", "weight_bits", "wbits"])
        .or_else(|| load("load_in_4bit").then_some(4))
        .or_else(|| load("load_in_8bit").then_some(8))
        .or_else(|| (method == "fp8").then_some(8))
        .or_else(|| (method == "mxfp4").then_some(4));
    let group = number(&["group_size", "q_group_size"]).or_else(|| (method == "mxfp4").then_some(32));
    Some(Quantisation { method: method.to_owned(), bits, group })
}

/// What each layer keeps; none, with the missing field noted, where the files do not tell.
fn mixers(fields: &mut Fields<'_>, built: &Architecture) -> Result<Option<Vec<Mixer>>, SizeError> {
    let Some(layers) = built.layers else { return Ok(None) };
    let count = usize::try_from(layers).unwrap_or(0);
    match built.kind {
        Kind::Encoder => return Ok(Some(vec![Mixer::Nothing; count])),
        Kind::Other => return Ok(None),
        Kind::Decoder | Kind::EncoderDecoder => {}
    }
    if let Some(rank) = fields.number(&["kv_lora_rank"])? {
        return latent(fields, built, rank, count);
    }
    let types = layer_types(fields, built, count)?;
    let windows = windows(fields, built, count)?;
    let mut mixers = Vec::with_capacity(count);
    for (layer, window) in windows.into_iter().enumerate() {
        let mixer = match types.get(layer).map(String::as_str) {
            Some("mamba" | "mamba2" | "linear_attention") => state(fields, built)?,
            Some("none") => Some(Mixer::Nothing),
            _ => attention(built, window),
        };
        let Some(mixer) = mixer else { return Ok(None) };
        mixers.push(mixer);
    }
    Ok(Some(mixers))
}

fn attention(built: &Architecture, window: Option<u64>) -> Option<Mixer> {
    let width = built.head_width?;
    Some(Mixer::Attention { kv_heads: built.kv_heads?, key_width: width, value_width: width, window })
}

fn latent(
    fields: &mut Fields<'_>,
    built: &Architecture,
    rank: u64,
    count: usize,
) -> Result<Option<Vec<Mixer>>, SizeError> {
    let rope = fields.needed(&["qk_rope_head_dim"])?;
    let plain = fields.needed(&["qk_nope_head_dim"])?;
    let value_width = fields.needed(&["v_head_dim"])?;
    let (Some(rope), Some(plain), Some(value_width), Some(heads)) = (rope, plain, value_width, built.heads)
    else {
        return Ok(None);
    };
    let mixer = Mixer::Latent { rank, rope, heads, key_width: plain.saturating_add(rope), value_width };
    Ok(Some(vec![mixer; count]))
}

/// The kind of each layer by name, as far as one is said; empty where all are plain attention.
fn layer_types(
    fields: &mut Fields<'_>,
    built: &Architecture,
    count: usize,
) -> Result<Vec<String>, SizeError> {
    if let Some(types) = fields.object.get("layer_types").and_then(Value::as_array) {
        let types: Vec<String> = types.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        if types.len() != count {
            return Err(SizeError::Impossible {
                file: fields.file.to_owned(),
                field: "layer_types".to_owned(),
                value: types.len().to_string(),
                why: Box::new(said!("why-types", "the model has {count} layers", count = count)),
            });
        }
        return Ok(types);
    }
    let every = |period: u64, offset: u64, is: &str, otherwise: &str| {
        (0..count as u64)
            .map(|layer| if layer % period == offset { is } else { otherwise }.to_owned())
            .collect()
    };
    Ok(match built.family.as_str() {
        "mamba" | "mamba2" | "falcon_mamba" => vec!["mamba".to_owned(); count],
        "jamba" => {
            let (period, offset) =
                (fields.needed(&["attn_layer_period"])?, fields.number(&["attn_layer_offset"])?);
            every(period.unwrap_or(1), offset.unwrap_or(0), "attention", "mamba")
        }
        "qwen3_next" => {
            let period = fields.number(&["full_attention_interval"])?.unwrap_or(4).max(1);
            every(period, period - 1, "full_attention", "linear_attention")
        }
        "bamba" => {
            let listed = fields.object.get("attn_layer_indices").and_then(Value::as_array);
            let attends =
                |layer: u64| listed.is_some_and(|all| all.iter().any(|one| one.as_u64() == Some(layer)));
            (0..count as u64)
                .map(|layer| if attends(layer) { "attention" } else { "mamba" }.to_owned())
                .collect()
        }
        _ => Vec::new(),
    })
}

/// The window of each layer.
fn windows(fields: &Fields<'_>, built: &Architecture, count: usize) -> Result<Vec<Option<u64>>, SizeError> {
    let family = built.family.as_str();
    let mut window =
        fields.number(&["sliding_window", "attention_window_size"])?.filter(|window| *window > 0);
    if window.is_none() && matches!(family, "gemma2" | "gemma3_text" | "gemma3") {
        window = Some(4096);
    }
    let chunk = fields.number(&["attention_chunk_size"])?;
    if let Some(types) = fields.object.get("layer_types").and_then(Value::as_array) {
        return Ok(types
            .iter()
            .map(|name| match name.as_str() {
                Some("sliding_attention") => window,
                Some("chunked_attention") => chunk,
                _ => None,
            })
            .collect());
    }
    // A window that is switched off is written all the same by the Qwen family.
    if fields.flag("use_sliding_window") == Some(false) {
        window = None;
    }
    let from = fields.number(&["max_window_layers"])?.filter(|_| family.starts_with("qwen2"));
    let pattern = fields.number(&["sliding_window_pattern"])?.filter(|pattern| *pattern > 0);
    let slides = |layer: u64| match family {
        "gemma2" | "gpt_oss" => layer.is_multiple_of(2),
        "gemma3" | "gemma3_text" => !(layer + 1).is_multiple_of(pattern.unwrap_or(6)),
        "cohere2" => !(layer + 1).is_multiple_of(pattern.unwrap_or(4)),
        "olmo3" => !(layer + 1).is_multiple_of(4),
        _ => from.is_none_or(|from| layer >= from),
    };
    Ok((0..count as u64).map(|layer| window.filter(|_| slides(layer))).collect())
}

/// The fixed state of a state-space or linear-attention layer, in values.
///
/// Mamba: convolution = inner x kernel, recurrent = inner x state. Mamba-2: the convolution also covers the
/// groups' B and C, recurrent = heads x head x state. Gated delta net (Qwen3-Next): convolution =
/// (2 x keys + values) x kernel, recurrent = value heads x key width x value width.
fn state(fields: &mut Fields<'_>, built: &Architecture) -> Result<Option<Mixer>, SizeError> {
    let Some(hidden) = built.hidden else { return Ok(None) };
    if built.family == "qwen3_next" {
        let names = [
            "linear_num_key_heads",
            "linear_key_head_dim",
            "linear_num_value_heads",
            "linear_value_head_dim",
        ];
        let mut found = Vec::new();
        for name in names {
            found.extend(fields.needed(&[name])?);
        }
        let kernel = fields.number(&["linear_conv_kernel_dim"])?.unwrap_or(4);
        let [key_heads, key_width, value_heads, value_width] = found[..] else { return Ok(None) };
        let keys = key_heads.saturating_mul(key_width);
        let values = value_heads.saturating_mul(value_width);
        let convolution = keys.saturating_mul(2).saturating_add(values).saturating_mul(kernel);
        let recurrent = values.saturating_mul(key_width);
        return Ok(Some(Mixer::State { convolution, recurrent }));
    }
    let state = fields.needed(&["state_size", "mamba_d_state", "ssm_state_size"])?;
    let kernel = fields.needed(&["conv_kernel", "mamba_d_conv"])?;
    let (Some(state), Some(kernel)) = (state, kernel) else { return Ok(None) };
    let expand = fields.number(&["expand", "mamba_expand"])?.unwrap_or(2);
    let inner = match fields.number(&["mamba_d_ssm"])?.filter(|_| built.family != "jamba") {
        Some(inner) => inner,
        None => hidden.saturating_mul(expand),
    };
    let groups = match built.family.as_str() {
        "mamba2" | "bamba" | "granitemoehybrid" => {
            fields.number(&["n_groups", "mamba_n_groups"])?.unwrap_or(1)
        }
        _ => 0,
    };
    let channels = inner.saturating_add(groups.saturating_mul(state).saturating_mul(2));
    Ok(Some(Mixer::State {
        convolution: channels.saturating_mul(kernel),
        recurrent: inner.saturating_mul(state),
    }))
}

/// Reads the metadata of a GGUF file.
///
/// # Errors
/// When a value is impossible. Absent keys are no error.
pub fn from_gguf(file: &str, head: &gguf::Head) -> Result<Architecture, SizeError> {
    let family = head.text("general.architecture").unwrap_or("").to_owned();
    let key = |name: &str| format!("{family}.{name}");
    let number = |name: &str| head.int(&key(name));
    let layers = number("block_count");
    let impossible = |field: &str, value: u64, why: Said| SizeError::Impossible {
        file: file.to_owned(),
        field: key(field),
        value: value.to_string(),
        why: Box::new(why),
    };
    if let Some(layers) = layers.filter(|layers| *layers > 10_000) {
        return Err(impossible("block_count", layers, too_many_layers()));
    }
    let heads = number("attention.head_count");
    for (field, value) in [("attention.head_count", heads), ("embedding_length", number("embedding_length"))]
    {
        if value.is_some_and(|value| value == 0 || value > DIMENSION_MAX) {
            return Err(impossible(
                field,
                value.unwrap_or(0),
                said!("why-range", "it must be from 1 to 2^32"),
            ));
        }
    }
    let vocabulary = number("vocab_size").or_else(|| match head.metadata.get("tokenizer.ggml.tokens") {
        Some(gguf::Value::Counted(count)) => Some(*count),
        _ => None,
    });
    let is_encoder = family.contains("bert")
        || head.metadata.get(&key("attention.causal")) == Some(&gguf::Value::Bool(false));
    let hidden = number("embedding_length");
    let mut built = Architecture {
        kind: if is_encoder { Kind::Encoder } else { Kind::Decoder },
        layers,
        hidden,
        heads,
        kv_heads: number("attention.head_count_kv").or(heads),
        head_width: number("attention.key_length").or_else(|| Some(hidden? / heads?)),
        intermediate: number("feed_forward_length"),
        vocabulary,
        // The format stores a shared embedding once and a separate head as `output.weight`.
        tied: Some(!head.tensors.has("output.weight")),
        experts: number("expert_count").filter(|count| *count > 1).map(|count| Experts {
            count,
            active: number("expert_used_count").unwrap_or(count),
            intermediate: number("expert_feed_forward_length").or(number("feed_forward_length")).unwrap_or(0),
        }),
        longest: number("context_length"),
        dtype: None,
        quantisation: None,
        mixers: None,
        own_code: false,
        missing: Vec::new(),
        source: file.to_owned(),
        family: family.clone(),
    };
    let needed = ["block_count", "embedding_length", "attention.head_count"];
    built.missing = needed.iter().filter(|name| number(name).is_none()).map(|name| key(name)).collect();
    built.mixers = gguf_mixers(head, &mut built);
    Ok(built)
}

fn gguf_mixers(head: &gguf::Head, built: &mut Architecture) -> Option<Vec<Mixer>> {
    let count = usize::try_from(built.layers?).ok()?;
    let key = |name: &str| format!("{}.{name}", built.family);
    if built.kind == Kind::Encoder {
        return Some(vec![Mixer::Nothing; count]);
    }
    if built.family.contains("mamba") || head.int(&key("ssm.state_size")).is_some() {
        // Hybrids do not say in the metadata which layer is which; the tensors do not tell the state's type either.
        if !built.family.starts_with("mamba") {
            built.missing.push(key("layer kinds"));
            return None;
        }
        let number = |name: &str| head.int(&key(name));
        let (inner, state, kernel) =
            (number("ssm.inner_size")?, number("ssm.state_size")?, number("ssm.conv_kernel")?);
        let groups = number("ssm.group_count").unwrap_or(0).saturating_mul(state).saturating_mul(2);
        let convolution = inner.saturating_add(groups).saturating_mul(kernel.saturating_sub(1));
        return Some(vec![Mixer::State { convolution, recurrent: inner.saturating_mul(state) }; count]);
    }
    let heads = built.heads?;
    let key_width = head.int(&key("attention.key_length")).or(built.head_width)?;
    let value_width = head.int(&key("attention.value_length")).or(built.head_width)?;
    // With `key_length_mla` the plain lengths are those of the latent vector; without it they are decompressed.
    if let (Some(rank), Some(rope), Some(decompressed)) = (
        head.int(&key("attention.kv_lora_rank")),
        head.int(&key("rope.dimension_count")),
        head.int(&key("attention.key_length_mla")),
    ) {
        let value_width = head.int(&key("attention.value_length_mla"))?;
        return Some(vec![Mixer::Latent { rank, rope, heads, key_width: decompressed, value_width }; count]);
    }
    let window = head.int(&key("attention.sliding_window")).filter(|window| *window > 0);
    let period = head.int(&key("attention.sliding_window_pattern")).or(match built.family.as_str() {
        "gemma2" | "gpt-oss" => Some(2),
        "gemma3" => Some(6),
        "cohere2" | "olmo2" => Some(4),
        _ => None,
    });
    let flags = match head.metadata.get(&key("attention.sliding_window_pattern")) {
        Some(gguf::Value::Ints(flags)) if flags.len() == count => Some(flags.clone()),
        _ => None,
    };
    let slides = |layer: usize| match (&flags, period) {
        (Some(flags), _) => flags[layer] != 0,
        (None, Some(period)) => !(layer as u64 + 1).is_multiple_of(period.max(1)),
        (None, None) => true,
    };
    let per_layer = match head.metadata.get(&key("attention.head_count_kv")) {
        Some(gguf::Value::Ints(heads)) if heads.len() == count => Some(heads.clone()),
        _ => None,
    };
    Some(
        (0..count)
            .map(|layer| {
                let listed = per_layer.as_ref().and_then(|all| u64::try_from(all[layer]).ok());
                match listed.or(built.kv_heads).unwrap_or(heads) {
                    0 => Mixer::Nothing,
                    kv_heads => Mixer::Attention {
                        kv_heads,
                        key_width,
                        value_width,
                        window: window.filter(|_| slides(layer)),
                    },
                }
            })
            .collect(),
    )
}
