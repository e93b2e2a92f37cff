//! What a climb came to, kept in the project: format `pilote.check/1` inside `pilote.ladder/1`. Other parts ask here
//! whether the ladder passed on this very machine and its cards.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pilote_spec::{Digest, ProgramFacts, Stamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cards;
use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::verdict::{RungCode, RungReport, RungVerdict};

/// The format of a climb.
pub const CHECK_FORMAT: &str = "pilote.check/1";

/// The format of the file around it.
pub const LADDER_FORMAT: &str = "pilote.ladder/1";

/// The folder of the records, below the project.
pub const CHECKS: &str = "runs/.checks";

/// Which machine this is, without naming it: digests, and the cards' own identifiers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Digest over what the system calls itself: machine identifier and host name, or where there is neither, system,
    /// kernel and processor.
    pub machine: String,
    /// Identifiers of the cards, or their names where they have none; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<String>,
}

impl Identity {
    /// The machine that facts were copied from. Cards are in it once they were asked for.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let mut cards: Vec<String> =
            cards::all(facts).into_iter().map(|card| card.uuid.unwrap_or(card.name)).collect();
        cards.sort_unstable();
        Self { machine: machine_of(&facts.machine), cards }
    }
}

fn machine_of(evidence: &Evidence) -> String {
    let file = |path: &str| evidence.files.get(path).map(String::as_str).unwrap_or_default();
    let own = [file("etc/machine-id"), file("proc/sys/kernel/hostname")].concat();
    let text = if own.is_empty() {
        // A container image without an identifier: what tells machines apart at least by their kind.
        [file("etc/os-release"), file("proc/sys/kernel/osrelease"), file("proc/cpuinfo")].concat()
    } else {
        own
    };
    Digest::of(text.as_bytes()).to_string()
}

/// A climb, format `pilote.check/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Always `pilote.check/1`.
    pub format: String,
    /// When.
    pub checked: Stamp,
    /// On which machine; none where facts of a file were judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// By what.
    pub program: ProgramFacts,
    /// Digest of the project's configuration as read.
    pub config: Digest,
    /// The rung that it began with; none where that was the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RungCode>,
    /// The last rung that was asked for; none where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<RungCode>,
    /// Whether everything that was asked for passed.
    pub passed: bool,
    /// Every rung, in order.
    pub rungs: Vec<RungReport>,
}

impl Check {
    /// Whether the whole ladder was climbed, engine and items included.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.to.is_none() && RungCode::ALL.iter().all(|code| self.rungs.iter().any(|rung| rung.rung == *code))
    }

    /// The first rung that failed.
    #[must_use]
    pub fn failed(&self) -> Option<&RungReport> {
        self.rungs.iter().find(|rung| rung.verdict == RungVerdict::Failed)
    }
}

/// The file around a climb.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    format: String,
    /// Digest of the bytes of `check` as they stand.
    sha256: Digest,
    #[serde(borrow)]
    check: &'a RawValue,
}

/// Why a record cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Reading or writing failed.
    #[error("the record of the ladder {path} cannot be kept: {source}; look at room and permissions")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is damaged or of another format.
    #[error("{path} is no record of the ladder: {problem}; climb again with `pilote check`")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// Keeps a climb below `root`, the project; nothing is written over. `name` is the moment as a file's name.
///
/// # Errors
/// When it cannot be written.
pub fn keep(root: &Path, name: &str, check: &Check) -> Result<PathBuf, RecordError> {
    let folder = root.join(CHECKS);
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| RecordError::Io { path, source }
    };
    fs_err::create_dir_all(&folder).map_err(io(&folder))?;
    let broken =
        |error: serde_json::Error| RecordError::Damaged { path: folder.clone(), problem: error.to_string() };
    let text = serde_json::to_string(check).map_err(broken)?;
    let raw = RawValue::from_string(text).map_err(broken)?;
    let kept =
        Kept { format: LADDER_FORMAT.to_owned(), sha256: Digest::of(raw.get().as_bytes()), check: &raw };
    let text = serde_json::to_string(&kept).map_err(broken)? + "\n";
    for number in 0..1_000 {
        let name = if number == 0 { format!("{name}.json") } else { format!("{name}-{number}.json") };
        let path = folder.join(name);
        match fs_err::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io(&path))?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io(&path)(error)),
        }
    }
    let taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
    Err(RecordError::Io { path: folder, source: taken })
}

/// Reads a record again.
///
/// # Errors
/// When it is damaged or of another format.
pub fn read(path: &Path) -> Result<Check, RecordError> {
    let text =
        fs_err::read_to_string(path).map_err(|source| RecordError::Io { path: path.to_owned(), source })?;
    let damaged = |problem: String| RecordError::Damaged { path: path.to_owned(), problem };
    let kept: Kept<'_> = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if kept.format != LADDER_FORMAT {
        return Err(damaged(format!("its format is `{}`", kept.format)));
    }
    let seen = Digest::of(kept.check.get().as_bytes());
    if seen != kept.sha256 {
        return Err(damaged(format!("its digest is {seen}, and {} is written in it", kept.sha256)));
    }
    serde_json::from_str(kept.check.get()).map_err(|error| damaged(error.to_string()))
}

/// The last climb of the project at `root` that was begun on a machine before `moment`; none where there is none.
/// Records that cannot be read count for nothing.
#[must_use]
pub fn before(root: &Path, moment: Stamp) -> Option<Check> {
    let entries = fs_err::read_dir(root.join(CHECKS)).into_iter().flatten().filter_map(Result::ok);
    let climbs = entries.filter_map(|entry| read(&entry.path()).ok());
    climbs.filter(|check| check.checked <= moment).max_by_key(|check| check.checked)
}

/// How the ladder stands for a project on a machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It was never climbed.
    Never,
    /// It was climbed, and never on this machine with these cards.
    Elsewhere,
    /// The last climb here did not go all the way, or not everything passed.
    NotPassed {
        /// That climb.
        check: Box<Check>,
        /// Its file.
        path: PathBuf,
    },
    /// The last whole climb here passed.
    Passed {
        /// That climb.
        check: Box<Check>,
        /// Its file.
        path: PathBuf,
    },
}

/// How the ladder stands for the project at `root` on the machine `here`: the last climb here decides. Climbs that
/// were asked to end early are passed over unless they failed; records that cannot be read count for nothing.
///
/// # Errors
/// When the folder of the records is there and cannot be listed.
pub fn standing(root: &Path, here: &Identity) -> Result<Standing, RecordError> {
    let folder = root.join(CHECKS);
    let entries = match fs_err::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Standing::Never),
        Err(source) => return Err(RecordError::Io { path: folder, source }),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut climbs: Vec<(Check, PathBuf)> =
        paths.filter_map(|path| Some((read(&path).ok()?, path))).collect();
    if climbs.is_empty() {
        return Ok(Standing::Never);
    }
    climbs.retain(|(check, _)| check.identity.as_ref() == Some(here));
    climbs.sort_by_key(|(check, _)| check.checked);
    if climbs.is_empty() {
        return Ok(Standing::Elsewhere);
    }
    let counts = |(check, _): &&(Check, PathBuf)| check.is_whole() || !check.passed;
    match climbs.iter().rev().find(counts).or(climbs.last()) {
        Some((check, path)) if check.is_whole() && check.passed => {
            Ok(Standing::Passed { check: Box::new(check.clone()), path: path.clone() })
        }
        Some((check, path)) => Ok(Standing::NotPassed { check: Box::new(check.clone()), path: path.clone() }),
        None => Ok(Standing::Elsewhere),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_check(at: u64, machine: &str, to: Option<RungCode>, failed: Option<RungCode>) -> Check {
        let rungs =
            RungCode::ALL.iter().filter(|code| to.is_none_or(|to| **code <= to)).map(|code| RungReport {
                rung: *code,
                verdict: if failed == Some(*code) { RungVerdict::Failed } else { RungVerdict::Passed },
                findings: Vec::new(),
                took_ms: None,
            });
        Check {
            format: CHECK_FORMAT.to_owned(),
            checked: Stamp(at),
            identity: Some(Identity { machine: machine.to_owned(), cards: vec!["GPU-1".to_owned()] }),
            program: ProgramFacts { version: "0.1.0".to_owned(), digest: None },
            config: Digest::of(b"x"),
            from: None,
            to,
            passed: failed.is_none(),
            rungs: rungs.collect(),
        }
    }

    fn here(machine: &str) -> Identity {
        Identity { machine: machine.to_owned(), cards: vec!["GPU-1".to_owned()] }
    }

    #[test]
    fn the_last_whole_climb_on_this_machine_decides() {
        let root = tempfile::tempdir().unwrap();
        let stands = |machine: &str| standing(root.path(), &here(machine)).unwrap();
        assert_eq!(stands("a"), Standing::Never);
        keep(root.path(), "1", &a_check(1, "b", None, None)).unwrap();
        assert_eq!(stands("a"), Standing::Elsewhere);
        assert!(matches!(stands("b"), Standing::Passed { .. }));
        keep(root.path(), "2", &a_check(2, "b", Some(RungCode::System), None)).unwrap();
        assert!(
            matches!(stands("b"), Standing::Passed { .. }),
            "a short climb that passed takes nothing back"
        );
        keep(root.path(), "3", &a_check(3, "b", None, Some(RungCode::Cards))).unwrap();
        assert!(matches!(stands("b"), Standing::NotPassed { .. }));
        keep(root.path(), "3", &a_check(4, "b", None, None)).unwrap();
        assert!(matches!(stands("b"), Standing::Passed { path, .. } if path.ends_with("3-1.json")));
    }

    #[test]
    fn the_climb_before_a_moment_is_the_last_of_those_that_were_begun_by_then() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(before(root.path(), Stamp(9)), None);
        for (name, at) in [("1", 1), ("2", 5), ("3", 8)] {
            keep(root.path(), name, &a_check(at, "a", None, None)).unwrap();
        }
        assert_eq!(before(root.path(), Stamp(7)).map(|check| check.checked), Some(Stamp(5)));
        assert_eq!(before(root.path(), Stamp(0)), None);
    }

    #[test]
    fn another_card_is_another_machine() {
        let root = tempfile::tempdir().unwrap();
        keep(root.path(), "1", &a_check(1, "a", None, None)).unwrap();
        let other = Identity { cards: vec!["GPU-2".to_owned()], ..here("a") };
        assert_eq!(standing(root.path(), &other).unwrap(), Standing::Elsewhere);
    }

    #[test]
    fn a_record_of_version_1_is_still_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ladder-1.json");
        let check = read(&path).unwrap();
        assert_eq!((check.format.as_str(), check.passed, check.is_whole()), (CHECK_FORMAT, true, false));
        assert_eq!(check.rungs[0].rung, RungCode::Project);
    }

    #[test]
    fn a_damaged_record_says_so_and_counts_for_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = keep(root.path(), "1", &a_check(1, "a", None, None)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap().replacen("\"passed\":true", "\"passed\":false", 1);
        std::fs::write(&path, text).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("its digest is"));
        assert_eq!(standing(root.path(), &here("a")).unwrap(), Standing::Never);
    }
}
