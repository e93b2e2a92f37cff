//! `pilote verify`: a trial or a copy of one is read whole by a program that never saw it run.

use serde::Serialize;

use super::show;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct VerifyJson<'a> {
    format: &'static str,
    trial: String,
    balance: Option<&'a pilote_spec::Balance>,
    holds: bool,
    verification: &'a pilote_proof::Verification,
}

/// Verifies a trial or a copy.
///
/// # Errors
/// When it cannot be read at all.
pub(crate) fn verify(
    args: &args::Verify,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let dir = place::trial(surroundings, &args.run)?;
    let verification = pilote_proof::verify(&dir)?;
    show::verification(printer, &verification);
    let key = match (verification.subject, verification.whole) {
        (pilote_proof::Subject::Copy, true) => "verify-copy-whole",
        (pilote_proof::Subject::Trial, true) => "verify-trial-whole",
        (_, false) => "verify-damaged",
    };
    let (files, errors) = (verification.files.to_string(), verification.errors.to_string());
    let size = printer.texts.storage(verification.bytes);
    printer.line(&printer.texts.get(key, &[("files", &files), ("size", &size), ("errors", &errors)]));
    printer.object(&VerifyJson {
        format: "pilote.verify/1",
        trial: dir.display().to_string(),
        balance: verification.balance.as_ref(),
        holds: verification.holds,
        verification: &verification,
    });
    Ok(Exit::of_verdict(verification.holds))
}
