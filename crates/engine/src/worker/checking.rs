//! Data that are verified: the loop's seam to the crate that knows what each place must hold.

use super::Data;
use workload::{BlockOp, OpResult, ReadAgain, Verified};

/// The data of a stream that verifies, and the way to read a suspect again.
#[derive(Debug)]
pub struct VerifyingData<'a, R> {
    verified: &'a mut Verified,
    reread: R,
    writes: bool,
}

impl<'a, R: ReadAgain> VerifyingData<'a, R> {
    /// For a stream that `writes`, or only reads; suspects are read again by `reread`.
    pub fn new(verified: &'a mut Verified, reread: R, writes: bool) -> Self {
        Self { verified, reread, writes }
    }
}

impl<R: ReadAgain> Data for VerifyingData<'_, R> {
    const VERIFIES: bool = true;

    #[inline]
    fn generates(&self) -> bool {
        self.writes
    }

    #[inline]
    fn generate(&mut self, op: &BlockOp, data: &mut [u8]) {
        self.verified.generate(op, data);
    }

    #[inline]
    fn on_submit(&mut self, op: &BlockOp) {
        self.verified.on_submit(op);
    }

    #[inline]
    fn on_end(&mut self, op: &BlockOp, outcome: OpResult) {
        self.verified.on_end(op, outcome);
    }

    #[inline]
    fn verify_read(&mut self, op: &BlockOp, data: &[u8]) -> bool {
        self.verified.verify_read(op, data, &mut self.reread)
    }
}
