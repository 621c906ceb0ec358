//! What happens while something is executed, said on stderr: progress on a terminal only, what must be known anywhere.

use crate::output::told;
use crate::waiting::Waiting;
use conduct::admission::Loss;
use conduct::group::Invitation;
use conduct::{Event, Listener, Step, WriteAllowance};
use engine::Control;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{PhasePlan, Plan, StopRule, StreamPlan, TargetKind};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The terminal as a listener: a bar over the whole plan, with the rate of the phase that runs, and what a person must know.
pub struct Terminal {
    /// Whether nothing but the answer and what must be known is shown.
    quiet: bool,
    ascii: bool,
    /// What is said if it is waited for.
    waiting: Arc<Waiting>,
    run: Mutex<RunShown>,
    /// Which measurement of a search the next run is.
    measurement: Mutex<String>,
    /// Whether a setting could not be put back.
    still_changed: AtomicBool,
}

/// The run that is executed now.
struct RunShown {
    bar: ProgressBar,
    /// Stands before the phase: which run of several this is.
    label: String,
    phase: PhaseShown,
}

/// What takes its time before there is a plan, said on a terminal until this is dropped.
pub struct Busy(ProgressBar);

impl Busy {
    /// Hidden where nobody looks.
    pub fn new(quiet: bool, message: String) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.tick();
        Self(bar)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// What is announced is no wider.
const COLUMNS: usize = 80;

#[derive(Default)]
struct PhaseShown {
    name: String,
    /// Foreseen time of the phases before this one, milliseconds.
    before_ms: u64,
    foreseen: Foreseen,
}

/// What is known of a phase's length before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Foreseen {
    ms: u64,
    end: End,
}

/// When a phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// After its time.
    #[default]
    Time,
    /// When so many bytes have been moved; its time is then only a guess.
    Bytes(u64),
    /// When so many operations are done, likewise.
    Operations(u64),
    /// When it is done, and nobody knows what that takes.
    NotKnown,
}

/// Rates at which phases that end by their amount are guessed, bytes and operations per millisecond.
const GUESSED_BYTES: u64 = 100_000;
const GUESSED_OPERATIONS: u64 = 10;

impl Foreseen {
    fn of(phase: &PhasePlan) -> Self {
        let limit_ms = phase.usual_time_ns() / 1_000_000;
        let sum = |each: &dyn Fn(&StreamPlan) -> Option<u64>| {
            let all: Option<Vec<u64>> = phase.streams.iter().map(each).collect();
            all.filter(|all| !all.is_empty()).map(|all| all.into_iter().fold(0u64, u64::saturating_add))
        };
        let end = match phase.stop {
            StopRule::RegionOnce => sum(&|s| Some(s.blocks()?.block.all_region_bytes())).map(End::Bytes),
            StopRule::Amount => {
                let bytes = sum(&|s| s.limits.total_bytes).map(End::Bytes);
                bytes.or_else(|| sum(&operations).map(End::Operations)).or(Some(End::NotKnown))
            }
            _ => None,
        };
        let end = end.unwrap_or_default();
        let guess = match end {
            End::Time => limit_ms,
            End::Bytes(bytes) => (bytes / GUESSED_BYTES).clamp(1, limit_ms.max(1)),
            End::Operations(operations) => (operations / GUESSED_OPERATIONS).clamp(1, limit_ms.max(1)),
            End::NotKnown => 0,
        };
        Self { ms: guess, end }
    }

    /// Done and left of the phase, milliseconds, after `elapsed_ms`, so many bytes and so many operations; what is left may not be known.
    fn split(self, elapsed_ms: u64, bytes: u64, operations: u64) -> (u64, Option<u64>) {
        let (done, all) = match self.end {
            End::Time => return (elapsed_ms.min(self.ms), Some(self.ms.saturating_sub(elapsed_ms))),
            End::NotKnown => return (0, None),
            End::Bytes(all) => (bytes, all),
            End::Operations(all) => (operations, all),
        };
        let share = (done as f64 / all.max(1) as f64).min(1.0);
        let left = if done == 0 { self.ms } else { (elapsed_ms as f64 * (1.0 - share) / share) as u64 };
        ((self.ms as f64 * share) as u64, Some(left))
    }
}

/// How many operations a stream ends after; `None` where only its time, its bytes or another program's end says.
fn operations(stream: &StreamPlan) -> Option<u64> {
    let calls = || stream.replay().filter(|r| r.replay_real.is_none()).map(|r| r.replay_calls.values().sum());
    let traced = || stream.trace().map(|trace| trace.trace_operations);
    stream.limits.total_operations.or_else(calls).or_else(traced)
}

impl Terminal {
    /// Says what must be known on stderr; progress only where somebody looks, and not if `quiet`.
    pub fn new(quiet: bool, ascii: bool, waiting: Arc<Waiting>) -> Self {
        let run = RunShown { bar: ProgressBar::hidden(), label: String::new(), phase: PhaseShown::default() };
        Self {
            quiet,
            ascii,
            waiting,
            run: Mutex::new(run),
            measurement: Mutex::default(),
            still_changed: AtomicBool::new(false),
        }
    }

    /// Whether a setting could not be put back: the failure that says so is to be seen.
    pub fn is_still_changed(&self) -> bool {
        self.still_changed.load(Ordering::Relaxed)
    }

    fn run(&self) -> MutexGuard<'_, RunShown> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_begins(&self, plan: &Plan, step: Option<Step<'_>>) {
        let shown = !self.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3} %  {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_length(plan.phases.iter().filter(|p| p.skip.is_none()).map(|p| Foreseen::of(p).ms).sum());
        let measurement = std::mem::take(&mut *self.measurement.lock().unwrap_or_else(PoisonError::into_inner));
        let label = step.map_or(measurement, |Step { place, pairs }| {
            format!("pair {} of {pairs}, {}: ", place.pair + 1, place.arm)
        });
        *self.run() = RunShown { bar, label, phase: PhaseShown::default() };
    }

    /// Says what will be written and how long it takes, before it is: also where no terminal is; and that what is allowed of a
    /// small device may be too little.
    pub fn announce(&self, plan: &Plan, opened: &conduct::Opened, keeps_budget: bool, bounds: Option<WriteAllowance>) {
        if self.quiet || matches!(opened.target.kind, TargetKind::Null | TargetKind::Sim) {
            return;
        }
        // What shares a budget takes it; of other plans the limits are added up, and most phases end long before.
        let budget = || report::quantity::duration(plan.budget_ns);
        let limit = || if keeps_budget { budget() } else { report::time_at_most(plan) };
        let time = report::time_without_limit(plan).unwrap_or_else(limit);
        let place = opened.target.path.as_deref().unwrap_or(&opened.target.name);
        if let Some(first) = conduct::plan::preconditioning(plan, opened.probe_bytes_per_s) {
            return self.say(&preconditioning(&first, place));
        }
        self.say(&match conduct::plan::device_bytes_at_most(plan, opened) {
            Some(0) => format!("writes nothing to {place}, takes {time}"),
            Some(bytes) => {
                let small = bounds.and_then(|bounds| bounds.small_device((&opened.target.stack).into()));
                let small = small.map(report::quantity::size).map_or_else(String::new, |size| {
                    format!("; more is not written to a device of {size}, which may be too little for some numbers (--max-write SIZE allows it)")
                });
                format!("writes at most {} to {place}, takes {time}{small}", report::quantity::size(bytes))
            }
            None => format!("writes to {place} for as long as it takes, {time}"),
        });
    }

    /// Says where the other ranks are waited for.
    pub fn meets(&self, group: &Invitation) {
        let Invitation { rank, size, host, port, patience, .. } = group;
        let seconds = patience.as_secs();
        if !self.quiet {
            self.say(&format!("rank {rank} of {size} meets the others at {host}, port {port}, {seconds} s at most"));
        }
    }

    /// Says something beside the answer, on stderr. Models and names are what devices say of themselves.
    fn say(&self, text: &str) {
        let text = format!("narrows: {text}");
        let _ = writeln!(std::io::stderr().lock(), "{}", told(&text, self.ascii, COLUMNS));
    }
}

/// What is written before anything is measured, and how long all of it takes.
fn preconditioning(first: &conduct::plan::Preconditioning, place: &str) -> String {
    use report::quantity::{duration, rate, size};
    let probed = first.probed.map_or(String::new(), |(bytes_per_s, ns)| {
        let (time, rate) = (duration(ns), rate(bytes_per_s));
        format!(" (about {time} at the {rate} of a probe, longer where a write cache runs out)")
    });
    let rounds = first.rounds_ns.map_or("measures".to_owned(), |(least, most)| {
        format!("writes in rounds until they are steady: {} to {}", duration(least), duration(most))
    });
    format!("writes {} to {place} first{probed}, then {rounds}", size(first.bytes))
}

impl Listener for Terminal {
    fn on_event(&self, event: Event<'_>) {
        match event {
            Event::WillBeLost(loss) => self.say(&what_will_be_lost(loss)),
            Event::RunBegins { target, plan, step } => {
                self.waiting.over();
                self.waiting.target(target);
                self.run_begins(plan, step);
            }
            Event::WaitsForQuiet(most) => {
                let most = report::quantity::duration(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX));
                self.say(&format!("waiting for a quiet machine, {most} at most"));
            }
            Event::PhaseBegins(phase) => {
                self.waiting.phase(phase);
                if !self.quiet && !std::io::stderr().is_terminal() && phase.skip.is_none() {
                    let run = self.run();
                    let name = format!("{}{}", run.label, phase.name);
                    drop(run);
                    let most = match phase.bytes_written_at_most() {
                        // Nobody waits for that long: it ends by its amount.
                        Some(bytes) if bytes > 0 && phase.stop == StopRule::Amount => {
                            format!("{} at most", report::quantity::size(bytes))
                        }
                        _ if phase.stop == StopRule::Amount => "until it is done".to_owned(),
                        _ => format!("{} at most", report::quantity::duration(phase.time_limit_ns)),
                    };
                    self.say(&format!("{name}, {most}"));
                }
                self.run().begin(phase);
            }
            Event::PhaseRuns(control) => {
                self.waiting.look();
                self.run().show(control);
            }
            Event::SettleBegins => self.waiting.durable(),
            Event::PhaseEnds | Event::SettleEnds => self.waiting.over(),
            Event::GroupEnds(why) => self.say(&format!("the group ended: {why}")),
            Event::RunEnds => self.run().bar.finish_and_clear(),
            Event::StepMade { step: Step { place, .. }, made, of } => {
                if !self.quiet && std::io::stderr().is_terminal() {
                    self.say(&format!("{made} of {of}  pair {}  {}", place.pair + 1, place.arm));
                }
            }
            Event::Measurement { number, of } => {
                let label = if number == 0 { "first: ".to_owned() } else { format!("{number} of {of}: ") };
                *self.measurement.lock().unwrap_or_else(PoisonError::into_inner) = label;
            }
            Event::StillChanged => self.still_changed.store(true, Ordering::Relaxed),
        }
    }
}

fn what_will_be_lost(loss: &Loss) -> String {
    let mut lost: Vec<String> = loss.partitions.iter().map(|p| format!("partition {p}")).collect();
    lost.extend(loss.content.iter().cloned());
    let model = loss.model.as_deref().map(|m| format!(" ({m})")).unwrap_or_default();
    format!("{}{model} will be overwritten; on it: {}", loss.path.display(), lost.join(", "))
}

impl RunShown {
    fn begin(&mut self, plan: &PhasePlan) {
        let phase = &mut self.phase;
        phase.before_ms += phase.foreseen.ms;
        phase.foreseen = Foreseen::of(plan);
        phase.name.clone_from(&plan.name);
        self.bar.set_position(phase.before_ms);
        self.bar.set_message(format!("{}{}", self.label, phase.name));
    }

    fn show(&self, control: &Control) {
        if self.bar.is_hidden() {
            return;
        }
        let phase = &self.phase;
        let elapsed_ms = control.progress.elapsed_ns.load(Ordering::Relaxed) / 1_000_000;
        let bytes = control.progress.bytes.load(Ordering::Relaxed);
        let operations = control.progress.operations.load(Ordering::Relaxed);
        let (done_ms, left_ms) = phase.foreseen.split(elapsed_ms, bytes, operations);
        self.bar.set_position(phase.before_ms + done_ms);
        let later_ms = self.bar.length().unwrap_or(0).saturating_sub(phase.before_ms + phase.foreseen.ms);
        // The time first: on a narrow terminal the end of the line is cut.
        let left = left_ms.map_or_else(String::new, |ms| format!("{} left  ", time_left(ms + later_ms)));
        self.bar.set_message(format!(
            "{left}{}{}  {}",
            self.label,
            phase.name,
            report::quantity::progress(
                operations,
                bytes,
                elapsed_ms,
                control.progress.latency_ns(),
                control.progress.in_flight()
            )
        ));
    }
}

/// Whole seconds, rounded up: reads may end early, so it is at most this.
fn time_left(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    if seconds < 60 { format!("{seconds} s") } else { format!("{}:{:02} min", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::{End, Foreseen, time_left};
    use model::{BlockPlan, CallKind, Limits, PhasePlan, RealPackages, ReplayPlan, StopRule, StreamPlan};

    #[test]
    fn what_ends_by_its_amount_is_foreseen_by_its_bytes() {
        let stream = StreamPlan {
            kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(),
            limits: Limits { total_bytes: Some(1_000_000_000), ..Limits::default() },
            ..StreamPlan::default()
        };
        let day = 86_400_000_000_000;
        let mut phase =
            PhasePlan { stop: StopRule::Amount, time_limit_ns: day, streams: vec![stream], ..PhasePlan::default() };
        let foreseen = Foreseen::of(&phase);
        assert_eq!(foreseen, Foreseen { ms: 10_000, end: End::Bytes(1_000_000_000) });
        // A quarter in 5 s: three quarters take 15 s.
        assert_eq!(foreseen.split(5_000, 250_000_000, 1), (2_500, Some(15_000)));
        assert_eq!(foreseen.split(5_000, 0, 0), (0, Some(10_000)));
        phase.stop = StopRule::Time;
        phase.time_limit_ns = 20_000_000_000;
        assert_eq!(Foreseen::of(&phase).split(5_000, 1, 1), (5_000, Some(15_000)));
    }

    #[test]
    fn calls_that_are_made_again_are_foreseen_by_their_number_and_another_program_not_at_all() {
        let made = ReplayPlan {
            replay_calls: [(CallKind::Write, 30_000), (CallKind::Open, 10_000)].into(),
            ..ReplayPlan::default()
        };
        let phase = |replay: ReplayPlan| PhasePlan {
            stop: StopRule::Amount,
            time_limit_ns: 3 * 86_400_000_000_000,
            streams: vec![StreamPlan { kind: replay.into(), ..StreamPlan::default() }],
            ..PhasePlan::default()
        };
        let foreseen = Foreseen::of(&phase(made.clone()));
        assert_eq!(foreseen.end, End::Operations(40_000));
        assert_eq!(foreseen.split(5_000, 0, 10_000), (1_000, Some(15_000)));
        let real = ReplayPlan { replay_real: Some(RealPackages::default()), ..made };
        assert_eq!(Foreseen::of(&phase(real)).split(5_000, 1, 1), (0, None));
    }

    #[test]
    fn time_left_is_never_less_than_it_is() {
        assert_eq!(time_left(0), "0 s");
        assert_eq!(time_left(1), "1 s");
        assert_eq!(time_left(59_001), "1:00 min");
        assert_eq!(time_left(125_000), "2:05 min");
    }
}
