//! Findings that rest on what was measured: a run that triggers each, one that nearly does, and what is missing.

use crate::expect::*;
use crate::run_builder::*;
use model::{Access, Better, BufferPages, Confidence, CopyMethod, CopyPlan, Fact, Metric, Run, StreamKind, Unit};

/// The camera recorder: 80 MB/s through the page cache on a disk that takes 220, the thread in the kernel all the time.
#[test]
fn buffered_recording() {
    let id = "buffered-write-cpu-bound";
    let run = |system, direct: Option<f64>| {
        let slow = sequential("buffered-write", 80.0).own(0.02, system).cpu(0.02, system, 0.0);
        Builder::new(sata()).phase(slow).phases(direct.map(|d| sequential("seq-write", d))).build()
    };
    holds_and_nearly(id, &run(0.95, Some(220.0)), &run(0.3, Some(220.0)));
    // As fast as the disk: a busy thread costs nothing.
    holds_and_nearly(id, &run(0.95, None), &run(0.95, Some(82.0)));
    let found = finding(&run(0.95, Some(220.0)), id).unwrap();
    assert_eq!(found.confidence, Confidence::Probable);
    assert!((2.7..2.8).contains(&found.gain.unwrap().at_most_ratio.unwrap()));
    assert_eq!(finding(&run(0.95, None), id).unwrap().gain, None);
    unknown_for_want_of(id, &stack(sata()), "buffered-write.throughput_bytes_per_s");
}

#[test]
fn write_cache_exhausted() {
    let id = "write-cache-exhausted";
    let run = |phase: Phase| Builder::new(sata()).phase(phase).build();
    let falls = || sequential("seq-write", 400.0).falls(20, 0.25);
    holds_and_nearly(id, &run(falls()), &run(sequential("seq-write", 400.0)));
    // Throttling at the same time explains it better.
    holds_and_nearly(id, &run(falls()), &run(falls().throttled(18, 0x4)));
    unknown_for_want_of(id, &run(falls().refused()), "seq-write.throughput_bytes_per_s");
}

fn with_metric(mut run: Run, id: &str, unit: Unit, value: f64) -> Run {
    run.phases[0].metrics.push(Metric::measured(id, unit, Some(Better::Lower), value, 1000));
    run
}

#[test]
fn writeback_throttled() {
    let id = "writeback-throttled";
    let run = |target_us: i64, median_ns, access| {
        let drive = disk("sda", "sata", &[("wbt_lat_usec", Fact::Int(target_us))]);
        let mut run = Builder::new(vec![drive]).phase(random("mix", 5000.0)).build();
        run.phases[0].plan.set_access(access);
        let run = with_metric(run, "mix.write.iops", Unit::OpsPerS, 2000.0);
        with_metric(run, "mix.read.latency_ns_p50", Unit::Ns, median_ns)
    };
    holds_and_nearly(id, &run(2000, 5e6, Access::Buffered), &run(2000, 5e5, Access::Buffered));
    holds_and_nearly(id, &run(2000, 5e6, Access::Buffered), &run(0, 5e6, Access::Buffered));
    unknown_for_want_of(id, &run(2000, 5e6, Access::Direct), "a phase that reads and writes at once");
}

#[test]
fn processor_throttled() {
    let id = "processor-throttled";
    let run = |before, after| {
        let mut run = Builder::new(sata()).phase(sequential("seq-read", 300.0)).build();
        run.environment.architecture = Some("x86_64".into());
        let last = run.samples.len() - 1;
        run.samples[0].throttle.x86_throttle_events = Some(before);
        run.samples[last].throttle.x86_throttle_events = Some(after);
        run
    };
    holds_and_nearly(id, &run(10, 40), &run(10, 10));
    let mut board = Builder::new(sata()).phase(sequential("seq-read", 300.0)).build();
    board.environment.architecture = Some("aarch64".into());
    holds_and_nearly(id, &run(10, 40), &board);
    assert_eq!(finding(&run(10, 40), id).unwrap().confidence, Confidence::Low);
    let mut unseen = run(10, 40);
    unseen.samples.clear();
    unknown_for_want_of(id, &unseen, "system samples");
}

#[test]
fn interrupts_on_one_processor() {
    let id = "interrupts-on-one-processor";
    let run = |spread: bool, irq| {
        let mut run = Builder::new(sata()).phase(random("rand-read-qd32", 50_000.0).cpu(0.1, 0.2, irq)).build();
        let n = run.samples.len() as u64;
        for (i, sample) in run.samples.iter_mut().enumerate() {
            let one = i as u64 * 10_000;
            sample.interrupts_by_cpu = if spread { vec![one; 4] } else { vec![one, 100, 100, 100] };
        }
        assert!(n > 2);
        run
    };
    holds_and_nearly(id, &run(false, 0.6), &run(true, 0.6));
    // All on one, but it has next to nothing to do.
    holds_and_nearly(id, &run(false, 0.6), &run(false, 0.02));
    let mut unseen = run(false, 0.6);
    unseen.samples.iter_mut().for_each(|s| s.interrupts_by_cpu.clear());
    unknown_for_want_of(id, &unseen, "interrupts_by_cpu");
}

/// Two reads alike but for their pages, on a queue of so many segments; the disk counted so many requests an operation.
fn reads_by_pages(segments: i64, huge: f64, ordinary: Option<f64>, requests: u64) -> Run {
    let limits = [("max_segments", Fact::Int(segments)), ("max_sectors_kb", Fact::Int(4096))];
    let drive = disk("vda", "virtio", &limits);
    let phases = [("seq-read", Some(huge)), ("seq-read-pages", ordinary)];
    let phases = phases.into_iter().filter_map(|(name, rate)| Some(sequential(name, rate?)));
    let mut run = Builder::new(vec![drive]).phases(phases).build();
    for phase in &mut run.phases {
        let in_pages = phase.plan.name.ends_with("pages");
        phase.plan.streams[0].path.buffers.pages = if in_pages { BufferPages::Ordinary } else { BufferPages::Huge };
        let record = phase.record.as_mut().unwrap();
        if !in_pages {
            record.engine.features.push("huge-page-buffers".to_owned());
        }
    }
    let operations: u64 = run.phases[0].record.as_ref().unwrap().operations;
    let (first, last) =
        (run.phases[0].record.as_ref().unwrap().started_ns, run.phases[0].record.as_ref().unwrap().ended_ns);
    for sample in &mut run.samples {
        let share = (sample.at_ns.saturating_sub(first) as f64 / (last - first) as f64).min(1.0);
        for counters in &mut sample.disks {
            counters.reads = (share * (operations * requests) as f64) as u64;
        }
    }
    run
}

#[test]
fn split_requests() {
    let id = "split-requests";
    let run = |segments, ordinary| reads_by_pages(segments, 2400.0, ordinary, 1);
    // 254 segments of 4 KiB do not hold 1 MiB, 256 do.
    holds_and_nearly(id, &run(254, Some(1100.0)), &run(256, Some(1100.0)));
    holds_and_nearly(id, &run(254, Some(1100.0)), &run(254, Some(2390.0)));
    let found = finding(&run(254, Some(1100.0)), id).unwrap();
    assert_eq!((found.confidence, found.gain.unwrap().at_most_ratio), (Confidence::High, Some(2.18)));
    // Without the pair the requests that the disk counted tell, or a queue so short that everything is split.
    holds_and_nearly(id, &reads_by_pages(254, 1100.0, None, 2), &reads_by_pages(254, 1100.0, None, 1));
    holds_and_nearly(id, &reads_by_pages(1, 100.0, None, 1), &run(254, None));
    let found = finding(&reads_by_pages(254, 1100.0, None, 2), id).unwrap();
    assert_eq!((found.confidence, found.gain), (Confidence::Probable, None));
    let limit = vec![disk("vda", "virtio", &[("max_segments", Fact::Int(254))])];
    unknown_for_want_of(id, &stack(limit), "max_sectors_kb");
}

/// NOR flash of the study on a bus of 32 bit, 150 ns an access: by bytes, and by words, as a mapping of it tells.
#[test]
fn kernel_copies_narrowly() {
    let id = "kernel-copies-narrowly";
    let run = |kernel_width: f64, system| {
        let plain = [1, 2, 4, 8].map(|w: u32| {
            let rate = f64::from(w.min(4)) / 150e-9 / 1e6;
            (CopyMethod::Plain(w), 4096, sequential(&format!("read-{w}"), rate).own(0.95, 0.0))
        });
        let calls = [4096, 16_384, 65_536].map(|bytes: u32| {
            let ns = 2000.0 + f64::from(bytes) / kernel_width * 150.0;
            let phase = sequential(&format!("read-call-{bytes}"), f64::from(bytes) / ns * 1e3);
            (CopyMethod::Call, bytes, phase.own(0.0, system))
        });
        let (kinds, phases): (Vec<_>, Vec<_>) =
            plain.into_iter().chain(calls).map(|(by, bytes, phase)| ((by, bytes), phase)).unzip();
        let mut run = Builder::new(sata()).phases(phases).build();
        for (phase, (copy_by, copy_bytes)) in run.phases.iter_mut().zip(kinds) {
            let copied = CopyPlan { copy_by, copy_bytes, ..CopyPlan::default() };
            phase.plan.streams[0].kind = StreamKind::Copy(copied);
        }
        run
    };
    holds_and_nearly(id, &run(1.0, 0.98), &run(4.0, 0.98));
    // A thread that waits for the device is not held back by its copy.
    holds_and_nearly(id, &run(1.0, 0.98), &run(1.0, 0.5));
    let gain = finding(&run(1.0, 0.98), id).unwrap().gain.unwrap().at_most_ratio.unwrap();
    assert!((3.9..4.1).contains(&gain), "{gain}");
}

#[test]
fn burst_credit_spent() {
    let id = "burst-credit-spent";
    let run = |read: f64| {
        let write = sequential("seq-write", 400.0).exactly(400e6).falls(20, 0.25);
        let read = sequential("seq-read", read).exactly(read * 1e6);
        Builder::new(vec![disk("vda", "virtio", &[])]).phases([write, read]).build()
    };
    let steady = Builder::new(vec![disk("vda", "virtio", &[])]).phases([sequential("seq-write", 400.0)]).build();
    holds_and_nearly(id, &run(100.0), &steady);
    assert!(finding(&run(300.0), id).is_some_and(|f| f.confidence == Confidence::Low), "one way only");
    unknown_for_want_of(id, &stack(vec![disk("vda", "virtio", &[])]), "seq-write.throughput_bytes_per_s");
    assert_eq!(missing(&stack(sata()), id), None, "no virtual disk");
}

#[test]
fn ebs_limit_exceeded() {
    let id = "ebs-limit-exceeded";
    let ebs = |facts: &[(&str, Fact)]| {
        let mut volume = disk("nvme1n1", "nvme", facts);
        volume.set("model", "Amazon Elastic Block Store");
        let mut run = stack(vec![volume]);
        run.duration_ns = 60_000_000_000;
        run
    };
    let counted = |us: i64| ebs(&[("ebs_volume_iops_exceeded_run_us", Fact::Int(us))]);
    holds_and_nearly(id, &counted(30_000_000), &counted(0));
    assert_eq!(finding(&counted(30_000_000), id).unwrap().confidence, Confidence::High);
    unknown_for_want_of(id, &ebs(&[]), "ebs_volume_iops_exceeded_run_us");
    assert_eq!(missing(&stack(sata()), id), None);
}
