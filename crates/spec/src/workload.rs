//! The text form of workloads: TOML with defaults, phases, jobs and sweeps. The language is described in
//! docs/design/workloads.md.

use crate::budget::Budget;
use crate::job::{Job, Phase, Workload};
use crate::job_key::{job_keys, nearest_key};
use crate::keys::{Key, find, names};
use crate::text_error::{Place, TextError, TextErrorKind, included_beside};
use crate::top_key::top_keys;
use model::{CopyPlan, PhaseKind, StreamKind};
use std::collections::{BTreeMap, HashSet};
use toml::de::{DeTable, DeValue};

/// More phases or jobs than this are a mistake.
pub(crate) const MOST: usize = 4096;
/// What stands at the top beside [`top_keys`].
const PARTS: &[&str] = &["include", "defaults", "phase"];
const PHASE_KEYS: &[&str] = &["name", "kind", "job", "sweep"];
const INCLUDE_DEPTH: u32 = 16;

/// The kind of a phase that measures memory instead of its target.
const MEMORY_COPY: &str = "memory-copy";

/// Mistakes that are told at once.
const MOST_ERRORS: usize = 256;
/// Streams of all phases; more would take minutes to plan.
const MOST_STREAMS: u64 = 1 << 16;
/// Files that all jobs make.
const MOST_FILES: u64 = 1 << 20;

/// How much the jobs of a text are so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amount {
    streams: u64,
    files: u64,
}

impl Amount {
    /// Counts another job. What there is too much of, before anything is made of it: the key, and what to say.
    pub fn add(&mut self, job: &Job) -> Result<(), (&'static str, String)> {
        if job.copies as usize > MOST {
            return Err(("jobs", format!("{} jobs of one kind; {MOST} are possible", job.copies)));
        }
        self.streams = self.streams.saturating_add(u64::from(job.copies));
        self.files = self.files.saturating_add(job.own_files());
        if self.streams > MOST_STREAMS {
            let what = format!("{} jobs in all phases together; {MOST_STREAMS} are possible", self.streams);
            return Err(("jobs", what));
        }
        if self.files > MOST_FILES {
            return Err(("own-files", format!("{} files of all jobs together; {MOST_FILES} are possible", self.files)));
        }
        Ok(())
    }
}

/// Where the lines of a text start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// Line of a byte, from 1 on.
    fn at(&self, byte: usize) -> u32 {
        1 + self.0.partition_point(|start| *start <= byte) as u32
    }
}

/// What a text is read with.
#[derive(Clone, Copy, Debug)]
pub struct TextInputs<'a> {
    /// Name of the text, for messages.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
    /// Texts that it may include, by the name by which it does. What is missing is asked for with
    /// [`TextErrorKind::NeedsInclude`].
    pub includes: &'a BTreeMap<String, String>,
    /// `--set KEY=VALUE`, in order. TOML: `KEY` for all jobs or `PHASE.KEY`; fio: an option for all jobs.
    pub set: &'a [(String, String)],
    /// Variables of the environment, for `${NAME}` in fio's job files.
    pub variables: &'a BTreeMap<String, String>,
    /// The machine, for `$pagesize`, `$mb_memory` and `$ncpus`.
    pub machine: TextMachine,
    /// Unsupported options of fio's job files become notes instead of errors.
    pub lenient: bool,
}

/// A value of `--set`, and the one phase that it is for.
struct Override {
    /// Its place on the command line.
    index: usize,
    phase: Option<String>,
    key: String,
    value: String,
}

/// What a text may ask of the machine.
#[derive(Clone, Copy, Debug)]
pub struct TextMachine {
    /// Size of a page of memory.
    pub page_size_bytes: u64,
    /// Memory.
    pub memory_bytes: u64,
    /// Processors online.
    pub processors: u32,
}

type Entries<'t> = Vec<(String, String, Place)>;

struct Reader<'a> {
    inputs: TextInputs<'a>,
    errors: Vec<TextError>,
    /// Names of the phases so far.
    phases: HashSet<String>,
    amount: Amount,
}

/// Reads a workload.
///
/// # Errors
/// All mistakes that were found, with file, line and key.
pub fn parse_workload(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let mut reader = Reader { inputs: *inputs, errors: Vec::new(), phases: HashSet::new(), amount: Amount::default() };
    let mut workload = Workload {
        name: String::new(),
        title: String::new(),
        answers: String::new(),
        second_target: None,
        target: None,
        interval_ns: 100_000_000,
        quiet_ns: 200_000_000,
        phases: Vec::new(),
        notes: Vec::new(),
        lays_out_targets: true,
        scales_to_fit: false,
        budget: Budget::default(),
    };
    let mut defaults = Vec::new();
    let mut sets_used = vec![false; inputs.set.len()];
    reader.file(inputs.file, inputs.text, &mut workload, &mut defaults, &mut sets_used, 0);
    for (used, (key, _)) in sets_used.iter().zip(inputs.set) {
        if !used && reader.errors.is_empty() {
            let place = Place { file: "--set".to_owned(), line: 0 };
            let wanted = key.rsplit('.').next().unwrap_or(key);
            let error = TextError::new(TextErrorKind::Unknown, &place, key, "no such key, or no such phase");
            reader.errors.push(error.with_nearest(nearest_key(wanted, &names(top_keys()).collect::<Vec<_>>())));
        }
    }
    if workload.phases.is_empty() && reader.errors.is_empty() {
        let place = Place { file: inputs.file.to_owned(), line: 1 };
        reader.errors.push(TextError::new(TextErrorKind::Form, &place, "phase", "there is no phase"));
    }
    if reader.errors.is_empty() {
        return Ok(workload);
    }
    let own = |e: &TextError| e.place.file == inputs.file || e.place.line == 0;
    let quotable = |e: TextError| if own(&e) { e.of_own() } else { e.of_included() };
    Err(reader.errors.into_iter().map(quotable).collect())
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(s) => Some(s.to_string()),
        DeValue::Integer(i) => Some(i.as_str().replace('_', "")).filter(|_| i.radix() == 10),
        DeValue::Float(f) => Some(f.as_str().replace('_', "")),
        DeValue::Boolean(b) => Some(b.to_string()),
        DeValue::Array(items) => {
            let parts: Option<Vec<String>> = items.iter().map(|i| scalar(i.get_ref())).collect();
            parts.map(|p| p.join(","))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

impl Reader<'_> {
    fn error(&mut self, kind: TextErrorKind, place: &Place, key: &str, what: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(TextError::new(kind, place, key, what));
        }
    }

    fn unknown(&mut self, place: &Place, key: &str, known: &[&'static str]) {
        if self.errors.len() >= MOST_ERRORS {
            return;
        }
        let error = TextError::new(TextErrorKind::Unknown, place, key, "no such key");
        self.errors.push(error.with_nearest(nearest_key(key, known)));
    }

    fn file(
        &mut self,
        file: &str,
        text: &str,
        workload: &mut Workload,
        defaults: &mut Entries<'_>,
        sets_used: &mut [bool],
        depth: u32,
    ) {
        let lines = Lines::of(text);
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().map_or(1, |s| lines.at(s.start));
                let place = Place { file: file.to_owned(), line };
                return self.error(TextErrorKind::Form, &place, "", error.message().to_owned());
            }
        };
        let place = |at: usize| Place { file: file.to_owned(), line: lines.at(at) };
        let table = table.get_ref();
        if let Some((key, value)) = table.get_key_value("include") {
            let here = place(key.span().start);
            for name in scalar(value.get_ref()).unwrap_or_default().split(',').filter(|n| !n.is_empty()) {
                let name = included_beside(file, depth, name);
                match self.inputs.includes.get(&name) {
                    _ if depth >= INCLUDE_DEPTH => {
                        self.error(TextErrorKind::Form, &here, "include", "includes go too deep; do they go round?");
                    }
                    Some(text) => self.file(&name, text, workload, defaults, sets_used, depth + 1),
                    None => self.error(TextErrorKind::NeedsInclude, &here, &name, "an included text"),
                }
                if !self.errors.is_empty() {
                    return;
                }
            }
        }
        let mut phases = None;
        for (key, value) in table.iter() {
            let here = place(key.span().start);
            let name: &str = key.get_ref();
            match (name, value.get_ref()) {
                ("include", _) => {}
                ("defaults", DeValue::Table(entries)) => self.entries(entries, &[], defaults, &place),
                ("phase", DeValue::Array(items)) => phases = Some(items),
                ("defaults" | "phase", _) => {
                    self.error(TextErrorKind::Form, &here, name, "is [defaults] or a list [[phase]]");
                }
                (_, value) => match (find(top_keys(), name), scalar(value)) {
                    (Some(key), Some(text)) => self.top(workload, key, &text, &here),
                    (Some(_), None) => self.error(TextErrorKind::Value, &here, name, "is one value"),
                    (None, _) => {
                        let known = names(top_keys()).chain(PARTS.iter().copied());
                        self.unknown(&here, name, &known.collect::<Vec<_>>());
                    }
                },
            }
        }
        let set = self.inputs.set;
        if depth == 0 {
            for (index, (key, value)) in set.iter().enumerate() {
                if let Some(top) = find(top_keys(), key) {
                    sets_used[index] = true;
                    self.top(workload, top, value, &Place { file: "--set".to_owned(), line: 0 });
                }
            }
        }
        for item in phases.into_iter().flatten() {
            match item.get_ref() {
                DeValue::Table(table) => self.phase(table, defaults, workload, sets_used, &place, item.span().start),
                _ => self.error(TextErrorKind::Form, &place(item.span().start), "phase", "is a table"),
            }
        }
    }

    fn top(&mut self, workload: &mut Workload, key: &Key<Workload>, value: &str, place: &Place) {
        if let Err(what) = key.give(workload, value) {
            self.error(TextErrorKind::Value, place, key.name, what);
        }
    }

    /// The keys of jobs in a table; those in `other` are left to the caller.
    fn entries(
        &mut self,
        table: &DeTable<'_>,
        other: &[&'static str],
        into: &mut Entries<'_>,
        place: &dyn Fn(usize) -> Place,
    ) {
        for (key, value) in table.iter() {
            let (here, name): (Place, &str) = (place(key.span().start), key.get_ref());
            if other.contains(&name) {
                continue;
            }
            if find(job_keys(), name).is_none() {
                self.unknown(&here, name, other);
                continue;
            }
            match scalar(value.get_ref()) {
                Some(text) => into.push((name.to_owned(), text, here)),
                None => self.error(TextErrorKind::Value, &here, name, "is one value or a list"),
            }
        }
    }

    fn phase(
        &mut self,
        table: &DeTable<'_>,
        defaults: &Entries<'_>,
        workload: &mut Workload,
        sets_used: &mut [bool],
        place: &dyn Fn(usize) -> Place,
        at: usize,
    ) {
        let here = place(at);
        let text_of = |key: &str| table.get(key).and_then(|v| scalar(v.get_ref()));
        let Some(pattern) = text_of("name").filter(|n| !n.is_empty()) else {
            return self.error(TextErrorKind::Form, &here, "name", "a phase has a name");
        };
        let kind = text_of("kind");
        let copies_memory = kind.as_deref() == Some(MEMORY_COPY);
        let kind = match kind.as_deref() {
            None | Some("measure") => PhaseKind::Measure,
            Some("precondition") => PhaseKind::Precondition,
            Some("layout") => PhaseKind::Layout,
            Some(MEMORY_COPY) => PhaseKind::Measure,
            Some(other) => {
                let what = format!("'{other}' is none of measure, precondition, layout, memory-copy");
                return self.error(TextErrorKind::Value, &here, "kind", what);
            }
        };
        let mut own = defaults.clone();
        self.entries(table, PHASE_KEYS, &mut own, place);
        let mut jobs: Vec<(String, Entries<'_>)> = Vec::new();
        match table.get("job").map(|v| v.get_ref()) {
            None => jobs.push((String::new(), own)),
            Some(DeValue::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let DeValue::Table(job) = item.get_ref() else {
                        self.error(TextErrorKind::Form, &here, "job", "is a list [[phase.job]]");
                        continue;
                    };
                    let mut entries = own.clone();
                    self.entries(job, &["name"], &mut entries, place);
                    let name = job.get("name").and_then(|v| scalar(v.get_ref()));
                    jobs.push((name.unwrap_or_else(|| format!("job{}", index + 1)), entries));
                }
            }
            Some(_) => self.error(TextErrorKind::Form, &here, "job", "is a list [[phase.job]]"),
        }
        let mut sweep: Vec<(String, Vec<String>)> = Vec::new();
        match table.get("sweep").map(|v| v.get_ref()) {
            None => {}
            Some(DeValue::Table(axes)) => {
                for (key, values) in axes.iter() {
                    let (here, name): (Place, &str) = (place(key.span().start), key.get_ref());
                    let list = match values.get_ref() {
                        DeValue::Array(items) => items.iter().map(|i| scalar(i.get_ref())).collect::<Option<Vec<_>>>(),
                        _ => None,
                    };
                    match list {
                        Some(list) if !list.is_empty() && find(job_keys(), name).is_some() => {
                            sweep.push((name.to_owned(), list));
                        }
                        Some(list) if !list.is_empty() => self.unknown(&here, name, &[]),
                        _ => self.error(TextErrorKind::Value, &here, name, "is a list of values"),
                    }
                }
            }
            Some(_) => self.error(TextErrorKind::Form, &here, "sweep", "is a table of lists"),
        }
        // The axes in the order of the text: the names of phases say them.
        sweep.sort_by_key(|(key, _)| pattern.find(&format!("{{{key}}}")).unwrap_or(usize::MAX));
        let plain = pattern.split(['{', '}']).next().unwrap_or_default().trim_end_matches('-').to_owned();
        let mut overrides: Vec<Override> = Vec::new();
        for (index, (key, value)) in self.inputs.set.iter().enumerate() {
            let (phase, bare) = key.rsplit_once('.').map_or((None, key.as_str()), |(p, k)| (Some(p), k));
            if find(job_keys(), bare).is_none() {
                continue;
            }
            if let Some(phase) = phase.filter(|p| *p != plain && *p != pattern) {
                // Perhaps one point of the sweep.
                overrides.push(Override {
                    index,
                    phase: Some(phase.to_owned()),
                    key: bare.into(),
                    value: value.clone(),
                });
                continue;
            }
            sets_used[index] = true;
            match sweep.iter_mut().find(|(k, _)| k == bare) {
                Some((_, values)) => *values = value.split(',').map(|v| v.trim().to_owned()).collect(),
                None => overrides.push(Override { index, phase: None, key: bare.into(), value: value.clone() }),
            }
        }
        let count = sweep.iter().fold(workload.phases.len() + 1, |n, (_, v)| n.saturating_mul(v.len().max(1)));
        if count > MOST {
            return self.error(TextErrorKind::Value, &here, "sweep", format!("more than {MOST} phases"));
        }
        self.expand(&pattern, kind, copies_memory, &jobs, &sweep, &overrides, sets_used, workload, &here);
    }

    #[allow(clippy::too_many_arguments)]
    fn expand(
        &mut self,
        pattern: &str,
        kind: PhaseKind,
        copies_memory: bool,
        jobs: &[(String, Entries<'_>)],
        sweep: &[(String, Vec<String>)],
        overrides: &[Override],
        sets_used: &mut [bool],
        workload: &mut Workload,
        here: &Place,
    ) {
        let combinations: usize = sweep.iter().map(|(_, v)| v.len()).product();
        for mut number in 0..combinations {
            let mut point: Vec<(&str, &str)> = Vec::new();
            for (key, values) in sweep.iter().rev() {
                point.push((key, &values[number % values.len()]));
                number /= values.len();
            }
            let mut name = pattern.to_owned();
            for (key, value) in &point {
                name = name.replace(&format!("{{{key}}}"), &value.to_lowercase().replace("ib", ""));
            }
            if name.contains(['{', '}', '/', ' ', '.']) {
                let what = format!("'{name}': words, digits and hyphens, and {{KEY}} for a key of the sweep");
                return self.error(TextErrorKind::Value, here, "name", what);
            }
            if !self.phases.insert(name.clone()) {
                let what = format!("two phases are called '{name}'; say the keys of the sweep in the name");
                return self.error(TextErrorKind::Value, here, "name", what);
            }
            let meant = |o: &&Override| o.phase.as_ref().is_none_or(|phase| *phase == name);
            overrides.iter().filter(meant).for_each(|o| sets_used[o.index] = true);
            let mut made = Vec::new();
            for (job_name, entries) in jobs {
                let mut job = Job::named(job_name);
                for (key, value, place) in entries {
                    self.apply(&mut job, key, value, place);
                }
                for (key, value) in &point {
                    self.apply(&mut job, key, value, here);
                }
                for Override { key, value, .. } in overrides.iter().filter(meant) {
                    self.apply(&mut job, key, value, &Place { file: "--set".to_owned(), line: 0 });
                }
                if copies_memory {
                    job.stream.kind = StreamKind::Copy(CopyPlan::default());
                }
                made.push(job);
            }
            if !self.errors.is_empty() {
                return;
            }
            for job in &made {
                if let Err((key, what)) = self.amount.add(job) {
                    return self.error(TextErrorKind::Value, here, key, what);
                }
            }
            workload.phases.push(Phase { name, kind, jobs: made, optional: !sweep.is_empty() });
        }
    }

    fn apply(&mut self, job: &mut Job, key: &str, value: &str, place: &Place) {
        match find(job_keys(), key).map(|k| k.give(job, value)) {
            None => self.unknown(place, key, &[]),
            Some(Ok(())) => {}
            Some(Err(what)) => self.error(TextErrorKind::Value, place, key, what),
        }
    }
}
