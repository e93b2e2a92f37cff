//! Results as other programs take them: comma-separated values, Parquet, OpenAI Batch results. Every item has its row,
//! in input order, the refused ones with their reason, so that nothing is missing without a word.
//!
//! Rows are made from index and records, as the results files are, and never from memory of the run; each output is
//! read again and proved on the way.

mod arrow;
mod batch;
mod cells;
mod csv;
mod parquet;

use std::io::Write;
use std::path::{Path, PathBuf};

use pilote_spec::{Digest, Item, Outcome, Output, Position, Refusal};

use crate::collection::needs_the_end;
use crate::error::{ProofError, io};
use crate::files::Pending;
use crate::finding::Findings;
use crate::outputs;
use crate::trial_dir::TrialDir;

/// A format of a file of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values with a header (RFC 4180, lines ended by a line feed).
    Csv,
    /// Parquet; vectors are lists of a fixed size.
    Parquet,
    /// A line for each item as the OpenAI Batch interface gives results.
    OpenAiBatch,
}

impl TableFormat {
    /// The extension of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::OpenAiBatch => "jsonl",
        }
    }
}

/// A file of results that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFile {
    /// Where.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Digest,
    /// Rows of accepted items.
    pub accepted: u64,
    /// Rows of refused items.
    pub refused: u64,
}

/// What became of an item, its output in full.
enum Told<'r> {
    Accepted(Output),
    Refused(&'r Refusal),
}

/// Takes the rows of a file one after the other.
trait Rows {
    fn row(&mut self, item: &Item, told: &Told<'_>) -> std::io::Result<()>;
    fn finish(self: Box<Self>) -> std::io::Result<Pending>;
}

/// Writes the outcomes of the finished trial, or copy of one, in `dir` to `to`. A file that is there already must be the
/// same.
///
/// # Errors
/// When the trial is not finished, something of it is damaged, its outputs do not fit the format, or another file is at
/// `to`: nothing is written then.
pub fn write_table(dir: &Path, format: TableFormat, to: &Path) -> Result<TableFile, ProofError> {
    let trial = TrialDir::open(dir)?;
    let closing = trial.closing()?;
    needs_the_end(&trial, &closing)?;
    let pending = Pending::new(to.parent().unwrap_or(to))?;
    let mut rows: Box<dyn Rows> = match format {
        TableFormat::Csv => Box::new(csv::Csv::begin(pending, &trial.trial).map_err(|e| io("write", to, e))?),
        TableFormat::Parquet => {
            Box::new(parquet::Parquet::begin(pending, &trial.trial).map_err(|e| io("write", to, e))?)
        }
        TableFormat::OpenAiBatch => Box::new(batch::Batch::begin(pending, &trial.trial)?),
    };
    let (mut accepted, mut refused) = (0, 0);
    let mut findings = Findings::default();
    for entry in &closing.parts {
        let part = trial.part(entry, &mut findings)?;
        if let Some(why) = findings.damage().into_iter().next() {
            return Err(ProofError::Damaged { path: trial.root.clone(), why });
        }
        for item in &part.items {
            let missing = |position: Position| format!("position {position} has no outcome");
            let record = part.records.get(&item.position).ok_or_else(|| ProofError::Damaged {
                path: trial.root.clone(),
                why: missing(item.position),
            })?;
            let told = match &record.outcome {
                Outcome::Refused(refusal) => Told::Refused(refusal),
                Outcome::Accepted(output) => Told::Accepted(
                    outputs::read(&trial.store, part.number, output)?
                        .map_err(|why| ProofError::Damaged { path: trial.root.clone(), why })?,
                ),
            };
            *(if matches!(told, Told::Accepted(_)) { &mut accepted } else { &mut refused }) += 1;
            rows.row(item, &told).map_err(|error| io("write", to, error))?;
        }
    }
    let pending = rows.finish().map_err(|error| io("write", to, error))?;
    let (sha256, bytes) = pending.create(to)?;
    Ok(TableFile { path: to.to_owned(), bytes, sha256, accepted, refused })
}

/// Writes a line and its end.
fn line(to: &mut impl Write, line: &[u8]) -> std::io::Result<()> {
    to.write_all(line)?;
    to.write_all(b"\n")
}
