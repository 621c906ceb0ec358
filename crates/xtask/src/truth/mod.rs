//! `cargo xtask truth`: scenarios with known truth, and how often the program names it.

mod draw;
mod kinds;
mod laboratory;
mod matrix;
mod real;
mod scenario;
mod why;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// How often the diagnosis names the layer that limits
    Why(why::Arguments),
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.command {
        Command::Why(arguments) => why::run(&arguments),
    }
}
