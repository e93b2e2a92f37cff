//! What the deliverable accepts of an output, and the refusal that it gives otherwise.

use pilote_spec::{Category, Digest, Output, OutputSpec, Reason, Refusal, WorkReason, accept};
use proptest::prelude::*;

fn categories() -> OutputSpec {
    let category =
        |name: &str| Category { name: name.to_owned(), description: String::new(), examples: Vec::new() };
    OutputSpec::Category { categories: vec![category("invoice"), category("complaint")] }
}

fn category(name: &str, score: f32, others: &[(&str, f32)]) -> Output {
    Output::Category {
        category: name.to_owned(),
        score,
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
