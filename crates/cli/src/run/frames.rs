//! `narrows run frames`: the same frames in several ways of writing them.

use super::text;
use crate::args::{GlobalArgs, RunArgs};
use crate::check::max_write;
use crate::output::Output;
use crate::signals::{Ending, SecondSignal};
use crate::{archives, output_file};
use conduct::{Language, Source, random_u64};
use model::{Failure, FailureKind};
use record::frames::{FramesEvent, FramesResult, FramesStep, FramesWanted, at_most, fitted, frames, ways_on};
use report::document::{Answered, FramesDocument, FramesPlanDocument};
use report::quantity;
use std::ffi::OsStr;
use std::process::ExitCode;

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
    let mut document = document(result, &wanted, &started);
    let page = report::frames_page(&document);
    document.page = Some(super::write_page("frames", args, &page, &started, &archive)?);
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

fn document(result: FramesResult, wanted: &FramesWanted<'_>, started: &jiff::Timestamp) -> FramesDocument {
    let study = wanted.study;
    FramesDocument {
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
        ways: result.ways,
        left_out: result.left_out,
        common_frames_per_s: result.common_frames_per_s,
        interrupted: result.interrupted,
        page: None,
    }
}
