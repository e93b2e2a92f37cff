//! Indexing a large corpus with its check for duplicates: rate and memory, at two sizes so that growth would show.

use super::measure::{self, Peer, Whole};
use super::page::Section;
use crate::command;
use crate::repo::{Profile, Repo};

/// Items of the two corpora.
const ITEMS: [u64; 2] = [1_000_000, 10_000_000];
/// Memory that the larger one may take.
const PEAK_MAX: u64 = 500_000_000;

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    command::run(repo.cargo("build").args([
        "--release",
        "--package",
        "pilote-corpus",
        "--example",
        "volume_bench",
    ]))?;
    let program = repo.built(Profile::Release, "examples/volume_bench")?;
    let folder = repo.cache("bench/volume");
    let mut section = Section::new(
        "Indexing a large corpus",
        "Small rows of JSONL with distinct identifiers, indexed part by part with the check for duplicates, on a local \
         disk; peak memory of the whole process.",
        &["items", "items/s", "wall s", "processor µs an item", "peak MB"],
    );
    let mut last = None;
    for items in ITEMS {
        let of = |mode: &str| [mode.to_owned(), folder.to_string_lossy().into_owned(), items.to_string()];
        measure::whole(repo, &Peer::new("write", &program, &of("write")))?;
        let measured = measure::whole(repo, &Peer::new("index", &program, &of("index")))?;
        add(&mut section, items, &measured);
        last = Some(measured.peak_bytes);
        std::fs::remove_dir_all(&folder)?;
    }
    section.claim(
        "ten million items are indexed in less than 500 MB".to_owned(),
        last.is_some_and(|peak| peak < PEAK_MAX),
    );
    Ok(section)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
fn add(section: &mut Section, items: u64, measured: &Whole) {
    section.row(&[
        items.to_string(),
        format!("{:.0}", items as f64 / measured.seconds),
        format!("{:.1}", measured.seconds),
        format!("{:.2}", 1e6 * measured.processor_seconds / items as f64),
        format!("{:.0}", measured.peak_bytes as f64 / 1e6),
    ]);
}
