//! Where the project and its trials are: from what the user typed to a folder.

use std::path::{Component, Path, PathBuf};

use anyhow::anyhow;
use pilote_ledger::{Access, Bucket, BucketError, is_bucket};
use pilote_proof::Destination;
use pilote_spec::{Parsed, Project};

use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Path of the configuration below a project.
pub(crate) const CONFIG: &str = "config/pilote.json";

/// A project that was found and read.
#[derive(Debug)]
pub(crate) struct Place {
    /// The project's folder.
    pub root: PathBuf,
    /// Its configuration.
    pub parsed: Parsed,
}

impl Place {
    /// The project that was named, else the one around the current folder.
    ///
    /// # Errors
    /// When there is none, or its configuration is wrong.
    pub(crate) fn find(surroundings: &Surroundings, named: Option<&Path>) -> Result<Self, Failure> {
        let root = root(surroundings, named)?;
        let path = root.join(CONFIG);
        let bytes = fs_err::read(&path).map_err(|error| {
            Failure::request("no-config", error).hint("`pilote new DIR` lays out a project")
        })?;
        let parsed = Project::parse(&bytes, &path.display().to_string())
            .map_err(|errors| Failure::request("config", anyhow!("{errors}")))?;
        Ok(Self { root, parsed })
    }
}

/// The project's folder, without reading it.
///
/// # Errors
/// When there is none.
pub(crate) fn root(surroundings: &Surroundings, named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        let root = surroundings.folder.join(named);
        return if root.join(CONFIG).is_file() {
            Ok(root)
        } else {
            Err(Failure::request("no-project", anyhow!("{} has no {CONFIG}", root.display()))
                .hint("name the folder that holds config/, or make one with `pilote new DIR`"))
        };
    }
    let found = surroundings.folder.ancestors().find(|folder| folder.join(CONFIG).is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        let error = anyhow!("neither {} nor a folder above it has a {CONFIG}", surroundings.folder.display());
        Failure::request("no-project", error).hint(
            "change to a project's folder, name one with --project DIR, or make one with `pilote new DIR`",
        )
    })
}

/// The trial that was named: a path, a name below `runs/`, or `latest`.
///
/// # Errors
/// When there is no such trial.
pub(crate) fn trial(surroundings: &Surroundings, named: &Path) -> Result<PathBuf, Failure> {
    let path = surroundings.folder.join(named);
    if named != Path::new("latest") && path.is_dir() {
        return Ok(path);
    }
    let project = root(surroundings, None).map_err(|failure| {
        let error =
            anyhow!("{} is no folder, and there is no project here to look for it in", path.display());
        Failure { error, ..failure }
    })?;
    let runs = project.join("runs");
    let found = match named == Path::new("latest") {
        true => pilote_proof::latest(&project)?,
        false => Some(runs.join(named)),
    };
    found.filter(|path| path.is_dir()).ok_or_else(|| {
        let error = anyhow!("there is no trial `{}` below {}", named.display(), runs.display());
        Failure::request("no-trial", error).hint("`pilote runs` lists the trials of a project")
    })
}

/// The project that a trial lies in: the folder above its `runs/`; none for a copy elsewhere.
#[must_use]
pub(crate) fn project_of(trial: &Path) -> Option<PathBuf> {
    let runs = trial.parent()?;
    let root = runs.parent()?;
    (runs.file_name()? == "runs" && root.join(CONFIG).is_file()).then(|| root.to_owned())
}

/// A place for copies as it was typed or declared: an address in an object store, or a folder relative to `base`.
///
/// # Errors
/// When the address is none, or no key to write with is set.
pub(crate) fn destination(
    surroundings: &Surroundings,
    base: &Path,
    named: &Path,
) -> Result<Destination, Failure> {
    match bucket(surroundings, named)? {
        Some(bucket) => Ok(Destination::Bucket(bucket.writable().map_err(bucket_failure)?)),
        None => Ok(Destination::Folder(plain(&base.join(named)))),
    }
}

/// The place in an object store that an address names; none for a path.
///
/// # Errors
/// When the address is none.
pub(crate) fn bucket(surroundings: &Surroundings, named: &Path) -> Result<Option<Bucket>, Failure> {
    let Some(address) = named.to_str().filter(|text| is_bucket(text)) else { return Ok(None) };
    let access = Access::from_variables(|name| surroundings.variable(name).map(str::to_owned));
    Bucket::open(address, &access).map(Some).map_err(bucket_failure)
}

fn bucket_failure(error: BucketError) -> Failure {
    Failure::request(error.code(), error)
}

/// The same path with `..` taken out where it follows a name, so that it stays right when that folder is moved.
#[must_use]
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
