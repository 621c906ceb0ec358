//! The machine a run happened on.

use serde::{Deserialize, Serialize};

/// A group of equal processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuModel {
    /// As /proc/cpuinfo or the device tree names it.
    pub name: String,
    /// How many of them are online.
    pub count: u32,
}

/// What must be known of the machine to compare its runs with others. All may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub hostname: Option<String>,
    /// Board or system model (device tree model, DMI product).
    pub machine: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// `uname -m`.
    pub architecture: Option<String>,
    /// PRETTY_NAME of os-release.
    pub distribution: Option<String>,
    /// Processors by model.
    pub cpus: Vec<CpuModel>,
    /// Frequency governors in use, without repeats.
    pub governors: Vec<String>,
    /// Usable memory.
    pub memory_bytes: Option<u64>,
    /// Memory page size.
    pub page_size_bytes: Option<u64>,
    /// Boot id, which separates the boots of one machine.
    pub boot_id: Option<String>,
    /// Whether the kernel holds the wall clock to be synchronised (adjtimex status without STA_UNSYNC).
    pub clock_synchronised: Option<bool>,
    /// Clock source of the kernel, for example `tsc`.
    pub clock_source: Option<String>,
    /// Hypervisor or container that was recognised, for example `kvm`, `docker`.
    pub virtualization: Option<String>,
    pub kernel_command_line: Option<String>,
    /// Whether the run had root's rights.
    pub root: Option<bool>,
    /// `kernel.io_uring_disabled`: 0 allowed, 1 restricted, 2 forbidden.
    pub io_uring_disabled: Option<u32>,
    /// Limit of locked memory, bytes; `None` if unlimited or unknown.
    pub memlock_limit_bytes: Option<u64>,
    /// Writeback settings: vm.dirty_bytes, vm.dirty_ratio, vm.dirty_background_bytes, vm.dirty_background_ratio.
    pub dirty_settings: std::collections::BTreeMap<String, Option<i64>>,
    /// Why things are missing, and how to get them: `run as root to see kernel messages`.
    pub missing: Vec<String>,
}
