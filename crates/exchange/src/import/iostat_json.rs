//! `iostat -o JSON`: reports under `sysstat.hosts[].statistics[]`.

use super::iostat::{SINCE_BOOT, column, distinct};
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::Unit;
use serde_json::{Map, Value};

/// How far into a document its first key must stand.
const OPENING: usize = 64;

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
    for start in documents(text) {
        let first_line = text.line_at(start);
        let mut stream = serde_json::Deserializer::from_str(&text.all()[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(document)) => {
                let end = text.line_at(start + stream.byte_offset().saturating_sub(1));
                let before = found.runs.len();
                for host in document["sysstat"]["hosts"].as_array().into_iter().flatten() {
                    found.runs.extend(run(host, found.file, first_line));
                }
                if found.runs.len() > before {
                    found.used_range(first_line, end);
                } else {
                    found.not_understood(first_line, "this document of sysstat holds no report of disks");
                }
            }
            Some(Err(e)) if e.is_eof() => found.not_understood(first_line, "this document of sysstat ends too early"),
            Some(Err(e)) => {
                let line = first_line + e.line().saturating_sub(1);
                found.not_understood(line, format!("this document of sysstat is no JSON here: {e}"));
            }
            None => {}
        }
    }
}

fn run(host: &Value, file: &str, first_line: usize) -> Option<ImportedRun> {
    let text = |key: &str| host[key].as_str().filter(|s| !s.is_empty()).map(str::to_owned);
    let hostname = text("nodename");
    let mut run = ImportedRun::new("iostat-json", hostname.as_deref().unwrap_or(file), first_line);
    run.environment.hostname = hostname;
    run.environment.kernel = text("release");
    run.environment.architecture = text("machine");
    for (index, report) in host["statistics"].as_array()?.iter().enumerate() {
        let name = format!("report[{}]", index + 1);
        let mut metrics = Vec::new();
        for (share, value) in report["avg-cpu"].as_object().into_iter().flatten() {
            let id = format!("{name}.cpu.{share}_percent");
            let value = value.as_f64();
            metrics.extend(
                value.and_then(|v| {
                    ImportedMetric::new(id, Unit::Percent, None, v, 1, Original::new(v.to_string(), "%"))
                }),
            );
        }
        for disk in report["disk"].as_array().into_iter().flatten().filter_map(Value::as_object) {
            metrics.extend(disk_metrics(disk, &name, &mut run));
        }
        if index == 0 {
            metrics.iter_mut().for_each(|m| m.metric.reasons.push("average since boot, unless -y".to_owned()));
        }
        distinct(&mut metrics);
        run.push(name, metrics);
    }
    run.remark(SINCE_BOOT);
    (!run.groups.is_empty()).then_some(run)
}

fn disk_metrics(disk: &Map<String, Value>, report: &str, run: &mut ImportedRun) -> Vec<ImportedMetric> {
    let Some(device) = disk.get("disk_device").and_then(Value::as_str) else {
        run.remark("a disk without a name was left out");
        return Vec::new();
    };
    let prefix = format!("{report}.{device}");
    let mut metrics = Vec::new();
    for (key, value) in disk.iter().filter(|(key, _)| *key != "disk_device") {
        match (column(key), value.as_f64()) {
            (Some(column), Some(value)) => metrics.extend(column.number(&prefix, value)),
            _ => run.remark(format!("the key {key} is not known or holds no number, and was left out")),
        }
    }
    metrics
}
