//! Declared inputs: readers of every format, the index, duplicates.
//!
//! [`scan`] walks the declared inputs once, in a stable order, and gives every file or row a position: an item with
//! its identifier, digest and length, or an item with the fault that keeps it from being work. Nothing a corpus
//! holds stops the scan but what makes the whole of it doubtful: inputs that are not there, and two items under one
//! identifier. [`read`] gives the text of an indexed item again and proves that its bytes are still the indexed
//! ones. [`index`] is the durable form of a scan, [`Pins`] the fixed digests of the pilot's files.
//!
//! Inputs are opened for reading only, and only regular files are opened: a named pipe would wait for ever.

mod buckets;
mod confusable;
mod content;
mod csv;
mod decoding;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod identity;
pub mod index;
mod kind;
mod lines;
mod mail;
mod notes;
mod opened;
mod page;
mod paths;
mod pins;
mod range;
mod reading;
mod records;
mod rows;
mod sample;
mod scan;
mod shape;
mod source;
mod stream;
mod table;
mod window;

pub use notes::{Notes, Pair};
pub use pins::{Difference, DifferenceKind, Pins, PinsError, digests};
pub use reading::{Given, ReadError, give, prepare, read};
pub use sample::{LengthGroup, Sample, Share, sample};
pub use scan::{Scan, scan};
pub use source::{CorpusError, Source};
