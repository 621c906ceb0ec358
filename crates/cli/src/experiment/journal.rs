//! What has to be put back: written and synced before anything is changed, removed after all was undone. The lock tells
//! whether the program that wrote it still lives.

use super::state::DIRECTORY;
use crate::output::Output;
use archive::Archive;
use model::{Failure, FailureKind};
use observe::Root;
use report::document::ActionDocument;
use serde::{Deserialize, Serialize};
use settings::Undo;
use std::process::ExitCode;

/// Held by the process that executes an experiment; the kernel drops it with the process.
pub struct Lock {
    _held: archive::Lock,
}

impl Lock {
    /// Takes it, or says that another process has it.
    pub fn take(archive: &Archive, id: &str) -> Result<Self, Failure> {
        Self::attempt(archive, id)?.ok_or_else(|| {
            Failure::new(FailureKind::Refused, format!("{id} is being executed by another process"))
                .remedy("wait for it, or end it")
        })
    }

    /// `None` where another process has it.
    fn attempt(archive: &Archive, id: &str) -> Result<Option<Self>, Failure> {
        Ok(archive.lock_beside(&format!("{DIRECTORY}/{id}.lock"))?.map(|_held| Self { _held }))
    }
}

/// What is changed now, and how it is undone, in the order of the changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Journal {
    /// Execution that changed it.
    pub experiment: String,
    /// Its arm.
    pub arm: String,
    /// Boot during which it was changed: the next one has forgotten values and mount options by itself.
    boot_id: Option<String>,
    host: Option<String>,
    /// Last one first.
    pub undo: Vec<Undo>,
}

fn path(id: &str) -> String {
    format!("{DIRECTORY}/{id}.restore.json")
}

impl Journal {
    /// An empty one; nothing is written yet.
    pub fn new(experiment: &str, arm: &str) -> Self {
        let environment = observe::environment(&Root::new("/"));
        Self {
            experiment: experiment.to_owned(),
            arm: arm.to_owned(),
            boot_id: environment.boot_id,
            host: environment.hostname,
            undo: Vec::new(),
        }
    }

    /// Writes it, or removes the file where nothing is left. Durable when this returns.
    pub fn save(&self, archive: &Archive) -> Result<(), Failure> {
        if self.undo.is_empty() {
            return Ok(archive.remove_beside(&path(&self.experiment))?);
        }
        let text = serde_json::to_string_pretty(self).map_err(|e| {
            Failure::new(FailureKind::Internal, format!("the restore file of {}: {e}", self.experiment))
        })?;
        Ok(archive.write_beside(&path(&self.experiment), text.as_bytes())?)
    }

    /// Undoes all, the last change first; what could not be undone stays in the file and is told.
    pub fn undo(&mut self, archive: &Archive) -> Result<(), Failure> {
        let mut left = Vec::new();
        let mut problems = Vec::new();
        while let Some(undo) = self.undo.pop() {
            if let Err(problem) = undo.execute() {
                problems.push(problem);
                left.insert(0, undo);
            }
        }
        self.undo = left;
        let saved = self.save(archive);
        if problems.is_empty() {
            return saved;
        }
        Err(Failure::new(FailureKind::Environment, format!("not put back: {}", problems.join("; "))).remedy(format!(
            "narrows run --restore   tries again; {} says what is left",
            archive.beside(&path(&self.experiment)).display()
        )))
    }
}

/// Undoes what crashed executions left, and says so. What cannot be undone is told and does not stop anything.
pub fn undo_stale(archive: &Archive, output: &Output) {
    match stale(archive) {
        Ok(all) => all.into_iter().for_each(|(id, result)| match result {
            Ok(said) => output.warning(&format!("{id} was cut off; {said}")),
            Err(failure) => {
                output.warning(&format!("{id} was cut off; {}", failure.message));
                failure.remedy.iter().for_each(|r| output.warning(r));
            }
        }),
        Err(failure) => output.warning(&failure.message),
    }
}

/// `narrows run --restore`.
pub fn restore(archive: &Archive, output: &Output) -> Result<ExitCode, Failure> {
    let all = stale(archive)?;
    let failed: Vec<String> = all.iter().filter(|(_, r)| r.is_err()).map(|(id, _)| id.clone()).collect();
    let mut lines: Vec<(String, String)> =
        all.into_iter().map(|(id, result)| (id, result.unwrap_or_else(|failure| failure.message))).collect();
    if output.is_json() {
        output.document(&ActionDocument::new("restore", &lines).except(&failed));
    } else {
        if lines.is_empty() {
            lines.push(("nothing".to_owned(), "no experiment left anything changed".to_owned()));
        }
        output.text(&report::action_text(&lines, output.style()));
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FailureKind::Environment.exit_code()) })
}

/// The id of an execution that was cut off, and what became of its changes.
type Undone = (String, Result<String, Failure>);

/// Undoes what executions that were cut off left.
fn stale(archive: &Archive) -> Result<Vec<Undone>, Failure> {
    let mut out = Vec::new();
    for name in archive.list_beside(DIRECTORY)? {
        let Some(id) = name.strip_suffix(".restore.json") else { continue };
        let Some(_held) = Lock::attempt(archive, id)? else { continue };
        out.push((id.to_owned(), put_back(archive, id)));
    }
    Ok(out)
}

fn put_back(archive: &Archive, id: &str) -> Result<String, Failure> {
    let file = archive.beside(&path(id));
    let Some(text) = archive.read_beside(&path(id))? else { return Ok("nothing was left to undo".into()) };
    let mut journal: Journal = serde_json::from_str(&text).map_err(|e| {
        Failure::new(FailureKind::Environment, format!("{} cannot be read: {e}", file.display()))
            .remedy("undo by hand what it says, then delete it")
    })?;
    if journal.experiment != id {
        let message = format!("{} is the restore file of {}", file.display(), journal.experiment);
        return Err(Failure::new(FailureKind::Environment, message).remedy("delete it, or give it its name back"));
    }
    let environment = observe::environment(&Root::new("/"));
    if journal.host != environment.hostname {
        let there = journal.host.as_deref().unwrap_or("another machine");
        return Err(Failure::new(FailureKind::Refused, format!("its settings were changed on {there}"))
            .remedy(format!("narrows run --restore   on {there}")));
    }
    let rebooted = journal.boot_id != environment.boot_id;
    if rebooted {
        journal.undo.retain(|u| !u.ends_with_boot());
    }
    let what: Vec<String> = journal.undo.iter().rev().map(ToString::to_string).collect();
    journal.undo(archive)?;
    Ok(match (rebooted, what.is_empty()) {
        (true, true) => "the reboot undid its settings".to_owned(),
        _ => format!("put back the settings of its arm '{}': {}", journal.arm, what.join("; ")),
    })
}
