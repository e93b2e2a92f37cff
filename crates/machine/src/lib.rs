//! The machine as it is: host, cards, memory readings. What cannot be read is absent, never zero.

mod holders;
mod host;
mod memory;

pub use holders::{DeviceHolder, device_holders};
pub use host::facts;
pub use memory::{ProcessMemory, memory_of};
