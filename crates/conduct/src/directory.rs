//! The directory of a trial: made new, never used twice.

use std::path::{Path, PathBuf};

use pilote_spec::{Stamp, TrialKind};

use crate::error::ConductError;

/// Trials of one kind that may begin within one second before it is given up.
const TRIES_MAX: u32 = 100;

/// Makes `runs/2026-11-30T181502Z-pilot` below `root`; a second trial of the same second gets `-2` and so on. The
/// directory is durable on return, so that nothing inside it can be more durable than itself.
pub(crate) fn make(root: &Path, wall: Stamp, kind: TrialKind) -> Result<(PathBuf, String), ConductError> {
    let runs = root.join("runs");
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ConductError::Directory { path, source }
    };
    fs_err::create_dir_all(&runs).map_err(failed(&runs))?;
    sync(root).map_err(failed(&runs))?;
    let base = name(wall, kind);
    for number in 1..=TRIES_MAX {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let path = runs.join(&name);
        match fs_err::create_dir(&path) {
            Ok(()) => {
                sync(&runs).map_err(failed(&path))?;
                return Ok((path, name));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path)(error)),
        }
    }
    let taken = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "every name of this second is taken");
    Err(failed(&runs.join(base))(taken))
}

/// `2026-11-30T181502Z-pilot`: sorts by time, and is a name on every system.
fn name(wall: Stamp, kind: TrialKind) -> String {
    let kind = match kind {
        TrialKind::Pilot => "pilot",
        TrialKind::Campaign => "campaign",
    };
    let time = i64::try_from(wall.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let time = time.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{}-{kind}", time.strftime("%Y-%m-%dT%H%M%SZ"))
}

#[cfg(unix)]
fn sync(dir: &Path) -> std::io::Result<()> {
    fs_err::File::open(dir)?.sync_all()
}

/// Other systems make directory entries durable by themselves, and do not open directories as files.
#[cfg(not(unix))]
fn sync(_dir: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_trials_of_one_second_get_directories_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let wall = Stamp(1_796_062_502_999);
        let first = make(root.path(), wall, TrialKind::Pilot).unwrap().1;
        assert_eq!(first, "2026-11-30T181502Z-pilot");
        assert_eq!(make(root.path(), wall, TrialKind::Pilot).unwrap().1, "2026-11-30T181502Z-pilot-2");
        assert_eq!(make(root.path(), wall, TrialKind::Campaign).unwrap().1, "2026-11-30T181502Z-campaign");
    }

    #[test]
    fn a_file_in_place_of_the_runs_directory_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs_err::write(root.path().join("runs"), "").unwrap();
        let message = make(root.path(), Stamp(0), TrialKind::Pilot).unwrap_err().to_string();
        assert!(message.contains("runs") && message.contains("cannot be made"), "{message}");
    }
}
