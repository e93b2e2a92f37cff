//! The first error that a trial kept: the step that was reached, the engine's own words, the recognised cause.

use std::path::{Path, PathBuf};

use pilote_machine::causes::recognise;
use pilote_spec::{EventLine, TrialEvent};
use serde::Serialize;

use crate::failure::Failure;

/// Where a trial failed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FirstError {
    /// The trial's name.
    pub trial: String,
    /// The step that was reached; none where the trial kept no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The error in the engine's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// The recognised cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The engine's own advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Reads it out of the trial's events. Among several writers the first by the wall clock counts.
///
/// # Errors
/// When the trial cannot be read.
pub(crate) fn first_error(dir: &Path) -> Result<FirstError, Failure> {
    // An engine that did not start leaves no trial.json, and its events are what is looked for.
    if !dir.join("events").is_dir() {
        let error = anyhow::anyhow!("{} is no trial: it has no events", dir.display());
        return Err(Failure::request("no-trial", error).hint("`pilote runs` lists the trials of a project"));
    }
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut first: Option<(u64, FirstError)> = None;
    let entries = fs_err::read_dir(dir.join("events")).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let Ok(text) = fs_err::read_to_string(entry.path()) else { continue };
        let mut wall_ms = 0;
        for line in text.lines().filter_map(|line| serde_json::from_str::<EventLine>(line).ok()) {
            match line.event {
                TrialEvent::Started { wall, .. } => wall_ms = wall.0.saturating_sub(line.at_us / 1000),
                TrialEvent::Failed { step, first_error, advice, .. } => {
                    let at = wall_ms + line.at_us / 1000;
                    if first.as_ref().is_none_or(|(known, _)| at < *known) {
                        let cause = recognise(&first_error).map(str::to_owned);
                        let found = FirstError {
                            trial: name.clone(),
                            step: Some(step),
                            first_error: Some(first_error),
                            cause,
                            advice,
                        };
                        first = Some((at, found));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(first.map(|(_, found)| found).unwrap_or(FirstError {
        trial: name,
        step: None,
        first_error: None,
        cause: None,
        advice: None,
    }))
}

/// The directory of the trial that was named: a path, a name below `runs/`, or `latest`. Trials whose engine never
/// started count here.
///
/// # Errors
/// When there is none.
pub(crate) fn named(root: &Path, folder: &Path, run: &Path) -> Result<PathBuf, Failure> {
    let runs = root.join("runs");
    let found = if run == Path::new("latest") {
        let entries = fs_err::read_dir(&runs).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(|path| path.join("events").is_dir()).max()
    } else {
        [folder.join(run), runs.join(run)].into_iter().find(|path| path.is_dir())
    };
    found.ok_or_else(|| {
        let error = anyhow::anyhow!("there is no trial `{}` below {}", run.display(), runs.display());
        Failure::request("no-trial", error).hint("`pilote runs` lists the trials of a project")
    })
}
