//! `engine`: what computes the outputs.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::decoding::{Decoder, Field, Table};
use super::place::is_home;
use crate::json::{Value, visible};
use crate::project::{default_batch_items, default_batch_tokens, default_margin};
use crate::{Builtin, Digest, EngineConfig, Task};

/// Bounds that no machine reaches, so that a slip of the finger is told from a wish.
const THREADS_MAX: u32 = 4096;
const BATCH_ITEMS_MAX: u32 = 1 << 20;
const BATCH_TOKENS_MAX: u32 = 1 << 24;

/// Two cosines are at most this far apart.
const MARGIN_MAX: f64 = 2.0;

/// Where a model comes from, as its reference says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelRef {
    /// `hub:ORG/NAME@REV`: a repository of a model hub at a revision.
    Hub {
        /// The organisation or user.
        org: String,
        /// The model's name.
        name: String,
        /// Commit, tag or branch.
        revision: String,
    },
    /// `path:DIR`: a directory, relative to the project or absolute.
    Path {
        /// The directory as written.
        directory: String,
    },
    /// `package:pip/NAME==VERSION/SUBDIR`: a directory inside a Python wheel.
    Package {
        /// The package's name.
        name: String,
        /// Its exact version.
        version: String,
        /// The directory inside the wheel, `/` between components.
        subdirectory: String,
    },
}

/// What makes a text no reference to a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {advice}")]
pub struct ModelRefError {
    problem: String,
    advice: &'static str,
}

impl FromStr for ModelRef {
    type Err = ModelRefError;

    /// Reads one of the three forms; the message says how the nearest one is written.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |problem: &str, advice| Err(ModelRefError { problem: problem.to_owned(), advice });
        match text.split_once(':') {
            Some(("hub", rest)) => {
                let parts = rest
                    .split_once('@')
                    .and_then(|(repository, revision)| Some((repository.split_once('/')?, revision)));
                match parts {
                    Some(((org, name), revision))
                        if [org, name].iter().all(|p| is_part(p)) && is_part(revision) =>
                    {
                        Ok(Self::Hub {
                            org: org.to_owned(),
                            name: name.to_owned(),
                            revision: revision.to_owned(),
                        })
                    }
                    _ => error("the reference to a hub is incomplete", "write hub:ORG/NAME@REVISION"),
                }
            }
            Some(("path", "")) => error("the directory is missing", "write path:DIRECTORY"),
            Some(("path", directory)) if is_home(directory) => error(
                "the directory lies in a home directory, which another machine does not have",
                "write path: with a directory relative to the project",
            ),
            Some(("path", directory)) => Ok(Self::Path { directory: directory.to_owned() }),
            Some(("package", rest)) => package(rest),
            _ => error(
                "the reference to a model is of no known kind",
                "write hub:ORG/NAME@REVISION, path:DIRECTORY or package:pip/NAME==VERSION/SUBDIRECTORY",
            ),
        }
    }
}

/// What follows `package:`. Versions are exact, since a range would be another model tomorrow.
fn package(rest: &str) -> Result<ModelRef, ModelRefError> {
    let advice = "write package:pip/NAME==VERSION/SUBDIRECTORY, with an exact version";
    let error = |problem: &str| ModelRefError { problem: problem.to_owned(), advice };
    let rest = rest.strip_prefix("pip/").ok_or_else(|| error("only packages of pip are known"))?;
    let (name, rest) = rest.split_once("==").ok_or_else(|| error("the package has no exact version"))?;
    let (version, subdirectory) =
        rest.split_once('/').ok_or_else(|| error("the package has no directory"))?;
    let is_version = version.bytes().all(|byte| is_plain(byte) || matches!(byte, b'+' | b'!'));
    if !is_part(name) || version.is_empty() || !is_version {
        return Err(error("the package's name or version is not well formed"));
    }
    let leads_out = subdirectory.split('/').any(|part| matches!(part, "" | "." | ".."));
    if leads_out || subdirectory.contains(['\\', ':', '\0']) {
        return Err(error("the directory is no plain path inside the package"));
    }
    Ok(ModelRef::Package {
        name: name.to_owned(),
        version: version.to_owned(),
        subdirectory: subdirectory.to_owned(),
    })
}

/// What may stand in a path, an address and an argument: it begins with a letter or digit and never climbs.
fn is_part(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_alphanumeric())
        && part.bytes().all(is_plain)
        && !part.contains("..")
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hub { org, name, revision } => write!(f, "hub:{org}/{name}@{revision}"),
            Self::Path { directory } => write!(f, "path:{directory}"),
            Self::Package { name, version, subdirectory } => {
                write!(f, "package:pip/{name}=={version}/{subdirectory}")
            }
        }
    }
}

impl Decoder {
    /// `engine`, by its kind.
    pub(super) fn engine(&mut self, field: &Field<'_>) -> Option<EngineConfig> {
        let shapes = [
            ("builtin", "engine.builtin"),
            ("worker", "engine.worker"),
            ("openai", "engine.openai"),
            ("command", "engine.command"),
        ];
        let shape = self.kind(field, &shapes)?;
        let table = self.table(field, shape)?;
        Some(match shape {
            "engine.worker" => EngineConfig::Worker(self.worker(&table)?),
            "engine.openai" => EngineConfig::OpenAi(self.server(&table)?),
            "engine.command" => EngineConfig::Command(self.command(&table)?),
            _ => EngineConfig::Builtin(self.builtin(&table)?),
        })
    }

    fn builtin(&mut self, table: &Table<'_>) -> Option<Builtin> {
        let tasks = [("embed", Task::Embed), ("classify", Task::Classify)];
        let task = self.required(table, "task", "\"classify\"", |it, field| it.word(field, &tasks));
        let model = self.required(table, "model", "[\"hub:ORG/NAME@REVISION\"]", Self::models);
        let sha256 = self.defaulted(table, "sha256", BTreeMap::new(), Self::digests);
        let margin = self.defaulted(table, "margin", default_margin(), |it, field| {
            let number = it.number(field, 0.0, MARGIN_MAX)?;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the margin is kept in the precision of the cosines"
            )]
            Some(number as f32)
        });
        let batch_items = self.defaulted(table, "batch_items", default_batch_items(), |it, field| {
            it.small(field, BATCH_ITEMS_MAX)
        });
        let batch_tokens = self.defaulted(table, "batch_tokens", default_batch_tokens(), |it, field| {
            it.small(field, BATCH_TOKENS_MAX)
        });
        let threads = self.optional(table, "threads", |it, field| it.small(field, THREADS_MAX));
        Some(Builtin {
            task: task?,
            model: model?,
            sha256: sha256?,
            margin: margin?,
            batch_items: batch_items?,
            batch_tokens: batch_tokens?,
            threads: threads?,
        })
    }

    /// `model`: each reference is well formed. Whether one can be had is known only when it is asked for.
    fn models(&mut self, field: &Field<'_>) -> Option<Vec<String>> {
        let models = self.list(field, |it, field| {
            let reference = it.text(field)?;
            match reference.parse::<ModelRef>() {
                Ok(_) => Some(reference),
                Err(error) => it.wrong(field, error.problem, error.advice),
            }
        })?;
        if models.is_empty() {
            return self.wrong(field, "no model is named", "write [\"hub:ORG/NAME@REVISION\"]");
        }
        Some(models)
    }

    /// `sha256`: keys are names of files below the model's directory, so none may lead out of it.
    pub(super) fn digests(&mut self, field: &Field<'_>) -> Option<BTreeMap<String, Digest>> {
        let Value::Table(entries) = &field.node.value else {
            self.table(field, "")?;
            return None;
        };
        let digests = entries.iter().map(|entry| {
            let path = format!("{}.{}", field.path, visible(&entry.key));
            let value = Field { node: &entry.node, path };
            let text = self.text(&value)?;
            if entry.key.is_empty()
                || entry.key.starts_with('/')
                || entry.key.split('/').any(|part| part == "..")
            {
                return self.wrong(
                    &value,
                    "the key is no file of the model",
                    "write the file's name in the model",
                );
            }
            match text.parse() {
                Ok(digest) => Some((entry.key.clone(), digest)),
                Err(_) => {
                    let problem = "this is no sha256 digest";
                    self.wrong(&value, problem, "write the 64 hexadecimal digits that `sha256sum` shows")
                }
            }
        });
        let digests: Vec<Option<(String, Digest)>> = digests.collect();
        digests.into_iter().collect()
    }
}
