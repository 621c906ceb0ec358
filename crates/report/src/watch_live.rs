//! The full screen of `narrows watch --live`: the latest interval in numbers, the ones before it as sparklines.
//!
//! A screen is a list of lines that fit; whoever owns the terminal writes them from the top. There is no cursor, no
//! escape but colours, and nothing that a name could act with.

use crate::spark;
use crate::text::{pad, plain, shorten, width};
use crate::watch::{LayerInInterval, WatchedLayer, decimal, number, request_words};
use crate::{Paint, Style, quantity};
use model::{DiskActivity, WatchTick};

/// What stands in the title.
#[derive(Clone, Copy, Debug)]
pub struct LiveTitle<'a> {
    /// The target, or what is watched.
    pub target: &'a str,
    /// Length of an interval.
    pub interval: &'a str,
    /// The storage path in words; may be empty.
    pub path: &'a str,
}

/// Columns of numbers left of a sparkline.
const TEXT_COLUMNS: usize = 50;
/// Columns of the scale right of it.
const SCALE_COLUMNS: usize = 11;
/// The narrowest sparkline worth drawing.
const LEAST_SPARK: usize = 8;
/// Lines of the title and of the machine.
const HEAD_LINES: usize = 6;

/// The last values as a line of at most `columns` characters, the newest at its end; what is not known is a space.
/// `full` is the value of the highest level.
fn sparkline(values: &[Option<f64>], full: f64, columns: usize, ascii: bool) -> String {
    let shown = &values[values.len().saturating_sub(columns)..];
    let line = spark::letters(shown, full, ascii);
    format!("{}{line}", " ".repeat(columns - shown.len()))
}

struct Screen<'a> {
    style: &'a Style,
    columns: usize,
    lines: Vec<String>,
}

impl Screen<'_> {
    fn line(&mut self, text: &str) {
        self.lines.push(shorten(text, self.columns, self.style.ascii));
    }

    fn painted(&mut self, paint: Paint, text: &str) {
        let text = shorten(text, self.columns, self.style.ascii);
        self.lines.push(self.style.paint(paint, &text));
    }

    /// Numbers, the sparkline of a series and its scale, as far as there is room.
    fn series(&mut self, text: &str, values: &[Option<f64>], full: Option<f64>, scale: impl Fn(f64) -> String) {
        let room = self.columns.saturating_sub(TEXT_COLUMNS + SCALE_COLUMNS);
        if room < LEAST_SPARK {
            return self.line(text);
        }
        let shown = &values[values.len().saturating_sub(room)..];
        let most = shown.iter().flatten().copied().fold(0.0, f64::max);
        let full = full.unwrap_or(most);
        let spark = sparkline(values, full, room, self.style.ascii);
        let text = pad(&shorten(text, TEXT_COLUMNS - 1, self.style.ascii), TEXT_COLUMNS);
        let spark = self.style.paint(Paint::Accent, &spark);
        let scale = self.style.paint(Paint::Dim, &scale(full));
        self.lines.push(format!("{text}{spark} {scale}"));
    }
}

/// The lines of the screen, at most `rows` of at most `style.width` columns. `history` ends with the newest interval.
pub fn live_screen(
    title: &LiveTitle<'_>,
    history: &[WatchTick],
    layers: &[WatchedLayer],
    style: &Style,
    rows: usize,
) -> Vec<String> {
    let mut screen = Screen { style, columns: style.width.max(20), lines: Vec::new() };
    let Some(now) = history.last() else { return Vec::new() };
    // A mean since boot is no interval: it would dwarf, or hide, what happens now.
    let intervals: Vec<&WatchTick> = history.iter().filter(|t| !t.since_boot).collect();
    head(&mut screen, title, now);
    machine(&mut screen, now, &intervals);
    let room = rows.saturating_sub(HEAD_LINES);
    // Four lines a layer, three, or one, whatever fits.
    let lines_each = [4, 3, 1].into_iter().find(|n| layers.len() * n <= room).unwrap_or(1);
    let fitting = if layers.len() * lines_each <= room { layers.len() } else { room.saturating_sub(1) };
    for layer in layers.iter().take(fitting) {
        one_layer(&mut screen, layer, now, &intervals, lines_each);
    }
    if fitting < layers.len() {
        let more = layers.len() - fitting;
        screen.painted(Paint::Dim, &format!("and {more} more: make the window taller, or name one TARGET"));
    }
    screen.lines.truncate(rows);
    screen.lines
}

fn head(screen: &mut Screen<'_>, title: &LiveTitle<'_>, now: &WatchTick) {
    let right = format!("{} UTC, every {}   q quits", now.clock(), title.interval);
    let room = screen.columns.saturating_sub(width(&right) + 2);
    let left =
        shorten(&plain(&format!("narrows watch {}", title.target), screen.style.ascii), room, screen.style.ascii);
    let line = format!("{}  {right}", pad(&left, room));
    screen.painted(Paint::Title, &line);
    let path = plain(title.path, screen.style.ascii);
    screen.painted(Paint::Dim, &path);
}

fn machine(screen: &mut Screen<'_>, now: &WatchTick, intervals: &[&WatchTick]) {
    let a = &now.activity;
    let cpu = a.cpu.map_or_else(
        || "cpu  - (CPUs came online or offline)".to_owned(),
        |c| {
            let p = |v: f64| decimal(Some(v * 100.0), 1);
            format!(
                "cpu  usr {}  sys {}  wait {}  stolen {} %",
                p(c.user + c.nice),
                p(c.system + c.irq),
                p(c.iowait),
                p(c.steal)
            )
        },
    );
    let busy: Vec<Option<f64>> = intervals.iter().map(|t| t.activity.cpu.map(|c| c.busy() * 100.0)).collect();
    screen.series(&cpu, &busy, Some(100.0), |_| "100 % busy".into());
    let pressure = |v: Option<f64>| decimal(v.map(|v| v * 100.0), 1);
    let io = match a.pressure_io {
        Some(p) => format!("io stalls  some {}  all {} %", pressure(p.some), pressure(p.full)),
        None => "io stalls  - (the kernel has no PSI)".into(),
    };
    let some: Vec<Option<f64>> =
        intervals.iter().map(|t| t.activity.pressure_io.and_then(|p| p.some).map(|s| s * 100.0)).collect();
    screen.series(&io, &some, Some(100.0), |_| "100 % some".into());
    let mut parts = vec![
        format!("{} int/s", decimal(a.interrupts_per_s, 0)),
        format!("{} ctx/s", decimal(a.context_switches_per_s, 0)),
    ];
    // Sensors are not asked each time; the last answer is not old.
    let latest = |value: fn(&WatchTick) -> Option<f64>| intervals.iter().rev().take(12).find_map(|t| value(t));
    if let Some(c) = now.hottest_c().or_else(|| latest(WatchTick::hottest_c)) {
        parts.push(if screen.style.ascii { format!("{c:.1} deg C") } else { format!("{c:.1} °C") });
    }
    if let Some(mhz) = now.fastest_mhz() {
        parts.push(format!("{mhz:.0} MHz"));
    }
    let memory = now.sample.memory;
    if let Some((dirty, writeback)) = memory.dirty_bytes.zip(memory.writeback_bytes) {
        parts.push(format!("dirty {}, in writeback {}", quantity::size(dirty), quantity::size(writeback)));
    }
    screen.line(&parts.join("   "));
    screen.line("");
}

fn one_layer(screen: &mut Screen<'_>, layer: &WatchedLayer, now: &WatchTick, intervals: &[&WatchTick], lines: usize) {
    let ascii = screen.style.ascii;
    let name = match &layer.title {
        Some(title) => format!("{} ({})", plain(&layer.name, ascii), plain(title, ascii)),
        None => plain(&layer.name, ascii),
    };
    let start = screen.lines.len();
    let of = |part: fn(&DiskActivity) -> Option<f64>| -> Vec<Option<f64>> {
        intervals.iter().map(|t| t.activity.disk(&layer.name).and_then(part)).collect()
    };
    let busy = of(|d| d.busy_ratio.map(|r| r * 100.0));
    match LayerInInterval::of(&now.activity, layer) {
        LayerInInterval::Rates(d) => {
            let util = decimal(d.busy_ratio.map(|r| r * 100.0), 1);
            let [_, read_rate, ..] = request_words(&d.read);
            let [_, write_rate, ..] = request_words(&d.write);
            if lines == 1 {
                let name = pad(&shorten(&name, 15, ascii), 15);
                let text = format!("{name} {util:>5} %  r {read_rate:>9}  w {write_rate:>9}");
                return screen.series(&text, &busy, Some(100.0), |_| "100 % util".into());
            }
            let queue = number(d.mean_in_flight, 7);
            let numbers = format!("util {util} %  queue {queue}");
            let room = TEXT_COLUMNS.saturating_sub(width(&numbers) + 3);
            let text = format!("{}  {numbers}", pad(&shorten(&name, room, ascii), room));
            screen.series(&text, &busy, Some(100.0), |_| "100 % util".into());
            let series =
                [("read ", &d.read, of(|d| d.read.bytes_per_s)), ("write", &d.write, of(|d| d.write.bytes_per_s))];
            for (word, r, values) in series {
                let [per_s, rate, size, time] = request_words(r);
                let text = format!("  {word}{rate:>10}{per_s:>11}{size:>10}{time:>9}");
                screen.series(
                    &text,
                    &values,
                    None,
                    |most| if most > 0.0 { quantity::rate(most) } else { String::new() },
                );
            }
        }
        seen => {
            let text = format!("{name}  {}", seen.words().unwrap_or_default());
            screen.painted(Paint::Warn, &text);
        }
    }
    while lines > 1 && screen.lines.len() < start + lines {
        screen.line("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_show_the_newest_at_the_end() {
        let values = [Some(0.0), Some(0.1), None, Some(50.0), Some(100.0)];
        assert_eq!(sparkline(&values, 100.0, 7, false), "  ▁▂ ▅█");
        assert_eq!(sparkline(&values, 100.0, 3, true), " =@");
        assert_eq!(sparkline(&values, 0.0, 5, true), "__ __", "a scale of nothing");
        assert_eq!(sparkline(&[], 1.0, 2, true), "  ");
    }
}
