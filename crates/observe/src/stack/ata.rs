//! SATA and IDE through libata (k:drivers/ata/libata-transport.c, libahci.c).

use super::ancestor::{Ancestor, adapter};
use super::below::LayersBelow;
use crate::ata_identity::ATA_IDENTITY;
use crate::ceiling;
use crate::facts;
use crate::root::Root;
use crate::settings::ATA_MODULES;
use model::{Fact, Layer, LayerKind};

/// Whether a device is libata's port: `ata3`.
pub(super) fn is_port(name: &str) -> bool {
    name.strip_prefix("ata").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a controller runs in the IDE programming interface: PCI class 0101, or a driver without queueing.
pub(super) fn is_ide(root: &Root, controller: Option<&Ancestor>) -> bool {
    let Some(controller) = controller else { return false };
    let driver = controller.driver.as_deref().unwrap_or_default();
    let class = root.hex(&format!("{}/class", controller.path));
    driver == "ata_piix" || driver.starts_with("pata_") || class.is_some_and(|c| c >> 8 == 0x0101)
}

/// `6.0 Gbps`; `<unknown>` is no number.
fn gbit_s(text: &str) -> Option<f64> {
    let value: f64 = text.strip_suffix("Gbps")?.trim().parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// The fastest generation of an AHCI host as a line rate: CAP.ISS (AHCI 1.3.1, 3.1.1).
fn generation_gbit_s(caps: u64) -> Option<f64> {
    match caps >> 20 & 0xf {
        1 => Some(1.5),
        2 => Some(3.0),
        3 => Some(6.0),
        _ => None,
    }
}

/// `1.3.1` of `10301`: the kernel prints the version register in hexadecimal (libahci.c ahci_show_host_version; AHCI 1.3.1,
/// 3.1.5: major in bits 31:16, minor in 15:8, and below it what comes after).
fn version(register: u64) -> String {
    let major = register >> 16 & 0xffff;
    let minor = register >> 8 & 0xff;
    let patch = register & 0xff;
    if patch == 0 { format!("{major}.{minor}") } else { format!("{major}.{minor}.{patch}") }
}

/// The errors of a device's ring, 32 at most. An entry that is `Unknown` and nothing else is none: the kernel makes one each
/// time it looks for a device, also for one that answers at once (libata-eh.c ata_eh_schedule_probe).
fn errors(ring: &str) -> Vec<String> {
    let entries = ring.lines().map(str::trim).filter(|l| !l.is_empty());
    let errors = entries.filter(|l| l.rsplit(']').next().is_none_or(|names| names.trim() != "Unknown"));
    errors.take(32).map(str::to_owned).collect()
}

/// `SATA 3.0 of 6.0 Gbps`; `None` where the port is no SATA link.
pub(super) fn link_in_words(root: &Root, chain: &[Ancestor], at: usize) -> Option<String> {
    let number = chain[at].name.strip_prefix("ata")?;
    let file = |name: &str| {
        let text = root.text(&format!("{}/link{number}/ata_link/link{number}/{name}", chain[at].path))?;
        Some(text).filter(|t| gbit_s(t).is_some())
    };
    let speed = file("sata_spd")?;
    match file("hw_sata_spd_limit") {
        Some(most) if gbit_s(&most) > gbit_s(&speed) => {
            Some(format!("SATA {} of {most}", speed.trim_end_matches("Gbps").trim_end()))
        }
        _ => Some(format!("SATA {speed}")),
    }
}

/// Completes the disk and describes link and controller. `at` is the port's place in the chain.
pub(super) fn attach(root: &Root, disk: &mut Layer, chain: &[Ancestor], at: usize) -> LayersBelow {
    let mut below = LayersBelow::default();
    let port = &chain[at];
    let number = &port.name["ata".len()..];

    // SCSI address host:channel:target:lun. Behind a port multiplier the channel is the multiplier's port, else the
    // target is the number of the device on the link (k:drivers/ata/libata-scsi.c ata_scsi_scan_host).
    let address = chain.iter().find(|a| a.name.split(':').count() == 4 && !a.name.starts_with("target"));
    let mut address = address.map(|a| a.name.split(':').skip(1)).into_iter().flatten();
    let channel = address.next().unwrap_or("0").to_owned();
    let target = address.next().unwrap_or("0").to_owned();
    let behind_multiplier = root.exists(&format!("{}/link{number}.{channel}", port.path));
    let (link, device) = if behind_multiplier {
        (format!("{number}.{channel}"), format!("{number}.{channel}.0"))
    } else {
        (number.to_owned(), format!("{number}.{target}"))
    };
    let link_directory = format!("{}/link{link}/ata_link/link{link}", port.path);
    let device_directory = format!("{}/link{link}/dev{device}/ata_device/dev{device}", port.path);

    let mut layer = Layer::new(LayerKind::Link, format!("ata{link}"));
    let speed = root.text(&format!("{link_directory}/sata_spd")).filter(|text| gbit_s(text).is_some());
    let limit = root.text(&format!("{link_directory}/sata_spd_limit"));
    let maximum = root.text(&format!("{link_directory}/hw_sata_spd_limit"));
    layer.set(facts::SATA_SPEED_GBIT_S, speed.as_deref().and_then(gbit_s));
    layer.set(facts::SATA_SPEED_LIMIT_GBIT_S, limit.as_deref().and_then(gbit_s));
    layer.set(facts::PORT_MULTIPLIER, behind_multiplier);
    if let Some(ceiling) = speed.as_deref().and_then(gbit_s).and_then(ceiling::sata) {
        ceiling.set_on(&mut layer);
    }
    layer.set(facts::SATA_SPEED, speed);
    // `<unknown>` is how a limit of all ones is printed (libata-core.c sata_spd_string).
    layer.set(facts::SATA_SPEED_LIMIT, limit.map(|l| if l == "<unknown>" { "none".to_owned() } else { l }));

    let of_device = |file: &str| root.text(&format!("{device_directory}/{file}"));
    // A device in PIO has no DMA mode, and the kernel prints an empty line; the mode in use tells which PIO mode it is
    // (k:drivers/ata/libata-transport.c, libata-core.c ata_set_mode).
    let in_pio = || of_device("xfer_mode").filter(|mode| mode.starts_with("XFER_PIO"));
    let dma_mode = of_device("dma_mode").filter(|mode| mode.starts_with("XFER_"));
    disk.set(facts::ATA_DMA_MODE, dma_mode.or_else(in_pio));
    disk.set(facts::ATA_SPEED_DOWNSHIFTS, of_device("spdn_cnt").and_then(|n| n.parse::<u32>().ok()));
    disk.set(facts::ATA_TRIM, of_device("trim"));
    let ring = root.read(&format!("{device_directory}/ering")).ok();
    disk.set(facts::ATA_ERRORS, ring.map(|bytes| errors(&String::from_utf8_lossy(&bytes))));
    ATA_IDENTITY.set_on(disk, of_device("id").as_deref());

    let host = chain[..at]
        .iter()
        .find(|a| a.name.strip_prefix("host").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())));
    below.sata_host = host.map(|h| format!("{}/scsi_host/{}", h.path, h.name));
    below.modules = &ATA_MODULES;
    let host_file = |file: &str| host.map(|h| format!("{}/scsi_host/{}/{file}", h.path, h.name));
    layer.set(facts::LINK_POWER_POLICY, host_file("link_power_management_policy").and_then(|f| root.text(&f)));
    let caps = host_file("ahci_host_caps").and_then(|f| root.hex(&f));
    // The port's own limit is a number only where the firmware set one (libata-core.c sata_link_init_spd).
    let most = maximum.as_deref().and_then(gbit_s).or_else(|| caps.and_then(generation_gbit_s));
    layer.set(facts::SATA_SPEED_MAX_GBIT_S, most);
    // Queue depth 1 is the kernel's word for "no NCQ"; libata sets up to 32 with it.
    disk.set(facts::NCQ, disk.int(facts::QUEUE_DEPTH).map(|d| d > 1));
    disk.set(facts::NCQ_HOST, bit(caps, 30));
    below.controller = adapter(&chain[at + 1..]);
    if below.controller.as_ref().is_some_and(|c| c.driver.as_deref().is_some_and(|d| d.starts_with("ahci"))) {
        below.controller_facts = ahci(caps, &|file| host_file(file).and_then(|f| root.hex(&f)));
    }
    below.link = Some(layer);
    below
}

fn bit(value: Option<u64>, bit: u32) -> Fact {
    value.map(|v| v >> bit & 1 == 1).into()
}

/// What an AHCI host says of itself in CAP and other registers (AHCI 1.3.1, 3.1, 3.3.7); `register` reads one.
fn ahci(caps: Option<u64>, register: &dyn Fn(&str) -> Option<u64>) -> Vec<(&'static str, Fact)> {
    let port_command = register("ahci_port_cmd");
    vec![
        (facts::NCQ_HOST, bit(caps, 30)),
        (facts::AHCI_64BIT_DMA, bit(caps, 31)),
        (facts::AHCI_ALPM, bit(caps, 26)),
        (facts::AHCI_STAGGERED_SPINUP, bit(caps, 27)),
        (facts::AHCI_PORT_MULTIPLIER, bit(caps, 17)),
        (facts::AHCI_FBS, bit(caps, 16)),
        (facts::AHCI_PORT_ALPE, bit(port_command, 26)),
        (facts::AHCI_PORT_ASP, bit(port_command, 27)),
        // AHCI 1.3.1, 3.1.1.
        (facts::AHCI_PORTS, caps.map(|c| (c & 0x1f) + 1).into()),
        (facts::AHCI_COMMAND_SLOTS, caps.map(|c| (c >> 8 & 0x1f) + 1).into()),
        (facts::AHCI_GENERATION, caps.map(|c| c >> 20 & 0xf).filter(|g| (1..=3).contains(g)).into()),
        (facts::AHCI_VERSION, register("ahci_host_version").map(version).into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::{errors, generation_gbit_s, version};

    #[test]
    fn the_ring_has_a_line_for_each_probe_that_is_no_error() {
        let ring =
            "[17179573.304000000]Unknown\n[17179599.100000000]DeviceError, NCQError\n[17179600.000000000]Timeout\n";
        assert_eq!(errors(ring), ["[17179599.100000000]DeviceError, NCQError", "[17179600.000000000]Timeout"]);
        assert_eq!(errors("[    3.000000000]Unknown\n"), [""; 0]);
        assert_eq!(errors("[    3.000000000]Timeout, Unknown\n").len(), 1);
        assert_eq!(errors("\n"), [""; 0]);
    }

    #[test]
    fn the_host_says_its_version_and_generation_in_registers() {
        assert_eq!(
            (version(0x10000), version(0x10300), version(0x10301)),
            ("1.0".into(), "1.3".into(), "1.3.1".into())
        );
        assert_eq!(generation_gbit_s(0xc0101f05), Some(1.5));
        assert_eq!(generation_gbit_s(0xc0331f05), Some(6.0));
        assert_eq!(generation_gbit_s(0), None);
    }
}
