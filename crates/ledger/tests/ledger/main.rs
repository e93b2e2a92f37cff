//! The ledger's promises, one file for each kind of test; one binary, since each costs a link.

mod flow;
mod support;
