//! Any text at all as the files that name a project's libraries.
#![no_main]

use pilote_size::libraries::{Named, assess, dockerfile, environment, lock, pyproject, requirements};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut named = Named::default();
    for reader in [requirements, pyproject, lock, environment, dockerfile] {
        let _ = reader(&mut named, "file", &text);
    }
    named.python("file.py", &text);
    let _ = assess(named, None);
});
