//! The store of models: what is on the machine, and how a model gets there whole or not at all.
//!
//! Layout of the cache, `KEY` being `hub/ORG--NAME/REV` or `package/NAME-VERSION/SUBDIR` with `--` for `/`:
//!
//! ```text
//! KEY/                  a whole model, put there by one rename; pilote-model.json records its digests
//! partial/KEY/          what was fetched so far; `model.safetensors.partial` is continued by the next try
//! partial/KEY.lock      held (flock) by the process that is fetching; others wait for it
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilote_spec::{Clock, Digest};
use serde::{Deserialize, Serialize};

use super::hub::Hub;
use super::{Attempt, ModelError, Reference, SourceError, check, package};

/// What the way to a model depends on; read once by the program's edge and passed in.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The directory that a relative `path:` starts from: the project's.
    pub directory: PathBuf,
    /// The hub (`HF_ENDPOINT`), without a slash at the end.
    pub endpoint: String,
    /// The right to fetch private models (`HF_TOKEN`); only ever sent to `endpoint`.
    pub token: Option<Token>,
    /// `HF_HUB_OFFLINE`: nothing is fetched from anywhere.
    pub offline: bool,
    /// The hub cache of other programs (`HF_HUB_CACHE`, else `HF_HOME/hub`, else the user's), only ever read.
    pub hub_cache: Option<PathBuf>,
    /// The interpreter whose pip downloads packages.
    pub python: PathBuf,
    /// Program and arguments below which it runs, so that it never outlives this process; empty for none.
    pub guard: Vec<OsString>,
}

impl Environment {
    /// Reads the environment through `variable`; `directory` is the project's.
    #[must_use]
    pub fn read(directory: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| given(name).and_then(|value| value.into_string().ok());
        let yes =
            |value: String| !matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off");
        let cache_home = || {
            let home = given("HOME").map(|home| PathBuf::from(home).join(".cache"));
            given("XDG_CACHE_HOME").map(PathBuf::from).or(home).map(|cache| cache.join("huggingface"))
        };
        let hub_home =
            || given("HF_HOME").map(PathBuf::from).or_else(cache_home).map(|home| home.join("hub"));
        Self {
            directory: directory.to_owned(),
            endpoint: text("HF_ENDPOINT")
                .unwrap_or_else(|| "https://huggingface.co".into())
                .trim_end_matches('/')
                .into(),
            token: text("HF_TOKEN").map(Token),
            offline: text("HF_HUB_OFFLINE").is_some_and(yes),
            hub_cache: given("HF_HUB_CACHE").map(PathBuf::from).or_else(hub_home),
            python: "python3".into(),
            guard: Vec::new(),
        }
    }
}

/// A secret that is never shown, not even by a debugger's print.
#[derive(Clone)]
pub struct Token(pub String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// How far a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The reference that is fetched.
    pub reference: &'a str,
    /// The file's name.
    pub file: &'a str,
    /// Bytes that are here.
    pub done: u64,
    /// Bytes of the whole, where they are known.
    pub total: Option<u64>,
}

/// A model that was checked and lies on this machine.
#[derive(Debug)]
pub struct ResolvedModel {
    /// The directory with the model's files.
    pub dir: PathBuf,
    /// The reference that led here, as declared.
    pub reference: String,
    /// Digest of each file by name, the card left out.
    pub files: BTreeMap<String, Digest>,
    /// The licence that the model's card names, where it does.
    pub licence: Option<String>,
    /// The references of higher preference that led nowhere, and why.
    pub passed_over: Vec<Attempt>,
}

/// `pilote-model.json` in a cached model.
#[derive(Serialize, Deserialize)]
struct Manifest {
    format: String,
    reference: String,
    /// The hub's commit, where it named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    files: BTreeMap<String, Digest>,
}

const MANIFEST: &str = "pilote-model.json";
const MANIFEST_FORMAT: &str = "pilote.model/1";

/// Finds models on this machine and fetches them.
pub struct ModelStore {
    cache: PathBuf,
    environment: Environment,
    clock: Arc<dyn Clock>,
    progress: Box<dyn Fn(Progress<'_>) + Send + Sync>,
}

impl ModelStore {
    /// A store that keeps models under `cache`. `clock` is waited on between tries.
    pub fn new(
        cache: &Path,
        environment: Environment,
        clock: Arc<dyn Clock>,
        progress: impl Fn(Progress<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self { cache: cache.to_owned(), environment, clock, progress: Box::new(progress) }
    }

    /// The first usable model: in order of preference among those on this machine, and only when there is none, in
    /// the same order among those that can be fetched. `pins` gives digests by file name.
    ///
    /// # Errors
    /// When no reference leads to a whole model with the pinned digests; the message lists what was tried.
    pub fn resolve(
        &self,
        references: &[String],
        pins: &BTreeMap<String, Digest>,
    ) -> Result<ResolvedModel, ModelError> {
        self.find(references, pins, true)
    }

    /// Like [`ModelStore::resolve`], for later use without a network: a model that only the hub cache of other
    /// programs holds is fetched into this store too.
    ///
    /// # Errors
    /// As [`ModelStore::resolve`].
    pub fn pull(
        &self,
        references: &[String],
        pins: &BTreeMap<String, Digest>,
    ) -> Result<ResolvedModel, ModelError> {
        self.find(references, pins, false)
    }

    fn find(
        &self,
        references: &[String],
        pins: &BTreeMap<String, Digest>,
        hub_cache: bool,
    ) -> Result<ResolvedModel, ModelError> {
        if references.is_empty() {
            return Err(ModelError::NothingNamed);
        }
        let parsed: Vec<_> = references.iter().map(|reference| reference.parse::<Reference>()).collect();
        for (text, reference) in references.iter().zip(&parsed) {
            let found =
                reference.as_ref().ok().and_then(|reference| self.present(reference, pins, hub_cache).ok());
            if let Some((dir, files)) = found.flatten() {
                return Ok(resolved(dir, text, files, Vec::new()));
            }
        }
        let mut attempts = Vec::new();
        for (text, reference) in references.iter().zip(parsed) {
            match reference.and_then(|reference| self.fetch(text, &reference, pins)) {
                Ok((dir, files)) => return Ok(resolved(dir, text, files, attempts)),
                Err(error) => attempts.push(Attempt { reference: text.clone(), error }),
            }
        }
        Err(ModelError::Unavailable { attempts })
    }

    /// The model where it lies already, checked; none where it does not.
    fn present(
        &self,
        reference: &Reference,
        pins: &BTreeMap<String, Digest>,
        hub_cache: bool,
    ) -> Result<Option<Found>, SourceError> {
        if let Reference::Path(path) = reference {
            let dir = self.environment.directory.join(path);
            return check::inspect(&dir, pins).map(|files| Some((dir, files)));
        }
        let own = self.cache.join(key(reference));
        if own.is_dir() {
            // A pin that differs must be heard of; a copy that was damaged in the cache is fetched anew.
            match inspect_own(&own, pins) {
                Err(SourceError::WrongDigest { origin, .. }) if origin != "pinned" => {}
                Err(
                    SourceError::CutShort { .. }
                    | SourceError::MissingFile { .. }
                    | SourceError::BadFile { .. },
                ) => {}
                found => return found.map(|files| Some((own, files))),
            }
        }
        match (reference, &self.environment.hub_cache) {
            (Reference::Hub { org, name, revision }, Some(cache)) if hub_cache => {
                let repository = cache.join(format!("models--{org}--{name}"));
                // A branch or tag is a file that holds the commit.
                let commit = fs_err::read_to_string(repository.join("refs").join(revision));
                let commit = commit.map_or_else(|_| revision.clone(), |commit| commit.trim().to_owned());
                let dir = repository.join("snapshots").join(commit);
                match check::inspect(&dir, pins) {
                    // Without a network this is the news; with one, the right file can be had.
                    Err(error @ SourceError::WrongDigest { .. }) if self.environment.offline => Err(error),
                    // Other programs fetch only the files that they need, so an incomplete snapshot is no error.
                    found => Ok(found.ok().map(|files| (dir, files))),
                }
            }
            _ => Ok(None),
        }
    }

    /// Fetches a model into the cache, unless another process just did.
    fn fetch(
        &self,
        text: &str,
        reference: &Reference,
        pins: &BTreeMap<String, Digest>,
    ) -> Result<Found, SourceError> {
        if matches!(reference, Reference::Path(_)) {
            let found = self.present(reference, pins, false)?;
            return found.ok_or(SourceError::MissingFile { file: text.to_owned() });
        }
        if self.environment.offline {
            return self.present(reference, pins, true)?.ok_or(SourceError::Offline);
        }
        let key = key(reference);
        let staging = self.cache.join("partial").join(&key);
        fs_err::create_dir_all(&staging)?;
        let lock = fs_err::File::create(staging.with_added_extension("lock"))?;
        // Released by the system when this process ends, however it ends.
        lock.file().lock()?;
        if let Some(found) = self.present(reference, pins, false)? {
            return Ok(found);
        }
        let mut report =
            |file: &str, done, total| (self.progress)(Progress { reference: text, file, done, total });
        let revision = match reference {
            Reference::Hub { org, name, revision } => Hub::new(&self.environment, &*self.clock).fetch(
                &format!("{org}/{name}"),
                revision,
                &staging,
                &mut report,
            )?,
            Reference::Package { name, version, subdir } => {
                let Environment { guard, python, .. } = &self.environment;
                let python: Vec<OsString> = guard.iter().cloned().chain([python.into()]).collect();
                package::fetch(&python, name, version, subdir, &staging, &mut report)?;
                None
            }
            Reference::Path(_) => None,
        };
        let files = match check::inspect(&staging, pins) {
            Ok(files) => files,
            Err(error) => {
                // Nothing of a wrong model may be continued from.
                fs_err::remove_dir_all(&staging)?;
                return Err(error);
            }
        };
        let manifest = Manifest { format: MANIFEST_FORMAT.into(), reference: text.into(), revision, files };
        let dir = self.cache.join(key);
        place(&staging, &dir, &manifest)?;
        Ok((dir, manifest.files))
    }
}

/// A directory and the digests of the files in it.
type Found = (PathBuf, BTreeMap<String, Digest>);

fn resolved(
    dir: PathBuf,
    reference: &str,
    files: BTreeMap<String, Digest>,
    passed_over: Vec<Attempt>,
) -> ResolvedModel {
    ResolvedModel { licence: check::licence(&dir), dir, reference: reference.to_owned(), files, passed_over }
}

/// Where a model lies below the cache.
fn key(reference: &Reference) -> PathBuf {
    match reference {
        Reference::Hub { org, name, revision } => {
            Path::new("hub").join(format!("{org}--{name}")).join(revision)
        }
        Reference::Package { name, version, subdir } => {
            Path::new("package").join(format!("{name}-{version}")).join(subdir.replace('/', "--"))
        }
        Reference::Path(path) => path.clone(),
    }
}

/// Checks a model of this cache against the digests that were recorded when it was put there.
fn inspect_own(dir: &Path, pins: &BTreeMap<String, Digest>) -> Result<BTreeMap<String, Digest>, SourceError> {
    let bad = |detail: String| SourceError::BadFile { file: MANIFEST.into(), detail };
    let text = fs_err::read(dir.join(MANIFEST)).map_err(|error| bad(error.to_string()))?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
    if manifest.format != MANIFEST_FORMAT {
        return Err(bad(format!("its format is {}, this program reads {MANIFEST_FORMAT}", manifest.format)));
    }
    let files = check::inspect(dir, pins)?;
    for (file, &expected) in &manifest.files {
        match files.get(file) {
            Some(&seen) if seen == expected => {}
            Some(&seen) => {
                return Err(SourceError::WrongDigest {
                    file: file.clone(),
                    origin: "recorded",
                    expected,
                    seen,
                });
            }
            None => return Err(SourceError::MissingFile { file: file.clone() }),
        }
    }
    Ok(files)
}

/// Puts a whole model where it is looked for: everything durable first, then one rename, then its directory.
fn place(staging: &Path, dir: &Path, manifest: &Manifest) -> Result<(), SourceError> {
    let text = serde_json::to_vec_pretty(manifest).map_err(std::io::Error::other)?;
    fs_err::write(staging.join(MANIFEST), text)?;
    sync_tree(staging)?;
    if dir.is_dir() {
        // A damaged copy, or it would have been used. A process that has it mapped keeps its own view.
        fs_err::remove_dir_all(dir)?;
    }
    let parent = dir.parent().unwrap_or(dir);
    fs_err::create_dir_all(parent)?;
    fs_err::rename(staging, dir)?;
    sync_dir(parent)?;
    Ok(())
}

fn sync_tree(dir: &Path) -> std::io::Result<()> {
    for entry in fs_err::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            fs_err::File::open(entry.path())?.sync_all()?;
        }
    }
    sync_dir(dir)
}

/// Makes the names in a directory durable. Windows has no such call and keeps names with the files.
fn sync_dir(dir: &Path) -> std::io::Result<()> {
    if cfg!(unix) { fs_err::File::open(dir)?.sync_all() } else { Ok(()) }
}
