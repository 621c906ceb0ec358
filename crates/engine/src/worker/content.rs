//! What is written: incompressible, and no two blocks alike.
//!
//! The buffers are filled once with random numbers, which no compressor shrinks.
//! Before each write every piece of up to 4 KiB gets a stamp of 24 bytes at its start: the write counter through a
//! bijective mix, the stream's key, and the offset under that key. The counter never repeats and the mix is one to one, so
//! no two pieces of a stream are equal, and pieces of streams with other seeds differ in the key: neither deduplication
//! nor a cache of equal blocks can help the device. Stamping touches one cache line in 64, about a hundredth of what
//! copying the data would cost.

use model::random::mix;
use workload::Random;

/// Bytes under one stamp: the smallest unit in which file systems and devices deduplicate. Shorter and odd pieces get a
/// stamp of their own.
const PIECE: usize = 4096;

/// Makes the data of one stream.
#[derive(Clone, Debug)]
pub struct DataGenerator {
    key: u64,
    counter: u64,
}

impl DataGenerator {
    /// For a stream with this seed; streams that write to one device need different seeds.
    pub fn new(seed: u64) -> Self {
        Self { key: mix(seed), counter: 0 }
    }

    /// Fills a buffer before the ramp.
    pub fn fill(&self, index: u32, buffer: &mut [u8]) {
        let mut random = Random::new(self.key, u64::from(index));
        let mut words = buffer.chunks_exact_mut(8);
        for word in &mut words {
            word.copy_from_slice(&random.bits().to_le_bytes());
        }
        let rest = words.into_remainder();
        rest.copy_from_slice(&random.bits().to_le_bytes()[..rest.len()]);
    }

    /// Stamps the data of one write that will go to `offset`.
    #[inline]
    pub fn stamp(&mut self, data: &mut [u8], offset: u64) {
        let place = (offset ^ self.key).to_le_bytes();
        let key = self.key.to_le_bytes();
        for piece in data.chunks_mut(PIECE) {
            let counter = mix(self.counter).to_le_bytes();
            self.counter = self.counter.wrapping_add(1);
            if let Some(head) = piece.first_chunk_mut::<24>() {
                head[..8].copy_from_slice(&counter);
                head[8..16].copy_from_slice(&key);
                head[16..].copy_from_slice(&place);
            } else {
                let len = piece.len().min(8);
                piece[..len].copy_from_slice(&counter[..len]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_blocks_are_equal() {
        let mut seen = HashSet::new();
        for seed in [1, 2] {
            let mut content = DataGenerator::new(seed);
            let mut buffer = vec![0; 3 * PIECE + 512];
            content.fill(0, &mut buffer);
            for round in 0..50 {
                // The same offset again and again, and others.
                content.stamp(&mut buffer, (round % 3) * 4096);
                for block in buffer.chunks(PIECE) {
                    assert!(seen.insert(block.to_vec()), "a block was made twice");
                }
            }
        }
        assert_eq!(seen.len(), 2 * 50 * 4);
    }

    #[test]
    fn the_content_is_the_seeds_and_spread_evenly() {
        let fill = |seed, index| {
            let mut buffer = vec![0u8; 1 << 16];
            DataGenerator::new(seed).fill(index, &mut buffer);
            buffer
        };
        assert_eq!(fill(7, 0), fill(7, 0));
        assert_ne!(fill(7, 0), fill(7, 1));
        assert_ne!(fill(7, 0), fill(8, 0));
        let mut counts = [0u32; 256];
        fill(7, 0).iter().for_each(|b| counts[usize::from(*b)] += 1);
        // 256 expected each with a standard deviation of 16: beyond six of them something is wrong.
        assert!(counts.iter().all(|c| c.abs_diff(256) < 96), "{counts:?}");
    }

    #[test]
    fn short_pieces_are_stamped_too() {
        let mut content = DataGenerator::new(3);
        let (mut a, mut b) = (vec![0; 5], vec![0; 5]);
        content.stamp(&mut a, 0);
        content.stamp(&mut b, 0);
        assert_ne!(a, b);
    }
}
