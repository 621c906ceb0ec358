//! iostat's reports as text: old and new columns, one table or several a report, names before or after the figures, indented
//! copies, and tables whose rows repeat a device without a new heading (each repetition is a later report).

use super::aligned::words;
use super::found;
use super::iostat::{Column, SINCE_BOOT, column, cpu, distinct};
use super::series::Series;
use super::{Found, ImportedMetric, ImportedRun, Text};
use model::Reason;
use std::collections::BTreeSet;

/// Whether there is a table of devices, or one of processor time (`-c`) below the line that iostat begins with. Without
/// that line it may be of any of sysstat's programs.
pub(super) fn detect(text: &Text) -> bool {
    let has = |is: fn(&str) -> bool| text.lines().any(|(_, line)| is(line));
    has(|line| heading(line).is_some()) || (has(is_banner) && has(is_cpu_heading))
}

fn is_cpu_heading(line: &str) -> bool {
    line.trim_start().starts_with("avg-cpu:")
}

/// A heading: its columns in order, and on which side the names stand.
#[derive(Clone, PartialEq)]
struct Heading {
    columns: Vec<Option<Column>>,
    names_last: bool,
}

fn heading(line: &str) -> Option<Heading> {
    let all = words(line);
    let is_device = |word: &str| matches!(word, "Device" | "Device:");
    let names_last = match (all.first(), all.last()) {
        (Some(first), _) if is_device(first.text) => false,
        (_, Some(last)) if is_device(last.text) => true,
        _ => return None,
    };
    let names = if names_last { &all[..all.len() - 1] } else { &all[1..] };
    let columns: Vec<Option<Column>> = names.iter().map(|w| column(w.text)).collect();
    // A heading has one column at least that is known.
    columns.iter().any(Option::is_some).then_some(Heading { columns, names_last })
}

/// A run that is being read.
struct Reader {
    run: ImportedRun,
    series: Series,
    /// Number of the report, from 1; 0 before the first.
    report: usize,
    metrics: Vec<ImportedMetric>,
    /// Whether the report holds anything but its time.
    has_content: bool,
    /// Headings of the report, and the devices below the current one.
    headings: Vec<Heading>,
    devices: BTreeSet<String>,
    /// Whether rows may follow.
    in_table: bool,
    /// Whether the next line with words holds the shares of processor time.
    cpu: Option<Vec<String>>,
    /// A name on a line of its own: its figures follow.
    pending: Option<String>,
}

impl Reader {
    fn new(found: &Found, line: usize) -> Self {
        Self {
            run: ImportedRun::new("iostat", found.file, line),
            series: Series::new("report", found.room()),
            report: 0,
            metrics: Vec::new(),
            has_content: false,
            headings: Vec::new(),
            devices: BTreeSet::new(),
            in_table: false,
            cpu: None,
            pending: None,
        }
    }

    fn next_report(&mut self) {
        self.close();
        self.report += 1;
        self.has_content = false;
        self.headings.clear();
        self.devices.clear();
        self.in_table = false;
    }

    /// Opens the first report, or the next where the current one holds something already.
    fn begin(&mut self) {
        if self.report == 0 || self.has_content {
            self.next_report();
        }
    }

    fn close(&mut self) {
        let mut metrics = std::mem::take(&mut self.metrics);
        if self.report == 1 {
            metrics.iter_mut().for_each(|m| m.metric.reasons.push(Reason::since_boot(Some("-y"))));
        }
        distinct(&mut metrics);
        self.series.push(self.report, metrics);
    }

    fn finish(mut self, found: &mut Found) {
        self.close();
        if !self.series.is_empty() {
            self.series.finish(&mut self.run);
            self.run.remark(SINCE_BOOT);
            found.push(self.run);
        }
    }

    fn heading(&mut self, heading: Heading) {
        if self.report == 0 || self.headings.contains(&heading) {
            self.next_report();
        }
        self.headings.push(heading);
        self.devices.clear();
        self.in_table = true;
        self.has_content = true;
    }

    /// Reads a row of devices. `Ok(false)` if it is none.
    fn row(&mut self, line: &str) -> Result<bool, String> {
        let Some(heading) = self.headings.last().cloned().filter(|_| self.in_table) else { return Ok(false) };
        let all = words(line);
        let mut cells: Vec<&str> = all.iter().map(|w| w.text).collect();
        let count = heading.columns.len();
        let name = match self.pending.take() {
            Some(name) if cells.len() == count => name,
            // Old versions put a long name on a line of its own.
            _ if cells.len() == 1 && !heading.names_last && count > 1 => {
                self.pending = Some(found::name(cells[0]).to_owned());
                return Ok(true);
            }
            _ if cells.len() == count + 1 && heading.names_last => {
                found::name(cells.pop().unwrap_or_default()).to_owned()
            }
            _ if cells.len() == count + 1 => found::name(cells.remove(0)).to_owned(),
            _ => return Err(format!("a row has {} words here, this line has {}", count + 1, cells.len())),
        };
        if self.devices.contains(&name) {
            self.next_report();
            self.headings.push(heading.clone());
            self.in_table = true;
            self.has_content = true;
        }
        let prefix = format!("report[{}].{name}", self.report);
        let mut metrics = Vec::new();
        for (column, text) in heading.columns.iter().zip(&cells) {
            let Some(column) = column else { continue };
            metrics
                .push(column.read(&prefix, text).ok_or_else(|| format!("'{text}' is not a figure of {}", column.id))?);
        }
        if self.metrics.len() + metrics.len() > self.series.most_in_a_report() {
            return Err("its report has more figures than are kept".to_owned());
        }
        self.devices.insert(name);
        self.metrics.extend(metrics);
        Ok(true)
    }
}

/// Reads all reports: a run for each start of iostat.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut reader: Option<Reader> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if is_banner(line) {
            if let Some(done) = reader.take() {
                done.finish(found);
            }
            let mut new = Reader::new(found, number);
            banner(line, &mut new.run);
            reader = Some(new);
            found.used(number);
            continue;
        }
        let heading = heading(line);
        let is_cpu = is_cpu_heading(line);
        if reader.is_none() && (heading.is_some() || is_cpu || is_time(line)) {
            reader = Some(Reader::new(found, number));
        }
        let Some(reader) = reader.as_mut() else { continue };
        if let Some(heading) = heading {
            found.used(number);
            for (word, column) in words(line).iter().filter(|w| !w.text.starts_with("Device")).zip(&heading.columns) {
                if column.is_none() {
                    reader.run.remark(format!("the column {} is not known and was left out", found::name(word.text)));
                }
            }
            reader.heading(heading);
        } else if is_cpu {
            reader.begin();
            reader.has_content = true;
            reader.cpu = Some(words(line).iter().skip(1).map(|w| found::name(w.text).to_owned()).collect());
            found.used(number);
        } else if line.trim().is_empty() {
            reader.in_table = false;
        } else if let Some(headings) = reader.cpu.take() {
            let prefix = format!("report[{}]", reader.report);
            let cells = words(line);
            let shares: Option<Vec<ImportedMetric>> =
                headings.iter().zip(&cells).map(|(heading, word)| cpu(&prefix, heading, word.text)).collect();
            match shares.filter(|s| s.len() == cells.len() && s.len() == headings.len()) {
                Some(shares) => {
                    reader.metrics.extend(shares);
                    found.used(number);
                }
                None => found.not_understood(number, "these are not shares of processor time"),
            }
        } else if is_time(line) {
            reader.begin();
            reader.in_table = false;
            found.used(number);
        } else {
            match reader.row(line) {
                Ok(true) => found.used(number),
                Ok(false) => {}
                Err(why) => found.not_understood(number, why),
            }
        }
    }
    if let Some(reader) = reader {
        reader.finish(found);
    }
}

/// `Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)`.
fn is_banner(line: &str) -> bool {
    line.trim_start().starts_with("Linux ") && line.contains(" (") && line.trim_end().ends_with(')')
        || line.trim_start().starts_with("Linux ") && line.contains('_') && line.contains('(')
}

fn banner(line: &str, run: &mut ImportedRun) {
    let all = words(line);
    run.environment.kernel = all.get(1).map(|w| w.text.to_owned());
    let bare = |text: &str, c: [char; 2]| text.trim_matches(c.as_slice()).to_owned();
    run.environment.hostname = all.get(2).map(|w| bare(w.text, ['(', ')'])).filter(|h| !h.is_empty());
    let machine = all.iter().find(|w| w.text.len() > 2 && w.text.starts_with('_') && w.text.ends_with('_'));
    run.environment.architecture = machine.map(|w| bare(w.text, ['_', '_']));
    if let Some(host) = &run.environment.hostname {
        run.name.clone_from(host);
    }
}

/// The time above a report (`-t`): a date and a time of day in the forms of any locale, or ISO 8601, and nothing else.
fn is_time(line: &str) -> bool {
    let text = line.trim().strip_prefix("Time:").unwrap_or(line.trim()).trim();
    let clock = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 3 && parts.iter().all(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_digit()))
    };
    if text.len() > 48 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let is_iso = text.split_once('T').is_some_and(|(date, time)| {
        date.len() == 10 && date.matches('-').count() == 2 && time.get(..8).is_some_and(clock)
    });
    is_iso || words(text).len() <= 6 && words(text).iter().any(|w| clock(w.text))
}
