//! The data of a stream that verifies: stamped when they are written, looked at when they were read.

use crate::{BlockOp, FileSpace, OpKind, OpResult, ReadBackOf};
use integrity::{
    AllowedGenerations, CheckMode, CheckedBlock, Expected, Interruption, Ledger, Origin, REREADS, SECTOR_BYTES,
    Stamper, Table, Versions, Write, classify, is_rest_of_torn, points_to,
};
use model::{BlockStream, DataFault, Ns, ReadBack, Unverified, VerifyRecord};
use std::sync::Arc;

/// Places that are read again to find out what is wrong with them; beyond, they are judged by the one read that was wrong.
const MAX_REREAD: u64 = 1024;
/// Judgements that are kept one by one, for each file.
pub(crate) const MAX_JUDGEMENTS: usize = 1024;

/// Reads a place again, past whatever cache may hold it.
pub trait ReadAgain {
    /// Fills `buffer` from `offset` in the stream's file of this number.
    ///
    /// # Errors
    /// The errno; a read that ends before the buffer does is EIO.
    fn reread(&mut self, file: usize, offset: u64, buffer: &mut [u8]) -> Result<(), i32>;
}

/// A file that a stream verifies.
#[derive(Debug)]
pub(crate) struct VerifiedFile {
    pub stamper: Stamper,
    pub table: Arc<Table>,
    pub ledger: Ledger,
}

/// What a stream that verifies knows of its data. After it was made nothing is allocated until
/// the first suspect.
#[derive(Debug)]
pub struct Verified {
    /// What it found, but for what the ledgers will tell.
    record: VerifyRecord,
    stop_at_first: bool,
    /// Whether the stream writes, so that a place it did not write yet may hold anything.
    writes: bool,
    files: Vec<VerifiedFile>,
    versions: Versions,
    space: FileSpace,
    region: std::ops::Range<u64>,
    /// Number of the last write in the run; the upper bits are the stream's own.
    sequence: u64,
    epoch: u32,
    time_ms: u32,
    in_flight: u64,
    not_written: u64,
    /// Places that were found wrong.
    judged: u64,
    tester_fault: bool,
    /// Reads that had failed, or had given too little, when the read-back began.
    lost_before: u64,
}

/// What a stream found; [`crate::WrittenData::conclude`] makes one record of all of them.
#[derive(Debug)]
pub struct VerifyOutcome {
    pub(crate) record: VerifyRecord,
    /// Of each file, by its target id.
    pub(crate) ledgers: Vec<(u32, Ledger)>,
}

/// Whether what a unit holds is right, or why it was not verified.
type UnitVerdict = Result<bool, Unverified>;

impl Verified {
    /// For `plan`, a stream that verifies, with its files in their order. Writes are numbered from `first_sequence` on.
    pub(crate) fn new(plan: BlockStream<'_>, files: Vec<VerifiedFile>, first_sequence: u64, cut: Interruption) -> Self {
        // Tables that other streams refined may have smaller units than this one's own.
        let unit = files.iter().map(|f| f.table.unit_bytes()).min().unwrap_or(plan.verify_unit_bytes()).max(1);
        let back = plan.read_back();
        let depth = back.as_ref().map_or(1, |b| b.path.queue_depth);
        let most = usize::try_from(plan.block.block_size_bytes.div_ceil(unit)).unwrap_or(usize::MAX);
        let tables = files.iter().map(|f| Arc::clone(&f.table)).collect();
        let start = plan.block.region_start_bytes;
        Self {
            record: VerifyRecord {
                kinds: vec![plan.verify.map(|v| v.kind).unwrap_or_default()],
                read_back: if back.is_some() { ReadBack::Partial } else { ReadBack::None },
                ..VerifyRecord::default()
            },
            stop_at_first: plan.verify.is_some_and(|v| v.stop_at_first),
            writes: plan.changes_data(),
            versions: Versions::new(tables, plan.path.queue_depth.max(depth), most).after(cut),
            files,
            space: FileSpace::of(plan),
            region: start..start.saturating_add(plan.block.region_bytes),
            sequence: first_sequence,
            epoch: 0,
            time_ms: 0,
            in_flight: 0,
            not_written: 0,
            judged: 0,
            tester_fault: false,
            lost_before: 0,
        }
    }

    /// The largest piece that divides the offsets and lengths of all that it reads back, bytes.
    pub fn unit_bytes(&self) -> u64 {
        self.files.iter().map(|f| f.table.unit_bytes()).min().unwrap_or(1)
    }

    /// File, first unit and units of an operation; `None` if it is not whole units: plans are checked before.
    #[inline]
    fn units(&self, op: &BlockOp) -> Option<(usize, u64, u32)> {
        let (file, offset) = self.space.locate(op.offset);
        let unit = self.files.get(file)?.table.unit_bytes();
        let whole = offset.is_multiple_of(unit) && u64::from(op.len).is_multiple_of(unit);
        debug_assert!(whole, "{op:?} is not whole units of {unit} bytes");
        whole.then(|| (file, offset / unit, (u64::from(op.len) / unit) as u32))
    }

    /// Makes the data of a write that is about to be handed over.
    #[inline]
    pub fn generate(&mut self, op: &BlockOp, data: &mut [u8]) {
        let Some((file, first, count)) = self.units(op) else {
            data.fill(0);
            return;
        };
        let slot = op.buffer as usize;
        self.versions.begin_write(slot, file, first, count);
        self.sequence += 1;
        let unit = self.files[file].table.unit_bytes();
        let mut write = Write {
            lba: first * (unit / SECTOR_BYTES as u64),
            generation: 0,
            sequence: self.sequence,
            epoch: self.epoch,
            time_ms: self.time_ms,
        };
        let sectors = (data.len() / SECTOR_BYTES) as u16;
        let stamper = self.files[file].stamper;
        for (i, piece) in data.chunks_exact_mut(unit as usize).enumerate() {
            write.generation = self.versions.generation(slot, i);
            stamper.stamp_piece(piece, &write, (i * (unit as usize / SECTOR_BYTES)) as u16, sectors);
        }
    }

    /// Any operation but a write is about to be handed over.
    #[inline]
    pub fn on_submit(&mut self, op: &BlockOp) {
        let slot = op.buffer as usize;
        match (op.kind, self.units(op)) {
            (OpKind::Fsync | OpKind::Fdatasync, _) => self.versions.flush_begins(),
            (OpKind::Read, Some((file, first, count))) => self.versions.begin_read(slot, file, first, count),
            (OpKind::Trim | OpKind::WriteZeroes, Some((file, first, count))) => {
                self.versions.begin_erase(slot, file, first, count);
            }
            _ => {}
        }
    }

    /// An operation has ended: any but a read that succeeded.
    #[inline]
    pub fn on_end(&mut self, op: &BlockOp, outcome: OpResult) {
        match op.kind {
            OpKind::Fsync | OpKind::Fdatasync => {
                self.versions.flush_ended(outcome.result.is_ok());
                self.epoch += u32::from(outcome.result.is_ok());
            }
            OpKind::Read => {
                self.versions.ended_read(op.buffer as usize);
                self.record_missed(Unverified::ReadFailed, 1);
            }
            _ => {
                let (file, _) = self.space.locate(op.offset);
                let unit = self.files.get(file).map_or(1, |f| f.table.unit_bytes());
                let done = outcome.result.map_or(0, |bytes| u64::from(bytes) / unit);
                self.versions.end_op(op.buffer as usize, done as u32);
                self.time_ms = (outcome.at_ns / 1_000_000) as u32;
            }
        }
    }

    /// A read has succeeded and gave `data`. Whether the stream goes on.
    #[inline]
    pub fn verify_read(&mut self, op: &BlockOp, data: &[u8], again: &mut impl ReadAgain) -> bool {
        if !self.versions.ended_read(op.buffer as usize) {
            self.in_flight += 1;
            return true;
        }
        let Some((file, first, _)) = self.units(op) else { return true };
        let unit = self.files[file].table.unit_bytes();
        let sectors = unit / SECTOR_BYTES as u64;
        let stamper = self.files[file].stamper;
        let mut looked_at = 0;
        let mut ends = false;
        let mut nothing = (data.len() < op.len as usize).then_some(Unverified::ReadShort);
        for (i, piece) in data.chunks_exact(unit as usize).enumerate() {
            let number = first + i as u64;
            let seen = match self.versions.check_mode(file, number) {
                CheckMode::Plainly(allowed) => match stamper.check(piece, number * sectors, allowed) {
                    Ok(intact) => {
                        self.files[file].ledger.record_intact(number * sectors, &intact);
                        Ok(true)
                    }
                    Err(_) => self.suspect(file, number, (i, data), again),
                },
                owed => self.check_slow(owed, file, number, (i, data), again),
            };
            match seen {
                Ok(right) => {
                    looked_at += 1;
                    ends = !right && (self.stop_at_first || self.tester_fault);
                }
                Err(why) => nothing = Some(why),
            }
            if ends {
                break;
            }
        }
        self.record.bytes_verified += unit * looked_at;
        self.record.blocks_verified += u64::from(looked_at > 0);
        match nothing.filter(|_| !ends) {
            None => {}
            Some(Unverified::NotWritten) => self.not_written += 1,
            Some(why) => self.record_missed(why, 1),
        }
        !ends
    }

    /// A unit that owes nothing, or something that is in doubt.
    fn check_slow(
        &mut self,
        owed: CheckMode,
        file: usize,
        unit: u64,
        of: (usize, &[u8]),
        again: &mut impl ReadAgain,
    ) -> UnitVerdict {
        match owed {
            CheckMode::Plainly(_) | CheckMode::InDoubt => self.suspect(file, unit, of, again),
            CheckMode::WriteFailed => Err(Unverified::WriteFailed),
            CheckMode::FoundBefore => Err(Unverified::FoundBefore),
            // Who only reads, and asks for the data to be verified, means them to be this run's.
            CheckMode::NotWritten if !self.writes && self.files[file].stamper.is_foreign(self.piece(file, of)) => {
                self.suspect(file, unit, of, again)
            }
            CheckMode::NotWritten => Err(Unverified::NotWritten),
        }
    }

    /// The unit of this number among what was read together.
    fn piece<'a>(&self, file: usize, (number, read): (usize, &'a [u8])) -> &'a [u8] {
        let bytes = self.files[file].table.unit_bytes() as usize;
        &read[number * bytes..(number + 1) * bytes]
    }

    /// The fast path did not pass a unit: it is looked at closely, and read again.
    ///
    /// No write to it is in flight: the read was clean, and only this stream writes here.
    #[cold]
    #[inline(never)]
    fn suspect(&mut self, file: usize, unit: u64, of: (usize, &[u8]), again: &mut impl ReadAgain) -> UnitVerdict {
        let read = self.piece(file, of);
        let stamper = self.files[file].stamper;
        let bytes = self.files[file].table.unit_bytes();
        let sectors = bytes / SECTOR_BYTES as u64;
        let (lba, offset) = (unit * sectors, unit * bytes);
        let mut expected = self.versions.expected(file, unit);
        let not_ours = expected.allowed.min == 0;
        if not_ours {
            // What a run that only reads was to have written before: any version of this run.
            expected = Expected { allowed: AllowedGenerations { min: 1, max: u32::MAX }, ..expected };
        }
        let place = CheckedBlock { lba, expected, read, rereads: &[], origin: None };
        if classify(&stamper, &place).is_none() {
            return Ok(true);
        }
        let mut buffers: Vec<Vec<u8>> = Vec::new();
        let mut rereads: Vec<Result<usize, i32>> = Vec::new();
        let mut there = None;
        if self.judged < MAX_REREAD {
            for number in 0..REREADS {
                let mut buffer = vec![0; read.len()];
                rereads.push(again.reread(file, offset, &mut buffer).map(|()| number));
                buffers.push(buffer);
            }
            let belongs = points_to(&stamper, lba, read).filter(|to| *to <= i64::MAX as u64 / SECTOR_BYTES as u64);
            there = belongs.and_then(|to| {
                let mut buffer = vec![0; read.len()];
                again.reread(file, to * SECTOR_BYTES as u64, &mut buffer).ok()?;
                Some((self.versions.expected(file, to / sectors), buffer))
            });
        }
        let rereads: Vec<Result<&[u8], i32>> = rereads.iter().map(|r| r.map(|i| buffers[i].as_slice())).collect();
        let origin = there.as_ref().map(|(expected, read)| Origin { expected: *expected, read });
        let Some(mut judgement) = classify(&stamper, &CheckedBlock { rereads: &rereads, origin, ..place }) else {
            return Ok(true);
        };
        if not_ours {
            judgement.finding.expected_generation = None;
        }
        if is_rest_of_torn(&stamper, lba - of.0 as u64 * sectors, of.1, &judgement) {
            judgement.finding.class = DataFault::TornWrite;
        }
        self.judged += 1;
        match judgement.finding.class {
            // What was right when it was read again can be wrong again.
            DataFault::MisdirectedRead | DataFault::StaleRead | DataFault::TransientPathError => {}
            DataFault::TesterFault => self.tester_fault = true,
            _ => self.versions.reported(file, unit),
        }
        self.files[file].ledger.record_judgement(judgement);
        Ok(false)
    }

    /// So many operations or units were not verified.
    fn record_missed(&mut self, why: Unverified, count: u64) {
        if count > 0 {
            *self.record.unverified.entry(why).or_default() += count;
        }
    }

    /// Reads again all that it owes, in blocks of at most so many bytes.
    pub fn read_back(&mut self, most_bytes: u64) -> ReadBackOf {
        self.lost_before = self.reads_unanswered();
        let tables = self.files.iter().map(|f| Arc::clone(&f.table)).collect();
        let back = ReadBackOf::new(tables, self.space, self.region.clone(), most_bytes);
        self.record_missed(Unverified::WriteFailed, back.failed_units());
        back
    }

    /// The read-back has ended: what is left of it, and the bytes that it read and the time that it took; `None` if it
    /// failed as a whole.
    pub fn on_read_back(&mut self, mut left: ReadBackOf, done: Option<(u64, Ns)>) {
        self.record_missed(Unverified::Stopped, left.operations_left());
        let (bytes, ns) = done.unwrap_or_default();
        (self.record.read_back_bytes, self.record.read_back_ns) = (bytes, Some(ns));
        let complete = done.is_some() && self.reads_unanswered() == self.lost_before;
        self.record.read_back = if complete { ReadBack::Complete } else { ReadBack::Partial };
    }

    /// Reads that failed, or gave too little, so far.
    fn reads_unanswered(&self) -> u64 {
        let count = |why| self.record.unverified.get(&why).copied().unwrap_or(0);
        count(Unverified::ReadFailed) + count(Unverified::ReadShort) + count(Unverified::Stopped)
    }

    /// Which way reads of the read-back and re-reads take, in words.
    pub fn read_method(&mut self, path: String) {
        self.record.path = Some(path);
    }

    /// Whether something was found that ends the stream.
    pub fn ends(&self) -> bool {
        self.tester_fault || (self.stop_at_first && self.judged > 0)
    }

    /// Ends the stream: what its checks found.
    pub fn finish(mut self) -> VerifyOutcome {
        self.record_missed(Unverified::InFlight, self.in_flight);
        self.record_missed(Unverified::NotWritten, self.not_written);
        VerifyOutcome {
            record: self.record,
            ledgers: self.files.into_iter().map(|f| (f.stamper.target_id, f.ledger)).collect(),
        }
    }
}
