//! Embeds texts with the built-in engine and prints what it took, for comparison with other engines.
//!
//! ```text
//! embed_bench MODEL_DIR TEXTS THREADS [VECTORS]
//! ```
//!
//! TEXTS holds one JSON object with a `text` a line; the vectors are written to VECTORS as little-endian f32. Prints
//! one JSON object: `items`, `tokens`, `seconds` and `processor_seconds` (loading and warming up left out),
//! `peak_bytes` (of the process, loading included), `load_seconds`, and `digest`, the SHA-256 of all vectors.

#![expect(clippy::print_stdout, reason = "a program for measuring, whose output is data")]
#![expect(clippy::disallowed_methods, reason = "a program for measuring has the clock at its edge")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilote_engine::builtin::Builtin;
use pilote_engine::model::{Environment, ModelStore};
use pilote_engine::{Answer, Batch, BatchId, Content, Engine as _, Event, Request, WireId};
use pilote_spec::{Beyond, Clock, Digest, Limits, Output, OutputSpec, Stamp, Task};

struct Watch(Instant);

impl Clock for Watch {
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Items of one submitted batch, as the default configuration has it.
const BATCH_ITEMS: usize = 64;

type Failure = Box<dyn std::error::Error>;

#[derive(serde::Deserialize)]
struct Line {
    text: String,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, texts, threads, file @ ..] = arguments.as_slice() else {
        return Err("usage: embed_bench MODEL_DIR TEXTS THREADS [VECTORS]".into());
    };
    let lines = fs_err::read_to_string(texts)?;
    let texts = lines.lines().map(|line| Ok(serde_json::from_str::<Line>(line)?.text));
    let texts = texts.collect::<Result<Vec<String>, Failure>>()?;
    let clock = Arc::new(Watch(Instant::now()));
    let mut engine = start(model, threads.parse()?, &clock)?;
    let loaded = clock.monotonic();
    embed(&mut engine, &texts[..texts.len().min(8)])?;
    let (begun, processor) = (clock.monotonic(), processor_seconds());
    let (vectors, tokens) = embed(&mut engine, &texts)?;
    let seconds = (clock.monotonic() - begun).as_secs_f64();
    let processor = processor_seconds().zip(processor).map(|(end, start)| end - start);
    let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    if let [file] = file {
        fs_err::write(file, &bytes)?;
    }
    let took = serde_json::json!({
        "items": texts.len(),
        "tokens": tokens,
        "load_seconds": loaded.as_secs_f64(),
        "seconds": seconds,
        "processor_seconds": processor,
        "peak_bytes": peak_bytes(),
        "digest": Digest::of(&bytes).to_string(),
    });
    println!("{took}");
    Ok(())
}

fn start(model: &str, threads: u32, clock: &Arc<Watch>) -> Result<Builtin, Failure> {
    let reference = format!("path:{}", std::path::absolute(model)?.display());
    let environment = Environment::read(Path::new("."), |_| None);
    let store = ModelStore::new(Path::new("unused"), environment, clock.clone(), |_| {});
    let config = pilote_spec::Builtin {
        task: Task::Embed,
        model: vec![reference.clone()],
        sha256: BTreeMap::new(),
        margin: 0.02,
        batch_items: 64,
        batch_tokens: 2048,
        threads: Some(threads),
    };
    let model = store.resolve(&[reference], &BTreeMap::new())?;
    let limits = Limits { beyond: Beyond::Truncate, ..Limits::default() };
    Ok(Builtin::start(&config, &OutputSpec::Vector { width: 384 }, &limits, model, clock.clone())?)
}

/// The vectors in the order of the texts, and the tokens computed. Batches are filled by length, as an offline corpus
/// is, and two are in flight.
fn embed(engine: &mut Builtin, texts: &[String]) -> Result<(Vec<Vec<f32>>, u64), Failure> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(texts[at].len()));
    let mut batches = order.chunks(BATCH_ITEMS).enumerate().map(|(number, members)| Batch {
        id: BatchId(number as u64),
        requests: members
            .iter()
            .map(|&at| Request::new(WireId(at as u64), Content::Text(texts[at].clone())))
            .collect(),
    });
    let (mut vectors, mut tokens, mut open) = (vec![Vec::new(); texts.len()], 0, 0);
    loop {
        while open < engine.in_flight_max()
            && let Some(batch) = batches.next()
        {
            engine.submit(batch)?;
            open += 1;
        }
        if open == 0 {
            return Ok((vectors, tokens));
        }
        for event in engine.poll(Duration::from_secs(1))? {
            match event {
                Event::Answer { wire, answer: Answer::Output(Output::Vector { values, .. }) } => {
                    vectors[usize::try_from(wire.0)?] = values;
                }
                Event::Answer { wire, answer } => return Err(format!("{wire}: {answer:?}").into()),
                Event::Finished { measures, .. } => {
                    tokens += measures.tokens.unwrap_or(0);
                    open -= 1;
                }
                Event::Failed { fault, .. } => return Err(fault.into()),
                Event::Stray { said } => return Err(said.into()),
            }
        }
    }
}

/// User and system time of this process, in the hundredths of a second that Linux counts in.
fn processor_seconds() -> Option<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let ticks: f64 = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn peak_bytes() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}
