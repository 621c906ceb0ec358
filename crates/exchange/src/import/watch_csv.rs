//! Comma-separated lines of `narrows watch`: `--csv=iostat`, which has iostat's columns, and `--csv`, which has its own.
//!
//! One line is one device at one time; lines of one time are a report, and the first is the average since boot.

use super::comma::fields;
use super::found;
use super::iostat::{column, cpu};
use super::number::finite;
use super::series::Series;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::watched::columns;
use model::{Better, Reason, Unit};
use std::collections::BTreeSet;

/// What a column of a heading holds.
enum Column {
    Time,
    /// The device that the columns behind it are of.
    Device,
    /// iostat's share of processor time.
    Share(String),
    /// A column of iostat.
    Iostat(super::iostat::Column),
    /// A column of ours: the end of its id, whether it is the device's, its unit and its direction.
    Own(&'static str, bool, Unit, Option<Better>),
    /// A word, or the state of the reading itself.
    Known,
    /// A column that is not known, by its heading.
    Other(String),
}

/// A heading of either kind; the first column is the time in both, and one names the device.
fn heading(line: &str) -> Option<(&'static str, Vec<Column>)> {
    let cells = fields(line, ',');
    let (format, names): (&'static str, &str) = match cells.first()?.as_str() {
        "timestamp" => ("iostat-csv", "Device"),
        "time" => ("narrows-watch-csv", "layer"),
        _ => return None,
    };
    let at = cells.iter().position(|c| c == names)?;
    let is_iostat = names == "Device";
    let known = |(i, name): (usize, &String)| match name.as_str() {
        _ if i == 0 => Column::Time,
        _ if i == at => Column::Device,
        name if is_iostat && i < at => Column::Share(found::name(name).to_owned()),
        name if is_iostat => column(name).map_or_else(|| Column::Other(name.to_owned()), Column::Iostat),
        name => own(name, i > at),
    };
    let columns: Vec<Column> = cells.iter().enumerate().map(known).collect();
    columns.iter().any(|c| matches!(c, Column::Iostat(_) | Column::Own(..))).then_some((format, columns))
}

/// A column of ours by its name.
fn own(name: &str, of_device: bool) -> Column {
    let id = match columns().find(|(known, _)| known == name) {
        Some((_, id)) if !id.is_empty() => id,
        None if name != "kind" => return Column::Other(name.to_owned()),
        _ => return Column::Known,
    };
    let (unit, better) = match name {
        n if n.ends_with("await_ns") => (Unit::Ns, Some(Better::Lower)),
        n if n.ends_with("bytes_per_s") => (Unit::BytesPerS, None),
        n if n.ends_with("_per_s") => (Unit::OpsPerS, None),
        n if n.ends_with("_percent") => (Unit::Percent, None),
        n if n.ends_with("_bytes") => (Unit::Bytes, None),
        _ => (Unit::Ratio, None),
    };
    Column::Own(id, of_device, unit, better)
}

/// Whether there is a heading of either kind.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| heading(line).is_some())
}

/// A file that is being read: the report that is open, and what it holds.
struct Reader {
    run: ImportedRun,
    series: Series,
    columns: Vec<Column>,
    report: usize,
    time: String,
    devices: BTreeSet<String>,
    metrics: Vec<ImportedMetric>,
}

impl Reader {
    fn close(&mut self) {
        let mut metrics = std::mem::take(&mut self.metrics);
        if self.report == 1 {
            metrics.iter_mut().for_each(|m| m.metric.reasons.push(Reason::since_boot(None)));
        }
        self.series.push(self.report, metrics);
        self.devices.clear();
    }

    fn finish(mut self, found: &mut Found) {
        self.close();
        if !self.series.is_empty() {
            self.series.finish(&mut self.run);
            self.run.remark("report 1 is the average since boot");
            found.push(self.run);
        }
    }

    fn row(&mut self, line: &str) -> Result<(), String> {
        let cells = fields(line, ',');
        if cells.len() != self.columns.len() {
            return Err(format!("a line has {} fields here, this one has {}", self.columns.len(), cells.len()));
        }
        let pairs = || self.columns.iter().zip(&cells);
        let of = |wanted: fn(&Column) -> bool| pairs().find(|(c, _)| wanted(c)).map(|(_, cell)| cell.clone());
        let time = of(|c| matches!(c, Column::Time)).unwrap_or_default();
        let device = of(|c| matches!(c, Column::Device)).filter(|d| !d.is_empty()).ok_or("it names no device")?;
        let device = found::name(&device).to_owned();
        let is_new = self.report == 0 || time != self.time || self.devices.contains(&device);
        let report = format!("report[{}]", if is_new { self.report + 1 } else { self.report });
        let of_device = format!("{report}.{device}");
        let mut metrics = Vec::new();
        // A cell without a figure was not known when it was written.
        for (column, text) in pairs().filter(|(_, text)| !text.is_empty()) {
            let read = match column {
                Column::Share(_) if !is_new => continue,
                Column::Own(_, false, ..) if !is_new => continue,
                Column::Share(heading) => cpu(&report, heading, text),
                Column::Iostat(column) => column.read(&of_device, text),
                Column::Own(id, of_layer, unit, better) => finite(text).and_then(|value| {
                    let prefix = if *of_layer { &of_device } else { &report };
                    let original = Original::new(text, "");
                    ImportedMetric::new(format!("{prefix}.{id}"), *unit, *better, value, 1, original)
                }),
                _ => continue,
            };
            metrics.push(read.ok_or_else(|| format!("'{text}' is not a figure"))?);
        }
        if is_new {
            self.close();
            self.report += 1;
            self.time = time;
        }
        if self.metrics.len() + metrics.len() > self.series.most_in_a_report() {
            return Err("its report has more figures than are kept".to_owned());
        }
        self.devices.insert(device);
        self.metrics.extend(metrics);
        Ok(())
    }
}

/// Reads all files that stand one after the other.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut reader: Option<Reader> = None;
    for (number, line) in text.lines() {
        if found.is_used(number) || line.trim().is_empty() {
            continue;
        }
        if let Some((format, columns)) = heading(line) {
            if let Some(done) = reader.take() {
                done.finish(found);
            }
            let mut run = ImportedRun::new(format, found.file, number);
            for column in &columns {
                if let Column::Other(name) | Column::Share(name) = column
                    && !(name.starts_with('%') && matches!(column, Column::Share(_)))
                {
                    run.remark(format!("the column {} is not known and was left out", found::name(name)));
                }
            }
            let (time, devices, metrics) = (String::new(), BTreeSet::new(), Vec::new());
            let series = Series::new("report", found.room());
            reader = Some(Reader { run, series, columns, report: 0, time, devices, metrics });
            found.used(number);
        } else if let Some(reader) = reader.as_mut() {
            match reader.row(line) {
                Ok(()) => found.used(number),
                Err(why) => found.not_understood(number, why),
            }
        }
    }
    if let Some(reader) = reader {
        reader.finish(found);
    }
}

#[cfg(test)]
mod tests {
    use crate::import::import;
    use model::Unit;

    const IOSTAT: &str = "timestamp,%user,%idle,Device,r/s,rkB/s,r_await,drqm/s,f_await,aqu-sz,%util\n\
        2026-11-21T15:10:48.629Z,42.87,43.48,sda,566.53,13434.39,1.20,0.01,,1.03,5.18\n\
        2026-11-21T15:10:48.629Z,42.87,43.48,sda1,1.00,4.00,2.00,0.00,,0.00,0.10\n\
        2026-11-21T15:10:49.132Z,95.10,0.00,sda,181.03,1655.15,,0.00,,0.14,96.29\n";

    #[test]
    fn the_columns_of_iostat_are_iostats() {
        let imported = import("io.csv", IOSTAT.as_bytes()).unwrap();
        let [run] = imported.runs.as_slice() else { panic!("{:?}", imported.runs) };
        assert_eq!((run.source_format, run.groups.len()), ("iostat-csv", 2));
        assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
        let value = |id: &str| run.metrics().find(|m| m.metric.id == id).and_then(|m| m.metric.value);
        assert_eq!(value("report[1].sda.read.throughput_bytes_per_s"), Some(13_434.39 * 1024.0));
        assert_eq!(value("report[1].sda1.read.await_ns"), Some(2e6));
        assert_eq!(value("report[2].cpu.user_percent"), Some(95.1));
        assert_eq!(value("report[2].sda.read.await_ns"), None, "an empty cell is not a figure");
        assert_eq!(run.metrics().filter(|m| m.metric.id == "report[1].cpu.user_percent").count(), 1);
    }

    #[test]
    fn our_own_columns() {
        let text = "time,since_boot,interval_s,cpu_user_percent,dirty_bytes,layer,kind,reads_per_s,read_await_ns,queue\n\
            2026-11-21T15:10:51.730Z,1,,42.87,4096,dm-0,dm,5,,0.5\n\
            2026-11-21T15:10:51.730Z,1,,42.87,4096,vda,disk,10,1200.5,1\n";
        let imported = import("na.csv", text.as_bytes()).unwrap();
        let [run] = imported.runs.as_slice() else { panic!("{:?}", imported.runs) };
        assert_eq!((run.source_format, run.groups.len()), ("narrows-watch-csv", 1));
        let of = |id: &str| run.metrics().find(|m| m.metric.id == id).map(|m| (m.metric.value, m.metric.unit));
        assert_eq!(of("report[1].vda.read.await_ns"), Some((Some(1_200.5), Unit::Ns)));
        assert_eq!(of("report[1].dm-0.queue_depth_mean"), Some((Some(0.5), Unit::Ratio)));
        assert_eq!(of("report[1].dirty_bytes"), Some((Some(4_096.0), Unit::Bytes)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let text = format!("{IOSTAT}2026-11-21T15:10:50Z,1,2,sda,x,1,1,1,1,1,1\n2026-11-21T15:10:51Z,1,2\n");
        let imported = import("io.csv", text.as_bytes()).unwrap();
        let said: Vec<usize> = imported.not_understood.iter().map(|n| n.line).collect();
        assert_eq!(said, [5, 6]);
        assert_eq!(imported.runs.iter().map(|r| r.groups.len()).collect::<Vec<_>>(), [2]);
    }
}
