//! What a project's libraries say of the backend, as lines that people read; part of `pilote size` in a project.

use std::io::{self, Write};

use pilote_size::libraries::{Conflict, Found, Index, Libraries, Runs};
use pilote_size::memory::Backend;
use pilote_text::Texts;

use crate::commands::interpreter::Interpreter;
use crate::size_command::{code, print_rows, said};

/// The backend's own name, which no language translates.
fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Cuda => "CUDA",
        Backend::Rocm => "ROCm",
        Backend::Cpu => "CPU",
    }
}

/// Prints libraries, conflicts, own code, the interpreter that was found, and the wheel index that fits the machine.
///
/// # Errors
/// When the writer fails.
pub(crate) fn print(
    libraries: &Libraries,
    python: Option<&Interpreter>,
    index: &Index,
    texts: &Texts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let files = texts.list(libraries.files.iter().map(String::as_str));
    let args = [("files", files.as_str()), ("checked", &libraries.checked)];
    writeln!(out, "{}", texts.get("libraries-title", &args))?;
    print_known(libraries, texts, out)?;
    for (image, backend) in &libraries.images {
        let backend = backend
            .map_or_else(|| texts.get("libraries-runs-unknown", &[]), |one| backend_name(one).to_owned());
        writeln!(out, "{}", texts.get("libraries-image", &[("image", image), ("backend", &backend)]))?;
    }
    for conflict in &libraries.conflicts {
        writeln!(out, "{}", conflict_text(conflict, texts))?;
    }
    for (kind, place) in &libraries.own_code {
        writeln!(out, "{}", texts.get(&format!("libraries-code-{}", code(kind)), &[("place", place)]))?;
    }
    let possible: Vec<&str> = libraries.possible.iter().map(|backend| backend_name(*backend)).collect();
    if possible.is_empty() {
        writeln!(out, "{}", texts.get("libraries-impossible", &[]))?;
    } else {
        let backends = texts.list(possible);
        writeln!(out, "{}", texts.get("libraries-possible", &[("backends", &backends)]))?;
    }
    if !libraries.unknown.is_empty() {
        let names = texts.list(libraries.unknown.iter().map(String::as_str));
        writeln!(out, "{}", texts.get("libraries-unknown", &[("names", &names)]))?;
    }
    for (name, place) in &libraries.indexes {
        writeln!(out, "{}", texts.get("libraries-index-named", &[("name", name), ("place", place)]))?;
    }
    let found = match python {
        Some(Interpreter { place, said }) => {
            let platform = format!("{} {}", said.system(), said.architecture);
            let args = [
                ("implementation", said.implementation.as_str()),
                ("version", &said.version),
                ("platform", &platform),
                ("place", place),
            ];
            texts.get("libraries-python", &args)
        }
        None => texts.get("libraries-python-unknown", &[]),
    };
    writeln!(out, "{found}")?;
    match index {
        Index::Named { name, source, .. } => {
            writeln!(out, "{}", texts.get("libraries-index", &[("name", name), ("source", source)]))?;
        }
        Index::None { why, phrase } => {
            let why = said(texts, phrase.as_ref(), why);
            writeln!(out, "{}", texts.get("libraries-index-none", &[("why", &why)]))?;
        }
    }
    writeln!(out, "{}", texts.get("libraries-copied", &[]))
}

fn print_known(libraries: &Libraries, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    if libraries.known.is_empty() {
        return writeln!(out, "{}", texts.get("libraries-none", &[]));
    }
    let runs = |runs: &Runs| texts.get(&format!("libraries-runs-{}", code(runs)), &[]);
    let title = texts.get("libraries-column-name", &[]);
    let mut rows = vec![[title, "CUDA".to_owned(), "ROCm".to_owned(), "CPU".to_owned(), String::new()]];
    rows.extend(libraries.known.iter().map(|found| {
        let name = match (&found.version, &found.build) {
            (Some(version), _) => format!("{} {version}", found.name),
            (None, Some(build)) => format!("{} ({})", found.name, build.tag()),
            (None, None) => found.name.clone(),
        };
        let note = found.note.clone().unwrap_or_default();
        [name, runs(&found.cuda), runs(&found.rocm), runs(&found.cpu), note]
    }));
    print_rows(&rows, &[], out)?;
    for Found { name, places, forces, .. } in &libraries.known {
        let (Some(backend), Some(place)) = (forces, places.first()) else { continue };
        let args = [("name", name.as_str()), ("place", place), ("backend", backend_name(*backend))];
        writeln!(out, "{}", texts.get("libraries-forces", &args))?;
    }
    Ok(())
}

fn conflict_text(conflict: &Conflict, texts: &Texts) -> String {
    let list = |names: &[String]| texts.list(names.iter().map(String::as_str));
    match conflict {
        Conflict::CudaMajors { names } => {
            texts.get("libraries-conflict-cuda-majors", &[("names", &list(names))])
        }
        Conflict::Backends { names } => texts.get("libraries-conflict-backends", &[("names", &list(names))]),
        Conflict::NotOnPlanned { name, planned, place } => {
            let args = [("name", name.as_str()), ("place", place), ("backend", backend_name(*planned))];
            texts.get("libraries-conflict-not-on-planned", &args)
        }
        Conflict::Versions { name, versions } => {
            texts.get("libraries-conflict-versions", &[("name", name), ("names", &list(versions))])
        }
    }
}
