//! `cargo xtask bench parity`: the same plain jobs by narrows, fio and t/io_uring, alternating: what we say that a disk does,
//! beside what others say.
//!
//! narrows runs as users run it: the same job file that fio gets, through the rig of `narrows run`. fio runs with its engines
//! io_uring, libaio and psync, each as it is without further options. Latencies are fio's `lat`, from the moment at which an
//! operation is made to its completion, as ours are.

use super::beside::BusyLoops;
use super::cell::Cell;
use super::figures::Spread;
use super::parity_peers::{Peer, Reading, peers};
use super::targets::{self, Target};
use clap::Args;
use std::fmt::Write as _;

#[derive(Args)]
pub struct Options {
    /// Rounds of each contestant
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds of each round
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Size of the files, MiB
    #[arg(long, default_value_t = 1024)]
    size_mib: u64,
    /// Only cells whose title (`disk, randread 4k, depth 32`) has all of these words
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Busy loops that run beside all of it
    #[arg(long, value_name = "N", default_value_t = 0)]
    beside: u32,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

const PATTERNS: [&str; 4] = ["randread", "randwrite", "read", "write"];
const BLOCKS: [&str; 3] = ["4k", "64k", "1m"];
const DEPTHS: [u32; 5] = [1, 4, 8, 32, 128];

/// Below this share of the best of the others a rate falls short.
const MIN_RATE: f64 = 0.97;
/// Above this multiple of the best of the others a median latency does.
const MAX_LATENCY: f64 = 1.05;

fn cells(depths: &[u32]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for rw in PATTERNS {
        for block in BLOCKS {
            cells.extend(depths.iter().map(|&depth| Cell { rw, block, depth }));
        }
    }
    cells
}

/// Makes a target of so many bytes.
type Maker = fn(u64) -> anyhow::Result<Target>;

pub fn run(options: &Options) -> anyhow::Result<()> {
    super::engine::warn_if_busy();
    let _busy = BusyLoops::start(options.beside)?;
    let peers = peers();
    if options.markdown {
        println!(
            "| cell | narrows | p50, p99 us | CPU us/op | best other | rate: narrows / it | p50: narrows / it | |"
        );
        println!("|---|---:|---:|---:|---|---:|---:|---|");
    }
    let words: Vec<&str> = options.only.as_deref().unwrap_or_default().split_whitespace().collect();
    let makers: [(&str, Maker); 4] = [
        ("disk", targets::disk),
        ("loop device", targets::loop_device),
        ("tmpfs file", targets::tmpfs),
        ("cached file", targets::cached),
    ];
    for (name, make) in makers {
        let wanted = |cell: &Cell| words.iter().all(|word| title(name, cell).split([' ', ',']).any(|t| t == *word));
        // Through the page cache the kernel completes each operation in the call, whatever the depth.
        let depths = if name == "cached file" { &DEPTHS[..1] } else { &DEPTHS[..] };
        let cells: Vec<Cell> = cells(depths).into_iter().filter(wanted).collect();
        if cells.is_empty() {
            continue;
        }
        match make(options.size_mib << 20) {
            Ok(target) => cells.iter().for_each(|cell| println!("{}", run_rounds(&target, cell, &peers, options))),
            Err(error) => println!("SKIPPED: {error:#}"),
        }
    }
    Ok(())
}

fn title(target: &str, cell: &Cell) -> String {
    format!("{target}, {} {}, depth {}", cell.rw, cell.block, cell.depth)
}

/// All contestants in turn, round after round; the line of the table.
fn run_rounds(target: &Target, cell: &Cell, peers: &[Peer], options: &Options) -> String {
    let title = title(target.name, cell);
    let mut readings: Vec<Vec<Reading>> = peers.iter().map(|_| Vec::new()).collect();
    for round in 0..options.rounds as usize {
        // Who comes first changes from round to round: what one leaves behind meets another the next time.
        for i in 0..peers.len() {
            let i = (i + round) % peers.len();
            let peer = &peers[i];
            let readings = &mut readings[i];
            if !(peer.takes)(cell) {
                continue;
            }
            match (peer.run)(target, cell, options.seconds) {
                Ok(reading) => {
                    eprintln!("{title}: round {} of {}: {}: {reading}", round + 1, options.rounds, peer.name);
                    readings.push(reading);
                }
                Err(error) => eprintln!("{} on {title}: {error:#}", peer.name),
            }
        }
    }
    line(&title, peers, &readings, options.markdown)
}

fn line(title: &str, peers: &[Peer], readings: &[Vec<Reading>], markdown: bool) -> String {
    let ours = &readings[0];
    let others = peers.iter().zip(readings).skip(1);
    let median = |readings: &[Reading], of: fn(&Reading) -> Option<f64>| Spread::of(readings.iter().filter_map(of));
    let Some(rate) = median(ours, |r| Some(r.iops)) else { return format!("SKIPPED: {title}: no figures") };
    let figure = |of| median(ours, of).map_or("-".to_owned(), |s| format!("{:.1}", s.median));
    let latency = format!("{}, {}", figure(|r| r.p50_us), figure(|r| r.p99_us));
    let best_by = |of: fn(&Reading) -> Option<f64>, better: fn(f64, f64) -> bool| {
        let mut best: Option<(&str, &[Reading], f64)> = None;
        for (peer, readings) in others.clone() {
            if let Some(spread) = median(readings, of)
                && best.is_none_or(|(.., value)| better(spread.median, value))
            {
                best = Some((peer.name, readings, spread.median));
            }
        }
        best
    };
    let ratio = |other: Option<(&str, &[Reading], f64)>, of: fn(&Reading) -> Option<f64>| {
        let pairs =
            other.map(|(_, r, _)| ours.iter().zip(r).filter_map(|(a, b)| Some(of(a)? / of(b)?)).collect::<Vec<_>>());
        Spread::of(pairs.unwrap_or_default())
    };
    let fastest = best_by(|r| Some(r.iops), |a, b| a > b);
    let quickest = best_by(|r| r.p50_us, |a, b| a < b);
    let rates = ratio(fastest, |r| Some(r.iops));
    let latencies = ratio(quickest, |r| r.p50_us);
    let short = rates.is_some_and(|s| s.median < MIN_RATE);
    let late = latencies.is_some_and(|s| s.median > MAX_LATENCY);
    let flag = match (short, late) {
        (true, true) => "rate, p50",
        (true, false) => "rate",
        (false, true) => "p50",
        (false, false) => "",
    };
    let show = |s: Option<Spread>| s.map_or("-".to_owned(), |s| s.show(1.0, 2));
    let best = fastest.map_or("-".to_owned(), |(name, _, iops)| format!("{name} {iops:.0}"));
    let columns = [
        title.to_owned(),
        format!("{:.0}", rate.median),
        latency,
        figure(|r| r.cpu_us),
        best,
        show(rates),
        show(latencies),
        flag.to_owned(),
    ];
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match markdown {
        true => write!(text, "| {} |", columns.join(" | ")),
        false => write!(text, "{}", columns.join("  ")),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &'static str) -> Peer {
        Peer { name, takes: |_| true, run: Box::new(|_, _, _| anyhow::bail!("not run")) }
    }

    fn reading(iops: f64, p50: f64) -> Reading {
        Reading { iops, p50_us: Some(p50), p99_us: None, cpu_us: None }
    }

    #[test]
    fn the_best_of_the_others_is_what_counts() {
        let peers = [peer("narrows"), peer("slow"), peer("fast")];
        let readings = [
            vec![reading(96.0, 10.0), reading(192.0, 10.0)],
            vec![reading(50.0, 9.0), reading(60.0, 9.0)],
            vec![reading(100.0, 11.0), reading(200.0, 11.0)],
        ];
        let text = line("t", &peers, &readings, true);
        assert!(text.contains("| fast 150 | 0.96 (0.96 - 0.96) | 1.11 (1.11 - 1.11) | rate, p50 |"), "{text}");
        let alone = line("t", &peers, &[vec![reading(1.0, 1.0)], Vec::new(), Vec::new()], true);
        assert!(alone.contains("| - | - | - |  |"), "{alone}");
    }
}
