//! A LoRA adapter beside a base model: `adapter_config.json` and `adapter_model.safetensors`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::range::RangeReader;
use super::{safetensors, small};
use crate::{SizeError, said};

/// What is known of an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adapter {
    /// The base model as the adapter names it.
    pub base: Option<String>,
    /// The rank, where said.
    pub rank: Option<u64>,
    /// The modules that it attaches to.
    pub modules: Vec<String>,
    /// Bytes of its tensors; none where only its configuration is there.
    pub bytes: Option<u64>,
    /// Its parameters; none where only its configuration is there.
    pub parameters: Option<u64>,
}

/// Reads the adapter of a place.
///
/// # Errors
/// When a file is not what it says, or the rank is none.
pub fn read(reader: &dyn RangeReader) -> Result<Adapter, SizeError> {
    const FILE: &str = "adapter_config.json";
    let bytes = small(reader, FILE)?;
    let malformed = |problem: String| SizeError::Malformed { file: FILE.to_owned(), format: "JSON", problem };
    let config: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
    let rank = match config.get("r") {
        None => None,
        Some(rank) => Some(rank.as_u64().filter(|rank| (1..=65_536).contains(rank)).ok_or_else(|| {
            SizeError::Impossible {
                file: FILE.to_owned(),
                field: "r".to_owned(),
                value: rank.to_string(),
                why: Box::new(said!("why-rank", "a rank from 1 to 65536 is expected")),
            }
        })?),
    };
    let modules = match config.get("target_modules") {
        Some(Value::Array(all)) => all.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        Some(Value::String(pattern)) => vec![pattern.clone()],
        _ => Vec::new(),
    };
    const WEIGHTS: &str = "adapter_model.safetensors";
    let tensors = match reader.length(WEIGHTS)? {
        Some(_) => Some(safetensors::read_file(reader, WEIGHTS)?),
        None => None,
    };
    Ok(Adapter {
        base: config.get("base_model_name_or_path").and_then(Value::as_str).map(str::to_owned),
        rank,
        modules,
        bytes: tensors.as_ref().map(super::Tensors::bytes),
        parameters: tensors.as_ref().map(super::Tensors::values),
    })
}
