//! Models on disk: where one comes from, how it is checked, and how it gets into the cache.
//!
//! A model is a directory with `config.json`, `tokenizer.json`, `model.safetensors` and the few small files that say
//! how its vectors are pooled. It is named by a [`Reference`]; several may be given in order of preference. What is
//! on the machine already is taken before anything is fetched, and nothing is used whose digests were not checked.

mod check;
mod error;
mod hub;
mod package;
mod reference;
mod store;

pub use check::REQUIRED;
pub use error::{Attempt, ModelError, SourceError};
pub use reference::Reference;
pub use store::{Environment, ModelStore, Progress, ResolvedModel, Token};

#[cfg(test)]
mod tests;
