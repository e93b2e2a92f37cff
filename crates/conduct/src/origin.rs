//! The trial that a retry begins from: what is carried over from it, and what is asked again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pilote_corpus::index::Closing;
use pilote_ledger::{DirStore, LedgerError, PartReader, Record, Store, read_vector};
use pilote_spec::{Item, Outcome, Output, Position, Reason, Trial};

use crate::conductor::{read_index, read_trial};
use crate::error::ConductError;
use crate::indexing;

/// A finished trial whose refusals for one reason are asked again.
pub(crate) struct Origin {
    store: Arc<dyn Store>,
    pub(crate) trial: Trial,
    closing: Closing,
    pub(crate) reason: Reason,
}

impl Origin {
    /// Opens the trial in `dir`.
    pub(crate) fn open(dir: &Path, reason: Reason) -> Result<Self, ConductError> {
        let trial = read_trial(dir)?;
        let store: Arc<dyn Store> = Arc::new(DirStore::open(dir)?);
        let closing = read_index(&*store)?;
        Ok(Self { store, trial, closing, reason })
    }

    /// Proves that every item has an outcome and that there is something to retry.
    pub(crate) fn check(&self) -> Result<(), ConductError> {
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
            return Err(ConductError::NothingToRetry { trial: trial(), reason: self.reason });
        }
        Ok(())
    }

    /// Which of the `items` of part `part` are not asked, with their outcomes: those that stand at the same position
    /// with the same identifier and the same content, and were not refused for the reason that is retried. That the
    /// parameters are the same was seen when the retry was launched.
    pub(crate) fn carried(
        &self,
        part: u32,
        items: &[Item],
    ) -> Result<Vec<(Position, Outcome)>, ConductError> {
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

    fn is_retried(&self, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Refused(refusal) if refusal.reason == self.reason)
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
