//! Facts about a model, from its files and nothing else: never from its name or a number of parameters.

pub mod adapter;
pub mod architecture;
pub mod checkpoint;
pub mod gguf;
pub mod layout;
pub mod onnx;
pub mod range;
pub mod safetensors;
pub mod tensor;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use architecture::{Architecture, Experts, Kind, Mixer, Quantisation};
pub use range::{Folder, HttpRanges, InMemory, RangeReader};
pub use tensor::{Tensor, Tensors, TypeTotal};

use crate::SizeError;
use adapter::Adapter;

/// The longest `config.json` that is read.
const CONFIG_BYTES_MAX: u64 = 4 << 20;

/// The format of the weights' files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// safetensors, one file or several.
    Safetensors,
    /// GGUF, one file or several.
    Gguf,
    /// ONNX.
    Onnx,
    /// A PyTorch checkpoint, of which only the archive's index is read.
    Checkpoint,
    /// A `config.json` alone.
    ConfigOnly,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The folder or address.
    pub place: String,
    /// The format of the weights.
    pub format: Format,
    /// Files whose heads were read.
    pub files: Vec<String>,
    /// Bytes of all tensors; none where only a `config.json` is there.
    pub weight_bytes: Option<u64>,
    /// Parameters, where the files or the build tell them.
    pub parameters: Option<u64>,
    /// Values and bytes by type.
    pub types: BTreeMap<String, TypeTotal>,
    /// How the model is built, where a file tells.
    pub architecture: Option<Architecture>,
    /// An adapter, where the folder holds one; its base is another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Adapter>,
    /// Whether several models stand in one place (a diffusion pipeline), so that the formulas do not apply.
    pub pipeline: bool,
    /// Python files that come with the model and that an engine would have to run.
    pub own_code: Vec<String>,
    /// What was noticed.
    pub notes: Vec<String>,
    /// The tensors; not part of what is written out.
    #[serde(skip)]
    pub tensors: Tensors,
}

/// What a place holds, by name.
#[derive(Default)]
struct Files {
    index: Option<String>,
    safetensors: Vec<String>,
    gguf: Vec<String>,
    onnx: Vec<String>,
    checkpoints: Vec<String>,
    config: bool,
    adapter: bool,
    pipeline: bool,
    code: Vec<String>,
}

/// The names that are asked for where a place cannot be listed, in the order of preference.
const USUAL_NAMES: &[&str] = &[
    "config.json",
    "model.safetensors.index.json",
    "model.safetensors",
    "adapter_config.json",
    "adapter_model.safetensors",
    "model_index.json",
    "pytorch_model.bin.index.json",
    "pytorch_model.bin",
    "model.onnx",
];

/// Reads the facts of the model at a place. Safetensors are preferred to GGUF, ONNX and checkpoints; a folder
/// with several GGUF models is refused rather than summed.
///
/// # Errors
/// When nothing there is a model, or a file is not what it says.
pub fn read(reader: &dyn RangeReader) -> Result<ModelFacts, SizeError> {
    let files = find(reader)?;
    let mut facts = ModelFacts {
        place: reader.place(),
        format: Format::ConfigOnly,
        files: Vec::new(),
        weight_bytes: None,
        parameters: None,
        types: BTreeMap::new(),
        architecture: None,
        adapter: None,
        pipeline: files.pipeline,
        own_code: files.code.clone(),
        notes: Vec::new(),
        tensors: Tensors::default(),
    };
    if files.config {
        facts.architecture = Some(architecture::from_config("config.json", &small(reader, "config.json")?)?);
    }
    if files.adapter {
        facts.adapter = Some(adapter::read(reader)?);
    }
    weights(reader, &files, &mut facts)?;
    if facts.files.is_empty() && !files.config && !files.adapter && !files.pipeline {
        let looked_for = USUAL_NAMES.join(", ") + ", *.safetensors, *.gguf, *.onnx";
        return Err(SizeError::NoModel { place: reader.place(), looked_for });
    }
    facts.types = facts.tensors.by_type();
    facts.weight_bytes = (!facts.files.is_empty()).then(|| facts.tensors.bytes());
    facts.parameters = parameters(&facts);
    let stored = stored_type(&facts);
    if let Some(built) = &mut facts.architecture {
        built.dtype = built.dtype.take().or_else(|| stored.map(str::to_owned));
    }
    facts.notes.extend(facts.tensors.notes.iter().take(20).cloned());
    if files.pipeline {
        let note = "model_index.json describes a pipeline of several models: point at one of its folders for its weights";
        facts.notes.push(note.to_owned());
    }
    Ok(facts)
}

/// A whole small file.
fn small(reader: &dyn RangeReader, name: &str) -> Result<Vec<u8>, SizeError> {
    let length = reader.length(name)?.unwrap_or(0);
    if length > CONFIG_BYTES_MAX {
        let problem = format!("{length} bytes are too many; {CONFIG_BYTES_MAX} are read");
        return Err(SizeError::Malformed { file: name.to_owned(), format: "JSON", problem });
    }
    reader.read(name, 0, length)
}

fn find(reader: &dyn RangeReader) -> Result<Files, SizeError> {
    let names = match reader.names()? {
        Some(names) => names,
        None => usual(reader)?,
    };
    let mut files = Files::default();
    for name in names {
        match name.as_str() {
            "config.json" => files.config = true,
            "adapter_config.json" => files.adapter = true,
            "model_index.json" => files.pipeline = true,
            "adapter_model.safetensors" | "adapter_model.bin" => {}
            _ if name.ends_with(".safetensors.index.json") => files.index = Some(name),
            _ if name.ends_with(".safetensors") => files.safetensors.push(name),
            _ if name.ends_with(".gguf") => files.gguf.push(name),
            _ if name.ends_with(".onnx") => files.onnx.push(name),
            _ if name.ends_with(".py") => files.code.push(name),
            "training_args.bin" | "optimizer.pt" | "scheduler.pt" => {}
            _ if [".bin", ".pt", ".pth", ".ckpt"].iter().any(|ending| name.ends_with(ending)) => {
                files.checkpoints.push(name);
            }
            _ => {}
        }
    }
    Ok(files)
}

/// The usual names that are there. Once weights are found, less preferred ones are not asked for.
fn usual(reader: &dyn RangeReader) -> Result<Vec<String>, SizeError> {
    let mut names = Vec::new();
    let mut weights = false;
    for name in USUAL_NAMES {
        let holds_weights = name.starts_with("model.") || name.starts_with("pytorch_model");
        if (weights && holds_weights) || name.ends_with(".bin.index.json") {
            continue;
        }
        if reader.length(name)?.is_some() {
            weights |= holds_weights;
            names.push((*name).to_owned());
        }
    }
    Ok(names)
}

fn weights(reader: &dyn RangeReader, files: &Files, facts: &mut ModelFacts) -> Result<(), SizeError> {
    if let Some(index) = &files.index {
        facts.format = Format::Safetensors;
        facts.tensors = safetensors::read_sharded(reader, index)?;
        facts.files.push(index.clone());
    } else if !files.safetensors.is_empty() {
        facts.format = Format::Safetensors;
        // A consolidated copy beside the shards holds the same weights once more.
        let consolidated = |name: &&String| name.starts_with("consolidated") && files.safetensors.len() > 1;
        for name in files.safetensors.iter().filter(|name| !consolidated(name)) {
            facts.tensors.extend(safetensors::read_file(reader, name)?);
            facts.files.push(name.clone());
        }
    } else if !files.gguf.is_empty() {
        gguf_weights(reader, &files.gguf, facts)?;
    } else if !files.onnx.is_empty() {
        facts.format = Format::Onnx;
        let name = one_of(reader, &files.onnx, "model.onnx")?;
        facts.tensors = onnx::read_file(reader, &name)?;
        facts.files.push(name);
    } else if !files.checkpoints.is_empty() {
        facts.format = Format::Checkpoint;
        for name in &files.checkpoints {
            facts.tensors.extend(checkpoint::read_file(reader, name)?);
            facts.files.push(name.clone());
        }
        facts.notes.push("the checkpoint's pickle is not run: types and parameters stay unknown".to_owned());
    }
    Ok(())
}

/// The preferred one of several files that each hold a whole model.
fn one_of(reader: &dyn RangeReader, names: &[String], preferred: &str) -> Result<String, SizeError> {
    match names {
        [only] => Ok(only.clone()),
        _ if names.iter().any(|name| name == preferred) => Ok(preferred.to_owned()),
        _ => Err(SizeError::NotAllowed {
            field: "model",
            value: reader.place(),
            allowed: format!("it holds several models; name one file: {}", names.join(", ")),
        }),
    }
}

/// The files of one GGUF model: a single one, or all of a split (`-00001-of-00003.gguf`).
fn gguf_weights(reader: &dyn RangeReader, names: &[String], facts: &mut ModelFacts) -> Result<(), SizeError> {
    facts.format = Format::Gguf;
    let stem = |name: &str| {
        let split = name.strip_suffix(".gguf").and_then(|name| name.rsplit_once("-of-"));
        split.and_then(|(stem, _)| stem.rsplit_once('-')).map(|(stem, _)| stem.to_owned())
    };
    let models: Vec<&String> = names.iter().filter(|name| !name.starts_with("mmproj")).collect();
    let first = models.first().map_or("", |name| name.as_str());
    if models.len() > 1 && !models.iter().all(|name| stem(name).is_some() && stem(name) == stem(first)) {
        return one_of(reader, names, "").map(|_| ());
    }
    for name in models {
        let mut head = gguf::read_file(reader, name)?;
        if facts.architecture.is_none() && head.text("general.architecture").is_some() {
            facts.architecture = Some(architecture::from_gguf(name, &head)?);
        }
        facts.tensors.extend(std::mem::take(&mut head.tensors));
        facts.files.push(name.clone());
    }
    if let Some(built) = &mut facts.architecture {
        built.tied = Some(!facts.tensors.has("output.weight"));
    }
    Ok(())
}

/// The type in which an engine computes where `config.json` names none: that of the stored floats, of the type with
/// the most values.
fn stored_type(facts: &ModelFacts) -> Option<&'static str> {
    let floats = [("F32", "float32"), ("F16", "float16"), ("BF16", "bfloat16")];
    let values = |stored: &str| facts.types.get(stored).map_or(0, |total| total.values);
    let (stored, name) = floats.into_iter().max_by_key(|(stored, _)| values(stored))?;
    (values(stored) > 0).then_some(name)
}

/// Parameters: the stored values, or, behind a packed format, what the build says; unknown where neither tells.
fn parameters(facts: &ModelFacts) -> Option<u64> {
    let built = facts.architecture.as_ref();
    let by_build = || built.and_then(layout::parameters);
    let packed = built.is_some_and(|built| {
        built.quantisation.as_ref().is_some_and(|how| !matches!(how.method.as_str(), "fp8" | "fbgemm_fp8"))
    });
    match facts.format {
        Format::Checkpoint | Format::ConfigOnly => by_build(),
        Format::Safetensors if packed => by_build(),
        Format::Safetensors => {
            // Scales of 8-bit weights and counters are stored beside the parameters and are none.
            let is_parameter = |tensor: &&Tensor| {
                !tensor.name.ends_with("_scale_inv")
                    && !tensor.name.ends_with("_scale")
                    && !tensor.dtype.starts_with('I')
            };
            Some(facts.tensors.all.iter().filter(is_parameter).map(|tensor| tensor.values).sum())
        }
        Format::Gguf | Format::Onnx => Some(facts.tensors.values()),
    }
}
