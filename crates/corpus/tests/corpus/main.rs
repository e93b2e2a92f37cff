//! What the corpus crate does with the inputs that real projects hold.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test ends where something is not as expected, and moves its own files about"
)]

mod any_bytes;
mod compressed;
mod csv;
mod directory;
mod encodings;
mod folder;
mod index;
mod mail;
mod numbers;
mod other_user;
mod pages;
mod parquet;
mod pins;
mod reading;
mod rows;
mod several;
