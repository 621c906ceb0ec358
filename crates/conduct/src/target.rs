//! From the text of a target to a rig that is open, locked and known down to its controller.

use crate::admission::{Admitted, Consent, admit};
use crate::listener::{Event, Listener};
use crate::opened::Opened;
use crate::region::{RegionRights, copy_buffer_bytes, open_region};
use crate::write_allowance::WriteAllowance;
use engine::{Control, DeviceReads, FileOptions, FileRig, NullRig, Rig, SimRig, SimTruth};
use model::{
    Access, BlockPlan, Durability, Failure, IoPath, LayerKind, NS_PER_S, Operation, Order, StreamPlan, Sync, Target,
    TargetKind,
};
use observe::{Inventory, ProbeOptions, Root, Sampler};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use sys::SymlinkPolicy;

/// The probe that decides the size of the measured region takes at most this long.
const PROBE_NS: u64 = NS_PER_S / 2;

/// What a command wants of its target.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// What the user calls it. File names are bytes, not text.
    pub name: &'a OsStr,
    /// Whether the name may be a symbolic link.
    pub links: SymlinkPolicy,
    /// What the user allows to be lost.
    pub consent: Consent<'a>,
    /// Whether device registers may be read.
    pub registers: bool,
    /// Length of the intervals of the series.
    pub interval_ns: u64,
    /// Whether it is a region that is copied, and not storage.
    pub region: bool,
    /// What may be written of which a short write takes its part, that tells how fast it is before the plan is made; `None`:
    /// there is none.
    pub probe: Option<WriteAllowance>,
    /// Whether another rank of the group holds the lock on it.
    pub locked_by_group: bool,
    /// Whether all ranks of the group work in one file.
    pub shared_in_group: bool,
}

impl<'a> Wanted<'a> {
    /// Storage by its name, of which nothing may be lost, and to which nothing is written before there is a plan.
    pub fn new(name: &'a OsStr, interval_ns: u64) -> Self {
        let consent = Consent::default();
        Self {
            name,
            links: SymlinkPolicy::Follow,
            consent,
            registers: false,
            interval_ns,
            region: false,
            probe: None,
            locked_by_group: false,
            shared_in_group: false,
        }
    }
}

/// Opens what the name stands for. The listener hears what will be lost before the first byte is written.
///
/// # Errors
/// See [`admit`], and what [`FileRig::open`] says of a target that cannot be measured.
pub fn open(wanted: &Wanted<'_>, control: &Control, listener: &dyn Listener) -> Result<Opened, Failure> {
    if wanted.region {
        let rights = RegionRights { writes: false, registers: wanted.registers };
        return open_region(Path::new(wanted.name), rights, wanted.interval_ns);
    }
    match wanted.name.to_str() {
        Some("null:") => Ok(null(wanted.interval_ns)),
        Some("null") if !Path::new("null").exists() => Ok(null(wanted.interval_ns)),
        Some(name) if name.starts_with("sim:") => simulated(name, wanted.interval_ns),
        _ => real(wanted, control, listener),
    }
}

fn null(interval_ns: u64) -> Opened {
    let root = Root::new("/");
    let rig = NullRig::new(interval_ns, copy_buffer_bytes(observe::memory_available(&root), None));
    let max_bytes = rig.readable_bytes();
    let mut opened = Opened::unlocated("null:", TargetKind::Null, Box::new(rig), max_bytes);
    opened.target.size_bytes = None;
    opened.environment = observe::environment(&root);
    opened.sampler = Some(Sampler::new(&root, &[]));
    opened.remarks.push("null: does nothing; its figures are the program's own overhead".into());
    opened
}

fn simulated(name: &str, interval_ns: u64) -> Result<Opened, Failure> {
    let model = spec::parse_sim(name).map_err(|e| {
        Failure::usage(e.to_string()).remedy("sim:help   lists devices and parameters, with their defaults")
    })?;
    let rig = SimRig::new(model, interval_ns);
    let max_bytes = rig.max_bytes();
    let sequential = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            order: Order::Sequential,
            block_size_bytes: 1 << 20,
            region_start_bytes: 0,
            region_bytes: crate::write_allowance::PROBE_BYTES,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: 8, ..IoPath::default() },
        durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
        seed: 0,
        ..StreamPlan::default()
    };
    let (stack, environment) = (rig.stack(), rig.environment());
    // A simulated device need not be probed: it says what it is.
    let probe = SimTruth::of(rig.model(), sequential.blocks().unwrap(), Access::Direct, 0).bytes_per_s;
    let mut opened = Opened::unlocated(name, TargetKind::Sim, Box::new(rig), max_bytes);
    (opened.target.stack, opened.environment, opened.sector_bytes) = (stack, environment, 512);
    opened.probe_bytes_per_s = Some(probe);
    opened.remarks.push("simulated device in simulated time".into());
    Ok(opened)
}

fn real(wanted: &Wanted<'_>, control: &Control, listener: &dyn Listener) -> Result<Opened, Failure> {
    let root = Root::new("/");
    let given = Path::new(wanted.name);
    let admitted = admit(&root, given, wanted.links, wanted.consent)?;
    if let Some(loss) = &admitted.loss {
        listener.on_event(Event::WillBeLost(loss));
    }
    // What the device says of its health and wear is kept with what is measured on it.
    let look = ProbeOptions { registers: wanted.registers, health: true, ..ProbeOptions::default() };
    let place = admitted.locator();
    let Inventory { stack, missing } = observe::inventory_with(&root, &place, look);
    let mut environment = observe::environment(&root);
    environment.missing.extend(missing.into_iter().filter(|m| !environment.missing.contains(m)).collect::<Vec<_>>());

    let Admitted { target: file, object, readiness, .. } = admitted;
    let disks = observe::counted_disks(&stack);
    let mut sampler = Sampler::new(&root, &disks).with_path(&root, observe::PathSource::of(&stack).as_ref());
    environment.missing.extend(without_counters(&sampler.without_counters(&disks)));
    let mut target = Target {
        name: given.to_string_lossy().into_owned(),
        kind: file.kind,
        path: Some(file.path.to_string_lossy().into_owned()),
        size_bytes: None,
        writable: file.writable,
        stack,
    };
    let options = FileOptions {
        device_reads: observe::lowest_read_bytes(&root, &target.stack).map(DeviceReads::new),
        memory_available_bytes: observe::memory_available(&root),
        copy_bytes: copy_buffer_bytes(observe::memory_available(&root), None),
        interval_ns: wanted.interval_ns,
        locked_by_group: wanted.locked_by_group,
        ..FileOptions::of(&target, &environment)
    };
    note_fill_level(&mut target, &file.file);
    let mut rig = FileRig::open(file, options)?;
    let max_bytes = rig.max_bytes();
    target.size_bytes = Some(max_bytes);
    let sector_bytes = rig.sector_bytes();
    let probe_bytes = wanted.probe.map_or(0, |allowance| allowance.probe_bytes((&target.stack).into()));
    let probe = match probe_bytes > 0 && target.writable {
        true => Some(rig.probe_write(probe_bytes.min(max_bytes), PROBE_NS, control)?),
        false => None,
    };
    Ok(Opened {
        agreed: None,
        shared_in_group: false,
        capacity: None,
        remarks: rig.remarks().to_vec(),
        target,
        object: Some(object),
        place: Some(place),
        environment,
        rig: Box::new(rig),
        sampler: Some(sampler),
        readiness,
        max_bytes,
        sector_bytes,
        memory_bytes: observe::memory_available(&root),
        probe_bytes_per_s: probe.and_then(|p| p.bytes_per_s()),
        probe_round_bytes_per_s: probe.and_then(|p| p.round_bytes_per_s),
    })
}

/// What it costs that the counters of some disks cannot be read.
fn without_counters(disks: &[String]) -> Option<String> {
    (!disks.is_empty()).then(|| {
        format!(
            "the counters of {} cannot be read (/sys/class/block/*/stat, /proc/diskstats): other users of the disk and \
             reads that never reach it stay unseen; run outside the sandbox that hides them",
            disks.join(", ")
        )
    })
}

/// How full the file system is, without what is kept for root: full ones are slower, and comparisons say so.
fn note_fill_level(target: &mut Target, directory: &File) {
    if target.kind != TargetKind::Directory {
        return;
    }
    let Ok(space) = sys::space_of(directory) else { return };
    let layer = target.stack.layers.iter_mut().find(|l| l.kind == LayerKind::Filesystem);
    if let Some(layer) = layer.filter(|_| space.total_bytes > 0) {
        let used = space.total_bytes.saturating_sub(space.available_bytes);
        layer.set("fill_percent", (100.0 * used as f64 / space.total_bytes as f64).round() as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_without_counters_are_named_and_nothing_is_said_where_all_count() {
        assert_eq!(without_counters(&[]), None);
        let said = without_counters(&["sda".into(), "dm-0".into()]).unwrap();
        assert!(said.contains("sda, dm-0 cannot be read") && said.contains("/proc/diskstats"), "{said}");
    }
}
