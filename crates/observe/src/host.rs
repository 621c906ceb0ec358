//! The host layer: what of the machine bounds every path.

use crate::facts;
use crate::machine;
use crate::root::Root;
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
    if let Some(processors) = crate::cpu_quota::granted(root) {
        layer.set(facts::CGROUP_CPU_PROCESSORS, processors);
    }
    layer.set(facts::CPUS_ONLINE, Some(machine::cpus_online(root)).filter(|n| *n > 0));
    layer.set(facts::MEMORY_BYTES, machine::memory_bytes(root));
    layer.set(facts::RASPBERRY_PI_THROTTLED, root.hex("/sys/devices/platform/soc/soc:firmware/get_throttled"));
    layer
}
