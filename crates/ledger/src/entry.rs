//! One entry: its header, and reading its lines back whatever became of the bytes.

use pilote_spec::{ItemId, Position};
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Lost};
use crate::line;
use crate::memory::MemoryStore;
use crate::owner::Owner;
use crate::record::{Adoption, Record};
use crate::store::{Store, StoreError};

/// The format that this program writes; another number after the slash is another format.
pub const FORMAT: &str = "pilote.ledger/1";

/// The longest line that is written. Reading keeps at most twice as much in memory.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// Bytes that are asked of the store at a time.
const CHUNK: usize = 256 << 10;

/// Lost records that are looked for in one stretch of damage.
const LOST_MAX: usize = 10_000;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// Outcomes.
    Records,
    /// Somebody else's claim on the part; outcomes may follow in it.
    Takeover,
    /// The end: what the part consists of.
    Seal,
}

/// The first line of an entry, part of its creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The part.
    pub part: u32,
    /// The entry's number in the part, from 1.
    pub entry: u64,
    /// What it is.
    pub kind: EntryKind,
    /// Who created it.
    pub owner: Owner,
    /// Lines that follow, where the entry was whole when created; absent where its creator may append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// On a takeover: whoever comes next may take over, whatever its owner's standing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

/// What the next stretch of an entry is.
#[derive(Debug)]
pub(crate) enum Scanned {
    /// A whole line.
    Line {
        /// Where it begins.
        offset: u64,
        /// All its bytes, checksum and line end included.
        bytes: Vec<u8>,
    },
    /// Bytes between whole lines that are none.
    Damage(Stretch),
    /// Bytes after the last whole line.
    Tail(Stretch),
}

/// Bytes that are no whole lines.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) lost: Vec<Lost>,
}

impl Stretch {
    fn extend(stretch: &mut Option<Self>, offset: u64, bytes: &[u8]) {
        let stretch = stretch.get_or_insert(Self { offset, bytes: 0, lost: Vec::new() });
        stretch.bytes += bytes.len() as u64;
        salvage(bytes, &mut stretch.lost);
    }

    pub(crate) fn damage(self, entry: u64) -> Finding {
        Finding::Damage { entry, offset: self.offset, bytes: self.bytes, lost: self.lost }
    }
}

/// Reads an entry line by line, in bounded memory, up to a given length.
pub(crate) struct EntryReader<'s> {
    store: &'s dyn Store,
    key: String,
    /// Bytes of the entry that are read at most.
    length: u64,
    /// What was read and not yet taken; `base` is the place of its first byte in the entry.
    buffer: Vec<u8>,
    base: u64,
    /// The first byte of `buffer` that is not taken.
    taken: usize,
    /// How far `buffer` was searched for a line end.
    searched: usize,
    damage: Option<Stretch>,
    held: Option<Scanned>,
    finished: bool,
}

impl<'s> EntryReader<'s> {
    pub(crate) fn new(store: &'s dyn Store, key: String, length: u64) -> Self {
        Self::from_offset(store, key, 0, length)
    }

    /// The same from a byte that is known to begin a line.
    pub(crate) fn from_offset(store: &'s dyn Store, key: String, offset: u64, length: u64) -> Self {
        Self {
            store,
            key,
            length,
            buffer: Vec::new(),
            base: offset,
            taken: 0,
            searched: 0,
            damage: None,
            held: None,
            finished: false,
        }
    }

    /// The next stretch; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Scanned>, StoreError> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        while !self.finished {
            let Some(end) = self.line_end()? else {
                self.finished = true;
                let rest = self.buffer.split_off(self.taken);
                if !rest.is_empty() {
                    Stretch::extend(&mut self.damage, self.base + self.taken as u64, &rest);
                }
                return Ok(self.damage.take().map(Scanned::Tail));
            };
            let start = std::mem::replace(&mut self.taken, end + 1);
            if let Some(line) = self.judge(start, end) {
                let Some(damage) = self.damage.take() else { return Ok(Some(line)) };
                self.held = Some(line);
                return Ok(Some(Scanned::Damage(damage)));
            }
        }
        Ok(None)
    }

    /// The line in `buffer[start..end]`; where it is not whole, its bytes join the damage before it.
    fn judge(&mut self, start: usize, end: usize) -> Option<Scanned> {
        let chunk = &self.buffer[start..end];
        let offset = self.base + start as u64;
        let from = if line::whole(chunk).is_some() { Some(0) } else { line::whole_suffix(chunk) };
        let damaged = from.unwrap_or(chunk.len() + 1);
        if damaged > 0 {
            Stretch::extend(&mut self.damage, offset, &self.buffer[start..start + damaged]);
        }
        let from = from?;
        Some(Scanned::Line { offset: offset + from as u64, bytes: self.buffer[start + from..=end].to_vec() })
    }

    /// Where the next line ends in `buffer`, reading on as needed; none where no line end is left.
    fn line_end(&mut self) -> Result<Option<usize>, StoreError> {
        loop {
            let from = self.searched.max(self.taken);
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[from..]) {
                self.searched = from + at + 1;
                return Ok(Some(from + at));
            }
            self.searched = self.buffer.len();
            self.forget();
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Drops what was taken, and of a stretch too long for any line all but the last [`LINE_BYTES_MAX`]: no whole
    /// line can reach further back.
    fn forget(&mut self) {
        let untaken = self.buffer.len() - self.taken;
        if untaken > 2 * LINE_BYTES_MAX {
            let dropped = self.taken + untaken - LINE_BYTES_MAX;
            Stretch::extend(
                &mut self.damage,
                self.base + self.taken as u64,
                &self.buffer[self.taken..dropped],
            );
            self.taken = dropped;
        }
        self.buffer.drain(..self.taken);
        self.base += self.taken as u64;
        self.searched -= self.taken;
        self.taken = 0;
    }

    fn fill(&mut self) -> Result<bool, StoreError> {
        let at = self.base + self.buffer.len() as u64;
        let wanted = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX).min(CHUNK);
        if wanted == 0 {
            return Ok(false);
        }
        let read = self.store.read_range(&self.key, at, wanted)?.unwrap_or_default();
        self.buffer.extend_from_slice(&read);
        Ok(!read.is_empty())
    }
}

/// Finds the places of records in damaged bytes: position and identifier stand at a record's beginning, so they
/// are often still there.
fn salvage(bytes: &[u8], lost: &mut Vec<Lost>) {
    const POSITION: &[u8] = b"{\"position\":";
    let mut at = 0;
    while let Some(found) = memchr::memmem::find(&bytes[at..], POSITION) {
        at += found + POSITION.len();
        let digits = bytes[at..].iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&bytes[at..at + digits]).ok().and_then(|text| text.parse().ok());
        at += digits;
        // A number that runs to the end of the bytes may have been longer.
        if let Some(position) = number.map(Position).filter(|_| at < bytes.len() && lost.len() < LOST_MAX) {
            lost.push(Lost { position, id: salvage_id(&bytes[at..]) });
        }
    }
}

fn salvage_id(bytes: &[u8]) -> Option<ItemId> {
    let text = bytes.strip_prefix(b",\"id\":")?;
    serde_json::Deserializer::from_slice(text).into_iter::<ItemId>().next()?.ok()
}

/// An entry read by itself, without what other entries say of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryReading {
    /// Its header, where it is whole.
    pub header: Option<Header>,
    /// Its whole records.
    pub records: Vec<Record>,
    /// What else is there.
    pub findings: Vec<Finding>,
}

/// Reads the bytes of one entry, whatever they are. For tools and tests; a part is read by
/// [`read_part`](crate::read_part), which knows how much of each entry counts.
#[must_use]
pub fn read_entry(bytes: &[u8]) -> EntryReading {
    let store = MemoryStore::new();
    let mut reading = EntryReading::default();
    let length = bytes.len() as u64;
    store.overwrite("entry", bytes.to_vec());
    let mut reader = EntryReader::new(&store, "entry".to_owned(), length);
    // A store in memory has no errors, so the end is the only end.
    while let Ok(Some(scanned)) = reader.next() {
        match scanned {
            Scanned::Line { offset: 0, bytes } => {
                reading.header = serde_json::from_slice(line::json(&bytes)).ok();
            }
            Scanned::Line { bytes, .. } if Adoption::is_in(line::json(&bytes)) => {}
            Scanned::Line { offset, bytes } => match serde_json::from_slice(line::json(&bytes)) {
                Ok(record) => reading.records.push(record),
                Err(_) => reading.findings.push(not_a_record(0, offset, &bytes)),
            },
            Scanned::Damage(stretch) => reading.findings.push(stretch.damage(0)),
            Scanned::Tail(Stretch { offset, bytes, .. }) => {
                reading.findings.push(Finding::Tail { entry: 0, offset, bytes });
            }
        }
    }
    reading
}

/// A line with a right checksum that is no record: some other program wrote it.
pub(crate) fn not_a_record(entry: u64, offset: u64, line: &[u8]) -> Finding {
    let mut lost = Vec::new();
    salvage(line, &mut lost);
    Finding::Damage { entry, offset, bytes: line.len() as u64, lost }
}
