//! `iostat -o JSON`: reports under `sysstat.hosts[].statistics[]`.
//!
//! Report by report, so that a document of a day takes no more than one report of it, and one that was cut off (iostat
//! writes its end only when it is told to stop) gives what stands whole in it.

use super::found;
use super::iostat::{Column, SINCE_BOOT, column, distinct};
use super::series::Series;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Reason, RunState, Unit};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// How far into a document its first key must stand.
const OPENING: usize = 64;
/// Disks, and figures of one, that are read of a report.
const MAX_DISKS: usize = 4096;
const MAX_FIGURES: usize = 64;
/// Keys of a disk that are named where they are not known.
const MAX_UNKNOWN: usize = 8;

/// Where documents of sysstat begin: at a brace whose first key is `sysstat`.
fn documents(text: &Text) -> impl Iterator<Item = usize> {
    text.all().match_indices("\"sysstat\"").filter_map(|(at, _)| {
        let brace = text.all()[..at].trim_end().len().checked_sub(1)?;
        (text.all().as_bytes()[brace] == b'{' && at - brace <= OPENING).then_some(brace)
    })
}

/// Whether there is such a document.
pub(super) fn detect(text: &Text) -> bool {
    documents(text).next().is_some()
}

/// Reads all documents.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut starts = documents(text).peekable();
    while let Some(start) = starts.next() {
        let limit = starts.peek().copied().unwrap_or(text.all().len());
        document(text, start, limit, found);
    }
}

/// Where the list of reports begins behind `"statistics":`, and where the key stands.
fn statistics(all: &str, from: usize) -> Option<(usize, usize)> {
    const KEY: &str = "\"statistics\"";
    all[from..].match_indices(KEY).map(|(i, _)| from + i).find_map(|key| {
        let rest = all[key + KEY.len()..].trim_start().strip_prefix(':')?.trim_start().strip_prefix('[')?;
        Some((key, all.len() - rest.len()))
    })
}

fn document(text: &Text, start: usize, limit: usize, found: &mut Found) {
    let all = &text.all()[..limit];
    let first_line = text.line_at(start);
    let mut at = start;
    let mut runs = 0;
    let mut fault = None;
    while let Some((key, list)) = statistics(all, at) {
        let mut run = host(&all[at..key], found.file, first_line);
        let mut series = Series::new("report", found.room());
        let end = reports(all, list, &mut series, &mut run);
        at = match end {
            Ok(end) => end,
            Err((end, why)) => {
                run.state = RunState::Truncated;
                fault = Some((end, why));
                end
            }
        };
        if !series.is_empty() {
            series.finish(&mut run);
            run.remark(SINCE_BOOT);
            found.push(run);
            runs += 1;
        }
        if fault.is_some() {
            break;
        }
    }
    let rest = all[at..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '}' | ']'));
    let end = (all.len() - rest.len()).max(start + 1);
    if runs > 0 {
        found.used_range(first_line, text.line_at(end - 1));
    }
    if let Some((at, why)) = fault {
        found
            .not_understood(text.line_at(at), format!("this document of sysstat {why}; what comes before it was read"));
    } else if runs == 0 {
        found.not_understood(first_line, "this document of sysstat holds no report of disks");
    }
}

/// A run of the host whose description this is.
fn host(description: &str, file: &str, first_line: usize) -> ImportedRun {
    let text = |key: &str| {
        let value = description.split_once(&format!("\"{key}\""))?.1.trim_start().strip_prefix(':')?;
        let value = serde_json::Deserializer::from_str(value).into_iter::<String>().next()?.ok()?;
        (!value.is_empty()).then_some(value)
    };
    let hostname = text("nodename");
    let mut run = ImportedRun::new("iostat-json", hostname.as_deref().unwrap_or(file), first_line);
    run.environment.hostname = hostname;
    run.environment.kernel = text("release");
    run.environment.architecture = text("machine");
    run
}

/// Reads the reports of a list, and gives where it ends.
fn reports(all: &str, start: usize, series: &mut Series, run: &mut ImportedRun) -> Result<usize, (usize, String)> {
    let mut at = start;
    for number in 1.. {
        let rest = all[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        at = all.len() - rest.len();
        if rest.starts_with(']') {
            return Ok(at + 1);
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Report>();
        match stream.next() {
            Some(Ok(report)) => series.push(number, metrics(&report, number, run)),
            Some(Err(e)) if !e.is_eof() => return Err((at, format!("is not JSON here: {e}"))),
            _ => return Err((at, "ends too early".to_owned())),
        }
        at += stream.byte_offset().max(1);
    }
    Ok(at)
}

fn metrics(report: &Report, number: usize, run: &mut ImportedRun) -> Vec<ImportedMetric> {
    let name = format!("report[{number}]");
    let share = |(share, value): &(Cow<'_, str>, f64)| {
        let id = format!("{name}.cpu.{}_percent", found::name(share));
        ImportedMetric::new(id, Unit::Percent, None, *value, 1, Original::new(value.to_string(), "%"))
    };
    let mut metrics: Vec<ImportedMetric> = report.shares.0.iter().filter_map(share).collect();
    for disk in &report.disks.0 {
        let Some(device) = &disk.device else {
            run.remark("a disk without a name was left out");
            continue;
        };
        let prefix = format!("{name}.{}", found::name(device));
        metrics.extend(disk.figures.iter().filter_map(|(column, value)| column.number(&prefix, *value)));
        for key in &disk.unknown {
            run.remark(format!("the key {} is not known or holds no number, and was left out", found::name(key)));
        }
    }
    if number == 1 {
        metrics.iter_mut().for_each(|m| m.metric.reasons.push(Reason::since_boot(Some("-y"))));
    }
    distinct(&mut metrics);
    metrics
}

/// One report; what is not known is passed over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Report<'a> {
    #[serde(rename = "avg-cpu", borrow)]
    shares: Shares<'a>,
    #[serde(rename = "disk", borrow)]
    disks: Disks<'a>,
}

/// Shares of processor time by their names.
#[derive(Default)]
struct Shares<'a>(Vec<(Cow<'a, str>, f64)>);

/// The disks of a report.
#[derive(Default)]
struct Disks<'a>(Vec<Disk<'a>>);

/// The figures of a disk, and the keys that are not known.
#[derive(Default)]
struct Disk<'a> {
    device: Option<Cow<'a, str>>,
    figures: Vec<(Column, f64)>,
    unknown: Vec<Cow<'a, str>>,
}

/// A string that stands in the text as it is, or with escapes.
#[derive(Deserialize)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

/// A number, a string, or something else.
enum Value<'a> {
    Number(f64),
    Word(Cow<'a, str>),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_f64<E>(self, v: f64) -> Result<Self::Value, E> {
                Ok(Value::Number(v))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Self::Value, E> {
                Ok(Value::Number(v as f64))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Self::Value, E> {
                Ok(Value::Number(v as f64))
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Self::Value, E> {
                Ok(Value::Word(Cow::Borrowed(v)))
            }
            fn visit_str<E>(self, v: &str) -> Result<Self::Value, E> {
                Ok(Value::Word(Cow::Owned(v.to_owned())))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Value::Other)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Value::Other)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }
        }
        d.deserialize_any(Any)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Shares<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let entries = Entries::deserialize(d)?;
        let number = |(key, value)| if let Value::Number(n) = value { Some((key, n)) } else { None };
        Ok(Self(entries.0.into_iter().filter_map(number).collect()))
    }
}

/// The first entries of an object; none of anything else.
struct Entries<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((Word(key), value)) = map.next_entry::<Word<'de>, Value<'de>>()? {
                    if entries.len() < MAX_FIGURES {
                        entries.push((key, value));
                    }
                }
                Ok(Entries(entries))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Entries(Vec::new()))
            }
        }
        d.deserialize_any(Object)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Disk<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut disk = Self::default();
        for (key, value) in Entries::deserialize(d)?.0 {
            match (value, column(&key)) {
                (Value::Word(name), _) if key == "disk_device" => disk.device = Some(name),
                (Value::Number(number), Some(column)) => disk.figures.push((column, number)),
                _ if disk.unknown.len() < MAX_UNKNOWN => disk.unknown.push(key),
                _ => {}
            }
        }
        Ok(disk)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Disks<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Disks<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of disks")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut disks = Vec::new();
                while let Some(disk) = seq.next_element::<Disk<'de>>()? {
                    if disks.len() < MAX_DISKS {
                        disks.push(disk);
                    }
                }
                Ok(Disks(disks))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Disks(Vec::new()))
            }
        }
        d.deserialize_any(List)
    }
}

#[cfg(test)]
mod tests {
    use crate::import::import;
    use model::RunState;

    fn document(reports: usize) -> String {
        let report = |n: usize| {
            format!(
                "{{\"timestamp\": \"t\", \"avg-cpu\": {{\"user\": {n}, \"x\": []}}, \
                 \"disk\": [{{\"disk_device\": \"sda\", \"r/s\": {n}.5, \"new\": 1}}, {{\"r/s\": 1}}]}}"
            )
        };
        let all: Vec<String> = (1..=reports).map(report).collect();
        let (head, tail) = (
            "{\"sysstat\": {\"hosts\": [{\"nodename\": \"h\\u0041\", \"release\": \"6.1\",\n\"statistics\": [",
            "]}]}}",
        );
        format!("{head}{}{tail}\n", all.join(",\n"))
    }

    #[test]
    fn reports_of_a_host() {
        let imported = import("f", document(3).as_bytes()).unwrap();
        let [run] = imported.runs.as_slice() else { panic!("{:?}", imported.runs) };
        assert_eq!((run.environment.hostname.as_deref(), run.environment.kernel.as_deref()), (Some("hA"), Some("6.1")));
        assert_eq!((run.groups.len(), imported.not_understood.len()), (3, 0));
        let value = |id: &str| run.metrics().find(|m| m.metric.id == id).and_then(|m| m.metric.value);
        assert_eq!((value("report[2].sda.read.iops"), value("report[3].cpu.user_percent")), (Some(2.5), Some(3.0)));
        for part in ["key new is not known", "without a name"] {
            assert!(run.remarks.iter().any(|r| r.contains(part)), "{:?}", run.remarks);
        }
    }

    #[test]
    fn what_stands_whole_before_the_cut_is_read() {
        let whole = document(5);
        let cut = &whole[..whole.rfind("\"disk\"").unwrap()];
        let imported = import("f", cut.as_bytes()).unwrap();
        let [run] = imported.runs.as_slice() else { panic!("{:?}", imported.runs) };
        assert_eq!((run.groups.len(), run.state), (4, RunState::Truncated));
        assert!(imported.not_understood[0].why.contains("ends too early"), "{:?}", imported.not_understood);
        let broken = whole.replacen("\"disk\": [{", "\"disk\": [{{", 1);
        let imported = import("f", broken.as_bytes()).unwrap();
        assert!(imported.runs.is_empty() && imported.not_understood.iter().any(|n| n.why.contains("not JSON here")));
    }
}
