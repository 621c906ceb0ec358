//! The writer over a device of the engine.

use crate::account::Accounts;
use crate::frame_channel::FrameSource;
use crate::writer::{WriterOutcome, WriterSettings, WriterSource};
use engine::{Control, Device, DeviceError, PhaseShared, PsyncThreads, StreamConfig, UringDevice, run_data_source};
use model::{Ns, PhaseRecord, RwFlags};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use sys::{BufferPool, Epoch, EventFd, PoolOptions};
use workload::{BlockOp, FileSpace};

/// Writes in flight.
pub const DEPTH: u32 = 8;
/// Bytes of each write.
pub const PIECE_BYTES: u64 = 1 << 20;
/// Length of the intervals of the series.
const INTERVAL_NS: Ns = 100_000_000;

/// Result of a recording: how it ended and what was written.
#[derive(Debug, Default)]
pub struct RecordingOutcome {
    /// What the engine's loop recorded.
    pub stream: PhaseRecord,
    /// What the writer did.
    pub written: WriterOutcome,
    /// What the device used, and what it had to do without.
    pub features: Vec<String>,
    /// What it had to do without.
    pub missing: Vec<String>,
}

/// Writes what comes until nothing comes any more and all of it is durable. `before_the_end` is called once the loop has ended,
/// and returns when nobody brings anything any more.
///
/// # Errors
/// The device's interface fails; what the storage says of writes is in the result.
pub fn run<I: FrameSource>(
    file: &File,
    settings: WriterSettings,
    accounts: Arc<Accounts>,
    frame_source: I,
    (epoch, event_fd): (Epoch, Arc<EventFd>),
    before_the_end: impl FnOnce(),
) -> Result<RecordingOutcome, DeviceError> {
    let call = |call: &'static str| move |source| DeviceError::Call { call, source };
    let piece = settings.piece_bytes as usize;
    let buffers = || BufferPool::with(DEPTH, piece, PoolOptions::default()).map_err(call("mmap of buffers"));
    let mut pool = Some(buffers()?);
    let files: [OwnedFd; 1] = [file.try_clone().map_err(call("dup of the target"))?.into()];
    match UringDevice::with_files(epoch, &files, FileSpace::alone(), RwFlags::default(), &mut pool) {
        Ok(ring) => run_on_device(ring.with_wakeup(event_fd), settings, accounts, frame_source, before_the_end),
        Err(DeviceError::NoRing(why)) => {
            let [file] = files;
            let pool = pool.map_or_else(buffers, Ok)?;
            let threads = PsyncThreads::new(epoch, file, pool, Some(why.to_string()))?;
            run_on_device(threads.with_short_waits(), settings, accounts, frame_source, before_the_end)
        }
        Err(error) => Err(error),
    }
}

/// The same on any device, with as many buffers as [`DEPTH`] of the size of a piece.
///
/// # Errors
/// As [`run`].
pub fn run_on_device<I: FrameSource, D: Device<Op = BlockOp>>(
    mut device: D,
    settings: WriterSettings,
    accounts: Arc<Accounts>,
    frame_source: I,
    before_the_end: impl FnOnce(),
) -> Result<RecordingOutcome, DeviceError> {
    let mut source = WriterSource::new(settings, accounts, frame_source);
    let config =
        StreamConfig { depth: DEPTH, interval_ns: INTERVAL_NS, stop_on_error: false, ..StreamConfig::default() };
    let barrier = PhaseShared::new(1, &config.stop);
    let control = Control::default();
    let (features, missing) = (device.features(), device.missing());
    let stream = run_data_source(&mut device, &mut source, &config, &barrier, &control);
    before_the_end();
    let written = source.finish();
    Ok(RecordingOutcome { stream: stream?, written, features, missing })
}
