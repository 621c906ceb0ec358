//! What the readings of a disk's life mean together.

use model::{CompactSort as _, Layer, Run, WearMedium, WearOfDisk, WearReading, WritingRate, WritingSeen, facts};

/// A rate that was seen for less time says nothing of a year.
const MIN_SEEN_S: f64 = 3_600.0;
const DAY_S: f64 = 86_400.0;
const YEAR_S: f64 = 365.25 * DAY_S;

/// How often all of a new disk of flash can be written, at least and at most, where it does not tell its wear: an assumption. Cheap
/// cells endure a few hundred erasures and small writes cost several of their size; MLC takes up to 3,000, TLC below 1,500 (Transcend,
/// "Types of NAND flash"). Between them lies what is promised of cards for cameras: 10,000 hours of 26 Mbit/s on 128 GB, 914 writes of
/// all of it (SanDisk High Endurance).
const ASSUMED_WRITES: (u64, u64) = (300, 3_000);

/// What is known of a disk.
#[derive(Clone, Debug, Default)]
pub struct DiskSeen {
    pub serial: String,
    pub model: Option<String>,
    pub name: Option<String>,
    pub medium: WearMedium,
    pub size_bytes: Option<u64>,
    /// In whatever order they come.
    pub readings: Vec<WearReading>,
    /// What it was given to write since the machine was started: bytes, seconds.
    pub since_boot: Option<(u64, f64)>,
    /// What this program wrote to it in its runs, and since when: bytes, seconds.
    pub own_runs: Option<(u64, f64)>,
    /// What it is given to write in a day by whoever asks: bytes.
    pub said_a_day: Option<u64>,
}

/// What a disk keeps its data in, by the facts of its layer.
pub fn wear_medium(disk: &Layer) -> WearMedium {
    let transport = disk.text(facts::TRANSPORT).unwrap_or_default();
    let is = |fact| disk.bool(fact) == Some(true);
    match transport {
        "mmc" if disk.text(facts::MMC_TYPE) == Some("SD") => WearMedium::Card,
        "virtio" | "virtual" | "xen" | "network" => WearMedium::Virtual,
        _ if is(facts::EMULATED) => WearMedium::Virtual,
        _ if is(facts::ROTATIONAL) => WearMedium::Rotating,
        _ => WearMedium::Flash,
    }
}

/// How a disk wears, and how long it lasts.
pub fn wear_of_disk(seen: DiskSeen) -> WearOfDisk {
    let DiskSeen { serial, model, name, medium, size_bytes, mut readings, since_boot, own_runs, said_a_day } = seen;
    readings.compact_sort_by(|a, b| a.at.cmp(&b.at));
    readings.dedup_by(|b, a| {
        let said = |r: &WearReading| (r.used_percent, r.written_bytes, r.flash_written_bytes);
        a.from == b.from && said(a) == said(b)
    });
    let percent_per_terabyte = percent_per_terabyte(&readings);
    let write_amplification = amplification(&readings);
    let rate = |of: Option<(u64, f64)>, seen| {
        let (bytes, over_s) = of.filter(|(_, seconds)| *seconds >= MIN_SEEN_S)?;
        Some(WritingRate { bytes_per_s: bytes as f64 / over_s, over_s, seen })
    };
    let writing = rate(said_a_day.map(|bytes| (bytes, DAY_S)), WritingSeen::Said)
        .or_else(|| over_runs(&readings))
        .or_else(|| rate(since_boot, WritingSeen::Boot))
        .or_else(|| rate(own_runs.filter(|(bytes, _)| *bytes > 0), WritingSeen::OwnRuns));
    let used_percent = readings.iter().rev().find_map(|r| r.used_percent);
    let is_flash = matches!(medium, WearMedium::Card | WearMedium::Flash);
    let told = years_left(&readings, percent_per_terabyte, writing);
    let assumed = size_bytes.zip(writing).filter(|_| is_flash && told.is_none());
    let assumed = assumed.and_then(|(size, writing)| assumed_years(size, writing, used_percent.unwrap_or(0.0)));
    let assumed_writes = assumed.map(|_| ASSUMED_WRITES);
    WearOfDisk {
        serial,
        model,
        name,
        medium,
        size_bytes,
        readings,
        percent_per_terabyte,
        write_amplification,
        writing,
        years_left: told.or(assumed),
        assumed_writes,
    }
}

/// How long a disk of this size lasts of whose life so much is used, by [`ASSUMED_WRITES`].
fn assumed_years(size_bytes: u64, writing: WritingRate, used_percent: f64) -> Option<(f64, Option<f64>)> {
    let bytes_a_year = writing.bytes_per_s * YEAR_S;
    let left = (100.0 - used_percent).max(0.0) / 100.0;
    let years = |writes: u64| {
        Some(size_bytes as f64 * left * writes as f64 / bytes_a_year).filter(|y| y.is_finite() && *y > 0.0)
    };
    Some((years(ASSUMED_WRITES.0)?, years(ASSUMED_WRITES.1)))
}

/// By its own counter, from its first to its last run.
fn over_runs(readings: &[WearReading]) -> Option<WritingRate> {
    let (first, last) = ends(readings, |r| r.written_bytes.is_some() && r.at_s.is_some())?;
    let over_s = last.at_s?.checked_sub(first.at_s?)? as f64;
    let bytes = last.written_bytes?.checked_sub(first.written_bytes?)?;
    let seen = WritingSeen::Runs;
    (over_s >= MIN_SEEN_S).then(|| WritingRate { bytes_per_s: bytes as f64 / over_s, over_s, seen })
}

/// What is left of its life, at what a terabyte took of it between the readings, or else in its life so far.
fn years_left(
    readings: &[WearReading],
    percent_per_terabyte: Option<(f64, f64)>,
    writing: Option<WritingRate>,
) -> Option<(f64, Option<f64>)> {
    let last = readings.iter().rfind(|r| r.used_percent.is_some())?;
    let used = last.used_percent?;
    let left = (100.0 - used).max(0.0);
    // Between two readings of one step nothing is known of the least, and little of the most.
    let in_its_life = || {
        let terabytes = last.written_bytes.filter(|bytes| *bytes > 0)? as f64 / 1e12;
        Some(((used - last.step_percent).max(0.0) / terabytes, (used + last.step_percent) / terabytes))
    };
    let (least, most) =
        percent_per_terabyte.filter(|(least, _)| *least > 0.0).or_else(in_its_life).or(percent_per_terabyte)?;
    let terabytes_a_year = writing?.bytes_per_s * YEAR_S / 1e12;
    let years = |percent: f64| Some(left / (percent * terabytes_a_year)).filter(|years| years.is_finite());
    Some((years(most)?, years(least)))
}

/// From the first to the last reading that fits.
fn ends(readings: &[WearReading], fits: fn(&&WearReading) -> bool) -> Option<(&WearReading, &WearReading)> {
    readings.iter().find(fits).zip(readings.iter().rfind(fits))
}

fn percent_per_terabyte(readings: &[WearReading]) -> Option<(f64, f64)> {
    let (first, last) = ends(readings, |r| r.used_percent.is_some() && r.written_bytes.is_some())?;
    let percent = last.used_percent? - first.used_percent?;
    let bytes = last.written_bytes?.checked_sub(first.written_bytes?).filter(|bytes| *bytes > 0)?;
    let terabytes = bytes as f64 / 1e12;
    Some(((percent - last.step_percent).max(0.0) / terabytes, (percent + last.step_percent) / terabytes))
}

fn amplification(readings: &[WearReading]) -> Option<f64> {
    let (first, last) = ends(readings, |r| r.flash_written_bytes.is_some() && r.written_bytes.is_some())?;
    let grown = |of: fn(&WearReading) -> Option<u64>| of(last)?.checked_sub(of(first)?).filter(|bytes| *bytes > 0);
    Some(grown(|r| r.flash_written_bytes)? as f64 / grown(|r| r.written_bytes)? as f64)
}

/// The part of its life that an eMMC has used, percent: the worse of its two estimates, `0x01 0x02` (JESD84-B51,
/// DEVICE_LIFE_TIME_EST_TYP_A and _B), each a tenth; 11 is beyond 100 %, 0 not defined. The upper end of the tenth.
pub fn emmc_used_percent(life_time: &str) -> Option<f64> {
    let numbers = life_time.split_whitespace().filter_map(|n| u8::from_str_radix(n.trim_start_matches("0x"), 16).ok());
    numbers.filter(|n| (1..=11).contains(n)).max().map(|n| f64::from(n) * 10.0)
}

/// What part of their lives the disks of a run have used, percent, by serial number; of an eMMC by its tenths.
pub fn disks_used_percent(run: &Run) -> Vec<(String, f64)> {
    let used = |layer: &Layer| {
        let percent = layer.int(facts::WEAR_PERCENT).map(|percent| percent as f64);
        let percent = percent.or_else(|| layer.text(facts::LIFE_TIME).and_then(emmc_used_percent))?;
        Some((layer.text(facts::SERIAL)?.to_owned(), percent))
    };
    run.target.stack.layers.iter().filter_map(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: &str, used_percent: f64, written_tb: f64, flash_tb: f64) -> WearReading {
        let bytes = |tb: f64| Some((tb * 1e12) as u64);
        WearReading {
            at: at.into(),
            at_s: None,
            from: format!("run of {at}"),
            used_percent: Some(used_percent),
            step_percent: 1.0,
            written_bytes: bytes(written_tb),
            flash_written_bytes: bytes(flash_tb),
        }
    }

    fn wear_of(readings: Vec<WearReading>, since_boot: Option<(u64, f64)>) -> WearOfDisk {
        wear_of_disk(DiskSeen { serial: "S3R1".into(), readings, since_boot, ..DiskSeen::default() })
    }

    #[test]
    fn a_card_that_tells_nothing_lasts_as_long_as_assumed_writes_of_all_of_it() {
        let card = |medium, since_boot, own_runs, said_a_day| {
            let (readings, size_bytes) = (Vec::new(), Some(32_000_000_000));
            wear_of_disk(DiskSeen {
                medium,
                size_bytes,
                readings,
                since_boot,
                own_runs,
                said_a_day,
                ..DiskSeen::default()
            })
        };
        // 32 GB in ten days is a write of all of it: 300 to 3,000 of these are 3,000 to 30,000 days.
        let days = |disk: &WearOfDisk| disk.years_left.map(|(least, most)| (least * 365.25, most.unwrap() * 365.25));
        let seen = card(WearMedium::Card, Some((3_200_000_000, DAY_S)), None, None);
        assert_eq!((seen.assumed_writes, seen.writing.unwrap().seen), (Some(ASSUMED_WRITES), WritingSeen::Boot));
        let (least, most) = days(&seen).unwrap();
        assert!((least - 3_000.0).abs() < 1e-6 && (most - 30_000.0).abs() < 1e-6, "{least} {most}");
        // What somebody says goes before what was seen, and what the machine wrote before what this program did.
        let said = card(WearMedium::Flash, Some((3_200_000_000, DAY_S)), None, Some(6_400_000_000));
        assert_eq!(said.writing.unwrap().seen, WritingSeen::Said);
        assert!((days(&said).unwrap().0 - 1_500.0).abs() < 1e-6);
        let own = card(WearMedium::Card, Some((1 << 30, 60.0)), Some((3_200_000_000, DAY_S)), None);
        assert_eq!(own.writing.unwrap().seen, WritingSeen::OwnRuns);
        assert_eq!(card(WearMedium::Card, Some((1 << 30, 60.0)), Some((0, DAY_S)), None).writing, None);
        // What tells how much of its life is used, and not what was written to it, as an eMMC: of what is left.
        let used =
            WearReading { written_bytes: None, flash_written_bytes: None, ..reading("2026-01-01", 10.0, 0.0, 0.0) };
        let emmc = DiskSeen {
            size_bytes: Some(32_000_000_000),
            readings: vec![used],
            said_a_day: Some(3_200_000_000),
            ..DiskSeen::default()
        };
        assert!((days(&wear_of_disk(emmc)).unwrap().0 - 2_700.0).abs() < 1e-6);
        // What does not wear so, and what nothing is written to, has no years.
        for medium in [WearMedium::Rotating, WearMedium::Virtual] {
            assert_eq!(card(medium, Some((3_200_000_000, DAY_S)), None, None).years_left, None);
        }
        assert_eq!(card(WearMedium::Card, Some((0, DAY_S)), None, None).years_left, None);
    }

    #[test]
    fn what_a_disk_keeps_its_data_in_is_a_matter_of_its_facts() {
        let medium = |facts: &[(&str, model::Fact)]| {
            let mut layer = Layer::new(model::LayerKind::Disk, "d");
            facts.iter().for_each(|(name, fact)| layer.set(name, fact.clone()));
            wear_medium(&layer)
        };
        let text = |text: &str| model::Fact::Text(text.into());
        let card = [(facts::TRANSPORT, text("mmc")), (facts::MMC_TYPE, text("SD"))];
        assert_eq!(medium(&card), WearMedium::Card);
        assert_eq!(medium(&[(facts::TRANSPORT, text("mmc")), (facts::MMC_TYPE, text("MMC"))]), WearMedium::Flash);
        let spins = (facts::ROTATIONAL, model::Fact::Bool(true));
        assert_eq!(medium(&[(facts::TRANSPORT, text("virtio")), spins.clone()]), WearMedium::Virtual);
        assert_eq!(medium(&[(facts::TRANSPORT, text("sata")), spins.clone()]), WearMedium::Rotating);
        assert_eq!(medium(&[(facts::EMULATED, model::Fact::Bool(true)), spins]), WearMedium::Virtual);
        assert_eq!(medium(&[(facts::TRANSPORT, text("nvme"))]), WearMedium::Flash);
    }

    #[test]
    fn a_trend_has_the_width_of_the_steps_in_which_it_is_told() {
        let (late, early) = (reading("2026-11-01", 5.0, 22.0, 40.0), reading("2026-01-01", 3.0, 12.0, 25.0));
        let disk = wear_of(vec![late, early.clone(), early.clone()], None);
        assert_eq!(disk.readings.len(), 2, "said twice by the same run");
        assert_eq!(disk.percent_per_terabyte, Some((0.1, 0.3)), "1 to 3 % for 10 TB");
        assert_eq!(disk.write_amplification, Some(1.5));
        let once = wear_of(vec![early], None);
        assert_eq!((once.percent_per_terabyte, once.write_amplification), (None, None));
    }

    #[test]
    fn years_are_what_is_left_at_the_rate_of_writing_that_was_seen() {
        let about = |years: Option<(f64, Option<f64>)>, least: f64, most: Option<f64>| {
            let (low, high) = years.expect("years");
            assert!((low / least - 1.0).abs() < 0.01, "{low} for {least}");
            assert_eq!(high.is_some(), most.is_some());
            assert!(
                high.zip(most).is_none_or(|(high, most)| (high / most - 1.0).abs() < 0.01),
                "{high:?} for {most:?}"
            );
        };
        // 10 TB in half a year took 1 to 3 %, and 95 % are left: 32 to 95 halves of a year.
        let (mut early, mut late) = (reading("2026-01-01", 3.0, 12.0, 25.0), reading("2026-07-01", 5.0, 22.0, 40.0));
        (early.at_s, late.at_s) = (Some(0), Some((YEAR_S / 2.0) as i64));
        let known = wear_of(vec![early.clone(), late], Some((1, 1e6)));
        assert_eq!(known.writing.unwrap().seen, WritingSeen::Runs);
        about(known.years_left, 15.83, Some(47.5));
        // One reading: what 12 TB took in its life, and the writing since boot, 1 TB in a hundredth of a year.
        let once = wear_of(vec![early.clone()], Some((1_000_000_000_000, YEAR_S / 100.0)));
        assert_eq!(once.writing.unwrap().seen, WritingSeen::Boot);
        about(once.years_left, 97.0 * 12.0 / 4.0 / 100.0, Some(97.0 * 12.0 / 2.0 / 100.0));
        // Less than a step is used: there is no most.
        let new = wear_of(vec![reading("2026-01-01", 0.0, 1.0, 1.0)], Some((1_000_000_000_000, YEAR_S / 100.0)));
        about(new.years_left, 1.0, None);
        // Not known: what it endures; how fast it is written to; a boot of a moment ago.
        let silent = WearReading { used_percent: None, ..early.clone() };
        assert_eq!(wear_of(vec![silent], Some((1 << 40, 1e6))).years_left, None);
        assert_eq!(wear_of(vec![early.clone()], None).years_left, None);
        assert_eq!(wear_of(vec![early.clone()], Some((1 << 40, 60.0))).writing, None);
        // It writes nothing: it lasts for ever, which is no number.
        assert_eq!(wear_of(vec![early], Some((0, 1e6))).years_left, None);
    }

    #[test]
    fn an_emmc_tells_tenths() {
        assert_eq!(emmc_used_percent("0x01 0x02"), Some(20.0));
        assert_eq!(emmc_used_percent("0x0b 0x00"), Some(110.0));
        assert_eq!((emmc_used_percent("0x00 0x00"), emmc_used_percent("?")), (None, None));
    }
}
