//! The storage path in one line.

use crate::quantity;
use crate::text::shorten;
use model::{Fact, Layer, LayerKind, Run, TargetKind};

/// The longest part of the line.
const PART_COLUMNS: usize = 60;

/// The first of several facts that is there, as text.
fn text_fact<'a>(layer: &'a Layer, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|n| layer.text(n)).map(str::trim).filter(|t| !t.is_empty())
}

/// What a link is called by people: its mode or its speed, from the facts of the observer; else its name.
pub fn link_name(layer: &Layer) -> String {
    let float = |name: &str| match layer.fact(name) {
        Some(Fact::Float(v)) => Some(*v),
        Some(Fact::Int(v)) => Some(*v as f64),
        _ => None,
    };
    if let Some(mode) = layer.text("bus_mode") {
        return mode.to_uppercase();
    }
    if let Some(speed) = float("sata_speed_gbit_s") {
        return format!("SATA {speed:.1} Gbit/s");
    }
    if let Some(speed) = float("usb_speed_mbit_s") {
        let transport =
            layer.text("usb_driver").or(layer.driver.as_deref()).map(|d| format!(" {d}")).unwrap_or_default();
        return match speed {
            s if s >= 1000.0 => format!("USB {} Gbit/s{transport}", s / 1000.0),
            s => format!("USB {s} Mbit/s{transport}"),
        };
    }
    if let Some((speed, width)) = float("pcie_speed_gt_s").zip(layer.int("pcie_width")) {
        return format!("PCIe {speed} GT/s x{width}");
    }
    layer.name.clone()
}

/// The link with its ceiling: `SDR104 (104 MB/s)`.
pub fn link_text(layer: &Layer) -> String {
    let name = if layer.kind == LayerKind::Link { link_name(layer) } else { layer.name.clone() };
    match layer.ceiling_bytes_per_s {
        Some(c) => format!("{name} ({})", quantity::rate(c as f64)),
        None => name,
    }
}

/// What was measured, as somebody else can find it: host, mount point or path, device; as it was asked for where there is
/// no storage.
pub fn identity(run: &Run) -> String {
    let target = &run.target;
    if matches!(target.kind, TargetKind::Null | TargetKind::Sim | TargetKind::Foreign) {
        return target.name.clone();
    }
    let mut place = target.path.clone().unwrap_or_else(|| target.name.clone());
    if let Some(mount) = target.stack.mount.as_ref().filter(|m| m.mount_point != place) {
        place.push_str(&format!(" on {}", mount.mount_point));
    }
    let device = target.stack.layers.iter().find(|l| l.kind > LayerKind::Filesystem && l.kind <= LayerKind::Disk);
    let device = device.filter(|d| !place.ends_with(&d.name)).map(|d| format!(" ({})", d.name)).unwrap_or_default();
    let host = run.environment.hostname.as_deref().map(|h| format!("{h}:")).unwrap_or_default();
    format!("{host}{place}{device}")
}

/// File system, disk, model and size, link with ceiling, driver, kernel; what is not known is left out.
pub fn storage_line(run: &Run) -> String {
    let target = &run.target;
    let stack = &target.stack;
    let mut parts: Vec<String> = Vec::new();
    match target.kind {
        TargetKind::Null => parts.push("null device: what the program itself costs".into()),
        TargetKind::Region => parts.push("a region that is copied".into()),
        TargetKind::Foreign => parts.push("measured by another tool".into()),
        TargetKind::Sim => {
            let model = stack.first(LayerKind::Sim).and_then(|l| text_fact(l, &["title"]));
            parts.push(match model {
                Some(m) => format!("simulated: {m}"),
                None => "simulated device, simulated time".into(),
            });
        }
        _ => {
            let below = stack
                .first(LayerKind::Partition)
                .or_else(|| stack.layers.iter().find(|l| l.kind > LayerKind::Filesystem && l.kind <= LayerKind::Disk));
            let fs = stack.mount.as_ref().map(|m| m.fstype.as_str());
            match (fs, below) {
                (Some(fs), Some(b)) => parts.push(format!("{fs} on {}", b.name)),
                (Some(fs), None) => parts.push(fs.to_owned()),
                (None, Some(b)) => parts.push(b.name.clone()),
                (None, None) => {}
            }
            // What lies between file system and disk changes every number: name it.
            for layer in &stack.layers {
                let shown_already = below.is_some_and(|b| b.name == layer.name);
                if matches!(layer.kind, LayerKind::Loop | LayerKind::Dm | LayerKind::Md | LayerKind::Zram)
                    && !shown_already
                {
                    parts.push(layer.name.clone());
                }
            }
            let disks: Vec<&Layer> = stack.all(LayerKind::Disk).collect();
            if let Some(disk) = disks.first() {
                let model = text_fact(disk, &["model", "card_name", "product"]);
                // What was measured may be less than the disk below it: a partition, a loop device.
                let measured = below.and_then(|b| b.int("size_bytes")).or_else(|| disk.int("size_bytes"));
                let size = measured.and_then(|s| u64::try_from(s).ok()).map(quantity::size);
                let mut text = [model.map(str::to_owned), size].into_iter().flatten().collect::<Vec<_>>().join(" ");
                if disks.len() > 1 {
                    text = format!("{} disks{}{text}", disks.len(), if text.is_empty() { "" } else { ", first " });
                }
                if !text.is_empty() {
                    parts.push(text);
                }
            }
        }
    }
    if let Some(link) = stack.first(LayerKind::Link) {
        parts.push(link_text(link));
    }
    let driver = [LayerKind::Controller, LayerKind::Disk].iter().find_map(|k| stack.first(*k)?.driver.clone());
    parts.extend(driver);
    if let Some(kernel) = run.environment.kernel.as_ref().filter(|_| target.kind != TargetKind::Sim) {
        // The version without the distribution's suffix; the page has all of it.
        let version = kernel.split(['-', '+']).next().unwrap_or(kernel);
        parts.push(format!("Linux {version}"));
    }
    // Names come from the device: one that never ends must not push the rest away.
    parts.iter().map(|p| shorten(p, PART_COLUMNS, false)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_the_names_that_people_use() {
        let link = |facts: &[(&str, Fact)], ceiling| {
            let mut l = Layer::new(LayerKind::Link, "ata1");
            facts.iter().for_each(|(n, f)| l.set(n, f.clone()));
            l.ceiling_bytes_per_s = ceiling;
            link_text(&l)
        };
        assert_eq!(link(&[("bus_mode", "sdr104".into())], Some(104_000_000)), "SDR104 (104 MB/s)");
        assert_eq!(link(&[("sata_speed_gbit_s", 6.0.into())], Some(600_000_000)), "SATA 6.0 Gbit/s (600 MB/s)");
        assert_eq!(
            link(&[("usb_speed_mbit_s", 5000u32.into()), ("usb_driver", "uas".into())], None),
            "USB 5 Gbit/s uas"
        );
        assert_eq!(link(&[("pcie_speed_gt_s", 8.0.into()), ("pcie_width", 4u32.into())], None), "PCIe 8 GT/s x4");
        assert_eq!(link(&[], None), "ata1");
    }
}
