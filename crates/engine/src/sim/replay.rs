//! Calls of a recording in the file system of a simulated machine.

pub(super) use super::files::SimFiles;

use super::calls::SimCalls;
use super::rig::{SimRig, refused};
use crate::recorder::phase_record;
use crate::worker::NoData;
use crate::{Control, PhaseShared, Rig, StreamConfig, run_worker};
use file_trace::ReplaySource;
use model::{DataProof, EngineKind, EngineRecord, Failure, PhasePlan, PhaseRecord, ReplayPlan};

impl SimRig {
    /// Calls on files that are made again, in the simulated file system.
    pub(super) fn replay(
        &mut self,
        phase: &PhasePlan,
        replay: &ReplayPlan,
        control: &Control,
    ) -> Result<PhaseRecord, Failure> {
        self.check(phase)?;
        let capacity = self.model().media.capacity_bytes;
        let stream = &phase.streams[0];
        let before = self.usage();
        let (device, trace) = (&mut self.device, &*replay.trace.0);
        let files = self.files.get_or_insert_with(|| SimFiles::new(capacity));
        files.make_before(&mut device.machine, trace);
        if phase.cold {
            files.drop_caches();
        }
        (device.data, device.machine.feed) = (None, control.samples.join());
        device.prepare(&PhasePlan { streams: Vec::new(), ..phase.clone() });
        device.prepare_buffers(phase.queue_depth(), 0);
        let (barrier, written) = (PhaseShared::new(1, &phase.stop), files.blocks.written);
        let (settings, mut source) = (StreamConfig::of(phase, stream, self.interval_ns), ReplaySource::new(replay));
        let mut calls = SimCalls { device, files, trace };
        let result = run_worker(&mut calls, &mut source, &mut NoData, &settings, &barrier, control);
        self.device.bytes_written += self.files.as_ref().map_or(0, |files| files.blocks.written) - written;
        self.device.machine.feed = None;
        let mut record = result.map_err(|e| refused(&phase.name, &e))?;
        record.usage = self.usage().since(&before);
        let features = vec!["simulated-time".to_owned(), "simulated-ext4".to_owned()];
        let engine = EngineRecord { kind: EngineKind::Sim, features, ..EngineRecord::default() };
        let mut record = phase_record(vec![(record, EngineKind::Sim)], &phase.streams, engine, &barrier);
        record.data = phase.streams[0].reads().then(|| DataProof::Real("simulated".to_owned()));
        Ok(record)
    }
}
