//! `pilote verify`: a trial or a copy of one is read whole by a program that never saw it run.

use pilote_proof::{Check, Sample, Subject, Thoroughness, Unchecked, Verification};
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
    verification: &'a Verification,
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
    let bucket = place::bucket(surroundings, &args.run)?;
    let file = surroundings.folder.join(&args.run);
    let dir = match &bucket {
        Some(bucket) => bucket.shown("").into(),
        None if file.is_file() => place::plain(&file),
        None => place::plain(&place::trial(surroundings, &args.run)?),
    };
    let sample = match args.sample {
        Some(share) => Some(Sample { share, seed: seed(surroundings)? }),
        None => None,
    };
    let thoroughness = Thoroughness { sample, ..Thoroughness::default() };
    let verification = match &bucket {
        Some(bucket) => pilote_proof::verify_bucket(bucket, &thoroughness)?,
        None => pilote_proof::verify_as(&dir, &thoroughness)?,
    };
    show::verification(printer, &verification);
    let key = match (verification.subject, verification.whole) {
        (_, false) => "verify-damaged",
        (_, true) if verification.sampled.is_some() => "verify-sample-whole",
        (Subject::Copy, true) => "verify-copy-whole",
        (Subject::Trial, true) => "verify-trial-whole",
        (Subject::Bag, true) => "verify-bag-whole",
    };
    let (files, errors) = (verification.files.to_string(), verification.errors.to_string());
    let size = printer.texts.storage(verification.bytes);
    printer.line(&printer.texts.get(key, &[("files", &files), ("size", &size), ("errors", &errors)]));
    if let Some(file) = &args.receipt {
        let file = surroundings.folder.join(file);
        let receipt = pilote_proof::write_receipt(&dir, &verification, reader(surroundings), &file)?;
        let said = [("file", &*file.display().to_string()), ("trial", &*receipt.trial)];
        printer.line(&printer.texts.get("receipt-written", &said));
    }
    say_checks(&verification, printer);
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

/// Says what was checked and what was not, so that nobody takes one for the other.
fn say_checks(verification: &Verification, printer: &Printer) {
    let texts = &printer.texts;
    let name = |check: Check| texts.get(&format!("check-{}", check.code()), &[]);
    let separator = texts.get("list-separator", &[]);
    let checked: Vec<String> = verification.checked.iter().map(|check| name(*check)).collect();
    let why =
        |left: &Unchecked| texts.get(&format!("why-{}", left.why.code()), &[("check", &name(left.check))]);
    let unchecked: Vec<String> = verification.unchecked.iter().map(why).collect();
    for (key, what) in [("verify-checked", checked), ("verify-unchecked", unchecked)] {
        if !what.is_empty() {
            printer.line(&texts.get(key, &[("what", &what.join(&separator))]));
        }
    }
}

/// Another one each time, so that a sample cannot be foreseen.
fn seed(surroundings: &Surroundings) -> Result<u64, Failure> {
    Ok(u64::try_from(surroundings.chance()? >> 64).unwrap_or_default())
}
