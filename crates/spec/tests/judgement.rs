//! The criteria of pilots and campaigns over evidence, whole and damaged in every way.

use std::collections::BTreeSet;

use pilote_spec::{
    Balance, Campaign, CopyState, Criterion, CriterionCode, Evidence, FaultCode, FixedDigests, Inputs,
    ItemId, Position, Project, Reason, ResultsRead, SeenRefusal, Tally, TrialKind, Verdict, WorkReason,
    holds, judge,
};
use proptest::prelude::*;

const PDF: Reason = Reason::Input(FaultCode::UnsupportedKind);

fn project(count: u64, expected: &[(u64, Reason)]) -> Project {
    let refusals: Vec<_> = expected
        .iter()
        .map(|(at, reason)| serde_json::json!({ "id": id(*at).0, "reason": reason }))
        .collect();
    let project = serde_json::json!({
        "format": "pilote.project/1", "name": "twelve",
        "pilot": { "inputs": { "directory": "data/pilote" }, "count": count, "expected_refusals": refusals },
        "output": { "kind": "vector", "width": 2 },
        "engine": { "kind": "builtin", "task": "embed", "model": ["path:model"] },
    });
    serde_json::from_value(project).unwrap_or_else(|error| panic!("{error}"))
}

fn id(at: u64) -> ItemId {
    ItemId(format!("item-{at:02}"))
}

/// One record as a log would hold it: none is accepted, a reason is refused.
type Recorded = (u64, Option<Reason>);

/// Evidence as a reader gathers it: an index of `items`, and these records.
fn evidence(project: Project, items: usize, records: &[Recorded]) -> Evidence {
    let mut tally = Tally::new(items as u64);
    let mut refusals = Vec::new();
    for (position, refused) in records {
        tally.record(Position(*position), refused.is_none());
        if let Some(reason) = refused {
            let id = (*position < items as u64).then(|| id(*position));
            refusals.push(SeenRefusal { position: Position(*position), id, reason: *reason });
        }
    }
    let balance = tally.balance(project.pilot.count);
    Evidence {
        kind: TrialKind::Pilot,
        limit: None,
        ids: (0..items as u64).map(id).collect(),
        repeated: Vec::new(),
        unreadable: Vec::new(),
        digests: FixedDigests::NotDeclared,
        changed: Vec::new(),
        damage: Vec::new(),
        stray_answers: 0,
        refusals,
        outputs_read: balance.accepted,
        unacceptable: Vec::new(),
        results: Some(ResultsRead {
            accepted: balance.accepted,
            refused: balance.refused,
            wrong: Vec::new(),
        }),
        seals: 1,
        parts: 1,
        ended: Some("done".to_owned()),
        copy: CopyState::Whole { files: 20 },
        balance,
        project,
    }
}

/// Twelve records as the pilot must leave them: the last one refused.
fn twelve() -> Vec<Recorded> {
    (0..12).map(|at| (at, (at == 11).then_some(PDF))).collect()
}

fn good() -> Evidence {
    evidence(project(12, &[(11, PDF)]), 12, &twelve())
}

fn campaign(refused: u64, refused_max: f64) -> Evidence {
    let mut evidence = good();
    evidence.kind = TrialKind::Campaign;
    evidence.project.campaign = Some(Campaign {
        inputs: Inputs::Directory { directory: "data/corpus".to_owned(), encoding: Default::default() },
        count: 1_000,
        refused_max,
    });
    let accepted = 1_000 - refused;
    evidence.balance = Balance { declared: 1_000, accepted, refused, ..Balance::default() };
    evidence.outputs_read = accepted;
    evidence.results = Some(ResultsRead { accepted, refused, wrong: Vec::new() });
    evidence.ids = BTreeSet::new();
    evidence.refusals = Vec::new();
    evidence
}

fn verdict(criteria: &[Criterion], code: CriterionCode) -> Verdict {
    criteria.iter().find(|criterion| criterion.code == code).unwrap_or_else(|| panic!("no {code:?}")).verdict
}

/// The criteria that do not hold.
fn broken(evidence: &Evidence) -> Vec<(CriterionCode, Verdict)> {
    let criteria = judge(evidence);
    let broken: Vec<_> = criteria
        .iter()
        .filter(|criterion| criterion.verdict != Verdict::Holds)
        .map(|criterion| (criterion.code, criterion.verdict))
        .collect();
    assert_eq!(broken.is_empty(), holds(&criteria));
    broken
}

#[test]
fn eleven_accepted_and_the_expected_refusal_hold() {
    assert_eq!(broken(&good()), []);
    let codes: Vec<CriterionCode> = judge(&good()).iter().map(|criterion| criterion.code).collect();
    let expected: Vec<CriterionCode> =
        CriterionCode::ALL.into_iter().filter(|code| *code != CriterionCode::RefusalsWithinShare).collect();
    assert_eq!(codes, expected, "a pilot is judged by all but the share, in reading order");
}

#[test]
fn no_criterion_at_all_does_not_hold() {
    assert!(!holds(&[]));
}

#[test]
fn twelve_refusals_add_up_and_do_not_hold() {
    let records: Vec<Recorded> = (0..12).map(|at| (at, Some(PDF))).collect();
    let evidence = evidence(project(12, &[(11, PDF)]), 12, &records);
    let criteria = judge(&evidence);
    assert_eq!(verdict(&criteria, CriterionCode::BalanceAddsUp), Verdict::Holds);
    assert_eq!(verdict(&criteria, CriterionCode::RefusalsExpected), Verdict::Fails);
    assert_eq!(verdict(&criteria, CriterionCode::ResultsCount), Verdict::Fails);
    assert_eq!(verdict(&criteria, CriterionCode::ResultsAcceptable), Verdict::Fails);
    assert!(!holds(&criteria));
}

#[test]
fn twelve_accepted_do_not_hold_where_one_must_be_refused() {
    let records: Vec<Recorded> = (0..12).map(|at| (at, None)).collect();
    let evidence = evidence(project(12, &[(11, PDF)]), 12, &records);
    let fails =
        [CriterionCode::ResultsCount, CriterionCode::RefusalsExpected].map(|code| (code, Verdict::Fails));
    assert_eq!(broken(&evidence), fails);
}

#[test]
fn the_right_number_of_refusals_with_another_item_or_another_reason_does_not_hold() {
    let mut other_item = twelve();
    (other_item[11].1, other_item[3].1) = (None, Some(PDF));
    let mut other_reason = twelve();
    other_reason[11].1 = Some(Reason::Work(WorkReason::Ambiguous));
    for records in [other_item, other_reason] {
        let evidence = evidence(project(12, &[(11, PDF)]), 12, &records);
        assert_eq!(broken(&evidence), [(CriterionCode::RefusalsExpected, Verdict::Fails)]);
        let criteria = judge(&evidence);
        let refusals = criteria.iter().find(|c| c.code == CriterionCode::RefusalsExpected).unwrap();
        assert_eq!(
            refusals.concerned.len(),
            2,
            "the unexpected and the absent one: {:?}",
            refusals.concerned
        );
    }
}

#[test]
fn a_corpus_of_another_size_fails() {
    let fewer = evidence(
        project(12, &[(10, PDF)]),
        11,
        &twelve()[1..].iter().map(|r| (r.0 - 1, r.1)).collect::<Vec<_>>(),
    );
    assert!(broken(&fewer).contains(&(CriterionCode::InputsCount, Verdict::Fails)));
    assert_eq!(fewer.balance.missing, 1);
    let mut records = twelve();
    records.push((12, None));
    let more = evidence(project(12, &[(11, PDF)]), 13, &records);
    assert!(broken(&more).contains(&(CriterionCode::InputsCount, Verdict::Fails)));
}

#[test]
fn a_limited_trial_never_holds_and_what_it_did_not_reach_is_unknown() {
    let records: Vec<Recorded> = (0..3).map(|at| (at, None)).collect();
    let mut limited = evidence(project(12, &[(11, PDF)]), 3, &records);
    limited.limit = Some(3);
    let unknown = [
        CriterionCode::InputsCount,
        CriterionCode::InvalidCasePresent,
        CriterionCode::ResultsCount,
        CriterionCode::RefusalsExpected,
    ];
    assert_eq!(broken(&limited), unknown.map(|code| (code, Verdict::Unknown)));
    let mut whole = good();
    whole.limit = Some(12);
    assert_eq!(broken(&whole), [(CriterionCode::InputsCount, Verdict::Unknown)]);
}

#[test]
fn a_pilot_without_expected_refusals_has_no_line_for_the_invalid_case() {
    let records: Vec<Recorded> = (0..12).map(|at| (at, None)).collect();
    let evidence = evidence(project(12, &[]), 12, &records);
    assert_eq!(broken(&evidence), []);
    assert!(judge(&evidence).iter().all(|criterion| criterion.code != CriterionCode::InvalidCasePresent));
}

#[test]
fn each_damage_breaks_the_criterion_that_names_it() {
    use CriterionCode as C;
    use Verdict::{Fails, Unknown};
    type Damage = fn(&mut Evidence);
    let cases: [(Damage, C, Verdict); 20] = [
        (|e| e.repeated.push("x".to_owned()), C::InputsUnique, Fails),
        (|e| e.unreadable.push("x".to_owned()), C::InputsReadable, Fails),
        (|e| e.changed.push("x".to_owned()), C::InputsUnchanged, Fails),
        (|e| e.digests = FixedDigests::Unread, C::InputsUnchanged, Unknown),
        (|e| e.project.pilot.digests = Some("config/d".to_owned()), C::InputsUnchanged, Unknown),
        (|e| e.ids.retain(|seen| *seen != id(11)), C::InvalidCasePresent, Fails),
        (|e| e.damage.push("x".to_owned()), C::RecordsWhole, Fails),
        (|e| e.stray_answers = 1, C::BalanceAddsUp, Fails),
        (|e| e.balance.invented = 1, C::BalanceAddsUp, Fails),
        (|e| e.balance.duplicated = 1, C::BalanceAddsUp, Fails),
        (|e| e.unacceptable.push("x".to_owned()), C::ResultsAcceptable, Fails),
        (|e| e.outputs_read = 10, C::ResultsAcceptable, Unknown),
        (|e| e.outputs_read = 12, C::ResultsAcceptable, Fails),
        (|e| e.results = None, C::ResultsComplete, Unknown),
        (|e| e.results.as_mut().unwrap().accepted = 10, C::ResultsComplete, Fails),
        (|e| e.results.as_mut().unwrap().wrong.push("x".to_owned()), C::ResultsComplete, Fails),
        (|e| e.seals = 0, C::TrialEnded, Fails),
        (|e| e.ended = None, C::TrialEnded, Unknown),
        (|e| e.ended = Some("interrupted".to_owned()), C::TrialEnded, Fails),
        (|e| (e.seals, e.parts) = (0, 0), C::TrialEnded, Fails),
    ];
    for (damage, code, expected) in cases {
        let mut evidence = good();
        damage(&mut evidence);
        assert_eq!(broken(&evidence), [(code, expected)]);
    }
}

#[test]
fn a_copy_that_is_unknown_empty_or_damaged_does_not_hold() {
    for (copy, expected) in [
        (CopyState::Unknown, Verdict::Unknown),
        (CopyState::Whole { files: 0 }, Verdict::Fails),
        (CopyState::Damaged { files: vec!["trial.json".to_owned()] }, Verdict::Fails),
    ] {
        let mut evidence = good();
        evidence.copy = copy;
        assert_eq!(broken(&evidence), [(CriterionCode::CopyWhole, expected)]);
    }
}

#[test]
fn digests_that_were_declared_and_compared_hold() {
    let mut evidence = good();
    evidence.project.pilot.digests = Some("config/d".to_owned());
    evidence.digests = FixedDigests::Compared;
    assert_eq!(broken(&evidence), []);
}

#[test]
fn a_campaign_bears_its_declared_share_of_refusals_and_no_more() {
    assert_eq!(broken(&campaign(0, 0.0)), []);
    assert_eq!(broken(&campaign(10, 0.01)), []);
    assert_eq!(broken(&campaign(11, 0.01)), [(CriterionCode::RefusalsWithinShare, Verdict::Fails)]);
    assert_eq!(broken(&campaign(1_000, 1.0)), [(CriterionCode::ResultsAcceptable, Verdict::Fails)]);
    let mut undeclared = campaign(0, 0.0);
    undeclared.project.campaign = None;
    let unknown = [CriterionCode::InputsCount, CriterionCode::RefusalsWithinShare];
    assert_eq!(broken(&undeclared), unknown.map(|code| (code, Verdict::Unknown)));
}

#[test]
fn at_most_twenty_names_stand_beside_a_verdict() {
    let mut evidence = good();
    evidence.changed = (0..100).map(|at| id(at).0).collect();
    let criteria = judge(&evidence);
    let unchanged = criteria.iter().find(|c| c.code == CriterionCode::InputsUnchanged).unwrap();
    assert_eq!((unchanged.concerned.len(), unchanged.facts["seen"].as_str()), (20, "100"));
}

#[test]
fn figures_that_wrap_around_do_not_add_up() {
    let mut evidence = good();
    evidence.balance = Balance { declared: 1, accepted: u64::MAX, refused: 2, ..Balance::default() };
    assert!(broken(&evidence).contains(&(CriterionCode::BalanceAddsUp, Verdict::Fails)));
}

fn outcomes() -> impl Strategy<Value = Vec<Option<Option<Reason>>>> {
    let reason = prop::sample::select(Reason::all().collect::<Vec<_>>());
    let outcome =
        prop_oneof![1 => Just(None), 4 => Just(Some(None)), 2 => reason.prop_map(|r| Some(Some(r)))];
    prop::collection::vec(outcome, 1..40)
}

/// The records of an assignment of outcomes, pending positions left out.
fn records(outcomes: &[Option<Option<Reason>>]) -> Vec<Recorded> {
    let done =
        outcomes.iter().enumerate().filter_map(|(at, outcome)| outcome.map(|refused| (at as u64, refused)));
    done.collect()
}

proptest! {
    #[test]
    fn accepted_refused_and_pending_add_up_for_any_assignment_of_outcomes(outcomes in outcomes()) {
        let items = outcomes.len();
        let evidence = evidence(project(items as u64, &[]), items, &records(&outcomes));
        prop_assert!(evidence.balance.adds_up());
        let criteria = judge(&evidence);
        prop_assert_eq!(verdict(&criteria, CriterionCode::BalanceAddsUp), Verdict::Holds);
        let pending = outcomes.iter().any(Option::is_none);
        let expected = if pending { Verdict::Fails } else { Verdict::Holds };
        prop_assert_eq!(verdict(&criteria, CriterionCode::NothingPending), expected);
    }

    #[test]
    fn a_pilot_holds_only_as_declared_and_never_with_one_record_removed_doubled_or_invented(
        outcomes in outcomes(), order in any::<prop::sample::Index>(), victim in any::<prop::sample::Index>(),
        beyond in 0_u64..1_000
    ) {
        // Whatever the outcomes are, the deliverable is made to expect exactly them.
        let items = outcomes.len();
        let mut records: Vec<Recorded> = outcomes.iter().enumerate().map(|(at, o)| (at as u64, o.flatten())).collect();
        records[0].1 = None;
        let expected: Vec<(u64, Reason)> =
            records.iter().filter_map(|(at, refused)| refused.map(|reason| (*at, reason))).collect();
        let project = project(items as u64, &expected);
        records.rotate_left(order.index(items));
        prop_assert_eq!(broken(&evidence(project.clone(), items, &records)), []);

        let victim = victim.index(items);
        let mut removed = records.clone();
        removed.remove(victim);
        prop_assert!(!broken(&evidence(project.clone(), items, &removed)).is_empty());

        let mut doubled = records.clone();
        doubled.insert(order.index(items), records[victim]);
        prop_assert!(!broken(&evidence(project.clone(), items, &doubled)).is_empty());

        let mut invented = records.clone();
        invented.push((items as u64 + beyond, None));
        prop_assert!(!broken(&evidence(project.clone(), items, &invented)).is_empty());

        let mut turned = records.clone();
        turned[victim].1 = if turned[victim].1.is_some() { None } else { Some(PDF) };
        prop_assert!(!broken(&evidence(project, items, &turned)).is_empty());
    }
}
