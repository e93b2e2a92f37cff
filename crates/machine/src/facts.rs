//! The facts of a machine, format `pilote.facts/1`: what was seen, before anything is judged.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::evidence::{Evidence, Said};

/// The format that this program reads and writes.
pub const FACTS_FORMAT: &str = "pilote.facts/1";

/// Everything that was seen. A step that was not taken is not in `steps`; what it would have seen is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Always `pilote.facts/1`.
    #[serde(default)]
    pub format: String,
    /// What read them: `pilote 0.1.0` or `diagnose.py`.
    #[serde(default)]
    pub by: String,
    /// The steps that were taken: `system`, `machine`, `cards`, `fabric`, and those of the probe.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub steps: BTreeSet<String>,
    /// What was copied from the machine.
    #[serde(default)]
    pub machine: Evidence,
    /// The interpreter; none where the project needs none, or it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<Interpreter>,
    /// Its packages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// Files of the project that hide a module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<Shadow>,
    /// NVIDIA's driver interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverSeen>,
    /// PyTorch; none where it is not installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torch: Option<Torch>,
    /// Computations with their known results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computations: Vec<Computation>,
    /// What passes between cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<Peers>,
    /// Declared modules with compiled code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<ExtensionSeen>,
    /// Declared programs, licences and preprocessing, by `KIND:NAME`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Said>,
    /// Steps that ended without an answer, with their last words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ended: BTreeMap<String, Said>,
}

/// A Python interpreter as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interpreter {
    /// Its path, as it was started.
    pub executable: String,
    /// The file behind it, links followed.
    pub real: String,
    /// `sys.prefix`: the environment.
    pub prefix: String,
    /// `sys.base_prefix`: the installation below it.
    pub base_prefix: String,
    /// `3.12.1`.
    pub version: String,
    /// `CPython` ...
    pub implementation: String,
    /// `linux-x86_64` ...
    pub platform: String,
    /// Where it looks for modules.
    pub path: Vec<String>,
    /// Whether packages of the user's home are looked at.
    pub user_packages: bool,
    /// Whether the system forbids installing into it.
    pub externally_managed: bool,
    /// Its pip, and the one on the PATH.
    pub pip: Pip,
    /// What `python3` means on the PATH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_path: Option<String>,
}

impl Interpreter {
    /// Whether it is that of a virtual environment.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.prefix != self.base_prefix
    }
}

/// Which pip belongs to whom.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pip {
    /// The folder of this interpreter's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// What `pip` means on the PATH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_path: Option<String>,
    /// The interpreter that that one names in its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter_of_path: Option<String>,
}

/// An installed package.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Package {
    /// Its name, lower case, with dashes.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where its record lies.
    pub place: String,
    /// What its wheel was made for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where it was installed from, when not from an index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<serde_json::Value>,
    /// Others of the same name that this one hides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Other>,
    /// Bytes of its files that were compared with its record; none where they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_bytes: Option<u64>,
    /// Files that are not as they were installed, ten at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// A hidden package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// Its version.
    pub version: String,
    /// Where it lies.
    pub place: String,
}

/// A file of the project that hides a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// The module.
    pub module: String,
    /// The file.
    pub file: String,
    /// `python` for a module of Python itself, `package` for one that is installed.
    pub hides: String,
}

/// An error of Python.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PythonError {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its message.
    pub message: String,
    /// The last lines of where it came from.
    pub lines: String,
}

/// NVIDIA's driver interface, asked directly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriverSeen {
    /// The number with which initialising ended; 0 is success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// The newest CUDA that the driver runs: `12.8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<String>,
    /// Cards that it gives to this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Those cards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<CardSeen>,
    /// Why its library could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A card as a library sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CardSeen {
    /// Its index in this process.
    pub index: u32,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// `9.0`, or `gfx942`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Free memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Why nothing more is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PythonError>,
}

/// PyTorch as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Torch {
    /// Its version, `2.8.0+cu128`.
    pub version: Option<String>,
    /// The file that was imported.
    pub file: Option<String>,
    /// The CUDA that it was built with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<String>,
    /// The HIP that it was built with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hip: Option<String>,
    /// Whether it says that a card is available, which proves no computation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
    /// Cards that it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Architectures that its kernels were built for: `sm_90`, `compute_90`, `gfx942`.
    pub built_for: Vec<String>,
    /// Those cards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<CardSeen>,
    /// What it warned of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The error of importing it, or of its first use of a card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PythonError>,
}

/// A computation whose result is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Computation {
    /// `cpu`, `cuda:0` ...
    pub device: String,
    /// `fp32`, `fp16`, `bf16`.
    pub kind: String,
    /// Rows of the matrices.
    pub size: u32,
    /// What computed: `torch`, `numpy`, `python`.
    pub by: String,
    /// The greatest difference from the known result.
    pub difference: Option<f64>,
    /// The difference that the precision allows.
    pub tolerance: Option<f64>,
    /// Whether the result is within it.
    pub right: Option<bool>,
    /// Seconds, the first use of the card included.
    pub seconds: Option<f64>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PythonError>,
}

/// What passes between cards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Peers {
    /// Each copy.
    pub copies: Vec<PeerCopy>,
    /// A sum over all cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collective: Option<Tried>,
    /// The error before any was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PythonError>,
}

/// A copy from one card to another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerCopy {
    /// The card it starts from.
    pub from: u32,
    /// The card it goes to.
    pub to: u32,
    /// Whether the cards reach each other's memory without the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Whether what arrived is what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<bool>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PythonError>,
}

/// Something that is right, wrong, or ended with an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tried {
    /// Whether the result is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<bool>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PythonError>,
}

/// A declared module with compiled code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtensionSeen {
    /// Its name.
    pub module: String,
    /// What importing it came to.
    pub import: Said,
    /// What its smallest operation came to; none where none is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Said>,
}

/// Why facts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// The file is no JSON of the format.
    #[error(
        "{file} holds no facts: {problem}; make it with `python3 diagnose.py > FILE` or `pilote check --json`"
    )]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// Another format or version.
    #[error(
        "{file} is of the format `{format}`, and this program reads {FACTS_FORMAT}; judge it with a newer pilote"
    )]
    OtherFormat {
        /// The file.
        file: String,
        /// Its format.
        format: String,
    },
    /// The probe did not answer as it should.
    #[error("the probe gave no answer: {0}")]
    Probe(String),
}

impl Facts {
    /// Facts of this program before any step.
    #[must_use]
    pub fn new(by: String) -> Self {
        Self { format: FACTS_FORMAT.to_owned(), by, ..Self::default() }
    }

    /// Reads a file of facts; unknown fields of a later program are passed over.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(text: &str, file: &str) -> Result<Self, FactsError> {
        let unreadable = |problem: String| FactsError::Unreadable { file: file.to_owned(), problem };
        // Windows' shells write a byte order mark where output goes to a file.
        let text = text.trim_start_matches('\u{feff}');
        let facts: Self = serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        match facts.format.as_str() {
            FACTS_FORMAT => Ok(facts),
            "" => Err(unreadable("it names no format".to_owned())),
            other => Err(FactsError::OtherFormat { file: file.to_owned(), format: other.to_owned() }),
        }
    }

    /// Whether a step was taken.
    #[must_use]
    pub fn took(&self, step: &str) -> bool {
        self.steps.contains(step)
    }
}
