//! Declared inputs: readers, the index, duplicates, sampling.
