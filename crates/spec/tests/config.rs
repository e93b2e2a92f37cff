//! Every kind of fault in `config/pilote.json`, and the message that a person reads.

use insta::assert_snapshot;
use pilote_spec::{ConfigCode, EngineConfig, Inputs, Limits, OutputSpec, Project};
use proptest::prelude::*;

/// A small project that is right; tests change one line of it.
const GOOD: &str = r#"{
  "format": "pilote.project/1",
  "name": "letters",
  "pilot": {
    "inputs": { "directory": "data/pilote" },
    "count": 12,
    "expected_refusals": [ { "id": "scan.pdf", "reason": "unsupported-kind" } ]
  },
  "output": {
    "kind": "category",
    "categories": [
      { "name": "invoice", "description": "A request to pay." },
      { "name": "complaint", "description": "Somebody is unhappy." }
    ]
  },
  "engine": { "kind": "builtin", "task": "classify", "model": ["path:model"] }
}
"#;

/// What is said of the good project with `from` replaced by `to`.
fn said(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "the good project has no {from}");
    said_of(GOOD.replacen(from, to, 1).as_bytes())
}

fn said_of(bytes: &[u8]) -> String {
    Project::parse(bytes, "config/pilote.json")
        .map_or_else(|errors| errors.to_string(), |_| "accepted".to_owned())
}

#[test]
fn a_good_project_is_read_with_its_defaults_written_out() {
    let parsed = Project::parse(GOOD.as_bytes(), "config/pilote.json").unwrap();
    assert!(!parsed.bom_removed);
    assert_eq!(parsed.digest, pilote_spec::Digest::of(GOOD.as_bytes()));
    let project = parsed.project;
    assert_eq!(project.pilot.count, 12);
    assert_eq!(project.limits, Limits::default());
    let EngineConfig::Builtin(builtin) = &project.engine else { panic!("another engine") };
    assert_eq!((builtin.batch_items, builtin.batch_tokens, builtin.threads), (64, 2048, None));
    assert!((builtin.margin - 0.02).abs() < f32::EPSILON);
}

#[test]
fn what_a_trial_writes_of_a_project_is_read_as_the_same_project() {
    let vector = GOOD
        .replace("\"kind\": \"category\",", "\"kind\": \"vector\", \"width\": 384")
        .replace("\"classify\"", "\"embed\", \"threads\": 2, \"sha256\": { \"config.json\": \"953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41\" }");
    let start = vector.find("\"categories\"").unwrap();
    let end = vector[start..].find(']').unwrap() + start + 1;
    let vector = format!("{}{}", &vector[..start], &vector[end..]);
    let jsonl = vector.replace(
        "\"directory\": \"data/pilote\"",
        "\"jsonl\": \"data/pilote/objects.jsonl\", \"id\": \"number\", \"text\": \"title\", \"encoding\": \"euc-jp\"",
    );
    let rich = GOOD.replace(
        "\"name\": \"letters\",",
        "\"name\": \"letters\", \"purpose\": \"Trays.\", \"mode\": \"interactive\", \"duplicates\": \"refuse\", \
         \"secrets\": [\"HUB_TOKEN\"], \"destination\": \"../copies\", \
         \"limits\": { \"bytes\": 10, \"tokens\": 5, \"beyond\": \"truncate\" }, \
         \"campaign\": { \"inputs\": { \"directory\": \"data/corpus\" }, \"count\": 3, \"refused_max\": 0.5 },",
    );
    for source in [GOOD, &vector, &jsonl, &rich] {
        let project =
            Project::parse(source.as_bytes(), "f").unwrap_or_else(|e| panic!("{e}\n{source}")).project;
        let written = serde_json::to_string_pretty(&project).unwrap();
        assert_eq!(serde_json::from_str::<Project>(&written).unwrap(), project);
        assert_eq!(Project::parse(written.as_bytes(), "f").unwrap().project, project);
    }
}

#[test]
fn the_examples_of_the_repository_are_read() {
    let twelve = include_bytes!("../../../examples/twelve-documents/config/pilote.json");
    let project =
        Project::parse(twelve, "config/pilote.json").unwrap_or_else(|errors| panic!("{errors}")).project;
    assert!(matches!(project.output, OutputSpec::Category { ref categories } if categories.len() == 5));
    let embeddings = include_bytes!("../../../examples/embeddings/config/pilote.json");
    let project =
        Project::parse(embeddings, "config/pilote.json").unwrap_or_else(|errors| panic!("{errors}")).project;
    assert!(matches!(project.pilot.inputs, Inputs::Jsonl { .. }));
}

#[test]
fn a_file_of_version_1_is_still_read() {
    let kept = include_bytes!("fixtures/pilote.project-1.json");
    let project =
        Project::parse(kept, "config/pilote.json").unwrap_or_else(|errors| panic!("{errors}")).project;
    assert_eq!((project.name.as_str(), project.pilot.count), ("twelve-documents", 12));
    assert_eq!(project.pilot.expected_refusals[0].id, "06-scan.pdf");
    assert_eq!(project.pilot.expected_refusals[0].reason.code(), "unsupported-kind");
    let EngineConfig::Builtin(builtin) = &project.engine else { panic!("another engine") };
    assert_eq!((builtin.batch_items, builtin.sha256.len()), (4, 6));
}

#[test]
fn a_byte_order_mark_is_passed_over_and_noted() {
    let parsed = Project::parse(format!("\u{feff}{GOOD}").as_bytes(), "f").unwrap();
    assert!(parsed.bom_removed);
}

#[test]
fn the_column_behind_a_byte_order_mark_is_that_of_the_text() {
    assert_snapshot!(said_of("\u{feff}{ \"format\" 1 }".as_bytes()), @"config/pilote.json:1:12: format: `1` stands where `:` is expected; put a colon between a key and its value");
}

#[test]
fn lines_that_end_in_cr_lf_are_read_and_counted_once() {
    let windows = GOOD.replace('\n', "\r\n");
    assert_eq!(said_of(windows.as_bytes()), "accepted");
    assert_snapshot!(said_of(windows.replace("\"count\": 12", "\"count\": 0").as_bytes()), @"config/pilote.json:6:14: pilot.count: 0 is out of bounds; write 1 or more");
}

#[test]
fn an_empty_file_says_so() {
    assert_snapshot!(said_of(b""), @"config/pilote.json:1:1: the file is empty; write the project's configuration into it");
    assert_snapshot!(said_of(b" \r\n\t"), @"config/pilote.json:2:2: the file is empty; write the project's configuration into it");
}

#[test]
fn a_file_in_another_encoding_names_the_first_byte() {
    assert_snapshot!(said_of(b"{\n  \"name\": \"caf\xe9\" }"), @"config/pilote.json:2:15: the byte 0xe9 is no UTF-8; save the file as UTF-8");
    assert_snapshot!(said_of(b"\xff\xfe{\0}\0"), @"config/pilote.json:1:1: the file is in UTF-16; save the file as UTF-8");
}

#[test]
fn what_is_no_json_is_named_with_its_place_and_the_keys_around_it() {
    assert_snapshot!(said("\"count\": 12,", "\"count\": 12"), @r#"config/pilote.json:7:5: pilot: `"` stands where `,` or `}` is expected; put a comma between two entries"#);
    assert_snapshot!(said("\"unsupported-kind\" } ]", "\"unsupported-kind\" }, ]"), @"config/pilote.json:7:78: pilot.expected_refusals: a comma stands before `]`; take the comma out");
    assert_snapshot!(said("\"count\": 12,", "\"count\": 12, // a dozen"), @"config/pilote.json:6:18: pilot: `/` stands where a key is expected; JSON has no comments: take it out");
    assert_snapshot!(said("\"count\": 12,", "count: 12,"), @"config/pilote.json:6:5: pilot: `c` stands where a key is expected; write keys between double quotes");
    assert_snapshot!(said("\"letters\"", "'letters'"), @r#"config/pilote.json:3:11: name: `'` stands where a value is expected; write texts and keys between straight double quotes (")"#);
    assert_snapshot!(said("\"letters\"", "“letters”"), @r#"config/pilote.json:3:11: name: `“` stands where a value is expected; write texts and keys between straight double quotes (")"#);
    assert_snapshot!(said("\"letters\"", "\"let\nters\""), @r#"config/pilote.json:3:15: name: the text that opens at column 11 goes on over the line's end; close it with " on its own line, and write line breaks as \n"#);
    assert_snapshot!(said("\"letters\"", "\"C:\\data\""), @r"config/pilote.json:3:14: name: `\d` is no escape of JSON; write a backslash itself as \\");
    assert_snapshot!(said("12,", "012,"), @"config/pilote.json:6:14: pilot.count: `012` is no JSON number; write plain digits with a point for decimals, no leading zero, no separators");
    assert_snapshot!(said("12,", "1_000,"), @"config/pilote.json:6:14: pilot.count: `1_000` is no JSON number; write plain digits with a point for decimals, no leading zero, no separators");
    assert_snapshot!(said("12,", "NaN,"), @"config/pilote.json:6:14: pilot.count: `NaN` is no JSON value; JSON has finite numbers only");
    assert_snapshot!(said("12,", "1e999,"), @"config/pilote.json:6:14: pilot.count: the number is too large; write a smaller one");
    assert_snapshot!(said("12,", ","), @"config/pilote.json:6:14: pilot.count: `,` stands where a value is expected; write the value, or take out the comma before it");
}

#[test]
fn what_follows_the_project_is_named() {
    assert_snapshot!(said_of(format!("{GOOD}}}").as_bytes()), @"config/pilote.json:18:1: `}` stands where the end of the file is expected; take out what follows the last bracket");
    assert_snapshot!(said_of(format!("{GOOD}{GOOD}").as_bytes()), @"config/pilote.json:18:1: `{` stands where the end of the file is expected; take out what follows the last bracket");
}

#[test]
fn a_file_that_was_cut_short_names_what_is_still_open() {
    let cut = &GOOD[..GOOD.find("\"output\"").unwrap()];
    assert_snapshot!(said_of(cut.as_bytes()), @"config/pilote.json:9:3: the file ends inside the object that opens at line 1, column 1; close it; the file may have been cut short");
    let cut = &GOOD[..GOOD.find("ters").unwrap()];
    assert_snapshot!(said_of(cut.as_bytes()), @"config/pilote.json:3:15: name: the file ends inside the text that opens at line 3, column 11; close it; the file may have been cut short");
}

#[test]
fn lists_without_end_are_refused_before_the_stack_is() {
    let deep = format!("{{\"format\": {}", "[".repeat(100_000));
    assert_snapshot!(said_of(deep.as_bytes()).replace("[0]", ""), @"config/pilote.json:1:75: format: more than 64 lists and objects stand inside one another; no configuration is that deep: take them out");
}

#[test]
fn another_format_is_the_only_fault() {
    assert_snapshot!(said("project/1", "project/2"), @"config/pilote.json:2:13: format: this program reads pilote.project/1 and not `pilote.project/2`; update pilote, or ask for the project in version 1");
    assert_snapshot!(said("pilote.project/1", "compose.yaml"), @r#"config/pilote.json:2:13: format: this program reads pilote.project/1 and not `compose.yaml`; write "format": "pilote.project/1""#);
    assert_snapshot!(said("  \"format\": \"pilote.project/1\",\n", ""), @r#"config/pilote.json:1:1: format: the key is missing; write "format": "pilote.project/1""#);
    assert_snapshot!(said("\"pilote.project/1\"", "1"), @"config/pilote.json:2:13: format: a text is expected and a number stands here; write it between double quotes");
    assert_snapshot!(said_of(b"[]"), @"config/pilote.json:1:1: an object is expected and a list stands here; write it between { and }");
}

#[test]
fn a_key_that_stands_twice_is_named_at_any_depth() {
    assert_snapshot!(said("\"count\": 12,", "\"count\": 12,\n    \"count\": 13,"), @"config/pilote.json:7:5: pilot.count: the key stands twice; the first is at line 6; take one of them out");
    assert_snapshot!(said("{ \"name\": \"complaint\",", "{ \"name\": \"complaint\", \"name\": \"complaint\","), @"config/pilote.json:13:30: output.categories[1].name: the key stands twice; the first is at line 13; take one of them out");
}

#[test]
fn an_unknown_key_names_the_nearest_known_one() {
    assert_snapshot!(said("\"expected_refusals\"", "\"expected_refusal\""), @"config/pilote.json:7:5: pilot.expected_refusal: there is no such key here; did you mean `expected_refusals`?");
    assert_snapshot!(said("\"count\"", "\"Count\""), @r#"
    config/pilote.json:4:12: pilot.count: the key is missing; add "count": 12
    config/pilote.json:6:5: pilot.Count: there is no such key here; did you mean `count`?
    "#);
    assert_snapshot!(said("\"directory\"", "\"dir\""), @r#"
    config/pilote.json:5:15: pilot.inputs: none of `directory`, `jsonl`, `csv`, `parquet`, `openai_batch`, `files`, `range` says where the items are; add "directory": "data/pilote", or "jsonl" with "id" and "text"
    config/pilote.json:5:17: pilot.inputs.dir: there is no such key here; known here: directory, jsonl, csv, parquet, openai_batch, files, range, id, text, columns, delimiter, encoding, needs
    "#);
}

#[test]
fn an_unknown_key_that_belongs_elsewhere_says_where() {
    assert_snapshot!(said("\"count\": 12,", "\"count\": 12, \"refused_max\": 0.1,"), @"config/pilote.json:6:18: pilot.refused_max: there is no such key here; it belongs in `campaign`");
    assert_snapshot!(said("\"name\": \"letters\",", "\"name\": \"letters\", \"batch_items\": 4,"), @"config/pilote.json:3:22: batch_items: there is no such key here; it belongs in `engine`");
}

#[test]
fn a_secret_under_an_unknown_key_is_not_repeated() {
    let said = said("\"name\": \"letters\",", "\"name\": \"letters\", \"hub_token\": \"hf_abcdefgh\",");
    assert!(!said.contains("hf_abcdefgh"));
    assert_snapshot!(said, @"config/pilote.json:3:22: hub_token: there is no such key here; access is never in the project: take it out, and name the variable that holds it under `secrets`");
}

#[test]
fn a_key_out_of_control_characters_cannot_steer_the_terminal() {
    let said = said("\"name\": \"letters\",", "\"name\": \"letters\", \"\\u001b[2J\": 1,");
    assert!(!said.contains('\u{1b}'));
    assert_snapshot!(said, @r"config/pilote.json:3:22: \u{1b}[2J: there is no such key here; known here: $schema, format, name, purpose, mode, pilot, campaign, duplicates, limits, output, engine, guards, destination, quality, secrets, needs");
}

#[test]
fn a_value_of_another_type_says_which_is_expected() {
    assert_snapshot!(said("12,", "\"twelve\","), @"config/pilote.json:6:14: pilot.count: a whole number is expected and a text stands here; write it without quotes");
    assert_snapshot!(said("12,", "null,"), @"config/pilote.json:6:14: pilot.count: a whole number is expected and null stands here; write a value, or leave the key out where it may be absent");
    assert_snapshot!(said("12,", "12.0,"), @"config/pilote.json:6:14: pilot.count: 12.0 is no whole number in plain digits; write digits only, 1 or more");
    assert_snapshot!(said("12,", "-1,"), @"config/pilote.json:6:14: pilot.count: -1 is out of bounds; write 1 or more");
    assert_snapshot!(said("12,", "99999999999999999999,"), @"config/pilote.json:6:14: pilot.count: 99999999999999999999 is out of bounds; write 1 or more");
    assert_snapshot!(said("\"letters\"", "7"), @"config/pilote.json:3:11: name: a text is expected and a number stands here; write it between double quotes");
    assert_snapshot!(said("[\"path:model\"]", "\"path:model\""), @"config/pilote.json:16:63: engine.model: a list is expected and a text stands here; write it between [ and ]");
    assert_snapshot!(said("{ \"directory\": \"data/pilote\" }", "\"data/pilote\""), @"config/pilote.json:5:15: pilot.inputs: an object is expected and a text stands here; write it between { and }");
    assert_snapshot!(said("{ \"id\": \"scan.pdf\", \"reason\": \"unsupported-kind\" }", "\"scan.pdf\""), @"config/pilote.json:7:28: pilot.expected_refusals[0]: an object is expected and a text stands here; write it between { and }");
}

#[test]
fn a_missing_key_says_what_to_add() {
    assert_snapshot!(said("\"count\": 12,", ""), @r#"config/pilote.json:4:12: pilot.count: the key is missing; add "count": 12"#);
    assert_snapshot!(said(", \"reason\": \"unsupported-kind\"", ""), @r#"config/pilote.json:7:28: pilot.expected_refusals[0].reason: the key is missing; add "reason": "empty""#);
    assert_snapshot!(said("\"kind\": \"category\",", ""), @r#"config/pilote.json:9:13: output.kind: the key is missing; add "kind": "category" or "vector" or "text" or "json" or "file""#);
    assert_snapshot!(said("\"kind\": \"builtin\", ", ""), @r#"config/pilote.json:16:13: engine.kind: the key is missing; add "kind": "builtin" or "worker" or "openai" or "command""#);
    assert_snapshot!(said("\"task\": \"classify\", ", ""), @r#"config/pilote.json:16:13: engine.task: the key is missing; add "task": "classify""#);
    assert_snapshot!(said_of(b"{ \"format\": \"pilote.project/1\" }"), @r#"
    config/pilote.json:1:1: name: the key is missing; add "name": "a short name"
    config/pilote.json:1:1: pilot: the key is missing; add "pilot": { "inputs": ..., "count": 12 }
    config/pilote.json:1:1: output: the key is missing; add "output": { "kind": "category", ... }
    config/pilote.json:1:1: engine: the key is missing; add "engine": { "kind": "builtin", ... }
    "#);
}

#[test]
fn inputs_are_a_directory_or_a_file_of_records() {
    let inputs = "{ \"directory\": \"data/pilote\" }";
    assert_snapshot!(said(inputs, "{}"), @r#"config/pilote.json:5:15: pilot.inputs: none of `directory`, `jsonl`, `csv`, `parquet`, `openai_batch`, `files`, `range` says where the items are; add "directory": "data/pilote", or "jsonl" with "id" and "text""#);
    assert_snapshot!(said(inputs, "{ \"jsonl\": \"data/a.jsonl\" }"), @r#"
    config/pilote.json:5:15: pilot.inputs.id: the key is missing; add "id": "the field that holds the identifier"
    config/pilote.json:5:15: pilot.inputs.text: the key is missing; add "text": "the field that holds the text"
    "#);
    assert_snapshot!(said(inputs, "{ \"directory\": \"data\", \"jsonl\": \"data/a.jsonl\" }"), @"config/pilote.json:5:47: pilot.inputs.jsonl: inputs are declared both as a directory of texts and as a file of records; keep `directory` or `jsonl`");
    assert_snapshot!(said(inputs, "{ \"directory\": \"data\", \"id\": \"number\" }"), @"config/pilote.json:5:38: pilot.inputs.id: a directory of texts has no `id`; take the key out; it is for `jsonl`, `csv`, `parquet`");
    assert_snapshot!(said(inputs, "{ \"jsonl\": \"data/a.jsonl\", \"id\": \"x\", \"text\": \"x\" }"), @"config/pilote.json:5:53: pilot.inputs.text: identifier and text are the same field; name the field that identifies a record under `id`");
    assert_snapshot!(said(inputs, "{ \"directory\": \"data\", \"encoding\": \"utf8\" }"), @"config/pilote.json:5:50: pilot.inputs.encoding: `utf8` is not known; did you mean `utf-8`? Known here: utf-8, shift_jis, euc-jp, windows-1252");
    assert_snapshot!(said(inputs, "{ \"directory\": \"data\", \"encoding\": \"ebcdic\" }"), @"config/pilote.json:5:50: pilot.inputs.encoding: `ebcdic` is not known; write one of utf-8, shift_jis, euc-jp, windows-1252");
}

#[test]
fn paths_stay_inside_the_project() {
    let with = |path: &str| said("data/pilote", path);
    assert_snapshot!(with("/srv/data"), @"config/pilote.json:5:30: pilot.inputs.directory: the path is absolute, so it would not travel with the project; write a path relative to the project's folder, such as data/pilote");
    assert_snapshot!(with("C:/data"), @"config/pilote.json:5:30: pilot.inputs.directory: the path is absolute, so it would not travel with the project; write a path relative to the project's folder, such as data/pilote");
    assert_snapshot!(with("data\\\\pilote"), @"config/pilote.json:5:30: pilot.inputs.directory: a backslash stands in the path; write `/` between folders on every system");
    assert_snapshot!(with("data/../../other"), @"config/pilote.json:5:30: pilot.inputs.directory: the path leads out of the project; put the files into the project's folder and take `..` out");
    assert_snapshot!(with("~/data"), @"config/pilote.json:5:30: pilot.inputs.directory: the path leads into a home directory; write a path relative to the project's folder, such as data/pilote");
    assert_snapshot!(with("./"), @"config/pilote.json:5:30: pilot.inputs.directory: the path is the project's own folder; name a folder or file inside it");
    assert_snapshot!(with("runs/x"), @"config/pilote.json:5:30: pilot.inputs.directory: the path lies among the trials; keep inputs out of runs/, where trials are written");
    assert_snapshot!(with(""), @"config/pilote.json:5:30: pilot.inputs.directory: the text is empty; write a name");
    assert_snapshot!(with("data\\u0000"), @"config/pilote.json:5:30: pilot.inputs.directory: a control character stands in the text; take it out");
    assert_eq!(with("./data//pilote/"), "accepted");
    assert_eq!(with("資料/入力"), "accepted");
}

#[test]
fn expected_refusals_are_known_unique_possible_and_fewer_than_the_items() {
    assert_snapshot!(said("unsupported-kind", "unsuported-kind"), @"config/pilote.json:7:58: pilot.expected_refusals[0].reason: `unsuported-kind` is not known; did you mean `unsupported-kind`? Known here: empty, too-large, encoding, nul, unsupported-kind, unreadable, not-a-file, name-not-utf8, bad-record, bad-id, duplicate-id, input-changed, too-long, ambiguous, not-finite, wrong-width, outside-categories, empty-output, output-cut, filtered, invalid-output, bad-file, by-engine, poison, no-answer");
    assert_snapshot!(said("unsupported-kind", "boring"), @"config/pilote.json:7:58: pilot.expected_refusals[0].reason: `boring` is not known; write one of empty, too-large, encoding, nul, unsupported-kind, unreadable, not-a-file, name-not-utf8, bad-record, bad-id, duplicate-id, input-changed, too-long, ambiguous, not-finite, wrong-width, outside-categories, empty-output, output-cut, filtered, invalid-output, bad-file, by-engine, poison, no-answer");
    assert_snapshot!(said("12,", "1,"), @"config/pilote.json:7:5: pilot.expected_refusals: refusals expected: 1, items: 1; expect fewer than there are items: a pilot must end with a result");
    let twice = "\"unsupported-kind\" }, { \"id\": \"scan.pdf\", \"reason\": \"empty\" }";
    assert_snapshot!(said("\"unsupported-kind\" }", twice), @"config/pilote.json:7:80: pilot.expected_refusals[1]: `scan.pdf` is expected twice, first at pilot.expected_refusals[0]; take one of them out");
    assert_snapshot!(said("unsupported-kind", "duplicate-id"), @r#"config/pilote.json:7:58: pilot.expected_refusals[0].reason: two items under one identifier stop the launch before anything is refused; write "duplicates": "refuse" in the outermost object"#);
    assert_snapshot!(said("unsupported-kind", "name-not-utf8"), @"config/pilote.json:7:58: pilot.expected_refusals[0].reason: an item refused for this reason has no identifier to expect it by; take such an item out of the pilot, or expect another one");
}

#[test]
fn categories_are_two_or_more_unique_and_described() {
    assert_snapshot!(said("\"complaint\"", "\"invoice\""), @"config/pilote.json:13:17: output.categories[1].name: `invoice` names two categories; give each category a name of its own");
    assert_snapshot!(said("\"complaint\"", "\"complaint \""), @"config/pilote.json:13:17: output.categories[1].name: the name begins or ends with a space; take the space out");
    assert_snapshot!(said(", \"description\": \"A request to pay.\"", ""), @"config/pilote.json:12:7: output.categories[0]: a category to classify into has neither description nor examples; say in a sentence what belongs in it, under `description`");
    assert_snapshot!(said("\"A request to pay.\"", "\" \""), @"config/pilote.json:12:43: output.categories[0].description: the text is empty; write a sentence, or leave it out");
    assert_snapshot!(said("\"description\": \"A request to pay.\"", "\"examples\": [\"Pay!\", 3]"), @"config/pilote.json:12:49: output.categories[0].examples[1]: a text is expected and a number stands here; write it between double quotes");
    let one = ",\n      { \"name\": \"complaint\", \"description\": \"Somebody is unhappy.\" }";
    assert_snapshot!(said(one, ""), @"config/pilote.json:11:19: output.categories: one category is declared; declare two or more: with fewer there is nothing to decide");
    assert_eq!(said("\"description\": \"A request to pay.\"", "\"examples\": [\"Pay!\"]"), "accepted");
}

#[test]
fn what_the_engine_computes_is_what_the_deliverable_accepts() {
    assert_snapshot!(said("\"classify\"", "\"embed\""), @r#"config/pilote.json:16:42: engine.task: the task `embed` gives a vector and `output` declares a category; write "task": "classify", or declare "kind": "vector" in `output`"#);
    let start = GOOD.find("\"kind\": \"category\"").unwrap();
    let end = GOOD.find("    ]\n  },").unwrap() + "    ]".len();
    assert_snapshot!(said(&GOOD[start..end], "\"kind\": \"vector\", \"width\": 384"), @r#"config/pilote.json:12:42: engine.task: the task `classify` gives a category and `output` declares a vector; write "task": "embed", or declare "kind": "category" in `output`"#);
    assert_snapshot!(said(&GOOD[start..end], "\"kind\": \"vector\", \"width\": 0"), @"config/pilote.json:10:32: output.width: 0 is out of bounds; write 1 to 1048576");
    assert_snapshot!(said("\"kind\": \"category\"", "\"kind\": \"categories\""), @"config/pilote.json:10:13: output.kind: `categories` is not known; did you mean `category`? Known here: category, vector, text, json, file");
    assert_snapshot!(said("\"kind\": \"category\"", "\"kind\": \"vector\""), @r#"
    config/pilote.json:9:13: output.width: the key is missing; add "width": 384
    config/pilote.json:11:5: output.categories: there is no such key here; it belongs in an `output` of the kind `category`
    "#);
}

#[test]
fn the_engine_takes_figures_that_can_be() {
    let with = |more: &str| said("\"classify\",", &format!("\"classify\", {more},"));
    assert_snapshot!(with("\"margin\": -0.1"), @"config/pilote.json:16:64: engine.margin: -0.1 is out of bounds; write 0 to 2");
    assert_snapshot!(with("\"margin\": \"0.1\""), @"config/pilote.json:16:64: engine.margin: a number is expected and a text stands here; write it without quotes");
    assert_snapshot!(with("\"batch_items\": 0"), @"config/pilote.json:16:69: engine.batch_items: 0 is out of bounds; write 1 to 1048576");
    assert_snapshot!(with("\"threads\": 100000"), @"config/pilote.json:16:65: engine.threads: 100000 is out of bounds; write 1 to 4096");
    assert_snapshot!(with("\"sha256\": { \"config.json\": \"abc\" }"), @"config/pilote.json:16:81: engine.sha256.config.json: this is no sha256 digest; write the 64 hexadecimal digits that `sha256sum` shows");
    assert_snapshot!(with("\"sha256\": { \"../config.json\": \"abc\" }"), @"config/pilote.json:16:84: engine.sha256.../config.json: the key is no file of the model; write the file's name in the model");
    assert_snapshot!(with("\"sha256\": []"), @"config/pilote.json:16:64: engine.sha256: an object is expected and a list stands here; write it between { and }");
    assert_eq!(with("\"margin\": 0, \"threads\": null"), "accepted");
}

#[test]
fn a_reference_to_a_model_says_how_it_is_written() {
    let with = |reference: &str| said("path:model", reference);
    assert_snapshot!(with("all-MiniLM-L6-v2"), @"config/pilote.json:16:64: engine.model[0]: the reference to a model is of no known kind; write hub:ORG/NAME@REVISION, path:DIRECTORY or package:pip/NAME==VERSION/SUBDIRECTORY");
    assert_snapshot!(with("hub:sentence-transformers/all-MiniLM-L6-v2"), @"config/pilote.json:16:64: engine.model[0]: the reference to a hub is incomplete; write hub:ORG/NAME@REVISION");
    assert_snapshot!(with("hub:../x@main"), @"config/pilote.json:16:64: engine.model[0]: the reference to a hub is incomplete; write hub:ORG/NAME@REVISION");
    assert_snapshot!(with("package:npm/x==1"), @"config/pilote.json:16:64: engine.model[0]: only packages of pip are known; write package:pip/NAME==VERSION/SUBDIRECTORY, with an exact version");
    assert_snapshot!(with("package:pip/x"), @"config/pilote.json:16:64: engine.model[0]: the package has no exact version; write package:pip/NAME==VERSION/SUBDIRECTORY, with an exact version");
    assert_snapshot!(with("package:pip/x==1/../y"), @"config/pilote.json:16:64: engine.model[0]: the directory is no plain path inside the package; write package:pip/NAME==VERSION/SUBDIRECTORY, with an exact version");
    assert_snapshot!(with("package:pip/x==1"), @"config/pilote.json:16:64: engine.model[0]: the package has no directory; write package:pip/NAME==VERSION/SUBDIRECTORY, with an exact version");
    assert_snapshot!(with("package:pip/-r==1/x"), @"config/pilote.json:16:64: engine.model[0]: the package's name or version is not well formed; write package:pip/NAME==VERSION/SUBDIRECTORY, with an exact version");
    assert_snapshot!(with("path:"), @"config/pilote.json:16:64: engine.model[0]: the directory is missing; write path:DIRECTORY");
    assert_snapshot!(with("path:/home/ann/model"), @"config/pilote.json:16:64: engine.model[0]: the directory lies in a home directory, which another machine does not have; write path: with a directory relative to the project");
    assert_snapshot!(said("\"path:model\"", ""), @r#"config/pilote.json:16:63: engine.model: no model is named; write ["hub:ORG/NAME@REVISION"]"#);
    assert_eq!(with("hub:org/name@v1.0"), "accepted");
    assert_eq!(with("package:pip/gt-x==0.1.0/a/model"), "accepted");
}

#[test]
fn a_campaign_declares_its_share_of_refusals() {
    let with = |more: &str| {
        let campaign = format!(
            "\"campaign\": {{ \"inputs\": {{ \"directory\": \"data/corpus\" }}, \"count\": 5{more} }},"
        );
        said("\"output\"", &format!("{campaign}\n  \"output\""))
    };
    assert_snapshot!(with(""), @r#"config/pilote.json:9:15: campaign.refused_max: the key is missing; add "refused_max": 0.01"#);
    assert_snapshot!(with(", \"refused_max\": 5"), @"config/pilote.json:9:86: campaign.refused_max: 5 is out of bounds; write 0 to 1");
    assert_eq!(with(", \"refused_max\": 0"), "accepted");
    assert_eq!(with(", \"refused_max\": 1"), "accepted");
}

#[test]
fn limits_and_choices_are_checked() {
    let with = |more: &str| said("\"output\"", &format!("{more},\n  \"output\""));
    assert_snapshot!(with("\"limits\": { \"bytes\": 0, \"beyond\": \"trunkate\" }"), @r"
    config/pilote.json:9:24: limits.bytes: 0 is out of bounds; write 1 or more
    config/pilote.json:9:37: limits.beyond: `trunkate` is not known; did you mean `truncate`? Known here: refuse, truncate
    ");
    assert_snapshot!(with("\"limits\": null"), @"config/pilote.json:9:13: limits: an object is expected and null stands here; write a value, or leave the key out where it may be absent");
    assert_snapshot!(with("\"duplicates\": \"ignore\""), @"config/pilote.json:9:17: duplicates: `ignore` is not known; write one of stop, refuse");
    assert_snapshot!(with("\"mode\": true"), @"config/pilote.json:9:11: mode: a text is expected and true or false stands here; write a text");
}

#[test]
fn secrets_are_names_and_a_value_in_their_place_is_not_repeated() {
    let with = |secret: &str| {
        said("\"output\"", &format!("\"secrets\": [\"HUB_TOKEN\", \"{secret}\"],\n  \"output\""))
    };
    for secret in ["hf_AbCdEf123", "AKIAIOSFODNN7EXAMPLE", "sk-proj-1", "p4ss w0rd", "", &"A".repeat(65)] {
        let said = with(secret);
        assert!(secret.is_empty() || !said.contains(secret), "{said}");
        assert!(said.contains("secrets[1]: this is not the name of an environment variable"), "{said}");
    }
    assert_snapshot!(with("hf_AbCdEf123"), @"config/pilote.json:9:28: secrets[1]: this is not the name of an environment variable; write a name in capitals such as HUB_TOKEN; if this is the secret itself, take it out and have it replaced");
    assert_snapshot!(with("HUB_TOKEN"), @"config/pilote.json:9:28: secrets[1]: `HUB_TOKEN` stands twice; take one of them out");
    assert_eq!(with("S3_KEY"), "accepted");
}

#[test]
fn the_destination_is_a_directory_outside_of_the_project_and_of_any_home() {
    let with = |path: &str| said("\"output\"", &format!("\"destination\": \"{path}\",\n  \"output\""));
    assert_snapshot!(with("copies"), @"config/pilote.json:9:18: destination: the destination lies inside the project, and would be lost with it; write a directory outside of the project, such as ../copies, or leave the key out and name it at export");
    assert_snapshot!(with("/home/ann/copies"), @"config/pilote.json:9:18: destination: the destination leads into a home directory, which another machine does not have; write a directory outside of the project, such as ../copies, or leave the key out and name it at export");
    assert_snapshot!(with("~/copies"), @"config/pilote.json:9:18: destination: the destination leads into a home directory, which another machine does not have; write a directory outside of the project, such as ../copies, or leave the key out and name it at export");
    let address = with(&["https:", "//ann:hunter2@example.org/bucket"].concat());
    assert_snapshot!(address, @"config/pilote.json:9:18: destination: the destination is no place in an object store; write s3://BUCKET/FOLDER or https://example.org/BUCKET/FOLDER; keys travel in variables only");
    for none in ["ftp://host/x", "s3://", "https://example.org", "https://example.org/bucket?signature=x"] {
        assert_eq!(with(none), address, "{none}");
    }
    for place in ["s3://bucket/copies", "https://example.org:9000/bucket"] {
        assert_eq!(with(place), "accepted", "{place}");
    }
    for path in ["/Users/ann", "C:\\\\Users\\\\ann\\\\copies", "$HOME/x", "/root"] {
        assert!(with(path).contains("home directory"), "{path}");
    }
    for path in ["../copies", "/mnt/usb", "D:\\\\copies", "a/../../copies", "../x/../y"] {
        assert_eq!(with(path), "accepted", "{path}");
    }
}

/// Pieces that a hand or a merge may leave in a configuration.
const PIECES: [&str; 14] = [
    "",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "0",
    "-1",
    "\"id\": 1,",
    "\u{feff}",
    "\"directory\": \"x\",",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_project_with_a_piece_torn_out_is_refused_with_places_or_read_as_the_deserialiser_does(
        from in 0..GOOD.len(), length in 0_usize..30, piece in prop::sample::select(&PIECES[..])
    ) {
        let torn = format!("{}{piece}{}", &GOOD[..from], &GOOD[(from + length).min(GOOD.len())..]);
        match Project::parse(torn.as_bytes(), "f") {
            Ok(parsed) => {
                let theirs: Project = serde_json::from_str(torn.trim_start_matches('\u{feff}'))
                    .map_err(|error| TestCaseError::fail(format!("{error}: {torn}")))?;
                prop_assert_eq!(parsed.project, theirs);
            }
            Err(errors) => {
                prop_assert!(!errors.errors.is_empty());
                let lines = u32::try_from(torn.lines().count()).unwrap_or(u32::MAX) + 1;
                prop_assert!(errors.errors.iter().all(|error| (1..=lines).contains(&error.line) && error.column > 0));
            }
        }
    }
}

#[test]
fn several_faults_are_reported_at_once_in_the_order_of_the_file() {
    let bad = GOOD
        .replace("\"count\": 12", "\"count\": 0")
        .replace("\"name\": \"letters\"", "\"nane\": \"letters\"")
        .replace("\"complaint\"", "\"invoice\"")
        .replace("\"path:model\"", "\"model\"");
    let errors = Project::parse(bad.as_bytes(), "config/pilote.json").unwrap_err();
    let codes: Vec<ConfigCode> = errors.errors.iter().map(|error| error.code).collect();
    assert_eq!(codes[0], ConfigCode::MissingKey);
    assert_snapshot!(errors.to_string(), @r#"
    config/pilote.json:1:1: name: the key is missing; add "name": "a short name"
    config/pilote.json:3:3: nane: there is no such key here; did you mean `name`?
    config/pilote.json:6:14: pilot.count: 0 is out of bounds; write 1 or more
    config/pilote.json:13:17: output.categories[1].name: `invoice` names two categories; give each category a name of its own
    config/pilote.json:16:64: engine.model[0]: the reference to a model is of no known kind; write hub:ORG/NAME@REVISION, path:DIRECTORY or package:pip/NAME==VERSION/SUBDIRECTORY
    "#);
}

#[test]
fn columns_of_inputs_are_names_with_fields() {
    let inputs = |columns: &str| {
        let rows = format!(
            "\"jsonl\": \"data/rows.jsonl\", \"id\": \"id\", \"text\": \"text\", \"columns\": {columns}"
        );
        said("\"directory\": \"data/pilote\"", &rows)
    };
    assert_eq!(inputs("{ \"language\": \"meta.lang\" }"), "accepted");
    assert_snapshot!(inputs("[\"language\"]"), @"config/pilote.json:5:84: pilot.inputs.columns: an object of columns is expected here; write it as { \"name in the results\": \"field of the record\" }");
    assert_snapshot!(inputs("{ \"language\": 7 }"), @"config/pilote.json:5:98: pilot.inputs.columns.language: a text is expected and a number stands here; write it between double quotes");
    assert_snapshot!(inputs("{ \"\": \"x\" }"), @"config/pilote.json:5:86: pilot.inputs.columns.: the name is empty or not on one line; write the name that the column bears in the results");
    let directory = said("\"directory\": \"data/pilote\"", "\"directory\": \"data/pilote\", \"columns\": {}");
    assert!(
        directory.contains("take the key out; it is for `jsonl`, `csv`, `parquet`, `openai_batch`"),
        "{directory}"
    );
}

#[test]
fn rows_are_declared_in_files_of_one_format() {
    let inputs = |declared: &str| said("{ \"directory\": \"data/pilote\" }", &format!("{{ {declared} }}"));
    for right in [
        "\"jsonl\": [\"data/a.jsonl\", \"data/more/*.jsonl.gz\"], \"id\": \"i\", \"text\": \"t\"",
        "\"csv\": \"data/a.csv\", \"id\": \"i\", \"text\": \"t\", \"delimiter\": \"\\t\", \"encoding\": \"euc-jp\"",
        "\"parquet\": \"data\", \"id\": \"i\", \"text\": \"t\", \"columns\": { \"a\": \"b\" }",
        "\"openai_batch\": \"data/requests.jsonl\"",
    ] {
        assert_eq!(inputs(right), "accepted", "{right}");
    }
    assert_snapshot!(inputs("\"jsonl\": [], \"id\": \"i\", \"text\": \"t\""), @"config/pilote.json:5:26: pilot.inputs.jsonl: the list of paths is empty; name one file at least");
    assert_snapshot!(inputs("\"jsonl\": [\"../a\"], \"id\": \"i\", \"text\": \"t\""), @"config/pilote.json:5:27: pilot.inputs.jsonl[0]: the path leads out of the project; put the files into the project's folder and take `..` out");
    assert_snapshot!(inputs("\"csv\": \"a\", \"id\": \"i\", \"text\": \"t\", \"delimiter\": \"::\""), @"config/pilote.json:5:66: pilot.inputs.delimiter: `::` is not known; write one of ,, ;, |, \t");
    assert_snapshot!(inputs("\"parquet\": \"a\", \"id\": \"i\", \"text\": \"t\", \"encoding\": \"utf-8\""), @"config/pilote.json:5:57: pilot.inputs.encoding: a table in Parquet has no `encoding`; take the key out; it is for `directory`, `jsonl`, `csv`");
    let trail = inputs(
        "\"csv\": \"a\", \"id\": \"i\", \"text\": \"t\", \"delimiter\": \"|\", \"encoding\": \"shift_jis\"",
    );
    assert!(
        trail.contains("in Shift_JIS the byte of `|` is also the second half of other characters"),
        "{trail}"
    );
}
