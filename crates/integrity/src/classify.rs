//! One place that a read found wrong: what happened to it.
//!
//! Pure functions over bytes that the caller obtained: the read that was wrong, further reads of the same place after its
//! caches were dropped (three are asked for), and, where the data belong elsewhere, what is there. What needs the view of
//! many places at once is in [`crate::Ledger`].

use crate::block::{AllowedGenerations, Stamper};
use crate::expected::{Expected, FailureDoubt};
use crate::sector::{Content, examine, foreign_is_intact};
use crate::stamp::{SECTOR_BYTES, Sector, Stamp};
use model::{DataFault, DataFinding, Evidence, WrongBytes};

/// Further reads that a finding should rest on.
pub const REREADS: usize = 3;

/// A place to be judged: one written unit.
#[derive(Clone, Copy, Debug)]
pub struct CheckedBlock<'a> {
    /// LBA of the first sector.
    pub lba: u64,
    /// What it must hold.
    pub expected: Expected,
    /// What the read gave: whole sectors.
    pub read: &'a [u8],
    /// What later reads of the same place gave, with caches dropped before each, or their errno.
    pub rereads: &'a [Result<&'a [u8], i32>],
    /// What lies where the data found here belong; see [`points_to`].
    pub origin: Option<Origin<'a>>,
}

/// The place to which misdirected data belong.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// What it must hold.
    pub expected: Expected,
    /// What it holds.
    pub read: &'a [u8],
}

/// What happened to one place, and what [`crate::Ledger`] needs to see it among others.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The finding, as it stands by itself.
    pub finding: DataFinding,
    /// First sector of the place that was judged.
    pub lba: u64,
    /// The place to which the data found belong.
    pub points_to: Option<u64>,
    /// The place holds nothing of this run: one byte repeated, or what resembles nothing.
    pub(crate) empty: bool,
    /// The data found also lie intact where they belong.
    pub(crate) also_at_origin: bool,
    /// Flushes acknowledged when what is lost was issued.
    pub(crate) lost_epoch: Option<u32>,
    /// The newest write of which something lies there.
    sequence: Option<u64>,
    /// What shows nothing of this run may be what was there before.
    blank_may_be_old: bool,
}

/// The first sector of the block to which the data in `block`, read from `lba`, belong, if that is elsewhere on this
/// target: read it and give it to [`classify`] as the origin.
pub fn points_to(stamper: &Stamper, lba: u64, block: &[u8]) -> Option<u64> {
    let contents = contents_of(stamper, lba, block, AllowedGenerations { min: 0, max: u32::MAX });
    misdirected_origin(&contents).map(|(position, stamp)| stamp.lba.saturating_sub(position as u64))
}

/// Whether a place that shows what was there before is the end of a write of which the beginning did arrive: `around` was read from
/// `start` together with it, and `found` is the judgement of the place. Then the write is torn. A piece that is missing in the middle
/// is lost: what came after it arrived.
pub fn is_rest_of_torn(stamper: &Stamper, start: u64, around: &[u8], found: &Judgement) -> bool {
    // One byte repeated is what was there before only where nothing was, or what was there had been trimmed.
    if found.finding.class != DataFault::LostWrite || found.sequence.is_none() && !found.blank_may_be_old {
        return false;
    }
    let place = found.finding.lba;
    let before = found.sequence.unwrap_or(0);
    let arrived = around.as_chunks::<SECTOR_BYTES>().0.iter().enumerate().filter_map(|(i, sector)| {
        let stamp = Stamp::decode(crate::stamp::split(sector).0)?;
        let ours = stamp.run_id == stamper.run_id && stamp.target_id == stamper.target_id;
        let first = stamp.lba.saturating_sub(u64::from(stamp.sector));
        let covers = (first..first + u64::from(stamp.count)).contains(&place);
        (ours && stamp.lba == start + i as u64 && covers && stamp.sequence > before).then_some(stamp.lba)
    });
    // In the order of their places.
    let (mut first, mut last) = (None, None);
    for lba in arrived {
        first = first.or(Some(lba));
        last = Some(lba);
    }
    first.is_some_and(|lba| lba < place) && last.is_some_and(|lba| lba < place)
}

fn misdirected_origin(contents: &[Content]) -> Option<(usize, Stamp)> {
    contents.iter().enumerate().find_map(|(i, c)| match c {
        Content::Elsewhere(stamp) => Some((i, *stamp)),
        _ => None,
    })
}

fn contents_of(stamper: &Stamper, lba: u64, block: &[u8], allowed: AllowedGenerations) -> Vec<Content> {
    let sectors = block.as_chunks::<SECTOR_BYTES>().0;
    let look = |i: usize, s: &Sector, peers: &[Stamp]| examine(stamper, s, lba + i as u64, i, allowed, peers);
    // Sound stamps first: they tell what the damaged ones beside them must have been.
    let peers: Vec<Stamp> = sectors
        .iter()
        .enumerate()
        .filter_map(|(i, s)| Stamp::decode(crate::stamp::split(s).0).filter(|p| p.lba == lba + i as u64))
        .filter(|p| p.run_id == stamper.run_id && p.target_id == stamper.target_id)
        .collect();
    sectors.iter().enumerate().map(|(i, s)| look(i, s, &peers)).collect()
}

/// Data that show no trace of this run.
fn is_old(content: &Content) -> bool {
    matches!(content, Content::Unrecognisable(None))
}

/// What is wrong with these contents by themselves; `None` if nothing is.
fn fault_of(contents: &[Content], expected: &Expected) -> Option<DataFault> {
    let any = |test: fn(&Content) -> bool| contents.iter().any(test);
    let all = |test: fn(&Content) -> bool| contents.iter().all(test);
    if any(|c| matches!(c, Content::Newer(_))) {
        return Some(DataFault::TesterFault);
    }
    if !expected.settled || expected.standing == FailureDoubt::WriteFailed {
        return None;
    }
    if any(|c| matches!(c, Content::Elsewhere(_))) {
        return Some(DataFault::MisdirectedWrite);
    }
    if !expected.must_hold() {
        return None;
    }
    let first_version = expected.allowed.max == 1;
    let blank_may_be_old = first_version || expected.allowed.min == 1 || expected.trims;
    if any(|c| matches!(c, Content::Foreign(_))) {
        // Before the first write anything may have lain here; the part of it that did not arrive shows that.
        let torn = first_version && any(|c| matches!(c, Content::Right(_)));
        return Some(if torn { DataFault::TornWrite } else { DataFault::ForeignData });
    }
    // What lay here before this run's first write is not known. A unit in which no sector shows a trace of what was written is
    // what a lost first write leaves; damage leaves some of it, and a medium that cannot read a sector says so.
    let old = first_version && contents.iter().all(is_old);
    if any(|c| matches!(c, Content::Unrecognisable(_))) && !old {
        return Some(DataFault::Corrupt);
    }
    if any(|c| matches!(c, Content::Damaged(..))) {
        return Some(DataFault::BitRot);
    }
    let is_loss = |c: &Content| old || matches!(c, Content::Older(_) | Content::Blank(_));
    let lost = match (expected.standing, expected.after_cut) {
        (FailureDoubt::FlushFailed, _) => DataFault::LateError,
        (_, true) => DataFault::LostOnPowerCut,
        _ => DataFault::LostWrite,
    };
    if contents.iter().all(is_loss) {
        return Some(lost);
    }
    if contents.iter().any(is_loss) {
        let blank = any(|c| matches!(c, Content::Blank(_)));
        return Some(match expected.standing {
            FailureDoubt::FlushFailed => DataFault::LateError,
            _ if blank && !blank_may_be_old => DataFault::Corrupt,
            _ => DataFault::TornWrite,
        });
    }
    // Every sector is of an allowed generation.
    debug_assert!(all(|c| matches!(c, Content::Right(_))));
    if expected.standing == FailureDoubt::FlushFailed {
        // Of writes that overlapped in time any may be there, whatever the flush after them did.
        return None;
    }
    let torn = match expected.after_cut {
        // Torn between atomic units is legal for what no flush covered.
        true => contents.chunks(expected.atomic_sectors.max(1) as usize).any(is_mixed),
        // Of writes that overlapped in time each sector may be of another: see `Versions`.
        false => expected.allowed.min == expected.allowed.max && is_mixed(contents),
    };
    torn.then_some(DataFault::TornWrite)
}

fn is_mixed(contents: &[Content]) -> bool {
    let sequence = |c: &Content| c.stamp().map(|s| s.sequence);
    contents.iter().any(|c| sequence(c) != sequence(&contents[0]))
}

/// What happened to `place`. `None`: nothing that can be held against anybody.
///
/// Give it three re-reads ([`REREADS`]); with fewer the finding says so. A persistent stale read cannot be told from a lost
/// write without a power cycle, and the memory of the host can do all that a medium can.
pub fn classify(stamper: &Stamper, place: &CheckedBlock<'_>) -> Option<Judgement> {
    let expected = &place.expected;
    let contents = contents_of(stamper, place.lba, place.read, expected.allowed);
    let mut fault = fault_of(&contents, expected)?;
    let mut evidence = Vec::new();
    let rereads: Vec<&[u8]> =
        place.rereads.iter().filter_map(|r| r.ok()).filter(|r| r.len() == place.read.len()).collect();
    let later_good = rereads.iter().position(|reread| {
        *reread != place.read
            && fault_of(&contents_of(stamper, place.lba, reread, expected.allowed), expected).is_none()
    });
    let stable = rereads.iter().all(|reread| *reread == place.read);
    if fault != DataFault::TesterFault {
        if later_good.is_some() {
            fault = match fault {
                DataFault::MisdirectedWrite => DataFault::MisdirectedRead,
                DataFault::LostWrite | DataFault::LostOnPowerCut | DataFault::LateError | DataFault::TornWrite
                    if contents.iter().all(|c| matches!(c, Content::Older(_) | Content::Right(_))) =>
                {
                    DataFault::StaleRead
                }
                _ => DataFault::TransientPathError,
            };
        } else if !stable && (fault == DataFault::BitRot || contents.iter().all(is_old)) {
            // Rot stays the same, and so do old data. What changes and is never right is a failing medium, memory or path.
            fault = DataFault::Corrupt;
        }
    }
    describe_rereads(place, later_good, stable, &mut evidence);

    let is_bad = |c: &Content| match fault {
        DataFault::LateError => c.generation() != Some(expected.allowed.max),
        _ => !matches!(c, Content::Right(_)),
    };
    // Where every sector is allowed and the mixture is the fault, those that are behind are named.
    let newest = contents.iter().filter_map(Content::generation).max();
    let bad: Vec<usize> = match contents.iter().any(is_bad) {
        true => (0..contents.len()).filter(|i| is_bad(&contents[*i])).collect(),
        false => (0..contents.len()).filter(|i| contents[*i].generation() != newest).collect(),
    };
    let first_bad = bad.first().copied().unwrap_or(0);
    describe(&contents, first_bad, place, &mut evidence);
    let mut also_at_origin = false;
    let moved = misdirected_origin(&contents);
    if let Some((position, stamp)) = moved {
        also_at_origin = describe_origin(stamper, place, position, &stamp, &mut evidence);
    }
    Some(Judgement {
        lba: place.lba,
        points_to: moved.map(|(position, stamp)| stamp.lba.saturating_sub(position as u64)),
        empty: contents.iter().all(|c| matches!(c, Content::Blank(_) | Content::Unrecognisable(None))),
        also_at_origin,
        lost_epoch: expected.epoch,
        blank_may_be_old: expected.allowed.min <= 1 || expected.trims,
        sequence: contents.iter().filter_map(|c| c.stamp()).map(|s| s.sequence).max(),
        finding: DataFinding {
            class: fault,
            lba: place.lba + first_bad as u64,
            sectors: bad.len().max(1) as u64,
            expected_generation: (expected.allowed.min > 0).then_some(expected.allowed.min),
            found_generation: bad.iter().filter_map(|i| contents[*i].generation()).min(),
            evidence,
            bytes: Some(Box::new(bytes_of(stamper, &contents, first_bad, place))),
        },
    })
}

/// The bytes from the first bad sector on, and what was written there: by the stamp of a sound sector beside it, or by the
/// sector's own where that is whole.
fn bytes_of(stamper: &Stamper, contents: &[Content], first_bad: usize, place: &CheckedBlock<'_>) -> WrongBytes {
    const MAX_SECTORS: usize = 8;
    let sectors = &place.read.as_chunks::<SECTOR_BYTES>().0[first_bad..];
    let sectors = &sectors[..sectors.len().min(MAX_SECTORS)];
    // Where several versions are allowed and mixed, the newest is what was to be there.
    let right = contents.iter().enumerate().filter_map(|(at, c)| match c {
        Content::Right(stamp) => Some((at, *stamp)),
        _ => None,
    });
    let right = right.max_by_key(|(_, stamp)| stamp.generation);
    let written = |at: usize, sector: &Sector| {
        let lba = place.lba + at as u64;
        let stamp = match (right, &contents[at]) {
            (Some((beside, stamp)), _) => {
                // The sectors of a write are numbered from its start.
                let number = usize::from(stamp.sector) + at;
                Stamp { lba, sector: u16::try_from(number.checked_sub(beside)?).ok()?, ..stamp }
            }
            (None, Content::Damaged(..)) => Stamp::decode(crate::stamp::split(sector).0).filter(|s| s.lba == lba)?,
            (None, _) => return None,
        };
        (stamp.sector < stamp.count).then(|| stamper.regenerate(&stamp))
    };
    let expected: Option<Vec<Sector>> = sectors.iter().enumerate().map(|(i, s)| written(first_bad + i, s)).collect();
    WrongBytes { received: sectors.concat(), expected: expected.map(|sectors| sectors.concat()) }
}

fn describe_rereads(place: &CheckedBlock<'_>, later_good: Option<usize>, stable: bool, evidence: &mut Vec<Evidence>) {
    let source = "re-reads";
    let reads = place.rereads.iter().filter(|r| r.is_ok()).count();
    if reads < REREADS {
        evidence.push(Evidence::absence(format!("{} of {REREADS} re-reads", REREADS - reads), source));
    }
    for errno in place.rereads.iter().filter_map(|r| r.err()) {
        evidence.push(Evidence::measurement("re-read failed with errno", errno, source));
    }
    if let Some(i) = later_good {
        evidence.push(Evidence::measurement("first re-read that was right", i as u64 + 1, source));
    } else if reads > 0 {
        evidence.push(Evidence::measurement("re-reads gave the same bytes", stable, source));
    }
}

/// What lies there, by its first bad sector.
fn describe(contents: &[Content], first_bad: usize, place: &CheckedBlock<'_>, evidence: &mut Vec<Evidence>) {
    let source = format!("sector {}", place.lba + first_bad as u64);
    let Some(content) = contents.get(first_bad) else { return };
    let allowed = place.expected.allowed;
    if allowed.min != allowed.max {
        let range = format!("{} to {}", allowed.min, allowed.max);
        evidence.push(Evidence::fact("allowed generations", range, "expected state"));
    }
    if let Some(stamp) = content.stamp() {
        evidence.push(Evidence::measurement("stamp: lba", stamp.lba, &source));
        evidence.push(Evidence::measurement("stamp: generation", stamp.generation, &source));
        evidence.push(Evidence::measurement("stamp: sequence", stamp.sequence, &source));
        evidence.push(Evidence::measurement("stamp: flush epoch", stamp.epoch, &source));
        evidence.push(Evidence::measurement("stamp: milliseconds since start", stamp.time_ms, &source));
    }
    match content {
        Content::Foreign(stamp) => {
            evidence.push(Evidence::measurement("stamp: run", format!("{:016x}", stamp.run_id), &source));
            evidence.push(Evidence::measurement("stamp: target", stamp.target_id, &source));
            let at_home = stamp.lba == place.lba + first_bad as u64;
            // A first write that is lost over the data of an earlier run looks like this.
            evidence.push(Evidence::measurement("the foreign data are of the same place", at_home, &source));
            let sector = &place.read.as_chunks::<SECTOR_BYTES>().0[first_bad];
            evidence.push(Evidence::measurement(
                "the foreign data are intact",
                foreign_is_intact(stamp, sector),
                &source,
            ));
        }
        Content::Damaged(_, damage) | Content::Unrecognisable(Some(damage)) => damage.evidence(&source, evidence),
        Content::Unrecognisable(None) => {
            evidence.push(Evidence::absence("a stamp, or a payload that resembles an allowed version", &source));
            if allowed.max == 1 {
                evidence.push(Evidence::absence("what lay here before this run's first write", &source));
            }
        }
        Content::Blank(byte) => {
            evidence.push(Evidence::measurement("every byte is", format!("0x{byte:02x}"), &source));
        }
        _ => {}
    }
    let sequences: Vec<u64> = {
        let mut all: Vec<u64> = contents.iter().filter_map(|c| c.stamp()).map(|s| s.sequence).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    if sequences.len() > 1 {
        evidence.push(Evidence::measurement("writes that the sectors are of", sequences, "stamps"));
    }
}

/// Whether the data found at `place` lie intact where they belong, too.
fn describe_origin(
    stamper: &Stamper,
    place: &CheckedBlock<'_>,
    position: usize,
    stamp: &Stamp,
    evidence: &mut Vec<Evidence>,
) -> bool {
    let start = stamp.lba.saturating_sub(position as u64);
    let source = format!("sector {}", stamp.lba);
    let Some(origin) = &place.origin else {
        evidence.push(Evidence::absence("a read of the place to which the data belong", source));
        return false;
    };
    let contents = contents_of(stamper, start, origin.read, origin.expected.allowed);
    let Some(there) = contents.get(position) else { return false };
    let same = there.stamp().is_some_and(|s| s.lba == stamp.lba && s.sequence == stamp.sequence);
    let state = match there {
        _ if same => "the same data",
        Content::Right(_) => "a later version",
        Content::Older(_) => "an older version",
        Content::Elsewhere(_) => "another place's data",
        Content::Foreign(_) => "foreign data",
        Content::Blank(_) => "one byte repeated",
        Content::Newer(_) | Content::Damaged(..) | Content::Unrecognisable(_) => "damaged data",
    };
    evidence.push(Evidence::measurement("the place to which the data belong holds", state, source));
    same
}
