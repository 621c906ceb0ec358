//! What is asked of a ring.

use crate::CallFlags;

/// What to ask of the kernel; by default all that makes it faster. Benchmarks and tests turn features off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// Register the buffers, which spares mapping their pages for each operation.
    pub register_buffers: bool,
    /// Register the files, which spares looking it up for each operation.
    pub register_file: bool,
    /// Register the ring itself, which spares looking it up for each call.
    pub register_ring: bool,
    /// On tmpfs and ramfs, have operations carried out in the submitting call. These file systems do not announce that
    /// they can be asked without blocking (FMODE_NOWAIT), so that the kernel hands each operation to a worker thread
    /// whose CPU time no one sees; O_NONBLOCK on the file makes it try at once (k:io_uring/rw.c,
    /// io_file_supports_nowait), and memory never blocks.
    pub inline_on_memory: bool,
    /// Completions are polled for instead of waited for (IORING_SETUP_IOPOLL). Only reads and writes with O_DIRECT on
    /// devices with polled queues can be; whether these can is told by the first operation (EOPNOTSUPP), and there are no
    /// syncs on such a ring (EINVAL).
    pub poll: bool,
    pub read_flags: CallFlags,
    pub write_flags: CallFlags,
}

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            register_buffers: true,
            register_file: true,
            register_ring: true,
            inline_on_memory: true,
            poll: false,
            read_flags: CallFlags::NONE,
            write_flags: CallFlags::NONE,
        }
    }
}
