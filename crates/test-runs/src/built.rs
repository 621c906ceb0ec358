//! Runs as `check` would leave them: phases with series and metrics, samples of the machine, a stack.

use crate::INTERVAL_NS;
use model::{
    Access, Better, CpuModel, CpuTicks, DirectProof, DiskCounters, EngineKind, Fact, Interval, Layer, LayerKind,
    Metric, NS_PER_S, Operation, Order, PhaseKind, PhasePlan, PhaseRecord, PhaseRun, PhaseStatus, QuietWindow, Round,
    Run, Sync, SystemSample, ThrottleState, Unit, WorkerUsage,
};

const PHASE_NS: u64 = 5 * NS_PER_S;
const QUIET_NS: u64 = NS_PER_S / 2;

/// What the processors did during a phase, shares of one processor each.
#[derive(Clone, Copy, Default)]
pub struct Cpu {
    pub user: f64,
    pub system: f64,
    pub irq: f64,
    pub steal: f64,
}

#[derive(Clone)]
pub struct Phase {
    name: String,
    /// Rate of each window of 100 ms, bytes per second.
    rates: Vec<f64>,
    block: u64,
    depth: u32,
    cpu: Cpu,
    own: (f64, f64),
    latency_ns: Option<f64>,
    direct: Option<DirectProof>,
    throttle_bits_from: Option<(usize, u32)>,
    foreign: f64,
    refused: bool,
    /// Half-width of the interval of the throughput, share of the value.
    noise: f64,
    copying: f64,
    /// The first round of buffered writes is so many times as fast as the others.
    fast_round: f64,
}

impl Phase {
    fn write(&self) -> bool {
        self.name.contains("write") || self.name == "layout"
    }

    fn plan(&self) -> PhasePlan {
        let operation = if self.write() { Operation::Write } else { Operation::Read };
        let order = if self.block == 4096 { Order::Random } else { Order::Sequential };
        let sync = if self.name == "buffered-write" { Sync::FsyncPerRound } else { Sync::None };
        let mut stream = crate::synced(crate::stream(operation, order, self.block, self.depth), sync, 64 << 20);
        stream.block_mut().region_bytes = 1 << 30;
        let access = if self.direct.is_some() { Access::Direct } else { Access::Buffered };
        PhasePlan {
            kind: if self.name == "layout" { PhaseKind::Layout } else { PhaseKind::Measure },
            engine: match self.name.as_str() {
                "copy" => EngineKind::Memory,
                "buffered-write" => EngineKind::Psync,
                _ => EngineKind::IoUring,
            },
            cold: self.name == "buffered-read",
            ..crate::plan(&self.name, access, vec![stream])
        }
    }

    pub fn cpu(mut self, user: f64, system: f64, irq: f64) -> Self {
        self.cpu = Cpu { user, system, irq, steal: self.cpu.steal };
        self
    }

    pub fn steal(mut self, steal: f64) -> Self {
        self.cpu.steal = steal;
        self
    }

    /// Our own user and system time, shares of one processor.
    pub fn own(mut self, user: f64, system: f64) -> Self {
        self.own = (user, system);
        self
    }

    pub fn fallback(mut self, basis: &str) -> Self {
        self.direct = Some(DirectProof::Fallback(basis.into()));
        self
    }

    /// The same rate in each window.
    pub fn exactly(mut self, bytes_per_s: f64) -> Self {
        self.rates.iter_mut().for_each(|r| *r = bytes_per_s);
        self
    }

    /// The rate falls to a share of itself at a window.
    pub fn falls(mut self, window: usize, to: f64) -> Self {
        self.rates[window..].iter_mut().for_each(|r| *r *= to);
        self
    }

    /// Nothing completes for so many windows.
    pub fn still(mut self, window: usize, windows: usize) -> Self {
        self.rates[window..window + windows].iter_mut().for_each(|r| *r = 0.0);
        self
    }

    /// The rate slides in a line to a share of itself.
    pub fn slides(mut self, to: f64) -> Self {
        let n = self.rates.len() as f64;
        self.rates.iter_mut().enumerate().for_each(|(i, r)| *r *= 1.0 - (1.0 - to) * i as f64 / n);
        self
    }

    /// Jitter of the windows: a fixed pattern, so that runs are the same each time.
    pub fn jitter(mut self, share: f64) -> Self {
        self.rates.iter_mut().enumerate().for_each(|(i, r)| {
            let pattern = ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
            *r *= 1.0 + share * pattern;
        });
        self
    }

    pub fn throttled(mut self, from_window: usize, bits: u32) -> Self {
        self.throttle_bits_from = Some((from_window, bits));
        self
    }

    /// Others' traffic in the quiet windows, share of the phase's own rate.
    pub fn foreign(mut self, share: f64) -> Self {
        self.foreign = share;
        self
    }

    pub fn refused(mut self) -> Self {
        self.refused = true;
        self
    }

    pub fn noise(mut self, share: f64) -> Self {
        self.noise = share;
        self
    }

    pub fn fast_round(mut self, ratio: f64) -> Self {
        self.fast_round = ratio;
        self
    }

    pub fn latency_ns(mut self, mean: f64) -> Self {
        self.latency_ns = Some(mean);
        self
    }
}

/// A sequential phase at a rate in MB/s.
pub fn sequential(name: &str, mb_s: f64) -> Phase {
    let buffered = name.starts_with("buffered") || name == "copy";
    Phase {
        name: name.into(),
        rates: vec![mb_s * 1e6; (PHASE_NS / INTERVAL_NS) as usize],
        block: 1 << 20,
        depth: if buffered { 1 } else { 8 },
        cpu: Cpu { system: 0.05, ..Cpu::default() },
        own: (0.01, 0.03),
        latency_ns: None,
        direct: (!buffered).then(|| DirectProof::Proven("test".into())),
        throttle_bits_from: None,
        foreign: 0.0,
        refused: false,
        noise: 0.02,
        copying: 0.6,
        fast_round: 1.0,
    }
    .jitter(0.05)
}

/// A random 4 KiB phase, of the depth that its name ends with.
pub fn random(name: &str, iops: f64) -> Phase {
    let depth = name.rsplit_once("qd").and_then(|(_, depth)| depth.parse().ok()).unwrap_or(1);
    Phase {
        block: 4096,
        depth,
        latency_ns: Some(f64::from(depth) / iops * 1e9),
        ..sequential(name, iops * 4096.0 / 1e6)
    }
}

/// Builds a run step by step.
pub struct Builder {
    pub run: Run,
    clock_ns: u64,
    ticks: Vec<CpuTicks>,
    disk: DiskCounters,
}

impl Builder {
    /// A directory on a stack of these layers, on a machine with four processors.
    pub fn new(layers: impl Into<model::Layers>) -> Self {
        let mut run = crate::run(Vec::new());
        run.plan.size.bytes = 1 << 30;
        run.plan.quiet_ns = QUIET_NS;
        run.environment.cpus = vec![CpuModel { name: "test".into(), count: 4 }];
        run.target.size_bytes = Some(1 << 34);
        run.target.stack.layers = layers.into();
        let disk = run.target.stack.lowest_counted().first().map_or(String::new(), |l| l.name.clone());
        let disk = DiskCounters { name: disk, ..DiskCounters::default() };
        let mut builder = Self { run, clock_ns: 0, ticks: vec![CpuTicks::default(); 4], disk };
        builder.sample(None);
        builder
    }

    fn sample(&mut self, bits: Option<u32>) {
        self.run.samples.push(SystemSample {
            at_ns: self.clock_ns,
            disks: vec![self.disk.clone()],
            cpus: self.ticks.clone(),
            throttle: ThrottleState { raspberry_pi_bits: bits, ..ThrottleState::default() },
            ..SystemSample::default()
        });
    }

    /// Time passes: the first processor does what is asked, the others idle. In units of 1/10 tick, kept exact by
    /// passing only multiples of 100 ms.
    fn pass(&mut self, ns: u64, cpu: Cpu) {
        let ticks = ns as f64 / 1e7 * 100.0;
        for (i, t) in self.ticks.iter_mut().enumerate() {
            let c = if i == 0 { cpu } else { Cpu { steal: cpu.steal, ..Cpu::default() } };
            let part = |share: f64| (share * ticks).round() as u64;
            t.user += part(c.user);
            t.system += part(c.system);
            t.irq += part(c.irq);
            t.steal += part(c.steal);
            t.idle += (ticks as u64).saturating_sub(part(c.user) + part(c.system) + part(c.irq) + part(c.steal));
        }
        self.clock_ns += ns;
    }

    /// Adds a phase, with a quiet window before it.
    #[allow(clippy::too_many_lines, reason = "a table of what there is")]
    pub fn phase(mut self, phase: Phase) -> Self {
        self.pass(QUIET_NS, Cpu::default());
        self.sample(None);
        let started_ns = self.clock_ns;
        let mut intervals = Vec::new();
        for (i, rate) in phase.rates.iter().enumerate() {
            let bytes = (rate / 10.0) as u64;
            intervals.push(Interval {
                start_ns: self.clock_ns,
                length_ns: INTERVAL_NS,
                operations: bytes / phase.block,
                bytes,
                ..Interval::default()
            });
            if phase.write() {
                self.disk.sectors_written += bytes / 512;
            } else {
                self.disk.sectors_read += bytes / 512;
            }
            self.disk.busy_ms += 100;
            self.pass(INTERVAL_NS, phase.cpu);
            self.sample(phase.throttle_bits_from.and_then(|(from, bits)| (i >= from).then_some(bits)));
        }
        let bytes: u64 = intervals.iter().map(|i| i.bytes).sum();
        let quiet = QuietWindow {
            length_ns: QUIET_NS,
            write_bytes: (bytes as f64 / PHASE_NS as f64 * phase.foreign * QUIET_NS as f64) as u64,
            operations: if phase.foreign > 0.0 { 5_000 } else { 0 },
            ..QuietWindow::default()
        };
        let buffered_write = phase.name == "buffered-write";
        let rate = bytes as f64 / PHASE_NS as f64 * 1e9;
        let iops = rate / phase.block as f64;
        let mean_depth = phase.latency_ns.map(|l| l * iops / 1e9);
        let rounds = if buffered_write {
            let write_ns = (phase.copying * 1e9) as u64;
            let round = Round { start_ns: started_ns, bytes: bytes / 5, write_ns, sync_ns: NS_PER_S - write_ns };
            let mut rounds = vec![round; 5];
            rounds[0].bytes = (round.bytes as f64 * phase.fast_round) as u64;
            rounds
        } else {
            Vec::new()
        };
        let plan = phase.plan();
        let record = PhaseRecord {
            ended_ns: self.clock_ns,
            operations: bytes / phase.block,
            bytes,
            direct: phase.direct.clone(),
            usage: WorkerUsage {
                user_ns: (phase.own.0 * PHASE_NS as f64) as u64,
                system_ns: (phase.own.1 * PHASE_NS as f64) as u64,
                ..WorkerUsage::default()
            },
            mean_depth,
            quiet_before: Some(quiet),
            quiet_after: Some(quiet),
            intervals,
            rounds,
            ..crate::record(&plan, started_ns)
        };
        let id = |q: &str| format!("{}.{q}", phase.name);
        let mut metrics = vec![
            Metric::measured(id("throughput_bytes_per_s"), Unit::BytesPerS, Some(Better::Higher), rate, 20)
                .within_run(rate * (1.0 - phase.noise), rate * (1.0 + phase.noise)),
            Metric::measured(id("iops"), Unit::OpsPerS, Some(Better::Higher), iops, 20)
                .within_run(iops * (1.0 - phase.noise), iops * (1.0 + phase.noise)),
        ];
        if let Some(latency) = phase.latency_ns {
            metrics.push(Metric::measured(id("latency_ns_mean"), Unit::Ns, Some(Better::Lower), latency, 1000));
        }
        if phase.refused {
            metrics.iter_mut().for_each(|m| m.refuse(&[model::Reason::uncoded("test")]));
        }
        let status = if phase.refused { PhaseStatus::Refused } else { PhaseStatus::Measured };
        self.run.plan.phases.push(plan.clone());
        self.run.phases.push(PhaseRun { status, ..crate::measured(plan, record, metrics) });
        self.pass(QUIET_NS, Cpu::default());
        self.sample(None);
        self
    }

    pub fn phases(self, phases: impl IntoIterator<Item = Phase>) -> Self {
        phases.into_iter().fold(self, Self::phase)
    }

    pub fn virtual_machine(mut self) -> Self {
        self.run.environment.virtualization = Some("kvm".into());
        self
    }

    pub fn build(self) -> Run {
        self.run
    }
}

pub fn layer(kind: LayerKind, name: &str, driver: Option<&str>, facts: &[(&str, Fact)]) -> Layer {
    let mut layer = Layer::new(kind, name);
    layer.driver = driver.map(str::to_owned);
    facts.iter().for_each(|(name, value)| layer.set(name, value.clone()));
    layer
}

/// A counted disk.
pub fn disk(name: &str, transport: &str, facts: &[(&str, Fact)]) -> Layer {
    let mut disk = layer(LayerKind::Disk, name, None, facts);
    disk.set("transport", transport);
    disk.counted = true;
    disk.device = Some(model::DeviceId { major: 8, minor: 0 });
    disk
}

/// A link that carries so many MB/s in practice.
pub fn link(name: &str, realistic_mb_s: u64, facts: &[(&str, Fact)]) -> Layer {
    let mut link = layer(LayerKind::Link, name, None, facts);
    link.ceiling_bytes_per_s = Some(realistic_mb_s * 1_100_000);
    link.ceiling_source = Some("test".into());
    link.set("realistic_bytes_per_s", realistic_mb_s * 1_000_000);
    link
}

/// A SATA SSD path: disk, link, controller.
pub fn sata() -> Vec<Layer> {
    vec![
        disk("sda", "sata", &[("queue_depth", Fact::Int(32)), ("rotational", Fact::Bool(false))]),
        link("ata1", 550, &[]),
        layer(LayerKind::Controller, "0000:00:1f.2", Some("ahci"), &[("ncq_host", Fact::Bool(true))]),
    ]
}

/// All phases of a healthy device, scaled to a sequential rate.
pub fn healthy(mb_s: f64) -> Vec<Phase> {
    vec![
        sequential("copy", 8000.0).own(0.99, 0.0).cpu(0.99, 0.0, 0.0),
        sequential("seq-write", mb_s * 0.95),
        sequential("buffered-write", mb_s * 0.92),
        sequential("seq-read", mb_s),
        sequential("buffered-read", mb_s * 0.95),
        random("rand-read-qd1", mb_s * 20.0),
        random("rand-read-qd32", mb_s * 160.0),
        random("rand-write-qd1", mb_s * 40.0),
        random("rand-write-qd32", mb_s * 140.0),
    ]
}

/// Replaces phases of the same name.
pub fn with(mut phases: Vec<Phase>, changed: impl IntoIterator<Item = Phase>) -> Vec<Phase> {
    for c in changed {
        match phases.iter_mut().find(|p| p.name == c.name) {
            Some(p) => *p = c,
            None => phases.push(c),
        }
    }
    phases
}

/// The phases without those of these names.
pub fn without(mut phases: Vec<Phase>, names: &[&str]) -> Vec<Phase> {
    phases.retain(|p| !names.contains(&p.name.as_str()));
    phases
}

/// A disk of a cloud's guest.
pub fn cloud_disk() -> Vec<Layer> {
    vec![
        layer(LayerKind::Filesystem, "ext4", None, &[("fstype", "ext4".into())]),
        disk("vda", "virtio", &[("hardware_queues", Fact::Int(4))]),
    ]
}
