//! Requests with priorities of their own, as the kernel sees them. Needs neither root nor devices.

use crate::phases;
use crate::phases::{MIB, filesystem_of, open, options};
use engine::{Control, DeviceError, Rig, StreamConfig, UringDevice, run_stream};
use model::{
    Access, BlockPlan, EngineKind, ErrorPolicy, IoClass, IoPath, IoPriority, Operation, Order, PhasePlan,
    PriorityShare, StopRule, StreamPlan,
};
use sys::{BufferPool, Epoch, RingOptions};
use workload::Pattern;

/// Reads of which a quarter has this priority.
fn phase(priority: IoPriority) -> PhasePlan {
    let share = PriorityShare { operation: Operation::Read, block_bytes: Some(4096), percent: 25, priority };
    let stream = StreamPlan {
        kind: BlockPlan { order: Order::Random, region_bytes: 8 * MIB, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: 8, priority_shares: vec![share], ..IoPath::default() },
        on_error: ErrorPolicy::Continue,
        seed: 3,
        ..StreamPlan::default()
    };
    PhasePlan {
        name: "p".into(),
        engine: EngineKind::IoUring,
        access: Access::Direct,
        streams: vec![stream],
        time_limit_ns: 60_000_000_000,
        stop: StopRule::RegionOnce,
        ..PhasePlan::default()
    }
    .alike()
}

#[test]
fn the_share_that_was_asked_for_reaches_the_kernel_with_its_priority() {
    // Too large a hint makes a class of it that there is not: the kernel answers EINVAL to just these requests.
    let none = IoPriority { class: IoClass::Idle, level: 0, hint: 0x1c00 };
    for (priority, refused) in [(none, true), (IoPriority { class: IoClass::Idle, level: 0, hint: 0 }, false)] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8 * MIB).unwrap();
        let phase = phase(priority);
        let pool = BufferPool::new(8, 4096).expect("memory");
        let mut device = match UringDevice::new(Epoch::start(), file.into(), pool, RingOptions::default()) {
            Ok(device) => device,
            Err(error @ DeviceError::NoRing(_)) => return println!("SKIPPED: {error}"),
            Err(error) => panic!("{error}"),
        };
        let mut source = Pattern::new(phase.streams[0].blocks().unwrap(), true);
        let settings = StreamConfig::of(&phase, &phase.streams[0], 100_000_000);
        let record = run_stream(&mut device, &mut source, &settings, &Control::default()).unwrap();
        let errors = record.errors.get("EINVAL").copied().unwrap_or(0);
        assert_eq!(record.operations + errors, 2048);
        // 512 expected, standard deviation 20.
        assert_eq!((412..612).contains(&errors), refused, "{errors} of 2048");
        assert!(refused || errors == 0, "{:?}", record.errors);
    }
}

#[test]
fn what_the_kernel_does_not_grant_is_told_before_the_first_request() {
    let directory = tempfile::tempdir().unwrap();
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).expect("a rig");
    rig.run(&phases::layout(8 * MIB), &Control::default()).expect("a layout");
    let mut run = |hint| rig.run(&phase(IoPriority { class: IoClass::Idle, level: 0, hint }), &Control::default());
    assert!(run(0x1c00).unwrap_err().message.contains("ioprio_set"));
    let record = run(0).unwrap();
    assert!(record.errors.is_empty() && record.operations == 2048, "{:?}", record.errors);
}
