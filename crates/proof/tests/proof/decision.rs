//! Decisions, receipts, the history that they make, and the gate that rests on them.

use std::path::Path;

use pilote_proof::{
    Choice, Condition, DecideError, Decision, Examined, Gate, Here, Proposal, Reader, RequirementCode,
    ResolutionState, Tie, collect, decisions, export, gate, history, keep, take_receipt, verify, weigh,
    write_receipt,
};
use pilote_spec::{
    Digest, EnvironmentFacts, Item, ItemId, MachineFacts, Project, QualityLine, QualityMeasure, Stamp, Trial,
    Verdict, WorkReason,
};

use crate::support::{Fixture, Plan, expected, pilot, refused};

const AT: Stamp = Stamp(1_796_063_000_000);

/// A pilot that was collected.
fn collected() -> Fixture {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    fixture
}

/// A pilot of which one more item was refused than is expected.
fn failing() -> Fixture {
    let outcome = |item: &Item| {
        Some(if item.position.0 == 3 { refused(WorkReason::Ambiguous) } else { expected(item) })
    };
    let fixture = Fixture::new(&Plan::default(), outcome);
    collect(&fixture.trial).unwrap();
    fixture
}

fn proposal(choice: Choice) -> Proposal {
    let words = |text: &str| Some(text.to_owned());
    Proposal {
        choice,
        because: words("all of them are right"),
        accepted: words("low margins"),
        left: words("nothing"),
        condition: None,
        samples: ["01-street-lamp.txt=right", "02-copier.eml=right", "12-electricity.txt=wrong:a complaint"]
            .map(|text| text.parse().unwrap())
            .to_vec(),
        quality: Vec::new(),
    }
}

fn refusal(fixture: &Fixture, change: impl FnOnce(&mut Proposal)) -> String {
    let mut proposal = proposal(Choice::Launch);
    change(&mut proposal);
    weigh(&fixture.trial, proposal, AT).unwrap_err().to_string()
}

fn launched(fixture: &Fixture) -> Decision {
    let decision = weigh(&fixture.trial, proposal(Choice::Launch), AT).unwrap();
    keep(&fixture.trial, &decision).unwrap();
    decision
}

#[test]
fn a_decision_to_launch_is_kept_with_the_digests_of_what_it_rests_on() {
    let fixture = collected();
    let decision = launched(&fixture);
    let files: Vec<&str> = decision.rests_on.keys().map(String::as_str).collect();
    assert_eq!(
        files,
        ["balance.json", "events/1.jsonl", "index/closed", "refused.jsonl", "results.jsonl", "trial.json"]
    );
    let kept = decisions(&fixture.trial, true).unwrap();
    assert_eq!((kept.len(), kept[0].number, kept[0].decision.as_ref()), (1, 1, Some(&decision)));
    assert_eq!(kept[0].tie, Tie::Holds);
    assert!(!kept[0].decision.as_ref().unwrap().samples[2].right);
    launched(&fixture);
    assert_eq!(decisions(&fixture.trial, false).unwrap()[1].number, 2);
    assert!(verify(&fixture.trial).unwrap().holds, "a decision is no part of the trial");
}

#[test]
fn a_trial_that_is_changed_afterwards_breaks_the_tie_and_names_the_file() {
    let fixture = collected();
    launched(&fixture);
    let results = fixture.path("results.jsonl");
    let text = std::fs::read_to_string(&results).unwrap();
    std::fs::write(&results, text.replacen("invoice", "minutes", 1)).unwrap();
    let kept = decisions(&fixture.trial, true).unwrap();
    assert_eq!(kept[0].tie, Tie::Broken { files: vec!["results.jsonl".into()] });
    std::fs::remove_file(fixture.path("balance.json")).unwrap();
    let kept = decisions(&fixture.trial, true).unwrap();
    assert_eq!(kept[0].tie, Tie::Broken { files: vec!["balance.json".into(), "results.jsonl".into()] });
}

#[test]
fn a_decision_that_was_edited_is_shown_as_one_that_cannot_be_read() {
    let fixture = collected();
    launched(&fixture);
    let path = fixture.path("decisions/000001.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("right", "wrong", 1)).unwrap();
    let kept = decisions(&fixture.trial, true).unwrap();
    assert!(kept[0].decision.is_none());
    let Tie::Unreadable { why } = &kept[0].tie else { panic!("{:?}", kept[0].tie) };
    assert!(why.contains("it was changed after it was written"), "{why}");
}

#[test]
fn everything_that_a_launch_lacks_is_named_with_what_to_do() {
    let fixture = collected();
    let lacks = |change: fn(&mut Proposal)| refusal(&fixture, change);
    assert_eq!(
        lacks(|it| it.because = Some("  ".into())),
        "--because says nothing; write the reason of the decision in a sentence"
    );
    assert_eq!(
        lacks(|it| it.accepted = None),
        "--accepted says nothing; write what is accepted although it is not perfect, or that nothing is"
    );
    assert_eq!(
        lacks(|it| it.left = None),
        "--left says nothing; write what is left to fix, or that nothing is"
    );
    assert_eq!(
        lacks(|it| it.condition = Some("criterion:nothing-pending".parse().unwrap())),
        "a launch names nothing that failed; leave --failed out, or decide to mend"
    );
    assert_eq!(
        lacks(|it| it.samples.push("nowhere.txt=right".parse().unwrap())),
        "the trial has no item `nowhere.txt`; identifiers are exact: mind case, accents and folders"
    );
    assert_eq!(
        lacks(|it| it.samples.push("02-copier.eml=wrong".parse().unwrap())),
        "`02-copier.eml` has two verdicts; keep the right one"
    );
    let few = lacks(|it| it.samples.truncate(1));
    assert!(few.starts_with("1 of 3 results were looked at; read some beside their inputs"), "{few}");
    assert_eq!(few.matches("--sample '").count(), 2, "{few}");
    // A refused item may be examined, and is no result.
    let refused = lacks(|it| it.samples[0].id = ItemId("06-scan.pdf".into()));
    assert!(refused.starts_with("2 of 3 results were looked at"), "{refused}");
    let line = QualityLine {
        measure: QualityMeasure::Agreement,
        verdict: Verdict::Fails,
        minimum: 0.99,
        seen: Some(0.75),
        of: 12,
    };
    let mut lossy = proposal(Choice::Launch);
    lossy.quality = vec![line];
    let error = weigh(&fixture.trial, lossy, AT).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        (
            "quality-lost",
            "the pilot loses quality against the declared reference: agreement is 0.750000 over 12, 0.99 is asked for"
                .to_owned()
        )
    );
}

#[test]
fn nothing_is_launched_on_a_pilot_that_does_not_hold_or_is_damaged() {
    let error = refusal(&failing(), |_| {});
    assert!(error.contains("criterion:results-count, criterion:refusals-expected"), "{error}");
    assert!(error.ends_with("decide to mend or replan instead"), "{error}");
    let fixture = collected();
    std::fs::write(fixture.path("refused.jsonl"), "").unwrap();
    let error = refusal(&fixture, |_| {});
    assert!(error.starts_with("the pilot does not hold") && error.contains("refused.jsonl"), "{error}");
    let pending = Fixture::new(&Plan { sealed: 0, ended: None, ..Plan::default() }, |item| {
        (item.position.0 > 0).then(|| expected(item))
    });
    let error = refusal(&pending, |_| {});
    assert_eq!(
        error,
        "`01-street-lamp.txt` is pending: there is no outcome to look at; take the trial up with `pilote run --resume`"
    );
}

#[test]
fn what_is_mended_is_named_as_a_condition_that_failed() {
    let fixture = failing();
    let mend = |condition: Option<&str>| {
        let mut proposal = proposal(Choice::Mend);
        proposal.condition = condition.map(|text| text.parse().unwrap());
        weigh(&fixture.trial, proposal, AT)
    };
    let error = mend(None).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "say what failed, so that the next trial can tell whether it is resolved: --failed WHAT"
        ) && error.contains("criterion:refusals-expected"),
        "{error}"
    );
    let error = mend(Some("criterion:nothing-pending")).unwrap_err().to_string();
    assert!(
        error.starts_with("criterion:nothing-pending did not fail in this trial; what failed:"),
        "{error}"
    );
    let decision = mend(Some("refusals-expected")).unwrap();
    assert_eq!(decision.condition.unwrap().to_string(), "criterion:refusals-expected");
    assert_eq!(mend(Some("rung:card")).unwrap().condition, Some(Condition::Rung { rung: "card".into() }));
    let unknown = |text: &str| text.parse::<Condition>().unwrap_err().to_string();
    assert_eq!(
        unknown("weather:rain"),
        "`weather:rain` is no condition; write criterion:CODE, step:NAME, rung:NAME or quality:MEASURE"
    );
    assert!(
        unknown("criterion:").contains("is no condition")
            && unknown("quality:taste").contains("is no condition")
    );
}

#[test]
fn a_verdict_on_a_sample_is_read_whatever_its_identifier_holds() {
    let read = |text: &str| text.parse::<Examined>().map_err(|error: DecideError| error.to_string());
    let sample = read("a=b:c.txt=wrong: the date: is lost").unwrap();
    assert_eq!(
        (sample.id.as_str(), sample.right, sample.note.as_deref()),
        ("a=b:c.txt", false, Some("the date: is lost"))
    );
    assert!(read("x=right").unwrap().right);
    for text in ["x", "x=maybe", "=right", ""] {
        assert_eq!(
            read(text).unwrap_err(),
            format!("`{text}` is no verdict on a sample; write --sample ID=right, or --sample ID=wrong:why")
        );
    }
}

/// A second trial in the project of `fixture`, under a later name.
fn second(fixture: &Fixture, name: &str, other: &Fixture) {
    let dir = fixture.project.join("runs").join(name);
    crate::support::copy_dir(&other.trial, &dir);
    let path = dir.join("trial.json");
    let mut trial: Trial = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    trial.name = name.to_owned();
    trial.engine.parameters.insert("margin".into(), "0.5".into());
    std::fs::write(path, serde_json::to_vec_pretty(&trial).unwrap()).unwrap();
    std::fs::remove_file(dir.join("balance.json")).unwrap();
    collect(&dir).unwrap();
}

#[test]
fn the_next_trial_says_whether_what_failed_is_resolved() {
    let fixture = failing();
    let mut mend = proposal(Choice::Mend);
    mend.condition = Some("criterion:refusals-expected".parse().unwrap());
    keep(&fixture.trial, &weigh(&fixture.trial, mend, AT).unwrap()).unwrap();
    second(&fixture, "2026-12-01T000000Z-pilot", &failing());
    second(&fixture, "2026-12-02T000000Z-pilot", &collected());
    let entries = history(&fixture.project).unwrap();
    let states: Vec<Option<ResolutionState>> =
        entries.iter().map(|entry| entry.resolution.as_ref().map(|resolution| resolution.state)).collect();
    assert_eq!(states, [None, Some(ResolutionState::Standing), Some(ResolutionState::Resolved)]);
    assert_eq!(entries[1].changed, [pilote_proof::FactorCode::Parameters]);
    assert!(entries[2].changed.is_empty() && entries[2].since.is_some());
}

pub(crate) fn reader(machine: &[u8]) -> Reader {
    Reader {
        at: AT,
        program: "0.1.0".into(),
        machine: Some(Digest::of(machine)),
        about: MachineFacts { system: Some("macos".into()), ..MachineFacts::default() },
    }
}

/// Records the machine that computed, before the trial is collected.
fn on_machine(fixture: &Fixture) -> EnvironmentFacts {
    let environment = EnvironmentFacts { machine: Some(Digest::of(b"here")), ..EnvironmentFacts::default() };
    let path = fixture.path("trial.json");
    let mut trial: Trial = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    trial.environment = Some(environment.clone());
    std::fs::write(path, serde_json::to_vec_pretty(&trial).unwrap()).unwrap();
    environment
}

/// A copy of the trial, verified by a machine, and its receipt.
fn receipt(fixture: &Fixture, machine: &[u8]) -> std::path::PathBuf {
    let copy = export(&fixture.trial, &fixture.elsewhere(), AT, &mut |_, _| {}).unwrap().copy;
    let file = fixture.project.join("receipt.json");
    write_receipt(&copy, &verify(&copy).unwrap(), reader(machine), &file).unwrap();
    file
}

#[test]
fn a_receipt_counts_only_of_this_trial_and_of_another_machine() {
    let fixture = pilot();
    on_machine(&fixture);
    collect(&fixture.trial).unwrap();
    let message = |result: Result<_, pilote_proof::ReceiptError>| {
        result.map(|_: pilote_proof::Receipt| ()).unwrap_err().to_string()
    };
    let file = receipt(&fixture, b"here");
    assert_eq!(
        message(take_receipt(&fixture.trial, &file)),
        "the receipt was written on the machine that computed; verify a copy on another one, and bring that receipt"
    );
    let file = receipt(&fixture, b"there");
    take_receipt(&fixture.trial, &file).unwrap();
    take_receipt(&fixture.trial, &file).unwrap();
    assert_eq!(std::fs::read_dir(fixture.path("receipts")).unwrap().count(), 1, "taken in twice, it is one");
    let other = failing();
    let error = message(take_receipt(&other.trial, &file));
    assert!(error.starts_with("the receipt is of a copy with other results"), "{error}");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("macos", "linux", 1)).unwrap();
    assert!(message(take_receipt(&fixture.trial, &file)).ends_with("is no receipt that can be used"));
    let copy = fixture.elsewhere().join(crate::support::NAME);
    let mut damaged = verify(&copy).unwrap();
    damaged.whole = false;
    let error = message(write_receipt(&copy, &damaged, reader(b"x"), &file));
    assert_eq!(
        error,
        "the copy is not whole, so that no receipt is given for it; what is wrong is listed above"
    );
    let whole = verify(&fixture.trial).unwrap();
    let error = message(write_receipt(&fixture.trial, &whole, reader(b"x"), &file));
    assert!(error.contains("is a trial in its place and no copy"), "{error}");
}

fn judged(fixture: &Fixture, environment: &EnvironmentFacts, change: impl FnOnce(&mut Project)) -> Gate {
    let trial: Trial = serde_json::from_slice(&std::fs::read(fixture.path("trial.json")).unwrap()).unwrap();
    let mut project = trial.project.clone();
    project.campaign =
        Some(pilote_spec::Campaign { inputs: project.pilot.inputs.clone(), count: 12, refused_max: 0.1 });
    change(&mut project);
    judged_on(fixture, environment, &project, &trial, None)
}

fn judged_on(
    fixture: &Fixture,
    environment: &EnvironmentFacts,
    project: &Project,
    trial: &Trial,
    ladder: Option<&str>,
) -> Gate {
    let here = Here { project, program: &trial.program, machine: &trial.machine, environment, ladder };
    gate(&fixture.project, here).unwrap()
}

fn lacking(gate: &Gate) -> (RequirementCode, Vec<String>, String) {
    let lacking = gate.lacking().expect("a requirement that is not met");
    (lacking.code, lacking.lacks.clone(), lacking.command.clone().unwrap())
}

#[test]
fn a_campaign_starts_only_after_a_pilot_that_held_here_a_copy_elsewhere_and_a_decision() {
    let fixture = pilot();
    let environment = on_machine(&fixture);
    let judge = || judged(&fixture, &environment, |_| {});
    assert_eq!(lacking(&judge()).0, RequirementCode::PilotHolds, "it was not collected");
    collect(&fixture.trial).unwrap();
    let (code, lacks, command) = lacking(&judge());
    assert_eq!((code, &*lacks), (RequirementCode::CopyElsewhere, &["copy".to_owned()][..]));
    assert_eq!(command, format!("pilote export {} DIR", crate::support::NAME));
    let file = receipt(&fixture, b"there");
    assert!(lacking(&judge()).2.starts_with("pilote verify COPY --receipt receipt.json"));
    take_receipt(&fixture.trial, &file).unwrap();
    let (code, _, command) = lacking(&judge());
    assert_eq!(code, RequirementCode::Decided);
    assert!(
        command.starts_with(&format!("pilote decide {} launch --because", crate::support::NAME)),
        "{command}"
    );
    launched(&fixture);
    assert!(judge().open, "{:?}", judge());

    let (code, lacks, command) = lacking(&judged(&fixture, &environment, |project| project.limits.bytes = 7));
    assert_eq!((code, command.as_str()), (RequirementCode::SameAsPilot, "pilote run"));
    assert_eq!(lacks, ["project.limits.bytes: 1048576 -> 7"]);
    let elsewhere = EnvironmentFacts { machine: Some(Digest::of(b"another")), ..EnvironmentFacts::default() };
    let (code, lacks, _) = lacking(&judged(&fixture, &elsewhere, |_| {}));
    assert!(
        code == RequirementCode::SameAsPilot && lacks[0].starts_with("environment.machine: "),
        "{lacks:?}"
    );
    assert_eq!(
        lacking(&judged(&fixture, &environment, |it| it.campaign = None)).0,
        RequirementCode::Declared
    );

    let mut mend = proposal(Choice::Mend);
    mend.condition = Some("rung:card".parse().unwrap());
    let later = Stamp(AT.0 + 1);
    keep(&fixture.trial, &weigh(&fixture.trial, mend, later).unwrap()).unwrap();
    let (code, lacks, _) = lacking(&judge());
    assert_eq!((code, lacks), (RequirementCode::Decided, vec![format!("mend: {}", crate::support::NAME)]));
}

#[test]
fn a_campaign_starts_only_where_the_ladder_was_climbed_and_passed() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let trial: Trial = serde_json::from_slice(&std::fs::read(fixture.path("trial.json")).unwrap()).unwrap();
    let mut project = trial.project.clone();
    project.campaign =
        Some(pilote_spec::Campaign { inputs: project.pilot.inputs.clone(), count: 12, refused_max: 0.1 });
    for word in ["never", "elsewhere", "rung:card"] {
        let gate = judged_on(&fixture, &on_machine(&fixture), &project, &trial, Some(word));
        assert_eq!(
            lacking(&gate),
            (RequirementCode::Ladder, vec![word.to_owned()], "pilote check".to_owned()),
            "{gate:?}"
        );
    }
}

#[test]
fn a_pilot_that_was_changed_after_the_decision_shuts_the_gate() {
    let fixture = pilot();
    let environment = on_machine(&fixture);
    collect(&fixture.trial).unwrap();
    take_receipt(&fixture.trial, &receipt(&fixture, b"there")).unwrap();
    launched(&fixture);
    let events = fixture.path("events/1.jsonl");
    let text = std::fs::read_to_string(&events).unwrap();
    std::fs::write(&events, text.replacen("bom-removed", "bom-moved", 1)).unwrap();
    let gate = judged(&fixture, &environment, |_| {});
    let (code, lacks, command) = lacking(&gate);
    assert_eq!(
        (code, &*lacks, &*command),
        (RequirementCode::PilotHolds, &["file-differs".to_owned()][..], "pilote run")
    );
    let decided = gate.requirements.iter().find(|one| one.code == RequirementCode::Decided).unwrap();
    assert_eq!((decided.met, &*decided.lacks), (false, &["trial-changed".to_owned()][..]));
}

#[test]
fn without_a_pilot_the_gate_says_to_run_one_and_a_limited_one_is_none() {
    let fixture = Fixture::new(&Plan { limit: Some(5), ..Plan::default() }, |item| Some(expected(item)));
    collect(&fixture.trial).unwrap();
    let gate = judged(&fixture, &EnvironmentFacts::default(), |_| {});
    assert_eq!((gate.pilot.clone(), gate.requirements.len()), (None, 6));
    assert_eq!(lacking(&gate), (RequirementCode::PilotHolds, Vec::new(), "pilote run".to_owned()));
}

#[test]
fn documents_of_version_1_are_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let fixture = collected();
    std::fs::create_dir_all(fixture.path("decisions")).unwrap();
    std::fs::copy(fixtures.join("decision-1.json"), fixture.path("decisions/000001.json")).unwrap();
    let kept = decisions(&fixture.trial, true).unwrap();
    let decision = kept[0].decision.as_ref().unwrap();
    assert_eq!((decision.choice, decision.samples.len(), decision.holds), (Choice::Launch, 3, true));
    let error = take_receipt(&fixture.trial, &fixtures.join("receipt-1.json")).unwrap_err();
    assert_eq!(error.code(), "other-results", "it was read, and is of another balance");
}
