//! How large a device really is: known data are written all over it, and what comes back from where tells.

use crate::plan::{Work, phase};
use conduct::Opened;
use conduct::may_be_written;
use engine::Control;
use model::{Capacity, CapacityKind, Failure, PhaseRecord, StopCause};
use workload::{Interruption, KnownData};

/// Pieces that are told apart.
const UNIT: u64 = 64 << 10;
/// How many pairs of places that are one place a quick look meets at least, on a device of which half or less is there: of n
/// places drawn of N, n(n-1)/2N pairs fall together.
const PAIRS: u64 = 16;

/// How thorough it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityProbe {
    /// Places at random, as many as tell.
    Quick,
    /// Every block is written.
    Full,
}

/// What it writes to a target of so many bytes.
pub fn probe_bytes(bytes: u64, probe: CapacityProbe) -> u64 {
    let places = bytes / UNIT;
    match probe {
        CapacityProbe::Full => places * UNIT,
        CapacityProbe::Quick => (((2 * PAIRS * places) as f64).sqrt().ceil() as u64).min(places) * UNIT,
    }
}

/// Finds out; what the target holds is lost.
///
/// # Errors
/// Where nothing may be written, or the target cannot be worked on.
pub fn capacity(
    opened: &mut Opened,
    control: &Control,
    probe: CapacityProbe,
    random: [u64; 4],
) -> Result<Capacity, Failure> {
    may_be_written(opened, "its capacity shows")?;
    let bytes = opened.max_bytes / UNIT * UNIT;
    let [run_id, first, second, seed] = random;
    let known = KnownData { run_id, secret: [first, second], unit_bytes: UNIT, ..KnownData::default() };
    opened.rig.remember_known(&KnownData { cut: Interruption::None, ..known })?;
    let quick = probe == CapacityProbe::Quick;
    let work = Work {
        reads: false,
        region: 0..bytes,
        block_bytes: if quick { UNIT } else { 1 << 20 },
        depth: 8,
        random: quick,
        buffered: false,
        rate_bytes_per_s: None,
        amount_bytes: quick.then(|| probe_bytes(bytes, probe)),
        churn: None,
    };
    let record = opened.rig.run(&phase(opened, &work, seed)?, control)?;
    Ok(capacity_from(&record, opened.target.size_bytes.unwrap_or(bytes), quick))
}

fn capacity_from(record: &PhaseRecord, claimed_bytes: u64, quick: bool) -> Capacity {
    let verify = record.verify.as_ref();
    let findings = verify.map(|v| v.findings.as_slice()).unwrap_or_default();
    let verified_bytes = verify.map_or(0, |v| v.bytes_verified);
    let mut reasons = Vec::new();
    if record.stop == StopCause::Interrupted {
        reasons.push("it was interrupted".to_owned());
    }
    if !record.errors.is_empty() {
        reasons.push(format!("operations failed: {}", record.errors.keys().cloned().collect::<Vec<_>>().join(", ")));
    }
    if verified_bytes == 0 {
        reasons.push("nothing was read back".to_owned());
    }
    if let Some(why) = verify.and_then(|v| v.in_memory_only()) {
        reasons.push(format!("what was read back came from memory: {why}"));
    }
    let (kind, real_bytes) = match CapacityKind::found(findings) {
        Some((kind, bytes)) => (kind, Some(bytes)),
        None if !findings.is_empty() => {
            let classes: Vec<&str> = findings.iter().take(3).map(|f| f.class.name()).collect();
            reasons.push(format!("data came back wrong, and not as of a fake: {}", classes.join(", ")));
            (CapacityKind::Unknown, None)
        }
        None if reasons.is_empty() => (CapacityKind::Genuine, Some(claimed_bytes)),
        None => (CapacityKind::Unknown, None),
    };
    Capacity { claimed_bytes, real_bytes, kind, quick, written_bytes: record.bytes, verified_bytes, reasons }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{DataFault, DataFinding, VerifyRecord};

    fn record(findings: &[(DataFault, u64)]) -> PhaseRecord {
        let finding = |&(class, lba): &(DataFault, u64)| DataFinding {
            class,
            lba,
            sectors: 128,
            expected_generation: Some(1),
            found_generation: None,
            evidence: Vec::new(),
            bytes: None,
        };
        let verify = VerifyRecord {
            bytes_verified: 1 << 20,
            findings: findings.iter().map(finding).collect(),
            ..VerifyRecord::default()
        };
        PhaseRecord { bytes: 1 << 20, verify: Some(verify), ..PhaseRecord::default() }
    }

    #[test]
    fn what_came_back_says_what_it_is_and_doubt_is_never_genuine() {
        let kind = |record: &PhaseRecord| {
            let found = capacity_from(record, 32 << 30, true);
            (found.kind, found.real_bytes)
        };
        assert_eq!(kind(&record(&[])), (CapacityKind::Genuine, Some(32 << 30)));
        assert_eq!(kind(&record(&[(DataFault::WrapAround, 8192)])), (CapacityKind::WrapAround, Some(4 << 20)));
        assert_eq!(kind(&record(&[(DataFault::LimboCapacity, 16384)])), (CapacityKind::Limbo, Some(8 << 20)));
        let others = record(&[(DataFault::BitRot, 7), (DataFault::LostWrite, 9)]);
        assert_eq!(kind(&others), (CapacityKind::Unknown, None));
        assert!(capacity_from(&others, 1, true).reasons[0].contains("bit-rot, lost-write"));
        let mut failed = record(&[]);
        failed.errors.insert("EIO".into(), 3);
        assert_eq!(kind(&failed), (CapacityKind::Unknown, None));
        let stopped = PhaseRecord { stop: StopCause::Interrupted, ..record(&[]) };
        assert_eq!(kind(&stopped), (CapacityKind::Unknown, None));
        let nothing = PhaseRecord { verify: None, ..record(&[]) };
        assert_eq!(kind(&nothing), (CapacityKind::Unknown, None));
    }

    #[test]
    fn a_quick_look_meets_pairs_wherever_a_fake_ends() {
        for bytes in [16u64 << 20, 4 << 30, 64 << 30, 1 << 40] {
            let (n, real) = ((probe_bytes(bytes, CapacityProbe::Quick) / UNIT) as f64, (bytes / UNIT / 2) as f64);
            assert!(n * n / (2.0 * real) >= 2.0 * PAIRS as f64 - 1.0, "{bytes}");
            assert!(probe_bytes(bytes, CapacityProbe::Quick) <= bytes);
        }
        assert_eq!(probe_bytes(1 << 30, CapacityProbe::Full), 1 << 30);
    }
}
