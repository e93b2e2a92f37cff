//! What a copy carries: the files of the trial as they are, and what somebody elsewhere needs beside them. Every name
//! among them can be kept on any system.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pilote_corpus::Source as Corpus;
use pilote_spec::{Digest, Inputs, Item, Location, Trial};

use crate::bag::{PAYLOAD, is_of_the_system, twin_key};
use crate::error::{ProofError, io};
use crate::export::{INPUTS, is_left_out};
use crate::files::{self, Found, Listing};
use crate::trial_dir::TrialDir;

/// A project's own files that a copy carries, by path relative to the project.
const OF_THE_PROJECT: [&str; 2] = ["config/pilote.json", "requirements-rebuild.txt"];

/// The largest file of a project that is carried without being asked for.
const OF_THE_PROJECT_MAX: u64 = 1 << 20;

/// Inputs of a sample.
const SAMPLE_MAX: usize = 12;

/// The longest input of a sample, in bytes.
const SAMPLE_BYTES_MAX: u64 = 1 << 20;

/// Bytes that a component of a name may have on every system.
const NAME_MAX: usize = 255;

/// Names of devices on Windows, where no file can be called so.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Where the bytes of a file of the copy come from.
pub(crate) enum Origin {
    /// A file on this machine, as it was listed.
    File(PathBuf, Found),
    /// An input, with the digest that the index has of it.
    Input(PathBuf, Found, Digest),
    /// Bytes that were made for the copy.
    Made(Vec<u8>),
}

/// A file of the copy.
pub(crate) struct Content {
    /// Its path below the root of the bag.
    pub path: String,
    /// Where it comes from.
    pub origin: Origin,
}

impl Content {
    /// Its length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.origin {
            Origin::File(_, found) | Origin::Input(_, found, _) => found.bytes,
            Origin::Made(bytes) => bytes.len() as u64,
        }
    }

    /// Whether it is a file of the trial itself, which alone decides whether two copies are of the same state.
    pub(crate) fn is_of_the_trial(&self) -> bool {
        matches!(self.origin, Origin::File(..)) && !self.path[PAYLOAD.len()..].starts_with(INPUTS)
    }

    /// A file of the payload whose bytes are made for the copy.
    pub(crate) fn made(path: &str, bytes: Vec<u8>) -> Self {
        Self { path: format!("{PAYLOAD}{path}"), origin: Origin::Made(bytes) }
    }
}

/// The files of a trial that a copy holds, in the order of their paths' bytes.
pub(crate) fn of_trial(trial: &Path) -> Result<Vec<Found>, ProofError> {
    let Listing { mut files, not_plain, .. } = files::walk(trial)?;
    if let Some((path, what)) = not_plain.into_iter().next() {
        return Err(ProofError::NotPlain { path: trial.join(path), what });
    }
    files.retain(|file| !is_left_out(&file.path));
    Ok(files)
}

/// Everything that a copy of the trial carries but for its description; `listed` are the trial's own files.
pub(crate) fn gather(
    trial: &TrialDir,
    listed: &[Found],
    project: Option<&Path>,
    with_inputs: bool,
    report: Option<&str>,
) -> Result<Vec<Content>, ProofError> {
    let of_trial = |found: &Found| Content {
        path: format!("{PAYLOAD}{}", found.path),
        origin: Origin::File(trial.root.join(&found.path), found.clone()),
    };
    let mut contents: Vec<Content> = listed.iter().map(of_trial).collect();
    contents.extend(report.map(|report| Content::made("report.html", report.as_bytes().to_vec())));
    if let Some(project) = project {
        contents.extend(of_project(project, &trial.trial));
        match with_inputs {
            true => all_inputs(trial, project, &mut contents)?,
            false => sample(trial, project, &mut contents)?,
        }
    } else if with_inputs {
        return Err(ProofError::NoProject { path: trial.root.clone() });
    }
    Ok(contents)
}

/// The configuration as it was at the launch, and what names the dependencies.
fn of_project(project: &Path, trial: &Trial) -> Vec<Content> {
    let mut contents = Vec::new();
    for name in OF_THE_PROJECT {
        let Ok(Some(found)) = plain(&project.join(name), name) else { continue };
        if found.bytes > OF_THE_PROJECT_MAX {
            continue;
        }
        let Ok(bytes) = fs_err::read(project.join(name)) else { continue };
        // A configuration that was changed since is not the one of this trial; trial.json has that in full.
        if name != OF_THE_PROJECT[0] || Digest::of(&bytes) == trial.config {
            contents.push(Content::made(&format!("project/{name}"), bytes));
        }
    }
    contents
}

fn inputs(trial: &Trial) -> &Inputs {
    match (trial.kind, &trial.project.campaign) {
        (pilote_spec::TrialKind::Campaign, Some(campaign)) => &campaign.inputs,
        _ => &trial.project.pilot.inputs,
    }
}

/// A plain file as a listing would have it; none where there is none.
fn plain(path: &Path, name: &str) -> std::io::Result<Option<Found>> {
    let Some(about) = files::absent_is_none(fs_err::symlink_metadata(path))? else { return Ok(None) };
    let found = Found { path: name.to_owned(), bytes: about.len(), modified: about.modified().ok() };
    Ok(about.is_file().then_some(found))
}

/// Every input file, each to be copied with the digest that the index has of it.
fn all_inputs(trial: &TrialDir, project: &Path, contents: &mut Vec<Content>) -> Result<(), ProofError> {
    let directory = match inputs(&trial.trial) {
        Inputs::Directory { directory, .. } | Inputs::Files { files: directory } => project.join(directory),
        Inputs::Range { needs, .. } => {
            return needs.iter().try_for_each(|needed| one_input(project, needed, contents));
        }
        rows => return files_of_rows(&trial.trial, project, rows, contents),
    };
    for entry in &trial.closing()?.parts {
        for item in trial.items(entry)? {
            let Location::File { path, raw } = &item.location else { continue };
            let Some(digest) = item.digest else { continue };
            if *raw {
                let why = "is not UTF-8";
                return Err(ProofError::NameUnsafe { path: path.clone(), why });
            }
            let from = directory.join(path);
            let found = plain(&from, path).map_err(|source| io("read", &from, source))?;
            let found = found.ok_or_else(|| ProofError::InputGone { path: from.clone() })?;
            let origin = Origin::Input(from, found, digest);
            contents.push(Content { path: format!("{PAYLOAD}{INPUTS}{path}"), origin });
        }
    }
    Ok(())
}

/// The files of rows that the declaration names now. A single declared file is kept under its own name, of several
/// each under its path, as the index has it.
fn files_of_rows(
    trial: &Trial,
    project: &Path,
    rows: &Inputs,
    contents: &mut Vec<Content>,
) -> Result<(), ProofError> {
    let source = Corpus::new(project, rows, &trial.project.limits, trial.project.duplicates);
    let paths = source.files_of_rows().map_err(|source| ProofError::InputsUnlisted { source })?;
    if let [path] = paths.as_slice()
        && path == source.declared()
    {
        return one_input(project, path, contents);
    }
    for path in paths {
        let full = project.join(&path);
        let found = plain(&full, &path).map_err(|source| io("read", &full, source))?;
        let found = found.ok_or_else(|| ProofError::InputGone { path: full.clone() })?;
        contents
            .push(Content { path: format!("{PAYLOAD}{INPUTS}{path}"), origin: Origin::File(full, found) });
    }
    Ok(())
}

/// One file that the inputs rest on, declared relative to the project; it is kept under its own name.
fn one_input(project: &Path, declared: &str, contents: &mut Vec<Content>) -> Result<(), ProofError> {
    let path = project.join(declared);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let found = plain(&path, &name).map_err(|source| io("read", &path, source))?;
    let found = found.ok_or_else(|| ProofError::InputGone { path: path.clone() })?;
    contents.push(Content { path: format!("{PAYLOAD}{INPUTS}{name}"), origin: Origin::File(path, found) });
    Ok(())
}

/// A few inputs, short, usual and long ones, as texts beside the identifiers: what somebody needs who looks at the
/// results without the corpus. An input that changed since is left out, since it would say something else.
fn sample(trial: &TrialDir, project: &Path, contents: &mut Vec<Content>) -> Result<(), ProofError> {
    // What has no closed index has no inputs to show.
    let Ok(closing) = trial.closing() else { return Ok(()) };
    let launched = &trial.trial;
    let corpus =
        Corpus::new(project, inputs(launched), &launched.project.limits, launched.project.duplicates);
    let parts = closing.parts.len();
    let mut chosen: BTreeMap<u64, Item> = BTreeMap::new();
    // Four parts spread over the trial, and of each the shortest, the middle and the longest item.
    for entry in (0..4).filter_map(|quarter| closing.parts.get(quarter * parts.max(4) / 4)) {
        let Ok(items) = trial.items(entry) else { continue };
        let mut items: Vec<Item> =
            items.into_iter().filter(|item| item.fault.is_none() && item.bytes <= SAMPLE_BYTES_MAX).collect();
        items.sort_by_key(|item| (item.chars, item.position));
        let each = if parts < 4 { SAMPLE_MAX } else { SAMPLE_MAX / 4 };
        let last = items.len().saturating_sub(1);
        let places: Vec<usize> = (0..each.min(items.len())).map(|n| n * last / (each - 1).max(1)).collect();
        chosen.extend(places.into_iter().map(|place| (items[place].position.0, items[place].clone())));
    }
    let mut lines = Vec::new();
    for item in chosen.into_values().take(SAMPLE_MAX) {
        let Ok(text) = pilote_corpus::read(&corpus, &item) else { continue };
        let line = serde_json::json!({
            "position": item.position, "id": item.id, "sha256": item.digest, "text": text,
        });
        lines.extend(line.to_string().into_bytes());
        lines.push(b'\n');
    }
    if !lines.is_empty() {
        contents.push(Content::made("sample.jsonl", lines));
    }
    Ok(())
}

/// Refuses names that some system could not keep, or would take for another one.
pub(crate) fn refuse_unsafe(contents: &[Content]) -> Result<(), ProofError> {
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for Content { path, .. } in contents {
        let shown = || path[PAYLOAD.len()..].to_owned();
        if let Some(first) = folded.insert(twin_key(path), path) {
            let first = first[PAYLOAD.len()..].to_owned();
            return Err(ProofError::CaseTwins { first, second: shown() });
        }
        if let Some(why) = path.split('/').find_map(unsafe_name) {
            return Err(ProofError::NameUnsafe { path: shown(), why });
        }
        if is_of_the_system(path) {
            let why = "is one that operating systems give to files of their own and change by themselves";
            return Err(ProofError::NameUnsafe { path: shown(), why });
        }
    }
    Ok(())
}

/// Why a component of a path cannot be kept on every system; none where it can.
fn unsafe_name(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()))
    };
    match name {
        _ if name.contains(['\n', '\r']) => Some("holds a line end"),
        _ if name.contains(|c: char| c.is_control()) => Some("holds a control character"),
        _ if name.contains(['<', '>', ':', '"', '|', '?', '*', '\\']) => {
            Some("holds a sign that Windows forbids")
        }
        _ if name.ends_with(['.', ' ']) => Some("ends in a full stop or a space, which Windows drops"),
        _ if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") => {
            Some("is the name of a device on Windows")
        }
        _ if name.len() > NAME_MAX => Some("is longer than file systems allow"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Result<(), String> {
        let contents: Vec<Content> = names.iter().map(|name| Content::made(name, Vec::new())).collect();
        refuse_unsafe(&contents).map_err(|error| error.to_string())
    }

    #[test]
    fn names_that_some_system_cannot_keep_are_refused_with_the_reason() {
        for (name, why) in [
            ("a\nb", "line end"),
            ("a\rb", "line end"),
            ("inputs/12:30.txt", "Windows forbids"),
            ("inputs/a./b", "full stop"),
            ("inputs/CON.txt", "device"),
            ("com7", "device"),
            ("a\u{7}b", "control"),
            (".DS_Store", "operating systems"),
        ] {
            let error = named(&[name]).unwrap_err();
            assert!(error.contains(why), "{name}: {error}");
        }
        assert!(named(&[&"é".repeat(128)]).unwrap_err().contains("longer"));
        assert_eq!(named(&["100 %.txt", "com10", "console.txt", "日本語.txt"]), Ok(()));
    }

    #[test]
    fn names_that_some_system_takes_for_one_are_refused() {
        for twins in [["A.csv", "a.csv"], ["café", "cafe\u{301}"], ["STRASSE", "strasse"]] {
            assert!(named(&twins).unwrap_err().contains("differ by case or Unicode form"), "{twins:?}");
        }
    }
}
