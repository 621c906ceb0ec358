//! From a plan on an opened target to a run that is kept: what `check` and `run` have in common.

use crate::args::GlobalArgs;
use crate::conclusions::Conclusions;
use crate::conduct::{Budget, Conductor};
use crate::output::Output;
use crate::progress::Progress;
use crate::signals::{SecondSignal, Signals};
use crate::target::Opened;
use crate::waiting::Waiting;
use crate::wall::WallClock;
use crate::{archives, output_file, report_page};
use archive::Archive;
use engine::Control;
use model::{ExperimentPlace, Failure, FailureKind, MetricStatus, Plan, Run, RunState, Session, parse_duration_ns};
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use sys::SignalsElsewhere;

/// Everything around a run that can be wrong is looked at before a target is touched.
pub struct Execution<'a> {
    wall: WallClock,
    /// Ends phases, and sees them.
    pub control: Arc<Control>,
    signals: Signals,
    archive: Archive,
    quiet: bool,
    tags: &'a [String],
    page: Page<'a>,
    keep_every: Duration,
    waiting: Arc<Waiting>,
    /// From the start on where a second signal ends the program: it starts no other that would inherit it.
    _signals_elsewhere: Option<SignalsElsewhere>,
}

/// The page of a run as the command line asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Where it goes, if not into the archive.
    pub file: Option<&'a Path>,
    /// Whether it says what identifies the machine.
    pub identify: bool,
}

/// How often what a phase brings goes to the archive while it runs, unless it is said otherwise.
const KEEP_EVERY: Duration = Duration::from_secs(60);

/// A run as it ended, and whether the archive could keep it.
pub struct Executed {
    run: Run,
    kept: Result<(), Failure>,
}

impl Executed {
    /// The run, if the archive has it.
    pub fn into_kept(self) -> Result<Run, Failure> {
        self.kept.map(|()| self.run)
    }
}

impl<'a> Execution<'a> {
    /// Installs the signal handlers and opens the archive.
    pub fn prepare(global: &GlobalArgs, tags: &'a [String], page: Page<'a>) -> Result<Self, Failure> {
        Self::prepare_with(global, tags, page, SecondSignal::Ends)
    }

    /// As [`Self::prepare`], for a command that has to put settings back: a second signal ends it only after that.
    pub fn prepare_patient(global: &GlobalArgs, tags: &'a [String], page: Page<'a>) -> Result<Self, Failure> {
        Self::prepare_with(global, tags, page, SecondSignal::Hurries)
    }

    fn prepare_with(
        global: &GlobalArgs,
        tags: &'a [String],
        page: Page<'a>,
        second: SecondSignal,
    ) -> Result<Self, Failure> {
        let wall = WallClock::start();
        let control = Arc::new(Control::default());
        let signals = Signals::install_with(&control, second)?;
        let waiting = Waiting::listen(&control, second == SecondSignal::Ends);
        let elsewhere = if second == SecondSignal::Ends { waiting.signals_elsewhere() } else { None };
        let archive = archives::open(global)?;
        tags.iter().try_for_each(|tag| archive::check_tag(tag))?;
        page.file.map_or(Ok(()), output_file::check)?;
        Ok(Self {
            wall,
            control,
            signals,
            archive,
            quiet: global.json,
            tags,
            page,
            keep_every: KEEP_EVERY,
            waiting,
            _signals_elsewhere: elsewhere,
        })
    }

    /// With what a phase brings going to the archive every so often while it runs: a time as of `--keep-every`.
    pub fn keeping_every(self, time: &str) -> Result<Self, Failure> {
        let every_ns = parse_duration_ns(time).map_err(|e| {
            Failure::new(FailureKind::Usage, format!("--keep-every: {e}")).remedy("for example --keep-every 60s")
        })?;
        Ok(Self { keep_every: Duration::from_nanos(every_ns), ..self })
    }

    /// The target of this name is about to be opened, and maybe probed.
    pub fn opening(&self, target: &OsStr) {
        self.waiting.opening(&target.to_string_lossy());
    }

    /// Where runs are kept.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The handlers.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Whether the user wants to end it.
    pub fn interrupted(&self) -> bool {
        self.signals.seen()
    }

    /// The next run starts now: each of several has its own beginning and its own clock steps.
    pub fn restart_clock(&mut self) {
        self.wall = WallClock::start();
    }

    /// Says on a terminal how far several runs came.
    pub fn progress_line(&self, output: &Output, line: &str) {
        if !self.quiet && std::io::IsTerminal::is_terminal(&std::io::stderr()) {
            output.warning(line);
        }
    }

    /// Executes the plan. Whether the run could be kept stands beside it.
    pub fn execute(&self, command: &str, plan: Plan, budget: Budget, opened: &mut Opened) -> Result<Executed, Failure> {
        self.execute_as(command, plan, budget, opened, None, "")
    }

    /// As [`Self::execute`], for a run of an experiment; `label` stands before the progress.
    pub fn execute_for(
        &self,
        command: &str,
        plan: Plan,
        budget: Budget,
        opened: &mut Opened,
        place: ExperimentPlace,
        label: String,
    ) -> Result<Executed, Failure> {
        self.execute_as(command, plan, budget, opened, Some(place), &label)
    }

    fn execute_as(
        &self,
        command: &str,
        plan: Plan,
        budget: Budget,
        opened: &mut Opened,
        experiment: Option<ExperimentPlace>,
        label: &str,
    ) -> Result<Executed, Failure> {
        let run = Run {
            schema: Run::SCHEMA.to_owned(),
            id: self.wall.run_id(random_u64()? as u16),
            command: command.to_owned(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            state: RunState::Complete,
            plan,
            environment: opened.environment.clone(),
            target: opened.target.clone(),
            sessions: vec![Session {
                started: self.wall.started(),
                ended: None,
                boot_id: opened.environment.boot_id.clone(),
                clock_step_ns: None,
            }],
            experiment,
            duration_ns: 0,
            bytes_written: 0,
            remarks: opened.remarks.clone(),
            phases: Vec::new(),
            samples: Vec::new(),
            kernel_log: None,
        };
        self.waiting.over();
        self.waiting.target(&opened.target.name);
        let _elsewhere = self.waiting.signals_elsewhere();
        let progress = Progress::new(self.quiet, label, &self.waiting);
        let Opened { rig, sampler, .. } = opened;
        let (rig, sampler) = (rig.as_mut(), sampler.as_mut());
        let conductor = Conductor::new(rig, sampler, &self.control, &self.signals, &progress, &self.wall, budget)
            .kept_every(self.keep_every);
        let conducted = conductor.conduct(run, &self.archive);
        progress.finish();
        let (run, kept) = conducted?;
        Ok(Executed { run, kept })
    }

    /// Writes the page, lets `show` print the answer, and gives the exit code. The answer is out whatever happens to
    /// the rest; what could not be kept is said beside it.
    pub fn answer(
        &self,
        executed: Executed,
        output: &Output,
        show: impl FnOnce(&Run, &Conclusions, Option<&Path>) -> Result<(), Failure>,
    ) -> ExitCode {
        let Executed { run, kept } = executed;
        let conclusions = Conclusions::of(&run);
        let page = report_page::write(&self.archive, &run, self.page.file, self.page.identify);
        let shown = show(&run, &conclusions, page.as_deref().ok());
        let tagged = || self.tags.iter().try_for_each(|tag| self.archive.tag_add(tag, &run.id));
        match shown.and(kept).and(page.map(drop)).and_then(|()| Ok(tagged()?)) {
            Ok(()) => exit_code(&run),
            Err(failure) => {
                output.beside(&failure);
                ExitCode::from(failure.kind.exit_code())
            }
        }
    }
}

/// 1 if data came back that are not those that were written; 0 if something was measured, the run came to its end, and
/// what was verified came from the device; else 4: it ran, but the question is not answered.
fn exit_code(run: &Run) -> ExitCode {
    let verified = || run.phases.iter().filter_map(|p| p.record.as_ref()?.verify.as_ref());
    if verified().any(|v| v.mismatched() > 0) {
        return ExitCode::from(1);
    }
    if verified().any(|v| v.in_memory_only().is_some()) {
        return ExitCode::from(FailureKind::Invalid.exit_code());
    }
    let measured = run.results().any(|m| m.status == MetricStatus::Measured);
    match run.state {
        RunState::Complete if measured => ExitCode::SUCCESS,
        _ => ExitCode::from(FailureKind::Invalid.exit_code()),
    }
}

/// A number nobody can foresee.
pub fn random_u64() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| Failure::new(FailureKind::Environment, format!("no random numbers from the kernel: {e}")))?;
    Ok(u64::from_le_bytes(bytes))
}
