//! What an engine said as JSON, kept in its own words: no number is rounded, no key is lost.
//!
//! A value that becomes numbers and maps on its way loses what they cannot hold: integers beyond 64 bits, the last
//! digit of a float, the first of two equal keys. What an engine said is kept as text instead, and only looked at.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::ExactJson;

/// Characters of a key that a message shows, at the most.
const KEY_CHARS_MAX: usize = 80;

/// Why a text is no JSON value that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonFault(String);

impl ExactJson {
    /// The value that `text` consists of.
    ///
    /// # Errors
    /// Where it is no JSON (RFC 8259), a key stands twice in one object, a number is beyond what any reader could
    /// judge, or more than 127 lists and objects stand inside one another.
    pub fn read(text: &str) -> Result<Self, JsonFault> {
        serde_json::from_str::<Sound>(text).map_err(|error| JsonFault(error.to_string()))?;
        Self::parse(&compact(text)).ok_or_else(|| JsonFault("it is no JSON".to_owned()))
    }

    /// The value for judging and showing, its numbers in the precision that this program computes in. What nobody can
    /// read is null.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }

    /// The text that the value is, where it is one.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.as_str().starts_with('"').then(|| serde_json::from_str(self.as_str()).ok()).flatten()
    }
}

impl From<Value> for ExactJson {
    fn from(value: Value) -> Self {
        // A value always makes JSON on one line.
        Self::parse(&value.to_string()).unwrap_or_else(|| Self::of_text(""))
    }
}

impl From<&str> for ExactJson {
    fn from(text: &str) -> Self {
        Self::of_text(text)
    }
}

/// `text`, which is JSON, without the white space between its tokens: a line end there would end a record.
fn compact(text: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let mut out = String::with_capacity(text.len());
    out.extend(text.chars().filter(|c| {
        let is_space = !inside && matches!(c, ' ' | '\t' | '\n' | '\r');
        if inside {
            inside = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
        } else {
            inside = *c == '"';
        }
        !is_space
    }));
    out
}

/// Passes over a value and keeps nothing of it, so that only what is wrong with it is told.
struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self, A::Error> {
        while values.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            entries.next_value::<Self>()?;
            if let Some(twice) = seen.replace(key) {
                let shown: String = crate::json::visible(&twice).chars().take(KEY_CHARS_MAX).collect();
                return Err(de::Error::custom(format_args!("the key `{shown}` stands twice in one object")));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_stays_as_it_was_written() {
        let text =
            r#"{"big":123456789012345678901234567890,"float":0.30000000000000004441,"e":1E+2,"zero":-0.0}"#;
        let value = ExactJson::read(text).unwrap();
        assert_eq!(value.as_str(), text);
        let again: ExactJson = serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap();
        assert_eq!(again, value);
    }

    #[test]
    fn white_space_between_tokens_goes_and_that_inside_of_texts_stays() {
        let value = ExactJson::read("{ \"a b\" :\n[ 1 , \"c \\\" d\\\\\" ,\ttrue ] }\r\n").unwrap();
        assert_eq!(value.as_str(), r#"{"a b":[1,"c \" d\\",true]}"#);
    }

    #[test]
    fn a_key_that_stands_twice_is_named_at_any_depth() {
        let error = |text| ExactJson::read(text).unwrap_err().to_string();
        assert!(error(r#"{"a":1,"b":2,"a":3}"#).contains("the key `a` stands twice in one object"));
        assert!(
            error(r#"[{"x":{"é":1,"\u00e9":2}}]"#).contains("the key `é` stands twice"),
            "escapes are read"
        );
        assert!(
            ExactJson::read(r#"{"a":{"a":1},"b":{"a":2}}"#).is_ok(),
            "other objects have keys of their own"
        );
    }

    #[test]
    fn what_is_no_json_or_beyond_any_reader_is_told() {
        for text in ["", "{", "NaN", "01", "[1,]", "{\"a\":1} 2", "\"\\ud800\"", "1e999"] {
            assert!(ExactJson::read(text).is_err(), "{text}");
        }
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(ExactJson::read(&deep(127)).is_ok());
        let error = ExactJson::read(&deep(128)).unwrap_err().to_string();
        assert!(error.contains("recursion limit exceeded"), "{error}");
    }

    #[test]
    fn a_text_and_null_are_values_too() {
        assert_eq!(ExactJson::read("null").unwrap().value(), Value::Null);
        assert_eq!(ExactJson::from("stop").text().as_deref(), Some("stop"));
        assert_eq!(ExactJson::from(Value::from(3)).text(), None);
    }
}
