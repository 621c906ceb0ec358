//! Passes over what is in the page cache that each start without it.

use super::work::{OpenTarget, PhaseWork};
use model::{Access, BlockStream, Ns, Order};
use workload::{BlockOp, Next, OpResult, Source};

/// A source; where its passes are to be cold, each pass over its region begins when the page cache was asked to forget it, as
/// the first one does. (One type for both: the worker's loop is compiled once for each type of source.)
pub(super) struct ColdPasses<'a, S> {
    source: S,
    passes: Option<Passes<'a>>,
}

/// Where the passes of a source are.
struct Passes<'a> {
    target: &'a OpenTarget,
    device: bool,
    start: u64,
    len: u64,
    /// Bytes of a pass, and what is left of this one.
    pass: u64,
    left: u64,
    in_flight: u32,
}

/// Whether a stream goes through what the page cache holds of its own last pass, where it is to be cold.
fn has_cold_passes(work: &PhaseWork<'_>, stream: BlockStream<'_>, target: &OpenTarget) -> bool {
    let buffered = !target.direct && stream.path.access == Access::Buffered;
    let more = stream.limits.total_bytes.is_none_or(|bytes| bytes > stream.block.all_region_bytes());
    let once = work.plan.stop == model::StopRule::RegionOnce || work.reads_back;
    // What is drawn with replacement has no passes: fio begins it cold once.
    let order = stream.block.order;
    let passes = order.is_sequential() || order == Order::Random;
    (work.plan.drop_cache || work.plan.cold)
        && buffered
        && passes
        && stream.reads()
        && more
        && !once
        && !target.files.is_empty()
}

impl<'a, S> ColdPasses<'a, S> {
    pub fn over(source: S, work: &PhaseWork<'_>, stream: BlockStream<'_>, target: &'a OpenTarget) -> Self {
        Self { source, passes: has_cold_passes(work, stream, target).then(|| Passes::of(work, stream, target)) }
    }
}

impl<'a> Passes<'a> {
    fn of(work: &PhaseWork<'_>, stream: BlockStream<'_>, target: &'a OpenTarget) -> Self {
        let block = stream.block;
        let pass = block.all_region_bytes().max(1);
        let (start, len) = (block.region_start_bytes, block.region_bytes);
        Self { target, device: work.device, start, len, pass, left: pass, in_flight: 0 }
    }

    /// An operation is about to be handed over.
    #[inline(never)]
    fn begins(&mut self, op: &BlockOp) {
        if self.left == 0 {
            self.forget();
        }
        self.in_flight += 1;
        self.left = self.left.saturating_sub(op.len.into());
    }

    fn forget(&mut self) {
        self.left = self.pass;
        for file in self.target.files.iter() {
            // What is dirty, or not ours to drop, stays, as it does when a program asks once.
            let dropped = self.device && sys::flush_device_cache(file).is_ok();
            if !dropped {
                let _ = sys::drop_cached(file, self.start, self.len);
            }
        }
    }
}

impl<S: Source<Op = BlockOp>> Source for ColdPasses<'_, S> {
    type Op = BlockOp;

    #[inline]
    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        if self.passes.as_ref().is_some_and(|passes| passes.left == 0 && passes.in_flight > 0) {
            return Next::WaitForCompletion;
        }
        let next = self.source.next(now);
        if let (Some(passes), Next::Op(op)) = (&mut self.passes, &next) {
            passes.begins(op);
        }
        next
    }

    #[inline]
    fn on_completion(&mut self, op: &BlockOp, outcome: OpResult) {
        if let Some(passes) = &mut self.passes {
            passes.in_flight -= 1;
        }
        self.source.on_completion(op, outcome);
    }

    fn closing_op(&mut self) -> Option<BlockOp> {
        let op = self.source.closing_op();
        if let Some(passes) = self.passes.as_mut().filter(|_| op.is_some()) {
            passes.in_flight += 1;
        }
        op
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::buffer_cache::BufferCache;
    use crate::{Control, FileOptions};
    use model::{BlockPlan, Limits, PhasePlan, StreamPlan};
    use std::os::unix::fs::FileExt;
    use std::sync::Arc;
    use workload::Pattern;

    #[test]
    fn each_pass_begins_without_what_the_last_one_left() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempfile()).unwrap();
        file.write_all_at(&[1; 64 << 10], 0).unwrap();
        file.sync_all().unwrap();
        if sys::space_of(&file).unwrap().magic == 0x0102_1994 {
            return println!("SKIPPED: what lies on tmpfs is not dropped");
        }
        let block = BlockPlan { region_bytes: 64 << 10, ..BlockPlan::default() };
        let limits = Limits { total_bytes: Some(3 * (64 << 10)), ..Limits::default() };
        let stream = StreamPlan { kind: block.into(), limits, ..StreamPlan::default() };
        let mut plan = PhasePlan { drop_cache: true, streams: vec![stream.clone()], ..PhasePlan::default() };
        plan.set_access(Access::Buffered);
        plan.stop = model::StopRule::Amount;
        let target = OpenTarget { files: [Arc::new(file)].into_iter().collect(), ..OpenTarget::default() };
        let (options, buffer_cache, control) = (FileOptions::default(), BufferCache::default(), Control::default());
        let epoch = sys::Epoch::start();
        let work = |plan| PhaseWork {
            plan,
            reads_back: false,
            epoch,
            device: false,
            options: &options,
            buffer_cache: &buffer_cache,
            control: &control,
        };
        assert!(has_cold_passes(&work(&plan), stream.blocks().unwrap(), &target));
        let warm = PhasePlan { drop_cache: false, ..plan.clone() };
        assert!(!has_cold_passes(&work(&warm), stream.blocks().unwrap(), &target));
        let cold = PhasePlan { cold: true, ..warm.clone() };
        assert!(
            has_cold_passes(&work(&cold), stream.blocks().unwrap(), &target),
            "what is to be cold is so in each pass"
        );
        assert!(!has_cold_passes(
            &work(&plan),
            stream.blocks().unwrap(),
            &OpenTarget { direct: true, ..target.clone() }
        ));
        let drawn = BlockPlan { order: Order::RandomReplace, ..stream.blocks().unwrap().block.clone() };
        assert!(!has_cold_passes(
            &work(&plan),
            StreamPlan { kind: drawn.into(), ..stream.clone() }.blocks().unwrap(),
            &target
        ));

        let mut source = ColdPasses::over(
            Pattern::new(stream.blocks().unwrap(), false),
            &work(&plan),
            stream.blocks().unwrap(),
            &target,
        );
        let resident = || sys::resident_pages(&target.files[0], 0, 64 << 10).unwrap().resident;
        let mut buffer = vec![0; 4096];
        for number in 0..48 {
            let Next::Op(op) = source.next(0) else { panic!("{number}") };
            // The first pass is made cold by the phase.
            assert!(number % 16 != 0 || number == 0 || resident() == 0, "{number}: {}", resident());
            target.files[0].read_exact_at(&mut buffer, op.offset).unwrap();
            source.on_completion(&op, OpResult { at_ns: 0, result: Ok(op.len) });
        }
        assert_eq!(source.next(0), Next::Done);
    }
}
