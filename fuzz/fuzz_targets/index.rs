//! Any bytes at all as the index of a trial.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pilote_corpus::fuzzing::index(bytes));
