//! `pilote check` as a user types it: what it prints, what it keeps, how it exits.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pilote_text::{Lang, Texts};
use serde_json::{Value, json};
use support::repository;

/// A project laid out from a template, on a machine whose files lie in a folder of their own.
struct Desk {
    folder: tempfile::TempDir,
}

struct Said {
    status: i32,
    out: String,
    err: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(self.out.trim())
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// The report of a rung.
    fn rung(&self, code: &str) -> Value {
        let object = self.json();
        let rungs = object["rungs"].as_array().unwrap();
        rungs.iter().find(|rung| rung["rung"] == code).unwrap_or_else(|| panic!("{object}")).clone()
    }

    /// The codes of a rung's faults.
    fn faults(&self, code: &str) -> Vec<String> {
        let rung = self.rung(code);
        let findings = rung["findings"].as_array().cloned().unwrap_or_default();
        let faults = findings.iter().filter(|finding| finding["weight"] == "fault");
        faults.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
    }
}

impl Desk {
    fn new(template: &str) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(desk.path("machine/proc/sys/kernel")).unwrap();
        std::fs::write(desk.path("machine/proc/sys/kernel/osrelease"), "6.8.0\n").unwrap();
        let said = desk.type_in(desk.folder.path(), &["new", "letters", "--template", template]);
        assert_eq!(said.status, 0, "{}", said.err);
        desk
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn type_in(&self, folder: &Path, arguments: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_pilote"))
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("PILOTE_CACHE", repository().join("cache"))
            .env("PILOTE_MACHINE_ROOT", self.path("machine"))
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            status: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    fn check(&self, arguments: &[&str]) -> Said {
        let arguments: Vec<&str> = ["check"].into_iter().chain(arguments.iter().copied()).collect();
        self.type_in(&self.path("letters"), &arguments)
    }

    fn configure(&self, change: impl FnOnce(&mut Value)) {
        let path = self.path("letters/config/pilote.json");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut config);
        std::fs::write(path, serde_json::to_vec_pretty(&config).unwrap()).unwrap();
    }

    /// A worker in Python of the project's own.
    fn with_worker(&self, source: &str) {
        std::fs::write(self.path("letters/src/worker.py"), source).unwrap();
        self.configure(|config| {
            config["engine"] =
                json!({"kind": "worker", "command": ["python3", "src/worker.py"], "setup_seconds_max": 60});
            config["needs"] = json!({"backend": "cpu"});
        });
    }
}

/// A worker whose answers depend on the adapter that its greeting names.
const ADAPTED: &str = include_str!("workers/adapted.py");

#[test]
fn both_templates_pass_as_folders_here_and_when_they_were_moved() {
    for template in ["documents", "embeddings"] {
        let desk = Desk::new(template);
        let said = desk.check(&["project", "--json"]);
        assert_eq!(said.status, 0, "{}", said.out);
        std::fs::create_dir_all(desk.path("elsewhere/deep")).unwrap();
        std::fs::rename(desk.path("letters"), desk.path("elsewhere/deep/other name")).unwrap();
        let said = desk.type_in(&desk.path("elsewhere/deep/other name"), &["check", "project", "--json"]);
        assert_eq!((said.status, said.faults("project").len()), (0, 0), "{}", said.out);
    }
}

#[test]
fn the_whole_ladder_of_a_project_for_the_processor_passes_without_a_card_and_is_recorded() {
    let desk = Desk::new("documents");
    let said = desk.check(&["--json"]);
    assert_eq!(said.status, 0, "{}\n{}", said.out, said.err);
    let object = said.json();
    assert_eq!((&object["format"], &object["passed"]), (&json!("pilote.check/1"), &json!(true)));
    assert_eq!(said.rung("cards")["verdict"], "not-applicable");
    for rung in ["project", "system", "model", "engine", "items"] {
        assert_eq!(said.rung(rung)["verdict"], "passed", "{rung}");
    }
    let record = PathBuf::from(object["record"].as_str().unwrap());
    assert!(record.starts_with(desk.path("letters/runs/.checks")));
    let check = pilote_machine::record::read(&record).unwrap();
    assert!(check.passed && check.is_whole());
    let identity = check.identity.unwrap();
    let standing = pilote_machine::record::standing(&desk.path("letters"), &identity).unwrap();
    assert!(matches!(standing, pilote_machine::record::Standing::Passed { .. }));
    // The few items went through trials of a folder that is gone; the project has none of its own.
    let runs = desk.type_in(&desk.path("letters"), &["runs", "--json"]);
    assert_eq!(runs.json()["trials"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_project_for_cuda_stops_honestly_at_the_bus() {
    let desk = Desk::new("documents");
    desk.configure(|config| config["needs"]["backend"] = json!("cuda"));
    let said = desk.check(&[]);
    assert_eq!(said.status, 1);
    for part in [
        "✗ cards on the bus — failed",
        "The bus shows no card for cuda.",
        "why: What the bus does not show",
        "next: Tell the operator",
        "skipped: cards on the bus stands in the way — kernel module and library, ",
        "The ladder stops at cards on the bus.",
    ] {
        assert!(said.out.contains(part), "{part}\n{}", said.out);
    }
    let french = desk.check(&["--lang", "fr"]);
    assert!(french.out.contains("Le bus ne montre aucune carte pour cuda."), "{}", french.out);
    let all = desk.check(&["--all", "--to", "memory", "--json"]);
    assert_eq!(all.rung("container")["verdict"], "not-applicable");
    assert_eq!(
        (&all.rung("memory")["verdict"], &all.rung("memory")["by"]),
        (&json!("skipped"), &json!("bus"))
    );
}

#[test]
fn what_does_not_travel_is_named_with_its_place() {
    let desk = Desk::new("documents");
    let file = |path: &str, text: &str| std::fs::write(desk.path("letters").join(path), text).unwrap();
    let home = ["/ho", "me/marie"].concat();
    file(
        "src/a.py",
        &format!(
            "import torch\nimport os\nos.environ[\"CUDA_VISIBLE_DEVICES\"] = \"1\"\nmodel = \"{home}/model\"\n"
        ),
    );
    file("src/steps.ipynb", "{}");
    file(
        "requirements-rebuild.txt",
        "numpy==2.1.0 --hash=sha256:aa\nscipy==1.14.0\nrequests>=2\nx @ git+https://example.org/x@main\n-e ../lib\n",
    );
    file("src/keys.txt", &format!("{}{}\n", "ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"));
    file("data/pilote/01-street-lamp.txt", "another text\n");
    std::os::unix::fs::symlink("/var/data", desk.path("letters/data/corpus")).unwrap();
    std::fs::remove_file(desk.path("letters/README.md")).unwrap();
    let said = desk.check(&["project", "--json"]);
    assert_eq!(said.status, 1);
    let faults = said.faults("project");
    for code in [
        "layout-missing",
        "link-outside",
        "path-home",
        "visible-late",
        "requirement-open",
        "requirement-moving",
        "requirement-local",
        "requirement-unhashed",
        "secret",
        "pilot-changed",
    ] {
        assert!(faults.iter().any(|fault| fault == code), "{code}: {faults:?}");
    }
    let text = desk.check(&["project"]).out;
    assert!(text.contains("src/keys.txt:1 looks like a secret (rule github-pat)."), "{text}");
    assert!(!text.contains("wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"));
    assert!(text.contains("src/a.py:4 names"), "{text}");
}

#[test]
fn an_environment_that_was_made_elsewhere_is_named_by_its_launcher() {
    let desk = Desk::new("documents");
    let launcher = |text: &str| {
        let path = desk.path("letters/.venv/bin/pip");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        desk.check(&["project", "--json"])
    };
    let here = desk.path("letters/.venv/bin/python3");
    let said = launcher(&format!("#!{}\nimport sys\n", here.display()));
    assert_eq!((said.status, said.faults("project").len()), (0, 0), "{}", said.out);
    for elsewhere in [
        "#!/srv/old/.venv/bin/python3\n",
        "#!/bin/sh\n'''exec' \"/srv/an old/.venv/bin/python3\" \"$0\" \"$@\"\n",
    ] {
        let said = launcher(elsewhere);
        let faults = said.faults("project");
        assert_eq!((said.status, faults), (1, vec!["environment-moved".to_owned()]), "{}", said.out);
        let text = desk.check(&["project"]).out;
        assert!(text.contains(".venv/bin/pip starts /srv/") && text.contains("Make it again"), "{text}");
    }
}

#[test]
fn a_file_that_was_not_searched_for_secrets_is_counted_and_never_taken_for_clean() {
    let desk = Desk::new("documents");
    let note = |said: &Said| {
        let findings = said.rung("project")["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["code"] == "unscanned").unwrap_or_default().to_string()
    };
    // The pilot's scanned page is one already.
    let before = note(&desk.check(&["project", "--json"]));
    assert!(before.contains("binary: 1"), "{before}");
    std::fs::write(desk.path("letters/src/results.dat"), b"PK\x03\x04\x14\0\0\0secret").unwrap();
    let said = desk.check(&["project", "--json"]);
    assert!(note(&said).contains("binary: 2"), "{}", said.out);
}

#[test]
fn a_wrong_configuration_ends_with_the_status_of_a_wrong_request_and_the_folder_is_judged_all_the_same() {
    let desk = Desk::new("documents");
    desk.configure(|config| config["pilot"]["count"] = json!(0));
    let said = desk.check(&["--json"]);
    assert_eq!(said.status, 2);
    assert_eq!(said.faults("project"), ["config-wrong"]);
}

#[test]
fn a_rung_that_does_not_exist_is_answered_with_those_that_do() {
    let desk = Desk::new("documents");
    let said = desk.check(&["--to", "moon"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("there is no rung `moon`") && said.err.contains("computation, memory"),
        "{}",
        said.err
    );
}

#[test]
fn the_emitted_file_collects_facts_that_are_judged_elsewhere() {
    let desk = Desk::new("documents");
    let said = desk.check(&["--emit", "diagnose.py", "--json"]);
    assert_eq!(said.status, 0, "{}", said.err);
    let script = desk.path("letters/diagnose.py");
    let digest = pilote_spec::Digest::of(&std::fs::read(&script).unwrap());
    assert_eq!(said.json()["sha256"], json!(digest));
    let output = Command::new("python3")
        .arg(&script)
        .args(["--output", "facts.json", "--root"])
        .arg(desk.path("machine"))
        .current_dir(desk.path("letters"))
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("pilote check --facts"));
    desk.with_worker("");
    let said = desk.check(&["--facts", "facts.json", "--to", "computation", "--json"]);
    assert_eq!(said.rung("interpreter")["verdict"], "passed", "{}", said.out);
    assert_eq!(said.rung("computation")["verdict"], "passed", "{}", said.out);
    assert_eq!(said.rung("project")["verdict"], "not-seen");
    assert_eq!(said.status, 1, "what was not seen has not passed");
    let wrong = desk.check(&["--facts", "config/pilote.json"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("is of the format `pilote.project/1`"), "{}", wrong.err);
}

#[test]
fn an_engine_that_fails_is_told_in_its_own_words_with_the_recognised_cause() {
    let desk = Desk::new("documents");
    desk.with_worker(
        "raise ImportError('libcudart.so.13: cannot open shared object file: No such file or directory')\n",
    );
    let said = desk.check(&["--json"]);
    assert_eq!(said.status, 1);
    let finding = &said.rung("engine")["findings"][0];
    assert_eq!((&finding["code"], &finding["cause"]), (&json!("engine-failed"), &json!("runtime-major")));
    assert!(finding["words"][0].as_str().unwrap().contains("libcudart.so.13"));
    assert_eq!(said.rung("computation")["verdict"], "passed");
    // A trial keeps the same first error, and the ladder begins with it.
    let run = desk.type_in(&desk.path("letters"), &["run", "--json"]);
    assert_eq!(run.status, 3, "{}", run.out);
    assert_eq!(run.json()["cause"], "runtime-major");
    let runs = desk.type_in(&desk.path("letters"), &["runs", "--json"]).json();
    let kept = &runs["trials"][0]["first_error"];
    assert_eq!((&kept["rung"], &kept["cause"]), (&json!("extensions"), &json!("runtime-major")));
    assert!(kept["first_error"].as_str().unwrap().contains("libcudart.so.13"), "{kept}");
    let listed = desk.type_in(&desk.path("letters"), &["runs"]).out;
    assert!(
        listed.contains("failed at modules with compiled code: ImportError: libcudart.so.13"),
        "{listed}"
    );
    let after = desk.check(&["--after", "latest"]);
    assert!(after.out.contains("libcudart.so.13"), "{}", after.out);
    assert!(
        after.out.contains("The ladder begins at that rung: modules with compiled code."),
        "{}",
        after.out
    );
    assert!(
        after.out.contains("cause: A library was built for another major version of CUDA"),
        "{}",
        after.out
    );
    assert!(after.out.contains("the size of the inputs before the size of the batch"), "{}", after.out);
}

#[test]
fn after_a_trial_that_failed_the_ladder_begins_at_its_rung_and_goes_on_from_there() {
    let desk = Desk::new("documents");
    desk.with_worker("raise RuntimeError('no such layer')\n");
    assert_eq!(desk.type_in(&desk.path("letters"), &["run"]).status, 3);
    let said = desk.check(&["--after", "latest", "--json"]);
    let object = said.json();
    assert_eq!((&object["from"], &object["after"]["rung"]), (&json!("engine"), &json!("engine")));
    assert!(object["after"]["first_error"].as_str().unwrap().contains("no such layer"));
    let climbed: Vec<&str> =
        object["rungs"].as_array().unwrap().iter().map(|rung| rung["rung"].as_str().unwrap()).collect();
    assert_eq!((climbed, said.status), (vec!["engine", "items"], 1));
    // Mended, it goes to the end; that is no whole climb, and opens no gate.
    desk.with_worker(ADAPTED);
    let mended = desk.check(&["--after", "latest"]);
    assert_eq!(mended.status, 0, "{}", mended.out);
    let record = pilote_machine::record::standing;
    let identity =
        serde_json::from_value(desk.check(&["--to", "system", "--json"]).json()["identity"].clone());
    let standing = record(&desk.path("letters"), &identity.unwrap()).unwrap();
    assert!(!matches!(standing, pilote_machine::record::Standing::Passed { .. }), "{standing:?}");
    let text = desk.check(&["--after", "latest", "--to", "system"]);
    assert_eq!(text.status, 2);
    assert!(text.err.contains("the trial failed at the rung `engine`"), "{}", text.err);
}

#[test]
fn each_declared_adapter_goes_through_the_whole_path_and_one_that_changes_nothing_is_told() {
    let desk = Desk::new("documents");
    desk.with_worker(ADAPTED);
    desk.configure(|config| {
        config["needs"]["adapters"] =
            json!([{"name": "loud", "parameters": {"mark": "!"}}, {"name": "unused"}, {"name": "broken"}]);
    });
    let said = desk.check(&["--json"]);
    let items = said.rung("items");
    let of = |adapter: &str| {
        let findings = items["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["values"]["adapter"] == adapter);
        found.unwrap_or_else(|| panic!("{adapter}: {items}")).clone()
    };
    assert_eq!((&of("loud")["code"], &of("loud")["weight"]), (&json!("adapter"), &json!("seen")));
    assert_eq!((&of("unused")["code"], &of("unused")["weight"]), (&json!("adapter-alike"), &json!("note")));
    assert_eq!(of("broken")["code"], "adapter-failed");
    assert!(of("broken")["words"].to_string().contains("no adapter of this name"), "{items}");
    assert_eq!(said.status, 1);
    // The built-in engine takes none, and says so.
    let plain = Desk::new("documents");
    plain.configure(|config| config["needs"] = json!({"adapters": [{"name": "loud"}]}));
    assert_eq!(plain.check(&["--json"]).faults("items"), ["adapter-not-for-engine"]);
}

#[test]
fn a_file_of_the_project_that_hides_a_module_is_named() {
    let desk = Desk::new("documents");
    desk.with_worker("");
    std::fs::write(desk.path("letters/src/random.py"), "").unwrap();
    let said = desk.check(&["--to", "interpreter", "--json"]);
    assert_eq!(said.faults("interpreter"), ["shadow-python"]);
    desk.configure(|config| config["needs"]["python"] = json!("2.7"));
    assert_eq!(
        desk.check(&["--to", "interpreter", "--json"]).faults("interpreter"),
        ["interpreter-version", "shadow-python"]
    );
}

#[test]
fn programs_licences_and_preprocessing_are_compared_with_what_is_declared() {
    let desk = Desk::new("documents");
    let known = pilote_spec::Digest::of(b"prepared\n");
    desk.configure(|config| {
        config["needs"]["programs"] =
            json!([{"name": "Shell", "command": ["sh", "-c", "echo version 4.2"], "says": "version 4.3"}]);
        config["needs"]["licences"] = json!([{"name": "Renderer", "command": ["no-such-licence-tool"]}]);
        config["needs"]["preprocessing"] = json!({"command": ["sh", "-c", "echo prepared"], "sha256": known});
    });
    let said = desk.check(&["--all", "--json"]);
    assert_eq!(said.faults("environment"), ["program-other", "licence-no-command"]);
    assert_eq!(said.rung("preprocessing")["verdict"], "passed");
    desk.configure(|config| {
        config["needs"]["preprocessing"]["command"] = json!(["sh", "-c", "echo otherwise"]);
    });
    assert_eq!(desk.check(&["--all", "--json"]).faults("preprocessing"), ["preprocessing-differs"]);
}

#[test]
fn an_order_that_the_machine_does_not_meet_is_told() {
    let desk = Desk::new("documents");
    let order = json!({"format": "pilote.order/1", "card": "H200", "cards": 2});
    std::fs::write(desk.path("letters/order.json"), order.to_string()).unwrap();
    let said = desk.check(&["--order", "order.json", "--to", "order", "--json"]);
    assert_eq!(said.faults("order"), ["order-count"]);
    std::fs::write(
        desk.path("letters/order.json"),
        "{\"format\":\"pilote.order/9\",\"card\":\"x\",\"cards\":1}",
    )
    .unwrap();
    let said = desk.check(&["--order", "order.json"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("its format is `pilote.order/9`, and this program reads pilote.order/1"),
        "{}",
        said.err
    );
}

#[test]
fn a_page_holds_the_ladder_and_nothing_from_elsewhere() {
    let desk = Desk::new("documents");
    let said = desk.check(&["--to", "system", "--page", "page.html", "--lang", "ja"]);
    assert_eq!(said.status, 0, "{}", said.out);
    let page = std::fs::read_to_string(desk.path("letters/page.html")).unwrap();
    assert!(page.contains("<html lang=\"ja\">") && page.contains("プロジェクトのフォルダー"));
    assert!(!page.contains("<script") && !page.contains("http"));
}

#[test]
fn the_report_of_a_trial_shows_the_ladder_before_it_in_three_languages() {
    let desk = Desk::new("documents");
    desk.with_worker(ADAPTED);
    let run = |said: Said| PathBuf::from(said.json()["report"].as_str().unwrap());
    let without = run(desk.type_in(&desk.path("letters"), &["run", "--json"]));
    assert!(!std::fs::read_to_string(without).unwrap().contains("ladder-title"), "no ladder was climbed yet");
    desk.check(&["--to", "bus"]);
    let report = run(desk.type_in(&desk.path("letters"), &["run", "--json"]));
    // A climb after the trial is not the one before it.
    desk.check(&["--to", "project"]);
    let languages = [
        ("en", "The ladder before this trial", "cards on the bus"),
        ("fr", "L’échelle avant cet essai", "cartes sur le bus"),
        ("ja", "この試行の前に上った段", "バス上のカード"),
    ];
    for (lang, title, rung) in languages {
        desk.type_in(&desk.path("letters"), &["report", "latest", "--lang", lang]);
        let html = std::fs::read_to_string(&report).unwrap();
        assert!(html.contains(title) && html.contains(rung), "{lang}: {html}");
    }
}

/// Codes of findings as the sources write them.
fn codes(folder: &Path, weights: &[&str], codes: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::codes(&path, weights, codes);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for weight in weights {
                let start = format!("Finding::{weight}(\"");
                let starts = text.match_indices(&start).map(|(at, start)| at + start.len());
                codes.extend(starts.map(|at| text[at..].split('"').next().unwrap().to_owned()));
            }
        }
    }
}

#[test]
fn every_finding_and_cause_has_its_sentences_in_every_language() {
    let folders =
        ["crates/machine/src", "crates/cli/src/commands/check"].map(|folder| repository().join(folder));
    let (mut seen, mut told) = (Vec::new(), Vec::new());
    for folder in &folders {
        codes(folder, &["seen"], &mut seen);
        codes(folder, &["fault", "note"], &mut told);
    }
    assert!(told.len() > 80 && seen.len() > 20);
    for lang in Lang::ALL {
        let texts = Texts::new(lang);
        for code in &seen {
            assert!(texts.find(&format!("check-{code}"), &[]).is_some(), "{code}");
        }
        for code in &told {
            assert!(texts.find(&format!("check-{code}"), &[]).is_some(), "{code}");
            assert!(texts.find(&format!("check-{code}.next"), &[]).is_some(), "{code}");
        }
        for cause in pilote_machine::causes::codes() {
            assert!(texts.find(&format!("cause-{cause}"), &[]).is_some(), "{cause}");
            assert!(texts.find(&format!("cause-{cause}.next"), &[]).is_some(), "{cause}");
        }
        for rung in pilote_machine::verdict::RungCode::ALL {
            assert!(texts.find(&format!("rung-{}.why", rung.code()), &[]).is_some(), "{rung:?}");
        }
    }
}
