//! fio's `job options`: what was asked, in fio's words. All values are texts, as in fio.

use super::pairs::Pairs;
use crate::job::{Direction, ExecutedJob, fio_size};
use model::{EngineKind, ErrorPolicy, Order, Run, StopRule, Sync};

/// fio's name of what carried the operations out.
fn engine(kind: EngineKind) -> &'static str {
    let names = [
        (EngineKind::IoUring, "io_uring"),
        (EngineKind::Psync, "psync"),
        // A pool of threads with pread and pwrite, which is what the C library's POSIX AIO is.
        (EngineKind::PsyncThreads, "posixaio"),
        (EngineKind::Mmap, "mmap"),
        (EngineKind::Null, "null"),
        (EngineKind::Sim, "narrows-sim"),
    ];
    names.iter().find(|(k, _)| *k == kind).map_or("other", |(_, name)| name)
}

pub(crate) fn of(run: &Run, job: &ExecutedJob) -> Pairs<String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut put = |key: &str, value: String| pairs.push((key.to_owned(), value));
    put("name", job.name().to_owned());
    let stream = job.streams.first().copied();
    let path = run.target.path.clone().unwrap_or_else(|| run.target.name.clone());
    let block = stream.and_then(|s| Some(s.blocks()?.block));
    match block.map(|block| block.files.as_slice()) {
        None | Some([]) => put("filename", path),
        Some(files) => {
            put("directory", path);
            put("filename", files.join(":"));
        }
    }
    put("rw", job.rw.to_owned());
    put("bs", job.block_size.clone());
    put("iodepth", job.depth.to_string());
    put("numjobs", job.workers.to_string());
    put("direct", u8::from(job.is_direct()).to_string());
    put("ioengine", engine(job.engine()).to_owned());
    put("size", fio_size(block.map_or(0, |block| block.region_bytes)));
    if let Some(start) = block.map(|block| block.region_start_bytes).filter(|s| *s > 0) {
        put("offset", fio_size(start));
    }
    if matches!(job.phase.plan.stop, StopRule::Time | StopRule::LeastOperations { .. }) {
        put("time_based", "1".to_owned());
    }
    put("runtime", format!("{}ms", job.phase.plan.usual_time_ns() / 1_000_000));
    if job.cut_ns() > 0 {
        put("ramp_time", format!("{}ms", job.cut_ns() / 1_000_000));
    }
    if let Some(stream) = stream {
        if stream.durability.sync == Sync::FdatasyncEach {
            put("fdatasync", "1".to_owned());
        } else if stream.durability.sync == Sync::FsyncAtEnd {
            put("end_fsync", "1".to_owned());
        } else if stream.durability.sync == Sync::FsyncPerRound {
            let bytes = block.map_or(0, |block| block.block_size_bytes);
            let blocks = stream.durability.round_bytes.unwrap_or(0).checked_div(bytes).unwrap_or(0);
            put("fsync", blocks.max(1).to_string());
        }
        let flush = stream.durability.flush;
        for (option, every) in [("fsync", flush.fsync_every), ("fdatasync", flush.fdatasync_every)] {
            if every > 0 {
                put(option, every.to_string());
            }
        }
        if flush.fsync_at_end {
            put("end_fsync", "1".to_owned());
        }
        if stream.on_error == ErrorPolicy::Continue {
            put("continue_on_error", "all".to_owned());
        }
        if let Some(mix) = block.and_then(|block| block.mix) {
            put("rwmixread", mix.read_percent.to_string());
        }
        let milli = |value: u32| f64::from(value) / 1000.0;
        match block.map_or(Order::Sequential, |block| block.order) {
            Order::Sequential | Order::Random => {}
            Order::RandomReplace => put("norandommap", "1".to_owned()),
            Order::Zipf { theta_milli } => put("random_distribution", format!("zipf:{}", milli(theta_milli))),
            Order::Pareto { h_milli } => put("random_distribution", format!("pareto:{}", milli(h_milli))),
            Order::Normal { deviation_percent } => put("random_distribution", format!("normal:{deviation_percent}")),
            Order::Traced => put("narrows_order", "traced".to_owned()),
            Order::Zoned => put("random_distribution", "zoned".to_owned()),
            Order::Sequence { advances } => {
                let blocks = block.into_iter().flat_map(|block| &block.sequence);
                let blocks: Vec<String> = blocks.map(u64::to_string).collect();
                put("random_distribution", format!("sequence:{}", blocks.join(",")));
                put("random_sequence_stride", u8::from(advances).to_string());
            }
            // fio says these by an offset after `rw`, where plotting tools look for the plain word.
            Order::Reverse => put("narrows_order", "reverse".to_owned()),
            Order::Strided { stride_bytes } => put("narrows_order", format!("stride:{}", fio_size(stride_bytes))),
        }
        put("randseed", stream.seed.to_string());
    }
    if job.direction == Direction::Mixed && job.summary.is_none() {
        put("unified_rw_reporting", "mixed".to_owned());
    }
    Pairs(pairs)
}
