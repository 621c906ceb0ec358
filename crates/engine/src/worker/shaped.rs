//! Data as a plan describes them: compressible, repeated, or zero.

use super::{Content, Data};
use model::StreamPlan;
use workload::BlockOp;

/// Bytes that are told apart: what compressors of file systems and devices look at, and the least that is deduplicated.
const PIECE: usize = 4096;
/// The head of a piece that stays unique: the stamp of [`Content`].
const STAMP: usize = 24;

/// Incompressible and unique data, of which shares compress to nothing or are copies.
///
/// Of each piece of 4 KiB so many per cent, at its end, are zeros; so many per cent of the blocks are one and the same
/// block of the stream. Copies are drawn by a counter, evenly spread, so that any hundred blocks have their share.
#[derive(Clone, Debug)]
pub struct Shaped {
    unique: Option<Content>,
    zero: bool,
    compress_percent: u32,
    dedupe_percent: u32,
    owed: u32,
    /// What copies are of.
    copy: Vec<u8>,
}

impl Shaped {
    /// What a stream's plan asks for; makes nothing where the stream writes nothing.
    pub fn of(stream: &StreamPlan, seed: Option<u64>) -> Self {
        let content = stream.content;
        let unique = seed.map(Content::new);
        let mut shaped = Self {
            zero: content.zero,
            compress_percent: content.compress_percent.min(100),
            dedupe_percent: content.dedupe_percent.min(100),
            owed: 0,
            copy: Vec::new(),
            unique,
        };
        if shaped.dedupe_percent > 0
            && let Some(unique) = &shaped.unique
        {
            let mut copy = vec![0; usize::try_from(stream.block_size_bytes).unwrap_or(0)];
            unique.fill(u32::MAX, &mut copy);
            shaped.compress(&mut copy);
            shaped.copy = copy;
        }
        shaped
    }

    fn compress(&self, data: &mut [u8]) {
        if self.compress_percent == 0 {
            return;
        }
        for piece in data.chunks_mut(PIECE) {
            let kept = piece.len() * (100 - self.compress_percent as usize) / 100;
            let from = kept.max(STAMP).min(piece.len());
            piece[from..].fill(0);
        }
    }
}

impl Data for Shaped {
    fn makes(&self) -> bool {
        self.unique.is_some() && !self.zero
    }

    fn fill(&mut self, index: u32, buffer: &mut [u8]) {
        if let Some(unique) = &self.unique {
            unique.fill(index, buffer);
            self.compress(buffer);
        }
    }

    fn make(&mut self, op: &BlockOp, data: &mut [u8]) {
        if self.dedupe_percent > 0 {
            self.owed += self.dedupe_percent;
            if self.owed >= 100 {
                self.owed -= 100;
                let len = data.len().min(self.copy.len());
                data[..len].copy_from_slice(&self.copy[..len]);
                return;
            }
        }
        if let Some(unique) = &mut self.unique {
            unique.stamp(data, op.offset);
            // The buffer may hold a copy: what makes it differ from others is the stamp alone, which is enough.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use workload::OpKind;

    fn blocks(content: model::Content, count: u64) -> Vec<Vec<u8>> {
        let stream = StreamPlan { content, block_size_bytes: 8192, ..StreamPlan::default() };
        let mut data = Shaped::of(&stream, Some(3));
        let mut buffer = vec![0; 8192];
        data.fill(0, &mut buffer);
        (0..count)
            .map(|i| {
                let op = BlockOp { kind: OpKind::Write, offset: i * 8192, len: 8192, buffer: 0, intended_ns: None };
                data.make(&op, &mut buffer);
                buffer.clone()
            })
            .collect()
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
    fn a_share_are_copies() {
        let mut counts: HashMap<Vec<u8>, u32> = HashMap::new();
        for block in blocks(model::Content { dedupe_percent: 30, ..Default::default() }, 100) {
            *counts.entry(block).or_default() += 1;
        }
        assert_eq!(counts.values().max(), Some(&30));
        assert_eq!(counts.len(), 71);
    }
}
