//! The weights of a model, memory-mapped.

use std::fs::File;
use std::path::Path;

use candle_core::{Device, Tensor};
use memmap2::Mmap;
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};

use super::encoder::EncoderError;

/// A `model.safetensors` that is mapped and never copied as a whole.
pub(super) struct Weights {
    map: Mmap,
    metadata: Metadata,
    /// First byte of the data behind the header.
    data: usize,
    /// What stands before each name (`bert.`, `roberta.` ...) where the file was saved with a head.
    prefix: String,
}

impl Weights {
    /// Maps the file. `probe` is a tensor that every model of the family has; it shows the names' prefix.
    pub(super) fn open(path: &Path, probe: &str) -> Result<Self, EncoderError> {
        let bad = |detail: String| EncoderError::Weights { detail };
        let file = File::open(path).map_err(|error| bad(format!("{}: {error}", path.display())))?;
        #[expect(
            unsafe_code,
            reason = "mapping a file is unsafe, since another program could cut it meanwhile"
        )]
        // SAFETY: the file was checked whole, is opened for reading only, and the store replaces models by rename
        // and never writes into one. Who truncates a model in place while it runs ends the process, not its results.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| bad(format!("{}: {error}", path.display())))?;
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(|error| bad(error.to_string()))?;
        let prefix =
            metadata.offset_keys().iter().find_map(|name| name.strip_suffix(probe).map(str::to_owned));
        let prefix = prefix.ok_or_else(|| bad(format!("there is no tensor `{probe}`")))?;
        Ok(Self { data: 8 + header, metadata, map, prefix })
    }

    /// Gives back the pages that were read so far: matrices were copied into the layout that they are computed in, and
    /// what is used of the tables comes again from the file. Where the system has no such advice, they stay.
    pub(super) fn release(&self) {
        #[cfg(unix)]
        {
            #[expect(
                unsafe_code,
                reason = "advice that drops pages is unsafe for mappings that were written to"
            )]
            // SAFETY: the mapping is read-only and of a file, so dropped pages are read from the file again.
            let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }

    fn find(&self, name: &str) -> Result<(&TensorInfo, &[u8]), EncoderError> {
        let name = format!("{}{name}", self.prefix);
        let info = self.metadata.info(&name);
        let info =
            info.ok_or_else(|| EncoderError::Weights { detail: format!("there is no tensor `{name}`") })?;
        let (start, end) = info.data_offsets;
        Ok((info, &self.map[self.data + start..self.data + end]))
    }

    /// A vector of `width` numbers.
    pub(super) fn vector(&self, name: &str, width: usize) -> Result<Vec<f32>, EncoderError> {
        self.values(name, &[width])
    }

    /// A layer's matrix as `[inputs, outputs]`; several are joined side by side, so that one product does for all.
    /// On disk each is `[outputs, inputs]`.
    pub(super) fn matrix(
        &self,
        names: &[String],
        outputs: usize,
        inputs: usize,
    ) -> Result<Tensor, EncoderError> {
        let mut values = Vec::with_capacity(names.len() * outputs * inputs);
        for name in names {
            values.extend(self.values(name, &[outputs, inputs])?);
        }
        let tensor = Tensor::from_vec(values, (names.len() * outputs, inputs), &Device::Cpu);
        Ok(tensor.and_then(|tensor| tensor.t()?.contiguous())?)
    }

    /// A table whose rows are read where they lie in the file: only those that are used come into memory.
    pub(super) fn table(&self, name: &str, width: usize) -> Result<Table, EncoderError> {
        let (info, _) = self.find(name)?;
        match info.shape.as_slice() {
            &[rows, seen] if seen == width => {
                let start = self.data + info.data_offsets.0;
                Ok(Table { start, rows, width, bytes: Numbers::of(info.dtype, name)? })
            }
            shape => Err(EncoderError::Weights {
                detail: format!("`{name}` has the shape {shape:?}, [?, {width}] is expected"),
            }),
        }
    }

    /// Adds row `at` of a table to `sum`.
    pub(super) fn add_row(&self, table: &Table, at: usize, sum: &mut [f32]) -> Result<(), EncoderError> {
        if at >= table.rows {
            return Err(EncoderError::Token { token: at, rows: table.rows });
        }
        let size = table.width * table.bytes.size();
        let bytes = &self.map[table.start + at * size..][..size];
        table.bytes.each(bytes, sum.iter_mut(), |sum, value| *sum += value);
        Ok(())
    }

    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        let (info, bytes) = self.find(name)?;
        if info.shape != shape {
            let detail = format!("`{name}` has the shape {:?}, {shape:?} is expected", info.shape);
            return Err(EncoderError::Weights { detail });
        }
        let mut values = vec![0.0; shape.iter().product()];
        Numbers::of(info.dtype, name)?.each(bytes, values.iter_mut(), |slot, value| *slot = value);
        Ok(values)
    }
}

/// A table in the file.
pub(super) struct Table {
    start: usize,
    pub(super) rows: usize,
    width: usize,
    bytes: Numbers,
}

/// How numbers are stored; all are computed with as f32.
#[derive(Clone, Copy)]
enum Numbers {
    F32,
    F16,
    Bf16,
}

impl Numbers {
    fn of(dtype: Dtype, name: &str) -> Result<Self, EncoderError> {
        match dtype {
            Dtype::F32 => Ok(Self::F32),
            Dtype::F16 => Ok(Self::F16),
            Dtype::BF16 => Ok(Self::Bf16),
            other => Err(EncoderError::Weights {
                detail: format!("`{name}` is stored as {other:?}; F32, F16 and BF16 are read"),
            }),
        }
    }

    fn size(self) -> usize {
        if matches!(self, Self::F32) { 4 } else { 2 }
    }

    /// Gives each number with its slot. The bytes need no alignment.
    fn each<'a>(self, bytes: &[u8], slots: impl Iterator<Item = &'a mut f32>, give: impl Fn(&mut f32, f32)) {
        match self {
            Self::F32 => {
                let (numbers, _) = bytes.as_chunks();
                slots.zip(numbers).for_each(|(slot, number)| give(slot, f32::from_le_bytes(*number)));
            }
            Self::F16 => {
                let (numbers, _) = bytes.as_chunks();
                slots
                    .zip(numbers)
                    .for_each(|(slot, number)| give(slot, half::f16::from_le_bytes(*number).to_f32()));
            }
            Self::Bf16 => {
                let (numbers, _) = bytes.as_chunks();
                slots
                    .zip(numbers)
                    .for_each(|(slot, number)| give(slot, half::bf16::from_le_bytes(*number).to_f32()));
            }
        }
    }
}
