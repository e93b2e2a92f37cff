//! What training keeps: gradients, master weights, optimizer states, activations and logits, and how sharding
//! shares them out.

use super::task::{Method, PerParameter, Recipe, Recompute, Sharding};
use super::temporaries::{field_missing, logits_bytes};
use super::{Part, PartKind};
use crate::model::{Architecture, ModelFacts, layout};
use crate::{Amount, Figure, Said, SizeError, said};

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
        || {
            Figure::unknown(said!(
                "family-unknown",
                "the tensors of this family are not known here: measure the peak in the pilot"
            ))
        },
        |count| {
            let basis = said!(
                "adapter",
                "{count} adapter parameters x {bytes} bytes: weight, gradient, 2 Adam states",
                count = count,
                bytes = ADAPTER_PARAMETER,
            );
            Figure::computed(count.saturating_mul(ADAPTER_PARAMETER), basis)
        },
    );
    Ok(vec![Part::new(PartKind::Weights, weights), Part::new(PartKind::Adapter, states)])
}

fn full(facts: &ModelFacts, recipe: Recipe, sharding: Sharding) -> Vec<Part> {
    let Some(parameters) = facts.parameters else {
        let missing = || {
            Figure::unknown(said!(
                "parameters-missing",
                "the number of parameters is not in the model's files"
            ))
        };
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
    let weight = |cards: u64| per_parameter("training-weights", each.weight, parameters, cards);
    let gradient = |bytes: u64, cards: u64| per_parameter("training-gradients", bytes, parameters, cards);
    let states = |gradients: u64, cards: u64| optimizer_basis(each, gradients, parameters, cards);
    let part = |kind, bytes, basis| Part::new(kind, Figure::computed(bytes, basis));
    match sharding {
        Sharding::Whole => vec![
            part(PartKind::Weights, weights, weight(1)),
            part(PartKind::Gradients, gradients, gradient(each.gradient, 1)),
            part(PartKind::Optimizer, optimizer, states(0, 1)),
        ],
        Sharding::Zero { stage: 1, cards } => {
            let cards = u64::from(cards);
            vec![
                part(PartKind::Weights, weights, weight(1)),
                part(PartKind::Gradients, gradients, gradient(each.gradient, 1)),
                part(PartKind::Optimizer, optimizer.div_ceil(cards), states(0, cards)),
            ]
        }
        Sharding::Zero { stage: 2, cards } => {
            // DeepSpeed's own formula, 4 P + 16 P / N for mixed precision: 16-bit gradients are whole while they
            // are reduced, and the shared-out 16 also hold 32-bit gradients.
            let cards = u64::from(cards);
            let shared = optimizer.saturating_add(4 * parameters).div_ceil(cards);
            vec![
                part(PartKind::Weights, weights, weight(1)),
                part(PartKind::Gradients, gradients, gradient(each.gradient, 1)),
                part(PartKind::Optimizer, shared, states(4, cards)),
            ]
        }
        Sharding::Zero { cards, .. } | Sharding::Fsdp { cards } => {
            let cards = u64::from(cards);
            let of_gradients = each.gradient.max(4);
            vec![
                part(PartKind::Weights, weights.div_ceil(cards), weight(cards)),
                part(
                    PartKind::Gradients,
                    (of_gradients * parameters).div_ceil(cards),
                    gradient(of_gradients, cards),
                ),
                part(PartKind::Optimizer, optimizer.div_ceil(cards), states(0, cards)),
                Part::new(PartKind::Unsharded, largest_unit(facts)),
            ]
        }
    }
}

fn per_parameter(code: &str, bytes: u64, parameters: u64, cards: u64) -> Said {
    let text = format!("{bytes} bytes x {parameters} parameters{}", over(cards));
    let values = [("bytes", bytes), ("parameters", parameters), ("cards", cards)];
    Said::new(code, text, values.map(|(name, value)| (name, value.to_string())))
}

/// The optimizer's states by the bytes of a parameter: master weights, states, and under ZeRO-2 32-bit gradients.
fn optimizer_basis(each: PerParameter, gradients: u64, parameters: u64, cards: u64) -> Said {
    let over = over(cards);
    let Some(states) = each.states else {
        let text = format!("4 bytes for each row and column of each matrix{over}");
        return Said::new("training-factored", text, [("cards", cards.to_string())]);
    };
    let master = each.master;
    let text = format!(
        "({master} master + {states} states + {gradients} gradients) bytes x {parameters} parameters{over}"
    );
    let values = [
        ("master", master),
        ("states", states),
        ("gradients", gradients),
        ("parameters", parameters),
        ("cards", cards),
    ];
    Said::new(
        "training-optimizer",
        text.replace(" + 0 gradients", ""),
        values.map(|(name, value)| (name, value.to_string())),
    )
}

fn over(cards: u64) -> String {
    if cards > 1 { format!(" / {cards} cards") } else { String::new() }
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
            said!("unsharded", "4 bytes x {largest} parameters of the largest layer", largest = largest),
        ),
        None => Figure::unknown(said!("layers-missing", "the layers' sizes are not in the model's files")),
    }
}

/// Activations of all layers on one card.
pub(super) fn activations(built: &Architecture, batch: u64, tokens: u64, how: Recompute) -> Figure {
    let (Some(hidden), Some(heads), Some(layers)) = (built.hidden, built.heads, built.layers) else {
        let fields = [
            ("hidden_size", built.hidden.is_none()),
            ("num_attention_heads", built.heads.is_none()),
            ("num_hidden_layers", built.layers.is_none()),
        ];
        let absent = fields.iter().find(|(_, absent)| *absent).map_or("hidden_size", |(name, _)| name);
        return Figure::unknown(field_missing(absent));
    };
    let one = activations_of_layer(tokens, batch, hidden, heads, how);
    let all = one.saturating_mul(layers);
    let mut basis = said!(
        "activations",
        "{layers} layers x {one} bytes ({batch} x {tokens} tokens, width {hidden}, {heads} heads), within {spread} %",
        layers = layers,
        one = one,
        batch = batch,
        tokens = tokens,
        hidden = hidden,
        heads = heads,
        spread = ACTIVATIONS_SPREAD,
    );
    if how != Recompute::Full {
        return Figure::estimated(Amount::about(all, ACTIVATIONS_SPREAD), basis);
    }
    // While a layer is computed again, its own activations are all alive.
    let again = activations_of_layer(tokens, batch, hidden, heads, Recompute::Selective);
    basis.text.push_str(", and one layer that is computed again");
    if let Some(phrase) = &mut basis.phrase {
        phrase.code = "activations-again".to_owned();
    }
    Figure::estimated(Amount::about(all.saturating_add(again), ACTIVATIONS_SPREAD), basis)
}

/// Logits of all tokens: at least one copy in 32 bits, with its gradient and a 16-bit one up to two and a half.
pub(super) fn logits(built: &Architecture, batch: u64, tokens: u64) -> Figure {
    let Some(vocabulary) = built.vocabulary else {
        return Figure::unknown(field_missing("vocab_size"));
    };
    let rows = batch.saturating_mul(tokens);
    let one = logits_bytes(rows, vocabulary);
    let amount = Amount { low: crate::Bytes(one), high: crate::Bytes(one.saturating_mul(5) / 2) };
    let basis = said!(
        "logits-training",
        "{rows} tokens x vocabulary {vocabulary} x 4 bytes, 1 to 2.5 copies (logits, gradient, 16-bit copy)",
        rows = rows,
        vocabulary = vocabulary,
    );
    Figure::estimated(amount, basis)
}
