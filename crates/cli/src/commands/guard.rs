//! The hidden command of guards: `pilote __guard run -- ARGV...` and `pilote __guard pool`.

use std::ffi::OsString;
use std::process::{ExitCode, Termination};

use pilote_engine::process::{guard, pool};

use crate::exit::Exit;
use crate::printer::write_line;
use crate::surroundings::SystemClock;

/// A status that is handed on from a child, or ours.
pub(crate) enum GuardExit {
    /// The child's.
    Child(u8),
    /// Ours.
    Ours(Exit),
}

impl Termination for GuardExit {
    fn report(self) -> ExitCode {
        match self {
            Self::Child(status) => ExitCode::from(status),
            Self::Ours(exit) => exit.report(),
        }
    }
}

/// Runs as a guard until its child or its parent is gone.
#[must_use]
pub(crate) fn guard(arguments: &[OsString]) -> GuardExit {
    let done = match arguments {
        [mode, dashes, argv @ ..] if mode == "run" && dashes == "--" => {
            guard::run(argv).map(GuardExit::Child)
        }
        [mode] if mode == "pool" => pool::serve(&SystemClock::start()).map(|()| GuardExit::Ours(Exit::Holds)),
        _ => Ok(GuardExit::Ours(Exit::Request)),
    };
    done.unwrap_or_else(|error| {
        write_line(&mut std::io::stderr(), &format!("pilote guard: {error}"));
        GuardExit::Ours(Exit::Machine)
    })
}
