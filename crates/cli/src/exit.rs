//! The exit statuses, as `docs/architecture.md` publishes them.

use std::process::{ExitCode, Termination};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done, and the criteria hold.
    Holds = 0,
    /// Done, and a criterion does not hold or a check failed.
    Fails = 1,
    /// The request or a file of the project is wrong.
    Request = 2,
    /// The machine or the engine failed.
    Machine = 3,
    /// Stopped; can be taken up again.
    Stopped = 4,
}

impl Exit {
    /// The number that the caller sees.
    #[must_use]
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The exit status with this number.
    #[must_use]
    pub(crate) fn of_code(code: i32) -> Option<Self> {
        [Self::Holds, Self::Fails, Self::Request, Self::Machine, Self::Stopped]
            .into_iter()
            .find(|exit| i32::from(exit.code()) == code)
    }

    /// `Holds` or `Fails`.
    #[must_use]
    pub(crate) fn of_verdict(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}
