//! The table of cards, and tables that add to it.

use pilote_size::cards::{Cards, Holding};
use pilote_size::memory::{Backend, Engine};
use pilote_size::precision::{Known, support};
use pilote_size::{Bytes, model::read};

use super::fixtures::{Held, TRANSFORMERS, config_text, folder, generate, vllm};

#[test]
fn the_built_in_table_names_its_sources_and_the_cards_asked_for() {
    let cards = Cards::built_in().unwrap();
    for name in
        ["RTX 4090", "RTX 5090", "L40S", "RTX 6000 Ada", "A100 80", "H100 80", "H200", "B200", "MI300X"]
    {
        let card = cards.named(name).unwrap();
        assert!(
            card.source.len() > 10 && card.capability.is_some() && card.bandwidth_gb_s.is_some(),
            "{name}"
        );
    }
    assert_eq!(cards.named("B200").unwrap().per_lot, 2);
    assert_eq!(cards.named("MI300X").unwrap().backend, Backend::Rocm);
    assert_eq!(cards.checked.len(), 10, "the day of the last check");
}

#[test]
fn a_card_is_found_by_the_name_that_its_driver_gives() {
    let cards = Cards::built_in().unwrap();
    for (found, name) in [
        ("NVIDIA H200", "H200"),
        ("nvidia geforce rtx 4090", "RTX 4090"),
        ("NVIDIA H100 80GB HBM3", "H100 80"),
        ("AMD Instinct MI300X", "MI300X"),
        ("rtx-5090", "RTX 5090"),
    ] {
        assert_eq!(cards.named(found).unwrap().name, name);
    }
    let error = cards.named("RTX 9999").unwrap_err().to_string();
    assert!(error.contains("`RTX 9999`") && error.contains("RTX 4090, RTX 5090"), "{error}");
}

const DESK: &str = r#"
format = "pilote.cards/1"
checked = "2026-11-30"
[[card]]
name = "rtx 4090"
memory_mib = 48000
memory_source = "driver"
backend = "cuda"
source = "the desk's own machines"
[[card]]
name = "House card"
memory_mib = 12288
memory_source = "nominal"
backend = "cuda"
source = "the desk"
"#;

#[test]
fn a_desk_s_table_overrides_by_name_and_adds() {
    let mut cards = Cards::built_in().unwrap();
    let before = cards.all.len();
    cards.override_with(Cards::parse("desk.toml", DESK).unwrap());
    assert_eq!(cards.all.len(), before + 1);
    assert_eq!(cards.named("RTX 4090").unwrap().memory(), Bytes::mib(48_000));
    assert_eq!(cards.named("house-card").unwrap().memory_mib, 12_288);
}

#[test]
fn a_table_that_cannot_be_meant_is_refused_with_its_place() {
    for (from, to, said) in [
        ("pilote.cards/1", "pilote.cards/2", "`pilote.cards/1` is read"),
        ("memory_mib = 48000", "memory_mib = 0", "a memory of 0 MiB is impossible"),
        ("memory_mib = 12288", "memory_mib = 12288\nper_lot = 0", "1 to 64 cards, not 0"),
        ("House card", "RTX-4090", "is there twice"),
        ("memory_mib = 48000", "memory = 48000", "unknown field `memory`"),
        ("backend = \"cuda\"", "backend = \"abacus\"", "unknown variant `abacus`"),
    ] {
        let error = Cards::parse("desk.toml", &DESK.replace(from, to)).unwrap_err().to_string();
        assert!(error.starts_with("desk.toml: ") && error.contains(said), "{to}: {error}");
    }
}

#[test]
fn a_card_that_no_table_knows_is_taken_as_its_driver_shows_it() {
    let facts = |memory| pilote_spec::CardFacts {
        name: "Card of tomorrow".into(),
        uuid: None,
        memory_bytes: memory,
        driver: None,
    };
    let cards = Cards::built_in().unwrap();
    let held = Holding::found(&facts(Some(Bytes::gib(40).0)), &cards, Backend::Cuda, Bytes::gib(3)).unwrap();
    assert_eq!(held.budget(&TRANSFORMERS), Bytes::gib(37));
    assert_eq!(held.budget(&vllm(2048)), Bytes::gib(36), "nine tenths are less than what is free");
    assert!(
        Holding::found(&facts(None), &cards, Backend::Cuda, Bytes(0)).is_none(),
        "an absent reading is not zero"
    );
}

#[test]
fn support_of_a_precision_is_told_known_or_unknown() {
    let cards = Cards::built_in().unwrap();
    let task = generate(vllm(2048), 4096, 1);
    let fp8 = Held::default().with("config.json", config_text("deepseek-v3").into_bytes());
    let fp8 = read(&fp8).unwrap();
    let on = |card: &str| support(&fp8, &task, cards.named(card).unwrap());
    assert_eq!((on("H100 80").engine, on("H100 80").card), (Known::Supported, Known::Supported));
    assert_eq!(on("A100 80").card, Known::NotSupported);
    assert_eq!(on("MI300X").card, Known::Supported);
    assert_eq!(on("RX 7900 XTX").card, Known::Unknown);
    assert!(on("H100 80").source.is_some());
    let bf16 = read(&folder("llama-3.1-8b", 1)).unwrap();
    let old = support(&bf16, &task, cards.named("T4").unwrap());
    assert_eq!((old.format.as_str(), old.card), ("bf16", Known::NotSupported));
    let reader = Engine::LlamaCpp { ubatch: None, latent: Default::default(), fused: false };
    let fp8_there = support(&fp8, &generate(reader, 1, 1), cards.named("H100 80").unwrap());
    assert_eq!(fp8_there.engine, Known::NotSupported);
}
