//! `cargo xtask lab card`: an SD card of known behaviour, as an NBD server.
//!
//! Behind QEMU's `sd-card` (`nbd+unix:///?socket=...`) it gives the real drivers sdhci and mmc_block a card whose speed,
//! lies and faults are known, on any machine. Any other NBD client may use it too.
//!
//! Its faults: reads and writes that fail, writes that are lost, wrong bits by chance and by wear, a size that is a lie
//! ([`parameters`]). Errors do not reach a guest behind `sd-card`: QEMU 7.2 notes them on standard error and answers as if
//! all were well (hw/sd/sd.c, sd_blk_read and sd_blk_write); lost and corrupt writes do.
//!
//! Invariants:
//! - What a card does is a function of its file, the seed and what is asked of it; the time of an answer is computed
//!   ([`timing`]), then waited for.
//! - Damage is where the seed puts it, in whatever pieces the data come, and is listed at the end.
//! - It listens on a Unix socket or on loopback, and nowhere else.
//!
//! What is deliberately absent: TLS, structured replies, and the loss of unflushed data (a card without power).

mod by_metric;
mod chance;
mod curve;
mod device;
mod faults;
mod figures;
mod findings;
mod handshake;
mod media;
mod parameters;
mod protocol;
mod quantities;
mod ranking;
mod runs;
mod server;
mod slot;
mod socket;
mod timing;
mod transmission;

pub use by_metric::CardsByMetric;
#[cfg(test)]
pub use by_metric::Point;
pub use device::Summary;
pub use findings::differences;
pub use ranking::{Plan as CardsPlan, Ranked};
pub use slot::{Choice, ServedCard, Slot};

use super::mistakes::did_you_mean;
use anyhow::{Context, bail, ensure};
use device::Device;
use parameters::Card;
use server::{CardServer, Listen};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use timing::Timing;

#[derive(clap::Args)]
pub struct Arguments {
    /// A card of lab/cards, or the path of a TOML file; without one the cards are listed
    card: Option<String>,
    /// Say what the model makes of the card, and serve nobody
    #[arg(long)]
    figures: bool,
    /// Listen on a Unix socket at this path
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    socket: Option<PathBuf>,
    /// Listen on this port of the loopback address; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Keep the card's content in this file, sparsely; without it, in a file that is gone afterwards
    #[arg(long, value_name = "FILE")]
    backing: Option<PathBuf>,
    /// Put data at its beginning, as much as this
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    filled: u64,
    /// Where faults, wear and the spread of times come from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Multiply all times of the card, where an emulator is too slow for the truth
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    slowness: f64,
    /// End when the last client has left
    #[arg(long)]
    once: bool,
    /// Write what the card did, and which sectors it damaged, to this file as JSON; without it, to standard output
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
}

fn size(text: &str) -> Result<u64, String> {
    model::parse_bytes(text).map_err(|error| error.to_string())
}

/// Where the cards are described.
pub fn directory() -> PathBuf {
    crate::workspace_root().join("lab/cards")
}

/// The card of a name in lab/cards, or of a path.
///
/// # Errors
/// There is none, or it is no card.
fn find(name: &str) -> anyhow::Result<Card> {
    if name.contains('/') || name.ends_with(".toml") {
        return Card::load(Path::new(name));
    }
    let file = directory().join(format!("{name}.toml"));
    if !file.exists() {
        let known = names()?;
        let meant = did_you_mean(name, known.iter().map(String::as_str));
        bail!("there is no card '{name}'{meant}; known: {}", known.join(", "));
    }
    Card::load(&file)
}

/// The names of the cards in lab/cards, sorted.
///
/// # Errors
/// The directory cannot be read.
pub fn names() -> anyhow::Result<Vec<String>> {
    let directory = directory();
    let entries = std::fs::read_dir(&directory).with_context(|| format!("{}: cannot be read", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// A card over a file, or over one that is gone with it.
///
/// # Errors
/// The file cannot be made, or the card is no card.
fn insert(card: Card, backing: Option<&Path>, seed: u64, slowness: f64) -> anyhow::Result<Device> {
    let file = match backing {
        Some(path) => open_backing(path)?,
        None => sparse_file()?,
    };
    Device::new(card, file, seed, slowness)
}

fn open_backing(path: &Path) -> anyhow::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.with_context(|| format!("{}: cannot hold a card", path.display()))?;
    // The card's size is given to it: no device, and nobody's pipe.
    ensure!(file.metadata()?.is_file(), "{}: only a regular file can hold a card", path.display());
    Ok(file)
}

fn sparse_file() -> anyhow::Result<File> {
    let directory = std::env::temp_dir();
    let path = directory.join(format!("narrows-card-{}-{:x}", std::process::id(), sys::monotonic_ns()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
    let file = file.with_context(|| format!("{}: cannot hold a card", path.display()))?;
    std::fs::remove_file(&path).with_context(|| format!("{}: cannot be unlinked", path.display()))?;
    Ok(file)
}

/// Carries `lab card` out.
///
/// # Errors
/// What went wrong, with the remedy where there is one.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some(name) = &arguments.card else {
        let line = |name: &String| Ok(format!("{name:<20} {}\n", find(name)?.title));
        let lines: Vec<String> = names()?.iter().map(line).collect::<anyhow::Result<_>>()?;
        super::progress::print(&lines.concat());
        return Ok(());
    };
    let card = find(name)?;
    if arguments.figures {
        return print_figures(card, arguments);
    }
    let listen = match (&arguments.socket, arguments.port) {
        (Some(path), _) => Listen::Path(path.clone()),
        (None, Some(port)) => Listen::Port(port),
        (None, None) => anyhow::bail!("say where to listen: --socket PATH or --port PORT"),
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    let title = card.title.clone();
    let device = insert(card, arguments.backing.as_deref(), arguments.seed, arguments.slowness)?;
    device.fill(arguments.filled).context("the card cannot be filled")?;
    let server = CardServer::start(device, &listen, false)?;
    eprintln!("card: {title} at {}", server.address());
    let left = || arguments.once && server.all_clients_left();
    while !stop.load(Ordering::Relaxed) && !left() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let summary = serde_json::to_string_pretty(&server.stop())?;
    match &arguments.summary {
        Some(path) => {
            std::fs::write(path, summary + "\n").with_context(|| format!("{}: cannot be written", path.display()))
        }
        None => {
            println!("{summary}");
            Ok(())
        }
    }
}

fn print_figures(card: Card, arguments: &Arguments) -> anyhow::Result<()> {
    let capacity = card.capacity.0;
    println!("{}\n{}\n", card.title, card.source);
    let timing = Timing::new(card, arguments.seed, arguments.slowness)?;
    println!("{:>9}  {:>14}  {:>14}", "random", "reads/s", "writes/s");
    for kib in [1, 4, 16, 64, 256, 1024] {
        let figures = figures::random(&timing, capacity, kib << 10);
        println!("{kib:>5} KiB  {:>14.1}  {:>14.1}", figures.read_iops, figures.write_iops);
    }
    let streams = figures::streams(&timing, capacity);
    let mib = |rate: f64| rate / f64::from(1 << 20);
    println!(
        "{:>9}  {:>8.1} MiB/s  {:>8.1} MiB/s",
        "stream",
        mib(streams.read_bytes_per_s),
        mib(streams.write_bytes_per_s)
    );
    Ok(())
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod published_tests;
