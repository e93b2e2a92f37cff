//! One behaviour for every kind of engine: order, identity, refusals, limits, stopping, crash; then whole trials over
//! each kind while its answers are delayed, lost, doubled, late, invented or exchanged, and while it dies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and speak to real processes"
)]
#![cfg(unix)]

mod faults;
mod kinds;
#[allow(dead_code, reason = "the server's own tests use all of it")]
#[path = "../../../engine/tests/openai/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kinds::{Kind, all};
use pilote_engine::{
    Answer, Batch, BatchId, Content, Engine, EngineFault, Event, NOT_BEGUN, Request, Stop, WireId,
};

fn batch(number: u64, texts: &[String]) -> Batch {
    let requests = texts.iter().zip(number * 1_000..).map(|(text, wire)| {
        let mut request = Request::new(WireId(wire), Content::Text(text.clone()));
        request.id = Some(format!("id {wire}"));
        request
    });
    Batch { id: BatchId(number), requests: requests.collect() }
}

/// What an engine said, until each of `batches` was done or failed.
fn hear(engine: &mut dyn Engine, batches: u64) -> Result<Vec<Event>, EngineFault> {
    let mut events = Vec::new();
    let ends = |events: &[Event]| {
        let is_end = |event: &&Event| matches!(event, Event::Finished { .. } | Event::Failed { .. });
        events.iter().filter(is_end).count() as u64
    };
    while ends(&events) < batches {
        events.extend(engine.poll(Duration::from_secs(60))?);
    }
    Ok(events)
}

/// The answers by question; panics where one is answered twice, or after its batch's end.
fn answers(events: &[Event]) -> BTreeMap<WireId, Answer> {
    let (mut answers, mut ended) = (BTreeMap::new(), BTreeSet::new());
    for event in events {
        match event {
            Event::Answer { wire, answer } => {
                assert!(!ended.contains(&(wire.0 / 1_000)), "{wire} after the end of its batch");
                assert!(answers.insert(*wire, answer.clone()).is_none(), "{wire} twice");
            }
            Event::Finished { batch, .. } | Event::Failed { batch, .. } => {
                assert!(ended.insert(batch.0), "batch {} ends twice", batch.0);
            }
            Event::Stray { said } => panic!("{said}"),
        }
    }
    answers
}

fn plain(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("letter {number} of the harbour{}", " office".repeat(number % 5)))
        .collect()
}

fn right(kind: &Kind, text: &str, answer: Option<&Answer>) {
    match answer {
        Some(Answer::Output(output)) => {
            assert!(kind.is_right(text, output), "{}: `{text}` gave {output:?}", kind.name);
        }
        other => panic!("{}: `{text}` gave {other:?}", kind.name),
    }
}

#[test]
fn every_answer_belongs_to_its_text_whatever_the_order_and_however_many_batches_are_in_hand() {
    for kind in all() {
        let mut engine = kind.start();
        let texts = plain(35);
        let mut number = 0;
        for together in texts.chunks(7).collect::<Vec<_>>().chunks(engine.in_flight_max()) {
            let first = number;
            for texts in together {
                number += 1;
                engine.submit(batch(number, texts)).unwrap();
            }
            let events = hear(&mut *engine, number - first).unwrap();
            let answers = answers(&events);
            assert_eq!(
                answers.len(),
                together.iter().map(|texts| texts.len()).sum::<usize>(),
                "{}",
                kind.name
            );
            for (at, texts) in (first + 1..).zip(together) {
                for (text, wire) in texts.iter().zip(at * 1_000..) {
                    right(&kind, text, answers.get(&WireId(wire)));
                }
            }
        }
        engine.stop(Stop::Orderly).unwrap();
    }
}

#[test]
fn one_item_that_cannot_be_done_is_refused_alone_with_a_reason() {
    for kind in all() {
        let mut engine = kind.start();
        // Beyond the built-in engine's limit; the others are told.
        let refused = format!("refuse {}", "word ".repeat(100));
        let texts = ["a letter".to_owned(), refused, "another letter".to_owned()];
        engine.submit(batch(1, &texts)).unwrap();
        let answers = answers(&hear(&mut *engine, 1).unwrap());
        right(&kind, &texts[0], answers.get(&WireId(1_000)));
        right(&kind, &texts[2], answers.get(&WireId(1_002)));
        let Some(Answer::Refused(refusal)) = answers.get(&WireId(1_001)) else { panic!("{}", kind.name) };
        assert!(!refusal.facts.is_empty(), "{}: {refusal:?}", kind.name);
    }
}

#[test]
fn an_item_near_every_limit_gets_an_answer_of_its_own_and_its_neighbours_theirs() {
    for kind in all() {
        let mut engine = kind.start();
        let long = "a long letter ".repeat(20_000);
        let odd = "line\nline\r\n\u{2028}\u{202e}\u{fffd} \"{id}\" 😀 e\u{301}";
        let texts = ["a letter".to_owned(), long.clone(), odd.to_owned()];
        engine.submit(batch(1, &texts)).unwrap();
        let answers = answers(&hear(&mut *engine, 1).unwrap());
        right(&kind, &texts[0], answers.get(&WireId(1_000)));
        match answers.get(&WireId(1_001)) {
            Some(Answer::Refused(_)) => assert_eq!(kind.name, "builtin"),
            answer => right(&kind, &long, answer),
        }
        if kind.name != "command" {
            // A shell's variable ends in no line end and has its own capitals.
            right(&kind, odd, answers.get(&WireId(1_002)));
        }
        assert_eq!(answers.len(), 3, "{}", kind.name);
    }
}

#[test]
fn an_engine_that_is_held_finishes_what_it_began_and_says_what_it_did_not_begin() {
    for kind in all() {
        let mut engine = kind.start();
        let texts = plain(12);
        engine.submit(batch(1, &texts)).unwrap();
        engine.hold();
        let events = hear(&mut *engine, 1).unwrap();
        let answers = answers(&events);
        for (wire, answer) in &answers {
            right(&kind, &texts[usize::try_from(wire.0 - 1_000).unwrap()], Some(answer));
        }
        match events.last() {
            Some(Event::Finished { .. }) => assert_eq!(answers.len(), 12, "{}", kind.name),
            Some(Event::Failed { fault, .. }) => assert!(fault.step == NOT_BEGUN && !fault.ended, "{fault}"),
            other => panic!("{}: {other:?}", kind.name),
        }
        engine.stop(Stop::Orderly).unwrap();
    }
}

#[test]
fn an_engine_that_is_stopped_at_once_leaves_no_process_behind() {
    for kind in all() {
        let mut engine = kind.start();
        engine.submit(batch(1, &plain(20))).unwrap();
        engine.stop(Stop::Now).unwrap();
        drop(engine);
        assert_eq!(children(), Vec::<String>::new(), "{}", kind.name);
    }
}

/// The living children of this process, by number. Every test runs in a process of its own.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stat = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stat.filter_map(|stat| {
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        (fields.next()? == own && state != "Z").then(|| stat.clone())
    })
    .collect()
}

#[test]
fn an_item_that_breaks_the_engine_has_no_output_and_a_new_engine_answers_the_others() {
    for kind in all().into_iter().filter(|kind| kind.breaks) {
        let mut engine = kind.start();
        let texts = ["a letter".to_owned(), "die now".to_owned(), "another letter".to_owned()];
        engine.submit(batch(1, &texts)).unwrap();
        match hear(&mut *engine, 1) {
            Ok(events) => {
                let answers = answers(&events);
                let broken = answers.get(&WireId(1_001));
                assert!(!matches!(broken, Some(Answer::Output(_))), "{}: {broken:?}", kind.name);
                for wire in [1_000, 1_002] {
                    right(&kind, &texts[usize::try_from(wire - 1_000).unwrap()], answers.get(&WireId(wire)));
                }
            }
            Err(fault) => {
                assert!(fault.ended && !fault.first_error.is_empty(), "{}: {fault}", kind.name);
                let mut again = kind.start();
                again.submit(batch(2, &texts[..1])).unwrap();
                let events = hear(&mut *again, 1).unwrap();
                right(&kind, &texts[0], answers(&events).get(&WireId(2_000)));
            }
        }
    }
}
