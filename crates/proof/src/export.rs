//! A copy of a trial at a place of the user's, read again from there: a bag (RFC 8493) that is also an RO-Crate, in a
//! folder, an object store or one archive.
//!
//! On a disk, a copy is built under a name that ends in `.partial`, each file synchronised; it is verified with nothing but
//! itself, and only a copy that was found whole gets its verdict and its name. So an interrupted export never looks
//! finished, and the next one goes on where it stopped: files that are there with the right digest stay. An object
//! store has no renaming; there a copy is built in its place, and its verdict is put last.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pilote_spec::{Digest, Stamp};
use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::archive::ARCHIVE;
use crate::bag::PAYLOAD;
use crate::collection::read_balance;
use crate::contents::{self, Content};
use crate::decision::DECISIONS;
use crate::description::{DESCRIPTION, describe};
use crate::document::{self, Document};
use crate::error::{ProofError, io};
use crate::files::{self, Found};
use crate::finding::Findings;
use crate::journal::Journal;
use crate::making;
use crate::manifest::{MANIFEST, Manifest};
use crate::receipt::RECEIPTS;
use crate::shelf::Shelf;
use crate::spot::{Destination, Spot};
use crate::trial_dir::TrialDir;
use crate::verification::{self, Thoroughness, VERDICT, Verification};

/// What the name of a copy ends in until it is whole and verified.
pub(crate) const PARTIAL: &str = ".partial";

/// Where the trial keeps what it knows of its copies.
const COPIES: &str = "copies";

/// Where a copy carries inputs, below its payload.
pub(crate) const INPUTS: &str = "inputs/";

/// Views and verdicts: made anew from the facts wherever they are, so they are no part of what is copied.
const NOT_COPIED: [&str; 4] = ["report.html", "report.md", VERDICT, MANIFEST];

/// Copies of one trial that was not finished, at one destination.
const UNFINISHED_MAX: u32 = 1_000;

/// Copies that a trial notes.
const NOTES_MAX: u32 = 999_999;

/// What is to be copied, where to and how.
#[derive(Debug, Clone)]
pub struct Export<'e> {
    /// The trial.
    pub trial: &'e Path,
    /// The folder, or place in an object store, in which the copy gets a place of the trial's name.
    pub destination: Destination,
    /// When: it labels the copy and the note that stays with the trial.
    pub at: Stamp,
    /// Whether the inputs go along.
    pub with_inputs: bool,
    /// Whether every file is listed by its SHA-512 as well.
    pub sha512: bool,
    /// Whether the copy is one archive rather than a folder.
    pub archive: bool,
    /// The report for people, made for this copy.
    pub report: Option<&'e str>,
    /// Files that are copied, and read again, at once.
    pub threads: usize,
}

impl<'e> Export<'e> {
    /// A plain export of a trial.
    #[must_use]
    pub fn new(trial: &'e Path, destination: impl Into<Destination>, at: Stamp) -> Self {
        Self {
            trial,
            destination: destination.into(),
            at,
            with_inputs: false,
            sha512: false,
            archive: false,
            report: None,
            threads: Thoroughness::default().threads,
        }
    }

    /// The digests that every file is listed by.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let second = self.sha512.then_some(Algorithm::Sha512);
        std::iter::once(Algorithm::Sha256).chain(second).collect()
    }

    fn thoroughness(&self) -> Thoroughness {
        Thoroughness { sample: None, threads: self.threads }
    }
}

/// What an export came to.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The copy; still named `.partial` when it was not found whole.
    pub copy: PathBuf,
    /// Files of the copy's payload.
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

/// Copies the trial to a folder of its name below `destination` and reads the copy again; see [`export_as`].
///
/// # Errors
/// As [`export_as`].
pub fn export(
    trial: &Path,
    destination: impl Into<Destination>,
    at: Stamp,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Exported, ProofError> {
    export_as(&Export::new(trial, destination, at), watch)
}

/// Copies a trial as asked for and reads the copy again from its destination. `watch` is told the bytes that are done,
/// out of how many.
///
/// # Errors
/// When the trial changes meanwhile, holds something that no copy can hold, or `destination` is taken by
/// something else; and when reading or writing fails. A copy that was read again and found wanting is no error:
/// see [`Exported::verification`].
pub fn export_as(export: &Export<'_>, watch: &mut dyn FnMut(u64, u64)) -> Result<Exported, ProofError> {
    // A copy is no trial: what is wanted elsewhere of it is made with any program, and verified there.
    let source = TrialDir::on(Shelf::folder(export.trial), export.trial)?;
    let listed = contents::of_trial(export.trial)?;
    if let Destination::Folder(folder) = &export.destination {
        refuse_inside(export.trial, folder)?;
    }
    let project = project_of(export.trial);
    let mut contents =
        contents::gather(&source, &listed, project.as_deref(), export.with_inputs, export.report)?;
    // A balance that cannot be read is a finding of the copy.
    let balance = read_balance(export.trial).unwrap_or(None);
    let journal = Journal::read(export.trial)?;
    let described = describe(&source.trial, balance.as_ref(), &journal, &contents);
    let described = described.map_err(|error| ProofError::Report { why: error.to_string() })?;
    contents.push(Content::made(DESCRIPTION, described));
    contents.sort_by(|a, b| a.path.cmp(&b.path));
    contents::refuse_unsafe(&contents)?;
    if let Destination::Folder(folder) = &export.destination {
        fs_err::create_dir_all(folder).map_err(|error| io("create", folder, error))?;
    }
    let exporting = Exporting { export, source: &source, listed: &listed, contents: &contents };
    if matches!(read_balance(export.trial), Ok(None)) {
        return exporting.unfinished(watch);
    }
    let finished = exporting.named(&source.trial.name);
    if finished.is_there(export.archive)? {
        exporting.again(&finished)
    } else {
        exporting.anew(finished, watch)
    }
}

/// Whether a path of a trial or a copy is a view or a verdict, which no list of files names.
pub(crate) fn is_left_out(path: &str) -> bool {
    let below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    NOT_COPIED.contains(&path) || [COPIES, DECISIONS, RECEIPTS].into_iter().any(below)
}

/// The project that a trial lies in; none for a copy elsewhere.
fn project_of(trial: &Path) -> Option<PathBuf> {
    let trial = fs_err::canonicalize(trial).ok()?;
    let runs = trial.parent().filter(|runs| runs.ends_with("runs"))?;
    runs.parent().filter(|root| root.join("config/pilote.json").is_file()).map(Path::to_owned)
}

fn is_there(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok()
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

/// A list of files as it stands in a copy, and the digests in it by path.
type Listed = (Vec<u8>, BTreeMap<String, String>);

/// An export with everything that it copies.
struct Exporting<'e> {
    export: &'e Export<'e>,
    source: &'e TrialDir,
    listed: &'e [Found],
    contents: &'e [Content],
}

impl Exporting<'_> {
    /// Where a copy of this name lies.
    fn named(&self, name: &str) -> Spot {
        let ending = if self.export.archive { ARCHIVE } else { "" };
        self.export.destination.at(&format!("{name}{ending}"))
    }

    /// A trial that goes on keeps its own name for the copy of its end: what is there of it now goes beside, numbered.
    fn unfinished(&self, watch: &mut dyn FnMut(u64, u64)) -> Result<Exported, ProofError> {
        let mut taken = None;
        for number in 1..=UNFINISHED_MAX {
            let finished = self.named(&format!("{}.unfinished-{number}", self.source.trial.name));
            if !finished.is_there(self.export.archive)? {
                return self.anew(finished, watch);
            }
            match self.again(&finished) {
                Err(error @ ProofError::DestinationTaken { .. }) => taken = Some(error),
                other => return other,
            }
        }
        let path = self.export.destination.shown();
        Err(taken.unwrap_or(ProofError::DestinationTaken { path, first: String::new() }))
    }

    /// Makes a copy where none is, beginning with what an interrupted export left.
    fn anew(&self, finished: Spot, watch: &mut dyn FnMut(u64, u64)) -> Result<Exported, ProofError> {
        let partial = finished.partial(PARTIAL);
        let name = &self.source.trial.name;
        let made = if self.export.archive {
            making::archive(self.export, name, self.contents, &partial, watch)?
        } else {
            making::folder(self.export, name, self.contents, &partial, watch)?
        };
        if contents::of_trial(self.export.trial)? != self.listed {
            return Err(ProofError::SourceChanged { path: self.export.trial.to_owned() });
        }
        let verification = self.read_again(&partial)?;
        let mut copy = partial;
        if verification.whole {
            self.write_verdict(&copy, &finished, &verification)?;
            if let (Some(partial), Some(finished)) = (copy.disk(), finished.disk()) {
                finish(partial, finished)?;
            }
            copy = finished;
        }
        self.noted(&made.manifest, made.kept, false, verification, &copy)
    }

    fn read_again(&self, copy: &Spot) -> Result<Verification, ProofError> {
        verification::of_made(copy, self.export.archive, &self.export.thoroughness())
    }

    /// A copy of that name is there: one of the same state is read again, anything else is refused.
    fn again(&self, finished: &Spot) -> Result<Exported, ProofError> {
        let taken =
            |first: &str| ProofError::DestinationTaken { path: finished.shown(), first: first.to_owned() };
        let (text, listed) = self.listed_in(finished)?.ok_or_else(|| taken(MANIFEST))?;
        let own: BTreeSet<&str> = self.contents.iter().map(|content| content.path.as_str()).collect();
        let of_trial = |content: &&Content| content.is_of_the_trial();
        for content in self.contents.iter().filter(of_trial) {
            let short = &content.path[PAYLOAD.len()..];
            let there = listed.get(&content.path).or_else(|| listed.get(short));
            let digest = files::digest(&self.export.trial.join(short))?;
            if there.is_none() || digest.map(|(digest, _)| digest.to_string()).as_ref() != there {
                return Err(taken(short));
            }
        }
        // Inputs that are asked for and not there, or a file that the trial does not have, make it another copy.
        let stranger = |path: &&String| !own.contains(path.as_str()) && !is_of_an_export(path);
        let lacking = |path: &&str| path[PAYLOAD.len()..].starts_with(INPUTS) && !listed.contains_key(*path);
        let bag = listed.keys().any(|path| path.starts_with(PAYLOAD));
        if bag && let Some(other) = listed.keys().find(stranger) {
            return Err(taken(other));
        }
        if let Some(lacking) = own.iter().find(|path| lacking(path)) {
            return Err(taken(lacking));
        }
        let verification = self.read_again(finished)?;
        // Whatever it came to: an older verdict beside the copy must not say more than is true now.
        self.write_verdict(finished, finished, &verification)?;
        let kept = self.contents.len() as u64;
        self.noted(&text, kept, true, verification, finished)
    }

    /// The list of files of a copy that is there, as text and by path; none where it has none that can be read.
    fn listed_in(&self, copy: &Spot) -> Result<Option<Listed>, ProofError> {
        // Something that is no folder at all has no list.
        if !self.export.archive && copy.disk().is_some_and(|path| !path.is_dir()) {
            return Ok(None);
        }
        let text = copy.shelf(self.export.archive, &mut Findings::default())?.0.bytes(MANIFEST)?;
        let Some(text) = text else { return Ok(None) };
        let Some(manifest) = std::str::from_utf8(&text).ok().and_then(|text| Manifest::decode(text).ok())
        else {
            return Ok(None);
        };
        let listed =
            manifest.0.into_iter().map(|(path, digest)| (path.replace("%25", "%"), digest.to_string()));
        let listed = listed.collect();
        Ok(Some((text, listed)))
    }

    /// Puts the verdict beside what it is about: into a folder, next to an archive. It speaks of this reading; whoever
    /// doubts it verifies again.
    fn write_verdict(
        &self,
        copy: &Spot,
        finished: &Spot,
        verification: &Verification,
    ) -> Result<(), ProofError> {
        let bytes = document::bytes(&finished.shown(), verification)?;
        if self.export.archive {
            finished.replace_beside(&format!(".{VERDICT}"), &bytes)
        } else {
            copy.replace(VERDICT, &bytes)
        }
    }

    /// Leaves the note of the copy with the trial, under the next free number.
    fn noted(
        &self,
        manifest: &[u8],
        kept: u64,
        already: bool,
        verification: Verification,
        copy: &Spot,
    ) -> Result<Exported, ProofError> {
        let exported = Exported {
            same_file_system: copy.disk().and_then(|copy| same_file_system(self.export.trial, copy)),
            files: self.contents.len() as u64,
            bytes: self.contents.iter().map(Content::bytes).sum(),
            kept,
            already,
            verification,
            copy: copy.shown(),
        };
        let note = CopyNote {
            format: CopyNote::FORMAT.to_owned(),
            copy: exported.copy.display().to_string(),
            at: self.export.at,
            manifest: Digest::of(manifest),
            files: exported.files,
            whole: exported.verification.whole,
            holds: exported.verification.holds,
            same_file_system: exported.same_file_system,
        };
        let dir = self.export.trial.join(COPIES);
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
}

/// Whether a path of a copy's payload is one that an export adds beside the trial's own files.
pub(crate) fn is_of_an_export(path: &str) -> bool {
    let below = path.strip_prefix(PAYLOAD).unwrap_or(path);
    below.starts_with("project/")
        || below.starts_with(INPUTS)
        || ["report.html", "sample.jsonl", DESCRIPTION].contains(&below)
}

#[expect(clippy::disallowed_methods, reason = "a named, synchronised copy takes its final name, once")]
fn finish(partial: &Path, finished: &Path) -> Result<(), ProofError> {
    let failed = |error| io("rename to", finished, error);
    // A folder is never renamed over one that holds something, so a copy made meanwhile is not replaced. A file would
    // be: it gets a second name first, where the file system has such.
    if partial.is_file() && fs_err::hard_link(partial, finished).is_ok() {
        fs_err::remove_file(partial).map_err(failed)?;
    } else if is_there(finished) && !finished.is_dir() {
        return Err(ProofError::DestinationTaken { path: finished.to_owned(), first: String::new() });
    } else {
        std::fs::rename(partial, finished).map_err(failed)?;
    }
    files::sync_parent(finished)
}

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
