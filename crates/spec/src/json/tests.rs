//! The reader against a deserialiser that many people use: the same texts accepted, the same values read.

use proptest::prelude::*;

use super::{Mark, Node, Value, mark_of, read, visible};

/// The value as the deserialiser has it; none where a key stands twice, which it cannot hold.
fn plain(node: &Node) -> Option<serde_json::Value> {
    Some(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(digits) => number(digits)?,
        Value::Text(text) => text.clone().into(),
        Value::List(nodes) => nodes.iter().map(plain).collect::<Option<Vec<_>>>()?.into(),
        Value::Table(entries) => {
            let mut map = serde_json::Map::new();
            for entry in entries {
                if map.insert(entry.key.clone(), plain(&entry.node)?).is_some() {
                    return None;
                }
            }
            map.into()
        }
    })
}

/// The number of these digits, whole where it is; read exactly, which the deserialiser is not asked to do here.
fn number(digits: &str) -> Option<serde_json::Value> {
    if let Ok(whole) = digits.parse::<i64>() {
        return (digits != "-0").then(|| whole.into()).or_else(|| Some((-0.0).into()));
    }
    digits.parse::<u64>().map(Into::into).ok().or_else(|| Some(digits.parse::<f64>().ok()?.into()))
}

/// Whether two values are the same up to the last digits of their floats.
fn alike(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (a, b) {
        (Number(a), Number(b)) => {
            let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else { return false };
            (a - b).abs() <= 1e-14 * a.abs()
        }
        (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Object(a), Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
        }
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn texts_out_of_the_signs_of_json_are_judged_as_the_deserialiser_does(
        text in r#"([{}\[\]:,"\\ \n0-9eE.+-]|"[ab]":|null|true|\\u00e9|\\ud83d\\ude00|\\udead|é){0,12}"#
    ) {
        let ours = read(&text);
        match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(theirs) => {
                let node = ours.map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
                if let Some(value) = plain(&node) {
                    prop_assert!(alike(&value, &theirs), "{} and {}", value, theirs);
                }
            }
            Err(_) => prop_assert!(ours.is_err(), "accepted: {}", text),
        }
    }

    #[test]
    fn whatever_the_deserialiser_writes_is_read_back(value in any_value()) {
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let node = read(&text).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
            prop_assert_eq!(plain(&node).unwrap(), value.clone());
        }
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise_than_with_a_place_inside_it(text in any::<String>()) {
        if let Err(fault) = read(&text) {
            prop_assert!(fault.at <= mark_of(&text));
            prop_assert!(!fault.problem.is_empty() && !fault.advice.is_empty());
        }
    }
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn keys_and_values_keep_their_places() {
    let node = read("{\n  \"é\": [1,\r\n\t{\"b\": \"x\"}]\n}").unwrap();
    let Value::Table(entries) = &node.value else { panic!("{node:?}") };
    assert_eq!(entries[0].at, Mark { line: 2, column: 3 });
    assert_eq!(entries[0].node.at, Mark { line: 2, column: 8 });
    let Value::List(nodes) = &entries[0].node.value else { panic!("{node:?}") };
    assert_eq!(nodes[1].at, Mark { line: 3, column: 2 });
}

#[test]
fn keys_that_stand_twice_are_both_kept() {
    let node = read(r#"{"a": 1, "a": 2}"#).unwrap();
    let Value::Table(entries) = &node.value else { panic!("{node:?}") };
    assert_eq!(entries.len(), 2);
}

#[test]
fn what_steers_a_terminal_is_shown_as_its_code() {
    assert_eq!(visible("a\u{1b}[2J\u{202e}é\"'"), "a\\u{1b}[2J\\u{202e}é\"'");
}
