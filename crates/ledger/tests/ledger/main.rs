//! The ledger's promises, one file for each kind of test; one binary, since each costs a link.

mod crash;
mod damage;
mod disk;
mod faults;
mod faulty;
mod fixture;
mod flow;
mod mutations;
mod ownership;
mod simulation;
mod suite;
mod support;
mod tails;
mod volume;
