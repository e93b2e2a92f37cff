//! What the deliverable accepts of an output, and the refusal that it gives otherwise.

use pilote_spec::{
    Category, Digest, FileDecode, OneColour, Output, OutputSpec, Reason, Refusal, WorkReason, accept,
};
use proptest::prelude::*;

fn categories() -> OutputSpec {
    let category =
        |name: &str| Category { name: name.to_owned(), description: String::new(), examples: Vec::new() };
    OutputSpec::Category { categories: vec![category("invoice"), category("complaint")] }
}

fn category(name: &str, score: f32, others: &[(&str, f32)]) -> Output {
    Output::Category {
        category: name.to_owned(),
        score: Some(score),
        others: others.iter().map(|(name, score)| ((*name).to_owned(), *score)).collect(),
        cut_at_tokens: None,
    }
}

fn vector(values: &[f32]) -> Output {
    Output::Vector { values: values.to_vec(), cut_at_tokens: Some(256) }
}

fn refused(spec: &OutputSpec, output: Output) -> Refusal {
    match accept(spec, output) {
        Err(refusal) => refusal,
        Ok(output) => panic!("accepted: {output:?}"),
    }
}

#[test]
fn a_declared_category_with_finite_scores_is_accepted_as_it_came() {
    let output = category("invoice", 0.5, &[("complaint", 0.25)]);
    assert_eq!(accept(&categories(), output.clone()), Ok(output));
}

#[test]
fn a_category_that_was_not_declared_is_refused_and_named_in_short() {
    let refusal = refused(&categories(), category("Invoice", 0.5, &[]));
    assert_eq!(refusal, Refusal::new(Reason::Work(WorkReason::OutsideCategories)).with("seen", "Invoice"));
    let long = refused(&categories(), category(&"é".repeat(500), 0.5, &[]));
    assert_eq!(long.facts["seen"].chars().count(), 80);
}

#[test]
fn no_category_at_all_is_an_empty_output() {
    assert_eq!(refused(&categories(), category("", 0.5, &[])).reason, Reason::Work(WorkReason::EmptyOutput));
}

#[test]
fn a_score_that_is_not_finite_is_refused_wherever_it_stands() {
    for output in [
        category("invoice", f32::NAN, &[]),
        category("invoice", f32::INFINITY, &[]),
        category("invoice", 0.5, &[("complaint", f32::NEG_INFINITY)]),
    ] {
        assert_eq!(refused(&categories(), output).reason, Reason::Work(WorkReason::NotFinite));
    }
}

#[test]
fn a_vector_is_accepted_at_its_declared_width_with_its_cut() {
    let output = vector(&[0.0, -0.0, 1.0]);
    assert_eq!(accept(&OutputSpec::Vector { width: 3 }, output.clone()), Ok(output));
}

#[test]
fn a_vector_of_another_width_is_refused_with_both_widths() {
    let expected = Refusal::new(Reason::Work(WorkReason::WrongWidth)).with("expected", 3).with("seen", 2);
    assert_eq!(refused(&OutputSpec::Vector { width: 3 }, vector(&[1.0, 2.0])), expected);
    let at = Output::VectorAt { payload: "v".to_owned(), offset: 0, width: 2, crc: 0, cut_at_tokens: None };
    assert_eq!(refused(&OutputSpec::Vector { width: 3 }, at.clone()), expected);
    assert_eq!(accept(&OutputSpec::Vector { width: 2 }, at.clone()), Ok(at));
}

#[test]
fn a_vector_that_is_empty_all_zero_or_not_finite_is_refused() {
    let spec = OutputSpec::Vector { width: 2 };
    assert_eq!(refused(&spec, vector(&[])).reason, Reason::Work(WorkReason::EmptyOutput));
    let zeros = refused(&spec, vector(&[0.0, -0.0]));
    assert_eq!(zeros, Refusal::new(Reason::Work(WorkReason::NotFinite)).with("detail", "all zero"));
    let nan = refused(&spec, vector(&[1.0, f32::NAN]));
    assert_eq!(nan, Refusal::new(Reason::Work(WorkReason::NotFinite)).with("seen", "NaN").with("at", 1));
}

#[test]
fn an_output_of_another_kind_is_refused_with_both_kinds() {
    let text = Output::Text { text: "invoice".to_owned(), made_with: Default::default() };
    let refusal = refused(&categories(), text);
    assert_eq!(refusal.reason, Reason::Work(WorkReason::InvalidOutput));
    assert_eq!((refusal.facts["expected"].as_str(), refusal.facts["seen"].as_str()), ("category", "text"));
    let file = Output::File { payload: "f".to_owned(), digest: Digest::of(b""), bytes: 0 };
    assert_eq!(refused(&OutputSpec::Vector { width: 2 }, file).facts["seen"], "file");
    assert_eq!(
        refused(&OutputSpec::Vector { width: 2 }, category("invoice", 1.0, &[])).facts["seen"],
        "category"
    );
}

fn made_with(finish: &str) -> std::collections::BTreeMap<String, pilote_spec::ExactJson> {
    [("finish_reason".to_owned(), finish.into())].into()
}

fn json(value: serde_json::Value, finish: &str) -> Output {
    Output::Json { value: value.into(), made_with: made_with(finish) }
}

fn person() -> OutputSpec {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["name"],
        "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 } },
        "additionalProperties": false,
    });
    OutputSpec::Json { schema }
}

#[test]
fn a_text_is_accepted_where_it_says_something_and_was_not_cut_or_filtered() {
    let text = |text: &str, finish| Output::Text { text: text.to_owned(), made_with: made_with(finish) };
    let spec = OutputSpec::Text {};
    assert_eq!(accept(&spec, text("a poem", "stop")), Ok(text("a poem", "stop")));
    let reason = |output| refused(&spec, output).reason;
    for nothing in [" \n", "\u{200b}", "\u{feff}\u{2060} \u{ad}", "\u{3000}\u{a0}", "\0\u{1b}"] {
        assert_eq!(reason(text(nothing, "stop")), Reason::Work(WorkReason::EmptyOutput), "{nothing:?}");
    }
    assert_eq!(reason(text("a po", "length")), Reason::Work(WorkReason::OutputCut));
    assert_eq!(reason(text("a poem", "content_filter")), Reason::Work(WorkReason::Filtered));
}

#[test]
fn a_value_is_accepted_where_the_schema_accepts_it_and_is_never_repaired() {
    let good = json(serde_json::json!({ "name": "Ada", "age": 36 }), "stop");
    assert_eq!(accept(&person(), good.clone()), Ok(good));
    for (value, at) in [
        (serde_json::json!({ "age": 36 }), "the whole value"),
        (serde_json::json!({ "name": "Ada", "age": -1 }), "/age"),
        (serde_json::json!({ "name": "Ada", "age": "36" }), "/age"),
        (serde_json::json!({ "name": "Ada", "town": "Paris" }), "the whole value"),
        (serde_json::json!([]), "the whole value"),
    ] {
        let refusal = refused(&person(), json(value.clone(), "stop"));
        assert_eq!(refusal.reason, Reason::Work(WorkReason::InvalidOutput), "{value}");
        assert_eq!(refusal.facts["at"], at, "{value}");
        assert!(
            !refusal.facts["detail"].contains("Ada"),
            "the content stays out of the refusal: {refusal:?}"
        );
    }
    let cut = refused(&person(), json(serde_json::json!({ "name": "Ad" }), "length"));
    assert_eq!(cut.reason, Reason::Work(WorkReason::OutputCut), "closed-up JSON of a cut output");
}

#[test]
fn a_schema_that_refers_outside_itself_is_told() {
    let outside = serde_json::json!({ "$ref": "https://example.org/person.json" });
    assert!(pilote_spec::schema_fault(&outside).is_some());
    let inside = serde_json::json!({ "$ref": "#/$defs/n", "$defs": { "n": { "type": "integer" } } });
    assert_eq!(pilote_spec::schema_fault(&inside), None);
}

#[test]
fn a_category_without_a_score_is_accepted_and_written_without_one() {
    let output = Output::Category {
        category: "invoice".to_owned(),
        score: None,
        others: Vec::new(),
        cut_at_tokens: None,
    };
    let line = serde_json::to_string(&accept(&categories(), output).unwrap()).unwrap();
    assert_eq!(line, r#"{"kind":"category","category":"invoice"}"#);
}

#[test]
fn a_file_is_accepted_and_another_kind_in_its_place_is_not() {
    let spec = OutputSpec::File {
        extension: "png".to_owned(),
        decode: FileDecode::Png,
        one_colour: OneColour::Refuse,
    };
    let made = Output::FileMade { path: "scratch/1.png".to_owned() };
    assert_eq!(accept(&spec, made.clone()), Ok(made.clone()));
    assert_eq!(refused(&OutputSpec::Text {}, made).reason, Reason::Work(WorkReason::InvalidOutput));
    assert_eq!(refused(&spec, vector(&[1.0])).reason, Reason::Work(WorkReason::InvalidOutput));
}

proptest! {
    #[test]
    fn an_accepted_vector_is_finite_has_its_width_and_is_not_zero(
        values in prop::collection::vec(any::<f32>(), 0..6), width in 1_u32..6
    ) {
        let good = values.len() == width as usize
            && values.iter().all(|value| value.is_finite())
            && values.iter().any(|value| value.abs() > 0.0);
        prop_assert_eq!(accept(&OutputSpec::Vector { width }, vector(&values)).is_ok(), good);
    }

    #[test]
    fn what_was_accepted_once_is_accepted_again_after_writing_and_reading(score in any::<f32>()) {
        if let Ok(output) = accept(&categories(), category("invoice", score, &[])) {
            let line = serde_json::to_string(&output).unwrap();
            let read: Output = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(accept(&categories(), read), Ok(output));
        }
    }
}
