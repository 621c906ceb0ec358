//! A ring where the system gives no further thread.
//!
//! What a ring cannot carry out without waiting, its workers do: threads that the kernel makes for it, which count against
//! the same limits as ours. Where none can be made the operation comes back as ECANCELED (k:io_uring/io-wq.c), and is
//! carried out here, by the thread that asked for it.

use crate::device::calls::FileCalls;
use crate::device::one_call::Calls;
use crate::{Completion, Device, DeviceError};
use model::{Ns, WorkerUsage};
use sys::{BufferPool, errno::ECANCELED};
use workload::BlockOp;

/// A device without workers, and the calls that stand in for them.
#[derive(Debug)]
pub struct RingWithoutWorkers<D> {
    device: D,
    calls: FileCalls,
    /// What is in flight, by its buffer.
    operations: Vec<BlockOp>,
    carried_out: u64,
    why: String,
}

impl<D: Device<Op = BlockOp>> RingWithoutWorkers<D> {
    /// `calls` reach what the device does, of `depth` operations at once. `why`: that there are no threads, for the record.
    pub fn new(device: D, calls: impl Into<FileCalls>, depth: u32, why: String) -> Self {
        Self { device, calls: calls.into(), operations: vec![BlockOp::default(); depth as usize], carried_out: 0, why }
    }
}

impl<D: Device<Op = BlockOp>> Device for RingWithoutWorkers<D> {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.device.now()
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        self.device.buffer(index)
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        for op in ops {
            if let Some(kept) = self.operations.get_mut(op.buffer as usize) {
                *kept = *op;
            }
        }
        self.device.submit(ops)
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let first = out.len();
        self.device.reap(min, until, out)?;
        for completion in &mut out[first..] {
            if completion.result == Err(ECANCELED) {
                let op = self.operations[completion.buffer as usize];
                completion.result = self.calls.execute(&op, self.device.buffer(completion.buffer));
                self.carried_out += 1;
            }
            // What was carried out delays what is told after it.
            if self.carried_out > 0 {
                completion.at_ns = self.device.now();
            }
        }
        Ok(())
    }

    fn into_pool(self) -> Option<BufferPool> {
        self.device.into_pool()
    }

    fn features(&self) -> Vec<String> {
        self.device.features()
    }

    fn missing(&self) -> Vec<String> {
        let mut missing = self.device.missing();
        if self.carried_out > 0 {
            missing.push(format!(
                "the ring's workers: {}; {} operations that need one were carried out by the job's own thread, one at a time",
                self.why, self.carried_out
            ));
        }
        missing
    }

    fn helper_usage(&mut self) -> WorkerUsage {
        self.device.helper_usage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PsyncDevice;
    use std::os::unix::fs::FileExt;
    use workload::OpKind;

    /// A ring of which every second operation would need a worker.
    struct NeedsWorkers(PsyncDevice, u64);

    impl Device for NeedsWorkers {
        type Op = BlockOp;

        fn now(&self) -> Ns {
            self.0.now()
        }

        fn buffer(&mut self, index: u32) -> &mut [u8] {
            self.0.buffer(index)
        }

        fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
            // Nothing is to happen where the kernel says ECANCELED.
            let nothing = |op: &BlockOp| if op.buffer % 2 == 1 { BlockOp { kind: OpKind::Read, ..*op } } else { *op };
            self.0.submit(&ops.iter().map(nothing).collect::<Vec<_>>())
        }

        fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
            let first = out.len();
            self.0.reap(min, until, out)?;
            for completion in out[first..].iter_mut().filter(|c| c.buffer % 2 == 1) {
                completion.result = Err(ECANCELED);
                self.1 += 1;
            }
            Ok(())
        }
    }

    #[test]
    fn what_needs_a_worker_is_carried_out_all_the_same() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(16 << 10).unwrap();
        let own = || std::os::fd::OwnedFd::from(file.try_clone().unwrap());
        let epoch = sys::Epoch::start();
        let inner = NeedsWorkers(PsyncDevice::new(epoch, own(), BufferPool::new(4, 4096).unwrap()), 0);
        let mut device = RingWithoutWorkers::new(inner, own(), 4, "no thread".into());
        let ops: Vec<BlockOp> = (0..4)
            .map(|i| BlockOp {
                kind: OpKind::Write,
                offset: u64::from(i) * 4096,
                len: 4096,
                buffer: i,
                ..BlockOp::default()
            })
            .collect();
        let mut done = Vec::with_capacity(4);
        device.submit(&ops).unwrap();
        while done.len() < 4 {
            // The reads that stand for nothing have filled the buffers with zeros.
            for op in ops.iter().filter(|op| !done.iter().any(|c: &Completion| c.buffer == op.buffer)) {
                device.buffer(op.buffer).fill(op.buffer as u8 + 1);
            }
            device.reap(1, Ns::MAX, &mut done).unwrap();
        }
        assert!(done.iter().all(|c| c.result == Ok(4096)), "{done:?}");
        for i in [1u8, 3] {
            let mut byte = [0];
            file.read_exact_at(&mut byte, u64::from(i) * 4096).unwrap();
            assert_eq!(byte, [i + 1]);
        }
        assert!(device.missing()[0].contains("no thread; 2 operations"), "{:?}", device.missing());
    }
}
