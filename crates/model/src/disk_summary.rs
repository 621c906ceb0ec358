//! A disk in one line.

use crate::{DeviceId, LayerKind};
use serde::{Serialize, Serializer};

/// One of all disks of a machine, as they are listed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiskSummary {
    /// Kernel name: `sda`, `mmcblk0`, `nvme0n1`, `mtd2`.
    pub name: String,
    /// What it is to the kernel: a disk, or a device that stands on others (loop, dm, md, zram).
    pub layer: LayerKind,
    /// What it is to a person: `SSD`, `hard disk`, `SD card`, `eMMC`, `NOR flash`, `RAID raid1`, `loop device`, ...
    pub kind: String,
    /// Model, volume name or backing file, whatever the device is known by.
    pub model: Option<String>,
    /// Size; `None` where the kernel does not tell.
    pub size_bytes: Option<u64>,
    /// As the fact `transport`.
    pub transport: &'static str,
    /// The link in a few words: `SATA 3.0 Gbps of 6.0`, `USB 480 Mbit/s, usb-storage`, `PCIe 8.0 GT/s x4`.
    pub link: Option<String>,
    /// Driver of the controller, or of the device where there is none.
    pub driver: Option<String>,
    /// Block device number, `8:0`; null for MTD.
    #[serde(serialize_with = "as_text")]
    pub device: Option<DeviceId>,
    /// Where it and its partitions are mounted, where that was looked for.
    pub mounted: Vec<String>,
}

impl DiskSummary {
    /// A disk of which no more is known.
    pub fn new(name: impl Into<String>, layer: LayerKind) -> Self {
        Self {
            name: name.into(),
            layer,
            kind: "disk".to_owned(),
            model: None,
            size_bytes: None,
            transport: "unknown",
            link: None,
            driver: None,
            device: None,
            mounted: Vec::new(),
        }
    }
}

fn as_text<S: Serializer>(device: &Option<DeviceId>, to: S) -> Result<S::Ok, S::Error> {
    device.map(|device| device.to_string()).serialize(to)
}
