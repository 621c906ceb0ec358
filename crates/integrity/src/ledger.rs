//! What only shows when many places are seen together: fake capacity, writes that went astray, and order across flushes.

use crate::block::Intact;
use crate::classify::Judgement;
use crate::stamp::SECTOR_BYTES;
use model::{CompactSort as _, DataFault, DataFinding, Evidence, VerifyRecord, gcd};
use std::collections::{BTreeMap, BTreeSet};

/// Aliases that a wrap-around is concluded from.
const FEWEST_ALIASES: usize = 4;
/// The smallest capacity that a device may really have, in sectors: 1 MiB. Below, a constant shift is not a wrap-around.
const SMALLEST_CAPACITY: u64 = 2048;
/// Places in a row that keep nothing, up to the end, before a device is said to have no more: and at least 1 MiB of them.
const FEWEST_LIMBO: u64 = 4;

/// Collects what was read and what was judged, and concludes. Memory is bounded: beyond `room` judgements only their number
/// is kept, by class, and what tells a capacity.
#[derive(Clone, Debug)]
pub struct Ledger {
    room: usize,
    judgements: Vec<Judgement>,
    overflow: BTreeMap<DataFault, u64>,
    /// Of those, the ones that hold nothing.
    overflow_empty: Option<PlaceRange>,
    /// Whether there are others.
    overflow_other: bool,
    /// Of those, the ones that returned another's data.
    overflow_aliases: Aliases,
    good_places: u64,
    highest_good: Option<u64>,
    newest_epoch: Option<u32>,
}

/// Places from the first to the last of a kind.
#[derive(Clone, Copy, Debug)]
struct PlaceRange {
    first: u64,
    end: u64,
    sectors: u64,
    places: u64,
}

impl PlaceRange {
    fn of(finding: &DataFinding) -> Self {
        Self { first: finding.lba, end: finding.lba + finding.sectors, sectors: finding.sectors, places: 1 }
    }

    fn with(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            end: self.end.max(other.end),
            sectors: self.sectors + other.sectors,
            places: self.places + other.places,
        }
    }
}

/// Places that returned the data of others which are also where they belong.
#[derive(Clone, Copy, Debug)]
struct Aliases {
    places: u64,
    sectors: u64,
    /// The greatest common divisor of their distances, sectors.
    divisor: u64,
    /// The least of the larger sectors of all pairs.
    least_larger: u64,
}

impl Aliases {
    const NONE: Self = Self { places: 0, sectors: 0, divisor: 0, least_larger: u64::MAX };

    /// Of one place; `None` where it is no alias.
    fn of(judgement: &Judgement) -> Option<Self> {
        let finding = &judgement.finding;
        let there = judgement.points_to.filter(|_| judgement.also_at_origin)?;
        (finding.class == DataFault::MisdirectedWrite).then(|| Self {
            places: 1,
            sectors: finding.sectors,
            divisor: judgement.lba.abs_diff(there),
            least_larger: judgement.lba.max(there),
        })
    }

    fn with(self, other: Self) -> Self {
        Self {
            places: self.places + other.places,
            sectors: self.sectors + other.sectors,
            divisor: gcd(self.divisor, other.divisor),
            least_larger: self.least_larger.min(other.least_larger),
        }
    }
}

/// Whether the place keeps nothing, and no power cut or failed flush explains that.
fn is_empty(judgement: &Judgement) -> bool {
    let class = judgement.finding.class;
    // Of a write across the end of what is there a part arrives.
    let may_be = [DataFault::LostWrite, DataFault::TornWrite, DataFault::Corrupt, DataFault::TransientPathError];
    judgement.empty && may_be.contains(&class)
}

/// What was concluded.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The findings, by place.
    pub findings: Vec<DataFinding>,
    /// Places that were right.
    pub good_places: u64,
    /// Places judged beyond what could be kept, by the class that they had by themselves.
    pub not_kept: BTreeMap<DataFault, u64>,
}

impl Conclusion {
    /// Whether everything that was read was right.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.not_kept.is_empty()
    }

    /// Adds it to the record of a phase, which keeps at most so many findings one by one. Where the phase has several files,
    /// `file` is the name of this one; of one that has none it is empty.
    pub fn add_to(self, record: &mut VerifyRecord, file: &str, most: usize) {
        for (class, places) in self.not_kept {
            record.count(class, places);
            record.findings_dropped += places;
        }
        for mut finding in self.findings {
            record.count(finding.class, 1);
            if record.findings.len() >= most {
                record.findings_dropped += 1;
                continue;
            }
            if !file.is_empty() {
                finding.evidence.insert(0, Evidence::fact("file", file, "plan"));
            }
            record.findings.push(finding);
        }
    }
}

impl Ledger {
    /// Keeps at most `room` judgements.
    pub fn new(room: usize) -> Self {
        Self {
            room,
            judgements: Vec::new(),
            overflow: BTreeMap::new(),
            overflow_empty: None,
            overflow_other: false,
            overflow_aliases: Aliases::NONE,
            good_places: 0,
            highest_good: None,
            newest_epoch: None,
        }
    }

    /// The block at `lba` was as it must be.
    #[inline]
    pub fn record_intact(&mut self, lba: u64, intact: &Intact) {
        self.good_places += 1;
        self.highest_good = self.highest_good.max(Some(lba));
        self.newest_epoch = self.newest_epoch.max(Some(intact.epoch));
    }

    /// The block was not.
    pub fn record_judgement(&mut self, judgement: Judgement) {
        if self.judgements.len() < self.room {
            self.judgements.push(judgement);
        } else {
            *self.overflow.entry(judgement.finding.class).or_default() += 1;
            if is_empty(&judgement) {
                let here = PlaceRange::of(&judgement.finding);
                self.overflow_empty = Some(self.overflow_empty.map_or(here, |all| all.with(here)));
            } else {
                self.overflow_other = true;
            }
            self.overflow_aliases = self.overflow_aliases.with(Aliases::of(&judgement).unwrap_or(Aliases::NONE));
        }
    }

    /// Takes over what another ledger of the same target holds.
    pub fn absorb(&mut self, other: Self) {
        self.good_places += other.good_places;
        self.highest_good = self.highest_good.max(other.highest_good);
        self.newest_epoch = self.newest_epoch.max(other.newest_epoch);
        other.judgements.into_iter().for_each(|judgement| self.record_judgement(judgement));
        other.overflow.into_iter().for_each(|(class, n)| *self.overflow.entry(class).or_default() += n);
        self.overflow_other |= other.overflow_other;
        self.overflow_aliases = self.overflow_aliases.with(other.overflow_aliases);
        self.overflow_empty = match (self.overflow_empty, other.overflow_empty) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        };
    }

    /// What it all means. A fault of the tester stands alone: nothing else can be believed then.
    pub fn conclude(mut self) -> Conclusion {
        if let Some(own) = self.judgements.iter().find(|j| j.finding.class == DataFault::TesterFault) {
            let findings = vec![own.finding.clone()];
            return Conclusion { findings, good_places: self.good_places, not_kept: self.overflow };
        }
        self.judgements.compact_sort_by_key(|j| j.finding.lba);
        let mut capacity = Vec::new();
        capacity.extend(self.wrap_around());
        capacity.extend(self.unwritten_tail());
        self.merge_misdirected();
        self.reordered();
        let mut findings: Vec<DataFinding> = self.judgements.into_iter().map(|j| j.finding).collect();
        findings.extend(capacity);
        findings.compact_sort_by_key(|f| f.lba);
        Conclusion { findings, good_places: self.good_places, not_kept: self.overflow }
    }

    /// Many places return the data of others that are also where they belong, at distances that are multiples of one
    /// capacity: the addresses wrap.
    fn wrap_around(&mut self) -> Option<DataFinding> {
        let kept: BTreeSet<(u64, Option<u64>)> =
            self.judgements.iter().filter(|j| Aliases::of(j).is_some()).map(|j| (j.lba, j.points_to)).collect();
        if kept.len() < FEWEST_ALIASES {
            return None;
        }
        let all = self.judgements.iter().filter_map(Aliases::of).fold(self.overflow_aliases, Aliases::with);
        let capacity = all.divisor;
        // An alias pair has one partner in the real capacity or beyond it by whole turns, so the larger is at least C.
        if capacity < SMALLEST_CAPACITY || all.least_larger < capacity {
            return None;
        }
        self.judgements.retain(|j| Aliases::of(j).is_none());
        if let Some(not_kept) = self.overflow.get_mut(&DataFault::MisdirectedWrite) {
            *not_kept -= self.overflow_aliases.places.min(*not_kept);
        }
        self.overflow.retain(|_, places| *places > 0);
        let source = "aliases";
        Some(DataFinding {
            class: DataFault::WrapAround,
            lba: capacity,
            sectors: all.sectors,
            expected_generation: None,
            found_generation: None,
            evidence: vec![
                Evidence::measurement("real capacity divides, bytes", capacity * SECTOR_BYTES as u64, source),
                Evidence::measurement("places that returned another's data", all.places, source),
            ],
            bytes: None,
        })
    }

    /// From some place to the end nothing is kept, and below it all is.
    fn unwritten_tail(&mut self) -> Option<DataFinding> {
        let highest_good = self.highest_good?;
        // Judgements are in the order of their places.
        let from =
            self.judgements.iter().rposition(|j| !is_empty(j) || j.finding.lba <= highest_good).map_or(0, |i| i + 1);
        let tail = &self.judgements[from..];
        let kept = tail.iter().map(|j| PlaceRange::of(&j.finding)).reduce(PlaceRange::with)?;
        let all = self.overflow_empty.map_or(kept, |beyond| beyond.with(kept));
        let PlaceRange { first, end, sectors, places } = all;
        let too_few = places < FEWEST_LIMBO || end - first < SMALLEST_CAPACITY;
        if too_few || first <= highest_good || self.overflow_other {
            return None;
        }
        let mut evidence = tail[0].finding.evidence.clone();
        evidence.push(Evidence::measurement("real capacity at most, bytes", first * SECTOR_BYTES as u64, "places"));
        evidence.push(Evidence::measurement("places beyond that keep nothing", places, "places"));
        let expected_generation = tail[0].finding.expected_generation;
        self.judgements.truncate(from);
        self.overflow.clear();
        Some(DataFinding {
            class: DataFault::LimboCapacity,
            lba: first,
            sectors,
            expected_generation,
            found_generation: None,
            evidence,
            bytes: None,
        })
    }

    /// A place whose write is lost, while that write lies elsewhere, is the other half of that finding.
    fn merge_misdirected(&mut self) {
        let astray: BTreeSet<u64> = self
            .judgements
            .iter()
            .filter(|j| j.finding.class == DataFault::MisdirectedWrite && !j.also_at_origin)
            .filter_map(|j| j.points_to)
            .collect();
        self.judgements.retain(|j| {
            let may_be = matches!(j.finding.class, DataFault::LostWrite | DataFault::ForeignData);
            !may_be || !astray.contains(&j.lba)
        });
    }

    /// What is gone after a power cut was issued before a flush, and something issued after that flush is there.
    fn reordered(&mut self) {
        let Some(newest) = self.newest_epoch else { return };
        for judgement in &mut self.judgements {
            let lost_epoch = judgement.lost_epoch.filter(|epoch| *epoch < newest);
            let class = &mut judgement.finding.class;
            if let (DataFault::LostOnPowerCut, Some(epoch)) = (*class, lost_epoch) {
                *class = DataFault::ReorderedAcrossFlush;
                let evidence = &mut judgement.finding.evidence;
                evidence.push(Evidence::fact("flush epoch of what is lost", epoch, "expected state"));
                evidence.push(Evidence::measurement("newest flush epoch that is there", newest, "stamps"));
            }
        }
    }
}
