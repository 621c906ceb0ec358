//! Whether what was read is what was written, where the phase verified it.

use super::{RuleInput, Validity};
use model::Reason;

pub(super) fn data_verified(case: RuleInput<'_>, out: &mut Validity) {
    let Some(verify) = &case.record.verify else { return };
    let places = verify.mismatches.values().fold(0u64, |sum, n| sum.saturating_add(*n));
    if places > 0 {
        let by_name: Vec<String> = verify.mismatches.iter().map(|(name, n)| format!("{name} {n}")).collect();
        out.refusals.push(Reason::DataMismatch { places, by_name: by_name.join(", ") });
    }
    if verify.tester_faults > 0 {
        out.refusals.push(Reason::TesterFault { places: verify.tester_faults });
    }
    let blocks: Vec<String> = verify.unverified.iter().map(|(why, n)| format!("{n} {}", why.reason())).collect();
    if !blocks.is_empty() || verify.blocks_verified == 0 {
        out.remarks.push(Reason::Unverified { blocks });
    }
    if let Some(because) = verify.in_memory_only() {
        out.remarks.push(Reason::VerifiedInMemory { because: because.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{FromDevice, FromMemory, Mismatch, Unverified, VerifyRecord, VerifySource};

    fn with(verify: VerifyRecord) -> Fixture {
        let mut f = Fixture::random_read();
        f.record.verify = Some(verify);
        f
    }

    #[test]
    fn wrong_data_refuse_the_numbers() {
        let clean = VerifyRecord { blocks_verified: 9, ..VerifyRecord::default() };
        assert_eq!((with(clean.clone()).codes(), with(clean.clone()).judge().reasons), (vec![], vec![]));
        let wrong = VerifyRecord { mismatches: [(Mismatch::Lost, 2), (Mismatch::Torn, 1)].into(), ..clean.clone() };
        let judged = with(wrong).judge();
        assert_eq!(lines(&judged.reasons), ["data-mismatch: 3 places are not what was written (lost 2, torn 1)"]);
        assert!(judged.metrics.iter().all(|m| m.value.is_none()));
        let faulty = VerifyRecord { tester_faults: 1, ..clean };
        assert_eq!(with(faulty).codes(), ["tester-fault"]);
    }

    #[test]
    fn what_came_from_memory_is_not_said_to_be_on_the_device() {
        let from = |source| VerifyRecord { blocks_verified: 9, read_from: Some(source), ..VerifyRecord::default() };
        let judged = with(from(VerifySource::Memory(FromMemory::Resident { pages: Some(3) }))).judge();
        let said = "verified-in-memory: verified in memory only: 3 pages were still in the page cache";
        assert_eq!(lines(&judged.reasons), [said]);
        assert!(judged.metrics[0].value.is_some());
        assert_eq!(with(from(VerifySource::Device(FromDevice::Direct))).judge().reasons, []);
    }

    #[test]
    fn what_could_not_be_verified_is_said() {
        let some =
            VerifyRecord { blocks_verified: 9, unverified: [(Unverified::InFlight, 4)].into(), ..Default::default() };
        let judged = with(some).judge();
        assert_eq!(lines(&judged.reasons), ["unverified: undecided blocks: 4 read while being written"]);
        assert!(judged.metrics[0].value.is_some());
        assert!(with(VerifyRecord::default()).judge().reasons[0].to_string().starts_with("unverified: no block"));
    }
}
