//! The source of any stream of a plan.

use crate::pace::Pace;
use crate::places::Places;
use crate::random::{Random, mix};
use crate::sizes::Sizes;
use crate::{BlockOp, FileSpace, Next, OpKind, Outcome, Source};
use model::{BlockSize, FileOrder, Ns, Operation, StreamPlan, Sync, ThinkTime};

/// What one seed is used for.
const MIX: u64 = 1;
const PLACE: u64 = 2;
const SIZE: u64 = 3;
const PACE: u64 = 4;
const FILE: u64 = 5;

/// The two sides of a mix.
const READ: usize = 0;
const OTHER: usize = 1;

/// Gives the operations of any [`StreamPlan`]. Takes memory for each file and each operation in flight when it is made,
/// none afterwards.
///
/// Rules, where a plan leaves room:
/// - Of a mix each operation's direction is drawn. Where the drawn direction is ahead of its demanded rate and the other
///   is not, the other goes first: with rates for both, the rates decide as long as the target keeps up. In sequential
///   orders each direction has its own position, as if two programs were at work.
/// - A paced operation that is late starts at once, and none is left out: see `pace.rs`.
/// - Syncs between operations ([`model::Flush`]) are handed over after so many writes have been, to the file that was
///   written last, and do not wait for those in flight; rounds ([`Sync::FsyncPerRound`]) do.
/// - A pause begins when all operations in flight have completed; what it computes comes before what it sleeps.
/// - With `trim_before_write` a block is written when its trim has completed. The pair counts once against amounts.
/// - An amount is never exceeded: the last operation is cut to it, in whole smallest blocks.
#[derive(Clone, Debug)]
pub struct Pattern {
    kind: OpKind,
    read_percent: u32,
    trim_before_write: bool,
    sizes: [Sizes; 2],
    pace: [Option<Pace>; 2],
    /// The direction that was drawn and has not gone yet.
    side: Option<usize>,
    least: u64,
    files: Files,
    once: bool,
    bytes_left: u64,
    operations_left: u64,
    sync: Sync,
    round_bytes: u64,
    round_left: u64,
    /// The next file of a round's syncs.
    round_file: Option<usize>,
    fsync: Every,
    fdatasync: Every,
    /// Files that are still to be synced at the end.
    closing: std::ops::Range<usize>,
    think: Option<Think>,
    /// Blocks whose trim has completed; never more than are in flight.
    trimmed: Vec<BlockOp>,
    in_flight: u32,
    start_delay: Ns,
    time_limit: Ns,
    start: Option<Ns>,
    chance: Random,
    size: Random,
    gap: Random,
}

/// Something due after so many writes.
#[derive(Clone, Copy, Debug)]
struct Every {
    each: u32,
    left: u32,
}

impl Every {
    fn new(each: u32) -> Self {
        Self { each, left: each }
    }

    fn wrote(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    fn due(&mut self) -> bool {
        let due = self.each > 0 && self.left == 0;
        if due {
            self.left = self.each;
        }
        due
    }
}

#[derive(Clone, Copy, Debug)]
struct Think {
    time: ThinkTime,
    left: u32,
    /// The last completion.
    heard: Ns,
    until: Option<Ns>,
}

/// The files of a stream, and how it goes through them.
#[derive(Clone, Debug)]
struct Files {
    order: FileOrder,
    space: FileSpace,
    region_start: u64,
    region: u64,
    states: Vec<File>,
    /// Not covered yet, where covering once is all that is asked.
    open: usize,
    at: usize,
    last_written: usize,
    random: Random,
    place: Random,
}

#[derive(Clone, Debug)]
struct File {
    /// One, or one for each direction.
    places: Vec<Places>,
    /// Bytes since it was covered last.
    moved: u64,
    covered: bool,
}

impl Files {
    fn new(plan: &StreamPlan) -> Self {
        let count = plan.files.len().max(1);
        let lanes = if plan.mix.is_some() && plan.order.is_sequential() { 2 } else { 1 };
        let file = |index: usize| {
            // The first file has the stream's own seed, so that it does not matter to it whether there are others.
            let seed = if index == 0 { plan.seed } else { mix(plan.seed ^ index as u64) };
            File { places: vec![Places::new(plan, seed); lanes], moved: 0, covered: false }
        };
        Self {
            order: plan.file_order,
            space: FileSpace::of(plan),
            region_start: plan.region_start_bytes,
            region: plan.region_bytes,
            states: (0..count).map(file).collect(),
            open: count,
            at: 0,
            last_written: 0,
            random: Random::new(plan.seed, FILE),
            place: Random::new(plan.seed, PLACE),
        }
    }

    /// The next place; `once`: only in files that are not covered, of which there is one.
    #[inline]
    fn next(&mut self, side: usize, len: u32, once: bool) -> (u64, u32) {
        let count = self.states.len();
        if count > 1 {
            if self.order == FileOrder::Random {
                self.at = self.random.below(count as u64) as usize;
            }
            while once && self.states[self.at].covered {
                self.at = (self.at + 1) % count;
            }
        }
        let index = self.at;
        let file = &mut self.states[index];
        let lanes = file.places.len();
        let place = file.places[side % lanes].next(len, &mut self.place);
        file.moved += u64::from(place.len);
        let covered = file.moved >= self.region || (place.ends_pass && lanes == 1);
        if covered {
            file.moved = 0;
            if once {
                file.covered = true;
                self.open -= 1;
            }
        }
        if side == OTHER {
            self.last_written = index;
        }
        if self.order == FileOrder::RoundRobin || (covered && self.order == FileOrder::Sequential) {
            self.at = (index + 1) % count;
        }
        (self.space.address(index, self.region_start + place.offset), place.len)
    }
}

impl Pattern {
    /// The source of `plan`; with `once` it ends when the region, of every file, has been covered: every block visited,
    /// or where blocks are drawn with replacement, as many bytes moved as it has.
    ///
    /// # Panics
    /// If the region holds no whole block: plans are checked before they get here.
    pub fn new(plan: &StreamPlan, once: bool) -> Self {
        let kind = match (plan.operation, plan.sync) {
            (Operation::Read, _) => OpKind::Read,
            (Operation::Write, Sync::FdatasyncEach) => OpKind::WriteSync,
            (Operation::Write, _) => OpKind::Write,
            (Operation::Trim, _) => OpKind::Trim,
            (Operation::WriteZeroes, _) => OpKind::WriteZeroes,
        };
        let all_reads = u32::from(plan.operation == Operation::Read) * 100;
        let fixed = BlockSize::Fixed { bytes: plan.block_size_bytes };
        let sizes = |operation| Sizes::of(plan.block_sizes.as_ref().map_or(&fixed, |s| s.of(operation)));
        let pace = |operation| {
            let pacing = plan.pacing?;
            let rate = match operation {
                Operation::Read => pacing.read,
                Operation::Write | Operation::WriteZeroes => pacing.write,
                Operation::Trim => pacing.trim,
            };
            Some(Pace::new(rate?, pacing.arrivals))
        };
        let syncs_at_end = plan.flush.fsync_at_end || plan.sync == Sync::FsyncAtEnd;
        let round_bytes = plan.round_bytes.unwrap_or(plan.block_size_bytes);
        Self {
            kind,
            read_percent: plan.mix.map_or(all_reads, |m| m.read_percent.min(100)),
            trim_before_write: plan.trim_before_write && kind.sends_data(),
            sizes: [sizes(Operation::Read), sizes(plan.operation)],
            pace: [pace(Operation::Read), pace(plan.operation)],
            side: None,
            least: plan.min_block_bytes().max(1),
            files: Files::new(plan),
            once,
            bytes_left: plan.total_bytes.unwrap_or(u64::MAX),
            operations_left: plan.total_operations.unwrap_or(u64::MAX),
            sync: plan.sync,
            round_bytes,
            round_left: round_bytes,
            round_file: None,
            fsync: Every::new(plan.flush.fsync_every),
            fdatasync: Every::new(plan.flush.fdatasync_every),
            closing: 0..if syncs_at_end { plan.files.len().max(1) } else { 0 },
            think: plan.think.filter(|t| t.pause_ns > 0).map(|time| Think {
                time,
                left: time.after_operations.max(1),
                heard: 0,
                until: None,
            }),
            trimmed: Vec::with_capacity(if plan.trim_before_write { plan.queue_depth as usize } else { 0 }),
            in_flight: 0,
            start_delay: plan.start_delay_ns,
            time_limit: plan.time_limit_ns.unwrap_or(Ns::MAX),
            start: None,
            chance: Random::new(plan.seed, MIX),
            size: Random::new(plan.seed, SIZE),
            gap: Random::new(plan.seed, PACE),
        }
    }

    fn begin(&mut self, now: Ns) -> Ns {
        let start = now.saturating_add(self.start_delay);
        self.start = Some(start);
        self.pace.iter_mut().flatten().for_each(|p| p.begin(start));
        start
    }

    fn sync(&mut self, kind: OpKind, file: usize) -> BlockOp {
        self.in_flight += 1;
        BlockOp { kind, offset: self.files.space.address(file, 0), len: 0, buffer: 0, intended_ns: None }
    }

    /// A sync that is due before anything else.
    #[inline]
    fn sync_due(&mut self) -> Option<Next<BlockOp>> {
        if self.sync == Sync::FsyncPerRound && self.round_left == 0 {
            // The syncs close the round: nothing of the next one may overtake them.
            if self.in_flight > 0 {
                return Some(Next::WaitForCompletion);
            }
            let file = self.round_file.unwrap_or(0);
            let last = file + 1 == self.files.states.len();
            self.round_file = (!last).then_some(file + 1);
            if last {
                self.round_left = self.round_bytes;
            }
            return Some(Next::Op(self.sync(OpKind::Fsync, file)));
        }
        if self.fsync.due() {
            return Some(Next::Op(self.sync(OpKind::Fsync, self.files.last_written)));
        }
        if self.fdatasync.due() {
            return Some(Next::Op(self.sync(OpKind::Fdatasync, self.files.last_written)));
        }
        None
    }

    /// What a pause has to say, if one is due.
    fn pause(&mut self, now: Ns) -> Option<Next<BlockOp>> {
        let think = self.think.as_mut().filter(|t| t.left == 0)?;
        if self.in_flight > 0 {
            return Some(Next::WaitForCompletion);
        }
        let until = *think.until.get_or_insert(think.heard.saturating_add(think.time.pause_ns));
        let spun = think.heard.saturating_add(think.time.spin_ns).min(until);
        if now < spun {
            return Some(Next::SpinUntil(spun));
        }
        if now < until {
            return Some(Next::WaitUntil(until));
        }
        think.until = None;
        think.left = think.time.after_operations.max(1);
        None
    }

    fn over(&self) -> Next<BlockOp> {
        // A trim in flight is followed by its write.
        if self.in_flight > 0 { Next::WaitForCompletion } else { Next::Done }
    }

    fn is_over(&self) -> bool {
        self.operations_left == 0 || self.bytes_left < self.least || (self.once && self.files.open == 0)
    }

    /// The side that goes now, or the moment until which none does.
    #[inline]
    fn side(&mut self, now: Ns) -> Result<usize, Ns> {
        let drawn = match (self.side, self.read_percent) {
            (Some(side), _) => side,
            (None, 0) => OTHER,
            (None, 100) => READ,
            (None, percent) => {
                if self.chance.below(100) < u64::from(percent) {
                    READ
                } else {
                    OTHER
                }
            }
        };
        let due = |side: usize| self.pace[side].as_ref().map_or(0, Pace::due);
        if due(drawn) <= now {
            self.side = None;
            return Ok(drawn);
        }
        self.side = Some(drawn);
        if self.read_percent == 0 || self.read_percent == 100 {
            return Err(due(drawn));
        }
        let other = 1 - drawn;
        if due(other) <= now { Ok(other) } else { Err(due(drawn).min(due(other))) }
    }
}

impl Source for Pattern {
    type Op = BlockOp;

    #[inline]
    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        let start = match self.start {
            Some(start) => start,
            None => self.begin(now),
        };
        if now < start {
            return Next::WaitUntil(start);
        }
        if let Some(op) = self.trimmed.pop() {
            self.in_flight += 1;
            return Next::Op(op);
        }
        if let Some(sync) = self.sync_due() {
            return sync;
        }
        let end = start.saturating_add(self.time_limit);
        if now >= end || self.is_over() {
            return self.over();
        }
        if let Some(pause) = self.pause(now) {
            return pause;
        }
        let side = match self.side(now) {
            Ok(side) => side,
            // What would start after its time does not start, but its end is waited for, for all to see how long it was.
            Err(moment) => return Next::WaitUntil(moment.min(end)),
        };
        let mut len = self.sizes[side].draw(&mut self.size);
        if u64::from(len) > self.bytes_left {
            len = (self.bytes_left / self.least * self.least) as u32;
        }
        let (offset, len) = self.files.next(side, len, self.once);
        let intended_ns = self.pace[side].as_mut().map(|pace| {
            let due = pace.due();
            pace.took(len, &mut self.gap);
            due
        });
        if self.bytes_left != u64::MAX {
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(len));
        }
        if self.operations_left != u64::MAX {
            self.operations_left -= 1;
        }
        if let Some(think) = &mut self.think {
            think.left -= 1;
        }
        self.in_flight += 1;
        let mut kind = OpKind::Read;
        if side == OTHER {
            kind = if self.trim_before_write { OpKind::Trim } else { self.kind };
            if self.kind != OpKind::Read {
                self.fsync.wrote();
                self.fdatasync.wrote();
                self.round_left = self.round_left.saturating_sub(u64::from(len));
            }
        }
        Next::Op(BlockOp { kind, offset, len, buffer: 0, intended_ns })
    }

    #[inline]
    fn completed(&mut self, op: &BlockOp, outcome: Outcome) {
        self.in_flight -= 1;
        if let Some(think) = &mut self.think {
            think.heard = think.heard.max(outcome.at_ns);
        }
        if self.trim_before_write && op.kind == OpKind::Trim {
            self.trimmed.push(BlockOp { kind: self.kind, intended_ns: None, buffer: 0, ..*op });
        }
    }

    fn closing(&mut self) -> Option<BlockOp> {
        let file = self.closing.next()?;
        Some(self.sync(OpKind::Fsync, file))
    }
}

/// Whether a stream is plain sequential or random, which [`crate::Stream`] gives at less cost.
pub fn is_plain(plan: &StreamPlan) -> bool {
    use model::{Flush, Order};
    // Every field by name: whoever adds one decides here what a plain stream does with it.
    let StreamPlan {
        // What a plain stream has.
        operation,
        order,
        block_size_bytes,
        queue_depth: _,
        region_start_bytes: _,
        region_bytes: _,
        sync: _,
        round_bytes: _,
        seed: _,
        // Meaningless without other fields that a plain stream does not have.
        zones: _,
        file_order: _,
        // What it does not have.
        files,
        mix,
        trim_before_write,
        run_blocks,
        block_sizes,
        align_bytes,
        flush,
        pacing,
        think,
        start_delay_ns,
        time_limit_ns,
        total_bytes,
        total_operations,
        // What others do: the worker, its device, the record.
        name: _,
        group: _,
        batch_submit: _,
        batch_complete: _,
        cpus: _,
        io_priority: _,
        ends_phase: _,
        buffers: _,
        engine: _,
        access: _,
        open_sync: _,
        rw_flags: _,
        verify: _,
        content: _,
        on_error: _,
    } = plan;
    matches!(order, Order::Sequential | Order::Random)
        && matches!(operation, Operation::Read | Operation::Write)
        && files.is_empty()
        && mix.is_none()
        && !trim_before_write
        && *run_blocks <= 1
        && block_sizes.is_none()
        && align_bytes.is_none_or(|a| a == *block_size_bytes)
        && *flush == Flush::default()
        && pacing.is_none()
        && think.is_none()
        && *start_delay_ns == 0
        && time_limit_ns.is_none()
        && total_bytes.is_none()
        && total_operations.is_none()
}
