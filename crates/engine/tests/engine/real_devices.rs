//! The rig on loop devices and file systems of our own making: needs root, util-linux and the mkfs programs. What
//! cannot run here says SKIPPED.

use crate::own_devices::{LoopDevice, Mounted, have, tool, unmount};
use crate::phases::*;
use engine::{Control, FileOptions, FileRig, Rig};
use model::{
    Access, ColdProof, DataProof, DirectProof, EngineKind, ErrorPolicy, FailureKind, Operation, PhaseRecord, StopCause,
    StopRule,
};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Runs all phases; the direct proofs of writes (without layout) and reads.
fn run_all(directory: &Path, options: FileOptions, bytes: u64) -> (Vec<DirectProof>, Vec<DirectProof>) {
    let backing = !options.backing_files.is_empty();
    let mut rig = open(directory, true, options).unwrap();
    let probe = rig.probe_write(4 * MIB, 1_000_000_000, &Control::default()).unwrap();
    println!("probe {probe:?}");
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for phase in all(bytes) {
        let record = run(&mut rig, &phase);
        println!("{}", shown(&phase, &record));
        assert!(record.errors.is_empty() && record.operations > 0, "{}", phase.name);
        if let Some(ColdProof { resident_pages_before, method, .. }) = &record.cold {
            assert_eq!(*resident_pages_before, Some(0), "{}: {method}", phase.name);
            assert_eq!(method.contains("backing file"), backing, "{method}");
        }
        if !phase.is_write() {
            assert!(matches!(record.data, Some(DataProof::Real(_))), "{:?}", record.data);
        }
        match record.direct {
            Some(proof) if phase.is_write() => writes.push(proof),
            Some(proof) => reads.push(proof),
            None => {}
        }
        rig.flush().unwrap();
    }
    assert_eq!(
        std::fs::read_dir(directory).unwrap().filter(|e| e.as_ref().unwrap().file_name() != "lost+found").count(),
        0
    );
    (writes, reads)
}

fn is_proven(p: &DirectProof) -> bool {
    matches!(p, DirectProof::Proven(_))
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(|p| p.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (major, minor)
}

#[test]
fn ext4_and_xfs_are_direct() {
    for filesystem in ["ext4", "xfs"] {
        let (mounted, image) = have!(Mounted::new(filesystem, 512 * MIB, "defaults"));
        println!("--- {filesystem}");
        let told = FileOptions { backing_files: vec![image], ..options(filesystem) };
        let (writes, reads) = run_all(mounted.path(), told, 16 * MIB);
        assert!(writes.iter().chain(&reads).all(is_proven), "{filesystem}: {writes:?} {reads:?}");
    }
}

#[test]
fn btrfs_with_checksums_falls_back_for_writes_and_nocow_does_not() {
    let (mounted, image) = have!(Mounted::new("btrfs", 768 * MIB, "defaults"));
    let told = FileOptions { backing_files: vec![image], ..options("btrfs") };
    let (writes, reads) = run_all(mounted.path(), told.clone(), 16 * MIB);
    if kernel_is_at_least(6, 15) && !kernel_is_at_least(7, 3) {
        assert!(writes.iter().all(|p| matches!(p, DirectProof::Fallback(_))), "{writes:?}");
    }
    assert!(reads.iter().all(is_proven), "{reads:?}");
    let nocow = mounted.path().join("nocow");
    std::fs::create_dir(&nocow).unwrap();
    have!(tool("chattr", &["+C", nocow.to_str().unwrap()]));
    println!("--- btrfs, NOCOW");
    let (writes, reads) = run_all(&nocow, told, 16 * MIB);
    assert!(writes.iter().chain(&reads).all(is_proven), "{writes:?} {reads:?}");
    std::fs::remove_dir(&nocow).unwrap();
}

#[test]
fn ext4_that_journals_data_is_no_direct_io() {
    let (mounted, image) = have!(Mounted::new("ext4", 512 * MIB, "data=journal"));
    let told =
        FileOptions { backing_files: vec![image], mount_options: vec!["data=journal".into()], ..options("ext4") };
    let mut rig = open(mounted.path(), true, told).unwrap();
    run(&mut rig, &layout(8 * MIB));
    let record = run(&mut rig, &rand_write(8 * MIB, 4));
    assert!(matches!(record.direct, Some(DirectProof::Fallback(_))), "{:?}", record.direct);
    assert_eq!(record.engine.kind, EngineKind::PsyncThreads, "the CPU time of a fallback stays visible");
}

/// After the rig is gone nothing may hold the target, not even for the moment that closing a ring takes the kernel.
#[test]
fn a_file_system_can_be_unmounted_at_once() {
    let (mounted, _image) = have!(Mounted::new("ext4", 512 * MIB, "defaults"));
    let mut rig = open(mounted.path(), true, options("ext4")).unwrap();
    run(&mut rig, &layout(4 * MIB));
    for _ in 0..20 {
        let mut short = rand_read(4 * MIB, 8);
        short.time_limit_ns = 1_000_000;
        assert_eq!(run(&mut rig, &short).engine.kind, EngineKind::IoUring);
    }
    drop(rig);
    let point = mounted.path().to_str().unwrap();
    tool("umount", &[point]).unwrap();
    tool("mount", &[mounted.device.name(), point]).unwrap();
}

#[test]
fn a_file_system_that_fills_up_meanwhile_keeps_what_was_written() {
    let (mounted, _image) = have!(Mounted::new("ext4", 512 * MIB, "defaults"));
    let mut rig = open(mounted.path(), true, options("ext4")).unwrap();
    let room = rig.max_bytes();
    // Somebody else takes nearly all of it after the rig has looked.
    let ballast = std::fs::File::create(mounted.path().join("ballast")).unwrap();
    let space = sys::space_of(&ballast).unwrap();
    sys::reserve(&ballast, 0, space.available_bytes - 32 * MIB).unwrap();
    let record = run(&mut rig, &layout(room));
    println!("{}", shown(&layout(room), &record));
    assert_eq!(record.stop, StopCause::Failed);
    assert!(record.errors.contains_key("ENOSPC"), "{:?}", record.errors);
    let readable = rig.readable_bytes();
    // Root may also use the reserve of 5 %.
    assert!((MIB..=64 * MIB).contains(&readable), "{readable}");
    let read = run(&mut rig, &buffered_read(room));
    assert_eq!((read.bytes, read.errors.len()), (readable, 0));
    drop(rig);
    assert!(sys::space_of(&ballast).unwrap().available_bytes >= 31 * MIB, "the space is given back");
}

/// ramfs has no O_DIRECT at all, and tells no size.
#[test]
fn where_o_direct_is_refused_buffered_io_stands_in() {
    let point = tempfile::tempdir().unwrap();
    let path = point.path().to_str().unwrap();
    have!(tool("mount", &["-t", "ramfs", "ramfs", path]));
    let result = std::panic::catch_unwind(|| {
        let mut rig = open(point.path(), true, options("ramfs")).unwrap();
        assert_eq!(rig.max_bytes(), 512 * MIB, "half of the memory that is available");
        rig.probe_write(MIB, 0, &Control::default()).unwrap();
        for phase in all(4 * MIB) {
            let record = run(&mut rig, &phase);
            println!("{}", shown(&phase, &record));
            assert!(record.errors.is_empty() && record.operations > 0, "{}", phase.name);
            if phase.access == Access::Direct {
                assert!(matches!(record.direct, Some(DirectProof::Fallback(_))), "{:?}", record.direct);
            }
        }
    });
    unmount(path);
    result.unwrap();
}

#[test]
fn an_overlay_is_measured_through_to_its_upper_layer() {
    let (mounted, image) = have!(Mounted::new("ext4", 512 * MIB, "defaults"));
    for name in ["lower", "upper", "work", "merged"] {
        std::fs::create_dir(mounted.path().join(name)).unwrap();
    }
    let part = |name: &str| mounted.path().join(name).to_str().unwrap().to_owned();
    let layers = format!("lowerdir={},upperdir={},workdir={}", part("lower"), part("upper"), part("work"));
    have!(tool("mount", &["-t", "overlay", "-o", &layers, "overlay", &part("merged")]));
    let told = FileOptions { backing_files: vec![image], ..options("overlay") };
    let result = std::panic::catch_unwind(|| run_all(&mounted.path().join("merged"), told, 8 * MIB));
    unmount(&part("merged"));
    let (writes, reads) = result.unwrap();
    println!("{writes:?}\n{reads:?}");
}

#[test]
fn a_read_only_mount_and_a_full_file_system_are_told() {
    let (mounted, _image) = have!(Mounted::new("ext4", 512 * MIB, "defaults"));
    let point = mounted.path().to_str().unwrap();
    have!(tool("mount", &["-o", "remount,ro", point]));
    let failure = open(mounted.path(), true, options("ext4")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Environment);
    assert!(failure.message.contains("read-only"), "{failure}");
    have!(tool("mount", &["-o", "remount,rw", point]));
    let room = open(mounted.path(), true, options("ext4")).unwrap().max_bytes();
    assert!((64 * MIB..256 * MIB).contains(&room), "{room}: 256 MiB stay free");
    // A small file system keeps half of what is free, until nothing is.
    std::fs::write(mounted.path().join("ballast"), vec![1; room as usize]).unwrap();
    assert!(open(mounted.path(), true, options("ext4")).unwrap().max_bytes() <= room);
    let _ = std::fs::write(mounted.path().join("more"), vec![1; 512 * MIB as usize]).unwrap_err();
    let failure = open(mounted.path(), true, options("ext4")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Environment);
    assert!(failure.message.contains("not enough room"), "{failure}");
}

#[test]
fn a_device_without_content_is_not_real_until_it_is_written() {
    let device = have!(LoopDevice::new(32 * MIB));
    let told = || FileOptions { backing_files: vec![device.image.clone()], ..options("") };
    let mut rig = open(&device.device, false, told()).unwrap();
    assert_eq!((rig.max_bytes(), rig.readable_bytes()), (32 * MIB, 32 * MIB));
    let record = run(&mut rig, &seq_read(32 * MIB));
    assert!(matches!(record.data, Some(DataProof::NotReal(_))), "{:?}", record.data);
    assert!(matches!(record.direct, Some(DirectProof::Proven(_))), "{:?}", record.direct);
    assert_eq!(rig.run(&seq_write(MIB), &Control::default()).unwrap_err().kind, FailureKind::Refused);
    assert_eq!(open(&device.device, false, told()).unwrap_err().kind, FailureKind::Refused, "one lock a target");
    drop(rig);

    let mut rig = open(&device.device, true, told()).unwrap();
    for phase in all(16 * MIB) {
        let record = run(&mut rig, &phase);
        println!("{}", shown(&phase, &record));
        assert!(record.errors.is_empty(), "{}", phase.name);
        assert!(phase.is_write() || matches!(record.data, Some(DataProof::Real(_))), "{:?}", record.data);
    }
    drop(rig);
    // Another run knows nothing of that, and looks: half of the device was never written.
    let mut rig = open(&device.device, false, told()).unwrap();
    let first = run(&mut rig, &seq_read(16 * MIB));
    assert!(matches!(first.data, Some(DataProof::Real(_))), "{:?}", first.data);
    let whole = run(&mut rig, &seq_read(32 * MIB));
    assert!(!matches!(whole.data, Some(DataProof::Real(_))), "{:?}", whole.data);
    let cold = run(&mut rig, &buffered_read(16 * MIB)).cold.unwrap();
    assert_eq!(cold.resident_pages_before, Some(0), "{}", cold.method);
}

#[test]
fn a_mounted_device_can_be_read() {
    let (mounted, _image) = have!(Mounted::new("ext4", 64 * MIB, "defaults"));
    let device = mounted.device.device.clone();
    let mut rig = open(&device, false, FileOptions::default()).unwrap();
    assert!(run(&mut rig, &rand_read(32 * MIB, 4)).operations > 0);
    drop(mounted);
}

#[test]
fn a_device_that_fails_half_way_gives_a_record_with_its_errors() {
    let device = have!(LoopDevice::new(16 * MIB));
    // Behind the loop device's back half of its file disappears: reads there fail with EIO.
    let file = std::fs::File::options().write(true).open(&device.image).unwrap();
    for i in 0..16 {
        file.write_all_at(&[i as u8 + 1; 4096], i * MIB).unwrap();
    }
    file.set_len(8 * MIB).unwrap();
    let mut rig = open(&device.device, false, FileOptions::default()).unwrap();
    let record = run(&mut rig, &seq_read(16 * MIB));
    println!("{}", shown(&seq_read(16 * MIB), &record));
    assert_eq!(record.stop, StopCause::Failed);
    assert!(record.errors.contains_key("EIO"), "{:?}", record.errors);
    assert!(record.bytes > 0, "what was read before is kept");
    let after = run(&mut rig, &rand_read(4 * MIB, 4));
    assert!(after.errors.is_empty() && after.operations > 0, "the rig stays usable");
}

#[test]
fn a_device_that_fails_writes_half_way_keeps_what_came_before() {
    let point = tempfile::tempdir().unwrap();
    let path = point.path().to_str().unwrap();
    // The memory below the loop device ends after 24 MiB: what is written beyond cannot be stored.
    have!(tool("mount", &["-t", "tmpfs", "-o", "size=24m", "tmpfs", path]));
    let result = LoopDevice::new_in(point.path(), 32 * MIB).map(|device| {
        std::panic::catch_unwind(|| {
            let mut rig = open(&device.device, true, FileOptions::default()).unwrap();
            let record = run(&mut rig, &layout(32 * MIB));
            println!("{}", shown(&layout(32 * MIB), &record));
            assert_eq!(record.stop, StopCause::Failed);
            assert!(record.errors.contains_key("EIO") || record.errors.contains_key("ENOSPC"), "{:?}", record.errors);
            let readable = rig.readable_bytes();
            println!("readable {readable}");
            assert!((MIB..=24 * MIB).contains(&readable), "{readable}");
            let read = run(&mut rig, &rand_read(32 * MIB, 4));
            assert!(read.errors.is_empty() && read.operations > 0, "{:?}", read.errors);
            // Again, from the start: the same end.
            let failing = run(&mut rig, &layout(32 * MIB));
            assert_eq!(failing.stop, StopCause::Failed);
            let mut nothing = rand_read(MIB, 1);
            nothing.streams[0].block_mut().region_start_bytes = 31 * MIB;
            let failure = rig.run(&nothing, &Control::default()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Device);
            assert!(failure.message.contains("layout"), "{failure}");
        })
    });
    unmount(path);
    have!(result).unwrap();
}

/// Operations that carry no data, on the device itself and in a file.
fn take_away(rig: &mut FileRig, operation: Operation, engine: EngineKind, depth: u32) -> PhaseRecord {
    let mut phase = seq_write(8 * MIB);
    phase.name = format!("{operation:?}");
    phase.set_engine(engine);
    phase.stop = StopRule::RegionOnce;
    phase.time_limit_ns = 60_000_000_000;
    let stream = &mut phase.streams[0];
    (stream.block_mut().operation, stream.block_mut().region_start_bytes) = (operation, 4 * MIB);
    stream.path.queue_depth = depth;
    run(rig, &phase)
}

#[test]
fn trims_and_zeroes_of_a_device_take_its_data_away() {
    let device = have!(LoopDevice::new(16 * MIB));
    for operation in [Operation::Trim, Operation::WriteZeroes] {
        for (engine, depth) in [(EngineKind::Psync, 1), (EngineKind::IoUring, 4), (EngineKind::PsyncThreads, 4)] {
            let mut rig = open(&device.device, true, FileOptions::default()).unwrap();
            assert!(run(&mut rig, &layout(16 * MIB)).errors.is_empty());
            let before = rig.bytes_written();
            let record = take_away(&mut rig, operation, engine, depth);
            let name = format!("{operation:?} by {engine:?}");
            if record.errors.keys().any(|e| e == "EOPNOTSUPP") {
                println!("SKIPPED: {name}: the file system below the loop device cannot (EOPNOTSUPP)");
                continue;
            }
            assert!(record.errors.is_empty(), "{name}: {:?}", record.errors);
            assert_eq!((record.operations, record.bytes, record.stop), (8, 8 * MIB, StopCause::RegionDone), "{name}");
            // What is trimmed wears nothing; zeroes count as written.
            let wrote = rig.bytes_written() - before;
            assert_eq!(wrote, if operation == Operation::Trim { 0 } else { 8 * MIB }, "{name}");
            rig.flush().unwrap();
            drop(rig);
            let mut content = vec![0u8; 16 * MIB as usize];
            std::fs::File::open(&device.device).unwrap().read_exact_at(&mut content, 0).unwrap();
            let zeros = |r: std::ops::Range<u64>| content[r.start as usize..r.end as usize].iter().all(|b| *b == 0);
            assert!(zeros(4 * MIB..12 * MIB), "{name}: data are still there");
            assert!(!zeros(3 * MIB..4 * MIB) && !zeros(12 * MIB..13 * MIB), "{name}: took too much");
        }
    }
}

#[test]
fn a_stream_that_goes_on_measures_the_half_that_still_answers() {
    let device = have!(LoopDevice::new(16 * MIB));
    let file = std::fs::File::options().write(true).open(&device.image).unwrap();
    file.write_all_at(&vec![7; 16 * MIB as usize], 0).unwrap();
    file.set_len(8 * MIB).unwrap();
    for engine in [EngineKind::IoUring, EngineKind::Psync, EngineKind::Mmap] {
        let mut rig = open(&device.device, false, FileOptions::default()).unwrap();
        let mut phase = rand_read(16 * MIB, if engine == EngineKind::IoUring { 8 } else { 1 });
        phase.set_engine(engine);
        phase.set_access(if engine == EngineKind::Mmap { Access::Buffered } else { Access::Direct });
        phase.cold = engine == EngineKind::Mmap;
        phase.streams[0].on_error = ErrorPolicy::Continue;
        let record = run(&mut rig, &phase);
        assert_eq!(record.stop, StopCause::TimeUsed, "{engine:?}: {:?}", record.errors);
        assert!(record.operations > 0, "{engine:?}");
        assert!(record.errors["EIO"] > 0, "{engine:?}: {:?}", record.errors);
        // All of it in the half that is gone: no hope.
        phase.streams[0].block_mut().region_start_bytes = 9 * MIB;
        phase.streams[0].block_mut().region_bytes = 4 * MIB;
        phase.time_limit_ns = 60_000_000_000;
        let record = run(&mut rig, &phase);
        assert_eq!((record.stop, record.operations), (StopCause::Failed, 0), "{engine:?}");
    }
}

#[test]
fn a_file_system_that_fills_up_is_counted_by_name() {
    let point = tempfile::tempdir().unwrap();
    let path = point.path().to_str().unwrap();
    have!(tool("mount", &["-t", "tmpfs", "-o", "size=400m", "tmpfs", path]));
    let result = std::panic::catch_unwind(|| {
        let mut rig = open(point.path(), true, options("tmpfs")).unwrap();
        // Somebody else takes the room after we have looked.
        let taken = std::fs::File::create(point.path().join("other")).unwrap();
        sys::reserve(&taken, 0, 390 * MIB).unwrap();
        // Who goes on finds room again at every start from the beginning.
        let policies = [(ErrorPolicy::Stop, StopCause::Failed), (ErrorPolicy::Continue, StopCause::TimeUsed)];
        for (policy, stop) in policies {
            let mut phase = seq_write(64 * MIB);
            phase.streams[0].on_error = policy;
            let record = run(&mut rig, &phase);
            assert_eq!(record.stop, stop);
            assert_eq!(record.errors.keys().collect::<Vec<_>>(), ["ENOSPC"], "{policy:?}");
        }
    });
    unmount(path);
    result.unwrap();
}

#[test]
fn every_built_in_workload_runs_on_a_device() {
    let device = have!(LoopDevice::new(96 * MIB));
    for name in ["sweep", "depth", "mix", "steady", "kdiskmark", "bursts", "latency", "stream"] {
        let mut set = vec![("ramp", "0s"), ("interval", "20ms")];
        match name {
            "steady" => set.extend([("steady-round", "30ms"), ("steady-rounds", "6")]),
            "latency" => set.extend([("iops", "200"), ("time", "60ms")]),
            "bursts" => set.extend([("think", "10ms"), ("think-after", "8"), ("time", "60ms")]),
            _ => set.push(("time", "60ms")),
        }
        let mut rig = open(&device.device, true, FileOptions::default()).unwrap();
        let inputs = spec::RunInputs {
            kind: model::TargetKind::BlockDevice,
            readiness: spec::Readiness::Writable,
            max_bytes: rig.max_bytes(),
            sector_bytes: rig.sector_bytes(),
            memory_bytes: None,
            seed: 5,
            probe: Default::default(),
            packages: None,
        };
        let plan = workload(spec::workload_text(name).unwrap(), &set).plan(&inputs).unwrap_or_else(|e| panic!("{e}"));
        for phase in plan.phases.iter().filter(|p| p.skip.is_none()) {
            let record = run(&mut rig, phase);
            assert!(record.errors.is_empty() && record.operations > 0, "{name}: {}: {:?}", phase.name, record.errors);
            assert!(!matches!(record.data, Some(DataProof::NotReal(_))), "{name}: {}", phase.name);
        }
    }
}
