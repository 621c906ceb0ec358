//! A job whose operations were recorded.

use crate::extent::Extent;
use crate::job::{Job, Phase, Workload};
use crate::text_inputs::TextInputs;
use model::{
    Access, BlockSize, BlockSizes, ErrorPolicy, Mix, Operation, Order, PhaseKind, ReplayPlan, Trace, TraceKind,
};
use sha2::{Digest, Sha256};

/// The unit of recordings of requests, bytes; what lies on multiples of it can be done again past the page cache.
pub(crate) const SECTOR: u64 = 512;

/// SHA-256 of a text, hexadecimal.
pub(crate) fn sha256_hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

/// The workload of a job that was recorded.
pub(crate) fn workload_of(job: Job, inputs: &TextInputs<'_>, title: String, notes: Vec<String>) -> Workload {
    let name = std::path::Path::new(inputs.file).file_stem().map_or("replay".into(), |s| s.to_string_lossy());
    Workload {
        name: name.into_owned(),
        title,
        answers: "How would this storage have done what was recorded?".to_owned(),
        notes,
        phases: vec![Phase { name: "replay".into(), kind: PhaseKind::Measure, jobs: vec![job], optional: false }],
        ..Workload::new()
    }
}

/// Calls on files that were recorded, as a workload: by so many threads, with a cold cache or as it is.
pub fn replay_workload(
    inputs: &TextInputs<'_>,
    replay: ReplayPlan,
    depth: u32,
    cold: bool,
    on_error: ErrorPolicy,
    notes: Vec<String>,
) -> Workload {
    let mut job = Job::named("replay");
    job.stream.path.queue_depth = depth;
    job.stream.on_error = on_error;
    job.cold = cold;
    job.stream.kind = replay.into();
    workload_of(job, inputs, format!("What {} recorded of files, done again", inputs.file), notes)
}

/// Gives a job the operations of a trace, which end at `end` and lie on multiples of `unit`, both bytes.
pub(crate) fn set_replay(job: &mut Job, trace: Trace, end: u64, unit: u64) {
    let ops = &trace.ops.0;
    let count = |wanted: TraceKind| ops.iter().filter(|op| op.kind == wanted).count() as u64;
    let (reads, writes) = (count(TraceKind::Read), count(TraceKind::Write));
    let trims = count(TraceKind::Trim);
    let largest = ops.iter().map(|op| u64::from(op.len)).max().unwrap_or(0);
    let smallest = ops.iter().map(|op| u64::from(op.len)).filter(|len| *len > 0).min().unwrap_or(largest);
    let size = match smallest == largest {
        true => BlockSize::Fixed { bytes: largest },
        false => BlockSize::Range { min_bytes: unit, max_bytes: largest, step_bytes: unit },
    };
    job.block = BlockSizes { read: size.clone(), write: size.clone(), trim: size };
    job.size = Some(Extent::Bytes(end.next_multiple_of(unit)));
    let direct = if unit.is_multiple_of(SECTOR) { Access::Direct } else { Access::Buffered };
    job.access = job.access.or(Some(direct));
    job.stream.limits.total_operations = Some(ops.len() as u64);
    let block = job.stream.block_mut();
    block.order = Order::Traced;
    block.operation = match (writes + trims, writes) {
        (0, _) => Operation::Read,
        (_, 0) => Operation::Trim,
        _ => Operation::Write,
    };
    block.mix = (reads > 0 && writes + trims > 0)
        .then(|| Mix { read_percent: (reads * 100 / (reads + writes + trims)).clamp(1, 99) as u32 });
    block.align_bytes = Some(unit);
    block.trace = Some(trace);
}
