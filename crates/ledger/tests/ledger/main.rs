//! The ledger's promises, one file for each kind of test; one binary, since each costs a link.

mod damage;
mod disk;
mod faults;
mod faulty;
mod flow;
mod ownership;
mod suite;
mod support;
mod tails;
