//! The conductor's whole judgement, as a function of what happened: an event goes in, effects come out. It opens no
//! file, reads no clock and talks to no engine, so a simulation can drive it through any misfortune.
//!
//! What it promises:
//! - A position gets at most one outcome, and only a fault of the item itself refuses it. An engine that fails leaves
//!   its items pending, and failures in a row stop the trial.
//! - An item is blamed only on evidence. When a batch fails twice, its items are asked alone; when an item alone ends
//!   the engine or gets no answer, a *witness* (an item that was answered before) is asked next. Only if the engine
//!   still answers the witness is the item to blame: after one silence it is refused as `no-answer`, after
//!   [`Rules::deaths_max`] deaths as `poison`. Without a witness's answer the failure is the engine's.
//! - Answers are matched by wire identifiers, never by order. One that names nothing asked, comes twice or comes after
//!   its batch was closed is counted and changes no outcome.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use pilote_engine::{Answer, BatchId, DISAGREES, EngineFault, NO_ACCESS, NOT_BEGUN, WireId};
use pilote_spec::{
    BatchMeasures, Beyond, Campaign, Outcome, Output, OutputSpec, Position, Reason, Refusal, WorkReason,
    accept,
};

use crate::plan::{PartWork, Recorded};

/// A batch that failed is asked once more as it was; if it fails again, its items are asked alone.
const WHOLE_TRIES: u32 = 2;

/// Answers in a row from the first one on that are no finite numbers, after which it is the engine and not the items.
const NOT_FINITE_MAX: usize = 5;

/// What the reducer goes by; none of it changes while a trial runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// What an acceptable output is.
    pub output: OutputSpec,
    /// What becomes of an input that the engine cut.
    pub beyond: Beyond,
    /// Positions of the index.
    pub declared: u64,
    /// The campaign's share of refusals, where one is declared.
    pub campaign: Option<Campaign>,
    /// Engine failures in a row that stop the trial.
    pub failures_max: u32,
    /// Deaths of the engine on one item alone after which the item is refused as poison.
    pub deaths_max: u32,
    /// How long a batch may go without any answer; none waits for ever.
    pub stall: Option<Duration>,
    /// Batches that the engine takes before the first is finished.
    pub in_flight_max: usize,
    /// The first wire identifier of this conductor; no other one of the same trial uses its numbers.
    pub first_wire: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A part was opened for writing.
    Opened(PartWork),
    /// A part was found finished by an earlier start, with these counts.
    FoundSealed {
        /// Accepted items of the part.
        accepted: u64,
        /// Refused items of the part.
        refused: u64,
        /// One of the accepted items, where there is one.
        witness: Option<Position>,
    },
    /// The engine answered a question.
    Answered {
        /// Which.
        wire: WireId,
        /// The answer.
        answer: Answer,
    },
    /// The engine said something of what it was never asked.
    Stray {
        /// The name as it came.
        said: String,
    },
    /// The content of a question could not be handed over; the engine never saw it.
    Unreadable {
        /// Which.
        wire: WireId,
        /// Why.
        refusal: Refusal,
    },
    /// The engine finished a batch.
    Finished {
        /// Which.
        batch: BatchId,
        /// What it measured.
        measures: BatchMeasures,
    },
    /// The engine failed on a batch.
    Failed {
        /// Which.
        batch: BatchId,
        /// Why.
        fault: EngineFault,
    },
    /// The engine is gone, or did not start.
    Lost {
        /// Why.
        fault: EngineFault,
    },
    /// The engine is ready again.
    Started,
    /// Time went by.
    Tick,
    /// Somebody asked for an orderly stop.
    Interrupted,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Read the contents of these items and hand them to the engine.
    Submit {
        /// The batch's name.
        batch: BatchId,
        /// Each question with its item.
        asks: Vec<(WireId, Position)>,
    },
    /// Record an outcome.
    Record {
        /// Of which item.
        position: Position,
        /// How often this conductor asked it; 0 where no engine was needed.
        attempt: u32,
        /// The outcome.
        outcome: Outcome,
    },
    /// Note what a planned batch cost.
    Measured {
        /// The batch's number within its part, from 0.
        number: u64,
        /// Its items.
        items: u64,
        /// From handing over to its end.
        took: Duration,
        /// What the engine measured.
        measures: BatchMeasures,
    },
    /// Note an answer that cannot be used.
    Stray {
        /// What is wrong with it.
        kind: StrayKind,
        /// Its wire identifier or other name as it came.
        said: String,
    },
    /// Note a failure of the engine.
    Failure {
        /// The failure.
        fault: EngineFault,
        /// How many there were in a row, this one included.
        in_a_row: u32,
    },
    /// End what is left of the engine and start it anew.
    Restart {
        /// How long to wait before.
        after: Duration,
    },
    /// Every position of the part has an outcome: commit and seal it.
    PartDone {
        /// Which part.
        part: u32,
    },
    /// Commit what there is and end.
    Stop(StopReason),
}

/// Why the reducer stops before the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Interrupted,
    /// The engine failed too often in a row.
    Breaker,
    /// More refusals than the campaign bears.
    RefusedMax,
    /// A guard found answers that contradict what is known, or one another.
    Guard,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StrayKind {
    /// It names no question that was ever asked.
    Unknown,
    /// Its question was answered already.
    Repeated,
    /// Its batch was given up or finished before.
    Late,
}

impl StrayKind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Repeated => "repeated",
            Self::Late => "late",
        }
    }
}

/// Outcomes and answers as counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted items, those of earlier starts included.
    pub accepted: u64,
    /// Refused items, those of earlier starts included.
    pub refused: u64,
    /// Items that already had an outcome when their part was opened.
    pub carried_over: u64,
    /// Questions asked, repetitions included.
    pub asked: u64,
    /// Answers that could not be used.
    pub stray: u64,
}

/// A set of questions that go together.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ask {
    /// A batch of the plan.
    Whole { number: u64, positions: Vec<Position>, tries: u32 },
    /// One item whose batch failed or did not answer for it. Nothing else is in flight meanwhile, so that a death
    /// has one possible cause.
    Alone(Position),
    /// An item that was answered before, asked again to see whether the engine still works. Its answer is dropped.
    Witness(Position),
}

impl Ask {
    fn positions(&self) -> &[Position] {
        match self {
            Self::Whole { positions, .. } => positions,
            Self::Alone(position) | Self::Witness(position) => std::slice::from_ref(position),
        }
    }

    fn is_exclusive(&self) -> bool {
        !matches!(self, Self::Whole { .. })
    }
}

#[derive(Debug, Clone)]
struct InFlight {
    ask: Ask,
    asked: BTreeMap<WireId, Asked>,
    submitted: Duration,
    last_progress: Duration,
}

#[derive(Debug, Clone)]
struct Asked {
    position: Position,
    answered: bool,
}

/// What an item asked alone is suspected of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Blame {
    /// It ended the engine, in these words.
    Death(String),
    /// It got no answer.
    Silence,
}

#[derive(Debug, Clone, Default)]
struct Suspect {
    /// Deaths after which the engine was seen to work.
    deaths: u32,
    /// What happened last and no witness has confirmed yet.
    unproven: Option<Blame>,
}

#[derive(Debug, Clone)]
struct PartState {
    part: u32,
    batches: std::iter::Enumerate<std::vec::IntoIter<Vec<Position>>>,
    undone: BTreeSet<Position>,
    poison: BTreeSet<Position>,
    again: VecDeque<Ask>,
    suspects: BTreeMap<Position, Suspect>,
}

/// The state of the conductor.
#[derive(Debug, Clone)]
pub struct Reducer {
    rules: Rules,
    part: Option<PartState>,
    in_flight: BTreeMap<BatchId, InFlight>,
    attempts: BTreeMap<Position, u32>,
    engine_ready: bool,
    next_wire: u64,
    next_batch: u64,
    failures_in_a_row: u32,
    counts: Counts,
    first_error: Option<EngineFault>,
    /// An item that an engine answered once, of any part.
    witness: Option<Position>,
    /// Refusals of answers that are not finite, as long as nothing else was ever answered: the engine may be at fault.
    not_finite: Vec<(Position, Refusal)>,
    /// Whether an engine gave anything else than what is not finite.
    is_proven: bool,
    /// Nothing new is asked; what is in flight is still awaited.
    draining: Option<StopReason>,
    stopped: bool,
}

impl Reducer {
    /// A conductor that has an engine and no part yet.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            next_wire: rules.first_wire,
            rules,
            part: None,
            in_flight: BTreeMap::new(),
            attempts: BTreeMap::new(),
            engine_ready: true,
            next_batch: 1,
            failures_in_a_row: 0,
            counts: Counts::default(),
            first_error: None,
            witness: None,
            not_finite: Vec::new(),
            is_proven: false,
            draining: None,
            stopped: false,
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The first failure of the engine.
    #[must_use]
    pub fn first_error(&self) -> Option<&EngineFault> {
        self.first_error.as_ref()
    }

    /// The item that is asked again when there is doubt whether the engine still works.
    #[must_use]
    pub fn witness(&self) -> Option<Position> {
        self.witness
    }

    /// Whether the engine has questions that it did not finish.
    #[must_use]
    pub fn awaits_engine(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Takes in what happened at `at` (on a clock that never goes back) and says what is to be done.
    #[must_use]
    pub fn step(&mut self, at: Duration, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Opened(work) => self.opened(work, &mut effects),
            Event::FoundSealed { accepted, refused, witness } => {
                self.witness = self.witness.or(witness);
                self.is_proven |= accepted > 0;
                self.carry_over(accepted, refused);
            }
            Event::Answered { wire, answer } => self.answered(at, wire, answer, &mut effects),
            Event::Stray { said } => self.stray(StrayKind::Unknown, said, &mut effects),
            Event::Unreadable { wire, refusal } => self.unreadable(wire, refusal, &mut effects),
            Event::Finished { batch, measures } => self.finished(at, batch, measures, &mut effects),
            Event::Failed { batch, fault } => self.failed(batch, fault, &mut effects),
            Event::Lost { fault } => self.lost(fault, &mut effects),
            Event::Started => self.engine_ready = true,
            Event::Tick => self.tick(at, &mut effects),
            Event::Interrupted => self.drain(StopReason::Interrupted),
        }
        self.pump(at, &mut effects);
        effects
    }

    fn opened(&mut self, work: PartWork, effects: &mut Vec<Effect>) {
        let mut undone: BTreeSet<Position> = work.batches.iter().flatten().copied().collect();
        undone.extend(work.known.iter().map(|(position, _)| *position));
        let mut poison = BTreeSet::new();
        let (mut accepted, mut refused) = (0, 0);
        for (position, recorded) in work.recorded {
            undone.remove(&position);
            match recorded {
                Recorded::Accepted => {
                    accepted += 1;
                    self.is_proven = true;
                    self.witness = self.witness.or(Some(position));
                }
                Recorded::Refused => refused += 1,
                Recorded::Poison => {
                    refused += 1;
                    poison.insert(position);
                }
            }
        }
        self.carry_over(accepted, refused);
        self.part = Some(PartState {
            part: work.part,
            batches: work.batches.into_iter().enumerate(),
            undone,
            poison,
            again: VecDeque::new(),
            suspects: BTreeMap::new(),
        });
        for (position, outcome) in work.known {
            self.record(position, outcome, effects);
        }
        self.check_refusals();
    }

    fn carry_over(&mut self, accepted: u64, refused: u64) {
        self.counts.accepted += accepted;
        self.counts.refused += refused;
        self.counts.carried_over += accepted + refused;
    }

    fn answered(&mut self, at: Duration, wire: WireId, answer: Answer, effects: &mut Vec<Effect>) {
        let Some((position, is_witness)) = self.take_question(Some(at), wire, effects) else { return };
        self.failures_in_a_row = 0;
        self.confirm_suspects(position, effects);
        self.witness.get_or_insert(position);
        let Some(part) = &mut self.part else { return };
        part.suspects.remove(&position);
        if is_witness {
            return;
        }
        let outcome = match answer {
            Answer::Output(output) => {
                let uncut = within_limits(self.rules.beyond, output);
                match uncut.and_then(|output| accept(&self.rules.output, output)) {
                    Ok(output) => Outcome::Accepted(output),
                    Err(refusal) => Outcome::Refused(refusal),
                }
            }
            Answer::Refused(refusal) => Outcome::Refused(refusal),
        };
        match outcome {
            Outcome::Refused(refusal) if !self.is_proven && is_not_finite(&refusal) => {
                // It may be asked again, since it has no outcome yet.
                self.not_finite.retain(|(known, _)| *known != position);
                self.not_finite.push((position, refusal));
                self.blame_the_engine(effects);
            }
            outcome => {
                self.is_proven = true;
                self.blame_the_items(effects);
                self.record(position, outcome, effects);
            }
        }
    }

    /// Ends a trial whose first answers are all not finite, with its items pending: that is no fault of so many items.
    fn blame_the_engine(&mut self, effects: &mut Vec<Effect>) {
        if self.not_finite.len() < NOT_FINITE_MAX {
            return;
        }
        let fault = EngineFault {
            step: DISAGREES.to_owned(),
            first_error: format!("the first {NOT_FINITE_MAX} answers are all NaN, infinite or zero"),
            advice: Some(
                "a precision that the model does not bear gives this: try float32 or bfloat16 instead of float16, and \
                 look whether the model's files are whole"
                    .to_owned(),
            ),
            ended: true,
        };
        self.lost(fault, effects);
    }

    /// Records what was kept back: the engine gives other answers, or there is nothing else to be asked.
    fn blame_the_items(&mut self, effects: &mut Vec<Effect>) {
        for (position, refusal) in std::mem::take(&mut self.not_finite) {
            self.record(position, Outcome::Refused(refusal), effects);
        }
    }

    fn unreadable(&mut self, wire: WireId, refusal: Refusal, effects: &mut Vec<Effect>) {
        let Some((position, is_witness)) = self.take_question(None, wire, effects) else { return };
        if is_witness {
            // A witness whose file changed can no longer testify; the next answered item takes its place.
            self.witness = None;
        } else {
            self.record(position, Outcome::Refused(refusal), effects);
        }
    }

    /// Marks the question as answered and says whose it was, or counts a stray answer.
    fn take_question(
        &mut self,
        progress: Option<Duration>,
        wire: WireId,
        effects: &mut Vec<Effect>,
    ) -> Option<(Position, bool)> {
        let batch = self.in_flight.values_mut().find(|batch| batch.asked.contains_key(&wire));
        let kind = match batch {
            Some(batch) => {
                batch.last_progress = progress.unwrap_or(batch.last_progress);
                let is_witness = matches!(batch.ask, Ask::Witness(_));
                match batch.asked.get_mut(&wire) {
                    Some(asked) if !asked.answered => {
                        asked.answered = true;
                        return Some((asked.position, is_witness));
                    }
                    _ => StrayKind::Repeated,
                }
            }
            None if (self.rules.first_wire..self.next_wire).contains(&wire.0) => StrayKind::Late,
            None => StrayKind::Unknown,
        };
        self.stray(kind, wire.to_string(), effects);
        None
    }

    fn stray(&mut self, kind: StrayKind, said: String, effects: &mut Vec<Effect>) {
        self.counts.stray += 1;
        effects.push(Effect::Stray { kind, said });
    }

    fn finished(&mut self, at: Duration, batch: BatchId, measures: BatchMeasures, effects: &mut Vec<Effect>) {
        let Some(in_flight) = self.in_flight.remove(&batch) else {
            // A batch that was given up may still be reported as finished; nothing rests on that any more.
            if batch.0 >= self.next_batch {
                self.stray(StrayKind::Unknown, format!("b{}", batch.0), effects);
            }
            return;
        };
        let total = in_flight.asked.len();
        let missing: Vec<Position> =
            in_flight.asked.values().filter(|asked| !asked.answered).map(|asked| asked.position).collect();
        if missing.len() == total {
            let fault = EngineFault {
                step: "compute".to_owned(),
                first_error: format!(
                    "the engine finished a batch without an answer to any of its {total} questions"
                ),
                advice: None,
                ended: false,
            };
            self.count_failure(&fault, effects);
            self.requeue(in_flight.ask, &Blame::Silence);
            return;
        }
        let took = at.saturating_sub(in_flight.submitted);
        if let Ask::Whole { number, .. } = in_flight.ask {
            effects.push(Effect::Measured { number, items: total as u64, took, measures });
        }
        if let Some(part) = &mut self.part {
            part.again.extend(missing.into_iter().map(Ask::Alone));
        }
    }

    fn failed(&mut self, batch: BatchId, fault: EngineFault, effects: &mut Vec<Effect>) {
        if fault.ended {
            self.lost(fault, effects);
            return;
        }
        let Some(in_flight) = self.in_flight.remove(&batch) else { return };
        if fault.step != NOT_BEGUN {
            // What was not begun because the trial stops is no failure.
            self.count_failure(&fault, effects);
        }
        self.requeue(in_flight.ask, &Blame::Death(fault.first_error));
    }

    fn lost(&mut self, fault: EngineFault, effects: &mut Vec<Effect>) {
        self.engine_ready = false;
        self.count_failure(&fault, effects);
        let blame = Blame::Death(fault.first_error);
        for (_, in_flight) in std::mem::take(&mut self.in_flight) {
            self.requeue(in_flight.ask, &blame);
        }
        if !self.stopped && self.draining.is_none() {
            effects.push(Effect::Restart { after: backoff(self.failures_in_a_row) });
        }
    }

    fn count_failure(&mut self, fault: &EngineFault, effects: &mut Vec<Effect>) {
        self.failures_in_a_row += 1;
        self.first_error.get_or_insert_with(|| fault.clone());
        effects.push(Effect::Failure { fault: fault.clone(), in_a_row: self.failures_in_a_row });
        let disagrees = fault.step == DISAGREES;
        let hopeless = disagrees || fault.step == NO_ACCESS;
        if (hopeless || self.failures_in_a_row >= self.rules.failures_max) && !self.stopped {
            self.stopped = true;
            let why = if disagrees { StopReason::Guard } else { StopReason::Breaker };
            effects.push(Effect::Stop(why));
        }
    }

    /// Decides how the questions of a batch that failed are asked again.
    fn requeue(&mut self, ask: Ask, blame: &Blame) {
        let Some(part) = &mut self.part else { return };
        match ask {
            // The witness is asked anew as long as somebody is under suspicion.
            Ask::Witness(_) => {}
            Ask::Whole { number, positions, tries } if positions.len() > 1 && tries + 1 < WHOLE_TRIES => {
                part.again.push_back(Ask::Whole { number, positions, tries: tries + 1 });
            }
            Ask::Whole { positions, .. } => {
                part.again
                    .extend(positions.into_iter().filter(|it| part.undone.contains(it)).map(Ask::Alone));
            }
            Ask::Alone(position) => {
                part.suspects.entry(position).or_default().unproven = Some(blame.clone());
                part.again.push_back(Ask::Alone(position));
            }
        }
    }

    /// The engine answered `answered`, so what others are suspected of was not its failure.
    fn confirm_suspects(&mut self, answered: Position, effects: &mut Vec<Effect>) {
        let Some(part) = &mut self.part else { return };
        let mut verdicts = Vec::new();
        for (position, suspect) in part.suspects.iter_mut().filter(|(position, _)| **position != answered) {
            match suspect.unproven.take() {
                Some(Blame::Silence) => {
                    verdicts.push((*position, Refusal::new(Reason::Work(WorkReason::NoAnswer))));
                }
                Some(Blame::Death(detail)) => {
                    suspect.deaths += 1;
                    if suspect.deaths >= self.rules.deaths_max {
                        let refusal = Refusal::new(Reason::Work(WorkReason::Poison))
                            .with("deaths", suspect.deaths)
                            .with("detail", detail);
                        verdicts.push((*position, refusal));
                    }
                }
                None => {}
            }
        }
        for (position, refusal) in verdicts {
            self.record(position, Outcome::Refused(refusal), effects);
        }
    }

    /// Records the outcome of a position that has none yet; any other is a repetition of what is known.
    fn record(&mut self, position: Position, outcome: Outcome, effects: &mut Vec<Effect>) {
        let Some(part) = self.part.as_mut().filter(|part| part.undone.contains(&position)) else { return };
        part.undone.remove(&position);
        part.suspects.remove(&position);
        if outcome.is_accepted() {
            self.counts.accepted += 1;
        } else {
            self.counts.refused += 1;
        }
        let attempt = self.attempts.remove(&position).unwrap_or(0);
        effects.push(Effect::Record { position, attempt, outcome });
        self.check_refusals();
    }

    fn check_refusals(&mut self) {
        let beyond = |campaign: &Campaign| !campaign.bears(self.counts.refused, self.rules.declared);
        if self.rules.campaign.as_ref().is_some_and(beyond) {
            self.drain(StopReason::RefusedMax);
        }
    }

    fn drain(&mut self, why: StopReason) {
        self.draining.get_or_insert(why);
    }

    fn tick(&mut self, at: Duration, effects: &mut Vec<Effect>) {
        let Some(stall) = self.rules.stall else { return };
        if self.in_flight.values().any(|batch| at.saturating_sub(batch.last_progress) >= stall) {
            let fault = EngineFault {
                step: "compute".to_owned(),
                first_error: format!("no answer for {} s while a batch was in hand", stall.as_secs_f64()),
                advice: Some("raise the deadline if single items really take longer".to_owned()),
                ended: true,
            };
            self.lost(fault, effects);
        }
    }

    /// Asks as much as may be asked, and sees whether the part or the trial is at its end.
    fn pump(&mut self, at: Duration, effects: &mut Vec<Effect>) {
        loop {
            if self.stopped {
                return;
            }
            let idle = self.in_flight.is_empty();
            if let Some(part) = self.part.take_if(|part| idle && part.undone.is_empty()) {
                self.attempts.clear();
                effects.push(Effect::PartDone { part: part.part });
                return;
            }
            if let Some(why) = self.draining {
                if idle && self.part.is_some() {
                    self.stopped = true;
                    effects.push(Effect::Stop(why));
                }
                return;
            }
            if !self.engine_ready {
                return;
            }
            match self.next_ask() {
                Some(ask) => self.submit(at, ask, effects),
                None if idle && !self.not_finite.is_empty() => self.blame_the_items(effects),
                None => return,
            }
        }
    }

    fn next_ask(&mut self) -> Option<Ask> {
        let part = self.part.as_mut()?;
        let idle = self.in_flight.is_empty();
        if self.in_flight.len() >= self.rules.in_flight_max
            || self.in_flight.values().any(|batch| batch.ask.is_exclusive())
        {
            return None;
        }
        let undone = &part.undone;
        part.again.retain(|ask| ask.positions().iter().any(|position| undone.contains(position)));
        let is_unproven = |position: &Position| {
            part.suspects.get(position).is_some_and(|suspect| suspect.unproven.is_some())
        };
        let suspicion = part.suspects.values().any(|suspect| suspect.unproven.is_some());
        if let (true, Some(witness)) = (suspicion, self.witness) {
            return idle.then_some(Ask::Witness(witness));
        }
        let ready = |ask: &Ask| !matches!(ask, Ask::Alone(position) if is_unproven(position));
        if let Some(index) = part.again.iter().position(ready) {
            let waits = part.again[index].is_exclusive() && !idle;
            return if waits { None } else { part.again.remove(index) };
        }
        for (number, mut positions) in part.batches.by_ref() {
            if positions.iter().any(|position| part.undone.contains(position)) {
                positions.retain(|position| !part.poison.contains(position));
                return Some(Ask::Whole { number: number as u64, positions, tries: 0 });
            }
        }
        // Nothing else could show that the engine works: the suspect itself has to.
        if idle { part.again.pop_front() } else { None }
    }

    fn submit(&mut self, at: Duration, ask: Ask, effects: &mut Vec<Effect>) {
        let batch = BatchId(self.next_batch);
        self.next_batch += 1;
        let mut asks = Vec::with_capacity(ask.positions().len());
        for position in ask.positions() {
            asks.push((WireId(self.next_wire), *position));
            self.next_wire += 1;
            *self.attempts.entry(*position).or_default() += 1;
        }
        self.counts.asked += asks.len() as u64;
        let asked = asks
            .iter()
            .map(|(wire, position)| (*wire, Asked { position: *position, answered: false }))
            .collect();
        self.in_flight.insert(batch, InFlight { ask, asked, submitted: at, last_progress: at });
        effects.push(Effect::Submit { batch, asks });
    }
}

/// The output, or the refusal of an input that was cut where cutting is not declared.
fn within_limits(beyond: Beyond, output: Output) -> Result<Output, Refusal> {
    match (&output, beyond) {
        (
            Output::Category { cut_at_tokens: Some(limit), .. }
            | Output::Vector { cut_at_tokens: Some(limit), .. },
            Beyond::Refuse,
        ) => Err(Refusal::new(Reason::Work(WorkReason::TooLong)).with("limit", limit)),
        _ => Ok(output),
    }
}

fn is_not_finite(refusal: &Refusal) -> bool {
    refusal.reason == Reason::Work(WorkReason::NotFinite)
}

/// How long to wait before the engine is started again: nothing after a first failure, then doubling from one second
/// to half a minute, so that an endpoint that is down is not hammered.
fn backoff(failures_in_a_row: u32) -> Duration {
    match failures_in_a_row {
        0 | 1 => Duration::ZERO,
        more => Duration::from_secs(1 << (more - 2).min(5)).min(Duration::from_secs(30)),
    }
}

#[cfg(test)]
mod tests;
