//! Running a program to its end and keeping what it took; medians of several rounds.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::command;
use crate::repo::Repo;

/// How often each peer is measured.
pub const ROUNDS: usize = 3;

/// What a program took as a whole, as the kernel counts it.
#[derive(Debug, Clone, Deserialize)]
pub struct Whole {
    status: i32,
    /// Wall seconds from start to end.
    pub seconds: f64,
    /// Processor seconds of all its threads.
    pub processor_seconds: f64,
    /// Peak resident memory in bytes.
    pub peak_bytes: u64,
    output: String,
}

/// What a program says that its measured part took, loading and warming up left out.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Timed {
    /// Items that were worked on.
    pub items: u64,
    /// Wall seconds.
    pub seconds: f64,
    /// Processor seconds of all threads.
    pub processor_seconds: f64,
}

impl Timed {
    /// Items in a second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
    pub fn rate(self) -> f64 {
        self.items as f64 / self.seconds
    }
}

impl Whole {
    /// The last line that the program printed, as JSON.
    ///
    /// # Errors
    /// When it printed something else.
    pub fn answer<T: serde::de::DeserializeOwned>(&self) -> anyhow::Result<T> {
        let line = self.output.lines().last().unwrap_or_default();
        serde_json::from_str(line)
            .with_context(|| format!("the program's last line is not what is expected: {line:?}"))
    }
}

/// One program of a comparison.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The name in the table.
    pub name: &'static str,
    /// Program and arguments.
    pub command: Vec<OsString>,
}

impl Peer {
    /// A peer from its words.
    pub fn new<W: AsRef<std::ffi::OsStr>>(name: &'static str, program: &Path, arguments: &[W]) -> Self {
        let words = std::iter::once(program.as_os_str()).chain(arguments.iter().map(AsRef::as_ref));
        Self { name, command: words.map(ToOwned::to_owned).collect() }
    }
}

/// Runs a program to its end under `xtask/bench/measure.py`.
///
/// # Errors
/// When it does not end with status 0.
pub fn whole(repo: &Repo, peer: &Peer) -> anyhow::Result<Whole> {
    let script = repo.root().join("xtask/bench/measure.py");
    let text = command::capture(repo.command("python3").arg(script).args(&peer.command))?;
    let whole: Whole = serde_json::from_str(&text).context("measure.py printed no measurement")?;
    if whole.status != 0 {
        bail!("{} ended with status {}", peer.name, whole.status);
    }
    Ok(whole)
}

/// Measures every peer once in each round; each round begins with another peer. The answers stand in the order of
/// the peers.
///
/// # Errors
/// When one of them fails.
pub fn rounds(repo: &Repo, peers: &[Peer]) -> anyhow::Result<Vec<Vec<Whole>>> {
    let mut measured = vec![Vec::new(); peers.len()];
    for round in 0..ROUNDS {
        for step in 0..peers.len() {
            let at = (round + step) % peers.len();
            let whole = whole(repo, &peers[at])?;
            command::say(&format!("  round {}: {} {:.2} s", round + 1, peers[at].name, whole.seconds));
            measured[at].push(whole);
        }
    }
    Ok(measured)
}

/// The middle value, or the mean of the two in the middle; none of nothing.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn an_answer_is_the_last_line() {
        let whole = Whole {
            status: 0,
            seconds: 1.0,
            processor_seconds: 1.0,
            peak_bytes: 1,
            output: "loading\n{\"items\":4,\"seconds\":2.0,\"processor_seconds\":3.5}\n".to_owned(),
        };
        let timed: Timed = whole.answer().unwrap();
        assert_eq!(timed, Timed { items: 4, seconds: 2.0, processor_seconds: 3.5 });
        assert!((timed.rate() - 2.0).abs() < 1e-9);
        let silent = Whole { output: "nothing\n".to_owned(), ..whole };
        assert!(silent.answer::<Timed>().unwrap_err().to_string().contains("\"nothing\""));
    }
}
