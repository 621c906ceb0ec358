//! A stream's verified data over a device in memory that fails in every legal way: nothing of that is an alarm, and what a
//! failed flush has lost is said to be lost.

use model::{BlockPlan, DataFault, IoPath, Mix, Operation, StreamPlan, Unverified, Verify, VerifyKind, VerifyRecord};
use proptest::prelude::*;
use workload::{BlockOp, OpKind, OpResult, ReadAgain, Verified, WrittenData};

const UNIT: u64 = 512;
const UNITS: u64 = 16;
const SLOTS: usize = 6;
const EIO: i32 = 5;

#[derive(Clone)]
struct Memory(Vec<u8>);

impl ReadAgain for Memory {
    fn reread(&mut self, file: usize, offset: u64, buffer: &mut [u8]) -> Result<(), i32> {
        assert_eq!(file, 0);
        let from = usize::try_from(offset).unwrap();
        buffer.copy_from_slice(self.0.get(from..from + buffer.len()).ok_or(EIO)?);
        Ok(())
    }
}

fn stream() -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            mix: Some(Mix { read_percent: 50 }),
            block_size_bytes: 4 * UNIT,
            align_bytes: Some(UNIT),
            region_bytes: UNITS * UNIT,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: SLOTS as u32, ..IoPath::default() },
        verify: Some(Verify { kind: VerifyKind::Stamp, read_back: false, stop_at_first: false }),
        ..StreamPlan::default()
    }
}

struct Bench {
    written: WrittenData,
    verified: Verified,
    memory: Memory,
    /// In flight: the operation, and its data or what was read when it began.
    flying: [Option<(BlockOp, Vec<u8>)>; SLOTS],
}

impl Bench {
    fn new() -> Self {
        let mut written = WrittenData::new(1, [2, 3]);
        let verified = written.prepare(&[stream()]).unwrap().remove(0).unwrap();
        let memory = Memory(vec![0; (UNITS * UNIT) as usize]);
        Self { written, verified, memory, flying: Default::default() }
    }

    fn part(&mut self, op: &BlockOp) -> &mut [u8] {
        &mut self.memory.0[op.offset as usize..][..op.len as usize]
    }

    fn begin(&mut self, slot: usize, kind: OpKind, unit: u64, units: u64) {
        let len = if matches!(kind, OpKind::Fsync | OpKind::Fdatasync) { 0 } else { (units * UNIT) as u32 };
        let op = BlockOp { kind, offset: unit * UNIT, len, buffer: slot as u32, ..BlockOp::default() };
        let mut data = vec![0; len as usize];
        if kind.sends_data() {
            self.verified.generate(&op, &mut data);
        } else {
            self.verified.on_submit(&op);
            if kind == OpKind::Read {
                data.copy_from_slice(self.part(&op));
            }
        }
        self.flying[slot] = Some((op, data));
    }

    /// A part of a write arrives: some of its sectors.
    fn arrive(&mut self, slot: usize, which: u32) {
        let Some((op, data)) = self.flying[slot].clone() else { return };
        let place = self.part(&op);
        for (i, (old, new)) in place.chunks_mut(512).zip(data.chunks(512)).enumerate() {
            match op.kind {
                OpKind::Write if which >> i & 1 == 1 => old.copy_from_slice(new),
                OpKind::Trim if which >> i & 1 == 1 => old.fill(0),
                _ => {}
            }
        }
    }

    /// It ends: with all of it, a part, or an error.
    fn end(&mut self, slot: usize, how: u32) {
        let Some((op, data)) = self.flying[slot].take() else { return };
        let result = match how % 8 {
            0 => Err(EIO),
            1 if op.len > 0 => Ok(op.len / 2),
            _ => Ok(op.len),
        };
        let outcome = OpResult { at_ns: 5_000_000, result };
        if op.kind == OpKind::Read {
            match result {
                Ok(len) => assert!(self.verified.verify_read(&op, &data[..len as usize], &mut self.memory)),
                Err(_) => self.verified.on_end(&op, outcome),
            }
            return;
        }
        let done = result.unwrap_or(0) as usize;
        let place = self.part(&op);
        match op.kind {
            OpKind::Write => place[..done].copy_from_slice(&data[..done]),
            OpKind::Trim => place[..done].fill(0),
            _ => {}
        }
        self.verified.on_end(&op, outcome);
    }

    fn finish(mut self) -> VerifyRecord {
        (0..SLOTS).for_each(|slot| self.end(slot, 2));
        self.written.conclude(vec![self.verified.finish()]).unwrap()
    }

    fn read_all(&mut self) {
        for unit in 0..UNITS {
            self.begin(0, OpKind::Read, unit, 1);
            self.end(0, 2);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn failures_are_no_alarms(choices in prop::collection::vec(any::<u32>(), 1..400)) {
        let mut bench = Bench::new();
        for choice in choices {
            let slot = (choice >> 4) as usize % SLOTS;
            let unit = u64::from(choice >> 8) % (UNITS - 3);
            let units = u64::from(choice >> 12) % 4 + 1;
            match (bench.flying[slot].is_some(), choice % 16) {
                (false, 0..6) => bench.begin(slot, OpKind::Write, unit, units),
                (false, 6..13) => bench.begin(slot, OpKind::Read, unit, units),
                (false, 13) => bench.begin(slot, OpKind::Trim, unit, units),
                (false, _) => bench.begin(slot, OpKind::Fsync, 0, 0),
                (true, 0..6) => bench.arrive(slot, choice >> 16),
                // A flush that fails loses nothing here.
                (true, _) => bench.end(slot, choice >> 16),
            }
        }
        (0..SLOTS).for_each(|slot| bench.end(slot, 2));
        bench.read_all();
        let record = bench.finish();
        prop_assert!(record.is_clean(), "{:#?}", record.findings);
    }
}

#[test]
fn what_a_failed_flush_lost_is_a_late_error_and_what_it_kept_is_nothing() {
    let mut bench = Bench::new();
    let write = |bench: &mut Bench, unit| {
        bench.begin(0, OpKind::Write, unit, 1);
        bench.end(0, 2);
    };
    [3, 4].into_iter().for_each(|unit| write(&mut bench, unit));
    let old = bench.memory.clone();
    [3, 4].into_iter().for_each(|unit| write(&mut bench, unit));
    bench.begin(1, OpKind::Fsync, 0, 0);
    bench.end(1, 0);
    let lost = 3 * UNIT as usize..4 * UNIT as usize;
    bench.memory.0[lost.clone()].copy_from_slice(&old.0[lost]);
    bench.read_all();
    let record = bench.finish();
    assert_eq!(record.findings.iter().map(|f| (f.class, f.lba)).collect::<Vec<_>>(), [(DataFault::LateError, 3)]);
    assert_eq!(record.unverified[&Unverified::NotWritten], UNITS - 2);
}

#[test]
fn what_failed_or_is_in_flight_is_counted_and_said() {
    let mut bench = Bench::new();
    bench.begin(0, OpKind::Write, 0, 4);
    bench.end(0, 1);
    bench.begin(1, OpKind::Write, 8, 1);
    bench.begin(0, OpKind::Read, 8, 1);
    bench.end(0, 2);
    bench.end(1, 2);
    for (unit, how) in [(0, 2), (2, 2), (8, 0), (8, 2)] {
        bench.begin(0, OpKind::Read, unit, 2);
        bench.end(0, how);
    }
    let record = bench.finish();
    assert!(record.is_clean(), "{:#?}", record.findings);
    let expected = [
        (Unverified::NotWritten, 1),
        (Unverified::InFlight, 1),
        (Unverified::WriteFailed, 1),
        (Unverified::ReadFailed, 1),
    ];
    assert_eq!(record.unverified, expected.into());
    assert_eq!((record.bytes_verified, record.blocks_verified), (3 * UNIT, 2));
}
