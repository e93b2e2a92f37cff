//! One conversation with the program that is checked.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use pilote_spec::Clock;
use serde_json::{Value, json};

use super::Subject;
use crate::process::Guarded;
use crate::worker::lines::{Line, threads};
use crate::worker::protocol::{FromWorker, Hello};
use crate::worker::{BATCHES_QUEUED_MAX, CREDITS_MAX, fault, greeted};
use crate::{Answer, EngineFault, WireId};

/// Bytes of the longest line that the worker is told of: small enough that a batch can be as long.
pub(super) const LINE_BYTES_MAX: usize = 65_536;
/// How long one wait for a line lasts before deadlines are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Seconds that a worker gets to end.
const END_SECONDS_MAX: i64 = 10;

/// A batch that was handed over and is not done.
pub(super) struct Open {
    name: String,
    wires: Vec<WireId>,
    answers: BTreeMap<WireId, Answer>,
}

/// One process of the program.
pub(super) struct Session {
    child: Guarded,
    to_writer: Option<SyncSender<Vec<u8>>>,
    from_reader: Receiver<Vec<Line>>,
    heard: VecDeque<Line>,
    clock: Arc<dyn Clock>,
    setup_max: Duration,
    silence_max: Duration,
    batches: u64,
    /// Batches that the greeting grants.
    pub(super) credits: usize,
    /// The number in the next item's name.
    pub(super) next_name: u64,
}

impl Session {
    /// Starts the program and speaks first, in `protocol`.
    pub(super) fn start(subject: &Subject<'_>, protocol: u32) -> Result<Self, EngineFault> {
        let (config, around) = (subject.config, subject.around);
        let launch = around.launch(&config.command, &config.environment, &config.pass, &[]);
        let cannot = |error: std::io::Error| fault("start", &format!("nothing can be started: {error}"));
        let (child, to, from) = Guarded::spawn(&around.guard, &launch).map_err(cannot)?;
        let limit = usize::try_from(config.line_bytes_max).unwrap_or(usize::MAX);
        let (to_writer, from_reader) =
            threads(to, from, BATCHES_QUEUED_MAX, limit, launch.secrets.clone()).map_err(cannot)?;
        let session = Self {
            child,
            to_writer: Some(to_writer),
            from_reader,
            heard: VecDeque::new(),
            clock: Arc::clone(&around.clock),
            setup_max: Duration::from_secs(u64::from(config.setup_seconds_max)),
            silence_max: Duration::from_secs(u64::from(config.silence_seconds_max)),
            batches: 0,
            credits: 1,
            next_name: 1,
        };
        session.say(&json!({
            "type": "hello", "protocol": protocol, "line_bytes_max": LINE_BYTES_MAX,
            "output": subject.output, "parameters": config.parameters, "later": [],
        }));
        Ok(session)
    }

    /// A program that is gone does not hear it, which the next look for a line tells.
    fn say(&self, message: &Value) {
        if let Some(writer) = &self.to_writer {
            let _ = writer.send(format!("{message}\n").into_bytes());
        }
    }

    /// The next line, within `longest`.
    fn next(&mut self, longest: Duration) -> Result<FromWorker, String> {
        let start = self.clock.monotonic();
        loop {
            match self.heard.pop_front() {
                Some(Line::Said(said)) => return Ok(said),
                Some(Line::Unreadable { why }) => return Err(why),
                Some(Line::Ended) => return Err(self.gone()),
                None => {}
            }
            match self.from_reader.recv_timeout(LOOK) {
                Ok(lines) => self.heard.extend(lines),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
            }
            let silent = self.clock.monotonic().saturating_sub(start);
            if self.heard.is_empty() && silent > longest {
                return Err(self.with_log(&format!("it says nothing for {} s", silent.as_secs())));
            }
        }
    }

    fn gone(&mut self) -> String {
        let status = self.child.wait(END_SECONDS_MAX).ok().flatten();
        let how = status
            .map_or_else(|| "it closed its channel".to_owned(), |status| format!("it ended ({status})"));
        self.with_log(&how)
    }

    fn with_log(&self, seen: &str) -> String {
        self.child.log().first_error().map_or_else(|| seen.to_owned(), |error| format!("{seen}: {error}"))
    }

    /// Whether the program has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.wait(0).ok().flatten().is_some()
    }

    /// The greeting in this protocol, after any number of signs of life.
    pub(super) fn greeting(&mut self) -> Result<Hello, String> {
        let hello = greeted(self.greeting_of_any_version()?).map_err(|fault| fault.first_error)?;
        self.credits = usize::try_from(hello.credits.clamp(1, CREDITS_MAX)).unwrap_or(1);
        Ok(hello)
    }

    pub(super) fn greeting_of_any_version(&mut self) -> Result<Hello, String> {
        loop {
            match self.next(self.setup_max)? {
                FromWorker::Hello(hello) => return Ok(*hello),
                FromWorker::SettingUp { .. } => {}
                _ => return Err("it said something else before its greeting".to_owned()),
            }
        }
    }

    /// Bytes of the line that would hand over `items` next.
    pub(super) fn line_bytes(&self, items: &[Value]) -> usize {
        self.message(items).0.to_string().len() + 1
    }

    fn message(&self, items: &[Value]) -> (Value, Open) {
        let name = format!("b{}", self.batches + 1);
        let wires: Vec<WireId> = (self.next_name..).take(items.len()).map(WireId).collect();
        let named = items.iter().zip(&wires).map(|(item, wire)| {
            let mut item = item.clone();
            item["wire"] = wire.to_string().into();
            item
        });
        let items: Vec<Value> = named.collect();
        let message = json!({ "type": "batch", "batch": name, "items": items });
        (message, Open { name, wires, answers: BTreeMap::new() })
    }

    /// Hands a batch over.
    pub(super) fn hand_over(&mut self, items: &[Value]) -> Open {
        let (message, open) = self.message(items);
        self.batches += 1;
        self.next_name = self.next_name.saturating_add(u64::try_from(items.len()).unwrap_or(0));
        self.say(&message);
        open
    }

    /// The answers to a batch, in the order of its items.
    pub(super) fn ask(&mut self, items: &[Value]) -> Result<Vec<Answer>, String> {
        let mut open = vec![self.hand_over(items)];
        self.hear(&mut open)
    }

    /// Hears until one of the open batches is done; gives its answers in the order of its items.
    pub(super) fn hear(&mut self, open: &mut Vec<Open>) -> Result<Vec<Answer>, String> {
        loop {
            match self.next(self.silence_max)? {
                FromWorker::Answer { wire: Ok(wire), answer } => {
                    let Some(batch) = open.iter_mut().find(|batch| batch.wires.contains(&wire)) else {
                        return Err(format!("it answers {wire}, which nobody asked"));
                    };
                    if batch.answers.insert(wire, answer).is_some() {
                        return Err(format!("it answers {wire} twice"));
                    }
                }
                FromWorker::Answer { wire: Err(name), .. } => {
                    return Err(format!("it answers `{name}`, which nobody asked"));
                }
                FromWorker::Done { batch, .. } => {
                    let Some(at) = open.iter().position(|open| open.name == batch) else {
                        return Err(format!("it is done with `{batch}`, which was never handed over"));
                    };
                    let Open { wires, mut answers, .. } = open.remove(at);
                    let missing = wires.iter().find(|wire| !answers.contains_key(wire));
                    if let Some(wire) = missing {
                        return Err(format!("it is done with {batch} without an answer to {wire}"));
                    }
                    return Ok(wires.iter().filter_map(|wire| answers.remove(wire)).collect());
                }
                FromWorker::Failed { batch, error } => return Err(format!("it failed on {batch}: {error}")),
                FromWorker::SettingUp { .. } => {
                    return Err("it gives signs of set-up after its greeting".to_owned());
                }
                FromWorker::Hello(_) => return Err("it greets twice".to_owned()),
            }
        }
    }

    /// Says that nothing more comes.
    pub(super) fn end(&mut self) -> Result<String, String> {
        self.say(&json!({ "type": "end" }));
        self.to_writer = None;
        let Some(status) = self.child.wait(END_SECONDS_MAX).ok().flatten() else {
            return Err(format!("it does not end within {END_SECONDS_MAX} s"));
        };
        if let Ok(said) = self.next(Duration::ZERO) {
            return Err(format!("after the end it says more: {said:?}"));
        }
        if status.success() {
            Ok("ends with status 0".to_owned())
        } else {
            Err(self.with_log(&format!("it ended ({status})")))
        }
    }
}
