//! A receipt: the word of another machine that it read a copy and found it whole.
//!
//! `pilote verify COPY --receipt FILE` writes one there, and `pilote receipt RUN FILE` takes it in here. It bears the
//! digest of the copy's account, which names every result, so that it is a receipt of this trial and no other.

use std::path::{Path, PathBuf};

use pilote_spec::{Digest, MachineFacts, Stamp};
use serde::{Deserialize, Serialize};

use crate::collection::BALANCE;
use crate::document::{self, Document};
use crate::error::{ProofError, io};
use crate::files;
use crate::trial_dir::TrialDir;
use crate::verification::{Subject, Verification};

/// Where receipts lie in a trial's directory. They speak of the trial and are no part of it.
pub(crate) const RECEIPTS: &str = "receipts";

/// Receipts of one trial, and bytes of one.
const RECEIPTS_MAX: u32 = 999_999;
const BYTES_MAX: u64 = 1 << 20;

/// `receipts/NNNNNN.json`, format `pilote.receipt/1`; see `docs/formats/decision.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Always `pilote.receipt/1`.
    pub format: String,
    /// The trial's name.
    pub trial: String,
    /// Digest of `balance.json` as it lies in the copy.
    pub balance: Digest,
    /// Whether its criteria hold; no receipt is given for a copy that is not whole.
    pub holds: bool,
    /// Where the copy lay.
    pub copy: String,
    /// When it was read.
    pub at: Stamp,
    /// Version of the program that read it.
    pub program: String,
    /// Digest that stands for the machine that read it, where its system shows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Digest>,
    /// That machine's system and processor.
    pub about: MachineFacts,
}

impl Document for Receipt {
    const FORMAT: &'static str = "pilote.receipt/1";
}

/// Who reads a copy.
#[derive(Debug, Clone)]
pub struct Reader {
    /// When.
    pub at: Stamp,
    /// Version of the program.
    pub program: String,
    /// Digest that stands for the machine, where its system shows one.
    pub machine: Option<Digest>,
    /// System and processor.
    pub about: MachineFacts,
}

/// Why a receipt cannot be written or taken in.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// A trial in its place, which is no copy.
    #[error("`{}` is a trial in its place and no copy; a receipt is given for a copy, on another machine", path.display())]
    NoCopy {
        /// The directory.
        path: PathBuf,
    },
    /// A copy that is damaged.
    #[error("the copy is not whole, so that no receipt is given for it; what is wrong is listed above")]
    NotWhole,
    /// A file that is none.
    #[error("`{}` is no receipt that can be used", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: crate::DocumentError,
    },
    /// A receipt of something else.
    #[error("the receipt is of a copy of {seen}, and this trial is {expected}; take it in there")]
    OtherTrial {
        /// The trial it is of.
        seen: String,
        /// The trial it was given for.
        expected: String,
    },
    /// A receipt of other results.
    #[error(
        "the receipt is of a copy with other results than this trial has now; export it again and verify that copy"
    )]
    OtherResults,
    /// The very machine that computed.
    #[error(
        "the receipt was written on the machine that computed; verify a copy on another one, and bring that receipt"
    )]
    SameMachine,
    /// The trial or the file cannot be read or written.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

impl ReceiptError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoCopy { .. } => "no-copy",
            Self::NotWhole => "not-whole",
            Self::Unreadable { .. } => "no-receipt",
            Self::OtherTrial { .. } => "other-trial",
            Self::OtherResults => "other-results",
            Self::SameMachine => "same-machine",
            Self::Proof(error) => error.code(),
        }
    }
}

/// Writes a receipt for the copy at `place`, a folder, an archive or an address, which was just verified, in place of
/// one that may be there.
///
/// # Errors
/// When it is no copy, or is not whole; and when the file cannot be written.
pub fn write_receipt(
    place: &Path,
    verification: &Verification,
    reader: Reader,
    to: &Path,
) -> Result<Receipt, ReceiptError> {
    if verification.subject != Subject::Copy {
        return Err(ReceiptError::NoCopy { path: place.to_owned() });
    }
    if !verification.whole {
        return Err(ReceiptError::NotWhole);
    }
    let balance = verification.balance_sha256.ok_or_else(|| ProofError::Missing { path: BALANCE.into() })?;
    let receipt = Receipt {
        format: Receipt::FORMAT.to_owned(),
        trial: verification.trial.clone(),
        balance,
        holds: verification.holds,
        copy: place.display().to_string(),
        at: reader.at,
        program: reader.program,
        machine: reader.machine,
        about: reader.about,
    };
    files::replace(to, &document::bytes(to, &receipt)?)?;
    Ok(receipt)
}

/// Takes a receipt in: keeps it beside the trial in `dir` that it is of.
///
/// # Errors
/// When it is of something else, was written on the machine that computed, or cannot be read.
pub fn take_receipt(dir: &Path, file: &Path) -> Result<Receipt, ReceiptError> {
    let about = fs_err::metadata(file).map_err(|error| io("read", file, error))?;
    if about.len() > BYTES_MAX {
        let source = crate::DocumentError::NoDigest;
        return Err(ReceiptError::Unreadable { path: file.to_owned(), source });
    }
    let bytes = fs_err::read(file).map_err(|error| io("read", file, error))?;
    let receipt: Receipt = document::decode(&bytes)
        .map_err(|source| ReceiptError::Unreadable { path: file.to_owned(), source })?;
    let trial = TrialDir::open(dir)?;
    fits(&trial, &receipt)?;
    let folder = dir.join(RECEIPTS);
    fs_err::create_dir_all(&folder).map_err(|error| io("create", &folder, error))?;
    for number in 1..=RECEIPTS_MAX {
        let path = folder.join(format!("{number:06}.json"));
        if path.exists() {
            // The same receipt taken in twice is one.
            if fs_err::read(&path).is_ok_and(|there| there == bytes) {
                return Ok(receipt);
            }
            continue;
        }
        match files::create(&path, &bytes) {
            Err(ProofError::Differs { .. }) => {}
            Err(other) => return Err(other.into()),
            Ok(_) => return Ok(receipt),
        }
    }
    Err(io("number another receipt in", &folder, std::io::ErrorKind::StorageFull.into()).into())
}

/// Whether a receipt is of this trial as it is now, and of another machine.
fn fits(trial: &TrialDir, receipt: &Receipt) -> Result<(), ReceiptError> {
    let expected = &trial.trial.name;
    if receipt.trial != *expected {
        return Err(ReceiptError::OtherTrial { seen: receipt.trial.clone(), expected: expected.clone() });
    }
    let now = files::digest(&trial.root.join(BALANCE))?.map(|(digest, _)| digest);
    if now != Some(receipt.balance) {
        return Err(ReceiptError::OtherResults);
    }
    let computed = trial.trial.environment.as_ref().and_then(|environment| environment.machine);
    let elsewhere = match (computed, receipt.machine) {
        (Some(computed), Some(read)) => computed != read,
        // A system that shows no identity is told apart by what it is.
        _ => {
            let about =
                |facts: &MachineFacts| (facts.system.clone(), facts.kernel.clone(), facts.processor.clone());
            about(&trial.trial.machine) != about(&receipt.about)
        }
    };
    if elsewhere { Ok(()) } else { Err(ReceiptError::SameMachine) }
}

/// The last receipt that is of the trial in `dir` as it is now; none where there is none that fits.
pub(crate) fn last_receipt(dir: &Path) -> Option<Receipt> {
    let trial = TrialDir::open(dir).ok()?;
    let entries = fs_err::read_dir(dir.join(RECEIPTS)).ok()?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().rev().find_map(|path| {
        let receipt: Receipt = document::decode(&fs_err::read(path).ok()?).ok()?;
        fits(&trial, &receipt).ok()?;
        Some(receipt)
    })
}
