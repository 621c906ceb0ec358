//! A seeded device with known truth, in simulated time, and the machine around it.
//!
//! [`SimDevice`] computes the whole way of each command when it is submitted: the stations of [`model::SimModel`] are
//! first come, first served, so no event queue is needed for them and a simulated second of a fast drive takes a small
//! part of a real one. [`SimRig`] is a whole target: it also shows what an inventory and an observer would have seen.
//! What a measurement must give is [`SimTruth`]. The parameters,
//! [`model::SimModel`], are a value that `spec` reads of a text and hands over.
//!
//! Data are kept for a stream that verifies them ([`SimData`]); of others the buffers are scratch memory.

#[cfg(feature = "file-trace")]
mod blocks;
#[cfg(feature = "file-trace")]
mod calls;
mod data;
mod device;
#[cfg(feature = "file-trace")]
mod files;
mod interleaved;
mod inventory;
mod jitter;
mod machine;
mod memory_bus;
mod page_cache;
mod paging;
#[cfg(not(feature = "file-trace"))]
#[path = "no_replay.rs"]
mod replay;
#[cfg(feature = "file-trace")]
mod replay;
mod rig;
mod sample;
mod station;
mod truth;

pub use data::SimData;
pub use device::SimDevice;
pub use jitter::Jitter;
pub(crate) use memory_bus::MemoryBusDevice;
pub use rig::SimRig;
pub use truth::{SimLimit, SimTruth};
