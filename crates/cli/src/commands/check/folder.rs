//! The project's folder: the lint of the machine's crate, the pilot's digests, the configuration's own faults.

use std::path::Path;

use pilote_corpus::{DifferenceKind, Pins, Source};
use pilote_machine::ladder::{Judgement, Rung};
use pilote_machine::project::lint;
use pilote_machine::verdict::{Finding, RungCode};
use pilote_spec::Project;

use super::programs::Guarded;

/// The rung of the folder.
pub(crate) struct FolderRung<'a> {
    /// The folder.
    pub root: &'a Path,
    /// The project; none where its configuration is wrong.
    pub project: Option<&'a Project>,
    /// The faults of the configuration.
    pub faults: &'a [String],
    /// Starts programs.
    pub programs: &'a Guarded,
}

impl Rung for FolderRung<'_> {
    fn code(&self) -> RungCode {
        RungCode::Project
    }

    fn judge(&mut self) -> Judgement {
        let mut findings = Vec::new();
        if !self.faults.is_empty() {
            findings.push(Finding::fault("config-wrong").saying(&self.faults.join("\n")));
        }
        findings.extend(lint(self.root, self.project, self.programs));
        if let Some(project) = self.project {
            findings.extend(pins(self.root, project));
        }
        Judgement::Judged(findings)
    }
}

/// The pilot's inputs against the digests that were fixed.
fn pins(root: &Path, project: &Project) -> Vec<Finding> {
    let Some(file) = &project.pilot.digests else { return vec![Finding::fault("pins-undeclared")] };
    let unreadable =
        |why: String| vec![Finding::fault("pins-unreadable").with("file", file).with("error", why)];
    let fixed = match fs_err::read_to_string(root.join(file)) {
        Ok(text) => match Pins::parse(&text) {
            Ok(fixed) => fixed,
            Err(error) => return unreadable(error.to_string()),
        },
        Err(error) => return unreadable(error.to_string()),
    };
    let source = Source::new(root, &project.pilot.inputs, &project.limits, project.duplicates);
    let seen = match pilote_corpus::digests(&source) {
        Ok(seen) => seen,
        Err(error) => return unreadable(error.to_string()),
    };
    let differences = fixed.differences(&seen);
    if differences.is_empty() {
        return vec![Finding::seen("pins").with("count", fixed.files.len())];
    }
    differences
        .iter()
        .take(20)
        .map(|difference| {
            let code = match difference.kind {
                DifferenceKind::Changed { .. } => "pilot-changed",
                DifferenceKind::Absent => "pilot-absent",
                DifferenceKind::Extra => "pilot-extra",
            };
            Finding::fault(code).with("path", &difference.path).with("file", file)
        })
        .collect()
}
