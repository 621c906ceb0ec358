//! Facts of the storage path in words: the page's drawing and every piece of evidence name them alike.

use crate::quantity;
use model::Fact;

/// Units that facts carry at the end of their names (the observer's convention), longest first.
const UNITS: [(&str, &str); 17] = [
    ("_minutes", " min"),
    ("_percent", " %"),
    ("_hours", " h"),
    ("_mhz", " MHz"),
    ("_rpm", " rpm"),
    ("_mb", " MiB"),
    ("_c", " deg C"),
    ("_mbit_s", " Mbit/s"),
    ("_gbit_s", " Gbit/s"),
    ("_gt_s", " GT/s"),
    ("_usec", " us"),
    ("_khz", " kHz"),
    ("_hz", " Hz"),
    ("_kb", " KiB"),
    ("_us", " us"),
    ("_ms", " ms"),
    ("_s", " s"),
];

/// Names that the kernel or a specification abbreviates beyond what a reader can be asked to know.
const WORDS: [(&str, &str); 22] = [
    ("app_performance_class", "application performance class"),
    ("cmdq_en", "command queue in use"),
    ("dio", "direct I/O to the backing file"),
    ("fstype", "file system"),
    ("fua", "forced unit access (FUA)"),
    ("io_is_busy", "I/O wait counts as load"),
    ("io_poll", "polled completions possible"),
    ("irq_cpus", "processors that take its interrupts"),
    ("irqs", "interrupts"),
    ("mmc_host_cqe", "host has a command queue engine"),
    ("ncq", "command queueing (NCQ) in use"),
    ("ncq_host", "host can queue commands (NCQ)"),
    ("nomerges", "merging held back (nomerges)"),
    ("nr_requests", "requests that the queue holds"),
    ("nvme_hmb", "host memory buffer in use"),
    ("remapped_nvme", "NVMe drives hidden behind it"),
    ("rq_affinity", "where completions run (rq_affinity)"),
    ("sd_card_queue_depth", "queue depth that the card offers"),
    ("start_bytes", "starts at"),
    ("sync_mount", "mounted sync"),
    ("usb_uas_capable", "device offers UAS"),
    ("wbt_lat_usec", "writeback throttling at"),
];

/// Parts of names that are written large.
const ACRONYMS: [&str; 22] = [
    "aer", "ahci", "apm", "aspm", "ata", "cid", "cpu", "crc", "csd", "dax", "dma", "ecc", "hba", "irq", "mmc", "mtd",
    "numa", "pci", "sata", "sd", "spi", "usb",
];

/// What a reader asks first of a layer; the other facts follow in the order of their names.
const FIRST: [&str; 24] = [
    "mount_point",
    "fstype",
    "mount_source",
    "dm_name",
    "dm_type",
    "md_level",
    "backing_file",
    "vendor",
    "model",
    "firmware_revision",
    "serial",
    "size_bytes",
    "transport",
    "queue_depth",
    "scheduler",
    "write_cache",
    "bus_mode",
    "sata_speed_gbit_s",
    "usb_speed_mbit_s",
    "usb_driver",
    "pcie_speed_gt_s",
    "pcie_width",
    "pci_name",
    "controller_bus",
];

/// The place of a fact among those that are asked first.
pub(crate) fn rank(name: &str) -> Option<usize> {
    FIRST.iter().position(|first| *first == name)
}

/// A part of a name as people of the field write it.
fn word(part: &str) -> String {
    match part {
        "emmc" => "eMMC".into(),
        "io" => "I/O".into(),
        "nvme" => "NVMe".into(),
        "pcie" => "PCIe".into(),
        part if ACRONYMS.contains(&part) => part.to_uppercase(),
        part => part.to_owned(),
    }
}

/// A fact's name in words, without the unit that its value shows.
pub(crate) fn name(name: &str) -> String {
    if let Some((_, words)) = WORDS.iter().find(|(n, _)| *n == name) {
        return (*words).to_owned();
    }
    let bare = ["_bytes_per_s", "_bytes"]
        .into_iter()
        .chain(UNITS.iter().map(|(suffix, _)| *suffix))
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    bare.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// Facts whose bits mean something, and whose number does not.
const BITS: [&str; 2] = ["raspberry_pi_throttled", "sunxi_ahci_p0dmacr"];

/// A fact in words; `None` where it is missing.
pub(crate) fn value(name: &str, fact: &Fact) -> Option<String> {
    let number = |v: f64, plain: String| {
        if name.ends_with("_bytes_per_s") {
            return quantity::rate(v);
        }
        // Disks are sold by powers of ten.
        if name == "size_bytes" && v >= 0.0 {
            return quantity::size(v as u64);
        }
        if name.ends_with("_bytes") && v >= 0.0 {
            return quantity::binary_size(v as u64);
        }
        match name {
            n if BITS.contains(&n) && v >= 0.0 => format!("{:#x}", v as u64),
            n if n.ends_with("_khz") && v >= 1e3 => format!("{} MHz", quantity::significant(v / 1e3, 4)),
            n if n.ends_with("_hz") && v >= 1e6 => format!("{} MHz", quantity::significant(v / 1e6, 4)),
            n => {
                let unit = UNITS.iter().find(|(suffix, _)| n.ends_with(suffix)).map_or("", |(_, unit)| unit);
                format!("{plain}{unit}")
            }
        }
    };
    match fact {
        Fact::Null => None,
        Fact::Bool(b) => Some(if *b { "yes" } else { "no" }.into()),
        Fact::Int(v) => Some(number(*v as f64, v.to_string())),
        Fact::Float(v) => Some(number(*v, quantity::significant(*v, 4))),
        Fact::Text(s) => Some(s.clone()),
        Fact::List(l) => Some(l.join(", ")),
    }
    .filter(|s| !s.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_units_and_abbreviations() {
        assert_eq!(name("clock_hz"), "clock");
        assert_eq!(name("cmdq_en"), "command queue in use");
        assert_eq!(name("mount_options"), "mount options");
        assert_eq!(name("usb_driver"), "USB driver");
        assert_eq!(
            (name("temperature_c"), value("temperature_c", &Fact::Int(41))),
            ("temperature".into(), Some("41 deg C".into()))
        );
        assert_eq!(value("wear_percent", &Fact::Int(3)).as_deref(), Some("3 %"));
        assert_eq!(value("clock_hz", &Fact::Int(150_000_000)).as_deref(), Some("150.0 MHz"));
        assert_eq!(value("max_sectors_kb", &Fact::Int(512)).as_deref(), Some("512 KiB"));
        assert_eq!(value("raspberry_pi_throttled", &Fact::Int(0x50005)).as_deref(), Some("0x50005"));
        assert_eq!(value("cmdq_en", &Fact::Null), None);
    }
}
