//! The files of a project that name its libraries: read by line scanners, nothing is run or resolved.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::wheel::{Requirement, normal_name, requirement};
use crate::SizeError;

/// The longest dependency file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Source files that are looked through, at most.
const SOURCES_MAX: usize = 5000;

/// What a project's files name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Requirements, in the order of the files.
    pub requirements: Vec<Requirement>,
    /// Names of wheel indexes (`cu128`, `rocm6.4`, `cpu`) with the place that names them.
    pub indexes: Vec<(String, String)>,
    /// Base images of Dockerfiles with their place.
    pub images: Vec<(String, String)>,
    /// Top-level modules that the sources import, with the first place.
    pub imports: Vec<(String, String)>,
    /// Custom kernels and code that comes with a model: what was seen, and where.
    pub own_code: Vec<(OwnCode, String)>,
    /// The files that were read.
    pub files: Vec<String>,
}

/// Code that is compiled on the machine or comes with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnCode {
    /// CUDA source of the project (`.cu`, `.cuh`): needs a compiler and runs on NVIDIA cards.
    CudaSource,
    /// HIP source of the project (`.hip`).
    HipSource,
    /// An extension that PyTorch compiles (`CUDAExtension`, `load_inline`).
    TorchExtension,
    /// Kernels in Triton, compiled when first called.
    TritonKernel,
    /// Code that comes with a model and is allowed to run (`trust_remote_code=True`).
    ModelCode,
}

/// Reads every file of a project folder that names libraries.
///
/// # Errors
/// When a file that is there cannot be read or is no TOML where TOML is expected.
pub(super) fn read(root: &Path) -> Result<Named, SizeError> {
    let mut named = Named::default();
    let mut files: Vec<String> = list(root)?;
    files.sort_unstable();
    for name in &files {
        let lower = name.to_ascii_lowercase();
        let is_requirements = lower.starts_with("requirements") && lower.ends_with(".txt");
        let reader: fn(&mut Named, &str, &str) -> Result<(), SizeError> = match lower.as_str() {
            _ if is_requirements => requirements,
            "pyproject.toml" => pyproject,
            "uv.lock" | "poetry.lock" | "pylock.toml" => lock,
            "environment.yml" | "environment.yaml" => environment,
            _ if lower == "dockerfile"
                || lower.starts_with("dockerfile.")
                || lower.ends_with(".dockerfile") =>
            {
                dockerfile
            }
            "containerfile" => dockerfile,
            _ => continue,
        };
        let text = text(&root.join(name), name)?;
        reader(&mut named, name, &text)?;
        named.files.push(name.clone());
    }
    sources(root, &mut named)?;
    Ok(named)
}

fn list(folder: &Path) -> Result<Vec<String>, SizeError> {
    let io = |source| SizeError::Io { file: folder.display().to_string(), source };
    let entries = std::fs::read_dir(folder).map_err(io)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

fn text(path: &Path, name: &str) -> Result<String, SizeError> {
    let io = |source| SizeError::Io { file: name.to_owned(), source };
    let length = std::fs::metadata(path).map_err(io)?.len();
    if length > FILE_BYTES_MAX {
        let problem = format!("{length} bytes are too many for such a file");
        return Err(SizeError::Table { file: name.to_owned(), problem });
    }
    Ok(String::from_utf8_lossy(&std::fs::read(path).map_err(io)?).into_owned())
}

/// `requirements*.txt`: one requirement a line; options that name an index are kept by the index's name alone.
///
/// # Errors
/// Never; lines that are no requirement are passed over, as `pip` reports them.
pub fn requirements(named: &mut Named, file: &str, text: &str) -> Result<(), SizeError> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for (number, line) in joined.lines().enumerate() {
        let (line, place) = (line.trim(), format!("{file}:{}", number + 1));
        if line.starts_with('-') {
            let option = line.split([' ', '=']).find(|word| word.contains("://"));
            named.index(option, &place);
        } else if !line.starts_with('#') {
            named.requirements.extend(requirement(line, &place));
        }
    }
    Ok(())
}

/// `pyproject.toml`: dependencies, optional ones, groups, Poetry's tables, and uv's indexes.
///
/// # Errors
/// When it is no TOML.
pub fn pyproject(named: &mut Named, file: &str, text: &str) -> Result<(), SizeError> {
    let table = parse(file, text)?;
    let mut lists: Vec<(&str, &toml::Value)> = Vec::new();
    let project = table.get("project");
    lists.extend(
        project.and_then(|project| project.get("dependencies")).map(|list| ("project.dependencies", list)),
    );
    let groups = [
        ("project.optional-dependencies", project.and_then(|project| project.get("optional-dependencies"))),
        ("dependency-groups", table.get("dependency-groups")),
    ];
    for (name, group) in groups {
        lists.extend(
            group.and_then(toml::Value::as_table).into_iter().flatten().map(|(_, list)| (name, list)),
        );
    }
    for (name, list) in lists {
        let texts = list.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
        named.requirements.extend(texts.filter_map(|text| requirement(text, &format!("{file}, {name}"))));
    }
    let tool = table.get("tool");
    let poetry = tool.and_then(|tool| tool.get("poetry")?.get("dependencies")?.as_table());
    for (name, value) in poetry.into_iter().flatten().filter(|(name, _)| *name != "python") {
        let version = value.as_str().or_else(|| value.get("version")?.as_str());
        let pinned = version.filter(|version| version.starts_with(|c: char| c.is_ascii_digit() || c == '='));
        named.requirements.push(Requirement {
            name: normal_name(name),
            version: pinned.map(|version| version.trim_start_matches('=').trim().to_owned()),
            from: None,
            place: format!("{file}, tool.poetry.dependencies"),
        });
    }
    let indexes = [
        ("tool.uv.index", tool.and_then(|tool| tool.get("uv")?.get("index"))),
        ("tool.poetry.source", tool.and_then(|tool| tool.get("poetry")?.get("source"))),
    ];
    for (name, list) in indexes {
        for index in list.and_then(toml::Value::as_array).into_iter().flatten() {
            named.index(index.get("url").and_then(toml::Value::as_str), &format!("{file}, {name}"));
        }
    }
    Ok(())
}

/// `uv.lock`, `poetry.lock` and `pylock.toml`: packages with their exact versions and where they come from.
///
/// # Errors
/// When it is no TOML.
pub fn lock(named: &mut Named, file: &str, text: &str) -> Result<(), SizeError> {
    let table = parse(file, text)?;
    let packages = table.get("package").or_else(|| table.get("packages")).and_then(toml::Value::as_array);
    for package in packages.into_iter().flatten() {
        let Some(name) = package.get("name").and_then(toml::Value::as_str) else { continue };
        let version = package.get("version").and_then(toml::Value::as_str).map(str::to_owned);
        let place = format!("{file}, {name}");
        let source = package.get("source");
        let from = source.and_then(|source| source.get("registry").or_else(|| source.get("url"))?.as_str());
        named.index(from, &place);
        named.requirements.push(Requirement { name: normal_name(name), version, from: None, place });
    }
    Ok(())
}

fn parse(file: &str, text: &str) -> Result<toml::Table, SizeError> {
    let bad = |error: toml::de::Error| SizeError::Table { file: file.to_owned(), problem: error.to_string() };
    toml::from_str(text).map_err(bad)
}

/// `environment.yml` of conda: the list below `dependencies`, and the one below its `pip`.
///
/// # Errors
/// Never; it is scanned by line.
pub fn environment(named: &mut Named, file: &str, text: &str) -> Result<(), SizeError> {
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if !line.starts_with([' ', '-', '#']) && !trimmed.is_empty() {
            inside = trimmed.starts_with("dependencies:");
            continue;
        }
        let Some(entry) = trimmed.strip_prefix("- ").filter(|_| inside) else { continue };
        let entry = entry.trim().trim_matches(['"', '\'']);
        let place = format!("{file}:{}", number + 1);
        if entry == "pip:" || entry == "pip" || entry.starts_with("python=") || entry == "python" {
            continue;
        }
        if entry.starts_with("--") {
            named.index(entry.split([' ', '=']).find(|word| word.contains("://")), &place);
            continue;
        }
        // conda writes `channel::name=version=build`; the build may name CUDA (`py3.12_cuda12.4_0`).
        let bare = entry.rsplit("::").next().unwrap_or(entry);
        if bare.contains("==") || !bare.contains('=') {
            named.requirements.extend(requirement(bare, &place));
        } else {
            let mut fields = bare.split('=');
            let name = normal_name(fields.next().unwrap_or(""));
            let version = fields.next().map(str::to_owned);
            named.requirements.push(Requirement { name, version, from: None, place });
        }
    }
    Ok(())
}

/// A Dockerfile: the images of its FROM lines and what its RUN lines install with pip.
///
/// # Errors
/// Never; it is scanned by line.
pub fn dockerfile(named: &mut Named, file: &str, text: &str) -> Result<(), SizeError> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut stages = BTreeSet::new();
    for (number, line) in joined.lines().enumerate() {
        let place = format!("{file}:{}", number + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        if first.eq_ignore_ascii_case("FROM") {
            let Some(image) = words.iter().skip(1).find(|word| !word.starts_with("--")) else { continue };
            if !stages.contains(&image.to_ascii_lowercase()) {
                named.images.push(((*image).to_owned(), place));
            }
            if let Some(stage) =
                words.iter().position(|word| word.eq_ignore_ascii_case("AS")).and_then(|at| words.get(at + 1))
            {
                stages.insert(stage.to_ascii_lowercase());
            }
        } else if first.eq_ignore_ascii_case("RUN") {
            for command in
                line.split("&&").filter(|command| command.contains("pip") && command.contains(" install "))
            {
                let arguments = command.split(" install ").nth(1).unwrap_or("").split_whitespace();
                for word in arguments.map(|word| word.trim_matches(['"', '\''])) {
                    if word.contains("://") {
                        named.index(word.split('=').next_back(), &place);
                    } else if !word.starts_with(['-', '.', '/', '$']) && !word.ends_with(".txt") {
                        named.requirements.extend(requirement(word, &place));
                    }
                }
            }
        }
    }
    Ok(())
}

impl Named {
    /// Keeps the name of a wheel index when an address ends in one; other addresses say nothing of a backend.
    fn index(&mut self, address: Option<&str>, place: &str) {
        let Some(last) = address.and_then(|address| address.trim_end_matches('/').rsplit('/').next()) else {
            return;
        };
        if super::wheel::Build::of_tag(last).is_some() && !self.indexes.iter().any(|(name, _)| name == last) {
            self.indexes.push((last.to_owned(), place.to_owned()));
        }
    }

    /// Looks through one Python source for imports, kernels and model code.
    pub fn python(&mut self, file: &str, text: &str) {
        for (number, line) in text.lines().enumerate() {
            let place = || format!("{file}:{}", number + 1);
            let code = line.split('#').next().unwrap_or("").trim_start();
            let modules: Vec<&str> = if let Some(rest) = code.strip_prefix("import ") {
                rest.split(',').map(|name| name.split_whitespace().next().unwrap_or("")).collect()
            } else if let Some(rest) = code.strip_prefix("from ") {
                rest.split_whitespace().next().filter(|_| rest.contains(" import ")).into_iter().collect()
            } else {
                Vec::new()
            };
            for module in modules.into_iter().filter(|module| !module.is_empty() && !module.starts_with('.'))
            {
                if !self.imports.iter().any(|(known, _)| known == module) {
                    self.imports.push((module.to_owned(), place()));
                }
            }
            let signs = [
                ("CUDAExtension", OwnCode::TorchExtension),
                ("load_inline", OwnCode::TorchExtension),
                ("cpp_extension", OwnCode::TorchExtension),
                ("triton.jit", OwnCode::TritonKernel),
                ("trust_remote_code=True", OwnCode::ModelCode),
            ];
            let plain: String = code.chars().filter(|c| *c != ' ').collect();
            for (_, kind) in signs.iter().filter(|(sign, _)| plain.contains(sign)) {
                if !self.own_code.iter().any(|(known, at)| known == kind && at.starts_with(file)) {
                    self.own_code.push((*kind, place()));
                }
            }
        }
    }
}

/// Looks through `src/` and the top of the project, links not followed.
fn sources(root: &Path, named: &mut Named) -> Result<(), SizeError> {
    let mut waiting = vec![String::new()];
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        let mut names = list(&root.join(&folder))?;
        names.sort_unstable();
        for name in names {
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let full = root.join(&path);
            let Ok(facts) = std::fs::symlink_metadata(&full) else { continue };
            if facts.is_dir() {
                // Below the top only src/ is the project's own code; hidden folders are tools'.
                if !name.starts_with('.') && (!folder.is_empty() || name == "src") {
                    waiting.push(path);
                }
            } else if facts.is_file() && seen < SOURCES_MAX {
                let ending = name.rsplit('.').next().unwrap_or("");
                match ending {
                    "py" if facts.len() <= FILE_BYTES_MAX => {
                        seen += 1;
                        named.python(&path, &text(&full, &path)?);
                    }
                    "cu" | "cuh" => named.own_code.push((OwnCode::CudaSource, path)),
                    "hip" => named.own_code.push((OwnCode::HipSource, path)),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}
