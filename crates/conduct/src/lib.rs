//! Runs trials: a pure reducer and the shell that does its effects.
//!
//! [`Conductor::run`] launches a trial in a directory of its own, [`Conductor::resume`] takes one up again after any
//! end, [`Conductor::retry`] launches one that asks again what an earlier one refused. [`preview`] says what a launch
//! would do. All judgement is in the [`reducer`], a function of what happened; the worker beside it reads inputs,
//! talks to the engine and writes through the ledger. `docs/formats/trial.md` describes what a trial leaves on disk.
//!
//! Nothing here prints: a [`Progress`] is told what happens, and [`RunEnd`] says how it ended.

mod conductor;
mod directory;
mod drift;
mod error;
mod guard;
mod indexing;
mod journal;
mod known;
mod measured;
mod news;
mod origin;
pub mod plan;
pub mod reducer;
mod room;
mod settings;
mod standing;
mod worker;

pub use conductor::{Conductor, Launch, no_step, preview};
pub use drift::Drift;
pub use error::ConductError;
pub use indexing::Preview;
pub use measured::{BatchMeasured, Measured, measured, pending};
pub use news::{EndReason, News, Progress, RunEnd, Silent};
pub use reducer::Counts;
pub use settings::{Settings, Step};
