//! Files of results for other programs, read again by other programs than the one that wrote them.

use std::path::{Path, PathBuf};
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use pilote_proof::{TableFormat, write_table};
use pilote_spec::{
    Columns, ExactJson, Inputs, Item, ItemFault, Location, Outcome, Output, Project, Refusal, WorkReason,
};
use serde_json::{Value, json};

use crate::support::{Fixture, Plan, category, expected, pilot, refused, vector};

/// What Python says of a file, with nothing but its standard library.
pub(crate) fn python(interpreter: &str, script: &str, file: &Path) -> Value {
    let output = Command::new(interpreter).args(["-c", script]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const READ_CSV: &str = "import csv, json, sys
print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8')))))";

const READ_LINES: &str = "import json, sys
print(json.dumps([json.loads(line) for line in open(sys.argv[1], encoding='utf-8')]))";

fn written(fixture: &Fixture, format: TableFormat) -> PathBuf {
    let to = fixture.elsewhere().join(format!("results.{}", format.extension()));
    std::fs::create_dir_all(fixture.elsewhere()).unwrap();
    let file = write_table(&fixture.trial, format, &to).unwrap();
    let (digest, bytes) =
        (pilote_spec::Digest::of(&std::fs::read(&to).unwrap()), to.metadata().unwrap().len());
    assert_eq!((file.sha256, file.bytes), (digest, bytes));
    assert_eq!(file.accepted + file.refused, fixture.items.len() as u64);
    to
}

/// A trial over rows whose columns and outputs are what breaks a careless writer.
pub(crate) fn awkward(output: &'static str) -> Fixture {
    let declare = match output {
        "text" => |project: &mut Project| declared(project, json!({ "kind": "text" })),
        _ => |project: &mut Project| declared(project, json!({ "kind": "vector", "width": 384 })),
    };
    let plan = Plan { declare, rows: 9, part_items: 4, ..Plan::default() };
    let outcome = move |item: &Item| {
        let text = ["a,b", "say \"x\"", "two\nlines\r\n", " spaced ", "", "é 日本", "=1+1", "plain", "last"];
        let text = text[usize::try_from(item.position.0).unwrap()].to_owned();
        Some(match (item.position.0, output) {
            (3, _) => Outcome::Refused(Refusal::from(&ItemFault {
                code: pilote_spec::FaultCode::BadRecord,
                detail: "no field `text`, \"at all\"".into(),
            })),
            (7, _) => refused(WorkReason::EmptyOutput),
            (_, "text") => {
                let made_with =
                    [("seed".to_owned(), ExactJson::parse("12345678901234567890").unwrap())].into();
                Outcome::Accepted(Output::Text { text, made_with })
            }
            _ => Outcome::Accepted(vector(item)),
        })
    };
    Fixture::reordered(&plan, outcome, |items| {
        for item in items.iter_mut() {
            let columns = [("score", "1.50"), ("id", "9007199254740993"), ("note", "\"l1\\nl2, \\\"q\\\"\"")];
            let odd = item.position.0 % 2 == 1;
            item.columns = columns
                .iter()
                .filter(|(name, _)| odd || *name != "note")
                .map(|(name, json)| ((*name).to_owned(), ExactJson::parse(json).unwrap()))
                .collect::<Columns>();
            item.location = Location::Line { line: item.position.0 + 1, offset: 0, bytes: 1, path: None };
        }
    })
}

fn declared(project: &mut Project, output: Value) {
    project.output = serde_json::from_value(output).unwrap();
    project.pilot.inputs = serde_json::from_value::<Inputs>(json!({
        "jsonl": "data/rows.jsonl", "id": "id", "text": "text",
        "columns": { "score": "score", "id": "number", "note": "note" }
    }))
    .unwrap();
    project.pilot.digests = None;
    project.pilot.count = 9;
}

#[test]
fn csv_is_read_by_another_program_cell_by_cell_with_every_item_in_input_order() {
    let rows = python("python3", READ_CSV, &written(&awkward("text"), TableFormat::Csv));
    let rows = rows.as_array().unwrap();
    let of = |name: &str| rows.iter().map(|row| row[name].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("position"), ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    assert_eq!(of("text"), ["a,b", "say \"x\"", "two\nlines\r\n", "", "", "é 日本", "=1+1", "", "last"]);
    assert_eq!(of("id")[5], "row-00000005");
    assert_eq!(of("sha256")[5].len(), 64);
    assert_eq!(
        of("column.id"),
        ["9007199254740993"; 9],
        "a column that bears a name of ours keeps its digits"
    );
    assert_eq!(of("score"), ["1.50"; 9]);
    assert_eq!(of("note")[..2], ["", "l1\nl2, \"q\""]);
    assert_eq!(of("made_with")[0], "{\"seed\":12345678901234567890}");
    assert_eq!(
        (of("outcome")[3], of("reason")[3], of("reason")[7]),
        ("refused", "bad-record", "empty-output")
    );
    assert_eq!(of("facts")[3], "{\"detail\":\"no field `text`, \\\"at all\\\"\"}");
}

#[test]
fn categories_have_their_score_and_the_refused_document_has_its_row() {
    let rows = python("python3", READ_CSV, &written(&pilot(), TableFormat::Csv));
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 12);
    let accepted = rows.iter().find(|row| row["outcome"] == "accepted").unwrap();
    let score: f32 = accepted["score"].as_str().unwrap().parse().unwrap();
    assert!((0.5..0.6).contains(&score));
    assert_eq!(rows.iter().filter(|row| row["reason"] != "").count(), 1);
}

/// A field of a row as JSON.
fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Long(whole) => json!(whole),
        Field::Float(value) => json!(value),
        Field::Str(text) => json!(text),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::Group(row) => {
            row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
        }
        other => panic!("{other} is no kind of field that is written"),
    }
}

#[test]
fn vectors_in_parquet_are_read_again_to_the_bit_with_identifier_and_version() {
    let fixture = awkward("vector");
    let file = std::fs::File::open(written(&fixture, TableFormat::Parquet)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let names = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(names.iter().any(|named| named.key == "ARROW:schema"));
    let rows: Vec<Value> =
        reader.get_row_iter(None).unwrap().map(|row| value(&Field::Group(row.unwrap()))).collect();
    assert_eq!(rows.len(), 9);
    for (row, item) in rows.iter().zip(&fixture.items) {
        assert_eq!(row["id"], item.id.as_ref().unwrap().as_str());
        assert_eq!(row["sha256"], item.digest.unwrap().to_string());
        let Output::Vector { values, .. } = vector(item) else { panic!("a vector") };
        match row["outcome"].as_str().unwrap() {
            "accepted" => {
                let read: Vec<f32> = serde_json::from_value(row["vector"].clone()).unwrap();
                assert!(
                    read.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()) && read.len() == 384
                );
            }
            _ => assert_eq!(row["vector"], Value::Null),
        }
    }
    assert_eq!((&rows[1]["note"], &rows[0]["note"]), (&json!("l1\nl2, \"q\""), &Value::Null));
}

#[test]
fn batch_results_name_each_item_once_with_a_body_or_an_error() {
    let rows = python("python3", READ_LINES, &written(&awkward("text"), TableFormat::OpenAiBatch));
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 9);
    assert_eq!(rows[0]["custom_id"], "row-00000000");
    let body = &rows[2]["response"]["body"];
    assert_eq!(rows[2]["response"]["status_code"], 200);
    assert_eq!(body["choices"][0]["message"]["content"], "two\nlines\r\n");
    assert_eq!(
        (&body["object"], &body["choices"][0]["finish_reason"]),
        (&json!("chat.completion"), &json!("stop"))
    );
    assert_eq!((&rows[3]["response"], &rows[3]["error"]["code"]), (&Value::Null, &json!("bad-record")));
    assert_eq!(rows[3]["error"]["message"], "detail: no field `text`, \"at all\"");
    assert_eq!(rows[1]["columns"]["note"], "l1\nl2, \"q\"");
    let vectors = python("python3", READ_LINES, &written(&awkward("vector"), TableFormat::OpenAiBatch));
    let one = &vectors[0]["response"]["body"]["data"][0];
    assert_eq!((&one["object"], one["embedding"].as_array().unwrap().len()), (&json!("embedding"), 384));
}

#[test]
fn a_file_that_is_there_stays_unless_it_is_the_same() {
    let fixture = pilot();
    let to = written(&fixture, TableFormat::Csv);
    let before = std::fs::read(&to).unwrap();
    assert!(write_table(&fixture.trial, TableFormat::Csv, &to).is_ok());
    std::fs::write(&to, "mine").unwrap();
    let error = write_table(&fixture.trial, TableFormat::Csv, &to).unwrap_err();
    assert_eq!(error.code(), "differs", "{error}");
    assert_eq!(std::fs::read(&to).unwrap(), b"mine");
    std::fs::remove_file(&to).unwrap();
    assert_eq!(std::fs::read(written(&fixture, TableFormat::Csv)).unwrap(), before);
}

#[test]
fn nothing_is_written_of_a_trial_that_is_not_finished_or_is_damaged() {
    let stopped = Fixture::new(&Plan { sealed: 1, ended: Some("interrupted"), ..Plan::default() }, |item| {
        Some(expected(item))
    });
    let to = stopped.elsewhere();
    std::fs::create_dir_all(&to).unwrap();
    let error = write_table(&stopped.trial, TableFormat::Csv, &to.join("results.csv")).unwrap_err();
    assert_eq!(error.code(), "not-sealed", "{error}");
    let damaged = pilot();
    let Output::Category { category, .. } = category(&damaged.items[0]) else { panic!("a category") };
    crate::support::flip(&damaged.path("parts/000001/000001"), &category);
    std::fs::create_dir_all(damaged.elsewhere()).unwrap();
    let error =
        write_table(&damaged.trial, TableFormat::Csv, &damaged.elsewhere().join("results.csv")).unwrap_err();
    assert_eq!(error.code(), "damaged", "{error}");
    for folder in [to, damaged.elsewhere()] {
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "no half of a file is left");
    }
}

#[test]
fn files_fit_no_batch_results_and_the_message_says_what_they_fit() {
    let declare = |project: &mut Project| {
        project.output = serde_json::from_value(json!({ "kind": "file", "extension": "png" })).unwrap();
    };
    let fixture = Fixture::new(&Plan { declare, ..Plan::default() }, |_| Some(refused(WorkReason::BadFile)));
    let error =
        write_table(&fixture.trial, TableFormat::OpenAiBatch, &fixture.project.join("r.jsonl")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the outputs are files, which OpenAI Batch results cannot hold; ask for csv or parquet, or copy the payloads"
    );
}

mod heavy {
    use super::{TableFormat, awkward, python, written};

    const READ_PARQUET: &str = "import json, sys
import pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
print(json.dumps({'type': str(table.schema.field('vector').type), 'rows': table.to_pylist()}))";

    #[test]
    #[ignore = "needs pyarrow"]
    #[expect(clippy::disallowed_methods, reason = "xtask says which Python has the peers")]
    fn another_implementation_of_parquet_reads_lists_of_a_fixed_size() {
        let interpreter =
            std::env::var("PILOTE_PEERS_PYTHON").expect("cargo xtask test --all says which Python");
        let fixture = awkward("vector");
        let read = python(&interpreter, READ_PARQUET, &written(&fixture, TableFormat::Parquet));
        assert_eq!(read["type"], "fixed_size_list<element: float not null>[384]");
        let rows = read["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 9);
        for (row, item) in rows.iter().zip(&fixture.items) {
            let pilote_spec::Output::Vector { values, .. } = super::vector(item) else { panic!("a vector") };
            let read: Option<Vec<f32>> = serde_json::from_value(row["vector"].clone()).unwrap();
            let accepted = row["outcome"] == "accepted";
            assert_eq!(read, accepted.then_some(values));
        }
    }
}
