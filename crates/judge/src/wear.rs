//! What the readings of a disk's life mean together.

use model::{CompactSort as _, Layer, Run, WearOfDisk, WearReading, WritingRate, WritingSeen, facts};

/// A rate that was seen for less time says nothing of a year.
const MIN_SEEN_S: f64 = 3_600.0;
const YEAR_S: f64 = 365.25 * 86_400.0;

/// The disk with these readings, in whatever order they come, and what it was given to write since the machine was started: bytes
/// and seconds.
pub fn wear_of_disk(
    serial: String,
    model: Option<String>,
    mut readings: Vec<WearReading>,
    since_boot: Option<(u64, f64)>,
) -> WearOfDisk {
    readings.compact_sort_by(|a, b| a.at.cmp(&b.at));
    readings.dedup_by(|b, a| {
        let said = |r: &WearReading| (r.used_percent, r.written_bytes, r.flash_written_bytes);
        a.from == b.from && said(a) == said(b)
    });
    let percent_per_terabyte = percent_per_terabyte(&readings);
    let write_amplification = amplification(&readings);
    let writing = over_runs(&readings).or_else(|| {
        let (bytes, seconds) = since_boot.filter(|(_, seconds)| *seconds >= MIN_SEEN_S)?;
        Some(WritingRate { bytes_per_s: bytes as f64 / seconds, over_s: seconds, seen: WritingSeen::Boot })
    });
    let years_left = years_left(&readings, percent_per_terabyte, writing);
    WearOfDisk { serial, model, name: None, readings, percent_per_terabyte, write_amplification, writing, years_left }
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

    #[test]
    fn a_trend_has_the_width_of_the_steps_in_which_it_is_told() {
        let (late, early) = (reading("2026-11-01", 5.0, 22.0, 40.0), reading("2026-01-01", 3.0, 12.0, 25.0));
        let disk = wear_of_disk("S3R1".into(), None, vec![late, early.clone(), early.clone()], None);
        assert_eq!(disk.readings.len(), 2, "said twice by the same run");
        assert_eq!(disk.percent_per_terabyte, Some((0.1, 0.3)), "1 to 3 % for 10 TB");
        assert_eq!(disk.write_amplification, Some(1.5));
        let once = wear_of_disk("S3R1".into(), None, vec![early], None);
        assert_eq!((once.percent_per_terabyte, once.write_amplification), (None, None));
    }

    #[test]
    fn years_are_what_is_left_at_the_rate_of_writing_that_was_seen() {
        let disk = |readings, since_boot| wear_of_disk("S3R1".into(), None, readings, since_boot);
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
        let known = disk(vec![early.clone(), late], Some((1, 1e6)));
        assert_eq!(known.writing.unwrap().seen, WritingSeen::Runs);
        about(known.years_left, 15.83, Some(47.5));
        // One reading: what 12 TB took in its life, and the writing since boot, 1 TB in a hundredth of a year.
        let once = disk(vec![early.clone()], Some((1_000_000_000_000, YEAR_S / 100.0)));
        assert_eq!(once.writing.unwrap().seen, WritingSeen::Boot);
        about(once.years_left, 97.0 * 12.0 / 4.0 / 100.0, Some(97.0 * 12.0 / 2.0 / 100.0));
        // Less than a step is used: there is no most.
        let new = disk(vec![reading("2026-01-01", 0.0, 1.0, 1.0)], Some((1_000_000_000_000, YEAR_S / 100.0)));
        about(new.years_left, 1.0, None);
        // Not known: what it endures; how fast it is written to; a boot of a moment ago.
        let silent = WearReading { used_percent: None, ..early.clone() };
        assert_eq!(disk(vec![silent], Some((1 << 40, 1e6))).years_left, None);
        assert_eq!(disk(vec![early.clone()], None).years_left, None);
        assert_eq!(disk(vec![early.clone()], Some((1 << 40, 60.0))).writing, None);
        // It writes nothing: it lasts for ever, which is no number.
        assert_eq!(disk(vec![early], Some((0, 1e6))).years_left, None);
    }

    #[test]
    fn an_emmc_tells_tenths() {
        assert_eq!(emmc_used_percent("0x01 0x02"), Some(20.0));
        assert_eq!(emmc_used_percent("0x0b 0x00"), Some(110.0));
        assert_eq!((emmc_used_percent("0x00 0x00"), emmc_used_percent("?")), (None, None));
    }
}
