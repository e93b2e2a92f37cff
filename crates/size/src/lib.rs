//! Memory by part from model files, cards, libraries, plans and projections.
//!
//! Every figure carries its [`Origin`]: read from the model's files, computed by a named formula, estimated with
//! a stated spread, measured in a trial, declared by the user, or unknown. Nothing is ever said to fit because of
//! a number of parameters: a verdict rests on a measured peak, or on exact parts that alone exceed the card.
//!
//! The two entries are [`size`] (a model and a task to [`Sizing`]) and [`plan::plan`] (a sizing, cards and a
//! catalogue to candidates). Both results serialise as they stand.

mod bytes;
mod error;
mod figure;

pub mod cards;
pub mod libraries;
pub mod measured;
pub mod memory;
pub mod model;
pub mod picture;
pub mod plan;
pub mod precision;
pub mod projection;
mod sizing;

pub use bytes::Bytes;
pub use error::SizeError;
pub(crate) use figure::said;
pub use figure::{Amount, Figure, Origin, Phrase, Said};
pub use sizing::{CardVerdict, OpenPoint, Request, SIZING_FORMAT, Sizing, size, size_model};
