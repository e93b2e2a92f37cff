//! The outcome of one identifier without reading the trial, and the trials of a project.

use pilote_proof::{TrialState, collect, find, latest, runs, summary};
use pilote_spec::{ItemId, Outcome, TrialKind};

use crate::support::{Fixture, NAME, Plan, expected, pilot, vector};

fn id(text: &str) -> ItemId {
    ItemId(text.into())
}

#[test]
fn an_identifier_is_found_before_and_after_collection() {
    let fixture = pilot();
    for _ in 0..2 {
        let found = find(&fixture.trial, &id("07-footbridge.md")).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].part, found[0].item.position.0), (2, 6));
        assert_eq!(found[0].outcome, Some(expected(&found[0].item)));
        let refused = find(&fixture.trial, &id("06-scan.pdf")).unwrap();
        assert!(matches!(refused[0].outcome, Some(Outcome::Refused(_))));
        assert_eq!(find(&fixture.trial, &id("no such file")).unwrap(), []);
        collect(&fixture.trial).unwrap();
    }
}

#[test]
fn a_pending_identifier_is_known_and_has_no_outcome() {
    let plan = Plan { sealed: 1, ended: None, ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| (item.position.0 < 7).then(|| expected(item)));
    let found = find(&fixture.trial, &id("12-electricity.txt")).unwrap();
    assert_eq!((found.len(), &found[0].outcome), (1, &None));
}

#[test]
fn one_identifier_is_found_although_every_other_part_is_gone() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    for gone in ["index/000001", "index/000003", "results.jsonl", "balance.json"] {
        std::fs::remove_file(fixture.path(gone)).unwrap();
    }
    for gone in ["parts/000001", "parts/000003", "measures", "events"] {
        std::fs::remove_dir_all(fixture.path(gone)).unwrap();
    }
    let found = find(&fixture.trial, &id("07-footbridge.md")).unwrap();
    assert_eq!(found[0].outcome, Some(expected(&found[0].item)));
}

#[test]
fn a_lookup_that_is_damaged_loses_nothing() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let bytes = std::fs::read(fixture.path("lookup.bin")).unwrap();
    for cut in [0, 10, bytes.len() / 2] {
        std::fs::write(fixture.path("lookup.bin"), &bytes[..cut]).unwrap();
        assert_eq!(find(&fixture.trial, &id("07-footbridge.md")).unwrap().len(), 1);
    }
    let zeros = vec![0; bytes.len() - 16];
    std::fs::write(fixture.path("lookup.bin"), [&bytes[..16], &zeros].concat()).unwrap();
    assert_eq!(find(&fixture.trial, &id("07-footbridge.md")).unwrap().len(), 1);
}

#[test]
fn a_vector_is_given_in_full() {
    let plan = Plan { example: "embeddings", ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| match &item.fault {
        Some(fault) => Some(Outcome::Refused(fault.into())),
        None => Some(Outcome::Accepted(vector(item))),
    });
    let item = &fixture.items[3];
    let found = find(&fixture.trial, item.id.as_ref().unwrap()).unwrap();
    assert_eq!(found[0].outcome, Some(Outcome::Accepted(vector(item))));
}

#[test]
fn the_trials_of_a_project_are_listed_with_how_far_they_came() {
    let fixture = pilot();
    let of = |fixture: &Fixture| {
        runs(&fixture.project).unwrap().into_iter().map(|run| run.state).collect::<Vec<_>>()
    };
    assert_eq!(of(&fixture), [TrialState::Sealed]);
    collect(&fixture.trial).unwrap();
    let copy = fixture.project.join("runs/2027-01-01T000000Z-pilot");
    crate::support::copy_dir(&fixture.trial, &copy);
    std::fs::remove_file(copy.join("balance.json")).unwrap();
    std::fs::remove_file(copy.join("index/closed")).unwrap();
    std::fs::create_dir_all(fixture.project.join("runs/no trial")).unwrap();
    assert_eq!(of(&fixture), [TrialState::Collected, TrialState::Begun, TrialState::Stray]);
    std::fs::write(copy.join("trial.json"), "{").unwrap();
    assert_eq!(of(&fixture), [TrialState::Collected, TrialState::Damaged, TrialState::Stray]);
    std::fs::remove_file(copy.join("trial.json")).unwrap();
    assert_eq!(of(&fixture), [TrialState::Collected, TrialState::Begun, TrialState::Stray]);
    let first = summary(&fixture.trial);
    assert_eq!((first.name.as_str(), first.kind), (NAME, Some(TrialKind::Pilot)));
    assert!(first.balance.unwrap().holds);
}

#[test]
fn a_project_without_trials_has_none() {
    let fixture = pilot();
    std::fs::remove_dir_all(fixture.project.join("runs")).unwrap();
    assert_eq!(runs(&fixture.project).unwrap(), []);
}

#[test]
fn the_latest_trial_is_the_one_that_was_launched_last_and_no_stray_directory() {
    let fixture = pilot();
    for name in ["-2", "-10", "-9"] {
        let twin = fixture.project.join("runs").join(format!("{NAME}{name}"));
        crate::support::copy_dir(&fixture.trial, &twin);
    }
    for stray in ["zzz", "2027-01-01T000000Z", "2027-01-01T000000Z-pilot.partial", "9999-99-99-pilot"] {
        crate::support::copy_dir(&fixture.trial, &fixture.project.join("runs").join(stray));
    }
    let last = latest(&fixture.project).unwrap().unwrap();
    assert_eq!(last.file_name().unwrap().to_str(), Some(&*format!("{NAME}-10")));
    let names: Vec<String> = runs(&fixture.project).unwrap().into_iter().map(|run| run.name).collect();
    let ordered = [NAME.to_owned(), format!("{NAME}-2"), format!("{NAME}-9"), format!("{NAME}-10")];
    assert_eq!(names[..4], ordered);
    assert_eq!(latest(&fixture.elsewhere()).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_trial_is_never_waited_on() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    for name in
        ["trial.json", "index/closed", "balance.json", "events/1.jsonl", "parts/000001/000001", "lookup.bin"]
    {
        let whole = std::fs::read(fixture.path(name)).unwrap();
        std::fs::remove_file(fixture.path(name)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(fixture.path(name)).status();
        assert!(made.unwrap().success());
        let _ = summary(&fixture.trial);
        let _ = find(&fixture.trial, &id("07-footbridge.md"));
        let counted = pilote_proof::account(&fixture.trial).is_ok();
        assert!(counted != matches!(name, "trial.json" | "index/closed"), "{name}");
        let verification = pilote_proof::verify(&fixture.trial).unwrap();
        assert!(verification.findings.iter().any(|finding| finding.place == name), "{verification:?}");
        std::fs::remove_file(fixture.path(name)).unwrap();
        std::fs::write(fixture.path(name), whole).unwrap();
    }
}
