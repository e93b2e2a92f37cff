//! A program that is run once for each item, never through a shell.
//!
//! Programs run below one guard ([`crate::process::pool`]), a few at once. Success is status 0 *and* a declared output
//! that is acceptable; the output is written under a name of this attempt alone, so that a partial one is never taken
//! for a result. A program that fails leaves its item without an answer: the conductor asks it again alone, and blames
//! it only while others still succeed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use pilote_spec::{
    BatchMeasures, Columns, CommandPerItem, EngineFacts, OutputSpec, Reason, Refusal, WorkReason,
};
use rustix::process::{Resource, getrlimit};

use crate::places::{column, filled};
use crate::process::pool::{Ended, How, Start};
use crate::process::{Guarded, Surround, visible};
use crate::{Answer, Batch, BatchId, Content, Engine, EngineFault, Event, NOT_BEGUN, Request, Stop, WireId};

mod check;
mod files;

/// Bytes of one argument; the kernel of Linux takes 128 KiB.
const ARGUMENT_BYTES_MAX: usize = 120 * 1024;
/// Ends of programs that wait to be looked at.
const ENDS_QUEUED_MAX: usize = 1_024;
/// Descriptors of a guard beside those of its programs.
const FILES_OWN: u64 = 32;
/// Descriptors that one program takes of its guard.
const FILES_EACH: u64 = 4;
/// Seconds that the guard gets to end every program.
const END_SECONDS_MAX: i64 = 10;

/// Programs of which each does one item.
pub struct CommandEngine {
    facts: EngineFacts,
    config: CommandPerItem,
    output: OutputSpec,
    around: Surround,
    guard: Guarded,
    to_guard: Option<ChildStdin>,
    ends: Receiver<Ended>,
    /// Slots that no program holds.
    free: Vec<usize>,
    waiting: VecDeque<(BatchId, Request)>,
    running: HashMap<u64, Running>,
    open: HashMap<BatchId, Open>,
    events: Vec<Event>,
    in_flight_max: usize,
    begun: u64,
}

/// A program that was started.
struct Running {
    batch: BatchId,
    wire: WireId,
    slot: usize,
    input: Option<PathBuf>,
    output: PathBuf,
}

/// A batch with items that are not done.
struct Open {
    left: usize,
    answered: bool,
    compute_us: u64,
    failed: Option<EngineFault>,
}

impl CommandEngine {
    /// Runs the declared check, then starts the guard; the first program starts with the first batch.
    ///
    /// # Errors
    /// When the check fails or the guard cannot be started.
    pub fn start(
        config: &CommandPerItem,
        output: &OutputSpec,
        around: Surround,
    ) -> Result<Self, EngineFault> {
        let mut facts = facts(config);
        check::run(config, &around, &mut facts)?;
        let launch = around.launch(&[], &config.environment, &config.pass, &[]);
        let (guard, to_guard, from_guard) = Guarded::pool(&around.guard, &launch)
            .map_err(|error| fault("start", &format!("the guard cannot be started: {error}"), true))?;
        let (said, ends) = sync_channel(ENDS_QUEUED_MAX);
        std::thread::Builder::new()
            .name("ends of programs".to_owned())
            .spawn(move || read_ends(from_guard, &said))
            .map_err(|error| fault("start", &format!("no thread can be started: {error}"), true))?;
        let slots = slots(config);
        let batch_items = usize::try_from(config.batch_items).unwrap_or(1).max(1);
        Ok(Self {
            facts,
            config: config.clone(),
            output: output.clone(),
            around,
            guard,
            to_guard: Some(to_guard),
            ends,
            free: (0..slots).rev().collect(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            open: HashMap::new(),
            events: Vec::new(),
            in_flight_max: 1 + slots.div_ceil(batch_items),
            begun: 0,
        })
    }

    /// Starts programs as long as there are items and slots.
    fn begin(&mut self) -> Result<(), EngineFault> {
        while let Some(slot) = self.free.pop() {
            let Some((batch, request)) = self.waiting.pop_front() else {
                self.free.push(slot);
                break;
            };
            match self.prepare(&request, slot) {
                Ok((start, input, output)) => {
                    let (id, wire) = (start.id, request.wire);
                    self.tell(&start)?;
                    self.running.insert(id, Running { batch, wire, slot, input, output });
                }
                Err(Unprepared::Item(refusal)) => {
                    self.free.push(slot);
                    self.answer(batch, request.wire, Answer::Refused(refusal), 0);
                }
                Err(Unprepared::Machine(error)) => {
                    self.free.push(slot);
                    return Err(fault("prepare", &error.to_string(), true));
                }
            }
        }
        Ok(())
    }

    /// What to start for an item, and the files that belong to it.
    fn prepare(
        &mut self,
        request: &Request,
        slot: usize,
    ) -> Result<(Start, Option<PathBuf>, PathBuf), Unprepared> {
        let folder = self.around.scratch.path().to_owned();
        let output = folder.join(format!("{}.{}", request.wire, extension(&self.output)));
        let asked = |place: &str| self.config.command.iter().any(|argument| argument.contains(place));
        let (input, made) = match &request.content {
            Content::File(path) => (path.clone(), None),
            Content::Text(text) if asked("{input}") => {
                let path = folder.join(format!("{}.in.txt", request.wire));
                fs_err::write(&path, text).map_err(Unprepared::Machine)?;
                (path.clone(), Some(path))
            }
            Content::Text(_) => (PathBuf::new(), None),
        };
        let device = match self.config.devices.len() {
            0 => None,
            count => self.config.devices.get(slot % count),
        };
        let text = match &request.content {
            Content::Text(text) => text.as_str(),
            Content::File(_) => "",
        };
        let places = [
            ("id", request.id.as_deref().unwrap_or_default()),
            ("input", input.to_str().unwrap_or_default()),
            ("output", output.to_str().unwrap_or_default()),
            ("text", text),
            ("number", text),
            ("device", device.map_or("", String::as_str)),
        ];
        let argv = self.config.command.iter().map(|template| argument(template, &places, &request.columns));
        let argv = argv.collect::<Result<Vec<_>, _>>().map_err(Unprepared::Item)?;
        self.begun += 1;
        let start = Start {
            id: self.begun,
            argv,
            folder: self.around.project.clone(),
            environment: visible(device.map(std::slice::from_ref).unwrap_or_default()),
            seconds_max: self.config.seconds_max,
            memory_bytes_max: self.config.memory_bytes_max,
        };
        Ok((start, made, output))
    }

    /// Hands one start to the guard.
    fn tell(&mut self, start: &Start) -> Result<(), EngineFault> {
        let mut line =
            serde_json::to_vec(start).map_err(|error| fault("submit", &error.to_string(), true))?;
        line.push(b'\n');
        let told = self.to_guard.as_mut().map(|to| to.write_all(&line).and_then(|()| to.flush()));
        if let Some(Ok(())) = told { Ok(()) } else { Err(self.guard_gone()) }
    }

    fn guard_gone(&self) -> EngineFault {
        let words = self.guard.log().first_error().unwrap_or_default();
        fault("compute", &format!("{words} (the guard of the programs is gone)"), true)
    }

    /// What the end of a program means for its item.
    fn ended(&mut self, end: &Ended) {
        let Some(Running { batch, wire, slot, input, output }) = self.running.remove(&end.id) else { return };
        self.free.push(slot);
        if let Some(input) = input {
            let _ = fs_err::remove_file(input);
        }
        if end.how == How::Status(0) {
            let answer = match files::output(&self.output, &output) {
                Ok(output) => Answer::Output(output),
                Err(refusal) => Answer::Refused(refusal),
            };
            let kept = matches!(&answer, Answer::Output(pilote_spec::Output::FileMade { .. }));
            if !kept {
                let _ = fs_err::remove_file(output);
            }
            self.answer(batch, wire, answer, end.took_us);
            return;
        }
        // What a program that failed has written is no output, whatever it looks like.
        let _ = fs_err::remove_file(output);
        let words = self.words(end);
        self.settled(batch, end.took_us, Some(fault("run", &words, false)));
    }

    fn words(&self, end: &Ended) -> String {
        let how = match end.how {
            How::Status(status) => format!("status {status}"),
            How::Signal(signal) => format!("ended by signal {signal}"),
            How::TimeUp => format!("ended after {} s, its time", self.config.seconds_max),
            How::PrintedTooMuch => "ended, since it printed without end".to_owned(),
            How::NotStarted => "not started".to_owned(),
        };
        match self.guard.redacted(end.printed.lines().last().unwrap_or_default()) {
            last if last.is_empty() => how,
            last => format!("{last} ({how})"),
        }
    }

    fn answer(&mut self, batch: BatchId, wire: WireId, answer: Answer, took_us: u64) {
        if let Some(open) = self.open.get_mut(&batch) {
            open.answered = true;
            self.events.push(Event::Answer { wire, answer });
        }
        self.settled(batch, took_us, None);
    }

    /// One item of the batch is settled; with the last one the batch is.
    fn settled(&mut self, batch: BatchId, took_us: u64, failed: Option<EngineFault>) {
        let Some(open) = self.open.get_mut(&batch) else { return };
        open.left -= 1;
        open.compute_us += took_us;
        let not_begun = |fault: &EngineFault| fault.step == NOT_BEGUN;
        if open.failed.is_none() || failed.as_ref().is_some_and(not_begun) {
            open.failed = failed;
        }
        if open.left > 0 {
            return;
        }
        let Some(Open { answered, compute_us, failed, .. }) = self.open.remove(&batch) else { return };
        let measures = BatchMeasures { compute_us: Some(compute_us), ..BatchMeasures::default() };
        self.events.push(match failed {
            // Where others were answered, the one that was not is asked again alone.
            Some(fault) if !answered || not_begun(&fault) => Event::Failed { batch, fault },
            _ => Event::Finished { batch, measures },
        });
    }
}

impl Engine for CommandEngine {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    fn hold(&mut self) {
        for (batch, _) in std::mem::take(&mut self.waiting) {
            // A batch of which something was not begun fails, even where others of it are answered.
            self.settled(batch, 0, Some(fault(NOT_BEGUN, "the trial stops", false)));
        }
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        let left = batch.requests.len();
        self.open.insert(batch.id, Open { left, answered: false, compute_us: 0, failed: None });
        self.waiting.extend(batch.requests.into_iter().map(|request| (batch.id, request)));
        self.begin()
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        if self.events.is_empty() {
            match self.ends.recv_timeout(wait) {
                Ok(end) => self.ended(&end),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.guard_gone()),
            }
        }
        while let Ok(end) = self.ends.try_recv() {
            self.ended(&end);
        }
        self.begin()?;
        Ok(std::mem::take(&mut self.events))
    }

    fn stop(&mut self, how: Stop) -> Result<(), EngineFault> {
        let _ = how;
        self.waiting.clear();
        // The guard ends every program when its input closes.
        self.to_guard = None;
        let _ = self.guard.wait(END_SECONDS_MAX);
        self.guard.end_now();
        Ok(())
    }
}

impl Drop for CommandEngine {
    fn drop(&mut self) {
        let _ = self.stop(Stop::Now);
    }
}

/// Why nothing can be started for an item.
enum Unprepared {
    Item(Refusal),
    Machine(std::io::Error),
}

/// `argument` with its places filled, where it can be handed to a program then.
fn argument(template: &str, places: &[(&str, &str)], columns: &Columns) -> Result<String, Refusal> {
    let out = filled(template, |name| {
        let known = places.iter().find(|(place, _)| *place == name);
        known.map(|(_, value)| (*value).into()).or_else(|| column(columns, name))
    });
    let refuse = |reason, detail: &str| Refusal::new(Reason::Work(reason)).with("detail", detail);
    if out.contains('\0') {
        return Err(refuse(WorkReason::ByEngine, "a NUL character, which no argument can hold"));
    }
    if out.len() > ARGUMENT_BYTES_MAX {
        let detail = format!("an argument of {} bytes; use {{input}} for long texts", out.len());
        return Err(refuse(WorkReason::TooLong, &detail));
    }
    Ok(out)
}

/// How many programs run at once: what is declared, and no more than the guard can have files for.
fn slots(config: &CommandPerItem) -> usize {
    let declared = config.slots.and_then(|slots| usize::try_from(slots).ok());
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wished = declared.unwrap_or_else(|| match config.devices.len() {
        0 => processors(),
        devices => devices,
    });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let possible = files.saturating_sub(FILES_OWN) / FILES_EACH;
    wished.min(usize::try_from(possible).unwrap_or(usize::MAX)).max(1)
}

fn extension(output: &OutputSpec) -> &str {
    match output {
        OutputSpec::File { extension, .. } => extension,
        OutputSpec::Json { .. } => "json",
        _ => "txt",
    }
}

fn read_ends(from: ChildStdout, said: &SyncSender<Ended>) {
    for line in BufReader::new(from).lines() {
        let Ok(Ok(end)) = line.map(|line| serde_json::from_str(&line)) else { return };
        if said.send(end).is_err() {
            return;
        }
    }
}

fn facts(config: &CommandPerItem) -> EngineFacts {
    let command = serde_json::Value::from(config.command.clone()).to_string();
    EngineFacts {
        kind: "command".to_owned(),
        name: config.command.first().cloned().unwrap_or_default(),
        version: String::new(),
        device: "unknown".to_owned(),
        precision: "unknown".to_owned(),
        model: None,
        longest_tokens: None,
        parameters: BTreeMap::from([("command".to_owned(), command)]),
    }
}

fn fault(step: &str, first_error: &str, ended: bool) -> EngineFault {
    EngineFault { step: step.to_owned(), first_error: first_error.to_owned(), advice: None, ended }
}
