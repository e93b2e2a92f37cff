//! The hidden command of guards: `pilote __guard run -- ARGV...` and `pilote __guard pool`; and of a guarded program
//! whose standard output is wanted by itself: `pilote __guard tell -- ARGV...`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Termination};

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
        [mode, dashes, argv @ ..] if mode == "tell" && dashes == "--" => Err(tell(argv)),
        [mode] if mode == "pool" => pool::serve(&SystemClock::start()).map(|()| GuardExit::Ours(Exit::Holds)),
        _ => Ok(GuardExit::Ours(Exit::Request)),
    };
    done.unwrap_or_else(|error| {
        write_line(&mut std::io::stderr(), &format!("pilote guard: {error}"));
        GuardExit::Ours(Exit::Machine)
    })
}

/// Becomes the program `argv`, its standard output on the channel to the parent; its errors stay in the log. Gives
/// the error where that cannot be.
#[expect(clippy::disallowed_methods, reason = "the guard names the channel's descriptor in this variable")]
fn tell(argv: &[OsString]) -> std::io::Error {
    let [program, arguments @ ..] = argv else {
        return std::io::Error::new(std::io::ErrorKind::InvalidInput, "no program to run was given");
    };
    let Some(descriptor) = std::env::var_os(guard::WRITE_FD) else {
        return std::io::Error::other("there is no guard above this program");
    };
    // Opened anew by its name: a number cannot be made a descriptor again without a promise to the compiler.
    let path = std::path::Path::new("/dev/fd").join(descriptor);
    match std::fs::OpenOptions::new().write(true).open(path) {
        Ok(channel) => Command::new(program)
            .args(arguments)
            .env_remove(guard::READ_FD)
            .env_remove(guard::WRITE_FD)
            .stdout(channel)
            .exec(),
        Err(error) => error,
    }
}
