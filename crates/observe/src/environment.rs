//! The machine as the model's [`Environment`].

use crate::machine;
use crate::read_error::ReadError;
use crate::root::Root;
use model::Environment;
use std::collections::BTreeMap;

/// Settings of the writeback, from /proc/sys/vm (k:Documentation/admin-guide/sysctl/vm.rst).
const DIRTY_SETTINGS: [&str; 6] = [
    "dirty_bytes",
    "dirty_ratio",
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
];

/// All that the machine tells of itself. What it does not tell is `None`, and `missing` says how to get what matters.
pub fn environment(root: &Root) -> Environment {
    let mut missing = Vec::new();
    let kernel_setting = |name: &str| root.text(&format!("/proc/sys/kernel/{name}"));
    if !root.exists("/proc/self/mountinfo") {
        missing.push("/proc is not mounted (mount -t proc proc /proc): most of the machine stays unknown".to_owned());
    }
    if !root.exists("/sys/class") {
        missing.push("/sys is not mounted (mount -t sysfs sysfs /sys): the storage path stays unknown".to_owned());
    }
    let as_root = effective_uid(root).map(|uid| uid == 0);
    if as_root == Some(false) {
        missing.push("run as root to see kernel messages, debugfs and what other processes hold open".to_owned());
    }
    if root.read("/proc/pressure/io").is_err() {
        missing
            .push("the kernel has no pressure stall information; boot with psi=1 if it was built with it".to_owned());
    }
    let dirty_settings: BTreeMap<String, Option<i64>> = DIRTY_SETTINGS
        .iter()
        .map(|name| (format!("vm.{name}"), root.number(&format!("/proc/sys/vm/{name}"))))
        .collect();
    Environment {
        hostname: kernel_setting("hostname"),
        machine: machine::model(root),
        kernel: kernel_setting("osrelease"),
        // The file came with 6.1; before, what this program was built for is the best answer on the live machine.
        architecture: kernel_setting("arch").or_else(|| root.is_live().then(|| std::env::consts::ARCH.to_owned())),
        distribution: distribution(root),
        cpus: machine::cpus(root),
        governors: machine::governors(root),
        memory_bytes: machine::memory_bytes(root),
        page_size_bytes: page_size(root),
        boot_id: kernel_setting("random/boot_id"),
        clock_synchronised: clock_synchronised(root),
        clock_source: root.text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        virtualization: machine::virtualization(root),
        kernel_command_line: root.text("/proc/cmdline"),
        root: as_root,
        io_uring_disabled: root.number("/proc/sys/kernel/io_uring_disabled"),
        memlock_limit_bytes: memlock_limit(root),
        dirty_settings,
        missing,
    }
}

fn effective_uid(root: &Root) -> Option<u32> {
    let status = root.text("/proc/self/status")?;
    // Real, effective, saved, file system (proc_pid_status(5)).
    status.lines().find_map(|l| l.strip_prefix("Uid:"))?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The kernel is asked by a system call; a captured tree has its answer, if the capture was made by this program.
fn clock_synchronised(root: &Root) -> Option<bool> {
    let ask = || sys::clock_synchronised().map(|yes| vec![b'0' + u8::from(yes), b'\n']).ok_or(ReadError::Missing);
    match root.answer("clock-synchronised", ask).ok()?.first()? {
        b'0' => Some(false),
        b'1' => Some(true),
        _ => None,
    }
}

fn memlock_limit(root: &Root) -> Option<u64> {
    let limits = root.text("/proc/self/limits")?;
    let line = limits.lines().find_map(|l| l.strip_prefix("Max locked memory"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn page_size(root: &Root) -> Option<u64> {
    /// getauxval(3), k:include/uapi/linux/auxvec.h.
    const AT_PAGESZ: usize = 6;
    const WORD: usize = size_of::<usize>();
    let auxiliary = root.read("/proc/self/auxv").unwrap_or_default();
    let word = |bytes: &[u8]| bytes.try_into().ok().map(usize::from_ne_bytes);
    let pairs = auxiliary.chunks_exact(2 * WORD).map(|p| (word(&p[..WORD]), word(&p[WORD..])));
    let by_vector = pairs.into_iter().find(|(key, _)| *key == Some(AT_PAGESZ)).and_then(|(_, value)| value);
    by_vector.map(|v| v as u64).filter(|v| v.is_power_of_two()).or_else(|| {
        // A captured tree may be of a machine with another word size.
        let maps = root.text("/proc/self/smaps")?;
        let line = maps.lines().find_map(|l| l.strip_prefix("KernelPageSize:"))?;
        let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1_024)
    })
}

fn distribution(root: &Root) -> Option<String> {
    let text = root.text("/etc/os-release").or_else(|| root.text("/usr/lib/os-release"))?;
    let value = |key: &str| {
        let value = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix('='))?;
        let value = value.trim().trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}
