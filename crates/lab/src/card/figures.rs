//! What a card's model says of its speed, without waiting: the figures that a measurement at depth 1 should find.

use super::timing::{Operation, Timing};

/// Operations one after the other for one figure, and as many before them that are not counted.
const OPERATIONS: u64 = 200;

/// Figures of one kind of access: reads and writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Size of the operations, bytes.
    pub bytes: u64,
    /// Random reads per second.
    pub read_iops: f64,
    /// Random writes per second.
    pub write_iops: f64,
}

/// Rates of long streams, bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streams {
    /// Throughput of reads.
    pub read_bytes_per_s: f64,
    /// Writing, once the cache is full.
    pub write_bytes_per_s: f64,
}

/// Places that follow nothing, over the whole card.
fn scattered(capacity: u64, bytes: u64) -> impl Iterator<Item = u64> {
    let places = (capacity / bytes).max(1);
    // An odd step near the golden section visits each place once before any comes again.
    let step = ((places as f64 * 0.618) as u64) | 1;
    (0..).map(move |i: u64| (i.wrapping_mul(step) % places) * bytes)
}

fn per_second(timing: &mut Timing, before: u64, operations: impl Iterator<Item = Operation>) -> f64 {
    let mut operations = operations.take((before + OPERATIONS) as usize);
    for operation in operations.by_ref().take(before as usize) {
        timing.serve(timing.busy_until_ns(), operation);
    }
    let start = timing.busy_until_ns();
    let mut count = 0u64;
    for operation in operations {
        timing.serve(timing.busy_until_ns(), operation);
        count += 1;
    }
    count as f64 * 1e9 / (timing.busy_until_ns() - start).max(1) as f64
}

/// Random reads and writes of one size.
pub fn random(timing: &Timing, capacity: u64, bytes: u64) -> Figures {
    let read = scattered(capacity, bytes).map(|offset| Operation::Read { offset, len: bytes });
    let write = scattered(capacity, bytes).map(|offset| Operation::Write { offset, len: bytes, flush: false });
    Figures {
        bytes,
        read_iops: per_second(&mut timing.clone(), OPERATIONS, read),
        write_iops: per_second(&mut timing.clone(), OPERATIONS, write),
    }
}

/// Streams in pieces of 1 MiB.
pub fn streams(timing: &Timing, capacity: u64) -> Streams {
    const PIECE: u64 = 1 << 20;
    let full = OPERATIONS + timing.cache_bytes().div_ceil(PIECE);
    let places = (capacity / PIECE).max(1);
    let read = (0..).map(|i| Operation::Read { offset: i % places * PIECE, len: PIECE });
    let write = (0..).map(|i| Operation::Write { offset: i % places * PIECE, len: PIECE, flush: false });
    Streams {
        read_bytes_per_s: per_second(&mut timing.clone(), OPERATIONS, read) * PIECE as f64,
        write_bytes_per_s: per_second(&mut timing.clone(), full, write) * PIECE as f64,
    }
}
