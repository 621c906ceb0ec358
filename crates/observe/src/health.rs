//! Health and identity that only the device itself knows: asked of it through an open device, if the caller wants that
//! ([`crate::ProbeOptions::health`]), or read from a capture (`/narrows/health/..`).
//!
//! Asking is one or two commands which change nothing; a disk that sleeps is left asleep. The device node is opened only
//! if it is the very device that /sys speaks of.

mod ask;
pub mod ata;
mod bcachefs;
mod dm;
mod ebs;
mod node;
pub mod nvme;

pub(crate) use ask::{of_ata_disk, of_nvme_controller};
pub(crate) use bcachefs::bcachefs_errors;
pub(crate) use dm::integrity_mismatches;
pub use ebs::note_limits_of_run;
