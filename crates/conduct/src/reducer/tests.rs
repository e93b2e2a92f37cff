//! The reducer by hand: one misfortune at a time. The simulation beside it mixes them all.

mod simulation;

use std::time::Duration;

use pilote_engine::{Answer, BatchId, EngineFault, NO_ACCESS, NOT_BEGUN, WireId};
use pilote_spec::{
    BatchMeasures, Campaign, Category, Inputs, Outcome, Output, OutputSpec, Position, Reason, Refusal,
    WorkReason,
};

use super::{Effect, Event, Reducer, Rules, StopReason, StrayKind};
use crate::plan::{PartWork, Recorded};

fn rules() -> Rules {
    let category =
        |name: &str| Category { name: name.into(), description: String::new(), examples: Vec::new() };
    Rules {
        output: OutputSpec::Category { categories: vec![category("even"), category("odd")] },
        beyond: pilote_spec::Beyond::Refuse,
        declared: 100,
        campaign: None,
        failures_max: 5,
        deaths_max: 3,
        stall: None,
        in_flight_max: 1,
        first_wire: 1000,
    }
}

fn output(position: Position) -> Output {
    let category = if position.0.is_multiple_of(2) { "even" } else { "odd" };
    Output::Category { category: category.into(), score: Some(0.5), others: Vec::new(), cut_at_tokens: None }
}

fn fault(ended: bool) -> EngineFault {
    EngineFault { step: "compute".into(), first_error: "boom".into(), advice: None, ended }
}

/// A part whose batches are the given ones.
fn work(batches: &[&[u64]]) -> PartWork {
    PartWork {
        part: 1,
        batches: batches.iter().map(|batch| batch.iter().copied().map(Position).collect()).collect(),
        known: Vec::new(),
        recorded: Default::default(),
    }
}

/// A reducer under test that keeps what it did.
struct Bench {
    reducer: Reducer,
    at: Duration,
    submitted: Vec<(BatchId, Vec<(WireId, Position)>)>,
    records: Vec<(u64, Result<(), Reason>)>,
    strays: Vec<StrayKind>,
    measured: Vec<u64>,
    stops: Vec<StopReason>,
    restarts: usize,
    done: bool,
}

impl Bench {
    fn new(rules: Rules, work: PartWork) -> Self {
        let mut bench = Self {
            reducer: Reducer::new(rules),
            at: Duration::ZERO,
            submitted: Vec::new(),
            records: Vec::new(),
            strays: Vec::new(),
            measured: Vec::new(),
            stops: Vec::new(),
            restarts: 0,
            done: false,
        };
        bench.feed(Event::Opened(work));
        bench
    }

    fn feed(&mut self, event: Event) {
        self.at += Duration::from_millis(1);
        for effect in self.reducer.step(self.at, event) {
            match effect {
                Effect::Submit { batch, asks } => self.submitted.push((batch, asks)),
                Effect::Record { position, outcome, .. } => {
                    let outcome = match outcome {
                        Outcome::Accepted(_) => Ok(()),
                        Outcome::Refused(refusal) => Err(refusal.reason),
                    };
                    self.records.push((position.0, outcome));
                }
                Effect::Measured { number, .. } => self.measured.push(number),
                Effect::Stray { kind, .. } => self.strays.push(kind),
                Effect::Failure { .. } => {}
                Effect::Restart { .. } => self.restarts += 1,
                Effect::PartDone { .. } => self.done = true,
                Effect::Stop(why) => self.stops.push(why),
            }
        }
    }

    /// The batch submitted last, as positions.
    fn last(&self) -> Vec<u64> {
        self.submitted.last().unwrap().1.iter().map(|(_, position)| position.0).collect()
    }

    fn answer(&mut self, position: u64) {
        let (wire, position) = self.question(position);
        self.feed(Event::Answered { wire, answer: Answer::Output(output(position)) });
    }

    fn question(&self, position: u64) -> (WireId, Position) {
        let found = self.submitted.last().unwrap().1.iter().find(|(_, it)| it.0 == position);
        *found.expect("the item was asked in the last batch")
    }

    fn answer_all(&mut self) {
        for position in self.last() {
            self.answer(position);
        }
        self.finish();
    }

    fn finish(&mut self) {
        let batch = self.submitted.last().unwrap().0;
        self.feed(Event::Finished { batch, measures: BatchMeasures::default() });
    }

    fn fail(&mut self) {
        let batch = self.submitted.last().unwrap().0;
        self.feed(Event::Failed { batch, fault: fault(false) });
    }

    fn kill(&mut self) {
        self.feed(Event::Lost { fault: fault(true) });
        self.feed(Event::Started);
    }

    fn refused(&self, position: u64) -> Option<Reason> {
        self.records.iter().find(|(it, _)| *it == position).and_then(|(_, outcome)| outcome.err())
    }
}

#[test]
fn every_item_is_asked_once_and_the_part_ends() {
    let mut bench = Bench::new(rules(), work(&[&[3, 1], &[2]]));
    assert_eq!(bench.last(), [3, 1]);
    bench.answer_all();
    assert_eq!(bench.last(), [2]);
    assert!(!bench.done);
    bench.answer_all();
    assert!(bench.done);
    assert_eq!(bench.records, [(3, Ok(())), (1, Ok(())), (2, Ok(()))]);
    assert_eq!(bench.measured, [0, 1]);
    assert_eq!(bench.reducer.counts().asked, 3);
}

#[test]
fn answers_are_matched_by_wire_identifier_in_any_order() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2, 3]]));
    for position in [3, 1, 2] {
        bench.answer(position);
    }
    bench.finish();
    assert_eq!(bench.records, [(3, Ok(())), (1, Ok(())), (2, Ok(()))]);
}

#[test]
fn faults_of_the_index_are_refused_without_asking_the_engine() {
    let refusal = Refusal::new(Reason::Input(pilote_spec::FaultCode::Empty));
    let mut only_faults = work(&[]);
    only_faults.known.push((Position(4), Outcome::Refused(refusal)));
    let bench = Bench::new(rules(), only_faults);
    assert!(bench.submitted.is_empty());
    assert_eq!(bench.refused(4).unwrap().to_string(), "empty");
    assert!(bench.done);
}

#[test]
fn an_unfinished_batch_is_asked_again_whole_and_only_its_pending_items_are_recorded() {
    let mut taken_up = work(&[&[1, 2], &[3, 4]]);
    taken_up.recorded = [1, 2, 3].map(|it| (Position(it), Recorded::Accepted)).into();
    let mut bench = Bench::new(rules(), taken_up);
    assert_eq!(bench.last(), [3, 4], "the finished batch is left alone, the other is asked whole");
    bench.answer_all();
    assert_eq!(bench.records, [(4, Ok(()))]);
    assert_eq!(bench.reducer.counts().carried_over, 3);
    assert!(bench.done);
}

#[test]
fn an_item_recorded_as_poison_is_not_asked_again_beside_others() {
    let mut taken_up = work(&[&[1, 2, 3]]);
    taken_up.recorded = [(Position(2), Recorded::Poison)].into();
    let bench = Bench::new(rules(), taken_up);
    assert_eq!(bench.last(), [1, 3]);
}

#[test]
fn unknown_repeated_and_late_answers_are_counted_and_change_nothing() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2], &[3]]));
    let (first, _) = bench.question(1);
    bench.answer(1);
    bench.feed(Event::Answered { wire: first, answer: Answer::Output(output(Position(2))) });
    bench.feed(Event::Answered { wire: WireId(7), answer: Answer::Output(output(Position(2))) });
    bench.feed(Event::Answered { wire: WireId(5000), answer: Answer::Output(output(Position(2))) });
    bench.answer(2);
    bench.finish();
    bench.feed(Event::Answered { wire: first, answer: Answer::Output(output(Position(2))) });
    assert_eq!(bench.strays, [StrayKind::Repeated, StrayKind::Unknown, StrayKind::Unknown, StrayKind::Late]);
    assert_eq!(bench.records, [(1, Ok(())), (2, Ok(()))]);
    assert_eq!(bench.reducer.counts().stray, 4);
}

#[test]
fn an_output_that_the_deliverable_does_not_accept_is_refused_for_its_reason() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2]]));
    let (nan, outside) = (bench.question(1).0, bench.question(2).0);
    let category = |name: &str, score: f32| Output::Category {
        category: name.into(),
        score: Some(score),
        others: Vec::new(),
        cut_at_tokens: None,
    };
    bench.feed(Event::Answered { wire: nan, answer: Answer::Output(category("odd", f32::NAN)) });
    bench.feed(Event::Answered { wire: outside, answer: Answer::Output(category("prime", 0.5)) });
    assert_eq!(bench.refused(1), Some(Reason::Work(WorkReason::NotFinite)));
    assert_eq!(bench.refused(2), Some(Reason::Work(WorkReason::OutsideCategories)));
}

fn not_a_number(bench: &mut Bench, position: u64) {
    let (wire, _) = bench.question(position);
    let output = Output::Category {
        category: "odd".into(),
        score: Some(f32::NAN),
        others: Vec::new(),
        cut_at_tokens: None,
    };
    bench.feed(Event::Answered { wire, answer: Answer::Output(output) });
}

#[test]
fn first_answers_that_are_all_not_finite_stop_the_trial_and_refuse_nobody() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2, 3, 4, 5, 6]]));
    for position in 1..=4 {
        not_a_number(&mut bench, position);
    }
    assert_eq!((bench.records.len(), bench.stops.len()), (0, 0));
    not_a_number(&mut bench, 5);
    assert_eq!((bench.records.len(), &bench.stops[..]), (0, &[StopReason::Guard][..]));
    let fault = bench.reducer.first_error().unwrap();
    assert!(
        fault.first_error.contains("the first 5 answers")
            && fault.advice.as_ref().unwrap().contains("float32")
    );
}

#[test]
fn answers_that_are_not_finite_refuse_their_items_once_another_answer_came_or_nothing_is_left_to_ask() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2, 3], &[4, 6, 8, 10, 12]]));
    not_a_number(&mut bench, 1);
    not_a_number(&mut bench, 3);
    assert_eq!(bench.records, []);
    bench.answer(2);
    let not_finite = Err(Reason::Work(WorkReason::NotFinite));
    assert_eq!(bench.records, [(1, not_finite), (3, not_finite), (2, Ok(()))]);
    bench.finish();
    for position in [4, 6, 8, 10, 12] {
        not_a_number(&mut bench, position);
    }
    bench.finish();
    assert!(bench.done && bench.stops.is_empty(), "an engine that gave another answer is proven");
    let mut few = Bench::new(rules(), work(&[&[1, 2]]));
    not_a_number(&mut few, 1);
    not_a_number(&mut few, 2);
    few.finish();
    assert!(few.done && few.records.len() == 2);
}

#[test]
fn an_end_of_a_batch_that_was_never_handed_over_is_counted() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2]]));
    bench.feed(Event::Finished { batch: BatchId(99), measures: BatchMeasures::default() });
    bench.feed(Event::Stray { said: "b7".into() });
    assert_eq!(bench.strays, [StrayKind::Unknown, StrayKind::Unknown]);
    bench.answer_all();
    assert!(bench.done);
}

#[test]
fn an_input_that_the_engine_cut_is_refused_unless_cutting_is_declared() {
    for (beyond, refused) in [(pilote_spec::Beyond::Refuse, true), (pilote_spec::Beyond::Truncate, false)] {
        let mut bench = Bench::new(Rules { beyond, ..rules() }, work(&[&[1]]));
        let (wire, _) = bench.question(1);
        let output = Output::Category {
            category: "odd".into(),
            score: None,
            others: Vec::new(),
            cut_at_tokens: Some(8),
        };
        bench.feed(Event::Answered { wire, answer: Answer::Output(output) });
        assert_eq!(bench.refused(1) == Some(Reason::Work(WorkReason::TooLong)), refused);
    }
}

#[test]
fn a_disagreement_that_a_guard_found_stops_the_trial_at_once() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2]]));
    bench.feed(Event::Lost { fault: EngineFault { step: pilote_engine::DISAGREES.into(), ..fault(true) } });
    assert_eq!((&bench.stops[..], bench.restarts), (&[StopReason::Guard][..], 0));
}

#[test]
fn seven_answers_to_eight_questions_leave_one_to_be_asked_alone_and_then_refused() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2, 3, 4, 5, 6, 7, 8]]));
    for position in 1..=7 {
        bench.answer(position);
    }
    bench.finish();
    assert_eq!(bench.last(), [8], "the missing one is asked again alone");
    bench.finish();
    assert_eq!(bench.last(), [1], "a witness shows that the engine still answers");
    bench.answer_all();
    assert_eq!(bench.refused(8), Some(Reason::Work(WorkReason::NoAnswer)));
    assert_eq!(bench.records.len(), 8);
    assert!(bench.done);
}

#[test]
fn a_batch_that_fails_once_is_asked_again_as_it_was() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2]]));
    bench.fail();
    assert_eq!(bench.last(), [1, 2]);
    bench.answer_all();
    assert!(bench.done);
    assert_eq!(bench.records.len(), 2);
}

#[test]
fn the_item_that_ends_the_engine_is_found_and_refused_after_three_deaths() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2, 3]]));
    let mut deaths_alone = 0;
    while !bench.done {
        let asked = bench.last();
        if asked.contains(&2) {
            deaths_alone += usize::from(asked.len() == 1);
            bench.kill();
        } else {
            bench.answer_all();
        }
        assert!(bench.stops.is_empty(), "a poison item is no failing engine");
    }
    assert_eq!(bench.refused(2), Some(Reason::Work(WorkReason::Poison)));
    assert_eq!(deaths_alone, 3);
    assert_eq!(bench.records.len(), 3);
    assert_eq!(bench.restarts, 5, "twice the batch, three times alone");
}

#[test]
fn an_engine_that_fails_always_leaves_its_items_pending_and_trips_the_breaker() {
    for kill in [false, true] {
        let mut bench = Bench::new(rules(), work(&[&[1, 2, 3]]));
        for _ in 0..5 {
            if kill { bench.kill() } else { bench.fail() }
        }
        assert_eq!(bench.stops, [StopReason::Breaker]);
        assert!(bench.records.is_empty(), "no item is refused for what the engine did");
        assert_eq!(bench.reducer.first_error().unwrap().first_error, "boom");
    }
}

#[test]
fn a_single_item_is_never_refused_while_nothing_shows_that_the_engine_works() {
    let mut bench = Bench::new(rules(), work(&[&[1]]));
    while bench.stops.is_empty() {
        bench.kill();
    }
    assert_eq!((bench.stops.as_slice(), bench.records.len()), (&[StopReason::Breaker][..], 0));
}

#[test]
fn an_engine_that_answers_nothing_at_all_trips_the_breaker() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2], &[3]]));
    while bench.stops.is_empty() {
        bench.finish();
    }
    assert_eq!((bench.stops.as_slice(), bench.records.len()), (&[StopReason::Breaker][..], 0));
    assert!(bench.reducer.first_error().unwrap().first_error.contains("without an answer to any of its 2"));
}

#[test]
fn a_death_among_several_batches_blames_nobody() {
    let mut two = rules();
    two.in_flight_max = 2;
    let mut bench = Bench::new(two, work(&[&[1], &[2], &[3]]));
    assert_eq!(bench.submitted.len(), 2);
    bench.kill();
    assert_eq!(bench.last(), [1], "an item asked alone has the engine for itself");
    assert_eq!(bench.submitted.len(), 3);
    for _ in 0..3 {
        bench.answer_all();
    }
    assert_eq!(bench.records, [(1, Ok(())), (2, Ok(())), (3, Ok(()))]);
}

#[test]
fn the_first_interrupt_finishes_the_batch_in_hand() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2], &[3]]));
    bench.answer(1);
    bench.feed(Event::Interrupted);
    assert!(bench.stops.is_empty());
    bench.answer(2);
    bench.finish();
    assert_eq!(bench.stops, [StopReason::Interrupted]);
    assert_eq!(bench.records.len(), 2);
    assert_eq!(bench.submitted.len(), 1, "nothing new is asked after an interrupt");
}

#[test]
fn what_an_engine_did_not_begin_for_an_interrupt_is_pending_and_no_failure() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2], &[3]]));
    bench.feed(Event::Interrupted);
    bench.answer(1);
    let batch = bench.submitted.last().unwrap().0;
    bench.feed(Event::Failed { batch, fault: EngineFault { step: NOT_BEGUN.into(), ..fault(false) } });
    assert_eq!(bench.stops, [StopReason::Interrupted]);
    assert_eq!(bench.records, [(1, Ok(()))]);
    assert_eq!(bench.reducer.first_error(), None);
}

#[test]
fn a_failure_that_only_a_person_can_mend_stops_at_once_with_everything_pending() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2], &[3]]));
    bench.feed(Event::Lost { fault: EngineFault { step: NO_ACCESS.into(), ..fault(true) } });
    assert_eq!((bench.stops.as_slice(), bench.restarts), (&[StopReason::Breaker][..], 0));
    assert!(bench.records.is_empty());
}

#[test]
fn an_interrupt_in_the_last_batch_still_ends_the_part() {
    let mut bench = Bench::new(rules(), work(&[&[1]]));
    bench.feed(Event::Interrupted);
    bench.answer_all();
    assert!(bench.done);
    assert!(bench.stops.is_empty());
}

#[test]
fn a_campaign_stops_beyond_its_share_of_refusals_and_not_at_it() {
    let mut sparing = rules();
    sparing.declared = 4;
    sparing.campaign = Some(Campaign {
        inputs: Inputs::Directory { directory: "data".into(), encoding: Default::default() },
        count: 4,
        refused_max: 0.25,
    });
    let mut bench = Bench::new(sparing, work(&[&[1], &[2], &[3], &[4]]));
    let refuse = |bench: &mut Bench, position| {
        let wire = bench.question(position).0;
        let refusal = Refusal::new(Reason::Work(WorkReason::TooLong));
        bench.feed(Event::Answered { wire, answer: Answer::Refused(refusal) });
        bench.finish();
    };
    refuse(&mut bench, 1);
    assert!(bench.stops.is_empty());
    refuse(&mut bench, 2);
    assert_eq!(bench.stops, [StopReason::RefusedMax]);
    assert_eq!(bench.records.len(), 2);
}

#[test]
fn a_batch_without_any_answer_for_too_long_is_given_up_and_its_items_stay_pending() {
    let mut patient = rules();
    patient.stall = Some(Duration::from_millis(100));
    let mut bench = Bench::new(patient, work(&[&[1, 2, 3]]));
    bench.at += Duration::from_millis(90);
    bench.answer(1);
    bench.at += Duration::from_millis(90);
    bench.feed(Event::Tick);
    assert_eq!(bench.restarts, 0, "an engine is alive while answers arrive");
    bench.at += Duration::from_millis(20);
    bench.feed(Event::Tick);
    assert_eq!(bench.restarts, 1);
    let (late, _) = bench.question(2);
    bench.feed(Event::Started);
    assert_eq!(bench.last(), [1, 2, 3]);
    bench.feed(Event::Answered { wire: late, answer: Answer::Output(output(Position(2))) });
    assert_eq!(bench.strays, [StrayKind::Late]);
    bench.answer_all();
    assert_eq!(bench.records.len(), 3);
}

#[test]
fn an_input_that_changed_is_refused_and_the_rest_of_its_batch_goes_on() {
    let mut bench = Bench::new(rules(), work(&[&[1, 2]]));
    let (wire, _) = bench.question(1);
    bench.feed(Event::Unreadable { wire, refusal: Refusal::new(Reason::Work(WorkReason::InputChanged)) });
    bench.answer(2);
    bench.finish();
    assert_eq!(bench.refused(1), Some(Reason::Work(WorkReason::InputChanged)));
    assert!(bench.done);
}
