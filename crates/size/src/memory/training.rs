//! What training keeps: gradients, master weights, optimizer states, activations and logits, and how sharding
//! shares them out.

use super::task::{Method, Recipe, Recompute, Sharding};
use super::temporaries::logits_bytes;
use super::{Part, PartKind};
use crate::model::{Architecture, ModelFacts, layout};
use crate::{Amount, Figure, SizeError};

/// The spread of the estimate of training activations to either side, in per cent.
pub const ACTIVATIONS_SPREAD: u32 = 25;

/// Bytes of a trained adapter's parameter: weight, gradient and two Adam states, all in 32 bits.
const ADAPTER_PARAMETER: u64 = 16;

/// Bytes kept for the backward pass of one layer in 16 bits (Korthikanti et al. 2022, equations 1 to 3):
/// `s b h (34 + 5 a s / h)` when nothing is computed again, `34 s b h` when the scores are, `2 s b h` when
/// everything but the input of the layer is.
#[must_use]
pub fn activations_of_layer(sequence: u64, batch: u64, hidden: u64, heads: u64, how: Recompute) -> u64 {
    let vectors = sequence.saturating_mul(batch).saturating_mul(hidden);
    match how {
        Recompute::Nothing => {
            let scores = [5, heads, sequence, sequence, batch].into_iter().fold(1, u64::saturating_mul);
            vectors.saturating_mul(34).saturating_add(scores)
        }
        Recompute::Selective => vectors.saturating_mul(34),
        Recompute::Full => vectors.saturating_mul(2),
    }
}

/// The parts that training adds or changes. `weights` are those that the base takes when it is only read.
///
/// # Errors
/// When an adapter's modules are not found in a family whose tensors are known.
pub(super) fn parts(
    facts: &ModelFacts,
    recipe: Recipe,
    method: &Method,
    sharding: Sharding,
    weights: Figure,
) -> Result<Vec<Part>, SizeError> {
    match method {
        Method::Full => Ok(full(facts, recipe, sharding)),
        Method::Lora { rank, modules } => lora(facts, *rank, modules, weights),
    }
}

fn lora(facts: &ModelFacts, rank: u64, modules: &[String], weights: Figure) -> Result<Vec<Part>, SizeError> {
    let built = facts.architecture.as_ref();
    let known = built.and_then(layout::tensors).is_some();
    let count = built.and_then(|built| layout::lora_parameters(built, rank, modules));
    if known && count.is_none() {
        return Err(SizeError::NotAllowed {
            field: "adapter modules",
            value: modules.join(","),
            allowed: "none of them is a matrix of this model; try q_proj, k_proj, v_proj, o_proj".to_owned(),
        });
    }
    let states = count.map_or_else(
        || Figure::unknown("the tensors of this family are not known here: measure the peak in the pilot"),
        |count| {
            let basis = format!(
                "{count} adapter parameters x {ADAPTER_PARAMETER} bytes: weight, gradient, 2 Adam states"
            );
            Figure::computed(count.saturating_mul(ADAPTER_PARAMETER), basis)
        },
    );
    Ok(vec![Part::new(PartKind::Weights, weights), Part::new(PartKind::Adapter, states)])
}

fn full(facts: &ModelFacts, recipe: Recipe, sharding: Sharding) -> Vec<Part> {
    let Some(parameters) = facts.parameters else {
        let missing = || Figure::unknown("the number of parameters is not in the model's files");
        return [PartKind::Weights, PartKind::Gradients, PartKind::Optimizer]
            .map(|kind| Part::new(kind, missing()))
            .into();
    };
    let each = recipe.per_parameter();
    // Adafactor keeps a value a row and a column of each matrix instead of two a parameter.
    let states = each.states.map_or_else(|| factored_states(facts), |bytes| bytes.saturating_mul(parameters));
    let master = each.master.saturating_mul(parameters);
    let (weights, gradients) = (each.weight * parameters, each.gradient * parameters);
    let optimizer = master.saturating_add(states);
    let formula = |what: &str, how: &str| format!("{what} x {parameters} parameters{how}");
    let (w, g) = (format!("{} bytes", each.weight), format!("{} bytes", each.gradient));
    let s = match each.states {
        Some(states) => format!("({} master + {states} states) bytes", each.master),
        None => "4 bytes a row and a column of each matrix, in place of states".to_owned(),
    };
    let part = |kind, bytes, basis| Part::new(kind, Figure::computed(bytes, basis));
    match sharding {
        Sharding::Whole => vec![
            part(PartKind::Weights, weights, formula(&w, "")),
            part(PartKind::Gradients, gradients, formula(&g, "")),
            part(PartKind::Optimizer, optimizer, formula(&s, "")),
        ],
        Sharding::Zero { stage: 1, cards } => {
            let shared = optimizer.div_ceil(u64::from(cards));
            vec![
                part(PartKind::Weights, weights, formula(&w, "")),
                part(PartKind::Gradients, gradients, formula(&g, "")),
                part(PartKind::Optimizer, shared, formula(&s, &format!(" / {cards} cards, ZeRO-1"))),
            ]
        }
        Sharding::Zero { stage: 2, cards } => {
            // DeepSpeed's own formula, 4 P + 16 P / N for mixed precision: 16-bit gradients are whole while they
            // are reduced, and the shared-out 16 also hold 32-bit gradients.
            let shared = optimizer.saturating_add(4 * parameters).div_ceil(u64::from(cards));
            let basis = formula(
                &format!("({s} + 4 gradients)"),
                &format!(" / {cards} cards, ZeRO-2 as DeepSpeed documents it"),
            );
            vec![
                part(PartKind::Weights, weights, formula(&w, "")),
                part(PartKind::Gradients, gradients, formula(&g, ", whole while they are reduced")),
                part(PartKind::Optimizer, shared, basis),
            ]
        }
        Sharding::Zero { cards, .. } | Sharding::Fsdp { cards } => {
            let cards64 = u64::from(cards);
            let over = format!(" / {cards} cards");
            let gradients = (4 * parameters).max(gradients);
            let mut parts = vec![
                part(PartKind::Weights, weights.div_ceil(cards64), formula(&w, &over)),
                part(PartKind::Gradients, gradients.div_ceil(cards64), formula("4 bytes", &over)),
                part(PartKind::Optimizer, optimizer.div_ceil(cards64), formula(&s, &over)),
            ];
            parts.push(Part::new(PartKind::Unsharded, largest_unit(facts)));
            parts
        }
    }
}

/// States of Adafactor without momentum: 4 bytes for each row and column of a matrix, and for each value of the rest.
fn factored_states(facts: &ModelFacts) -> u64 {
    let shapes: Vec<Vec<u64>> = if facts.tensors.all.is_empty() {
        let expected = facts.architecture.as_ref().and_then(layout::tensors).unwrap_or_default();
        expected.into_iter().map(|tensor| tensor.shape).collect()
    } else {
        facts.tensors.all.iter().map(|tensor| tensor.shape.clone()).collect()
    };
    let of = |shape: &Vec<u64>| match shape[..] {
        [.., rows, columns] => {
            let matrices: u64 =
                shape[..shape.len() - 2].iter().fold(1, |all, size| all.saturating_mul(*size));
            rows.saturating_add(columns).saturating_mul(matrices)
        }
        _ => shape.iter().fold(1_u64, |all, size| all.saturating_mul(*size)),
    };
    shapes.iter().map(of).fold(0, u64::saturating_add).saturating_mul(4)
}

/// The largest group of tensors that is gathered at once: a layer or an embedding, weights and gradients in 16 bits.
fn largest_unit(facts: &ModelFacts) -> Figure {
    let mut units = std::collections::BTreeMap::<String, u64>::new();
    let mut add = |name: &str, values: u64| {
        let unit =
            super::spread::layer_of(name).map_or_else(|| name.to_owned(), |layer| format!("layer {layer}"));
        let sum = units.entry(unit).or_default();
        *sum = sum.saturating_add(values);
    };
    if facts.tensors.all.is_empty() {
        let expected = facts.architecture.as_ref().and_then(layout::tensors).unwrap_or_default();
        expected.iter().for_each(|tensor| add(&tensor.name, tensor.weights()));
    } else {
        facts.tensors.all.iter().for_each(|tensor| add(&tensor.name, tensor.values));
    }
    match units.values().max() {
        Some(largest) => Figure::computed(
            largest.saturating_mul(4),
            format!("4 bytes x {largest} parameters of the largest layer"),
        ),
        None => Figure::unknown("the layers' sizes are not in the model's files"),
    }
}

/// Activations of all layers on one card.
pub(super) fn activations(built: &Architecture, batch: u64, tokens: u64, how: Recompute) -> Figure {
    let (Some(hidden), Some(heads), Some(layers)) = (built.hidden, built.heads, built.layers) else {
        return Figure::unknown(
            "width, heads or layers are not in the model's files: measure the peak in the pilot",
        );
    };
    let one = activations_of_layer(tokens, batch, hidden, heads, how);
    let mut all = one.saturating_mul(layers);
    let mut basis = format!(
        "{layers} layers x {one} bytes (sequence {tokens}, batch {batch}, hidden {hidden}, {heads} heads)"
    );
    if how == Recompute::Full {
        // While a layer is computed again, its own activations are all alive.
        all = all.saturating_add(activations_of_layer(tokens, batch, hidden, heads, Recompute::Selective));
        basis.push_str(" + one layer that is computed again");
    }
    basis.push_str(&format!(", within {ACTIVATIONS_SPREAD} %"));
    Figure::estimated(Amount::about(all, ACTIVATIONS_SPREAD), basis)
}

/// Logits of all tokens: at least one copy in 32 bits, with its gradient and a 16-bit one up to two and a half.
pub(super) fn logits(built: &Architecture, batch: u64, tokens: u64) -> Figure {
    let Some(vocabulary) = built.vocabulary else {
        return Figure::unknown("the field `vocab_size` is missing");
    };
    let rows = batch.saturating_mul(tokens);
    let one = logits_bytes(rows, vocabulary);
    let amount = Amount { low: crate::Bytes(one), high: crate::Bytes(one.saturating_mul(5) / 2) };
    let basis = format!(
        "{rows} tokens x vocabulary {vocabulary} x 4 bytes, 1 to 2.5 copies (logits, gradient, 16-bit copy)"
    );
    Figure::estimated(amount, basis)
}
