//! What carries a single operation out in the calling thread.

use super::pool_feature;
use crate::DeviceError;
use model::Ns;
use std::os::fd::AsFd;
use sys::errno::EINVAL;
use sys::{BufferPool, Epoch};
use workload::{BlockOp, OpKind, Request};

/// What carries single operations out.
pub trait Calls {
    /// The kind of operation.
    type Op: Request;

    /// Whether it can be carried out with these buffers, of which its own is to hold its bytes; told before any is.
    ///
    /// # Errors
    /// [`DeviceError::BadOperation`].
    #[inline]
    fn check(&self, op: &Self::Op, pool: &BufferPool) -> Result<(), DeviceError> {
        check(op, pool.count(), pool.buffer_bytes())
    }

    /// Carries one out with its buffer; bytes transferred, or the errno.
    ///
    /// # Errors
    /// The errno.
    fn execute(&self, op: &Self::Op, buffer: &mut [u8]) -> Result<u32, i32>;

    /// The moment: of a simulation its own.
    #[inline]
    fn now(&self, epoch: &Epoch) -> Ns {
        epoch.elapsed_ns()
    }

    /// Lets time pass, where nothing is to be done.
    fn sleep_until(&self, epoch: &Epoch, until: Ns) {
        epoch.sleep_until(until);
    }

    /// A feature in use, and what was asked of the system and not had.
    fn remarks(&self, pool: &BufferPool) -> (Option<String>, Option<String>) {
        (pool_feature(pool), pool.missing().map(str::to_owned))
    }
}

/// What carries no data, and is rare or slow enough to stay out of the way of what does.
#[cold]
pub(super) fn without_data(file: impl AsFd, op: &BlockOp) -> Result<u32, i32> {
    let len = u64::from(op.len);
    match op.kind {
        OpKind::Fsync => sys::sync_all(file).map(|()| 0),
        OpKind::Fdatasync => sys::sync_data(file).map(|()| 0),
        OpKind::Trim => sys::discard(file, op.offset, len).map(|()| op.len),
        OpKind::WriteZeroes => sys::write_zeroes(file, op.offset, len).map(|()| op.len),
        OpKind::Read | OpKind::Write | OpKind::WriteSync => Err(EINVAL),
    }
}

/// An operation's buffer must exist and hold its bytes; told before anything is carried out.
#[inline]
pub(crate) fn check(op: &impl Request, depth: u32, buffer_bytes: usize) -> Result<(), DeviceError> {
    let (buffer, len) = (op.buffer(), op.len());
    if buffer >= depth || (len as usize > buffer_bytes && op.has_data()) {
        let what = format!("buffer {buffer} of {depth}, {len} bytes of {buffer_bytes}");
        return Err(DeviceError::BadOperation(what));
    }
    Ok(())
}
