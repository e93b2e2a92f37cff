//! Lays out a finished trial for the benchmarks of copies: `bench_trial files DIR COUNT BYTES` has COUNT outcomes with a
//! file of BYTES bytes each, `bench_trial rows DIR COUNT` has COUNT categories and nothing beside the records.
//!
//! DIR becomes a project with one trial below `runs/`, made through the index and the ledger as a conductor makes it.
//! Prints the path of the trial.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_corpus::index::{self, Closing, PartEntry};
use pilote_ledger::{DirStore, Ledger, Nonce, Opened, Owner, PartWriter, ProcessLiveness, Record};
use pilote_spec::{
    Digest, EngineFacts, EventLine, Item, ItemId, Location, MachineFacts, Outcome, Output, Position,
    ProgramFacts, Project, Stamp, TRIAL_FORMAT, Trial, TrialEvent, TrialKind,
};
use pilote_text::{Lang, Texts};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

const NAME: &str = "2026-11-30T181502Z-campaign";

/// Items of one part, as the conductor makes them.
const PART: u64 = 16_384;

/// Files of one part, so that there are several parts.
const PART_OF_FILES: u64 = 100;

const CATEGORIES: [&str; 3] = ["invoice", "complaint", "minutes"];

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (bytes, dir, count) = match words[..] {
        ["files", dir, count, bytes] => (Some(bytes.parse()?), PathBuf::from(dir), count.parse()?),
        ["rows", dir, count] => (None, PathBuf::from(dir), count.parse()?),
        _ => return Err("bench_trial files DIR COUNT BYTES, or bench_trial rows DIR COUNT".into()),
    };
    let trial = lay_out(&dir, count, bytes)?;
    pilote_proof::collect(&trial)?;
    // Every finished trial has its report; an export would make one first.
    let html = pilote_proof::report(&trial, Some(&dir), None, &Texts::new(Lang::En))?;
    pilote_proof::write_report(&trial.join("report.html"), &html)?;
    writeln!(std::io::stdout(), "{}", trial.display())?;
    Ok(())
}

fn lay_out(dir: &Path, count: u64, bytes: Option<u64>) -> Result<PathBuf, Failure> {
    let trial = dir.join("runs").join(NAME);
    std::fs::create_dir_all(&trial)?;
    std::fs::create_dir_all(dir.join("config"))?;
    let config = config(count, bytes.is_some()).to_string();
    std::fs::write(dir.join("config/pilote.json"), &config)?;
    let project =
        Project::parse(config.as_bytes(), "config/pilote.json").map_err(|errors| errors.to_string())?;
    let each = if bytes.is_some() { PART_OF_FILES } else { PART };
    let launched = launched(project.project, Digest::of(config.as_bytes()), each);
    std::fs::write(trial.join("trial.json"), serde_json::to_vec_pretty(&launched)?)?;
    let owner =
        Owner { nonce: Nonce(7), host: "h".into(), boot: "b".into(), pid: 1, started: 1, pid_namespace: 1 };
    let liveness = Arc::new(ProcessLiveness::new(owner.clone()));
    let ledger = Ledger::new(Arc::new(DirStore::open(&trial)?), owner, liveness);
    let mut closing = Closing { items: count, ..Closing::default() };
    std::fs::create_dir_all(trial.join("index"))?;
    for (number, first) in (1..).zip((0..count).step_by(usize::try_from(each)?)) {
        let items: Vec<Item> = (first..count.min(first + each)).map(item).collect();
        let part = index::encode_part(&items);
        closing.parts.push(PartEntry::of(number, Position(first), items.len() as u64, &part));
        std::fs::write(trial.join(index::part_key(number)), part)?;
        let Opened::Writer(mut writer) = ledger.open_part(number)? else {
            return Err("a part is sealed already; name an empty folder".into());
        };
        let records = items.iter().map(|item| record(item, bytes, &mut writer));
        let records = records.collect::<Result<Vec<_>, Failure>>()?;
        writer.append(&records)?;
        writer.commit()?;
        writer.seal()?;
    }
    std::fs::write(trial.join(index::CLOSED_KEY), closing.encode())?;
    let started = TrialEvent::Started {
        wall: launched.started,
        resumed: false,
        carried_over: 0,
        carried_refused: 0,
        process: None,
    };
    let ended = TrialEvent::Ended { why: "done".into(), stray_answers: 0 };
    let lines = [started, ended].map(|event| serde_json::to_string(&EventLine { at_us: 0, event }));
    let lines = lines.into_iter().collect::<Result<Vec<_>, _>>()?;
    std::fs::create_dir_all(trial.join("events"))?;
    std::fs::write(trial.join("events/1.jsonl"), lines.join("\n") + "\n")?;
    Ok(trial)
}

fn config(count: u64, files: bool) -> serde_json::Value {
    let inputs = json!({ "range": { "first": 1, "last": count } });
    let output = if files {
        json!({ "kind": "file", "extension": "bin" })
    } else {
        json!({ "kind": "category", "categories": CATEGORIES.map(|name| json!({ "name": name })) })
    };
    let engine = if files {
        json!({ "kind": "command", "command": ["make", "{output}"] })
    } else {
        json!({ "kind": "worker", "command": ["python3", "src/worker.py"] })
    };
    json!({
        "format": "pilote.project/1",
        "name": "a trial of a benchmark",
        "pilot": { "inputs": { "range": { "first": 1, "last": 12 } }, "count": 12 },
        "campaign": { "inputs": inputs, "count": count, "refused_max": 0.0 },
        "output": output,
        "engine": engine,
    })
}

fn launched(project: Project, config: Digest, part_items: u64) -> Trial {
    Trial {
        format: TRIAL_FORMAT.into(),
        name: NAME.into(),
        kind: TrialKind::Campaign,
        started: Stamp(1_796_062_502_000),
        project,
        config,
        limit: None,
        part_items,
        batch_items: 32,
        engine: EngineFacts {
            kind: "benchmark".into(),
            name: "made up".into(),
            version: "1".into(),
            device: "none".into(),
            precision: "none".into(),
            model: None,
            longest_tokens: None,
            parameters: BTreeMap::new(),
        },
        machine: MachineFacts::default(),
        program: ProgramFacts { version: env!("CARGO_PKG_VERSION").into(), digest: None },
        environment: None,
        retries: None,
        since: None,
    }
}

fn item(position: u64) -> Item {
    let id = format!("{}", position + 1);
    Item {
        position: Position(position),
        digest: Some(Digest::of(id.as_bytes())),
        bytes: id.len() as u64,
        chars: id.len() as u64,
        location: Location::Number { number: i64::try_from(position + 1).unwrap_or(i64::MAX) },
        columns: BTreeMap::default(),
        fault: None,
        id: Some(ItemId(id)),
    }
}

fn record(item: &Item, bytes: Option<u64>, writer: &mut PartWriter) -> Result<Record, Failure> {
    let output = match bytes {
        Some(bytes) => {
            let name = format!("{:06}.bin", item.position.0);
            let stored = writer.put_payload(&name, &mut Noise { state: item.position.0 + 1, left: bytes })?;
            Output::File { payload: stored.name, digest: stored.sha256, bytes: stored.bytes }
        }
        None => {
            let at = usize::try_from(item.position.0)?;
            let category = |step: usize| CATEGORIES[(at + step) % CATEGORIES.len()].to_owned();
            let others = vec![(category(1), 0.313), (category(2), 0.2)];
            Output::Category { category: category(0), score: Some(0.52), others, cut_at_tokens: None }
        }
    };
    let (position, id, sha256) = (item.position, item.id.clone(), item.digest);
    Ok(Record { position, id, sha256, attempt: 1, outcome: Outcome::Accepted(output) })
}

/// Bytes that no compression shortens, the same in every run.
struct Noise {
    state: u64,
    left: u64,
}

impl Read for Noise {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for bytes in buffer[..length].chunks_mut(8) {
            // xorshift64, which is enough for bytes that mean nothing.
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            bytes.copy_from_slice(&self.state.to_le_bytes()[..bytes.len()]);
        }
        self.left -= length as u64;
        Ok(length)
    }
}
