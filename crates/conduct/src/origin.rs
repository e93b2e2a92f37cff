//! The trial that another one begins from, a retry or one over a corpus that grew: what is carried over from it, and what
//! is asked again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pilote_corpus::index::{CLOSED_KEY, Closing};
use pilote_ledger::{DirStore, LedgerError, PartReader, Record, Store, read_vector};
use pilote_spec::{Digest, Hasher, Item, Outcome, Output, Position, Reason, Since, Trial};

use crate::conductor::{read_index, read_trial};
use crate::drift::Drift;
use crate::error::ConductError;
use crate::indexing;
use crate::known::{Counterpart, Differences, Known};
use crate::standing::Standing;

/// A finished trial of which outcomes are carried over.
pub(crate) struct Origin {
    store: Arc<dyn Store>,
    pub(crate) trial: Trial,
    closing: Closing,
    pub(crate) means: Means,
}

/// Which outcomes are carried over.
pub(crate) enum Means {
    /// All of the same corpus but those that were refused for this reason.
    Retry(Reason),
    /// Those of items that are the same in a corpus that grew.
    Since(Known),
}

impl Origin {
    /// Opens the trial in `dir`, whose refusals for `reason` are asked again.
    pub(crate) fn open(dir: &Path, reason: Reason) -> Result<Self, ConductError> {
        let (trial, store, closing) = opened(dir)?;
        Ok(Self { store, trial, closing, means: Means::Retry(reason) })
    }

    /// Opens the trial in `dir`, which ran over an earlier state of the corpus and is finished.
    pub(crate) fn since(dir: &Path) -> Result<Self, ConductError> {
        let (trial, store, closing) = opened(dir)?;
        let standing = Standing::of(&*store, &closing)?;
        let pending = closing.items.saturating_sub(standing.accepted + standing.refused);
        if pending > 0 {
            return Err(ConductError::Unfinished { trial: trial.name, pending });
        }
        let known = Known::of(&*store, &closing)?;
        Ok(Self { store, trial, closing, means: Means::Since(known) })
    }

    /// What the new trial in `store` declares that it takes over; none of a retry.
    pub(crate) fn declared(
        &self,
        store: &dyn Store,
        closing: &Closing,
    ) -> Result<Option<Since>, ConductError> {
        let Means::Since(known) = &self.means else { return Ok(None) };
        let Differences { same, asked, changed, removed } =
            known.differences((store, closing), (&*self.store, &self.closing))?;
        let (index, seals) = self.digests()?;
        let trial = self.trial.name.clone();
        Ok(Some(Since { trial, index, seals, taken_over: same, asked, changed, removed }))
    }

    /// Compares the trial with what was declared of it when its outcomes were first taken over.
    pub(crate) fn prove(&self, since: &Since) -> Result<(), ConductError> {
        let (index, seals) = self.digests()?;
        let mut changes = Vec::new();
        for (field, then, now) in [("index", since.index, index), ("seals", since.seals, seals)] {
            if then != now {
                let field = format!("{} of {}", field, since.trial);
                changes.push(Drift { field, then: then.to_string(), now: now.to_string() });
            }
        }
        if changes.is_empty() { Ok(()) } else { Err(ConductError::Drift { changes }) }
    }

    /// The digest of the closing entry of its index, which names every item, and one over the seals of its parts, which
    /// name every record.
    fn digests(&self) -> Result<(Digest, Digest), ConductError> {
        let index = self.store.read(CLOSED_KEY)?.unwrap_or_default();
        let mut seals = Hasher::new();
        for entry in &self.closing.parts {
            let reader = PartReader::new(&*self.store, entry.part)?;
            let Some(seal) = reader.seal() else { continue };
            for sealed in &seal.entries {
                seals.update(format!("{} {} {}\n", entry.part, sealed.entry, sealed.sha256).as_bytes());
            }
            for payload in &seal.payloads {
                seals.update(format!("{} {} {}\n", entry.part, payload.name, payload.sha256).as_bytes());
            }
        }
        Ok((Digest::of(&index), seals.finish()))
    }

    /// Proves that every item has an outcome and that there is something to retry.
    pub(crate) fn check(&self) -> Result<(), ConductError> {
        let Means::Retry(reason) = self.means else { return Ok(()) };
        let (mut outcomes, mut refused) = (0, 0);
        for entry in &self.closing.parts {
            for record in self.records(entry.part)?.values() {
                outcomes += 1;
                refused += u64::from(self.is_retried(&record.outcome));
            }
        }
        let trial = || self.trial.name.clone();
        let pending = self.closing.items.saturating_sub(outcomes);
        if pending > 0 {
            return Err(ConductError::Unfinished { trial: trial(), pending });
        }
        if refused == 0 {
            return Err(ConductError::NothingToRetry { trial: trial(), reason });
        }
        Ok(())
    }

    /// Which of the `items` of part `part` are not asked, with their outcomes, by position. That the parameters are the
    /// same was seen at the launch.
    pub(crate) fn carried(
        &self,
        part: u32,
        items: &[Item],
    ) -> Result<Vec<(Position, Outcome)>, ConductError> {
        match &self.means {
            Means::Retry(_) => self.carried_in_place(part, items),
            Means::Since(known) => self.carried_from_anywhere(known, items),
        }
    }

    /// Those that stand at the same position with the same identifier and the same content, and were not refused for the
    /// reason that is retried.
    fn carried_in_place(&self, part: u32, items: &[Item]) -> Result<Vec<(Position, Outcome)>, ConductError> {
        let Some(entry) = self.closing.parts.iter().find(|entry| entry.part == part) else {
            return Ok(Vec::new());
        };
        let then: BTreeMap<Position, Item> =
            indexing::read_part(&*self.store, entry)?.into_iter().map(|item| (item.position, item)).collect();
        let mut records = self.records(part)?;
        let mut carried = Vec::new();
        for item in items.iter().filter(|item| item.fault.is_none()) {
            let same = then.get(&item.position).is_some_and(|then| {
                then.id == item.id
                    && then.digest == item.digest
                    && item.digest.is_some()
                    && then.fault.is_none()
            });
            let Some(record) = records.remove(&item.position).filter(|_| same) else { continue };
            if record.sha256 == item.digest && !self.is_retried(&record.outcome) {
                carried.push((item.position, self.own_outcome(part, record.outcome)?));
            }
        }
        Ok(carried)
    }

    /// Those with the same identifier and the same content, wherever they stood.
    fn carried_from_anywhere(
        &self,
        known: &Known,
        items: &[Item],
    ) -> Result<Vec<(Position, Outcome)>, ConductError> {
        let mut carried = Vec::new();
        for (part, counterparts) in known.counterparts(&*self.store, &self.closing, items)? {
            let same: Vec<_> = counterparts.into_iter().filter(Counterpart::is_same).collect();
            if same.is_empty() {
                continue;
            }
            let mut records = self.records(part)?;
            for counterpart in same {
                let Some(record) = records.remove(&counterpart.then.position) else { continue };
                if record.sha256 == counterpart.now.digest {
                    carried.push((counterpart.now.position, self.own_outcome(part, record.outcome)?));
                }
            }
        }
        carried.sort_by_key(|(position, _)| *position);
        Ok(carried)
    }

    fn is_retried(&self, outcome: &Outcome) -> bool {
        let Means::Retry(reason) = self.means else { return false };
        matches!(outcome, Outcome::Refused(refusal) if refusal.reason == reason)
    }
    fn records(&self, part: u32) -> Result<BTreeMap<Position, Record>, ConductError> {
        let mut reader = PartReader::new(&*self.store, part)?;
        let records = reader
            .by_ref()
            .map(|record| record.map(|record| (record.position, record)))
            .collect::<Result<_, _>>()?;
        let mut findings = reader.findings().to_vec();
        findings.retain(pilote_ledger::Finding::is_damage);
        if findings.is_empty() { Ok(records) } else { Err(LedgerError::Damaged { part, findings }.into()) }
    }

    /// The outcome with what lay in a payload of the old trial taken in, so that the new trial stands alone.
    fn own_outcome(&self, part: u32, outcome: Outcome) -> Result<Outcome, ConductError> {
        let Outcome::Accepted(output) = &outcome else { return Ok(outcome) };
        let Output::VectorAt { cut_at_tokens, .. } = output else { return Ok(outcome) };
        let cut_at_tokens = *cut_at_tokens;
        Ok(match read_vector(&*self.store, part, output)? {
            Some(values) => Outcome::Accepted(Output::Vector { values, cut_at_tokens }),
            None => outcome,
        })
    }
}

fn opened(dir: &Path) -> Result<(Trial, Arc<dyn Store>, Closing), ConductError> {
    let trial = read_trial(dir)?;
    let store: Arc<dyn Store> = Arc::new(DirStore::open(dir)?);
    let closing = read_index(&*store)?;
    Ok((trial, store, closing))
}
