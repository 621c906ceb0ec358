//! Data as a plan describes them: compressible, repeated, or zero.

use super::{Data, DataGenerator};
use model::BlockStream;
use model::random::mix;
use workload::BlockOp;

/// Bytes that are told apart: what compressors of file systems and devices look at, and the least that is deduplicated.
const PIECE: usize = 4096;
/// The head of a piece that stays unique: the stamp of [`DataGenerator`].
const STAMP: usize = 24;

/// What compressors look at in one go: btrfs extents and ZFS records are 128 KiB, the window of deflate is 32 KiB.
const WINDOW: usize = 128 << 10;
/// As many buffers as of a sector each fill it.
const MAX_SPARE: u64 = 256;

/// Incompressible and unique data, of which shares compress to nothing or are copies.
///
/// The buffers are filled once and stamped before each write, which is enough where the same buffer comes back after more
/// than 128 KiB. Few small buffers would repeat within it, and a buffer that was read into holds what was read,
/// zeros perhaps: there each piece of each write is one body of random words under a key of its own (exclusive or), in
/// which no compressor finds another's words again. The body stays in the processor's first cache.
///
/// Of each piece of 4 KiB so many per cent, at its end, are zeros; so many per cent of the blocks are one and the same
/// block of the stream. Copies are drawn by a counter, evenly spread, so that any hundred blocks have their share.
#[derive(Clone, Debug)]
pub struct Shaped {
    unique: Option<DataGenerator>,
    /// Whether a stamp is all that each write needs.
    only_stamps: bool,
    content: model::Content,
    owed: u32,
    /// What copies are of, where that is one block.
    copy: Vec<u8>,
    /// What they are of where it is a pool: its blocks are made anew each time.
    pool: Option<Pool>,
    /// Random bytes of one piece; empty where the buffers keep what they were filled with.
    body: Vec<u8>,
    /// Pieces made of the body.
    made: u64,
    /// Whether reads come into the same buffers.
    reads: bool,
    /// What takes the place of zeros; empty: nothing does.
    pattern: Vec<u8>,
}

/// Blocks that copies are drawn from, evenly, by number.
#[derive(Clone, Debug)]
struct Pool {
    blocks: DataGenerator,
    count: u32,
    /// Where the draws of this stream are.
    drawn: u64,
}

impl Pool {
    /// The key of a pool that streams share.
    const SHARED: u64 = 0x706f_6f6c;

    fn of(stream: BlockStream<'_>, seed: u64) -> Self {
        let files = (stream.block.files.len() as u64).max(1);
        let all = stream.block.region_bytes.saturating_mul(files) / stream.block.block_size_bytes.max(1);
        let count = u128::from(all) * u128::from(stream.content.pool_percent) / 100;
        Self {
            // Beside the blocks that buffers are filled with.
            blocks: DataGenerator::new(if stream.content.pool_shared { Self::SHARED } else { !seed }),
            count: u32::try_from(count).unwrap_or(u32::MAX).max(1),
            drawn: mix(seed),
        }
    }

    fn next(&mut self, data: &mut [u8]) {
        self.drawn = self.drawn.wrapping_add(1);
        self.blocks.fill((mix(self.drawn) % u64::from(self.count)) as u32, data);
    }
}

impl Shaped {
    /// What a stream's plan asks for; makes nothing where the stream writes nothing. `repeats`: its buffers come back within a
    /// window.
    pub fn of(stream: BlockStream<'_>, seed: Option<u64>, repeats: bool) -> Self {
        let content = model::Content {
            // Where nothing else is said, a pattern is all that there is.
            compress_percent: match (stream.content.compress_percent.min(100), stream.content.dedupe_percent) {
                (0, 0) if !stream.fill_pattern.bytes().is_empty() => 100,
                (percent, _) => percent,
            },
            dedupe_percent: stream.content.dedupe_percent.min(100),
            ..stream.content
        };
        let reads = stream.block.mix.is_some_and(|mix| mix.read_percent > 0);
        let mut copy = Vec::new();
        let mut pool = None;
        let mut body = Vec::new();
        let unique = seed.map(DataGenerator::new);
        if let Some(unique) = &unique {
            if !content.zero && (reads || repeats) {
                body.resize(PIECE, 0);
                unique.fill(u32::MAX - 1, &mut body);
            }
            if content.dedupe_percent > 0 && content.pool_percent > 0 {
                pool = seed.map(|seed| Pool::of(stream, seed));
            } else if content.dedupe_percent > 0 {
                copy.resize(usize::try_from(stream.block.block_size_bytes).unwrap_or(0), 0);
                unique.fill(u32::MAX, &mut copy);
            }
        }
        let pattern = stream.fill_pattern.bytes().to_vec();
        compress(&content, &pattern, &mut copy);
        let only_stamps = Self::is_plain(&stream) && body.is_empty();
        Self { unique, only_stamps, content, owed: 0, copy, pool, body, made: 0, reads, pattern }
    }

    /// Whether a stream asks for nothing but unique data that do not compress.
    fn is_plain(stream: &model::StreamPlan) -> bool {
        stream.content == model::Content::default() && stream.fill_pattern.bytes().is_empty()
    }

    /// Whether what the buffers were filled with, stamped, is all that a stream's data are, unless they come back too soon.
    pub fn stamps_suffice(stream: BlockStream<'_>) -> bool {
        stream.block.mix.is_none() && Self::is_plain(&stream)
    }

    /// Whether a stream writes from so few and small buffers that what they were filled with comes back within a window.
    pub fn repeats(stream: BlockStream<'_>) -> bool {
        stream.changes_data() && Self::buffers(stream) > u64::from(stream.path.queue_depth)
    }

    /// Buffers beyond the depth with which it does not: to make data anew for each write takes longer than to use more
    /// memory in turn. None where that would be very many, or where what is read comes into them.
    pub fn spare_buffers(stream: BlockStream<'_>) -> u32 {
        let spare = Self::buffers(stream).saturating_sub(stream.path.queue_depth.max(1).into());
        if stream.changes_data() && Self::stamps_suffice(stream) && spare <= MAX_SPARE { spare as u32 } else { 0 }
    }

    /// Buffers that fill a window.
    fn buffers(stream: BlockStream<'_>) -> u64 {
        (WINDOW as u64).div_ceil(stream.block.block_size_bytes.max(1))
    }

    /// Other bytes than this buffer, or another, held before.
    fn refresh(&mut self, data: &mut [u8]) {
        if self.body.is_empty() {
            return;
        }
        if self.is_pattern() {
            return compress(&self.content, &self.pattern, data);
        }
        for piece in data.chunks_mut(PIECE) {
            let key = mix(self.made);
            self.made = self.made.wrapping_add(1);
            let mut words = piece.chunks_exact_mut(8);
            let mut body = self.body.chunks_exact(8);
            for (word, random) in words.by_ref().zip(body.by_ref()) {
                let random = random.try_into().map_or(0, u64::from_ne_bytes);
                word.copy_from_slice(&(random ^ key).to_ne_bytes());
            }
            for ((byte, random), key) in words.into_remainder().iter_mut().zip(body.flatten()).zip(key.to_ne_bytes()) {
                *byte = random ^ key;
            }
        }
        compress(&self.content, &self.pattern, data);
    }

    /// Makes what is more than a stamp.
    #[inline(never)]
    fn shape(&mut self, op: &BlockOp, data: &mut [u8]) {
        if self.content.zero {
            data.fill(0);
            return;
        }
        self.owed += self.content.dedupe_percent;
        if self.owed >= 100 {
            self.owed -= 100;
            if let Some(pool) = &mut self.pool {
                pool.next(data);
                compress(&self.content, &self.pattern, data);
                return;
            }
            let len = data.len().min(self.copy.len());
            data[..len].copy_from_slice(&self.copy[..len]);
            return;
        }
        self.refresh(data);
        if let Some(unique) =
            self.unique.as_mut().filter(|_| self.pattern.is_empty() || self.content.compress_percent < 100)
        {
            unique.stamp(data, op.offset);
        }
    }

    /// Whether the data are nothing but the pattern: then no two blocks differ.
    fn is_pattern(&self) -> bool {
        !self.pattern.is_empty() && self.content.compress_percent == 100
    }
}

/// Makes the end of each piece zero, or what stands for zeros, as much as is to compress to nothing.
fn compress(content: &model::Content, pattern: &[u8], data: &mut [u8]) {
    if content.compress_percent == 0 {
        return;
    }
    if !pattern.is_empty() && content.compress_percent == 100 {
        return repeat(pattern, data);
    }
    for piece in data.chunks_mut(PIECE) {
        let kept = piece.len() * (100 - content.compress_percent as usize) / 100;
        let from = kept.max(STAMP).min(piece.len());
        repeat(pattern, &mut piece[from..]);
    }
}

/// The pattern over and over; zeros where there is none.
fn repeat(pattern: &[u8], data: &mut [u8]) {
    data.fill(0);
    for part in data.chunks_mut(pattern.len().max(1)).filter(|_| !pattern.is_empty()) {
        part.copy_from_slice(&pattern[..part.len()]);
    }
}

impl Data for Shaped {
    fn generates(&self) -> bool {
        // Zeroes stay where nothing is read into the buffers.
        self.unique.is_some() && (!self.content.zero || self.reads)
    }

    fn fill(&mut self, index: u32, buffer: &mut [u8]) {
        if let Some(unique) = self.unique.as_ref().filter(|_| !self.content.zero) {
            unique.fill(index, buffer);
            compress(&self.content, &self.pattern, buffer);
        }
    }

    #[inline]
    fn generate(&mut self, op: &BlockOp, data: &mut [u8]) {
        match &mut self.unique {
            Some(unique) if self.only_stamps => unique.stamp(data, op.offset),
            _ => self.shape(op, data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BlockPlan, IoPath, StreamPlan};
    use std::collections::HashMap;
    use workload::OpKind;

    fn blocks(content: model::Content, count: u64) -> Vec<Vec<u8>> {
        let stream = StreamPlan {
            kind: BlockPlan { block_size_bytes: 8192, ..BlockPlan::default() }.into(),
            content,
            ..StreamPlan::default()
        };
        let mut data = Shaped::of(stream.blocks().unwrap(), Some(3), false);
        let mut buffer = vec![0; 8192];
        data.fill(0, &mut buffer);
        (0..count)
            .map(|i| {
                let op = BlockOp { kind: OpKind::Write, offset: i * 8192, len: 8192, ..BlockOp::default() };
                data.generate(&op, &mut buffer);
                buffer.clone()
            })
            .collect()
    }

    /// Writes through one buffer that reads of zeros come into between, as a mixed stream at depth 1 has it.
    fn after_reads(stream: &StreamPlan, count: u64) -> Vec<u8> {
        let mut data = Shaped::of(stream.blocks().unwrap(), Some(3), Shaped::repeats(stream.blocks().unwrap()));
        assert!(data.generates());
        let len = stream.blocks().unwrap().block.block_size_bytes as usize;
        let mut buffer = vec![0; len];
        data.fill(0, &mut buffer);
        let mut written = Vec::new();
        for i in 0..count {
            let op = BlockOp { kind: OpKind::Write, offset: i * len as u64, len: len as u32, ..BlockOp::default() };
            if stream.blocks().unwrap().block.mix.is_some() {
                buffer.fill(if i % 2 == 0 { 0 } else { 0xaa });
            }
            data.generate(&op, &mut buffer);
            written.extend_from_slice(&buffer);
        }
        written
    }

    /// The share of aligned 16-byte words that occurred before within a window.
    fn repeated(data: &[u8]) -> f64 {
        let mut last: HashMap<&[u8], usize> = HashMap::new();
        let words = data.chunks_exact(16).enumerate();
        let again = words.filter(|(i, w)| last.insert(w, *i).is_some_and(|before| (i - before) * 16 < WINDOW)).count();
        again as f64 / (data.len() / 16) as f64
    }

    #[test]
    fn copies_are_drawn_from_the_whole_pool_and_pools_can_be_shared() {
        let of = |seed, pool_shared| {
            let content = model::Content { dedupe_percent: 50, pool_percent: 10, pool_shared, ..Default::default() };
            let stream = StreamPlan {
                kind: BlockPlan { block_size_bytes: 4096, region_bytes: 1000 * 4096, ..BlockPlan::default() }.into(),
                content,
                ..StreamPlan::default()
            };
            let mut data = Shaped::of(stream.blocks().unwrap(), Some(seed), true);
            let mut seen: HashMap<Vec<u8>, u32> = HashMap::new();
            let mut buffer = vec![0; 4096];
            data.fill(0, &mut buffer);
            for offset in 0..1000 {
                let op = BlockOp { kind: OpKind::Write, offset, len: 4096, ..BlockOp::default() };
                data.generate(&op, &mut buffer);
                *seen.entry(buffer.clone()).or_default() += 1;
            }
            seen
        };
        let (one, other) = (of(3, false), of(4, false));
        // 500 unique ones, and 500 of a pool of 100: as fio's working set has it.
        let pool = |seen: &HashMap<Vec<u8>, u32>| seen.values().filter(|n| **n > 1).count();
        assert!((590..=600).contains(&one.len()) && (85..=100).contains(&pool(&one)), "{} {}", one.len(), pool(&one));
        assert_eq!(one.keys().filter(|b| other.contains_key(*b)).count(), 0);
        let (one, other) = (of(3, true), of(4, true));
        assert!((95..=100).contains(&one.keys().filter(|b| other.contains_key(*b)).count()));
    }

    #[test]
    fn small_blocks_do_not_repeat_within_what_a_compressor_sees() {
        for (block, queue_depth) in [(512, 1), (1000, 1), (4096, 1), (4096, 8), (65_536, 1), (131_072, 1)] {
            let stream = StreamPlan {
                kind: BlockPlan { operation: model::Operation::Write, block_size_bytes: block, ..BlockPlan::default() }
                    .into(),
                path: IoPath { queue_depth, ..IoPath::default() },
                ..StreamPlan::default()
            };
            let share = repeated(&after_reads(&stream, (1 << 20) / block));
            // Stamps say which stream it is, in each piece.
            assert!(share < 0.05, "{block} bytes at depth {queue_depth}: {share} repeated");
        }
    }

    #[test]
    fn what_was_read_is_never_written_back() {
        let mix = Some(model::Mix { read_percent: 50 });
        for block in [512, 4096, 12_288, 262_144] {
            let stream = StreamPlan {
                kind: BlockPlan {
                    operation: model::Operation::Write,
                    block_size_bytes: block,
                    mix,
                    ..BlockPlan::default()
                }
                .into(),
                path: IoPath { queue_depth: 64, ..IoPath::default() },
                ..StreamPlan::default()
            };
            let written = after_reads(&stream, 64);
            let share = |byte: u8| written.iter().filter(|b| **b == byte).count() as f64 / written.len() as f64;
            assert!(share(0) < 0.01 && share(0xaa) < 0.01, "{block}: {} {}", share(0), share(0xaa));
            let content = model::Content { compress_percent: 50, ..Default::default() };
            let halves = after_reads(&StreamPlan { content, ..stream.clone() }, 64);
            let zeros = halves.iter().filter(|b| **b == 0).count() as f64 / halves.len() as f64;
            assert!((zeros - 0.5).abs() < 0.02, "{block}: {zeros} zeros");
            let content = model::Content { zero: true, ..Default::default() };
            assert!(after_reads(&StreamPlan { content, ..stream }, 8).iter().all(|b| *b == 0), "{block}");
        }
    }

    #[test]
    fn a_share_compresses_to_nothing() {
        for compress_percent in [0, 25, 50, 100] {
            let blocks = blocks(model::Content { compress_percent, ..Default::default() }, 10);
            for block in &blocks {
                let zeros = block.iter().filter(|b| **b == 0).count() as f64 / 81.92;
                assert!((zeros - f64::from(compress_percent)).abs() < 1.5, "{compress_percent}: {zeros}");
            }
        }
    }

    #[test]
    fn a_pattern_is_all_of_the_data_or_the_share_that_compresses() {
        let made = |compress_percent, mixed: bool| {
            let block = BlockPlan {
                block_size_bytes: 8192,
                region_bytes: 1 << 20,
                operation: model::Operation::Write,
                mix: mixed.then_some(model::Mix { read_percent: 50 }),
                ..BlockPlan::default()
            };
            let stream = StreamPlan {
                kind: block.into(),
                content: model::Content { compress_percent, ..Default::default() },
                fill_pattern: model::FillPattern::of(vec![0xca, 0xfe, 0x01]).unwrap(),
                ..StreamPlan::default()
            };
            assert!(!Shaped::stamps_suffice(stream.blocks().unwrap()));
            let mut shaped = Shaped::of(stream.blocks().unwrap(), Some(5), false);
            assert!(shaped.generates());
            let mut buffer = vec![0; 8192];
            shaped.fill(0, &mut buffer);
            if mixed {
                // What was read lies there.
                buffer.fill(0x55);
            }
            let op = BlockOp { kind: OpKind::Write, offset: 8192, len: 8192, ..BlockOp::default() };
            shaped.generate(&op, &mut buffer);
            buffer
        };
        for mixed in [false, true] {
            let expected: Vec<u8> = [0xca, 0xfe, 0x01].into_iter().cycle().take(8192).collect();
            assert_eq!(made(0, mixed), expected, "{mixed}");
            let half = made(50, mixed);
            assert_eq!(half[2048..4096], expected[..2048], "{mixed}");
            assert_ne!(half[..2048], expected[..2048], "{mixed}");
        }
    }

    #[test]
    fn a_share_are_copies() {
        let mut counts: HashMap<Vec<u8>, u32> = HashMap::new();
        for block in blocks(model::Content { dedupe_percent: 30, ..Default::default() }, 100) {
            *counts.entry(block).or_default() += 1;
        }
        assert_eq!(counts.values().max(), Some(&30));
        assert_eq!(counts.len(), 71);
    }
}
