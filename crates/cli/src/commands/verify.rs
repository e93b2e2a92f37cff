//! `pilote verify`: a trial or a copy of one is read whole by a program that never saw it run.

use pilote_spec::Clock as _;
use serde::Serialize;

use super::show;
use crate::args;
use crate::environment;
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
    if let Some(file) = &args.receipt {
        let file = surroundings.folder.join(file);
        let receipt =
            pilote_proof::write_receipt(&place::plain(&dir), &verification, reader(surroundings), &file)?;
        let said = [("file", &*file.display().to_string()), ("trial", &*receipt.trial)];
        printer.line(&printer.texts.get("receipt-written", &said));
    }
    printer.object(&VerifyJson {
        format: "pilote.verify/1",
        trial: dir.display().to_string(),
        balance: verification.balance.as_ref(),
        holds: verification.holds,
        verification: &verification,
    });
    Ok(Exit::of_verdict(verification.holds))
}

/// This machine, as the reader of a copy.
fn reader(surroundings: &Surroundings) -> pilote_proof::Reader {
    pilote_proof::Reader {
        at: surroundings.clock.wall(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: environment::machine(std::path::Path::new("/")),
        about: pilote_machine::facts(std::path::Path::new("/")),
    }
}
