//! What a project needs of the machine it runs on, declared so that the ladder of checks can compare it with what
//! the machine really has.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Digest;

/// `needs` of a project. What is not declared is not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// The operating system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<NeededSystem>,
    /// The interpreter that the engine uses, where its command does not name it: a name on the PATH, or a path
    /// relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// Its version, as far as it matters: `3.12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+){0,2}$"))]
    pub python: Option<String>,
    /// What the computation runs on. Without it, the libraries decide as far as they force a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<NeededBackend>,
    /// Cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cards: Option<u32>,
    /// Memory of each card in MiB, as its driver shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub card_memory_mib: Option<u64>,
    /// Memory of the machine in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory_mib: Option<u64>,
    /// Free room in MiB where trials are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub disk_mib: Option<u64>,
    /// Shared memory (`/dev/shm`) in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub shared_memory_mib: Option<u64>,
    /// Files of pinned and hashed Python packages, relative to the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Python modules with compiled code, each tried by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<NeededExtension>,
    /// Programs such as Blender, asked for their version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<NeededProgram>,
    /// Licences, each asked for by a command that ends with status 0 where it is there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub licences: Vec<NeededProgram>,
    /// The step before the engine, tried on an input whose outcome is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preprocessing: Option<KnownOutput>,
    /// Adapters of the model (LoRA and its like), each tried through the whole path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adapters: Vec<NeededAdapter>,
    /// Models, data and code that the project refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeededSystem {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

impl NeededSystem {
    /// The word of the configuration, which is also how the compiler names the system.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Macos => "macos",
            Self::Windows => "windows",
        }
    }
}

/// What a computation runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeededBackend {
    /// NVIDIA cards.
    Cuda,
    /// AMD cards.
    Rocm,
    /// The processor.
    Cpu,
}

impl NeededBackend {
    /// The word of the configuration.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Cpu => "cpu",
        }
    }
}

/// A module with compiled code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeededExtension {
    /// The module's name, as it is imported.
    pub module: String,
    /// A Python file of the project that does its smallest operation, compares the result with a reference, and
    /// ends with status 0 where both agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// A program, or a command that proves a licence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeededProgram {
    /// Its name for people.
    pub name: String,
    /// Program and arguments, never a shell line.
    pub command: Vec<String>,
    /// What its output must contain: a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
}

/// A command whose output is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownOutput {
    /// Program and arguments, never a shell line.
    pub command: Vec<String>,
    /// Digest of its standard output.
    pub sha256: Digest,
}

/// An adapter of the engine's model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeededAdapter {
    /// Its name: a server is asked for it in the place of its model, a worker is told it as its parameter `adapter`.
    pub name: String,
    /// Parameters that take the place of the engine's own where the adapter is used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
}

/// A model, data or code from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its name for people.
    pub name: String,
    /// What it is.
    pub kind: ReferenceKind,
    /// Where it comes from, with its revision.
    pub from: String,
    /// Digest of each file by its path relative to the project, or by its name where it lies elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sha256: BTreeMap<String, Digest>,
    /// Its licence, or the permission to use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
}

/// What a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceKind {
    /// Weights.
    Model,
    /// A data set.
    Data,
    /// Source code.
    Code,
}
