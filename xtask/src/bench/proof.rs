//! Copies: a trial exported and verified, beside what people make checked copies with; and how long a very large trial
//! takes to verify.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::measure::{self, Peer, ROUNDS, Whole, median};
use super::page::{Section, mebibytes};
use super::peers;
use crate::command;
use crate::repo::{Profile, Repo};

/// Files of the large trial, and their bytes together.
const FILES: u64 = 1_000;
const BYTES: u64 = 5_000_000_000;
/// Small results of the trial of rows.
const ROWS: u64 = 1_000_000;
/// Items of the trial that is only verified.
const MANY: u64 = 10_000_000;
/// How many times as long the peers together must take.
const TIMES_MIN: f64 = 1.2;
/// What verifying the largest trial may take, in seconds.
const MANY_SECONDS_MAX: f64 = 60.0;
/// Peak memory of an export, whatever it copies: the keys of a million identifiers are 16 MB of it.
const PEAK_MAX: u64 = 192 << 20;

/// A size that a quick round sets lower by a variable.
#[expect(clippy::disallowed_methods, reason = "quick rounds by hand")]
fn size(variable: &str, whole: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(whole)
}

pub(super) fn bench(repo: &Repo) -> anyhow::Result<Section> {
    command::run(repo.cargo("build").args([
        "--release",
        "--package",
        "pilote-proof",
        "--example",
        "bench_trial",
    ]))?;
    let maker = repo.built(Profile::Release, "examples/bench_trial")?;
    let pilote = repo.built(Profile::Release, "pilote")?;
    let python = peers::environment(repo, peers::BAGS)?;
    let folder = repo.cache("bench/proof");
    let bench = Bench { repo, maker, pilote, python, folder };
    // Gigabytes are not left behind, whatever happens.
    let section = bench.run();
    let cleared = clear(&bench.folder);
    let section = section?;
    cleared?;
    Ok(section)
}

/// Bytes as the page shows them.
fn bytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown in three digits")]
    let shown = mebibytes(bytes as f64);
    format!("{shown} MiB")
}

struct Bench<'r> {
    repo: &'r Repo,
    maker: PathBuf,
    pilote: PathBuf,
    python: PathBuf,
    folder: PathBuf,
}

impl Bench<'_> {
    fn run(&self) -> anyhow::Result<Section> {
        let (total, rows, many) = (
            size("PILOTE_BENCH_BYTES", BYTES),
            size("PILOTE_BENCH_ROWS", ROWS),
            size("PILOTE_BENCH_MANY", MANY),
        );
        let about = format!(
            "Each ends with a copy whose every digest was compared after it was read again. Pilote also counts every item of \
             the copy anew. The peers are `cp`, `sync` of every file, and the reference implementation of bags: \
             `bagit.py --processes 2`, then its validation. {ROUNDS} interleaved rounds on one disk; memory is that of \
             Pilote's own process."
        );
        let mut section = Section::new(
            "Checked copies",
            &about,
            &["trial", "program", "wall s", "processor s", "peak memory"],
        );
        let each = (total / FILES).to_string();
        self.compare(
            &mut section,
            &format!("{} in {FILES} files", bytes(total)),
            &["files", &FILES.to_string(), &each],
        )?;
        self.compare(&mut section, &format!("{rows} small results"), &["rows", &rows.to_string()])?;
        self.many(&mut section, many)?;
        Ok(section)
    }

    fn lay_out(&self, words: &[&str]) -> anyhow::Result<PathBuf> {
        clear(&self.folder)?;
        let project = self.folder.join("project");
        let (kind, rest) = words.split_first().context("a kind of trial")?;
        let mut maker = self.repo.command(&self.maker.to_string_lossy());
        let printed = command::capture(maker.arg(kind).arg(&project).args(rest))?;
        Ok(PathBuf::from(printed.trim()))
    }

    fn compare(&self, section: &mut Section, what: &str, words: &[&str]) -> anyhow::Result<()> {
        let trial = self.lay_out(words)?;
        let copies = self.folder.join("copies");
        let (from, to) = (trial.display(), copies.join("bag"));
        let (to, python) = (to.display(), self.python.display());
        let by_hand = format!(
            "mkdir -p {copies} && cp -r {from} {to} && find {to} -type f -print0 | xargs -0 sync && \
             {python} -m bagit --quiet --processes 2 {to} && find {to} -type f -print0 | xargs -0 sync && \
             {python} -m bagit --quiet --processes 2 --validate {to}",
            copies = copies.display()
        );
        let own = ["export".as_ref(), "--json".as_ref(), trial.as_os_str(), copies.as_os_str()];
        let peers = [
            Peer::new("pilote export", &self.pilote, &own),
            Peer::new("cp, sync, bagit.py twice", Path::new("sh"), &["-c", &by_hand]),
        ];
        let mut measured = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            for step in 0..peers.len() {
                let at = (round + step) % peers.len();
                clear(&copies)?;
                let whole = measure::whole(self.repo, &peers[at])?;
                command::say(&format!("  round {}: {} {:.2} s", round + 1, peers[at].name, whole.seconds));
                measured[at].push(whole);
            }
        }
        for whole in &measured[0] {
            let answer: Value = whole.answer()?;
            ensure!(answer["whole"] == true && answer["holds"] == true, "the copy is not whole: {answer}");
        }
        rows(section, what, &peers, &measured)
    }

    /// The time that the largest trial takes to verify; it is laid out once and not copied.
    fn many(&self, section: &mut Section, items: u64) -> anyhow::Result<()> {
        let trial = self.lay_out(&["rows", &items.to_string()])?;
        let peer = Peer::new(
            "pilote verify",
            &self.pilote,
            &["verify".as_ref(), "--json".as_ref(), trial.as_os_str()],
        );
        let mut wholes = Vec::new();
        for round in 0..ROUNDS {
            let whole = measure::whole(self.repo, &peer)?;
            command::say(&format!("  round {}: {} {:.2} s", round + 1, peer.name, whole.seconds));
            let answer: Value = whole.answer()?;
            ensure!(answer["holds"] == true, "the trial does not hold");
            wholes.push(whole);
        }
        let seconds = row(section, &format!("{items} items, in place"), peer.name, &wholes, true)?;
        section.claim(
            format!("{items} items are verified in under {MANY_SECONDS_MAX:.0} s (it is {seconds:.1})"),
            seconds < MANY_SECONDS_MAX,
        );
        Ok(())
    }
}

fn rows(
    section: &mut Section,
    what: &str,
    peers: &[Peer; 2],
    measured: &[Vec<Whole>; 2],
) -> anyhow::Result<()> {
    let own = row(section, what, peers[0].name, &measured[0], true)?;
    let others = row(section, what, peers[1].name, &measured[1], false)?;
    let times = others / own;
    section.claim(
        format!("{what}: the others take {TIMES_MIN:.1} times as long or more (it is {times:.2})"),
        times >= TIMES_MIN,
    );
    let peak = measured[0].iter().map(|whole| whole.peak_bytes).max().unwrap_or_default();
    section.claim(
        format!("{what}: memory of at most {} (it is {})", bytes(PEAK_MAX), bytes(peak)),
        peak <= PEAK_MAX,
    );
    Ok(())
}

/// Adds the medians of a program; gives its wall seconds.
fn row(section: &mut Section, what: &str, name: &str, wholes: &[Whole], peak: bool) -> anyhow::Result<f64> {
    let wall = median(wholes.iter().map(|whole| whole.seconds)).context("nothing was measured")?;
    let processor = median(wholes.iter().map(|whole| whole.processor_seconds)).unwrap_or_default();
    let most = wholes.iter().map(|whole| whole.peak_bytes).max().unwrap_or_default();
    let memory = if peak { bytes(most) } else { String::new() };
    section.row(&[what.to_owned(), name.to_owned(), format!("{wall:.1}"), format!("{processor:.1}"), memory]);
    Ok(wall)
}

fn clear(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    Ok(())
}
