//! A trial's directory, or a copy of one, as readers see it: what was launched, the index, and part by part the
//! items with what was recorded of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pilote_corpus::index::{self, Closing, PartEntry};
use pilote_ledger::{Record, Store as _};
use pilote_spec::{Item, Position, TRIAL_FORMAT, Trial};

use crate::bag::PAYLOAD;
use crate::error::ProofError;
use crate::finding::{FindingCode, Findings};
use crate::shelf::Shelf;

/// The file that says what was launched.
pub(crate) const TRIAL: &str = "trial.json";

/// Where the files of the trial in `dir` lie: there, or in the payload of a bag.
pub(crate) fn root_of(dir: &Path) -> PathBuf {
    let payload = dir.join(PAYLOAD);
    let there = |dir: &Path| fs_err::symlink_metadata(dir.join(TRIAL)).is_ok();
    if !there(dir) && there(&payload) { payload } else { dir.to_owned() }
}

/// A trial that can be read. Nothing is ever written through it.
pub(crate) struct TrialDir {
    /// The directory.
    pub root: PathBuf,
    /// What was launched.
    pub trial: Trial,
    /// Its files.
    pub store: Shelf,
}

/// A part with what was recorded of it.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The part's number, from 1.
    pub number: u32,
    /// Its items, in order; empty where the index of this part is damaged.
    pub items: Vec<Item>,
    /// The first record of each position of the part.
    pub records: BTreeMap<Position, Record>,
    /// Records of positions beyond the part.
    pub invented: u64,
    /// Second records of a position.
    pub repeated: u64,
    /// Whether it is sealed.
    pub sealed: bool,
}

impl TrialDir {
    /// Opens the trial in `root`.
    ///
    /// # Errors
    /// When there is no `trial.json`, or it is damaged or of another format.
    pub(crate) fn open(root: &Path) -> Result<Self, ProofError> {
        let root = root_of(root);
        Self::on(Shelf::folder(&root), &root)
    }

    /// The same of files that may lie elsewhere than in a folder; `root` is what messages call the place.
    pub(crate) fn on(store: Shelf, root: &Path) -> Result<Self, ProofError> {
        let path = root.join(TRIAL);
        let bytes = store.bytes(TRIAL)?.ok_or_else(|| ProofError::NoTrial { path: root.to_owned() })?;
        let bad = |why: String| ProofError::BadTrial { path: path.clone(), why };
        #[derive(serde::Deserialize)]
        struct Named {
            format: String,
        }
        let named: Named = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        if named.format != TRIAL_FORMAT {
            return Err(bad(format!("its format is `{}`; use a newer pilote to read it", named.format)));
        }
        let trial: Trial = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        // The name becomes a directory of the copy, so it must be nothing else than a name.
        if !crate::manifest::is_inside(&trial.name) || trial.name.contains('/') {
            return Err(bad(format!("its name `{}` is no name of a directory", trial.name)));
        }
        Ok(Self { root: root.to_owned(), trial, store })
    }

    /// The closing entry of the index.
    ///
    /// # Errors
    /// When it is absent: the trial was stopped while its inputs were listed; or damaged.
    pub(crate) fn closing(&self) -> Result<Closing, ProofError> {
        let path = self.root.join(index::CLOSED_KEY);
        let bytes =
            self.stored(index::CLOSED_KEY)?.ok_or_else(|| ProofError::Missing { path: path.clone() })?;
        Closing::decode(&bytes).map_err(|error| ProofError::Damaged { path, why: error.to_string() })
    }

    /// The items of a part, proved to be those that were closed.
    ///
    /// # Errors
    /// When the part's index is absent or damaged.
    pub(crate) fn items(&self, entry: &PartEntry) -> Result<Vec<Item>, ProofError> {
        let key = index::part_key(entry.part);
        let path = self.root.join(&key);
        let bytes = self.stored(&key)?.ok_or_else(|| ProofError::Missing { path: path.clone() })?;
        entry.decode(&bytes).map_err(|error| ProofError::Damaged { path, why: error.to_string() })
    }

    /// A part with everything that was recorded of it. What is damaged is a finding, and the rest is read on.
    ///
    /// # Errors
    /// When the system refuses to read.
    pub(crate) fn part(&self, entry: &PartEntry, findings: &mut Findings) -> Result<Part, ProofError> {
        let items = match self.items(entry) {
            Ok(items) => items,
            Err(ProofError::Missing { .. }) => {
                findings.add(FindingCode::IndexDamaged, index::part_key(entry.part), "the file is missing");
                Vec::new()
            }
            Err(ProofError::Damaged { why, .. }) => {
                findings.add(FindingCode::IndexDamaged, index::part_key(entry.part), why);
                Vec::new()
            }
            Err(other) => return Err(other),
        };
        let mut part = Part { number: entry.part, items, ..Part::default() };
        self.records(entry, &mut part, findings)?;
        Ok(part)
    }

    fn records(&self, entry: &PartEntry, part: &mut Part, findings: &mut Findings) -> Result<(), ProofError> {
        let reading = pilote_ledger::read_part(&self.store, entry.part)
            .map_err(|error| ProofError::Ledger(Box::new(error)))?;
        let place = format!("parts/{:06}", entry.part);
        for finding in &reading.findings {
            let code = match finding {
                pilote_ledger::Finding::Duplicated { .. } => {
                    part.repeated += 1;
                    FindingCode::RecordRepeated
                }
                pilote_ledger::Finding::Tail { .. } | pilote_ledger::Finding::Torn { .. } => {
                    FindingCode::TornTail
                }
                pilote_ledger::Finding::Late { .. } => FindingCode::LateBytes,
                damage if damage.is_damage() => FindingCode::RecordsDamaged,
                _ => FindingCode::LedgerNote,
            };
            findings.add(code, &place, finding);
        }
        let positions = entry.first.0..entry.first.0.saturating_add(entry.items);
        for record in reading.records {
            if positions.contains(&record.position.0) {
                // The reader has told a second record of a position apart already.
                part.records.insert(record.position, record);
            } else {
                part.invented += 1;
                let detail = format!("position {} is not in this part", record.position);
                findings.add(FindingCode::RecordInvented, &place, detail);
            }
        }
        part.sealed = reading.seal.is_some();
        Ok(())
    }

    /// Whether a part is sealed, without reading its records.
    ///
    /// # Errors
    /// When the system refuses to read.
    pub(crate) fn is_sealed(&self, part: u32) -> Result<bool, ProofError> {
        let reader = pilote_ledger::PartReader::new(&self.store, part)
            .map_err(|error| ProofError::Ledger(Box::new(error)))?;
        Ok(reader.seal().is_some())
    }

    fn stored(&self, key: &str) -> Result<Option<Vec<u8>>, ProofError> {
        self.store.read(key).map_err(|error| ProofError::Ledger(Box::new(error)))
    }
}
