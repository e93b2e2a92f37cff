//! The working copy: where it is, where built programs and fetched things lie, and how cargo is called in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use crate::command;

/// The working copy that this program was built from.
#[derive(Debug, Clone)]
pub struct Repo {
    root: PathBuf,
}

/// How the programs are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As the tests use them.
    Dev,
    /// As users get them.
    Release,
}

impl Repo {
    /// The working copy whose `xtask` this is.
    #[must_use]
    pub fn here() -> Self {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: xtask.parent().unwrap_or(xtask).to_path_buf() }
    }

    /// Its first folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below `cache/`, where fetched things are kept. Nothing there is committed.
    #[must_use]
    pub fn cache(&self, below: &str) -> PathBuf {
        self.root.join("cache").join(below)
    }

    /// A command that runs in the first folder.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// cargo, with the lock file as it is: a test never changes what is built.
    #[must_use]
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = self.command("cargo");
        command.args([subcommand, "--locked"]);
        command
    }

    /// What cargo knows of the workspace's own packages.
    ///
    /// # Errors
    /// When cargo fails or its answer is no JSON.
    pub fn metadata(&self) -> anyhow::Result<Value> {
        let text = command::capture(self.command("cargo").args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ]))?;
        serde_json::from_str(&text).context("the answer of cargo metadata is no JSON")
    }

    /// Where cargo puts a program that was built.
    ///
    /// # Errors
    /// When cargo does not say where it builds.
    pub fn built(&self, profile: Profile, program: &str) -> anyhow::Result<PathBuf> {
        let metadata = self.metadata()?;
        let target =
            metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
        let folder = match profile {
            Profile::Dev => "debug",
            Profile::Release => "release",
        };
        Ok(Path::new(target).join(folder).join(program))
    }
}
