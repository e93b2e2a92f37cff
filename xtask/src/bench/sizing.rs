//! What `pilote size` says of public models beside what other tools say and what is right, and how long it takes for
//! the headers of a model of 70 billion parameters.

mod server;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};

use super::measure::median;
use super::page::Section;
use super::{peers, startup};
use crate::command;
use crate::repo::{Profile, Repo};

/// Starts of the command whose median is taken.
const STARTS: usize = 20;
/// What it must stay under.
const LIMIT_MS: f64 = 100.0;
/// Shards of the header set.
const SHARDS: usize = 30;
/// Bytes of the weights that its headers describe: Llama-3.1-70B in 16 bits.
const WEIGHTS: u64 = 141_107_412_992;

/// A figure that every tool is asked for: the cache of one sequence in 16 bits.
struct Asked {
    /// The file in `crates/size/tests/data/configs`, and the model's name in the hub and in llmfit's table.
    config: &'static str,
    name: &'static str,
    tokens: u64,
    /// The engine whose layout is right for the model.
    engine: &'static str,
    /// The right value, a row of `crates/size/tests/data/sizing-values.tsv` times its tokens.
    right: u64,
}

const ASKED: [Asked; 11] = [
    asked("llama-3.1-8b", "meta-llama/Llama-3.1-8B", 8192, "vllm", 1_073_741_824),
    asked("llama-3.1-70b", "meta-llama/Llama-3.1-70B", 4096, "vllm", 327_680 * 4096),
    asked("qwen2.5-7b", "Qwen/Qwen2.5-7B", 4096, "vllm", 57_344 * 4096),
    asked("mistral-7b-v0.1", "mistralai/Mistral-7B-v0.1", 32_768, "transformers", 536_870_912),
    asked("gemma-2-9b", "google/gemma-2-9b", 8192, "transformers", 2_113_929_216),
    asked("phi-3-mini", "microsoft/Phi-3-mini-4k-instruct", 1024, "transformers", 393_216 * 1024),
    asked("llama-2-7b", "meta-llama/Llama-2-7b-hf", 4096, "vllm", 524_288 * 4096),
    asked("gemma-3-1b", "google/gemma-3-1b-it", 32_768, "transformers", 145_752_064),
    asked("all-minilm-l6-v2", "sentence-transformers/all-MiniLM-L6-v2", 512, "transformers", 0),
    asked("deepseek-v2", "deepseek-ai/DeepSeek-V2", 4096, "vllm", 69_120 * 4096),
    asked("deepseek-v3", "deepseek-ai/DeepSeek-V3", 4096, "vllm", 70_272 * 4096),
];

impl Asked {
    /// What the model does with the tokens: an encoder keeps nothing of them.
    fn work(&self) -> &'static str {
        if self.right == 0 { "encode" } else { "generate" }
    }
}

const fn asked(
    config: &'static str,
    name: &'static str,
    tokens: u64,
    engine: &'static str,
    right: u64,
) -> Asked {
    Asked { config, name, tokens, engine, right }
}

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    let pilote = repo.built(Profile::Release, "pilote")?;
    let python = peers::environment(repo, peers::SIZES)?;
    let mut section = Section::new(
        "Memory of a model, counted",
        "The cache of one sequence in 16 bits, in bytes, from the same config.json files; in brackets how many times the \
         right value it is. hf-mem names its figures for interleaved windows an upper bound by intent. A dash is a figure \
         that a tool does not give. gguf-parser-go was not run: the read-me of gpustack/gguf-parser-go shows 4 GiB for a \
         Mistral-7B file without a window at 32,768 tokens, which is right for that file. accelerate \
         says no cache; its figure for weights is of a run by hand.",
        &["model", "tokens", "right", "pilote size", "hf-mem 0.5.6", "llmfit 1.1.17"],
    );
    let mut right = true;
    for asked in &ASKED {
        let folder = repo.cache("bench/sizing").join(asked.config);
        std::fs::create_dir_all(&folder)?;
        let config = folder.join("config.json");
        let source = repo.root().join(format!("crates/size/tests/data/configs/{}.json", asked.config));
        std::fs::copy(source, &config)?;
        let ours = cache(repo, &pilote, &folder, asked)?;
        let theirs = others(repo, &python, &config, asked)?;
        right &= ours == asked.right;
        section.row(&[
            asked.name.to_owned(),
            asked.tokens.to_string(),
            asked.right.to_string(),
            times(Some(ours), asked.right),
            times(theirs["hf_mem_cache"].as_u64(), asked.right),
            times(theirs["llmfit_cache"].as_u64(), asked.right),
        ]);
    }
    section.claim("every figure of pilote size is the right one, to the byte".to_owned(), right);
    published(&mut section);
    let headers = headers(repo)?;
    ranges(repo, &pilote, &headers, &mut section)?;
    let mut times = Vec::new();
    let words = [pilote, "size".into(), headers, "--tokens".into(), "8192".into(), "--json".into()];
    for _ in 0..STARTS {
        times.push(startup::milliseconds(&words)?);
    }
    let middle = median(times).context("nothing was measured")?;
    section.claim(
        format!(
            "the headers of 70 billion parameters in {SHARDS} files within {LIMIT_MS:.0} ms (the median of {STARTS} is {middle:.1} ms)"
        ),
        middle < LIMIT_MS,
    );
    Ok(section)
}

/// What a tool that is not run here is known to have answered for the weights of a model.
fn published(section: &mut Section) {
    // accelerate 1.15.0, `estimate-memory` for 16 bits: it builds the model without its output head.
    let accelerate = 139_006_066_944;
    section.row(&[
        "meta-llama/Llama-3.1-70B, weights".to_owned(),
        "-".to_owned(),
        WEIGHTS.to_string(),
        times(Some(WEIGHTS), WEIGHTS),
        "-".to_owned(),
        format!("accelerate 1.15.0: {}", times(Some(accelerate), WEIGHTS)),
    ]);
}

/// Sizes the header set over HTTP and claims what it cost.
fn ranges(repo: &Repo, pilote: &Path, headers: &Path, section: &mut Section) -> anyhow::Result<()> {
    let (address, sent) = server::serve(headers)?;
    command::capture(
        repo.command(&pilote.to_string_lossy()).args(["size", "--json", "--tokens", "8192", &address]),
    )?;
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut total, mut most) = (0, 0);
    for (name, bytes) in sent.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        let mut length = [0; 8];
        File::open(headers.join(name))?.read_exact(&mut length)?;
        let header = 8 + u64::from_le_bytes(length);
        total += bytes;
        most = most.max(bytes.saturating_sub(header));
    }
    ensure!(sent.len() > SHARDS, "{} files were asked for", sent.len());
    section.claim(
        format!(
            "by range requests the header bytes and at most 64 KiB a file ({total} bytes of {SHARDS} files, at most \
             {most} beyond a header)"
        ),
        most <= 64 * 1024,
    );
    Ok(())
}

/// A figure with how many times the right one it is.
#[expect(clippy::cast_precision_loss, reason = "a ratio to two decimals")]
fn times(figure: Option<u64>, right: u64) -> String {
    if right == 0 {
        // Nothing is a multiple of nothing: what is more than it is shown as it is.
        return figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
    }
    figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure} ({:.2})", figure as f64 / right as f64))
}

fn cache(repo: &Repo, pilote: &Path, folder: &Path, asked: &Asked) -> anyhow::Result<u64> {
    let text = command::capture(
        repo.command(&pilote.to_string_lossy())
            .args(["size", "--json", "--work", asked.work(), "--engine", asked.engine])
            .args(["--tokens", &asked.tokens.to_string()])
            .arg(folder),
    )?;
    let sizing: Value = serde_json::from_str(&text)?;
    let parts = sizing["estimate"]["shares"][0]["parts"].as_array().context("the estimate has no parts")?;
    let Some(part) = parts.iter().find(|part| part["part"] == "cache") else {
        // An encoder has no such part, and that is what is right for it.
        ensure!(asked.work() == "encode", "the estimate has no cache");
        return Ok(0);
    };
    part["amount"]["high"].as_u64().context("the cache is unknown")
}

/// What the peers that are Python packages say.
fn others(repo: &Repo, python: &Path, config: &Path, asked: &Asked) -> anyhow::Result<Value> {
    let script = repo.root().join("xtask/bench/size_peers.py");
    let llmfit = python.with_file_name("llmfit");
    let text = command::capture(
        repo.command(&python.to_string_lossy())
            .arg(script)
            .arg(llmfit)
            .arg(config)
            .args([&asked.tokens.to_string(), asked.name]),
    )?;
    serde_json::from_str(text.lines().last().unwrap_or_default()).context("size_peers.py printed no figures")
}

/// Tensors of Llama-3.1-70B by name and shape.
fn tensors() -> Vec<(String, [u64; 2])> {
    let (width, narrow, inner, vocabulary) = (8192, 1024, 28_672, 128_256);
    let mut tensors = vec![
        ("model.embed_tokens.weight".to_owned(), [vocabulary, width]),
        ("lm_head.weight".to_owned(), [vocabulary, width]),
        ("model.norm.weight".to_owned(), [width, 1]),
    ];
    for layer in 0..80 {
        let of_layer = [
            ("self_attn.q_proj", [width, width]),
            ("self_attn.k_proj", [narrow, width]),
            ("self_attn.v_proj", [narrow, width]),
            ("self_attn.o_proj", [width, width]),
            ("mlp.gate_proj", [inner, width]),
            ("mlp.up_proj", [inner, width]),
            ("mlp.down_proj", [width, inner]),
            ("input_layernorm", [width, 1]),
            ("post_attention_layernorm", [width, 1]),
        ];
        tensors.extend(of_layer.map(|(name, shape)| (format!("model.layers.{layer}.{name}.weight"), shape)));
    }
    tensors
}

/// A folder of headers with their configuration; the files are sparse and hold no weights.
fn headers(repo: &Repo) -> anyhow::Result<PathBuf> {
    let folder = repo.cache("bench/sizing/headers-70b");
    std::fs::create_dir_all(&folder)?;
    let config = repo.root().join("crates/size/tests/data/configs/llama-3.1-70b.json");
    std::fs::copy(config, folder.join("config.json"))?;
    let tensors = tensors();
    let mut map = Map::new();
    let mut sum = 0;
    for (shard, tensors) in tensors.chunks(tensors.len().div_ceil(SHARDS)).enumerate() {
        let file = format!("model-{:05}-of-{SHARDS:05}.safetensors", shard + 1);
        let mut entries = Map::new();
        let mut at = 0;
        for (name, shape) in tensors {
            let end = at + shape[0] * shape[1] * 2;
            entries
                .insert(name.clone(), json!({ "dtype": "BF16", "shape": shape, "data_offsets": [at, end] }));
            map.insert(name.clone(), file.clone().into());
            at = end;
        }
        let header = serde_json::to_vec(&entries)?;
        let mut out = File::create(folder.join(&file))?;
        let length = header.len() as u64;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&header)?;
        out.set_len(8 + length + at)?;
        sum += at;
    }
    ensure!(sum == WEIGHTS, "the headers describe {sum} bytes, and {WEIGHTS} are the model's");
    let index = json!({ "metadata": { "total_size": sum }, "weight_map": map });
    std::fs::write(folder.join("model.safetensors.index.json"), index.to_string())?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_set_describes_the_weights_of_seventy_billion_parameters() {
        let bytes: u64 = tensors().iter().map(|(_, shape)| shape[0] * shape[1] * 2).sum();
        assert_eq!(bytes, WEIGHTS);
    }

    #[test]
    fn a_figure_is_shown_with_its_ratio_and_an_absent_one_as_a_dash() {
        assert_eq!(times(Some(300), 200), "300 (1.50)");
        assert_eq!(times(None, 200), "-");
    }
}
