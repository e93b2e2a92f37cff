//! How the rows of the declared inputs are read: the format, the fields, the charset.

use std::collections::BTreeMap;

use pilote_spec::{Inputs, Paths};

use crate::decoding::charset;
use crate::records::Fields;

/// A format of files of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated values, with this delimiter.
    Csv(char),
    /// Parquet.
    Parquet,
}

impl Format {
    /// What is expected, for messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Jsonl => "a file with one JSON object a line",
            Self::Csv(_) => "a file of comma-separated values with a header",
            Self::Parquet => "a Parquet file",
        }
    }

    /// Extensions by which files of the format are found in a directory.
    pub(crate) fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Jsonl => &["jsonl", "ndjson"],
            Self::Csv(_) => &["csv", "tsv"],
            Self::Parquet => &["parquet"],
        }
    }

    /// Whether a name without the extension of its compression ends as one of the format.
    pub(crate) fn bears(self, name: &str) -> bool {
        name.rsplit_once('.').is_some_and(|(_, extension)| {
            self.extensions().iter().any(|known| known.eq_ignore_ascii_case(extension))
        })
    }

    /// The byte that parts fields, where records may hold line feeds in quotes.
    pub(crate) fn delimiter_byte(self) -> Option<u8> {
        match self {
            Self::Csv(delimiter) => u8::try_from(delimiter).ok(),
            _ => None,
        }
    }
}

/// Everything that the declaration says of rows.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) format: Format,
    pub(crate) fields: Fields,
    pub(crate) paths: Paths,
}

impl Shape {
    /// The shape of declared rows; none for inputs that are no rows.
    pub(crate) fn of(inputs: &Inputs) -> Option<Self> {
        let fields = |id: &str, text: &str, columns: &BTreeMap<String, String>, encoding| Fields {
            id: id.to_owned(),
            text: text.to_owned(),
            columns: columns.clone(),
            object: false,
            charset: charset(encoding),
        };
        Some(match inputs {
            Inputs::Directory { .. } | Inputs::Files { .. } | Inputs::Range { .. } => return None,
            Inputs::Jsonl { jsonl, id, text, columns, encoding } => Self {
                format: Format::Jsonl,
                fields: fields(id, text, columns, *encoding),
                paths: jsonl.clone(),
            },
            Inputs::Csv { csv, id, text, columns, delimiter, encoding } => Self {
                format: Format::Csv(*delimiter),
                fields: fields(id, text, columns, *encoding),
                paths: csv.clone(),
            },
            Inputs::Parquet { parquet, id, text, columns } => Self {
                format: Format::Parquet,
                fields: fields(id, text, columns, pilote_spec::Encoding::Utf8),
                paths: parquet.clone(),
            },
            Inputs::OpenAiBatch { openai_batch, columns } => {
                let fields = fields("custom_id", "body", columns, pilote_spec::Encoding::Utf8);
                let fields = Fields { object: true, ..fields };
                Self { format: Format::Jsonl, fields, paths: openai_batch.clone() }
            }
        })
    }
}
