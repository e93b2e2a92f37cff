//! The keys that are decoded are those of the schema, and so of the types.

use std::collections::BTreeSet;

use serde_json::Value;

use super::KEYS;

/// The keys of the objects that the schema describes at `pointer`.
fn described(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let object = schema.pointer(pointer).unwrap_or_else(|| panic!("the schema has no {pointer}"));
    let properties = object["properties"].as_object().unwrap_or_else(|| panic!("{pointer} is no object"));
    assert_eq!(object["additionalProperties"], Value::Bool(false), "{pointer} lets unknown keys pass");
    properties.keys().cloned().collect()
}

#[test]
fn the_keys_that_are_decoded_are_those_that_the_schema_describes() {
    let schema: Value = serde_json::from_str(crate::SCHEMA).unwrap();
    for (shape, keys) in KEYS {
        let pointers: &[&str] = match shape {
            "" => &[""],
            "quality" => &["/definitions/Quality"],
            "pilot" => &["/definitions/Pilot"],
            "campaign" => &["/definitions/Campaign"],
            "inputs" => &[
                "/definitions/Inputs/anyOf/0",
                "/definitions/Inputs/anyOf/1",
                "/definitions/Inputs/anyOf/2",
                "/definitions/Inputs/anyOf/3",
                "/definitions/Inputs/anyOf/4",
                "/definitions/Inputs/anyOf/5",
                "/definitions/Inputs/anyOf/6",
            ],
            "range" => &["/definitions/NumberRange"],
            "expected_refusals" => &["/definitions/ExpectedRefusal"],
            "limits" => &["/definitions/Limits"],
            "output.category" => &["/definitions/OutputSpec/oneOf/0"],
            "output.vector" => &["/definitions/OutputSpec/oneOf/1"],
            "output.text" => &["/definitions/OutputSpec/oneOf/2"],
            "output.json" => &["/definitions/OutputSpec/oneOf/3"],
            "output.file" => &["/definitions/OutputSpec/oneOf/4"],
            "categories" => &["/definitions/Category"],
            "engine.builtin" => &["/definitions/EngineConfig/oneOf/0"],
            "engine.worker" => &["/definitions/EngineConfig/oneOf/1"],
            "engine.openai" => &["/definitions/EngineConfig/oneOf/2"],
            "engine.command" => &["/definitions/EngineConfig/oneOf/3"],
            "needs" => &["/definitions/Needs"],
            "extensions" => &["/definitions/NeededExtension"],
            "programs" => &["/definitions/NeededProgram"],
            "preprocessing" => &["/definitions/KnownOutput"],
            "adapters" => &["/definitions/NeededAdapter"],
            "references" => &["/definitions/Reference"],
            "prompt" => &["/definitions/Message"],
            "launch" => &["/definitions/ServerLaunch"],
            "guards" => &["/definitions/Guards"],
            "canaries" => &["/definitions/Canary"],
            other => panic!("no place in the schema is known for {other}"),
        };
        let known: BTreeSet<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let described: BTreeSet<String> =
            pointers.iter().flat_map(|pointer| described(&schema, pointer)).collect();
        assert_eq!(known, described, "{shape}");
    }
    // A new kind of output or engine needs a row of its own.
    assert_eq!(schema["definitions"]["OutputSpec"]["oneOf"].as_array().map(Vec::len), Some(5));
    assert_eq!(schema["definitions"]["EngineConfig"]["oneOf"].as_array().map(Vec::len), Some(4));
    assert_eq!(schema["definitions"]["Inputs"]["anyOf"].as_array().map(Vec::len), Some(7));
}
