//! The end of a rental: what must leave the machine is gathered in one place, and what would be lost if the machine
//! were taken back now is said. Nothing is deleted, here or elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pilote_spec::{Digest, EngineConfig, ModelRef, Project, Stamp};
use serde::{Deserialize, Serialize};

use crate::algorithm::{Algorithm, Digests, pass};
use crate::collection::FileFacts;
use crate::decision::DECISIONS;
use crate::document::{self, Document};
use crate::error::{ProofError, io};
use crate::export::{Export, Exported, export_as};
use crate::files;
use crate::manifest::{MANIFEST, Manifest};
use crate::receipt::{RECEIPTS, last_receipt};
use crate::spot::{self, Destination, Spot};
use crate::status::{TrialState, runs};

/// The account of what was gathered, inside the bundle.
const CLOSING: &str = "closing.json";

/// What of a project goes into the bundle beside its decisions; the trials are exported by themselves.
const PROJECT: [&str; 4] = ["README.md", "requirements-rebuild.txt", "config", "src"];

/// What a closing came to, format `pilote.closing/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    /// Always `pilote.closing/1`.
    pub format: String,
    /// The project's name.
    pub project: String,
    /// When.
    pub at: Stamp,
    /// Files of the bundle by path within it: configuration, code, decisions, weights that are only here.
    pub files: BTreeMap<String, FileFacts>,
    /// Where the model comes from, where it need not be carried: each reference, most preferred first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub model: Vec<String>,
    /// Every trial with its copy.
    pub trials: Vec<ClosedTrial>,
    /// What would be lost if the machine were taken back now.
    pub lost: Vec<Loss>,
    /// Whether nothing would be lost that cannot be had again.
    pub safe: bool,
}

impl Document for Closing {
    const FORMAT: &'static str = "pilote.closing/1";
}

/// A trial with its copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedTrial {
    /// Its name.
    pub trial: String,
    /// Where its copy is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
    /// Whether that copy was read again and is whole.
    pub whole: bool,
    /// Whether another machine has verified a copy of it.
    pub verified_elsewhere: bool,
}

/// Something that would be lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Why.
    pub code: LossCode,
    /// What.
    pub what: String,
}

/// Why something would be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossCode {
    /// A trial that is not finished: what is copied of it is not its end.
    Unfinished,
    /// A trial whose copy could not be made, or is not whole.
    NotCopied,
    /// A trial of which no other machine has verified a copy.
    NotVerifiedElsewhere,
    /// The bundle lies on the file system of the project.
    BundleHere,
    /// Something that cannot be part of a copy: a link, a device, a name that is not UTF-8.
    NotPlain,
    /// Weights that a path names and that could not be read.
    Weights,
    /// Inputs, which are not copied: they may be elsewhere already, which only their owner knows.
    Inputs,
}

impl LossCode {
    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::NotCopied => "not-copied",
            Self::NotVerifiedElsewhere => "not-verified-elsewhere",
            Self::BundleHere => "bundle-here",
            Self::NotPlain => "not-plain",
            Self::Weights => "weights",
            Self::Inputs => "inputs",
        }
    }

    /// Whether the machine is not to be given back before it is dealt with. Inputs are known to their owner.
    #[must_use]
    pub fn blocks(self) -> bool {
        self != Self::Inputs
    }
}

/// Exports every trial of the project at `root` to `destination`, gathers in a bundle there what else must leave, reads
/// all of it again, and says what would be lost.
///
/// `watch` is told the trial that is copied, its bytes that are done, and out of how many. Interrupted, it is done
/// again, and what is there whole stays.
///
/// # Errors
/// When `destination` lies inside of the project, or reading or writing fails. A trial that cannot be copied is no
/// error: it is among what would be lost.
pub fn close(
    root: &Path,
    project: &Project,
    destination: &Destination,
    at: Stamp,
    watch: &mut dyn FnMut(&str, u64, u64),
) -> Result<(Closing, PathBuf), ProofError> {
    if let Destination::Folder(folder) = destination {
        fs_err::create_dir_all(folder).map_err(|error| io("create", folder, error))?;
        let real = |path: &Path| fs_err::canonicalize(path).map_err(|error| io("find", path, error));
        if real(folder)?.starts_with(real(root)?) {
            return Err(ProofError::DestinationInside { path: folder.clone() });
        }
    }
    let mut lost = Vec::new();
    let trials = trials(root, destination, at, &mut lost, watch)?;
    let mut sources = Sources::default();
    sources.project(root, &mut lost)?;
    sources.weights(root, project, &mut lost)?;
    lost.extend(inputs(root)?);
    let (bundle, files) = sources.gather(project, destination)?;
    if bundle.disk().is_some_and(|bundle| crate::export::same_file_system(root, bundle) != Some(false)) {
        lost.push(Loss { code: LossCode::BundleHere, what: bundle.shown().display().to_string() });
    }
    let safe = !lost.iter().any(|loss| loss.code.blocks());
    let closing = Closing {
        format: Closing::FORMAT.to_owned(),
        project: project.name.clone(),
        at,
        files,
        model: model(project),
        trials,
        lost,
        safe,
    };
    bundle.replace(CLOSING, &document::bytes(&bundle.shown(), &closing)?)?;
    Ok((closing, bundle.shown()))
}

/// The account that a bundle holds.
///
/// # Errors
/// When it is not there, was changed, or is of another format.
pub fn closing(bundle: &Path) -> Result<Closing, ProofError> {
    let path = bundle.join(CLOSING);
    let bytes = fs_err::read(&path).map_err(|error| io("read", &path, error))?;
    document::decode(&bytes).map_err(|source| ProofError::Document { path, source })
}

/// Exports every trial and says of each what became of it.
fn trials(
    root: &Path,
    destination: &Destination,
    at: Stamp,
    lost: &mut Vec<Loss>,
    watch: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<ClosedTrial>, ProofError> {
    let mut closed = Vec::new();
    for trial in runs(root)? {
        let name = trial.name.clone();
        let loss = |code, detail: String| {
            let what = if detail.is_empty() { name.clone() } else { format!("{name}: {detail}") };
            Loss { code, what }
        };
        if trial.state != TrialState::Collected {
            lost.push(loss(LossCode::Unfinished, String::new()));
        }
        let own = Export::new(&trial.path, destination.clone(), at);
        let exported = export_as(&own, &mut |done, all| watch(&name, done, all));
        let (copy, whole) = match exported {
            Ok(Exported { copy, verification, .. }) => (Some(copy.display().to_string()), verification.whole),
            Err(error) => {
                lost.push(loss(LossCode::NotCopied, error.to_string()));
                (None, false)
            }
        };
        if copy.is_some() && !whole {
            lost.push(loss(LossCode::NotCopied, String::new()));
        }
        let verified_elsewhere = last_receipt(&trial.path).is_some();
        if trial.state == TrialState::Collected && whole && !verified_elsewhere {
            lost.push(loss(LossCode::NotVerifiedElsewhere, String::new()));
        }
        closed.push(ClosedTrial { trial: name, copy, whole, verified_elsewhere });
    }
    Ok(closed)
}

/// Inputs below `data/`, which are not copied.
fn inputs(root: &Path) -> Result<Option<Loss>, ProofError> {
    let data = root.join("data");
    if !data.is_dir() {
        return Ok(None);
    }
    let any = !files::walk(&data)?.files.is_empty();
    Ok(any.then(|| Loss { code: LossCode::Inputs, what: "data/".to_owned() }))
}

/// The references of the model, where it can be had again by one of them.
fn model(project: &Project) -> Vec<String> {
    match &project.engine {
        EngineConfig::Builtin(builtin) => builtin.model.clone(),
        EngineConfig::OpenAi(server) => vec![server.model.clone()],
        EngineConfig::Worker(_) | EngineConfig::Command(_) => Vec::new(),
    }
}

/// What goes into the bundle: where each file is, by its path in the bundle.
#[derive(Default)]
struct Sources(BTreeMap<String, PathBuf>);

impl Sources {
    /// The project's own files, and the decisions and receipts of its trials.
    fn project(&mut self, root: &Path, lost: &mut Vec<Loss>) -> Result<(), ProofError> {
        for name in PROJECT {
            let path = root.join(name);
            if path.is_file() {
                self.0.insert(format!("project/{name}"), path);
            } else if path.is_dir() {
                self.folder(&path, &format!("project/{name}"), lost)?;
            }
        }
        for trial in runs(root)? {
            for folder in [DECISIONS, RECEIPTS] {
                let path = trial.path.join(folder);
                if path.is_dir() {
                    self.folder(&path, &format!("project/runs/{}/{folder}", trial.name), lost)?;
                }
            }
        }
        Ok(())
    }

    /// Weights that only a path names: nobody else has them.
    fn weights(&mut self, root: &Path, project: &Project, lost: &mut Vec<Loss>) -> Result<(), ProofError> {
        let EngineConfig::Builtin(builtin) = &project.engine else { return Ok(()) };
        let reference = |text: &String| text.parse::<ModelRef>().ok();
        let references: Vec<ModelRef> = builtin.model.iter().filter_map(reference).collect();
        // One reference that others can follow is enough, since the files have their digests.
        if references.iter().any(|reference| !matches!(reference, ModelRef::Path { .. })) {
            return Ok(());
        }
        for text in &builtin.model {
            let Some(declared) = text.strip_prefix("path:") else { continue };
            let path = root.join(declared);
            if path.is_dir() {
                self.folder(&path, "weights", lost)?;
                return Ok(());
            }
        }
        lost.push(Loss { code: LossCode::Weights, what: builtin.model.join(", ") });
        Ok(())
    }

    fn folder(&mut self, path: &Path, place: &str, lost: &mut Vec<Loss>) -> Result<(), ProofError> {
        let listing = files::walk(path)?;
        for (name, what) in listing.not_plain {
            lost.push(Loss { code: LossCode::NotPlain, what: format!("{place}/{name}: {what}") });
        }
        for file in listing.files {
            self.0.insert(format!("{place}/{}", file.path), path.join(&file.path));
        }
        Ok(())
    }

    /// Copies everything to a bundle at `destination` that bears the digest of its list in its name, and reads it again
    /// from there.
    fn gather(
        self,
        project: &Project,
        destination: &Destination,
    ) -> Result<(Spot, BTreeMap<String, FileFacts>), ProofError> {
        let (mut manifest, mut facts) = (Manifest::default(), BTreeMap::new());
        for (name, path) in &self.0 {
            let (sha256, bytes) =
                files::digest(path)?.ok_or_else(|| ProofError::Missing { path: path.clone() })?;
            manifest.0.insert(name.clone(), sha256);
            facts.insert(name.clone(), FileFacts { bytes, sha256 });
        }
        let list = manifest.encode();
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
        let name: String = project.name.chars().take(80).map(plain).collect();
        let bundle = destination.at(&format!("{name}-closing-{}", Digest::of(list.as_bytes()).short()));
        if let Some(folder) = bundle.disk() {
            fs_err::create_dir_all(folder).map_err(|error| io("create", folder, error))?;
        }
        let there = spot::lengths(bundle.listing()?);
        for (name, facts) in &facts {
            // The name promises the list, so what is there already is that file or what an interruption left of it.
            let digests = |bytes| bundle.digests(name, bytes, &[Algorithm::Sha256]);
            let kept = match there.get(name) {
                Some(length) if *length == facts.bytes => is(&digests(facts.bytes)?, facts.sha256),
                _ => false,
            };
            if !kept {
                put(&bundle, name, &self.0[name], *facts)?;
            }
        }
        bundle.sync(self.0.keys().map(String::as_str))?;
        bundle.replace(MANIFEST, list.as_bytes())?;
        for (name, facts) in &facts {
            if !is(&bundle.digests(name, facts.bytes, &[Algorithm::Sha256])?, facts.sha256) {
                return Err(ProofError::Damaged {
                    path: bundle.shown().join(name),
                    why: "it was read again with another digest".into(),
                });
            }
        }
        Ok((bundle, facts))
    }
}

fn is(digests: &Digests, expected: Digest) -> bool {
    digests.get(&Algorithm::Sha256) == Some(&expected.to_string())
}

/// Copies one file into the bundle. One that changed meanwhile must not stand there under its name.
fn put(bundle: &Spot, name: &str, from: &Path, facts: FileFacts) -> Result<(), ProofError> {
    let mut source = files::open_plain(from).map_err(|error| io("read", from, error))?;
    let mut target = bundle.begin(name, facts.bytes)?;
    let (digests, _) = pass(&mut source, &mut target, &[Algorithm::Sha256])
        .map_err(|error| io("copy to", target.shown(), error))?;
    if !is(&digests, facts.sha256) {
        return Err(ProofError::SourceChanged { path: from.to_owned() });
    }
    target.finish()
}
