//! Calls on files of the simulated machine, as a device of the engine's loop.

use super::SimDevice;
use super::files::SimFiles;
use super::machine::{Lane, Traffic};
use crate::{Completion, Device, DeviceError};
use file_trace::CallOp;
use model::{CallFlag, FileTrace, Ns};

/// The file system of a simulated machine, and the calls that are made on it.
#[derive(Debug)]
pub(super) struct SimCalls<'m> {
    pub device: &'m mut SimDevice,
    pub files: &'m mut SimFiles,
    pub trace: &'m FileTrace,
}

impl Device for SimCalls<'_> {
    type Op = CallOp;

    fn now(&self) -> Ns {
        self.device.machine.now
    }

    fn buffer(&mut self, _: u32) -> &mut [u8] {
        // Nothing is written into it: data are not kept.
        &mut []
    }

    fn submit(&mut self, ops: &[CallOp]) -> Result<(), DeviceError> {
        let m = &mut self.device.machine;
        for op in ops {
            let cpu_ns = m.call_ns(u64::from(op.len));
            let done = self.files.call(m, self.trace, &op.call, m.now.max(m.cpu[Lane::Worker as usize].end));
            let (result, end) = match done {
                Ok((bytes, end)) => (Ok(bytes), end),
                Err(_) if op.call.flags & CallFlag::MAY_FAIL != 0 => (Ok(0), m.now),
                Err(errno) => (Err(errno), m.now),
            };
            let since = m.now;
            let end = m.work_on(Lane::Worker, end.max(m.cpu[Lane::Worker as usize].end), cpu_ns);
            m.schedule(end, Traffic::None, since, 0, Some((op.buffer, result)));
        }
        Ok(())
    }

    fn spin_until(&mut self, until: Ns) {
        self.device.spin_until(until);
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        self.device.reap(min, until, out)
    }
}
