//! Memory by part: sums, spreading over cards, training, and what is said where nothing is known.

use pilote_size::memory::{
    Backend, CacheType, Engine, Method, PartKind, Precision, Recipe, Recompute, Sharding, Spread, Task, Work,
    estimate, stages, temporaries,
};
use pilote_size::model::read;
use pilote_size::{Amount, Bytes, Origin};
use proptest::prelude::*;

use super::fixtures::{Held, TRANSFORMERS, config_text, encode, folder, generate, safetensors, vllm};

fn train(method: Method, sharding: Sharding) -> Task {
    let work = Work::Train {
        batch: 1,
        tokens: 4096,
        recipe: Recipe::MixedAdam,
        method,
        sharding,
        recompute: Recompute::Full,
    };
    Task { work, ..generate(TRANSFORMERS, 1, 1) }
}

proptest! {
    #[test]
    fn the_parts_shown_add_up_to_the_total_shown(tokens in 1_u64..100_000, concurrency in 1_u64..64, tensor in 0_u32..4) {
        let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
        let spread = Spread { tensor: 1 << tensor, pipeline: 1 };
        let task = Task { spread, ..generate(vllm(2048), tokens, concurrency) };
        for share in estimate(&facts, &task).unwrap().shares {
            let sum = share.parts.iter().filter_map(|part| part.figure.amount).fold(Amount::default(), Amount::plus);
            prop_assert_eq!(sum, share.known);
            let certain: Bytes = share.parts.iter().map(|part| part.figure.certain()).sum();
            prop_assert_eq!(certain, share.certain);
            prop_assert!(share.certain <= share.known.low);
        }
    }

    #[test]
    fn longer_and_more_sequences_never_need_less(tokens in 1_u64..50_000, concurrency in 1_u64..32) {
        let facts = read(&folder("mistral-7b-v0.1", 1)).unwrap();
        let at = |tokens, concurrency| {
            let share = estimate(&facts, &generate(vllm(2048), tokens, concurrency)).unwrap().shares.remove(0);
            share.part(PartKind::Cache).unwrap().amount.unwrap().high
        };
        prop_assert!(at(tokens, concurrency) <= at(tokens + 1, concurrency));
        prop_assert!(at(tokens, concurrency) <= at(tokens, concurrency + 1));
    }

    #[test]
    fn every_layer_is_in_exactly_one_stage(layers in 1_u64..200, pipeline in 1_u32..17) {
        let stages = stages(layers, pipeline);
        prop_assert_eq!(stages.len(), pipeline as usize);
        prop_assert_eq!(stages.last().unwrap().1, layers);
        prop_assert_eq!(stages[0].0, 0);
        prop_assert!(stages.windows(2).all(|pair| pair[0].1 == pair[1].0));
        let counts: Vec<u64> = stages.iter().map(|(first, end)| end - first).collect();
        prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
    }
}

#[test]
fn tensor_parallelism_divides_matrices_and_heads_and_keeps_norms_whole() {
    let facts = read(&folder("llama-3.1-8b", 4)).unwrap();
    let whole = estimate(&facts, &generate(vllm(2048), 8192, 1)).unwrap();
    let task = Task { spread: Spread { tensor: 4, pipeline: 1 }, ..generate(vllm(2048), 8192, 1) };
    let split = estimate(&facts, &task).unwrap();
    assert_eq!((split.shares.len(), split.shares[0].cards), (1, 4));
    let norms = (2 * 32 + 1) * 4096 * 2;
    let weights = split.shares[0].part(PartKind::Weights).unwrap();
    assert_eq!(weights.bytes(), Some((16_060_522_496 - norms) / 4 + norms));
    assert_eq!(weights.origin, Origin::Computed);
    let cache = |estimate: &pilote_size::memory::Estimate| {
        estimate.shares[0].part(PartKind::Cache).unwrap().bytes().unwrap()
    };
    assert_eq!(cache(&split), cache(&whole) / 4);
    let link = split.link.unwrap();
    assert!(link.direct);
    // 2 all-reduces in each of 32 layers, 4096 values of 2 bytes, 2 x 3/4 of them sent.
    assert_eq!(link.bytes_per_token, 2 * 32 * 4096 * 2 * 2 * 3 / 4);
}

#[test]
fn heads_fewer_than_cards_are_held_more_than_once() {
    let facts = read(&folder("qwen2.5-7b", 1)).unwrap();
    let at = |tensor| {
        let task = Task { spread: Spread { tensor, pipeline: 1 }, ..generate(vllm(2048), 1024, 1) };
        estimate(&facts, &task)
            .map(|estimate| estimate.shares[0].part(PartKind::Cache).unwrap().bytes().unwrap())
    };
    assert_eq!(at(4).unwrap(), 57_344 * 1024 / 4);
    let error = at(3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "number of heads (28) does not divide over 3 cards; take a number of cards that divides it"
    );
    let error = at(7).unwrap_err().to_string();
    assert!(
        error.contains("feed-forward width (18944)") || error.contains("key and value heads (4)"),
        "{error}"
    );
}

#[test]
fn a_latent_cache_is_whole_on_every_card() {
    let held = Held::default().with("config.json", config_text("deepseek-v3").into_bytes());
    let facts = read(&held).unwrap();
    let task = Task { spread: Spread { tensor: 8, pipeline: 1 }, ..generate(vllm(2048), 1024, 1) };
    let share = estimate(&facts, &task).unwrap().shares.remove(0);
    assert_eq!(share.part(PartKind::Cache).unwrap().bytes(), Some(70_272 * 1024));
}

#[test]
fn stages_hold_their_layers_and_together_all_weights() {
    let facts = read(&folder("llama-3.1-8b", 4)).unwrap();
    let task = Task { spread: Spread { tensor: 1, pipeline: 3 }, ..generate(vllm(2048), 4096, 1) };
    let estimate = estimate(&facts, &task).unwrap();
    let weights: u64 =
        estimate.shares.iter().map(|share| share.part(PartKind::Weights).unwrap().bytes().unwrap()).sum();
    assert_eq!(weights, 16_060_522_496, "an untied model is held once");
    assert!(estimate.shares[0].part(PartKind::Logits).is_none(), "logits are where the last layer is");
    assert!(!estimate.link.unwrap().direct);
    let too_many = Task { spread: Spread { tensor: 1, pipeline: 33 }, ..task };
    assert!(
        pilote_size::memory::estimate(&facts, &too_many)
            .unwrap_err()
            .to_string()
            .contains("number of layers (32)")
    );
}

#[test]
fn weights_held_in_another_type_are_computed_and_say_so() {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    let of = |precision| {
        let task = Task { precision: Some(precision), ..generate(TRANSFORMERS, 64, 1) };
        estimate(&facts, &task).unwrap().shares.remove(0).part(PartKind::Weights).unwrap().clone()
    };
    assert_eq!(
        (of(Precision::F32).bytes(), of(Precision::F32).origin),
        (Some(32_121_044_992), Origin::Computed)
    );
    assert_eq!(
        (of(Precision::Half).bytes(), of(Precision::Half).origin),
        (Some(16_060_522_496), Origin::Read)
    );
    // 6979321856 weights of matrices at 4.125 bits and a byte-quantised scale, the rest in 16 bits.
    let matrices = 6_979_321_856_u64;
    let nf4 = matrices / 2 + matrices / 64 + matrices / 64 / 256 * 4 + (8_030_261_248 - matrices) * 2;
    assert_eq!(of(Precision::Nf4).bytes(), Some(nf4));
}

#[test]
fn a_config_alone_gives_computed_weights_or_says_what_is_missing() {
    let weights = |text: String| {
        let facts = read(&Held::default().with("config.json", text.into_bytes())).unwrap();
        estimate(&facts, &generate(vllm(2048), 64, 1))
            .unwrap()
            .shares
            .remove(0)
            .part(PartKind::Weights)
            .unwrap()
            .clone()
    };
    let llama = weights(config_text("llama-3.1-8b"));
    assert_eq!((llama.bytes(), llama.origin), (Some(16_060_522_496), Origin::Computed));
    assert!(llama.basis.contains("8030261248 parameters by the build of llama x 2 bytes"), "{}", llama.basis);
    let untyped = weights(config_text("llama-3.1-8b").replace("torch_dtype", "other"));
    assert_eq!(untyped.origin, Origin::Unknown);
    assert!(untyped.basis.contains("torch_dtype"), "{}", untyped.basis);
    let unknown = weights(config_text("deepseek-v2"));
    assert!(unknown.basis.contains("give the folder of its weights"), "{}", unknown.basis);
}

#[test]
fn training_keeps_what_its_recipe_says() {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    let share = estimate(&facts, &train(Method::Full, Sharding::Whole)).unwrap().shares.remove(0);
    let of = |kind| share.part(kind).unwrap().bytes().unwrap();
    let states = of(PartKind::Weights) + of(PartKind::Gradients) + of(PartKind::Optimizer);
    assert_eq!(states, 128_484_179_968);
    assert_eq!(share.part(PartKind::Activations).unwrap().origin, Origin::Estimated);
    let logits = share.part(PartKind::Logits).unwrap().amount.unwrap();
    assert_eq!(logits.low.0, 4096 * 128_256 * 4);
    assert!(logits.high > logits.low, "training holds several copies");
}

#[test]
fn lora_reads_the_base_and_trains_the_adapter() {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    let modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
        .map(str::to_owned)
        .to_vec();
    let lora = Method::Lora { rank: 16, modules };
    let share = estimate(&facts, &train(lora, Sharding::Whole)).unwrap().shares.remove(0);
    let of = |kind| share.part(kind).unwrap().bytes().unwrap();
    assert_eq!(of(PartKind::Weights) + of(PartKind::Adapter), 16_731_611_136);
    assert!(share.part(PartKind::Gradients).is_none());
    let wrong = Method::Lora { rank: 16, modules: vec!["query_key_value".into()] };
    let error = estimate(&facts, &train(wrong, Sharding::Whole)).unwrap_err().to_string();
    assert!(error.contains("none of them is a matrix of this model"), "{error}");
}

#[test]
fn sharding_shares_out_what_it_says_and_adds_the_largest_layer() {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    let parameters = 8_030_261_248_u64;
    let share = |sharding| estimate(&facts, &train(Method::Full, sharding)).unwrap().shares.remove(0);
    let one = share(Sharding::Zero { stage: 1, cards: 8 });
    assert_eq!(one.part(PartKind::Optimizer).unwrap().bytes(), Some(12 * parameters / 8));
    assert_eq!(one.part(PartKind::Gradients).unwrap().bytes(), Some(2 * parameters));
    let three = share(Sharding::Zero { stage: 3, cards: 8 });
    assert_eq!(three.part(PartKind::Weights).unwrap().bytes(), Some(2 * parameters / 8));
    // The embedding of 128256 x 4096 is larger than a layer.
    assert_eq!(three.part(PartKind::Unsharded).unwrap().bytes(), Some(4 * 128_256 * 4096));
    assert_eq!(
        share(Sharding::Fsdp { cards: 8 }).part(PartKind::Unsharded).unwrap().bytes(),
        Some(4 * 128_256 * 4096)
    );
}

#[test]
fn adafactor_keeps_a_value_a_row_and_a_column() {
    let (head, length) = safetensors(&[("m".into(), "BF16", vec![100, 40]), ("b".into(), "BF16", vec![7])]);
    let facts = read(&Held::default().with_length("model.safetensors", head, length)).unwrap();
    let task = match train(Method::Full, Sharding::Whole) {
        Task {
            work: Work::Train { batch, tokens, method, sharding, recompute, .. },
            engine,
            backend,
            precision,
            cache,
            spread,
            threads,
        } => {
            let work =
                Work::Train { batch, tokens, recipe: Recipe::Bf16Adafactor, method, sharding, recompute };
            Task { work, engine, backend, precision, cache, spread, threads }
        }
        other => panic!("{other:?}"),
    };
    let share = estimate(&facts, &task).unwrap().shares.remove(0);
    assert_eq!(share.part(PartKind::Optimizer).unwrap().bytes(), Some((100 + 40 + 7) * 4));
}

#[test]
fn an_encoder_batch_is_estimated_with_its_spread_and_grows_with_its_scores() {
    let held = Held::default().with("config.json", config_text("all-minilm-l6-v2").into_bytes());
    let facts = read(&held).unwrap();
    let at = |engine: Engine, tokens| {
        let share = estimate(&facts, &encode(engine, 32, tokens)).unwrap().shares.remove(0);
        share.part(PartKind::Temporaries).unwrap().clone()
    };
    let fused = at(TRANSFORMERS, 256);
    let eager = at(Engine::Transformers { fused: false }, 256);
    assert_eq!(fused.origin, Origin::Estimated);
    assert!(
        eager.amount.unwrap().low > fused.amount.unwrap().high,
        "scores are kept where attention is not fused"
    );
    assert!(fused.basis.contains("within 25 %"), "{}", fused.basis);
    let doubled = at(TRANSFORMERS, 512).amount.unwrap().high.0;
    assert_eq!(doubled, fused.amount.unwrap().high.0 * 2);
}

#[test]
fn counts_that_no_task_can_have_are_refused_by_name() {
    let facts = read(&folder("llama-3.1-8b", 1)).unwrap();
    let said = |task: &Task| estimate(&facts, task).unwrap_err().to_string();
    assert!(said(&generate(vllm(2048), 0, 1)).starts_with("tokens: `0` is not allowed"));
    assert!(said(&generate(vllm(2048), 1, u64::MAX)).starts_with("concurrency"));
    assert!(
        said(&generate(Engine::Vllm { block: 0, batched_tokens: 1, utilisation: 900 }, 1, 1))
            .starts_with("block")
    );
    assert!(
        said(&generate(Engine::Vllm { block: 16, batched_tokens: 1, utilisation: 1001 }, 1, 1))
            .starts_with("utilisation")
    );
    assert!(said(&train(Method::Full, Sharding::Zero { stage: 4, cards: 2 })).contains("1, 2 or 3"));
    assert!(said(&train(Method::Full, Sharding::Fsdp { cards: 0 })).starts_with("cards: `0`"));
    assert!(CacheType::named("q9_9").unwrap_err().to_string().contains("q8_0"));
    let split = Task { spread: Spread { tensor: 0, pipeline: 1 }, ..generate(vllm(2048), 1, 1) };
    assert!(said(&split).starts_with("tensor parallelism"));
}

#[test]
fn an_encoder_on_the_processor_holds_what_its_allocator_keeps_too() {
    // MiB above the floor that whole processes of transformers held with all-MiniLM-L6-v2, which is 86.6 of them: the
    // batch computed first, and after batches of other shapes.
    let facts =
        read(&Held::default().with("config.json", config_text("all-minilm-l6-v2").into_bytes())).unwrap();
    let mut task = encode(TRANSFORMERS, 8, 128);
    task.backend = Backend::Cpu;
    task.precision = Some(Precision::F32);
    let cells = [
        (8, 128, [129.0, 140.8]),
        (8, 512, [185.0, 220.2]),
        (32, 256, [284.0, 372.4]),
        (64, 256, [572.0, 554.6]),
        (64, 512, [631.0, 631.0]),
    ];
    for (batch, tokens, measured) in cells {
        let Work::Encode { batch: held, tokens: longest, .. } = &mut task.work else { unreachable!() };
        (*held, *longest) = (batch, tokens);
        let amount = temporaries(&task, facts.architecture.as_ref().unwrap()).amount.unwrap();
        let mib = |bytes: u64| bytes as f64 / 1_048_576.0 + 86.6;
        let (low, high) = (mib(amount.low.0), mib(amount.high.0));
        let (middle, mean) = (f64::midpoint(low, high), f64::midpoint(measured[0], measured[1]));
        assert!((middle / mean - 1.0).abs() < 0.1, "{batch} x {tokens}: {middle} beside {mean}");
        for one in measured {
            assert!(low <= one && one <= high, "{batch} x {tokens}: {one} outside of {low} to {high}");
        }
    }
}

#[test]
fn where_a_configuration_names_no_type_the_stored_one_is_computed_in() {
    let read = |stored: &str, bytes: u64| {
        let header = format!(r#"{{"w":{{"dtype":"{stored}","shape":[4],"data_offsets":[0,{bytes}]}}}}"#);
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.bytes());
        file.extend(vec![0; bytes as usize]);
        let config = r#"{"model_type":"bert","hidden_size":4,"num_hidden_layers":1,"num_attention_heads":1}"#;
        let held = Held::default().with("config.json", config.into());
        read(&held.with("model.safetensors", file)).unwrap().architecture.unwrap().dtype
    };
    assert_eq!(read("F32", 16).as_deref(), Some("float32"));
    assert_eq!(read("BF16", 8).as_deref(), Some("bfloat16"));
    assert_eq!(read("I32", 16), None);
}
