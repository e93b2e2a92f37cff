//! The cache of keys and values: what each layer keeps, by engine, type, length and number of sequences.

use super::task::{CacheType, Engine, LatentCache, Task, Work};
use crate::model::Mixer;
use crate::{Amount, Figure, Said, said};

/// The cells that llama.cpp rounds a cache up to.
const LLAMA_CPP_CELLS: u64 = 256;

/// Bytes of the cache on one card over `mixers`, those of the layers that the card holds, with the heads that it
/// holds of each. Origin `computed`, except that the recurrent state of a state-space layer is 16 or 32 bits wide
/// depending on the engine's version, which makes it a range.
#[must_use]
pub fn cache(task: &Task, mixers: &[Mixer]) -> Figure {
    let Work::Generate { tokens, concurrency } = task.work else {
        return Figure::computed(0, said!("cache-not-kept", "no cache: this work keeps no keys and values"));
    };
    if mixers.iter().all(|mixer| *mixer == Mixer::Nothing) {
        return Figure::computed(0, said!("cache-encoder", "no cache: an encoder keeps no keys and values"));
    }
    let (mut fixed, mut low, mut high) = (0_u64, 0_u64, 0_u64);
    for mixer in mixers {
        match mixer {
            Mixer::Nothing => {}
            Mixer::State { convolution, recurrent } => {
                let convolution = convolution.saturating_mul(2);
                let at = |bytes: u64| convolution.saturating_add(recurrent.saturating_mul(bytes));
                low = low.saturating_add(at(2).saturating_mul(concurrency));
                high = high.saturating_add(at(4).saturating_mul(concurrency));
            }
            Mixer::Attention { window, .. } => {
                let Some(cells) = cells(&task.engine, tokens, concurrency, *window) else {
                    return Figure::unknown(said!(
                        "cache-ubatch",
                        "llama.cpp keeps a window plus --ubatch-size cells: give its ubatch"
                    ));
                };
                let bytes = cells.saturating_mul(bytes_per_token(task, mixer));
                fixed = fixed.saturating_add(bytes);
            }
            Mixer::Latent { .. } => {
                let cells = cells(&task.engine, tokens, concurrency, None).unwrap_or(0);
                fixed = fixed.saturating_add(cells.saturating_mul(bytes_per_token(task, mixer)));
            }
        }
    }
    if high == 0 {
        return Figure::computed(fixed, basis(task, tokens, concurrency, mixers));
    }
    let fixed = Amount::exactly(fixed);
    let states = Amount { low: crate::Bytes(low), high: crate::Bytes(high) };
    let mut basis = basis(task, tokens, concurrency, mixers);
    basis.text.push_str("; states of fixed size in 16 to 32 bits");
    if let Some(phrase) = &mut basis.phrase {
        phrase.code = "cache-and-states".to_owned();
    }
    Figure::estimated(fixed.plus(states), basis)
}

/// Cells of one layer over all sequences; none where the engine's setting that decides is not given.
fn cells(engine: &Engine, tokens: u64, concurrency: u64, window: Option<u64>) -> Option<u64> {
    let one = match (engine, window) {
        (Engine::Builtin | Engine::Transformers { .. }, None) => tokens,
        // A window is kept as a ring that holds no more than it.
        (Engine::Builtin | Engine::Transformers { .. }, Some(window)) => tokens.min(window),
        (Engine::Vllm { block, .. }, None) => tokens.div_ceil(*block).saturating_mul(*block),
        // A step may write its tokens before any page leaves the window, and a page may be half outside of it.
        (Engine::Vllm { block, batched_tokens, .. }, Some(window)) => {
            let held = (window - 1).saturating_add(*batched_tokens).min(tokens);
            (held.div_ceil(*block) + 1).saturating_mul(*block)
        }
        (Engine::LlamaCpp { .. }, None) => tokens.next_multiple_of(LLAMA_CPP_CELLS),
        (Engine::LlamaCpp { ubatch, .. }, Some(window)) => {
            tokens.min(window.saturating_add((*ubatch)?)).next_multiple_of(LLAMA_CPP_CELLS)
        }
    };
    Some(one.saturating_mul(concurrency))
}

/// Bytes that one layer keeps of one token.
#[must_use]
pub fn bytes_per_token(task: &Task, mixer: &Mixer) -> u64 {
    let of = |values: u64| task.cache.bytes_of(values);
    match mixer {
        Mixer::Attention { kv_heads, key_width, value_width, .. } => {
            of(kv_heads.saturating_mul(*key_width)).saturating_add(of(kv_heads.saturating_mul(*value_width)))
        }
        Mixer::Latent { rank, rope, heads, key_width, value_width } => match kept_of_latent(&task.engine) {
            LatentCache::Latent => of(rank.saturating_add(*rope)),
            LatentCache::KeyAndValue => of(rank.saturating_add(*rope)).saturating_add(of(*rank)),
            LatentCache::Decompressed => {
                of(heads.saturating_mul(*key_width)).saturating_add(of(heads.saturating_mul(*value_width)))
            }
        },
        Mixer::State { .. } | Mixer::Nothing => 0,
    }
}

/// What an engine keeps of latent attention: vLLM the latent vector, transformers keys and values of every head.
fn kept_of_latent(engine: &Engine) -> LatentCache {
    match engine {
        Engine::Vllm { .. } => LatentCache::Latent,
        Engine::Builtin | Engine::Transformers { .. } => LatentCache::Decompressed,
        Engine::LlamaCpp { latent, .. } => *latent,
    }
}

/// Bytes of all layers for one more token of one sequence while no window is full; none for a model with layers
/// of fixed state, where such a figure says nothing of the memory that is needed.
#[must_use]
pub fn growth_per_token(task: &Task, mixers: &[Mixer]) -> Option<u64> {
    if crate::model::layout::is_hybrid(mixers) {
        return None;
    }
    Some(mixers.iter().map(|mixer| bytes_per_token(task, mixer)).fold(0, u64::saturating_add))
}

fn basis(task: &Task, tokens: u64, concurrency: u64, mixers: &[Mixer]) -> Said {
    let layers = mixers.iter().filter(|mixer| !matches!(mixer, Mixer::Nothing | Mixer::State { .. })).count();
    let CacheType { values, bytes } = task.cache;
    let engine = match &task.engine {
        Engine::Builtin => "built-in engine",
        Engine::Transformers { .. } => "transformers",
        Engine::Vllm { .. } => "vLLM in whole pages",
        Engine::LlamaCpp { .. } => "llama.cpp in whole groups of 256 cells",
    };
    let mut said = said!(
        "cache",
        "{layers} layers x cells x (keys + values) x {bytes} bytes per {values} values, {concurrency} x {tokens} tokens",
        layers = layers,
        bytes = bytes,
        values = values,
        concurrency = concurrency,
        tokens = tokens,
    );
    said.text = format!("{}, {engine}", said.text.replace(" per 1 values", ""));
    if let Some(phrase) = &mut said.phrase {
        // Names of variants in message files have no dots.
        phrase.values.insert("engine".to_owned(), task.engine.name().replace('.', "-"));
    }
    said
}
