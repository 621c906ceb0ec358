//! The storage path as conditions read it: facts that may be missing, and disks with what lies below them.

use model::facts as names;
use model::{Environment, Evidence, Fact, Layer, LayerKind, Run, Stack};

/// The fact whose absence leaves a condition undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing(pub &'static str);

/// A layer's fact of a type, or the name of what is missing.
pub trait Facts {
    /// A whole number.
    fn need_int(&self, name: &'static str) -> Result<i64, Missing>;
    /// A number, whole or not.
    fn need_number(&self, name: &'static str) -> Result<f64, Missing>;
    fn need_text(&self, name: &'static str) -> Result<&str, Missing>;
    /// A yes or no.
    fn need_bool(&self, name: &'static str) -> Result<bool, Missing>;
    /// The fact as evidence, `null` where it is missing.
    fn evidence(&self, name: &str) -> Evidence;
}

impl Facts for Layer {
    fn need_int(&self, name: &'static str) -> Result<i64, Missing> {
        self.int(name).ok_or(Missing(name))
    }

    fn need_number(&self, name: &'static str) -> Result<f64, Missing> {
        match self.fact(name) {
            Some(Fact::Float(v)) => Ok(*v),
            Some(Fact::Int(v)) => Ok(*v as f64),
            _ => Err(Missing(name)),
        }
    }

    fn need_text(&self, name: &'static str) -> Result<&str, Missing> {
        self.text(name).ok_or(Missing(name))
    }

    fn need_bool(&self, name: &'static str) -> Result<bool, Missing> {
        self.bool(name).ok_or(Missing(name))
    }

    fn evidence(&self, name: &str) -> Evidence {
        let source = format!("{} {}", self.name, name);
        match self.fact(name) {
            None | Some(Fact::Null) => Evidence::absence(name, source),
            Some(Fact::Bool(v)) => Evidence::fact(name, *v, source),
            Some(Fact::Int(v)) => Evidence::fact(name, *v, source),
            Some(Fact::Float(v)) => Evidence::fact(name, *v, source),
            Some(Fact::Text(v)) => Evidence::fact(name, v.as_str(), source),
            Some(Fact::List(v)) => Evidence::fact(name, v.clone(), source),
        }
    }
}

pub fn driver_evidence(layer: &Layer) -> Evidence {
    match &layer.driver {
        Some(driver) => Evidence::fact("driver", driver.as_str(), format!("{} driver", layer.name)),
        None => Evidence::absence("driver", format!("{} driver", layer.name)),
    }
}

/// A disk and the link and controller that belong to it.
#[derive(Clone, Copy)]
pub struct DiskPath<'a> {
    /// The disk (or a simulated device, which stands for one).
    pub disk: &'a Layer,
    /// What it stands on, but for other disks and theirs.
    pub below: &'a [Layer],
}

impl<'a> DiskPath<'a> {
    /// The disk or the first layer below it that has the fact.
    pub fn holder(&self, name: &str) -> Option<&'a Layer> {
        std::iter::once(self.disk).chain(self.below).find(|l| l.fact(name).is_some())
    }

    /// Like [`Self::holder`], or the name of what is missing.
    pub fn need(&self, name: &'static str) -> Result<&'a Layer, Missing> {
        self.holder(name).ok_or(Missing(name))
    }

    /// Whether the disk is reached by this transport.
    pub fn is(&self, transport: &str) -> Result<bool, Missing> {
        Ok(self.disk.need_text(names::TRANSPORT)? == transport)
    }

    /// A CD, DVD or Blu-ray drive: packet commands (ATAPI) are never queued.
    pub fn is_optical(&self) -> bool {
        self.disk.driver.as_deref() == Some("sr")
    }

    /// Drivers of the disk and of what is below.
    pub fn has_driver(&self, wanted: &str) -> Option<&'a Layer> {
        // The kernel writes module names with `_` and platform driver names with `-`.
        let plain = |s: &str| s.replace('-', "_");
        std::iter::once(self.disk)
            .chain(self.below)
            .find(|l| l.driver.as_deref().is_some_and(|d| plain(d) == plain(wanted)))
    }
}

/// The disk of a stack that has one and no other.
pub fn only_disk(stack: &Stack) -> Option<DiskPath<'_>> {
    let mut all = disks(stack);
    all.pop().filter(|_| all.is_empty())
}

/// The disks of a stack, each with its own path down.
pub fn disks(stack: &Stack) -> Vec<DiskPath<'_>> {
    let layers = &stack.layers;
    // A simulated stack lists the disk as an inventory would show it, and what simulates it beside that.
    let has_disk = layers.iter().any(|l| l.kind == LayerKind::Disk);
    let is_disk = |l: &Layer| l.kind == LayerKind::Disk || (l.kind == LayerKind::Sim && !has_disk);
    (0..layers.len())
        .filter(|&i| is_disk(&layers[i]))
        .map(|i| {
            let below = layers.below(i);
            let end = below.iter().position(|l| l.kind <= LayerKind::Disk);
            DiskPath { disk: &layers[i], below: &below[..end.unwrap_or(below.len())] }
        })
        .collect()
}

/// The line rate of a drive's own SATA generation, Gbit/s.
pub fn sata_generation_gbit_s(disk: &Layer) -> Option<f64> {
    match disk.int(names::ATA_SATA_GENERATION)? {
        1 => Some(1.5),
        2 => Some(3.0),
        3 => Some(6.0),
        _ => None,
    }
}

/// How many processors are online.
pub fn processors(stack: &Stack, environment: &Environment) -> Result<u32, Missing> {
    let online = stack.first(LayerKind::Host).and_then(|h| h.int(names::CPUS_ONLINE));
    let by_model = || environment.cpus.iter().map(|c| c.count).sum();
    let count = online.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0).unwrap_or_else(by_model);
    if count == 0 { Err(Missing("processors")) } else { Ok(count) }
}

/// What a person calls the target's device: a virtual disk is one only towards this machine.
pub fn display_name(run: &Run) -> &'static str {
    if is_virtual_disk(&run.target.stack, &run.environment) { "the virtual disk" } else { "the device" }
}

/// Whether the path ends at a hard disk. A virtual disk calls itself rotational unless somebody says otherwise
/// (k:drivers/block/virtio_blk.c), and has no heads that could be in the wrong place.
pub fn has_heads(run: &Run) -> bool {
    let paths = disks(&run.target.stack);
    let turns = |d: &Layer| d.kind != LayerKind::Sim && d.bool(names::ROTATIONAL) == Some(true);
    paths.first().is_some_and(|p| turns(p.disk)) && !is_virtual_disk(&run.target.stack, &run.environment)
}

/// Whether the disk is one that a hypervisor made, or may be: any disk of a guest (a device that is passed through
/// cannot be told from an emulated one). A container is no guest: it sees the host's own disks.
pub fn is_virtual_disk(stack: &Stack, environment: &Environment) -> bool {
    const CONTAINERS: [&str; 9] =
        ["docker", "podman", "lxc", "lxc-libvirt", "systemd-nspawn", "kubernetes", "container", "openvz", "rkt"];
    // `docker on kvm` is a container in a guest.
    let system = environment.virtualization.as_deref().map(|v| v.rsplit(" on ").next().unwrap_or(v));
    let guest = system.is_some_and(|v| v != "none" && !CONTAINERS.contains(&v));
    disks(stack).iter().any(|d| match d.disk.text(names::TRANSPORT) {
        Some("virtio" | "xen") => true,
        Some(_) => guest,
        None => false,
    })
}
