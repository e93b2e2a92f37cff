//! One declared input, as the index of a trial records it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Columns, Digest};

/// Where an item stands among the declared inputs, from 0. Position is the key of everything that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An identifier: exact text, compared byte by byte, never normalised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(pub String);

impl ItemId {
    /// The identifier's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where the content of an item is read. A location is told by the first member that only it has, so that forms with
/// more members stand before those with fewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", untagged)]
pub enum Location {
    /// A line of a file of records, or the lines of a record in a file of comma-separated values.
    Line {
        /// Line number from 1, blank lines counted; of several lines, the first.
        line: u64,
        /// Byte offset of the line's first byte in the (decompressed) file.
        offset: u64,
        /// Bytes of the line without its line end.
        bytes: u64,
        /// The file, relative to the project; none where one file is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A row of a table.
    Row {
        /// Row number from 1.
        row: u64,
        /// The file, relative to the project; none where one file is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A number of a range.
    Number {
        /// The number.
        number: i64,
    },
    /// A whole file, relative to the inputs' directory. A name that is not UTF-8 is percent-encoded here,
    /// and `raw` says so; such an item has no identifier.
    File {
        /// Path relative to the inputs' directory, `/` between components.
        path: String,
        /// True when `path` is percent-encoded bytes rather than the name itself.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raw: bool,
    },
}

/// Why a declared position cannot become work for an engine. Known when the index is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemFault {
    /// The stable code.
    pub code: FaultCode,
    /// What was seen: a figure, a byte offset, a file kind. Never the content itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Faults that the index can find in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultCode {
    /// No bytes, or nothing but white space.
    Empty,
    /// More bytes than the declared limit.
    TooLarge,
    /// The bytes are no text in the declared encoding.
    Encoding,
    /// A NUL character inside a text.
    Nul,
    /// A kind of file that is not read as text (PDF, DOCX, image, program ...).
    UnsupportedKind,
    /// The file is there and cannot be read.
    Unreadable,
    /// A directory, a dangling link or a device in place of a file.
    NotAFile,
    /// The file's name is not UTF-8, so no identifier can be made of it.
    NameNotUtf8,
    /// A record that is no JSON object, or whose text field is absent or of another type.
    BadRecord,
    /// A record whose identifier is absent, null, empty or of a type that is no identifier.
    BadId,
    /// A second item under an identifier that an earlier one bears (`duplicates: refuse`).
    DuplicateId,
}

impl FaultCode {
    /// Every fault.
    pub const ALL: [Self; 11] = [
        Self::Empty,
        Self::TooLarge,
        Self::Encoding,
        Self::Nul,
        Self::UnsupportedKind,
        Self::Unreadable,
        Self::NotAFile,
        Self::NameNotUtf8,
        Self::BadRecord,
        Self::BadId,
        Self::DuplicateId,
    ];

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLarge => "too-large",
            Self::Encoding => "encoding",
            Self::Nul => "nul",
            Self::UnsupportedKind => "unsupported-kind",
            Self::Unreadable => "unreadable",
            Self::NotAFile => "not-a-file",
            Self::NameNotUtf8 => "name-not-utf8",
            Self::BadRecord => "bad-record",
            Self::BadId => "bad-id",
            Self::DuplicateId => "duplicate-id",
        }
    }
}

/// One declared input: position, identifier, version and length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Where the item stands among the inputs.
    pub position: Position,
    /// The identifier, or none where `fault` says why.
    pub id: Option<ItemId>,
    /// Digest of the content's bytes as stored; none where they could not be read.
    pub digest: Option<Digest>,
    /// Bytes of the content as stored.
    pub bytes: u64,
    /// Characters of the text after decoding and extraction; 0 where there is none.
    pub chars: u64,
    /// Where the content is read.
    pub location: Location,
    /// Fields of the row that are passed through, as declared.
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    pub columns: Columns,
    /// Why the item cannot become work, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<ItemFault>,
}
