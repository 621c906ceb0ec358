//! A phase that copies memory: the rate by which everything that goes through the page cache is measured; or a region.

use crate::device::{Other, rules};
use crate::recorder::phase_record;
use crate::rig::refusal_of_device;
use crate::worker::NoData;
use crate::{Control, DataGenerator, Device, DeviceError, MemoryDevice, PhaseShared, StreamConfig, run_worker};
use model::{BlockPlan, CopyMethod, CopyPlan, EngineKind, EngineRecord, Failure, PhasePlan, PhaseRecord, StreamPlan};
use sys::{BufferPool, Epoch};
use workload::{BlockOp, Pattern};

/// Seed of the data that are copied where the plan has no stream to give one.
const COPY_SEED: u64 = 0xc0b1;

/// What the phase's stream copies.
pub(crate) fn copied(phase: &PhasePlan) -> CopyPlan {
    phase.streams.first().and_then(StreamPlan::copied).cloned().unwrap_or_default()
}

/// That this processor cannot copy so.
///
/// # Errors
/// What it does not have.
pub(crate) fn possible(phase: &PhasePlan) -> Result<(), Failure> {
    let plan = copied(phase);
    let lacks = match rules(plan.copy_by) {
        Some(rules) if !rules.mode.is_supported() => format!("this processor has no '{}' copies", plan.copy_by),
        Some(rules) if !rules.widest.is_supported() => {
            format!("this processor has no accesses of {} bytes", plan.copy_by)
        }
        _ => return Ok(()),
    };
    Err(Failure::environment(lacks))
}

/// The buffer of a copy.
///
/// # Errors
/// Where the memory cannot be had.
pub(crate) fn copy_buffer(bytes: usize) -> Result<BufferPool, DeviceError> {
    BufferPool::new(1, bytes).map_err(DeviceError::of("mmap of copy buffers"))
}

/// Runs a copy of memory to memory. The times are those of `epoch`.
///
/// # Errors
/// Where the memory cannot be had, or the processor has no such accesses.
pub(crate) fn run_copy(
    epoch: Epoch,
    phase: &PhasePlan,
    interval_ns: u64,
    buffer_bytes: u64,
    control: &Control,
) -> Result<PhaseRecord, Failure> {
    let plan = copied(phase);
    if plan.copy_by == CopyMethod::Call {
        let what = format!("{}: memory is copied by no call", phase.name);
        return Err(Failure::environment(what).remedy("name a device or a file"));
    }
    let bytes = usize::try_from(buffer_bytes).unwrap_or(usize::MAX).max(plan.copy_bytes as usize);
    let buffers = || {
        let (mut from, to) = (copy_buffer(bytes)?, copy_buffer(bytes)?);
        DataGenerator::new(phase.streams.first().map_or(COPY_SEED, |s| s.seed)).fill(0, from.buffer_mut(0));
        Ok((Other::Memory(from), to))
    };
    let (from, to) = buffers().map_err(|e| refusal_of_device(&phase.name, &e))?;
    possible(phase)?;
    run_pieces(&mut MemoryDevice::copying(epoch, from, plan, to), phase, interval_ns, bytes as u64, control)
}

/// Copies piece after piece of `bytes` bytes by the device, as long as the phase says.
///
/// # Errors
/// Where the device cannot work at all.
pub(crate) fn run_pieces(
    device: &mut impl Device<Op = BlockOp>,
    phase: &PhasePlan,
    interval_ns: u64,
    bytes: u64,
    control: &Control,
) -> Result<PhaseRecord, Failure> {
    let settings = StreamConfig::of(phase, &StreamPlan::default(), interval_ns);
    let settings = StreamConfig { depth: 1, batch_submit: Some(1), ..settings };
    let plan = copied(phase);
    let around = if plan.copy_set_bytes == 0 { bytes } else { plan.copy_set_bytes };
    let pieces = pieces_of(around, plan.copy_bytes);
    let pieces = pieces.blocks().ok_or_else(|| Failure::internal("pieces are blocks"))?;
    let mut source = Pattern::new(pieces, false);
    let barrier = PhaseShared::new(1, &phase.stop);
    let record = run_worker(device, &mut source, &mut NoData, &settings, &barrier, control)
        .map_err(|e| refusal_of_device(&phase.name, &e))?;
    let (features, missing) = (device.features(), device.missing());
    let engine = EngineRecord { kind: EngineKind::Memory, features, missing, ..EngineRecord::default() };
    Ok(phase_record(vec![(record, EngineKind::Memory)], &[], engine, &barrier))
}

/// Pass after pass over the whole pieces within `bytes`, of which there is one at least. Each copied byte is counted once,
/// as read.
pub(crate) fn pieces_of(bytes: u64, piece: u32) -> StreamPlan {
    let piece = u64::from(piece.max(1));
    let region_bytes = bytes.max(piece) / piece * piece;
    let kind = BlockPlan { block_size_bytes: piece, region_bytes, ..BlockPlan::default() };
    StreamPlan { kind: kind.into(), ..StreamPlan::default() }
}
#[cfg(test)]
mod tests {
    use super::*;
    use model::{Access, StopCause, StopRule, Warmup};

    #[test]
    fn copies_are_recorded_and_stop_when_asked() {
        let phase = PhasePlan {
            name: "copy".to_owned(),
            kind: model::PhaseKind::Measure,
            engine: EngineKind::Memory,
            access: Access::Buffered,
            cold: false,
            drop_cache: false,
            streams: vec![StreamPlan { kind: model::StreamKind::Copy(CopyPlan::default()), ..StreamPlan::default() }],
            time_limit_ns: 30_000_000,
            stop: StopRule::Time,
            warmup: Warmup { min_ns: 10_000_000, share: 0.0, max_ns: 10_000_000 },
            ranks: None,
            skip: None,
        }
        .alike();
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
