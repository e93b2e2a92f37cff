//! Tensors as the files describe them, whatever the format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One tensor of a model's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// The type as the file names it (`BF16`, `Q4_K`, `type-77` where unknown).
    pub dtype: String,
    /// Its shape, outermost dimension first, as the file stores it.
    pub shape: Vec<u64>,
    /// Values stored: the product of the shape. Packed formats hold several weights in one value.
    pub values: u64,
    /// Bytes in the file.
    pub bytes: u64,
}

/// All tensors of one model, with what was noticed while reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensors {
    /// The tensors in the order of the files.
    pub all: Vec<Tensor>,
    /// What was noticed and changes no figure: an unknown type, a gap between tensors.
    pub notes: Vec<String>,
}

/// Values and bytes of one type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeTotal {
    /// Tensors of the type.
    pub tensors: u64,
    /// Values of the type.
    pub values: u64,
    /// Bytes of the type.
    pub bytes: u64,
}

impl Tensors {
    /// The sum of the tensors' bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.all.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.bytes))
    }

    /// The sum of the stored values; for packed formats that is not the number of parameters.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.all.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.values))
    }

    /// Values and bytes by type.
    #[must_use]
    pub fn by_type(&self) -> BTreeMap<String, TypeTotal> {
        let mut totals: BTreeMap<String, TypeTotal> = BTreeMap::new();
        for tensor in &self.all {
            let total = totals.entry(tensor.dtype.clone()).or_default();
            total.tensors += 1;
            total.values = total.values.saturating_add(tensor.values);
            total.bytes = total.bytes.saturating_add(tensor.bytes);
        }
        totals
    }

    /// Whether a tensor of this name is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.all.iter().any(|tensor| tensor.name == name)
    }

    /// Adds the tensors of another file.
    pub(crate) fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
        self.notes.extend(other.notes);
    }
}

/// The product of a shape; none where it is beyond 64 bits.
pub(crate) fn product(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |values, size| values.checked_mul(*size))
}
