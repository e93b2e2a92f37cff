//! Plans: exact totals, what is refused, what is said beside them, and projections from samples alone.

use pilote_size::cards::{Cards, Holding};
use pilote_size::memory::Backend;
use pilote_size::plan::{
    Candidate, Catalogue, Cents, Group, Lots, NoProjection, Plan, PlanRequest, Projection, Sample, Standing,
    Statement, period, plan, project,
};
use pilote_size::{Bytes, Request, size};
use proptest::prelude::*;

use super::fixtures::{folder, generate, vllm};

fn request(lots: &str) -> PlanRequest {
    PlanRequest { card: None, period: None, lots: Lots::parse(lots).unwrap(), backend: None, sample: None }
}

fn planned(request: &PlanRequest) -> Plan {
    plan(None, &Cards::built_in().unwrap(), &Catalogue::sample().unwrap(), request).unwrap()
}

fn of<'a>(plan: &'a Plan, card: &str) -> &'a Candidate {
    plan.candidates.iter().find(|candidate| candidate.card.name == card).unwrap()
}

#[test]
fn the_total_is_the_lot_s_price_times_the_lots_and_never_its_cards_again() {
    let plan = planned(&request("3"));
    let b200 = of(&plan, "B200");
    assert_eq!((b200.lots, b200.cards), (3, 6), "two cards a lot");
    let seven = &b200.prices[1];
    assert_eq!((seven.days, seven.lot, seven.total), (7, Cents(189_000), Cents(567_000)));
    assert_eq!(b200.memory_of_lot, Bytes(b200.memory.0 * 2), "shown, and no program sees it as one");
}

proptest! {
    #[test]
    fn totals_are_exact_for_any_price(cents in 0_u64..10_000_000_000, lots in 1_u32..=10) {
        let text = format!("format=\"pilote.catalogue/1\"\nfrom=\"desk\"\ncurrency=\"USD\"\n[[offer]]\ncard=\"B200\"\nlot_price={{ 7 = \"{}\" }}", Cents(cents));
        let catalogue = Catalogue::parse("desk", &text, "USD").unwrap();
        let plan = plan(None, &Cards::built_in().unwrap(), &catalogue, &request(&lots.to_string())).unwrap();
        prop_assert_eq!(plan.candidates[0].prices[0].total.0, cents * u64::from(lots));
    }
}

#[test]
fn lots_are_whole_numbers_from_1_to_10() {
    for text in ["0", "11", "1.5", "-1", "+2", "", "ten", "1e1", "٣", "99999999999999999999"] {
        let error = Lots::parse(text).unwrap_err();
        assert_eq!(error.to_string(), format!("lots: `{text}` is not allowed: a whole number from 1 to 10"));
        assert_eq!(error.code(), "not-allowed");
    }
    assert_eq!(Lots::parse("10").unwrap().get(), 10);
}

#[test]
fn periods_are_3_7_and_30() {
    assert_eq!(period("7").unwrap(), 7);
    for text in ["0", "4", "07", "30.0", "a week"] {
        assert!(period(text).unwrap_err().to_string().contains("3, 7 or 30 days"));
    }
}

#[test]
fn amounts_are_written_with_two_decimals_and_nothing_else() {
    assert_eq!(Cents::try_from("149.05".to_owned()).unwrap(), Cents(14_905));
    assert_eq!(Cents::try_from("7".to_owned()).unwrap().to_string(), "7.00");
    for text in ["149.5", "149.005", "-1.00", "1,00", "", ".50", "1.", "NaN", "184467440737095516.16"] {
        let error = Cents::try_from(text.to_owned()).unwrap_err().to_string();
        assert!(error.contains("is no amount"), "{text}: {error}");
    }
    assert_eq!(Cents(u64::MAX).times(2), None);
}

const DESK: &str = r#"{"format": "pilote.catalogue/1", "from": "desk", "currency": "USD",
  "offer": [{"card": "H200", "lot_price": {"3": "269.00"}}]}"#;

#[test]
fn a_price_in_another_currency_is_refused_not_converted() {
    for text in [
        DESK.replace("\"USD\"", "\"EUR\""),
        DESK.replace("\"card\": \"H200\"", "\"card\": \"H200\", \"currency\": \"EUR\""),
    ] {
        let error = Catalogue::parse("desk.json", &text, "USD").unwrap_err();
        assert_eq!(error.code(), "wrong-currency");
        assert!(error.to_string().contains("price of H200 is in EUR, and totals are made in USD"), "{error}");
    }
}

#[test]
fn a_catalogue_that_cannot_be_meant_is_refused() {
    for (from, to, said) in [
        ("catalogue/1", "catalogue/9", "`pilote.catalogue/1` is read"),
        ("\"3\": \"269.00\"", "\"5\": \"269.00\"", "`5` is no period"),
        ("269.00", "269.0", "is no amount"),
        ("\"269.00\"", "269.00", "invalid type: floating point"),
    ] {
        let error = Catalogue::parse("desk.json", &DESK.replace(from, to), "USD").unwrap_err().to_string();
        assert!(error.starts_with("desk.json: ") && error.contains(said), "{to}: {error}");
    }
    let error = plan(
        None,
        &Cards::built_in().unwrap(),
        &Catalogue::sample().unwrap(),
        &PlanRequest { card: Some("Z80".into()), ..request("1") },
    );
    assert!(error.unwrap_err().to_string().contains("card: `Z80` is not allowed"));
}

#[test]
fn the_statements_stand_beside_every_plan_and_examples_are_called_so() {
    let sample = planned(&request("1"));
    for statement in [
        Statement::TotalIsLotsTimesPrice,
        Statement::CardsDoNotMerge,
        Statement::ProgramMustShareOut,
        Statement::LotIsNotABatch,
        Statement::PeriodIsNoPromise,
        Statement::ReserveTime,
        Statement::PricesAreExamples,
    ] {
        assert!(sample.statements.contains(&statement), "{statement:?}");
    }
    assert!(sample.examples);
    let desk = Catalogue::parse("desk.json", DESK, "USD").unwrap();
    let plan = plan(None, &Cards::built_in().unwrap(), &desk, &request("1")).unwrap();
    assert!(!plan.examples && !plan.statements.contains(&Statement::PricesAreExamples));
    assert!(plan.not_offered.contains(&"RTX 4090".to_owned()), "what is not offered is said");
    assert_eq!(of(&plan, "H200").prices.len(), 1, "no price is made up for a period without one");
}

#[test]
fn candidates_stand_by_verdict_then_price_and_a_backend_rules_out() {
    let cards = Cards::built_in().unwrap();
    let sizing = size(
        &folder("llama-3.1-8b", 1),
        &Request {
            task: generate(vllm(2048), 8192, 16),
            cards: cards.all.iter().cloned().map(Holding::whole).collect(),
            margin_percent: 10,
            measured: None,
        },
    )
    .unwrap();
    let plan = plan(
        Some(&sizing),
        &cards,
        &Catalogue::sample().unwrap(),
        &PlanRequest { backend: Some(Backend::Cuda), ..request("1") },
    )
    .unwrap();
    let standings: Vec<Standing> = plan.candidates.iter().map(|candidate| candidate.standing).collect();
    assert!(standings.is_sorted(), "{standings:?}");
    assert_eq!(of(&plan, "RTX 4090").standing, Standing::DoesNotFit);
    assert_eq!(of(&plan, "H200").standing, Standing::Open);
    assert!(plan.candidates.iter().all(|candidate| candidate.card.backend == Backend::Cuda));
}

#[test]
fn a_card_of_another_backend_than_the_sized_one_is_said_to_be_one() {
    let cards = Cards::built_in().unwrap();
    let request_of_size = Request {
        task: generate(vllm(2048), 8192, 16),
        cards: cards
            .all
            .iter()
            .filter(|card| card.backend == Backend::Cuda)
            .cloned()
            .map(Holding::whole)
            .collect(),
        margin_percent: 10,
        measured: None,
    };
    let sizing = size(&folder("llama-3.1-8b", 1), &request_of_size).unwrap();
    let plan = plan(Some(&sizing), &cards, &Catalogue::sample().unwrap(), &request("1")).unwrap();
    assert_eq!(of(&plan, "MI300X").standing, Standing::OtherBackend);
    let none = pilote_size::plan::plan(None, &cards, &Catalogue::sample().unwrap(), &request("1")).unwrap();
    assert_eq!(of(&none, "MI300X").standing, Standing::NotSized);
}

fn sample(groups: Vec<Group>) -> Sample {
    Sample {
        trial: "t".into(),
        pilot: false,
        groups,
        preparation_seconds: Some(900.0),
        export_seconds_per_item: Some(0.01),
    }
}

fn group(longest: u64, seconds: &[f64], corpus_items: u64) -> Group {
    Group { longest, seconds: seconds.to_vec(), corpus_items }
}

#[test]
fn without_a_sample_that_covers_the_lengths_there_is_no_projection() {
    let why = |sample: Option<&Sample>| match project(sample) {
        Projection::None { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(None), NoProjection::NoSample);
    let good =
        sample(vec![group(64, &[1.0; 12], 100), group(256, &[2.0; 12], 100), group(512, &[4.0; 12], 10)]);
    assert_eq!(why(Some(&Sample { pilot: true, ..good.clone() })), NoProjection::OnlyPilot);
    assert_eq!(why(Some(&sample(vec![group(64, &[1.0; 12], 9)]))), NoProjection::TooFew);
    assert_eq!(why(Some(&sample(vec![group(64, &[1.0; 40], 9)]))), NoProjection::LengthsNotCovered);
    let mut gap = good.clone();
    gap.groups.push(group(1024, &[], 3));
    assert_eq!(why(Some(&gap)), NoProjection::LengthsNotCovered);
    let mut bad = good;
    bad.groups[0].seconds[3] = f64::NAN;
    assert_eq!(why(Some(&bad)), NoProjection::BadTimes);
}

#[test]
fn a_projection_is_an_interval_around_the_weighted_total() {
    let spread = [0.8, 1.2, 0.9, 1.1, 1.0, 1.0, 0.8, 1.2, 0.9, 1.1, 1.0, 1.0];
    let times = |factor: f64| spread.map(|time| time * factor);
    let found = project(Some(&sample(vec![
        group(64, &times(1.0), 1000),
        group(256, &times(4.0), 500),
        group(512, &times(10.0), 50),
    ])));
    let Projection::Interval { measured, items, computing_low, computing_high, preparation, export, .. } =
        found
    else {
        panic!("{found:?}")
    };
    assert_eq!((measured, items), (36, 1550));
    let middle = f64::midpoint(computing_low, computing_high);
    assert!((middle - 3500.0).abs() < 1e-6, "{middle}");
    // The squares of a group sum to 0.2, so its mean has the error sqrt(0.2 / 11 / 12); the three groups add in quadrature.
    let error: f64 =
        (0.2 / 11.0 / 12.0_f64).sqrt() * (1000_f64.powi(2) + 2000_f64.powi(2) + 500_f64.powi(2)).sqrt();
    assert!((computing_high - middle - 2.0 * error).abs() < 1.0, "{computing_high}");
    assert_eq!(
        (preparation, export),
        (Some(900.0), Some(15.5)),
        "installation and export belong to the time"
    );
}

#[test]
fn a_group_measured_once_widens_the_interval() {
    let of = |once: &[f64]| match project(Some(&sample(vec![
        group(64, &[1.0; 20], 100),
        group(256, &[2.0; 20], 100),
        group(512, once, 100),
    ]))) {
        Projection::Interval { computing_low, computing_high, .. } => computing_high - computing_low,
        other => panic!("{other:?}"),
    };
    assert!(of(&[4.0]) > of(&[4.0, 4.0, 4.0]) + 100.0);
}
