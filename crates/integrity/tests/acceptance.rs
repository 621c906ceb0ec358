//! The acceptance matrix: each injected fault yields exactly its class, and no fault yields no finding.

use integrity::{
    CheckedBlock, Conclusion, Expected, FailureDoubt, Ledger, Medium, NextRead, NextWrite, Origin, Passes,
    SECTOR_BYTES, Secret, Stamper, Table, Versions, Write, classify, points_to,
};
use model::{DataFault, DataFinding};
use proptest::prelude::*;
use std::sync::Arc;

/// Sectors of a block, blocks of the disk: 512 KiB.
const BLOCK: u64 = 8;
const BLOCKS: u64 = 128;
/// Blocks of one whose real capacity is to be found: 4 MiB.
const LARGE: u64 = 1024;
const BYTES: usize = BLOCK as usize * SECTOR_BYTES;

type Adjust = Box<dyn Fn(u64, &mut Expected)>;

/// The tester: writes in passes, reads all, re-reads what is wrong, and concludes.
struct Tester {
    stamper: Stamper,
    disk: Medium,
    passes: Passes,
    sequence: u64,
    epoch: u32,
    /// Changes what is expected of a block, by its first sector.
    adjust: Adjust,
    blocks: u64,
    /// Judgements that the ledger keeps.
    room: usize,
}

/// What is read of a block.
fn read_of(disk: &mut Medium, lba: u64) -> Vec<u8> {
    let mut data = vec![0; BYTES];
    disk.read(lba, &mut data);
    data
}

impl Tester {
    fn new() -> Self {
        Self::of(BLOCKS)
    }

    /// On a disk of so many blocks.
    fn of(blocks: u64) -> Self {
        Self {
            stamper: Stamper::new(0xabcd, 7, Secret([0x1234_5678_9abc_def0, 0x0fed_cba9_8765_4321])),
            disk: Medium::default(),
            passes: Passes::new(blocks, 4),
            sequence: 0,
            epoch: 0,
            adjust: Box::new(|_, _| ()),
            blocks,
            room: blocks as usize,
        }
    }

    fn stamped(&mut self, lba: u64, generation: u32) -> Vec<u8> {
        self.sequence += 1;
        let mut block = vec![0; BYTES];
        let time_ms = self.sequence as u32;
        let write = Write { lba, generation, sequence: self.sequence, epoch: self.epoch, time_ms };
        self.stamper.stamp(&mut block, &write);
        block
    }

    fn write(&mut self, lba: u64, generation: u32) {
        let block = self.stamped(lba, generation);
        self.disk.write(lba, &block);
    }

    fn pass(&mut self) {
        if self.passes.is_complete() {
            assert!(self.passes.next_pass());
        }
        while let Some((position, generation)) = self.passes.issue() {
            self.write(position * BLOCK, generation);
            self.passes.ended(position, true);
        }
    }

    fn flush(&mut self) {
        self.disk.flush();
        self.epoch += 1;
    }

    fn expected(&self, lba: u64) -> Expected {
        let mut expected = self.passes.expected(lba / BLOCK);
        (self.adjust)(lba, &mut expected);
        expected
    }

    fn verify(&mut self) -> Conclusion {
        let mut ledger = Ledger::new(self.room);
        for lba in (0..self.blocks).map(|b| b * BLOCK) {
            let expected = self.expected(lba);
            if !expected.must_hold() {
                continue;
            }
            let read = read_of(&mut self.disk, lba);
            if let Ok(intact) = self.stamper.check(&read, lba, expected.allowed)
                && expected.standing == FailureDoubt::Sound
            {
                ledger.record_intact(lba, &intact);
                continue;
            }
            let rereads: Vec<Vec<u8>> = (0..3).map(|_| read_of(&mut self.disk, lba)).collect();
            let rereads: Vec<Result<&[u8], i32>> = rereads.iter().map(|r| Ok(r.as_slice())).collect();
            let there = points_to(&self.stamper, lba, &read).map(|to| (to, read_of(&mut self.disk, to)));
            let origin = there.as_ref().map(|(to, read)| Origin { expected: self.expected(*to), read });
            let place = CheckedBlock { lba, expected, read: &read, rereads: &rereads, origin };
            if let Some(judgement) = classify(&self.stamper, &place) {
                ledger.record_judgement(judgement);
            }
        }
        ledger.conclude()
    }

    /// Two passes, the second with whatever faults of writing are armed.
    fn two_passes(arm: impl FnOnce(&mut Medium)) -> Self {
        let mut tester = Self::new();
        tester.pass();
        tester.flush();
        arm(&mut tester.disk);
        tester.pass();
        tester.flush();
        tester
    }
}

#[track_caller]
fn only(conclusion: Conclusion) -> DataFinding {
    let classes: Vec<(DataFault, u64)> = conclusion.findings.iter().map(|f| (f.class, f.lba)).collect();
    assert!(conclusion.findings.len() == 1 && conclusion.not_kept.is_empty(), "{classes:?}");
    conclusion.findings[0].clone()
}

fn says(finding: &DataFinding, what: &str) -> String {
    let found = finding.evidence.iter().find(|e| e.what == what);
    found.unwrap_or_else(|| panic!("no {what:?} in {:#?}", finding.evidence)).value.to_string()
}

fn summary(f: &DataFinding) -> (DataFault, u64, u64, Option<u32>, Option<u32>) {
    (f.class, f.lba, f.sectors, f.expected_generation, f.found_generation)
}

fn blocks() -> impl Strategy<Value = u64> {
    (0..BLOCKS).prop_map(|b| b * BLOCK)
}

#[test]
fn no_fault_no_finding() {
    let conclusion = Tester::two_passes(|_| ()).verify();
    assert!(conclusion.is_clean() && conclusion.good_places == BLOCKS);
}

/// `cargo test --release -p narrows-integrity -- --ignored`: minutes.
#[test]
#[ignore = "512 GB of data are made and looked at"]
fn no_fault_no_finding_over_a_billion_sectors() {
    const SECTORS: u64 = 2048;
    let mut tester = Tester::of(1);
    let mut block = vec![0; SECTORS as usize * SECTOR_BYTES];
    for n in 0..1_000_000_000u64.div_ceil(SECTORS) {
        // Places up to 2 PiB apart, versions and epochs of all sizes.
        let lba = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 22;
        let generation = (n >> 3) as u32 + 1;
        tester.sequence += 1;
        let write = Write { lba, generation, sequence: tester.sequence, epoch: n as u32, time_ms: n as u32 };
        tester.stamper.stamp(&mut block, &write);
        let read = &block[..];
        let allowed = Expected::only(generation);
        assert!(tester.stamper.check(read, lba, allowed.allowed).is_ok(), "{write:?}");
        if n.is_multiple_of(1024) {
            let place = CheckedBlock { lba, expected: allowed, read, rereads: &[], origin: None };
            assert_eq!(classify(&tester.stamper, &place), None, "{write:?}");
        }
    }
}

#[test]
fn limbo_capacity() {
    // Also where not all of it can be kept.
    for room in [LARGE as usize, 10] {
        let mut tester = Tester::of(LARGE);
        tester.room = room;
        tester.disk.limbo_from = Some(4096);
        tester.pass();
        let finding = only(tester.verify());
        assert_eq!((finding.class, finding.lba, finding.sectors), (DataFault::LimboCapacity, 4096, 4096));
        assert_eq!(says(&finding, "real capacity at most, bytes"), (2u64 << 20).to_string());
    }
}

#[test]
fn wrap_around() {
    // With 3072, three places share each address but for the end. With room for 16, all that are kept lie three turns from whose data they hold:
    // one turn is a third of that, which only later ones tell.
    for (wraps_at, room) in [(3072, LARGE as usize), (2048, 16)] {
        let mut tester = Tester { room, ..Tester::of(LARGE) };
        tester.disk.wraps_at = Some(wraps_at);
        tester.pass();
        let conclusion = tester.verify();
        assert_eq!(conclusion.not_kept, Default::default());
        let finding = only(conclusion);
        assert_eq!((finding.class, finding.lba), (DataFault::WrapAround, wraps_at));
        assert_eq!(finding.sectors, BLOCK * LARGE - wraps_at);
    }
}

#[test]
fn a_fault_of_the_tester_stands_alone() {
    let mut tester = Tester::two_passes(|_| ());
    tester.write(80, 9);
    tester.disk.flip(160, 700);
    let finding = only(tester.verify());
    assert_eq!(summary(&finding), (DataFault::TesterFault, 80, 8, Some(2), Some(9)));
}

#[test]
fn a_slipped_bus_is_corrupt_and_says_by_how_much() {
    let mut tester = Tester::two_passes(|_| ());
    let mut data = read_of(&mut tester.disk, 88);
    data.copy_within(600..1020, 604);
    tester.disk.replace(88, &data);
    let finding = only(tester.verify());
    assert_eq!((finding.class, finding.lba, finding.sectors), (DataFault::Corrupt, 89, 1));
    assert_eq!(says(&finding, "payload slipped by bytes"), "4");
}

#[test]
fn too_many_judgements_are_counted() {
    let mut tester = Tester::two_passes(|_| ());
    (0..20).for_each(|b| tester.disk.flip(b * BLOCK, 800));
    let mut ledger = Ledger::new(15);
    for lba in (0..20).map(|b| b * BLOCK) {
        let read = read_of(&mut tester.disk, lba);
        let place = CheckedBlock { lba, expected: Expected::only(2), read: &read, rereads: &[], origin: None };
        let judgement = classify(&tester.stamper, &place).unwrap();
        assert!(judgement.finding.evidence.iter().any(|e| e.what == "3 of 3 re-reads"));
        ledger.record_judgement(judgement);
    }
    let conclusion = ledger.conclude();
    assert_eq!((conclusion.findings.len(), conclusion.not_kept[&DataFault::BitRot]), (15, 5));
}

proptest! {
    // Each 256 times, or as often as PROPTEST_CASES says; `.ci/run all` says a thousand.
    #[test]
    fn bit_rot(lba in blocks(), bits in prop::collection::btree_set(0..8 * BYTES, 1..4)) {
        let mut tester = Tester::two_passes(|_| ());
        let written = read_of(&mut tester.disk, lba);
        bits.iter().for_each(|bit| tester.disk.flip(lba, *bit));
        let finding = only(tester.verify());
        prop_assert_eq!(finding.class, DataFault::BitRot);
        let first = bits.first().unwrap() / 4096;
        prop_assert_eq!(finding.lba, lba + first as u64);
        let flipped = bits.iter().filter(|b| **b / 4096 == first).count();
        prop_assert_eq!(says(&finding, "flipped bits"), flipped.to_string());
        prop_assert_eq!(finding.found_generation, Some(2));
        let bytes = finding.bytes.expect("what was read");
        let from = first * SECTOR_BYTES;
        prop_assert_eq!(&bytes.received, &read_of(&mut tester.disk, lba)[from..]);
        // Nothing tells what was written only where every sector is damaged in its stamp.
        prop_assert_eq!(bytes.expected.as_deref(), Some(&written[from..]));
    }

    #[test]
    fn corrupt(lba in blocks(), sector in 0..BLOCK, noise in prop::collection::vec(any::<u8>(), SECTOR_BYTES)) {
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.replace(lba + sector, &noise);
        prop_assert_eq!(summary(&only(tester.verify())), (DataFault::Corrupt, lba + sector, 1, Some(2), None));
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.noisy.insert(lba);
        prop_assert_eq!(only(tester.verify()).class, DataFault::Corrupt);
    }

    #[test]
    fn transient_path_error(lba in blocks(), bit in 0..8 * BYTES) {
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.next_read.insert(lba, NextRead::FlippedBit(bit));
        let finding = only(tester.verify());
        prop_assert_eq!(finding.class, DataFault::TransientPathError);
        prop_assert_eq!(says(&finding, "first re-read that was right"), "1");
    }

    #[test]
    fn torn_write(lba in blocks(), sectors in 1..BLOCK as usize) {
        let mut tester = Tester::two_passes(|d| { d.next_write.insert(lba, NextWrite::Torn(sectors)); });
        let wanted = (DataFault::TornWrite, lba + sectors as u64, BLOCK - sectors as u64, Some(2), Some(1));
        prop_assert_eq!(summary(&only(tester.verify())), wanted);
        // The first write over what was blank.
        let mut tester = Tester::new();
        tester.disk.next_write.insert(lba, NextWrite::Torn(sectors));
        tester.pass();
        prop_assert_eq!(only(tester.verify()).class, DataFault::TornWrite);
    }

    #[test]
    fn lost_write(lba in blocks(), old in prop::collection::vec(any::<u8>(), BYTES)) {
        let mut tester = Tester::two_passes(|d| { d.next_write.insert(lba, NextWrite::Lost); });
        prop_assert_eq!(summary(&only(tester.verify())), (DataFault::LostWrite, lba, BLOCK, Some(2), Some(1)));
        let mut tester = Tester::new();
        tester.disk.next_write.insert(lba, NextWrite::Lost);
        tester.pass();
        prop_assert_eq!(summary(&only(tester.verify())), (DataFault::LostWrite, lba, BLOCK, Some(1), None));
        // The first write over what somebody had there.
        let mut tester = Tester::new();
        tester.disk.replace(lba, &old);
        tester.disk.next_write.insert(lba, NextWrite::Lost);
        tester.pass();
        prop_assert_eq!(summary(&only(tester.verify())), (DataFault::LostWrite, lba, BLOCK, Some(1), None));
        // A part of it that arrived shows that it was no loss of all: damage.
        tester.write(lba, 1);
        tester.disk.replace(lba + 1, &old[..SECTOR_BYTES]);
        prop_assert!(matches!(only(tester.verify()).class, DataFault::Corrupt | DataFault::TornWrite));
    }

    #[test]
    fn stale_read(lba in blocks()) {
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.next_read.insert(lba, NextRead::Before);
        prop_assert_eq!(summary(&only(tester.verify())), (DataFault::StaleRead, lba, BLOCK, Some(2), Some(1)));
    }

    #[test]
    fn misdirected_write(from in blocks(), to in blocks()) {
        prop_assume!(from != to);
        // The write that the place itself gets comes first, or the stray one is overwritten and only a loss.
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.next_write.insert(from, NextWrite::To(to));
        tester.write(from, 3);
        tester.adjust = Box::new(move |lba, e| if lba == from { *e = Expected::only(3) });
        let finding = only(tester.verify());
        prop_assert_eq!(summary(&finding), (DataFault::MisdirectedWrite, to, BLOCK, Some(2), Some(3)));
        prop_assert_eq!(says(&finding, "stamp: lba"), from.to_string());
        prop_assert_eq!(says(&finding, "the place to which the data belong holds"), "\"an older version\"");
    }

    #[test]
    fn misdirected_read(from in blocks(), to in blocks()) {
        prop_assume!(from != to);
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.next_read.insert(from, NextRead::Of(to));
        let finding = only(tester.verify());
        prop_assert_eq!((finding.class, finding.lba), (DataFault::MisdirectedRead, from));
        prop_assert_eq!(says(&finding, "the place to which the data belong holds"), "\"the same data\"");
    }

    #[test]
    fn foreign_data(lba in blocks(), same_run: bool) {
        let mut tester = Tester::two_passes(|_| ());
        let ours = tester.stamper;
        tester.stamper = match same_run {
            true => Stamper::new(ours.run_id, 8, ours.secret),
            false => Stamper::new(1, ours.target_id, Secret([8, 9])),
        };
        tester.write(lba, 2);
        tester.stamper = ours;
        let finding = only(tester.verify());
        prop_assert_eq!(summary(&finding), (DataFault::ForeignData, lba, BLOCK, Some(2), Some(2)));
        prop_assert_eq!(says(&finding, "the foreign data are intact"), "true");
    }

    #[test]
    fn late_error(lba in blocks()) {
        let mut tester = Tester::two_passes(|_| ());
        tester.write(lba, 3);
        tester.disk.flush_fails();
        tester.flush();
        tester.adjust = Box::new(move |at, e| if at == lba {
            *e = Expected { standing: FailureDoubt::FlushFailed, ..Expected::between(3, 3) };
        });
        prop_assert_eq!(summary(&only(tester.verify())), (DataFault::LateError, lba, BLOCK, Some(3), Some(2)));
        // The same doubt, and the data are there: no finding.
        tester.write(lba, 3);
        prop_assert!(tester.verify().is_clean());
    }

    #[test]
    fn lost_on_power_cut_and_reordered(lba in blocks(), other in blocks(), later: bool) {
        prop_assume!(lba != other);
        let mut tester = Tester::two_passes(|_| ());
        tester.disk.never_durable.insert(lba);
        let epoch = tester.epoch;
        tester.write(lba, 3);
        tester.flush();
        if later {
            tester.write(other, 3);
        }
        tester.disk.cut(1, || true);
        tester.adjust = Box::new(move |at, e| {
            let allowed = match at {
                at if at == lba => Expected::only(3),
                at if at == other && later => Expected::between(2, 3),
                _ => *e,
            };
            *e = Expected { after_cut: true, epoch: Some(epoch), ..allowed };
        });
        let class = if later { DataFault::ReorderedAcrossFlush } else { DataFault::LostOnPowerCut };
        prop_assert_eq!(summary(&only(tester.verify())), (class, lba, BLOCK, Some(3), Some(2)));
    }

    /// What a power cut may legally do is no finding; torn inside an atomic unit is one.
    #[test]
    fn a_legal_power_cut_is_no_finding(
        written in prop::collection::btree_set(blocks(), 1..30),
        coins in prop::collection::vec(any::<bool>(), 64),
        atomic in prop::sample::select(vec![1usize, 2, 4, 8]),
    ) {
        let mut tester = Tester::two_passes(|_| ());
        written.iter().for_each(|lba| tester.write(*lba, 3));
        let mut coin = coins.iter().cycle();
        tester.disk.cut(atomic, || *coin.next().unwrap());
        tester.adjust = Box::new(move |lba, e| {
            let expected = if written.contains(&lba) { Expected::between(2, 3) } else { *e };
            *e = Expected { after_cut: true, atomic_sectors: atomic as u32, epoch: Some(1), ..expected };
        });
        let conclusion = tester.verify();
        prop_assert!(conclusion.is_clean(), "{:?}", conclusion.findings);
    }

    #[test]
    fn torn_inside_an_atomic_unit(lba in blocks()) {
        let mut tester = Tester::two_passes(|_| ());
        tester.write(lba, 3);
        let mut coin = [true, false].iter().cycle();
        tester.disk.cut(1, || *coin.next().unwrap());
        tester.adjust = Box::new(move |at, e| {
            let expected = if at == lba { Expected::between(2, 3) } else { *e };
            *e = Expected { after_cut: true, atomic_sectors: 8, ..expected };
        });
        let finding = only(tester.verify());
        prop_assert_eq!((finding.class, finding.lba), (DataFault::TornWrite, lba + 1));
    }

    /// Random overwrites in flight together, applied in any order, some failing: never a finding.
    #[test]
    fn random_overwrites_raise_no_alarm(choices in prop::collection::vec(any::<u32>(), 1..300)) {
        let mut tester = Tester::new();
        let mut table = Table::new(BYTES as u64);
        table.cover(0, 16).unwrap();
        let mut versions = Versions::new(vec![Arc::new(table)], 8, 1);
        let mut flying: [Option<(u64, Vec<u8>)>; 8] = Default::default();
        for choice in choices {
            let pick = (choice >> 4) as usize;
            let slot = pick % 8;
            match (choice % 4, &flying[slot]) {
                (0 | 1, None) => {
                    let unit = u64::from(choice >> 8) % 16;
                    versions.begin_write(slot, 0, unit, 1);
                    flying[slot] = Some((unit, tester.stamped(unit * BLOCK, versions.generation(slot, 0))));
                }
                // Stored now or at its end, or twice: at any moment between issue and acknowledgement, also in part.
                (2, Some((unit, data))) => tester.disk.write(unit * BLOCK, &data[..SECTOR_BYTES * (pick % 9)]),
                (_, Some((unit, data))) => {
                    let succeeded = choice % 32 != 3;
                    let sectors = if succeeded { BYTES } else { SECTOR_BYTES * (pick % 9) };
                    tester.disk.write(unit * BLOCK, &data[..sectors]);
                    versions.end_op(slot, u32::from(succeeded));
                    flying[slot] = None;
                }
                _ => {}
            }
            for unit in 0..16 {
                let lba = unit * BLOCK;
                let expected = versions.expected(0, unit);
                let read = read_of(&mut tester.disk, lba);
                let place = CheckedBlock { lba, expected, read: &read, rereads: &[], origin: None };
                prop_assert_eq!(classify(&tester.stamper, &place), None);
                if expected.must_hold() && expected.allowed.min == expected.allowed.max {
                    prop_assert!(tester.stamper.check(&read, lba, expected.allowed).is_ok());
                }
            }
        }
    }

    /// Any bytes at all are judged without a panic, and whatever the fast path passes the slow path passes.
    #[test]
    fn any_bytes_are_judged(
        lba in any::<u64>().prop_map(|l| l >> 1), min in 0u32..5, more in 0u32..3,
        edits in prop::collection::vec((0..BYTES, any::<u8>()), 0..40), stamped_lba in 0u64..40, blank: bool,
    ) {
        let mut tester = Tester::new();
        let mut read = if blank { vec![0; BYTES] } else { tester.stamped(stamped_lba, 3) };
        edits.iter().for_each(|(at, byte)| read[*at] = *byte);
        for lba in [lba, stamped_lba] {
            let expected = Expected::between(min, min + more);
            let place = CheckedBlock { lba, expected, read: &read, rereads: &[Ok(&read), Err(5)], origin: None };
            let judged = classify(&tester.stamper, &place);
            if tester.stamper.check(&read, lba, expected.allowed).is_ok() {
                prop_assert_eq!(judged, None);
            }
        }
    }
}
