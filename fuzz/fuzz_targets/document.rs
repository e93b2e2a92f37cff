//! Any bytes at all as files of every kind that is read as text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pilote_corpus::fuzzing::document(bytes));
