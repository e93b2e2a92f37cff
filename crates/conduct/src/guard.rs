//! Guards over any engine: items with known answers ride in its batches, some items are asked again alone, and its
//! first answers are looked at before anything is recorded. A disagreement ends the engine with the step
//! [`DISAGREES`], and the trial with it.
//!
//! The conductor sees the engine through [`Watch`] as it sees any engine: of what is asked beside the items it sees
//! nothing. Its own questions bear names that no question of the conductor has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pilote_engine::{
    Answer, Batch, BatchId, Content, DISAGREES, Engine, EngineFault, Event, NOT_BEGUN, Request, Stop, WireId,
};
use pilote_spec::{BatchMeasures, EngineFacts, Guards, Refusal};

pub(crate) mod probe;

/// Names from here on are the guards' own: the conductor counts below, on 31 random bits and 32 of its own.
const OWN_NAMES: u64 = 1 << 63;
/// Characters of a text that the evidence shows.
const SHOWN_CHARS: usize = 60;

/// What the guards have seen in one trial, over every start of its engine; and the names that they used.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    names: AtomicU64,
    canaries: AtomicU64,
    sampled: AtomicU64,
}

impl Tally {
    fn name(&self) -> u64 {
        OWN_NAMES | self.names.fetch_add(1, Ordering::Relaxed)
    }

    /// What agreed, in words for the record; none where nothing was compared.
    pub(crate) fn words(&self) -> Option<String> {
        let [canaries, sampled] = [&self.canaries, &self.sampled].map(|count| count.load(Ordering::Relaxed));
        (canaries + sampled > 0)
            .then(|| format!("{canaries} answers to canaries and {sampled} to items asked twice agreed"))
    }
}

/// An engine whose answers are looked at before they count.
pub(crate) struct Watch {
    engine: Box<dyn Engine>,
    guards: Guards,
    tally: Arc<Tally>,
    open: BTreeMap<BatchId, Open>,
    /// Batches of our own: the second question about an item, by the batch that it belongs to.
    alone: BTreeMap<BatchId, BatchId>,
    /// Handed to the engine and not finished.
    in_flight: usize,
    /// Ready to be handed over as soon as the engine takes more.
    waiting: VecDeque<Batch>,
    /// What the conductor is told at the next look.
    news: Vec<Event>,
    batches: u64,
    sampled: u32,
}

/// A batch of the conductor's that is not finished.
#[derive(Default)]
struct Open {
    asked: BTreeSet<WireId>,
    /// The canary in it that is not answered yet, by its number in the declaration.
    canary: Option<(WireId, usize)>,
    /// Answers that count only once the canary was answered as expected.
    held: Vec<Event>,
    /// The item that is asked again, and what it was answered in the batch.
    sample: Option<(Request, Option<Answer>)>,
    /// The end of the batch, while its item is asked again.
    finished: Option<BatchMeasures>,
}

impl Watch {
    /// `engine` under the declared guards; itself where none are declared.
    pub(crate) fn over(engine: Box<dyn Engine>, guards: &Guards, tally: &Arc<Tally>) -> Box<dyn Engine> {
        if guards.is_empty() {
            return engine;
        }
        let sampled = u32::try_from(tally.sampled.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        Box::new(Self {
            engine,
            guards: guards.clone(),
            tally: Arc::clone(tally),
            open: BTreeMap::new(),
            alone: BTreeMap::new(),
            in_flight: 0,
            waiting: VecDeque::new(),
            news: Vec::new(),
            batches: 0,
            sampled,
        })
    }

    /// Hands over what waits, as far as the engine takes it.
    fn hand_over(&mut self) -> Result<(), EngineFault> {
        while self.in_flight < self.engine.in_flight_max().max(1) {
            let Some(batch) = self.waiting.pop_front() else { break };
            self.engine.submit(batch)?;
            self.in_flight += 1;
        }
        Ok(())
    }

    /// Looks at one event; what the conductor is to see of it goes into `seen`.
    fn look(&mut self, event: Event, seen: &mut Vec<Event>) -> Result<(), EngineFault> {
        match event {
            Event::Answer { wire, answer } if wire.0 >= OWN_NAMES => self.own(wire, &answer, seen),
            Event::Answer { wire, answer } => {
                self.answered(wire, answer, seen);
                Ok(())
            }
            Event::Finished { batch, measures } => {
                self.in_flight = self.in_flight.saturating_sub(1);
                self.finished(batch, measures, seen);
                Ok(())
            }
            Event::Failed { batch, fault } => {
                self.in_flight = self.in_flight.saturating_sub(1);
                match self.alone.remove(&batch) {
                    // What failed is our own question: the batch that it belongs to was done.
                    Some(of) if !fault.ended => self.release(of, seen),
                    Some(_) => return Err(fault),
                    None => {
                        self.open.remove(&batch);
                        seen.push(Event::Failed { batch, fault });
                    }
                }
                Ok(())
            }
            Event::Stray { .. } => {
                seen.push(event);
                Ok(())
            }
        }
    }

    /// An answer to one of the conductor's questions.
    fn answered(&mut self, wire: WireId, answer: Answer, seen: &mut Vec<Event>) {
        let Some(open) = self.open.values_mut().find(|open| open.asked.contains(&wire)) else {
            // The conductor knows what to make of it.
            seen.push(Event::Answer { wire, answer });
            return;
        };
        if let Some((request, first)) = &mut open.sample
            && request.wire == wire
        {
            first.get_or_insert_with(|| answer.clone());
        }
        let to = if open.canary.is_some() { &mut open.held } else { seen };
        to.push(Event::Answer { wire, answer });
    }

    /// An answer to one of our own questions.
    fn own(&mut self, wire: WireId, answer: &Answer, seen: &mut Vec<Event>) -> Result<(), EngineFault> {
        let canary = self.open.iter_mut().find_map(|(batch, open)| {
            let (_, number) = open.canary.take_if(|(canary, _)| *canary == wire)?;
            Some((*batch, number))
        });
        if let Some((batch, number)) = canary {
            known_answer(&self.guards, number, answer).map_err(|evidence| disagrees(&evidence))?;
            self.tally.canaries.fetch_add(1, Ordering::Relaxed);
            if let Some(open) = self.open.get_mut(&batch) {
                seen.append(&mut open.held);
            }
            return Ok(());
        }
        let sample = self.open.values_mut().find_map(|open| {
            open.finished.as_ref()?;
            open.sample.take_if(|(request, _)| request.wire == wire)
        });
        let Some((request, Some(first))) = sample else {
            seen.push(Event::Stray { said: wire.to_string() });
            return Ok(());
        };
        if let Some(why) = answers_disagree(&self.guards, &first, answer) {
            let item = request.id.map_or_else(|| shown(&request.content), |id| format!("the item `{id}`"));
            return Err(disagrees(&format!("{item}, asked in a batch and again alone: {why}")));
        }
        self.tally.sampled.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn finished(&mut self, batch: BatchId, measures: BatchMeasures, seen: &mut Vec<Event>) {
        if let Some(of) = self.alone.remove(&batch) {
            self.release(of, seen);
            return;
        }
        let Some(open) = self.open.get_mut(&batch) else {
            seen.push(Event::Finished { batch, measures });
            return;
        };
        // A canary that was passed over contradicts nothing; neither does an item.
        open.canary = None;
        seen.append(&mut open.held);
        open.finished = Some(measures);
        match &mut open.sample {
            Some((request, Some(_))) => {
                request.wire = WireId(self.tally.name());
                let own = BatchId(self.tally.name());
                self.alone.insert(own, batch);
                self.waiting.push_front(Batch { id: own, requests: vec![request.clone()] });
            }
            _ => self.release(batch, seen),
        }
    }

    /// Tells the conductor that its batch is done.
    fn release(&mut self, batch: BatchId, seen: &mut Vec<Event>) {
        if let Some(Open { finished: Some(measures), .. }) = self.open.remove(&batch) {
            seen.push(Event::Finished { batch, measures });
        }
    }
}

impl Engine for Watch {
    fn facts(&self) -> &EngineFacts {
        self.engine.facts()
    }

    fn in_flight_max(&self) -> usize {
        self.engine.in_flight_max()
    }

    fn hold(&mut self) {
        self.engine.hold();
        let mut news = std::mem::take(&mut self.news);
        for Batch { id: batch, .. } in std::mem::take(&mut self.waiting) {
            if let Some(of) = self.alone.remove(&batch) {
                self.release(of, &mut news);
                continue;
            }
            self.open.remove(&batch);
            let (step, first_error) = (NOT_BEGUN.to_owned(), "the trial stops".to_owned());
            let fault = EngineFault { step, first_error, advice: None, ended: false };
            news.push(Event::Failed { batch, fault });
        }
        self.news = news;
    }

    fn submit(&mut self, mut batch: Batch) -> Result<(), EngineFault> {
        let mut open = Open { asked: batch.requests.iter().map(|it| it.wire).collect(), ..Open::default() };
        // An item that is asked alone stays alone: a death then has one possible cause.
        let items = batch.requests.len() as u64;
        if items > 1 {
            let turn = self.batches;
            self.batches += 1;
            // Places change from batch to batch, and are the same for whoever asks again.
            let place = |turn: u64, places: u64| usize::try_from(turn.wrapping_mul(7) % places).unwrap_or(0);
            if self.sampled < self.guards.sample {
                self.sampled += 1;
                open.sample = Some((batch.requests[place(turn + 1, items)].clone(), None));
            }
            if !self.guards.canaries.is_empty() {
                let number = usize::try_from(turn).unwrap_or(0) % self.guards.canaries.len();
                let wire = WireId(self.tally.name());
                let text = Content::Text(self.guards.canaries[number].text.clone());
                batch.requests.insert(place(turn, items + 1), Request::new(wire, text));
                open.canary = Some((wire, number));
            }
        }
        self.open.insert(batch.id, open);
        self.waiting.push_back(batch);
        self.hand_over()
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        let mut seen = std::mem::take(&mut self.news);
        let wait = if seen.is_empty() { wait } else { Duration::ZERO };
        for event in self.engine.poll(wait)? {
            self.look(event, &mut seen)?;
        }
        self.hand_over()?;
        Ok(seen)
    }

    fn stop(&mut self, how: Stop) -> Result<(), EngineFault> {
        self.engine.stop(how)
    }
}

/// The evidence where a canary was not answered as declared.
fn known_answer(guards: &Guards, number: usize, answer: &Answer) -> Result<(), String> {
    let Some(canary) = guards.canaries.get(number) else { return Ok(()) };
    let why = match answer {
        Answer::Output(output) => guards.contradicts(&canary.expected, output),
        Answer::Refused(refusal) => Some(format!("it was refused: {}", words(refusal))),
    };
    let text = shown(&Content::Text(canary.text.clone()));
    why.map_or(Ok(()), |why| Err(format!("canary {number} (from 0), {text}: {why}")))
}

fn answers_disagree(guards: &Guards, first: &Answer, again: &Answer) -> Option<String> {
    match (first, again) {
        (Answer::Output(first), Answer::Output(again)) => guards.disagreement(first, again),
        (Answer::Refused(_), Answer::Refused(_)) => None,
        (Answer::Output(_), Answer::Refused(refusal)) => {
            Some(format!("answered in the batch, and refused alone: {}", words(refusal)))
        }
        (Answer::Refused(refusal), Answer::Output(_)) => {
            Some(format!("refused in the batch, and answered alone: {}", words(refusal)))
        }
    }
}

fn words(refusal: &Refusal) -> String {
    refusal.facts.get("detail").map_or_else(
        || refusal.reason.to_string(),
        |detail| format!("{}: {}", refusal.reason, detail.chars().take(SHOWN_CHARS).collect::<String>()),
    )
}

fn shown(content: &Content) -> String {
    match content {
        Content::Text(text) => {
            let start: String = text.chars().take(SHOWN_CHARS).collect();
            format!("`{}`", start.escape_debug())
        }
        Content::File(path) => format!("`{}`", path.display()),
    }
}

/// The failure that ends the trial, with its evidence.
fn disagrees(evidence: &str) -> EngineFault {
    EngineFault {
        step: DISAGREES.to_owned(),
        first_error: evidence.to_owned(),
        advice: Some(
            "an engine that answers one question in two ways may give one item the answer of another: look for answers \
             matched by order, for state kept between items and for a precision below what `guards.tolerance` allows"
                .to_owned(),
        ),
        ended: true,
    }
}

#[cfg(test)]
mod tests;
