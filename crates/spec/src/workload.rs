//! The text form of workloads: TOML with defaults, phases, jobs and sweeps. The language is described in
//! docs/design/workloads.md.

use crate::job::{Job, Phase, Workload};
use crate::job_key::job_keys;
use crate::keys::{Key, find, names};
use crate::nearest_key::nearest_key;
use crate::plan_size::{MAX, PlanSize};
use crate::text_error::{Text, TextError, TextErrorKind, TextPosition};
use crate::text_inputs::{MAX_ERRORS, TextInputs};
use crate::top_key::top_keys;
use model::{CompactSort as _, PhaseKind};
use std::collections::HashSet;
use toml::de::{DeTable, DeValue};

/// What stands at the top beside [`top_keys`].
const PARTS: &[&str] = &["include", "defaults", "phase"];
const PHASE_KEYS: &[&str] = &["name", "kind", "job", "sweep"];

/// A key of a job, with its value.
#[derive(Clone)]
struct Entry {
    key: &'static Key<Job>,
    value: String,
    place: TextPosition,
}

/// A value of `--set` for jobs.
#[derive(Clone, Copy)]
struct Override<'a> {
    /// Its place on the command line.
    index: usize,
    /// The one phase that it is for.
    phase: Option<&'a str>,
    key: &'static Key<Job>,
    value: &'a str,
}

/// A phase as it stands, or several where it has a sweep.
struct PhaseText {
    /// Its name, with `{KEY}` for keys of the sweep.
    pattern: String,
    kind: PhaseKind,
    copies_memory: bool,
    /// Names of jobs and what they say.
    jobs: Vec<(String, Vec<Entry>)>,
    /// Keys and all their values, in the order in which the name says them.
    sweep: Vec<(&'static Key<Job>, Vec<String>)>,
    place: TextPosition,
}

struct Reader<'a> {
    inputs: TextInputs<'a>,
    workload: Workload,
    errors: Vec<TextError>,
    /// `[defaults]` so far.
    defaults: Vec<Entry>,
    /// What the command line says of jobs, and which of all that it says was used.
    overrides: Vec<Override<'a>>,
    used: Vec<bool>,
    /// Names of the phases so far.
    names: HashSet<String>,
    amount: PlanSize,
}

/// Reads a workload.
///
/// # Errors
/// All mistakes that were found, with file, line and key.
pub fn parse_workload(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let set = inputs.set.iter().enumerate().filter_map(|(index, (name, value))| {
        let (phase, bare) = name.rsplit_once('.').map_or((None, name.as_str()), |(phase, bare)| (Some(phase), bare));
        // As fio's users call them, where the value is written alike.
        let ours = [("runtime", "time"), ("size", "region"), ("bs", "block-size"), ("iodepth", "depth")];
        let bare = ours.iter().find(|(theirs, _)| *theirs == bare).map_or(bare, |(_, ours)| ours);
        Some(Override { index, phase, key: find(job_keys(), bare)?, value })
    });
    let mut reader = Reader {
        inputs: *inputs,
        workload: Workload::new(),
        errors: Vec::new(),
        defaults: Vec::new(),
        overrides: set.collect(),
        used: vec![false; inputs.set.len()],
        names: HashSet::new(),
        amount: PlanSize::default(),
    };
    reader.file(inputs.file, inputs.text, 0);
    let unused = reader.used.iter().position(|used| !used).filter(|_| reader.errors.is_empty());
    if let Some((key, _)) = unused.map(|index| &inputs.set[index]) {
        let wanted = key.rsplit('.').next().unwrap_or(key);
        let error = TextPosition::command_line().error(TextErrorKind::Unknown, key, "no such key, or no such phase");
        reader.refuse(error.with_nearest(nearest_key(wanted, names(top_keys()))));
    }
    if reader.workload.phases.is_empty() && reader.errors.is_empty() {
        let place = TextPosition { file: inputs.file.to_owned(), line: 1 };
        reader.refuse(place.error(TextErrorKind::Form, "phase", "there is no phase"));
    }
    if reader.errors.is_empty() {
        return Ok(reader.workload);
    }
    Err(reader.errors.into_iter().map(|e| e.quotable(inputs.file)).collect())
}

/// A value as `--set` takes it.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(s) => Some(s.to_string()),
        DeValue::Integer(i) => Some(i.as_str().replace('_', "")).filter(|_| i.radix() == 10),
        DeValue::Float(f) => Some(f.as_str().replace('_', "")),
        DeValue::Boolean(b) => Some(b.to_string()),
        DeValue::Array(_) => list(value).map(|parts| parts.join(",")),
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

/// The values of a list.
fn list(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| scalar(item.get_ref())).collect()
}

fn text_of(table: &DeTable<'_>, key: &str) -> Option<String> {
    scalar(table.get(key)?.get_ref())
}

impl PhaseText {
    /// Whether a value is for all that comes of it.
    fn is_meant(&self, value: &Override<'_>) -> bool {
        let plain = self.pattern.split(['{', '}']).next().unwrap_or_default().trim_end_matches('-');
        // How long is measured says nothing of what is written before.
        let when = ["time", "ramp", "operations", "least-operations"];
        let measures = self.kind != PhaseKind::Precondition
            || !(when.contains(&value.key.name) || value.key.name.starts_with("steady-"));
        value.phase.map_or(measures, |phase| phase == plain || phase == self.pattern)
    }

    /// All points of the sweep; one that says nothing where there is none.
    fn points(&self) -> Vec<Vec<(&'static Key<Job>, &str)>> {
        self.sweep.iter().fold(vec![Vec::new()], |points, (key, values)| {
            let longer = |point: Vec<_>| values.iter().map(move |v| [&point[..], &[(*key, v.as_str())]].concat());
            points.into_iter().flat_map(longer).collect()
        })
    }
}

impl Reader<'_> {
    fn refuse(&mut self, error: TextError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn unknown(&mut self, place: &TextPosition, key: &str, known: impl IntoIterator<Item = &'static str>) {
        if self.errors.len() < MAX_ERRORS {
            let error = place.error(TextErrorKind::Unknown, key, "no such key");
            self.errors.push(error.with_nearest(nearest_key(key, known)));
        }
    }

    fn set<T>(&mut self, to: &mut T, key: &Key<T>, value: &str, place: &TextPosition) {
        key.set(to, value).unwrap_or_else(|what| self.refuse(place.error(TextErrorKind::Value, key.name, what)));
    }

    fn file(&mut self, file: &str, text: &str, depth: u32) {
        let lines = Text::new(file, text);
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                return self.refuse(lines.place(error.span()).error(TextErrorKind::Form, "", error.message()));
            }
        };
        if let Some((key, value)) = table.get_key_value("include") {
            let place = lines.place(Some(key.span()));
            for name in scalar(value.get_ref()).unwrap_or_default().split(',').filter(|n| !n.is_empty()) {
                match self.inputs.included(&place, depth, name) {
                    Ok((name, text)) => self.file(&name, text, depth + 1),
                    Err(error) => self.refuse(error),
                }
                if !self.errors.is_empty() {
                    return;
                }
            }
        }
        let mut workload = std::mem::take(&mut self.workload);
        for (key, value) in &table {
            let name = key.get_ref().as_ref();
            let here = lines.place(Some(key.span()));
            match (name, value.get_ref()) {
                ("include", _) | ("phase", DeValue::Array(_)) => {}
                ("defaults", DeValue::Table(entries)) => {
                    let entries = self.entries(entries, &[], &lines);
                    self.defaults.extend(entries);
                }
                ("defaults" | "phase", _) => {
                    self.refuse(here.error(TextErrorKind::Form, name, "is [defaults] or a list [[phase]]"));
                }
                (_, value) => match (find(top_keys(), name), scalar(value)) {
                    (Some(key), Some(text)) => self.set(&mut workload, key, &text, &here),
                    (Some(_), None) => self.refuse(here.error(TextErrorKind::Value, name, "is one value")),
                    (None, _) => self.unknown(&here, name, names(top_keys()).chain(PARTS.iter().copied())),
                },
            }
        }
        for (index, (name, value)) in self.inputs.set.iter().enumerate().filter(|_| depth == 0) {
            if let Some(key) = find(top_keys(), name) {
                self.used[index] = true;
                self.set(&mut workload, key, value, &TextPosition::command_line());
            }
        }
        self.workload = workload;
        for item in table.get("phase").and_then(|phases| phases.get_ref().as_array()).into_iter().flatten() {
            let place = lines.place(Some(item.span()));
            let outcome = match item.get_ref() {
                DeValue::Table(table) => self.phase(table, &lines, place).and_then(|phase| self.expand(&phase)),
                _ => Err(place.error(TextErrorKind::Form, "phase", "is a table")),
            };
            outcome.unwrap_or_else(|error| self.refuse(error));
        }
    }

    /// The keys of jobs in a table; those in `other` are left to the caller.
    fn entries(&mut self, table: &DeTable<'_>, other: &'static [&'static str], lines: &Text<'_>) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (key, value) in table.iter().filter(|(key, _)| !other.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let place = lines.place(Some(key.span()));
            match (find(job_keys(), name), scalar(value.get_ref())) {
                (Some(key), Some(value)) => entries.push(Entry { key, value, place }),
                (Some(_), None) => self.refuse(place.error(TextErrorKind::Value, name, "is one value or a list")),
                (None, _) => self.unknown(&place, name, other.iter().copied()),
            }
        }
        entries
    }

    fn phase(&mut self, table: &DeTable<'_>, lines: &Text<'_>, place: TextPosition) -> Result<PhaseText, TextError> {
        let Some(pattern) = text_of(table, "name").filter(|n| !n.is_empty()) else {
            return Err(place.error(TextErrorKind::Form, "name", "a phase has a name"));
        };
        let (kind, copies_memory) = match text_of(table, "kind").as_deref() {
            None | Some("measure") => (PhaseKind::Measure, false),
            Some("precondition") => (PhaseKind::Precondition, false),
            Some("layout") => (PhaseKind::Layout, false),
            // Measures memory instead of its target.
            Some("memory-copy") => (PhaseKind::Measure, true),
            Some(other) => {
                let what = format!("'{other}' is none of measure, precondition, layout, memory-copy");
                return Err(place.error(TextErrorKind::Value, "kind", what));
            }
        };
        let own = [self.defaults.clone(), self.entries(table, PHASE_KEYS, lines)].concat();
        let mut jobs: Vec<(String, Vec<Entry>)> = Vec::new();
        let no_job = || place.error(TextErrorKind::Form, "job", "is a list [[phase.job]]");
        match table.get("job").map(|v| v.get_ref()) {
            None => jobs.push((String::new(), own)),
            Some(list) => {
                for (index, item) in list.as_array().ok_or_else(no_job)?.iter().enumerate() {
                    let job = item.get_ref().as_table().ok_or_else(no_job)?;
                    let name = text_of(job, "name").unwrap_or_else(|| format!("job{}", index + 1));
                    jobs.push((name, [own.clone(), self.entries(job, &["name"], lines)].concat()));
                }
            }
        }
        let mut sweep = Vec::new();
        if let Some(axes) = table.get("sweep") {
            let no_table = || place.error(TextErrorKind::Form, "sweep", "is a table of lists");
            for (key, values) in axes.get_ref().as_table().ok_or_else(no_table)? {
                let name = key.get_ref().as_ref();
                let here = lines.place(Some(key.span()));
                match (find(job_keys(), name), list(values.get_ref()).filter(|list| !list.is_empty())) {
                    (Some(key), Some(list)) => sweep.push((key, list)),
                    (None, Some(_)) => self.unknown(&here, name, []),
                    (_, None) => self.refuse(here.error(TextErrorKind::Value, name, "is a list of values")),
                }
            }
        }
        // The axes in the order of the text: the names of phases say them.
        sweep.compact_sort_by_key(|(key, _)| pattern.find(&format!("{{{}}}", key.name)).unwrap_or(usize::MAX));
        let mut phase = PhaseText { pattern, kind, copies_memory, jobs, sweep, place };
        for value in self.overrides.clone() {
            if !phase.is_meant(&value) {
                continue;
            }
            self.used[value.index] = true;
            if let Some((_, values)) = phase.sweep.iter_mut().find(|(key, _)| key.name == value.key.name) {
                *values = value.value.split(',').map(|v| v.trim().to_owned()).collect();
            }
        }
        Ok(phase)
    }

    /// Makes the phases of all points of a sweep.
    fn expand(&mut self, text: &PhaseText) -> Result<(), TextError> {
        let PhaseText { pattern, place, sweep, .. } = text;
        let fail = |key: &str, what: String| Err(place.error(TextErrorKind::Value, key, what));
        let count = sweep.iter().fold(self.workload.phases.len() + 1, |n, (_, v)| n.saturating_mul(v.len().max(1)));
        if count > MAX {
            return fail("sweep", format!("more than {MAX} phases"));
        }
        let command_line = TextPosition::command_line();
        for point in text.points() {
            let mut name = pattern.clone();
            for (key, value) in &point {
                name = name.replace(&format!("{{{}}}", key.name), &value.to_lowercase().replace("ib", ""));
            }
            if name.contains(['{', '}', '/', ' ', '.']) {
                let what = format!("'{name}': words, digits and hyphens, and {{KEY}} for a key of the sweep");
                return fail("name", what);
            }
            if !self.names.insert(name.clone()) {
                return fail("name", format!("two phases are called '{name}'; say the keys of the sweep in the name"));
            }
            // What is for all points and is swept says the points.
            let swept = |value: &Override<'_>| sweep.iter().any(|(key, _)| key.name == value.key.name);
            let meant = |value: &&Override<'_>| match text.is_meant(value) {
                true => !swept(value),
                false => value.phase == Some(&name),
            };
            let overrides: Vec<Override<'_>> = self.overrides.iter().filter(meant).copied().collect();
            overrides.iter().for_each(|value| self.used[value.index] = true);
            let mut jobs = Vec::new();
            for (job_name, entries) in &text.jobs {
                let mut job = Job::named(job_name);
                let entries = entries.iter().map(|entry| (entry.key, entry.value.as_str(), &entry.place));
                let point = point.iter().map(|(key, value)| (*key, *value, place));
                let set = overrides.iter().map(|value| (value.key, value.value, &command_line));
                for (key, value, place) in entries.chain(point).chain(set) {
                    self.set(&mut job, key, value, place);
                }
                job.infer_kind(text.copies_memory);
                jobs.push(job);
            }
            if !self.errors.is_empty() {
                return Ok(());
            }
            for job in &jobs {
                self.amount.add(job).or_else(|(key, what)| fail(key, what))?;
                if job.on_packages {
                    job.packages.check().or_else(|what| fail("package-count", what))?;
                }
            }
            self.workload.phases.push(Phase { name, kind: text.kind, jobs, optional: !sweep.is_empty() });
        }
        Ok(())
    }
}
