//! `cargo xtask truth`: scenarios with known truth, and how often the program names it.

pub mod draw;
mod history;
mod judge;
mod kinds;
mod laboratory;
mod matrix;
mod real;
mod scenario;
mod tune;
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
    /// How often the judge is right about a difference of which the truth is known
    Judge(judge::Arguments),
    /// How often noise is taken for a change of a series of runs, and how soon a change is seen
    History(history::Arguments),
    /// How often the search for settings finds and proves what was planted, and claims what was not
    Tune(tune::Arguments),
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.command {
        Command::Why(arguments) => why::run(&arguments),
        Command::Judge(arguments) => judge::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
    }
}
