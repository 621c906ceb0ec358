//! Data that are verified: the loop's seam to the room that knows what each place must hold.

use super::Data;
use workload::{BlockOp, OpResult, Reread, Verified};

/// The data of a stream that verifies, and the way to read a suspect again.
#[derive(Debug)]
pub struct Checking<'a, R> {
    verified: &'a mut Verified,
    again: R,
    writes: bool,
}

impl<'a, R: Reread> Checking<'a, R> {
    /// For a stream that `writes`, or only reads; suspects are read again by `again`.
    pub fn new(verified: &'a mut Verified, again: R, writes: bool) -> Self {
        Self { verified, again, writes }
    }
}

impl<R: Reread> Data for Checking<'_, R> {
    const LOOKS: bool = true;

    #[inline]
    fn makes(&self) -> bool {
        self.writes
    }

    #[inline]
    fn make(&mut self, op: &BlockOp, data: &mut [u8]) {
        self.verified.make(op, data);
    }

    #[inline]
    fn handed(&mut self, op: &BlockOp) {
        self.verified.handed(op);
    }

    #[inline]
    fn ended(&mut self, op: &BlockOp, outcome: OpResult) {
        self.verified.ended(op, outcome);
    }

    #[inline]
    fn look(&mut self, op: &BlockOp, data: &[u8]) -> bool {
        self.verified.look(op, data, &mut self.again)
    }
}
