//! A simulated device with known truth: its parameters.
//!
//! The physics, which `engine` carries out in simulated time and its `sim::truth` states in closed form:
//!
//! 1. **CPU**: each command costs `cpu_per_command_ns + len * cpu_ps_per_byte` of the worker's core, one at a time.
//! 2. **Host queue**: at most `host_queue_depth` commands are with the device (1: no NCQ, no CQE).
//! 3. **Transfer**: `len / min(media, link)`, one at a time: link and media are shared by all commands.
//! 4. **Command**: the rest of the device's time, on one of `units` that work in parallel; jitter multiplies it.
//!
//! Before them a command may be split (`max_sectors_bytes`), and wait at a cap of operations or bytes; the core may run
//! under a quota of its control group, or slower as it gets hot.
//!
//! The device's time for a command at depth 1 is its [`SimCurve`]; what the transfer does not take of it is the command
//! part. Writes that do not continue an open stream follow a curve of their own, where the erase-block penalty is.

use crate::{DataFault, Ns};
use serde::{Deserialize, Serialize};

/// The device's time for one command of a size, at depth 1, without the host's CPU cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimCurve {
    /// Time of a command before its data, nanoseconds. Unused where there are points.
    pub overhead_ns: Ns,
    /// Bandwidth of the media, bytes per second.
    pub bytes_per_s: u64,
    /// Measured points in ascending order of size; straight lines between them, the first one's time below it, the
    /// bandwidth beyond the last.
    pub points: Vec<SimPoint>,
}

/// One measured point of a [`SimCurve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimPoint {
    /// Size of the command.
    pub bytes: u64,
    /// The device's time for it, nanoseconds.
    pub time_ns: Ns,
}

impl SimCurve {
    /// A line: overhead and bandwidth.
    pub fn line(overhead_ns: Ns, bytes_per_s: u64) -> Self {
        Self { overhead_ns, bytes_per_s, points: Vec::new() }
    }

    /// Time of a command of `len` bytes behind a link of `link_bytes_per_s`, nanoseconds: never less than the
    /// transfer.
    pub fn time_ns(&self, len: u64, link_bytes_per_s: f64) -> f64 {
        let per_byte = 1e9 / self.transfer_bytes_per_s(link_bytes_per_s);
        let transfer = len as f64 * per_byte;
        let time = match (self.points.first(), self.points.last()) {
            (Some(first), _) if len <= first.bytes => first.time_ns as f64,
            (_, Some(last)) if len >= last.bytes => last.time_ns as f64 + (len - last.bytes) as f64 * per_byte,
            (Some(_), Some(_)) => {
                let above = self.points.partition_point(|p| p.bytes < len);
                let (a, b) = (self.points[above - 1], self.points[above]);
                let part = (len - a.bytes) as f64 / (b.bytes - a.bytes) as f64;
                a.time_ns as f64 + part * (b.time_ns as f64 - a.time_ns as f64)
            }
            _ => self.overhead_ns as f64 + transfer,
        };
        time.max(transfer)
    }

    /// The slower of media and link, bytes per second.
    pub fn transfer_bytes_per_s(&self, link_bytes_per_s: f64) -> f64 {
        (self.bytes_per_s as f64).min(link_bytes_per_s)
    }
}

/// What the device itself can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimMedia {
    /// Size of the device.
    pub capacity_bytes: u64,
    /// Reads, sequential or not.
    pub read: SimCurve,
    /// Writes that continue an open stream, and writes of 64 KiB or more that start at an erase block.
    pub write: SimCurve,
    /// All other writes; `None`: as the sequential ones.
    pub random_write: Option<SimCurve>,
    /// Size of an erase block (allocation unit).
    pub erase_block_bytes: u64,
    /// Write streams that the device keeps open at once; a write that continues none of them is a random write.
    pub open_streams: u32,
    /// Extra time of a random write for the read-modify-write of its erase block, nanoseconds; 0 where the points of
    /// `random_write` contain it.
    pub erase_penalty_ns: Ns,
    /// Commands that the device works on at the same time.
    pub units: u32,
    /// Time of a flush, nanoseconds; nothing else proceeds meanwhile.
    pub flush_ns: Ns,
    /// Spread of the command part of a time: sigma of a lognormal factor with mean 1. 0: none.
    pub jitter_sigma: f64,
    /// Write cache; `None`: writes go to the media at once.
    pub cache: Option<SimWriteCache>,
}

/// A write cache: writes run at the write curve's pace while there is room, and at the drain rate after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimWriteCache {
    /// Size.
    pub bytes: u64,
    /// Rate at which it empties, all the time, bytes per second.
    pub drain_bytes_per_s: u64,
    /// Whether a flush waits until it is empty (volatile memory), or not (flash used as SLC).
    pub volatile: bool,
}

/// The link between device and controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimLink {
    /// Line rate, bytes per second: what an inventory computes from clock, width or generation.
    pub line_bytes_per_s: u64,
    /// Share of the line rate that is left for data, 0 to 1.
    pub efficiency: f64,
}

impl SimLink {
    /// Data per second, bytes.
    pub fn payload_bytes_per_s(&self) -> f64 {
        self.line_bytes_per_s as f64 * self.efficiency
    }
}

/// The machine around the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimHost {
    /// Commands that the host keeps with the device; 1: no NCQ, no command queue.
    pub queue_depth: u32,
    /// CPU time of one command (submission, interrupt, completion), nanoseconds.
    pub cpu_per_command_ns: Ns,
    /// CPU time of one byte of a command past the page cache (mapping), picoseconds.
    pub cpu_ps_per_byte: u64,
    /// Share of the CPU time of commands that is spent in interrupts, 0 to 1.
    pub irq_share: f64,
    /// Copy rate between user memory and the page cache, its bookkeeping included, bytes per second.
    pub page_cache_bytes_per_s: u64,
    /// Copy rate memory to memory, bytes per second.
    pub memory_bytes_per_s: u64,
    /// Read-ahead window of buffered reads.
    pub read_ahead_bytes: u64,
    /// Size of one write that writeback issues.
    pub writeback_bytes: u64,
    /// Dirty bytes above which writeback starts without being asked.
    pub dirty_background_bytes: u64,
    /// Dirty bytes at which writers wait for writeback.
    pub dirty_limit_bytes: u64,
    /// Pages that stay in the page cache although they were to be dropped, as bytes.
    pub resident_bytes: u64,
    /// Processors.
    pub cpus: u32,
    /// Processors that the control group grants to the worker, in periods of [`CPU_QUOTA_PERIOD_NS`] (CFS bandwidth
    /// control); 0: no quota.
    pub cpu_quota: f64,
    /// Largest command that the block layer sends; longer ones are split. 0: not split.
    pub max_sectors_bytes: u64,
    /// Clock of the processors, kHz.
    pub cpu_khz: u64,
    /// Usable memory.
    pub memory_bytes: u64,
    /// Share of every processor's time that the hypervisor takes, 0 to below 1.
    pub steal: f64,
}

/// Slows the device down as time goes by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimThrottle {
    /// When it sets in, nanoseconds since the run's start.
    pub start_ns: Ns,
    /// Time from full speed to the throttled speed, nanoseconds; linear.
    pub ramp_ns: Ns,
    /// The throttled speed as a share of the full one, above 0 to 1.
    pub factor: f64,
}

impl Default for SimThrottle {
    fn default() -> Self {
        Self { start_ns: 10_000_000_000, ramp_ns: 1_000_000_000, factor: 0.5 }
    }
}

impl SimThrottle {
    /// Speed at a moment of the run, as a share of full speed.
    pub fn speed_at(&self, at_ns: Ns) -> f64 {
        let since = at_ns.saturating_sub(self.start_ns) as f64;
        if at_ns < self.start_ns {
            1.0
        } else if since >= self.ramp_ns as f64 {
            self.factor
        } else {
            1.0 - (1.0 - self.factor) * since / self.ramp_ns as f64
        }
    }
}

/// Length of the periods in which a quota of processor time is granted: the kernel's default for control groups
/// (k:kernel/sched/fair.c default_cfs_period).
pub const CPU_QUOTA_PERIOD_NS: Ns = 100_000_000;

/// A cap set on purpose: a control group's limit, or what a hypervisor grants. Each direction has its own bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimCap {
    /// Operations per second, of reads and of writes.
    pub operations_per_s: Option<u64>,
    /// Bytes per second, of reads and of writes.
    pub bytes_per_s: Option<u64>,
    /// Whether the inventory shows it, as limits of this process's control group.
    pub visible: bool,
}

/// Stops the device at regular times (garbage collection).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimStalls {
    /// From one stall's start to the next one's, nanoseconds; the first comes after one period.
    pub period_ns: Ns,
    /// Length, nanoseconds; less than the period.
    pub duration_ns: Ns,
}

impl Default for SimStalls {
    fn default() -> Self {
        Self { period_ns: 5_000_000_000, duration_ns: 500_000_000 }
    }
}

/// What goes wrong. Failed operations (EIO), short transfers, and data that are not what was written, for phases that verify
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimFaults {
    /// The operation, counted from 1 over the whole run, that fails with EIO.
    pub eio_at: Option<u64>,
    /// Every n-th operation fails with EIO.
    pub eio_every: Option<u64>,
    /// First byte of a range in which every operation fails with EIO.
    pub eio_start_bytes: u64,
    /// Length of that range; 0: none.
    pub eio_bytes: u64,
    /// Every n-th operation transfers half of its bytes.
    pub short_every: Option<u64>,
    /// A fault of data, once.
    pub data: Option<DataFault>,
    /// The write, read or flush, counted from 1, that it comes with.
    pub data_at: u64,
    /// Addresses from here on lead back to the start.
    pub wraps_at_bytes: Option<u64>,
    /// From here on nothing is kept.
    pub limbo_from_bytes: Option<u64>,
}

/// What an inventory of the simulated machine shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SimBus {
    /// An SD card in an SD slot.
    #[default]
    Sd,
    /// Soldered or plugged eMMC.
    Emmc,
    /// SATA behind AHCI.
    Sata,
    /// NVMe on PCI Express.
    Nvme,
}

/// A simulated device and the machine around it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimModel {
    /// `class4-card`.
    pub name: String,
    /// What it is, in words.
    pub title: String,
    /// Where its figures come from; says so where they are invented.
    pub source: String,
    /// Seed of all that is random.
    pub seed: u64,
    /// The bus, which decides what the inventory shows.
    pub bus: SimBus,
    /// Facts that the inventory of the disk layer shows besides the usual ones, by name: `app_performance_class`.
    pub facts: std::collections::BTreeMap<String, crate::Fact>,
    /// Type of the file system above the device; `None`: the device is used as it is.
    pub filesystem: Option<String>,
    /// The device.
    pub media: SimMedia,
    pub link: SimLink,
    /// The machine.
    pub host: SimHost,
    /// Slows down; `None`: never.
    pub throttle: Option<SimThrottle>,
    /// Slows the processors down; `None`: never.
    pub cpu_throttle: Option<SimThrottle>,
    /// Caps what passes; `None`: nothing does.
    pub cap: Option<SimCap>,
    /// Stops; `None`: never.
    pub stalls: Option<SimStalls>,
    /// Share of the device's time that another user takes, 0 to below 1.
    pub foreign_share: f64,
    /// What goes wrong.
    pub faults: SimFaults,
}

impl SimModel {
    /// CPU time of one command of `len` bytes past the page cache, nanoseconds; the hypervisor's share is not in it.
    pub fn cpu_ns(&self, len: u64) -> f64 {
        self.host.cpu_per_command_ns as f64 + len as f64 * self.host.cpu_ps_per_byte as f64 / 1e3
    }

    /// Speed of the device at a moment of the run, as a share of full speed.
    pub fn speed_at(&self, at_ns: Ns) -> f64 {
        self.throttle.map_or(1.0, |t| t.speed_at(at_ns))
    }

    /// Speed of the processors at a moment of the run, as a share of full speed.
    pub fn cpu_speed_at(&self, at_ns: Ns) -> f64 {
        self.cpu_throttle.map_or(1.0, |t| t.speed_at(at_ns))
    }

    /// Length of the commands that an operation of `len` bytes becomes, and how many there are.
    pub fn pieces(&self, len: u64) -> (u64, u64) {
        match self.host.max_sectors_bytes {
            most if most > 0 && len > most => (most, len.div_ceil(most)),
            _ => (len, 1),
        }
    }

    /// The curve of a command.
    pub fn curve(&self, write: bool, random: bool) -> &SimCurve {
        match (write, random, &self.media.random_write) {
            (false, ..) => &self.media.read,
            (true, true, Some(curve)) => curve,
            (true, ..) => &self.media.write,
        }
    }

    /// Transfer and command part of the device's time for one command at full speed, nanoseconds.
    pub fn device_ns(&self, write: bool, random: bool, len: u64) -> (f64, f64) {
        let curve = self.curve(write, random);
        let link = self.link.payload_bytes_per_s();
        let transfer = len as f64 * 1e9 / curve.transfer_bytes_per_s(link);
        let penalty = if write && random { self.media.erase_penalty_ns as f64 } else { 0.0 };
        (transfer, curve.time_ns(len, link) - transfer + penalty)
    }

    /// Takes the host's CPU cost out of a curve's points, which were measured with it.
    pub fn without_cpu(&self, points: &mut [SimPoint]) {
        for p in points {
            p.time_ns = p.time_ns.saturating_sub(self.cpu_ns(p.bytes) as Ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_its_points_with_straight_lines_between() {
        let curve = SimCurve {
            overhead_ns: 7,
            bytes_per_s: 1_000_000_000,
            points: vec![SimPoint { bytes: 1024, time_ns: 100_000 }, SimPoint { bytes: 4096, time_ns: 400_000 }],
        };
        let time = |len| curve.time_ns(len, f64::INFINITY);
        assert_eq!(time(512), 100_000.0);
        assert_eq!(time(1024), 100_000.0);
        assert_eq!(time(2560), 250_000.0);
        assert_eq!(time(4096), 400_000.0);
        assert_eq!(time(5096), 401_000.0);
    }

    #[test]
    fn no_command_is_faster_than_the_link() {
        let curve = SimCurve::line(1_000, 1_000_000_000);
        assert_eq!(curve.time_ns(1_000_000, f64::INFINITY), 1_001_000.0);
        assert_eq!(curve.time_ns(1_000_000, 1e8), 10_001_000.0);
    }
}
