//! How much memory this program may still take: what the machine has, or what its control group or its own limits leave.

use crate::root::Root;

/// MemAvailable of the machine, or what is left below the nearest limit of a control group or of the process (`ulimit -v`,
/// `-d`), whichever is less. A container with 64 MiB on a machine with 64 GiB is killed if it believes /proc/meminfo.
pub fn memory_available(root: &Root) -> Option<u64> {
    [machine(root), control_group(root), process(root)].into_iter().flatten().min()
}

/// What RLIMIT_AS and RLIMIT_DATA leave (getrlimit(2); /proc/PID/limits and status, proc(5)).
fn process(root: &Root) -> Option<u64> {
    let (limits, status) = (root.text("/proc/self/limits")?, root.text("/proc/self/status")?);
    let left = |limit: &str, used: &str| -> Option<u64> {
        // `unlimited` is no number.
        let soft = limits.lines().find_map(|l| l.strip_prefix(limit))?.split_ascii_whitespace().next()?;
        let used = status.lines().find_map(|l| l.strip_prefix(used))?.split_ascii_whitespace().next()?;
        Some(soft.parse::<u64>().ok()?.saturating_sub(used.parse::<u64>().ok()?.checked_mul(1_024)?))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
}

fn machine(root: &Root) -> Option<u64> {
    let text = root.text("/proc/meminfo")?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1_024)
}

/// The least that any group from ours up to the root leaves. Version 1 keeps memory in a hierarchy of its own
/// (k:Documentation/admin-guide/cgroup-v1/memory.rst), version 2 in the only one (cgroup-v2.rst).
fn control_group(root: &Root) -> Option<u64> {
    least_of_groups(root, headroom)
}

/// The least limit of any group from ours up to the root; `None` without one below what the machine has.
pub(crate) fn group_limit(root: &Root) -> Option<u64> {
    let limit = least_of_groups(root, |root, group, limit, _| root.number(&format!("{group}/{limit}")))?;
    crate::machine::memory_bytes(root).is_none_or(|all| limit < all).then_some(limit)
}

/// What a group says, given its directory and the names of its files of limit and usage.
type OfGroup = fn(&Root, &str, &str, &str) -> Option<u64>;

fn least_of_groups(root: &Root, of: OfGroup) -> Option<u64> {
    let groups = root.text("/proc/self/cgroup")?;
    groups.lines().filter_map(|line| of_hierarchy(root, line, of)).min()
}

fn of_hierarchy(root: &Root, line: &str, of: OfGroup) -> Option<u64> {
    // ID:CONTROLLERS:PATH (cgroups(7)).
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (base, limit, usage) = if controllers.is_empty() {
        ("/sys/fs/cgroup", "memory.max", "memory.current")
    } else if controllers.split(',').any(|c| c == "memory") {
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
    } else {
        return None;
    };
    // In a container the path may be that of the host, while the group itself is mounted at the base.
    let mut path = path.trim_end_matches('/');
    let mut least = None;
    loop {
        if let Some(value) = of(root, &format!("{base}{path}"), limit, usage) {
            least = Some(least.map_or(value, |l: u64| l.min(value)));
        }
        match path.rsplit_once('/') {
            Some((above, _)) => path = above,
            None => return least,
        }
    }
}

fn headroom(root: &Root, group: &str, limit: &str, usage: &str) -> Option<u64> {
    // `max` is no number: no limit. Version 1 writes a number near 2^63 for that, which no machine falls below.
    let limit: u64 = root.text(&format!("{group}/{limit}"))?.trim().parse().ok()?;
    let used: u64 = root.text(&format!("{group}/{usage}"))?.trim().parse().ok()?;
    // Pages of the page cache count as used, but go when memory is asked for.
    let cached = root.text(&format!("{group}/memory.stat")).map_or(0, |stat| {
        let of = |name: &str| -> Option<u64> {
            stat.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '))?.trim().parse().ok()
        };
        ["inactive_file", "active_file"].into_iter().filter_map(of).sum()
    });
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}
