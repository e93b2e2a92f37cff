//! The rungs, their verdicts and their findings: what `pilote.check/1` holds. Sentences are chosen elsewhere, by code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

macro_rules! rungs {
    ($($(#[$doc:meta])* $name:ident = $code:literal after [$($needs:ident),*],)+) => {
        /// A rung of the ladder, in the order in which it is climbed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum RungCode {
            $($(#[$doc])* #[serde(rename = $code)] $name,)+
        }

        impl RungCode {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The stable code.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code),+ }
            }

            /// The rungs without which this one says nothing.
            #[must_use]
            pub fn needs(self) -> &'static [Self] {
                match self { $(Self::$name => &[$(Self::$needs),*]),+ }
            }
        }
    };
}

rungs! {
    /// The project's folder.
    Project = "project" after [],
    /// Operating system, C library, memory, room.
    System = "system" after [],
    /// The interpreter that is really used.
    Interpreter = "interpreter" after [],
    /// Declared environment against installed.
    Environment = "environment" after [Interpreter],
    /// Cards on the bus.
    Bus = "bus" after [],
    /// Kernel module against user library.
    Driver = "driver" after [Bus],
    /// Device nodes and permissions.
    Nodes = "nodes" after [Driver],
    /// What the container lets through.
    Container = "container" after [],
    /// The fabric manager, where there is an NVSwitch.
    Fabric = "fabric" after [Driver],
    /// Cards as their driver shows them.
    Cards = "cards" after [Driver, Nodes],
    /// Cards and memory against the order.
    Order = "order" after [Cards],
    /// Kind of wheel, and its least driver.
    Wheel = "wheel" after [Interpreter],
    /// Compute capability against what the wheel was built for.
    Capability = "capability" after [Wheel, Cards],
    /// A real computation against its known result.
    Computation = "computation" after [Interpreter, Wheel],
    /// Free memory, and who holds the rest.
    Memory = "memory" after [Cards],
    /// What passes between cards.
    Peers = "peers" after [Computation],
    /// Modules with compiled code.
    Extensions = "extensions" after [Environment, Computation],
    /// Preprocessing against a known output.
    Preprocessing = "preprocessing" after [],
    /// The model's files against their digests.
    Model = "model" after [Project],
    /// The engine starts, its model loaded.
    Engine = "engine" after [Model, Environment, Computation],
    /// Items through the whole path, to a result that was read again.
    Items = "items" after [Engine],
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// A fact that was looked at and is as it should be.
    Seen,
    /// Something to know, which stops nothing.
    Note,
    /// What makes the rung fail.
    Fault,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The stable code; its sentences are the messages `check-CODE`.
    pub code: String,
    /// How much it weighs.
    pub weight: Weight,
    /// Figures and names, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// The words in which a program said it, as they are: the last lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The code of a recognised cause, whose message is `cause-CODE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// Lines of a program that a finding shows.
const WORDS_MAX: usize = 12;

impl Finding {
    /// A finding of this weight.
    #[must_use]
    pub fn new(weight: Weight, code: &str) -> Self {
        Self { code: code.to_owned(), weight, values: BTreeMap::new(), words: Vec::new(), cause: None }
    }

    /// What makes the rung fail.
    #[must_use]
    pub fn fault(code: &str) -> Self {
        Self::new(Weight::Fault, code)
    }

    /// Something to know.
    #[must_use]
    pub fn note(code: &str) -> Self {
        Self::new(Weight::Note, code)
    }

    /// A fact as it should be.
    #[must_use]
    pub fn seen(code: &str) -> Self {
        Self::new(Weight::Seen, code)
    }

    /// With a figure or a name.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "figures and names are handed over as they are at hand"
    )]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.values.insert(name.to_owned(), value.to_string());
        self
    }

    /// With the last lines of what a program said.
    #[must_use]
    pub fn saying(mut self, words: &str) -> Self {
        let lines: Vec<&str> = words.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let first = lines.len().saturating_sub(WORDS_MAX);
        self.words = lines[first..].iter().map(|line| (*line).to_owned()).collect();
        self
    }

    /// With a recognised cause.
    #[must_use]
    pub fn because(mut self, cause: Option<&str>) -> Self {
        self.cause = cause.map(str::to_owned);
        self
    }
}

/// What a rung came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum RungVerdict {
    /// Nothing stands against it.
    Passed,
    /// A finding makes it fail.
    Failed,
    /// Not looked at, since another rung stands in the way.
    Skipped {
        /// The rung that stands in the way.
        by: RungCode,
    },
    /// This project or machine has nothing for it to look at.
    NotApplicable {
        /// Why, as a code: the message `check-na-CODE`.
        why: String,
    },
    /// Facts from elsewhere do not hold what it judges.
    NotSeen,
}

impl RungVerdict {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped { .. } => "skipped",
            Self::NotApplicable { .. } => "not-applicable",
            Self::NotSeen => "not-seen",
        }
    }
}

/// A rung and what it came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RungReport {
    /// Which rung.
    pub rung: RungCode,
    /// Its verdict.
    #[serde(flatten)]
    pub verdict: RungVerdict,
    /// What was found, faults first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Time it took, in milliseconds; none where it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

impl RungReport {
    /// The finding that decided, where the rung failed.
    #[must_use]
    pub fn fault(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.weight == Weight::Fault)
    }
}
