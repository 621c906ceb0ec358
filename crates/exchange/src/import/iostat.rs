//! iostat's columns, whichever sysstat wrote them (9 to 12.7) and however they were asked for.
//!
//! What iostat prints is what a device did while it was watched, not what it can do: its rates have no better direction.
//! Waiting times have one.

use super::localized::decimal;
use super::{ImportedMetric, Original};
use model::{Better, Unit};
use std::collections::BTreeSet;

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const GIB: f64 = MIB * KIB;
/// iostat's sector and block, whatever the device's are (iostat(1)).
const SECTOR: f64 = 512.0;
const MS: f64 = 1e6;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Column {
    /// The end of the metric's id: `read.iops`.
    pub id: &'static str,
    pub unit: Unit,
    /// Which direction of the column is the better one.
    pub better: Option<Better>,
    /// What a printed 1 is in that unit.
    scale: f64,
    /// The unit printed.
    printed: &'static str,
}

/// The column with a heading; of the JSON keys, those that say a percentage have no percent sign.
pub(super) fn column(heading: &str) -> Option<Column> {
    let of = |id, unit, scale, printed| Some(Column { id, unit, better: None, scale, printed });
    let wait = |id| Some(Column { id, unit: Unit::Ns, better: Some(Better::Lower), scale: MS, printed: "ms" });
    match heading {
        "tps" => of("tps_ops_per_s", Unit::OpsPerS, 1.0, "/s"),
        "r/s" => of("read.iops", Unit::OpsPerS, 1.0, "/s"),
        "w/s" => of("write.iops", Unit::OpsPerS, 1.0, "/s"),
        "d/s" => of("discard.iops", Unit::OpsPerS, 1.0, "/s"),
        "f/s" => of("flush.iops", Unit::OpsPerS, 1.0, "/s"),
        "rrqm/s" => of("read.merges_per_s", Unit::OpsPerS, 1.0, "/s"),
        "wrqm/s" => of("write.merges_per_s", Unit::OpsPerS, 1.0, "/s"),
        "drqm/s" => of("discard.merges_per_s", Unit::OpsPerS, 1.0, "/s"),
        "rqm/s" => of("merges_per_s", Unit::OpsPerS, 1.0, "/s"),
        "%rrqm" | "rrqm" => of("read.merged_percent", Unit::Percent, 1.0, "%"),
        "%wrqm" | "wrqm" => of("write.merged_percent", Unit::Percent, 1.0, "%"),
        "%drqm" | "drqm" => of("discard.merged_percent", Unit::Percent, 1.0, "%"),
        "%util" | "util" => of("util_percent", Unit::Percent, 1.0, "%"),
        "aqu-sz" | "avgqu-sz" => of("queue_depth_mean", Unit::Ratio, 1.0, ""),
        "avgrq-sz" => of("request_bytes_mean", Unit::Bytes, SECTOR, "sectors"),
        "areq-sz" => of("request_bytes_mean", Unit::Bytes, KIB, "kB"),
        "rareq-sz" => of("read.request_bytes_mean", Unit::Bytes, KIB, "kB"),
        "wareq-sz" => of("write.request_bytes_mean", Unit::Bytes, KIB, "kB"),
        "dareq-sz" => of("discard.request_bytes_mean", Unit::Bytes, KIB, "kB"),
        "await" => wait("await_ns"),
        "r_await" => wait("read.await_ns"),
        "w_await" => wait("write.await_ns"),
        "d_await" => wait("discard.await_ns"),
        "f_await" => wait("flush.await_ns"),
        "svctm" => wait("service_time_ns"),
        _ => volume(heading),
    }
}

/// Columns of volume or its rate: `rkB/s`, `MB_wrtn`, `Blk_read/s`, `kB_w+d/s`, `kB/s`.
fn volume(heading: &str) -> Option<Column> {
    let (body, is_rate) = match heading.strip_suffix("/s") {
        Some(body) => (body, true),
        None => (heading, false),
    };
    let scale = |unit: &str| match unit {
        "kB" | "KB" => Some((KIB, "kB")),
        "MB" => Some((MIB, "MB")),
        "GB" => Some((GIB, "GB")),
        "TB" => Some((GIB * KIB, "TB")),
        "sec" | "Blk" => Some((SECTOR, "sectors")),
        _ => None,
    };
    let ((scale, printed), rate_id, total_id) = if let Some((unit, what)) = body.split_once('_') {
        let (rate_id, total_id) = match what {
            "read" => ("read.throughput_bytes_per_s", "read.bytes"),
            "wrtn" => ("write.throughput_bytes_per_s", "write.bytes"),
            "dscd" => ("discard.throughput_bytes_per_s", "discard.bytes"),
            "w+d" => ("write-and-discard.throughput_bytes_per_s", "write-and-discard.bytes"),
            _ => return None,
        };
        (scale(unit)?, rate_id, total_id)
    } else if is_rate {
        let (id, unit) = match body.chars().next()? {
            'r' => ("read.throughput_bytes_per_s", &body[1..]),
            'w' => ("write.throughput_bytes_per_s", &body[1..]),
            'd' => ("discard.throughput_bytes_per_s", &body[1..]),
            _ => ("throughput_bytes_per_s", body),
        };
        (scale(unit)?, id, "")
    } else {
        return None;
    };
    let (id, unit) = if is_rate { (rate_id, Unit::BytesPerS) } else { (total_id, Unit::Bytes) };
    Some(Column { id, unit, better: None, scale, printed })
}

impl Column {
    /// Reads a cell. `--human` appends `%`, or the unit of volumes (`s` sectors, `B`, `k`, `M`, `G`, `T`, `P`), which then
    /// stands in place of the heading's.
    pub fn read(&self, prefix: &str, text: &str) -> Option<ImportedMetric> {
        let is_volume = matches!(self.unit, Unit::Bytes | Unit::BytesPerS);
        let suffix = text.chars().next_back().filter(char::is_ascii_alphabetic).filter(|_| is_volume);
        let (digits, scale) = match suffix {
            Some(letter) => (&text[..text.len() - 1], human(letter)?),
            None if self.unit == Unit::Percent => (text.trim_end_matches('%'), self.scale),
            None => (text, self.scale),
        };
        let printed = suffix.map_or(self.printed.to_owned(), |letter| format!("{letter} ({})", self.printed));
        self.metric(prefix, decimal(digits)? * scale, Original::new(digits, printed))
    }

    /// A number that was no text.
    pub fn number(&self, prefix: &str, value: f64) -> Option<ImportedMetric> {
        self.metric(prefix, value * self.scale, Original::new(value.to_string(), self.printed))
    }

    fn metric(&self, prefix: &str, value: f64, original: Original) -> Option<ImportedMetric> {
        ImportedMetric::new(format!("{prefix}.{}", self.id), self.unit, self.better, value, 1, original)
    }
}

fn human(letter: char) -> Option<f64> {
    Some(match letter {
        's' => SECTOR,
        'B' => 1.0,
        'k' => KIB,
        'M' => MIB,
        'G' => MIB * KIB,
        'T' => MIB * MIB,
        'P' => MIB * MIB * KIB,
        _ => return None,
    })
}

/// The shares of processor time above the devices, `%user` and so on.
pub(super) fn cpu(prefix: &str, heading: &str, text: &str) -> Option<ImportedMetric> {
    let name = heading.strip_prefix('%').filter(|n| n.bytes().all(|b| b.is_ascii_lowercase()))?;
    let digits = text.trim_end_matches('%');
    let id = format!("{prefix}.cpu.{name}_percent");
    ImportedMetric::new(id, Unit::Percent, None, decimal(digits)?, 1, Original::new(digits, "%"))
}

/// Keeps the first of metrics with one id: a device or a column that is named twice.
pub(super) fn distinct(metrics: &mut Vec<ImportedMetric>) {
    let mut ids = BTreeSet::new();
    metrics.retain(|m| ids.insert(m.metric.id.clone()));
}

/// What must be known of the first report.
pub(super) const SINCE_BOOT: &str =
    "report 1 is the average since boot, unless iostat was told to leave that away (-y)";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_reads(heading: &str, text: &str, id: &str, value: f64) {
        let metric =
            column(heading).and_then(|c| c.read("sda", text)).unwrap_or_else(|| panic!("{heading} {text}")).metric;
        assert_eq!(metric.id, format!("sda.{id}"));
        assert!((metric.value.unwrap() - value).abs() <= 1e-9 * value, "{heading} {text}: {:?}", metric.value);
    }

    #[test]
    fn columns_of_all_times() {
        assert_reads("Blk_read/s", "10.00", "read.throughput_bytes_per_s", 5120.0);
        assert_reads("rsec/s", "10.00", "read.throughput_bytes_per_s", 5120.0);
        assert_reads("wMB/s", "0,50", "write.throughput_bytes_per_s", 524_288.0);
        assert_reads("kB_wrtn", "3", "write.bytes", 3072.0);
        assert_reads("kB_w+d/s", "2", "write-and-discard.throughput_bytes_per_s", 2048.0);
        assert_reads("kB/s", "2", "throughput_bytes_per_s", 2048.0);
        assert_reads("dkB/s", "2", "discard.throughput_bytes_per_s", 2048.0);
        assert_reads("avgrq-sz", "8", "request_bytes_mean", 4096.0);
        assert_reads("GB_read/s", "1.50", "read.throughput_bytes_per_s", 1_610_612_736.0);
        assert_reads("rGB/s", "0.5", "read.throughput_bytes_per_s", 536_870_912.0);
        assert_reads("GB_wrtn", "2", "write.bytes", 2_147_483_648.0);
        assert_reads("w_await", "1.5", "write.await_ns", 1.5e6);
        assert_reads("%util", "100.03", "util_percent", 100.03);
    }

    #[test]
    fn human_cells_carry_their_own_unit() {
        assert_reads("kB_read/s", "222.1k", "read.throughput_bytes_per_s", 222.1 * 1024.0);
        assert_reads("kB_read", "1.5G", "read.bytes", 1.5 * 1024.0 * 1024.0 * 1024.0);
        assert_reads("MB_read/s", "12.5k", "read.throughput_bytes_per_s", 12_800.0);
        assert_reads("%util", "39.9%", "util_percent", 39.9);
        assert!(column("kB_read/s").and_then(|c| c.read("sda", "1x")).is_none());
        assert!(column("r/s").and_then(|c| c.read("sda", "1k")).is_none());
    }

    #[test]
    fn unknown_headings() {
        for heading in ["", "foo", "kB_foo", "xB/s", "MB", "Device"] {
            assert!(column(heading).is_none(), "{heading}");
        }
    }
}
