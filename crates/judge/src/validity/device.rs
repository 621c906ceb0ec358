//! Whether the phase moved real data between us and the device.

use super::{RuleInput, Validity};
use crate::context::{own_bytes_between, transferred};
use model::{Access, ColdProof, DataProof, DirectProof, Fact, LayerKind, Operation, Reason, StreamPlan, Sync};

/// Pages of the region that may be resident before a cold read: the kernel may read ahead for the file system itself.
pub const RESIDENT_TOLERANCE_PAGES: u64 = 16;
/// Or this share of the region, whichever is more: 0.1 % cannot change a rate visibly.
pub const RESIDENT_TOLERANCE_RATIO: f64 = 0.001;
/// Share of the bytes read that the device need not show: the samples' edges.
pub const COLD_BYTES_TOLERANCE: f64 = 0.02;

/// Share of a direct phase's bytes that the device must show where it counts. A loop device over a cached file, or a cache
/// of the hypervisor's host side below us, shows next to nothing; half leaves room for members that are not counted.
pub const DIRECT_BYTES_RATIO: f64 = 0.5;

/// File systems of memory alone.
const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// Smallest page of any machine, for the share of resident pages where the page size is not known here.
const PAGE_BYTES: u64 = 4096;

pub(super) fn reached_device(case: RuleInput<'_>, out: &mut Validity) {
    match &case.record.direct {
        Some(DirectProof::Fallback(basis)) => out.refusals.push(Reason::DirectFallback { basis: basis.clone() }),
        Some(DirectProof::Unproven(basis)) => {
            out.remarks.push(Reason::DirectUnproven { basis: basis.clone() });
        }
        Some(DirectProof::NoDevice(basis)) => {
            out.remarks.push(Reason::NoDevice { basis: basis.clone() });
        }
        Some(DirectProof::Proven(_)) | None => {}
    }
    // Writes through the page cache, synced ones too, have no proof of direct I/O, and reach a device no more than it.
    let from_cache = case.record.direct.as_ref().is_some_and(DirectProof::is_from_cache);
    if let Some(fstype) = case.context.stack.fstype().filter(|fstype| MEMORY.contains(fstype))
        && case.plan.measures_target()
        && !from_cache
    {
        out.remarks.push(Reason::NoDevice { basis: format!("{fstype} has no device") });
    }
    if let Some(basis) = not_at_the_device(case)
        && !case.record.direct.as_ref().is_some_and(DirectProof::is_from_cache)
    {
        out.refusals.push(Reason::DirectFallback { basis });
    }
    if let Some(basis) = in_memory_of_a_loop(case) {
        out.remarks.push(Reason::LoopCache { basis });
    }
    if case.plan.measures_target() && case.plan.streams.iter().any(|s| s.reads()) {
        match &case.record.data {
            Some(DataProof::NotReal(basis)) => out.refusals.push(Reason::DataNotReal { basis: basis.clone() }),
            Some(DataProof::Unknown(basis)) => out.remarks.push(Reason::DataUnproven { basis: basis.clone() }),
            Some(DataProof::Real(_)) | None => {}
        }
    }
    if let Some(percent) = from_memory(case) {
        out.remarks.push(Reason::PageCache { percent });
    }
    // On ZFS the counters of its cache are the proof.
    if case.plan.cold
        && super::arc::share_of_hits(case).is_none()
        && let Some(because) = not_cold(case)
    {
        out.refusals.push(Reason::ColdUnproven { because });
    }
}

/// What speaks against a direct phase having reached the device, whatever the file system says of O_DIRECT.
fn not_at_the_device(case: RuleInput<'_>) -> Option<String> {
    let direct = |s: &StreamPlan| s.path.access == Access::Direct;
    if !case.plan.streams.iter().all(direct) {
        return None;
    }
    let traffic = case.context.device_traffic(case.record)?;
    let all = own_bytes_between(case.record, traffic.from_ns, traffic.to_ns);
    let own = transferred(case.plan, case.record);
    let missing = |device: u64, own: f64, verb: &str| {
        ((device as f64) < own * DIRECT_BYTES_RATIO)
            .then(|| model::distinct_bytes_text(device, own as u64))
            .map(|(device, own)| format!("the device {verb} {device} while this phase moved {own}"))
    };
    missing(traffic.write_bytes, all * own.written, "wrote")
        .or_else(|| missing(traffic.read_bytes, all * own.read, "read"))
}

/// Why a loop device below may have done the work in memory. Without direct I/O of its own it reads and writes its file through
/// the page cache (k:drivers/block/loop.c, `lo_rw_aio`): a write is complete there unless it is flushed, and a read is of the
/// disk as far as that shows it. Where no disk below it counts (tmpfs, network), nothing shows it.
fn in_memory_of_a_loop(case: RuleInput<'_>) -> Option<String> {
    let stack = case.context.stack;
    let name = &stack.first(LayerKind::Loop)?.name;
    if !case.plan.measures_target() {
        return None;
    }
    if stack.lowest_counted().iter().all(|l| l.kind == LayerKind::Loop) {
        return Some(format!("below {name} no disk counts what reaches it"));
    }
    let cached = stack.all(LayerKind::Loop).find(|l| l.fact("dio") == Some(&Fact::Bool(false)))?;
    let direct = |s: &&StreamPlan| s.path.access == Access::Direct;
    let mut streams = case.plan.streams.iter().filter(direct).peekable();
    streams.peek()?;
    let remedy = format!("losetup --direct-io=on /dev/{} avoids it", cached.name);
    if streams
        .any(|s| s.blocks().is_some_and(|s| s.block.operation == Operation::Write) && s.durability.sync == Sync::None)
    {
        return Some(format!("its writes end in the page cache of its file; {remedy}"));
    }
    let Some(traffic) = case.context.device_traffic(case.record) else {
        return Some(format!("what the disk below {name} did is not known; {remedy}"));
    };
    let own = own_bytes_between(case.record, traffic.from_ns, traffic.to_ns) * transferred(case.plan, case.record).read;
    let share = traffic.read_bytes as f64 / own;
    (share < 1.0 - COLD_BYTES_TOLERANCE).then(|| format!("the disk below read {:.0} % of it; {remedy}", share * 100.0))
}

/// Share of the bytes of buffered reads that the device did not deliver, percent; `None` where it is small, where nothing
/// counts, and where the phase claims to be cold, since then it is judged.
fn from_memory(case: RuleInput<'_>) -> Option<f64> {
    let buffered = |s: &StreamPlan| s.path.access == Access::Buffered && s.reads();
    if case.plan.cold || !case.plan.measures_target() || !case.plan.streams.iter().any(buffered) {
        return None;
    }
    let traffic = case.context.device_traffic(case.record)?;
    let own = own_bytes_between(case.record, traffic.from_ns, traffic.to_ns) * transferred(case.plan, case.record).read;
    let share = 1.0 - traffic.read_bytes as f64 / own;
    (own > 0.0 && share > COLD_BYTES_TOLERANCE).then_some(share * 100.0)
}

/// What is missing in the proof that a read came from the device. The device's bytes are the proof; resident pages can
/// only disprove it, and where they cannot be told the bytes suffice.
fn not_cold(case: RuleInput<'_>) -> Option<String> {
    let Some(cold) = &case.record.cold else { return Some("nothing was recorded about the page cache".to_owned()) };
    if case.plan.operates_on_files() || case.plan.replays_calls() {
        return names_not_cold(cold);
    }
    if let Some(pages) = cold.resident_pages_before {
        let region: u64 =
            case.plan.streams.iter().filter_map(|s| Some(s.blocks()?.block.region_bytes / PAGE_BYTES)).sum();
        let allowed = RESIDENT_TOLERANCE_PAGES.max((region as f64 * RESIDENT_TOLERANCE_RATIO) as u64);
        if pages > allowed {
            return Some(format!("{pages} pages were in the page cache before it began"));
        }
    }
    let Some(device) = cold.device_read_bytes else {
        return Some("no layer below the target counts what it reads".to_owned());
    };
    let least = cold.phase_read_bytes as f64 * (1.0 - COLD_BYTES_TOLERANCE);
    (cold.phase_read_bytes == 0 || (device as f64) < least)
        .then(|| model::distinct_bytes_text(device, cold.phase_read_bytes))
        .map(|(device, all)| format!("the device read {device} of {all}"))
}

/// The same of names and attributes, of which the device tells no bytes: it must have read something.
fn names_not_cold(cold: &ColdProof) -> Option<String> {
    match (cold.resident_pages_before, cold.device_read_bytes) {
        (None, _) => Some(format!("names and attributes stayed in memory: {} (it takes root)", cold.method)),
        (_, None) => Some("no layer below the target counts what it reads".to_owned()),
        (_, Some(0)) => Some("the device read nothing".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{DataProof, DirectProof, Layer, LayerKind, Layers};

    #[test]
    fn buffered_reads_say_how_much_came_from_memory() {
        let mut f = Fixture::cold_read().on_disk();
        f.plan.cold = false;
        assert_eq!(f.codes(), NONE);
        assert_eq!(f.judge().reasons, []);
        let last = f.samples.len() - 1;
        f.samples[last].disks[0].sectors_read = f.samples[0].disks[0].sectors_read + f.record.bytes / 512 / 4;
        let judged = f.judge();
        assert_eq!(lines(&judged.reasons), ["page-cache: 75 % of the bytes read came from memory"]);
        assert!(judged.metrics[0].value.is_some());
    }

    #[test]
    fn a_fallback_is_refused_and_unproven_is_a_remark() {
        let mut f = Fixture::random_read();
        f.record.direct = Some(DirectProof::Unproven("no STATX_DIOALIGN before Linux 6.1".into()));
        assert_eq!(f.codes(), NONE);
        let judged = f.judge();
        assert!(judged.reasons[0].is("direct-unproven"));
        assert!(judged.metrics[0].value.is_some() && judged.metrics[0].reasons == judged.reasons);
        f.record.direct = Some(DirectProof::NoDevice("tmpfs has no device".into()));
        assert_eq!(f.codes(), NONE);
        let judged = f.judge();
        assert_eq!(lines(&judged.reasons), ["no-device: from the page cache: tmpfs has no device"]);
        assert!(judged.metrics[0].value.is_some());
        f.record.direct = Some(DirectProof::Fallback("btrfs with checksums".into()));
        assert_eq!(f.codes(), ["direct-fallback"]);
        let judged = f.judge();
        assert!(judged.metrics.iter().all(|m| m.value.is_none()));
        assert!(judged.metrics[0].rejected_value.is_some());
    }

    #[test]
    fn nothing_on_a_file_system_of_memory_comes_from_a_device() {
        for (fstype, want) in [("tmpfs", true), ("ramfs", true), ("ext4", false)] {
            let mut f = Fixture::random_read();
            f.record.direct = None;
            let mount = model::Mount {
                fstype: fstype.into(),
                mount_point: "/mnt".into(),
                source: fstype.into(),
                options: Vec::new(),
                read_only: false,
            };
            f.stack.mount = Some(mount);
            let judged = f.judge();
            assert_eq!(judged.reasons.iter().any(|r| r.is("no-device")), want, "{fstype}: {:?}", judged.reasons);
            assert!(judged.metrics[0].value.is_some());
        }
    }

    #[test]
    fn direct_over_a_cached_loop_file_is_seen_at_the_disk() {
        for (percent, want) in [(100, NONE), (60, NONE), (40, &["direct-fallback"][..]), (0, &["direct-fallback"][..])]
        {
            let mut f = Fixture::random_read().on_disk();
            f.each_sample(|_, s| s.disks[0].sectors_read = s.disks[0].sectors_read * percent / 100);
            assert_eq!(f.codes(), want, "{percent} %");
        }
    }

    /// The fixture's disk below a loop device, with or without direct I/O of its own.
    fn below_a_loop(mut f: Fixture, direct: bool) -> Fixture {
        let mut layer = Layer::new(LayerKind::Loop, "loop4");
        layer.set(model::facts::DIO, direct);
        let disks = std::mem::take(&mut f.stack.layers);
        f.stack.layers.push(layer, 0);
        disks.iter().for_each(|l| f.stack.layers.push(l.clone(), 1));
        f
    }

    fn decides(f: &Fixture) -> bool {
        !f.judge().metrics[0].reasons.iter().any(|r| r.may_be_too_good())
    }

    #[test]
    fn what_a_loop_device_does_in_memory_decides_nothing() {
        let write = || Fixture::sequential_write().on_disk();
        assert!(decides(&write()) && decides(&below_a_loop(write(), true)));
        let cached = below_a_loop(write(), false);
        assert!(!decides(&cached) && cached.codes() == NONE, "the disk's bytes may be of anybody, and later");
        assert!(lines(&cached.judge().reasons)[0].contains("losetup --direct-io=on /dev/loop4"));
        assert!(decides(&below_a_loop(Fixture::sync_write().on_disk(), false)), "a flush reaches the file's disk");
        for (percent, want) in [(100, true), (99, true), (90, false), (60, false)] {
            let mut f = below_a_loop(Fixture::random_read().on_disk(), false);
            f.each_sample(|_, s| s.disks[0].sectors_read = s.disks[0].sectors_read * percent / 100);
            assert_eq!(decides(&f), want, "{percent} %");
        }
        assert!(!decides(&below_a_loop(Fixture::random_read(), false)), "nothing counts");
    }

    #[test]
    fn a_loop_device_over_memory_decides_nothing_however_it_is_read() {
        for (f, direct) in [
            (Fixture::random_read(), true),
            (Fixture::sequential_write(), true),
            (Fixture::sync_write(), false),
            (Fixture::cold_read(), false),
        ] {
            let mut f = f.on_disk();
            f.stack.layers = Layers::default();
            let mut layer = Layer { counted: true, ..Layer::new(LayerKind::Loop, "vda") };
            layer.device = Some(model::DeviceId { major: 7, minor: 4 });
            layer.set(model::facts::DIO, direct);
            f.stack.layers.push(layer, 0);
            assert_eq!(f.codes(), NONE);
            assert!(!decides(&f), "{}", f.plan.name);
        }
    }

    #[test]
    fn data_that_are_not_real() {
        let mut f = Fixture::random_read();
        f.record.data = Some(DataProof::NotReal("unwritten extents".into()));
        assert_eq!(f.codes(), ["data-not-real"]);
        f.record.data = Some(DataProof::Unknown("FIEMAP is not supported".into()));
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn cold_needs_the_devices_bytes() {
        let mut f = Fixture::cold_read();
        assert_eq!(f.codes(), NONE);
        let cold = f.record.cold.clone().unwrap();
        let with = |change: &dyn Fn(&mut model::ColdProof)| {
            let mut f = Fixture::cold_read();
            let mut c = cold.clone();
            change(&mut c);
            f.record.cold = Some(c);
            f.codes()
        };
        // Residency that cannot be told is made up for by the device's bytes.
        assert_eq!(with(&|c| c.resident_pages_before = None), NONE);
        assert_eq!(with(&|c| c.resident_pages_before = Some(16)), NONE);
        assert_eq!(with(&|c| c.resident_pages_before = Some(5_000)), ["cold-unproven"]);
        assert_eq!(with(&|c| c.device_read_bytes = Some(c.phase_read_bytes / 100 * 99)), NONE);
        assert_eq!(with(&|c| c.device_read_bytes = Some(c.phase_read_bytes / 100 * 97)), ["cold-unproven"]);
        assert_eq!(with(&|c| c.device_read_bytes = None), ["cold-unproven"]);
        f.record.cold = None;
        assert_eq!(f.codes(), ["cold-unproven"]);
    }
}
