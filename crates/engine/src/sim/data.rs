//! Data of a simulated device: kept where a stream verifies them, in memory.

use model::SimModel;
use std::cell::RefCell;
use std::rc::Rc;
use sys::errno::EIO;
use workload::{Armed, BlockOp, Medium, OpKind, ReadAgain, SECTOR_BYTES};

/// What the device and whoever looks a second time share.
#[derive(Clone, Debug, Default)]
pub struct SimData(Rc<RefCell<Medium>>);

impl SimData {
    /// Of a device with the faults of this model.
    pub(super) fn of(model: &SimModel) -> Self {
        let (faults, sectors) = (&model.faults, |bytes: u64| bytes / SECTOR_BYTES as u64);
        let data = Self::default();
        data.with(|medium| {
            medium.armed = faults.data.map(|class| Armed { class, at: faults.data_at, seed: model.seed });
            medium.wraps_at = faults.wraps_at_bytes.map(sectors).map(|n| n.max(1));
            medium.limbo_from = faults.limbo_from_bytes.map(sectors);
        });
        data
    }

    /// Looks at the medium, or does something to it, between phases.
    pub fn with<T>(&self, change: impl FnOnce(&mut Medium) -> T) -> T {
        change(&mut self.0.borrow_mut())
    }

    /// What an operation that has succeeded does to the data, or gives of them.
    pub(super) fn execute(&self, op: &BlockOp, data: &mut [u8]) {
        let lba = op.offset / SECTOR_BYTES as u64;
        self.with(|medium| match op.kind {
            OpKind::Read => medium.read(lba, data),
            OpKind::Write => medium.write(lba, data),
            OpKind::WriteSync => {
                medium.write(lba, data);
                medium.flush();
            }
            OpKind::Trim | OpKind::WriteZeroes => medium.trim(lba, op.len as usize),
            OpKind::Fsync | OpKind::Fdatasync => {}
        });
    }

    pub(super) fn flush(&self) -> Result<(), i32> {
        if self.with(Medium::flush) { Ok(()) } else { Err(EIO) }
    }
}

impl ReadAgain for SimData {
    fn reread(&mut self, _file: usize, offset: u64, buffer: &mut [u8]) -> Result<(), i32> {
        self.with(|medium| medium.read(offset / SECTOR_BYTES as u64, buffer));
        Ok(())
    }
}
