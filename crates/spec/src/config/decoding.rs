//! The tools of decoding: a table with its known keys, typed values, and the faults as they gather.

use super::fault::{ConfigCode, ConfigError};
use super::{KEYS, PROJECT_FORMAT, find};
use crate::json::{Entry, Mark, Node, Value, kind_of, visible};
use crate::project::{Duplicates, Mode};
use crate::{EngineConfig, Inputs, OutputSpec, Project, ServerTask, Task};

/// Gathers faults while the values are decoded; a decoder that gives none has said why.
#[derive(Default)]
pub(super) struct Decoder {
    errors: Vec<ConfigError>,
}

/// A value with the keys that lead to it.
#[derive(Clone)]
pub(super) struct Field<'n> {
    pub(super) node: &'n Node,
    pub(super) path: String,
}

/// An object whose keys were checked.
pub(super) struct Table<'n> {
    entries: &'n [Entry],
    at: Mark,
    path: String,
}

impl<'n> Table<'n> {
    /// The value of a key; the first where it stands twice, which is a fault of its own.
    pub(super) fn field(&self, key: &str) -> Option<Field<'n>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(Field { node: &entry.node, path: joined(&self.path, key) })
    }

    /// The place of a key, else that of the object.
    pub(super) fn place(&self, key: &str) -> Mark {
        self.entries.iter().find(|entry| entry.key == key).map_or(self.at, |entry| entry.at)
    }

    /// The path of a key, whether it is there or not.
    pub(super) fn path(&self, key: &str) -> String {
        joined(&self.path, key)
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl Decoder {
    /// The faults in the order of the file.
    pub(super) fn into_errors(mut self) -> Vec<ConfigError> {
        self.errors.sort_by_key(|error| (error.line, error.column));
        self.errors
    }

    /// Adds a fault at a place that is not the value itself: a key, or the object that lacks one.
    pub(super) fn report(
        &mut self,
        code: ConfigCode,
        at: Mark,
        key: &str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.errors.push(ConfigError::new(code, at, key, problem, advice));
    }

    /// Reports a value that cannot be; always none, so that a decoder can end with it.
    pub(super) fn wrong<T>(
        &mut self,
        field: &Field<'_>,
        problem: impl Into<String>,
        advice: &str,
    ) -> Option<T> {
        self.report(ConfigCode::WrongValue, field.node.at, &field.path, problem, advice);
        None
    }

    /// Reports a value of another type. Its kind is named and never its content, which may be a secret.
    fn wrong_type<T>(&mut self, field: &Field<'_>, expected: &str) -> Option<T> {
        let problem = format!("{expected} is expected and {} stands here", kind_of(&field.node.value));
        let advice = match (expected, &field.node.value) {
            (_, Value::Null) => "write a value, or leave the key out where it may be absent".to_owned(),
            ("a whole number" | "a number", Value::Text(_)) => "write it without quotes".to_owned(),
            ("an object", _) => "write it between { and }".to_owned(),
            ("a list", _) => "write it between [ and ]".to_owned(),
            ("a text", Value::Number(_)) => "write it between double quotes".to_owned(),
            _ => format!("write {expected}"),
        };
        self.report(ConfigCode::WrongType, field.node.at, &field.path, problem, advice);
        None
    }

    /// Whether the file is a table of the format that this program reads; anything else is its only fault.
    pub(super) fn format(&mut self, root: &Node) -> bool {
        let root_field = Field { node: root, path: String::new() };
        if !matches!(root.value, Value::Table(_)) {
            self.wrong_type::<()>(&root_field, "an object");
            return false;
        }
        let write = format!("write \"format\": \"{PROJECT_FORMAT}\"");
        match find(root, &["format"]).map(|node| (node, &node.value)) {
            Some((_, Value::Text(format))) if format == PROJECT_FORMAT => return true,
            Some((node, Value::Text(format))) => {
                let shown: String = format.chars().take(40).collect();
                let newer =
                    format.strip_prefix("pilote.project/").and_then(|version| version.parse::<u32>().ok());
                let advice = match newer {
                    Some(version) if version > 1 => {
                        "update pilote, or ask for the project in version 1".to_owned()
                    }
                    _ => write,
                };
                let problem = format!("this program reads {PROJECT_FORMAT} and not `{}`", visible(&shown));
                self.report(ConfigCode::Format, node.at, "format", problem, advice);
            }
            Some((node, _)) => {
                let field = Field { node, path: "format".to_owned() };
                self.wrong_type::<()>(&field, "a text");
            }
            None => self.report(ConfigCode::Format, root.at, "format", "the key is missing", write),
        }
        false
    }

    /// Reports every key that stands twice in its object, at any depth.
    pub(super) fn duplicates(&mut self, node: &Node, path: &str) {
        match &node.value {
            Value::Table(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    let key = joined(path, &visible(&entry.key));
                    if let Some(first) = entries[..at].iter().find(|earlier| earlier.key == entry.key) {
                        let problem = format!("the key stands twice; the first is at line {}", first.at.line);
                        self.report(
                            ConfigCode::DuplicateKey,
                            entry.at,
                            &key,
                            problem,
                            "take one of them out",
                        );
                    }
                    self.duplicates(&entry.node, &key);
                }
            }
            Value::List(nodes) => {
                for (at, node) in nodes.iter().enumerate() {
                    self.duplicates(node, &format!("{path}[{at}]"));
                }
            }
            _ => {}
        }
    }

    /// The object under `field`, its unknown keys reported; `shape` names its row of [`KEYS`].
    pub(super) fn table<'n>(&mut self, field: &Field<'n>, shape: &str) -> Option<Table<'n>> {
        let Value::Table(entries) = &field.node.value else { return self.wrong_type(field, "an object") };
        let known = KEYS.iter().find(|(name, _)| *name == shape).map_or(&[][..], |(_, keys)| keys);
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let shown: String = entry.key.chars().take(60).collect();
                let key = joined(&field.path, &visible(&shown));
                self.report(
                    ConfigCode::UnknownKey,
                    entry.at,
                    &key,
                    "there is no such key here",
                    unknown_advice(&entry.key, known),
                );
            }
        }
        Some(Table { entries, at: field.node.at, path: field.path.clone() })
    }

    /// The value of a key that must be there; `example` is what a message proposes to add.
    pub(super) fn required<'n, T>(
        &mut self,
        table: &Table<'n>,
        key: &str,
        example: &str,
        read: impl FnOnce(&mut Self, &Field<'n>) -> Option<T>,
    ) -> Option<T> {
        if let Some(field) = table.field(key) {
            return read(self, &field);
        }
        let advice = format!("add \"{key}\": {example}");
        self.report(ConfigCode::MissingKey, table.at, &table.path(key), "the key is missing", advice);
        None
    }

    /// The value of a key that may be absent or null, in two layers: none where it is there and wrong.
    pub(super) fn optional<'n, T>(
        &mut self,
        table: &Table<'n>,
        key: &str,
        read: impl FnOnce(&mut Self, &Field<'n>) -> Option<T>,
    ) -> Option<Option<T>> {
        match table.field(key) {
            None => Some(None),
            Some(field) if field.node.value == Value::Null => Some(None),
            Some(field) => read(self, &field).map(Some),
        }
    }

    /// The value of a key, or the default where it is absent.
    pub(super) fn defaulted<'n, T>(
        &mut self,
        table: &Table<'n>,
        key: &str,
        default: T,
        read: impl FnOnce(&mut Self, &Field<'n>) -> Option<T>,
    ) -> Option<T> {
        match table.field(key) {
            None => Some(default),
            Some(field) => read(self, &field),
        }
    }

    /// Every entry of a list; none where one of them is wrong.
    pub(super) fn list<'n, T>(
        &mut self,
        field: &Field<'n>,
        mut read: impl FnMut(&mut Self, &Field<'n>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Value::List(nodes) = &field.node.value else { return self.wrong_type(field, "a list") };
        // All entries are read before one that is wrong ends the list, so that each is reported.
        let read: Vec<Option<T>> = nodes
            .iter()
            .enumerate()
            .map(|(at, node)| read(self, &Field { node, path: format!("{}[{at}]", field.path) }))
            .collect();
        read.into_iter().collect()
    }

    /// A text, empty or not, of any number of lines.
    pub(super) fn text(&mut self, field: &Field<'_>) -> Option<String> {
        match &field.node.value {
            Value::Text(text) => Some(text.clone()),
            _ => self.wrong_type(field, "a text"),
        }
    }

    /// A text of one line that says something: names, identifiers, keys of records.
    pub(super) fn name(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        if text.trim().is_empty() {
            return self.wrong(field, "the text is empty", "write a name");
        }
        if text.chars().any(char::is_control) {
            return self.wrong(field, "a control character stands in the text", "take it out");
        }
        Some(text)
    }

    /// A whole number between two bounds, both included.
    pub(super) fn count(&mut self, field: &Field<'_>, least: u64, most: u64) -> Option<u64> {
        let Value::Number(digits) = &field.node.value else {
            return self.wrong_type(field, "a whole number");
        };
        let bounds = if most == u64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
        match digits.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Some(number),
            _ if digits.contains(['.', 'e', 'E']) => {
                let problem = format!("{} is no whole number in plain digits", shortened(digits));
                self.wrong(field, problem, &format!("write digits only, {bounds}"))
            }
            _ => self.wrong(
                field,
                format!("{} is out of bounds", shortened(digits)),
                &format!("write {bounds}"),
            ),
        }
    }

    /// A whole number from 1 that 32 bits hold.
    pub(super) fn small(&mut self, field: &Field<'_>, most: u32) -> Option<u32> {
        self.count(field, 1, u64::from(most)).and_then(|number| u32::try_from(number).ok())
    }

    /// A whole number of either sign.
    pub(super) fn whole(&mut self, field: &Field<'_>) -> Option<i64> {
        let Value::Number(digits) = &field.node.value else {
            return self.wrong_type(field, "a whole number");
        };
        match digits.parse() {
            Ok(number) => Some(number),
            Err(_) => {
                let problem = format!("{} is no whole number of 64 bits", shortened(digits));
                self.wrong(field, problem, "write digits only, with a minus sign at the most")
            }
        }
    }

    /// A number between two bounds, both included.
    pub(super) fn number(&mut self, field: &Field<'_>, least: f64, most: f64) -> Option<f64> {
        let Value::Number(digits) = &field.node.value else { return self.wrong_type(field, "a number") };
        match digits.parse::<f64>() {
            Ok(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                let bounds = format!("write {least} to {most}");
                self.wrong(field, format!("{} is out of bounds", shortened(digits)), &bounds)
            }
        }
    }

    /// A word out of a fixed list.
    pub(super) fn word<T: Copy>(&mut self, field: &Field<'_>, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(field)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.unknown_word(field, &text, &known)
    }

    /// Reports a word that is not in the list, with the nearest or all of them.
    pub(super) fn unknown_word<T>(&mut self, field: &Field<'_>, text: &str, known: &[&str]) -> Option<T> {
        let shown: String = text.chars().take(40).collect();
        let advice = match nearest(text, known) {
            Some(word) => format!("did you mean `{word}`? Known here: {}", known.join(", ")),
            None => format!("write one of {}", known.join(", ")),
        };
        self.wrong(field, format!("`{}` is not known", visible(&shown)), &advice)
    }

    /// The whole project.
    pub(super) fn project(&mut self, root: &Node) -> Option<Project> {
        let table = self.table(&Field { node: root, path: String::new() }, "")?;
        let modes = [("offline", Mode::Offline), ("interactive", Mode::Interactive)];
        let twins = [("stop", Duplicates::Stop), ("refuse", Duplicates::Refuse)];
        // Every key is decoded before the first that is wrong ends the project, so that all faults are reported.
        let schema = self.optional(&table, "$schema", Self::text);
        let name = self.required(&table, "name", "\"a short name\"", Self::name);
        let purpose = self.defaulted(&table, "purpose", String::new(), Self::text);
        let mode = self.defaulted(&table, "mode", Mode::default(), |it, field| it.word(field, &modes));
        let duplicates =
            self.defaulted(&table, "duplicates", Duplicates::default(), |it, field| it.word(field, &twins));
        let pilot = self.required(&table, "pilot", "{ \"inputs\": ..., \"count\": 12 }", Self::pilot);
        let campaign = self.optional(&table, "campaign", Self::campaign);
        let limits = self.defaulted(&table, "limits", crate::Limits::default(), Self::limits);
        let output = self.required(&table, "output", "{ \"kind\": \"category\", ... }", Self::output);
        let engine = self.required(&table, "engine", "{ \"kind\": \"builtin\", ... }", Self::engine);
        let guards = self.defaulted(&table, "guards", crate::Guards::default(), Self::guards);
        let destination = self.optional(&table, "destination", Self::destination);
        let quality = self.optional(&table, "quality", Self::quality);
        let secrets = self.defaulted(&table, "secrets", Vec::new(), Self::secrets);
        let needs = self.optional(&table, "needs", Self::needs);
        if let (Some(output), Some(engine)) = (&output, &engine) {
            self.task_fits(&table, output, engine);
        }
        if let (Some(pilot), Some(campaign), Some(engine)) = (&pilot, &campaign, &engine) {
            let campaign = campaign.as_ref().map(|campaign| ("campaign", &campaign.inputs));
            for (of, inputs) in std::iter::once(("pilot", &pilot.inputs)).chain(campaign) {
                self.inputs_fit(&table, of, inputs, engine);
                self.columns_fit(&table, of, inputs, engine);
            }
        }
        if let (Some(guards), Some(output)) = (&guards, &output) {
            self.guards_fit(root, guards, output);
        }
        if let (Some(pilot), Some(duplicates)) = (&pilot, duplicates) {
            self.refusals_possible(root, pilot, duplicates);
        }
        Some(Project {
            schema: schema?,
            format: PROJECT_FORMAT.to_owned(),
            name: name?,
            purpose: purpose?,
            mode: mode?,
            pilot: pilot?,
            campaign: campaign?,
            duplicates: duplicates?,
            limits: limits?,
            output: output?,
            engine: engine?,
            guards: guards?,
            destination: destination?,
            quality: quality?,
            secrets: secrets?,
            needs: needs?,
        })
    }

    /// What the engine computes must be what the deliverable accepts.
    fn task_fits(&mut self, table: &Table<'_>, output: &OutputSpec, engine: &EngineConfig) {
        let (key, problem, advice) = match (engine, output) {
            (EngineConfig::Builtin(builtin), output) => match (builtin.task, output) {
                (Task::Classify, OutputSpec::Category { categories }) => {
                    self.categories_told_apart(table, categories);
                    return;
                }
                (Task::Embed, OutputSpec::Vector { .. }) => return,
                (task, output) => mismatch(task, output),
            },
            (EngineConfig::OpenAi(server), output) => {
                let vector = matches!(output, OutputSpec::Vector { .. });
                let file = matches!(output, OutputSpec::File { .. });
                if (server.task == ServerTask::Embedding) == vector && !file {
                    return;
                }
                let problem =
                    format!("the server's task gives no {}, which `output` declares", output.kind());
                let advice =
                    "`embedding` gives a vector; `chat` and `completion` give a text, json or category";
                ("task", problem, advice.to_owned())
            }
            (EngineConfig::Command(_), OutputSpec::Vector { .. }) => {
                let problem = "a command gives a file, a text, json or a category, and no vector".to_owned();
                ("kind", problem, "use the kind `worker` for vectors".to_owned())
            }
            (EngineConfig::Worker(_), OutputSpec::File { .. }) => {
                let problem = "a worker's answer is no file".to_owned();
                ("kind", problem, "use the kind `command` for files".to_owned())
            }
            (EngineConfig::Worker(_) | EngineConfig::Command(_), _) => return,
        };
        let at = table.field("engine").and_then(|field| find(field.node, &[key]).map(|node| node.at));
        let at = at.unwrap_or_else(|| table.place("engine"));
        self.report(ConfigCode::WrongValue, at, &format!("engine.{key}"), problem, advice);
    }

    /// What the inputs hold must be what the engine takes.
    fn inputs_fit(&mut self, table: &Table<'_>, of: &str, inputs: &Inputs, engine: &EngineConfig) {
        let numbered = |command: &crate::CommandPerItem| {
            command.command.iter().any(|argument| argument.contains("{number}"))
        };
        let (problem, advice) = match (inputs, engine) {
            (Inputs::Files { .. } | Inputs::Range { .. }, EngineConfig::Builtin(_)) => (
                "the built-in engine takes texts",
                "declare `directory` or `jsonl`, or another kind of engine",
            ),
            (Inputs::Files { .. }, EngineConfig::OpenAi(_)) => {
                ("a server is asked about texts, and no file is sent to it", "declare `directory` or `jsonl`")
            }
            (Inputs::Range { .. }, _) => return,
            (_, EngineConfig::Command(command)) if numbered(command) => {
                ("the command has a place {number}, and these inputs have none", "declare a `range`")
            }
            _ => return,
        };
        self.report_inputs(table, of, problem, advice);
    }

    fn report_inputs(&mut self, table: &Table<'_>, of: &str, problem: impl Into<String>, advice: &str) {
        let Some(field) = table.field(of) else { return };
        let at = find(field.node, &["inputs"]).map_or(field.node.at, |node| node.at);
        self.report(ConfigCode::WrongValue, at, &format!("{of}.inputs"), problem, advice);
    }

    /// Every column that a template names must be one that the inputs hand over.
    fn columns_fit(&mut self, table: &Table<'_>, of: &str, inputs: &Inputs, engine: &EngineConfig) {
        let templates: Vec<&str> = match engine {
            EngineConfig::OpenAi(server) => server.prompt.iter().map(|message| &*message.content).collect(),
            EngineConfig::Command(command) => command.command.iter().map(String::as_str).collect(),
            EngineConfig::Builtin(_) | EngineConfig::Worker(_) => return,
        };
        let named = templates.iter().flat_map(|template| template.split("{column.").skip(1));
        for (name, _) in named.filter_map(|rest| rest.split_once('}')) {
            if !inputs.columns().is_some_and(|columns| columns.contains_key(name)) {
                let problem =
                    format!("the engine asks for {{column.{}}}, and there is no such column", visible(name));
                let advice = "name it under `columns` of inputs that have rows";
                self.report_inputs(table, of, problem, advice);
                return;
            }
        }
    }

    /// Zero-shot classification knows a category only by what is said of it.
    fn categories_told_apart(&mut self, table: &Table<'_>, categories: &[crate::Category]) {
        let Some(field) = table.field("output") else { return };
        let Some(Value::List(nodes)) = find(field.node, &["categories"]).map(|node| &node.value) else {
            return;
        };
        for (at, (category, node)) in categories.iter().zip(nodes).enumerate() {
            if category.description.is_empty() && category.examples.is_empty() {
                let path = format!("output.categories[{at}]");
                let problem = "a category to classify into has neither description nor examples";
                let advice = "say in a sentence what belongs in it, under `description`";
                self.report(ConfigCode::MissingKey, node.at, &path, problem, advice);
            }
        }
    }
}

/// What is said where the built-in engine's task gives something else than declared.
fn mismatch(task: Task, output: &OutputSpec) -> (&'static str, String, String) {
    let (task, kind) = match task {
        Task::Classify => ("classify", "category"),
        Task::Embed => ("embed", "vector"),
    };
    let problem = format!("the task `{task}` gives a {kind} and `output` declares a {}", output.kind());
    let other = match output {
        OutputSpec::Category { .. } => "write \"task\": \"classify\"",
        OutputSpec::Vector { .. } => "write \"task\": \"embed\"",
        _ => "choose another kind of engine",
    };
    ("task", problem, format!("{other}, or declare \"kind\": \"{kind}\" in `output`"))
}

/// What to do about a key that is not known here.
fn unknown_advice(key: &str, known: &[&str]) -> String {
    let lower = key.to_lowercase();
    // `tokens` is a limit and no access; everything else that sounds like a key gets the rule on secrets.
    if ["token", "password", "passwd", "secret", "apikey", "api_key", "api-key", "credential"]
        .iter()
        .any(|access| lower.contains(access))
        && !lower.contains("tokens")
    {
        return "access is never in the project: take it out, and name the variable that holds it under `secrets`"
            .to_owned();
    }
    // A slip of the finger is more likely than a key in the wrong place.
    if let Some(near) = nearest(key, known) {
        return format!("did you mean `{near}`?");
    }
    let mut homes: Vec<String> =
        KEYS.iter().filter(|(_, keys)| keys.contains(&key)).map(|(home, _)| home_of(home)).collect();
    if homes.len() > 2 {
        // A key of every kind of engine is told of once.
        homes = KEYS
            .iter()
            .filter(|(_, keys)| keys.contains(&key))
            .map(|(home, _)| format!("`{}`", home.split('.').next().unwrap_or_default()))
            .collect();
        homes.dedup();
    }
    match homes.as_slice() {
        [] => format!("known here: {}", known.join(", ")),
        homes => format!("it belongs in {}", homes.join(" or ")),
    }
}

/// A row of [`KEYS`] as people find it in the file.
fn home_of(shape: &str) -> String {
    match shape.split_once('.') {
        None if shape.is_empty() => "the outermost object".to_owned(),
        None => format!("`{shape}`"),
        Some((object, kind)) => format!("an `{object}` of the kind `{kind}`"),
    }
}

/// The known word that `text` was probably meant to be.
pub(super) fn nearest<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let text = text.to_lowercase().replace('-', "_");
    let likeness = |word: &str| strsim::normalized_damerau_levenshtein(&text, &word.replace('-', "_"));
    known
        .iter()
        .map(|word| (likeness(word), *word))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

/// Digits as they stand, cut where somebody wrote a page of them.
fn shortened(digits: &str) -> String {
    digits.chars().take(40).collect()
}
