//! Developer commands of narrows: `cargo xtask <command>`. Each lives in its own module; users never need them.

mod bench;
mod book;
mod docs;
mod fuzz;
mod truth;

use clap::{Parser, Subcommand};
use lab::{static_build, tree_text, workspace_root};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer commands of narrows")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure our own performance against peers
    Bench(bench::Arguments),
    /// Write the man pages and completions, or check that they are up to date
    Docs(docs::Arguments),
    /// Write the documents as the source of an mdBook, and render it where mdbook is installed
    Book(book::Arguments),
    /// Hand the program untrusted input, changed at random
    Fuzz(fuzz::Arguments),
    /// Ask the program what limits machines of which that is known
    Truth(truth::Arguments),
    /// Emulated machines with real kernels and drivers
    Lab(lab::Arguments),
    /// Print a captured tree as the text of a test's .tree file
    Tree(tree_text::Arguments),
    /// Build the static binary for every architecture, check it, and run it once
    Static(static_build::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Bench(arguments) => bench::run(arguments),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Book(arguments) => book::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Truth(arguments) => truth::run(arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Tree(arguments) => tree_text::run(&arguments),
        Command::Static(arguments) => static_build::run(&arguments),
    }
}
