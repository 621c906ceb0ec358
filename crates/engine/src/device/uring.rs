//! io_uring: one ring, one file or several, registered buffers; submission and waiting in one system call.

use crate::device::calls::call_flags;
use crate::device::gather::put_together;
use crate::device::one_call::without_data;
use crate::device::pool_feature;
use crate::{Completion, Device, DeviceError};
use model::{IoPriority, Ns, RwFlags};
use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use sys::{
    BufferPool, Epoch, EventFd, Ring, RingError, RingOp, RingOptions, WritePart,
    errno::{ENXIO, ETIME},
};
use workload::{BlockOp, FileSpace, OpKind};

/// How long the read may take that shows whether completions can be polled for.
const POLL_TRIAL_NS: u64 = 5_000_000_000;

/// A ring over one file, or several in one range of addresses. Lives in the thread that made it.
#[derive(Debug)]
pub struct UringDevice {
    epoch: Epoch,
    ring: Ring,
    /// For what is carried out in the submitting thread: trims and zeroes, which block there in any case (the kernel hands
    /// them to a worker whose CPU no one sees), fdatasync, and all syncs of a ring that polls.
    files: Vec<OwnedFd>,
    space: FileSpace,
    polls: bool,
    /// Whether fdatasync is queued like other operations, so that writes go on beside it.
    queues_syncs: bool,
    missing: Vec<String>,
    /// Completions of those.
    aside: Vec<Completion>,
    /// The last time that `now` gave: waits are relative, and another reading of the clock only for them would be waste.
    /// The loop reads it before it submits, or goes on with the time of the reap before, so it is old by no more than the
    /// handling of one batch.
    last_now: Cell<Ns>,
}

fn not_entered(errno: i32) -> DeviceError {
    DeviceError::of("io_uring_enter")(std::io::Error::from_raw_os_error(errno))
}

impl UringDevice {
    /// Over an open file, with these buffers and features ([`RingOptions::for_buffers`] has what suits them). Must be made in
    /// the thread that will use it.
    ///
    /// # Errors
    /// [`DeviceError::NoRing`] where io_uring is missing or forbidden: [`crate::PsyncThreads`] serves then.
    pub fn new(epoch: Epoch, file: OwnedFd, pool: BufferPool, options: RingOptions) -> Result<Self, DeviceError> {
        let mut pool = Some(pool);
        Self::make(epoch, &[file], FileSpace::alone(), &mut pool, options)
    }

    /// Over several files whose addresses are those of `space`, or with flags for each call, or both. RWF_HIPRI asks for
    /// a ring that polls; where the device has no polled queues it is done without, which [`Device::missing`] says.
    ///
    /// The pool is taken only by a device that was made: another device may have it then.
    ///
    /// # Errors
    /// As [`UringDevice::new`].
    pub fn with_files(
        epoch: Epoch,
        files: &[OwnedFd],
        space: FileSpace,
        flags: RwFlags,
        pool: &mut Option<BufferPool>,
    ) -> Result<Self, DeviceError> {
        // What the ring does itself is not asked of each call: there RWF_HIPRI is EINVAL (k:io_uring/rw.c).
        let (read_flags, write_flags) = call_flags(RwFlags { hipri: false, ..flags });
        let fitting = pool.as_ref().map(RingOptions::for_buffers).unwrap_or_default();
        let options = RingOptions { read_flags, write_flags, ..fitting };
        let mut why = None;
        if flags.hipri {
            let polled = RingOptions { poll: true, ..options };
            match Self::make(epoch, files, space, pool, polled) {
                Ok(mut device) => match device.try_to_poll() {
                    Ok(()) => return Ok(device),
                    Err(errno) => {
                        why = Some(sys::errno_name(errno));
                        *pool = device.into_pool();
                    }
                },
                Err(DeviceError::NoRing(RingError::Call { errno, .. })) => why = Some(sys::errno_name(errno)),
                Err(error) => return Err(error),
            }
        }
        let mut device = Self::make(epoch, files, space, pool, options)?;
        device.missing.extend(why.map(|errno| {
            format!(
                "polled completions (RWF_HIPRI): {errno}: needs O_DIRECT and a device with polled queues \
                 (nvme.poll_queues=N, queue/io_poll); interrupts serve"
            )
        }));
        Ok(device)
    }

    /// With waits that end also when the bell rings, and fdatasync as an operation in flight beside the others: for a source
    /// that others bring something to, and that cannot stand still while it syncs.
    pub fn with_wakeup(mut self, event_fd: Arc<EventFd>) -> Self {
        self.ring.wake_on(event_fd);
        self.queues_syncs = !self.polls;
        self
    }

    /// With something more to say among what is missing.
    pub fn with_missing(mut self, what: Option<&str>) -> Self {
        self.missing.extend(what.map(str::to_owned));
        self
    }

    fn make(
        epoch: Epoch,
        files: &[OwnedFd],
        space: FileSpace,
        pool: &mut Option<BufferPool>,
        options: RingOptions,
    ) -> Result<Self, DeviceError> {
        // Another user's file keeps its times: the reads are the same.
        for file in files {
            let _ = sys::set_noatime(file);
        }
        let failed = DeviceError::of("dup of the target");
        let again = || files.iter().map(OwnedFd::try_clone).collect::<Result<Vec<OwnedFd>, _>>().map_err(&failed);
        let (own, aside) = (again()?, again()?);
        let ring = Ring::over(own, pool, options)?;
        let last_now = Cell::new(epoch.elapsed_ns());
        let done = Vec::with_capacity(ring.buffers() as usize);
        let polls = options.poll;
        let missing = Vec::new();
        Ok(Self { epoch, ring, files: aside, space, polls, queues_syncs: false, missing, aside: done, last_now })
    }

    /// Finds out with one read, of the first bytes of the first file, whether completions can be polled for.
    fn try_to_poll(&mut self) -> Result<(), i32> {
        let len = u32::try_from(self.ring.buffer_bytes()).unwrap_or(u32::MAX);
        let full = |_| 22;
        self.ring.push(RingOp::Read, 0, 0, len).map_err(full)?;
        let end_ns = self.epoch.elapsed_ns().saturating_add(POLL_TRIAL_NS);
        let mut result = None;
        // A ring that polls comes back without a completion when something else is to run (k:io_uring/io_uring.c,
        // io_iopoll_check).
        while result.is_none() && self.epoch.elapsed_ns() < end_ns {
            self.ring.enter(1, None)?;
            self.ring.complete(1, |c| result = Some(if c.result < 0 { Err(-c.result) } else { Ok(()) }));
        }
        result.unwrap_or(Err(ETIME))
    }

    #[cold]
    fn carry_out_aside(&mut self, op: &BlockOp) -> Result<(), DeviceError> {
        if self.aside.len() == self.aside.capacity() || self.ring.buffer_mut(op.buffer).is_none() {
            return Err(DeviceError::BadOperation(format!("buffer {} is in flight or does not exist", op.buffer)));
        }
        // What was queued before goes first.
        self.ring.enter(0, None).map_err(not_entered)?;
        let (file, offset) = self.space.locate(op.offset);
        let result = match self.files.get(file) {
            Some(file) => without_data(file, &BlockOp { offset, ..*op }),
            None => Err(ENXIO),
        };
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

    fn gather(&mut self, index: u32, parts: &mut Vec<WritePart>) -> bool {
        let gathered = self.ring.gather(index, parts);
        if !gathered {
            put_together(self.buffer(index), parts);
        }
        gathered
    }

    #[inline]
    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        for op in ops {
            let kind = match op.kind {
                OpKind::Read => RingOp::Read,
                OpKind::Write => RingOp::Write,
                OpKind::WriteSync => RingOp::WriteThenDatasync,
                OpKind::Fsync if !self.polls => RingOp::Fsync,
                OpKind::Fdatasync if self.queues_syncs => RingOp::Datasync,
                OpKind::Fsync | OpKind::Fdatasync | OpKind::Trim | OpKind::WriteZeroes => {
                    self.carry_out_aside(op)?;
                    continue;
                }
            };
            let (file, offset) = if self.files.len() == 1 { (0, op.offset) } else { self.space.locate(op.offset) };
            self.ring
                .push_to(file as u32, kind, op.buffer, offset, op.len, op.priority.map_or(0, IoPriority::bits))
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
        if self.polls && self.ring.in_flight() == 0 {
            // A ring that polls would compute until something completes.
            if min > 0 {
                self.epoch.sleep_until(until);
            }
            return Ok(());
        }
        let min = min.min(room) as u32;
        let wait = until.saturating_sub(self.last_now.get());
        // A moment that has passed is a poll, not a wait without limit.
        let min = if wait == 0 { 0 } else { min };
        self.ring.enter(min, Some(wait)).map_err(not_entered)?;
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

    fn into_pool(self) -> Option<BufferPool> {
        self.ring.into_pool()
    }

    fn features(&self) -> Vec<String> {
        self.ring.features().iter().cloned().chain(pool_feature(self.ring.pool())).collect()
    }

    fn missing(&self) -> Vec<String> {
        let pool = self.ring.pool().missing().map(str::to_owned);
        self.ring.missing().iter().chain(&self.missing).cloned().chain(pool).collect()
    }
}
