//! Copies of memory, and from and to a region, in the calling thread.

use super::in_thread::InThread;
use super::one_call::Calls;
use crate::DeviceError;
use iomem::{AccessRules, Mmio, Mode, Width};
use model::{CopyMethod, CopyPlan};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use sys::{
    BufferPool, Epoch, Mapping,
    errno::{EINVAL, EIO},
};
use workload::BlockOp;

/// Copies by the accesses that a plan asks for, between two buffers or between a buffer and a region.
pub type MemoryDevice<'a> = InThread<Copies<'a>>;

impl<'a> MemoryDevice<'a> {
    /// By the C library's memcpy from the first buffer of a pool to that of another.
    pub fn new(epoch: Epoch, from: BufferPool, to: BufferPool) -> Self {
        Self::copying(epoch, Other::Memory(from), CopyPlan::default(), to)
    }

    /// By the accesses of a plan, between the buffer and the other side.
    pub(crate) fn copying(epoch: Epoch, other: Other<'a>, plan: CopyPlan, pool: BufferPool) -> Self {
        Self::with_calls(epoch, Copies { other, rules: rules(plan.copy_by), plan }, pool)
    }
}

/// What lies on the other side of a copy.
#[derive(Debug)]
pub enum Other<'a> {
    /// Another buffer: memory to memory.
    Memory(BufferPool),
    /// A region in the address space; the buffer holds what is written to it.
    Mapped(&'a Mapping),
    /// A file or character device, by calls; and where in it the region begins.
    Calls(&'a File, u64),
}

/// The accesses of a stream.
#[derive(Debug)]
pub struct Copies<'a> {
    other: Other<'a>,
    rules: Option<AccessRules>,
    plan: CopyPlan,
}

/// The rules of a method; `None` where it is not one of ours.
pub(crate) fn rules(method: CopyMethod) -> Option<AccessRules> {
    match method {
        CopyMethod::Plain(bytes) => Width::of_bytes(bytes as usize).map(AccessRules::up_to),
        CopyMethod::Burst => Some(AccessRules::burst()),
        CopyMethod::Streaming => Some(AccessRules::streaming()),
        CopyMethod::Repeat => Some(AccessRules { mode: Mode::Repeat, ..AccessRules::bytes() }),
        CopyMethod::Memcpy | CopyMethod::Call => None,
    }
}

/// Of a region that faults.
pub(crate) fn no_answer(at: u64) -> String {
    format!("SIGBUS in the page at offset {at:#x}: the device does not answer there")
}

/// The bytes of an operation, if they lie within the address space.
fn range(op: &BlockOp) -> Option<Range<usize>> {
    let start = usize::try_from(op.offset).ok()?;
    Some(start..start.checked_add(op.len as usize)?)
}

impl Copies<'_> {
    /// The part of an operation that is copied in one go, and how often: one larger than the working set goes round in it.
    fn part(&self, op: &BlockOp) -> (Range<usize>, u32) {
        let whole = range(op).unwrap_or_default();
        let set = usize::try_from(self.plan.copy_set_bytes).unwrap_or(usize::MAX);
        if set == 0 || set >= whole.len() { (whole, 1) } else { (0..set, op.len / set as u32) }
    }

    fn between_buffers(&self, from: &[u8], to: &mut [u8]) -> Result<(), i32> {
        let (from, to) = (std::hint::black_box(from), std::hint::black_box(to));
        let Some(rules) = &self.rules else {
            to.copy_from_slice(from);
            return Ok(());
        };
        match self.plan.copy_writes {
            true => iomem::copy_to_io(&mut Mmio::of_mut(to), rules, 0, from),
            false => iomem::copy_from_io(&mut Mmio::of_slice(from), rules, 0, to),
        }
        .map_err(|_| EINVAL)
    }

    fn mapped(&self, mapping: &Mapping, at: &Range<usize>, buffer: &mut [u8]) -> Result<(), i32> {
        let offset = at.start as u64;
        let Some(rules) = &self.rules else {
            return match self.plan.copy_writes {
                true => mapping.store(offset, buffer),
                false => mapping.load(offset, buffer),
            };
        };
        let mut copied = Ok(());
        mapping.lend(offset, at.len(), |memory, writable| {
            let mut device = if writable { Mmio::of_shared_mut(memory) } else { Mmio::of_shared(memory) };
            copied = match self.plan.copy_writes {
                true => iomem::copy_to_io(&mut device, rules, 0, buffer),
                false => iomem::copy_from_io(&mut device, rules, 0, buffer),
            };
        })?;
        copied.map_err(|_| EINVAL)
    }
}

impl Calls for Copies<'_> {
    type Op = BlockOp;

    fn check(&self, op: &BlockOp, pool: &BufferPool) -> Result<(), DeviceError> {
        let (here, there) = match &self.other {
            Other::Memory(from) => (range(op), from.buffer_bytes().min(pool.buffer_bytes()) as u64),
            Other::Mapped(mapping) => (range(op), mapping.len()),
            Other::Calls(..) => (Some(0..op.len as usize), pool.buffer_bytes() as u64),
        };
        if here.is_none_or(|bytes| bytes.end as u64 > there) {
            return Err(DeviceError::BadOperation(format!("{} bytes at {} are outside", op.len, op.offset)));
        }
        Ok(())
    }

    #[inline]
    fn execute(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let (at, times) = self.part(op);
        for _ in 0..times {
            match &self.other {
                Other::Memory(from) => self.between_buffers(&from.buffer(0)[at.clone()], &mut buffer[at.clone()])?,
                // What is written to a region is what it holds, as far as the buffer goes.
                Other::Mapped(mapping) if self.plan.copy_writes => {
                    self.mapped(mapping, &at, buffer.get_mut(at.clone()).ok_or(EINVAL)?)?;
                }
                Other::Mapped(mapping) => self.mapped(mapping, &at, buffer.get_mut(..at.len()).ok_or(EINVAL)?)?,
                Other::Calls(file, start) => {
                    let buffer = buffer.get_mut(..at.len()).ok_or(EINVAL)?;
                    let got = file.read_at(buffer, start.saturating_add(op.offset));
                    return got.map(|n| n as u32).map_err(|e| e.raw_os_error().unwrap_or(EIO));
                }
            }
        }
        Ok(op.len)
    }

    fn remarks(&self, pool: &BufferPool) -> (Option<String>, Option<String>) {
        let by = match self.plan.copy_by {
            CopyMethod::Plain(bytes) => format!("accesses of {bytes} bytes"),
            named => named.to_string(),
        };
        match &self.other {
            Other::Memory(_) => (Some(format!("{by} between two buffers of {} MiB", pool.buffer_bytes() >> 20)), None),
            Other::Mapped(mapping) => {
                (Some(format!("{by} on a mapping of {} bytes", mapping.len())), mapping.last_fault().map(no_answer))
            }
            Other::Calls(..) => (Some("pread".to_owned()), None),
        }
    }
}
