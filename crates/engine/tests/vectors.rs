//! Vectors of the built-in engine against those of sentence-transformers, which `scripts/reference_vectors.py` made.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod support;

use std::path::Path;

use pilote_engine::model::ResolvedModel;
use pilote_engine::{Answer, Engine as _};
use pilote_spec::{Beyond, FaultCode, Limits, Output, OutputSpec, Reason, Refusal, Task, WorkReason};
use serde::Deserialize;

use support::{ask, config, fixture, largest_difference, minilm, model_in, start, vectors};

#[derive(Deserialize)]
struct Reference {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    group: String,
    tokens: u64,
    text: String,
    vector: Vec<f32>,
}

fn reference(path: &Path) -> Vec<Entry> {
    let text = fs_err::read(path).unwrap();
    serde_json::from_slice::<Reference>(&text).unwrap().entries
}

fn cutting() -> Limits {
    Limits { beyond: Beyond::Truncate, ..Limits::default() }
}

fn embedder(model: ResolvedModel, width: u32, limits: &Limits) -> pilote_engine::builtin::Builtin {
    start(&config(Task::Embed), &OutputSpec::Vector { width }, limits, model).unwrap()
}

fn texts(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

#[test]
fn vectors_equal_those_of_sentence_transformers_in_every_length_group() {
    let entries = reference(&fixture("minilm.json"));
    let mut engine = embedder(minilm(), 384, &cutting());
    let (answers, measures) = ask(&mut engine, 1, &texts(&entries));
    for (entry, vector) in entries.iter().zip(vectors(&answers)) {
        let difference = largest_difference(&entry.vector, &vector);
        assert!(difference < 1e-5, "{}: {difference} for {:?}", entry.group, entry.text);
    }
    for group in ["short", "usual", "languages", "near-limit", "cut"] {
        assert!(entries.iter().any(|entry| entry.group == group), "{group}");
    }
    let counted: u64 = entries.iter().map(|entry| entry.tokens.min(256)).sum();
    assert_eq!(measures.tokens, Some(counted), "tokens are counted as the tokenizer counts them");
    assert_eq!(measures.padded_tokens, Some(counted), "this encoder pads nothing");
    assert!(measures.compute_us.is_some() && measures.peak_bytes.is_some_and(|bytes| bytes > 1 << 20));
}

#[test]
fn every_architecture_and_pooling_follows_the_models_own_files() {
    for (name, width) in [("tiny-bert", 128), ("tiny-xlm-roberta", 32), ("tiny-distilbert", 32)] {
        let entries = reference(&fixture(name).join("vectors.json"));
        let mut engine = embedder(model_in(&fixture(name)), width, &cutting());
        let (answers, _) = ask(&mut engine, 1, &texts(&entries));
        for (entry, vector) in entries.iter().zip(vectors(&answers)) {
            let difference = largest_difference(&entry.vector, &vector);
            assert!(difference < 1e-4, "{name}: {difference} for {:?}", entry.text);
        }
    }
}

#[test]
fn a_vector_does_not_depend_on_what_stands_beside_it_nor_on_order_nor_threads() {
    let entries = reference(&fixture("minilm.json"));
    let texts = texts(&entries);
    let mut engine = embedder(minilm(), 384, &cutting());
    let together = vectors(&ask(&mut engine, 1, &texts).0);
    for (number, (text, expected)) in texts.iter().zip(&together).enumerate() {
        let alone = vectors(&ask(&mut engine, 2 + number as u64, &[text]).0);
        assert!(largest_difference(&alone[0], expected) < 1e-5, "{text:?}");
    }
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    let reversed = vectors(&ask(&mut engine, 100, &backwards).0);
    for (a, b) in reversed.iter().rev().zip(&together) {
        assert!(largest_difference(a, b) < 1e-5);
    }
    let other = pilote_spec::Builtin { threads: Some(1), batch_tokens: 300, ..config(Task::Embed) };
    let mut engine = start(&other, &OutputSpec::Vector { width: 384 }, &cutting(), minilm()).unwrap();
    for (a, b) in vectors(&ask(&mut engine, 1, &texts).0).iter().zip(&together) {
        assert!(largest_difference(a, b) < 1e-5);
    }
}

#[test]
fn the_same_batch_gives_the_same_bytes() {
    let entries = reference(&fixture("minilm.json"));
    let mut engine = embedder(minilm(), 384, &cutting());
    let first = vectors(&ask(&mut engine, 1, &texts(&entries)).0);
    let second = vectors(&ask(&mut engine, 2, &texts(&entries)).0);
    let mut anew = embedder(minilm(), 384, &cutting());
    let third = vectors(&ask(&mut anew, 1, &texts(&entries)).0);
    let bits =
        |vectors: &[Vec<f32>]| vectors.iter().flatten().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert!(bits(&first) == bits(&second) && bits(&first) == bits(&third));
}

#[test]
fn a_long_text_is_refused_or_cut_as_declared_alone_and_in_company() {
    let long = "data ".repeat(400);
    let refused =
        Answer::Refused(Refusal::new(Reason::Work(WorkReason::TooLong)).with("limit", 256).with("seen", 402));
    let mut refusing = embedder(minilm(), 384, &Limits::default());
    assert_eq!(refusing.facts().longest_tokens, Some(256));
    assert_eq!(ask(&mut refusing, 1, &[&long]).0, vec![refused.clone()]);
    let (answers, _) = ask(&mut refusing, 2, &["short", &long, "another"]);
    assert!(matches!(answers[0], Answer::Output(Output::Vector { cut_at_tokens: None, .. })));
    assert_eq!(answers[1], refused);

    let mut cut = embedder(minilm(), 384, &cutting());
    let (answers, _) = ask(&mut cut, 1, &["short", &long]);
    assert!(matches!(answers[0], Answer::Output(Output::Vector { cut_at_tokens: None, .. })));
    assert!(matches!(answers[1], Answer::Output(Output::Vector { cut_at_tokens: Some(256), .. })));

    // Exactly at the limit nothing is cut: 254 words and two special tokens.
    let exact = "data ".repeat(254);
    let (answers, _) = ask(&mut refusing, 3, &[&exact]);
    assert!(matches!(answers[0], Answer::Output(Output::Vector { cut_at_tokens: None, .. })));

    let tighter = Limits { tokens: Some(10), ..Limits::default() };
    let mut engine = embedder(minilm(), 384, &tighter);
    assert_eq!(engine.facts().longest_tokens, Some(10));
    let (answers, _) = ask(&mut engine, 1, &["one two three four five six seven eight nine"]);
    let Answer::Refused(refusal) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!((refusal.facts["limit"].as_str(), refusal.facts["seen"].as_str()), ("10", "11"));
}

#[test]
fn a_text_without_tokens_is_refused_and_the_others_are_answered() {
    let mut engine = embedder(minilm(), 384, &Limits::default());
    let (answers, _) = ask(&mut engine, 1, &["", "  \n ", "\u{200b}\u{feff}", "a word"]);
    for answer in &answers[..3] {
        let Answer::Refused(refusal) = answer else { panic!("{answer:?}") };
        assert_eq!(refusal.reason, Reason::Input(FaultCode::Empty));
    }
    assert!(matches!(answers[3], Answer::Output(_)));
}

#[test]
fn facts_name_the_model_to_the_byte() {
    let engine = embedder(minilm(), 384, &Limits::default());
    let facts = engine.facts();
    let model = facts.model.as_ref().unwrap();
    assert_eq!(
        model.files["model.safetensors"].to_string(),
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    );
    assert_eq!(model.licence.as_deref(), Some("apache-2.0"));
    assert_eq!(
        (facts.kind.as_str(), facts.device.as_str(), facts.precision.as_str()),
        ("builtin", "cpu", "f32")
    );
    assert_eq!(
        (facts.parameters["pooling"].as_str(), facts.parameters["normalised"].as_str()),
        ("mean", "true")
    );
}

/// A copy of a small model in which one file is changed.
fn changed(name: &str, file: &str, change: impl Fn(String) -> String) -> (tempfile::TempDir, ResolvedModel) {
    let root = tempfile::tempdir().unwrap();
    for entry in
        ["config.json", "tokenizer.json", "model.safetensors", "modules.json", "1_Pooling/config.json"]
    {
        let target = root.path().join(entry);
        fs_err::create_dir_all(target.parent().unwrap()).unwrap();
        fs_err::copy(fixture(name).join(entry), target).unwrap();
    }
    let path = root.path().join(file);
    fs_err::write(&path, change(fs_err::read_to_string(&path).unwrap())).unwrap();
    let model = model_in(root.path());
    (root, model)
}

fn refused_start(file: &str, change: impl Fn(String) -> String) -> String {
    let (_root, model) = changed("tiny-distilbert", file, change);
    let output = OutputSpec::Vector { width: 32 };
    match start(&config(Task::Embed), &output, &Limits::default(), model) {
        Err(fault) => fault.to_string(),
        Ok(_) => panic!("started with a changed {file}"),
    }
}

#[test]
fn what_a_model_asks_for_and_is_not_built_in_is_named_at_the_start() {
    let text = refused_start("config.json", |text| text.replace("\"distilbert\"", "\"mpnet\""));
    assert!(
        text.contains("`mpnet` is not supported") && text.contains("bert, roberta, xlm-roberta"),
        "{text}"
    );
    let text = refused_start("config.json", |text| text.replace("\"gelu\"", "\"swish\""));
    assert!(text.contains("the activation `swish`"), "{text}");
    let text = refused_start("modules.json", |text| text.replace(".Pooling", ".Dense"));
    assert!(text.contains("Dense` is not supported"), "{text}");
    let text = refused_start("1_Pooling/config.json", |text| text.replace("\"mean\"", "\"median\""));
    assert!(text.contains("the pooling `median` is not supported"), "{text}");
    let text = refused_start("1_Pooling/config.json", |text| {
        text.replace("\"include_prompt\": true", "\"include_prompt\": false")
    });
    assert!(text.contains("include_prompt"), "{text}");
    let text = refused_start("config.json", |text| text.replace("\"hidden_dim\": 64", "\"hidden_dim\": 60"));
    assert!(text.contains("ffn.lin") && text.contains("[60") && text.contains("is expected"), "{text}");
    let text = refused_start("tokenizer.json", |_| "{}".to_owned());
    assert!(text.contains("tokenizer.json"), "{text}");
}

#[test]
fn a_declared_output_that_the_model_cannot_give_stops_the_start() {
    let output = OutputSpec::Vector { width: 768 };
    let fault =
        start(&config(Task::Embed), &output, &Limits::default(), model_in(&fixture("tiny-distilbert"))).err();
    let fault = fault.unwrap();
    assert!(fault.to_string().contains("the model gives vectors of 32, 768 is declared"), "{fault}");
    assert!(fault.advice.unwrap().contains("output.width"));
    let tight = Limits { tokens: Some(2), ..Limits::default() };
    let output = OutputSpec::Vector { width: 32 };
    let fault =
        start(&config(Task::Embed), &output, &tight, model_in(&fixture("tiny-distilbert"))).err().unwrap();
    assert!(fault.to_string().contains("a limit of 2 tokens leaves no room"), "{fault}");
}
