//! `cargo xtask test`: everything that must hold before a change is taken.

use std::process::Command;

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
    /// Also the tests in modules named `heavy`: they need peers that are large to install.
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
    let has_nextest = setup::has_nextest();
    if !has_nextest {
        say("\ncargo-nextest is not installed; plain cargo test runs the same tests, more slowly.");
    }
    doctests(repo)?;
    command::run(&mut tests(repo, has_nextest))?;
    if extent == Extent::All {
        let python = peers::environment(repo, peers::MODELS)?;
        command::run(heavy(repo, has_nextest).env(AXE, peers::axe(repo)?).env(PEERS, python))?;
    }
    Ok(())
}

/// The variable that tells heavy tests which Python has the peers.
const PEERS: &str = "PILOTE_PEERS_PYTHON";

fn tests(repo: &Repo, has_nextest: bool) -> Command {
    if has_nextest {
        let mut tests = repo.command("cargo");
        tests.args(["nextest", "run", "--locked", "--workspace", "--all-targets"]);
        return tests;
    }
    let mut tests = repo.cargo("test");
    tests.args(["--workspace", "--all-targets", "--no-fail-fast"]);
    tests
}

/// The variable that tells heavy tests where the accessibility checker's script lies.
const AXE: &str = "PILOTE_PEERS_AXE";

/// The tests in modules named `heavy`, which are ignored otherwise.
fn heavy(repo: &Repo, has_nextest: bool) -> Command {
    let mut tests = tests(repo, has_nextest);
    if has_nextest {
        tests.args(["--run-ignored", "only", "--no-tests", "pass", "heavy::"]);
    } else {
        tests.args(["--", "--ignored", "heavy::"]);
    }
    tests
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
