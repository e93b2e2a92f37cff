//! A trial that is left: detached, followed and stopped from elsewhere, and taken up again.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use support::Trial;

/// A project whose engine answers an item for each byte that is written into its gate.
struct Gated {
    trial: Trial,
    gate: File,
}

impl Gated {
    fn new(items: usize) -> Self {
        let texts: Vec<String> = (0..items).map(|item| format!("letter {item}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let engine = json!({ "kind": "worker", "command": ["python3", support::worker("gated.py")], "batch_items": 1 });
        let trial = Trial::new(r#"{ "kind": "text" }"#, &engine, &texts);
        let path = trial.root().join("gate");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Open on both sides, so that neither side ever waits for the other to open it.
        let gate = OpenOptions::new().read(true).write(true).open(path).unwrap();
        Self { trial, gate }
    }

    /// Lets so many items through, now or when they come.
    fn let_through(&mut self, items: usize) {
        self.gate.write_all(&vec![b'.'; items]).unwrap();
    }

    /// Launches or takes up without a terminal; the object that was printed.
    fn detached(&self, arguments: &[&str]) -> Value {
        let came = self.trial.run(&[&["--detach", "--json"], arguments].concat());
        assert_eq!(came.status, 0, "{}", came.said);
        came.json()
    }
}

fn pilote(arguments: &[&str], trial: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilote"));
    command.arg(arguments[0]).arg(trial).args(&arguments[1..]).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Asks for a stop, and gives the command that waits once it has asked.
fn asked_to_stop(trial: &Path) -> Child {
    let mut stop = pilote(&["stop"], trial).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(stop.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("Asked process "), "{said}");
    stop
}

fn path(of: &Value, key: &str) -> PathBuf {
    PathBuf::from(of[key].as_str().unwrap())
}

/// The session that a process belongs to: the sixth field of its `stat`.
fn session(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().to_owned()
}

/// The trial's events with this name.
fn events(trial: &Path, name: &str) -> Vec<Value> {
    let files = std::fs::read_dir(trial.join("events")).unwrap();
    let lines: Vec<String> = files
        .flat_map(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    lines
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|it| it["event"] == name)
        .collect()
}

/// Changes a field of the process that a trial's only writer named.
fn rewrite_process(trial: &Path, field: &str, value: Value) {
    let file = std::fs::read_dir(trial.join("events")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut began: Value = serde_json::from_str(first).unwrap();
    began["process"][field] = value;
    std::fs::write(&file, format!("{began}\n{rest}")).unwrap();
}

/// Makes a trial look as if its only writer were still at work, or had been killed.
fn forget_the_end(trial: &Path) {
    let file = std::fs::read_dir(trial.join("events")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    let kept = text.lines().filter(|line| !line.contains("\"event\":\"ended\""));
    std::fs::write(&file, kept.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn a_trial_is_left_stopped_from_elsewhere_taken_up_and_followed_to_its_end() {
    let mut project = Gated::new(40);
    let detached = project.detached(&[]);
    assert_eq!(detached["format"], "pilote.detached/1");
    let (trial, log) = (path(&detached, "trial"), path(&detached, "log"));
    assert_eq!(log, PathBuf::from(format!("{}.log", trial.display())));
    let pid = detached["pid"].to_string();
    assert_eq!(session(&pid), pid, "the process leads a session of its own");
    project.let_through(1);
    let stop = asked_to_stop(&trial);
    project.let_through(39);
    let stopped: Output = stop.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(0));
    assert!(text(&stopped.stdout).contains(&format!("Process {pid} is gone")), "{}", text(&stopped.stdout));
    assert!(support::is_gone(&pid));
    assert_eq!(events(&trial, "ended")[0]["why"], "interrupted");
    assert!(std::fs::read_to_string(&log).unwrap().contains("\"ended\":\"interrupted\""));
    assert!(!trial.join("balance.json").exists());

    let again = project.detached(&["--resume", &trial.display().to_string()]);
    assert_eq!(path(&again, "trial"), trial);
    assert_eq!(path(&again, "log"), PathBuf::from(format!("{}.2.log", trial.display())));
    project.let_through(40);
    let followed = pilote(&["follow", "--json"], &trial).output().unwrap();
    assert_eq!(followed.status.code(), Some(0), "{}", text(&followed.stderr));
    let status: Value = serde_json::from_slice(&followed.stdout).unwrap();
    assert_eq!((&status["state"], &status["balance"]["accepted"]), (&json!("collected"), &json!(40)));
    let began = events(&trial, "started");
    assert!(
        began.iter().any(|event| event["resumed"] == true && event["carried_over"].as_u64() > Some(0)),
        "{began:?}"
    );
}

#[test]
fn a_trial_is_killed_at_once_with_its_engine_and_loses_nothing_that_was_done() {
    let mut project = Gated::new(3);
    let detached = project.detached(&[]);
    let (trial, pid) = (path(&detached, "trial"), detached["pid"].to_string());
    project.let_through(1);
    support::eventually(|| {
        let status = pilote(&["status", "--json"], &trial).output().unwrap();
        let status: Value = serde_json::from_slice(&status.stdout).ok()?;
        (status["balance"]["accepted"] == 1).then_some(())
    });
    let stopped = pilote(&["stop", "--now", "--json"], &trial).output().unwrap();
    assert_eq!(stopped.status.code(), Some(0));
    let stopped: Value = serde_json::from_slice(&stopped.stdout).unwrap();
    assert_eq!((&stopped["format"], &stopped["gone"]), (&json!("pilote.stop/1"), &json!(true)));
    assert!(support::is_gone(&pid));
    assert!(events(&trial, "ended").is_empty(), "a killed process says nothing");
    project.let_through(3);
    let came = project.trial.run(&["--json", "--resume", &trial.display().to_string()]);
    assert_eq!((came.status, &came.json()["balance"]["accepted"]), (0, &json!(3)), "{}", came.said);
}

#[test]
fn nothing_is_stopped_where_nothing_works_and_no_other_process_is_ever_hit() {
    let mut project = Gated::new(1);
    project.let_through(1);
    let came = project.trial.run(&["--json"]);
    let trial = came.trial();
    for arguments in [&["stop"][..], &["stop", "--now"]] {
        let stopped = pilote(arguments, &trial).output().unwrap();
        assert_eq!(stopped.status.code(), Some(0));
        assert!(text(&stopped.stdout).contains("Nothing works on this trial."), "{}", text(&stopped.stdout));
    }
    // The number of the writer's process now belongs to somebody else, who began later.
    let mut somebody = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    rewrite_process(&trial, "pid", somebody.id().into());
    let stopped = pilote(&["stop", "--now"], &trial).output().unwrap();
    assert!(text(&stopped.stdout).contains("Nothing works on this trial."), "{}", text(&stopped.stdout));
    assert!(somebody.try_wait().unwrap().is_none(), "somebody else was hit");
    drop(somebody.stdin.take());
    assert!(somebody.wait().unwrap().success());
    let followed = pilote(&["follow"], &trial).output().unwrap();
    assert_eq!(followed.status.code(), Some(0), "a trial on which nobody works is shown as it stands");
}

#[test]
fn a_process_on_another_machine_is_not_signalled_and_its_machine_is_named() {
    let mut project = Gated::new(1);
    project.let_through(1);
    let trial = project.trial.run(&["--json"]).trial();
    rewrite_process(&trial, "host", "rented-7@0123456789ab".into());
    rewrite_process(&trial, "boot", "another start".into());
    let stopped = pilote(&["stop"], &trial).output().unwrap();
    assert!(text(&stopped.stdout).contains("Nothing works on this trial."), "it said that it ended");
    forget_the_end(&trial);
    let stopped = pilote(&["stop"], &trial).output().unwrap();
    let said = text(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(2));
    assert!(
        said.contains("rented-7@0123456789ab") && said.contains("give the command on the machine"),
        "{said}"
    );
}

#[test]
fn a_launch_that_fails_says_so_to_who_launched_it_and_leaves_no_log() {
    let project = Gated::new(2);
    std::fs::remove_file(project.trial.root().join("data/pilote/0.txt")).unwrap();
    let came = project.trial.run(&["--detach"]);
    assert_eq!(came.status, 2, "{}", came.said);
    assert!(came.said.contains("error: ") && !came.said.contains("works on"), "{}", came.said);
    let runs = std::fs::read_dir(project.trial.root().join("runs")).unwrap();
    assert_eq!(runs.count(), 0, "neither a trial nor a log");
}

#[test]
fn a_time_to_stop_that_is_near_stops_the_trial_in_order() {
    let mut project = Gated::new(30);
    project.let_through(1);
    // The stop begins a minute ahead, which is now.
    let came = project.trial.run(&["--detach", "--json", "--until", "1m"]);
    let trial = came.trial();
    let detached = came.json()["pid"].to_string();
    project.let_through(29);
    support::eventually(|| support::is_gone(&detached).then_some(()));
    assert_eq!(events(&trial, "ended")[0]["why"], "interrupted", "{}", came.said);
    let came = project.trial.run(&["--until", "yesterday"]);
    assert_eq!(came.status, 2);
    assert!(came.said.contains("--until yesterday: this is no time"), "{}", came.said);
}
