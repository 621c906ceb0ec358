//! SMB mounts and ZFS datasets: what is counted of them decides, and their options. Made after the forms of public texts; nobody has run it on
//! a real pool yet.

use crate::expect::*;
use crate::run_builder::*;
use model::{Confidence, Fact, LayerKind, LimitLayer, PathCounter, Run, path_counter as counters};

fn mount(fstype: &str, backing: &str, options: &[(&str, Fact)]) -> Builder {
    let usual = [
        ("fstype", text(fstype)),
        ("backing", text(backing)),
        ("sync_mount", Fact::Bool(false)),
        ("attributes_cached", Fact::Bool(true)),
        ("smb_cache", text("strict")),
        ("smb_signed", Fact::Bool(false)),
        ("smb_encrypted", Fact::Bool(false)),
        ("smb_read_bytes", Fact::Int(4 << 20)),
        ("smb_write_bytes", Fact::Int(4 << 20)),
        ("smb_channels", Fact::Int(1)),
        ("smb_interfaces", Fact::Int(1)),
        ("smb_interface_scales", Fact::Bool(false)),
        ("read_only", Fact::Bool(false)),
    ];
    let mut fs = layer(LayerKind::Filesystem, fstype, None, &usual);
    options.iter().for_each(|(name, value)| fs.set(name, value.clone()));
    Builder::new(vec![fs])
}

pub fn share(options: &[(&str, Fact)]) -> Builder {
    mount("cifs", "network", options)
}

/// With counters that grow evenly over the run by so much.
fn counted(mut run: Run, of: &[(&str, u64)]) -> Run {
    let last = run.samples.last().map_or(1, |s| s.at_ns).max(1);
    for sample in &mut run.samples {
        let grown = |by: u64| 1_000 + (by as f64 * sample.at_ns as f64 / last as f64) as u64;
        sample.path = of.iter().map(|(name, by)| PathCounter { name: (*name).into(), value: grown(*by) }).collect();
    }
    run
}

fn small(qd1: f64, qd32: f64) -> Vec<Phase> {
    vec![random("rand-read-qd1", qd1), random("rand-read-qd32", qd32)]
}

#[track_caller]
fn limited(run: &Run, layer: LimitLayer, words: &str) {
    let found = diagnose::limit(run);
    assert!(found.statement.contains(words), "{found:?}");
    assert_eq!((found.layer, found.confidence), (layer, Confidence::Probable), "{found:?}");
}

#[test]
fn a_small_operation_alone_that_depth_outruns_waits_for_the_round_trip() {
    let run = counted(share(&[]).phases(small(200.0, 5000.0)).build(), &[(counters::SMB_REQUESTS, 9000)]);
    limited(&run, LimitLayer::Link, "the round trip to the server: rand-read-qd1 takes 5.0 ms an operation");
    let rows = diagnose::limits(&run);
    assert!(rows.iter().any(|r| r.statement.contains("round trip")), "{rows:?}");
}

#[test]
fn a_mount_that_caches_nothing_is_named_where_buffered_work_is_slower() {
    let run = |cache: &str| {
        let cold = sequential("buffered-read", 12.0).own(0.0, 0.1);
        let all = with(small(900.0, 5000.0), [sequential("seq-read", 110.0), cold]);
        counted(share(&[("smb_cache", text(cache))]).phases(all).build(), &[(counters::SMB_REQUESTS, 9000)])
    };
    limited(
        &run("none"),
        LimitLayer::Filesystem,
        "mounted with cache=none: buffered-read runs at 12.0 MB/s against 110 MB/s",
    );
    holds_and_nearly("smb-cache-off", &run("none"), &run("strict"));
    unknown_for_want_of("smb-cache-off", &share(&[("attributes_cached", Fact::Null)]).build(), "attributes_cached");
}

#[test]
fn buffered_writes_that_wait_for_a_server_are_not_the_page_caches() {
    let run = |own| {
        let slow = sequential("buffered-write", 8.0).own(0.01, own).cpu(0.01, own, 0.0);
        share(&[]).phases([sequential("seq-write", 57.0), slow]).build()
    };
    holds_and_nearly("buffered-far-below-direct", &run(0.6), &run(0.04));
    assert!(diagnose::causes(&run(0.04)).iter().all(|c| c.layer != LimitLayer::PageCache));
}

#[test]
fn cache_none_is_no_cause_where_both_ways_fill_the_processors() {
    let run = |system| {
        let cold = sequential("buffered-read", 12.0).own(0.0, 0.1).cpu(0.02, system, 0.0);
        let all = [sequential("seq-read", 30.0).cpu(0.02, system, 0.0), cold];
        diagnose::causes(&share(&[("smb_cache", text("none"))]).phases(all).build())
    };
    let is_named = |found: &[diagnose::Cause]| found.iter().any(|c| c.statement.starts_with("mounted with cache=none"));
    assert!(is_named(&run(0.5)) && !is_named(&run(0.95)), "{:?}", run(0.95));
}

#[test]
fn small_transfers_are_read_from_the_mount_and_counted() {
    let run = |size: i64| {
        let built = share(&[("smb_write_bytes", Fact::Int(size))]).phases([sequential("seq-write", 4.0)]).build();
        let bytes = built.phases[0].record.as_ref().map_or(0, |r| r.bytes);
        counted(built, &[(counters::SMB_BYTES_WRITTEN, bytes), (counters::SMB_WRITES, bytes / size as u64)])
    };
    limited(
        &run(16_384),
        LimitLayer::Filesystem,
        "wsize is 16384 bytes: each operation of 1.05 MB in seq-write is cut into 64 requests",
    );
    holds_and_nearly("smb-small-transfers", &run(16_384), &run(131_072));
    let unknown = share(&[("smb_read_bytes", Fact::Null)]).build();
    unknown_for_want_of("smb-small-transfers", &unknown, "smb_read_bytes");
}

#[test]
fn sessions_that_are_connected_anew_are_told_first() {
    let run = |times| {
        counted(
            share(&[]).phases(small(300.0, 6000.0)).build(),
            &[(counters::SMB_RECONNECTS, times), (counters::SMB_REQUESTS, 9)],
        )
    };
    limited(&run(3), LimitLayer::Link, "SMB sessions were connected anew 3 times during the run");
    holds_and_nearly("smb-reconnects", &run(3), &run(0));
    unknown_for_want_of("smb-reconnects", &share(&[]).build(), "requests of the SMB client");
}

#[test]
fn signing_on_a_full_processor_is_named() {
    let run_with = |user, system| {
        let phase = sequential("seq-read", 300.0).cpu(user, system, 0.01);
        counted(share(&[("smb_signed", Fact::Bool(true))]).phases([phase]).build(), &[(counters::SMB_REQUESTS, 9)])
    };
    let run = |system| run_with(0.02, system);
    let found = diagnose::causes(&run(0.96));
    assert!(found.iter().any(|c| c.statement.starts_with("signing of SMB on a full processor")), "{found:?}");
    holds_and_nearly("smb-signing", &run(0.96), &run(0.5));
    holds_and_nearly("smb-signing", &run(0.96), &run_with(0.9, 0.08));
    unknown_for_want_of("smb-signing", &share(&[]).build(), "requests of the SMB client");
}

#[test]
fn small_files_take_several_requests_one_after_the_other() {
    let run = |requests| {
        let mut built = share(&[]).phases([random("files", 50.0)]).build();
        let files = model::FilesPlan { file_count: 1000, file_bytes: 4096, ..model::FilesPlan::default() };
        built.phases[0].plan.streams[0].kind = model::StreamKind::Files(files);
        let done = built.phases[0].record.as_ref().unwrap().operations;
        counted(built, &[(counters::SMB_REQUESTS, requests * done)])
    };
    let found = diagnose::causes(&run(4));
    let cause =
        found.iter().find(|c| c.statement.starts_with("small files, one after the other")).expect("it is named");
    assert!(cause.statement.contains("requests and 20.1 ms, "), "{}", cause.statement);
    holds_and_nearly("smb-small-files", &run(4), &run(1));
    unknown_for_want_of("smb-small-files", &share(&[]).build(), "requests of the SMB client");
}

/// An EBS volume of an m5.large, and a Premium SSD of 1 TiB.
#[test]
fn an_even_rate_at_what_a_cloud_publishes_is_told_with_its_source() {
    let run = |volume: &str, bytes: i64, iops: i64, measured: f64| {
        let facts = [
            ("cloud_volume", text(volume)),
            ("published_of", text("what it is")),
            ("published_bytes_per_s", Fact::Int(bytes)),
            ("published_iops", Fact::Int(iops)),
            ("published_burst_bytes_per_s", Fact::Int(bytes * 7)),
            ("published_burst_iops", Fact::Int(iops * 5)),
            ("published_source", text("https://example.org, read on 2026-11-28")),
        ];
        let flat = sequential("seq-read", measured).exactly(measured * 1e6).jitter(0.005);
        Builder::new(vec![disk("nvme1n1", "nvme", &facts)]).virtual_machine().phases([flat]).build()
    };
    let m5 = run("ebs", 81_250_000, 3600, 81.0);
    let found = diagnose::causes(&m5);
    let cause = found.iter().find(|c| c.statement.contains("what is published of")).expect("it is named");
    assert!(
        cause.statement.contains("seq-read runs evenly at 81.0 MB/s, what is published of what it is (lasting)"),
        "{cause:?}"
    );
    assert_eq!((cause.layer, cause.confidence), (LimitLayer::Throttle, Confidence::Probable));
    assert!(cause.evidence.iter().any(|e| e.source.contains("example.org")), "{cause:?}");
    holds_and_nearly("cloud-published-limit", &m5, &run("ebs", 81_250_000, 3600, 86.0));
    // A burst is told as one, and gp3's own rate without any table.
    let burst = diagnose::causes(&run("ebs", 81_250_000, 3600, 568.75));
    assert!(burst.iter().any(|c| c.statement.contains("(a burst, which ends)")), "{burst:?}");
    let gp3 = diagnose::causes(&run("ebs", 900_000_000, 3600, 131.07));
    assert!(gp3.iter().any(|c| c.statement.contains("type gp3")), "{gp3:?}");
    let google = diagnose::causes(&run("google-persistent-disk", 900_000_000, 3600, 131.07));
    assert!(!google.iter().any(|c| c.statement.contains("published")), "nothing is published of what is not seen");
    let idle = Builder::new(vec![disk("nvme1n1", "nvme", &[("cloud_volume", text("ebs"))])]).virtual_machine().build();
    unknown_for_want_of("cloud-published-limit", &idle, "seq-read.throughput_bytes_per_s");
}

#[test]
fn one_connection_is_a_hint_where_the_server_offers_more() {
    let run = |offered| {
        let options = [("smb_interfaces", Fact::Int(offered))];
        counted(share(&options).phases([sequential("seq-read", 110.0)]).build(), &[(counters::SMB_REQUESTS, 9000)])
    };
    let found = diagnose::limit(&run(2));
    assert!(
        found.statement.contains("one connection carries all (110 MB/s), and the server offers 2 interfaces"),
        "{found:?}"
    );
    assert_eq!(found.confidence, Confidence::Low);
    holds_and_nearly("smb-single-channel", &run(2), &run(1));
    unknown_for_want_of("smb-single-channel", &share(&[("smb_interfaces", Fact::Null)]).build(), "smb_interfaces");
}

#[test]
fn zfs_that_commits_each_write_has_sync_always() {
    let run = |commits| {
        let built = mount("zfs", "zfs-pool", &[("block_size_bytes", Fact::Int(131_072))]);
        let built = built.phases([sequential("seq-write", 40.0)]).build();
        counted(built, &[(counters::ZFS_WRITES, 1000), (counters::ZIL_COMMITS, commits)])
    };
    limited(&run(1000), LimitLayer::Filesystem, "ZFS commits its intent log for each write");
    holds_and_nearly("zfs-sync-always", &run(1000), &run(40));
    unknown_for_want_of("zfs-sync-always", &mount("zfs", "zfs-pool", &[]).build(), "commits of the intent log");
}

#[test]
fn records_larger_than_the_writes_are_a_hint() {
    let run = |record| {
        let phases =
            [sequential("seq-write", 200.0), random("rand-write-qd1", 900.0), random("rand-write-qd32", 1500.0)];
        mount("zfs", "zfs-pool", &[("block_size_bytes", Fact::Int(record))]).phases(phases).build()
    };
    holds_and_nearly("zfs-large-records", &run(131_072), &run(8192));
    let unknown = mount("zfs", "zfs-pool", &[("block_size_bytes", Fact::Int(131_072))]).build();
    unknown_for_want_of("zfs-large-records", &unknown, "rand-write-qd32.throughput_bytes_per_s");
}

/// File systems over something that is no device of this machine, and block devices that stand for such.
#[test]
fn what_is_no_device_is_never_called_one() {
    let phases = || with(small(500.0, 3000.0), [sequential("seq-read", 90.0), sequential("seq-write", 80.0)]);
    let on_mount = |fstype: &str, backing: &str| mount(fstype, backing, &[]).phases(phases()).build();
    let mut runs: Vec<(String, Run)> = [
        ("nfs4", "network"),
        ("cifs", "network"),
        ("ceph", "network"),
        ("9p", "host-directory"),
        ("virtiofs", "host-directory"),
        ("fuse.sshfs", "fuse"),
        ("fuse.rclone", "fuse"),
        ("zfs", "zfs-pool"),
        ("overlay", "overlay"),
    ]
    .into_iter()
    .map(|(fstype, backing)| (fstype.to_owned(), on_mount(fstype, backing)))
    .collect();
    for disk in ["zd0", "rbd1", "nbd0"] {
        let below = layer(LayerKind::Disk, disk, None, &[("rotational", Fact::Bool(false))]);
        runs.push((disk.to_owned(), Builder::new(vec![below]).phases(phases()).build()));
    }
    let fuse =
        layer(LayerKind::Filesystem, "fuseblk", None, &[("fstype", text("fuseblk")), ("backing", text("block"))]);
    let below = layer(LayerKind::Disk, "sda", None, &[("rotational", Fact::Bool(false))]);
    runs.push(("fuseblk".to_owned(), Builder::new(vec![fuse, below]).phases(phases()).build()));
    for (name, run) in &runs {
        let found = diagnose::limit(run);
        assert!(!found.statement.contains("the device") && found.layer != LimitLayer::Device, "{name}: {found:?}");
        let rows = diagnose::limits(run);
        assert!(rows.len() >= 3, "{name}: {rows:?}");
        for row in rows {
            assert!(!row.statement.contains("the device"), "{name}: {row:?}");
            assert!(name == "fuseblk" || row.layer != LimitLayer::Device, "{name}: {row:?}");
        }
    }
}
