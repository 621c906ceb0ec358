//! fio's text for people, of all versions, one report or many in a file, between whatever a terminal showed.

use super::job::{Direction, FioJob, Latencies, MAX_PERCENTILES};
use super::lines;
use super::report::{MAX_JOBS, Report};
use crate::import::{Found, Text, found};
use std::collections::BTreeSet;

/// Lines of a job's report that carry no metric of ours.
const IN_JOB: [&str; 11] = [
    "steadystate",
    "lat (",
    "bw (",
    "bw  (",
    "iops ",
    "IO depths",
    "submit",
    "complete",
    "issued",
    "latency ",
    "Description",
];
/// Lines around reports.
const AROUND: [&str; 4] = ["Starting ", "Jobs: ", "hostname=", "..."];
/// Characters of a line that are kept as a run's name.
const TITLE_LIMIT: usize = 100;
/// Lines that may stand between the line that says what a run is and the run.
const TITLE_DISTANCE: usize = 4;

/// Messages, and lines that say what jobs were asked to do, that are held.
const MAX_HELD: usize = 4096;

/// What was read: reports, and what fio said beside them.
pub(super) struct Normal {
    pub reports: Vec<Report>,
    /// `fio: ..` with its line; it belongs to the report that ends next.
    pub messages: Vec<(usize, String)>,
}

/// Reads every report on lines that no other form has taken.
pub(super) fn read(text: &Text, found: &mut Found) -> Normal {
    let mut reader = Reader::default();
    let cut = if text.all().ends_with('\n') { None } else { Some(text.line_count()) };
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        // What a progress line wrote before its last carriage return was overwritten on the terminal.
        let line = line.rsplit('\r').next().unwrap_or(line);
        let in_job = reader.section == Section::Jobs && !reader.nameless;
        if cut == Some(number) && in_job && !line.trim().is_empty() {
            found.not_understood(number, "the text ends within this line");
            reader.cut = true;
            continue;
        }
        match reader.line(number, line) {
            Line::Known => found.used(number),
            Line::Foreign => {}
            Line::Faulty(why) => found.not_understood(number, why),
            Line::TooMany => {
                found.leave_out(number);
                found.used(number);
            }
        }
    }
    reader.close();
    for number in reader.titles {
        found.used(number);
    }
    Normal { reports: reader.reports, messages: reader.messages }
}

enum Line {
    Known,
    Foreign,
    Faulty(String),
    /// A job beyond those that are read.
    TooMany,
}

/// Where in a report the reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Outside,
    Jobs,
    Status,
    Disks,
}

#[derive(Default)]
struct Reader {
    reports: Vec<Report>,
    messages: Vec<(usize, String)>,
    /// Lines that became names of runs.
    titles: Vec<usize>,
    current: Option<Report>,
    section: Section,
    /// Direction and percentiles that the next lines belong to.
    direction: &'static str,
    percentiles: Option<(Option<&'static str>, f64, String)>,
    /// Whether the last job still lacks its end.
    open: bool,
    cut: bool,
    /// Whether the job at hand was pasted without the line that names it.
    nameless: bool,
    version: Option<String>,
    /// Whether clients report here, and the one whose line was the last to carry a name.
    clients: bool,
    host: Option<String>,
    /// What the jobs to come were asked to do.
    asked: Vec<(String, String)>,
    /// The last line that is not fio's.
    before: Option<(usize, String)>,
    title: Option<(usize, String)>,
    /// Group at hand, and the groups whose jobs were reported.
    group: u64,
    groups: BTreeSet<u64>,
    /// Jobs so far, of all reports.
    jobs: usize,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Line {
        let (host, words) = lines::without_host(line);
        if host.is_some() {
            self.host = host.map(|h| found::name(h).to_owned());
        }
        let words = words.trim();
        if words.is_empty() {
            self.percentiles = None;
            return Line::Known;
        }
        if let Some(job) = lines::job(line) {
            self.jobs += 1;
            if self.jobs > MAX_JOBS {
                self.section = Section::Outside;
                return Line::TooMany;
            }
            self.job(number, &job);
            return Line::Known;
        }
        if let Some(version) = lines::version(words) {
            self.begin(number);
            self.version = Some(version.to_owned());
            return Line::Known;
        }
        if let Some((name, asked)) = words.split_once(": (g=").and_then(|(n, r)| Some((n, r.split_once("): ")?.1))) {
            self.begin(number);
            if self.asked.len() < MAX_HELD {
                self.asked.push((name.to_owned(), asked.to_owned()));
            }
            return Line::Known;
        }
        if let Some(rest) = words.strip_prefix("Run status group ") {
            self.section = Section::Status;
            self.group = rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|g| g.parse().ok()).unwrap_or(0);
            return Line::Known;
        }
        if words.starts_with("Disk stats") {
            self.section = Section::Disks;
            return Line::Known;
        }
        self.without_heading(number, words);
        let inside = match self.section {
            Section::Outside => None,
            Section::Jobs => self.in_job(words),
            Section::Status => self.in_status(number, words),
            Section::Disks => (words.contains("ios=") && words.contains("util=")).then_some(Line::Known),
        };
        inside.unwrap_or_else(|| self.around(number, words))
    }

    /// Rates without the lines above them, as people paste them: the line begins a report of its own where nothing of fio is
    /// open, or where the job at hand was pasted so, too, and has this direction already.
    fn without_heading(&mut self, number: usize, words: &str) {
        let inside = self.section == Section::Jobs && !self.nameless;
        if inside {
            return;
        }
        if let Some(direction) = lines::lone_direction(words) {
            let jobs = self.current.as_ref().map_or(&[][..], |c| c.jobs.as_slice());
            let has = jobs.iter().flat_map(|j| &j.directions).any(|d| d.name == direction.name && d.is_used());
            let last_line = self.current.as_ref().map_or(0, |c| c.last_line);
            let parted = self.before.as_ref().is_some_and(|(at, _)| *at > last_line);
            if self.section == Section::Jobs && !has && !parted {
                return;
            }
            self.close();
            (self.section, self.nameless, self.direction, self.percentiles) = (Section::Jobs, true, "", None);
            let report = self.report(number);
            report.remark("pasted without the line that names the job: its options are not known".to_owned());
            report.jobs.push(FioJob::default());
            self.jobs += 1;
        } else if self.section != Section::Status && lines::lone_group(words).is_some() {
            // Below jobs it is their sum.
            if self.nameless {
                self.groups.insert(0);
            }
            (self.section, self.group) = (Section::Status, 0);
        }
    }

    fn around(&mut self, number: usize, words: &str) -> Line {
        if words.starts_with("hostname=") {
            self.begin(number);
            self.clients = true;
        }
        let frames = AROUND.iter().any(|f| words.starts_with(f)) || words.contains(": Laying out IO file");
        if frames {
            return Line::Known;
        }
        // `crc32c: verify failed at file x offset 8192, length 4096 (...)`, with the two checksums below it.
        let mismatch = words.contains(": verify failed at ");
        if ["Expected CRC:", "Received CRC:"].iter().any(|p| words.starts_with(p)) {
            return Line::Known;
        }
        let message = mismatch || ["fio: ", "error: ", "^Cfio: "].iter().any(|p| words.starts_with(p));
        if message && !words.contains("error: no ") {
            if self.messages.len() < MAX_HELD {
                self.messages.push((number, words.to_owned()));
            }
            return Line::Known;
        }
        if words.chars().any(char::is_alphanumeric) {
            self.before = Some((number, words.to_owned()));
        }
        Line::Foreign
    }

    /// A new execution begins here, if the last one has ended.
    fn begin(&mut self, number: usize) {
        if self.current.is_some() {
            self.close();
        }
        if let Some(before) = self.before.take().filter(|(at, _)| number - at <= TITLE_DISTANCE) {
            self.title.get_or_insert(before);
        }
    }

    fn report(&mut self, number: usize) -> &mut Report {
        if self.current.is_none() {
            self.begin(number);
        }
        let (version, title) = (&mut self.version, &mut self.title);
        let titles = &mut self.titles;
        let report = self.current.get_or_insert_with(|| {
            let mut report = Report { version: version.take(), ..Report::new("fio-text", number, number) };
            if let Some((at, words)) = title.take() {
                titles.push(at);
                report.target = target(&words);
                report.title = Some(words.chars().take(TITLE_LIMIT).collect());
            }
            report
        });
        report.last_line = number;
        report
    }

    fn job(&mut self, number: usize, line: &lines::JobLine<'_>) {
        // Clients report one after another, and their sum follows; all of it is one execution.
        if matches!(self.section, Section::Status | Section::Disks) && !self.clients {
            self.close();
        }
        if std::mem::take(&mut self.nameless) {
            self.close();
        }
        self.section = Section::Jobs;
        self.groups.extend(line.group);
        (self.direction, self.percentiles, self.open) = ("", None, true);
        let is_sum = line.name == super::json::ALL_CLIENTS;
        let options = self.asked.iter().find(|(name, _)| name == line.name).map(|(_, asked)| asked.clone());
        let job = FioJob {
            name: found::name(line.name).to_owned(),
            host: self.host.clone().filter(|_| !is_sum),
            error: line.error.clone(),
            options,
            ..FioJob::default()
        };
        let local_time = line.local_time.map(str::to_owned);
        let report = self.report(number);
        if report.jobs.is_empty() {
            report.local_time = local_time;
        }
        if is_sum {
            report.remark(super::json::sum_remark());
        }
        report.jobs.push(job);
    }

    /// A line between a job's head and the next; `None` if it is not of a job.
    fn in_job(&mut self, words: &str) -> Option<Line> {
        let job = self.current.as_mut()?.jobs.last_mut()?;
        if let Some((kind, factor, unit)) = lines::percentiles_header(words) {
            self.percentiles = Some((kind, factor, unit.to_owned()));
            return Some(Line::Known);
        }
        if let Some((kind, factor, unit)) = &self.percentiles
            && let Some((values, whole)) = lines::percentiles(words, *factor, unit)
        {
            if let Some(latencies) = kind.and_then(|k| latencies_of(job, self.direction, k)) {
                let room = MAX_PERCENTILES.saturating_sub(latencies.percentiles.len());
                latencies.percentiles.extend(values.into_iter().take(room));
            }
            return Some(if whole { Line::Known } else { Line::Faulty("a percentile is not whole".to_owned()) });
        }
        self.percentiles = None;
        if let Some((name, rest)) = lines::direction_name(words)
            && ["iops=", "IOPS=", "bw=", "BW="].iter().any(|k| rest.contains(k))
        {
            self.direction = name;
            let Some(read) = lines::direction(words) else {
                return Some(Line::Faulty("fio's rates cannot be read".to_owned()));
            };
            *job.direction(name) = read;
            return Some(Line::Known);
        }
        if words.starts_with("fsync/fdatasync/sync_file_range") {
            self.direction = "sync";
            return Some(Line::Known);
        }
        if let Some((kind, read)) = lines::latencies(words) {
            let whole = read.mean.is_some() && read.max.is_some();
            if let Some(latencies) = latencies_of(job, self.direction, kind) {
                *latencies = read;
            }
            return Some(if whole { Line::Known } else { Line::Faulty("a latency cannot be read".to_owned()) });
        }
        if let Some((user, system)) = lines::cpu(words) {
            (job.cpu_user, job.cpu_system) = (user, system);
            self.open = false;
            return Some(Line::Known);
        }
        if let Some(issued) = lines::issued(words) {
            for (name, operations) in issued {
                if let Some(d) = job.directions.iter_mut().find(|d| d.name == name) {
                    d.operations = operations;
                    count_rate(d);
                }
            }
            return Some(Line::Known);
        }
        if let Some((word, rest)) = words.split_once(':').filter(|(w, _)| w.trim() == "errors") {
            let text = format!("job '{}' had {}: {}", job.name, word.trim(), rest.trim());
            self.current.as_mut()?.remark(text);
            return Some(Line::Known);
        }
        IN_JOB.iter().any(|f| words.starts_with(f)).then_some(Line::Known)
    }

    /// A group's sum: a metric only where the group's jobs are not there (people often paste just this).
    fn in_status(&mut self, number: usize, words: &str) -> Option<Line> {
        lines::direction_name(words)?;
        let Some(direction) = lines::group_direction(words) else {
            return Some(Line::Faulty("fio's sum of a group cannot be read".to_owned()));
        };
        if !self.groups.contains(&self.group) {
            let name = format!("group{}", self.group);
            let room = self.jobs < MAX_JOBS;
            self.jobs += 1;
            let report = self.report(number);
            if room && !report.jobs.iter().any(|j| j.name == name) {
                report.jobs.push(FioJob { name: name.clone(), ..FioJob::default() });
            }
            if let Some(job) = report.jobs.iter_mut().find(|j| j.name == name) {
                let name = direction.name;
                *job.direction(name) = direction;
            }
        }
        if let Some(current) = &mut self.current {
            current.last_line = number;
        }
        Some(Line::Known)
    }

    fn close(&mut self) {
        if let Some(mut report) = self.current.take() {
            if self.open || self.cut {
                report.truncated = true;
                report.remarks.push("the text ends before the job's report does; what is there was read".to_owned());
            }
            self.reports.push(report);
            self.asked.clear();
        }
        self.section = Section::Outside;
        (self.open, self.cut, self.nameless, self.clients, self.host) = (false, false, false, false, None);
        self.groups.clear();
    }
}

/// The latencies that a line of a direction's block speaks of.
fn latencies_of<'j>(job: &'j mut FioJob, direction: &'static str, kind: &str) -> Option<&'j mut Latencies> {
    if direction.is_empty() {
        return None;
    }
    let d = job.direction(direction);
    match kind {
        "slat" => Some(&mut d.submission),
        "clat" => Some(&mut d.completion),
        _ => Some(&mut d.total),
    }
}

/// A rate below one is printed as 0: operations over time give it.
fn count_rate(d: &mut Direction) {
    let (Some(iops), Some(runtime)) = (&mut d.iops, d.runtime_ns.filter(|r| *r > 0.0)) else { return };
    if iops.value == 0.0 && d.operations > 0 {
        iops.value = d.operations as f64 / (runtime / 1e9);
        d.remarks.push("fio printed 0 operations per second; they are counted over the time".to_owned());
    }
}

/// The file or device in a command line of fio.
fn target(words: &str) -> Option<String> {
    let options = words.split_once("fio ")?.1;
    ["--filename=", "--directory=", "-filename=", "-directory="].iter().find_map(|key| {
        let value = options.split_once(key)?.1.split_whitespace().next()?;
        Some(value.trim_matches(['\'', '"']).to_owned()).filter(|v| !v.is_empty())
    })
}
