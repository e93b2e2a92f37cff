//! The header of a safetensors file: 8 bytes of length, then JSON with type, shape and offsets of each tensor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

use super::range::RangeReader;
use super::tensor::{Tensor, Tensors, product};
use crate::SizeError;

/// The longest header that the format allows.
const HEADER_BYTES_MAX: u64 = 100_000_000;

/// The longest index of a sharded model; those of the largest models are a hundredth of it.
pub(crate) const INDEX_BYTES_MAX: u64 = 64 << 20;

/// Bits of one value by type, `None` for a type that this program does not know.
#[must_use]
pub fn bits(dtype: &str) -> Option<u64> {
    Some(match dtype {
        "F64" | "I64" | "U64" | "C64" => 64,
        "F32" | "I32" | "U32" => 32,
        "F16" | "BF16" | "I16" | "U16" => 16,
        "F8_E4M3" | "F8_E5M2" | "F8_E8M0" | "F8_E4M3FNUZ" | "F8_E5M2FNUZ" | "I8" | "U8" | "BOOL" => 8,
        "F6_E2M3" | "F6_E3M2" => 6,
        "F4" | "I4" | "U4" => 4,
        _ => return None,
    })
}

#[derive(Deserialize)]
struct RawTensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// The header's entries in order, doubled names kept so that they can be named.
struct Header(Vec<(String, RawTensor)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut entries = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    } else {
                        entries.push((name, map.next_value()?));
                    }
                }
                Ok(Header(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

fn malformed(file: &str, problem: impl Into<String>) -> SizeError {
    SizeError::Malformed { file: file.to_owned(), format: "safetensors", problem: problem.into() }
}

/// Reads the header of one file. The data itself is never read; its extent is checked against the file's length.
///
/// # Errors
/// A file that is shorter than its header or its data, a header that is no such JSON, a tensor whose offsets lie
/// outside of the data or contradict its type and shape.
pub fn read_file(reader: &dyn RangeReader, name: &str) -> Result<Tensors, SizeError> {
    let length = reader
        .length(name)?
        .ok_or_else(|| SizeError::NoModel { place: reader.place(), looked_for: name.to_owned() })?;
    let cut =
        |what: &str| SizeError::Truncated { file: name.to_owned(), bytes: length, what: what.to_owned() };
    let prefix: [u8; 8] = reader.read(name, 0, 8)?.try_into().map_err(|_| cut("the length of its header"))?;
    let header_bytes = u64::from_le_bytes(prefix);
    if header_bytes > HEADER_BYTES_MAX {
        let problem =
            format!("it announces a header of {header_bytes} bytes; {HEADER_BYTES_MAX} are allowed");
        return Err(malformed(name, problem));
    }
    let data_start = header_bytes + 8;
    if data_start > length {
        return Err(cut("its header"));
    }
    let header = reader.read(name, 8, header_bytes)?;
    if (header.len() as u64) < header_bytes {
        return Err(cut("its header"));
    }
    parse_header(name, &header, length - data_start)
}

/// Reads a header's JSON, `data_bytes` being what the file holds behind it.
///
/// # Errors
/// As [`read_file`].
pub fn parse_header(name: &str, header: &[u8], data_bytes: u64) -> Result<Tensors, SizeError> {
    let Header(entries) =
        serde_json::from_slice(header).map_err(|error| malformed(name, error.to_string()))?;
    let mut tensors = Tensors::default();
    let mut seen = BTreeSet::new();
    let mut unknown = BTreeSet::new();
    let mut end_of_data = 0;
    for (tensor, raw) in &entries {
        if !seen.insert(tensor) {
            return Err(malformed(name, format!("the tensor `{tensor}` is there twice")));
        }
        let (begin, end) = raw.data_offsets;
        let bytes = end.checked_sub(begin).ok_or_else(|| {
            malformed(name, format!("`{tensor}` ends at {end}, before its beginning at {begin}"))
        })?;
        end_of_data = end_of_data.max(end);
        let values = product(&raw.shape)
            .ok_or_else(|| malformed(name, format!("`{tensor}` has the impossible shape {:?}", raw.shape)))?;
        match bits(&raw.dtype) {
            // A type with a sub-byte width is padded to whole bytes at the end of the tensor.
            Some(bits) if (u128::from(values) * u128::from(bits)).div_ceil(8) != u128::from(bytes) => {
                let problem = format!(
                    "`{tensor}` is {} with shape {:?} and cannot be {bytes} bytes long",
                    raw.dtype, raw.shape
                );
                return Err(malformed(name, problem));
            }
            Some(_) => {}
            None => {
                unknown.insert(raw.dtype.clone());
            }
        }
        tensors.all.push(Tensor {
            name: tensor.clone(),
            dtype: raw.dtype.clone(),
            shape: raw.shape.clone(),
            values,
            bytes,
        });
    }
    if end_of_data > data_bytes {
        let what = format!("its data: {end_of_data} bytes are announced behind the header");
        return Err(SizeError::Truncated { file: name.to_owned(), bytes: data_bytes, what });
    }
    tensors.notes = unknown
        .into_iter()
        .map(|dtype| {
            format!("{name}: the type {dtype} is not known here; its bytes are taken from the offsets")
        })
        .collect();
    Ok(tensors)
}

/// `model.safetensors.index.json`: which file holds each tensor.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// Reads all files that an index names.
///
/// # Errors
/// As [`read_file`]; an index that is too long or no such JSON; a file that is named and absent; a tensor that
/// the index places in a file which does not hold it.
pub fn read_sharded(reader: &dyn RangeReader, index: &str) -> Result<Tensors, SizeError> {
    let length = reader.length(index)?.unwrap_or(0);
    if length > INDEX_BYTES_MAX {
        return Err(malformed(index, format!("{length} bytes are too many for an index")));
    }
    let bytes = reader.read(index, 0, length)?;
    let Index { weight_map } =
        serde_json::from_slice(&bytes).map_err(|error| malformed(index, error.to_string()))?;
    let files: BTreeSet<&String> = weight_map.values().collect();
    let mut tensors = Tensors::default();
    let mut found = BTreeSet::new();
    for file in files {
        let part = read_file(reader, file)?;
        found.extend(part.all.iter().map(|tensor| tensor.name.clone()));
        tensors.extend(part);
    }
    if let Some((tensor, file)) = weight_map.iter().find(|(tensor, _)| !found.contains(*tensor)) {
        return Err(malformed(index, format!("it places `{tensor}` in {file}, which does not hold it")));
    }
    Ok(tensors)
}
