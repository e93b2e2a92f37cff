//! The memory of one representative task, by part and by card, each figure with its origin.

mod cache;
mod reserve;
mod spread;
mod task;
mod temporaries;
mod training;

use serde::{Deserialize, Serialize};

pub use cache::{bytes_per_token, cache, growth_per_token};
pub use reserve::{Reserve, budget, reserve};
pub use spread::{Link, bytes_on_card, layer_of, mixer_on_card, stages};
pub use task::{
    Backend, CacheType, Engine, LatentCache, Method, PerParameter, Precision, Recipe, Recompute, Sharding,
    Spread, Task, Work,
};
pub use temporaries::{TEMPORARIES_SPREAD, logits_bytes, temporaries};
pub use training::{ACTIVATIONS_SPREAD, activations_of_layer};

use crate::model::{Architecture, Kind, Mixer, ModelFacts, layout};
use crate::{Amount, Bytes, Figure, Said, SizeError, said};

/// The parts of memory, in the order in which people read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// The model's weights as they are held.
    Weights,
    /// An adapter, with its training states where it is trained.
    Adapter,
    /// Keys and values, or states, of earlier tokens.
    Cache,
    /// Token numbers and masks.
    Inputs,
    /// What a forward pass computes and throws away.
    Temporaries,
    /// What a forward pass keeps for the backward pass.
    Activations,
    /// Scores over the vocabulary.
    Logits,
    /// Outputs that wait to be fetched.
    KeptOutputs,
    /// Gradients.
    Gradients,
    /// Master weights and the optimizer's states.
    Optimizer,
    /// The largest layer, gathered whole while it is computed (sharding).
    Unsharded,
    /// Captured graphs of an engine.
    Graphs,
    /// The driver's context, libraries and the program itself.
    Runtime,
}

/// One part with its figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which one.
    pub part: PartKind,
    /// Its figure.
    #[serde(flatten)]
    pub figure: Figure,
}

impl Part {
    /// A part with its figure.
    #[must_use]
    pub fn new(part: PartKind, figure: Figure) -> Self {
        Self { part, figure }
    }
}

/// The parts on one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardShare {
    /// The stage of a pipeline, from 1.
    pub stage: u32,
    /// How many cards hold just this.
    pub cards: u32,
    /// The parts; none of them counts nothing where it is unknown.
    pub parts: Vec<Part>,
    /// The sum of the known parts.
    pub known: Amount,
    /// The parts that are not in that sum.
    pub unknown: Vec<PartKind>,
    /// What is certain: the sum of the parts that were read or computed.
    pub certain: Bytes,
}

/// The memory of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// One entry for each stage of the pipeline; one alone without.
    pub shares: Vec<CardShare>,
    /// What travels between the cards, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The bytes that one more token of one sequence takes while no window is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_growth: Option<u64>,
}

impl CardShare {
    fn new(stage: u32, cards: u32, parts: Vec<Part>) -> Self {
        // A part that is certainly nothing is no line worth reading.
        let parts: Vec<Part> = parts.into_iter().filter(|part| part.figure.bytes() != Some(0)).collect();
        let known = parts.iter().filter_map(|part| part.figure.amount).fold(Amount::default(), Amount::plus);
        let unknown =
            parts.iter().filter(|part| part.figure.amount.is_none()).map(|part| part.part).collect();
        let certain = parts.iter().map(|part| part.figure.certain()).sum();
        Self { stage, cards, parts, known, unknown, certain }
    }

    /// The figure of a part, where it is there.
    #[must_use]
    pub fn part(&self, kind: PartKind) -> Option<&Figure> {
        self.parts.iter().find(|part| part.part == kind).map(|part| &part.figure)
    }
}

impl Estimate {
    /// The card that holds the most of what is known.
    #[must_use]
    pub fn fullest(&self) -> Option<&CardShare> {
        self.shares.iter().max_by_key(|share| (share.known.high, share.certain))
    }
}

/// The memory of a task with a model.
///
/// # Errors
/// A task with an impossible count; something that does not divide over the cards; adapter modules that are not
/// in the model.
pub fn estimate(facts: &ModelFacts, task: &Task) -> Result<Estimate, SizeError> {
    task.check()?;
    let built = facts.architecture.as_ref();
    if let Some(built) = built.filter(|_| task.spread != Spread::default()) {
        spread::check(built, task.spread)?;
    }
    let layers = built.and_then(|built| built.layers).unwrap_or(1);
    let ranges = spread::stages(layers, task.spread.pipeline);
    let last = ranges.len() - 1;
    let mut shares = Vec::new();
    for (at, range) in ranges.iter().enumerate() {
        let place = Place { layers: *range, first: at == 0, last: at == last };
        let parts = match &task.work {
            Work::Train { .. } => training_parts(facts, task)?,
            Work::Encode { .. } | Work::Generate { .. } => inference_parts(facts, task, place),
        };
        shares.push(CardShare::new(u32::try_from(at + 1).unwrap_or(u32::MAX), task.spread.tensor, parts));
    }
    let mixers = built.and_then(|built| built.mixers.as_ref());
    let generates = matches!(task.work, Work::Generate { .. });
    Ok(Estimate {
        shares,
        link: built.and_then(|built| spread::link(built, task.spread)),
        cache_growth: mixers
            .filter(|_| generates)
            .and_then(|mixers| growth_per_token(task, mixers))
            .filter(|bytes| *bytes > 0),
    })
}

/// Where a card stands in the pipeline.
#[derive(Clone, Copy)]
struct Place {
    layers: (u64, u64),
    first: bool,
    last: bool,
}

fn inference_parts(facts: &ModelFacts, task: &Task, place: Place) -> Vec<Part> {
    let mut parts = vec![Part::new(PartKind::Weights, weights(facts, task, place))];
    if let Some(adapter) = &facts.adapter {
        let figure = adapter.bytes.map_or_else(
            || Figure::unknown(said!("adapter-missing", "adapter_model.safetensors is not there")),
            |bytes| Figure::read(bytes, tensors_of("adapter_model.safetensors")),
        );
        parts.push(Part::new(PartKind::Adapter, figure));
    }
    let usable = facts.architecture.as_ref().filter(|built| built.kind != Kind::Other && !facts.pipeline);
    if let Some(built) = usable {
        parts.push(Part::new(PartKind::Cache, cache_on_card(built, task, place)));
        parts.push(Part::new(PartKind::Inputs, temporaries::inputs(task)));
        parts.push(Part::new(PartKind::Temporaries, temporaries::temporaries(task, built)));
        if place.last {
            parts.push(Part::new(PartKind::Logits, temporaries::logits(task, built)));
            parts.push(Part::new(PartKind::KeptOutputs, temporaries::kept_outputs(task, built)));
        }
    } else {
        for kind in [PartKind::Cache, PartKind::Temporaries, PartKind::KeptOutputs] {
            parts.push(Part::new(kind, Figure::unknown(not_covered())));
        }
    }
    if matches!(task.engine, Engine::Vllm { .. }) && task.backend != Backend::Cpu {
        let amount = Amount { low: Bytes::mib(200), high: Bytes::mib(1536) };
        parts.push(Part::new(
            PartKind::Graphs,
            Figure::estimated(amount, said!("graphs", "captured graphs of vLLM")),
        ));
    }
    parts.push(Part::new(PartKind::Runtime, runtime(task)));
    parts
}

fn cache_on_card(built: &Architecture, task: &Task, place: Place) -> Figure {
    let Some(mixers) = &built.mixers else {
        return Figure::unknown(build_lacks(built, "layer_types"));
    };
    let (first, end) = place.layers;
    let mine: Vec<Mixer> = mixers
        .iter()
        .enumerate()
        .filter(|(layer, _)| (first..end).contains(&(*layer as u64)))
        .map(|(_, mixer)| spread::mixer_on_card(mixer, task.spread.tensor))
        .collect();
    let mut figure = cache(task, &mine);
    if built.kind == Kind::EncoderDecoder && figure.amount.is_some() {
        // The decoder also keeps keys and values of the whole input, which this counts by the same length.
        figure.amount = figure.amount.map(|amount| amount.plus(amount));
        figure.basis.push_str("; twice, for the input as well");
        if let Some(phrase) = &mut figure.phrase {
            phrase.code = "cache-twice".to_owned();
        }
    }
    figure
}

/// The weights on one card: read from the files; computed from the build where only `config.json` is there.
fn weights(facts: &ModelFacts, task: &Task, place: Place) -> Figure {
    let built = facts.architecture.as_ref();
    if facts.weight_bytes.is_none() {
        return built.map_or_else(
            || {
                Figure::unknown(said!(
                    "weights-missing",
                    "no weights are there and no config.json tells the build"
                ))
            },
            |built| weights_by_build(built, task),
        );
    }
    let alone = task.spread == Spread::default();
    let Some(built) = built.filter(|_| !alone) else {
        if !alone {
            return Figure::unknown(said!(
                "weights-undivided",
                "without config.json it is not known which tensors divide over cards"
            ));
        }
        return weights_as_held(facts, task);
    };
    let mine = |layer: Option<u64>, name: &str| match layer {
        Some(layer) => (place.layers.0..place.layers.1).contains(&layer),
        // What stands before the layers is on the first card and what stands behind on the last; a shared
        // embedding is on both.
        None => {
            let before =
                ["embed_tokens", "wte", "token_embd", "embeddings"].iter().any(|word| name.contains(word));
            if before { place.first || (place.last && built.tied == Some(true)) } else { place.last }
        }
    };
    let held = facts.tensors.all.iter().filter(|tensor| mine(layer_of(&tensor.name), &tensor.name));
    let bytes =
        held.map(|tensor| bytes_on_card(tensor, built, task.spread.tensor)).fold(0, u64::saturating_add);
    let basis = said!(
        "weights-spread",
        "tensors of layers {first} to {last} over {cards} cards; what does not divide is whole on each",
        first = place.layers.0 + 1,
        last = place.layers.1,
        cards = task.spread.tensor,
    );
    Figure::computed(bytes, basis)
}

/// The weights of the files on one card, in the type they are held in.
fn weights_as_held(facts: &ModelFacts, task: &Task) -> Figure {
    let is_float = |dtype: &str| matches!(dtype, "F32" | "F16" | "BF16" | "F64");
    let stored = facts.tensors.bytes();
    let from = facts.files.join(", ");
    let width = match task.precision {
        // GGUF is held as it is stored, whatever is computed in.
        None => return Figure::read(stored, tensors_of(&from)),
        Some(_) if facts.format == crate::model::Format::Gguf => {
            return Figure::read(stored, tensors_of(&from));
        }
        Some(Precision::F32) => 4,
        Some(Precision::Half) => 2,
        Some(precision) => return reduced_while_loading(facts, precision),
    };
    let bytes = facts
        .tensors
        .all
        .iter()
        .map(
            |tensor| if is_float(&tensor.dtype) { tensor.values.saturating_mul(width) } else { tensor.bytes },
        )
        .fold(0, u64::saturating_add);
    if bytes == stored {
        return Figure::read(stored, tensors_of(&from));
    }
    Figure::computed(
        bytes,
        said!(
            "weights-held",
            "floats of {from} held in {width} bytes each, the rest as stored",
            from = from,
            width = width,
        ),
    )
}

fn reduced_while_loading(facts: &ModelFacts, precision: Precision) -> Figure {
    let how = match precision {
        Precision::Nf4 => layout::Reduced::Nf4 { double: true },
        _ => layout::Reduced::Int8,
    };
    let bytes = facts.architecture.as_ref().and_then(|built| layout::reduced_bytes(built, how));
    bytes.map_or_else(
        || {
            Figure::unknown(said!(
                "reduced-unknown",
                "which matrices bitsandbytes reduces is not known for this family: measure the peak in the pilot"
            ))
        },
        |bytes| Figure::computed(bytes, reduced()),
    )
}

fn weights_by_build(built: &Architecture, task: &Task) -> Figure {
    let Some(parameters) = layout::parameters(built) else {
        if !built.missing.is_empty() {
            return Figure::unknown(build_lacks(built, "model_type"));
        }
        return Figure::unknown(said!(
            "family-folder",
            "the tensors of the family `{family}` are not known here: give the folder of its weights",
            family = built.family,
        ));
    };
    let width = match (task.precision, built.dtype.as_deref()) {
        (Some(Precision::F32), _) | (None, Some("float32")) => 4,
        (Some(Precision::Half), _) | (None, Some("bfloat16" | "float16")) => 2,
        (Some(precision @ (Precision::Nf4 | Precision::Int8)), _) => {
            let how = if precision == Precision::Nf4 {
                layout::Reduced::Nf4 { double: true }
            } else {
                layout::Reduced::Int8
            };
            let bytes = layout::reduced_bytes(built, how).unwrap_or(0);
            return Figure::computed(bytes, reduced());
        }
        (None, _) => {
            return Figure::unknown(build_lacks(built, "torch_dtype"));
        }
    };
    if built.quantisation.is_some() && task.precision.is_none() {
        return Figure::unknown(said!(
            "weights-reduced",
            "the weights are stored reduced; give their folder, whose headers tell their bytes"
        ));
    }
    if task.spread != Spread::default() {
        return Figure::unknown(said!(
            "weights-folder",
            "give the folder of the weights: their headers tell what divides over the cards"
        ));
    }
    let basis = said!(
        "weights-by-build",
        "{parameters} parameters by the build of {family} x {width} bytes",
        parameters = parameters,
        family = built.family,
        width = width,
    );
    Figure::computed(parameters.saturating_mul(width), basis)
}

fn tensors_of(files: &str) -> Said {
    said!("tensors", "tensors of {files}", files = files)
}

fn reduced() -> Said {
    said!("reduced", "matrices of the layers reduced by bitsandbytes with their scales, the rest in 16 bits")
}

fn not_covered() -> Said {
    said!("not-covered", "the formulas do not cover this architecture: measure the peak in the pilot")
}

/// What a build lacks: the fields that were looked for in vain, else the one that is `needed`.
fn build_lacks(built: &Architecture, needed: &str) -> Said {
    let fields = if built.missing.is_empty() { needed.to_owned() } else { built.missing.join(", ") };
    said!(
        "build-lacks",
        "{source} lacks {fields}: give the folder of the weights, or measure the peak in the pilot",
        source = built.source,
        fields = fields,
    )
}

fn training_parts(facts: &ModelFacts, task: &Task) -> Result<Vec<Part>, SizeError> {
    let Work::Train { batch, tokens, recipe, method, sharding, recompute } = &task.work else {
        return Ok(Vec::new());
    };
    let place = Place { layers: (0, u64::MAX), first: true, last: true };
    let base = Task { spread: Spread::default(), ..task.clone() };
    let mut parts = training::parts(facts, *recipe, method, *sharding, weights(facts, &base, place))?;
    parts.push(Part::new(PartKind::Inputs, temporaries::inputs(task)));
    let usable = facts.architecture.as_ref().filter(|built| built.kind != Kind::Other && !facts.pipeline);
    if let Some(built) = usable {
        parts.push(Part::new(
            PartKind::Activations,
            training::activations(built, *batch, *tokens, *recompute),
        ));
        if built.kind != Kind::Encoder {
            parts.push(Part::new(PartKind::Logits, training::logits(built, *batch, *tokens)));
        }
    } else {
        parts.push(Part::new(PartKind::Activations, Figure::unknown(not_covered())));
    }
    parts.push(Part::new(PartKind::Runtime, runtime(task)));
    Ok(parts)
}

/// What a process takes before any model: context of the driver, libraries, interpreter. A range by backend, seen
/// on usual installations; the pilot's measured floor replaces it.
fn runtime(task: &Task) -> Figure {
    let (low, high, said) = match (task.backend, &task.engine) {
        (Backend::Cpu, Engine::Builtin | Engine::LlamaCpp { .. }) => {
            (5, 60, said!("runtime-native", "a native program on the processor"))
        }
        (Backend::Cpu, _) => {
            (250, 900, said!("runtime-python", "Python with its libraries on the processor"))
        }
        (Backend::Cuda, _) => (300, 900, said!("runtime-cuda", "context and libraries of CUDA on one card")),
        (Backend::Rocm, _) => (400, 1500, said!("runtime-rocm", "context and libraries of ROCm on one card")),
    };
    Figure::estimated(Amount { low: Bytes::mib(low), high: Bytes::mib(high) }, said)
}
