//! What tests and benchmarks need beyond the Rust toolchain and a C compiler.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::command::{self, say};
use crate::repo::{Profile, Repo};

/// The project whose model the tests run.
pub const EXAMPLE: &str = "examples/twelve-documents";

/// What set-up found and made.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The example model's folder.
    pub model: PathBuf,
}

/// Checks the programs that are needed, builds `pilote`, and fetches the example model with it.
///
/// # Errors
/// When a program is missing or the model cannot be had.
pub fn setup(repo: &Repo) -> anyhow::Result<Setup> {
    programs()?;
    command::run(repo.cargo("build").args(["--package", "pilote-cli"]))?;
    model(repo, Profile::Dev)
}

/// Fetches the example model into `cache/models` with a `pilote` that is already built. A model that is there is
/// checked and kept, so this costs nothing the second time.
///
/// # Errors
/// When the model cannot be had, in the words of `pilote`.
pub fn model(repo: &Repo, profile: Profile) -> anyhow::Result<Setup> {
    let pilote = repo.built(profile, "pilote")?;
    let answer = command::capture(
        Command::new(&pilote)
            .current_dir(repo.root())
            .args(["model", "pull", "--project", EXAMPLE, "--cache"])
            .arg(repo.cache("models"))
            .arg("--json"),
    )
    .context("the example model could not be had")?;
    let model = pulled(&answer)?;
    say(&format!("The example model is in {}", model.display()));
    Ok(Setup { model })
}

/// The folder that `pilote model pull --json` names.
fn pulled(answer: &str) -> anyhow::Result<PathBuf> {
    let value: Value = serde_json::from_str(answer).context("pilote model pull printed no JSON")?;
    let path =
        value["dir"].as_str().with_context(|| format!("pilote model pull names no folder: {answer}"))?;
    Ok(PathBuf::from(path))
}

/// Programs that are looked for, with what they are for.
const PROGRAMS: [(&str, &[&str], &str); 3] = [
    ("cc", &["--version"], "a C compiler (Debian: apt install build-essential)"),
    ("python3", &["--version"], "python3, for fetching the model (Debian: apt install python3)"),
    (
        "python3",
        &["-m", "pip", "--version"],
        "pip for python3 (Debian: apt install python3-pip python3-venv)",
    ),
];

/// All that is missing is named at once, so that nobody has to come back three times.
fn programs() -> anyhow::Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, arguments, _)| !command::succeeds(Command::new(program).args(*arguments)))
        .map(|(_, _, what)| *what)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    bail!("these are needed and were not found:\n  {}", missing.join("\n  "))
}

/// Whether tests run under cargo-nextest. It is not installed by us: building it takes longer than the tests, and
/// they pass under plain `cargo test` as well.
#[must_use]
pub fn has_nextest() -> bool {
    command::succeeds(Command::new("cargo").args(["nextest", "--version"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_lies_where_pilote_says() {
        let path = pulled(r#"{"format":"pilote.model/1","dir":"/somewhere/model"}"#).unwrap();
        assert_eq!(path, PathBuf::from("/somewhere/model"));
    }

    #[test]
    fn an_answer_without_a_folder_is_shown() {
        let error = pulled(r#"{"format":"x"}"#).unwrap_err().to_string();
        assert!(error.contains("names no folder") && error.contains(r#"{"format":"x"}"#), "{error}");
    }
}
