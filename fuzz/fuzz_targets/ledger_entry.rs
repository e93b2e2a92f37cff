//! Any bytes as an entry of a ledger: reading ends, never panics, and keeps its memory in bounds.
//! `cargo +nightly fuzz run ledger_entry`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let reading = pilote_ledger::read_entry(bytes);
    // Whole lines are at least ten bytes long, so there are never more records than that allows.
    assert!(reading.records.len() <= bytes.len() / 10);
});
