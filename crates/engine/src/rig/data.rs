//! What is known of the data that a phase reads, and how far a layout came.

use super::content::{judge_extents, judge_own, judge_sample, remark, sample};
use super::file::FileRig;
use super::shared::interleaved_end;
use super::target::MIB;
use model::{BlockStream, DataProof, PhasePlan, PhaseRecord, StopCause, StreamKind, StreamPlan, TargetKind};
use std::fs::File;
use std::sync::Arc;

/// How doubtful the data are.
fn data_doubt(proof: &DataProof) -> u8 {
    match proof {
        DataProof::Real(_) => 0,
        DataProof::Unknown(_) => 1,
        DataProof::NotReal(_) => 2,
    }
}

impl FileRig {
    /// Whether what a stream reads is real, in the worst of its files.
    fn data_proof(&self, stream: BlockStream<'_>) -> DataProof {
        let (start, len) = (stream.block.region_start_bytes, stream.block.region_bytes);
        let sampled = |file: &File| judge_sample(sample(file, start, len, stream.seed));
        let of_own = |file: &Arc<File>| match sys::written(file, start, len) {
            Ok(written) => judge_extents(written, len),
            Err(_) => sampled(file),
        };
        if let Some(worst) = self.own.of(&stream.block.files).map(of_own).max_by_key(data_doubt) {
            return worst;
        }
        let file = &self.opened.file;
        let own = self.laid_out.is_some_and(|n| start + len <= n);
        if self.is_device() {
            return if own { DataProof::Real("written by this run".into()) } else { sampled(file) };
        }
        match sys::written(file, start, len).ok() {
            written if own => judge_own(written, len),
            Some(written) => match judge_extents(written, len) {
                DataProof::Unknown(basis) => remark(sampled(file), &basis),
                decided => decided,
            },
            None => sampled(file),
        }
    }

    pub(super) fn data_proofs(&self, streams: &[StreamPlan], clipped: Option<&str>) -> Option<DataProof> {
        let reads = streams.iter().filter_map(StreamPlan::blocks).filter(|s| s.reads());
        let worst = reads.map(|s| self.data_proof(s)).max_by_key(data_doubt)?;
        Some(clipped.map_or(worst.clone(), |text| remark(worst, text)))
    }

    /// After a phase without errors: where it wrote all of a region from the start of the temporary file, that can be read.
    pub(super) fn wrote_all(&mut self, streams: &[StreamPlan], written: u64) {
        let interleaved = match &self.shared {
            Some(shared) => shared.interleaved_end(streams),
            None => interleaved_end(streams, 1)
                .filter(|_| streams[0].blocks().is_some_and(|s| s.block.region_start_bytes == 0)),
        };
        let planned = || streams.iter().map(|s| s.limits.total_bytes.unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
        if let Some(end) = interleaved.filter(|_| written >= planned()) {
            self.laid_out = Some(self.laid_out.unwrap_or(0).max(end));
            self.layout_planned = self.layout_planned.max(end);
        } else if let [StreamPlan { kind: StreamKind::Block(block), .. }] = streams
            && block.files.is_empty()
            && (block.region_start_bytes == 0 || self.shared.is_some())
            && block.only_writes_in_sequence()
            && written >= block.region_bytes
        {
            self.laid_out = Some(self.laid_out.unwrap_or(0).max(block.region_end()));
            self.layout_planned = self.layout_planned.max(block.region_end());
        }
    }

    /// Before a layout: until it says how far it came, nothing holds data.
    pub(super) fn begin_layout(&mut self, phase: &PhasePlan) {
        let of_target = phase.streams.iter().filter_map(StreamPlan::blocks).filter(|s| s.block.files.is_empty());
        if let Some(end) = of_target.map(|s| s.block.region_end()).max() {
            self.laid_out = self.laid_out.or(Some(0));
            self.layout_planned = end;
        }
    }

    /// After a layout: makes durable what was written before its time ran out, and notes how far it came.
    pub(super) fn finish_layout(&mut self, record: &mut PhaseRecord, streams: &[StreamPlan]) {
        let done = record.stop == StopCause::RegionDone && record.errors.is_empty();
        if !done && record.bytes > 0 {
            if let Err(e) = self.own.sync().and_then(|()| sys::sync_through_reconnect(&self.opened.file)) {
                *record.errors.entry(sys::error_name(&e)).or_default() += 1;
                record.stop = StopCause::Failed;
            }
            record.ended_ns = self.epoch.elapsed_ns();
        }
        self.layout_errors = record.errors.keys().cloned().collect();
        // The one that writes to the target itself; the lengths of files with names tell how far those came.
        let mut blocks = streams.iter().enumerate().filter_map(|(index, stream)| Some((index, stream.blocks()?)));
        let Some((index, stream)) = blocks.find(|(_, stream)| stream.block.files.is_empty()) else { return };
        let start = stream.block.region_start_bytes;
        let reached = if done {
            // To the byte.
            stream.block.region_end()
        } else {
            let bytes = record.streams.get(index).map_or(record.bytes, |s| s.directions.iter().map(|d| d.bytes).sum());
            // Completions arrive out of order: after an error, what lies within the last depth of operations is not
            // certain.
            let doubtful = u64::from(stream.path.queue_depth).saturating_mul(stream.block.block_size_bytes);
            let certain = if record.errors.is_empty() { bytes } else { bytes.saturating_sub(doubtful) };
            start + certain / MIB * MIB
        };
        let reached = if start == 0 || self.shared.is_some() { reached } else { 0 };
        // A failure may mean that the file system is full: give back what later phases will not use.
        if record.stop == StopCause::Failed && self.target.kind == TargetKind::Directory && self.shared.is_none() {
            // Where even that fails, the file goes with the rig.
            let _ = self.opened.file.set_len(reached);
        }
        let size = self.opened.file.metadata().map_or(u64::MAX, |m| if self.is_device() { u64::MAX } else { m.len() });
        self.laid_out = Some(reached.min(size));
    }
}
