//! Results as Parquet.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use pilote_spec::{Item, Trial};

use super::cells::{Cell, Cells, Column, Kind};
use super::{Rows, Told, arrow};
use crate::files::Pending;

/// Rows of one row group, at the most.
const ROWS_MAX: usize = 65_536;

/// Bytes of cells that are gathered before a row group is written: what the writer holds in memory.
const BYTES_MAX: usize = 32 << 20;

/// The compression level; higher ones cost time and gain little on vectors.
const LEVEL: i32 = 3;

/// A Parquet file under way.
pub(super) struct Parquet {
    writer: SerializedFileWriter<Pending>,
    cells: Cells,
    gathered: Vec<Vec<Cell>>,
    bytes: usize,
}

impl Parquet {
    pub(super) fn begin(to: Pending, trial: &Trial) -> io::Result<Self> {
        let cells = Cells::of(trial);
        let level = ZstdLevel::try_new(LEVEL).map_err(failed)?;
        let described = KeyValue { key: arrow::KEY.to_owned(), value: Some(arrow::schema(&cells.columns)) };
        let named = KeyValue { key: "pilote.trial".to_owned(), value: Some(trial.name.clone()) };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_key_value_metadata(Some(vec![described, named]))
            .build();
        let schema = schema(&cells.columns).map_err(failed)?;
        let writer = SerializedFileWriter::new(to, schema, Arc::new(properties)).map_err(failed)?;
        Ok(Self { writer, cells, gathered: Vec::new(), bytes: 0 })
    }

    /// Writes what was gathered as one row group.
    fn group(&mut self) -> Result<(), ParquetError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.gathered);
        self.bytes = 0;
        let mut group = self.writer.next_row_group()?;
        for (at, column) in self.cells.columns.iter().enumerate() {
            let Some(mut writer) = group.next_column()? else { break };
            written(&mut writer, column, rows.iter().map(|row| &row[at]))?;
            writer.close()?;
        }
        group.close().map(|_| ())
    }
}

impl Rows for Parquet {
    fn row(&mut self, item: &Item, told: &Told<'_>) -> io::Result<()> {
        let row = self.cells.row(item, told);
        self.bytes += row.iter().map(size).sum::<usize>();
        self.gathered.push(row);
        if self.gathered.len() >= ROWS_MAX || self.bytes >= BYTES_MAX {
            self.group().map_err(failed)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Pending> {
        self.group().map_err(failed)?;
        self.writer.into_inner().map_err(failed)
    }
}

/// Writes the cells of one column of a row group. A definition level says how much of a value is there: of a vector, 2
/// for a component and 0 for none at all.
fn written<'c>(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<(), ParquetError> {
    let mut levels: Vec<i16> = Vec::new();
    match column.kind {
        Kind::Whole => {
            let values: Vec<i64> = present(cells, &mut levels, |cell| match cell {
                Cell::Whole(value) => Some(*value),
                _ => None,
            });
            writer.typed::<Int64Type>().write_batch(&values, defined(column, &levels), None)?;
        }
        Kind::Float => {
            let values: Vec<f32> = present(cells, &mut levels, |cell| match cell {
                Cell::Float(value) => Some(*value),
                _ => None,
            });
            writer.typed::<FloatType>().write_batch(&values, defined(column, &levels), None)?;
        }
        Kind::Text => {
            let values: Vec<ByteArray> = present(cells, &mut levels, |cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            });
            writer.typed::<ByteArrayType>().write_batch(&values, defined(column, &levels), None)?;
        }
        Kind::Vector(_) => {
            let (mut values, mut repeated) = (Vec::new(), Vec::new());
            for cell in cells {
                let Cell::Vector(vector) = cell else {
                    levels.push(0);
                    repeated.push(0);
                    continue;
                };
                values.extend_from_slice(vector);
                levels.extend(vector.iter().map(|_| 2));
                repeated.extend((0..vector.len()).map(|at| i16::from(at > 0)));
            }
            writer.typed::<FloatType>().write_batch(&values, Some(&levels), Some(&repeated))?;
        }
    }
    Ok(())
}

/// The values that are there, and a level for each cell.
fn present<'c, V>(
    cells: impl Iterator<Item = &'c Cell>,
    levels: &mut Vec<i16>,
    value: impl Fn(&'c Cell) -> Option<V>,
) -> Vec<V> {
    let mut values = Vec::new();
    for cell in cells {
        let value = value(cell);
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    values
}

/// A column in which every row has a value has no levels.
fn defined<'l>(column: &Column, levels: &'l [i16]) -> Option<&'l [i16]> {
    (!column.required).then_some(levels)
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let fields: Vec<TypePtr> =
        columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("results").with_fields(fields).build()?))
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let repetition = if column.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let physical = match column.kind {
        Kind::Whole => Physical::INT64,
        Kind::Float => Physical::FLOAT,
        Kind::Text => Physical::BYTE_ARRAY,
        Kind::Vector(_) => return vectors(&column.name, repetition),
    };
    let logical = (column.kind == Kind::Text).then_some(LogicalType::String);
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

/// A list as the format's page on logical types lays it out, in three levels.
fn vectors(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    let element = Type::primitive_type_builder("element", Physical::FLOAT)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(repetition)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}

/// About the memory of a cell.
fn size(cell: &Cell) -> usize {
    size_of::<Cell>()
        + match cell {
            Cell::Text(text) => text.len(),
            Cell::Vector(values) => values.len() * size_of::<f32>(),
            Cell::None | Cell::Whole(_) | Cell::Float(_) => 0,
        }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
