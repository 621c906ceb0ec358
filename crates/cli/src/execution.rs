//! What commands that measure have in common around [`conduct`]: signals, the archive, tags, the page, and the answer.

use crate::args::GlobalArgs;
use crate::output::Output;
use crate::progress::Terminal;
use crate::signals::{SecondSignal, Signals};
use crate::waiting::Waiting;
use crate::{archives, output_file, report_page};
use archive::Archive;
use conduct::{Executed, Interrupts, Opened, WallClock, Wanted};
use engine::Control;
use model::{Conclusions, Failure, FailureKind, MetricStatus, Run, RunState, parse_duration_ns};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use sys::SignalsElsewhere;

/// Everything around a run that can be wrong is looked at before a target is touched.
pub struct Execution<'a> {
    clock: WallClock,
    /// Ends phases, and sees them.
    control: Arc<Control>,
    signals: Signals,
    interrupts: Interrupts,
    archive: Archive,
    tags: &'a [String],
    page: Page<'a>,
    keep_every: Duration,
    keep_shared: bool,
    wait_quiet: Duration,
    waiting: Arc<Waiting>,
    terminal: Terminal,
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

/// A run that came to its end, before anything of it is shown.
pub struct Finished {
    pub run: Run,
    pub conclusions: Conclusions,
    /// Where its page is.
    pub page: Result<PathBuf, Failure>,
    /// Whether all of it is in the archive.
    pub kept: Result<(), Failure>,
}

/// How often what a phase brings goes to the archive while it runs, unless it is said otherwise.
const KEEP_EVERY: Duration = Duration::from_secs(60);

impl<'a> Execution<'a> {
    /// Installs the signal handlers and opens the archive. A command that has to put settings back asks for
    /// [`SecondSignal::Hurries`]: a second signal ends it only after that.
    pub fn prepare(
        global: &GlobalArgs,
        tags: &'a [String],
        page: Page<'a>,
        second: SecondSignal,
        output: &Output,
    ) -> Result<Self, Failure> {
        let clock = WallClock::start();
        let control = Arc::new(Control::default());
        let signals = Signals::install_with(&control, second)?;
        let waiting = Waiting::listen(&control, second == SecondSignal::Ends);
        let elsewhere = if second == SecondSignal::Ends { waiting.signals_elsewhere() } else { None };
        let archive = archives::open(global)?;
        tags.iter().try_for_each(|tag| archive::check_tag(tag))?;
        page.file.map_or(Ok(()), output_file::check)?;
        Ok(Self {
            clock,
            control,
            interrupts: signals.interrupts().clone().taken_elsewhere(waiting.signals()),
            signals,
            archive,
            tags,
            page,
            keep_every: KEEP_EVERY,
            keep_shared: false,
            wait_quiet: Duration::ZERO,
            terminal: Terminal::new(global.json, output.style().ascii, Arc::clone(&waiting)),
            waiting,
            _signals_elsewhere: elsewhere,
        })
    }

    /// With what a phase brings going to the archive every so often while it runs: a time as of `--keep-every`.
    pub fn keeping_every(self, time: Option<&str>) -> Result<Self, Failure> {
        let Some(time) = time else { return Ok(self) };
        let every_ns = parse_duration_ns(time).map_err(|e| {
            Failure::new(FailureKind::Usage, format!("--keep-every: {e}")).remedy("for example --keep-every 60s")
        })?;
        Ok(Self { keep_every: Duration::from_nanos(every_ns), keep_shared: true, ..self })
    }

    /// With each run waiting for a quiet machine first: a time as of `--wait-quiet`.
    pub fn waiting_for_quiet(self, time: Option<&str>) -> Result<Self, Failure> {
        let Some(time) = time else { return Ok(self) };
        let most_ns = parse_duration_ns(time).map_err(|e| {
            Failure::new(FailureKind::Usage, format!("--wait-quiet: {e}")).remedy("for example --wait-quiet 5m")
        })?;
        Ok(Self { wait_quiet: Duration::from_nanos(most_ns), ..self })
    }

    /// Opens a target, and probes it if that is wanted.
    pub fn open(&self, wanted: &Wanted<'_>) -> Result<Opened, Failure> {
        self.waiting.opening(&wanted.name.to_string_lossy());
        conduct::open(wanted, &self.control, &self.terminal)
    }

    /// With what plans are executed.
    pub fn conducted(&self) -> conduct::Execution<'_> {
        conduct::Execution {
            control: &self.control,
            interrupts: &self.interrupts,
            listener: &self.terminal,
            archive: Some(&self.archive),
            keep_every: self.keep_every,
            keep_shared: self.keep_shared,
            wait_quiet: self.wait_quiet,
            clock: self.clock,
        }
    }

    /// What ends phases, and sees them.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Where runs are kept.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The handlers.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// What a person sees of it.
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// Writes the page, lets `show` print the answer, and gives the exit code. The answer is out whatever happens to
    /// the rest; what could not be kept is said beside it.
    pub fn answer(
        &self,
        executed: Executed,
        output: &Output,
        show: impl FnOnce(&Run, &Conclusions, Option<&Path>) -> Result<(), Failure>,
    ) -> ExitCode {
        let finished = self.finish(executed);
        let shown = show(&finished.run, &finished.conclusions, finished.page.as_deref().ok());
        self.code(finished, shown, output)
    }

    /// Draws the conclusions and writes the page.
    pub fn finish(&self, executed: Executed) -> Finished {
        let Executed { mut run, kept } = executed;
        let conclusions = conduct::conclusions(&run);
        let page = report_page::write(&self.archive, &mut run, Some(&conclusions), self.page.file, self.page.identify);
        Finished { run, conclusions, page, kept }
    }

    /// Tags what was shown, and gives the exit code.
    pub fn code(&self, finished: Finished, shown: Result<(), Failure>, output: &Output) -> ExitCode {
        let Finished { run, conclusions, page, kept } = finished;
        let tagged = || self.tags.iter().try_for_each(|tag| self.archive.tag_add(tag, &run.id));
        match shown.and(kept).and(page.map(drop)).and_then(|()| Ok(tagged()?)) {
            Ok(()) if run.state == RunState::Interrupted => {
                self.signals.exit_code().map_or_else(|| exit_code(&run), ExitCode::from)
            }
            Ok(()) => answered(&conclusions).unwrap_or_else(|| exit_code(&run)),
            Err(failure) => {
                output.beside(&failure);
                ExitCode::from(failure.kind.exit_code())
            }
        }
    }
}

/// The answer to `--for`: 0 for yes, 1 for no, 4 for not known; of several a no before what is not known. `None` where nothing
/// was asked.
fn answered(conclusions: &Conclusions) -> Option<ExitCode> {
    let judged = &conclusions.judged;
    let names = judged.asked_for.as_deref()?;
    let met: Vec<Option<bool>> = judged.fit.iter().filter(|f| f.is_one_of(names)).map(|f| f.met).collect();
    Some(match () {
        () if met.is_empty() => return None,
        () if met.contains(&Some(false)) => ExitCode::from(1),
        () if met.contains(&None) => ExitCode::from(FailureKind::Invalid.exit_code()),
        () => ExitCode::SUCCESS,
    })
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
    // A bound answers, too.
    let measured = run.results().any(|m| m.status == MetricStatus::Measured || m.bounded().is_some());
    match run.state {
        RunState::Complete if measured => ExitCode::SUCCESS,
        _ => ExitCode::from(FailureKind::Invalid.exit_code()),
    }
}
