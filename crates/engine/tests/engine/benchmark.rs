//! The loop's benchmark, small enough for every test run: it asserts the hash of what it did, never how long it took.
//!
//! A device of whole numbers, so that the hash is the same on every architecture: one server, a service time drawn from
//! the offset, now and then a stall. Order of the operations, histogram, series, warm-up cut and stall are in the hash;
//! whoever changes one of them on purpose writes the new hash down here.
//!
//! `cargo test -p narrows-engine --test benchmark -- --nocapture` shows hash and time.

use engine::{Completion, Control, Device, DeviceError, StreamConfig, run_stream};
use model::{BlockPlan, Durability, IoPath, Ns, Operation, Order, PhaseRecord, StopRule, StreamPlan, Sync, Warmup};
use std::collections::VecDeque;
use workload::{BlockOp, Pattern};

const OPERATIONS: u64 = 100_000;
const BLOCK: u64 = 4096;
const DEPTH: u32 = 32;

/// FNV-1a of 64 bits (Fowler, Noll, Vo), over the bytes of each number, little-endian.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// One server with a queue, in its own time.
struct Server {
    now: Ns,
    free_at: Ns,
    queue: VecDeque<Completion>,
    buffer: Vec<u8>,
    offsets: Hash,
    served: u64,
}

impl Server {
    fn new() -> Self {
        let queue = VecDeque::with_capacity(DEPTH as usize);
        Self { now: 0, free_at: 0, queue, buffer: vec![0; BLOCK as usize], offsets: Hash::new(), served: 0 }
    }
}

impl Device for Server {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.now
    }

    fn buffer(&mut self, _index: u32) -> &mut [u8] {
        &mut self.buffer
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        for op in ops {
            self.offsets.add(op.offset);
            self.served += 1;
            let mut service = Hash::new();
            service.add(op.offset);
            let stall = if self.served.is_multiple_of(30_000) { 250_000_000 } else { 0 };
            self.free_at = self.free_at.max(self.now) + 5_000 + service.0 % 20_000 + stall;
            self.queue.push_back(Completion { buffer: op.buffer, result: Ok(op.len), at_ns: self.free_at });
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        for taken in 0.. {
            match self.queue.front() {
                Some(next) if next.at_ns <= self.now || (taken < min && next.at_ns <= until) => {
                    self.now = self.now.max(next.at_ns);
                    out.extend(self.queue.pop_front());
                }
                _ if taken < min => {
                    self.now = self.now.max(until);
                    break;
                }
                _ => break,
            }
        }
        Ok(())
    }
}

fn run(batch: u32) -> (PhaseRecord, Hash) {
    let plan = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Read,
            order: Order::Random,
            block_size_bytes: BLOCK,
            region_start_bytes: 1 << 20,
            region_bytes: OPERATIONS * BLOCK,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: DEPTH, ..IoPath::default() },
        durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
        seed: 42,
        ..StreamPlan::default()
    };
    let settings = StreamConfig {
        depth: DEPTH,
        batch_submit: Some(batch),
        batch_complete: batch,
        time_limit_ns: 60_000_000_000,
        stop: StopRule::Time,
        warmup: Warmup { min_ns: 200_000_000, share: 0.0, max_ns: 1_000_000_000 },
        ..StreamConfig::default()
    };
    let mut server = Server::new();
    let record =
        run_stream(&mut server, &mut Pattern::new(plan.blocks().unwrap(), true), &settings, &Control::default())
            .unwrap();
    let mut hash = server.offsets;
    for bucket in record.latency.buckets() {
        hash.add(bucket.low_ns);
        hash.add(bucket.count);
    }
    for interval in &record.intervals {
        let numbers = [interval.start_ns, interval.length_ns, interval.operations, interval.bytes];
        let latencies = [interval.latency_ns_p50, interval.latency_ns_p99, interval.latency_ns_max];
        numbers.into_iter().chain(latencies.map(|l| l.unwrap_or(0))).for_each(|n| hash.add(n));
    }
    hash.add(record.warmup.operations);
    hash.add(record.longest_gap_ns.unwrap_or(0));
    (record, hash)
}

#[test]
fn the_loop_does_the_same_every_time() {
    for (batch, expected) in [(DEPTH, 0x2c5f_0edd_c6f7_cb31), (1, 0xb2ef_011c_a8a0_69b6)] {
        let start = std::time::Instant::now();
        let (record, hash) = run(batch);
        let each = start.elapsed().as_nanos() as f64 / OPERATIONS as f64;
        println!("benchmark: {OPERATIONS} reads, batches of {batch}: hash {:016x}, {each:.0} ns each", hash.0);
        assert_eq!(record.operations, OPERATIONS);
        assert_eq!(record.warmup.operations + record.latency.count(), OPERATIONS);
        // The stall, and not the 32 places of the queue behind it.
        let gap = record.longest_gap_ns.unwrap();
        assert!((250_000_000..250_025_000).contains(&gap), "{gap}");
        assert_eq!(hash.0, expected, "{:016x}: the result has changed; if on purpose, write it down here", hash.0);
    }
}
