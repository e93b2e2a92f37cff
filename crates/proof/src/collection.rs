//! Collection: from sealed parts to the results files and the balance, the same bytes whoever runs it.

use std::collections::BTreeMap;
use std::path::Path;

use pilote_corpus::index::{self, Closing};
use pilote_spec::{Balance, CopyState, Criterion, Digest, FaultCode, TrialKind};
use serde::{Deserialize, Serialize};

use crate::account::{gather, settle};
use crate::document::{self, Document};
use crate::error::{ProofError, io};
use crate::files::{self, Pending};
use crate::finding::Findings;
use crate::journal::Journal;
use crate::lookup::{self, LOOKUP};
use crate::outputs;
use crate::pins::{INPUTS, PINS, keep_pins};
use crate::results::{self, REFUSED, RESULTS};
use crate::shelf::Shelf;
use crate::trial_dir::{TRIAL, TrialDir, root_of};

/// The account of a collected trial, created once.
pub(crate) const BALANCE: &str = "balance.json";

/// Where the writers of a trial note what happened and what it cost.
pub(crate) const JOURNALS: [&str; 2] = ["events", "measures"];

/// Words with which a writer ends that leave nothing to take up: everything was done, or too much was refused.
const FINAL_WORDS: [&str; 2] = ["done", "refused-max"];

/// `balance.json`, format `pilote.balance/1`. It bears its own digest; see `docs/formats/results.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BalanceFile {
    /// Always `pilote.balance/1`.
    pub format: String,
    /// The trial's name.
    pub trial: String,
    /// Over which inputs it ran.
    pub kind: TrialKind,
    /// The account over all items.
    pub balance: Balance,
    /// The criteria, but for the one about a copy.
    pub criteria: Vec<Criterion>,
    /// The files that the account rests on, by path relative to the trial.
    pub files: BTreeMap<String, FileFacts>,
}

/// A file, to the byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Digest,
}

impl Document for BalanceFile {
    const FORMAT: &'static str = "pilote.balance/1";
}

/// What a collection came to.
#[derive(Debug, Clone)]
pub struct Collected {
    /// The balance as it is written down.
    pub balance: BalanceFile,
    /// Whether it was written down before.
    pub already: bool,
}

/// Writes `results.jsonl`, `refused.jsonl` and `lookup.bin` from the sealed parts, reads them again, and creates
/// `balance.json`. Run twice, or by several at once, it changes nothing that is there.
///
/// # Errors
/// When a part has no seal, or the last writer left no final word: nothing is written then, and [`crate::account`]
/// still counts what is there. [`ProofError::Differs`] when other results are there than the records give.
pub fn collect(dir: &Path) -> Result<Collected, ProofError> {
    let trial = TrialDir::open(dir)?;
    if let Some(balance) = read_balance(dir)? {
        return Ok(Collected { balance, already: true });
    }
    let closing = trial.closing()?;
    needs_the_end(&trial, &closing)?;
    if let Some(project) = dir.parent().and_then(Path::parent) {
        keep_pins(project, dir)?;
    }
    write_results(&trial, &closing)?;
    let mut findings = Findings::default();
    let evidence = gather(&trial, &closing, CopyState::Unknown, None, &mut findings)?;
    let account = settle(&trial, &evidence, findings);
    let balance = BalanceFile {
        format: BalanceFile::FORMAT.to_owned(),
        trial: account.trial,
        kind: account.kind,
        balance: account.balance,
        criteria: account.criteria,
        files: file_facts(&trial)?,
    };
    let path = dir.join(BALANCE);
    match files::create(&path, &document::bytes(&path, &balance)?) {
        Ok(_) => Ok(Collected { balance, already: false }),
        // Somebody else was first; what stands is what counts, and verification says if it is not right.
        Err(ProofError::Differs { .. }) => {
            let balance = read_balance(dir)?.ok_or(ProofError::Missing { path })?;
            Ok(Collected { balance, already: true })
        }
        Err(other) => Err(other),
    }
}

/// The balance that was written down; none where the trial was not collected.
///
/// # Errors
/// When it is there and cannot be trusted.
pub(crate) fn read_balance(dir: &Path) -> Result<Option<BalanceFile>, ProofError> {
    balance_on(&Shelf::folder(&root_of(dir)))
}

/// The same of files that may lie elsewhere than in a folder.
pub(crate) fn balance_on(shelf: &Shelf) -> Result<Option<BalanceFile>, ProofError> {
    let Some(bytes) = shelf.bytes(BALANCE)? else { return Ok(None) };
    let path = shelf.shown(BALANCE);
    document::decode(&bytes).map(Some).map_err(|source| ProofError::Document { path, source })
}

pub(crate) fn needs_the_end(trial: &TrialDir, closing: &Closing) -> Result<(), ProofError> {
    let parts = closing.parts.len() as u64;
    let mut unsealed = 0;
    for entry in &closing.parts {
        unsealed += u64::from(!trial.is_sealed(entry.part)?);
    }
    if unsealed > 0 {
        return Err(ProofError::NotSealed { unsealed, parts });
    }
    match Journal::read(&trial.root)?.last_word() {
        Some(word) if FINAL_WORDS.contains(&word.as_str()) => Ok(()),
        word => Err(ProofError::NotEnded { word: word.unwrap_or_else(|| "none".to_owned()) }),
    }
}

/// Writes the results files and the lookup in one pass over index and records.
fn write_results(trial: &TrialDir, closing: &Closing) -> Result<(), ProofError> {
    let mut results = Pending::new(&trial.root)?;
    let mut refused = Pending::new(&trial.root)?;
    let mut keys = lookup::room_for(closing);
    // What is damaged is found when the trial is counted; a line that cannot be written is missed there.
    let mut findings = Findings::default();
    for entry in &closing.parts {
        let part = trial.part(entry, &mut findings)?;
        for item in &part.items {
            if let Some(id) = &item.id
                && item.fault.as_ref().is_none_or(|fault| fault.code != FaultCode::DuplicateId)
            {
                keys.push((lookup::key(id), item.position.0));
            }
            let Some(record) = part.records.get(&item.position) else { continue };
            let output = match &record.outcome {
                pilote_spec::Outcome::Accepted(output) => {
                    outputs::read(&trial.store, part.number, output)?.ok()
                }
                pilote_spec::Outcome::Refused(_) => None,
            };
            results::write(item, record, output.as_ref(), &mut results, &mut refused)
                .map_err(|error| io("write results in", &trial.root, error))?;
        }
    }
    keys.sort_unstable();
    let mut found = Pending::new(&trial.root)?;
    lookup::write(&keys, &mut found).map_err(|error| io("write", &trial.root.join(LOOKUP), error))?;
    results.create(&trial.root.join(RESULTS))?;
    refused.create(&trial.root.join(REFUSED))?;
    found.create(&trial.root.join(LOOKUP))?;
    Ok(())
}

/// Length and digest of what the account rests on, and of what the writers noted beside it. The seals and the closing
/// entry name everything else.
fn file_facts(trial: &TrialDir) -> Result<BTreeMap<String, FileFacts>, ProofError> {
    let mut names: Vec<String> =
        [TRIAL, index::CLOSED_KEY, PINS, INPUTS, RESULTS, REFUSED, LOOKUP].map(str::to_owned).into();
    for folder in JOURNALS {
        names.extend(trial.store.below(folder)?.into_iter().map(|file| file.key));
    }
    let mut facts = BTreeMap::new();
    for name in names {
        if let Some((sha256, bytes)) = files::digest(&trial.root.join(&name))? {
            facts.insert(name, FileFacts { bytes, sha256 });
        }
    }
    Ok(facts)
}
