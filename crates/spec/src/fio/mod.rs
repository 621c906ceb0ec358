//! fio's job files, as they are.
//!
//! A section whose name starts with `global` applies to the jobs below it. A job starts a new phase where it is
//! stonewalled, else it runs beside the one before it. What is not supported is an error that names file, line, option
//! and the nearest supported thing; with [`TextInputs::lenient`] it becomes a note.
//!
//! Written after fio's documentation (HOWTO); no part of fio is in here.

mod block;
mod ini;
mod job;
mod number;
mod option;
mod priority;
mod supported;
mod values;
mod words;

pub use option::{fio_names, fio_options, our_key};

use crate::job::{Files, Job, Phase, Workload};
use crate::notes::Notes;
use crate::plan_size::PlanSize;
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::text_inputs::{MAX_ERRORS, TextInputs};
use ini::{Entry, Section};
use job::{ExitScope, JobOptions, below};
use number::{Units, doubtful_unit};
use option::{find, nearest_option};
use std::collections::{HashMap, HashSet};
use values::OptionError;
use words::{WORDS, listed};

/// Reads a job file.
///
/// # Errors
/// All mistakes that were found, with file, line and option.
pub fn parse_fio(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let sections = ini::read(inputs)?;
    let mut reader = Reader { inputs, errors: Vec::new(), notes: Notes::default(), jobs: Jobs::default() };
    // The phase that writes what is read later has this name.
    reader.jobs.phase_names.unused("layout");
    let mut global = Globals { draft: JobOptions::new(), decimal: None, entries: Vec::new() };
    for section in &sections {
        let decimal = decimal(&section.entries).or(global.decimal);
        let units = Units { kb_base: if decimal == Some(true) { 1000 } else { 1024 }, machine: inputs.machine };
        // `[Global]` is a job of that name.
        if section.name.starts_with("global") {
            reader.apply(&mut global.draft, &section.entries, units);
            global.decimal = decimal;
            global.entries.extend(&section.entries);
        } else {
            reader.job(section, &global, units);
        }
    }
    reader.workload()
}

struct Reader<'a> {
    inputs: &'a TextInputs<'a>,
    errors: Vec<TextError>,
    notes: Notes,
    jobs: Jobs,
}

/// What the sections so far make together.
#[derive(Default)]
struct Jobs {
    phases: Vec<Phase>,
    phase_names: Names,
    amount: PlanSize,
    /// Targets that jobs name themselves, and where.
    targets: Vec<(String, TextPosition)>,
    /// The target that each job uses as a whole, where it names one.
    whole: Vec<Option<String>>,
    /// Number of the reporting group, and of the phase in which it began, from 1 on.
    group: u32,
    group_phase: usize,
    /// Phases that have begun, those of jobs with mistakes too.
    begun: usize,
    /// Jobs that take all others with them when they exit: the phase in which their group began, and where they stand.
    exits: Vec<(usize, TextPosition)>,
}

/// The options of `[global]` so far.
struct Globals<'s> {
    /// What they make of a job.
    draft: JobOptions,
    /// What `kb_base` says, where it is given.
    decimal: Option<bool>,
    entries: Vec<&'s Entry>,
}

/// The phase's name, made from a job's: words, digits, hyphens.
fn phase_name(job: &str) -> String {
    let plain: String = job.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "job".to_owned() } else { plain.to_owned() }
}

/// Whether `kb_base` asks for thousands, where it is given; the last one counts.
fn decimal(entries: &[Entry]) -> Option<bool> {
    let given = entries.iter().rev().find(|e| e.name == "kb_base")?;
    Some(given.value.as_ref().is_ok_and(|v| v == "1000"))
}

/// The targets that a job itself names: paths that are not relative, else a directory.
fn own_targets(draft: &JobOptions) -> Vec<String> {
    let paths: Vec<String> = draft.filenames.iter().filter(|n| n.starts_with('/')).cloned().collect();
    if paths.is_empty() { draft.directory.iter().cloned().collect() } else { paths }
}

/// Gives every name once: the second `job` becomes `job-2`.
#[derive(Default)]
struct Names {
    given: HashSet<String>,
    /// The number to try next, of names that came before.
    next: HashMap<String, u32>,
}

impl Names {
    /// The name, or the next free one after it.
    fn unused(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        while !self.given.insert(candidate.clone()) {
            let number = self.next.entry(name.to_owned()).or_insert(2);
            candidate = format!("{name}-{number}");
            *number += 1;
        }
        candidate
    }
}

impl Reader<'_> {
    /// Keeps an error; where what it is about may be left out, it becomes a note.
    fn refuse(&mut self, error: TextError) {
        let error = error.quotable(self.inputs.file);
        let mistaken = matches!(error.kind, TextErrorKind::Value | TextErrorKind::Variable);
        if self.inputs.lenient && !mistaken && error.place.line > 0 {
            self.notes.push(format!("ignored: {error}"));
        } else if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// What the options of a section say, but for those that are left out.
    fn draft(&mut self, section: &Section, global: &Globals<'_>, units: Units, left_out: &[&str]) -> JobOptions {
        let kept = |entry: &&Entry| !left_out.contains(&entry.name.as_str()) || entry.name == "rw";
        // A section has a name of its own; one in [global] is that of no job.
        let mut draft = JobOptions { name: None, ..global.draft.clone() };
        if !left_out.is_empty() {
            draft = JobOptions::new();
            self.apply(&mut draft, global.entries.iter().copied().filter(kept), units);
            draft.name = None;
        }
        self.apply(&mut draft, section.entries.iter().filter(kept), units);
        let entry = |(key, value): &(String, String)| Entry {
            name: key.clone(),
            value: Ok(value.clone()),
            place: TextPosition::command_line(),
        };
        let set: Vec<Entry> = self.inputs.set.iter().map(entry).collect();
        set.iter().for_each(|entry| draft.override_option(&entry.name));
        self.apply(&mut draft, &set, units);
        // Of what it does and how, the latter can go.
        draft.modifier = draft.modifier.filter(|_| !left_out.contains(&"rw"));
        draft
    }

    /// Reads a section that is a job.
    fn job(&mut self, section: &Section, global: &Globals<'_>, units: Units) {
        let mut draft = self.draft(section, global, units, &[]);
        self.jobs.targets.extend(own_targets(&draft).into_iter().map(|path| (path, section.place.clone())));
        let error = |kind, option: &str, what: String| {
            let entry = section.entries.iter().chain(global.entries.iter().copied()).find(|e| e.name == option);
            entry.map_or(&section.place, |e| &e.place).error(kind, option, what)
        };
        let mut new_phase = draft.stonewall || self.jobs.begun == 0;
        if let Some(awaited) = draft.wait_for.take().filter(|_| !draft.stonewall) {
            match self.waits(&awaited) {
                Ok(alone) => new_phase |= alone,
                Err(what) => self.refuse(error(TextErrorKind::Unsupported, "wait_for", what)),
            }
        }
        self.jobs.begun += usize::from(new_phase);
        if draft.new_group || draft.stonewall {
            (self.jobs.group, self.jobs.group_phase) = (self.jobs.group + 1, self.jobs.begun);
        }
        if draft.exit_all && draft.exit_what == ExitScope::All {
            self.jobs.exits.push((self.jobs.group_phase.max(1), section.place.clone()));
        }
        let name = draft.name.take().unwrap_or_else(|| section.name.clone());
        let whole = draft.filenames.first().filter(|name| name.starts_with('/')).cloned();
        let mut finished = draft.finish(&name, self.jobs.group, units);
        let mut left_out = Vec::new();
        while let Err((option, mistake)) = &finished
            && self.inputs.lenient
            && mistake.unsupported
            && !left_out.contains(option)
        {
            left_out.push(*option);
            self.refuse(error(TextErrorKind::Unsupported, option, mistake.what.clone()));
            finished = self.draft(section, global, units, &left_out).finish(&name, self.jobs.group, units);
        }
        let finished = finished.and_then(|(job, notes)| {
            let option = |key| if key == "jobs" { "numjobs" } else { "nrfiles" };
            self.jobs.amount.add(&job).map_err(|(key, what)| (option(key), what.into()))?;
            Ok((job, notes))
        });
        match finished {
            Ok((job, notes)) => {
                notes.into_iter().for_each(|n| self.notes.push(n));
                self.jobs.whole.push(whole.filter(|_| job.files == Files::Target));
                match self.jobs.phases.last_mut() {
                    Some(phase) if !new_phase => phase.jobs.push(job),
                    _ => {
                        let name = self.jobs.phase_names.unused(&phase_name(&name));
                        self.jobs.phases.push(Phase { name, jobs: vec![job], ..Phase::default() });
                    }
                }
            }
            Err((option, mistake)) => self.refuse(error(TextErrorKind::Value, option, mistake.what)),
        }
    }

    /// Whether a job that waits for another begins a phase: it does where that one runs in the last phase, alone.
    fn waits(&self, awaited: &str) -> Result<bool, String> {
        let is = |j: &Job| j.stream.name == awaited;
        match self.jobs.phases.split_last() {
            Some((last, _)) if last.jobs.iter().all(is) => Ok(true),
            Some((last, _)) if last.jobs.iter().any(is) => Err(format!(
                "'{awaited}' runs beside other jobs; to wait for one of several is not supported: stonewall waits for all"
            )),
            Some((_, before)) if before.iter().flat_map(|p| &p.jobs).any(is) => Ok(false),
            _ => Err(format!("there is no job '{awaited}' before this one")),
        }
    }

    /// What all jobs make together.
    fn workload(mut self) -> Result<Workload, Vec<TextError>> {
        // A job that exits takes its phase, or its group, with it here.
        for (phase, place) in std::mem::take(&mut self.jobs.exits) {
            if phase != self.jobs.begun {
                let said = "exits that keep later jobs from starting are not supported; exit_what=stonewall ends those beside it";
                self.refuse(place.error(TextErrorKind::Unsupported, "exitall", said));
            }
        }
        let file = self.inputs.file;
        if self.jobs.phases.is_empty() && self.errors.is_empty() {
            let place = TextPosition { file: file.to_owned(), line: 1 };
            self.errors.push(place.error(TextErrorKind::Form, "", "there is no job: a section that is not [global]"));
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        self.jobs.phases.iter_mut().for_each(finish_phase);
        // fio counts a delay from the start of the run, also of a job that waits for others.
        for job in self.jobs.phases.iter_mut().skip(1).flat_map(|phase| &mut phase.jobs) {
            job.stream.timing.delay_from_run = job.stream.timing.start_delay_ns > 0;
        }
        let mut targets = self.jobs.targets.into_iter();
        let target = targets.next().map(|(target, _)| target);
        let second = targets.find(|(other, _)| Some(other) != target.as_ref());
        if second.is_some() {
            // Each has a place of its own, where there is room for several.
            let count = self.jobs.whole.iter().flatten().collect::<HashSet<_>>().len();
            let jobs = self.jobs.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
            for (job, path) in jobs.zip(&self.jobs.whole).filter_map(|(job, path)| Some((job, path.as_ref()?))) {
                job.files = Files::Named(vec![below(path)]);
                job.targets_named = u32::try_from(count).unwrap_or(u32::MAX);
            }
        }
        let name = file.rsplit('/').next().unwrap_or_default();
        Ok(Workload {
            name: name.strip_suffix(".fio").unwrap_or(name).to_owned(),
            title: format!("fio job file {file}"),
            second_target: second.zip(target.as_ref()).map(|((other, place), first)| {
                format!("{place}: filename: '{other}' is a second target beside '{first}'; one run has one: in a directory each is a file")
            }),
            target,
            quiet_ns: 0,
            phases: self.jobs.phases,
            notes: self.notes.into_list(),
            // Devices and files are used as they are, as fio does.
            lays_out_targets: false,
            shared_file: false,
            ..Workload::new()
        })
    }

    /// Says how a unit was read that fio's documentation and fio itself do not agree about.
    fn doubt(&mut self, entry: &Entry, value: &str) {
        let text = matches!(entry.name.as_str(), "name" | "filename" | "directory");
        if let Some(unit) = doubtful_unit(value).filter(|_| !text) {
            let letter = &unit[..1];
            self.notes.push(format!(
                "{}: {}={value}: '{unit}' is read as fio documents it, like '{unit}b'; fio itself takes it for '{letter}'",
                entry.place, entry.name
            ));
        }
    }

    fn apply<'e>(&mut self, draft: &mut JobOptions, entries: impl IntoIterator<Item = &'e Entry>, units: Units) {
        for entry in entries {
            self.option(draft, entry, units).unwrap_or_else(|error| self.refuse(error));
        }
    }

    fn option(&mut self, draft: &mut JobOptions, entry: &Entry, units: Units) -> Result<(), TextError> {
        use TextErrorKind::{Unknown, Unsupported, Value};
        let Entry { name, value, place } = entry;
        if let Some(option) = find(name) {
            let value = value.as_deref().map_err(|(kind, what)| place.error(*kind, name, what))?;
            // In a pattern quotes say what is text.
            let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).filter(|_| name != "buffer_pattern");
            let value = quoted.unwrap_or(value);
            (option.set)(draft, value, units).map_err(|OptionError { what, unsupported }| {
                let is_left_out = unsupported || number::is_in_zones(value);
                place.error(if is_left_out { Unsupported } else { Value }, name, what)
            })?;
            self.doubt(entry, value);
            return Ok(());
        }
        if let Some(why) = listed(&WORDS.harmless, name) {
            if name != "description" {
                self.notes.push(format!("{place}: {name} has no effect: {why}"));
            }
            return Ok(());
        }
        // What is not wanted is not done.
        if listed(&WORDS.refused, name).is_some() && matches!(value.as_deref(), Ok("0" | "none" | "false" | "no")) {
            return Ok(());
        }
        let refusal = |what: &str| place.error(Unsupported, name, what);
        Err(match listed(&WORDS.refused, name) {
            Some("") => refusal("is not supported, and nothing comes near it; leave it out"),
            Some(near) => refusal("is not supported").with_nearest(Some(near.to_owned())),
            None => place.error(Unknown, name, "is not an option that is known").with_nearest(nearest_option(name)),
        })
    }
}

/// What is known when all jobs of a phase are: names of which each is given once, as jobs of one name could not be told
/// apart, and groups of which none is all of the phase, or of no use.
fn finish_phase(phase: &mut Phase) {
    let mut names = Names::default();
    let exits: Vec<u32> =
        phase.jobs.iter().map(|j| j.stream.limits).filter(|l| l.ends_group).map(|l| l.exit_group).collect();
    let one = phase.jobs.windows(2).all(|w| w[0].stream.limits.exit_group == w[1].stream.limits.exit_group);
    for job in &mut phase.jobs {
        let limits = &mut job.stream.limits;
        if one {
            limits.ends_phase |= std::mem::take(&mut limits.ends_group);
        }
        if one || !exits.contains(&limits.exit_group) {
            limits.exit_group = 0;
        }
        job.stream.name = names.unused(&job.stream.name);
    }
}
