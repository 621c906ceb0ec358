//! The simulated machine as a device of the engine's loop.

use super::data::SimData;
use super::machine::{Event, Lane, Machine, Traffic};
use crate::device::check;
use crate::{Completion, Device, DeviceError};
use model::{Access, EngineKind, Ns, PhasePlan, SimModel, StreamPlan, Sync};
use workload::{BlockOp, OpKind};

/// Which way the operations of a phase go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Path {
    #[default]
    Direct,
    Buffered,
    Memory,
}

/// A simulated device in simulated time. Without [`SimData`] buffers are scratch memory, and reads leave them as they are.
#[derive(Debug, Default)]
pub struct SimDevice {
    pub(super) machine: Machine,
    path: Path,
    /// The ways of reads and of writes without a sync of their own, where the streams of a phase go different ways: then the
    /// writer has a processor of its own, and a sync is one of its own file.
    apart: Option<[Path; 2]>,
    buffers: Vec<u8>,
    block_bytes: usize,
    /// By their buffers.
    in_flight: Vec<Option<BlockOp>>,
    pub(super) bytes_written: u64,
    /// Where operations find their data, in a phase that verifies them.
    pub(super) data: Option<SimData>,
}

impl SimDevice {
    /// The device of a model, at the moment 0, with direct access and no buffers.
    pub fn new(model: SimModel) -> Self {
        Self { machine: Machine::new(model), ..Self::default() }
    }

    /// Makes ready for a phase: its path and its buffers. The machine goes on from where it was.
    pub fn prepare(&mut self, phase: &PhasePlan) {
        self.path = match (phase.engine, phase.access) {
            (EngineKind::Memory, _) => Path::Memory,
            (_, Access::Direct) => Path::Direct,
            (_, Access::Buffered) => Path::Buffered,
        };
        let path = |s: &StreamPlan| match s.path.access {
            Access::Direct => Path::Direct,
            Access::Buffered => Path::Buffered,
        };
        let of = |is: fn(&StreamPlan) -> bool| phase.streams.iter().find(|s| is(s)).map_or(self.path, path);
        let writes = |s: &StreamPlan| s.changes_data() && s.durability.sync == Sync::None;
        let apart = self.path != Path::Memory && phase.streams.iter().any(|s| path(s) != self.path);
        self.apart = apart.then(|| [of(StreamPlan::reads), of(writes)]);
        // Past the page cache nothing but the phase's own operations is under way.
        let quiet = self.machine.events.is_empty() && self.path == Path::Direct && !apart;
        let largest = phase.streams.iter().filter_map(|s| Some(s.blocks()?.block.block_size_bytes)).max().unwrap_or(0);
        let pieces = u32::try_from(self.machine.model.pieces(largest).1).unwrap_or(u32::MAX);
        let commands = quiet.then(|| phase.queue_depth().saturating_mul(pieces));
        self.machine.slots.expect(commands);
        self.machine.units.expect(commands);
        self.prepare_buffers(phase.queue_depth(), largest);
    }

    /// Provides `count` buffers of `bytes` each.
    pub fn prepare_buffers(&mut self, count: u32, bytes: u64) {
        self.block_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let bytes = self.block_bytes.saturating_mul(count as usize);
        if self.buffers.len() < bytes {
            // Pages of zeros that nobody touches take no memory.
            self.buffers = vec![0; bytes];
        }
        self.in_flight.clear();
        self.in_flight.resize(count as usize, None);
    }

    /// The model, as it is simulated.
    pub fn model(&self) -> &SimModel {
        &self.machine.model
    }

    /// Lets time pass without an operation of ours. What is under way ends on the way.
    pub fn idle_until(&mut self, at: Ns) {
        while self.machine.next_event(at).is_some() {}
        self.machine.advance(at);
    }

    /// When an operation ends, and whether its own transfer is counted by the disk at that moment.
    fn execute(&mut self, op: &BlockOp) -> (Ns, Traffic) {
        let m = &mut self.machine;
        let (at, len) = (m.now, u64::from(op.len));
        let path = match (self.apart, op.kind) {
            (Some([reads, _]), OpKind::Read) => reads,
            (Some([_, writes]), OpKind::Write) => writes,
            (Some(_), OpKind::WriteSync) => return (m.durable_append(op.offset, len, at), Traffic::None),
            _ => self.path,
        };
        let lane = if self.apart.is_some() { Lane::Writeback } else { Lane::Worker };
        match (path, op.kind) {
            (Path::Memory, _) => {
                let start = at.max(m.user.end);
                let time = m.stretched(len as f64 * 1e9 / m.model.host.memory_bytes_per_s as f64);
                m.user.add(start, start + time);
                (start + time, Traffic::None)
            }
            (Path::Direct, OpKind::Read) => (m.command(Lane::Worker, false, op.offset, len, at), Traffic::Read),
            (Path::Direct, OpKind::Write) => (m.command(Lane::Worker, true, op.offset, len, at), Traffic::Write),
            (Path::Direct, OpKind::WriteSync) => {
                let written = m.command(Lane::Worker, true, op.offset, len, at);
                m.schedule(written, Traffic::Write, at, len, None);
                (m.flush(written), Traffic::None)
            }
            (Path::Buffered, OpKind::Read) => (m.buffered_read(op.offset, len, at), Traffic::None),
            (Path::Buffered, OpKind::Write) => (m.buffered_write(lane, op.offset, len, at), Traffic::None),
            (Path::Buffered, OpKind::WriteSync) => {
                let copied = m.buffered_write(lane, op.offset, len, at);
                (m.fsync(copied), Traffic::None)
            }
            // Direct writes may follow buffered ones: what is dirty goes as well.
            (_, OpKind::Fsync | OpKind::Fdatasync) => (m.fsync(at), Traffic::None),
            // A command without data; the model knows no cost of its own for what the device does with it.
            (_, OpKind::Trim | OpKind::WriteZeroes) => (m.command(Lane::Worker, true, op.offset, 0, at), Traffic::None),
        }
    }
}

impl Device for SimDevice {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.machine.now
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        assert!(self.in_flight[index as usize].is_none(), "buffer {index} is in flight");
        let start = index as usize * self.block_bytes;
        &mut self.buffers[start..start + self.block_bytes]
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        for op in ops {
            check(op, self.in_flight.len() as u32, self.block_bytes)?;
            if self.in_flight[op.buffer as usize].replace(*op).is_some() {
                return Err(DeviceError::BadOperation(format!("buffer {} is in flight", op.buffer)));
            }
            let write = matches!(op.kind, OpKind::Write | OpKind::WriteSync);
            let since = self.machine.now;
            let mut result = match op.kind {
                OpKind::Fsync | OpKind::Fdatasync => Ok(0),
                _ if self.path == Path::Memory => Ok(op.len),
                _ => self.machine.outcome(write, op.offset, op.len),
            };
            // A flush covers what has ended when it is asked for.
            if let (Some(data), Ok(_), OpKind::Fsync | OpKind::Fdatasync) = (&self.data, result, op.kind) {
                result = data.flush().map(|()| 0);
            }
            let (at, traffic) = self.execute(op);
            let bytes = result.map_or(0, u64::from);
            if write && self.path != Path::Memory {
                self.bytes_written += bytes;
            }
            // A failed command is no completed transfer for the disk's counters.
            let traffic = if result.is_err() { Traffic::None } else { traffic };
            self.machine.schedule(at, traffic, since, bytes, Some((op.buffer, result)));
        }
        Ok(())
    }

    fn spin_until(&mut self, until: Ns) {
        let now = self.machine.now;
        self.machine.user.add(now, until.max(now));
        self.idle_until(until);
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let mut reaped = 0;
        // With `min` completions there, only what happens at the same moment is there as well.
        while out.len() < out.capacity() {
            let limit = if reaped < min { until } else { self.machine.now };
            match self.machine.next_event(limit) {
                Some(Event { at, caller: Some((buffer, result)), .. }) => {
                    let op = self.in_flight[buffer as usize].take();
                    if let (Some(data), Some(op), Ok(len)) = (&self.data, op, result) {
                        let start = buffer as usize * self.block_bytes;
                        data.execute(&op, &mut self.buffers[start..start + len as usize]);
                    }
                    out.push(Completion { buffer, result, at_ns: at });
                    reaped += 1;
                }
                Some(_) => {}
                // Nothing in flight and no end of waiting would be for ever: the caller gets its turn at once.
                None if reaped < min && until != Ns::MAX => {
                    self.machine.advance(until);
                    break;
                }
                None => break,
            }
        }
        Ok(())
    }
}
