//! What a watcher prints: the table of `narrows watch`, interval by interval.

use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table};
use crate::text::{pad, plain, shorten};
use crate::{Paint, Style, quantity};
use model::{Activity, DiskActivity, LayerKind, NfsActivity, PathActivity, RequestActivity, WatchTick};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedLayer {
    /// Kernel name, the key to its counters.
    pub name: String,
    pub kind: LayerKind,
    /// What people call it: the name of a mapping, the model of a disk.
    pub title: Option<String>,
}

/// What is known of a layer in an interval.
pub(crate) enum LayerInInterval<'a> {
    Rates(&'a DiskActivity),
    /// It was not there before, so there is nothing to compare with.
    First,
    /// Its counters cannot be read.
    Gone,
}

impl<'a> LayerInInterval<'a> {
    pub fn of(activity: &'a Activity, layer: &WatchedLayer) -> Self {
        match activity.disk(&layer.name) {
            None => Self::Gone,
            // A disk whose counters were compared has at least one that makes sense.
            Some(d) if d.read.per_s.is_none() && d.write.per_s.is_none() && d.busy_ratio.is_none() => Self::First,
            Some(d) => Self::Rates(d),
        }
    }

    pub fn words(&self) -> Option<&'static str> {
        match self {
            Self::Rates(_) => None,
            Self::First => Some("seen for the first time"),
            Self::Gone => Some("gone, or its counters cannot be read"),
        }
    }
}

/// One column of a table of what is watched.
struct Column<T> {
    head: &'static str,
    width: usize,
    /// Columns go in this order where the terminal is narrow, the highest first.
    rank: u8,
    /// Digits behind the point, where not as the size of the number asks.
    digits: Option<usize>,
    value: fn(&T) -> Option<f64>,
}

impl<T> Column<T> {
    fn cell(&self, of: &T) -> Cell {
        let value = (self.value)(of);
        Cell::Text(self.digits.map_or_else(|| number(value, self.width), |digits| decimal(value, digits)))
    }
}

fn cells<T>(columns: &[&Column<T>], of: &T) -> Vec<Cell> {
    columns.iter().map(|c| c.cell(of)).collect()
}

/// A layer in an interval: its numbers, or in a word why there are none.
fn layer_row(tick: &WatchTick, layer: &WatchedLayer, columns: &[&Column<DiskActivity>]) -> Row {
    let seen = LayerInInterval::of(&tick.activity, layer);
    let cells = match (&seen, seen.words()) {
        (LayerInInterval::Rates(d), _) => cells(columns, d),
        (_, words) => {
            vec![Cell::Without { word: words.unwrap_or_default(), code: None, note: None, bad: false }]
        }
    };
    Row::new(&layer.name, cells)
}

/// The cells of a line that goes on below the last one, so each has the width of its column.
fn line<T>(row: &Row, columns: &[&Column<T>], style: &Style) -> String {
    let pad = |(i, cell): (usize, &Cell)| match cell {
        Cell::Without { word, .. } => format!(" {}", style.paint(Paint::Dim, word)),
        cell => format!("{:>1$}", cell.text(style.ascii), columns[i].width),
    };
    row.cells.iter().enumerate().map(pad).collect()
}

/// A pause that nobody notices is not worth a word.
fn slept(tick: &WatchTick) -> Option<String> {
    let ns = tick.suspended_ns.filter(|ns| *ns >= 10_000_000)?;
    Some(format!("the machine slept for {}, which counts in no rate", quantity::duration(ns)))
}

/// One interval as a whole, with every column.
pub fn watch_interval(tick: &WatchTick, layers: &[WatchedLayer]) -> Presentation {
    fn table<T>(columns: &[&Column<T>], rows: Vec<Row>) -> Part {
        Part::Table(Table { head: columns.iter().map(|c| c.head.to_owned()).collect(), rows, ..Table::default() })
    }
    let (machine, disks) = (MACHINE.iter().collect::<Vec<_>>(), WIDE.iter().collect::<Vec<_>>());
    let rows = layers.iter().map(|l| layer_row(tick, l, &disks)).collect();
    let mut interval = Presentation::default();
    interval.head.subject =
        if tick.since_boot { "since boot, in the mean".into() } else { format!("{} UTC", tick.clock()) };
    interval.head.notes.extend(slept(tick));
    let numbers = vec![table(&machine, vec![Row::new("machine", cells(&machine, tick))]), table(&disks, rows)];
    interval.push(SectionName::Numbers, numbers);
    interval
}

const KIB: f64 = 1024.0;
/// Columns of the layer's name with the indent.
const NAME_COLUMNS: usize = 14;

const fn column<T>(head: &'static str, width: usize, rank: u8, value: fn(&T) -> Option<f64>) -> Column<T> {
    Column { head, width, rank, digits: None, value }
}

const fn exact<T>(
    head: &'static str,
    width: usize,
    rank: u8,
    digits: usize,
    value: fn(&T) -> Option<f64>,
) -> Column<T> {
    Column { head, width, rank, digits: Some(digits), value }
}

fn milliseconds(ns: Option<f64>) -> Option<f64> {
    ns.map(|ns| ns / 1e6)
}

fn kib(bytes: Option<f64>) -> Option<f64> {
    bytes.map(|b| b / KIB)
}

fn percent(ratio: Option<f64>) -> Option<f64> {
    ratio.map(|r| r * 100.0)
}

/// In 80 columns: reads and writes share a latency and a size.
static NARROW: [Column<DiskActivity>; 8] = [
    column("r/s", 8, 2, |d| d.read.per_s),
    column("w/s", 8, 2, |d| d.write.per_s),
    column("rKiB/s", 9, 1, |d| kib(d.read.bytes_per_s)),
    column("wKiB/s", 9, 1, |d| kib(d.write.bytes_per_s)),
    column("await ms", 9, 3, |d| milliseconds(d.both.await_ns)),
    column("queue", 7, 4, |d| d.mean_in_flight),
    column("req KiB", 8, 5, |d| kib(d.both.size_bytes)),
    exact("util %", 7, 0, 1, |d| percent(d.busy_ratio)),
];

/// On a wide terminal each has its own, and discards and flushes are there as well.
static WIDE: [Column<DiskActivity>; 12] = [
    column("r/s", 8, 2, |d| d.read.per_s),
    column("w/s", 8, 2, |d| d.write.per_s),
    column("d/s", 8, 9, |d| d.discard.per_s),
    column("f/s", 7, 8, |d| d.flush.per_s),
    column("rKiB/s", 9, 1, |d| kib(d.read.bytes_per_s)),
    column("wKiB/s", 9, 1, |d| kib(d.write.bytes_per_s)),
    column("r ms", 8, 3, |d| milliseconds(d.read.await_ns)),
    column("w ms", 8, 3, |d| milliseconds(d.write.await_ns)),
    column("queue", 7, 4, |d| d.mean_in_flight),
    column("rreq KiB", 9, 5, |d| kib(d.read.size_bytes)),
    column("wreq KiB", 9, 5, |d| kib(d.write.size_bytes)),
    exact("util %", 7, 0, 1, |d| percent(d.busy_ratio)),
];

const TIME_COLUMNS: usize = 10;

static MACHINE: [Column<WatchTick>; 10] = [
    exact("usr %", 6, 1, 1, |t| t.activity.cpu.map(|c| (c.user + c.nice) * 100.0)),
    exact("sys %", 6, 1, 1, |t| t.activity.cpu.map(|c| (c.system + c.irq) * 100.0)),
    exact("iow %", 6, 1, 1, |t| t.activity.cpu.map(|c| c.iowait * 100.0)),
    exact("stl %", 6, 3, 1, |t| t.activity.cpu.map(|c| c.steal * 100.0)),
    exact("io some %", 10, 2, 1, |t| percent(t.activity.pressure_io.and_then(|p| p.some))),
    exact("full %", 7, 2, 1, |t| percent(t.activity.pressure_io.and_then(|p| p.full))),
    exact("int/s", 8, 5, 0, |t| t.activity.interrupts_per_s),
    exact("ctx/s", 8, 6, 0, |t| t.activity.context_switches_per_s),
    exact("deg C", 6, 4, 1, WatchTick::hottest_c),
    exact("MHz", 6, 4, 0, WatchTick::fastest_mhz),
];

/// Those for which there is room behind the first.
fn fitting<T>(first: usize, columns: &'static [Column<T>], style: &Style) -> Vec<&'static Column<T>> {
    let mut chosen: Vec<&Column<T>> = columns.iter().collect();
    while total(first, &chosen) > style.width.max(40) {
        let Some(least) = chosen.iter().map(|c| c.rank).max().filter(|r| *r > 1) else { break };
        chosen.retain(|c| c.rank != least);
    }
    chosen
}

fn total<T>(first: usize, columns: &[&Column<T>]) -> usize {
    first + columns.iter().map(|c| c.width).sum::<usize>()
}

fn layer_columns(style: &Style) -> Vec<&'static Column<DiskActivity>> {
    let is_wide = total(NAME_COLUMNS, &WIDE.iter().collect::<Vec<_>>()) <= style.width;
    fitting(NAME_COLUMNS, if is_wide { &WIDE[..] } else { &NARROW[..] }, style)
}

fn heads<T>(first: &str, columns: &[&Column<T>]) -> String {
    columns.iter().fold(first.to_owned(), |line, c| line + &format!("{:>1$}", c.head, c.width))
}

/// A number with so many digits behind the point; a dash if not known.
pub(crate) fn decimal(value: Option<f64>, digits: usize) -> String {
    value.filter(|v| v.is_finite()).map_or_else(|| "-".into(), |v| format!("{v:.digits$}"))
}

/// A number in at most `columns` less one: four digits at most behind the point of what is small, none of what is large.
pub(crate) fn number(value: Option<f64>, columns: usize) -> String {
    let Some(v) = value.filter(|v| v.is_finite()) else { return "-".into() };
    let text = match v.abs() {
        0.0 => "0".into(),
        a if a < 0.995 => format!("{v:.3}"),
        a if a < 9.995 => format!("{v:.2}"),
        a if a < 999.95 => format!("{v:.1}"),
        _ => format!("{v:.0}"),
    };
    if text.len() < columns {
        return text;
    }
    let (divided, unit) = if v.abs() < 999.95e6 { (v / 1e6, "M") } else { (v / 1e9, "G") };
    format!("{divided:.1}{unit}")
}

/// The two lines above the table: the machine's columns and the layers'.
pub fn watch_header(style: &Style) -> String {
    let first = heads(&pad("UTC", TIME_COLUMNS), &fitting(TIME_COLUMNS, &MACHINE, style));
    let second = heads(&pad("  layer", NAME_COLUMNS), &layer_columns(style));
    format!("{}\n{}\n", style.paint(Paint::Dim, &first), style.paint(Paint::Dim, &second))
}

/// One interval: a line for the machine, one for each layer, and one for each operation of an NFS mount.
pub fn watch_block(tick: &WatchTick, layers: &[WatchedLayer], style: &Style) -> String {
    let mut out = String::new();
    if let Some(slept) = slept(tick) {
        out.push_str(&format!("{}\n", style.paint(Paint::Warn, &slept)));
    }
    let columns = fitting(TIME_COLUMNS, &MACHINE, style);
    let time = pad(if tick.since_boot { "since boot" } else { tick.clock() }, TIME_COLUMNS);
    let machine = line(&Row::new("", cells(&columns, tick)), &columns, style);
    out.push_str(&format!("{}\n", style.paint(Paint::Title, &format!("{time}{machine}"))));
    let columns = layer_columns(style);
    for layer in layers {
        let row = layer_row(tick, layer, &columns);
        let name = shorten(&plain(&row.label, style.ascii), NAME_COLUMNS - 2, style.ascii);
        out.push_str(&format!("  {}{}\n", pad(&name, NAME_COLUMNS - 2), line(&row, &columns, style)));
    }
    for operation in &tick.activity.nfs {
        let text = format!("  {}", nfs_words(operation));
        out.push_str(&format!("{}\n", shorten(&plain(&text, style.ascii), style.width, style.ascii)));
    }
    if let Some(words) = path_words(&tick.activity.path) {
        out.push_str(&format!("{}\n", shorten(&plain(&format!("  {words}"), style.ascii), style.width, style.ascii)));
    }
    out
}

/// `SMB requests 320 /s, SMB read 40.9 MB/s`.
fn path_words(counters: &[PathActivity]) -> Option<String> {
    let words = |c: &PathActivity| {
        let name = model::path_counter::of(&c.counter)?;
        let rate = if name.bytes { quantity::rate(c.per_s) } else { format!("{} /s", number(Some(c.per_s), 8)) };
        Some(format!("{} {rate}", name.words))
    };
    let all: Vec<String> = counters.iter().filter_map(words).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// `READ 312 /s 40.9 MB/s: 300 us queue, 2.10 ms RTT, 2.40 ms in all`.
fn nfs_words(operation: &NfsActivity) -> String {
    let ms = |ms: f64| quantity::latency((ms * 1e6) as u64);
    let moved = operation.bytes_sent_per_s + operation.bytes_received_per_s;
    let again = match operation.sent_again_per_s {
        n if n > 0.0 => format!(", {} /s sent again", number(Some(n), 8)),
        _ => String::new(),
    };
    format!(
        "{} {} /s {}: {} queue, {} RTT, {} in all{again}",
        operation.operation,
        number(Some(operation.per_s), 8),
        quantity::rate(moved),
        ms(operation.queue_ms),
        ms(operation.rtt_ms),
        ms(operation.execute_ms)
    )
}

/// The layers in a line, top to bottom, for above the table: `/mnt: dm-0 (vg-root), sda2, sda (Samsung SSD 870)`.
pub fn watch_layers_line(target: &str, layers: &[WatchedLayer], style: &Style) -> String {
    let names = layers.iter().map(|l| match &l.title {
        Some(title) => format!("{} ({title})", l.name),
        None => l.name.clone(),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let line = if target.is_empty() { names } else { format!("{target}: {names}") };
    shorten(&plain(&line, style.ascii), style.width, style.ascii)
}

/// The parts of a request's activity in the units of the table.
pub(crate) fn request_words(r: &RequestActivity) -> [String; 4] {
    let rate = r.bytes_per_s.map_or_else(|| "-".into(), quantity::rate);
    let time = r.await_ns.map_or_else(|| "-".into(), |ns| quantity::latency(ns.round() as u64));
    let size = r.size_bytes.map_or_else(|| "-".into(), |b| format!("{} KiB", number(Some(b / KIB), 8)));
    [format!("{} /s", number(r.per_s, 9)), rate, size, time]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width;

    #[test]
    fn numbers_fit_their_columns() {
        let shown: Vec<String> = [0.0, 0.0123, 0.4, 9.99, 9.996, 123.44, 999.96, 1234.5, 12_345_678.0, 4e12]
            .into_iter()
            .map(|v| number(Some(v), 8))
            .collect();
        assert_eq!(shown, ["0", "0.012", "0.400", "9.99", "10.0", "123.4", "1000", "1234", "12.3M", "4000.0G"]);
        assert_eq!((number(None, 8), number(Some(f64::NAN), 8)), ("-".into(), "-".into()));
    }

    #[test]
    fn an_operation_of_an_nfs_mount_is_a_line() {
        let read = NfsActivity {
            operation: "READ".to_owned(),
            per_s: 312.0,
            sent_again_per_s: 2.0,
            bytes_sent_per_s: 0.0,
            bytes_received_per_s: 40.9e6,
            queue_ms: 0.3,
            rtt_ms: 2.1,
            execute_ms: 2.4,
        };
        let words = nfs_words(&read);
        assert_eq!(words, "READ 312.0 /s 40.9 MB/s: 300 us queue, 2.10 ms RTT, 2.40 ms in all, 2.00 /s sent again");
    }

    #[test]
    fn other_counters_of_the_path_are_one_line() {
        let of = |counter: &str, per_s| PathActivity { counter: counter.to_owned(), per_s };
        let all = [of("smb_requests", 320.0), of("smb_bytes_read", 40.9e6), of("not_known", 1.0)];
        assert_eq!(path_words(&all).unwrap(), "SMB requests 320.0 /s, SMB read 40.9 MB/s");
        assert_eq!(path_words(&[]), None);
    }

    #[test]
    fn columns_go_where_the_terminal_is_narrow() {
        let at = |columns: usize| {
            let style = Style { width: columns, ..Style::default() };
            watch_header(&style).lines().map(width).collect::<Vec<_>>()
        };
        for columns in 40..140 {
            assert!(at(columns).iter().all(|w| *w <= columns), "{columns}: {:?}", at(columns));
        }
        assert!(watch_header(&Style { width: 120, ..Style::default() }).contains("f/s"));
        assert!(watch_header(&Style::default()).contains("await ms"));
        assert!(watch_header(&Style { width: 40, ..Style::default() }).contains("util %"));
    }
}
