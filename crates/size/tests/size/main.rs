//! What is sized, planned and refused, against right values that were worked out apart.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::unwrap_used,
    reason = "the numbers of the tests are small and written out"
)]

mod cards;
mod fixtures;
mod hostile;
mod http;
mod known_faults;
mod libraries;
mod memory;
mod model_files;
mod plans;
mod right_values;
mod verdicts;
