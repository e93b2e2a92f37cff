//! Every file below a directory, in the byte order of the paths.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::vec;

use pilote_spec::{Digest, FaultCode, Item, ItemFault, ItemId, Location, Position};

use crate::confusable::folded;
use crate::content;
use crate::notes::Notes;
use crate::source::{CorpusError, Source, Stored, description, fault, in_words, stored, too_large};

/// Files that an operating system leaves in folders; nobody means them as inputs.
const LEFT_BEHIND: &[&str] = &[".DS_Store", "Thumbs.db"];

/// A walk through a directory. Memory: the listings of the directories between the root and where it stands.
#[derive(Debug)]
pub(crate) struct Files {
    source: Source,
    /// The root without links in it: what a link may lead to is below this.
    root: PathBuf,
    open: Vec<vec::IntoIter<Found>>,
}

/// A name in a listing.
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
        let listing = list(&source.base, &[], notes).map_err(|error| source.error(error))?;
        Ok(Self { source: source.clone(), root, open: vec![listing.into_iter()] })
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
            match list(&found.full, &found.path, notes) {
                Ok(listing) => self.open.push(listing.into_iter()),
                // What is inside cannot be told, so the directory itself takes a position and is refused.
                Err(error) => {
                    let detail = format!("a directory that cannot be listed: {}", in_words(&error));
                    let fault = fault(FaultCode::Unreadable, detail);
                    return Some(Content::without(fault).item(&found.path, position));
                }
            }
        }
    }

    fn item(&self, found: &Found, position: Position, notes: &mut Notes) -> Item {
        let content = match self.faulty_place(found) {
            Some(fault) => Content::without(fault),
            None => match File::open(&found.full)
                .and_then(|mut file| stored(&mut file, self.source.limits.bytes))
            {
                Ok(stored) => self.content(found, &stored, notes),
                Err(error) => Content::without(fault(FaultCode::Unreadable, in_words(&error))),
            },
        };
        content.item(&found.path, position)
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
        let text = match &stored.kept {
            _ if std::str::from_utf8(&found.path).is_err() => {
                Err(fault(FaultCode::NameNotUtf8, "the name is percent-encoded in the location"))
            }
            None => Err(too_large(stored.bytes, self.source.limits.bytes)),
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

/// What is known of a file's content.
struct Content {
    digest: Option<Digest>,
    bytes: u64,
    chars: u64,
    fault: Option<ItemFault>,
}

impl Content {
    fn without(fault: ItemFault) -> Self {
        Self { digest: None, bytes: 0, chars: 0, fault: Some(fault) }
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

/// The names in a directory, sorted as their paths sort: a directory's name counts with the `/` that follows it in
/// every path below.
fn list(directory: &Path, below: &[u8], notes: &mut Notes) -> io::Result<Vec<Found>> {
    let mut listing = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let what = what(&entry)?;
        if what == What::File && LEFT_BEHIND.iter().any(|left| name == OsStr::new(left)) {
            notes.skipped_files += 1;
            continue;
        }
        let mut path = below.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_encoded_bytes());
        listing.push(Found { path, full: entry.path(), what });
    }
    listing.sort_by(|a, b| sorting_key(a).cmp(sorting_key(b)));
    note_confusable(&listing, notes);
    Ok(listing)
}

fn sorting_key(found: &Found) -> impl Iterator<Item = &u8> {
    found.path.iter().chain((found.what == What::Directory).then_some(&b'/'))
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
fn note_confusable(listing: &[Found], notes: &mut Notes) {
    let mut forms: HashMap<String, &str> = HashMap::new();
    for path in listing.iter().filter_map(|found| std::str::from_utf8(&found.path).ok()) {
        match forms.get(&folded(path)) {
            Some(first) => notes.confusable(first, path),
            None => {
                forms.insert(folded(path), path);
            }
        }
    }
}
