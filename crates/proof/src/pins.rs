//! The fixed digests of the pilot's inputs, kept with the trial so that a copy can be compared with them alone.
//!
//! `pins.sha256` is the project's declared list as it was; `inputs.sha256` says what the files of the inputs were
//! at that moment, which a JSONL file needs: its items are lines, and the list fixes the file. So it is with the files
//! that a range of numbers needs.

use pilote_corpus::{DifferenceKind, Pins, Source};
use pilote_spec::{FixedDigests, Inputs, Item, Location, Trial, TrialKind};
use std::path::Path;

use crate::error::ProofError;
use crate::files;
use crate::finding::{FindingCode, Findings};
use crate::trial_dir::TrialDir;

/// The declared list of fixed digests, as it was.
pub(crate) const PINS: &str = "pins.sha256";

/// Digests of the input files of a JSONL pilot.
pub(crate) const INPUTS: &str = "inputs.sha256";

/// Keeps the project's fixed digests in the trial, if it declares some and they are not kept yet. Called when a
/// trial is launched, so that later changes of the project change nothing; [`crate::collect`] calls it as well.
///
/// # Errors
/// When the trial cannot be read or written. A list that cannot be read is none: the criterion stays unknown.
pub fn keep_pins(project: &Path, trial_dir: &Path) -> Result<(), ProofError> {
    let trial = TrialDir::open(trial_dir)?.trial;
    let Some(declared) = declared(&trial) else { return Ok(()) };
    keep(&trial_dir.join(PINS), || fs_err::read(project.join(declared)).ok())?;
    let pilot = &trial.project.pilot.inputs;
    if !matches!(pilot, Inputs::Directory { .. } | Inputs::Files { .. }) {
        let source = Source::new(project, pilot, &trial.project.limits, trial.project.duplicates);
        keep(&trial_dir.join(INPUTS), || {
            pilote_corpus::digests(&source).ok().map(|pins| pins.to_string().into_bytes())
        })?;
    }
    Ok(())
}

fn keep(path: &Path, bytes: impl FnOnce() -> Option<Vec<u8>>) -> Result<(), ProofError> {
    if path.exists() {
        return Ok(());
    }
    match bytes().map(|bytes| files::create(path, &bytes)) {
        // Somebody else kept them first; the first ones stay.
        None | Some(Ok(_) | Err(ProofError::Differs { .. })) => Ok(()),
        Some(Err(other)) => Err(other),
    }
}

fn declared(trial: &Trial) -> Option<&str> {
    (trial.kind == TrialKind::Pilot).then_some(trial.project.pilot.digests.as_deref()).flatten()
}

/// The comparison of the index with the fixed digests, item by item.
pub(crate) struct Comparison {
    state: FixedDigests,
    fixed: Pins,
    seen: Pins,
    /// The declared directory of the inputs, as paths in the list begin; none for inputs in one file.
    directory: Option<String>,
    limited: bool,
}

impl Comparison {
    /// Reads what the trial keeps.
    pub(crate) fn open(trial: &TrialDir, findings: &mut Findings) -> Result<Self, ProofError> {
        let mut comparison = Self {
            state: FixedDigests::NotDeclared,
            fixed: Pins::default(),
            seen: Pins::default(),
            directory: None,
            limited: trial.trial.limit.is_some(),
        };
        if declared(&trial.trial).is_none() {
            return Ok(comparison);
        }
        let fixed = read(trial, PINS)?;
        let seen = match &trial.trial.project.pilot.inputs {
            Inputs::Directory { directory, .. } | Inputs::Files { files: directory } => {
                comparison.directory = Some(plain(directory));
                Some(Ok(Pins::default()))
            }
            _ => read(trial, INPUTS)?,
        };
        comparison.state = match (fixed, seen) {
            (Some(Ok(fixed)), Some(Ok(seen))) => {
                (comparison.fixed, comparison.seen) = (fixed, seen);
                FixedDigests::Compared
            }
            (fixed, seen) => {
                for (file, read) in [(PINS, fixed), (INPUTS, seen)] {
                    match read {
                        None => findings.add(FindingCode::PinsUnreadable, file, "it is not there"),
                        Some(Err(why)) => findings.add(FindingCode::PinsUnreadable, file, why),
                        Some(Ok(_)) => {}
                    }
                }
                FixedDigests::Unread
            }
        };
        Ok(comparison)
    }

    /// Takes note of an item of the index.
    pub(crate) fn see(&mut self, item: &Item) {
        let (Some(directory), Location::File { path, .. }, Some(digest)) =
            (&self.directory, &item.location, item.digest)
        else {
            return;
        };
        let path = if directory.is_empty() { path.clone() } else { format!("{directory}/{path}") };
        self.seen.files.insert(path, digest);
    }

    /// The state, and `changed` with the files that are not as they were fixed.
    pub(crate) fn finish(self, mut changed: Vec<String>) -> (FixedDigests, Vec<String>) {
        if self.state == FixedDigests::Compared {
            let differences = self.fixed.differences(&self.seen);
            // A limited trial did not look at every file, so an absent one says nothing.
            let counts = |kind| !(self.limited && kind == DifferenceKind::Absent);
            changed.extend(differences.iter().filter(|d| counts(d.kind)).map(|d| d.path.clone()));
        }
        (self.state, changed)
    }
}

/// A declared path as the list writes it: without `./` and doubled slashes.
fn plain(declared: &str) -> String {
    let names: Vec<&str> = declared.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    names.join("/")
}

/// A kept list; none where it is not there, the inner error where it is no such list.
fn read(trial: &TrialDir, name: &str) -> Result<Option<Result<Pins, String>>, ProofError> {
    let Some(bytes) = trial.store.bytes(name)? else { return Ok(None) };
    let parsed = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
    Ok(Some(parsed.and_then(|text| Pins::parse(&text).map_err(|error| error.to_string()))))
}
