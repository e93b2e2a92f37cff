//! The environment in which peers from Python run. It is large (torch alone is over two gigabytes) and is made on
//! the first call.

use std::path::PathBuf;

use crate::command;
use crate::repo::Repo;
use crate::tidy::examples::sha256;

/// The list of the peers that compute with models.
pub const MODELS: &str = "requirements.txt";
/// The list of the peers that say what a model takes.
pub const SIZES: &str = "requirements-sizes.txt";
/// The list of the peers that move rows.
pub const PIPELINES: &str = "requirements-pipelines.txt";
/// The reference implementation of bags.
pub const BAGS: &str = "requirements-bags.txt";

/// The Python of an environment with the packages of `list`, a file of `xtask/bench`.
///
/// # Errors
/// When the environment cannot be made or its packages cannot be had.
pub fn environment(repo: &Repo, list: &str) -> anyhow::Result<PathBuf> {
    let requirements = repo.root().join("xtask/bench").join(list);
    let digest = sha256(&std::fs::read(&requirements)?);
    // A folder for each list of requirements: a changed list never runs with what an older one installed.
    let folder = repo.cache(&format!("bench/venv-{}", &digest[..12]));
    let python = folder.join("bin/python");
    let complete = folder.join("complete");
    if !complete.is_file() {
        command::run(repo.command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut install = repo.command(&python.to_string_lossy());
        command::run(install.args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&requirements))?;
        std::fs::write(&complete, digest)?;
    }
    Ok(python)
}

/// The accessibility checker that the report is held to, at this very version.
const AXE: &str = "axe-core@4.14.1";

/// The script of the accessibility checker, fetched by npm once. It runs in Chromium, which is a package of the system.
///
/// # Errors
/// When npm cannot fetch it.
pub fn axe(repo: &Repo) -> anyhow::Result<PathBuf> {
    let folder = repo.cache(&format!("peers/{AXE}"));
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.is_file() {
        std::fs::create_dir_all(&folder)?;
        let mut install = repo.command("npm");
        install.args(["install", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix"]);
        command::run(install.arg(&folder).arg(AXE))?;
    }
    Ok(script)
}
