//! Every row of the table of right values, to the byte. The table is data; a row without a test here fails.

use super::fixtures::{self, Held};
use super::fixtures::{built, folder, generate, vllm};
use pilote_size::Bytes;
use pilote_size::cards::Cards;
use pilote_size::memory::{
    CacheType, Engine, LatentCache, Recipe, Recompute, Task, activations_of_layer, cache, growth_per_token,
    logits_bytes,
};
use pilote_size::model::{Architecture, gguf, layout, read};

const TABLE: &str = include_str!("../data/sizing-values.tsv");

fn right(what: &str, given: &str) -> String {
    let row = TABLE.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        (columns[0] == what && columns[1] == given).then(|| columns[2].to_owned())
    });
    row.unwrap_or_else(|| panic!("the table has no row `{what}` / `{given}`"))
}

/// One test a row, and a list of the rows that have one.
macro_rules! rows {
    ($($test:ident: $what:literal, $given:literal => $value:expr;)*) => {
        $(#[test] fn $test() { assert_eq!(($value).to_string(), right($what, $given)); })*
        const TESTED: &[(&str, &str)] = &[$(($what, $given)),*];
    };
}

#[test]
fn every_row_of_the_table_has_a_test() {
    for line in TABLE.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        assert!(TESTED.contains(&(columns[0], columns[1])), "no test for {line}");
    }
    assert_eq!(TABLE.lines().skip(1).count(), TESTED.len());
}

fn parameters(model: &str) -> u64 {
    let facts = read(&folder(model, 4)).unwrap();
    assert_eq!(facts.parameters, layout::parameters(&built(model)), "headers and build agree");
    facts.parameters.unwrap()
}

fn per_token(model: &str) -> u64 {
    growth_per_token(&generate(vllm(2048), 1, 1), &built(model).mixers.unwrap()).unwrap()
}

fn bytes(task: &Task, built: &Architecture) -> u64 {
    cache(task, built.mixers.as_ref().unwrap()).bytes().unwrap()
}

fn kv(model: &str, engine: Engine, tokens: u64) -> u64 {
    bytes(&generate(engine, tokens, 1), &built(model))
}

fn kv_as(model: &str, kind: &str) -> u64 {
    let task = Task { cache: CacheType::named(kind).unwrap(), ..generate(fixtures::TRANSFORMERS, 8192, 1) };
    bytes(&task, &built(model))
}

/// The same model with every window taken away.
fn full(model: &str) -> Architecture {
    let text = fixtures::config_text(model).replace("\"sliding_window\"", "\"another\"");
    let mut built = pilote_size::model::architecture::from_config("config.json", text.as_bytes()).unwrap();
    for mixer in built.mixers.as_mut().unwrap() {
        if let pilote_size::model::Mixer::Attention { window, .. } = mixer {
            *window = None;
        }
    }
    built
}

fn decompressed() -> u64 {
    let engine = Engine::LlamaCpp { ubatch: None, latent: LatentCache::Decompressed, fused: false };
    growth_per_token(&generate(engine, 1, 1), &built("deepseek-v3").mixers.unwrap()).unwrap()
}

fn bits_per_weight() -> String {
    let one = |name: &str| {
        let block = gguf::block_type(name).unwrap();
        block.bytes as f64 * 8.0 / block.weights as f64
    };
    ["Q4_0", "Q5_0", "Q8_0", "Q4_K", "Q6_K", "MXFP4"].map(|name| one(name).to_string()).join(" / ")
}

fn gguf_bytes(kind: &str, shape: [u64; 2]) -> u64 {
    let block = gguf::block_type(kind).unwrap();
    shape[0] * shape[1] / block.weights * block.bytes
}

fn header_bytes(tensors: &[(&str, &[u64])]) -> u64 {
    let tensors: Vec<_> =
        tensors.iter().map(|(kind, shape)| (format!("t.{kind}"), *kind, shape.to_vec())).collect();
    let (head, length) = fixtures::safetensors(&tensors);
    let held = Held::default().with_length("model.safetensors", head, length);
    read(&held).unwrap().weight_bytes.unwrap()
}

fn states(recipe: Recipe) -> u64 {
    let each = recipe.per_parameter();
    (each.weight + each.gradient + each.master + each.states.unwrap()) * parameters("llama-3.1-8b")
}

const SEVEN: [&str; 7] = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

fn lora() -> u64 {
    layout::lora_parameters(&built("llama-3.1-8b"), 16, &SEVEN.map(str::to_owned)).unwrap()
}

fn recomputed(how: Recompute) -> u64 {
    activations_of_layer(4096, 1, 4096, 32, how)
}

fn shown_by_drivers() -> String {
    let cards = Cards::built_in().unwrap();
    let mib = |name: &str| format!("{} MiB", cards.named(name).unwrap().memory_mib);
    let gib = |name: &str, decimals: usize| {
        let bytes = cards.named(name).unwrap().memory().0;
        format!("{:.decimals$} GiB", bytes as f64 / f64::from(1 << 30))
    };
    let b200 = gib("B200", 2);
    format!("{} / {} / {} / {} / {b200}", mib("RTX 4090"), mib("RTX 5090"), mib("A100 80"), gib("H100 80", 1))
}

fn mixtral() -> u64 {
    assert_eq!(layout::active_parameters(&built("mixtral-8x7b")), Some(12_879_925_248));
    parameters("mixtral-8x7b")
}

fn units() -> String {
    let bytes = Bytes(16_060_522_496);
    format!("{} or {}, never 14.96 GB", bytes.in_gb(), bytes.in_gib())
}

rows! {
    llama_8b_has_its_parameters: "parameters", "Llama-3.1-8B" => parameters("llama-3.1-8b");
    llama_70b_has_its_parameters: "parameters", "Llama-3.1-70B" => parameters("llama-3.1-70b");
    mistral_7b_has_its_parameters: "parameters", "Mistral-7B" => parameters("mistral-7b-v0.1");
    mixtral_has_all_experts: "parameters", "Mixtral-8x7B (total; active 12879925248 never enters memory)" => mixtral();
    gemma_2_shares_its_embedding: "parameters", "Gemma-2-9B (tied embeddings)" => parameters("gemma-2-9b");
    llama_8b_cache_per_token: "KV bytes per token, 16-bit", "Llama-3.1-8B" => per_token("llama-3.1-8b");
    llama_70b_cache_per_token: "KV bytes per token, 16-bit", "Llama-3.1-70B" => per_token("llama-3.1-70b");
    qwen_cache_per_token: "KV bytes per token, 16-bit", "Qwen2.5-7B" => per_token("qwen2.5-7b");
    mistral_cache_per_token: "KV bytes per token, 16-bit", "Mistral-7B" => per_token("mistral-7b-v0.1");
    phi_cache_per_token: "KV bytes per token, 16-bit", "Phi-3-mini" => per_token("phi-3-mini");
    llama_2_cache_per_token: "KV bytes per token, 16-bit", "Llama-2-7B" => per_token("llama-2-7b");
    deepseek_v2_latent_cache: "KV bytes per token, 16-bit, latent (MLA)", "DeepSeek-V2" => per_token("deepseek-v2");
    deepseek_v3_latent_cache: "KV bytes per token, 16-bit, latent (MLA)", "DeepSeek-V3" => per_token("deepseek-v3");
    deepseek_v3_decompressed: "KV bytes per token, decompressed as llama.cpp once did", "DeepSeek-V3" => decompressed();
    llama_8b_cache_at_8192: "KV bytes", "Llama-3.1-8B at 8192 tokens" => kv("llama-3.1-8b", vllm(2048), 8192);
    quantised_cache_counts_blocks: "KV bytes", "Llama-3.1-8B at 8192 tokens, q8_0 / q4_0 cache" =>
        format!("{} / {}", kv_as("llama-3.1-8b", "q8_0"), kv_as("llama-3.1-8b", "q4_0"));
    a_window_is_a_ring: "KV bytes", "Mistral-7B v0.1 at 32768, window 4096 kept as a ring / full" =>
        format!("{} / {}", kv("mistral-7b-v0.1", fixtures::TRANSFORMERS, 32768),
            bytes(&generate(fixtures::TRANSFORMERS, 32768, 1), &full("mistral-7b-v0.1")));
    a_window_in_vllm_pages: "KV bytes", "Mistral-7B v0.1 at 32768 under vLLM (2048 batched tokens, block 16)" =>
        kv("mistral-7b-v0.1", vllm(2048), 32768);
    gemma_3_interleaves: "KV bytes", "Gemma-3-1B at 32768 (4 full layers, 22 with window 512)" =>
        kv("gemma-3-1b", fixtures::TRANSFORMERS, 32768);
    gemma_2_interleaves: "KV bytes", "Gemma-2-9B at 8192, full / interleaved window 4096" =>
        format!("{} / {}", bytes(&generate(fixtures::TRANSFORMERS, 8192, 1), &full("gemma-2-9b")),
            kv("gemma-2-9b", fixtures::TRANSFORMERS, 8192));
    an_encoder_keeps_nothing: "KV bytes", "any encoder (BERT family)" => kv("all-minilm-l6-v2", vllm(2048), 512);
    block_types_have_their_width: "GGUF bits per weight", "Q4_0 / Q5_0 / Q8_0 / Q4_K / Q6_K / MXFP4" => bits_per_weight();
    a_q4_k_tensor: "GGUF tensor bytes", "Q4_K 4096x14336" => gguf_bytes("Q4_K", [4096, 14336]);
    a_q8_0_tensor: "GGUF tensor bytes", "Q8_0 4096x4096" => gguf_bytes("Q8_0", [4096, 4096]);
    a_bf16_tensor: "safetensors bytes", "BF16 4096x4096" => header_bytes(&[("BF16", &[4096, 4096])]);
    header_totals: "safetensors bytes", "header totals I64:514 and F32:278043648 values" =>
        header_bytes(&[("I64", &[514]), ("F32", &[278_043_648])]);
    an_awq_matrix: "AWQ group 128", "11008x4096" => layout::Reduced::Awq { bits: 4, group: 128 }.bytes(11008, 4096);
    mixed_adam: "training states, bytes", "Llama-3.1-8B at 16 B per parameter (mixed precision Adam)" => states(Recipe::MixedAdam);
    bf16_adams: "training states, bytes", "Llama-3.1-8B, pure bf16 Adam (8 B) / bf16 with 8-bit Adam (6 B)" =>
        format!("{} / {}", states(Recipe::Bf16Adam), states(Recipe::Bf16Adam8bit));
    lora_parameters: "LoRA parameters", "Llama-3.1-8B, rank 16, seven modules" => lora();
    lora_bytes: "LoRA bytes", "the same, base in bf16, adapters in fp32 with Adam" =>
        parameters("llama-3.1-8b") * 2 + lora() * 16;
    one_copy_of_logits: "fp32 logits, bytes", "8192 tokens x vocabulary 128256" => logits_bytes(8192, 128_256);
    activations_by_recomputation:
        "activations per layer, bytes", "sequence 4096, batch 1, hidden 4096, 32 heads: none / selective / full recomputation" =>
        [Recompute::Nothing, Recompute::Selective, Recompute::Full].map(|how| recomputed(how).to_string()).join(" / ");
    drivers_show: "memory the driver shows", "RTX 4090 / RTX 5090 / A100 80 / H100 80 / B200 (one card)" => shown_by_drivers();
    gb_are_no_gib: "units", "16060522496 bytes" => units();
}
