//! Appending to a part, committing, sealing.

use std::io::{self, Read};
use std::sync::Arc;

use pilote_spec::{Hasher, Outcome, Output, Position};

use crate::chain::Chain;
use crate::entry::{EntryKind, FORMAT, Header, LINE_BYTES_MAX};
use crate::error::LedgerError;
use crate::keys::{entry_key, payload_key};
use crate::ledger::{Claim, Ledger, Survey, TakenOver, create_as_own, not_serialisable};
use crate::line;
use crate::owner::Owner;
use crate::payload::{StoredPayload, digest_of, push_vector};
use crate::positions::Positions;
use crate::record::{Adoption, Record};
use crate::seal::{Seal, SealedEntry};
use crate::store::{Append, Creation, Store, StoreError};
use crate::window::{Failpoint, Window};

/// Writes one part. After any error it is spent: the trial stops, and whoever takes it up again reads what is
/// really there.
pub struct PartWriter {
    store: Arc<dyn Store>,
    failpoint: Arc<dyn Failpoint>,
    owner: Owner,
    part: u32,
    /// The entry with which this writer opened the part: its payloads are named after it.
    opening: u64,
    /// The last entry of this writer.
    entry: u64,
    /// Appends to the last entry, where the store can.
    appender: Option<Box<dyn Append>>,
    recorded: Positions,
    pending: Pending,
    vectors: Vectors,
    taken_over: Option<TakenOver>,
    spent: bool,
    _claim: Claim,
}

/// What was appended since the last commit.
#[derive(Default)]
struct Pending {
    lines: Vec<u8>,
    positions: Vec<Position>,
}

/// The payload that vectors go to.
#[derive(Default)]
struct Vectors {
    /// Bytes that are not written yet.
    pending: Vec<u8>,
    /// Bytes of the payload that are durable, where the store appends.
    durable: u64,
    /// Payloads begun, where the store does not append: one for each commit with vectors.
    begun: u64,
    appender: Option<Box<dyn Append>>,
}

impl PartWriter {
    pub(crate) fn new(
        ledger: &Ledger,
        part: u32,
        entry: u64,
        recorded: Positions,
        claim: Claim,
    ) -> Result<Self, LedgerError> {
        let (store, owner, failpoint) = ledger.shared();
        let appender = store.appender(&entry_key(part, entry))?;
        Ok(Self {
            store,
            failpoint,
            owner,
            part,
            opening: entry,
            entry,
            appender,
            recorded,
            pending: Pending::default(),
            vectors: Vectors::default(),
            taken_over: None,
            spent: false,
            _claim: claim,
        })
    }

    /// The part.
    #[must_use]
    pub fn part(&self) -> u32 {
        self.part
    }

    /// The positions with an outcome that counts, those appended and not committed yet among them.
    #[must_use]
    pub fn recorded(&self) -> &Positions {
        &self.recorded
    }

    /// What the takeover found, where the part was taken over.
    #[must_use]
    pub fn taken_over(&self) -> Option<&TakenOver> {
        self.taken_over.as_ref()
    }

    /// Takes records in, to be written by the next [`PartWriter::commit`]. A vector goes to a payload of its own,
    /// and the record names its place there.
    ///
    /// # Errors
    /// When a position has an outcome already, or a record could not be read back; then none of `records` is taken.
    pub fn append(&mut self, records: &[Record]) -> Result<(), LedgerError> {
        self.still_usable()?;
        let (lines, positions) = (self.pending.lines.len(), self.pending.positions.len());
        let vectors = self.vectors.pending.len();
        for record in records {
            if let Err(error) = self.append_one(record) {
                for position in self.pending.positions.drain(positions..) {
                    self.recorded.remove(position);
                }
                self.pending.lines.truncate(lines);
                self.vectors.pending.truncate(vectors);
                return Err(error);
            }
        }
        Ok(())
    }

    fn append_one(&mut self, record: &Record) -> Result<(), LedgerError> {
        let position = record.position;
        if self.recorded.contains(position) {
            return Err(LedgerError::AlreadyRecorded { part: self.part, position });
        }
        holdable(&record.outcome).map_err(|why| LedgerError::Unwritable { position, why })?;
        let start = self.pending.lines.len();
        let written = match &record.outcome {
            Outcome::Accepted(Output::Vector { values, cut_at_tokens }) => {
                let output = self.place_vector(values, *cut_at_tokens, position)?;
                let (id, outcome) = (record.id.clone(), Outcome::Accepted(output));
                let placed = Record { position, id, sha256: record.sha256, attempt: record.attempt, outcome };
                line::push(&mut self.pending.lines, &placed)
            }
            _ => line::push(&mut self.pending.lines, record),
        };
        written.map_err(|error| LedgerError::Unwritable { position, why: error.to_string() })?;
        readable(&self.pending.lines[start..])
            .map_err(|why| LedgerError::Unwritable { position, why })
            .inspect_err(|_| self.pending.lines.truncate(start))?;
        self.recorded.insert(position);
        self.pending.positions.push(position);
        Ok(())
    }

    fn place_vector(
        &mut self,
        values: &[f32],
        cut_at_tokens: Option<u32>,
        position: Position,
    ) -> Result<Output, LedgerError> {
        let too_wide = |_| LedgerError::Unwritable { position, why: "the vector is too wide".to_owned() };
        let width = u32::try_from(values.len()).map_err(too_wide)?;
        let offset = self.vectors.durable + self.vectors.pending.len() as u64;
        let crc = push_vector(&mut self.vectors.pending, values);
        Ok(Output::VectorAt { payload: self.vectors_name(), offset, width, crc, cut_at_tokens })
    }

    /// Named after the entry that only this writer created, so that no two writers share a payload.
    fn vectors_name(&self) -> String {
        if self.store.appends() {
            format!("{:06}.f32", self.opening)
        } else {
            format!("{:06}-{:06}.f32", self.opening, self.vectors.begun + 1)
        }
    }

    /// Makes everything appended durable and certain: durable first, and then seen to have no successor. Gives
    /// the number of outcomes. Only what this returned for was ever finished.
    ///
    /// # Errors
    /// [`LedgerError::Fenced`] where somebody took over, else when the store fails. Nothing appended since the
    /// last commit counts for this writer then, and the writer is spent.
    pub fn commit(&mut self) -> Result<u64, LedgerError> {
        self.still_usable()?;
        if self.pending.positions.is_empty() {
            return Ok(0);
        }
        let count = self.pending.positions.len() as u64;
        self.guarded(|writer| {
            writer.write_vectors()?;
            // Taken out and put back, since the buffer keeps its room for the next commit.
            let lines = std::mem::take(&mut writer.pending.lines);
            let result = writer.write_lines(&lines, count, Window::RecordsWritten, Window::RecordsSynced);
            writer.pending.lines = lines;
            result
        })?;
        self.pending.lines.clear();
        self.pending.positions.clear();
        self.failpoint.reached(Window::CommitDecided);
        Ok(count)
    }

    fn write_vectors(&mut self) -> Result<(), LedgerError> {
        if self.vectors.pending.is_empty() {
            return Ok(());
        }
        let name = self.vectors_name();
        let key = payload_key(self.part, &name);
        let bytes = std::mem::take(&mut self.vectors.pending);
        if !self.store.appends() {
            self.vectors.begun += 1;
            if !create_as_own(&*self.store, &key, &bytes)? {
                return Err(LedgerError::PayloadExists { part: self.part, payload: name });
            }
            self.failpoint.reached(Window::PayloadSynced);
            return Ok(());
        }
        if self.vectors.appender.is_none() {
            if !create_as_own(&*self.store, &key, b"")? {
                return Err(LedgerError::PayloadExists { part: self.part, payload: name });
            }
            self.vectors.appender = self.store.appender(&key)?;
        }
        if let Some(appender) = &mut self.vectors.appender {
            appender.append(&bytes)?;
            self.failpoint.reached(Window::PayloadWritten);
            appender.sync()?;
        }
        self.vectors.durable += bytes.len() as u64;
        self.failpoint.reached(Window::PayloadSynced);
        Ok(())
    }

    /// Makes whole lines durable in an entry of this writer, and sees that nobody took over.
    fn write_lines(
        &mut self,
        lines: &[u8],
        count: u64,
        written: Window,
        synced: Window,
    ) -> Result<(), LedgerError> {
        let next = self.entry + 1;
        if let Some(appender) = &mut self.appender {
            appender.append(lines)?;
            self.failpoint.reached(written);
            appender.sync()?;
            self.failpoint.reached(synced);
            // The order matters: a taker creates its entry before it reads, so either it reads these lines, or
            // its entry is seen here.
            return if self.store.exists(&entry_key(self.part, next))? {
                Err(self.fenced(next))
            } else {
                Ok(())
            };
        }
        let mut bytes = self.header(next, EntryKind::Records, count, false)?;
        bytes.extend_from_slice(lines);
        if !create_as_own(&*self.store, &entry_key(self.part, next), &bytes)? {
            return Err(self.fenced(next));
        }
        self.entry = next;
        self.failpoint.reached(synced);
        Ok(())
    }

    /// Keeps a file as a payload, durable on return; of its bytes, little is in memory at any time. The name in a record
    /// is the one returned: with this writer's own prefix, so that a file left over by another one is never taken for
    /// it.
    ///
    /// # Errors
    /// When this writer put another payload under that name, `from` cannot be read, or the store fails; the writer is
    /// spent then.
    pub fn put_payload(&mut self, name: &str, from: &mut dyn Read) -> Result<StoredPayload, LedgerError> {
        self.still_usable()?;
        let name = format!("{:06}-{name}", self.opening);
        let key = payload_key(self.part, &name);
        let mut from = Counted { from, hasher: Hasher::new(), bytes: 0 };
        let created = self.store.create_from(&key, &mut from).map_err(LedgerError::from);
        let stored = StoredPayload { name, bytes: from.bytes, sha256: from.hasher.finish() };
        self.guarded(|writer| match created? {
            Creation::Created => Ok(()),
            // An earlier reply may have been lost: what stands there may be this very file.
            Creation::Exists if holds(&*writer.store, &key, &stored)? => Ok(()),
            Creation::Exists => {
                Err(LedgerError::PayloadExists { part: writer.part, payload: stored.name.clone() })
            }
        })?;
        self.failpoint.reached(Window::PayloadSynced);
        Ok(stored)
    }

    /// Finishes the part: reads everything back, and creates the entry that says what it consists of. Whether
    /// every declared position has its outcome is the caller's to know.
    ///
    /// # Errors
    /// [`LedgerError::Fenced`] where somebody took over, [`LedgerError::Uncommitted`] before a commit, a damage
    /// where what is there is not what was written, else when the store fails.
    pub fn seal(mut self) -> Result<Seal, LedgerError> {
        self.still_usable()?;
        self.nothing_pending()?;
        let seal = self.prepare_seal()?;
        self.failpoint.reached(Window::SealPrepared);
        let next = self.entry + 1;
        let mut bytes = self.header(next, EntryKind::Seal, 1, false)?;
        let key = entry_key(self.part, next);
        line::push(&mut bytes, &seal).map_err(|error| not_serialisable(&key, error))?;
        self.spent = true;
        if !create_as_own(&*self.store, &key, &bytes)? {
            return Err(self.fenced(next));
        }
        self.failpoint.reached(Window::SealCreated);
        Ok(seal)
    }

    fn prepare_seal(&self) -> Result<Seal, LedgerError> {
        let part = self.part;
        let survey = Survey::of(&*self.store, part)?;
        if survey.entries.last().is_some_and(|facts| facts.entry > self.entry) {
            return Err(self.fenced(self.entry + 1));
        }
        if survey.positions != self.recorded {
            let (written, seen) = (self.recorded.len(), survey.positions.len());
            return Err(LedgerError::NotAsWritten { part, written, seen });
        }
        let mut findings = Vec::new();
        let payloads = survey.extents.read(&*self.store, part, &mut findings)?;
        if !findings.is_empty() {
            return Err(LedgerError::Damaged { part, findings });
        }
        let entries = survey.entries.iter().map(|facts| SealedEntry {
            entry: facts.entry,
            bytes: facts.bytes,
            sha256: facts.sha256,
            records: facts.records,
            torn_bytes: facts.torn_bytes,
        });
        let (accepted, refused) = survey.counts;
        Ok(Seal { entries: entries.collect(), payloads, accepted, refused })
    }

    /// Gives the part up in order, so that any other owner, on any machine, may take it over.
    ///
    /// # Errors
    /// [`LedgerError::Uncommitted`] before a commit, [`LedgerError::Fenced`] where somebody took over, else when
    /// the store fails.
    pub fn release(mut self) -> Result<(), LedgerError> {
        self.still_usable()?;
        self.nothing_pending()?;
        let next = self.entry + 1;
        let bytes = self.header(next, EntryKind::Takeover, 0, true)?;
        self.spent = true;
        if create_as_own(&*self.store, &entry_key(self.part, next), &bytes)? {
            return Ok(());
        }
        Err(self.fenced(next))
    }

    /// Records what a takeover adopts: only then does the takeover count.
    pub(crate) fn record_takeover(&mut self, taken_over: TakenOver) -> Result<(), LedgerError> {
        if !taken_over.adopted.is_empty() {
            let mut lines = Vec::new();
            let adoption = Adoption { adopts: taken_over.adopted.clone() };
            line::push(&mut lines, &adoption)
                .map_err(|error| not_serialisable(&entry_key(self.part, self.entry), error))?;
            self.guarded(|writer| {
                writer.write_lines(&lines, 1, Window::AdoptionWritten, Window::AdoptionSynced)
            })?;
        }
        self.taken_over = Some(taken_over);
        Ok(())
    }

    fn header(
        &self,
        entry: u64,
        kind: EntryKind,
        lines: u64,
        released: bool,
    ) -> Result<Vec<u8>, LedgerError> {
        let (format, part, owner) = (FORMAT.to_owned(), self.part, self.owner.clone());
        let header = Header { format, part, entry, kind, owner, lines: Some(lines), released };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &header).map_err(|error| not_serialisable(&entry_key(part, entry), error))?;
        Ok(bytes)
    }

    /// Runs a step that writes; an error of it spends the writer.
    fn guarded(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let result = step(self);
        self.spent |= result.is_err();
        result
    }

    fn fenced(&self, entry: u64) -> LedgerError {
        let chain = Chain::load(&*self.store, self.part).ok();
        let taker = chain.and_then(|chain| chain.links.into_iter().find(|link| link.entry == entry));
        let by = taker.and_then(|link| link.header).map(|header| Box::new(header.owner));
        LedgerError::Fenced { part: self.part, entry, by }
    }

    fn still_usable(&self) -> Result<(), LedgerError> {
        if self.spent { Err(LedgerError::Spent { part: self.part }) } else { Ok(()) }
    }

    fn nothing_pending(&self) -> Result<(), LedgerError> {
        match self.pending.positions.len() as u64 {
            0 => Ok(()),
            records => Err(LedgerError::Uncommitted { part: self.part, records }),
        }
    }
}

/// Whether `key` holds exactly what was to be stored.
fn holds(store: &dyn Store, key: &str, stored: &StoredPayload) -> Result<bool, StoreError> {
    let beyond = store.read_range(key, stored.bytes, 1)?;
    Ok(beyond.is_some_and(|beyond| beyond.is_empty())
        && digest_of(store, key, stored.bytes)? == Some(stored.sha256))
}

/// Counts and digests what is read through it.
struct Counted<'r> {
    from: &'r mut dyn Read,
    hasher: Hasher,
    bytes: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Whether JSON can hold an outcome as it is. It has no NaN and no infinity: a score that is one would be written as
/// nothing, and read back as if there had been none.
fn holdable(outcome: &Outcome) -> Result<(), String> {
    let Outcome::Accepted(Output::Category { score, others, .. }) = outcome else { return Ok(()) };
    let mut scores = score.iter().chain(others.iter().map(|(_, score)| score));
    match scores.find(|score| !score.is_finite()) {
        None => Ok(()),
        Some(score) => Err(format!("its score {score} is no number that JSON can hold")),
    }
}

/// Whether a line is short enough to be read back. Everything else that is written can be: values from outside are kept
/// as the JSON text that they were, which any depth of nesting leaves readable.
fn readable(line: &[u8]) -> Result<(), String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("{} bytes are more than a record may have ({LINE_BYTES_MAX})", line.len()));
    }
    Ok(())
}

impl std::fmt::Debug for PartWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartWriter")
            .field("part", &self.part)
            .field("entry", &self.entry)
            .field("recorded", &self.recorded.len())
            .finish_non_exhaustive()
    }
}
