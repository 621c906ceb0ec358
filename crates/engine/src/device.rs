//! The seam to whatever carries operations out.

mod calls;
mod files;
mod gather;
mod in_thread;
mod memory;
mod metadata;
mod mmap;
mod null;
mod one_call;
mod ring_without_workers;
mod thread_pool;
mod uring;

pub(crate) use calls::{FileCalls, FileSet};
pub use files::FilesDevice;
pub(crate) use in_thread::InThread;
pub use in_thread::PsyncDevice;
pub use memory::MemoryDevice;
pub(crate) use memory::{Other, no_answer, rules};
pub(crate) use metadata::Metadata;
pub(crate) use mmap::MappedFiles;
pub use null::NullDevice;
pub(crate) use one_call::{Calls, check};
pub(crate) use ring_without_workers::RingWithoutWorkers;
pub use thread_pool::PsyncThreads;
#[cfg(feature = "file-trace")]
pub(crate) use thread_pool::ThreadPool;
pub use uring::UringDevice;

use model::{Ns, WorkerUsage};
use sys::{BufferPool, WritePart};
use workload::Request;

/// One completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The `buffer` index of the operation, which identifies it while it is in flight.
    pub buffer: u32,
    /// Bytes transferred, or the errno.
    pub result: Result<u32, i32>,
    /// When the completion was seen by this process (simulated: when it happened).
    pub at_ns: Ns,
}

/// A failure of the device interface itself, as opposed to a failed operation.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The submission or completion call failed.
    #[error("{call}: {source}")]
    Call { call: &'static str, source: std::io::Error },
    /// The kernel gives us no ring; threads can serve instead.
    #[error("{0}")]
    NoRing(#[from] sys::RingError),
    /// The system gives this program no further thread (EAGAIN of clone(2)).
    #[error("no thread for {purpose} ({})", sys::errno_name(source.raw_os_error().unwrap_or(0)))]
    NoThread {
        /// What it was to do.
        purpose: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// An operation that the caller had no right to submit: its buffer is in flight, does not exist, or is too small.
    #[error("operation refused by the device: {0}")]
    BadOperation(String),
}

/// What to do where the system gives no further thread: clone(2) fails with EAGAIN for RLIMIT_NPROC, for `pids.max` of the
/// control group (k:Documentation/admin-guide/cgroup-v2.rst), and for the system's own limits.
pub const NO_THREAD_REMEDY: &str = "raise the limit of processes and threads: ulimit -u, pids.max of the control group \
     (TasksMax= of a unit, --pids-limit of a container), sysctl kernel.threads-max; or ask for one job at depth 1, for which \
     one thread is enough";

/// The call that takes the memory of operations in flight.
pub(crate) const BUFFERS: &str = "mmap of buffers";

impl DeviceError {
    /// The failure of this call.
    pub(crate) fn of(call: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Call { call, source }
    }

    /// What the user can do, where something is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NoRing(error) => Some(error.remedy()),
            Self::NoThread { .. } => Some(NO_THREAD_REMEDY),
            Self::Call { call: BUFFERS, .. } => Some("use fewer jobs, a smaller depth or smaller blocks"),
            Self::Call { .. } | Self::BadOperation(_) => None,
        }
    }
}

/// More operations than buffers cannot be in flight; told before any is carried out.
#[inline]
fn check_room(in_flight: usize, pool: &BufferPool) -> Result<(), DeviceError> {
    if in_flight > pool.count() as usize {
        return Err(DeviceError::BadOperation(format!("more than {} operations in flight", pool.count())));
    }
    Ok(())
}

/// Carries operations out and owns the clock.
///
/// The contract, which one suite checks on every device (`tests/engine/contract.rs`): each operation completes exactly once;
/// a failed operation is a completion with an errno, never an `Err`; `now` never runs backwards, and no completion is
/// stamped before its submission.
pub trait Device {
    /// The kind of operation.
    type Op: Request;

    /// Whether the stamp of the last completion that a [`Device::reap`] gives is the moment at which it returned, as far
    /// as the clock tells. It can then serve as the time of what the caller does next, for one reading of the clock less.
    const STAMPED_ON_RETURN: bool = false;

    /// The device's clock, since the run's start.
    fn now(&self) -> Ns;

    /// The content of a buffer that is not in flight: filled before a write, looked at after a read.
    ///
    /// # Panics
    /// If the buffer is in flight or does not exist.
    fn buffer(&mut self, index: u32) -> &mut [u8];

    /// Has the next write of a buffer that is not in flight send these parts, one behind the other: of the buffer, from its start
    /// on, and of pieces of memory. They are taken, and the pieces kept as long as they are needed. Whether they are sent from
    /// where they lie; else they were put together in the buffer, into which all of them fit.
    fn gather(&mut self, index: u32, parts: &mut Vec<WritePart>) -> bool {
        gather::put_together(self.buffer(index), parts);
        false
    }

    /// Hands operations over. Each carries a distinct `buffer` index that is not in flight. May only queue them: they
    /// are certain to be on their way after the next [`Device::reap`]. A device without a queue carries them out here.
    fn submit(&mut self, ops: &[Self::Op]) -> Result<(), DeviceError>;

    /// Waits until `min` operations have completed or the moment `until` has come, and appends all completions that
    /// are there to `out`, which never grows beyond its capacity. `min` 0 polls. May return early on a signal. With
    /// nothing in flight and `min` above 0 it lets the time pass until `until`: so a paced source sleeps.
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError>;

    /// Lets the time pass until the moment `until` as a program that computes: the caller's processor is busy. With nothing
    /// in flight.
    fn spin_until(&mut self, until: Ns) {
        while self.now() < until {
            std::hint::spin_loop();
        }
    }

    /// The device's end: the pool that it was given, unless an operation that never came back still has a part of it.
    fn into_pool(self) -> Option<BufferPool>
    where
        Self: Sized,
    {
        None
    }

    /// Features in use, for [`model::EngineRecord::features`].
    fn features(&self) -> Vec<String> {
        Vec::new()
    }

    /// What was asked of the system and not had, with reasons, for [`model::EngineRecord::missing`].
    fn missing(&self) -> Vec<String> {
        Vec::new()
    }

    /// CPU that threads of the device other than the caller's used since the device was made. Called outside the loop,
    /// with nothing in flight.
    fn helper_usage(&mut self) -> WorkerUsage {
        WorkerUsage::NONE
    }
}

/// What the memory of the buffers adds to [`Device::features`].
fn pool_feature(pool: &BufferPool) -> Option<String> {
    let reserved = matches!(pool.options().pages, sys::Pages::Reserved { .. }) && pool.missing().is_none();
    let name = if reserved { "reserved-huge-page-buffers" } else { "huge-page-buffers" };
    (pool.huge_bytes() > 0).then(|| name.to_owned())
}

/// The workers' form of what `sys` measures.
pub(crate) fn worker_usage(usage: sys::ThreadUsage) -> WorkerUsage {
    WorkerUsage {
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        cpu_wait_ns: usage.cpu_wait_ns,
    }
}
