//! The memory copy: the top of the ladder, which no buffered path can pass.
//!
//! One thread copies between two buffers far larger than the last-level cache, pass after pass, in pieces; each
//! piece is an operation with its latency, each copied byte is counted once (the memory bus moves it at least twice).

use crate::recorder::phase_record;
use crate::rig::refusal_of_device;
use crate::worker::NoData;
use crate::{Content, Control, Crew, Device, DeviceError, LoopSettings, MemoryDevice, Part, run_worker};
use model::{BlockPlan, EngineKind, EngineRecord, Failure, PhasePlan, PhaseRecord, StreamPlan};
use sys::{BufferPool, Epoch};
use workload::Pattern;

const LEAST: u64 = 4 << 20;
const MOST: u64 = 64 << 20;
const MOST_FOR_LARGE_CACHES: u64 = 512 << 20;
/// Seed of the data that are copied where the plan has no stream to give one.
const COPY_SEED: u64 = 0xc0b1;

/// The size of each of the two buffers: 64 MiB, or four times the last-level cache where that is more (up to 512 MiB), but
/// together at most a quarter of the memory that is available, so that a small board is not driven into swapping.
pub fn copy_buffer_bytes(available_bytes: Option<u64>, last_level_cache_bytes: Option<u64>) -> u64 {
    let wanted = last_level_cache_bytes.map_or(MOST, |c| c.saturating_mul(4)).clamp(MOST, MOST_FOR_LARGE_CACHES);
    let bearable = available_bytes.map_or(MOST, |a| a / 8);
    let bytes = wanted.min(bearable).max(LEAST);
    bytes - bytes % LEAST
}

/// Runs the phase. The times are those of `epoch`.
///
/// # Errors
/// Where the memory cannot be had.
pub(crate) fn run_copy(
    epoch: Epoch,
    phase: &PhasePlan,
    interval_ns: u64,
    buffer_bytes: u64,
    control: &Control,
) -> Result<PhaseRecord, Failure> {
    let copied = phase.streams.first();
    let piece = copied.map(StreamPlan::copied).unwrap_or_default().copy_bytes.max(1);
    let bytes = usize::try_from(buffer_bytes).unwrap_or(MOST as usize).max(piece as usize);
    let pool = || BufferPool::new(1, bytes).map_err(DeviceError::of("mmap of copy buffers"));
    let copy = || {
        let (mut from, to) = (pool()?, pool()?);
        Content::new(copied.map_or(COPY_SEED, |s| s.seed)).fill(0, from.buffer_mut(0));
        let mut device = MemoryDevice::new(epoch, from, to);
        let settings = LoopSettings::of(phase, &StreamPlan::default(), interval_ns);
        let settings = LoopSettings { depth: 1, batch_submit: Some(1), ..settings };
        let mut source = Pattern::new(&pieces_of(bytes as u64, piece), false);
        let crew = Crew::new(1, &phase.stop);
        let record = run_worker(&mut device, &mut source, &mut NoData, &settings, &Part::alone(&crew), control)?;
        let features = device.features();
        let engine = EngineRecord { kind: EngineKind::Memory, features, ..EngineRecord::default() };
        Ok(phase_record(vec![(record, EngineKind::Memory)], &[], engine, &crew))
    };
    copy().map_err(|e| refusal_of_device(&phase.name, &e))
}

/// Pass after pass over the whole pieces within `bytes`. Each copied byte is counted once, as read.
fn pieces_of(bytes: u64, piece: u32) -> StreamPlan {
    let piece = u64::from(piece);
    let kind = BlockPlan { block_size_bytes: piece, region_bytes: bytes - bytes % piece, ..BlockPlan::default() };
    StreamPlan { kind: kind.into(), ..StreamPlan::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Access, StopCause, StopRule, Warmup};

    #[test]
    fn the_buffers_are_larger_than_caches_and_bearable() {
        assert_eq!(copy_buffer_bytes(None, None), 64 << 20);
        assert_eq!(copy_buffer_bytes(Some(16 << 30), Some(8 << 20)), 64 << 20);
        assert_eq!(copy_buffer_bytes(Some(64 << 30), Some(96 << 20)), 384 << 20);
        assert_eq!(copy_buffer_bytes(Some(128 << 20), None), 16 << 20);
        assert_eq!(copy_buffer_bytes(Some(1 << 20), None), 4 << 20);
    }

    #[test]
    fn copies_are_recorded_and_stop_when_asked() {
        let phase = PhasePlan {
            name: "copy".to_owned(),
            kind: model::PhaseKind::Measure,
            engine: EngineKind::Memory,
            access: Access::Buffered,
            cold: false,
            drop_cache: false,
            streams: vec![StreamPlan {
                kind: model::StreamKind::Copy(model::CopyPlan::default()),
                ..StreamPlan::default()
            }],
            time_limit_ns: 30_000_000,
            stop: StopRule::Time,
            warmup: Warmup { min_ns: 10_000_000, share: 0.0, max_ns: 10_000_000 },
            skip: None,
        };
        let control = Control::default();
        let epoch = Epoch::start();
        let record = run_copy(epoch, &phase, 10_000_000, 4 << 20, &control).unwrap();
        assert_eq!(record.stop, StopCause::TimeUsed);
        assert!(record.operations > 0);
        assert_eq!(record.bytes, record.operations << 20);
        assert_eq!(record.intervals.iter().map(|i| i.operations).sum::<u64>(), record.operations);
        assert!(record.latency.count() <= record.operations);
        control.stop();
        let record = run_copy(epoch, &phase, 10_000_000, 4 << 20, &control).unwrap();
        assert_eq!((record.stop, record.operations), (StopCause::Interrupted, 0));
    }
}
