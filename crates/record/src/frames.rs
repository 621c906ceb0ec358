//! The same frames in several ways of writing them: how many each takes, up to which rate it loses none, and what it costs.
//!
//! Each round measures each way at its full rate, in an order that turns; then the highest rate is searched at which a way loses
//! no frame; then all are given one rate, which all of them carry, with a rest before and after. Every way keeps the same promise:
//! a frame is durable when it has waited for half of the latency that was asked for, and a flush has ended.

mod bounds;
mod compared;
mod measurement;
mod way;
mod writer;

use crate::ring::LEAST_RING_BYTES;
use bounds::OVERHEAD_BYTES;
pub use bounds::{at_most, fitted};
use compared::compared;
use conduct::Interrupts;
use conduct::admission::Consent;
use conduct::workspace::Workspace;
use measurement::FramesSetup;
use model::{
    Failure, FailureKind, FrameWay, FramesLeftOut, FramesStudy, FramesTried, FramesWay, Histogram, NS_PER_S, Ns,
};
use observe::{Root, Sampler};
use recorder::FrameTime;
use stats::mean_interval;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

/// The search begins at this part of the full rate.
const FIRST_TRY: f64 = 0.95;
/// It ends when what is known to be carried and what is known to be too much are so near.
const NEAR: f64 = 0.05;
/// A rate at which frames wait longer by more than this, each second, is more than storage takes: the ring hides it for a while.
const GROWTH: f64 = 0.02;
/// Of so many frames it is seen whether they wait longer and longer.
const MOST_SEEN: usize = 300;
/// And after so many tries.
const MOST_TRIES: u32 = 6;
/// Of the lowest rate that a way carries this much is what all are compared at.
const COMMON_SHARE: f64 = 0.8;
/// Level of intervals.
const LEVEL: f64 = 0.95;

/// What is measured now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FramesStep {
    /// As fast as it goes, in a round, from 1 on.
    Full { round: u32 },
    /// Whether so many frames a second of each camera are carried.
    Search {
        /// Frames per second.
        frames_per_s: f64,
    },
    /// All at one rate.
    Compared {
        /// Frames a second of each camera.
        frames_per_s: f64,
    },
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum FramesEvent<'a> {
    /// It begins, with these ways; so much is written at most.
    Begins {
        /// Those that can be measured here.
        ways: &'a [FrameWay],
        /// Bytes, of all measurements together.
        bytes_at_most: u64,
        /// How long, at most.
        ns_at_most: Ns,
    },
    /// A device will be overwritten; nothing has been written yet.
    WillBeLost(&'a conduct::admission::Loss),
    /// A way is measured.
    Step(FrameWay, FramesStep),
}

/// What one measurement of a way gave.
#[derive(Debug, Default)]
pub struct FramesMeasured {
    /// From the first frame until all were durable.
    pub elapsed_ns: Ns,
    /// Frames that are durable.
    pub durable: u64,
    /// Their bytes.
    pub durable_bytes: u64,
    /// Frames that were lost.
    pub lost: u64,
    /// When each came and was written.
    pub times: Vec<FrameTime>,
    /// Age of frames when they were durable.
    pub ages: Histogram,
    /// CPU of this program, nanoseconds: making the frames is the same in all ways.
    pub cpu_ns: u64,
    /// The most that the ring held.
    pub ring_most: u64,
    /// Why it ended early.
    pub failed: Option<String>,
}

impl FramesMeasured {
    /// Bytes of durable frames a second.
    pub fn bytes_per_s(&self) -> f64 {
        self.durable_bytes as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    /// By how much longer frames wait each second, seconds: 0.1 where 1.1 times as much comes as is written. By the median of the
    /// slopes between any two (Theil 1950, Sen 1968), so that single stalls do not count.
    pub fn wait_growth(&self) -> f64 {
        let step = self.times.len().div_ceil(MOST_SEEN).max(1);
        let point = |t: &FrameTime| (t.arrived as f64 / 1e9, t.written.saturating_sub(t.arrived) as f64 / 1e9);
        let points: Vec<(f64, f64)> = self.times.iter().step_by(step).map(point).collect();
        stats::theil_sen(&points).map_or(0.0, |line| line.slope)
    }

    /// At a quantile, from the arrival of a frame until it was written.
    pub fn write_ns(&self, quantile: f64) -> Option<Ns> {
        let mut took: Vec<Ns> = self.times.iter().map(|t| t.written.saturating_sub(t.arrived)).collect();
        took.sort_unstable();
        let at = (quantile * took.len() as f64).ceil() as usize;
        took.get(at.saturating_sub(1)).copied()
    }
}

/// The whole study.
#[derive(Debug)]
pub struct FramesResult {
    /// The ways, in the order of the text.
    pub ways: Vec<FramesWay>,
    /// Those that could not be measured here, and why.
    pub left_out: Vec<FramesLeftOut>,
    /// Frames a second of each camera at which they are compared.
    pub common_frames_per_s: Option<f64>,
    /// Memory for frames that wait, as it was had.
    pub ring_bytes: u64,
    /// Somebody wanted the end.
    pub interrupted: bool,
}

/// Where, and what the user allows.
#[derive(Clone, Debug)]
pub struct FramesWanted<'a> {
    /// A directory, or a block device.
    pub target: &'a OsStr,
    /// What may be lost.
    pub consent: Consent<'a>,
    /// What is asked.
    pub study: &'a FramesStudy,
    /// Of sizes, moments and content of the frames.
    pub seed: u64,
    /// What may be written; without it a device once.
    pub most_bytes: Option<u64>,
}

/// The ways that can be measured on a target, and why others cannot.
///
/// # Errors
/// It is neither a directory nor a block device.
pub fn ways_on(target: &OsStr, study: &FramesStudy) -> Result<(Vec<FrameWay>, Vec<FramesLeftOut>), Failure> {
    let failure = |kind, what: &str| Failure::new(kind, format!("{}: {what}", target.to_string_lossy()));
    if target.to_str().is_some_and(|name| name.starts_with("sim:")) {
        return Err(failure(
            FailureKind::Usage,
            "ways of writing frames differ in file systems, and a simulated device has none",
        )
        .remedy("narrows record --generate 4x2MB@30 -o sim:...   records to one"));
    }
    let metadata = std::fs::metadata(target).map_err(|e| failure(FailureKind::Environment, &e.to_string()))?;
    let is_device = std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type());
    if !metadata.is_dir() && !is_device {
        return Err(failure(FailureKind::Usage, "frames are written in a directory, or to a block device"));
    }
    let why_not = |way: FrameWay| match way {
        FrameWay::FilePerFrame | FrameWay::GrowingFile if is_device => Some("it needs a file system"),
        FrameWay::DeviceBuffered if !is_device => Some("it needs a block device (--destroy SERIAL)"),
        _ => None,
    };
    let left_out = |way: &FrameWay| Some(FramesLeftOut { way: *way, reason: why_not(*way)? });
    let left_out: Vec<FramesLeftOut> = study.ways.iter().filter_map(left_out).collect();
    let ways: Vec<FrameWay> = study.ways.iter().copied().filter(|way| why_not(*way).is_none()).collect();
    if ways.is_empty() {
        return Err(failure(FailureKind::Usage, "none of the ways that were asked for is possible there"));
    }
    Ok((ways, left_out))
}

struct Course<'a> {
    wanted: &'a FramesWanted<'a>,
    interrupts: &'a Interrupts,
    tell: &'a dyn Fn(FramesEvent<'_>),
    place: FramesSetup<'a>,
    ways: Vec<FramesWay>,
}

/// Measures all of it.
///
/// # Errors
/// The target cannot be written to, or has too little room.
pub fn frames(
    wanted: &FramesWanted<'_>,
    interrupts: &Interrupts,
    tell: &dyn Fn(FramesEvent<'_>),
) -> Result<FramesResult, Failure> {
    let (ways, left_out) = ways_on(wanted.target, wanted.study)?;
    let is_directory = Path::new(wanted.target).is_dir();
    let mut study = fitted(wanted.study, wanted.target, ways.len(), wanted.most_bytes)?;
    // As with a recorder that is not told.
    let memory = observe::memory_available(&Root::new("/")).map_or(study.ring_bytes, |bytes| bytes / 4);
    // A ring that takes most of what a measurement writes would be measured in the storage's place.
    let most = memory.min(study.room_bytes / 4);
    study.ring_bytes = study.ring_bytes.min(most).max(4 * study.frame_bytes).max(LEAST_RING_BYTES);
    let wanted = &FramesWanted { study: &study, ..wanted.clone() };
    let (bytes_at_most, ns_at_most) = at_most(&study, ways.len());
    tell(FramesEvent::Begins { ways: &ways, bytes_at_most, ns_at_most });
    let workspace = is_directory.then(|| Workspace::below(wanted.target.as_ref())).transpose()?;
    let place = FramesSetup { wanted, workspace: workspace.as_ref(), interrupts, tell };
    let ways = ways.into_iter().map(FramesWay::of).collect();
    let mut course = Course { wanted, interrupts, tell, place, ways };
    course.full()?;
    course.search()?;
    let common_frames_per_s = course.compare()?;
    Ok(FramesResult {
        ways: course.ways,
        left_out,
        common_frames_per_s,
        ring_bytes: study.ring_bytes,
        interrupted: interrupts.end(),
    })
}

impl Course<'_> {
    fn measure(&mut self, index: usize, step: FramesStep) -> Result<Option<FramesMeasured>, Failure> {
        let way = self.ways[index].way;
        if self.interrupts.end() || self.ways[index].failed.is_some() {
            return Ok(None);
        }
        (self.tell)(FramesEvent::Step(way, step));
        let rate = match step {
            FramesStep::Full { .. } => None,
            FramesStep::Search { frames_per_s } | FramesStep::Compared { frames_per_s } => Some(frames_per_s),
        };
        let measured = self.place.measure(way, rate)?;
        self.ways[index].failed.clone_from(&measured.failed);
        // What was cut off by the user says nothing.
        Ok(Some(measured).filter(|m| m.failed.is_none() && !self.interrupts.end()))
    }

    /// Each way as fast as it goes, in rounds whose order turns.
    fn full(&mut self) -> Result<(), Failure> {
        let count = self.ways.len();
        for round in 0..self.wanted.study.rounds {
            for turn in 0..count {
                let index = (turn + round as usize) % count;
                if let Some(measured) = self.measure(index, FramesStep::Full { round: round + 1 })? {
                    self.ways[index].full_bytes_per_s.push(measured.bytes_per_s());
                }
            }
        }
        let container = self.ways.iter().find(|w| w.way == FrameWay::Container).map(|w| w.full_bytes_per_s.clone());
        for way in &mut self.ways {
            way.full_bytes_per_s_median = stats::median(&way.full_bytes_per_s);
            let of_container = container.as_ref().and_then(|container| ratio(&way.full_bytes_per_s, container));
            way.of_container = of_container.map(|(ratio, _)| ratio);
            way.of_container_interval = of_container.and_then(|(_, interval)| interval);
        }
        Ok(())
    }

    /// The highest rate at which each way loses nothing.
    fn search(&mut self) -> Result<(), Failure> {
        let study = self.wanted.study;
        let per_frame = study.frame_bytes as f64 * f64::from(study.cameras);
        for index in 0..self.ways.len() {
            let Some(full) = self.ways[index].full_bytes_per_s_median else { continue };
            let (mut carried, mut too_much) = (0.0, 1.1 * full / per_frame);
            let mut rate = FIRST_TRY * full / per_frame;
            for _ in 0..MOST_TRIES {
                let Some(measured) = self.measure(index, FramesStep::Search { frames_per_s: rate })? else { break };
                let waits_grow = measured.wait_growth();
                let is_carried = measured.lost == 0 && waits_grow <= GROWTH;
                let tried = FramesTried { frames_per_s: rate, lost: measured.lost, waits_grow, carried: is_carried };
                let way = &mut self.ways[index];
                way.tried.push(tried);
                if is_carried {
                    carried = rate;
                    way.sustained_frames_per_s = Some(rate);
                    way.sustained_bytes_per_s = Some(rate * per_frame);
                } else {
                    too_much = rate;
                }
                if too_much - carried <= NEAR * too_much {
                    break;
                }
                // Far from anything that is carried, a third less each time.
                rate = if carried > 0.0 { f64::midpoint(carried, too_much) } else { 0.7 * too_much };
            }
        }
        Ok(())
    }

    /// All at one rate, which all of them carry; that rate.
    fn compare(&mut self) -> Result<Option<f64>, Failure> {
        let lowest = self.ways.iter().filter_map(|way| way.sustained_frames_per_s).reduce(f64::min);
        let Some(frames_per_s) = lowest.map(|rate| COMMON_SHARE * rate) else { return Ok(None) };
        let mut sampler = Sampler::new(&Root::new("/"), &[]);
        let start = Instant::now();
        let now = || Ns::try_from(start.elapsed().as_nanos()).unwrap_or(Ns::MAX);
        for index in 0..self.ways.len() {
            if self.ways[index].sustained_frames_per_s.is_none() {
                continue;
            }
            let at_first = sampler.sample(now());
            self.rest();
            let before = sampler.sample(now());
            let measured = self.measure(index, FramesStep::Compared { frames_per_s })?;
            let after = sampler.sample(now());
            self.rest();
            let samples = [at_first, before, after, sampler.sample(now())];
            self.ways[index].compared = measured.map(|measured| compared(&measured, &samples));
        }
        Ok(Some(frames_per_s))
    }

    fn rest(&self) {
        let until = Instant::now() + Duration::from_nanos(self.wanted.study.rest_ns);
        while Instant::now() < until && !self.interrupts.end() {
            std::thread::sleep(Duration::from_millis(20).min(until.saturating_duration_since(Instant::now())));
        }
    }
}

/// The geometric mean of the ratios of rates that were measured in the same rounds, and its interval where there are two or more.
fn ratio(of: &[f64], to: &[f64]) -> Option<(f64, Option<[f64; 2]>)> {
    let logs: Vec<f64> = of.iter().zip(to).filter(|(a, b)| **a > 0.0 && **b > 0.0).map(|(a, b)| (a / b).ln()).collect();
    let ratio = stats::mean(&logs)?.exp();
    let interval = mean_interval(&logs, LEVEL).map(|i| [i.low.exp(), i.high.exp()]);
    Some((ratio, interval.filter(|_| logs.len() > 1)))
}

/// Frames in so much time, of each camera, where they come at a rate.
fn frames_in(study: &FramesStudy, frames_per_s: Option<f64>) -> u64 {
    let room = study.room_bytes / study.frame_bytes.max(1) / u64::from(study.cameras.max(1));
    let time = frames_per_s.map_or(u64::MAX, |rate| (rate * study.time_ns as f64 / NS_PER_S as f64).ceil() as u64);
    // Sizes that jitter are as long as the others on the whole; a part is kept for that they are not.
    time.min(room - (room as f64 * study.jitter / 4.0) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_the_same_round_and_carry_their_interval() {
        let (mean, interval) = ratio(&[1.0, 2.0, 4.0], &[2.0, 4.0, 8.0]).unwrap();
        assert!((mean - 0.5).abs() < 1e-12);
        let [low, high] = interval.unwrap();
        assert!((low - 0.5).abs() < 1e-9 && (high - 0.5).abs() < 1e-9);
        assert_eq!(ratio(&[1.0], &[2.0]).unwrap().1, None);
        assert_eq!(ratio(&[], &[2.0]), None);
    }

    #[test]
    fn a_ring_that_fills_up_is_seen_and_a_stall_is_not() {
        let of = |wait_ms: fn(u64) -> u64| {
            let time = |n: u64| FrameTime { arrived: n * 10_000_000, written: n * 10_000_000 + wait_ms(n) * 1_000_000 };
            FramesMeasured { times: (0..1000).map(time).collect(), ..FramesMeasured::default() }.wait_growth()
        };
        assert!((of(|n| n) - 0.1).abs() < 1e-9, "ten seconds, and one of them is behind");
        assert!(of(|n| if n % 100 > 70 { 400 } else { 2 }).abs() < 0.005);
        assert_eq!(FramesMeasured::default().wait_growth(), 0.0);
    }

    #[test]
    fn frames_end_with_the_time_or_the_room() {
        let study = spec::parse_frames("frames", "[frames]", &[]).unwrap();
        assert_eq!(frames_in(&study, Some(30.0)), 150);
        assert_eq!(frames_in(&study, None), 2000);
        assert_eq!(frames_in(&FramesStudy { cameras: 4, ..study }, Some(1e6)), 500);
    }
}
