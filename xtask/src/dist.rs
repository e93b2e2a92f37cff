//! `cargo xtask dist`: the program as users get it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use crate::command::{self, say};
use crate::repo::{Profile, Repo};
use crate::tidy::examples::sha256;

/// The portable target: any Linux with a C library of 2014 or later.
const TARGET: &str = "x86_64-unknown-linux-gnu.2.17";

/// Builds for release and prints where the program is, its size and its digest. With cargo-zigbuild the program
/// runs on older systems as well; without it, it says what it needs.
///
/// # Errors
/// When the build fails.
#[expect(clippy::print_stdout, reason = "the digest is this task's data")]
pub fn dist(repo: &Repo) -> anyhow::Result<()> {
    let program = if command::succeeds(Command::new("cargo").args(["zigbuild", "--help"])) {
        command::run(repo.cargo("zigbuild").args([
            "--release",
            "--package",
            "pilote-cli",
            "--target",
            TARGET,
        ]))?;
        let triple = TARGET.split('.').next().unwrap_or(TARGET);
        beside(&repo.built(Profile::Release, "pilote")?, triple)?
    } else {
        say(
            "cargo-zigbuild is not installed: this build needs a C library as new as the one of this machine.",
        );
        command::run(repo.cargo("build").args(["--release", "--package", "pilote-cli"]))?;
        repo.built(Profile::Release, "pilote")?
    };
    let bytes = std::fs::read(&program).with_context(|| format!("{} cannot be read", program.display()))?;
    say(&format!("\n{} bytes", bytes.len()));
    println!("{}  {}", sha256(&bytes), program.display());
    Ok(())
}

/// Where cargo puts the same program for a named target: `release/x` becomes `TRIPLE/release/x`.
fn beside(program: &std::path::Path, triple: &str) -> anyhow::Result<PathBuf> {
    let (name, profile) = (program.file_name(), program.parent());
    let target = profile.and_then(std::path::Path::parent).context("the build folder has no parent")?;
    Ok(target.join(triple).join("release").join(name.context("the program has no name")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_folder_of_its_own() {
        let path = beside("/b/release/pilote".as_ref(), "x86_64-unknown-linux-gnu").unwrap();
        assert_eq!(path, PathBuf::from("/b/x86_64-unknown-linux-gnu/release/pilote"));
    }
}
