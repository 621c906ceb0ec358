//! What `smartctl --json` and `nvme smart-log -o json` tell of a device: facts, no measurement of speed. Their figures have no
//! better direction but the wear and the errors.

use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};
use serde_json::Value;

/// Bytes of a data unit (NVM Express base specification, SMART / Health Information: thousands of 512 bytes).
const DATA_UNIT: f64 = 512_000.0;
/// A smart-log prints Kelvin.
const KELVIN: f64 = 273.0;

/// The documents of a text: each from a line that begins with a brace.
fn documents(text: &Text) -> Vec<(usize, usize, Value)> {
    let all = text.all();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = all.get(at..).and_then(|rest| rest.find('{')).map(|i| at + i) {
        let mut documents = serde_json::Deserializer::from_str(&all[start..]).into_iter::<Value>();
        match documents.next() {
            Some(Ok(document)) => {
                at = start + documents.byte_offset();
                found.push((text.line_at(start), text.line_at(at.saturating_sub(1)), document));
            }
            // The rest of the line is none of it, either.
            _ => at = all[start..].find('\n').map_or(all.len(), |i| start + i + 1),
        }
    }
    found
}

/// Whether the keys of one of them stand in the text.
pub(super) fn detect(text: &Text) -> bool {
    let all = text.all();
    let smartctl = all.contains("\"smartctl\"") && all.contains("\"device\"");
    smartctl || all.contains("\"critical_warning\"") && all.contains("\"power_cycles\"")
}

/// Reads all documents: a run each.
pub(super) fn read(text: &Text, found: &mut Found) {
    for (first, last, document) in documents(text) {
        if found.is_used(first) {
            continue;
        }
        let smartctl = document.get("smartctl").is_some() && document.get("device").is_some();
        let smart_log = document.get("critical_warning").is_some() && document.get("power_cycles").is_some();
        let run = match (smartctl, smart_log) {
            (true, _) => of_smartctl(&document, found.file, first),
            (_, true) => of_smart_log(&document, found.file, first),
            _ => continue,
        };
        found.used_range(first, last);
        if run.groups.is_empty() {
            found.not_understood(first, "there is no fact of a device in it");
        } else {
            found.push(run);
        }
    }
}

/// A number, also as text with commas between thousands.
fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => super::test_figures::grouped(text),
        _ => None,
    }
}

struct Facts(Vec<ImportedMetric>);

impl Facts {
    fn add(
        &mut self,
        quantity: &str,
        unit: Unit,
        better: Option<Better>,
        value: Option<f64>,
        printed: (Option<f64>, &str),
    ) {
        let original = Original::new(printed.0.map_or(String::new(), |p| p.to_string()), printed.1);
        let metric =
            value.and_then(|v| ImportedMetric::new(format!("device.{quantity}"), unit, better, v, 1, original));
        self.0.extend(metric);
    }
}

/// What both have, under the names of either.
fn of_log(log: &Value, facts: &mut Facts) {
    let of = |names: &[&str]| names.iter().find_map(|name| number(log.get(*name)));
    let lower = Some(Better::Lower);
    let used = of(&["percentage_used", "percent_used"]);
    facts.add("used_percent", Unit::Percent, lower, used, (used, "%"));
    let spare = of(&["available_spare", "avail_spare"]);
    facts.add("spare_percent", Unit::Percent, Some(Better::Higher), spare, (spare, "%"));
    for (name, quantity) in [("data_units_read", "read_bytes"), ("data_units_written", "written_bytes")] {
        let units = of(&[name]);
        facts.add(quantity, Unit::Bytes, None, units.map(|u| u * DATA_UNIT), (units, "data units"));
    }
    for name in ["media_errors", "unsafe_shutdowns", "power_cycles", "critical_warning"] {
        let count = of(&[name]);
        facts.add(name, Unit::Ratio, if name == "power_cycles" { None } else { lower }, count, (count, ""));
    }
}

fn hours(facts: &mut Facts, hours: Option<f64>) {
    facts.add("power_on_s", Unit::S, None, hours.map(|h| h * 3600.0), (hours, "h"));
}

fn of_smart_log(log: &Value, file: &str, line: usize) -> ImportedRun {
    let mut run = ImportedRun::new("nvme-smart-log", file, line);
    let mut facts = Facts(Vec::new());
    of_log(log, &mut facts);
    hours(&mut facts, number(log.get("power_on_hours")));
    if let Some(kelvin) = number(log.get("temperature")).filter(|k| *k > 200.0) {
        facts.add("temperature_celsius", Unit::Ratio, None, Some(kelvin - KELVIN), (Some(kelvin), "K"));
    }
    run.push("device", facts.0);
    run.remark("facts of a device, no measurement");
    run
}

fn of_smartctl(document: &Value, file: &str, line: usize) -> ImportedRun {
    let mut run = ImportedRun::new("smartctl-json", file, line);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    run.target = text(document.get("device").and_then(|d| d.get("name")));
    if let Some(model) = text(document.get("model_name")) {
        run.name.clone_from(&model);
        run.remark(format!("model: {model}"));
    }
    for (key, words) in [("firmware_version", "firmware"), ("rotation_rate", "revolutions a minute")] {
        if let Some(value) = document.get(key) {
            run.remark(format!("{words}: {}", text(Some(value)).unwrap_or_else(|| value.to_string())));
        }
    }
    if let Some(passed) = document.get("smart_status").and_then(|s| s.get("passed")).and_then(Value::as_bool) {
        run.remark(format!("SMART status: {}", if passed { "passed" } else { "failed" }));
    }
    let mut facts = Facts(Vec::new());
    let size = number(document.get("user_capacity").and_then(|c| c.get("bytes")));
    facts.add("size_bytes", Unit::Bytes, None, size, (size, "bytes"));
    let celsius = number(document.get("temperature").and_then(|t| t.get("current")));
    facts.add("temperature_celsius", Unit::Ratio, None, celsius, (celsius, "C"));
    hours(&mut facts, number(document.get("power_on_time").and_then(|t| t.get("hours"))));
    if let Some(log) = document.get("nvme_smart_health_information_log") {
        of_log(log, &mut facts);
    }
    let table = document.get("ata_smart_attributes").and_then(|a| a.get("table")).and_then(Value::as_array);
    for attribute in table.into_iter().flatten() {
        let raw = number(attribute.get("raw").and_then(|r| r.get("value")));
        // What counts bad sectors and failed transfers (ATA, the attributes that all makers use alike).
        let quantity = match number(attribute.get("id")) {
            Some(5.0) => "reallocated_sectors",
            Some(197.0) => "pending_sectors",
            Some(198.0) => "uncorrectable_sectors",
            Some(199.0) => "link_crc_errors",
            _ => continue,
        };
        facts.add(quantity, Unit::Ratio, Some(Better::Lower), raw, (raw, ""));
    }
    run.push("device", facts.0);
    run.remark("facts of a device, no measurement");
    run
}
