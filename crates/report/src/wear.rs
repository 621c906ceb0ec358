//! The life of disks.

use crate::document::{WearDocument, WearWriter};
use crate::presentation::{Part, Presentation, SectionName, Tone};
use crate::quantity;
use model::{WearMedium, WearOfDisk, WearReading, WritingRate, WritingSeen};

/// Years beyond which nothing of it is known.
const MOST_YEARS: f64 = 100.0;

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
        std::iter::once(sentence(of_disk(disk))).chain(disk.readings.iter().map(|r| Part::Hint(told_at(r))))
    });
    presentation.push(SectionName::Numbers, told.collect());
    let answers: Vec<String> = document.disks.iter().map(|disk| answer(disk, document.as_root)).collect();
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

/// How long it lasts at the rate at which it is written to: an estimate; or what is missing for that, and where it is to be had.
pub(crate) fn answer(disk: &WearOfDisk, as_root: bool) -> String {
    let name = identity(disk);
    // A disk that is not here is asked about by its serial number.
    let asked = disk.name.as_ref().unwrap_or(&disk.serial);
    if disk.years_left.is_none() && disk.medium == WearMedium::Virtual {
        let given = disk.writing.map_or_else(String::new, |writing| {
            let (rate, seen) = rate_words(&writing);
            format!(", {rate} {seen}")
        });
        return format!(
            "{name}: a virtual disk{given}. How long the storage below it lasts only the machine that has it can tell."
        );
    }
    if disk.years_left.is_none() && disk.medium == WearMedium::Rotating {
        return format!("{name}: a hard disk, which writing does not wear; narrows inspect {asked} shows its health.");
    }
    let Some(writing) = disk.writing else {
        return format!(
            "{name}: how long it lasts depends on how much is written to it in a day, which was not seen for an hour yet; say it: \
             narrows runs wear {asked} --per-day 5GB"
        );
    };
    let (rate, seen) = rate_words(&writing);
    let Some((least, most)) = disk.years_left else {
        return match writing.bytes_per_s == 0.0 {
            true => format!("{name}: nothing was written to it {seen}, so its life is not used up."),
            false => {
                format!(
                    "{name}: {rate} {seen}; how long it lasts is not known, for it tells neither its wear nor its size."
                )
            }
        };
    };
    let basis = match (disk.assumed_writes, disk.size_bytes) {
        (Some((few, many)), Some(size)) => {
            let used = disk.readings.iter().rev().find_map(|r| r.used_percent);
            let (few, many, size) = (quantity::count(few), quantity::count(many), quantity::size(size));
            let writes = format!("{few} to {many} writes of all its {size} are assumed");
            match (used, disk.medium, as_root) {
                (Some(used), ..) => format!("an estimate: {used:.0} % of its life is used, and in all {writes}"),
                (None, WearMedium::Card, _) => {
                    format!("an estimate for a new one: {writes}, since an SD card does not tell its wear")
                }
                (None, _, true) => format!("an estimate for a new one: {writes}, since it does not tell its wear"),
                (None, _, false) => format!(
                    "an estimate for a new one: {writes}; it may tell its wear to root (sudo narrows runs wear {asked})"
                ),
            }
        }
        _ => "an estimate from what it tells of its wear".to_owned(),
    };
    format!("{name}: it lasts {} at {rate} {seen}, {basis}.", years(least, most))
}

/// How fast, and where that was seen.
fn rate_words(writing: &WritingRate) -> (String, String) {
    let rate = format!("{} written a day", quantity::size((writing.bytes_per_s * 86_400.0) as u64));
    let over = quantity::duration((writing.over_s * 1e9) as u64);
    let seen = match writing.seen {
        WritingSeen::Runs => format!("as seen over its runs ({over})"),
        WritingSeen::Boot => format!("as seen since boot ({over})"),
        WritingSeen::OwnRuns => format!("by its runs alone ({over})"),
        WritingSeen::Said => "as you say".to_owned(),
    };
    (rate, seen)
}

/// `4.1 to 9.9 years`; beyond a hundred nothing is known, and of less than one there are days.
fn years(least: f64, most: Option<f64>) -> String {
    let number = |years: f64| match years {
        y if y > MOST_YEARS => "more than 100 years".to_owned(),
        y if y < 1.0 => format!("{} days", quantity::significant(y * 365.25, 2)),
        y => format!("{} years", quantity::significant(y, 2)),
    };
    match most {
        _ if least > MOST_YEARS => number(least),
        None => format!("{} or more", number(least)),
        Some(most) => {
            let (least, most) = (number(least), number(most));
            let unit = most.rsplit(' ').next().unwrap_or_default();
            format!("{} to {most}", least.strip_suffix(unit).unwrap_or(&least).trim_end())
        }
    }
}

/// What it is called: by the kernel, by its maker, and its serial number.
fn identity(disk: &WearOfDisk) -> String {
    let serial = Some(&disk.serial).filter(|serial| Some(*serial) != disk.name.as_ref());
    [disk.name.as_ref(), disk.model.as_ref(), serial]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

/// What it said of its life.
fn of_disk(disk: &WearOfDisk) -> String {
    let mut text = identity(disk);
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

fn told_at(reading: &WearReading) -> String {
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
    use model::ProcessIo;

    fn disk() -> WearOfDisk {
        WearOfDisk {
            serial: "S3R1".into(),
            model: Some("SSD".into()),
            name: None,
            medium: WearMedium::Flash,
            size_bytes: Some(32_000_000_000),
            readings: Vec::new(),
            percent_per_terabyte: None,
            write_amplification: None,
            writing: None,
            years_left: None,
            assumed_writes: None,
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
            text.starts_with(
                "SSD S3R1: 5 % of its life is used; all of it would be after 333 TB to 1 000 TB of the same"
            ),
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
    fn a_card_lasts_by_an_assumption_that_is_said() {
        let mut card = WearOfDisk { medium: WearMedium::Card, assumed_writes: Some((300, 3_000)), ..disk() };
        (card.writing, card.years_left) = (writing(WritingSeen::Said), Some((0.3, Some(3.0))));
        assert_eq!(
            answer(&card, true),
            "SSD S3R1: it lasts 110 days to 3.0 years at 86 GB written a day as you say, an estimate for a new one: 300 to 3 000 \
             writes of all its 32 GB are assumed, since an SD card does not tell its wear."
        );
        let flash = WearOfDisk { medium: WearMedium::Flash, ..card.clone() };
        assert!(answer(&flash, true).ends_with("since it does not tell its wear."), "root is not told to ask as root");
        assert!(answer(&flash, false).contains("sudo narrows runs wear S3R1"));
        // What is missing, and which command gives it.
        let unseen =
            WearOfDisk { name: Some("mmcblk0".into()), writing: None, years_left: None, assumed_writes: None, ..card };
        let text = answer(&unseen, true);
        assert!(
            text.contains("depends on how much is written")
                && text.ends_with("narrows runs wear mmcblk0 --per-day 5GB"),
            "{text}"
        );
        for (medium, words) in
            [(WearMedium::Virtual, "a virtual disk"), (WearMedium::Rotating, "writing does not wear")]
        {
            let text = answer(&WearOfDisk { medium, ..unseen.clone() }, true);
            assert!(text.contains(words), "{text}");
        }
        let idle = Some(WritingRate { bytes_per_s: 0.0, over_s: 7_200.0, seen: WritingSeen::Boot });
        let text = answer(&WearOfDisk { writing: idle, ..unseen }, true);
        assert!(text.contains("nothing was written to it as seen since boot"), "{text}");
    }

    #[test]
    fn years_are_rounded_to_what_is_known_of_them() {
        for (least, most, words) in [
            (0.5, Some(0.9), "180 to 330 days"),
            (5.26, Some(52.6), "5.3 to 53 years"),
            (50.0, Some(500.0), "50 to more than 100 years"),
            (120.0, Some(500.0), "more than 100 years"),
            (4.0, None, "4.0 years or more"),
        ] {
            assert_eq!(years(least, most), words);
        }
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
