//! The proof against trials as a conductor leaves them, whole and damaged.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends at the first surprise")]

mod archive;
mod bag;
mod closing;
mod collection;
mod comparison;
mod damage;
mod decision;
mod exhaustive;
mod export;
mod heavy;
mod objects;
mod report;
#[path = "../../../ledger/tests/s3/mod.rs"]
#[allow(dead_code, reason = "the tests of the ledger use more of it")]
mod s3;
mod status;
mod support;
mod tables;
mod verification;
mod volume;
