//! Two trials compared: factors, items, results, the cause that can be named, the quality.

use pilote_proof::{Cause, Comparison, FactorCode, FactorState, Labels, Question, compare};
use pilote_spec::{Item, Outcome, Output, QualityBar, Trial, Verdict, WorkReason};

use crate::support::{Fixture, Plan, category, expected, pilot, refused, vector};

/// Changes what a trial recorded of itself.
fn record(fixture: &Fixture, change: impl FnOnce(&mut Trial)) {
    let path = fixture.path("trial.json");
    let mut trial: Trial = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut trial);
    std::fs::write(path, serde_json::to_vec_pretty(&trial).unwrap()).unwrap();
}

fn compared_by(a: &Fixture, b: &Fixture, bar: &str, labels: Option<&Labels>) -> Comparison {
    let scratch = tempfile::tempdir().unwrap();
    let bar: QualityBar = if bar.is_empty() { QualityBar::default() } else { bar.parse().unwrap() };
    let question = Question { project: Some(&b.project), scratch: scratch.path(), bar, labels };
    compare(&a.trial, &b.trial, &question).unwrap()
}

fn compared(a: &Fixture, b: &Fixture) -> Comparison {
    compared_by(a, b, "", None)
}

fn differing(comparison: &Comparison) -> Vec<FactorCode> {
    comparison.differing().map(|factor| factor.factor).collect()
}

/// The outcome of the example, but for the item at one position.
fn but(position: u64, other: Outcome) -> impl Fn(&Item) -> Option<Outcome> {
    move |item| Some(if item.position.0 == position { other.clone() } else { expected(item) })
}

fn vectors(rows: u64, part_items: usize) -> Plan {
    Plan { example: "embeddings", rows, part_items, ..Plan::default() }
}

#[test]
fn two_trials_of_one_thing_do_not_differ() {
    let comparison = compared(&pilot(), &pilot());
    assert_eq!(comparison.cause, Cause::NothingDiffers);
    assert_eq!((comparison.items.both, comparison.results.differing()), (12, 0));
    assert!(comparison.changed_most.is_empty() && comparison.quality_holds.is_none());
}

#[test]
fn one_changed_parameter_is_named_with_both_values_and_the_changed_item_stands_beside_its_input() {
    let (a, b) = (pilot(), Fixture::new(&Plan::default(), but(2, refused(WorkReason::Ambiguous))));
    record(&b, |trial| {
        let pilote_spec::EngineConfig::Builtin(engine) = &mut trial.project.engine else { unreachable!() };
        engine.margin = 0.2;
        trial.engine.parameters.insert("margin".into(), "0.2".into());
    });
    let comparison = compared(&a, &b);
    assert_eq!((comparison.cause, differing(&comparison)), (Cause::OneFactor, vec![FactorCode::Parameters]));
    let parameters = comparison.differing().next().unwrap();
    let change = &parameters.changes[0];
    assert_eq!(parameters.changes.len(), 1, "told once: {:?}", parameters.changes);
    assert_eq!(change.field, "project.engine.margin");
    assert_eq!((change.a.as_deref(), change.b.as_deref()), (Some("0.02"), Some("0.2")));
    let item = &comparison.changed_most[0];
    assert_eq!(comparison.changed_most.len(), 1);
    assert_eq!(item.name, b.items[2].id.as_ref().unwrap().0);
    assert!(item.input.as_ref().is_some_and(|text| text.len() > 20), "{:?}", item.input);
}

#[test]
fn every_recorded_field_is_of_the_factor_that_people_expect() {
    let of = |change: &dyn Fn(&mut Trial)| {
        let b = pilot();
        record(&b, change);
        differing(&compared(&pilot(), &b))
    };
    let model = |file: &'static str| {
        of(&move |trial: &mut Trial| {
            let files = &mut trial.engine.model.as_mut().unwrap().files;
            files.insert(file.into(), pilote_spec::Digest::of(b"another"));
        })
    };
    assert_eq!(model("model.safetensors"), [FactorCode::Model]);
    assert_eq!(model("tokenizer.json"), [FactorCode::Tokenizer]);
    assert_eq!(of(&|trial| trial.engine.precision = "bf16".into()), [FactorCode::Precision]);
    assert_eq!(of(&|trial| trial.engine.version = "9".into()), [FactorCode::Engine]);
    assert_eq!(of(&|trial| trial.program.digest = None), [FactorCode::Program]);
    assert_eq!(of(&|trial| trial.machine.cards[0].driver = Some("1".into())), [FactorCode::Device]);
    assert_eq!(of(&|trial| trial.machine.kernel = Some("7".into())), [FactorCode::Environment]);
    assert_eq!(of(&|trial| trial.project.limits.bytes = 7), [FactorCode::Configuration]);
    let seed = |trial: &mut Trial| {
        trial.engine.parameters.insert("seed".into(), "7".into());
    };
    assert_eq!(of(&seed), [FactorCode::Seeds]);
    // Where the same files came from, names and the place of copies change nothing.
    let harmless = |trial: &mut Trial| {
        trial.engine.model.as_mut().unwrap().reference = "hub:x/y@z".into();
        trial.project.name = "other".into();
        trial.project.destination = None;
    };
    assert_eq!(of(&harmless), []);
}

#[test]
fn several_changed_factors_leave_the_cause_unknown() {
    let (a, b) = (pilot(), pilot());
    record(&b, |trial| {
        trial.engine.precision = "bf16".into();
        trial.engine.device = "cuda:0".into();
    });
    let comparison = compared(&a, &b);
    assert_eq!(comparison.cause, Cause::SeveralFactors);
    assert_eq!(differing(&comparison), [FactorCode::Precision, FactorCode::Device]);
}

#[test]
fn a_difference_that_nothing_recorded_explains_is_said_to_be_unexplained() {
    let b = Fixture::new(&Plan::default(), but(3, refused(WorkReason::Ambiguous)));
    assert_eq!(compared(&pilot(), &b).cause, Cause::Unexplained);
}

#[test]
fn what_was_not_recorded_is_said_and_never_taken_for_the_same() {
    let (a, b) = (pilot(), pilot());
    for fixture in [&a, &b] {
        record(fixture, |trial| {
            trial.engine.kind = "openai".into();
            trial.engine.model = None;
            trial.engine.precision = "unknown".into();
        });
    }
    let comparison = compared(&a, &b);
    let missing: Vec<FactorCode> = comparison.not_recorded().map(|factor| factor.factor).collect();
    assert_eq!(missing, [FactorCode::Model, FactorCode::Tokenizer, FactorCode::Precision, FactorCode::Seeds]);
    assert_eq!(comparison.cause, Cause::NothingDiffers);
    let environment =
        comparison.factors.iter().find(|factor| factor.factor == FactorCode::Environment).unwrap();
    assert_eq!(environment.state, FactorState::Same);
    assert_eq!(environment.not_recorded, ["packages", "variables"]);
}

#[test]
fn an_input_with_other_content_is_a_factor_and_is_named() {
    let edited = Plan {
        inputs: |project| {
            std::fs::write(project.join("data/pilote/01-street-lamp.txt"), "Another text.").unwrap();
        },
        ..Plan::default()
    };
    let (a, b) = (pilot(), Fixture::new(&edited, |item| Some(expected(item))));
    let comparison = compared(&a, &b);
    assert_eq!(differing(&comparison), [FactorCode::Inputs]);
    assert_eq!(
        (comparison.items.changed, &*comparison.items.names),
        (1, &["01-street-lamp.txt".to_owned()][..])
    );
}

#[test]
fn a_limited_trial_says_nothing_of_what_it_did_not_look_at() {
    let b = Fixture::new(&Plan { limit: Some(5), ..Plan::default() }, |item| Some(expected(item)));
    let comparison = compared(&pilot(), &b);
    assert_eq!((comparison.items.both, comparison.items.beyond_limit), (5, 7));
    assert_eq!((comparison.items.only_a, comparison.cause), (0, Cause::NothingDiffers));
}

#[test]
fn items_are_brought_together_by_identifier_whatever_their_order_and_however_many() {
    let plan = vectors(9_000, 1_000);
    let turned = |item: &Item| {
        let Output::Vector { mut values, .. } = vector(item) else { unreachable!() };
        if item.position.0 == 4_321 {
            values[0] += 0.25;
        }
        Some(Outcome::Accepted(Output::Vector { values, cut_at_tokens: None }))
    };
    let (a, b) =
        (Fixture::new(&plan, |item| Some(Outcome::Accepted(vector(item)))), Fixture::new(&plan, turned));
    let comparison = compared(&a, &b);
    assert_eq!((comparison.items.both, comparison.results.differing()), (9_000, 1));
    assert_eq!(comparison.changed_most[0].name, "row-00004321");
    let reversed = Fixture::reordered(&plan, turned, |items| items.reverse());
    let comparison = compared(&a, &reversed);
    assert_eq!((comparison.items.both, comparison.items.only_a, comparison.items.only_b), (9_000, 0, 0));
    assert!(comparison.items.moved >= 8_999);
    let swapped = Fixture::reordered(&plan, turned, |items| items.swap(10, 11));
    assert_eq!(compared(&a, &swapped).items.moved, 2);
    let shorter = Fixture::reordered(&plan, turned, |items| drop(items.drain(100..3_000)));
    let comparison = compared(&a, &shorter);
    assert_eq!((comparison.items.both, comparison.items.only_a), (6_100, 2_900));
    assert_eq!(comparison.items.names.len(), 20);
}

#[test]
fn a_change_that_loses_quality_fails_the_bar_with_its_figure() {
    let b = Fixture::new(&Plan::default(), but(3, refused(WorkReason::Ambiguous)));
    let comparison = compared_by(&pilot(), &b, "agreement=0.95", None);
    assert_eq!(comparison.quality_holds, Some(false));
    let line = &comparison.quality[0];
    assert_eq!((line.verdict, line.of), (Verdict::Fails, 12));
    assert!((line.seen.unwrap() - 11.0 / 12.0).abs() < 1e-12);
    assert_eq!(compared_by(&pilot(), &b, "agreement=0.9", None).quality_holds, Some(true));
    // Nothing has a cosine here, so a bar on it is never met.
    assert_eq!(compared_by(&pilot(), &pilot(), "cosine=0", None).quality_holds, Some(false));
}

#[test]
fn accuracy_is_counted_on_labelled_items_alone() {
    let a = pilot();
    let (first, second) = (&a.items[0], &a.items[1]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let Output::Category { category: right, .. } = category(first) else { unreachable!() };
    let line = |item: &Item, label: &str| {
        serde_json::json!({ "id": item.id.as_ref().unwrap().0, "label": label }).to_string()
    };
    std::fs::write(file.path(), format!("{}\n{}\n", line(first, &right), line(second, "nothing"))).unwrap();
    let labels = Labels::read(file.path()).unwrap();
    let comparison = compared_by(&a, &pilot(), "accuracy=0.6", Some(&labels));
    let figures = &comparison.results.figures;
    assert_eq!((figures.labelled, figures.correct, figures.correct_in_reference), (2, 1, 1));
    assert_eq!(comparison.quality_holds, Some(false));
}

#[test]
fn a_copy_is_compared_as_a_trial_is() {
    let a = pilot();
    pilote_proof::collect(&a.trial).unwrap();
    let copy = pilote_proof::export(&a.trial, &a.elsewhere(), pilote_spec::Stamp(1), &mut |_, _| {}).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let question =
        Question { project: None, scratch: scratch.path(), bar: QualityBar::default(), labels: None };
    let comparison = compare(&a.trial, &copy.copy, &question).unwrap();
    assert_eq!((comparison.cause, comparison.items.both), (Cause::NothingDiffers, 12));
}

#[test]
fn what_is_no_trial_is_named() {
    let a = pilot();
    let scratch = tempfile::tempdir().unwrap();
    let question =
        Question { project: None, scratch: scratch.path(), bar: QualityBar::default(), labels: None };
    let error = compare(&a.trial, scratch.path(), &question).unwrap_err().to_string();
    assert!(error.contains("is no trial: it has no trial.json"), "{error}");
}
