//! The lines of the conversation with a worker, `pilote.worker/1`: one JSON object a line, as
//! `docs/worker-protocol.md` describes them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pilote_spec::{
    BatchMeasures, Columns, ExactJson, JsonFault, ModelFacts, Output, OutputSpec, Reason, Refusal, WorkReason,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Answer, WireId};

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
    /// Fields of its row that are passed through, as declared.
    #[serde(skip_serializing_if = "Columns::is_empty")]
    pub columns: &'a Columns,
}

/// What a worker says.
#[derive(Debug)]
pub(super) enum FromWorker {
    /// A sign of life while the worker sets itself up; counts before the greeting only.
    SettingUp {
        /// What it is doing.
        note: String,
    },
    /// The greeting: set up and ready.
    Hello(Box<Hello>),
    /// An answer to one item.
    Answer {
        /// The item, or the name as it came where it was never one of ours.
        wire: Result<WireId, String>,
        /// The answer.
        answer: Answer,
    },
    /// Every item of the batch has its answer.
    Done {
        /// The batch's name.
        batch: String,
        /// What was measured.
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

/// Every field of every message but the greeting's, read in one go: a message whose type is looked for first would
/// pass through numbers that cannot hold what it says.
#[derive(Deserialize)]
struct Said<'l> {
    #[serde(rename = "type")]
    kind: SaidKind,
    #[serde(default, borrow)]
    wire: Option<Cow<'l, str>>,
    #[serde(default, borrow)]
    output: Option<WireOutput<'l>>,
    #[serde(default)]
    refused: Option<WireRefusal>,
    #[serde(default)]
    batch: Option<String>,
    #[serde(default)]
    measures: BatchMeasures,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    note: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SaidKind {
    SettingUp,
    Hello,
    Answer,
    Done,
    Failed,
}

impl FromWorker {
    /// What a line of the conversation says.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the line.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let none = |error: serde_json::Error| format!("no message of the protocol ({error})");
        let said: Said<'_> = serde_json::from_slice(line).map_err(none)?;
        let missing = |name: &str| format!("a message without `{name}`");
        Ok(match said.kind {
            SaidKind::SettingUp => Self::SettingUp { note: said.note },
            SaidKind::Hello => Self::Hello(serde_json::from_slice(line).map_err(none)?),
            SaidKind::Answer => Self::Answer {
                wire: wire(&said.wire.ok_or_else(|| missing("wire"))?),
                answer: answer(said.output, said.refused)?,
            },
            SaidKind::Done => {
                Self::Done { batch: said.batch.ok_or_else(|| missing("batch"))?, measures: said.measures }
            }
            SaidKind::Failed => Self::Failed {
                batch: said.batch.ok_or_else(|| missing("batch"))?,
                error: said.error.ok_or_else(|| missing("error"))?,
            },
        })
    }
}

/// The question that a name stands for; the name itself where it was never one of ours.
fn wire(name: &str) -> Result<WireId, String> {
    let number = name.strip_prefix('w').and_then(|digits| digits.parse().ok()).map(WireId);
    number.filter(|wire| wire.to_string() == name).ok_or_else(|| name.to_owned())
}

/// What an answer is.
fn answer(output: Option<WireOutput<'_>>, refused: Option<WireRefusal>) -> Result<Answer, String> {
    let by_engine =
        |reason, detail: String| Answer::Refused(Refusal::new(Reason::Work(reason)).with("detail", detail));
    match (output, refused) {
        (Some(output), None) => match output.into_output()? {
            Ok(output) => Ok(Answer::Output(output)),
            Err(error) => Ok(by_engine(WorkReason::InvalidOutput, error.to_string())),
        },
        (None, Some(refused)) => Ok(by_engine(WorkReason::ByEngine, refused.detail)),
        _ => Err("an answer has either an output or a refusal".to_owned()),
    }
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

/// An output on the wire: exactly one of category, vector, text and json.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireOutput<'l> {
    category: Option<String>,
    score: Option<f32>,
    #[serde(default)]
    others: Vec<(String, f32)>,
    /// Little-endian f32 in base64.
    #[serde(default, borrow)]
    vector: Option<Cow<'l, str>>,
    text: Option<String>,
    #[serde(default, borrow, deserialize_with = "given")]
    json: Option<&'l RawValue>,
    #[serde(default, borrow)]
    made_with: BTreeMap<String, &'l RawValue>,
    cut_at_tokens: Option<u32>,
}

/// A value that is there, null included.
fn given<'de: 'l, 'l, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'l RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A refusal on the wire.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRefusal {
    /// Why, in the worker's words.
    detail: String,
}

impl WireOutput<'_> {
    /// The output that the line means, or why its JSON is none that can be kept.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the line.
    fn into_output(self) -> Result<Result<Output, JsonFault>, String> {
        let Self { category, score, others, vector, text, json, made_with, cut_at_tokens } = self;
        let made_with = || {
            let entries = made_with.iter();
            let read = entries.map(|(name, value)| Ok((name.clone(), ExactJson::read(value.get())?)));
            read.collect::<Result<BTreeMap<String, ExactJson>, JsonFault>>()
        };
        match (category, vector, text, json) {
            (Some(category), None, None, None) => {
                Ok(Ok(Output::Category { category, score, others, cut_at_tokens }))
            }
            (None, Some(vector), None, None) => {
                Ok(Ok(Output::Vector { values: decode_vector(&vector)?, cut_at_tokens }))
            }
            (None, None, Some(text), None) => {
                Ok(made_with().map(|made_with| Output::Text { text, made_with }))
            }
            (None, None, None, Some(value)) => Ok(made_with()
                .and_then(|made_with| Ok(Output::Json { value: ExactJson::read(value.get())?, made_with }))),
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
