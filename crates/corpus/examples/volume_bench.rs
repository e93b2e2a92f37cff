//! `volume_bench write|index FOLDER ITEMS`: writes a corpus of small rows, or indexes it with its check for duplicates
//! and writes the parts of the index. The time and memory of the process are measured from outside.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for the benchmark")]

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use pilote_corpus::index::{encode_part, part_key};
use pilote_corpus::{Source, scan};
use pilote_spec::{Duplicates, Encoding, Inputs, Item, Limits};

/// Items of a part, as trials cut them.
const PART: usize = 16_384;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, folder, items] = arguments.as_slice() else { panic!("volume_bench write|index FOLDER ITEMS") };
    let (folder, items) = (Path::new(folder), items.parse::<u64>().expect("a number of items"));
    match mode.as_str() {
        "write" => write(folder, items),
        _ => index(folder, items),
    }
}

fn write(folder: &Path, items: u64) {
    fs::create_dir_all(folder.join("runs")).expect("a folder");
    let file = fs::File::create(folder.join("rows.jsonl")).expect("a file");
    let mut file = BufWriter::with_capacity(1 << 20, file);
    for n in 0..items {
        let text = "words that say something ".repeat(1 + usize::try_from(n % 5).unwrap_or(0));
        writeln!(file, "{{\"id\":\"item-{n:012}\",\"text\":\"{text}{n}\"}}").expect("room");
    }
    file.flush().expect("room");
}

fn index(folder: &Path, expected: u64) {
    let inputs = Inputs::Jsonl {
        jsonl: "rows.jsonl".into(),
        id: "id".to_owned(),
        text: "text".to_owned(),
        columns: Default::default(),
        encoding: Encoding::Utf8,
    };
    let source = Source::new(folder, &inputs, &Limits::default(), Duplicates::Stop);
    fs::create_dir_all(folder.join("index")).expect("a folder");
    let (mut part, mut number, mut items): (Vec<Item>, u32, u64) = (Vec::new(), 0, 0);
    let mut keep = |part: &mut Vec<Item>| {
        number += 1;
        fs::write(folder.join(part_key(number)), encode_part(part)).expect("room");
        part.clear();
    };
    for item in scan(&source).expect("inputs") {
        part.push(item.expect("no duplicate"));
        items += 1;
        if part.len() == PART {
            keep(&mut part);
        }
    }
    keep(&mut part);
    assert_eq!(items, expected, "every row is an item");
    println!("{{\"items\":{items}}}");
}
