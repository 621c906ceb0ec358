//! A boot as it asked its disk, for jobs that do it again.

use crate::job::Job;
use crate::replay::{set_replay, sha256_hex};
use model::{Trace, TraceKind, TraceOp};
use std::sync::LazyLock;

/// Microseconds of thinking before, with `w` where it writes; blocks from the end of the one before; blocks.
static TEXT: LazyLock<String> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/boot.trace.z"));
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(packed).expect("what the build packed");
    String::from_utf8(text).expect("a text")
});
const BLOCK: u64 = 4096;
/// Requests that came together, at most.
const DEPTH: u32 = 8;

/// The operations of the text; a line that is none is left out, which a test forbids.
fn operations() -> Vec<TraceOp> {
    let (mut at_ns, mut end) = (0u64, 0u64);
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    let operation = |line: &str| {
        let mut fields = line.split(' ');
        let (pause, distance, blocks) = (fields.next()?, fields.next()?, fields.next()?);
        let kind = if pause.ends_with('w') { TraceKind::Write } else { TraceKind::Read };
        let (pause, blocks): (u64, u64) = (pause.trim_end_matches('w').parse().ok()?, blocks.parse().ok()?);
        let start = end.checked_add_signed(distance.parse().ok()?)?;
        (at_ns, end) = (at_ns + pause * 1000, start + blocks);
        Some(TraceOp { at_ns, kind, offset: start * BLOCK, len: (blocks * BLOCK) as u32 })
    };
    lines.filter_map(operation).collect()
}

/// Makes a job one that does it again.
pub(crate) fn boot(job: &mut Job) {
    let trace = Trace { trace_digest: sha256_hex(&TEXT), trace_pauses: true, ..Trace::of(operations()) };
    let end = trace.ops.0.iter().map(|op| op.offset + u64::from(op.len)).max().unwrap_or(0);
    job.stream.path.queue_depth = DEPTH;
    set_replay(job, trace, end, BLOCK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_a_boot_reads() {
        let ops = operations();
        assert_eq!(ops.len(), TEXT.lines().count() - 1, "each line is an operation");
        let bytes = |kind| ops.iter().filter(|op| op.kind == kind).map(|op| u64::from(op.len)).sum::<u64>();
        assert!((115_000_000..135_000_000).contains(&bytes(TraceKind::Read)), "{}", bytes(TraceKind::Read));
        assert!(bytes(TraceKind::Write) < 6_000_000);
        let span = ops.last().unwrap().at_ns;
        assert!((12_400_000_000..12_600_000_000).contains(&span), "{span}");
        assert!(ops.iter().all(|op| op.len > 0 && op.len <= 1 << 20 && op.offset < 200 << 20));
    }
}
