//! What reads again the data that a stream wrote.

use crate::{BlockOp, FileSpace, Next, OpKind, OpResult, Source};
use integrity::Table;
use model::Ns;
use std::ops::Range;
use std::sync::Arc;

/// Reads each unit of the region that owes something once, from the start to the end, file by file; what lies together is
/// read together.
#[derive(Debug)]
pub struct ReadBackOf {
    tables: Vec<Arc<Table>>,
    space: FileSpace,
    region: Range<u64>,
    most_bytes: u64,
    file: usize,
    /// The next unit to look at.
    unit: u64,
    in_flight: u32,
}

impl ReadBackOf {
    pub(crate) fn new(tables: Vec<Arc<Table>>, space: FileSpace, region: Range<u64>, most_bytes: u64) -> Self {
        let unit = tables.first().map_or(0, |t| region.start / t.unit_bytes());
        Self { tables, space, region, most_bytes, file: 0, unit, in_flight: 0 }
    }

    /// The units of the region in a file.
    fn units(&self, file: usize) -> Range<u64> {
        let unit = self.tables[file].unit_bytes();
        self.region.start / unit..self.region.end / unit
    }

    /// Units of the region of which a write failed.
    pub(crate) fn failed_units(&self) -> u64 {
        let of = |file: usize| {
            let Range { start, end } = self.units(file);
            let next = |from| self.tables[file].next_failed(from, end);
            std::iter::successors(next(start), |unit| next(unit + 1)).count() as u64
        };
        (0..self.tables.len()).map(of).sum()
    }

    /// Operations that were not handed out.
    pub(crate) fn operations_left(&mut self) -> u64 {
        std::iter::from_fn(|| self.operation()).count() as u64
    }

    fn operation(&mut self) -> Option<BlockOp> {
        loop {
            let table = self.tables.get(self.file)?;
            let unit = table.unit_bytes();
            let end = self.units(self.file).end;
            if let Some(first) = table.next_checkable(self.unit, end) {
                let most = (self.most_bytes / unit).max(1);
                let mut next = first + 1;
                while next < end.min(first.saturating_add(most)) && table.next_checkable(next, next + 1).is_some() {
                    next += 1;
                }
                self.unit = next;
                let offset = self.space.address(self.file, first * unit);
                let len = ((next - first) * unit) as u32;
                return Some(BlockOp { kind: OpKind::Read, offset, len, ..BlockOp::default() });
            }
            self.file += 1;
            if self.file < self.tables.len() {
                self.unit = self.units(self.file).start;
            }
        }
    }
}

impl Source for ReadBackOf {
    type Op = BlockOp;

    fn next(&mut self, _now: Ns) -> Next<BlockOp> {
        match self.operation() {
            Some(op) => {
                self.in_flight += 1;
                Next::Op(op)
            }
            None if self.in_flight > 0 => Next::WaitForCompletion,
            None => Next::Done,
        }
    }

    fn on_completion(&mut self, _op: &BlockOp, _outcome: OpResult) {
        self.in_flight -= 1;
    }
}
