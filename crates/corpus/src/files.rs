//! Every file below a directory, in the byte order of the paths.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::vec;

use pilote_spec::{Columns, Digest, FaultCode, Inputs, Item, ItemFault, ItemId, Location, Position};

use crate::confusable::folded;
use crate::content;
use crate::notes::{Notes, Seen};
use crate::source::{CorpusError, Source, Stored, description, fault, in_words, stored, too_large};

/// Files that an operating system leaves in folders; nobody means them as inputs.
const LEFT_BEHIND: &[&str] = &[".DS_Store", "Thumbs.db"];

/// A walk through a directory. Memory: the listings of the directories between the root and where it stands.
#[derive(Debug)]
pub(crate) struct Files {
    source: Source,
    /// The root without links in it: what a link may lead to is below this.
    root: PathBuf,
    open: Vec<Level>,
}

/// A directory on the way from the root to where the walk stands.
#[derive(Debug)]
struct Level {
    /// Path for opening.
    directory: PathBuf,
    /// Path below the root with a `/` at its end, as the system's bytes; empty for the root.
    below: Vec<u8>,
    names: vec::IntoIter<Name>,
}

/// A name in a listing.
#[derive(Debug)]
struct Name {
    name: OsString,
    what: What,
}

/// A name with the paths that lead to it.
#[derive(Debug)]
struct Found {
    /// Path below the root, components joined by `/`, as the system's bytes.
    path: Vec<u8>,
    /// Path for opening.
    full: PathBuf,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    File,
    Directory,
    Link,
    Other(&'static str),
}

impl Files {
    pub(crate) fn open(source: &Source, notes: &mut Notes) -> Result<Self, CorpusError> {
        let metadata = fs::metadata(&source.base).map_err(|error| source.error(error))?;
        if !metadata.is_dir() {
            let found = description(&metadata).to_owned();
            let path = source.declared().to_owned();
            return Err(CorpusError::WrongKind { path, found, expected: "a directory" });
        }
        let root = fs::canonicalize(&source.base).map_err(|error| source.error(error))?;
        let level =
            Level::open(source.base.clone(), Vec::new(), notes).map_err(|error| source.error(error))?;
        Ok(Self { source: source.clone(), root, open: vec![level] })
    }

    /// The next item; none at the end.
    pub(crate) fn next(&mut self, position: Position, notes: &mut Notes) -> Option<Item> {
        loop {
            let Some(found) = self.open.last_mut()?.next() else {
                self.open.pop();
                continue;
            };
            if found.what != What::Directory {
                return Some(self.item(&found, position, notes));
            }
            match Level::open(found.full, [&found.path[..], b"/"].concat(), notes) {
                Ok(level) => self.open.push(level),
                // What is inside cannot be told, so the directory itself takes a position and is refused.
                Err(error) => {
                    let detail = format!("a directory that cannot be listed: {}", in_words(&error));
                    let fault = fault(FaultCode::Unreadable, detail);
                    return Some(Content::without(fault, 0).item(&found.path, position));
                }
            }
        }
    }

    fn item(&self, found: &Found, position: Position, notes: &mut Notes) -> Item {
        let content = match self.faulty_place(found) {
            Some(fault) => Content::without(fault, 0),
            None => match File::open(&found.full).and_then(|mut file| {
                stored(&mut file, if self.texts() { self.source.limits.bytes } else { 0 })
            }) {
                Ok(stored) => self.content(found, &stored, notes),
                Err(error) => {
                    let length = fs::metadata(&found.full).map_or(0, |metadata| metadata.len());
                    Content::without(fault(FaultCode::Unreadable, in_words(&error)), length)
                }
            },
        };
        content.item(&found.path, position)
    }

    /// Whether the files are read as texts, and not only handed over.
    fn texts(&self) -> bool {
        matches!(self.source.inputs, Inputs::Directory { .. })
    }

    /// Why there is no regular file to open, where that is so.
    fn faulty_place(&self, found: &Found) -> Option<ItemFault> {
        let not_a_file = |what: &str| Some(fault(FaultCode::NotAFile, what));
        match found.what {
            What::Other(what) => return not_a_file(what),
            What::File | What::Directory => return None,
            What::Link => {}
        }
        match fs::metadata(&found.full) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(metadata) => return not_a_file(&format!("a link to {}", description(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return not_a_file("a link to nothing"),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Some(fault(FaultCode::Unreadable, in_words(&error)));
            }
            Err(_) => return not_a_file("a link that leads nowhere"),
        }
        // A link out of the folder would read files that nobody declared, and lead nowhere on another machine.
        match fs::canonicalize(&found.full) {
            Ok(target) if target.starts_with(&self.root) => None,
            Ok(_) => not_a_file("a link that leads out of the inputs"),
            Err(error) => Some(fault(FaultCode::Unreadable, in_words(&error))),
        }
    }

    fn content(&self, found: &Found, stored: &Stored, notes: &mut Notes) -> Content {
        let name = String::from_utf8_lossy(&found.path);
        let limit = self.source.limits.bytes;
        let text = match &stored.kept {
            _ if std::str::from_utf8(&found.path).is_err() => {
                Err(fault(FaultCode::NameNotUtf8, "the name is percent-encoded in the location"))
            }
            _ if stored.bytes > limit => Err(too_large(stored.bytes, limit)),
            _ if !self.texts() => untouched(stored.bytes).map(|()| (String::new(), Seen::default())),
            None => Err(too_large(stored.bytes, limit)),
            Some(bytes) => content::text_of(&name, bytes, self.source.encoding()),
        };
        let (chars, fault) = match text {
            Ok((text, seen)) => {
                notes.add(seen);
                (content::chars(&text), None)
            }
            Err(fault) => (0, Some(fault)),
        };
        Content { digest: Some(stored.digest), bytes: stored.bytes, chars, fault }
    }
}

/// A file that is handed over as it is has one fault that its bytes can have: there are none.
pub(crate) fn untouched(bytes: u64) -> Result<(), ItemFault> {
    if bytes == 0 { Err(fault(FaultCode::Empty, "0 bytes")) } else { Ok(()) }
}

/// What is known of a file's content.
struct Content {
    digest: Option<Digest>,
    bytes: u64,
    chars: u64,
    fault: Option<ItemFault>,
}

impl Content {
    fn without(fault: ItemFault, bytes: u64) -> Self {
        Self { digest: None, bytes, chars: 0, fault: Some(fault) }
    }

    fn item(mut self, path: &[u8], position: Position) -> Item {
        let (id, location) = match std::str::from_utf8(path) {
            Ok(path) => (Some(ItemId(path.to_owned())), Location::File { path: path.to_owned(), raw: false }),
            Err(_) => (None, Location::File { path: percent_encoded(path), raw: true }),
        };
        if id.is_none() && self.fault.as_ref().is_none_or(|fault| fault.code != FaultCode::NameNotUtf8) {
            // Without an identifier there is one reason to give, whatever else is wrong with the content.
            let seen = self.fault.take().map(|fault| fault.detail).unwrap_or_default();
            self.fault = Some(fault(FaultCode::NameNotUtf8, seen));
        }
        Item {
            position,
            id,
            digest: self.digest,
            bytes: self.bytes,
            chars: self.chars,
            location,
            columns: Columns::new(),
            fault: self.fault,
        }
    }
}

/// The bytes of a path, those beyond plain ASCII as `%XX`; `%` itself as well, so that it can be undone.
pub(crate) fn percent_encoded(path: &[u8]) -> String {
    path.iter().fold(String::with_capacity(path.len() * 2), |mut text, byte| {
        if byte.is_ascii_graphic() && *byte != b'%' {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

impl Level {
    /// Lists a directory in the order in which its paths sort: a directory's name counts with the `/` that follows
    /// it in every path below.
    fn open(directory: PathBuf, below: Vec<u8>, notes: &mut Notes) -> io::Result<Self> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let (name, what) = (entry.file_name(), what(&entry)?);
            if what == What::File && LEFT_BEHIND.iter().any(|left| name == OsStr::new(left)) {
                notes.skipped_files += 1;
            } else {
                names.push(Name { name, what });
            }
        }
        names.sort_by(|a, b| a.sorting_key().cmp(b.sorting_key()));
        note_confusable(&names, &below, notes);
        Ok(Self { directory, below, names: names.into_iter() })
    }

    fn next(&mut self) -> Option<Found> {
        let Name { name, what } = self.names.next()?;
        let path = [&self.below, name.as_encoded_bytes()].concat();
        Some(Found { path, full: self.directory.join(name), what })
    }
}

impl Name {
    fn sorting_key(&self) -> impl Iterator<Item = &u8> {
        self.name.as_encoded_bytes().iter().chain((self.what == What::Directory).then_some(&b'/'))
    }
}

fn what(entry: &fs::DirEntry) -> io::Result<What> {
    let kind = entry.file_type()?;
    Ok(if kind.is_dir() {
        What::Directory
    } else if kind.is_file() {
        What::File
    } else if kind.is_symlink() {
        What::Link
    } else {
        What::Other(description(&fs::symlink_metadata(entry.path())?))
    })
}

/// Two paths can only be taken for each other where two names in one folder can, so looking at each listing finds
/// them all and keeps nothing.
fn note_confusable(names: &[Name], below: &[u8], notes: &mut Notes) {
    let Ok(below) = std::str::from_utf8(below) else { return };
    let mut forms: HashMap<String, &str> = HashMap::new();
    for name in names.iter().filter_map(|name| name.name.to_str()) {
        match forms.entry(folded(name)) {
            Entry::Occupied(first) => {
                notes.confusable(&format!("{below}{}", first.get()), &format!("{below}{name}"));
            }
            Entry::Vacant(free) => {
                free.insert(name);
            }
        }
    }
}
