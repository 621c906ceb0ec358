//! `cargo xtask lab`: emulated machines in which stock Debian kernels drive emulated controllers with their real
//! drivers. What a machine is made of is one TOML file in `lab/machines/`; docs/lab.md tells how to add one.
//!
//! Invariants:
//! - Nothing is installed on the host and nothing needs root: packages are unpacked below `target/lab`.
//! - No emulator outlives its session, however that ends ([`qemu`]).
//! - Facts, decisions of drivers, register writes and error handling are asserted; an emulated speed never is.

mod machine;

use anyhow::Context;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The machines and the studies, one line each
    List,
}

/// Where the machines are described.
fn machines_directory() -> PathBuf {
    crate::workspace_root().join("lab/machines")
}

/// Carries a command of the lab out.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match arguments.command {
        Command::List => list(),
    }
}

fn list() -> anyhow::Result<()> {
    let machines = machine::all(&machines_directory()).context("the lab's machines cannot be read")?;
    for machine in machines {
        println!("{:<14} {}", machine.name, machine.title);
    }
    Ok(())
}
