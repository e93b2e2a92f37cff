//! The guards over an engine that does what a test tells it to.

use pilote_spec::{Canary, Output};

use super::*;

/// What an engine makes of a text.
type Answering = fn(&str) -> Answer;

/// Answers by a function of each text and of how many texts were asked together.
struct Told {
    facts: EngineFacts,
    answer: Answering,
    /// Gives each question the answer of the next one, from this batch on (from 1).
    shifted_from: usize,
    /// What is answered for a text that is asked alone, where that is something else.
    alone: Option<Answering>,
    in_flight_max: usize,
    batches: VecDeque<Batch>,
    taken: usize,
}

fn told(answer: Answering) -> Told {
    let facts = EngineFacts {
        kind: "told".into(),
        name: "told".into(),
        version: String::new(),
        device: "cpu".into(),
        precision: "f32".into(),
        model: None,
        longest_tokens: None,
        parameters: BTreeMap::new(),
    };
    Told {
        facts,
        answer,
        shifted_from: usize::MAX,
        alone: None,
        in_flight_max: 1,
        batches: VecDeque::new(),
        taken: 0,
    }
}

fn length(text: &str) -> Answer {
    let text = format!("{} characters", text.chars().count());
    Answer::Output(Output::Text { text, made_with: BTreeMap::new() })
}

impl Engine for Told {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        assert!(self.batches.len() < self.in_flight_max, "more batches than the engine takes");
        self.batches.push_back(batch);
        Ok(())
    }

    fn poll(&mut self, _wait: Duration) -> Result<Vec<Event>, EngineFault> {
        let Some(batch) = self.batches.pop_front() else { return Ok(Vec::new()) };
        self.taken += 1;
        let alone = batch.requests.len() == 1;
        let answer = self.alone.filter(|_| alone).unwrap_or(self.answer);
        let mut answers: Vec<Answer> = batch
            .requests
            .iter()
            .map(|request| match &request.content {
                Content::Text(text) => answer(text),
                Content::File(_) => panic!("texts only"),
            })
            .collect();
        if self.taken >= self.shifted_from {
            answers.rotate_left(1);
        }
        let answers = batch.requests.iter().zip(answers);
        let mut events: Vec<Event> =
            answers.map(|(request, answer)| Event::Answer { wire: request.wire, answer }).collect();
        events.push(Event::Finished { batch: batch.id, measures: BatchMeasures::default() });
        Ok(events)
    }

    fn stop(&mut self, _how: Stop) -> Result<(), EngineFault> {
        Ok(())
    }
}

fn guards(canaries: &[(&str, &str)], sample: u32) -> Guards {
    let canary =
        |(text, expected): &(&str, &str)| Canary { text: (*text).into(), expected: (*expected).into() };
    Guards { canaries: canaries.iter().map(canary).collect(), sample, ..Guards::default() }
}

fn batch(id: u64, texts: &[&str]) -> Batch {
    let requests = texts.iter().zip(id * 100..).map(|(text, wire)| {
        let mut request = Request::new(WireId(wire), Content::Text((*text).into()));
        request.id = Some(format!("item {wire}"));
        request
    });
    Batch { id: BatchId(id), requests: requests.collect() }
}

/// Asks batch after batch, as the conductor does; what it sees, or the fault that ends it.
fn ask(engine: &mut dyn Engine, batches: Vec<Batch>) -> Result<Vec<Event>, (Vec<Event>, EngineFault)> {
    let mut seen = Vec::new();
    for batch in batches {
        let id = batch.id;
        engine.submit(batch).map_err(|fault| (seen.clone(), fault))?;
        let is_end = |event: &Event| matches!(event, Event::Finished { batch, .. } if *batch == id);
        while !seen.iter().any(is_end) {
            seen.extend(engine.poll(Duration::ZERO).map_err(|fault| (seen.clone(), fault))?);
        }
    }
    Ok(seen)
}

fn answered(seen: &[Event]) -> Vec<u64> {
    let wire = |event: &Event| match event {
        Event::Answer { wire, .. } => Some(wire.0),
        _ => None,
    };
    seen.iter().filter_map(wire).collect()
}

const CANARIES: [(&str, &str); 2] = [("four", "4 characters"), ("twelve chars", "12 characters")];

#[test]
fn an_honest_engine_is_seen_as_if_nothing_were_asked_beside() {
    let tally = Arc::default();
    let mut engine = Watch::over(Box::new(told(length)), &guards(&CANARIES, 2), &tally);
    let batches = (1..=4).map(|id| batch(id, &["a", "bb", "ccc"])).collect();
    let seen = ask(&mut *engine, batches).unwrap();
    assert_eq!(answered(&seen), [100, 101, 102, 200, 201, 202, 300, 301, 302, 400, 401, 402]);
    assert_eq!(seen.len(), 16, "an answer for each item and an end for each batch");
    assert_eq!(tally.words().as_deref(), Some("4 answers to canaries and 2 to items asked twice agreed"));
}

#[test]
fn answers_given_to_their_neighbours_end_the_engine_before_one_of_the_batch_is_seen() {
    let tally = Arc::default();
    let mut inner = told(length);
    inner.shifted_from = 3;
    let mut engine = Watch::over(Box::new(inner), &guards(&CANARIES, 0), &tally);
    let batches = (1..=4).map(|id| batch(id, &["a", "bb", "ccc"])).collect();
    let (seen, fault) = ask(&mut *engine, batches).unwrap_err();
    assert_eq!(answered(&seen), [100, 101, 102, 200, 201, 202], "nothing of the third batch");
    assert!(fault.ended && fault.step == DISAGREES);
    assert!(
        fault.first_error.starts_with("canary 0 (from 0), `four`: \"4 characters\" is expected, and `"),
        "{fault}"
    );
}

#[test]
fn a_refused_canary_is_a_disagreement_and_one_passed_over_is_none() {
    let refuse: Answering = |text| match text {
        "four" => Answer::Refused(Refusal::new("by-engine".parse().unwrap()).with("detail", "no fours")),
        text => length(text),
    };
    let mut engine = Watch::over(Box::new(told(refuse)), &guards(&CANARIES, 0), &Arc::default());
    let (_, fault) = ask(&mut *engine, vec![batch(1, &["a", "b"])]).unwrap_err();
    assert!(fault.first_error.contains("it was refused: by-engine: no fours"), "{fault}");
}

#[test]
fn an_item_that_is_answered_otherwise_when_it_is_alone_ends_the_engine_with_both_answers() {
    let mut inner = told(length);
    inner.alone = Some(|_| length("something else"));
    let mut engine = Watch::over(Box::new(inner), &guards(&[], 1), &Arc::default());
    let (seen, fault) = ask(&mut *engine, vec![batch(1, &["a", "bb", "ccc"])]).unwrap_err();
    assert_eq!(answered(&seen).len(), 3);
    assert_eq!(
        fault.first_error,
        "the item `item 101`, asked in a batch and again alone: `2 characters` and `14 characters`"
    );
}

#[test]
fn one_item_alone_is_asked_with_no_canary_beside_it() {
    let mut inner = told(|text| if text == "four" { panic!("a canary") } else { length(text) });
    inner.in_flight_max = 2;
    let mut engine = Watch::over(Box::new(inner), &guards(&CANARIES[..1], 5), &Arc::default());
    let seen = ask(&mut *engine, vec![batch(1, &["a"]), batch(2, &["b"])]).unwrap();
    assert_eq!(answered(&seen), [100, 200]);
}

#[test]
fn what_was_not_handed_over_when_the_trial_stops_is_said_not_to_be_begun() {
    let mut engine = Watch::over(Box::new(told(length)), &guards(&[], 1), &Arc::default());
    engine.submit(batch(1, &["a", "bb"])).unwrap();
    // The engine takes one batch: the second question about an item comes before the conductor's next batch.
    assert_eq!(answered(&engine.poll(Duration::ZERO).unwrap()), [100, 101]);
    engine.submit(batch(2, &["ccc", "dddd"])).unwrap();
    engine.hold();
    let seen = engine.poll(Duration::ZERO).unwrap();
    assert!(
        matches!(&seen[..], [Event::Failed { batch: BatchId(2), fault }, Event::Finished { batch: BatchId(1), .. }]
            if fault.step == NOT_BEGUN && !fault.ended),
        "{seen:?}"
    );
}

#[test]
fn a_second_answer_to_a_canary_is_passed_on_as_one_that_nobody_asked_for() {
    let tally = Arc::default();
    let mut watch = Watch {
        engine: Box::new(told(length)),
        guards: guards(&CANARIES, 0),
        tally: Arc::clone(&tally),
        open: BTreeMap::new(),
        alone: BTreeMap::new(),
        in_flight: 0,
        waiting: VecDeque::new(),
        news: Vec::new(),
        batches: 0,
        sampled: 0,
    };
    watch.submit(batch(1, &["a", "bb"])).unwrap();
    let canary = WireId(OWN_NAMES);
    let mut seen = Vec::new();
    for _ in 0..2 {
        watch.look(Event::Answer { wire: canary, answer: length("four") }, &mut seen).unwrap();
    }
    assert_eq!(seen, [Event::Stray { said: canary.to_string() }]);
}

mod at_the_start {
    use std::sync::atomic::AtomicBool;

    use pilote_spec::{Clock, Project, Stamp};

    use super::super::probe::{Around, probe};
    use super::*;

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

    fn project(output: &serde_json::Value, more: &serde_json::Value) -> Project {
        let mut value = serde_json::json!({
            "format": "pilote.project/1", "name": "n", "output": output,
            "pilot": { "inputs": { "directory": "d" }, "count": 1 },
            "engine": { "kind": "worker", "command": ["w"] }
        });
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(value).unwrap()
    }

    fn asked(
        answer: Answering,
        longest_tokens: Option<u32>,
        project: &Project,
    ) -> Result<Vec<String>, EngineFault> {
        let mut engine = told(answer);
        engine.facts.longest_tokens = longest_tokens;
        let interrupt = AtomicBool::new(false);
        let tally = Tally::default();
        let around = Around { project, tally: &tally, clock: &Still, interrupt: &interrupt, stall: None };
        probe(&mut engine, &around)
    }

    fn vectors(text: &str, words: usize, cut: Option<u32>) -> Answer {
        let mut values = vec![1.0_f32; 3];
        for (at, word) in text.split(' ').take(words).enumerate() {
            values[(word.len() / 5 + at) % 3] += 1.0 / 64.0;
        }
        Answer::Output(Output::Vector { values, cut_at_tokens: cut })
    }

    fn of_vectors() -> serde_json::Value {
        serde_json::json!({ "kind": "vector", "width": 3 })
    }

    #[test]
    fn an_engine_that_cuts_in_silence_is_found_and_one_that_refuses_or_reads_on_is_not() {
        let project = project(&of_vectors(), &serde_json::json!({}));
        let cuts: Answering = |text| vectors(text, 512, None);
        let fault = asked(cuts, Some(512), &project).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "guard: two texts that differ only after 512 words give the same vector"
        );
        assert!(asked(cuts, None, &project).is_err(), "without a declared limit beyond what most take");
        let reads_on: Answering = |text| vectors(text, usize::MAX, None);
        assert!(asked(reads_on, Some(512), &project).unwrap()[0].ends_with("give different vectors"));
        let refuses: Answering = |_| Answer::Refused(Refusal::new("too-long".parse().unwrap()));
        assert!(asked(refuses, Some(512), &project).unwrap()[0].ends_with("are refused"));
        let says: Answering = |text| vectors(text, 512, Some(512));
        assert!(asked(says, Some(512), &project).unwrap_err().first_error.contains("cut at 512 tokens"));
    }

    #[test]
    fn nothing_is_tried_where_cutting_is_declared_or_no_vector_is_asked_for() {
        let nobody: Answering = |_| panic!("nobody is to be asked");
        let cut =
            project(&of_vectors(), &serde_json::json!({ "limits": { "tokens": 8, "beyond": "truncate" } }));
        assert_eq!(asked(nobody, Some(512), &cut).unwrap(), Vec::<String>::new());
        let text = project(&serde_json::json!({ "kind": "text" }), &serde_json::json!({}));
        assert_eq!(asked(nobody, Some(512), &text).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn every_canary_is_asked_before_the_first_item() {
        let text = |expected: &str| {
            let canaries = serde_json::json!([{ "text": "four", "expected": expected }]);
            project(
                &serde_json::json!({ "kind": "text" }),
                &serde_json::json!({ "guards": { "canaries": canaries } }),
            )
        };
        assert_eq!(
            asked(length, None, &text("4 characters")).unwrap(),
            ["1 canaries were answered as declared"]
        );
        let fault = asked(length, None, &text("5 characters")).unwrap_err();
        assert!(
            fault.first_error.contains("\"5 characters\" is expected, and `4 characters` came"),
            "{fault}"
        );
    }
}
