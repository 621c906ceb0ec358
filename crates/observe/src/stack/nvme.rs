//! NVMe (k:drivers/nvme/host/sysfs.c, pci.c).

use super::ancestor::{Ancestor, adapter, ancestors};
use super::below::LayersBelow;
use super::{ProbeOptions, pcie};
use crate::facts;
use crate::health;
use crate::root::{Root, file_name};
use crate::settings::PCI_MODULES;
use model::{Fact, Layer, LayerKind};

fn is_controller(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Directory of the controller. With multipath the namespace hangs on a virtual subsystem that links to its
/// controllers; the first stands for all.
pub(super) fn controller_directory(root: &Root, directory: &str, chain: &[Ancestor]) -> Option<String> {
    if let Some(direct) = chain.iter().find(|a| is_controller(&a.name)) {
        return Some(direct.path.clone());
    }
    let subsystem = root.canonical(&format!("{directory}/device"))?;
    let name = root.list(&subsystem).into_iter().find(|n| is_controller(n))?;
    root.canonical(&format!("{subsystem}/{name}"))
}

/// Completes the disk and describes link and controller.
pub(super) fn attach(
    root: &Root,
    disk: &mut Layer,
    directory: &str,
    chain: &[Ancestor],
    look: ProbeOptions,
) -> LayersBelow {
    let mut below = LayersBelow::default();
    let parameter = |file: &str| format!("/sys/module/{file}");
    disk.set(facts::QUEUE_DEPTH, disk.fact(facts::QUEUE_TAGS).cloned().unwrap_or(Fact::Null));
    let latency: Option<u64> = root.number(&parameter("nvme_core/parameters/default_ps_max_latency_us"));
    disk.set(facts::NVME_PS_MAX_LATENCY_US, latency);
    let Some(controller) = controller_directory(root, directory, chain) else {
        below.missing.push(format!("the NVMe controller of {} is not under /sys/class/nvme", disk.name));
        disk.set(facts::NVME_CONTROLLER, Fact::Null);
        disk.set(facts::NVME_TRANSPORT, Fact::Null);
        disk.driver.get_or_insert_with(|| "nvme".into());
        return below;
    };
    let of_controller = |file: &str| root.text(&format!("{controller}/{file}"));
    let transport = of_controller("transport");
    disk.set(facts::NVME_CONTROLLER, file_name(&controller));
    disk.set(facts::NVME_TRANSPORT, transport.clone());
    disk.set(facts::NVME_QUEUE_COUNT, of_controller("queue_count").and_then(|n| n.parse::<u32>().ok()));
    disk.set(facts::NVME_QUEUE_SIZE, of_controller("sqsize").and_then(|n| n.parse::<u32>().ok()));
    disk.set(facts::NVME_HMB, root.flag(&format!("{controller}/hmb")));
    // The file was `cmb` before 5.16 and is `cmbsz` inside it.
    disk.set(facts::NVME_CMBSZ, of_controller("cmbsz").or_else(|| of_controller("cmb")));
    for (fact, file) in [
        (facts::NVME_MAX_HOST_MEM_SIZE_MB, "nvme/parameters/max_host_mem_size_mb"),
        (facts::NVME_POLL_QUEUES, "nvme/parameters/poll_queues"),
        (facts::NVME_IO_QUEUE_DEPTH, "nvme/parameters/io_queue_depth"),
    ] {
        disk.set(fact, root.number::<u64>(&parameter(file)));
    }
    // With multipath `device` is the subsystem, which has fewer files than the controller.
    for (fact, file) in [(facts::MODEL, "model"), (facts::SERIAL, "serial"), (facts::FIRMWARE_REVISION, "firmware_rev")]
    {
        if disk.fact(fact).is_none() {
            disk.set(fact, of_controller(file));
        }
    }

    let mut namespaces = root.list(&controller);
    namespaces
        .retain(|n| n.strip_prefix(file_name(&controller)).is_some_and(|r| r.starts_with('n') && !r.contains('c')));
    disk.set(facts::NVME_NAMESPACES, (!namespaces.is_empty()).then_some(namespaces));
    disk.set(facts::NVME_NAMESPACE_ID, root.number::<u32>(&format!("{directory}/nsid")));
    disk.set(facts::NVME_STATE, of_controller("state"));
    disk.set(facts::NVME_MULTIPATH, root.flag(&parameter("nvme_core/parameters/multipath")));
    below.missing.extend(health::of_nvme_controller(root, disk, file_name(&controller), &controller, look.health));

    let above = ancestors(root, &controller);
    below.controller = adapter(&above);
    disk.driver = below.controller.as_ref().and_then(|c| c.driver.clone()).or(Some("nvme".into()));
    if transport.as_deref().is_none_or(|t| t == "pcie")
        && let Some(path) = below.controller.as_ref().and_then(|c| pcie::path(root, &c.path))
    {
        let mut link = Layer::new(LayerKind::Link, path.name());
        path.set_on(&mut link);
        let policy = root.text("/sys/module/pcie_aspm/parameters/policy");
        link.set(facts::PCIE_ASPM_POLICY, policy.as_deref().and_then(super::queue::bracketed));
        if let Some(device) = &below.controller {
            pcie::set_power_management(root, &mut link, &device.path);
        }
        below.modules = &PCI_MODULES;
        below.link = Some(link);
    }
    below
}
