//! Runs that are deleted: what goes is said before it goes, with its size, and on a terminal it is asked.

use super::{chosen, finish, held};
use crate::output::Output;
use archive::Archive;
use model::Failure;
use report::document::RunEntry;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// A run that goes: its id, and what it is, with its size.
struct Going {
    id: String,
    what: String,
    bytes: u64,
}

impl Going {
    fn new(archive: &Archive, id: &str, what: &str) -> Self {
        let bytes = size(&archive.run_dir(id)) + size(&archive.report_path(id));
        let size = report::quantity::size(bytes);
        let what = if what.is_empty() { size } else { format!("{what}, {size}") };
        Self { id: id.to_owned(), what, bytes }
    }
}

/// `runs prune`: those that a rule chose.
pub fn prune(
    archive: &Archive,
    entries: &[RunEntry],
    dry_run: bool,
    yes: bool,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let what = |e: &RunEntry| match e.command.as_str() {
        "check" => format!("check {}", e.target),
        command => format!("{command} {} {}", e.workload, e.target),
    };
    let going: Vec<Going> = entries.iter().map(|e| Going::new(archive, &e.run_id, &what(e))).collect();
    if going.is_empty() && !output.is_json() {
        output.text("no run fits the rule; runs with a tag stay\n");
    } else if dry_run {
        say("prune", &going, "would be deleted", output);
    } else if going.is_empty() || asked(&going, yes, output)? {
        going.iter().try_for_each(|g| archive.delete(&g.id))?;
        say("prune", &going, "deleted", output);
    }
    Ok(ExitCode::SUCCESS)
}

/// `runs delete`: those that were named. All of them first: none is deleted where another one cannot be.
pub fn delete(archive: &Archive, runs: &[String], yes: bool, output: &Output) -> Result<ExitCode, Failure> {
    let chosen = chosen(archive, runs)?;
    let ids: Vec<&str> = chosen.iter().map(|r| held(archive, r, "nothing is deleted")).collect::<Result<_, _>>()?;
    let going: Vec<Going> = ids.iter().map(|id| Going::new(archive, id, "")).collect();
    if asked(&going, yes, output)? {
        going.iter().try_for_each(|g| archive.delete(&g.id))?;
        say("delete", &going, "deleted", output);
    }
    Ok(ExitCode::SUCCESS)
}

fn say(action: &str, going: &[Going], done: &str, output: &Output) {
    let lines: Vec<(String, String)> = going.iter().map(|g| (g.id.clone(), format!("{done}: {}", g.what))).collect();
    finish(action, &lines, &[], output);
    if !output.is_json() && going.len() > 1 {
        output.text(&format!("{} runs {done}, {}\n", going.len(), all(going)));
    }
}

fn all(going: &[Going]) -> String {
    report::quantity::size(going.iter().map(|g| g.bytes).sum())
}

/// Whether somebody at a terminal agrees; a script has said what it wants.
fn asked(going: &[Going], yes: bool, output: &Output) -> Result<bool, Failure> {
    if yes || output.is_json() || !output.is_terminal() || !io::stdin().is_terminal() {
        return Ok(true);
    }
    let lines: Vec<(String, String)> = going.iter().map(|g| (g.id.clone(), g.what.clone())).collect();
    output.part(&report::actions(&lines));
    output.text(&format!(
        "Delete {}, {}? [y/N] ",
        if going.len() == 1 { "it".to_owned() } else { format!("these {} runs", going.len()) },
        all(going)
    ));
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Failure::environment(format!("the answer could not be read: {e}")).remedy("--yes does not ask"))?;
    let agreed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !agreed {
        let _ = writeln!(io::stderr().lock(), "narrows: nothing is deleted");
    }
    Ok(agreed)
}

/// Bytes of a file, or of all files of a directory; 0 of what is not there. Links are not followed.
pub(super) fn size(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(of) if of.is_dir() => std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| size(&e.path())).sum(),
        Ok(of) if of.is_file() => of.len(),
        _ => 0,
    }
}
