//! Launching a trial: what it leaves, and what keeps it from being launched.

mod support;

use pilote_conduct::{EndReason, Silent, Step, preview};
use pilote_spec::{Digest, FaultCode, TrialEvent, TrialKind};
use support::{Bench, Manners, Place, events, fault, is_sealed, measures, outcomes, refusals, trial};

#[test]
fn a_trial_leaves_its_index_its_outcomes_and_what_was_launched() {
    let place = Place::sixteen();
    let mut bench = Bench::new(&place);
    let end = bench.run().unwrap();
    assert_eq!((end.why, end.exit(), end.pending()), (EndReason::Done, 0, 0));
    assert_eq!((end.declared, end.counts.accepted, end.counts.refused), (16, 16, 0));
    assert_eq!(outcomes(&end.trial).len(), 16);
    assert!(is_sealed(&end.trial));
    let launched = trial(&end.trial);
    assert_eq!((launched.format.as_str(), launched.kind), ("pilote.trial/1", TrialKind::Pilot));
    assert_eq!(launched.name, end.trial.file_name().unwrap().to_str().unwrap());
    assert_eq!((launched.part_items, launched.batch_items), (6, 4));
    assert_eq!((launched.engine.kind.as_str(), launched.config), ("echo", Digest::of(b"config")));
    assert_eq!(launched.limit, None);
    let said = events(&end.trial);
    assert!(matches!(&said[0], TrialEvent::Started { resumed: false, carried_over: 0, .. }));
    assert!(matches!(said.last().unwrap(), TrialEvent::Ended { why, stray_answers: 0 } if why == "done"));
    let measured = measures(&end.trial);
    assert_eq!(measured.iter().map(|line| line.items).sum::<u64>(), 16, "parts of 6 in batches of 4");
    assert_eq!(measured.len(), 5);
    assert!(measured.iter().all(|line| line.took_us > 0 && line.measures.tokens.is_some()));
    assert!(measured.iter().all(|line| line.measures.peak_bytes.is_none()), "what was not read is absent");
}

#[test]
fn a_second_trial_gets_a_directory_of_its_own_and_changes_nothing_in_the_first() {
    let place = Place::sixteen();
    let first = Bench::new(&place).run().unwrap().trial;
    let before = outcomes(&first);
    let second = Bench::new(&place).run().unwrap().trial;
    assert_ne!(first, second);
    assert_eq!(outcomes(&first), before);
    assert_eq!(outcomes(&second), before);
}

#[test]
fn answers_in_reverse_order_belong_to_the_same_items() {
    let place = Place::sixteen();
    let expected = outcomes(&Bench::new(&place).run().unwrap().trial);
    let mut bench = Bench::new(&place);
    bench.manners = Manners { reverse: true, in_flight_max: 2, ..Manners::default() };
    assert_eq!(outcomes(&bench.run().unwrap().trial), expected);
}

#[test]
fn repeated_and_invented_answers_are_counted_and_noted() {
    let place = Place::sixteen();
    let expected = outcomes(&Bench::new(&place).run().unwrap().trial);
    let mut bench = Bench::new(&place);
    bench.manners = Manners { twice: true, invents: true, ..Manners::default() };
    let end = bench.run().unwrap();
    assert_eq!(outcomes(&end.trial), expected);
    assert_eq!(end.counts.stray, 16 + 5, "every answer a second time, and one invention a batch");
    let said = events(&end.trial);
    let noted = said.iter().filter(|event| matches!(event, TrialEvent::StrayAnswer { .. })).count();
    assert_eq!(noted, 21);
    assert!(matches!(said.last().unwrap(), TrialEvent::Ended { stray_answers: 21, .. }));
}

#[test]
fn a_corpus_of_another_size_fails_before_the_engine_starts_and_names_both_numbers() {
    let place = Place::with(&[("a.txt", "a"), ("b.txt", "b")], |value| value["pilot"]["count"] = 3.into());
    let mut bench = Bench::new(&place);
    let error = bench.run().unwrap_err();
    let message = error.to_string();
    assert!(message.contains("holds 2 items") && message.contains("declares 3"), "{message}");
    assert!(message.contains("`data/pilote`") && message.contains("`pilot.count`"), "{message}");
    assert_eq!((error.code(), error.exit(), bench.starts), ("inputs-count", 2, 0));
    assert!(place.trials().is_empty(), "nothing is left behind by a launch that never was");
}

#[test]
fn two_items_under_one_identifier_fail_before_the_engine_starts() {
    let place = Place::with(&[("rows.jsonl", "")], |value| {
        value["pilot"]["inputs"] =
            serde_json::json!({"jsonl": "data/pilote/rows.jsonl", "id": "id", "text": "text"});
        value["pilot"]["count"] = 3.into();
    });
    place.write(
        "rows.jsonl",
        "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n{\"id\":\"a\",\"text\":\"3\"}\n",
    );
    let mut bench = Bench::new(&place);
    let error = bench.run().unwrap_err();
    let message = error.to_string();
    assert!(message.contains("`a`") && message.contains("line 1") && message.contains("line 3"), "{message}");
    assert_eq!((error.exit(), bench.starts), (2, 0));
}

#[test]
fn bad_rows_are_refused_one_by_one_and_the_others_are_done() {
    let place = Place::with(&[("rows.jsonl", "")], |value| {
        value["pilot"]["inputs"] =
            serde_json::json!({"jsonl": "data/pilote/rows.jsonl", "id": "id", "text": "text"});
        value["pilot"]["count"] = 4.into();
    });
    place.write(
        "rows.jsonl",
        "{\"id\":\"a\",\"text\":null}\n{\"id\":\"b\",\"text\":7}\n{\"id\":\"c\",\"text\":\"NAN\"}\n{\"id\":\"d\",\"text\":\"x\"}\n",
    );
    let end = Bench::new(&place).run().unwrap();
    assert_eq!((end.counts.accepted, end.counts.refused), (1, 3));
    let refused = refusals(&end.trial);
    assert_eq!(refused["a"], "bad-record");
    assert_eq!(refused["b"], "bad-record");
    assert_eq!(refused["c"], "not-finite");
}

#[test]
fn a_changed_pilot_input_is_named_with_both_digests() {
    let place = Place::with(&[("a.txt", "a"), ("b.txt", "b")], |value| {
        value["pilot"]["digests"] = "data/pilote.sha256".into();
    });
    let pins = |b: &str| {
        let line = |name: &str, text: &str| format!("{}  data/pilote/{name}\n", Digest::of(text.as_bytes()));
        line("a.txt", "a") + &line("b.txt", b)
    };
    let file = place.root().join("data/pilote.sha256");
    std::fs::write(&file, pins("b")).unwrap();
    assert_eq!(Bench::new(&place).run().unwrap().exit(), 0);
    std::fs::write(&file, pins("other")).unwrap();
    let mut bench = Bench::new(&place);
    let error = bench.run().unwrap_err();
    let message = error.to_string();
    assert!(message.contains("`data/pilote/b.txt` changed"), "{message}");
    assert!(message.contains(&Digest::of(b"other").to_string()), "{message}");
    assert!(message.contains(&Digest::of(b"b").to_string()), "{message}");
    assert_eq!((error.code(), bench.starts), ("inputs-changed", 0));
    std::fs::write(&file, "no digest\n").unwrap();
    let message = Bench::new(&place).run().unwrap_err().to_string();
    assert!(message.contains("`data/pilote.sha256`: line 1"), "{message}");
    std::fs::remove_file(&file).unwrap();
    let message = Bench::new(&place).run().unwrap_err().to_string();
    assert!(message.contains("`data/pilote.sha256`") && message.contains("cannot be read"), "{message}");
}

#[test]
fn a_campaign_that_is_not_declared_says_so() {
    let place = Place::with(&[("a.txt", "a")], |value| _ = value.as_object_mut().unwrap().remove("campaign"));
    let error = Bench::new(&place).campaign().unwrap_err();
    assert_eq!(error.code(), "no-campaign");
    assert!(error.to_string().contains("add `campaign`"));
}

#[test]
fn a_limit_takes_the_first_items_only_and_is_recorded() {
    let place = Place::sixteen();
    let mut bench = Bench::new(&place);
    let end =
        bench.conduct(&|_| {}, |conductor, launch| conductor.run(launch, TrialKind::Pilot, Some(7))).unwrap();
    assert_eq!((end.why, end.declared, end.counts.accepted), (EndReason::Done, 7, 7));
    assert_eq!(trial(&end.trial).limit, Some(7));
    assert_eq!(outcomes(&end.trial).keys().map(|it| it.0).collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
}

#[test]
fn a_preview_says_what_would_be_done_and_writes_nothing() {
    let place = Place::new(&[("a.txt", "a"), ("b.txt", ""), ("c.txt", "c")]);
    let mut bench = Bench::new(&place);
    let settings = bench.settings;
    let seen = bench
        .conduct(&|_| {}, |_, launch| preview(launch, TrialKind::Pilot, None, &settings, &mut Silent))
        .unwrap();
    assert_eq!((seen.items, seen.batches), (3, 1));
    assert_eq!(
        seen.faults.iter().map(|(at, code)| (at.0, *code)).collect::<Vec<_>>(),
        [(1, FaultCode::Empty)]
    );
    assert_eq!(bench.starts, 0);
    assert!(place.trials().is_empty());
}

#[test]
fn an_engine_that_does_not_start_leaves_its_first_error_and_the_step_reached() {
    let place = Place::sixteen();
    let mut bench = Bench::new(&place);
    bench.start_faults.push(fault("load model", "model.safetensors is cut short", true));
    let end = bench.run().unwrap();
    assert_eq!((end.why, end.exit(), end.pending()), (EndReason::EngineStart, 3, 16));
    assert_eq!(end.first_fault.unwrap().step, "load model");
    let kept = events(&end.trial).into_iter().any(|event| {
        matches!(event, TrialEvent::Failed { step, first_error, .. }
            if step == "load model" && first_error == "model.safetensors is cut short")
    });
    assert!(kept);
    let error = Bench::new(&place).resume(&end.trial).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("never-launched", 2));
}

#[test]
fn an_input_that_changed_after_the_index_is_refused_and_named() {
    let place = Place::sixteen();
    let change = |step| {
        if step == Step::TrialWritten {
            place.write("03.txt", "changed");
            std::fs::remove_file(place.root().join("data/pilote/05.txt")).unwrap();
        }
    };
    let end = Bench::new(&place)
        .conduct(&change, |conductor, launch| conductor.run(launch, TrialKind::Pilot, None))
        .unwrap();
    assert_eq!((end.why, end.counts.accepted, end.counts.refused), (EndReason::Done, 14, 2));
    let refused = refusals(&end.trial);
    assert_eq!((refused["03.txt"].as_str(), refused["05.txt"].as_str()), ("input-changed", "input-changed"));
    assert!(outcomes(&end.trial).values().any(|text| text.contains(&Digest::of(b"changed").to_string())));
}

#[test]
fn inputs_are_never_written_to() {
    let place = Place::sixteen();
    let digests = || {
        support::sixteen_files()
            .iter()
            .map(|(name, _)| Digest::of(&std::fs::read(place.root().join("data/pilote").join(name)).unwrap()))
            .collect::<Vec<_>>()
    };
    let before = digests();
    Bench::new(&place).run().unwrap();
    assert_eq!(digests(), before);
}

#[test]
fn whole_batches_are_told_with_their_longest_item_and_without_the_one_that_warms_up() {
    let place = Place::sixteen();
    let end = Bench::new(&place).run().unwrap();
    let measured = pilote_conduct::measured(&end.trial).unwrap().batches;
    // Parts of six, six and four in batches of four; the first batch of the first part is left out.
    let items: Vec<u64> = measured.iter().map(|batch| batch.items).collect();
    assert_eq!(items, [2, 4, 2, 4]);
    assert!(measured.iter().all(|batch| batch.seconds > 0.0));
    let longest = measured[0].longest;
    let texts = support::sixteen_files();
    let chars = texts[..6].iter().map(|(_, text)| text.chars().count() as u64).max();
    assert_eq!(Some(longest), chars, "the second batch of the first part holds its longest items");
}
