//! Any bytes at all as compressed files.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pilote_corpus::fuzzing::compressed(bytes));
