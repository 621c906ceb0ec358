//! The phases of a soak, as a workload that anybody could write.

use crate::SoakState;
use crate::state::Churn;
use conduct::{Opened, plan};
use model::{Failure, PhaseKind, PhasePlan, StopRule, Warmup};
use spec::{TextInputs, parse_workload};
use std::ops::Range;

/// What a phase does.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Whether it reads, and writes nothing.
    pub reads: bool,
    /// Bytes of the target.
    pub region: Range<u64>,
    pub block_bytes: u64,
    pub depth: u32,
    pub random: bool,
    pub buffered: bool,
    /// Of the writes.
    pub rate_bytes_per_s: Option<u64>,
    /// It ends after so much of the region; without it all is done.
    pub amount_bytes: Option<u64>,
    /// All of it is overwritten again and again, with flushes between.
    pub churn: Option<Churn>,
}

impl Work {
    /// As the pass has it: large blocks in order; small ones at random; large ones at random, one by one; small ones at random, each
    /// three times, with a flush after every 32 writes and, on a device that can, a trim before each.
    pub fn of(state: &SoakState) -> Self {
        let unit = state.unit_bytes;
        // Of a small target several all the same.
        let at_most = |bytes: u64| bytes.min(state.lap_bytes / 4 / unit * unit).max(unit);
        let (block_bytes, depth, random) = match state.kind() {
            1 => (at_most(1 << 20), 8, false),
            2 => (unit, 16, true),
            3 => (at_most(256 << 10), 1, true),
            _ => (unit, 32, true),
        };
        let rate_bytes_per_s = state.rate_bytes_per_s;
        let (region, amount_bytes, buffered) = (0..0, None, state.buffered);
        let churn = Churn::of(state);
        Self { reads: false, region, block_bytes, depth, random, buffered, rate_bytes_per_s, amount_bytes, churn }
    }

    fn churns(&self) -> bool {
        self.churn.is_some() && !self.reads
    }

    /// Bytes that it writes of its region, in all.
    pub fn bytes_written(&self) -> u64 {
        let times = self.churn.map_or(1, |churn| u64::from(churn.times));
        if self.reads { 0 } else { times * (self.region.end - self.region.start) }
    }

    fn text(&self) -> String {
        let Self { reads, region, block_bytes, depth, random, buffered, rate_bytes_per_s, amount_bytes, churn } = self;
        let churn = churn.filter(|_| self.churns());
        let (operation, order) = match (reads, random) {
            (true, _) => ("read", "sequential"),
            (false, true) if churn.is_some_and(|churn| churn.trims) => ("trim-write", "random"),
            (false, true) => ("write", "random"),
            (false, false) => ("write", "sequential"),
        };
        // Reads go in large pieces, whatever wrote them.
        let most = region.end - region.start;
        let (block, depth) = if *reads { ((1 << 20).max(*block_bytes).min(most), 8) } else { (*block_bytes, *depth) };
        // What comes from the page cache says nothing of the device.
        let access = if *buffered && !reads { "buffered" } else { "direct" };
        let flush = if *reads { "" } else { "fsync-at-end = true\n" };
        let often = churn.map(|_| self.bytes_written());
        let amount = amount_bytes.or(often).map_or_else(|| "100%".to_owned(), |bytes| bytes.to_string());
        let barriers = churn.map(|churn| format!("fsync-every = {}\n", churn.writes_a_flush)).unwrap_or_default();
        let rate = rate_bytes_per_s.filter(|_| !reads).map(|r| format!("rate = \"{r}\"\n")).unwrap_or_default();
        format!(
            "name = \"soak\"\n[[phase]]\nname = \"soak\"\noperation = \"{operation}\"\norder = \"{order}\"\naccess = \"{access}\"\n\
             block-size = \"{block}\"\ndepth = {depth}\noffset = \"{}\"\nregion = \"{}\"\namount = \"{amount}\"\nverify = \"stamp\"\n\
             on-error = \"continue\"\nlaid-out = false\n{flush}{barriers}{rate}",
            region.start,
            region.end - region.start
        )
    }
}

/// The phase of some work on a target.
pub(crate) fn phase(opened: &Opened, work: &Work, seed: u64) -> Result<PhasePlan, Failure> {
    let internal = |what: String| Failure::internal(format!("soak: {what}"));
    let text = work.text();
    let workload = parse_workload(&TextInputs::own("soak", &text))
        .map_err(|errors| internal(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    let plan = plan::plan(&workload, opened, seed)?;
    let phase = plan.phases.into_iter().find(|p| p.kind == PhaseKind::Measure && p.skip.is_none());
    let phase = phase.ok_or_else(|| internal("nothing is to be done".to_owned()))?;
    // It takes as long as it takes.
    let warmup = Warmup { min_ns: 0, share: 0.0, max_ns: 0 };
    let stop = if work.churns() { phase.stop } else { StopRule::RegionOnce };
    Ok(PhasePlan { time_limit_ns: u64::MAX / 2, stop, warmup, ..phase })
}
