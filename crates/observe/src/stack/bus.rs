//! Below the disk: which bus it hangs on, its link and its controller.
//!
//! The disk's directory under /sys/devices is a chain of parent devices. Each one's `subsystem` and `driver` links say
//! what it is.

use super::ancestor::{Ancestor, adapter, ancestors, is_address};
use super::below::LayersBelow;
use super::machine_context::MachineContext;
use super::{StackBuilder, ata, irq, mmc, mtd, nvme, pcie, usb, virtio};
use crate::facts;
use crate::root::{Root, file_name};
use crate::settings::NVME_MODULES;
use crate::{health, pci_names, registers};
use model::{Fact, Layer, LayerKind};

/// Devices that a hypervisor invents: by model or by PCI vendor. Their links are fiction.
fn is_emulated(disk: &Layer, pci_vendor: Option<&str>, pci_subsystem: Option<&str>) -> bool {
    let text = |fact| disk.text(fact).unwrap_or_default();
    let (model, vendor) = (text(facts::MODEL), text(facts::VENDOR));
    let by_name = ["QEMU", "VMware", "VBOX", "Virtual", "Msft", "Amazon Elastic", "nvme_card", "Google", "Xen"]
        .iter()
        .any(|n| model.starts_with(n) || vendor.starts_with(n));
    // Red Hat (virtio, QEMU), VMware, VirtualBox, Hyper-V, Xen, Amazon, Google, Parallels.
    let ids = ["0x1af4", "0x1b36", "0x15ad", "0x80ee", "0x1414", "0x5853", "0x1d0f", "0x1ae0", "0x1ab8"];
    let known = |id: Option<&str>| id.is_some_and(|id| ids.contains(&id));
    by_name || known(pci_vendor) || known(pci_subsystem)
}

impl StackBuilder<'_> {
    /// Completes the disk's layer with what its bus knows and lists it, its link and its controller.
    pub(super) fn attached(&mut self, mut disk: Layer, directory: &str, depth: u32) {
        let root = self.root;
        let chain = ancestors(root, directory);
        let in_subsystem = |name: &str| chain.iter().position(|a| a.subsystem.as_deref() == Some(name));
        let device = root.canonical(&format!("{directory}/device"));
        self.identity(&mut disk, directory);
        crate::cloud::set_facts(root, &mut disk);
        disk.driver = device.as_deref().and_then(|d| root.link_name(&format!("{d}/driver")));

        let ata_port = chain.iter().position(|a| ata::is_port(&a.name));
        let mtd = device.as_deref().map(|d| file_name(d).to_owned()).filter(|n| n.starts_with("mtd"));
        let mut below = LayersBelow::default();
        let transport = if let Some(at) = chain.iter().position(|a| mmc::is_card(&a.name)) {
            below = mmc::attach(root, &mut disk, &chain[at..]);
            "mmc"
        } else if disk.name.starts_with("nvme") {
            below = nvme::attach(root, &mut disk, directory, &chain, self.look);
            "nvme"
        } else if let Some(at) = ata_port {
            below = ata::attach(root, &mut disk, &chain, at);
            below.missing.extend(health::of_ata_disk(root, &mut disk, directory, self.look.health));
            if ata::is_ide(root, below.controller.as_ref()) { "ide" } else { "sata" }
        } else if let Some(at) = in_subsystem("usb") {
            below = usb::attach(root, &mut disk, &chain[at..]);
            "usb"
        } else if let Some(mtd) = mtd {
            below = mtd::attach(root, &mut disk, &mtd);
            "mtd"
        } else if let Some(at) = in_subsystem("virtio").filter(|_| disk.name.starts_with("vd")) {
            disk.set(facts::CACHE_TYPE, root.text(&format!("{directory}/cache_type")));
            virtio::set_features(root, &mut disk, &chain[at].path);
            disk.set(facts::QUEUE_DEPTH, disk.fact(facts::QUEUE_TAGS).cloned().unwrap_or(Fact::Null));
            below.controller = adapter(&chain[at + 1..]);
            "virtio"
        } else if in_subsystem("scsi").is_some() {
            below.controller = adapter(&chain);
            "scsi"
        } else if disk.name.starts_with("xvd") {
            "xen"
        } else if disk.name.starts_with("nbd") || disk.name.starts_with("rbd") || disk.name.starts_with("drbd") {
            "network"
        } else if directory.starts_with("/sys/devices/virtual/") {
            "virtual"
        } else {
            below.controller = adapter(&chain);
            "unknown"
        };
        disk.set(facts::TRANSPORT, transport);
        if transport == "nvme" {
            self.context.settings.on_modules(&mut disk, &NVME_MODULES);
        }

        let controller = below.controller.as_ref().and_then(|a| self.controller(a));
        let pci = |fact| controller.as_ref().and_then(|c: &Layer| c.text(fact));
        let subsystem = pci(facts::PCI_SUBSYSTEM_ID).and_then(|id| id.split(':').next());
        let emulated = transport == "virtio"
            || transport == "xen"
            || is_emulated(&disk, pci(facts::PCI_VENDOR_ID), subsystem)
            || controller.as_ref().is_some_and(|c| c.driver.as_deref().is_some_and(|d| d.starts_with("virtio")));
        disk.set(facts::EMULATED, emulated);
        self.push(disk, depth);

        self.below(below, depth + 1, emulated);
    }

    /// Lists what is below a disk. A hypervisor's links are fiction, and have no ceiling.
    pub(super) fn below(&mut self, below: LayersBelow, depth: u32, emulated: bool) {
        let strip = |layer: &mut Layer| {
            if emulated {
                layer.ceiling_bytes_per_s = None;
                layer.ceiling_source = None;
                layer.facts.retain(|name, _| name != facts::REALISTIC_BYTES_PER_S && !name.starts_with("pcie_"));
            }
        };
        let mut controller_depth = depth;
        if let Some(mut link) = below.link {
            strip(&mut link);
            if let Some(host) = &below.sata_host {
                self.context.settings.on_sata_host(self.root, &mut link, host);
            }
            self.context.settings.on_modules(&mut link, below.modules);
            self.push(link, depth);
            controller_depth += 1;
        }
        if let Some(mut controller) = below.controller.as_ref().and_then(|a| self.controller(a)) {
            for (name, value) in below.controller_facts {
                controller.set(name, value);
            }
            strip(&mut controller);
            self.push(controller, controller_depth);
        }
        for line in below.missing {
            self.missing(line);
        }
    }

    /// Who the disk is, as far as all buses tell it in the same places.
    fn identity(&self, disk: &mut Layer, directory: &str) {
        let root = self.root;
        let device = |file: &str| root.text(&format!("{directory}/device/{file}"));
        disk.set(facts::MODEL, device("model"));
        disk.set(facts::VENDOR, device("vendor").filter(|v| !v.starts_with("0x")));
        disk.set(facts::FIRMWARE_REVISION, device("rev").or_else(|| device("firmware_rev")));
        disk.set(facts::SERIAL, serial(root, directory));
        disk.set(facts::REMOVABLE, root.flag(&format!("{directory}/removable")));
        disk.set(facts::QUEUE_DEPTH, root.number::<u32>(&format!("{directory}/device/queue_depth")));
    }

    /// Registers of the catalogue, if they were asked for; otherwise what would have to be asked.
    fn registers(&mut self, controller: &mut Layer) {
        let compatible = match controller.fact(facts::DEVICETREE_COMPATIBLE) {
            Some(Fact::List(names)) => names.clone(),
            _ => return,
        };
        for register in registers::of_controller(controller.driver.as_deref(), &compatible) {
            let value = registers::read(self.root, &controller.name, register, self.look.registers);
            controller.set(register.fact, value.as_ref().ok().copied());
            if let Err(why) = value {
                self.missing(why);
            }
        }
    }

    fn controller(&mut self, adapter: &Ancestor) -> Option<Layer> {
        if let Some(known) = self.controllers.get(&adapter.path) {
            return known.clone();
        }
        let mut layer = controller_layer(self.root, self.context, adapter);
        self.registers(&mut layer);
        self.controllers.insert(adapter.path.clone(), Some(layer.clone()));
        Some(layer)
    }
}

/// The serial number, wherever the bus keeps it.
pub(crate) fn serial(root: &Root, directory: &str) -> Option<String> {
    let text = |file: &str| root.text(&format!("{directory}/{file}"));
    text("device/serial")
        .or_else(|| text("serial"))
        .or_else(|| {
            // Vital product data page 0x80: four bytes of header, then the serial number (SPC-4 7.8.15).
            let page = root.read(&format!("{directory}/device/vpd_pg80")).ok()?;
            let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
            let number = page.get(4..)?.get(..length).or(page.get(4..))?;
            let number = String::from_utf8_lossy(number);
            let number = number.trim_matches(|c: char| c.is_whitespace() || c == '\0');
            (!number.is_empty()).then(|| number.to_owned())
        })
        .or_else(|| text("device/wwid"))
        .or_else(|| text("wwid"))
}

fn controller_layer(root: &Root, context: &MachineContext, adapter: &Ancestor) -> Layer {
    let file = |name: &str| root.text(&format!("{}/{name}", adapter.path));
    let mut layer = Layer::new(LayerKind::Controller, adapter.name.clone());
    layer.driver = adapter.driver.clone();
    layer.set(facts::CONTROLLER_BUS, adapter.subsystem.clone());
    if adapter.subsystem.as_deref() == Some("pci") || is_address(&adapter.name) {
        layer.set(facts::PCI_ADDRESS, adapter.name.as_str());
        layer.set(facts::PCI_VENDOR_ID, file("vendor"));
        layer.set(facts::PCI_DEVICE_ID, file("device"));
        let subsystem = file("subsystem_vendor").zip(file("subsystem_device")).map(|(v, d)| format!("{v}:{d}"));
        layer.set(facts::PCI_SUBSYSTEM_ID, subsystem);
        let (vendor, device) =
            (root.hex(&format!("{}/vendor", adapter.path)), root.hex(&format!("{}/device", adapter.path)));
        let class = file("class");
        layer.set(facts::PCI_NAME, vendor.zip(device).and_then(|(v, d)| context.pci_name(v, d)));
        layer.set(facts::PCI_CLASS_NAME, class.as_deref().and_then(crate::root::parse_hex).and_then(pci_names::class));
        layer.set(facts::PCI_CLASS, class);
        pcie::set_errors(root, &mut layer, &adapter.path);
        if adapter.driver.as_deref() == Some("ahci") {
            // An attribute of that driver's devices alone (k:drivers/ata/ahci.c).
            layer.set(facts::REMAPPED_NVME, root.number::<u32>(&format!("{}/remapped_nvme", adapter.path)));
        }
        if let Some(path) = pcie::path(root, &adapter.path) {
            path.set_on(&mut layer);
        }
    } else {
        // NUL-separated, as in the device tree.
        let compatible = root.read(&format!("{}/of_node/compatible", adapter.path)).ok().map(|bytes| {
            let names = bytes.split(|b| *b == 0).map(<[u8]>::trim_ascii).filter(|s| !s.is_empty()).take(16);
            names.map(|s| String::from_utf8_lossy(s).into_owned()).collect::<Vec<String>>()
        });
        layer.set(facts::DEVICETREE_COMPATIBLE, compatible);
    }
    // -1 is the kernel's word for "only one".
    layer.set(facts::NUMA_NODE, file("numa_node").and_then(|n| n.parse::<u32>().ok()));
    layer.set(facts::POWER_CONTROL, file("power/control"));
    irq::set(root, context.interrupts(root), &mut layer, &adapter.path);
    layer
}
