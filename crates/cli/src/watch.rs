//! `narrows watch`: iostat and dstat in one, layer by layer.

mod live;
mod pause;
mod screen;
mod subject;

use crate::args::{CsvColumns, WatchArgs};
use crate::output::Output;
use crate::signals::Signals;
use conduct::WallClock;
use model::{Failure, parse_duration_ns};
use pause::Ended;
use report::document::WatchDocument;
use report::{
    CsvOrigin, WatchCsv, WatchTick, watch_block, watch_csv_header, watch_csv_rows, watch_header, watch_interval,
};
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use subject::Subject;

/// Faster than this the reading itself is what is seen.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);
/// Longer than this nobody waits; it keeps every sum of times in range.
const MOST_INTERVAL: Duration = Duration::from_secs(86_400);

/// Executes the command.
pub fn command(args: &WatchArgs, output: &Output) -> Result<ExitCode, Failure> {
    let (every, count) = grid(args)?;
    let interval = interval(&every)?;
    if count == Some(0) {
        return Err(usage("--count 0 shows nothing", "for example --count 10"));
    }
    let asked = [output.is_json(), output.is_markdown(), args.csv.is_some(), args.live];
    if asked.iter().filter(|is| **is).count() > 1 {
        return Err(usage("--json, --markdown, --csv and --live exclude each other", "leave out all but one"));
    }
    let form = match args.csv {
        _ if output.is_json() => Form::Json,
        _ if output.is_markdown() => Form::Markdown,
        Some(CsvColumns::Narrows) => Form::Csv(WatchCsv::Narrows),
        Some(CsvColumns::Iostat) => Form::Csv(WatchCsv::Iostat),
        Some(CsvColumns::Dstat) => Form::Csv(WatchCsv::Dstat),
        None => Form::Table,
    };
    let target = target(args);
    let mut subject = Subject::new(target)?;
    let target = target.map(|t| t.to_string_lossy().into_owned());
    if args.live {
        live::watch(subject, target.as_deref().unwrap_or("all disks"), interval, count, output.style())?;
        return Ok(ExitCode::SUCCESS);
    }
    for missing in subject.missing() {
        output.warning(missing);
    }
    if form == Form::Csv(WatchCsv::Dstat) {
        subject.fix();
    }
    let signals = Signals::install()?;
    let mut printer = Printer { form, output, target: target.as_deref(), lines_since_header: None };
    let mut next = Instant::now();
    let mut seen = 0;
    loop {
        let tick = subject.look();
        if let Err(error) = printer.print(&tick, &subject) {
            return if pause::is_reader_gone(&error) { Ok(ExitCode::SUCCESS) } else { Err(lost(&error)) };
        }
        seen += 1;
        if count.is_some_and(|count| seen >= count) {
            return Ok(ExitCode::SUCCESS);
        }
        next = after(next, interval);
        match pause::until(next, io::stdout().as_fd(), || signals.seen()) {
            Ended::Time => {}
            Ended::ReaderGone | Ended::Stopped => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// What is watched: not `1 2`, which is an interval and a number of rows, unless something here has that name.
fn target(args: &WatchArgs) -> Option<&OsStr> {
    let target = args.target.as_deref()?;
    let is_number = target.to_str().is_some_and(|t| t.parse::<f64>().is_ok_and(|n| n > 0.0));
    (!is_number || args.rows.len() > 1 || Path::new(target).exists()).then_some(target)
}

/// Interval and number of rows: by options, or as iostat has them behind the target.
fn grid(args: &WatchArgs) -> Result<(String, Option<u64>), Failure> {
    // All disks, as iostat has it: the first word is the interval then.
    let first = if target(args).is_none() { args.target.as_ref().and_then(|t| t.to_str()) } else { None };
    let mut words = first.into_iter().chain(args.rows.iter().map(String::as_str));
    let (every, count) = (words.next(), words.next());
    if (every.is_some() && args.interval.is_some()) || (count.is_some() && args.count.is_some()) {
        return Err(usage(
            "interval and count were given twice",
            "narrows watch sda 5 12, or --interval 5s --count 12",
        ));
    }
    let count = count.map(|text| {
        text.parse::<u64>().map_err(|_| usage(&format!("'{text}' is not a number of rows"), "narrows watch sda 5 12"))
    });
    let every = every.or(args.interval.as_deref()).unwrap_or("1s").to_owned();
    Ok((every, count.transpose()?.or(args.count)))
}

/// The next moment on the grid of the intervals; moments that passed (a stopped program, a slow reader) are left out.
fn after(last: Instant, interval: Duration) -> Instant {
    let now = Instant::now();
    let mut next = last + interval;
    if next <= now {
        let behind = now.duration_since(last).as_nanos() / interval.as_nanos().max(1);
        let whole = u64::try_from(behind * interval.as_nanos()).unwrap_or(0);
        next = last + Duration::from_nanos(whole) + interval;
    }
    next
}

fn interval(text: &str) -> Result<Duration, Failure> {
    let ns = parse_duration_ns(text).map_err(|e| usage(&format!("--interval: {e}"), "for example --interval 1s"))?;
    let interval = Duration::from_nanos(ns);
    if !(LEAST_INTERVAL..=MOST_INTERVAL).contains(&interval) {
        let message = format!("--interval {text}: from 10 ms to 1 day");
        return Err(usage(&message, "for example --interval 1s"));
    }
    Ok(interval)
}

fn usage(message: &str, remedy: &str) -> Failure {
    Failure::usage(message).remedy(remedy)
}

fn lost(error: &io::Error) -> Failure {
    Failure::environment(format!("cannot write to stdout: {error}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Csv(WatchCsv),
    Json,
    Markdown,
}

/// Writes one interval after the other, at once: whoever reads along wants it now.
struct Printer<'a> {
    form: Form,
    output: &'a Output,
    target: Option<&'a str>,
    /// Lines of the table since its header; `None` before the first.
    lines_since_header: Option<usize>,
}

impl Printer<'_> {
    fn print(&mut self, tick: &WatchTick, subject: &Subject) -> io::Result<()> {
        let text = match self.form {
            Form::Json => {
                WatchDocument::new(self.target, tick, subject.layers()).to_line().map_err(io::Error::other)?
            }
            Form::Csv(csv) => self.csv(csv, tick, subject),
            Form::Markdown => watch_interval(tick, subject.layers()).markdown() + "\n",
            Form::Table => self.table(tick, subject),
        };
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn csv(&mut self, csv: WatchCsv, tick: &WatchTick, subject: &Subject) -> String {
        let rows = watch_csv_rows(csv, tick, subject.layers(), subject.totals());
        if self.lines_since_header.replace(0).is_some() {
            return rows;
        }
        let host = rustix::system::uname();
        let command: Vec<String> = std::env::args().collect();
        let origin = CsvOrigin {
            version: env!("CARGO_PKG_VERSION"),
            host: &host.nodename().to_string_lossy(),
            command: &command.join(" "),
            started: &WallClock::now(),
        };
        watch_csv_header(csv, subject.layers(), &origin) + &rows
    }

    fn table(&mut self, tick: &WatchTick, subject: &Subject) -> String {
        let style = self.output.style();
        let block = watch_block(tick, subject.layers(), style);
        let lines = block.lines().count();
        // Once for a file; on a terminal as soon as it would scroll away.
        let repeats = match self.lines_since_header {
            None => true,
            Some(since) => rows().is_some_and(|rows| since + lines >= rows),
        };
        let mut text = String::new();
        if let Some(target) = self.target.filter(|_| self.lines_since_header.is_none()) {
            text = report::watch_layers_line(target, subject.layers(), style) + "\n";
        }
        if repeats {
            text += &watch_header(style);
            self.lines_since_header = Some(HEADER_LINES);
        }
        self.lines_since_header = self.lines_since_header.map(|since| since + lines);
        text + &block
    }
}

/// Lines of the table's header.
const HEADER_LINES: usize = 2;

/// Rows of the terminal; `None` where stdout is none.
fn rows() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let rows = rustix::termios::tcgetwinsize(io::stdout()).ok()?.ws_row;
    (rows > 0).then_some(usize::from(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_passed_are_left_out() {
        let second = Duration::from_secs(1);
        let now = Instant::now();
        assert_eq!(after(now, second), now + second);
        let late = now.checked_sub(Duration::from_millis(3_400));
        if let Some(late) = late {
            let next = after(late, second);
            assert_eq!(next, late + Duration::from_secs(4), "on the grid, in the future");
        }
    }

    #[test]
    fn intervals_have_bounds() {
        assert_eq!(interval("500ms").ok(), Some(Duration::from_millis(500)));
        assert_eq!(interval("2").ok(), Some(Duration::from_secs(2)));
        for bad in ["0", "0s", "1ms", "2d", "x", "-1s", ""] {
            assert!(interval(bad).is_err(), "{bad}");
        }
    }
}
