//! The life of disks.

use crate::document::{WearDocument, WearWriter};
use crate::presentation::{Part, Presentation, SectionName, Tone};
use crate::quantity;
use model::{WearOfDisk, WearReading, WritingSeen};

/// For each disk a sentence, and what it said each time.
pub fn wear(document: &WearDocument) -> Presentation {
    let mut presentation = Presentation::default();
    let sentence = |text: String| Part::Sentence(Tone::Plain, text);
    if document.disks.is_empty() {
        let nothing = "No run or soak in this archive knows what a disk says of its life: SD cards do not tell, others as root only.";
        presentation.push(SectionName::Answer, vec![sentence(nothing.to_owned())]);
    }
    for disk in &document.disks {
        let told = disk.readings.iter().map(|reading| Part::Hint(told(reading)));
        let whole = std::iter::once(of_disk(disk)).chain(life(disk)).map(sentence);
        presentation.push(SectionName::Numbers, whole.chain(told).collect());
    }
    if !document.writers.is_empty() {
        let one = |p: &WearWriter| format!("{} ({}) {}", p.name, p.pid, quantity::size(p.written_bytes));
        let all: Vec<String> = document.writers.iter().map(one).collect();
        let text = format!(
            "Who writes, to all disks, each since it began: {}. A process counts what programs that it started wrote until they ended (a \
             shell all its commands), and kworker is the kernel, for others. Processes of others are in it only if root asks.",
            all.join(", ")
        );
        presentation.push(SectionName::Others, vec![sentence(text)]);
    }
    presentation
}

/// How fast it is written to, and how long it lasts so: an estimate.
fn life(disk: &WearOfDisk) -> Option<String> {
    let writing = disk.writing?;
    let a_day = quantity::size((writing.bytes_per_s * 86_400.0) as u64);
    let over = quantity::duration((writing.over_s * 1e9) as u64);
    let seen = match writing.seen {
        WritingSeen::Runs => format!("over its runs ({over})"),
        WritingSeen::Boot => format!("since boot ({over})"),
    };
    let number = |years: f64| quantity::significant(years, 2);
    let lasts = match disk.years_left {
        Some((least, Some(most))) => format!("it lasts {} to {} years, an estimate", number(least), number(most)),
        Some((least, None)) => format!("it lasts {} years or more, an estimate", number(least)),
        None if writing.bytes_per_s == 0.0 => "its life is not used up".to_owned(),
        None => "how long it lasts is not known, since it does not tell what of its life is used (SD cards never do, others to root)".to_owned(),
    };
    Some(format!("At {a_day} a day, as seen {seen}, {lasts}."))
}

fn of_disk(disk: &WearOfDisk) -> String {
    let words = [
        disk.name.as_ref(),
        disk.model.as_ref(),
        Some(&disk.serial).filter(|serial| Some(*serial) != disk.name.as_ref()),
    ];
    let mut text = words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
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
    use crate::Style;
    use model::{ProcessIo, WritingRate};

    #[test]
    fn what_is_left_is_said_with_what_is_not_known_of_it() {
        let reading = WearReading {
            at: "2026-11-01".into(),
            at_s: None,
            from: "r".into(),
            used_percent: Some(5.0),
            step_percent: 1.0,
            written_bytes: Some(22_000_000_000_000),
            flash_written_bytes: None,
        };
        let mut disk = WearOfDisk {
            serial: "S3R1".into(),
            model: Some("SSD".into()),
            name: None,
            readings: vec![reading],
            percent_per_terabyte: Some((0.1, 0.3)),
            write_amplification: Some(1.5),
            writing: None,
            years_left: None,
        };
        let said = |disk: &WearOfDisk| {
            let text = wear(&WearDocument::new(vec![disk.clone()], Vec::new())).text(&Style::default());
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text = said(&disk);
        assert!(
            text.starts_with(
                "SSD S3R1: 5 % of its life is used; all of it would be after 333 TB to 1 000 TB of the same"
            ),
            "{text}"
        );
        assert!(text.contains("it wrote 1.50 times what it was given. 2026-11-01 r 5 % 22 TB written"), "{text}");
        disk.percent_per_terabyte = Some((0.0, 0.1));
        assert!(said(&disk).contains("after 1 000 TB or more of the same"), "{}", said(&disk));
        let writing = |seen| Some(WritingRate { bytes_per_s: 1e6, over_s: 2.0 * 86_400.0, seen });
        (disk.writing, disk.years_left) = (writing(WritingSeen::Runs), Some((4.12, Some(9.87))));
        let text = said(&disk);
        assert!(text.contains("At 86 GB a day, as seen over its runs (48 h 00 min)"), "{text}");
        assert!(text.contains("it lasts 4.1 to 9.9 years, an estimate."), "{text}");
        (disk.writing, disk.years_left) = (writing(WritingSeen::Boot), Some((4.12, None)));
        assert!(said(&disk).contains("as seen since boot") && said(&disk).contains("4.1 years or more, an estimate"));
        disk.years_left = None;
        assert!(said(&disk).contains("how long it lasts is not known"), "{}", said(&disk));
        let writer = ProcessIo { pid: 12, name: "postgres".into(), read_bytes: 0, write_bytes: 34_000_000_000 };
        let text = wear(&WearDocument::new(vec![disk], vec![writer])).text(&Style::default());
        assert!(text.contains("Who writes") && text.contains("postgres (12) 34 GB"), "{text}");
        assert!(wear(&WearDocument::new(Vec::new(), Vec::new())).text(&Style::default()).contains("No run or soak"));
    }
}
