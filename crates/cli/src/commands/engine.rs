//! Starting the declared engine, of whatever kind it is.

use std::sync::Arc;

use pilote_engine::builtin::Builtin;
use pilote_engine::command::CommandEngine;
use pilote_engine::openai::ServerEngine;
use pilote_engine::process::{GuardProgram, Scratch, Surround, visible};
use pilote_engine::worker::WorkerEngine;
use pilote_engine::{Engine, EngineFault};
use pilote_spec::{EngineConfig, Project};

use super::crew::Share;
use super::model;
use crate::place::Place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

/// The declared engine with what this worker has to itself: its devices instead of the declared ones, and of the
/// machine's processors its share, where no number of threads is declared.
fn own(declared: &EngineConfig, share: &Share) -> EngineConfig {
    let mut engine = declared.clone();
    let devices = share.devices.clone();
    match &mut engine {
        EngineConfig::Builtin(builtin) if share.workers > 1 => {
            let all =
                std::thread::available_parallelism().map_or(1, |all| u32::try_from(all.get()).unwrap_or(1));
            builtin.threads = builtin.threads.or(Some((all / share.workers).max(1)));
        }
        EngineConfig::Worker(worker) => worker.environment.extend(visible(&devices)),
        EngineConfig::Command(command) if !devices.is_empty() => command.devices = devices,
        EngineConfig::OpenAi(server) if !devices.is_empty() => {
            if let Some(launch) = &mut server.launch {
                launch.devices = devices;
            }
        }
        _ => {}
    }
    engine
}

/// Starts the declared engine; the model of the built-in one is fetched first.
///
/// # Errors
/// When it cannot be started, with its first error and the step reached.
pub(crate) fn start(
    place: &Place,
    share: &Share,
    cache: &std::path::Path,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Box<dyn Engine>, EngineFault> {
    let project = &place.parsed.project;
    match &own(&project.engine, share) {
        EngineConfig::Builtin(builtin) => {
            let model =
                model::resolve(builtin, &place.root, surroundings, printer, cache).map_err(|failure| {
                    let advice = failure.hints.first().cloned();
                    EngineFault {
                        step: "model".to_owned(),
                        first_error: failure.message(),
                        advice,
                        ended: true,
                    }
                })?;
            let clock = surroundings.clock.clone();
            Ok(Box::new(Builtin::start(builtin, &project.output, &project.limits, model, clock)?))
        }
        EngineConfig::Worker(worker) => {
            let around = surround(&place.root, &project.secrets, surroundings)?;
            Ok(Box::new(WorkerEngine::start(worker, &project.output, around)?))
        }
        EngineConfig::OpenAi(server) => {
            let around = surround(&place.root, &secrets(project), surroundings)?;
            let seed = getrandom::u64().map_err(|error| fault(&error.to_string()))?;
            Ok(Box::new(ServerEngine::start(server, &project.output, &around, seed)?))
        }
        EngineConfig::Command(command) => {
            let around = surround(&place.root, &project.secrets, surroundings)?;
            Ok(Box::new(CommandEngine::start(command, &project.output, around)?))
        }
    }
}

/// Names of the variables that hold the project's secrets, the key of its server included.
pub(crate) fn secrets(project: &Project) -> Vec<String> {
    let key = match &project.engine {
        EngineConfig::OpenAi(server) => server.key.iter(),
        _ => None.iter(),
    };
    project.secrets.iter().chain(key).cloned().collect()
}

/// What a child process gets beside its declared parameters.
///
/// # Errors
/// When the program cannot name itself or no folder for temporary files can be made.
pub(crate) fn surround(
    project: &std::path::Path,
    secrets: &[String],
    surroundings: &Surroundings,
) -> Result<Surround, EngineFault> {
    let temporary = surroundings.variable("TMPDIR").unwrap_or("/tmp");
    let random = getrandom::u64().map_err(|error| fault(&error.to_string()))?;
    let name = format!("pilote-{}-{random:016x}", std::process::id());
    let scratch = Scratch::make(&std::path::Path::new(temporary).join(name))
        .map_err(|error| fault(&format!("no folder for temporary files can be made: {error}")))?;
    Ok(Surround {
        guard: guard_program()?,
        project: project.to_owned(),
        scratch,
        environment: surroundings.variables.clone(),
        secrets: secrets.to_vec(),
        clock: Arc::clone(&surroundings.clock) as _,
    })
}

/// This very program, as a guard.
pub(crate) fn guard_program() -> Result<GuardProgram, EngineFault> {
    let program = std::env::current_exe().map_err(|error| {
        fault(&format!("the program cannot name itself, so no child can be guarded: {error}"))
    })?;
    Ok(GuardProgram { program, arguments: vec![super::GUARD.into()] })
}

fn fault(first_error: &str) -> EngineFault {
    EngineFault { step: "start".to_owned(), first_error: first_error.to_owned(), advice: None, ended: true }
}
