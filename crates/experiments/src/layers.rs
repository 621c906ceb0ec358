//! What each layer of a storage path costs: the same reads on a file through the page cache, past it, on each mapping below, and on the
//! disk; of a file of ours also writes. Devices are only read.
//!
//! Each round measures every level once, in an order that turns, with the same places of the same bytes: where a file's bytes lie on
//! the devices below is asked of the file system (FIEMAP) and of each mapping. What lies between two levels is their difference in
//! the same round, so that what changes from round to round (other users, heat, a cache of the disk) is in no layer.

mod levels;
mod place;

use conduct::workspace::{LAYERS, Workspace};
use conduct::{Budget, Execution};
use conduct::{NullListener, Opened, Wanted, open, plan};
use levels::{Level, LevelTarget, Levels};
use model::{
    Failure, FailureKind, LayerCost, LayersStudy, LevelAccess, LevelLeftOut, LevelRound, MeasuredLevel, NS_PER_S,
    PhaseKind, Plan, Run, SystemSample, TargetKind,
};
use observe::{Root, Sampler};
use spec::LevelWork;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::OpenMode;

/// Length of the intervals of the series, which nobody sees.
const INTERVAL_NS: u64 = 100_000_000;

/// Where, and what is asked.
#[derive(Clone, Copy, Debug)]
pub struct LayersWanted<'a> {
    /// A directory, a file, a block device or a simulated one.
    pub target: &'a OsStr,
    pub study: &'a LayersStudy,
    pub seed: u64,
}

/// The whole study.
#[derive(Clone, Debug, PartialEq)]
pub struct LayersResult {
    /// From the top down.
    pub levels: Vec<MeasuredLevel>,
    pub costs: Vec<LayerCost>,
    /// The layer that costs most.
    pub dearest: Option<String>,
    pub left_out: Vec<LevelLeftOut>,
    /// Bytes that each level reads from.
    pub bytes: u64,
    /// Bytes that were written to a file of ours.
    pub written_bytes: u64,
    /// Somebody wanted the end.
    pub interrupted: bool,
}

/// What would be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LayersPlan {
    /// The levels, from the top down; of a directory without those below the file, whose place is not known before it is written.
    pub levels: Vec<String>,
    pub left_out: Vec<LevelLeftOut>,
    pub bytes_written_at_most: u64,
    pub ns_at_most: u64,
}

/// Bytes that the study writes at most, and how long it takes at most, on so many levels.
fn at_most(study: &LayersStudy, levels: usize, writes: bool) -> (u64, u64) {
    let rounds = u64::from(study.rounds);
    let of_writes = if writes && study.writes { 2 } else { 0 };
    let ns = rounds * (levels as u64 * 2 + 2 * of_writes) * study.time_ns + rounds * study.rest_ns;
    let bytes = if writes { study.bytes.saturating_mul(1 + 2 * of_writes * rounds) } else { 0 };
    (bytes, ns)
}

/// Says what would be measured, without writing.
///
/// # Errors
/// There is no such target.
pub fn layers_plan(wanted: &LayersWanted<'_>, execution: &Execution<'_>) -> Result<LayersPlan, Failure> {
    let opened = open(&Wanted::new(wanted.target, INTERVAL_NS), execution.control, execution.listener)?;
    let levels = levels::below(&opened, wanted.study.bytes)?;
    let is_own = opened.target.kind == TargetKind::Directory;
    let (bytes_written_at_most, ns_at_most) = at_most(wanted.study, levels.levels.len(), is_own);
    Ok(LayersPlan {
        levels: levels.levels.into_iter().map(|level| level.name).collect(),
        left_out: levels.left_out,
        bytes_written_at_most,
        ns_at_most,
    })
}

/// Measures all of it. `tell` hears which round of which level begins, from 1 on; the file of ours is filled in round 0.
///
/// # Errors
/// The target cannot be opened, or nothing can be measured on it.
pub fn layers(
    wanted: &LayersWanted<'_>,
    execution: &Execution<'_>,
    tell: &dyn Fn(u32, &str),
) -> Result<LayersResult, Failure> {
    let execution = Execution { archive: None, listener: &NullListener, ..*execution };
    let open_at = |name: &OsStr, overwrite: bool| {
        let mut opening = Wanted::new(name, INTERVAL_NS);
        opening.consent.overwrite = overwrite;
        open(&opening, execution.control, execution.listener)
    };
    let study = &mut wanted.study.clone();
    let mut top = open_at(wanted.target, false)?;
    let workspace = (top.target.kind == TargetKind::Directory)
        .then(|| own_file(Path::new(wanted.target), study, top.max_bytes))
        .transpose()?;
    if let Some((_, file)) = &workspace {
        top = open_at(file.as_os_str(), true)?;
        tell(0, "file direct");
        measure(&execution, study, LevelWork::Fill, LevelAccess::Direct, (0, study.bytes), &mut top, wanted.seed)?;
    }
    let Levels { levels, left_out, bytes } = levels::below(&top, study.bytes)?;
    study.bytes = bytes;
    let mut others: Vec<Option<Opened>> = Vec::new();
    for level in &levels {
        others.push(match &level.target {
            LevelTarget::Top => None,
            LevelTarget::Path(path) => Some(open_at(path.as_os_str(), false)?),
        });
    }
    let mut course =
        Course { execution: &execution, study, seed: wanted.seed, own: workspace.is_some(), tell, top, others };
    let (rounds, reasons) = course.rounds(&levels)?;
    let written_bytes = course.top.rig.bytes_written();
    drop(workspace);
    conclude(&levels, rounds, reasons, left_out, bytes, written_bytes, execution.interrupts.end())
}

/// A file of ours in a directory of ours, as long as what is asked for, or as there is room.
fn own_file(directory: &Path, study: &mut LayersStudy, room: u64) -> Result<(Workspace, PathBuf), Failure> {
    let workspace = Workspace::below(directory)?;
    let path = workspace.path.join(LAYERS);
    study.bytes = study.bytes.min(room) >> 20 << 20;
    if study.bytes < place::LEAST_BYTES {
        let what = format!("{}: there is no room for {}", directory.display(), model::bytes_text(place::LEAST_BYTES));
        return Err(Failure::environment(what).remedy("free some space, or name a file: it is only read"));
    }
    let cannot = |e: std::io::Error| conduct::file_failure::cannot(&path, &e);
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(cannot)?;
    // Together where the file system can: the same bytes are looked for on the devices below.
    sys::reserve_durably(&file, study.bytes).map_err(cannot)?;
    Ok((workspace, path))
}

/// Executes the work of one level, and gives it as a run that is not kept.
fn measure(
    execution: &Execution<'_>,
    study: &LayersStudy,
    work: LevelWork,
    access: LevelAccess,
    region: (u64, u64),
    opened: &mut Opened,
    seed: u64,
) -> Result<Run, Failure> {
    let workload = spec::level_workload(study, work, access, region)
        .map_err(|errors| Failure::internal(format!("the work of a level: {errors:?}")))?;
    let mut plan: Plan = plan::plan(&workload, opened, seed)?;
    // The file is written once, before all levels are read.
    plan.phases.retain(|phase| phase.kind != PhaseKind::Layout);
    Ok(execution.from_now().execute("run", plan, Budget::Foreseen, opened, None)?.run)
}

struct Course<'a> {
    execution: &'a Execution<'a>,
    study: &'a LayersStudy,
    seed: u64,
    /// Whether the file is ours.
    own: bool,
    tell: &'a dyn Fn(u32, &str),
    top: Opened,
    /// What other levels are measured on, by level.
    others: Vec<Option<Opened>>,
}

/// Of each level its rounds, and why numbers are missing.
type OfLevels = (Vec<Vec<LevelRound>>, Vec<Vec<String>>);

impl Course<'_> {
    fn rounds(&mut self, levels: &[Level]) -> Result<OfLevels, Failure> {
        let mut rounds = vec![Vec::new(); levels.len()];
        let mut reasons: Vec<Vec<String>> = vec![Vec::new(); levels.len()];
        for round in 0..self.study.rounds {
            let rest = self.rest();
            let mut of_round = vec![LevelRound::default(); levels.len()];
            for turn in 0..levels.len() {
                let index = (turn + round as usize) % levels.len();
                if self.execution.interrupts.end() {
                    break;
                }
                (self.tell)(round + 1, &levels[index].name);
                let seed = self.seed.wrapping_add(round.into());
                of_round[index] = self.level(&levels[index], index, seed, rest, &mut reasons[index])?;
            }
            // What was cut off by the user says nothing.
            if self.execution.interrupts.end() {
                break;
            }
            rounds.iter_mut().zip(of_round).for_each(|(all, round)| all.push(round));
        }
        Ok((rounds, reasons))
    }

    /// All kinds of work at a level, each with empty caches. The places are those of the round, the same at every level.
    fn level(
        &mut self,
        level: &Level,
        index: usize,
        seed: u64,
        rest: f64,
        why: &mut Vec<String>,
    ) -> Result<LevelRound, Failure> {
        let writes = level.target == LevelTarget::Top && self.own && self.study.writes;
        let opened = self.others[index].as_mut().unwrap_or(&mut self.top);
        let region = (level.start, self.study.bytes);
        let mut round = LevelRound::default();
        for work in [LevelWork::RandRead, LevelWork::SeqRead, LevelWork::RandWrite, LevelWork::SeqWrite] {
            if work.is_write() && !writes || self.execution.interrupts.end() {
                continue;
            }
            for file in observe::backing_files(&opened.target.stack) {
                drop_cached(Path::new(&file));
            }
            let run = measure(self.execution, self.study, work, level.access, region, opened, seed)?;
            let rate = || cpu_s_per_gb(&run, rest);
            match work {
                LevelWork::RandRead => round.read_ns = value(&run, "latency_ns_mean", why),
                LevelWork::RandWrite => round.write_ns = value(&run, "latency_ns_mean", why),
                LevelWork::SeqRead => {
                    round.read_bytes_per_s = value(&run, "throughput_bytes_per_s", why);
                    round.read_cpu_s_per_gb = rate().filter(|_| round.read_bytes_per_s.is_some());
                }
                LevelWork::SeqWrite | LevelWork::Fill => {
                    round.write_bytes_per_s = value(&run, "throughput_bytes_per_s", why);
                    round.write_cpu_s_per_gb = rate().filter(|_| round.write_bytes_per_s.is_some());
                }
            }
        }
        Ok(round)
    }

    /// CPU seconds a second of the whole machine while nothing of ours runs; zero where that is simulated or not known.
    fn rest(&self) -> f64 {
        if self.top.sampler.is_none() || self.study.rest_ns == 0 {
            return 0.0;
        }
        let mut sampler = Sampler::new(&Root::new("/"), &[]);
        let start = Instant::now();
        let before = sampler.sample(0);
        let until = start + Duration::from_nanos(self.study.rest_ns);
        while Instant::now() < until && !self.execution.interrupts.end() {
            std::thread::sleep(Duration::from_millis(20).min(until.saturating_duration_since(Instant::now())));
        }
        let passed = start.elapsed().as_secs_f64();
        busy_s(&before, &sampler.sample(1)).map_or(0.0, |busy| busy / passed)
    }
}

/// A loop device that goes through the page cache answers from there what was read before.
fn drop_cached(path: &Path) {
    let Ok(file) = sys::open_existing(path, OpenMode::Read) else { return };
    let _ = file.sync_data();
    let _ = sys::drop_cached(&file, 0, file.metadata().map_or(0, |m| m.len()));
}

/// CPU time between two samples of all processors but what was idle or taken by the hypervisor, seconds.
fn busy_s(before: &SystemSample, after: &SystemSample) -> Option<f64> {
    let ticks = |sample: &SystemSample| -> u64 {
        sample.cpus.iter().map(|c| c.user + c.nice + c.system + c.irq + c.softirq).sum()
    };
    let same = before.cpus.len() == after.cpus.len() && !before.cpus.is_empty();
    same.then(|| ticks(after).checked_sub(ticks(before))).flatten().map(|ticks| ticks as f64 / 100.0)
}

/// CPU for a GB of the one phase of a run beyond that of the machine's rest; `None` where the samples do not hold it.
fn cpu_s_per_gb(run: &Run, rest: f64) -> Option<f64> {
    let record = run.phases.first()?.record.as_ref()?;
    let before = run.samples.iter().rfind(|s| s.at_ns <= record.started_ns)?;
    let after = run.samples.iter().find(|s| s.at_ns >= record.ended_ns)?;
    let passed = (after.at_ns - before.at_ns) as f64 / NS_PER_S as f64;
    let busy = (busy_s(before, after)? - rest * passed).max(0.0);
    (record.bytes > 0).then(|| busy / (record.bytes as f64 / 1e9))
}

/// A number of the one phase of a run. Where there is none it is said why.
fn value(run: &Run, quantity: &str, why: &mut Vec<String>) -> Option<f64> {
    let metric = run.results().find(|m| m.key().quantity == quantity)?;
    // Levels suffer alike from what only slows.
    let value = metric.value.or_else(|| metric.slowed());
    if value.is_none() {
        // One reason of each kind: the numbers in them differ from round to round.
        let new = |reason: &&model::Reason| {
            let code = format!("{}: {}:", metric.key().phase(), reason.code().unwrap_or_default());
            !why.iter().any(|said| said.starts_with(&code))
        };
        let said: Vec<String> =
            metric.reasons.iter().filter(new).map(|reason| format!("{}: {reason}", metric.key().phase())).collect();
        why.extend(said);
    }
    value
}

fn conclude(
    levels: &[Level],
    rounds: Vec<Vec<LevelRound>>,
    reasons: Vec<Vec<String>>,
    left_out: Vec<LevelLeftOut>,
    bytes: u64,
    written_bytes: u64,
    interrupted: bool,
) -> Result<LayersResult, Failure> {
    if rounds.iter().all(Vec::is_empty) && !interrupted {
        return Err(Failure::new(FailureKind::Invalid, "nothing could be measured"));
    }
    let pairs = levels.iter().zip(&rounds).zip(levels.iter().zip(&rounds).skip(1));
    let costs: Vec<LayerCost> = pairs
        .map(|((above, of_above), (below, of_below))| {
            judge::layer_cost(&above.layer, (&above.name, of_above), (&below.name, of_below))
        })
        .collect();
    let dearest = judge::dearest(&costs).map(|cost| cost.layer.clone());
    let measured = levels.iter().zip(rounds).zip(reasons).map(|((level, rounds), reasons)| MeasuredLevel {
        name: level.name.clone(),
        access: level.access,
        same_bytes: level.same_bytes,
        figures: judge::level_figures(&rounds),
        rounds,
        reasons,
    });
    Ok(LayersResult { levels: measured.collect(), costs, dearest, left_out, bytes, written_bytes, interrupted })
}
