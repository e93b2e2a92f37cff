//! What goes wrong while a trial runs, and how it is taken up again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pilote_conduct::{EndReason, Step};
use pilote_spec::{EngineConfig, Reason, TrialEvent, TrialKind, WorkReason};
use support::{Bench, Manners, Place, events, is_sealed, outcomes, refusals, trial};

/// Runs until `batches` batches were handed over, then asks for an orderly stop.
fn interrupted_after(place: &Place, batches: usize, kind: TrialKind) -> pilote_conduct::RunEnd {
    let mut bench = Bench::new(place);
    let interrupt = Arc::clone(&bench.interrupt);
    let submitted = Cell::new(0);
    let on_step = |step| {
        if step == Step::Submitted {
            submitted.set(submitted.get() + 1);
            interrupt.store(submitted.get() >= batches, Ordering::Relaxed);
        }
    };
    bench.conduct(&on_step, |conductor, launch| conductor.run(launch, kind, None)).unwrap()
}

#[test]
fn an_interrupt_finishes_the_batch_in_hand_and_the_trial_can_be_taken_up() {
    let place = Place::sixteen();
    let expected = outcomes(&Bench::new(&place).run().unwrap().trial);
    let end = interrupted_after(&place, 2, TrialKind::Pilot);
    assert_eq!((end.why, end.exit()), (EndReason::Interrupted, 4));
    assert_eq!((end.counts.accepted, end.pending()), (6, 10), "both batches of the first part are done");
    assert_eq!(outcomes(&end.trial).len(), 6);
    let mut bench = Bench::new(&place);
    let resumed = bench.resume(&end.trial).unwrap();
    assert_eq!((resumed.why, resumed.counts.accepted, resumed.counts.asked), (EndReason::Done, 16, 10));
    assert!(bench.told.0.iter().any(|told| told == "TakenUp { accepted: 6, refused: 0, pending: 10 }"));
    assert_eq!(outcomes(&end.trial), expected);
    assert!(is_sealed(&end.trial));
}

#[test]
fn a_finished_trial_is_taken_up_without_an_engine() {
    let place = Place::sixteen();
    let end = Bench::new(&place).run().unwrap();
    let mut bench = Bench::new(&place);
    let again = bench.resume(&end.trial).unwrap();
    assert_eq!((again.why, again.counts.accepted, bench.starts), (EndReason::Done, 16, 0));
}

#[test]
fn the_poison_item_is_refused_and_all_others_are_accepted() {
    let place = Place::sixteen();
    place.write("04.txt", "POISON");
    place.write("15.txt", "POISON at the very end of the last part, which is the longest text of all by far");
    let mut bench = Bench::new(&place);
    let end = bench.run().unwrap();
    assert_eq!((end.why, end.counts.accepted), (EndReason::Done, 14));
    let refused = refusals(&end.trial);
    assert_eq!((refused["04.txt"].as_str(), refused["15.txt"].as_str()), ("poison", "poison"));
    assert!(bench.starts > 6);
    let failures = events(&end.trial).into_iter().filter(|event| matches!(event, TrialEvent::Failed { .. }));
    assert!(failures.count() >= 6);
}

#[test]
fn an_item_without_an_answer_is_refused_and_none_is_absent() {
    let place = Place::sixteen();
    place.write("07.txt", "SILENT");
    let end = Bench::new(&place).run().unwrap();
    assert_eq!((end.why, end.counts.accepted, end.counts.refused), (EndReason::Done, 15, 1));
    assert_eq!(refusals(&end.trial)["07.txt"], "no-answer");
}

#[test]
fn a_broken_engine_leaves_every_item_pending_and_is_reported_with_its_own_words() {
    let place = Place::sixteen();
    let mut bench = Bench::new(&place);
    bench.manners.broken = true;
    let end = bench.run().unwrap();
    assert_eq!((end.why, end.exit(), end.pending()), (EndReason::Breaker, 4, 16));
    assert_eq!(end.first_fault.unwrap().first_error, "no kernel image");
    assert_eq!(Bench::new(&place).resume(&end.trial).unwrap().counts.accepted, 16);
}

#[test]
fn an_engine_that_hangs_is_started_anew_and_its_items_are_done() {
    let place = Place::sixteen();
    let mut bench = Bench::new(&place);
    bench.settings.stall = Some(Duration::from_secs(5));
    bench.manners.hangs_at = Some(3);
    let end = bench.run().unwrap();
    // Every engine hangs at its third batch; progress was made before, so the breaker does not trip.
    assert_eq!((end.why, end.counts.accepted, end.counts.refused), (EndReason::Done, 16, 0));
    assert!(bench.starts > 1);
    let noted = events(&end.trial)
        .into_iter()
        .any(|event| matches!(event, TrialEvent::Failed { first_error, .. } if first_error.contains("no answer for 5 s")));
    assert!(noted);
}

#[test]
fn an_engine_that_comes_back_as_another_one_stops_the_trial() {
    let place = Place::sixteen();
    place.write("04.txt", "POISON");
    let mut bench = Bench::new(&place);
    let clock = Arc::clone(&bench.clock);
    let starts = Cell::new(0);
    let mut engine = || -> Result<Box<dyn pilote_engine::Engine>, pilote_engine::EngineFault> {
        starts.set(starts.get() + 1);
        let device = (starts.get() > 1).then_some("cuda:0");
        Ok(Box::new(support::Echo::new(&clock, Manners { device, ..Manners::default() })))
    };
    let end = bench
        .conduct(&|_| {}, |conductor, launch| {
            pilote_conduct::Conductor {
                clock: conductor.clock,
                devices: Vec::new(),
                owner: conductor.owner.clone(),
                liveness: Arc::clone(&conductor.liveness),
                interrupt: conductor.interrupt,
                progress: &mut pilote_conduct::Silent,
                engine: &mut engine,
                settings: conductor.settings,
                on_step: conductor.on_step,
                failpoint: Arc::clone(&conductor.failpoint),
            }
            .run(launch, TrialKind::Pilot, None)
        })
        .unwrap();
    assert_eq!((end.why, end.exit()), (EndReason::Fault, 4));
    let message = end.error.unwrap().to_string();
    assert!(message.contains("device` was \"cpu\" and is \"cuda:0\""), "{message}");
}

#[test]
fn a_campaign_beyond_its_share_of_refusals_stops_and_goes_on_when_the_share_is_raised() {
    let mut place = Place::sixteen();
    for name in ["00.txt", "01.txt", "02.txt"] {
        place.write(name, "LONG");
    }
    let end = Bench::new(&place).campaign().unwrap();
    assert_eq!((end.why, end.exit()), (EndReason::RefusedMax, 4));
    assert!(end.counts.refused >= 2, "a tenth of sixteen is one");
    let again = Bench::new(&place).resume(&end.trial).unwrap();
    assert_eq!(again.why, EndReason::RefusedMax);
    place.project.campaign.as_mut().unwrap().refused_max = 0.5;
    let done = Bench::new(&place).resume(&end.trial).unwrap();
    assert_eq!((done.why, done.counts.accepted, done.counts.refused), (EndReason::Done, 13, 3));
    assert!(
        (trial(&end.trial).project.campaign.unwrap().refused_max - 0.1).abs() < 1e-9,
        "the launch stays as it was"
    );
}

#[test]
fn a_changed_parameter_is_refused_by_name_and_a_harmless_one_is_not() {
    let mut place = Place::sixteen();
    let end = interrupted_after(&place, 1, TrialKind::Pilot);
    let EngineConfig::Builtin(builtin) = &mut place.project.engine else { unreachable!() };
    builtin.margin = 0.5;
    let mut bench = Bench::new(&place);
    let error = bench.resume(&end.trial).unwrap_err();
    assert_eq!((error.code(), error.exit(), bench.starts), ("changed-since-launch", 2, 0));
    assert!(error.to_string().contains("`engine.margin` was 0.02"), "{error}");
    let EngineConfig::Builtin(builtin) = &mut place.project.engine else { unreachable!() };
    builtin.margin = 0.02;
    builtin.threads = Some(7);
    place.project.name = "another name".into();
    assert_eq!(Bench::new(&place).resume(&end.trial).unwrap().why, EndReason::Done);
}

#[test]
fn another_engine_is_refused_by_what_differs() {
    let place = Place::sixteen();
    let end = interrupted_after(&place, 1, TrialKind::Pilot);
    let mut bench = Bench::new(&place);
    bench.manners.device = Some("cuda:0");
    let error = bench.resume(&end.trial).unwrap_err();
    assert!(error.to_string().contains("engine facts: device` was \"cpu\" and is \"cuda:0\""), "{error}");
}

#[test]
fn what_is_no_trial_is_said_to_be_none() {
    let place = Place::sixteen();
    let error = Bench::new(&place).resume(&place.root().join("runs/none")).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("no-trial", 2));
    let end = interrupted_after(&place, 1, TrialKind::Pilot);
    let file = end.trial.join("trial.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("pilote.trial/1", "pilote.trial/9")).unwrap();
    let error = Bench::new(&place).resume(&end.trial).unwrap_err();
    assert!(error.to_string().contains("pilote.trial/9"), "{error}");
    std::fs::write(&file, "{").unwrap();
    assert_eq!(Bench::new(&place).resume(&end.trial).unwrap_err().code(), "trial-file");
}

#[test]
fn a_damaged_index_is_named_and_nothing_is_computed_over_it() {
    let place = Place::sixteen();
    let end = interrupted_after(&place, 2, TrialKind::Pilot);
    let file = end.trial.join("index/000002");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let again = Bench::new(&place).resume(&end.trial).unwrap();
    assert_eq!(again.exit(), 4);
    assert!(again.error.unwrap().to_string().contains("index/000002"));
    std::fs::remove_file(end.trial.join("index/closed")).unwrap();
    let error = Bench::new(&place).resume(&end.trial).unwrap_err();
    assert!(error.to_string().contains("`index/closed`"), "{error}");
}

#[test]
fn a_retry_asks_only_what_was_refused_for_the_reason_and_carries_the_rest_over() {
    let place = Place::with(
        &support::sixteen_files().iter().map(|(n, t)| (n.as_str(), t.as_str())).collect::<Vec<_>>(),
        |value| value["output"] = serde_json::json!({"kind": "vector", "width": 8}),
    );
    let vectors = |place| {
        let mut bench = Bench::new(place);
        bench.manners.width = Some(8);
        bench
    };
    place.write("03.txt", "LONG");
    place.write("09.txt", "");
    let reason = Reason::Work(WorkReason::TooLong);
    let first = vectors(&place).run().unwrap();
    assert_eq!((first.counts.accepted, first.counts.refused), (14, 2));
    place.write("03.txt", "short now");
    let mut bench = vectors(&place);
    let second =
        bench.conduct(&|_| {}, |conductor, launch| conductor.retry(launch, &first.trial, reason)).unwrap();
    assert_eq!((second.why, second.counts.accepted, second.counts.refused), (EndReason::Done, 15, 1));
    assert_eq!(second.counts.asked, 1, "only the retried item reached the engine");
    let retries = trial(&second.trial).retries.unwrap();
    assert_eq!(retries.trial, trial(&first.trial).name);
    assert_eq!(retries.items.iter().map(pilote_spec::ItemId::as_str).collect::<Vec<_>>(), ["03.txt"]);
    let (before, after) = (outcomes(&first.trial), outcomes(&second.trial));
    let differing: Vec<u64> =
        after.iter().filter(|(at, text)| before[at] != **text).map(|(at, _)| at.0).collect();
    assert_eq!(differing, [3]);
    let nothing = vectors(&place)
        .conduct(&|_| {}, |conductor, launch| conductor.retry(launch, &second.trial, reason))
        .unwrap_err();
    assert_eq!(nothing.code(), "nothing-to-retry");
}

#[test]
fn a_retry_of_an_unfinished_trial_says_to_finish_it_first() {
    let place = Place::sixteen();
    let end = interrupted_after(&place, 1, TrialKind::Pilot);
    let reason = Reason::Work(WorkReason::TooLong);
    let error = Bench::new(&place)
        .conduct(&|_| {}, |conductor, launch| conductor.retry(launch, &end.trial, reason))
        .unwrap_err();
    assert_eq!(error.code(), "unfinished");
    assert!(
        error.to_string().contains("12 items pending") && error.to_string().contains("--resume"),
        "{error}"
    );
}

/// Sixteen texts whose trial is finished, then others: two added, one of them before all others, one changed, one removed.
fn grown() -> (Place, pilote_conduct::RunEnd) {
    let files = support::sixteen_files();
    let mut place = Place::with(
        &files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>(),
        |value| value["output"] = serde_json::json!({"kind": "vector", "width": 8}),
    );
    place.write("09.txt", "");
    let first = vectors(&place).run().unwrap();
    assert_eq!((first.counts.accepted, first.counts.refused), (15, 1));
    place.write("000.txt", "added before all others");
    place.write("16.txt", "added behind them");
    place.write("05.txt", "changed");
    std::fs::remove_file(place.root().join("data/pilote/07.txt")).unwrap();
    place.project.pilot.count = 17;
    (place, first)
}

fn vectors(place: &Place) -> Bench<'_> {
    let mut bench = Bench::new(place);
    bench.manners.width = Some(8);
    bench
}

fn names(ids: &[pilote_spec::ItemId]) -> Vec<&str> {
    ids.iter().map(pilote_spec::ItemId::as_str).collect()
}

#[test]
fn of_a_corpus_that_grew_only_new_and_changed_documents_are_computed_and_what_is_gone_is_named() {
    let (place, first) = grown();
    let mut bench = vectors(&place);
    let second = bench
        .conduct(&|_| {}, |conductor, launch| conductor.since(launch, TrialKind::Pilot, None, &first.trial))
        .unwrap();
    assert_eq!((second.why, second.counts.accepted, second.counts.refused), (EndReason::Done, 16, 1));
    assert_eq!(second.counts.asked, 3, "two that were added and one that changed");
    let since = trial(&second.trial).since.unwrap();
    assert_eq!((since.taken_over, since.asked), (13, 3), "the empty one is refused by the index itself");
    assert_eq!((since.changed.count, names(&since.changed.names)), (1, vec!["05.txt"]));
    assert_eq!((since.removed.count, names(&since.removed.names)), (1, vec!["07.txt"]));
    assert_eq!(since.trial, trial(&first.trial).name);
    let closed = std::fs::read(first.trial.join("index/closed")).unwrap();
    assert_eq!(since.index, pilote_spec::Digest::of(&closed));
    let whole = vectors(&place).run().unwrap();
    assert_eq!(outcomes(&second.trial), outcomes(&whole.trial), "as if everything had been computed");
}

#[test]
fn a_trial_that_takes_outcomes_over_is_taken_up_only_beside_the_very_trial_that_it_names() {
    let (place, first) = grown();
    let mut bench = vectors(&place);
    let interrupt = Arc::clone(&bench.interrupt);
    let on_step = |step| {
        interrupt.fetch_or(step == Step::Submitted, Ordering::Relaxed);
    };
    let stopped = bench
        .conduct(&on_step, |conductor, launch| conductor.since(launch, TrialKind::Pilot, None, &first.trial))
        .unwrap();
    assert_eq!(stopped.why, EndReason::Interrupted);
    let file = stopped.trial.join("trial.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let since = trial(&stopped.trial).since.unwrap();
    let other = pilote_spec::Digest::of(b"another");
    std::fs::write(&file, text.replace(&since.seals.to_string(), &other.to_string())).unwrap();
    let error = vectors(&place).resume(&stopped.trial).unwrap_err();
    assert!(error.to_string().contains(&format!("`seals of {}` was", since.trial)), "{error}");
    std::fs::write(&file, text).unwrap();
    let resumed = vectors(&place).resume(&stopped.trial).unwrap();
    assert_eq!((resumed.why, resumed.counts.accepted), (EndReason::Done, 16));
    let whole = vectors(&place).run().unwrap();
    assert_eq!(outcomes(&stopped.trial), outcomes(&whole.trial));
}

#[test]
fn outcomes_are_not_taken_over_from_a_trial_with_other_parameters_of_another_kind_or_unfinished() {
    let (mut place, first) = grown();
    let take = |place: &Place, kind, dir: &std::path::Path| {
        vectors(place)
            .conduct(&|_| {}, |conductor, launch| conductor.since(launch, kind, None, dir))
            .unwrap_err()
    };
    let error = take(&place, TrialKind::Campaign, &first.trial);
    assert!(error.to_string().contains("`kind of trial` was pilot and is campaign"), "{error}");
    place.project.output = serde_json::from_value(serde_json::json!({"kind": "vector", "width": 9})).unwrap();
    let error = take(&place, TrialKind::Pilot, &first.trial);
    assert!(error.to_string().contains("`output.width` was 8 and is 9"), "{error}");
    let sixteen = Place::sixteen();
    let end = interrupted_after(&sixteen, 1, TrialKind::Pilot);
    let error = Bench::new(&sixteen)
        .conduct(&|_| {}, |conductor, launch| conductor.since(launch, TrialKind::Pilot, None, &end.trial))
        .unwrap_err();
    assert_eq!(error.code(), "unfinished");
}
