//! What must be in a place: told by the lists of a bag, by the list of a copy of the first version, or, for a trial
//! that has none, by where it lies; and the comparison of every file with its digest.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilote_spec::{CopyState, Digest};

use crate::algorithm::{Algorithm, Digests};
use crate::bag::{self, Expected, is_of_the_system};
use crate::collection::BALANCE;
use crate::document;
use crate::error::ProofError;
use crate::export::is_left_out;
use crate::files::{Found, Listing};
use crate::finding::{FindingCode, Findings};
use crate::lookup::LOOKUP;
use crate::manifest::{MANIFEST, Manifest};
use crate::results::{REFUSED, RESULTS};
use crate::shelf::Shelf;
use crate::trial_dir::TRIAL;
use crate::verification::{Sample, Subject, VERDICT, Verification};

/// Names of files beside the payload of a bag that Pilote wrote.
const TAGS: [&str; 3] = [bag::DECLARATION, "bag-info.txt", VERDICT];

/// The list of the tag files, which a bag may lack and a copy of ours never does.
const TAG_LIST: &str = "tagmanifest-sha256.txt";

/// What is in a place and what must be.
pub(crate) struct Layout {
    /// What the place is.
    pub subject: Subject,
    /// Where the trial lies below it: nothing, or the folder of a bag's payload.
    pub below: &'static str,
    /// The files that are listed.
    pub expected: Expected,
    /// The files that count, with their lengths.
    pub files: Vec<Found>,
}

/// Files whose digests are compared with a list, for whoever would read them once more.
#[derive(Clone, Copy)]
pub(crate) struct ListedFiles<'l> {
    /// Every listed file that is there, with its digests.
    pub files: &'l BTreeMap<String, Digests>,
    /// Where the trial lies among them: nothing, or a folder with its `/`.
    pub below: &'l str,
}

/// Tells what is in a place and reads its lists. What is wrong is a finding.
pub(crate) fn layout(
    shelf: &Shelf,
    listing: &Listing,
    with_verdict: bool,
    findings: &mut Findings,
) -> Result<Layout, ProofError> {
    let names = || listing.files.iter().map(|file| file.path.as_str());
    let there = |path: &str| names().any(|name| name == path);
    if bag::is_bag(names()) && !there(TRIAL) {
        let all: Vec<&Found> = listing.files.iter().chain(&listing.dotted).collect();
        let expected = bag::expected(shelf, &all, findings)?;
        let ours = all.iter().any(|file| file.path.strip_prefix(bag::PAYLOAD) == Some(TRIAL));
        let mut layout = Layout {
            subject: if ours { Subject::Copy } else { Subject::Bag },
            below: if ours { bag::PAYLOAD } else { "" },
            files: all.iter().map(|file| (*file).clone()).filter(|file| file.path != VERDICT).collect(),
            expected,
        };
        if ours {
            layout.strangers(&all, findings);
            verdict(shelf, with_verdict, findings)?;
        }
        return Ok(layout);
    }
    let files = listing.files.iter().filter(|file| !is_left_out(&file.path)).cloned().collect();
    let mut layout = Layout { subject: Subject::Trial, below: "", expected: Expected::default(), files };
    if !there(MANIFEST) {
        without_list(shelf.place(), &there, findings);
        for stranger in listing.dotted.iter().filter(|_| there(TRIAL)) {
            findings.add(FindingCode::StrangerFile, &stranger.path, "it is no part of what was verified");
        }
        return Ok(layout);
    }
    layout.subject = Subject::Copy;
    layout.first_version(shelf, listing, findings)?;
    verdict(shelf, with_verdict, findings)?;
    Ok(layout)
}

impl Layout {
    /// Files beside the payload that no export writes. The RFC allows them; a copy of ours has none.
    fn strangers(&mut self, all: &[&Found], findings: &mut Findings) {
        if !all.iter().any(|file| file.path == TAG_LIST) {
            findings.add(FindingCode::FileAbsent, TAG_LIST, "every export writes it");
            self.expected.absent.push(TAG_LIST.to_owned());
        }
        for path in all.iter().map(|file| file.path.as_str()).filter(|path| is_tag(path)) {
            // Each of these is named by the list of the tag files, or a changed one would go unseen.
            if !path.starts_with("tagmanifest-") && path != VERDICT && !self.expected.files.contains_key(path)
            {
                findings.add(FindingCode::FileExtra, path, format!("{TAG_LIST} does not name it"));
                self.expected.extra.push(path.to_owned());
            }
        }
        for path in all.iter().map(|file| file.path.as_str()) {
            if path.starts_with(bag::PAYLOAD) || is_tag(path) {
                continue;
            }
            if is_of_the_system(path) {
                findings.add(FindingCode::StrangerFile, path, "it is no part of what was verified");
            } else {
                findings.add(FindingCode::FileExtra, path, "no export writes it");
                self.expected.extra.push(path.to_owned());
            }
        }
    }

    /// The one list of a copy of the first version.
    fn first_version(
        &mut self,
        shelf: &Shelf,
        listing: &Listing,
        findings: &mut Findings,
    ) -> Result<(), ProofError> {
        let text = String::from_utf8(shelf.bytes(MANIFEST)?.unwrap_or_default());
        let text = text.map_err(|_| "it is not UTF-8".to_owned());
        let listed = match text.and_then(|text| Manifest::decode(&text).map_err(|error| error.to_string())) {
            Ok(Manifest(listed)) => listed,
            Err(why) => {
                findings.add(FindingCode::ManifestUnreadable, MANIFEST, why);
                self.expected.absent.push(MANIFEST.to_owned());
                return Ok(());
            }
        };
        let there: BTreeMap<&str, &Found> =
            listing.files.iter().chain(&listing.dotted).map(|file| (file.path.as_str(), file)).collect();
        for (path, digest) in &listed {
            if there.contains_key(path.as_str()) {
                let digests = [(Algorithm::Sha256, digest.to_string())].into();
                self.expected.files.insert(path.clone(), digests);
            } else {
                findings.add(FindingCode::FileAbsent, path, "");
                self.expected.absent.push(path.clone());
            }
        }
        for path in there.keys().filter(|path| !listed.contains_key(**path) && !is_left_out(path)) {
            if is_of_the_system(path) {
                findings.add(FindingCode::StrangerFile, *path, "it is no part of what was verified");
            } else {
                findings.add(FindingCode::FileExtra, *path, "");
                self.expected.extra.push((*path).to_owned());
            }
        }
        Ok(())
    }

    /// What the criterion about a copy rests on, with the files that were found damaged.
    pub(crate) fn state(&self, damaged: Vec<String>) -> CopyState {
        if self.subject == Subject::Trial {
            return CopyState::Unknown;
        }
        let mut files = self.expected.absent.clone();
        files.extend(damaged);
        files.extend(self.expected.extra.iter().cloned());
        if files.is_empty() {
            CopyState::Whole { files: self.expected.files.len() as u64 }
        } else {
            CopyState::Damaged { files }
        }
    }
}

/// Whether a path is a file beside the payload that an export writes.
fn is_tag(path: &str) -> bool {
    let list = path.strip_prefix("tag").unwrap_or(path).starts_with("manifest-") && path.ends_with(".txt");
    TAGS.contains(&path) || (list && !path.contains('/'))
}

/// Reads the verdict that an export left. It is not believed; but a copy that lost or changed it is not as it was made.
fn verdict(shelf: &Shelf, wanted: bool, findings: &mut Findings) -> Result<(), ProofError> {
    match shelf.bytes(VERDICT)? {
        Some(bytes) => {
            if let Err(error) = document::decode::<Verification>(&bytes) {
                findings.add(FindingCode::VerdictWrong, VERDICT, error);
            }
        }
        None if wanted => findings.add(FindingCode::VerdictWrong, VERDICT, "it is missing"),
        None => {}
    }
    Ok(())
}

/// A trial has no list of its files, so what must be there is told from where it lies and what is beside it.
fn without_list(dir: &Path, there: &dyn Fn(&str) -> bool, findings: &mut Findings) {
    if !there(TRIAL) {
        return;
    }
    let place = fs_err::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let in_project = place.parent().is_some_and(|runs| {
        runs.ends_with("runs") && runs.parent().is_some_and(|root| root.join("config/pilote.json").is_file())
    });
    if there(VERDICT) {
        let detail = "the verdict of a copy is here, and its list of files is not";
        findings.add(FindingCode::ListAbsent, MANIFEST, detail);
    } else if !in_project {
        let detail = "this is neither a trial below its project's runs/ nor a copy with a list of its files, so \
            nothing says that all of it is here; `pilote export` makes a copy that can be verified";
        findings.add(FindingCode::ListAbsent, MANIFEST, detail);
    }
    if let Some(found) = [RESULTS, REFUSED, LOOKUP].into_iter().find(|path| there(path))
        && !there(BALANCE)
    {
        let detail = format!(
            "{found} is here and the balance that closes it is not: run the trial's last command again, or read \
             another copy"
        );
        findings.add(FindingCode::BalanceAbsent, BALANCE, detail);
    }
}

/// What comparing files with their digests came to.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// What was wrong, by path.
    pub wrong: Vec<(FindingCode, String, String)>,
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Reads files and compares each with every digest that is listed for it, on several threads.
pub(crate) fn compare(
    shelf: &Shelf,
    files: &BTreeMap<String, Digests>,
    sample: Option<Sample>,
    threads: usize,
) -> Compared {
    let chosen: Vec<(&String, &Digests)> =
        files.iter().filter(|(path, _)| sample.is_none_or(|sample| sample.takes(path))).collect();
    let (next, compared) = (AtomicUsize::new(0), Mutex::new(Compared::default()));
    let work = || {
        let mut own = Compared::default();
        while let Some((path, expected)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            one(shelf, path, expected, &mut own);
        }
        let mut all = compared.lock().unwrap_or_else(PoisonError::into_inner);
        all.wrong.append(&mut own.wrong);
        all.files += own.files;
        all.bytes += own.bytes;
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(chosen.len()).min(shelf.threads_max()) {
            scope.spawn(work);
        }
        work();
    });
    let mut compared = compared.into_inner().unwrap_or_else(PoisonError::into_inner);
    compared.wrong.sort_by(|a, b| a.1.cmp(&b.1));
    compared
}

fn one(shelf: &Shelf, path: &str, expected: &Digests, compared: &mut Compared) {
    let wanted: Vec<Algorithm> = expected.keys().copied().collect();
    match shelf.digests(path, &wanted) {
        Ok(Some((seen, bytes))) => {
            compared.files += 1;
            compared.bytes += bytes;
            let other = expected.iter().find(|(algorithm, digest)| seen.get(algorithm) != Some(digest));
            if let Some((algorithm, digest)) = other {
                let seen = seen.get(algorithm).map_or("none", String::as_str);
                let detail = format!("{algorithm} {seen}, listed is {digest}");
                compared.wrong.push((FindingCode::FileDiffers, path.to_owned(), detail));
            }
        }
        Ok(None) => compared.wrong.push((FindingCode::FileAbsent, path.to_owned(), String::new())),
        // A sector that cannot be read is what verification is for: it is said, and the rest is read.
        Err(error) => compared.wrong.push((FindingCode::Unreadable, path.to_owned(), error.to_string())),
    }
}

impl Sample {
    /// Whether a name belongs to the sample: a share of all names, another one with every seed.
    pub(crate) fn takes(self, name: &str) -> bool {
        let digest = Digest::of(format!("{:016x} {name}", self.seed).as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_bytes()[..8]);
        // The share of all values below the bound; a float tells it finely enough.
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
        let drawn = u64::from_be_bytes(first) as f64 / u64::MAX as f64;
        drawn < self.share
    }
}
