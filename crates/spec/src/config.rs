//! From the bytes of `config/pilote.json` to a validated project, or to every fault that could be told apart.
//!
//! The file is read into [`crate::json`] nodes first, which keep their places; the decoding of each key then
//! reports what is wrong and goes on with the next. A project that comes out of here needs no further check.

mod decoding;
mod engine;
mod fault;
mod guards;
mod inputs;
mod needs;
mod output;
mod place;
mod programs;
mod quality;

pub use engine::{ModelRef, ModelRefError};
pub use fault::{ConfigCode, ConfigError, ConfigErrors};

use crate::json::{self, Mark, Node, Value};
use crate::{Digest, Project};
use decoding::Decoder;

/// The format that this program reads.
pub const PROJECT_FORMAT: &str = "pilote.project/1";

/// A validated project and what was seen while reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The project, defaults written out.
    pub project: Project,
    /// Digest of the file's bytes as given.
    pub digest: Digest,
    /// Whether the file began with a byte order mark, which was passed over.
    pub bom_removed: bool,
}

/// The shape of a version: which keys a place in the file may have. Compared with the schema by a test.
pub(crate) const KEYS: [(&str, &[&str]); 28] = [
    (
        "",
        &[
            "$schema",
            "format",
            "name",
            "purpose",
            "mode",
            "pilot",
            "campaign",
            "duplicates",
            "limits",
            "output",
            "engine",
            "guards",
            "destination",
            "quality",
            "secrets",
            "needs",
        ],
    ),
    ("quality", &["reference", "labels", "agreement_min", "cosine_min", "accuracy_min", "fields_min"]),
    ("guards", &["canaries", "sample", "tolerance"]),
    ("canaries", &["text", "expected"]),
    ("pilot", &["inputs", "count", "expected_refusals", "digests"]),
    ("campaign", &["inputs", "count", "refused_max"]),
    (
        "inputs",
        &[
            "directory",
            "jsonl",
            "csv",
            "parquet",
            "openai_batch",
            "files",
            "range",
            "id",
            "text",
            "columns",
            "delimiter",
            "encoding",
            "needs",
        ],
    ),
    ("range", &["first", "last", "step", "digits"]),
    ("expected_refusals", &["id", "reason"]),
    ("limits", &["bytes", "tokens", "beyond"]),
    ("output.category", &["kind", "categories"]),
    ("output.vector", &["kind", "width"]),
    ("output.text", &["kind"]),
    ("output.json", &["kind", "schema"]),
    ("output.file", &["kind", "extension", "decode", "one_colour"]),
    ("categories", &["name", "description", "examples"]),
    (
        "engine.builtin",
        &["kind", "task", "model", "sha256", "margin", "batch_items", "batch_tokens", "threads"],
    ),
    (
        "engine.worker",
        &[
            "kind",
            "command",
            "parameters",
            "environment",
            "pass",
            "batch_items",
            "setup_seconds_max",
            "silence_seconds_max",
            "line_bytes_max",
        ],
    ),
    (
        "engine.openai",
        &[
            "kind",
            "endpoints",
            "task",
            "model",
            "prompt",
            "parameters",
            "key",
            "concurrency",
            "attempts_max",
            "request_seconds_max",
            "down_seconds_max",
            "item_seconds_max",
            "stop_seconds_max",
            "request_bytes_max",
            "batch_items",
            "launch",
        ],
    ),
    (
        "engine.command",
        &[
            "kind",
            "command",
            "check",
            "slots",
            "devices",
            "environment",
            "pass",
            "seconds_max",
            "memory_bytes_max",
            "batch_items",
        ],
    ),
    (
        "needs",
        &[
            "system",
            "interpreter",
            "python",
            "backend",
            "cards",
            "card_memory_mib",
            "memory_mib",
            "disk_mib",
            "shared_memory_mib",
            "requirements",
            "extensions",
            "programs",
            "licences",
            "preprocessing",
            "adapters",
            "references",
        ],
    ),
    ("extensions", &["module", "check"]),
    ("programs", &["name", "command", "says"]),
    ("preprocessing", &["command", "sha256"]),
    ("adapters", &["name", "parameters"]),
    ("references", &["name", "kind", "from", "sha256", "licence"]),
    ("prompt", &["role", "content"]),
    ("launch", &["command", "environment", "pass", "devices", "ready", "ready_seconds_max"]),
];

impl Project {
    /// Reads and validates a configuration; `file` is its name for messages.
    ///
    /// A byte order mark and lines that end in CR LF are accepted.
    ///
    /// # Errors
    /// Everything found wrong, in the order of the file: one fault where the bytes are no JSON or the format is
    /// another, else all faults of keys and values at once.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Parsed, ConfigErrors> {
        let fail = |errors| ConfigErrors { file: file.to_owned(), errors };
        let (text, bom_removed) = text_of(bytes).map_err(|error| fail(vec![error]))?;
        let node = json::read(text).map_err(|fault| fail(vec![fault.into()]))?;
        let mut decoder = Decoder::default();
        if !decoder.format(&node) {
            return Err(fail(decoder.into_errors()));
        }
        decoder.duplicates(&node, "");
        let project = decoder.project(&node);
        match (project, decoder.into_errors()) {
            (Some(project), errors) if errors.is_empty() => {
                Ok(Parsed { project, digest: Digest::of(bytes), bom_removed })
            }
            (_, errors) => Err(fail(errors)),
        }
    }
}

/// The text of a configuration without its byte order mark, and whether there was one.
fn text_of(bytes: &[u8]) -> Result<(&str, bool), ConfigError> {
    let at_start = Mark { line: 1, column: 1 };
    let encoding = |at, problem: String| {
        let advice = "save the file as UTF-8";
        ConfigError::new(ConfigCode::Encoding, at, "", problem, advice)
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(encoding(at_start, "the file is in UTF-16".to_owned()));
    }
    let bom_removed = bytes.starts_with(b"\xef\xbb\xbf");
    let bytes = if bom_removed { &bytes[3..] } else { bytes };
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok((text, bom_removed)),
        Err(error) => {
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            let at = std::str::from_utf8(valid).map_or(at_start, json::mark_of);
            let byte = rest.first().copied().unwrap_or_default();
            Err(encoding(at, format!("the byte {byte:#04x} is no UTF-8")))
        }
    }
}

/// The first value under these keys, for faults that concern two places.
fn find<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n Node> {
    keys.iter().try_fold(node, |node, key| match &node.value {
        Value::Table(entries) => entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.node),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
