//! The JSON Schema of `config/pilote.json`, for editors: generated from the types, checked in, compared by a test.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Digest, Project, Reason};

/// The schema as it is checked in, and as `pilote new` writes it beside the configuration.
pub const SCHEMA: &str = include_str!("../schema/pilote.schema.json");

/// The schema as the types describe it now, with a line end at its end.
///
/// # Errors
/// Never in practice: a schema is plain JSON.
pub fn schema_json() -> Result<String, serde_json::Error> {
    // Draft 7, since editors read it most widely. Defaults are described as a reader of the file meets them.
    let settings = SchemaSettings::draft07().for_deserialize();
    let schema = settings.into_generator().into_root_schema_for::<Project>();
    serde_json::to_string_pretty(&schema).map(|text| text + "\n")
}

impl JsonSchema for Reason {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reason".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<&str> = Reason::all().map(Reason::code).collect();
        json_schema!({
            "description": "Why an item is refused: first the faults of inputs, then what the work on them finds.",
            "type": "string",
            "enum": codes,
        })
    }
}

impl JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A SHA-256 digest, as `sha256sum` shows it.",
            "type": "string",
            "pattern": "^[0-9a-fA-F]{64}$",
        })
    }
}
