//! The files of a stream, and where in them its next block lies.

use crate::FileSpace;
use crate::offsets::Offsets;
use crate::random::{FILE, PLACE, Random};
use crate::sequential_share::SequentialShare;
use model::random::mix;
use model::{BlockStream, FileOrder};

pub(crate) const OTHER: usize = 1;

/// The files of a stream, and how it goes through them.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    order: FileOrder,
    /// What addresses count in.
    pub space: FileSpace,
    region_start: u64,
    region: u64,
    states: Vec<File>,
    /// Not covered yet, where covering once is all that is asked.
    open: usize,
    at: usize,
    /// The file that was written last.
    pub last_written: usize,
    random: Random,
    place: Random,
    share: Option<Box<SequentialShare>>,
}

#[derive(Clone, Debug)]
struct File {
    /// One, or one for each direction.
    offsets: Vec<Offsets>,
    /// Bytes since it was covered last.
    moved: u64,
    covered: bool,
}

impl Files {
    pub fn new(plan: BlockStream<'_>) -> Self {
        let block = plan.block;
        let count = block.files.len().max(1);
        let lanes = if block.mix.is_some() && block.order.is_sequential() { 2 } else { 1 };
        let file = |index: usize| {
            // The first file has the stream's own seed, so that it does not matter to it whether there are others.
            let seed = if index == 0 { plan.seed } else { mix(plan.seed ^ index as u64) };
            File { offsets: vec![Offsets::new(plan, seed); lanes], moved: 0, covered: false }
        };
        Self {
            order: block.file_order,
            space: FileSpace::of(plan),
            region_start: block.region_start_bytes,
            region: block.region_bytes,
            states: (0..count).map(file).collect(),
            open: count,
            at: 0,
            last_written: 0,
            random: Random::new(plan.seed, FILE),
            place: Random::new(plan.seed, PLACE),
            share: SequentialShare::of(plan),
        }
    }

    /// The next place; `once`: only in files that are not covered, of which there is one.
    #[inline]
    pub fn next(&mut self, side: usize, len: u32, once: bool) -> (u64, u32) {
        let count = self.states.len();
        if count > 1 {
            if self.order == FileOrder::Random {
                self.at = self.random.below(count as u64) as usize;
            }
            while once && self.states[self.at].covered {
                self.at = (self.at + 1) % count;
            }
        }
        let index = self.at;
        let file = &mut self.states[index];
        let lanes = file.offsets.len();
        // Two sides, one lane or two: an operation has no division in it.
        let goes_on = self.share.as_mut().and_then(|share| share.next(index, side, len));
        let place = goes_on.unwrap_or_else(|| file.offsets[side & (lanes - 1)].next(len, &mut self.place));
        if let Some(share) = &mut self.share {
            share.record(index, side, place);
        }
        file.moved += u64::from(place.len);
        let covered = file.moved >= self.region || (place.ends_pass && lanes == 1);
        if covered {
            file.moved = 0;
            if once {
                file.covered = true;
                self.open -= 1;
            }
        }
        if side == OTHER {
            self.last_written = index;
        }
        if self.order == FileOrder::RoundRobin || (covered && self.order == FileOrder::Sequential) {
            self.at = if index + 1 == count { 0 } else { index + 1 };
        }
        (self.space.address(index, self.region_start + place.offset), place.len)
    }

    /// Whether every file has been covered, where that is all that is asked.
    #[inline]
    pub fn covered(&self) -> bool {
        self.open == 0
    }
}
