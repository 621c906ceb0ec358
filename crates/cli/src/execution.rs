//! What commands that measure have in common around [`conduct`]: signals, the archive, tags, the page, and the answer.

use crate::args::{GlobalArgs, RunMarks};
use crate::output::Output;
use crate::progress::Terminal;
use crate::signals::{Ending, SecondSignal, Signals};
use crate::{archives, output_file, report_page};
use archive::Archive;
use conduct::group::{Group, Invitation};
use conduct::{Budget, Executed, Opened, WallClock, Wanted, WriteAllowance};
use engine::Control;
use experiments::experiment::SettingsInForce;
use model::{Conclusions, Failure, FailureKind, MetricStatus, Plan, Run, RunState, parse_duration_ns};
use spec::Workload;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use sys::SignalMaskGuard;

/// Everything around a run that can be wrong is looked at before a target is touched.
pub struct Execution<'a> {
    clock: WallClock,
    ending: Ending,
    archive: Archive,
    asked: Asked<'a>,
    keep_every: Duration,
    wait_quiet: Duration,
    terminal: Terminal,
    /// The ranks that measure together, this one among them.
    group: Option<Group>,
    /// From the start on where a second signal ends the program: it starts no other that would inherit it.
    _signal_mask: Option<SignalMaskGuard>,
}

/// What the command line says of a run beside what is executed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    pub tags: &'a [String],
    /// How long it waits for a quiet machine first, as `--wait-quiet` has it.
    pub wait_quiet: Option<&'a str>,
    /// How often what a phase brings goes to the archive while it runs, as `--keep-every` has it.
    pub keep_every: Option<&'a str>,
    /// Where the page goes, if not into the archive.
    pub page: Option<&'a Path>,
    /// Whether the page says what identifies the machine.
    pub identify: bool,
}

impl<'a> Asked<'a> {
    pub fn of(marks: &'a RunMarks) -> Self {
        Self { tags: &marks.tags, wait_quiet: marks.wait_quiet.as_deref(), ..Self::default() }
    }
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

/// After the second signal, what ends by itself does so within this time.
const PATIENCE: Duration = Duration::from_secs(3);

impl<'a> Execution<'a> {
    /// Installs the signal handlers and opens the archive. A command that has to put settings back asks for
    /// [`SecondSignal::Hurries`]: a second signal ends it only after that.
    pub fn prepare(
        global: &GlobalArgs,
        asked: Asked<'a>,
        second: SecondSignal,
        output: &Output,
    ) -> Result<Self, Failure> {
        let clock = WallClock::start();
        let ending = Ending::install(second)?;
        let signal_mask = if second == SecondSignal::Ends { ending.waiting.mask_signals() } else { None };
        let archive = archives::open(global)?;
        asked.tags.iter().try_for_each(|tag| archive::check_tag(tag))?;
        asked.page.map_or(Ok(()), output_file::check)?;
        Ok(Self {
            clock,
            archive,
            wait_quiet: time("--wait-quiet", asked.wait_quiet, "5m")?.unwrap_or_default(),
            keep_every: time("--keep-every", asked.keep_every, "60s")?.unwrap_or(KEEP_EVERY),
            asked,
            terminal: Terminal::new(global.json, output.style().ascii, Arc::clone(&ending.waiting)),
            ending,
            group: None,
            _signal_mask: signal_mask,
        })
    }

    /// Meets the other ranks, where there are some.
    pub fn meet(&mut self, invitation: Option<Invitation>) -> Result<(), Failure> {
        let Some(invitation) = invitation else { return Ok(()) };
        self.terminal.meets(&invitation);
        self.group = Some(invitation.meet(&self.ending.interrupts, &self.ending.control)?);
        Ok(())
    }

    /// Opens a target, and probes it if that is wanted. The seed of its plan, which is that of all ranks.
    pub fn open_for(&self, wanted: &Wanted<'_>, seed: u64) -> Result<(Opened, u64), Failure> {
        match &self.group {
            None => Ok((self.open(wanted)?, seed)),
            Some(group) => {
                self.ending.waiting.opening(&wanted.name.to_string_lossy());
                conduct::group::open(wanted, &self.ending.control, &self.terminal, group, seed)
            }
        }
    }

    /// Opens a target, and probes it if that is wanted.
    pub fn open(&self, wanted: &Wanted<'_>) -> Result<Opened, Failure> {
        self.ending.waiting.opening(&wanted.name.to_string_lossy());
        conduct::open(wanted, &self.ending.control, &self.terminal)
    }

    /// The plan of a workload, which is that of all ranks.
    pub fn plan(
        &self,
        workload: &Workload,
        opened: &Opened,
        seed: u64,
        allowance: Option<WriteAllowance>,
    ) -> Result<Plan, Failure> {
        match &self.group {
            None => conduct::plan::plan_within(workload, opened, seed, allowance),
            Some(group) => conduct::group::plan(workload, opened, seed, allowance, group),
        }
    }

    /// Says what a plan will do, and executes it.
    pub fn measure(
        &self,
        command: &str,
        plan: Plan,
        budget: Budget,
        bounds: Option<WriteAllowance>,
        opened: &mut Opened,
    ) -> Result<Executed, Failure> {
        self.terminal.announce(&plan, opened, budget == Budget::Kept, bounds);
        self.conducted().execute(command, plan, budget, opened, None)
    }

    /// With what plans are executed.
    pub fn conducted(&self) -> conduct::Execution<'_> {
        conduct::Execution {
            control: &self.ending.control,
            interrupts: &self.ending.interrupts,
            listener: &self.terminal,
            archive: Some(&self.archive),
            keep_every: self.keep_every,
            keep_shared: self.asked.keep_every.is_some(),
            wait_quiet: self.wait_quiet,
            group: self.group.as_ref(),
            clock: self.clock,
        }
    }

    /// What ends phases, and sees them.
    pub fn control(&self) -> &Control {
        &self.ending.control
    }

    /// Where runs are kept.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The handlers.
    pub fn signals(&self) -> &Signals {
        &self.ending.signals
    }

    /// What a person sees of it.
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// Who asks twice to end gets the settings back, and the end of the program, whatever the run waits for.
    pub fn restore_on_second_signal(&self, slot: &SettingsInForce, output: &Output) {
        let (slot, output) = (slot.clone(), output.for_another_thread());
        self.signals().on_second(move || {
            let undone = slot.undo(&|| true);
            // What is not stuck ends by itself, and has more to say.
            std::thread::sleep(PATIENCE);
            let message = "interrupted twice: the run is not waited for any longer".to_owned();
            let failure = match undone {
                Ok(()) => Failure::invalid(format!("{message}, and all settings are as they were"))
                    .remedy("narrows runs recover   saves what was measured"),
                Err(failure) => {
                    output.in_red();
                    Failure { message: format!("{message}; {}", failure.message), ..failure }
                }
            };
            output.failure(&failure);
            std::process::exit(FailureKind::Invalid.exit_code().into());
        });
    }

    /// The failure of runs with settings. Shells tell by the code that a signal ended them, as of any other run; that a setting is not
    /// back is more than that.
    ///
    /// # Errors
    /// The failure itself, where no signal ended them or a setting is not back.
    pub fn ended_by(&self, failure: Failure, output: &Output) -> Result<ExitCode, Failure> {
        let still_changed = self.terminal().is_still_changed();
        if still_changed {
            output.in_red();
        }
        if self.signals().seen() && failure.kind == FailureKind::Invalid && !still_changed {
            output.failure(&failure);
            return Ok(ExitCode::from(self.signals().exit_code().unwrap_or(failure.kind.exit_code())));
        }
        Err(failure)
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
        let conclusions = conclusions::of_run(&run);
        let Asked { page, identify, .. } = self.asked;
        let page = report_page::write(&self.archive, &mut run, Some(&conclusions), page, identify);
        Finished { run, conclusions, page, kept }
    }

    /// Tags what was shown, and gives the exit code.
    pub fn code(&self, finished: Finished, shown: Result<(), Failure>, output: &Output) -> ExitCode {
        let Finished { run, conclusions, page, kept } = finished;
        // What is measured and shown, and cannot be kept, is no "nothing was changed".
        let not_kept = |f: Failure| Failure { kind: FailureKind::Invalid, ..f };
        let in_archive = self.asked.page.is_none();
        let page = page.map(drop).map_err(|f| if in_archive { not_kept(f) } else { f });
        let kept = kept.map_err(not_kept).and(page);
        let tagged = || self.asked.tags.iter().try_for_each(|tag| self.archive.tag_add(tag, &run.id));
        match shown.and(kept).and_then(|()| Ok(tagged()?)) {
            Ok(()) if run.state == RunState::Interrupted => {
                self.ending.signals.exit_code().map_or_else(|| exit_code(&run), ExitCode::from)
            }
            Ok(()) => answered(&conclusions).unwrap_or_else(|| exit_code(&run)),
            Err(failure) => {
                output.beside(&failure);
                ExitCode::from(failure.kind.exit_code())
            }
        }
    }
}

/// A time as an option has it.
fn time(option: &str, text: Option<&str>, example: &str) -> Result<Option<Duration>, Failure> {
    text.map(parse_duration_ns)
        .transpose()
        .map(|ns| ns.map(Duration::from_nanos))
        .map_err(|e| Failure::usage(format!("{option}: {e}")).remedy(format!("for example {option} {example}")))
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
/// what was verified came from the device, and the number that was asked for counts; else 4: it ran, but the question is not answered.
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
        RunState::Complete if measured && report::is_answered(run) => ExitCode::SUCCESS,
        _ => ExitCode::from(FailureKind::Invalid.exit_code()),
    }
}
