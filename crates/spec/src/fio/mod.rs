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
mod supported;

pub use option::fio_options;

use crate::job::{Phase, Workload};
use crate::notes::Notes;
use crate::text_error::{Place, TextError, TextErrorKind};
use crate::workload::{Amount, MOST, TextInputs};
use ini::{Entry, Section};
use job::{Draft, ExitWhat};
use model::{Limits, PhaseKind};
use number::{Units, doubtful_unit};
use option::{Treatment, nearest_option, treatment};
use std::collections::{HashMap, HashSet};

/// Mistakes that are told at once.
const MOST_ERRORS: usize = 256;

/// Reads a job file.
///
/// # Errors
/// All mistakes that were found, with file, line and option.
pub fn parse_fio(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let sections = ini::read(inputs)?;
    let mut reader = Reader { inputs, errors: Vec::new(), notes: Notes::default() };
    let workload = reader.workload(&sections);
    if reader.errors.is_empty() { Ok(workload) } else { Err(reader.errors) }
}

struct Reader<'a> {
    inputs: &'a TextInputs<'a>,
    errors: Vec<TextError>,
    notes: Notes,
}

/// The options of `[global]` so far.
#[derive(Default)]
struct Globals {
    /// What they make of a job.
    draft: Draft,
    /// What `kb_base` says, where it is given.
    kb_base: Option<bool>,
    /// Where each option was given first, for messages.
    places: HashMap<String, Place>,
}

/// `[Global]` is a job of that name.
fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// The phase's name, made from a job's: words, digits, hyphens.
fn phase_name(job: &str) -> String {
    let plain: String = job.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "job".to_owned() } else { plain.to_owned() }
}

/// Whether `kb_base` asks for thousands, where it is given; the last one counts.
fn kb_base(entries: &[Entry]) -> Option<bool> {
    let given = entries.iter().rev().find(|e| e.name == "kb_base")?;
    Some(given.value.as_deref() == Some("1000"))
}

/// Gives every name once: the second `job` becomes `job-2`.
struct Names {
    given: HashSet<String>,
    /// The number to try next, of names that came before.
    next: HashMap<String, u32>,
}

impl Names {
    /// With names that are taken.
    fn of(taken: impl IntoIterator<Item = String>) -> Self {
        Self { given: taken.into_iter().collect(), next: HashMap::new() }
    }

    /// The name, or the next free one after it.
    fn unused(&mut self, name: &str) -> String {
        if self.given.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let candidate = format!("{name}-{number}");
            *number += 1;
            if self.given.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

impl Reader<'_> {
    fn workload(&mut self, sections: &[Section]) -> Workload {
        let mut global = Globals::default();
        let set = self.overrides();
        let mut phases: Vec<Phase> = Vec::new();
        let mut phase_names = Names::of(["layout".to_owned()]);
        let mut amount = Amount::default();
        let mut targets: Vec<(String, Place)> = Vec::new();
        let (mut group, mut streams) = (0u32, 0usize);
        // What exits take with them, and by job: whether it begins a phase, and its reporting group.
        let (mut exits, mut begins, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for section in sections {
            if is_global(&section.name) {
                global.kb_base = kb_base(&section.entries).or(global.kb_base);
                let units = self.units(&global, &section.entries);
                self.apply(&mut global.draft, &section.entries, units);
                for entry in &section.entries {
                    global.places.entry(entry.name.clone()).or_insert_with(|| entry.place.clone());
                }
                continue;
            }
            let units = self.units(&global, &section.entries);
            // A section has a name of its own; one in [global] is that of no job.
            let mut draft = Draft { name: None, ..global.draft.clone() };
            self.apply(&mut draft, &section.entries, units);
            set.iter().for_each(|entry| draft.supersede(&entry.name));
            self.apply(&mut draft, &set, units);
            targets.extend(Self::own_targets(&draft).into_iter().map(|path| (path, section.place.clone())));
            if draft.new_group || draft.stonewall {
                group += 1;
            }
            let mut stonewall = draft.stonewall;
            if let Some(awaited) = draft.wait_for.take().filter(|_| !stonewall) {
                match Self::waits(&phases, &awaited) {
                    Ok(new_phase) => stonewall = new_phase,
                    Err(what) if self.inputs.lenient => self.notes.push(format!("ignored: wait_for: {what}")),
                    Err(what) => {
                        let place =
                            section.entries.iter().find(|e| e.name == "wait_for").map_or(&section.place, |e| &e.place);
                        self.errors.push(TextError::new(TextErrorKind::Unsupported, place, "wait_for", what));
                    }
                }
            }
            streams = streams.saturating_add(draft.job.copies as usize);
            if draft.exit_all && draft.exit_what == ExitWhat::All {
                exits.push((group, section.place.clone()));
            }
            begins.push(stonewall || begins.is_empty());
            groups.push(group);
            let name = draft.name.take().unwrap_or_else(|| section.name.clone());
            match draft.finish(&name, group, units) {
                _ if streams > MOST => {
                    let what = format!("more than {MOST} jobs");
                    self.errors.push(TextError::new(TextErrorKind::Value, &section.place, "numjobs", what));
                    break;
                }
                Ok((job, notes)) => {
                    if let Err((_, what)) = amount.add(&job) {
                        self.errors.push(TextError::new(TextErrorKind::Value, &section.place, "nrfiles", what));
                        break;
                    }
                    notes.into_iter().for_each(|n| self.notes.push(n));
                    match phases.last_mut() {
                        Some(phase) if !stonewall => phase.jobs.push(job),
                        _ => {
                            let name = phase_names.unused(&phase_name(&name));
                            phases.push(Phase { name, kind: PhaseKind::Measure, jobs: vec![job], optional: false });
                        }
                    }
                }
                Err((option, what)) => {
                    let own = section.entries.iter().find(|e| e.name == option).map(|e| &e.place);
                    let place = own.or_else(|| global.places.get(option)).unwrap_or(&section.place);
                    let error = TextError::new(TextErrorKind::Value, place, option, what);
                    let own = place.file == self.inputs.file;
                    self.errors.push(if own { error } else { error.of_included() });
                }
            }
        }
        self.check_exits(&exits, &begins, &groups);
        if phases.is_empty() && self.errors.is_empty() {
            let place = Place { file: self.inputs.file.to_owned(), line: 1 };
            self.errors.push(TextError::new(
                TextErrorKind::Form,
                &place,
                "",
                "there is no job: a section that is not [global]",
            ));
        }
        let second_target = targets.first().and_then(|(first, _)| {
            let (other, place) = targets.iter().find(|(t, _)| t != first)?;
            Some(format!("{place}: filename: '{other}' is a second target beside '{first}'; one run has one"))
        });
        // Jobs of one name could not be told apart.
        for phase in &mut phases {
            let mut names = Names::of([]);
            let exits: Vec<Limits> = phase.jobs.iter().map(|j| j.stream.limits).filter(|l| l.ends_group).collect();
            // A group that is all of the phase is the phase.
            let one = phase.jobs.windows(2).all(|w| w[0].stream.limits.exit_group == w[1].stream.limits.exit_group);
            for job in &mut phase.jobs {
                let limits = &mut job.stream.limits;
                if one {
                    limits.ends_phase |= std::mem::take(&mut limits.ends_group);
                }
                if one || exits.iter().all(|e| e.exit_group != limits.exit_group) {
                    limits.exit_group = 0;
                }
                job.stream.name = names.unused(&job.stream.name);
            }
        }
        let file = self.inputs.file.rsplit('/').next().unwrap_or_default();
        Workload {
            name: file.strip_suffix(".fio").unwrap_or(file).to_owned(),
            title: format!("fio job file {}", self.inputs.file),
            answers: String::new(),
            target: targets.into_iter().next().map(|(t, _)| t),
            second_target,
            interval_ns: 100_000_000,
            quiet_ns: 0,
            phases,
            notes: std::mem::take(&mut self.notes).into_list(),
            // Devices and files are used as they are, as fio does.
            lays_out_targets: false,
            scales_to_fit: false,
            budget: Default::default(),
        }
    }

    /// A job that exits takes its phase, or its group, with it here: refused where fio would not start what comes after.
    fn check_exits(&mut self, exits: &[(u32, Place)], begins: &[bool], groups: &[u32]) {
        let phase_of = |job: usize| begins[..=job].iter().filter(|b| **b).count();
        let last = begins.len().checked_sub(1).map_or(0, phase_of);
        for (group, place) in exits {
            if groups.iter().position(|g| g == group).map(phase_of).is_none_or(|own| own == last) {
                continue;
            }
            let said =
                "exits that keep later jobs from starting are not supported; exit_what=stonewall ends those beside it";
            let error = TextError::new(TextErrorKind::Unsupported, place, "exitall", said);
            match self.inputs.lenient {
                true => self.notes.push(format!("ignored: {error}")),
                false => self.errors.push(error),
            }
        }
    }

    /// Whether a job that waits for another begins a phase: it does where that one runs in the last phase, alone.
    fn waits(phases: &[Phase], awaited: &str) -> Result<bool, String> {
        let is = |j: &crate::job::Job| j.stream.name == awaited;
        match phases.split_last() {
            Some((last, _)) if last.jobs.iter().all(is) => Ok(true),
            Some((last, _)) if last.jobs.iter().any(is) => Err(format!(
                "'{awaited}' runs beside other jobs; to wait for one of several is not supported: stonewall waits for all"
            )),
            Some((_, before)) if before.iter().flat_map(|p| &p.jobs).any(is) => Ok(false),
            _ => Err(format!("there is no job '{awaited}' before this one")),
        }
    }

    /// The targets that the job itself names: paths that are not relative, else a directory.
    fn own_targets(draft: &Draft) -> Vec<String> {
        let paths: Vec<String> = draft.filenames.iter().filter(|n| n.starts_with('/')).cloned().collect();
        if paths.is_empty() { draft.directory.iter().cloned().collect() } else { paths }
    }

    fn units(&self, global: &Globals, own: &[Entry]) -> Units {
        let decimal = kb_base(own).or(global.kb_base).unwrap_or(false);
        Units { kb_base: if decimal { 1000 } else { 1024 }, machine: self.inputs.machine }
    }

    fn overrides(&self) -> Vec<Entry> {
        let place = Place { file: "--set".to_owned(), line: 0 };
        let entry = |(key, value): &(String, String)| Entry {
            name: key.clone(),
            value: Some(value.clone()),
            broken: None,
            place: place.clone(),
        };
        self.inputs.set.iter().map(entry).collect()
    }

    /// Says how a unit was read that fio's documentation and fio itself do not agree about.
    fn doubt(&mut self, entry: &Entry, value: &str) {
        if matches!(entry.name.as_str(), "name" | "filename" | "directory") {
            return;
        }
        if let Some(unit) = doubtful_unit(value) {
            let letter = &unit[..1];
            self.notes.push(format!(
                "{}: {}={value}: '{unit}' is read as fio documents it, like '{unit}b'; fio itself takes it for '{letter}'",
                entry.place, entry.name
            ));
        }
    }

    fn apply(&mut self, draft: &mut Draft, entries: &[Entry], units: Units) {
        for entry in entries {
            let value = entry.value.as_deref().unwrap_or_default();
            let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
            let error = match treatment(&entry.name) {
                Some(Treatment::Set(_)) if entry.broken.is_some() => {
                    let what = entry.broken.clone().unwrap_or_default();
                    TextError::new(TextErrorKind::Value, &entry.place, &entry.name, what)
                }
                Some(Treatment::Set(set)) => match set(draft, value, units) {
                    Ok(()) => {
                        self.doubt(entry, value);
                        continue;
                    }
                    Err(what) => {
                        let kind =
                            if what.contains("supported") { TextErrorKind::Unsupported } else { TextErrorKind::Value };
                        TextError::new(kind, &entry.place, &entry.name, what)
                    }
                },
                Some(Treatment::Harmless(why)) => {
                    if entry.name != "description" {
                        self.notes.push(format!("{}: {} has no effect: {why}", entry.place, entry.name));
                    }
                    continue;
                }
                Some(Treatment::Refused("")) => {
                    let what = "is not supported, and nothing comes near it; leave it out";
                    TextError::new(TextErrorKind::Unsupported, &entry.place, &entry.name, what)
                }
                Some(Treatment::Refused(near)) => {
                    let error =
                        TextError::new(TextErrorKind::Unsupported, &entry.place, &entry.name, "is not supported");
                    error.with_nearest(Some(near.to_owned()))
                }
                None => {
                    let error =
                        TextError::new(TextErrorKind::Unknown, &entry.place, &entry.name, "is no option that is known");
                    error.with_nearest(nearest_option(&entry.name))
                }
            };
            let own = entry.place.file == self.inputs.file || entry.place.line == 0;
            let error = if own { error.of_own() } else { error.of_included() };
            let may_be_left_out = error.kind != TextErrorKind::Value;
            if self.inputs.lenient && may_be_left_out && entry.place.line > 0 {
                self.notes.push(format!("ignored: {error}"));
            } else if self.errors.len() < MOST_ERRORS && !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
    }
}
