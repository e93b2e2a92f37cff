//! What some items must come to: a file with one JSON object a line, `id` and `label`.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Labels by identifier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels(HashMap<String, String>);

/// Why a file of labels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// It cannot be read.
    #[error("the labels in `{}` cannot be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line that is no label.
    #[error("`{}` line {line} is not {{\"id\": ..., \"label\": ...}}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// An identifier with two labels.
    #[error("`{}` line {line} gives `{id}` a second label; keep the right one", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The identifier.
        id: String,
    },
    /// No label at all.
    #[error("`{}` holds no label; write one object with `id` and `label` a line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    label: String,
}

impl Labels {
    /// Reads a file. Labels are made by people, so that they fit into memory.
    ///
    /// # Errors
    /// When the file cannot be read, a line is no label, or an identifier has two.
    pub fn read(path: &Path) -> Result<Self, LabelError> {
        let io = |source| LabelError::Io { path: path.to_owned(), source };
        let mut labels = HashMap::new();
        let file = fs_err::File::open(path).map_err(io)?;
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(io)?;
            if line.trim().is_empty() {
                continue;
            }
            let Line { id, label } =
                serde_json::from_str(line.trim_start_matches('\u{feff}')).map_err(|error| {
                    LabelError::Line { path: path.to_owned(), line: number, why: error.to_string() }
                })?;
            if labels.insert(id.clone(), label).is_some() {
                return Err(LabelError::Twice { path: path.to_owned(), line: number, id });
            }
        }
        if labels.is_empty() {
            return Err(LabelError::Empty { path: path.to_owned() });
        }
        Ok(Self(labels))
    }

    /// The label of an identifier.
    #[must_use]
    pub fn of(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Labels, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().display().to_string();
        Labels::read(file.path()).map_err(|error| error.to_string().replace(&path, "labels.jsonl"))
    }

    #[test]
    fn labels_are_read_by_identifier() {
        let labels =
            read("\u{feff}{\"id\":\"a.txt\",\"label\":\"invoice\"}\r\n\n{\"id\":\"b\",\"label\":\"x\"}\n")
                .unwrap();
        assert_eq!((labels.of("a.txt"), labels.of("b"), labels.of("c")), (Some("invoice"), Some("x"), None));
    }

    #[test]
    fn a_file_that_is_none_says_which_line_and_what_is_wrong() {
        assert_eq!(
            read("\n"),
            Err("`labels.jsonl` holds no label; write one object with `id` and `label` a line".into())
        );
        let error = read("{\"id\":\"a\",\"label\":\"x\"}\n{\"id\":\"b\"}\n").unwrap_err();
        assert!(
            error.starts_with("`labels.jsonl` line 2 is not {\"id\": ..., \"label\": ...}: missing field"),
            "{error}"
        );
        let error = read("{\"id\":\"a\",\"label\":\"x\"}\n{\"id\":\"a\",\"label\":\"y\"}\n").unwrap_err();
        assert_eq!(error, "`labels.jsonl` line 2 gives `a` a second label; keep the right one");
        let absent = Labels::read(Path::new("no/such/file")).unwrap_err().to_string();
        assert_eq!(absent, "the labels in `no/such/file` cannot be read");
    }
}
