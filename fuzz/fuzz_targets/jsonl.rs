//! Any bytes at all as files of rows.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pilote_corpus::fuzzing::jsonl(bytes));
