//! The lines of the conversation with a worker, `pilote.worker/1`: one JSON object a line, as
//! `docs/worker-protocol.md` describes them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pilote_spec::{BatchMeasures, ModelFacts, Output, OutputSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version that both sides must speak.
pub const PROTOCOL: u32 = 1;

/// What Pilote says.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum ToWorker<'a> {
    /// The greeting, once, first.
    Hello {
        /// The version that is spoken.
        protocol: u32,
        /// Bytes of the longest line, its end included.
        line_bytes_max: u32,
        /// What an acceptable output is.
        output: &'a OutputSpec,
        /// The declared parameters.
        parameters: &'a BTreeMap<String, Value>,
    },
    /// Work.
    Batch {
        /// The batch's name.
        batch: &'a str,
        /// Its items.
        items: Vec<WorkItem<'a>>,
    },
    /// Nothing more comes; the worker ends.
    End,
}

/// One item of a batch: its text, or a file that holds the text or is the input.
#[derive(Debug, Serialize)]
pub(super) struct WorkItem<'a> {
    /// The opaque name that the answer bears.
    pub wire: String,
    /// The text, where it fits a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// A UTF-8 file that holds a text too long for a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_file: Option<&'a str>,
    /// The input file itself, to be opened for reading only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
}

/// What a worker says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum FromWorker {
    /// A sign of life while the worker sets itself up; counts before the greeting only.
    SettingUp {
        /// What it is doing.
        #[serde(default)]
        note: String,
    },
    /// The greeting: set up and ready.
    Hello(Hello),
    /// An answer to one item.
    Answer {
        /// The item's wire name.
        wire: String,
        /// The output, or
        #[serde(default)]
        output: Option<WireOutput>,
        /// why there is none.
        #[serde(default)]
        refused: Option<WireRefusal>,
    },
    /// Every item of the batch has its answer.
    Done {
        /// The batch's name.
        batch: String,
        /// What was measured.
        #[serde(default)]
        measures: BatchMeasures,
    },
    /// The batch failed as a whole.
    Failed {
        /// The batch's name.
        batch: String,
        /// The error in the worker's words.
        error: String,
    },
}

/// A worker's greeting.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Hello {
    /// The version it speaks.
    pub protocol: u32,
    /// What computes.
    pub name: String,
    /// Version of it.
    #[serde(default)]
    pub version: String,
    /// Batches it takes before the first is finished.
    #[serde(default = "one")]
    pub credits: u32,
    /// `cpu`, `cuda:0` ...
    #[serde(default = "unknown")]
    pub device: String,
    /// `f32`, `bf16` ...
    #[serde(default = "unknown")]
    pub precision: String,
    /// The model, where there is one.
    #[serde(default)]
    pub model: Option<ModelFacts>,
    /// The longest input in tokens, where there is such a limit.
    #[serde(default)]
    pub longest_tokens: Option<u32>,
    /// Everything else that changes results.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}

fn one() -> u32 {
    1
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// An output on the wire: exactly one of its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireOutput {
    category: Option<String>,
    score: Option<f32>,
    #[serde(default)]
    others: Vec<(String, f32)>,
    /// Little-endian f32 in base64.
    vector: Option<String>,
    text: Option<String>,
    json: Option<Value>,
    #[serde(default)]
    made_with: BTreeMap<String, Value>,
    cut_at_tokens: Option<u32>,
}

/// A refusal on the wire.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireRefusal {
    /// Why, in the worker's words.
    pub detail: String,
}

impl WireOutput {
    /// The output that the line means.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the line.
    pub(super) fn into_output(self) -> Result<Output, String> {
        let Self { category, score, others, vector, text, json, made_with, cut_at_tokens } = self;
        match (category, vector, text, json) {
            (Some(category), None, None, None) => {
                Ok(Output::Category { category, score, others, cut_at_tokens })
            }
            (None, Some(vector), None, None) => {
                Ok(Output::Vector { values: decode_vector(&vector)?, cut_at_tokens })
            }
            (None, None, Some(text), None) => Ok(Output::Text { text, made_with }),
            (None, None, None, Some(value)) => Ok(Output::Json { value, made_with }),
            _ => Err("an output has exactly one of category, vector, text and json".to_owned()),
        }
    }
}

/// Components of a vector written as base64 of little-endian f32.
fn decode_vector(text: &str) -> Result<Vec<f32>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("the vector is no base64: {error}"))?;
    let (chunks, rest) = bytes.as_chunks::<4>();
    if rest.is_empty() {
        Ok(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
    } else {
        Err(format!("the vector has {} bytes, which is no multiple of 4", bytes.len()))
    }
}
