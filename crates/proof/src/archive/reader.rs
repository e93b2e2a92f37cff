//! Reading an archive that anybody may have made: every entry is looked at once, nothing is unpacked, and what it may
//! expand to is bounded.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pilote_ledger::{Bucket, Listed};

use crate::algorithm::{Algorithm, Digests, digests_of, pass};
use crate::bag::stays_inside;
use crate::error::{ProofError, io as failed};
use crate::files::{self, Found, Listing};
use crate::finding::{FindingCode, Findings};
use crate::shelf::Carrier;

/// An archive may expand to this many times its own length, and some.
const EXPANSION_MAX: u64 = 1_000;

/// What an archive may expand to however short it is.
const EXPANSION_FREE: u64 = 256 << 20;

/// A frame of more bytes is passed through once and never held: files in it are not read again.
const HELD_MAX: u64 = 16 << 20;

/// Frames that are held at once: index, records, payloads and results are read side by side.
const HELD_FRAMES: usize = 8;

/// The lists of a bag are kept from the first look on, up to this many bytes together.
const LISTS_MAX: usize = 64 << 20;

/// A name of an entry beyond the header of its own may have this many bytes.
const NAME_MAX: u64 = 1 << 16;

/// What an archive lies in.
pub(crate) enum Medium {
    /// A file of a disk.
    File(PathBuf),
    /// An object of `bytes` bytes, which is read piece by piece.
    Object { bucket: Bucket, key: String, bytes: u64 },
}

impl Medium {
    /// The archive as messages name it.
    fn shown(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Object { bucket, key, .. } => bucket.shown(key).into(),
        }
    }

    fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(path) => Ok(files::open_plain(path)?.metadata()?.len()),
            Self::Object { bytes, .. } => Ok(*bytes),
        }
    }

    /// The bytes from `from` up to `to` at least.
    fn read(&self, from: u64, to: u64) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::File(path) => {
                let mut file = files::open_plain(path)?;
                file.seek(SeekFrom::Start(from))?;
                Ok(Box::new(file))
            }
            Self::Object { bucket, key, .. } => Ok(Box::new(bucket.reader_from(key, from, to))),
        }
    }
}

/// An archive that was looked through.
pub(crate) struct Archive {
    medium: Medium,
    length: u64,
    frames: Vec<Frame>,
    entries: BTreeMap<String, Entry>,
    /// The folder that everything lies in, with its `/`.
    folder: String,
    /// Whether every frame is short enough to be read alone.
    seekable: bool,
    /// The lists of the bag, so that an archive of one long frame can be compared with them.
    lists: BTreeMap<String, Vec<u8>>,
    /// The frames that were read last, the latest at the end.
    held: Mutex<Vec<(usize, Arc<Vec<u8>>)>>,
}

/// Where a frame lies: in the file, and in what the file expands to.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    from: u64,
    at: u64,
    bytes: u64,
}

/// Where a file lies in what the archive expands to.
#[derive(Debug, Clone)]
struct Entry {
    at: u64,
    bytes: u64,
    sha256: String,
}

impl Archive {
    /// Looks through the archive in `medium`. What is wrong with it is a finding, and what can be read is kept.
    ///
    /// # Errors
    /// When the system refuses to read.
    pub(crate) fn open(medium: Medium, findings: &mut Findings) -> Result<Self, ProofError> {
        let path = medium.shown();
        let read = |source| failed("read", &path, source);
        let length = medium.length().map_err(read)?;
        let frames = Frames::new(medium.read(0, length).map_err(read)?, length);
        let mut tar = tar::Archive::new(frames);
        let (mut entries, mut lists) = (BTreeMap::new(), BTreeMap::new());
        if let Err(error) = look_through(&mut tar, &mut entries, &mut lists, findings) {
            let code = match error.get_ref() {
                Some(inner) if inner.is::<ExpandsTooMuch>() => FindingCode::ExpandsTooMuch,
                _ => FindingCode::ArchiveDamaged,
            };
            findings.add(code, path.file_name().unwrap_or_default().to_string_lossy(), error);
        }
        let mut frames = tar.into_inner();
        // What stands after the end of the archive belongs to nothing, and damage there is damage.
        if let Err(error) = io::copy(&mut frames, &mut io::sink()) {
            findings.add(
                FindingCode::ArchiveDamaged,
                path.file_name().unwrap_or_default().to_string_lossy(),
                error,
            );
        }
        let frames = frames.frames;
        let folder = one_folder(&entries, findings);
        let seekable = frames.iter().all(|frame| frame.bytes <= HELD_MAX);
        let held = Mutex::default();
        Ok(Self { medium, length, frames, entries, folder, seekable, lists, held })
    }

    /// The folder that everything lies in, with its `/`.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Whether files can be read one by one, and not only compared with their digests.
    pub(crate) fn is_seekable(&self) -> bool {
        self.seekable
    }

    /// Up to `length` bytes of what the archive expands to, from one frame.
    fn expanded(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let number = self.frames.partition_point(|frame| frame.at <= at).saturating_sub(1);
        let Some(frame) = self.frames.get(number) else { return Ok(Vec::new()) };
        let bytes = self.frame(number, *frame)?;
        let from = usize::try_from(at - frame.at).unwrap_or(usize::MAX).min(bytes.len());
        let to = from.saturating_add(length).min(bytes.len());
        Ok(bytes[from..to].to_vec())
    }

    fn frame(&self, number: usize, frame: Frame) -> io::Result<Arc<Vec<u8>>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = held.iter().position(|(there, _)| *there == number) {
            let latest = held.remove(place);
            let bytes = Arc::clone(&latest.1);
            held.push(latest);
            return Ok(bytes);
        }
        if frame.bytes > HELD_MAX {
            return Err(io::Error::other(
                "the archive is one long stream, so no file in it can be read alone",
            ));
        }
        let end = self.frames.get(number + 1).map_or(self.length, |next| next.from);
        let file = self.medium.read(frame.from, end)?;
        let mut bytes = Vec::with_capacity(usize::try_from(frame.bytes).unwrap_or(0));
        zstd::stream::read::Decoder::new(file)?.single_frame().take(frame.bytes).read_to_end(&mut bytes)?;
        let bytes = Arc::new(bytes);
        if held.len() == HELD_FRAMES {
            held.remove(0);
        }
        held.push((number, Arc::clone(&bytes)));
        Ok(bytes)
    }

    fn entry(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }
}

impl Carrier for Archive {
    fn listing(&self) -> Result<Listing, ProofError> {
        let mut listing = Listing::default();
        for (path, entry) in &self.entries {
            let found = Found { path: path.clone(), bytes: entry.bytes, modified: None };
            let dotted = path.split('/').any(|name| name.starts_with('.'));
            (if dotted { &mut listing.dotted } else { &mut listing.files }).push(found);
        }
        Ok(listing)
    }

    fn open(&self, path: &str) -> io::Result<Option<Box<dyn Read + Send + '_>>> {
        if let Some(list) = self.lists.get(path) {
            return Ok(Some(Box::new(list.as_slice())));
        }
        let reader = |entry: &Entry| {
            Box::new(Within { archive: self, at: entry.at, left: entry.bytes }) as Box<dyn Read + Send>
        };
        Ok(self.entry(path).map(reader))
    }

    fn read_range(&self, path: &str, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(entry) = self.entry(path) else { return Ok(None) };
        let left = entry.bytes.saturating_sub(offset);
        let mut bytes = Vec::new();
        Within { archive: self, at: entry.at + offset.min(entry.bytes), left: left.min(length as u64) }
            .read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        Ok(self.entries.contains_key(path))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let below = format!("{folder}/");
        let within = self.entries.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        Ok(within
            .filter(|(path, _)| !path[below.len()..].split('/').any(|name| name.starts_with('.')))
            .map(|(path, entry)| Listed { key: path.clone(), bytes: entry.bytes })
            .collect())
    }

    /// One after the other, in the order in which they lie: each frame is read once.
    fn threads_max(&self) -> usize {
        1
    }

    fn digests(&self, path: &str, wanted: &[Algorithm]) -> io::Result<Option<(Digests, u64)>> {
        let Some(entry) = self.entry(path) else { return Ok(None) };
        if wanted == [Algorithm::Sha256] {
            return Ok(Some(([(Algorithm::Sha256, entry.sha256.clone())].into(), entry.bytes)));
        }
        let mut within = Within { archive: self, at: entry.at, left: entry.bytes };
        digests_of(&mut within, wanted).map(Some)
    }
}

/// The bytes of one file of an archive.
struct Within<'a> {
    archive: &'a Archive,
    at: u64,
    left: u64,
}

impl Read for Within<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let bytes = self.archive.expanded(self.at, wanted)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        self.left -= bytes.len() as u64;
        Ok(bytes.len())
    }
}

/// Passes every entry once. What cannot be part of a copy is a finding, and is never looked into.
fn look_through(
    tar: &mut tar::Archive<Frames>,
    entries: &mut BTreeMap<String, Entry>,
    lists: &mut BTreeMap<String, Vec<u8>>,
    findings: &mut Findings,
) -> io::Result<()> {
    let mut left = LISTS_MAX;
    let mut named: Option<Vec<u8>> = None;
    for entry in tar.entries()?.raw(true) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            named = long_name(&mut entry, kind)?.or(named);
            continue;
        }
        if kind.is_pax_global_extensions() {
            continue;
        }
        let path = named.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let Ok(path) = String::from_utf8(path) else {
            let shown = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            findings.add(FindingCode::NotPlain, shown, "a name that is not UTF-8");
            continue;
        };
        let plain = path.strip_prefix("./").unwrap_or(&path).trim_end_matches('/');
        if kind.is_dir() {
            if !plain.is_empty() && plain != "." && !stays_inside(plain) {
                findings.add(
                    FindingCode::PathOutside,
                    &path,
                    "the archive has an entry that leads out of it",
                );
            }
            continue;
        }
        if !stays_inside(plain) {
            findings.add(FindingCode::PathOutside, &path, "the archive has an entry that leads out of it");
            continue;
        }
        if !kind.is_file() {
            let what = if kind.is_symlink() || kind.is_hard_link() { "a link" } else { "no plain file" };
            findings.add(FindingCode::NotPlain, plain, what);
            continue;
        }
        let at = entry.raw_file_position();
        let mut list = Vec::new();
        let fits = usize::try_from(entry.size()).is_ok_and(|bytes| bytes <= left);
        let (digests, bytes) = if fits && is_list(plain) {
            pass(&mut entry, &mut list, &[Algorithm::Sha256])?
        } else {
            digests_of(&mut entry, &[Algorithm::Sha256])?
        };
        if fits && is_list(plain) {
            left -= list.len();
            lists.insert(plain.to_owned(), list);
        }
        if bytes != entry.size() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("`{plain}` is cut short")));
        }
        let sha256 = digests.into_values().next().unwrap_or_default();
        if entries.insert(plain.to_owned(), Entry { at, bytes, sha256 }).is_some() {
            findings.add(FindingCode::EntryRepeated, plain, "the archive holds it twice");
        }
    }
    Ok(())
}

/// Whether a path is one of a bag's lists or its declaration, beside the payload.
fn is_list(path: &str) -> bool {
    path.split('/').count() <= 2 && path.ends_with(".txt")
}

/// The name that an entry before another one gives to that; none where it says something else.
fn long_name(entry: &mut tar::Entry<'_, Frames>, kind: tar::EntryType) -> io::Result<Option<Vec<u8>>> {
    if entry.size() > NAME_MAX {
        return Err(io::Error::other(format!("a name of {} bytes is none", entry.size())));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    if kind.is_gnu_longname() {
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
        return Ok(Some(bytes));
    }
    // `<length> <key>=<value>\n`, one after the other.
    let mut rest = bytes.as_slice();
    let mut path = None;
    while let Some(space) = rest.iter().position(|byte| *byte == b' ') {
        let length = std::str::from_utf8(&rest[..space]).ok().and_then(|digits| digits.parse::<usize>().ok());
        let Some(record) =
            length.filter(|length| *length > space).and_then(|length| rest.get(space + 1..length))
        else {
            return Err(io::Error::other("an extended header cannot be read"));
        };
        if let Some(value) = record.strip_prefix(b"path=") {
            path = Some(value.strip_suffix(b"\n").unwrap_or(value).to_vec());
        } else if record.starts_with(b"size=") {
            return Err(io::Error::other(
                "an entry gives its size in an extended header, which is not read here",
            ));
        }
        rest = &rest[space + 1 + record.len()..];
    }
    Ok(path)
}

/// The folder that every entry lies in, with its `/`; nothing where they lie in several.
fn one_folder(entries: &BTreeMap<String, Entry>, findings: &mut Findings) -> String {
    let first = |path: &String| path.split_once('/').map(|(first, _)| format!("{first}/"));
    let Some(folder) = entries.keys().next().and_then(first) else { return String::new() };
    if entries.contains_key(crate::bag::DECLARATION) {
        return String::new();
    }
    if let Some(other) = entries.keys().find(|path| !path.starts_with(&folder)) {
        findings.add(FindingCode::FileExtra, other, format!("it lies beside the folder `{folder}`"));
    }
    folder
}

/// What is said of an archive that expands beyond its bound.
#[derive(Debug, thiserror::Error)]
#[error("it expands to more than {limit} bytes from {length}; it was read no further")]
struct ExpandsTooMuch {
    limit: u64,
    length: u64,
}

/// A stream that knows how far it was read.
struct Counted {
    from: Box<dyn Read + Send>,
    bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// What the file expands to, frame by frame, and where the frames are.
struct Frames {
    decoder: Option<zstd::stream::read::Decoder<'static, BufReader<Counted>>>,
    between: Option<BufReader<Counted>>,
    frames: Vec<Frame>,
    expanded: u64,
    length: u64,
}

impl Frames {
    fn new(from: Box<dyn Read + Send>, length: u64) -> Self {
        let between = Some(BufReader::with_capacity(1 << 17, Counted { from, bytes: 0 }));
        Self { decoder: None, between, frames: Vec::new(), expanded: 0, length }
    }

    fn limit(&self) -> u64 {
        self.length.saturating_mul(EXPANSION_MAX).saturating_add(EXPANSION_FREE)
    }

    /// Begins the next frame; false at the end of the file.
    fn next(&mut self) -> io::Result<bool> {
        use std::io::BufRead as _;
        let Some(mut file) = self.between.take() else {
            return Err(io::Error::other("the archive cannot be read on after an error"));
        };
        if file.fill_buf()?.is_empty() {
            self.between = Some(file);
            return Ok(false);
        }
        let from = file.get_ref().bytes - file.buffer().len() as u64;
        self.frames.push(Frame { from, at: self.expanded, bytes: 0 });
        self.decoder = Some(zstd::stream::read::Decoder::with_buffer(file)?.single_frame());
        Ok(true)
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                if !self.next()? {
                    return Ok(0);
                }
                continue;
            };
            let read = decoder.read(buffer)?;
            if read == 0 && !buffer.is_empty() {
                self.between = self.decoder.take().map(zstd::stream::read::Decoder::finish);
                continue;
            }
            self.expanded += read as u64;
            if let Some(frame) = self.frames.last_mut() {
                frame.bytes += read as u64;
            }
            if self.expanded > self.limit() {
                let limit = self.limit();
                return Err(io::Error::other(ExpandsTooMuch { limit, length: self.length }));
            }
            return Ok(read);
        }
    }
}
