//! Verification: a trial or a copy of one is read whole, and everything that is wrong with it is said, with what was
//! checked and what was not.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use pilote_corpus::index::Closing;
use pilote_ledger::Bucket;
use pilote_spec::{Balance, CopyState, Criterion, Digest, Evidence, Hasher, Outcome};
use serde::{Deserialize, Serialize};

use crate::account::{gather, judged};
use crate::algorithm::Algorithm;
use crate::bag::DECLARATION;
use crate::collection::{BALANCE, BalanceFile, FileFacts, JOURNALS, balance_on};
use crate::document::Document;
use crate::error::{ProofError, io};
use crate::export::{INPUTS, PARTIAL};
use crate::finding::{Finding, FindingCode, Findings};
use crate::listed::{self, Compared, Layout, ListedFiles};
use crate::manifest::MANIFEST;
use crate::outputs;
use crate::shelf::Shelf;
use crate::spot::Spot;
use crate::trial_dir::TrialDir;

/// The verdict that an export leaves in the copy.
pub(crate) const VERDICT: &str = "verification.json";

/// What to do about a copy that was not finished.
const GO_ON: &str = "run the export again; it goes on where it stopped";

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A trial in its place: it has no list of its files.
    Trial,
    /// A copy with its list of files.
    Copy,
    /// A bag of somebody else's: it holds no trial, and is valid or not.
    Bag,
}

/// A share of a very large copy that is read in the place of all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Which share of the files, and of the parts of the trial, is read; between 0 and 1.
    pub share: f64,
    /// Chooses which.
    pub seed: u64,
}

/// How a verification reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thoroughness {
    /// A share only; none reads everything.
    pub sample: Option<Sample>,
    /// Files that are read at once.
    pub threads: usize,
}

impl Default for Thoroughness {
    fn default() -> Self {
        Self { sample: None, threads: 4 }
    }
}

/// Something that a verification checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// That every listed file is there, and nothing else.
    List,
    /// The digest of every file.
    Digests,
    /// The count of all items, against the balance that was written down.
    Balance,
    /// The checksum of every record, and the seal of every part.
    Records,
    /// Every accepted output, read again and judged by the deliverable.
    Outputs,
    /// Every line of the results files, against the records.
    Results,
    /// The inputs themselves.
    Inputs,
}

impl Check {
    /// The name as machine-readable output and message keys write it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Digests => "digests",
            Self::Balance => "balance",
            Self::Records => "records",
            Self::Outputs => "outputs",
            Self::Results => "results",
            Self::Inputs => "inputs",
        }
    }
}

/// Why something was not checked, or not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A trial in its place has no list of its files.
    NoList,
    /// A sample was read.
    Sampled,
    /// The inputs are not in the copy.
    NotCarried,
    /// There is no trial.
    NoTrial,
    /// What it would be read from is damaged.
    Unreadable,
    /// The archive is one long stream, in which nothing can be found again.
    OneStream,
}

impl Why {
    /// The name as machine-readable output and message keys write it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NoList => "no-list",
            Self::Sampled => "sampled",
            Self::NotCarried => "not-carried",
            Self::NoTrial => "no-trial",
            Self::Unreadable => "unreadable",
            Self::OneStream => "one-stream",
        }
    }
}

/// What was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchecked {
    /// What.
    pub check: Check,
    /// Why not.
    pub why: Why,
}

/// What a verification came to, format `pilote.verification/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// Always `pilote.verification/1`.
    pub format: String,
    /// The trial's name; empty where it cannot be read.
    pub trial: String,
    /// What was verified.
    pub subject: Subject,
    /// Whether nothing that was written is lost or changed. Says nothing of the criteria.
    pub whole: bool,
    /// Whether it is whole and every criterion holds.
    pub holds: bool,
    /// Files of the trial that were read; views and verdicts beside them are none.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Digest of `balance.json` as it was read; none where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance_sha256: Option<Digest>,
    /// The account, counted anew; none where the index cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// The criteria, judged anew.
    pub criteria: Vec<Criterion>,
    /// What was found, at most [`crate::FINDINGS_MAX`].
    pub findings: Vec<Finding>,
    /// All errors among the findings, those beyond the maximum included.
    pub errors: u64,
    /// All warnings among the findings.
    pub warnings: u64,
    /// What was checked.
    #[serde(default)]
    pub checked: Vec<Check>,
    /// What was not, or not whole.
    #[serde(default)]
    pub unchecked: Vec<Unchecked>,
    /// The share that was read, where it was not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<f64>,
}

impl Document for Verification {
    const FORMAT: &'static str = "pilote.verification/1";
}

/// Reads the trial or copy at `place` whole and says everything that is wrong with it. Nothing outside of it is read,
/// and nothing is written.
///
/// # Errors
/// When the system refuses to read. Damage is no error: it is found.
pub fn verify(place: &Path) -> Result<Verification, ProofError> {
    verify_as(place, &Thoroughness::default())
}

/// [`verify`], reading as much as is asked for. `place` is a folder, or an archive that is never unpacked.
///
/// # Errors
/// As [`verify`].
pub fn verify_as(place: &Path, thoroughness: &Thoroughness) -> Result<Verification, ProofError> {
    let mut findings = Findings::default();
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.ends_with(PARTIAL) {
        findings.add(FindingCode::UnfinishedCopy, &name, GO_ON);
    }
    let about = fs_err::metadata(place).map_err(|source| io("read", place, source))?;
    of_spot(&Spot::Disk(place.to_owned()), !about.is_dir(), about.is_dir(), thoroughness, findings)
}

/// [`verify`] of a copy in an object store, a folder of objects or an archive.
///
/// # Errors
/// When nothing is there, or the store cannot be asked.
pub fn verify_bucket(place: &Bucket, thoroughness: &Thoroughness) -> Result<Verification, ProofError> {
    let shown = PathBuf::from(place.shown(""));
    let read = |source| io("read", &shown, source);
    let mut findings = Findings::default();
    if let Some((above, name)) = place.split() {
        let archive = above.length(&name).map_err(read)?.is_some();
        if !archive {
            let there = place.objects("").map_err(read)?;
            if there.is_empty() {
                return Err(ProofError::NoTrial { path: shown });
            }
            // Where there is no renaming, it is the verdict that says that an export came to its end.
            let lists = there.iter().any(|object| object.key == MANIFEST);
            if !lists && there.iter().any(|object| object.key == DECLARATION) {
                findings.add(FindingCode::UnfinishedCopy, &name, GO_ON);
            }
        }
        return of_spot(&Spot::Objects { above, name }, archive, !archive, thoroughness, findings);
    }
    Err(ProofError::NoTrial { path: shown })
}

/// [`verify`] of a copy that an export has just made and that bears no verdict yet; that of an archive lies beside it.
pub(crate) fn of_made(
    copy: &Spot,
    archive: bool,
    thoroughness: &Thoroughness,
) -> Result<Verification, ProofError> {
    of_spot(copy, archive, false, thoroughness, Findings::default())
}

fn of_spot(
    spot: &Spot,
    archive: bool,
    with_verdict: bool,
    thoroughness: &Thoroughness,
    mut findings: Findings,
) -> Result<Verification, ProofError> {
    let (shelf, seekable) = spot.shelf(archive, &mut findings)?;
    Verifying { shelf, seekable, thoroughness, with_verdict }.read(findings)
}

struct Verifying<'v> {
    shelf: Shelf,
    seekable: bool,
    thoroughness: &'v Thoroughness,
    with_verdict: bool,
}

impl Verifying<'_> {
    fn read(&self, mut findings: Findings) -> Result<Verification, ProofError> {
        let listing = self.shelf.listing()?;
        for (path, what) in &listing.not_plain {
            findings.add(FindingCode::NotPlain, path, what);
        }
        let layout = listed::layout(&self.shelf, &listing, self.with_verdict, &mut findings)?;
        // A pipe or a device in the place of a file would be waited on for ever, so such a place is read no further.
        let readable = listing.not_plain.is_empty();
        let trial = readable && self.seekable && layout.subject != Subject::Bag;
        let sample = self.thoroughness.sample;
        let (compared, counted) = std::thread::scope(|scope| {
            let comparing = scope.spawn(|| {
                listed::compare(&self.shelf, &layout.expected.files, sample, self.thoroughness.threads)
            });
            // The items are counted meanwhile; what that finds stands after what the digests show.
            let mut own = Findings::default();
            let counted = if trial { Some(self.count(&layout, &mut own)) } else { None };
            let compared = comparing.join().unwrap_or_default();
            (compared, counted.transpose().map(|counted| (counted.unwrap_or_default(), own)))
        });
        let (counted, own) = counted?;
        Ok(self.conclude(&layout, compared, counted, own, findings))
    }

    fn conclude(
        &self,
        layout: &Layout,
        compared: Compared,
        counted: Counted,
        own: Findings,
        mut findings: Findings,
    ) -> Verification {
        let damaged = compared.wrong.iter().map(|(_, path, _)| path.clone()).collect();
        for (code, path, detail) in compared.wrong {
            findings.add(code, path, detail);
        }
        findings.append(own);
        let copy = layout.state(damaged);
        let judged = counted.evidence.map(|evidence| judged(&Evidence { copy, ..evidence }));
        let (balance, criteria) =
            judged.map_or((None, Vec::new()), |(balance, criteria)| (Some(balance), criteria));
        let (checked, unchecked) = self.checks(layout, balance.is_some());
        let named = self.shelf.place().file_name().map(|name| name.to_string_lossy().into_owned());
        let whole = findings.errors() == 0
            && (balance.is_some() || counted.sampled || layout.subject == Subject::Bag);
        let recorded = counted.written.is_some_and(|written| written.balance.holds);
        let holds = whole
            && match (&balance, layout.subject) {
                (_, Subject::Bag) => true,
                (Some(balance), _) => balance.holds,
                // Of a sample there is no count; the balance that was written down stands as far as it was seen.
                (None, _) => counted.sampled && recorded,
            };
        let (files, bytes) = match layout.subject {
            Subject::Trial => (layout.files.len() as u64, layout.files.iter().map(|file| file.bytes).sum()),
            _ => (compared.files, compared.bytes),
        };
        Verification {
            format: Verification::FORMAT.to_owned(),
            trial: counted.name.or(named).unwrap_or_default(),
            subject: layout.subject,
            whole,
            holds,
            files,
            bytes,
            balance_sha256: counted.balance_sha256,
            balance,
            criteria,
            errors: findings.errors(),
            warnings: findings.warnings(),
            findings: findings.kept().to_vec(),
            checked,
            unchecked,
            sampled: self.thoroughness.sample.map(|sample| sample.share),
        }
    }

    /// What was checked and what was not, and why.
    fn checks(&self, layout: &Layout, counted: bool) -> (Vec<Check>, Vec<Unchecked>) {
        let sampled = self.thoroughness.sample.is_some();
        let (mut checked, mut unchecked) = (Vec::new(), Vec::new());
        let mut put = |check, why: Option<Why>| match why {
            None => checked.push(check),
            Some(why) => unchecked.push(Unchecked { check, why }),
        };
        let listed = layout.subject != Subject::Trial;
        let share = sampled.then_some(Why::Sampled);
        put(Check::List, (!listed).then_some(Why::NoList));
        put(Check::Digests, if listed { share } else { Some(Why::NoList) });
        let trial = match (layout.subject, self.seekable) {
            (Subject::Bag, _) => Some(Why::NoTrial),
            (_, false) => Some(Why::OneStream),
            _ if sampled => Some(Why::Sampled),
            _ => (!counted).then_some(Why::Unreadable),
        };
        for check in [Check::Balance, Check::Records, Check::Outputs, Check::Results] {
            put(check, trial);
        }
        if layout.subject != Subject::Bag {
            let inputs = format!("{}{INPUTS}", layout.below);
            let carried = layout.expected.files.keys().any(|path| path.starts_with(&inputs));
            put(Check::Inputs, if carried { share } else { Some(Why::NotCarried) });
        }
        (checked, unchecked)
    }

    /// Counts the trial anew, and compares with the balance that was written down.
    fn count(&self, layout: &Layout, findings: &mut Findings) -> Result<Counted, ProofError> {
        let shelf = self.shelf.within(layout.below);
        let trial = match TrialDir::on(shelf, self.shelf.place()) {
            Ok(trial) => trial,
            Err(error @ (ProofError::NoTrial { .. } | ProofError::BadTrial { .. })) => {
                let missing = error.code() == "no-trial";
                let code = if missing { FindingCode::NotATrial } else { FindingCode::TrialUnreadable };
                findings.add(code, crate::trial_dir::TRIAL, error);
                return Ok(Counted::default());
            }
            Err(other) => return Err(other),
        };
        let name = Some(trial.trial.name.clone());
        let closing = match trial.closing() {
            Ok(closing) => closing,
            Err(error @ (ProofError::Missing { .. } | ProofError::Damaged { .. })) => {
                findings.add(FindingCode::IndexDamaged, pilote_corpus::index::CLOSED_KEY, error);
                return Ok(Counted { name, ..Counted::default() });
            }
            Err(other) => return Err(other),
        };
        let written = written(&trial, findings)?;
        let digests = trial.store.digests(BALANCE, &[Algorithm::Sha256]);
        let digests = digests.map_err(|source| io("read", &trial.store.shown(BALANCE), source))?;
        let sha256 = digests.and_then(|(digests, _)| digests.into_values().next());
        let balance_sha256 = sha256.and_then(|digits| digits.parse().ok());
        if let Some(sample) = self.thoroughness.sample {
            sampled(&trial, &closing, sample, findings)?;
            return Ok(Counted { name, written, balance_sha256, sampled: true, ..Counted::default() });
        }
        let listed = ListedFiles { files: &layout.expected.files, below: layout.below };
        let evidence = gather(&trial, &closing, CopyState::Unknown, Some(listed), findings)?;
        if let Some(written) = &written {
            against_files(&trial, layout, written, findings)?;
            against_balance(&trial.trial.name, &evidence, written, findings);
        }
        Ok(Counted { name, written, balance_sha256, evidence: Some(evidence), sampled: false })
    }
}

/// What counting a trial came to, as far as it could be counted.
#[derive(Default)]
struct Counted {
    name: Option<String>,
    written: Option<BalanceFile>,
    balance_sha256: Option<Digest>,
    evidence: Option<Evidence>,
    sampled: bool,
}

/// Reads the parts of a sample: index, records, seal and outputs of each.
fn sampled(
    trial: &TrialDir,
    closing: &Closing,
    sample: Sample,
    findings: &mut Findings,
) -> Result<(), ProofError> {
    // One part at least: a sample that reads nothing says nothing.
    let takes = |number: u32| sample.takes(&format!("part {number}"));
    let any = closing.parts.iter().any(|entry| takes(entry.part));
    let first = closing.parts.first().map(|entry| entry.part);
    for entry in closing.parts.iter().filter(|entry| takes(entry.part) || (!any && first == Some(entry.part)))
    {
        let part = trial.part(entry, findings)?;
        if !part.sealed {
            findings.add(FindingCode::NotSealed, format!("parts/{:06}", part.number), "");
        }
        for item in &part.items {
            let Some(record) = part.records.get(&item.position) else { continue };
            crate::counting::compare(item, record, findings);
            let Outcome::Accepted(output) = &record.outcome else { continue };
            if let Err(why) = outputs::read(&trial.store, part.number, output)? {
                findings.add(FindingCode::OutputUnacceptable, crate::account::name(item), why);
            }
        }
    }
    Ok(())
}

/// The balance that was written down; none where it is absent or cannot be trusted, which is a finding.
fn written(trial: &TrialDir, findings: &mut Findings) -> Result<Option<BalanceFile>, ProofError> {
    match balance_on(&trial.store) {
        Ok(Some(written)) => Ok(Some(written)),
        Ok(None) => {
            findings.add(FindingCode::ResultsAbsent, BALANCE, "");
            Ok(None)
        }
        Err(ProofError::Document { source, .. }) => {
            findings.add(FindingCode::BalanceUnreadable, BALANCE, source);
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Compares the files that the balance names. Where a list names a file with the same digest, comparing with the list
/// compares with the balance.
fn against_files(
    trial: &TrialDir,
    layout: &Layout,
    written: &BalanceFile,
    findings: &mut Findings,
) -> Result<(), ProofError> {
    for (name, facts) in written.files.iter().filter(|(name, _)| crate::manifest::is_inside(name)) {
        let stated = facts.sha256.to_string();
        let listed = layout.expected.files.get(&format!("{}{name}", layout.below));
        if listed.and_then(|digests| digests.get(&Algorithm::Sha256)) == Some(&stated) {
            continue;
        }
        if JOURNALS.iter().any(|folder| name.starts_with(&format!("{folder}/"))) {
            against_journal(&trial.store, name, *facts, findings)?;
            continue;
        }
        let seen = trial.store.digests(name, &[Algorithm::Sha256]);
        match seen.map_err(|source| io("read", &trial.store.shown(name), source))? {
            Some((digests, _)) if digests.get(&Algorithm::Sha256) == Some(&stated) => {}
            Some((digests, _)) => {
                let digest = digests.into_values().next().unwrap_or_default();
                findings.add(
                    FindingCode::FileDiffers,
                    name,
                    format!("sha256 {digest}, the balance says {stated}"),
                );
            }
            None => findings.add(FindingCode::FileAbsent, name, "the balance names it"),
        }
    }
    Ok(())
}

/// Compares what was counted with what was written. The balance was written before any copy, so the verdict on a copy
/// takes no part in it.
fn against_balance(trial: &str, evidence: &Evidence, written: &BalanceFile, findings: &mut Findings) {
    let (balance, criteria) = judged(evidence);
    let counted = Balance { holds: written.balance.holds, ..balance };
    if counted != written.balance || criteria != written.criteria || written.trial != trial {
        findings.add(FindingCode::BalanceDiffers, BALANCE, differing(&counted, &written.balance));
    }
}

/// Compares a writer's log with the balance: what was there when the balance was struck must be there still. A writer
/// that was shut out and lives on may have added to its own.
fn against_journal(
    shelf: &Shelf,
    name: &str,
    facts: FileFacts,
    findings: &mut Findings,
) -> Result<(), ProofError> {
    let Some(file) = shelf.open(name)? else {
        findings.add(FindingCode::FileAbsent, name, "the balance names it");
        return Ok(());
    };
    let mut hasher = Hasher::new();
    let bytes = std::io::copy(&mut file.take(facts.bytes), &mut hasher)
        .map_err(|error| io("read", &shelf.shown(name), error))?;
    if bytes != facts.bytes || hasher.finish() != facts.sha256 {
        let detail = format!("its first {} bytes are not those that the balance names", facts.bytes);
        findings.add(FindingCode::FileDiffers, name, detail);
    }
    Ok(())
}

fn differing(counted: &Balance, written: &Balance) -> String {
    let figures = |b: &Balance| {
        [b.declared, b.accepted, b.refused, b.pending, b.missing, b.duplicated, b.invented]
            .map(|n| n.to_string())
            .join(" ")
    };
    if figures(counted) == figures(written) {
        return "a criterion is judged otherwise".to_owned();
    }
    format!(
        "declared accepted refused pending missing duplicated invented: {} counted, {} written",
        figures(counted),
        figures(written)
    )
}
