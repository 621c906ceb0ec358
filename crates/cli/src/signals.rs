//! Ctrl-C, SIGHUP and SIGTERM end the phase that runs; what was measured is kept. A second one ends the program, at once or
//! after settings were put back.

use crate::waiting::Waiting;
use conduct::Interrupts;
use engine::Control;
use model::Failure;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Signals that follow one another faster are one wish: systemd sends SIGTERM, SIGCONT and SIGHUP together.
const TOGETHER: Duration = Duration::from_millis(150);

/// What a second signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondSignal {
    /// The program ends at once.
    Ends,
    /// What [`Signals::on_second`] is given: settings have to be put back before.
    Hurries,
}

/// What ends a command that measures, and what it waits for then.
pub struct Ending {
    /// Ends phases, and sees them.
    pub control: Arc<Control>,
    pub signals: Signals,
    pub interrupts: Interrupts,
    pub waiting: Arc<Waiting>,
}

impl Ending {
    /// Installs the handlers, and listens.
    pub fn install(second: SecondSignal) -> Result<Self, Failure> {
        let control = Arc::new(Control::default());
        let signals = Signals::install_with(&control, second)?;
        let waiting = Waiting::listen(&control, second == SecondSignal::Ends);
        let interrupts = signals.interrupts().clone().with_signal_thread(waiting.signals());
        Ok(Self { control, signals, interrupts, waiting })
    }
}

/// Installed handlers and what they have seen.
pub struct Signals {
    interrupts: Interrupts,
    /// The number of the last one; 0 where none has come.
    number: Arc<AtomicUsize>,
    /// A byte for each signal, where the second one does not end the program.
    each: Option<UnixStream>,
}

impl Signals {
    /// Installs the handlers, for a command that looks whether one has come.
    pub fn install() -> Result<Self, Failure> {
        Self::install_with(&Arc::new(Control::default()), SecondSignal::Ends)
    }

    /// Installs the handlers. The first signal stops `control`; nothing needs to be cleaned up for a second one that ends the
    /// program, as temporary files have no name and locks belong to the process.
    fn install_with(control: &Arc<Control>, second: SecondSignal) -> Result<Self, Failure> {
        let interrupts = Interrupts::default();
        let seen = interrupts.end_flag();
        let cannot = |e: std::io::Error| Failure::environment(format!("cannot install a handler for signals: {e}"));
        let pipe = match second {
            SecondSignal::Ends => None,
            SecondSignal::Hurries => Some(UnixStream::pair().map_err(cannot)?),
        };
        let number = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGHUP, SIGTERM] {
            let install = || -> std::io::Result<()> {
                if second == SecondSignal::Ends {
                    signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))?;
                }
                if let Some((_, write)) = &pipe {
                    signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
                }
                signal_hook::flag::register_usize(signal, Arc::clone(&number), signal as usize)?;
                signal_hook::flag::register(signal, Arc::clone(&seen))?;
                signal_hook::flag::register(signal, control.stop_flag())?;
                Ok(())
            };
            install().map_err(cannot)?;
        }
        // That the process was stopped can only be told when it goes on.
        signal_hook::flag::register(SIGCONT, interrupts.continued_flag())
            .map_err(|e| Failure::environment(format!("cannot install a handler for SIGCONT: {e}")))?;
        Ok(Self { interrupts, number, each: pipe.map(|(read, _)| read) })
    }

    /// What the signals ask for.
    pub fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    /// Once a second signal comes, [`Interrupts::asked_twice`] holds, and `act` is called in a thread of its own, as the one that it is
    /// to hurry may wait for a device for ever. Where no thread can be made, the first signal alone is obeyed.
    pub fn on_second(&self, act: impl FnOnce() + Send + 'static) {
        let Some(mut each) = self.each.as_ref().and_then(|e| e.try_clone().ok()) else { return };
        let hurry = self.interrupts.second_signal_flag();
        let wait = move || {
            let mut byte = [0];
            let mut first: Option<Instant> = None;
            while each.read_exact(&mut byte).is_ok() {
                if first.get_or_insert_with(Instant::now).elapsed() > TOGETHER {
                    hurry.store(true, Ordering::Relaxed);
                    return act();
                }
            }
        };
        let _ = std::thread::Builder::new().name("second signal".into()).spawn(wait);
    }

    /// The exit code by which shells tell that a signal ended a program: 130 after Ctrl-C, 143 after SIGTERM.
    pub fn exit_code(&self) -> Option<u8> {
        let number = u8::try_from(self.number.load(Ordering::Relaxed)).ok().filter(|n| *n > 0)?;
        128u8.checked_add(number)
    }

    /// Whether one has come.
    pub fn seen(&self) -> bool {
        self.interrupts.end()
    }
}
