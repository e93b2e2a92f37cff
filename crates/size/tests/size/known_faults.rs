//! What other tools got wrong, row by row: the figure that the table calls right is the one that comes out here.

use pilote_size::cards::{Cards, Holding};
use pilote_size::measured::{Measured, Peak, Verdict, verdict};
use pilote_size::memory::{
    Backend, CacheType, Engine, LatentCache, Method, PartKind, Recipe, Recompute, Sharding, Task, Work,
    budget, cache, estimate, growth_per_token, logits_bytes, reserve, temporaries,
};
use pilote_size::model::{Architecture, Mixer, layout, read};
use pilote_size::{Bytes, Origin};

use super::fixtures::{
    GgufFile, Held, TRANSFORMERS, built, encode, folder, generate, llama_cpp, safetensors, vllm,
};

const TABLE: &str = include_str!("../data/sizing-faults.tsv");

/// The right answer of the row with a symptom, which is what tells the rows apart.
fn answer(symptom: &str) -> &'static str {
    let row = TABLE.lines().skip(1).find(|line| line.split('\t').nth(1) == Some(symptom));
    row.and_then(|line| line.split('\t').nth(2)).unwrap_or_else(|| panic!("no row says `{symptom}`"))
}

macro_rules! rows {
    ($($test:ident: $symptom:literal => $figures:expr;)*) => {
        $(#[test] fn $test() {
            for figure in $figures {
                let figure = figure.to_string();
                assert!(answer($symptom).contains(&figure), "{figure} is not in: {}", answer($symptom));
            }
        })*
        const TESTED: &[&str] = &[$($symptom),*];
    };
}

#[test]
fn every_row_of_the_table_has_a_test() {
    for line in TABLE.lines().skip(1) {
        let symptom = line.split('\t').nth(1).unwrap();
        assert!(TESTED.contains(&symptom), "no test for {symptom}");
    }
    assert_eq!(TABLE.lines().skip(1).count(), TESTED.len());
}

rows! {
    a_16_bit_model_is_not_halved: "fp16 row shows 64.73 instead of ~140 GB" => weights_of_llama_70b();
    the_reserve_is_not_the_need: "estimate far below nvidia-smi during vLLM run" => reserved_pool();
    an_encoder_is_charged_no_cache: "nonuma 9.88 GB vs 1.7-6 GB used" => encoder_cache();
    the_buffer_grows_with_ubatch: "estimated 954.5 MiB, used 4158 MiB with ubatch 8192" => micro_batch();
    both_cache_buffers_count: "second KV buffer overwrote first under same key" => two_buffers();
    key_and_value_widths_differ: "KV uses embedding_length/head_count; compute buffer absent (2.4 GB)" => asymmetric();
    windows_and_latents_are_not_flat: "flat formula off by up to 100x" => not_flat();
    an_unknown_type_is_no_crash: "crash on new safetensors dtype" => new_types();
    gib_is_not_printed_as_gb: "GiB printed as GB" => [Bytes(16_060_522_496).in_gb(), Bytes(16_060_522_496).in_gib()];
    all_experts_are_in_memory: "122B-A10B judged 33 GB, needs 70-75" => all_experts();
    the_context_is_the_task_s: "26.3 GB for a 5.3 GB file: KV at full 262144 context" => contexts();
    experts_and_head_count: "Mixtral read as ~13B" => heads_and_experts();
    a_block_is_no_element: "bytes per block used as bytes per element: 32x" => block_caches();
    what_others_use_is_gone: "uses total instead of initially free memory" => free_memory();
    fitting_states_its_headroom: "OOM in capture at util 0.98" => headroom();
    the_lines_add_up: "suggestion too small" => lines_of_the_budget();
    the_formula_is_printed: "multipliers undocumented, ZeRO-2 gradients not partitioned" => zero_2();
    a_tied_head_counts_only_if_stored: "shared embedding subtracted twice" => tied();
    logits_of_a_long_prompt: "49 GB allocation at 32k tokens" => {
        let bytes = Bytes(logits_bytes(32_768, 151_936));
        [bytes.0.to_string(), bytes.in_gib()]
    };
    logits_of_a_training_step: "OOM" => [logits_bytes(8192, 128_256)];
    memory_is_per_card: "22 GB reported; multi-card total given as unit" => per_card();
    a_slice_is_sized_as_a_slice: "parent 40 GB reported for a 20 GB slice" => slice();
    the_cache_depends_on_the_engine: "697.66 GiB at ctx 65536" => layouts();
    no_bytes_per_token_for_hybrids: "logged token count is concurrency x max_model_len" => hybrid();
}

fn weights_of_llama_70b() -> [String; 2] {
    let facts = read(&folder("llama-3.1-70b", 30)).unwrap();
    let estimate = estimate(&facts, &generate(vllm(8192), 4096, 1)).unwrap();
    let figure = estimate.shares[0].part(PartKind::Weights).unwrap().clone();
    assert_eq!(figure.origin, Origin::Read);
    let bytes = figure.bytes().unwrap();
    [bytes.to_string(), Bytes(bytes).in_gib()]
}

fn reserved_pool() -> [String; 1] {
    let facts = read(&folder("llama-3.1-8b", 4)).unwrap();
    let estimate = estimate(&facts, &generate(vllm(2048), 8192, 4)).unwrap();
    let pool = budget(Bytes::gib(80), Bytes(0), 900);
    let lines = reserve(pool, &estimate.shares[0]).unwrap();
    assert_eq!(lines.budget, pool, "whatever the model is");
    assert_eq!(lines.weights, Bytes(16_060_522_496));
    assert_eq!(lines.cache_needed, Some(Bytes::gib(4)));
    [format!("{:.1} GiB", pool.0 as f64 / f64::from(1 << 30))]
}

fn encoder_cache() -> [String; 1] {
    let mixers = built("all-minilm-l6-v2").mixers.unwrap();
    let figure = cache(&encode(TRANSFORMERS, 32, 512), &mixers);
    assert_eq!(figure.origin, Origin::Computed);
    [format!("encoder -> KV {}", figure.bytes().unwrap())]
}

fn micro_batch() -> [String; 1] {
    let built = built("llama-3.1-8b");
    let at = |ubatch| temporaries(&generate(llama_cpp(Some(ubatch)), 8192, 1), &built).amount.unwrap().high.0;
    let unknown = temporaries(&generate(llama_cpp(None), 8192, 1), &built);
    assert_eq!((unknown.origin, unknown.amount), (Origin::Unknown, None));
    assert!(unknown.basis.contains("ubatch"), "{}", unknown.basis);
    [format!("{}x rows", at(8192) / at(512))]
}

fn two_buffers() -> [String; 4] {
    let built = built("gemma-3-4b");
    let (full, windowed): (Vec<Mixer>, Vec<Mixer>) = built
        .mixers
        .unwrap()
        .into_iter()
        .partition(|mixer| matches!(mixer, Mixer::Attention { window: None, .. }));
    let task = generate(llama_cpp(Some(512)), 131_072, 1);
    let mib = |mixers: &[Mixer]| cache(&task, mixers).bytes().unwrap() >> 20;
    let both: Vec<Mixer> = full.iter().chain(&windowed).cloned().collect();
    [
        format!("{} MiB full ({} layers)", mib(&full), full.len()),
        format!("{} MiB SWA ({} layers", mib(&windowed), windowed.len()),
        format!("= {} MiB", mib(&both)),
        "x1536 cells".to_owned(),
    ]
}

/// A GGUF of 27 layers with 16 heads whose keys and values differ in width.
fn asymmetric() -> [String; 1] {
    let file = GgufFile::default()
        .text("general.architecture", "deepseek2")
        .int("deepseek2.block_count", 27)
        .int("deepseek2.embedding_length", 2048)
        .int("deepseek2.attention.head_count", 16)
        .int("deepseek2.attention.head_count_kv", 16)
        .int("deepseek2.attention.key_length", 192)
        .int("deepseek2.attention.value_length", 128)
        .tensor("token_embd.weight", &[2048, 32], 12, 2048 * 32 / 256 * 144);
    let facts = read(&file.held()).unwrap();
    let mixers = facts.architecture.unwrap().mixers.unwrap();
    let bytes = growth_per_token(&generate(llama_cpp(Some(512)), 1, 1), &mixers).unwrap();
    [format!("{bytes} B/token")]
}

fn not_flat() -> [String; 2] {
    let gemma =
        cache(&generate(TRANSFORMERS, 32_768, 1), &built("gemma-3-1b").mixers.unwrap()).bytes().unwrap();
    let deepseek =
        growth_per_token(&generate(vllm(2048), 1, 1), &built("deepseek-v3").mixers.unwrap()).unwrap();
    [format!("{} MiB", gemma >> 20), format!("{deepseek} B/token")]
}

fn new_types() -> [String; 1] {
    let (head, length) = safetensors(&[("scale".into(), "F8_E8M0", vec![56, 112])]);
    let known = read(&Held::default().with_length("model.safetensors", head.clone(), length)).unwrap();
    assert!(known.notes.is_empty(), "{:?}", known.notes);
    let text = String::from_utf8_lossy(&head[8..]).replace("F8_E8M0", "F9_E9M9");
    let mut unknown = (text.len() as u64).to_le_bytes().to_vec();
    unknown.extend(text.as_bytes());
    let unknown = read(&Held::default().with_length("model.safetensors", unknown, length)).unwrap();
    assert_eq!(unknown.weight_bytes, known.weight_bytes);
    assert!(unknown.notes[0].contains("F9_E9M9"), "{:?}", unknown.notes);
    [format!("{} B via data_offsets", known.weight_bytes.unwrap())]
}

fn all_experts() -> [u64; 3] {
    let facts = read(&folder("mixtral-8x7b", 19)).unwrap();
    let active = layout::active_parameters(facts.architecture.as_ref().unwrap()).unwrap();
    let estimate = estimate(&facts, &generate(vllm(2048), 4096, 1)).unwrap();
    let weights = estimate.shares[0].part(PartKind::Weights).unwrap().bytes().unwrap();
    [weights, facts.parameters.unwrap(), active]
}

fn contexts() -> [String; 2] {
    let mixers = built("llama-3.1-8b").mixers.unwrap();
    let gib = |tokens| cache(&generate(vllm(2048), tokens, 1), &mixers).bytes().unwrap() >> 30;
    [format!("8192 -> {} GiB", gib(8192)), format!("131072 -> {} GiB", gib(131_072))]
}

fn heads_and_experts() -> [u64; 3] {
    let tied = Architecture { tied: Some(true), ..built("llama-3.1-8b") };
    [
        layout::parameters(&built("mixtral-8x7b")).unwrap(),
        layout::parameters(&built("llama-3.1-8b")).unwrap(),
        layout::parameters(&tied).unwrap(),
    ]
}

fn block_caches() -> [String; 2] {
    let mixers = built("llama-3.1-8b").mixers.unwrap();
    ["q8_0", "q4_0"].map(|kind| {
        let task = Task { cache: CacheType::named(kind).unwrap(), ..generate(llama_cpp(Some(512)), 8192, 1) };
        let bytes = cache(&task, &mixers).bytes().unwrap();
        format!("{bytes} B ({} MiB)", bytes >> 20)
    })
}

fn free_memory() -> [String; 1] {
    [format!("budget {} MiB", budget(Bytes::mib(24_564), Bytes::mib(2000), 1000).0 >> 20)]
}

/// What a trial measured, as the verdict takes it.
fn peak(bytes: Bytes, tokens: u64) -> Measured {
    let peak = Peak { part: None, bytes, tokens_at_once: Some(tokens), longest_tokens: None, readings: 3 };
    Measured {
        trial: "2026-11-30T181502Z-pilot".into(),
        backend: Backend::Cuda,
        card: None,
        peaks: vec![peak],
        floor: None,
    }
}

fn headroom() -> [String; 1] {
    let facts = read(&folder("llama-3.1-8b", 4)).unwrap();
    let task = generate(vllm(2048), 4096, 1);
    let estimate = estimate(&facts, &task).unwrap();
    let card = Bytes::gib(24);
    let measured = peak(card.per_mille(980), 2048);
    match verdict(&estimate, &task, Some(&measured), card, 5) {
        Verdict::NoMargin { headroom, margin, .. } => {
            assert!(margin > headroom);
            [headroom.in_gib()]
        }
        other => panic!("{other:?}"),
    }
}

fn lines_of_the_budget() -> [String; 1] {
    let facts = read(&folder("llama-3.1-8b", 4)).unwrap();
    let estimate = estimate(&facts, &generate(vllm(2048), 8192, 8)).unwrap();
    let lines = reserve(budget(Bytes::mib(24_564), Bytes(0), 900), &estimate.shares[0]).unwrap();
    assert_eq!(lines.weights + lines.working + lines.runtime + lines.cache, lines.budget);
    let share = &estimate.shares[0];
    let sum: Bytes = share.parts.iter().filter_map(|part| part.figure.amount).map(|amount| amount.high).sum();
    assert_eq!(sum, share.known.high, "the lines shown add up to the total shown");
    ["= budget".to_owned()]
}

fn zero_2() -> [String; 2] {
    let (head, length) = safetensors(&[("weights".into(), "BF16", vec![2_851_000_000])]);
    let facts = read(&Held::default().with_length("model.safetensors", head, length)).unwrap();
    let work = Work::Train {
        batch: 1,
        tokens: 512,
        recipe: Recipe::MixedAdam,
        method: Method::Full,
        sharding: Sharding::Zero { stage: 2, cards: 8 },
        recompute: Recompute::Nothing,
    };
    let estimate = estimate(&facts, &Task { work, ..generate(TRANSFORMERS, 1, 1) }).unwrap();
    let share = &estimate.shares[0];
    let of = |kind| share.part(kind).unwrap().bytes().unwrap();
    let sum = of(PartKind::Weights) + of(PartKind::Gradients) + of(PartKind::Optimizer);
    let formula = &share.part(PartKind::Optimizer).unwrap().basis;
    assert_eq!(formula, "(4 master + 8 states + 4 gradients) bytes x 2851000000 parameters / 8 cards");
    [sum.to_string(), Bytes(sum).in_gib()]
}

fn tied() -> [u64; 3] {
    let built = built("gemma-2-9b");
    let shapes = layout::tensors(&built).unwrap();
    let mut tensors: Vec<_> = shapes.into_iter().map(|tensor| (tensor.name, "BF16", tensor.shape)).collect();
    let of = |tensors: &[_]| {
        let (head, length) = safetensors(tensors);
        read(&Held::default().with_length("model.safetensors", head, length)).unwrap()
    };
    let shared = of(&tensors);
    tensors.push(("lm_head.weight".into(), "BF16", vec![256_000, 3584]));
    let stored = of(&tensors);
    [
        shared.parameters.unwrap(),
        shared.weight_bytes.unwrap(),
        stored.parameters.unwrap() - shared.parameters.unwrap(),
    ]
}

fn per_card() -> [String; 1] {
    let cards = Cards::built_in().unwrap();
    let b200 = cards.named("B200").unwrap();
    assert_eq!(
        Holding::whole(b200.clone()).budget(&TRANSFORMERS),
        b200.memory(),
        "one card is what a program has"
    );
    [format!("lot of {} x B200 shows {} x per-card", b200.per_lot, b200.memory_of_lot().0 / b200.memory().0)]
}

fn slice() -> [String; 1] {
    let cards = Cards::built_in().unwrap();
    let parent = cards.named("A100 40").unwrap().clone();
    let facts = pilote_spec::CardFacts {
        name: "NVIDIA A100-SXM4-40GB MIG 3g.20gb".into(),
        uuid: None,
        memory_bytes: Some(Bytes::mib(19_968).0),
        driver: None,
    };
    let slice = Holding::found(&facts, &cards, Backend::Cuda, Bytes(0)).unwrap();
    assert_eq!(slice.budget(&TRANSFORMERS), Bytes::mib(19_968));
    assert!(slice.budget(&TRANSFORMERS) < parent.memory());
    ["against the slice".to_owned()]
}

fn layouts() -> [String; 4] {
    let mixers = built("deepseek-v3").mixers.unwrap();
    let per_token = |latent| {
        let engine = Engine::LlamaCpp { ubatch: Some(512), latent, fused: true };
        growth_per_token(&generate(engine, 1, 1), &mixers).unwrap()
    };
    assert_eq!(
        per_token(LatentCache::Latent),
        growth_per_token(&generate(vllm(2048), 1, 1), &mixers).unwrap()
    );
    let q8 = Task { cache: CacheType::named("q8_0").unwrap(), ..generate(llama_cpp(Some(512)), 32_768, 1) };
    let q8 = cache(&q8, &mixers).bytes().unwrap();
    [
        format!("decompressed llama.cpp {} B/token", per_token(LatentCache::Decompressed)),
        format!("MLA K+V {}", per_token(LatentCache::KeyAndValue)),
        format!("vLLM {}", per_token(LatentCache::Latent)),
        format!("{q8} B ({} logged)", Bytes(q8).in_mib()),
    ]
}

fn hybrid() -> [String; 1] {
    let mixers = built("qwen3-next-80b").mixers.unwrap();
    assert_eq!(growth_per_token(&generate(vllm(2048), 4096, 1), &mixers), None);
    let plain = built("llama-3.1-8b").mixers.unwrap();
    assert!(growth_per_token(&generate(vllm(2048), 4096, 1), &plain).is_some());
    ["Never derive bytes/token".to_owned()]
}
