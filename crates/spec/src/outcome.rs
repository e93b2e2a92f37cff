//! What an item ended as.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Digest, ExactJson, FaultCode, ItemFault};

/// The terminal outcome of an item; before it has one, the item is pending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The declared criteria hold for this output.
    Accepted(Output),
    /// No acceptable output, and why.
    Refused(Refusal),
}

impl Outcome {
    /// True for an accepted item.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }
}

/// What an engine gave for an item and the deliverable accepts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Output {
    /// One of the declared categories.
    Category {
        /// The category's declared name.
        category: String,
        /// The engine's score of that category, in the engine's own unit (cosine for the built-in one); none where
        /// it gives none, as for a label that was generated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<f32>,
        /// Scores of the others, best first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<(String, f32)>,
        /// Tokens kept of an input that was cut, where cutting is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut_at_tokens: Option<u32>,
    },
    /// A vector that the engine just computed. In a record it stands as [`Output::VectorAt`].
    Vector {
        /// The components.
        values: Vec<f32>,
        /// Tokens kept of an input that was cut, where cutting is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut_at_tokens: Option<u32>,
    },
    /// A vector kept in a payload: `width` little-endian f32 at byte `offset` of `payload`.
    VectorAt {
        /// Name of the payload within the part's payload directory.
        payload: String,
        /// Byte offset of the first component.
        offset: u64,
        /// Number of components.
        width: u32,
        /// CRC-32 of the vector's bytes.
        crc: u32,
        /// Tokens kept of an input that was cut, where cutting is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut_at_tokens: Option<u32>,
    },
    /// A text, with the parameters that made it.
    Text {
        /// The text.
        text: String,
        /// What the engine reports of its making: parameters, tokens, finish reason.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        made_with: BTreeMap<String, ExactJson>,
    },
    /// A JSON value that the declared schema accepts.
    Json {
        /// The value as the engine gave it, to the digit, never repaired.
        value: ExactJson,
        /// What the engine reports of its making.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        made_with: BTreeMap<String, ExactJson>,
    },
    /// A file that the engine just made. In a record it stands as [`Output::File`], once it is durable.
    FileMade {
        /// Where it lies; it is removed once it was taken over.
        path: String,
    },
    /// A file kept in the part's payload directory.
    File {
        /// Name within the payload directory.
        payload: String,
        /// Digest of the file.
        digest: Digest,
        /// Bytes of the file.
        bytes: u64,
    },
}

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WrittenOutput::deserialize(deserializer)?.into_output().map_err(D::Error::missing_field)
    }
}

/// Every field that an output can have, read in one go: where the kind is looked for first, values pass through
/// numbers that cannot hold them.
#[derive(Deserialize)]
struct WrittenOutput {
    kind: WrittenKind,
    category: Option<String>,
    score: Option<f32>,
    #[serde(default)]
    others: Vec<(String, f32)>,
    cut_at_tokens: Option<u32>,
    values: Option<Vec<f32>>,
    payload: Option<String>,
    offset: Option<u64>,
    width: Option<u32>,
    crc: Option<u32>,
    text: Option<String>,
    #[serde(default, deserialize_with = "given")]
    value: Option<ExactJson>,
    #[serde(default)]
    made_with: BTreeMap<String, ExactJson>,
    path: Option<String>,
    digest: Option<Digest>,
    bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenKind {
    Category,
    Vector,
    VectorAt,
    Text,
    Json,
    FileMade,
    File,
}

/// A value that is there, null included.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ExactJson>, D::Error> {
    ExactJson::deserialize(deserializer).map(Some)
}

impl WrittenOutput {
    /// The output, or the name of the field that its kind needs and that is not there.
    fn into_output(self) -> Result<Output, &'static str> {
        let Self { cut_at_tokens, made_with, .. } = self;
        Ok(match self.kind {
            WrittenKind::Category => Output::Category {
                category: self.category.ok_or("category")?,
                score: self.score,
                others: self.others,
                cut_at_tokens,
            },
            WrittenKind::Vector => Output::Vector { values: self.values.ok_or("values")?, cut_at_tokens },
            WrittenKind::VectorAt => Output::VectorAt {
                payload: self.payload.ok_or("payload")?,
                offset: self.offset.ok_or("offset")?,
                width: self.width.ok_or("width")?,
                crc: self.crc.ok_or("crc")?,
                cut_at_tokens,
            },
            WrittenKind::Text => Output::Text { text: self.text.ok_or("text")?, made_with },
            WrittenKind::Json => Output::Json { value: self.value.ok_or("value")?, made_with },
            WrittenKind::FileMade => Output::FileMade { path: self.path.ok_or("path")? },
            WrittenKind::File => Output::File {
                payload: self.payload.ok_or("payload")?,
                digest: self.digest.ok_or("digest")?,
                bytes: self.bytes.ok_or("bytes")?,
            },
        })
    }
}

/// Why an item has no acceptable output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The stable code.
    pub reason: Reason,
    /// Named facts that go into the sentence people read (`limit`, `seen`, `first`, `second`, `detail` ...).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl Refusal {
    /// A refusal without facts.
    #[must_use]
    pub fn new(reason: Reason) -> Self {
        Self { reason, facts: BTreeMap::new() }
    }

    /// The same with one more named fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.facts.insert(name.to_owned(), value.to_string());
        self
    }
}

impl From<&ItemFault> for Refusal {
    fn from(fault: &ItemFault) -> Self {
        let refusal = Self::new(Reason::Input(fault.code));
        if fault.detail.is_empty() { refusal } else { refusal.with("detail", &fault.detail) }
    }
}

/// The stable reasons of refusal, written in kebab-case. Only faults of an item refuse it: what the engine, the
/// machine or an endpoint does wrong leaves it pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reason {
    /// The input itself, found by the index.
    Input(FaultCode),
    /// What was found while working on it.
    Work(WorkReason),
}

/// Reasons that only the work on an item can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkReason {
    /// The input's digest is no longer the one in the index.
    InputChanged,
    /// More tokens than the declared limit.
    TooLong,
    /// No category is far enough above the next: the two nearest are in the facts.
    Ambiguous,
    /// A vector or score that is NaN or infinite, or all zero.
    NotFinite,
    /// A vector of another width than declared.
    WrongWidth,
    /// A category that was not declared.
    OutsideCategories,
    /// The engine gave nothing.
    EmptyOutput,
    /// The output was cut at a length limit.
    OutputCut,
    /// The output is filtered by the engine's own content policy.
    Filtered,
    /// The output is no JSON, or the declared schema does not accept it.
    InvalidOutput,
    /// The declared output file is absent, empty or does not decode.
    BadFile,
    /// The engine refused the item in its own words (`detail`).
    ByEngine,
    /// The item alone, again and again, ends or breaks the engine.
    Poison,
    /// The engine answered for the other items of the batch and, asked again alone, not for this one.
    NoAnswer,
}

impl WorkReason {
    /// Every reason that the work can find.
    pub const ALL: [Self; 14] = [
        Self::InputChanged,
        Self::TooLong,
        Self::Ambiguous,
        Self::NotFinite,
        Self::WrongWidth,
        Self::OutsideCategories,
        Self::EmptyOutput,
        Self::OutputCut,
        Self::Filtered,
        Self::InvalidOutput,
        Self::BadFile,
        Self::ByEngine,
        Self::Poison,
        Self::NoAnswer,
    ];

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::InputChanged => "input-changed",
            Self::TooLong => "too-long",
            Self::Ambiguous => "ambiguous",
            Self::NotFinite => "not-finite",
            Self::WrongWidth => "wrong-width",
            Self::OutsideCategories => "outside-categories",
            Self::EmptyOutput => "empty-output",
            Self::OutputCut => "output-cut",
            Self::Filtered => "filtered",
            Self::InvalidOutput => "invalid-output",
            Self::BadFile => "bad-file",
            Self::ByEngine => "by-engine",
            Self::Poison => "poison",
            Self::NoAnswer => "no-answer",
        }
    }
}

impl Reason {
    /// Every reason: those of inputs first.
    pub fn all() -> impl Iterator<Item = Self> {
        FaultCode::ALL.into_iter().map(Self::Input).chain(WorkReason::ALL.into_iter().map(Self::Work))
    }

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Input(code) => code.code(),
            Self::Work(reason) => reason.code(),
        }
    }
}

/// A text that is the code of no reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no reason of refusal; the reasons are {}", known())]
pub struct UnknownReason {
    text: String,
}

fn known() -> String {
    Reason::all().map(Reason::code).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl std::str::FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownReason { text: text.escape_debug().to_string().chars().take(80).collect() };
        Self::all().find(|reason| reason.code() == text).ok_or_else(unknown)
    }
}

impl TryFrom<String> for Reason {
    type Error = UnknownReason;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.code().to_owned()
    }
}
