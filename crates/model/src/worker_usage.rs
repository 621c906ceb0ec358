//! What a worker costs.

use crate::Ns;
use serde::{Deserialize, Serialize};

/// CPU that a worker used, from getrusage(RUSAGE_THREAD).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerUsage {
    /// User time.
    pub user_ns: Ns,
    /// System time.
    pub system_ns: Ns,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Time that it could have run and waited for a CPU, from /proc/thread-self/schedstat; `None` if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_ns: Option<Ns>,
}

impl WorkerUsage {
    /// Nothing used, of no worker yet.
    pub const NONE: Self =
        Self { user_ns: 0, system_ns: 0, voluntary_switches: 0, involuntary_switches: 0, cpu_wait_ns: Some(0) };

    /// Both together; what is not known of one is not known of the sum.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_add(other.user_ns),
            system_ns: self.system_ns.saturating_add(other.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_add(other.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_add(other.involuntary_switches),
            cpu_wait_ns: self.cpu_wait_ns.zip(other.cpu_wait_ns).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// What came after `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            cpu_wait_ns: self.cpu_wait_ns.zip(earlier.cpu_wait_ns).map(|(a, b)| a.saturating_sub(b)),
        }
    }
}
