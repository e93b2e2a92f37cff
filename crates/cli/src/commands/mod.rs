//! The commands, one file each: each reads its arguments, lets the crates work and prints what came out.

mod again;
pub(crate) mod check;
pub(crate) mod close;
pub(crate) mod compare;
pub(crate) mod conduct;
pub(crate) mod crew;
pub(crate) mod deadline;
pub(crate) mod decide;
pub(crate) mod demo;
pub(crate) mod detach;
pub(crate) mod engine;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod gate;
#[cfg(unix)]
pub(crate) mod guard;
pub(crate) mod interpreter;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod new;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sample;
pub(crate) mod shares;
pub(crate) mod show;
pub(crate) mod sizing;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod unlock;
pub(crate) mod verify;
pub(crate) mod worker_check;
pub(crate) mod writer;

/// The hidden command under which children of the program run below a guard.
pub(crate) const GUARD: &str = "__guard";
