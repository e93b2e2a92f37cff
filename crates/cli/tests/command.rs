//! Programs that are run once for each item, below the guard of the real program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and speak to real processes"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use pilote_engine::command::CommandEngine;
use pilote_engine::{Answer, Batch, BatchId, Content, Engine, Event, Request, WireId};
use pilote_spec::{CommandPerItem, FileDecode, OneColour, Output, OutputSpec};
use serde_json::{Value, json};
use support::surround;

fn config(command: &[&str], more: Value) -> CommandPerItem {
    let mut config = json!({ "command": command, "slots": 2 });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(config).unwrap()
}

fn start(config: &CommandPerItem, output: &OutputSpec, folder: &Path) -> CommandEngine {
    CommandEngine::start(config, output, surround(folder)).unwrap()
}

fn png() -> OutputSpec {
    OutputSpec::File { extension: "png".into(), decode: FileDecode::Png, one_colour: OneColour::Refuse }
}

fn ask(engine: &mut CommandEngine, texts: &[&str]) -> (BTreeMap<u64, Answer>, Event) {
    let requests = texts.iter().enumerate().map(|(at, text)| {
        let mut request = Request::new(WireId(at as u64), Content::Text((*text).to_owned()));
        request.id = Some(format!("é'\"$(x) {at}"));
        request
    });
    engine.submit(Batch { id: BatchId(1), requests: requests.collect() }).unwrap();
    let mut answers = BTreeMap::new();
    loop {
        for event in engine.poll(Duration::from_secs(60)).unwrap() {
            match event {
                Event::Answer { wire, answer } => assert!(answers.insert(wire.0, answer).is_none()),
                end => return (answers, end),
            }
        }
    }
}

fn reason(answer: &Answer) -> String {
    match answer {
        Answer::Refused(refusal) => format!("{}: {}", refusal.reason.code(), refusal.facts["detail"]),
        Answer::Output(Output::Text { text, .. }) => text.clone(),
        Answer::Output(output) => output.kind().to_owned(),
    }
}

/// A Python program that writes a PNG of two by two pixels: as it should be, of one colour, or cut.
const DRAW: &str = r#"
import struct, sys, zlib
kind, path = open(sys.argv[1]).read(), sys.argv[2]
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
pixels = b"\0\x10\x20\0\x30\x40" if kind != "grey" else b"\0\x10\x10\0\x10\x10"
image = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0))
image += chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
if kind == "absent": sys.exit(0)
open(path, "wb").write({"cut": image[:-20], "empty": b"", "text": b"hello"}.get(kind, image))
"#;

#[test]
fn an_image_is_accepted_only_where_it_is_there_whole_and_of_more_than_one_colour() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["python3", "-c", DRAW, "{input}", "{output}"], json!({}));
    let mut engine = start(&config, &png(), folder.path());
    let (answers, end) = ask(&mut engine, &["good", "grey", "cut", "empty", "text", "absent"]);
    assert!(matches!(end, Event::Finished { .. }));
    let reasons: Vec<String> = answers.values().map(reason).collect();
    assert_eq!(reasons[0], "file");
    assert_eq!(reasons[1], "bad-file: every pixel of the image has the same colour");
    assert!(reasons[2].starts_with("bad-file: no PNG: "), "{}", reasons[2]);
    assert_eq!(reasons[3], "bad-file: it is empty");
    assert!(reasons[4].starts_with("bad-file: no PNG: "), "{}", reasons[4]);
    assert_eq!(reasons[5], "bad-file: the program ended well and made no file");
    let left: Vec<_> = std::fs::read_dir(folder.path().join("scratch")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the good image is kept: {left:?}");
}

/// A Python program that writes an OpenEXR image of two by two pixels, uncompressed, with two channels.
const DRAW_EXR: &str = r#"
import struct, sys
kind, path = open(sys.argv[1]).read(), sys.argv[2]
def attribute(name, type, value):
    return name + b"\0" + type + b"\0" + struct.pack("<i", len(value)) + value
channel = lambda name: name + b"\0" + struct.pack("<iBxxxii", 2, 0, 1, 1)
box = struct.pack("<iiii", 0, 0, 1, 1)
head = struct.pack("<ii", 20000630, 2)
head += attribute(b"channels", b"chlist", channel(b"G") + channel(b"R") + b"\0")
head += attribute(b"compression", b"compression", b"\0")
head += attribute(b"dataWindow", b"box2i", box) + attribute(b"displayWindow", b"box2i", box)
head += attribute(b"lineOrder", b"lineOrder", b"\0")
head += attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1))
head += attribute(b"screenWindowCenter", b"v2f", struct.pack("<ff", 0, 0))
head += attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0"
last = 0.5 if kind == "grey" else 0.25
lines = [struct.pack("<ii4f", y, 16, 0.5, 0.5, 1.0, last if y and kind != "grey" else 1.0) for y in (0, 1)]
starts = [len(head) + 16, len(head) + 16 + len(lines[0])]
image = head + struct.pack("<QQ", *starts) + b"".join(lines)
open(path, "wb").write({"cut": image[:-3], "text": b"hello"}.get(kind, image))
"#;

#[test]
fn an_open_exr_image_is_decoded_to_its_last_block_and_judged_by_its_colours() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["python3", "-c", DRAW_EXR, "{input}", "{output}"], json!({}));
    let (decode, one_colour) = (FileDecode::Exr, OneColour::Refuse);
    let exr = OutputSpec::File { extension: "exr".into(), decode, one_colour };
    let mut engine = start(&config, &exr, folder.path());
    let (answers, _) = ask(&mut engine, &["good", "grey", "cut", "text"]);
    let reasons: Vec<String> = answers.values().map(reason).collect();
    assert_eq!(reasons[..2], ["file", "bad-file: every pixel of the image has the same colour"]);
    assert!(reasons[2].starts_with("bad-file: no OpenEXR: "), "{}", reasons[2]);
    assert!(reasons[3].starts_with("bad-file: no OpenEXR: "), "{}", reasons[3]);
}

#[test]
fn a_text_of_any_size_is_read_to_its_end_and_must_say_something() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
import sys
kind, path = sys.argv[1:]
large = ("é" * 700_001).encode()
open(path, "wb").write({"large": large, "cut": large[:-1], "broken": large + b"\xff" + large, "blank": b" \n" * 700_000}[kind])
"#;
    let config = config(&["python3", "-c", script, "{text}", "{output}"], json!({}));
    let (decode, one_colour) = (FileDecode::Text, OneColour::Accept);
    let text = OutputSpec::File { extension: "txt".into(), decode, one_colour };
    let mut engine = start(&config, &text, folder.path());
    let (answers, _) = ask(&mut engine, &["large", "cut", "broken", "blank"]);
    let reasons: Vec<String> = answers.values().map(reason).collect();
    assert_eq!(
        reasons,
        [
            "file",
            "bad-file: no UTF-8 at byte 1400000",
            "bad-file: no UTF-8 at byte 1400002",
            "bad-file: nothing but white space is in it"
        ]
    );
}

#[test]
fn places_are_filled_without_a_shell_and_never_twice() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"import sys; open(sys.argv[1], "w").write("|".join(sys.argv[2:]))"#;
    let config = config(&["python3", "-c", script, "{output}", "{id}", "{text}", "{text}{other}"], json!({}));
    let mut engine = start(&config, &OutputSpec::Text {}, folder.path());
    let (answers, _) = ask(&mut engine, &["$(reboot) `x` {id}\n\"", "b"]);
    assert_eq!(reason(&answers[&0]), "é'\"$(x) 0|$(reboot) `x` {id}\n\"|$(reboot) `x` {id}\n\"{other}");
    assert_eq!(reason(&answers[&1]), "é'\"$(x) 1|b|b{other}");
}

#[test]
fn a_program_that_fails_leaves_its_item_without_an_answer_and_what_it_wrote_is_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
import sys
text, path = open(sys.argv[1]).read(), sys.argv[2]
open(path, "w").write("partial")
if text == "bad": sys.exit("ValueError: cannot do this one")
"#;
    let config = config(&["python3", "-c", script, "{input}", "{output}"], json!({}));
    let mut engine = start(&config, &OutputSpec::Text {}, folder.path());
    let (answers, end) = ask(&mut engine, &["good", "bad"]);
    assert_eq!(answers.keys().collect::<Vec<_>>(), [&0]);
    assert!(matches!(end, Event::Finished { .. }));
    let (answers, end) = ask(&mut engine, &["bad"]);
    let Event::Failed { fault, .. } = end else { panic!("{end:?}") };
    assert!(answers.is_empty() && !fault.ended);
    assert_eq!(fault.first_error, "ValueError: cannot do this one (status 1)");
}

#[test]
fn a_program_beyond_its_time_or_memory_is_ended_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!("sleep 600 & echo $! > {}; wait; : > \"$0\"", mark.display());
    let hung = config(&["bash", "-c", &script, "{output}"], json!({ "seconds_max": 1 }));
    let mut engine = start(&hung, &OutputSpec::Text {}, folder.path());
    let (_, end) = ask(&mut engine, &["a"]);
    let Event::Failed { fault, .. } = end else { panic!("{end:?}") };
    assert!(fault.first_error.ends_with("ended after 1 s, its time"), "{fault}");
    let child = std::fs::read_to_string(&mark).unwrap();
    // What it had started is ended as well.
    support::eventually(|| support::is_gone(child.trim()).then_some(()));
    drop(engine);
    let greedy = r#"import sys; x = bytearray(1 << 30); open(sys.argv[1], "w").write("done")"#;
    let greedy = config(&["python3", "-c", greedy, "{output}"], json!({ "memory_bytes_max": 300_000_000 }));
    let mut engine = start(&greedy, &OutputSpec::Text {}, folder.path());
    let (_, end) = ask(&mut engine, &["a"]);
    assert!(
        matches!(&end, Event::Failed { fault, .. } if fault.first_error.contains("MemoryError")),
        "{end:?}"
    );
}

#[test]
fn a_program_sees_its_device_and_the_declared_environment_alone() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"import os, sys; e = os.environ; open(sys.argv[1], "w").write(f"{sys.argv[2]} {e['CUDA_VISIBLE_DEVICES']} {e['SEEN']} {e.get('UNSEEN')}")"#;
    let more = json!({ "devices": ["3"], "environment": { "SEEN": "x\ny" } });
    let config = config(&["python3", "-c", script, "{output}", "{device}"], more);
    let mut around = surround(folder.path());
    around.environment.insert("UNSEEN".into(), "hidden".into());
    let mut engine = CommandEngine::start(&config, &OutputSpec::Text {}, around).unwrap();
    let (answers, _) = ask(&mut engine, &["a"]);
    assert_eq!(reason(&answers[&0]), "3 3 x\ny None");
}

#[test]
fn a_program_that_is_not_there_fails_and_refuses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["no-such-program", "{output}"], json!({}));
    let mut engine = start(&config, &OutputSpec::Text {}, folder.path());
    let (answers, end) = ask(&mut engine, &["a", "b"]);
    assert!(answers.is_empty());
    assert!(
        matches!(&end, Event::Failed { fault, .. } if fault.first_error.contains("no-such-program")),
        "{end:?}"
    );
}

#[test]
fn an_argument_that_cannot_be_handed_over_refuses_its_item_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["bash", "-c", "printf %s \"$1\" > \"$0\"", "{output}", "{text}"], json!({}));
    let mut engine = start(&config, &OutputSpec::Text {}, folder.path());
    let long = "x".repeat(200_000);
    let (answers, _) = ask(&mut engine, &["a\0b", &long, "fine"]);
    assert_eq!(reason(&answers[&0]), "by-engine: a NUL character, which no argument can hold");
    assert!(reason(&answers[&1]).starts_with("too-long: an argument of 200000 bytes"));
    assert_eq!(reason(&answers[&2]), "fine");
}

#[test]
fn when_the_engine_goes_its_programs_go() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!("setsid sleep 600 & echo $! > {0}.part; mv {0}.part {0}; wait", mark.display());
    let config = config(&["bash", "-c", &script, "{output}"], json!({}));
    let mut engine = start(&config, &OutputSpec::Text {}, folder.path());
    let request = Request::new(WireId(1), Content::Text("a".into()));
    engine.submit(Batch { id: BatchId(1), requests: vec![request] }).unwrap();
    while !mark.exists() {
        assert!(engine.poll(Duration::from_millis(20)).unwrap().is_empty());
    }
    let child = std::fs::read_to_string(&mark).unwrap();
    assert!(!support::is_gone(child.trim()));
    drop(engine);
    assert!(support::is_gone(child.trim()));
}

#[test]
fn a_check_comes_before_the_first_program_and_what_it_says_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let check = |script: &str| json!({ "check": ["bash", "-c", script], "environment": { "SEEN": "yes" } });
    let well =
        r#"echo starting; echo '{"device":"CPU","version":"3.4","frames":12}'; echo bye; test "$SEEN" = yes"#;
    let copy = ["bash", "-c", "printf x > \"$0\"", "{output}"];
    let engine = start(&config(&copy, check(well)), &OutputSpec::Text {}, folder.path());
    let facts = engine.facts();
    assert_eq!((facts.device.as_str(), facts.version.as_str()), ("CPU", "3.4"));
    assert_eq!(facts.parameters["check.frames"], "12");
    drop(engine);
    let badly = "echo 'error: missing: //textures/wood.png'; exit 3";
    let refused =
        CommandEngine::start(&config(&copy, check(badly)), &OutputSpec::Text {}, surround(folder.path()));
    let fault = refused.err().unwrap();
    assert_eq!(fault.step, "check");
    assert!(fault.first_error.contains("missing: //textures/wood.png (exit status: 3)"), "{fault}");
}
