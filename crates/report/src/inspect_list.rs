//! `narrows inspect` without a target: all disks, one line each.

use crate::document::CaptureEntry;
use crate::inspect::captured;
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone};
use crate::quantity;
use model::DiskSummary;

/// The list.
pub fn disks(disks: &[DiskSummary], missing: &[String], capture: Option<&CaptureEntry>) -> Presentation {
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

fn row(disk: &DiskSummary) -> Row {
    let link = match (&disk.link, &disk.driver) {
        (Some(link), Some(driver)) if !link.contains(driver.as_str()) => format!("{link}, {driver}"),
        (Some(link), _) => link.clone(),
        (None, Some(driver)) => driver.clone(),
        (None, None) => disk.transport.to_owned(),
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
    use model::{DeviceId, LayerKind};

    fn disk(name: &str) -> DiskSummary {
        DiskSummary {
            name: name.into(),
            layer: LayerKind::Disk,
            kind: "SSD".into(),
            model: Some("Samsung SSD 870 EVO with a name that never ends".into()),
            size_bytes: Some(500_107_862_016),
            transport: "sata",
            link: Some("SATA 3.0 Gbps of 6.0".into()),
            driver: Some("ahci".into()),
            device: Some(DeviceId { major: 8, minor: 0 }),
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
