//! The sampler and the environment on a captured machine.

use crate::tree::Tree;
use model::{CpuModel, Pressure, SystemSample};
use observe::{Root, Sampler, environment};

const SECOND: u64 = 1_000_000_000;

fn machine() -> Tree {
    Tree::build(include_str!("../trees/sensors.tree"))
}

fn names(sample: &SystemSample) -> Vec<&str> {
    sample.temperatures.iter().map(|t| t.name.as_str()).collect()
}

#[test]
fn one_look_sees_everything() {
    let tree = machine();
    let mut sampler = Sampler::new(&tree.root(), &["dm-0".into(), "gone".into()]);
    assert_eq!(sampler.without_counters(&["dm-0".into(), "gone".into()]), ["gone"]);
    let sample = sampler.sample(0);
    assert_eq!(sample.disks.len(), 1);
    assert_eq!((sample.disks[0].name.as_str(), sample.disks[0].sectors_written), ("dm-0", 7));
    assert_eq!(sample.cpus.iter().map(model::CpuTicks::total).collect::<Vec<_>>(), [36, 324]);
    assert_eq!(sample.cpu_khz, [Some(1_800_000), Some(2_400_000)]);
    assert_eq!(sample.memory.dirty_bytes, Some(16 << 10));
    assert_eq!(sample.memory.available_bytes, Some(2 << 20));
    assert_eq!(sample.pressure_io, Some(Pressure { some_us: 111, full_us: Some(22) }));
    assert_eq!(sample.pressure_cpu, Some(Pressure { some_us: 333, full_us: None }));
    assert_eq!((sample.interrupts, sample.context_switches), (Some(1000), Some(2000)));
    assert_eq!(sample.interrupts_by_cpu, [300, 30]);
    assert_eq!(names(&sample), ["soc-thermal", "nvme Composite"], "the zone's own monitor says the same again");
    assert_eq!(sample.temperatures[1].millidegrees_c, -5000);
    assert_eq!(sample.throttle.x86_throttle_events, Some(12), "threads of one core share their counter");
    assert_eq!(sample.throttle.cooling_state, Some(2), "a fan that turns holds nothing back");
    assert_eq!(sample.throttle.raspberry_pi_bits, Some(1 << 16), "the alarm tells of the past");
}

#[test]
fn the_calls_of_an_nfs_mount_are_in_each_look() {
    let tree = machine();
    let write = |path: &str, text: &str| {
        let path = tree.host(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let head = "device s:/x mounted on /mnt with fstype nfs4 statvers=1.1\n";
    write("/proc/self/mountstats", &format!("{head}\tREAD: 5 5 0 1 2 3 4 8 0\n"));
    write("/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 100 3\n");
    write("/proc/net/netstat", "TcpExt: TCPDSACKRecv TCPDSACKOfoRecv\nTcpExt: 2 0\n");
    let of = |point: &str| observe::PathSource::Nfs { mount_point: point.to_owned() };
    let mut sampler = Sampler::new(&tree.root(), &[]).with_path(&tree.root(), Some(&of("/mnt")));
    let sample = sampler.sample(0);
    assert_eq!((sample.nfs[0].name.as_str(), sample.nfs[0].rtt_ms, sample.nfs.len()), ("READ", 4, 1));
    let tcp = (sample.tcp_segments_out, sample.tcp_segments_again, sample.tcp_segments_late);
    assert_eq!(tcp, (Some(100), Some(3), Some(2)));
    assert!(Sampler::new(&tree.root(), &[]).sample(0).nfs.is_empty(), "only where it is asked for");
}

#[test]
fn what_smb_and_zfs_count_is_in_each_look() {
    let tree = machine();
    let write = |path: &str, text: &[u8]| {
        let path = tree.host(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("/proc/fs/cifs/Stats", include_bytes!("../data/cifs-stats.txt"));
    write("/proc/spl/kstat/zfs/arcstats", include_bytes!("../data/zfs-arcstats.kstat"));
    write("/proc/spl/kstat/zfs/rpool/objset-0x36", b"1\nname type data\ndataset_name 7 rpool\nreads 4 1\n");
    write("/proc/spl/kstat/zfs/rpool/objset-0x99", include_bytes!("../data/zfs-objset.kstat"));
    write("/proc/spl/kstat/zfs/zil", b"1\nname type data\nzil_commit_count 4 77\n");
    let looked = |source: observe::PathSource| {
        Sampler::new(&tree.root(), &[]).with_path(&tree.root(), Some(&source)).sample(0).path
    };
    let smb = looked(observe::PathSource::Smb { source: "//localhost/test".into() });
    assert_eq!(model::path_counter_value(&smb, "smb_reads"), Some(42));
    let zfs = looked(observe::PathSource::Zfs { dataset: "rpool/safe/home".into() });
    let of = |name: &str| model::path_counter_value(&zfs, name);
    assert_eq!((of("arc_data_hits"), of("zfs_reads"), of("zil_commits")), (Some(7_000), Some(252_308), Some(2_824)));
    let zfs = looked(observe::PathSource::Zfs { dataset: "rpool".into() });
    let of = |name: &str| model::path_counter_value(&zfs, name);
    assert_eq!(
        (of("zfs_reads"), of("zil_commits")),
        (Some(1), Some(77)),
        "before 2.2 the log is counted for all pools"
    );
    assert_eq!(looked(observe::PathSource::Smb { source: "//localhost/none".into() }), []);
}

#[test]
fn slow_sources_are_read_when_they_are_due_and_empty_in_between() {
    let tree = machine();
    let mut sampler = Sampler::new(&tree.root(), &[]);
    let at = |sampler: &mut Sampler, tenths: u64| {
        let sample = sampler.sample(tenths * SECOND / 10);
        (sample.temperatures.len(), sample.throttle.cooling_state.is_some(), sample.cpus.len())
    };
    assert_eq!(at(&mut sampler, 0), (2, true, 2));
    assert_eq!(at(&mut sampler, 1), (0, false, 2));
    assert_eq!(at(&mut sampler, 9), (0, false, 2));
    assert_eq!(at(&mut sampler, 10), (1, true, 2), "the disk's own sensor is asked once in ten seconds");
    assert_eq!(at(&mut sampler, 100), (2, true, 2));
    let hundredths = |sampler: &mut Sampler, at: u64| sampler.sample(at * SECOND / 100).temperatures.len();
    assert_eq!(hundredths(&mut sampler, 1_099), 1, "a look once a second may be a little early");
    assert_eq!(hundredths(&mut sampler, 1_190), 0);
}

#[test]
fn files_are_read_anew_and_may_vanish() {
    let tree = machine();
    let mut sampler = Sampler::new(&tree.root(), &["dm-0".into()]);
    assert_eq!(sampler.sample(0).disks[0].reads, 1);
    tree.file("/sys/devices/virtual/block/dm-0/stat", b"7 2 3 4 5 6 7 8 9 10 11\n");
    assert_eq!(sampler.sample(1).disks[0].reads, 7);
    tree.file("/sys/devices/virtual/block/dm-0/stat", b"");
    assert!(sampler.sample(2).disks.is_empty(), "a device that says nothing has no counters, not zeros");
}

#[test]
fn the_environment_of_a_board() {
    let seen = environment(&machine().root());
    assert_eq!(seen.machine.as_deref(), Some("Example Board"));
    assert_eq!(seen.architecture.as_deref(), Some("aarch64"));
    assert_eq!(seen.distribution.as_deref(), Some("Board Linux 1.0"));
    let core = |name: &str| CpuModel { name: name.into(), count: 1 };
    assert_eq!(seen.cpus, [core("Cortex-A55"), core("Cortex-A76")]);
    assert_eq!(seen.governors, ["ondemand"]);
    assert_eq!(seen.page_size_bytes, Some(16 << 10));
    assert_eq!((seen.root, seen.io_uring_disabled, seen.memlock_limit_bytes), (Some(false), Some(2), Some(65_536)));
    assert_eq!(seen.dirty_settings["vm.dirty_ratio"], Some(20));
    assert_eq!(seen.dirty_settings["vm.dirty_background_ratio"], None);
    assert_eq!(seen.clock_synchronised, None, "a captured tree has no clock to ask");
    assert_eq!(seen.clock_source.as_deref(), Some("arch_sys_counter"));
    assert_eq!(seen.virtualization, None);
    assert_eq!(seen.missing, ["run as root to see kernel messages, debugfs and what other processes hold open"]);
}

#[test]
fn virtual_machines_and_containers_by_name() {
    let seen = |text: &str| environment(&Tree::build(text).root()).virtualization;
    assert_eq!(
        seen("/sys/class/dmi/id/sys_vendor = QEMU\n/sys/class/dmi/id/product_name = KVM\n").as_deref(),
        Some("kvm")
    );
    assert_eq!(seen("/sys/hypervisor/type = xen\n").as_deref(), Some("xen"));
    assert_eq!(
        seen("/sys/class/dmi/id/sys_vendor = Amazon EC2\n/sys/class/dmi/id/product_name = m7i.metal-24xl\n"),
        None
    );
    assert_eq!(
        seen("/.dockerenv = x\n/proc/cpuinfo = flags\\t: fpu hypervisor\n").as_deref(),
        Some("docker on unknown hypervisor")
    );
    assert_eq!(seen("/proc/1/cgroup = 0::/kubepods/burstable/x\n").as_deref(), Some("kubernetes"));
    let machine = |text: &str| environment(&Tree::build(text).root()).machine;
    let dmi = "@ /sys/class/dmi/id\nsys_vendor = LENOVO\nproduct_name = 20XW\nproduct_version = ThinkPad X1 Carbon\n";
    assert_eq!(machine(dmi).as_deref(), Some("LENOVO ThinkPad X1 Carbon (20XW)"));
    let unfilled = "@ /sys/class/dmi/id\nsys_vendor = To Be Filled By O.E.M.\nproduct_name = System Product Name\nboard_vendor = ASRock\nboard_name = B450M\n";
    assert_eq!(machine(unfilled).as_deref(), Some("ASRock B450M"));
}

#[test]
fn this_machine_is_seen() {
    let root = Root::new("/");
    if !root.exists("/proc/self/mountinfo") || !root.exists("/sys/class/block") {
        eprintln!("SKIPPED: no /proc or /sys here");
        return;
    }
    let seen = environment(&root);
    assert!(seen.kernel.is_some() && seen.memory_bytes.is_some() && !seen.cpus.is_empty());
    assert!(seen.page_size_bytes.is_some_and(|p| p >= 4_096));
    let mut sampler = Sampler::new(&root, &[]);
    let (first, second) = (sampler.sample(0), sampler.sample(1));
    assert!(!first.cpus.is_empty());
    assert!(second.context_switches >= first.context_switches, "files that stay open are produced anew");
}
