//! The life of disks, as text.

use crate::document::{WearDocument, WearOfDisk, WearReading};
use crate::lines::Lines;
use crate::quantity;
use crate::style::Style;
use crate::text::plain;

/// For each disk a sentence, and what it said each time.
pub fn wear_text(document: &WearDocument, style: &Style) -> String {
    let mut out = Lines::new(style);
    let mut line = |lead: &str, text: &str| out.wrapped(lead, &plain(text, style.ascii), None);
    if document.disks.is_empty() {
        line(
            "",
            "No run or soak in this archive knows what a disk says of its life: SD cards do not tell, others as root only.",
        );
    }
    for disk in &document.disks {
        line("", &sentence(disk));
        for reading in &disk.readings {
            line("  ", &told(reading));
        }
    }
    out.out
}

fn sentence(disk: &WearOfDisk) -> String {
    let model = disk.model.as_ref().map_or_else(String::new, |model| format!("{model} "));
    let mut text = format!("{model}{}", disk.serial);
    if let Some(used) = disk.readings.iter().rev().find_map(|r| r.used_percent) {
        text.push_str(&format!(": {used:.0} % of its life is used"));
    }
    match disk.percent_per_terabyte {
        Some((least, most)) if most > 0.0 => {
            let left = |percent: f64| quantity::size((100.0 / percent * 1e12) as u64);
            let at_most = if least > 0.0 { format!(" to {}", left(least)) } else { " or more".to_owned() };
            text.push_str(&format!("; all of it would be after {}{at_most} of the same", left(most)));
        }
        _ => {}
    }
    if let Some(factor) = disk.write_amplification {
        text.push_str(&format!("; it wrote {factor:.2} times what it was given"));
    }
    text.push('.');
    text
}

fn told(reading: &WearReading) -> String {
    let mut parts = vec![reading.at.clone(), reading.from.clone()];
    parts.extend(reading.used_percent.map(|used| format!("{used:.0} %")));
    parts.extend(reading.written_bytes.map(|bytes| format!("{} written", quantity::size(bytes))));
    parts.extend(reading.flash_written_bytes.map(|bytes| format!("{} to its flash", quantity::size(bytes))));
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: &str, used_percent: f64, written_tb: f64, flash_tb: f64) -> WearReading {
        let bytes = |tb: f64| Some((tb * 1e12) as u64);
        WearReading {
            at: at.into(),
            from: format!("run of {at}"),
            used_percent: Some(used_percent),
            step_percent: 1.0,
            written_bytes: bytes(written_tb),
            flash_written_bytes: bytes(flash_tb),
        }
    }

    #[test]
    fn what_is_left_is_said_with_what_is_not_known_of_it() {
        let mut disk = WearOfDisk::new("S3R1");
        disk.model = Some("SSD".into());
        disk.readings = vec![reading("2026-11-01", 5.0, 22.0, 40.0), reading("2026-01-01", 3.0, 12.0, 25.0)];
        disk.conclude();
        assert_eq!(disk.percent_per_terabyte, Some((0.1, 0.3)), "1 to 3 % for 10 TB");
        assert_eq!(disk.write_amplification, Some(1.5));
        let text = wear_text(&WearDocument::new(vec![disk]), &Style::default());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.starts_with("SSD S3R1: 5 % of its life is used; all of it would be after 333 TB to 1 000 TB of"),
            "{text}"
        );
        assert!(text.contains("it wrote 1.50 times what it was given"), "{text}");
        let mut once = WearOfDisk::new("E");
        once.readings = vec![reading("2026-01-01", 3.0, 12.0, 25.0)];
        once.conclude();
        assert_eq!((once.percent_per_terabyte, once.write_amplification), (None, None));
        assert!(wear_text(&WearDocument::new(Vec::new()), &Style::default()).contains("No run or soak"));
    }
}
