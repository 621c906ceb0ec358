//! How fast one core stamps and checks: `cargo bench -p narrows-integrity`. Prints GB/s (10^9 bytes) for blocks that stay
//! in the cache, best of several rounds, and a checksum of everything made, so that two builds can be seen to agree.

use integrity::{AllowedGenerations, PayloadSum, SECTOR_BYTES, Secret, Stamper, Write};
use model::VerifyKind;
use std::hint::black_box;
use std::time::Instant;

/// Bytes a round.
const ROUND_BYTES: usize = 16 << 20;
const ROUNDS: usize = 60;

fn best(block_bytes: usize, mut work: impl FnMut(u64)) -> f64 {
    let blocks = (ROUND_BYTES / block_bytes) as u64;
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..blocks).for_each(&mut work);
            (blocks * block_bytes as u64) as f64 / start.elapsed().as_secs_f64() / 1e9
        })
        .fold(0.0, f64::max)
}

fn main() {
    println!("{:<8} {:>8} {:>12} {:>12}", "verify", "block", "stamp GB/s", "check GB/s");
    let mut sum = 0u64;
    for kind in VerifyKind::ALL {
        let stamper = Stamper::new(1, 2, Secret([3, 4])).with_kind(kind);
        for block_bytes in [512, 4096, 131_072, 1 << 20] {
            // As the engine's buffers lie.
            let mut room = vec![0u8; block_bytes + 4096];
            let aligned = room.as_ptr().align_offset(4096);
            let block = &mut room[aligned..aligned + block_bytes];
            let write = |i| Write { lba: i * 8, generation: 1, sequence: i, epoch: 0, time_ms: 0 };
            let stamp = best(block_bytes, |i| stamper.stamp(black_box(&mut *block), &write(i)));
            stamper.stamp(block, &write(5));
            let check = best(block_bytes, |_| {
                assert!(stamper.check(black_box(&*block), 40, AllowedGenerations::only(1)).is_ok());
            });
            println!("{:<8} {block_bytes:>8} {stamp:>12.2} {check:>12.2}", kind.name());
            for sector in block.as_chunks::<SECTOR_BYTES>().0 {
                sum = sum.rotate_left(5).wrapping_add(PayloadSum::Xxh3.of(sector.last_chunk().expect("a payload")));
            }
        }
    }
    println!("checksum {sum:016x}");
}
