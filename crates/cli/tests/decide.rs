//! From a pilot to a campaign by the commands that stand between them: compare, export, receipt, decide, log, gate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pilote_spec::Digest;
use serde_json::{Value, json};
use support::{Trial, repository, worker};

/// A project of the documents template in a folder of its own.
struct Desk(tempfile::TempDir);

/// What a command came to.
struct Said {
    status: i32,
    out: String,
    err: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(self.out.trim())
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        assert_eq!(type_in(desk.0.path(), &["new", "letters"]).status, 0);
        desk
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("letters")
    }

    fn pilote(&self, arguments: &[&str]) -> Said {
        type_in(&self.root(), arguments)
    }

    /// Runs a pilot and gives the name of its trial.
    fn run(&self, status: i32) -> String {
        let run = self.pilote(&["run", "--json"]);
        assert_eq!(run.status, status, "{}{}", run.out, run.err);
        let trial = run.json()["trial"].as_str().unwrap().to_owned();
        Path::new(&trial).file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn configure(&self, change: impl FnOnce(&mut Value)) {
        let path = self.root().join("config/pilote.json");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut config);
        std::fs::write(path, serde_json::to_vec_pretty(&config).unwrap()).unwrap();
    }
}

fn type_in(folder: &Path, arguments: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_pilote"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder)
        .env("PILOTE_CACHE", repository().join("cache"))
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// The receipt as another machine would have written it: its identity is another one, and so is its digest.
fn of_another_machine(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let receipt: Value = serde_json::from_str(&text).unwrap();
    let here = receipt["machine"].as_str().expect("this machine shows an identity").to_owned();
    let text = text.replace(&here, &Digest::of(b"another machine").to_string());
    let (body, _) = text.rsplit_once("  \"sha256\": \"").unwrap();
    std::fs::write(path, format!("{body}  \"sha256\": \"{}\"\n}}\n", Digest::of(body.as_bytes()))).unwrap();
}

const SAMPLES: [&str; 6] = [
    "--sample",
    "01-street-lamp.txt=right",
    "--sample",
    "02-copier.eml=right",
    "--sample",
    "07-footbridge.md=wrong:read again",
];

const WORDS: [&str; 6] = ["--because", "they are right", "--accepted", "low margins", "--left", "nothing"];

#[test]
fn a_campaign_is_refused_step_by_step_until_everything_is_there_and_then_runs() {
    let desk = Desk::new();
    desk.configure(|config| {
        config["campaign"] =
            json!({ "inputs": { "directory": "data/corpus" }, "count": 2, "refused_max": 0.5 });
    });
    let corpus = desk.root().join("data/corpus");
    std::fs::create_dir_all(&corpus).unwrap();
    for name in ["01-street-lamp.txt", "07-footbridge.md"] {
        std::fs::copy(desk.root().join("data/pilote").join(name), corpus.join(name)).unwrap();
    }
    let refused = |next: &str| {
        let campaign = desk.pilote(&["run", "--campaign"]);
        assert_eq!(campaign.status, 1, "{}{}", campaign.out, campaign.err);
        assert!(campaign.err.starts_with("error: The campaign is not started."), "{}", campaign.err);
        assert!(campaign.err.contains(&format!("hint: {next}")), "{}", campaign.err);
        let json = desk.pilote(&["run", "--campaign", "--json"]).json();
        assert_eq!((json["code"].as_str(), json["exit"].as_u64()), (Some("gate"), Some(1)));
    };
    refused("pilote check");
    let check = desk.pilote(&["check"]);
    assert_eq!(check.status, 0, "{}{}", check.out, check.err);
    refused("pilote run");
    let pilot = desk.run(0);
    let copies = desk.0.path().join("pilote-copies").join(&pilot);
    refused("pilote verify COPY --receipt receipt.json");

    let verify = type_in(desk.0.path(), &["verify", copies.to_str().unwrap(), "--receipt", "receipt.json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);
    let here = desk.pilote(&["receipt", "latest", "../receipt.json"]);
    assert_eq!(here.status, 1);
    assert!(here.err.contains("was written on the machine that computed"), "{}", here.err);
    of_another_machine(&desk.0.path().join("receipt.json"));
    let taken = desk.pilote(&["receipt", "latest", "../receipt.json"]);
    assert_eq!(taken.status, 0, "{}", taken.err);
    assert!(taken.out.starts_with("Another machine has verified a copy of"), "{}", taken.out);
    refused(&format!("pilote decide {pilot} launch --because"));

    let too_few = desk.pilote(&[&["decide", "latest", "launch"], &WORDS[..], &SAMPLES[..2]].concat());
    assert_eq!(too_few.status, 2);
    assert!(too_few.err.contains("1 of 3 results were looked at"), "{}", too_few.err);
    let decide = desk.pilote(&[&["decide", "latest", "launch"], &WORDS[..], &SAMPLES[..]].concat());
    assert_eq!(decide.status, 0, "{}", decide.err);
    let dry = desk.pilote(&["run", "--campaign", "--dry-run", "--json"]);
    assert_eq!((dry.status, dry.json()["gate"]["open"].as_bool()), (0, Some(true)), "{}", dry.out);

    desk.configure(|config| config["limits"]["bytes"] = 65_536.into());
    let other = desk.pilote(&["run", "--campaign"]);
    assert!(other.err.contains("project.limits.bytes: 1048576 -> 65536"), "{}", other.err);
    desk.configure(|config| config["limits"]["bytes"] = 1_048_576.into());

    let campaign = desk.pilote(&["run", "--campaign", "--json"]);
    assert_eq!(campaign.status, 0, "{}{}", campaign.out, campaign.err);
    assert_eq!(campaign.json()["balance"]["accepted"], 2);
    assert!(campaign.json()["trial"].as_str().unwrap().ends_with("-campaign"));

    let log = desk.pilote(&["log"]);
    assert_eq!(log.status, 0, "{}", log.err);
    assert!(log.out.contains("3 results looked at, 1 of them wrong"), "{}", log.out);
    std::fs::write(desk.root().join("runs").join(&pilot).join("refused.jsonl"), "").unwrap();
    let log = desk.pilote(&["log", "--lang", "fr"]);
    assert_eq!(log.status, 1);
    assert!(log.out.contains("L’essai a été changé après cette décision"), "{}", log.out);
    refused("pilote run");
}

#[test]
fn two_trials_are_compared_and_a_change_that_loses_quality_is_refused() {
    let desk = Desk::new();
    let first = desk.run(0);
    desk.configure(|config| config["engine"]["margin"] = 0.12.into());
    let second = desk.run(1);
    let compare = desk.pilote(&["compare", &first, &second]);
    assert_eq!(compare.status, 0, "{}", compare.err);
    assert!(compare.out.contains("engine.margin: 0.02 → 0.12"), "{}", compare.out);
    assert!(compare.out.contains("Same inputs and one factor changed, parameters."), "{}", compare.out);
    let json = desk.pilote(&["compare", &first, &second, "--json", "--bar", "agreement=0.99"]);
    assert_eq!((json.status, json.json()["format"].as_str()), (1, Some("pilote.compare/1")));
    assert_eq!(json.json()["cause"], "one-factor");
    assert_eq!(json.json()["quality"][0]["verdict"], "fails");
    let bar = desk.pilote(&["compare", &first, &second, "--bar", "agreement=2"]);
    assert_eq!(bar.status, 2);
    assert!(bar.err.contains("`2` is no agreement to ask for: write a number from 0 to 1"), "{}", bar.err);
    let labels = desk.pilote(&["compare", &first, &second, "--bar", "accuracy=1"]);
    assert!(labels.status == 2 && labels.err.contains("there are no labels"), "{}", labels.err);

    let launch = desk.pilote(&[&["decide", "latest", "launch"], &WORDS[..], &SAMPLES[..]].concat());
    assert_eq!(launch.status, 2);
    assert!(
        launch.err.contains("the pilot does not hold, so that nothing can be launched on it"),
        "{}",
        launch.err
    );
    let mend = desk.pilote(&[
        "decide",
        "latest",
        "mend",
        "--because",
        "the margin is too wide",
        "--failed",
        "refusals-expected",
    ]);
    assert_eq!(mend.status, 0, "{}", mend.err);
    desk.configure(|config| config["engine"]["margin"] = 0.02.into());
    let again = desk.pilote(&["run"]);
    assert!(
        again.out.contains(&format!("criterion:refusals-expected of {second} is resolved by this trial.")),
        "{}",
        again.out
    );

    desk.configure(|config| {
        config["quality"] = json!({ "reference": first, "agreement_min": 0.99 });
        config["engine"]["margin"] = 0.1.into();
    });
    let worse = desk.pilote(&["run", "--json"]).json();
    let trial = worse["trial"].as_str().unwrap();
    let compare = desk.pilote(&["compare", &first, trial, "--json"]);
    assert_eq!((compare.status, compare.json()["quality_holds"].as_bool()), (1, Some(false)));
}

#[test]
fn a_report_is_written_for_people_and_for_programs_and_never_over_something_else() {
    let desk = Desk::new();
    desk.run(0);
    let markdown = desk.pilote(&["report", "latest", "--markdown", "--lang", "ja", "--output", "report.md"]);
    assert_eq!(markdown.status, 0, "{}", markdown.err);
    let text = std::fs::read_to_string(desk.root().join("report.md")).unwrap();
    assert!(text.starts_with("# ") && text.contains("## 基準"), "{text}");
    let again = desk.pilote(&["report", "latest", "--markdown", "--output", "report.md"]);
    assert_eq!(again.status, 0, "an earlier report is written anew: {}", again.err);
    let page = desk.pilote(&["report", "latest", "--output", "report.md"]);
    assert!(page.status == 2 && page.err.contains("is there and is no report"), "{}", page.err);
    let json = desk.pilote(&["report", "latest", "--json"]).json();
    assert_eq!(
        (json["format"].as_str(), json["facts"]["accepted"].as_u64()),
        (Some("pilote.report/1"), Some(11))
    );
}

#[test]
fn closing_gathers_everything_says_what_would_be_lost_and_is_safe_once_it_is_proved_elsewhere() {
    let desk = Desk::new();
    let trial = desk.run(0);
    let close = desk.pilote(&["close", "../out"]);
    assert_eq!(close.status, 1, "{}", close.err);
    assert!(close.out.contains(&format!("{trial}: no other machine has verified a copy.")), "{}", close.out);
    assert!(
        close.out.contains("It is not safe yet to give the machine back. Nothing was deleted."),
        "{}",
        close.out
    );
    let copy = desk.0.path().join("out").join(&trial);
    let verify = type_in(desk.0.path(), &["verify", copy.to_str().unwrap(), "--receipt", "receipt.json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);
    of_another_machine(&desk.0.path().join("receipt.json"));
    assert_eq!(desk.pilote(&["receipt", "latest", "../receipt.json"]).status, 0);
    let json = desk.pilote(&["close", "../out", "--json"]).json();
    assert_eq!(json["format"], "pilote.close/1");
    assert_eq!(json["closing"]["trials"][0]["verified_elsewhere"], true);
    let codes: Vec<&str> = json["closing"]["lost"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| loss["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["inputs", "bundle-here"], "the bundle lies on this file system");
    let inside = desk.pilote(&["close", "copies"]);
    assert!(inside.status == 2 && inside.err.contains("name a destination elsewhere"), "{}", inside.err);
}

/// A project whose worker answers as `mood.txt` says; nothing of that is recorded.
fn moody(mood: &str) -> Trial {
    let engine = json!({
        "kind": "worker", "command": ["python3", worker("moody.py")],
        "environment": { "PYTHONPATH": repository().join("python").display().to_string() },
    });
    let output = r#"{"kind":"category","categories":[{"name":"a"},{"name":"b"}]}"#;
    let project = Trial::new(output, &engine, &["one", "two", "three", "four"]);
    project.write("mood.txt", mood.as_bytes());
    project
}

/// Compares the two trials of a project, and computes some items again.
fn compared_again(project: &Trial, a: &Path, b: &Path, count: &str) -> Said {
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    type_in(project.root(), &["compare", a, b, "--again", count, "--json"])
}

#[test]
fn an_engine_that_does_not_give_the_same_twice_is_told_from_something_that_drifted() {
    let chance = moody("turns");
    let (first, second) = (chance.run(&["--json"]).trial(), chance.run(&["--json"]).trial());
    let plain = type_in(chance.root(), &["compare", first.to_str().unwrap(), second.to_str().unwrap()]);
    assert!(plain.out.contains("--again 4"), "{}", plain.out);
    let again = compared_again(&chance, &first, &second, "2").json();
    assert_eq!(
        (again["cause"].as_str(), again["again"]["says"].as_str()),
        (Some("unexplained"), Some("chance"))
    );
    assert_eq!(
        (again["again"]["items"].as_u64(), again["again"]["differing_from_b"].as_u64()),
        (Some(2), Some(2))
    );

    let drift = moody("a");
    let first = drift.run(&["--json"]).trial();
    drift.write("mood.txt", b"b");
    let second = drift.run(&["--json"]).trial();
    let again = compared_again(&drift, &first, &second, "3").json();
    assert_eq!(again["again"]["says"], "drift");
    assert_eq!(
        (again["again"]["differing_from_a"].as_u64(), again["again"]["differing_from_b"].as_u64()),
        (Some(3), Some(0))
    );
    let trials = std::fs::read_dir(drift.root().join("runs")).unwrap().count();
    let needless = compared_again(&drift, &second, &second, "3");
    assert!(needless.status == 0 && needless.json().get("again").is_none());
    assert_eq!(std::fs::read_dir(drift.root().join("runs")).unwrap().count(), trials);
}

#[test]
fn a_pilot_that_gets_labelled_items_wrong_is_not_launched_on() {
    let desk = Desk::new();
    let first = desk.run(0);
    let results =
        std::fs::read_to_string(desk.root().join("runs").join(&first).join("results.jsonl")).unwrap();
    let label = |line: &str, other: Option<&str>| {
        let line: Value = serde_json::from_str(line).unwrap();
        json!({ "id": line["id"], "label": other.map_or(line["output"]["category"].clone(), Into::into) })
            .to_string()
    };
    let lines: Vec<&str> = results.lines().collect();
    let labels = [label(lines[0], Some("another")), label(lines[1], None), label(lines[2], None)].join("\n");
    std::fs::write(desk.root().join("data/labels.jsonl"), labels).unwrap();
    desk.configure(|config| {
        config["quality"] = json!({ "reference": first, "labels": "data/labels.jsonl", "accuracy_min": 0.9 });
    });
    desk.run(0);
    let launch = desk.pilote(&[&["decide", "latest", "launch"], &WORDS[..], &SAMPLES[..]].concat());
    assert_eq!(launch.status, 2);
    assert!(launch.err.contains("accuracy is 0.666667 over 3, 0.9 is asked for"), "{}", launch.err);
}
