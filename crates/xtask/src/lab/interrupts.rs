//! Ctrl-C, SIGTERM and SIGHUP end whatever is going on: emulators are ended, files of the session removed.

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static SEEN: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs the handlers; a second signal ends this process at once, and the emulators with it.
///
/// # Errors
/// The system refuses.
pub fn install() -> anyhow::Result<()> {
    let seen = SEEN.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(seen))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(seen)))
            .with_context(|| format!("cannot install a handler for signal {signal}"))?;
    }
    Ok(())
}

/// Whether one has come.
pub fn seen() -> bool {
    SEEN.get().is_some_and(|seen| seen.load(Ordering::Relaxed))
}
