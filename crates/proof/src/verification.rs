//! Verification: a trial or a copy of one is read whole, and everything that is wrong with it is said.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use pilote_spec::{Balance, CopyState, Criterion, Hasher};
use serde::{Deserialize, Serialize};

use crate::account::{Account, gather, settle};
use crate::collection::{BALANCE, FileFacts, JOURNALS, read_balance};
use crate::document::Document;
use crate::error::{ProofError, io};
use crate::export::{PARTIAL, is_left_out};
use crate::files::{self, Listing};
use crate::finding::{Finding, FindingCode, Findings};
use crate::lookup::LOOKUP;
use crate::manifest::{MANIFEST, Manifest};
use crate::results::{REFUSED, RESULTS};
use crate::trial_dir::{TRIAL, TrialDir};

/// The verdict that an export leaves in the copy.
pub(crate) const VERDICT: &str = "verification.json";

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A trial in its place: it has no list of its files.
    Trial,
    /// A copy with its list of files.
    Copy,
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
}

impl Document for Verification {
    const FORMAT: &'static str = "pilote.verification/1";
}

/// Reads the trial or copy in `dir` whole and says everything that is wrong with it. Nothing outside of `dir` is
/// read, and nothing is written.
///
/// # Errors
/// When the system refuses to read. Damage is no error: it is found.
pub fn verify(dir: &Path) -> Result<Verification, ProofError> {
    let mut findings = Findings::default();
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.ends_with(PARTIAL) {
        findings.add(FindingCode::UnfinishedCopy, name, "run the export again; it goes on where it stopped");
    }
    read_whole(dir, findings)
}

/// [`verify`] of a copy that is still named as an unfinished one.
pub(crate) fn of_copy(dir: &Path) -> Result<Verification, ProofError> {
    read_whole(dir, Findings::default())
}

fn read_whole(dir: &Path, mut findings: Findings) -> Result<Verification, ProofError> {
    let listing = files::walk(dir)?;
    for (path, what) in &listing.not_plain {
        findings.add(FindingCode::NotPlain, path, what);
    }
    let is_copy = listing.files.iter().any(|file| file.path == MANIFEST);
    let copy = if is_copy { compare(dir, &listing, &mut findings)? } else { CopyState::Unknown };
    if !is_copy {
        without_list(dir, &listing, &mut findings);
    }
    let is_trial = is_copy || listing.files.iter().any(|file| file.path == TRIAL);
    for stranger in listing.dotted.iter().filter(|_| is_trial) {
        let (code, detail) = match is_of_the_system(&stranger.path) || !is_copy {
            true => (FindingCode::StrangerFile, "it is no part of what was verified"),
            false => (FindingCode::FileExtra, ""),
        };
        findings.add(code, &stranger.path, detail);
    }
    if !listing.not_plain.is_empty() {
        // A pipe or a device in the place of a file would be waited on for ever.
        return Ok(not_read(dir, &listing, &findings));
    }
    let account = count(dir, copy, findings)?;
    let Account { trial, balance, criteria, findings, .. } = account.account;
    // Views and verdicts come and go beside the trial; what was verified is the trial.
    let counted = || listing.files.iter().filter(|file| !is_left_out(&file.path));
    let balance = account.counted.then_some(balance);
    let whole = findings.errors() == 0 && balance.is_some();
    Ok(Verification {
        format: Verification::FORMAT.to_owned(),
        trial,
        subject: if is_copy { Subject::Copy } else { Subject::Trial },
        whole,
        holds: whole && balance.as_ref().is_some_and(|balance| balance.holds),
        files: counted().count() as u64,
        bytes: counted().map(|file| file.bytes).sum(),
        balance,
        criteria,
        errors: findings.errors(),
        warnings: findings.warnings(),
        findings: findings.kept().to_vec(),
    })
}

/// A trial has no list of its files, so what must be there is told from where it lies and what is beside it.
fn without_list(dir: &Path, listing: &Listing, findings: &mut Findings) {
    let there = |path: &str| listing.files.iter().any(|file| file.path == path);
    if !there(TRIAL) {
        return;
    }
    let place = fs_err::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let in_project = place.parent().is_some_and(|runs| {
        runs.ends_with("runs") && runs.parent().is_some_and(|root| root.join("config/pilote.json").is_file())
    });
    if there(VERDICT) {
        findings.add(
            FindingCode::ListAbsent,
            MANIFEST,
            "the verdict of a copy is here, and its list of files is not",
        );
    } else if !in_project {
        let detail = "this is neither a trial below its project's runs/ nor a copy with a list of its files, so \
            nothing says that all of it is here; `pilote export` makes a copy that can be verified";
        findings.add(FindingCode::ListAbsent, MANIFEST, detail);
    }
    if let Some(found) = [RESULTS, REFUSED, LOOKUP].into_iter().find(|path| there(path))
        && !there(BALANCE)
    {
        let detail = format!(
            "{found} is here and the balance that closes it is not: run the trial's last command again, or read another copy"
        );
        findings.add(FindingCode::BalanceAbsent, BALANCE, detail);
    }
}

/// Whether a path is one that desktops and file servers leave in folders that they show.
fn is_of_the_system(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("._") || [".DS_Store", ".directory", ".localized"].contains(&name)
}

/// What is said of a directory that is not read any further.
fn not_read(dir: &Path, listing: &Listing, findings: &Findings) -> Verification {
    let is_copy = listing.files.iter().any(|file| file.path == MANIFEST);
    Verification {
        format: Verification::FORMAT.to_owned(),
        trial: dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        subject: if is_copy { Subject::Copy } else { Subject::Trial },
        whole: false,
        holds: false,
        files: 0,
        bytes: 0,
        balance: None,
        criteria: Vec::new(),
        errors: findings.errors(),
        warnings: findings.warnings(),
        findings: findings.kept().to_vec(),
    }
}

/// Compares every file with the copy's own list.
fn compare(dir: &Path, listing: &Listing, findings: &mut Findings) -> Result<CopyState, ProofError> {
    let manifest = match fs_err::read_to_string(dir.join(MANIFEST)).map_err(|error| error.to_string()) {
        Ok(text) => Manifest::decode(&text).map_err(|error| error.to_string()),
        Err(error) => Err(error),
    };
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(why) => {
            findings.add(FindingCode::ManifestUnreadable, MANIFEST, why);
            return Ok(CopyState::Damaged { files: vec![MANIFEST.to_owned()] });
        }
    };
    let there: BTreeSet<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let mut damaged = Vec::new();
    for (path, expected) in &manifest.0 {
        if !there.contains(path.as_str()) {
            findings.add(FindingCode::FileAbsent, path, "");
            damaged.push(path.clone());
            continue;
        }
        match files::digest(&dir.join(path)) {
            Ok(Some((seen, _))) if seen == *expected => continue,
            Ok(seen) => {
                let seen = seen.map_or_else(|| "none".to_owned(), |(digest, _)| digest.to_string());
                findings.add(FindingCode::FileDiffers, path, format!("sha256 {seen}, listed is {expected}"));
            }
            // A sector that cannot be read is what verification is for: it is said, and the rest is read.
            Err(error) => findings.add(FindingCode::Unreadable, path, error),
        }
        damaged.push(path.clone());
    }
    for path in there.iter().filter(|path| !manifest.0.contains_key(**path) && !is_left_out(path)) {
        findings.add(FindingCode::FileExtra, *path, "");
        damaged.push((*path).to_owned());
    }
    Ok(match damaged.is_empty() {
        true => CopyState::Whole { files: manifest.0.len() as u64 },
        false => CopyState::Damaged { files: damaged },
    })
}

/// An account, and whether anything could be counted at all.
struct Counted {
    account: Account,
    counted: bool,
}

/// Counts the trial anew and compares with the balance that was written down.
fn count(dir: &Path, copy: CopyState, mut findings: Findings) -> Result<Counted, ProofError> {
    let trial = match TrialDir::open(dir) {
        Ok(trial) => trial,
        Err(error @ (ProofError::NoTrial { .. } | ProofError::BadTrial { .. })) => {
            let code = if error.code() == "no-trial" {
                FindingCode::NotATrial
            } else {
                FindingCode::TrialUnreadable
            };
            findings.add(code, crate::trial_dir::TRIAL, error);
            return Ok(Counted::nothing(String::new(), findings));
        }
        Err(other) => return Err(other),
    };
    let closing = match trial.closing() {
        Ok(closing) => closing,
        Err(error @ (ProofError::Missing { .. } | ProofError::Damaged { .. })) => {
            findings.add(FindingCode::IndexDamaged, pilote_corpus::index::CLOSED_KEY, error);
            return Ok(Counted::nothing(trial.trial.name, findings));
        }
        Err(other) => return Err(other),
    };
    let evidence = gather(&trial, &closing, copy, &mut findings)?;
    let mut account = settle(&trial, &evidence, findings);
    against_written(dir, &mut account)?;
    Ok(Counted { account, counted: true })
}

impl Counted {
    fn nothing(trial: String, findings: Findings) -> Self {
        let account = Account {
            trial,
            kind: pilote_spec::TrialKind::Pilot,
            balance: Balance::default(),
            criteria: Vec::new(),
            findings,
            sealed: false,
        };
        Self { account, counted: false }
    }
}

fn against_written(dir: &Path, account: &mut Account) -> Result<(), ProofError> {
    let written = match read_balance(dir) {
        Ok(Some(written)) => written,
        Ok(None) => {
            account.findings.add(FindingCode::ResultsAbsent, BALANCE, "");
            return Ok(());
        }
        Err(ProofError::Document { source, .. }) => {
            account.findings.add(FindingCode::BalanceUnreadable, BALANCE, source);
            return Ok(());
        }
        Err(other) => return Err(other),
    };
    for (name, facts) in &written.files {
        let place = if crate::manifest::is_inside(name) { dir.join(name) } else { continue };
        if JOURNALS.iter().any(|folder| name.starts_with(&format!("{folder}/"))) {
            against_journal(&place, name, *facts, &mut account.findings)?;
            continue;
        }
        match files::digest(&place)? {
            Some((digest, _)) if digest == facts.sha256 => {}
            Some((digest, _)) => {
                let detail = format!("sha256 {digest}, the balance says {}", facts.sha256);
                account.findings.add(FindingCode::FileDiffers, name, detail);
            }
            None => account.findings.add(FindingCode::FileAbsent, name, "the balance names it"),
        }
    }
    // The balance was written before any copy, so the verdict on a copy takes no part in the comparison.
    let own: Vec<&Criterion> = account.criteria.iter().filter(|criterion| !is_of_copy(criterion)).collect();
    let same_criteria = own.iter().copied().eq(written.criteria.iter());
    let counted = Balance { holds: written.balance.holds, ..account.balance.clone() };
    if counted != written.balance || !same_criteria || written.trial != account.trial {
        account.findings.add(FindingCode::BalanceDiffers, BALANCE, differing(&counted, &written.balance));
    }
    Ok(())
}

/// Compares a writer's log with the balance: what was there when the balance was struck must be there still. A writer
/// that was shut out and lives on may have added to its own.
fn against_journal(
    place: &Path,
    name: &str,
    facts: FileFacts,
    findings: &mut Findings,
) -> Result<(), ProofError> {
    let opened = files::absent_is_none(files::open_plain(place)).map_err(|error| io("read", place, error))?;
    let Some(file) = opened else {
        findings.add(FindingCode::FileAbsent, name, "the balance names it");
        return Ok(());
    };
    let mut hasher = Hasher::new();
    let bytes =
        std::io::copy(&mut file.take(facts.bytes), &mut hasher).map_err(|error| io("read", place, error))?;
    if bytes != facts.bytes || hasher.finish() != facts.sha256 {
        let detail = format!("its first {} bytes are not those that the balance names", facts.bytes);
        findings.add(FindingCode::FileDiffers, name, detail);
    }
    Ok(())
}

fn is_of_copy(criterion: &Criterion) -> bool {
    criterion.code == pilote_spec::CriterionCode::CopyWhole
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
