//! Words that must not be in the project's files, and words that must.

use super::Finding;
use super::tree::Tree;

/// Folders that exist on somebody's machine only. Each is written in two pieces, so that this list is no hit.
const MACHINE_FOLDERS: [(&str, &str); 6] =
    [("/ro", "ot/"), ("/wo", "rk/"), ("/Use", "rs/"), ("/ho", "me/"), (":\\Use", "rs\\"), ("/tm", "p/t-")];

/// Names that examples and tests may use below a home folder: nobody's.
const NOBODY: [&str; 10] = ["someone", "user", "ada", "alice", "ann", "bob", "marie", "me", "name", "you"];

/// Hosts that links and sources may name. Package registries are not among them: their clients know where they are.
const HOSTS: [&str; 15] = [
    "github.com",
    "huggingface.co",
    "docs.rs",
    "doc.rust-lang.org",
    "nexte.st",
    "rustup.rs",
    "json-schema.org",
    "spdx.org",
    "www.w3.org",
    "projectfluent.org",
    "www.apache.org",
    "opensource.org",
    "arxiv.org",
    // What a copy says that it is, in the words of its standards; nobody asks these hosts for anything.
    "schema.org",
    "w3id.org",
];

/// Paths into folders of one machine.
#[must_use]
pub fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| *path != "Cargo.lock") {
        for (number, line) in text.lines().enumerate() {
            for (first, second) in MACHINE_FOLDERS {
                let folder = format!("{first}{second}");
                let hits = line
                    .match_indices(&folder)
                    .any(|(at, _)| names_somebody(&line[..at], &line[at + folder.len()..]));
                if hits {
                    findings.push(Finding::at(
                        path,
                        number + 1,
                        format!("holds a path of one machine ({folder})"),
                    ));
                }
            }
        }
    }
    findings
}

/// Whether what surrounds a folder's name makes it a path of one machine: it stands at the beginning of a path, and
/// what follows is a name, and not one of nobody's.
fn names_somebody(before: &str, after: &str) -> bool {
    let begins_path =
        !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '*' | '/'));
    let is_drive = before.ends_with(|c: char| c.is_ascii_uppercase());
    let name: String =
        after.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
    (begins_path || is_drive) && !name.is_empty() && !NOBODY.contains(&name.to_lowercase().as_str())
}

/// Hosts in addresses that are not known to the project.
#[must_use]
pub fn hosts(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !PUBLISHED.contains(path)) {
        for (number, line) in text.lines().enumerate() {
            for host in hosts_in(line).filter(|host| !is_known(host)) {
                findings.push(Finding::at(path, number + 1, format!("names the unknown host {host:?}")));
            }
        }
    }
    findings
}

fn hosts_in(line: &str) -> impl Iterator<Item = &str> {
    ["http://", "https://"].into_iter().flat_map(move |scheme| line.split(scheme).skip(1)).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-'))).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.')
    })
}

/// Hosts that are reserved for examples and tests are known too, one letter among them. A host that a program fills
/// in is empty.
fn is_known(host: &str) -> bool {
    let reserved = ["localhost", "127.0.0.1", "0.0.0.0", "example.org", "example.com", "example.net"];
    let is_reserved =
        |known: &str| host == known || host.strip_suffix(known).is_some_and(|rest| rest.ends_with('.'));
    host.len() < 2
        || host == "host"
        || HOSTS.contains(&host)
        || reserved.into_iter().any(is_reserved)
        || [".example", ".invalid", ".test"].iter().any(|end| host.ends_with(end))
}

/// Files of others that stand here as they were published, with their licence beside them.
const PUBLISHED: [&str; 1] = ["crates/machine/data/gitleaks.toml"];

/// The words that have one meaning across the program, as the glossary must give them.
const WORDS: [&str; 14] = [
    "project",
    "deliverable",
    "item",
    "outcome",
    "balance",
    "engine",
    "trial",
    "part",
    "seal",
    "rung",
    "card",
    "proof",
    "decision",
    "pending",
];

/// Where the words are.
pub const GLOSSARY: &str = "docs/glossary.md";

/// Words that the glossary lacks, or gives without a French and a Japanese word.
#[must_use]
pub fn glossary(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(GLOSSARY) else { return vec![Finding::of(GLOSSARY, "is missing")] };
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim().trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let has_word = |row: &&Vec<&str>, word: &str| {
        row[0].split([',', '/', '`', '*', ' ']).any(|part| part.trim() == word)
    };
    WORDS
        .iter()
        .filter_map(|word| match rows.iter().find(|row| has_word(row, word)) {
            None => Some(Finding::of(GLOSSARY, format!("does not explain `{word}`"))),
            Some(row) if row.len() < 4 || row.iter().any(|cell| cell.is_empty()) => {
                Some(Finding::of(GLOSSARY, format!("lacks a meaning or a language of `{word}`")))
            }
            Some(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_and_one_of_nobody_is_not() {
        let bad = format!("see {}{}jsmith/x and {}{}.cache\n", "/ho", "me/", "/ro", "ot/");
        assert_eq!(machine_paths(&Tree::of(&[("docs/a.md", &bad)])).len(), 2);
        let good = format!("see {}{}alice/x, {}{} and net{}{}x\n", "/ho", "me/", "/ho", "me/", "/wo", "rk/");
        assert_eq!(machine_paths(&Tree::of(&[("docs/a.md", &good)])), []);
    }

    #[test]
    fn an_unknown_host_is_found() {
        let bad = concat!("index = \"https:", "//mirror.internal/simple\"\n");
        let findings = hosts(&Tree::of(&[("pip.conf", bad)]));
        assert_eq!(findings, [Finding::at("pip.conf", 1, "names the unknown host \"mirror.internal\"")]);
        let good = "https://docs.rs/x http://127.0.0.1:8080 https://shop.example/ https://hub.example.org https://{host}\n";
        assert_eq!(hosts(&Tree::of(&[("a", good)])), []);
    }

    #[test]
    fn a_word_that_is_missing_or_lacks_a_language_is_found() {
        let row = |word: &str| format!("| {word} | meaning | fr | ja |\n");
        let whole: String = WORDS.iter().map(|word| row(word)).collect();
        assert_eq!(glossary(&Tree::of(&[(GLOSSARY, &whole)])), []);
        let without = whole.replace(&row("trial"), "");
        let findings = glossary(&Tree::of(&[(GLOSSARY, &without)]));
        assert_eq!(findings, [Finding::of(GLOSSARY, "does not explain `trial`")]);
        let bare = whole.replace("| seal | meaning | fr | ja |", "| seal | meaning | fr |  |");
        assert_eq!(glossary(&Tree::of(&[(GLOSSARY, &bare)])).len(), 1);
    }
}
