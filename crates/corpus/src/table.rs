//! Parquet: each row of a table as the JSON object of the fields that are read.
//!
//! Identifier, text and columns come out as a line of JSONL would hold them, in the order in which they are declared,
//! so that everything behind it is one way for both. Whole numbers keep their digits whatever stands beside them. The
//! digest of a row is that of this object, which any program can make again.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};

use crate::paths::RowFile;
use crate::records::Fields;
use crate::source::CorpusError;

/// Rows that are decoded at once.
const BATCH: usize = 256;

/// The rows of a table, one after the other.
pub(crate) struct Table {
    path: String,
    reader: SerializedFileReader<File>,
    /// The columns that are read.
    projected: SchemaDescPtr,
    /// Names of the columns in the order of their JSON object.
    names: Vec<String>,
    /// The row group under way and its number.
    group: (usize, Option<ReaderIter>),
    /// Number of the next row, from 0.
    next: u64,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("path", &self.path).field("next", &self.next).finish_non_exhaustive()
    }
}

impl Table {
    /// Opens a table and finds the declared columns in it.
    pub(crate) fn open(file: &RowFile, fields: &Fields) -> Result<Self, CorpusError> {
        let path = file.path.clone();
        let opened =
            File::open(&file.full).map_err(|source| CorpusError::Io { path: path.clone(), source })?;
        let reader = SerializedFileReader::new(opened).map_err(|error| damaged(&path, 0, &error))?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        let header = |what: String| CorpusError::Header { path: path.clone(), what };
        let mut names: Vec<String> = Vec::new();
        for field in [&fields.id, &fields.text].into_iter().chain(fields.columns.values()) {
            if !names.contains(field) {
                names.push(field.clone());
            }
        }
        for name in &names {
            let Some(column) = schema.get_fields().iter().find(|column| column.name() == name) else {
                let there: Vec<String> = schema
                    .get_fields()
                    .iter()
                    .take(20)
                    .map(|column| format!("`{}`", column.name()))
                    .collect();
                let there = there.join(", ");
                return Err(header(format!("there is no column `{name}`; the columns are {there}")));
            };
            let rules = [
                (*name == fields.id && !is_identifier(column), "an identifier is text or whole numbers"),
                (*name == fields.text && !is_text(column), "a text is a UTF-8 string"),
                (!is_single(column), "only single values are passed through"),
            ];
            if let Some((_, rule)) = rules.iter().find(|(broken, _)| *broken) {
                return Err(header(format!("the column `{name}` holds {}; {rule}", kind(column))));
            }
        }
        let wanted =
            schema.get_fields().iter().filter(|column| names.iter().any(|name| name == column.name()));
        let projected =
            Type::group_type_builder(schema.name()).with_fields(wanted.cloned().collect()).build();
        let projected = projected.map_err(|error| damaged(&path, 0, &error))?;
        let projected = Arc::new(SchemaDescriptor::new(Arc::new(projected)));
        Ok(Self { path, reader, projected, names, group: (0, None), next: 0 })
    }

    /// The next row's number from 0 and its JSON object; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, String)>, CorpusError> {
        loop {
            let (number, rows) = &mut self.group;
            if let Some(row) = rows.as_mut().and_then(Iterator::next) {
                let row = row.map_err(|error| damaged(&self.path, self.next, &error))?;
                self.next += 1;
                return Ok(Some((self.next - 1, object(&self.names, &row))));
            }
            let following = if rows.is_some() { *number + 1 } else { *number };
            if following >= self.reader.num_row_groups() {
                return Ok(None);
            }
            self.begin(following)?;
        }
    }

    /// Goes on at `row`: forward from where it stands in its row group, else from the start of the group that holds it.
    pub(crate) fn go_to(&mut self, row: u64) -> Result<(), CorpusError> {
        let mut first = 0;
        let mut holding = (0, 0);
        for (number, group) in self.reader.metadata().row_groups().iter().enumerate() {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            if (first..first + rows).contains(&row) {
                holding = (number, first);
            }
            first += rows;
        }
        if self.group.0 != holding.0 || self.group.1.is_none() || self.next > row {
            self.begin(holding.0)?;
            self.next = holding.1;
        }
        while self.next < row && self.next()?.is_some() {}
        Ok(())
    }

    fn begin(&mut self, number: usize) -> Result<(), CorpusError> {
        let failed = |error| damaged(&self.path, self.next, &error);
        let group = self.reader.get_row_group(number).map_err(failed)?;
        let rows = TreeBuilder::new()
            .with_batch_size(BATCH)
            .as_iter(Arc::clone(&self.projected), group.as_ref())
            .map_err(failed)?;
        self.group = (number, Some(rows));
        Ok(())
    }
}

fn damaged(path: &str, row: u64, error: &ParquetError) -> CorpusError {
    CorpusError::TableDamaged { path: path.to_owned(), row: row + 1, what: error.to_string() }
}

/// A row as the JSON object of the named columns, in the order of the names.
fn object(names: &[String], row: &Row) -> String {
    let mut json = String::from("{");
    for name in names {
        let value = row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&text(name));
        json.push(':');
        json.push_str(&value.map_or_else(|| "null".to_owned(), value_of));
    }
    json.push('}');
    json
}

/// A text as a JSON string.
fn text(text: &str) -> String {
    pilote_spec::ExactJson::of_text(text).as_str().to_owned()
}

/// A value as JSON: whole numbers with all their digits, other numbers as the shortest that read back to the same,
/// dates, times and decimals as texts.
fn value_of(field: &Field) -> String {
    match field {
        Field::Null => "null".to_owned(),
        Field::Bool(value) => value.to_string(),
        Field::Byte(value) => value.to_string(),
        Field::Short(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::UByte(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Float(value) if value.is_finite() => serde_json::json!(value).to_string(),
        Field::Double(value) if value.is_finite() => serde_json::json!(value).to_string(),
        Field::Str(value) => text(value),
        // JSON has no word for what is not finite, and none for a date.
        other => text(&other.to_string()),
    }
}

fn physical(column: &Type) -> Option<Physical> {
    column.is_primitive().then(|| column.get_physical_type())
}

fn is_single(column: &Type) -> bool {
    let bytes = physical(column) == Some(Physical::BYTE_ARRAY) && !is_utf8(column);
    column.is_primitive() && column.get_basic_info().repetition() != Repetition::REPEATED && !bytes
}

fn is_utf8(column: &Type) -> bool {
    matches!(
        column.get_basic_info().converted_type(),
        ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
    )
}

fn is_text(column: &Type) -> bool {
    physical(column) == Some(Physical::BYTE_ARRAY) && is_utf8(column) && is_single(column)
}

fn is_identifier(column: &Type) -> bool {
    let whole = matches!(physical(column), Some(Physical::INT32 | Physical::INT64))
        && matches!(
            column.get_basic_info().converted_type(),
            ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
                | ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        );
    (whole && is_single(column)) || is_text(column)
}

/// What a column holds, in words.
fn kind(column: &Type) -> &'static str {
    match physical(column) {
        None => "a group or a list",
        Some(_) if column.get_basic_info().repetition() == Repetition::REPEATED => "a list",
        Some(Physical::BOOLEAN) => "booleans",
        Some(Physical::FLOAT | Physical::DOUBLE) => "floating point numbers",
        Some(Physical::INT96) => "times of 96 bits",
        Some(Physical::INT32 | Physical::INT64) => "whole numbers, dates or decimals",
        Some(Physical::BYTE_ARRAY) if is_utf8(column) => "text",
        Some(Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => "bytes that are not marked as UTF-8",
    }
}
