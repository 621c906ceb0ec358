//! `narrows inspect` without a target: all disks, one line each.

use crate::document::CaptureEntry;
use crate::inspect::captured;
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone};
use crate::quantity;
use model::LayerKind;
use serde::Serialize;

/// One disk of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiskLine {
    /// Kernel name.
    pub name: String,
    /// What it is to the kernel.
    pub layer: LayerKind,
    /// What it is to a person: `SSD`, `SD card`.
    pub kind: String,
    /// Model, volume name or backing file.
    pub model: Option<String>,
    pub size_bytes: Option<u64>,
    /// How it is attached: `sata`, `mmc`.
    pub transport: String,
    /// The link in a few words.
    pub link: Option<String>,
    /// Driver of the controller, or of the device.
    pub driver: Option<String>,
    /// Block device number, `8:0`; null for MTD.
    pub device: Option<String>,
    /// Where it and its partitions are mounted.
    pub mounted: Vec<String>,
}

/// The list.
pub fn disks(disks: &[DiskLine], missing: &[String], capture: Option<&CaptureEntry>) -> Presentation {
    let mut presentation = Presentation { wide: true, ..Presentation::default() };
    let hint = |text: &str| Part::Hint(text.to_owned());
    let mut parts = match disks {
        [] => vec![Part::Sentence(Tone::Plain, "There are no disks to be seen.".to_owned())],
        disks => {
            let head = ["size", "kind", "model", "link, driver", "mounted"].map(str::to_owned).into();
            let table = Table { corner: "name", head, rows: disks.iter().map(row).collect(), ..Table::default() };
            vec![Part::Table(table), hint("narrows inspect NAME shows a disk's whole path")]
        }
    };
    parts.extend(missing.iter().map(|m| hint(m)));
    presentation.push(SectionName::Numbers, parts);
    presentation.push(SectionName::Events, captured(capture).into_iter().collect());
    presentation
}

fn row(disk: &DiskLine) -> Row {
    let link = match (&disk.link, &disk.driver) {
        (Some(link), Some(driver)) if !link.contains(driver.as_str()) => format!("{link}, {driver}"),
        (Some(link), _) => link.clone(),
        (None, Some(driver)) => driver.clone(),
        (None, None) => disk.transport.clone(),
    };
    let size = disk.size_bytes.map_or_else(|| "-".into(), quantity::size);
    let words = [disk.kind.clone(), disk.model.clone().unwrap_or_default(), link, disk.mounted.join(" ")];
    Row::new(&disk.name, std::iter::once(Cell::Text(size)).chain(words.map(Cell::Words)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::text::width;

    fn disk(name: &str) -> DiskLine {
        DiskLine {
            name: name.into(),
            layer: LayerKind::Disk,
            kind: "SSD".into(),
            model: Some("Samsung SSD 870 EVO with a name that never ends".into()),
            size_bytes: Some(500_107_862_016),
            transport: "sata".into(),
            link: Some("SATA 3.0 Gbps of 6.0".into()),
            driver: Some("ahci".into()),
            device: Some("8:0".into()),
            mounted: vec!["/".into(), "/home".into(), "/var/lib/containers/storage/overlay".into()],
        }
    }

    #[test]
    fn one_line_each_in_every_width() {
        for columns in 60..140 {
            let style = Style { width: columns, ..Style::default() };
            let text = disks(&[disk("sda"), disk("nvme0n1"), disk("a\x1b[2Jb")], &[], None).text(&style);
            assert_eq!(text.lines().filter(|l| l.contains("SSD") && l.contains("500 GB")).count(), 3, "{text}");
            assert!(text.lines().all(|l| width(l) <= columns), "{columns}\n{text}");
            assert!(text.contains("sda") && text.contains("nvme0n1") && !text.contains('\x1b'), "{text}");
        }
    }

    #[test]
    fn no_disks_are_said() {
        let text = disks(&[], &["/sys is not mounted".into()], None).text(&Style::default());
        assert_eq!(text, "  There are no disks to be seen.\n  /sys is not mounted\n");
    }
}
