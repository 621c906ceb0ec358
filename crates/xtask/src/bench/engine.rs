//! `cargo xtask bench engine`: the cases of [`super::cases`] against fio, then random 512-byte reads at depth 32, where the
//! device costs least and the engine shows most, against t/io_uring as well.
//!
//! Targets: at least 1.3 times fio's IOPS, no less than t/io_uring's at the same batch sizes, every latency in
//! the full histogram, at most 60 ns of user CPU per operation.

use super::contest::Contest;
use super::contestants::{Contestant, Task};
use super::targets::{self, Target};
use super::{cases, fio, narrows, t_io_uring};
use clap::Args;

#[derive(Args)]
pub struct Options {
    /// Rounds of each contestant
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds of each round
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// Size of the file that is read, MiB
    #[arg(long, default_value_t = 256)]
    size_mib: u64,
    /// Bytes of each read
    #[arg(long, default_value_t = 512)]
    block: u32,
    /// Operations in flight
    #[arg(long, default_value_t = 32)]
    depth: u32,
    /// Only this: `peers` (t/io_uring at the same batches), or a part of a case's title
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print Markdown tables
    #[arg(long)]
    markdown: bool,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    if options.only.as_deref() != Some("peers") {
        warn_if_busy();
        match targets::tmpfs(options.size_mib << 20) {
            Ok(target) => {
                cases::run_rounds(&target, options.rounds, options.seconds, options.only.as_deref(), options.markdown);
            }
            Err(error) => println!("SKIPPED: {error:#}"),
        }
        if options.only.is_some() {
            return Ok(());
        }
    }
    let mut contestants = vec![Contestant {
        name: "narrows",
        how:
            "every latency in the histogram, 100 ms intervals; on tmpfs inline, where the peers leave the reads to the \
              kernel's workers"
                .to_owned(),
        run: Box::new(narrows::uring),
    }];
    contestants.extend(fio::contestants());
    contestants.extend(t_io_uring::contestants());
    println!(
        "Random {}-byte reads, depth {}, {} rounds of {} s, alternating; median (smallest - largest).",
        options.block, options.depth, options.rounds, options.seconds
    );
    for contestant in &contestants {
        println!("- {}: {}", contestant.name, contestant.how);
    }
    println!();

    warn_if_busy();
    let bytes = options.size_mib << 20;
    for make in [targets::tmpfs, targets::cached, targets::loop_device] {
        // One after the other: the memory of one is free before the next is made.
        match make(bytes) {
            Ok(target) => on(&target, &contestants, options),
            Err(error) => println!("SKIPPED: {error:#}"),
        }
    }
    overhead(options);
    Ok(())
}

/// Rates on a machine that has other work are shares of it.
pub(super) fn warn_if_busy() {
    let Ok(text) = std::fs::read_to_string("/proc/loadavg") else { return };
    let load: f64 = text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if load > 0.5 * cpus as f64 {
        println!(
            "Note: the load average is {load} on {cpus} CPUs: rates are shares of a busy machine, and only the ratios of \
             CPU time hold.\n"
        );
    }
}

fn on(target: &Target, contestants: &[Contestant], options: &Options) {
    for batch in [options.depth, 1] {
        let task = Task {
            path: target.path.clone(),
            file_bytes: target.bytes,
            direct: target.direct,
            block_bytes: options.block,
            depth: options.depth,
            batch_submit: batch,
            batch_complete: batch,
            seconds: options.seconds,
        };
        let access = if task.direct { "O_DIRECT" } else { "buffered" };
        let title = format!("{}, {access}, submit {batch}, complete {batch}", target.name);
        println!("{}", Contest::run_rounds(title, &task, contestants, options.rounds).table(options.markdown));
    }
}

fn overhead(options: &Options) {
    let ours = [Contestant { name: "narrows", how: String::new(), run: Box::new(narrows::null) }];
    for batch in [options.depth, 1] {
        let task = Task {
            path: "null:".into(),
            file_bytes: options.size_mib << 20,
            direct: false,
            block_bytes: options.block,
            depth: options.depth,
            batch_submit: batch,
            batch_complete: batch,
            seconds: options.seconds.min(2),
        };
        let title = format!("null: (our own overhead), submit {batch}, complete {batch}");
        println!("{}", Contest::run_rounds(title, &task, &ours, options.rounds).table(options.markdown));
    }
}
