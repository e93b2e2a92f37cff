//! The head of a GGUF file, versions 2 and 3: metadata and the list of tensors, which are summed by block type.

use std::collections::BTreeMap;

use super::range::{Cursor, RangeReader};
use super::tensor::{Tensor, Tensors, product};
use crate::SizeError;

/// The longest head that is read; vocabularies of half a million words take a tenth of it.
const HEAD_BYTES_MAX: u64 = 256 << 20;

/// The longest array of numbers that is kept; longer ones (vocabularies) are only counted.
const KEPT_VALUES_MAX: u64 = 4096;

/// A block type: its number in the file, its name, weights of a block, bytes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockType {
    /// The number that stands in the file.
    pub id: u32,
    /// The name.
    pub name: &'static str,
    /// Weights of one block.
    pub weights: u64,
    /// Bytes of one block.
    pub bytes: u64,
}

macro_rules! block_types {
    ($($id:literal $name:literal $weights:literal $bytes:literal),* $(,)?) => {
        &[$(BlockType { id: $id, name: $name, weights: $weights, bytes: $bytes }),*]
    };
}

/// Every block type of the format, the withdrawn ones included (4 and 5 never had a stable layout).
///
/// Source: `ggml.h` and the block structures of `ggml-common.h`. `Q8_1` and `Q8_K` exist only in working memory.
pub const BLOCK_TYPES: &[BlockType] = block_types![
    0 "F32" 1 4, 1 "F16" 1 2, 2 "Q4_0" 32 18, 3 "Q4_1" 32 20, 6 "Q5_0" 32 22, 7 "Q5_1" 32 24,
    8 "Q8_0" 32 34, 9 "Q8_1" 32 36, 10 "Q2_K" 256 84, 11 "Q3_K" 256 110, 12 "Q4_K" 256 144,
    13 "Q5_K" 256 176, 14 "Q6_K" 256 210, 15 "Q8_K" 256 292, 16 "IQ2_XXS" 256 66, 17 "IQ2_XS" 256 74,
    18 "IQ3_XXS" 256 98, 19 "IQ1_S" 256 50, 20 "IQ4_NL" 32 18, 21 "IQ3_S" 256 110, 22 "IQ2_S" 256 82,
    23 "IQ4_XS" 256 136, 24 "I8" 1 1, 25 "I16" 1 2, 26 "I32" 1 4, 27 "I64" 1 8, 28 "F64" 1 8,
    29 "IQ1_M" 256 56, 30 "BF16" 1 2, 31 "Q4_0_4_4" 32 18, 32 "Q4_0_4_8" 32 18, 33 "Q4_0_8_8" 32 18,
    34 "TQ1_0" 256 54, 35 "TQ2_0" 256 66, 36 "IQ4_NL_4_4" 32 18, 37 "IQ4_NL_4_8" 32 18,
    38 "IQ4_NL_8_8" 32 18, 39 "MXFP4" 32 17, 40 "NVFP4" 64 36, 41 "Q1_0" 128 18,
];

/// The block type of a name, in any case (`q8_0`).
#[must_use]
pub fn block_type(name: &str) -> Option<&'static BlockType> {
    BLOCK_TYPES.iter().find(|block| block.name.eq_ignore_ascii_case(name))
}

/// A metadata value, as far as sizing looks at it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number; negative ones are kept as they are.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// A text, cut at 4096 bytes.
    Text(String),
    /// A short array of whole numbers or yes-or-no.
    Ints(Vec<i128>),
    /// An array that was only counted.
    Counted(u64),
}

/// The head of one GGUF file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Head {
    /// Metadata by key.
    pub metadata: BTreeMap<String, Value>,
    /// The tensors.
    pub tensors: Tensors,
}

impl Head {
    /// A whole number of the metadata that is not negative.
    #[must_use]
    pub fn int(&self, key: &str) -> Option<u64> {
        match self.metadata.get(key)? {
            Value::Int(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// A text of the metadata.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn malformed(file: &str, problem: impl Into<String>) -> SizeError {
    SizeError::Malformed { file: file.to_owned(), format: "GGUF", problem: problem.into() }
}

/// Reads the head of one file.
///
/// # Errors
/// A file that ends early, another version than 2 or 3, counts or lengths beyond the file, a tensor outside of it.
pub fn read_file(reader: &dyn RangeReader, name: &str) -> Result<Head, SizeError> {
    let mut cursor = Cursor::new(reader, name)?;
    if &cursor.array::<4>("its magic number")? != b"GGUF" {
        return Err(malformed(name, "it does not begin with `GGUF`"));
    }
    let version = u32::from_le_bytes(cursor.array("its version")?);
    match version {
        2 | 3 => {}
        version if (1..=3).contains(&version.swap_bytes()) => {
            return Err(malformed(name, "it is written for big-endian machines; convert it"));
        }
        version => return Err(malformed(name, format!("version {version}; versions 2 and 3 are read"))),
    }
    let tensor_count = u64::from_le_bytes(cursor.array("its number of tensors")?);
    let value_count = u64::from_le_bytes(cursor.array("its number of metadata values")?);
    // A tensor takes 24 bytes at least and a value 13, so that counts beyond the file are seen before any work.
    if tensor_count > cursor.left() / 24 || value_count > cursor.left() / 13 {
        return Err(cursor.truncated(&format!("{value_count} metadata values and {tensor_count} tensors")));
    }
    let mut head = Head::default();
    for _ in 0..value_count {
        let key = text(&mut cursor, "the key of a metadata value")?;
        let kind = u32::from_le_bytes(cursor.array("the type of a metadata value")?);
        let value = value(&mut cursor, kind, 0)?;
        if head.metadata.insert(key.clone(), value).is_some() {
            return Err(malformed(name, format!("the key `{key}` is there twice")));
        }
        within_bound(&cursor)?;
    }
    let mut places = Vec::new();
    for _ in 0..tensor_count {
        places.push(tensor(&mut cursor)?);
        within_bound(&cursor)?;
    }
    let alignment = head.int("general.alignment").unwrap_or(32);
    if !alignment.is_power_of_two() || alignment > 1 << 20 {
        return Err(malformed(name, format!("the alignment {alignment} is no power of two up to 2^20")));
    }
    let data_start = cursor.at().next_multiple_of(alignment);
    head.tensors = sized(name, places, cursor.length().saturating_sub(data_start))?;
    Ok(head)
}

fn within_bound(cursor: &Cursor<'_>) -> Result<(), SizeError> {
    if cursor.at() > HEAD_BYTES_MAX {
        return Err(malformed(cursor.name(), format!("its head is longer than {HEAD_BYTES_MAX} bytes")));
    }
    Ok(())
}

/// A text: 8 bytes of length, then bytes; what is beyond 4096 bytes is passed over.
fn text(cursor: &mut Cursor<'_>, what: &str) -> Result<String, SizeError> {
    let length = u64::from_le_bytes(cursor.array(what)?);
    let kept = length.min(4096);
    let text = String::from_utf8_lossy(cursor.take(kept, what)?).into_owned();
    cursor.skip(length - kept, what)?;
    Ok(text)
}

/// Bytes of a scalar metadata type, by its number.
fn scalar_bytes(kind: u32) -> Option<u64> {
    Some(match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        _ => return None,
    })
}

fn scalar(bytes: &[u8], kind: u32) -> Value {
    let mut wide = [0; 16];
    let negative = matches!(kind, 1 | 3 | 5 | 11) && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    if negative {
        wide = [0xff; 16];
    }
    wide[..bytes.len()].copy_from_slice(bytes);
    match (kind, bytes) {
        (6, &[a, b, c, d]) => Value::Float(f64::from(f32::from_le_bytes([a, b, c, d]))),
        (12, &[a, b, c, d, e, f, g, h]) => Value::Float(f64::from_le_bytes([a, b, c, d, e, f, g, h])),
        (7, _) => Value::Bool(bytes[0] != 0),
        _ => Value::Int(i128::from_le_bytes(wide)),
    }
}

fn value(cursor: &mut Cursor<'_>, kind: u32, depth: u8) -> Result<Value, SizeError> {
    const WHAT: &str = "a metadata value";
    if let Some(size) = scalar_bytes(kind) {
        return Ok(scalar(cursor.take(size, WHAT)?, kind));
    }
    match kind {
        8 => Ok(Value::Text(text(cursor, WHAT)?)),
        9 if depth < 4 => array(cursor, depth),
        9 => Err(malformed(cursor.name(), "an array is nested more than four deep")),
        _ => Err(malformed(cursor.name(), format!("a metadata value has the unknown type {kind}"))),
    }
}

fn array(cursor: &mut Cursor<'_>, depth: u8) -> Result<Value, SizeError> {
    const WHAT: &str = "a metadata array";
    let kind = u32::from_le_bytes(cursor.array(WHAT)?);
    let count = u64::from_le_bytes(cursor.array(WHAT)?);
    if let Some(size) = scalar_bytes(kind) {
        let bytes = count.checked_mul(size).ok_or_else(|| cursor.truncated(WHAT))?;
        if count > KEPT_VALUES_MAX || kind == 6 || kind == 12 {
            cursor.skip(bytes, WHAT)?;
            return Ok(Value::Counted(count));
        }
        let all = cursor.take(bytes, WHAT)?;
        let ints =
            all.chunks_exact(usize::try_from(size).unwrap_or(1)).map(|bytes| match scalar(bytes, kind) {
                Value::Int(value) => value,
                Value::Bool(value) => i128::from(value),
                _ => 0,
            });
        return Ok(Value::Ints(ints.collect()));
    }
    // Texts and arrays take 8 bytes at least, so that a count beyond the file ends here.
    if count > cursor.left() / 8 {
        return Err(cursor.truncated(WHAT));
    }
    for _ in 0..count {
        if kind == 8 {
            let length = u64::from_le_bytes(cursor.array(WHAT)?);
            // Words of a vocabulary are short: reading over them keeps the pieces large.
            if length <= 4096 {
                cursor.take(length, WHAT)?;
            } else {
                cursor.skip(length, WHAT)?;
            }
        } else {
            value(cursor, kind, depth + 1)?;
        }
        within_bound(cursor)?;
    }
    Ok(Value::Counted(count))
}

/// A tensor's entry: name, shape, number of its type, offset in the data.
struct Place {
    name: String,
    shape: Vec<u64>,
    kind: u32,
    offset: u64,
}

fn tensor(cursor: &mut Cursor<'_>) -> Result<Place, SizeError> {
    const WHAT: &str = "the list of tensors";
    let name = text(cursor, WHAT)?;
    let dimensions = u32::from_le_bytes(cursor.array(WHAT)?);
    if dimensions > 8 {
        return Err(malformed(cursor.name(), format!("`{name}` has {dimensions} dimensions; 8 are allowed")));
    }
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        shape.push(u64::from_le_bytes(cursor.array(WHAT)?));
    }
    let kind = u32::from_le_bytes(cursor.array(WHAT)?);
    let offset = u64::from_le_bytes(cursor.array(WHAT)?);
    Ok(Place { name, shape, kind, offset })
}

/// Gives each tensor its bytes: by its block type, or, for an unknown one, by the distance to the next tensor.
fn sized(file: &str, places: Vec<Place>, data_bytes: u64) -> Result<Tensors, SizeError> {
    let mut offsets: Vec<u64> = places.iter().map(|place| place.offset).collect();
    offsets.sort_unstable();
    let mut tensors = Tensors::default();
    for place in places {
        let impossible =
            || malformed(file, format!("`{}` has the impossible shape {:?}", place.name, place.shape));
        let values = product(&place.shape).ok_or_else(impossible)?;
        let known = BLOCK_TYPES.iter().find(|block| block.id == place.kind);
        let bytes = if let Some(block) = known {
            // Rows are whole blocks: the innermost dimension, written first, must divide.
            if place.shape.first().copied().unwrap_or(1) % block.weights != 0 {
                return Err(impossible());
            }
            (values / block.weights).checked_mul(block.bytes).ok_or_else(impossible)?
        } else {
            let next = offsets.partition_point(|offset| *offset <= place.offset);
            let end = offsets.get(next).copied().unwrap_or(data_bytes);
            tensors.notes.push(format!(
                "{file}: `{}` has the block type {}, which is not known here; its bytes are taken from the offsets",
                place.name, place.kind
            ));
            end.saturating_sub(place.offset)
        };
        let end = place.offset.checked_add(bytes).ok_or_else(impossible)?;
        if end > data_bytes {
            let what = format!("the data of `{}`, which ends {end} bytes behind the head", place.name);
            return Err(SizeError::Truncated { file: file.to_owned(), bytes: data_bytes, what });
        }
        let dtype = known.map_or_else(|| format!("type-{}", place.kind), |block| block.name.to_owned());
        // The file writes the innermost dimension first; ours is outermost first everywhere.
        let shape = place.shape.into_iter().rev().collect();
        tensors.all.push(Tensor { name: place.name, dtype, shape, values, bytes });
    }
    Ok(tensors)
}
