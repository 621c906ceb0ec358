//! What /proc and /sys tell, under an injected root: the storage path ([`inventory`]), all disks ([`disks()`]), the machine
//! ([`environment()`]), who uses a device ([`device_use`]), the counters during a run ([`Sampler`]), and a capture of what
//! an inventory reads ([`capture()`]), which is a root again.
//!
//! Invariants:
//! - Every read goes through [`Root`]: `/`, or a captured tree that no symbolic link leaves. Reads are bounded; FIFOs,
//!   sockets and device nodes are not opened.
//! - Devices are asked only if the caller wants it ([`ProbeOptions`]), by commands that change nothing; registers are read only
//!   then, only those of [`registers::CATALOGUE`], only while their driver is bound.
//! - What is not there is `None` or [`model::Fact::Null`] and never zero; what matters and is missing is named in a
//!   list together with the way to get it.
//! - Nothing that a file says makes this crate panic, loop or grow without bound: trees are other people's input, and
//!   devices vanish while they are looked at.
//! - Names of facts are a contract, held in one table: [`model::facts::ALL`].
//! - Ceilings are line rates. Devices that a hypervisor invents, and memory, have none.
//!
//! Deliberately absent: rates (`model` derives them from two samples), judgements (`diagnose`), writing to a device or a
//! file system ([`write_tar`] writes to the sink it is given), PCI's configuration space (reading it can upset a device;
//! /sys has what matters), names of USB ids (devices bring their own).

pub mod ata_identity;
pub mod csd;
pub mod ext_csd;
pub use model::facts;
pub mod health;
pub mod registers;
pub mod sd_card;

mod block_devices;
mod capture;
mod ceiling;
mod cloud;
mod cpu_cache;
mod cpu_quota;
mod device_reads;
mod disks;
mod environment;
mod host;
mod identity;
mod kernel_log;
mod locate;
mod machine;
mod memory_limit;
mod mounts;
mod nfs;
mod path_source;
mod pci_bar;
mod pci_names;
mod process_io;
mod read_error;
mod record;
mod redaction;
mod register_facts;
mod root;
mod sampler;
mod settings;
mod since_boot;
mod smb;
mod stack;
mod uio;
mod uses;
mod zfs;

pub use capture::tar::write_tar;
pub use capture::{CaptureOptions, CapturedContent, CapturedFile, capture};
pub use cpu_cache::last_level_cache;
pub use device_reads::lowest_read_bytes;
pub use disks::disks;
pub use environment::environment;
pub use health::note_limits_of_run;
pub use locate::{TargetNameError, locate, locate_root};
pub use memory_limit::memory_available;
pub use mounts::{MountEntry, mount_of, mounts};
pub use nfs::{operations as nfs_operations, tcp_segments, tcp_segments_late};
pub use path_source::PathSource;
pub use pci_bar::{PciBar, pci_bar};
pub use process_io::process_io;
pub use read_error::ReadError;
pub use redaction::Redaction;
pub use root::{FILE_LIMIT_BYTES, Root};
pub use sampler::Sampler;
pub use settings::set_by;
pub use since_boot::{written_bytes, written_since_boot};
pub use smb::{SmbSession, session as smb_session, share_counters as smb_counters};
pub use stack::{
    Inventory, Locator, ProbeOptions, backing_files, counted_disks, inventories, inventory, inventory_with,
};
pub use uio::uio_bytes;
pub use uses::{
    DeviceUse, Identity, IdentityKind, Part, Relation, Store, Use, Uses, device_identity, device_use, file_use,
};
pub use zfs::{arc_counters, dataset_counters, zil_counters};
