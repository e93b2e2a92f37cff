//! The project templates that the program carries, laid out as folders.

use std::path::Path;

use anyhow::Context as _;

use crate::args::Template;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/templates.rs"));
}

/// The files of a template: path below the project, and content.
pub(crate) fn files(template: Template) -> &'static [(&'static str, &'static [u8])] {
    match template {
        Template::Documents => embedded::DOCUMENTS,
        Template::Embeddings => embedded::EMBEDDINGS,
    }
}

/// Writes a template's files below `dir`; a file that is there is never written over.
///
/// # Errors
/// When `dir` holds something already, or a file cannot be written.
pub(crate) fn lay_out(template: Template, dir: &Path) -> anyhow::Result<Vec<&'static str>> {
    fs_err::create_dir_all(dir)?;
    if fs_err::read_dir(dir)?.next().is_some() {
        anyhow::bail!("{} is not empty, and nothing in it is written over", dir.display());
    }
    let mut written = Vec::new();
    for (path, content) in files(template) {
        let target = dir.join(path);
        if let Some(parent) = target.parent() {
            fs_err::create_dir_all(parent)?;
        }
        let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(&target)?;
        std::io::Write::write_all(&mut file, content)
            .with_context(|| format!("{} cannot be written", target.display()))?;
        written.push(*path);
    }
    Ok(written)
}
