//! `narrows run frames`: the same frames in several ways of writing them.

use super::text;
use crate::args::{GlobalArgs, RunArgs};
use crate::check::max_write;
use crate::output::Output;
use crate::signals::{Ending, SecondSignal};
use crate::{archives, output_file};
use conduct::{Language, Source, random_u64};
use model::{CpuShare, Failure, FailureKind, FramesStudy};
use record::frames::{
    Compared, FramesEvent, FramesResult, FramesStep, FramesWanted, WayResult, at_most, fitted, frames, ways_on,
};
use recorder::FrameTime;
use report::document::{Answered, FramesCompared, FramesDocument, FramesLoad, FramesPlanDocument, FramesWay};
use report::quantity;
use std::ffi::OsStr;
use std::process::ExitCode;

/// Of more frames than these the slowest of each group are listed and drawn.
const MOST_LISTED: usize = 3000;
/// Fewer frames have no 99th percentile.
const LEAST_FOR_P99: usize = 100;

/// Executes it.
pub(super) fn command(
    args: &RunArgs,
    source: &Source,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    super::refuse_what_is_for_phases(args, "frames")?;
    let set = text::settings(args, Language::Toml)?;
    let study = spec::parse_frames(&source.name, &source.text, &set).map_err(|e| text::study_mistakes(&e, "frames"))?;
    let Some(target) = args.target.as_deref() else {
        return Err(Failure::usage("where are the frames to be written?")
            .remedy("narrows run frames DIRECTORY, or DEVICE --destroy SERIAL"));
    };
    let (ways, left_out) = ways_on(target, &study)?;
    let most_bytes = args.max_write.as_deref().map(max_write).transpose()?;
    if args.plan {
        let fitted = fitted(&study, target, ways.len(), most_bytes)?;
        let (bytes_at_most, ns_at_most) = at_most(&fitted, ways.len());
        let plan = FramesPlanDocument {
            schema: FramesPlanDocument::SCHEMA,
            target: target.to_string_lossy().into_owned(),
            ways,
            left_out,
            bytes_at_most,
            ns_at_most,
        };
        output.answer(&plan, || report::frames_plan(&plan));
        return Ok(ExitCode::SUCCESS);
    }
    args.report.as_deref().map_or(Ok(()), output_file::check)?;
    let archive = archives::open(global)?;
    if args.report.is_none() {
        archive.check_writable()?;
    }
    let seed = args.marks.seed.map_or_else(random_u64, Ok)?;
    let ending = Ending::install(SecondSignal::Ends)?;
    let started = jiff::Timestamp::now();
    let wanted = FramesWanted { target, consent: args.permissions.consent(), study: &study, seed, most_bytes };
    let result = frames(&wanted, &ending.interrupts, &|event| {
        if !global.json {
            tell(event, target, output);
        }
    })?;
    let mut document = document(&result, &wanted, &started);
    let page = report::frames_page(&document);
    let path = match args.report.as_deref() {
        Some(path) => {
            output_file::write(path, page.as_bytes())?;
            path.to_owned()
        }
        None => {
            let id = format!("frames-{}-{:08x}", started.strftime("%Y%m%dT%H%M%SZ"), random_u64()? as u32);
            archive.write_report(&id, &page)?
        }
    };
    document.page = Some(path.display().to_string());
    output.answer(&Answered::new(&document), || report::frames(&document));
    if let Some(code) = ending.signals.exit_code().filter(|_| document.interrupted) {
        return Ok(ExitCode::from(code));
    }
    let known = document.ways.iter().any(|way| way.sustained_bytes_per_s.is_some());
    Ok(if known { ExitCode::SUCCESS } else { ExitCode::from(FailureKind::Invalid.exit_code()) })
}

fn tell(event: FramesEvent<'_>, target: &OsStr, output: &Output) {
    let per_s = |rate: f64| format!("{} frames a second", quantity::significant(rate, 3));
    match event {
        FramesEvent::Begins { bytes_at_most, ns_at_most, .. } => output.aside(&format!(
            "writes at most {} to {}, takes at most {}\n",
            quantity::size(bytes_at_most),
            target.to_string_lossy(),
            quantity::duration(ns_at_most)
        )),
        FramesEvent::WillBeLost(loss) => {
            output.warning(&format!("{}: what it holds will be lost", loss.path.display()));
        }
        FramesEvent::Step(way, step) => {
            let what = match step {
                FramesStep::Full { round } => format!("round {round}, as fast as it goes"),
                FramesStep::Search { frames_per_s } => format!("are {} carried?", per_s(frames_per_s)),
                FramesStep::Compared { frames_per_s } => format!("{}, compared", per_s(frames_per_s)),
            };
            output.aside(&format!("{}: {what}\n", way.name()));
        }
    }
}

fn document(result: &FramesResult, wanted: &FramesWanted<'_>, started: &jiff::Timestamp) -> FramesDocument {
    let study = wanted.study;
    FramesDocument {
        schema: FramesDocument::SCHEMA,
        target: std::path::absolute(wanted.target)
            .map_or_else(|_| wanted.target.to_string_lossy().into(), |p| p.display().to_string()),
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        cameras: study.cameras,
        frame_bytes: study.frame_bytes,
        jitter: study.jitter,
        seed: wanted.seed,
        ring_bytes: result.ring_bytes,
        max_latency_ns: study.max_latency_ns,
        ways: result.ways.iter().map(|way| of_way(way, study)).collect(),
        left_out: result.left_out.clone(),
        common_frames_per_s: result.common_frames_per_s,
        interrupted: result.interrupted,
        page: None,
    }
}

fn of_way(result: &WayResult, study: &FramesStudy) -> FramesWay {
    let per_frame = study.frame_bytes as f64 * f64::from(study.cameras);
    FramesWay {
        way: result.way,
        full_bytes_per_s: result.full.clone(),
        full_bytes_per_s_median: result.full_median(),
        of_container: result.of_container.map(|ratio| ratio.ratio),
        of_container_interval: result.of_container.and_then(|ratio| ratio.interval).map(|(low, high)| [low, high]),
        sustained_frames_per_s: result.sustained_frames_per_s,
        sustained_bytes_per_s: result.sustained_frames_per_s.map(|rate| rate * per_frame),
        tried: result.tried.clone(),
        compared: result.compared.as_ref().map(of_compared),
        failed: result.failed.clone(),
    }
}

fn of_compared(compared: &Compared) -> FramesCompared {
    let measured = &compared.measured;
    let load = |load: Option<CpuShare>| load.map(|share| FramesLoad { busy: share.busy(), iowait: share.iowait });
    let [load_before, load_during, load_after] = compared.load.map(load);
    FramesCompared {
        lost: measured.lost,
        write_ns_p50: measured.write_ns(0.5),
        write_ns_p99: measured.write_ns(0.99).filter(|_| measured.times.len() >= LEAST_FOR_P99),
        write_ns_max: measured.write_ns(1.0),
        durable_ns_max: measured.ages.quantile(1.0),
        ring_most_bytes: measured.ring_most,
        cpu_s_per_gb: (measured.durable_bytes > 0).then(|| measured.cpu_ns as f64 / measured.durable_bytes as f64),
        load_before,
        load_during,
        load_after,
        frames_ms: listed(&measured.times),
        frames: measured.times.len() as u64,
    }
}

/// Arrival after the first and time until it was written, milliseconds; of many the slowest of each group.
fn listed(times: &[FrameTime]) -> Vec<[f64; 2]> {
    let first = times.iter().map(|t| t.arrived).min().unwrap_or(0);
    let took = |t: &FrameTime| t.written.saturating_sub(t.arrived);
    let slowest =
        times.chunks(times.len().div_ceil(MOST_LISTED).max(1)).filter_map(|c| c.iter().max_by_key(|t| took(t)));
    let ms = |ns: u64| (ns as f64 / 1e3).round() / 1e3;
    slowest.map(|t| [ms(t.arrived - first), ms(took(t))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_frames_the_slowest_are_listed() {
        let time = |n: u64| FrameTime {
            arrived: n * 1_000_000,
            written: n * 1_000_000 + if n == 7000 { 9_000_000 } else { 1_000_000 },
        };
        let few: Vec<_> = (10..20).map(time).collect();
        assert_eq!(listed(&few)[..2], [[0.0, 1.0], [1.0, 1.0]]);
        let many: Vec<_> = (0..10_000).map(time).collect();
        let kept = listed(&many);
        assert!(kept.len() <= MOST_LISTED && kept.contains(&[7000.0, 9.0]));
    }
}
