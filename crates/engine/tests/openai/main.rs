//! The server engine against a server that does what real ones do on a bad day.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking"
)]
#![cfg(unix)]

mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilote_engine::openai::ServerEngine;
use pilote_engine::process::{GuardProgram, Scratch, Surround};
use pilote_engine::{Answer, Batch, BatchId, Content, Engine, EngineFault, Event, Request, Stop, WireId};
use pilote_spec::{Category, Clock, OpenAi, Output, OutputSpec, Stamp};
use serde_json::{Value, json};
use server::{FakeServer, Say, chat, dead, status, vectors};

/// A clock that runs two hundred times as fast, so that no test waits for a retry.
struct Fast(Instant);

impl Clock for Fast {
    fn monotonic(&self) -> Duration {
        self.0.elapsed() * 200
    }

    fn wall(&self) -> Stamp {
        Stamp(1_764_504_000_000)
    }

    #[expect(clippy::disallowed_methods, reason = "a clock waits")]
    fn wait(&self, time: Duration) {
        std::thread::sleep(time / 200);
    }
}

#[expect(clippy::disallowed_methods, reason = "a server runs in real time")]
fn surround(folder: &tempfile::TempDir) -> Surround {
    Surround {
        guard: GuardProgram { program: PathBuf::from("no-guard"), arguments: Vec::new() },
        project: folder.path().to_owned(),
        scratch: Scratch::make(&folder.path().join("scratch")).unwrap(),
        environment: BTreeMap::from([("API_KEY".to_owned(), "sesame".to_owned())]),
        secrets: Vec::new(),
        clock: Arc::new(Fast(Instant::now())),
    }
}

fn config(endpoints: &[&str], more: Value) -> OpenAi {
    let mut config = json!({ "endpoints": endpoints, "task": "chat", "model": "m-1", "concurrency": 2 });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(config).unwrap()
}

fn start(config: &OpenAi, output: &OutputSpec) -> Result<ServerEngine, EngineFault> {
    let folder = tempfile::tempdir().unwrap();
    ServerEngine::start(config, output, &surround(&folder), 7)
}

fn text() -> OutputSpec {
    OutputSpec::Text {}
}

fn batch(texts: &[&str]) -> Batch {
    let requests = texts.iter().enumerate().map(|(at, text)| {
        let mut request = Request::new(WireId(at as u64), Content::Text((*text).to_owned()));
        request.id = Some(format!("id-{at}"));
        request
    });
    Batch { id: BatchId(1), requests: requests.collect() }
}

/// A reply to a chat with the logarithms of its tokens' probabilities.
fn with_logprobs(tokens: Value) -> Say {
    let choice = json!({ "message": { "content": "letter" }, "finish_reason": "stop", "logprobs": { "content": tokens } });
    Say::Status(200, Vec::new(), json!({ "choices": [choice] }))
}

/// The answers by question, and how the batch ended.
fn ask(engine: &mut ServerEngine, texts: &[&str]) -> (BTreeMap<u64, Answer>, Event) {
    engine.submit(batch(texts)).unwrap();
    end(engine)
}

fn end(engine: &mut ServerEngine) -> (BTreeMap<u64, Answer>, Event) {
    let mut answers = BTreeMap::new();
    loop {
        for event in engine.poll(Duration::from_secs(10)).unwrap() {
            match event {
                Event::Answer { wire, answer } => {
                    assert!(answers.insert(wire.0, answer).is_none(), "{wire} is answered twice");
                }
                end => return (answers, end),
            }
        }
    }
}

fn reason(answer: &Answer) -> &'static str {
    match answer {
        Answer::Refused(refusal) => refusal.reason.code(),
        Answer::Output(output) => output.kind(),
    }
}

#[test]
fn vectors_are_taken_by_their_index_and_never_by_order() {
    let server = FakeServer::start(|asked| {
        let texts = asked.texts();
        vectors(&texts, (0..texts.len()).rev())
    });
    let config = config(&[&server.endpoint], json!({ "task": "embedding" }));
    let mut engine = start(&config, &OutputSpec::Vector { width: 2 }).unwrap();
    let (answers, end) = ask(&mut engine, &["a", "bb", "ccc"]);
    assert!(matches!(end, Event::Finished { .. }));
    for (at, length) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
        let values = vec![length, 1.0];
        assert_eq!(answers[&at], Answer::Output(Output::Vector { values, cut_at_tokens: None }));
    }
    assert_eq!(server.log().len(), 1, "three texts are one request");
}

#[test]
fn texts_are_asked_one_by_one_where_a_server_gives_no_index_too_few_or_an_unknown_one() {
    for odd in [
        json!([{ "embedding": [1] }, { "embedding": [1] }]),
        json!([{ "index": 0, "embedding": [1] }]),
        json!([{ "index": 0, "embedding": [1] }, { "index": 7, "embedding": [1] }]),
        json!([{ "index": 0, "embedding": [1] }, { "index": 0, "embedding": [1] }]),
    ] {
        let server = FakeServer::start(move |asked| match asked.texts().len() {
            1 => vectors(&asked.texts(), [0]),
            _ => Say::Status(200, Vec::new(), json!({ "data": odd })),
        });
        let config = config(&[&server.endpoint], json!({ "task": "embedding" }));
        let mut engine = start(&config, &OutputSpec::Vector { width: 2 }).unwrap();
        let (answers, _) = ask(&mut engine, &["a", "bb"]);
        assert_eq!(answers.values().map(reason).collect::<Vec<_>>(), ["vector", "vector"]);
        assert_eq!(server.log().len(), 3);
    }
}

#[test]
fn what_was_cut_or_filtered_is_refused_whatever_it_looks_like() {
    let server = FakeServer::start(|asked| match asked.text().as_str() {
        "cut" => chat("{\"closed\": true}", "length"),
        "thought" => chat("", "length"),
        "filtered" => chat("half", "content_filter"),
        "empty" => chat(" ", "stop"),
        _ => chat("a text", "stop"),
    });
    let mut engine = start(&config(&[&server.endpoint], json!({})), &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["cut", "thought", "filtered", "empty", "fine"]);
    let reasons: Vec<_> = answers.values().map(reason).collect();
    assert_eq!(reasons, ["output-cut", "output-cut", "filtered", "empty-output", "text"]);
    let Answer::Refused(cut) = &answers[&0] else { panic!() };
    assert_eq!(cut.facts["seen"], "7 tokens");
}

#[test]
fn a_value_is_read_as_it_came_and_never_repaired() {
    let server = FakeServer::start(|asked| match asked.text().as_str() {
        "fenced" => chat("```json\n{\"a\":1}\n```", "stop"),
        "comma" => chat("{\"a\":1,}", "stop"),
        _ => chat("{\"a\":1}", "stop"),
    });
    let output = OutputSpec::Json { schema: json!({ "type": "object" }) };
    let mut engine = start(&config(&[&server.endpoint], json!({})), &output).unwrap();
    let (answers, _) = ask(&mut engine, &["fenced", "comma", "fine"]);
    assert_eq!(
        answers.values().map(reason).collect::<Vec<_>>(),
        ["invalid-output", "invalid-output", "json"]
    );
    assert_eq!(server.log()[0].body["response_format"]["type"], "json_schema");
}

#[test]
fn a_label_is_a_category_without_a_score() {
    let server = FakeServer::start(|_| chat(" invoice\n", "stop"));
    let category =
        |name: &str| Category { name: name.into(), description: String::new(), examples: Vec::new() };
    let output = OutputSpec::Category { categories: vec![category("invoice"), category("letter")] };
    let mut engine = start(&config(&[&server.endpoint], json!({})), &output).unwrap();
    let (answers, _) = ask(&mut engine, &["a"]);
    let expected =
        Output::Category { category: "invoice".into(), score: None, others: Vec::new(), cut_at_tokens: None };
    assert_eq!(answers[&0], Answer::Output(expected));
}

#[test]
fn a_label_bears_the_probability_of_its_tokens_where_the_server_tells_it() {
    let server = FakeServer::start(|asked| match asked.text().as_str() {
        "told" => with_logprobs(json!([{ "logprob": -0.5 }, { "logprob": -0.25 }])),
        "half told" => with_logprobs(json!([{ "logprob": -0.5 }, { "logprob": null }])),
        _ => with_logprobs(json!([])),
    });
    let output = OutputSpec::Category { categories: Vec::new() };
    let config = config(&[&server.endpoint], json!({ "parameters": { "logprobs": true } }));
    let mut engine = start(&config, &output).unwrap();
    let (answers, _) = ask(&mut engine, &["told", "half told", "nothing told"]);
    let score = |answer: &Answer| match answer {
        Answer::Output(Output::Category { score, .. }) => score.map(|score| (score * 1000.0).round()),
        other => panic!("{other:?}"),
    };
    assert_eq!(answers.values().map(score).collect::<Vec<_>>(), [Some(472.0), None, None]);
}

#[test]
fn prompts_are_filled_once_and_parameters_are_recorded_with_every_text() {
    let server = FakeServer::start(|_| chat("a text", "stop"));
    let prompt = json!([{ "role": "system", "content": "Answer in {JSON}." }, { "role": "user", "content": "{id}: {text}" }]);
    let config =
        config(&[&server.endpoint], json!({ "prompt": prompt, "parameters": { "temperature": 0.5 } }));
    let mut engine = start(&config, &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["{id} {text}"]);
    let asked = &server.log()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.body["messages"][0]["content"], "Answer in {JSON}.");
    assert_eq!(asked.text(), "id-0: {id} {text}", "what is set in is not filled again");
    assert_eq!(asked.body["temperature"], 0.5);
    let Answer::Output(Output::Text { made_with, .. }) = &answers[&0] else { panic!() };
    assert_eq!((made_with["temperature"].as_str(), made_with["model"].as_str()), ("0.5", "\"m-1\""));
}

#[test]
fn columns_are_set_into_the_prompt_as_their_texts_or_the_json_that_they_are() {
    let server = FakeServer::start(|_| chat("a text", "stop"));
    let prompt = json!([{ "role": "user", "content": "{column.lang}/{column.n}/{column.none}/{text}" }]);
    let mut engine = start(&config(&[&server.endpoint], json!({ "prompt": prompt })), &text()).unwrap();
    let mut batch = batch(&["{column.lang}"]);
    batch.requests[0].columns =
        serde_json::from_str(r#"{ "lang": "fran\u00e7ais", "n": 9007199254740993 }"#).unwrap();
    engine.submit(batch).unwrap();
    end(&mut engine);
    assert_eq!(server.log()[0].text(), "français/9007199254740993//{column.lang}");
}

#[test]
fn being_told_to_slow_down_costs_no_attempt() {
    let server = FakeServer::start(|asked| match asked.number {
        0..3 => Say::Status(429, vec![("Retry-After", "2".to_owned())], json!({})),
        _ => chat("a text", "stop"),
    });
    let mut engine = start(&config(&[&server.endpoint], json!({ "attempts_max": 1 })), &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["a", "b", "c"]);
    assert_eq!(answers.values().map(reason).collect::<Vec<_>>(), ["text", "text", "text"]);
}

#[test]
fn access_and_payment_pause_with_nothing_refused() {
    for code in [401, 402, 403] {
        let server = FakeServer::start(move |_| status(code, "no key"));
        let mut engine = start(&config(&[&server.endpoint], json!({})), &text()).unwrap();
        let (answers, end) = ask(&mut engine, &["a", "b", "c", "d"]);
        assert!(answers.is_empty());
        let Event::Failed { fault, .. } = end else { panic!("{end:?}") };
        assert_eq!(fault.first_error, format!("status {code}: no key"));
        assert!(fault.ended && engine.submit(batch(&["e"])).is_err());
        assert!(server.log().len() <= 2, "as many as were under way, and none after");
    }
}

#[test]
fn resets_server_errors_and_errors_inside_a_reply_are_tried_again() {
    let server = FakeServer::start(|asked| match asked.number {
        0 => Say::Reset,
        1 => status(500, "oops"),
        2 => Say::Status(200, Vec::new(), json!({ "error": "inside" })),
        _ => chat("a text", "stop"),
    });
    let mut engine = start(&config(&[&server.endpoint], json!({ "attempts_max": 4 })), &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["a"]);
    assert_eq!((reason(&answers[&0]), server.log().len()), ("text", 4));
}

#[test]
fn an_item_is_blamed_only_while_the_server_answers_others() {
    let server = FakeServer::start(|asked| match asked.text().as_str() {
        "bad" => status(500, "cannot"),
        _ => chat("a text", "stop"),
    });
    let mut engine = start(&config(&[&server.endpoint], json!({})), &text()).unwrap();
    let (answers, end) = ask(&mut engine, &["a", "bad"]);
    assert_eq!(answers.values().map(reason).collect::<Vec<_>>(), ["text", "poison"]);
    assert!(matches!(end, Event::Finished { .. }));
    let nobody = FakeServer::start(|_| status(500, "cannot"));
    let mut engine = start(&config(&[&nobody.endpoint], json!({})), &text()).unwrap();
    let (answers, end) = ask(&mut engine, &["a", "b"]);
    assert!(answers.is_empty() && matches!(end, Event::Failed { .. }), "they stay pending: {end:?}");
}

#[test]
fn a_request_that_the_server_will_not_do_refuses_its_item_alone() {
    let server = FakeServer::start(|asked| match asked.texts() {
        texts if texts.iter().any(|text| text == "bad") => status(400, "too long"),
        texts => vectors(&texts, 0..texts.len()),
    });
    let config = config(&[&server.endpoint], json!({ "task": "embedding" }));
    let mut engine = start(&config, &OutputSpec::Vector { width: 2 }).unwrap();
    let (answers, _) = ask(&mut engine, &["a", "bad", "ccc"]);
    assert_eq!(answers.values().map(reason).collect::<Vec<_>>(), ["vector", "by-engine", "vector"]);
}

#[test]
fn a_dead_endpoint_is_set_aside_and_every_text_is_answered_by_the_other() {
    let server = FakeServer::start(|_| chat("a text", "stop"));
    let texts: Vec<String> = (0..20).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut engine = start(&config(&[&server.endpoint, &dead()], json!({})), &text()).unwrap();
    let (answers, _) = ask(&mut engine, &texts);
    assert_eq!(answers.values().filter(|answer| reason(answer) == "text").count(), 20);
    let asked: BTreeSet<String> = server.log().iter().map(server::Asked::text).collect();
    assert_eq!((server.log().len(), asked.len()), (20, 20), "each text once");
}

#[test]
fn endpoints_that_stay_dead_stop_the_trial_with_its_items_pending() {
    let server = FakeServer::start(|_| status(503, "starting"));
    let mut engine = start(&config(&[&server.endpoint], json!({ "down_seconds_max": 30 })), &text()).unwrap();
    let (answers, end) = ask(&mut engine, &["a"]);
    let Event::Failed { fault, .. } = end else { panic!("{end:?}") };
    assert!(answers.is_empty() && fault.ended);
    assert!(fault.first_error.contains("no endpoint has answered for 30 s: status 503"), "{fault}");
}

#[test]
fn after_a_hold_no_further_request_is_made() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let server = FakeServer::start(move |_| {
        let _ = held.lock().unwrap().recv();
        chat("a text", "stop")
    });
    let mut engine = start(&config(&[&server.endpoint], json!({})), &text()).unwrap();
    engine.submit(batch(&["a"; 50])).unwrap();
    while server.log().len() < 2 {
        assert!(engine.poll(Duration::from_millis(5)).unwrap().is_empty());
    }
    engine.hold();
    drop(release);
    let (answers, end) = end(&mut engine);
    assert_eq!((answers.len(), server.log().len()), (2, 2));
    assert!(matches!(end, Event::Failed { fault, .. } if !fault.ended));
    engine.stop(Stop::Orderly).unwrap();
}

#[test]
fn the_access_key_goes_into_the_header_and_nowhere_else() {
    let server = FakeServer::start(|_| chat("a text", "stop"));
    let mut engine = start(&config(&[&server.endpoint], json!({ "key": "API_KEY" })), &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["a"]);
    assert_eq!(server.log()[0].authorization.as_deref(), Some("Bearer sesame"));
    assert!(!format!("{:?} {answers:?}", engine.facts()).contains("sesame"));
    let unset = start(&config(&[&server.endpoint], json!({ "key": "NO_KEY" })), &text()).err().unwrap();
    assert!(
        unset.first_error.contains("the variable NO_KEY, which holds the access key, is not set"),
        "{unset}"
    );
    let absent = start(&config(&[&dead()], json!({})), &text()).err().unwrap();
    assert!(absent.first_error.contains("/v1/models does not answer"), "{absent}");
}

#[test]
fn what_is_under_way_at_a_stop_is_awaited_for_the_declared_time_and_then_left_pending() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let server = FakeServer::start(move |_| {
        let _ = held.lock().unwrap().recv();
        chat("too late", "stop")
    });
    let config = config(&[&server.endpoint], json!({ "stop_seconds_max": 20 }));
    let mut engine = start(&config, &text()).unwrap();
    engine.submit(batch(&["a"; 5])).unwrap();
    while server.log().len() < 2 {
        assert!(engine.poll(Duration::from_millis(5)).unwrap().is_empty());
    }
    engine.hold();
    let (answers, end) = end(&mut engine);
    let Event::Failed { fault, .. } = end else { panic!("{end:?}") };
    assert!(answers.is_empty() && !fault.ended && fault.step == pilote_engine::NOT_BEGUN, "{fault}");
    // The stop waits for nobody, though the server still holds two requests.
    engine.stop(Stop::Orderly).unwrap();
    drop(release);
    assert_eq!(server.log().len(), 2);
}

#[test]
fn a_request_that_is_told_to_wait_after_a_hold_is_not_made_again() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let server = FakeServer::start(move |_| {
        let _ = held.lock().unwrap().recv();
        Say::Status(429, vec![("Retry-After", "1".to_owned())], json!({}))
    });
    let mut engine = start(&config(&[&server.endpoint], json!({ "concurrency": 1 })), &text()).unwrap();
    engine.submit(batch(&["a", "b"])).unwrap();
    while server.log().is_empty() {
        assert!(engine.poll(Duration::from_millis(5)).unwrap().is_empty());
    }
    engine.hold();
    drop(release);
    let (answers, end) = end(&mut engine);
    assert!(answers.is_empty() && matches!(end, Event::Failed { fault, .. } if !fault.ended));
    assert_eq!(server.log().len(), 1);
}

#[test]
fn endless_throttling_costs_no_attempt_and_ends_at_the_wall_deadline_with_everything_pending() {
    let server = FakeServer::start(|_| Say::Status(429, vec![("Retry-After", "20".to_owned())], json!({})));
    let config = config(&[&server.endpoint], json!({ "attempts_max": 1, "item_seconds_max": 60 }));
    let mut engine = start(&config, &text()).unwrap();
    let (answers, end) = ask(&mut engine, &["a", "b"]);
    let Event::Failed { fault, .. } = end else { panic!("{end:?}") };
    assert!(answers.is_empty() && fault.ended);
    assert!(fault.first_error.contains("an item has no answer after 60 s: asked to slow down"), "{fault}");
    assert!(server.log().len() > 2, "it was asked again meanwhile");
}

#[test]
fn a_request_for_vectors_is_cut_by_bytes_as_well_as_by_count() {
    let server = FakeServer::start(|asked| vectors(&asked.texts(), 0..asked.texts().len()));
    let more = json!({ "task": "embedding", "request_bytes_max": 250_000 });
    let mut engine = start(&config(&[&server.endpoint], more), &OutputSpec::Vector { width: 2 }).unwrap();
    let texts: Vec<String> = (1..=32).map(|number| "x".repeat(100_000 + number)).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let long = "y".repeat(250_001);
    texts.push(&long);
    let (answers, _) = ask(&mut engine, &texts);
    assert_eq!(answers.values().filter(|answer| reason(answer) == "vector").count(), 32);
    let Answer::Refused(refusal) = &answers[&32] else { panic!("{:?}", answers[&32]) };
    assert_eq!(refusal.reason.code(), "too-long");
    assert_eq!((&*refusal.facts["limit"], &*refusal.facts["seen"]), ("250000 bytes", "250001 bytes"));
    let sizes: Vec<usize> = server.log().iter().map(|asked| asked.texts().len()).collect();
    assert!(sizes.len() == 16 && sizes.iter().all(|size| *size == 2), "{sizes:?}");
    let mut asked: Vec<usize> =
        server.log().iter().flat_map(server::Asked::texts).map(|it| it.len()).collect();
    asked.sort_unstable();
    assert_eq!(asked, (100_001..=100_032).collect::<Vec<_>>(), "each text once");
}

#[test]
fn a_stream_that_broke_off_or_bears_an_error_is_never_an_answer() {
    for stream in [
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"oom\"}}\n\ndata: [DONE]\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
        "",
    ] {
        let server = FakeServer::start(move |asked| match asked.text().as_str() {
            "bad" => Say::Raw(stream.to_owned()),
            _ => chat("a text", "stop"),
        });
        let mut engine = start(&config(&[&server.endpoint], json!({})), &text()).unwrap();
        let (answers, _) = ask(&mut engine, &["a", "bad"]);
        assert_eq!(answers.values().map(reason).collect::<Vec<_>>(), ["text", "poison"]);
        assert_eq!(server.log().len(), 4, "one text, and three attempts at the other");
    }
}

#[test]
fn a_text_that_the_server_broke_off_is_asked_for_again() {
    let server = FakeServer::start(|asked| match asked.number {
        0 => chat("half a te", "abort"),
        _ => chat("a whole text", "stop"),
    });
    let mut engine = start(&config(&[&server.endpoint], json!({})), &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["a"]);
    let Answer::Output(Output::Text { text, .. }) = &answers[&0] else { panic!("{answers:?}") };
    assert_eq!((text.as_str(), server.log().len()), ("a whole text", 2));
}

#[test]
fn several_choices_for_one_prompt_are_never_taken_for_its_answer() {
    let server = FakeServer::start(|asked| match asked.text().as_str() {
        "bad" => {
            let choices: Vec<Value> = (0..4)
                .rev()
                .map(|index| json!({ "index": index, "text": format!("choice {index}"), "finish_reason": "stop" }))
                .collect();
            Say::Status(200, Vec::new(), json!({ "choices": choices }))
        }
        text => Say::Status(
            200,
            Vec::new(),
            json!({ "choices": [{ "index": 0, "text": text, "finish_reason": "stop" }] }),
        ),
    });
    let config = config(&[&server.endpoint], json!({ "task": "completion" }));
    let mut engine = start(&config, &text()).unwrap();
    let (answers, _) = ask(&mut engine, &["one", "bad", "three", "four"]);
    let texts: Vec<_> = answers
        .values()
        .map(|answer| match answer {
            Answer::Output(Output::Text { text, .. }) => text.as_str(),
            other => reason(other),
        })
        .collect();
    assert_eq!(texts, ["one", "poison", "three", "four"]);
}

#[test]
fn a_server_that_swaps_the_places_of_its_vectors_and_says_so_is_read_right() {
    let server = FakeServer::start(|asked| {
        let texts = asked.texts();
        let mut places: Vec<usize> = (0..texts.len()).collect();
        places.rotate_left(texts.len() / 2);
        vectors(&texts, places)
    });
    let config = config(&[&server.endpoint], json!({ "task": "embedding", "concurrency": 8 }));
    let mut engine = start(&config, &OutputSpec::Vector { width: 2 }).unwrap();
    let texts: Vec<String> = (1..=500).map(|length| "x".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (answers, _) = ask(&mut engine, &texts);
    for (at, text) in texts.iter().enumerate() {
        let Answer::Output(Output::Vector { values, .. }) = &answers[&(at as u64)] else { panic!() };
        assert_eq!(format!("{:.0}", values[0]), text.len().to_string());
    }
}
