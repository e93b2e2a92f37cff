//! An engine between the conductor and a real one, which does to its answers what networks, drivers and programs do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pilote_engine::{Answer, Batch, BatchId, Engine, EngineFault, Event, Stop, WireId};
use pilote_spec::EngineFacts;

/// What happens to answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// They come one at a time, a few looks later, in another order.
    Delayed,
    /// Some never come.
    Lost,
    /// Some come twice.
    Doubled,
    /// Some come after their batch is done.
    Late,
    /// Some come for what nobody asked.
    Stray,
    /// The engine ends in the middle of a batch, again and again.
    Dying,
    /// The answers of a batch change places.
    Swapped,
}

impl Fault {
    /// Every fault that leaves the trial to its end.
    pub(crate) const BORNE: [Self; 7] =
        [Self::None, Self::Delayed, Self::Lost, Self::Doubled, Self::Late, Self::Stray, Self::Dying];
}

/// What was done so far, over every start of the engine.
#[derive(Debug, Default)]
pub(crate) struct Done {
    answers: AtomicU64,
    /// Answers that nobody can use.
    pub(crate) strays: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) deaths: AtomicU64,
}

fn count(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

/// The engine in between.
pub(crate) struct Faulty {
    engine: Box<dyn Engine>,
    fault: Fault,
    done: Arc<Done>,
    /// Questions of each batch that is not done.
    asked: BTreeMap<BatchId, Vec<WireId>>,
    answers: BTreeMap<BatchId, Vec<(WireId, Answer)>>,
    to_come: VecDeque<Event>,
}

impl Faulty {
    pub(crate) fn new(engine: Box<dyn Engine>, fault: Fault, done: &Arc<Done>) -> Self {
        Self {
            engine,
            fault,
            done: Arc::clone(done),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
            to_come: VecDeque::new(),
        }
    }

    fn batch_of(&self, wire: WireId) -> Option<(BatchId, usize)> {
        let found = self.asked.iter().find(|(_, wires)| wires.contains(&wire))?;
        Some((*found.0, found.1.len()))
    }

    fn answer(&mut self, wire: WireId, answer: Answer) {
        let number = count(&self.done.answers);
        let event = Event::Answer { wire, answer };
        let Some((batch, size)) = self.batch_of(wire) else {
            self.to_come.push_back(event);
            return;
        };
        let every = |n: u64| number.is_multiple_of(n) && size > 1;
        match self.fault {
            Fault::Lost if every(5) => {
                count(&self.done.lost);
            }
            Fault::Doubled if every(3) => {
                count(&self.done.strays);
                self.to_come.extend([event.clone(), event]);
            }
            Fault::Stray if every(4) => {
                count(&self.done.strays);
                let Event::Answer { answer, .. } = &event else { unreachable!() };
                self.to_come.push_back(Event::Answer { wire: WireId(7), answer: answer.clone() });
                self.to_come.push_back(event);
            }
            Fault::Delayed | Fault::Swapped | Fault::Late => {
                let Event::Answer { wire, answer } = event else { unreachable!() };
                self.answers.entry(batch).or_default().push((wire, answer));
            }
            _ => self.to_come.push_back(event),
        }
    }

    /// The end of a batch, with what was kept of it.
    fn finished(&mut self, batch: BatchId, end: Event) {
        self.asked.remove(&batch);
        let mut answers = self.answers.remove(&batch).unwrap_or_default();
        let mut after = Vec::new();
        match self.fault {
            Fault::Delayed => answers.reverse(),
            Fault::Swapped => {
                let mut given: Vec<Answer> = answers.iter().map(|(_, answer)| answer.clone()).collect();
                let places = given.len().min(1);
                given.rotate_right(places);
                answers = answers.iter().map(|(wire, _)| *wire).zip(given).collect();
            }
            Fault::Late if answers.len() > 1 => {
                count(&self.done.strays);
                after.extend(answers.pop());
            }
            _ => {}
        }
        let event = |(wire, answer)| Event::Answer { wire, answer };
        self.to_come.extend(answers.into_iter().map(event));
        self.to_come.push_back(end);
        self.to_come.extend(after.into_iter().map(event));
    }
}

impl Engine for Faulty {
    fn facts(&self) -> &EngineFacts {
        self.engine.facts()
    }

    fn in_flight_max(&self) -> usize {
        self.engine.in_flight_max()
    }

    fn hold(&mut self) {
        self.engine.hold();
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        // What guards ask before the first item is left alone.
        if batch.requests.iter().any(|request| request.wire.0 < 1 << 63) {
            self.asked.insert(batch.id, batch.requests.iter().map(|request| request.wire).collect());
        }
        self.engine.submit(batch)
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        let wait = if self.to_come.is_empty() { wait } else { Duration::ZERO };
        for event in self.engine.poll(wait)? {
            match event {
                Event::Answer { wire, answer } => self.answer(wire, answer),
                Event::Finished { batch, .. } | Event::Failed { batch, .. } => self.finished(batch, event),
                Event::Stray { .. } => self.to_come.push_back(event),
            }
        }
        let together = self.asked.values().any(|wires| wires.len() > 1);
        if self.fault == Fault::Dying
            && together
            && !self.to_come.is_empty()
            && self.done.deaths.load(Ordering::Relaxed) < 3
        {
            count(&self.done.deaths);
            let _ = self.engine.stop(Stop::Now);
            return Err(EngineFault {
                step: "compute".into(),
                first_error: "killed by signal 11".into(),
                advice: None,
                ended: true,
            });
        }
        let some = if self.fault == Fault::Delayed { 1 } else { self.to_come.len() };
        Ok(self.to_come.drain(..some.min(self.to_come.len())).collect())
    }

    fn stop(&mut self, how: Stop) -> Result<(), EngineFault> {
        self.engine.stop(how)
    }
}
