//! The results files, `results.jsonl` and `refused.jsonl`: written from index and records, and read again line by
//! line against them.

use std::io::{BufRead as _, BufReader, Read, Write};

use pilote_ledger::Record;
use pilote_spec::{Item, Outcome, Output, Position, RefusedLine, ResultLine, ResultsRead};
use serde::Deserialize;

use crate::account::name;
use crate::error::{ProofError, io};
use crate::finding::{FindingCode, Findings};
use crate::shelf::Shelf;

/// Accepted outcomes in input order.
pub(crate) const RESULTS: &str = "results.jsonl";

/// Refused outcomes in input order.
pub(crate) const REFUSED: &str = "refused.jsonl";

/// Wrong lines that are named; the verdict needs one only.
const WRONG_MAX: usize = 1_000;

/// A line of one of the two files, with its line end; none for an accepted outcome whose output cannot be read.
fn line(item: &Item, record: &Record, output: Option<&Output>) -> Option<serde_json::Result<Vec<u8>>> {
    let json = match &record.outcome {
        Outcome::Accepted(_) => serde_json::to_vec(&ResultLine {
            position: item.position,
            id: item.id.clone()?,
            sha256: item.digest?,
            columns: item.columns.clone(),
            output: output?.clone(),
        }),
        Outcome::Refused(refusal) => serde_json::to_vec(&RefusedLine {
            position: item.position,
            id: item.id.clone(),
            sha256: item.digest,
            columns: item.columns.clone(),
            refusal: refusal.clone(),
        }),
    };
    Some(json.map(|mut json| {
        json.push(b'\n');
        json
    }))
}

/// Writes the line of an outcome to the file it belongs to. False when the outcome cannot be written: accepted,
/// and its output or its item is not to be had.
pub(crate) fn write<W: Write>(
    item: &Item,
    record: &Record,
    output: Option<&Output>,
    results: &mut W,
    refused: &mut W,
) -> std::io::Result<bool> {
    let Some(line) = line(item, record, output) else { return Ok(false) };
    let to = if record.outcome.is_accepted() { results } else { refused };
    to.write_all(&line?)?;
    Ok(true)
}

/// Both files, read along with the index.
pub(crate) struct ResultsFiles<'s> {
    results: Lines<'s>,
    refused: Lines<'s>,
    read: ResultsRead,
}

impl<'s> ResultsFiles<'s> {
    /// Opens both; none where neither is there.
    pub(crate) fn open(shelf: &'s Shelf) -> Result<Option<Self>, ProofError> {
        let (results, refused) = (Lines::open(shelf, RESULTS)?, Lines::open(shelf, REFUSED)?);
        if results.is_none() && refused.is_none() {
            return Ok(None);
        }
        let absent = |file: &str| format!("{file} is missing");
        let mut read = ResultsRead::default();
        read.wrong.extend(results.is_none().then(|| absent(RESULTS)));
        read.wrong.extend(refused.is_none().then(|| absent(REFUSED)));
        Ok(Some(Self {
            results: results.unwrap_or_else(|| Lines::empty(RESULTS)),
            refused: refused.unwrap_or_else(|| Lines::empty(REFUSED)),
            read,
        }))
    }

    /// Reads the line that must come next for an outcome.
    pub(crate) fn expect(
        &mut self,
        item: &Item,
        record: &Record,
        output: Option<&Output>,
    ) -> Result<(), ProofError> {
        let accepted = record.outcome.is_accepted();
        let lines = if accepted { &mut self.results } else { &mut self.refused };
        let Some(found) = lines.at(item.position, &mut self.read.wrong)? else {
            wrong(&mut self.read.wrong, format!("{}: no line for {}", lines.file, name(item)));
            return Ok(());
        };
        match line(item, record, output) {
            Some(Ok(expected)) if expected == found => {
                *(if accepted { &mut self.read.accepted } else { &mut self.read.refused }) += 1;
            }
            _ => {
                let place = format!("{} line {}: {}", lines.file, lines.number, name(item));
                wrong(&mut self.read.wrong, place);
            }
        }
        Ok(())
    }

    /// Everything was read; lines that are left belong to nothing.
    pub(crate) fn finish(mut self, findings: &mut Findings) -> ResultsRead {
        for lines in [&mut self.results, &mut self.refused] {
            // A system that refuses to read on was met before, or is met as a digest that differs.
            let _ = lines.at(Position(u64::MAX), &mut self.read.wrong);
        }
        for place in &self.read.wrong {
            let (file, detail) = place.split_once(": ").unwrap_or((place, ""));
            findings.add(FindingCode::ResultWrong, file, detail);
        }
        self.read
    }
}

fn wrong(list: &mut Vec<String>, what: String) {
    if list.len() < WRONG_MAX {
        list.push(what);
    }
}

/// The lines of a file, one looked at ahead.
struct Lines<'s> {
    file: &'static str,
    path: std::path::PathBuf,
    reader: BufReader<Box<dyn Read + Send + 's>>,
    /// The number of the line last given, from 1.
    number: u64,
    ahead: Option<(Position, Vec<u8>)>,
}

#[derive(Deserialize)]
struct Placed {
    position: Position,
}

impl<'s> Lines<'s> {
    fn open(shelf: &'s Shelf, file: &'static str) -> Result<Option<Self>, ProofError> {
        Ok(shelf.open(file)?.map(|opened| Self::from(file, shelf.shown(file), opened)))
    }

    fn empty(file: &'static str) -> Self {
        Self::from(file, file.into(), Box::new(std::io::empty()))
    }

    fn from(file: &'static str, path: std::path::PathBuf, opened: Box<dyn Read + Send + 's>) -> Self {
        Self { file, reader: BufReader::with_capacity(1 << 17, opened), path, number: 0, ahead: None }
    }

    /// The line of `position`; none when the file goes on beyond it. Lines before it that nobody asked for are
    /// out of order, twice there or invented.
    fn at(&mut self, position: Position, stray: &mut Vec<String>) -> Result<Option<Vec<u8>>, ProofError> {
        loop {
            let Some((at, line)) =
                self.ahead.take().map_or_else(|| self.read(stray), |ahead| Ok(Some(ahead)))?
            else {
                return Ok(None);
            };
            match at.cmp(&position) {
                std::cmp::Ordering::Equal => return Ok(Some(line)),
                std::cmp::Ordering::Greater => {
                    self.ahead = Some((at, line));
                    return Ok(None);
                }
                std::cmp::Ordering::Less => {
                    wrong(
                        stray,
                        format!("{} line {}: position {at} has no place here", self.file, self.number),
                    );
                }
            }
        }
    }

    fn read(&mut self, stray: &mut Vec<String>) -> Result<Option<(Position, Vec<u8>)>, ProofError> {
        loop {
            let mut line = Vec::new();
            let read =
                self.reader.read_until(b'\n', &mut line).map_err(|error| io("read", &self.path, error))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            match serde_json::from_slice::<Placed>(&line) {
                Ok(placed) => return Ok(Some((placed.position, line))),
                Err(_) => wrong(stray, format!("{} line {}: it cannot be read", self.file, self.number)),
            }
        }
    }
}
