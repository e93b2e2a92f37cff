//! Child processes that never outlive their parent.
//!
//! Every child runs below a *guard*: a second process of the same program that holds the child's process group,
//! adopts whatever its descendants leave behind, and ends all of them as soon as the pipe from the parent closes,
//! which is what the kernel does with it however the parent ends (promise 9).

pub mod guard;
pub mod pool;

mod child;
mod log;
mod scratch;
mod surround;

pub use child::{GuardProgram, Guarded, Launch};
pub(crate) use log::redacted;
pub use log::{Log, Secret};
pub use scratch::Scratch;
pub use surround::{Surround, visible};
