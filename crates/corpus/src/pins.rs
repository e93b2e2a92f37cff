//! The fixed digests of the pilot's inputs, in the form that `sha256sum` writes and checks.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;

use pilote_spec::{Digest, Inputs, Location};

use crate::notes::Notes;
use crate::paths::row_files;
use crate::scan;
use crate::shape::Shape;
use crate::source::{CorpusError, Source, stored};

/// Digests by path relative to the project, so that `sha256sum -c` in the project's folder checks the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    /// The digest of each file. A name that is not UTF-8 is percent-encoded.
    pub files: BTreeMap<String, Digest>,
}

/// A line that is not of the form `sha256sum` writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}; each line is a sha256 digest, two spaces and a path, as sha256sum writes them")]
pub struct PinsError {
    /// Line from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// A file that is not as it was fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Path relative to the project.
    pub path: String,
    /// In what it differs.
    pub kind: DifferenceKind,
}

/// In what a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Its content is another.
    Changed {
        /// The digest that was fixed.
        fixed: Digest,
        /// The digest now.
        seen: Digest,
    },
    /// It is fixed, and is not there or cannot be read.
    Absent,
    /// It is there, and no digest of it was fixed.
    Extra,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.kind {
            DifferenceKind::Changed { fixed, seen } => {
                write!(f, "`{path}` changed: its digest was fixed as {fixed} and is {seen}")
            }
            DifferenceKind::Absent => write!(f, "`{path}` is fixed and is not there, or cannot be read"),
            DifferenceKind::Extra => write!(f, "`{path}` is there and no digest of it was fixed"),
        }
    }
}

/// The digests of the files of `source` as they are now: of every file below a directory, of the files of rows,
/// or of what a range needs. Files that cannot be read are left out.
///
/// # Errors
/// When the inputs as a whole cannot be read.
pub fn digests(source: &Source) -> Result<Pins, CorpusError> {
    let mut pins = Pins::default();
    if let Some(shape) = Shape::of(&source.inputs) {
        for file in row_files(&source.root, &shape.paths, shape.format, &mut Notes::default())? {
            let failed = |error| CorpusError::Io { path: file.path.clone(), source: error };
            let stored = File::open(&file.full).and_then(|mut file| stored(&mut file, 0)).map_err(failed)?;
            pins.files.insert(relative(&file.path, ""), stored.digest);
        }
        return Ok(pins);
    }
    if let Inputs::Range { .. } = source.inputs {
        let needs = crate::range::needs(source)?;
        pins.files = needs.pins.files.into_iter().map(|(path, pin)| (relative(&path, ""), pin)).collect();
        return Ok(pins);
    }
    for item in scan(source)? {
        let item = item?;
        if let (Location::File { path, .. }, Some(digest)) = (item.location, item.digest) {
            pins.files.insert(relative(source.declared(), &path), digest);
        }
    }
    Ok(pins)
}

/// The declared path and what follows it, without `./` and doubled slashes.
fn relative(declared: &str, below: &str) -> String {
    let names = declared.split('/').filter(|name| !name.is_empty() && *name != ".");
    let joined = names.chain((!below.is_empty()).then_some(below)).collect::<Vec<_>>().join("/");
    if declared.starts_with('/') { format!("/{joined}") } else { joined }
}

impl Pins {
    /// Reads what [`Pins`] or `sha256sum` wrote.
    ///
    /// # Errors
    /// With the first line that is not of the form, or that names a path again.
    pub fn parse(text: &str) -> Result<Self, PinsError> {
        let mut pins = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate()
        {
            if line.is_empty() {
                continue;
            }
            let wrong = |what: &str| PinsError { line: number + 1, what: what.to_owned() };
            let (escaped, line) = line.strip_prefix('\\').map_or((false, line), |line| (true, line));
            let (digest, path) = line.split_once(' ').ok_or_else(|| wrong("no path"))?;
            let digest: Digest = digest.parse().map_err(|_| wrong("no sha256 digest at the start"))?;
            let path = path.strip_prefix([' ', '*']).ok_or_else(|| wrong("one space in place of two"))?;
            let path = if escaped {
                unescaped(path).ok_or_else(|| wrong("a wrong escape"))?
            } else {
                path.to_owned()
            };
            let path = relative(&path, "");
            if pins.files.insert(path.clone(), digest).is_some() {
                return Err(wrong(&format!("`{path}` stands a second time")));
            }
        }
        Ok(pins)
    }

    /// Where `seen` differs from these fixed digests, by path.
    #[must_use]
    pub fn differences(&self, seen: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (path, fixed) in &self.files {
            let kind = match seen.files.get(path) {
                Some(seen) if seen == fixed => continue,
                Some(seen) => DifferenceKind::Changed { fixed: *fixed, seen: *seen },
                None => DifferenceKind::Absent,
            };
            differences.push(Difference { path: path.clone(), kind });
        }
        let extra = seen.files.keys().filter(|path| !self.files.contains_key(*path));
        differences.extend(extra.map(|path| Difference { path: path.clone(), kind: DifferenceKind::Extra }));
        differences.sort_by(|a, b| a.path.cmp(&b.path));
        differences
    }
}

impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, digest) in &self.files {
            // As sha256sum does it: a backslash at the start says that the path is escaped.
            if path.contains(['\\', '\n', '\r']) {
                let path = path.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
                writeln!(f, "\\{digest}  {path}")?;
            } else {
                writeln!(f, "{digest}  {path}")?;
            }
        }
        Ok(())
    }
}

fn unescaped(path: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(text)
}
