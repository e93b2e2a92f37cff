//! `config/pilote.json`, format `pilote.project/1`: the deliverable, declared before anything runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CommandPerItem, Digest, Guards, OpenAi, Quality, Reason, Worker};

/// The whole of `config/pilote.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A Pilote project")]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Always `pilote.project/1`.
    #[schemars(extend("const" = "pilote.project/1"))]
    pub format: String,
    /// A short name for people.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What the result is for, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    /// Offline volume or an interactive service.
    #[serde(default)]
    pub mode: Mode,
    /// The pilot: a dozen identified items that cross the whole path.
    pub pilot: Pilot,
    /// The campaign over the corpus; none until it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<Campaign>,
    /// What becomes of two items under one identifier.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// Limits on one input.
    #[serde(default)]
    pub limits: Limits,
    /// What an acceptable output is.
    pub output: OutputSpec,
    /// What computes the outputs.
    pub engine: EngineConfig,
    /// What is asked beside the items, to find answers that belong to something else.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guards: Guards,
    /// Where verified copies go: a directory outside of the project, or s3://BUCKET/FOLDER. None is asked for at export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// What a change must keep to against a reference trial: a change that loses more is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Names of environment variables that hold secrets (never their values).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"^[A-Z_][A-Z0-9_]{0,63}$")))]
    pub secrets: Vec<String>,
    /// What the machine must have; compared with what it has by `pilote check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<crate::Needs>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How the model is used; it is tuned and sized differently.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// All items are there before the start; only throughput counts.
    #[default]
    Offline,
    /// Requests arrive one by one; delay counts.
    Interactive,
}

/// The pilot's inputs and what is expected of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pilot {
    /// Where the items are.
    pub inputs: Inputs,
    /// How many there are to be; another number fails.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The refusals that the pilot must end with, exactly these.
    #[serde(default)]
    pub expected_refusals: Vec<ExpectedRefusal>,
    /// Digest of every pilot input in `sha256sum` form, relative to the project: a changed input is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<String>,
}

/// The campaign's inputs and what it bears.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Where the items are.
    pub inputs: Inputs,
    /// How many there are to be; another number fails.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// The share of refusals that the campaign bears, from 0 to 1; beyond it the trial stops.
    #[schemars(range(min = 0, max = 1))]
    pub refused_max: f64,
}

impl Campaign {
    /// Whether `refused` of `declared` items are within the declared share; of no item at all, none is.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share is a ratio; counts beyond 2^53 are no corpus")]
    pub fn bears(&self, refused: u64, declared: u64) -> bool {
        declared > 0 && refused as f64 / declared as f64 <= self.refused_max
    }
}

/// A refusal that is announced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRefusal {
    /// The item's identifier.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The reason it must be refused for.
    pub reason: Reason,
}

/// Where items come from and how one is identified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Inputs {
    /// Every file below a directory; the identifier is the path relative to it.
    #[schemars(title = "A directory of files")]
    Directory {
        /// The directory, relative to the project.
        directory: String,
        /// How the bytes become text.
        #[serde(default)]
        encoding: Encoding,
    },
    /// Files with one JSON object a line.
    #[schemars(title = "Files of records")]
    Jsonl {
        /// The files, relative to the project: one path or several, each a file, a directory or a pattern with `*`.
        jsonl: Paths,
        /// The field that holds the identifier.
        id: String,
        /// The field that holds the text.
        text: String,
        /// Fields that are handed to the engine and passed through to the results: the name that they bear there, and
        /// the field of the record.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        columns: BTreeMap<String, String>,
        /// How the bytes become text.
        #[serde(default)]
        encoding: Encoding,
    },
    /// Files of comma-separated values with a header (RFC 4180).
    #[schemars(title = "Files of comma-separated values")]
    Csv {
        /// The files, relative to the project.
        csv: Paths,
        /// The column that holds the identifier, as exact text.
        id: String,
        /// The column that holds the text.
        text: String,
        /// Columns that are handed to the engine and passed through to the results: the name that they bear there, and
        /// the column of the file.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        columns: BTreeMap<String, String>,
        /// What parts the fields: `,`, `;`, `|` or a tab.
        #[serde(default = "default_delimiter")]
        delimiter: char,
        /// How the bytes become text.
        #[serde(default)]
        encoding: Encoding,
    },
    /// Parquet files.
    #[schemars(title = "Parquet files")]
    Parquet {
        /// The files, relative to the project.
        parquet: Paths,
        /// The column that holds the identifier: text, or whole numbers.
        id: String,
        /// The column that holds the text.
        text: String,
        /// Columns that are handed to the engine and passed through to the results.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        columns: BTreeMap<String, String>,
    },
    /// Files of requests as the OpenAI Batch interface takes them: `custom_id` is the identifier, `body` the text.
    #[schemars(title = "Files of OpenAI Batch requests")]
    OpenAiBatch {
        /// The files, relative to the project.
        openai_batch: Paths,
        /// Fields beside the body that are passed through.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        columns: BTreeMap<String, String>,
    },
    /// Every file below a directory, handed over as it is and never read as text: pictures, sound, scenes. The
    /// identifier is the path relative to the directory.
    #[schemars(title = "A directory of files that are no text")]
    Files {
        /// The directory, relative to the project.
        files: String,
    },
    /// Numbers in place of files, such as the frames of one scene; the identifier is the number.
    #[schemars(title = "A range of numbers")]
    Range {
        /// The numbers.
        range: NumberRange,
        /// Files and folders, relative to the project, that every number depends on: the scene and its textures.
        /// They must be there at the start, and a change of one makes every item another.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<String>,
    },
}

impl Inputs {
    /// The columns that are handed to the engine, by their names there; none of inputs that have no rows.
    #[must_use]
    pub fn columns(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::Jsonl { columns, .. }
            | Self::Csv { columns, .. }
            | Self::Parquet { columns, .. }
            | Self::OpenAiBatch { columns, .. } => Some(columns),
            Self::Directory { .. } | Self::Files { .. } | Self::Range { .. } => None,
        }
    }

    /// The declared path, the first where there are several: how the inputs are called in messages.
    #[must_use]
    pub fn declared(&self) -> &str {
        match self {
            Self::Directory { directory, .. } => directory,
            Self::Jsonl { jsonl: paths, .. }
            | Self::Csv { csv: paths, .. }
            | Self::Parquet { parquet: paths, .. }
            | Self::OpenAiBatch { openai_batch: paths, .. } => paths.first(),
            Self::Files { files } => files,
            // Numbers lie in the project itself; each path that they need is declared relative to it.
            Self::Range { .. } => ".",
        }
    }
}

/// Numbers from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumberRange {
    /// The first number.
    pub first: i64,
    /// The last number; one that no step meets is passed over.
    pub last: i64,
    /// From one number to the next.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub step: u32,
    /// Digits of an identifier, filled up with zeros; a longer number has more.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 18))]
    pub digits: u32,
}

fn one() -> u32 {
    1
}

impl NumberRange {
    /// The number at a place, counted from 0; none behind the last.
    #[must_use]
    pub fn number(&self, place: u64) -> Option<i64> {
        let beyond = u64::from(self.step).checked_mul(place)?;
        self.first.checked_add_unsigned(beyond).filter(|number| *number <= self.last)
    }

    /// A number as an identifier: at least [`NumberRange::digits`] digits, its sign not counted.
    #[must_use]
    pub fn id(&self, number: i64) -> String {
        let digits = self.digits as usize;
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{:0digits$}", number.unsigned_abs())
    }
}

pub(crate) fn default_delimiter() -> char {
    ','
}

/// One path or several, relative to the project. Each is a file, a directory whose files of the format are all taken,
/// or a pattern: `*` and `?` inside a name, `**` for any folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Paths {
    /// One path.
    One(#[schemars(length(min = 1))] String),
    /// Several, in the order of their rows.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

impl Paths {
    /// Each path in its turn.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Several(paths) => paths.as_slice(),
        }
        .iter()
        .map(String::as_str)
    }

    /// The first path, as the inputs are called in messages.
    #[must_use]
    pub fn first(&self) -> &str {
        self.iter().next().unwrap_or_default()
    }
}

impl From<&str> for Paths {
    fn from(path: &str) -> Self {
        Self::One(path.to_owned())
    }
}

/// The declared encoding of the inputs. UTF-16 is recognised by its byte order mark under each of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Shift_JIS as browsers read it (Windows code page 932).
    #[serde(rename = "shift_jis")]
    ShiftJis,
    /// EUC-JP.
    #[serde(rename = "euc-jp")]
    EucJp,
    /// Windows code page 1252.
    #[serde(rename = "windows-1252")]
    Windows1252,
}

/// What becomes of two items under one identifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// The launch stops and names both places.
    #[default]
    Stop,
    /// The later one is refused as `duplicate-id`.
    Refuse,
}

/// Limits on one input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of one input as stored; more is refused as `too-large`.
    #[schemars(range(min = 1))]
    pub bytes: u64,
    /// Tokens of one input; none leaves the engine's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens: Option<u32>,
    /// What becomes of an input with more tokens.
    pub beyond: Beyond,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 * 1024 * 1024, tokens: None, beyond: Beyond::Refuse }
    }
}

/// What becomes of an input beyond the limit of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// It is refused as `too-long`.
    #[default]
    Refuse,
    /// It is cut, and the cut is recorded in its outcome.
    Truncate,
}

/// What an acceptable output is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OutputSpec {
    /// One of these categories.
    Category {
        /// The allowed categories, two or more.
        #[schemars(length(min = 2))]
        categories: Vec<Category>,
    },
    /// A vector of this many finite components, not all zero.
    Vector {
        /// The number of components.
        #[schemars(range(min = 1))]
        width: u32,
    },
    /// A text that says something.
    Text {},
    /// A JSON value that a schema accepts as the engine gave it; nothing is repaired.
    Json {
        /// The JSON Schema, of the draft that its `$schema` names, else 2020-12. It refers to nothing outside itself.
        schema: serde_json::Value,
    },
    /// A file that exists, is not empty and decodes.
    File {
        /// The name's extension, without the dot.
        #[schemars(regex(pattern = r"^[A-Za-z0-9]{1,16}$"))]
        extension: String,
        /// What the file must decode as.
        #[serde(default)]
        decode: FileDecode,
        /// What becomes of an image whose pixels all have one colour.
        #[serde(default)]
        one_colour: OneColour,
    },
}

/// What an output file must decode as, from its first byte to its last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileDecode {
    /// Anything that is not empty.
    #[default]
    Any,
    /// UTF-8 that says something.
    Text,
    /// One JSON value.
    Json,
    /// A PNG image.
    Png,
    /// An OpenEXR image, of any number of layers.
    Exr,
}

/// What becomes of an image of one colour only, which is what a scene without light or camera renders to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OneColour {
    /// It is accepted.
    #[default]
    Accept,
    /// It is refused as `bad-file`.
    Refuse,
}

/// An allowed category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Category {
    /// The name that results bear.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What belongs in it, in a sentence or two.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Texts that belong in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// The engine, by kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EngineConfig {
    /// The engine that is built in: sentence encoders on the processor.
    Builtin(Builtin),
    /// A process of the user's own that is started once.
    Worker(Worker),
    /// A server that speaks the OpenAI interface.
    #[serde(rename = "openai")]
    OpenAi(OpenAi),
    /// A program that is run once for each item.
    Command(CommandPerItem),
}

impl EngineConfig {
    /// Items of one batch, the most that is computed again after a crash.
    #[must_use]
    pub fn batch_items(&self) -> u32 {
        match self {
            Self::Builtin(builtin) => builtin.batch_items,
            Self::Worker(worker) => worker.batch_items,
            Self::OpenAi(server) => server.batch_items,
            Self::Command(command) => command.batch_items,
        }
    }
}

/// Parameters of the built-in engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Builtin {
    /// What it computes.
    pub task: Task,
    /// Where the model comes from, in order of preference: `hub:ORG/NAME@REV`, `path:DIR` or
    /// `package:pip/NAME==VERSION/SUBDIR`.
    #[schemars(
        length(min = 1),
        inner(regex(pattern = r"^(hub:[^/]+/[^/]+@.+|path:.+|package:pip/[^/]+==[^/]+/.+)$"))
    )]
    pub model: Vec<String>,
    /// Digest of each file of the model by its name; a file that differs is not used.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub sha256: std::collections::BTreeMap<String, Digest>,
    /// How far the best category must be above the next, in cosine, for `classify`; below it the item is refused
    /// as ambiguous.
    #[serde(default = "default_margin")]
    #[schemars(range(min = 0, max = 2), extend("default" = 0.02))]
    pub margin: f32,
    /// Items of one batch, the most that is computed again after a crash.
    #[serde(default = "default_batch_items")]
    #[schemars(range(min = 1))]
    pub batch_items: u32,
    /// Tokens, padding included, that are computed at once inside a batch.
    #[serde(default = "default_batch_tokens")]
    #[schemars(range(min = 1))]
    pub batch_tokens: u32,
    /// Threads; none lets the engine take the processors it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub threads: Option<u32>,
}

pub(crate) fn default_margin() -> f32 {
    0.02
}

pub(crate) fn default_batch_items() -> u32 {
    64
}

pub(crate) fn default_batch_tokens() -> u32 {
    2048
}

/// What the built-in engine computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// One vector a text.
    Embed,
    /// One category a text, by similarity to the categories' descriptions and examples.
    Classify,
}
