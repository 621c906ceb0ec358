//! `narrows inspect` without a target: all disks, one line each.

use crate::text::{pad, plain, shorten, width, wrap};
use crate::{Paint, Style, quantity};
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

impl DiskLine {
    fn cells(&self) -> [String; 6] {
        let link = match (&self.link, &self.driver) {
            (Some(link), Some(driver)) if !link.contains(driver.as_str()) => format!("{link}, {driver}"),
            (Some(link), _) => link.clone(),
            (None, Some(driver)) => driver.clone(),
            (None, None) => self.transport.clone(),
        };
        [
            self.name.clone(),
            self.size_bytes.map_or_else(|| "-".into(), quantity::size),
            self.kind.clone(),
            self.model.clone().unwrap_or_default(),
            link,
            self.mounted.join(" "),
        ]
    }
}

const HEADS: [&str; 6] = ["NAME", "SIZE", "KIND", "MODEL", "LINK, DRIVER", "MOUNTED"];
/// Columns that give way where a line is too long, and how narrow they may become.
const GIVE_WAY: [(usize, usize); 5] = [(5, 8), (3, 8), (4, 10), (2, 6), (0, 8)];

/// The list; each disk on one line of at most the style's width, but never less than 60 columns.
pub fn disks_text(disks: &[DiskLine], missing: &[String], style: &Style) -> String {
    let mut out = String::new();
    if disks.is_empty() {
        out.push_str("There are no disks to be seen.\n");
    } else {
        let rows: Vec<[String; 6]> = disks.iter().map(|d| d.cells().map(|c| plain(&c, style.ascii))).collect();
        let mut widths = HEADS.map(width);
        for row in &rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(width(cell));
            }
        }
        fit(&mut widths, style.width.max(60));
        let line = |cells: &[String; 6]| {
            let cells = cells.iter().zip(widths).enumerate().map(|(i, (cell, w))| {
                let cell = shorten(cell, w, style.ascii);
                if i == 1 { format!("{cell:>w$}") } else { pad(&cell, w) }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line(&HEADS.map(str::to_owned)))));
        for row in &rows {
            out.push_str(&format!("{}\n", line(row)));
        }
        out.push_str(&style.paint(Paint::Dim, "narrows inspect NAME shows a disk's whole path"));
        out.push('\n');
    }
    for m in missing {
        for line in wrap(&plain(m, style.ascii), style.width) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    out
}

/// Takes columns from those that can spare some until the line fits.
fn fit(widths: &mut [usize; 6], columns: usize) {
    for (column, least) in GIVE_WAY {
        let total: usize = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
        let over = total.saturating_sub(columns);
        let spare = widths[column].saturating_sub(least);
        widths[column] -= over.min(spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let text = disks_text(&[disk("sda"), disk("nvme0n1"), disk("a\x1b[2Jb")], &[], &style);
            assert_eq!(text.lines().count(), 5);
            assert!(text.lines().all(|l| width(l) <= columns), "{columns}\n{text}");
            assert!(text.contains("sda") && text.contains("nvme0n1") && !text.contains('\x1b'), "{text}");
        }
    }

    #[test]
    fn no_disks_are_said() {
        let text = disks_text(&[], &["/sys is not mounted".into()], &Style::default());
        assert_eq!(text, "There are no disks to be seen.\n/sys is not mounted\n");
    }
}
