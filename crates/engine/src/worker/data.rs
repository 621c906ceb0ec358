//! The seam where data are made before they are written, and looked at when they were read.

use super::DataGenerator;
use workload::{BlockOp, OpResult, Request};

/// What a stream's data are. Whoever checks them is one of these: it fills what is written, hears what became of it, and
/// sees what is read. Nothing may be allocated after [`Data::fill`].
pub trait Data<Op = BlockOp> {
    /// Whether reads are looked at; where not, the loop does not touch their buffers.
    const VERIFIES: bool = false;

    /// Whether data are made at all; where not, nothing is written, or the caller made the data.
    #[inline]
    fn generates(&self) -> bool {
        false
    }

    /// Fills a buffer before the ramp, where not each write fills all of its own.
    fn fill(&mut self, _index: u32, _buffer: &mut [u8]) {}

    /// Makes the data of a write that is about to be handed over.
    fn generate(&mut self, _op: &Op, _data: &mut [u8]) {}

    /// An operation that sends no data is about to be handed over; only where [`Data::VERIFIES`].
    fn on_submit(&mut self, _op: &Op) {}

    /// Any operation has ended but a read that succeeded; of those that failed only where [`Data::VERIFIES`].
    fn on_end(&mut self, _op: &Op, _outcome: OpResult) {}

    /// A read of `data` has succeeded. Whether the phase goes on; findings are the implementation's to keep.
    fn verify_read(&mut self, _op: &Op, _data: &[u8]) -> bool {
        true
    }
}

/// For operations without payloads: nothing is generated and nothing is checked.
#[derive(Clone, Copy, Debug)]
pub struct NoData;

impl<Op> Data<Op> for NoData {}

impl<Op: Request> Data<Op> for Option<DataGenerator> {
    #[inline]
    fn generates(&self) -> bool {
        self.is_some()
    }

    fn fill(&mut self, index: u32, buffer: &mut [u8]) {
        if let Some(content) = self {
            DataGenerator::fill(content, index, buffer);
        }
    }

    #[inline]
    fn generate(&mut self, op: &Op, data: &mut [u8]) {
        if let Some(content) = self {
            content.stamp(data, op.content_key());
        }
    }
}
