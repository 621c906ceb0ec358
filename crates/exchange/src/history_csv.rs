//! Many runs as a table, a row a run and a column a metric, with the text that makes such a table in PostgreSQL and DuckDB. Otava reads
//! it as it is.

use crate::{ExchangeError, Options, Result};
use model::{Run, csv_text, json_name};
use std::collections::{BTreeMap, HashSet};

/// PostgreSQL's names have so many bytes at most (NAMEDATALEN - 1); longer ones are cut there, which would make two of them one.
const LONGEST_NAME: usize = 63;
/// PostgreSQL's tables have so many columns at most (MaxHeapAttributeNumber); some stay for what others add.
const MOST_METRICS: usize = 1_500;

/// A run with the key of its series.
pub struct HistoryRow<'a> {
    pub run: &'a Run,
    pub machine: &'a str,
    pub device: &'a str,
    pub plan: &'a str,
}

/// Name of a column, its type, and its cell.
type Column = (&'static str, &'static str, fn(&HistoryRow<'_>) -> String);

/// What a row has beside metrics. An empty cell is null.
const COLUMNS: [Column; 14] = [
    ("run", "text PRIMARY KEY", |r| csv_text(&r.run.id)),
    ("time", "timestamptz", |r| r.run.sessions.first().map(|s| csv_text(&s.started)).unwrap_or_default()),
    ("machine", "text", |r| csv_text(r.machine)),
    ("device", "text", |r| csv_text(r.device)),
    ("workload", "text", |r| csv_text(if r.run.plan.name.is_empty() { &r.run.command } else { &r.run.plan.name })),
    ("plan", "text", |r| csv_text(r.plan)),
    ("target", "text", |r| csv_text(&r.run.target.name)),
    ("kernel", "text", |r| optional(r.run.environment.kernel.as_deref())),
    ("file_system", "text", |r| optional(r.run.target.stack.fstype())),
    ("program_version", "text", |r| csv_text(&r.run.program_version)),
    ("state", "text", |r| json_name(&r.run.state)),
    ("validity", "text", |r| r.run.validity().name().to_owned()),
    ("duration_s", "double precision", |r| (r.run.duration_ns as f64 / 1e9).to_string()),
    ("bytes_written", "numeric(20, 0)", |r| r.run.bytes_written.to_string()),
];

fn optional(text: Option<&str>) -> String {
    text.map(csv_text).unwrap_or_default()
}

/// The table.
pub struct HistoryTable {
    pub csv: String,
    /// `CREATE TABLE narrows_runs` with these columns.
    pub schema: String,
}

/// The runs in the order in which they are given. A metric that a run does not have, or that was refused, is an empty cell.
///
/// # Errors
/// No run has a metric, or all of them together have too many for a table.
pub fn history_csv(rows: &[HistoryRow<'_>], options: &Options) -> Result<HistoryTable> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ids: Vec<&str> = Vec::new();
    for metric in rows.iter().flat_map(|row| metrics(row.run, options)) {
        places.entry(metric.0).or_insert_with(|| {
            ids.push(metric.0);
            ids.len() - 1
        });
    }
    let nothing = |reason: String| {
        let run = rows.iter().map(|r| r.run.id.as_str()).take(3).collect::<Vec<_>>().join(", ");
        Err(ExchangeError::NothingRecorded { run, reason })
    };
    if ids.is_empty() {
        return nothing("it has no metrics".to_owned());
    }
    if ids.len() > MOST_METRICS {
        return nothing(format!(
            "together the runs have {} metrics, and a table has {MOST_METRICS} at most: export the runs of one workload",
            ids.len()
        ));
    }
    let names = column_names(&ids);
    let heads = COLUMNS.iter().map(|c| c.0.to_owned()).chain(names.iter().map(|name| csv_text(name)));
    let mut csv = heads.collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        let mut cells: Vec<String> = COLUMNS.iter().map(|c| (c.2)(row)).collect();
        cells.resize(COLUMNS.len() + ids.len(), String::new());
        for (id, value) in metrics(row.run, options) {
            if let (Some(place), Some(value)) = (places.get(id), value) {
                cells[COLUMNS.len() + place] = value.to_string();
            }
        }
        csv.push_str(&cells.join(","));
        csv.push('\n');
    }
    Ok(HistoryTable { csv, schema: schema(&names) })
}

/// Id and value of each metric of a run's results.
fn metrics<'r>(run: &'r Run, options: &'r Options) -> impl Iterator<Item = (&'r str, Option<f64>)> {
    let phases = run.phases.iter().filter(|p| options.includes(&p.plan.name) && !run.is_reference(&p.plan));
    let value = |m: &model::Metric| {
        let kept = options.keep_refused.then_some(m.rejected_value).flatten();
        m.value.or(kept).filter(|v| v.is_finite())
    };
    phases.flat_map(|p| &p.metrics).map(move |m| (m.id.as_str(), value(m)))
}

/// The ids as names of columns: each once, and none too long. Databases hold names in quotation marks to be what they are.
fn column_names(ids: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = COLUMNS.iter().map(|c| c.0.to_owned()).collect();
    let name = |id: &&str| {
        let plain: String = model::sanitize(id).replace(['"', ',', ';', '|'], "_");
        let plain = plain.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let mut name = plain.clone();
        let mut number = 1;
        while name.is_empty() || name.len() > LONGEST_NAME || !taken.insert(name.to_ascii_lowercase()) {
            let end = format!("~{number}");
            let mut at = plain.len().min(LONGEST_NAME - end.len());
            while !plain.is_char_boundary(at) {
                at -= 1;
            }
            name = format!("{}{end}", &plain[..at]);
            number += 1;
        }
        name
    };
    ids.iter().map(name).collect()
}

fn schema(names: &[String]) -> String {
    let mut text =
        "-- A row a run, a column a metric: what narrows export --format history-csv wrote into history.csv.\n\
        -- PostgreSQL: psql -f schema.sql -c \"\\copy narrows_runs FROM 'history.csv' CSV HEADER\"\n\
        -- DuckDB:     duckdb runs.db -c \".read schema.sql\" -c \"COPY narrows_runs FROM 'history.csv' (HEADER)\"\n\
        -- Parquet:    duckdb runs.db -c \"COPY narrows_runs TO 'history.parquet'\"\n\
        CREATE TABLE narrows_runs (\n"
            .to_owned();
    let own = COLUMNS.iter().map(|(name, kind, _)| format!("    {name} {kind}"));
    let metrics = names.iter().map(|name| format!("    \"{name}\" double precision"));
    text.push_str(&own.chain(metrics).collect::<Vec<_>>().join(",\n"));
    text + "\n);\n"
}
