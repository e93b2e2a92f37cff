//! What is computed and thrown away: inputs, activations of a forward pass, logits, kept outputs.
//!
//! Inputs, logits and kept outputs are exact. Temporaries depend on what a framework fuses and frees; they are a
//! model of the largest moment of one layer, with a stated spread that measurements are held against.

use super::task::{Engine, Precision, Task, Work};
use crate::model::Architecture;
use crate::{Amount, Figure};

/// The spread of the estimate of temporaries to either side, in per cent.
pub const TEMPORARIES_SPREAD: u32 = 25;

/// `rows x vocabulary x 4`: one copy of the logits in 32 bits.
#[must_use]
pub fn logits_bytes(rows: u64, vocabulary: u64) -> u64 {
    rows.saturating_mul(vocabulary).saturating_mul(4)
}

/// Token numbers and mask as they lie on the device: two 8-byte values a token.
pub(super) fn inputs(task: &Task) -> Figure {
    let tokens = match &task.work {
        Work::Encode { batch, tokens, .. } | Work::Train { batch, tokens, .. } => {
            batch.saturating_mul(*tokens)
        }
        Work::Generate { .. } => task.tokens_at_once().unwrap_or(0),
    };
    let basis = format!("{tokens} tokens x 2 x 8 bytes: token numbers and mask");
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

/// The largest moment of one layer.
///
/// Around attention six vectors a token are alive (input, residual, queries, keys, values, result) and, where
/// attention is not fused, two tables of scores, heads x tokens x tokens. Around the feed-forward part it is two
/// vectors of the model's width and two or, where it is gated, three of the inner width.
#[must_use]
pub fn temporaries(task: &Task, built: &Architecture) -> Figure {
    let Some(rows) = task.tokens_at_once() else {
        return Figure::unknown("llama.cpp's buffer grows with --ubatch-size: give its ubatch for a bound");
    };
    let (Some(hidden), Some(heads)) = (built.hidden, built.heads.or(Some(0))) else {
        return Figure::unknown("the width of the model is not in its files: measure the peak in the pilot");
    };
    let width = compute_bytes(task, built);
    let split = u64::from(task.spread.tensor);
    let wide = built.intermediate.or(built.experts.map(|experts| experts.intermediate));
    let Some(inner) = wide.map(|inner| inner.div_ceil(split)) else {
        return Figure::unknown("the field `intermediate_size` is missing: measure the peak in the pilot");
    };
    // A token of a mixture goes through several experts, whose inner vectors are alive together.
    let through = built.experts.map_or(inner, |experts| {
        inner.max(experts.intermediate.saturating_mul(experts.active).div_ceil(split))
    });
    let gated: u64 = if built.kind == crate::model::Kind::Encoder { 2 } else { 3 };
    let scores = scores(task, rows, heads.div_ceil(split));
    let around_attention = rows.saturating_mul(6 * hidden).saturating_mul(width).saturating_add(scores);
    let around_inner = rows.saturating_mul((2 * hidden).saturating_add(gated.saturating_mul(through)));
    let peak = around_attention.max(around_inner.saturating_mul(width));
    let basis = format!(
        "largest moment of one layer: max({rows} rows x 6 x {hidden} x {width} + {scores} of scores, \
         {rows} rows x (2 x {hidden} + {gated} x {through}) x {width}), within {TEMPORARIES_SPREAD} %"
    );
    Figure::estimated(Amount::about(peak, TEMPORARIES_SPREAD), basis)
}

/// Bytes of the tables of attention scores: none where attention is fused.
fn scores(task: &Task, rows: u64, heads: u64) -> u64 {
    let built = 2 * if task.precision == Some(Precision::Half) { 2_u64 } else { 4 };
    match (&task.engine, &task.work) {
        (Engine::Builtin | Engine::Transformers { fused: false }, Work::Encode { batch, tokens, .. }) => {
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
        return Figure::computed(0, "no logits: an encoder gives vectors");
    };
    let Some(vocabulary) = built.vocabulary else {
        return Figure::unknown("the field `vocab_size` is missing");
    };
    let rows = match task.engine {
        Engine::LlamaCpp { ubatch, .. } => match ubatch {
            Some(rows) => rows,
            None => return Figure::unknown("llama.cpp's buffer grows with --ubatch-size: give its ubatch"),
        },
        _ => concurrency,
    };
    let basis = format!("{rows} rows x vocabulary {vocabulary} x 4 bytes, one copy");
    Figure::computed(logits_bytes(rows, vocabulary), basis)
}

/// Outputs that stay on the device until they are fetched: vectors in 32 bits, or token numbers of 8 bytes.
pub(super) fn kept_outputs(task: &Task, built: &Architecture) -> Figure {
    match task.work {
        Work::Encode { kept, .. } => match built.hidden {
            Some(hidden) => {
                let basis = format!("{kept} vectors x {hidden} x 4 bytes");
                Figure::computed(kept.saturating_mul(hidden).saturating_mul(4), basis)
            }
            None => Figure::unknown("the width of the vectors is not in the model's files"),
        },
        Work::Generate { tokens, concurrency } => {
            let basis = format!("{concurrency} sequences x {tokens} token numbers x 8 bytes");
            Figure::computed(tokens.saturating_mul(concurrency).saturating_mul(8), basis)
        }
        Work::Train { .. } => Figure::computed(0, "training keeps no outputs"),
    }
}
