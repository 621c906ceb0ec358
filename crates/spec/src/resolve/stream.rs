//! One job on a target becomes its streams: regions, files, amounts.

use super::shares::round_bytes;
use super::{ResolveError, Resolver};
use crate::extent::Extent;
use crate::job::{Files, Job, Phase};
use crate::plan_size::MAX;
use model::{BlockPlan, BlockSize, Order, Pacing, PhaseKind, ReplayPlan, StreamPlan, Sync, TargetKind};

impl Resolver<'_> {
    fn files_of(&mut self, phase: &Phase, job: &Job, copy: u32) -> Vec<String> {
        let names = match &job.files {
            Files::Target => return Vec::new(),
            Files::Named(names) => names.clone(),
            Files::Own(count) => {
                let base = if job.stream.name.is_empty() { &phase.name } else { &job.stream.name };
                let base: String = base.chars().map(|c| if c == '/' || c.is_control() { '-' } else { c }).collect();
                let format = job.file_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
                let format = format.replace("$jobname", &base).replace("$jobnum", &copy.to_string());
                // Without the number of the file, all are one.
                let count = if format.contains("$filenum") { *count } else { 1 };
                (0..count).map(|file| format.replace("$filenum", &file.to_string())).collect()
            }
        };
        if self.inputs.kind == TargetKind::Directory {
            return names;
        }
        self.notes
            .push("the target is not a directory: all jobs use the target itself instead of files of their own".into());
        Vec::new()
    }

    /// Where the region of a copy starts. A part of a file that the job makes itself is one of that file.
    fn offset(&self, job: &Job, files: u64, copy: u32) -> u64 {
        let own = match (job.file_bytes, job.size) {
            (Some(each), _) => Some(each),
            (None, Some(Extent::Bytes(all))) => Some(self.amount(Extent::Bytes(all)) / files),
            (None, _) => None,
        };
        let own = own.filter(|_| self.inputs.kind == TargetKind::Directory);
        let bytes = |extent| match (extent, own) {
            (Extent::Percent(_), Some(file)) => extent.of(file),
            _ => self.amount(extent),
        };
        let offset = bytes(job.offset).saturating_add(bytes(job.offset_step).saturating_mul(u64::from(copy)));
        if ![job.offset, job.offset_step].iter().any(|extent| matches!(extent, Extent::Percent(_))) {
            return offset;
        }
        let least = job.blocks_used().map(BlockSize::min_bytes).min().unwrap_or(1);
        offset.checked_next_multiple_of(job.offset_align.unwrap_or(least).max(1)).unwrap_or(u64::MAX)
    }

    /// The stream of a copy but for what it does: its name, group, processors, rates and seed.
    pub(super) fn base_stream(&mut self, job: &Job, number: u32, copy: u32) -> StreamPlan {
        self.used.streams += 1;
        let mut stream = job.stream.clone();
        // Beyond all numbers of jobs.
        let own = || u32::try_from(self.used.streams).unwrap_or(u32::MAX).saturating_add(MAX as u32);
        stream.group = job.shared_group.unwrap_or_else(|| if job.separate { own() } else { number });
        if job.copies > 1 && job.separate && job.shared_group.is_none() {
            // Those that are reported together are one job with one name.
            stream.name = format!("{}-{}", if stream.name.is_empty() { "job" } else { &stream.name }, copy + 1);
        }
        if job.cpus_split && !stream.path.cpus.is_empty() {
            stream.path.cpus = vec![stream.path.cpus[copy as usize % stream.path.cpus.len()]];
        }
        stream.timing.pacing = stream.timing.pacing.filter(Pacing::demands);
        stream.seed = match job.seed {
            Some(seed) => seed.wrapping_add(u64::from(copy)),
            None => self.inputs.seed.wrapping_add(self.used.streams),
        };
        stream
    }

    /// Calls on files that are made again; those of packages are made here.
    fn replay_stream(
        &mut self,
        replay: &ReplayPlan,
        phase: &Phase,
        job: &Job,
        number: u32,
        copy: u32,
    ) -> Result<StreamPlan, ResolveError> {
        self.needs_directory(phase, job)?;
        let mut stream = self.base_stream(job, number, copy);
        let packages = match self.inputs.packages {
            _ if !job.on_packages => None,
            Some(calls_of) => Some(self.packages.plan(&job.packages, calls_of)),
            None => return Err(ResolveError::NoPackages { phase: phase.name.clone() }),
        };
        let calls = packages.as_ref().unwrap_or(replay).calls();
        stream.kind = packages.map_or(stream.kind, Into::into);
        stream.limits.total_operations = Some(calls);
        Ok(stream)
    }

    /// Bytes that a job moves in so many files, all loops included.
    fn total_bytes(
        &self,
        job: &Job,
        (region_bytes, count): (u64, u64),
        stride_bytes: Option<u64>,
        largest: u64,
        plain: bool,
    ) -> u64 {
        let pass = stride_bytes.map_or(region_bytes, |stride| {
            (region_bytes.saturating_sub(largest) / stride.max(1) + 1).saturating_mul(largest).min(region_bytes)
        });
        let all = pass.saturating_mul(count);
        // Without a map of what was done a pass of fio ends with its amount, not with its size.
        let by_passes = job.loops_of_region && !job.stream.blocks().is_some_and(|s| draws_with_replacement(s.block));
        let amount = match job.amount {
            None => all,
            Some(part @ Extent::Percent(_)) => part.of(all),
            // The last block starts before the end, as in fio; of a second pass nothing that is less than a block.
            Some(bytes) => {
                let bytes = self.amount(bytes);
                let left = bytes % all.max(1);
                let bytes = if by_passes && bytes > all && left < largest { bytes - left } else { bytes };
                if plain { bytes.checked_next_multiple_of(largest.max(1)).unwrap_or(u64::MAX) } else { bytes }
            }
        };
        let loops = |bytes: u64| bytes.saturating_mul(u64::from(job.loops));
        // Seen with fio 3.33: so many passes, then more until the amount is reached; of several each is whole.
        let passes = loops(all).max(amount.div_ceil(all.max(1)).saturating_mul(all));
        if by_passes { loops(amount).min(passes) } else { loops(amount) }
    }

    /// That a job writes all of these files up to `end`, and of the target where it names none.
    fn note_written(&mut self, job: &Job, files: &[String], end: u64) {
        // What a file with a name of the text holds is written before wherever it is read.
        let names = match &job.files {
            _ if files.is_empty() => vec![String::new()],
            Files::Own(_) => files.to_vec(),
            _ => Vec::new(),
        };
        let laid_out = |name: &String| match name.as_str() {
            "" => !self.used.laid_out.is_empty(),
            own => self.used.laid_out.contains_key(own),
        };
        for name in names.into_iter().filter(|name| !laid_out(name)) {
            let written = self.used.written.entry(name).or_default();
            *written = end.max(*written);
        }
    }

    /// That a job uses these files up to `end`, and of the target where it names none.
    fn note_used(&mut self, job: &Job, files: &[String], end: u64) {
        let names = if files.is_empty() { vec![String::new()] } else { files.to_vec() };
        for name in names {
            let used = self.used.ends.entry(name.clone()).or_default();
            self.used.needed += u128::from(end.saturating_sub(*used));
            *used = end.max(*used);
            if let Some(verify) = job.stream.verify {
                self.used.verified.entry(name.clone()).or_insert(verify.kind);
            }
            let written = self.used.written.get(&name).copied().unwrap_or(0);
            if (job.stream.reads() || job.laid_out) && end > written {
                let needed = self.used.laid_out.entry(name).or_default();
                *needed = end.max(*needed);
            }
        }
    }

    pub(super) fn stream(
        &mut self,
        phase: &Phase,
        job: &Job,
        number: u32,
        copy: u32,
    ) -> Result<StreamPlan, ResolveError> {
        if let Some(files) = job.stream.files() {
            return self.file_stream(files, phase, job, number, copy);
        }
        if let Some(replay) = job.stream.replay() {
            return self.replay_stream(replay, phase, job, number, copy);
        }
        let files = self.files_of(phase, job, copy);
        let offered = self.inputs.max_bytes;
        let count = (files.len() as u64).max(1);
        let offset = self.offset(job, count, copy);
        let size = match job.size {
            // What is left of the target, at most: fio does not go beyond its end either.
            Some(part @ Extent::Percent(_)) => {
                let beside =
                    if self.inputs.kind == TargetKind::Directory { job.targets_named.max(1).into() } else { 1 };
                self.amount(part).min(offered.saturating_sub(offset)) / count.max(beside)
            }
            Some(size) => self.amount(size) / count,
            None => self.whole.saturating_sub(offset) / count,
        };
        let size = job.file_bytes.map_or(size, |each| size.min(each.saturating_sub(offset)));
        if job.size.is_none() && Self::lays_out_on(self.workload, self.inputs) && !self.workload.lays_out_targets {
            self.notes.push(format!("job '{}' does not say its size: {size} bytes", job.stream.name));
        }
        let largest = job.largest_block();
        let unit = job.blocks_used().map(BlockSize::min_bytes).min().unwrap_or(largest).max(1);
        // What holds no block is refused with the figure that was asked for.
        let mut region_bytes = if size < unit { size } else { size - size % unit };
        let interleaved = job.is_interleaved().then(|| largest.saturating_mul(u64::from(job.copies)));
        if let Some(stride) = interleaved {
            // Whole strides, of which each copy has a block.
            region_bytes = (size / stride).max(1).saturating_mul(stride);
        }
        let end = offset.saturating_add(region_bytes);
        self.note_used(job, &files, end);
        if offset == 0 && job.writes_whole() && !phase.optional {
            self.note_written(job, &files, end);
        }
        let needed = u64::try_from(self.used.needed).unwrap_or(u64::MAX);
        if needed > offered && self.inputs.kind != TargetKind::Null {
            let phase = phase.name.clone();
            let job = job.stream.name.clone();
            return Err(ResolveError::TooSmall { phase, job, needed, offered });
        }
        let plain = job.blocks_used().all(|b| *b == BlockSize::Fixed { bytes: largest });
        let by_amount = phase.kind != PhaseKind::Layout
            && !job.time_based
            && job.steady.is_none()
            && ((job.stream.limits.total_operations.is_none() && job.search().is_none()) || job.amount.is_some());
        let durable = match phase.kind {
            PhaseKind::Layout => Sync::FsyncAtEnd,
            _ if job.stream.changes_data() => job.stream.durability.sync,
            _ => Sync::None,
        };
        let mut stream = self.base_stream(job, number, copy);
        stream.durability.round_bytes = (durable == Sync::FsyncPerRound).then(|| {
            let own = || round_bytes(&self.inputs.probe, job.time_at_most(), self.whole);
            stream.durability.round_bytes.unwrap_or_else(own)
        });
        stream.durability.sync = durable;
        let stride = match job.stream.blocks().map(|s| s.block.order) {
            Some(Order::Strided { stride_bytes }) if job.leaves_gaps => Some(stride_bytes),
            _ => interleaved,
        };
        let amount = || self.total_bytes(job, (region_bytes, count), stride, largest, plain);
        stream.limits.total_bytes = by_amount.then(amount);
        let (mut offset, mut region_bytes) = (offset, region_bytes);
        let block = stream.block_mut();
        if let Some(stride_bytes) = interleaved {
            block.order = Order::Strided { stride_bytes };
            offset = offset.saturating_add(largest.saturating_mul(u64::from(copy)));
            region_bytes = region_bytes.saturating_sub(stride_bytes).saturating_add(largest);
        }
        if block.order != Order::Zoned {
            block.zones.clear();
        }
        block.block_sizes = (!plain).then(|| job.block.clone());
        (block.block_size_bytes, block.region_start_bytes, block.region_bytes, block.files) =
            (largest, offset, region_bytes, files);
        Ok(stream)
    }
}

/// Whether each place is drawn without regard to those before, in a random order throughout.
fn draws_with_replacement(block: &BlockPlan) -> bool {
    let drawn = matches!(
        block.order,
        Order::RandomReplace | Order::Zipf { .. } | Order::Pareto { .. } | Order::Normal { .. } | Order::Zoned
    );
    drawn && block.run_blocks <= 1 && block.sequential_percents == [0; 3]
}
