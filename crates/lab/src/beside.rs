//! The guests beside a machine, as its session knows them: whether they are ready or failed, and that they end with it.

use super::console::Stage;
use anyhow::bail;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What the session and the thread of a guest know of each other.
#[derive(Debug, Default)]
pub struct Shared {
    is_ready: AtomicBool,
    is_to_end: AtomicBool,
    failure: Mutex<Option<anyhow::Error>>,
}

impl Shared {
    /// How far the guest is; whether it is to end.
    pub fn look(&self, stage: Stage) -> bool {
        if stage == Stage::Running {
            self.is_ready.store(true, Ordering::Release);
        }
        self.is_to_end.load(Ordering::Acquire)
    }

    /// Whether the session asked for its end.
    pub fn is_to_end(&self) -> bool {
        self.is_to_end.load(Ordering::Acquire)
    }

    /// The first failure counts.
    pub fn fail(&self, error: anyhow::Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn end(&self) {
        self.is_to_end.store(true, Ordering::Release);
    }
}

struct Guest {
    name: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The guests beside a machine, from their start on; dropped, they end.
#[derive(Default)]
pub struct GuestsBeside {
    guests: Vec<Guest>,
}

impl GuestsBeside {
    /// One that was started.
    pub fn add(&mut self, name: String, shared: Arc<Shared>, thread: JoinHandle<()>) {
        self.guests.push(Guest { name, shared, thread: Some(thread) });
    }

    /// # Errors
    /// What became of the first that failed.
    pub fn check(&self) -> anyhow::Result<()> {
        for guest in &self.guests {
            if let Some(error) = guest.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(error);
            }
            let is_gone = guest.thread.as_ref().is_none_or(JoinHandle::is_finished);
            if is_gone && !guest.shared.is_to_end.load(Ordering::Acquire) {
                // Looked at again: the thread may have failed since.
                let failure = guest.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                return Err(failure.unwrap_or_else(|| anyhow::anyhow!("{}: its thread is gone", guest.name)));
            }
        }
        Ok(())
    }

    /// Names of those that are not ready.
    pub fn not_ready(&self) -> Vec<&str> {
        let late = self.guests.iter().filter(|guest| !guest.shared.is_ready.load(Ordering::Acquire));
        late.map(|guest| guest.name.as_str()).collect()
    }

    /// Ends one as a power failure does: its emulator is killed.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn end(&self, name: &str) -> anyhow::Result<()> {
        let Some(guest) = self.guests.iter().find(|guest| guest.name == name) else {
            bail!("there is no guest '{name}' to end");
        };
        guest.shared.end();
        Ok(())
    }
}

impl Drop for GuestsBeside {
    fn drop(&mut self) {
        self.guests.iter().for_each(|guest| guest.shared.end());
        for guest in &mut self.guests {
            // A thread that panicked has dropped its emulator.
            let _ = guest.thread.take().map(JoinHandle::join);
        }
    }
}
