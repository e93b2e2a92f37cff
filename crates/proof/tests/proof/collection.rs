//! Collection and the account: the same bytes whoever runs it, counted from what lies in the directory.

use crate::support::{Fixture, Plan, contents, expected, pilot, refused, vector};
use pilote_proof::{ProofError, account, collect};
use pilote_spec::{
    Balance, CriterionCode, ExpectedRefusal, FaultCode, Outcome, Output, Reason, TrialKind, Verdict,
    WorkReason,
};

fn verdict(fixture: &Fixture, code: CriterionCode) -> Verdict {
    let account = account(&fixture.trial).unwrap();
    account.criteria.into_iter().find(|criterion| criterion.code == code).unwrap().verdict
}

#[test]
fn the_pilot_of_twelve_holds_with_eleven_results_and_the_expected_refusal() {
    let fixture = pilot();
    let collected = collect(&fixture.trial).unwrap();
    let balance = Balance { declared: 12, accepted: 11, refused: 1, holds: true, ..Balance::default() };
    assert_eq!(collected.balance.balance, balance, "{:#?}", collected.balance.criteria);
    assert!(!collected.already);
    let results = std::fs::read_to_string(fixture.path("results.jsonl")).unwrap();
    assert_eq!(results.lines().count(), 11);
    let refused = std::fs::read_to_string(fixture.path("refused.jsonl")).unwrap();
    assert!(refused.contains(r#""id":"06-scan.pdf""#) && refused.contains("unsupported-kind"), "{refused}");
}

#[test]
fn results_stand_in_input_order_with_identifier_and_version() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let results = std::fs::read_to_string(fixture.path("results.jsonl")).unwrap();
    let lines: Vec<pilote_spec::ResultLine> =
        results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let accepted: Vec<_> = fixture.items.iter().filter(|item| item.fault.is_none()).collect();
    assert_eq!(lines.len(), accepted.len());
    for (line, item) in lines.iter().zip(accepted) {
        assert_eq!(
            (line.position, Some(&line.id), Some(line.sha256)),
            (item.position, item.id.as_ref(), item.digest)
        );
    }
}

#[test]
fn two_collections_of_the_same_trial_give_the_same_bytes() {
    let (first, second) = (pilot(), pilot());
    collect(&first.trial).unwrap();
    collect(&second.trial).unwrap();
    assert!(contents(&first.trial) == contents(&second.trial));
}

#[test]
fn collecting_again_changes_nothing() {
    let fixture = pilot();
    let first = collect(&fixture.trial).unwrap();
    let before = contents(&fixture.trial);
    let second = collect(&fixture.trial).unwrap();
    assert!(second.already);
    assert_eq!(second.balance, first.balance);
    assert!(contents(&fixture.trial) == before);
}

#[test]
fn a_collection_that_was_killed_before_its_balance_is_finished_by_the_next() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let whole = contents(&fixture.trial);
    for gone in [&["balance.json"][..], &["balance.json", "lookup.bin"], &["balance.json", "refused.jsonl"]] {
        for name in gone {
            std::fs::remove_file(fixture.path(name)).unwrap();
        }
        collect(&fixture.trial).unwrap();
        assert!(contents(&fixture.trial) == whole);
    }
}

#[test]
fn a_trial_in_another_place_collects_to_the_same_bytes() {
    let fixture = pilot();
    let moved = fixture.elsewhere().join("runs").join(crate::support::NAME);
    crate::support::copy_dir(&fixture.trial, &moved);
    collect(&fixture.trial).unwrap();
    collect(&moved).unwrap();
    assert!(contents(&moved) == contents(&fixture.trial));
}

#[test]
fn an_unfinished_trial_is_counted_and_nothing_is_written() {
    let plan = Plan { sealed: 1, ended: Some("interrupted"), ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| (item.position.0 < 7).then(|| expected(item)));
    let before = contents(&fixture.trial);
    let error = collect(&fixture.trial).unwrap_err();
    assert!(matches!(error, ProofError::NotSealed { unsealed: 2, parts: 3 }), "{error}");
    assert!(error.to_string().contains("--resume"), "{error}");
    assert!(contents(&fixture.trial) == before);
    let account = account(&fixture.trial).unwrap();
    assert_eq!((account.balance.accepted, account.balance.refused, account.balance.pending), (6, 1, 5));
    assert!(!account.balance.holds && !account.sealed);
    assert_eq!(verdict(&fixture, CriterionCode::NothingPending), Verdict::Fails);
    assert_eq!(verdict(&fixture, CriterionCode::TrialEnded), Verdict::Fails);
}

#[test]
fn a_sealed_trial_whose_writer_left_no_last_word_waits_for_it() {
    let fixture = Fixture::new(&Plan { ended: None, ..Plan::default() }, |item| Some(expected(item)));
    let error = collect(&fixture.trial).unwrap_err();
    assert_eq!(error.code(), "not-ended");
    assert!(!fixture.path("balance.json").exists());
}

#[test]
fn twelve_refusals_do_not_hold() {
    let fixture = Fixture::new(&Plan::default(), |item| {
        Some(if item.fault.is_some() { expected(item) } else { refused(WorkReason::Ambiguous) })
    });
    let balance = collect(&fixture.trial).unwrap().balance;
    assert_eq!((balance.balance.declared, balance.balance.refused), (12, 12));
    assert!(!balance.balance.holds);
    assert_eq!(verdict(&fixture, CriterionCode::RefusalsExpected), Verdict::Fails);
    assert_eq!(verdict(&fixture, CriterionCode::ResultsAcceptable), Verdict::Fails);
}

#[test]
fn the_expected_refusal_for_another_reason_does_not_hold() {
    let fixture = Fixture::new(&Plan::default(), |item| {
        Some(if item.fault.is_some() { refused(WorkReason::Ambiguous) } else { expected(item) })
    });
    let balance = collect(&fixture.trial).unwrap().balance;
    assert_eq!((balance.balance.accepted, balance.balance.refused), (11, 1));
    assert!(!balance.balance.holds);
    assert_eq!(verdict(&fixture, CriterionCode::RefusalsExpected), Verdict::Fails);
}

#[test]
fn a_category_that_was_not_declared_is_never_acceptable() {
    let fixture = Fixture::new(&Plan::default(), |item| {
        Some(match (expected(item), item.position.0) {
            (Outcome::Accepted(Output::Category { score, others, .. }), 3) => {
                Outcome::Accepted(Output::Category {
                    category: "poem".into(),
                    score,
                    others,
                    cut_at_tokens: None,
                })
            }
            (outcome, _) => outcome,
        })
    });
    assert!(!collect(&fixture.trial).unwrap().balance.balance.holds);
    let account = account(&fixture.trial).unwrap();
    let finding = &account.findings.kept()[0];
    assert_eq!((finding.code.code(), finding.place.as_str()), ("output-unacceptable", "04-hall-floor.html"));
    assert!(finding.detail.contains("outside-categories"), "{}", finding.detail);
}

#[test]
fn answers_that_nobody_asked_for_fail_the_balance() {
    let fixture = Fixture::new(&Plan { stray_answers: 2, ..Plan::default() }, |item| Some(expected(item)));
    let balance = collect(&fixture.trial).unwrap().balance.balance;
    assert_eq!(balance.invented, 2);
    assert!(!balance.holds);
}

#[test]
fn a_limited_trial_never_holds() {
    let fixture = Fixture::new(&Plan { limit: Some(3), ..Plan::default() }, |item| Some(expected(item)));
    let balance = collect(&fixture.trial).unwrap().balance.balance;
    assert_eq!((balance.declared, balance.accepted, balance.holds), (3, 3, false));
}

#[test]
fn a_changed_pilot_input_is_named() {
    let plan = Plan {
        inputs: |project| {
            std::fs::write(project.join("data/pilote/03-allotments.md"), "Another text.").unwrap();
        },
        ..Plan::default()
    };
    let fixture = Fixture::new(&plan, |item| Some(expected(item)));
    let balance = collect(&fixture.trial).unwrap().balance;
    let criterion = balance.criteria.iter().find(|c| c.code == CriterionCode::InputsUnchanged).unwrap();
    assert_eq!(criterion.verdict, Verdict::Fails);
    assert_eq!(criterion.concerned, ["data/pilote/03-allotments.md"]);
}

#[test]
fn a_list_of_digests_that_is_gone_leaves_the_criterion_open() {
    let fixture = pilot();
    std::fs::remove_file(fixture.path("pins.sha256")).unwrap();
    std::fs::remove_file(fixture.project.join("config/pilote-inputs.sha256")).unwrap();
    assert!(!collect(&fixture.trial).unwrap().balance.balance.holds);
    assert_eq!(verdict(&fixture, CriterionCode::InputsUnchanged), Verdict::Unknown);
}

#[test]
fn vectors_come_back_from_their_payload_in_full() {
    let fixture = embeddings();
    let balance = collect(&fixture.trial).unwrap().balance;
    assert!(balance.balance.holds, "{:#?}", balance.criteria);
    let results = std::fs::read_to_string(fixture.path("results.jsonl")).unwrap();
    let first: pilote_spec::ResultLine = serde_json::from_str(results.lines().next().unwrap()).unwrap();
    assert_eq!(first.output, vector(&fixture.items[0]));
}

fn embeddings() -> Fixture {
    let plan = Plan { example: "embeddings", ..Plan::default() };
    Fixture::new(&plan, |item| {
        Some(match &item.fault {
            Some(fault) => Outcome::Refused(fault.into()),
            None => Outcome::Accepted(vector(item)),
        })
    })
}

#[test]
fn a_vector_whose_payload_changed_is_not_acceptable() {
    let fixture = embeddings();
    collect(&fixture.trial).unwrap();
    let payload = contents(&fixture.trial).into_keys().find(|name| name.starts_with("payloads/")).unwrap();
    let mut bytes = std::fs::read(fixture.path(&payload)).unwrap();
    bytes[2] ^= 1;
    std::fs::write(fixture.path(&payload), bytes).unwrap();
    assert_eq!(verdict(&fixture, CriterionCode::ResultsAcceptable), Verdict::Fails);
}

#[test]
fn a_campaign_holds_within_its_share_of_refusals_and_not_beyond() {
    for (refusals, holds) in [(1, true), (2, true), (3, false)] {
        let plan = Plan {
            kind: TrialKind::Campaign,
            declare: |project| {
                project.campaign = Some(pilote_spec::Campaign {
                    inputs: project.pilot.inputs.clone(),
                    count: 12,
                    refused_max: 0.2,
                });
            },
            ..Plan::default()
        };
        let fixture = Fixture::new(&plan, |item| {
            Some(if item.position.0 + 1 < refusals { refused(WorkReason::Ambiguous) } else { expected(item) })
        });
        assert_eq!(collect(&fixture.trial).unwrap().balance.balance.holds, holds, "{refusals} refusals");
    }
}

#[test]
fn another_number_of_items_than_declared_does_not_hold() {
    for count in [11_u64, 13] {
        let plan = Plan {
            declare: if count == 11 {
                |project| project.pilot.count = 11
            } else {
                |project| project.pilot.count = 13
            },
            ..Plan::default()
        };
        let fixture = Fixture::new(&plan, |item| Some(expected(item)));
        let balance = collect(&fixture.trial).unwrap().balance.balance;
        assert_eq!((balance.holds, balance.missing), (false, count.saturating_sub(12)));
    }
}

#[test]
fn an_announced_case_that_is_not_among_the_inputs_is_named() {
    let plan = Plan {
        declare: |project| {
            project
                .pilot
                .expected_refusals
                .push(ExpectedRefusal { id: "13-empty.txt".into(), reason: Reason::Input(FaultCode::Empty) });
        },
        ..Plan::default()
    };
    let fixture = Fixture::new(&plan, |item| Some(expected(item)));
    let balance = collect(&fixture.trial).unwrap().balance;
    assert!(!balance.balance.holds);
    let criterion = balance.criteria.iter().find(|c| c.code == CriterionCode::InvalidCasePresent).unwrap();
    assert_eq!(criterion.concerned, ["13-empty.txt"]);
}

#[test]
fn other_results_than_the_records_give_are_not_overwritten() {
    let fixture = pilot();
    std::fs::write(fixture.path("results.jsonl"), "{}\n").unwrap();
    let error = collect(&fixture.trial).unwrap_err();
    assert!(matches!(&error, ProofError::Differs { path } if path.ends_with("results.jsonl")), "{error}");
    assert_eq!(std::fs::read(fixture.path("results.jsonl")).unwrap(), b"{}\n");
    assert!(!fixture.path("balance.json").exists());
}

#[test]
fn the_digest_that_the_balance_bears_is_the_one_that_the_format_says() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let text = std::fs::read_to_string(fixture.path("balance.json")).unwrap();
    let (body, _) = text.split_once("\n  \"sha256\": \"").unwrap();
    let digest = pilote_spec::Digest::of(format!("{body}\n").as_bytes());
    assert!(text.ends_with(&format!("  \"sha256\": \"{digest}\"\n}}\n")), "{text}");
}

#[test]
fn several_that_collect_at_once_leave_one_set_of_bytes() {
    let (fixture, alone) = (pilot(), pilot());
    collect(&alone.trial).unwrap();
    std::thread::scope(|scope| {
        let collectors: Vec<_> =
            (0..6).map(|_| scope.spawn(|| collect(&fixture.trial).unwrap().balance)).collect();
        for collector in collectors {
            assert!(collector.join().unwrap().balance.holds);
        }
    });
    assert!(contents(&fixture.trial) == contents(&alone.trial));
}
