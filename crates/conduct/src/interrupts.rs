//! That somebody wants an execution to end. Handlers of signals set it; nothing here installs one.

use engine::Control;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::SignalMaskGuard;

/// What was asked of the process while it executes.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    end: Arc<AtomicBool>,
    hurry: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
    /// Numbers of signals that a thread of its own takes.
    taken_by_thread: Vec<i32>,
}

impl Interrupts {
    /// With a thread that takes these signals: they do not come to the thread that executes, which may wait for a device
    /// where nothing wakes it.
    pub fn with_signal_thread(self, signals: &[i32]) -> Self {
        Self { taken_by_thread: signals.to_vec(), ..self }
    }

    /// Whether the end was asked for. What was measured is kept.
    pub fn end(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether it was asked for again: commands that put settings back have only a moment.
    pub fn asked_twice(&self) -> bool {
        self.hurry.load(Ordering::Relaxed)
    }

    /// Whether the process was continued since this was last asked: it had been stopped, by SIGSTOP or Ctrl-Z.
    pub fn take_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// The flag of [`Self::end`]. Whoever sets it stops the phase too ([`Control::stop_flag`]).
    pub fn end_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.end)
    }

    /// The flag of [`Self::asked_twice`].
    pub fn second_signal_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.hurry)
    }

    /// The flag of [`Self::take_continued`].
    pub fn continued_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.continued)
    }

    /// Asks for the end, as a signal does.
    pub fn ask(&self, control: &Control) {
        self.end.store(true, Ordering::Relaxed);
        control.stop();
    }

    /// While it lives, the signals that another thread takes do not come to the calling one.
    pub fn mask_signals(&self) -> Option<SignalMaskGuard> {
        // Without it a signal comes late where a device hangs, as it would without this.
        (!self.taken_by_thread.is_empty()).then(|| SignalMaskGuard::new(&self.taken_by_thread).ok()).flatten()
    }
}
