//! Several workers on one trial: shared out by parts, lost, stopped, joined, and their number changed.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use support::{Trial, eventually};

/// Items of the trials here: seven parts of sixteen.
const ITEMS: usize = 112;
/// So many that nobody does them all while it is being stopped.
const MANY: usize = 1_120;

/// A project whose engine answers an item for each byte that is written into its gate.
struct Gated {
    trial: Trial,
    gate: File,
}

impl Gated {
    fn new() -> Self {
        Self::with(ITEMS)
    }

    fn with(items: usize) -> Self {
        let texts: Vec<String> = (0..items).map(|item| format!("letter {item}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let command = ["python3", &support::worker("shared.py")];
        let engine = json!({ "kind": "worker", "command": command, "batch_items": 1 });
        let trial = Trial::new(r#"{ "kind": "text" }"#, &engine, &texts);
        let path = trial.root().join("gate");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Open on both sides, so that neither side ever waits for the other to open it.
        let gate = OpenOptions::new().read(true).write(true).open(path).unwrap();
        Self { trial, gate }
    }

    fn let_through(&mut self, items: usize) {
        self.gate.write_all(&vec![b'.'; items]).unwrap();
    }

    /// Lets one item after the other through until it `is_over`: what was asked to stop finishes what it has in hand.
    fn drip(&mut self, mut is_over: impl FnMut() -> bool) {
        eventually(|| {
            let over = is_over();
            if !over {
                self.let_through(1);
            }
            over.then_some(())
        });
    }

    /// Waits until so many workers have work in hand; the devices that each sees.
    fn at_work(&self, workers: usize) -> BTreeSet<String> {
        let marks = || -> Vec<String> {
            let names = std::fs::read_dir(self.trial.root()).unwrap();
            names
                .filter_map(|it| Some(it.unwrap().file_name().to_str()?.strip_prefix("mark-")?.to_owned()))
                .collect()
        };
        let marks = eventually(|| Some(marks()).filter(|marks| marks.len() == workers));
        marks.iter().map(|mark| mark.rsplit_once('-').unwrap().0.to_owned()).collect()
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilote"));
        command.args(["run", "--lang", "en", "--project"]).arg(self.trial.root()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn detached(&self, arguments: &[&str]) -> PathBuf {
        let came = self.trial.run(&[&["--detach", "--json"], arguments].concat());
        assert_eq!(came.status, 0, "{}", came.said);
        PathBuf::from(came.json()["trial"].as_str().unwrap())
    }

    /// The directory of the only trial.
    fn directory(&self) -> PathBuf {
        let runs = std::fs::read_dir(self.trial.root().join("runs")).unwrap();
        let mut trials =
            runs.map(|entry| entry.unwrap().path()).filter(|path| path.join("trial.json").is_file());
        trials.next().unwrap()
    }
}

fn pilote(arguments: &[&str], trial: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilote"));
    command.arg(arguments[0]).arg(trial).args(&arguments[1..]).args(["--lang", "en"]).stdin(Stdio::null());
    command
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn status(trial: &Path) -> Value {
    object(&pilote(&["status", "--json"], trial).output().unwrap())
}

/// Process numbers of the workers, in the order in which they began.
fn processes(trial: &Path) -> Vec<u64> {
    let status = status(trial);
    status["workers"].as_array().unwrap().iter().map(|it| it["process"]["pid"].as_u64().unwrap()).collect()
}

fn kill(pid: u64) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

fn counts(balance: &Value) -> [u64; 4] {
    ["accepted", "pending", "missing", "duplicated"].map(|key| balance[key].as_u64().unwrap())
}

fn events(trial: &Path, name: &str) -> usize {
    let files = std::fs::read_dir(trial.join("events")).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts.map(|text| text.matches(&format!("\"event\":\"{name}\"")).count()).sum()
}

#[test]
fn workers_share_a_trial_out_each_with_its_own_devices_and_one_of_them_gathers_the_results() {
    let mut alone = Gated::new();
    alone.let_through(ITEMS);
    assert_eq!(alone.trial.run(&[]).status, 0);
    let mut project = Gated::new();
    let run = project.spawn(&["--json", "--devices", "0;1,2;GPU-5f"]);
    let devices = project.at_work(3);
    assert_eq!(devices.iter().map(String::as_str).collect::<Vec<_>>(), ["0", "1,2", "GPU-5f"]);
    let planned = status(&project.directory());
    assert_eq!(planned["parts"], json!({ "all": 7, "sealed": 0 }));
    project.let_through(ITEMS);
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let came = object(&ended);
    assert_eq!((came["ended"].as_str(), counts(&came["balance"])), (Some("done"), [ITEMS as u64, 0, 0, 0]));
    let trial = project.directory();
    let status = status(&trial);
    let workers = status["workers"].as_array().unwrap();
    // Each held a part when nothing had come through yet, and nobody else could finish it.
    assert!(workers.len() == 3 && workers.iter().all(|it| it["parts"].as_u64() > Some(0)), "{status}");
    assert_eq!(workers.iter().map(|it| it["outcomes"].as_u64().unwrap()).sum::<u64>(), ITEMS as u64);
    let results = |trial: &Path| std::fs::read(trial.join("results.jsonl")).unwrap();
    assert!(
        results(&trial) == results(&alone.directory()),
        "who computed an item does not show in the results"
    );
    let told = pilote(&["status"], &trial).output().unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains("(devices 1, 2): "), "{told:?}");
    let left = project.trial.written();
    let logs: Vec<_> =
        left.iter().filter(|(path, _)| path.extension().is_some_and(|it| it == "log")).collect();
    assert!(logs.is_empty(), "workers that had nothing to say leave no log: {logs:?}");
}

#[test]
fn what_a_killed_worker_held_is_taken_over_and_nothing_is_lost_or_done_twice() {
    let mut project = Gated::new();
    let run = project.spawn(&["--workers", "3"]);
    project.at_work(3);
    let trial = project.directory();
    // The one that began last: its missing last word is no end of the trial.
    kill(processes(&trial)[2]);
    project.let_through(ITEMS + 3);
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    assert_eq!(counts(&status(&trial)["balance"]), [ITEMS as u64, 0, 0, 0]);
    assert!(said(&ended).contains("ended early, with status ?"), "{}", said(&ended));
    assert!(events(&trial, "taken-over") > 0);
}

#[test]
fn one_stop_ends_all_workers_and_another_number_of_them_takes_the_trial_up() {
    let mut project = Gated::with(MANY);
    let trial = project.detached(&["--workers", "3"]);
    project.at_work(3);
    let workers = processes(&trial);
    let mut stop = pilote(&["stop"], &trial).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut asked = String::new();
    BufReader::new(stop.stderr.take().unwrap()).read_line(&mut asked).unwrap();
    assert!(asked.starts_with("Asked process "), "{asked}");
    project.drip(|| stop.try_wait().unwrap().is_some());
    let stopped = stop.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(0), "{}", said(&stopped));
    assert!(workers.iter().all(|pid| support::is_gone(&pid.to_string())), "{workers:?}");
    let before = status(&trial);
    assert_eq!((&before["state"], before["workers"].as_array().unwrap().len()), (&json!("unfinished"), 3));
    project.let_through(MANY);
    let name = trial.display().to_string();
    let again = project.trial.run(&["--resume", &name, "--workers", "2", "--json"]);
    assert_eq!(again.status, 0, "{}", again.said);
    assert_eq!(counts(&again.json()["balance"]), [MANY as u64, 0, 0, 0]);
}

#[test]
fn workers_stop_in_order_when_the_one_that_leads_is_killed() {
    let mut project = Gated::with(MANY);
    let mut run = project.spawn(&["--workers", "2"]);
    project.at_work(2);
    let trial = project.directory();
    let workers = processes(&trial);
    run.kill().unwrap();
    run.wait().unwrap();
    project.drip(|| workers.iter().all(|pid| support::is_gone(&pid.to_string())));
    project.let_through(MANY);
    let again = project.trial.run(&["--resume", &trial.display().to_string(), "--json"]);
    assert_eq!(
        (again.status, counts(&again.json()["balance"])),
        (0, [MANY as u64, 0, 0, 0]),
        "{}",
        again.said
    );
}

#[test]
fn more_workers_join_a_trial_that_runs_and_say_what_they_did() {
    let mut project = Gated::new();
    let trial = project.detached(&[]);
    project.at_work(1);
    let joined =
        pilote(&["work", "--json"], &trial).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    project.at_work(2);
    project.let_through(ITEMS);
    let joined = joined.wait_with_output().unwrap();
    assert_eq!(joined.status.code(), Some(0), "{}", said(&joined));
    let work = object(&joined);
    assert_eq!((&work["format"], &work["ended"]), (&json!("pilote.work/1"), &json!("done")));
    assert!(work["items"].as_u64() >= Some(16), "it finished the part that it held: {work}");
    let followed = pilote(&["follow", "--json"], &trial).output().unwrap();
    assert_eq!(counts(&object(&followed)["balance"]), [ITEMS as u64, 0, 0, 0]);
    let (before, late) = (project.trial.written(), pilote(&["work", "--json"], &trial).output().unwrap());
    assert_eq!((object(&late)["items"].as_u64(), late.status.code()), (Some(0), Some(0)));
    assert!(project.trial.written() == before, "a finished trial is not written to");
}

#[test]
fn a_second_launch_over_a_trial_at_work_is_refused_while_one_may_join() {
    let mut project = Gated::new();
    let trial = project.detached(&["--workers", "2"]);
    project.at_work(2);
    let again = project.trial.run(&["--resume", &trial.display().to_string(), "--workers", "2"]);
    assert_eq!(again.status, 2, "{}", again.said);
    assert!(again.said.contains("is being worked on by"), "{}", again.said);
    project.let_through(ITEMS);
    let followed = pilote(&["follow", "--json"], &trial).output().unwrap();
    assert_eq!(counts(&object(&followed)["balance"]), [ITEMS as u64, 0, 0, 0]);
}
