//! Shows what this room sees: `cargo run -p narrows-observe --example look -- [--root DIR] [PATH|DEVICE-NAME]`, with the
//! cost of each part.

use observe::{Locator, Root, Sampler, counted_disks, environment, inventory};
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut base = "/".to_owned();
    if arguments.first().is_some_and(|a| a == "--root") && arguments.len() > 1 {
        base = arguments.remove(1);
        arguments.remove(0);
    }
    let target = arguments.first().cloned().unwrap_or_else(|| ".".into());
    let root = Root::new(&base);
    let place = if let Some(path) = std::fs::canonicalize(&target).ok().filter(|_| root.is_live()) {
        let device = std::fs::metadata(&path).ok().map(|m| m.dev());
        // The kernel's encoding of a device number in 64 bits (gnu_dev_major(3)).
        let device = device.map(|d| model::DeviceId {
            major: ((d >> 8 & 0xfff) | (d >> 32 & !0xfff)) as u32,
            minor: ((d & 0xff) | (d >> 12 & !0xff)) as u32,
        });
        Locator::Path { path: path.to_string_lossy().into_owned(), device, mount_id: None, block_size_bytes: None }
    } else {
        match observe::locate(&root, &target) {
            Ok(place) => place,
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(2);
            }
        }
    };
    let start = Instant::now();
    let all = observe::disks(&root);
    println!("{} disks in {:?}: {all:#?}", all.len(), start.elapsed());
    let start = Instant::now();
    let seen = inventory(&root, &place);
    let first_took = start.elapsed();
    // Nine more, because other processes are in the way: the shortest is what it costs.
    let again = (0..9).map(|_| {
        let start = Instant::now();
        inventory(&root, &place);
        start.elapsed()
    });
    let inventory_took = again.chain([first_took]).min().unwrap_or(first_took);
    println!("{}", serde_json::to_string_pretty(&seen.stack).unwrap_or_default());
    println!("missing: {:#?}", seen.missing);
    let start = Instant::now();
    let machine = environment(&root);
    let environment_took = start.elapsed();
    println!("{machine:#?}");
    if let Some(device) = seen.stack.layers.iter().rev().find_map(|l| l.device) {
        println!("{:#?}", observe::device_use(&root, device));
    }
    let mut sampler = Sampler::new(&root, &counted_disks(&seen.stack));
    let first = sampler.sample(0);
    const LOOKS: usize = 1_001;
    let mut took: Vec<_> = (0..LOOKS)
        .map(|_| {
            let start = Instant::now();
            sampler.sample(1);
            start.elapsed()
        })
        .collect();
    took.sort();
    let look = took[LOOKS / 2];
    println!("{first:#?}");
    println!("inventory {inventory_took:?}, environment {environment_took:?}, one sample {look:?} (median)");
}
