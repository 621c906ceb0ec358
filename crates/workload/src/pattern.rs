//! The source of any stream of blocks.

use crate::backlog::Backlog;
use crate::files::{Files, OTHER};
use crate::flow::FlowShare;
use crate::no_overlap::NoOverlap;
use crate::prior_ops::PriorOps;
use crate::priorities::Priorities;
use crate::random::{MIX, Random, SIZE};
use crate::shaping::Shaping;
use crate::sizes::draw;
use crate::syncs::{Due, Syncs};
use crate::traced::TraceSource;
use crate::{BlockOp, FlowTotal, Next, OpKind, OpResult, Source};
use model::{BlockSize, BlockStream, Ns, Operation, StreamPlan, Sync};
use std::sync::Arc;

/// The two sides of a mix.
const READ: usize = 0;

/// Gives the operations of any [`BlockStream`] of blocks. Takes memory for each file and each operation in flight when it is
/// made, none afterwards. What a plan does not ask for has no part in it: a plain stream goes from block to block.
///
/// Rules, where a plan leaves room:
/// - Of a mix each operation's direction is drawn. Where the drawn direction is ahead of its demanded rate and the other
///   is not, the other goes first: with rates for both, the rates decide as long as the target keeps up. In sequential
///   orders each direction has its own position, as if two programs were at work.
/// - A paced operation that is late starts at once, and none is left out: see `pace.rs`.
/// - Syncs between operations ([`model::Flush`]) are handed over after so many writes have been, to the file that was
///   written last, and do not wait for those in flight; rounds ([`Sync::FsyncPerRound`]) do.
/// - A pause begins when all operations in flight have completed; what it computes comes before what it sleeps.
/// - With `trim_before_write` or `read_before_write` a block is written when its trim or read has completed. The pair counts once
///   against amounts.
/// - An amount is never exceeded: the last operation is cut to it, in whole smallest blocks.
#[derive(Debug)]
pub struct Pattern {
    kind: OpKind,
    read_percent: u32,
    sizes: [BlockSize; 2],
    least: u64,
    files: Files,
    once: bool,
    /// Nothing but blocks: neither syncs, nor trims before writes, nor a pace, nor priorities.
    plain: bool,
    in_flight: u32,
    syncs: Option<Syncs>,
    shaping: Option<Box<Shaping>>,
    before: Option<PriorOps>,
    traced: Option<TraceSource>,
    backlog: Option<Backlog>,
    priorities: Option<Priorities>,
    overlap: Option<NoOverlap>,
    chance: Random,
    size: Random,
}

impl Pattern {
    /// The source of `plan`; with `once` it ends when the region, of every file, has been covered: every block visited,
    /// or where blocks are drawn with replacement, as many bytes moved as it has.
    ///
    /// # Panics
    /// If the region holds no whole block: plans are checked before they get here.
    pub fn new(plan: BlockStream<'_>, once: bool) -> Self {
        let block = plan.block;
        let kind = match (block.operation, plan.durability.sync) {
            (Operation::Read, _) => OpKind::Read,
            (Operation::Write, Sync::FdatasyncEach) => OpKind::WriteSync,
            (Operation::Write, _) => OpKind::Write,
            (Operation::Trim, _) => OpKind::Trim,
            (Operation::WriteZeroes, _) => OpKind::WriteZeroes,
        };
        let all_reads = u32::from(kind == OpKind::Read) * 100;
        let fixed = BlockSize::Fixed { bytes: block.block_size_bytes };
        let sizes = |operation| block.block_sizes.as_ref().map_or(&fixed, |s| s.of(operation)).clone();
        let (syncs, shaping, priorities) =
            (Syncs::of(plan), Shaping::of(plan.stream, block.operation), Priorities::of(plan.stream));
        let before = PriorOps::of(plan).filter(|_| kind.sends_data());
        let traced = TraceSource::of(plan);
        let overlap = NoOverlap::of(plan);
        let demands =
            syncs.is_some() || shaping.is_some() || priorities.is_some() || before.is_some() || overlap.is_some();
        Self {
            kind,
            read_percent: block.mix.map_or(all_reads, |m| m.read_percent.min(100)),
            sizes: [sizes(Operation::Read), sizes(block.operation)],
            least: block.min_block_bytes().max(1),
            files: Files::new(plan),
            once,
            plain: !demands && traced.is_none(),
            in_flight: 0,
            syncs,
            shaping,
            backlog: Backlog::of(plan),
            priorities,
            overlap,
            before,
            traced,
            chance: Random::new(plan.seed, MIX),
            size: Random::new(plan.seed, SIZE),
        }
    }

    /// Where the plan has a flow, one of the streams whose shares of its total are those of their weights.
    #[must_use]
    pub fn sharing(mut self, plan: &StreamPlan, total: impl FnOnce(u32) -> Arc<FlowTotal>) -> Self {
        if let Some((shaping, flow)) = self.shaping.as_mut().zip(plan.timing.flow) {
            shaping.flow = Some(FlowShare::new(flow, total(flow.id)));
        }
        self
    }

    fn sync(&mut self, kind: OpKind, file: usize) -> BlockOp {
        self.in_flight += 1;
        BlockOp { kind, offset: self.files.space.address(file, 0), ..BlockOp::default() }
    }

    /// A sync that is due before anything else.
    fn sync_due(&mut self) -> Option<Next<BlockOp>> {
        match self.syncs.as_mut()?.due(self.in_flight == 0, self.files.last_written)? {
            Due::Now(kind, file) => Some(Next::Op(self.sync(kind, file))),
            Due::Later => Some(Next::WaitForCompletion),
        }
    }

    fn over(&self) -> Next<BlockOp> {
        // What is done before a write is followed by it.
        if self.in_flight > 0 { Next::WaitForCompletion } else { Next::Done }
    }

    #[inline]
    fn draw(&mut self) -> usize {
        match self.read_percent {
            0 => OTHER,
            100 => READ,
            percent if self.chance.below(100) < u64::from(percent) => READ,
            _ => OTHER,
        }
    }

    /// The next block of a side, of `len` bytes at most.
    #[inline]
    fn block(&mut self, side: usize, len: u32) -> BlockOp {
        let (offset, len) = self.files.next(side, len, self.once);
        self.in_flight += 1;
        let mut kind = OpKind::Read;
        if side == OTHER {
            kind = self.before.as_mut().map_or(self.kind, |before| {
                before.starts(offset);
                before.kind
            });
            if let Some(syncs) = &mut self.syncs
                && self.kind != OpKind::Read
            {
                syncs.on_write(len);
            }
        }
        BlockOp { kind, offset, len, ..BlockOp::default() }
    }

    /// The side that goes now, or the moment until which none does.
    fn side(&mut self, shaping: &mut Shaping, now: Ns) -> Result<usize, Ns> {
        let drawn = shaping.side.take().unwrap_or_else(|| self.draw());
        if shaping.due(drawn) <= now {
            return Ok(drawn);
        }
        shaping.side = Some(drawn);
        let other = 1 - drawn;
        let mixed = !matches!(self.read_percent, 0 | 100);
        match (shaping.due(drawn), shaping.due(other)) {
            (due, _) if !mixed => Err(due),
            (_, others) if others <= now => Ok(other),
            (due, others) => Err(due.min(others)),
        }
    }

    #[inline(always)]
    fn next_block(&mut self) -> Next<BlockOp> {
        if self.once && self.files.covered() {
            return self.over();
        }
        let side = self.draw();
        let len = draw(&self.sizes[side], &mut self.size);
        Next::Op(self.block(side, len))
    }

    #[inline(never)]
    fn next_of_any(&mut self, now: Ns) -> Next<BlockOp> {
        let held = self.overlap.as_mut().and_then(|overlap| overlap.held.take());
        let mut next = held.map_or_else(|| self.next_in_turn(now), Next::Op);
        if let (Next::Op(op), Some(priorities)) = (&mut next, &mut self.priorities) {
            op.priority = priorities.draw(op);
        }
        if let (Next::Op(op), Some(overlap)) = (&next, &mut self.overlap)
            && !overlap.admits(op)
        {
            return Next::WaitForCompletion;
        }
        next
    }

    fn next_in_turn(&mut self, now: Ns) -> Next<BlockOp> {
        if let Some(traced) = &mut self.traced {
            let next = traced.next(now);
            self.in_flight += u32::from(matches!(next, Next::Op(_)));
            return next;
        }
        let before = self.before.as_mut();
        let kind = self.kind;
        if let Some(op) = before.and_then(|before| before.next(kind)).or_else(|| self.backlog.as_mut()?.next()) {
            self.in_flight += 1;
            return Next::Op(op);
        }
        if let Some(mut shaping) = self.shaping.take() {
            let next = self.next_shaped(&mut shaping, now);
            self.shaping = Some(shaping);
            return next;
        }
        if let Some(sync) = self.sync_due() {
            return sync;
        }
        self.next_block()
    }

    /// The next operation where rates, pauses or limits have a say.
    fn next_shaped(&mut self, shaping: &mut Shaping, now: Ns) -> Next<BlockOp> {
        let start = shaping.start(now);
        if now < start {
            return Next::WaitUntil(start);
        }
        if let Some(sync) = self.sync_due() {
            return sync;
        }
        let end = shaping.end();
        if now >= end || shaping.is_exhausted(self.least) || (self.once && self.files.covered()) {
            return self.over();
        }
        if let Some(pause) = shaping.pause(now, self.in_flight) {
            return pause;
        }
        if let Some(moment) = shaping.flow.as_ref().and_then(|flow| flow.must_wait(now)) {
            return Next::WaitUntil(moment.min(end));
        }
        let side = match self.side(shaping, now) {
            Ok(side) => side,
            // What would start after its time does not start, but its end is waited for, for all to see how long it was.
            Err(moment) => return Next::WaitUntil(moment.min(end)),
        };
        let len = draw(&self.sizes[side], &mut self.size);
        let op = self.block(side, shaping.cut(len, self.least));
        Next::Op(BlockOp { intended_ns: shaping.record(side, op.len), ..op })
    }
}

impl Source for Pattern {
    type Op = BlockOp;

    /// A plain stream's next operation is made where it is asked for, in registers.
    #[inline(always)]
    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        if !self.plain {
            return self.next_of_any(now);
        }
        self.next_block()
    }

    #[inline]
    fn on_completion(&mut self, op: &BlockOp, outcome: OpResult) {
        self.in_flight -= 1;
        if let Some(overlap) = &mut self.overlap {
            overlap.on_completion(op);
        }
        if let Some(traced) = &mut self.traced {
            traced.on_completion(op, outcome.at_ns);
        }
        if let Some(shaping) = &mut self.shaping {
            shaping.on_completion(outcome.at_ns);
        }
        if let Some(backlog) = &mut self.backlog
            && op.kind.sends_data()
            && outcome.result == Ok(op.len)
        {
            backlog.on_write(op);
        }
        if let Some(before) = &mut self.before {
            before.on_completion(op, outcome);
        }
    }

    fn closing_op(&mut self) -> Option<BlockOp> {
        let file = self.syncs.as_mut()?.closing_op()?;
        Some(self.sync(OpKind::Fsync, file))
    }
}
