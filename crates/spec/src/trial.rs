//! What a trial records of itself: `trial.json` (format `pilote.trial/1`) and the lines of `events/` and
//! `measures/`. Written by the conductor, read by the proof, which never links it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Digest, ItemId, Position, Project, Stamp};

/// `trial.json`: what was launched. Written once, before the first batch; holds no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Always `pilote.trial/1`.
    pub format: String,
    /// The trial's name: the name of its directory.
    pub name: String,
    /// Over which inputs.
    pub kind: TrialKind,
    /// Wall clock at the start.
    pub started: Stamp,
    /// The deliverable as resolved, defaults written out.
    pub project: Project,
    /// Digest of `config/pilote.json` as read.
    pub config: Digest,
    /// Only the first items, where `--limit` asked for it; such a trial never holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Items of one part.
    pub part_items: u64,
    /// Items of one batch.
    pub batch_items: u64,
    /// What computes.
    pub engine: EngineFacts,
    /// The machine.
    pub machine: MachineFacts,
    /// Version of `pilote` and digest of its executable.
    pub program: ProgramFacts,
    /// What else of the surroundings may change results; none in a trial of a program from before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentFacts>,
    /// The trial that this one retries, and the reason retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<Retries>,
    /// The earlier trial over a smaller corpus whose outcomes are taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

impl Trial {
    /// The inputs that it runs over.
    #[must_use]
    pub fn inputs(&self) -> &crate::Inputs {
        match (self.kind, &self.project.campaign) {
            (TrialKind::Campaign, Some(campaign)) => &campaign.inputs,
            _ => &self.project.pilot.inputs,
        }
    }

    /// Whether its items are bodies of requests to a server, to be sent as they stand.
    #[must_use]
    pub fn asks_bodies(&self) -> bool {
        matches!(self.inputs(), crate::Inputs::OpenAiBatch { .. })
    }
}

/// The format that this program writes.
pub const TRIAL_FORMAT: &str = "pilote.trial/1";

/// Over which inputs a trial runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialKind {
    /// Over the pilot's items.
    Pilot,
    /// Over the corpus.
    Campaign,
}

/// The link of a retry to its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retries {
    /// Name of the trial whose refused items are retried.
    pub trial: String,
    /// The reason that was retried.
    pub reason: crate::Reason,
    /// The retried items; the others were carried over by (identifier, digest, parameters).
    pub items: Vec<ItemId>,
}

/// What a trial over a corpus that grew takes over from an earlier one. Outcomes are taken over by identifier, content
/// and parameters; everything else is computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// Name of the earlier trial.
    pub trial: String,
    /// Digest of the closing entry of its index, which names every item by its digest.
    pub index: Digest,
    /// Digest over the digests of what its seals name, a line `part entry sha256` or `part payload sha256` each: every
    /// outcome lies in them.
    pub seals: Digest,
    /// Items whose outcomes are taken over.
    pub taken_over: u64,
    /// Items that are computed.
    pub asked: u64,
    /// Items whose content changed since; they are computed.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub changed: Names,
    /// Items of the earlier trial that the corpus has no more; they are no part of this trial.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub removed: Names,
}

/// Identifiers: how many, and the first thousand by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub names: Vec<ItemId>,
}

impl Names {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Version of `pilote`.
    pub version: String,
    /// Digest of the executable; none where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// What surrounds the program and may change results. What could not be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentFacts {
    /// Digest that stands for this very machine, and says nothing else of it: two cards of one model are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Digest>,
    /// Digest of `requirements-rebuild.txt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Digest>,
    /// Digest over the files below `src/`: of each, in the order of the paths' bytes, the line that `sha256sum` writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Digest>,
    /// Variables that are known to change what libraries compute, by name. Names are a fixed list, so none is a secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// The machine as it was at the start. What could not be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Operating system and version, as it names itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Kernel release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processor model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// Processors this process may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Memory of the machine, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Cards, in the driver's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<CardFacts>,
}

/// A card as its driver shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardFacts {
    /// Model name.
    pub name: String,
    /// Unique identifier that the driver gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Memory in bytes as the driver shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Version of the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// What an engine is, as a trial records it. A difference in any field may change results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// The kind, as in the configuration.
    pub kind: String,
    /// Name of what computes.
    pub name: String,
    /// Version of it.
    pub version: String,
    /// `cpu`, `cuda:0` ...
    pub device: String,
    /// `f32`, `bf16` ...
    pub precision: String,
    /// The model, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelFacts>,
    /// The longest input in tokens, where the engine has such a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_tokens: Option<u32>,
    /// Everything else that changes results, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// Which model, to the byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The reference that was used, as declared.
    pub reference: String,
    /// Digest of each file that was used, by name.
    pub files: BTreeMap<String, Digest>,
    /// The licence as the model's own files name it, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
}

/// What was measured on one batch. A reading that was not taken is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchMeasures {
    /// Tokens of the batch without padding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Tokens that were computed, padding included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padded_tokens: Option<u64>,
    /// Tokens of the longest sequence of the batch, as it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_tokens: Option<u64>,
    /// Time that the engine itself spent on it, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_us: Option<u64>,
    /// Peak memory of the engine so far, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Memory of the engine's process before it read its model, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_bytes: Option<u64>,
    /// Memory of the engine's process when it had read its model and computed nothing yet, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_bytes: Option<u64>,
}

/// One line of `measures/W.jsonl`: a finished batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureLine {
    /// Time since the writer's start, on its monotonic clock, in microseconds.
    pub at_us: u64,
    /// The part.
    pub part: u32,
    /// The batch's number within the part, from 0.
    pub batch: u64,
    /// Items of the batch.
    pub items: u64,
    /// From handing over to the last answer, in microseconds.
    pub took_us: u64,
    /// What the engine measured.
    #[serde(flatten)]
    pub measures: BatchMeasures,
}

/// A process that writes a trial, told apart from every other one on this and other machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterProcess {
    /// The machine.
    pub host: String,
    /// The identity of this start of its kernel.
    pub boot: String,
    /// The process number, in its own namespace.
    pub pid: u32,
    /// Start of the process in clock ticks since the kernel started.
    pub started: u64,
    /// The inode of the process's namespace of process numbers.
    pub pid_namespace: u64,
    /// The devices that it was given for itself alone; empty where it was given none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
}

/// One line of `events/W.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// Time since the writer's start, on its monotonic clock, in microseconds.
    pub at_us: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: TrialEvent,
}

/// What may happen to a trial, as facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum TrialEvent {
    /// A writer began; `wall` ties its monotonic times to the calendar.
    Started {
        /// Wall clock at the origin of this writer's times.
        wall: Stamp,
        /// Whether an earlier start of the same trial is taken up.
        resumed: bool,
        /// Items that already had an outcome.
        carried_over: u64,
        /// The refused ones among them.
        #[serde(default, skip_serializing_if = "is_zero")]
        carried_refused: u64,
        /// The process that writes, so that another terminal can find it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<WriterProcess>,
    },
    /// So many outcomes are durable, earlier starts included; noted now and then for who follows.
    Progress {
        /// Accepted items.
        accepted: u64,
        /// Refused items.
        refused: u64,
    },
    /// A part was taken over from an owner that is gone.
    TakenOver {
        /// The part.
        part: u32,
        /// The earlier owner, as recorded.
        from: String,
        /// Bytes adopted of its last entry.
        adopted_bytes: u64,
        /// Bytes set aside as a torn tail.
        torn_bytes: u64,
    },
    /// A part is finished.
    Sealed {
        /// The part.
        part: u32,
        /// Accepted items.
        accepted: u64,
        /// Refused items.
        refused: u64,
    },
    /// An engine gave an answer that cannot be used.
    StrayAnswer {
        /// `unknown`, `repeated` or `late`.
        what: String,
        /// The wire identifier or other name as it came.
        wire: String,
    },
    /// The engine or something else failed; the items concerned stay pending.
    Failed {
        /// The step that was reached.
        step: String,
        /// The first error in its own words.
        first_error: String,
        /// The rung of the ladder of checks that looks at this, by its code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rung: Option<String>,
        /// The code of the recognised cause; its sentence and its advice are the messages `cause-CODE`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
        /// What to do next, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advice: Option<String>,
    },
    /// Something was noticed that changes nothing.
    Noted {
        /// A stable code (`bom-removed`, `blank-lines`, `confusable-ids` ...).
        note: String,
        /// The figure or the names.
        detail: String,
    },
    /// The writer ended.
    Ended {
        /// Why: `done`, `interrupted`, `breaker`, `refused-max`, `guard`, `fault` or `write-error`.
        why: String,
        /// The stray answers counted by this writer; they fail the balance.
        stray_answers: u64,
    },
}

impl BatchMeasures {
    /// The engine's own time.
    #[must_use]
    pub fn compute(&self) -> Option<Duration> {
        self.compute_us.map(Duration::from_micros)
    }

    /// The position-independent sum of two measures: what is absent on one side stays as the other has it.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        Self {
            tokens: sum(self.tokens, other.tokens),
            padded_tokens: sum(self.padded_tokens, other.padded_tokens),
            longest_tokens: self.longest_tokens.max(other.longest_tokens),
            compute_us: sum(self.compute_us, other.compute_us),
            peak_bytes: self.peak_bytes.max(other.peak_bytes),
            floor_bytes: self.floor_bytes.max(other.floor_bytes),
            loaded_bytes: self.loaded_bytes.max(other.loaded_bytes),
        }
    }
}

/// A line of `results.jsonl`: an accepted outcome in input order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultLine {
    /// Where the item stands.
    pub position: Position,
    /// Its identifier.
    pub id: ItemId,
    /// Its version: the digest of its content.
    pub sha256: Digest,
    /// Fields of the row that are passed through.
    #[serde(default, skip_serializing_if = "crate::Columns::is_empty")]
    pub columns: crate::Columns,
    /// What came out; vectors written out in full.
    pub output: crate::Output,
}

/// A line of `refused.jsonl`: a refused outcome in input order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLine {
    /// Where the item stands.
    pub position: Position,
    /// Its identifier, where it has one.
    pub id: Option<ItemId>,
    /// Its version, where its content could be read.
    pub sha256: Option<Digest>,
    /// Fields of the row that are passed through.
    #[serde(default, skip_serializing_if = "crate::Columns::is_empty")]
    pub columns: crate::Columns,
    /// Why.
    pub refusal: crate::Refusal,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
