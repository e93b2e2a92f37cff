//! Any bytes at all as files of comma-separated values.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pilote_corpus::fuzzing::csv(bytes));
