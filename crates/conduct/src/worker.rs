//! The shell around the reducer: reads contents, talks to the engine, writes through the ledger, and tells the
//! reducer what came of it. It decides nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pilote_corpus::index::{Closing, PartEntry};
use pilote_corpus::{Given, ReadError, Source};
use pilote_engine::{
    Batch, BatchId, Content, Engine, EngineFault, Event as EngineEvent, Request, Stop, WireId,
};
use pilote_ledger::{Ledger, LedgerError, Opened, PartReader, PartWriter, Record, Seal, Store};
use pilote_machine::causes::recognise;
use pilote_spec::{
    BatchMeasures, Item, MeasureLine, Outcome, Output, Position, Reason, Refusal, Trial, TrialEvent,
    WorkReason,
};

use crate::conductor::Conductor;
use crate::drift;
use crate::error::ConductError;
use crate::guard::Tally;
use crate::indexing;
use crate::journal::{Journal, failed};
use crate::news::{EndReason, News};
use crate::origin::Origin;
use crate::plan::{self, PartWork};
use crate::reducer::{Effect, Event, Reducer};
use crate::settings::Step;
use crate::standing;

/// How often an interrupt is looked for while nothing happens.
const HEED: Duration = Duration::from_millis(100);

/// Gives the content of an indexed item.
pub(crate) trait Contents {
    fn content(&self, item: &Item) -> Result<Content, ReadError>;

    /// Makes the items of a part ready to be read in any order.
    fn prepare(&self, _items: &[Item]) -> Result<(), ReadError> {
        Ok(())
    }
}

impl Contents for Source {
    fn content(&self, item: &Item) -> Result<Content, ReadError> {
        Ok(match pilote_corpus::give(self, item)? {
            Given::Text(text) => Content::Text(text),
            Given::File(path) => Content::File(path),
        })
    }

    fn prepare(&self, items: &[Item]) -> Result<(), ReadError> {
        pilote_corpus::prepare(self, items)
    }
}

/// What a worker works on.
pub(crate) struct Job<'a> {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: &'a Ledger,
    pub(crate) contents: &'a dyn Contents,
    pub(crate) trial: &'a Trial,
    pub(crate) closing: &'a Closing,
    pub(crate) origin: Option<&'a Origin>,
    pub(crate) journal: &'a mut Journal,
    pub(crate) reducer: &'a mut Reducer,
    /// What the guards have seen.
    pub(crate) tally: Arc<Tally>,
    /// The engine, where it was started already.
    pub(crate) engine: Option<Box<dyn Engine>>,
    /// A part that was opened already, so that nobody else has it.
    pub(crate) claimed: Option<Box<PartWriter>>,
    /// An accepted item of a sealed part.
    pub(crate) witness: Option<Item>,
    /// Outcomes that were durable before, all parts together.
    pub(crate) durable: Outcomes,
}

/// How often it is looked whether others finished their parts or went away.
const OTHERS_EVERY: Duration = Duration::from_millis(500);

/// Outcomes by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
}

impl Outcomes {
    pub(crate) fn total(self) -> u64 {
        self.accepted + self.refused
    }
}

/// How the work ended.
pub(crate) struct WorkEnd {
    pub(crate) why: EndReason,
    pub(crate) error: Option<Box<ConductError>>,
    pub(crate) durable: Outcomes,
}

/// Does one job.
pub(crate) struct Worker<'w, 'c, 'a> {
    conductor: &'w mut Conductor<'c>,
    job: Job<'a>,
    open: Option<OpenPart>,
    queue: VecDeque<Event>,
    interrupt_seen: bool,
    /// When an event last said how many outcomes are durable.
    noted: Duration,
    /// How many it said.
    said: Outcomes,
}

struct OpenPart {
    writer: Box<PartWriter>,
    items: Vec<Item>,
    /// Outcomes that are known and not durable yet.
    pending: Outcomes,
    /// When the first of them came.
    pending_since: Duration,
}

/// What an effect means for the part in hand.
enum Flow {
    On,
    PartDone,
    Stop(EndReason),
}

impl<'w, 'c, 'a> Worker<'w, 'c, 'a> {
    pub(crate) fn new(conductor: &'w mut Conductor<'c>, job: Job<'a>) -> Self {
        let (noted, said) = (conductor.clock.monotonic(), job.durable);
        Self { conductor, job, open: None, queue: VecDeque::new(), interrupt_seen: false, noted, said }
    }

    /// Works until everything has its outcome or something stops it. What was reported as durable stays so, whatever
    /// the end.
    pub(crate) fn work(mut self) -> WorkEnd {
        let (why, error) = match self.parts() {
            Ok(why) => (why, None),
            Err(error) if error.is_of_writing() => (EndReason::WriteError, Some(Box::new(error))),
            Err(error) => {
                // What is known already can still be kept.
                let kept = self.commit().and_then(|()| self.release());
                (EndReason::Fault, Some(Box::new(kept.err().unwrap_or(error))))
            }
        };
        let orderly = matches!(why, EndReason::Done | EndReason::Interrupted);
        self.dismiss_engine(if orderly { Stop::Orderly } else { Stop::Now });
        let noted = self.note_end(why, error.as_deref());
        let durable = self.job.durable;
        match (noted, error) {
            (Err(failed), None) => {
                WorkEnd { why: EndReason::WriteError, error: Some(Box::new(failed)), durable }
            }
            (_, error) => WorkEnd { why, error, durable },
        }
    }

    fn parts(&mut self) -> Result<EndReason, ConductError> {
        let mut left: VecDeque<&PartEntry> = self.job.closing.parts.iter().collect();
        let mut with_others: Vec<&PartEntry> = Vec::new();
        while let Some(entry) = left.pop_front() {
            let Some(opened) = self.open(entry.part)? else {
                with_others.push(entry);
                continue;
            };
            match opened {
                Opened::Sealed(seal) => self.found(&seal),
                Opened::Writer(writer) => {
                    if let Some(why) = self.part(entry, writer)? {
                        return Ok(why);
                    }
                }
            }
            // What others refused meanwhile counts for the share of refusals as well.
            self.drop_sealed(&mut with_others)?;
        }
        while !with_others.is_empty() {
            if self.await_others() {
                return Ok(EndReason::Interrupted);
            }
            let mut held = Vec::new();
            for entry in with_others {
                match self.open(entry.part)? {
                    None => held.push(entry),
                    Some(Opened::Sealed(seal)) => self.found(&seal),
                    Some(Opened::Writer(writer)) => {
                        if let Some(why) = self.part(entry, writer)? {
                            return Ok(why);
                        }
                    }
                }
            }
            with_others = held;
        }
        Ok(EndReason::Done)
    }

    fn found(&mut self, seal: &Seal) {
        let witness = self.job.witness.as_ref().map(|item| item.position);
        let (accepted, refused) = (seal.accepted, seal.refused);
        self.queue.push_back(Event::FoundSealed { accepted, refused, witness });
    }

    /// Takes out of `parts`, which others had, those that are sealed by now.
    fn drop_sealed(&mut self, parts: &mut Vec<&PartEntry>) -> Result<(), ConductError> {
        let mut held = Vec::with_capacity(parts.len());
        for entry in parts.drain(..) {
            let seal = PartReader::new(&*self.job.store, entry.part)?.seal().cloned();
            match seal {
                Some(seal) => self.found(&seal),
                None => held.push(entry),
            }
        }
        *parts = held;
        Ok(())
    }

    /// Opens a part; none where somebody else works on it, and the trial is shared.
    fn open(&mut self, part: u32) -> Result<Option<Opened>, ConductError> {
        if let Some(writer) = self.job.claimed.take_if(|writer| writer.part() == part) {
            return Ok(Some(Opened::Writer(writer)));
        }
        match self.job.ledger.open_part(part) {
            Err(
                LedgerError::HeldBy { .. } | LedgerError::OwnerUnknown { .. } | LedgerError::Contended { .. },
            ) if self.conductor.settings.shared => Ok(None),
            opened => Ok(Some(opened?)),
        }
    }

    /// Waits a while, since others hold all that is left: they finish it, or go away and leave it. The engine is let
    /// go of meanwhile, with the memory and the devices that it holds. True when an interrupt came.
    fn await_others(&mut self) -> bool {
        self.dismiss_engine(Stop::Orderly);
        let Outcomes { accepted, refused } = self.job.durable;
        let declared = self.job.closing.items;
        self.conductor.progress.report(News::Durable { accepted, refused, declared });
        self.conductor.clock.wait(OTHERS_EVERY);
        self.conductor.interrupt.load(Ordering::Relaxed)
    }

    /// Works on one part; the reason where the trial stops in it.
    fn part(
        &mut self,
        entry: &PartEntry,
        writer: Box<PartWriter>,
    ) -> Result<Option<EndReason>, ConductError> {
        let part = entry.part;
        let items = indexing::read_part(&*self.job.store, entry)?;
        let position = entry.first;
        self.job.contents.prepare(&items).map_err(|source| ConductError::Input { position, source })?;
        let mut recorded = BTreeMap::new();
        if let Some(taken_over) = writer.taken_over() {
            let event = TrialEvent::TakenOver {
                part,
                from: format!("{} ({})", taken_over.from, taken_over.why),
                adopted_bytes: taken_over.adopted_bytes(),
                torn_bytes: taken_over.torn_bytes(),
            };
            recorded = standing::recorded(&*self.job.store, part)?;
            self.note(event)?;
        }
        let carried =
            self.job.origin.map(|origin| origin.carried(part, &items)).transpose()?.unwrap_or_default();
        let not_asked: BTreeSet<Position> = carried.iter().map(|(position, _)| *position).collect();
        let work = PartWork {
            part,
            batches: plan::batches(&items, self.job.trial.batch_items, |it| {
                !not_asked.contains(&it.position)
            }),
            known: plan::refusals(&items).chain(carried).collect(),
            recorded,
        };
        self.open =
            Some(OpenPart { writer, items, pending: Outcomes::default(), pending_since: Duration::ZERO });
        self.queue.push_back(Event::Opened(work));
        loop {
            while let Some(event) = self.queue.pop_front() {
                let effects = self.job.reducer.step(self.conductor.clock.monotonic(), event);
                for effect in effects {
                    match self.perform(effect)? {
                        Flow::On => {}
                        Flow::PartDone => return Ok(None),
                        Flow::Stop(why) => return Ok(Some(why)),
                    }
                }
            }
            self.commit_if_due()?;
            self.listen();
        }
    }

    fn perform(&mut self, effect: Effect) -> Result<Flow, ConductError> {
        match effect {
            Effect::Submit { batch, asks } => self.submit(batch, &asks)?,
            Effect::Record { position, attempt, outcome } => self.record(position, attempt, outcome)?,
            Effect::Measured { number, items, took, measures } => {
                self.measure(number, items, took, measures)?;
            }
            Effect::Stray { kind, said: wire } => {
                let what = kind.as_str().to_owned();
                self.note(TrialEvent::StrayAnswer { what, wire })?;
            }
            Effect::Failure { fault, in_a_row } => self.note_failure(fault, in_a_row)?,
            Effect::Restart { after } => self.restart_engine(after)?,
            Effect::PartDone { .. } => {
                self.seal()?;
                return Ok(Flow::PartDone);
            }
            Effect::Stop(why) => {
                self.commit()?;
                self.release()?;
                return Ok(Flow::Stop(why.into()));
            }
        }
        Ok(Flow::On)
    }

    /// Reads the contents and hands them over. An input that is no longer what was indexed is told to the reducer as
    /// such; the others of its batch go on without it.
    fn submit(&mut self, batch: BatchId, asks: &[(WireId, Position)]) -> Result<(), ConductError> {
        let mut requests = Vec::with_capacity(asks.len());
        for (wire, position) in asks {
            match self.content(*position) {
                Ok(content) => {
                    let mut request = Request::new(*wire, content);
                    if let Some(item) = self.item(*position) {
                        request.id = item.id.as_ref().map(|id| id.0.clone());
                        request.columns = item.columns.clone();
                        request.body = self.job.trial.asks_bodies();
                    }
                    requests.push(request);
                }
                Err(source @ ReadError::Io { .. }) => {
                    return Err(ConductError::Input { position: *position, source });
                }
                Err(error) => {
                    let refusal = changed(&error);
                    self.queue.push_back(Event::Unreadable { wire: *wire, refusal });
                }
            }
        }
        if requests.is_empty() {
            self.queue.push_back(Event::Finished { batch, measures: BatchMeasures::default() });
            return Ok(());
        }
        if self.job.engine.is_none()
            && let Err(fault) = self.start_engine()?
        {
            self.queue.push_back(Event::Lost { fault });
            return Ok(());
        }
        if let Some(Err(fault)) =
            self.job.engine.as_mut().map(|engine| engine.submit(Batch { id: batch, requests }))
        {
            self.queue.push_back(Event::Failed { batch, fault });
        }
        (self.conductor.on_step)(Step::Submitted);
        Ok(())
    }

    fn content(&self, position: Position) -> Result<Content, ReadError> {
        let item = self.item(position).or(self.job.witness.as_ref()).filter(|item| item.position == position);
        match item {
            Some(item) => self.job.contents.content(item),
            None => Err(ReadError::Io {
                path: position.to_string(),
                source: std::io::Error::other("the position is in no part at hand"),
            }),
        }
    }

    /// The item of the part in hand at `position`. Positions of a part are consecutive.
    fn item(&self, position: Position) -> Option<&Item> {
        let items = &self.open.as_ref()?.items;
        let first = items.first()?.position.0;
        items.get(usize::try_from(position.0.checked_sub(first)?).ok()?)
    }

    /// A file that the engine made becomes a payload, durable before the record that names it.
    fn kept(&mut self, position: Position, outcome: Outcome) -> Result<Outcome, ConductError> {
        let (Outcome::Accepted(Output::FileMade { path }), Some(open)) = (&outcome, &mut self.open) else {
            return Ok(outcome);
        };
        let mut made = fs_err::File::open(path).map_err(|source| ConductError::Made {
            position,
            path: path.clone(),
            source,
        })?;
        let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
        let name =
            extension.map_or_else(|| position.to_string(), |extension| format!("{position}.{extension}"));
        let stored = open.writer.put_payload(&name, &mut made)?;
        // What was taken over is no longer needed where it was made; one that stays goes with its folder.
        let _ = fs_err::remove_file(path);
        let (payload, digest, bytes) = (stored.name, stored.sha256, stored.bytes);
        Ok(Outcome::Accepted(Output::File { payload, digest, bytes }))
    }

    fn record(&mut self, position: Position, attempt: u32, outcome: Outcome) -> Result<(), ConductError> {
        let outcome = self.kept(position, outcome)?;
        let item = self.item(position);
        let (id, sha256) = item.map(|item| (item.id.clone(), item.digest)).unwrap_or_default();
        // An outcome that needed no engine counts as the first attempt.
        let accepted = outcome.is_accepted();
        let record = Record { position, id, sha256, attempt: attempt.max(1), outcome };
        let now = self.conductor.clock.monotonic();
        let Some(open) = &mut self.open else { return Ok(()) };
        open.writer.append(&[record])?;
        if open.pending.total() == 0 {
            open.pending_since = now;
        }
        if accepted {
            open.pending.accepted += 1;
        } else {
            open.pending.refused += 1;
        }
        let full = open.pending.total() >= self.conductor.settings.sync_items;
        (self.conductor.on_step)(Step::Answered);
        if full { self.commit() } else { Ok(()) }
    }

    fn commit_if_due(&mut self) -> Result<(), ConductError> {
        let now = self.conductor.clock.monotonic();
        let due = |open: &OpenPart| {
            open.pending.total() > 0
                && now.saturating_sub(open.pending_since) >= self.conductor.settings.sync_every
        };
        if self.open.as_ref().is_some_and(due) { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), ConductError> {
        let Some(open) = self.open.as_mut().filter(|open| open.pending.total() > 0) else { return Ok(()) };
        open.writer.commit()?;
        let Outcomes { accepted, refused } = std::mem::take(&mut open.pending);
        self.job.durable.accepted += accepted;
        self.job.durable.refused += refused;
        (self.conductor.on_step)(Step::Committed);
        let Outcomes { accepted, refused } = self.job.durable;
        self.conductor.progress.report(News::Durable { accepted, refused, declared: self.job.closing.items });
        let now = self.conductor.clock.monotonic();
        if now.saturating_sub(self.noted) >= self.conductor.settings.note_every {
            self.noted = now;
            self.say_progress(now)?;
        }
        Ok(())
    }

    /// Notes how many outcomes are durable, where that was not noted yet.
    fn say_progress(&mut self, now: Duration) -> Result<(), ConductError> {
        if self.said == self.job.durable {
            return Ok(());
        }
        self.said = self.job.durable;
        let Outcomes { accepted, refused } = self.said;
        Ok(self.job.journal.event(now, TrialEvent::Progress { accepted, refused })?)
    }

    fn seal(&mut self) -> Result<(), ConductError> {
        self.commit()?;
        let Some(open) = self.open.take() else { return Ok(()) };
        let part = open.writer.part();
        let seal = open.writer.seal()?;
        // The items of this part are let go of; the witness stays at hand for the parts to come.
        let witness = self.job.reducer.witness();
        if let Some(item) = open.items.into_iter().find(|item| Some(item.position) == witness) {
            self.job.witness = Some(item);
        }
        (self.conductor.on_step)(Step::Sealed);
        self.note(TrialEvent::Sealed { part, accepted: seal.accepted, refused: seal.refused })?;
        self.conductor.progress.report(News::Sealed { part });
        Ok(())
    }

    /// Gives the part in hand up, so that any machine may take it up.
    fn release(&mut self) -> Result<(), ConductError> {
        self.open.take().map_or(Ok(()), |open| Ok(open.writer.release()?))
    }

    fn measure(
        &mut self,
        batch: u64,
        items: u64,
        took: Duration,
        mut measures: BatchMeasures,
    ) -> Result<(), ConductError> {
        let Some(part) = self.open.as_ref().map(|open| open.writer.part()) else { return Ok(()) };
        if self.job.trial.engine.kind == "builtin" && measures.peak_bytes.is_none() {
            // The built-in engine computes in this very process.
            measures.peak_bytes = pilote_machine::memory_of(Path::new("/"), std::process::id()).peak_resident;
        }
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let line = MeasureLine { at_us: 0, part, batch, items, took_us, measures };
        Ok(self.job.journal.measure(self.conductor.clock.monotonic(), line)?)
    }

    /// Waits for the engine or an interrupt, not longer than until the next commit is due.
    fn listen(&mut self) {
        if !self.interrupt_seen && self.conductor.interrupt.load(Ordering::Relaxed) {
            self.interrupt_seen = true;
            self.conductor.progress.report(News::Interrupted);
            if let Some(engine) = &mut self.job.engine {
                engine.hold();
            }
            self.queue.push_back(Event::Interrupted);
            return;
        }
        let now = self.conductor.clock.monotonic();
        let wait = match &self.open {
            Some(open) if open.pending.total() > 0 => {
                let waited = now.saturating_sub(open.pending_since);
                self.conductor.settings.sync_every.saturating_sub(waited).min(HEED)
            }
            _ => HEED,
        };
        let happened = match self.job.engine.as_mut().filter(|_| self.job.reducer.awaits_engine()) {
            Some(engine) => engine.poll(wait),
            None => Ok(Vec::new()),
        };
        match happened {
            Ok(events) => self.queue.extend(events.into_iter().map(translate)),
            Err(fault) => self.queue.push_back(Event::Lost { fault }),
        }
        if self.queue.is_empty() {
            self.queue.push_back(Event::Tick);
        }
    }

    fn restart_engine(&mut self, after: Duration) -> Result<(), ConductError> {
        self.dismiss_engine(Stop::Now);
        // What is known is made durable before a wait that may be long.
        self.commit()?;
        self.conductor.progress.report(News::EngineAgain { after });
        let until = self.conductor.clock.monotonic() + after;
        loop {
            let left = until.saturating_sub(self.conductor.clock.monotonic());
            if self.conductor.interrupt.load(Ordering::Relaxed) {
                // The interrupt is told before anything else; the engine is left where it is.
                return Ok(());
            }
            if left.is_zero() {
                break;
            }
            self.conductor.clock.wait(left.min(HEED));
        }
        let event = match self.start_engine()? {
            Ok(()) => Event::Started,
            Err(fault) => Event::Lost { fault },
        };
        self.queue.push_back(event);
        Ok(())
    }

    fn start_engine(&mut self) -> Result<Result<(), EngineFault>, ConductError> {
        let (project, tally) = (&self.job.trial.project, &self.job.tally);
        let engine = match self.conductor.start_engine(project, tally, self.job.journal)? {
            Ok(engine) => engine,
            Err(fault) => return Ok(Err(fault)),
        };
        let changes = drift::engine(&self.job.trial.engine, engine.facts());
        if !changes.is_empty() {
            return Err(ConductError::EngineChanged { changes });
        }
        self.job.engine = Some(engine);
        Ok(Ok(()))
    }

    fn dismiss_engine(&mut self, how: Stop) {
        if let Some(mut engine) = self.job.engine.take() {
            // An answer to nothing that is asked would be seen here, after the last batch.
            if let (Stop::Orderly, Ok(events)) = (how, engine.poll(Duration::ZERO)) {
                self.queue.extend(events.into_iter().map(translate));
            }
            // It is ended by force where it does not stop as asked, and nothing more is expected of it.
            let _ = engine.stop(how);
            if let (Stop::Orderly, Ok(events)) = (how, engine.poll(Duration::ZERO)) {
                self.queue.extend(events.into_iter().map(translate));
            }
        }
    }

    fn note(&mut self, event: TrialEvent) -> Result<(), ConductError> {
        Ok(self.job.journal.event(self.conductor.clock.monotonic(), event)?)
    }

    fn note_failure(&mut self, fault: EngineFault, in_a_row: u32) -> Result<(), ConductError> {
        self.conductor.progress.report(News::EngineFailed { fault: &fault, in_a_row });
        self.note(failed(fault))
    }

    /// The last word: answers that came after everything else are counted, then the end is noted. After a failed
    /// write this may fail as well, which changes nothing.
    fn note_end(&mut self, why: EndReason, error: Option<&ConductError>) -> Result<(), ConductError> {
        let now = self.conductor.clock.monotonic();
        while let Some(event) = self.queue.pop_front() {
            for effect in self.job.reducer.step(now, event) {
                if let Effect::Stray { .. } = effect {
                    self.perform(effect)?;
                }
            }
        }
        if let Some(error) = error {
            let cause = recognise(&error.to_string()).map(str::to_owned);
            let (step, first_error) = (error.code().to_owned(), error.to_string());
            self.note(TrialEvent::Failed { step, first_error, rung: None, cause, advice: None })?;
        }
        self.say_progress(now)?;
        if let Some(detail) = self.job.tally.words() {
            self.note(TrialEvent::Noted { note: "guards-agreed".to_owned(), detail })?;
        }
        let stray_answers = self.job.reducer.counts().stray;
        self.note(TrialEvent::Ended { why: why.as_str().to_owned(), stray_answers })
    }
}

/// The refusal of an item whose input is no longer what the index says.
fn changed(error: &ReadError) -> Refusal {
    let refusal = Refusal::new(Reason::Work(WorkReason::InputChanged));
    match error {
        ReadError::Changed { expected, seen } => refusal
            .with("expected", expected)
            .with("seen", seen.map_or_else(|| "none".to_owned(), |seen| seen.to_string())),
        other => refusal.with("detail", other),
    }
}

fn translate(event: EngineEvent) -> Event {
    match event {
        EngineEvent::Answer { wire, answer } => Event::Answered { wire, answer },
        EngineEvent::Finished { batch, measures } => Event::Finished { batch, measures },
        EngineEvent::Failed { batch, fault } => Event::Failed { batch, fault },
        EngineEvent::Stray { said } => Event::Stray { said },
    }
}

#[cfg(test)]
mod tests;
