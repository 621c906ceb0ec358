//! What an inventory of a simulated machine shows: the names of facts are those of the observer of real ones.

use model::{CpuModel, DeviceId, Environment, Fact, Layer, LayerKind, Mount, SimBus, SimModel, Stack};

/// The names on the way to a disk, and who drives what.
struct Names {
    /// Kernel name of the whole disk.
    disk: &'static str,
    /// That of its first partition.
    partition: &'static str,
    device: DeviceId,
    driver: &'static str,
    transport: &'static str,
    link: &'static str,
    controller: &'static str,
    controller_driver: &'static str,
    controller_bus: &'static str,
}

impl Names {
    fn of(bus: SimBus) -> Self {
        // Major and minor numbers are those of k:Documentation/admin-guide/devices.txt.
        let ((major, minor), names) = match bus {
            SimBus::Sd => {
                ((179, 32), ["mmcblk1", "mmcblk1p1", "mmcblk", "mmc", "mmc1", "fe320000.mmc", "sdhci", "platform"])
            }
            SimBus::Emmc => (
                (179, 0),
                ["mmcblk0", "mmcblk0p1", "mmcblk", "mmc", "mmc0", "fe330000.mmc", "sdhci-arasan", "platform"],
            ),
            SimBus::Sata => ((8, 0), ["sda", "sda1", "sd", "sata", "ata1", "0000:00:1f.2", "ahci", "pci"]),
            SimBus::Nvme => {
                ((259, 0), ["nvme0n1", "nvme0n1p1", "nvme", "nvme", "0000:01:00.0", "0000:01:00.0", "nvme", "pci"])
            }
        };
        let [disk, partition, driver, transport, link, controller, controller_driver, controller_bus] = names;
        let device = DeviceId { major, minor };
        Self { disk, partition, device, driver, transport, link, controller, controller_driver, controller_bus }
    }
}

/// Kernel name of the whole disk.
pub(super) fn disk_name(bus: SimBus) -> &'static str {
    Names::of(bus).disk
}

/// Kernel name of its first partition.
pub(super) fn partition_name(bus: SimBus) -> &'static str {
    Names::of(bus).partition
}

/// The storage path, as an inventory of the simulated machine would give it.
pub(super) fn stack(model: &SimModel) -> Stack {
    let mut layers = Vec::new();
    let mount = model.filesystem.as_ref().map(|fstype| Mount {
        fstype: fstype.clone(),
        mount_point: "/sim".to_owned(),
        source: format!("/dev/{}", Names::of(model.bus).partition),
        options: vec!["rw".to_owned(), "noatime".to_owned()],
        read_only: false,
    });
    if let Some(mount) = &mount {
        layers.push(filesystem(mount));
        layers.push(partition(model));
    }
    layers.push(disk(model));
    layers.push(link(model));
    layers.push(controller(model));
    layers.push(host(model));
    layers.push(sim(model));
    Stack { mount, layers: layers.into() }
}

fn filesystem(mount: &Mount) -> Layer {
    let mut layer = Layer::new(LayerKind::Filesystem, mount.fstype.clone());
    layer.driver = Some(mount.fstype.clone());
    layer.set("fstype", mount.fstype.as_str());
    layer.set("mount_point", mount.mount_point.as_str());
    layer.set("mount_source", mount.source.as_str());
    layer.set("mount_root", "/");
    layer.set("mount_options", mount.options.clone());
    layer.set("read_only", false);
    layer.set("backing", "block");
    layer.set("block_size_bytes", 4096u64);
    layer.set("checksums", false);
    layer.set("copy_on_write", false);
    layer.set("compression", "none");
    layer.set("sync_mount", false);
    layer.set("barriers", true);
    layer.set("lazy_init_running", false);
    layer
}

fn partition(model: &SimModel) -> Layer {
    let mut layer = Layer::new(LayerKind::Partition, Names::of(model.bus).partition);
    let disk = Names::of(model.bus).device;
    layer.device = Some(DeviceId { minor: disk.minor + 1, ..disk });
    layer.counted = true;
    layer.set("partition_number", 1u64);
    layer.set("start_bytes", model.media.erase_block_bytes);
    layer.set("size_bytes", model.media.capacity_bytes.saturating_sub(model.media.erase_block_bytes));
    layer.set("alignment_offset_bytes", 0u64);
    layer.set("aligned", true);
    layer
}

fn disk(model: &SimModel) -> Layer {
    let names = Names::of(model.bus);
    let mut layer = Layer::new(LayerKind::Disk, names.disk);
    layer.device = Some(names.device);
    layer.counted = true;
    layer.driver = Some(names.driver.to_owned());
    let depth = u64::from(model.host.queue_depth);
    layer.set("transport", names.transport);
    layer.set("model", model.title.as_str());
    layer.set("serial", "0x51a70000");
    layer.set("size_bytes", model.media.capacity_bytes);
    layer.set("removable", model.bus == SimBus::Sd);
    layer.set("read_only", false);
    layer.set("rotational", false);
    layer.set("scheduler", if model.bus == SimBus::Nvme { "none" } else { "mq-deadline" });
    layer.set("read_ahead_kb", model.host.read_ahead_bytes >> 10);
    let split = model.host.max_sectors_bytes;
    layer.set("max_sectors_kb", if split > 0 { split >> 10 } else { 1024 });
    if let Some(cap) = model.cap.filter(|c| c.visible) {
        for (name, limit) in [
            ("cgroup_read_iops", cap.operations_per_s),
            ("cgroup_write_iops", cap.operations_per_s),
            ("cgroup_read_bytes_per_s", cap.bytes_per_s),
            ("cgroup_write_bytes_per_s", cap.bytes_per_s),
        ] {
            if limit.is_some() {
                layer.set(name, limit);
            }
        }
    }
    layer.set("max_hw_sectors_kb", 1024u64);
    layer.set("logical_block_size_bytes", 512u64);
    layer.set("physical_block_size_bytes", if model.bus == SimBus::Nvme { 4096u64 } else { 512u64 });
    layer
        .set("write_cache", if model.media.cache.is_some_and(|c| c.volatile) { "write back" } else { "write through" });
    layer.set("queue_depth", depth);
    match model.bus {
        SimBus::Sd | SimBus::Emmc => {
            let sd = model.bus == SimBus::Sd;
            layer.set("mmc_type", if sd { "SD" } else { "MMC" });
            // SD cards have no such file.
            layer.set("cmdq_en", if sd { Fact::Null } else { Fact::Bool(depth > 1) });
        }
        SimBus::Sata => {
            layer.set("ncq", depth > 1);
            layer.set("ncq_host", true);
            layer.set("ata_speed_downshifts", 0u64);
        }
        SimBus::Nvme => {
            layer.set("nvme_controller", "nvme0");
            layer.set("nvme_transport", "pcie");
            layer.set("nr_requests", depth);
            layer.set("hardware_queues", u64::from(model.host.cpus));
        }
    }
    // Bus facts that a model's file states belong to the link.
    for (name, fact) in model.facts.iter().filter(|(name, _)| !is_link_fact(name)) {
        // What the command queue does is a parameter, not a constant of the file.
        if name != "cmdq_en" {
            layer.facts.insert(name.clone(), fact.clone());
        }
    }
    layer
}

fn is_link_fact(name: &str) -> bool {
    matches!(name, "bus_mode" | "clock_hz" | "clock_requested_hz" | "bus_width" | "signal_voltage")
}

fn link(model: &SimModel) -> Layer {
    let line = model.link.line_bytes_per_s;
    let mut layer = Layer::new(LayerKind::Link, Names::of(model.bus).link);
    layer.ceiling_bytes_per_s = Some(line);
    layer.set("realistic_bytes_per_s", model.link.payload_bytes_per_s() as u64);
    let source = match model.bus {
        SimBus::Sd | SimBus::Emmc => {
            for (name, fact) in model.facts.iter().filter(|(name, _)| is_link_fact(name)) {
                layer.facts.insert(name.clone(), fact.clone());
            }
            // The clock follows the line rate, so that an overridden link is consistent.
            let width = layer.int("bus_width").unwrap_or(4).max(1) as u64;
            let clock = line * 8 / width;
            layer.set("clock_hz", clock);
            layer.set("signal_voltage", "1.80 V");
            format!("{}: {clock} Hz x {width} lines (simulated)", layer.text("bus_mode").unwrap_or("mmc"))
        }
        SimBus::Sata => {
            let gbit_s = line as f64 / 1e8;
            layer.set("sata_speed", format!("{gbit_s:.1} Gbps"));
            layer.set("sata_speed_gbit_s", gbit_s);
            layer.set("sata_speed_max_gbit_s", 6.0);
            layer.set("sata_speed_limit_gbit_s", Fact::Null);
            format!("SATA {gbit_s:.1} Gbit/s, 8b/10b coding (simulated)")
        }
        SimBus::Nvme => {
            layer.set("pcie_width", 4u64);
            layer.set("pcie_speed_gt_s", 8.0);
            layer.set("pcie_max_width", 4u64);
            layer.set("pcie_max_speed_gt_s", 8.0);
            "PCIe 8 GT/s x4, after line coding (simulated)".to_owned()
        }
    };
    layer.ceiling_source = Some(source);
    layer
}

fn controller(model: &SimModel) -> Layer {
    let names = Names::of(model.bus);
    let mut layer = Layer::new(LayerKind::Controller, names.controller);
    layer.driver = Some(names.controller_driver.to_owned());
    layer.set("controller_bus", names.controller_bus);
    match model.bus {
        SimBus::Sd | SimBus::Emmc => {
            layer.set("mmc_host", names.link);
            layer.set("mmc_host_cqe", model.host.queue_depth > 1);
            let modes = ["sd-hs", "sdr12", "sdr25", "sdr50", "sdr104", "ddr50", "hs200"].map(str::to_owned).to_vec();
            layer.set("mmc_host_modes", modes);
        }
        SimBus::Sata => layer.set("pci_class", "0x010601"),
        SimBus::Nvme => layer.set("pci_class", "0x010802"),
    }
    layer
}

fn host(model: &SimModel) -> Layer {
    let mut layer = Layer::new(LayerKind::Host, "simulated machine");
    layer.set("cpus_online", u64::from(model.host.cpus));
    layer.set("cpu_max_khz", model.host.cpu_khz);
    layer.set("cpu_governors", vec!["performance".to_owned()]);
    layer.set("memory_bytes", model.host.memory_bytes);
    if model.host.cpu_quota > 0.0 {
        layer.set("cgroup_cpu_processors", model.host.cpu_quota);
    }
    layer
}

fn sim(model: &SimModel) -> Layer {
    let mut layer = Layer::new(LayerKind::Sim, model.name.clone());
    layer.set("title", model.title.as_str());
    layer.set("source", model.source.as_str());
    layer.set("seed", model.seed);
    layer
}

/// The simulated machine; says that it is simulated wherever a person could take it for a real one.
pub(super) fn environment(model: &SimModel) -> Environment {
    let host = &model.host;
    Environment {
        hostname: Some("simulated".to_owned()),
        machine: Some(format!("simulated machine with {}", model.title)),
        kernel: Some("simulated".to_owned()),
        architecture: Some("simulated".to_owned()),
        cpus: vec![CpuModel { name: "simulated processor".to_owned(), count: host.cpus }],
        governors: vec!["performance".to_owned()],
        memory_bytes: Some(host.memory_bytes),
        page_size_bytes: Some(4096),
        boot_id: Some(format!("sim-{}-{}", model.name, model.seed)),
        clock_synchronised: Some(true),
        clock_source: Some("simulated".to_owned()),
        virtualization: (host.steal > 0.0).then(|| "simulated".to_owned()),
        root: Some(true),
        dirty_settings: [
            ("vm.dirty_bytes".to_owned(), i64::try_from(host.dirty_limit_bytes).ok()),
            ("vm.dirty_background_bytes".to_owned(), i64::try_from(host.dirty_background_bytes).ok()),
        ]
        .into_iter()
        .collect(),
        ..Environment::default()
    }
}
