//! The engine that is built in: sentence encoders of the BERT family on the processor, for vectors and for
//! classifying without training.
//!
//! `sentence` reads what the model's files say of themselves, `tokens` cuts texts, an [`Encoder`] (`bert` on `kernels`
//! and `weights`) gives vectors, `categories` judges them, `work` does a batch. This file is the engine around it: a
//! thread of its own, so that submitting and polling never wait for a computation.

mod bert;
mod categories;
mod encoder;
mod kernels;
mod sentence;
mod tokens;
mod weights;
mod work;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pilote_spec::{BatchMeasures, Beyond, Clock, EngineFacts, Limits, ModelFacts, OutputSpec, Task};

pub use encoder::{Encoded, Encoder, EncoderError};

use crate::model::ResolvedModel;
use crate::{Batch, Engine, EngineFault, Event, Stop};
use bert::Bert;
use categories::Categories;
use sentence::Sentence;
use tokens::Tokens;
use work::{Done, Work};

#[cfg(test)]
mod tests;

/// Batches taken at once: one is computed while the next waits, so that the thread is never idle.
const IN_FLIGHT_MAX: usize = 2;

/// The built-in engine. Dropping it ends its thread after the group of sequences in hand.
pub struct Builtin {
    facts: EngineFacts,
    /// None once it is stopped.
    batches: Option<Sender<Batch>>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    unfinished: usize,
}

impl Builtin {
    /// Loads a model and starts the engine's thread.
    ///
    /// # Errors
    /// When the model cannot be read, its architecture is not built in, or it does not fit what is declared.
    pub fn start(
        config: &pilote_spec::Builtin,
        output: &OutputSpec,
        limits: &Limits,
        model: ResolvedModel,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EngineFault> {
        let unusable = |error: EncoderError| {
            let advice = format!("check the files of {} or name another model", model.reference);
            fault("load model", &error, Some(advice), true)
        };
        let floor_bytes = own_memory("VmRSS:");
        let sentence = Sentence::read(&model.dir).map_err(unusable)?;
        let tokens = Tokens::open(&model.dir, &sentence).map_err(unusable)?;
        let encoder = Box::new(Bert::open(&model.dir, sentence.clone()).map_err(unusable)?);
        let mut facts = facts(config, limits, &sentence);
        facts.model =
            Some(ModelFacts { reference: model.reference, files: model.files, licence: model.licence });
        Self::start_with(config, output, limits, facts, Loaded { tokens, encoder, floor_bytes }, clock)
    }

    /// The same with any encoder.
    fn start_with(
        config: &pilote_spec::Builtin,
        output: &OutputSpec,
        limits: &Limits,
        mut facts: EngineFacts,
        loaded: Loaded,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EngineFault> {
        let Loaded { tokens, encoder, floor_bytes } = loaded;
        let loaded_bytes = own_memory("VmRSS:");
        // Products stay on the thread that asks for them, since each thread has sequences of its own.
        gemm::set_threading_threshold(usize::MAX);
        let limit = limit(config.task, limits, &*encoder, tokens.special())?;
        facts.longest_tokens = limit.and_then(|limit| u32::try_from(limit).ok());
        let given = config.threads.and_then(|threads| NonZero::new(threads as usize));
        let threads = given.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|at| format!("encoder-{at}"))
            .build();
        let pool = pool.map_err(|error| fault("start", &error, None, true))?;
        let batch_tokens = config.batch_tokens as usize;
        let mut work = Work {
            tokens,
            encoder,
            pool,
            batch_tokens,
            limit,
            beyond: limits.beyond,
            categories: None,
            floor_bytes,
            loaded_bytes,
        };
        match (config.task, output) {
            (Task::Classify, OutputSpec::Category { categories }) => {
                let placed = Categories::place(categories, config.margin, |text| work.direction(text));
                work.categories =
                    Some(placed.map_err(|error| fault("place the categories", &error, None, true))?);
            }
            (Task::Embed, OutputSpec::Vector { width }) if *width as usize == work.encoder.width() => {}
            (Task::Embed, OutputSpec::Vector { width }) => {
                let words =
                    format!("the model gives vectors of {}, {width} is declared", work.encoder.width());
                return Err(fault(
                    "start",
                    &words,
                    Some("correct `output.width` or name another model".into()),
                    true,
                ));
            }
            (task, _) => {
                let words =
                    format!("the task `{}` does not give the declared kind of output", task_name(task));
                return Err(fault(
                    "start",
                    &words,
                    Some("make `engine.task` and `output.kind` agree".into()),
                    true,
                ));
            }
        }
        Self::spawn(work, facts, clock)
    }

    fn spawn(work: Work, facts: EngineFacts, clock: Arc<dyn Clock>) -> Result<Self, EngineFault> {
        let (batches, submitted) = channel::<Batch>();
        let (reports, events) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = stop.clone();
        let body = move || {
            for batch in submitted {
                if stopping.load(Ordering::Relaxed) || !report(&work, &batch, &*clock, &stopping, &reports) {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("builtin-engine".into()).spawn(body);
        let thread = thread.map_err(|error| fault("start", &error, None, true))?;
        Ok(Self { facts, batches: Some(batches), events, thread: Some(thread), stop, unfinished: 0 })
    }

    fn gone() -> EngineFault {
        fault("compute", &"the built-in engine has ended", None, true)
    }
}

/// What was read of a model, and what the process held before.
struct Loaded {
    tokens: Tokens,
    encoder: Box<dyn Encoder>,
    floor_bytes: Option<u64>,
}

impl Engine for Builtin {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        IN_FLIGHT_MAX
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        if self.unfinished >= IN_FLIGHT_MAX {
            let words = format!("{} batches are not finished, no more are taken", self.unfinished);
            return Err(fault("submit", &words, Some("poll for what is finished first".into()), false));
        }
        let batches = self.batches.as_ref().ok_or_else(Self::gone)?;
        batches.send(batch).map_err(|_| Self::gone())?;
        self.unfinished += 1;
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        let mut events = match self.events.recv_timeout(wait) {
            Ok(event) => vec![event],
            Err(RecvTimeoutError::Timeout) => return Ok(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => return Err(Self::gone()),
        };
        events.extend(self.events.try_iter());
        let ends =
            events.iter().filter(|event| matches!(event, Event::Finished { .. } | Event::Failed { .. }));
        self.unfinished = self.unfinished.saturating_sub(ends.count());
        Ok(events)
    }

    /// Waits for the thread: with [`Stop::Now`] for no longer than the group of sequences in hand.
    fn stop(&mut self, how: Stop) -> Result<(), EngineFault> {
        if how == Stop::Now {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.batches = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => Err(fault("stop", &panic_words(&*panic), None, true)),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

impl Drop for Builtin {
    fn drop(&mut self) {
        // Nobody is left to hear how it ended.
        let _ = self.stop(Stop::Now);
    }
}

/// Computes a batch and reports what came of it; false when nobody listens any more or it was stopped.
fn report(work: &Work, batch: &Batch, clock: &dyn Clock, stop: &AtomicBool, reports: &Sender<Event>) -> bool {
    let begun = clock.monotonic();
    // A panic concerns this batch alone: what the thread works with does not change.
    let fault = match catch_unwind(AssertUnwindSafe(|| work.run(batch, stop))) {
        Ok(Ok(None)) => return false,
        Ok(Ok(Some(Done { answers, measures }))) => {
            let took = clock.monotonic().saturating_sub(begun).as_micros();
            let measures = BatchMeasures {
                compute_us: u64::try_from(took).ok(),
                peak_bytes: own_memory("VmHWM:"),
                ..measures
            };
            for (wire, answer) in answers {
                if reports.send(Event::Answer { wire, answer }).is_err() {
                    return false;
                }
            }
            return reports.send(Event::Finished { batch: batch.id, measures }).is_ok();
        }
        Ok(Err(error)) => fault("compute", &error, None, false),
        Err(panic) => fault("compute", &panic_words(&*panic), None, false),
    };
    reports.send(Event::Failed { batch: batch.id, fault }).is_ok()
}

/// The longest input: the declared limit, and for a vector never more than the model takes at once. None where long
/// texts are read in windows.
fn limit(
    task: Task,
    limits: &Limits,
    encoder: &dyn Encoder,
    special: usize,
) -> Result<Option<usize>, EngineFault> {
    let declared = limits.tokens.map(|tokens| tokens as usize);
    let limit = match task {
        Task::Embed => Some(declared.map_or(encoder.longest(), |declared| declared.min(encoder.longest()))),
        Task::Classify => declared,
    };
    match limit {
        Some(limit) if limit <= special => {
            let words = format!(
                "a limit of {limit} tokens leaves no room beside the model's {special} special tokens"
            );
            Err(fault("start", &words, Some("raise `limits.tokens` or leave it out".into()), true))
        }
        limit => Ok(limit),
    }
}

/// What changes results, by name.
fn facts(config: &pilote_spec::Builtin, limits: &Limits, sentence: &Sentence) -> EngineFacts {
    let mut parameters = BTreeMap::from([
        ("task".to_owned(), task_name(config.task).to_owned()),
        (
            "pooling".to_owned(),
            sentence.poolings.iter().map(ToString::to_string).collect::<Vec<_>>().join("+"),
        ),
        ("normalised".to_owned(), sentence.normalise.to_string()),
    ]);
    if limits.beyond == Beyond::Truncate {
        parameters.insert("beyond".to_owned(), "truncate".to_owned());
    }
    if config.task == Task::Classify {
        parameters.insert("margin".to_owned(), config.margin.to_string());
    }
    if !sentence.prompt.is_empty() {
        parameters.insert("prompt".to_owned(), sentence.prompt.clone());
    }
    EngineFacts {
        kind: "builtin".to_owned(),
        name: "sentence encoder".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        device: "cpu".to_owned(),
        precision: "f32".to_owned(),
        model: None,
        longest_tokens: None,
        parameters,
    }
}

fn task_name(task: Task) -> &'static str {
    match task {
        Task::Embed => "embed",
        Task::Classify => "classify",
    }
}

fn fault(step: &str, error: &dyn std::fmt::Display, advice: Option<String>, ended: bool) -> EngineFault {
    EngineFault { step: step.to_owned(), first_error: error.to_string(), advice, ended }
}

fn panic_words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

/// A reading of this process's memory, where the system gives it: `VmHWM:` the most so far, `VmRSS:` now.
fn own_memory(field: &str) -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
