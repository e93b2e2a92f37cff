//! What a model's directory must hold, and the check of it before use.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use pilote_spec::{Digest, Hasher};
use serde::Deserialize;

use super::SourceError;
use super::reference::safe_relative;

/// The files without which nothing can be computed.
pub const REQUIRED: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

/// The weights, the one large file.
pub(super) const WEIGHTS: &str = "model.safetensors";

/// What stands in place of [`WEIGHTS`] where they are spread over several files.
pub(super) const SHARD_INDEX: &str = "model.safetensors.index.json";

/// Small files that change what is computed, where a model has them.
pub(super) const OPTIONAL: [&str; 4] = [
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "tokenizer_config.json",
];

/// The model's card; only its licence is read, so it is no part of what a trial depends on.
pub(super) const CARD: &str = "README.md";

#[derive(Deserialize)]
struct Module {
    path: String,
}

/// Names of the settings of the modules that `modules.json` lists (`1_Pooling/config.json` ...). A module's files may
/// be absent: a normalisation has none.
pub(super) fn module_files(modules: &[u8]) -> Result<Vec<String>, SourceError> {
    let bad = |detail: String| SourceError::BadFile { file: "modules.json".into(), detail };
    let modules: Vec<Module> = serde_json::from_slice(modules).map_err(|error| bad(error.to_string()))?;
    let mut names = Vec::new();
    for module in modules.into_iter().filter(|module| !module.path.is_empty()) {
        if safe_relative(&module.path).is_none() {
            return Err(bad(format!("the module path `{}` leaves the model's directory", module.path)));
        }
        names.push(format!("{}/config.json", module.path));
    }
    Ok(names)
}

/// The digests of a model's files by name, after checking that it is whole and as pinned.
///
/// # Errors
/// When a required file is missing, the weights are cut short, or a digest is not the pinned one.
pub(super) fn inspect(
    dir: &Path,
    pins: &BTreeMap<String, Digest>,
) -> Result<BTreeMap<String, Digest>, SourceError> {
    if !dir.is_dir() {
        return Err(SourceError::NoDirectory { path: dir.display().to_string() });
    }
    for file in REQUIRED {
        if !dir.join(file).is_file() {
            let sharded = file == WEIGHTS && dir.join(SHARD_INDEX).is_file();
            return Err(if sharded {
                SourceError::Sharded
            } else {
                SourceError::MissingFile { file: file.into() }
            });
        }
    }
    let mut names: Vec<String> = REQUIRED.iter().chain(&OPTIONAL).map(|&name| name.to_owned()).collect();
    let modules = dir.join("modules.json");
    if modules.is_file() {
        names.extend(module_files(&fs_err::read(modules)?)?);
    }
    check_length(&dir.join(WEIGHTS))?;
    // A pin may name any file of the model, also one that nothing here reads.
    names.extend(pins.keys().cloned());
    let mut files = BTreeMap::new();
    for name in names {
        let path = safe_relative(&name).map(|path| dir.join(path)).filter(|path| path.is_file());
        match (path, pins.get(&name)) {
            (None, None) => {}
            (None, Some(_)) => return Err(SourceError::MissingFile { file: name }),
            (Some(path), pin) => {
                let seen = digest(&path)?;
                if let Some(&expected) = pin.filter(|&&pin| pin != seen) {
                    return Err(SourceError::WrongDigest { file: name, origin: "pinned", expected, seen });
                }
                files.insert(name, seen);
            }
        }
    }
    Ok(files)
}

/// The digest of a file, read in pieces.
pub(super) fn digest(path: &Path) -> Result<Digest, io::Error> {
    let mut hasher = Hasher::new();
    io::copy(&mut fs_err::File::open(path)?, &mut hasher)?;
    Ok(hasher.finish())
}

/// Compares a safetensors file's length with what its header announces: eight bytes with the header's length, the
/// header, and the data up to the furthest tensor. A download that broke off is found by this without any digest.
fn check_length(path: &Path) -> Result<(), SourceError> {
    let file = WEIGHTS.to_owned();
    let mut reader = fs_err::File::open(path)?;
    let seen = reader.metadata()?.len();
    let mut prefix = [0; 8];
    if seen < 8 {
        return Err(SourceError::CutShort { file, announced: 8, seen });
    }
    reader.read_exact(&mut prefix)?;
    let header = u64::from_le_bytes(prefix);
    // The format's own readers refuse headers beyond 100 MB.
    if header > 100_000_000 {
        return Err(SourceError::BadFile {
            file,
            detail: format!("its header would be {header} bytes long"),
        });
    }
    if 8 + header > seen {
        return Err(SourceError::CutShort { file, announced: 8 + header, seen });
    }
    let mut text = Vec::new();
    reader.take(header).read_to_end(&mut text)?;
    let tensors: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&text)
        .map_err(|error| SourceError::BadFile { file: file.clone(), detail: error.to_string() })?;
    let end = |tensor: &serde_json::Value| tensor.get("data_offsets")?.get(1)?.as_u64();
    let data = tensors.values().filter_map(end).max().unwrap_or(0);
    let announced = (8 + header).saturating_add(data);
    if announced == seen { Ok(()) } else { Err(SourceError::CutShort { file, announced, seen }) }
}

/// The licence that a model's card names between its leading `---` lines, where it does.
pub(super) fn licence(dir: &Path) -> Option<String> {
    let card = fs_err::read_to_string(dir.join(CARD)).ok()?;
    let mut lines = card.trim_start_matches('\u{feff}').lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let front = lines.take_while(|line| line.trim_end() != "---");
    let mut values = front.filter_map(|line| line.strip_prefix("license:"));
    values
        .next()
        .map(|value| value.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|value| !value.is_empty())
}
