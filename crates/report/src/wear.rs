//! Who wears disks, what these said of it each time, and how long they last.

use crate::document::{WearDocument, WearWriter};
use crate::life::answer;
use crate::presentation::{Part, Presentation, SectionName, Tone};
use crate::quantity;
use model::{WearOfDisk, WearReading};

/// Who writes; then for each disk what it said each time, and last how long it lasts.
pub fn wear(document: &WearDocument) -> Presentation {
    let mut presentation = Presentation::default();
    let sentence = |text: String| Part::Sentence(Tone::Plain, text);
    if document.disks.is_empty() {
        let nothing = "No disk is here, and no run or soak in this archive knows what one says of its life.";
        presentation.push(SectionName::Answer, vec![sentence(nothing.to_owned())]);
    }
    if !document.writers.is_empty() {
        presentation.push(SectionName::Others, vec![sentence(who_writes(document))]);
    }
    let told = document.disks.iter().filter(|disk| !disk.readings.is_empty());
    let told = told.flat_map(|disk| {
        std::iter::once(sentence(of_disk(disk))).chain(alike(&disk.readings).into_iter().map(Part::Hint))
    });
    presentation.push(SectionName::Numbers, told.collect());
    let whose = document.below.iter().map(crate::document::WearPlace::sentence);
    let answers: Vec<String> = whose.chain(document.disks.iter().map(|disk| answer(disk, document.as_root))).collect();
    presentation.push(SectionName::Answer, answers.iter().cloned().map(sentence).collect());
    presentation.end.answers = answers;
    presentation
}

fn who_writes(document: &WearDocument) -> String {
    let one = |p: &WearWriter| format!("{} ({}) {}", p.name, p.pid, quantity::size(p.written_bytes));
    let all: Vec<String> = document.writers.iter().map(one).collect();
    let others = if document.as_root { "" } else { " Processes of other users are not in it: root sees them." };
    format!(
        "Who writes, to all disks, each since it began: {}. A process counts what programs that it started wrote until they ended (a \
         shell all its commands), and kworker is the kernel, for others.{others}",
        all.join(", ")
    )
}

/// What it said of its life; the answer has its whole name.
fn of_disk(disk: &WearOfDisk) -> String {
    let mut text = disk.name.as_ref().or(disk.model.as_ref()).unwrap_or(&disk.serial).clone();
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

/// A line for each reading that says something else than the one before it.
fn alike(readings: &[WearReading]) -> Vec<String> {
    let said = |r: &WearReading| (r.used_percent, r.written_bytes, r.flash_written_bytes);
    let groups = readings.chunk_by(|a, b| said(a) == said(b));
    let line = |group: &[WearReading]| match group {
        [one] => Some(told_at(one, format!("{}  {}", one.at, one.from))),
        [first, .., last] => Some(told_at(last, format!("{} to {}  {} readings", first.at, last.at, group.len()))),
        [] => None,
    };
    groups.filter_map(line).collect()
}

fn told_at(reading: &WearReading, when: String) -> String {
    let mut parts = vec![when];
    parts.extend(reading.used_percent.map(|used| format!("{used:.0} %")));
    parts.extend(reading.written_bytes.map(|bytes| format!("{} written", quantity::size(bytes))));
    parts.extend(reading.flash_written_bytes.map(|bytes| format!("{} to its flash", quantity::size(bytes))));
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use model::{ProcessIo, WearMedium, WritingRate, WritingSeen};

    fn disk() -> WearOfDisk {
        WearOfDisk {
            serial: "S3R1".into(),
            model: Some("SSD".into()),
            medium: WearMedium::Flash,
            size_bytes: Some(32_000_000_000),
            ..WearOfDisk::default()
        }
    }

    fn said(disk: &WearOfDisk) -> String {
        let text = wear(&WearDocument::new(vec![disk.clone()], Vec::new(), true)).text(&Style::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn writing(seen: WritingSeen) -> Option<WritingRate> {
        Some(WritingRate { bytes_per_s: 1e6, over_s: 2.0 * 86_400.0, seen })
    }

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
            readings: vec![reading],
            percent_per_terabyte: Some((0.1, 0.3)),
            write_amplification: Some(1.5),
            ..disk()
        };
        let text = said(&disk);
        assert!(
            text.starts_with("SSD: 5 % of its life is used; all of it would be after 333 TB to 1 000 TB of the same"),
            "{text}"
        );
        assert!(text.contains("it wrote 1.50 times what it was given. 2026-11-01 r 5 % 22 TB written"), "{text}");
        disk.percent_per_terabyte = Some((0.0, 0.1));
        assert!(said(&disk).contains("after 1 000 TB or more of the same"), "{}", said(&disk));
        (disk.writing, disk.years_left) = (writing(WritingSeen::Runs), Some((4.12, Some(9.87))));
        let text = said(&disk);
        let answer = "SSD S3R1: it lasts 4.1 to 9.9 years at 86 GB written a day as seen over its runs (48 h 00 min), an estimate from \
                      what it tells of its wear.";
        assert!(text.ends_with(answer), "the answer is last: {text}");
        (disk.writing, disk.years_left) = (writing(WritingSeen::Boot), Some((4.12, None)));
        assert!(said(&disk).contains("4.1 years or more at 86 GB written a day as seen since boot"), "{}", said(&disk));
    }

    #[test]
    fn readings_that_say_the_same_are_one_line() {
        let reading = |day: u32, used: f64| WearReading {
            at: format!("2026-11-{day:02}"),
            at_s: None,
            from: format!("run-{day}"),
            used_percent: Some(used),
            step_percent: 10.0,
            written_bytes: None,
            flash_written_bytes: None,
        };
        let readings = [reading(1, 10.0), reading(2, 10.0), reading(3, 10.0), reading(4, 20.0)];
        let expected = ["2026-11-01 to 2026-11-03  3 readings  10 %", "2026-11-04  run-4  20 %"];
        assert_eq!(alike(&readings), expected);
    }

    #[test]
    fn whose_wear_it_is_comes_first_where_a_place_was_asked_about() {
        let place = crate::document::WearPlace {
            place: "/mnt/data".into(),
            devices: vec!["loop0".into()],
            disks: vec!["vda".into()],
        };
        let document = WearDocument::new(vec![disk()], Vec::new(), true).of_place(Some(place));
        let whose = "/mnt/data lies on loop0 on vda; a disk wears as a whole, so this is of vda and all that is on it.";
        assert!(document.answer.as_ref().is_some_and(|said| said.starts_with(whose)), "{:?}", document.answer);
        let text = wear(&document).text(&Style::default()).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&document.answer.expect("an answer")), "{text}");
    }

    #[test]
    fn only_who_is_not_root_is_told_what_root_sees() {
        let writer = ProcessIo { pid: 12, name: "postgres".into(), read_bytes: 0, write_bytes: 34_000_000_000 };
        let text = |as_root| {
            let document = WearDocument::new(vec![disk()], vec![writer.clone()], as_root);
            wear(&document).text(&Style::default()).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(text(true).contains("Who writes") && text(true).contains("postgres (12) 34 GB"), "{}", text(true));
        assert!(text(false).contains("root sees them") && !text(true).contains("root"), "{}", text(true));
        let nothing = wear(&WearDocument::new(Vec::new(), Vec::new(), true)).text(&Style::default());
        assert!(nothing.contains("No disk is here"), "{nothing}");
    }
}
