//! The results files, `results.jsonl` and `refused.jsonl`: written from index and records, and read again line by
//! line against them.

use std::io::{Read, Write};

use pilote_ledger::Record;
use pilote_spec::{Digest, Hasher, Item, Outcome, Output, Position, RefusedLine, ResultLine, ResultsRead};
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

/// Gives the record of an item, and its output in full where that is to be had.
type Again<'a, 'p> = dyn Fn(&Item) -> Result<(&'p Record, Option<Output>), ProofError> + 'a;

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

    /// Reads the lines that must come next for the outcomes of a part. `again` gives the record of an item and its output
    /// once more, where the lines are not what they must be and have to be told one by one.
    pub(crate) fn expect<'p>(
        &mut self,
        expected: Expected,
        items: &'p [Item],
        again: &Again<'_, 'p>,
    ) -> Result<(), ProofError> {
        for (lines, block, read) in [
            (&mut self.results, expected.accepted, &mut self.read.accepted),
            (&mut self.refused, expected.refused, &mut self.read.refused),
        ] {
            // Nearly always the file goes on with exactly these bytes, and then no line needs to be understood.
            let count = block.rows.len() as u64;
            if block.whole && lines.goes_on_with(block.bytes, block.hasher.finish(), count)? {
                *read += count;
                continue;
            }
            for position in block.rows {
                let Ok(at) = items.binary_search_by_key(&position, |item| item.position) else { continue };
                let (record, output) = again(&items[at])?;
                *read +=
                    u64::from(lines.compare(&items[at], record, output.as_ref(), &mut self.read.wrong)?);
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

/// What the lines of a part must be in the results files: not themselves, which may be long, but their digest.
#[derive(Default)]
pub(crate) struct Expected {
    accepted: Block,
    refused: Block,
}

impl Expected {
    /// Adds the line of an outcome. `output` is that of an accepted one, in full; none where it cannot be read.
    pub(crate) fn add(&mut self, item: &Item, record: &Record, output: Option<&Output>) {
        let accepted = record.outcome.is_accepted();
        let block = if accepted { &mut self.accepted } else { &mut self.refused };
        match line(item, record, output) {
            Some(Ok(line)) => {
                block.hasher.update(&line);
                block.bytes += line.len();
            }
            _ => block.whole = false,
        }
        block.rows.push(item.position);
    }
}

/// Lines of one of the files, one after the other.
struct Block {
    hasher: Hasher,
    bytes: usize,
    rows: Vec<Position>,
    /// Whether every row has its line.
    whole: bool,
}

impl Default for Block {
    fn default() -> Self {
        Self { hasher: Hasher::new(), bytes: 0, rows: Vec::new(), whole: true }
    }
}

/// Bytes that are read of a file at a time.
const CHUNK: usize = 1 << 17;

/// The lines of a file, one looked at ahead.
struct Lines<'s> {
    file: &'static str,
    path: std::path::PathBuf,
    reader: Box<dyn Read + Send + 's>,
    /// What was read and not yet given, from `taken` on.
    buffer: Vec<u8>,
    taken: usize,
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
        Self { file, reader: opened, buffer: Vec::new(), taken: 0, path, number: 0, ahead: None }
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

    /// Whether `count` lines of these bytes together come next; then they are taken.
    fn goes_on_with(&mut self, bytes: usize, digest: Digest, count: u64) -> Result<bool, ProofError> {
        if self.ahead.is_some() {
            return Ok(bytes == 0);
        }
        while self.buffer.len() - self.taken < bytes {
            if !self.fill()? {
                return Ok(false);
            }
        }
        let end = self.taken + bytes;
        let same = Digest::of(&self.buffer[self.taken..end]) == digest;
        if same {
            self.taken = end;
            self.number += count;
        }
        Ok(same)
    }

    /// Whether the line of an item is the one that it must be; what is wrong is named.
    fn compare(
        &mut self,
        item: &Item,
        record: &Record,
        output: Option<&Output>,
        list: &mut Vec<String>,
    ) -> Result<bool, ProofError> {
        let Some(found) = self.at(item.position, list)? else {
            wrong(list, format!("{}: no line for {}", self.file, name(item)));
            return Ok(false);
        };
        let same = matches!(line(item, record, output), Some(Ok(expected)) if expected == found);
        if !same {
            wrong(list, format!("{} line {}: {}", self.file, self.number, name(item)));
        }
        Ok(same)
    }

    /// The next line with its end; empty at the end of the file.
    fn next_line(&mut self) -> Result<Vec<u8>, ProofError> {
        let mut searched = self.taken;
        loop {
            if let Some(at) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let end = searched + at + 1;
                return Ok(self.buffer[std::mem::replace(&mut self.taken, end)..end].to_vec());
            }
            let held = self.buffer.len() - self.taken;
            if !self.fill()? {
                return Ok(self.buffer.split_off(self.taken));
            }
            searched = self.taken + held;
        }
    }

    /// Reads on; false at the end of the file.
    fn fill(&mut self) -> Result<bool, ProofError> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let held = self.buffer.len();
        let chunk = (&mut self.reader).take(CHUNK as u64).read_to_end(&mut self.buffer);
        chunk.map_err(|error| io("read", &self.path, error))?;
        Ok(self.buffer.len() > held)
    }

    fn read(&mut self, stray: &mut Vec<String>) -> Result<Option<(Position, Vec<u8>)>, ProofError> {
        loop {
            let line = self.next_line()?;
            if line.is_empty() {
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
