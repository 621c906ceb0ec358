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
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3} %  {wide_msg}") {
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
        let planned_ms = self.bar.length().unwrap_or(0);
        let left_ms = planned_ms.saturating_sub(phase.before_ms + elapsed_ms.min(phase.limit_ms));
        // The time first: on a narrow terminal the end of the line is cut.
        self.bar.set_message(format!(
            "{} left  {}  {}",
            time_left(left_ms),
            phase.name,
            report::quantity::progress(operations, bytes, elapsed_ms)
        ));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Whole seconds, rounded up: reads may end early, so it is at most this.
fn time_left(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    if seconds < 60 { format!("{seconds} s") } else { format!("{}:{:02} min", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::time_left;

    #[test]
    fn time_left_is_never_less_than_it_is() {
        assert_eq!(time_left(0), "0 s");
        assert_eq!(time_left(1), "1 s");
        assert_eq!(time_left(59_001), "1:00 min");
        assert_eq!(time_left(125_000), "2:05 min");
    }
}
