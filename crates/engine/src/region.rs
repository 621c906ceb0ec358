//! A region whose bytes are copied, as a target of its own: memory, a device's memory, a character device, a simulated bus.

use crate::copy::{copied, copy_buffer, possible, run_copy, run_pieces};
use crate::device::Other;
use crate::rig::{refusal_of_device, sleep};
use crate::sim::MemoryBusDevice;
use crate::{Control, MemoryDevice, Rig};
use model::{CopyMethod, EngineKind, Failure, Ns, PhasePlan, PhaseRecord, SimMemoryBus};
use std::fs::File;
use sys::{Epoch, Mapping};

/// What is written back to a region is held in memory: no more than this of it.
const MAX_WRITTEN_BYTES: u64 = 16 << 20;

/// What is copied.
#[derive(Debug)]
pub enum Region {
    /// Two buffers of so many bytes.
    Memory(u64),
    /// A device or a file.
    Device {
        /// The device file.
        file: File,
        /// Where the region begins in it.
        start: u64,
        /// The region's length.
        bytes: u64,
        /// The region in the address space, where the device can be mapped.
        mapping: Option<Mapping>,
        /// Whether calls read it, too.
        calls: bool,
    },
    /// A simulated bus with memory behind it, in simulated time.
    Bus(SimMemoryBus),
}

/// Executes phases of copies against a region.
#[derive(Debug)]
pub struct RegionRig {
    epoch: Epoch,
    interval_ns: Ns,
    region: Region,
    simulated_ns: Ns,
}

impl RegionRig {
    /// With intervals of this length.
    pub fn new(region: Region, interval_ns: Ns) -> Self {
        Self { epoch: Epoch::start(), interval_ns, region, simulated_ns: 0 }
    }

    fn device(&self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        let Region::Device { file, start, bytes, mapping, calls } = &self.region else {
            return Err(Failure::internal(format!("{}: no device", phase.name)));
        };
        let plan = copied(phase);
        let cannot = |what: &str, remedy: &str| {
            Err(Failure::environment(format!("{}: {what}", phase.name)).remedy(remedy.to_owned()))
        };
        let other = match (plan.copy_by, mapping) {
            (CopyMethod::Call, _) if !calls => return cannot("no call reads this device", "leave it out"),
            (CopyMethod::Call, _) if plan.copy_writes => {
                return cannot("calls that write are not measured", "leave it out");
            }
            (CopyMethod::Call, _) => Other::Calls(file, *start),
            (_, Some(mapping)) => Other::Mapped(mapping),
            (_, None) => {
                return cannot("this device cannot be mapped: the kernel copies it", "narrows run copy-calls REGION");
            }
        };
        let bytes = if plan.copy_writes { (*bytes).min(MAX_WRITTEN_BYTES) } else { *bytes };
        let held = if plan.copy_writes { bytes } else { plan.copy_bytes.max(1).into() };
        let pool = copy_buffer(usize::try_from(held).unwrap_or(usize::MAX));
        let mut pool = pool.map_err(|e| refusal_of_device(&phase.name, &e))?;
        if let (true, Some(mapping)) = (plan.copy_writes, mapping) {
            // What is written is what is there.
            mapping.load(0, pool.buffer_mut(0)).map_err(|errno| {
                let at = mapping.last_fault().unwrap_or(0);
                let what = format!("{}: {} at offset {at:#x}", phase.name, sys::errno_name(errno));
                Failure::device(what)
            })?;
        }
        possible(phase)?;
        let mut device = MemoryDevice::copying(self.epoch, other, plan, pool);
        run_pieces(&mut device, phase, self.interval_ns, bytes, control)
    }
}

impl Rig for RegionRig {
    fn now(&self) -> Ns {
        if let Region::Bus(_) = self.region { self.simulated_ns } else { self.epoch.elapsed_ns() }
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        if phase.engine != EngineKind::Memory {
            let what = format!("{}: a region is copied, and this phase does something else", phase.name);
            return Err(Failure::usage(what).remedy("narrows run copy REGION"));
        }
        match &self.region {
            Region::Memory(bytes) => run_copy(self.epoch, phase, self.interval_ns, *bytes, control),
            Region::Device { .. } => self.device(phase, control),
            Region::Bus(bus) => {
                let mut device = MemoryBusDevice::new(bus.clone(), copied(phase), self.simulated_ns)
                    .map_err(|e| refusal_of_device(&phase.name, &e))?;
                let record = run_pieces(&mut device, phase, self.interval_ns, bus.bytes, control);
                self.simulated_ns = device.calls.ended_ns();
                record.map(|record| device.calls.with_usage(record))
            }
        }
    }

    fn readable_bytes(&self) -> u64 {
        match &self.region {
            Region::Memory(bytes) | Region::Device { bytes, .. } => *bytes,
            Region::Bus(bus) => bus.bytes,
        }
    }

    fn idle(&mut self, ns: Ns, control: &Control) {
        if let Region::Bus(_) = self.region {
            self.simulated_ns += ns;
        } else {
            sleep(&|| self.now(), ns, control);
        }
    }
}
