//! Formats of volume through whole trials: what comes in as another program wrote it, goes out as others read it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::{Trial, repository, worker};

/// Runs `pilote` with these arguments; its status and what it said.
fn pilote(arguments: &[&str], folder: &Path) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pilote"))
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), said)
}

/// The lines of a file as another program reads them.
fn read_lines(file: &Path) -> Vec<Value> {
    let script =
        "import json, sys; print(json.dumps([json.loads(line) for line in open(sys.argv[1], 'rb')]))";
    let output = Command::new("python3").args(["-c", script]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn batch_lines_are_sent_as_they_stand_and_their_results_come_back_as_batch_results() {
    let folder = tempfile::tempdir().unwrap();
    let (log, bodies) = (folder.path().join("log"), folder.path().join("bodies"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let command = json!(["python3", worker("server.py"), port.to_string(), log, "200", bodies]);
    let engine = json!({ "kind": "openai", "endpoints": [format!("http://127.0.0.1:{port}/v1")],
        "task": "chat", "model": "m", "launch": { "command": command } });
    let inputs = json!({ "openai_batch": "data/requests.jsonl", "columns": { "url": "url" } });
    let trial = Trial::with_inputs(r#"{ "kind": "text" }"#, &engine, &inputs, 6);
    let body = r#"{"model":"m","messages":[{"role":"user","content":"one"}],"temperature":0.10,"seed":12345678901234567890123}"#;
    let lines = [
        &format!(r#"{{"custom_id":"r-1","method":"POST","url":"/v1/chat/completions","body":{body}}}"#),
        r#"{"custom_id":"r-2","url":"u","body":{"model":"m","messages":[{"role":"user","content":"long"}]}}"#,
        r#"{"custom_id":"r-3","url":"u","body":{"model":"m","input":"one"}}"#,
        r#"{"custom_id":"r-4","url":"u","body":{"messages":[],"stream":true}}"#,
        r#"{"custom_id":"r-5","url":"u","body":"no object"}"#,
        "42",
    ];
    trial.write("data/requests.jsonl", lines.join("\n").as_bytes());
    let came = trial.run(&["--json"]);
    let balance = &came.json()["balance"];
    assert_eq!((&balance["accepted"], &balance["refused"]), (&json!(1), &json!(5)), "{}", came.said);
    let mut sent: Vec<String> =
        std::fs::read_to_string(&bodies).unwrap().lines().map(str::to_owned).collect();
    sent.sort_by_key(String::len);
    assert_eq!(sent.len(), 2, "only what the server can answer is asked");
    assert_eq!(sent[1], body, "to the byte");
    assert_eq!(came.lines("results.jsonl")[0]["output"]["made_with"]["temperature"].to_string(), "0.1");

    let arguments = ["results", "latest", "--as", "openai-batch", "--output", "out.jsonl"];
    let (status, said) = pilote(&arguments, trial.root());
    assert_eq!(status, 0, "{said}");
    let lines = read_lines(&trial.root().join("out.jsonl"));
    let ids: Vec<&Value> = lines.iter().map(|line| &line["custom_id"]).collect();
    assert_eq!(json!(ids), json!(["r-1", "r-2", "r-3", "r-4", "r-5", null]));
    let response = &lines[0]["response"];
    assert_eq!(response["status_code"], 200);
    assert_eq!(response["body"]["choices"][0]["message"]["content"], "ONE");
    assert_eq!(lines[0]["columns"]["url"], "/v1/chat/completions");
    let codes: Vec<&Value> = lines.iter().map(|line| &line["error"]["code"]).collect();
    assert_eq!(
        json!(codes),
        json!([null, "output-cut", "by-engine", "by-engine", "bad-record", "bad-record"])
    );
    let message = &lines[2]["error"]["message"];
    assert_eq!(message, "detail: the body has no `messages`, which chat/completions needs");
}

/// A worker that gives vectors of two numbers, over rows of CSV.
fn rows(csv: &str, count: usize) -> Trial {
    let python = repository().join("python").display().to_string();
    let engine = json!({ "kind": "worker", "command": ["python3", worker("lengths.py")],
        "environment": { "PYTHONPATH": python } });
    let inputs =
        json!({ "csv": "data/rows.csv", "id": "name", "text": "text", "columns": { "lang": "lang" } });
    let trial = Trial::with_inputs(r#"{ "kind": "vector", "width": 2 }"#, &engine, &inputs, count);
    trial.write("data/rows.csv", csv.as_bytes());
    trial
}

#[test]
fn rows_of_csv_come_back_as_csv_and_an_unknown_format_or_a_file_in_the_way_is_said() {
    let trial = rows("name,text,lang\n007,\"a, \"\"b\"\"\nc\",fr\n9007199254740993,héé,\n", 2);
    let came = trial.run(&["--json"]);
    assert_eq!(came.status, 0, "{}", came.said);
    let (status, said) = pilote(&["results", "latest", "--as", "csv", "--output", "out.csv"], trial.root());
    assert_eq!(status, 0, "{said}");
    let script = "import csv, json, sys
print(json.dumps([[row['id'], row['vector'], row['lang']] for row in csv.DictReader(open(sys.argv[1], newline=''))]))";
    let output = Command::new("python3").args(["-c", script, "out.csv"]).current_dir(trial.root()).output();
    let read: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let (first, second) = (&came.lines("results.jsonl")[0], &came.lines("results.jsonl")[1]);
    assert_eq!(read[0][0], "007");
    assert_eq!(read[1][0], "9007199254740993");
    for (row, line) in [(0, first), (1, second)] {
        let vector: Vec<f64> = serde_json::from_str(read[row][1].as_str().unwrap()).unwrap();
        assert_eq!(json!(vector), line["output"]["values"]);
    }
    assert_eq!((&read[0][2], &read[1][2]), (&json!("fr"), &json!("")));
    std::fs::write(trial.root().join("out.csv"), "mine").unwrap();
    let (status, said) = pilote(&["results", "latest", "--as", "csv", "--output", "out.csv"], trial.root());
    assert_eq!(status, 1, "{said}");
    assert_eq!(std::fs::read_to_string(trial.root().join("out.csv")).unwrap(), "mine");
    let (status, said) = pilote(&["results", "latest", "--as", "orc"], trial.root());
    assert!(status == 2 && said.contains("csv, parquet, openai-batch"), "{said}");
}

#[test]
fn rows_that_were_added_are_computed_alone_and_every_row_has_one_outcome_in_the_new_balance() {
    let trial = rows("name,text,lang\na,one,fr\nb,two,en\nc,three,\n", 3);
    let first = trial.run(&["--json"]);
    assert_eq!(first.status, 0, "{}", first.said);
    let config = trial.root().join("config/pilote.json");
    let text = std::fs::read_to_string(&config).unwrap();
    trial.write("config/pilote.json", text.replace("\"count\":3", "\"count\":4").as_bytes());
    trial.write("data/rows.csv", b"name,text,lang\nnew,four,\na,one,fr\nb,changed,en\nd,five,\n");
    let second = trial.run(&["--json", "--since", &first.trial().display().to_string()]);
    assert_eq!(second.status, 0, "{}", second.said);
    let balance = &second.json()["balance"];
    assert_eq!(
        (&balance["declared"], &balance["accepted"], &balance["pending"]),
        (&json!(4), &json!(4), &json!(0))
    );
    let launched: Value =
        serde_json::from_str(&std::fs::read_to_string(second.trial().join("trial.json")).unwrap()).unwrap();
    let since = &launched["since"];
    assert_eq!((&since["taken_over"], &since["asked"]), (&json!(1), &json!(3)));
    assert_eq!(since["changed"]["names"], json!(["b"]));
    assert_eq!(since["removed"]["names"], json!(["c"]));
    let again = ["run", "--since", &first.trial().display().to_string()];
    let (_, people) = pilote(&again, trial.root());
    for said in ["1 outcomes; 3 items are computed", "(1): b", "No more among the inputs (1): c"] {
        assert!(people.contains(said), "{said}: {people}");
    }
    let report = std::fs::read_to_string(second.trial().join("report.html")).unwrap();
    assert!(report.contains("Over inputs that grew"));
    let (status, said) = pilote(&["verify", "latest"], trial.root());
    assert_eq!(status, 0, "{said}");
}

#[test]
fn a_plan_gives_the_time_of_the_campaign_only_where_enough_batches_of_each_length_were_measured() {
    let many: String = (0..400).map(|n| format!("r{n},{},\n", "word ".repeat(1 + n % 40))).collect();
    let trial = rows(&format!("name,text,lang\n{}", many.lines().take(3).collect::<Vec<_>>().join("\n")), 3);
    trial.write("data/all.csv", format!("name,text,lang\n{many}").as_bytes());
    let config = trial.root().join("config/pilote.json");
    let mut project: Value = serde_json::from_str(&std::fs::read_to_string(&config).unwrap()).unwrap();
    let mut inputs = project["pilot"]["inputs"].clone();
    inputs["csv"] = json!("data/all.csv");
    project["campaign"] = json!({ "inputs": inputs, "count": 400, "refused_max": 0.1 });
    project["engine"]["batch_items"] = json!(4);
    trial.write("config/pilote.json", project.to_string().as_bytes());
    let few = trial.run(&["--json"]);
    assert_eq!(few.status, 0, "{}", few.said);
    let (status, said) = pilote(&["plan", "--measured", "latest"], trial.root());
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("were measured in 0 batches and 5 are needed"), "{said}");
    assert!(said.contains("20 items more of that length are enough"), "{said}");
    // A pilot drawn by length, with as many items as that.
    let (status, said) =
        pilote(&["sample", "--count", "120", "--into", "data/sample", "--json"], trial.root());
    assert_eq!(status, 0, "{said}");
    let drawn: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    project["pilot"] = drawn["pilot"].clone();
    trial.write("config/pilote.json", project.to_string().as_bytes());
    let enough = trial.run(&["--json"]);
    assert_eq!(enough.status, 0, "{}", enough.said);
    let (status, said) = pilote(&["plan", "--measured", "latest", "--json"], trial.root());
    assert_eq!(status, 0, "{said}");
    let plan: Value = serde_json::from_str(&said).unwrap();
    let time = &plan["campaign_time"]["time"];
    assert_eq!(time["corpus_items"], 400, "{said}");
    assert!(
        time["low"].as_f64() <= time["expected"].as_f64()
            && time["expected"].as_f64() <= time["high"].as_f64()
    );
    assert_eq!(plan["plan"]["projection"]["answer"], "interval");
}
