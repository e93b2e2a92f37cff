//! The account of a trial, computed from nothing but what lies in its directory: the index, the records, the
//! payloads, the results files. The same code counts a trial in place and a copy of it.

use std::collections::BTreeSet;
use std::path::Path;

use pilote_corpus::index::Closing;
use pilote_spec::{
    Balance, CopyState, Criterion, CriterionCode, Evidence, FaultCode, Item, Outcome, Tally, TrialKind,
    Verdict, judge,
};

use crate::counting::{PartCount, PartCounter, in_order};

use crate::error::ProofError;
use crate::finding::{FindingCode, Findings};
use crate::journal::Journal;
use crate::listed::ListedFiles;
use crate::lookup;
use crate::outputs;
use crate::pins;
use crate::results::ResultsFiles;
use crate::trial_dir::TrialDir;

/// Parts that are read at once; a processor with fewer cores loses nothing by more.
const COUNTED_AT_ONCE: usize = 4;

/// Names that are kept beside a verdict; the verdict itself needs one only.
const NAMES_MAX: usize = 1_000;

/// What a trial came to, as counted from its files.
#[derive(Debug, Clone)]
pub struct Account {
    /// The trial's name.
    pub trial: String,
    /// Over which inputs it ran.
    pub kind: TrialKind,
    /// The account over all items; `holds` is the verdict over `criteria`.
    pub balance: Balance,
    /// The criteria, but for the one about a copy.
    pub criteria: Vec<Criterion>,
    /// What was found on the way.
    pub findings: Findings,
    /// Whether every part is sealed.
    pub sealed: bool,
}

/// Counts the trial in `dir` anew, whether or not it is finished. Memory: a few parts and 16 bytes an item.
///
/// # Errors
/// When there is no trial, its index was never closed or its closing entry is damaged, or the system refuses to
/// read. Anything else that is wrong is a finding, and is counted against the trial.
pub fn account(dir: &Path) -> Result<Account, ProofError> {
    let trial = TrialDir::open(dir)?;
    let closing = trial.closing()?;
    let mut findings = Findings::default();
    let evidence = gather(&trial, &closing, CopyState::Unknown, None, &mut findings)?;
    Ok(settle(&trial, &evidence, findings))
}

/// The account that the evidence gives.
pub(crate) fn settle(trial: &TrialDir, evidence: &Evidence, findings: Findings) -> Account {
    let (balance, criteria) = judged(evidence);
    Account {
        trial: trial.trial.name.clone(),
        kind: trial.trial.kind,
        balance,
        criteria,
        findings,
        sealed: evidence.seals == evidence.parts,
    }
}

/// Balance and criteria that the evidence gives.
pub(crate) fn judged(evidence: &Evidence) -> (Balance, Vec<Criterion>) {
    let mut criteria = judge(evidence);
    // Only who reads a copy can speak of one; a trial in place is judged by everything else.
    if evidence.copy == CopyState::Unknown {
        criteria.retain(|criterion| criterion.code != CriterionCode::CopyWhole);
    }
    let mut balance = evidence.balance.clone();
    balance.holds = pilote_spec::holds(&criteria);
    (balance, criteria)
}

/// Reads everything that the criteria rest on. Files in `listed` are compared with their digests by whoever gives it.
pub(crate) fn gather(
    trial: &TrialDir,
    closing: &Closing,
    copy: CopyState,
    listed: Option<ListedFiles<'_>>,
    findings: &mut Findings,
) -> Result<Evidence, ProofError> {
    let journal = Journal::of(&trial.store)?;
    for (file, line) in journal.broken() {
        findings.add(FindingCode::JournalDamaged, file, format!("line {line}"));
    }
    let results = ResultsFiles::open(&trial.store)?;
    let counter = PartCounter { trial, listed, with_results: results.is_some() };
    let mut counting = Counting {
        trial,
        tally: Tally::new(closing.items),
        evidence: empty_evidence(trial, closing, copy),
        results,
        keys: lookup::room_for(closing),
        pins: pins::Comparison::open(trial, findings)?,
    };
    let threads = COUNTED_AT_ONCE.min(trial.store.threads_max());
    in_order(&closing.parts, threads, |entry| counter.count(entry), |part| counting.part(part, findings))?;
    counting.strangers(closing, findings)?;
    let Counting { mut tally, mut evidence, results, mut keys, pins, .. } = counting;
    evidence.repeated = repeated(trial, closing, &mut keys)?;
    for id in &evidence.repeated {
        findings.add(FindingCode::IdentifierRepeated, id, "");
    }
    tally.duplicated(evidence.repeated.len() as u64);
    evidence.balance = tally.balance(trial.expected());
    evidence.balance.invented += journal.stray_answers();
    evidence.stray_answers = journal.stray_answers();
    evidence.ended = journal.last_word();
    evidence.damage = findings.damage();
    (evidence.digests, evidence.changed) = pins.finish(std::mem::take(&mut evidence.changed));
    evidence.results = results.map(|results| results.finish(findings));
    Ok(evidence)
}

fn empty_evidence(trial: &TrialDir, closing: &Closing, copy: CopyState) -> Evidence {
    Evidence {
        project: trial.trial.project.clone(),
        kind: trial.trial.kind,
        limit: trial.trial.limit,
        balance: Balance::default(),
        ids: BTreeSet::new(),
        repeated: Vec::new(),
        unreadable: Vec::new(),
        digests: pilote_spec::FixedDigests::NotDeclared,
        changed: Vec::new(),
        damage: Vec::new(),
        stray_answers: 0,
        refusals: Vec::new(),
        outputs_read: 0,
        unacceptable: Vec::new(),
        results: None,
        seals: 0,
        parts: closing.parts.len() as u64,
        ended: None,
        copy,
    }
}

/// The count as it goes through the parts.
struct Counting<'t> {
    trial: &'t TrialDir,
    tally: Tally,
    evidence: Evidence,
    results: Option<ResultsFiles<'t>>,
    /// Keys of the identifiers with their positions, to find those that stand twice.
    keys: Vec<lookup::Entry>,
    pins: pins::Comparison,
}

impl Counting<'_> {
    fn part(&mut self, mut count: PartCount, findings: &mut Findings) -> Result<(), ProofError> {
        findings.append(std::mem::take(&mut count.findings));
        let part = &std::mem::take(&mut count.part);
        self.evidence.seals += u64::from(part.sealed);
        self.tally.duplicated(part.repeated);
        self.tally.invented(part.invented);
        for record in part.records.values() {
            self.tally.record(record.position, record.outcome.is_accepted());
        }
        for item in &part.items {
            self.pins.see(item);
            // Only those that a refusal is expected of are looked for; all of a large pilot would fill the memory.
            let expected = &self.trial.trial.project.pilot.expected_refusals;
            if self.trial.trial.kind == TrialKind::Pilot
                && let Some(id) = &item.id
                && expected.iter().any(|refusal| refusal.id == id.as_str())
            {
                self.evidence.ids.insert(id.clone());
            }
        }
        self.keys.append(&mut count.keys);
        self.evidence.outputs_read += count.outputs_read;
        self.evidence.refusals.append(&mut count.refusals);
        for (all, own) in [
            (&mut self.evidence.changed, count.changed),
            (&mut self.evidence.unreadable, count.unreadable),
            (&mut self.evidence.unacceptable, count.unacceptable),
        ] {
            own.into_iter().for_each(|name| push(all, name));
        }
        let Some(results) = &mut self.results else { return Ok(()) };
        let again = |item: &Item| {
            let Some(record) = part.records.get(&item.position) else {
                return Err(ProofError::Missing { path: self.trial.root.clone() });
            };
            let output = match &record.outcome {
                Outcome::Accepted(output) => outputs::read(&self.trial.store, part.number, output)?.ok(),
                Outcome::Refused(_) => None,
            };
            Ok((record, output))
        };
        results.expect(std::mem::take(&mut count.expected), &part.items, &again)
    }

    /// Counts the records of parts that the index does not announce.
    fn strangers(&mut self, closing: &Closing, findings: &mut Findings) -> Result<(), ProofError> {
        let parts =
            pilote_ledger::parts(&self.trial.store).map_err(|error| ProofError::Ledger(Box::new(error)))?;
        for part in parts {
            if closing.parts.iter().any(|entry| entry.part == part) {
                continue;
            }
            let reading = pilote_ledger::read_part(&self.trial.store, part)
                .map_err(|error| ProofError::Ledger(Box::new(error)))?;
            self.tally.invented(reading.records.len() as u64);
            let detail = format!("{} records of a part that the index does not hold", reading.records.len());
            findings.add(FindingCode::RecordInvented, format!("parts/{part:06}"), detail);
        }
        Ok(())
    }
}

impl TrialDir {
    /// The declared number of items; for a campaign that was never declared, what the index holds is all there is.
    pub(crate) fn expected(&self) -> u64 {
        match self.trial.kind {
            TrialKind::Pilot => self.trial.project.pilot.count,
            TrialKind::Campaign => self.trial.project.campaign.as_ref().map_or(0, |campaign| campaign.count),
        }
    }
}

/// Identifiers at more than one position. Equal keys are candidates only; the index decides.
fn repeated(
    trial: &TrialDir,
    closing: &Closing,
    keys: &mut [lookup::Entry],
) -> Result<Vec<String>, ProofError> {
    keys.sort_unstable();
    let twice: BTreeSet<u64> =
        keys.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[0].0).collect();
    let mut names = Vec::new();
    if twice.is_empty() {
        return Ok(names);
    }
    let mut seen = BTreeSet::new();
    for entry in &closing.parts {
        // A part that cannot be read gave no keys either.
        for item in trial.items(entry).unwrap_or_default() {
            if item.fault.is_some_and(|fault| fault.code == FaultCode::DuplicateId) {
                continue;
            }
            if let Some(id) = item.id.filter(|id| twice.contains(&lookup::key(id)))
                && !seen.insert(id.clone())
            {
                push(&mut names, id.0);
            }
        }
    }
    Ok(names)
}

/// What people call an item: its identifier, or its position where it has none.
pub(crate) fn name(item: &Item) -> String {
    item.id.as_ref().map_or_else(|| format!("#{}", item.position), ToString::to_string)
}

fn push(names: &mut Vec<String>, name: String) {
    if names.len() < NAMES_MAX {
        names.push(name);
    }
}

impl Account {
    /// The criteria that fail.
    pub fn failing(&self) -> impl Iterator<Item = &Criterion> {
        self.criteria.iter().filter(|criterion| criterion.verdict == Verdict::Fails)
    }
}
