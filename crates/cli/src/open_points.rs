//! The open points of the pilot: figures that nobody measured yet, kept in the project until a trial did.

use std::path::Path;

use pilote_size::OpenPoint;
use pilote_text::Texts;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::size_command::{part_name, said};

/// Where they are kept in a project.
pub(crate) const FILE: &str = "config/open-points.json";

const FORMAT: &str = "pilote.open-points/1";

#[derive(Serialize, Deserialize)]
struct Kept {
    format: String,
    points: Vec<OpenPoint>,
}

/// Writes them into the project; none are written too, since that says that a peak was measured.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn keep(root: &Path, points: &[OpenPoint]) -> Result<(), Failure> {
    let kept = Kept { format: FORMAT.to_owned(), points: points.to_vec() };
    let text = serde_json::to_string_pretty(&kept).map_err(|error| Failure::machine("open-points", error))?;
    fs_err::write(root.join(FILE), text + "\n").map_err(|error| Failure::machine("open-points", error))
}

/// Those that a project keeps; none where it was never sized.
///
/// # Errors
/// When the file is there and is no list of open points: a damaged list must not read as an empty one.
pub(crate) fn kept(root: &Path) -> Result<Vec<OpenPoint>, Failure> {
    let path = root.join(FILE);
    let text = match fs_err::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::machine("open-points", error)),
    };
    let hint = "size the task again: `pilote size` writes this file anew";
    let bad = |error: anyhow::Error| Failure::request("open-points", error).hint(hint);
    let kept: Kept = serde_json::from_str(&text)
        .map_err(|error| bad(anyhow::anyhow!("{} is no list of open points: {error}", path.display())))?;
    if kept.format != FORMAT {
        return Err(bad(anyhow::anyhow!(
            "{} is of the format {:?}, not {FORMAT}",
            path.display(),
            kept.format
        )));
    }
    Ok(kept.points)
}

/// A heading and a line for each point; nothing where there are none.
pub(crate) fn lines(points: &[OpenPoint], texts: &Texts) -> Vec<String> {
    if points.is_empty() {
        return Vec::new();
    }
    let line = |point: &OpenPoint| {
        let part = part_name(texts, point.part);
        let missing = said(texts, point.phrase.as_ref(), &point.missing);
        format!("  {}", texts.get("size-open-point", &[("part", &part), ("missing", &missing)]))
    };
    std::iter::once(texts.get("size-open-points", &[])).chain(points.iter().map(line)).collect()
}
