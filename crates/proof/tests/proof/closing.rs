//! The end of a rental: what is gathered, what would be lost, and that nothing is deleted.

use pilote_proof::{Closing, LossCode, close, collect};
use pilote_spec::{Project, Stamp};

use crate::support::{Fixture, Plan, contents, expected, pilot};

const AT: Stamp = Stamp(1_796_063_000_000);

fn project(fixture: &Fixture) -> Project {
    let text = std::fs::read_to_string(fixture.project.join("config/pilote.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn closed(fixture: &Fixture, change: impl FnOnce(&mut Project)) -> (Closing, std::path::PathBuf) {
    let mut project = project(fixture);
    change(&mut project);
    close(&fixture.project, &project, &(&fixture.elsewhere()).into(), AT, &mut |_, _, _| {}).unwrap()
}

fn codes(closing: &Closing) -> Vec<LossCode> {
    let mut codes: Vec<LossCode> = closing.lost.iter().map(|loss| loss.code).collect();
    codes.sort();
    codes
}

#[test]
fn everything_that_must_leave_is_gathered_and_what_is_not_proved_elsewhere_is_said() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    std::fs::create_dir_all(fixture.path("decisions")).unwrap();
    std::fs::write(fixture.path("decisions/000001.json"), "{}").unwrap();
    let (closing, bundle) = closed(&fixture, |_| {});
    assert_eq!(pilote_proof::closing(&bundle).unwrap(), closing);
    let files = contents(&bundle);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    for name in ["closing.json", "manifest-sha256.txt", "project/config/pilote.json", "project/README.md"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let decision = format!("project/runs/{}/decisions/000001.json", crate::support::NAME);
    assert!(names.contains(&decision.as_str()), "{names:?}");
    assert!(fixture.elsewhere().join(crate::support::NAME).join("data/balance.json").is_file());
    assert_eq!(codes(&closing), [LossCode::NotVerifiedElsewhere, LossCode::BundleHere, LossCode::Inputs]);
    assert!(!closing.safe && !LossCode::Inputs.blocks());
    assert!(closing.model[0].starts_with("package:pip/") || closing.model[0].starts_with("hub:"));
}

#[test]
fn closing_twice_makes_one_bundle_and_a_changed_project_another_and_nothing_is_deleted() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let before = contents(&fixture.project);
    let (_, first) = closed(&fixture, |_| {});
    assert_eq!(closed(&fixture, |_| {}).1, first);
    let after = contents(&fixture.project);
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    std::fs::write(fixture.project.join("src/worker.py"), "print()")
        .or_else(|_| {
            std::fs::create_dir_all(fixture.project.join("src"))?;
            std::fs::write(fixture.project.join("src/worker.py"), "print()")
        })
        .unwrap();
    let (closing, second) = closed(&fixture, |_| {});
    assert_ne!(second, first);
    assert!(first.join("closing.json").is_file() && closing.files.contains_key("project/src/worker.py"));
}

#[test]
fn weights_that_only_a_path_names_are_carried_and_absent_ones_are_said_to_be_lost() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let only = |project: &mut Project, path: &str| {
        let pilote_spec::EngineConfig::Builtin(engine) = &mut project.engine else { unreachable!() };
        engine.model = vec![format!("path:{path}")];
    };
    let (closing, _) = closed(&fixture, |project| only(project, "models/mine"));
    assert!(codes(&closing).contains(&LossCode::Weights));
    std::fs::create_dir_all(fixture.project.join("models/mine")).unwrap();
    std::fs::write(fixture.project.join("models/mine/model.safetensors"), "weights").unwrap();
    let (closing, bundle) = closed(&fixture, |project| only(project, "models/mine"));
    assert!(!codes(&closing).contains(&LossCode::Weights));
    assert_eq!(std::fs::read_to_string(bundle.join("weights/model.safetensors")).unwrap(), "weights");
}

#[test]
fn an_unfinished_trial_and_one_that_cannot_be_copied_are_said_and_the_others_are_copied() {
    let fixture =
        Fixture::new(&Plan { sealed: 1, ended: None, ..Plan::default() }, |item| Some(expected(item)));
    let (closing, _) = closed(&fixture, |_| {});
    assert!(codes(&closing).contains(&LossCode::Unfinished), "{:?}", closing.lost);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", fixture.path("linked")).unwrap();
        let (closing, _) = closed(&fixture, |_| {});
        let lost = closing.lost.iter().find(|loss| loss.code == LossCode::NotCopied).unwrap();
        assert!(lost.what.contains("is a link"), "{}", lost.what);
        assert!(!closing.trials[0].whole);
    }
}

#[test]
fn a_place_inside_of_the_project_is_refused() {
    let fixture = pilot();
    let inside = fixture.project.join("copies");
    let error =
        close(&fixture.project, &project(&fixture), &(&inside).into(), AT, &mut |_, _, _| {}).unwrap_err();
    assert!(error.to_string().contains("name a destination elsewhere"), "{error}");
}

#[test]
fn the_account_of_version_1_is_read_and_one_that_was_edited_is_not() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/closing-1");
    let closing = pilote_proof::closing(&fixtures).unwrap();
    assert_eq!(
        (closing.project.as_str(), closing.trials.len(), closing.safe),
        ("twelve-documents", 1, false)
    );
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(fixtures.join("closing.json")).unwrap();
    std::fs::write(folder.path().join("closing.json"), text.replacen("\"safe\": false", "\"safe\": true", 1))
        .unwrap();
    let error = pilote_proof::closing(folder.path()).unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains("it was changed after it was written")
    );
}
