//! The engines that are programs of the user's own: what is read of them, and what is said of what is wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use pilote_spec::{CommandPerItem, EngineConfig, NumberRange, OpenAi, Project, ServerTask, Worker};

const VECTOR: &str = r#"{ "kind": "vector", "width": 384 }"#;
const TEXT: &str = r#"{ "kind": "text" }"#;
const PNG: &str = r#"{ "kind": "file", "extension": "png", "decode": "png", "one_colour": "refuse" }"#;

fn parsed(output: &str, engine: &str) -> Result<EngineConfig, String> {
    parsed_with(r#"{ "directory": "data/pilote" }"#, output, engine)
}

fn parsed_with(inputs: &str, output: &str, engine: &str) -> Result<EngineConfig, String> {
    let text = format!(
        r#"{{ "format": "pilote.project/1", "name": "n",
        "pilot": {{ "inputs": {inputs}, "count": 12 }},
        "output": {output},
        "engine": {engine} }}"#
    );
    let project = Project::parse(text.as_bytes(), "f").map_err(|errors| errors.to_string())?.project;
    let written = serde_json::to_string(&project).unwrap();
    assert_eq!(Project::parse(written.as_bytes(), "f").unwrap().project, project, "written and read again");
    assert_eq!(serde_json::from_str::<Project>(&written).unwrap(), project);
    Ok(project.engine)
}

/// What is said of an engine that is wrong.
fn said(output: &str, engine: &str) -> String {
    parsed(output, engine).unwrap_err()
}

#[test]
fn a_worker_is_read_with_its_defaults() {
    let engine = parsed(
        VECTOR,
        r#"{ "kind": "worker", "command": ["python3", "src/worker.py"],
             "parameters": { "model": "m", "deep": { "list": [1, 2.5, null, true, "x"] } },
             "environment": { "A": "1\n2" }, "pass": ["CUDA_VISIBLE_DEVICES"] }"#,
    );
    let Ok(EngineConfig::Worker(worker)) = engine else { panic!("{engine:?}") };
    let Worker { command, parameters, batch_items, line_bytes_max, silence_seconds_max, .. } = worker;
    assert_eq!(command, ["python3", "src/worker.py"]);
    assert_eq!(parameters["deep"], serde_json::json!({ "list": [1, 2.5, null, true, "x"] }));
    assert_eq!((batch_items, line_bytes_max, silence_seconds_max), (64, 16 << 20, 600));
}

#[test]
fn a_server_is_read_with_its_launch() {
    let engine = parsed(
        TEXT,
        r#"{ "kind": "openai", "endpoints": ["http://127.0.0.1:8000/v1"], "task": "chat", "model": "m",
             "prompt": [{ "role": "system", "content": "Be short." }, { "role": "user", "content": "{id}: {text}" }],
             "parameters": { "temperature": 0 }, "key": "API_KEY",
             "launch": { "command": ["vllm", "serve", "m"], "devices": ["0", "1"] } }"#,
    );
    let Ok(EngineConfig::OpenAi(server)) = engine else { panic!("{engine:?}") };
    let OpenAi { task, prompt, key, concurrency, attempts_max, launch, .. } = server;
    assert_eq!((task, prompt.len(), key.as_deref()), (ServerTask::Chat, 2, Some("API_KEY")));
    assert_eq!((concurrency, attempts_max), (8, 3));
    assert_eq!(launch.unwrap().devices, ["0", "1"]);
}

#[test]
fn a_command_is_read_with_its_places() {
    let engine = parsed(
        PNG,
        r#"{ "kind": "command", "command": ["convert", "{input}", "{output}"], "slots": 2,
             "memory_bytes_max": 1073741824 }"#,
    );
    let Ok(EngineConfig::Command(CommandPerItem { slots, seconds_max, memory_bytes_max, .. })) = engine
    else {
        panic!("{engine:?}")
    };
    assert_eq!((slots, seconds_max, memory_bytes_max), (Some(2), 600, Some(1 << 30)));
}

#[test]
fn what_is_wrong_with_a_worker_is_told_with_its_place() {
    let with = |rest: &str| said(VECTOR, &format!(r#"{{ "kind": "worker", {rest} }}"#));
    assert_eq!(
        with(r#""command": ["python3 worker.py"]"#),
        "f:4:50: engine.command: this looks like a line for a shell, and none is used; write program and arguments \
         as texts of their own"
    );
    assert_eq!(
        with(r#""command": []"#),
        "f:4:50: engine.command: no program is named; write [\"program\", \"argument\", ...]"
    );
    assert!(with(r#""command": ["/home/ada/worker"]"#).contains("leads into a home directory"));
    assert!(with(r#""batch_items": 4"#).contains("engine.command: the key is missing"));
    assert!(with(r#""command": ["w"], "line_bytes_max": 10"#).contains("write 4096 to 1073741824"));
    assert!(
        with(r#""command": ["w"], "environment": { "A=B": "c" }"#).contains("no variable can have this name")
    );
    assert!(
        with(r#""command": ["w"], "pass": ["hf_sesame"]"#)
            .contains("not the name of an environment variable")
    );
    assert!(!with(r#""command": ["w"], "pass": ["hf_sesame"]"#).contains("sesame"));
    assert!(
        said(PNG, r#"{ "kind": "worker", "command": ["w"] }"#).contains("use the kind `command` for files")
    );
}

#[test]
fn what_is_wrong_with_a_server_is_told_with_its_place() {
    let with = |rest: &str| {
        said(TEXT, &format!(r#"{{ "kind": "openai", "model": "m", "endpoints": ["http://h/v1"], {rest} }}"#))
    };
    assert!(with(r#""task": "embedding""#).contains("engine.task: the server's task gives no text"));
    assert!(
        said(VECTOR, r#"{ "kind": "openai", "model": "m", "endpoints": ["http://h/v1"], "task": "chat" }"#)
            .contains("`embedding` gives a vector")
    );
    let unfilled = with(r#""task": "chat", "prompt": [{ "role": "user", "content": "hello" }]"#);
    assert!(unfilled.contains("every item would be asked the same"), "{unfilled}");
    let role = with(r#""task": "chat", "prompt": [{ "role": "usr", "content": "{text}" }]"#);
    assert!(role.contains("engine.prompt[0].role: `usr` is not known; did you mean `user`?"), "{role}");
    let key = with(r#""task": "chat", "key": "sk-sesame""#);
    assert!(key.contains("engine.key: this is not the name") && !key.contains("sesame"), "{key}");
    for address in ["127.0.0.1:8000", "ftp://h", "http://u:p@h/v1", "http://h/v1?key=x"] {
        let engine =
            format!(r#"{{ "kind": "openai", "task": "chat", "model": "m", "endpoints": ["{address}"] }}"#);
        let words = said(TEXT, &engine);
        assert!(words.contains("engine.endpoints[0]: "), "{words}");
    }
}

#[test]
fn what_is_wrong_with_a_command_is_told_with_its_place() {
    let with = |rest: &str| said(PNG, &format!(r#"{{ "kind": "command", {rest} }}"#));
    let unwritten = with(r#""command": ["convert", "{input}"]"#);
    assert!(unwritten.contains("put {output} where"), "{unwritten}");
    let misspelt = with(r#""command": ["convert", "{imput}", "{output}"]"#);
    assert!(misspelt.contains("{imput} is no place to fill; did you mean {input}?"), "{misspelt}");
    assert!(with(r#""command": ["c", "{output}"], "slots": 0"#).contains("engine.slots: 0 is out of bounds"));
    let vector = said(VECTOR, r#"{ "kind": "command", "command": ["c", "{output}"] }"#);
    assert!(vector.contains("use the kind `worker` for vectors"), "{vector}");
}

#[test]
fn what_is_wrong_with_an_output_is_told_with_its_place() {
    let with = |output: &str| said(output, r#"{ "kind": "command", "command": ["c", "{output}"] }"#);
    assert!(with(r#"{ "kind": "file", "extension": ".png" }"#).contains("without the dot"));
    let colours = with(r#"{ "kind": "file", "extension": "bin", "one_colour": "refuse" }"#);
    assert!(colours.contains("only of an image that is decoded"), "{colours}");
    let schema = with(r#"{ "kind": "json", "schema": { "type": "objekt" } }"#);
    assert!(schema.contains("output.schema: this is no JSON Schema that can be used"), "{schema}");
}

const DRAW: &str = r#"{ "kind": "command", "command": ["draw", "{number}", "{output}"] }"#;

#[test]
fn frames_of_a_scene_are_a_range_of_numbers_with_what_they_need() {
    let frames =
        r#"{ "range": { "first": -2, "last": 9, "step": 1, "digits": 4 }, "needs": ["scene/box.blend"] }"#;
    assert!(parsed_with(frames, PNG, DRAW).is_ok());
    let wrong = parsed_with(r#"{ "range": { "first": 5, "last": 4 } }"#, PNG, DRAW).unwrap_err();
    assert!(wrong.contains("the last number, 4, is below the first, 5; write the smaller one"), "{wrong}");
    let wrong = parsed_with(r#"{ "range": { "first": 1.5, "last": 4, "step": 0 } }"#, PNG, DRAW).unwrap_err();
    assert!(wrong.contains("pilot.inputs.range.first: 1.5 is no whole number of 64 bits"), "{wrong}");
    assert!(wrong.contains("pilot.inputs.range.step: 0 is out of bounds"), "{wrong}");
    let wrong = parsed_with(r#"{ "range": { "first": 1, "last": 2 }, "needs": ["/etc"] }"#, PNG, DRAW);
    assert!(wrong.unwrap_err().contains("pilot.inputs.needs[0]: the path is absolute"));
    let wrong = parsed_with(r#"{ "range": { "first": 1, "last": 2 }, "encoding": "utf-8" }"#, PNG, DRAW);
    assert!(wrong.unwrap_err().contains("a range of numbers has no `encoding`; take the key out"));
}

#[test]
fn numbers_and_files_go_only_to_engines_that_take_them() {
    let wrong = said(PNG, DRAW);
    assert!(
        wrong.contains("the command has a place {number}, and these inputs have none; declare a `range`")
    );
    let files = r#"{ "files": "data/pictures" }"#;
    let copy = r#"{ "kind": "command", "command": ["copy", "{input}", "{output}"] }"#;
    assert!(parsed_with(files, PNG, copy).is_ok());
    let server =
        r#"{ "kind": "openai", "endpoints": ["http://127.0.0.1:8000/v1"], "task": "chat", "model": "m" }"#;
    let wrong = parsed_with(files, TEXT, server).unwrap_err();
    assert!(wrong.contains("no file is sent to it"), "{wrong}");
    let builtin = r#"{ "kind": "builtin", "task": "embed", "model": ["path:model"] }"#;
    let wrong = parsed_with(files, VECTOR, builtin).unwrap_err();
    assert!(wrong.contains("the built-in engine takes texts"), "{wrong}");
}

#[test]
fn the_numbers_of_a_range_end_at_the_last_and_their_identifiers_keep_their_digits() {
    let range = |first, last, step, digits| NumberRange { first, last, step, digits };
    let numbers = |range: NumberRange| (0..).map_while(|at| range.number(at)).collect::<Vec<_>>();
    assert_eq!(numbers(range(-1, 6, 3, 1)), [-1, 2, 5]);
    assert_eq!(numbers(range(i64::MAX - 1, i64::MAX, 1, 1)), [i64::MAX - 1, i64::MAX]);
    assert_eq!(numbers(range(3, 3, u32::MAX, 1)), [3]);
    let ids = [-1, 7, 12_345].map(|number| range(0, 0, 1, 4).id(number));
    assert_eq!(ids, ["-0001", "0007", "12345"]);
}

#[test]
fn a_column_that_a_prompt_names_is_one_of_the_inputs() {
    let rows =
        r#"{ "jsonl": "data/rows.jsonl", "id": "id", "text": "text", "columns": { "lang": "language" } }"#;
    let server = |content: &str| {
        format!(
            r#"{{ "kind": "openai", "endpoints": ["http://127.0.0.1:8000/v1"], "task": "chat", "model": "m",
                "prompt": [{{ "role": "user", "content": "{content}" }}] }}"#
        )
    };
    assert!(parsed_with(rows, TEXT, &server("{column.lang} {text}")).is_ok());
    let wrong = parsed_with(rows, TEXT, &server("{column.langage} {text}")).unwrap_err();
    assert!(
        wrong.contains("the engine asks for {column.langage}, and there is no such column; name it"),
        "{wrong}"
    );
    let wrong = said(TEXT, r#"{ "kind": "command", "command": ["x", "{column.a}", "{output}"] }"#);
    assert!(wrong.contains("the engine asks for {column.a}"), "{wrong}");
}

#[test]
fn what_pilote_says_itself_streams_and_several_outputs_are_no_parameters() {
    let server = |parameters: &str| {
        said(
            TEXT,
            &format!(
                r#"{{ "kind": "openai", "endpoints": ["http://127.0.0.1:8000/v1"], "task": "chat", "model": "m",
                    "parameters": {parameters} }}"#
            ),
        )
    };
    assert!(
        server(r#"{ "messages": [] }"#).contains("Pilote says this itself in every request; take it out")
    );
    assert!(server(r#"{ "stream": true }"#).contains("replies are read whole"));
    assert!(server(r#"{ "n": 4 }"#).contains("engine.parameters.n: an item has one output"));
}
