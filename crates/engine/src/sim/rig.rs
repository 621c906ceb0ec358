//! A simulated target with all its ways in.

use super::SimDevice;
use super::data::SimData;
use super::interleaved::InterleavedStreams;
use super::inventory;
use super::replay::SimFiles;
use crate::copy::{copied, pieces_of};
use crate::recorder::phase_record;
use crate::rig::{clip, moved_bytes, no_file_system, nothing_written, out_of_memory, reading_back};
use crate::worker::{NoData, VerifyingData};
use crate::{Control, Device, DeviceError, PhaseShared, Rig, StreamConfig, WriteProbe, run_worker};
use model::{
    Access, BlockPlan, BlockStream, ColdProof, DataProof, DirectProof, Direction, EngineKind, EngineRecord,
    Environment, ErrorPolicy, Failure, FromDevice, NS_PER_S, Ns, PhaseKind, PhasePlan, PhaseRecord, SimModel, Stack,
    StopCause, StopRule, StreamPlan, SystemSample, VerifySource, WorkerUsage,
};
use workload::{BlockOp, KnownData, OpKind, OpResult, Pattern, Verified, WrittenData};

const MIB: u64 = 1 << 20;
const PAGE_BYTES: u64 = 4096;

/// A simulated target: executes phases in simulated time, and shows the machine as it simulates it.
#[derive(Debug)]
pub struct SimRig {
    pub(super) device: SimDevice,
    pub(super) interval_ns: Ns,
    laid_out: Option<u64>,
    written: WrittenData,
    data: SimData,
    /// What calls on files left.
    pub(super) files: Option<SimFiles>,
}

impl SimRig {
    /// A fresh machine with the model's device, and series with intervals of this length.
    pub fn new(model: SimModel, interval_ns: Ns) -> Self {
        let (written, data) = (nothing_written(), SimData::of(&model));
        Self { device: SimDevice::new(model), interval_ns, laid_out: None, written, data, files: None }
    }

    /// The storage path, as an inventory of the simulated machine would give it.
    pub fn stack(&self) -> Stack {
        inventory::stack(self.model())
    }

    /// The simulated machine.
    pub fn environment(&self) -> Environment {
        inventory::environment(self.model())
    }

    /// The model, as it is simulated: it knows the storage path and the machine as an inventory would give them.
    pub fn model(&self) -> &SimModel {
        self.device.model()
    }

    /// The data that phases that verify wrote, and find.
    pub fn data(&self) -> SimData {
        self.data.clone()
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
        let plan = BlockPlan { block_size_bytes: MIB, ..BlockPlan::default() };
        let streams = vec![StreamPlan { kind: plan.into(), ..StreamPlan::default() }];
        self.device.prepare(&PhasePlan { access: Access::Direct, streams, ..PhasePlan::default() }.alike());
        let (started_ns, room) = (self.now(), max_bytes.min(self.max_bytes()).max(MIB) / MIB * MIB);
        let (mut bytes, mut done) = (0, Vec::with_capacity(1));
        for offset in (0..room).step_by(MIB as usize) {
            let op = BlockOp { kind: OpKind::Write, offset, len: MIB as u32, ..BlockOp::default() };
            let device = &mut self.device;
            let carried_out = device.submit(&[op]).and_then(|()| device.reap(1, Ns::MAX, &mut done));
            carried_out.map_err(|e| refused("probe", &e))?;
            match done.pop().map(|completion| completion.result) {
                Some(Err(errno)) if bytes == 0 => {
                    let (name, errno) = (&self.model().name, sys::errno_name(errno));
                    let message = format!("sim:{name}: writing failed ({errno})");
                    return Err(Failure::device(message));
                }
                Some(Ok(written)) => bytes += u64::from(written),
                Some(Err(_)) | None => break,
            }
            if self.now() - started_ns >= max_ns || control.stopped() {
                break;
            }
        }
        self.flush()?;
        Ok(WriteProbe { bytes, ns: self.now() - started_ns, direct: true, round_bytes_per_s: None })
    }

    /// The phase's streams within what holds data, and what was clipped.
    fn clip(&self, phase: &PhasePlan) -> Result<(Vec<StreamPlan>, Option<String>), Failure> {
        if phase.copies_memory() {
            // The plan may leave their stream out.
            return Ok((vec![pieces_of(64 * MIB, copied(phase).copy_bytes)], None));
        }
        if phase.operates_on_files() {
            return Err(no_file_system(phase, &format!("sim:{}", self.model().name)));
        }
        let bound = if phase.kind == PhaseKind::Layout { self.max_bytes() } else { self.readable_bytes() };
        if phase.streams.is_empty() {
            return Err(Failure::internal(format!("{}: a phase without streams", phase.name)));
        }
        // Several files lie one behind the other.
        let bound = |stream: &StreamPlan| Ok(bound / stream.blocks().map_or(1, |s| s.block.files.len() as u64).max(1));
        clip(&phase.streams, bound, |bound| {
            let message = format!(
                "{}: nothing to work on: {} of sim:{} hold data",
                phase.name,
                model::bytes_text(bound),
                self.model().name
            );
            Failure::environment(message)
                .remedy("give the check more time (--budget), so that the layout can write at least 1 MiB")
        })
    }

    fn execute(&mut self, plan: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        let streams = &plan.streams;
        // The data of one stream on the target itself are known.
        let verifies = matches!(&streams[..], [one] if one.verify.is_some() && one.blocks().is_some_and(|s| s.block.files.len() < 2));
        let mut known = None;
        if verifies {
            let prepared = self.written.prepare(streams).map_err(|e| out_of_memory(&plan.name, &e))?;
            known = prepared.into_iter().next().flatten();
        }
        self.device.data = known.is_some().then(|| self.data.clone());
        self.device.prepare(plan);
        let mut settings = StreamConfig::of(plan, &streams[0], self.interval_ns);
        settings.depth = plan.queue_depth();
        settings.batch_submit = Some(settings.depth);
        settings.stop_on_error = streams.iter().any(|s| s.on_error == ErrorPolicy::Stop);
        let barrier = PhaseShared::new(1, &plan.stop);
        let before = self.usage();
        let device = &mut self.device;
        let mut many = None;
        let result = match (&streams[..], &mut known) {
            ([one], known) => {
                let one = one.blocks().ok_or_else(|| no_blocks(&plan.name))?;
                let mut source = Pattern::new(one, plan.stop == StopRule::RegionOnce);
                match known {
                    Some(known) => {
                        let writes = one.block.sends_data();
                        let mut checking = VerifyingData::new(known, self.data.clone(), writes);
                        run_worker(device, &mut source, &mut checking, &settings, &barrier, control)
                    }
                    None => run_worker(device, &mut source, &mut NoData, &settings, &barrier, control),
                }
            }
            _ => {
                let together = many.insert(InterleavedStreams::new(plan, self.interval_ns));
                run_worker(device, together, &mut NoData, &settings.of_several(), &barrier, control)
            }
        };
        let mut record = result.map_err(|e| refused(&plan.name, &e))?;
        // What the loop itself took of the real machine says nothing about the simulated one.
        record.usage = self.usage().since(&before);
        let mut records = many.map_or_else(Vec::new, |together| together.finish(record.ended_ns, record.stop));
        match records.first_mut() {
            Some(first) => {
                first.usage = record.usage;
                first.engine = record.engine;
            }
            // One stream, or stopped before it began.
            None => records.push(record),
        }
        let kind = if plan.copies_memory() { EngineKind::Memory } else { EngineKind::Sim };
        let engine = EngineRecord { kind, features: vec!["simulated-time".to_owned()], ..EngineRecord::default() };
        let records = records.into_iter().map(|record| (record, EngineKind::Sim)).collect();
        let mut record = phase_record(records, streams, engine, &barrier);
        if let Some(mut known) = known {
            if let Some(back) = streams[0].read_back().filter(|_| !known.ends() && !control.stopped()) {
                control.series.close();
                self.read_back(plan, back, &mut known, &mut record, control);
            }
            record.verify = self.written.conclude(vec![known.finish()]);
            if let Some(verify) = &mut record.verify {
                verify.read_from = Some(VerifySource::Device(FromDevice::Direct));
            }
        }
        self.device.data = None;
        Ok(record)
    }

    /// Reads back what a stream wrote, as the rig of real targets does.
    fn read_back(
        &mut self,
        plan: &PhasePlan,
        back: StreamPlan,
        known: &mut Verified,
        record: &mut PhaseRecord,
        control: &Control,
    ) {
        let sync = BlockOp { kind: OpKind::Fsync, ..BlockOp::default() };
        known.on_submit(&sync);
        let result = self.data.flush().map(|()| 0);
        known.on_end(&sync, OpResult { at_ns: self.now(), result });
        known.read_method("simulated".to_owned());
        let phase = PhasePlan { access: Access::Direct, streams: vec![back], ..reading_back(plan) }.alike();
        self.device.prepare(&phase);
        let back = &phase.streams[0];
        let largest = back.blocks().map_or(0, |s| s.block.block_size_bytes);
        let barrier = PhaseShared::new(1, &phase.stop);
        let mut source = known.read_back(largest);
        let settings = StreamConfig::of(&phase, back, self.interval_ns);
        let mut checking = VerifyingData::new(known, self.data.clone(), false);
        let result = run_worker(&mut self.device, &mut source, &mut checking, &settings, &barrier, control);
        match &result {
            Ok(outcome) => record.add_errors(&outcome.errors),
            Err(error) => record.engine.missing.push(format!("not read back: {error}")),
        }
        known.on_read_back(source, result.ok().map(|outcome| (outcome.bytes, outcome.ended_ns - outcome.started_ns)));
    }

    /// CPU of the simulated machine so far; each operation of the disk is waited for once.
    pub(super) fn usage(&self) -> WorkerUsage {
        let m = &self.device.machine;
        let ours = 1.0 - m.model.host.steal;
        WorkerUsage {
            user_ns: (m.user.until(m.now) as f64 * ours) as Ns,
            system_ns: (m.cpu[0].until(m.now) as f64 * ours) as Ns,
            voluntary_switches: m.reads.operations + m.writes.operations + m.flushes.operations,
            ..WorkerUsage::default()
        }
    }

    /// After a layout: what was written before its time ran out is made durable, and is what later phases may touch.
    fn finish_layout(&mut self, record: &mut PhaseRecord, streams: &[StreamPlan]) -> Result<(), Failure> {
        let blocks: Vec<BlockStream<'_>> = streams.iter().filter_map(StreamPlan::blocks).collect();
        let in_flight: u64 = blocks.iter().map(|s| u64::from(s.path.queue_depth) * s.block.block_size_bytes).sum();
        // After an error, what lies within the last depth of operations is not certain.
        let certain = if record.errors.is_empty() { record.bytes } else { record.bytes.saturating_sub(in_flight) };
        if record.stop != StopCause::RegionDone && record.bytes > 0 {
            self.flush()?;
            record.ended_ns = self.now();
        }
        let done = record.stop == StopCause::RegionDone && record.errors.is_empty();
        let reached = match blocks.first().map(|s| s.block) {
            // To the byte.
            Some(block) if done && block.region_start_bytes == 0 => block.region_end(),
            Some(block) if block.region_start_bytes == 0 => certain / MIB * MIB,
            _ => 0,
        };
        self.laid_out = Some(reached.max(self.laid_out.unwrap_or(0)));
        Ok(())
    }
}

/// Streams of other kinds are executed elsewhere.
fn no_blocks(phase: &str) -> Failure {
    Failure::internal(format!("{phase}: a stream that is not of blocks"))
}

/// The simulated device is never at a loss: what it refuses is our mistake.
pub(super) fn refused(phase: &str, error: &DeviceError) -> Failure {
    Failure::internal(format!("{phase}: the simulated device refused: {error}"))
}

impl Rig for SimRig {
    fn now(&self) -> Ns {
        self.device.machine.now
    }

    fn check(&self, phase: &PhasePlan) -> Result<(), Failure> {
        let capacity = self.model().media.capacity_bytes;
        let held = phase.streams.iter().filter_map(|s| Some(s.replay()?.replay_most[1])).max().unwrap_or(0);
        if held > capacity / 16 * 15 {
            let (needed, room) = (held, capacity / 16 * 15);
            let (held, capacity) = model::distinct_bytes_text(held, capacity);
            let message = format!("{}: {held} of files; sim:{} holds {capacity}", phase.name, self.model().name);
            let instead =
                phase.fewer_packages(needed, room).map(|n| format!("use fewer packages: --set package-count={n}"));
            return Err(Failure::environment(message).remedy(instead.unwrap_or_else(|| "use fewer files".to_owned())));
        }
        Ok(())
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        if let [stream] = &phase.streams[..]
            && let Some(replay) = stream.replay()
        {
            return self.replay(phase, replay, control);
        }
        let (streams, clipped) = self.clip(phase)?;
        self.device.machine.feed = control.samples.join();
        let resident = if phase.cold || phase.drop_cache {
            self.flush()?;
            Some(self.device.machine.drop_pages())
        } else {
            None
        };
        let plan = PhasePlan { streams, ..phase.clone() };
        let executed = self.execute(&plan, control);
        self.device.machine.feed = None;
        let mut record = executed?;
        if phase.copies_memory() {
            return Ok(record);
        }
        if phase.kind == PhaseKind::Layout {
            self.finish_layout(&mut record, &plan.streams)?;
        }
        let reads = plan.streams.iter().any(StreamPlan::reads);
        record.direct = (phase.access == Access::Direct).then(|| DirectProof::Proven("simulated".to_owned()));
        record.cold = resident.map(|bytes| ColdProof {
            resident_pages_before: Some(bytes / PAGE_BYTES),
            device_read_bytes: None,
            phase_read_bytes: moved_bytes(&record, &plan.streams, &[Direction::Read]),
            method: "simulated: fsync and DONTNEED".to_owned(),
        });
        record.data = reads.then(|| {
            DataProof::Real(clipped.map_or_else(|| "simulated".to_owned(), |clipped| format!("simulated; {clipped}")))
        });
        Ok(record)
    }

    fn pending_faults(&self) -> Vec<&'static str> {
        let (faults, [at, each, range, short]) = (&self.model().faults, self.device.machine.came);
        let (armed, was_overrun) = self.data.with(|medium| (medium.armed.is_some(), medium.was_overrun));
        let all = [
            ("eio-at", faults.eio_at.is_some() && !at),
            ("eio-every", faults.eio_every.is_some() && !each),
            ("eio-length", faults.eio_bytes > 0 && !range),
            ("short-every", faults.short_every.is_some() && !short),
            ("data-fault", armed),
            ("wraps-at", faults.wraps_at_bytes.is_some() && !was_overrun),
            ("limbo-from", faults.limbo_from_bytes.is_some() && !was_overrun),
        ];
        all.into_iter().filter_map(|(name, is_to_come)| is_to_come.then_some(name)).collect()
    }

    fn clear_pending_faults(&mut self) {
        self.device.machine.came = [true; 4];
        self.data.with(|medium| (medium.armed, medium.was_overrun) = (None, true));
    }

    fn remember_known(&mut self, known: &KnownData) -> Result<(), Failure> {
        self.written = WrittenData::from_known(known).map_err(|e| out_of_memory("what is known of the data", &e))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let machine = &mut self.device.machine;
        let mut end = machine.fsync(machine.now);
        if let Some(files) = &mut self.files {
            end = files.sync(machine, end);
        }
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
