//! `engine` of the kinds that are programs of the user's own: a worker, a server, a command per item.

use std::collections::BTreeMap;

use super::decoding::{Decoder, Field, Table, nearest};
use super::fault::ConfigCode;
use super::place::is_home;
use crate::engines::{
    default_attempts, default_batch_items, default_concurrency, default_down_seconds, default_item_seconds,
    default_line_bytes, default_request_bytes, default_request_seconds, default_setup_seconds,
    default_silence_seconds, default_stop_seconds,
};
use crate::json::{Value, visible};
use crate::{CommandPerItem, Message, OpenAi, ServerLaunch, ServerTask, Worker};

/// Bounds that no use reaches, so that a slip of the finger is told from a wish.
const BATCH_ITEMS_MAX: u32 = 1 << 20;
const SECONDS_MAX: u32 = 30 * 24 * 3600;
const CONCURRENCY_MAX: u32 = 4096;
const ATTEMPTS_MAX: u32 = 100;
const LINE_BYTES_MIN: u64 = 4096;
const LINE_BYTES_MAX: u64 = 1 << 30;
const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// Places that a command per item may have.
const PLACES: [&str; 6] = ["id", "input", "output", "text", "number", "device"];

impl Decoder {
    /// A worker process.
    pub(super) fn worker(&mut self, table: &Table<'_>) -> Option<Worker> {
        let command = self.required(table, "command", "[\"python3\", \"src/worker.py\"]", Self::argv);
        let parameters = self.defaulted(table, "parameters", BTreeMap::new(), Self::values);
        let environment = self.defaulted(table, "environment", BTreeMap::new(), Self::environment);
        let pass = self.defaulted(table, "pass", Vec::new(), Self::secrets);
        let batch_items = self.batch_items(table);
        let setup = self.seconds(table, "setup_seconds_max", default_setup_seconds());
        let silence = self.seconds(table, "silence_seconds_max", default_silence_seconds());
        let line_bytes_max = self.defaulted(table, "line_bytes_max", default_line_bytes(), |it, field| {
            it.count(field, LINE_BYTES_MIN, LINE_BYTES_MAX).and_then(|bytes| u32::try_from(bytes).ok())
        });
        Some(Worker {
            command: command?,
            parameters: parameters?,
            environment: environment?,
            pass: pass?,
            batch_items: batch_items?,
            setup_seconds_max: setup?,
            silence_seconds_max: silence?,
            line_bytes_max: line_bytes_max?,
        })
    }

    /// A server that speaks the OpenAI interface.
    pub(super) fn server(&mut self, table: &Table<'_>) -> Option<OpenAi> {
        let tasks = [
            ("chat", ServerTask::Chat),
            ("completion", ServerTask::Completion),
            ("embedding", ServerTask::Embedding),
        ];
        let endpoints = self.required(table, "endpoints", "[\"http://127.0.0.1:8000/v1\"]", Self::endpoints);
        let task = self.required(table, "task", "\"chat\"", |it, field| it.word(field, &tasks));
        let model = self.required(table, "model", "\"the name that the server knows\"", Self::name);
        let prompt = self.defaulted(table, "prompt", Vec::new(), |it, field| it.list(field, Self::message));
        let parameters = self.defaulted(table, "parameters", BTreeMap::new(), Self::generation);
        let key = self.optional(table, "key", Self::variable);
        let concurrency = self.defaulted(table, "concurrency", default_concurrency(), |it, field| {
            it.small(field, CONCURRENCY_MAX)
        });
        let attempts = self
            .defaulted(table, "attempts_max", default_attempts(), |it, field| it.small(field, ATTEMPTS_MAX));
        let request = self.seconds(table, "request_seconds_max", default_request_seconds());
        let down = self.seconds(table, "down_seconds_max", default_down_seconds());
        let item = self.seconds(table, "item_seconds_max", default_item_seconds());
        let stop = self.seconds(table, "stop_seconds_max", default_stop_seconds());
        let bytes = self.defaulted(table, "request_bytes_max", default_request_bytes(), |it, field| {
            it.count(field, 1, REQUEST_BYTES_MAX)
        });
        let batch_items = self.batch_items(table);
        let launch = self.optional(table, "launch", Self::launch);
        if let (Some(task), Some(prompt)) = (task, &prompt) {
            self.prompt_fits(table, task, prompt);
        }
        Some(OpenAi {
            endpoints: endpoints?,
            task: task?,
            model: model?,
            prompt: prompt?,
            parameters: parameters?,
            key: key?,
            concurrency: concurrency?,
            attempts_max: attempts?,
            request_seconds_max: request?,
            down_seconds_max: down?,
            item_seconds_max: item?,
            stop_seconds_max: stop?,
            request_bytes_max: bytes?,
            batch_items: batch_items?,
            launch: launch?,
        })
    }

    /// A program that is run once for each item.
    pub(super) fn command(&mut self, table: &Table<'_>) -> Option<CommandPerItem> {
        let example = "[\"program\", \"{input}\", \"{output}\"]";
        let command = self.required(table, "command", example, |it, field| {
            let argv = it.argv(field)?;
            it.places(field, &argv)?;
            Some(argv)
        });
        let check = self.defaulted(table, "check", Vec::new(), Self::argv);
        let slots = self.optional(table, "slots", |it, field| it.small(field, CONCURRENCY_MAX));
        let devices = self.defaulted(table, "devices", Vec::new(), |it, field| it.list(field, Self::name));
        let environment = self.defaulted(table, "environment", BTreeMap::new(), Self::environment);
        let pass = self.defaulted(table, "pass", Vec::new(), Self::secrets);
        let seconds_max = self.seconds(table, "seconds_max", default_request_seconds());
        let memory = self.optional(table, "memory_bytes_max", |it, field| it.count(field, 1 << 20, u64::MAX));
        let batch_items = self.batch_items(table);
        Some(CommandPerItem {
            command: command?,
            check: check?,
            slots: slots?,
            devices: devices?,
            environment: environment?,
            pass: pass?,
            seconds_max: seconds_max?,
            memory_bytes_max: memory?,
            batch_items: batch_items?,
        })
    }

    fn launch(&mut self, field: &Field<'_>) -> Option<ServerLaunch> {
        let table = self.table(field, "launch")?;
        let example = "[\"program\", \"--port\", \"8000\"]";
        let command = self.required(&table, "command", example, Self::argv);
        let environment = self.defaulted(&table, "environment", BTreeMap::new(), Self::environment);
        let pass = self.defaulted(&table, "pass", Vec::new(), Self::secrets);
        let devices = self.defaulted(&table, "devices", Vec::new(), |it, field| it.list(field, Self::name));
        let ready = self.optional(&table, "ready", Self::address);
        let ready_seconds_max = self.seconds(&table, "ready_seconds_max", default_setup_seconds());
        Some(ServerLaunch {
            command: command?,
            environment: environment?,
            pass: pass?,
            devices: devices?,
            ready: ready?,
            ready_seconds_max: ready_seconds_max?,
        })
    }

    fn batch_items(&mut self, table: &Table<'_>) -> Option<u32> {
        self.defaulted(table, "batch_items", default_batch_items(), |it, field| {
            it.small(field, BATCH_ITEMS_MAX)
        })
    }

    fn seconds(&mut self, table: &Table<'_>, key: &str, default: u32) -> Option<u32> {
        self.defaulted(table, key, default, |it, field| it.small(field, SECONDS_MAX))
    }

    /// Program and arguments. A shell line is seen by its spaces, since no program's name has any by custom.
    pub(super) fn argv(&mut self, field: &Field<'_>) -> Option<Vec<String>> {
        let argv = self.list(field, |it, field| {
            let text = it.text(field)?;
            if text.contains('\0') {
                return it.wrong(field, "a NUL character stands in the text", "take it out");
            }
            if is_home(&text) {
                let problem = "the path leads into a home directory, which another machine does not have";
                return it.wrong(
                    field,
                    problem,
                    "write a path relative to the project, or a name on the PATH",
                );
            }
            Some(text)
        })?;
        match argv.first().map(String::as_str) {
            None | Some("") => {
                self.wrong(field, "no program is named", "write [\"program\", \"argument\", ...]")
            }
            Some(program) if argv.len() == 1 && program.contains(' ') => {
                let problem = "this looks like a line for a shell, and none is used";
                self.wrong(field, problem, "write program and arguments as texts of their own")
            }
            Some(_) => Some(argv),
        }
    }

    /// The output's place must be there, and no place may be misspelt. Other braces stand for themselves.
    fn places(&mut self, field: &Field<'_>, argv: &[String]) -> Option<()> {
        for argument in argv {
            for piece in argument.split('{').skip(1) {
                let Some((word, _)) = piece.split_once('}') else { continue };
                let misspelt = !PLACES.contains(&word) && word.bytes().all(|byte| byte.is_ascii_alphabetic());
                if let (true, Some(near)) = (misspelt, nearest(word, &PLACES)) {
                    let problem = format!("{{{}}} is no place to fill", visible(word));
                    return self.wrong(field, problem, &format!("did you mean {{{near}}}?"));
                }
            }
        }
        if argv.iter().any(|argument| argument.contains("{output}")) {
            return Some(());
        }
        let advice = "put {output} where the program takes the name of the file to write";
        self.wrong(field, "no argument names the file to write", advice)
    }

    /// Parameters that a server gets with every request. What Pilote itself says in a request is not among them, and
    /// neither is what would make of one reply several, or a stream that can end unnoticed.
    fn generation(&mut self, field: &Field<'_>) -> Option<BTreeMap<String, serde_json::Value>> {
        self.by_name(field, |it, name, value| {
            let read = it.value(value)?;
            let (problem, advice) = match (name, &read) {
                ("model" | "messages" | "prompt" | "input", _) => {
                    ("Pilote says this itself in every request", "take it out")
                }
                ("stream", serde_json::Value::Bool(true)) => {
                    ("replies are read whole: one that breaks off must be seen to", "take it out")
                }
                ("n" | "best_of", read) if *read != 1 => {
                    ("an item has one output, and this asks for several", "take it out")
                }
                _ => return Some(read),
            };
            it.wrong(value, problem, advice)
        })
    }

    /// Any JSON values by name, kept as they stand.
    pub(super) fn values(&mut self, field: &Field<'_>) -> Option<BTreeMap<String, serde_json::Value>> {
        self.by_name(field, |it, _, value| it.value(value))
    }

    /// An object with names of the user's own: each value as `read` decodes it.
    fn by_name<T>(
        &mut self,
        field: &Field<'_>,
        mut read: impl FnMut(&mut Self, &str, &Field<'_>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let Value::Table(entries) = &field.node.value else {
            self.table(field, "")?;
            return None;
        };
        entries
            .iter()
            .map(|entry| {
                let path = format!("{}.{}", field.path, visible(&entry.key));
                Some((entry.key.clone(), read(self, &entry.key, &Field { node: &entry.node, path })?))
            })
            .collect()
    }

    /// Any JSON value; a number beyond what the format's readers agree on is refused rather than rounded.
    pub(super) fn value(&mut self, field: &Field<'_>) -> Option<serde_json::Value> {
        Some(match &field.node.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Text(text) => text.clone().into(),
            Value::Number(digits) => match serde_json::from_str::<serde_json::Number>(digits) {
                Ok(number) if number.is_f64() && !digits.contains(['.', 'e', 'E']) => {
                    let problem = "the integer is beyond 64 bits, and would be rounded";
                    return self.wrong(field, problem, "write a smaller one, or a text");
                }
                Ok(number) => serde_json::Value::Number(number),
                Err(_) => return self.wrong(field, "the number is out of bounds", "write a smaller one"),
            },
            Value::List(_) => serde_json::Value::Array(self.list(field, Self::value)?),
            Value::Table(_) => serde_json::Value::Object(self.values(field)?.into_iter().collect()),
        })
    }

    /// Variables with their values.
    fn environment(&mut self, field: &Field<'_>) -> Option<BTreeMap<String, String>> {
        self.by_name(field, |it, name, value| {
            let text = it.text(value)?;
            if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
                let problem = "no variable can have this name or value";
                return it.wrong(value, problem, "write a name without `=`, and no NUL character");
            }
            Some(text)
        })
    }

    /// The name of one variable, never its value.
    fn variable(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        if super::place::is_name_of_variable(&text) {
            return Some(text);
        }
        let problem = "this is not the name of an environment variable";
        let advice = "write a name in capitals such as API_KEY; if this is the key itself, take it out and have it \
                      replaced";
        self.wrong(field, problem, advice)
    }

    fn endpoints(&mut self, field: &Field<'_>) -> Option<Vec<String>> {
        let endpoints = self.list(field, Self::address)?;
        if endpoints.is_empty() {
            return self.wrong(field, "no endpoint is named", "write [\"http://127.0.0.1:8000/v1\"]");
        }
        Some(endpoints)
    }

    /// An address over HTTP without access in it.
    fn address(&mut self, field: &Field<'_>) -> Option<String> {
        let address = self.name(field)?;
        let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
        let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.contains(' ')) else {
            let advice = "write it with http:// or https://, such as http://127.0.0.1:8000/v1";
            return self.wrong(field, "this is no address over HTTP", advice);
        };
        if rest.split('/').next().is_some_and(|host| host.contains('@')) || rest.contains(['?', '#']) {
            let advice = "take it out, and name the variable that holds the key under `key`";
            return self.wrong(field, "the address holds access or a query", advice);
        }
        Some(address)
    }

    fn message(&mut self, field: &Field<'_>) -> Option<Message> {
        let table = self.table(field, "prompt")?;
        let roles = [("system", "system"), ("user", "user"), ("assistant", "assistant")];
        let role = self.required(&table, "role", "\"user\"", |it, field| it.word(field, &roles));
        let content = self.required(&table, "content", "\"... {text}\"", Self::text);
        Some(Message { role: role?.to_owned(), content: content? })
    }

    /// A completion has one prompt and vectors have none.
    fn prompt_fits(&mut self, table: &Table<'_>, task: ServerTask, prompt: &[Message]) {
        let of_the_item =
            |message: &Message| ["{text}", "{column."].iter().any(|place| message.content.contains(place));
        let (problem, advice) = match task {
            ServerTask::Embedding if !prompt.is_empty() => {
                ("a prompt is declared, and vectors are made of the text itself", "take it out")
            }
            ServerTask::Completion if prompt.len() > 1 => {
                ("a completion has one prompt", "join the messages, or write \"task\": \"chat\"")
            }
            ServerTask::Chat | ServerTask::Completion
                if !prompt.is_empty() && !prompt.iter().any(of_the_item) =>
            {
                (
                    "no message holds the item's text, so every item would be asked the same",
                    "put {text} into one",
                )
            }
            _ => return,
        };
        self.report(ConfigCode::WrongValue, table.place("prompt"), &table.path("prompt"), problem, advice);
    }
}
