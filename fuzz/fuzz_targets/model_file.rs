//! Any bytes at all as the files of a model: the first byte says which kind of file they are taken for.
#![no_main]

use pilote_size::model::{InMemory, read};

const NAMES: [&str; 6] = [
    "model.safetensors",
    "model.gguf",
    "model.onnx",
    "pytorch_model.bin",
    "config.json",
    "model.safetensors.index.json",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((kind, rest)) = bytes.split_first() {
        let name = NAMES[usize::from(*kind) % NAMES.len()].to_owned();
        let _ = read(&InMemory { name, bytes: rest.to_vec() });
    }
});
