//! The host layer: what of the machine bounds every path.

use crate::facts;
use crate::machine;
use crate::root::Root;
use crate::sampler::cpu_list;
use model::{Layer, LayerKind};

/// The last layer of every stack.
pub(crate) fn layer(root: &Root) -> Layer {
    let name = machine::model(root).or_else(|| root.text("/proc/sys/kernel/hostname"));
    let mut layer = Layer::new(LayerKind::Host, name.unwrap_or_else(|| "host".into()));
    let policies = machine::frequency_policies(root);
    let highest = |file: &str| policies.iter().filter_map(|p| root.number::<u64>(&format!("{p}/{file}"))).max();
    let governors = machine::governors(root);
    layer.set(facts::CPU_GOVERNORS, (!governors.is_empty()).then_some(governors));
    layer.set(facts::CPU_MAX_KHZ, highest("cpuinfo_max_freq"));
    layer.set(facts::CPU_LIMIT_KHZ, highest("scaling_max_freq"));
    // One set of tunables for all policies, or one for each.
    let io_is_busy = root
        .flag("/sys/devices/system/cpu/cpufreq/ondemand/io_is_busy")
        .or_else(|| policies.iter().find_map(|p| root.flag(&format!("{p}/ondemand/io_is_busy"))));
    layer.set(facts::IO_IS_BUSY, io_is_busy);
    if let Some(processors) = crate::cpu_quota::cpu_quota_cores(root) {
        layer.set(facts::CGROUP_CPU_PROCESSORS, processors);
    }
    if let Some(bytes) = crate::memory_limit::group_limit(root) {
        layer.set(facts::CGROUP_MEMORY_BYTES, bytes);
    }
    layer.set(facts::CPUS_ONLINE, Some(machine::cpus_online(root)).filter(|n| *n > 0));
    let lowest = |file: &str| policies.iter().filter_map(|p| root.number::<u64>(&format!("{p}/{file}"))).min();
    layer.set(facts::CPU_MIN_KHZ, lowest("scaling_min_freq"));
    let driver = policies.first().and_then(|p| root.text(&format!("{p}/scaling_driver")));
    layer.set(facts::CPU_FREQUENCY_DRIVER, driver);
    let models: Vec<String> = machine::cpus(root).into_iter().map(|m| format!("{} x {}", m.count, m.name)).collect();
    layer.set(facts::CPU_MODELS, (!models.is_empty()).then_some(models));
    layer.set(facts::CPU_TURBO, turbo(root));
    let idle = ["current_governor", "current_governor_ro"];
    let idle = idle.iter().find_map(|f| root.text(&format!("/sys/devices/system/cpu/cpuidle/{f}")));
    layer.set(facts::CPU_IDLE_GOVERNOR, idle);
    let nodes = root.text("/sys/devices/system/node/online").map(|t| cpu_list(&t).len() as u64);
    layer.set(facts::NUMA_NODES, nodes.filter(|n| *n > 0));
    layer.set(facts::THROTTLE_EVENTS, throttle_events(root));
    layer.set(facts::COOLING_ACTIVE, cooling(root));
    layer.set(facts::KERNEL_RELEASE, root.text("/proc/sys/kernel/osrelease"));
    layer.set(facts::ARCHITECTURE, root.text("/proc/sys/kernel/arch"));
    layer.set(facts::KERNEL_COMMAND_LINE, root.text("/proc/cmdline"));
    layer.set(facts::VIRTUALIZATION, machine::virtualization(root));
    layer.set(facts::MEMORY_BYTES, machine::memory_bytes(root));
    layer.set(facts::RASPBERRY_PI_THROTTLED, root.hex("/sys/devices/platform/soc/soc:firmware/get_throttled"));
    layer
}

/// intel_pstate says what is forbidden, other drivers what is allowed (k:Documentation/admin-guide/pm).
fn turbo(root: &Root) -> Option<bool> {
    let forbidden = root.flag("/sys/devices/system/cpu/intel_pstate/no_turbo");
    forbidden.map(|f| !f).or_else(|| root.flag("/sys/devices/system/cpu/cpufreq/boost"))
}

/// Counted for each core, and for the package on each of its cores: the largest count of a package stands for all of it.
fn throttle_events(root: &Root) -> Option<u64> {
    const CPU_LIMIT: usize = 1_024;
    let cpus = root.text("/sys/devices/system/cpu/online").map(|t| cpu_list(&t))?;
    let count =
        |cpu: u32, file: &str| root.number::<u64>(&format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{file}"));
    let mut cpus = cpus.into_iter().take(CPU_LIMIT).peekable();
    // One look is enough where the architecture has no such counters.
    count(*cpus.peek()?, "core_throttle_count")?;
    let both = cpus.map(|c| count(c, "core_throttle_count").max(count(c, "package_throttle_count")));
    both.flatten().max()
}

/// Cooling that slows something down: processors, devices, but no fans.
fn cooling(root: &Root) -> Option<Vec<String>> {
    const DEVICE_LIMIT: usize = 512;
    let base = "/sys/class/thermal";
    let devices: Vec<String> = root.list(base).into_iter().filter(|d| d.starts_with("cooling_device")).collect();
    if devices.is_empty() {
        return None;
    }
    let active = devices.iter().take(DEVICE_LIMIT).filter_map(|device| {
        let file = |name: &str| root.text(&format!("{base}/{device}/{name}"));
        let kind = file("type").filter(|k| !k.to_ascii_lowercase().contains("fan"))?;
        let state = file("cur_state").filter(|s| s != "0")?;
        Some(match file("max_state") {
            Some(most) => format!("{kind} {state} of {most}"),
            None => format!("{kind} {state}"),
        })
    });
    Some(active.collect())
}
