//! What the deliverable accepts of an engine's output. The conductor asks before it records, the proof asks
//! again after reading back, and both get the same answer.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::{ExactJson, Output, OutputSpec, Reason, Refusal, WorkReason, is_blank};

/// Names seen in an answer go into a record only up to this many characters.
const SEEN_CHARS_MAX: usize = 80;

/// The output itself where the deliverable accepts it, else the refusal to record for the item.
///
/// A vector that lies in a payload ([`Output::VectorAt`]) is judged by its width alone: whoever has its bytes
/// judges them as [`Output::Vector`]. A file is judged by whoever has its bytes, and accepted here.
///
/// # Errors
/// The refusal: another kind of output than declared, a category that was not declared, a wrong width, a
/// component or score that is not finite, a vector of zeros, a text that was cut or filtered by what is recorded of
/// its making, a value that the schema does not accept, or nothing at all.
pub fn accept(spec: &OutputSpec, output: Output) -> Result<Output, Refusal> {
    match (spec, &output) {
        (OutputSpec::Category { categories }, Output::Category { category, score, others, .. }) => {
            if category.is_empty() {
                return Err(refusal(WorkReason::EmptyOutput));
            }
            if !categories.iter().any(|declared| declared.name == *category) {
                let seen: String = category.chars().take(SEEN_CHARS_MAX).collect();
                return Err(refusal(WorkReason::OutsideCategories).with("seen", seen));
            }
            let scores = score.iter().copied().chain(others.iter().map(|(_, score)| *score));
            finite(scores)?;
        }
        (OutputSpec::Vector { width }, Output::Vector { values, .. }) => {
            if values.is_empty() {
                return Err(refusal(WorkReason::EmptyOutput));
            }
            same_width(*width, values.len() as u64)?;
            finite(values.iter().copied())?;
            if values.iter().all(|value| value.to_bits() << 1 == 0) {
                return Err(refusal(WorkReason::NotFinite).with("detail", "all zero"));
            }
        }
        (OutputSpec::Vector { width }, Output::VectorAt { width: seen, .. }) => {
            same_width(*width, u64::from(*seen))?;
        }
        (OutputSpec::Text {}, Output::Text { text, made_with }) => {
            ended_well(made_with)?;
            if is_blank(text) {
                return Err(refusal(WorkReason::EmptyOutput));
            }
        }
        (OutputSpec::Json { schema }, Output::Json { value, made_with }) => {
            ended_well(made_with)?;
            valid(schema, &value.value())?;
        }
        (OutputSpec::File { .. }, Output::FileMade { .. } | Output::File { .. }) => {}
        (spec, other) => {
            return Err(refusal(WorkReason::InvalidOutput)
                .with("expected", spec.kind())
                .with("seen", other.kind()));
        }
    }
    Ok(output)
}

fn same_width(expected: u32, seen: u64) -> Result<(), Refusal> {
    if seen == u64::from(expected) {
        return Ok(());
    }
    Err(refusal(WorkReason::WrongWidth).with("expected", expected).with("seen", seen))
}

/// Refuses the first value that is NaN or infinite, saying which and where (from 0).
fn finite(mut values: impl Iterator<Item = f32>) -> Result<(), Refusal> {
    match values.by_ref().enumerate().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some((at, value)) => Err(refusal(WorkReason::NotFinite).with("seen", value).with("at", at)),
    }
}

/// Refuses what was cut or filtered while it was generated, whatever it looks like.
fn ended_well(made_with: &BTreeMap<String, ExactJson>) -> Result<(), Refusal> {
    match made_with.get("finish_reason").and_then(ExactJson::text).as_deref() {
        Some("length") => Err(refusal(WorkReason::OutputCut)),
        Some("content_filter") => Err(refusal(WorkReason::Filtered)),
        _ => Ok(()),
    }
}

thread_local! {
    /// The schema that this thread judged by last, compiled: all outputs of a trial are judged by the same.
    static COMPILED: RefCell<Option<(Value, jsonschema::Validator)>> = const { RefCell::new(None) };
}

/// Refuses a value that the schema does not accept, with the first thing that is wrong and where.
fn valid(schema: &Value, value: &Value) -> Result<(), Refusal> {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.as_ref().is_none_or(|(of, _)| of != schema) {
            let validator =
                compile(schema).map_err(|fault| refusal(WorkReason::InvalidOutput).with("detail", fault))?;
            *compiled = Some((schema.clone(), validator));
        }
        let Some((_, validator)) = compiled else { return Ok(()) };
        validator.validate(value).map_err(|error| {
            let path = error.instance_path().to_string();
            let at = if path.is_empty() { "the whole value".to_owned() } else { shortened(&path) };
            // The content is left out of the words: it may be long, and it is in no record of a refusal.
            let words = shortened(&error.masked().to_string());
            refusal(WorkReason::InvalidOutput).with("at", at).with("detail", words)
        })
    })
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, SchemaFault> {
    jsonschema::options().build(schema).map_err(|error| SchemaFault {
        at: error.instance_path().to_string(),
        problem: shortened(&error.to_string()),
    })
}

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no JSON Schema that can be used: {problem} (at `{at}`)")]
pub struct SchemaFault {
    /// Where in it, as a JSON pointer.
    pub at: String,
    /// What, in the words of the validator.
    pub problem: String,
}

/// What makes `schema` unusable, where something does: it is no schema, or refers to something outside itself.
#[must_use]
pub fn schema_fault(schema: &Value) -> Option<SchemaFault> {
    compile(schema).err()
}

fn shortened(text: &str) -> String {
    text.chars().take(4 * SEEN_CHARS_MAX).collect()
}

fn refusal(reason: WorkReason) -> Refusal {
    Refusal::new(Reason::Work(reason))
}

impl OutputSpec {
    /// The kind of output in one stable word, as in the configuration.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Category { .. } => "category",
            Self::Vector { .. } => "vector",
            Self::Text {} => "text",
            Self::Json { .. } => "json",
            Self::File { .. } => "file",
        }
    }
}

impl Output {
    /// The kind of output in one stable word. A vector is one wherever its components lie.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Category { .. } => "category",
            Self::Vector { .. } | Self::VectorAt { .. } => "vector",
            Self::Text { .. } => "text",
            Self::Json { .. } => "json",
            Self::File { .. } | Self::FileMade { .. } => "file",
        }
    }
}
