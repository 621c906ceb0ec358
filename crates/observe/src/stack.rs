//! The storage path below a target, layer by layer.
//!
//! Layers are found by following what the kernel itself says: mountinfo, `/sys/dev/block`, `slaves/`, the loop device's
//! backing file, and the chain of parent devices under `/sys/devices` up to the controller. A device is listed once
//! even if several branches reach it, which also ends loops; depth and number of layers are bounded.

mod ancestor;
mod ata;
mod below;
pub(crate) mod block;
pub(crate) mod brief;
mod bus;
mod cgroup;
mod filesystem;
mod irq;
mod machine_context;
mod mmc;
mod mtd;
mod nvme;
mod pcie;
mod queue;
mod usb;
mod virtio;

pub(crate) use ancestor::KnownAncestors;
pub(crate) use bus::serial;
use machine_context::MachineContext;

use crate::facts;
use crate::mounts::{MountEntry, mount_of, mounts};
use crate::root::Root;
use model::{DeviceId, Layer, LayerKind, Layers, Stack};
use std::collections::{BTreeMap, BTreeSet};

/// Deeper than any path that makes sense: file systems on loops on file systems.
const DEPTH_LIMIT: u32 = 32;
/// Layers of one path; 1,000 disks with their links and controllers fit.
const LAYER_LIMIT: usize = 8_192;
/// Remarks about missing knowledge; repeated ones are not kept anyway.
const MISSING_LIMIT: usize = 256;

/// Where a path is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// A directory or file.
    Path {
        /// Canonical absolute path, as this process sees it (in a captured tree: as the captured machine saw it).
        path: String,
        /// `st_dev` of the path; `None` if unknown, then the path alone decides.
        device: Option<DeviceId>,
        /// Mount id from statx (STATX_MNT_ID), which decides where it is known.
        mount_id: Option<u64>,
        /// `st_blksize`, which becomes a fact of the file system.
        block_size_bytes: Option<u64>,
    },
    /// A block device by its number (`st_rdev`).
    Device(DeviceId),
    /// A block device by its kernel name, `sda1`, or an MTD partition by its own, `mtd0`.
    DeviceName(String),
}

/// The path, and what could not be seen of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// From the file system (or the device) down to controller and host.
    pub stack: Stack,
    /// What is missing and how to get it: `run as root to see /sys/kernel/debug/mmc0/ios`. Without repeats.
    pub missing: Vec<String>,
}

/// The state of one walk from the top down.
struct StackBuilder<'a> {
    root: &'a Root,
    look: ProbeOptions,
    context: &'a MachineContext,
    mounts: Vec<MountEntry>,
    layers: Layers,
    missing: Vec<String>,
    /// Devices that are in the stack already, by their directory in /sys.
    seen_devices: BTreeSet<String>,
    seen_mounts: BTreeSet<u64>,
    /// Controllers by directory: a host adapter with many disks is read once and listed below each.
    controllers: BTreeMap<String, Option<Layer>>,
}

impl StackBuilder<'_> {
    fn push(&mut self, layer: Layer, depth: u32) {
        if self.layers.len() < LAYER_LIMIT {
            self.layers.push(layer, depth);
        } else {
            self.missing(format!("the path has more than {LAYER_LIMIT} layers; the rest is not listed"));
        }
    }

    fn missing(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.missing.len() < MISSING_LIMIT && !self.missing.contains(&what) {
            self.missing.push(what);
        }
    }

    fn too_deep(&mut self, depth: u32) -> bool {
        if depth >= DEPTH_LIMIT {
            self.missing(format!("the path is more than {DEPTH_LIMIT} layers deep; the rest is not listed"));
        }
        depth >= DEPTH_LIMIT || self.layers.len() >= LAYER_LIMIT
    }
}

/// What may be asked beyond reading /proc, /sys and /etc. Nothing, by default: on the live machine both open devices,
/// which needs root. A captured tree answers what its capture was made with, whatever is asked here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Ask NVMe controllers and ATA disks for their identity and health (IDENTIFY, SMART). A disk that sleeps is left
    /// asleep.
    pub health: bool,
    /// Read kernel messages about storage (/dev/kmsg).
    pub kernel_log: bool,
    /// Read the registers of the catalogue ([`crate::registers::CATALOGUE`]) whose driver is bound.
    pub registers: bool,
}

/// Resolves the whole path below a place. Never fails: what cannot be seen is a null fact and a line in `missing`.
/// No device is opened.
pub fn inventory(root: &Root, place: &Locator) -> Inventory {
    inventory_with(root, place, ProbeOptions::default())
}

/// The same, and asks devices as far as `look` says.
pub fn inventory_with(root: &Root, place: &Locator, look: ProbeOptions) -> Inventory {
    inventory_in(root, &MachineContext::of(root), place, look)
}

/// The paths below several places. What they share (settings, interrupts, the host) is read once.
pub fn inventories(root: &Root, places: &[Locator], look: ProbeOptions) -> Vec<Inventory> {
    let context = MachineContext::of(root);
    places.iter().map(|place| inventory_in(root, &context, place, look)).collect()
}

fn inventory_in(root: &Root, context: &MachineContext, place: &Locator, look: ProbeOptions) -> Inventory {
    let mut walk = StackBuilder {
        root,
        look,
        context,
        mounts: mounts(root),
        layers: Layers::default(),
        missing: Vec::new(),
        seen_devices: BTreeSet::new(),
        seen_mounts: BTreeSet::new(),
        controllers: BTreeMap::new(),
    };
    let mut mount = None;
    match place {
        Locator::Path { path, device, mount_id, block_size_bytes } => {
            match mount_of(&walk.mounts, path, *device, *mount_id).cloned() {
                Some(entry) => {
                    mount = Some(entry.to_model());
                    walk.filesystem(&entry, block_size(root, path, *block_size_bytes), 0);
                }
                None => {
                    walk.missing("no mount in /proc/self/mountinfo holds this path; mount /proc in this container");
                    if let Some(device) = device.filter(|d| d.major != 0) {
                        walk.device(device, 0);
                    }
                }
            }
        }
        Locator::Device(device) => walk.device(*device, 0),
        Locator::DeviceName(name) => match crate::block_devices::device_number(root, name) {
            Some(device) => walk.device(device, 0),
            None if root.exists(&format!("/sys/class/mtd/{name}")) => walk.mtd(name, 0),
            None => match crate::block_devices::unnumbered_directory(root, name) {
                Some(directory) => walk.device_in(&directory, None, 0),
                None => walk.missing(format!("/sys/class/block/{name}/dev is not there; is /sys mounted?")),
            },
        },
    }
    let mut host = context.host(root);
    let messages = crate::kernel_log::storage_messages(root, look.kernel_log);
    host.set(facts::KERNEL_LOG_STORAGE, messages.as_ref().and_then(|m| m.as_ref().ok().cloned()));
    if let Some(Err(why)) = messages {
        walk.missing(why);
    }
    walk.layers.push(host, 0);
    Inventory { stack: Stack { mount, layers: walk.layers }, missing: walk.missing }
}

/// What stat said of a path is in no file: a capture keeps it, so that a replay knows it as well.
fn block_size(root: &Root, path: &str, given: Option<u64>) -> Option<u64> {
    let name = format!("block-size{}/bytes", path.trim_end_matches('/'));
    match given {
        Some(bytes) if root.is_live() => {
            let _ = root.answer(&name, || Ok(format!("{bytes}\n").into_bytes()));
            given
        }
        Some(_) => given,
        None => root.number(&format!("/narrows/{name}")).filter(|_| !root.is_live()),
    }
}

/// Paths of the files below loop devices, uppermost first: their page cache has to be dropped as well before a read
/// counts as cold. Files that were deleted are left out.
pub fn backing_files(stack: &Stack) -> Vec<String> {
    let loops = stack.all(LayerKind::Loop).filter(|l| l.bool(facts::BACKING_FILE_DELETED) != Some(true));
    loops.filter_map(|l| l.text(facts::BACKING_FILE).map(str::to_owned)).collect()
}

/// Kernel names of all layers that /proc/diskstats counts, for the [`crate::Sampler`].
pub fn counted_disks(stack: &Stack) -> Vec<String> {
    stack.layers.iter().filter(|l| l.counted).map(|l| l.name.clone()).collect()
}
