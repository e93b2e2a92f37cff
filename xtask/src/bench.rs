//! `cargo xtask bench`: measures the program beside its peers in one run, and writes `docs/benchmarks.md`.
//!
//! Peers are measured in interleaved rounds, so that a machine that is busy for a while slows all of them. What is
//! written is the median of the rounds, as wall and as processor seconds.

pub mod brown;
mod commands;
mod embed;
mod engines;
mod ledger;
pub mod measure;
mod memory;
pub mod page;
pub mod peers;
mod proof;
mod sizes;
mod sizing;
mod startup;
mod volume;

use anyhow::bail;

use crate::command;
use crate::repo::Repo;
use page::Section;

type Bench = fn(&Repo) -> anyhow::Result<Section>;

/// The benchmarks, in the order of the page.
const BENCHES: [(&str, Bench); 11] = [
    ("embed", embed::bench),
    ("ledger", ledger::bench),
    ("commands", commands::bench),
    ("engines", engines::bench),
    ("python", engines::python),
    ("startup", startup::bench),
    ("sizes", sizes::bench),
    ("sizing", sizing::bench),
    ("memory", memory::bench),
    ("volume", volume::bench),
    ("proof", proof::bench),
];

/// Runs the named benchmarks, or all; the others keep the results of their last run on the page.
///
/// # Errors
/// When a name is unknown, a peer cannot be had, or a program that is measured fails.
pub fn bench(repo: &Repo, names: &[&str]) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| !BENCHES.iter().any(|(known, _)| known == *name)) {
        let known = BENCHES.map(|(name, _)| name).join(", ");
        bail!("there is no benchmark {unknown:?}; there are {known}");
    }
    command::run(repo.cargo("build").args(["--release", "--package", "pilote-cli"]))?;
    for (name, measure) in BENCHES {
        if names.is_empty() || names.contains(&name) {
            command::say(&format!("\nbench {name}"));
            page::keep(repo, name, &measure(repo)?)?;
        }
    }
    page::write(repo, &BENCHES.map(|(name, _)| name))
}
