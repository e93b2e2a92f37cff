//! The ledger's promises, one file for each kind of test; one binary, since each costs a link.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the helpers of tests may panic like the tests themselves, and their numbers are small"
)]

mod bucket;
mod crash;
mod damage;
mod disk;
mod faults;
mod faulty;
mod fixture;
mod flow;
mod mutations;
mod ownership;
#[path = "../s3/mod.rs"]
#[allow(dead_code, reason = "the tests of copies use more of it")]
mod s3;
mod simulation;
mod suite;
mod support;
mod tails;
mod volume;
