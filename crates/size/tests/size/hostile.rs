//! Every reader against mutated, cut and random bytes: an error or a figure, never a panic or a flood of memory.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pilote_size::libraries::{self, Named};
use pilote_size::model::{architecture, checkpoint, gguf, onnx, read, safetensors};

use super::fixtures::{GgufFile, Held, config_text, safetensors as safetensors_file};

/// A small generator of our own, so that a failing seed is a failing seed everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// One mutation: bits turned, a boundary number written, a cut, a piece doubled.
fn mutated(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 => {
                let number =
                    [u64::MAX, 0, 1 << 63, 1 << 32, 0xffff, 100_000_000][random.below(6)].to_le_bytes();
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            2 => bytes.truncate(at),
            3 => {
                let piece = bytes[at..(at + 24).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ if !bytes.is_empty() => bytes[at] = random.next() as u8,
            _ => {}
        }
    }
    bytes
}

fn withstands(name: &str, seed: &[u8], rounds: u64, reader: impl Fn(&[u8])) {
    for round in 0..rounds {
        let bytes = mutated(seed, &mut Random(round));
        let survived = catch_unwind(AssertUnwindSafe(|| reader(&bytes)));
        assert!(survived.is_ok(), "{name}, seed {round}: panicked on {bytes:?}");
    }
}

#[test]
fn mutated_safetensors_never_panic() {
    let (seed, length) =
        safetensors_file(&[("a".into(), "F32", vec![4, 4]), ("b".into(), "F8_E4M3", vec![9])]);
    withstands("safetensors", &seed, 4000, |bytes| {
        let _ = safetensors::read_file(&Held::default().with_length("m", bytes.to_vec(), length), "m");
    });
}

#[test]
fn mutated_gguf_never_panics() {
    let (seed, length) = GgufFile::default()
        .text("general.architecture", "gemma3")
        .int("gemma3.block_count", 6)
        .int("gemma3.embedding_length", 64)
        .int("gemma3.attention.head_count", 4)
        .int("gemma3.attention.sliding_window", 512)
        .ints("gemma3.attention.head_count_kv", &[1, 1, 1, 1, 1, 1])
        .words("tokenizer.ggml.tokens", &["a", "b"])
        .tensor("t", &[256, 2], 12, 288)
        .build(3);
    withstands("GGUF", &seed, 4000, |bytes| {
        let held = Held::default().with_length("m.gguf", bytes.to_vec(), length);
        if let Ok(head) = gguf::read_file(&held, "m.gguf") {
            let _ = architecture::from_gguf("m.gguf", &head);
        }
        let _ = read(&held);
    });
}

#[test]
fn mutated_onnx_never_panics() {
    // ir_version 10, a graph with one float initialiser of shape [2] and a node.
    let seed = [
        0x08, 0x0a, 0x3a, 0x1c, 0x2a, 0x11, 0x08, 0x02, 0x10, 0x01, 0x42, 0x01, b'w', 0x4a, 0x08, 0, 0, 0, 0,
        0, 0, 0, 0, 0x0a, 0x04, 0x22, 0x02, b'o', b'p', 0x12, 0x01, b'g',
    ];
    assert!(onnx::read_file(&Held::default().with("m", seed.to_vec()), "m").is_ok());
    withstands("ONNX", &seed, 4000, |bytes| {
        let _ = onnx::read_file(&Held::default().with("m", bytes.to_vec()), "m");
    });
}

#[test]
fn mutated_checkpoints_never_panic() {
    let mut entry = b"PK\x01\x02".to_vec();
    entry.resize(46, 0);
    entry[28] = 14;
    entry.extend(b"archive/data/0");
    let mut seed = entry.clone();
    seed.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    seed.extend((entry.len() as u32).to_le_bytes());
    seed.extend([0; 6]);
    withstands("checkpoint", &seed, 4000, |bytes| {
        let _ = checkpoint::read_file(&Held::default().with("m", bytes.to_vec()), "m");
    });
}

#[test]
fn mutated_configurations_never_panic() {
    for name in ["llama-3.1-8b", "deepseek-v3", "qwen3-next-80b", "gemma-3-4b", "mamba-130m", "mixtral-8x7b"]
    {
        let seed = config_text(name);
        withstands(name, seed.as_bytes(), 1500, |bytes| {
            let held = Held::default().with("config.json", bytes.to_vec());
            if let Ok(facts) = read(&held) {
                let task = super::fixtures::generate(super::fixtures::vllm(2048), 4096, 2);
                let _ = pilote_size::memory::estimate(&facts, &task);
            }
        });
    }
}

type DependencyReader = fn(&mut Named, &str, &str) -> Result<(), pilote_size::SizeError>;

#[test]
fn mutated_dependency_files_never_panic() {
    let seeds: [(&str, DependencyReader, &str); 5] = [
        (
            "requirements",
            libraries::requirements,
            "torch==2.8.0+cu128\n--index-url https://host/whl/cu128\nx[a] @ https://h/x-1-py3.whl#b",
        ),
        (
            "pyproject",
            libraries::pyproject,
            "[project]\ndependencies = [\"torch==2.8\"]\n[[tool.uv.index]]\nurl = \"https://h/whl/cpu\"",
        ),
        (
            "lock",
            libraries::lock,
            "[[package]]\nname = \"torch\"\nversion = \"2.8.0+cu128\"\nsource = { registry = \"https://h/cu128\" }",
        ),
        (
            "environment",
            libraries::environment,
            "name: x\ndependencies:\n  - pytorch::pytorch=2.5=py3.12_cuda12.4\n  - pip:\n    - torch==2.8",
        ),
        (
            "Dockerfile",
            libraries::dockerfile,
            "FROM nvidia/cuda:12.8 AS base\nRUN pip install torch==2.8 && pip install x",
        ),
    ];
    for (name, reader, seed) in seeds {
        withstands(name, seed.as_bytes(), 1500, |bytes| {
            let _ = reader(&mut Named::default(), name, &String::from_utf8_lossy(bytes));
        });
    }
}
