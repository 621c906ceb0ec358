//! Ctrl-C, SIGHUP and SIGTERM end the phase that runs; what was measured is kept. A second one ends the program.

use engine::Control;
use model::{Failure, FailureKind};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a second signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondSignal {
    /// The program ends at once.
    Ends,
    /// Nothing more than the first: settings are being put back.
    Waits,
}

/// Installed handlers and what they have seen.
pub struct Signals {
    seen: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers. The first signal stops `control`; nothing needs to be cleaned up for the second one, as
    /// temporary files have no name and locks belong to the process.
    pub fn install(control: &Arc<Control>) -> Result<Self, Failure> {
        Self::install_with(control, SecondSignal::Ends)
    }

    /// As [`Self::install`], with the second signal doing something else.
    pub fn install_with(control: &Arc<Control>, second: SecondSignal) -> Result<Self, Failure> {
        let seen = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGHUP, SIGTERM] {
            let install = || -> std::io::Result<()> {
                if second == SecondSignal::Ends {
                    signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))?;
                }
                signal_hook::flag::register(signal, Arc::clone(&seen))?;
                signal_hook::flag::register(signal, control.stop_flag())?;
                Ok(())
            };
            install().map_err(|e| {
                Failure::new(FailureKind::Environment, format!("cannot install a handler for signal {signal}: {e}"))
            })?;
        }
        // That the process was stopped can only be told when it goes on.
        let continued = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGCONT, Arc::clone(&continued)).map_err(|e| {
            Failure::new(FailureKind::Environment, format!("cannot install a handler for SIGCONT: {e}"))
        })?;
        Ok(Self { seen, continued })
    }

    /// Whether the process was continued since this was last asked: it had been stopped, by SIGSTOP or Ctrl-Z.
    pub fn take_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// Whether one has come.
    pub fn seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }
}
