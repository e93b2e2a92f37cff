//! Set-up, tests, benchmarks and packaging of the project, as `cargo xtask` runs them.
//!
//! Whatever the continuous integration does is a command here that anyone can type.

pub mod bench;
pub mod command;
pub mod dist;
pub mod repo;
pub mod setup;
pub mod suite;
pub mod tidy;
