//! The initialisers of an ONNX model: a walk over the protobuf fields that hold tensors, their data skipped.

use super::range::{Cursor, RangeReader};
use super::tensor::{Tensor, Tensors, product};
use crate::SizeError;

/// The most tensors of one model.
const TENSORS_MAX: usize = 1_000_000;

/// How deep graphs may stand inside nodes (branches and loops).
const DEPTH_MAX: u8 = 8;

/// Name and bits of one value of a type, by its number in `TensorProto.DataType`.
fn data_type(number: u64) -> Option<(&'static str, u64)> {
    Some(match number {
        1 => ("F32", 32),
        2 => ("U8", 8),
        3 => ("I8", 8),
        4 => ("U16", 16),
        5 => ("I16", 16),
        6 => ("I32", 32),
        7 => ("I64", 64),
        9 => ("BOOL", 8),
        10 => ("F16", 16),
        11 => ("F64", 64),
        12 => ("U32", 32),
        13 => ("U64", 64),
        14 => ("C64", 64),
        15 => ("C128", 128),
        16 => ("BF16", 16),
        17 => ("F8_E4M3", 8),
        18 => ("F8_E4M3FNUZ", 8),
        19 => ("F8_E5M2", 8),
        20 => ("F8_E5M2FNUZ", 8),
        21 => ("U4", 4),
        22 => ("I4", 4),
        23 => ("F4", 4),
        24 => ("F8_E8M0", 8),
        25 => ("U2", 2),
        26 => ("I2", 2),
        _ => return None,
    })
}

fn malformed(file: &str, problem: impl Into<String>) -> SizeError {
    SizeError::Malformed { file: file.to_owned(), format: "ONNX", problem: problem.into() }
}

/// One field as it stands on the wire.
enum Field {
    /// A number.
    Number(u64),
    /// A piece of so many bytes, not read yet.
    Piece(u64),
}

/// Reads the tensors of one file; weights kept in files beside it are counted by their shape.
///
/// # Errors
/// A file that ends early or is no such protobuf; graphs nested too deep; more tensors than a model can have.
pub fn read_file(reader: &dyn RangeReader, name: &str) -> Result<Tensors, SizeError> {
    let mut cursor = Cursor::new(reader, name)?;
    let mut tensors = Tensors::default();
    let end = cursor.length();
    let mut graphs = 0;
    while cursor.at() < end {
        match field(&mut cursor, end)? {
            (7, Field::Piece(length)) => {
                graphs += 1;
                let graph_end = cursor.at() + length;
                graph(&mut cursor, graph_end, 0, &mut tensors)?;
            }
            (_, Field::Piece(length)) => cursor.skip(length, "a field")?,
            (_, Field::Number(_)) => {}
        }
    }
    if graphs == 0 {
        return Err(malformed(name, "it holds no graph"));
    }
    Ok(tensors)
}

/// The next field's number and its content; a piece must end before `end`.
fn field(cursor: &mut Cursor<'_>, end: u64) -> Result<(u64, Field), SizeError> {
    let key = varint(cursor)?;
    let content = match key & 7 {
        0 => Field::Number(varint(cursor)?),
        1 => Field::Number(u64::from_le_bytes(cursor.array("a field")?)),
        2 => {
            let length = varint(cursor)?;
            if length > cursor.left() {
                return Err(cursor.truncated("a field"));
            }
            if length > end.saturating_sub(cursor.at()) {
                return Err(malformed(cursor.name(), "a field is longer than what it stands in"));
            }
            Field::Piece(length)
        }
        5 => Field::Number(u64::from(u32::from_le_bytes(cursor.array("a field")?))),
        other => return Err(malformed(cursor.name(), format!("a field has the wire type {other}"))),
    };
    Ok((key >> 3, content))
}

fn varint(cursor: &mut Cursor<'_>) -> Result<u64, SizeError> {
    let mut number = 0_u64;
    for shift in 0..10 {
        let [byte] = cursor.array("a number")?;
        number |= u64::from(byte & 0x7f).checked_shl(7 * shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(malformed(cursor.name(), "a number is longer than ten bytes"))
}

/// `GraphProto`: initialisers (5) and nodes (1), whose attributes may hold tensors and graphs of their own.
fn graph(cursor: &mut Cursor<'_>, end: u64, depth: u8, tensors: &mut Tensors) -> Result<(), SizeError> {
    if depth > DEPTH_MAX {
        return Err(malformed(cursor.name(), format!("its graphs are nested more than {DEPTH_MAX} deep")));
    }
    while cursor.at() < end {
        match field(cursor, end)? {
            (5, Field::Piece(length)) => {
                let tensor_end = cursor.at() + length;
                tensor(cursor, tensor_end, tensors)?;
            }
            (1, Field::Piece(length)) => {
                let node_end = cursor.at() + length;
                node(cursor, node_end, depth, tensors)?;
            }
            (15, Field::Piece(length)) => {
                // A sparse tensor is its values (1) and their places (2), both tensors.
                let sparse_end = cursor.at() + length;
                while cursor.at() < sparse_end {
                    match field(cursor, sparse_end)? {
                        (1 | 2, Field::Piece(length)) => {
                            let tensor_end = cursor.at() + length;
                            tensor(cursor, tensor_end, tensors)?;
                        }
                        (_, Field::Piece(length)) => cursor.skip(length, "a sparse tensor")?,
                        (_, Field::Number(_)) => {}
                    }
                }
            }
            (_, Field::Piece(length)) => cursor.skip(length, "the graph")?,
            (_, Field::Number(_)) => {}
        }
    }
    Ok(())
}

/// `NodeProto`: attributes (5), of which tensors (5) and graphs (6) matter.
fn node(cursor: &mut Cursor<'_>, end: u64, depth: u8, tensors: &mut Tensors) -> Result<(), SizeError> {
    while cursor.at() < end {
        match field(cursor, end)? {
            (5, Field::Piece(length)) => {
                let attribute_end = cursor.at() + length;
                while cursor.at() < attribute_end {
                    match field(cursor, attribute_end)? {
                        (5, Field::Piece(length)) => {
                            let tensor_end = cursor.at() + length;
                            tensor(cursor, tensor_end, tensors)?;
                        }
                        (6 | 11, Field::Piece(length)) => {
                            let graph_end = cursor.at() + length;
                            graph(cursor, graph_end, depth + 1, tensors)?;
                        }
                        (_, Field::Piece(length)) => cursor.skip(length, "an attribute")?,
                        (_, Field::Number(_)) => {}
                    }
                }
            }
            (_, Field::Piece(length)) => cursor.skip(length, "a node")?,
            (_, Field::Number(_)) => {}
        }
    }
    Ok(())
}

/// `TensorProto`: dims (1), data type (2), name (8); data in any other field is skipped.
fn tensor(cursor: &mut Cursor<'_>, end: u64, tensors: &mut Tensors) -> Result<(), SizeError> {
    if tensors.all.len() >= TENSORS_MAX {
        return Err(malformed(cursor.name(), format!("it holds more than {TENSORS_MAX} tensors")));
    }
    let (mut shape, mut kind, mut name, mut stored) = (Vec::new(), 0, String::new(), 0_u64);
    while cursor.at() < end {
        match field(cursor, end)? {
            (1, Field::Number(size)) => shape.push(size),
            (1, Field::Piece(length)) => {
                let dims_end = cursor.at() + length;
                while cursor.at() < dims_end && shape.len() < 64 {
                    let size = varint(cursor)?;
                    shape.push(size);
                }
                cursor.skip(dims_end.saturating_sub(cursor.at()), "a shape")?;
            }
            (2, Field::Number(number)) => kind = number,
            (8, Field::Piece(length)) => {
                let kept = length.min(4096);
                name = String::from_utf8_lossy(cursor.take(kept, "a name")?).into_owned();
                cursor.skip(length - kept, "a name")?;
            }
            (number, Field::Piece(length)) => {
                if matches!(number, 4..=7 | 9..=11) {
                    stored = stored.saturating_add(length);
                }
                cursor.skip(length, "a tensor")?;
            }
            (_, Field::Number(_)) => {}
        }
        if shape.len() > 64 {
            return Err(malformed(cursor.name(), "a tensor has more than 64 dimensions"));
        }
    }
    let values = product(&shape)
        .filter(|values| *values < 1 << 60)
        .ok_or_else(|| malformed(cursor.name(), format!("`{name}` has the impossible shape {shape:?}")))?;
    let (dtype, bytes) = if let Some((dtype, bits)) = data_type(kind) {
        (dtype.to_owned(), (values * bits).div_ceil(8))
    } else {
        if kind != 8 {
            let note = format!("{}: `{name}` has the type {kind}, which is not known here", cursor.name());
            tensors.notes.push(note);
        }
        (format!("type-{kind}"), stored)
    };
    tensors.all.push(Tensor { name, dtype, shape, values, bytes });
    Ok(())
}
