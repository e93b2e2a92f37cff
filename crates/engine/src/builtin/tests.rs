//! The engine around an encoder, with encoders that misbehave.

use std::sync::Mutex;
use std::sync::mpsc;

use pilote_spec::{Category, Output, Reason, Stamp, WorkReason};

use super::*;
use crate::{Answer, BatchId, Content, Request, WireId};

struct Still;

impl Clock for Still {
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    fn wait(&self, _: Duration) {}
}

/// Gives each sequence the vector that a function makes of it.
struct Fake<F>(F);

impl<F: Fn(&[u32]) -> Vec<f32> + Send + Sync> Encoder for Fake<F> {
    fn width(&self) -> usize {
        2
    }

    fn longest(&self) -> usize {
        16
    }

    fn encode(&self, sequences: &[&[u32]]) -> Result<Encoded, EncoderError> {
        let longest = sequences.iter().map(|sequence| sequence.len()).max().unwrap_or(0);
        assert!(longest <= self.longest());
        let vectors = sequences.iter().map(|sequence| (self.0)(sequence)).collect();
        Ok(Encoded { vectors, computed_tokens: (longest * sequences.len()) as u64 })
    }
}

fn tiny() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny-distilbert")
}

fn config(task: Task) -> pilote_spec::Builtin {
    pilote_spec::Builtin {
        task,
        model: Vec::new(),
        sha256: BTreeMap::new(),
        margin: 0.05,
        batch_items: 8,
        batch_tokens: 64,
        threads: Some(2),
    }
}

fn start(task: Task, output: &OutputSpec, limits: &Limits, encoder: impl Encoder + 'static) -> Builtin {
    let sentence = Sentence::read(&tiny()).unwrap();
    let tokens = Tokens::open(&tiny(), &sentence).unwrap();
    let config = config(task);
    let facts = facts(&config, limits, &sentence);
    let loaded = Loaded { tokens, encoder: Box::new(encoder), floor_bytes: None };
    Builtin::start_with(&config, output, limits, facts, loaded, Arc::new(Still)).unwrap()
}

fn embedder(encoder: impl Encoder + 'static) -> Builtin {
    start(Task::Embed, &OutputSpec::Vector { width: 2 }, &Limits::default(), encoder)
}

fn batch(id: u64, texts: &[&str]) -> Batch {
    let requests = texts.iter().enumerate();
    let request = |(at, text): (usize, &&str)| {
        Request::new(WireId(id * 100 + at as u64), Content::Text((*text).to_owned()))
    };
    Batch { id: BatchId(id), requests: requests.map(request).collect() }
}

/// Everything up to the end of the next batch.
fn events(engine: &mut Builtin) -> Vec<Event> {
    let mut seen = Vec::new();
    while !seen.iter().any(|event| matches!(event, Event::Finished { .. } | Event::Failed { .. })) {
        seen.extend(engine.poll(Duration::from_secs(30)).unwrap());
    }
    seen
}

fn answers(engine: &mut Builtin, texts: &[&str]) -> Vec<Answer> {
    engine.submit(batch(1, texts)).unwrap();
    let answer = |event| match event {
        Event::Answer { answer, .. } => Some(answer),
        Event::Finished { .. } | Event::Stray { .. } => None,
        Event::Failed { fault, .. } => panic!("{fault}"),
    };
    events(engine).into_iter().filter_map(answer).collect()
}

#[test]
fn a_panic_fails_its_batch_and_the_next_batch_is_answered() {
    let first = Mutex::new(true);
    let mut engine = embedder(Fake(move |_: &[u32]| {
        let mut first = first.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        assert!(!std::mem::replace(&mut *first, false), "the card is on fire");
        vec![1.0, 0.0]
    }));
    engine.submit(batch(1, &["the letters"])).unwrap();
    match events(&mut engine).as_slice() {
        [Event::Failed { batch: BatchId(1), fault }] => {
            assert_eq!(fault.step, "compute");
            assert!(fault.first_error.contains("the card is on fire") && !fault.ended, "{fault:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(answers(&mut engine, &["the letters"]).len(), 1);
}

#[test]
fn vectors_that_are_not_finite_or_all_zero_refuse_their_item_alone() {
    let mut engine = embedder(Fake(|sequence: &[u32]| match sequence.len() {
        3 => vec![f32::NAN, 1.0],
        4 => vec![0.0, 0.0],
        5 => vec![f32::INFINITY, 0.0],
        _ => vec![0.5, 0.5],
    }));
    let texts = ["the", "the the", "the the the", "the the the the"];
    let refused = answers(&mut engine, &texts).into_iter().map(|answer| match answer {
        Answer::Refused(refusal) => Some(refusal.reason),
        Answer::Output(_) => None,
    });
    let not_finite = Some(Reason::Work(WorkReason::NotFinite));
    assert_eq!(refused.collect::<Vec<_>>(), [not_finite, not_finite, not_finite, None]);
}

#[test]
fn stopping_now_returns_before_the_batch_is_done_and_gives_no_answers() {
    let (entered, seen) = mpsc::channel();
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let mut engine = embedder(Fake(move |_: &[u32]| {
        entered.send(()).unwrap();
        // Passes when the gate is dropped.
        let _ = gate.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        vec![1.0, 0.0]
    }));
    // Ten sequences of twelve tokens in groups of 32: several groups remain when it is stopped.
    let text = "the ".repeat(10);
    engine.submit(batch(1, &[text.as_str(); 10])).unwrap();
    seen.recv().unwrap();
    engine.stop.store(true, Ordering::Relaxed);
    drop(release);
    engine.stop(Stop::Now).unwrap();
    assert!(seen.try_iter().count() < 9, "groups were computed after the stop");
    let fault = engine.poll(Duration::ZERO).unwrap_err();
    assert!(fault.ended, "{fault:?}");
    assert!(engine.submit(batch(2, &["the"])).unwrap_err().ended);
}

#[test]
fn an_orderly_stop_finishes_what_was_submitted() {
    let mut engine = embedder(Fake(|_: &[u32]| vec![1.0, 0.0]));
    engine.submit(batch(1, &["the letters"])).unwrap();
    engine.submit(batch(2, &["the harbour", "office"])).unwrap();
    engine.stop(Stop::Orderly).unwrap();
    let events = engine.poll(Duration::ZERO).unwrap();
    let finished = events.iter().filter(|event| matches!(event, Event::Finished { .. })).count();
    assert_eq!((finished, events.len()), (2, 5));
}

#[test]
fn no_more_batches_are_taken_than_announced() {
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let mut engine = embedder(Fake(move |_: &[u32]| {
        let _ = gate.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        vec![1.0, 0.0]
    }));
    assert_eq!(engine.in_flight_max(), 2);
    engine.submit(batch(1, &["the"])).unwrap();
    engine.submit(batch(2, &["the"])).unwrap();
    assert!(engine.poll(Duration::ZERO).unwrap().is_empty(), "polling does not wait for the computation");
    let fault = engine.submit(batch(3, &["the"])).unwrap_err();
    assert!(!fault.ended && fault.to_string().contains("2 batches are not finished"), "{fault}");
    drop(release);
    events(&mut engine);
    engine.submit(batch(3, &["the"])).unwrap();
}

#[test]
fn padding_is_counted_where_an_encoder_pads() {
    let mut engine = embedder(Fake(|_: &[u32]| vec![1.0, 0.0]));
    engine.submit(batch(1, &["the", "the the the the", "the"])).unwrap();
    let measures = events(&mut engine).into_iter().find_map(|event| match event {
        Event::Finished { measures, .. } => Some(measures),
        _ => None,
    });
    let measures = measures.unwrap();
    assert_eq!(measures.tokens, Some(12), "six words and two special tokens for each text");
    assert!(measures.padded_tokens >= measures.tokens);
}

#[test]
fn a_file_is_not_read_as_text() {
    let mut engine = embedder(Fake(|_: &[u32]| vec![1.0, 0.0]));
    let request = Request::new(WireId(1), Content::File("picture.png".into()));
    engine.submit(Batch { id: BatchId(1), requests: vec![request] }).unwrap();
    assert!(matches!(&events(&mut engine)[0], Event::Answer { answer: Answer::Refused(_), .. }));
}

/// Categories whose directions are `(1, 0)` and `(0, 1)`, told apart by the first word.
fn classifier(limits: &Limits) -> Builtin {
    let category = |name: &str, description: &str| Category {
        name: name.to_owned(),
        description: description.to_owned(),
        examples: Vec::new(),
    };
    let categories = vec![category("right", "ribbon"), category("up", "bundle")];
    let sentence = Sentence::read(&tiny()).unwrap();
    let tokens = Tokens::open(&tiny(), &sentence).unwrap();
    let [ribbon, bundle] = ["ribbon", "bundle"].map(|word| tokens.of(word).unwrap());
    let encoder = Fake(move |sequence: &[u32]| {
        let count = |word: &[u32]| sequence.windows(word.len()).filter(|part| *part == word).count();
        vec![count(&ribbon) as f32 + 1e-3, count(&bundle) as f32 + 1e-3]
    });
    start(Task::Classify, &OutputSpec::Category { categories }, limits, encoder)
}

#[test]
fn a_text_gets_the_nearest_category_with_the_scores_of_all() {
    let mut engine = classifier(&Limits::default());
    match &answers(&mut engine, &["bundle bundle bundle ribbon"])[0] {
        Answer::Output(Output::Category { category, score, others, cut_at_tokens: None }) => {
            assert_eq!(category, "up");
            assert!(score.unwrap() > 0.9 && others.len() == 1 && others[0].0 == "right" && others[0].1 < 0.4);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_between_two_categories_is_refused_with_the_two_and_the_distance() {
    let mut engine = classifier(&Limits::default());
    let Answer::Refused(refusal) = &answers(&mut engine, &["ribbon bundle"])[0] else { panic!("accepted") };
    assert_eq!(refusal.reason, Reason::Work(WorkReason::Ambiguous));
    let fact = |name: &str| refusal.facts[name].as_str();
    assert_eq!(
        [fact("first"), fact("second"), fact("margin"), fact("seen")],
        ["right", "up", "0.05", "0.0000"]
    );
}

#[test]
fn a_long_document_is_read_to_its_end_unless_a_limit_is_declared() {
    // The model takes 16 tokens; what decides stands at the very end.
    let text = format!("{}{}", "ribbon ".repeat(8), "bundle ".repeat(40));
    let mut engine = classifier(&Limits::default());
    assert_eq!(engine.facts().longest_tokens, None);
    let Answer::Output(Output::Category { category, .. }) = &answers(&mut engine, &[&text])[0] else {
        panic!()
    };
    assert_eq!(category, "up");
    let limited = Limits { tokens: Some(12), ..Limits::default() };
    let Answer::Refused(refusal) = &answers(&mut classifier(&limited), &[&text])[0] else {
        panic!("accepted")
    };
    assert_eq!(refusal.reason, Reason::Work(WorkReason::TooLong));
    let cut = Limits { tokens: Some(8), beyond: Beyond::Truncate, ..Limits::default() };
    match &answers(&mut classifier(&cut), &[&text])[0] {
        Answer::Output(Output::Category { category, cut_at_tokens, .. }) => {
            assert_eq!((category.as_str(), *cut_at_tokens), ("right", Some(8)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn windows_hold_every_token_are_of_one_length_and_overlap() {
    let sentence = Sentence::read(&tiny()).unwrap();
    let tokens = Tokens::open(&tiny(), &sentence).unwrap();
    for longest in [3, 4, 10, 16, 256] {
        for count in [1_usize, 2, 7, 14, 15, 100, 254, 255, 1_000] {
            let text: Vec<u32> = (0..u32::try_from(count).unwrap()).collect();
            let windows = tokens.windows(&text, longest);
            let room = longest - 2;
            assert!(windows.iter().all(|window| window.len() == count.min(room)));
            assert_eq!(
                (windows[0][0], *windows.last().unwrap().last().unwrap()),
                (0, u32::try_from(count).unwrap() - 1)
            );
            for pair in windows.windows(2) {
                assert!(
                    pair[1][0] > pair[0][0] && pair[1][0] <= pair[0].last().unwrap() + 1,
                    "{longest} {count}"
                );
            }
        }
    }
}
