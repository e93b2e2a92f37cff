//! What changed between the launch of a trial and now, field by field, as far as it changes results.

use std::fmt;

use pilote_spec::{EngineFacts, Project, TrialKind};
use serde_json::Value;

/// A field that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// The field, with dots between names: `engine.margin`.
    pub field: String,
    /// Its value at the launch, as JSON; `none` where it was absent.
    pub then: String,
    /// Its value now, likewise.
    pub now: String,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was {} and is {}", self.field, self.then, self.now)
    }
}

/// Fields of a project that change no outcome and no verdict: names for people, where copies go, how much of the
/// machine is used. `campaign.refused_max` is among them, since raising it is how a stopped campaign goes on; the
/// verdict keeps to the share that was declared at the launch.
const HARMLESS: [&str; 20] = [
    "$schema",
    "quality",
    "name",
    "purpose",
    "destination",
    "secrets",
    "guards",
    "needs",
    "engine.threads",
    "engine.slots",
    "engine.devices",
    "engine.concurrency",
    "engine.endpoints",
    "engine.attempts_max",
    "engine.request_seconds_max",
    "engine.down_seconds_max",
    "engine.setup_seconds_max",
    "engine.silence_seconds_max",
    "engine.seconds_max",
    "campaign.refused_max",
];

/// Facts of an engine that change no outcome: by which of several references the same files came and their licence,
/// where it answers, and which of the machine's devices it was given.
const HARMLESS_FACTS: [&str; 4] =
    ["model.reference", "model.licence", "parameters.endpoints", "parameters.launch.devices"];

/// What changed of a project, the section of the other kind of trial left out.
pub(crate) fn project(then: &Project, now: &Project, kind: TrialKind) -> Vec<Drift> {
    let other = match kind {
        TrialKind::Pilot => "campaign",
        TrialKind::Campaign => "pilot",
    };
    let ignored = |field: &str| HARMLESS.contains(&field) || field == other;
    between(serde_json::to_value(then), serde_json::to_value(now), &ignored)
}

/// Fields of declared inputs that say where they are and how many, and not how they are read.
const PLACES: [&str; 9] = [
    "count",
    "inputs.directory",
    "inputs.jsonl",
    "inputs.csv",
    "inputs.parquet",
    "inputs.openai_batch",
    "inputs.files",
    "inputs.range",
    "digests",
];

/// What changed of a project beside its corpus, which may have grown.
pub(crate) fn project_beside_corpus(then: &Project, now: &Project, kind: TrialKind) -> Vec<Drift> {
    let section = match kind {
        TrialKind::Pilot => "pilot.",
        TrialKind::Campaign => "campaign.",
    };
    let mut changes = project(then, now, kind);
    changes.retain(|change| {
        !change.field.strip_prefix(section).is_some_and(|field| {
            PLACES.contains(&field) || field.starts_with("inputs.range.") || field == "expected_refusals"
        })
    });
    changes
}

/// What changed of an engine.
pub(crate) fn engine(then: &EngineFacts, now: &EngineFacts) -> Vec<Drift> {
    let ignored = |field: &str| HARMLESS_FACTS.contains(&field);
    let mut changes = between(serde_json::to_value(then), serde_json::to_value(now), &ignored);
    for change in &mut changes {
        change.field = format!("engine facts: {}", change.field);
    }
    changes
}

fn between(
    then: serde_json::Result<Value>,
    now: serde_json::Result<Value>,
    ignored: &dyn Fn(&str) -> bool,
) -> Vec<Drift> {
    let mut changes = Vec::new();
    // Both are plain data with text keys, which always become JSON.
    if let (Ok(then), Ok(now)) = (then, now) {
        compare("", Some(&then), Some(&now), ignored, &mut changes);
    }
    changes
}

fn compare(
    field: &str,
    then: Option<&Value>,
    now: Option<&Value>,
    ignored: &dyn Fn(&str) -> bool,
    changes: &mut Vec<Drift>,
) {
    if then == now || ignored(field) {
        return;
    }
    if let (Some(Value::Object(then)), Some(Value::Object(now))) = (then, now) {
        let mut names: Vec<&String> = then.keys().chain(now.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let below = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
            compare(&below, then.get(name), now.get(name), ignored, changes);
        }
        return;
    }
    changes.push(Drift { field: field.to_owned(), then: shown(then), now: shown(now) });
}

/// A value as JSON, cut where it is too long for a sentence.
fn shown(value: Option<&Value>) -> String {
    const CHARS: usize = 120;
    let text = match value {
        None => "none".to_owned(),
        Some(Value::Number(number)) => written(number),
        Some(value) => value.to_string(),
    };
    if text.chars().count() <= CHARS {
        return text;
    }
    text.chars().take(CHARS).chain("...".chars()).collect()
}

/// A number as it was written: one that came from single precision without the digits that double precision adds.
fn written(number: &serde_json::Number) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "compared with what it was before")]
    let single = number.as_f64().map(|double| double as f32);
    match single {
        Some(single) if number.is_f64() && number.as_f64() == Some(f64::from(single)) => single.to_string(),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn a_project(change: &[(&str, Value)]) -> Project {
        let mut value = serde_json::json!({
            "format": "pilote.project/1", "name": "n",
            "pilot": {"inputs": {"directory": "data/pilote"}, "count": 12},
            "campaign": {"inputs": {"directory": "data/corpus"}, "count": 1000, "refused_max": 0.1},
            "output": {"kind": "vector", "width": 384},
            "engine": {"kind": "builtin", "task": "embed", "model": ["path:m"], "batch_items": 64}
        });
        for (pointer, new) in change {
            *value.pointer_mut(pointer).unwrap() = new.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    fn fields(changes: &[Drift]) -> Vec<&str> {
        changes.iter().map(|change| change.field.as_str()).collect()
    }

    #[test]
    fn a_changed_parameter_is_named_with_both_values() {
        let now = a_project(&[("/engine/batch_items", 32.into()), ("/output/width", 768.into())]);
        let changes = project(&a_project(&[]), &now, TrialKind::Pilot);
        assert_eq!(fields(&changes), ["engine.batch_items", "output.width"]);
        assert_eq!(changes[0].to_string(), "`engine.batch_items` was 64 and is 32");
    }

    #[test]
    fn names_for_people_and_the_other_kind_of_trial_may_change() {
        let now = a_project(&[("/name", "other".into()), ("/campaign/count", 7.into())]);
        assert!(project(&a_project(&[]), &now, TrialKind::Pilot).is_empty());
        assert_eq!(fields(&project(&a_project(&[]), &now, TrialKind::Campaign)), ["campaign.count"]);
    }

    #[test]
    fn a_number_is_shown_as_it_was_written() {
        let now = a_project(&[("/engine/batch_items", 32.into()), ("/campaign/count", 1.into())]);
        let mut then = a_project(&[]);
        let pilote_spec::EngineConfig::Builtin(builtin) = &mut then.engine else { unreachable!() };
        builtin.margin = 0.07;
        let changes = project(&then, &now, TrialKind::Pilot);
        assert_eq!(changes[1].to_string(), "`engine.margin` was 0.07 and is 0.02");
    }

    #[test]
    fn the_share_of_refusals_may_be_raised_to_go_on() {
        let now = a_project(&[("/campaign/refused_max", 0.5.into())]);
        assert!(project(&a_project(&[]), &now, TrialKind::Campaign).is_empty());
    }

    #[test]
    fn another_engine_is_named_by_what_differs() {
        let facts = |device: &str, parameter: &str| EngineFacts {
            kind: "builtin".into(),
            name: "n".into(),
            version: "1".into(),
            device: device.into(),
            precision: "f32".into(),
            model: None,
            longest_tokens: None,
            parameters: BTreeMap::from([("pooling".into(), parameter.into())]),
        };
        let changes = engine(&facts("cpu", "mean"), &facts("cuda:0", "cls"));
        assert_eq!(fields(&changes), ["engine facts: device", "engine facts: parameters.pooling"]);
    }
}
