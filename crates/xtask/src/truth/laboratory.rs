//! Simulated devices under the plan of `check` or of a workload, in simulated time, without an archive.

use super::scenario::{Dress, Plan as Wanted};
use anyhow::{Context as _, anyhow};
use engine::{Control, Rig, SimRig};
use model::{
    Access, BlockPlan, IoPath, NS_PER_S, Operation, PhaseKind, PhaseRun, Plan, QuietWindow, Run, RunState, SimModel,
    StopCause, StreamPlan, SystemSample, Target, TargetKind, Work, quiet_window, traffic,
};
use spec::{Probe, Readiness, RunInputs};

const INTERVAL_NS: u64 = NS_PER_S / 10;

/// The plan of a check of this model.
pub fn check_plan(model: &SimModel, budget_s: u64, seed: u64) -> anyhow::Result<Plan> {
    let rig = SimRig::new(model.clone(), INTERVAL_NS);
    let probe = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            block_size_bytes: 1 << 20,
            region_bytes: 32 << 20,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: 8, ..IoPath::default() },
        ..StreamPlan::default()
    };
    let workload = spec::built_in("check", &[("budget".to_owned(), format!("{budget_s}s"))])
        .map_err(|e| anyhow!("a check of {budget_s} s: {e:?}"))?;
    let bytes_per_s = Some(model.truth(&probe, Access::Direct, 0).bytes_per_s);
    Ok(workload.plan(&inputs(&rig, seed, Probe { bytes_per_s, ..Probe::default() }))?)
}

fn inputs(rig: &SimRig, seed: u64, probe: Probe) -> RunInputs {
    RunInputs {
        kind: TargetKind::Sim,
        readiness: Readiness::Writable,
        max_bytes: rig.max_bytes(),
        sector_bytes: 512,
        memory_bytes: None,
        seed,
        probe,
    }
}

fn plan(model: &SimModel, wanted: &Wanted, seed: u64) -> anyhow::Result<Plan> {
    let name = match wanted {
        Wanted::Check { budget_s } => return check_plan(model, *budget_s, seed),
        Wanted::Workload(name) => name,
    };
    let workloads = spec::workloads();
    let workload = workloads.iter().find(|w| w.name() == *name).with_context(|| format!("no workload {name}"))?;
    Ok(workload.plan(&inputs(&SimRig::new(model.clone(), INTERVAL_NS), seed, Probe::default()))?)
}

/// Executes the plan on the model; `dress` changes what the machine shows of itself, not what it does.
pub fn run(model: SimModel, wanted: &Wanted, dress: &Dress, seed: u64) -> anyhow::Result<Run> {
    let plan = plan(&model, wanted, seed)?;
    let mut bench = Bench { rig: SimRig::new(model, INTERVAL_NS), dress: *dress, disks: Vec::new() };
    let mut target = Target {
        name: format!("sim:{}", bench.rig.model().name),
        kind: TargetKind::Sim,
        path: None,
        size_bytes: Some(bench.rig.max_bytes()),
        writable: true,
        stack: bench.rig.stack(),
    };
    let mut environment = bench.rig.environment();
    if let Some(path) = dress.path {
        path(&mut target.stack, &mut environment);
    }
    bench.disks = target.stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
    let mut run = Run {
        schema: Run::SCHEMA.to_owned(),
        id: "20260101T000000Z-00000000".to_owned(),
        command: if plan.name == "check" { "check" } else { "run" }.to_owned(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        state: RunState::Complete,
        plan,
        environment,
        target,
        sessions: Vec::new(),
        experiment: None,
        duration_ns: 0,
        bytes_written: 0,
        remarks: Vec::new(),
        phases: Vec::new(),
        samples: Vec::new(),
        kernel_log: None,
    };
    let mut window = None;
    for index in 0..run.plan.phases.len() {
        if run.state != RunState::Complete {
            run.plan.phases[index].skip = Some("the target failed before".to_owned());
        }
        if matches!(wanted, Wanted::Check { .. }) {
            let left = run.plan.budget_ns.saturating_sub(bench.rig.now());
            spec::fit_to_remaining(&mut run.plan, index, left);
        }
        bench.phase(&mut run, index, &mut window)?;
    }
    run.duration_ns = bench.rig.now();
    run.bytes_written = bench.rig.bytes_written();
    Ok(run)
}

struct Bench {
    rig: SimRig,
    dress: Dress,
    disks: Vec<String>,
}

impl Bench {
    fn sample(&mut self) -> Option<SystemSample> {
        let mut sample = self.rig.simulated_sample()?;
        self.dress(std::slice::from_mut(&mut sample));
        Some(sample)
    }

    fn dress(&self, samples: &mut [SystemSample]) {
        if let Some(observed) = self.dress.observed {
            samples.iter_mut().for_each(observed);
        }
    }

    /// Says nothing for a moment and looks who does.
    fn quiet(&mut self, run: &mut Run, control: &Control) -> Option<QuietWindow> {
        let before = self.sample()?;
        self.rig.idle(run.plan.quiet_ns, control);
        let after = self.sample()?;
        let window = quiet_window(&before, &after, &self.disks);
        run.samples.extend([before, after]);
        window
    }

    fn phase(&mut self, run: &mut Run, index: usize, window: &mut Option<QuietWindow>) -> anyhow::Result<()> {
        let control = Control::default();
        let plan = run.plan.phases[index].clone();
        let (mut record, mut samples) = (None, Vec::new());
        if plan.skip.is_none() {
            let windows = plan.kind == PhaseKind::Measure && run.plan.quiet_ns > 0;
            if windows && window.is_none() {
                *window = self.quiet(run, &control);
            }
            // Those of the silence before would stand out of order.
            drop(self.rig.take_simulated_samples());
            samples.extend(self.sample());
            let done = self.rig.run(&plan, &control);
            let mut between = self.rig.take_simulated_samples();
            self.dress(&mut between);
            samples.extend(between);
            samples.extend(self.sample());
            run.samples.extend(samples.iter().cloned());
            match done {
                Ok(mut done) => {
                    if let (Some(cold), [first, .., last]) = (&mut done.cold, samples.as_slice()) {
                        cold.device_read_bytes = traffic(first, last, &self.disks).map(|t| t.read_bytes);
                    }
                    if done.stop == StopCause::Failed {
                        run.state = RunState::Failed;
                    }
                    if windows {
                        done.quiet_before = window.take();
                        if run.state == RunState::Complete {
                            self.rig.settle().map_err(|e| anyhow!("{e}"))?;
                            *window = self.quiet(run, &control);
                            done.quiet_after = *window;
                        }
                    }
                    if let Some(change) = self.dress.recorded {
                        change(&mut done);
                    }
                    record = Some(done);
                }
                Err(failure) => run.plan.phases[index].skip = Some(failure.to_string()),
            }
        }
        let plan = run.plan.phases[index].clone();
        let judged = judge::judge_phase(
            &plan,
            record.as_ref(),
            &judge::Context {
                target: run.target.kind,
                stack: &run.target.stack,
                samples: &samples,
                at_start: run.samples.first(),
                memory_bytes_per_s: run.metric_doing(Work::MemoryCopy, "throughput_bytes_per_s").and_then(|m| m.value),
                clock_step_ns: None,
                process_stopped: false,
                kept_bytes: 0,
            },
        );
        run.phases.push(PhaseRun {
            plan,
            status: judged.status,
            reasons: judged.reasons,
            steady: judged.steady,
            metrics: judged.metrics,
            changes: judged.changes,
            record,
        });
        Ok(())
    }
}
