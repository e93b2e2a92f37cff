//! `pilote model pull`, and how every other command comes by its model.

use std::collections::BTreeMap;
use std::path::Path;

use pilote_engine::model::{Environment, ModelStore, ResolvedModel};
use pilote_spec::{Digest, EngineConfig};
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::Meter;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct PullJson<'a> {
    format: &'static str,
    reference: &'a str,
    dir: String,
    licence: Option<&'a str>,
    sha256: &'a BTreeMap<String, Digest>,
}

/// Fetches a model and checks it.
///
/// # Errors
/// When no reference leads to a whole model with the declared digests.
pub(crate) fn pull(
    args: &args::ModelPull,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let cache = surroundings.model_cache(args.cache.as_deref())?;
    let (folder, references, pins) = if args.references.is_empty() {
        let place = Place::find(surroundings, args.project.as_deref())?;
        let EngineConfig::Builtin(builtin) = place.parsed.project.engine else {
            let error =
                anyhow::anyhow!("the project's engine is a program of its own and names no model to fetch");
            return Err(Failure::request("no-model", error));
        };
        (place.root, builtin.model, builtin.sha256)
    } else {
        (surroundings.folder.clone(), args.references.clone(), BTreeMap::new())
    };
    let store = store(surroundings, printer, &folder, &cache);
    let model = store.pull(&references, &pins).map_err(|error| Failure::machine("model", error))?;
    for (name, digest) in &model.files {
        printer.line(&format!("{digest}  {name}"));
    }
    printer.object(&PullJson {
        format: "pilote.model/1",
        reference: &model.reference,
        dir: model.dir.display().to_string(),
        licence: model.licence.as_deref(),
        sha256: &model.files,
    });
    let dir = model.dir.display().to_string();
    printer.say(&printer.texts.get("model-kept", &[("reference", &model.reference), ("dir", &dir)]));
    Ok(Exit::Holds)
}

/// The model of the built-in engine, fetched where it is not there yet.
///
/// # Errors
/// When no reference leads to a whole model with the declared digests.
pub(crate) fn resolve(
    builtin: &pilote_spec::Builtin,
    project: &Path,
    surroundings: &Surroundings,
    printer: &Printer,
    cache: &Path,
) -> Result<ResolvedModel, Failure> {
    let store = store(surroundings, printer, project, cache);
    store.resolve(&builtin.model, &builtin.sha256).map_err(|error| Failure::machine("model", error))
}

/// The store of models under `cache`, with progress.
pub(crate) fn store(
    surroundings: &Surroundings,
    printer: &Printer,
    project: &Path,
    cache: &Path,
) -> ModelStore {
    let mut environment = Environment::read(project, |name| surroundings.variable(name).map(Into::into));
    environment.guard = super::engine::guard_program().map(|guard| guard.run()).unwrap_or_default();
    let meter = Meter::new(printer, surroundings.clock.clone());
    ModelStore::new(cache, environment, surroundings.clock.clone(), move |progress| {
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        meter.show(progress.file, megabytes(progress.done), progress.total.map_or(0, megabytes), "MB");
    })
}
