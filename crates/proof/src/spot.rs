//! Where a copy is made and read again: a place on a disk, or one in an object store. What is put there is durable
//! when it was said to be done, and a file is never there in part under a name that counts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_ledger::{Bucket, Upload};

use crate::algorithm::{Algorithm, Digests, digests_of};
use crate::archive::{Archive, Medium};
use crate::error::{ProofError, io as failed};
use crate::files::{self, Found, Listing};
use crate::finding::Findings;
use crate::shelf::{Objects, Shelf};
use crate::verification::VERDICT;

/// Where copies go.
#[derive(Debug, Clone)]
pub enum Destination {
    /// A folder of a disk.
    Folder(PathBuf),
    /// A place in an object store.
    Bucket(Bucket),
}

impl Destination {
    /// The place as messages name it.
    #[must_use]
    pub fn shown(&self) -> PathBuf {
        match self {
            Self::Folder(path) => path.clone(),
            Self::Bucket(bucket) => bucket.shown("").into(),
        }
    }

    /// The place of a copy of that name, file or folder.
    pub(crate) fn at(&self, name: &str) -> Spot {
        match self {
            Self::Folder(path) => Spot::Disk(path.join(name)),
            Self::Bucket(above) => Spot::Objects { above: above.clone(), name: name.to_owned() },
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Destination {
    fn from(path: &P) -> Self {
        Self::Folder(path.as_ref().to_owned())
    }
}

/// One copy: a folder or an archive.
#[derive(Debug, Clone)]
pub(crate) enum Spot {
    /// On a disk.
    Disk(PathBuf),
    /// In an object store: `name` below `above`.
    Objects { above: Bucket, name: String },
}

/// A file being written.
pub(crate) enum Target {
    File(fs_err::File, PathBuf),
    Object(Upload, PathBuf),
}

impl Spot {
    /// The place as messages name it.
    pub(crate) fn shown(&self) -> PathBuf {
        match self {
            Self::Disk(path) => path.clone(),
            Self::Objects { above, name } => above.shown(name).into(),
        }
    }

    fn shown_file(&self, path: &str) -> PathBuf {
        match self {
            Self::Disk(root) => root.join(path),
            Self::Objects { above, name } => above.shown(&format!("{name}/{path}")).into(),
        }
    }

    /// The path on a disk; none in an object store.
    pub(crate) fn disk(&self) -> Option<&Path> {
        match self {
            Self::Disk(path) => Some(path),
            Self::Objects { .. } => None,
        }
    }

    /// Where the copy is made before it gets its name. An object store has no renaming: there it is the verdict, put
    /// last, that says that the copy is one.
    pub(crate) fn partial(&self, ending: &str) -> Self {
        match self {
            Self::Disk(path) => {
                let mut partial = path.clone().into_os_string();
                partial.push(ending);
                Self::Disk(partial.into())
            }
            Self::Objects { .. } => self.clone(),
        }
    }

    /// Whether a finished copy, or anything else, has the name.
    pub(crate) fn is_there(&self, archive: bool) -> Result<bool, ProofError> {
        match self {
            Self::Disk(path) => Ok(fs_err::symlink_metadata(path).is_ok()),
            Self::Objects { above, name } => {
                let key = if archive { name.clone() } else { format!("{name}/{VERDICT}") };
                Ok(above.length(&key).map_err(|error| failed("find", &self.shown(), error))?.is_some())
            }
        }
    }

    /// Everything that is there.
    pub(crate) fn listing(&self) -> Result<Listing, ProofError> {
        match self {
            Self::Disk(path) => files::walk(path),
            Self::Objects { above, name } => {
                crate::shelf::Carrier::listing(&Objects::read(above.within(name))?)
            }
        }
    }

    /// The copy as readers see it, a folder or an archive with what is wrong with it as such.
    pub(crate) fn shelf(&self, archive: bool, findings: &mut Findings) -> Result<(Shelf, bool), ProofError> {
        if archive {
            let archive = Archive::open(self.medium()?, findings)?;
            let (folder, seekable) = (archive.folder().to_owned(), archive.is_seekable());
            return Ok((Shelf::of(Arc::new(archive), &folder, &self.shown()), seekable));
        }
        let shelf = match self {
            Self::Disk(path) => Shelf::folder(path),
            Self::Objects { above, name } => {
                Shelf::of(Arc::new(Objects::read(above.within(name))?), "", &self.shown())
            }
        };
        Ok((shelf, true))
    }

    fn medium(&self) -> Result<Medium, ProofError> {
        match self {
            Self::Disk(path) => Ok(Medium::File(path.clone())),
            Self::Objects { above, name } => {
                let length = above.length(name).map_err(|error| failed("read", &self.shown(), error))?;
                let bytes = length.ok_or_else(|| ProofError::Missing { path: self.shown() })?;
                Ok(Medium::Object { bucket: above.clone(), key: name.clone(), bytes })
            }
        }
    }

    /// Digests of a file of the copy as the medium has it.
    pub(crate) fn digests(
        &self,
        path: &str,
        bytes: u64,
        wanted: &[Algorithm],
    ) -> Result<Digests, ProofError> {
        let digests = match self {
            Self::Disk(root) => {
                files::open_plain(&root.join(path)).and_then(|mut file| digests_of(&mut file, wanted))
            }
            Self::Objects { above, name } => digests_of(&mut above.within(name).reader(path, bytes), wanted),
        };
        Ok(digests.map_err(|error| failed("read", &self.shown_file(path), error))?.0)
    }

    /// Begins a file of the copy, of about `bytes` bytes, in place of what is there: never through a link.
    pub(crate) fn begin(&self, path: &str, bytes: u64) -> Result<Target, ProofError> {
        match self {
            Self::Disk(root) => begin_file(root.join(path)),
            Self::Objects { above, name } => begin_object(above, &format!("{name}/{path}"), bytes),
        }
    }

    /// Begins the copy itself as one file of about `bytes` bytes.
    pub(crate) fn begin_whole(&self, bytes: u64) -> Result<Target, ProofError> {
        match self {
            Self::Disk(path) => begin_file(path.clone()),
            Self::Objects { above, name } => begin_object(above, name, bytes),
        }
    }

    /// Puts a small file of the copy in place of what is there.
    pub(crate) fn replace(&self, path: &str, bytes: &[u8]) -> Result<(), ProofError> {
        match self {
            Self::Disk(root) => files::replace(&root.join(path), bytes),
            Self::Objects { above, name } => {
                let put = above.within(name).put(path, bytes);
                put.map_err(|error| failed("write", &self.shown_file(path), error))
            }
        }
    }

    /// Puts a small file beside the copy, under its name with an ending.
    pub(crate) fn replace_beside(&self, ending: &str, bytes: &[u8]) -> Result<(), ProofError> {
        match self.partial(ending) {
            Self::Disk(path) => files::replace(&path, bytes),
            Self::Objects { above, name } => {
                let name = format!("{name}{ending}");
                above
                    .put(&name, bytes)
                    .map_err(|error| failed("write", Path::new(&above.shown(&name)), error))
            }
        }
    }

    /// Takes a file of an earlier try away.
    pub(crate) fn remove(&self, path: &str) -> Result<(), ProofError> {
        let removed = match self {
            Self::Disk(root) => fs_err::remove_file(root.join(path)),
            Self::Objects { above, name } => above.within(name).remove(path),
        };
        removed.map_err(|error| failed("remove", &self.shown_file(path), error))
    }

    /// Makes every folder that these paths lie in durable, the deepest first: a folder is durable before the one that
    /// names it.
    pub(crate) fn sync<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Result<(), ProofError> {
        let Self::Disk(root) = self else { return Ok(()) };
        let mut folders = BTreeSet::from([root.clone()]);
        for path in paths {
            let to = root.join(path);
            folders.extend(
                to.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).map(Path::to_owned),
            );
        }
        folders.iter().rev().try_for_each(|folder| files::sync_dir(folder))
    }
}

/// Files of a listing with their lengths.
pub(crate) fn lengths(listing: Listing) -> BTreeMap<String, u64> {
    let all = listing.files.into_iter().chain(listing.dotted);
    all.map(|Found { path, bytes, .. }| (path, bytes)).collect()
}

fn begin_file(to: PathBuf) -> Result<Target, ProofError> {
    if let Some(parent) = to.parent() {
        fs_err::create_dir_all(parent).map_err(|error| failed("create", parent, error))?;
    }
    files::absent_is_none(fs_err::remove_file(&to)).map_err(|error| failed("replace", &to, error))?;
    let mut options = fs_err::OpenOptions::new();
    let file = options.write(true).create_new(true).open(&to).map_err(|error| failed("write", &to, error))?;
    Ok(Target::File(file, to))
}

fn begin_object(place: &Bucket, key: &str, bytes: u64) -> Result<Target, ProofError> {
    let shown = PathBuf::from(place.shown(key));
    let upload = place.upload(key, bytes).map_err(|error| failed("write", &shown, error))?;
    Ok(Target::Object(upload, shown))
}

impl Target {
    /// The file as messages name it.
    pub(crate) fn shown(&self) -> &Path {
        let (Self::File(_, path) | Self::Object(_, path)) = self;
        path
    }

    /// Makes the file durable, and where it is an object, makes it be there.
    pub(crate) fn finish(self) -> Result<(), ProofError> {
        match self {
            Self::File(file, path) => {
                file.sync_all().map_err(|error| failed("sync", &path, error))?;
                files::forget(&file);
                Ok(())
            }
            Self::Object(upload, path) => upload.finish().map_err(|error| failed("write", &path, error)),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file, _) => file.write(bytes),
            Self::Object(upload, _) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file, _) => file.flush(),
            Self::Object(upload, _) => upload.flush(),
        }
    }
}
