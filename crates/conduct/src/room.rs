//! Room on disk for a trial, estimated before its engine starts: a disk that fills up after a day costs the day.

use std::path::Path;

use pilote_spec::{OutputSpec, Project};

use crate::error::ConductError;

/// Bytes that the ledger keeps of an outcome beside its output, as the benchmark of the ledger holds it to.
const RECORD: u64 = 200;

/// Bytes of a line of the results beside its output, and of the entry by which its identifier is found.
const LINE: u64 = 180 + 16;

/// Bytes of one output where the deliverable does not say how long it is: a text of some three hundred words.
const TEXT: u64 = 2_000;

/// What a trial will write, beyond its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Records, with outputs that stand in them.
    pub(crate) records: u64,
    /// Outputs that lie beside the records.
    pub(crate) payloads: u64,
    /// The results files.
    pub(crate) results: u64,
}

impl Room {
    /// Estimates the room for `items` outcomes. Files that an engine makes may have any size and are left out.
    pub(crate) fn of(project: &Project, items: u64) -> Self {
        let (record, payload, result) = match &project.output {
            OutputSpec::Category { categories } => {
                let longest = categories.iter().map(|category| category.name.len()).max().unwrap_or(0) as u64;
                let scores = 30 * categories.len() as u64;
                (longest + scores, 0, longest + scores)
            }
            // Four bytes a component in the payload, and its decimals with a comma in the results.
            OutputSpec::Vector { width } => (60, 4 * u64::from(*width), 13 * u64::from(*width)),
            OutputSpec::Text {} | OutputSpec::Json { .. } => (TEXT, 0, TEXT),
            OutputSpec::File { .. } => (120, 0, 120),
        };
        let of_all = |bytes: u64| items.saturating_mul(bytes);
        Self { records: of_all(RECORD + record), payloads: of_all(payload), results: of_all(LINE + result) }
    }

    pub(crate) fn total(self) -> u64 {
        self.records.saturating_add(self.payloads).saturating_add(self.results)
    }

    /// Compares with what is free where the trial lies; a system that does not say is not asked twice.
    pub(crate) fn check(self, dir: &Path) -> Result<(), ConductError> {
        self.fits(dir, free(dir))
    }

    fn fits(self, dir: &Path, free: Option<u64>) -> Result<(), ConductError> {
        match free {
            Some(free) if free < self.total() => Err(ConductError::NoRoom {
                dir: dir.to_owned(),
                free,
                needed: self.total(),
                records: self.records,
                payloads: self.payloads,
                results: self.results,
            }),
            _ => Ok(()),
        }
    }
}

/// Bytes that this user may still write.
#[cfg(unix)]
fn free(dir: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(dir).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(not(unix))]
fn free(_dir: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(output: &serde_json::Value) -> Project {
        serde_json::from_value(serde_json::json!({
            "format": "pilote.project/1", "name": "n",
            "pilot": {"inputs": {"directory": "data/pilote"}, "count": 12},
            "output": output,
            "engine": {"kind": "builtin", "task": "embed", "model": ["path:m"]}
        }))
        .unwrap()
    }

    #[test]
    fn a_million_vectors_need_their_payload_and_their_decimals() {
        let room = Room::of(&project(&serde_json::json!({"kind": "vector", "width": 384})), 1_000_000);
        assert_eq!(room.payloads, 1_536_000_000);
        assert_eq!((room.records, room.results), (260_000_000, 5_188_000_000));
    }

    #[test]
    fn a_disk_without_room_is_refused_with_the_figures() {
        let room = Room::of(&project(&serde_json::json!({"kind": "vector", "width": 384})), 1_000_000);
        let dir = Path::new("runs/2026-11-30T181502Z-campaign");
        assert!(room.fits(dir, Some(room.total())).is_ok() && room.fits(dir, None).is_ok());
        let error = room.fits(dir, Some(3_000_000_000)).unwrap_err();
        assert_eq!((error.code(), error.exit()), ("no-room", 3));
        assert_eq!(
            error.to_string(),
            "`runs/2026-11-30T181502Z-campaign` lies where 3.0 GB are free and the trial needs some 7.0 GB (records 0.3, \
             outputs beside them 1.5, results 5.2); nothing was computed. Make room, or put runs/ on a larger disk"
        );
    }

    #[test]
    fn the_disk_of_the_tests_has_room_for_a_dozen_items() {
        let room = Room::of(&project(&serde_json::json!({"kind": "text"})), 12);
        assert!(room.check(&std::env::temp_dir()).is_ok());
    }
}
