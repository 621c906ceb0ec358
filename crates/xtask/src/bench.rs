//! Benchmarks of our own code. They print figures and never fail on slowness: judging them is for people.

mod beside;
mod cases;
mod cell;
mod contest;
mod contestants;
mod engine;
mod figures;
mod fio;
mod narrows;
mod our_job;
mod parity;
mod parity_peers;
mod t_io_uring;
mod targets;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct Arguments {
    /// Which build is measured: release, which people build, or dist, which is shipped
    #[arg(long, default_value = "release", global = true)]
    profile: String,
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// The engine against fio, and against the t/io_uring that T_IO_URING names, alternating
    Engine(engine::Options),
    /// The same plain jobs by narrows, fio (io_uring, libaio, psync) and t/io_uring, on disk, loop device, tmpfs and page
    /// cache: rate, latency, CPU
    Parity(parity::Options),
}

/// `cargo xtask` builds for quick turns; figures come from a build that users have, in whose directory cargo leaves this program.
fn is_built_as(profile: &str) -> anyhow::Result<bool> {
    Ok(std::env::current_exe()?.ancestors().nth(1).is_some_and(|directory| directory.ends_with(profile)))
}

fn rebuild_as(profile: &str) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args(["run", "--quiet", "--profile", profile, "--package", "narrows-xtask", "--"])
        .args(std::env::args_os().skip(1))
        .status()?;
    anyhow::ensure!(status.success(), "the {profile} build of the benchmark ended with {status}");
    Ok(())
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    if !is_built_as(&arguments.profile)? {
        return rebuild_as(&arguments.profile);
    }
    println!("Profile of this build: {}", arguments.profile);
    match arguments.what {
        BenchCommand::Engine(options) => engine::run(&options),
        BenchCommand::Parity(options) => parity::run(&options),
    }
}
