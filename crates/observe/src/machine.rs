//! What kind of machine: board, processors, frequencies, memory, hypervisor.

use crate::root::Root;
use crate::sampler::cpu_list;
use model::CpuModel;

/// Firmware that was never filled in.
const PLACEHOLDERS: [&str; 8] = [
    "to be filled",
    "default string",
    "system product name",
    "system manufacturer",
    "not applicable",
    "not specified",
    "o.e.m",
    "unknown",
];

/// Board or system: the device tree's model, else DMI.
pub(crate) fn model(root: &Root) -> Option<String> {
    let tree = root
        .text("/sys/firmware/devicetree/base/model")
        .or_else(|| root.text("/proc/device-tree/model"))
        .or_else(|| old_arm_board(root));
    tree.or_else(|| {
        let dmi = |file: &str| {
            let text = root.text(&format!("/sys/class/dmi/id/{file}"))?;
            let lower = text.to_ascii_lowercase();
            (!PLACEHOLDERS.iter().any(|p| lower.contains(p))).then_some(text)
        };
        let (vendor, name) = match (dmi("product_name"), dmi("board_name")) {
            (Some(product), _) => (dmi("sys_vendor"), product),
            (None, Some(board)) => (dmi("board_vendor"), board),
            (None, None) => return dmi("sys_vendor"),
        };
        // Lenovo's product name is a number, the version has the name.
        let name = match dmi("product_version").filter(|v| v.starts_with("ThinkPad") || v.starts_with("ThinkCentre")) {
            Some(version) => format!("{version} ({name})"),
            None => name,
        };
        Some(vendor.map_or(name.clone(), |v| if name.starts_with(&v) { name } else { format!("{v} {name}") }))
    })
}

/// `Hardware : Allwinner sun7i`, which 32-bit ARM kernels without a device tree print.
fn old_arm_board(root: &Root) -> Option<String> {
    let text = root.text("/proc/cpuinfo")?;
    let value = text.lines().find_map(|l| l.strip_prefix("Hardware")?.split_once(':'))?.1.trim();
    (!value.is_empty() && value != "BCM2835").then(|| value.to_owned())
}

/// Cores by implementer and part (MIDR; Arm's technical reference manuals and vendors' documents).
fn arm_core(implementer: u64, part: u64) -> Option<&'static str> {
    Some(match (implementer, part) {
        (0x41, 0xb76) => "ARM1176",
        (0x41, 0xc05) => "Cortex-A5",
        (0x41, 0xc07) => "Cortex-A7",
        (0x41, 0xc08) => "Cortex-A8",
        (0x41, 0xc09) => "Cortex-A9",
        (0x41, 0xc0d) => "Cortex-A17",
        (0x41, 0xc0e) => "Cortex-A17",
        (0x41, 0xc0f) => "Cortex-A15",
        (0x41, 0xd01) => "Cortex-A32",
        (0x41, 0xd02) => "Cortex-A34",
        (0x41, 0xd03) => "Cortex-A53",
        (0x41, 0xd04) => "Cortex-A35",
        (0x41, 0xd05) => "Cortex-A55",
        (0x41, 0xd07) => "Cortex-A57",
        (0x41, 0xd08) => "Cortex-A72",
        (0x41, 0xd09) => "Cortex-A73",
        (0x41, 0xd0a) => "Cortex-A75",
        (0x41, 0xd0b) => "Cortex-A76",
        (0x41, 0xd0c) => "Neoverse-N1",
        (0x41, 0xd0d) => "Cortex-A77",
        (0x41, 0xd0e) => "Cortex-A76AE",
        (0x41, 0xd40) => "Neoverse-V1",
        (0x41, 0xd41) => "Cortex-A78",
        (0x41, 0xd42) => "Cortex-A78AE",
        (0x41, 0xd44) => "Cortex-X1",
        (0x41, 0xd46) => "Cortex-A510",
        (0x41, 0xd47) => "Cortex-A710",
        (0x41, 0xd48) => "Cortex-X2",
        (0x41, 0xd49) => "Neoverse-N2",
        (0x41, 0xd4a) => "Neoverse-E1",
        (0x41, 0xd4b) => "Cortex-A78C",
        (0x41, 0xd4d) => "Cortex-A715",
        (0x41, 0xd4e) => "Cortex-X3",
        (0x41, 0xd4f) => "Neoverse-V2",
        (0x41, 0xd80) => "Cortex-A520",
        (0x41, 0xd81) => "Cortex-A720",
        (0x41, 0xd82) => "Cortex-X4",
        (0x43, 0x0a1) => "ThunderX",
        (0x43, 0x0af) => "ThunderX2",
        (0x46, 0x001) => "A64FX",
        (0x48, 0xd01) => "TaiShan v110",
        (0x4e, 0x003) => "Denver 2",
        (0x4e, 0x004) => "Carmel",
        (0x50, 0x000) => "X-Gene",
        (0x51, 0x800) => "Kryo 2xx Gold",
        (0x51, 0x801) => "Kryo 2xx Silver",
        (0x51, 0x802) => "Kryo 3xx Gold",
        (0x51, 0x803) => "Kryo 3xx Silver",
        (0x51, 0x804) => "Kryo 4xx Gold",
        (0x51, 0x805) => "Kryo 4xx Silver",
        (0x61, 0x022) => "Icestorm (Apple M1)",
        (0x61, 0x023) => "Firestorm (Apple M1)",
        (0x61, 0x032) => "Blizzard (Apple M2)",
        (0x61, 0x033) => "Avalanche (Apple M2)",
        (0xc0, 0xac3) => "Ampere-1",
        (0xc0, 0xac4) => "Ampere-1a",
        _ => return None,
    })
}

/// Processors by model, in the order of their first appearance in /proc/cpuinfo, which lists those that are online.
pub(crate) fn cpus(root: &Root) -> Vec<CpuModel> {
    // A processor is about 1.5 kB on x86; 1,000 of them have to fit.
    let bytes = root.read_up_to("/proc/cpuinfo", 8 << 20).unwrap_or_default();
    cpus_of(&String::from_utf8_lossy(&bytes))
}

fn cpus_of(text: &str) -> Vec<CpuModel> {
    let mut models: Vec<CpuModel> = Vec::new();
    // Old 32-bit ARM kernels name the processor once, for all.
    let mut common_name: Option<&str> = None;
    for section in text.split("\n\n") {
        let field = |key: &str| section.lines().find_map(|l| l.split_once(':').filter(|(k, _)| k.trim() == key));
        let field = |key: &str| field(key).map(|(_, v)| v.trim()).filter(|v| !v.is_empty());
        common_name = common_name.or(field("Processor"));
        if field("processor").is_none() {
            continue;
        }
        let midr = || {
            let hex = |key: &str| field(key).and_then(crate::root::parse_hex);
            let (implementer, part) = (hex("CPU implementer")?, hex("CPU part")?);
            let unnamed = || format!("ARM implementer {implementer:#04x} part {part:#05x}");
            Some(arm_core(implementer, part).map_or_else(unnamed, str::to_owned))
        };
        let name = midr()
            .or_else(|| field("model name").map(str::to_owned))
            .or_else(|| field("cpu model").map(str::to_owned))
            .or_else(|| field("uarch").map(str::to_owned))
            .or_else(|| field("isa").map(|isa| format!("RISC-V {isa}")))
            .or_else(|| field("cpu").map(str::to_owned))
            .or_else(|| common_name.map(str::to_owned))
            .unwrap_or_else(|| "unknown".into());
        match models.iter_mut().find(|m| m.name == name) {
            Some(model) => model.count += 1,
            None => models.push(CpuModel { name, count: 1 }),
        }
    }
    models
}

/// Directories of the frequency policies: one for each set of CPUs with a common clock.
pub(crate) fn frequency_policies(root: &Root) -> Vec<String> {
    let base = "/sys/devices/system/cpu/cpufreq";
    let names = root.list(base);
    let policies: Vec<String> =
        names.iter().filter(|n| n.starts_with("policy")).map(|n| format!("{base}/{n}")).collect();
    if !policies.is_empty() {
        return policies;
    }
    // Before 4.3 each CPU had its own directory.
    let cpus = root.text("/sys/devices/system/cpu/online").map(|t| cpu_list(&t)).unwrap_or_default();
    let per_cpu = cpus.into_iter().map(|n| format!("/sys/devices/system/cpu/cpu{n}/cpufreq"));
    per_cpu.filter(|d| root.exists(d)).collect()
}

/// Governors in use, without repeats.
pub(crate) fn governors(root: &Root) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for policy in frequency_policies(root) {
        let governor = root.text(&format!("{policy}/scaling_governor")).filter(|g| !out.contains(g));
        out.extend(governor);
    }
    out
}

/// How many processors are online.
pub(crate) fn cpus_online(root: &Root) -> u32 {
    let listed = root.text("/sys/devices/system/cpu/online").map(|t| cpu_list(&t).len()).unwrap_or(0);
    u32::try_from(listed).ok().filter(|n| *n > 0).unwrap_or_else(|| cpus(root).iter().map(|m| m.count).sum())
}

/// MemTotal.
pub(crate) fn memory_bytes(root: &Root) -> Option<u64> {
    let text = root.text("/proc/meminfo")?;
    let kib: u64 =
        text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1_024)
}

/// Container and hypervisor: `docker`, `kvm`, or both as `docker on kvm`. `None` where nothing says so.
pub(crate) fn virtualization(root: &Root) -> Option<String> {
    match (container(root), hypervisor(root)) {
        (Some(container), Some(hypervisor)) => Some(format!("{container} on {hypervisor}")),
        (container, hypervisor) => container.or(hypervisor),
    }
}

fn container(root: &Root) -> Option<String> {
    let by_file = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, name)) = by_file.iter().find(|(file, _)| root.exists(file)) {
        return Some((*name).to_owned());
    }
    // systemd's convention for container managers (CONTAINER_INTERFACE).
    if let Some(name) = root.text("/run/systemd/container") {
        return Some(name);
    }
    let version = root.text("/proc/version").unwrap_or_default().to_ascii_lowercase();
    if version.contains("microsoft") {
        return Some("wsl".into());
    }
    let groups = root.text("/proc/1/cgroup").or_else(|| root.text("/proc/self/cgroup")).unwrap_or_default();
    let by_group = [
        ("/kubepods", "kubernetes"),
        ("/docker/", "docker"),
        ("docker-", "docker"),
        ("/lxc", "lxc"),
        ("libpod-", "podman"),
    ];
    by_group.iter().find(|(mark, _)| groups.contains(mark)).map(|(_, name)| (*name).to_owned())
}

fn hypervisor(root: &Root) -> Option<String> {
    if let Some(kind) = root.text("/sys/hypervisor/type") {
        return Some(kind);
    }
    let dmi = |file: &str| root.text(&format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
    let dmi = [dmi("product_name"), dmi("sys_vendor"), dmi("board_vendor"), dmi("bios_vendor")].join("\n");
    let by_dmi = [
        ("KVM", "kvm"),
        ("OpenStack", "kvm"),
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("QEMU", "qemu"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("innotek", "virtualbox"),
        ("Xen", "xen"),
        ("Parallels", "parallels"),
        ("BHYVE", "bhyve"),
        ("Hyper-V", "hyper-v"),
    ];
    // Bare-metal machines of Amazon have the same vendor and `.metal` in their product name.
    let named = by_dmi.iter().find(|(mark, _)| dmi.contains(mark)).filter(|_| !dmi.contains(".metal"));
    if let Some((_, name)) = named {
        return Some((*name).to_owned());
    }
    let hyper_v = dmi.contains("Microsoft Corporation") && dmi.contains("Virtual Machine");
    let tree = root.text("/sys/firmware/devicetree/base/hypervisor/compatible");
    let tree = tree.map(|c| c.split('\0').next().unwrap_or_default().trim_start_matches("linux,").to_owned());
    // The clock source of a guest names its host; the CPU flag only says that there is one.
    let clock = root.text("/sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or_default();
    let by_clock = [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")];
    let by_clock = by_clock.iter().find(|(mark, _)| clock.contains(mark)).map(|(_, name)| (*name).to_owned());
    let flagged = || {
        let info = root.text("/proc/cpuinfo")?;
        let flags = info.lines().find(|l| l.starts_with("flags"))?;
        flags.split_ascii_whitespace().any(|f| f == "hypervisor").then(|| "unknown hypervisor".to_owned())
    };
    hyper_v.then(|| "hyper-v".to_owned()).or(tree).or(by_clock).or_else(flagged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_and_little_cores_are_told_apart() {
        let text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\nprocessor\t: 1\nCPU implementer\t: 0x41\n\
                    CPU part\t: 0xd03\n\nprocessor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nprocessor\t: 3\n\
                    CPU implementer\t: 0x99\nCPU part\t: 0x1\n";
        let models: Vec<(String, u32)> = cpus_of(text).into_iter().map(|m| (m.name, m.count)).collect();
        let expected = [("Cortex-A53", 2), ("Cortex-A72", 1), ("ARM implementer 0x99 part 0x001", 1)];
        assert_eq!(models, expected.map(|(n, c)| (n.to_owned(), c)));
    }

    #[test]
    fn x86_risc_v_and_old_arm() {
        let name = |text: &str| cpus_of(text).first().map(|m| m.name.clone());
        assert_eq!(name("processor\t: 0\nmodel name\t: AMD EPYC\n").as_deref(), Some("AMD EPYC"));
        assert_eq!(
            name("processor\t: 0\nhart\t: 1\nisa\t: rv64imafdc\nuarch\t: sifive,u74-mc\n").as_deref(),
            Some("sifive,u74-mc")
        );
        let old = "Processor\t: ARMv7 Processor rev 2 (v7l)\n\nprocessor\t: 0\nBogoMIPS\t: 2\n\nprocessor\t: 1\nBogoMIPS\t: 2\n";
        assert_eq!(cpus_of(old), [CpuModel { name: "ARMv7 Processor rev 2 (v7l)".into(), count: 2 }]);
        assert!(cpus_of("").is_empty());
    }
}
