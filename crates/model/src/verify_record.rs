//! What the verification of a phase's data found.

use crate::{CompactSort as _, DataFault, DataFinding, Mismatch, Ns, VerifyKind, VerifySource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named! {
    /// Why blocks that were read, or that were to be read back, say nothing about the data.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Unverified {
        /// This run did not write the place, or took its data away (trim, zeroes): it owes nothing.
        NotWritten = "not-written",
        /// A write to the place was in flight while it was read: the two are not atomic to each other.
        InFlight = "in-flight",
        /// A write to the place failed, and it was not written again: old, new, a mixture and garbage are all legal.
        WriteFailed = "write-failed",
        /// The read gave fewer bytes than the block has.
        ReadShort = "read-short",
        /// The read failed; its errno is counted with the errors of the phase.
        ReadFailed = "read-failed",
        /// The phase was stopped before the place was read back.
        Stopped = "stopped",
        /// The place was found wrong before, which is counted once, and was not written since.
        FoundBefore = "found-before",
    }
}

impl Unverified {
    /// The reason for a person: `so many blocks: ...`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotWritten => "not written by this run",
            Self::InFlight => "read while being written",
            Self::WriteFailed => "their last write failed",
            Self::ReadShort => "read in part only",
            Self::ReadFailed => "could not be read",
            Self::Stopped => "not read back: stopped before",
            Self::FoundBefore => "found wrong before, and not written since",
        }
    }
}

named! {
    /// How much of what was written was read back after the operations of the phase.
    #[derive(Default)]
    pub enum ReadBack {
        /// It was not asked for: only what the phase reads anyway was checked.
        #[default]
        None = "none",
        /// All of it, but for places that say nothing ([`VerifyRecord::unverified`]).
        Complete = "complete",
        /// A part: it was stopped, or failed.
        Partial = "partial",
    }
}

/// What was verified in a phase, and what came out. A block is what one read gave.
///
/// Clean is a phase with [`VerifyRecord::is_clean`]; how much that says tell [`VerifyRecord::bytes_verified`] and
/// [`VerifyRecord::unverified`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VerifyRecord {
    /// What was checked, one entry for each kind that a stream of the phase has.
    pub kinds: Vec<VerifyKind>,
    /// Bytes that were compared with what must be there, of the phase's own reads and of the read-back.
    pub bytes_verified: u64,
    /// The blocks of these.
    pub blocks_verified: u64,
    /// Blocks that were read, or were to be read back, and say nothing, at least in part, by reason.
    pub unverified: BTreeMap<Unverified, u64>,
    /// Places found wrong, by the name under which `run` reports them. All are counted, also those of
    /// [`VerifyRecord::findings_dropped`].
    pub mismatches: BTreeMap<Mismatch, u64>,
    /// Them one by one, by place, as many as are kept. Of several files each names its own in its evidence.
    pub findings: Vec<DataFinding>,
    /// Findings of which only the number was kept.
    pub findings_dropped: u64,
    /// Data newer than any that were issued: this program is wrong, and the phase says nothing about the target.
    pub tester_faults: u64,
    /// How much was read back after the phase's operations.
    pub read_back: ReadBack,
    /// Bytes that the read-back read; none of them are in the phase's operations, latencies and series.
    pub read_back_bytes: u64,
    /// How long it took, of the stream that took longest; `None` without one.
    pub read_back_ns: Option<Ns>,
    /// Which way it and the re-reads of suspects took, in words: `direct`, `page cache dropped`.
    pub path: Option<String>,
    /// Where what was verified was read from: the read-back where there was one, else the phase's own reads. `None` where
    /// nothing was verified, and in runs of versions that did not look.
    #[serde(default)]
    pub read_from: Option<VerifySource>,
}

impl VerifyRecord {
    /// Whether nothing that was read was wrong.
    pub fn is_clean(&self) -> bool {
        self.mismatches.is_empty() && self.findings.is_empty() && self.findings_dropped == 0 && self.tester_faults == 0
    }

    /// Why what was verified says nothing of the device: it came from memory, for all that is known.
    pub fn in_memory_only(&self) -> Option<&crate::FromMemory> {
        match &self.read_from {
            Some(VerifySource::Memory(because)) => Some(because),
            Some(VerifySource::Device(_)) | None => None,
        }
    }

    /// Places found wrong, of all classes.
    pub fn mismatched(&self) -> u64 {
        self.mismatches.values().sum()
    }

    /// Counts places of a class, without a finding.
    pub fn count(&mut self, class: DataFault, places: u64) {
        match class.mismatch() {
            Some(mismatch) => *self.mismatches.entry(mismatch).or_default() += places,
            None => self.tester_faults += places,
        }
    }

    /// Adds what another stream of the phase found, keeping at most `most` findings.
    pub fn join(&mut self, other: Self, most: usize) {
        for kind in other.kinds {
            if !self.kinds.contains(&kind) {
                self.kinds.push(kind);
            }
        }
        self.bytes_verified += other.bytes_verified;
        self.blocks_verified += other.blocks_verified;
        other.unverified.into_iter().for_each(|(reason, n)| *self.unverified.entry(reason).or_default() += n);
        other.mismatches.into_iter().for_each(|(name, n)| *self.mismatches.entry(name).or_default() += n);
        self.findings.extend(other.findings);
        self.findings.compact_sort_by_key(|f| f.lba);
        self.findings_dropped += other.findings_dropped + self.findings.len().saturating_sub(most) as u64;
        self.findings.truncate(most);
        self.tester_faults += other.tester_faults;
        self.read_back = match (self.read_back, other.read_back) {
            (ReadBack::None, one) | (one, ReadBack::None) => one,
            (ReadBack::Complete, ReadBack::Complete) => ReadBack::Complete,
            _ => ReadBack::Partial,
        };
        self.read_back_bytes += other.read_back_bytes;
        self.read_back_ns = self.read_back_ns.max(other.read_back_ns);
        self.path = self.path.take().or(other.path);
        self.read_from = match (self.read_from.take(), other.read_from) {
            (Some(one), Some(other)) => Some(one.weaker(other)),
            (one, other) => one.or(other),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(lba: u64, read_back: ReadBack) -> VerifyRecord {
        let finding = DataFinding {
            class: DataFault::LostWrite,
            lba,
            sectors: 8,
            expected_generation: Some(2),
            found_generation: Some(1),
            evidence: Vec::new(),
            bytes: None,
        };
        VerifyRecord {
            kinds: vec![VerifyKind::Stamp],
            bytes_verified: 4096,
            blocks_verified: 1,
            unverified: [(Unverified::InFlight, 2)].into(),
            mismatches: [(Mismatch::Lost, 1)].into(),
            findings: vec![finding],
            read_back,
            read_back_bytes: 4096,
            read_back_ns: Some(lba),
            ..VerifyRecord::default()
        }
    }

    #[test]
    fn streams_are_joined_and_findings_are_bounded() {
        let mut all = record(80, ReadBack::Complete);
        all.join(record(16, ReadBack::None), 8);
        assert_eq!((all.read_back, all.mismatched(), all.bytes_verified), (ReadBack::Complete, 2, 8192));
        assert_eq!(all.findings.iter().map(|f| f.lba).collect::<Vec<_>>(), [16, 80]);
        all.join(record(48, ReadBack::Partial), 2);
        assert_eq!((all.read_back, all.findings.len(), all.findings_dropped), (ReadBack::Partial, 2, 1));
        assert_eq!((all.unverified[&Unverified::InFlight], all.read_back_ns), (6, Some(80)));
        assert!(!all.is_clean() && VerifyRecord::default().is_clean());
    }

    #[test]
    fn it_survives_json() {
        let record = record(8, ReadBack::Partial);
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(json["unverified"][Unverified::InFlight.name()], 2);
        assert_eq!(json["mismatches"]["lost"], 1);
        assert_eq!(json["read_back"], ReadBack::Partial.name());
        assert_eq!(serde_json::from_value::<VerifyRecord>(json).unwrap(), record);
    }
}
