//! io_uring: one ring, one file, registered buffers; submission and waiting in one system call.

use crate::device::psync::without_data;
use crate::{Completion, Device, DeviceError};
use model::Ns;
use std::cell::Cell;
use std::os::fd::OwnedFd;
use sys::{BufferPool, Epoch, Ring, RingOp, RingOptions};
use workload::{BlockOp, OpKind};

/// A ring over one file. Lives in the thread that made it.
#[derive(Debug)]
pub struct UringDevice {
    epoch: Epoch,
    ring: Ring,
    /// For what is carried out in the submitting thread: trims and zeroes, which block there in any case (the kernel hands
    /// them to a worker whose CPU no one sees), and fdatasync.
    file: OwnedFd,
    /// Completions of those.
    aside: Vec<Completion>,
    /// The last time that `now` gave: waits are relative, and another reading of the clock only for them would be waste.
    /// The loop reads it before it submits, or goes on with the time of the reap before, so it is old by no more than the
    /// handling of one batch.
    last_now: Cell<Ns>,
}

impl UringDevice {
    /// Over an open file, with `depth` buffers of `buffer_bytes`. Must be made in the thread that will use it.
    ///
    /// # Errors
    /// [`DeviceError::NoRing`] where io_uring is missing or forbidden: [`crate::PsyncThreads`] serves then.
    pub fn new(epoch: Epoch, file: OwnedFd, depth: u32, buffer_bytes: usize) -> Result<Self, DeviceError> {
        Self::with_options(epoch, file, depth, buffer_bytes, RingOptions::default())
    }

    /// The same with features left out, for benchmarks and tests.
    ///
    /// # Errors
    /// As [`UringDevice::new`].
    pub fn with_options(
        epoch: Epoch,
        file: OwnedFd,
        depth: u32,
        buffer_bytes: usize,
        options: RingOptions,
    ) -> Result<Self, DeviceError> {
        // Another user's file keeps its times: the reads are the same.
        let _ = sys::keep_access_time(&file);
        let pool = BufferPool::new(depth, buffer_bytes)
            .map_err(|source| DeviceError::Call { call: "mmap of buffers", source })?;
        let again = file.try_clone().map_err(|source| DeviceError::Call { call: "dup of the target", source })?;
        let ring = Ring::new(file, pool, options)?;
        let aside = Vec::with_capacity(depth as usize);
        Ok(Self { epoch, ring, file: again, aside, last_now: Cell::new(epoch.elapsed_ns()) })
    }
}

impl UringDevice {
    #[cold]
    fn carry_out_aside(&mut self, op: &BlockOp) -> Result<(), DeviceError> {
        if self.aside.len() == self.aside.capacity() || self.ring.buffer_mut(op.buffer).is_none() {
            return Err(DeviceError::BadOperation(format!("buffer {} is in flight or does not exist", op.buffer)));
        }
        // What was queued before goes first.
        self.ring.enter(0, None).map_err(|errno| DeviceError::Call {
            call: "io_uring_enter",
            source: std::io::Error::from_raw_os_error(errno),
        })?;
        let result = without_data(&self.file, op);
        self.aside.push(Completion { buffer: op.buffer, result, at_ns: self.now() });
        Ok(())
    }
}

impl Device for UringDevice {
    type Op = BlockOp;

    const STAMPED_ON_RETURN: bool = true;

    #[inline]
    fn now(&self) -> Ns {
        let now = self.epoch.elapsed_ns();
        self.last_now.set(now);
        now
    }

    #[inline]
    fn buffer(&mut self, index: u32) -> &mut [u8] {
        match self.ring.buffer_mut(index) {
            Some(buffer) => buffer,
            None => panic!("buffer {index} is in flight or does not exist"),
        }
    }

    #[inline]
    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        for op in ops {
            let kind = match op.kind {
                OpKind::Read => RingOp::Read,
                OpKind::Write => RingOp::Write,
                OpKind::WriteSync => RingOp::WriteThenDatasync,
                OpKind::Fsync => RingOp::Fsync,
                OpKind::Fdatasync | OpKind::Trim | OpKind::WriteZeroes => {
                    self.carry_out_aside(op)?;
                    continue;
                }
            };
            self.ring
                .push(kind, op.buffer, op.offset, op.len)
                .map_err(|error| DeviceError::BadOperation(error.to_string()))?;
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let room = out.capacity() - out.len();
        if !self.aside.is_empty() {
            let count = self.aside.len().min(room);
            out.extend(self.aside.drain(..count));
            if count >= min || count == room {
                return Ok(());
            }
        }
        let room = out.capacity() - out.len();
        let min = min.min(room) as u32;
        let wait = until.saturating_sub(self.last_now.get());
        // A moment that has passed is a poll, not a wait without limit.
        let min = if wait == 0 { 0 } else { min };
        self.ring.enter(min, Some(wait)).map_err(|errno| DeviceError::Call {
            call: "io_uring_enter",
            source: std::io::Error::from_raw_os_error(errno),
        })?;
        if self.ring.ready() == 0 {
            return Ok(());
        }
        let at_ns = self.now();
        self.ring.complete(room, |c| {
            let result = if c.result >= 0 { Ok(c.result as u32) } else { Err(-c.result) };
            out.push(Completion { buffer: c.buffer, result, at_ns });
        });
        Ok(())
    }

    fn features(&self) -> Vec<String> {
        self.ring.features().to_vec()
    }

    fn missing(&self) -> Vec<String> {
        self.ring.missing().to_vec()
    }
}
