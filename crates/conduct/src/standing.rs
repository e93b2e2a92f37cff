//! What an earlier start of a trial left: which parts are sealed, what has an outcome, who could be a witness.

use std::collections::BTreeMap;

use pilote_corpus::index::Closing;
use pilote_ledger::{PartReader, Store};
use pilote_spec::{Item, Outcome, Position};

use crate::error::ConductError;
use crate::indexing;
use crate::plan::Recorded;

/// What is there before a trial is taken up.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    /// An accepted item: asked again, it shows whether the engine works.
    pub(crate) witness: Option<Item>,
}

impl Standing {
    /// Reads the trial in `store`. Of a sealed part only the seal is read.
    pub(crate) fn of(store: &dyn Store, closing: &Closing) -> Result<Self, ConductError> {
        let mut standing = Self::default();
        for entry in &closing.parts {
            let mut reader = PartReader::new(store, entry.part)?;
            if let Some(seal) = reader.seal() {
                standing.accepted += seal.accepted;
                standing.refused += seal.refused;
                if standing.witness.is_none() && seal.accepted > 0 {
                    let accepted = first_accepted(&mut reader)?;
                    let items = indexing::read_part(store, entry)?;
                    standing.witness = items.into_iter().find(|item| Some(item.position) == accepted);
                }
                continue;
            }
            for record in reader {
                if record?.outcome.is_accepted() {
                    standing.accepted += 1;
                } else {
                    standing.refused += 1;
                }
            }
        }
        Ok(standing)
    }
}

/// The first part without a seal.
pub(crate) fn first_open(store: &dyn Store, closing: &Closing) -> Result<Option<u32>, ConductError> {
    for entry in &closing.parts {
        if PartReader::new(store, entry.part)?.seal().is_none() {
            return Ok(Some(entry.part));
        }
    }
    Ok(None)
}

fn first_accepted(reader: &mut PartReader<'_>) -> Result<Option<Position>, ConductError> {
    for record in reader {
        let record = record?;
        if matches!(record.outcome, Outcome::Accepted(_)) {
            return Ok(Some(record.position));
        }
    }
    Ok(None)
}

/// What is recorded of a part that was taken over.
pub(crate) fn recorded(store: &dyn Store, part: u32) -> Result<BTreeMap<Position, Recorded>, ConductError> {
    PartReader::new(store, part)?
        .map(|record| {
            let record = record?;
            Ok((record.position, Recorded::from(&record.outcome)))
        })
        .collect()
}
