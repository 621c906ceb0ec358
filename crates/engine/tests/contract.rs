//! One suite over every device: whatever carries operations out keeps the contract of [`engine::Device`].
//!
//! Adding a device is one line in `devices!`: its name, and a function that makes it over a file of `FILE_BYTES` with
//! [`DEPTH`] buffers of [`BLOCK`] bytes, or says why it cannot be had here.

mod contract {
    pub mod suite;
}

use contract::suite::{BLOCK, DEPTH, Subject, target};
use engine::{DeviceError, NullDevice, PsyncDevice, PsyncThreads, SimDevice, UringDevice};
use model::RwFlags;
use sys::{CallFlags, Epoch, RingOptions};
use workload::FileSpace;

macro_rules! devices {
    ($($name:ident: $make:expr;)*) => { $(
        mod $name {
            use super::*;
            contract::suite::tests!($make);
        }
    )* };
}

devices! {
    null: || Ok(Subject::new(NullDevice::new(Epoch::start(), DEPTH, BLOCK)?, DEPTH).without_data());
    psync: || Ok(Subject::new(PsyncDevice::new(Epoch::start(), target(), 1, BLOCK)?, 1));
    psync_threads: || Ok(Subject::new(PsyncThreads::new(Epoch::start(), target(), DEPTH, BLOCK, None)?, DEPTH));
    sim: || Ok(Subject::new(simulated(), DEPTH).without_data());
    uring: || Ok(Subject::new(UringDevice::new(Epoch::start(), target(), DEPTH, BLOCK)?, DEPTH));
    uring_flagged: || Ok(Subject::new(flagged()?, DEPTH));
    uring_bare: || Ok(Subject::new(UringDevice::with_options(Epoch::start(), target(), DEPTH, BLOCK, BARE)?, DEPTH));
}

/// Flags for each call, among them one that asks to poll where that can be.
fn flagged() -> Result<UringDevice, DeviceError> {
    let flags = RwFlags { hipri: true, dsync: true, ..RwFlags::default() };
    UringDevice::over(Epoch::start(), &[target()], FileSpace::alone(), flags, DEPTH, BLOCK)
}

/// Everything unregistered: what a kernel that refuses registration leaves.
const BARE: RingOptions = RingOptions {
    register_buffers: false,
    register_file: false,
    register_ring: false,
    inline_on_memory: false,
    poll: false,
    read_flags: CallFlags::NONE,
    write_flags: CallFlags::NONE,
};

/// A simulated device as large as the file.
fn simulated() -> SimDevice {
    let text = format!("emmc,host-queue={DEPTH},capacity={}", contract::suite::FILE_BYTES);
    let mut device = SimDevice::new(spec::parse_sim(&text).expect("a model"));
    device.prepare_buffers(DEPTH, BLOCK as u64);
    device
}
