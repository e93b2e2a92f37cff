//! What a project refers to: code by its revision, models and data by their digests and licences.

use std::path::Path;

use pilote_spec::{Digest, EngineConfig, Hasher, Project, ReferenceKind};

use super::walk::Folder;
use crate::evidence::Programs;
use crate::verdict::Finding;

/// Seconds for a question to the repository.
const GIT_SECONDS_MAX: u32 = 20;

/// The revision of the code: the commit and whether something was changed since, else a digest of src/.
pub(super) fn revision(root: &Path, folder: &Folder, programs: &dyn Programs) -> Vec<Finding> {
    let git = |arguments: &[&str]| {
        let argv =
            ["git", "-C", "."].iter().chain(arguments).map(|word| (*word).to_owned()).collect::<Vec<_>>();
        programs.run(&argv, &Default::default(), GIT_SECONDS_MAX)
    };
    let digest = source_digest(root, folder);
    let head = git(&["rev-parse", "--verify", "HEAD"]);
    let Some(commit) = head.good().map(str::trim).filter(|commit| !commit.is_empty()) else {
        return vec![Finding::seen("revision-digest").with("sha256", digest)];
    };
    // Trials and environments are not code; what is ignored is not asked for either.
    let status = git(&["status", "--porcelain", "--", ".", ":!runs"]);
    let seen = Finding::seen("revision").with("commit", commit).with("sha256", digest);
    match status.good().map(|out| out.lines().count()) {
        Some(0) => vec![seen],
        Some(changed) => vec![seen, Finding::note("revision-dirty").with("count", changed)],
        None => vec![seen, Finding::note("revision-state-unknown")],
    }
}

/// A digest over names and contents of the files below src/.
fn source_digest(root: &Path, folder: &Folder) -> Digest {
    let mut all = Hasher::new();
    for (path, _) in folder.files.iter().filter(|(path, _)| path.starts_with("src/")) {
        let digest = digest_of(&root.join(path)).map_or_else(|| "?".to_owned(), |digest| digest.to_string());
        let _ = std::io::Write::write_all(&mut all, format!("{digest}  {path}\n").as_bytes());
    }
    all.finish()
}

fn digest_of(path: &Path) -> Option<Digest> {
    let mut hasher = Hasher::new();
    std::io::copy(&mut fs_err::File::open(path).ok()?, &mut hasher).ok()?;
    Some(hasher.finish())
}

/// Models, data and code of others, each with digests and a licence.
pub(super) fn references(root: &Path, project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    let declared = project.needs.as_ref().map(|needs| needs.references.as_slice()).unwrap_or_default();
    if let EngineConfig::Builtin(builtin) = &project.engine {
        let from = builtin.model.first().cloned().unwrap_or_default();
        if builtin.sha256.is_empty() {
            findings
                .push(Finding::fault("reference-no-digest").with("name", &from).with("key", "engine.sha256"));
        }
        if !declared.iter().any(|reference| reference.kind == ReferenceKind::Model) {
            findings.push(Finding::note("reference-undeclared").with("name", from));
        }
    }
    for reference in declared {
        let about = |finding: Finding| finding.with("name", &reference.name);
        if reference.sha256.is_empty() && !names_commit(&reference.from) {
            findings.push(about(Finding::fault("reference-no-digest")).with("key", "needs.references"));
        }
        if reference.licence.is_none() {
            findings.push(about(Finding::note("reference-no-licence")));
        }
        for (path, wanted) in &reference.sha256 {
            // A file that lies elsewhere is compared where it is used.
            let inside = root.join(path);
            if !path.contains("..") && inside.is_file() && digest_of(&inside) != Some(*wanted) {
                findings.push(about(Finding::fault("reference-changed")).with("path", path));
            }
        }
    }
    if findings.is_empty() && !declared.is_empty() {
        findings.push(Finding::seen("references").with("count", declared.len()));
    }
    findings
}

/// Whether a reference names a commit: its last forty hexadecimal digits are a digest of everything in it.
fn names_commit(from: &str) -> bool {
    from.rsplit_once('@').is_some_and(|(_, revision)| {
        revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
