//! From a project to what the ladder asks of a machine: its declared needs, its engine's interpreter, what its
//! libraries force, and the order.

use std::path::Path;

use anyhow::anyhow;
use pilote_machine::demands::{Demands, ORDER_FORMAT, OrderFile, Ordered, Pinned};
use pilote_size::cards::Cards;
use pilote_size::memory::Backend;
use pilote_spec::{EngineConfig, NeededBackend, Project, Stamp};

use super::programs::Guarded;
use crate::failure::Failure;

/// What is asked of the machine.
pub(crate) fn demands(
    project: &Project,
    root: &Path,
    programs: &Guarded,
    order: Option<Ordered>,
    now: Stamp,
) -> Demands {
    let needs = project.needs.clone().unwrap_or_default();
    let backend = needs.backend.or_else(|| forced(project, root));
    let interpreter = needs.interpreter.clone().or_else(|| interpreter(&project.engine, programs));
    let files = pilote_machine::project::requirement_files(Some(project));
    let pinned = files.iter().flat_map(|file| pinned(root, file)).collect();
    Demands { needs, backend, interpreter, pinned, order, now: Some(now) }
}

/// The built-in engine computes on the processor; for the others the libraries decide, as far as they force a choice.
fn forced(project: &Project, root: &Path) -> Option<NeededBackend> {
    if matches!(project.engine, EngineConfig::Builtin(_)) {
        return Some(NeededBackend::Cpu);
    }
    match pilote_size::libraries::libraries(root, None).ok()?.possible.as_slice() {
        [Backend::Cuda] => Some(NeededBackend::Cuda),
        [Backend::Rocm] => Some(NeededBackend::Rocm),
        [Backend::Cpu] => Some(NeededBackend::Cpu),
        _ => None,
    }
}

/// The interpreter of an engine's command: the program itself, or the one that a script names in its first line.
fn interpreter(engine: &EngineConfig, programs: &Guarded) -> Option<String> {
    let command = match engine {
        EngineConfig::Builtin(_) => return None,
        EngineConfig::Worker(worker) => &worker.command,
        EngineConfig::OpenAi(server) => &server.launch.as_ref()?.command,
        EngineConfig::Command(command) => &command.command,
    };
    let program = command.first()?;
    if is_python(program) {
        return Some(program.clone());
    }
    let script = fs_err::read(programs.finds(program)?).ok()?;
    let first = script.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = std::str::from_utf8(first.get(..first.len().min(512))?).ok()?.strip_prefix("#!")?;
    let mut words = first.split_whitespace().filter(|word| !word.starts_with('-'));
    let named = words.next()?;
    let named = if named.ends_with("/env") { words.next()? } else { named };
    is_python(named).then(|| named.to_owned())
}

fn is_python(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// Pinned packages of a requirement file; the lint says what is wrong with its lines.
fn pinned(root: &Path, file: &str) -> Vec<Pinned> {
    let Ok(text) = fs_err::read_to_string(root.join(file)) else { return Vec::new() };
    pilote_machine::project::requirements(file, &text)
        .into_iter()
        .filter_map(|line| {
            Some(Pinned { name: line.name, version: line.version?, place: line.place, limited: line.limited })
        })
        .collect()
}

/// Reads an order, and resolves its card to the names under which drivers show it.
///
/// # Errors
/// When it is no order.
pub(crate) fn order(path: &Path) -> Result<Ordered, Failure> {
    let wrong = |problem: String| {
        Failure::request("order", anyhow!("{} is no order: {problem}", path.display()))
            .hint("the desk gives the file; it names `format`, `card` and `cards`")
    };
    let text = fs_err::read_to_string(path).map_err(|error| Failure::request("order", error))?;
    let file: OrderFile = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if file.format != ORDER_FORMAT {
        return Err(wrong(format!("its format is `{}`, and this program reads {ORDER_FORMAT}", file.format)));
    }
    let table = Cards::built_in()?;
    let known = table.named(&file.card).ok();
    let names = known.map_or_else(
        || vec![file.card.clone()],
        |card| std::iter::once(card.name.clone()).chain(card.aliases.iter().cloned()).collect(),
    );
    let table_memory = known.map(|card| card.memory_mib << 20);
    Ok(Ordered {
        card: file.card,
        names,
        memory_bytes: file.memory_mib.map(|mib| mib << 20).or(table_memory),
        cards: file.cards,
        preparation: file.preparation,
        ends: file.ends,
    })
}
