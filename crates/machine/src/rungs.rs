//! The rungs that judge facts: each a pure function of what was seen and what is asked for.

mod bus;
mod cards;
mod compute;
mod environment;
mod interpreter;
mod system;
mod version;
mod wheel;

pub use version::{is_at_least, public_version};

use crate::causes::recognise;
use crate::demands::Demands;
use crate::facts::{Facts, PythonError};
use crate::ladder::Judgement;
use crate::verdict::{Finding, RungCode};

/// Judges one rung by facts alone.
///
/// Rungs that need more than facts (the project's folder, the engine and what follows) are not seen here: who
/// composes the ladder adds them.
#[must_use]
pub fn judge(rung: RungCode, facts: &Facts, demands: &Demands) -> Judgement {
    match rung {
        RungCode::System => system::judge(facts, demands),
        RungCode::Interpreter => interpreter::judge(facts, demands),
        RungCode::Environment => environment::judge(facts, demands),
        RungCode::Bus => bus::on_bus(facts, demands),
        RungCode::Driver => bus::driver(facts, demands),
        RungCode::Nodes => bus::nodes(facts, demands),
        RungCode::Container => bus::container(facts, demands),
        RungCode::Fabric => bus::fabric(facts, demands),
        RungCode::Cards => cards::judge(facts, demands),
        RungCode::Order => cards::order(facts, demands),
        RungCode::Memory => cards::memory(facts, demands),
        RungCode::Wheel => wheel::judge(facts, demands),
        RungCode::Capability => wheel::capability(facts, demands),
        RungCode::Computation => compute::judge(facts, demands),
        RungCode::Peers => compute::peers(facts, demands),
        RungCode::Extensions => compute::extensions(facts, demands),
        RungCode::Preprocessing => environment::preprocessing(facts, demands),
        RungCode::Project | RungCode::Model | RungCode::Engine | RungCode::Items => Judgement::NotSeen,
    }
}

/// A finding with an error of Python: its message and last lines, and the cause where it is recognised.
fn with_error(finding: Finding, error: &PythonError) -> Finding {
    let words = format!("{}: {}", error.kind, error.message);
    let cause = recognise(&words).or_else(|| recognise(&error.lines));
    let shown = if error.lines.is_empty() { words } else { error.lines.clone() };
    finding.saying(&shown).because(cause)
}

/// A finding with a program's last words, and the cause where it is recognised.
fn with_words(finding: Finding, words: &str) -> Finding {
    let cause = recognise(words);
    finding.saying(words).because(cause)
}
