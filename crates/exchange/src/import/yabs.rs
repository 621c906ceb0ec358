//! What `yabs` (Yet-Another-Bench-Script) prints of its disk tests, as text and as JSON: mixed random reads and writes of fio,
//! half and half, 64 in flight by two jobs, past the page cache. MB/s are made of fio's KiB/s through 1000 (yabs.sh, format_speed).

use super::number::finite;
use super::test_figures::{TestFigures, counted};
use super::{Found, ImportedRun, Text};
use serde_json::Value;

const KIB: f64 = 1024.0;

fn is_title(line: &str) -> bool {
    line.trim_start().starts_with("fio Disk Speed Tests (Mixed R/W 50/50)")
}

/// `4k` and `64k` of `Block Size | 4k            (IOPS) | 64k           (IOPS)`.
fn blocks(line: &str) -> Option<Vec<&str>> {
    let mut cells = line.split('|').map(str::trim);
    (cells.next()? == "Block Size").then_some(())?;
    let sizes: Option<Vec<&str>> = cells.map(|c| c.strip_suffix("(IOPS)").map(str::trim)).collect();
    sizes.filter(|s| !s.is_empty() && s.iter().all(|c| c.starts_with(|d: char| d.is_ascii_digit()) && c.len() <= 6))
}

/// Rate and operations of `388.78 MB/s  (97.1k)`.
fn cell(text: &str) -> Option<(f64, String, f64, String)> {
    let (rate, iops) = text.split_once('(')?;
    let (digits, unit) = rate.trim().split_once(' ')?;
    // KiB a second, divided by 1000 for each step.
    let scale = match unit.trim() {
        "KB/s" => KIB,
        "MB/s" => KIB * 1e3,
        "GB/s" => KIB * 1e6,
        _ => return None,
    };
    let iops = iops.trim().strip_suffix(')')?.trim();
    Some((finite(digits)? * scale, format!("{digits} {}", unit.trim()), counted(iops)?, iops.to_owned()))
}

/// Bytes of `4k`, `1m`.
fn bytes(block: &str) -> Option<f64> {
    let digits = block.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = ["", "k", "m"].iter().position(|u| block[digits.len()..].eq_ignore_ascii_case(u))?;
    Some(finite(digits)? * KIB.powi(power as i32))
}

/// A document of the JSON.
fn document(text: &Text) -> Option<Value> {
    let all = text.all();
    (all.contains("\"speed_r\"") && all.contains("\"iops_r\"")).then_some(())?;
    let start = all.find('{')?;
    serde_json::Deserializer::from_str(&all[start..]).into_iter().next()?.ok()
}

/// Whether there is a table or a document.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| is_title(line) || blocks(line).is_some()) || text.all().contains("\"speed_r\"")
}

/// Reads all tables, and the document.
pub(super) fn read(text: &Text, found: &mut Found) {
    if let Some(document) = document(text) {
        of_document(&document, text, found);
    }
    let mut run: Option<ImportedRun> = None;
    let mut sizes: Vec<&str> = Vec::new();
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if let Some(of) = blocks(line) {
            let repeated =
                |r: &ImportedRun| of.iter().any(|s| r.groups.iter().any(|g| g.name == format!("mixed-{s}.read")));
            if run.as_ref().is_some_and(repeated) {
                run.take().into_iter().for_each(|r| found.push(r));
            }
            sizes = of;
            found.used(number);
            continue;
        }
        if is_title(line) {
            run.take().into_iter().for_each(|r| found.push(r));
            found.used(number);
            let target = line.split_once("(Partition ").and_then(|(_, t)| t.split(')').next());
            if let Some(target) =
                target.filter(|_| text.lines_from(number + 1).take(4).any(|(_, l)| blocks(l).is_some()))
            {
                let mut new = ImportedRun::new("yabs", target, number);
                new.target = Some(target.to_owned());
                run = Some(new);
            }
            continue;
        }
        let direction =
            ["Read", "Write", "Total"].into_iter().find(|d| line.trim_start().starts_with(d) && line.contains('|'));
        if let Some(direction) = direction.filter(|_| !sizes.is_empty()) {
            let cells: Option<Vec<_>> = line.split('|').skip(1).map(cell).collect();
            let Some(cells) = cells.filter(|c| c.len() == sizes.len() && agree(c, &sizes)) else {
                found.not_understood(number, "its rates and its operations a second do not go with its block sizes");
                continue;
            };
            found.used(number);
            if direction == "Total" {
                continue;
            }
            let run = run.get_or_insert_with(|| ImportedRun::new("yabs", found.file, number));
            for (size, (rate, printed, iops, counted)) in sizes.iter().zip(cells) {
                TestFigures::of(format!("mixed-{size}.{}", direction.to_ascii_lowercase()))
                    .iops(Some(iops), &counted)
                    .rate(Some(rate), &printed, "")
                    .into_run(run);
            }
            noted(run);
        } else if line.contains("---") || line.split('|').all(|c| c.trim().is_empty()) {
            found.used(number);
        }
    }
    run.filter(|r| !r.groups.is_empty()).into_iter().for_each(|r| found.push(r));
}

/// Whether all rates are operations of that size, as far as two digits tell.
fn agree(cells: &[(f64, String, f64, String)], sizes: &[&str]) -> bool {
    cells
        .iter()
        .zip(sizes)
        .all(|((rate, _, iops, _), size)| bytes(size).is_some_and(|b| (rate / b - iops).abs() <= 0.08 * iops + 2.0))
}

fn noted(run: &mut ImportedRun) {
    run.remark("reads and writes were mixed half and half: each is less than it would be alone");
}

fn of_document(document: &Value, text: &Text, found: &mut Found) {
    let line = text.line_at(text.all().find('{').unwrap_or(0));
    let Some(tests) = document.get("fio").and_then(Value::as_array) else { return };
    let mut run = ImportedRun::new("yabs-json", found.file, line);
    run.source_version = document.get("version").and_then(Value::as_str).map(str::to_owned);
    for test in tests {
        let Some(block) = test.get("bs").and_then(Value::as_str) else { continue };
        let of = |key: &str| test.get(key).and_then(Value::as_f64);
        for (direction, letter) in [("read", "r"), ("write", "w")] {
            let (speed, iops) = (of(&format!("speed_{letter}")), of(&format!("iops_{letter}")));
            let shown = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
            TestFigures::of(format!("mixed-{block}.{direction}"))
                .iops(iops, &shown(iops))
                .rate(speed.map(|v| v * KIB), &shown(speed), "KiB/s")
                .into_run(&mut run);
        }
    }
    if let Some(kernel) = document.get("os").and_then(|o| o.get("kernel")).and_then(Value::as_str) {
        run.environment.kernel = Some(kernel.to_owned());
    }
    if run.groups.is_empty() {
        return found.not_understood(line, "there is no disk test in this result of yabs");
    }
    noted(&mut run);
    found.push(run);
    found.used_range(line, text.line_count());
}
