//! Parameters of the engines that are programs of the user's own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A worker process: started once, asked batch by batch (`docs/worker-protocol.md`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Program and arguments, never a shell line. A program that names a path is taken relative to the project.
    pub command: Vec<String>,
    /// What the worker gets to know in its greeting, as it stands here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Variables of the worker's environment, beside `PATH`, `HOME`, `LANG` and what the device needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Names of variables that are handed on from the environment of `pilote`, secrets included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Items of one batch, the most that is computed again after a crash.
    #[serde(default = "default_batch_items")]
    pub batch_items: u32,
    /// Seconds from the start to the greeting, signs of life included.
    #[serde(default = "default_setup_seconds")]
    pub setup_seconds_max: u32,
    /// Seconds without an answer before the worker counts as hung.
    #[serde(default = "default_silence_seconds")]
    pub silence_seconds_max: u32,
    /// Bytes of one line of the conversation; a longer text is handed over as a file.
    #[serde(default = "default_line_bytes")]
    pub line_bytes_max: u32,
}

fn default_batch_items() -> u32 {
    64
}

fn default_setup_seconds() -> u32 {
    600
}

fn default_silence_seconds() -> u32 {
    600
}

fn default_line_bytes() -> u32 {
    16 * 1024 * 1024
}
