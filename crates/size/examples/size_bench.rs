//! How long sizing takes on the headers of a model of 70 billion parameters: thirty sparse files on disk, of which
//! only the headers exist, sized many times over.
//!
//! ```text
//! cargo run --release -p pilote-size --example size_bench [FOLDER]
//! ```
//!
//! With a folder it sizes the model that lies there; without one it makes the header set in a temporary folder.
//! It prints one JSON object: the median and the worst time in milliseconds, and what came out.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use pilote_size::cards::{Cards, Holding};
use pilote_size::memory::{Backend, CacheType, Engine, PartKind, Spread, Task, Work};
use pilote_size::model::{Folder, architecture, layout};
use pilote_size::{Request, size};

type Failure = Box<dyn std::error::Error>;

const CONFIG: &str = include_str!("../tests/data/configs/llama-3.1-70b.json");
const SHARDS: usize = 30;
const ROUNDS: usize = 101;

/// Writes configuration, index and sparse shards: the header of each, then a hole of the data's length.
fn header_set(folder: &Path) -> Result<(), Failure> {
    std::fs::write(folder.join("config.json"), CONFIG)?;
    let built = architecture::from_config("config.json", CONFIG.as_bytes())?;
    let tensors = layout::tensors(&built).ok_or("the family is known")?;
    let mut places = serde_json::Map::new();
    for (at, part) in tensors.chunks(tensors.len().div_ceil(SHARDS)).enumerate() {
        let name = format!("model-{:05}-of-{SHARDS:05}.safetensors", at + 1);
        let (mut header, mut end) = (serde_json::Map::new(), 0_u64);
        for tensor in part {
            let begin = end;
            end += tensor.weights() * 2;
            let entry =
                serde_json::json!({"dtype": "BF16", "shape": tensor.shape, "data_offsets": [begin, end]});
            header.insert(tensor.name.clone(), entry);
            places.insert(tensor.name.clone(), name.clone().into());
        }
        let header = serde_json::to_vec(&header)?;
        let mut file = File::create(folder.join(name))?;
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&header)?;
        file.set_len(8 + header.len() as u64 + end)?;
    }
    let index = serde_json::json!({"metadata": {}, "weight_map": places});
    std::fs::write(folder.join("model.safetensors.index.json"), serde_json::to_vec(&index)?)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed(run: impl FnOnce() -> Result<u64, Failure>) -> Result<(Duration, u64), Failure> {
    let start = Instant::now();
    let answer = run()?;
    Ok((start.elapsed(), answer))
}

#[expect(clippy::print_stdout, reason = "the result of a benchmark is what it prints")]
fn main() -> Result<(), Failure> {
    let made = tempfile::tempdir()?;
    let named = std::env::args().nth(1);
    if named.is_none() {
        header_set(made.path())?;
    }
    let folder = named.map_or_else(|| made.path().to_owned(), std::path::PathBuf::from);
    let cards = Cards::built_in()?;
    let request = Request {
        task: Task {
            work: Work::Generate { tokens: 8192, concurrency: 8 },
            engine: Engine::Vllm { block: 16, batched_tokens: 2048, utilisation: 900 },
            backend: Backend::Cuda,
            precision: None,
            cache: CacheType::default(),
            spread: Spread::default(),
            threads: None,
        },
        cards: cards.all.into_iter().map(Holding::whole).collect(),
        margin_percent: 10,
        measured: None,
    };
    let mut times = Vec::new();
    let mut weights = 0;
    for _ in 0..ROUNDS {
        let (time, bytes) = timed(|| {
            let sizing = size(&Folder::new(&folder), &request)?;
            let share = sizing.estimate.shares.first().ok_or("one share")?;
            Ok(share.part(PartKind::Weights).and_then(pilote_size::Figure::bytes).unwrap_or(0))
        })?;
        times.push(time);
        weights = bytes;
    }
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let answer = serde_json::json!({
        "format": "pilote.bench.size/1",
        "rounds": ROUNDS,
        "median_ms": milliseconds(times[ROUNDS / 2]),
        "worst_ms": milliseconds(times[ROUNDS - 1]),
        "weights_bytes": weights,
    });
    println!("{answer}");
    Ok(())
}
