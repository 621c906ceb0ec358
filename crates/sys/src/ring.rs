//! An io_uring that owns its buffers and its files.
//!
//! Safe by construction: the ring owns the [`BufferPool`], every operation uses one buffer, and the ring refuses to lend
//! or reuse a buffer while the kernel may touch it. Submission and waiting are one system call. The ring stays in the
//! thread that made it (it is not `Send`), as SINGLE_ISSUER demands.
//!
//! Written on the types and calls of rustix; the io-uring crate refuses to build for 32-bit ARM.
//!
//! Facts: io_uring_setup(2), io_uring_enter(2), io_uring_register(2).
#![allow(unsafe_code)]

use crate::ring_gather::{GatherTable, vectored_entry};
use crate::ring_op::{RingCompletion, RingOp};
use crate::ring_queues::Queues;
use crate::{BufferPool, CallFlags, EventFd, PushError, RingError, RingOptions, raise_memlock};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::io_uring::{
    IoringEnterFlags, IoringFeatureFlags, IoringFsyncFlags, IoringOp, IoringSetupFlags, IoringSqeFlags,
    addr_or_splice_off_in_union, buf_union, io_uring_enter, io_uring_enter_arg, io_uring_getevents_arg, io_uring_ptr,
    io_uring_sqe, io_uring_user_data, ioprio_union, iovec, len_union, off_or_addr2_union, op_flags_union,
};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// State of a buffer: how many entries in the kernel's hands name it, and the result of the first part of a pair.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    parts: u8,
    pair: bool,
    write_result: i32,
    sync_result: i32,
}

/// Marks the sync half of a pair in the user data; below it is the buffer's index.
const SYNC_HALF: u64 = 1 << 32;
/// The user data of the entry that waits for the bell.
const BELL: u64 = 1 << 33;

/// A ring over one or several files.
#[derive(Debug)]
pub struct Ring {
    pub(crate) queues: Queues,
    pub(crate) pool: ManuallyDrop<BufferPool>,
    /// Address tables for buffers that are not registered; READV and WRITEV exist since 5.1, READ and WRITE since 5.6.
    pub(crate) vectors: Vec<iovec>,
    slots: Vec<Slot>,
    pub(crate) gathered: GatherTable,
    pub(crate) files: Vec<OwnedFd>,
    /// What stands for each file in an entry: its index among the registered ones, else its descriptor.
    pub(crate) entry_fds: Vec<RawFd>,
    read_flags: CallFlags,
    write_flags: CallFlags,
    /// Completions are polled for: a wait cannot have a limit then.
    polls: bool,
    pub(crate) entry_flags: IoringSqeFlags,
    pub(crate) registered_buffers: u32,
    pub(crate) ring_index: Option<RawFd>,
    extended_arguments: bool,
    deferred: bool,
    unsubmitted: u32,
    in_flight: u32,
    /// The pool has been given back, or kept for ever.
    ended: bool,
    /// What else a wait ends for.
    event_fd: Option<Arc<EventFd>>,
    pub(crate) features: Vec<String>,
    pub(crate) missing: Vec<String>,
}

impl Ring {
    /// A ring over `file` with the buffers of `pool`; at most one operation a buffer is in flight. Raises the soft limit
    /// of locked memory to the hard one. What the kernel does not grant is listed by [`Ring::missing`] and done without.
    ///
    /// # Errors
    /// Where io_uring is missing or forbidden, or its memory cannot be had.
    pub fn new(file: OwnedFd, pool: BufferPool, options: RingOptions) -> Result<Self, RingError> {
        Self::over(vec![file], &mut Some(pool), options)
    }

    /// The same over several files, told apart by their index. The pool is taken only if there is a ring.
    ///
    /// # Errors
    /// As [`Ring::new`]; and without a pool.
    pub fn over(files: Vec<OwnedFd>, pool: &mut Option<BufferPool>, options: RingOptions) -> Result<Self, RingError> {
        let memlock = raise_memlock();
        let count = pool.as_ref().map_or(0, BufferPool::count);
        // A pair takes two entries.
        let queues = Queues::new(count.saturating_mul(2).min(32_768), options.poll)?;
        let Some(pool) = pool.take() else {
            return Err(RingError::Call { call: "io_uring_setup without buffers", errno: libc::EINVAL });
        };
        let mut ring = Self {
            extended_arguments: queues.features.contains(IoringFeatureFlags::EXT_ARG),
            deferred: queues.setup.contains(IoringSetupFlags::DEFER_TASKRUN),
            features: queues.names.clone(),
            missing: queues.missing.clone(),
            queues,
            vectors: (0..pool.count())
                .map(|i| iovec { iov_base: pool.address(i).cast(), iov_len: pool.buffer_bytes() })
                .collect(),
            slots: vec![Slot::default(); pool.count() as usize],
            gathered: GatherTable::default(),
            pool: ManuallyDrop::new(pool),
            entry_fds: files.iter().map(AsRawFd::as_raw_fd).collect(),
            entry_flags: IoringSqeFlags::empty(),
            files,
            read_flags: options.read_flags,
            write_flags: options.write_flags,
            polls: options.poll,
            registered_buffers: 0,
            ring_index: None,
            unsubmitted: 0,
            in_flight: 0,
            ended: false,
            event_fd: None,
        };
        if ring.extended_arguments {
            ring.features.push("timeout-argument".to_owned());
        } else {
            ring.missing
                .push("timeout-argument: the kernel lacks it (since Linux 5.11), poll waits instead".to_owned());
        }
        ring.set_up(&options, memlock);
        Ok(ring)
    }

    pub fn pool(&self) -> &BufferPool {
        &self.pool
    }

    /// The ring's end: its pool, unless an operation that never came back still has a part of it.
    pub fn into_pool(mut self) -> Option<BufferPool> {
        self.ended = true;
        // SAFETY: no operation refers to it, and with `ended` nothing takes or drops it again.
        self.end().then(|| unsafe { ManuallyDrop::take(&mut self.pool) })
    }

    /// A wait for completions also ends when the bell rings. It takes an entry of the queue: not with pairs in all buffers.
    pub fn wake_on(&mut self, event_fd: Arc<EventFd>) {
        self.event_fd = Some(event_fd);
        self.poll_event_fd();
    }

    /// Queues the entry that completes when the bell rings, once.
    fn poll_event_fd(&mut self) {
        let Some(event_fd) = &self.event_fd else { return };
        self.queues.push(io_uring_sqe {
            opcode: IoringOp::PollAdd,
            fd: event_fd.as_fd().as_raw_fd(),
            op_flags: op_flags_union { poll32_events: u32::from(PollFlags::IN.bits()) },
            user_data: io_uring_user_data::from_u64(BELL),
            ..io_uring_sqe::default()
        });
        self.unsubmitted += 1;
    }

    /// Features in use.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// What was asked and not had, each with the reason.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// How many buffers, and so operations in flight at most.
    #[inline]
    pub fn buffers(&self) -> u32 {
        self.pool.count()
    }

    /// Size of each buffer.
    #[inline]
    pub fn buffer_bytes(&self) -> usize {
        self.pool.buffer_bytes()
    }

    /// Operations pushed and not yet taken by [`Ring::complete`].
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// A buffer, unless it is in flight or does not exist.
    #[inline]
    pub fn buffer_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        if self.slots.get(index as usize)?.parts > 0 {
            return None;
        }
        self.gathered.clear(index);
        Some(self.pool.buffer_mut(index))
    }

    /// Queues an operation; the next [`Ring::enter`] submits it.
    ///
    /// # Errors
    /// Nothing was queued; see [`PushError`].
    #[inline]
    pub fn push(&mut self, op: RingOp, buffer: u32, offset: u64, len: u32) -> Result<(), PushError> {
        self.push_to(0, op, buffer, offset, len, 0)
    }

    /// The same on the file with this index, and with a priority of its own as [`crate::set_io_priority`] takes it; with 0 a
    /// transfer has the thread's. Syncs have none.
    ///
    /// # Errors
    /// Nothing was queued; see [`PushError`].
    #[inline]
    pub fn push_to(
        &mut self,
        file: u32,
        op: RingOp,
        buffer: u32,
        offset: u64,
        len: u32,
        priority: u16,
    ) -> Result<(), PushError> {
        let Some(&fd) = self.entry_fds.get(file as usize) else { return Err(PushError::NoSuchFile(file)) };
        let Some(slot) = self.slots.get_mut(buffer as usize) else { return Err(PushError::NoSuchBuffer(buffer)) };
        if slot.parts > 0 {
            return Err(PushError::InFlight(buffer));
        }
        if len as usize > self.pool.buffer_bytes() {
            return Err(PushError::TooLong { len, buffer_bytes: self.pool.buffer_bytes() });
        }
        let parts = 1 + u8::from(op == RingOp::WriteThenDatasync);
        if self.queues.room() < u32::from(parts) {
            return Err(PushError::Full);
        }
        *slot = Slot { parts, pair: parts == 2, ..Slot::default() };
        let mut entry = match op {
            RingOp::Read => self.transfer(fd, IoringOp::ReadFixed, IoringOp::Readv, buffer, offset, len),
            RingOp::Write | RingOp::WriteThenDatasync => {
                self.transfer(fd, IoringOp::WriteFixed, IoringOp::Writev, buffer, offset, len)
            }
            RingOp::Fsync => self.sync(fd, u64::from(buffer), IoringFsyncFlags::empty()),
            RingOp::Datasync => self.sync(fd, u64::from(buffer), IoringFsyncFlags::DATASYNC),
        };
        if !matches!(op, RingOp::Fsync | RingOp::Datasync) {
            entry.ioprio = ioprio_union { ioprio: priority };
        }
        if op == RingOp::WriteThenDatasync {
            entry.flags |= IoringSqeFlags::IO_LINK;
            self.queues.push(entry);
            entry = self.sync(fd, u64::from(buffer) | SYNC_HALF, IoringFsyncFlags::DATASYNC);
        }
        self.queues.push(entry);
        self.unsubmitted += u32::from(parts);
        self.in_flight += 1;
        Ok(())
    }

    #[inline]
    fn transfer(
        &mut self,
        fd: RawFd,
        fixed: IoringOp,
        vectored: IoringOp,
        buffer: u32,
        offset: u64,
        len: u32,
    ) -> io_uring_sqe {
        let flags = if fixed == IoringOp::ReadFixed { self.read_flags } else { self.write_flags };
        let mut entry = io_uring_sqe {
            flags: self.entry_flags,
            fd,
            // The kernel knows flags that rustix does not.
            op_flags: op_flags_union { rw_flags: ReadWriteFlags::from_bits_retain(flags.bits()) },
            off_or_addr2: off_or_addr2_union { off: offset },
            user_data: io_uring_user_data::from_u64(u64::from(buffer)),
            ..io_uring_sqe::default()
        };
        if let Some(vectors) = self.gathered.of(fixed, buffer) {
            return vectored_entry(entry, vectored, vectors);
        }
        if buffer < self.registered_buffers {
            entry.opcode = fixed;
            entry.addr_or_splice_off_in =
                addr_or_splice_off_in_union { addr: io_uring_ptr::new(self.pool.address(buffer).cast()) };
            entry.len = len_union { len };
            // At most 16,384 buffers can be registered, so the index fits (IORING_MAX_REG_BUFFERS).
            entry.buf = buf_union { buf_index: buffer as u16 };
        } else {
            let vector = &mut self.vectors[buffer as usize];
            vector.iov_len = len as usize;
            return vectored_entry(entry, vectored, std::slice::from_ref(vector));
        }
        entry
    }

    #[inline]
    fn sync(&self, fd: RawFd, user_data: u64, flags: IoringFsyncFlags) -> io_uring_sqe {
        io_uring_sqe {
            opcode: IoringOp::Fsync,
            flags: self.entry_flags,
            fd,
            op_flags: op_flags_union { fsync_flags: flags },
            user_data: io_uring_user_data::from_u64(user_data),
            ..io_uring_sqe::default()
        }
    }

    /// Submits all that was pushed and waits for `min` completions (0: does not wait), at most `wait_ns` nanoseconds
    /// (`None`: for ever), in one system call. Returns early when a signal arrives. With nothing to submit and enough
    /// completions there, no call is made.
    ///
    /// # Errors
    /// The errno of io_uring_enter(2), except those that only say "later" (EAGAIN, EBUSY), "in time" (ETIME) and EINTR.
    #[inline]
    pub fn enter(&mut self, min: u32, wait_ns: Option<u64>) -> Result<(), i32> {
        if self.unsubmitted == 0 {
            let ready = self.queues.ready();
            // With DEFER_TASKRUN completions appear only when the kernel is entered to run them.
            if ready >= min && (min > 0 || ready > 0 || !(self.polls || self.deferred && self.queues.work_pending())) {
                return Ok(());
            }
        }
        self.queues.publish();
        let result = match wait_ns {
            // A ring that polls computes until the completions are there, whatever the limit (k:io_uring/io_uring.c,
            // io_iopoll_check).
            Some(ns) if min > 0 && !self.polls => {
                if !self.extended_arguments {
                    return self.enter_and_poll(min, ns);
                }
                self.enter_timed(min, ns)
            }
            _ => self.enter_untimed(min, min > 0 || self.polls || self.queues.work_pending()),
        };
        self.submitted(result)
    }

    #[inline]
    fn submitted(&mut self, result: Result<u32, Errno>) -> Result<(), i32> {
        match result {
            Ok(count) => {
                self.unsubmitted -= count.min(self.unsubmitted);
                Ok(())
            }
            Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
            Err(errno) => Err(errno.raw_os_error()),
        }
    }

    #[inline]
    fn call_fd(&self) -> (BorrowedFd<'_>, IoringEnterFlags) {
        match self.ring_index {
            // SAFETY: not a descriptor but the index of the registered ring, which the flag announces; it is never -1.
            Some(index) => (unsafe { BorrowedFd::borrow_raw(index) }, IoringEnterFlags::REGISTERED_RING),
            None => (self.queues.as_fd(), IoringEnterFlags::empty()),
        }
    }

    #[inline]
    fn enter_untimed(&self, min: u32, events: bool) -> Result<u32, Errno> {
        let (fd, mut flags) = self.call_fd();
        if events {
            flags |= IoringEnterFlags::GETEVENTS;
        }
        // SAFETY: published entries name only memory of the pool and of `vectors`, and the file that the ring owns.
        unsafe { io_uring_enter(fd, self.unsubmitted, min, flags) }
    }

    #[inline]
    fn enter_timed(&self, min: u32, wait_ns: u64) -> Result<u32, Errno> {
        // struct __kernel_timespec: two 64-bit fields on every architecture.
        let time: [i64; 2] = [(wait_ns / 1_000_000_000) as i64, (wait_ns % 1_000_000_000) as i64];
        let argument = io_uring_getevents_arg {
            sigmask: io_uring_ptr::null(),
            sigmask_sz: 0,
            min_wait_usec: 0,
            ts: io_uring_ptr::new((&raw const time).cast_mut().cast()),
        };
        let (fd, flags) = self.call_fd();
        let flags = flags | IoringEnterFlags::GETEVENTS | IoringEnterFlags::EXT_ARG;
        // SAFETY: as in `enter_untimed`; the argument and the time it points to live until the call returns.
        unsafe { io_uring_enter_arg(fd, self.unsubmitted, min, flags, Some(&argument)) }
    }

    /// Before 5.11 a wait has no limit of its own: submit, then poll the ring.
    #[cold]
    fn enter_and_poll(&mut self, min: u32, wait_ns: u64) -> Result<(), i32> {
        let start = Instant::now();
        let wait = Duration::from_nanos(wait_ns);
        loop {
            let result = self.enter_untimed(0, true);
            self.submitted(result)?;
            let left = wait.saturating_sub(start.elapsed());
            if self.queues.ready() >= min || left.is_zero() {
                return Ok(());
            }
            let time = rustix::time::Timespec {
                tv_sec: left.as_secs().min(i32::MAX as u64) as _,
                tv_nsec: left.subsec_nanos() as _,
            };
            let fd = self.queues.as_fd();
            match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&time)) {
                Ok(_) => {}
                Err(Errno::INTR) => return Ok(()),
                Err(errno) => return Err(errno.raw_os_error()),
            }
        }
    }

    /// Entries that the kernel has completed and [`Ring::complete`] has not taken; a pair has two.
    #[inline]
    pub fn ready(&self) -> u32 {
        self.queues.ready()
    }

    /// Takes up to `limit` completed operations and gives each to `sink`.
    #[inline]
    pub fn complete(&mut self, limit: usize, mut sink: impl FnMut(RingCompletion)) {
        let mut taken = 0;
        let mut ready = self.queues.ready();
        if ready == 0 {
            return;
        }
        while ready > 0 && taken < limit {
            ready -= 1;
            let raw = self.queues.take();
            if raw.user_data == BELL {
                if let Some(event_fd) = &self.event_fd {
                    event_fd.drain();
                }
                self.poll_event_fd();
                continue;
            }
            let buffer = raw.user_data as u32;
            let slot = &mut self.slots[buffer as usize];
            slot.parts -= 1;
            let mut result = raw.result;
            if slot.pair {
                if raw.user_data & SYNC_HALF != 0 {
                    slot.sync_result = result;
                } else {
                    slot.write_result = result;
                }
                if slot.parts > 0 {
                    continue;
                }
                // A failed or short write breaks the link and cancels its sync: the write's result is the answer.
                result = match (slot.write_result, slot.sync_result) {
                    (written, _) if written < 0 => written,
                    (written, sync) if sync >= 0 || sync == -libc::ECANCELED => written,
                    (_, sync) => sync,
                };
            }
            if result >= 0 {
                self.gathered.clear(buffer);
            }
            self.in_flight -= 1;
            taken += 1;
            sink(RingCompletion { buffer, result });
        }
        self.queues.release();
    }
}

impl Ring {
    /// Waits a moment for what is in flight, and gives everything back to the kernel if all has come; else the memory is
    /// kept for ever, rather than written into when something else has come to lie there. Whether all has come.
    fn end(&mut self) -> bool {
        let start = Instant::now();
        // A wait of a ring that polls has no limit.
        let min = u32::from(!self.polls);
        while self.in_flight > 0 && start.elapsed() < Duration::from_secs(2) {
            if self.enter(min, Some(100_000_000)).is_err() {
                break;
            }
            self.complete(usize::MAX, |_| {});
        }
        if self.in_flight == 0 {
            self.unregister();
        } else {
            // The vectors too may still be read by entries that were not submitted; they are small.
            std::mem::forget(std::mem::take(&mut self.vectors));
            std::mem::forget(std::mem::take(&mut self.gathered));
        }
        self.in_flight == 0
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.ended && self.end() {
            // SAFETY: not used again, and no operation refers to it.
            unsafe { ManuallyDrop::drop(&mut self.pool) };
        }
    }
}
