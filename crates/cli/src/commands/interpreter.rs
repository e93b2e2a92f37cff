//! The Python that a project would be run with, as it describes itself; asked directly, never through a shell.

use std::collections::BTreeMap;
use std::path::Path;

use pilote_machine::evidence::Programs as _;
use serde::{Deserialize, Serialize};

use super::check::programs::Guarded;
use crate::surroundings::Surroundings;

/// What it is asked to print: one JSON object.
const QUESTION: &str = "import json, platform, sys\n\
    print(json.dumps({'major': sys.version_info[0], 'minor': sys.version_info[1], 'version': platform.python_version(), \
    'implementation': platform.python_implementation(), 'system': platform.system().lower(), \
    'architecture': platform.machine().lower()}))";

/// How long it may take to answer; a cold disk is slow, and an interpreter that hangs is none.
const SECONDS_MAX: u32 = 20;

/// Where a project's own environment and the machine's interpreter are looked for, in this order.
const PLACES: [&str; 6] = [
    "./.venv/bin/python",
    "./venv/bin/python",
    "./.venv/Scripts/python.exe",
    "./venv/Scripts/python.exe",
    "python3",
    "python",
];

/// An interpreter that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Interpreter {
    /// How it was found: a path in the project, or a name on the PATH.
    pub(crate) place: String,
    /// What it said of itself.
    #[serde(flatten)]
    pub(crate) said: Answer,
}

/// What an interpreter says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    major: u32,
    minor: u32,
    /// `3.12.1`.
    pub(crate) version: String,
    /// `CPython` ...
    pub(crate) implementation: String,
    /// `linux`, `darwin` or `windows`.
    system: String,
    /// `x86_64`, `arm64` ...
    pub(crate) architecture: String,
}

impl Answer {
    /// The minor version of a CPython 3, which is what wheels are published for.
    pub(crate) fn minor_of_three(&self) -> Option<u32> {
        (self.major == 3 && self.implementation == "CPython").then_some(self.minor)
    }

    /// The system by the name that wheels use.
    pub(crate) fn system(&self) -> &str {
        if self.system == "darwin" { "macos" } else { &self.system }
    }
}

/// The first interpreter that answers; none where there is none, or none that can say what it is.
pub(crate) fn found(root: &Path, surroundings: &Surroundings) -> Option<Interpreter> {
    let programs = Guarded::of(None, root, surroundings).ok()?;
    PLACES.iter().find_map(|place| {
        programs.finds(place)?;
        let argv = [*place, "-I", "-c", QUESTION].map(str::to_owned);
        let said = programs.run(&argv, &BTreeMap::new(), SECONDS_MAX);
        let said = serde_json::from_str(said.good()?.trim()).ok()?;
        Some(Interpreter { place: place.trim_start_matches("./").to_owned(), said })
    })
}
