//! What a run knows of the data that it has written to its target, from phase to phase.

use crate::verified::{MAX_JUDGEMENTS, VerifiedFile};
use crate::{Verified, VerifyOutcome};
use integrity::{Interruption, KnownData, Ledger, Secret, Stamper, Table, TooManyUnits};
use model::{BlockStream, CompactSort as _, StreamPlan, VerifyRecord};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Findings that a record keeps one by one.
const MAX_FINDINGS: usize = 256;
/// Writes of one stream in one phase, as a power of two: their numbers are unique in the run.
const SEQUENCE_BITS: u32 = 40;

/// Why a phase cannot be verified.
pub type VerifyStateError = TooManyUnits;

/// All that is known of a run's data: for each file, by its name, what each of its units must hold. The target itself has no
/// name.
#[derive(Debug)]
pub struct WrittenData {
    run_id: u64,
    secret: Secret,
    files: BTreeMap<String, File>,
    streams: u64,
    /// What ended whoever wrote it, before the first phase.
    cut: Interruption,
}

#[derive(Debug)]
struct File {
    target_id: u32,
    table: Arc<Table>,
}

impl WrittenData {
    /// Of a run with this id and secret, both drawn at random for it: data of another run are foreign.
    pub fn new(run_id: u64, secret: [u64; 2]) -> Self {
        Self { run_id, secret: Secret(secret), files: BTreeMap::new(), streams: 0, cut: Interruption::None }
    }

    /// Of data that are there already. The first phase that verifies looks at them as what the cut left.
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn from_known(known: &KnownData) -> Result<Self, VerifyStateError> {
        let files = [(String::new(), File { target_id: 0, table: Arc::new(known.table()?) })].into();
        let (streams, cut) = (known.streams, known.cut);
        Ok(Self { files, streams, cut, ..Self::new(known.run_id, known.secret) })
    }

    /// Before a phase of these streams: what those that verify know, each where it has its stream. What the others change
    /// is not known any more.
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn prepare(&mut self, streams: &[StreamPlan]) -> Result<Vec<Option<Verified>>, VerifyStateError> {
        for stream in streams.iter().filter_map(StreamPlan::blocks) {
            let (start, end) = (stream.block.region_start_bytes, stream.block.region_end());
            for name in stream.block.file_names() {
                if stream.verify.is_some() {
                    let unit = stream.verify_unit_bytes().max(1);
                    let target_id = self.files.len() as u32;
                    let new = || File { target_id, table: Arc::new(Table::new(unit)) };
                    let file = self.files.entry(name.to_owned()).or_insert_with(new);
                    file.known(unit, if stream.changes_data() { start..end } else { 0..0 })?;
                } else if stream.changes_data()
                    && let Some(file) = self.files.get(name)
                {
                    file.table.forget(start, end);
                }
            }
        }
        let verified = |stream: &StreamPlan| Some(self.verified(stream.blocks().filter(|s| s.verify.is_some())?));
        let known = streams.iter().map(verified).collect();
        self.cut = Interruption::None;
        Ok(known)
    }

    fn verified(&mut self, stream: BlockStream<'_>) -> Verified {
        self.streams += 1;
        let of = |name: &str| {
            let file = &self.files[name];
            let kind = stream.verify.map(|v| v.kind).unwrap_or_default();
            let percent = stream.content.compress_percent.min(100) as u8;
            let stamper = Stamper::new(self.run_id, file.target_id, self.secret)
                .with_kind(kind)
                .with_compressible_percent(percent);
            VerifiedFile { stamper, table: Arc::clone(&file.table), ledger: Ledger::new(MAX_JUDGEMENTS) }
        };
        let files = stream.block.file_names().map(of).collect();
        Verified::new(stream, files, self.streams << SEQUENCE_BITS, self.cut)
    }

    /// What all streams of a phase found together; `None` if none of them verifies.
    pub fn conclude(&self, checked: Vec<VerifyOutcome>) -> Option<VerifyRecord> {
        let mut all: Option<VerifyRecord> = None;
        let mut ledgers: BTreeMap<u32, Ledger> = BTreeMap::new();
        for one in checked {
            match &mut all {
                Some(all) => all.join(one.record, MAX_FINDINGS),
                None => all = Some(one.record),
            }
            for (target_id, ledger) in one.ledgers {
                ledgers.entry(target_id).or_insert_with(|| Ledger::new(MAX_JUDGEMENTS)).absorb(ledger);
            }
        }
        let mut record = all?;
        for (target_id, ledger) in ledgers {
            let name = self.files.iter().find(|(_, f)| f.target_id == target_id).map_or("", |(name, _)| name.as_str());
            ledger.conclude().add_to(&mut record, name, MAX_FINDINGS);
        }
        record.findings.compact_sort_by_key(|f| f.lba);
        Some(record)
    }
}

impl File {
    /// Tells pieces of `unit` bytes apart, and has room for those of these bytes.
    fn known(&mut self, unit: u64, bytes: std::ops::Range<u64>) -> Result<(), VerifyStateError> {
        // Whoever used it in the phase before has let it go. Were it not so, what it knows could not be relied on.
        if Arc::get_mut(&mut self.table).is_none() {
            self.table = Arc::new(Table::new(unit));
        }
        let Some(table) = Arc::get_mut(&mut self.table) else { return Ok(()) };
        table.refine(model::gcd(table.unit_bytes(), unit))?;
        table.cover(bytes.start / table.unit_bytes(), bytes.end.div_ceil(table.unit_bytes()))
    }
}
