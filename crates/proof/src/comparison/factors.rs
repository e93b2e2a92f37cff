//! Which recorded factors of two trials differ: every leaf of what they recorded of themselves is of one factor.

use std::collections::BTreeMap;

use pilote_spec::{Trial, TrialKind};
use serde::Serialize;
use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN_CHARS: usize = 200;

/// A factor that may change results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactorCode {
    /// Which items there are, their content, and how it is read.
    Inputs,
    /// What is accepted: output, limits, duplicates, counts.
    Configuration,
    /// Parameters of the engine, sizes of batches among them.
    Parameters,
    /// The model, to the byte where its files were recorded.
    Model,
    /// The tokenizer's files.
    Tokenizer,
    /// `pilote` and the project's own code.
    Program,
    /// The engine and its version.
    Engine,
    /// The precision that is computed in.
    Precision,
    /// Processor or card, its driver, and which very machine.
    Device,
    /// System, packages, variables.
    Environment,
    /// Seeds of random numbers.
    Seeds,
}

impl FactorCode {
    /// Every factor, in reading order.
    pub const ALL: [Self; 11] = [
        Self::Inputs,
        Self::Configuration,
        Self::Parameters,
        Self::Model,
        Self::Tokenizer,
        Self::Program,
        Self::Engine,
        Self::Precision,
        Self::Device,
        Self::Environment,
        Self::Seeds,
    ];

    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Configuration => "configuration",
            Self::Parameters => "parameters",
            Self::Model => "model",
            Self::Tokenizer => "tokenizer",
            Self::Program => "program",
            Self::Engine => "engine",
            Self::Precision => "precision",
            Self::Device => "device",
            Self::Environment => "environment",
            Self::Seeds => "seeds",
        }
    }
}

/// How a factor of two trials compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactorState {
    /// What was recorded of it is the same.
    Same,
    /// Something recorded of it differs.
    Differs,
    /// Nothing was recorded of it by one of the two, so it may differ.
    NotRecorded,
}

/// A recorded field that differs; a value is absent where that trial has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FieldChange {
    /// The field: of `trial.json`, with dots between names.
    pub field: String,
    /// Its value in A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Its value in B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

impl std::fmt::Display for FieldChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
        write!(f, "{}: {} -> {}", self.field, value(&self.a), value(&self.b))
    }
}

/// A factor of two trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Factor {
    /// Which one.
    pub factor: FactorCode,
    /// How it compares.
    pub state: FactorState,
    /// What differs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// What one of the two did not record of it, in stable codes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_recorded: Vec<&'static str>,
}

/// The factors of two trials, all of them, in reading order; the contents of the items are not looked at here.
#[must_use]
pub fn factors(a: &Trial, b: &Trial) -> Vec<Factor> {
    let (of_a, of_b) = (leaves(a), leaves(b));
    let mut changes: BTreeMap<FactorCode, Vec<FieldChange>> = BTreeMap::new();
    let mut names: Vec<&String> = of_a.keys().chain(of_b.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (left, right) = (of_a.get(name), of_b.get(name));
        if left == right {
            continue;
        }
        // The section of a kind of trial says what the inputs are; the two may be of different kinds.
        if let Some(factor) = factor_of(name, a, b) {
            let change = FieldChange { field: name.clone(), a: left.map(shown), b: right.map(shown) };
            changes.entry(factor).or_default().push(change);
        }
    }
    let mut factors: Vec<Factor> = FactorCode::ALL
        .into_iter()
        .map(|factor| {
            let changes = changes.remove(&factor).unwrap_or_default();
            let mut not_recorded = unrecorded(factor, a, &of_a);
            not_recorded.extend(unrecorded(factor, b, &of_b));
            not_recorded.sort_unstable();
            not_recorded.dedup();
            let nothing = not_recorded.contains(&NOTHING);
            let state = match (changes.is_empty(), nothing) {
                (false, _) => FactorState::Differs,
                (true, true) => FactorState::NotRecorded,
                (true, false) => FactorState::Same,
            };
            let not_recorded = not_recorded.into_iter().filter(|what| *what != NOTHING).collect();
            Factor { factor, state, changes, not_recorded }
        })
        .collect();
    for factor in &mut factors {
        told_once(&mut factor.changes);
    }
    factors
}

/// Stands for a factor of which nothing at all was recorded.
const NOTHING: &str = "";

/// The leaves of what a trial recorded, by path. Inputs are under `inputs` whatever the kind of trial.
fn leaves(trial: &Trial) -> BTreeMap<String, Value> {
    let mut value = serde_json::to_value(trial).unwrap_or_default();
    let own = match trial.kind {
        TrialKind::Pilot => "pilot",
        TrialKind::Campaign => "campaign",
    };
    if let Some(project) = value.get_mut("project").and_then(Value::as_object_mut) {
        let section = project.remove(own);
        project.remove("pilot");
        project.remove("campaign");
        project.insert("own".to_owned(), section.unwrap_or_default());
    }
    let mut found = BTreeMap::new();
    walk("", value, &mut found);
    found
}

fn walk(path: &str, value: Value, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let below = if path.is_empty() { name } else { format!("{path}.{name}") };
                walk(&below, value, into);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            for (at, value) in values.into_iter().enumerate() {
                walk(&format!("{path}.{at}"), value, into);
            }
        }
        leaf => {
            into.insert(path.to_owned(), leaf);
        }
    }
}

/// Fields of a project's engine that change no outcome: how long is waited, how much is asked at once.
const PATIENCE: [&str; 8] = [
    "attempts_max",
    "request_seconds_max",
    "down_seconds_max",
    "setup_seconds_max",
    "silence_seconds_max",
    "seconds_max",
    "line_bytes_max",
    "ready_seconds_max",
];

/// The factor that a field belongs to; none for one that cannot change results, or that another field tells.
fn factor_of(field: &str, a: &Trial, b: &Trial) -> Option<FactorCode> {
    use FactorCode as F;
    if field.rsplit('.').next() == Some("seed") {
        return Some(F::Seeds);
    }
    let (head, rest) = field.split_once('.').unwrap_or((field, ""));
    match head {
        "project" => of_project(rest),
        "engine" => of_engine(rest, a, b),
        "machine" => Some(match rest {
            "system" | "kernel" => F::Environment,
            _ => F::Device,
        }),
        "program" => Some(F::Program),
        "environment" => Some(match rest {
            "machine" => F::Device,
            "sources" => F::Program,
            _ => F::Environment,
        }),
        "part_items" => Some(F::Parameters),
        // Names, times, links, and what the resolved project tells better.
        _ => None,
    }
}

fn of_project(field: &str) -> Option<FactorCode> {
    use FactorCode as F;
    let (head, rest) = field.split_once('.').unwrap_or((field, ""));
    match head {
        "own" if rest.starts_with("inputs.") => Some(F::Inputs),
        "own" if rest == "digests" || rest == "refused_max" => None,
        "own" | "output" | "limits" | "duplicates" | "mode" => Some(F::Configuration),
        "engine" => {
            let (name, _) = rest.split_once('.').unwrap_or((rest, ""));
            match name {
                "kind" | "launch" | "endpoints" => Some(F::Engine),
                "command" => Some(F::Program),
                // A reference may change while the files stay; digests are declared and then read.
                "model" | "sha256" => None,
                "environment" | "pass" => Some(F::Environment),
                "devices" => Some(F::Device),
                "key" => None,
                name if PATIENCE.contains(&name) => None,
                _ => Some(F::Parameters),
            }
        }
        _ => None,
    }
}

fn of_engine(field: &str, a: &Trial, b: &Trial) -> Option<FactorCode> {
    use FactorCode as F;
    let (head, rest) = field.split_once('.').unwrap_or((field, ""));
    match head {
        "device" => Some(F::Device),
        "precision" => Some(F::Precision),
        "longest_tokens" => Some(F::Parameters),
        "model" => match rest.strip_prefix("files.") {
            Some(file) if is_of_tokenizer(file) => Some(F::Tokenizer),
            Some(_) => Some(F::Model),
            // The reference counts only where no file was recorded that tells more.
            None if rest == "reference" && !(has_files(a) && has_files(b)) => Some(F::Model),
            None => None,
        },
        "parameters" => match rest {
            "model" => Some(F::Model),
            "command" | "endpoints" => None,
            _ if rest.starts_with("program.") => Some(F::Program),
            _ if rest.starts_with("prompt.") || rest.starts_with("launch.") => None,
            "dtype" | "precision" | "quantization" => Some(F::Precision),
            _ => Some(F::Parameters),
        },
        _ => Some(F::Engine),
    }
}

fn has_files(trial: &Trial) -> bool {
    trial.engine.model.as_ref().is_some_and(|model| !model.files.is_empty())
}

/// Whether a model's file decides how a text becomes tokens.
fn is_of_tokenizer(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.contains("tokenizer")
        || name.contains("sentencepiece")
        || matches!(
            name,
            "vocab.txt" | "vocab.json" | "merges.txt" | "spiece.model" | "special_tokens_map.json"
        )
}

/// A parameter that the configuration names and the engine repeats is told once, as the configuration names it.
fn told_once(changes: &mut Vec<FieldChange>) {
    let declared: Vec<String> = changes
        .iter()
        .filter_map(|change| change.field.strip_prefix("project.engine."))
        .map(|name| name.strip_prefix("parameters.").unwrap_or(name).to_owned())
        .collect();
    changes.retain(|change| {
        let Some(name) = change.field.strip_prefix("engine.parameters.") else { return true };
        !declared.iter().any(|declared| declared == name.strip_prefix("declared.").unwrap_or(name))
    });
}

/// What a trial did not record of a factor; [`NOTHING`] among it where that leaves nothing to go by.
fn unrecorded(factor: FactorCode, trial: &Trial, leaves: &BTreeMap<String, Value>) -> Vec<&'static str> {
    let unknown = |text: &str| text.is_empty() || text == "unknown";
    let environment = trial.environment.as_ref();
    let lacking: &[(bool, &'static str)] = match factor {
        FactorCode::Inputs | FactorCode::Configuration | FactorCode::Parameters => &[],
        FactorCode::Model => {
            let named = trial.engine.model.is_some() || leaves.contains_key("engine.parameters.model");
            &[(!has_files(trial), "model-digests"), (!named, NOTHING)]
        }
        FactorCode::Tokenizer => {
            let model = trial.engine.model.as_ref();
            let known = model.is_some_and(|model| model.files.keys().any(|file| is_of_tokenizer(file)));
            &[(!known, NOTHING)]
        }
        FactorCode::Program => {
            &[(trial.program.digest.is_none(), "program-digest"), (environment.is_none(), "sources")]
        }
        FactorCode::Engine => &[(unknown(&trial.engine.version), "engine-version")],
        FactorCode::Precision => &[(unknown(&trial.engine.precision), NOTHING)],
        FactorCode::Device => {
            let card = trial.engine.device != "cpu" && trial.machine.cards.is_empty();
            &[(card, "card"), (environment.is_none_or(|it| it.machine.is_none()), "machine")]
        }
        FactorCode::Environment => &[
            (environment.is_none(), "packages"),
            (environment.is_none(), "variables"),
            (environment.is_none() && trial.machine.system.is_none(), NOTHING),
        ],
        FactorCode::Seeds => {
            // The built-in engine computes without chance, so it has no seed to record.
            let seed = |leaf: &String| leaf.rsplit('.').next() == Some("seed");
            &[(trial.engine.kind != "builtin" && !leaves.keys().any(seed), NOTHING)]
        }
    };
    lacking.iter().filter(|(lacks, _)| *lacks).map(|(_, what)| *what).collect()
}

/// A value as it is shown: text as it stands, anything else as JSON, cut where it is long.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        // A number that came from single precision is shown without the digits that double precision adds.
        Value::Number(number) if number.is_f64() => {
            #[expect(clippy::cast_possible_truncation, reason = "compared with what it was before")]
            let single = number.as_f64().unwrap_or_default() as f32;
            if number.as_f64() == Some(f64::from(single)) { single.to_string() } else { number.to_string() }
        }
        other => other.to_string(),
    };
    if text.chars().count() <= SHOWN_CHARS {
        return text;
    }
    text.chars().take(SHOWN_CHARS).chain("…".chars()).collect()
}
