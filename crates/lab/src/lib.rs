//! `cargo xtask lab`: emulated machines in which stock Debian kernels drive emulated controllers with their real
//! drivers. What a machine is made of is one TOML file in `lab/machines/`; docs/lab.md tells how to add one.
//!
//! Invariants:
//! - Nothing is installed on the host and nothing needs root: packages are unpacked below `target/lab`.
//! - No emulator outlives its session, however that ends (`qemu.rs`).
//! - Facts, decisions of drivers, register writes and error handling are asserted; an emulated speed never is.

mod accesses;
mod apt;
mod arguments;
mod backports;
mod beside;
mod capture;
mod card;
mod child;
mod console;
mod cpio;
mod evidence;
mod guest_life;
mod initrd;
mod interrupts;
mod kernel;
mod lock;
mod machine;
mod mistakes;
mod modules;
mod network;
mod own_modules;
mod own_programs;
mod packages;
mod page;
mod power_cut;
mod programs;
mod progress;
mod qemu;
mod scratch;
mod session;
mod session_options;
mod single;
mod space;
pub mod static_build;
mod study;
mod test;
mod transport;
pub mod tree_text;
mod unavailable;
mod watch;

use anyhow::Context;
use archive::Archive;
use clap::{Args, Subcommand};
use machine::Machine;
use session::Lab;
use std::path::{Path, PathBuf};
use watch::GuestFailure;

/// Options of `cargo xtask lab`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Take static programs from DIR/TARGET/dist/narrows instead of building them
    #[arg(long, value_name = "DIR", global = true)]
    programs: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// The machines and the studies, one line each
    List,
    /// Boot a machine and type into it; what is left in /lab/out is brought back
    Up {
        /// Name of the machine
        name: String,
    },
    /// Boot a machine, run a command in it, and bring its runs into the archive
    Run {
        /// Name of the machine
        name: String,
        /// Bring a file of the host to /lab/in
        #[arg(long = "bring", value_name = "FILE")]
        bring: Vec<PathBuf>,
        #[command(flatten)]
        card: card::Choice,
        /// The command and its arguments; for the shell's own signs: sh -c '...'
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Serve an SD card of known speed, lies and faults to QEMU or to any NBD client
    Card(card::Arguments),
    /// Keep the trees of machines for the tests of `observe`
    Capture {
        /// Names of the machines
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Make one of the studies, and write its page
    Study {
        /// Name of the study
        name: String,
    },
    /// Boot every machine and assert what must be so in it
    Test {
        /// Only these machines
        names: Vec<String>,
        /// Keep what each guest left, its runs too, in target/lab/out; of a machine that fails it is kept anyway
        #[arg(long)]
        keep: bool,
    },
    #[command(hide = true)]
    EndWithParent(child::EndWithParent),
}

/// The directory of the workspace.
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

/// Where the machines are described.
fn machines_directory() -> PathBuf {
    workspace_root().join("lab/machines")
}

/// Where the studies are described.
fn studies_directory() -> PathBuf {
    workspace_root().join("lab/studies")
}

/// The archive of the host, as the program itself finds it.
fn host_archive() -> anyhow::Result<Archive> {
    let variable = |name: &str| std::env::var_os(name);
    let directory = archive::default_directory(
        variable("NARROWS_ARCHIVE").as_deref(),
        variable("XDG_DATA_HOME").as_deref(),
        variable("HOME").as_deref(),
    )
    .context("there is no place for an archive: set NARROWS_ARCHIVE")?;
    Ok(Archive::open(directory))
}

/// Carries a command of the lab out; ends the process with the command's own code where it has one.
///
/// # Errors
/// The hidden command that starts a program could not.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let result = match arguments.command {
        Command::EndWithParent(arguments) => return child::end_with_parent(&arguments),
        Command::List => list().map(|()| 0),
        Command::Card(arguments) => card::run(&arguments).map(|()| 0),
        Command::Up { name } => single::up(&name, arguments.programs),
        Command::Capture { names } => capture_all(&names, arguments.programs).map(|()| 0),
        Command::Study { name } => study(&name, arguments.programs),
        Command::Test { names, keep } => test_all(&names, keep, arguments.programs).map(|()| 0),
        Command::Run { name, bring, card, command } => single::run(&name, &bring, &card, &command, arguments.programs),
    };
    match result {
        Ok(0) => Ok(()),
        Ok(code) => std::process::exit(code),
        Err(error) if error.is::<GuestFailure>() => {
            progress::print_status(&error.to_string());
            std::process::exit(3);
        }
        // Whatever failed then, failed for that.
        Err(_) if interrupts::is_interrupted() => {
            progress::print_status(&interrupts::Interrupted.to_string());
            std::process::exit(interrupts::exit_code());
        }
        Err(error) => {
            progress::print_status(&format!("{error:#}"));
            std::process::exit(1);
        }
    }
}

fn list() -> anyhow::Result<()> {
    let machines = machine::all(&machines_directory()).context("the lab's machines cannot be read")?;
    let mut text = "machines\n".to_owned();
    for machine in machines {
        text.push_str(&format!("  {:<18} {}\n", machine.name, machine.title));
    }
    text.push_str("studies\n");
    for study in study::all(&studies_directory()).context("the lab's studies cannot be read")? {
        text.push_str(&format!("  {:<18} {}\n", study.name, study.plan.title));
    }
    progress::print(&text);
    Ok(())
}

/// Makes a study; 1 if something was not as asserted.
fn study(name: &str, programs: Option<PathBuf>) -> anyhow::Result<i32> {
    interrupts::install()?;
    let study = study::Study::load(&studies_directory(), name)?;
    let shown = study.run(&Lab::new(programs)?)?;
    let reports = host_archive()?.reports_dir();
    std::fs::create_dir_all(&reports).with_context(|| format!("cannot create {}", reports.display()))?;
    let path = reports.join(format!("study-{name}.html"));
    std::fs::write(&path, page::page(&study, &shown)).with_context(|| format!("cannot write {}", path.display()))?;
    for step in &shown.steps {
        say_seen(&format!("{} ({}): ", step.title, step.machine), &step.seen);
    }
    shown.ranked.iter().for_each(|ranked| say_seen("", &ranked.seen));
    println!("{}", page::EMULATED);
    println!("page: {}", path.display());
    page::open(&path);
    Ok(i32::from(shown.seen().any(|one| !one.wrong.is_empty())))
}

fn say_seen(of: &str, seen: &[study::StudyCheck]) {
    for one in seen {
        println!("{} {of}{}", if one.wrong.is_empty() { "ok    " } else { "FAILED" }, one.what);
        one.wrong.iter().for_each(|w| println!("       {w}"));
    }
}

fn capture_all(names: &[String], programs: Option<PathBuf>) -> anyhow::Result<()> {
    interrupts::install()?;
    let lab = Lab::new(programs)?;
    for name in names {
        let machine = Machine::load(&machines_directory(), name)?;
        println!("{}", capture::run(&lab, &machine)?.display());
    }
    progress::print_status(
        "look through the trees, and accept their snapshots: cargo insta test --review -p narrows-observe",
    );
    Ok(())
}

fn test_all(names: &[String], keep: bool, programs: Option<PathBuf>) -> anyhow::Result<()> {
    interrupts::install()?;
    test::run(&Lab::new(programs)?, &machines_directory(), names, keep)
}
