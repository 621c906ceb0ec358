//! What the readings of a disk's life mean together.

use model::{WearOfDisk, WearReading};

/// The disk with these readings, in whatever order they come.
pub fn wear_of_disk(serial: String, model: Option<String>, mut readings: Vec<WearReading>) -> WearOfDisk {
    readings.sort_by(|a, b| a.at.cmp(&b.at));
    readings.dedup_by(|b, a| {
        let said = |r: &WearReading| (r.used_percent, r.written_bytes, r.flash_written_bytes);
        a.from == b.from && said(a) == said(b)
    });
    let percent_per_terabyte = percent_per_terabyte(&readings);
    let write_amplification = amplification(&readings);
    WearOfDisk { serial, model, readings, percent_per_terabyte, write_amplification }
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
    fn a_trend_has_the_width_of_the_steps_in_which_it_is_told() {
        let (late, early) = (reading("2026-11-01", 5.0, 22.0, 40.0), reading("2026-01-01", 3.0, 12.0, 25.0));
        let disk = wear_of_disk("S3R1".into(), None, vec![late, early.clone(), early.clone()]);
        assert_eq!(disk.readings.len(), 2, "said twice by the same run");
        assert_eq!(disk.percent_per_terabyte, Some((0.1, 0.3)), "1 to 3 % for 10 TB");
        assert_eq!(disk.write_amplification, Some(1.5));
        let once = wear_of_disk("S3R1".into(), None, vec![early]);
        assert_eq!((once.percent_per_terabyte, once.write_amplification), (None, None));
    }

    #[test]
    fn an_emmc_tells_tenths() {
        assert_eq!(emmc_used_percent("0x01 0x02"), Some(20.0));
        assert_eq!(emmc_used_percent("0x0b 0x00"), Some(110.0));
        assert_eq!((emmc_used_percent("0x00 0x00"), emmc_used_percent("?")), (None, None));
    }
}
