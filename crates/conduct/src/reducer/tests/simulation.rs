//! A seeded world around the reducer: an engine that answers late, twice, in any order, not at all or for things
//! nobody asked, that fails batches and dies; a ledger that loses what was not committed; crashes at any step. After
//! every crash and at the end an auditor recounts everything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use pilote_engine::{Answer, BatchId, WireId};
use pilote_spec::{
    BatchMeasures, FaultCode, Item, ItemFault, Location, Outcome, Output, Position, Reason, WorkReason,
};
use proptest::prelude::*;

use super::super::{Effect, Event, Reducer, Rules, StopReason};
use super::{fault, output, rules};
use crate::plan::{PartWork, Recorded, batches, refusals};

const BATCH_ITEMS: u64 = 4;
const SYNC_ITEMS: usize = 6;

/// SplitMix64: a small generator whose whole state is the seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True in `percent` of a hundred cases.
    fn hits(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What is true of the items, whatever happens.
struct World {
    parts: Vec<Vec<Item>>,
    poison: BTreeSet<Position>,
    silent: BTreeSet<Position>,
}

impl World {
    fn new(chance: &mut Chance) -> Self {
        let mut position = 0;
        let (mut poison, mut silent) = (BTreeSet::new(), BTreeSet::new());
        let parts = (0..1 + chance.below(3))
            .map(|_| {
                let items = (0..1 + chance.below(24)).map(|_| {
                    let at = Position(position);
                    position += 1;
                    // The first item is sound: without a single one nothing could tell an item from the engine.
                    let sound = at == Position(0);
                    let broken = !sound && chance.hits(8);
                    match chance.below(100) {
                        _ if sound => {}
                        0..3 => _ = poison.insert(at),
                        3..6 => _ = silent.insert(at),
                        _ => {}
                    }
                    item(at, chance.below(1000), broken)
                });
                items.collect()
            })
            .collect();
        Self { parts, poison, silent }
    }

    fn declared(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }

    /// What an undisturbed engine gives. Every seventh output is not finite.
    fn answer(position: Position) -> Answer {
        let mut given = output(position);
        if let (3, Output::Category { score, .. }) = (position.0 % 7, &mut given) {
            *score = Some(f32::NAN);
        }
        Answer::Output(given)
    }
}

fn item(position: Position, chars: u64, broken: bool) -> Item {
    Item {
        position,
        id: None,
        digest: None,
        bytes: chars,
        chars,
        location: Location::File { path: position.to_string(), raw: false },
        columns: Default::default(),
        fault: broken.then(|| ItemFault { code: FaultCode::Nul, detail: String::new() }),
    }
}

/// What survives a crash.
#[derive(Default)]
struct Disk {
    records: BTreeMap<Position, Outcome>,
    sealed: BTreeSet<u32>,
}

/// One process: everything in it is gone after a crash.
struct Process<'a> {
    reducer: Reducer,
    world: &'a World,
    disk: &'a mut Disk,
    chance: &'a mut Chance,
    /// Percent of trouble; 0 is an undisturbed run.
    trouble: u64,
    at: Duration,
    part: usize,
    uncommitted: Vec<(Position, Outcome)>,
    asked: BTreeMap<WireId, Position>,
    engine: Vec<(BatchId, Vec<(WireId, Position)>)>,
    /// Answers of batches that were given up; they may still come.
    leftovers: Vec<(WireId, Position)>,
    stops: Vec<StopReason>,
    strays_sent: u64,
    failures_alone: BTreeMap<Position, u32>,
}

enum End {
    Done,
    Stopped,
    Crashed,
}

impl Process<'_> {
    fn run(&mut self, steps_before_crash: u64) -> End {
        let mut backlog = VecDeque::new();
        if !self.open_next(&mut backlog) {
            return End::Done;
        }
        for step in 0_u64.. {
            if step >= steps_before_crash {
                return End::Crashed;
            }
            assert!(step < 100_000, "the trial comes to no end");
            let event = backlog.pop_front().unwrap_or_else(|| self.engine_event());
            self.at += Duration::from_millis(1);
            let effects = self.reducer.step(self.at, event);
            for effect in effects {
                if self.perform(effect, &mut backlog) {
                    return if self.stops.is_empty() { End::Done } else { End::Stopped };
                }
            }
        }
        End::Crashed
    }

    /// Does one effect; true at the end of the trial.
    fn perform(&mut self, effect: Effect, backlog: &mut VecDeque<Event>) -> bool {
        match effect {
            Effect::Submit { batch, asks } => {
                for (wire, position) in &asks {
                    assert!(
                        self.asked.insert(*wire, *position).is_none(),
                        "a wire identifier was used twice"
                    );
                }
                self.engine.push((batch, asks));
            }
            Effect::Record { position, outcome, .. } => {
                self.uncommitted.push((position, outcome));
                if self.uncommitted.len() >= SYNC_ITEMS || self.chance.hits(20) {
                    self.commit();
                }
            }
            Effect::Restart { .. } => {
                self.leftovers.extend(self.engine.drain(..).flat_map(|(_, asks)| asks));
                backlog.push_back(if self.chance.hits(self.trouble / 2) {
                    Event::Lost { fault: fault(true) }
                } else {
                    Event::Started
                });
            }
            Effect::PartDone { part } => {
                self.commit();
                self.disk.sealed.insert(part);
                self.part += 1;
                return !self.open_next(backlog);
            }
            Effect::Stop(why) => {
                self.commit();
                self.stops.push(why);
                return true;
            }
            Effect::Measured { .. } | Effect::Stray { .. } | Effect::Failure { .. } => {}
        }
        false
    }

    fn commit(&mut self) {
        for (position, outcome) in self.uncommitted.drain(..) {
            let earlier = self.disk.records.insert(position, outcome);
            assert!(earlier.is_none(), "{position} got a second outcome");
        }
    }

    /// Opens the next part that is not sealed.
    fn open_next(&mut self, backlog: &mut VecDeque<Event>) -> bool {
        while let Some(items) = self.world.parts.get(self.part) {
            let part = u32::try_from(self.part).unwrap() + 1;
            if !self.disk.sealed.contains(&part) {
                let recorded = items.iter().filter_map(|item| {
                    Some((item.position, Recorded::from(self.disk.records.get(&item.position)?)))
                });
                backlog.push_back(Event::Opened(PartWork {
                    part,
                    batches: batches(items, BATCH_ITEMS, |_| true),
                    known: refusals(items).collect(),
                    recorded: recorded.collect(),
                }));
                return true;
            }
            let outcomes = || items.iter().map(|item| (item.position, &self.disk.records[&item.position]));
            let accepted = outcomes().filter(|(_, outcome)| outcome.is_accepted()).count() as u64;
            backlog.push_back(Event::FoundSealed {
                accepted,
                refused: items.len() as u64 - accepted,
                witness: outcomes().find(|(_, outcome)| outcome.is_accepted()).map(|(position, _)| position),
            });
            self.part += 1;
        }
        false
    }

    /// What the engine, or whoever is at the keyboard, does next.
    fn engine_event(&mut self) -> Event {
        if self.chance.hits(self.trouble)
            && let Some(event) = self.misfortune()
        {
            return event;
        }
        let Some(index) = (!self.engine.is_empty()).then(|| self.chance.below(self.engine.len() as u64))
        else {
            return Event::Tick;
        };
        let index = usize::try_from(index).unwrap();
        let (batch, asks) = &mut self.engine[index];
        let batch = *batch;
        if asks.iter().any(|(_, position)| self.world.poison.contains(position)) {
            // The engine dies on it every time, sometimes after it answered others.
            if asks.len() > 1 && self.chance.hits(50) {
                let answers = |at| !self.world.poison.contains(at) && !self.world.silent.contains(at);
                let innocent = asks.iter().position(|(_, position)| answers(position));
                if let Some(innocent) = innocent {
                    let (wire, position) = asks.remove(innocent);
                    return Event::Answered { wire, answer: World::answer(position) };
                }
            }
            return Event::Lost { fault: fault(true) };
        }
        asks.retain(|(_, position)| !self.world.silent.contains(position));
        if asks.is_empty() {
            self.engine.remove(index);
            return Event::Finished { batch, measures: BatchMeasures::default() };
        }
        let which = usize::try_from(self.chance.below(asks.len() as u64)).unwrap();
        let (wire, position) = asks.remove(which);
        Event::Answered { wire, answer: World::answer(position) }
    }

    /// Whether the engine may fail on what it has in hand for no fault of an item. An item asked alone is spared
    /// before the failure that would convict it: chance is no witness.
    fn may_fail(&mut self) -> bool {
        match self.engine.as_slice() {
            [] => true,
            [(_, asks)] if asks.len() == 1 => {
                let failures = self.failures_alone.entry(asks[0].1).or_default();
                *failures += 1;
                *failures < 3
            }
            [..] => true,
        }
    }

    fn misfortune(&mut self) -> Option<Event> {
        match self.chance.below(12) {
            0 => {
                self.strays_sent += 1;
                Some(Event::Answered { wire: WireId(1), answer: World::answer(Position(1)) })
            }
            1 | 2 => {
                // An answer that was given already, or to a question that was given up: both are stray.
                let waiting: BTreeSet<WireId> =
                    self.engine.iter().flat_map(|(_, asks)| asks.iter().map(|(wire, _)| *wire)).collect();
                let gone: Vec<_> = self.asked.iter().filter(|(wire, _)| !waiting.contains(wire)).collect();
                let index = usize::try_from(self.chance.below(gone.len().max(1) as u64)).unwrap();
                let (wire, position) = gone.get(index).map(|(wire, position)| (**wire, **position))?;
                // The answer of an unanswered silent item would be a real one; a silent item never answers.
                if self.world.silent.contains(&position) {
                    return None;
                }
                self.strays_sent += 1;
                Some(Event::Answered { wire, answer: World::answer(Position(position.0 + 1)) })
            }
            3 => {
                let (wire, position) = self.leftovers.pop()?;
                self.strays_sent += 1;
                Some(Event::Answered { wire, answer: World::answer(position) })
            }
            4 if self.may_fail() => {
                let (batch, asks) = self.engine.pop()?;
                self.leftovers.extend(asks);
                Some(Event::Failed { batch, fault: fault(false) })
            }
            5 if self.may_fail() => Some(Event::Lost { fault: fault(true) }),
            6 if self.engine.last().is_some_and(|(_, asks)| asks.len() > 1) => {
                // The batch ends early: what it did not answer is missing.
                let (batch, asks) = self.engine.pop()?;
                self.leftovers.extend(asks);
                Some(Event::Finished { batch, measures: BatchMeasures::default() })
            }
            7 if self.chance.hits(10) => Some(Event::Interrupted),
            _ => Some(Event::Tick),
        }
    }
}

/// Runs a world to its end through crashes and stops. Gives the outcomes.
fn live(
    world: &World,
    chance: &mut Chance,
    trouble: u64,
    in_flight_max: usize,
) -> BTreeMap<Position, Outcome> {
    let mut disk = Disk::default();
    for start in 0_u64..300 {
        let crash = if trouble > 0 && start < 200 && chance.hits(70) { chance.below(60) } else { u64::MAX };
        // Somebody looks after an engine that keeps failing: the last starts are quiet.
        let trouble = if start > 250 { 0 } else { trouble };
        let rules = Rules {
            declared: world.declared(),
            in_flight_max,
            first_wire: (start + 1) << 32,
            stall: (start % 2 == 0).then_some(Duration::from_millis(40)),
            ..rules()
        };
        let before: BTreeMap<Position, String> = snapshot(&disk.records);
        let mut process = Process {
            reducer: Reducer::new(rules),
            world,
            disk: &mut disk,
            chance,
            trouble,
            at: Duration::ZERO,
            part: 0,
            uncommitted: Vec::new(),
            asked: BTreeMap::new(),
            engine: Vec::new(),
            leftovers: Vec::new(),
            stops: Vec::new(),
            strays_sent: 0,
            failures_alone: BTreeMap::new(),
        };
        let end = process.run(crash);
        let counts = process.reducer.counts();
        assert_eq!(counts.stray, process.strays_sent, "every stray answer is counted, and nothing else");
        let window = process.uncommitted.len();
        assert!(window <= SYNC_ITEMS, "{window} outcomes were not durable");
        if matches!(end, End::Done) {
            assert_eq!(counts.accepted + counts.refused, world.declared(), "accepted + refused = declared");
        }
        audit(world, &disk, &before);
        if matches!(end, End::Done) {
            return disk.records;
        }
    }
    panic!("the trial was never finished");
}

fn snapshot(records: &BTreeMap<Position, Outcome>) -> BTreeMap<Position, String> {
    records.iter().map(|(position, outcome)| (*position, format!("{outcome:?}"))).collect()
}

/// Recounts what is on disk.
fn audit(world: &World, disk: &Disk, before: &BTreeMap<Position, String>) {
    let now = snapshot(&disk.records);
    for (position, outcome) in before {
        assert_eq!(
            now.get(position),
            Some(outcome),
            "{position} was reported as finished and is no longer what it was"
        );
    }
    for position in disk.records.keys() {
        assert!(position.0 < world.declared(), "{position} was never declared");
    }
    for (index, items) in world.parts.iter().enumerate() {
        if disk.sealed.contains(&(u32::try_from(index).unwrap() + 1)) {
            let pending = items.iter().filter(|item| !disk.records.contains_key(&item.position)).count();
            assert_eq!(pending, 0, "part {} is sealed with items pending", index + 1);
        }
    }
}

/// A label for comparing: refusals by reason, since their facts may tell how often something was tried.
fn labels(records: &BTreeMap<Position, Outcome>) -> BTreeMap<Position, String> {
    let label = |outcome: &Outcome| match outcome {
        Outcome::Accepted(output) => format!("{output:?}"),
        Outcome::Refused(refusal) => refusal.reason.to_string(),
    };
    records.iter().map(|(position, outcome)| (*position, label(outcome))).collect()
}

#[test]
fn outcomes_after_any_misfortune_equal_those_of_an_undisturbed_run() {
    for seed in 0..400 {
        let mut chance = Chance(seed);
        let world = World::new(&mut chance);
        let in_flight_max = 1 + usize::try_from(seed % 3).unwrap();
        let trouble = [5, 15, 30][usize::try_from(seed / 3 % 3).unwrap()];
        let disturbed = labels(&live(&world, &mut chance, trouble, in_flight_max));
        let expected: BTreeMap<Position, String> =
            world.parts.iter().flatten().map(|item| (item.position, expected_label(&world, item))).collect();
        let differing: Vec<_> =
            expected.iter().filter(|(at, label)| disturbed.get(at) != Some(label)).collect();
        assert!(
            differing.is_empty() && disturbed.len() == expected.len(),
            "seed {seed}: expected {differing:?}, got {:?}",
            differing.iter().map(|(at, _)| disturbed.get(at)).collect::<Vec<_>>()
        );
    }
}

/// What is true of an item by the rules of this world, worked out without the reducer.
fn expected_label(world: &World, item: &Item) -> String {
    let reason = |reason| Reason::Work(reason).to_string();
    match (&item.fault, World::answer(item.position)) {
        (Some(_), _) => "nul".to_owned(),
        _ if world.poison.contains(&item.position) => reason(WorkReason::Poison),
        _ if world.silent.contains(&item.position) => reason(WorkReason::NoAnswer),
        (None, Answer::Output(Output::Category { score, .. }))
            if score.is_some_and(|score| !score.is_finite()) =>
        {
            reason(WorkReason::NotFinite)
        }
        (None, answer) => match answer {
            Answer::Output(output) => format!("{output:?}"),
            Answer::Refused(refusal) => refusal.reason.to_string(),
        },
    }
}

#[test]
fn the_same_seed_gives_the_same_trial() {
    let trial = || {
        let mut chance = Chance(17);
        let world = World::new(&mut chance);
        (snapshot(&live(&world, &mut chance, 20, 2)), chance.0)
    };
    assert_eq!(trial(), trial());
}

proptest! {
    #[test]
    fn batches_hold_every_item_without_a_fault_once(lengths in prop::collection::vec((0_u64..50, prop::bool::weighted(0.1)), 0..80), size in 1_u64..9) {
        let items: Vec<Item> = lengths
            .iter()
            .enumerate()
            .map(|(at, (chars, broken))| item(Position(at as u64), *chars, *broken))
            .collect();
        let planned = batches(&items, size, |_| true);
        let mut seen: Vec<Position> = planned.iter().flatten().copied().collect();
        seen.sort_unstable();
        let expected: Vec<Position> =
            items.iter().filter(|item| item.fault.is_none()).map(|item| item.position).collect();
        prop_assert_eq!(seen, expected);
        prop_assert!(planned.iter().all(|batch| !batch.is_empty() && batch.len() as u64 <= size));
        let chars = |position: &Position| items[usize::try_from(position.0).unwrap()].chars;
        prop_assert!(planned.iter().flatten().map(chars).is_sorted());
    }

    #[test]
    fn what_is_asked_together_does_not_depend_on_what_is_done(done in prop::collection::btree_set(0_u64..20, 0..20)) {
        let items: Vec<Item> = (0..20).map(|at| item(Position(at), at * 7 % 11, false)).collect();
        let planned = batches(&items, 3, |_| true);
        let recorded = done.iter().map(|at| (Position(*at), Recorded::Accepted)).collect();
        let work = PartWork { part: 1, batches: planned.clone(), known: Vec::new(), recorded };
        let mut reducer = Reducer::new(Rules { in_flight_max: 100, ..rules() });
        let effects = reducer.step(Duration::ZERO, Event::Opened(work));
        let asked: Vec<Vec<Position>> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Submit { asks, .. } => Some(asks.iter().map(|(_, position)| *position).collect()),
                _ => None,
            })
            .collect();
        let expected: Vec<Vec<Position>> = planned
            .into_iter()
            .filter(|batch| batch.iter().any(|position| !done.contains(&position.0)))
            .collect();
        prop_assert_eq!(asked, expected);
    }
}
