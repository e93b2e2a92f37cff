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
