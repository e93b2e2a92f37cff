//! The proof against trials as a conductor leaves them, whole and damaged.

mod collection;
mod report;
mod support;
mod verification;
