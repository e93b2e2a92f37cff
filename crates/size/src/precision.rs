//! Whether engine, format and card support the precision of a model's weights: supported, not, or unknown.

use serde::{Deserialize, Serialize};

use crate::SizeError;
use crate::cards::Card;
use crate::memory::{Backend, Precision, Task};
use crate::model::{Format, ModelFacts};

/// What is known of one support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// Documented as supported.
    Supported,
    /// Documented as not supported.
    NotSupported,
    /// Documented neither way here: to be tested by the ladder of checks.
    Unknown,
}

/// What is known of engine and card for a format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The format of the weights: `bf16`, `fp8`, `gptq`, `gguf` ...
    pub format: String,
    /// Whether the task's engine reads it.
    pub engine: Known,
    /// Whether the card computes it.
    pub card: Known,
    /// Where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The trial of this project that ran on this card, which is worth more than any table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    format: String,
    #[expect(dead_code, reason = "the day is for readers of the table; a test asks for it")]
    checked: String,
    precision: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    engine: std::collections::BTreeMap<String, bool>,
    capability: Option<String>,
    #[serde(default)]
    gfx: Vec<String>,
    source: String,
}

const BUILT_IN: &str = include_str!("../data/precisions.toml");

fn table() -> Result<Table, SizeError> {
    let bad = |problem: String| SizeError::Table { file: "built-in precisions".to_owned(), problem };
    let table: Table = toml::from_str(BUILT_IN).map_err(|error| bad(error.to_string()))?;
    if table.format == "pilote.precisions/1" { Ok(table) } else { Err(bad("another format".to_owned())) }
}

/// The name of the weights' format: of the reduction where there is one, else of the type of most bytes.
#[must_use]
pub fn weight_format(facts: &ModelFacts, task: &Task) -> String {
    if facts.format == Format::Gguf {
        return "gguf".to_owned();
    }
    if let Some(how) = facts.architecture.as_ref().and_then(|built| built.quantisation.as_ref()) {
        return how.method.to_ascii_lowercase();
    }
    match task.precision {
        Some(Precision::Nf4 | Precision::Int8) => return "bitsandbytes".to_owned(),
        Some(Precision::F32) => return "f32".to_owned(),
        Some(Precision::Half) | None => {}
    }
    let most =
        facts.types.iter().max_by_key(|(_, total)| total.bytes).map(|(name, _)| name.to_ascii_lowercase());
    let declared = facts.architecture.as_ref().and_then(|built| built.dtype.clone());
    match most.or(declared).as_deref() {
        Some("float32") => "f32".to_owned(),
        Some("float16") => "f16".to_owned(),
        Some("bfloat16") => "bf16".to_owned(),
        Some(eight) if eight.starts_with("f8_") => "fp8".to_owned(),
        Some(name) => name.to_owned(),
        None => "unknown".to_owned(),
    }
}

/// What is known of engine and card for the weights of a model. A format that is not in the table is unknown.
#[must_use]
pub fn support(facts: &ModelFacts, task: &Task, card: &Card) -> Support {
    let format = weight_format(facts, task);
    let row = table().ok().and_then(|table| table.precision.into_iter().find(|row| row.name == format));
    let Some(row) = row else {
        return Support { format, engine: Known::Unknown, card: Known::Unknown, source: None, tested: None };
    };
    let engine = match row.engine.get(task.engine.name()) {
        Some(true) => Known::Supported,
        Some(false) => Known::NotSupported,
        None => Known::Unknown,
    };
    Support { engine, card: on_card(&row, card), source: Some(row.source), tested: None, format }
}

fn on_card(row: &Row, card: &Card) -> Known {
    match card.backend {
        Backend::Cpu => Known::Unknown,
        Backend::Rocm => match &card.capability {
            Some(target) if row.gfx.contains(target) => Known::Supported,
            _ => Known::Unknown,
        },
        Backend::Cuda => {
            let least = row.capability.as_deref().and_then(|text| {
                let (major, minor) = text.split_once('.')?;
                Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
            });
            match (least, card.compute_capability()) {
                (Some(least), Some(has)) if has >= least => Known::Supported,
                (Some(_), Some(_)) => Known::NotSupported,
                _ => Known::Unknown,
            }
        }
    }
}
