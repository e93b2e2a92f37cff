//! Documents that point at things: what they point at must be there.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

/// First folders of the project; a code span in a document that begins with one of them names a path.
const NAMED_FOLDERS: [&str; 9] =
    ["crates/", "docs/", "xtask/", "examples/", "fuzz/", "scripts/", "python/", ".ci/", ".config/"];

/// Relative links in documents, headings included, that lead nowhere.
#[must_use]
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in documents(tree) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in targets(text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let wanted = if file.is_empty() { Some(path.to_owned()) } else { resolve(folder, file) };
            let Some(wanted) = wanted.filter(|wanted| tree.holds(wanted)) else {
                findings.push(Finding::at(path, line, format!("links to {target}, which does not exist")));
                continue;
            };
            if !heading.is_empty() && !tree.text(&wanted).is_some_and(|text| has_heading(text, heading)) {
                findings.push(Finding::at(
                    path,
                    line,
                    format!("links to {target}, and there is no such heading"),
                ));
            }
        }
    }
    findings
}

/// Paths in code spans of documents that do not exist. Spans with a placeholder or a blank are no paths.
#[must_use]
pub fn named_paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in documents(tree).filter(|(path, _)| !path.starts_with("examples/")) {
        for (number, line) in prose(text) {
            for span in line.split('`').skip(1).step_by(2) {
                let is_path = NAMED_FOLDERS.iter().any(|folder| span.starts_with(folder))
                    && !span.contains(|c: char| c.is_whitespace() || "<>*{}".contains(c));
                // `path.rs:12` and `path.rs::name` point into a file.
                let file = span.split(':').next().unwrap_or(span);
                if is_path && !tree.holds(file) {
                    findings.push(Finding::at(path, number, format!("names `{span}`, which does not exist")));
                }
            }
        }
    }
    findings
}

/// Documents below `docs/` that no other document links to: nobody would find them.
#[must_use]
pub fn orphans(tree: &Tree) -> Vec<Finding> {
    let mut linked = BTreeSet::new();
    for (path, text) in documents(tree) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (_, target) in targets(text) {
            let file = target.split('#').next().unwrap_or(target);
            linked.extend(resolve(folder, file).filter(|wanted| wanted != path));
        }
    }
    documents(tree)
        .filter(|(path, _)| path.starts_with("docs/") && !linked.contains(*path))
        .map(|(path, _)| Finding::of(path, "is linked from no other document"))
        .collect()
}

fn documents(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.texts()
        .filter(|(path, _)| path.ends_with(".md") && !path.contains("/data/") && !path.contains("/fixtures/"))
}

/// The lines of a document outside of fenced blocks, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            return None;
        }
        (!is_fenced).then_some((number + 1, line))
    })
}

/// The targets of inline links with their lines, code spans left out.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for part in line.split('`').step_by(2) {
            let mut rest = part;
            while let Some((_, after)) = rest.split_once("](") {
                let Some((target, behind)) = after.split_once(')') else { break };
                found.push((number, target.split_whitespace().next().unwrap_or("")));
                rest = behind;
            }
        }
    }
    found
}

/// A relative path from a folder, without `.` and `..`; none where it leaves the project.
#[must_use]
pub fn resolve(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn has_heading(text: &str, slug: &str) -> bool {
    prose(text).any(|(_, line)| line.starts_with('#') && slug_of(line.trim_start_matches('#').trim()) == slug)
}

/// A heading as web views of repositories name it: small letters, blanks as hyphens, punctuation dropped.
fn slug_of(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Tree {
        Tree::of(&[
            ("docs/page.md", text),
            ("docs/other.md", "# The other one, indeed\n"),
            ("crates/a/src/lib.rs", ""),
        ])
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "[a](other.md) [b](other.md#the-other-one-indeed) [c](../crates/a) [d](https://example.org/x) [e](#here)\n# Here\n";
        assert_eq!(links(&page(text)), []);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](gone.md)\n[b](other.md#no-such)\n[c](../../outside.md)\n";
        let lines: Vec<usize> = links(&page(text)).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }

    #[test]
    fn a_document_that_nothing_links_to_is_found() {
        let tree = page("[a](other.md#the-other-one-indeed) [me](page.md)\n");
        assert_eq!(orphans(&tree), [Finding::of("docs/page.md", "is linked from no other document")]);
    }

    #[test]
    fn links_in_code_are_no_links() {
        assert_eq!(links(&page("`[a](gone.md)`\n```\n[b](gone.md)\n```\n")), []);
    }

    #[test]
    fn a_named_path_that_does_not_exist_is_found() {
        let text = "`crates/a/src/lib.rs` `crates/a/` `crates/*/src` `crates/gone.rs`\n";
        assert_eq!(
            named_paths(&page(text)),
            [Finding::at("docs/page.md", 1, "names `crates/gone.rs`, which does not exist")]
        );
    }
}
