//! Bodies of requests, and what the bodies of replies mean.

use std::collections::BTreeMap;

use pilote_spec::{Columns, ExactJson, OpenAi, Output, OutputSpec, Reason, Refusal, ServerTask, WorkReason};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Answer;
use crate::places::{column, filled};

/// One question to a server: what is set into the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fill<'a> {
    /// The item's text.
    pub(super) text: &'a str,
    /// Its identifier; empty where it has none.
    pub(super) id: &'a str,
    /// Its columns; one that its row lacks is filled with nothing.
    pub(super) columns: &'a Columns,
}

impl Fill<'_> {
    /// `template` with this set in.
    fn into(&self, template: &str) -> String {
        filled(template, |name| match name {
            "text" => Some(self.text.into()),
            "id" => Some(self.id.into()),
            other => column(self.columns, other),
        })
    }
}

/// Endings of a text that are the server's fault and no item's.
const BROKEN_OFF: [&str; 3] = ["abort", "error", "cancelled"];

/// Path of a task below an endpoint.
pub(super) fn path(task: ServerTask) -> &'static str {
    match task {
        ServerTask::Chat => "chat/completions",
        ServerTask::Completion => "completions",
        ServerTask::Embedding => "embeddings",
    }
}

/// The body that asks for one text.
pub(super) fn generation(config: &OpenAi, output: &OutputSpec, fill: &Fill<'_>) -> Value {
    let mut body: Map<String, Value> = config.parameters.clone().into_iter().collect();
    body.insert("model".to_owned(), config.model.clone().into());
    if config.task == ServerTask::Chat {
        let messages: Vec<Value> = if config.prompt.is_empty() {
            vec![json!({ "role": "user", "content": fill.text })]
        } else {
            let filled = |message: &pilote_spec::Message| json!({ "role": message.role, "content": fill.into(&message.content) });
            config.prompt.iter().map(filled).collect()
        };
        body.insert("messages".to_owned(), messages.into());
    } else {
        let prompt =
            config.prompt.first().map_or_else(|| fill.text.to_owned(), |one| fill.into(&one.content));
        body.insert("prompt".to_owned(), prompt.into());
    }
    if let OutputSpec::Json { schema } = output {
        let schema = json!({ "name": "output", "strict": true, "schema": schema });
        body.entry("response_format")
            .or_insert_with(|| json!({ "type": "json_schema", "json_schema": schema }));
    }
    Value::Object(body)
}

/// The body that asks for the vectors of `texts`.
pub(super) fn embedding(config: &OpenAi, texts: &[&str]) -> Value {
    let mut body: Map<String, Value> = config.parameters.clone().into_iter().collect();
    body.insert("model".to_owned(), config.model.clone().into());
    body.insert("input".to_owned(), texts.into());
    Value::Object(body)
}

/// The key of a body that holds what is asked about.
fn asks_about(task: ServerTask) -> &'static str {
    match task {
        ServerTask::Chat => "messages",
        ServerTask::Completion => "prompt",
        ServerTask::Embedding => "input",
    }
}

/// Why a body that comes with an item cannot be sent; none where it can.
pub(super) fn fault(task: ServerTask, body: &str) -> Option<String> {
    let key = asks_about(task);
    let asked = match serde_json::from_str::<Map<String, Value>>(body) {
        Ok(asked) => asked,
        Err(error) => return Some(format!("the body is no JSON object: {error}")),
    };
    let several = |name: &str| asked.get(name).and_then(Value::as_u64).is_some_and(|count| count > 1);
    if !asked.contains_key(key) {
        Some(format!("the body has no `{key}`, which {} needs", path(task)))
    } else if asked.get("stream") == Some(&Value::Bool(true)) {
        Some("the body asks for a stream; a result is read whole".to_owned())
    } else if several("n") || several("best_of") {
        Some("the body asks for several answers; an item has one".to_owned())
    } else {
        None
    }
}

/// The longest value of a parameter that is recorded with an output, in bytes.
const PARAMETER_MAX: usize = 256;

/// The parameters in a body that comes with an item: single values, without what is asked about.
pub(super) fn parameters(body: &str) -> BTreeMap<String, ExactJson> {
    let named: BTreeMap<String, ExactJson> = serde_json::from_str(body).unwrap_or_default();
    let is_single = |value: &ExactJson| !value.as_str().starts_with(['{', '[']);
    named
        .into_iter()
        .filter(|(name, value)| {
            !["messages", "prompt", "input", "model"].contains(&name.as_str())
                && is_single(value)
                && value.as_str().len() <= PARAMETER_MAX
        })
        .collect()
}

#[derive(Deserialize)]
struct Generated {
    #[serde(default)]
    choices: Vec<Choice>,
    model: Option<String>,
    usage: Option<Value>,
    system_fingerprint: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<ChoiceMessage>,
    text: Option<String>,
    finish_reason: Option<String>,
    logprobs: Option<LogProbs>,
}

/// Logarithms of the probabilities of the generated tokens, as a chat and as a completion give them.
#[derive(Deserialize)]
struct LogProbs {
    content: Option<Vec<TokenLogProb>>,
    token_logprobs: Option<Vec<Option<f64>>>,
}

#[derive(Deserialize)]
struct TokenLogProb {
    logprob: Option<f64>,
}

impl LogProbs {
    /// The probability of the whole text: the product over its tokens; none where one of them is not told.
    fn probability(&self) -> Option<f32> {
        let tokens: Vec<Option<f64>> = match (&self.content, &self.token_logprobs) {
            (Some(content), _) => content.iter().map(|token| token.logprob).collect(),
            (None, Some(tokens)) => tokens.clone(),
            (None, None) => return None,
        };
        let sum = tokens.iter().copied().sum::<Option<f64>>().filter(|_| !tokens.is_empty())?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a probability needs no more digits than f32 has"
        )]
        let probability = sum.exp() as f32;
        (0.0..=1.0).contains(&probability).then_some(probability)
    }
}

#[derive(Deserialize)]
struct ChoiceMessage {
    content: Option<String>,
    refusal: Option<String>,
}

/// The answer in a reply to [`generation`], with the parameters that were sent.
///
/// # Errors
/// What is wrong with the reply, where it is none of the interface: an attempt failed, no item is at fault.
pub(super) fn read_generation(
    parameters: BTreeMap<String, ExactJson>,
    output: &OutputSpec,
    body: &[u8],
) -> Result<Answer, String> {
    let reply: Generated = serde_json::from_slice(body)
        .map_err(|error| format!("the reply is none of the interface: {error}"))?;
    if let Some(error) = reply.error {
        return Err(format!("the server answered 200 with an error inside: {error}"));
    }
    let [choice] = <[Choice; 1]>::try_from(reply.choices)
        .map_err(|choices| format!("the reply has {} choices, and one was asked for", choices.len()))?;
    let mut made_with = parameters;
    let finish = choice.finish_reason.unwrap_or_default();
    if BROKEN_OFF.contains(&finish.as_str()) {
        return Err(format!("the server broke off: its finish_reason is {finish}"));
    }
    made_with.insert("finish_reason".to_owned(), finish.as_str().into());
    let model = reply.model.map(Value::from);
    let told = [
        ("model", model),
        ("usage", reply.usage.clone()),
        ("system_fingerprint", reply.system_fingerprint.map(Value::from)),
    ];
    made_with.extend(told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
    let (text, declined) = match (choice.message, choice.text) {
        (Some(message), _) => (message.content.unwrap_or_default(), message.refusal),
        (None, Some(text)) => (text, None),
        (None, None) => return Err("the reply's choice has neither message nor text".to_owned()),
    };
    let tokens = reply.usage.as_ref().and_then(|usage| usage.get("completion_tokens")).map(Value::to_string);
    let score = choice.logprobs.and_then(|logprobs| logprobs.probability());
    Ok(match judged(output, text, declined, &finish, tokens, made_with) {
        Answer::Output(Output::Category { category, others, cut_at_tokens, .. }) => {
            Answer::Output(Output::Category { category, score, others, cut_at_tokens })
        }
        answer => answer,
    })
}

/// The answer that a text with this ending is. A text that was cut is never an output, whatever it looks like.
fn judged(
    output: &OutputSpec,
    text: String,
    declined: Option<String>,
    finish: &str,
    tokens: Option<String>,
    made_with: BTreeMap<String, ExactJson>,
) -> Answer {
    let refusal = |reason| Refusal::new(Reason::Work(reason));
    match finish {
        "length" => {
            let refusal = refusal(WorkReason::OutputCut);
            return Answer::Refused(match tokens {
                Some(tokens) => refusal.with("seen", format!("{tokens} tokens")),
                None => refusal,
            });
        }
        "content_filter" => return Answer::Refused(refusal(WorkReason::Filtered)),
        _ => {}
    }
    if let Some(declined) = declined.filter(|words| !words.is_empty()) {
        return Answer::Refused(refusal(WorkReason::Filtered).with("detail", declined));
    }
    if text.trim().is_empty() {
        return Answer::Refused(refusal(WorkReason::EmptyOutput));
    }
    match output {
        OutputSpec::Json { .. } => match ExactJson::read(&text) {
            Ok(value) => Answer::Output(Output::Json { value, made_with }),
            Err(error) => Answer::Refused(refusal(WorkReason::InvalidOutput).with("detail", error)),
        },
        OutputSpec::Category { .. } => {
            // A generated label has a score only where the server tells its probability.
            let (category, others) = (text.trim().to_owned(), Vec::new());
            Answer::Output(Output::Category { category, score: None, others, cut_at_tokens: None })
        }
        _ => Answer::Output(Output::Text { text, made_with }),
    }
}

#[derive(Deserialize)]
struct Embedded {
    data: Vec<EmbeddedOne>,
}

#[derive(Deserialize)]
struct EmbeddedOne {
    index: Option<usize>,
    embedding: Vec<Option<f32>>,
}

/// The vectors in a reply to [`embedding`] of `count` texts, by the index that the server gives, never by order; a
/// text without a vector has none. A component that is null is NaN here, and refused as not finite later.
///
/// # Errors
/// What is wrong with the reply. One without indexes is wrong where more than one text was sent.
pub(super) fn read_embedding(count: usize, body: &[u8]) -> Result<Vec<Option<Output>>, String> {
    let reply: Embedded = serde_json::from_slice(body)
        .map_err(|error| format!("the reply is none of the interface: {error}"))?;
    let mut vectors: Vec<Option<Output>> = (0..count).map(|_| None).collect();
    for one in reply.data {
        let index = match one.index {
            Some(index) => index,
            None if count == 1 => 0,
            None => return Err("the server gives no index with its vectors".to_owned()),
        };
        let place = vectors
            .get_mut(index)
            .ok_or_else(|| format!("the server answers for text {index} of {count}"))?;
        if place.is_some() {
            return Err(format!("the server answers twice for text {index}"));
        }
        let values = one.embedding.into_iter().map(|value| value.unwrap_or(f32::NAN)).collect();
        *place = Some(Output::Vector { values, cut_at_tokens: None });
    }
    Ok(vectors)
}
