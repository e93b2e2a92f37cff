//! `pilote worker-check` on the workers of the tests, and on some that break the protocol.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::process::Command;

use serde_json::{Value, json};
use support::{Trial, repository, worker};

const VECTOR: &str = r#"{"kind":"vector","width":2}"#;

/// Exit status, the object on standard output, and everything that was said.
fn check(arguments: &[&str]) -> (i32, Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pilote"))
        .args(["worker-check", "--json", "--seconds", "20"])
        .args(arguments)
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let object = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (output.status.code().unwrap(), object, said)
}

/// The rules that are not kept.
fn broken(object: &Value) -> Vec<String> {
    let rules = object["rules"].as_array().unwrap();
    let fails = rules.iter().filter(|rule| rule["verdict"] != "holds");
    fails.map(|rule| rule["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_example_workers_keep_every_rule() {
    let python_path = format!("PYTHONPATH={}", repository().join("python").display());
    let lengths = worker("lengths.py");
    let python = ["--output", VECTOR, "--", "env", &python_path, "python3", &lengths];
    let (reversed, shell) = (worker("reversed.mjs"), worker("shell.sh"));
    for arguments in [&python[..], &["--", "node", &reversed], &["--", "bash", &shell]] {
        let (status, object, said) = check(arguments);
        assert_eq!((status, broken(&object)), (0, Vec::new()), "{arguments:?}: {said}");
        assert_eq!((&object["format"], &object["holds"]), (&json!("pilote.worker-check/1"), &json!(true)));
        assert_eq!(object["rules"].as_array().unwrap().len(), 11);
    }
}

#[test]
fn each_way_to_break_the_protocol_is_told_by_its_rule() {
    let odd = worker("odd.py");
    for (how, rule, words) in [
        ("repeated", "answers", "answers w1 twice"),
        ("unknown", "answers", "w18446744073709551000, which nobody asked"),
        ("done", "names", "done with `b1`, which was never handed over"),
        ("rounds", "names", "which nobody asked"),
        ("by order", "identity", "in another order: the vectors are"),
        ("silent", "odd-texts", "without an answer to w"),
        ("strict", "unknown-fields", "an unknown field"),
        ("after the end", "end", "after the end it says more"),
        ("status", "end", "exit status: 3"),
        ("any version", "other-version", "it greets in protocol 2"),
    ] {
        let (status, object, said) = check(&["--output", VECTOR, "--", "python3", &odd, how]);
        assert_eq!((status, &object["holds"]), (1, &json!(false)), "{how}: {said}");
        assert!(broken(&object).contains(&rule.to_owned()), "{how}: {said}");
        let rules = object["rules"].as_array().unwrap();
        let told = rules.iter().find(|told| told["rule"] == rule).unwrap();
        assert!(told["detail"].as_str().unwrap().contains(words), "{how}: {told}");
    }
}

#[test]
fn a_program_that_does_not_greet_fails_once_and_the_other_rules_are_not_tried() {
    let (status, object, said) = check(&["--", "bash", "-c", "echo 'ImportError: no torch' >&2; exit 3"]);
    assert_eq!(status, 1, "{said}");
    assert_eq!(object["rules"][0]["verdict"], "fails");
    assert!(object["rules"][0]["detail"].as_str().unwrap().contains("ImportError: no torch"), "{said}");
    let others = &object["rules"].as_array().unwrap()[1..];
    assert!(others.iter().all(|rule| rule["verdict"] == "unknown"), "{said}");
}

#[test]
fn the_worker_of_a_project_is_checked_with_its_parameters_and_judged_by_its_output() {
    let python = repository().join("python").display().to_string();
    let engine = json!({ "kind": "worker", "command": ["python3", worker("lengths.py")],
        "environment": { "PYTHONPATH": python } });
    let project =
        |width: u32| Trial::new(&format!(r#"{{ "kind": "vector", "width": {width} }}"#), &engine, &["one"]);
    let kept = project(2);
    let (status, _, said) = check(&["--project", kept.root().to_str().unwrap()]);
    assert_eq!(status, 0, "{said}");
    let wider = project(3);
    let (status, object, said) = check(&["--project", wider.root().to_str().unwrap()]);
    assert_eq!((status, broken(&object)), (1, vec!["answers".to_owned()]), "{said}");
    assert!(said.contains("wrong-width"), "{said}");
}

#[test]
fn the_rules_are_read_in_the_language_of_the_reader() {
    for (lang, words) in [
        ("en", "Names come back exactly as they were given"),
        ("fr", "Les noms reviennent exactement"),
        ("ja", "名前は渡されたとおりに返る"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_pilote"))
            .args(["worker-check", "--lang", lang, "--", "bash", &worker("shell.sh")])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains(words), "{said}");
        assert_eq!(said.lines().count(), 12, "a line for each rule, then how many are kept: {said}");
    }
}

#[test]
fn a_request_without_a_program_or_with_an_unknown_output_is_told_what_to_write() {
    let (status, object, _) = check(&["--output", "{}", "--", "true"]);
    assert_eq!((status, &object["code"]), (2, &json!("output")));
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pilote"))
        .arg("worker-check")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
