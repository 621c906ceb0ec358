//! The check-up's plan through the real loop on simulated targets: every phase must give the model's truth, and the
//! observer's samples must agree with the records.

use engine::{Control, Rig, SimRig, SimTruth};
use model::{
    Access, ColdProof, DataProof, DirectProof, DiskCounters, Ns, PhasePlan, PhaseRecord, Plan, SimModel, StopCause,
    Sync, SystemSample, TargetKind, cpu_share_total, disk_rate,
};

const S: Ns = 1_000_000_000;

/// A phase as it ran: the samples around it are those of its start, of every 250 ms, and of its end.
struct Ran {
    plan: PhasePlan,
    record: PhaseRecord,
    samples: Vec<SystemSample>,
}

struct Check {
    model: SimModel,
    rig: SimRig,
    ran: Vec<Ran>,
}

impl Check {
    fn phase(&self, name: &str) -> &Ran {
        self.ran.iter().find(|r| r.plan.name == name).unwrap_or_else(|| panic!("no phase {name}"))
    }
}

fn plan(rig: &SimRig, budget: Ns, probe_bytes_per_s: Option<f64>) -> Plan {
    let workload = spec::built_in("check", &[("budget".into(), format!("{}ms", budget / 1_000_000))]).unwrap();
    workload
        .plan(&spec::RunInputs {
            kind: TargetKind::Sim,
            readiness: spec::Readiness::Writable,
            max_bytes: rig.max_bytes(),
            sector_bytes: 512,
            memory_bytes: None,
            seed: 1,
            probe: spec::Probe { bytes_per_s: probe_bytes_per_s, ..spec::Probe::default() },
            packages: None,
        })
        .unwrap()
}

fn check(text: &str, budget: Ns) -> Check {
    let model = spec::parse_sim(text).unwrap_or_else(|e| panic!("{e}"));
    let mut rig = SimRig::new(model.clone(), S / 10);
    let control = Control::default();
    let probe = rig.probe_write(64 << 20, S / 4, &control).unwrap();
    let plan = plan(&rig, budget, probe.bytes_per_s());
    let mut ran = Vec::new();
    for phase in plan.phases.iter().filter(|p| p.skip.is_none()) {
        rig.idle(plan.quiet_ns, &control);
        rig.take_simulated_samples();
        let mut samples = vec![rig.simulated_sample().unwrap()];
        let record = rig.run(phase, &control).unwrap_or_else(|e| panic!("{text} {}: {e}", phase.name));
        samples.extend(rig.take_simulated_samples());
        samples.push(rig.simulated_sample().unwrap());
        rig.flush().unwrap();
        ran.push(Ran { plan: phase.clone(), record, samples });
    }
    Check { model, rig, ran }
}

/// Bytes per second of a phase after its warm-up, as a judge takes them: rounds where there are rounds, else all between
/// the cut and the end.
fn rate(ran: &Ran) -> f64 {
    let r = &ran.record;
    if ran.plan.streams.first().is_some_and(|s| s.durability.sync == Sync::FsyncPerRound) {
        let (bytes, ns) = r.rounds.iter().fold((0, 0), |(b, n), x| (b + x.bytes, n + x.write_ns + x.sync_ns));
        return bytes as f64 * 1e9 / ns as f64;
    }
    (r.bytes - r.warmup.bytes) as f64 * 1e9 / (r.duration_ns() - r.warmup.cut_ns) as f64
}

fn near(got: f64, truth: f64, within: f64, what: &str) {
    assert!((got / truth - 1.0).abs() < within, "{what}: measured {got:.1}, truth {truth:.1}");
}

#[test]
fn every_phase_of_a_check_gives_the_truth() {
    for name in spec::sim_models().unwrap().iter().map(|m| m.name.clone()) {
        for jitter in [true, false] {
            let text = if jitter { name.clone() } else { format!("{name},jitter=0") };
            let check = check(&text, 60 * S);
            for ran in check.ran.iter().filter(|r| r.plan.measures_target()) {
                let stream = &ran.plan.streams[0];
                let truth =
                    SimTruth::of(&check.model, stream.blocks().unwrap(), ran.plan.access, ran.record.started_ns);
                let what =
                    format!("{text} {} ({:?}, {} operations)", ran.plan.name, truth.limit, ran.record.operations);
                assert!(ran.record.errors.is_empty() && ran.record.short_operations == 0, "{what}");
                // The mean of n operations is known to sigma / sqrt(n); one operation at either end is cut.
                let n = (ran.record.operations as f64).max(1.0);
                let edges = f64::from(stream.path.queue_depth) / n;
                let within = 0.02 + 4.0 * check.model.media.jitter_sigma / n.sqrt() + edges;
                near(rate(ran), truth.bytes_per_s, within, &what);
                if let (Some(latency), true) = (truth.latency_ns_mean, n > 100.0) {
                    near(ran.record.latency.mean().unwrap(), latency, within + 0.02, &what);
                }
            }
        }
    }
}

#[test]
fn the_copy_is_the_memorys() {
    let check = check("sata-ssd", 20 * S);
    // The whole of it: nothing warms up in a simulated memory.
    let record = &check.phase("copy").record;
    near(record.bytes as f64 * 1e9 / record.duration_ns() as f64, 9e9, 0.001, "copy");
    assert_eq!(record.usage.user_ns, record.duration_ns());
}

#[test]
fn proofs_say_simulated_and_are_only_where_they_belong() {
    let check = check("a1-card,resident=64KiB", 60 * S);
    for ran in &check.ran {
        let direct = ran.plan.access == Access::Direct && !ran.plan.copies_memory();
        let proven = matches!(&ran.record.direct, Some(DirectProof::Proven(basis)) if basis == "simulated");
        assert_eq!(proven, direct, "{}", ran.plan.name);
        let reads = !ran.plan.is_write() && ran.plan.measures_target();
        assert_eq!(matches!(ran.record.data, Some(DataProof::Real(_))), reads, "{}", ran.plan.name);
    }
    let cold = check.phase("buffered-read").record.cold.clone();
    assert!(matches!(cold, Some(ColdProof { resident_pages_before: Some(16), .. })), "{cold:?}");
}

#[test]
fn the_same_check_twice_is_identical() {
    let (a, b) = (check("sata-ssd,stall-period=7s", 20 * S), check("sata-ssd,stall-period=7s", 20 * S));
    for (x, y) in a.ran.iter().zip(&b.ran) {
        assert!(x.record == y.record, "{}", x.plan.name);
        assert!(x.samples == y.samples, "{}", x.plan.name);
    }
    assert_eq!(a.rig.bytes_written(), b.rig.bytes_written());
}

fn disk(sample: &SystemSample) -> &DiskCounters {
    sample.disks.last().unwrap()
}

#[test]
fn samples_come_every_quarter_second_and_agree_with_the_records() {
    for name in ["class4-card", "a1-card", "sata-ssd", "nvme"] {
        let check = check(name, 60 * S);
        let counted: Vec<String> =
            check.rig.stack().layers.iter().filter(|l| l.counted).map(|l| l.name.clone()).collect();
        for ran in check.ran.iter().filter(|r| r.plan.measures_target()) {
            let what = format!("{name} {}", ran.plan.name);
            let (first, last) = (&ran.samples[0], ran.samples.last().unwrap());
            assert_eq!(first.disks.iter().map(|d| d.name.clone()).collect::<Vec<_>>(), counted, "{what}");
            let inner = &ran.samples[1..ran.samples.len() - 1];
            assert!(inner.iter().all(|s| s.at_ns % (S / 4) == 0), "{what}");
            assert!(inner.windows(2).all(|w| w[1].at_ns - w[0].at_ns == S / 4), "{what}");
            let elapsed = last.at_ns - first.at_ns;
            let traffic = disk_rate(disk(first), disk(last), elapsed).unwrap();
            let ours = if ran.plan.is_write() { traffic.write_bytes } else { traffic.read_bytes };
            if ran.plan.access == Access::Direct {
                assert_eq!(ours, ran.record.bytes, "{what}");
            } else {
                // Read-ahead runs ahead by at most two windows; an unfinished round is still in memory.
                let slack =
                    ran.plan.streams[0].durability.round_bytes.unwrap_or(0) + 2 * check.model.host.read_ahead_bytes;
                assert!(ours.abs_diff(ran.record.bytes) <= slack, "{what}: {ours} for {}", ran.record.bytes);
            }
            assert!(traffic.busy_ratio > 0.3 || ran.plan.access == Access::Buffered, "{what}: {traffic:?}");
            let backwards = |a: &model::CpuTicks, b: &model::CpuTicks| b.iowait < a.iowait || b.total() < a.total();
            for pair in ran.samples.windows(2) {
                let cpus = pair[0].cpus.iter().zip(&pair[1].cpus);
                assert!(cpus.clone().all(|(a, b)| !backwards(a, b)), "{what}: {pair:?}");
            }
            for pair in ran.samples.windows(2).filter(|w| w[1].at_ns > w[0].at_ns) {
                assert!(disk_rate(disk(&pair[0]), disk(&pair[1]), pair[1].at_ns - pair[0].at_ns).is_some(), "{what}");
            }
            // The machine's processor time is the workers', but for writeback, which has a thread of its own.
            let cpus = check.model.host.cpus as f64;
            let share = cpu_share_total(first, last).unwrap();
            let seconds = elapsed as f64 / 1e9;
            let usage = (ran.record.usage.user_ns + ran.record.usage.system_ns) as f64 / 1e9;
            assert!((share.busy() * cpus * seconds - usage).abs() < 0.05 + 0.02 * seconds, "{what}: {share:?} {usage}");
        }
    }
}

#[test]
fn a_busy_processor_shows_where_the_copy_is_the_limit() {
    let check = check("sata-ssd,page-cache=80MB/s", 60 * S);
    let (buffered, direct) = (check.phase("buffered-write"), check.phase("seq-write"));
    assert!(rate(buffered) < 0.3 * rate(direct));
    let busiest = |ran: &Ran| {
        let (a, b) = (&ran.samples[0].cpus[0], &ran.samples.last().unwrap().cpus[0]);
        model::cpu_share(a, b).unwrap().busy()
    };
    assert!(busiest(buffered) > 0.85, "{}", busiest(buffered));
    assert!(busiest(direct) < 0.1, "{}", busiest(direct));
}

#[test]
fn quiet_windows_show_others_and_nothing_of_ours() {
    let control = Control::default();
    let window = |text: &str| {
        let mut rig = SimRig::new(spec::parse_sim(text).unwrap(), S / 10);
        let phases = plan(&rig, 30 * S, Some(30e6)).phases;
        rig.run(phases.iter().find(|p| p.name == "buffered-write").unwrap(), &control).unwrap();
        rig.flush().unwrap();
        let before = rig.simulated_sample().unwrap();
        rig.idle(S, &control);
        let after = rig.simulated_sample().unwrap();
        assert_eq!(after.at_ns - before.at_ns, S);
        disk_rate(disk(&before), disk(&after), S).unwrap()
    };
    let alone = window("emmc");
    assert_eq!((alone.operations, alone.write_bytes), (0, 0));
    let shared = window("emmc,foreign=0.5");
    near(shared.write_bytes_per_s, 0.5 * 32.296e6, 0.02, "foreign bytes");
    near(shared.busy_ratio, 0.5, 0.02, "foreign time");
}

#[test]
fn a_layout_that_runs_out_of_time_leaves_a_smaller_region() {
    let control = Control::default();
    let mut rig = SimRig::new(spec::parse_sim("class4-card").unwrap(), S / 10);
    let plan = plan(&rig, 60 * S, None);
    let mut layout = plan.phase("layout").unwrap().clone();
    layout.time_limit_ns = 3 * S;
    let record = rig.run(&layout, &control).unwrap();
    assert_eq!(record.stop, StopCause::TimeUsed);
    let readable = rig.readable_bytes();
    assert!(
        readable < layout.streams[0].blocks().unwrap().block.region_bytes && (29 << 20..=38 << 20).contains(&readable),
        "{readable}"
    );
    let read = rig.run(plan.phase("seq-read").unwrap(), &control).unwrap();
    assert!(matches!(&read.data, Some(DataProof::Real(basis)) if basis.contains("clipped")), "{:?}", read.data);
}

#[test]
fn faults_end_a_phase_and_are_counted_by_errno() {
    let control = Control::default();
    let mut rig = SimRig::new(spec::parse_sim("nvme,eio-start=8MiB,eio-length=4KiB").unwrap(), S / 10);
    let plan = plan(&rig, 60 * S, Some(1e9));
    let record = rig.run(plan.phase("seq-read").unwrap(), &control).unwrap();
    assert_eq!(record.stop, StopCause::Failed);
    assert_eq!(record.errors.get("EIO"), Some(&1), "{:?}", record.errors);
    assert!(record.operations > 0);
}

#[test]
fn stalls_are_kept_as_zero_intervals() {
    let control = Control::default();
    let mut rig = SimRig::new(spec::parse_sim("nvme,stall-period=1s,stall-duration=350ms").unwrap(), S / 10);
    let plan = plan(&rig, 60 * S, Some(1e9));
    let record = rig.run(plan.phase("rand-write-qd1").unwrap(), &control).unwrap();
    let zeros = record.intervals.iter().filter(|i| i.operations == 0 && i.length_ns == S / 10).count();
    let seconds = (record.duration_ns() / S) as usize;
    assert!(zeros >= 2 * (seconds - 1) && zeros <= 4 * (seconds + 1), "{zeros} zeros in {seconds} s");
    assert!(record.latency.max().unwrap() >= 350_000_000);
}

#[test]
fn throttling_shows_in_rate_temperature_and_state() {
    let control = Control::default();
    let text = "nvme,jitter=0,throttle-start=2s,throttle-ramp=500ms,throttle-factor=0.5";
    let mut rig = SimRig::new(spec::parse_sim(text).unwrap(), S / 10);
    let mut phase = plan(&rig, 60 * S, Some(1e9)).phase("seq-write").unwrap().clone();
    phase.time_limit_ns = 5 * S;
    let record = rig.run(&phase, &control).unwrap();
    let mean = |from: Ns, to: Ns| {
        let inside = record.intervals.iter().filter(|i| i.start_ns >= from && i.start_ns < to);
        let (bytes, n) = inside.fold((0, 0), |(b, n), i| (b + i.bytes, n + 1));
        bytes as f64 / f64::from(n)
    };
    near(mean(3 * S, 5 * S) / mean(S / 2, 2 * S), 0.5, 0.02, "throttled");
    let samples = rig.take_simulated_samples();
    let at = |ns: Ns| samples.iter().find(|s| s.at_ns == ns).unwrap();
    assert_eq!(at(S).throttle.cooling_state, Some(0));
    assert_eq!(at(4 * S).throttle.cooling_state, Some(1));
    assert_eq!(at(4 * S).temperatures[0].millidegrees_c, 80_000);
    assert!(at(S).temperatures[0].millidegrees_c < 65_000);
}

#[test]
fn several_streams_share_one_device() {
    let control = Control::default();
    let mut rig = SimRig::new(spec::parse_sim("nvme,jitter=0").unwrap(), S / 10);
    let mut phase = plan(&rig, 60 * S, Some(1e9)).phase("rand-read-qd1").unwrap().clone();
    phase.time_limit_ns = S;
    let one = rig.run(&phase, &control).unwrap().operations as f64;
    let mut other = phase.streams[0].clone();
    other.seed += 1;
    phase.streams = vec![phase.streams[0].clone(), other.clone(), other];
    near(rig.run(&phase, &control).unwrap().operations as f64 / one, 3.0, 0.02, "three streams of depth 1");
}

#[test]
fn a_stop_is_heard_and_what_was_measured_is_kept() {
    let control = Control::default();
    let mut rig = SimRig::new(spec::parse_sim("emmc").unwrap(), S / 10);
    let plan = plan(&rig, 60 * S, Some(30e6));
    control.stop();
    let record = rig.run(plan.phase("seq-read").unwrap(), &control).unwrap();
    assert_eq!(record.stop, StopCause::Interrupted);
    let now = rig.now();
    rig.idle(S, &control);
    assert_eq!(rig.now(), now);
}

#[test]
fn the_stack_shows_what_a_finding_needs() {
    let stack = |text: &str| SimRig::new(spec::parse_sim(text).unwrap(), S / 10).stack();
    let card = stack("a2-card-no-queue");
    let disk = card.first(model::LayerKind::Disk).unwrap();
    assert_eq!(disk.text("mmc_type"), Some("SD"));
    assert_eq!(disk.int("app_performance_class"), Some(2));
    assert_eq!(disk.int("queue_depth"), Some(1));
    assert_eq!(disk.fact("cmdq_en"), None);
    assert_eq!(card.lowest_counted().iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["mmcblk1"]);
    let link = card.first(model::LayerKind::Link).unwrap();
    assert_eq!((link.text("bus_mode"), link.int("clock_hz")), (Some("sdr104"), Some(150_000_000)));
    assert_eq!(card.lowest_ceiling().map(|l| l.ceiling_bytes_per_s), Some(Some(75_000_000)));
    let emmc = stack("emmc,host-queue=32");
    assert_eq!(emmc.first(model::LayerKind::Disk).unwrap().bool("cmdq_en"), Some(true));
    assert_eq!(stack("sata-ssd").first(model::LayerKind::Disk).unwrap().bool("ncq"), Some(true));
    assert!(stack("nvme,filesystem=none").mount.is_none());
}
