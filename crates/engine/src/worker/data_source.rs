//! The seam of the loop: what is to be done next, together with the data of it.

use super::Data;
use crate::Device;
use model::{Direction, Ns};
use workload::{Next, OpResult, Request, Source};

/// A source of operations that has their data, too: it makes what is written, or says where it lies, and looks at what was read.
/// Nothing may be allocated after [`DataSource::fill`], where its operations are to cost nothing.
pub trait DataSource: Source {
    /// Whether reads are looked at; where not, the loop does not touch their buffers.
    const VERIFIES: bool = false;

    /// Whether data are made at all; where not, nothing is written, or the caller made the data.
    #[inline]
    fn generates(&self) -> bool {
        false
    }

    /// Fills a buffer before the ramp, where not each write fills all of its own.
    fn fill(&mut self, _index: u32, _buffer: &mut [u8]) {}

    /// Makes the data of a write that is about to be handed over: in its buffer, or of parts that the device gathers
    /// ([`Device::gather`]).
    fn prepare<D: Device<Op = Self::Op>>(&mut self, _op: &Self::Op, _device: &mut D) {}

    /// An operation that sends no data is about to be handed over; only where [`DataSource::VERIFIES`].
    fn on_submit(&mut self, _op: &Self::Op) {}

    /// A read of `data` has succeeded. Whether the phase goes on; findings are the implementation's to keep.
    fn verify_read(&mut self, _op: &Self::Op, _data: &[u8]) -> bool {
        true
    }
}

impl<S: DataSource> DataSource for &mut S {
    const VERIFIES: bool = S::VERIFIES;

    #[inline]
    fn generates(&self) -> bool {
        S::generates(self)
    }

    fn fill(&mut self, index: u32, buffer: &mut [u8]) {
        S::fill(self, index, buffer);
    }

    #[inline]
    fn prepare<D: Device<Op = S::Op>>(&mut self, op: &S::Op, device: &mut D) {
        S::prepare(self, op, device);
    }

    #[inline]
    fn on_submit(&mut self, op: &S::Op) {
        S::on_submit(self, op);
    }

    #[inline]
    fn verify_read(&mut self, op: &S::Op, data: &[u8]) -> bool {
        S::verify_read(self, op, data)
    }
}

/// A source whose data somebody else makes and looks at.
#[derive(Debug)]
pub struct WithData<'a, S, C> {
    /// What is to be done next.
    pub source: &'a mut S,
    /// What is written and read.
    pub data: &'a mut C,
}

impl<S: Source<Op: Request>, C: Data<S::Op>> Source for WithData<'_, S, C> {
    type Op = S::Op;

    #[inline]
    fn next(&mut self, now: Ns) -> Next<S::Op> {
        self.source.next(now)
    }

    #[inline]
    fn on_completion(&mut self, op: &S::Op, outcome: OpResult) {
        if op.direction() != Direction::Read || (C::VERIFIES && outcome.result.is_err()) {
            self.data.on_end(op, outcome);
        }
        self.source.on_completion(op, outcome);
    }

    fn closing_op(&mut self) -> Option<S::Op> {
        self.source.closing_op()
    }
}

impl<S: Source<Op: Request>, C: Data<S::Op>> DataSource for WithData<'_, S, C> {
    const VERIFIES: bool = C::VERIFIES;

    #[inline]
    fn generates(&self) -> bool {
        self.data.generates()
    }

    fn fill(&mut self, index: u32, buffer: &mut [u8]) {
        self.data.fill(index, buffer);
    }

    #[inline]
    fn prepare<D: Device<Op = S::Op>>(&mut self, op: &S::Op, device: &mut D) {
        self.data.generate(op, &mut device.buffer(op.buffer())[..op.len() as usize]);
    }

    #[inline]
    fn on_submit(&mut self, op: &S::Op) {
        self.data.on_submit(op);
    }

    #[inline]
    fn verify_read(&mut self, op: &S::Op, data: &[u8]) -> bool {
        self.data.verify_read(op, data)
    }
}
