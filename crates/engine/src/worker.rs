//! The worker: one thread that carries one stream of a job out on one device. It keeps operations of the stream's source in flight
//! up to the queue depth, submits and reaps them in batches, and records each completion's latency (fio: the loop of one thread).
//! [`worker_loop`] is that loop, [`phase_shared`] what the workers of a phase share, [`data_source`] what it asks
//! for operations and their data, [`data`] who makes and checks data for a source that does not.

mod checking;
mod content;
mod data;
mod data_source;
mod depth_search;
mod limits;
mod min_rate;
mod phase_shared;
mod rounds_watch;
mod shaped;
mod steady;
mod wake_latency;
mod worker_loop;

pub(crate) use checking::VerifyingData;
pub use content::DataGenerator;
pub use data::{Data, NoData};
pub use data_source::{DataSource, WithData};
pub use phase_shared::PhaseShared;
pub use shaped::Shaped;
pub(crate) use steady::Steadiness;

use crate::device::worker_usage;
use crate::{Control, Device, DeviceError, StreamConfig};
use model::PhaseRecord;
use worker_loop::WorkerLoop;
use workload::{BlockOp, Source};

/// Runs a stream until its time is used, its source is done, it is steady, it fails, or `control` stops it.
///
/// The ramp (buffers filled, all memory taken) comes first; the loop after it allocates nothing, takes no lock and prints
/// nothing. Latency counts from the operation's intended start, else from the moment its batch was handed over; the clock
/// is read once a batch submitted and once a batch reaped. Batches of one or two are handed over with the stamp of the reap
/// before them, unless an interval ended or data were made in between: their latencies then hold our own work between the
/// two calls, some tens of nanoseconds, and are never too short. Operations in flight at the end are waited for and
/// recorded.
///
/// # Errors
/// Only where the device's interface fails; failed operations are in the record.
pub fn run_stream(
    device: &mut impl Device<Op = BlockOp>,
    source: &mut impl Source<Op = BlockOp>,
    settings: &StreamConfig,
    control: &Control,
) -> Result<PhaseRecord, DeviceError> {
    let mut data = settings.content_seed.map(DataGenerator::new);
    let barrier = PhaseShared::new(1, &settings.stop);
    run_worker(device, source, &mut data, settings, &barrier, control)
}

/// The same as one worker of several, over any kind of operation, with data of the caller's making. If it fails before its
/// start, the caller releases the others with [`PhaseShared`].
///
/// # Errors
/// As [`run_stream`].
pub fn run_worker<D: Device>(
    device: &mut D,
    source: &mut impl Source<Op = D::Op>,
    data: &mut impl Data<D::Op>,
    settings: &StreamConfig,
    barrier: &PhaseShared,
    control: &Control,
) -> Result<PhaseRecord, DeviceError> {
    run_data_source(device, WithData { source, data }, settings, barrier, control)
}

/// The same, of a source that has the data of its operations.
///
/// # Errors
/// As [`run_stream`].
pub fn run_data_source<D: Device>(
    device: &mut D,
    mut source: impl DataSource<Op = D::Op>,
    settings: &StreamConfig,
    barrier: &PhaseShared,
    control: &Control,
) -> Result<PhaseRecord, DeviceError> {
    if source.generates() {
        for index in 0..settings.depth.max(1) + settings.spare_buffers {
            source.fill(index, device.buffer(index));
        }
    }
    // What is paced starts when it is due, as far as the kernel lets a thread wake.
    let _punctual = sys::MinTimerSlack::new();
    let helpers_before = device.helper_usage();
    let usage_before = sys::thread_usage();
    let mut worker = WorkerLoop::new(device, source, settings, barrier, control);
    while worker.step()? {}
    let mut record = worker.finish();
    let used = sys::thread_usage().since(&usage_before);
    let helpers = device.helper_usage();
    record.usage = worker_usage(used).plus(&helpers.since(&helpers_before));
    Ok(record)
}
