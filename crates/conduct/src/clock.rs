//! The wall clock, as text, and how far it stepped against the monotonic clock.

use model::Failure;
use std::time::{Instant, SystemTime};

/// A moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    wall: SystemTime,
    monotonic: Instant,
}

/// RFC 3339 in UTC to the second.
fn rfc3339(at: SystemTime) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn timestamp(at: SystemTime) -> jiff::Timestamp {
    jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

impl WallClock {
    /// Both clocks at this moment.
    pub fn start() -> Self {
        Self { wall: SystemTime::now(), monotonic: Instant::now() }
    }

    /// The start in RFC 3339, UTC.
    pub fn started(&self) -> String {
        rfc3339(self.wall)
    }

    /// Now in RFC 3339, UTC.
    pub fn now() -> String {
        rfc3339(SystemTime::now())
    }

    /// Now in RFC 3339, UTC, to the millisecond, and the same in milliseconds since 1970.
    pub fn stamp() -> (String, i64) {
        let now = timestamp(SystemTime::now());
        (now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(), now.as_millisecond())
    }

    /// The start as it stands in ids: `20261120T213000Z`.
    pub fn compact(&self) -> String {
        timestamp(self.wall).strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// The id of a run that starts then; `random` keeps machines apart that start one at the same moment.
    pub fn run_id(&self, random: u16) -> String {
        let since = timestamp(self.wall).subsec_nanosecond().unsigned_abs();
        // Below 2^16, as nanoseconds within a second are below 10^9.
        let fraction = (u64::from(since) << 16) / 1_000_000_000;
        archive::run_id(&self.compact(), fraction as u16, random)
    }

    /// How far the wall clock has moved away from the monotonic one since the start: a step, or slewing.
    pub fn step_ns(&self) -> u64 {
        let expected = self.wall + self.monotonic.elapsed();
        let now = SystemTime::now();
        let difference = now.duration_since(expected).unwrap_or_else(|e| e.duration());
        u64::try_from(difference.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A number nobody can foresee.
///
/// # Errors
/// The kernel gives none.
pub fn random_u64() -> Result<u64, Failure> {
    sys::random_u64().map_err(|e| Failure::environment(format!("no random numbers from the kernel: {e}")))
}
