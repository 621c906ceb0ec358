//! What a ring asks of the kernel beyond its queues: files, buffers and itself registered, and all given back at the end.
#![allow(unsafe_code)]

use crate::{BufferPool, Ring, RingOptions, errno_name};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat, fstatfs};
use rustix::io_uring::{IoringRegisterOp, IoringSqeFlags, io_uring_ptr, io_uring_register, io_uring_rsrc_update};
use std::ffi::c_void;
use std::os::fd::RawFd;

/// From this size on buffers are not registered. Registering spares mapping the pages of each operation, but makes a segment
/// of each page of the buffer before the kernel joins those of a huge page (6.12, k:io_uring/rsrc.c,
/// io_coalesce_buffer), whereas pages that are mapped for the operation are always joined (k:block/bio.c). What it spares
/// is nothing beside the transfer of so many bytes.
const MIN_UNREGISTERED: usize = 64 << 10;

impl RingOptions {
    /// All that makes it faster with such buffers.
    pub fn for_buffers(pool: &BufferPool) -> Self {
        Self { register_buffers: pool.buffer_bytes() < MIN_UNREGISTERED, ..Self::default() }
    }
}

/// Whether the file is a regular one on tmpfs or ramfs (magic numbers: k:include/uapi/linux/magic.h).
fn lies_in_memory(file: &OwnedFd) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    let regular = fstat(file).is_ok_and(|s| FileType::from_raw_mode(s.st_mode).is_file());
    // The type is a signed or unsigned word of 32 or 64 bits, by architecture; the numbers are 32 bits.
    regular && fstatfs(file).is_ok_and(|s| matches!(s.f_type as u64 & 0xffff_ffff, TMPFS | RAMFS))
}

impl Ring {
    /// Takes what the options ask for and the kernel grants.
    pub(crate) fn set_up(&mut self, options: &RingOptions, memlock: Option<u64>) {
        if options.inline_on_memory && self.files.iter().all(lies_in_memory) {
            self.issue_inline();
        }
        if options.register_file {
            self.register_files();
        }
        if options.register_buffers {
            self.register_buffers(memlock);
        }
        if options.register_ring {
            self.register_ring();
        }
    }

    /// Before the files are registered: the flag is looked at then.
    fn issue_inline(&mut self) {
        let nonblocking = |file| fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags | OFlags::NONBLOCK));
        let result = self.files.iter().try_for_each(nonblocking);
        match result {
            Ok(()) => self.features.push("inline-on-memory".to_owned()),
            Err(e) => self.missing.push(format!("inline-on-memory: {}", errno_name(e.raw_os_error()))),
        }
    }

    fn register_files(&mut self) {
        let table: Vec<RawFd> = self.files.iter().map(AsRawFd::as_raw_fd).collect();
        let Ok(count) = u32::try_from(table.len()) else { return };
        // SAFETY: the argument points to `count` descriptors, which the ring owns and keeps open.
        let result = unsafe {
            io_uring_register(self.queues.as_fd(), IoringRegisterOp::RegisterFiles, table.as_ptr().cast(), count)
        };
        match result {
            Ok(_) => {
                // At most 2^20 files can be registered (IORING_MAX_FIXED_FILES), so that an index is one of these.
                self.entry_fds = (0..count as RawFd).collect();
                self.entry_flags = IoringSqeFlags::FIXED_FILE;
                self.features.push("registered-file".to_owned());
            }
            Err(e) => self.missing.push(format!("registered-file: {}", errno_name(e.raw_os_error()))),
        }
    }

    /// Registers all buffers, or the largest share that halving finds: the limit of locked memory, and before 5.13 the
    /// 1,024 entries of UIO_MAXIOV, may forbid all.
    fn register_buffers(&mut self, memlock: Option<u64>) {
        let all = self.pool.count();
        let mut count = all;
        let mut errno = 0;
        while count > 0 {
            // SAFETY: the table has at least `count` entries, all naming memory of the pool, which outlives the ring's
            // use of it: see `drop`.
            let result = unsafe {
                io_uring_register(
                    self.queues.as_fd(),
                    IoringRegisterOp::RegisterBuffers,
                    self.vectors.as_ptr().cast::<c_void>(),
                    count,
                )
            };
            match result {
                Ok(_) => break,
                Err(e) => {
                    errno = e.raw_os_error();
                    count /= 2;
                }
            }
        }
        self.registered_buffers = count;
        if count > 0 {
            self.features.push("registered-buffers".to_owned());
        }
        if count < all {
            let limit = match memlock {
                Some(bytes) => format!("{} KiB may be locked (ulimit -l)", bytes / 1024),
                None => "locked memory is unlimited".to_owned(),
            };
            self.missing
                .push(format!("registered-buffers: {count} of {all} registered ({}), {limit}", errno_name(errno)));
        }
    }

    fn register_ring(&mut self) {
        let mut update = io_uring_rsrc_update::default();
        // Any free index (IORING_REGISTER_RING_FDS with offset -1); the kernel writes the one it took.
        update.offset = u32::MAX;
        // The descriptor travels as a number in the pointer-sized field.
        update.data = io_uring_ptr::new(std::ptr::without_provenance_mut(self.queues.as_fd().as_raw_fd() as usize));
        // SAFETY: the argument is one whole update struct that the kernel may change.
        let result = unsafe {
            io_uring_register(
                self.queues.as_fd(),
                IoringRegisterOp::RegisterRingFds,
                (&raw mut update).cast_const().cast(),
                1,
            )
        };
        match result {
            Ok(_) => {
                self.ring_index = Some(update.offset as RawFd);
                self.features.push("registered-ring".to_owned());
            }
            Err(e) => {
                self.missing.push(format!("registered-ring: {} (since Linux 5.18)", errno_name(e.raw_os_error())));
            }
        }
    }

    /// Gives everything back at once. Closing the ring alone would not: a registered ring stays open until its thread
    /// ends (k:io_uring/tctx.c), and the kernel releases a closed ring's file later, from a work queue. Until then the
    /// target is in use: it cannot be unmounted, and what was unlinked keeps its space.
    pub(crate) fn unregister(&mut self) {
        use IoringRegisterOp::{UnregisterBuffers, UnregisterFiles, UnregisterRingFds};
        let ring = self.queues.as_fd();
        // Failures mean that nothing was registered, or that another thread than the ring's drops it; then closing has
        // to do.
        for operation in [UnregisterFiles, UnregisterBuffers] {
            // SAFETY: these two take no argument; no operation is in flight that could use what was registered.
            let _ = unsafe { io_uring_register(ring, operation, std::ptr::null(), 0) };
        }
        if let Some(index) = self.ring_index.take() {
            let mut update = io_uring_rsrc_update::default();
            update.offset = index as u32;
            // SAFETY: the argument is one whole update struct, of which the kernel reads the offset.
            let _ = unsafe { io_uring_register(ring, UnregisterRingFds, (&raw const update).cast(), 1) };
        }
    }
}
