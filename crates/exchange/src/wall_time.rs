//! The run's place in wall-clock time, for formats that want seconds since 1970.

use jiff::Timestamp;
use model::{Ns, Run};

/// Start and end of a run by the wall clock; the epoch where the run does not tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallTime {
    started: Timestamp,
    ended: Timestamp,
}

impl WallTime {
    pub fn of(run: &Run) -> Self {
        let read = |text: &str| text.parse::<Timestamp>().ok();
        let started = run.sessions.first().and_then(|s| read(&s.started)).unwrap_or(Timestamp::UNIX_EPOCH);
        let ended = run.sessions.last().and_then(|s| read(s.ended.as_deref()?)).unwrap_or(started);
        Self { started, ended }
    }

    /// Milliseconds since 1970 at the start.
    pub fn started_ms(&self) -> u64 {
        u64::try_from(self.started.as_millisecond()).unwrap_or(0)
    }

    /// Milliseconds since 1970 at a moment of the run.
    pub fn at_ms(&self, since_start: Ns) -> u64 {
        self.started_ms().saturating_add(since_start / 1_000_000)
    }

    /// Milliseconds since 1970 at the end.
    pub fn ended_ms(&self) -> u64 {
        u64::try_from(self.ended.as_millisecond()).unwrap_or(0)
    }

    /// The end as ctime(3) writes it, in UTC.
    pub fn ended_ctime(&self) -> String {
        self.ended.strftime("%a %b %e %H:%M:%S %Y").to_string()
    }
}
