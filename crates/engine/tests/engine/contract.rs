//! One suite over every device: whatever carries operations out keeps the contract of [`engine::Device`].
//!
//! Adding a device is one line in `devices!`: its name, and a function that makes it over a file of `FILE_BYTES` with
//! [`DEPTH`] buffers of [`BLOCK`] bytes, or says why it cannot be had here.

pub mod suite;

use engine::{DeviceError, NullDevice, PsyncDevice, PsyncThreads, SimDevice, UringDevice};
use model::RwFlags;
use suite::{BLOCK, DEPTH, Subject, target};
use sys::{BufferPool, CallFlags, Epoch, RingOptions};
use workload::FileSpace;

macro_rules! devices {
    ($($name:ident: $make:expr;)*) => { $(
        mod $name {
            use super::*;
            crate::contract::suite::tests!($make);
        }
    )* };
}

devices! {
    null: || Ok(Subject::new(NullDevice::new(Epoch::start(), pool(DEPTH)), DEPTH).without_data());
    psync: || Ok(Subject::new(PsyncDevice::new(Epoch::start(), target(), pool(1)), 1));
    psync_threads: || Ok(Subject::new(PsyncThreads::new(Epoch::start(), target(), pool(DEPTH), None)?, DEPTH));
    sim: || Ok(Subject::new(simulated(), DEPTH).without_data());
    uring: || Ok(Subject::new(UringDevice::new(Epoch::start(), target(), pool(DEPTH), RingOptions::default())?, DEPTH));
    uring_flagged: || Ok(Subject::new(flagged()?, DEPTH));
    uring_bare: || Ok(Subject::new(UringDevice::new(Epoch::start(), target(), pool(DEPTH), BARE)?, DEPTH));
}

fn pool(count: u32) -> BufferPool {
    BufferPool::new(count, BLOCK).expect("memory")
}

/// Flags for each call, among them one that asks to poll where that can be.
fn flagged() -> Result<UringDevice, DeviceError> {
    let flags = RwFlags { hipri: true, dsync: true, ..RwFlags::default() };
    UringDevice::with_files(Epoch::start(), &[target()], FileSpace::alone(), flags, &mut Some(pool(DEPTH)))
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
    let text = format!("emmc,host-queue={DEPTH},capacity={}", suite::FILE_BYTES);
    let mut device = SimDevice::new(spec::parse_sim(&text).expect("a model"));
    device.prepare_buffers(DEPTH, BLOCK as u64);
    device
}

/// Copies of memory are reads of it, over the same loop.
mod memory {
    use super::*;
    use engine::{Control, Device, MemoryDevice, NoData, PhaseShared, StreamConfig, run_worker};
    use model::{BlockPlan, PhasePlan, StopCause, StopRule, StreamPlan};
    use workload::{BlockOp, Pattern};

    const PIECE: u32 = 512;

    fn device() -> MemoryDevice<'static> {
        let mut from = pool(1);
        from.buffer_mut(0).iter_mut().enumerate().for_each(|(i, b)| *b = (i / 7) as u8);
        MemoryDevice::new(Epoch::start(), from, pool(1))
    }

    #[test]
    fn what_is_copied_is_there_and_what_lies_outside_is_refused() {
        let mut device = device();
        let mut done = Vec::with_capacity(2);
        device.submit(&[BlockOp { offset: 1024, len: PIECE, ..BlockOp::default() }]).unwrap();
        let second = device.submit(&[BlockOp { len: PIECE, ..BlockOp::default() }]);
        assert!(matches!(second, Err(DeviceError::BadOperation(_))), "one at a time");
        device.reap(1, u64::MAX, &mut done).unwrap();
        assert_eq!((done.len(), done[0].result), (1, Ok(PIECE)));
        let copied = &device.buffer(0)[1024..1024 + PIECE as usize];
        assert!(copied.iter().enumerate().all(|(i, b)| *b == ((1024 + i) / 7) as u8));
        for offset in [BLOCK as u64 - 1, u64::MAX] {
            let outside = device.submit(&[BlockOp { offset, len: PIECE, ..BlockOp::default() }]);
            assert!(matches!(outside, Err(DeviceError::BadOperation(_))), "{offset}");
        }
        device.reap(0, 0, &mut done).unwrap();
        assert_eq!(done.len(), 1);
    }

    #[test]
    fn the_loop_accounts_for_everything() {
        let phase = PhasePlan { time_limit_ns: 20_000_000, stop: StopRule::Time, ..PhasePlan::default() };
        let settings = StreamConfig::of(&phase, &StreamPlan::default(), 5_000_000);
        let barrier = PhaseShared::new(1, &phase.stop);
        let piece = u64::from(PIECE);
        let pieces = BlockPlan { block_size_bytes: piece, region_bytes: BLOCK as u64, ..BlockPlan::default() };
        let pieces = StreamPlan { kind: pieces.into(), ..StreamPlan::default() };
        let mut source = Pattern::new(pieces.blocks().unwrap(), false);
        let control = Control::default();
        let record = run_worker(&mut device(), &mut source, &mut NoData, &settings, &barrier, &control).unwrap();
        assert_eq!(record.stop, StopCause::TimeUsed);
        assert!(record.operations > 0);
        assert_eq!(record.bytes, record.operations * u64::from(PIECE));
        assert_eq!(record.intervals.iter().map(|i| i.operations).sum::<u64>(), record.operations);
    }
}
