//! The probe: one Python file of the standard library alone that collects facts. It is carried inside the program,
//! run through the project's own interpreter, and written out for a machine where only Python may run.

use crate::evidence::Look;
use crate::facts::{Facts, FactsError};

/// The file, as it is run and as it is written out.
pub const PROBE: &str = include_str!("../probe/diagnose.py");

/// The name under which it is written out.
pub const PROBE_NAME: &str = "diagnose.py";

/// A step of the probe, each in a process of its own: a crash or a hang of a driver costs that step alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The interpreter, its packages, what hides what.
    Interpreter,
    /// NVIDIA's driver interface, asked directly.
    Driver,
    /// PyTorch: what its wheel was built for, and the cards it sees.
    Torch,
    /// Computations whose result is known.
    Compute,
    /// Copies between cards, and a sum over all of them.
    Peers,
    /// The declared modules with compiled code.
    Extensions,
}

impl Step {
    /// The name that the probe knows.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Interpreter => "interpreter",
            Self::Driver => "driver",
            Self::Torch => "torch",
            Self::Compute => "compute",
            Self::Peers => "peers",
            Self::Extensions => "extensions",
        }
    }

    /// Seconds after which a step counts as hung.
    #[must_use]
    pub fn seconds_max(self) -> u32 {
        match self {
            Self::Interpreter | Self::Driver => 60,
            Self::Torch | Self::Peers => 180,
            Self::Compute | Self::Extensions => 300,
        }
    }
}

/// The list of what is copied from a machine, out of the probe's own text.
///
/// # Errors
/// Never for the probe as shipped.
pub fn look() -> Result<Look, FactsError> {
    let text = PROBE.split_once("LOOK = json.loads(r\"\"\"").and_then(|(_, rest)| rest.split_once("\"\"\")"));
    let (list, _) =
        text.ok_or_else(|| FactsError::Probe("the list of what is copied is not there".to_owned()))?;
    serde_json::from_str(list).map_err(|error| FactsError::Probe(error.to_string()))
}

/// Takes the answer of one step into `facts`.
///
/// # Errors
/// When it is no answer of the probe: the step ended before it had one.
pub fn take(facts: &mut Facts, step: Step, answer: &str) -> Result<(), FactsError> {
    let line = answer.lines().rev().find(|line| line.starts_with('{')).unwrap_or_default();
    let found: Facts = serde_json::from_str(line).map_err(|error| FactsError::Probe(error.to_string()))?;
    match step {
        Step::Interpreter => {
            (facts.interpreter, facts.packages, facts.shadows) =
                (found.interpreter, found.packages, found.shadows);
        }
        Step::Driver => facts.driver = found.driver,
        Step::Torch => facts.torch = found.torch,
        Step::Compute => facts.computations = found.computations,
        Step::Peers => facts.peers = found.peers,
        Step::Extensions => facts.extensions = found.extensions,
    }
    facts.steps.insert(step.code().to_owned());
    Ok(())
}
