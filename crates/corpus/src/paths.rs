//! From the declared paths of files of rows to the files, in a stable order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pilote_spec::Paths;

use crate::files::percent_encoded;
use crate::notes::Notes;
use crate::shape::Format;
use crate::source::{CorpusError, description};

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowFile {
    /// Relative to the project, `/` between names.
    pub(crate) path: String,
    /// For opening.
    pub(crate) full: PathBuf,
}

/// Extensions of compressed files, which stand behind the one of the format.
const COMPRESSED: [&str; 3] = [".gz", ".zst", ".zstd"];

/// The files that `paths` name: each path in its turn, what a directory or a pattern holds in the byte order of the
/// paths. A name that finds nothing, or a file that is named twice, is an error: rows would be missing or twice there.
pub(crate) fn row_files(
    root: &Path,
    paths: &Paths,
    format: Format,
    notes: &mut Notes,
) -> Result<Vec<RowFile>, CorpusError> {
    let mut files = Vec::new();
    for declared in paths.iter() {
        let found = files_of(root, declared, format, notes)?;
        if found.is_empty() {
            let (path, expected) = (declared.to_owned(), format.extensions().join(", "));
            return Err(CorpusError::NoFiles { path, expected });
        }
        files.extend(found);
    }
    let mut named: BTreeMap<&str, ()> = BTreeMap::new();
    for file in &files {
        if named.insert(&file.path, ()).is_some() {
            return Err(CorpusError::NamedTwice { path: file.path.clone() });
        }
    }
    Ok(files)
}

fn files_of(
    root: &Path,
    declared: &str,
    format: Format,
    notes: &mut Notes,
) -> Result<Vec<RowFile>, CorpusError> {
    let full = root.join(declared);
    let plain: Vec<&str> = declared.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    match fs::metadata(&full) {
        Ok(metadata) if metadata.is_file() => Ok(vec![RowFile { path: plain.join("/"), full }]),
        Ok(metadata) if metadata.is_dir() => {
            let mut found = Vec::new();
            below(&full, &plain.join("/"), format, notes, &mut found)?;
            Ok(found)
        }
        Ok(metadata) => Err(CorpusError::WrongKind {
            path: declared.to_owned(),
            found: description(&metadata).to_owned(),
            expected: format.expected(),
        }),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CorpusError::Io { path: declared.to_owned(), source: error })
        }
        Err(_) if declared.contains(['*', '?']) => {
            let mut found = Vec::new();
            matching(root, "", &plain, &mut found)?;
            found.sort_by(|a, b| a.path.cmp(&b.path));
            Ok(found)
        }
        Err(_) => Err(CorpusError::Missing { path: declared.to_owned() }),
    }
}

/// Every file of the format below a directory. Other files are passed over and counted: a directory of rows often
/// holds notes and marks of the program that wrote it.
fn below(
    directory: &Path,
    path: &str,
    format: Format,
    notes: &mut Notes,
    found: &mut Vec<RowFile>,
) -> Result<(), CorpusError> {
    for (name, full) in listing(directory, path)? {
        let inside = joined(path, &name);
        let io = |source| CorpusError::Io { path: inside.clone(), source };
        if full.is_dir() && !fs::symlink_metadata(&full).map_err(io)?.is_symlink() {
            below(&full, &inside, format, notes, found)?;
        } else if full.is_file() && is_meant(&name) && format.bears(stem(&name)) {
            found.push(RowFile { path: inside, full });
        } else {
            notes.skipped_files += 1;
        }
    }
    Ok(())
}

/// The files that a pattern finds below `path`. `*` and `?` stand for anything inside a name, `**` for any folders.
fn matching(root: &Path, path: &str, pattern: &[&str], found: &mut Vec<RowFile>) -> Result<(), CorpusError> {
    let Some((first, rest)) = pattern.split_first() else { return Ok(()) };
    let full = root.join(path);
    if !first.contains(['*', '?']) {
        let (path, full) = (joined(path, first), full.join(first));
        if rest.is_empty() && full.is_file() {
            found.push(RowFile { path, full });
        } else if full.is_dir() {
            matching(root, &path, rest, found)?;
        }
        return Ok(());
    }
    if *first == "**" {
        matching(root, path, rest, found)?;
    }
    for (name, full) in listing(&full, path)? {
        if !is_meant(&name) {
            continue;
        }
        let inside = joined(path, &name);
        if *first == "**" {
            if full.is_dir() && !full.is_symlink() {
                matching(root, &inside, pattern, found)?;
            }
        } else if !matches(first.as_bytes(), name.as_bytes()) {
        } else if rest.is_empty() {
            found.extend(full.is_file().then_some(RowFile { path: inside, full }));
        } else if full.is_dir() {
            matching(root, &inside, rest, found)?;
        }
    }
    Ok(())
}

/// Whether a name matches a pattern of one name.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), after) => {
            matches(rest, name) || after.is_some_and(|(_, name)| matches(pattern, name))
        }
        // One character, of as many bytes as it has.
        (Some((b'?', rest)), Some((_, after))) => {
            let more = after.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
            matches(rest, &after[more..])
        }
        (Some((byte, rest)), Some((first, after))) => byte == first && matches(rest, after),
        _ => false,
    }
}

/// The names in a directory, sorted by their bytes.
fn listing(directory: &Path, path: &str) -> Result<Vec<(String, PathBuf)>, CorpusError> {
    let shown = || if path.is_empty() { ".".to_owned() } else { path.to_owned() };
    let io = |source| CorpusError::Io { path: shown(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        match entry.file_name().into_string() {
            Ok(name) => names.push((name, entry.path())),
            Err(name) => {
                let path = joined(path, &percent_encoded(name.as_encoded_bytes()));
                let found = "a name that is not UTF-8 (percent-encoded here)".to_owned();
                return Err(CorpusError::WrongKind { path, found, expected: "names in UTF-8" });
            }
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a name is not one that programs hide or mark with.
fn is_meant(name: &str) -> bool {
    !name.starts_with(['.', '_'])
}

fn stem(name: &str) -> &str {
    COMPRESSED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_inside_of_one_name() {
        let says = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(says("*.jsonl", "a.jsonl") && says("part-?.csv", "part-é.csv") && says("*", "a"));
        assert!(says("a*b*c", "axxbxxc") && !says("a*b*c", "axxbxx") && !says("?", ""));
    }

    #[test]
    fn the_extension_of_a_compressed_file_stands_before_the_one_of_its_compression() {
        assert_eq!(
            (stem("a.jsonl.gz"), stem("a.csv.zst"), stem("a.gz.csv")),
            ("a.jsonl", "a.csv", "a.gz.csv")
        );
    }
}
