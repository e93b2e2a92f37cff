//! `cargo xtask`: reads the task's name and hands over.

use std::process::ExitCode;

use anyhow::bail;
use xtask::repo::Repo;
use xtask::{bench, dist, setup, suite, tidy};

const USAGE: &str = "\
cargo xtask TASK

  setup          gets what the tests need beyond the Rust toolchain, a C compiler and python3: the example model
  test [--all]   set-up, format, lints, documentation, and every test; --all adds the tests that need heavy peers
  bench [NAME]   measures (embed, ledger, engines, python, startup, sizes, sizing, memory; all when none is named) and writes docs/benchmarks.md
  dist           builds the program for release and prints its digest
  tidy           the project's own checks of its sources and documents, with figures";

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the edge of a developers' program")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> anyhow::Result<()> {
    let repo = Repo::here();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["setup"] => setup::setup(&repo).map(drop),
        ["test"] => suite::test(&repo, suite::Extent::Usual),
        ["test", "--all"] => suite::test(&repo, suite::Extent::All),
        ["bench", names @ ..] => bench::bench(&repo, names),
        ["dist"] => dist::dist(&repo),
        ["tidy"] => tidy::print(&repo),
        _ => bail!("no such task: {:?}\n\n{USAGE}", words.join(" ")),
    }
}
