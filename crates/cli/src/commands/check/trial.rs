//! The first error that a trial kept: the step that was reached, the engine's own words, the recognised cause, and the
//! rung that looks at it.

use std::path::{Path, PathBuf};

use pilote_machine::causes;
use pilote_machine::verdict::RungCode;
use serde::Serialize;

use crate::failure::Failure;

/// Where a trial failed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FirstError {
    /// The trial's name.
    pub trial: String,
    /// The rung that looks at it, which the ladder begins with; none where the trial kept no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<RungCode>,
    /// What the trial kept.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// What a trial kept of its first error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Kept {
    /// The step that was reached.
    pub step: String,
    /// The error in the engine's own words.
    pub first_error: String,
    /// The recognised cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The engine's own advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Reads it out of the trial's events. What an older trial did not note is recognised now.
///
/// # Errors
/// When the trial cannot be read.
pub(crate) fn first_error(dir: &Path) -> Result<FirstError, Failure> {
    // An engine that did not start leaves no trial.json, and its events are what is looked for.
    if !dir.join("events").is_dir() {
        let error = anyhow::anyhow!("{} is no trial: it has no events", dir.display());
        return Err(Failure::request("no-trial", error).hint("`pilote runs` lists the trials of a project"));
    }
    let trial = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(found) = pilote_proof::first_error(dir) else {
        return Ok(FirstError { trial, rung: None, kept: None });
    };
    let cause = found.cause.or_else(|| causes::recognise(&found.first_error).map(str::to_owned));
    let noted = found.rung.as_deref().and_then(of_code);
    let rung = noted
        .or_else(|| cause.as_deref().map(causes::rung_of))
        .unwrap_or_else(|| causes::rung_of_step(&found.step));
    let kept = Kept { step: found.step, first_error: found.first_error, cause, advice: found.advice };
    Ok(FirstError { trial, rung: Some(rung), kept: Some(kept) })
}

/// The rung of a code; none for one of a later version.
pub(crate) fn of_code(code: &str) -> Option<RungCode> {
    RungCode::ALL.iter().copied().find(|rung| rung.code() == code)
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
