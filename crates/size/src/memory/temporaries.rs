//! What is computed and thrown away: inputs, activations of a forward pass, logits, kept outputs.
//!
//! Inputs, logits and kept outputs are exact. Temporaries depend on what a framework fuses and frees; they are a
//! model of the largest moment of one layer, with a stated spread that measurements are held against.

use super::task::{Backend, Engine, Precision, Task, Work};
use crate::model::{Architecture, Kind};
use crate::{Amount, Bytes, Figure, Said, said};

/// The spread of the estimate of temporaries to either side, in per cent.
pub const TEMPORARIES_SPREAD: u32 = 25;

/// `rows x vocabulary x 4`: one copy of the logits in 32 bits.
#[must_use]
pub fn logits_bytes(rows: u64, vocabulary: u64) -> u64 {
    rows.saturating_mul(vocabulary).saturating_mul(4)
}

/// A field of the model's files is absent, so that what depends on it is not known.
pub(super) fn field_missing(field: &str) -> Said {
    said!(
        "field-missing",
        "the field `{field}` is not in the model's files: measure the peak in the pilot",
        field = field
    )
}

fn ubatch_missing() -> Said {
    said!("ubatch-missing", "llama.cpp's buffer grows with --ubatch-size: give its ubatch for a bound")
}

/// Token numbers and mask as they lie on the device: two 8-byte values a token.
pub(super) fn inputs(task: &Task) -> Figure {
    let tokens = match &task.work {
        Work::Train { batch, tokens, .. } => batch.saturating_mul(*tokens),
        Work::Encode { .. } | Work::Generate { .. } => task.tokens_at_once().unwrap_or(0),
    };
    let basis = said!("inputs", "{tokens} tokens x 2 x 8 bytes: token numbers and mask", tokens = tokens);
    Figure::computed(tokens.saturating_mul(16), basis)
}

/// Bytes of a value that is computed with: as asked, else as the files declare, else 32 bits for what is built in.
pub(super) fn compute_bytes(task: &Task, built: &Architecture) -> u64 {
    match (task.precision, &task.engine) {
        (Some(precision), _) => precision.compute_bytes(),
        (None, Engine::Builtin | Engine::LlamaCpp { .. }) => 4,
        (None, _) if built.dtype.as_deref() == Some("float32") => 4,
        (None, _) => Precision::Half.compute_bytes(),
    }
}

/// The largest block, in bytes, that glibc's allocator serves from its heap once programs have freed such blocks
/// (`DEFAULT_MMAP_THRESHOLD_MAX` on 64 bits): larger ones go back to the system as soon as they are freed.
const HEAP_BLOCK_MAX: u64 = 32 << 20;

/// What a process of transformers on the processor keeps beside weights and vectors once it has computed: its objects
/// for the layers, the first and last pages of files, and buffers of its threads. A range that whole processes were in.
const KEPT_BESIDE: Amount = Amount { low: Bytes(8 << 20), high: Bytes(22 << 20) };

/// What is alive at the two largest moments of a layer, in vectors a token.
struct Moments {
    /// Around attention, vectors of the model's width.
    attention: u64,
    /// Around the feed-forward part, vectors of the model's width ...
    outer: u64,
    /// ... and of the inner width.
    inner: u64,
    /// Vectors of the model's width that the allocator keeps in holes of its heap on the processor.
    holes: u64,
}

/// The moments of a layer by engine and kind of model, from what their programs hold by name.
fn moments(task: &Task, kind: Kind) -> Moments {
    match (&task.engine, kind) {
        // The layer's input, queries, keys and values as one product until the layer ends, the result of attention
        // by sequence and once more joined; then the output beside the inner vector, which is changed in place.
        (Engine::Builtin, _) => Moments { attention: 6, outer: 6, inner: 1, holes: 1 },
        // The embeddings, which are held to the end, the layer's input, queries, keys, values and their result; then
        // the embeddings, the input and the result of attention, and the inner
        // vector before and after its activation. Both were counted with the allocations of PyTorch's profiler.
        (_, Kind::Encoder) => Moments { attention: 6, outer: 3, inner: 2, holes: 5 },
        // The same without the embeddings; a gated part has the gate, what it gates and their product.
        (_, _) => Moments { attention: 6, outer: 2, inner: 3, holes: 5 },
    }
}

/// The largest moment of one layer, with tables of scores, heads x tokens x tokens, where attention is not fused.
///
/// On the processor freed blocks below 32 MiB stay with the process, in holes that the wider inner
/// vectors do not fit into, and each layer's output leaves one hole more. There the vectors of both moments add up
/// instead of taking turns. PyTorch frees in another order than it allocates, so it leaves five holes; where inner
/// vectors are of such blocks too, later ones fill the holes, and one more of them stays. Beside that a process keeps
/// `KEPT_BESIDE`. What a process held depends on the shapes that it computed before: the same batch of 32 x 256 tokens
/// held 284 MiB above the floor as the first, and 372 MiB after others. The count stands between the two. With the
/// allocator told to give all blocks back (`MALLOC_MMAP_THRESHOLD_`), neither holes nor turns add up. Packed weights
/// and threads were not seen in these figures.
#[must_use]
pub fn temporaries(task: &Task, built: &Architecture) -> Figure {
    let Some(rows) = task.tokens_at_once() else {
        return Figure::unknown(ubatch_missing());
    };
    let (Some(hidden), Some(heads)) = (built.hidden, built.heads.or(Some(0))) else {
        return Figure::unknown(field_missing("hidden_size"));
    };
    let width = compute_bytes(task, built);
    let split = u64::from(task.spread.tensor);
    let wide = built.intermediate.or(built.experts.map(|experts| experts.intermediate));
    let Some(inner) = wide.map(|inner| inner.div_ceil(split)) else {
        return Figure::unknown(field_missing("intermediate_size"));
    };
    // A token of a mixture goes through several experts, whose inner vectors are alive together.
    let through = built.experts.map_or(inner, |experts| {
        inner.max(experts.intermediate.saturating_mul(experts.active).div_ceil(split))
    });
    let moments = moments(task, built.kind);
    let scores = scores(task, rows, heads.div_ceil(split));
    let vector = rows.saturating_mul(hidden).saturating_mul(width);
    let inner = rows.saturating_mul(through).saturating_mul(width);
    let keeps = |block: u64| task.backend == Backend::Cpu && block < HEAP_BLOCK_MAX;
    let fills = keeps(inner) && task.engine != Engine::Builtin;
    let holes = if fills { 0 } else { moments.holes };
    let outer = if keeps(vector) { moments.outer.max(moments.attention) + holes } else { moments.outer };
    let of_inner = moments.inner + u64::from(fills);
    let around_attention = vector.saturating_mul(moments.attention).saturating_add(scores);
    let around_inner = vector.saturating_mul(outer).saturating_add(inner.saturating_mul(of_inner));
    let is_worker = task.backend == Backend::Cpu && matches!(task.engine, Engine::Transformers { .. });
    let beside = if is_worker { KEPT_BESIDE } else { Amount::default() };
    let basis = said!(
        "temporaries",
        "largest moment of one layer: max({attention} x {vector} + {scores} of scores, {outer} x {vector} + {count} x {inner}) + up to {beside} kept, \
         from {rows} tokens of width {hidden} and inner width {through} in {width} bytes, within {spread} %",
        attention = moments.attention,
        vector = vector,
        scores = scores,
        beside = beside.high.0,
        outer = outer,
        count = of_inner,
        inner = inner,
        rows = rows,
        hidden = hidden,
        through = through,
        width = width,
        spread = TEMPORARIES_SPREAD,
    );
    let peak = Amount::about(around_attention.max(around_inner), TEMPORARIES_SPREAD);
    Figure::estimated(peak.plus(beside), basis)
}

/// Bytes of the tables of attention scores: none where attention is fused.
fn scores(task: &Task, rows: u64, heads: u64) -> u64 {
    let built = 2 * if task.precision == Some(Precision::Half) { 2_u64 } else { 4 };
    match (&task.engine, &task.work) {
        // Each thread has one sequence in hand, whose scores are changed in place.
        (Engine::Builtin, Work::Encode { batch, tokens, .. }) => {
            let sequences = task.threads.map_or(*batch, |threads| u64::from(threads).min(*batch));
            [sequences, heads, *tokens, *tokens, 4].into_iter().fold(1, u64::saturating_mul)
        }
        (Engine::Transformers { fused: false }, Work::Encode { batch, tokens, .. }) => {
            [*batch, heads, *tokens, *tokens, built].into_iter().fold(1, u64::saturating_mul)
        }
        (Engine::Builtin | Engine::Transformers { fused: false }, Work::Generate { tokens, concurrency }) => {
            [*concurrency, heads, *tokens, *tokens, built].into_iter().fold(1, u64::saturating_mul)
        }
        (Engine::LlamaCpp { fused: false, .. }, Work::Generate { tokens, .. }) => {
            [rows, *tokens, heads, 4].into_iter().fold(1, u64::saturating_mul)
        }
        _ => 0,
    }
}

/// The logits of a step, in 32 bits: one row a sequence while generating, one a token in llama.cpp's buffer.
pub(super) fn logits(task: &Task, built: &Architecture) -> Figure {
    let Work::Generate { concurrency, .. } = task.work else {
        return Figure::computed(0, said!("logits-none", "no logits: an encoder gives vectors"));
    };
    let Some(vocabulary) = built.vocabulary else {
        return Figure::unknown(field_missing("vocab_size"));
    };
    let rows = match task.engine {
        Engine::LlamaCpp { ubatch, .. } => match ubatch {
            Some(rows) => rows,
            None => return Figure::unknown(ubatch_missing()),
        },
        _ => concurrency,
    };
    let basis = said!(
        "logits",
        "{rows} rows x vocabulary {vocabulary} x 4 bytes, one copy",
        rows = rows,
        vocabulary = vocabulary
    );
    Figure::computed(logits_bytes(rows, vocabulary), basis)
}

/// Outputs that stay on the device until they are fetched: vectors in 32 bits, or token numbers of 8 bytes.
pub(super) fn kept_outputs(task: &Task, built: &Architecture) -> Figure {
    match task.work {
        Work::Encode { kept, .. } => match built.hidden {
            Some(hidden) => {
                let basis = said!(
                    "outputs-vectors",
                    "{kept} vectors x {hidden} x 4 bytes",
                    kept = kept,
                    hidden = hidden
                );
                Figure::computed(kept.saturating_mul(hidden).saturating_mul(4), basis)
            }
            None => Figure::unknown(field_missing("hidden_size")),
        },
        Work::Generate { tokens, concurrency } => {
            let basis = said!(
                "outputs-tokens",
                "{concurrency} x {tokens} token numbers x 8 bytes",
                concurrency = concurrency,
                tokens = tokens
            );
            Figure::computed(tokens.saturating_mul(concurrency).saturating_mul(8), basis)
        }
        Work::Train { .. } => Figure::computed(0, said!("outputs-none", "training keeps no outputs")),
    }
}
