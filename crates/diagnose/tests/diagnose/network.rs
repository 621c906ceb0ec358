//! NFS mounts: what their client counted decides, and their options. The numbers are those of lab/machines/microvm-nfs.toml.

use crate::expect::*;
use crate::run_builder::*;
use model::{Confidence, Fact, LayerKind, LimitLayer, NfsCounters, Run};

/// What the calls of a phase took, milliseconds: waiting to be sent, network and server, as a whole; and bytes of each.
struct Calls {
    phase: &'static str,
    queue: f64,
    rtt: f64,
    bytes: f64,
}

fn calls(phase: &'static str, queue: f64, rtt: f64) -> Calls {
    Calls { phase, queue, rtt, bytes: 131_072.0 }
}

pub fn mount(options: &[(&str, Fact)]) -> Builder {
    let usual = [
        ("fstype", text("nfs4")),
        ("backing", text("network")),
        ("sync_mount", Fact::Bool(false)),
        ("attributes_cached", Fact::Bool(true)),
        ("soft_mount", Fact::Bool(false)),
        ("read_only", Fact::Bool(false)),
        ("nfs_read_bytes", Fact::Int(1 << 20)),
        ("nfs_write_bytes", Fact::Int(1 << 20)),
        ("bdi_read_ahead_kb", Fact::Int(4096)),
        ("nfs_slots", Fact::Int(64)),
        ("mount_options", list(&["rw", "hard"])),
    ];
    let mut fs = layer(LayerKind::Filesystem, "nfs4", None, &usual);
    options.iter().for_each(|(name, value)| fs.set(name, value.clone()));
    Builder::new(vec![fs])
}

/// With these counters in the samples of each phase, and so many segments of TCP of which some were lost.
fn counted(mut run: Run, of: &[Calls], lost: u64) -> Run {
    let phases: Vec<(String, u64, u64, u64)> = run
        .phases
        .iter()
        .filter_map(|p| {
            let r = p.record.as_ref()?;
            Some((p.plan.name.clone(), r.started_ns, r.ended_ns, r.operations))
        })
        .collect();
    let last = run.samples.last().map_or(1, |s| s.at_ns);
    for sample in &mut run.samples {
        for (name, operation) in [("READ", "read"), ("WRITE", "write")] {
            let mut sum = NfsCounters { name: name.to_owned(), operations: 1, ..NfsCounters::default() };
            for (phase, from, to, operations) in phases.iter().filter(|p| p.0.contains(operation)) {
                let Some(took) = of.iter().find(|c| c.phase == phase) else { continue };
                let share = (sample.at_ns.clamp(*from, *to) - from) as f64 / (to - from) as f64;
                let made = (*operations as f64 * share).floor();
                sum.operations += made as u64;
                sum.transmissions = sum.operations;
                sum.queue_ms += (made * took.queue) as u64;
                sum.rtt_ms += (made * took.rtt) as u64;
                sum.execute_ms += (made * (took.queue + took.rtt)) as u64;
                sum.bytes_received += (made * took.bytes) as u64;
                sum.bytes_sent += (made * took.bytes) as u64;
            }
            sample.nfs.push(sum);
        }
        let passed = sample.at_ns as f64 / last as f64;
        sample.tcp_segments_out = Some((100_000.0 * passed) as u64);
        sample.tcp_segments_again = Some(((lost + 500) as f64 * passed) as u64);
        sample.tcp_segments_late = Some((500.0 * passed) as u64);
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
fn a_call_that_waits_to_be_sent_waits_for_a_slot() {
    let run = |queue| {
        let built = mount(&[]).phases(small(330.0, 570.0)).build();
        counted(built, &[calls("rand-read-qd1", 0.4, 1.6), calls("rand-read-qd32", queue, 2.8)], 0)
    };
    limited(&run(50.4), LimitLayer::Driver, "the client's slots: in rand-read-qd32 a call waits 50.4 ms to be sent");
    holds_and_nearly("nfs-client-slots", &run(50.4), &run(2.0));
    unknown_for_want_of("nfs-client-slots", &mount(&[]).build(), "rand-read-qd32.throughput_bytes_per_s");
}

#[test]
fn slots_hold_all_phases_alike_so_that_what_waits_beside_fewer_waits_for_something_else() {
    let run = |large_rtt| {
        let all = with(small(330.0, 570.0), [sequential("seq-read", 20.0)]);
        let of =
            [calls("rand-read-qd1", 0.4, 1.6), calls("rand-read-qd32", 50.4, 2.8), calls("seq-read", 700.0, large_rtt)];
        counted(mount(&[]).phases(all).build(), &of, 0)
    };
    // 1.6 calls in flight beside 32 operations, and 1.9 beside 8.
    let found = diagnose::limit(&run(100.0));
    assert!(found.statement.contains("about 2 of 32 are in flight, and in no phase more than 2"), "{found:?}");
    // Seven in flight of large calls: there are slots for them.
    let many = run(350.0);
    assert!(!diagnose::limit(&many).statement.contains("slots"), "{:?}", diagnose::limit(&many));
    holds_and_nearly("nfs-client-slots", &run(100.0), &many);
    // Large calls alone: many times as long as for the reply, with fewer in flight than the program has operations.
    let large = |queue, rate| {
        let built = mount(&[]).phases([sequential("seq-write", rate)]).build();
        counted(built, &[calls("seq-write", queue, 80.0)], 0)
    };
    let slots = |run: &Run| diagnose::causes(run).iter().any(|c| c.statement.contains("the client's slots"));
    assert!(slots(&large(2000.0, 20.0)));
    assert!(!slots(&large(250.0, 20.0)), "a full socket makes them wait, too");
    assert!(!slots(&large(2000.0, 200.0)), "15 in flight of 8 operations: they are pieces of them");
}

#[test]
fn what_a_machine_took_that_did_not_run_for_most_of_the_time_is_a_hint() {
    let run = |ran: f64| {
        let built = mount(&[]).phases(small(45.0, 910.0)).build();
        let of = [calls("rand-read-qd1", 0.4, 27.0), calls("rand-read-qd32", 4.0, 23.0)];
        let run = idle_but_away(counted(built, &of, 0), |_| ran);
        diagnose::limit(&run)
    };
    let (here, away) = (run(0.9), run(0.3));
    assert_eq!((here.confidence, away.confidence), (Confidence::Probable, Confidence::Low), "{away:?}");
    assert!(here.statement.contains("the round trip") && away.statement == here.statement, "{away:?}");
    let said = "share of the time for which the processors of this machine ran";
    assert!(away.evidence.iter().any(|e| e.what == said) && here.evidence.iter().all(|e| e.what != said));
}

#[test]
fn of_network_and_server_the_growth_of_a_call_tells_which_way_they_hold() {
    // A delay: a call takes as long beside others as alone.
    let built = mount(&[]).phases(with(small(45.0, 910.0), [sequential("seq-read", 138.0)])).build();
    let of = [calls("rand-read-qd1", 0.4, 27.0), calls("rand-read-qd32", 4.0, 23.0), calls("seq-read", 20.0, 40.0)];
    limited(&counted(built, &of, 0), LimitLayer::Link, "the round trip to the server: 27.0 ms");
    // A rate: large calls wait for one another.
    let built = mount(&[]).phases(with(small(400.0, 4000.0), [sequential("seq-read", 20.0)])).build();
    let of = [calls("rand-read-qd1", 0.4, 2.0), calls("rand-read-qd32", 2.0, 6.0), calls("seq-read", 150.0, 190.0)];
    limited(&counted(built, &of, 0), LimitLayer::Link, "the network or the server carries no more than 20.0 MB/s");
    // One thread: a call beside 31 others takes 32 times as long.
    let built = mount(&[]).phases(small(14.0, 14.5)).build();
    let of = [calls("rand-read-qd1", 0.9, 69.0), calls("rand-read-qd32", 49.0, 1475.0)];
    limited(&counted(built, &of, 0), LimitLayer::Filesystem, "the server answers one call after the other");
}

#[test]
fn small_transfers_and_options_are_read_from_the_mount() {
    let run = |size| {
        let built = mount(&[("nfs_write_bytes", Fact::Int(size))]).phases([sequential("seq-write", 3.8)]).build();
        counted(built, &[Calls { bytes: size as f64 + 180.0, ..calls("seq-write", 300.0, 25.0) }], 0)
    };
    limited(&run(4096), LimitLayer::Filesystem, "wsize is 4096 bytes");
    holds_and_nearly("nfs-small-transfers", &run(4096), &run(131_072));
    let noac = mount(&[("attributes_cached", Fact::Bool(false)), ("sync_mount", Fact::Bool(true))]).build();
    let sync = mount(&[("sync_mount", Fact::Bool(true))]).build();
    holds_and_nearly("nfs-attributes-uncached", &noac, &sync);
    holds_and_nearly("sync-mount", &sync, &noac);
    let soft = |read_only| mount(&[("soft_mount", Fact::Bool(true)), ("read_only", Fact::Bool(read_only))]).build();
    holds_and_nearly("nfs-soft-mount", &soft(false), &soft(true));
    unknown_for_want_of("nfs-soft-mount", &mount(&[("soft_mount", Fact::Null)]).build(), "soft_mount");
}

#[test]
fn a_sync_that_takes_many_times_a_read_waits_for_the_disk_of_the_server() {
    let run = |sync_ms| {
        let mut built = mount(&[]).phases([random("rand-read-qd1", 900.0), random("sync-write", 60.0)]).build();
        let synced = built.phases.iter_mut().find(|p| p.plan.name == "sync-write").unwrap();
        synced.plan.set_access(model::Access::Buffered);
        synced.plan.streams.iter_mut().for_each(|s| s.durability.sync = model::Sync::FdatasyncEach);
        counted(built, &[calls("rand-read-qd1", 0.1, 0.9), calls("sync-write", 0.1, sync_ms)], 0)
    };
    let found = diagnose::causes(&run(15.0));
    let cause = found.iter().find(|c| c.statement.contains("each sync is")).expect("it is named");
    assert!(cause.statement.contains("15.1 ms in sync-write, a read alone 1.0 ms"), "{}", cause.statement);
    holds_and_nearly("nfs-commit-each-sync", &run(15.0), &run(1.5));
    unknown_for_want_of("nfs-commit-each-sync", &mount(&[]).build(), "rand-read-qd1.throughput_bytes_per_s");
}

#[test]
fn a_sync_mount_is_named_by_the_time_of_its_writes() {
    let built = mount(&[("sync_mount", Fact::Bool(true))])
        .phases([sequential("seq-write", 100.0), sequential("buffered-write", 40.0)])
        .build();
    let run = counted(built, &[calls("seq-write", 1.0, 9.0), calls("buffered-write", 0.4, 13.0)], 0);
    limited(&run, LimitLayer::Filesystem, "mounted with sync: each write waits for the server (13.4 ms a call");
}

#[test]
fn read_ahead_is_small_by_what_is_in_flight_in_the_time_of_a_call_alone() {
    let run = |kb| {
        let cold = sequential("buffered-read", 16.8).own(0.0, 0.1);
        let all = with(small(78.0, 2000.0), [sequential("seq-read", 162.0), cold]);
        let built = mount(&[("bdi_read_ahead_kb", Fact::Int(kb))]).phases(all).build();
        let of = [
            calls("rand-read-qd1", 0.7, 10.8),
            calls("rand-read-qd32", 1.6, 12.1),
            calls("seq-read", 9.0, 40.0),
            calls("buffered-read", 1.1, 12.1),
        ];
        counted(built, &of, 0)
    };
    limited(
        &run(128),
        LimitLayer::PageCache,
        "read-ahead: cold buffered reads run at 16.8 MB/s against 162 MB/s direct",
    );
    holds_and_nearly("nfs-read-ahead-small", &run(128), &run(4096));
}

#[test]
fn lost_segments_are_told_from_late_ones() {
    let run =
        |lost| counted(mount(&[]).phases(small(60.0, 1500.0)).build(), &[calls("rand-read-qd1", 0.5, 19.0)], lost);
    // 500 more were sent again and had arrived.
    limited(&run(1800), LimitLayer::Link, "packets are lost: TCP sent 1800 of 100000 segments again");
    holds_and_nearly("nfs-packets-lost", &run(1800), &run(100));
    unknown_for_want_of("nfs-packets-lost", &mount(&[]).build(), "segments sent again");
}

#[test]
fn a_phase_has_the_limit_that_was_seen_in_it() {
    let phases = [sequential("seq-read", 60.0), sequential("seq-write", 3.8), sequential("other-write", 40.0)];
    let built = mount(&[("nfs_write_bytes", Fact::Int(4096))]).phases(phases).build();
    let small = Calls { bytes: 4276.0, ..calls("seq-write", 30.0, 25.0) };
    let run = counted(built, &[calls("seq-read", 1.0, 21.0), small, calls("other-write", 30.0, 4.0)], 0);
    limited(&run, LimitLayer::Filesystem, "wsize is 4096 bytes: each operation of 1.05 MB in seq-write");
    let found = diagnose::limits_of_phases(&run, ["seq-write", "seq-read", "other-write", "layout", "none"]);
    let said: Vec<_> = found.iter().map(|f| f.as_ref().map(|f| (f.limit.layer, f.limit.statement.as_str()))).collect();
    assert_eq!(said[0].map(|s| s.1), Some(run_limit(&run).as_str()), "the run's is of its write");
    // Those two have what their own calls waited for, and only as a hint.
    let (read, other) = (said[1].expect("a limit"), said[2].expect("a limit"));
    assert_eq!(read, (LimitLayer::Link, "21.0 ms of each READ of 22.0 ms are network and server"));
    assert_eq!(other.0, LimitLayer::Driver, "{other:?}");
    assert!(other.1.contains("30.0 ms of each WRITE of 34.0 ms are waiting to be sent"), "{other:?}");
    assert_eq!(said[3..], [None, None], "a layout measures nothing, and there is no phase of that name");
    let calls = found[1].as_ref().and_then(|f| f.calls.clone()).expect("the client counts them");
    assert_eq!((calls.operation.as_str(), calls.server_ms.round()), ("READ", 21.0));
    // Without counters of a client the row of its work is what there is.
    let plain = mount(&[]).phases([sequential("seq-read", 60.0)]).build();
    let found = diagnose::limits_of_phases(&plain, ["seq-read"]);
    assert!(found[0].as_ref().is_some_and(|f| f.calls.is_none()), "{found:?}");
}

fn run_limit(run: &Run) -> String {
    diagnose::limit(run).statement
}

#[test]
fn what_lies_elsewhere_is_never_called_the_device() {
    for (fstype, backing) in
        [("nfs4", "network"), ("9p", "host-directory"), ("fuse.sshfs", "fuse"), ("zfs", "zfs-pool")]
    {
        let fs = layer(LayerKind::Filesystem, fstype, None, &[("fstype", text(fstype)), ("backing", text(backing))]);
        let run = Builder::new(vec![fs]).phases(with(small(500.0, 3000.0), [sequential("seq-read", 90.0)])).build();
        let rows = diagnose::limits(&run);
        assert!(rows.len() >= 3, "{fstype}: {rows:?}");
        for row in &rows {
            assert_ne!(row.layer, LimitLayer::Device, "{fstype}: {row:?}");
            assert!(!row.statement.contains("the device"), "{fstype}: {row:?}");
        }
        assert!(!diagnose::limit(&run).statement.contains("the device"));
    }
}
