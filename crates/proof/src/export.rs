//! A plain copy of a trial at a place of the user's, read again from there.
//!
//! The copy is built as `NAME.partial`, file by file, each synchronised; it is verified with nothing but itself,
//! and only a copy that was found whole gets its verdict and its name. So an interrupted export never looks
//! finished, and the next one goes on where it stopped: files that are there with the right digest stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pilote_spec::{Digest, Hasher, Stamp};
use serde::{Deserialize, Serialize};

use crate::collection::read_balance;
use crate::decision::DECISIONS;
use crate::document::{self, Document};
use crate::error::{ProofError, io};
use crate::files::{self, Counting, Found, Listing};
use crate::manifest::{MANIFEST, Manifest};
use crate::receipt::RECEIPTS;
use crate::trial_dir::TrialDir;
use crate::verification::{self, VERDICT, Verification};

/// What the name of a copy ends in until it is whole and verified.
pub(crate) const PARTIAL: &str = ".partial";

/// Where the trial keeps what it knows of its copies.
const COPIES: &str = "copies";

/// Views and verdicts: made anew from the facts wherever they are, so they are no part of what is copied.
const NOT_COPIED: [&str; 4] = ["report.html", "report.md", VERDICT, MANIFEST];

/// What an export came to.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The copy; still named `.partial` when it was not found whole.
    pub copy: PathBuf,
    /// Files of the copy.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Files that an earlier export had left there whole, and that were not copied again.
    pub kept: u64,
    /// Whether a finished copy of the same files was there before; it was read again and not changed.
    pub already: bool,
    /// Whether the copy lies on the file system of the trial; none where that cannot be told.
    pub same_file_system: Option<bool>,
    /// What reading the copy again came to.
    pub verification: Verification,
}

impl Exported {
    /// Always false: a copy that was made and read by the machine that computes is no backup, whatever it lies on,
    /// until it is verified on another machine.
    #[must_use]
    pub fn is_backup(&self) -> bool {
        false
    }
}

/// `copies/NNNNNN.json`, format `pilote.copy/1`: the trial's own note of a copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyNote {
    /// Always `pilote.copy/1`.
    pub format: String,
    /// Where the copy was made.
    pub copy: String,
    /// When.
    pub at: Stamp,
    /// Digest of the copy's list of files.
    pub manifest: Digest,
    /// Files of the copy.
    pub files: u64,
    /// Whether every file was read again with its digest and nothing in them contradicts.
    pub whole: bool,
    /// Whether the criteria hold in the copy.
    pub holds: bool,
    /// Whether the copy lies on the trial's file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_file_system: Option<bool>,
}

impl Document for CopyNote {
    const FORMAT: &'static str = "pilote.copy/1";
}

/// Copies the trial to `destination`, in a directory of the trial's name, and reads the copy again.
///
/// `at` labels the note that stays with the trial; `watch` is told the bytes that are done, out of how many.
///
/// # Errors
/// When the trial changes meanwhile, holds something that no copy can hold, or `destination` is taken by
/// something else; and when reading or writing fails. A copy that was read again and found wanting is no error:
/// see [`Exported::verification`].
pub fn export(
    trial: &Path,
    destination: &Path,
    at: Stamp,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Exported, ProofError> {
    let source = TrialDir::open(trial)?;
    let listed = copied(trial)?;
    refuse_inside(trial, destination)?;
    fs_err::create_dir_all(destination).map_err(|error| io("create", destination, error))?;
    let finished = match read_balance(trial) {
        Ok(None) => return unfinished(trial, &source, &listed, destination, at, watch),
        // A balance that cannot be read is a finding of the copy.
        _ => destination.join(&source.trial.name),
    };
    if is_there(&finished) {
        return again(trial, &listed, &finished, at);
    }
    anew(trial, &listed, finished, at, watch)
}

/// Copies of one trial that was not finished, at one destination.
const UNFINISHED_MAX: u32 = 1_000;

/// A trial that goes on keeps its own name for the copy of its end: what is there of it now goes beside, numbered.
fn unfinished(
    trial: &Path,
    source: &TrialDir,
    listed: &[Found],
    destination: &Path,
    at: Stamp,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Exported, ProofError> {
    let mut taken = None;
    for number in 1..=UNFINISHED_MAX {
        let finished = destination.join(format!("{}.unfinished-{number}", source.trial.name));
        if !is_there(&finished) {
            return anew(trial, listed, finished, at, watch);
        }
        match again(trial, listed, &finished, at) {
            Err(ProofError::DestinationTaken { path, first }) => taken = Some((path, first)),
            other => return other,
        }
    }
    let (path, first) = taken.unwrap_or_default();
    Err(ProofError::DestinationTaken { path, first })
}

fn is_there(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok()
}

/// Makes a copy where none is, beginning with what an interrupted export left.
fn anew(
    trial: &Path,
    listed: &[Found],
    finished: PathBuf,
    at: Stamp,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Exported, ProofError> {
    let mut partial = finished.clone().into_os_string();
    partial.push(PARTIAL);
    let partial = PathBuf::from(partial);
    let (manifest, kept) = fill(trial, listed, &partial, watch)?;
    if copied(trial)? != listed {
        return Err(ProofError::SourceChanged { path: trial.to_owned() });
    }
    files::replace(&partial.join(MANIFEST), manifest.encode().as_bytes())?;
    let verification = verification::of_copy(&partial)?;
    let mut copy = partial;
    if verification.whole {
        write_verdict(&copy, &verification)?;
        finish(&copy, &finished)?;
        copy = finished;
    }
    let bytes = listed.iter().map(|file| file.bytes).sum();
    noted(
        trial,
        Exported {
            same_file_system: same_file_system(trial, &copy),
            files: manifest.0.len() as u64,
            bytes,
            kept,
            already: false,
            verification,
            copy,
        },
        at,
    )
}

/// The files of a trial that a copy holds.
fn copied(trial: &Path) -> Result<Vec<Found>, ProofError> {
    let Listing { mut files, not_plain, .. } = files::walk(trial)?;
    if let Some((path, what)) = not_plain.into_iter().next() {
        return Err(ProofError::NotPlain { path: trial.join(path), what });
    }
    files.retain(|file| !is_left_out(&file.path));
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for file in &files {
        if let Some(first) = folded.insert(file.path.to_lowercase(), &file.path) {
            return Err(ProofError::CaseTwins { first: first.to_owned(), second: file.path.clone() });
        }
    }
    Ok(files)
}

/// Whether a path of a trial or a copy is a view or a verdict, which no list of files names.
pub(crate) fn is_left_out(path: &str) -> bool {
    let below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    NOT_COPIED.contains(&path) || [COPIES, DECISIONS, RECEIPTS].into_iter().any(below)
}

/// Refuses a destination in the trial before anything is made there, through whatever links the way leads.
fn refuse_inside(trial: &Path, destination: &Path) -> Result<(), ProofError> {
    let real = |path: &Path| fs_err::canonicalize(path).map_err(|error| io("find", path, error));
    let there = destination.ancestors().find(|path| path.exists()).unwrap_or(destination);
    if !there.is_dir() {
        return Err(ProofError::DestinationNoFolder { path: there.to_owned() });
    }
    if real(there)?.starts_with(real(trial)?) {
        return Err(ProofError::DestinationInside { path: destination.to_owned() });
    }
    Ok(())
}

/// Copies what is not there yet; gives the list of files and the number of those that were there already.
fn fill(
    trial: &Path,
    listed: &[Found],
    partial: &Path,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<(Manifest, u64), ProofError> {
    let taken = |first: String| ProofError::DestinationTaken { path: partial.to_owned(), first };
    if fs_err::symlink_metadata(partial).is_ok_and(|about| !about.is_dir()) {
        return Err(taken(".".to_owned()));
    }
    fs_err::create_dir_all(partial).map_err(|error| io("create", partial, error))?;
    let expected: BTreeSet<&str> = listed.iter().map(|file| file.path.as_str()).collect();
    let there = files::walk(partial)?;
    if let Some((first, _)) = there.not_plain.into_iter().next() {
        return Err(taken(first));
    }
    for there in there.files.into_iter().chain(there.dotted) {
        if !expected.contains(there.path.as_str()) && !is_left_out(&there.path) {
            return Err(taken(there.path));
        }
    }
    let total = listed.iter().map(|file| file.bytes).sum();
    let (mut manifest, mut kept, mut done) = (Manifest::default(), 0, 0);
    let mut directories = BTreeSet::from([partial.to_owned()]);
    for file in listed {
        let (from, to) = (trial.join(&file.path), partial.join(&file.path));
        let there = files::digest(&to)?;
        let digest = match there {
            Some((digest, bytes))
                if bytes == file.bytes && files::digest(&from)? == Some((digest, bytes)) =>
            {
                kept += 1;
                digest
            }
            _ => copy_file(&from, &to, file)?,
        };
        manifest.0.insert(file.path.clone(), digest);
        directories
            .extend(to.ancestors().skip(1).take_while(|dir| dir.starts_with(partial)).map(Path::to_owned));
        done += file.bytes;
        watch(done, total);
    }
    // The deepest first: a directory is durable before the one that names it.
    for directory in directories.iter().rev() {
        files::sync_dir(directory)?;
    }
    Ok((manifest, kept))
}

/// Copies one file durably and gives the digest of what was read.
fn copy_file(from: &Path, to: &Path, listed: &Found) -> Result<Digest, ProofError> {
    if let Some(parent) = to.parent() {
        fs_err::create_dir_all(parent).map_err(|error| io("create", parent, error))?;
    }
    let mut source = files::open_plain(from).map_err(|error| io("read", from, error))?;
    files::absent_is_none(fs_err::remove_file(to)).map_err(|error| io("replace", to, error))?;
    // Never through a link that somebody put there meanwhile.
    let target = fs_err::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(to)
        .map_err(|error| io("write", to, error))?;
    let mut target = Counting { to: target, hasher: Hasher::new(), bytes: 0 };
    files::pass(&mut source, &mut target).map_err(|error| io("copy to", to, error))?;
    target.to.sync_all().map_err(|error| io("sync", to, error))?;
    let about = source.metadata().map_err(|error| io("read", from, error))?;
    if target.bytes != listed.bytes || about.len() != listed.bytes || about.modified().ok() != listed.modified
    {
        return Err(ProofError::SourceChanged { path: from.to_owned() });
    }
    files::forget(&target.to);
    Ok(target.hasher.finish())
}

/// A copy of that name is there: the same one is read again, anything else is refused.
fn again(trial: &Path, listed: &[Found], finished: &Path, at: Stamp) -> Result<Exported, ProofError> {
    let taken =
        |first: &str| ProofError::DestinationTaken { path: finished.to_owned(), first: first.to_owned() };
    let text = fs_err::read_to_string(finished.join(MANIFEST)).map_err(|_| taken(MANIFEST))?;
    let manifest = Manifest::decode(&text).map_err(|_| taken(MANIFEST))?;
    for file in listed {
        let path = trial.join(&file.path);
        if files::digest(&path)?.map(|(digest, _)| digest) != manifest.0.get(&file.path).copied() {
            return Err(taken(&file.path));
        }
    }
    if let Some(other) = manifest.0.keys().find(|path| !listed.iter().any(|file| file.path == **path)) {
        return Err(taken(other));
    }
    let verification = verification::of_copy(finished)?;
    // Whatever it came to: an older verdict beside the copy must not say more than is true now.
    write_verdict(finished, &verification)?;
    let exported = Exported {
        same_file_system: same_file_system(trial, finished),
        files: listed.len() as u64,
        bytes: listed.iter().map(|file| file.bytes).sum(),
        kept: listed.len() as u64,
        already: true,
        verification,
        copy: finished.to_owned(),
    };
    noted(trial, exported, at)
}

/// Puts the verdict into the copy. It speaks of this reading; whoever doubts it verifies again.
fn write_verdict(copy: &Path, verification: &Verification) -> Result<(), ProofError> {
    let path = copy.join(VERDICT);
    files::replace(&path, &document::bytes(&path, verification)?)
}

#[expect(clippy::disallowed_methods, reason = "a named, synchronised directory takes its final name, once")]
fn finish(partial: &Path, finished: &Path) -> Result<(), ProofError> {
    // A directory is never renamed over one that holds something, so a copy made meanwhile is not replaced.
    std::fs::rename(partial, finished).map_err(|error| io("rename to", finished, error))?;
    files::sync_parent(finished)
}

/// Leaves the note of the copy with the trial, under the next free number.
fn noted(trial: &Path, exported: Exported, at: Stamp) -> Result<Exported, ProofError> {
    let manifest = exported.copy.join(MANIFEST);
    let note = CopyNote {
        format: CopyNote::FORMAT.to_owned(),
        copy: exported.copy.display().to_string(),
        at,
        manifest: files::digest(&manifest)?.ok_or(ProofError::Missing { path: manifest })?.0,
        files: exported.files,
        whole: exported.verification.whole,
        holds: exported.verification.holds,
        same_file_system: exported.same_file_system,
    };
    let dir = trial.join(COPIES);
    fs_err::create_dir_all(&dir).map_err(|error| io("create", &dir, error))?;
    for number in 1..=NOTES_MAX {
        let path = dir.join(format!("{number:06}.json"));
        if path.exists() {
            continue;
        }
        match files::create(&path, &document::bytes(&path, &note)?) {
            Err(ProofError::Differs { .. }) => {}
            Err(other) => return Err(other),
            Ok(_) => return Ok(exported),
        }
    }
    Err(io("number another copy in", &dir, std::io::ErrorKind::StorageFull.into()))
}

/// Copies that a trial notes.
const NOTES_MAX: u32 = 999_999;

/// The last copy that the trial knows of; none where none was made, or its note cannot be read.
pub(crate) fn last_copy(trial: &Path) -> Option<CopyNote> {
    let notes = fs_err::read_dir(trial.join(COPIES)).ok()?;
    let last = notes
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .max()?;
    document::decode(&fs_err::read(last).ok()?).ok()
}

#[cfg(unix)]
pub(crate) fn same_file_system(trial: &Path, copy: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Some(fs_err::metadata(trial).ok()?.dev() == fs_err::metadata(copy).ok()?.dev())
}

#[cfg(not(unix))]
pub(crate) fn same_file_system(_trial: &Path, _copy: &Path) -> Option<bool> {
    None
}
