//! The comma-separated output of dstat, dool and pcp-dstat: a banner, a row of groups, a row of names, a row a sample.
//!
//! Names repeat (`read` under disks and under requests), so a column is its group and its name. All figures are what dstat
//! saw on the machine, not what it can do: none has a better direction.

use super::comma::fields;
use super::found;
use super::number::finite;
use super::series::Series;
use super::{Found, ImportedMetric, ImportedRun, Names, Original, Text};
use model::{Reason, Unit};

/// Whether a line is the banner: `"Dstat 0.7.2 CSV output"`, `"pcp-dstat 5.0.3 CSV Output"`, `"dool 1.3.8 CSV output"`.
fn banner(line: &str) -> Option<(&str, &str)> {
    let text = line.trim().trim_matches([',', '"']);
    let (program, rest) = text.split_once(' ')?;
    let (version, rest) = rest.split_once(' ')?;
    let known = ["dstat", "dool"].iter().any(|p| program.to_ascii_lowercase().ends_with(p));
    (known && rest.to_ascii_lowercase().starts_with("csv output")).then_some((program, version))
}

/// Whether there is a banner.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| banner(line).is_some())
}

/// A column: the end of its id and its unit.
struct Column {
    id: String,
    unit: Unit,
    printed: &'static str,
}

/// Reads every session.
pub(super) fn read(text: &Text, found: &mut Found) {
    // Into a file that there is already, a later session writes its host without another banner.
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut host = false;
    for (number, line) in text.lines() {
        if banner(line).is_some() {
            starts.push((number, number));
            host = false;
        } else if line.starts_with("\"Host:\"")
            && let Some((banner, _)) = starts.last().copied()
            && std::mem::replace(&mut host, true)
        {
            starts.push((banner, number));
        }
    }
    for (i, (banner, start)) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(text.line_count() + 1, |(_, next)| *next);
        session(text, *banner, *start, end, found);
    }
}

/// A session, with the line of the banner that it stands under.
fn session(text: &Text, under: usize, start: usize, end: usize, found: &mut Found) {
    let Some((program, version)) = banner(text.line(under)) else { return };
    let mut run = ImportedRun::new("dstat-csv", found.file, start);
    run.source_version = Some(format!("{program} {version}"));
    let mut series = Series::new("sample", found.room());
    found.used(start);
    let mut previous: Option<Vec<String>> = None;
    let mut columns: Vec<Column> = Vec::new();
    let mut sample = 0_usize;
    let first = if under == start { start + 1 } else { start };
    for (number, line) in text.lines_from(first).take_while(|(number, _)| *number < end) {
        if line.trim().is_empty() || found.is_used(number) {
            continue;
        }
        let cells = fields(line, ',');
        let label = cells.first().map(String::as_str).unwrap_or_default();
        if matches!(label, "Author:" | "Host:" | "Cmdline:") {
            if label == "Host:" {
                run.environment.hostname = cells.get(1).filter(|h| !h.is_empty()).cloned();
            }
            found.used(number);
        } else if is_names(&cells) {
            // The names follow their groups; a new pair of rows may come in the middle, when a terminal was resized.
            match previous.take() {
                Some(groups) if groups.len() == cells.len() || groups.len() == cells.len() + 1 => {
                    columns = name_columns(&groups, &cells);
                }
                _ => previous = Some(cells),
            }
            found.used(number);
        } else if columns.is_empty() {
            found.not_understood(number, "there are no names above it");
        } else if cells.len() != columns.len() {
            found.not_understood(number, format!("it has {} figures for {} columns", cells.len(), columns.len()));
        } else {
            sample += 1;
            let name = format!("sample[{sample}]");
            let (mut metrics, mut faults) = (Vec::new(), Vec::new());
            for (column, text) in columns.iter().zip(&cells) {
                // Times and names of processes are words.
                let Ok(value) = text.parse::<f64>() else { continue };
                let id = format!("{name}.{}", column.id);
                match ImportedMetric::new(id, column.unit, None, value, 1, Original::new(text, column.printed)) {
                    Some(metric) => metrics.push(metric),
                    None => faults.push(format!("'{text}' is no measurement of {}", column.id)),
                }
            }
            if sample == 1 {
                metrics.iter_mut().for_each(|m| m.metric.reasons.push(Reason::since_boot(None)));
            }
            if metrics.is_empty() {
                found.not_understood(number, "there is no figure in it");
            } else {
                series.push(sample, metrics);
                match faults.is_empty() {
                    true => found.used(number),
                    false => found.not_understood(number, faults.join("; ")),
                }
            }
        }
    }
    if let Some(host) = &run.environment.hostname {
        run.name.clone_from(host);
    }
    if !series.is_empty() {
        series.finish(&mut run);
        run.remark("sample 1 is the average since boot");
        found.push(run);
    }
}

/// A row of groups or names: no cell is a number, and one at least is a word.
fn is_names(cells: &[String]) -> bool {
    cells.iter().all(|c| !c.starts_with(|c: char| c.is_ascii_digit() || c == '-') || is_name(c))
        && cells.iter().any(|c| !c.is_empty() && finite(c).is_none() && !is_time(c))
        && cells.iter().filter(|c| finite(c).is_some()).count() * 2 < cells.len()
}

/// `Nov-21 21:11:55`; names with a colon go on with a word (`dsk/sda:read`).
fn is_time(text: &str) -> bool {
    text.split_once(':').is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Names that begin with a digit: loads (`1m`), interrupts (`12`).
fn is_name(text: &str) -> bool {
    text.len() <= 4 && text.bytes().all(|b| b.is_ascii_alphanumeric()) || text.contains('/')
}

fn name_columns(groups: &[String], names: &[String]) -> Vec<Column> {
    let mut group = "";
    let mut unique = Names::default();
    let pairs = names.iter().enumerate().map(|(i, name)| {
        if let Some(next) = groups.get(i).filter(|g| !g.is_empty()) {
            group = next;
        }
        (group, name.as_str())
    });
    pairs
        .map(|(group, name)| {
            // Of several devices or processors dool writes the group before the name once more: `dsk/sda:read`.
            let name = name.strip_prefix(group).and_then(|n| n.strip_prefix(':')).unwrap_or(name);
            let (end, unit, printed) = quantity(group, name);
            let group = group.replace(' ', "-");
            let id = if group.is_empty() || group == "epoch" { end } else { format!("{group}.{end}") };
            Column { id: unique.unique(found::name(&id)), unit, printed }
        })
        .collect()
}

/// What a name means in its group (dstat(1)): disks, network and paging are bytes a second, `io` is requests a second.
fn quantity(group: &str, name: &str) -> (String, Unit, &'static str) {
    // Numbers of requests beside amounts are marked (`--disk-tps`).
    let (bare, is_count) = name.strip_prefix('#').map_or((name, false), |bare| (bare, true));
    let direction = if bare == "writ" { "write" } else { bare };
    if group == "epoch" || name == "epoch" {
        ("epoch_s".to_owned(), Unit::S, "s")
    } else if is_count && group.starts_with("dsk/") {
        (format!("{direction}_ops_per_s"), Unit::OpsPerS, "/s")
    } else if name == "util" {
        ("util_percent".to_owned(), Unit::Percent, "%")
    } else if group.starts_with("dsk/") || group.starts_with("net/") || group == "paging" {
        (format!("{direction}_bytes_per_s"), Unit::BytesPerS, "B/s")
    } else if group.starts_with("io/") {
        (format!("{direction}_ops_per_s"), Unit::OpsPerS, "/s")
    } else if group == "total usage" || group.contains("cpu") && group.contains("usage") {
        (format!("{name}_percent"), Unit::Percent, "%")
    } else if group == "memory usage" || group == "swap" || group.starts_with("swp/") {
        (format!("{name}_bytes"), Unit::Bytes, "B")
    } else if group == "system" && matches!(name, "int" | "csw") {
        (format!("{name}_per_s"), Unit::OpsPerS, "/s")
    } else {
        (name.replace(' ', "-"), Unit::Ratio, "")
    }
}
