//! What can be said of one part by itself: its items held against its records, its outputs read again and judged, and
//! the lines that its results must have. Parts are worked on several at once and handed over in their order.

use std::sync::mpsc;

use pilote_corpus::index::PartEntry;
use pilote_ledger::Record;
use pilote_spec::{FaultCode, Item, Outcome, Output, Reason, SeenRefusal, TrialKind, WorkReason, accept};

use crate::account::name;
use crate::algorithm::Algorithm;
use crate::error::ProofError;
use crate::finding::{FindingCode, Findings};
use crate::listed::ListedFiles;
use crate::lookup;
use crate::outputs;
use crate::results::Expected;
use crate::trial_dir::{Part, TrialDir};

/// A part with what was found in it.
#[derive(Default)]
pub(crate) struct PartCount {
    /// Items and records as they were read.
    pub part: Part,
    /// What was found on the way.
    pub findings: Findings,
    /// Keys of the identifiers with their positions, to find those that stand twice.
    pub keys: Vec<lookup::Entry>,
    /// Items whose record says something else of them than the index.
    pub changed: Vec<String>,
    /// Items that are refused and should not be, or the other way round, for what they are.
    pub unreadable: Vec<String>,
    /// Refusals, of a pilot only.
    pub refusals: Vec<SeenRefusal>,
    /// Accepted items whose output the deliverable does not accept.
    pub unacceptable: Vec<String>,
    /// Outputs that were read again.
    pub outputs_read: u64,
    /// The lines that the results files must have, where there are such files.
    pub expected: Expected,
}

/// How parts are counted.
pub(crate) struct PartCounter<'t> {
    /// The trial.
    pub trial: &'t TrialDir,
    /// Files whose digests are compared anyway, so that they need not be read a second time here.
    pub listed: Option<ListedFiles<'t>>,
    /// Whether there are results files to compare with.
    pub with_results: bool,
}

impl PartCounter<'_> {
    /// Reads one part and says everything that can be said of it alone.
    pub(crate) fn count(&self, entry: &PartEntry) -> Result<PartCount, ProofError> {
        let mut count = PartCount::default();
        let part = self.trial.part(entry, &mut count.findings)?;
        if !part.sealed {
            count.findings.add(FindingCode::NotSealed, format!("parts/{:06}", part.number), "");
        }
        for item in &part.items {
            // A second item that says of itself that it is one is told apart by its refusal.
            if let Some(id) = &item.id
                && item.fault.as_ref().is_none_or(|fault| fault.code != FaultCode::DuplicateId)
            {
                count.keys.push((lookup::key(id), item.position.0));
            }
            let Some(record) = part.records.get(&item.position) else { continue };
            self.record(item, record, &mut count);
            let output = self.output(part.number, item, record, &mut count)?;
            if self.with_results {
                count.expected.add(item, record, output.as_ref());
            }
        }
        count.part = part;
        Ok(count)
    }

    /// Compares a record with the item that it is about.
    fn record(&self, item: &Item, record: &Record, count: &mut PartCount) {
        if compare(item, record, &mut count.findings) != Comparison::Same {
            count.changed.push(name(item));
        }
        let fault = item.fault.as_ref().map(|fault| fault.code);
        let refused = match &record.outcome {
            Outcome::Refused(refusal) => {
                if self.trial.trial.kind == TrialKind::Pilot {
                    let (position, id, reason) = (item.position, item.id.clone(), refusal.reason);
                    count.refusals.push(SeenRefusal { position, id, reason });
                }
                match refusal.reason {
                    Reason::Input(code) => Some(code),
                    Reason::Work(_) => None,
                }
            }
            Outcome::Accepted(_) => None,
        };
        if fault != refused {
            count.unreadable.push(name(item));
        }
    }

    /// Reads an accepted output again, payload included, and asks whether the deliverable accepts it.
    fn output(
        &self,
        part: u32,
        item: &Item,
        record: &Record,
        count: &mut PartCount,
    ) -> Result<Option<Output>, ProofError> {
        let Outcome::Accepted(output) = &record.outcome else { return Ok(None) };
        let read = if self.is_listed(part, output) {
            Ok(output.clone())
        } else {
            outputs::read(&self.trial.store, part, output)?
        };
        count.outputs_read += u64::from(read.is_ok());
        let why = match &read {
            Ok(output) => match accept(&self.trial.trial.project.output, output.clone()) {
                Ok(_) => None,
                Err(refusal) => Some(format!("the deliverable refuses it as {}", refusal.reason)),
            },
            Err(why) => Some(why.clone()),
        };
        if let Some(why) = why {
            count.unacceptable.push(name(item));
            count.findings.add(FindingCode::OutputUnacceptable, name(item), why);
        }
        Ok(read.ok())
    }

    /// Whether an output is a file that is listed with the very digest of its record: comparing it with the list
    /// compares it with the record.
    fn is_listed(&self, part: u32, output: &Output) -> bool {
        let (Some(listed), Output::File { payload, digest, .. }) = (&self.listed, output) else {
            return false;
        };
        let path = format!("{}{}", listed.below, pilote_ledger::payload_key(part, payload));
        let digests = listed.files.get(&path).and_then(|digests| digests.get(&Algorithm::Sha256));
        digests == Some(&digest.to_string())
    }
}

/// Works on `parts`, `threads` of them at once, and hands over what each came to, in their order. No more than two for
/// each thread are held.
pub(crate) fn in_order<T: Send>(
    parts: &[PartEntry],
    threads: usize,
    work: impl Fn(&PartEntry) -> Result<T, ProofError> + Sync,
    mut take: impl FnMut(T) -> Result<(), ProofError>,
) -> Result<(), ProofError> {
    let threads = threads.clamp(1, parts.len().max(1));
    if threads == 1 {
        return parts.iter().try_for_each(|entry| take(work(entry)?));
    }
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<mpsc::Receiver<Result<T, ProofError>>> = (0..threads)
            .map(|first| {
                let (tell, told) = mpsc::sync_channel(1);
                scope.spawn(move || {
                    for entry in parts.iter().skip(first).step_by(threads) {
                        // Whoever does not listen any more has met an error.
                        if tell.send(work(entry)).is_err() {
                            return;
                        }
                    }
                });
                told
            })
            .collect();
        for (number, _) in parts.iter().enumerate() {
            // A worker that ended early has panicked, which the scope passes on.
            let Ok(done) = workers[number % threads].recv() else { return Ok(()) };
            take(done?)?;
        }
        Ok(())
    })
}

/// How a record stands to the item at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// It is about that item as it was indexed.
    Same,
    /// It says that the input had changed since.
    SaysChanged,
    /// It bears another identifier or digest.
    Other,
}

/// Compares a record with the item that it is about.
pub(crate) fn compare(item: &Item, record: &Record, findings: &mut Findings) -> Comparison {
    let changed = Reason::Work(WorkReason::InputChanged);
    let says_changed = matches!(&record.outcome, Outcome::Refused(refusal) if refusal.reason == changed);
    if record.id == item.id && (record.sha256 == item.digest || says_changed) {
        return if says_changed { Comparison::SaysChanged } else { Comparison::Same };
    }
    let detail = format!(
        "the record at position {} bears {} with the digest {}",
        item.position,
        record.id.as_ref().map_or_else(|| "no identifier".to_owned(), |id| format!("`{id}`")),
        record.sha256.map_or_else(|| "none".to_owned(), |digest| digest.to_string()),
    );
    findings.add(FindingCode::RecordDiffers, name(item), detail);
    Comparison::Other
}

#[cfg(test)]
mod tests {
    use pilote_spec::Position;

    use super::*;

    fn parts(count: u32) -> Vec<PartEntry> {
        (1..=count).map(|part| PartEntry::of(part, Position(u64::from(part)), 1, b"")).collect()
    }

    #[test]
    fn parts_come_in_their_order_however_many_are_worked_on_at_once() {
        for threads in [1, 2, 3, 8, 100] {
            let mut taken = Vec::new();
            in_order(
                &parts(20),
                threads,
                |entry| Ok(entry.part),
                |part| {
                    taken.push(part);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(taken, (1..=20).collect::<Vec<_>>(), "{threads}");
        }
        in_order(&[], 4, |entry| Ok(entry.part), |_| panic!("there is none")).unwrap();
    }

    #[test]
    fn the_first_error_in_order_ends_the_work_whoever_meets_it() {
        for threads in [1, 4] {
            let mut taken = 0;
            let error = in_order(
                &parts(1_000),
                threads,
                |entry| match entry.part {
                    part @ (7 | 9) => Err(ProofError::Missing { path: part.to_string().into() }),
                    part => Ok(part),
                },
                |_| {
                    taken += 1;
                    Ok(())
                },
            )
            .unwrap_err();
            assert!(error.to_string().contains("`7`") && taken == 6, "{threads}: {error}");
            let stopped = in_order(
                &parts(1_000),
                threads,
                |entry| Ok(entry.part),
                |part| match part {
                    3 => Err(ProofError::Missing { path: "3".into() }),
                    _ => Ok(()),
                },
            );
            assert!(stopped.unwrap_err().to_string().contains("`3`"));
        }
    }
}
