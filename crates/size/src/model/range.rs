//! Reading pieces of a model's files: from a folder, or from a server by range requests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::SizeError;

/// Pieces of files by name. Nothing beyond what is asked for is read, and nothing is ever written.
pub trait RangeReader {
    /// What the model is called in messages: a folder or an address.
    fn place(&self) -> String;

    /// The names that are known to be there, sorted; none where the place cannot be listed (a plain server).
    ///
    /// # Errors
    /// When the place cannot be listed though it should.
    fn names(&self) -> Result<Option<Vec<String>>, SizeError>;

    /// The length of a file in bytes; none where there is no such file.
    ///
    /// # Errors
    /// When the file's length cannot be told.
    fn length(&self, name: &str) -> Result<Option<u64>, SizeError>;

    /// Up to `length` bytes from `offset`; fewer only at the end of the file.
    ///
    /// # Errors
    /// When the file is absent or cannot be read.
    fn read(&self, name: &str, offset: u64, length: u64) -> Result<Vec<u8>, SizeError>;
}

/// The files of a folder, or one file alone.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
    only: Option<String>,
}

impl Folder {
    /// The folder at `path`, or its parent with only that file where `path` is a file.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file());
        match (name, path.parent()) {
            (Some(name), Some(parent)) => Self { root: parent.to_owned(), only: Some(name.to_owned()) },
            _ => Self { root: path.to_owned(), only: None },
        }
    }

    /// The path of a file; a name that would lead out of the folder is none of ours.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let inside = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        (inside && !name.is_empty()).then(|| self.root.join(name))
    }

    fn io(&self, name: &str, source: std::io::Error) -> SizeError {
        SizeError::Io { file: self.root.join(name).display().to_string(), source }
    }
}

impl RangeReader for Folder {
    fn place(&self) -> String {
        self.only
            .as_ref()
            .map_or_else(|| self.root.clone(), |name| self.root.join(name))
            .display()
            .to_string()
    }

    fn names(&self) -> Result<Option<Vec<String>>, SizeError> {
        if let Some(only) = &self.only {
            return Ok(Some(vec![only.clone()]));
        }
        let listing = std::fs::read_dir(&self.root)
            .map_err(|source| SizeError::Io { file: self.root.display().to_string(), source })?;
        let mut names: Vec<String> = listing
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| self.root.join(name).is_file())
            .collect();
        names.sort_unstable();
        Ok(Some(names))
    }

    fn length(&self, name: &str) -> Result<Option<u64>, SizeError> {
        let Some(path) = self.path(name) else { return Ok(None) };
        match std::fs::metadata(&path) {
            Ok(facts) if facts.is_file() => Ok(Some(facts.len())),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.io(name, error)),
        }
    }

    fn read(&self, name: &str, offset: u64, length: u64) -> Result<Vec<u8>, SizeError> {
        let path = self.path(name).ok_or_else(|| self.io(name, std::io::ErrorKind::NotFound.into()))?;
        let mut bytes = Vec::new();
        let mut file = File::open(path).map_err(|error| self.io(name, error))?;
        file.seek(SeekFrom::Start(offset)).map_err(|error| self.io(name, error))?;
        file.take(length).read_to_end(&mut bytes).map_err(|error| self.io(name, error))?;
        Ok(bytes)
    }
}

/// One file whose bytes are in memory.
#[derive(Debug, Clone)]
pub struct InMemory {
    /// The name; its ending says the format.
    pub name: String,
    /// All bytes.
    pub bytes: Vec<u8>,
}

impl RangeReader for InMemory {
    fn place(&self) -> String {
        self.name.clone()
    }

    fn names(&self) -> Result<Option<Vec<String>>, SizeError> {
        Ok(Some(vec![self.name.clone()]))
    }

    fn length(&self, name: &str) -> Result<Option<u64>, SizeError> {
        Ok((name == self.name).then_some(self.bytes.len() as u64))
    }

    fn read(&self, _name: &str, offset: u64, length: u64) -> Result<Vec<u8>, SizeError> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)).min(self.bytes.len());
        Ok(self.bytes[start..end].to_vec())
    }
}

/// What the first piece of a file on a server told.
struct Head {
    length: u64,
    bytes: Vec<u8>,
}

/// A server that answers range requests: the model hub (`ADDRESS/ORG/NAME/resolve/REVISION/`) or any other.
///
/// The first request of a file asks for [`HEAD_BYTES`]; its answer also tells the file's length, and later reads
/// inside it ask nothing. A server that ignores ranges is read up to the same bound and no further.
pub struct HttpRanges {
    agent: ureq::Agent,
    base: String,
    only: Option<String>,
    token: Option<String>,
    heads: RefCell<BTreeMap<String, Option<Head>>>,
}

/// Bytes of the first request of a file.
pub const HEAD_BYTES: u64 = 64 * 1024;

impl HttpRanges {
    /// The files below `address`, or that file alone where the address names one with a known ending. `token`
    /// travels as a bearer token and appears in no message.
    #[must_use]
    pub fn new(address: &str, token: Option<String>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_global(Some(Duration::from_secs(120)))
            .http_status_as_error(false)
            // The hub answers with a redirect: on its own host it wants the token again, elsewhere nobody gets it.
            .redirect_auth_headers(ureq::config::RedirectAuthHeaders::SameHost)
            .user_agent("pilote")
            .build();
        let is_file = [".safetensors", ".gguf", ".onnx", ".bin", ".pt", ".pth", ".ckpt", ".json"]
            .iter()
            .any(|ending| address.ends_with(ending));
        let (base, only) = match address.rsplit_once('/') {
            Some((base, name)) if is_file => (base.to_owned(), Some(name.to_owned())),
            _ => (address.trim_end_matches('/').to_owned(), None),
        };
        Self { agent: config.into(), base, only, token, heads: RefCell::default() }
    }

    fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }

    fn problem(&self, name: &str, problem: impl Into<String>) -> SizeError {
        SizeError::Http { address: self.address(name), problem: problem.into() }
    }

    /// One range request; the file's length and the bytes, or none where there is no such file.
    fn request(&self, name: &str, offset: u64, length: u64) -> Result<Option<Head>, SizeError> {
        let last = offset.saturating_add(length.max(1) - 1);
        let mut request =
            self.agent.get(self.address(name)).header("Range", format!("bytes={offset}-{last}"));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer = request.call().map_err(|error| self.problem(name, error.to_string()))?;
        let header = |field: &str| answer.headers().get(field).and_then(|value| value.to_str().ok());
        let total = match answer.status().as_u16() {
            404 | 410 => return Ok(None),
            416 if offset == 0 => return Ok(Some(Head { length: 0, bytes: Vec::new() })),
            401 | 403 => {
                let problem = "access is refused; give the token of an account that was granted this model";
                return Err(self.problem(name, problem));
            }
            206 => {
                let whole = header("Content-Range").and_then(|range| range.rsplit_once('/')?.1.parse().ok());
                whole.ok_or_else(|| self.problem(name, "the answer to a range request names no length"))?
            }
            200 if offset == 0 => {
                let length = header("Content-Length").and_then(|length| length.parse().ok());
                length.ok_or_else(|| self.problem(name, "the answer names no length"))?
            }
            200 => {
                let problem =
                    "the server ignores range requests and its header is long; fetch the file instead";
                return Err(self.problem(name, problem));
            }
            other => return Err(self.problem(name, format!("the server answered {other}; try again later"))),
        };
        let mut bytes = Vec::new();
        let body = answer.body_mut().as_reader();
        body.take(length).read_to_end(&mut bytes).map_err(|error| self.problem(name, error.to_string()))?;
        Ok(Some(Head { length: total, bytes }))
    }

    /// Looks at the head of a file, asking the server only once.
    fn with_head<T>(&self, name: &str, look: impl FnOnce(Option<&Head>) -> T) -> Result<T, SizeError> {
        if !self.heads.borrow().contains_key(name) {
            let head = self.request(name, 0, HEAD_BYTES)?;
            self.heads.borrow_mut().insert(name.to_owned(), head);
        }
        Ok(look(self.heads.borrow().get(name).and_then(Option::as_ref)))
    }
}

impl RangeReader for HttpRanges {
    fn place(&self) -> String {
        self.only.as_ref().map_or_else(|| self.base.clone(), |name| self.address(name))
    }

    fn names(&self) -> Result<Option<Vec<String>>, SizeError> {
        Ok(self.only.as_ref().map(|name| vec![name.clone()]))
    }

    fn length(&self, name: &str) -> Result<Option<u64>, SizeError> {
        self.with_head(name, |head| head.map(|head| head.length))
    }

    fn read(&self, name: &str, offset: u64, length: u64) -> Result<Vec<u8>, SizeError> {
        let (mut bytes, end) = self
            .with_head(name, |head| {
                let head = head?;
                let start = usize::try_from(offset).ok()?.min(head.bytes.len());
                let stop = start.saturating_add(usize::try_from(length).ok()?).min(head.bytes.len());
                Some((head.bytes[start..stop].to_vec(), head.length))
            })?
            .ok_or_else(|| self.problem(name, "is not there"))?;
        let have = bytes.len() as u64;
        let wanted = length.min(end.saturating_sub(offset));
        if have < wanted {
            let rest = self.request(name, offset + have, wanted - have)?;
            bytes.extend(rest.ok_or_else(|| self.problem(name, "is gone while it was read"))?.bytes);
        }
        Ok(bytes)
    }
}

/// Reads a file forward, skipping what is not wanted, with at most as many bytes read too far as were wanted.
///
/// The first piece is [`HEAD_BYTES`] long; after a skip the pieces start small and double.
pub(crate) struct Cursor<'a> {
    reader: &'a dyn RangeReader,
    name: &'a str,
    length: u64,
    /// Position in the file of the first byte of `piece`.
    start: u64,
    piece: Vec<u8>,
    /// Position in the file of the next byte.
    at: u64,
    next_piece: u64,
}

const SMALL_PIECE: u64 = 256;

impl<'a> Cursor<'a> {
    pub(crate) fn new(reader: &'a dyn RangeReader, name: &'a str) -> Result<Self, SizeError> {
        let length = reader
            .length(name)?
            .ok_or_else(|| SizeError::NoModel { place: reader.place(), looked_for: name.to_owned() })?;
        Ok(Self { reader, name, length, start: 0, piece: Vec::new(), at: 0, next_piece: HEAD_BYTES })
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    pub(crate) fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    pub(crate) fn truncated(&self, what: &str) -> SizeError {
        SizeError::Truncated { file: self.name.to_owned(), bytes: self.length, what: what.to_owned() }
    }

    /// Passes over `count` bytes; they need not be read.
    pub(crate) fn skip(&mut self, count: u64, what: &str) -> Result<(), SizeError> {
        if count > self.left() {
            return Err(self.truncated(what));
        }
        self.at += count;
        if self.at > self.start + self.piece.len() as u64 {
            self.next_piece = SMALL_PIECE;
        }
        Ok(())
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: u64, what: &str) -> Result<&[u8], SizeError> {
        if count > self.left() {
            return Err(self.truncated(what));
        }
        let held = self.start + self.piece.len() as u64;
        if self.at < self.start || self.at + count > held {
            let kept = usize::try_from(self.at.saturating_sub(self.start)).unwrap_or(usize::MAX);
            let mut piece = self.piece.split_off(kept.min(self.piece.len()));
            let from = self.at + piece.len() as u64;
            let wanted = (count - piece.len() as u64).max(self.next_piece.min(self.length - from));
            piece.extend(self.reader.read(self.name, from, wanted)?);
            self.next_piece = (self.next_piece * 2).min(HEAD_BYTES);
            self.start = self.at;
            self.piece = piece;
        }
        let offset = usize::try_from(self.at - self.start).unwrap_or(usize::MAX);
        let size = usize::try_from(count).unwrap_or(usize::MAX);
        // A file that shrank while it was read gives fewer bytes than its length promised.
        if self.piece.len() < offset.saturating_add(size) {
            return Err(self.truncated(what));
        }
        self.at += count;
        Ok(&self.piece[offset..offset + size])
    }

    /// The next bytes as a fixed array.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], SizeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, what)?);
        Ok(array)
    }
}
