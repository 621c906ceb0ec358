//! Constructed runs for what used to be called something else: media near their link, virtual disks, credits, devices that
//! stand still, flushes, mounts, memory limits, layers in between.

use crate::run_builder::*;
use model::{Access, Confidence, DeviceId, Fact, Layer, LayerKind, LimitLayer, Mount, Run, Sync, SystemSample};

fn cause(run: &Run, word: &str) -> diagnose::Cause {
    let causes = diagnose::causes(run);
    let found = causes.iter().find(|c| c.statement.contains(word)).cloned();
    found.unwrap_or_else(|| panic!("nothing says '{word}': {causes:#?}"))
}

fn says(run: &Run, word: &str) -> bool {
    diagnose::causes(run).iter().any(|c| c.statement.contains(word))
}

#[test]
fn a_medium_as_fast_as_its_link_by_chance_is_not_told_from_it() {
    for rate in [470.0, 500.0, 530.0] {
        let run = Builder::new(sata()).phases(with(healthy(rate), [sequential("seq-write", rate * 0.6)])).build();
        let found = cause(&run, "does not separate");
        assert_eq!((found.layer, found.confidence), (LimitLayer::Unknown, Confidence::Low));
        for trial in ["another port", "a faster link"] {
            assert!(found.decided_by.contains(trial), "{}", found.decided_by);
        }
        assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::Link && c.layer != LimitLayer::Device));
    }
    let both = |stack| Builder::new(stack).phases(with(healthy(500.0), [sequential("seq-write", 495.0)])).build();
    assert_eq!(diagnose::limit(&both(sata())).layer, LimitLayer::Link, "a bus gives the same both ways");
    let mut platters = sata();
    platters[0].set("rotational", Fact::Bool(true));
    assert!(says(&both(platters), "does not separate"), "and so do platters");
}

#[test]
fn a_virtual_disk_has_no_heads() {
    let serial = [random("rand-read-qd1", 900.0), random("rand-read-qd32", 930.0)];
    let run =
        |stack: Vec<Layer>| Builder::new(stack).virtual_machine().phases(with(healthy(200.0), serial.clone())).build();
    let mut virtio = cloud_disk();
    virtio[1].set("rotational", Fact::Bool(true));
    let run = run(virtio);
    let steps: Vec<String> = diagnose::causes(&run)
        .into_iter()
        .filter_map(|c| c.next_step.clone())
        .map(|s| s.step.text().to_owned())
        .collect();
    assert!(!says(&run, "head"), "{:?}", diagnose::causes(&run));
    assert!(steps.iter().all(|s| !s.contains("head")), "{steps:?}");
    assert!(diagnose::limits(&run).iter().all(|l| !l.statement.contains("head")));
    // A hard disk has.
    let mut disk = sata();
    disk[0].set("rotational", Fact::Bool(true));
    assert!(says(&Builder::new(disk).phases(with(healthy(200.0), serial)).build(), "one head assembly"));
}

#[test]
fn a_step_to_an_even_plateau_on_a_virtual_disk_is_a_credit() {
    let write = sequential("seq-write", 400.0).exactly(400e6).falls(20, 0.25);
    let run = |stack: Vec<Layer>, read: f64| {
        let phases = with(healthy(300.0), [write.clone(), sequential("seq-read", read).exactly(read * 1e6)]);
        Builder::new(stack).virtual_machine().phases(phases).build()
    };
    let both = run(cloud_disk(), 101.0);
    let limit = diagnose::limit(&both);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Throttle, Confidence::Probable), "{limit:?}");
    assert!(
        limit.statement.contains("after 810 MB") && limit.statement.contains("an even 100 MB/s"),
        "{}",
        limit.statement
    );
    let row = diagnose::limits(&both).into_iter().find(|l| l.phase == "seq-read").unwrap();
    assert_eq!(row.statement, "a burst credit that ran out");
    // One way only: a cache behind the disk may do the same.
    let one = cause(&run(cloud_disk(), 300.0), "burst credit");
    assert_eq!(one.confidence, Confidence::Low);
    assert_eq!(cause(&run(cloud_disk(), 300.0), "write cache").confidence, Confidence::Low);
    // A plateau that is not even is none of a limiter.
    let uneven = sequential("seq-write", 400.0).jitter(0.3).falls(20, 0.25);
    let run = Builder::new(cloud_disk()).virtual_machine().phases(with(healthy(300.0), [uneven])).build();
    assert!(!says(&run, "burst credit"), "{:?}", diagnose::causes(&run));
}

#[test]
fn operations_fall_to_their_baseline_too() {
    let read = random("rand-read-qd32", 3_000.0).exactly(3_000.0 * 4096.0).falls(30, 0.1);
    let run = Builder::new(cloud_disk()).virtual_machine().phases(with(healthy(100.0), [read])).build();
    let found = cause(&run, "burst credit");
    assert_eq!(found.confidence, Confidence::Probable);
    assert!(found.statement.contains("3 000 IOPS") && found.statement.contains("300 IOPS"), "{}", found.statement);
}

#[test]
fn a_device_that_stands_still_is_no_cache() {
    // 980 MB/s for two seconds, then nothing, then again.
    let mut write = sequential("seq-write", 980.0);
    for from in [20, 40] {
        write = write.still(from, 8);
    }
    let run = Builder::new(sata()).phases(with(healthy(300.0), [write])).build();
    let found = cause(&run, "gaps without a completion");
    assert_eq!((found.layer, found.confidence), (LimitLayer::Device, Confidence::Probable));
    for part in ["2 times in seq-write", "0.8 s", "32 %", "first after 1.9", "then each 1.1"] {
        assert!(found.statement.contains(part), "'{part}' in {}", found.statement);
    }
    assert!(!says(&run, "ran out"), "{:?}", diagnose::causes(&run));
    // To the end.
    let run = Builder::new(sata()).phases(with(healthy(300.0), [sequential("seq-write", 980.0).still(38, 12)])).build();
    assert!(says(&run, "gaps without a completion: once") && !says(&run, "ran out"));
    // Once, for a second of many: told, and not the bottleneck.
    let mut long = sequential("seq-write", 280.0);
    long = long.still(10, 3);
    let run = Builder::new(sata()).phases(with(healthy(300.0), [long])).build();
    assert!(!says(&run, "gaps without a completion"));
}

#[test]
fn a_cache_that_runs_out_between_gaps_is_still_one() {
    let write = sequential("seq-write", 400.0).falls(20, 0.25).still(30, 4).still(40, 4);
    let run = Builder::new(sata()).phases(with(healthy(300.0), [write])).build();
    let found = cause(&run, "write cache ran out");
    assert!(
        found.statement.contains("400 MB/s before") || found.statement.contains("before, 1"),
        "{}",
        found.statement
    );
}

fn with_sync_writes(each_ns: f64) -> Run {
    let sync = random("sync-write", 1e9 / each_ns).latency_ns(each_ns);
    let mut run = Builder::new(sata()).phases(with(healthy(200.0), [sync])).build();
    let phase = run.phases.iter_mut().find(|p| p.plan.name == "sync-write").unwrap();
    phase.plan.streams.iter_mut().for_each(|s| s.durability.sync = Sync::FdatasyncEach);
    phase.plan.set_access(Access::Buffered);
    run
}

#[test]
fn what_a_flush_costs_is_said() {
    // 8000 writes a second without, 125 us each.
    let found = cause(&with_sync_writes(20e6), "the flush after each small write");
    assert_eq!((found.layer, found.confidence), (LimitLayer::Device, Confidence::Probable));
    assert!(found.statement.contains("19.9 ms") && found.statement.contains("50 a second"), "{}", found.statement);
    assert!(!says(&with_sync_writes(300e3), "the flush"), "a third of a millisecond is nobody's bottleneck");
}

#[test]
fn small_writes_into_large_erase_blocks_are_said() {
    let run = |iops: f64| {
        let write = random("rand-write-qd1", iops).latency_ns(1e9 / iops);
        let read = random("rand-read-qd1", 2_000.0).latency_ns(500e3);
        Builder::new(sata()).phases(with(healthy(60.0), [write, read])).build()
    };
    let found = cause(&run(40.0), "small random writes");
    assert!(
        found.statement.contains("25.0 ms") && found.statement.contains("50.0 times a read"),
        "{}",
        found.statement
    );
    assert!(!says(&run(900.0), "small random writes"));
}

#[test]
fn a_limit_that_lies_just_above_the_device_is_not_the_bottleneck() {
    let mut stack = sata();
    stack[0].set("cgroup_read_bytes_per_s", Fact::Int(102_500_000));
    let run = Builder::new(stack).phases(with(healthy(100.0), [sequential("seq-read", 100.0).exactly(100e6)])).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Device, Confidence::Probable), "{limit:?}");
    assert!(cause(&run, "a limit of this control group").statement.contains("or the device"));
}

#[test]
fn mounts_and_memory_limits_explain_slow_buffered_writes() {
    let slow = |own| sequential("buffered-write", 60.0).own(0.01, own).cpu(0.01, own, 0.0);
    let run = |stack: Vec<Layer>| Builder::new(stack).phases(with(healthy(200.0), [slow(0.6)])).build();
    let filesystem =
        |facts: &[(&str, Fact)]| [vec![layer(LayerKind::Filesystem, "ext4", None, facts)], sata()].concat();
    let limit = diagnose::limit(&run(filesystem(&[("sync_mount", Fact::Bool(true))])));
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Filesystem, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("mounted with sync"));
    let host = layer(LayerKind::Host, "host", None, &[("cgroup_memory_bytes", Fact::Int(64 << 20))]);
    let limit = diagnose::limit(&run([sata(), vec![host]].concat()));
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Memory, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("memory limit of this control group (67.1 MB)"), "{}", limit.statement);
    let mut fuse = run(filesystem(&[]));
    fuse.target.stack.mount = Some(Mount {
        fstype: "fuseblk".into(),
        mount_point: "/mnt".into(),
        source: "/dev/sda1".into(),
        options: Vec::new(),
        read_only: false,
    });
    let limit = diagnose::limit(&fuse);
    assert_eq!(limit.layer, LimitLayer::Filesystem, "{limit:?}");
    assert!(limit.statement.contains("user mode (fuseblk)"), "{}", limit.statement);
    assert!(!says(&fuse, "copying through the page cache"));
    // Without any of them it is copying.
    assert_eq!(diagnose::limit(&run(filesystem(&[]))).layer, LimitLayer::PageCache);
}

#[test]
fn a_volume_that_counts_its_own_limits_is_believed() {
    let run = |us: i64| {
        let mut stack = cloud_disk();
        stack[1].set("ebs_volume_iops_exceeded_run_us", Fact::Int(us));
        stack[1].set("ebs_instance_bytes_exceeded_run_us", Fact::Int(1_000));
        let mut run = Builder::new(stack).virtual_machine().phases(healthy(200.0)).build();
        run.duration_ns = 60_000_000_000;
        run
    };
    let limit = diagnose::limit(&run(30_000_000));
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Throttle, Confidence::High), "{limit:?}");
    assert!(limit.statement.contains("operations of the volume") && limit.statement.contains("50 %"), "{limit:?}");
    assert_ne!(diagnose::limit(&run(100_000)).confidence, Confidence::High, "a tenth of a second");
    assert!(says(&run(100_000), "itself counts") && !says(&run(0), "of the volume"));
}

/// A layer of its own counters above the disk.
fn stacked(kind: LayerKind, name: &str, facts: &[(&str, Fact)]) -> Vec<Layer> {
    let mut above = layer(kind, name, None, facts);
    above.counted = true;
    above.device = Some(DeviceId { major: 253, minor: 0 });
    [vec![above], sata()].concat()
}

fn each_sample(run: &mut Run, mut change: impl FnMut(&mut SystemSample)) {
    run.samples.iter_mut().for_each(&mut change);
}

#[test]
fn a_mapping_that_holds_requests_is_named() {
    let run = |above_ms: u64| {
        let stack = stacked(LayerKind::Dm, "dm-0", &[("dm_type", "delay".into())]);
        let mut run = Builder::new(stack).phases(healthy(60.0)).build();
        each_sample(&mut run, |s| {
            let disk = &mut s.disks[0];
            // Sectors of 4 KiB reads and writes; 100 us each at the disk.
            (disk.reads, disk.writes) = (disk.sectors_read / 8, disk.sectors_written / 8);
            (disk.read_ms, disk.write_ms) = (disk.reads / 10, disk.writes / 10);
            let (read_ms, write_ms) = (disk.reads * above_ms, disk.writes * above_ms);
            let mapping = model::DiskCounters { name: "dm-0".into(), read_ms, write_ms, ..disk.clone() };
            s.disks.push(mapping);
        });
        run
    };
    let found = cause(&run(5), "holds requests");
    assert_eq!((found.layer, found.confidence), (LimitLayer::Stacking, Confidence::Probable));
    assert!(found.statement.contains("dm-0 (delay)") && found.statement.contains("5.00 ms"), "{}", found.statement);
    assert!(!says(&run(0), "holds requests"));
}

#[test]
fn the_slow_half_of_a_mirror_is_named() {
    let run = |share: u64| {
        let mut stack = stacked(LayerKind::Md, "md0", &[]);
        let mut other = Layer { name: "sdb".into(), ..stack[1].clone() };
        other.device = Some(DeviceId { major: 8, minor: 16 });
        stack.insert(2, other);
        let mut run = Builder::new(stack).phases(healthy(60.0)).build();
        each_sample(&mut run, |s| {
            let disk = &mut s.disks[0];
            (disk.reads, disk.writes) = (disk.sectors_read / 8, disk.sectors_written / 8);
            (disk.read_ms, disk.write_ms) = (disk.reads, disk.writes);
            let part = |n: u64| n * share / 10;
            let (read_ms, write_ms, busy_ms) = (part(disk.read_ms), part(disk.write_ms), part(disk.busy_ms));
            let other = model::DiskCounters { name: "sdb".into(), read_ms, write_ms, busy_ms, ..disk.clone() };
            s.disks.push(other);
        });
        run
    };
    let found = cause(&run(2), "held by its member sda");
    assert_eq!((found.layer, found.confidence), (LimitLayer::Stacking, Confidence::Probable), "{}", found.statement);
    assert!(!says(&run(9), "held by its member"), "both are about as busy");
}

#[test]
fn heat_that_comes_slowly_is_heat() {
    let read = sequential("seq-read", 300.0).slides(0.4).throttled(10, 0x4);
    let run = Builder::new(sata()).phases(with(healthy(200.0), [read])).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::ThermalPower, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("slid from"), "{}", limit.statement);
    let cool = Builder::new(sata()).phases(with(healthy(200.0), [sequential("seq-read", 300.0).slides(0.4)])).build();
    assert!(!says(&cool, "slid from"));
}

#[test]
fn a_processor_that_our_load_slowed_is_named() {
    let run = |events_from: u64| {
        let full = random("rand-read-qd32", 40_000.0).cpu(0.1, 0.85, 0.0);
        let mut run = Builder::new(sata()).phases(with(healthy(200.0), [full])).build();
        let begin = run.phase("rand-read-qd32").and_then(|p| p.record.as_ref()).unwrap().started_ns;
        each_sample(&mut run, |s| {
            let hot = s.at_ns >= begin;
            s.cpu_khz = vec![Some(if hot { 1_200_000 } else { 2_400_000 }); 4];
            s.throttle.x86_throttle_events = Some(if s.at_ns > events_from { 7 } else { 0 });
        });
        run
    };
    let limit = diagnose::limit(&run(0));
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::ThermalPower, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("1200 MHz, 2400 MHz before"), "{}", limit.statement);
    assert!(!says(&run(u64::MAX), "MHz"), "without heat it is a governor's choice");
}

#[test]
fn caps_that_differ_each_way_are_seen_by_their_round_numbers() {
    let run = |read: f64, write: f64| {
        let phases = with(
            healthy(200.0),
            [sequential("seq-read", 1.0).exactly(read), sequential("seq-write", 1.0).exactly(write)],
        );
        Builder::new(cloud_disk()).virtual_machine().phases(phases).build()
    };
    let limit = diagnose::limit(&run(200e6, 100e6));
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Throttle, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("200 MB/s") && limit.statement.contains("100 MB/s"), "{}", limit.statement);
    assert_eq!(diagnose::limit(&run(125.0 * 1_048_576.0, 60.0 * 1_048_576.0)).layer, LimitLayer::Throttle);
    assert_ne!(diagnose::limit(&run(217e6, 100e6)).layer, LimitLayer::Throttle);
}

#[test]
fn round_numbers_are_no_cap_where_only_operations_are_even_or_processors_were_taken_away() {
    // 366 200 random reads and writes a second are 1.5 GB/s by chance.
    let random = |name| random(name, 366_200.0).exactly(366_200.0 * 4096.0);
    let phases = with(healthy(2_000.0), [random("rand-read-qd32"), random("rand-write-qd32").exactly(1.2e9)]);
    assert!(!says(&Builder::new(cloud_disk()).virtual_machine().phases(phases).build(), "round numbers"));
    let stolen = |name, rate| sequential(name, 1.0).exactly(rate).steal(0.04);
    let phases = with(healthy(200.0), [stolen("seq-read", 200e6), stolen("seq-write", 100e6)]);
    assert!(!says(&Builder::new(cloud_disk()).virtual_machine().phases(phases).build(), "round numbers"));
}

#[test]
fn bursts_of_read_ahead_are_no_device_that_stands_still() {
    // Every half a second a burst is handed over; the disk reads all the time.
    let mut read = sequential("buffered-read", 400.0);
    for from in (1..46).step_by(5) {
        read = read.still(from, 4);
    }
    let mut run = Builder::new(sata()).phases(with(healthy(200.0), [read])).build();
    let (start, end) = {
        let record =
            run.phases.iter().find(|p| p.plan.name == "buffered-read").and_then(|p| p.record.as_ref()).unwrap();
        (record.started_ns, record.ended_ns)
    };
    // The counters of the disk as they are: even, in the same sum.
    let evenly = |run: &mut Run| {
        let counted = |s: &SystemSample| s.disks[0].sectors_read;
        let at = |run: &Run, ns| run.samples.iter().find(|s| s.at_ns >= ns).map(counted).unwrap();
        let (first, last) = (at(run, start), at(run, end));
        for sample in run.samples.iter_mut().filter(|s| s.at_ns >= start && s.at_ns <= end) {
            let part = (sample.at_ns - start) as f64 / (end - start) as f64;
            sample.disks[0].sectors_read = first + ((last - first) as f64 * part) as u64;
        }
    };
    assert!(says(&run, "gaps without a completion"), "a disk that is busy and reads nothing meanwhile");
    evenly(&mut run);
    assert!(!says(&run, "gaps without a completion"), "{:?}", diagnose::causes(&run));
    // Without counters nobody knows whether it was asked.
    run.samples.iter_mut().for_each(|s| s.disks.clear());
    assert!(!says(&run, "gaps without a completion"), "{:?}", diagnose::causes(&run));
}

#[test]
fn a_worker_does_not_compute_more_than_all_the_time_nor_what_was_stolen() {
    let computing = |user: f64, steal: f64| {
        let read = random("rand-read-qd32", 32_000.0).own(user, 0.03).steal(steal);
        Builder::new(sata()).virtual_machine().phases(with(healthy(200.0), [read])).build()
    };
    assert!(says(&computing(0.96, 0.0), "its worker computes"));
    for (user, steal) in [(1.78, 0.05), (0.93, 0.06)] {
        assert!(!says(&computing(user, steal), "its worker computes"), "{user} {steal}");
    }
}
