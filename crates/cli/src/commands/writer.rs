//! The process that works on a trial, as another terminal finds and signals it.

use std::path::Path;

use pilote_ledger::{Liveness as _, Nonce, Owner, ProcessLiveness, Standing};
use pilote_proof::WriterNews;
use pilote_spec::WriterProcess;

use super::unlock::owner;
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// A writer of a trial, and how its process stands.
pub(crate) struct Found {
    /// What it said.
    pub news: WriterNews,
    /// How its process stands; gone as well where it cannot be seen and said that it ended.
    pub standing: Standing,
}

/// All writers, the one that began last at the end.
///
/// # Errors
/// When the events or `/proc` cannot be read.
pub(crate) fn all(trial: &Path, surroundings: &Surroundings) -> Result<Vec<Found>, Failure> {
    let liveness = liveness(surroundings)?;
    let found = |news: WriterNews| {
        let seen = match &news.process {
            Some(process) => liveness.standing(&as_owner(process)),
            None => Standing::Unknown("its process was not written down".to_owned()),
        };
        // Of a process that cannot be seen, its own word is all there is. One that can be seen still collects then.
        let standing = match seen {
            Standing::Unknown(_) if news.ended.is_some() => {
                Standing::Dead("it said that it ended".to_owned())
            }
            seen => seen,
        };
        Found { news, standing }
    };
    Ok(pilote_proof::writers(trial)?.into_iter().map(found).collect())
}

/// Liveness of processes as this one sees them.
///
/// # Errors
/// When `/proc` cannot be read.
pub(crate) fn liveness(surroundings: &Surroundings) -> Result<ProcessLiveness, Failure> {
    Ok(ProcessLiveness::new(owner(surroundings)?))
}

/// A process as the ledger knows owners. Standing does not look at the nonce.
pub(crate) fn as_owner(process: &WriterProcess) -> Owner {
    let WriterProcess { host, boot, pid, started, pid_namespace, .. } = process.clone();
    Owner { nonce: Nonce(0), host, boot, pid, started, pid_namespace }
}
