//! One machine for one command, or for one person: `lab run` and `lab up`.

use super::initrd::{GuestJob, quoted};
use super::machine::Machine;
use super::session::{GuestResult, Lab};
use super::session_options::SessionOptions;
use super::{card, host_archive, interrupts, machines_directory, progress, transport};
use anyhow::{Context, ensure};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Boots a machine for whoever sits at the terminal.
///
/// # Errors
/// There is no terminal, or the machine cannot be started.
pub fn up(name: &str, programs: Option<PathBuf>) -> anyhow::Result<i32> {
    interrupts::install()?;
    let machine = Machine::load(&machines_directory(), name)?;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    ensure!(is_terminal, "lab up needs a terminal to type at; for a script: cargo xtask lab run {name} -- sh -c '...'");
    require_archive()?;
    let lab = Lab::new(programs)?;
    let prepared = lab.prepare(&machine)?;
    prepared.notes.iter().for_each(|n| progress::print_status(n));
    progress::print_status("say exit to leave, or C-a x to end the emulator at once");
    let outcome = lab.run(&prepared, &GuestJob::default(), &SessionOptions::default())?;
    if outcome.was_ended {
        progress::print_status("the emulator was ended, and nothing was brought back");
        return Ok(0);
    }
    import_results(&lab, &outcome)?;
    Ok(0)
}

/// Boots a machine for a command; the command's exit code.
///
/// # Errors
/// The command line is wrong, or the machine fails.
pub fn run(
    name: &str,
    bring: &[PathBuf],
    card: &card::Choice,
    command: &[String],
    programs: Option<PathBuf>,
) -> anyhow::Result<i32> {
    interrupts::install()?;
    let machine = Machine::load(&machines_directory(), name)?;
    // What is wrong with the command line is said before anything is fetched.
    let card = card.slot(&machine.name, machine.card.as_deref())?;
    let mut job = GuestJob::script(quoted(command.iter().map(String::as_str)));
    for file in bring {
        let name = file.file_name().with_context(|| format!("{} is not a file", file.display()))?;
        let content = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        job.files.push((format!("lab/in/{}", name.to_string_lossy()), 0o755, content));
    }
    require_archive()?;
    let lab = Lab::new(programs)?;
    let prepared = lab.prepare(&machine)?;
    prepared.notes.iter().for_each(|n| progress::print_status(n));
    // A person sees it as it comes; a pipe gets each stream, byte for byte.
    let live = std::io::stdout().is_terminal();
    let outcome =
        lab.run(&prepared, &job, &SessionOptions { live, progress: true, card, ..SessionOptions::default() })?;
    if !live {
        copy_out(&outcome.out.path().join("stdout"), &mut std::io::stdout().lock())?;
        copy_out(&outcome.out.path().join("stderr"), &mut std::io::stderr().lock())?;
    }
    import_results(&lab, &outcome)?;
    outcome.notes.iter().for_each(|n| progress::print_status(n));
    if let Some(card) = &outcome.card {
        progress::print_status(&card.line());
    }
    progress::print_status(&format!(
        "{name}, kernel {}: ready after {:.1} s, {:.1} s in all; the console is kept in {}",
        prepared.release,
        outcome.boot.as_secs_f64(),
        outcome.took.as_secs_f64(),
        outcome.console.display()
    ));
    Ok(outcome.exit)
}

fn copy_out(from: &Path, to: &mut impl Write) -> anyhow::Result<()> {
    let Ok(mut file) = std::fs::File::open(from) else { return Ok(()) };
    std::io::copy(&mut file, to).with_context(|| format!("cannot pass {} on", from.display()))?;
    Ok(())
}

/// # Errors
/// Nothing can be written where the archive is or would be: that is better said before a guest has worked for minutes.
fn require_archive() -> anyhow::Result<()> {
    let archive = host_archive()?;
    let place = archive.directory().ancestors().find(|d| d.exists()).unwrap_or(Path::new("/"));
    rustix::fs::access(place, rustix::fs::Access::WRITE_OK).with_context(|| {
        format!(
            "the archive {} cannot be written to; NARROWS_ARCHIVE names another place",
            archive.directory().display()
        )
    })
}

/// Brings everything home; where that is not possible, what came back is kept all the same.
fn import_results(lab: &Lab, outcome: &GuestResult) -> anyhow::Result<()> {
    sorted(lab, outcome).or_else(|error| {
        let kept = lab.directory.join("out").join(outcome.out.path().file_name().unwrap_or_default());
        transport::copy_directory(outcome.out.path(), &kept)?;
        Err(error.context(format!("what the guest has left is in {}", kept.display())))
    })
}

/// Runs of the guest's archive become runs of the host's; other files that were left are kept below `target/lab`.
fn sorted(lab: &Lab, outcome: &GuestResult) -> anyhow::Result<()> {
    if let Some(kept) = transport::keep_files(outcome.out.path(), &lab.directory.join("out"))? {
        progress::print_status(&format!("what was left in /lab/out is in {}", kept.display()));
    }
    let guest = outcome.out.path().join("archive");
    if guest.is_dir() {
        let brought = transport::import_results(&guest, &host_archive()?)?;
        brought.runs.iter().for_each(|run| progress::print_status(&format!("run {run} is in the archive")));
        brought.reports.iter().for_each(|page| progress::print_status(&format!("page {}", page.display())));
    }
    Ok(())
}
