//! Progress on stderr, on a terminal only.

use engine::Control;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{PhasePlan, Plan};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// A bar over the whole plan, with the rate of the phase that runs.
pub struct Progress {
    bar: ProgressBar,
    phase: Mutex<PhaseShown>,
}

#[derive(Default)]
struct PhaseShown {
    name: String,
    /// Planned time of the phases before this one, milliseconds.
    before_ms: u64,
    limit_ms: u64,
}

impl Progress {
    /// Hidden where nobody looks.
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} %  {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar, phase: Mutex::new(PhaseShown::default()) }
    }

    /// The plan is about to be executed.
    pub fn start(&self, plan: &Plan) {
        self.bar.set_length(plan.phases.iter().filter(|p| p.skip.is_none()).map(|p| p.time_limit_ns / 1_000_000).sum());
    }

    /// A phase starts.
    pub fn phase(&self, _index: usize, plan: &PhasePlan) {
        if let Ok(mut phase) = self.phase.lock() {
            phase.before_ms += phase.limit_ms;
            phase.limit_ms = plan.time_limit_ns / 1_000_000;
            phase.name.clone_from(&plan.name);
            self.bar.set_position(phase.before_ms);
            self.bar.set_message(phase.name.clone());
        }
    }

    /// Shows where the phase is.
    pub fn show(&self, control: &Control) {
        if self.bar.is_hidden() {
            return;
        }
        let Ok(phase) = self.phase.lock() else { return };
        let elapsed_ms = control.progress.elapsed_ns.load(Ordering::Relaxed) / 1_000_000;
        let bytes = control.progress.bytes.load(Ordering::Relaxed);
        let operations = control.progress.operations.load(Ordering::Relaxed);
        self.bar.set_position(phase.before_ms + elapsed_ms.min(phase.limit_ms));
        self.bar.set_message(format!("{}  {}", phase.name, report::quantity::progress(operations, bytes, elapsed_ms)));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
