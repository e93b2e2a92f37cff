//! A worker process as the engine: started once below a guard, asked batch by batch over two descriptors of its
//! own, its prints kept apart in a log.
//!
//! One thread writes, one reads, and one drains the log, so that none waits on another: a worker that prints or
//! answers while a long batch is still being written cannot block itself. Answers are the only sign of life once
//! the worker has greeted; a worker that stays silent longer than declared is ended.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use pilote_spec::{Clock, EngineFacts, OutputSpec, is_blank};

use crate::process::{Guarded, Scratch, Surround};
use crate::{Batch, BatchId, Content, Engine, EngineFault, Event, Stop};

pub mod conformance;
mod lines;
mod protocol;

use lines::{Line, threads};
use protocol::{FromWorker, ToWorker, WorkItem};
pub use protocol::{Hello, PROTOCOL};

/// Batches that a worker may hold at once, whatever it asks for.
const CREDITS_MAX: u32 = 64;
/// Lines that wait for the writer: every batch that may be in flight, greeting and end; so handing over never waits
/// for a worker that is itself waiting to be read.
const BATCHES_QUEUED_MAX: usize = CREDITS_MAX as usize + 2;
/// Characters of a name as it came that a report shows.
const SAID_CHARS_MAX: usize = 80;
/// How long one wait for a line lasts before deadlines are looked at, at the most.
const LOOK: Duration = Duration::from_millis(100);
/// Seconds that a worker gets to end in order.
const END_SECONDS_MAX: i64 = 10;

/// A running worker.
pub struct WorkerEngine {
    facts: EngineFacts,
    in_flight_max: usize,
    child: Guarded,
    to_writer: Option<SyncSender<Vec<u8>>>,
    from_reader: Receiver<Vec<Line>>,
    /// Lines that came together with those that were looked at.
    heard: VecDeque<Line>,
    /// What was said while the worker ended.
    last_words: Vec<Event>,
    batches: HashMap<String, BatchId>,
    hand_over: HandOver,
    clock: Arc<dyn Clock>,
    silence_max: Duration,
    last_sign: Duration,
}

/// How long texts reach the worker.
struct HandOver {
    scratch: Scratch,
    line_bytes_max: usize,
    files: HashMap<BatchId, Vec<PathBuf>>,
}

impl WorkerEngine {
    /// Starts the worker and waits for its greeting.
    ///
    /// # Errors
    /// When it cannot be started, ends, stays silent or speaks another version, with its first error line.
    pub fn start(
        config: &pilote_spec::Worker,
        output: &OutputSpec,
        around: Surround,
    ) -> Result<Self, EngineFault> {
        let launch = around.launch(&config.command, &config.environment, &config.pass, &[]);
        let (child, to, from) = Guarded::spawn(&around.guard, &launch).map_err(|error| {
            fault(
                "start",
                &format!("the guard {} cannot be started: {error}", around.guard.program.display()),
            )
        })?;
        let line_bytes_max = usize::try_from(config.line_bytes_max).unwrap_or(usize::MAX);
        let programs = programs(config, &around.project);
        let (to_writer, from_reader) =
            threads(to, from, BATCHES_QUEUED_MAX, line_bytes_max, launch.secrets.clone())
                .map_err(|error| fault("start", &format!("no thread can be started: {error}")))?;
        let hello = ToWorker::Hello {
            protocol: PROTOCOL,
            line_bytes_max: config.line_bytes_max,
            output,
            parameters: &config.parameters,
        };
        let mut engine = Self {
            facts: unknown_facts(),
            in_flight_max: 1,
            child,
            to_writer: Some(to_writer),
            from_reader,
            heard: VecDeque::new(),
            last_words: Vec::new(),
            batches: HashMap::new(),
            hand_over: HandOver { scratch: around.scratch, line_bytes_max, files: HashMap::new() },
            last_sign: around.clock.monotonic(),
            clock: around.clock,
            silence_max: Duration::from_secs(u64::from(config.silence_seconds_max)),
        };
        engine.send(&hello)?;
        let greeting = engine.await_greeting(Duration::from_secs(u64::from(config.setup_seconds_max)))?;
        engine.in_flight_max = usize::try_from(greeting.credits.clamp(1, CREDITS_MAX)).unwrap_or(1);
        engine.facts = facts(config, programs, greeting);
        engine.last_sign = engine.clock.monotonic();
        Ok(engine)
    }

    fn await_greeting(&mut self, setup_max: Duration) -> Result<Hello, EngineFault> {
        let start = self.clock.monotonic();
        let mut last_note = String::from("none");
        loop {
            match self.next_line(LOOK) {
                Some(Line::Said(FromWorker::Hello(hello))) => return greeted(*hello),
                Some(Line::Said(FromWorker::SettingUp { note })) => last_note = note,
                None => {}
                Some(Line::Said(_)) => {
                    return Err(fault("greeting", "the worker said something else before its greeting"));
                }
                Some(Line::Unreadable { why }) => return Err(fault("greeting", &why)),
                Some(Line::Ended) => return Err(self.ended("set-up")),
            }
            if self.clock.monotonic().saturating_sub(start) > setup_max {
                self.child.end_now();
                let said =
                    format!("no greeting within {} s; last sign of life: {last_note}", setup_max.as_secs());
                return Err(fault("set-up", &self.with_log(&said)));
            }
        }
    }

    /// The next line that the worker said, waiting up to `wait` for one.
    fn next_line(&mut self, wait: Duration) -> Option<Line> {
        if self.heard.is_empty() {
            match self.from_reader.recv_timeout(wait) {
                Ok(lines) => self.heard.extend(lines),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(Line::Ended),
            }
        }
        self.heard.pop_front()
    }

    /// Hands one line to the writer.
    fn send(&mut self, message: &ToWorker<'_>) -> Result<(), EngineFault> {
        let mut line = serde_json::to_vec(message)
            .map_err(|error| fault("send", &format!("a message cannot be written: {error}")))?;
        line.push(b'\n');
        match self.to_writer.as_ref().map(|writer| writer.send(line)) {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended("send")),
        }
    }

    /// What is said when the worker is gone.
    fn ended(&mut self, step: &str) -> EngineFault {
        let status = self.child.wait(2).ok().flatten();
        let how = status.and_then(|status| status.code()).map_or_else(
            || "the worker closed its channel".to_owned(),
            |code| format!("the worker ended with status {code}"),
        );
        self.child.end_now();
        fault(step, &self.with_log(&how))
    }

    /// The log's first error, and what was seen from outside.
    fn with_log(&self, seen: &str) -> String {
        self.child.log().first_error().map_or_else(|| seen.to_owned(), |error| format!("{error} ({seen})"))
    }

    /// What a line means to the conductor.
    fn event(&mut self, line: Line) -> Result<Option<Event>, EngineFault> {
        let said = match line {
            Line::Said(said) => said,
            Line::Unreadable { why } => {
                self.child.end_now();
                return Err(fault("compute", &why));
            }
            Line::Ended => return Err(self.ended("compute")),
        };
        self.last_sign = self.clock.monotonic();
        Ok(match said {
            FromWorker::Answer { wire: Ok(wire), answer } => Some(Event::Answer { wire, answer }),
            // A name that was never ours is passed on as it came, to be counted.
            FromWorker::Answer { wire: Err(name), .. } => Some(stray(&name)),
            FromWorker::Done { batch: name, measures } => Some(match self.finished(&name) {
                Some(batch) => Event::Finished { batch, measures },
                None => stray(&name),
            }),
            FromWorker::Failed { batch: name, error } => Some(match self.finished(&name) {
                Some(batch) => {
                    let fault = fault("compute", &error);
                    Event::Failed { batch, fault: EngineFault { ended: false, ..fault } }
                }
                None => stray(&name),
            }),
            FromWorker::SettingUp { .. } | FromWorker::Hello(_) => None,
        })
    }

    fn finished(&mut self, name: &str) -> Option<BatchId> {
        let batch = self.batches.remove(name)?;
        self.hand_over.clean(batch);
        Some(batch)
    }
}

impl Engine for WorkerEngine {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        if self.batches.len() >= self.in_flight_max {
            return Err(EngineFault {
                step: "submit".to_owned(),
                first_error: format!(
                    "{} batches are in flight, and the worker takes no more",
                    self.batches.len()
                ),
                advice: None,
                ended: false,
            });
        }
        if self.batches.is_empty() {
            self.last_sign = self.clock.monotonic();
        }
        let name = format!("b{}", batch.id.0);
        let files = self.hand_over.files_for(&batch)?;
        let items = batch.requests.iter().zip(&files).map(|(request, file)| {
            let file = file.as_deref();
            WorkItem {
                wire: request.wire.to_string(),
                text: match &request.content {
                    Content::Text(text) if file.is_none() => Some(text),
                    _ => None,
                },
                text_file: file.filter(|_| matches!(request.content, Content::Text(_))),
                file: file.filter(|_| matches!(request.content, Content::File(_))),
                columns: &request.columns,
            }
        });
        let message = ToWorker::Batch { batch: &name, items: items.collect() };
        self.send(&message)?;
        self.batches.insert(name, batch.id);
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        if !self.last_words.is_empty() {
            return Ok(std::mem::take(&mut self.last_words));
        }
        let mut events = Vec::new();
        let mut wait = wait;
        while let Some(line) = self.next_line(wait) {
            // What came before the end is still good; the end is met again at the next call.
            if !matches!(line, Line::Said(_)) && !events.is_empty() {
                self.heard.push_front(line);
                return Ok(events);
            }
            events.extend(self.event(line)?);
            wait = Duration::ZERO;
        }
        let silent = self.clock.monotonic().saturating_sub(self.last_sign);
        if events.is_empty() && !self.batches.is_empty() && silent > self.silence_max {
            self.child.end_now();
            let said =
                format!("no answer for {} s with {} batches in hand", silent.as_secs(), self.batches.len());
            return Err(fault("compute", &self.with_log(&said)));
        }
        Ok(events)
    }

    fn stop(&mut self, how: Stop) -> Result<(), EngineFault> {
        if how == Stop::Now {
            self.child.end_now();
            return Ok(());
        }
        let _ = self.send(&ToWorker::End);
        // The writer ends with its queue, which closes the channel after the last line.
        self.to_writer = None;
        let ended = self.child.wait(END_SECONDS_MAX).ok().flatten();
        self.child.end_now();
        // An answer to nothing that was asked may come as late as this; it can still be polled.
        while let Some(Line::Said(said)) = self.next_line(LOOK) {
            if let Ok(Some(event)) = self.event(Line::Said(said)) {
                self.last_words.push(event);
            }
        }
        match ended {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(fault("end", &self.with_log(&format!("the worker ended with {status}")))),
            None => Err(fault(
                "end",
                &format!("the worker did not end within {END_SECONDS_MAX} s and was killed"),
            )),
        }
    }
}

impl HandOver {
    /// For each request the file that carries it, where it is a file or too long for a line.
    fn files_for(&mut self, batch: &Batch) -> Result<Vec<Option<String>>, EngineFault> {
        let columns = batch.requests.iter().flat_map(|request| &request.columns);
        let columns: usize = columns.map(|(name, value)| name.len() * 6 + value.as_str().len() + 4).sum();
        let texts: usize = batch.requests.iter().map(|request| line_bytes(&request.content)).sum();
        let total = texts.saturating_add(columns);
        let mut files = Vec::with_capacity(batch.requests.len());
        let mut written = Vec::new();
        for request in &batch.requests {
            files.push(match &request.content {
                Content::File(path) => Some(text_of(path)?),
                Content::Text(text) if total > self.line_bytes_max => {
                    let path = self.scratch.path().join(format!("{}.txt", request.wire));
                    fs_err::write(&path, text).map_err(|error| fault("submit", &error.to_string()))?;
                    let name = text_of(&path)?;
                    written.push(path);
                    Some(name)
                }
                Content::Text(_) => None,
            });
        }
        self.files.insert(batch.id, written);
        Ok(files)
    }

    /// Removes what was written for a batch that is finished.
    fn clean(&mut self, batch: BatchId) {
        for path in self.files.remove(&batch).unwrap_or_default() {
            let _ = fs_err::remove_file(path);
        }
    }
}

/// An upper bound of a content's share of a line: every character escaped.
fn line_bytes(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len().saturating_mul(6).saturating_add(64),
        Content::File(path) => path.as_os_str().len().saturating_mul(6).saturating_add(64),
    }
}

fn text_of(path: &Path) -> Result<String, EngineFault> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        fault(
            "submit",
            &format!("{} is no UTF-8, and a line of the conversation cannot name it", path.display()),
        )
    })
}

/// The greeting, where it is one of this protocol.
fn greeted(hello: Hello) -> Result<Hello, EngineFault> {
    if hello.protocol != PROTOCOL {
        let said = format!("the worker speaks protocol {}, not {PROTOCOL}", hello.protocol);
        return Err(fault("greeting", &said));
    }
    if is_blank(&hello.name) {
        return Err(fault("greeting", "the worker gives no name; records say by it what computed"));
    }
    Ok(hello)
}

/// Something said of what nobody asked, by the name as it came.
fn stray(name: &str) -> Event {
    Event::Stray { said: name.chars().take(SAID_CHARS_MAX).collect() }
}

/// Digests of the program's files that lie in the project, so that an edited worker is not taken for the same one.
fn programs(config: &pilote_spec::Worker, project: &Path) -> BTreeMap<String, String> {
    let digest = |name: &String| {
        let path = project.join(name);
        let bytes = path.is_file().then(|| fs_err::read(path).ok()).flatten()?;
        Some((format!("program.{name}"), pilote_spec::Digest::of(&bytes).to_string()))
    };
    config.command.iter().filter(|name| Path::new(name).is_relative()).filter_map(digest).collect()
}

fn facts(config: &pilote_spec::Worker, programs: BTreeMap<String, String>, hello: Hello) -> EngineFacts {
    let mut parameters = hello.parameters;
    parameters.extend(
        config.parameters.iter().map(|(name, value)| (format!("declared.{name}"), value.to_string())),
    );
    parameters.extend(programs);
    parameters.insert("command".to_owned(), serde_json::Value::from(config.command.clone()).to_string());
    EngineFacts {
        kind: "worker".to_owned(),
        name: hello.name,
        version: hello.version,
        device: hello.device,
        precision: hello.precision,
        model: hello.model,
        longest_tokens: hello.longest_tokens,
        parameters,
    }
}

fn unknown_facts() -> EngineFacts {
    EngineFacts {
        kind: "worker".to_owned(),
        name: String::new(),
        version: String::new(),
        device: String::new(),
        precision: String::new(),
        model: None,
        longest_tokens: None,
        parameters: BTreeMap::new(),
    }
}

/// A failure after which the worker is gone.
fn fault(step: &str, first_error: &str) -> EngineFault {
    EngineFault { step: step.to_owned(), first_error: first_error.to_owned(), advice: None, ended: true }
}
