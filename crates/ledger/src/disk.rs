//! A store in a directory: creation by temporary name, synchronisation, hard link and directory synchronisation.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::file_system::FileSystem;
use crate::store::{Append, Creation, Listed, Store, StoreError, check_key};
use crate::window::{Failpoint, NoFailpoint, Window};

/// Temporary names begin with this; no key begins with a dot, so no listing shows them.
const TEMPORARY: &str = ".new-";

/// Temporary names that are tried before it is given up.
const TRIES_MAX: u32 = 64;

/// Bytes that are read and written back at a time.
const CHUNK: usize = 1 << 20;

/// Keys as files under a directory.
pub struct DirStore {
    root: PathBuf,
    file_system: FileSystem,
    appends: bool,
    links: bool,
    failpoint: Arc<dyn Failpoint>,
    /// Directories that are durable, and were cleared of what dead writers left, by this store.
    prepared: Mutex<BTreeSet<PathBuf>>,
    sequence: AtomicU64,
}

impl DirStore {
    /// The store in the directory `root`, which is there already. Nothing is written by opening it.
    ///
    /// # Errors
    /// When `root` is no directory.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let is_dir = fs::metadata(root).and_then(|facts| {
            if facts.is_dir() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::NotADirectory)) }
        });
        is_dir.map_err(|source| StoreError::io("open the directory", &root.to_string_lossy(), source))?;
        let file_system = FileSystem::of(root);
        Ok(Self {
            root: root.to_owned(),
            appends: !file_system.is_network(),
            file_system,
            links: true,
            failpoint: Arc::new(NoFailpoint),
            prepared: Mutex::default(),
            sequence: AtomicU64::new(0),
        })
    }

    /// The same without appending, as on a network file system: every commit is a file of its own.
    #[must_use]
    pub fn without_appending(mut self) -> Self {
        self.appends = false;
        self
    }

    /// The same without hard links, as on a file system that has none.
    #[must_use]
    pub fn without_links(mut self) -> Self {
        self.links = false;
        self
    }

    /// The same, telling `failpoint` of each window between two durable steps.
    #[must_use]
    pub fn with_failpoint(mut self, failpoint: Arc<dyn Failpoint>) -> Self {
        self.failpoint = failpoint;
        self
    }

    /// The file system that the store is on.
    #[must_use]
    pub fn file_system(&self) -> &FileSystem {
        &self.file_system
    }

    fn path(&self, key: &str) -> Result<PathBuf, StoreError> {
        check_key(key)?;
        Ok(self.root.join(key))
    }

    /// Makes the directory of `path` and every one above it up to the root, all durable, once for each store.
    fn prepare(&self, path: &Path) -> io::Result<PathBuf> {
        let dir = path.parent().unwrap_or(&self.root).to_owned();
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.contains(&dir) {
            return Ok(dir);
        }
        let mut at = self.root.clone();
        for component in dir.strip_prefix(&self.root).unwrap_or(Path::new("")).components() {
            let parent = at.clone();
            at.push(component);
            match fs::create_dir(&at) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                // Also one that is there: whoever made it may have died before making it durable.
                _ => sync_dir(&parent)?,
            }
        }
        clear_leftovers(&dir)?;
        prepared.insert(dir.clone());
        Ok(dir)
    }

    /// A new file under a temporary name, locked for as long as it is open.
    fn temporary(&self, dir: &Path) -> io::Result<(File, PathBuf)> {
        for _ in 0..TRIES_MAX {
            let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
            let path = dir.join(format!("{TEMPORARY}{}-{sequence}", std::process::id()));
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // Another process may have taken the file for a leftover before it was locked. Where locks do not
            // work, nobody removes leftovers either.
            let removed = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) || !path.exists();
            if !removed {
                return Ok((file, path));
            }
        }
        Err(io::Error::other("no temporary name is free"))
    }

    /// Gives the temporary file its final name unless that is taken; whether that used the temporary name up.
    fn place(&self, temporary: &Path, path: &Path, key: &str) -> Result<(Creation, bool), StoreError> {
        let linked = if self.links {
            fs::hard_link(temporary, path)
        } else {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        };
        let (placed, renamed) = match linked {
            Err(error) if is_unsupported(&error) => (rename_without_replacing(temporary, path), true),
            linked => (linked, false),
        };
        match placed {
            Ok(()) => Ok((Creation::Created, renamed)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok((Creation::Exists, false)),
            Err(error) if is_unsupported(&error) => Err(StoreError::NoCreateIfAbsent {
                root: self.root.clone(),
                file_system: self.file_system.to_string(),
            }),
            Err(source) => Err(StoreError::io("name", key, source)),
        }
    }

    fn create_through(
        &self,
        file: &mut File,
        temporary: &Path,
        path: &Path,
        key: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(Creation, bool), StoreError> {
        write(file).map_err(|source| StoreError::io("write", key, source))?;
        self.failpoint.reached(Window::TemporaryWritten);
        file.sync_all().map_err(|source| StoreError::io("make durable", key, source))?;
        self.failpoint.reached(Window::TemporarySynced);
        let placed = self.place(temporary, path, key)?;
        self.failpoint.reached(Window::Named);
        let dir = path.parent().unwrap_or(&self.root);
        sync_dir(dir).map_err(|source| StoreError::io("make durable the directory of", key, source))?;
        self.failpoint.reached(Window::DirectorySynced);
        Ok(placed)
    }

    fn create_with(
        &self,
        key: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Creation, StoreError> {
        let path = self.path(key)?;
        let dir =
            self.prepare(&path).map_err(|source| StoreError::io("make the directory of", key, source))?;
        let (mut file, temporary) =
            self.temporary(&dir).map_err(|source| StoreError::io("create", key, source))?;
        let placed = self.create_through(&mut file, &temporary, &path, key, write);
        if !matches!(placed, Ok((_, true))) {
            // A temporary name that stays behind is harmless, and cleared away later.
            let _ = fs::remove_file(&temporary);
        }
        placed.map(|(creation, _)| creation)
    }
}

impl Store for DirStore {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        self.create_with(key, |file| file.write_all(bytes))
    }

    fn create_from(&self, key: &str, from: &mut dyn Read) -> Result<Creation, StoreError> {
        self.create_with(key, |file| {
            let mut buffer = vec![0; CHUNK];
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(read) => file.write_all(&buffer[..read])?,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        })
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        absent_is_none(fs::read(self.path(key)?), key)
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        let read = |mut file: File| {
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(length as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        absent_is_none(File::open(self.path(key)?).and_then(read), key)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        let facts = fs::symlink_metadata(self.path(key)?);
        Ok(absent_is_none(facts, key)?.is_some())
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        let mut listed = Vec::new();
        let dir = self.path(prefix.trim_end_matches('/'))?;
        list_into(&dir, prefix.trim_end_matches('/'), &mut listed)
            .map_err(|source| StoreError::io("list", prefix, source))?;
        listed.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(listed)
    }

    fn appends(&self) -> bool {
        self.appends
    }

    fn appender(&self, key: &str) -> Result<Option<Box<dyn Append>>, StoreError> {
        if !self.appends {
            return Ok(None);
        }
        let file = OpenOptions::new()
            .append(true)
            .open(self.path(key)?)
            .map_err(|source| StoreError::io("open for appending", key, source))?;
        Ok(Some(Box::new(FileAppender { key: key.to_owned(), file, spent: false })))
    }

    fn secure(&self, key: &str, bytes: u64) -> Result<(), StoreError> {
        let path = self.path(key)?;
        let io = |source| StoreError::io("make durable", key, source);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(io)?;
        if !write_back(&file, bytes).map_err(io)? {
            return Err(StoreError::Gone { key: key.to_owned(), bytes });
        }
        file.sync_all().map_err(io)?;
        sync_dir(path.parent().unwrap_or(&self.root)).map_err(io)
    }
}

impl std::fmt::Debug for DirStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirStore").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Appends to one file. A failed synchronisation is never repeated: the kernel may have dropped the pages that
/// it could not write, and a second one would report success over their loss.
struct FileAppender {
    key: String,
    file: File,
    spent: bool,
}

impl FileAppender {
    fn once(
        &mut self,
        doing: &'static str,
        step: fn(&mut File, &[u8]) -> io::Result<()>,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        if self.spent {
            return Err(StoreError::Spent { key: self.key.clone() });
        }
        step(&mut self.file, bytes).map_err(|source| {
            self.spent = true;
            StoreError::io(doing, &self.key, source)
        })
    }
}

impl Append for FileAppender {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.once("write", File::write_all, bytes)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.once("make durable", |file, _| file.sync_data(), &[])
    }
}

fn absent_is_none<T>(result: io::Result<T>, key: &str) -> Result<Option<T>, StoreError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(StoreError::io("read", key, source)),
    }
}

fn list_into(dir: &Path, prefix: &str, listed: &mut Vec<Listed>) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let key = format!("{prefix}/{name}");
        if check_key(&key).is_err() {
            continue;
        }
        if entry.file_type()?.is_dir() {
            list_into(&entry.path(), &key, listed)?;
        } else {
            // A temporary name or another stranger may go away between the two looks.
            let Ok(facts) = fs::metadata(entry.path()) else { continue };
            listed.push(Listed { key, bytes: facts.len() });
        }
    }
    Ok(())
}

/// Removes the temporary files whose writers are gone: the lock of a living one is still held.
fn clear_leftovers(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            continue;
        }
        // What cannot be opened, locked or removed is left alone: no listing shows it.
        let _ = File::open(entry.path()).map(|file| {
            if file.try_lock().is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        });
    }
    Ok(())
}

/// Writes the first `bytes` of a file over themselves, so that the next synchronisation speaks of them: after
/// another process's failed one, the kernel holds pages that it counts as written and that are not. False where
/// the file is shorter. What is written is what was read, so that a crash in between changes nothing.
#[cfg(unix)]
fn write_back(file: &File, bytes: u64) -> io::Result<bool> {
    use std::os::unix::fs::FileExt as _;

    let mut buffer = vec![0; CHUNK];
    let mut at = 0;
    while at < bytes {
        let wanted = usize::try_from(bytes - at).unwrap_or(usize::MAX).min(CHUNK);
        let read = file.read_at(&mut buffer[..wanted], at)?;
        if read == 0 {
            return Ok(false);
        }
        file.write_all_at(&buffer[..read], at)?;
        at += read as u64;
    }
    Ok(true)
}

#[cfg(not(unix))]
fn write_back(file: &File, bytes: u64) -> io::Result<bool> {
    Ok(file.metadata()?.len() >= bytes)
}

#[cfg(unix)]
fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// A directory cannot be synchronised on this system, where trials are read and not run.
#[cfg(not(unix))]
fn sync_dir(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether the file system lacks an operation, as opposed to refusing it here. Linux says EPERM for a link on a
/// file system without links, and EINVAL for a flag of rename that it does not know.
fn is_unsupported(error: &io::Error) -> bool {
    #[cfg(unix)]
    if let Some(code) = error.raw_os_error() {
        use rustix::io::Errno;
        let lacks = [Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS, Errno::MLINK, Errno::INVAL];
        return lacks.iter().any(|errno| errno.raw_os_error() == code);
    }
    error.kind() == io::ErrorKind::Unsupported
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_without_replacing(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
