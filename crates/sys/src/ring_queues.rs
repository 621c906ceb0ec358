//! The two queues that a ring shares with the kernel: set up with every feature the kernel has, mapped, and accessed.
#![allow(unsafe_code)]

use crate::RingError;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io_uring::{
    IORING_OFF_CQ_RING, IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringFeatureFlags, IoringSetupFlags, IoringSqFlags,
    io_uring_cqe, io_uring_params, io_uring_setup, io_uring_sqe,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Set-up flags in the order in which they are given up, the newest first, with the kernel that brought each
/// (io_uring_setup(2)).
const OPTIONAL: [(IoringSetupFlags, &str, &str); 5] = [
    (IoringSetupFlags::NO_SQARRAY, "no-sqarray", "6.6"),
    (IoringSetupFlags::DEFER_TASKRUN, "defer-taskrun", "6.1"),
    (IoringSetupFlags::SINGLE_ISSUER, "single-issuer", "6.0"),
    // With the flag that says when there is work to be run, so that polling need not enter the kernel to find none.
    (IoringSetupFlags::COOP_TASKRUN.union(IoringSetupFlags::TASKRUN_FLAG), "coop-taskrun", "5.19"),
    (IoringSetupFlags::SUBMIT_ALL, "submit-all", "5.18"),
];

/// One mapping of ring memory.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(fd: &OwnedFd, bytes: usize, offset: u64) -> Result<Self, RingError> {
        let error = |errno| RingError::Call { call: "mmap of a ring", errno };
        // SAFETY: a fresh shared mapping of the ring's memory at an address of the kernel's choice.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                fd,
                offset,
            )
        }
        .map_err(|e| error(e.raw_os_error()))?;
        Ok(Self { base: NonNull::new(base.cast()).ok_or_else(|| error(libc::ENOMEM))?, bytes })
    }

    /// A pointer to a `T` at `offset`, as the kernel said in its parameters.
    fn at<T>(&self, offset: u32) -> NonNull<T> {
        let offset = offset as usize;
        assert!(offset + size_of::<T>() <= self.bytes, "the kernel gave an offset outside of its ring");
        // SAFETY: the offset was checked to lie within the mapping.
        unsafe { self.base.add(offset) }.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours; the pointers into it live in the same struct and are not used any more.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.bytes) };
    }
}

/// One completion as the kernel wrote it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawCompletion {
    pub user_data: u64,
    pub result: i32,
}

/// The queues. Not `Send`: with SINGLE_ISSUER only the thread that set them up may use them.
#[derive(Debug)]
pub(crate) struct Queues {
    pub fd: OwnedFd,
    pub setup: IoringSetupFlags,
    pub features: IoringFeatureFlags,
    pub names: Vec<String>,
    pub missing: Vec<String>,
    sq_head: NonNull<AtomicU32>,
    sq_tail: NonNull<AtomicU32>,
    sq_flags: NonNull<AtomicU32>,
    sq_mask: u32,
    sq_entries: u32,
    sqes: NonNull<io_uring_sqe>,
    /// Our copy of the tail, ahead of the published one until `publish`.
    local_tail: u32,
    cq_head: NonNull<AtomicU32>,
    cq_tail: NonNull<AtomicU32>,
    cq_mask: u32,
    cqes: NonNull<io_uring_cqe>,
    local_head: u32,
    _rings: Mapping,
    _completion_ring: Option<Mapping>,
    _entries: Mapping,
}

impl Queues {
    /// Queues for at least `entries` submissions, with as many of the optional features as the kernel has.
    /// With `poll`, a ring whose completions are polled for.
    pub fn new(entries: u32, poll: bool) -> Result<Self, RingError> {
        let entries = entries.max(1).next_power_of_two();
        let mut missing = Vec::new();
        let mut wanted: IoringSetupFlags = OPTIONAL.iter().map(|(flag, ..)| *flag).collect();
        let mut giving_up = OPTIONAL.iter();
        let (fd, params) = loop {
            let mut params = io_uring_params::default();
            params.flags = wanted;
            params.flags.set(IoringSetupFlags::IOPOLL, poll);
            // SAFETY: the parameters are a whole, initialised struct, and ATTACH_WQ is not set.
            match unsafe { io_uring_setup(entries, &mut params) } {
                Ok(fd) => break (fd, params),
                Err(rustix::io::Errno::INVAL) => {
                    // An unknown flag is EINVAL; which one is not said. Give up the newest that is left.
                    let Some((flag, name, since)) = giving_up.next() else {
                        return Err(RingError::setup(entries, libc::EINVAL));
                    };
                    wanted.remove(*flag);
                    missing.push(format!("{name}: the kernel refuses it (EINVAL; since Linux {since})"));
                }
                Err(errno) => return Err(RingError::setup(entries, errno.raw_os_error())),
            }
        };
        let names = OPTIONAL
            .iter()
            .rev()
            .filter(|(f, ..)| wanted.contains(*f))
            .map(|(_, name, _)| (*name).to_owned())
            .collect();

        let (sq, cq) = (&params.sq_off, &params.cq_off);
        let sq_bytes = sq.array as usize + params.sq_entries as usize * size_of::<u32>();
        let cq_bytes = cq.cqes as usize + params.cq_entries as usize * size_of::<io_uring_cqe>();
        // One mapping serves both rings since 5.4 (io_uring_setup(2), IORING_FEAT_SINGLE_MMAP).
        let single = params.features.contains(IoringFeatureFlags::SINGLE_MMAP);
        let rings = Mapping::new(&fd, if single { sq_bytes.max(cq_bytes) } else { sq_bytes }, IORING_OFF_SQ_RING)?;
        let completion_ring = if single { None } else { Some(Mapping::new(&fd, cq_bytes, IORING_OFF_CQ_RING)?) };
        let entries_map = Mapping::new(&fd, params.sq_entries as usize * size_of::<io_uring_sqe>(), IORING_OFF_SQES)?;
        let cq_ring = completion_ring.as_ref().unwrap_or(&rings);

        if !params.flags.contains(IoringSetupFlags::NO_SQARRAY) {
            // The indirection array stays the identity for ever.
            for i in 0..params.sq_entries {
                let slot = rings.at::<u32>(sq.array + i * size_of::<u32>() as u32);
                // SAFETY: within the mapping (`at` checked it); the kernel reads it only after a later publication.
                unsafe { slot.write(i) };
            }
        }
        // SAFETY: the masks are constants that the kernel wrote before it returned the descriptor.
        let (sq_mask, cq_mask) =
            unsafe { (rings.at::<u32>(sq.ring_mask).read(), cq_ring.at::<u32>(cq.ring_mask).read()) };
        assert!(sq_mask == params.sq_entries - 1 && cq_mask == params.cq_entries - 1, "ring masks do not fit");
        let _whole = cq_ring.at::<io_uring_cqe>(cq.cqes + cq_mask * size_of::<io_uring_cqe>() as u32);
        Ok(Self {
            setup: wanted,
            features: params.features,
            names,
            missing,
            sq_head: rings.at(sq.head),
            sq_tail: rings.at(sq.tail),
            sq_flags: rings.at(sq.flags),
            sq_mask,
            sq_entries: params.sq_entries,
            sqes: entries_map.at(0),
            local_tail: 0,
            cq_head: cq_ring.at(cq.head),
            cq_tail: cq_ring.at(cq.tail),
            cq_mask,
            cqes: cq_ring.at(cq.cqes),
            local_head: 0,
            _rings: rings,
            _completion_ring: completion_ring,
            _entries: entries_map,
            fd,
        })
    }

    /// Room for this many more submissions.
    #[inline]
    pub fn room(&self) -> u32 {
        // SAFETY: points into the mapped ring; the kernel changes it, hence the atomic.
        let head = unsafe { self.sq_head.as_ref() }.load(Ordering::Acquire);
        self.sq_entries - self.local_tail.wrapping_sub(head)
    }

    /// Puts an entry behind the last one; [`Queues::publish`] shows it to the kernel. The caller has seen `room`.
    #[inline]
    pub fn push(&mut self, entry: io_uring_sqe) {
        let index = (self.local_tail & self.sq_mask) as usize;
        // SAFETY: the index is masked to the queue's length, and the kernel does not read entries beyond the published
        // tail; there was room, so this entry has been consumed before.
        unsafe { self.sqes.add(index).write(entry) };
        self.local_tail = self.local_tail.wrapping_add(1);
    }

    /// Shows all pushed entries to the kernel.
    #[inline]
    pub fn publish(&self) {
        // SAFETY: points into the mapped ring. Release: the entries are written before the tail is seen.
        unsafe { self.sq_tail.as_ref() }.store(self.local_tail, Ordering::Release);
    }

    /// Whether the kernel has completions for which it must be entered. Always true where it does not tell.
    #[inline]
    pub fn work_pending(&self) -> bool {
        if !self.setup.contains(IoringSetupFlags::TASKRUN_FLAG) {
            return true;
        }
        // SAFETY: points into the mapped ring; the kernel changes it, hence the atomic.
        let flags = unsafe { self.sq_flags.as_ref() }.load(Ordering::Acquire);
        flags & (IoringSqFlags::TASKRUN | IoringSqFlags::CQ_OVERFLOW).bits() != 0
    }

    /// Completions that wait to be taken.
    #[inline]
    pub fn ready(&self) -> u32 {
        // SAFETY: points into the mapped ring. Acquire: the completions are written before the tail.
        unsafe { self.cq_tail.as_ref() }.load(Ordering::Acquire).wrapping_sub(self.local_head)
    }

    /// Takes one of `ready` completions; [`Queues::release`] gives the places back.
    #[inline]
    pub fn take(&mut self) -> RawCompletion {
        let index = (self.local_head & self.cq_mask) as usize;
        self.local_head = self.local_head.wrapping_add(1);
        // SAFETY: the index is masked to the queue's length; the caller saw by `ready` that the kernel wrote this entry.
        // Only the fixed part is read: entries are 16 bytes, since CQE32 is not set.
        unsafe {
            let entry = self.cqes.as_ptr().add(index);
            RawCompletion {
                user_data: (&raw const (*entry).user_data).read().u64_(),
                result: (&raw const (*entry).res).read(),
            }
        }
    }

    /// Gives the places of taken completions back to the kernel.
    #[inline]
    pub fn release(&self) {
        // SAFETY: points into the mapped ring. Release: the entries were read before the kernel may overwrite them.
        unsafe { self.cq_head.as_ref() }.store(self.local_head, Ordering::Release);
    }

    /// The ring's descriptor.
    pub fn as_fd(&self) -> rustix::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
