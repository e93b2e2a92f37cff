//! `pilote unlock`: a person's word that the owner of a trial is gone.

use std::sync::Arc;

use pilote_ledger::{DirStore, Ledger, LedgerError, Nonce, Owner, ProcessLiveness, Standing, Store};
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct UnlockJson {
    format: &'static str,
    trial: String,
    parts: Vec<u32>,
}

/// Lets the unfinished parts of a trial be taken over.
///
/// # Errors
/// When the trial cannot be read, or its owner is known to be alive.
pub(crate) fn unlock(
    args: &args::Unlock,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    if !trial.join("trial.json").is_file() {
        let error = anyhow::anyhow!("{} is no trial: it has no trial.json", trial.display());
        return Err(Failure::request("no-trial", error).hint("`pilote runs` lists the trials of a project"));
    }
    let (ledger, store) = ledger(&trial, surroundings)?;
    let mut parts = Vec::new();
    for part in pilote_ledger::parts(&*store)? {
        match ledger.unlock(part) {
            Ok(unlocked) => {
                parts.push(part);
                let (number, owner) = (part.to_string(), unlocked.from.to_string());
                printer.line(&printer.texts.get("unlock-part", &[("part", &number), ("owner", &owner)]));
                if unlocked.standing == Standing::Alive {
                    printer.line(&printer.texts.get("unlock-alive", &[("owner", &owner)]));
                }
            }
            Err(LedgerError::NothingHeld { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if parts.is_empty() {
        printer.line(&printer.texts.get("unlock-nothing", &[]));
    }
    printer.object(&UnlockJson { format: "pilote.unlock/1", trial: trial.display().to_string(), parts });
    Ok(Exit::Holds)
}

/// The ledger of a trial, as this process would write it.
fn ledger(trial: &std::path::Path, surroundings: &Surroundings) -> Result<(Ledger, Arc<dyn Store>), Failure> {
    let owner = owner(surroundings)?;
    let store: Arc<dyn Store> = Arc::new(DirStore::open(trial).map_err(LedgerError::from)?);
    let ledger = Ledger::new(Arc::clone(&store), owner.clone(), Arc::new(ProcessLiveness::new(owner)));
    Ok((ledger, store))
}

/// This process, as the ledger records it.
///
/// # Errors
/// When the machine gives no random bytes, or `/proc` cannot be read.
pub(crate) fn owner(surroundings: &Surroundings) -> Result<Owner, Failure> {
    Owner::of_this_process(Nonce(surroundings.chance()?)).map_err(|error| {
        Failure::machine("no-owner", error)
            .hint("trials are run on Linux; reading and verifying works everywhere")
    })
}
