//! Comma-separated values as RFC 4180 has them: a header, quoted fields with line ends and doubled quotes in them.
//!
//! Two readers of the same grammar: [`Scanner`] finds where a record ends without keeping it, [`fields`] takes a
//! record apart. What the grammar does not allow is a fault of the row and never guessed at.

use std::borrow::Cow;
use std::collections::BTreeMap;

use encoding_rs::Encoding as Charset;
use pilote_spec::{Columns, ExactJson, FaultCode, ItemId};

use crate::content;
use crate::decoding::{decode_as, malformed};
use crate::records::{Fields, LONGEST_COLUMNS, LONGEST_ID, Record};
use crate::source::fault;

/// Where a scan of units stands inside a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum At {
    /// A field begins.
    #[default]
    Start,
    /// Inside a field without quotes.
    Plain,
    /// Inside quotes.
    Quoted,
    /// After a quote inside quotes: the end of the field, or the first of two.
    Quote,
}

/// Finds the end of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scanner {
    at: At,
    delimiter: u8,
}

impl Scanner {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { at: At::Start, delimiter }
    }

    /// Takes the next byte (or the next unit of an encoding of two bytes that is a byte's character); true where it
    /// is the line feed that ends the record.
    pub(crate) fn ends(&mut self, byte: u8) -> bool {
        self.at = match (self.at, byte) {
            (At::Start | At::Plain | At::Quote, b'\n') => {
                self.at = At::Start;
                return true;
            }
            (At::Start, b'"') => At::Quoted,
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (_, byte) if byte == self.delimiter => At::Start,
            _ => At::Plain,
        };
        false
    }

    /// Takes a unit that is no byte's character.
    pub(crate) fn passes(&mut self) {
        self.at = match self.at {
            At::Quoted => At::Quoted,
            _ => At::Plain,
        };
    }

    /// Whether a quote is open.
    pub(crate) fn is_open(&self) -> bool {
        self.at == At::Quoted
    }
}

/// The fields of a record without its line end. The error says what is wrong with which field, counted from 1.
pub(crate) fn fields(record: &str, delimiter: char) -> Result<Vec<Cow<'_, str>>, String> {
    let mut fields = Vec::new();
    let mut rest = record;
    loop {
        let number = fields.len() + 1;
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (field, after) =
                    in_quotes(quoted).ok_or_else(|| format!("the quote of field {number} is not closed"))?;
                if !after.is_empty() && !after.starts_with(delimiter) {
                    return Err(format!("something follows the closing quote of field {number}"));
                }
                (field, after)
            }
            None => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                let (field, after) = rest.split_at(end);
                if field.contains('"') {
                    return Err(format!(
                        "a quote stands inside field {number}, which does not begin with one"
                    ));
                }
                (Cow::Borrowed(field), after)
            }
        };
        fields.push(field);
        match after.strip_prefix(delimiter) {
            Some(after) => rest = after,
            None => return Ok(fields),
        }
    }
}

/// The field behind an opening quote, and what follows its closing one.
fn in_quotes(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut field = Cow::Borrowed("");
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        match after.strip_prefix('"') {
            Some(after) => {
                field.to_mut().push_str(before);
                field.to_mut().push('"');
                rest = after;
            }
            None if field.is_empty() => return Some((Cow::Borrowed(before), after)),
            None => {
                field.to_mut().push_str(before);
                return Some((field, after));
            }
        }
    }
}

/// How the rows of one file are read: which columns hold what.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    charset: &'static Charset,
    delimiter: char,
    /// Names of the identifier and of the text, for messages.
    names: (String, String),
    id: usize,
    text: usize,
    passed: Vec<(String, usize)>,
    width: usize,
}

impl Table {
    /// From a file's header; the error says what is wrong with it.
    pub(crate) fn of(header: &[u8], wanted: &Fields, delimiter: char) -> Result<Self, String> {
        let charset = wanted.charset;
        let text = decode_as(header, charset).map_err(|at| malformed(charset, at).detail)?;
        let names = fields(&text, delimiter)?;
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            if let Some(first) = places.insert(name, at) {
                return Err(format!("columns {} and {} are both named `{name}`", first + 1, at + 1));
            }
        }
        let place = |name: &str| {
            places.get(name).copied().ok_or_else(|| {
                let there: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
                format!("there is no column `{name}`; the columns are {}", there.join(", "))
            })
        };
        let passed = wanted.columns.iter().map(|(name, field)| Ok((name.clone(), place(field)?)));
        Ok(Self {
            charset,
            delimiter,
            names: (wanted.id.clone(), wanted.text.clone()),
            id: place(&wanted.id)?,
            text: place(&wanted.text)?,
            passed: passed.collect::<Result<_, String>>()?,
            width: names.len(),
        })
    }

    /// Reads a row.
    pub(crate) fn record(&self, row: &[u8]) -> Record {
        let text = match decode_as(row, self.charset) {
            Ok(text) => text,
            Err(at) => return Record::faulty(None, malformed(self.charset, at)),
        };
        if text.trim().is_empty() {
            return Record::Blank;
        }
        let bad = |detail: String| fault(FaultCode::BadRecord, detail);
        let fields = match fields(&text, self.delimiter) {
            Ok(fields) if fields.len() == self.width => fields,
            Ok(fields) => {
                let detail = format!("{} fields, and the header has {}", fields.len(), self.width);
                return Record::faulty(None, bad(detail));
            }
            Err(detail) => return Record::faulty(None, bad(detail)),
        };
        let id = match fields[self.id].len() {
            0 => {
                return Record::faulty(None, fault(FaultCode::BadId, format!("`{}` is empty", self.names.0)));
            }
            length if length > LONGEST_ID => {
                let detail =
                    format!("`{}` has {length} bytes, {LONGEST_ID} at most are allowed", self.names.0);
                return Record::faulty(None, fault(FaultCode::BadId, detail));
            }
            _ => ItemId(fields[self.id].to_string()),
        };
        let bytes: usize = self.passed.iter().map(|(_, at)| fields[*at].len()).sum();
        if bytes > LONGEST_COLUMNS {
            let detail = format!("columns of {bytes} bytes, {LONGEST_COLUMNS} at most are allowed");
            return Record::faulty(Some(id), fault(FaultCode::TooLarge, detail));
        }
        let columns: Columns =
            self.passed.iter().map(|(name, at)| (name.clone(), ExactJson::of_text(&fields[*at]))).collect();
        let text = content::check(&fields[self.text]).map(|()| fields[self.text].to_string());
        Record::Item { id: Some(id), text, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(record: &str) -> Result<Vec<String>, String> {
        fields(record, ',').map(|fields| fields.into_iter().map(Cow::into_owned).collect())
    }

    #[test]
    fn fields_are_taken_apart_as_the_grammar_says() {
        assert_eq!(read("a,b").unwrap(), ["a", "b"]);
        assert_eq!(read("").unwrap(), [""]);
        assert_eq!(read(",").unwrap(), ["", ""]);
        assert_eq!(read("\"a,\"\"b\"\"\n\",\"\", c ").unwrap(), ["a,\"b\"\n", "", " c "]);
        assert_eq!(read("\"\"\"\"").unwrap(), ["\""]);
        assert_eq!(read("\"\"\"a\"").unwrap(), ["\"a"]);
    }

    #[test]
    fn what_the_grammar_does_not_allow_is_said_and_not_guessed_at() {
        assert_eq!(read("a,\"b").unwrap_err(), "the quote of field 2 is not closed");
        assert_eq!(read("\"a\"b,c").unwrap_err(), "something follows the closing quote of field 1");
        let inside = "a quote stands inside field 2, which does not begin with one";
        assert_eq!(read("a,b\"c\"").unwrap_err(), inside);
    }

    #[test]
    fn a_scanner_ends_records_where_the_fields_end() {
        let ends = |text: &str| {
            let mut scanner = Scanner::new(b',');
            let at: Vec<usize> =
                text.bytes().enumerate().filter(|(_, byte)| scanner.ends(*byte)).map(|(at, _)| at).collect();
            (at, scanner.is_open())
        };
        assert_eq!(ends("a,b\n\"c\n\"\"\n\",d\n"), (vec![3, 13], false));
        assert_eq!(ends("a\"b\n\"c"), (vec![3], true), "a quote inside a plain field opens nothing");
        assert_eq!(ends("\"a\"b\"\n"), (vec![5], false));
    }
}
