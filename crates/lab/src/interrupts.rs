//! Ctrl-C, SIGTERM and SIGHUP end whatever is going on: emulators and other programs are ended, files of the session removed.

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Interrupted by a signal.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; nothing that was started runs any more")]
pub struct Interrupted;

/// Whether one has come, and which it was.
struct StudyCheck {
    any: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

static SEEN: OnceLock<StudyCheck> = OnceLock::new();

/// Installs the handlers; a second signal ends this process at once, and the emulators with it.
///
/// # Errors
/// The system refuses.
pub fn install() -> anyhow::Result<()> {
    let seen = SEEN.get_or_init(|| StudyCheck { any: Arc::default(), number: Arc::default() });
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen.any))
            .and_then(|_| signal_hook::flag::register_usize(signal, Arc::clone(&seen.number), signal as usize))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&seen.any)))
            .with_context(|| format!("cannot install a handler for signal {signal}"))?;
    }
    Ok(())
}

/// Whether one has come.
pub fn is_interrupted() -> bool {
    SEEN.get().is_some_and(|seen| seen.any.load(Ordering::Relaxed))
}

/// As what an interrupted command ends: as a shell shows a program that the signal has killed.
pub fn exit_code() -> i32 {
    let number = SEEN.get().map_or(0, |seen| seen.number.load(Ordering::Relaxed));
    128 + i32::try_from(number).ok().filter(|n| *n > 0).unwrap_or(SIGINT)
}

/// # Errors
/// [`Interrupted`], if a signal has come.
pub fn check() -> Result<(), Interrupted> {
    if is_interrupted() { Err(Interrupted) } else { Ok(()) }
}
