//! The machine as it is: host, cards, memory readings, and the ladder of checks. What cannot be read is absent, never
//! zero.
//!
//! The ladder collects first and judges afterwards. Facts ([`Facts`]) are copied by two readers that follow one list,
//! this program and the probe in Python ([`probe`]); every rung that judges facts is a pure function of them and of what
//! is asked for ([`rungs::judge`]). Rungs that need more than facts are composed elsewhere, behind [`ladder::Rung`].

pub mod cards;
pub mod causes;
pub mod demands;
pub mod evidence;
mod facts;
mod holders;
mod host;
pub mod ladder;
mod memory;
pub mod probe;
pub mod project;
pub mod record;
pub mod rungs;
pub mod verdict;

pub use facts::{FACTS_FORMAT, Facts, FactsError};
pub use holders::{DeviceHolder, device_holders};
pub use host::facts;
pub use memory::{ProcessMemory, memory_of};
