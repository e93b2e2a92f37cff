//! What ends a command early: a kind that decides the exit status, a stable code, the error and what to do next.
//! Errors of the libraries become failures here and nowhere else.

use std::fmt::Write as _;

use pilote_text::printable;
use serde::Serialize;

use crate::exit::Exit;
use crate::size_error::Spoken;

/// A command's failure.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit status.
    pub exit: Exit,
    /// The stable code, for programs.
    pub code: &'static str,
    /// What failed, with what.
    pub error: anyhow::Error,
    /// What to do next.
    pub hints: Vec<String>,
}

impl From<pilote_proof::ProofError> for Failure {
    fn from(error: pilote_proof::ProofError) -> Self {
        use pilote_proof::ProofError as E;
        let exit = match &error {
            E::NoTrial { .. }
            | E::BadTrial { .. }
            | E::DestinationTaken { .. }
            | E::NoSuchTable { .. }
            | E::DestinationInside { .. }
            | E::DestinationNoFolder { .. }
            | E::NoProject { .. } => Exit::Request,
            // What was computed is durable; with space again, the same command goes on.
            _ if is_full(&error) => {
                let failure = Self::stopped(error.code(), error);
                return failure.hint("free some space, then give the same command again");
            }
            E::NotSealed { .. } | E::NotEnded { .. } => Exit::Stopped,
            E::Missing { .. } | E::Damaged { .. } | E::Differs { .. } | E::Document { .. } => Exit::Fails,
            E::SourceChanged { .. }
            | E::NotPlain { .. }
            | E::CaseTwins { .. }
            | E::NameUnsafe { .. }
            | E::InputGone { .. }
            | E::InputsUnlisted { .. }
            | E::InputChanged { .. } => Exit::Fails,
            E::Ledger(_) | E::Io { .. } | E::Report { .. } => Exit::Machine,
        };
        Self { exit, code: error.code(), error: error.into(), hints: Vec::new() }
    }
}

/// Whether a medium that is full is among the causes.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let full = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
    };
    std::iter::successors(Some(error), |error| error.source())
        .any(|error| error.downcast_ref::<std::io::Error>().is_some_and(full))
}

impl From<pilote_proof::DecideError> for Failure {
    fn from(error: pilote_proof::DecideError) -> Self {
        match error {
            pilote_proof::DecideError::Proof(error) => error.into(),
            error => Self::request(error.code(), error),
        }
    }
}

impl From<pilote_proof::ReceiptError> for Failure {
    fn from(error: pilote_proof::ReceiptError) -> Self {
        match error {
            pilote_proof::ReceiptError::Proof(error) => error.into(),
            error => Self { exit: Exit::Fails, ..Self::request(error.code(), error) },
        }
    }
}

impl From<pilote_conduct::ConductError> for Failure {
    fn from(error: pilote_conduct::ConductError) -> Self {
        let exit = match error.exit() {
            2 => Exit::Request,
            4 => Exit::Stopped,
            _ => Exit::Machine,
        };
        Self { exit, code: error.code(), error: error.into(), hints: Vec::new() }
    }
}

impl From<pilote_size::SizeError> for Failure {
    fn from(error: pilote_size::SizeError) -> Self {
        match error.code() {
            "http" => Self::machine("http", error),
            code => Self::request(code, error),
        }
    }
}

impl From<pilote_ledger::LedgerError> for Failure {
    fn from(error: pilote_ledger::LedgerError) -> Self {
        use pilote_ledger::LedgerError as E;
        match &error {
            E::HeldBy { .. } | E::OwnerUnknown { .. } => Self::request("held", error),
            _ => Self::stopped("ledger", error),
        }
    }
}

impl From<pilote_ledger::StoreError> for Failure {
    fn from(error: pilote_ledger::StoreError) -> Self {
        Self::from(pilote_ledger::LedgerError::from(error))
    }
}

/// A failure as `--json` prints it.
#[derive(Debug, Serialize)]
struct FailureJson<'a> {
    format: &'static str,
    code: &'a str,
    message: String,
    hints: &'a [String],
    exit: u8,
}

impl Failure {
    /// The request or a file of the project is wrong.
    pub(crate) fn request(code: &'static str, error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Request, code, error: error.into(), hints: Vec::new() }
    }

    /// The machine or the engine failed.
    pub(crate) fn machine(code: &'static str, error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Machine, code, error: error.into(), hints: Vec::new() }
    }

    /// Stopped, and can be taken up again.
    pub(crate) fn stopped(code: &'static str, error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Stopped, code, error: error.into(), hints: Vec::new() }
    }

    /// The same with one more piece of advice.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The error with its causes, a line each; a cause that the line above already says is left out.
    #[must_use]
    pub(crate) fn message(&self) -> String {
        let mut message = self.error.to_string();
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            if !message.contains(&cause) {
                let _ = write!(message, "\n  because: {cause}");
            }
        }
        message
    }

    /// For standard error.
    #[must_use]
    pub(crate) fn for_people(&self) -> String {
        // Names from outside stand in messages; no line of them steers the terminal.
        let spoken = self.error.downcast_ref::<Spoken>().map(|spoken| {
            let cause = self.error.chain().skip(2).map(|cause| format!("\n  {cause}"));
            spoken.words.clone() + &cause.collect::<String>()
        });
        let message: Vec<_> = spoken
            .unwrap_or_else(|| self.message())
            .lines()
            .map(|line| printable(line).into_owned())
            .collect();
        let mut text = format!("error: {}\n", message.join("\n"));
        for hint in &self.hints {
            let _ = write!(text, "\nhint: {hint}\n");
        }
        text
    }

    /// For standard output under `--json`.
    #[must_use]
    pub(crate) fn for_programs(&self) -> String {
        let json = FailureJson {
            format: "pilote.error/1",
            code: self.code,
            message: self.message(),
            hints: &self.hints,
            exit: self.exit.code(),
        };
        serde_json::to_string(&json).unwrap_or_else(|_| "{\"format\":\"pilote.error/1\"}".to_owned())
    }
}
