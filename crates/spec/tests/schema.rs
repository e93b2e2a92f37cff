//! The checked-in schema is the one that the types describe.

use pilote_spec::{SCHEMA, schema_json};

/// Set to rewrite the schema instead of comparing it.
const REWRITE: &str = "PILOTE_REWRITE";

#[test]
fn the_checked_in_schema_is_what_the_types_describe() {
    let now = schema_json().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a switch of this test, for the developer who runs it")]
    let rewrite = std::env::var_os(REWRITE).is_some();
    if rewrite {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/schema/pilote.schema.json"), &now).unwrap();
        return;
    }
    assert!(
        now == SCHEMA.replace("\r\n", "\n"),
        "the types have changed: run this test once with {REWRITE}=1, read the difference and commit it"
    );
}
