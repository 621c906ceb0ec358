//! What an observer of the simulated machine would have seen.

use super::inventory::{disk_name, partition_name};
use super::machine::{Counted, Machine, Waiting};
use model::{CpuTicks, DiskCounters, MemorySample, NS_PER_S, Ns, Pressure, SystemSample, Temperature, ThrottleState};

/// USER_HZ is 100 on every Linux architecture (proc_stat(5)).
const TICK_NS: u64 = 10_000_000;
/// Sectors in /proc/diskstats are 512 bytes.
const SECTOR_BYTES: u64 = 512;
/// Size of the operations of the second user.
const FOREIGN_BYTES: u64 = 64 << 10;
/// Degrees, in thousandths, of a device that rests and of one that throttles.
const COOL_MILLIDEGREES: i64 = 38_000;
const HOT_MILLIDEGREES: i64 = 80_000;
/// Time constant of warming up where nothing throttles.
const WARMING_S: f64 = 60.0;

impl Machine {
    /// The machine at the moment `at`; completions after it are not in the counters yet.
    pub(super) fn sample(&mut self, at: Ns) -> SystemSample {
        self.account_waiting(at);
        let disk = self.disk_counters(at);
        let mut disks = Vec::with_capacity(2);
        if self.model.filesystem.is_some() {
            disks.push(DiskCounters { name: partition_name(self.model.bus).to_owned(), ..disk.clone() });
        }
        disks.push(disk);
        let host = &self.model.host;
        let operations = self.reads.operations + self.writes.operations + self.flushes.operations;
        let busy_us = self.disk.until(at) / 1000;
        let mut interrupts_by_cpu = vec![0; host.cpus as usize];
        interrupts_by_cpu[0] = operations;
        let dirty = self.pages.dirty;
        let used = self.pages.resident_bytes();
        // One a second while it lasts, as a core that stays too hot counts them.
        let events_since = |start: Ns| at.checked_sub(start).map_or(0, |since| 1 + since / NS_PER_S);
        SystemSample {
            at_ns: at,
            disks,
            cpus: self.cpu_ticks(at),
            cpu_khz: vec![Some((host.cpu_khz as f64 * self.model.cpu_speed_at(at)) as u64); host.cpus as usize],
            memory: MemorySample {
                available_bytes: Some(host.memory_bytes.saturating_sub(dirty + (host.memory_bytes >> 3))),
                cached_bytes: Some(used),
                dirty_bytes: Some(dirty),
                writeback_bytes: Some(self.pages.under_way_bytes()),
            },
            pressure_io: Some(Pressure { some_us: busy_us, full_us: Some(busy_us) }),
            pressure_cpu: Some(Pressure { some_us: (at as f64 / 1e3 * host.steal) as u64, full_us: Some(0) }),
            temperatures: vec![Temperature { name: "sim-device".to_owned(), millidegrees_c: self.temperature(at) }],
            throttle: ThrottleState {
                x86_throttle_events: self.model.cpu_throttle.map(|t| events_since(t.start_ns)),
                cooling_state: self.model.throttle.map(|_| u64::from(self.model.speed_at(at) < 1.0)),
                ..ThrottleState::default()
            },
            interrupts: Some(operations),
            interrupts_by_cpu,
            context_switches: Some(2 * operations),
            // What is not simulated is not known.
            ..SystemSample::default()
        }
    }

    /// Adds the worker's waiting since the last sample: the time with the disk at work, as far as CPU 0 had time left.
    fn account_waiting(&mut self, at: Ns) {
        let ours = 1.0 - self.model.host.steal;
        let worked = ((self.cpu[0].until(at) + self.user.until(at)) as f64 * ours) as Ns
            + (at as f64 * self.model.host.steal) as Ns;
        let disk = self.disk.until(at);
        let last = self.waiting;
        let left = at.saturating_sub(last.at).saturating_sub(worked.saturating_sub(last.worked));
        let waited = last.waited + disk.saturating_sub(last.disk).min(left);
        self.waiting = Waiting { at, worked, disk, waited };
    }

    /// Rises to the limit in a straight line until throttling sets in; without throttling it settles far below.
    fn temperature(&self, at: Ns) -> i64 {
        match self.model.throttle {
            Some(t) => {
                let part = (at as f64 / t.start_ns.max(1) as f64).min(1.0);
                COOL_MILLIDEGREES + ((HOT_MILLIDEGREES - COOL_MILLIDEGREES) as f64 * part) as i64
            }
            None => COOL_MILLIDEGREES + (12_000.0 * (1.0 - (-(at as f64) / 1e9 / WARMING_S).exp())) as i64,
        }
    }

    fn disk_counters(&self, at: Ns) -> DiskCounters {
        let model = &self.model;
        let rate = model.media.write.transfer_bytes_per_s(model.link.payload_bytes_per_s());
        let foreign = (model.foreign_share * rate * at as f64 / 1e9) as u64 / FOREIGN_BYTES;
        let own = self.disk.until(at);
        let foreign_ns = (model.foreign_share * (at - own.min(at)) as f64) as u64;
        let ms = |c: Counted| c.ns / 1_000_000;
        let (reads, writes, flushes) = (self.reads, self.writes, self.flushes);
        DiskCounters {
            name: disk_name(model.bus).to_owned(),
            reads: reads.operations,
            sectors_read: reads.bytes / SECTOR_BYTES,
            read_ms: ms(reads),
            writes: writes.operations + foreign,
            sectors_written: (writes.bytes + foreign * FOREIGN_BYTES) / SECTOR_BYTES,
            write_ms: ms(writes) + foreign_ns / 1_000_000,
            in_flight: self.events.len() as u64,
            busy_ms: (own + foreign_ns) / 1_000_000,
            weighted_ms: ms(reads) + ms(writes) + ms(flushes) + foreign_ns / 1_000_000,
            discards: Some(0),
            sectors_discarded: Some(0),
            flushes: Some(flushes.operations),
            flush_ms: Some(ms(flushes)),
            ..DiskCounters::default()
        }
    }

    fn cpu_ticks(&self, at: Ns) -> Vec<CpuTicks> {
        let host = &self.model.host;
        let ours = 1.0 - host.steal;
        let lanes = [self.cpu[0].until(at), self.cpu[1].until(at)];
        (0..host.cpus as usize)
            .map(|cpu| {
                let kernel = match (cpu, host.cpus) {
                    (0, 1) => lanes[0] + lanes[1],
                    (0 | 1, _) => lanes[cpu],
                    _ => 0,
                };
                let user = if cpu == 0 { self.user.until(at) } else { 0 };
                // What the hypervisor took of our time stretched it; the clock of system time does not see that.
                let (kernel, user) = ((kernel as f64 * ours) as u64, (user as f64 * ours) as u64);
                let steal = (at as f64 * host.steal) as u64;
                // All commands' interrupts arrive at CPU 0.
                let irq =
                    if cpu == 0 { kernel.min((self.command_cpu_ns as f64 * ours * host.irq_share) as u64) } else { 0 };
                let busy = kernel + user + steal;
                let idle = at.saturating_sub(busy);
                let iowait = if cpu == 0 { self.waiting.waited.min(idle) } else { 0 };
                CpuTicks {
                    user: user / TICK_NS,
                    nice: 0,
                    system: (kernel - irq) / TICK_NS,
                    idle: (idle - iowait) / TICK_NS,
                    iowait: iowait / TICK_NS,
                    irq: irq / 2 / TICK_NS,
                    softirq: (irq - irq / 2) / TICK_NS,
                    steal: steal / TICK_NS,
                }
            })
            .collect()
    }
}
