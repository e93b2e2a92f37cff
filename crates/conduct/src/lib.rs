//! Runs trials: a pure reducer and the shell that does its effects.

pub mod plan;
pub mod reducer;
