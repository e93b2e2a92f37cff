//! The project's folder by itself: does it hold on another machine, and is nothing in it that must not travel?
//!
//! Everything is read below one folder, so that a folder that was moved is judged the same.

mod entry;
mod references;
mod requirements;
mod secrets;
mod walk;

use std::path::Path;

use pilote_spec::Project;

pub use requirements::{Line, LineKind, requirements};
pub use secrets::{Rules, RulesError, Secret};

use crate::evidence::Programs;
use crate::verdict::Finding;
use walk::Folder;

/// What a project's folder has by custom, and whether it is a folder.
const LAYOUT: [(&str, bool); 6] = [
    ("README.md", false),
    ("requirements-rebuild.txt", false),
    ("config/pilote.json", false),
    ("data/pilote", true),
    ("src", true),
    ("runs", true),
];

/// Requirements that every project has; others are declared.
pub const REQUIREMENTS: &str = "requirements-rebuild.txt";

/// Judges the folder at `root`. `project` is none where its configuration is wrong, which is a finding of its own;
/// `programs` is asked for the state of the code's repository.
#[must_use]
pub fn lint(root: &Path, project: Option<&Project>, programs: &dyn Programs) -> Vec<Finding> {
    let folder = Folder::walk(root);
    let mut findings = layout(root);
    findings.extend(
        folder
            .links_outside()
            .map(|(path, target)| Finding::fault("link-outside").with("path", path).with("target", target)),
    );
    findings.extend(environments(root));
    if let Some(project) = project {
        findings.extend(entry::entry(root, project));
        findings.extend(entry::notebooks(&folder, project));
        findings.extend(references::references(root, project));
    }
    findings.extend(entry::homes(&folder));
    findings.extend(entry::late_variables(&folder));
    findings.extend(requirements::lint(root, &requirement_files(project)));
    findings.extend(references::revision(root, &folder, programs));
    findings.extend(secrets::lint(&folder));
    findings
}

/// Environments in the folder whose programs start an interpreter of another place: their launchers name it by its whole
/// path, so that an environment does not move with its folder.
fn environments(root: &Path) -> Vec<Finding> {
    let here = fs_err::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let moved = |name: &&str| {
        let mut launchers: Vec<_> = fs_err::read_dir(root.join(name).join("bin")).ok()?.flatten().collect();
        launchers.sort_by_key(fs_err::DirEntry::file_name);
        launchers.into_iter().take(LAUNCHERS_MAX).find_map(|launcher| {
            let target = started(&launcher.path())?;
            let own = [root, &here].iter().any(|place| Path::new(&target).starts_with(place.join(name)));
            let path = format!("{name}/bin/{}", launcher.file_name().to_string_lossy());
            (!own).then(|| Finding::fault("environment-moved").with("path", path).with("target", target))
        })
    };
    ["venv", ".venv", "env"].iter().filter_map(moved).collect()
}

/// Launchers of one environment that are looked at.
const LAUNCHERS_MAX: usize = 1_000;

/// The interpreter that a launcher names by its whole path, in its first line or, where that path holds a space, behind
/// a shell in the second.
fn started(launcher: &Path) -> Option<String> {
    use std::io::Read as _;
    let file = fs_err::File::open(launcher).ok()?;
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return None;
    }
    let mut start = Vec::new();
    file.take(1_024).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let line = start.strip_prefix("#!")?.lines().take(2).find(|line| line.contains("/bin/python"))?;
    let named = match line.split_once('"') {
        Some((_, quoted)) => quoted.split('"').next()?,
        None => line.split_whitespace().next()?,
    };
    named.starts_with('/').then(|| named.to_owned())
}

/// The requirement files of a project.
#[must_use]
pub fn requirement_files(project: Option<&Project>) -> Vec<String> {
    let declared = project.and_then(|project| project.needs.as_ref()).map(|needs| needs.requirements.clone());
    declared.filter(|files| !files.is_empty()).unwrap_or_else(|| vec![REQUIREMENTS.to_owned()])
}

fn layout(root: &Path) -> Vec<Finding> {
    let mut findings: Vec<Finding> = LAYOUT
        .into_iter()
        .filter(|(path, is_folder)| {
            let path = root.join(path);
            if *is_folder { !path.is_dir() } else { !path.is_file() }
        })
        .map(|(path, _)| Finding::fault("layout-missing").with("path", path))
        .collect();
    if findings.is_empty() {
        findings.push(Finding::seen("layout"));
    }
    findings
}
