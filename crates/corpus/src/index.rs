//! The index, format `pilote.index/1`: what a scan found, durable and checksummed. See docs/formats/index.md.

use pilote_spec::{Digest, Item, Position};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Notes;

/// The format that this program writes.
///
/// - `pilote.index/1`: the first.
pub const FORMAT: &str = "pilote.index/1";

/// The name that the versions of the format share.
const FAMILY: &str = "pilote.index/";

/// The key of the closing entry.
pub const CLOSED_KEY: &str = "index/closed";

/// The key of a part's file; parts are numbered from 1.
#[must_use]
pub fn part_key(part: u32) -> String {
    format!("index/{part:06}")
}

/// What makes bytes no index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}line {line} (byte {offset}): {fault}", file.as_ref().map(|f| format!("{f}, ")).unwrap_or_default())]
pub struct IndexError {
    /// The key or path of the file, once [`IndexError::in_file`] said it.
    pub file: Option<String>,
    /// Line from 1.
    pub line: u64,
    /// Byte offset of the line.
    pub offset: u64,
    /// What is wrong with it.
    pub fault: IndexFault,
}

/// What can be wrong with a line of an index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexFault {
    /// The file ends before the line that must stand here.
    #[error("the file is cut short: {expected} expected")]
    CutShort {
        /// What is missing.
        expected: String,
    },
    /// The line's checksum is not that of its bytes, or it has none.
    #[error("the checksum is wrong: the line was damaged or edited")]
    Checksum,
    /// The checksum is right and the content is not what belongs here.
    #[error("not what belongs here: {what}")]
    Content {
        /// What was found.
        what: String,
    },
    /// The file is of another format or of a version that this program does not know.
    #[error(
        "format `{seen}`, and this program reads `{FORMAT}`; read it with the pilote that wrote it or a newer one"
    )]
    Format {
        /// The format that the file names.
        seen: String,
    },
    /// Something follows the last line.
    #[error("there is something after the last line")]
    Trailing,
    /// The whole file's digest or length is not the one in the closing entry.
    #[error("the file's {what} is {seen}, the closing entry says {expected}")]
    NotClosedSo {
        /// `digest` or `length` or `number of items`.
        what: &'static str,
        /// As the file is.
        seen: String,
        /// As the closing entry says.
        expected: String,
    },
}

impl IndexError {
    fn new(line: u64, offset: u64, fault: IndexFault) -> Self {
        Self { file: None, line, offset, fault }
    }

    /// The same, saying which file it is about.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }
}

/// The first line of every file of an index.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    #[serde(flatten)]
    content: Holding,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "holds", rename_all = "kebab-case")]
enum Holding {
    /// Consecutive items; `items` of them, so that a file cut at a line end is noticed.
    Items { items: u64 },
    /// `parts` entries, then the notes.
    Parts { parts: u64, items: u64 },
}

/// Writes items, in consecutive positions, as a part's file.
#[must_use]
pub fn encode_part(items: &[Item]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128 + items.len() * 256);
    write_line(&mut bytes, &Header::new(Holding::Items { items: items.len() as u64 }));
    for item in items {
        write_line(&mut bytes, item);
    }
    bytes
}

/// Reads a part's file.
///
/// # Errors
/// With the line and what is wrong with it: damage, a file cut short, another format, positions with a gap.
pub fn decode_part(bytes: &[u8]) -> Result<Vec<Item>, IndexError> {
    let mut lines = Lines::new(bytes);
    let Holding::Items { items: count } = lines.header()? else {
        return Err(IndexError::new(1, 0, content("a closing entry in place of items")));
    };
    let mut items: Vec<Item> = Vec::new();
    for number in 0..count {
        let item: Item = lines.next(|| format!("item {} of {count}", number + 1))?;
        if let Some(last) = items.last()
            && last.position.0.checked_add(1) != Some(item.position.0)
        {
            let what = format!("position {} after {}", item.position, last.position);
            return Err(lines.wrong(content(&what)));
        }
        items.push(item);
    }
    lines.end()?;
    Ok(items)
}

/// A part's file, as the closing entry names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// The part's number, from 1.
    pub part: u32,
    /// Position of its first item.
    pub first: Position,
    /// Its items; one or more.
    pub items: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// Digest of its file.
    pub sha256: Digest,
}

impl PartEntry {
    /// The entry of a part whose file is `bytes`.
    #[must_use]
    pub fn of(part: u32, first: Position, items: u64, bytes: &[u8]) -> Self {
        Self { part, first, items, bytes: bytes.len() as u64, sha256: Digest::of(bytes) }
    }

    /// Reads the part's file and proves that it is the one that was closed.
    ///
    /// # Errors
    /// When the file is damaged, or whole and not the one that the closing entry names.
    pub fn decode(&self, bytes: &[u8]) -> Result<Vec<Item>, IndexError> {
        let of_file = |error: IndexError| error.in_file(&part_key(self.part));
        // Reading first finds the damaged line; the digest then says that nothing was exchanged for something whole.
        let items = decode_part(bytes).map_err(of_file)?;
        let differs = |what, seen: String, expected: String| {
            of_file(IndexError::new(1, 0, IndexFault::NotClosedSo { what, seen, expected }))
        };
        if bytes.len() as u64 != self.bytes {
            return Err(differs("length", bytes.len().to_string(), self.bytes.to_string()));
        }
        if Digest::of(bytes) != self.sha256 {
            return Err(differs("digest", Digest::of(bytes).to_string(), self.sha256.to_string()));
        }
        if items.len() as u64 != self.items {
            return Err(differs("number of items", items.len().to_string(), self.items.to_string()));
        }
        if items.first().is_some_and(|item| item.position != self.first) {
            return Err(differs("first position", items[0].position.to_string(), self.first.to_string()));
        }
        Ok(items)
    }
}

/// The closing entry: it stands when the index is complete, and names every part's file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closing {
    /// The parts, in order, without a gap.
    pub parts: Vec<PartEntry>,
    /// Items of all parts.
    pub items: u64,
    /// What the scan noticed.
    pub notes: Notes,
}

impl Closing {
    /// Writes the closing entry.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let holding = Holding::Parts { parts: self.parts.len() as u64, items: self.items };
        write_line(&mut bytes, &Header::new(holding));
        for part in &self.parts {
            write_line(&mut bytes, part);
        }
        write_line(&mut bytes, &self.notes);
        bytes
    }

    /// Reads a closing entry.
    ///
    /// # Errors
    /// With the line and what is wrong with it; also when the parts leave a gap or their sum is another.
    pub fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        Self::decode_lines(bytes).map_err(|error| error.in_file(CLOSED_KEY))
    }

    fn decode_lines(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut lines = Lines::new(bytes);
        let Holding::Parts { parts: count, items } = lines.header()? else {
            return Err(IndexError::new(1, 0, content("items in place of a closing entry")));
        };
        let mut parts: Vec<PartEntry> = Vec::new();
        let mut next = 0_u64;
        for number in 1..=count {
            let part: PartEntry = lines.next(|| format!("part {number} of {count}"))?;
            if u64::from(part.part) != number || part.first.0 != next {
                let what =
                    format!("part {} from position {}, not {number} from {next}", part.part, part.first);
                return Err(lines.wrong(content(&what)));
            }
            next = next
                .checked_add(part.items)
                .ok_or_else(|| lines.wrong(content("more items than can be counted")))?;
            parts.push(part);
        }
        if next != items {
            return Err(lines.wrong(content(&format!("parts of {next} items together, {items} announced"))));
        }
        let notes = lines.next(|| "the notes".to_owned())?;
        lines.end()?;
        Ok(Self { parts, items, notes })
    }
}

impl Header {
    fn new(content: Holding) -> Self {
        Self { format: FORMAT.to_owned(), content }
    }
}

fn content(what: &str) -> IndexFault {
    IndexFault::Content { what: what.to_owned() }
}

fn write_line(bytes: &mut Vec<u8>, value: &impl Serialize) {
    // Plain data with text keys always becomes JSON; an empty line would be found as damage when it is read.
    let json = serde_json::to_vec(value).unwrap_or_default();
    bytes.extend_from_slice(format!("{:08x} ", crc32fast::hash(&json)).as_bytes());
    bytes.extend_from_slice(&json);
    bytes.push(b'\n');
}

/// Reads checksummed lines and knows where it is.
struct Lines<'a> {
    rest: &'a [u8],
    line: u64,
    offset: u64,
    next_offset: u64,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, line: 0, offset: 0, next_offset: 0 }
    }

    fn wrong(&self, fault: IndexFault) -> IndexError {
        IndexError::new(self.line, self.offset, fault)
    }

    fn header(&mut self) -> Result<Holding, IndexError> {
        #[derive(Deserialize)]
        struct Format {
            format: String,
        }
        let json = self.json(|| "the header".to_owned())?;
        // Another version may have another header, so the format is read alone first.
        let Format { format } = self.parse(json)?;
        if format != FORMAT {
            let what = if format.starts_with(FAMILY) { format } else { format.chars().take(80).collect() };
            return Err(self.wrong(IndexFault::Format { seen: what }));
        }
        Ok(self.parse::<Header>(json)?.content)
    }

    fn next<T: DeserializeOwned>(&mut self, expected: impl Fn() -> String) -> Result<T, IndexError> {
        let json = self.json(expected)?;
        self.parse(json)
    }

    fn parse<T: DeserializeOwned>(&self, json: &[u8]) -> Result<T, IndexError> {
        serde_json::from_slice(json).map_err(|error| self.wrong(content(&error.to_string())))
    }

    /// The JSON of the next line, its checksum proved.
    fn json(&mut self, expected: impl Fn() -> String) -> Result<&'a [u8], IndexError> {
        self.line += 1;
        self.offset = self.next_offset;
        let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') else {
            return Err(self.wrong(IndexFault::CutShort { expected: expected() }));
        };
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        self.next_offset += end as u64 + 1;
        let (sum, json) = line.split_at_checked(9).ok_or_else(|| self.wrong(IndexFault::Checksum))?;
        if sum != format!("{:08x} ", crc32fast::hash(json)).as_bytes() {
            return Err(self.wrong(IndexFault::Checksum));
        }
        Ok(json)
    }

    fn end(mut self) -> Result<(), IndexError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        self.line += 1;
        self.offset = self.next_offset;
        Err(self.wrong(IndexFault::Trailing))
    }
}
