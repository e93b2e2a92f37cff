//! Fields of a row that are passed through beside its text, each as the exact JSON that it was.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The columns of an item by the name that the configuration gives them; a field that the row lacks is absent.
pub type Columns = BTreeMap<String, ExactJson>;

/// A JSON value as its exact text: digits of a whole number beyond 2^53, trailing zeros and escapes stay as they were
/// written. It holds no line feed, so that it fits into a line of a durable file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExactJson(Box<RawValue>);

impl ExactJson {
    /// The value that `json` is; none where it is no JSON, or JSON on several lines.
    #[must_use]
    pub fn parse(json: &str) -> Option<Self> {
        let raw = RawValue::from_string(json.trim_matches([' ', '\t', '\r']).to_owned()).ok()?;
        (!raw.get().contains('\n')).then_some(Self(raw))
    }

    /// A text as a JSON string.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let json = serde_json::to_string(text).ok().and_then(|json| RawValue::from_string(json).ok());
        // A text always becomes a JSON string; null would say that there is none.
        Self(json.unwrap_or_else(|| RawValue::NULL.to_owned()))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value as people write it where no JSON is asked for: a string without its quotes and escapes, anything
    /// else as the JSON that it is.
    #[must_use]
    pub fn plain(&self) -> String {
        serde_json::from_str(self.as_str()).unwrap_or_else(|_| self.as_str().to_owned())
    }
}

impl fmt::Debug for ExactJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for ExactJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for ExactJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ExactJson {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_escapes_and_zeros_stay_as_they_were_written() {
        let json = r#"{"n":9007199254740993,"f":1.500,"s":"\u00e9","l":[1,{"a":null}]}"#;
        let columns: Columns = serde_json::from_str(json).unwrap();
        assert_eq!(columns["n"].as_str(), "9007199254740993");
        assert_eq!(columns["s"].plain(), "é");
        assert_eq!(columns["l"].plain(), r#"[1,{"a":null}]"#);
        let written = serde_json::to_string(&columns).unwrap();
        assert!(written.contains(r#""f":1.500"#) && written.contains(r#""s":"\u00e9""#), "{written}");
        assert_eq!(serde_json::from_str::<Columns>(&written).unwrap(), columns);
    }

    #[test]
    fn a_text_becomes_a_string_and_a_value_on_several_lines_is_none() {
        assert_eq!(ExactJson::of_text("a \"b\"\n").as_str(), r#""a \"b\"\n""#);
        assert_eq!(ExactJson::of_text("a \"b\"\n").plain(), "a \"b\"\n");
        assert_eq!(ExactJson::parse("[1,\n2]"), None);
        assert_eq!(ExactJson::parse("1 2"), None);
        assert_eq!(ExactJson::parse(" 1e400\r").unwrap().as_str(), "1e400");
    }
}
