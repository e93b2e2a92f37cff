//! The files of a project, links not followed, with what was passed over and why.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Files that are looked at; a project with more keeps its data elsewhere, and the rest is named as not scanned.
const FILES_MAX: usize = 20_000;

/// The longest file that is read as text.
pub(super) const TEXT_BYTES_MAX: u64 = 2 << 20;

/// Folders that are made anew on each machine, or that hold what tools keep for themselves.
const PASSED_OVER: [&str; 9] =
    [".git", ".venv", "venv", "env", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", "cache"];

/// The files of a project.
pub(super) struct Folder {
    root: PathBuf,
    /// Regular files by path below the project, with their length.
    pub(super) files: Vec<(String, u64)>,
    /// Symbolic links with what they point to.
    links: Vec<(String, PathBuf)>,
    /// Why files were not looked at, and how many of each; folders count as one.
    pub(super) passed_over: BTreeMap<&'static str, u64>,
}

impl Folder {
    /// Walks the project.
    pub(super) fn walk(root: &Path) -> Self {
        let mut folder = Self {
            root: root.to_owned(),
            files: Vec::new(),
            links: Vec::new(),
            passed_over: BTreeMap::new(),
        };
        let mut waiting = vec![String::new()];
        while let Some(below) = waiting.pop() {
            let Ok(entries) = fs_err::read_dir(root.join(&below)) else {
                folder.pass_over("unreadable");
                continue;
            };
            for entry in entries.filter_map(Result::ok) {
                let Ok(name) = entry.file_name().into_string() else {
                    folder.pass_over("name");
                    continue;
                };
                let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
                match entry.metadata() {
                    Ok(facts) if facts.is_dir() && PASSED_OVER.contains(&name.as_str()) => {
                        folder.pass_over("environment");
                    }
                    Ok(facts) if facts.is_dir() && below == "runs" => folder.pass_over("trial"),
                    Ok(facts) if facts.is_dir() => waiting.push(path),
                    Ok(facts) if facts.is_symlink() => {
                        let target = fs_err::read_link(root.join(&path)).unwrap_or_default();
                        folder.links.push((path, target));
                    }
                    Ok(facts) if facts.is_file() && folder.files.len() < FILES_MAX => {
                        folder.files.push((path, facts.len()));
                    }
                    Ok(facts) if facts.is_file() => folder.pass_over("many"),
                    _ => folder.pass_over("unreadable"),
                }
            }
        }
        folder.files.sort_unstable();
        folder
    }

    fn pass_over(&mut self, why: &'static str) {
        *self.passed_over.entry(why).or_default() += 1;
    }

    /// The text of a file; the code of the reason where it has none.
    pub(super) fn text(&self, path: &str, bytes: u64) -> Result<String, &'static str> {
        if bytes > TEXT_BYTES_MAX {
            return Err("large");
        }
        let mut content = Vec::new();
        let file = fs_err::File::open(self.root.join(path)).map_err(|_| "unreadable")?;
        file.take(TEXT_BYTES_MAX).read_to_end(&mut content).map_err(|_| "unreadable")?;
        if content.contains(&0) {
            return Err("binary");
        }
        Ok(String::from_utf8_lossy(&content).into_owned())
    }

    /// Links that lead out of the project, or that would not travel since they are absolute.
    pub(super) fn links_outside(&self) -> impl Iterator<Item = (&str, String)> {
        self.links
            .iter()
            .filter(|(path, target)| leads_out(path, target))
            .map(|(path, target)| (path.as_str(), target.display().to_string()))
    }
}

fn leads_out(path: &str, target: &Path) -> bool {
    if target.is_absolute() {
        return true;
    }
    let mut depth = path.matches('/').count() as i64;
    for component in target.components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        if depth < 0 {
            return true;
        }
    }
    false
}
