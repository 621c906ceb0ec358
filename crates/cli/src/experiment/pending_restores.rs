//! What programs that were cut off left changed on this machine: said by every command, undone by those that are asked to
//! change something. Only this machine's own journal is obeyed, never a file of an archive.

use crate::output::Output;
use archive::Archive;
use experiments::experiment::{DIRECTORY, PendingRestores, RestoreReport};
use model::{Failure, FailureKind};
use report::document::ActionDocument;
use std::process::ExitCode;

/// Undoes all that is left. A command is shown before it runs.
fn undo(left: PendingRestores, output: &Output) -> Vec<RestoreReport> {
    left.undo(&mut |id, command| {
        output.warning(&format!("{id} was cut off; runs what undoes its command: {command}"));
    })
}

/// What was done about what an execution left changed.
fn said(undone: &RestoreReport) -> String {
    match &undone.failure {
        Some(failure) => failure.message.clone(),
        None if undone.rebooted && undone.done.is_empty() => "the reboot undid its settings".to_owned(),
        None => format!("restored the settings of its arm '{}': {}", undone.arm, undone.done.join("; ")),
    }
}

/// Before a run: undoes what is left, and says so. What could not be undone is the last word of the command.
pub fn undo_left(archive: &Archive, output: &Output) {
    let left = PendingRestores::find();
    left.refused().iter().for_each(|what| output.warning(what));
    for undone in undo(left, output) {
        let id = &undone.experiment;
        output.warning(&format!("{id} was cut off; {}", said(&undone)));
        if let Some(failure) = &undone.failure {
            output.still_changed(Failure { message: format!("{id}: {}", failure.message), ..failure.clone() });
        }
    }
    for (file, _) in foreign(archive) {
        output.warning(&format!("{file} asks for changes of this machine; nothing of an archive is obeyed"));
        output.warning("  narrows runs recover   shows what it asks for");
    }
}

/// Says in a line that something was left changed; undoes nothing.
pub fn mention_left(output: &Output) {
    let left = PendingRestores::find();
    let ids = left.experiments();
    if !ids.is_empty() {
        let ids = ids.join(", ");
        output.warning(&format!(
            "{ids} was cut off and left this machine changed; narrows experiment restore undoes that"
        ));
    }
}

/// `narrows experiment restore` and `narrows settings restore`.
pub fn restore(output: &Output) -> ExitCode {
    let (lines, failed) = lines(output);
    let nothing = [("nothing".to_owned(), "no experiment left anything changed".to_owned())];
    output.answer(&ActionDocument::new("restore", &lines).except(&failed), || {
        report::actions(if lines.is_empty() { &nothing } else { &lines })
    });
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FailureKind::Invalid.exit_code()) }
}

/// Undoes all; a line for each that says what was done, and the subjects of those that failed.
fn lines(output: &Output) -> (Vec<(String, String)>, Vec<String>) {
    let left = PendingRestores::find();
    let mut failed = vec!["refused".to_owned(); left.refused().len()];
    let mut lines: Vec<(String, String)> = left.refused().iter().map(|w| ("refused".to_owned(), w.clone())).collect();
    lines.extend(left.of_other_machines().iter().map(|what| ("journal".to_owned(), what.clone())));
    for undone in undo(left, output) {
        lines.push((undone.experiment.clone(), said(&undone)));
        if let Some(failure) = undone.failure {
            failed.push(undone.experiment);
            output.still_changed(failure);
        }
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
    let names = archive.list_side_files(DIRECTORY).unwrap_or_default();
    let files = names.iter().filter(|n| n.ends_with(".restore.json")).map(|n| format!("{DIRECTORY}/{n}"));
    files.map(|file| (archive.side_path(&file).display().to_string(), asked(archive, &file))).collect()
}

fn asked(archive: &Archive, file: &str) -> String {
    let text = archive.read_side_file(file).ok().flatten().unwrap_or_default();
    let Ok(journal) = serde_json::from_slice::<serde_json::Value>(text.as_bytes()) else {
        return "it cannot be read".to_owned();
    };
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
