//! The clock as an argument. Only the shape is here; the one that reads the machine lives in the cli.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A wall-clock instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(pub u64);

/// Where time comes from. Durations are differences of [`Clock::monotonic`]; wall time only labels.
pub trait Clock: Send + Sync {
    /// Time since an origin that never moves while the program runs; never goes back.
    fn monotonic(&self) -> Duration;

    /// The wall clock; may jump in either direction.
    fn wall(&self) -> Stamp;

    /// Waits for `time`; a simulated clock moves itself forward instead.
    fn wait(&self, time: Duration);
}
