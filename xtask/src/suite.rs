//! `cargo xtask test`: everything that must hold before a change is taken.

use crate::bench::peers;
use crate::command::{self, say};
use crate::repo::{Profile, Repo};
use crate::setup;
use crate::tidy::tree::Tree;

/// How much is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What needs only the toolchain, a C compiler, python3 and the example model.
    Usual,
    /// Also the tests marked as ignored: they need peers that are large to install.
    All,
}

/// Runs the checks, cheapest first, on one set of build products: clippy and the documentation share checked
/// dependencies, the tests and `pilote` share compiled ones, and nothing is built for release.
///
/// # Errors
/// At the first check that fails.
pub fn test(repo: &Repo, extent: Extent) -> anyhow::Result<()> {
    command::run(repo.command("cargo").args(["fmt", "--all", "--check"]))?;
    command::run(repo.cargo("clippy").args(["--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    command::run(
        repo.cargo("doc").args(["--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    command::run(repo.cargo("build").args(["--workspace", "--all-targets"]))?;
    setup::model(repo, Profile::Dev)?;
    let python = if extent == Extent::All { Some(peers::environment(repo)?) } else { None };
    let mut tests = if setup::has_nextest() {
        let mut tests = repo.cargo("nextest");
        tests.args(["run", "--workspace", "--all-targets"]);
        if extent == Extent::All {
            tests.args(["--run-ignored", "all"]);
        }
        tests
    } else {
        say("\ncargo-nextest is not installed; plain cargo test runs the same tests, more slowly.");
        let mut tests = repo.cargo("test");
        tests.args(["--workspace", "--all-targets", "--no-fail-fast"]);
        if extent == Extent::All {
            tests.args(["--", "--include-ignored"]);
        }
        tests
    };
    tests.env("PILOTE_TEST_MODELS", repo.cache("models"));
    if let Some(python) = python {
        tests.env("PILOTE_TEST_PEERS", python);
    }
    command::run(&mut tests)?;
    doctests(repo)
}

/// Runs the examples in documentation comments, where there are any: neither nextest nor `--all-targets` does.
fn doctests(repo: &Repo) -> anyhow::Result<()> {
    let tree = Tree::read(repo)?;
    let packages = tree.packages_with_doctests();
    if packages.is_empty() {
        return Ok(());
    }
    let mut tests = repo.cargo("test");
    tests.arg("--doc");
    for package in &packages {
        tests.args(["--package", package]);
    }
    command::run(&mut tests)
}
