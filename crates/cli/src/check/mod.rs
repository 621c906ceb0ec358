//! `narrows check`: inspect, measure, judge, diagnose, show, keep.

mod conduct;
mod observer;

use crate::args::{CheckArgs, GlobalArgs};
use crate::conclusions::Conclusions;
use crate::output::Output;
use crate::signals::Signals;
use crate::target::{self, Opened};
use crate::wall::WallClock;
use crate::{archives, progress::Progress, report_page};
use conduct::Conductor;
use engine::Control;
use model::{Failure, FailureKind, MetricStatus, Run, RunState, Session, parse_duration_ns};
use spec::{CheckInputs, SpecError};
use std::process::ExitCode;
use std::sync::Arc;

/// Executes the command.
pub fn command(args: &CheckArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let wall = WallClock::start();
    let budget_ns = parse_duration_ns(&args.budget)
        .map_err(|e| Failure::new(FailureKind::Usage, format!("--budget: {e}")).remedy("for example --budget 60s"))?;
    // Whatever can be wrong with the plan is said before anything is touched.
    spec::check_budget(budget_ns).map_err(|e| plan_failure(&e))?;

    let control = Arc::new(Control::default());
    let signals = Signals::install(&control)?;
    let archive = archives::open(global)?;
    args.tags.iter().try_for_each(|tag| archive::check_tag(tag))?;
    args.report.as_deref().map_or(Ok(()), report_page::check_destination)?;
    let mut opened = target::open(args, &control)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => random_u64()?,
    };
    let plan = spec::check(&CheckInputs {
        kind: opened.target.kind,
        readiness: opened.readiness.clone(),
        budget_ns,
        used_ns: opened.rig.now(),
        max_bytes: opened.max_bytes,
        probe_bytes_per_s: opened.probe_bytes_per_s,
        probe_round_bytes_per_s: opened.probe_round_bytes_per_s,
        seed,
    })
    .map_err(|e| plan_failure(&e))?;

    let run = Run {
        schema: Run::SCHEMA.to_owned(),
        id: archive::run_id(&wall.compact(), random_u64()? as u32),
        command: "check".to_owned(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        state: RunState::Complete,
        plan,
        environment: opened.environment.clone(),
        target: opened.target.clone(),
        sessions: vec![Session {
            started: wall.started(),
            ended: None,
            boot_id: opened.environment.boot_id.clone(),
            clock_step_ns: None,
        }],
        experiment: None,
        duration_ns: 0,
        bytes_written: 0,
        remarks: opened.remarks.clone(),
        phases: Vec::new(),
        samples: Vec::new(),
        kernel_log: None,
    };

    let progress = Progress::new(global.json);
    let Opened { rig, sampler, .. } = &mut opened;
    let conductor = Conductor::new(rig.as_mut(), sampler.as_mut(), &control, &signals, &progress, &wall);
    let (run, kept) = conductor.conduct(run, &archive)?;
    progress.finish();

    let conclusions = Conclusions::of(&run);
    let page = report_page::write(&archive, &run, &conclusions, args.report.as_deref());
    report_page::show(&run, &conclusions, page.as_deref().ok(), output);
    let tagged = || args.tags.iter().try_for_each(|tag| archive.tag_add(tag, &run.id));
    match kept.and(page.map(drop)).and_then(|()| Ok(tagged()?)) {
        Ok(()) => Ok(exit_code(&run)),
        // The answer is out; what could not be kept of it is said beside it.
        Err(failure) => {
            output.beside(&failure);
            Ok(ExitCode::from(failure.kind.exit_code()))
        }
    }
}

/// 0 if something was measured and the run came to its end, else 4: it ran, but the question is not answered.
fn exit_code(run: &Run) -> ExitCode {
    let measured = run.metrics().any(|m| m.status == MetricStatus::Measured && !matches!(m.phase(), "copy" | "layout"));
    match run.state {
        RunState::Complete if measured => ExitCode::SUCCESS,
        _ => ExitCode::from(FailureKind::Invalid.exit_code()),
    }
}

fn plan_failure(error: &SpecError) -> Failure {
    match error {
        SpecError::Budget { .. } => {
            Failure::new(FailureKind::Usage, error.to_string()).remedy("for example --budget 60s")
        }
        SpecError::TooSmall { .. } => {
            Failure::new(FailureKind::Refused, error.to_string()).remedy("free some space, or name another target")
        }
        SpecError::Toml(_) | SpecError::Phase { .. } => Failure::new(FailureKind::Internal, error.to_string()),
    }
}

fn random_u64() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| Failure::new(FailureKind::Environment, format!("no random numbers from the kernel: {e}")))?;
    Ok(u64::from_le_bytes(bytes))
}
