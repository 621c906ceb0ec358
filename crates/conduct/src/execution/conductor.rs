//! Executes a plan phase by phase: quiet window, phase under observation, quiet window, judgement, archive.

use super::changed::FileState;
use super::fitting::fit_to_remaining;
use super::grouped::Grouped;
use super::keeping::StoragePolicy;
use super::kernel_messages::KernelLog;
use super::observer::{Keeping, Observation, observed, sample};
use super::quiet::{Waiting, disturbed};
use super::{Budget, Execution};
use crate::clock::WallClock;
use crate::listener::{Event, Listener};
use crate::{Interrupts, Opened};
use archive::Partial;
use engine::{Control, Rig};
use model::{
    Failure, FailureKind, Interval, Ns, PhaseKind, PhasePlan, PhaseRun, ProcessIo, QuietWindow, Reason, Run, RunState,
    StopCause, SystemSample, Work, path_counter, path_counter_value, quiet_window, traffic,
};
use observe::Sampler;

/// A run as it ended, and whether the archive could keep it.
#[derive(Debug)]
pub struct Executed {
    pub run: Run,
    /// What kept the archive from keeping it.
    pub kept: Result<(), Failure>,
}

impl Executed {
    /// The run, if the archive has it.
    ///
    /// # Errors
    /// Why it has not.
    pub fn into_kept(self) -> Result<Run, Failure> {
        self.kept.map(|()| self.run)
    }
}

/// Everything that a plan is executed with.
pub(super) struct Conductor<'a> {
    rig: &'a mut dyn Rig,
    sampler: Option<&'a mut Sampler>,
    control: &'a Control,
    interrupts: &'a Interrupts,
    listener: &'a dyn Listener,
    clock: WallClock,
    /// The lowest layers that count, by kernel name.
    disks: Vec<String>,
    kernel_log: KernelLog,
    budget: Budget,
    keeper: StoragePolicy,
    others: OtherIo,
    wait_quiet_ns: u64,
    waited_ns: u64,
    /// When the first phase that is no layout began.
    began_ns: Option<Ns>,
    grouped: Grouped<'a>,
}

/// What is known of those who use the disk beside us.
#[derive(Default)]
struct OtherIo {
    /// All quiet windows so far.
    windows: Vec<QuietWindow>,
    /// The accounts of their processes when the last one ended, and what came to them since the one before.
    accounts: Vec<ProcessIo>,
    moved: Vec<ProcessIo>,
}

impl OtherIo {
    fn look(&mut self) {
        let accounts = observe::process_io(&observe::Root::new("/"));
        // Before the first look is all of their life.
        self.moved = if self.accounts.is_empty() { Vec::new() } else { ProcessIo::between(&self.accounts, &accounts) };
        self.accounts = accounts;
    }
}

/// The best direct sequential rate that stands so far.
fn sequential(run: &Run) -> Option<f64> {
    let rate = |work| run.metric_of_work(work, "throughput_bytes_per_s").and_then(|m| m.value);
    [Work::SequentialRead, Work::SequentialWrite].into_iter().filter_map(rate).max_by(f64::total_cmp)
}

/// What happened to this process and its clock during a phase.
#[derive(Clone, Copy, Default)]
struct Disturbance {
    clock_step_ns: Option<u64>,
    process_stopped: bool,
    /// What keeping the phase wrote to the measured disks.
    kept_bytes: u64,
}

/// Which phase met which error, for those that are skipped because of it.
fn failed_before(run: &Run) -> Reason {
    let failed =
        run.phases.iter().rev().find_map(|p| p.record.as_ref().filter(|r| !r.errors.is_empty()).map(|r| (p, r)));
    failed.map_or_else(
        || Reason::of("failed-before", "the target failed before"),
        |(phase, record)| {
            let errors: Vec<&str> = record.errors.keys().map(String::as_str).collect();
            Reason::of("failed-before", format!("the target failed in {} ({})", phase.plan.name, errors.join(", ")))
        },
    )
}

/// Whether the target only refused a kind of call (a trim, an RWF flag) and carried out none: its data are as they were,
/// and phases that ask for something else are possible.
fn only_unsupported(plan: &PhasePlan, record: &model::PhaseRecord) -> bool {
    plan.measures_target()
        && record.bytes == 0
        && !record.errors.is_empty()
        && record.errors.keys().all(|errno| ["EOPNOTSUPP", "ENOSYS", "EINVAL"].contains(&errno.as_str()))
}

impl<'a> Conductor<'a> {
    /// Brings the parts together.
    pub fn new(execution: &Execution<'a>, budget: Budget, opened: &'a mut Opened) -> Self {
        Self {
            grouped: Grouped::of(execution, opened),
            disks: opened.target.stack.lowest_counted().iter().map(|l| l.name.clone()).collect(),
            kernel_log: KernelLog::open(opened.sampler.is_none()),
            rig: opened.rig.as_mut(),
            sampler: opened.sampler.as_mut(),
            control: execution.control,
            interrupts: execution.interrupts,
            listener: execution.listener,
            clock: execution.clock,
            budget,
            keeper: StoragePolicy::new(execution.keep_every, execution.keep_shared),
            others: OtherIo::default(),
            wait_quiet_ns: u64::try_from(execution.wait_quiet.as_nanos()).unwrap_or(u64::MAX),
            waited_ns: 0,
            began_ns: None,
        }
    }

    /// Executes the plan of `run` and keeps it, phase by phase. A run that is stopped or fails half-way is kept with
    /// what was measured; only if nothing at all could be executed is there an error and no run. Beside the run stands
    /// whether the archive could keep it: numbers are not lost because a disk is full.
    pub fn conduct(mut self, mut run: Run, mut partial: Option<Partial>) -> Result<Executed, Failure> {
        if let Some(partial) = &partial
            && self.sampler.is_some()
            && run.plan.phases.iter().any(|p| self.keeper.keeps(p))
        {
            self.keeper.find_shared(partial.directory(), &self.disks);
        }
        self.wait_for_quiet(&mut run);
        let refusal = self.phases(&mut run, &mut partial);
        self.conclude(&mut run);
        self.grouped.conclude(&mut run);
        if run.phases.iter().all(|p| p.record.is_none()) {
            partial.map_or(Ok(()), Partial::discard)?;
            return Err(self.grouped.failure().or(refusal).unwrap_or_else(|| nothing_measured(run.state)));
        }
        let kept = partial.map_or(Ok(()), |partial| partial.finish(&run).map(drop).map_err(Failure::from));
        Ok(Executed { run, kept })
    }

    /// Waits until nobody disturbs, or for as long as it may. The time is none of the run's budget.
    fn wait_for_quiet(&mut self, run: &mut Run) {
        if self.wait_quiet_ns == 0 {
            return;
        }
        self.listener.on_event(Event::WaitsForQuiet(std::time::Duration::from_nanos(self.wait_quiet_ns)));
        let began = self.rig.now();
        let mut waiting = Waiting::new(self.wait_quiet_ns);
        while let Some(look) = waiting.next_look().filter(|_| !self.interrupts.end()) {
            let Some(before) = sample(self.rig, self.sampler.as_deref_mut()) else { break };
            self.rig.idle(look, self.control);
            let Some(after) = sample(self.rig, self.sampler.as_deref_mut()) else { break };
            waiting.looked(look, disturbed(&before, &after, &self.disks));
        }
        run.remarks.extend(waiting.remark());
        self.waited_ns = self.rig.now().saturating_sub(began);
    }

    /// Executes every phase. The first phase that could not even start gives its reason.
    fn phases(&mut self, run: &mut Run, partial: &mut Option<Partial>) -> Option<Failure> {
        let mut window = None;
        let mut refusal = None;
        for index in 0..run.plan.phases.len() {
            if self.interrupts.end() && run.state == RunState::Complete {
                run.state = RunState::Interrupted;
            }
            let mut remaining_ns = (run.plan.budget_ns + self.waited_ns).saturating_sub(self.rig.now());
            if run.plan.phases[index].skip.is_none() {
                remaining_ns = self.grouped.ready(run, remaining_ns);
            }
            let skip = match run.state {
                RunState::Interrupted => Some(Reason::of("interrupted", "the run was ended before this phase started")),
                RunState::Failed => Some(failed_before(run)),
                RunState::Complete | RunState::Truncated => None,
            };
            if skip.is_some() {
                run.plan.phases[index].skip = skip;
            } else if run.plan.phases[index].skip.is_none() {
                let plan = run.plan.phases[index].clone();
                run.plan.phases[index].skip = self.grouped.sits_out(run, &plan);
                window = window.filter(|_| run.plan.phases[index].skip.is_none());
            }
            if self.budget == Budget::Kept {
                fit_to_remaining(&mut run.plan, index, remaining_ns);
            }
            if let Err(failure) = self.phase(run, index, &mut window, partial) {
                // Nothing was done in this phase; the others may still be possible.
                run.plan.phases[index].skip = Some(Reason::of("refused", failure.to_string()));
                self.judge(run, index, None, &[], Disturbance::default());
                self.grouped.fails(run, &failure);
                if failure.kind == FailureKind::Device {
                    run.state = RunState::Failed;
                }
                refusal.get_or_insert(failure);
            }
            self.bookkeeping(run);
            self.grouped.share(run);
            self.grouped.look(run);
            self.keep(run, partial.as_mut());
        }
        let to_come = self.rig.pending_faults();
        if !to_come.is_empty() && run.state == RunState::Complete {
            run.remarks
                .push(format!("{} of the simulated device never came: no operation met it", to_come.join(" and ")));
        }
        refusal
    }

    /// Makes durable what the last phase brought. What the tables have then is more than what the run goes on holding.
    fn keep(&self, run: &mut Run, partial: Option<&mut Partial>) {
        if run.phases.last().is_none_or(|p| p.record.is_none()) {
            return;
        }
        let Some(partial) = partial else { return run.bound_memory() };
        match partial.phase_done(run) {
            Ok(()) => {
                run.bound_memory();
                partial.run_was_thinned(run);
            }
            // The next call makes up for it, so this is not yet a loss.
            Err(error) => run.remarks.push(format!("the archive could not keep up: {error}")),
        }
    }

    /// One phase, with the quiet windows around it.
    fn phase(
        &mut self,
        run: &mut Run,
        index: usize,
        window: &mut Option<QuietWindow>,
        partial: &mut Option<Partial>,
    ) -> Result<(), Failure> {
        let plan = run.plan.phases[index].clone();
        if plan.skip.is_some() {
            self.judge(run, index, None, &[], Disturbance::default());
            return Ok(());
        }
        let windows = plan.measures_target();
        if windows && window.is_none() {
            *window = self.quiet(run);
        }
        let plan = self.without_passed(plan);
        if !self.grouped.start(run, self.rig, &plan) {
            return Err(Failure::invalid("the group ended before this phase"));
        }
        self.listener.on_event(Event::PhaseBegins(&plan));
        let file = FileState::of_read(run, &plan);
        let step_before_ns = self.clock.step_ns();
        self.interrupts.take_continued();
        let (every, before) = (self.keeper.every, &run.samples);
        let mut keep = partial.as_mut().filter(|_| self.keeper.keeps(&plan)).map(|partial| {
            |intervals: &[Interval], samples: &[SystemSample]| {
                partial.phase_grows(&plan.name, before, intervals, samples).map_err(|e| e.to_string())
            }
        });
        let keeping = keep.as_mut().map(|keep| Keeping { every, keep });
        let (record, Observation { samples, no_thread, kept }) =
            observed(self.rig, self.sampler.as_deref_mut(), self.control, self.listener, keeping, |rig| {
                rig.run(&plan, self.control)
            });
        self.listener.on_event(Event::PhaseEnds);
        run.remarks.extend(self.keeper.remarks(&plan.name, &kept));
        self.note_missing_thread(run, no_thread);
        // Only what the clock did during this phase speaks against it.
        let disturbance = Disturbance {
            clock_step_ns: Some(self.clock.step_ns().abs_diff(step_before_ns)),
            process_stopped: self.interrupts.take_continued(),
            kept_bytes: self.keeper.on_measured_disks(&kept),
        };
        run.samples.extend(samples.iter().cloned());
        let mut record = record?;
        let now = self.rig.now();
        if let (Some(cold), [first, .., last]) = (&mut record.cold, samples.as_slice()) {
            cold.device_read_bytes =
                traffic(first, last, &self.disks).map(|t| t.read_bytes).or_else(|| read_from_server(first, last));
        }
        match record.stop {
            StopCause::Failed if only_unsupported(&plan, &record) => {}
            StopCause::Failed => run.state = RunState::Failed,
            StopCause::Interrupted => run.state = RunState::Interrupted,
            StopCause::TimeUsed | StopCause::Steady | StopCause::DepthFound | StopCause::RegionDone => {}
        }
        self.grouped.done(run, &record, now);
        if windows {
            record.quiet_before = window.take();
            if run.state == RunState::Complete {
                self.listener.on_event(Event::SettleBegins);
                let settled = self.rig.flush();
                self.listener.on_event(Event::SettleEnds);
                match settled {
                    Ok(()) => {
                        self.grouped.settled(run);
                        *window = self.quiet(run);
                        record.quiet_after = *window;
                    }
                    Err(failure) => {
                        run.state = RunState::Failed;
                        run.remarks.push(failure.to_string());
                    }
                }
            }
        }
        self.judge(run, index, Some(record), &samples, disturbance);
        if let (Some(reason), Some(phase)) = (file.and_then(|f| f.changed_since(run)), run.phases.last_mut()) {
            phase.reasons.push(reason);
        }
        Ok(())
    }

    /// The phase as it is at this moment of its run.
    fn without_passed(&mut self, plan: PhasePlan) -> PhasePlan {
        if plan.kind == PhaseKind::Layout {
            return plan;
        }
        let now = self.rig.now();
        plan.resumed_after(now.saturating_sub(*self.began_ns.get_or_insert(now)))
    }

    /// Said once a run: it is so in all its phases.
    fn note_missing_thread(&self, run: &mut Run, refused: Option<std::io::Error>) {
        const WHAT: &str = "the machine was looked at only before and after each phase, not during it";
        if let Some(error) = refused
            && !run.environment.missing.iter().any(|m| m.starts_with(WHAT))
        {
            let reason = format!("{WHAT}, and no phase is shown or kept before its end: no thread for it ({error})");
            run.environment.missing.push(format!("{reason}; {}", engine::NO_THREAD_REMEDY));
        }
    }

    /// Says nothing to the target for a moment and sees what others say.
    fn quiet(&mut self, run: &mut Run) -> Option<QuietWindow> {
        if self.disks.is_empty() || run.plan.quiet_ns == 0 {
            return None;
        }
        let before = sample(self.rig, self.sampler.as_deref_mut())?;
        self.rig.idle(run.plan.quiet_ns, self.control);
        let after = sample(self.rig, self.sampler.as_deref_mut())?;
        let window = quiet_window(&before, &after, &self.disks);
        run.samples.extend([before, after]);
        self.others.windows.extend(window);
        if self.sampler.is_some() {
            self.others.look();
        }
        window
    }

    fn judge(
        &mut self,
        run: &mut Run,
        index: usize,
        record: Option<model::PhaseRecord>,
        samples: &[SystemSample],
        disturbance: Disturbance,
    ) {
        let plan = run.plan.phases[index].clone();
        let group = self.grouped.judged();
        let context = judge::Context {
            target: run.target.kind,
            stack: &run.target.stack,
            samples,
            at_start: run.samples.first(),
            memory_bytes_per_s: run.metric_of_work(Work::MemoryCopy, "throughput_bytes_per_s").and_then(|m| m.value),
            clock_step_ns: disturbance.clock_step_ns,
            process_stopped: disturbance.process_stopped,
            kept_bytes: disturbance.kept_bytes,
            windows: &self.others.windows,
            sequential_bytes_per_s: sequential(run),
            others: &self.others.moved,
            group: group.as_ref(),
        };
        let judged = judge::judge_phase(&plan, record.as_ref(), &context);
        run.phases.push(PhaseRun {
            plan,
            status: judged.status,
            reasons: judged.reasons,
            steady: judged.steady,
            changes: judged.changes,
            metrics: judged.metrics,
            record,
        });
    }

    /// What concerns the run as a whole, kept up to date in case this is the last phase.
    fn bookkeeping(&mut self, run: &mut Run) {
        self.kernel_log.drain();
        run.kernel_log = match &self.kernel_log {
            KernelLog::Open(_, lines) => Some(lines.all()),
            KernelLog::Closed(_) => None,
        };
        run.duration_ns = self.rig.now();
        run.bytes_written = self.rig.bytes_written();
    }

    fn conclude(&mut self, run: &mut Run) {
        self.bookkeeping(run);
        if self.sampler.is_some() {
            observe::note_limits_of_run(&observe::Root::new("/"), &mut run.target.stack);
        }
        if let KernelLog::Closed(Some(reason)) = &self.kernel_log
            && !run.environment.missing.contains(reason)
        {
            run.environment.missing.push(reason.clone());
        }
        if let Some(session) = run.sessions.last_mut() {
            session.ended = Some(WallClock::now());
            session.clock_step_ns = Some(self.clock.step_ns());
        }
    }
}

/// Bytes that the replies of a server brought, those of NFS with their headers: what a client has not cached. The server's own cache is not seen.
fn read_from_server(before: &SystemSample, after: &SystemSample) -> Option<u64> {
    let of_nfs = |sample: &SystemSample| sample.nfs.iter().find(|o| o.name == "READ").map(|o| o.bytes_received);
    let of_smb = |sample: &SystemSample| path_counter_value(&sample.path, path_counter::SMB_BYTES_READ);
    let read = |sample| of_nfs(sample).or_else(|| of_smb(sample));
    let after = read(after)?;
    after.checked_sub(read(before).unwrap_or(0))
}

fn nothing_measured(state: RunState) -> Failure {
    match state {
        RunState::Interrupted => Failure::invalid("interrupted before anything was measured"),
        _ => Failure::invalid("nothing could be measured").remedy("a larger --budget"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{NfsCounters, PathCounter};

    #[test]
    fn what_a_server_sent_is_counted_by_either_client() {
        let nfs = |bytes_received| SystemSample {
            nfs: vec![NfsCounters { name: "READ".into(), bytes_received, ..NfsCounters::default() }],
            ..SystemSample::default()
        };
        let smb = |value| SystemSample {
            path: vec![PathCounter { name: path_counter::SMB_BYTES_READ.into(), value }],
            ..SystemSample::default()
        };
        let none = SystemSample::default();
        assert_eq!(read_from_server(&nfs(5), &nfs(12)), Some(7));
        assert_eq!(read_from_server(&none, &nfs(12)), Some(12), "nothing was read before");
        assert_eq!(read_from_server(&smb(100), &smb(164)), Some(64));
        assert_eq!(read_from_server(&smb(100), &smb(64)), None, "it was mounted anew");
        assert_eq!(read_from_server(&none, &none), None);
    }
}
