//! The files that belong to the project, read once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use anyhow::Context;

use super::Finding;
use super::rust::Source;
use crate::repo::Repo;

/// The tracked files with their contents.
#[derive(Debug, Default)]
pub struct Tree {
    /// Bytes by path relative to the first folder, `/` between components.
    files: BTreeMap<String, Vec<u8>>,
    /// Whether git said which files belong; without it, all that are there do.
    by_git: bool,
}

impl Tree {
    /// Reads the files that git tracks, or, in an unpacked archive without git, every file that is no build
    /// product.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(repo: &Repo) -> anyhow::Result<Self> {
        let tracked = tracked(repo);
        let by_git = tracked.is_some();
        let paths = match tracked {
            Some(paths) => paths,
            None => walk(repo.root())?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = repo.root().join(&path);
            // A tracked file that was deleted and not yet committed is no part of what would be built.
            if full.is_file() {
                let bytes = std::fs::read(&full).with_context(|| format!("{path} cannot be read"))?;
                files.insert(path, bytes);
            }
        }
        Ok(Self { files, by_git })
    }

    /// A tree made of texts, for the tests of the checks.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        Self { files, by_git: true }
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// A file's bytes.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// A file's text; none where it is absent or no UTF-8.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(path)?).ok()
    }

    /// Every text file with its path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, bytes)| Some((path.as_str(), std::str::from_utf8(bytes).ok()?)))
    }

    /// Every Rust source that is built into a program, tests left out.
    pub fn sources(&self) -> impl Iterator<Item = (&str, Source<'_>)> {
        self.texts().filter(|(path, _)| is_product_source(path)).map(|(path, text)| (path, Source::new(text)))
    }

    /// Whether a path is a file here, or a folder with files below it.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty() || self.files.contains_key(path) || self.paths().any(|file| file.starts_with(&folder))
    }

    /// The packages whose documentation comments hold examples that can be run.
    #[must_use]
    pub fn packages_with_doctests(&self) -> Vec<String> {
        let mut packages = Vec::new();
        for (path, text) in self.texts().filter(|(path, _)| is_product_source(path)) {
            let Some(folder) = path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()) else {
                continue;
            };
            let package = format!("pilote-{folder}");
            if has_doctest(text) && !packages.contains(&package) {
                packages.push(package);
            }
        }
        packages
    }
}

/// Whether a source is built into a program: not below a `tests`, `benches` or `examples` folder and no `tests.rs`.
fn is_product_source(path: &str) -> bool {
    let in_test_folder =
        path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "fuzz"));
    path.ends_with(".rs") && !in_test_folder && !path.ends_with("/tests.rs")
}

/// Whether a fenced block in documentation comments is Rust to be run; other languages are named after the fence.
fn has_doctest(text: &str) -> bool {
    let mut inside = false;
    for line in text.lines().map(str::trim_start) {
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        let Some(language) = doc.trim().strip_prefix("```") else { continue };
        if !inside && matches!(language, "" | "rust" | "no_run" | "should_panic" | "compile_fail") {
            return true;
        }
        inside = !inside;
    }
    false
}

fn tracked(repo: &Repo) -> Option<Vec<String>> {
    let output = repo.command("git").args(["ls-files", "-z"]).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?
        {
            let path = entry?.path();
            let Ok(relative) = path.strip_prefix(root) else { continue };
            let relative = relative.to_string_lossy().replace('\\', "/");
            if path.is_dir() && !matches!(relative.as_str(), "target" | "cache" | ".git") {
                folders.push(path);
            } else if path.is_file() {
                paths.push(relative);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// Files that a tracked source names and that are not tracked: they are there for the author and for nobody else.
#[must_use]
pub fn needed_files(tree: &Tree) -> Vec<Finding> {
    if !tree.by_git {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".rs")) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in text.lines().enumerate() {
            for named in included(line) {
                let wanted = super::links::resolve(folder, named);
                if !wanted.as_deref().is_some_and(|wanted| tree.holds(wanted)) {
                    findings.push(Finding::at(
                        path,
                        number + 1,
                        format!("names {named:?}, which is not tracked"),
                    ));
                }
            }
        }
        let placed = placed_modules(text);
        for (module, named) in &placed {
            let wanted = super::links::resolve(folder, named);
            if !wanted.as_deref().is_some_and(|wanted| tree.holds(wanted)) {
                findings
                    .push(Finding::of(path, format!("the file {named:?} of `mod {module}` is not tracked")));
            }
        }
        for module in Source::new(text).outer_modules() {
            if placed.contains_key(module.as_str()) {
                continue;
            }
            if !module_candidates(path, &module).iter().any(|candidate| tree.holds(candidate)) {
                findings.push(Finding::of(path, format!("the file of `mod {module}` is not tracked")));
            }
        }
    }
    findings
}

/// What a line includes by a plain relative path.
fn included(line: &str) -> impl Iterator<Item = &str> {
    ["include_str!(\"", "include_bytes!(\""].into_iter().filter_map(move |opening| {
        let (_, rest) = line.split_once(opening)?;
        rest.split_once("\")").map(|(named, _)| named)
    })
}

/// Modules whose file an attribute names, with that name.
fn placed_modules(text: &str) -> BTreeMap<&str, &str> {
    let mut placed = BTreeMap::new();
    let mut named = None;
    for line in text.lines().map(str::trim) {
        if let Some(file) = line.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
            named = Some(file);
        } else if !line.starts_with("#[") {
            let module = line.strip_prefix("pub(crate) ").unwrap_or(line).strip_prefix("mod ");
            if let (Some(module), Some(file)) = (module.and_then(|rest| rest.strip_suffix(';')), named.take())
            {
                placed.insert(module, file);
            }
        }
    }
    placed
}

/// Where the file of `mod name;` in the source at `path` may be.
fn module_candidates(path: &str, name: &str) -> [String; 2] {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let is_root = matches!(stem, "lib" | "main" | "mod" | "build")
        || ["/tests", "/examples", "/benches", "/fuzz_targets"].iter().any(|end| folder.ends_with(end));
    let base = if is_root { folder.to_owned() } else { format!("{folder}/{stem}") };
    [format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_examples_are_no_product() {
        assert!(is_product_source("crates/spec/src/lib.rs") && is_product_source("crates/cli/build.rs"));
        for path in ["crates/spec/tests/a.rs", "crates/spec/src/tests.rs", "crates/spec/src/x/tests/y.rs"] {
            assert!(!is_product_source(path), "{path}");
        }
    }

    #[test]
    fn a_module_whose_file_is_not_tracked_is_found() {
        let tree =
            Tree::of(&[("crates/a/src/lib.rs", "mod here;\nmod gone;\n"), ("crates/a/src/here.rs", "")]);
        let findings = needed_files(&tree);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].says.contains("mod gone"), "{findings:?}");
    }

    #[test]
    fn a_module_below_a_module_is_looked_for_in_its_folder() {
        let tree = Tree::of(&[("crates/a/src/x.rs", "pub mod y;\n"), ("crates/a/src/x/y.rs", "")]);
        assert_eq!(needed_files(&tree), []);
    }

    #[test]
    fn an_included_file_that_is_not_tracked_is_found() {
        let included = concat!("const A: &str = include", "_str!(\"../data/a.txt\");\n");
        let tree = Tree::of(&[("crates/a/src/lib.rs", included)]);
        assert_eq!(needed_files(&tree).len(), 1);
        let whole = Tree::of(&[("crates/a/src/lib.rs", included), ("crates/a/data/a.txt", "")]);
        assert_eq!(needed_files(&whole), []);
    }

    #[test]
    fn only_fenced_rust_is_a_doctest() {
        assert!(has_doctest("/// ```\n/// let a = 1;\n/// ```\n"));
        assert!(!has_doctest("/// ```text\n/// a picture\n/// ```\n"));
        assert!(!has_doctest("let fence = \"```\";\n"));
    }
}
