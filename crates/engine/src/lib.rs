//! The `Engine` trait and its kinds. An engine computes outputs for batches of items; it knows nothing of trials,
//! positions or ledgers, and answers by an opaque wire identifier.

pub mod builtin;
#[cfg(unix)]
pub mod command;
mod contract;
pub mod model;
#[cfg(unix)]
pub mod openai;
#[cfg(unix)]
mod places;
#[cfg(unix)]
pub mod process;
#[cfg(unix)]
pub mod worker;

pub use contract::{
    Answer, Batch, BatchId, Content, DISAGREES, Engine, EngineFault, Event, NO_ACCESS, NOT_BEGUN, Request,
    Stop, WireId,
};
