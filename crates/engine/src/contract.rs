//! What every kind of engine keeps to, and the words of the conversation with it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use pilote_spec::{BatchMeasures, Columns, EngineFacts, Output, Refusal};
use serde::{Deserialize, Serialize};

/// The name of one question: an item in one attempt. Never used twice by one conductor, so an answer to an
/// earlier attempt is recognised. Written as a short text where it travels, since some languages round numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(pub u64);

impl fmt::Display for WireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.0)
    }
}

/// The name of one submitted batch, never used twice by one conductor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u64);

/// What an item hands to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Decoded and extracted text.
    Text(String),
    /// A file, opened by the engine for reading only.
    File(PathBuf),
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub wire: WireId,
    /// What it is about.
    pub content: Content,
    /// The item's identifier, for programs that name what they make by it. Answers are never matched by it.
    pub id: Option<String>,
    /// Fields of the item's row that are passed through, as declared; empty for a file.
    pub columns: Columns,
    /// The text is the body of a request to a server, as OpenAI Batch lines have it: it is sent as it stands. Engines of
    /// other kinds get it as the text that it is.
    pub body: bool,
}

impl Request {
    /// A question about a content alone.
    #[must_use]
    pub fn new(wire: WireId, content: Content) -> Self {
        Self { wire, content, id: None, columns: Columns::new(), body: false }
    }
}

/// Questions that are submitted together. The engine may group them anew inside, never across batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its name.
    pub id: BatchId,
    /// The questions; one or more.
    pub requests: Vec<Request>,
}

/// What an engine says of one question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// An output; whether it is acceptable is judged by the conductor against the deliverable.
    Output(Output),
    /// A fault of this item alone.
    Refused(Refusal),
}

/// What an engine reports, in any order. After `Finished` or `Failed` of a batch, nothing more of it is expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An answer to one question.
    Answer {
        /// Which question.
        wire: WireId,
        /// The answer.
        answer: Answer,
    },
    /// The batch is done.
    Finished {
        /// Which batch.
        batch: BatchId,
        /// What was measured meanwhile.
        measures: BatchMeasures,
    },
    /// The batch failed as a whole; its unanswered questions have no outcome.
    Failed {
        /// Which batch.
        batch: BatchId,
        /// Why.
        fault: EngineFault,
    },
    /// Something that names no question and no batch that this engine was ever handed: it is counted, and used for
    /// nothing.
    Stray {
        /// The name as it came.
        said: String,
    },
}

/// A failure of the engine, never of an item: what it concerns stays pending.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{step}: {first_error}")]
pub struct EngineFault {
    /// The step that was reached (`start`, `load model`, `compute` ...).
    pub step: String,
    /// The first error in the engine's own words.
    pub first_error: String,
    /// What to do next, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Whether the engine is gone and must be started anew before it can be asked again.
    pub ended: bool,
}

/// The step of the failure of a batch that was not begun as a whole before [`Engine::hold`].
pub const NOT_BEGUN: &str = "not begun";

/// The step of a failure that only a person can mend: access, payment, the name of a model. Starting the engine anew
/// would change nothing, so the trial stops at once.
pub const NO_ACCESS: &str = "access";

/// The step of a failure that a guard found: answers that contradict what is known, or one another. Nothing that the
/// engine says counts any more, so the trial stops at once.
pub const DISAGREES: &str = "guard";

/// How to stop an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Finish what was submitted.
    Orderly,
    /// End at once; unanswered questions have no outcome.
    Now,
}

/// Whatever computes outputs for batches of items.
pub trait Engine: Send {
    /// What it is.
    fn facts(&self) -> &EngineFacts;

    /// How many batches it takes before the first is finished; one or more.
    fn in_flight_max(&self) -> usize {
        1
    }

    /// Begins nothing more of what was submitted, since the trial stops: what is under way is finished, and a batch
    /// of which something was not begun fails with the step [`NOT_BEGUN`]. An engine that has everything under way
    /// at once has nothing to do.
    fn hold(&mut self) {}

    /// Hands over a batch and returns at once.
    ///
    /// # Errors
    /// When the engine is gone or [`Engine::in_flight_max`] batches are not finished.
    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault>;

    /// What happened since the last call, waiting up to `wait` for something; empty when nothing did.
    ///
    /// # Errors
    /// When the engine is gone: every unfinished batch is lost with it.
    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault>;

    /// Stops the engine. With [`Stop::Orderly`] the last events can be polled before, and what was said while it
    /// ended afterwards.
    ///
    /// # Errors
    /// When it did not stop as asked; it is ended by force then.
    fn stop(&mut self, how: Stop) -> Result<(), EngineFault>;
}
