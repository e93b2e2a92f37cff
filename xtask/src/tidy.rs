//! The project's own checks of its sources and documents, beyond what the compiler and clippy see.
//!
//! Every check is a pure function from what was read to findings; `xtask/tests/tidy.rs` runs them over the
//! working copy, and each has a test here that shows it failing.

pub mod edges;
pub mod examples;
pub mod links;
pub mod rust;
pub mod sources;
pub mod tree;
pub mod wording;

use std::fmt;

use crate::command;
use crate::repo::Repo;
use tree::Tree;

/// Something that a check holds against a place in the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the first folder.
    pub path: String,
    /// The line from 1; 0 stands for the file as a whole.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub says: String,
}

impl Finding {
    /// A finding about one line.
    #[must_use]
    pub fn at(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, says: says.into() }
    }

    /// A finding about a whole file.
    #[must_use]
    pub fn of(path: &str, says: impl Into<String>) -> Self {
        Self::at(path, 0, says)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.says),
            line => write!(f, "{}:{line}: {}", self.path, self.says),
        }
    }
}

/// Prints every finding and the figures of the sources, for someone who looks at the state of things.
///
/// # Errors
/// When the tree cannot be read, or when there are findings.
pub fn print(repo: &Repo) -> anyhow::Result<()> {
    let tree = Tree::read(repo)?;
    let findings = all(repo, &tree)?;
    for finding in &findings {
        command::say(&finding.to_string());
    }
    command::say(&sources::figures(&tree));
    if findings.is_empty() {
        return Ok(());
    }
    anyhow::bail!("{} findings", findings.len())
}

/// Every check over the working copy.
///
/// # Errors
/// When cargo does not tell the workspace's edges.
pub fn all(repo: &Repo, tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = edges::check(&repo.metadata()?, tree);
    for check in [
        sources::lengths,
        sources::functions,
        sources::module_docs,
        sources::unwraps,
        sources::comment_share,
        links::links,
        links::named_paths,
        links::orphans,
        wording::machine_paths,
        wording::hosts,
        wording::glossary,
        tree::needed_files,
        examples::inputs,
        examples::schemas,
    ] {
        findings.extend(check(tree));
    }
    Ok(findings)
}
