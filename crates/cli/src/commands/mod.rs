//! The commands, one file each: each reads its arguments, lets the crates work and prints what came out.

pub mod demo;
pub mod export;
#[cfg(unix)]
pub mod guard;
pub mod model;
pub mod new;
pub mod report;
pub mod run;
pub mod runs;
pub mod show;
pub mod status;
pub mod unlock;
pub mod verify;

/// The hidden command under which children of the program run below a guard.
pub const GUARD: &str = "__guard";
