//! How far a phase may go: what it may touch of the target and of files of its own, and what direct I/O demands.

use super::file::FileRig;
use crate::Rig;
use model::{BlockPlan, BlockStream, Failure, PhaseKind, PhasePlan, StreamPlan, TargetKind};
use std::collections::BTreeMap;
use sys::DirectAlignment;

/// Streams whose regions end within the bound of each, and in words what was clipped; `nothing` where not even a block is
/// within it.
///
/// # Errors
/// Those of `bound` and `nothing`.
pub(crate) fn clip(
    streams: &[StreamPlan],
    bound: impl Fn(&StreamPlan) -> Result<u64, Failure>,
    nothing: impl Fn(u64) -> Failure,
) -> Result<(Vec<StreamPlan>, Option<String>), Failure> {
    let mut streams = streams.to_vec();
    let mut clipped = None;
    for stream in &mut streams {
        let bound = bound(stream)?;
        let block = stream.block_mut();
        let least = block.min_block_bytes().max(1);
        let room = bound.saturating_sub(block.region_start_bytes).min(block.region_bytes) / least * least;
        if room == 0 {
            return Err(nothing(bound));
        }
        if room < block.region_bytes {
            let (all, rest) = model::distinct_bytes_text(block.region_bytes, room);
            clipped = Some(format!("region clipped from {all} to {rest}, which hold data"));
            block.region_bytes = room;
        }
    }
    Ok((streams, clipped))
}

impl FileRig {
    /// The phase's streams within what may be touched, and what was clipped.
    pub(super) fn clip(&self, phase: &PhasePlan) -> Result<(Vec<StreamPlan>, Option<String>), Failure> {
        let (streams, clipped) =
            clip(&phase.streams, |stream| self.bound(phase, stream), |bound| self.empty_target(phase, bound))?;
        if self.target.kind == TargetKind::Directory {
            self.check_room(phase, &streams)?;
        }
        Ok((streams, clipped))
    }

    /// How far into the target, or into each of its files, a stream may go.
    fn bound(&self, phase: &PhasePlan, stream: &StreamPlan) -> Result<u64, Failure> {
        let lays_out = phase.kind == PhaseKind::Layout;
        let Some(BlockStream { block, .. }) = stream.blocks() else { return Ok(self.opened.max_bytes) };
        if block.files.is_empty() {
            // Who only writes needs no data there; but where a layout was cut short, writes that it was made for stay
            // within what it wrote, so that they overwrite and do not allocate.
            let temporary = self.opened.size.is_none();
            let as_laid_out = self.laid_out.is_some() && block.region_end() <= self.layout_planned;
            let fresh = temporary && !stream.reads() && !as_laid_out;
            return Ok(if lays_out || fresh { self.opened.max_bytes } else { self.readable_bytes() });
        }
        if self.target.kind != TargetKind::Directory {
            let message = format!(
                "{}: the stream names {} files, but {} is not a directory",
                phase.name,
                block.files.len(),
                self.target.path.display()
            );
            return Err(Failure::refused(message).remedy("name a directory as the target"));
        }
        let writes_only = !stream.reads();
        Ok(if lays_out || writes_only { self.opened.max_bytes } else { self.own.shortest(&block.files) })
    }

    /// All files together must leave free what a file system needs: the lengths that they will have, against what was
    /// there when the target was opened.
    fn check_room(&self, phase: &PhasePlan, streams: &[StreamPlan]) -> Result<(), Failure> {
        let mut ends: BTreeMap<&str, u64> = self.own.lengths().collect();
        let own_end = self.opened.file.metadata().map_or(0, |m| m.len());
        ends.insert("", own_end);
        for stream in streams.iter().filter_map(StreamPlan::blocks).filter(|s| s.changes_data()) {
            for name in stream.block.file_names() {
                let end = ends.entry(name).or_default();
                *end = stream.block.region_end().max(*end);
            }
        }
        let needed = ends.values().fold(0u64, |sum, end| sum.saturating_add(*end));
        self.check_bytes(phase, needed, "smaller regions or fewer files")
    }

    /// Files of so many bytes must leave free what a file system needs; what to use `instead`.
    pub(super) fn check_bytes(&self, phase: &PhasePlan, needed: u64, instead: &str) -> Result<(), Failure> {
        let path = self.target.path.display();
        let offered = self.opened.max_bytes;
        if needed <= offered {
            return Ok(());
        }
        let (needed, offered) = model::distinct_bytes_text(needed, offered);
        let message = format!("{}: its files take {needed}; {path} offers {offered}", phase.name);
        let remedy = format!(
            "use {instead}; 5 % of the file system, at least 256 MiB (of a small one half of what is free), always stay free"
        );
        Err(Failure::environment(message).remedy(remedy))
    }

    fn empty_target(&self, phase: &PhasePlan, bound: u64) -> Failure {
        let path = self.target.path.display();
        if !self.layout_errors.is_empty() {
            let errors = self.layout_errors.join(", ");
            let message = format!("{}: nothing to work on: the layout of {path} failed ({errors})", phase.name);
            return Failure::device(message).remedy("look into the kernel log (dmesg) for the cause");
        }
        let message = format!("{}: nothing to work on: {} of {path} hold data", phase.name, model::bytes_text(bound));
        Failure::environment(message)
            .remedy("give the layout more time to write data (check: --budget), or use a smaller region")
    }

    /// Direct I/O needs aligned offsets and lengths; a plan that does not fit is told so instead of failing with EINVAL.
    pub(super) fn check_alignment(&self, phase: &PhasePlan, blocks: &[&BlockPlan]) -> Result<(), Failure> {
        let (memory, offset) = match self.alignment() {
            DirectAlignment::Supported { memory_bytes, offset_bytes } => (memory_bytes, offset_bytes),
            _ if self.is_device() => (1, sys::logical_block_size(&self.opened.file).unwrap_or(512)),
            _ => return Ok(()),
        };
        // What the buffer pools guarantee.
        let page = sys::page_size();
        for block in blocks {
            let (size, start) = (block.block_size_bytes, block.region_start_bytes);
            let aligned = |n: u64| n.is_multiple_of(u64::from(offset));
            if u64::from(memory) > page || ![size, start, block.min_block_bytes()].into_iter().all(aligned) {
                let message = format!(
                    "{}: blocks of {size} bytes from byte {start} do not suit direct I/O here, which needs multiples of \
                     {offset} bytes (buffers: {memory})",
                    phase.name
                );
                return Err(Failure::environment(message)
                    .remedy(format!("use block sizes that are multiples of {offset} bytes, or buffered I/O")));
            }
        }
        Ok(())
    }

    pub(super) fn alignment(&self) -> DirectAlignment {
        sys::file_facts(&self.opened.file).map_or(DirectAlignment::NotTold, |f| f.direct)
    }
}
