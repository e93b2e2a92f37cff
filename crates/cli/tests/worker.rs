//! Worker processes as engines, below the guard of the real program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::path::Path;
use std::time::Duration;

use pilote_engine::worker::WorkerEngine;
use pilote_engine::{Answer, Batch, BatchId, Content, Engine, EngineFault, Event, Request, Stop, WireId};
use pilote_spec::{Output, OutputSpec};
use support::{config, surround};

fn start(config: &pilote_spec::Worker, folder: &Path) -> Result<WorkerEngine, EngineFault> {
    WorkerEngine::start(config, &OutputSpec::Vector { width: 2 }, surround(folder))
}

fn python(script: &str) -> pilote_spec::Worker {
    config(&["python3", &support::worker(script)])
}

fn batch(number: u64, texts: &[&str]) -> Batch {
    let requests = texts.iter().enumerate().map(|(index, text)| {
        Request::new(WireId(number * 1_000 + index as u64), Content::Text((*text).to_owned()))
    });
    Batch { id: BatchId(number), requests: requests.collect() }
}

/// Polls until the batch is finished, failed, or the engine is gone.
fn answers(engine: &mut WorkerEngine) -> Result<Vec<Event>, EngineFault> {
    let mut events = Vec::new();
    while !matches!(events.last(), Some(Event::Finished { .. } | Event::Failed { .. })) {
        events.extend(engine.poll(Duration::from_secs(60))?);
    }
    Ok(events)
}

fn ask(engine: &mut WorkerEngine, number: u64, texts: &[&str]) -> Result<Vec<Event>, EngineFault> {
    engine.submit(batch(number, texts))?;
    answers(engine)
}

#[test]
fn a_python_worker_answers_each_item_and_its_prints_break_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&python("lengths.py"), folder.path()).unwrap();
    assert_eq!(engine.facts().name, "lengths");
    assert_eq!(engine.facts().parameters["unit"], "characters");
    let events = ask(&mut engine, 1, &["héé", "refuse", "日本"]).unwrap();
    let vector = |wire, values: [f32; 2]| Event::Answer {
        wire: WireId(wire),
        answer: Answer::Output(Output::Vector { values: values.to_vec(), cut_at_tokens: None }),
    };
    assert_eq!(events[0], vector(1_000, [3.0, 5.0]));
    assert!(matches!(&events[1], Event::Answer { answer: Answer::Refused(refusal), .. }
        if refusal.facts["detail"] == "told to refuse"));
    assert_eq!(events[2], vector(1_002, [2.0, 6.0]));
    assert!(
        matches!(&events[3], Event::Finished { batch: BatchId(1), measures } if measures.peak_bytes.is_some())
    );
    engine.stop(Stop::Orderly).unwrap();
}

#[test]
fn an_exception_of_one_item_refuses_that_item_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&python("lengths.py"), folder.path()).unwrap();
    let events = ask(&mut engine, 1, &["a", "raise", "b"]).unwrap();
    let refused: Vec<bool> = events
        .iter()
        .filter_map(|event| match event {
            Event::Answer { answer, .. } => Some(matches!(answer, Answer::Refused(refusal)
                if refusal.facts["detail"] == "ValueError: told to raise")),
            _ => None,
        })
        .collect();
    assert_eq!(refused, [false, true, false]);
}

#[test]
fn a_function_that_fails_for_every_item_fails_the_batch_and_refuses_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&python("lengths.py"), folder.path()).unwrap();
    let events = ask(&mut engine, 1, &["raise", "raise"]).unwrap();
    assert!(matches!(&events[..], [Event::Failed { fault, .. }]
        if fault.first_error == "ValueError: told to raise" && !fault.ended));
    assert!(matches!(ask(&mut engine, 2, &["fine"]).unwrap().last(), Some(Event::Finished { .. })));
}

#[test]
fn not_a_number_fails_the_batch_and_is_never_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&python("lengths.py"), folder.path()).unwrap();
    let events = ask(&mut engine, 1, &["nan"]).unwrap();
    assert!(matches!(&events[..], [Event::Failed { .. }]), "{events:?}");
}

#[test]
fn a_worker_that_dies_is_reported_with_its_first_error_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&python("lengths.py"), folder.path()).unwrap();
    let fault = ask(&mut engine, 1, &["a", "die"]).unwrap_err();
    assert!(fault.ended);
    assert_eq!(fault.step, "compute");
    assert_eq!(fault.first_error, "error: told to die (the worker ended with status 139)");
}

#[test]
fn a_worker_that_stays_silent_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = python("lengths.py");
    config.silence_seconds_max = 0;
    let mut engine = start(&config, folder.path()).unwrap();
    engine.submit(batch(1, &["hang"])).unwrap();
    let fault = loop {
        if let Err(fault) = engine.poll(Duration::from_millis(50)) {
            break fault;
        }
    };
    assert!(fault.ended && fault.first_error.contains("no answer for 0 s with 1 batches in hand"), "{fault}");
}

#[test]
fn a_node_worker_may_answer_in_any_order_and_hold_several_batches() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&config(&["node", &support::worker("reversed.mjs")]), folder.path()).unwrap();
    assert_eq!(engine.in_flight_max(), 3);
    for number in 1..=3 {
        engine.submit(batch(number, &["a", "b"])).unwrap();
    }
    assert!(engine.submit(batch(4, &["c"])).unwrap_err().first_error.contains("takes no more"));
    // One look may see the ends of several batches.
    let mut events = Vec::new();
    while events.iter().filter(|event| matches!(event, Event::Finished { .. })).count() < 3 {
        events.extend(engine.poll(Duration::from_secs(60)).unwrap());
    }
    let wires: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Answer { wire, .. } => Some(wire.0),
            _ => None,
        })
        .collect();
    assert_eq!(wires, [1_001, 1_000, 2_001, 2_000, 3_001, 3_000]);
    engine.stop(Stop::Orderly).unwrap();
}

#[test]
fn a_worker_may_be_a_shell_script() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(&config(&["bash", &support::worker("shell.sh")]), folder.path()).unwrap();
    let events = ask(&mut engine, 7, &["x", "y"]).unwrap();
    assert_eq!(events.len(), 3);
    engine.stop(Stop::Orderly).unwrap();
}

#[test]
fn a_text_beyond_the_longest_line_is_handed_over_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = python("lengths.py");
    config.line_bytes_max = 4_096;
    let mut engine = start(&config, folder.path()).unwrap();
    let long = "é".repeat(10_000);
    let events = ask(&mut engine, 1, &[&long]).unwrap();
    assert!(matches!(&events[0], Event::Answer { answer: Answer::Output(Output::Vector { values, .. }), .. }
        if values == &[10_000.0, 20_000.0]));
    let left: Vec<_> = std::fs::read_dir(folder.path().join("scratch")).unwrap().collect();
    assert!(left.is_empty(), "the file goes with its batch: {left:?}");
}

#[test]
fn a_program_that_is_no_worker_is_told_with_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |argv: &[&str]| start(&config(argv), folder.path()).err().unwrap();
    let absent = fault(&["no-such-program"]);
    assert!(absent.first_error.contains("no-such-program"), "{absent}");
    let babbles = fault(&["bash", "-c", "echo nonsense >&$PILOTE_WRITE_FD; sleep 60"]);
    assert!(babbles.first_error.contains("none of the protocol"), "{babbles}");
    let quits = fault(&["bash", "-c", "echo 'ImportError: no torch here' >&2; exit 3"]);
    assert_eq!(quits.first_error, "ImportError: no torch here (the worker ended with status 3)");
    let other = fault(&[
        "bash",
        "-c",
        "echo '{\"type\":\"hello\",\"protocol\":9,\"name\":\"x\"}' >&$PILOTE_WRITE_FD; sleep 60",
    ]);
    assert!(other.first_error.contains("speaks protocol 9"), "{other}");
    let nameless = fault(&[
        "bash",
        "-c",
        "echo '{\"type\":\"hello\",\"protocol\":1,\"name\":\"\"}' >&$PILOTE_WRITE_FD; sleep 60",
    ]);
    assert!(nameless.first_error.contains("gives no name"), "{nameless}");
}

#[test]
fn a_worker_sees_only_the_environment_that_is_declared_and_its_log_shows_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(&["bash", "-c", "echo \"error: $TOKEN $SEEN $UNSEEN.\" >&2; exit 1"]);
    config.environment.insert("SEEN".into(), "seen\nwith a line end".into());
    let mut around = surround(folder.path());
    around.environment.insert("TOKEN".into(), "sesame".into());
    around.environment.insert("UNSEEN".into(), "hidden".into());
    around.secrets = vec!["TOKEN".into()];
    let fault = WorkerEngine::start(&config, &OutputSpec::Vector { width: 2 }, around).err().unwrap();
    assert_eq!(fault.first_error, "error: [TOKEN] seen (the worker ended with status 1)");
}
