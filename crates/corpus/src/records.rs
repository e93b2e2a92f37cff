//! A line of a JSONL file to its identifier, its text and the fields that are passed through.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use encoding_rs::Encoding as Charset;
use pilote_spec::{Columns, ExactJson, FaultCode, ItemFault, ItemId};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::content;
use crate::decoding::{decode_as, malformed};
use crate::lines::{Head, Unit};
use crate::source::fault;

/// The longest identifier in bytes: it is repeated in every record about its item.
pub(crate) const LONGEST_ID: usize = 4096;

/// The most bytes of an item's columns: they are kept in the index, and a whole part of it is in memory at once.
pub(crate) const LONGEST_COLUMNS: usize = 16 * 1024;

/// How records are read: which fields, in which charset.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) id: String,
    pub(crate) text: String,
    /// The fields that are passed through, by the name that they bear there.
    pub(crate) columns: BTreeMap<String, String>,
    /// Whether the text is the JSON of an object field, and not a string.
    pub(crate) object: bool,
    pub(crate) charset: &'static Charset,
}

/// What one line holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// White space only: no item.
    Blank,
    /// A declared item. The identifier is kept beside a fault of the text.
    Item { id: Option<ItemId>, text: Result<String, ItemFault>, columns: Columns },
}

impl Record {
    pub(crate) fn faulty(id: Option<ItemId>, fault: ItemFault) -> Self {
        Self::Item { id, text: Err(fault), columns: Columns::new() }
    }
}

impl Fields {
    /// The same for a file that begins so: a byte order mark outranks the declared encoding.
    pub(crate) fn beginning_with(mut self, head: Head) -> Self {
        self.charset = match head.unit {
            Unit::Utf16Le => encoding_rs::UTF_16LE,
            Unit::Utf16Be => encoding_rs::UTF_16BE,
            Unit::Byte if head.mark > 0 => encoding_rs::UTF_8,
            Unit::Byte => self.charset,
        };
        self
    }

    /// Reads a line.
    pub(crate) fn record(&self, line: &[u8]) -> Record {
        let text = match decode_as(line, self.charset) {
            Ok(text) => text,
            Err(at) => return Record::faulty(None, malformed(self.charset, at)),
        };
        if text.trim().is_empty() {
            return Record::Blank;
        }
        match self.values(&text) {
            Ok(values) => self.item(&values),
            Err(fault) => Record::faulty(None, fault),
        }
    }

    fn values<'a>(&self, text: &'a str) -> Result<Values<'a>, ItemFault> {
        let bad = |detail: String| fault(FaultCode::BadRecord, detail);
        let in_words = |error: &serde_json::Error| {
            let words = error.to_string();
            let words = words.split(" at line ").next().unwrap_or_default().to_owned();
            bad(format!("{words}, column {}", error.column()))
        };
        let value: &RawValue = serde_json::from_str(text).map_err(|error| in_words(&error))?;
        if !value.get().starts_with('{') {
            return Err(bad(format!("{}, not a JSON object", type_of(value))));
        }
        let mut reader = serde_json::Deserializer::from_str(value.get());
        Picked(self).deserialize(&mut reader).map_err(|error| in_words(&error))
    }

    fn item(&self, values: &Values<'_>) -> Record {
        let id = match values.id.map(identifier) {
            Some(Ok(id)) => id,
            Some(Err(detail)) => {
                return Record::faulty(None, fault(FaultCode::BadId, format!("`{}` {detail}", self.id)));
            }
            None => return Record::faulty(None, fault(FaultCode::BadId, format!("no field `{}`", self.id))),
        };
        let bad = |detail: String| fault(FaultCode::BadRecord, detail);
        let text = match values.text {
            None => Err(bad(format!("no field `{}`", self.text))),
            Some(value) if self.object => match value.get() {
                object if object.starts_with('{') => Ok(object.to_owned()),
                _ => Err(bad(format!("`{}` is {}, not an object", self.text, type_of(value)))),
            },
            Some(value) => match serde_json::from_str::<Cow<'_, str>>(value.get()) {
                Ok(text) => content::check(&text).map(|()| text.into_owned()),
                Err(_) if value.get().starts_with('"') => {
                    Err(bad(format!("`{}` holds half of a surrogate pair", self.text)))
                }
                Err(_) => Err(bad(format!("`{}` is {}, not a string", self.text, type_of(value)))),
            },
        };
        match self.passed_through(values) {
            Ok(columns) => Record::Item { id: Some(id), text, columns },
            Err(fault) => Record::faulty(Some(id), fault),
        }
    }

    /// The declared columns; a field that the record lacks is absent among them.
    fn passed_through(&self, values: &Values<'_>) -> Result<Columns, ItemFault> {
        let mut columns = Columns::new();
        let mut bytes = 0;
        for ((name, field), value) in self.columns.iter().zip(&values.columns) {
            let Some(value) = value else { continue };
            bytes += value.get().len();
            if bytes > LONGEST_COLUMNS {
                let detail = format!("columns beyond {LONGEST_COLUMNS} bytes at `{field}`");
                return Err(fault(FaultCode::TooLarge, detail));
            }
            // A value that was read is JSON on one line: a line feed ends the record.
            columns.extend(ExactJson::parse(value.get()).map(|value| (name.clone(), value)));
        }
        Ok(columns)
    }
}

/// An identifier as exact text: a string, or the digits of an integer as they stand, since a number beyond 2^53
/// would be rounded on its way through a floating point value.
fn identifier(value: &RawValue) -> Result<ItemId, String> {
    let text = value.get();
    if text.starts_with('"') {
        let id: String =
            serde_json::from_str(text).map_err(|_| "holds half of a surrogate pair".to_owned())?;
        return match id.len() {
            0 => Err("is an empty string".to_owned()),
            length if length > LONGEST_ID => {
                Err(format!("has {length} bytes, {LONGEST_ID} at most are allowed"))
            }
            _ => Ok(ItemId(id)),
        };
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if text.len() > LONGEST_ID {
            return Err(format!("has {} bytes, {LONGEST_ID} at most are allowed", text.len()));
        }
        return Ok(ItemId(text.to_owned()));
    }
    Err(match type_of(value) {
        "a number" => {
            "is a number with a fraction or an exponent, and only whole numbers keep their digits".to_owned()
        }
        other => format!("is {other}, neither a string nor a whole number"),
    })
}

/// The type of a JSON value in words.
fn type_of(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The declared fields of a record, as they stand.
struct Values<'a> {
    id: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
    /// In the order of [`Fields::columns`].
    columns: Vec<Option<&'a RawValue>>,
}

/// Picks the declared fields out of an object, whatever else it holds. A field that stands twice is an error: readers
/// differ in which one they take.
struct Picked<'f>(&'f Fields);

impl<'a> DeserializeSeed<'a> for Picked<'_> {
    type Value = Values<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Values<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Picked<'_> {
    type Value = Values<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Values<'a>, A::Error> {
        let Fields { id, text, columns, .. } = self.0;
        let mut values = Values { id: None, text: None, columns: vec![None; columns.len()] };
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let passed = |field: &String| *field == key;
            if key != *id && key != *text && !columns.values().any(passed) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: &RawValue = map.next_value()?;
            let mut twice = (key == *id && values.id.replace(value).is_some())
                | (key == *text && values.text.replace(value).is_some());
            for (field, column) in columns.values().zip(&mut values.columns) {
                twice |= passed(field) && column.replace(value).is_some();
            }
            if twice {
                return Err(serde::de::Error::custom(format_args!("the field `{key}` stands twice")));
            }
        }
        Ok(values)
    }
}
