//! A simulated target with all its ways in.

use super::together::Together;
use super::{SimDevice, inventory};
use crate::recorder::phase_record;
use crate::{Content, Control, Crew, DeviceError, LoopSettings, Part, Rig, StreamRecord, WriteProbe, run_worker};
use model::{Access, NS_PER_S};
use model::{
    BlockPlan, ColdProof, DataProof, DirectProof, Durability, EngineKind, EngineRecord, Environment, ErrorPolicy,
    Failure, FailureKind, IoPath, Ns, Operation, Order, PhaseKind, PhasePlan, PhaseRecord, SimModel, Stack, StopCause,
    StopRule, StreamPlan, Sync, SystemSample, WorkerUsage,
};
use workload::Pattern;

const MIB: u64 = 1 << 20;
const PAGE_BYTES: u64 = 4096;

/// A simulated target: executes phases in simulated time, and shows the machine as it simulates it.
#[derive(Debug)]
pub struct SimRig {
    device: SimDevice,
    interval_ns: Ns,
    laid_out: Option<u64>,
}

/// What the machine had done at a moment, for the difference.
#[derive(Clone, Copy)]
struct Work {
    system_ns: Ns,
    user_ns: Ns,
    operations: u64,
}

impl SimRig {
    /// A fresh machine with the model's device, and series with intervals of this length.
    pub fn new(model: SimModel, interval_ns: Ns) -> Self {
        Self { device: SimDevice::new(model), interval_ns, laid_out: None }
    }

    /// The model, as it is simulated.
    pub fn model(&self) -> &SimModel {
        self.device.model()
    }

    /// The storage path, as an inventory of the simulated machine would give it.
    pub fn stack(&self) -> Stack {
        inventory::stack(self.model())
    }

    /// The simulated machine.
    pub fn environment(&self) -> Environment {
        inventory::environment(self.model())
    }

    /// Size of the target: the most that a plan's region may take.
    pub fn max_bytes(&self) -> u64 {
        self.model().media.capacity_bytes / MIB * MIB
    }

    /// Measures a short sequential durable write, as the rig of real targets does, in simulated time.
    ///
    /// # Errors
    /// Where the first block could not be written.
    pub fn probe_write(&mut self, max_bytes: u64, max_ns: Ns, control: &Control) -> Result<WriteProbe, Failure> {
        let stream = StreamPlan {
            kind: BlockPlan {
                operation: Operation::Write,
                order: Order::Sequential,
                block_size_bytes: MIB,
                region_start_bytes: 0,
                region_bytes: max_bytes.min(self.max_bytes()).max(MIB) / MIB * MIB,
                ..BlockPlan::default()
            }
            .into(),
            path: IoPath { queue_depth: 1, ..IoPath::default() },
            durability: Durability { sync: Sync::FsyncAtEnd, round_bytes: None, ..Durability::default() },
            seed: 0x5eed,
            ..StreamPlan::default()
        };
        let phase = PhasePlan {
            name: "probe".to_owned(),
            kind: PhaseKind::Measure,
            engine: EngineKind::Sim,
            access: Access::Direct,
            cold: false,
            streams: vec![stream],
            time_limit_ns: max_ns.max(1),
            stop: StopRule::RegionOnce,
            warmup: model::Warmup { min_ns: 0, share: 0.0, max_ns: 0 },
            ..PhasePlan::default()
        };
        let record = self.execute(&phase, &phase.streams, control)?;
        self.settle()?;
        if record.bytes == 0 && record.stop == StopCause::Failed {
            let names: Vec<&str> = record.errors.keys().map(String::as_str).collect();
            let message = format!("sim:{}: writing failed ({})", self.model().name, names.join(", "));
            return Err(Failure::new(FailureKind::Device, message));
        }
        Ok(WriteProbe {
            bytes: record.bytes,
            ns: self.now() - record.started_ns,
            direct: true,
            round_bytes_per_s: None,
        })
    }

    /// The phase's streams within what holds data, and what was clipped.
    fn clip(&self, phase: &PhasePlan) -> Result<(Vec<StreamPlan>, Option<String>), Failure> {
        if phase.engine == EngineKind::Memory {
            let piece = phase.streams.first().map(StreamPlan::copied).unwrap_or_default().copy_bytes;
            return Ok((vec![copy_stream(piece.into())], None));
        }
        let bound = if phase.kind == PhaseKind::Layout { self.max_bytes() } else { self.readable_bytes() };
        let mut clipped = None;
        let mut streams = phase.streams.clone();
        for stream in &mut streams {
            let block = stream.block().block_size_bytes.max(1);
            // Several files lie one behind the other.
            let bound = bound / (stream.block().files.len() as u64).max(1);
            let room = bound.saturating_sub(stream.block().region_start_bytes).min(stream.block().region_bytes) / block
                * block;
            if room == 0 {
                let message =
                    format!("{}: nothing to work on: {bound} bytes of sim:{} hold data", phase.name, self.model().name);
                return Err(Failure::new(FailureKind::Environment, message)
                    .remedy("give the check more time (--budget), so that the layout can write at least 1 MiB"));
            }
            if room < stream.block().region_bytes {
                clipped = Some(format!(
                    "region clipped from {} to {room} bytes, which hold data",
                    stream.block().region_bytes
                ));
                stream.block_mut().region_bytes = room;
            }
        }
        if streams.is_empty() {
            return Err(Failure::new(FailureKind::Internal, format!("{}: a phase without streams", phase.name)));
        }
        Ok((streams, clipped))
    }

    fn execute(
        &mut self,
        phase: &PhasePlan,
        streams: &[StreamPlan],
        control: &Control,
    ) -> Result<PhaseRecord, Failure> {
        let plan = PhasePlan { streams: streams.to_vec(), ..phase.clone() };
        self.device.prepare(&plan);
        let mut settings = LoopSettings::of(&plan, &streams[0], self.interval_ns);
        settings.depth = plan.queue_depth();
        settings.batch_submit = Some(settings.depth);
        if phase.engine == EngineKind::Memory {
            settings.content_seed = None;
        }
        let before = self.work();
        settings.stop_on_error = streams.iter().any(|s| s.on_error == ErrorPolicy::Stop);
        let once = plan.stop == StopRule::RegionOnce;
        let crew = Crew::new(1, &plan.stop);
        let mut many = None;
        let result = match streams {
            [one] => {
                let mut data = None::<Content>;
                let part = Part::of(one, &crew);
                run_worker(&mut self.device, &mut Pattern::new(one, once), &mut data, &settings, &part, control)
            }
            _ => {
                let together = many.insert(Together::new(&plan, self.interval_ns));
                settings.batch_complete = 1;
                run_worker(&mut self.device, together, &mut None::<Content>, &settings, &Part::alone(&crew), control)
            }
        };
        let mut record: StreamRecord = result.map_err(|e: DeviceError| {
            Failure::new(FailureKind::Internal, format!("{}: the simulated device refused: {e}", phase.name))
        })?;
        let after = self.work();
        // What the loop itself took of the real machine says nothing about the simulated one.
        record.usage = WorkerUsage {
            user_ns: after.user_ns - before.user_ns,
            system_ns: after.system_ns - before.system_ns,
            voluntary_switches: after.operations - before.operations,
            involuntary_switches: 0,
            cpu_wait_ns: None,
        };
        let engine = EngineRecord {
            kind: if phase.engine == EngineKind::Memory { EngineKind::Memory } else { EngineKind::Sim },
            features: vec!["simulated-time".to_owned()],
            missing: Vec::new(),
            batch_submit: record.batch_submit,
            batch_complete: record.batch_complete,
        };
        let records = match many {
            None => vec![record],
            Some(together) => {
                let (usage, batch) = (record.usage, (record.batch_submit, record.batch_complete));
                let mut records = together.finish(record.ended_ns, record.stop);
                match records.first_mut() {
                    Some(first) => (first.usage, first.batch_submit, first.batch_complete) = (usage, batch.0, batch.1),
                    // Stopped before it began.
                    None => records.push(record),
                }
                records
            }
        };
        let records = records.into_iter().map(|record| (record, EngineKind::Sim)).collect();
        Ok(phase_record(records, streams, engine, &crew))
    }

    fn work(&self) -> Work {
        let m = &self.device.machine;
        let ours = 1.0 - m.model.host.steal;
        Work {
            system_ns: (m.cpu[0].until(m.now) as f64 * ours) as Ns,
            user_ns: (m.user.until(m.now) as f64 * ours) as Ns,
            operations: m.reads.operations + m.writes.operations + m.flushes.operations,
        }
    }

    /// After a layout: what was written before its time ran out is made durable, and is what later phases may touch.
    fn finish_layout(&mut self, record: &mut PhaseRecord, streams: &[StreamPlan]) -> Result<(), Failure> {
        let in_flight: u64 = streams.iter().map(|s| u64::from(s.path.queue_depth) * s.block().block_size_bytes).sum();
        // After an error, what lies within the last depth of operations is not certain.
        let certain = if record.errors.is_empty() { record.bytes } else { record.bytes.saturating_sub(in_flight) };
        if record.stop != StopCause::RegionDone && record.bytes > 0 {
            self.settle()?;
            record.ended_ns = self.now();
        }
        let reached = if streams[0].block().region_start_bytes == 0 { certain / MIB * MIB } else { 0 };
        self.laid_out = Some(reached.max(self.laid_out.unwrap_or(0)));
        Ok(())
    }
}

/// Memory copies have no region; the plan may leave their stream out.
fn copy_stream(piece: u64) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            operation: Operation::Read,
            order: Order::Sequential,
            block_size_bytes: piece,
            region_start_bytes: 0,
            region_bytes: 64 * MIB,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: 1, ..IoPath::default() },
        durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
        seed: 0,
        ..StreamPlan::default()
    }
}

impl Rig for SimRig {
    fn now(&self) -> Ns {
        self.device.machine.now
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        let (streams, clipped) = self.clip(phase)?;
        self.device.machine.feed = control.samples.join();
        let resident = if (phase.cold && !phase.is_write()) || phase.drop_cache {
            self.settle()?;
            Some(self.device.machine.drop_pages())
        } else {
            None
        };
        let executed = self.execute(phase, &streams, control);
        self.device.machine.feed = None;
        let mut record = executed?;
        if phase.engine == EngineKind::Memory {
            return Ok(record);
        }
        if phase.kind == PhaseKind::Layout {
            self.finish_layout(&mut record, &streams)?;
        }
        let reads = streams.iter().any(|s| s.reads());
        record.direct = (phase.access == Access::Direct).then(|| DirectProof::Proven("simulated".to_owned()));
        record.cold = resident.map(|bytes| ColdProof {
            resident_pages_before: Some(bytes / PAGE_BYTES),
            device_read_bytes: None,
            phase_read_bytes: record.bytes,
            method: "simulated: fsync and DONTNEED".to_owned(),
        });
        record.data = reads.then(|| {
            DataProof::Real(clipped.map_or_else(|| "simulated".to_owned(), |clipped| format!("simulated; {clipped}")))
        });
        Ok(record)
    }

    fn settle(&mut self) -> Result<(), Failure> {
        let machine = &mut self.device.machine;
        let end = machine.fsync(machine.now);
        self.device.idle_until(end);
        Ok(())
    }

    fn idle(&mut self, ns: Ns, control: &Control) {
        // In steps, so that a stop that comes meanwhile is heard.
        let end = self.now().saturating_add(ns);
        while !control.stopped() && self.now() < end {
            self.device.idle_until(end.min(self.now() + NS_PER_S));
        }
    }

    fn readable_bytes(&self) -> u64 {
        self.laid_out.unwrap_or_else(|| self.max_bytes())
    }

    fn bytes_written(&self) -> u64 {
        self.device.bytes_written
    }

    fn simulated_sample(&mut self) -> Option<SystemSample> {
        let now = self.now();
        self.device.idle_until(now);
        Some(self.device.machine.sample(now))
    }

    fn take_simulated_samples(&mut self) -> Vec<SystemSample> {
        std::mem::take(&mut self.device.machine.samples).into_samples()
    }
}
