//! `ro-crate-metadata.json`: the copy described for programs that never heard of Pilote, as RO-Crate 1.2 with the
//! profile Process Run Crate. It is about what is there and how it came about, and nothing is counted from it.

use jiff::Timestamp;
use pilote_spec::{Stamp, Trial, TrialEvent, TrialKind};
use serde_json::{Value, json};

use crate::bag::PAYLOAD;
use crate::collection::BalanceFile;
use crate::contents::Content;
use crate::journal::Journal;

/// Name of the description inside the payload, which is the root of the crate.
pub(crate) const DESCRIPTION: &str = "ro-crate-metadata.json";

/// The specification that the description follows.
const SPECIFICATION: &str = "https://w3id.org/ro/crate/1.2";

/// The profile: a process that was run, with what it took and what came out.
const PROFILE: &str = "https://w3id.org/ro/wfrun/process/0.5";

/// Files that a reader looks for first: name, format and what they are.
const FILES: [(&str, &str, &str); 12] = [
    ("results.jsonl", "application/jsonl", "Accepted outcomes, in the order of the inputs"),
    ("refused.jsonl", "application/jsonl", "Refused outcomes with their reasons, in the order of the inputs"),
    (
        "balance.json",
        "application/json",
        "The account over all items, the criteria, and digests of what they rest on",
    ),
    ("trial.json", "application/json", "What was launched: deliverable, parameters, engine, model, machine"),
    ("report.html", "text/html", "The trial for people to read"),
    ("decision.json", "application/json", "What was decided on this trial, and why"),
    ("sample.jsonl", "application/jsonl", "Texts of a few inputs, short, usual and long ones"),
    ("lookup.bin", "application/octet-stream", "The way from an identifier to its position"),
    ("pins.sha256", "text/plain", "Fixed digests of the inputs"),
    ("inputs.sha256", "text/plain", "Digests of the input files at the launch"),
    ("project/config/pilote.json", "application/json", "The configuration, byte for byte"),
    ("project/requirements-rebuild.txt", "text/plain", "The dependencies of the project"),
];

/// Folders of a copy and what they hold.
const FOLDERS: [(&str, &str); 8] = [
    ("index", "One record for each declared item: position, identifier, digest, length, location"),
    ("parts", "The log of outcomes, part by part, each sealed"),
    ("payloads", "Outputs that do not fit a record"),
    ("events", "What happened, writer by writer"),
    ("measures", "What each batch cost"),
    ("aside", "Bytes that a crash or a takeover left, kept and not counted"),
    ("inputs", "The inputs"),
    ("decisions", "What was decided on this trial, and why"),
];

/// The description of a copy with these contents.
pub(crate) fn describe(
    trial: &Trial,
    balance: Option<&BalanceFile>,
    journal: &Journal,
    contents: &[Content],
) -> Result<Vec<u8>, serde_json::Error> {
    let started = time(trial.started);
    let ended = time(journal.ended().unwrap_or(trial.started));
    let (files, mut parts) = files(contents);
    let folders = folders(contents);
    parts.extend(folders.iter().filter_map(|folder| folder.get("@id").cloned()));
    let references: Vec<Value> = parts.into_iter().map(|id| json!({ "@id": id })).collect();
    let mut graph = vec![
        json!({
            "@id": DESCRIPTION, "@type": "CreativeWork", "about": { "@id": "./" },
            "conformsTo": { "@id": SPECIFICATION },
        }),
        json!({
            "@id": "./", "@type": "Dataset", "name": format!("{}: {}", trial.project.name, trial.name),
            "description": summary(trial, balance), "datePublished": ended, "license": { "@id": "#licence" },
            "conformsTo": { "@id": PROFILE }, "hasPart": references, "mentions": [{ "@id": "#trial" }],
            "identifier": trial.name,
        }),
        json!({ "@id": PROFILE, "@type": ["CreativeWork", "Profile"], "name": "Process Run Crate", "version": "0.5" }),
        json!({
            "@id": "#licence", "@type": "CreativeWork", "name": "No licence is stated",
            "description": "Whoever made this copy says who may use the inputs and the results.",
        }),
        action(trial, balance, &files, (&started, &ended)),
        json!({
            "@id": "#engine", "@type": "SoftwareApplication", "name": trial.engine.name,
            "version": trial.engine.version, "url": format!("urn:pilote:engine:{}", trial.engine.kind),
            "description": format!("engine {} on {}, {}", trial.engine.kind, trial.engine.device, trial.engine.precision),
        }),
    ];
    graph.extend(model(trial));
    graph.extend(files);
    graph.extend(folders);
    let crated = json!({ "@context": format!("{SPECIFICATION}/context"), "@graph": graph });
    let mut bytes = serde_json::to_vec_pretty(&crated)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn time(stamp: Stamp) -> String {
    let milliseconds = i64::try_from(stamp.0).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

fn summary(trial: &Trial, balance: Option<&BalanceFile>) -> String {
    let kind = match trial.kind {
        TrialKind::Pilot => "Pilot",
        TrialKind::Campaign => "Campaign",
    };
    match balance.map(|written| &written.balance) {
        Some(balance) => format!(
            "{kind}: {} items declared, {} accepted, {} refused, {} pending; the criteria {}.",
            balance.declared,
            balance.accepted,
            balance.refused,
            balance.pending,
            if balance.holds { "hold" } else { "do not hold" },
        ),
        None => format!("{kind} that was not finished when it was copied."),
    }
}

/// The run itself: what it was made with, what it took, what came out.
fn action(
    trial: &Trial,
    balance: Option<&BalanceFile>,
    files: &[Value],
    (started, ended): (&str, &str),
) -> Value {
    let there = |name: &str| files.iter().any(|file| file["@id"] == name);
    let named = |names: &[&str]| -> Vec<Value> {
        names.iter().filter(|name| there(name)).map(|name| json!({ "@id": name })).collect()
    };
    let mut object = named(&["project/config/pilote.json", "sample.jsonl"]);
    object.push(json!({ "@id": "index/" }));
    object.extend(trial.engine.model.as_ref().map(|_| json!({ "@id": "#model" })));
    let mut result = named(&["results.jsonl", "refused.jsonl", "balance.json"]);
    if result.is_empty() {
        result.push(json!({ "@id": "parts/" }));
    }
    let status = if balance.is_some() { "CompletedActionStatus" } else { "FailedActionStatus" };
    json!({
        "@id": "#trial", "@type": "CreateAction", "name": trial.name, "description": summary(trial, balance),
        "startTime": started, "endTime": ended, "instrument": { "@id": "#engine" }, "object": object,
        "result": result, "actionStatus": { "@id": format!("http://schema.org/{status}") },
    })
}

/// The model by reference and digests: with these, whoever has the same files has the same model.
fn model(trial: &Trial) -> Option<Value> {
    let model = trial.engine.model.as_ref()?;
    let files: Vec<String> =
        model.files.iter().map(|(name, digest)| format!("{name} sha256:{digest}")).collect();
    let mut entity = json!({
        "@id": "#model", "@type": "CreativeWork", "name": model.reference, "identifier": model.reference,
        "description": format!("The model, by the digests of its files: {}", files.join(", ")),
    });
    if let (Some(licence), Value::Object(entity)) = (&model.licence, &mut entity) {
        entity.insert("license".to_owned(), Value::String(licence.clone()));
    }
    Some(entity)
}

/// The files that are described one by one, and their identifiers.
fn files(contents: &[Content]) -> (Vec<Value>, Vec<Value>) {
    let described = |content: &Content| {
        let name = content.path.strip_prefix(PAYLOAD)?;
        let (_, format, about) = FILES.iter().find(|(known, ..)| *known == name)?;
        Some(json!({
            "@id": name, "@type": "File", "name": name, "description": about, "encodingFormat": format,
            "contentSize": content.bytes().to_string(),
        }))
    };
    let files: Vec<Value> = contents.iter().filter_map(described).collect();
    let ids = files.iter().filter_map(|file| file.get("@id").cloned()).collect();
    (files, ids)
}

fn folders(contents: &[Content]) -> Vec<Value> {
    let folder = |(name, about): &(&str, &str)| {
        let below = format!("{PAYLOAD}{name}/");
        contents.iter().any(|content| content.path.starts_with(&below)).then(
            || json!({ "@id": format!("{name}/"), "@type": "Dataset", "name": name, "description": about }),
        )
    };
    FOLDERS.iter().filter_map(folder).collect()
}

impl Journal {
    /// When the last writer noted something for the last time: the wall clock of its start and the time since.
    pub(crate) fn ended(&self) -> Option<Stamp> {
        let last = |lines: &[pilote_spec::EventLine]| {
            let began = lines.iter().find_map(|line| match line.event {
                TrialEvent::Started { wall, .. } => Some(wall.0),
                _ => None,
            })?;
            let since = lines.last().map_or(0, |line| line.at_us / 1_000);
            Some(Stamp(began + since))
        };
        self.events.iter().filter_map(|writer| last(&writer.lines)).max()
    }
}
