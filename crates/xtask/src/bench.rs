//! Benchmarks of our own code. They print figures and never fail on slowness: judging them is for people.

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
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The engine against fio, and against the t/io_uring that T_IO_URING names, alternating
    Engine(engine::Options),
    /// The same plain jobs by narrows, fio (io_uring, libaio, psync) and t/io_uring, on disk, loop device, tmpfs and page
    /// cache: rate, latency, CPU
    Parity(parity::Options),
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.what {
        What::Engine(options) => engine::run(&options),
        What::Parity(options) => parity::run(&options),
    }
}
