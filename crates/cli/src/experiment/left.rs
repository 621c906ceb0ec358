//! What programs that were cut off left changed on this machine: said by every command, undone by those that are asked to
//! change something. Only this machine's own journal is obeyed, never a file of an archive.

use super::settings::still_changed;
use super::state::DIRECTORY;
use crate::output::Output;
use ::settings::{Change, Found, Machine, Patience, Places, Tree, find};
use archive::Archive;
use model::{Failure, FailureKind};
use report::document::ActionDocument;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// What became of what an execution left changed.
struct Outcome {
    experiment: String,
    said: String,
    failure: Option<Failure>,
}

fn look() -> (Found, Machine) {
    let machine = Machine::of(Path::new("/"));
    (find(&Places::of_this_user(), &machine), machine)
}

/// Undoes all that is left. A command is shown before it runs.
fn undo_all(found: Found, machine: &Machine, output: &Output) -> Vec<Outcome> {
    let tree = Tree::machine();
    let mut out = Vec::new();
    for mut journal in found.left {
        let head = journal.head().clone();
        let rebooted = !head.machine.is_same_boot(machine);
        let mut show = |change: &Change| {
            if let Change::Command { .. } = change {
                output.warning(&format!("{} was cut off; runs what undoes its command: {change}", head.experiment));
            }
        };
        let patience = Patience { over: &|| false, at_least: Duration::ZERO };
        let undone = journal.undo(&tree, machine, &patience, &mut show);
        let said = match (rebooted, undone.done.is_empty()) {
            (true, true) => "the reboot undid its settings".to_owned(),
            _ => format!("put back the settings of its arm '{}': {}", head.arm, undone.done.join("; ")),
        };
        let failure = (!undone.failed.is_empty()).then(|| still_changed(&undone.failed, &journal.paths()));
        out.push(Outcome { experiment: head.experiment, said, failure });
    }
    out
}

/// Before a run: undoes what is left, and says so. What could not be undone is the last word of the command.
pub fn undo_left(archive: &Archive, output: &Output) {
    let (found, machine) = look();
    found.refused.iter().for_each(|what| output.warning(what));
    for outcome in undo_all(found, &machine, output) {
        let id = outcome.experiment;
        match outcome.failure {
            None => output.warning(&format!("{id} was cut off; {}", outcome.said)),
            Some(failure) => {
                output.warning(&format!("{id} was cut off; {}", failure.message));
                output.still_changed(Failure { message: format!("{id}: {}", failure.message), ..failure });
            }
        }
    }
    for (file, _) in foreign(archive) {
        output.warning(&format!("{file} asks for changes of this machine; nothing of an archive is obeyed"));
        output.warning("  narrows runs recover   shows what it asks for");
    }
}

/// Says in a line that something was left changed; undoes nothing.
pub fn mention_left(output: &Output) {
    let found = look().0;
    let mut ids: Vec<&str> = found.left.iter().map(|j| j.head().experiment.as_str()).collect();
    ids.dedup();
    if !ids.is_empty() {
        let ids = ids.join(", ");
        output.warning(&format!("{ids} was cut off and left this machine changed; narrows run --restore undoes that"));
    }
}

/// `narrows run --restore` and `narrows tune --restore`.
pub fn restore(output: &Output) -> ExitCode {
    let (mut lines, failed) = lines(output);
    if output.is_json() {
        output.document(&ActionDocument::new("restore", &lines).except(&failed));
    } else {
        if lines.is_empty() {
            lines.push(("nothing".to_owned(), "no experiment left anything changed".to_owned()));
        }
        output.text(&report::action_text(&lines, output.style()));
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FailureKind::Invalid.exit_code()) }
}

/// Undoes all; a line for each that says what was done, and the subjects of those that failed.
fn lines(output: &Output) -> (Vec<(String, String)>, Vec<String>) {
    let (mut found, machine) = look();
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    for what in std::mem::take(&mut found.refused) {
        failed.push("refused".to_owned());
        lines.push(("refused".to_owned(), what));
    }
    lines.extend(std::mem::take(&mut found.elsewhere).into_iter().map(|what| ("journal".to_owned(), what)));
    for outcome in undo_all(found, &machine, output) {
        let said = match outcome.failure {
            None => outcome.said,
            Some(failure) => {
                failed.push(outcome.experiment.clone());
                let message = failure.message.clone();
                output.still_changed(failure);
                message
            }
        };
        lines.push((outcome.experiment, said));
    }
    (lines, failed)
}

/// For `narrows runs recover`: what was undone, and what restore files of the archive ask for, which is not done.
pub fn recover(archive: &Archive, output: &Output) -> (Vec<(String, String)>, Vec<String>) {
    let (mut lines, failed) = lines(output);
    for (file, asks) in foreign(archive) {
        lines
            .push((file, format!("not obeyed, as nothing of an archive is; undo by hand what is right of it: {asks}")));
    }
    (lines, failed)
}

/// Restore files as versions of this program before 0.2 kept them in the archive, and what they ask for. Whoever gave the
/// archive away may have written them.
fn foreign(archive: &Archive) -> Vec<(String, String)> {
    let names = archive.list_beside(DIRECTORY).unwrap_or_default();
    let files = names.iter().filter(|n| n.ends_with(".restore.json")).map(|n| format!("{DIRECTORY}/{n}"));
    files.map(|file| (archive.beside(&file).display().to_string(), asked(archive, &file))).collect()
}

fn asked(archive: &Archive, file: &str) -> String {
    let text = archive.read_beside(file).ok().flatten().unwrap_or_default();
    let Ok(journal) = serde_json::from_str::<serde_json::Value>(&text) else { return "it cannot be read".to_owned() };
    let word = |v: &serde_json::Value| v.as_str().unwrap_or("?").to_owned();
    let one = |undo: &serde_json::Value| {
        if let Some(value) = undo.get("value") {
            format!("{} = {}", word(&value["path"]), word(&value["old"]))
        } else if let Some(command) = undo.get("command") {
            format!("'{}'", word(&command["undo"]))
        } else if let Some(mount) = undo.get("mount") {
            let options: Vec<String> = mount["options"].as_array().into_iter().flatten().map(word).collect();
            format!("{} mounted with {}", word(&mount["mount_point"]), options.join(","))
        } else {
            "something that is not known".to_owned()
        }
    };
    let all: Vec<String> = journal["undo"].as_array().into_iter().flatten().rev().map(one).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join("; ") }
}
