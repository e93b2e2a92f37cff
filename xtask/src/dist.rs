//! `cargo xtask dist`: the program as users get it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::command::{self, say};
use crate::repo::{Profile, Repo};
use crate::tidy::examples::sha256;

/// The portable target: any Linux with a C library of 2014 or later.
const TARGET: &str = "x86_64-unknown-linux-gnu.2.17";

/// The C library that the portable build is made for.
const LIBC: (u32, u32) = (2, 17);

/// Builds for release and prints where the program is, its size and its digest. With cargo-zigbuild the program
/// runs on older systems as well; without it, it says what it needs.
///
/// # Errors
/// When the build fails.
#[expect(clippy::print_stdout, reason = "the digest is this task's data")]
pub fn dist(repo: &Repo) -> anyhow::Result<()> {
    let portable = command::succeeds(Command::new("cargo").args(["zigbuild", "--help"]));
    let program = if portable {
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
    let needs = libc_needed(&bytes);
    if let Some((major, minor)) = needs {
        say(&format!("\n{} bytes; it needs glibc {major}.{minor} or later", bytes.len()));
    }
    ensure!(
        !portable || needs.is_none_or(|needs| needs <= LIBC),
        "the program needs glibc {needs:?}, and it is to run on {LIBC:?}: a dependency was linked against this \
         machine's own"
    );
    println!("{}  {}", sha256(&bytes), program.display());
    Ok(())
}

/// Where cargo puts the same program for a named target: `release/x` becomes `TRIPLE/release/x`.
fn beside(program: &std::path::Path, triple: &str) -> anyhow::Result<PathBuf> {
    let (name, profile) = (program.file_name(), program.parent());
    let target = profile.and_then(std::path::Path::parent).context("the build folder has no parent")?;
    Ok(target.join(triple).join("release").join(name.context("the program has no name")?))
}

/// The newest version of glibc whose symbols a program asks for, by the names in its table of versions; none where it
/// names no version.
fn libc_needed(program: &[u8]) -> Option<(u32, u32)> {
    let name = b"GLIBC_";
    let starts = program.windows(name.len()).enumerate().filter(|(_, window)| window == name);
    starts
        .filter_map(|(at, _)| {
            let rest = &program[at + name.len()..];
            let end = rest.iter().position(|byte| *byte == 0).filter(|end| *end < 12)?;
            let mut numbers = std::str::from_utf8(&rest[..end]).ok()?.split('.');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_is_asked_for_is_found_as_a_number() {
        let program = b"\x7fELF...libc.so.6\0GLIBC_2.4\0GLIBC_2.17\0GLIBC_2.9\0GLIBC_PRIVATE\0";
        assert_eq!(libc_needed(program), Some((2, 17)));
        assert_eq!(libc_needed(b"no table of versions"), None);
    }

    #[test]
    fn a_target_has_a_folder_of_its_own() {
        let path = beside("/b/release/pilote".as_ref(), "x86_64-unknown-linux-gnu").unwrap();
        assert_eq!(path, PathBuf::from("/b/x86_64-unknown-linux-gnu/release/pilote"));
    }
}
