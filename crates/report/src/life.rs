//! How long a disk lasts, in a sentence.

use crate::quantity;
use model::{WearMedium, WearOfDisk, WritingRate, WritingSeen};

/// Years beyond which nothing of it is known.
const MOST_YEARS: f64 = 100.0;

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
pub(crate) fn identity(disk: &WearOfDisk) -> String {
    let serial = Some(&disk.serial).filter(|serial| Some(*serial) != disk.name.as_ref());
    [disk.name.as_ref(), disk.model.as_ref(), serial]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> WearOfDisk {
        WearOfDisk {
            serial: "S3R1".into(),
            model: Some("SSD".into()),
            medium: WearMedium::Flash,
            size_bytes: Some(32_000_000_000),
            ..WearOfDisk::default()
        }
    }

    fn writing(seen: WritingSeen) -> Option<WritingRate> {
        Some(WritingRate { bytes_per_s: 1e6, over_s: 2.0 * 86_400.0, seen })
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
}
