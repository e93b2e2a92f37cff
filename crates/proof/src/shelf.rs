//! Where the files of a trial or a copy lie, as readers see them: a folder, a place in an object store, or an archive
//! that is never unpacked.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_ledger::{Bucket, Creation, Listed, Store, StoreError};

use crate::algorithm::{Algorithm, Digests, digests_of};
use crate::error::{ProofError, io as error};
use crate::files::{self, Found, Listing};

/// Something that carries files by relative path. Only plain files are ever opened.
pub(crate) trait Carrier: Send + Sync {
    /// Everything that is there.
    fn listing(&self) -> Result<Listing, ProofError>;

    /// The bytes of a file from its start; none where it is absent.
    fn open(&self, path: &str) -> io::Result<Option<Box<dyn Read + Send + '_>>>;

    /// Up to `length` bytes of a file from `offset`; none where it is absent.
    fn read_range(&self, path: &str, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>>;

    /// Whether something is there under that path.
    fn exists(&self, path: &str) -> io::Result<bool>;

    /// The keys below `folder`, at any depth, in the order of their bytes.
    fn list(&self, folder: &str) -> io::Result<Vec<Listed>>;

    /// How many files it makes sense to read at once.
    fn threads_max(&self) -> usize {
        usize::MAX
    }

    /// Digests and length of a file as the medium has it now; none where it is absent.
    fn digests(&self, path: &str, wanted: &[Algorithm]) -> io::Result<Option<(Digests, u64)>>;
}

/// A folder on a disk.
pub(crate) struct Folder(pub PathBuf);

impl Carrier for Folder {
    fn listing(&self) -> Result<Listing, ProofError> {
        files::walk(&self.0)
    }

    fn open(&self, path: &str) -> io::Result<Option<Box<dyn Read + Send + '_>>> {
        let file = files::absent_is_none(files::open_plain(&self.0.join(path)))?;
        Ok(file.map(|file| Box::new(file) as Box<dyn Read + Send>))
    }

    fn read_range(&self, path: &str, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        use std::io::{Seek as _, SeekFrom};
        let Some(mut file) = files::absent_is_none(files::open_plain(&self.0.join(path)))? else {
            return Ok(None);
        };
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        Ok(files::absent_is_none(fs_err::symlink_metadata(self.0.join(path)))?.is_some())
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let mut listed = Vec::new();
        list_below(&self.0.join(folder), folder, &mut listed)?;
        listed.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(listed)
    }

    fn digests(&self, path: &str, wanted: &[Algorithm]) -> io::Result<Option<(Digests, u64)>> {
        let Some(mut file) = files::absent_is_none(files::open_plain(&self.0.join(path)))? else {
            return Ok(None);
        };
        digests_of(&mut file, wanted).map(Some)
    }
}

fn list_below(dir: &Path, prefix: &str, listed: &mut Vec<Listed>) -> io::Result<()> {
    let Some(entries) = files::absent_is_none(fs_err::read_dir(dir))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().filter(|name| !name.starts_with('.')).map(str::to_owned)
        else {
            continue;
        };
        let key = format!("{prefix}/{name}");
        let about = entry.metadata()?;
        if about.is_dir() {
            list_below(&entry.path(), &key, listed)?;
        } else if about.is_file() {
            listed.push(Listed { key, bytes: about.len() });
        }
    }
    Ok(())
}

/// A place in an object store, listed once: what comes later is no part of what is read.
pub(crate) struct Objects {
    bucket: Bucket,
    lengths: BTreeMap<String, u64>,
}

impl Objects {
    /// Lists what is there.
    pub(crate) fn read(bucket: Bucket) -> Result<Self, ProofError> {
        let listed =
            bucket.objects("").map_err(|source| error("list", Path::new(&bucket.shown("")), source))?;
        Ok(Self { bucket, lengths: listed.into_iter().map(|one| (one.key, one.bytes)).collect() })
    }

    fn reader(&self, path: &str) -> Option<pilote_ledger::ObjectReader> {
        self.lengths.get(path).map(|bytes| self.bucket.reader(path, *bytes))
    }
}

fn is_dotted(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

impl Carrier for Objects {
    fn listing(&self) -> Result<Listing, ProofError> {
        let mut listing = Listing::default();
        for (path, bytes) in &self.lengths {
            let found = Found { path: path.clone(), bytes: *bytes, modified: None };
            (if is_dotted(path) { &mut listing.dotted } else { &mut listing.files }).push(found);
        }
        Ok(listing)
    }

    fn open(&self, path: &str) -> io::Result<Option<Box<dyn Read + Send + '_>>> {
        Ok(self.reader(path).map(|reader| Box::new(reader) as Box<dyn Read + Send>))
    }

    fn read_range(&self, path: &str, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        if self.lengths.contains_key(path) { self.bucket.range(path, offset, length) } else { Ok(None) }
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        Ok(self.lengths.contains_key(path))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let below = format!("{folder}/");
        let within = self.lengths.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        let shown = within.filter(|(path, _)| !is_dotted(&path[below.len()..]));
        Ok(shown.map(|(path, bytes)| Listed { key: path.clone(), bytes: *bytes }).collect())
    }

    fn digests(&self, path: &str, wanted: &[Algorithm]) -> io::Result<Option<(Digests, u64)>> {
        let Some(mut reader) = self.reader(path) else { return Ok(None) };
        match digests_of(&mut reader, wanted) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }
}

/// The files below one folder of a carrier, as the ledger reads a store. Nothing can be written through it.
#[derive(Clone)]
pub(crate) struct Shelf {
    carrier: Arc<dyn Carrier>,
    /// What stands before every path: nothing, or a folder with its `/`.
    below: String,
    /// The place as messages name it.
    shown: PathBuf,
}

impl Shelf {
    /// The folder `root` of a disk.
    pub(crate) fn folder(root: &Path) -> Self {
        Self { carrier: Arc::new(Folder(root.to_owned())), below: String::new(), shown: root.to_owned() }
    }

    /// The files of `carrier` below `below`, which is empty or ends in `/`.
    pub(crate) fn of(carrier: Arc<dyn Carrier>, below: &str, shown: &Path) -> Self {
        Self { carrier, below: below.to_owned(), shown: shown.to_owned() }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.below)
    }

    /// Digests and length of a file as the medium has it now; none where it is absent.
    pub(crate) fn digests(&self, path: &str, wanted: &[Algorithm]) -> io::Result<Option<(Digests, u64)>> {
        self.carrier.digests(&self.at(path), wanted)
    }

    /// How many files it makes sense to read at once.
    pub(crate) fn threads_max(&self) -> usize {
        self.carrier.threads_max()
    }

    /// The files below the folder `below`, which ends in `/`, of the same carrier.
    pub(crate) fn within(&self, below: &str) -> Self {
        Self { below: self.at(below), shown: self.shown.join(below), carrier: Arc::clone(&self.carrier) }
    }

    /// The place as messages name it.
    pub(crate) fn place(&self) -> &Path {
        &self.shown
    }

    /// Everything that is there, by path relative to the shelf.
    pub(crate) fn listing(&self) -> Result<Listing, ProofError> {
        let mut listing = self.carrier.listing()?;
        let relative = |files: &mut Vec<Found>| {
            files.retain_mut(|file| match file.path.strip_prefix(&self.below) {
                Some(path) => {
                    file.path = path.to_owned();
                    true
                }
                None => false,
            });
        };
        relative(&mut listing.files);
        relative(&mut listing.dotted);
        Ok(listing)
    }

    /// A path as messages name it.
    pub(crate) fn shown(&self, path: &str) -> PathBuf {
        self.shown.join(path)
    }

    /// The bytes of a file from its start; none where it is absent.
    pub(crate) fn open(&self, path: &str) -> Result<Option<Box<dyn Read + Send + '_>>, ProofError> {
        self.carrier.open(&self.at(path)).map_err(|source| error("read", &self.shown(path), source))
    }

    /// All bytes of a file; none where it is absent.
    pub(crate) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, ProofError> {
        let Some(mut file) = self.open(path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|source| error("read", &self.shown(path), source))?;
        Ok(Some(bytes))
    }

    /// The files below `folder`, by path relative to the shelf.
    pub(crate) fn below(&self, folder: &str) -> Result<Vec<Listed>, ProofError> {
        self.list(folder).map_err(|source| ProofError::Ledger(Box::new(source)))
    }
}

fn failed(key: &str) -> impl FnOnce(io::Error) -> StoreError {
    let key = key.to_owned();
    move |source| StoreError::Io { doing: "read", key, source }
}

impl Store for Shelf {
    fn create(&self, key: &str, _bytes: &[u8]) -> Result<Creation, StoreError> {
        let source = io::ErrorKind::ReadOnlyFilesystem.into();
        Err(StoreError::Io { doing: "create", key: key.to_owned(), source })
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let read = || {
            let Some(mut file) = self.carrier.open(&self.at(key))? else { return Ok(None) };
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        read().map_err(failed(key))
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.carrier.read_range(&self.at(key), offset, length).map_err(failed(key))
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.carrier.exists(&self.at(key)).map_err(failed(key))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        let folder = self.at(prefix.trim_end_matches('/'));
        let listed = self.carrier.list(&folder).map_err(failed(prefix))?;
        let relative =
            |one: Listed| Some(Listed { key: one.key.strip_prefix(&self.below)?.to_owned(), ..one });
        Ok(listed.into_iter().filter_map(relative).collect())
    }
}
