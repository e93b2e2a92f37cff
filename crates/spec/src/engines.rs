//! Parameters of the engines that are programs of the user's own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A worker process: started once, asked batch by batch (`docs/worker-protocol.md`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Program and arguments, never a shell line. A program that names a path is taken relative to the project.
    pub command: Vec<String>,
    /// What the worker gets to know in its greeting, as it stands here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Variables of the worker's environment, beside `PATH`, `HOME`, `LANG` and what the device needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Names of variables that are handed on from the environment of `pilote`, secrets included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Items of one batch, the most that is computed again after a crash.
    #[serde(default = "default_batch_items")]
    pub batch_items: u32,
    /// Seconds from the start to the greeting, signs of life included.
    #[serde(default = "default_setup_seconds")]
    pub setup_seconds_max: u32,
    /// Seconds without an answer before the worker counts as hung.
    #[serde(default = "default_silence_seconds")]
    pub silence_seconds_max: u32,
    /// Bytes of one line of the conversation; a longer text is handed over as a file.
    #[serde(default = "default_line_bytes")]
    pub line_bytes_max: u32,
}

pub(crate) fn default_batch_items() -> u32 {
    64
}

pub(crate) fn default_setup_seconds() -> u32 {
    600
}

pub(crate) fn default_silence_seconds() -> u32 {
    600
}

pub(crate) fn default_line_bytes() -> u32 {
    16 * 1024 * 1024
}

/// A server that speaks the OpenAI interface: vLLM, SGLang, TEI, a llama.cpp server and others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAi {
    /// Base addresses up to and without the last `/`, for example `http://127.0.0.1:8000/v1`. Several are balanced.
    pub endpoints: Vec<String>,
    /// What is asked of it.
    pub task: ServerTask,
    /// The model's name as the server knows it.
    pub model: String,
    /// The messages of a chat, or the one prompt of a completion, with `{text}` and `{id}` set in.
    /// None sends the text itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt: Vec<Message>,
    /// Generation parameters, sent as they stand and recorded with every output (`temperature`, `max_tokens`,
    /// `seed` ...).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Name of the environment variable that holds the access key; never the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Requests under way at once, over all endpoints.
    #[serde(default = "default_concurrency")]
    pub concurrency: u32,
    /// Attempts of one item; being told to slow down costs none.
    #[serde(default = "default_attempts")]
    pub attempts_max: u32,
    /// Seconds for one request, first byte to last.
    #[serde(default = "default_request_seconds")]
    pub request_seconds_max: u32,
    /// Seconds that every endpoint may be down before the trial stops with its items pending.
    #[serde(default = "default_down_seconds")]
    pub down_seconds_max: u32,
    /// Seconds from the first request for an item to its answer, every wait and attempt included, before the trial stops
    /// with its items pending.
    #[serde(default = "default_item_seconds")]
    pub item_seconds_max: u32,
    /// Seconds that requests under way get when the trial is to stop; their items stay pending after it.
    #[serde(default = "default_stop_seconds")]
    pub stop_seconds_max: u32,
    /// Bytes of text of one request; a longer item is refused as `too-long`.
    #[serde(default = "default_request_bytes")]
    pub request_bytes_max: u64,
    /// Items of one batch, the most that is computed again after a crash.
    #[serde(default = "default_batch_items")]
    pub batch_items: u32,
    /// How to start the server, where Pilote is to do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<ServerLaunch>,
}

/// What a server is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServerTask {
    /// `chat/completions`.
    Chat,
    /// `completions`.
    Completion,
    /// `embeddings`.
    Embedding,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// `system`, `user` or `assistant`; a completion has one message, whose role is not sent.
    pub role: String,
    /// Its text, with places to fill.
    pub content: String,
}

/// A server that Pilote starts, waits for and stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerLaunch {
    /// Program and arguments, never a shell line.
    pub command: Vec<String>,
    /// Variables of its environment, beside those that every child gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Names of variables that are handed on from the environment of `pilote`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Devices that it alone is to see, by index or by the driver's identifier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// Address that answers 200 once the server is ready; otherwise `models` below the first endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Seconds from the start until it is ready.
    #[serde(default = "default_setup_seconds")]
    pub ready_seconds_max: u32,
}

/// A program that is run once for each item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandPerItem {
    /// Program and arguments, never a shell line, with places to fill: `{id}`, `{input}` (a file), `{output}` (the
    /// file to write), `{text}`, `{number}` (of a range) and `{device}`.
    pub command: Vec<String>,
    /// Program and arguments, run once before the first item: whether everything that the items need is there. It must
    /// end with status 0; the last line that it prints which is a JSON object (`device`, `version` and others) is kept
    /// with the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<String>,
    /// Programs at once; none takes one a device, or one a processor where no device is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Devices, one program at once on each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// Variables of its environment, beside those that every child gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Names of variables that are handed on from the environment of `pilote`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Seconds until one of them is ended.
    #[serde(default = "default_request_seconds")]
    pub seconds_max: u32,
    /// Bytes of address space of one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes_max: Option<u64>,
    /// Items of one batch, the most that is computed again after a crash.
    #[serde(default = "default_batch_items")]
    pub batch_items: u32,
}

pub(crate) fn default_concurrency() -> u32 {
    8
}

pub(crate) fn default_attempts() -> u32 {
    3
}

pub(crate) fn default_request_seconds() -> u32 {
    600
}

pub(crate) fn default_down_seconds() -> u32 {
    300
}

pub(crate) fn default_item_seconds() -> u32 {
    3600
}

pub(crate) fn default_stop_seconds() -> u32 {
    10
}

pub(crate) fn default_request_bytes() -> u64 {
    32 * 1024 * 1024
}
