//! What the program and a trial take on disk.

use std::path::Path;

use super::page::{Section, mebibytes};
use super::startup;
use crate::repo::{Profile, Repo};

#[expect(clippy::cast_precision_loss, reason = "sizes of files are far below 2^52")]
pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    let pilote = repo.built(Profile::Release, "pilote")?;
    let trial = startup::demo_trial(repo, &pilote)?;
    let mut section = Section::new("Sizes", "Files as they are, before any compression.", &["what", "MiB"]);
    section.row(&["the program pilote".to_owned(), mebibytes(std::fs::metadata(&pilote)?.len() as f64)]);
    section.row(&["a trial over the twelve documents".to_owned(), mebibytes(bytes_below(&trial)? as f64)]);
    Ok(section)
}

fn bytes_below(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(sum)
}
