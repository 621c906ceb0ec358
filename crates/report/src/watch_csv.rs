//! `narrows watch --csv`: our own columns, iostat's or dstat's. A cell whose value is not known is empty.

use crate::watch::WatchedLayer;
use model::watched::{CPU, LAYER, MACHINE, OF_CPU, Values, values};
use model::{DiskActivity, RequestActivity, WatchTick, csv_text, json_name};
use serde_json::Value;

/// Whose columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchCsv {
    /// Ours: one line for each layer and interval, units in the names.
    Narrows,
    /// Those of `iostat -x` (sysstat 12), with the time and the columns of its `avg-cpu` in front; one line for each
    /// device and interval. kB are KiB, as there.
    Iostat,
    /// Those of `dstat -T -tcdry -D total,...` (dstat 0.7.4 and 0.8), one line for each interval.
    Dstat,
}

/// What stands above dstat's columns.
#[derive(Clone, Copy, Debug)]
pub struct CsvOrigin<'a> {
    /// Version of this program.
    pub version: &'a str,
    /// Name of the machine.
    pub host: &'a str,
    /// The command line.
    pub command: &'a str,
    /// When, RFC 3339.
    pub started: &'a str,
}

/// A text in quotes, as dstat writes all of its own.
fn quoted(text: &str) -> String {
    let field = csv_text(text);
    if field.starts_with('"') { field } else { format!("\"{field}\"") }
}

/// Of the columns of the machine, how many stand before its processors.
const BEFORE_CPU: usize = 4;

fn narrows_header() -> String {
    let mut names: Vec<String> = MACHINE.iter().map(|(name, ..)| (*name).to_owned()).collect();
    names.splice(BEFORE_CPU..BEFORE_CPU, CPU.iter().map(|(name, ..)| format!("{OF_CPU}{name}")));
    names.extend(["layer", "kind"].into_iter().chain(LAYER.iter().map(|(name, ..)| *name)).map(str::to_owned));
    names.join(",")
}

/// A value in a cell: a text, or a number with as many digits behind the point as are told of it.
fn field(name: &str, value: &Value) -> String {
    match (value.as_str(), value.as_u64()) {
        (Some(text), _) => csv_text(text),
        (_, Some(whole)) => whole.to_string(),
        _ => cell(value.as_f64(), if name == "interval_s" { 6 } else { 3 }),
    }
}

const IOSTAT: &str = "timestamp,%user,%nice,%system,%iowait,%steal,%idle,Device,r/s,rkB/s,rrqm/s,%rrqm,r_await,\
    rareq-sz,w/s,wkB/s,wrqm/s,%wrqm,w_await,wareq-sz,d/s,dkB/s,drqm/s,%drqm,d_await,dareq-sz,f/s,f_await,aqu-sz,%util";

/// The lines above the first interval. For dstat the layers are fixed from here on.
pub fn watch_csv_header(csv: WatchCsv, layers: &[WatchedLayer], origin: &CsvOrigin<'_>) -> String {
    match csv {
        WatchCsv::Narrows => narrows_header() + "\n",
        WatchCsv::Iostat => format!("{IOSTAT}\n"),
        WatchCsv::Dstat => dstat_header(layers, origin),
    }
}

/// The lines of one interval; `totals` are the disks that dstat's totals add up.
pub fn watch_csv_rows(csv: WatchCsv, tick: &WatchTick, layers: &[WatchedLayer], totals: &[String]) -> String {
    match csv {
        WatchCsv::Narrows => narrows_rows(tick, layers),
        WatchCsv::Iostat => iostat_rows(tick, layers),
        WatchCsv::Dstat => dstat_row(tick, layers, totals),
    }
}

/// A number with at most so many digits behind the point, without zeros at its end; empty if not known.
fn cell(value: Option<f64>, digits: usize) -> String {
    let Some(v) = value.filter(|v| v.is_finite()) else { return String::new() };
    let text = format!("{v:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A number with exactly two digits behind the point, as iostat prints.
fn two(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map(|v| format!("{v:.2}")).unwrap_or_default()
}

fn narrows_rows(tick: &WatchTick, layers: &[WatchedLayer]) -> String {
    let fields = |of: Values| of.0.iter().map(|(name, value)| field(name, value)).collect::<Vec<_>>();
    let mut machine = fields(values(&MACHINE, Some(tick)));
    machine.splice(BEFORE_CPU..BEFORE_CPU, fields(values(&CPU, tick.activity.cpu.as_ref())));
    let line = |layer: &WatchedLayer| {
        let own = [csv_text(&layer.name), json_name(&layer.kind)];
        let cells = machine.iter().cloned().chain(own).chain(fields(values(&LAYER, tick.activity.disk(&layer.name))));
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    layers.iter().map(line).collect()
}

/// iostat's six columns of one kind of request.
fn iostat_requests(r: Option<&RequestActivity>) -> [String; 6] {
    let of = |value: fn(&RequestActivity) -> Option<f64>| two(r.and_then(value));
    [
        of(|r| r.per_s),
        of(|r| r.bytes_per_s.map(|b| b / 1024.0)),
        of(|r| r.merged_per_s),
        of(|r| r.merged_ratio.map(|m| m * 100.0)),
        of(|r| r.await_ns.map(|ns| ns / 1e6)),
        of(|r| r.size_bytes.map(|b| b / 1024.0)),
    ]
}

fn iostat_rows(tick: &WatchTick, layers: &[WatchedLayer]) -> String {
    let cpu = tick.activity.cpu;
    let cpu = |kind: fn(&model::CpuActivity) -> f64| two(cpu.as_ref().map(|c| kind(c) * 100.0));
    let machine = [
        csv_text(&tick.time),
        cpu(|c| c.user),
        cpu(|c| c.nice),
        cpu(|c| c.system + c.irq),
        cpu(|c| c.iowait),
        cpu(|c| c.steal),
        cpu(|c| c.idle),
    ]
    .join(",");
    let mut out = String::new();
    for layer in layers {
        let seen = tick.activity.disk(&layer.name);
        let mut cells = vec![csv_text(&layer.name)];
        for requests in [seen.map(|d| &d.read), seen.map(|d| &d.write), seen.map(|d| &d.discard)] {
            cells.extend(iostat_requests(requests));
        }
        cells.push(two(seen.and_then(|d| d.flush.per_s)));
        cells.push(two(seen.and_then(|d| d.flush.await_ns).map(|ns| ns / 1e6)));
        cells.push(two(seen.and_then(|d| d.mean_in_flight)));
        cells.push(two(seen.and_then(|d| d.busy_ratio).map(|r| r * 100.0)));
        out.push_str(&format!("{machine},{}\n", cells.join(",")));
    }
    out
}

/// The five lines about the origin, a blank one, the groups, the names: where readers of dstat's files expect them.
fn dstat_header(layers: &[WatchedLayer], origin: &CsvOrigin<'_>) -> String {
    let mut groups: Vec<String> = vec!["epoch".into(), "system".into(), "total cpu usage".into()];
    groups.extend(std::iter::repeat_n(String::new(), 4));
    let mut names: Vec<String> = ["epoch", "time", "usr", "sys", "idl", "wai", "stl"].map(str::to_owned).to_vec();
    for kind in ["dsk", "io"] {
        for disk in std::iter::once("total").chain(layers.iter().map(|l| l.name.as_str())) {
            groups.extend([format!("{kind}/{disk}"), String::new()]);
            names.extend([format!("{kind}/{disk}:read"), format!("{kind}/{disk}:writ")]);
        }
    }
    groups.extend(["system".into(), String::new()]);
    names.extend(["int".into(), "csw".into()]);
    let group = |g: &String| if g.is_empty() { String::new() } else { quoted(g) };
    format!(
        "{}\n\"Author:\",{},,,,\"URL:\",\"\"\n\"Host:\",{},,,,\"User:\",\"\"\n\"Cmdline:\",{},,,,\"Date:\",{}\n\n{}\n{}\n",
        quoted(&format!("Dstat 0.8.0 CSV output, by narrows {}", origin.version)),
        quoted(&format!("narrows {}", origin.version)),
        quoted(origin.host),
        quoted(origin.command),
        quoted(origin.started),
        groups.iter().map(group).collect::<Vec<_>>().join(","),
        names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(","),
    )
}

/// `21-11 10:53:35`, as dstat writes it.
fn dstat_time(time: &str) -> String {
    match (time.get(8..10), time.get(5..7), time.get(11..19)) {
        (Some(day), Some(month), Some(clock)) => format!("{day}-{month} {clock}"),
        _ => csv_text(time),
    }
}

fn dstat_row(tick: &WatchTick, layers: &[WatchedLayer], totals: &[String]) -> String {
    let a = &tick.activity;
    let cpu = |kind: fn(&model::CpuActivity) -> f64| cell(a.cpu.as_ref().map(|c| kind(c) * 100.0), 3);
    let mut cells = vec![
        cell(Some(tick.unix_ms as f64 / 1e3), 3),
        dstat_time(&tick.time),
        cpu(|c| c.user + c.nice),
        cpu(|c| c.system + c.irq),
        cpu(|c| c.idle),
        cpu(|c| c.iowait),
        cpu(|c| c.steal),
    ];
    type Part = fn(&DiskActivity) -> Option<f64>;
    let kinds: [(Part, Part); 2] =
        [(|d| d.read.bytes_per_s, |d| d.write.bytes_per_s), (|d| d.read.per_s, |d| d.write.per_s)];
    for (read, write) in kinds {
        cells.push(cell(a.total(totals, read), 3));
        cells.push(cell(a.total(totals, write), 3));
        for layer in layers {
            let seen = a.disk(&layer.name);
            cells.push(cell(seen.and_then(read), 3));
            cells.push(cell(seen.and_then(write), 3));
        }
    }
    cells.push(cell(a.interrupts_per_s, 3));
    cells.push(cell(a.context_switches_per_s, 3));
    format!("{}\n", cells.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_dstat_writes_them() {
        assert_eq!(dstat_time("2026-11-21T10:53:35.939Z"), "21-11 10:53:35");
        assert_eq!(dstat_time("never"), "never");
    }

    #[test]
    fn cells() {
        assert_eq!(
            [cell(Some(50_355_678.617), 3), cell(Some(0.0), 3), cell(Some(12.5), 3)],
            ["50355678.617", "0", "12.5"]
        );
        assert_eq!([cell(None, 3), two(None), two(Some(3.456))], ["", "", "3.46"]);
        assert_eq!([csv_text("sda"), csv_text("a,b"), csv_text("a\"b")], ["sda", "\"a,b\"", "\"a\"\"b\""]);
    }
}
