//! Our own engine, in this process: every latency in the full histogram, intervals and all, as `check` runs it.

use super::contestants::Task;
use super::figures::Figures;
use anyhow::Context;
use engine::{Control, Device, NullDevice, StreamConfig, UringDevice, run_stream};
use model::{BlockPlan, Durability, IoPath, Operation, Order, PhaseRecord, StreamPlan, Sync};
use sys::{BufferPool, Epoch, OpenMode, RingOptions};
use workload::{BlockOp, Pattern};

/// O_DIRECT where the task asks for it.
fn open(task: &Task) -> anyhow::Result<std::fs::File> {
    let file = sys::open_existing(&task.path, OpenMode::Read);
    let file = file.with_context(|| format!("opening {}", task.path.display()))?;
    if task.direct {
        sys::set_direct(&file, true).with_context(|| format!("O_DIRECT on {}", task.path.display()))?;
    }
    Ok(file)
}

fn pool(task: &Task) -> anyhow::Result<BufferPool> {
    Ok(BufferPool::new(task.depth, task.block_bytes as usize)?)
}

/// Random reads by io_uring.
pub fn uring(task: &Task) -> anyhow::Result<Figures> {
    let file = open(task)?;
    // Off the main thread, as a worker of a run is.
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let pool = pool(task)?;
            let options = RingOptions::for_buffers(&pool);
            let mut device = UringDevice::new(Epoch::start(), file.into(), pool, options)?;
            let before = sys::process_usage();
            let record = drive(&mut device, task)?;
            // The kernel's workers for the ring are threads of the process, not of the worker.
            let system_ns = sys::process_usage().since(&before).system_ns as f64;
            Ok(Figures { system_ns_per_op: Some(system_ns / record.operations as f64), ..figures(&record) })
        });
        worker.join().expect("the worker does not panic")
    })
}

/// The same loop over a device that does nothing: our own overhead.
pub fn null(task: &Task) -> anyhow::Result<Figures> {
    let mut device = NullDevice::new(Epoch::start(), pool(task)?);
    Ok(figures(&drive(&mut device, task)?))
}

fn drive<D: Device<Op = BlockOp>>(device: &mut D, task: &Task) -> anyhow::Result<PhaseRecord> {
    let block = u64::from(task.block_bytes);
    let plan = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Read,
            order: Order::Random,
            block_size_bytes: block,
            region_start_bytes: 0,
            region_bytes: task.file_bytes / block * block,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: task.depth, ..IoPath::default() },
        durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
        seed: 1,
        ..StreamPlan::default()
    };
    let settings = StreamConfig {
        depth: task.depth,
        batch_submit: Some(task.batch_submit),
        batch_complete: task.batch_complete,
        time_limit_ns: u64::from(task.seconds) * 1_000_000_000,
        ..StreamConfig::default()
    };
    let record = run_stream(device, &mut Pattern::new(plan.blocks().unwrap(), false), &settings, &Control::default())?;
    anyhow::ensure!(record.errors.is_empty(), "operations failed: {:?}", record.errors);
    anyhow::ensure!(record.short_operations == 0, "{} short reads", record.short_operations);
    anyhow::ensure!(record.latency.count() == record.operations, "not every latency is in the histogram");
    Ok(record)
}

fn figures(record: &PhaseRecord) -> Figures {
    let operations = record.operations as f64;
    Figures {
        iops: operations / (record.ended_ns - record.started_ns) as f64 * 1e9,
        user_ns_per_op: Some(record.usage.user_ns as f64 / operations),
        system_ns_per_op: Some(record.usage.system_ns as f64 / operations),
    }
}
