//! How a model makes one vector of a text's token vectors: what its own sentence-transformers files say.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::encoder::EncoderError;

/// The settings of a sentence encoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sentence {
    /// Poolings whose vectors are joined end to end; nearly always one.
    pub(super) poolings: Vec<Pooling>,
    /// Whether vectors get length one.
    pub(super) normalise: bool,
    /// The longest sequence that the files name, special tokens included.
    pub(super) longest: Option<usize>,
    /// Whether the text is made lower-case before it is cut into tokens.
    pub(super) lower_case: bool,
    /// Text that stands before each input.
    pub(super) prompt: String,
}

/// A way to make one vector of many, in the order in which several are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pooling {
    /// The first token's vector.
    First,
    /// The largest of each component.
    Max,
    /// The mean.
    Mean,
    /// The sum over the square root of the count.
    MeanSquareRoot,
    /// The mean weighted by position from 1.
    Weighted,
    /// The last token's vector.
    Last,
}

const POOLINGS: [(Pooling, &str, &str); 6] = [
    (Pooling::First, "cls", "pooling_mode_cls_token"),
    (Pooling::Max, "max", "pooling_mode_max_tokens"),
    (Pooling::Mean, "mean", "pooling_mode_mean_tokens"),
    (Pooling::MeanSquareRoot, "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"),
    (Pooling::Weighted, "weightedmean", "pooling_mode_weightedmean_tokens"),
    (Pooling::Last, "lasttoken", "pooling_mode_lasttoken"),
];

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = POOLINGS.iter().find(|(pooling, ..)| pooling == self).map_or("", |(_, name, _)| name);
        f.write_str(name)
    }
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentenceSettings {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Prompts {
    prompts: std::collections::BTreeMap<String, String>,
    default_prompt_name: Option<String>,
}

impl Sentence {
    /// Reads the settings from a model's directory. A model without `modules.json` is pooled by the mean and not
    /// normalised, as sentence-transformers does.
    pub(super) fn read(dir: &Path) -> Result<Self, EncoderError> {
        let (mut poolings, mut normalise) = (Vec::new(), false);
        let modules: Vec<Module> = read(dir, "modules.json", "modules.json")?.unwrap_or_default();
        for module in &modules {
            match module.kind.rsplit('.').next().unwrap_or_default() {
                "Transformer" => {}
                "Pooling" => {
                    let path = format!("{}/config.json", module.path);
                    poolings =
                        pooling(&read::<Value>(dir, &path, "1_Pooling/config.json")?.unwrap_or_default())?;
                }
                "Normalize" => normalise = true,
                _ => {
                    let detail = format!(
                        "the module `{}` is not supported; Transformer, Pooling and Normalize are",
                        module.kind
                    );
                    return Err(EncoderError::Settings { file: "modules.json", detail });
                }
            }
        }
        if poolings.is_empty() {
            poolings.push(Pooling::Mean);
        }
        let name = "sentence_bert_config.json";
        let settings: SentenceSettings = read(dir, name, name)?.unwrap_or_default();
        let name = "tokenizer_config.json";
        let tokenizer: Value = read(dir, name, name)?.unwrap_or_default();
        // Tokenizers without a limit name one of 1e30.
        let limit = tokenizer
            .get("model_max_length")
            .and_then(Value::as_u64)
            .and_then(|limit| usize::try_from(limit).ok());
        Ok(Self {
            poolings,
            normalise,
            longest: settings.max_seq_length.or(limit),
            lower_case: settings.do_lower_case,
            prompt: prompt(dir)?,
        })
    }

    /// Components of a vector, `hidden` being those of a token's.
    pub(super) fn width(&self, hidden: usize) -> usize {
        self.poolings.len() * hidden
    }

    /// The vector of one sequence, `rows` being the vectors of its tokens, `hidden` components each.
    pub(super) fn pool(&self, rows: &[f32], hidden: usize) -> Vec<f32> {
        let mut vector: Vec<f32> =
            self.poolings.iter().flat_map(|pooling| pooling.apply(rows, hidden)).collect();
        if self.normalise {
            normalise(&mut vector);
        }
        vector
    }
}

/// Scales a vector to length one. A vector of zeros stays as it is and is refused later.
pub(super) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    // sentence-transformers divides by no less than this.
    let length = length.max(1e-12);
    #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector is within f32")]
    vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
}

impl Pooling {
    fn apply(self, rows: &[f32], hidden: usize) -> Vec<f32> {
        let count = (rows.len() / hidden) as f32;
        let weighted = |weight: &dyn Fn(usize) -> f32| {
            let mut sum = vec![0.0; hidden];
            for (at, row) in rows.chunks_exact(hidden).enumerate() {
                let weight = weight(at);
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * weight);
            }
            sum
        };
        let scaled = |factor: f32| weighted(&|_| 1.0).into_iter().map(|sum| sum * factor).collect();
        match self {
            Self::First => rows[..hidden].to_vec(),
            Self::Last => rows[rows.len() - hidden..].to_vec(),
            Self::Mean => scaled(1.0 / count),
            Self::MeanSquareRoot => scaled(1.0 / count.sqrt()),
            Self::Weighted => {
                let total = count * (count + 1.0) / 2.0;
                weighted(&|at| (at as f32 + 1.0) / total)
            }
            Self::Max => (0..hidden)
                // A NaN is kept: `f32::max` would hide it.
                .map(|at| {
                    rows.iter()
                        .skip(at)
                        .step_by(hidden)
                        .copied()
                        .fold(f32::MIN, |a, b| if b > a || b.is_nan() { b } else { a })
                })
                .collect(),
        }
    }
}

/// The poolings of a module's settings: a `pooling_mode` by name, or the older flags.
fn pooling(settings: &Value) -> Result<Vec<Pooling>, EncoderError> {
    let bad = |detail: String| EncoderError::Settings { file: "1_Pooling/config.json", detail };
    if settings.get("include_prompt").and_then(Value::as_bool) == Some(false) {
        return Err(bad("a prompt that is left out of the pooling (include_prompt) is not supported".into()));
    }
    let named: Vec<&str> = match settings.get("pooling_mode") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if named.is_empty() {
        let flag = |flag: &str| settings.get(flag).and_then(Value::as_bool) == Some(true);
        return Ok(POOLINGS.iter().filter(|(.., name)| flag(name)).map(|&(pooling, ..)| pooling).collect());
    }
    let find =
        |name: &str| POOLINGS.iter().find(|(_, known, _)| *known == name).map(|&(pooling, ..)| pooling);
    named
        .into_iter()
        .map(|name| find(name).ok_or_else(|| bad(format!("the pooling `{name}` is not supported"))))
        .collect()
}

/// The prompt that sentence-transformers would put before each text by default.
fn prompt(dir: &Path) -> Result<String, EncoderError> {
    let file = "config_sentence_transformers.json";
    let mut prompts: Prompts = read(dir, file, file)?.unwrap_or_default();
    let Some(name) = prompts.default_prompt_name else { return Ok(String::new()) };
    let missing = || EncoderError::Settings {
        file,
        detail: format!("the default prompt `{name}` is not among the prompts"),
    };
    prompts.prompts.remove(&name).ok_or_else(missing)
}

/// A JSON file of the model, or none where it has none.
pub(super) fn read<T: DeserializeOwned>(
    dir: &Path,
    name: &str,
    file: &'static str,
) -> Result<Option<T>, EncoderError> {
    let path = dir.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let bad = |detail: String| EncoderError::Settings { file, detail };
    let text = fs_err::read(path).map_err(|error| bad(error.to_string()))?;
    serde_json::from_slice(&text).map(Some).map_err(|error| bad(error.to_string()))
}
