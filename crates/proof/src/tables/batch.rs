//! Results as the OpenAI Batch interface gives them: a line for each item, `custom_id` being the identifier.
//!
//! The body of a response is made from what was recorded of it: the text or vector, the finish reason, the model and
//! the tokens that the server told. What a server told beyond that was not kept.

use std::collections::BTreeMap;

use pilote_spec::{EngineConfig, ExactJson, Item, Output, OutputSpec, ServerTask, Trial};
use serde::Serialize;
use serde_json::json;

use super::cells::passed;
use super::{Rows, Told, line};
use crate::error::ProofError;
use crate::files::Pending;

/// A file of batch results.
pub(super) struct Batch {
    to: Pending,
    trial: String,
    model: String,
    completion: bool,
    passed: Vec<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    custom_id: Option<&'a str>,
    response: Option<Response>,
    error: Option<Error>,
    /// Columns that are passed through; the interface itself has no such field, and its readers pass over it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    columns: BTreeMap<&'a str, &'a ExactJson>,
}

#[derive(Serialize)]
struct Response {
    status_code: u16,
    request_id: String,
    body: Body,
}

#[derive(Serialize)]
struct Error {
    code: String,
    message: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body {
    Generated {
        object: &'static str,
        model: ExactJson,
        choices: [Choice; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<ExactJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        system_fingerprint: Option<ExactJson>,
    },
    Embedded {
        object: &'static str,
        model: ExactJson,
        data: [Embedding; 1],
    },
}

#[derive(Serialize)]
struct Choice {
    index: u32,
    #[serde(flatten)]
    said: serde_json::Map<String, serde_json::Value>,
    finish_reason: ExactJson,
}

#[derive(Serialize)]
struct Embedding {
    object: &'static str,
    index: u32,
    embedding: Vec<f32>,
}

impl Batch {
    /// # Errors
    /// When the outputs are files, which the format cannot hold.
    pub(super) fn begin(to: Pending, trial: &Trial) -> Result<Self, ProofError> {
        if let OutputSpec::File { .. } = trial.project.output {
            return Err(ProofError::NoSuchTable { what: "files", format: "OpenAI Batch results" });
        }
        let (model, completion) = match &trial.project.engine {
            EngineConfig::OpenAi(server) => (server.model.clone(), server.task == ServerTask::Completion),
            _ => (trial.engine.name.clone(), false),
        };
        Ok(Self { to, trial: trial.name.clone(), model, completion, passed: passed(trial) })
    }

    fn body(&self, output: &Output) -> Body {
        let nothing = BTreeMap::new();
        let (text, made_with) = match output {
            Output::Text { text, made_with } => (text.clone(), made_with),
            Output::Json { value, made_with } => (value.as_str().to_owned(), made_with),
            Output::Category { category, .. } => (category.clone(), &nothing),
            Output::Vector { values, .. } => {
                let one = Embedding { object: "embedding", index: 0, embedding: values.clone() };
                return Body::Embedded { object: "list", model: (*self.model).into(), data: [one] };
            }
            Output::VectorAt { .. } | Output::FileMade { .. } | Output::File { .. } => {
                (String::new(), &nothing)
            }
        };
        let told = |name: &str| made_with.get(name).cloned();
        let said = if self.completion {
            json!({ "text": text })
        } else {
            json!({ "message": { "role": "assistant", "content": text } })
        };
        let said = said.as_object().cloned().unwrap_or_default();
        Body::Generated {
            object: if self.completion { "text_completion" } else { "chat.completion" },
            model: told("model").unwrap_or_else(|| (*self.model).into()),
            choices: [Choice {
                index: 0,
                said,
                finish_reason: told("finish_reason").unwrap_or_else(|| "stop".into()),
            }],
            usage: told("usage"),
            system_fingerprint: told("system_fingerprint"),
        }
    }
}

impl Rows for Batch {
    fn row(&mut self, item: &Item, told: &Told<'_>) -> std::io::Result<()> {
        // No identifiers of a server were kept; these name trial and place, and are the same whenever they are written.
        let id = format!("{}-{}", self.trial, item.position);
        let (response, error) = match told {
            Told::Accepted(output) => {
                (Some(Response { status_code: 200, request_id: id.clone(), body: self.body(output) }), None)
            }
            Told::Refused(refusal) => {
                let facts: Vec<String> =
                    refusal.facts.iter().map(|(name, fact)| format!("{name}: {fact}")).collect();
                let code = refusal.reason.code().to_owned();
                let message = if facts.is_empty() { code.clone() } else { facts.join("; ") };
                (None, Some(Error { code, message }))
            }
        };
        let columns =
            self.passed.iter().filter_map(|name| Some((name.as_str(), item.columns.get(name)?))).collect();
        let custom_id = item.id.as_ref().map(pilote_spec::ItemId::as_str);
        let json = serde_json::to_vec(&Line { id, custom_id, response, error, columns })?;
        line(&mut self.to, &json)
    }

    fn finish(self: Box<Self>) -> std::io::Result<Pending> {
        Ok(self.to)
    }
}
