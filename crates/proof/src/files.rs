//! Files of a trial or a copy: walked in one order, digested, and placed so that each is whole or absent.

use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use pilote_spec::{Digest, Hasher};

use crate::error::{ProofError, io};

/// Start of the names of files that are still being written here. No file of a trial begins with a dot: such a name
/// is what a crash left of an unfinished file, or what an operating system adds for itself.
pub(crate) const UNFINISHED: &str = ".pilote-";

/// A plain file below a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Path relative to the root, `/` between components.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// When it was last changed, where the file system says so.
    pub modified: Option<SystemTime>,
}

/// What a directory holds.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Every plain file, in the order of the paths' bytes; names that begin with a dot are left out.
    pub files: Vec<Found>,
    /// Plain files whose own name or a folder's above them begins with a dot.
    pub dotted: Vec<Found>,
    /// What is neither a directory nor a plain file with a name in UTF-8: its path, made readable, and what it is.
    pub not_plain: Vec<(String, &'static str)>,
}

/// Lists everything below `root`; links are not followed.
pub(crate) fn walk(root: &Path) -> Result<Listing, ProofError> {
    let mut listing = Listing::default();
    walk_below(root, "", false, &mut listing)?;
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    listing.dotted.sort_by(|a, b| a.path.cmp(&b.path));
    listing.not_plain.sort();
    Ok(listing)
}

fn walk_below(root: &Path, below: &str, dotted: bool, listing: &mut Listing) -> Result<(), ProofError> {
    let dir = root.join(below);
    for entry in fs_err::read_dir(&dir).map_err(|source| io("list", &dir, source))? {
        let entry = entry.map_err(|source| io("list", &dir, source))?;
        let name = entry.file_name();
        let path = |name: &str| if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        let Some(name) = name.to_str() else {
            listing.not_plain.push((path(&name.to_string_lossy()), "a name that is not UTF-8"));
            continue;
        };
        let dotted = dotted || name.starts_with('.');
        let path = path(name);
        // `DirEntry::metadata` does not follow links, so a link is seen as one.
        let about = entry.metadata().map_err(|source| io("read", &entry.path(), source))?;
        if about.is_dir() {
            walk_below(root, &path, dotted, listing)?;
        } else if about.is_file() {
            let found = Found { path, bytes: about.len(), modified: about.modified().ok() };
            (if dotted { &mut listing.dotted } else { &mut listing.files }).push(found);
        } else {
            listing.not_plain.push((path, if about.is_symlink() { "a link" } else { "no plain file" }));
        }
    }
    Ok(())
}

/// Opens a file that is a plain one for reading. A pipe or a device in its place is refused and never waited on; a
/// link is not followed.
pub(crate) fn open_plain(path: &Path) -> std::io::Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no plain file"))
    }
}

/// What is not there is none, and no error.
pub(crate) fn absent_is_none<T>(result: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Digest and length of a file, read in pieces; none when it is not there.
pub(crate) fn digest(path: &Path) -> Result<Option<(Digest, u64)>, ProofError> {
    let opened = absent_is_none(open_plain(path)).map_err(|source| io("read", path, source))?;
    let Some(mut file) = opened else { return Ok(None) };
    let mut to = Counting { to: std::io::sink(), hasher: Hasher::new(), bytes: 0 };
    pass(&mut file, &mut to).map_err(|source| io("read", path, source))?;
    Ok(Some((to.hasher.finish(), to.bytes)))
}

/// Moves everything from `from` to `to` through a buffer that suits disks.
pub(crate) fn pass(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 17];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&buffer[..read])?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Hands bytes on and keeps their digest and count.
pub(crate) struct Counting<W> {
    /// Where the bytes go.
    pub to: W,
    /// What was seen.
    pub hasher: Hasher,
    /// How much was seen.
    pub bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// A file being written beside its place; dropped without [`Pending::create`] it leaves nothing.
pub(crate) struct Pending {
    file: Counting<BufWriter<tempfile::NamedTempFile>>,
}

impl Pending {
    /// Begins a file in `dir`.
    pub(crate) fn new(dir: &Path) -> Result<Self, ProofError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            // Temporary files are private by default; a result is as readable as the user's umask allows.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(dir).map_err(|source| io("write in", dir, source))?;
        Ok(Self {
            file: Counting { to: BufWriter::with_capacity(1 << 17, file), hasher: Hasher::new(), bytes: 0 },
        })
    }

    /// Puts the file at `path` if nothing is there, durably. What is there already must be the same.
    ///
    /// # Errors
    /// [`ProofError::Differs`] when other bytes are there, which stay.
    pub(crate) fn create(self, path: &Path) -> Result<(Digest, u64), ProofError> {
        let (file, digest, bytes) = self.synced(path)?;
        match file.persist_noclobber(path) {
            Ok(_) => sync_parent(path)?,
            Err(refused) if refused.error.kind() == std::io::ErrorKind::AlreadyExists => {
                if self::digest(path)?.map(|(there, _)| there) != Some(digest) {
                    return Err(ProofError::Differs { path: path.to_owned() });
                }
            }
            Err(refused) => return Err(io("create", path, refused.error)),
        }
        Ok((digest, bytes))
    }

    /// Puts the file at `path` in place of what may be there, durably: for what is only a view of facts.
    pub(crate) fn replace(self, path: &Path) -> Result<(), ProofError> {
        let (file, ..) = self.synced(path)?;
        file.persist(path).map_err(|refused| io("write", path, refused.error))?;
        sync_parent(path)
    }

    fn synced(self, path: &Path) -> Result<(tempfile::NamedTempFile, Digest, u64), ProofError> {
        let Counting { to, hasher, bytes } = self.file;
        let file = to.into_inner().map_err(|error| io("write", path, error.into_error()))?;
        file.as_file().sync_all().map_err(|source| io("sync", path, source))?;
        Ok((file, hasher.finish(), bytes))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes `bytes` to `path` if nothing is there; see [`Pending::create`].
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<(Digest, u64), ProofError> {
    let mut file = Pending::new(path.parent().unwrap_or(path))?;
    file.write_all(bytes).map_err(|source| io("write", path, source))?;
    file.create(path)
}

/// Writes `bytes` to `path` in place of what may be there; see [`Pending::replace`].
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), ProofError> {
    let mut file = Pending::new(path.parent().unwrap_or(path))?;
    file.write_all(bytes).map_err(|source| io("write", path, source))?;
    file.replace(path)
}

/// Makes the entries of the directory that holds `path` durable.
pub(crate) fn sync_parent(path: &Path) -> Result<(), ProofError> {
    sync_dir(path.parent().unwrap_or(path))
}

/// Makes a directory's entries durable. Windows has no such call and orders them by itself.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), ProofError> {
    #[cfg(unix)]
    fs_err::File::open(dir).and_then(|file| file.sync_all()).map_err(|source| io("sync", dir, source))?;
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

/// Asks the system to forget what it keeps in memory of a file that is durable, so that reading it again reads
/// the medium. A wish only: where it is not granted, the digest is still compared.
pub(crate) fn forget(file: &fs_err::File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file.file(), 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}
